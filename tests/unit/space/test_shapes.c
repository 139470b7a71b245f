/* SPDX-License-Identifier: MIT */
/*
 * space: random spaces of the shapes that building treats apart, each tried
 * configuration by configuration: parameters that differ, divisions by both
 * signs, remainders of sums, truths of words, powers, and the ends of the
 * integers.
 *
 *   test_shapes [ROUNDS [SEED]]
 */
#include "base/text.h"
#include "tests/support/check.h"
#include "tests/support/space_fixture.h"

static size_t rounds = 2000;

#define PICK(list) ((list)[below(sizeof (list) / sizeof *(list))])

static const char *const signs[] = {"<", "<=", ">", ">=", "==", "!="};

static int number(int low, int high)
{
    return low + (int)below((size_t)(high - low) + 1);
}

/* pI, of the space's parameters. */
static int parameter(const struct made *made)
{
    return (int)below(made->scope.count - 1);
}

static void differences(const struct made *made, struct shmt_text *text)
{
    const int p = parameter(made), q = parameter(made);

    switch (below(7)) {
    case 0: shmt_text_addf(text, "p%d - p%d != %d", p, q, number(-2, 2)); break;
    case 1: shmt_text_addf(text, "p%d != p%d + %d", p, q, number(-1, 1)); break;
    case 2: shmt_text_addf(text, "p%d < p%d or p%d != p%d", p, q, q,
                           parameter(made)); break;
    default: shmt_text_addf(text, "p%d != p%d", p, q);
    }
}

static void divisions(const struct made *made, struct shmt_text *text)
{
    static const char *const around[] = {"min", "max"};
    static const char *const forms[] = {"p%d // p%d", "p%d %% p%d",
                                        "ceildiv(p%d, p%d)",
                                        "roundup(p%d, p%d)"};
    char form[40];

    snprintf(form, sizeof form, PICK(forms), parameter(made),
             parameter(made));
    switch (below(4)) {
    case 0: shmt_text_addf(text, "%s %s %d", form, PICK(signs),
                           number(-5, 5)); break;
    case 1: shmt_text_addf(text, "%s(%s, %d) %s %d", PICK(around), form,
                           number(-4, 4), PICK(signs), number(-4, 4)); break;
    case 2: shmt_text_addf(text, "abs(%s) * p%d %s %d", form,
                           parameter(made), PICK(signs), number(-6, 6)); break;
    default: shmt_text_addf(text, "(%s) - p%d %s p%d", form, parameter(made),
                            PICK(signs), parameter(made));
    }
}

static void remainders(const struct made *made, struct shmt_text *text)
{
    if (below(3) == 0) {
        shmt_text_addf(text, "p%d * p%d * p%d * p%d %% %d %s %d",
                       parameter(made), parameter(made), parameter(made),
                       parameter(made), number(2, 7), PICK(signs),
                       number(0, 4));
        return;
    }
    shmt_text_add(text, "(");
    for (int k = number(1, 3); k >= 0; k--)
        shmt_text_addf(text, "p%d * p%d %s ", parameter(made),
                       parameter(made), below(3) == 0 ? "-" : "+");
    shmt_text_addf(text, "p%d * %d) %% %d %s %d", parameter(made),
                   number(-3, 40), number(2, 9), PICK(signs), number(0, 4));
    if (below(2) == 0)
        shmt_text_addf(text, " or p%d + p%d %s p%d * %d", parameter(made),
                       parameter(made), PICK(signs), parameter(made),
                       number(0, 3));
}

static void truths(const struct made *made, struct shmt_text *text)
{
    for (int k = number(0, 3); k >= 0; k--) {
        const int p = parameter(made);

        if (made->symbols[1 + p].type == SHMT_VALUE_WORD)
            shmt_text_addf(text, "p%d %s ['b', '%c']", p,
                           below(2) == 0 ? "in" : "not in",
                           (char)number('a', 'c'));
        else if (below(3) == 0)
            shmt_text_addf(text, "not p%d", p);
        else
            shmt_text_addf(text, "p%d %s %d.5", p, PICK(signs),
                           number(0, 2));
        if (k > 0)
            shmt_text_add(text, below(2) == 0 ? " and " : " or ");
    }
}

static void powers(const struct made *made, struct shmt_text *text)
{
    shmt_text_addf(text, "p%d ** abs(p%d) %s %d", parameter(made),
                   parameter(made), PICK(signs), number(-30, 30));
    if (below(3) == 0)
        shmt_text_addf(text, " and abs(p%d * p%d) %s p%d", parameter(made),
                       parameter(made), PICK(signs), parameter(made));
}

static void ends(const struct made *made, struct shmt_text *text)
{
    static const char *const operators[] = {"+", "-", "*", "//", "%"};

    if (below(3) == 0)
        shmt_text_addf(text, "p%d %s %d or ", parameter(made), PICK(signs),
                       number(-2, 2));
    if (below(5) == 0)
        shmt_text_addf(text, "abs(p%d) ", parameter(made));
    else if (below(2) == 0)
        shmt_text_addf(text, "p%d %s p%d ", parameter(made),
                       PICK(operators), parameter(made));
    else
        shmt_text_addf(text, "(p%d %s p%d) %s p%d ", parameter(made),
                       PICK(operators), parameter(made), PICK(operators),
                       parameter(made));
    shmt_text_addf(text, "%s p%d", PICK(signs), parameter(made));
}

static const struct shape {
    void (*constraint)(const struct made *made, struct shmt_text *text);
    int parameters, constraints;            /* at most */
    const char *domains[6];
} shapes[] = {
    {differences, 5, 9, {"1,2,3,4", "1,2,3,4", "0,1,2,3", "2,3,4,5", "1,2,4",
                         "1,2,3,4"}},
    {divisions, 3, 3, {"-3,-1,1,2", "-4,-3,-2", "2,3,5", "-5,-2,4,7",
                       "-1,1", "-6,0,6"}},
    {remainders, 4, 3, {"1,2,3,4,5", "0,1,2", "-2,-1,3", "4,8,16", "7,11",
                        "1,2"}},
    {truths, 5, 4, {"a,b,c", "0,1,2,3", "b,d", "0.0,1.5,2.0", "0,1", "a,c"}},
    {powers, 3, 2, {"-3,-2,-1", "0,1,2", "-2,0,3", "2,3,4,5", "-1,1", "0"}},
    {ends, 3, 2, {"-9223372036854775807,-1,1", "0,9223372036854775807",
                  "-4611686018427387904,2", "1,2,4611686018427387904",
                  "-3,-1,2", "-3,3"}},
};

static void show(const struct made *made)
{
    for (size_t p = 0; p < made->definition.parameter_count; p++)
        for (size_t k = 0; k < made->parameters[p].count; k++) {
            const struct shmt_value v = made->parameters[p].values[k];

            if (v.type == SHMT_VALUE_WORD)
                printf("# p%zu=%s\n", p, v.w);
            else
                printf("# p%zu=%.17g\n", p,
                       v.type == SHMT_VALUE_INT ? (double)v.i : v.r);
        }
    for (size_t c = 0; c < made->definition.constraint_count; c++)
        printf("# %s\n", shmt_expr_text(made->constraints[c]));
}

static void spaces_of_a_shape_agree(const struct shape *shape)
{
    static struct made made;
    struct shmt_text text = {0};
    size_t faults = 0;

    for (size_t round = 0; round < rounds && !check_failed; round++) {
        begin(&made);
        for (int p = number(2, shape->parameters) - 1, k = 0; p >= 0;
             p--, k++) {
            shmt_text_clear(&text);
            shmt_text_addf(&text, "p%d=%s", k, PICK(shape->domains));
            add_parameter(&made, shmt_text_string(&text));
        }
        for (int c = number(1, shape->constraints); c > 0; c--) {
            shmt_text_clear(&text);
            shape->constraint(&made, &text);
            CHECK(add_constraint(&made, shmt_text_string(&text)));
        }
        CHECK(agrees(&made));
        faults += err.text[0] != '\0';
        if (check_failed)
            show(&made);
    }
    shmt_text_free(&text);
    printf("# %zu spaces, %zu with a constraint without a value\n", rounds,
           faults);
    CHECK(faults <= rounds * 2 / 3);
}

static void differences_agree(void) { spaces_of_a_shape_agree(&shapes[0]); }
static void divisions_agree(void) { spaces_of_a_shape_agree(&shapes[1]); }
static void remainders_agree(void) { spaces_of_a_shape_agree(&shapes[2]); }
static void truths_agree(void) { spaces_of_a_shape_agree(&shapes[3]); }
static void powers_agree(void) { spaces_of_a_shape_agree(&shapes[4]); }
static void ends_agree(void) { spaces_of_a_shape_agree(&shapes[5]); }

int main(int argc, char **argv)
{
    arena = shmt_arena_new();
    if (argc > 1)
        rounds = strtoull(argv[1], NULL, 10);
    if (argc > 2)
        random_state = strtoull(argv[2], NULL, 10);
    CHECK_RUN(differences_agree);
    CHECK_RUN(divisions_agree);
    CHECK_RUN(remainders_agree);
    CHECK_RUN(truths_agree);
    CHECK_RUN(powers_agree);
    CHECK_RUN(ends_agree);
    shmt_arena_free(arena);
    return CHECK_END();
}
