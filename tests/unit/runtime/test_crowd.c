/* SPDX-License-Identifier: MIT */
/* Folders with more in them than anybody needs: what they cost grows no faster
 * than they do, a selection looks at so much and no more, and what is left out
 * is noted. */
#define _GNU_SOURCE   /* mallinfo2 */
#include "shmtune.h"

#include <malloc.h>
#include <math.h>

#include "tests/support/catalogue_fixture.h"
#include "tests/support/check.h"

enum { MOST_TUNINGS = 64, MOST_NEAREST = 192, MOST_NOTES = 256,
       MOST_CHECKS = 160, SLACK = 1 << 20, TEXT = 1 << 16,
       CONFIGS = 64, DISPATCH = 160 << 10, FILES = 32 };

static const char *root;
static struct shmtune *library;
static const struct shmtune_kernel *toy;

static size_t bytes_in_use(void)
{
    const struct mallinfo2 info = mallinfo2();

    return info.uordblks + info.hblkhd;
}

/* Opens what is in the folder now; returns what it holds in memory, which is
 * not known (0) where another allocator is linked in. */
static size_t open_again(void)
{
    size_t before, after;

    shmtune_close(library);
    library = NULL;
    before = bytes_in_use();
    CHECK_INT(shmtune_open(root, &library, NULL), SHMTUNE_OK);
    after = bytes_in_use();
    toy = shmtune_kernel_find(library, "toy");
    CHECK(toy != NULL);
    return after > before ? after - before : 0;
}

static void begin(void)
{
    fixture_remove("tunings");
}

/* Writes `files` tunings of `sizes` sizes each; returns their bytes. */
static size_t put(int files, int sizes)
{
    const struct shmtune_device device = fixture_device();
    struct fixture_tuned *tuned = calloc((size_t)sizes, sizeof *tuned);
    size_t bytes = 0;

    for (int k = 0; k < files; k++) {
        char name[32], *text;

        for (int s = 0; s < sizes; s++)
            tuned[s] = (struct fixture_tuned){
                1024 + k, 1024 + s, 128, 0, 0, 10};
        snprintf(name, sizeof name, "%05d.yaml", k);
        text = fixture_tuning(&device, tuned, (size_t)sizes);
        bytes += strlen(text);
        free(text);
        fixture_tune(name, &device, tuned, (size_t)sizes);
    }
    free(tuned);
    return bytes;
}

static void memory_is_linear(void)
{
    static const struct { int files, sizes; } folders[] = {
        {1, 1}, {64, 1}, {500, 1}, {1, 1500}, {20, 200}};
    size_t least;

    begin();
    least = open_again();
    for (size_t k = 0; k < sizeof folders / sizeof folders[0]; k++) {
        size_t bytes, held;

        begin();
        bytes = put(folders[k].files, folders[k].sizes);
        held = open_again();
        printf("# %d files of %d sizes: %zu bytes, %zu in memory\n",
               folders[k].files, folders[k].sizes, bytes, held);
        CHECK(held <= least + 4 * bytes + SLACK);
    }
}

static void surplus_files_are_left_out(void)
{
    char text[512];

    begin();
    put(MOST_TUNINGS, 1);
    open_again();
    CHECK_INT(shmtune_tuned_device_count(toy), MOST_TUNINGS);
    CHECK_INT(shmtune_note_count(library), 0);
    put(MOST_TUNINGS + 10, 1);
    open_again();
    CHECK_INT(shmtune_tuned_device_count(toy), MOST_TUNINGS);
    CHECK_INT(shmtune_note_count(library), 1);
    snprintf(text, sizeof text, "%s/00064.yaml and the 9 tunings behind it: "
             "left out: the kernel toy has 64 tunings already",
             fixture_path("tunings/toy"));
    CHECK_HAS(shmtune_note(library, 0), text);
}

/* All are found exactly; the nearest is one of those that are looked at. */
static void surplus_sizes_are_found_exactly(void)
{
    const struct shmtune_device device = fixture_device();
    struct shmtune_choice choice = SHMTUNE_CHOICE_INIT;
    int exact = 0;

    begin();
    put(5, 200);
    open_again();
    CHECK_INT(shmtune_note_count(library), 1);
    CHECK_HAS(shmtune_note(library, 0), "toy has 1000 tuned sizes for compute "
              "capability 9.0; all are found exactly, but the nearest is "
              "looked for in every 6. of each file, among 192 at most");
    for (int k = 0; k < 1000; k++) {
        const int64_t problem[] = {1024 + k / 200, 1024 + k % 200};

        exact += shmtune_select(toy, &device, problem, &choice) ==
                     SHMTUNE_OK && choice.match == SHMTUNE_EXACT;
    }
    CHECK_INT(exact, 1000);
    CHECK_INT(shmtune_select(toy, &device, (int64_t[]){999, 999}, &choice),
              SHMTUNE_OK);
    CHECK_INT(choice.match, SHMTUNE_NEAREST_SIZE);
}

/* The least time of an exact match of the last size, in nanoseconds. */
static double exact_ns(int files)
{
    const struct shmtune_device device = fixture_device();
    const int64_t problem[] = {1024 + files - 1, 1024};
    struct shmtune_choice choice = SHMTUNE_CHOICE_INIT;
    double least = INFINITY;

    for (int round = 0; round < 500; round++) {
        const double start = shmt_clock_s();

        for (int call = 0; call < 20; call++)
            CHECK(shmtune_select(toy, &device, problem, &choice) ==
                  SHMTUNE_OK);
        least = fmin(least, (shmt_clock_s() - start) / 20 * 1e9);
    }
    CHECK_INT(choice.match, SHMTUNE_EXACT);
    return least;
}

/* An exact match is one look, however many files there are of a device. */
static void an_exact_match_is_one_look(void)
{
    double one, all;

    begin();
    put(1, 1);
    open_again();
    one = exact_ns(1);
    put(MOST_TUNINGS, 1);
    open_again();
    all = exact_ns(MOST_TUNINGS);
    printf("# %.0f ns among 1 file, %.0f ns among %d\n", one, all,
           MOST_TUNINGS);
    CHECK(all < 3 * one);
}

/* The earlier of two files that have a size, in which a device of the same
 * name and other limits does not count. */
static void the_first_file_of_the_device_is_chosen(void)
{
    const struct shmtune_device device = fixture_device();
    const int64_t problem[] = {1024, 1024};
    struct shmtune_device other = device;
    struct shmtune_choice choice = SHMTUNE_CHOICE_INIT;

    other.multiprocessors++;
    begin();
    for (int k = 0; k < 4; k++) {
        const struct fixture_tuned tuned = {1024, 1024, 128, 0, 0, 10 + k};
        char name[16];

        snprintf(name, sizeof name, "%d.yaml", k);
        fixture_tune(name, k == 0 ? &other : &device, &tuned, 1);
    }
    open_again();
    CHECK_INT(shmtune_select(toy, &device, problem, &choice), SHMTUNE_OK);
    CHECK_INT(choice.match, SHMTUNE_EXACT);
    CHECK_HAS(choice.file, "1.yaml");
    CHECK_INT(shmtune_select(toy, &other, problem, &choice), SHMTUNE_OK);
    CHECK_INT(choice.match, SHMTUNE_EXACT);
    CHECK_HAS(choice.file, "0.yaml");
}

static int count_of(const char *text, const char *part)
{
    int count = 0;

    while ((text = strstr(text, part)) != NULL) {
        count++;
        text += strlen(part);
    }
    return count;
}

/* Configurations that all fail at the problem asked for. */
static void checks_are_bounded(void)
{
    static struct fixture_tuned tuned[1000];
    static char text[TEXT];
    const struct shmtune_device device = fixture_device();
    const int64_t problem[] = {1024, 40};
    struct shmtune_choice choice = SHMTUNE_CHOICE_INIT;

    for (int k = 0; k < 1000; k++)
        tuned[k] = (struct fixture_tuned){
            1 + k, 1024, k % 2 ? 128 : 256, 0, 0, 10};
    begin();
    fixture_tune("a.yaml", &device, tuned, 1000);
    open_again();
    CHECK_INT(shmtune_select(toy, &device, problem, &choice), SHMTUNE_OK);
    CHECK_INT(choice.match, SHMTUNE_DEFAULT);
    CHECK_HAS(choice.reason, "that a selection looks at fits this problem on "
                             "this device, and there are more");
    CHECK(shmtune_explain(toy, &device, problem, text, sizeof text) < TEXT);
    printf("# %d checks\n", count_of(text, ", distance "));
    CHECK(count_of(text, ", distance ") > 0);
    CHECK(count_of(text, ", distance ") <= MOST_CHECKS);
    CHECK_HAS(text, " more sizes were not looked at");
}

/* What fits is found behind many that do not, and is said to be the nearest of
 * some where one behind it might have been nearer. */
static void what_fits_is_found(void)
{
    enum { COUNT = 64 };
    static struct fixture_tuned tuned[COUNT];
    const struct shmtune_device device = fixture_device();
    const int64_t problem[] = {1024, 40};
    struct shmtune_choice choice = SHMTUNE_CHOICE_INIT;

    for (int last = COUNT - 1; last >= COUNT - 2; last--) {
        for (int k = 0; k < COUNT; k++)
            tuned[k] = (struct fixture_tuned){
                1025 + 2 * k, 1024, k < last ? 256 : 32, 0, 0, 10};
        begin();
        fixture_tune("a.yaml", &device, tuned, COUNT);
        open_again();
        CHECK_INT(shmtune_select(toy, &device, problem, &choice), SHMTUNE_OK);
        CHECK_INT(choice.match, SHMTUNE_NEAREST_SIZE);
        CHECK(choice.tuned_problem != NULL &&
              choice.tuned_problem[0] == 1025 + 2 * last);
        CHECK_INT(strstr(choice.reason, "the nearest that fits of those that a "
                                        "selection looks at") != NULL,
                  last < COUNT - 1);
    }
}

/* A tie costs more than a winner does, so a winner that runs is found before
 * what it is better than is looked at: here more than a selection may. */
static void winners_come_before_ties(void)
{
    const struct fixture_tuned one = {1024, 1024, 128, 0, 0, 10};
    const struct shmtune_device device = fixture_device();
    const int64_t problem[] = {1001, 40};
    struct shmtune_choice choice = SHMTUNE_CHOICE_INIT;
    char *head = fixture_tuning(&device, &one, 1);
    struct shmt_text text = {0};

    begin();
    *strstr(head, "tuned:") = '\0';
    shmt_text_addf(&text, "%stuned: [", head);
    for (int k = 0; k <= 40; k++)
        shmt_text_addf(&text, "%s{size: {rows: %d, cols: 1023}, "
                       "configuration: {BLOCK: %d, SHARED_KIB: 0, MEMORY: "
                       "dynamic}, ties: [{},{},{},{},{},{},{},{},{}]}",
                       k > 0 ? ",\n" : "", 1001 + 2 * k, k < 40 ? 256 : 32);
    shmt_text_add(&text, "]\n...\n");
    fixture_put_text("tunings/toy/ties.yaml", text.data);
    open_again();
    CHECK_INT(shmtune_note_count(library), 0);
    CHECK_INT(shmtune_select(toy, &device, problem, &choice), SHMTUNE_OK);
    CHECK_INT(choice.match, SHMTUNE_NEAREST_SIZE);
    CHECK(choice.tuned_problem != NULL && choice.tuned_problem[0] == 1081);
    shmt_text_free(&text);
    free(head);
}

static uint64_t state = 1;

static int64_t draw(int64_t below)
{
    state = state * UINT64_C(6364136223846793005) + 1;
    return (int64_t)((state >> 33) % (uint64_t)below);
}

static double factors_of(int64_t size)
{
    return size % 4 == 0 ? 2 : size % 2 == 0 ? 1 : 0;
}

static double distance(const struct fixture_tuned *tuned,
                       const int64_t *problem)
{
    const int64_t size[] = {tuned->rows, tuned->cols};
    double sum = 0;

    for (int k = 0; k < 2; k++)
        sum += fabs(log2((double)size[k]) - log2((double)problem[k])) +
               0.8 * fabs(factors_of(size[k]) - factors_of(problem[k]));
    return sum;
}

/* The distances that shmtune_explain tells, in its order, are the least ones
 * of a walk over everything, from the first on. */
static bool is_in_order(const char *text, const struct fixture_tuned *tuned,
                        int count, const int64_t *problem)
{
    double told, before = -1;
    int seen = 0;

    while ((text = strstr(text, ", distance ")) != NULL) {
        int nearer = 0;

        text += strlen(", distance ");
        told = strtod(text, NULL);
        for (int k = 0; k < count; k++)
            nearer += distance(&tuned[k], problem) < told - 0.006 * told;
        if (told < before || nearer > seen)
            return false;
        before = told;
        seen++;
    }
    return seen > 0;
}

static void nearest_is_that_of_a_full_walk(void)
{
    static char text[TEXT];
    const struct shmtune_device device = fixture_device();
    int right = 0, asked = 0;

    for (int count = 1; count <= MOST_NEAREST; count += 51) {
        struct fixture_tuned tuned[MOST_NEAREST];

        for (int k = 0; k < count; k++)
            tuned[k] = (struct fixture_tuned){
                32 + draw(3000) * MOST_NEAREST + k, 1024 + draw(9000), 128, 0,
                0, 10};
        begin();
        /* In two files, so that the order of files is nothing. */
        fixture_tune("a.yaml", &device, tuned, (size_t)count / 2);
        fixture_tune("b.yaml", &device, tuned + count / 2,
                     (size_t)(count - count / 2));
        open_again();
        CHECK_INT(shmtune_note_count(library), 0);
        for (int k = 0; k < 50; k++) {
            const int64_t problem[] = {1 + draw(900000), 1024 + draw(9000)};

            shmtune_explain(toy, &device, problem, text, sizeof text);
            right += is_in_order(text, tuned, count, problem);
            asked++;
        }
    }
    CHECK_INT(right, asked);
}

/* Of sizes that are equally far, however their distances round, the first
 * file's is looked at first. */
static void equally_far_sizes_come_by_file(void)
{
    static const struct { int64_t sides[2], problem[2]; } cases[] = {
        {{1024, 65536}, {355, 77304}}, {{1024, 16384}, {36, 59027}},
        {{64, 32768}, {27, 89345}}, {{64, 1024}, {61, 87771}}};
    static char text[TEXT];
    const struct shmtune_device device = fixture_device();

    for (int k = 0; k < 8; k++) {
        const int64_t *const sides = cases[k / 2].sides;

        begin();
        for (int file = 0; file < 2; file++) {
            const int64_t side = sides[file ^ (k & 1)];

            fixture_tune(file == 0 ? "a.yaml" : "b.yaml", &device,
                         &(struct fixture_tuned){side, side, 32, 0, 0, 10}, 1);
        }
        open_again();
        shmtune_explain(toy, &device, cases[k / 2].problem, text, sizeof text);
        CHECK_HAS(text, ".yaml: rows=");
        CHECK(memcmp(strstr(text, ".yaml: rows=") - 1, "a", 1) == 0);
    }
}

/* One bad file must not hide the notes about the others. */
static void notes_are_bounded(void)
{
    static struct fixture_tuned tuned[40];
    const struct shmtune_device device = fixture_device();

    for (int k = 0; k < 40; k++)
        tuned[k] = (struct fixture_tuned){1024 + k, 32, 1024, 0, 0, 10};
    begin();
    fixture_tune("a.yaml", &device, tuned, 40);
    open_again();
    CHECK_INT(shmtune_note_count(library), 9);
    CHECK_HAS(shmtune_note(library, 8),
              "a.yaml: 32 more configurations are left out");
    begin();
    for (int k = 0; k < MOST_NOTES + 44; k++) {
        char name[64];

        snprintf(name, sizeof name, "tunings/toy/%04d.yaml", k);
        fixture_put_text(name, "nothing\n");
    }
    open_again();
    CHECK_INT(shmtune_note_count(library), MOST_NOTES);
    CHECK_HAS(shmtune_note(library, MOST_NOTES - 2), "0254.yaml");
    CHECK_HAS(shmtune_note(library, MOST_NOTES - 1),
              "45 more notes are not kept, 256 is the most");
}

/* A text so dense that what is kept of it would be many times as large. */
static void dense_files_are_cut(void)
{
    const struct fixture_tuned one = {1024, 1024, 128, 0, 0, 10};
    const struct shmtune_device device = fixture_device();
    char *head = fixture_tuning(&device, &one, 1);
    struct shmt_text text = {0};
    size_t least, held;

    begin();
    least = open_again();
    *strstr(head, "tuned:") = '\0';
    shmt_text_addf(&text, "%stuned: [", head);
    for (int k = 0; k < 4000; k++)
        shmt_text_addf(&text, "%s{size: {rows: %d, cols: 64}, configuration: "
                       "{BLOCK: 32, SHARED_KIB: 0, MEMORY: dynamic}, ties: "
                       "[{},{},{},{},{},{},{},{},{},{},{},{}]}",
                       k > 0 ? ",\n" : "", k + 1);
    shmt_text_add(&text, "]\n...\n");
    fixture_put_text("tunings/toy/dense.yaml", text.data);
    held = open_again();
    printf("# %zu bytes, %zu in memory\n", text.length, held);
    CHECK(held <= least + 4 * text.length);
    CHECK_HAS(shmtune_note(library, 0), " of 4000 sizes are left out");
    shmt_text_free(&text);
    free(head);
}

/* A tree over nodes from `first` on; returns the number behind its last. */
static int add_tree(struct shmt_text *text, int first, int depth)
{
    const int other = first + (1 << depth);

    if (depth == 0) {
        shmt_text_add(text, "  - {take: [0, 1, 2, 3, 4, 5, 6, 7], factors: "
                      "[1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000]}\n");
        return first + 1;
    }
    shmt_text_addf(text, "  - {feature: %d, below: 7, else: %d}\n", first % 64,
                   other);
    add_tree(text, first + 1, depth - 1);
    return add_tree(text, other, depth - 1);
}

/* A dispatch that has as much of everything as may be read. */
static void add_dispatch(struct shmt_text *text)
{
    shmt_text_add(text, "dispatch:\n  range: {rows: [1, 100000], cols: "
                  "[1, 100000]}\n  configurations:\n");
    for (int k = 0; k < CONFIGS; k++)
        shmt_text_addf(text, "  - {BLOCK: %d, SHARED_KIB: %d, MEMORY: %s}\n",
                       (const int[]){32, 64, 128, 256, 1024}[k % 5],
                       (const int[]){0, 32, 100, 200}[k / 5 % 4],
                       k / 20 % 2 == 0 ? "dynamic" : "static");
    shmt_text_add(text, "  features:\n");
    for (int k = 0; k < 64; k++)
        shmt_text_addf(text, "  - {of: {rows: %d, cols: %d}, per: {rows: 3, "
                       "cols: 5}, modulo: %d}\n", k + 1, 100 - k, k + 2);
    shmt_text_add(text, "  terms:\n");
    for (int k = 0; k < 128; k++)
        shmt_text_addf(text, "  - {of: {rows: %d, cols: %d}, rounds: %d}\n",
                       k + 3, 200 - k, k + 2);
    shmt_text_add(text, "  estimates:\n");
    for (int k = 0; k < CONFIGS; k++) {
        shmt_text_add(text, "  - {start: 0, terms: [");
        for (int t = 0; t < 8; t++)
            shmt_text_addf(text, "%s%d", t > 0 ? ", " : "",
                           (8 * k + t) % 128);
        shmt_text_add(text, "], each: [1, 1, 1, 1, 1, 1, 1, 1]}\n");
    }
    shmt_text_add(text, "  tree:\n");
    add_tree(text, 0, 8);
    shmt_text_add(text, "...\n");
}

/* Opens files of one size each, with such a dispatch; returns what it holds of
 * each in bytes. */
static size_t held_of_each(bool with_dispatch)
{
    const struct fixture_tuned one = {1024, 1024, 128, 0, 0, 10};
    const struct shmtune_device device = fixture_device();
    char *const head = fixture_tuning(&device, &one, 1);
    struct shmt_text text = {0};

    begin();
    if (with_dispatch)
        *strstr(head, "...\n") = '\0';
    shmt_text_add(&text, head);
    if (with_dispatch)
        add_dispatch(&text);
    for (int k = 0; k < FILES; k++) {
        char name[64];

        snprintf(name, sizeof name, "tunings/toy/%d.yaml", k);
        fixture_put_text(name, shmt_text_string(&text));
        fixture_edit(name, "tuning/1", "tuning/3");
    }
    shmt_text_free(&text);
    free(head);
    return open_again() / FILES;
}

static void dispatches_are_bounded(void)
{
    const size_t plain = held_of_each(false), held = held_of_each(true);

    CHECK_INT(shmtune_note_count(library), 0);
    printf("# %zu bytes a tuning, %zu with a dispatch\n", plain, held);
    CHECK(held < plain + DISPATCH);
}

/* A kernel with so many constraints that what is kept of each, for each
 * configuration, would be more than that. */
static void a_larger_dispatch_is_left_out(void)
{
    static const char one[] = "constraints:\n";
    const size_t plain = held_of_each(false);
    struct shmt_text many = {0};

    shmt_text_add(&many, one);
    for (int k = 0; k < 600; k++)
        shmt_text_addf(&many, "- BLOCK < rows + %d\n", 1024 + k);
    fixture_edit("kernels/toy.yaml", one, shmt_text_string(&many));
    CHECK(held_of_each(true) < plain + DISPATCH);
    CHECK_INT(shmtune_note_count(library), FILES);
    CHECK_HAS(shmtune_note(library, 0), "its dispatch is left out: with 64 "
              "configurations and the 601 constraints of toy that depend on "
              "sizes it takes more than 160 KiB");
    fixture_edit("kernels/toy.yaml", shmt_text_string(&many), one);
    shmt_text_free(&many);
}

int main(void)
{
    root = fixture_begin();
    CHECK_RUN(memory_is_linear);
    CHECK_RUN(surplus_files_are_left_out);
    CHECK_RUN(surplus_sizes_are_found_exactly);
    CHECK_RUN(an_exact_match_is_one_look);
    CHECK_RUN(the_first_file_of_the_device_is_chosen);
    CHECK_RUN(checks_are_bounded);
    CHECK_RUN(what_fits_is_found);
    CHECK_RUN(winners_come_before_ties);
    CHECK_RUN(nearest_is_that_of_a_full_walk);
    CHECK_RUN(equally_far_sizes_come_by_file);
    CHECK_RUN(notes_are_bounded);
    CHECK_RUN(dispatches_are_bounded);
    CHECK_RUN(a_larger_dispatch_is_left_out);
    CHECK_RUN(dense_files_are_cut);
    shmtune_close(library);
    fixture_end();
    return CHECK_END();
}
