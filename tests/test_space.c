/* SPDX-License-Identifier: MIT */
/*
 * space: diagrams hold exactly the configurations that satisfy the
 * constraints, as found by trying every one.
 */
#include <time.h>

#include "check.h"
#include "core/space.h"
#include "core/text.h"

static struct shmt_arena *arena;
static struct shmt_error err;

static uint64_t random_state = 20261121;

static uint64_t random_next(void)
{
    uint64_t z = random_state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static size_t below(size_t bound)
{
    return (size_t)(random_next() % bound);
}

/* -- making spaces ----------------------------------------------------- */

/* A space as text: parameters "x=1,2,3", constraints; `n` is fixed. */
struct made {
    struct shmt_space_definition definition;
    struct shmt_parameter parameters[SHMT_SPACE_PARAMETERS];
    struct shmt_symbol symbols[SHMT_SPACE_PARAMETERS + 1];
    struct shmt_value fixed;
    struct shmt_scope scope;
    struct shmt_expr *constraints[64];
};

static void add_parameter(struct made *made, const char *text)
{
    const char *equals = strchr(text, '=');
    struct shmt_parameter *p =
        &made->parameters[made->definition.parameter_count++];
    struct shmt_value *values =
        shmt_arena_alloc(arena, strlen(text), sizeof *values);
    const char *at = equals + 1;

    p->name = shmt_arena_copy(arena, text, (size_t)(equals - text));
    p->values = values;
    p->ordered = true;
    while (*at != '\0') {
        const size_t length = strcspn(at, ",");
        char *item = shmt_arena_copy(arena, at, length);
        struct shmt_value *value = &values[p->count++];

        if (strpbrk(item, "0123456789") == NULL)
            *value = (struct shmt_value){.type = SHMT_WORD, .w = item};
        else if (strchr(item, '.') != NULL)
            *value = (struct shmt_value){.type = SHMT_REAL,
                                         .r = strtod(item, NULL)};
        else
            *value = (struct shmt_value){.type = SHMT_INT,
                                         .i = strtoll(item, NULL, 10)};
        p->type = value->type;
        p->ordered = value->type != SHMT_WORD;
        at += length + (at[length] == ',');
    }
    made->symbols[made->scope.count].name = p->name;
    made->symbols[made->scope.count++].type = p->type;
}

/* p0, p1, ... with the same values. */
static void add_alike(struct made *made, int count, const char *values)
{
    struct shmt_text text = {0};

    for (int p = 0; p < count; p++) {
        shmt_text_clear(&text);
        shmt_text_addf(&text, "p%d=%s", p, values);
        add_parameter(made, shmt_text_string(&text));
    }
    shmt_text_free(&text);
}

static void begin(struct made *made)
{
    *made = (struct made){.fixed = {.type = SHMT_INT, .i = 24}};
    made->definition.parameters = made->parameters;
    made->definition.constraints = made->constraints;
    made->definition.fixed_count = 1;
    made->definition.fixed = &made->fixed;
    made->symbols[0] = (struct shmt_symbol){"n", SHMT_INT};
    made->scope = (struct shmt_scope){1, made->symbols};
}

static bool add_constraint(struct made *made, const char *text)
{
    const struct shmt_place place = {
        "space.yaml", (int)made->definition.constraint_count + 1, 3};

    if (shmt_expr_compile(arena, place, text, &made->scope,
                          &made->constraints[made->definition
                                                 .constraint_count],
                          &err) != SHMTUNE_OK)
        return false;
    made->definition.constraint_count++;
    return true;
}

/* Parameters, NULL, constraints, NULL. */
static void make(struct made *made, const char *const *texts)
{
    begin(made);
    for (; *texts != NULL; texts++)
        add_parameter(made, *texts);
    for (texts++; *texts != NULL; texts++)
        if (!add_constraint(made, *texts)) {
            CHECK(!"constraint compiles");
            printf("# %s\n", err.text);
        }
}

/* -- trying every configuration ----------------------------------------- */

struct brute {
    uint64_t count;
    bool fault;            /* a constraint without a value, none false */
    shmt_choice *valid;    /* [count * parameters] */
    size_t room;
};

static int judge(const struct made *made, const shmt_choice *choice)
{
    const struct shmt_space_definition *d = &made->definition;
    struct shmt_value values[SHMT_SPACE_PARAMETERS + 1];
    bool fault = false, truth;

    values[0] = made->fixed;
    for (size_t p = 0; p < d->parameter_count; p++)
        values[1 + p] = d->parameters[p].values[choice[p]];
    for (size_t c = 0; c < d->constraint_count; c++) {
        if (shmt_expr_eval_bool(d->constraints[c], values, &truth, NULL) !=
            SHMTUNE_OK)
            fault = true;
        else if (!truth)
            return 0;
    }
    return fault ? -1 : 1;
}

static bool advance(const struct made *made, shmt_choice *choice)
{
    for (size_t p = made->definition.parameter_count; p-- > 0;) {
        if (++choice[p] < made->definition.parameters[p].count)
            return true;
        choice[p] = 0;
    }
    return false;
}

static void try_all(const struct made *made, struct brute *brute)
{
    const size_t width = made->definition.parameter_count;
    shmt_choice choice[SHMT_SPACE_PARAMETERS] = {0};

    do {
        const int verdict = judge(made, choice);

        brute->fault |= verdict < 0;
        if (verdict <= 0)
            continue;
        if (brute->count == brute->room) {
            brute->room = 2 * brute->room + 64;
            brute->valid = realloc(brute->valid, brute->room * width *
                                                     sizeof *brute->valid);
        }
        memcpy(brute->valid + brute->count++ * width, choice,
               width * sizeof *choice);
    } while (advance(made, choice));
}

static bool is_neighbour(const struct made *made, const shmt_choice *a,
                         const shmt_choice *b)
{
    size_t different = 0;

    for (size_t p = 0; p < made->definition.parameter_count; p++)
        different += a[p] != b[p];
    return different == 1;
}

/* The one parameter that differs is unordered, or no valid value of it lies
 * between. */
static bool is_step(const struct made *made, const struct shmt_space *space,
                    const shmt_choice *a, const shmt_choice *b)
{
    shmt_choice between[SHMT_SPACE_PARAMETERS];
    size_t p = 0;
    uint64_t index;

    while (a[p] == b[p])
        p++;
    if (!made->definition.parameters[p].ordered)
        return true;
    memcpy(between, a, sizeof between);
    for (shmt_choice v = (a[p] < b[p] ? a[p] : b[p]) + 1;
         v < (a[p] < b[p] ? b[p] : a[p]); v++) {
        between[p] = v;
        if (shmt_space_index(space, between, &index))
            return false;
    }
    return true;
}

static bool check_neighbours(const struct made *made,
                             const struct shmt_space *space,
                             const struct brute *brute, size_t at)
{
    const size_t width = made->definition.parameter_count;
    shmt_choice choice[SHMT_SPACE_PARAMETERS], other[SHMT_SPACE_PARAMETERS];
    uint64_t index, out[4096];
    size_t any = 0, steps = 0, count;

    memcpy(choice, brute->valid + at * width, width * sizeof *choice);
    for (size_t k = 0; k < brute->count; k++)
        if (is_neighbour(made, choice, brute->valid + k * width)) {
            memcpy(other, brute->valid + k * width, width * sizeof *other);
            any++;
            steps += is_step(made, space, choice, other);
        }
    shmt_space_index(space, choice, &index);
    count = shmt_space_neighbours(space, index, SHMT_NEIGHBOUR_ANY, out,
                                  4096);
    if (count != any)
        return false;
    for (size_t k = 0; k < count; k++) {
        shmt_space_configuration(space, out[k], other);
        if (!is_neighbour(made, choice, other))
            return false;
        for (size_t j = 0; j < k; j++)
            if (out[j] == out[k])
                return false;
    }
    count = shmt_space_neighbours(space, index, SHMT_NEIGHBOUR_STEP, out,
                                  4096);
    for (size_t k = 0; k < count; k++) {
        shmt_space_configuration(space, out[k], other);
        if (!is_neighbour(made, choice, other) ||
            !is_step(made, space, choice, other))
            return false;
    }
    return count == steps;
}

/* A space made of the list of its configurations is the same set. */
static bool check_list(const struct made *made, const struct brute *brute)
{
    const size_t width = made->definition.parameter_count;
    const shmt_choice **list =
        malloc((2 * (size_t)brute->count + 1) * sizeof *list);
    shmt_choice choice[SHMT_SPACE_PARAMETERS];
    struct shmt_space *space;
    uint64_t index;
    bool same;

    for (size_t k = 0; k < brute->count; k++) {
        const size_t other = below(k + 1);

        list[k] = list[other];
        list[other] = brute->valid + k * width;
        list[(size_t)brute->count + k] = brute->valid + below(k + 1) * width;
    }
    same = shmt_space_of(&made->definition, list, 2 * (size_t)brute->count,
                         &space, &err) == SHMTUNE_OK &&
           shmt_space_count(space) == brute->count;
    for (size_t k = 0; same && k < brute->count; k++) {
        /* In declared order of parameters, hence in that of trying. */
        shmt_space_configuration(space, k, choice);
        same = memcmp(choice, brute->valid + k * width,
                      width * sizeof *choice) == 0 &&
               shmt_space_index(space, choice, &index) && index == k;
    }
    shmt_space_free(space);
    free(list);
    return same;
}

/* Any stretch of the enumeration is what the indices say. */
static bool check_stretch(const struct made *made,
                          const struct shmt_space *space)
{
    const size_t width = made->definition.parameter_count;
    const size_t count = (size_t)shmt_space_count(space);
    const size_t first = below(count), length = 1 + below(count - first);
    shmt_choice choice[SHMT_SPACE_PARAMETERS];
    shmt_choice *list = malloc(length * width * sizeof *list);
    bool same = true;

    shmt_space_list(space, first, length, list);
    for (size_t k = 0; k < length && same; k++) {
        shmt_space_configuration(space, first + k, choice);
        same = memcmp(choice, list + k * width, width * sizeof *choice) == 0;
    }
    free(list);
    return same;
}

/* Everything the space says of itself, against every configuration. */
static bool agrees(const struct made *made)
{
    const size_t width = made->definition.parameter_count;
    struct brute brute = {0};
    struct shmt_space *space = NULL;
    shmt_choice choice[SHMT_SPACE_PARAMETERS];
    uint64_t index, *seen = NULL;
    enum shmtune_status status;
    bool same;

    try_all(made, &brute);
    err.text[0] = '\0';
    status = shmt_space_build(&made->definition, &space, &err);
    same = brute.fault ? status == SHMTUNE_INVALID_FILE
                       : status == SHMTUNE_OK &&
                             shmt_space_count(space) == brute.count;
    if (!same)
        printf("# status %d count %llu; expected %s %llu: %s\n", status,
               space == NULL ? 0ull
                             : (unsigned long long)shmt_space_count(space),
               brute.fault ? "fault" : "count",
               (unsigned long long)brute.count, err.text);
    if (same && !brute.fault) {
        seen = calloc((size_t)brute.count + 1, sizeof *seen);
        for (size_t k = 0; k < brute.count && same; k++) {
            same = shmt_space_index(space, brute.valid + k * width,
                                    &index) &&
                   index < brute.count && seen[index]++ == 0;
            if (!same)
                break;
            shmt_space_configuration(space, index, choice);
            same = memcmp(choice, brute.valid + k * width,
                          width * sizeof *choice) == 0 &&
                   shmt_space_nearest(space, choice) == index;
        }
        for (int k = 0; k < 20 && same; k++) {
            for (size_t p = 0; p < width; p++)
                choice[p] =
                    (shmt_choice)below(made->definition.parameters[p].count);
            same = shmt_space_index(space, choice, &index) ==
                   (judge(made, choice) == 1);
            if (same && brute.count > 0)
                same = shmt_space_nearest(space, choice) < brute.count;
        }
        same = same && check_list(made, &brute) &&
               (brute.count == 0 || check_stretch(made, space));
        for (int k = 0; k < 3 && same && brute.count > 0; k++)
            same = check_neighbours(made, space, &brute,
                                    below((size_t)brute.count));
    }
    free(seen);
    free(brute.valid);
    shmt_space_free(space);
    return same;
}

/* -- random spaces ------------------------------------------------------- */

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

            if (made->symbols[p].type == SHMT_WORD && below(8) != 0)
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

                if (v.type == SHMT_INT)
                    printf(" %lld", (long long)v.i);
                else if (v.type == SHMT_REAL)
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

/* -- chosen spaces -------------------------------------------------------- */

#define TEXTS(...) ((const char *const[]){__VA_ARGS__, NULL})

static void chosen_spaces_agree(void)
{
    const char *const *const spaces[] = {
        TEXTS("x=0,1,2,3", "y=0,5,6", NULL, "x != 0 and y % x == 0"),
        TEXTS("x=0,1,2,3", "y=0,5,6", NULL, "x == 0 or y % x == 0"),
        TEXTS("x=0,1,2,3", "y=0,5,6", NULL, "y % x == 0", "x > 0"),
        TEXTS("x=0,1,2,3", "y=0,5,6", NULL, "y % x == 0"),
        TEXTS("x=0,1,2,3", "y=0,5,6", NULL, "y % x == 0 and x > 0"),
        TEXTS("a=1,2,4,8", "b=1,2,4,8", "c=1,2,4,8", NULL,
              "8 <= a * b * c <= 64", "a * b * c * 4 <= 128"),
        TEXTS("a=1,2,3", "b=4,5", NULL, "a in [1, 3] and b not in (5,)"),
        TEXTS("m=static,dynamic", "t=8,16,32", "p=0,1", NULL,
              "m == 'dynamic' or t * (t + p) * 4 <= 2048"),
        TEXTS("a=9223372036854775807,1", "b=1,2", NULL, "a * b > 0"),
        TEXTS("a=9223372036854775807,1", "b=1,2", NULL,
              "b == 1 or a * b > 0", "a + b < 4"),
        TEXTS("a=1.5,2.5", "b=1,2,3", NULL, "a * b == 3"),
        TEXTS("a=1,2,3,4", "b=0,1,2", NULL, "2 ** (a - b) >= 2"),
        TEXTS("a=1,2,3,4", "b=0,1,2", NULL, "a or 'word'", "a - b"),
        TEXTS("a=1,2,3", NULL, "a < 0"),
        TEXTS("a=1,2,3", NULL, "n % 0 == 1"),
        TEXTS("a=1,2,3", NULL, "n % 0 == 1", "a > 5"),
        TEXTS("a=5", "b=6", NULL, "a < b"),
        TEXTS("a=5", "b=6", NULL, "a > b"),
        TEXTS("a=5", "b=6", NULL, "a % (b - 6) == 1"),
        TEXTS("a=0,1,2,3,4,5", "b=0,1,2,3,4,5", "c=0,1,2,3,4,5", NULL,
              "min(a, b, c) + max(a, b, c) == 5", "abs(a - b) <= 2"),
        TEXTS("a=1,2,3,4", "b=1,2,3,4", NULL,
              "(a if a > b else b) * 2 <= n - a"),
        TEXTS("a=-4,-2,1,3", "b=-3,2,4", "c=1,2", NULL,
              "a // b + a % b >= -2 * c", "a * b * c < 12"),
        TEXTS("a=1,2,3,4", "b=1,2,3,4", "c=1,2,3,4", "d=1,2,3,4", NULL,
              "a != b", "c != a", "a != d", "b != c and d != b", "c != d"),
        TEXTS("a=1,2,3,4", "b=1,2,3,4", "c=1,2,3,4", "d=1,2,3,4,5", NULL,
              "a != b and a != c and b != c", "d != a", "d != b", "c < d"),
        TEXTS("a=1,2,3,4", "b=2,3,4,5", "c=1,2,3,4", "d=1,2,3,4", NULL,
              "a != b + 1", "a != c", "b != c", "d != a", "d != b + 1",
              "d != c or a == 2"),
    };
    static struct made made;

    for (size_t k = 0; k < sizeof spaces / sizeof spaces[0]; k++) {
        make(&made, spaces[k]);
        CHECK(agrees(&made));
        if (check_failed)
            printf("# space %zu\n", k);
    }
}

static void faults_name_a_configuration(void)
{
    static struct made made;
    struct shmt_space *space;

    make(&made, TEXTS("x=0,1,2", "y=5,6", NULL, "y < 6", "y % x == 0"));
    CHECK_INT(shmt_space_build(&made.definition, &space, &err),
              SHMTUNE_INVALID_FILE);
    CHECK_HAS(err.text, "space.yaml:2:5: division by zero");
    CHECK_HAS(err.text, "y = 5, x = 0");
}

static void large_spaces_stay_small(void)
{
    static struct made made;
    struct shmt_space *space;
    shmt_choice choice[SHMT_SPACE_PARAMETERS];
    uint64_t index = 0;
    const clock_t start = clock();

    begin(&made);
    add_alike(&made, 20, "1,2,3,4,5,6,7,8");
    add_constraint(&made, "p0 + p1 + p2 + p3 + p4 + p5 + p6 <= 24");
    add_constraint(&made, "p7 * p8 * p9 <= 64 and p7 % p19 == 0");
    CHECK_INT(shmt_space_build(&made.definition, &space, &err), SHMTUNE_OK);
    CHECK(shmt_space_count(space) > UINT64_C(1) << 50);
    CHECK(shmt_space_bytes(space) < 100000);
    for (int k = 0; k < 1000; k++) {
        const uint64_t wanted = random_next() % shmt_space_count(space);

        shmt_space_configuration(space, wanted, choice);
        CHECK(shmt_space_index(space, choice, &index) && index == wanted);
        CHECK(judge(&made, choice) == 1);
    }
    shmt_space_free(space);
    CHECK((double)(clock() - start) / CLOCKS_PER_SEC < 1.0);
}

static void too_large_spaces_are_refused(void)
{
    static struct made made;
    struct shmt_space *space;
    uint64_t count;
    bool exact;

    begin(&made);
    add_alike(&made, 64, "1,2,3,4,5,6,7,8");
    CHECK_INT(shmt_space_build(&made.definition, &space, &err),
              SHMTUNE_INVALID_FILE);
    CHECK_HAS(err.text, "2^64 - 1 configurations or more");
    CHECK_INT(shmt_space_funnel(&made.definition, 0, &count, &exact, &err),
              SHMTUNE_OK);
    CHECK(count == UINT64_MAX && exact);
    add_constraint(&made, "p0 == p1");
    CHECK_INT(shmt_space_funnel(&made.definition, 1, &count, &exact, &err),
              SHMTUNE_OK);
    CHECK(count == UINT64_MAX && exact);
}

static void few_of_many_are_found(void)
{
    static struct made made;
    struct shmt_space *space;
    const clock_t start = clock();

    begin(&made);
    add_alike(&made, 10, "0,1,2,3,4,5,6,7,8,9");
    add_constraint(&made, "p0 + p1 + p2 + p3 + p4 + p5 + p6 + p7 + p8 + p9 "
                          ">= 89");
    CHECK_INT(shmt_space_build(&made.definition, &space, &err), SHMTUNE_OK);
    CHECK_INT(shmt_space_count(space), 11);
    shmt_space_free(space);
    CHECK((double)(clock() - start) / CLOCKS_PER_SEC < 1.0);
}

/* Not one state for each order in which the values are taken. */
static void parameters_that_all_differ_are_few_states(void)
{
    static struct made made;
    struct shmt_space *space;
    struct shmt_text text = {0};
    const clock_t start = clock();

    begin(&made);
    add_alike(&made, 10, "0,1,2,3,4,5,6,7,8,9");
    for (int p = 0; p < 10; p++)
        for (int q = 0; q < p; q++) {
            shmt_text_clear(&text);
            shmt_text_addf(&text, "p%d != p%d", p, q);
            add_constraint(&made, shmt_text_string(&text));
        }
    CHECK_INT(shmt_space_build(&made.definition, &space, &err), SHMTUNE_OK);
    CHECK_INT(shmt_space_count(space), 3628800);
    CHECK(shmt_space_bytes(space) < 200000);
    shmt_space_free(space);
    CHECK((double)(clock() - start) / CLOCKS_PER_SEC < 1.0);
    shmt_text_free(&text);
}

static void the_funnel_counts_prefixes(void)
{
    static struct made made;
    uint64_t count;
    bool exact;
    static const uint64_t expected[] = {64, 32, 8, 8};

    make(&made, TEXTS("a=1,2,3,4", "b=0,1,2,3", "c=1,2,3,4", NULL,
                      "a % 2 == 0", "b != 0 and c % 4 == 0 and b < 2 or "
                      "b == 3 and c == 1 or b == 2 and c < 3",
                      "12 % b == 0"));
    for (size_t k = 0; k < 4; k++) {
        CHECK_INT(shmt_space_funnel(&made.definition, k, &count, &exact,
                                    &err), SHMTUNE_OK);
        CHECK(exact);
        CHECK_INT(count, expected[k]);
    }
}

static void empty_domains_give_empty_spaces(void)
{
    static struct made made;
    struct shmt_space *space;
    shmt_choice choice[2] = {0, 0};
    uint64_t index;

    make(&made, TEXTS("a=1,2,3", "b=4", NULL, "a > b"));
    CHECK_INT(shmt_space_build(&made.definition, &space, &err), SHMTUNE_OK);
    CHECK_INT(shmt_space_count(space), 0);
    CHECK(!shmt_space_index(space, choice, &index));
    shmt_space_free(space);
    made.parameters[0].count = 0;
    CHECK_INT(shmt_space_build(&made.definition, &space, &err), SHMTUNE_OK);
    CHECK_INT(shmt_space_count(space), 0);
    CHECK(!shmt_space_index(space, choice, &index));
    shmt_space_free(space);
}

int main(int argc, char **argv)
{
    arena = shmt_arena_new();
    if (argc > 1)
        random_rounds = strtoull(argv[1], NULL, 10);
    if (argc > 2)
        random_state = strtoull(argv[2], NULL, 10);
    CHECK_RUN(chosen_spaces_agree);
    CHECK_RUN(random_spaces_agree_with_trying_all);
    CHECK_RUN(faults_name_a_configuration);
    CHECK_RUN(large_spaces_stay_small);
    CHECK_RUN(too_large_spaces_are_refused);
    CHECK_RUN(few_of_many_are_found);
    CHECK_RUN(parameters_that_all_differ_are_few_states);
    CHECK_RUN(the_funnel_counts_prefixes);
    CHECK_RUN(empty_domains_give_empty_spaces);
    shmt_arena_free(arena);
    return CHECK_END();
}
