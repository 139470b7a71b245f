/* SPDX-License-Identifier: MIT */
/*
 * texture: textures, through which kernels read a buffer by coordinates: reads
 * them for argument.c, and evaluates them for bench/, which has the driver make
 * them.  An application has its own.
 *
 * The limits are those of cuTexObjectCreate and cuArray3DCreate on devices of
 * compute capability 7.5 and later: what they refuse would be an error without
 * a reason.
 */
#include "kernel/read.h"

#include <string.h>

enum {
    EXTENTS = 0, PITCH = EXTENTS + SHMT_ARGUMENT_EXTENTS,
    PITCH_BYTES = 32, PITCH_MOST = 2097120
};

static const char *const keys[] = {
    "texture", "extents", "type", "memory", "pitch", "layered", "channels",
    "address", "border", "filter", "read", "normalized", "srgb", NULL};
static const char *const memories[] = {"linear", "pitch", "array", NULL};
static const char *const addresses[] = {"wrap", "clamp", "mirror", "border",
                                        NULL};
static const char *const filters[] = {"point", "linear", NULL};
static const char *const reads[] = {"element", "normalized_float", NULL};

/* -- reading -------------------------------------------------------------- */

/* A word, if it is stated. */
static enum shmtune_status read_word(struct shmt_kernel_reader *reader,
                                     const struct shmt_yaml *mapping,
                                     const char *key,
                                     const char *const *words, size_t *out)
{
    const struct shmt_yaml *node = shmt_yaml_get(mapping, key);

    return node == NULL ? SHMTUNE_OK
                        : shmt_kernel_word_read(reader, node, words, out);
}

static enum shmtune_status read_bool(struct shmt_kernel_reader *reader,
                                     const struct shmt_yaml *mapping,
                                     const char *key, bool *out)
{
    const struct shmt_yaml *node = shmt_yaml_get(mapping, key);

    return node == NULL ? SHMTUNE_OK : shmt_yaml_bool(node, out, reader->err);
}

/* A list of one to `most`, or one alone.  NULL: it is neither, refused. */
static const struct shmt_yaml *const *
read_list(struct shmt_kernel_reader *reader,
          const struct shmt_yaml *const *node, size_t most, const char *key,
          size_t *count)
{
    *count = 1;
    if ((*node)->kind != SHMT_YAML_SEQUENCE)
        return node;
    *count = (*node)->count;
    if (*count >= 1 && *count <= most)
        return (const struct shmt_yaml *const *)(*node)->items;
    shmt_yaml_refuse(*node, reader->err, "%s has %zu items; 1 to %zu are "
                     "expected", key, *count, most);
    return NULL;
}

/* One for each dimension, or one for all. */
static enum shmtune_status read_addresses(struct shmt_kernel_reader *reader,
                                          const struct shmt_yaml *mapping,
                                          struct shmt_argument_texture *out)
{
    const struct shmt_yaml *node = shmt_yaml_get(mapping, "address");
    const struct shmt_yaml *const *items;
    size_t count, word = SHMT_ARGUMENT_CLAMP;

    for (size_t k = 0; k < SHMT_ARGUMENT_EXTENTS; k++)
        out->address[k] = SHMT_ARGUMENT_CLAMP;
    if (node == NULL)
        return SHMTUNE_OK;
    items = read_list(reader, &node, out->rank - out->layered, "address",
                      &count);
    if (items == NULL)
        return SHMTUNE_INVALID_FILE;
    for (size_t k = 0; k < count; k++) {
        const enum shmtune_status status =
            shmt_kernel_word_read(reader, items[k], addresses, &word);

        if (status != SHMTUNE_OK)
            return status;
        out->address[k] = (enum shmt_argument_address)word;
        if (!out->normalized && (word == SHMT_ARGUMENT_WRAP ||
                                 word == SHMT_ARGUMENT_MIRROR))
            return shmt_yaml_refuse(items[k], reader->err,
                                    "the address %s without \"normalized: "
                                    "true\"; the hardware wraps and mirrors "
                                    "coordinates from 0 to 1 alone",
                                    addresses[word]);
    }
    if (count == 1)
        out->address[1] = out->address[2] = out->address[0];
    return SHMTUNE_OK;
}

/* What is read outside: a number for each channel, or one for all. */
static enum shmtune_status read_border(struct shmt_kernel_reader *reader,
                                       const struct shmt_yaml *mapping,
                                       struct shmt_argument_texture *out)
{
    const struct shmt_yaml *node = shmt_yaml_get(mapping, "border");
    const struct shmt_yaml *const *items;
    enum shmtune_status status = SHMTUNE_OK;
    size_t count;

    if (node == NULL)
        return SHMTUNE_OK;
    items = read_list(reader, &node, (size_t)out->channels, "border", &count);
    if (items == NULL)
        return SHMTUNE_INVALID_FILE;
    for (size_t k = 0; status == SHMTUNE_OK && k < count; k++)
        status = shmt_yaml_real(items[k], &out->border[k], reader->err);
    for (size_t k = count; k < SHMT_ARGUMENT_CHANNELS && count == 1; k++)
        out->border[k] = out->border[0];
    for (size_t k = 0; k < SHMT_ARGUMENT_EXTENTS; k++)
        if (out->address[k] == SHMT_ARGUMENT_BORDER)
            return status;
    return status == SHMTUNE_OK
               ? shmt_yaml_refuse(node, reader->err, "a border without "
                                  "\"address: border\"")
               : status;
}

static enum shmtune_status read_channels(struct shmt_kernel_reader *reader,
                                         const struct shmt_yaml *mapping,
                                         struct shmt_argument_texture *out)
{
    const struct shmt_yaml *node = shmt_yaml_get(mapping, "channels");
    int64_t count = 1;
    enum shmtune_status status = SHMTUNE_OK;

    if (node != NULL)
        status = shmt_yaml_int(node, INT64_MIN, INT64_MAX, &count,
                               reader->err);
    if (status == SHMTUNE_OK && count != 1 && count != 2 && count != 4)
        return shmt_yaml_refuse(node, reader->err,
                                "%lld channels; the hardware knows 1, 2 and 4",
                                (long long)count);
    out->channels = (int)count;
    return status;
}

/* Extents and a pitch: of the problem alone, since an application has one
 * texture for all configurations. */
static enum shmtune_status read_sizes(struct shmt_kernel_reader *reader,
                                      const struct shmt_yaml *mapping,
                                      struct shmt_argument *argument,
                                      struct shmt_argument_texture *out)
{
    struct shmt_expr **numbers = shmt_arena_alloc(
        reader->kernel->arena, SHMT_ARGUMENT_NUMBERS, sizeof *numbers);
    const struct shmt_yaml *pitch = shmt_yaml_get(mapping, "pitch");
    const struct shmt_yaml *node;
    const struct shmt_yaml *const *items;
    enum shmtune_status status =
        shmt_yaml_need(mapping, "extents", &node, reader->err);

    if (status != SHMTUNE_OK)
        return status;
    if (numbers == NULL)
        return shmt_error_memory(reader->err);
    argument->numbers_of_map = numbers;
    items = read_list(reader, &node, SHMT_ARGUMENT_EXTENTS, "extents",
                      &out->rank);
    if (items == NULL)
        return SHMTUNE_INVALID_FILE;
    for (size_t k = 0; status == SHMTUNE_OK && k < out->rank; k++)
        status = shmt_kernel_read_problem_expr(
            reader, items[k], "an extent of a texture", &numbers[k]);
    if (status == SHMTUNE_OK && pitch != NULL)
        status = shmt_kernel_read_problem_expr(
            reader, pitch, "the pitch of a texture", &numbers[PITCH]);
    return status;
}

/* The memory, and whether as many extents can lie on it. */
static enum shmtune_status read_memory(struct shmt_kernel_reader *reader,
                                       const struct shmt_yaml *mapping,
                                       struct shmt_argument_texture *out)
{
    const struct shmt_yaml *node = shmt_yaml_get(mapping, "memory");
    const struct shmt_yaml *layered = shmt_yaml_get(mapping, "layered");
    size_t word = out->rank == 1 ? SHMT_ARGUMENT_LINEAR : SHMT_ARGUMENT_ARRAY;
    size_t rank;
    enum shmtune_status status =
        read_bool(reader, mapping, "layered", &out->layered);

    if (out->layered && out->rank == 1)
        return shmt_yaml_refuse(layered, reader->err,
                                "layers of a texture with 1 extent; the last "
                                "extent is how many there are: give it, too");
    if (status == SHMTUNE_OK)
        status = read_word(reader, mapping, "memory", memories, &word);
    if (status != SHMTUNE_OK)
        return status;
    out->memory = (enum shmt_argument_memory)word;
    rank = word == SHMT_ARGUMENT_LINEAR ? 1
           : word == SHMT_ARGUMENT_PITCH ? 2 : out->rank;
    if (out->rank != rank || (out->layered && word != SHMT_ARGUMENT_ARRAY))
        return shmt_yaml_refuse(node, reader->err,
                                "the memory %s for %zu extent%s%s; it takes "
                                "%zu: write \"memory: array\"",
                                memories[word], out->rank,
                                out->rank == 1 ? "" : "s",
                                out->layered ? " with layers" : "", rank);
    node = shmt_yaml_get(mapping, "pitch");
    if (node != NULL && word == SHMT_ARGUMENT_LINEAR)
        return shmt_yaml_refuse(node, reader->err,
                                "a pitch of a texture with one row; leave it "
                                "out");
    return SHMTUNE_OK;
}

/* A linear texture is read by the number of the texel, and nothing else. */
static enum shmtune_status check_linear(struct shmt_kernel_reader *reader,
                                        const struct shmt_yaml *mapping,
                                        const struct shmt_argument_texture *one)
{
    static const char *const others[] = {"address", "border", "filter",
                                         "normalized"};

    for (size_t k = 0; one->memory == SHMT_ARGUMENT_LINEAR &&
                       k < sizeof others / sizeof others[0]; k++)
        if (shmt_yaml_get(mapping, others[k]) != NULL)
            return shmt_yaml_refuse(
                shmt_yaml_get(mapping, others[k]), reader->err,
                "\"%s\" of a texture on linear memory, which is read by the "
                "number of a texel (tex1Dfetch); leave it out, or write "
                "\"memory: array\"", others[k]);
    return SHMTUNE_OK;
}

/* How texels are read. */
static enum shmtune_status read_sampling(struct shmt_kernel_reader *reader,
                                         const struct shmt_yaml *mapping,
                                         struct shmt_argument_texture *out)
{
    size_t filter = 0, read = 0;
    enum shmtune_status status =
        read_bool(reader, mapping, "normalized", &out->normalized);

    if (status == SHMTUNE_OK)
        status = read_bool(reader, mapping, "srgb", &out->srgb);
    if (status == SHMTUNE_OK)
        status = read_addresses(reader, mapping, out);
    if (status == SHMTUNE_OK)
        status = read_border(reader, mapping, out);
    if (status == SHMTUNE_OK)
        status = read_word(reader, mapping, "filter", filters, &filter);
    if (status == SHMTUNE_OK)
        status = read_word(reader, mapping, "read", reads, &read);
    out->linear = filter == 1;
    out->fraction = read == 1;
    return status == SHMTUNE_OK ? check_linear(reader, mapping, out) : status;
}

enum shmtune_status shmt_kernel_texture_read(struct shmt_kernel_reader *reader,
                                             const struct shmt_yaml *mapping,
                                             struct shmt_argument *argument)
{
    struct shmt_argument_texture *texture =
        shmt_arena_alloc(reader->kernel->arena, 1, sizeof *texture);
    const struct shmt_yaml *to = shmt_yaml_get(mapping, "texture");
    enum shmtune_status status =
        shmt_yaml_check_keys(mapping, keys, reader->err);

    if (texture == NULL)
        return shmt_error_memory(reader->err);
    argument->role = SHMT_ROLE_TEXTURE;
    argument->fill_place = mapping->place;
    argument->texture = texture;
    argument->bytes = argument->alignment = sizeof(uint64_t);
    if (status == SHMTUNE_OK)
        status = shmt_kernel_base_read(reader, to, argument);
    if (status == SHMTUNE_OK)
        status = read_sizes(reader, mapping, argument, texture);
    if (status == SHMTUNE_OK)
        status = read_memory(reader, mapping, texture);
    if (status == SHMTUNE_OK)
        status = read_channels(reader, mapping, texture);
    texture->typed = shmt_yaml_get(mapping, "type") != NULL;
    if (status == SHMTUNE_OK && texture->typed)
        status = shmt_kernel_type_read(reader, mapping, &texture->element);
    return status == SHMTUNE_OK ? read_sampling(reader, mapping, texture)
                                : status;
}

/* -- with the buffer known ------------------------------------------------ */

static enum shmt_element
element_of(const struct shmt_kernel *kernel,
           const struct shmt_argument *argument)
{
    return argument->texture->typed
               ? argument->texture->element
               : kernel->arguments[argument->members[0].target].element;
}

/* NULL, or why the hardware reads no such element so. */
static const char *why_not(const struct shmt_argument_texture *texture,
                           enum shmt_element element)
{
    const bool real =
        element == SHMT_ELEMENT_F32 || element == SHMT_ELEMENT_F16;
    const bool small = !real && shmt_element_bytes(element) <= 2;

    switch (element) {
    case SHMT_ELEMENT_F16: case SHMT_ELEMENT_F32:
    case SHMT_ELEMENT_I8: case SHMT_ELEMENT_I16: case SHMT_ELEMENT_I32:
    case SHMT_ELEMENT_U8: case SHMT_ELEMENT_U16: case SHMT_ELEMENT_U32:
        break;
    case SHMT_ELEMENT_F64: case SHMT_ELEMENT_I64: case SHMT_ELEMENT_U64:
        return "the hardware has no elements of 8 bytes: read two halves, "
               "\"type: i32\" with \"channels: 2\"";
    default:
        return "f16, f32, and whole numbers of 8 to 32 bits are expected: "
               "write the one that has as many bits as \"type\"";
    }
    if (texture->fraction && !small)
        return "\"read: normalized_float\" is for whole numbers of 8 and 16 "
               "bits: leave it out";
    if (texture->linear && !real && !texture->fraction)
        return small ? "\"filter: linear\" is for what is read as a real: "
                       "write \"read: normalized_float\", or \"filter: point\""
                     : "\"filter: linear\" is for what is read as a real: "
                       "write \"filter: point\"";
    if (texture->srgb && (element != SHMT_ELEMENT_U8 || !texture->fraction))
        return "\"srgb\" is for u8 with \"read: normalized_float\"";
    return NULL;
}

enum shmtune_status
shmt_kernel_texture_check(struct shmt_kernel_reader *reader,
                          const struct shmt_argument *argument)
{
    const struct shmt_argument_texture *texture = argument->texture;
    const struct shmt_argument *base =
        &reader->kernel->arguments[argument->members[0].target];
    const enum shmt_element element = element_of(reader->kernel, argument);
    const char *why = why_not(texture, element);

    if (why != NULL)
        return shmt_yaml_refuse_at(argument->fill_place, reader->err,
                                   "the texture %s is of %s; %s",
                                   argument->name,
                                   shmt_element_word(element), why);
    if (texture->memory == SHMT_ARGUMENT_ARRAY &&
        base->role != SHMT_ROLE_INPUT)
        return shmt_yaml_refuse_at(argument->members[0].place, reader->err,
                                   "a texture in an array is a copy of an "
                                   "input, and %s is %s %s; make it one, or "
                                   "write \"memory: %s\"", base->name,
                                   base->role == SHMT_ROLE_WORKSPACE ? "a"
                                                                     : "an",
                                   shmt_role_word(base->role),
                                   texture->rank == 1 ? "linear" : "pitch");
    return SHMTUNE_OK;
}

/* -- evaluating ----------------------------------------------------------- */

/* What one texture is evaluated with. */
struct evaluating {
    struct shmt_kernel_evaluated *evaluated;
    const struct shmt_argument *argument;
    struct shmt_error *err;
};

/* The most texels of each extent; 0: no such texture. */
static const uint64_t *most_of(const struct shmt_argument_texture *texture)
{
    static const uint64_t linear[] = {1 << 28},
                          pitch[] = {131072, 65000},
                          arrays[3][3] = {{131072}, {131072, 65536},
                                          {16384, 16384, 16384}},
                          layers[3][3] = {{0}, {32768, 2048},
                                          {32768, 32768, 2048}};

    return texture->memory == SHMT_ARGUMENT_LINEAR ? linear
           : texture->memory == SHMT_ARGUMENT_PITCH ? pitch
           : texture->layered ? layers[texture->rank - 1]
                              : arrays[texture->rank - 1];
}

static enum shmtune_status extents_of(const struct evaluating *with,
                                      struct shmt_argument_texture *out)
{
    const uint64_t *most = most_of(out);

    for (size_t k = 0; k < SHMT_ARGUMENT_EXTENTS; k++) {
        const struct shmt_expr *expr = with->argument->numbers_of_map[k];
        int64_t extent = 1;
        enum shmtune_status status = SHMTUNE_OK;

        if (k < out->rank)
            status = shmt_expr_next_int(expr, &with->evaluated->evaluation,
                                        &extent, with->err);
        if (status != SHMTUNE_OK)
            return status;
        if (extent < 1 || (k < out->rank && (uint64_t)extent > most[k]))
            return shmt_yaml_refuse_at(
                shmt_expr_place(expr), with->err,
                "extent %zu of the texture %s is %lld texels; 1 to %llu are "
                "expected", k + 1, with->argument->name, (long long)extent,
                (unsigned long long)most[k]);
        out->extents[k] = (uint64_t)extent;
    }
    return SHMTUNE_OK;
}

/* In bytes, from one in elements of the texture. */
static enum shmtune_status pitch_of(const struct evaluating *with,
                                    struct shmt_argument_texture *out)
{
    const struct shmt_expr *expr = with->argument->numbers_of_map[PITCH];
    const int64_t unit = (int64_t)shmt_element_bytes(out->element);
    const int64_t row = (int64_t)out->extents[0] * out->channels;
    const struct shmt_place place =
        expr != NULL ? shmt_expr_place(expr) : with->argument->fill_place;
    int64_t pitch = row;
    enum shmtune_status status = SHMTUNE_OK;

    if (expr != NULL)
        status = shmt_expr_next_int(expr, &with->evaluated->evaluation, &pitch,
                                    with->err);
    if (status != SHMTUNE_OK)
        return status;
    if (pitch < row || pitch > INT32_MAX)
        return shmt_yaml_refuse_at(
            place, with->err, "the pitch of the texture %s is %lld elements; "
            "%lld to %ld, those of a row and more, are expected",
            with->argument->name, (long long)pitch, (long long)row,
            (long)INT32_MAX);
    out->pitch = (uint64_t)(pitch * unit);
    if (out->memory != SHMT_ARGUMENT_PITCH ||
        (out->pitch % PITCH_BYTES == 0 && out->pitch <= PITCH_MOST))
        return SHMTUNE_OK;
    return shmt_yaml_refuse_at(
        place, with->err, "the pitch of the texture %s is %lld bytes; a "
        "multiple of %d, %d at most, is expected: give rows a pitch, "
        "roundup(..., %d), or write \"memory: array\"", with->argument->name,
        (long long)(pitch * unit), PITCH_BYTES, PITCH_MOST,
        PITCH_BYTES / (int)unit);
}

/* All of it lies in the buffer. */
static enum shmtune_status check_size(const struct evaluating *with,
                                      const struct shmt_argument_texture *one)
{
    const struct shmt_kernel *kernel = with->evaluated->kernel;
    const size_t target = with->argument->members[0].target;
    const struct shmt_argument *base = &kernel->arguments[target];
    const uint64_t rows = one->extents[1] * one->extents[2];
    const uint64_t bytes =
        (rows - 1) * one->pitch + one->extents[0] * (uint64_t)one->channels *
                                      shmt_element_bytes(one->element);
    uint64_t count, there;
    const enum shmtune_status status = shmt_kernel_argument_count(
        with->evaluated, target, &count, with->err);

    if (status != SHMTUNE_OK)
        return status;
    there = count * shmt_element_bytes(base->element);
    if (bytes > there)
        return shmt_yaml_refuse_at(
            shmt_expr_place(with->argument->numbers_of_map[EXTENTS]),
            with->err, "the texture %s has %llu bytes, and %s has %llu; make "
            "the extents smaller, or the count larger", with->argument->name,
            (unsigned long long)bytes, base->name, (unsigned long long)there);
    return SHMTUNE_OK;
}

enum shmtune_status
shmt_kernel_argument_texture(struct shmt_kernel_evaluated *evaluated, size_t k,
                             struct shmt_argument_texture *out,
                             struct shmt_error *err)
{
    const struct shmt_argument *argument = &evaluated->kernel->arguments[k];
    const struct evaluating with = {evaluated, argument, err};
    struct shmt_argument_texture texture = *argument->texture;
    enum shmtune_status status;

    texture.element = element_of(evaluated->kernel, argument);
    status = extents_of(&with, &texture);
    if (status == SHMTUNE_OK)
        status = pitch_of(&with, &texture);
    if (status == SHMTUNE_OK)
        status = check_size(&with, &texture);
    if (status == SHMTUNE_OK)
        *out = texture;
    return status;
}
