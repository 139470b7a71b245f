/* SPDX-License-Identifier: MIT */
/*
 * draft_read: what the library wrote of a launch, and what the source says of
 * its kernel.  Called by capture.c.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/capture.h"
#include "command/draft.h"
#include "command/init.h"
#include "yaml/yaml.h"

enum { LAUNCH_BYTES = 64 << 20 };

static const char *text_of(const struct shmt_yaml *mapping, const char *key)
{
    const struct shmt_yaml *node = shmt_yaml_get(mapping, key);

    return node == NULL || node->kind != SHMT_YAML_SCALAR ? NULL : node->text;
}

static enum shmtune_status read_count(const struct shmt_yaml *mapping,
                                      const char *key, uint64_t *out,
                                      struct shmt_error *err)
{
    const struct shmt_yaml *node;
    const enum shmtune_status status =
        shmt_yaml_need(mapping, key, &node, err);

    return status == SHMTUNE_OK ? shmt_yaml_count(node, out, err) : status;
}

static enum shmtune_status read_three(const struct shmt_yaml *mapping,
                                      const char *key, int64_t out[3],
                                      struct shmt_error *err)
{
    const struct shmt_yaml *node;
    enum shmtune_status status = shmt_yaml_need(mapping, key, &node, err);

    if (status == SHMTUNE_OK)
        status = shmt_yaml_expect(node, SHMT_YAML_SEQUENCE, key, err);
    if (status == SHMTUNE_OK && node->count != 3)
        status = shmt_yaml_expected(node, err, "three numbers");
    for (size_t k = 0; status == SHMTUNE_OK && k < 3; k++)
        status = shmt_yaml_int(node->items[k], 0, UINT32_MAX, &out[k], err);
    return status;
}

/* -- arguments and memories ----------------------------------------------- */

static enum shmtune_status read_pointers(struct shmt_arena *arena,
                                         const struct shmt_yaml *node,
                                         struct shmt_draft_argument *out,
                                         struct shmt_error *err)
{
    struct shmt_draft_pointer *pointers =
        shmt_arena_alloc(arena, node->count + 1, sizeof *pointers);
    enum shmtune_status status =
        pointers == NULL ? shmt_error_memory(err) : SHMTUNE_OK;

    for (size_t k = 0; status == SHMTUNE_OK && k < node->count; k++) {
        status = read_count(node->items[k], "at", &pointers[k].at, err);
        if (status == SHMTUNE_OK)
            status = read_count(node->items[k], "memory", &pointers[k].memory,
                                err);
        if (status == SHMTUNE_OK)
            status = read_count(node->items[k], "offset", &pointers[k].offset,
                                err);
    }
    out->pointers = pointers;
    out->pointer_count = node->count;
    return status;
}

static enum shmtune_status read_texture(const struct shmt_yaml *node,
                                        struct shmt_draft_texture *out,
                                        struct shmt_error *err)
{
    const struct shmt_yaml *extents;
    enum shmtune_status status;

    out->other = text_of(node, "other");
    if (out->other != NULL)
        return SHMTUNE_OK;
    out->type = text_of(node, "type");
    out->words = text_of(node, "words");
    status = read_count(node, "memory", &out->memory, err);
    if (status == SHMTUNE_OK)
        status = shmt_yaml_need(node, "extents", &extents, err);
    if (status != SHMTUNE_OK)
        return status;
    if (out->type == NULL || out->words == NULL || extents->count < 1 ||
        extents->count > 3)
        return shmt_yaml_expected(node, err, "a texture");
    out->rank = extents->count;
    for (size_t k = 0; status == SHMTUNE_OK && k < extents->count; k++)
        status = shmt_yaml_int(extents->items[k], 1, INT64_MAX,
                               &out->extents[k], err);
    return status;
}

static enum shmtune_status read_argument(struct shmt_arena *arena,
                                         const struct shmt_yaml *node,
                                         struct shmt_draft_argument *out,
                                         struct shmt_error *err)
{
    const struct shmt_yaml *pointers;
    const struct shmt_yaml *texture = shmt_yaml_get(node, "texture");
    const char *hex = text_of(node, "bytes");
    enum shmtune_status status = shmt_yaml_need(node, "pointers", &pointers,
                                                err);
    unsigned char *bytes;

    if (status != SHMTUNE_OK)
        return status;
    if (hex == NULL || strlen(hex) % 2 != 0)
        return shmt_yaml_expected(node, err, "bytes, in hexadecimal");
    out->size = strlen(hex) / 2;
    bytes = shmt_arena_alloc(arena, out->size + 1, 1);
    if (bytes == NULL)
        return shmt_error_memory(err);
    for (size_t k = 0; k < out->size; k++) {
        const char pair[] = {hex[2 * k], hex[2 * k + 1], '\0'};

        bytes[k] = (unsigned char)strtoul(pair, NULL, 16);
    }
    out->bytes = bytes;
    status = read_pointers(arena, pointers, out, err);
    return status == SHMTUNE_OK && texture != NULL
               ? read_texture(texture, &out->texture, err) : status;
}

static enum shmtune_status read_memory(const struct shmt_yaml *node,
                                       struct shmt_draft_memory *out,
                                       struct shmt_error *err)
{
    const struct shmt_yaml *changed = shmt_yaml_get(node, "changed");
    const struct shmt_yaml *nan = shmt_yaml_get(node, "nan");
    enum shmtune_status status = read_count(node, "bytes", &out->bytes, err);

    out->before = text_of(node, "before");
    out->after = text_of(node, "after");
    out->symbol = text_of(node, "symbol");
    out->kind = text_of(node, "kind");
    if (status == SHMTUNE_OK && out->before == NULL)
        status = shmt_yaml_expected(node, err, "a file before");
    if (status == SHMTUNE_OK && shmt_yaml_get(node, "address") != NULL)
        status = read_count(node, "address", &out->address, err);
    if (status != SHMTUNE_OK || changed == NULL)
        return status;
    for (size_t k = 0; status == SHMTUNE_OK && k < 2 && k < changed->count;
         k++)
        status = shmt_yaml_count(changed->items[k], &out->changed[k], err);
    for (size_t k = 0; nan != NULL && k < nan->count && k < 4; k++)
        out->nan[out->nan_count++] = nan->items[k]->text;
    return status;
}

static enum shmtune_status read_lists(struct shmt_draft *draft,
                                      const struct shmt_yaml *root,
                                      struct shmt_error *err)
{
    const struct shmt_yaml *arguments, *memories;
    enum shmtune_status status =
        shmt_yaml_need(root, "parameters", &arguments, err);

    if (status == SHMTUNE_OK)
        status = shmt_yaml_need(root, "memories", &memories, err);
    if (status != SHMTUNE_OK)
        return status;
    draft->argument_count = arguments->count;
    draft->memory_count = memories->count;
    draft->arguments = shmt_arena_alloc(draft->arena, arguments->count + 1,
                                        sizeof *draft->arguments);
    draft->memories = shmt_arena_alloc(draft->arena, memories->count + 1,
                                       sizeof *draft->memories);
    if (draft->arguments == NULL || draft->memories == NULL)
        return shmt_error_memory(err);
    for (size_t k = 0; status == SHMTUNE_OK && k < arguments->count; k++)
        status = read_argument(draft->arena, arguments->items[k],
                               &draft->arguments[k], err);
    for (size_t k = 0; status == SHMTUNE_OK && k < memories->count; k++)
        status = read_memory(memories->items[k], &draft->memories[k], err);
    for (size_t k = 0; status == SHMTUNE_OK && k < draft->argument_count; k++)
        if (draft->arguments[k].texture.memory >= memories->count &&
            draft->arguments[k].texture.type != NULL)
            return shmt_yaml_expected(arguments->items[k], err,
                                      "a texture of a memory");
    for (size_t k = 0; status == SHMTUNE_OK && k < draft->argument_count; k++)
        for (size_t i = 0; i < draft->arguments[k].pointer_count; i++)
            if (draft->arguments[k].pointers[i].memory >= memories->count)
                return shmt_yaml_expected(arguments->items[k], err,
                                          "pointers to memories");
    return status;
}

/* -- what an argument is -------------------------------------------------- */

const struct shmt_draft_pointer *
shmt_draft_plain_pointer(const struct shmt_draft_argument *one)
{
    return one->size == 8 && one->pointer_count == 1 ? &one->pointers[0]
                                                     : NULL;
}

int64_t shmt_draft_integer(const struct shmt_draft_argument *one)
{
    const bool is_signed = one->declared->element == SHMT_ELEMENT_I32 ||
                           one->declared->element == SHMT_ELEMENT_I64;
    int64_t wide = 0;
    int32_t narrow;

    memcpy(&wide, one->bytes, one->size);
    memcpy(&narrow, one->bytes, sizeof narrow);
    return one->size == 4 && is_signed ? narrow : wide;
}

bool shmt_draft_is_integer(const struct shmt_draft_argument *one)
{
    return one->declared != NULL && shmt_init_is_dimension(one->declared) &&
           shmt_element_bytes(one->declared->element) == one->size &&
           one->pointer_count == 0 && !one->image;
}

bool shmt_draft_is_of_one(const struct shmt_draft *one,
                          const struct shmt_draft *other)
{
    if (one->identity == NULL || other->identity == NULL ||
        strcmp(one->identity, other->identity) != 0 ||
        strcmp(one->symbol, other->symbol) != 0 ||
        one->argument_count != other->argument_count)
        return false;
    for (size_t k = 0; k < one->argument_count; k++)
        if (one->arguments[k].size != other->arguments[k].size)
            return false;
    return true;
}

/* -- the kernel in the source --------------------------------------------- */

const char *shmt_draft_plain_name(struct shmt_arena *arena,
                                  const char *symbol)
{
    size_t length;
    const char *name = shmt_capture_plain_name(symbol, &length);

    return shmt_arena_copy(arena, name, length);
}

/* Whether a number that is the handle of a texture is meant as one: by its name
 * in the source, where that is no number's, else by the type of its symbol,
 * where there is one. */
static bool is_texture(const struct shmt_signature_parameter *in_source,
                       const struct shmt_signature_parameter *in_symbol)
{
    if (in_source != NULL)
        return shmt_init_is_texture(in_source) ||
               (!in_source->pointer &&
                in_source->kind == SHMT_SIGNATURE_OTHER);
    return in_symbol == NULL ||
           strcmp(in_symbol->type, "unsigned long long") == 0;
}

/* What of the arguments are textures and surfaces: the symbol says of both that
 * they are numbers. */
static void find_images(struct shmt_draft *draft,
                        const struct shmt_signature *symbol)
{
    for (size_t k = 0; k < draft->argument_count; k++) {
        struct shmt_draft_argument *one = &draft->arguments[k];
        const struct shmt_signature_parameter *in_source =
            draft->signature == NULL ? NULL
                                     : &draft->signature->parameters[k];
        const bool known =
            one->texture.type != NULL || one->texture.other != NULL;

        if (known && !is_texture(in_source, symbol == NULL
                                                ? NULL
                                                : &symbol->parameters[k]))
            one->texture = (struct shmt_draft_texture){0};
        one->surface = in_source != NULL && shmt_init_is_surface(in_source);
        one->image = one->texture.type != NULL || one->texture.other != NULL ||
                     one->surface ||
                     (in_source != NULL && shmt_init_is_texture(in_source));
    }
}

/* The names are the source's; of the types the symbol says more, where it says
 * them. */
static enum shmtune_status name_types(struct shmt_draft *draft,
                                      struct shmt_error *err)
{
    struct shmt_signature *made =
        shmt_arena_alloc(draft->arena, 1, sizeof *made);
    struct shmt_signature_parameter *types;
    bool typed;

    if (made == NULL)
        return shmt_error_memory(err);
    typed = shmt_signature_read_symbol(draft->arena, draft->symbol, made) &&
            made->count == draft->argument_count;
    find_images(draft, typed ? made : NULL);
    if (typed) {
        types = shmt_arena_copy(draft->arena, made->parameters,
                                made->count * sizeof *types);
        if (types == NULL)
            return shmt_error_memory(err);
        for (size_t k = 0; draft->signature != NULL && k < made->count; k++)
            types[k].name = draft->signature->parameters[k].name;
        made->parameters = types;
        draft->signature = made;
    }
    for (size_t k = 0; draft->signature != NULL && k < draft->argument_count;
         k++)
        draft->arguments[k].declared = &draft->signature->parameters[k];
    return SHMTUNE_OK;
}

/* How many of the types are those of the symbol. */
static size_t agree(const struct shmt_signature *text,
                    const struct shmt_signature *symbol)
{
    size_t count = 0;

    for (size_t k = 0; k < text->count && k < symbol->count; k++) {
        const struct shmt_signature_parameter *const a = &text->parameters[k];
        const struct shmt_signature_parameter *const b =
            &symbol->parameters[k];

        count += a->pointer == b->pointer && a->kind == b->kind &&
                 a->element == b->element && a->constant == b->constant;
        count += strcmp(a->type, b->type) == 0;
    }
    return count;
}

const struct shmt_source_kernel *
shmt_draft_kernel_in(const struct shmt_draft *draft,
                     const struct shmt_source *source)
{
    const char *const entry = shmt_signature_expression(draft->arena,
                                                        draft->symbol);
    const bool made = entry == NULL || strchr(entry, '<') != NULL;
    const struct shmt_source_kernel *found = NULL;
    struct shmt_signature symbol;
    size_t best = 0;

    if (!shmt_signature_read_symbol(draft->arena, draft->symbol, &symbol))
        symbol.count = 0;
    for (size_t k = 0; k < source->kernel_count; k++) {
        const struct shmt_source_kernel *const one = &source->kernels[k];
        const size_t own = (one->is_template == made ? 1000 : 0) +
                           agree(&one->signature, &symbol);

        if (strcmp(one->name, draft->name) != 0 ||
            one->signature.count != draft->argument_count ||
            (found != NULL && own < best))
            continue;
        found = one;
        best = own;
    }
    return found;
}

enum shmtune_status shmt_draft_whole(const struct shmt_draft *draft,
                                     const char **out, struct shmt_error *err)
{
    const char *const folder = shmt_path_folder(draft->arena, draft->path);
    const char *const path =
        folder == NULL ? NULL : shmt_path_join(draft->arena, folder,
                                               draft->source);
    struct shmt_source_splice splice = {
        .arena = draft->arena, .folders = draft->folders,
        .folder_count = draft->folder_count, .lax = true, .err = err};

    *out = draft->code;
    if (path == NULL)
        return shmt_error_memory(err);
    if (draft->whole != NULL)
        return SHMTUNE_OK;
    shmt_source_splice_text(&splice, path, draft->code);
    return shmt_source_splice_end(&splice, out);
}

enum shmtune_status shmt_draft_find_kernel(struct shmt_draft *draft,
                                           struct shmt_error *err)
{
    const struct shmt_source_kernel *kernel;
    struct shmt_source typed;
    struct shmt_text whole = {0};
    const char *code;
    enum shmtune_status status;

    if (draft->code == NULL)
        return name_types(draft, err);
    for (size_t k = 0; k < draft->number_count; k++)
        shmt_draft_add_definition(&draft->numbers[k], &whole);
    shmt_text_add(&whole, shmt_text_string(&draft->definitions));
    shmt_text_add(&whole, draft->code);
    status = whole.failed ? shmt_error_memory(err)
                          : shmt_source_preprocess(draft->arena, whole.data,
                                                   &code, err);
    shmt_text_free(&whole);
    if (status == SHMTUNE_OK)
        status = shmt_source_read(draft->arena, code, &typed, err);
    if (status == SHMTUNE_OK)
        status = shmt_source_globals(draft->arena, code, NULL,
                                     &draft->globals, &draft->global_count,
                                     err);
    if (status == SHMTUNE_OK)
        status = shmt_source_read(draft->arena, draft->code, &draft->text,
                                  err);
    if (status != SHMTUNE_OK)
        return status;
    kernel = shmt_draft_kernel_in(draft, &typed);
    draft->signature = kernel == NULL ? NULL : &kernel->signature;
    return name_types(draft, err);
}

static enum shmtune_status read_source(struct shmt_draft *draft,
                                       const char *folder,
                                       struct shmt_error *err)
{
    const char *path = shmt_path_join(draft->arena, folder, draft->source);
    size_t size;

    return path == NULL ? shmt_error_memory(err)
                        : shmt_path_read(draft->arena, path, LAUNCH_BYTES,
                                         &draft->code, &size, err);
}

static enum shmtune_status read_options(struct shmt_draft *draft,
                                        const struct shmt_yaml *node,
                                        struct shmt_error *err)
{
    const size_t count = node == NULL ? 0 : node->count;
    const char **options =
        shmt_arena_alloc(draft->arena, count + 1, sizeof *options);

    if (options == NULL)
        return shmt_error_memory(err);
    for (size_t k = 0; k < count; k++)
        options[k] = node->items[k]->text;
    return shmt_compiler_line_read(draft->arena, draft->compiled_in, options,
                                   count, &draft->line, err);
}

static enum shmtune_status read_root(struct shmt_draft *draft,
                                     const struct shmt_yaml *root,
                                     struct shmt_error *err)
{
    const struct shmt_yaml *shared, *cooperative;
    const struct shmt_yaml *registers = shmt_yaml_get(root, "registers");
    const struct shmt_yaml *resident = shmt_yaml_get(root, "resident_blocks");
    enum shmtune_status status = read_three(root, "grid", draft->grid, err);

    draft->symbol = text_of(root, "symbol");
    draft->expression = text_of(root, "expression");
    draft->source = text_of(root, "source");
    draft->program = text_of(root, "program");
    draft->compiled_in = text_of(root, "folder");
    draft->headers = text_of(root, "headers");
    draft->identity = text_of(root, "identity");
    draft->image = text_of(root, "image");
    if (status == SHMTUNE_OK && draft->symbol == NULL)
        status = shmt_yaml_expected(root, err, "a symbol");
    if (status == SHMTUNE_OK)
        status = read_three(root, "block", draft->block, err);
    if (status == SHMTUNE_OK)
        status = read_three(root, "cluster", draft->cluster, err);
    if (status == SHMTUNE_OK)
        status = shmt_yaml_need(root, "shared_dynamic", &shared, err);
    if (status == SHMTUNE_OK)
        status = shmt_yaml_int(shared, 0, UINT32_MAX, &draft->shared, err);
    if (status == SHMTUNE_OK)
        status = shmt_yaml_need(root, "cooperative", &cooperative, err);
    if (status == SHMTUNE_OK)
        status = shmt_yaml_bool(cooperative, &draft->cooperative, err);
    if (status == SHMTUNE_OK && registers != NULL)
        status = shmt_yaml_int(registers, 1, 255, &draft->registers, err);
    if (status == SHMTUNE_OK && resident != NULL)
        status = shmt_yaml_int(resident, 1, 64, &draft->resident, err);
    return status;
}

enum shmtune_status shmt_draft_read(struct shmt_draft *draft,
                                    const char *folder,
                                    struct shmt_error *err)
{
    const struct shmt_yaml *root;
    const char *data;
    size_t size;
    enum shmtune_status status;

    draft->path = shmt_path_join(draft->arena, folder, SHMT_CAPTURE_LAUNCH);
    if (draft->path == NULL)
        return shmt_error_memory(err);
    status = shmt_path_read(draft->arena, draft->path, LAUNCH_BYTES, &data,
                            &size, err);
    if (status == SHMTUNE_OK)
        status = shmt_yaml_parse(draft->arena, draft->path, data, size, &root,
                                 err);
    if (status == SHMTUNE_OK)
        status = shmt_yaml_expect(root, SHMT_YAML_MAPPING, "a launch", err);
    if (status == SHMTUNE_OK)
        status = read_root(draft, root, err);
    if (status == SHMTUNE_OK)
        status = read_lists(draft, root, err);
    if (status == SHMTUNE_OK)
        status = read_options(draft, shmt_yaml_get(root, "options"), err);
    if (status != SHMTUNE_OK)
        return status;
    draft->name = shmt_draft_plain_name(draft->arena, draft->symbol);
    if (draft->name == NULL)
        return shmt_error_memory(err);
    return draft->source == NULL ? SHMTUNE_OK
                                 : read_source(draft, folder, err);
}
