/* SPDX-License-Identifier: MIT */
/*
 * packed: arguments that are made of other values: pointers to buffers of other
 * arguments, and structs passed by value, of numbers, such pointers and handles
 * of textures.  Reads
 * them for argument.c; lays them out, and fills them for a configuration, for
 * bench/ and runtime/.
 *
 * A pointer is a struct of one member.  Members lie as in C: each at the next
 * multiple of its alignment, which is the size of its type, and the whole ends
 * at a multiple of the largest.
 */
#include "kernel/read.h"

#include <string.h>

enum { POINTER_BYTES = 8, MEMBERS = 256, MEMBER_VALUES = 4096 };

bool shmt_argument_is_packed(const struct shmt_argument *argument)
{
    return argument->role == SHMT_ROLE_POINTER ||
           argument->role == SHMT_ROLE_STRUCT;
}

/* -- reading -------------------------------------------------------------- */

/* What a mapping with the key "pointer" says. */
static enum shmtune_status read_pointer(struct shmt_kernel_reader *reader,
                                        const struct shmt_yaml *mapping,
                                        struct shmt_argument_member *member)
{
    static const char *const keys[] = {"pointer", "offset", NULL};
    const struct shmt_yaml *to = shmt_yaml_get(mapping, "pointer");
    const struct shmt_yaml *offset = shmt_yaml_get(mapping, "offset");
    enum shmtune_status status =
        shmt_yaml_check_keys(mapping, keys, reader->err);

    if (status == SHMTUNE_OK)
        status = shmt_yaml_word(to, &member->to, reader->err);
    if (status == SHMTUNE_OK && offset != NULL)
        status = shmt_kernel_read_expr(reader, offset, &member->offset);
    member->pointer = true;
    member->place = to->place;
    return status;
}

/* What one with the key "texture" says: a handle is put where an address would
 * be. */
static enum shmtune_status read_handle(struct shmt_kernel_reader *reader,
                                       const struct shmt_yaml *mapping,
                                       struct shmt_argument_member *member)
{
    static const char *const keys[] = {"texture", NULL};
    const struct shmt_yaml *to = shmt_yaml_get(mapping, "texture");
    const enum shmtune_status status =
        shmt_yaml_check_keys(mapping, keys, reader->err);

    member->pointer = member->texture = true;
    member->place = to->place;
    return status == SHMTUNE_OK
               ? shmt_yaml_word(to, &member->to, reader->err) : status;
}

static enum shmtune_status read_value(struct shmt_kernel_reader *reader,
                                      const struct shmt_yaml *key,
                                      const struct shmt_yaml *node, void *item)
{
    (void)key;
    return shmt_kernel_read_expr(reader, node, item);
}

/* {type: f32, value: 1}, or a list of values: an array. */
static enum shmtune_status read_number(struct shmt_kernel_reader *reader,
                                       const struct shmt_yaml *mapping,
                                       struct shmt_argument_member *member)
{
    static const char *const keys[] = {"type", "value", NULL};
    struct shmt_kernel_list list = {
        .mapping = mapping, .key = "value", .kind = SHMT_YAML_SEQUENCE,
        .expected = "value", .items_are = "values", .least = 1,
        .most = MEMBER_VALUES, .size = sizeof member->values[0],
        .read = read_value
    };
    const struct shmt_yaml *value;
    enum shmtune_status status =
        shmt_yaml_check_keys(mapping, keys, reader->err);

    if (status == SHMTUNE_OK)
        status = shmt_kernel_type_read(reader, mapping, &member->element);
    if (status == SHMTUNE_OK)
        status = shmt_yaml_need(mapping, "value", &value, reader->err);
    if (status != SHMTUNE_OK)
        return status;
    if (value->kind != SHMT_YAML_SCALAR) {
        status = shmt_kernel_read_list(reader, &list);
        member->values = list.items;
        member->count = list.count;
        return status;
    }
    member->count = 1;
    member->values =
        shmt_arena_alloc(reader->kernel->arena, 1, sizeof *member->values);
    return member->values == NULL
               ? shmt_error_memory(reader->err)
               : shmt_kernel_read_expr(reader, value, member->values);
}

static enum shmtune_status read_member(struct shmt_kernel_reader *reader,
                                       const struct shmt_yaml *key,
                                       const struct shmt_yaml *node,
                                       void *item)
{
    struct shmt_argument_member member = {
        .name = key->text, .target = SHMT_ARGUMENT_NONE, .place = node->place};
    enum shmtune_status status =
        shmt_kernel_name_check_form(reader, key, "the member");

    if (status == SHMTUNE_OK)
        status = shmt_yaml_expect(node, SHMT_YAML_MAPPING,
                                  "a member, {type: i32, value: n}, "
                                  "{pointer: NAME} or {texture: NAME}",
                                  reader->err);
    if (status == SHMTUNE_OK)
        status = shmt_yaml_get(node, "pointer") != NULL
                     ? read_pointer(reader, node, &member)
                 : shmt_yaml_get(node, "texture") != NULL
                     ? read_handle(reader, node, &member)
                     : read_number(reader, node, &member);
    *(struct shmt_argument_member *)item = member;
    return status;
}

static size_t round_up(size_t bytes, size_t alignment)
{
    return (bytes + alignment - 1) / alignment * alignment;
}

/* Sets where each member lies. */
static void lay_out(struct shmt_argument *argument,
                    struct shmt_argument_member *members)
{
    argument->alignment = 1;
    for (size_t k = 0; k < argument->member_count; k++) {
        struct shmt_argument_member *member = &members[k];
        const size_t unit = member->pointer
                                ? POINTER_BYTES
                                : shmt_element_bytes(member->element);

        member->at = round_up(argument->bytes, unit);
        argument->bytes =
            member->at + unit * (member->pointer ? 1 : member->count);
        if (unit > argument->alignment)
            argument->alignment = unit;
    }
    argument->bytes = round_up(argument->bytes, argument->alignment);
}

enum shmtune_status shmt_kernel_base_read(struct shmt_kernel_reader *reader,
                                          const struct shmt_yaml *to,
                                          struct shmt_argument *argument)
{
    struct shmt_argument_member *base =
        shmt_arena_alloc(reader->kernel->arena, 1, sizeof *base);

    if (base == NULL)
        return shmt_error_memory(reader->err);
    base->name = argument->name;
    base->pointer = true;
    base->target = SHMT_ARGUMENT_NONE;
    base->place = to->place;
    argument->member_count = 1;
    argument->members = base;
    return shmt_yaml_word(to, &base->to, reader->err);
}

enum shmtune_status shmt_kernel_packed_read(struct shmt_kernel_reader *reader,
                                            const struct shmt_yaml *mapping,
                                            struct shmt_argument *argument)
{
    static const char *const keys[] = {"struct", NULL};
    const bool pointer = shmt_yaml_get(mapping, "pointer") != NULL;
    struct shmt_argument_member *members;
    struct shmt_kernel_list list = {
        .mapping = mapping, .key = "struct", .kind = SHMT_YAML_MAPPING,
        .expected = "a struct, {n: {type: i32, value: n}, in: {pointer: x}}",
        .items_are = "members", .least = 1, .most = MEMBERS,
        .size = sizeof *members, .read = read_member
    };
    enum shmtune_status status = SHMTUNE_OK;

    argument->role = pointer ? SHMT_ROLE_POINTER : SHMT_ROLE_STRUCT;
    argument->fill_place = mapping->place;
    if (pointer) {
        members = shmt_arena_alloc(reader->kernel->arena, 1, sizeof *members);
        if (members == NULL)
            return shmt_error_memory(reader->err);
        members->name = argument->name;
        members->target = SHMT_ARGUMENT_NONE;
        argument->member_count = 1;
        status = read_pointer(reader, mapping, members);
    } else {
        status = shmt_yaml_check_keys(mapping, keys, reader->err);
        if (status == SHMTUNE_OK)
            status = shmt_kernel_read_list(reader, &list);
        members = list.items;
        argument->member_count = list.count;
    }
    if (status != SHMTUNE_OK)
        return status;
    lay_out(argument, members);
    argument->members = members;
    return argument->bytes <= SHMT_KERNEL_ARGUMENT_BYTES
               ? SHMTUNE_OK
               : shmt_yaml_refuse(mapping, reader->err,
                                  "a struct of %zu bytes; a launch takes %d "
                                  "at most", argument->bytes,
                                  SHMT_KERNEL_ARGUMENT_BYTES);
}

static enum shmtune_status find_target(struct shmt_kernel_reader *reader,
                                       struct shmt_argument_member *member,
                                       bool needed)
{
    const struct shmt_kernel *kernel = reader->kernel;
    size_t k = 0;

    if (!needed && !member->texture && strcmp(member->to, "null") == 0)
        return member->offset == NULL
                   ? SHMTUNE_OK
                   : shmt_yaml_refuse_at(member->place, reader->err,
                                         "an offset to a null pointer");
    while (k < kernel->argument_count &&
           strcmp(kernel->arguments[k].name, member->to) != 0)
        k++;
    if (k == kernel->argument_count)
        return shmt_yaml_refuse_at(member->place, reader->err,
                                   "\"%.64s\" is not among the arguments of "
                                   "this spec; a %s one of them%s", member->to,
                                   member->texture ? "texture is"
                                                   : "pointer is to",
                                   member->texture ? "" : ", or null");
    if (member->texture && kernel->arguments[k].texture == NULL)
        return shmt_yaml_refuse_at(member->place, reader->err,
                                   "the texture %s has the role %s; name an "
                                   "argument {texture: ..., extents: [...]}",
                                   member->to,
                                   shmt_role_word(kernel->arguments[k].role));
    if (!member->texture && kernel->arguments[k].symbol != NULL &&
        kernel->arguments[k].role != SHMT_ROLE_SYMBOL)
        return shmt_yaml_refuse_at(member->place, reader->err,
                                   "a pointer to %s, which is no buffer but "
                                   "the variable %.64s of the source",
                                   member->to, kernel->arguments[k].symbol);
    if (!member->texture && !shmt_role_is_buffer(kernel->arguments[k].role))
        return shmt_yaml_refuse_at(member->place, reader->err,
                                   "a pointer to %s, which is no buffer but a "
                                   "%s", member->to,
                                   shmt_role_word(kernel->arguments[k].role));
    member->target = k;
    return SHMTUNE_OK;
}

enum shmtune_status
shmt_kernel_packed_resolve(struct shmt_kernel_reader *reader)
{
    struct shmt_kernel *kernel = reader->kernel;
    enum shmtune_status status = SHMTUNE_OK;

    for (size_t k = 0; k < kernel->argument_count; k++) {
        const struct shmt_argument *argument = &kernel->arguments[k];

        for (size_t m = 0; status == SHMTUNE_OK && m < argument->member_count;
             m++)
            if (argument->members[m].pointer)
                status = find_target(reader, &argument->members[m],
                                     !shmt_argument_is_packed(argument));
        if (status == SHMTUNE_OK && argument->texture != NULL)
            status = shmt_kernel_texture_check(reader, argument);
    }
    return status;
}

/* -- expressions ---------------------------------------------------------- */

bool shmt_argument_uses(const struct shmt_argument *argument, size_t symbol)
{
    bool uses =
        (argument->count != NULL && shmt_expr_uses(argument->count, symbol)) ||
        (argument->value != NULL && shmt_expr_uses(argument->value, symbol));

    for (size_t m = 0; m < argument->member_count; m++) {
        const struct shmt_argument_member *member = &argument->members[m];

        uses |= member->offset != NULL &&
                shmt_expr_uses(member->offset, symbol);
        for (size_t v = 0; v < member->count; v++)
            uses |= shmt_expr_uses(member->values[v], symbol);
    }
    for (size_t k = 0; argument->numbers_of_map != NULL &&
                       k < SHMT_ARGUMENT_NUMBERS; k++)
        uses |= argument->numbers_of_map[k] != NULL &&
                shmt_expr_uses(argument->numbers_of_map[k], symbol);
    return uses;
}

bool shmt_kernel_argument_uses_parameters(const struct shmt_kernel *kernel,
                                          const struct shmt_argument *argument)
{
    bool uses = false;

    for (size_t p = 0; p < kernel->parameter_count; p++)
        uses |= shmt_argument_uses(argument, kernel->dimension_count + p);
    return uses;
}

/* -- packing -------------------------------------------------------------- */

static enum shmtune_status
pack_pointer(struct shmt_kernel_evaluated *evaluated,
             const struct shmt_argument_member *member, unsigned char *out,
             struct shmt_error *err)
{
    const struct shmt_argument *target;
    int64_t offset = 0;
    uint64_t count = 0, bytes;
    enum shmtune_status status = SHMTUNE_OK;

    if (member->offset == NULL)
        return SHMTUNE_OK;
    target = &evaluated->kernel->arguments[member->target];
    status = shmt_expr_next_int(member->offset, &evaluated->evaluation,
                                &offset, err);
    if (status == SHMTUNE_OK)
        status = shmt_kernel_argument_count(evaluated, member->target, &count,
                                            err);
    if (status != SHMTUNE_OK)
        return status;
    if (offset < 0 || (uint64_t)offset > count)
        return shmt_yaml_refuse_at(
            shmt_expr_place(member->offset), err,
            "the offset of %s is %lld; 0 to %llu, the elements of %s, is "
            "expected", member->name, (long long)offset,
            (unsigned long long)count, target->name);
    bytes = (uint64_t)offset * shmt_element_bytes(target->element);
    memcpy(out, &bytes, sizeof bytes);
    return SHMTUNE_OK;
}

static enum shmtune_status
pack_numbers(struct shmt_kernel_evaluated *evaluated,
             const struct shmt_argument_member *member, unsigned char *out,
             struct shmt_error *err)
{
    const size_t size = shmt_element_bytes(member->element);
    enum shmtune_status status = SHMTUNE_OK;

    for (size_t v = 0; status == SHMTUNE_OK && v < member->count; v++) {
        union shmt_element_scalar scalar = {0};
        struct shmt_error why = {0};
        struct shmt_value value;

        status = shmt_expr_next(member->values[v], &evaluated->evaluation,
                                &value, err);
        if (status != SHMTUNE_OK)
            return status;
        if (shmt_element_convert(member->element, value, &scalar, &why) !=
            SHMTUNE_OK)
            return shmt_yaml_refuse_at(shmt_expr_place(member->values[v]), err,
                                       "the member %s: %s", member->name,
                                       why.text);
        memcpy(out + v * size, &scalar, size);
    }
    return status;
}

enum shmtune_status
shmt_kernel_argument_pack(struct shmt_kernel_evaluated *evaluated, size_t k,
                          void *out, struct shmt_error *err)
{
    const struct shmt_argument *argument = &evaluated->kernel->arguments[k];
    enum shmtune_status status = SHMTUNE_OK;

    memset(out, 0, argument->bytes);
    for (size_t m = 0; status == SHMTUNE_OK && m < argument->member_count;
         m++) {
        const struct shmt_argument_member *member = &argument->members[m];
        unsigned char *at = (unsigned char *)out + member->at;

        status = member->pointer ? pack_pointer(evaluated, member, at, err)
                                 : pack_numbers(evaluated, member, at, err);
    }
    return status;
}

void shmt_argument_link(const struct shmt_argument *argument,
                        const uint64_t *addresses, void *packed)
{
    for (size_t m = 0; m < argument->member_count; m++) {
        const struct shmt_argument_member *member = &argument->members[m];
        unsigned char *at = (unsigned char *)packed + member->at;
        uint64_t pointer;

        if (member->target == SHMT_ARGUMENT_NONE)
            continue;
        memcpy(&pointer, at, sizeof pointer);
        pointer += addresses[member->target];
        memcpy(at, &pointer, sizeof pointer);
    }
}
