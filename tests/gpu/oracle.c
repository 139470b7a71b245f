/* SPDX-License-Identifier: MIT */
/*
 * oracle: the reference of each built-in kernel against a computation in
 * float64 on the CPU, at sizes that no tile divides; a few candidates against
 * the reference there; and the measuring kernels against their descriptions.
 * Needs a GPU and NVRTC.
 */
#include <math.h>

#include "check.h"
#include "gpu/bench.h"
#include "gpu/pattern.h"
#include "gpu/query.h"
#include "gpu_fixture.h"

enum { SEED = 11, MOST_DIMENSIONS = 4, CANDIDATES = 3 };

static const struct shmt_nvrtc *nvrtc;
static const struct shmt_driver *driver;
static const char *images;
static struct shmt_error err;

/* A kernel at one size, with its inputs as the device has them. */
struct trial {
    struct shmt_kernel *kernel;
    struct shmt_bench *bench;
    int64_t size[SHMT_KERNEL_DIMENSIONS];
};

static size_t argument_of(const struct shmt_kernel *kernel, const char *name)
{
    for (size_t k = 0; k < kernel->argument_count; k++)
        if (strcmp(kernel->arguments[k].name, name) == 0)
            return k;
    printf("Bail out! %s has no argument %s\n", kernel->name, name);
    exit(EXIT_FAILURE);
}

static int64_t dimension_of(const struct trial *trial, const char *name)
{
    for (size_t k = 0; k < trial->kernel->dimension_count; k++)
        if (strcmp(trial->kernel->dimensions[k].name, name) == 0)
            return trial->size[k];
    printf("Bail out! %s has no dimension %s\n", trial->kernel->name, name);
    exit(EXIT_FAILURE);
}

/* Element `index` of an argument as it was filled. */
static double filled(const struct trial *trial, size_t number, uint64_t index)
{
    const struct shmt_argument *argument = &trial->kernel->arguments[number];
    const struct shmt_pattern pattern =
        shmt_pattern_of(argument, number, SEED);
    const union shmt_scalar scalar = shmt_pattern_value(&pattern, index);

    return shmt_element_real(argument->element, &scalar);
}

/* -- what the kernels compute --------------------------------------------- */

/* Counted in words of 4 bytes: an element is one or two of them. */
static void transpose(const struct trial *trial, double *out)
{
    const uint64_t rows = (uint64_t)dimension_of(trial, "rows");
    const uint64_t cols = (uint64_t)dimension_of(trial, "cols");
    const uint64_t words = (uint64_t)dimension_of(trial, "element") / 4;
    const size_t in = argument_of(trial->kernel, "in");

    for (uint64_t r = 0; r < rows; r++)
        for (uint64_t c = 0; c < cols; c++)
            for (uint64_t w = 0; w < words; w++)
                out[(c * rows + r) * words + w] =
                    filled(trial, in, (r * cols + c) * words + w);
}

static void reduce(const struct trial *trial, double *out)
{
    const size_t in = argument_of(trial->kernel, "in");
    double sum = 0;

    for (int64_t i = 0; i < dimension_of(trial, "n"); i++)
        sum += filled(trial, in, (uint64_t)i);
    *out = sum;
}

static void matmul(const struct trial *trial, double *out)
{
    const uint64_t m = (uint64_t)dimension_of(trial, "m");
    const uint64_t n = (uint64_t)dimension_of(trial, "n");
    const uint64_t inner = (uint64_t)dimension_of(trial, "k");
    const size_t a = argument_of(trial->kernel, "a");
    const size_t b = argument_of(trial->kernel, "b");
    const size_t c = argument_of(trial->kernel, "c");

    for (uint64_t row = 0; row < m; row++)
        for (uint64_t col = 0; col < n; col++) {
            double sum = 0;

            for (uint64_t p = 0; p < inner; p++)
                sum += filled(trial, a, row * inner + p) *
                       filled(trial, b, p * n + col);
            out[row * n + col] =
                sum + 0.5 * filled(trial, c, row * n + col);
        }
}

static void conv2d(const struct trial *trial, double *out)
{
    const int64_t height = dimension_of(trial, "height");
    const int64_t width = dimension_of(trial, "width");
    const int64_t filter = dimension_of(trial, "filter"), reach = filter / 2;
    const size_t image = argument_of(trial->kernel, "image");
    const size_t weights = argument_of(trial->kernel, "weights");

    for (int64_t i = 0; i < height * width; i++) {
        double sum = 0;

        for (int64_t f = 0; f < filter * filter; f++) {
            const int64_t x = i % width + f % filter - reach;
            const int64_t y = i / width + f / filter - reach;

            if (x >= 0 && x < width && y >= 0 && y < height)
                sum += filled(trial, image, (uint64_t)(y * width + x)) *
                       filled(trial, weights, (uint64_t)f);
        }
        out[i] = sum;
    }
}

static const struct {
    const char *kernel;
    void (*compute)(const struct trial *trial, double *out);
    const char *result;
    const char *dimensions[MOST_DIMENSIONS];
    int64_t sizes[6][MOST_DIMENSIONS];      /* {0} ends them */
} oracles[] = {
    {"transpose", transpose, "out", {"rows", "cols", "element"},
     {{1, 1, 4}, {33, 65, 4}, {127, 1021, 4}, {1000, 31, 8}, {129, 67, 8}}},
    {"reduce", reduce, "out", {"n"}, {{1}, {31}, {4097}, {1000003}}},
    {"matmul", matmul, "c", {"m", "n", "k"},
     {{1, 1, 1}, {33, 65, 17}, {127, 131, 129}, {5, 300, 513}}},
    {"conv2d", conv2d, "out", {"height", "width", "filter"},
     {{1, 1, 3}, {67, 129, 3}, {45, 77, 5}, {61, 33, 7}, {50, 43, 15}}},
};

/* -- comparing ------------------------------------------------------------ */

static uint64_t count_of(const struct trial *trial, size_t number)
{
    struct shmt_value values[SHMT_KERNEL_DIMENSIONS + SHMT_SPACE_PARAMETERS];
    shmt_choice choice[SHMT_SPACE_PARAMETERS];
    int64_t count = 0;

    fixture_choice(trial->kernel, choice, NULL);
    shmt_kernel_values(trial->kernel, trial->size, choice, values);
    CHECK_INT(shmt_expr_eval_int(trial->kernel->arguments[number].count,
                                 values, &count, &err), SHMTUNE_OK);
    return (uint64_t)count;
}

/* Float64 rounded once to float, and sums in another order. */
static void compare(const struct trial *trial, size_t oracle)
{
    const size_t number =
        argument_of(trial->kernel, oracles[oracle].result);
    const uint64_t count = count_of(trial, number);
    float *found = calloc(count + 1, sizeof *found);
    double *expected = calloc(count + 1, sizeof *expected);
    uint64_t wrong = 0;

    if (found == NULL || expected == NULL)
        abort();
    CHECK_INT(shmt_bench_read(trial->bench, oracles[oracle].result, true,
                              count, found, &err), SHMTUNE_OK);
    oracles[oracle].compute(trial, expected);
    for (uint64_t i = 0; i < count; i++)
        if (!(fabs((double)found[i] - expected[i]) <=
              1e-6 + 2e-7 * fabs(expected[i])) &&
            wrong++ == 0)
            printf("# %s: element %llu of %llu is %.9g, expected %.17g\n",
                   trial->kernel->name, (unsigned long long)i,
                   (unsigned long long)count, (double)found[i], expected[i]);
    CHECK_INT(wrong, 0);
    free(found);
    free(expected);
}

/* Measures the k-th of some candidates spread over the space; false when
 * there is none. */
static bool measure(const struct trial *trial, uint64_t k, uint64_t of,
                    struct shmt_result *result)
{
    struct shmt_value values[SHMT_KERNEL_DIMENSIONS + SHMT_SPACE_PARAMETERS];
    shmt_choice choice[SHMT_SPACE_PARAMETERS];
    const struct shmt_bench_request request = {
        .problem = trial->size, .choice = choice, .samples = 1,
        .hopeless_us = (double)INFINITY, .verify = true};
    struct shmt_space *space = NULL;
    struct shmt_bench_note note;
    struct shmt_text text = {0};
    enum shmtune_status status =
        shmt_kernel_space(trial->kernel, trial->size, values, &space, &err);
    const bool any = status == SHMTUNE_OK && shmt_space_count(space) > 0;

    CHECK_INT(status, SHMTUNE_OK);
    if (any) {
        shmt_space_configuration(space, shmt_space_count(space) * k / of,
                                 choice);
        status = shmt_bench_measure(trial->bench, &request, result, &note,
                                    &err);
        CHECK_INT(status, SHMTUNE_OK);
        if (status != SHMTUNE_OK)
            printf("# %s\n", err.text);
        shmt_kernel_describe(trial->kernel, choice, &text);
        if (status == SHMTUNE_OK && result->verdict != SHMT_VERDICT_OK)
            printf("# %s %s: %s\n", shmt_text_string(&text),
                   shmt_verdict_word(result->verdict), result->reason);
    }
    shmt_text_free(&text);
    shmt_space_free(space);
    return any && status == SHMTUNE_OK;
}

static bool open_trial(const char *folder, const char *name,
                       struct trial *trial)
{
    struct shmt_bench_options options = {.driver = driver, .nvrtc = nvrtc,
                                         .images = images, .seed = SEED};
    char path[1024];

    *trial = (struct trial){0};
    snprintf(path, sizeof path, "%s/%s/%s.yaml", getenv("SHMT_SRCDIR"),
             folder, name);
    if (shmt_kernel_read(path, &trial->kernel, &err) == SHMTUNE_OK &&
        shmt_bench_open(trial->kernel, &options, &trial->bench, &err) ==
            SHMTUNE_OK)
        return true;
    printf("# %s\n", err.text);
    shmt_kernel_free(trial->kernel);
    CHECK(false);
    return false;
}

static void close_trial(struct trial *trial)
{
    shmt_bench_close(trial->bench);
    shmt_kernel_free(trial->kernel);
}

static void try_size(struct trial *trial, size_t oracle, size_t s)
{
    struct shmt_result result;
    struct shmt_text text = {0};
    bool any = false;

    for (size_t d = 0; d < trial->kernel->dimension_count; d++)
        trial->size[d] = trial->kernel->dimensions[d].fallback;
    for (size_t k = 0; k < MOST_DIMENSIONS; k++)
        for (size_t d = 0; d < trial->kernel->dimension_count; d++)
            if (oracles[oracle].dimensions[k] != NULL &&
                strcmp(trial->kernel->dimensions[d].name,
                       oracles[oracle].dimensions[k]) == 0)
                trial->size[d] = oracles[oracle].sizes[s][k];
    for (uint64_t k = 0; k < CANDIDATES; k++)
        if (measure(trial, k, CANDIDATES, &result)) {
            any = true;
            CHECK_INT(result.verdict, SHMT_VERDICT_OK);
        }
    shmt_kernel_describe_size(trial->kernel, trial->size, &text);
    if (any)
        compare(trial, oracle);
    else
        printf("# %s: no candidate at %s\n", trial->kernel->name,
               shmt_text_string(&text));
    shmt_text_free(&text);
}

static void try_kernel(size_t oracle)
{
    struct trial trial;

    if (!open_trial("kernels", oracles[oracle].kernel, &trial))
        return;
    for (size_t s = 0; s < 6 && oracles[oracle].sizes[s][0] != 0; s++)
        if (!shmt_bench_lost(trial.bench))
            try_size(&trial, oracle, s);
    CHECK(!shmt_bench_lost(trial.bench));
    close_trial(&trial);
}

static void transpose_is_right(void) { try_kernel(0); }
static void reduce_is_right(void) { try_kernel(1); }
static void matmul_is_right(void) { try_kernel(2); }
static void conv2d_is_right(void) { try_kernel(3); }

/* -- the measuring kernels ------------------------------------------------ */

/* Inputs on the device, element by element, as pattern.c computes them. */
static void inputs_are_as_described(void)
{
    static const int64_t sizes[] = {1, 2, 3, 255, 100001};
    struct trial trial;
    struct shmt_result result;

    if (!open_trial("tests/gpu", "elements", &trial))
        return;
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        trial.size[0] = sizes[s];
        if (!measure(&trial, 0, 1, &result))
            break;
        CHECK_INT(result.verdict, SHMT_VERDICT_OK);
        for (size_t k = 0; k < trial.kernel->argument_count; k++) {
            const struct shmt_argument *argument =
                &trial.kernel->arguments[k];
            const size_t bytes = shmt_element_bytes(argument->element);
            char *data = calloc((size_t)sizes[s], bytes);
            int64_t wrong = 0;

            if (data == NULL)
                abort();
            if (argument->role == SHMT_ROLE_INPUT) {
                CHECK_INT(shmt_bench_read(trial.bench, argument->name, false,
                                          (uint64_t)sizes[s], data, &err),
                          SHMTUNE_OK);
                for (int64_t i = 0; i < sizes[s]; i++)
                    wrong += shmt_element_real(argument->element,
                                               data + (size_t)i * bytes) !=
                             filled(&trial, k, (uint64_t)i);
            }
            if (wrong > 0)
                printf("# %s: %lld of %lld differ\n", argument->name,
                       (long long)wrong, (long long)sizes[s]);
            CHECK_INT(wrong, 0);
            free(data);
        }
    }
    close_trial(&trial);
}

/* One bit of one element of each type is seen, and one left unwritten. */
static void every_element_counts(void)
{
    static const char *const types[] = {"f16", "f32", "f64", "u8", "i32",
                                        "u32", "i64"};
    static const char *const ways[] = {"bit", "unwritten"};
    struct trial trial;
    const int64_t size = 3001;
    shmt_choice choice[SHMT_SPACE_PARAMETERS];
    const struct shmt_bench_request request = {
        .problem = &size, .choice = choice, .samples = 1,
        .hopeless_us = (double)INFINITY, .verify = true};
    struct shmt_result result;
    struct shmt_bench_note note;
    char name[32];

    if (!open_trial("tests/gpu", "elements", &trial))
        return;
    for (size_t t = 0; t < 7; t++)
        for (size_t w = 0; w < 2; w++) {
            fixture_choice(trial.kernel, choice, "BREAK", types[t], "HOW",
                           ways[w], NULL);
            CHECK_INT(shmt_bench_measure(trial.bench, &request, &result,
                                         &note, &err), SHMTUNE_OK);
            CHECK_INT(result.verdict, w == 0 ? SHMT_VERDICT_WRONG
                                             : SHMT_VERDICT_UNWRITTEN);
            snprintf(name, sizeof name, "out_%s", types[t]);
            CHECK_HAS(result.reason, name);
            CHECK_HAS(result.reason, "3000");
        }
    close_trial(&trial);
}

/* X(test) */
#define TEST_LIST(X)                                                         \
    X(inputs_are_as_described)                                               \
    X(every_element_counts)                                                  \
    X(transpose_is_right)                                                    \
    X(reduce_is_right)                                                       \
    X(matmul_is_right)                                                       \
    X(conv2d_is_right)

int main(void)
{
    if (shmt_nvrtc_open(&nvrtc, &err) != SHMTUNE_OK ||
        shmt_driver_open(&driver, &err) != SHMTUNE_OK) {
        printf("1..0 # SKIP %s\n", err.text);
        return EXIT_SUCCESS;
    }
    if (getenv("SHMT_SRCDIR") == NULL)
        setenv("SHMT_SRCDIR", ".", 1);
    images = fixture_folder();
#define TEST_RUN(test) CHECK_RUN(test);
    TEST_LIST(TEST_RUN)
    return CHECK_END();
}
