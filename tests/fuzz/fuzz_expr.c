/* SPDX-License-Identifier: MIT */
/*
 * Any text: an expression that is evaluated, in a space too, or a refusal
 * with its place.  The first line is the expression, others too.
 */
#include "fuzz.h"

#include <string.h>

#include "expr/expr.h"
#include "space/space.h"

const char fuzz_name[] = "expr";

static const struct shmt_value xs[] = {
    {.type = SHMT_VALUE_INT, .i = 0}, {.type = SHMT_VALUE_INT, .i = 3},
    {.type = SHMT_VALUE_INT, .i = -7},
    {.type = SHMT_VALUE_INT, .i = INT64_MAX}};
static const struct shmt_value ys[] = {
    {.type = SHMT_VALUE_INT, .i = 2}, {.type = SHMT_VALUE_INT, .i = 4}};
static const struct shmt_value rs[] = {
    {.type = SHMT_VALUE_REAL, .r = 0.5}, {.type = SHMT_VALUE_REAL, .r = -3.0},
    {.type = SHMT_VALUE_REAL, .r = 1e300}};
static const struct shmt_value words[] = {
    {.type = SHMT_VALUE_WORD, .w = "static"},
    {.type = SHMT_VALUE_WORD, .w = "dynamic"}};
static const struct shmt_parameter parameters[] = {
    {.name = "x", .type = SHMT_VALUE_INT, .count = 4, .values = xs},
    {.name = "y", .type = SHMT_VALUE_INT, .count = 2, .values = ys},
    {.name = "r", .type = SHMT_VALUE_REAL, .count = 3, .values = rs},
    {.name = "mode", .type = SHMT_VALUE_WORD, .count = 2, .values = words}};
static const struct shmt_expr_symbol symbols[] = {
    {"x", SHMT_VALUE_INT}, {"y", SHMT_VALUE_INT}, {"r", SHMT_VALUE_REAL},
    {"mode", SHMT_VALUE_WORD}};
static const struct shmt_expr_scope scope = {.count = 4, .symbols = symbols};

/* The space of one constraint is what trying every configuration finds. */
static void check_space(struct shmt_expr *expr)
{
    struct shmt_expr *const list[] = {expr};
    const struct shmt_space_definition definition = {
        .parameter_count = 4, .parameters = parameters,
        .constraint_count = 1, .constraints = list};
    struct shmt_space *space = NULL;
    struct shmt_error err = {0};
    uint64_t held = 0, index;
    bool fault = false;
    enum shmtune_status status = shmt_space_build(&definition, &space, &err);

    for (int k = 0; k < 4 * 2 * 3 * 2; k++) {
        const shmt_config config[4] = {
            (shmt_config)(k % 4), (shmt_config)(k / 4 % 2),
            (shmt_config)(k / 8 % 3), (shmt_config)(k / 24)};
        const struct shmt_value values[4] = {
            xs[config[0]], ys[config[1]], rs[config[2]], words[config[3]]};
        bool truth = false;

        if (shmt_expr_eval_bool(expr, values, &truth, &err) != SHMTUNE_OK) {
            fault = true;
            continue;
        }
        held += truth;
        if (status == SHMTUNE_OK)
            FUZZ_HOLDS(shmt_space_index(space, config, &index) == truth);
    }
    FUZZ_HOLDS(status == (fault ? SHMTUNE_INVALID_FILE : SHMTUNE_OK));
    if (!fault)
        FUZZ_HOLDS(shmt_space_count(space) == held);
    shmt_space_free(space);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct shmt_place place = {"fuzz", 1, 1, 0};
    struct shmt_arena *arena = shmt_arena_new();
    struct shmt_error err = {0};
    struct shmt_expr *expr = NULL;
    char *text;
    enum shmtune_status status;

    FUZZ_HOLDS(arena != NULL);
    /* Of just its size, so that a sanitizer sees a read past its end. */
    text = malloc(size + 1);
    FUZZ_HOLDS(text != NULL);
    memcpy(text, data, size);
    text[size] = '\0';
    status = shmt_expr_compile(arena, place, text, &scope, &expr, &err);
    if (status == SHMTUNE_OK) {
        check_space(expr);
    } else {
        FUZZ_HOLDS(status == SHMTUNE_INVALID_FILE);
        FUZZ_HOLDS(strncmp(err.text, "fuzz:1:", 7) == 0);
    }
    shmt_arena_free(arena);
    free(text);
    return 0;
}
