/* SPDX-License-Identifier: MIT */
/*
 * draft_write: the spec of a captured launch: its buffers with what they held,
 * and what they held behind it as what is right.  Called by capture.c.
 */
#include "config.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "capture/capture.h"
#include "command/draft.h"
#include "command/init.h"
#include "gpu/gpu.h"
#include "yaml/yaml.h"

#define DEFINES "defines.cu"

/* -- arguments ------------------------------------------------------------ */

static void mark(struct shmt_text *text, const char *what)
{
    shmt_text_addf(text, "\"" SHMT_YAML_TODO " %s\"", what);
}

static void add_file(struct shmt_text *text, const char *key,
                     const char *file)
{
    shmt_text_addf(text, ", %s: {file: %s}", key, file);
}

/* The bytes that some launch has changed, or of an output written. */
static void find_written(const struct shmt_draft_memory *memory,
                         uint64_t out[2])
{
    const int64_t *const places = memory->plain.places;

    memcpy(out, memory->changed, sizeof memory->changed);
    if (shmt_draft_is_output(memory)) {
        out[0] = (uint64_t)memory->poisoned.written[0];
        out[1] = (uint64_t)memory->poisoned.written[1];
    } else if (places[1] > 0) {
        out[0] = (uint64_t)places[0] < out[0] ? (uint64_t)places[0] : out[0];
        out[1] = (uint64_t)places[1] > out[1] ? (uint64_t)places[1] : out[1];
    }
}

/* The elements that alone are compared, while the rest must stay; false: all
 * are.  Of what is not steady the next launch may write others. */
static bool find_region(const struct shmt_draft_memory *memory,
                        uint64_t *first, uint64_t *end)
{
    const uint64_t size = shmt_element_bytes(memory->element);
    uint64_t bytes[2];

    find_written(memory, bytes);
    *first = bytes[0] / size;
    *end = (bytes[1] + size - 1) / size;
    return memory->after != NULL && !shmt_draft_is_unsteady(memory) &&
           (*first > 0 || *end * size < memory->bytes);
}

static void add_region(const struct shmt_draft *draft,
                       const struct shmt_draft_memory *memory, bool comment,
                       struct shmt_text *text)
{
    uint64_t first, end;

    if (!find_region(memory, &first, &end))
        return;
    if (!comment)
        shmt_text_addf(text, ", region: {columns: %llu, offset: %llu}",
                       (unsigned long long)(end - first),
                       (unsigned long long)first);
    else if (!draft->reran)
        shmt_text_add(text, "  # `region` is of one launch: leave it out where "
                      "others write elsewhere.\n");
}

/* What has its address has its number of elements, too, and a variable those of
 * its declaration. */
static void add_elements(struct shmt_draft *draft, size_t m,
                         struct shmt_text *text)
{
    const struct shmt_draft_memory *memory = &draft->memories[m];

    if (memory->symbol != NULL)
        shmt_text_addf(text, "%llu", (unsigned long long)(memory->bytes /
                           shmt_element_bytes(memory->element)));
    else if (memory->address == 0)
        shmt_draft_add_count(draft, m, text);
    else
        shmt_text_addf(text, "%llu, at: 0x%llx",
                       (unsigned long long)(memory->bytes /
                           shmt_element_bytes(memory->element)),
                       (unsigned long long)memory->address);
}

static bool is_kind(const struct shmt_draft_memory *memory, const char *kind)
{
    return memory->kind != NULL && strcmp(memory->kind, kind) == 0;
}

/* Times are not those of the application where it has the buffer elsewhere. */
static void add_kind(const struct shmt_draft_memory *memory,
                     struct shmt_text *text)
{
    if (memory->kind != NULL)
        shmt_text_addf(text, "  # %s in the application: no time here has "
                       "what comes over the bus.\n",
                       is_kind(memory, SHMT_CAPTURE_KIND_MANAGED)
                           ? "Managed memory" : "Memory of the host");
}

static void tell_kind(const struct shmt_draft *draft, const char *kind,
                      const char *what, struct shmt_text *text)
{
    enum { NAMES = 6 };
    size_t n = 0;

    for (size_t k = 0; k < draft->memory_count; k++)
        if (is_kind(&draft->memories[k], kind) && n++ < NAMES)
            shmt_text_addf(text, "%s%s", n == 1 ? "" : ", ",
                           draft->memories[k].name);
    if (n > NAMES)
        shmt_text_addf(text, " and %zu more", n - NAMES);
    if (n > 0)
        shmt_text_addf(text, ": %s in the application and the device's in the "
                       "spec: no time has what comes over the bus\n", what);
}

void shmt_draft_tell_kinds(const struct shmt_draft *draft,
                           struct shmt_text *text)
{
    tell_kind(draft, SHMT_CAPTURE_KIND_MANAGED, "managed memory", text);
    tell_kind(draft, SHMT_CAPTURE_KIND_HOST, "memory of the host", text);
}

/* What the source calls it, where the compiler calls it otherwise in each
 * file. */
static void add_symbol(const char *symbol, struct shmt_text *text)
{
    struct shmt_text name = {0};

    if (shmt_variable_is_of_file(symbol))
        shmt_variable_add_name(symbol, &name);
    else
        shmt_text_add(&name, symbol);
    shmt_text_add(text, ", symbol: ");
    shmt_yaml_add_string(text, shmt_text_string(&name));
    text->failed |= name.failed;
    shmt_text_free(&name);
}

static void add_memory(struct shmt_draft *draft, size_t m, bool changed,
                       struct shmt_text *text)
{
    const struct shmt_draft_memory *memory = &draft->memories[m];
    const bool output = shmt_draft_is_output(memory);

    if (changed && memory->after == NULL)
        shmt_text_add(text, "  # The launch changed nothing in it: all of it "
                      "has to stay.\n");
    else if (changed)
        shmt_text_addf(text, "  # The launch changed bytes %llu to %llu.%s\n",
                       (unsigned long long)memory->changed[0],
                       (unsigned long long)memory->changed[1],
                       memory->tried || shmt_draft_is_unsteady(memory)
                           ? "" : " If nothing of them is read before,\n  # "
                                  "`role: output` without `fill` says more.");
    else if (!memory->constant && memory->symbol == NULL)
        shmt_text_add(text, "  # The launch changed nothing in it.\n");
    if (changed) {
        add_region(draft, memory, true, text);
        shmt_draft_add_findings(draft, memory, text);
    }
    add_kind(memory, text);
    if (memory->address != 0)
        shmt_text_add(text, "  # Other buffers have its address: it is put "
                      "there again.\n");
    shmt_text_addf(text, "  %s: {type: %s, role: %s", memory->name,
                   shmt_element_word(memory->element),
                   output ? "output" : changed ? "inout"
                   : memory->symbol != NULL ? "symbol" : "input");
    if (memory->symbol != NULL)
        add_symbol(memory->symbol, text);
    shmt_text_add(text, ", count: ");
    add_elements(draft, m, text);
    if (!output)
        add_file(text, "fill", memory->before);
    if (changed) {
        add_file(text, "expect", memory->after != NULL ? memory->after
                                                       : memory->before);
        add_region(draft, memory, false, text);
        shmt_draft_add_tolerance(memory, text);
    }
    shmt_text_add(text, "}\n");
}

/* "{pointer: x, offset: 4}", by elements. */
static void add_pointer(const struct shmt_draft *draft,
                        const struct shmt_draft_pointer *pointer,
                        struct shmt_text *text)
{
    const struct shmt_draft_memory *memory =
        &draft->memories[pointer->memory];

    shmt_text_addf(text, "{pointer: %s", memory->name);
    if (pointer->offset > 0)
        shmt_text_addf(text, ", offset: %llu",
                       (unsigned long long)(pointer->offset /
                           shmt_element_bytes(memory->element)));
    shmt_text_add(text, "}");
}

/* Words of a struct from `from` to `to`, as numbers of 4 bytes, or of 1. */
static void add_words(const struct shmt_draft_argument *one, size_t from,
                      size_t to, struct shmt_text *text)
{
    const size_t size = from % 4 == 0 && to % 4 == 0 ? 4 : 1;

    if (from == to)
        return;
    shmt_text_addf(text, "      at_%zu: {type: u%zu, value: [", from,
                   8 * size);
    for (size_t at = from; at < to; at += size) {
        uint32_t word = 0;

        memcpy(&word, one->bytes + at, size);
        shmt_text_addf(text, "%s%u", at == from ? "" : ", ", word);
    }
    shmt_text_add(text, "]}\n");
}

static void add_struct(const struct shmt_draft *draft,
                       const struct shmt_draft_argument *one,
                       struct shmt_text *text)
{
    size_t at = 0;

    shmt_text_add(text, "\n    struct:\n");
    for (size_t k = 0; k < one->pointer_count; k++) {
        const struct shmt_draft_pointer *pointer = &one->pointers[k];

        add_words(one, at, pointer->at, text);
        shmt_text_addf(text, "      at_%llu: ",
                       (unsigned long long)pointer->at);
        add_pointer(draft, pointer, text);
        shmt_text_add(text, "\n");
        at = pointer->at + 8;
    }
    add_words(one, at, one->size, text);
}

/* A number as an expression has it. */
static void add_number(const struct shmt_draft_argument *one,
                       struct shmt_text *text)
{
    const enum shmt_element element = one->declared->element;
    const double real = shmt_element_real(element, one->bytes);
    int64_t whole = 0;

    memcpy(&whole, one->bytes, one->size);
    if (shmt_element_is_real(element))
        shmt_yaml_add_real(text, real, element == SHMT_ELEMENT_F64 ? 17 : 9);
    else if (shmt_draft_is_integer(one))
        shmt_text_addf(text, "%lld", (long long)shmt_draft_integer(one));
    else if (one->size < 8)
        shmt_text_addf(text, "%lld", (long long)real);
    else
        shmt_text_addf(text, "%lld", (long long)whole);
}

static const char *dimension_of(const struct shmt_draft *draft,
                                const char *name)
{
    for (size_t k = 0; k < draft->dimension_count; k++)
        if (draft->dimensions[k].used &&
            strcmp(draft->dimensions[k].name, name) == 0)
            return name;
    return NULL;
}

static bool is_zero(const struct shmt_draft_argument *one)
{
    for (size_t k = 0; k < one->size; k++)
        if (one->bytes[k] != 0)
            return false;
    return true;
}

static void add_scalar(const struct shmt_draft *draft,
                       const struct shmt_draft_argument *one,
                       struct shmt_text *text)
{
    shmt_text_addf(text, "{type: %s, value: ",
                   shmt_element_word(one->declared->element));
    if (dimension_of(draft, one->name) != NULL)
        shmt_text_add(text, one->name);
    else
        add_number(one, text);
    shmt_text_add(text, "}");
}

/* Whether a spec can say it as a number: it has no infinity. */
static bool is_scalar(const struct shmt_draft_argument *one)
{
    const struct shmt_signature_parameter *declared = one->declared;

    return declared != NULL && !declared->pointer &&
           (declared->kind == SHMT_SIGNATURE_ELEMENT ||
            declared->kind == SHMT_SIGNATURE_BITS) &&
           shmt_element_bytes(declared->element) == one->size &&
           (!shmt_element_is_real(declared->element) ||
            isfinite(shmt_element_real(declared->element, one->bytes)));
}

/* As the application made it; what was not seen is to be written. */
static void add_image(struct shmt_draft *draft,
                      const struct shmt_draft_argument *one,
                      struct shmt_text *text)
{
    const struct shmt_draft_texture *texture = &one->texture;
    const struct shmt_draft_memory *memory =
        &draft->memories[texture->memory];
    char what[160];

    if (texture->type == NULL) {
        if (texture->other != NULL)
            snprintf(what, sizeof what, "a texture %s, which a spec has not",
                     texture->other);
        mark(text, texture->other != NULL ? what
                   : one->surface ? "a surface, which a spec has not: write "
                                    "an output"
                                  : "a texture that was not there when the "
                                    "kernel was launched, {texture: NAME, "
                                    "extents: [...]}");
        return;
    }
    shmt_text_addf(text, "{texture: %s, extents: [", memory->name);
    for (size_t k = 0; k < texture->rank; k++) {
        shmt_text_add(text, k == 0 ? "" : ", ");
        shmt_draft_add_extent(draft, (size_t)(one - draft->arguments), k,
                              text);
    }
    shmt_text_add(text, "]");
    if (strcmp(texture->type, shmt_element_word(memory->element)) != 0)
        shmt_text_addf(text, ", type: %s", texture->type);
    shmt_text_addf(text, "%s}", texture->words);
}

/* What is no buffer itself. */
static void add_argument(struct shmt_draft *draft,
                         const struct shmt_draft_argument *one,
                         struct shmt_text *text)
{
    const struct shmt_signature_parameter *declared = one->declared;
    const struct shmt_draft_pointer *pointer = shmt_draft_plain_pointer(one);
    const bool address = declared != NULL && declared->pointer;

    shmt_text_addf(text, "  %s:", one->name);
    if (one->image) {
        shmt_text_add(text, " ");
        add_image(draft, one, text);
        shmt_text_add(text, "\n");
        return;
    }
    if (pointer == NULL && !address && !is_scalar(one)) {
        add_struct(draft, one, text);
        return;
    }
    shmt_text_add(text, " ");
    if (pointer != NULL)
        add_pointer(draft, pointer, text);
    else if (!address)
        add_scalar(draft, one, text);
    else if (is_zero(one))
        shmt_text_add(text, "{pointer: \"null\"}");
    else
        mark(text, "a pointer; the launch's leads to no memory that the "
             "driver knows");
    shmt_text_add(text, "\n");
}

static bool is_memory(const struct shmt_draft *draft, const char *name)
{
    for (size_t k = 0; k < draft->memory_count; k++)
        if (strcmp(draft->memories[k].name, name) == 0)
            return true;
    return false;
}

/* Where nothing that was changed can be compared, it is at least known what
 * has to stay. */
static bool may_stay(const struct shmt_draft_memory *memory)
{
    return memory->after == NULL && memory->symbol == NULL &&
           !memory->constant;
}

/* What then is left of it, for people. */
static void add_unverified(const struct shmt_draft *draft,
                           struct shmt_text *text)
{
    bool changed = false, stays = false;

    for (size_t k = 0; k < draft->memory_count; k++) {
        changed |= draft->memories[k].after != NULL;
        stays |= may_stay(&draft->memories[k]);
    }
    shmt_text_addf(text, "  # %s\n",
                   changed ? "What the launch changed varies from run to run, "
                             "and is not compared."
                           : "The launch changed nothing that it was given; "
                             "`--skip N` captures a later one.");
    if (stays) {
        shmt_text_add(text, "  # Candidates are only held to leave as it was "
                      "what they may write: that says\n  # little.\n");
        return;
    }
    shmt_text_add(text, "  nothing_compared: ");
    mark(text, changed
                   ? "nothing of this launch can be compared: write what is "
                     "right, by another tolerance or a compare, in the place "
                     "of this line"
                   : "nothing of this launch can be compared: write an output "
                     "in the place of this line");
    shmt_text_add(text, "\n");
}

static void add_arguments(struct shmt_draft *draft, struct shmt_text *text)
{
    const bool verified = shmt_draft_is_verified(draft);

    shmt_text_add(text, "arguments:\n");
    if (!verified)
        add_unverified(draft, text);
    for (size_t k = 0; k < draft->memory_count; k++)
        add_memory(draft, k, draft->memories[k].after != NULL ||
                       (!verified && may_stay(&draft->memories[k])), text);
    /* Extents make sizes of numbers, and come before these. */
    for (int images = 1; images >= 0; images--)
        for (size_t k = 0; k < draft->argument_count; k++)
            if (draft->arguments[k].image == (images == 1) &&
                !is_memory(draft, draft->arguments[k].name))
                add_argument(draft, &draft->arguments[k], text);
}

/* -- the whole ------------------------------------------------------------ */

/* What the extents of the block may be, where nothing says which.  The axes
 * are taken to have different ones. */
static void ask_block(struct shmt_draft *draft)
{
    for (int axis = 0; draft->changed == NULL && axis < 3; axis++) {
        struct shmt_draft_question *const asked = &draft->questions[3 + axis];

        if (asked->answer != SHMT_DRAFT_UNTRIED)
            continue;
        asked->count = shmt_draft_blocks(draft, axis, asked->options);
        asked->chosen = (size_t)axis < asked->count ? (size_t)axis : 0;
    }
}

static void add_block(const struct shmt_draft *draft, struct shmt_text *text)
{
    const int axes = shmt_draft_axes(draft->block);

    for (int axis = 0; axis < axes; axis++)
        shmt_draft_add_question(draft, 3 + (size_t)axis, text);
    shmt_text_add(text, "  block: [");
    for (int axis = 0; axis < axes; axis++) {
        const char *block = shmt_draft_block(draft, axis);

        shmt_text_add(text, axis == 0 ? "" : ", ");
        if (block != NULL)
            shmt_draft_add_expression(block, text);
        else
            shmt_text_addf(text, "%lld", (long long)draft->block[axis]);
    }
    shmt_text_add(text, "]\n");
}

/* What the spec calls the kernel; NULL: it cannot be said.  The symbol of one
 * that is extern "C" does not tell in which namespace it is. */
static const char *entry_of(const struct shmt_draft *draft)
{
    const char *entry = draft->expression != NULL
                            ? draft->expression
                            : shmt_signature_expression(draft->arena,
                                                        draft->symbol);
    const struct shmt_source_kernel *found =
        shmt_source_find(&draft->text, draft->name, strlen(draft->name));

    if (entry == NULL && !draft->nvcc && (found == NULL || !found->is_template))
        entry = draft->name;
    found = NULL;
    if (draft->code != NULL && entry != NULL &&
        entry[shmt_text_name_length(entry)] == '\0')
        found = shmt_source_find(&draft->text, entry, strlen(entry));
    return found == NULL ? entry : found->qualified;
}

static void add_launch(struct shmt_draft *draft, struct shmt_text *text)
{
    const char *const entry = shmt_draft_give(draft, entry_of(draft));

    shmt_text_add(text, "launches:\n- entry: ");
    if (entry == NULL)
        shmt_init_mark(text, "%s", shmt_draft_ask_entry(draft));
    else
        shmt_yaml_add_string(text, entry);
    shmt_text_add(text, "\n");
    ask_block(draft);
    shmt_draft_add_grid(draft, text);
    add_block(draft, text);
    if (draft->said_shared != NULL) {
        shmt_text_add(text, "  # As host code launches it.\n"
                      "  shared_dynamic: ");
        shmt_draft_add_expression(draft->said_shared, text);
        shmt_text_add(text, "\n");
    } else if (draft->shared > 0) {
        shmt_text_addf(text, "  # If it grows with the block, say so: BYTES * "
                       "%s.\n  shared_dynamic: %lld\n",
                       shmt_draft_block(draft, 0), (long long)draft->shared);
    }
    if (draft->cluster[0] > 0)
        shmt_text_addf(text, "  cluster: [%lld, %lld, %lld]\n",
                       (long long)draft->cluster[0],
                       (long long)draft->cluster[1],
                       (long long)draft->cluster[2]);
    if (draft->cooperative)
        shmt_text_add(text, "  cooperative: true\n");
    shmt_text_add(text, "  arguments: [");
    for (size_t k = 0; k < draft->argument_count; k++)
        shmt_text_addf(text, "%s%s", k == 0 ? "" : ", ",
                       draft->arguments[k].name);
    shmt_text_add(text, "]\n");
}

static void add_origin(const struct shmt_draft *draft, struct shmt_text *text)
{
    shmt_text_add(text, "# How it was compiled was not seen: the source is "
                  "the first that has a kernel of\n# this name, the "
                  "options are those of ");
    if (draft->built != NULL)
        shmt_text_add_visible(text, draft->built);
    else
        shmt_text_add(text, "--nvcc-option, if there are any");
    shmt_text_add(text, ".\n");
}

static void add_head(const struct shmt_draft *draft, struct shmt_text *text)
{
    shmt_text_add(text, "# Captured by shmtune: the launch of ");
    shmt_text_add_visible(text, draft->symbol);
    shmt_text_addf(text, ", grid %lld x %lld x %lld,\n"
                   "# block %lld x %lld x %lld. The files beside it hold the "
                   "application's data.\n",
                   (long long)draft->grid[0], (long long)draft->grid[1],
                   (long long)draft->grid[2], (long long)draft->block[0],
                   (long long)draft->block[1], (long long)draft->block[2]);
    if (draft->notes.length > 0)
        shmt_text_add(text, shmt_text_string(&draft->notes));
    if (draft->code == NULL && draft->image != NULL)
        shmt_text_addf(text, "# Its source was not seen, its binary is %s.\n",
                       draft->image);
    else if (draft->nvcc)
        add_origin(draft, text);
    if (draft->signature == NULL && draft->code != NULL)
        shmt_text_add(text, "# The source's text does not show its "
                      "parameters; types and names are to be mended.\n");
    shmt_text_add(text, "format: kernel/2\nname: ");
    shmt_text_addf(text, "%s%s\n",
                   isalpha((unsigned char)draft->folder[0]) ? "" : "k",
                   draft->folder);
    if (draft->code == NULL) {
        shmt_text_add(text, "source: ");
        mark(text, "the .cu file of this kernel");
        shmt_text_add(text, "\n");
    } else {
        shmt_text_addf(text, "source: %s",
                       draft->definitions.length > 0 ? "[" DEFINES ", " : "");
        shmt_yaml_add_string(text, draft->source);
        shmt_text_addf(text, "%s\n%s",
                       draft->definitions.length > 0 ? "]" : "",
                       draft->nvcc ? "compiler: nvcc\n" : "");
    }
    shmt_text_add(text, shmt_text_string(&draft->keys));
}

static enum shmtune_status write_file(struct shmt_draft *draft,
                                      const char *folder, const char *name,
                                      const struct shmt_text *text,
                                      struct shmt_error *err)
{
    const char *path = shmt_path_join(draft->arena, folder, name);

    if (path == NULL || text->failed)
        return shmt_error_memory(err);
    return shmt_path_write(path, text->data, text->length, err);
}

enum shmtune_status shmt_draft_write(struct shmt_draft *draft,
                                     const char *folder,
                                     struct shmt_error *err)
{
    struct shmt_text head = {0}, launch = {0}, arguments = {0};
    enum shmtune_status status = SHMTUNE_OK;
    bool named = shmt_draft_name_arguments(draft);

    for (size_t k = 0; named && k < draft->memory_count; k++)
        named = shmt_draft_name_memory(draft, k);
    if (!named)
        return shmt_error_memory(err);
    shmt_draft_find_dimensions(draft);
    add_launch(draft, &launch);
    add_arguments(draft, &arguments);
    add_head(draft, &head);
    shmt_draft_add_problem(draft, &head);
    shmt_draft_parameters(draft, &head);
    shmt_text_add(&head, shmt_text_string(&launch));
    shmt_text_add(&head, shmt_text_string(&arguments));
    head.failed |= launch.failed || arguments.failed || draft->keys.failed ||
                   draft->notes.failed || draft->definitions.failed;
    if (draft->definitions.length > 0)
        status = write_file(draft, folder, DEFINES, &draft->definitions, err);
    if (status == SHMTUNE_OK)
        status = write_file(draft, folder,
                            draft->changed == NULL ? "kernel.yaml"
                                                   : SHMT_DRAFT_TRIAL,
                            &head, err);
    shmt_text_free(&head);
    shmt_text_free(&launch);
    shmt_text_free(&arguments);
    return status;
}
