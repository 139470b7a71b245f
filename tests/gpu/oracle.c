/* SPDX-License-Identifier: MIT */
/*
 * oracle: the reference of each built-in kernel against a computation in
 * float64 on the CPU, at sizes that no tile divides; a few candidates against
 * the reference there; and the measuring kernels against their descriptions.
 * Needs a GPU and NVRTC.
 */
#include <math.h>

#include "bench/bench.h"
#include "data/data.h"
#include "gpu/driver.h"
#include "oracle.h"
#include "tests/support/bench_read.h"
#include "tests/support/check.h"
#include "tests/support/gpu_fixture.h"

enum { CANDIDATES = 3 };

static const struct shmt_nvrtc *nvrtc;
static const struct shmt_driver *driver;
static const char *images;
static struct shmt_error err;

/* -- comparing ------------------------------------------------------------ */

static uint64_t count_of(const struct trial *trial, size_t number)
{
    struct shmt_kernel_evaluated evaluated;
    uint64_t count = 0;

    shmt_kernel_evaluate_part(trial->kernel, SHMT_KERNEL_REFERENCE,
                              trial->size, &evaluated);
    CHECK_INT(shmt_kernel_argument_count(&evaluated, number, &count, &err),
              SHMTUNE_OK);
    return count;
}

/* Float64 rounded once to the type, and sums in another order. */
static void compare(const struct trial *trial, const struct oracle *oracle)
{
    const size_t number = argument_of(trial->kernel, oracle->result);
    const enum shmt_element element =
        trial->kernel->arguments[number].element;
    const size_t bytes = shmt_element_bytes(element);
    const uint64_t count = count_of(trial, number);
    char *found = calloc(count + 1, bytes);
    double *expected = calloc(count + 1, sizeof *expected);
    uint64_t wrong = 0;

    if (found == NULL || expected == NULL)
        abort();
    CHECK_INT(fixture_read(trial->bench, oracle->result, true, count,
                              found, &err), SHMTUNE_OK);
    oracle->compute(trial, expected);
    for (uint64_t i = 0; i < count; i++) {
        const double one = shmt_element_real(element, found + i * bytes);

        if (!(fabs(one - expected[i]) <= 1e-6 + 2e-7 * fabs(expected[i])) &&
            wrong++ == 0)
            printf("# %s: element %llu of %llu is %.9g, expected %.17g\n",
                   trial->kernel->name, (unsigned long long)i,
                   (unsigned long long)count, one, expected[i]);
    }
    CHECK_INT(wrong, 0);
    free(found);
    free(expected);
}

/* Measures the k-th of some candidates spread over the space; false when
 * there is none. */
static bool measure(const struct trial *trial, uint64_t k, uint64_t of,
                    struct shmt_result *result)
{
    shmt_config config[SHMT_SPACE_PARAMETERS];
    const struct shmt_bench_request request = {
        .problem = trial->size, .config = config, .samples = 1,
        .give_up_us = (double)INFINITY, .verify = true};
    struct shmt_space *space = NULL;
    struct shmt_bench_note note;
    struct shmt_text text = {0};
    enum shmtune_status status =
        shmt_kernel_space(trial->kernel, trial->size, NULL, &space, &err);
    const bool any = status == SHMTUNE_OK && shmt_space_count(space) > 0;

    CHECK_INT(status, SHMTUNE_OK);
    if (any) {
        shmt_space_configuration(space, shmt_space_count(space) * k / of,
                                 config);
        status = shmt_bench_measure(trial->bench, &request, result, &note,
                                    &err);
        CHECK_INT(status, SHMTUNE_OK);
        if (status != SHMTUNE_OK)
            printf("# %s\n", err.text);
        shmt_kernel_describe_config(trial->kernel, config, &text);
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
                                         .images = images, .seed = ORACLE_SEED};
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

static void set_size(struct trial *trial, const struct oracle *oracle,
                     size_t s)
{
    for (size_t d = 0; d < trial->kernel->dimension_count; d++) {
        const struct shmt_dimension *dimension =
            &trial->kernel->dimensions[d];

        trial->size[d] = dimension->default_size;
        for (size_t k = 0; k < ORACLE_DIMENSIONS; k++)
            if (oracle->dimensions[k] != NULL &&
                strcmp(dimension->name, oracle->dimensions[k]) == 0)
                trial->size[d] = oracle->sizes[s][k];
    }
}

static void try_size(struct trial *trial, const struct oracle *oracle)
{
    struct shmt_result result;
    struct shmt_text text = {0};
    bool any = false;

    for (uint64_t k = 0; k < CANDIDATES; k++)
        if (measure(trial, k, CANDIDATES, &result)) {
            any = true;
            CHECK_INT(result.verdict, SHMT_VERDICT_OK);
        }
    shmt_kernel_describe_problem(trial->kernel, trial->size, &text);
    if (any)
        compare(trial, oracle);
    if (!any || check_failed)
        printf("# %s at %s: %s\n", trial->kernel->name,
               shmt_text_string(&text), any ? "failed" : "no candidate");
    shmt_text_free(&text);
}

static const struct oracle *current;

static void reference_is_right(void)
{
    struct trial trial;

    if (!open_trial("kernels", current->kernel, &trial))
        return;
    for (size_t s = 0; s < ORACLE_SIZES && current->sizes[s][0] != 0; s++)
        if (!shmt_bench_context_lost(trial.bench)) {
            set_size(&trial, current, s);
            try_size(&trial, current);
        }
    CHECK(!shmt_bench_context_lost(trial.bench));
    close_trial(&trial);
}

/* -- the measuring kernels ------------------------------------------------ */

/* How many elements of an input or an in-out differ in a bit from those that
 * data/pattern.c computes. */
static int64_t count_wrong(const struct trial *trial, size_t number)
{
    const struct shmt_argument *argument = &trial->kernel->arguments[number];
    const struct shmt_pattern pattern = pattern_of(trial, number);
    const size_t bytes = shmt_element_bytes(argument->element);
    const uint64_t count = count_of(trial, number);
    char *data = calloc((size_t)count, bytes);
    int64_t wrong = 0;

    if (data == NULL)
        abort();
    CHECK_INT(fixture_read(trial->bench, argument->name, false, count, data,
                           &err), SHMTUNE_OK);
    for (uint64_t i = 0; i < count; i++) {
        const union shmt_element_scalar value = shmt_pattern_value(&pattern, i);

        wrong += memcmp(data + i * bytes, &value, bytes) != 0;
    }
    if (wrong > 0)
        printf("# %s: %lld of %llu differ\n", argument->name,
               (long long)wrong, (unsigned long long)count);
    free(data);
    return wrong;
}

/* Inputs on the device, element by element, as data/pattern.c computes them. */
static void inputs_are_as_described_in(const char *spec)
{
    static const int64_t sizes[] = {1, 2, 3, 255, 100001, 4000037};
    struct trial trial;
    struct shmt_result result;

    if (!open_trial("tests/gpu", spec, &trial))
        return;
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        trial.size[0] = sizes[s];
        if (!measure(&trial, 0, 1, &result))
            break;
        CHECK_INT(result.verdict, SHMT_VERDICT_OK);
        for (size_t k = 0; k < trial.kernel->argument_count; k++)
            if (trial.kernel->arguments[k].role == SHMT_ROLE_INPUT ||
                trial.kernel->arguments[k].role == SHMT_ROLE_INOUT)
                CHECK_INT(count_wrong(&trial, k), 0);
    }
    close_trial(&trial);
}

static void elements_are_as_described(void)
{
    inputs_are_as_described_in("elements");
}

static void fills_are_as_described(void)
{
    inputs_are_as_described_in("fills");
}

/* The struct that the kernel takes is the array that was filled. */
static void arrays_by_value_arrive(void)
{
    enum { MOST = 8185 };
    static const int64_t taps[] = {1, 5, MOST};
    struct trial trial;
    struct shmt_result result;

    if (!open_trial("tests/fake", "fake_value", &trial))
        return;
    trial.size[0] = 1000;
    for (size_t s = 0; s < sizeof taps / sizeof taps[0]; s++) {
        const size_t weights = argument_of(trial.kernel, "weights");
        float found[1000];
        int wrong = 0;

        trial.size[1] = taps[s];
        if (!measure(&trial, 0, 1, &result))
            break;
        CHECK_INT(result.verdict, SHMT_VERDICT_OK);
        CHECK_INT(fixture_read(trial.bench, "out", false, 1000, found,
                                  &err), SHMTUNE_OK);
        for (int64_t i = 0; i < 1000; i++) {
            double sum = 0;

            for (int64_t t = 0; t < taps[s]; t++)
                sum += filled(&trial, weights, (uint64_t)t) *
                       (double)((i + t) % 1000);
            wrong += !(fabs((double)found[i] - sum) <= 1e-4 * sum);
        }
        CHECK_INT(wrong, 0);
    }
    close_trial(&trial);
}

/* Both layouts are right, so the setup has made one of the other. */
static void setups_fill_inputs(void)
{
    static const char *const layouts[] = {"structures", "arrays"};
    static const int64_t size[] = {1003, 1};
    shmt_config config[SHMT_SPACE_PARAMETERS];
    struct shmt_bench_request request = {
        .problem = size, .config = config, .samples = 1,
        .give_up_us = (double)INFINITY, .verify = true};
    struct shmt_result result;
    struct shmt_bench_note note;
    struct trial trial;

    if (!open_trial("tests/fake", "fake_setup", &trial))
        return;
    for (size_t k = 0; k < 2; k++) {
        fixture_choice(trial.kernel, config, "LAYOUT", layouts[k], NULL);
        CHECK_INT(shmt_bench_measure(trial.bench, &request, &result, &note,
                                     &err), SHMTUNE_OK);
        CHECK_INT(result.verdict, SHMT_VERDICT_OK);
    }
    for (int64_t fault = 2; fault <= 5; fault++) {
        const int64_t faulty[] = {1003, fault};

        request.problem = faulty;
        CHECK_INT(shmt_bench_measure(trial.bench, &request, &result, &note,
                                     &err), SHMTUNE_WRONG_RESULT);
        CHECK_HAS(err.text, "the setup failed");
    }
    close_trial(&trial);
}

/* One bit of one element of each type is seen, and one left unwritten. */
static void every_element_counts(void)
{
    static const char *const ways[] = {"bit", "unwritten"};
    struct trial trial;
    const int64_t size = 3001;
    shmt_config config[SHMT_SPACE_PARAMETERS];
    const struct shmt_bench_request request = {
        .problem = &size, .config = config, .samples = 1,
        .give_up_us = (double)INFINITY, .verify = true};
    struct shmt_result result;
    struct shmt_bench_note note;
    char name[32];

    if (!open_trial("tests/gpu", "elements", &trial))
        return;
    for (size_t t = 0; t < SHMT_ELEMENT_COUNT; t++)
        for (size_t w = 0; w < 2; w++) {
            const char *word = shmt_element_word((enum shmt_element)t);

            fixture_choice(trial.kernel, config, "BREAK", word, "HOW",
                           ways[w], NULL);
            CHECK_INT(shmt_bench_measure(trial.bench, &request, &result,
                                         &note, &err), SHMTUNE_OK);
            CHECK_INT(result.verdict, w == 0 ? SHMT_VERDICT_WRONG
                                             : SHMT_VERDICT_UNWRITTEN);
            snprintf(name, sizeof name, "out_%s", word);
            CHECK_HAS(result.reason, name);
            CHECK_HAS(result.reason, "3000");
        }
    close_trial(&trial);
}

/* Every f32 to each small type, and back, as the hardware does it. */
static void small_types_are_the_hardwares(void)
{
    struct trial trial;
    shmt_config config[SHMT_SPACE_PARAMETERS];
    struct shmt_result result;
    struct shmt_bench_note note;
    struct shmt_bench_request request = {
        .config = config, .samples = 1, .give_up_us = (double)INFINITY,
        .verify = true};

    if (!open_trial("tests/gpu", "convert", &trial))
        return;
    request.problem = trial.kernel->sizes[0];
    fixture_choice(trial.kernel, config, "HOW", "soft", NULL);
    if (10 * shmt_bench_device(trial.bench)->compute_major +
            shmt_bench_device(trial.bench)->compute_minor >= 89) {
        CHECK_INT(shmt_bench_measure(trial.bench, &request, &result, &note,
                                     &err), SHMTUNE_OK);
        CHECK_INT(result.verdict, SHMT_VERDICT_OK);
        CHECK_TEXT(result.reason, "");
    }
    close_trial(&trial);
}

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
    CHECK_RUN(elements_are_as_described);
    CHECK_RUN(fills_are_as_described);
    CHECK_RUN(arrays_by_value_arrive);
    CHECK_RUN(setups_fill_inputs);
    CHECK_RUN(every_element_counts);
    CHECK_RUN(small_types_are_the_hardwares);
    for (size_t k = 0; k < oracle_count; k++) {
        current = &oracles[k];
        printf("# %s\n", current->kernel);
        CHECK_RUN(reference_is_right);
    }
    return CHECK_END();
}
