/* SPDX-License-Identifier: MIT */
/*
 * expr: compile and evaluate.  Evaluation allocates nothing.  Operators on two
 * integers are computed here; all others call expr/arith.c.
 */
#include "expr/expr.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "expr/tree.h"

/* What follows the file, if there is one: ":line:column", or what is known of
 * it. */
static void put_place(struct shmt_place place, size_t offset, char *out,
                      size_t room)
{
    const int column =
        place.column + (place.inside < 0 ? 0 : place.inside + (int)offset);

    if (place.line <= 0)
        snprintf(out, room, "%scharacter %zu",
                 place.file == NULL ? "" : ": ", offset + 1);
    else
        snprintf(out, room, ":%d:%d", place.line, column);
}

/* The text, or what surrounds `offset` when it is long. */
static void put_excerpt(const struct shmt_expr *expr, size_t offset,
                        char out[128])
{
    const size_t most = 96, length = strlen(expr->text);
    size_t from = 0;

    if (length > most && offset > most / 2)
        from = offset - most / 2;
    while (from > 0 && ((unsigned char)expr->text[from] & 0xc0) == 0x80)
        from--;
    snprintf(out, 128, "%s%.*s%s", from > 0 ? "..." : "", (int)most,
             expr->text + from, length - from > most ? "..." : "");
    for (char *at = out; *at != '\0'; at++)
        if ((unsigned char)*at < 0x20)
            *at = ' ';
}

enum shmtune_status shmt_expr_refuse(const struct shmt_expr *expr,
                                     size_t offset, struct shmt_error *err,
                                     const char *format, ...)
{
    char message[512], place[64], excerpt[128];
    va_list arguments;

    if (err == NULL)
        return SHMTUNE_INVALID_FILE;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    put_place(expr->place, offset, place, sizeof place);
    put_excerpt(expr, offset, excerpt);
    return shmt_error_set(err, SHMTUNE_INVALID_FILE, "%s%s: %s; in `%s`",
                          expr->place.file == NULL ? "" : expr->place.file,
                          place, message, excerpt);
}

static enum shmtune_status take_text(struct shmt_arena *arena,
                                     const char *text,
                                     struct shmt_expr *expr, char **own,
                                     struct shmt_error *err)
{
    const size_t length = strnlen(text, SHMT_EXPR_TEXT + 1);

    if (length > SHMT_EXPR_TEXT) {
        expr->text = "";
        return shmt_expr_refuse(expr, 0, err,
                                "an expression of more than %d characters",
                                SHMT_EXPR_TEXT);
    }
    expr->text = *own = shmt_arena_copy(arena, text, length);
    if (expr->text == NULL)
        return shmt_error_memory(err);
    return SHMTUNE_OK;
}

/* For messages: a text of several lines has a blank for the end of each. */
static void join_lines(char *text)
{
    size_t length = strlen(text);

    while (length > 0 && strchr(" \t\n", text[length - 1]) != NULL)
        text[--length] = '\0';
    for (; *text != '\0'; text++)
        if (*text == '\n')
            *text = ' ';
}

enum shmtune_status shmt_expr_compile(struct shmt_arena *arena,
                                      struct shmt_place place,
                                      const char *text,
                                      const struct shmt_expr_scope *scope,
                                      struct shmt_expr **out,
                                      struct shmt_error *err)
{
    struct shmt_expr *expr = shmt_arena_alloc(arena, 1, sizeof *expr);
    enum shmtune_status status;
    char *own = NULL;

    if (expr == NULL)
        return shmt_error_memory(err);
    expr->place = place;
    if (place.file != NULL) {
        expr->place.file =
            shmt_arena_copy(arena, place.file, strlen(place.file));
        if (expr->place.file == NULL)
            return shmt_error_memory(err);
    }
    if (scope->count > SHMT_EXPR_INDEX)
        return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                              "a scope of %zu names, at most %d",
                              scope->count, SHMT_EXPR_INDEX);
    if (scope->derived_count > SHMT_EXPR_DERIVED)
        return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                              "a scope of %zu derived names, at most %d",
                              scope->derived_count, SHMT_EXPR_DERIVED);
    expr->scope = *scope;
    expr->derived = scope->derived;
    expr->symbol_count = scope->count;
    expr->used = shmt_arena_alloc(arena, scope->count / 64 + 1,
                                  sizeof *expr->used);
    if (expr->used == NULL)
        return shmt_error_memory(err);
    status = take_text(arena, text, expr, &own, err);
    if (status == SHMTUNE_OK)
        status = shmt_expr_parse(arena, expr, err);
    if (status == SHMTUNE_OK)
        status = shmt_expr_compile_tree(arena, expr, err);
    if (status != SHMTUNE_OK)
        return status;
    join_lines(own);
    expr->scope = (struct shmt_expr_scope){0};
    *out = expr;
    return SHMTUNE_OK;
}

static inline bool truth(const struct shmt_value *value)
{
    return value->type == SHMT_VALUE_INT ? value->i != 0 :
        shmt_arith_truth(value);
}

static inline void set_int(struct shmt_value *out, int64_t i)
{
    out->type = SHMT_VALUE_INT;
    out->i = i;
}

/* Whether two words are the same. */
static inline bool fast_word_step(uint8_t op, const struct shmt_value *a,
                                  const struct shmt_value *b,
                                  struct shmt_value *out)
{
    if ((a->type & b->type & SHMT_VALUE_WORD) == 0 ||
        (op != SHMT_OP_EQ && op != SHMT_OP_NE))
        return false;
    set_int(out, (op == SHMT_OP_EQ) == shmt_text_equal(a->w, b->w));
    return true;
}

/* Computes an operator on two integers, or compares words.  Returns false when
 * it needs arith.c. */
static inline bool fast_step(uint8_t op, const struct shmt_value *a,
                             const struct shmt_value *b,
                             struct shmt_value *out)
{
    int64_t result;

    if ((a->type | b->type) != SHMT_VALUE_INT)
        return fast_word_step(op, a, b, out);
    switch (op) {
    case SHMT_OP_ADD:
        if (__builtin_add_overflow(a->i, b->i, &result))
            return false;
        break;
    case SHMT_OP_SUB:
        if (__builtin_sub_overflow(a->i, b->i, &result))
            return false;
        break;
    case SHMT_OP_MUL:
        if (__builtin_mul_overflow(a->i, b->i, &result))
            return false;
        break;
    case SHMT_OP_FLOOR:
        if (a->i < 0 || b->i <= 0)
            return false;
        result = a->i / b->i;
        break;
    case SHMT_OP_MOD:
        if (a->i < 0 || b->i <= 0)
            return false;
        result = a->i % b->i;
        break;
    case SHMT_OP_CEILDIV:
        if (a->i < 0 || b->i <= 0)
            return false;
        result = a->i / b->i + (a->i % b->i != 0);
        break;
    case SHMT_OP_MIN: result = b->i < a->i ? b->i : a->i; break;
    case SHMT_OP_MAX: result = b->i > a->i ? b->i : a->i; break;
    case SHMT_OP_EQ: result = a->i == b->i; break;
    case SHMT_OP_NE: result = a->i != b->i; break;
    case SHMT_OP_LT: result = a->i < b->i; break;
    case SHMT_OP_LE: result = a->i <= b->i; break;
    case SHMT_OP_GT: result = a->i > b->i; break;
    case SHMT_OP_GE: result = a->i >= b->i; break;
    default:
        return false;
    }
    set_int(out, result);
    return true;
}

static enum shmt_arith_fault
derived_value(const struct shmt_expr *expr, size_t derived,
              struct shmt_expr_evaluation *evaluation,
              struct shmt_value *registers);

/* An operator, or the value of a derived name. */
static inline enum shmt_arith_fault
compute(const struct shmt_expr *expr, const struct shmt_expr_step *step,
        struct shmt_expr_evaluation *evaluation, const struct shmt_value *a,
        struct shmt_value *to)
{
    return step->op == SHMT_EXPR_STEP_DERIVED
               ? derived_value(expr, step->b, evaluation, to)
               : shmt_arith_unary(step->op, a, to);
}

/* The value, or a fault.  Registers from `registers` on are free. */
static enum shmt_arith_fault run(const struct shmt_expr *expr,
                                 struct shmt_expr_evaluation *evaluation,
                                 struct shmt_value *registers,
                                 struct shmt_value *out)
{
    const struct shmt_value *const bases[4] = {
        registers, expr->constants, evaluation->values,
        evaluation->derived};
    const struct shmt_expr_step *step = expr->steps;
    enum shmt_arith_fault fault = SHMT_ARITH_FAULT_NONE;

    for (;;) {
        const struct shmt_value *const a = bases[step->a_kind] + step->a;
        struct shmt_value *const to = &registers[step->to];

        if (step->op < SHMT_OP_NEG) {
            const struct shmt_value *const b = bases[step->b_kind] + step->b;

            if (!fast_step(step->op, a, b, to))
                fault = shmt_arith_binary(step->op, a, b, to);
        } else {
            switch (step->op) {
            case SHMT_EXPR_STEP_END:
                evaluation->steps += (size_t)(step - expr->steps) + 1;
                *out = *a;
                return SHMT_ARITH_FAULT_NONE;
            case SHMT_EXPR_STEP_MOVE:
                *to = *a;
                break;
            case SHMT_EXPR_STEP_FALSE:
                set_int(to, 0);
                break;
            case SHMT_EXPR_STEP_JUMP:
                step = expr->steps + step->b;
                continue;
            case SHMT_EXPR_STEP_JUMP_FALSE:
            case SHMT_EXPR_STEP_JUMP_TRUE:
                if (truth(a) == (step->op == SHMT_EXPR_STEP_JUMP_TRUE)) {
                    step = expr->steps + step->b;
                    continue;
                }
                break;
            default:
                fault = compute(expr, step, evaluation, a, to);
            }
        }
        if (fault != SHMT_ARITH_FAULT_NONE) {
            evaluation->offset = step->offset;
            return fault;
        }
        step++;
    }
}

static enum shmt_arith_fault
derived_value(const struct shmt_expr *expr, size_t derived,
              struct shmt_expr_evaluation *evaluation,
              struct shmt_value *registers)
{
    const uint64_t bit = UINT64_C(1) << derived;
    enum shmt_arith_fault fault = SHMT_ARITH_FAULT_NONE;

    if ((evaluation->known & bit) == 0)
        fault = run(expr->derived[derived].expr, evaluation, registers,
                    &evaluation->derived[derived]);
    if (fault == SHMT_ARITH_FAULT_NONE)
        evaluation->known |= bit;
    return fault;
}

static size_t name_length(const char *name)
{
    return strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                        "0123456789_");
}

void shmt_expr_put_value(struct shmt_value value, char out[SHMT_EXPR_SHOWN])
{
    if (value.type == SHMT_VALUE_INT)
        snprintf(out, SHMT_EXPR_SHOWN, "%" PRId64, value.i);
    else if (value.type == SHMT_VALUE_REAL)
        shmt_text_put_real(value.r, 0, out);
    else
        snprintf(out, SHMT_EXPR_SHOWN, "'%.60s'", value.w);
}

/* The symbols of a message, each once. */
struct naming {
    const struct shmt_value *symbols;
    size_t shown[8];
    size_t count;
    size_t length;
    char *out;
};

static void name_symbol(struct naming *naming,
                        const struct shmt_expr_node *node)
{
    const size_t room = SHMT_EXPR_NAMED - naming->length;
    char value[SHMT_EXPR_SHOWN];

    for (size_t k = 0; k < naming->count; k++)
        if (naming->shown[k] == node->symbol)
            return;
    shmt_expr_put_value(naming->symbols[node->symbol], value);
    naming->length += (size_t)snprintf(
        naming->out + naming->length, room, "%s%.*s = %s",
        naming->count == 0 ? " where " : ", ", (int)name_length(node->name),
        node->name, value);
    naming->shown[naming->count++] = node->symbol;
}

static void name_symbols(struct naming *naming, const struct shmt_expr *expr)
{
    for (size_t n = 0; n < expr->node_count; n++) {
        const struct shmt_expr_node *node = &expr->nodes[n];

        if (naming->count == sizeof naming->shown / sizeof naming->shown[0] ||
            naming->length >= SHMT_EXPR_NAMED)
            return;
        if (node->op == SHMT_OP_SYMBOL)
            name_symbol(naming, node);
        else if (node->op == SHMT_EXPR_NODE_DERIVED)
            name_symbols(naming, expr->derived[node->derived].expr);
    }
}

void shmt_expr_put_values(const struct shmt_expr *expr,
                          const struct shmt_value *symbols,
                          char out[SHMT_EXPR_NAMED])
{
    struct naming naming = {.symbols = symbols, .out = out};

    out[0] = '\0';
    name_symbols(&naming, expr);
}

void shmt_expr_begin(struct shmt_expr_evaluation *evaluation,
                     const struct shmt_value *values)
{
    evaluation->values = values;
    evaluation->known = 0;
    evaluation->steps = 0;
}

enum shmtune_status shmt_expr_next(const struct shmt_expr *expr,
                                   struct shmt_expr_evaluation *evaluation,
                                   struct shmt_value *out,
                                   struct shmt_error *err)
{
    struct shmt_value registers[SHMT_EXPR_REGISTERS];
    const enum shmt_arith_fault fault = run(expr, evaluation, registers, out);
    char named[SHMT_EXPR_NAMED];

    if (fault == SHMT_ARITH_FAULT_NONE)
        return SHMTUNE_OK;
    if (err == NULL)
        return SHMTUNE_INVALID_FILE;
    shmt_expr_put_values(expr, evaluation->values, named);
    return shmt_expr_refuse(expr, evaluation->offset, err, "%s%s",
                            shmt_arith_fault_text(fault), named);
}

/* Whether the text has a '/', which a writer of C may take for integer
 * division. */
static bool divides(const char *text)
{
    const char *at = strchr(text, '/');

    return at != NULL && at[1] != '/';
}

enum shmtune_status shmt_expr_next_int(const struct shmt_expr *expr,
                                       struct shmt_expr_evaluation *evaluation,
                                       int64_t *out, struct shmt_error *err)
{
    struct shmt_value value;
    char named[SHMT_EXPR_NAMED], found[SHMT_EXPR_SHOWN];
    enum shmtune_status status = shmt_expr_next(expr, evaluation, &value,
                                                err);

    if (status != SHMTUNE_OK)
        return status;
    if (value.type == SHMT_VALUE_INT) {
        *out = value.i;
        return SHMTUNE_OK;
    }
    if (value.type == SHMT_VALUE_REAL && value.r >= -0x1p63 &&
        value.r < 0x1p63 && value.r == floor(value.r)) {
        *out = (int64_t)value.r;
        return SHMTUNE_OK;
    }
    shmt_expr_put_value(value, found);
    shmt_expr_put_values(expr, evaluation->values, named);
    return shmt_expr_refuse(expr, 0, err,
                            "the value is %s, expected an integer%s%s", found,
                            divides(expr->text)
                                ? " (a / b is real; a // b rounds down, "
                                  "ceildiv(a, b) up)" : "", named);
}

enum shmtune_status shmt_expr_next_bool(const struct shmt_expr *expr,
                                        struct shmt_expr_evaluation *evaluation,
                                        bool *out, struct shmt_error *err)
{
    struct shmt_value value;
    enum shmtune_status status = shmt_expr_next(expr, evaluation, &value,
                                                err);

    if (status == SHMTUNE_OK)
        *out = truth(&value);
    return status;
}

enum shmtune_status shmt_expr_eval(const struct shmt_expr *expr,
                                   const struct shmt_value *values,
                                   struct shmt_value *out,
                                   struct shmt_error *err)
{
    struct shmt_expr_evaluation evaluation;

    shmt_expr_begin(&evaluation, values);
    return shmt_expr_next(expr, &evaluation, out, err);
}

enum shmtune_status shmt_expr_eval_int(const struct shmt_expr *expr,
                                       const struct shmt_value *values,
                                       int64_t *out, struct shmt_error *err)
{
    struct shmt_expr_evaluation evaluation;

    shmt_expr_begin(&evaluation, values);
    return shmt_expr_next_int(expr, &evaluation, out, err);
}

enum shmtune_status shmt_expr_eval_bool(const struct shmt_expr *expr,
                                        const struct shmt_value *values,
                                        bool *out, struct shmt_error *err)
{
    struct shmt_expr_evaluation evaluation;

    shmt_expr_begin(&evaluation, values);
    return shmt_expr_next_bool(expr, &evaluation, out, err);
}

const char *shmt_expr_text(const struct shmt_expr *expr)
{
    return expr->text;
}

struct shmt_place shmt_expr_place(const struct shmt_expr *expr)
{
    return expr->place;
}

bool shmt_expr_uses(const struct shmt_expr *expr, size_t symbol)
{
    return symbol < expr->symbol_count &&
           (expr->used[symbol / 64] >> symbol % 64 & 1) != 0;
}

struct words {
    const struct shmt_expr *expr;
    void (*take)(void *context, const struct shmt_expr_word *word);
    void *context;
};

static const struct shmt_expr_node *operand_of(
    const struct words *words, const struct shmt_expr_node *node, size_t k)
{
    return &words->expr->nodes[words->expr->kids[node->first + k]];
}

static bool is_word(const struct shmt_expr_node *node)
{
    return node->op == SHMT_OP_CONST && node->types == SHMT_EXPR_WORD;
}

static void take_pair(const struct words *words,
                      const struct shmt_expr_node *a,
                      const struct shmt_expr_node *b)
{
    struct shmt_expr_word word = {.symbol = a->symbol};

    if (a->op != SHMT_OP_SYMBOL)
        return;
    if (is_word(b))
        word.word = b->constant.w;
    else if (a->types == SHMT_EXPR_WORD && (b->types & SHMT_EXPR_WORD) == 0)
        word.use = SHMT_EXPR_WITH_NUMBER;
    else
        return;
    words->take(words->context, &word);
}

static void take_truth(const struct words *words,
                       const struct shmt_expr_node *node)
{
    struct shmt_expr_word word = {.use = SHMT_EXPR_AS_TRUTH};

    if (node->op == SHMT_OP_SYMBOL && node->types == SHMT_EXPR_WORD)
        word.symbol = node->symbol;
    else if (is_word(node) && node->constant.w[0] != '\0')
        word.word = node->constant.w;
    else
        return;
    words->take(words->context, &word);
}

void shmt_expr_words(const struct shmt_expr *expr, bool condition,
                     void (*take)(void *context,
                                  const struct shmt_expr_word *word),
                     void *context)
{
    const struct words words = {expr, take, context};

    for (size_t n = 0; n < expr->node_count; n++) {
        const struct shmt_expr_node *const node = &expr->nodes[n];
        const bool compares = node->op == SHMT_OP_EQ || node->op == SHMT_OP_NE;
        const bool joins = node->op == SHMT_OP_AND || node->op == SHMT_OP_OR;

        for (size_t k = 1; k < node->count &&
                           (compares || node->op == SHMT_OP_IN ||
                            node->op == SHMT_OP_NOT_IN); k++) {
            take_pair(&words, operand_of(&words, node, 0),
                      operand_of(&words, node, k));
            if (compares)
                take_pair(&words, operand_of(&words, node, 1),
                          operand_of(&words, node, 0));
        }
        for (size_t k = 0; k < node->count && joins; k++)
            take_truth(&words, operand_of(&words, node, k));
        if (node->op == SHMT_OP_NOT || node->op == SHMT_OP_IF)
            take_truth(&words, operand_of(&words, node, 0));
    }
    if (condition)
        take_truth(&words, &expr->nodes[expr->root]);
}
