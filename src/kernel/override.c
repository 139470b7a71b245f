/* SPDX-License-Identifier: MIT */
/*
 * override: plain definitions of parameters in a source, `#define TILE 32` and
 * `const int TILE = 32;`, and the text that the compiler is given in the place
 * of one that has some.
 * Called by read.c, gpu/image.c and the command check.
 *
 * The value of such a definition becomes that of the parameter, and nothing
 * else does, so that every line stays where it is.  What is then defined twice
 * is defined to the same, which compilers take.  One behind a false #if is
 * replaced like any other: there it has no meaning before, and none after.
 * Where a header has the definition, it stands in the place of its include, as
 * do headers that lead to it.
 */
#include "kernel/read.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_TEXT = 64 << 20 };

/* -- definitions in a text ------------------------------------------------ */

static const char *skip_blanks(const char *at)
{
    return at + strspn(at, " \t");
}

/* The name that the directive at `sign`, a "#", defines without arguments;
 * NULL: it does something else. */
static const char *defines(const char *sign, size_t *length)
{
    const char *at = skip_blanks(sign + 1);
    const char *name;

    if (strncmp(at, "define", 6) != 0 || (at[6] != ' ' && at[6] != '\t'))
        return NULL;
    name = skip_blanks(at + 6);
    *length = shmt_text_name_length(name);
    return *length > 0 && name[*length] != '(' ? name : NULL;
}

/* The "#" of the next directive in the text, from *at on, which is at the begin
 * of a line, or of the text; NULL behind the last.  *at is at its line's end
 * then. */
static const char *next_directive(const char *text, const char **at)
{
    const char *c = *at;
    bool begins = true;

    while (*c != '\0') {
        if (*c == '#' && begins) {
            *at = shmt_code_end_of_line(text, c);
            return c;
        }
        if (c[0] == '/' && (c[1] == '/' || c[1] == '*')) {
            c = shmt_code_behind_comment(c);
        } else if (*c == '"' || *c == '\'') {
            c = shmt_code_behind_quotes(text, c);
            begins = false;
        } else if (shmt_code_splice(c) > 0) {
            c += shmt_code_splice(c);
        } else {
            begins = *c == '\n' || (begins && isspace((unsigned char)*c));
            c++;
        }
    }
    return NULL;
}

static int line_of(const char *text, const char *at)
{
    int line = 1;

    for (; text < at; text++)
        line += *text == '\n';
    return line;
}

int shmt_kernel_find_definition(const char *text, const char *wanted)
{
    const char *at = text, *sign;

    while ((sign = next_directive(text, &at)) != NULL) {
        size_t length;
        const char *const name = defines(sign, &length);

        if (name != NULL && length == strlen(wanted) &&
            memcmp(name, wanted, length) == 0)
            return line_of(text, name);
    }
    return 0;
}

static bool has_definition(const char *text, const char *name)
{
    return shmt_kernel_find_definition(text, name) > 0 ||
           shmt_kernel_find_constant(text, name) > 0;
}

/* -- the text for the compiler -------------------------------------------- */

struct writer {
    const struct shmt_kernel_evaluated *evaluated;
    const struct shmt_kernel *kernel;
    const struct shmt_kernel_code *code;
    struct shmt_arena *arena;
    struct shmt_text text;
    bool headers;              /* some parameter's definition is in one: */
    bool *in_header;           /* by parameter: no source has it */
    struct shmt_map places;    /* of headers, by key_of */
    bool *leads;               /* by header: it has such a definition, or
                                  includes what has */
    bool *open;                /* by header: it is being written */
};

/* The parameter that has to win over a definition of that name; NULL. */
static const struct shmt_parameter *winner(const struct writer *writer,
                                           const char *name, size_t length,
                                           bool header, size_t *which)
{
    const struct shmt_kernel *const kernel = writer->kernel;

    for (size_t p = 0; p < kernel->parameter_count; p++)
        if (kernel->parameters[p].overrides &&
            (!header || writer->in_header[p]) &&
            strlen(kernel->parameters[p].name) == length &&
            memcmp(kernel->parameters[p].name, name, length) == 0) {
            *which = p;
            return &kernel->parameters[p];
        }
    return NULL;
}

/* With its own lines, which are empty but for the first. */
static void add_value(const struct shmt_parameter *parameter,
                      struct shmt_value value, const char *from,
                      const char *end, struct shmt_text *text)
{
    shmt_text_add(text, " ");
    shmt_kernel_macro_add(parameter, value, text);
    for (; from < end; from++)
        if (*from == '\n')
            shmt_text_add(text, "\n");
}

/* One file has many paths, "a/../a/x.h"; in a pack it has one. */
static uint64_t key_of(const char *path)
{
    const uint64_t place = shmt_path_place(path);

    return place != 0 ? place : shmt_map_hash_bytes(path, strlen(path));
}

/* The header at folder/name, its number; header_count: it is none of them. */
static size_t header_at(struct writer *writer, const char *folder,
                        const char *name)
{
    const struct shmt_kernel *const kernel = writer->kernel;
    const char *const path = shmt_path_join(writer->arena, folder, name);
    size_t probe = 0;
    uint32_t k;

    writer->text.failed |= path == NULL;
    if (path == NULL)
        return kernel->header_count;
    while ((k = shmt_map_next(&writer->places, key_of(path), &probe)) !=
           SHMT_MAP_NONE)
        if (strcmp(kernel->headers[k].path, path) == 0 ||
            shmt_path_is_same_place(kernel->headers[k].path, path))
            return k;
    return kernel->header_count;
}

/* The header that the directive in the file `from` includes, where the compiler
 * finds it: beside the file, beside a source, or in a folder of `includes`. */
static size_t included(struct writer *writer, const char *from,
                       const char *sign)
{
    const struct shmt_kernel *const kernel = writer->kernel;
    const char *at = sign, *name, *folder;
    size_t length, k = kernel->header_count;
    bool quoted;

    if (strncmp(skip_blanks(sign + 1), "include", 7) != 0 ||
        !shmt_kernel_next_include(sign, &at, &name, &length, &quoted) ||
        at != sign + 1)
        return k;
    name = shmt_arena_copy(writer->arena, name, length);
    for (size_t i = 0; name != NULL && k == kernel->header_count &&
                       i <= writer->code->file_count; i++) {
        if (i == 0 && !quoted)
            continue;
        folder = shmt_path_folder(writer->arena,
                                  i == 0 ? from
                                         : writer->code->files[i - 1].path);
        if (folder != NULL)
            k = header_at(writer, folder, name);
        writer->text.failed |= folder == NULL;
    }
    for (size_t i = 0; name != NULL && k == kernel->header_count &&
                       i < kernel->include_count; i++)
        k = header_at(writer, kernel->includes[i], name);
    writer->text.failed |= name == NULL;
    return k;
}

static bool has_constant(const struct writer *writer,
                         const struct shmt_kernel_header *file)
{
    struct shmt_kernel_constants scan = {.begin = file->text,
                                         .at = file->text};
    struct shmt_kernel_constant one;
    size_t p;

    while (shmt_kernel_next_constant(&scan, file->text + strlen(file->text),
                                     &one))
        if (winner(writer, one.name, one.length, true, &p) != NULL)
            return true;
    return false;
}

/* The headers that one includes, and whether it has a definition itself. */
static bool look_into(struct writer *writer, size_t header, size_t **edges,
                      size_t *room, size_t *count)
{
    const struct shmt_kernel_header *const file =
        &writer->kernel->headers[header];
    const char *at = file->text, *sign;

    writer->leads[header] = has_constant(writer, file);
    while ((sign = next_directive(file->text, &at)) != NULL) {
        size_t length, p, k;
        const char *const name = defines(sign, &length);

        if (name != NULL && winner(writer, name, length, true, &p) != NULL)
            writer->leads[header] = true;
        k = included(writer, file->path, sign);
        if (k == writer->kernel->header_count)
            continue;
        if (!shmt_array_reserve(edges, room, *count + 2, sizeof **edges))
            return false;
        (*edges)[(*count)++] = header;
        (*edges)[(*count)++] = k;
    }
    return true;
}

/* Which headers have to be written in the place of their includes; false: there
 * is no memory. */
static bool find_leading(struct writer *writer)
{
    size_t *edges = NULL, room = 0, count = 0;
    bool whole = true, more = true;

    for (size_t k = 0; whole && k < writer->kernel->header_count; k++)
        whole = shmt_map_add(&writer->places,
                             key_of(writer->kernel->headers[k].path),
                             (uint32_t)k);
    for (size_t k = 0; whole && k < writer->kernel->header_count; k++)
        whole = look_into(writer, k, &edges, &room, &count);
    while (whole && more) {
        more = false;
        for (size_t i = 0; i < count; i += 2)
            if (writer->leads[edges[i + 1]] && !writer->leads[edges[i]])
                more = writer->leads[edges[i]] = true;
    }
    free(edges);
    return whole && !writer->text.failed;
}

static bool says_once(const char *sign)
{
    const char *const word = skip_blanks(sign + 1);

    return strncmp(word, "pragma", 6) == 0 &&
           strncmp(skip_blanks(word + 6), "once", 4) == 0;
}

static bool is_once(const char *text)
{
    const char *at = text, *sign;

    while ((sign = next_directive(text, &at)) != NULL)
        if (says_once(sign))
            return true;
    return false;
}

static void write_file(struct writer *writer,
                       const struct shmt_kernel_header *file, bool header);

/* In the place of its include.  What `#pragma once` says of a file does not
 * hold for a text.  One within itself has a guard of its own, or none. */
static void write_header(struct writer *writer, size_t k)
{
    const struct shmt_kernel_header *const file = &writer->kernel->headers[k];
    const bool once = is_once(file->text);

    if (writer->open[k]) {
        if (!once)
            shmt_text_addf(&writer->text, "#include \"%s\"\n", file->path);
        return;
    }
    writer->open[k] = true;
    if (once)
        shmt_text_addf(&writer->text, "#ifndef SHMTUNE_ONCE_%zu\n"
                       "#define SHMTUNE_ONCE_%zu\n", k, k);
    shmt_text_add_line_mark(&writer->text, 1, file->path);
    write_file(writer, file, true);
    shmt_text_add(&writer->text, once ? "\n#endif\n" : "\n");
    writer->open[k] = false;
}

/* false: the include stays as it is. */
static bool write_include(struct writer *writer,
                          const struct shmt_kernel_header *file,
                          const char *sign, bool header)
{
    const size_t k = included(writer, file->path, sign);

    if (k == writer->kernel->header_count || (!header && !writer->leads[k]))
        return false;
    if (writer->leads[k])
        write_header(writer, k);
    else
        shmt_text_addf(&writer->text, "#include \"%s\"\n",
                       writer->kernel->headers[k].path);
    return true;
}

/* A file that is being written. */
struct writing {
    struct shmt_kernel_constants scan;
    const char *done;                  /* what is written */
    bool header;
};

/* The text up to `end`, with the values of parameters in its constants. */
static void write_code(struct writer *writer, struct writing *writing,
                       const char *end)
{
    struct shmt_kernel_constant one;

    writing->scan.at = writing->done > writing->scan.at ? writing->done
                                                        : writing->scan.at;
    while (shmt_kernel_next_constant(&writing->scan, end, &one)) {
        size_t p;
        const struct shmt_parameter *const parameter =
            winner(writer, one.name, one.length, writing->header, &p);

        if (parameter == NULL)
            continue;
        shmt_text_add_bytes(&writer->text, writing->done,
                            (size_t)(one.value - writing->done));
        shmt_kernel_macro_add(
            parameter,
            writer->evaluated->values[writer->kernel->dimension_count + p],
            &writer->text);
        writing->done = one.end;
    }
    shmt_text_add_bytes(&writer->text, writing->done,
                        (size_t)(end - writing->done));
    writing->done = end;
}

/* The text up to the directive's value, and the parameter's in its place. */
static bool write_definition(struct writer *writer, struct writing *writing,
                             const char *sign, const char *end)
{
    size_t length, p;
    const char *const name = defines(sign, &length);
    const struct shmt_parameter *const parameter =
        name == NULL ? NULL
                     : winner(writer, name, length, writing->header, &p);

    if (parameter == NULL)
        return false;
    write_code(writer, writing, name + length);
    add_value(parameter,
              writer->evaluated->values[writer->kernel->dimension_count + p],
              name + length, end, &writer->text);
    writing->done = end;
    return true;
}

/* A mark in a text that a condition leaves out marks nothing. */
static bool ends_condition(const char *sign)
{
    const char *const word = skip_blanks(sign + 1);

    return strncmp(word, "endif", 5) == 0 || strncmp(word, "el", 2) == 0;
}

static void write_file(struct writer *writer,
                       const struct shmt_kernel_header *file, bool header)
{
    struct writing writing = {{.begin = file->text, .at = file->text},
                              file->text, header};
    const char *at = file->text, *sign;
    bool moved = false;                /* lines are not where they were */

    while ((sign = next_directive(file->text, &at)) != NULL &&
           !writer->text.failed && writer->text.length < MOST_TEXT) {
        if (write_definition(writer, &writing, sign, at) || !writer->headers)
            continue;
        write_code(writer, &writing, sign);
        if (header && says_once(sign)) {
            writing.done = at;
        } else if (write_include(writer, file, sign, header)) {
            writing.done = at + (*at == '\n');
            moved = true;
        } else if (moved && ends_condition(sign) && *at == '\n') {
            write_code(writer, &writing, at + 1);
        }
        if (writing.done > at)
            shmt_text_add_line_mark(&writer->text,
                                    (size_t)line_of(file->text, writing.done),
                                    file->path);
    }
    write_code(writer, &writing, file->text + strlen(file->text));
}

static void find_in_headers(struct writer *writer)
{
    const struct shmt_kernel *const kernel = writer->kernel;

    for (size_t p = 0; p < kernel->parameter_count; p++) {
        writer->in_header[p] =
            kernel->parameters[p].overrides &&
            !has_definition(writer->code->text, kernel->parameters[p].name);
        writer->headers |= writer->in_header[p];
    }
}

/* The sources, one behind the other, as they are compiled. */
static void write_sources(struct writer *writer)
{
    for (size_t k = 0; k < writer->code->file_count; k++) {
        if (k > 0) {
            shmt_text_add(&writer->text, "\n");
            shmt_text_add_line_mark(&writer->text, 1,
                                    writer->code->files[k].path);
        }
        write_file(writer, &writer->code->files[k], false);
    }
}

enum shmtune_status
shmt_kernel_source_text(const struct shmt_kernel_evaluated *evaluated,
                        struct shmt_arena *arena, const char **out,
                        struct shmt_error *err)
{
    const struct shmt_kernel *const kernel = evaluated->kernel;
    struct writer writer = {
        .evaluated = evaluated, .kernel = kernel, .arena = arena,
        .code = shmt_kernel_code_of(evaluated)};
    bool wins = false;

    *out = writer.code->text;
    for (size_t k = 0; k < kernel->parameter_count; k++)
        wins |= kernel->parameters[k].overrides;
    /* A reference with macros of its own has none of the parameters'. */
    if (*out == NULL || !wins ||
        (evaluated->part == SHMT_KERNEL_REFERENCE &&
         kernel->reference_macros != NULL))
        return SHMTUNE_OK;
    writer.in_header = shmt_arena_alloc(arena, kernel->parameter_count, 1);
    writer.leads = shmt_arena_alloc(arena, kernel->header_count + 1, 1);
    writer.open = shmt_arena_alloc(arena, kernel->header_count + 1, 1);
    if (writer.in_header == NULL || writer.leads == NULL ||
        writer.open == NULL)
        return shmt_error_memory(err);
    find_in_headers(&writer);
    if (!writer.headers || find_leading(&writer))
        write_sources(&writer);
    else
        writer.text.failed = true;
    shmt_map_free(&writer.places);
    if (writer.text.length >= MOST_TEXT) {
        shmt_text_free(&writer.text);
        return shmt_error_set(err, SHMTUNE_COMPILE, "%s: with the headers that "
                              "lead to what parameters override there are "
                              "%d MiB or more to compile", kernel->source,
                              MOST_TEXT >> 20);
    }
    *out = shmt_text_keep(&writer.text, arena);
    return *out == NULL ? shmt_error_memory(err) : SHMTUNE_OK;
}

/* -- the key -------------------------------------------------------------- */

/* A source has the definition, or a header of the kernel's own. */
static enum shmtune_status check_definition(struct shmt_kernel_reader *reader,
                                            const struct shmt_yaml *node,
                                            const char *name)
{
    const struct shmt_kernel *kernel = reader->kernel;
    bool found = has_definition(kernel->code.text, name);

    for (size_t k = 0; k < kernel->header_count && !found; k++)
        found = has_definition(kernel->headers[k].text, name);
    return found ? SHMTUNE_OK
                 : shmt_yaml_refuse(node, reader->err, "override, but no "
                                    "source has \"#define %s VALUE\" or a "
                                    "constant %s = NUMBER; leave the key out",
                                    name, name);
}

enum shmtune_status
shmt_kernel_override_check(struct shmt_kernel_reader *reader)
{
    const struct shmt_kernel *kernel = reader->kernel;
    const struct shmt_yaml *parameters =
        shmt_yaml_get(reader->root, "parameters");
    enum shmtune_status status = SHMTUNE_OK;

    for (size_t p = 0; status == SHMTUNE_OK && p < kernel->parameter_count;
         p++)
        if (kernel->parameters[p].overrides)
            status = check_definition(
                reader, shmt_yaml_get(parameters->items[p], "override"),
                kernel->parameters[p].name);
    return status;
}

enum shmtune_status
shmt_kernel_override_read(struct shmt_kernel_reader *reader,
                          const struct shmt_yaml *mapping,
                          struct shmt_parameter *parameter)
{
    const struct shmt_yaml *node = shmt_yaml_get(mapping, "override");
    enum shmtune_status status =
        node == NULL ? SHMTUNE_OK
                     : shmt_yaml_bool(node, &parameter->overrides, reader->err);

    if (status != SHMTUNE_OK || !parameter->overrides)
        return status;
    if (parameter->launch_only || parameter->options != NULL)
        return shmt_yaml_refuse(node, reader->err, "override of %s, which is "
                                "no macro: %s", parameter->name,
                                parameter->launch_only ? "its scope is launch"
                                                       : "it is an option");
    if (shmt_yaml_get(reader->root, "source") == NULL)
        return shmt_yaml_refuse(node, reader->err, "override without a "
                                "\"source\" that defines %s",
                                parameter->name);
    return SHMTUNE_OK;
}
