/* SPDX-License-Identifier: MIT */
/*
 * parse: from text to tree, by recursive descent with Python's
 * precedence.  Nodes are checked, typed, and computed where they are constant;
 * those that are finished stand on a stack.  Every parse_* function leaves one
 * node there.  Called by expr.c alone.
 */
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "expr/tree.h"

struct parser {
    struct shmt_arena *arena;
    struct shmt_expr *expr;
    struct shmt_error *err;
    struct shmt_expr_scan scan;
    int nesting;
    struct shmt_expr_node *nodes;
    size_t node_count, node_room;
    size_t weight;
    uint32_t *kids;
    size_t kid_count, kid_room;
    uint32_t *stack;            /* of finished nodes */
    size_t height, stack_room;
    enum shmtune_status status; /* the first failure */
};

static bool parse_conditional(struct parser *parser);
static bool parse_unary(struct parser *parser);

/* All functions here are false after `status` was set. */
#define REFUSE_AT(parser, offset, ...)                                       \
    ((parser)->status = shmt_expr_refuse((parser)->expr, offset,             \
                                         (parser)->err, __VA_ARGS__),        \
     false)
#define REFUSE(parser, ...)                                                  \
    REFUSE_AT(parser, (parser)->scan.start, __VA_ARGS__)

static bool no_memory(struct parser *parser)
{
    parser->status = shmt_error_memory(parser->err);
    return false;
}

static bool push(struct parser *parser, uint32_t node)
{
    if (!shmt_array_reserve(&parser->stack, &parser->stack_room,
                            parser->height + 1, sizeof *parser->stack))
        return no_memory(parser);
    parser->stack[parser->height++] = node;
    return true;
}

/* Adds a node that counts as `weight` nodes: a mention of a derived name
 * counts as the nodes of its tree. */
static bool add(struct parser *parser, struct shmt_expr_node node,
                size_t weight)
{
    if (weight > SHMT_EXPR_NODES - parser->weight)
        return REFUSE_AT(parser, node.offset,
                         "more than %d operators and operands",
                         SHMT_EXPR_NODES);
    parser->weight += weight;
    if (!shmt_array_reserve(&parser->nodes, &parser->node_room,
                            parser->node_count + 1, sizeof *parser->nodes))
        return no_memory(parser);
    parser->nodes[parser->node_count] = node;
    return push(parser, (uint32_t)parser->node_count++);
}

static bool add_constant(struct parser *parser, struct shmt_value value,
                         size_t offset)
{
    return add(parser, (struct shmt_expr_node){
        .op = SHMT_OP_CONST, .types = (uint8_t)(1 << value.type),
        .depth = 1, .offset = (uint32_t)offset, .constant = value}, 1);
}

static bool add_symbol(struct parser *parser, size_t symbol, size_t offset)
{
    const enum shmt_value_type type = parser->expr->scope.symbols[symbol].type;

    parser->expr->used[symbol / 64] |= UINT64_C(1) << symbol % 64;
    return add(parser, (struct shmt_expr_node){
        .op = SHMT_OP_SYMBOL, .types = (uint8_t)(1 << type), .depth = 1,
        .offset = (uint32_t)offset, .symbol = symbol,
        .name = parser->expr->text + offset}, 1);
}

/* A mention of the scope's k-th derived name. */
static bool add_derived(struct parser *parser, size_t k, size_t offset)
{
    const struct shmt_expr *derived = parser->expr->derived[k].expr;
    struct shmt_expr_node node = derived->nodes[derived->root];
    const bool leaf = node.op == SHMT_OP_CONST || node.op == SHMT_OP_SYMBOL;

    for (size_t n = 0; n < derived->symbol_count / 64 + 1; n++)
        parser->expr->used[n] |= derived->used[n];
    if (!leaf)
        node = (struct shmt_expr_node){.op = SHMT_EXPR_NODE_DERIVED,
                                       .types = node.types,
                                       .depth = node.depth, .derived = k};
    node.offset = (uint32_t)offset;
    return add(parser, node, leaf ? 1 : derived->weight);
}

/* A power of two integers is real when the exponent is negative. */
static uint8_t types_of_power(const struct shmt_expr_node *base,
                              const struct shmt_expr_node *exponent)
{
    if (base->types != SHMT_EXPR_INT || exponent->types != SHMT_EXPR_INT)
        return base->types == SHMT_EXPR_REAL ||
                       exponent->types == SHMT_EXPR_REAL
                   ? SHMT_EXPR_REAL : SHMT_EXPR_NUMBER;
    if (exponent->op != SHMT_OP_CONST)
        return SHMT_EXPR_NUMBER;
    return exponent->constant.i < 0 ? SHMT_EXPR_REAL : SHMT_EXPR_INT;
}

/* The types of op's values, from its operands'. */
static uint8_t types_of(const struct shmt_expr_node *nodes, enum shmt_op op,
                        const uint32_t *kids, size_t count)
{
    bool real = false;
    uint8_t any = 0;

    for (size_t k = op == SHMT_OP_IF ? 1 : 0; k < count; k++) {
        any |= nodes[kids[k]].types;
        real |= nodes[kids[k]].types == SHMT_EXPR_REAL;
    }
    switch (op) {
    case SHMT_OP_AND: case SHMT_OP_OR: case SHMT_OP_IF:
    case SHMT_OP_MIN: case SHMT_OP_MAX:
        return any;
    case SHMT_OP_DIV: case SHMT_OP_FLOAT:
        return SHMT_EXPR_REAL;
    case SHMT_OP_POW:
        return types_of_power(&nodes[kids[0]], &nodes[kids[1]]);
    case SHMT_OP_ADD: case SHMT_OP_SUB: case SHMT_OP_MUL:
    case SHMT_OP_FLOOR: case SHMT_OP_MOD: case SHMT_OP_CEILDIV:
    case SHMT_OP_ROUNDUP:
        return real ? SHMT_EXPR_REAL : any & SHMT_EXPR_NUMBER;
    case SHMT_OP_NEG: case SHMT_OP_POS: case SHMT_OP_ABS:
        return any & SHMT_EXPR_NUMBER;
    default:
        return SHMT_EXPR_INT;
    }
}

/* Refuse operands that can only be words where numbers are needed. */
static bool check_types(struct parser *parser,
                        const struct shmt_expr_node *node,
                        const uint32_t *kids)
{
    const enum shmt_op op = node->op;
    const bool arithmetic =
        (op >= SHMT_OP_ADD && op <= SHMT_OP_POW) ||
        (op >= SHMT_OP_CEILDIV && op <= SHMT_OP_FLOAT);
    const bool order = op >= SHMT_OP_LT && op <= SHMT_OP_MAX;
    bool words = false, numbers = false;

    for (size_t k = 0; k < node->count; k++) {
        words |= parser->nodes[kids[k]].types == SHMT_EXPR_WORD;
        numbers |= (parser->nodes[kids[k]].types & SHMT_EXPR_WORD) == 0;
    }
    if (arithmetic && words)
        return REFUSE_AT(parser, node->offset,
                         "'%s' has a word for an operand, expected a number",
                         shmt_arith_spelling(op));
    if (order && words && numbers)
        return REFUSE_AT(parser, node->offset,
                         "'%s' of a word and a number, which have no order",
                         shmt_arith_spelling(op));
    return true;
}

/* Compute what has constant operands; false when it has not, or no value. */
static bool fold(const struct shmt_expr_node *nodes,
                 const struct shmt_expr_node *node, const uint32_t *kids,
                 struct shmt_value *out)
{
    const enum shmt_op op = node->op;
    struct shmt_value value;

    for (size_t k = 0; k < node->count; k++)
        if (nodes[kids[k]].op != SHMT_OP_CONST)
            return false;
    if (op >= SHMT_OP_NEG && op <= SHMT_OP_NOT)
        return shmt_arith_unary(op, &nodes[kids[0]].constant, out) ==
               SHMT_ARITH_FAULT_NONE;
    if (op < SHMT_OP_ADD || op > SHMT_OP_ROUNDUP)
        return false;
    value = nodes[kids[0]].constant;
    for (size_t k = 1; k < node->count; k++)
        if (shmt_arith_binary(op, &value, &nodes[kids[k]].constant,
                              &value) != SHMT_ARITH_FAULT_NONE)
            return false;
    *out = value;
    return true;
}

/* The `count` uppermost nodes become op's operands. */
static bool add_node(struct parser *parser, enum shmt_op op, size_t count,
                     size_t offset)
{
    const uint32_t *kids = parser->stack + parser->height - count;
    struct shmt_expr_node node = {.op = (uint8_t)op,
                                  .offset = (uint32_t)offset,
                                  .count = (uint32_t)count};
    struct shmt_value value;

    if (!check_types(parser, &node, kids))
        return false;
    parser->height -= count;
    if (fold(parser->nodes, &node, kids, &value))
        return add_constant(parser, value, offset);
    node.types = types_of(parser->nodes, op, kids, count);
    for (size_t k = 0; k < count; k++)
        if (parser->nodes[kids[k]].depth > node.depth)
            node.depth = parser->nodes[kids[k]].depth;
    if (++node.depth > SHMT_EXPR_DEPTH)
        return REFUSE_AT(parser, offset,
                         "more than %d operators one in another",
                         SHMT_EXPR_DEPTH);
    node.first = (uint32_t)parser->kid_count;
    if (!shmt_array_reserve(&parser->kids, &parser->kid_room,
                            parser->kid_count + count, sizeof *parser->kids))
        return no_memory(parser);
    for (size_t k = 0; k < count; k++)
        parser->kids[parser->kid_count++] = kids[k];
    return add(parser, node, 1);
}

/* The one node on the stack is the root; moves the tree into the arena. */
static bool keep_tree(struct parser *parser)
{
    struct shmt_expr *expr = parser->expr;

    expr->nodes = shmt_arena_copy(parser->arena, parser->nodes,
                                  parser->node_count * sizeof *expr->nodes);
    expr->kids = shmt_arena_copy(parser->arena, parser->kids,
                                 parser->kid_count * sizeof *expr->kids);
    expr->node_count = parser->node_count;
    expr->weight = parser->weight;
    expr->root = parser->stack[0];
    return (expr->nodes != NULL && expr->kids != NULL) || no_memory(parser);
}

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
    parser->status = shmt_expr_refuse(
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
    return add_node(parser, function->op, count, offset);
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
               add_constant(parser, value, offset);
    }
    if (is_reserved(parser))
        return REFUSE(parser, "found %s, expected a value",
                      found(parser, room));
    for (size_t k = 0; k < scope->count; k++)
        if (is(parser, scope->symbols[k].name))
            return next(parser) &&
                   add_symbol(parser, k, offset);
    for (size_t k = 0; k < scope->derived_count; k++)
        if (is(parser, scope->derived[k].name))
            return next(parser) &&
                   add_derived(parser, k, offset);
    rest += strspn(rest, " \t");
    if (*rest != '(')
        return refuse_name(parser);
    for (size_t k = 0; k < sizeof functions / sizeof functions[0]; k++)
        if (is(parser, functions[k].name))
            return parse_call(parser, &functions[k]);
    return REFUSE(parser, "unknown function %s; known are min, max, abs, "
                          "ceildiv, roundup, int, float%s",
                  found(parser, room),
                  is(parser, "pow") || is(parser, "sqrt")
                      ? "; write '**' for a power or a root"
                  : is(parser, "log2")
                      ? "; compare x with 2 ** n instead of log2(x) with n"
                  : is(parser, "ceil")
                      ? "; write ceildiv(a, b) for a quotient rounded up"
                  : is(parser, "floor")
                      ? "; write a // b for a quotient rounded down" : "");
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
        if (value.w == NULL)
            return no_memory(parser);
    } else if (scan->lowest) {
        return REFUSE(parser, "the integer is beyond 64 bits");
    }
    return next(parser) &&
           add_constant(parser, value, offset);
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
    return add_node(parser, SHMT_OP_POW, 2, offset);
}

/* -9223372036854775808, the one integer that needs its sign. */
static bool parse_lowest(struct parser *parser, size_t offset)
{
    const struct shmt_value lowest = {.type = SHMT_VALUE_INT, .i = INT64_MIN};

    if (!next(parser))
        return false;
    if (is(parser, "**"))
        return REFUSE(parser, "the integer is beyond 64 bits");
    return add_constant(parser, lowest, offset);
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
    return add_node(parser, minus ? SHMT_OP_NEG : SHMT_OP_POS, 1, offset);
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

/* Operators of one precedence, `from` to `to`, with what `operand` parses
 * between them. */
static bool parse_binary(struct parser *parser, enum shmt_op from,
                         enum shmt_op to, bool (*operand)(struct parser *))
{
    enum shmt_op op;
    size_t offset;

    if (!operand(parser))
        return false;
    while ((op = sign_among(parser, from, to)) != SHMT_OP_COUNT) {
        offset = parser->scan.start;
        if (!next(parser) || !operand(parser) ||
            !add_node(parser, op, 2, offset))
            return false;
    }
    return true;
}

static bool parse_product(struct parser *parser)
{
    return parse_binary(parser, SHMT_OP_MUL, SHMT_OP_MOD, parse_unary);
}

static bool parse_sum(struct parser *parser)
{
    return parse_binary(parser, SHMT_OP_ADD, SHMT_OP_SUB, parse_product);
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
    return add_node(parser, op, 1 + count, offset);
}

/* Links of a chain share operands: the right side of one is pushed again as
 * the left side of the next. */
static bool parse_comparison(struct parser *parser)
{
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
        if (links > 0 && !push(parser, right))
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
        right = parser->stack[parser->height - 1];
        if (!add_node(parser, op, 2, offset))
            return false;
    }
    return links < 2 || add_node(parser, SHMT_OP_CHAIN, links, start);
}

static bool parse_not(struct parser *parser)
{
    const size_t offset = parser->scan.start;

    if (!is(parser, "not"))
        return parse_comparison(parser);
    if (!enter(parser) || !parse_not(parser))
        return false;
    parser->nesting--;
    return add_node(parser, SHMT_OP_NOT, 1, offset);
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
            return count == 1 || add_node(parser, op, count, offset);
        offset = parser->scan.start;
        if (!next(parser))
            return false;
    }
}

/* x if condition else y.  The node has the condition as its first operand. */
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
    top = parser->stack + parser->height;
    then = top[-2];
    top[-2] = top[-1];
    top[-1] = then;
    if (!expect(parser, "else") || !parse_conditional(parser))
        return false;
    parser->nesting--;
    return add_node(parser, SHMT_OP_IF, 3, offset);
}

enum shmtune_status shmt_expr_parse(struct shmt_arena *arena,
                                    struct shmt_expr *expr,
                                    struct shmt_error *err)
{
    struct parser parser = {
        .arena = arena, .expr = expr, .err = err,
        .scan = {.text = expr->text}};
    char room[48];
    bool done;

    done = next(&parser) && parse_conditional(&parser);
    if (done && parser.scan.token != SHMT_EXPR_TOKEN_END)
        done = REFUSE(&parser, "found %s, expected an operator or the end",
                      found(&parser, room));
    if (done)
        done = keep_tree(&parser);
    free(parser.nodes);
    free(parser.kids);
    free(parser.stack);
    return done ? SHMTUNE_OK : parser.status;
}
