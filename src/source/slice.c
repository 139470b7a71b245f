/* SPDX-License-Identifier: MIT */
/*
 * slice: what of a source a kernel is made of: itself, and the functions,
 * macros, types and variables that it names, and those that they name.
 */
#include "source/token.h"

#include <stdlib.h>
#include <string.h>

/* A declaration at the level of the file: tokens [from, to). */
struct part {
    size_t from, to;
    bool taken;
};

/* A name that a part declares. */
struct entry {
    const char *at;
    size_t length, part;
};

struct slice {
    const struct shmt_source_tokens *tokens;
    size_t part_count, part_room, entry_count, entry_room, wait_count;
    struct part *parts;
    struct entry *entries;
    size_t *waiting;           /* parts that were taken and are to be read */
    bool failed;
};

static const struct shmt_source_token *at(const struct slice *slice, size_t k)
{
    return shmt_source_at(slice->tokens, k);
}

static bool is(const struct slice *slice, size_t k, const char *text)
{
    return shmt_source_at_is(slice->tokens, k, text);
}

static bool is_one_of(const struct slice *slice, size_t k,
                      const char *const *words)
{
    return shmt_source_is_any(at(slice, k), words);
}

/* -- what is declared ----------------------------------------------------- */

static const char *const keys[] = {"struct", "class", "union", "enum", NULL};

static void declare(struct slice *slice, const char *name, size_t length,
                    size_t part)
{
    if (slice->failed ||
        !shmt_array_reserve(&slice->entries, &slice->entry_room,
                            slice->entry_count + 1, sizeof *slice->entries))
        slice->failed = true;
    else
        slice->entries[slice->entry_count++] =
            (struct entry){name, length, part};
}

/* Whether a name may be one that a source declares: words of the language
 * before a parenthesis are not. */
static bool is_declared(const struct slice *slice, size_t k)
{
    static const char *const words[] = {
        "alignas", "auto", "bool", "char", "class", "const", "decltype",
        "double", "enum", "float", "int", "long", "noexcept", "operator",
        "short", "static_assert", "struct", "union", "unsigned", "void", NULL};
    static const char *const signs[] = {"=", "[", ";", ",", "{", "(", NULL};

    return at(slice, k)->word == SHMT_SOURCE_NAME &&
           (at(slice, k)->length < 2 ||
            memcmp(at(slice, k)->at, "__", 2) != 0) &&
           !is_one_of(slice, k, words) &&
           (is_one_of(slice, k + 1, signs) ||
            (is(slice, k + 1, ":") && k > 0 && is_one_of(slice, k - 1, keys)));
}

/* A, B of `enum {A, B = 2}`, whose `{` is at k. */
static void declare_constants(struct slice *slice, size_t k, size_t part)
{
    const size_t end = shmt_source_behind(slice->tokens, k,
                                          slice->tokens->count);

    for (k++; k < end; k++)
        if (at(slice, k)->word == SHMT_SOURCE_NAME &&
            (is(slice, k - 1, "{") || is(slice, k - 1, ",")))
            declare(slice, at(slice, k)->at, at(slice, k)->length, part);
}

/* Behind what is in brackets at k, a list of a template's too. */
static size_t behind(const struct slice *slice, size_t k)
{
    const char sign = *at(slice, k)->at;

    return at(slice, k)->word == SHMT_SOURCE_SIGN &&
                   at(slice, k)->length == 1 && strchr("([{<", sign) != NULL
               ? shmt_source_behind(slice->tokens, k, slice->tokens->count)
               : k + 1;
}

/* A sign of the name `operator+=`, `operator<`. */
static bool is_operator(const struct slice *slice, size_t k)
{
    return k > 2 && !is(slice, k, "(") &&
           (is(slice, k - 1, "operator") ||
            (is(slice, k - 2, "operator") && !is(slice, k - 1, "(")) ||
            (is(slice, k - 3, "operator") && !is(slice, k - 1, "(") &&
             !is(slice, k - 2, "(")));
}

/* The part that begins at k, and what it declares; where it ends.  A function
 * ends with its body, all else with a `;`. */
static size_t read_part(struct slice *slice, size_t k)
{
    const size_t part = slice->part_count;
    bool given = false, is_enum = false, has_key = false, takes = false;

    for (;;) {
        const bool opens = is(slice, k, "{");

        if (k >= slice->tokens->count || is(slice, k, ";"))
            return k < slice->tokens->count ? k + 1 : k;
        if (opens && is_enum)
            declare_constants(slice, k, part);
        if (!given && is_declared(slice, k))
            declare(slice, at(slice, k)->at, at(slice, k)->length, part);
        if (is_operator(slice, k)) {
            k++;
            continue;
        }
        given = is(slice, k, ",") ? false : given || is(slice, k, "=");
        is_enum |= is(slice, k, "enum");
        has_key |= is_one_of(slice, k, keys);
        takes |= is(slice, k, "(");
        /* `a < b` stands behind a `=`. */
        k = given && is(slice, k, "<") ? k + 1 : behind(slice, k);
        if (opens && !given && (takes || !has_key))
            return k;
    }
}

/* A function of the host that launches something is no part of a kernel. */
static bool launches(const struct slice *slice, size_t from, size_t to)
{
    bool found = false;

    for (size_t k = from; k < to; k++) {
        if (is(slice, k, "__global__") || is(slice, k, "__device__"))
            return false;
        found |= is(slice, k, "<<<");
    }
    return found;
}

static void add_part(struct slice *slice, size_t from, size_t to)
{
    if (slice->failed ||
        !shmt_array_reserve(&slice->parts, &slice->part_room,
                            slice->part_count + 1, sizeof *slice->parts))
        slice->failed = true;
    else
        slice->parts[slice->part_count++] = (struct part){from, to, false};
}

/* Behind the `{` of `namespace a {` or `extern "C" {` at k; k: it is none. */
static size_t behind_opening(const struct slice *slice, size_t k)
{
    if (is(slice, k, "extern") &&
        at(slice, k + 1)->word == SHMT_SOURCE_STRING && is(slice, k + 2, "{"))
        return k + 3;
    if (!is(slice, k, "namespace"))
        return k;
    while (k < slice->tokens->count && !is(slice, k, "{") &&
           !is(slice, k, ";"))
        k++;
    return k + 1;
}

/* Macros may be defined anywhere. */
static void find_macros(struct slice *slice)
{
    for (size_t k = 0; k < slice->tokens->count; k++) {
        const char *name;

        if (!shmt_source_directs(at(slice, k), "define", &name))
            continue;
        declare(slice, name, shmt_text_name_length(name), slice->part_count);
        add_part(slice, k, k + 1);
    }
}

static void find_parts(struct slice *slice)
{
    size_t k = 0;

    while (k < slice->tokens->count && !slice->failed) {
        const size_t inner = behind_opening(slice, k), first = k;
        const size_t before = slice->entry_count;

        if (inner > k || is(slice, k, "}") || is(slice, k, ";") ||
            at(slice, k)->word == SHMT_SOURCE_DIRECTIVE) {
            k = inner > k ? inner : k + 1;
            continue;
        }
        k = read_part(slice, k);
        if (launches(slice, first, k))
            slice->entry_count = before;
        add_part(slice, first, k);
    }
}

/* -- what is used --------------------------------------------------------- */

static int compare(const void *one, const void *other)
{
    const struct entry *const a = one, *const b = other;

    return shmt_source_order(a->at, a->length, b->at, b->length);
}

static void take(struct slice *slice, size_t part)
{
    if (!slice->parts[part].taken)
        slice->waiting[slice->wait_count++] = part;
    slice->parts[part].taken = true;
}

static void take_name(struct slice *slice, const char *name, size_t length)
{
    const struct entry wanted = {name, length, 0};
    size_t from = 0, to = slice->entry_count;

    while (from < to) {
        const size_t middle = from + (to - from) / 2;

        if (compare(&slice->entries[middle], &wanted) < 0)
            from = middle + 1;
        else
            to = middle;
    }
    for (; from < slice->entry_count &&
           compare(&slice->entries[from], &wanted) == 0; from++)
        take(slice, slice->entries[from].part);
}

/* What a directive names: the value of a macro, a condition, a pragma. */
static void take_directive(struct slice *slice,
                           const struct shmt_source_token *token)
{
    const char *const end = token->at + token->length;
    const char *from = token->at;
    const char *name;

    if (shmt_source_directs(token, "define", &name))
        from = name + shmt_text_name_length(name);
    while (from < end) {
        const size_t length = shmt_text_name_length(from);

        if (length > 0)
            take_name(slice, from, length);
        from += length > 0 ? length : 1;
    }
}

static bool is_member(const struct slice *slice, size_t k)
{
    return k > 1 && (is(slice, k - 1, ".") ||
                     (is(slice, k - 1, ">") && is(slice, k - 2, "-")));
}

/* The parameters of a function: tokens from its `(` to its `{`; the same twice:
 * the part is none. */
static void find_parameters(const struct slice *slice, const struct part *part,
                            size_t *from, size_t *to)
{
    size_t k = part->from;

    while (k < part->to && !is(slice, k, "{") && !is(slice, k, "="))
        k++;
    *from = *to = k;
    if (k == part->from || k == part->to || !is(slice, k - 1, ")"))
        return;
    for (size_t n = part->from; n < k; n++)
        if (is(slice, n, "(") &&
            shmt_source_behind(slice->tokens, n, part->to) == k)
            *from = n;
}

/* Whether the name at k is that of one of them: what has the name elsewhere is
 * not meant. */
static bool is_parameter(const struct slice *slice, size_t k, size_t from,
                         size_t to)
{
    static const char *const ends[] = {",", ")", "[", NULL};

    for (size_t n = from + 2; n < to; n++)
        if (shmt_source_same(at(slice, n), at(slice, k)) &&
            is_one_of(slice, n + 1, ends) && !is(slice, n - 1, ",") &&
            !is(slice, n - 1, "<") && !is(slice, n - 1, "[") &&
            !is(slice, n - 1, "(") && !is(slice, n - 1, "const"))
            return true;
    return false;
}

static void take_part(struct slice *slice, const struct part *part)
{
    size_t from, to;

    find_parameters(slice, part, &from, &to);
    for (size_t k = part->from; k < part->to; k++) {
        const struct shmt_source_token *const token = at(slice, k);

        if (token->word == SHMT_SOURCE_DIRECTIVE)
            take_directive(slice, token);
        else if (token->word == SHMT_SOURCE_NAME && !is_member(slice, k) &&
                 !is_parameter(slice, k, from, to))
            take_name(slice, token->at, token->length);
    }
}

/* Whether the directive at k asks for a value, and is not that before the
 * default of a macro. */
static bool is_condition(const struct slice *slice, size_t k)
{
    const struct shmt_source_token *const token = at(slice, k);
    const char *behind_word;

    return shmt_source_directs(token, "elif", &behind_word) ||
           (shmt_source_directs(token, "if", &behind_word) &&
            !(*behind_word == '!' &&
              shmt_source_directs(at(slice, k + 1), "define", &behind_word)));
}

/* -- the text ------------------------------------------------------------- */

static void add_text(const struct slice *slice, size_t from, size_t to,
                     struct shmt_text *text)
{
    for (size_t k = from; k < to; k++) {
        const struct shmt_source_token *const token = at(slice, k);
        const bool directs = token->word == SHMT_SOURCE_DIRECTIVE;

        if (k > from && token->at > token[-1].at + token[-1].length)
            shmt_text_add(text, directs ? "\n" : " ");
        shmt_text_add_bytes(text, token->at, token->length);
        shmt_text_add(text, directs ? "\n" : "");
    }
    shmt_text_add(text, "\n");
}

/* Of a macro its name and its value, as code: "N = 4 ;". */
static void add_macro(const struct slice *slice, size_t k,
                      struct shmt_text *text)
{
    const struct shmt_source_token *const token = at(slice, k);
    const char *name, *value;
    size_t length;

    if (!shmt_source_directs(token, "define", &name))
        return;
    length = shmt_text_name_length(name);
    value = shmt_source_value(slice->tokens->arena, name + length,
                              token->at + token->length);
    shmt_text_add_bytes(text, name, length);
    shmt_text_addf(text, "%s%s ;\n", name[length] == '(' ? "" : " = ",
                   value == NULL ? "" : value);
}

static const char *write_text(const struct slice *slice)
{
    struct shmt_text text = {0};

    for (size_t p = 0; p < slice->part_count; p++) {
        const struct part *const part = &slice->parts[p];

        if (!part->taken)
            continue;
        if (at(slice, part->from)->word == SHMT_SOURCE_DIRECTIVE)
            add_macro(slice, part->from, &text);
        else
            add_text(slice, part->from, part->to, &text);
    }
    for (size_t k = 0; k < slice->tokens->count; k++)
        if (is_condition(slice, k))
            add_text(slice, k, k + 1, &text);
    return shmt_text_keep(&text, slice->tokens->arena);
}

/* The part that the kernel's name stands in, and all that follows of it. */
static bool follow(struct slice *slice,
                   const struct shmt_source_kernel *kernel)
{
    slice->waiting = calloc(slice->part_count + 1, sizeof *slice->waiting);
    if (slice->waiting == NULL || slice->failed)
        return false;
    if (slice->entry_count > 0)
        qsort(slice->entries, slice->entry_count, sizeof *slice->entries,
              compare);
    for (size_t p = 0; p < slice->part_count; p++)
        for (size_t k = slice->parts[p].from; k < slice->parts[p].to; k++)
            if (at(slice, k)->line == kernel->line &&
                at(slice, k)->column == kernel->column)
                take(slice, p);
    for (size_t k = 0; k < slice->tokens->count; k++)
        if (is_condition(slice, k))
            take_directive(slice, at(slice, k));
    while (slice->wait_count > 0)
        take_part(slice, &slice->parts[slice->waiting[--slice->wait_count]]);
    return true;
}

const char *shmt_source_slice(struct shmt_arena *arena, const char *text,
                              const struct shmt_source_kernel *kernel)
{
    struct shmt_source_tokens tokens = {.arena = arena};
    struct slice slice = {.tokens = &tokens};
    const char *out = NULL;

    if (!shmt_source_split(&tokens, text))
        slice.failed = true;
    if (!slice.failed) {
        find_macros(&slice);
        find_parts(&slice);
    }
    if (!slice.failed && follow(&slice, kernel))
        out = write_text(&slice);
    free(slice.parts);
    free(slice.entries);
    free(slice.waiting);
    free(tokens.items);
    if (out == NULL)
        shmt_arena_fail(arena);
    return out;
}
