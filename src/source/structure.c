/* SPDX-License-Identifier: MIT */
/*
 * structure: the structures that a text declares, with their members as they
 * lie in memory.  One that has something else than numbers, arrays of them,
 * pointers and such structures is left out, and so are unions and templates.
 */
#include "source/token.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 256, MOST_MEMBERS = 256 };

struct reading {
    const struct shmt_source_tokens *tokens;
    size_t count;
    struct shmt_source_structure *structures;
    struct shmt_source_member members[MOST_MEMBERS];
    size_t member_count;
    size_t bytes, alignment;
};

static const struct shmt_source_token *at(const struct reading *reading,
                                          size_t k)
{
    return shmt_source_at(reading->tokens, k);
}

static bool is(const struct reading *reading, size_t k, const char *text)
{
    return shmt_source_at_is(reading->tokens, k, text);
}

static size_t rounded(size_t bytes, size_t alignment)
{
    return (bytes + alignment - 1) / alignment * alignment;
}

/* -- members --------------------------------------------------------------- */

/* False: it is not said, or there are too many. */
static bool add(struct reading *reading, struct shmt_source_member member,
                size_t alignment)
{
    const size_t bytes = member.pointer
                             ? 8 : shmt_element_bytes(member.element);

    if (reading->member_count == MOST_MEMBERS || bytes == 0 ||
        member.count == 0 || member.count > INT32_MAX / bytes)
        return false;
    member.offset = rounded(reading->bytes, alignment);
    reading->bytes = member.offset + bytes * member.count;
    if (reading->alignment < alignment)
        reading->alignment = alignment;
    reading->members[reading->member_count++] = member;
    return true;
}

static const struct shmt_source_structure *
find(const struct reading *reading, const struct shmt_source_token *name)
{
    for (size_t k = reading->count; k-- > 0;)
        if (shmt_source_is(name, reading->structures[k].name))
            return &reading->structures[k];
    return NULL;
}

/* A member that is a structure: those of it, an array only of one that is of
 * one type. */
static bool add_structure(struct reading *reading,
                          const struct shmt_source_structure *one,
                          const char *name, size_t count)
{
    const size_t from = rounded(reading->bytes, one->alignment);

    if (one->same > 0)
        return add(reading, (struct shmt_source_member){
                                .name = name, .count = count * one->same,
                                .element = one->members[0].element},
                   one->alignment);
    for (size_t k = 0; k < one->member_count; k++) {
        struct shmt_text whole = {0};
        struct shmt_source_member member = one->members[k];

        shmt_text_addf(&whole, "%s_%s", name, member.name);
        member.name = shmt_text_keep(&whole, reading->tokens->arena);
        reading->bytes = from + member.offset;
        if (count != 1 || member.name == NULL || !add(reading, member, 1))
            return false;
    }
    reading->bytes = from + one->bytes;
    if (reading->alignment < one->alignment)
        reading->alignment = one->alignment;
    return true;
}

/* The numbers in brackets from k on; *k is behind them.  0: no numbers. */
static size_t read_extents(const struct reading *reading, size_t *k)
{
    size_t count = 1;

    for (; is(reading, *k, "["); *k += 3) {
        const char *const text = at(reading, *k + 1)->at;
        char *end;
        const unsigned long number = strtoul(text, &end, 0);

        if (at(reading, *k + 1)->word != SHMT_SOURCE_NUMBER ||
            end == text || !is(reading, *k + 2, "]") ||
            number > INT32_MAX / count)
            return 0;
        count *= number;
    }
    return count;
}

/* The declarator at *k of a type; *k is behind it. */
static bool read_declarator(struct reading *reading,
                            const struct shmt_signature_parameter *type,
                            const struct shmt_source_token *word, size_t *k)
{
    struct shmt_source_member member = {.element = type->element};
    const bool vector = type->kind == SHMT_SIGNATURE_VECTOR;
    const struct shmt_source_structure *other;
    size_t alignment, count;

    for (; is(reading, *k, "*") || is(reading, *k, "const") ||
           is(reading, *k, "__restrict__"); ++*k)
        member.pointer |= is(reading, *k, "*");
    if (at(reading, *k)->word != SHMT_SOURCE_NAME)
        return false;
    member.name = shmt_source_copy(reading->tokens, *k);
    ++*k;
    count = read_extents(reading, k);
    if (member.name == NULL || count == 0)
        return false;
    other = type->kind == SHMT_SIGNATURE_OTHER ? find(reading, word) : NULL;
    if (other != NULL && !member.pointer)
        return add_structure(reading, other, member.name, count);
    if (type->kind == SHMT_SIGNATURE_OTHER && !member.pointer)
        return false;
    member.count = count * (vector && !member.pointer ? (size_t)type->lanes
                                                      : 1);
    alignment = member.pointer ? 8 : shmt_element_bytes(type->element);
    if (vector && !member.pointer && type->lanes != 3)
        alignment *= (size_t)type->lanes;
    /* double4 and the like are aligned to 16. */
    return add(reading, member, alignment > 16 ? 16 : alignment);
}

/* `= 1`, `= {1, 2}` or `{1}` at k, which may not be there. */
static size_t behind_value(const struct reading *reading, size_t k)
{
    while (k < reading->tokens->count && !is(reading, k, ",") &&
           !is(reading, k, ";"))
        k = is(reading, k, "{") || is(reading, k, "(")
                ? shmt_source_behind(reading->tokens, k,
                                     reading->tokens->count)
                : is(reading, k, ":") ? reading->tokens->count
                                      : k + 1;
    return k;
}

/* `float x, *y, z[3];` at k; the token behind it, 0: something else. */
static size_t read_members(struct reading *reading, size_t k)
{
    struct shmt_signature_parameter type;
    size_t from = k, word = k;

    /* The words of the type: all but the first declarator's name. */
    while (at(reading, k)->word == SHMT_SOURCE_NAME &&
           (at(reading, k + 1)->word == SHMT_SOURCE_NAME ||
            is(reading, k + 1, "*")))
        word = k++;
    if (k == from ||
        !shmt_source_parameter(reading->tokens, from, k, &type))
        return 0;
    do {
        if (!read_declarator(reading, &type, at(reading, word), &k))
            return 0;
        k = behind_value(reading, k);
    } while (is(reading, k, ",") && ++k > 0);
    return is(reading, k, ";") ? k + 1 : 0;
}

/* Whether a function is declared at k, and the token behind it. */
static bool behind_function(const struct reading *reading, size_t k,
                            size_t *behind)
{
    bool found = false;

    for (; k < reading->tokens->count && !is(reading, k, ";"); k++) {
        if (is(reading, k, "{")) {
            *behind = shmt_source_behind(reading->tokens, k,
                                         reading->tokens->count);
            *behind += is(reading, *behind, ";");
            return found;
        }
        if (is(reading, k, "(")) {
            found |= !is(reading, k - 1, "alignas") &&
                     !is(reading, k - 1, "__align__");
            k = shmt_source_behind(reading->tokens, k,
                                   reading->tokens->count) - 1;
        } else if (is(reading, k, "=") && !found) {
            return false;
        }
    }
    *behind = k + 1;
    return found;
}

/* -- structures ------------------------------------------------------------ */

/* `__align__(16)` at *k and the like. */
static void read_alignment(struct reading *reading, size_t *k)
{
    while ((is(reading, *k, "__align__") || is(reading, *k, "alignas") ||
            is(reading, *k, "__builtin_align__") ||
            is(reading, *k, "__attribute__")) &&
           is(reading, *k + 1, "(")) {
        const unsigned long number = strtoul(at(reading, *k + 2)->at, NULL, 0);

        if (number > reading->alignment && number <= 128)
            reading->alignment = number;
        *k = shmt_source_behind(reading->tokens, *k + 1,
                                reading->tokens->count);
    }
}

/* Its members from k on, up to `to`. */
static bool read_body(struct reading *reading, size_t k, size_t to)
{
    while (k > 0 && k < to) {
        size_t behind;

        if (is(reading, k, ";"))
            k++;
        else if ((is(reading, k, "public") || is(reading, k, "private")) &&
                 is(reading, k + 1, ":"))
            k += 2;
        else if (is(reading, k, "static") || is(reading, k, "virtual") ||
                 is(reading, k, "template"))
            return false;
        else if (behind_function(reading, k, &behind))
            k = behind;
        else
            k = read_members(reading, k);
    }
    return k == to && reading->member_count > 0;
}

/* How many of one type it is, without a gap; 0: it is something else. */
static size_t same_of(const struct reading *reading)
{
    size_t count = 0;

    for (size_t k = 0; k < reading->member_count; k++) {
        const struct shmt_source_member *const one = &reading->members[k];

        if (one->pointer || one->element != reading->members[0].element)
            return 0;
        count += one->count;
    }
    return count * shmt_element_bytes(reading->members[0].element) ==
                   reading->bytes
               ? count : 0;
}

static bool keep(struct reading *reading, size_t name)
{
    struct shmt_source_structure *const out =
        &reading->structures[reading->count];
    struct shmt_arena *const arena = reading->tokens->arena;

    reading->bytes = rounded(reading->bytes, reading->alignment);
    *out = (struct shmt_source_structure){
        .name = shmt_source_copy(reading->tokens, name),
        .bytes = reading->bytes, .alignment = reading->alignment,
        .same = same_of(reading), .member_count = reading->member_count,
        .members = shmt_arena_copy(arena, reading->members,
                                   reading->member_count *
                                       sizeof *reading->members)};
    reading->count++;
    return out->name != NULL && out->members != NULL;
}

/* The one whose `struct` is at k.  False: there is no memory. */
static bool read_structure(struct reading *reading, size_t k)
{
    const bool defines = k > 0 && is(reading, k - 1, "typedef");
    size_t tag = 0, open, close;

    reading->member_count = reading->bytes = 0;
    reading->alignment = 1;
    while (is(reading, k, "struct") || is(reading, k, "class"))
        k++;
    read_alignment(reading, &k);
    if (at(reading, k)->word == SHMT_SOURCE_NAME)
        tag = k++;
    read_alignment(reading, &k);
    open = k;
    if (!is(reading, open, "{"))
        return true;
    close = shmt_source_behind(reading->tokens, open,
                               reading->tokens->count);
    if (!read_body(reading, open + 1, close - 1))
        return true;
    k = close;
    read_alignment(reading, &k);
    if (tag > 0 && reading->count < MOST && !keep(reading, tag))
        return false;
    return !defines || at(reading, k)->word != SHMT_SOURCE_NAME ||
           reading->count == MOST || keep(reading, k);
}

static bool read_all(struct reading *reading)
{
    const size_t count = reading->tokens->count;

    for (size_t k = 0; k < count; k++)
        if ((is(reading, k, "struct") || is(reading, k, "class")) &&
            (k == 0 || (!is(reading, k - 1, "struct") &&
                        !is(reading, k - 1, ">"))) &&
            !read_structure(reading, k))
            return false;
    return true;
}

enum shmtune_status
shmt_source_structures(struct shmt_arena *arena, const char *text,
                       const struct shmt_source_structure **out, size_t *count,
                       struct shmt_error *err)
{
    struct shmt_source_tokens tokens = {.arena = arena};
    struct reading *const reading = calloc(1, sizeof *reading);
    bool done = reading != NULL && shmt_source_split(&tokens, text);

    if (done) {
        reading->tokens = &tokens;
        reading->structures = shmt_arena_alloc(arena, MOST,
                                               sizeof *reading->structures);
        done = reading->structures != NULL && read_all(reading);
        *out = reading->structures;
        *count = reading->count;
    }
    free(tokens.items);
    free(reading);
    return done ? SHMTUNE_OK : shmt_error_memory(err);
}
