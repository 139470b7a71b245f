/* SPDX-License-Identifier: MIT */
/*
 * extent: what host code makes a grid or a block of, (n + BLOCK - 1) / BLOCK,
 * said as an expression of a spec: its names by who asks, by the variables of
 * the source, and by what it defines.
 *
 * The text may be anything.  What is no arithmetic of whole numbers cannot be
 * said; of reals a quotient can, whose ceiling or floor is one again.  Depth,
 * length and the number of steps are capped, so that names which stand for each
 * other end.
 */
#include "source/said.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>

enum {
    DEPTH = 96, STEPS = 4000, CODE = 4 * SHMT_SOURCE_SAID, ARGUMENTS = 8,
    CALLS = 8
};

/* What is read. */
struct reading {
    const struct shmt_source *source;
    const struct shmt_source_names *names;
    struct shmt_arena *arena;
    size_t steps, depth;
    int line;                  /* of what is read */
    size_t calls[CALLS], call_count;   /* variables whose values are read */
};

/* One text of it. */
struct part {
    struct reading *reading;
    struct shmt_source_tokens tokens;
    size_t at;
    size_t known;              /* variables that have a value */
    const struct shmt_source_define *define;   /* whose value it is, or NULL */
    const struct shmt_source_said *arguments;
};

static const char *const members[] = {".x", ".y", ".z"};

static struct shmt_source_said read_choice(struct part *part);
static struct shmt_source_said
read_code(struct reading *reading, const char *code, size_t known,
          const struct shmt_source_define *define,
          const struct shmt_source_said *arguments);
static struct shmt_source_said read_extent(struct reading *reading,
                                           const char *code, size_t known,
                                           int axis);

/* Each step down is counted. */
static bool enter(struct reading *reading)
{
    reading->steps++;
    reading->depth++;
    return reading->steps <= STEPS && reading->depth <= DEPTH;
}

/* -- tokens --------------------------------------------------------------- */

static const struct shmt_source_token *token_at(const struct part *part,
                                                size_t k)
{
    return &part->tokens.items[k < part->tokens.count ? k
                                                      : part->tokens.count];
}

static bool is_at(const struct part *part, size_t k, const char *text)
{
    return shmt_source_is(token_at(part, k), text);
}

static bool take(struct part *part, const char *text)
{
    const bool is = is_at(part, part->at, text);

    part->at += is;
    return is;
}

static bool is_operator(const struct part *part, const char *signs)
{
    for (size_t k = 0; signs[k] != '\0'; k++)
        if (!is_at(part, part->at + k, (char[]){signs[k], '\0'}))
            return false;
    return true;
}

/* The operator at hand; NULL: there is none. */
static const struct shmt_source_operator *
operator_at(const struct part *part)
{
    const struct shmt_source_operator *one;

    for (size_t k = 0; (one = shmt_source_operator(k)) != NULL; k++)
        if (is_operator(part, one->signs))
            return one;
    return NULL;
}

static bool is_name(const char *name, const struct shmt_source_token *token)
{
    return strlen(name) == token->length &&
           memcmp(name, token->at, token->length) == 0;
}

/* -- types ---------------------------------------------------------------- */

static bool is_real_word(const struct shmt_source_token *token)
{
    return shmt_source_is(token, "float") || shmt_source_is(token, "double");
}

static bool is_type_word(const struct shmt_source_token *token)
{
    static const char *const words[] = {
        "int", "unsigned", "signed", "long", "short", "char", "const",
        "size_t", "uint", "int32_t", "uint32_t", "int64_t", "uint64_t"};

    for (size_t k = 0; k < sizeof words / sizeof *words; k++)
        if (shmt_source_is(token, words[k]))
            return true;
    return is_real_word(token);
}

/* Behind the words of a type at k; *real: what it is. */
static size_t behind_type(const struct part *part, size_t k, bool *real)
{
    *real = false;
    for (; is_type_word(token_at(part, k)); k++)
        *real |= is_real_word(token_at(part, k));
    return k;
}

static struct shmt_source_said cast(struct part *part,
                                    struct shmt_source_said one, bool real)
{
    if (!real)
        return shmt_source_say_cut(part->reading->arena, one);
    if (one.kind == SHMT_SOURCE_WHOLE)
        one.kind = SHMT_SOURCE_REAL;
    return one;
}

/* static_cast<int>(x), behind its name. */
static struct shmt_source_said read_static_cast(struct part *part)
{
    struct shmt_source_said one;
    bool real;

    if (!take(part, "<"))
        return shmt_source_unsaid;
    part->at = behind_type(part, part->at, &real);
    if (!take(part, ">") || !take(part, "("))
        return shmt_source_unsaid;
    one = read_choice(part);
    return take(part, ")") ? cast(part, one, real) : shmt_source_unsaid;
}

/* Of the type in tokens [from, to); 0: it is not known. */
static size_t bytes_of(const struct part *part, size_t from, size_t to)
{
    const struct shmt_source_names *const names = part->reading->names;
    struct shmt_signature_parameter type;
    const char *text;

    if (!shmt_source_parameter(&part->tokens, from, to, &type))
        return 0;
    if (type.pointer)
        return sizeof(void *);
    if (type.kind == SHMT_SIGNATURE_VECTOR)
        return shmt_element_bytes(type.element) *
               (size_t)(type.lanes == 3 ? 3 : type.lanes);
    if (type.kind != SHMT_SIGNATURE_OTHER &&
        type.element != SHMT_ELEMENT_BYTES)
        return shmt_element_bytes(type.element);
    text = shmt_source_join(&part->tokens, from, to);
    return text == NULL || names->bytes == NULL
               ? 0 : names->bytes(names->context, text);
}

/* sizeof(float), behind its name. */
static struct shmt_source_said read_sizeof(struct part *part)
{
    const size_t close =
        shmt_source_behind(&part->tokens, part->at, part->tokens.count);
    size_t bytes;

    if (!is_at(part, part->at, "(") || !is_at(part, close - 1, ")"))
        return shmt_source_unsaid;
    bytes = bytes_of(part, part->at + 1, close - 1);
    part->at = close;
    return bytes == 0 ? shmt_source_unsaid
                      : shmt_source_say_number(part->reading->arena,
                                               SHMT_SOURCE_WHOLE,
                                               (int64_t)bytes);
}

/* -- names ---------------------------------------------------------------- */

static const char *find(const struct part *part, const char *name)
{
    const struct shmt_source_names *const names = part->reading->names;

    return names->find(names->context, name);
}

/* "grid.x"; NULL: it is too long. */
static const char *member_of(const struct part *part, const char *name,
                             const char *member)
{
    return shmt_source_say(part->reading->arena, SHMT_SOURCE_WHOLE,
                           SHMT_SOURCE_ATOM,
                           (const char *const[]){name, member, NULL}).text;
}

/* The last of the variables before `known` that is called so, from 1 on; 0:
 * there is none. */
static size_t last_variable(const struct part *part, const char *name)
{
    const struct shmt_source_variable *const list =
        part->reading->source->variables;
    size_t k = part->known;

    while (k > 0 && (strcmp(list[k - 1].name, name) != 0 ||
                     (list[k - 1].called > 0 &&
                      list[k - 1].until < part->reading->line)))
        k--;
    return k;
}

static const char *value_of(const struct part *part, size_t variable)
{
    return part->reading->source->variables[variable - 1].value;
}

/* How many variables are before the line. */
static size_t known_at(const struct shmt_source *source, int line)
{
    size_t known = source->variable_count;

    while (known > 0 && source->variables[known - 1].line > line)
        known--;
    return known;
}

/* The value of a variable, made of what was before it, or before the call that
 * gives it; along an axis, or, -1, a number.  One that is given itself has
 * none. */
static struct shmt_source_said read_value(struct part *part, size_t variable,
                                          int axis)
{
    struct reading *const reading = part->reading;
    const struct shmt_source *const source = reading->source;
    const struct shmt_source_variable *const own =
        &source->variables[variable - 1];
    const int called = own->called, line = reading->line;
    const size_t known = called > 0 ? known_at(source, called) : variable - 1;
    struct shmt_source_said one;

    for (size_t k = 0; called > 0 && k < reading->call_count; k++)
        if (reading->calls[k] == variable)
            return shmt_source_unsaid;
    if (called > 0 && reading->call_count == CALLS)
        return shmt_source_unsaid;
    if (called > 0)
        reading->calls[reading->call_count++] = variable;
    reading->line = called > 0 ? called : own->line;
    one = axis < 0 ? read_code(reading, own->value, known, NULL, NULL)
                   : read_extent(reading, own->value, known, axis);
    reading->line = line;
    reading->call_count -= called > 0;
    return one;
}

/* A name of the spec's. */
static struct shmt_source_said say_name(struct part *part, const char *name)
{
    return name == NULL
               ? shmt_source_unsaid
               : shmt_source_say(part->reading->arena, SHMT_SOURCE_WHOLE,
                                 SHMT_SOURCE_ATOM,
                                 (const char *const[]){name, NULL});
}

/* What the source does not say. */
static struct shmt_source_said read_open(struct part *part, const char *name)
{
    const struct shmt_source_names *const names = part->reading->names;

    return say_name(part, names->open == NULL
                              ? NULL : names->open(names->context, name));
}

/* What the name is in the spec, or as the variable, "n" or "grid.x", or as a
 * macro. */
static struct shmt_source_said read_known(struct part *part, const char *name)
{
    const struct shmt_source *const source = part->reading->source;
    const char *const found = find(part, name);
    const size_t variable = found == NULL ? last_variable(part, name) : 0;

    if (found != NULL)
        return say_name(part, found);
    if (variable > 0)
        return read_value(part, variable, -1);
    for (size_t k = source->define_count; k-- > 0;)
        if (!source->defines[k].takes &&
            strcmp(source->defines[k].name, name) == 0)
            return read_code(part->reading, source->defines[k].value,
                             part->known, &source->defines[k], NULL);
    return shmt_source_unsaid;
}

/* What begins with 0 is given another value by a way that is not seen. */
static struct shmt_source_said or_open(struct part *part, const char *name,
                                       struct shmt_source_said one)
{
    const bool unknown = one.kind == SHMT_SOURCE_NONE ||
                         strcmp(one.text, "0") == 0;
    const struct shmt_source_said open = unknown ? read_open(part, name)
                                                 : shmt_source_unsaid;

    return open.kind == SHMT_SOURCE_NONE ? one : open;
}

static struct shmt_source_said read_whole(struct part *part, const char *name)
{
    return or_open(part, name, read_known(part, name));
}

/* NAME.x: given itself, or with all of NAME. */
static struct shmt_source_said read_member(struct part *part,
                                           const char *name, int axis)
{
    const char *const own = member_of(part, name, members[axis]);
    const size_t all = last_variable(part, name);

    if (own == NULL)
        return shmt_source_unsaid;
    if (find(part, own) != NULL || last_variable(part, own) >= all)
        return read_whole(part, own);
    return all == 0 ? shmt_source_unsaid : read_value(part, all, axis);
}

/* -- calls ---------------------------------------------------------------- */

/* "A, B)"; the count, or ARGUMENTS + 1 where one cannot be said. */
static size_t read_arguments(struct part *part,
                             struct shmt_source_said arguments[ARGUMENTS])
{
    size_t count = 0;

    if (take(part, ")"))
        return 0;
    do {
        if (count == ARGUMENTS)
            return ARGUMENTS + 1;
        arguments[count] = read_choice(part);
        if (arguments[count++].kind == SHMT_SOURCE_NONE)
            return ARGUMENTS + 1;
    } while (take(part, ","));
    return take(part, ")") ? count : ARGUMENTS + 1;
}

/* divUp, DIV_CEIL, cdiv: what such names are wont to mean. */
static bool rounds_up(const struct shmt_source_token *name)
{
    char lower[64];

    if (name->length >= sizeof lower)
        return false;
    for (size_t k = 0; k < name->length; k++)
        lower[k] = (char)tolower((unsigned char)name->at[k]);
    lower[name->length] = '\0';
    return strcmp(lower, "cdiv") == 0 ||
           (strstr(lower, "div") != NULL &&
            (strstr(lower, "up") != NULL || strstr(lower, "ceil") != NULL));
}

static struct shmt_source_said
call_one(struct part *part, const struct shmt_source_token *name,
         const struct shmt_source_said *a)
{
    struct shmt_arena *const arena = part->reading->arena;
    const bool up = shmt_source_is(name, "ceil") ||
                    shmt_source_is(name, "ceilf");

    if (!up && !shmt_source_is(name, "floor") &&
        !shmt_source_is(name, "floorf"))
        return shmt_source_unsaid;
    return up && a->kind == SHMT_SOURCE_QUOTIENT
               ? shmt_source_say_ceiling(arena, a->text, a->by)
               : shmt_source_say_cut(arena, *a);
}

static struct shmt_source_said
call_two(struct part *part, const struct shmt_source_token *name,
         const struct shmt_source_said *a, const struct shmt_source_said *b)
{
    struct shmt_arena *const arena = part->reading->arena;
    const bool least = shmt_source_is(name, "min");

    if (!shmt_source_is_said(a) || !shmt_source_is_said(b))
        return shmt_source_unsaid;
    if (least || shmt_source_is(name, "max"))
        return shmt_source_say(arena, SHMT_SOURCE_WHOLE, SHMT_SOURCE_ATOM,
                               (const char *const[]){least ? "min(" : "max(",
                                                     a->text, ", ", b->text,
                                                     ")", NULL});
    if (shmt_source_is(name, SHMT_SOURCE_ELEMENTS))
        return shmt_source_say_elements(arena, a, b);
    return rounds_up(name) ? shmt_source_say_ceiling(arena, a->text, b->text)
                           : shmt_source_unsaid;
}

/* The call of a name, whose `(` is taken. */
static struct shmt_source_said
read_call(struct part *part, const struct shmt_source_token *name)
{
    const struct shmt_source *const source = part->reading->source;
    struct shmt_source_said arguments[ARGUMENTS], out = shmt_source_unsaid;
    const size_t count = read_arguments(part, arguments);

    for (size_t k = source->define_count;
         out.kind == SHMT_SOURCE_NONE && k-- > 0;)
        if (source->defines[k].takes &&
            source->defines[k].parameter_count == count &&
            is_name(source->defines[k].name, name))
            out = read_code(part->reading, source->defines[k].value,
                            part->known, &source->defines[k], arguments);
    if (out.kind != SHMT_SOURCE_NONE)
        return out;
    return count == 1   ? call_one(part, name, arguments)
           : count == 2 ? call_two(part, name, arguments, arguments + 1)
                        : shmt_source_unsaid;
}

/* -- the grammar ---------------------------------------------------------- */

/* The argument of the macro or function whose value is read; NULL: it is no
 * such name. */
static const struct shmt_source_said *
argument_of(const struct part *part, const struct shmt_source_token *token)
{
    for (size_t k = 0; part->arguments != NULL &&
                       k < part->define->parameter_count; k++)
        if (is_name(part->define->parameters[k], token))
            return &part->arguments[k];
    return NULL;
}

/* "p.rows" */
static const char *other_member(const struct part *part, const char *name,
                                const struct shmt_source_token *token)
{
    const char *const member =
        shmt_arena_copy(part->reading->arena, token->at, token->length);

    return member == NULL
               ? name
               : shmt_source_say(part->reading->arena, SHMT_SOURCE_WHOLE,
                                 SHMT_SOURCE_ATOM,
                                 (const char *const[]){name, ".", member,
                                                       NULL}).text;
}

static struct shmt_source_said read_word(struct part *part)
{
    const struct shmt_source_token *token = token_at(part, part->at++);
    const struct shmt_source_said *given;
    const char *name;

    while (is_at(part, part->at, ":") && is_at(part, part->at + 1, ":") &&
           token_at(part, part->at + 2)->word == SHMT_SOURCE_NAME) {
        token = token_at(part, part->at + 2);
        part->at += 3;
    }
    if (shmt_source_is(token, "static_cast"))
        return read_static_cast(part);
    if (shmt_source_is(token, "sizeof"))
        return read_sizeof(part);
    if (is_type_word(token) && take(part, "(")) {
        const struct shmt_source_said one = read_choice(part);

        return take(part, ")") ? cast(part, one, is_real_word(token))
                               : shmt_source_unsaid;
    }
    if (take(part, "("))
        return read_call(part, token);
    given = argument_of(part, token);
    if (given != NULL)
        return *given;
    name = shmt_arena_copy(part->reading->arena, token->at, token->length);
    if (name == NULL || !take(part, "."))
        return name == NULL ? shmt_source_unsaid : read_whole(part, name);
    for (int axis = 0; axis < 3; axis++)
        if (take(part, members[axis] + 1))
            return read_member(part, name, axis);
    token = token_at(part, part->at++);
    return token->word == SHMT_SOURCE_NAME && !is_at(part, part->at, "(")
               ? read_open(part, other_member(part, name, token))
               : shmt_source_unsaid;
}

/* Whole, or of a real that is: 1.0f. */
static struct shmt_source_said read_number(struct part *part)
{
    const struct shmt_source_token *const token = token_at(part, part->at++);
    struct shmt_arena *const arena = part->reading->arena;
    char text[64], *end;
    long long value;
    double real;

    if (token->length >= sizeof text)
        return shmt_source_unsaid;
    memcpy(text, token->at, token->length);
    text[token->length] = '\0';
    errno = 0;
    value = strtoll(text, &end, 0);
    if (errno == 0 && end[strspn(end, "uUlL")] == '\0')
        return shmt_source_say_number(arena, SHMT_SOURCE_WHOLE, value);
    text[strcspn(text, "fF")] = '\0';
    real = shmt_text_real(text);
    return real >= 0 && real <= INT32_MAX && floor(real) >= real
               ? shmt_source_say_number(arena, SHMT_SOURCE_REAL,
                                        (int64_t)real)
               : shmt_source_unsaid;
}

static struct shmt_source_said read_unary(struct part *part);

/* What stands in parentheses, or behind a type in them. */
static struct shmt_source_said read_parentheses(struct part *part)
{
    bool real;
    const size_t behind = behind_type(part, part->at, &real);
    struct shmt_source_said one;

    if (behind > part->at && is_at(part, behind, ")")) {
        part->at = behind + 1;
        return cast(part, read_unary(part), real);
    }
    one = read_choice(part);
    return take(part, ")") ? one : shmt_source_unsaid;
}

static struct shmt_source_said read_tight(struct part *part)
{
    const enum shmt_source_word word = token_at(part, part->at)->word;
    const bool negates = is_at(part, part->at, "-");
    struct shmt_source_said one;

    if (take(part, "("))
        return read_parentheses(part);
    if (take(part, "+"))
        return read_unary(part);
    if (take(part, "-") || take(part, "!")) {
        one = read_unary(part);
        return shmt_source_say_sign(part->reading->arena,
                                    negates ? "-" : "not ", &one);
    }
    return word == SHMT_SOURCE_NUMBER ? read_number(part)
           : word == SHMT_SOURCE_NAME ? read_word(part)
                                      : shmt_source_unsaid;
}

static struct shmt_source_said read_unary(struct part *part)
{
    struct shmt_source_said one = shmt_source_unsaid;

    if (enter(part->reading))
        one = read_tight(part);
    part->reading->depth--;
    return one;
}

static struct shmt_source_said read_operations(struct part *part,
                                               int tightness)
{
    struct shmt_source_said one = read_unary(part);
    const struct shmt_source_operator *operator;

    while (one.kind != SHMT_SOURCE_NONE &&
           (operator = operator_at(part)) != NULL &&
           operator->tightness >= tightness) {
        struct shmt_source_said other;

        part->at += strlen(operator->signs);
        other = read_operations(part, operator->tightness + 1);
        one = shmt_source_operate(part->reading->arena, operator, &one,
                                  &other);
    }
    return one;
}

/* c ? a : b */
static struct shmt_source_said read_chosen(struct part *part)
{
    const struct shmt_source_said condition = read_operations(part, 1);
    struct shmt_source_said a, b;

    if (!take(part, "?"))
        return condition;
    a = read_choice(part);
    if (!take(part, ":"))
        return shmt_source_unsaid;
    b = read_choice(part);
    return shmt_source_say_choice(part->reading->arena, &condition, &a, &b);
}

static struct shmt_source_said read_choice(struct part *part)
{
    struct shmt_source_said one = shmt_source_unsaid;

    if (enter(part->reading))
        one = read_chosen(part);
    part->reading->depth--;
    return one;
}

/* -- a text --------------------------------------------------------------- */

/* Splits the code; false: it is too long, or there is no memory. */
static bool open_part(struct part *part, const char *code)
{
    part->tokens.arena = part->reading->arena;
    return strlen(code) <= CODE && shmt_source_split(&part->tokens, code);
}

static struct shmt_source_said
read_code(struct reading *reading, const char *code, size_t known,
          const struct shmt_source_define *define,
          const struct shmt_source_said *arguments)
{
    struct part part = {.reading = reading, .known = known, .define = define,
                        .arguments = arguments};
    struct shmt_source_said one = shmt_source_unsaid;

    if (open_part(&part, code)) {
        one = read_choice(&part);
        if (part.at < part.tokens.count)
            one = shmt_source_unsaid;
    }
    free(part.tokens.items);
    return one;
}

/* Where the list that the code is begins and ends: what stands behind dim3, or
 * in braces, or all. */
static void find_list(const struct part *part, size_t *from, size_t *to)
{
    const size_t open = is_at(part, 0, "dim3") ? 1 : 0;

    *from = 0;
    *to = part->tokens.count;
    if ((is_at(part, open, "{") || (open == 1 && is_at(part, open, "("))) &&
        shmt_source_behind(&part->tokens, open, *to) == *to) {
        *from = open + 1;
        *to -= *to > *from;
    }
}

/* Item `axis` of the list; "": it has fewer; NULL: there is no memory. */
static const char *item_of(const struct part *part, size_t from, size_t to,
                           int axis)
{
    size_t depth = 0, k;

    for (k = from; k < to; k++) {
        depth += is_at(part, k, "(") || is_at(part, k, "{");
        depth -= depth > 0 && (is_at(part, k, ")") || is_at(part, k, "}"));
        if (depth > 0 || !is_at(part, k, ","))
            continue;
        if (axis-- == 0)
            break;
        from = k + 1;
    }
    return axis > 0 ? "" : shmt_source_join(&part->tokens, from, k);
}

/* A number has one along the other axes. */
static struct shmt_source_said along(struct part *part,
                                     struct shmt_source_said one, int axis)
{
    return axis == 0 || one.kind == SHMT_SOURCE_NONE
               ? one : shmt_source_say_number(part->reading->arena,
                                              SHMT_SOURCE_WHOLE, 1);
}

/* The name of what has extents, or of a number. */
static struct shmt_source_said read_named(struct part *part,
                                          const char *name, int axis)
{
    const char *const own = member_of(part, name, members[axis]);
    size_t all;

    if (own == NULL)
        return shmt_source_unsaid;
    if (find(part, name) != NULL)
        return along(part, read_whole(part, name), axis);
    all = last_variable(part, name);
    if (find(part, own) != NULL || last_variable(part, own) > all)
        return read_whole(part, own);
    if (all > 0) {
        const struct shmt_source_said one = read_value(part, all, axis);

        return strchr(value_of(part, all), ',') != NULL ||
                       (axis > 0 && one.kind != SHMT_SOURCE_NONE)
                   ? one : along(part, or_open(part, name, one), axis);
    }
    return along(part, read_whole(part, name), axis);
}

static struct shmt_source_said read_list(struct part *part, int axis)
{
    size_t from, to;
    const char *first, *item;

    find_list(part, &from, &to);
    first = item_of(part, from, to, 0);
    item = item_of(part, from, to, axis);
    if (first == NULL || item == NULL)
        return shmt_source_unsaid;
    if (to - from == 1 && token_at(part, from)->word == SHMT_SOURCE_NAME)
        return read_named(part, first, axis);
    if (item[0] != '\0' || axis == 0)
        return read_code(part->reading, item, part->known, NULL, NULL);
    return along(part, read_code(part->reading, first, part->known, NULL,
                                 NULL), axis);
}

static struct shmt_source_said read_extent(struct reading *reading,
                                           const char *code, size_t known,
                                           int axis)
{
    struct part part = {.reading = reading, .known = known};
    struct shmt_source_said one = shmt_source_unsaid;

    if (enter(reading) && open_part(&part, code))
        one = read_list(&part, axis);
    reading->depth--;
    free(part.tokens.items);
    return one;
}

bool shmt_source_extent(const struct shmt_source *source, const char *code,
                        int line, int axis,
                        const struct shmt_source_names *names,
                        struct shmt_text *text)
{
    struct reading reading = {.source = source, .names = names,
                              .arena = shmt_arena_new(), .line = line};
    struct shmt_source_said one = shmt_source_unsaid;

    if (reading.arena != NULL)
        one = shmt_source_say_cut(reading.arena,
                                  read_extent(&reading, code,
                                              known_at(source, line), axis));
    if (reading.arena == NULL || shmt_arena_failed(reading.arena))
        text->failed = true;
    else if (one.kind != SHMT_SOURCE_NONE)
        shmt_text_add(text, one.text);
    shmt_arena_free(reading.arena);
    return one.kind != SHMT_SOURCE_NONE && !text->failed;
}
