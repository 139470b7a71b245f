/* SPDX-License-Identifier: MIT */
/*
 * parse: from text to tree, by recursive descent with Python's
 * precedence.  Every parse_* function leaves one node on the builder's stack.
 * Called by expr.c alone.
 */
#include <string.h>

#include "base/base.h"
#include "expr/tree.h"

struct parser {
    struct shmt_arena *arena;
    struct shmt_expr *expr;
    struct shmt_error *err;
    struct shmt_expr_scan scan;
    struct shmt_expr_build build;
    int nesting;
};

static bool parse_conditional(struct parser *parser);
static bool parse_unary(struct parser *parser);

#define REFUSE(parser, ...)                                                  \
    ((parser)->build.status =                                                \
         shmt_expr_refuse((parser)->expr, (parser)->scan.start,              \
                          (parser)->err, __VA_ARGS__),                       \
     false)

static bool next(struct parser *parser)
{
    if (shmt_expr_scan_next(&parser->scan))
        return true;
    return REFUSE(parser, "%s", parser->scan.problem);
}

/* Called many times for each token, so it compares the first character
 * first. */
static inline bool is(const struct parser *parser, const char *text)
{
    return parser->scan.text[parser->scan.start] == *text &&
           shmt_expr_scan_is(&parser->scan, text);
}

/* Describes the current token for a message. */
static const char *found(const struct parser *parser, char room[48])
{
    const struct shmt_expr_scan *scan = &parser->scan;
    const size_t length = scan->length < 40 ? scan->length : 40;

    if (scan->token == SHMT_EXPR_TOKEN_END)
        return "the end";
    room[0] = '\'';
    memcpy(room + 1, scan->text + scan->start, length);
    memcpy(room + 1 + length, "'", 2);
    return room;
}

static bool expect(struct parser *parser, const char *sign)
{
    char room[48];

    if (!is(parser, sign))
        return REFUSE(parser, "found %s, expected '%s'",
                      found(parser, room), sign);
    return next(parser);
}

/* Refuses an unknown name and lists the known ones, as many as fit. */
static bool refuse_name(struct parser *parser)
{
    const struct shmt_expr_scope *scope = &parser->expr->scope;
    const size_t all = scope->count + scope->derived_count;
    struct shmt_text known = {0};
    char room[48];
    size_t k = 0;

    for (; k < all && known.length < 200; k++)
        shmt_text_addf(&known, "%s%.64s", k == 0 ? "; known are " : ", ",
                       k < scope->count
                           ? scope->symbols[k].name
                           : scope->derived[k - scope->count].name);
    shmt_text_add(&known, k < all ? ", ..." : "");
    parser->build.status = shmt_expr_refuse(
        parser->expr, parser->scan.start, parser->err, "unknown name %s%s",
        found(parser, room), shmt_text_string(&known));
    shmt_text_free(&known);
    return false;
}

/* One level deeper, past the token that opens it. */
static bool enter(struct parser *parser)
{
    if (++parser->nesting > SHMT_EXPR_NESTING)
        return REFUSE(parser, "nested deeper than %d", SHMT_EXPR_NESTING);
    return next(parser);
}

static bool make(struct parser *parser, enum shmt_op op, size_t count,
                 size_t offset)
{
    return shmt_expr_build_node(&parser->build, op, count, offset);
}

/* Operands up to the sign `close`, which is passed; counted into *count. */
static bool parse_list(struct parser *parser, const char *close,
                       size_t *count)
{
    while (!is(parser, close)) {
        if (!parse_conditional(parser))
            return false;
        ++*count;
        if (!is(parser, ","))
            break;
        if (!next(parser))
            return false;
    }
    return expect(parser, close);
}

static const struct function {
    const char *name;
    enum shmt_op op;
    size_t least, most;
} functions[] = {
    {"min", SHMT_OP_MIN, 2, 255}, {"max", SHMT_OP_MAX, 2, 255},
    {"abs", SHMT_OP_ABS, 1, 1}, {"int", SHMT_OP_INT, 1, 1},
    {"float", SHMT_OP_FLOAT, 1, 1}, {"ceildiv", SHMT_OP_CEILDIV, 2, 2},
    {"roundup", SHMT_OP_ROUNDUP, 2, 2},
};

static bool parse_call(struct parser *parser,
                       const struct function *function)
{
    const size_t offset = parser->scan.start;
    size_t count = 0;

    if (!next(parser) || !enter(parser) || !parse_list(parser, ")", &count))
        return false;
    parser->nesting--;
    if (count < function->least || count > function->most) {
        parser->scan.start = offset;
        return REFUSE(parser, "%s() has %zu operand%s, expected %zu%s",
                      function->name, count, count == 1 ? "" : "s",
                      function->least,
                      function->most > function->least ? " or more" : "");
    }
    return make(parser, function->op, count, offset);
}

static bool is_reserved(const struct parser *parser)
{
    static const char *const reserved[] = {
        "and", "or", "not", "if", "else", "in", "is", "lambda", "for",
        "None", "await", "yield", "import",
    };

    for (size_t k = 0; k < sizeof reserved / sizeof reserved[0]; k++)
        if (is(parser, reserved[k]))
            return true;
    return false;
}

static bool parse_name(struct parser *parser)
{
    const size_t offset = parser->scan.start;
    const struct shmt_expr_scope *scope = &parser->expr->scope;
    const char *rest = parser->scan.text + offset + parser->scan.length;
    char room[48];

    if (is(parser, "True") || is(parser, "False")) {
        const struct shmt_value value = {.type = SHMT_VALUE_INT,
                                         .i = is(parser, "True")};

        return next(parser) &&
               shmt_expr_build_constant(&parser->build, value, offset);
    }
    if (is_reserved(parser))
        return REFUSE(parser, "found %s, expected a value",
                      found(parser, room));
    for (size_t k = 0; k < scope->count; k++)
        if (is(parser, scope->symbols[k].name))
            return next(parser) &&
                   shmt_expr_build_symbol(&parser->build, k, offset);
    for (size_t k = 0; k < scope->derived_count; k++)
        if (is(parser, scope->derived[k].name))
            return next(parser) &&
                   shmt_expr_build_derived(&parser->build, k, offset);
    rest += strspn(rest, " \t");
    if (*rest != '(')
        return refuse_name(parser);
    for (size_t k = 0; k < sizeof functions / sizeof functions[0]; k++)
        if (is(parser, functions[k].name))
            return parse_call(parser, &functions[k]);
    return REFUSE(parser, "unknown function %s; known are min, max, abs, "
                          "ceildiv, roundup, int, float",
                  found(parser, room));
}

static bool parse_leaf(struct parser *parser)
{
    const struct shmt_expr_scan *scan = &parser->scan;
    const size_t offset = scan->start;
    struct shmt_value value = scan->value;

    if (scan->token == SHMT_EXPR_TOKEN_WORD) {
        value.type = SHMT_VALUE_WORD;
        value.w = shmt_arena_copy(parser->arena, scan->text + offset + 1,
                                  scan->length - 2);
        if (value.w == NULL) {
            parser->build.status = shmt_error_memory(parser->err);
            return false;
        }
    } else if (scan->lowest) {
        return REFUSE(parser, "the integer is beyond 64 bits");
    }
    return next(parser) &&
           shmt_expr_build_constant(&parser->build, value, offset);
}

static bool parse_atom(struct parser *parser)
{
    const enum shmt_expr_token token = parser->scan.token;
    char room[48];

    if (token == SHMT_EXPR_TOKEN_NUMBER || token == SHMT_EXPR_TOKEN_WORD)
        return parse_leaf(parser);
    if (token == SHMT_EXPR_TOKEN_NAME)
        return parse_name(parser);
    if (is(parser, "["))
        return REFUSE(parser, "a list can only stand behind 'in'");
    if (!is(parser, "("))
        return REFUSE(parser, "found %s, expected a value",
                      found(parser, room));
    if (!enter(parser) || !parse_conditional(parser))
        return false;
    parser->nesting--;
    if (is(parser, ","))
        return REFUSE(parser, "a list can only stand behind 'in'");
    return expect(parser, ")");
}

static bool parse_power(struct parser *parser)
{
    size_t offset;

    if (!parse_atom(parser))
        return false;
    if (!is(parser, "**"))
        return true;
    offset = parser->scan.start;
    if (!enter(parser) || !parse_unary(parser))
        return false;
    parser->nesting--;
    return make(parser, SHMT_OP_POW, 2, offset);
}

/* -9223372036854775808, the one integer that needs its sign. */
static bool parse_lowest(struct parser *parser, size_t offset)
{
    const struct shmt_value lowest = {.type = SHMT_VALUE_INT, .i = INT64_MIN};

    if (!next(parser))
        return false;
    if (is(parser, "**"))
        return REFUSE(parser, "the integer is beyond 64 bits");
    return shmt_expr_build_constant(&parser->build, lowest, offset);
}

static bool parse_unary(struct parser *parser)
{
    const size_t offset = parser->scan.start;
    const bool minus = is(parser, "-");

    if (!minus && !is(parser, "+"))
        return parse_power(parser);
    if (!enter(parser))
        return false;
    if (minus && parser->scan.token == SHMT_EXPR_TOKEN_NUMBER &&
        parser->scan.lowest) {
        parser->nesting--;
        return parse_lowest(parser, offset);
    }
    if (!parse_unary(parser))
        return false;
    parser->nesting--;
    return make(parser, minus ? SHMT_OP_NEG : SHMT_OP_POS, 1, offset);
}

static enum shmt_op sign_among(const struct parser *parser,
                               enum shmt_op from, enum shmt_op to)
{
    if (parser->scan.token != SHMT_EXPR_TOKEN_SIGN)
        return SHMT_OP_COUNT;
    for (enum shmt_op op = from; op <= to; op++)
        if (is(parser, shmt_arith_spelling(op)))
            return op;
    return SHMT_OP_COUNT;
}

static bool parse_product(struct parser *parser)
{
    enum shmt_op op;
    size_t offset;

    if (!parse_unary(parser))
        return false;
    while ((op = sign_among(parser, SHMT_OP_MUL, SHMT_OP_MOD)) !=
           SHMT_OP_COUNT) {
        offset = parser->scan.start;
        if (!next(parser) || !parse_unary(parser) ||
            !make(parser, op, 2, offset))
            return false;
    }
    return true;
}

static bool parse_sum(struct parser *parser)
{
    enum shmt_op op;
    size_t offset;

    if (!parse_product(parser))
        return false;
    while ((op = sign_among(parser, SHMT_OP_ADD, SHMT_OP_SUB)) !=
           SHMT_OP_COUNT) {
        offset = parser->scan.start;
        if (!next(parser) || !parse_product(parser) ||
            !make(parser, op, 2, offset))
            return false;
    }
    return true;
}

/* `in` or `not in`, and a list in brackets, or in parentheses with a
 * comma; what is sought is on the stack. */
static bool parse_in(struct parser *parser)
{
    const size_t offset = parser->scan.start;
    const enum shmt_op op =
        is(parser, "not") ? SHMT_OP_NOT_IN : SHMT_OP_IN;
    size_t count = 0;
    bool tuple;

    if ((op == SHMT_OP_NOT_IN && !next(parser)) || !expect(parser, "in"))
        return false;
    tuple = is(parser, "(");
    if (!tuple && !is(parser, "["))
        return REFUSE(parser, "expected a list such as [1, 2] behind '%s'",
                      shmt_arith_spelling(op));
    if (!enter(parser))
        return false;
    if (tuple && !is(parser, ")")) {
        if (!parse_conditional(parser))
            return false;
        if (!is(parser, ","))
            return REFUSE(parser, "a list of one value in parentheses needs "
                                  "a comma: (1,)");
        count++;
        if (!next(parser))
            return false;
    }
    if (!parse_list(parser, tuple ? ")" : "]", &count))
        return false;
    parser->nesting--;
    return make(parser, op, 1 + count, offset);
}

/* Links of a chain share operands: the right side of one is pushed again as
 * the left side of the next. */
static bool parse_comparison(struct parser *parser)
{
    struct shmt_expr_build *build = &parser->build;
    const size_t start = parser->scan.start;
    bool list = false, more;
    size_t links = 0, offset;
    uint32_t right = 0;
    enum shmt_op op;

    if (!parse_sum(parser))
        return false;
    for (;; links++) {
        op = sign_among(parser, SHMT_OP_EQ, SHMT_OP_GE);
        more = op != SHMT_OP_COUNT || is(parser, "in") || is(parser, "not");
        if (!more)
            break;
        if (list)
            return REFUSE(parser, "a comparison goes on behind a list");
        if (links > 0 && !shmt_expr_build_push(build, right))
            return false;
        list = op == SHMT_OP_COUNT;
        if (list) {
            if (!parse_in(parser))
                return false;
            continue;
        }
        offset = parser->scan.start;
        if (!next(parser) || !parse_sum(parser))
            return false;
        right = build->stack[build->height - 1];
        if (!make(parser, op, 2, offset))
            return false;
    }
    return links < 2 || make(parser, SHMT_OP_CHAIN, links, start);
}

static bool parse_not(struct parser *parser)
{
    const size_t offset = parser->scan.start;

    if (!is(parser, "not"))
        return parse_comparison(parser);
    if (!enter(parser) || !parse_not(parser))
        return false;
    parser->nesting--;
    return make(parser, SHMT_OP_NOT, 1, offset);
}

/* `or` of `and`s of `not`s. */
static bool parse_logic(struct parser *parser, enum shmt_op op)
{
    const char *const word = shmt_arith_spelling(op);
    size_t count = 0, offset = 0;

    for (;;) {
        if (!(op == SHMT_OP_OR ? parse_logic(parser, SHMT_OP_AND)
                               : parse_not(parser)))
            return false;
        count++;
        if (!is(parser, word))
            return count == 1 || make(parser, op, count, offset);
        offset = parser->scan.start;
        if (!next(parser))
            return false;
    }
}

/* x if condition else y.  The builder expects the condition as the first
 * operand. */
static bool parse_conditional(struct parser *parser)
{
    uint32_t *top;
    uint32_t then;
    size_t offset;

    if (!parse_logic(parser, SHMT_OP_OR))
        return false;
    if (!is(parser, "if"))
        return true;
    offset = parser->scan.start;
    if (!enter(parser) || !parse_logic(parser, SHMT_OP_OR))
        return false;
    top = parser->build.stack + parser->build.height;
    then = top[-2];
    top[-2] = top[-1];
    top[-1] = then;
    if (!expect(parser, "else") || !parse_conditional(parser))
        return false;
    parser->nesting--;
    return make(parser, SHMT_OP_IF, 3, offset);
}

enum shmtune_status shmt_expr_parse(struct shmt_arena *arena,
                                    struct shmt_expr *expr,
                                    struct shmt_error *err)
{
    struct parser parser = {
        .arena = arena, .expr = expr, .err = err,
        .scan = {.text = expr->text},
        .build = {.arena = arena, .expr = expr, .err = err}};
    char room[48];
    bool done;

    done = next(&parser) && parse_conditional(&parser);
    if (done && parser.scan.token != SHMT_EXPR_TOKEN_END)
        done = REFUSE(&parser, "found %s, expected an operator or the end",
                      found(&parser, room));
    if (done)
        done = shmt_expr_build_keep(&parser.build);
    shmt_expr_build_free(&parser.build);
    return done ? SHMTUNE_OK : parser.build.status;
}
