/* SPDX-License-Identifier: MIT */
/*
 * Any text as a CUDA source: what is found in it is whole, and lies in it; as
 * the name that a compiler made; as PTX; and what a compiler's first pass
 * makes of it, which is such a text again.
 */
#include "fuzz.h"

#include <string.h>

#include "gpu/gpu.h"
#include "source/source.h"

const char fuzz_name[] = "source";

static void check_signature(const struct shmt_signature *signature)
{
    for (size_t k = 0; k < signature->count; k++) {
        FUZZ_HOLDS(signature->parameters[k].name != NULL);
        FUZZ_HOLDS(signature->parameters[k].type != NULL);
        FUZZ_HOLDS(signature->parameters[k].element < SHMT_ELEMENT_COUNT);
    }
}

/* Every other name is known. */
static const char *find(const void *context, const char *name)
{
    (void)context;
    return strlen(name) % 2 == 1 ? "n" : NULL;
}

/* Every other of the rest may be one, and every other type. */
static const char *open(const void *context, const char *name)
{
    (void)context;
    return strlen(name) % 4 == 2 ? name : NULL;
}

static size_t bytes(const void *context, const char *type)
{
    (void)context;
    return strlen(type) % 2 * 8;
}

static void check_extents(const struct shmt_source *source, const char *code,
                          int line)
{
    static const struct shmt_source_names names = {find, NULL, open, bytes};

    for (int axis = 0; axis < 3; axis++) {
        struct shmt_text text = {0};

        FUZZ_HOLDS(shmt_source_extent(source, code, line, axis, &names,
                                      &text) ==
                   (shmt_text_string(&text)[0] != '\0'));
        shmt_text_free(&text);
    }
}

/* What a kernel uses has its name, and is such a text again. */
static void check_slice(struct shmt_arena *arena, const char *text,
                        const struct shmt_source *source)
{
    const struct shmt_source_shared *arrays;
    size_t count;

    FUZZ_HOLDS(shmt_source_shared_arrays(arena, text, &arrays, &count, NULL) ==
               SHMTUNE_OK);
    for (size_t k = 0; k < count && k < 16; k++)
        check_extents(source, arrays[k].bytes, arrays[k].line);
    for (size_t k = 0; k < source->kernel_count && k < 4; k++) {
        const struct shmt_source_kernel *const kernel = &source->kernels[k];
        const char *const own = shmt_source_slice(arena, text, kernel);
        bool strides;

        FUZZ_HOLDS(own != NULL);
        FUZZ_HOLDS(shmt_source_bound(own) >= 0);
        FUZZ_HOLDS(shmt_source_launching(arena, source, kernel->name) != NULL);
        for (int axis = 0; axis < 3; axis++) {
            FUZZ_HOLDS(shmt_source_strides(arena, own, axis, &strides));
            (void)shmt_source_asks_block(own, axis);
            (void)shmt_source_counts_threads(own, axis);
        }
    }
}

static void check_host(const struct shmt_source *source, const char *text)
{
    for (size_t k = 0; k < source->variable_count; k++)
        FUZZ_HOLDS(source->variables[k].value != NULL);
    for (size_t k = 0; k < source->define_count; k++) {
        FUZZ_HOLDS(strstr(text, source->defines[k].name) != NULL);
        FUZZ_HOLDS(source->defines[k].value != NULL);
        FUZZ_HOLDS(source->defines[k].parameter_count <= 8);
    }
    for (size_t k = 0; k < source->allocation_count; k++) {
        FUZZ_HOLDS(source->allocations[k].name != NULL);
        FUZZ_HOLDS(source->allocations[k].bytes[0] != '\0' ||
                   source->allocations[k].count[0] != '\0');
        if (k < 16)
            check_extents(source, source->allocations[k].bytes,
                          source->allocations[k].line);
    }
    for (size_t k = 0; k < source->launch_count && k < 16; k++) {
        check_extents(source, source->launches[k].grid,
                      source->launches[k].line);
        check_extents(source, source->launches[k].block,
                      source->launches[k].line);
    }
}

/* What a kernel of the text does with its variables. */
static void check_globals(struct shmt_arena *arena, const char *text,
                          const struct shmt_source *source)
{
    const struct shmt_source_global *list;
    size_t count;

    FUZZ_HOLDS(shmt_source_globals(
                   arena, text, source->kernel_count == 0
                                    ? NULL : &source->kernels[0],
                   &list, &count, NULL) == SHMTUNE_OK);
    for (size_t k = 0; k < count; k++) {
        FUZZ_HOLDS(strstr(text, list[k].name) != NULL);
        FUZZ_HOLDS(list[k].declared.element < SHMT_ELEMENT_COUNT);
        FUZZ_HOLDS(list[k].used || !list[k].unknown);
        FUZZ_HOLDS(list[k].count == NULL || list[k].count[0] != '\0');
    }
}

static void check_source(const struct shmt_source *source, const char *text)
{
    for (size_t k = 0; k < source->kernel_count; k++) {
        FUZZ_HOLDS(strstr(text, source->kernels[k].name) != NULL);
        FUZZ_HOLDS(source->kernels[k].line >= 1);
        FUZZ_HOLDS(source->kernels[k].column >= 1);
        check_signature(&source->kernels[k].signature);
    }
    for (size_t k = 0; k < source->macro_count; k++)
        FUZZ_HOLDS(source->macros[k].value[0] != '\0');
    for (size_t k = 0; k < source->launch_count; k++) {
        FUZZ_HOLDS(strstr(text, source->launches[k].name) != NULL);
        for (size_t a = 0; a < source->launches[k].argument_count; a++)
            FUZZ_HOLDS(source->launches[k].arguments[a] != NULL);
    }
    check_host(source, text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct shmt_arena *arena = shmt_arena_new();
    char *const text = malloc(size + 1);
    struct shmt_source source;
    struct shmt_signature signature;
    const char *plain = NULL;
    int64_t least;

    FUZZ_HOLDS(arena != NULL && text != NULL);
    memcpy(text, data, size);
    text[size] = '\0';
    FUZZ_HOLDS(shmt_source_read(arena, text, &source, NULL) == SHMTUNE_OK);
    check_source(&source, text);
    check_globals(arena, text, &source);
    check_slice(arena, text, &source);
    check_extents(&source, text, INT32_MAX);
    FUZZ_HOLDS(shmt_source_preprocess(arena, text, &plain, NULL) ==
               SHMTUNE_OK);
    FUZZ_HOLDS(shmt_source_read(arena, plain, &source, NULL) == SHMTUNE_OK);
    check_source(&source, plain);
    check_globals(arena, plain, &source);
    if (shmt_signature_read(arena, text, &signature))
        check_signature(&signature);
    if (shmt_signature_read_symbol(arena, text, &signature))
        check_signature(&signature);
    if (shmt_ptx_shared(text, "scale", &least))
        FUZZ_HOLDS(least >= 0);
    shmt_ptx_shared_bytes(text);
    free(text);
    shmt_arena_free(arena);
    return 0;
}
