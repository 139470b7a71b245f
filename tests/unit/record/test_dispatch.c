/* SPDX-License-Identifier: MIT */
/* dispatch: read, walked, written the same, and refused where it could not be
 * walked. */
#include <stdio.h>

#include "record/record.h"
#include "tests/support/check.h"

enum { ROOM = 1 << 16 };

static char good[ROOM], estimated[ROOM];
static struct shmt_error err;

static struct shmt_tuning *parse(const char *text)
{
    struct shmt_tuning *tuning = NULL;

    err.text[0] = '\0';
    shmt_tuning_parse("t.yaml", text, strlen(text), &tuning, &err);
    return tuning;
}

/* `text` with the first `from` replaced. */
static const char *replaced(const char *text, const char *from,
                            const char *to)
{
    static char out[2 * ROOM];
    const char *const at = strstr(text, from);

    if (at == NULL) {
        printf("# not in the file: %s\n", from);
        exit(EXIT_FAILURE);
    }
    snprintf(out, sizeof out, "%.*s%s%s", (int)(at - text), text, to,
             at + strlen(from));
    return out;
}

static const char *changed(const char *from, const char *to)
{
    return replaced(good, from, to);
}

static void what_is_read_is_written_the_same(void)
{
    struct shmt_tuning *const tuning = parse(good);
    struct shmt_text text = {0};

    CHECK_TEXT(err.text, "");
    if (tuning == NULL)
        return;
    shmt_tuning_format(tuning, &text);
    CHECK_HAS(shmt_text_string(&text), strstr(good, "dispatch:"));
    CHECK_HAS(shmt_text_string(&text), "---\nformat: tuning/2\n");
    tuning->dispatch = NULL;
    shmt_text_clear(&text);
    shmt_tuning_format(tuning, &text);
    CHECK_HAS(shmt_text_string(&text), "---\nformat: tuning/1\n");
    CHECK(strstr(shmt_text_string(&text), "dispatch") == NULL);
    shmt_text_free(&text);
    shmt_tuning_free(tuning);
}

static void estimates_are_written_the_same(void)
{
    struct shmt_tuning *const tuning = parse(estimated);
    struct shmt_text text = {0};

    CHECK_TEXT(err.text, "");
    if (tuning == NULL)
        return;
    shmt_tuning_format(tuning, &text);
    CHECK_HAS(shmt_text_string(&text), strstr(estimated, "dispatch:"));
    CHECK_HAS(shmt_text_string(&text), "---\nformat: tuning/3\n");
    CHECK_INT(tuning->dispatch->estimates[0].each[1], 350000000000);
    CHECK_INT((long)tuning->dispatch->estimates[1].count, 0);
    CHECK_INT(tuning->dispatch->factors[tuning->dispatch->rank_count - 2], 1);
    shmt_text_free(&text);
    shmt_tuning_free(tuning);
}

static void terms_are_what_they_are_called(void)
{
    const int64_t problem[] = {1000, 70}, large[] = {INT64_MAX, INT64_MAX};
    struct shmt_dispatch_term term = {.of = {32, 64}};

    CHECK_INT(shmt_dispatch_term_value(&term, problem, 2), 32 * 2);
    term.rounds = 60;
    CHECK_INT(shmt_dispatch_term_value(&term, problem, 2), 2);
    term.by[0] = true;
    CHECK_INT(shmt_dispatch_term_value(&term, problem, 2), 2000);
    CHECK_INT(shmt_dispatch_term_value(&term, large, 2), INT64_MAX);
    CHECK_INT(shmt_dispatch_add(INT64_MAX, 1, 1), INT64_MAX);
    CHECK_INT(shmt_dispatch_add(5, 3, 2), 11);
}

/* The less, the better; beyond half as much again nothing counts. */
static void scores_order_as_they_say(void)
{
    const int64_t us = 1000000000000;

    CHECK(shmt_dispatch_score(10 * us, 10 * us, 1000) <
          shmt_dispatch_score(11 * us, 10 * us, 1000));
    CHECK(shmt_dispatch_score(11 * us, 10 * us, 1000) <
          shmt_dispatch_score(10 * us, 10 * us, 1200));
    CHECK_INT(shmt_dispatch_score(16 * us, 10 * us, 1000),
              shmt_dispatch_score(INT64_MAX, 10 * us, 1000));
    CHECK(shmt_dispatch_score(INT64_MAX, INT64_MAX, 9999) > 0);
}

static void a_walk_ends_at_its_leaf(void)
{
    static const struct {
        int64_t problem[2];
        int first;
    } walks[] = {
        {{100, 100}, 0}, {{800, 100}, 2}, {{799, 100}, 0},
        {{1024, 1023}, 0}, {{2048, 1024}, 0}, {{1056, 8448}, 1},
        {{INT64_MAX, INT64_MAX}, 1},   /* 2^63 - 1 mod 132 is 7 */
    };
    struct shmt_tuning *const tuning = parse(good);

    for (size_t k = 0; k < sizeof walks / sizeof walks[0]; k++) {
        const struct shmt_dispatch_node *const leaf =
            shmt_dispatch_walk(tuning->dispatch, walks[k].problem);

        CHECK_INT(tuning->dispatch->ranks[leaf->rank], walks[k].first);
    }
    CHECK(shmt_dispatch_covers(tuning->dispatch, walks[0].problem));
    CHECK(!shmt_dispatch_covers(tuning->dispatch, walks[6].problem));
    CHECK(!shmt_dispatch_covers(tuning->dispatch, (int64_t[]){15, 100}));
    shmt_tuning_free(tuning);
}

static void numbers_are_what_they_are_called(void)
{
    struct shmt_dispatch_feature feature = {.of = {32, 64}};
    const int64_t problem[] = {100, 100}, large[] = {INT64_MAX, INT64_MAX};

    CHECK_INT(shmt_dispatch_value(&feature, problem, 2), 4 * 2);
    feature.modulo = 5;
    CHECK_INT(shmt_dispatch_value(&feature, problem, 2), 3);
    feature = (struct shmt_dispatch_feature){.of = {1, 1}, .per = {0, 3}};
    CHECK_INT(shmt_dispatch_value(&feature, problem, 2), 10000 / 34);
    CHECK(shmt_dispatch_value(&feature, large, 2) > 0);
    /* What divides is never 0. */
    CHECK_INT(shmt_dispatch_value(&feature, (int64_t[]){7, 0}, 2), 0);
}

static void what_cannot_be_walked_is_refused(void)
{
    static const struct {
        const char *from, *to, *why;
    } cases[] = {
        {"tuning/2", "tuning/1", "found a dispatch in a tuning/1"},
        {"  seed: 1\n", "  seeds: 1\n", "seeds"},
        {"  seed: 1\n", "  seed: -1\n", "found \"-1\""},
        {"[9912, 9480]", "[9912]", "found 1 numbers, expected 2 to 2"},
        {"[9912, 9480]", "[9912, 10001]", "10001"},
        {"rows: [16, 16384], ", "", "found 1 dimensions, expected the 2"},
        {"rows: [16, 16384], cols", "cols: [16, 16384], rows",
         "found another dimension, expected rows"},
        {"rows: [16, 16384]", "rows: [16384, 16]", "found 16384 to 16"},
        {"rows: [16, 16384]", "rows: [-1, 16]", "-1"},
        {"  - {BLOCK_X: 32, MEMORY: static}\n  - {M", "  - {BLOCK_X: 32}\n"
         "  - {M", "found 1 parameters, expected all 2"},
        {"{MEMORY: dynamic}", "{PAD: 1}", "found the name PAD"},
        {"of: {rows: 1, cols: 1}", "of: {}", "found no dimension"},
        {"of: {rows: 1, cols: 1}", "of: {depth: 1}", "a dimension of the"},
        {"of: {rows: 1, cols: 1}", "of: {rows: 0, cols: 1}", "found \"0\""},
        {"{of: {rows: 1, cols: 1}}", "{per: {rows: 1}}", "of"},
        {"modulo: 132", "modulo: 1", "found \"1\""},
        {"modulo: 132", "mod: 132", "mod"},
        {"{feature: 0, below: 1048576", "{feature: 3, below: 1048576",
         "found \"3\""},
        {"below: 1048576", "below: -1", "found \"-1\""},
        {"below: 1048576, else: 4}", "below: 1048576}",
         "{feature: K, below: N, else: NODE} or {take: [K, ...]}"},
        {"else: 4}", "else: 0}", "found node 0, expected 4"},
        {"else: 4}", "else: 5}", "found node 5, expected 4"},
        {"else: 3}", "else: 2}", "found node 2, expected 3"},
        {"{take: [2, 0]}", "{take: []}", "found 0 ranks, expected 1 to 8"},
        {"{take: [2, 0]}", "{take: [0, 0, 0, 0, 0, 0, 0, 0, 0]}",
         "found 9 ranks"},
        {"{take: [2, 0]}", "{take: [3, 0]}", "found \"3\""},
        {"{take: [2, 0]}", "{take: [2, 0], below: 1}", "expected {feature"},
        {"  - {take: [0, 1]}   # 6\n", "", "the tree does not end"},
        {"  - {take: [0, 1]}   # 6\n",
         "  - {take: [0, 1]}\n  - {take: [0]}\n", "no comparison leads to"},
        {"  tree:\n", "  shrub:\n", "shrub"},
    };

    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        struct shmt_tuning *const tuning =
            parse(changed(cases[k].from, cases[k].to));

        CHECK(tuning == NULL);
        CHECK_HAS(err.text, cases[k].why);
        CHECK_HAS(err.text, "t.yaml:");
        shmt_tuning_free(tuning);
    }
}

static void what_cannot_be_estimated_is_refused(void)
{
    static const struct {
        const char *from, *to, *why;
    } cases[] = {
        {"tuning/3", "tuning/2", "found estimates in a tuning/2"},
        {"  terms:\n", "  words:\n", "words"},
        {"  - {of: {rows: 1, cols: 1}}   # 0: rows*cols\n  - {of: {rows: 32, "
         "cols: 64}, rounds", "  - {of: {}}\n  - {of: {rows: 32, cols: 64}, "
         "rounds", "found no dimension"},
        {"rounds: 132", "rounds: 1", "found \"1\""},
        {"rounds: 132", "round: 132", "round"},
        {"by: [rows]", "by: [depth]", "a dimension of the sizes"},
        {"by: [rows]", "by: []", "found 0 dimensions"},
        {"by: [rows]", "by: [rows, rows]", "found rows twice"},
        {"by: [rows]", "by: [[rows]]", "a dimension"},
        {"start: 0, ", "", "start"},
        {"start: 0", "start: -1", "found \"-1\""},
        {"start: 0", "start: 9223372036854775808", "9223372036854775808"},
        {"terms: [2]", "terms: [3]", "found \"3\""},
        {"terms: [2]", "terms: [2, 0]", "found 1 numbers, expected 2 to 2"},
        {"terms: [2]", "terms: [0, 0, 0, 0, 0, 0, 0, 0, 0]",
         "found 9 terms, expected 0 to 8"},
        {"each: [2000000000]", "each: [-2]", "found \"-2\""},
        {"each: [2000000000]", "each: [1], more: 2", "more"},
        {"  - {start: 0, terms: [2], each: [2000000000]}\n", "",
         "found 2 estimates, expected 3 to 3"},
        {"factors: [1000, 1250]", "factors: [1000]",
         "found 1 factors, expected 2 to 2"},
        {"factors: [1000, 1250]", "factors: [0, 1250]", "found \"0\""},
        {"factors: [1000, 1250]", "factors: [1000, 10000]", "10000"},
        {", factors: [1000, 1250]", "", "as there are estimates"},
    };

    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        struct shmt_tuning *const tuning =
            parse(replaced(estimated, cases[k].from, cases[k].to));

        CHECK(tuning == NULL);
        CHECK_HAS(err.text, cases[k].why);
        CHECK_HAS(err.text, "t.yaml:");
        shmt_tuning_free(tuning);
    }
    /* One without the other. */
    CHECK(parse(changed("{take: [2, 0]}", "{take: [2, 0], factors: "
                                          "[1, 1]}")) == NULL);
    CHECK_HAS(err.text, "or {take: [K, ...]}");
    CHECK(parse(changed("  tree:\n", "  terms: []\n  tree:\n")) == NULL);
    CHECK_HAS(err.text, "found terms, expected estimates beside it");
}

/* As deep as may be, and one comparison deeper. */
static void a_tree_has_a_depth(void)
{
    for (int depth = SHMT_DISPATCH_DEPTH; depth <= SHMT_DISPATCH_DEPTH + 1;
         depth++) {
        struct shmt_text text = {0};
        struct shmt_tuning *tuning;

        shmt_text_add_bytes(&text, good,
                            (size_t)(strstr(good, "  tree:") - good));
        shmt_text_add(&text, "  tree:\n");
        for (int k = 0; k < depth; k++)
            shmt_text_addf(&text, "  - {feature: 0, below: 1, else: %d}\n",
                           2 * depth - k);
        for (int k = 0; k <= depth; k++)
            shmt_text_add(&text, "  - {take: [0]}\n");
        tuning = parse(shmt_text_string(&text));
        CHECK((tuning != NULL) == (depth == SHMT_DISPATCH_DEPTH));
        if (tuning == NULL)
            CHECK_HAS(err.text, "deeper than 24 comparisons");
        shmt_tuning_free(tuning);
        shmt_text_free(&text);
    }
}

static bool read_file(const char *name, char *out)
{
    const char *const source = getenv("SHMT_SRCDIR");
    char path[1024];
    FILE *file;
    size_t size;

    snprintf(path, sizeof path, "%s/tests/fuzz/corpus/tuning/%s",
             source == NULL ? "." : source, name);
    file = fopen(path, "r");
    if (file == NULL)
        return false;
    size = fread(out, 1, ROOM - 1, file);
    out[size] = '\0';
    fclose(file);
    return true;
}

int main(void)
{
    if (!read_file("dispatch.yaml", good) ||
        !read_file("estimates.yaml", estimated))
        return EXIT_FAILURE;
    CHECK_RUN(what_is_read_is_written_the_same);
    CHECK_RUN(a_walk_ends_at_its_leaf);
    CHECK_RUN(numbers_are_what_they_are_called);
    CHECK_RUN(what_cannot_be_walked_is_refused);
    CHECK_RUN(estimates_are_written_the_same);
    CHECK_RUN(terms_are_what_they_are_called);
    CHECK_RUN(scores_order_as_they_say);
    CHECK_RUN(what_cannot_be_estimated_is_refused);
    CHECK_RUN(a_tree_has_a_depth);
    return CHECK_END();
}
