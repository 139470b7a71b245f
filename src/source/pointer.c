/* SPDX-License-Identifier: MIT */
/*
 * pointer: what the body of a function does with what its parameter points to:
 * by index, through `*`, a cast, or another pointer that is made of it, and in
 * functions of the source that it is passed to.  What is left is not known.
 */
#include "source/token.h"

#include <string.h>

/* Functions in functions, and places that are looked at, at most. */
enum { DEEPEST = 4, MOST_PLACES = 20000, BOTH = SHMT_SOURCE_READ |
                                                SHMT_SOURCE_WRITTEN };

struct search {
    const struct shmt_source_tokens *tokens;
    size_t depth, places;
};

static unsigned use_of(struct search *search, size_t from, size_t to,
                       const char *name, bool *known);

static const struct shmt_source_token *at(const struct search *search,
                                          size_t k)
{
    return shmt_source_at(search->tokens, k);
}

static bool is(const struct search *search, size_t k, const char *text)
{
    return shmt_source_at_is(search->tokens, k, text);
}

/* Whether the token at k ends a value, so that a sign behind it takes two. */
static bool ends_value(const struct search *search, size_t k)
{
    const struct shmt_source_token *token = at(search, k);

    return (token->word == SHMT_SOURCE_NAME && !is(search, k, "return")) ||
           token->word == SHMT_SOURCE_NUMBER || is(search, k, ")") ||
           is(search, k, "]");
}

/* The token that opens what is closed at `close`; 0: none does. */
static size_t opening(const struct search *search, size_t close, size_t from,
                      const char *open)
{
    const char closing = at(search, close)->at[0];
    size_t depth = 0;

    for (size_t k = close; k > from; k--) {
        if (at(search, k)->word != SHMT_SOURCE_SIGN ||
            at(search, k)->length != 1)
            continue;
        depth += at(search, k)->at[0] == closing;
        if (is(search, k, open) && --depth == 0)
            return k;
    }
    return 0;
}

/* -- a value of the pointer's ---------------------------------------------- */

/* Tokens [from, to) of an expression that points where the name does. */
struct value {
    size_t from, to;
};

/* Takes casts and parentheses that are around it; true: something was. */
static bool widen(const struct search *search, size_t from, size_t to,
                  struct value *value)
{
    size_t open;

    /* (T *)value */
    if (value->from > from + 2 && is(search, value->from - 1, ")") &&
        (is(search, value->from - 2, "*") ||
         is(search, value->from - 2, "__restrict__"))) {
        open = opening(search, value->from - 1, from, "(");
        value->from = open > 0 ? open : value->from;
        return open > 0;
    }
    if (value->to >= to || !is(search, value->to, ")") ||
        value->from <= from + 1 || !is(search, value->from - 1, "("))
        return false;
    /* reinterpret_cast<T *>(value) */
    if (is(search, value->from - 2, ">")) {
        open = opening(search, value->from - 2, from, "<");
        if (open <= from + 1 ||
            (!is(search, open - 1, "reinterpret_cast") &&
             !is(search, open - 1, "static_cast") &&
             !is(search, open - 1, "const_cast")))
            return false;
        *value = (struct value){open - 1, value->to + 1};
        return true;
    }
    if (at(search, value->from - 2)->word == SHMT_SOURCE_NAME &&
        !is(search, value->from - 2, "return"))
        return false;                         /* the argument of a call */
    *value = (struct value){value->from - 1, value->to + 1};
    return true;
}

/* `value + n`, up to what ends a sum or an argument. */
static void add_offset(const struct search *search, size_t to,
                       struct value *value)
{
    if (value->to >= to ||
        (!is(search, value->to, "+") && !is(search, value->to, "-")) ||
        is(search, value->to + 1, "=") || is(search, value->to + 1, "+"))
        return;
    while (value->to < to && !is(search, value->to, ",") &&
           !is(search, value->to, ";") && !is(search, value->to, ")") &&
           !is(search, value->to, "]") && !is(search, value->to, "?") &&
           !is(search, value->to, ":"))
        value->to = is(search, value->to, "(") || is(search, value->to, "[")
                        ? shmt_source_behind(search->tokens, value->to, to)
                        : value->to + 1;
}

/* -- where it goes --------------------------------------------------------- */

/* What known functions do with the argument; false: it is none of theirs. */
static bool is_known_call(const struct search *search, size_t name,
                          size_t place, unsigned *use)
{
    static const struct {
        const char *name;
        size_t place;
        unsigned use;
    } calls[] = {
        {"__ldg", 0, SHMT_SOURCE_READ}, {"__ldcs", 0, SHMT_SOURCE_READ},
        {"__ldca", 0, SHMT_SOURCE_READ}, {"__ldcg", 0, SHMT_SOURCE_READ},
        {"load_matrix_sync", 1, SHMT_SOURCE_READ},
        {"__stcs", 0, SHMT_SOURCE_WRITTEN}, {"__stcg", 0, SHMT_SOURCE_WRITTEN},
        {"__stwt", 0, SHMT_SOURCE_WRITTEN}, {"__stwb", 0, SHMT_SOURCE_WRITTEN},
        {"store_matrix_sync", 0, SHMT_SOURCE_WRITTEN}};

    if (place == 0 &&
        strncmp(at(search, name)->at, "atomic", strlen("atomic")) == 0) {
        *use = BOTH;
        return true;
    }
    for (size_t k = 0; k < sizeof calls / sizeof calls[0]; k++)
        if (place == calls[k].place && is(search, name, calls[k].name)) {
            *use = calls[k].use;
            return true;
        }
    return false;
}

/* In the function that the source defines, as argument `place`. */
static unsigned use_in_call(struct search *search, size_t name, size_t place,
                            bool *known)
{
    const struct shmt_source_tokens *tokens = search->tokens;

    *known = false;
    for (size_t k = 0; search->depth < DEEPEST && k < tokens->count; k++) {
        struct shmt_source_function function;
        const char *const *names;
        size_t count;
        unsigned use;

        if (!shmt_source_same(at(search, k), at(search, name)) ||
            !shmt_source_function(tokens, k, &function))
            continue;
        names = shmt_source_names_in(tokens, function.from, function.to,
                                     &count);
        if (names == NULL || place >= count)
            return SHMT_SOURCE_UNKNOWN;
        search->depth++;
        use = use_of(search, function.body, function.end, names[place], known);
        search->depth--;
        return use;
    }
    return SHMT_SOURCE_UNKNOWN;
}

/* An argument of a call: which function's, and the how manieth; false: it is
 * none. */
static bool find_call(const struct search *search, const struct value *value,
                      size_t from, size_t *name, size_t *place)
{
    size_t depth = 0, before;

    *place = 0;
    for (size_t k = value->from; k-- > from + 1;) {
        depth += is(search, k, ")") || is(search, k, "]");
        if (is(search, k, ";") || is(search, k, "{") || is(search, k, "}"))
            return false;
        if (depth == 0 && is(search, k, ","))
            ++*place;
        if (!is(search, k, "(") && !is(search, k, "["))
            continue;
        if (depth > 0) {
            depth--;
            continue;
        }
        before = k - 1;
        if (is(search, before, ">"))
            before = opening(search, before, from, "<");
        else
            before++;
        *name = before > 0 ? before - 1 : 0;
        return is(search, k, "(") && *name > from &&
               at(search, *name)->word == SHMT_SOURCE_NAME;
    }
    return false;
}

/* `TYPE *NAME = value;`, or `NAME = value;`: the NAME; 0: it is neither. */
static size_t find_other(const struct search *search,
                         const struct value *value, size_t from, size_t to)
{
    const size_t equals = value->from - 1;

    if (equals <= from + 1 || !is(search, equals, "=") || value->to >= to ||
        (!is(search, value->to, ";") && !is(search, value->to, ",")) ||
        at(search, equals - 1)->word != SHMT_SOURCE_NAME ||
        (!is(search, equals - 2, "*") &&
         !is(search, equals - 2, "__restrict__") &&
         !is(search, equals - 2, "auto") && !is(search, equals - 2, "const")))
        return 0;
    return equals - 1;
}

/* `value == nullptr`, `if (value)`, `!value`. */
static bool is_asked(const struct search *search, const struct value *value)
{
    return is(search, value->from - 1, "!") ||
           (is(search, value->to, "=") && is(search, value->to + 1, "=")) ||
           (is(search, value->to, "!") && is(search, value->to + 1, "=")) ||
           is(search, value->to, "?") ||
           (is(search, value->to, "&") && is(search, value->to + 1, "&")) ||
           (is(search, value->from - 1, "(") && is(search, value->to, ")") &&
            is(search, value->from - 2, "if"));
}

/* `#define NAME(...)`, whose call may do anything. */
static bool is_macro(const struct search *search, size_t k, size_t name)
{
    const size_t length = at(search, name)->length;
    const char *behind;

    return shmt_source_directs(at(search, k), "define", &behind) &&
           strncmp(behind, at(search, name)->at, length) == 0 &&
           behind[length] == '(';
}

/* Words in front of a parenthesis, functions of numbers, and types. */
static bool is_of_values(const struct search *search, size_t name)
{
    static const char *const names[] = {
        "if", "while", "for", "switch", "return", "sizeof", "static_cast",
        "min", "max", "abs", "fabs", "sqrt", "rsqrt", "cbrt", "exp", "exp2",
        "exp10", "expm1", "log", "log2", "log10", "log1p", "pow", "powi",
        "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh",
        "tanh", "sinpi", "cospi", "erf", "erfc", "hypot", "floor", "ceil",
        "round", "rint", "trunc", "fmod", "remainder", "fma", "fmin", "fmax",
        "fdim", "copysign", "isnan", "isinf", "isfinite", "signbit", "ldexp",
        "lgamma", "tgamma", "norm3d", "printf", "assert", "dim3"};
    const struct shmt_source_token *const token = at(search, name);
    const bool with_f = token->at[token->length - 1] == 'f';
    struct shmt_signature_parameter type;

    if (shmt_source_type(token->at, token->length, &type) ||
        (token->length > 2 && strncmp(token->at, "__", 2) == 0) ||
        (token->length > 5 && strncmp(token->at, "make_", 5) == 0) ||
        is(search, name, "int") || is(search, name, "unsigned"))
        return true;
    for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
        const size_t length = strlen(names[k]);

        if (strncmp(token->at, names[k], length) == 0 &&
            (token->length == length ||
             (with_f && token->length == length + 1)))
            return true;
    }
    return false;
}

/* Whether a reference may be made to the element, tokens [from, to) with its
 * indices: `T &r = x[i]`, `swap(x[i], x[j])`, `AS_FLOAT4(x[i]) = y`. */
static bool is_referred(const struct search *search,
                        const struct value *element, size_t from, size_t to)
{
    const struct shmt_source_tokens *tokens = search->tokens;
    size_t name, place;

    if (is(search, element->to, "(") ||             /* x[i].set(1) */
        (element->from > from + 3 && is(search, element->from - 1, "=") &&
         is(search, element->from - 3, "&")) ||
        (element->from > from + 2 && is(search, element->from - 1, ")") &&
         is(search, element->from - 2, "&")))       /* (float4 &)x[i] */
        return true;
    if (!find_call(search, element, from, &name, &place))
        return false;
    if (is(search, name, "swap") ||
        (element->to + 2 < to && is(search, element->to, ")") &&
         is(search, element->to + 1, "=") &&
         !is(search, element->to + 2, "=")))
        return true;
    for (size_t k = 0; k < tokens->count; k++) {
        struct shmt_source_function function;

        if (is_macro(search, k, name))
            return true;
        if (!shmt_source_same(at(search, k), at(search, name)) ||
            !shmt_source_head(tokens, k, &function))
            continue;
        for (size_t n = function.from; n < function.to; n++)
            if (is(search, n, "&"))
                return true;
        return false;
    }
    return !is_of_values(search, name);
}

/* `name += n;` */
static bool is_moved(const struct search *search, const struct value *value)
{
    return (is(search, value->to, "+") || is(search, value->to, "-")) &&
           is(search, value->to + 1, "=") &&
           (is(search, value->from - 1, ";") ||
            is(search, value->from - 1, "{") ||
            is(search, value->from - 1, "}"));
}

/* `&(x[i])` */
static bool has_address(const struct search *search,
                        const struct value *element, size_t from, size_t to)
{
    return element->from > from + 3 && element->to < to &&
           is(search, element->to, ")") &&
           is(search, element->from - 1, "(") &&
           is(search, element->from - 2, "&") &&
           !ends_value(search, element->from - 3);
}

static unsigned use_of_value(struct search *search, struct value value,
                             size_t from, size_t to, bool *known)
{
    const struct shmt_source_tokens *tokens = search->tokens;
    size_t name, place;
    unsigned use = 0;

    *known = true;
    do
        add_offset(search, to, &value);
    while (widen(search, from, to, &value));
    if (value.to >= to)
        return SHMT_SOURCE_UNKNOWN;
    if (is(search, value.to, "[")) {
        value.to = shmt_source_behind_element(tokens, value.to, to);
        if (has_address(search, &value, from, to))
            return use_of_value(search,
                                (struct value){value.from - 2, value.to + 1},
                                from, to, known);
        *known = !is_referred(search, &value, from, to);
        return shmt_source_use_behind(tokens, value.to, to);
    }
    if (is(search, value.to, "-") && is(search, value.to + 1, ">"))
        return shmt_source_use_behind(
            tokens, shmt_source_behind_element(tokens, value.to + 3, to), to);
    if (is(search, value.from - 1, "*") &&
        !ends_value(search, value.from - 2)) {
        *known = !is(search, value.from - 2, "&");
        return shmt_source_use_behind(tokens, value.to, to);
    }
    if (is_asked(search, &value) || is_moved(search, &value))
        return use;
    name = find_other(search, &value, from, to);
    if (name > 0) {
        const char *const other = shmt_source_copy(tokens, name);

        *known = other != NULL && search->depth < DEEPEST;
        search->depth++;
        use = *known ? use_of(search, value.to, to, other, known) : use;
        search->depth--;
        return use;
    }
    *known = find_call(search, &value, from, &name, &place);
    if (!*known || is_known_call(search, name, place, &use))
        return use;
    return use_in_call(search, name, place, known);
}

/* The value at the name at k: itself, or `&name[...]`. */
static struct value value_at(const struct search *search, size_t k, size_t to)
{
    const size_t behind =
        shmt_source_behind_element(search->tokens, k + 1, to);

    return is(search, k - 1, "&") && !is(search, k - 2, "&") &&
                   !ends_value(search, k - 2)
               ? (struct value){k - 1, behind} : (struct value){k, k + 1};
}

static bool is_member(const struct search *search, size_t k)
{
    return is(search, k - 1, ".") ||
           (is(search, k - 1, ">") && is(search, k - 2, "-"));
}

/* `++name[i]` */
static bool is_counted(const struct search *search, size_t k)
{
    return (is(search, k - 1, "+") && is(search, k - 2, "+")) ||
           (is(search, k - 1, "-") && is(search, k - 2, "-"));
}

static unsigned use_of(struct search *search, size_t from, size_t to,
                       const char *name, bool *known)
{
    unsigned out = 0;

    *known = true;
    for (size_t k = from + 1; *known && k < to; k++) {
        if (search->places++ > MOST_PLACES)
            *known = false;
        /* A definition in the body may do anything with it. */
        if (at(search, k)->word == SHMT_SOURCE_DIRECTIVE) {
            const char *const text = at(search, k)->at;
            const char *const found = strstr(text, name);

            if (found != NULL && (size_t)(found - text) < at(search, k)->length)
                *known = false;
            continue;
        }
        if (k < 2 || at(search, k)->word != SHMT_SOURCE_NAME ||
            !is(search, k, name) || is_member(search, k))
            continue;
        if (is_counted(search, k) && is(search, k + 1, "["))
            out |= BOTH;
        else
            out |= use_of_value(search, value_at(search, k, to), from, to,
                                known);
    }
    return *known ? out : SHMT_SOURCE_UNKNOWN;
}

unsigned shmt_source_use(const struct shmt_source_tokens *tokens, size_t from,
                         size_t to, const char *name)
{
    struct search search = {.tokens = tokens};
    bool known;

    return use_of(&search, from, to, name, &known);
}
