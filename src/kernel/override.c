/* SPDX-License-Identifier: MIT */
/*
 * override: plain definitions of parameters in a source, `#define TILE 32`, and
 * the text that the compiler is given in the place of one that has some.
 * Called by read.c, gpu/image.c and the command check.
 *
 * The value of such a definition becomes that of the parameter, and nothing
 * else does, so that every line stays where it is.  What is then defined twice
 * is defined to the same, which compilers take.  One behind a false #if is
 * replaced like any other: there it has no meaning before, and none after.
 */
#include "kernel/read.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* -- definitions in a text ------------------------------------------------ */

static const char *skip_blanks(const char *at)
{
    return at + strspn(at, " \t");
}

/* The name that the directive at `at`, a "#", defines without arguments; NULL:
 * it does something else. */
static const char *defines(const char *at, size_t *length)
{
    const char *name;

    at = skip_blanks(at + 1);
    if (strncmp(at, "define", 6) != 0 || (at[6] != ' ' && at[6] != '\t'))
        return NULL;
    name = skip_blanks(at + 6);
    *length = shmt_text_name_length(name);
    return *length > 0 && name[*length] != '(' ? name : NULL;
}

/* The next one in the text, from *at on, which is at the begin of a line, or
 * of the text; NULL behind the last.  *at is behind its line's end then. */
static const char *next_definition(const char *text, const char **at,
                                   size_t *length)
{
    const char *c = *at;
    bool begins = true;

    while (*c != '\0') {
        if (*c == '#' && begins) {
            const char *name = defines(c, length);

            c = shmt_code_end_of_line(text, c);
            *at = c;
            if (name != NULL)
                return name;
        } else if (c[0] == '/' && (c[1] == '/' || c[1] == '*')) {
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

int shmt_kernel_find_definition(const char *text, const char *wanted)
{
    const char *at = text, *name;
    size_t length;
    int line = 1;

    while ((name = next_definition(text, &at, &length)) != NULL)
        if (length == strlen(wanted) && memcmp(name, wanted, length) == 0) {
            for (const char *c = text; c < name; c++)
                line += *c == '\n';
            return line;
        }
    return 0;
}

/* -- the text for the compiler -------------------------------------------- */

/* The parameter that has to win over a definition of that name; NULL. */
static const struct shmt_parameter *winner(const struct shmt_kernel *kernel,
                                           const char *name, size_t length,
                                           size_t *which)
{
    for (size_t p = 0; p < kernel->parameter_count; p++)
        if (kernel->parameters[p].overrides &&
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

enum shmtune_status
shmt_kernel_source_text(const struct shmt_kernel_evaluated *evaluated,
                        struct shmt_arena *arena, const char **out,
                        struct shmt_error *err)
{
    const struct shmt_kernel *kernel = evaluated->kernel;
    const char *source = shmt_kernel_code_of(evaluated)->text;
    const char *at = source, *done = source, *name;
    struct shmt_text text = {0};
    size_t length, p = 0;
    bool wins = false;

    *out = source;
    for (size_t k = 0; k < kernel->parameter_count; k++)
        wins |= kernel->parameters[k].overrides;
    /* A reference with macros of its own has none of the parameters'. */
    if (source == NULL || !wins ||
        (evaluated->part == SHMT_KERNEL_REFERENCE &&
         kernel->reference_macros != NULL))
        return SHMTUNE_OK;
    while ((name = next_definition(source, &at, &length)) != NULL) {
        const struct shmt_parameter *parameter =
            winner(kernel, name, length, &p);

        if (parameter == NULL)
            continue;
        shmt_text_add_bytes(&text, done, (size_t)(name + length - done));
        add_value(parameter, evaluated->values[kernel->dimension_count + p],
                  name + length, at, &text);
        done = at;
    }
    shmt_text_add(&text, done);
    *out = text.failed ? NULL
                       : shmt_arena_copy(arena, shmt_text_string(&text),
                                         text.length);
    shmt_text_free(&text);
    return *out == NULL ? shmt_error_memory(err) : SHMTUNE_OK;
}

/* -- the key -------------------------------------------------------------- */

/* The sources have the definition.  One of a header stays: the compiler reads
 * headers itself. */
static enum shmtune_status check_definition(struct shmt_kernel_reader *reader,
                                            const struct shmt_yaml *node,
                                            const char *name)
{
    const struct shmt_kernel *kernel = reader->kernel;

    if (shmt_kernel_find_definition(kernel->code.text, name) > 0)
        return SHMTUNE_OK;
    for (size_t k = 0; k < kernel->header_count; k++) {
        const struct shmt_kernel_header *header = &kernel->headers[k];
        const int line = shmt_kernel_find_definition(header->text, name);

        if (line > 0)
            return shmt_yaml_refuse(
                node, reader->err, "override, but %s:%d, a header, has the "
                "#define of %s; put it into a source, or this header into "
                "\"source\", before the others", header->path, line, name);
    }
    return shmt_yaml_refuse(node, reader->err, "override, but no source has "
                            "\"#define %s VALUE\"; leave the key out", name);
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
                                "\"source\" that has the #define of %s",
                                parameter->name);
    return SHMTUNE_OK;
}
