/* SPDX-License-Identifier: MIT */
/* The tree of a dispatch and its estimates, in the form that a selection walks,
 * choose as the record says, also where numbers end at INT64_MAX. */
#include "shmtune.h"

#include "record/record.h"
#include "tests/support/catalogue_fixture.h"
#include "tests/support/check.h"

enum {
    DIMENSIONS = 5, CONFIGS = 5, FEATURES = 64, TERMS = 64, DEPTH = 6,
    NODES = 2 * (1 << DEPTH) - 1, RANKS = (1 << DEPTH) * CONFIGS,
    DISPATCHES = 200, PROBLEMS = 300
};

static const char *const names[DIMENSIONS] = {"wide", "rows", "deep", "cols",
                                              "high"};
static const int64_t blocks[CONFIGS] = {32, 64, 128, 256, 1024};
static const char *root;
static struct shmtune_device device;
static struct shmt_random draw;
static size_t various;            /* of 12 units */

/* All that a dispatch points to; its dimensions are in another order than the
 * kernel's. */
static struct {
    struct shmt_dispatch dispatch;
    struct shmt_setting settings[CONFIGS][3];
    const struct shmt_setting *configs[CONFIGS];
    struct shmt_dispatch_feature features[FEATURES];
    struct shmt_dispatch_node nodes[NODES];
    uint16_t ranks[RANKS], factors[RANKS];
    struct shmt_dispatch_term terms[TERMS];
    struct shmt_dispatch_estimate estimates[CONFIGS];
} made;

static size_t below(size_t bound)
{
    return (size_t)shmt_random_below(&draw, bound);
}

/* Less than 2^bits, small as often as large. */
static int64_t number(size_t bits)
{
    return (int64_t)(shmt_random_next(&draw) >> (64 - below(bits) - 1));
}

static void draw_units(int64_t *units, size_t one_in)
{
    static const int64_t some[] = {1, 1, 2, 32, 96, 1000, INT32_MAX};

    for (size_t d = 0; d < DIMENSIONS; d++) {
        units[d] = below(12) < various ? 1 + number(20) : some[below(7)];
        units[d] = below(one_in) == 0 ? units[d] : 0;
    }
}

static void draw_problem(int64_t *problem)
{
    for (size_t d = 0; d < DIMENSIONS; d++) {
        const int64_t least = made.dispatch.least[d];
        const int64_t most = made.dispatch.most[d];
        const int64_t size = least + number(42);

        problem[d] = size <= most ? size : most - (int64_t)below(2);
        problem[d] = problem[d] < least ? least : problem[d];
    }
}

static void draw_tree(size_t depth)
{
    struct shmt_dispatch *const out = &made.dispatch;
    struct shmt_dispatch_node *const node = &made.nodes[out->node_count++];
    int64_t problem[DIMENSIONS];

    if (depth == DEPTH || below(8) == 0) {
        *node = (struct shmt_dispatch_node){
            .feature = SHMT_DISPATCH_LEAF,
            .other = (uint16_t)(1 + below(CONFIGS)),
            .rank = (uint16_t)out->rank_count};
        for (size_t r = 0, first = below(CONFIGS); r < node->other; r++) {
            made.ranks[out->rank_count] = (uint16_t)((first + r) % CONFIGS);
            made.factors[out->rank_count++] = (uint16_t)(1000 + below(300));
        }
        return;
    }
    draw_problem(problem);
    node->feature = (uint16_t)below(FEATURES);
    node->below = shmt_dispatch_value(&made.features[node->feature], problem,
                                      DIMENSIONS);
    node->below += below(2) == 0 && node->below < INT64_MAX;
    if (below(8) == 0)
        node->below = INT64_C(1) << 62;
    draw_tree(depth + 1);
    node->other = (uint16_t)out->node_count;
    draw_tree(depth + 1);
}

static void draw_estimates(void)
{
    for (size_t k = 0; k < TERMS; k++) {
        struct shmt_dispatch_term *const term = &made.terms[k];

        draw_units(term->of, 3);
        term->of[k % DIMENSIONS] = 1;
        term->rounds = below(2) == 0 ? 2 + (int64_t)below(600) : 0;
        for (size_t d = 0; d < DIMENSIONS; d++)
            term->by[d] = below(4) == 0;
    }
    for (size_t k = 0; k < CONFIGS; k++) {
        struct shmt_dispatch_estimate *const one = &made.estimates[k];

        one->start = number(40);
        one->count = below(SHMT_DISPATCH_TERMS_OF_ONE + 1);
        for (size_t t = 0; t < one->count; t++) {
            one->terms[t] = (uint16_t)below(TERMS);
            one->each[t] = number(24);
        }
    }
}

/* Half of them have sizes of which every product is a number, and some more
 * units than a tree has room for. */
static void draw_dispatch(size_t k)
{
    struct shmt_dispatch *const out = &made.dispatch;
    const size_t bits = k % 2 == 0 ? 12 : 40;

    memset(&made, 0, sizeof made);
    various = k % 12;
    out->dimension_count = DIMENSIONS;
    for (size_t d = 0; d < DIMENSIONS; d++) {
        out->names[d] = names[d];
        out->least[d] = (int64_t)below(3);
        out->most[d] = out->least[d] + 1 + number(bits);
    }
    out->config_count = CONFIGS;
    out->setting_count = 3;
    for (size_t c = 0; c < CONFIGS; c++) {
        struct shmt_setting *const settings = made.settings[c];

        settings[0].name = "BLOCK";
        settings[0].value.i = blocks[c];
        settings[1].name = "SHARED_KIB";
        settings[0].value.type = settings[1].value.type = SHMT_VALUE_INT;
        settings[2].name = "MEMORY";
        settings[2].value.type = SHMT_VALUE_WORD;
        settings[2].value.w = "dynamic";
        made.configs[c] = settings;
    }
    for (size_t f = 0; f < FEATURES; f++) {
        draw_units(made.features[f].of, 1 + f % 4);
        draw_units(made.features[f].per, f % 3 == 0 ? 4 : SIZE_MAX);
        made.features[f].of[f % DIMENSIONS] = 1;
        made.features[f].modulo = f % 4 == 0 ? 2 + number(24) : 0;
    }
    out->configs = made.configs;
    out->feature_count = FEATURES;
    out->features = made.features;
    out->nodes = made.nodes;
    out->ranks = made.ranks;
    draw_tree(0);
    if (k % 4 > 1)
        return;
    draw_estimates();
    out->term_count = TERMS;
    out->terms = made.terms;
    out->estimates = made.estimates;
    out->factors = made.factors;
}

/* As record/dispatch.h says it. */
static int64_t best_block(const int64_t *problem)
{
    const struct shmt_dispatch *const from = &made.dispatch;
    const struct shmt_dispatch_node *const leaf =
        shmt_dispatch_walk(from, problem);
    int64_t sums[CONFIGS] = {0}, least = INT64_MAX, best_score = INT64_MAX;
    size_t best = 0;

    for (size_t r = 0; r < leaf->other && from->estimates != NULL; r++) {
        const struct shmt_dispatch_estimate *const one =
            &from->estimates[from->ranks[leaf->rank + r]];

        sums[r] = one->start;
        for (size_t t = 0; t < one->count; t++)
            sums[r] = shmt_dispatch_add(
                sums[r], one->each[t],
                shmt_dispatch_term_value(&from->terms[one->terms[t]], problem,
                                         DIMENSIONS));
        least = sums[r] < least ? sums[r] : least;
    }
    for (size_t r = 0; r < leaf->other && from->estimates != NULL; r++) {
        const int64_t score = shmt_dispatch_score(
            sums[r], least, from->factors[leaf->rank + r]);

        if (score < best_score) {
            best_score = score;
            best = r;
        }
    }
    return blocks[from->ranks[leaf->rank + best]];
}

/* Writes a tuning with the dispatch. */
static void write_tuning(void)
{
    static const struct fixture_tuned tuned = {.rows = 1, .cols = 1,
                                               .block = 32, .time_us = 10};
    char *const text = fixture_tuning(&device, &tuned, 1);
    struct shmt_setting sizes[DIMENSIONS];
    struct shmt_tuning *tuning = NULL;
    struct shmt_error err = {.text = ""};
    struct shmt_text whole = {0};

    shmt_tuning_parse("t.yaml", text, strlen(text), &tuning, &err);
    CHECK_TEXT(err.text, "");
    if (tuning == NULL)
        exit(EXIT_FAILURE);
    for (size_t d = 0; d < DIMENSIONS; d++)
        sizes[d] = (struct shmt_setting){
            .name = names[d], .value = {.type = SHMT_VALUE_INT, .i = 1}};
    tuning->tuned[0]->size = sizes;
    tuning->tuned[0]->size_count = DIMENSIONS;
    tuning->dispatch = &made.dispatch;
    shmt_tuning_format(tuning, &whole);
    fixture_put_text("tunings/toy/h100.yaml", shmt_text_string(&whole));
    shmt_text_free(&whole);
    shmt_tuning_free(tuning);
    free(text);
}

/* The place of a dimension among the kernel's. */
static size_t place_of(const struct shmtune_kernel *kernel, size_t d)
{
    size_t k = 0;
    struct shmtune_dimension about = SHMTUNE_DIMENSION_INIT;

    while (shmtune_dimension_at(kernel, k, &about) == SHMTUNE_OK &&
           strcmp(about.name, names[d]) != 0)
        k++;
    return k;
}

static int64_t chosen_block(const struct shmtune_kernel *kernel,
                            const int64_t *problem)
{
    struct shmtune_choice choice = SHMTUNE_CHOICE_INIT;
    struct shmtune_value value = SHMTUNE_VALUE_INIT;
    int64_t sizes[DIMENSIONS];

    for (size_t d = 0; d < DIMENSIONS; d++)
        sizes[place_of(kernel, d)] = problem[d];
    if (shmtune_select(kernel, &device, sizes, &choice) != SHMTUNE_OK ||
        choice.match != SHMTUNE_LEARNT ||
        shmtune_choice_value(&choice, "BLOCK", &value) != SHMTUNE_OK)
        return -1;
    return (int64_t)value.number;
}

static void a_choice_is_what_the_record_says(void)
{
    long looked = 0, wrong = 0;

    for (size_t k = 0; k < DISPATCHES; k++) {
        struct shmtune *library = NULL;
        const struct shmtune_kernel *toy;

        draw_dispatch(k);
        write_tuning();
        CHECK_INT(shmtune_open(root, &library, NULL), SHMTUNE_OK);
        CHECK_INT((long)shmtune_note_count(library), 0);
        toy = shmtune_kernel_find(library, "toy");
        for (size_t p = 0; p < PROBLEMS; p++) {
            int64_t problem[DIMENSIONS], sum = 0;

            draw_problem(problem);
            for (size_t d = 0; d < DIMENSIONS; d++)
                sum |= problem[d] - 1;
            /* A size may not be 0, and that of 1s has been tuned. */
            if (sum <= 0)
                continue;
            looked++;
            wrong += chosen_block(toy, problem) != best_block(problem);
        }
        shmtune_close(library);
    }
    CHECK_INT(wrong, 0);
    CHECK(looked > DISPATCHES * PROBLEMS / 2);
}

/* One comparison of such a number, with a leaf on either side. */
static void make_comparison(const struct shmt_dispatch_feature *feature,
                            int64_t least, int64_t most)
{
    struct shmt_dispatch *const out = &made.dispatch;

    draw_dispatch(2);               /* without estimates */
    for (size_t d = 0; d < DIMENSIONS; d++) {
        out->least[d] = 1;
        out->most[d] = most;
    }
    made.features[0] = *feature;
    out->feature_count = 1;
    out->node_count = 3;
    out->rank_count = 2;
    made.nodes[0] = (struct shmt_dispatch_node){.below = least, .other = 2};
    for (size_t k = 0; k < 2; k++) {
        made.ranks[k] = (uint16_t)k;
        made.nodes[1 + k] = (struct shmt_dispatch_node){
            .feature = SHMT_DISPATCH_LEAF, .other = 1, .rank = (uint16_t)k};
    }
}

/* Where a product with the upper half of an inverse is not the quotient any
 * more, and where `below` times the divisor is no number. */
static void what_is_not_proven_is_computed(void)
{
    enum { WIDE, ROWS, DEEP, COLS };
    static const struct {
        struct shmt_dispatch_feature feature;
        int64_t below, most, problem[DIMENSIONS];
    } cases[] = {
        {{.of = {[ROWS] = 1500000001}, .modulo = 2}, 1, INT64_C(1) << 40,
         {1, INT64_C(1099500000734), 1, 1, 1}},
        {{.of = {[ROWS] = 1, [COLS] = 1}, .per = {[DEEP] = 1}}, INT64_MAX,
         INT64_C(1) << 31, {1, INT64_C(1) << 31, 4, INT64_C(1) << 31, 1}},
    };

    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct shmtune *library = NULL;

        make_comparison(&cases[k].feature, cases[k].below, cases[k].most);
        write_tuning();
        CHECK_INT(shmtune_open(root, &library, NULL), SHMTUNE_OK);
        CHECK_INT((long)shmtune_note_count(library), 0);
        CHECK_INT((long)chosen_block(shmtune_kernel_find(library, "toy"),
                                     cases[k].problem),
                  (long)best_block(cases[k].problem));
        shmtune_close(library);
    }
}

int main(void)
{
    root = fixture_begin();
    device = fixture_device();
    shmt_random_seed(&draw, 1);
    fixture_edit("kernels/toy.yaml",
                 "  rows: {default: 1024, min: 1, max: 1000000}\n"
                 "  cols: {default: 1024, min: 1, max: 1000000}\n",
                 "  rows: {default: 1, min: 1, max: 1099511627776}\n"
                 "  cols: {default: 1, min: 1, max: 1099511627776}\n"
                 "  high: {default: 1, min: 1, max: 1099511627776}\n"
                 "  wide: {default: 1, min: 1, max: 1099511627776}\n"
                 "  deep: {default: 1, min: 1, max: 1099511627776}\n");
    fixture_edit("kernels/toy.yaml", "max(cols, 32)", "1024");
    fixture_edit("kernels/toy.yaml", "\"ceildiv(rows * cols, BLOCK)\"", "1");
    CHECK_RUN(a_choice_is_what_the_record_says);
    CHECK_RUN(what_is_not_proven_is_computed);
    fixture_end();
    return CHECK_END();
}
