/* SPDX-License-Identifier: MIT */
/*
 * import_list: parses Python's lists as text: literals, range(), list(), sums
 * of lists, and comprehensions with one `for` and one `if`.  Elements are
 * compiled by expr/.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/import_json.h"
#include "expr/expr.h"

enum {
    NESTING = 16,                      /* list(list(...)) */
    TEXT_BYTES = 2 << 20
};

struct reader {
    struct shmt_arena *arena;
    const char *where;
    const char *text;
    const char *at;
    int nesting;
    struct shmt_value *values;
    size_t count, room;
    struct shmt_error *err;
};

static enum shmtune_status read_sum(struct reader *reader);

static enum shmtune_status refuse(const struct reader *reader,
                                  const char *at, const char *message)
{
    const char *const quote = *at == '\0' ? "" : "\"";

    return shmt_error_set(reader->err, SHMTUNE_INVALID_FILE,
                          "%s: character %td: %s; found %s%.40s%s",
                          reader->where, at - reader->text + 1, message,
                          quote, *at == '\0' ? "the end" : at, quote);
}

static void skip_blanks(struct reader *reader)
{
    reader->at += strspn(reader->at, " \t\r\n");
}

static enum shmtune_status add(struct reader *reader, struct shmt_value value)
{
    if (reader->count == SHMT_SPACE_VALUES)
        return shmt_error_set(reader->err, SHMTUNE_INVALID_FILE,
                              "%s: more than %d values", reader->where,
                              SHMT_SPACE_VALUES);
    if (!shmt_array_reserve(&reader->values, &reader->room, reader->count + 1,
                            sizeof *reader->values))
        return shmt_error_memory(reader->err);
    reader->values[reader->count++] = value;
    return SHMTUNE_OK;
}

/* The first of `stops` outside quotes and brackets, or the closing bracket
 * of what surrounds `from`, or the end.  Words ("for") count as stops when
 * they stand alone. */
static const char *find_end(const char *from, const char *stops,
                            const char *word)
{
    const size_t length = word == NULL ? 0 : strlen(word);
    int depth = 0;

    for (const char *at = from; *at != '\0'; at++) {
        if (*at == '\'' || *at == '"') {
            const char *close = strchr(at + 1, *at);

            if (close == NULL)
                return at + strlen(at);
            at = close;
        } else if (strchr("([{", *at) != NULL) {
            depth++;
        } else if (strchr(")]}", *at) != NULL) {
            if (depth-- == 0)
                return at;
        } else if (depth == 0 && strchr(stops, *at) != NULL) {
            return at;
        } else if (depth == 0 && length > 0 && at > from &&
                   strncmp(at, word, length) == 0 &&
                   strchr(" \t\n)]}'\"", at[-1]) != NULL &&
                   strchr(" \t\n([{-+", at[length]) != NULL &&
                   at[length] != '\0') {
            return at;
        }
    }
    return from + strlen(from);
}

/* A plain integer, the usual element, needs no compiler. */
static bool plain_int(const char *from, const char *to,
                      struct shmt_value *out)
{
    const bool minus = from < to && *from == '-';
    int64_t value = 0;

    from += minus;
    while (to > from && strchr(" \t\r\n", to[-1]) != NULL)
        to--;
    if (from == to || to - from > 18 || (*from == '0' && to - from > 1))
        return false;
    for (; from < to; from++) {
        if (*from < '0' || *from > '9')
            return false;
        value = 10 * value + (*from - '0');
    }
    *out = (struct shmt_value){.type = SHMT_VALUE_INT,
                               .i = minus ? -value : value};
    return true;
}

static enum shmtune_status compile(struct reader *reader,
                                   const char *from, const char *to,
                                   const struct shmt_expr_scope *scope,
                                   struct shmt_expr **out)
{
    const struct shmt_place place = {.file = reader->where};
    char *text = shmt_arena_copy(reader->arena, from, (size_t)(to - from));

    if (text == NULL)
        return shmt_error_memory(reader->err);
    return shmt_expr_compile(reader->arena, place, text, scope, out,
                             reader->err);
}

/* An expression without names, between two places. */
static enum shmtune_status read_constant(struct reader *reader,
                                         const char *from, const char *to,
                                         struct shmt_value *out)
{
    const struct shmt_expr_scope none = {0};
    struct shmt_expr *expr;
    enum shmtune_status status;

    if (plain_int(from, to, out))
        return SHMTUNE_OK;
    status = compile(reader, from, to, &none, &expr);
    if (status != SHMTUNE_OK)
        return status;
    return shmt_expr_eval(expr, NULL, out, reader->err);
}

/* range(stop), range(start, stop), range(start, stop, step), behind "(". */
static enum shmtune_status read_range(struct reader *reader)
{
    const char *const start = reader->at;
    struct shmt_value value;
    int64_t bounds[3] = {0, 0, 1};
    uint64_t count;
    size_t given = 0;
    enum shmtune_status status;

    for (;;) {
        const char *end = find_end(reader->at, ",", NULL);

        if (given == 3)
            return refuse(reader, reader->at,
                          "range() takes one to three numbers");
        status = read_constant(reader, reader->at, end, &value);
        if (status != SHMTUNE_OK)
            return status;
        if (value.type != SHMT_VALUE_INT)
            return refuse(reader, reader->at, "range() takes integers");
        bounds[given++] = value.i;
        reader->at = end;
        if (*end != ',')
            break;
        reader->at++;
        skip_blanks(reader);
    }
    if (*reader->at != ')')
        return refuse(reader, reader->at, "expected ')' behind range(");
    reader->at++;
    if (given == 1) {
        bounds[1] = bounds[0];
        bounds[0] = 0;
    }
    if (bounds[2] == 0)
        return refuse(reader, start, "the step of a range is 0");
    if ((bounds[2] > 0) != (bounds[0] < bounds[1]) || bounds[0] == bounds[1])
        return SHMTUNE_OK;
    count = bounds[2] > 0 ? (uint64_t)bounds[1] - (uint64_t)bounds[0]
                          : (uint64_t)bounds[0] - (uint64_t)bounds[1];
    count = (count - 1) / (bounds[2] > 0 ? (uint64_t)bounds[2]
                                         : -(uint64_t)bounds[2]) + 1;
    if (count > SHMT_SPACE_VALUES)
        return shmt_error_set(reader->err, SHMTUNE_INVALID_FILE,
                              "%s: character %td: a range of %" PRIu64
                              " values, at most %d are possible",
                              reader->where, start - reader->text + 1, count,
                              SHMT_SPACE_VALUES);
    value.type = SHMT_VALUE_INT;
    value.i = bounds[0];
    for (uint64_t k = 0; k < count && status == SHMTUNE_OK; k++) {
        status = add(reader, value);
        if (k + 1 < count)
            value.i += bounds[2];
    }
    return status;
}

/* EXPRESSION for NAME in LIST if CONDITION, up to the bracket `close`. */
struct loop {
    const char *element, *element_end;
    char name[64];
    const char *condition, *condition_end;
    /* compiled for each type of value that comes */
    struct shmt_expr *elements[3], *conditions[3];
};

static enum shmtune_status compile_loop(struct reader *reader,
                                        struct loop *loop,
                                        enum shmt_value_type type)
{
    const struct shmt_expr_symbol symbol = {loop->name, type};
    const struct shmt_expr_scope scope = {.count = 1, .symbols = &symbol};
    enum shmtune_status status = SHMTUNE_OK;

    if (loop->elements[type] != NULL)
        return SHMTUNE_OK;
    if (loop->condition != NULL)
        status = compile(reader, loop->condition, loop->condition_end,
                         &scope, &loop->conditions[type]);
    if (status == SHMTUNE_OK)
        status = compile(reader, loop->element, loop->element_end, &scope,
                         &loop->elements[type]);
    return status;
}

/* Evaluates the loop for the values from `first` on and replaces them by the
 * results. */
static enum shmtune_status run_loop(struct reader *reader, struct loop *loop,
                                    size_t first)
{
    enum shmtune_status status = SHMTUNE_OK;
    size_t kept = first;

    for (size_t k = first; k < reader->count && status == SHMTUNE_OK; k++) {
        const struct shmt_value value = reader->values[k];
        bool holds = true;

        status = compile_loop(reader, loop, value.type);
        if (status == SHMTUNE_OK && loop->condition != NULL)
            status = shmt_expr_eval_bool(loop->conditions[value.type], &value,
                                         &holds, reader->err);
        if (status == SHMTUNE_OK && holds)
            status = shmt_expr_eval(loop->elements[value.type], &value,
                                    &reader->values[kept++], reader->err);
    }
    reader->count = kept;
    return status;
}

static enum shmtune_status read_loop(struct reader *reader, const char *element,
                                     const char *keyword, char close)
{
    struct loop loop = {.element = element, .element_end = keyword};
    const size_t first = reader->count;
    const char *end;
    size_t length;
    enum shmtune_status status;

    reader->at = keyword + 3;
    skip_blanks(reader);
    length = shmt_text_name_length(reader->at);
    if (length == 0 || length >= sizeof loop.name ||
        (*reader->at >= '0' && *reader->at <= '9'))
        return refuse(reader, reader->at, "expected a name behind 'for'");
    memcpy(loop.name, reader->at, length);
    loop.name[length] = '\0';
    reader->at += length;
    skip_blanks(reader);
    if (strncmp(reader->at, "in", 2) != 0 ||
        strchr(" \t\n([", reader->at[2]) == NULL || reader->at[2] == '\0')
        return refuse(reader, reader->at, "expected 'in'");
    reader->at += 2;
    status = read_sum(reader);
    if (status != SHMTUNE_OK)
        return status;
    if (strncmp(reader->at, "if", 2) == 0 &&
        strchr(" \t\n(", reader->at[2]) != NULL && reader->at[2] != '\0') {
        end = find_end(reader->at + 2, "", NULL);
        loop.condition = reader->at + 2 + strspn(reader->at + 2, " \t\n");
        loop.condition_end = end;
        reader->at = end;
    }
    if (*reader->at != close)
        return refuse(reader, reader->at,
                      "only one 'for' and one 'if' can stand in a list");
    reader->at++;
    return run_loop(reader, &loop, first);
}

/* Elements or a loop, behind the opening bracket. */
static enum shmtune_status read_items(struct reader *reader, char close)
{
    struct shmt_value value;
    enum shmtune_status status;

    skip_blanks(reader);
    while (*reader->at != close) {
        const char *const from = reader->at;
        const char *end = find_end(from, ",", "for");

        if (strncmp(end, "for", 3) == 0)
            return read_loop(reader, from, end, close);
        if (*from == '[')
            return refuse(reader, from, "a list in a list");
        status = read_constant(reader, from, end, &value);
        if (status == SHMTUNE_OK)
            status = add(reader, value);
        if (status != SHMTUNE_OK)
            return status;
        reader->at = end;
        if (*end == ',') {
            reader->at++;
            skip_blanks(reader);
        } else if (*end != close) {
            return refuse(reader, end, "expected ',' or the end of the list");
        }
    }
    reader->at++;
    return SHMTUNE_OK;
}

static bool skip_word(struct reader *reader, const char *word)
{
    const size_t length = strlen(word);
    const char *at = reader->at;

    if (strncmp(at, word, length) != 0)
        return false;
    at += length + strspn(at + length, " \t\n");
    if (*at != '(')
        return false;
    reader->at = at + 1;
    reader->at += strspn(reader->at, " \t\r\n");
    return true;
}

static enum shmtune_status read_term(struct reader *reader)
{
    enum shmtune_status status;

    skip_blanks(reader);
    if (++reader->nesting > NESTING)
        return refuse(reader, reader->at, "lists nested too deep");
    if (skip_word(reader, "range")) {
        status = read_range(reader);
    } else if (skip_word(reader, "list")) {
        status = read_sum(reader);
        if (status == SHMTUNE_OK && *reader->at != ')')
            status = refuse(reader, reader->at, "expected ')' behind list(");
        if (status == SHMTUNE_OK)
            reader->at++;
    } else if (*reader->at == '[' || *reader->at == '(') {
        const char close = *reader->at++ == '[' ? ']' : ')';

        status = read_items(reader, close);
    } else {
        status = refuse(reader, reader->at,
                        "expected a list such as [1, 2, 4], range(1, 9) or "
                        "[2**i for i in range(5)]");
    }
    reader->nesting--;
    return status;
}

/* Lists, with + between them. */
static enum shmtune_status read_sum(struct reader *reader)
{
    enum shmtune_status status = read_term(reader);

    skip_blanks(reader);
    while (status == SHMTUNE_OK && *reader->at == '+') {
        reader->at++;
        status = read_term(reader);
        skip_blanks(reader);
    }
    return status;
}

enum shmtune_status shmt_import_parse_list(struct shmt_arena *arena,
                                           const char *where, const char *text,
                                           struct shmt_import_list *out,
                                           struct shmt_error *err)
{
    struct reader reader = {.arena = arena, .where = where, .text = text,
                            .at = text, .err = err};
    struct shmt_import_list list = {0};
    enum shmtune_status status;
    bool mixed;

    if (strnlen(text, TEXT_BYTES + 1) > TEXT_BYTES)
        return shmt_error_set(err, SHMTUNE_INVALID_FILE,
                              "%s: a list of more than %d characters", where,
                              TEXT_BYTES);
    status = read_sum(&reader);
    if (status == SHMTUNE_OK && *reader.at != '\0')
        status = refuse(&reader, reader.at, "expected the end");
    if (status == SHMTUNE_OK) {
        list.count = reader.count;
        list.values = shmt_arena_alloc(arena, reader.count,
                                       sizeof *list.values);
        if (list.values == NULL)
            status = shmt_error_memory(err);
        else if (reader.count > 0)
            memcpy(list.values, reader.values,
                   reader.count * sizeof *list.values);
    }
    if (status == SHMTUNE_OK && !shmt_import_unify(arena, &list, &mixed))
        status = shmt_error_memory(err);
    free(reader.values);
    if (status == SHMTUNE_OK)
        *out = list;
    return status;
}
