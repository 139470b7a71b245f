/* SPDX-License-Identifier: MIT */
/* The dispatch of a tuning: when it decides, what it checks, what it falls back
 * to, and that walking it allocates nothing. */
#include "shmtune.h"

#include <stdio.h>

#include "tests/support/allocations.h"
#include "tests/support/catalogue_fixture.h"
#include "tests/support/check.h"

static const char *root;
static struct shmtune *library;
static const struct shmtune_kernel *toy;
static struct shmtune_device device;

/* 0: BLOCK 128; 1: 1024, which needs as many columns; 2: 64. */
static const char dispatch[] =
    "dispatch:\n"
    "  range: {rows: [1, 100000], cols: [1, 8192]}\n"
    "  configurations:\n"
    "  - {BLOCK: 128, SHARED_KIB: 0, MEMORY: dynamic}\n"
    "  - {BLOCK: 1024}\n"
    "  - {BLOCK: 64}\n"
    "  features:\n"
    "  - {of: {rows: 1, cols: 1}}\n"
    "  - {of: {cols: 1}, modulo: 3}\n"
    "  - {of: {rows: 100, cols: 48}, per: {rows: 7}}\n"
    "  tree:\n"
    "  - {feature: 0, below: 100000, else: 4}\n"
    "  - {feature: 1, below: 1, else: 3}\n"
    "  - {take: [2]}\n"
    "  - {take: [0]}\n"
    "  - {feature: 2, below: 11, else: 6}\n"
    "  - {take: [1, 0]}\n"
    "  - {take: [1]}\n"
    "...\n";

/* 128 takes 5 us, and 2 us for each 1000 rows begun; 1024 takes 8 us, and 1 us
 * for each; 64 nobody can say. */
static const char estimates[] =
    "dispatch:\n"
    "  range: {rows: [1, 100000], cols: [1, 8192]}\n"
    "  configurations:\n"
    "  - {BLOCK: 128, SHARED_KIB: 0, MEMORY: dynamic}\n"
    "  - {BLOCK: 1024}\n"
    "  - {BLOCK: 64}\n"
    "  features:\n"
    "  - {of: {cols: 1}}\n"
    "  terms:\n"
    "  - {of: {rows: 10}, rounds: 100}\n"
    "  - {of: {cols: 96}, rounds: 2000, by: [rows]}\n"
    "  estimates:\n"
    "  - {start: 5000000000000, terms: [0], each: [2000000000000]}\n"
    "  - {start: 8000000000000, terms: [0, 1], each: [1000000000000, 0]}\n"
    "  - {start: 9223372036854775807, terms: [1], each: [7]}\n"
    "  tree:\n"
    "  - {feature: 0, below: 3000, else: 2}\n"
    "  - {take: [0, 1, 2], factors: [1000, 1000, 1000]}\n"
    "  - {feature: 0, below: 5000, else: 4}\n"
    "  - {take: [2, 0], factors: [1000, 1400]}\n"
    "  - {take: [2, 0], factors: [1000, 1600]}\n"
    "...\n";

/* Writes a tuning of two sizes with the dispatch, and opens it. */
static void open_with(const char *text)
{
    static const struct fixture_tuned tuned[] = {
        {1024, 1024, 256, 0, 0, 10}, {64, 64, 32, 0, 0, 10}};
    char *const plain = fixture_tuning(&device, tuned, 2);
    char *const end = strstr(plain, "...\n");
    struct shmt_text whole = {0};

    shmtune_close(library);
    library = NULL;
    fixture_remove("tunings");
    if (end != NULL)
        *end = '\0';
    shmt_text_add(&whole, plain);
    shmt_text_add(&whole, text);
    fixture_put_text("tunings/toy/h100.yaml", shmt_text_string(&whole));
    if (text[0] == 'd')
        fixture_edit("tunings/toy/h100.yaml", "tuning/1",
                     strstr(text, "estimates:") != NULL ? "tuning/3"
                                                        : "tuning/2");
    CHECK_INT(shmtune_open(root, &library, NULL), SHMTUNE_OK);
    toy = shmtune_kernel_find(library, "toy");
    CHECK(toy != NULL);
    shmt_text_free(&whole);
    free(plain);
}

/* `dispatch` with the first `from` replaced. */
static const char *changed(const char *from, const char *to)
{
    static char out[4096];
    const char *const at = strstr(dispatch, from);

    CHECK(at != NULL);
    snprintf(out, sizeof out, "%.*s%s%s", (int)(at - dispatch), dispatch, to,
             at + strlen(from));
    return out;
}

static double block_at(int64_t rows, int64_t cols, enum shmtune_match *match)
{
    const int64_t problem[] = {rows, cols};
    struct shmtune_choice choice = SHMTUNE_CHOICE_INIT;
    struct shmtune_value value = SHMTUNE_VALUE_INIT;
    char text[4096], end[512];

    CHECK_INT(shmtune_select(toy, &device, problem, &choice), SHMTUNE_OK);
    CHECK_INT(shmtune_choice_value(&choice, "BLOCK", &value), SHMTUNE_OK);
    *match = choice.match;
    shmtune_explain(toy, &device, problem, text, sizeof text);
    snprintf(end, sizeof end, "%s: %s\n", shmtune_match_text(choice.match),
             choice.reason);
    CHECK_HAS(text, end);
    CHECK((choice.tuned_problem == NULL) ==
          (choice.match == SHMTUNE_LEARNT || choice.match == SHMTUNE_DEFAULT));
    return value.number;
}

static void check_at(int64_t rows, int64_t cols, int block,
                     enum shmtune_match match)
{
    enum shmtune_match found;

    CHECK_INT((long)block_at(rows, cols, &found), block);
    CHECK_INT(found, match);
}

static void a_walk_decides(void)
{
    open_with(dispatch);
    CHECK_INT((long)shmtune_note_count(library), 0);
    check_at(10, 99, 64, SHMTUNE_LEARNT);        /* 99 mod 3 < 1 */
    check_at(10, 130, 128, SHMTUNE_LEARNT);       /* 130 mod 3 = 1 */
    check_at(1000, 2000, 1024, SHMTUNE_LEARNT);
    check_at(1024, 1024, 256, SHMTUNE_EXACT);    /* that comes first */
    check_at(64, 64, 32, SHMTUNE_EXACT);
}

static void estimates_decide(void)
{
    open_with(estimates);
    CHECK_INT((long)shmtune_note_count(library), 0);
    check_at(1000, 2000, 128, SHMTUNE_LEARNT);     /* 7 us, 9 us */
    check_at(1001, 2000, 128, SHMTUNE_LEARNT);     /* 9 us, 10 us */
    check_at(2001, 2000, 128, SHMTUNE_LEARNT);     /* 11 us both: the first */
    check_at(3001, 2000, 1024, SHMTUNE_LEARNT);    /* 13 us, 12 us */
    check_at(3001, 1000, 128, SHMTUNE_LEARNT);     /* 1024 may not run here */
    /* What nobody can say counts as half as much again as the least: 1.5 and
     * 1.4 times that, 1.5 and 1.6. */
    check_at(3001, 3000, 128, SHMTUNE_LEARNT);
    check_at(3001, 6000, 64, SHMTUNE_LEARNT);
}

static void the_next_rank_is_taken(void)
{
    open_with(dispatch);
    check_at(1000, 1023, 128, SHMTUNE_LEARNT);   /* 1024 <= cols fails; it is
                                     ceildiv(1000,100) * 22 // 143 = 1 < 11 */
    check_at(1000, 1024, 1024, SHMTUNE_LEARNT);
}

/* The leaf of few rows names one configuration, which may not run here. */
static void the_nearest_size_is_the_last_resort(void)
{
    enum shmtune_match match;

    open_with(dispatch);
    /* ceildiv(600,100) * ceildiv(900,48) // ceildiv(600,7): 6 * 19 // 86 = 1;
     * with units that make the feature large the one-ranked leaf is reached. */
    open_with(changed("below: 11", "below: 1"));
    block_at(600, 900, &match);
    CHECK_INT(match, SHMTUNE_NEAREST_SIZE);
    check_at(600, 1900, 1024, SHMTUNE_LEARNT);
}

static void beyond_its_range_it_says_nothing(void)
{
    enum shmtune_match match;

    open_with(dispatch);
    block_at(10, 8193, &match);
    CHECK_INT(match, SHMTUNE_NEAREST_SIZE);
    block_at(100001, 10, &match);
    CHECK_INT(match, SHMTUNE_NEAREST_SIZE);
    check_at(100000, 8192, 1024, SHMTUNE_LEARNT);
}

static void check_refused(int64_t rows, int64_t cols)
{
    const int64_t problem[] = {rows, cols};
    struct shmtune_choice choice = SHMTUNE_CHOICE_INIT;

    CHECK_INT(shmtune_select(toy, &device, problem, &choice),
              SHMTUNE_INVALID_ARGUMENT);
}

/* Of sizes for which the kernel is not right, or a device that is none, a
 * dispatch may say what it likes. */
static void it_says_nothing_of_what_nobody_may_ask(void)
{
    enum shmtune_match match;

    open_with(changed("[1, 100000], cols: [1, 8192]",
                      "[0, 2000000], cols: [0, 2000000]"));
    CHECK_INT((long)shmtune_note_count(library), 0);
    check_refused(0, 99);
    check_refused(10, 0);
    check_refused(1000001, 99);
    check_refused(10, 1000001);
    check_at(10, 99, 64, SHMTUNE_LEARNT);
    check_at(1, 1000000, 1024, SHMTUNE_LEARNT);
    open_with(changed("cols: [1, 8192]", "cols: [1000001, 2000000]"));
    CHECK_INT((long)shmtune_note_count(library), 0);
    check_refused(10, 1000001);
    block_at(10, 1000000, &match);
    CHECK_INT(match, SHMTUNE_NEAREST_SIZE);
    device.compute_major = 0;
    open_with(dispatch);
    check_refused(10, 99);
    device = fixture_device();
}

static void another_device_has_not_learnt_it(void)
{
    const struct shmtune_device own = device;
    enum shmtune_match match;

    open_with(dispatch);
    strcpy(device.name, "another");
    block_at(10, 99, &match);
    CHECK_INT(match, SHMTUNE_SAME_CAPABILITY);
    device = own;
}

/* A launch that does not fit the device everywhere in the range is checked at
 * the problem. */
static void what_cannot_be_proven_is_checked(void)
{
    enum shmtune_match match;

    open_with(changed("[1, 100000], cols: [1, 8192]",
                      "[1, 1000000], cols: [1, 1000000]"));
    check_at(10, 99, 64, SHMTUNE_LEARNT);
    check_at(1000, 2000, 1024, SHMTUNE_LEARNT);
    /* 10^12 / 128 blocks are too many for a grid, with 1024 not. */
    block_at(1000000, 1000000, &match);
    CHECK_INT(match, SHMTUNE_LEARNT);
    open_with(changed("{BLOCK: 1024}", "{BLOCK: 1024, SHARED_KIB: 200}"));
    check_at(1000, 2000, 1024, SHMTUNE_LEARNT);
    device.shared_per_block_optin = 100000;
    open_with(changed("{BLOCK: 1024}", "{BLOCK: 1024, SHARED_KIB: 200}"));
    check_at(1000, 2000, 128, SHMTUNE_LEARNT);
    device = fixture_device();
}

/* Ways in which a constraint can depend on the columns, and where 1024 may run
 * with 1000 rows.  The second holds here and there; the third depends on two
 * sizes; the fourth cannot be computed at one; the fifth holds in two places. */
static const char *const added[] = {
    "", " and (BLOCK < 1024 or cols % 3 > 0)",
    " and (BLOCK < 1024 or cols * rows < 1030000)",
    " and (BLOCK < 1024 or 100 // (cols - 1030) > -1000)",
    " and (BLOCK < 1024 or cols < 1028 or cols > 1090)"};

static bool may_run(size_t way, int64_t cols)
{
    return cols >= 1024 && (way != 1 || cols % 3 > 0) &&
           (way != 2 || cols < 1030) && (way != 3 || cols != 1030) &&
           (way != 4 || cols < 1028 || cols > 1090);
}

/* The range of the columns: few, many, and where the first always and never
 * holds. */
static const int64_t ranges[][2] = {
    {1000, 1040}, {128, 8192}, {1024, 8192}, {128, 1023}, {1025, 1027}};

static void open_range(size_t way, size_t range)
{
    static const char plain[] = "BLOCK <= max(cols, 32)\n";
    char text[512], constraint[128];

    snprintf(constraint, sizeof constraint, "BLOCK <= max(cols, 32)%s\n",
             added[way]);
    snprintf(text, sizeof text,
             "dispatch:\n  range: {rows: [1, 9999], cols: [%d, %d]}\n"
             "  configurations:\n"
             "  - {BLOCK: 1024, SHARED_KIB: 0, MEMORY: dynamic}\n"
             "  - {BLOCK: 128}\n"
             "  features: []\n  tree:\n  - {take: [0, 1]}\n...\n",
             (int)ranges[range][0], (int)ranges[range][1]);
    fixture_edit("kernels/toy.yaml", plain, constraint);
    open_with(text);
    fixture_edit("kernels/toy.yaml", constraint, plain);
    CHECK_INT((long)shmtune_note_count(library), 0);
}

/* Whatever is decided when a tuning is opened, it is as by the constraint. */
static void each_size_is_decided_as_by_the_constraint(void)
{
    enum { WAYS = sizeof added / sizeof *added,
           RANGES = sizeof ranges / sizeof *ranges };
    long wrong = 0, looked = 0;

    for (size_t k = 0; k < (size_t)WAYS * RANGES; k++) {
        const int64_t *const range = ranges[k % RANGES];

        open_range(k / RANGES, k % RANGES);
        for (int64_t cols = range[0]; cols <= range[1];
             cols += cols < 1100 ? 1 : 37) {
            enum shmtune_match match;
            const int64_t block =
                (int64_t)block_at(1000, cols, &match);

            wrong += match != SHMTUNE_LEARNT ||
                     block != (may_run(k / RANGES, cols) ? 1024 : 128);
            looked++;
        }
    }
    CHECK_INT(wrong, 0);
    CHECK(looked > 10000);
}

/* Few values of both: each pair is a case of its own. */
static void each_case_of_two_sizes_is_decided(void)
{
    static const char plain[] = "BLOCK <= max(cols, 32)\n";
    static const char both[] =
        "BLOCK <= max(cols, 32)"
        " and (BLOCK < 1024 or (3 * rows + cols) % 5 < 3)\n";
    long wrong = 0;

    fixture_edit("kernels/toy.yaml", plain, both);
    open_with("dispatch:\n  range: {rows: [5, 12], cols: [1024, 1031]}\n"
              "  configurations:\n"
              "  - {BLOCK: 1024, SHARED_KIB: 0, MEMORY: dynamic}\n"
              "  - {BLOCK: 128}\n"
              "  features: []\n  tree:\n  - {take: [0, 1]}\n...\n");
    fixture_edit("kernels/toy.yaml", both, plain);
    CHECK_INT((long)shmtune_note_count(library), 0);
    for (int64_t rows = 5; rows <= 12; rows++)
        for (int64_t cols = 1024; cols <= 1031; cols++) {
            enum shmtune_match match;
            const int64_t block = (int64_t)block_at(rows, cols, &match);

            wrong += match != SHMTUNE_LEARNT ||
                     block != ((3 * rows + cols) % 5 < 3 ? 1024 : 128);
        }
    CHECK_INT(wrong, 0);
}

static void what_does_not_fit_the_kernel_is_left_out(void)
{
    enum shmtune_match match;

    open_with(changed("{BLOCK: 1024}", "{BLOCK: 1000}"));
    CHECK_INT((long)shmtune_note_count(library), 1);
    CHECK_HAS(shmtune_note(library, 0), "its dispatch is left out: found "
                                        "BLOCK = 1000");
    block_at(10, 99, &match);
    CHECK_INT(match, SHMTUNE_NEAREST_SIZE);
    check_at(1024, 1024, 256, SHMTUNE_EXACT);
    open_with(changed("else: 4", "else: 5"));
    CHECK_INT((long)shmtune_note_count(library), 1);
    CHECK_HAS(shmtune_note(library, 0), "found node 5, expected 4");
}

static void nothing_is_allocated(void)
{
    static const int64_t problems[][2] = {
        {10, 99}, {10, 100}, {1000, 2000}, {1000, 1023}, {10, 8193}};
    struct shmtune_choice choice = SHMTUNE_CHOICE_INIT;
    size_t before;

    open_with(dispatch);
    before = allocations;
    for (size_t k = 0; k < 1000; k++)
        CHECK_INT(shmtune_select(toy, &device, problems[k % 5], &choice),
                  SHMTUNE_OK);
    CHECK_INT((long)(allocations - before), 0);
    open_with(estimates);
    before = allocations;
    for (size_t k = 0; k < 1000; k++)
        CHECK_INT(shmtune_select(toy, &device, problems[k % 5], &choice),
                  SHMTUNE_OK);
    CHECK_INT((long)(allocations - before), 0);
}

/* Each allocation of an opening fails once. */
static void memory_runs_out(void)
{
    size_t before;
    long count, wrong = 0;

    open_with(estimates);
    shmtune_close(library);
    before = allocations;
    CHECK_INT(shmtune_open(root, &library, NULL), SHMTUNE_OK);
    count = (long)(allocations - before);
    for (long k = 1; k <= count; k++) {
        struct shmtune *other = NULL;
        enum shmtune_status status;

        allocations_failing = k;
        status = shmtune_open(root, &other, NULL);
        allocations_failing = 0;
        wrong += status != SHMTUNE_OK && status != SHMTUNE_NO_MEMORY;
        shmtune_close(other);
    }
    CHECK_INT(wrong, 0);
}

int main(void)
{
    root = fixture_begin();
    device = fixture_device();
    CHECK_RUN(a_walk_decides);
    CHECK_RUN(estimates_decide);
    CHECK_RUN(the_next_rank_is_taken);
    CHECK_RUN(the_nearest_size_is_the_last_resort);
    CHECK_RUN(beyond_its_range_it_says_nothing);
    CHECK_RUN(it_says_nothing_of_what_nobody_may_ask);
    CHECK_RUN(another_device_has_not_learnt_it);
    CHECK_RUN(what_cannot_be_proven_is_checked);
    CHECK_RUN(each_size_is_decided_as_by_the_constraint);
    CHECK_RUN(each_case_of_two_sizes_is_decided);
    CHECK_RUN(what_does_not_fit_the_kernel_is_left_out);
    CHECK_RUN(nothing_is_allocated);
    CHECK_RUN(memory_runs_out);
    shmtune_close(library);
    fixture_end();
    return CHECK_END();
}
