/* SPDX-License-Identifier: MIT */
/*
 * space: random spaces and constraints, each tried configuration by
 * configuration.
 *
 *   test_space_random [ROUNDS [SEED]]
 */
#include "base/text.h"
#include "tests/support/check.h"
#include "tests/support/space_fixture.h"

static const char *const domains[] = {
    "1,2,3", "0,1", "1,2,4,8,16,32", "0,1,2,3,4", "-3,-1,0,2,5",
    "1.0,2.0,0.5", "a,b,static", "16,32,64", "7", "5,3,1", "1,2,3,4,5,6,7",
    "0.25", "10,20,30,40", "2,3,5,7",
};

static void random_number(const struct made *made, struct shmt_text *text,
                          int depth)
{
    static const char *const operators[] = {
        " + ", " - ", " * ", " * ", " // ", " % ", " / ", " ** ", " - "};
    static const char *const functions[] = {
        "min(", "max(", "ceildiv(", "roundup("};
    const size_t kind = below(20);

    if (depth <= 0 || kind < 7) {
        if (below(3) == 0) {
            shmt_text_addf(text, "%zu", below(40));
        } else {
            const size_t p = below(made->scope.count);

            if (made->symbols[p].type == SHMT_VALUE_WORD && below(8) != 0)
                shmt_text_add(text, "n");
            else
                shmt_text_add(text, made->symbols[p].name);
        }
    } else if (kind < 15) {
        const char *op = operators[below(9)];

        shmt_text_add(text, "(");
        random_number(made, text, depth - 1);
        shmt_text_add(text, op);
        if (strcmp(op, " ** ") == 0)
            shmt_text_addf(text, "%zu", below(4));
        else
            random_number(made, text, depth - 1);
        shmt_text_add(text, ")");
    } else if (kind < 17) {
        shmt_text_add(text, functions[below(4)]);
        random_number(made, text, depth - 1);
        shmt_text_add(text, ", ");
        random_number(made, text, depth - 1);
        shmt_text_add(text, ")");
    } else if (kind < 18) {
        shmt_text_add(text, below(2) == 0 ? "abs(" : "-(");
        random_number(made, text, depth - 1);
        shmt_text_add(text, ")");
    } else if (kind < 19) {
        shmt_text_add(text, "(");
        random_number(made, text, depth - 1);
        shmt_text_add(text, " if ");
        random_number(made, text, depth - 1);
        shmt_text_add(text, " > 3 else ");
        random_number(made, text, depth - 1);
        shmt_text_add(text, ")");
    } else {
        shmt_text_add(text, below(2) == 0 ? "int(" : "float(");
        random_number(made, text, depth - 1);
        shmt_text_add(text, ")");
    }
}

static void random_truth(const struct made *made, struct shmt_text *text,
                         int depth)
{
    static const char *const signs[] = {" < ", " <= ", " > ", " >= ",
                                        " == ", " != ", " <= ", " >= "};
    const size_t kind = below(16);

    if (depth <= 0 || kind < 6) {
        random_number(made, text, depth);
        shmt_text_add(text, signs[below(8)]);
        random_number(made, text, depth);
        if (below(5) == 0) {
            shmt_text_add(text, signs[below(8)]);
            random_number(made, text, depth);
        }
    } else if (kind < 8) {
        random_number(made, text, depth - 1);
        shmt_text_add(text, " % ");
        random_number(made, text, depth - 1);
        shmt_text_add(text, " == 0");
    } else if (kind < 13) {
        shmt_text_add(text, "(");
        random_truth(made, text, depth - 1);
        shmt_text_add(text, below(2) == 0 ? " and " : " or ");
        random_truth(made, text, depth - 1);
        shmt_text_add(text, ")");
    } else if (kind < 14) {
        shmt_text_add(text, "not ");
        random_number(made, text, depth - 1);
        shmt_text_add(text, " in [1, 2, n, 3.5, 'a']");
    } else if (kind < 15) {
        const size_t p = below(made->scope.count);

        shmt_text_addf(text, "%s %s 'b'", made->symbols[p].name,
                       below(2) == 0 ? "==" : "!=");
    } else {
        shmt_text_add(text, "(not ");
        random_truth(made, text, depth - 1);
        shmt_text_add(text, ")");
    }
}

static void random_spaces(size_t rounds, size_t *faults)
{
    static struct made made;
    struct shmt_text text = {0};

    for (size_t round = 0; round < rounds && !check_failed; round++) {
        const size_t parameters = 1 + below(6);
        const size_t constraints = below(5);

        begin(&made);
        for (size_t p = 0; p < parameters; p++) {
            shmt_text_clear(&text);
            shmt_text_addf(&text, "p%zu=%s", p, domains[below(14)]);
            add_parameter(&made, shmt_text_string(&text));
        }
        for (size_t c = 0; c < constraints; c++) {
            shmt_text_clear(&text);
            random_truth(&made, &text, (int)below(4));
            add_constraint(&made, shmt_text_string(&text));
        }
        if (agrees(&made)) {
            *faults += err.text[0] != '\0';
            continue;
        }
        CHECK(!"the diagram agrees with trying every configuration");
        for (size_t p = 0; p < parameters; p++) {
            printf("# %s:", made.parameters[p].name);
            for (size_t k = 0; k < made.parameters[p].count; k++) {
                const struct shmt_value v = made.parameters[p].values[k];

                if (v.type == SHMT_VALUE_INT)
                    printf(" %lld", (long long)v.i);
                else if (v.type == SHMT_VALUE_REAL)
                    printf(" %.17g.", v.r);
                else
                    printf(" %s", v.w);
            }
            printf("\n");
        }
        for (size_t c = 0; c < made.definition.constraint_count; c++)
            printf("# %s\n", shmt_expr_text(made.constraints[c]));
    }
    shmt_text_free(&text);
}

static size_t random_rounds = 6000;

static void random_spaces_agree_with_trying_all(void)
{
    size_t faults = 0;

    random_spaces(random_rounds, &faults);
    printf("# %zu random spaces, %zu with a constraint without a value\n",
           random_rounds, faults);
    CHECK(faults > random_rounds / 50);
    CHECK(faults < random_rounds / 2);
}

int main(int argc, char **argv)
{
    arena = shmt_arena_new();
    if (argc > 1)
        random_rounds = strtoull(argv[1], NULL, 10);
    if (argc > 2)
        random_state = strtoull(argv[2], NULL, 10);
    CHECK_RUN(random_spaces_agree_with_trying_all);
    shmt_arena_free(arena);
    return CHECK_END();
}
