/* SPDX-License-Identifier: MIT */
/*
 * test_bench: verdicts of candidates on the fake driver.  Compiling needs
 * NVRTC: without one every test is skipped.
 */
#include <dlfcn.h>
#include <math.h>
#include <sys/stat.h>

#include "bench/bench.h"
#include "data/data.h"
#include "gpu/driver.h"
#include "tests/fake/fake_kernel.h"
#include "tests/support/bench_read.h"
#include "tests/support/check.h"
#include "tests/support/driver_fixture.h"
#include "tests/support/gpu_fixture.h"

static const struct shmt_nvrtc *nvrtc;
static const struct shmt_driver *driver;
static struct shmt_kernel *kernel;
static const char *images;
static struct shmt_bench *bench;
static struct shmt_result result;
static struct shmt_bench_note note;
static struct shmt_error err;

static enum shmtune_status open_bench(bool warm)
{
    const struct shmt_bench_options options = {
        .driver = driver, .nvrtc = nvrtc, .images = images, .warm = warm};

    return shmt_bench_open(kernel, &options, &bench, &err);
}

/* A bench that is usable. */
static void need_bench(void)
{
    if (bench != NULL && !shmt_bench_context_lost(bench))
        return;
    shmt_bench_close(bench);
    bench = NULL;
    if (open_bench(false) != SHMTUNE_OK) {
        printf("Bail out! %s\n", err.text);
        exit(EXIT_FAILURE);
    }
}

static enum shmtune_status measure_with(const shmt_config *config,
                                        double give_up_us, bool verify)
{
    const int64_t problem[] = {1000};
    const struct shmt_bench_request request = {
        .problem = problem, .config = config, .samples = 7,
        .give_up_us = give_up_us, .verify = verify};

    memset(&result, 0, sizeof result);
    err.text[0] = '\0';
    return shmt_bench_measure(bench, &request, &result, &note, &err);
}

/* The candidate of one fault; the bench may be lost afterwards. */
static void commit(enum fake_fault fault)
{
    shmt_config config[SHMT_SPACE_PARAMETERS];
    char text[16];

    need_bench();
    snprintf(text, sizeof text, "%d", (int)fault);
    fixture_choice(kernel, config, "FAULT", text, NULL);
    CHECK_INT(measure_with(config, (double)INFINITY, true), SHMTUNE_OK);
    CHECK_TEXT(err.text, "");
}

/* Whatever went before, a good candidate is good. */
static void expect_good(void)
{
    commit(FAULT_NONE);
    CHECK_INT(result.verdict, SHMT_VERDICT_OK);
    CHECK_TEXT(result.reason, "");
    CHECK_INT(result.sample_count, 7);
    CHECK(fabs(result.time_us - 100) < 0.01);
}

static void good_candidates_are_timed(void)
{
    expect_good();
    CHECK_INT(result.resources.shared_static_bytes, 256);
    CHECK(result.resources.registers > 0);
    CHECK_INT(result.resident_blocks, 32);
    CHECK_INT(result.occupancy_percent, 100);
    CHECK_INT(result.shared_dynamic_bytes, 0);
    CHECK_TEXT(note.text, "");
    CHECK(result.measure_ms > 0);
    CHECK_INT(strlen(result.image), 64);
    CHECK(!shmt_bench_context_lost(bench));
}

static void faults_have_their_verdicts(void)
{
    static const struct {
        enum fake_fault fault;
        enum shmt_verdict verdict;
        const char *reason;
        bool lost;
    } cases[] = {
        {FAULT_ILLEGAL, SHMT_VERDICT_CRASH, "CUDA_ERROR_ILLEGAL_ADDRESS",
         true},
        {FAULT_TRAP, SHMT_VERDICT_CRASH, "CUDA_ERROR_LAUNCH_FAILED", true},
        {FAULT_WATCHDOG, SHMT_VERDICT_TIMEOUT, "CUDA_ERROR_LAUNCH_TIMEOUT",
         true},
        {FAULT_PAST, SHMT_VERDICT_OUT_OF_BOUNDS,
         "4 bytes outside out, the first at element 1000 of 1000", false},
        {FAULT_BEFORE, SHMT_VERDICT_OUT_OF_BOUNDS,
         "4 bytes before its begin", false},
        {FAULT_INPUT, SHMT_VERDICT_OUT_OF_BOUNDS, "changed its input x",
         false},
        {FAULT_NAN, SHMT_VERDICT_WRONG, "out[999] is nan", false},
        {FAULT_ONE, SHMT_VERDICT_WRONG,
         "1 of 1000 elements that differ, 0 of them unwritten (tolerance: "
         "{relative: 1e-06})", false},
        {FAULT_UNWRITTEN, SHMT_VERDICT_UNWRITTEN,
         "1 of 1000 elements of out unwritten, the first is 999", false},
        {FAULT_MIXED, SHMT_VERDICT_WRONG,
         "2 of 1000 elements that differ, 1 of them unwritten", false},
        {FAULT_UNSTABLE, SHMT_VERDICT_UNSTABLE, "after the timing out[0]",
         false},
        {FAULT_WORKSPACE, SHMT_VERDICT_OUT_OF_BOUNDS, "outside counter",
         false},
    };

    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        commit(cases[k].fault);
        CHECK_INT(result.verdict, cases[k].verdict);
        CHECK_HAS(result.reason, cases[k].reason);
        CHECK_INT(result.sample_count, 0);
        CHECK(result.time_us < 0);
        CHECK_INT(shmt_bench_context_lost(bench), cases[k].lost);
        expect_good();
    }
}

static void lost_benches_say_so(void)
{
    shmt_config config[SHMT_SPACE_PARAMETERS];

    commit(FAULT_TRAP);
    fixture_choice(kernel, config, NULL);
    CHECK_INT(measure_with(config, (double)INFINITY, true), SHMTUNE_CUDA);
    CHECK_HAS(err.text, "lost");
}

static void specs_are_held_to_their_bytes(void)
{
    shmt_config config[SHMT_SPACE_PARAMETERS];

    need_bench();
    fixture_choice(kernel, config, "STATED", "wrong", NULL);
    CHECK_INT(measure_with(config, (double)INFINITY, true), SHMTUNE_OK);
    CHECK_INT(result.verdict, SHMT_VERDICT_SPEC_MISMATCH);
    CHECK_HAS(result.reason, "260 bytes");
    CHECK_HAS(result.reason, "256");
}

static void memory_runs_out(void)
{
    shmt_config config[SHMT_SPACE_PARAMETERS];

    need_bench();
    fixture_choice(kernel, config, "SCRATCH", "1000000000", NULL);
    CHECK_INT(measure_with(config, (double)INFINITY, true), SHMTUNE_OK);
    CHECK_INT(result.verdict, SHMT_VERDICT_OUT_OF_MEMORY);
    CHECK_HAS(result.reason, "counter of 4000000000 bytes");
    expect_good();
    fixture_choice(kernel, config, "SCRATCH", "1000", NULL);
    CHECK_INT(measure_with(config, (double)INFINITY, true), SHMTUNE_OK);
    CHECK_INT(result.verdict, SHMT_VERDICT_OK);
    expect_good();
    commit(FAULT_WORKSPACE);   /* smaller again: the guard is near again */
    CHECK_INT(result.verdict, SHMT_VERDICT_OUT_OF_BOUNDS);
}

static void problems_that_do_not_fit_are_refused(void)
{
    shmt_config config[SHMT_SPACE_PARAMETERS];

    shmt_bench_close(bench);
    bench = NULL;
    setenv("FAKE_CUDA_MEMORY", "600000", 1);
    need_bench();
    fixture_choice(kernel, config, NULL);
    CHECK_INT(measure_with(config, (double)INFINITY, true),
              SHMTUNE_NO_MEMORY);
    CHECK_HAS(err.text, "smaller size");
    unsetenv("FAKE_CUDA_MEMORY");
    expect_good();
}

static void shared_memory_is_opted_in(void)
{
    shmt_config config[SHMT_SPACE_PARAMETERS];

    need_bench();
    fixture_choice(kernel, config, "DYNAMIC", "65536", NULL);
    CHECK_INT(measure_with(config, (double)INFINITY, true), SHMTUNE_OK);
    CHECK_INT(result.verdict, SHMT_VERDICT_OK);
    CHECK_INT(result.shared_dynamic_bytes, 65536);
    CHECK_INT(result.resident_blocks, 3);
    CHECK_INT(result.limiter, SHMT_LIMITER_SHARED);
    CHECK_TEXT(note.text, "");
    fixture_choice(kernel, config, "DYNAMIC", "1000000", NULL);
    CHECK_INT(measure_with(config, (double)INFINITY, true), SHMTUNE_OK);
    CHECK_INT(result.verdict, SHMT_VERDICT_LAUNCH_ERROR);
    CHECK_HAS(result.reason, "1000000 bytes of dynamic");
}

static void hopeless_candidates_are_raced_out(void)
{
    shmt_config config[SHMT_SPACE_PARAMETERS];

    need_bench();
    fixture_choice(kernel, config, NULL);
    CHECK_INT(measure_with(config, 99, true), SHMTUNE_OK);
    CHECK_INT(result.verdict, SHMT_VERDICT_SLOW);
    CHECK_INT(result.sample_count, 2);
    CHECK(fabs(result.time_us - 100) < 0.01);
    CHECK_INT(measure_with(config, 49, true), SHMTUNE_OK);
    CHECK_INT(result.sample_count, 1);
    CHECK_INT(measure_with(config, 101, true), SHMTUNE_OK);
    CHECK_INT(result.verdict, SHMT_VERDICT_OK);
    CHECK_INT(result.sample_count, 7);
}

static void long_kernels_have_fewer_samples(void)
{
    shmt_config config[SHMT_SPACE_PARAMETERS];

    need_bench();
    fixture_choice(kernel, config, "COST", "400000", NULL);
    CHECK_INT(measure_with(config, (double)INFINITY, true), SHMTUNE_OK);
    CHECK_INT(result.verdict, SHMT_VERDICT_OK);
    CHECK_INT(result.sample_count, 3);
}

/* Even where verifying was not asked for, wrong outputs are seen. */
static void unverified_runs_are_compared(void)
{
    shmt_config config[SHMT_SPACE_PARAMETERS];

    need_bench();
    fixture_choice(kernel, config, NULL);
    CHECK_INT(measure_with(config, (double)INFINITY, false), SHMTUNE_OK);
    CHECK_INT(result.verdict, SHMT_VERDICT_OK);
    fixture_choice(kernel, config, "FAULT", "8", NULL);
    CHECK_INT(measure_with(config, (double)INFINITY, false), SHMTUNE_OK);
    CHECK_INT(result.verdict, SHMT_VERDICT_WRONG);
}

/* The tolerance of the spec is the one that is compared with: the fault is an
 * error of one half. */
static void tolerances_reach_the_comparison(void)
{
    /* Constant for all who only read a spec; this one is the test's own. */
    struct shmt_argument *const out =
        (struct shmt_argument *)(uintptr_t)&kernel->arguments[0];
    const struct shmt_tolerance before = out->tolerance;

    CHECK_TEXT(out->name, "out");
    out->tolerance.relative = 0;
    out->tolerance.absolute = 0.499;
    commit(FAULT_ONE);
    CHECK_INT(result.verdict, SHMT_VERDICT_WRONG);
    CHECK_HAS(result.reason, "(tolerance: {absolute: 0.499})");
    out->tolerance.absolute = 0.501;
    commit(FAULT_ONE);
    CHECK_INT(result.verdict, SHMT_VERDICT_OK);
    out->tolerance = before;
    commit(FAULT_ONE);
    CHECK_INT(result.verdict, SHMT_VERDICT_WRONG);
    expect_good();
}

/* FAULT_ONE under a tolerance that no run has seen, so that what follows from
 * the whole output is computed again. */
static void commit_one_under(struct shmt_tolerance tolerance)
{
    struct shmt_argument *const out =
        (struct shmt_argument *)(uintptr_t)&kernel->arguments[0];
    const struct shmt_tolerance before = out->tolerance;

    out->tolerance = tolerance;
    shmt_bench_close(bench);
    bench = NULL;
    commit(FAULT_ONE);
    out->tolerance = before;
    shmt_bench_close(bench);
    bench = NULL;
}

/* The expected elements are 2 x, x in [-1, 1): the largest is almost 2, the
 * root of the mean square 2 / sqrt(3). */
static void tolerances_by_the_size_of_the_output(void)
{
    commit_one_under((struct shmt_tolerance){.maximum = 0.252});
    CHECK_INT(result.verdict, SHMT_VERDICT_OK);
    commit_one_under((struct shmt_tolerance){.maximum = 0.249});
    CHECK_INT(result.verdict, SHMT_VERDICT_WRONG);
    CHECK_HAS(result.reason, "off by 0.5, 1.0");
    CHECK_HAS(result.reason, "(tolerance: {maximum: 0.249})");
    commit_one_under((struct shmt_tolerance){.norm = 0.45});
    CHECK_INT(result.verdict, SHMT_VERDICT_OK);
    commit_one_under((struct shmt_tolerance){.norm = 0.42});
    CHECK_INT(result.verdict, SHMT_VERDICT_WRONG);
    CHECK_HAS(result.reason, "(tolerance: {norm: 0.42})");
    commit_one_under((struct shmt_tolerance){.ulp = 4});
    CHECK_INT(result.verdict, SHMT_VERDICT_WRONG);
    CHECK_HAS(result.reason, "times the tolerance");
    commit_one_under((struct shmt_tolerance){.ulp = UINT64_C(1) << 40});
    CHECK_INT(result.verdict, SHMT_VERDICT_OK);
    commit_one_under((struct shmt_tolerance){0});
    CHECK_HAS(result.reason, " of it; it is the worst of 1 of 1000");
}

/* So many may be wrong; an unwritten one is never right. */
static void mismatches_are_allowed(void)
{
    struct shmt_argument *const out =
        (struct shmt_argument *)(uintptr_t)&kernel->arguments[0];
    const struct shmt_tolerance before = out->tolerance;

    out->tolerance.mismatches = 1;
    commit(FAULT_ONE);
    CHECK_INT(result.verdict, SHMT_VERDICT_OK);
    commit(FAULT_MIXED);
    CHECK_INT(result.verdict, SHMT_VERDICT_WRONG);
    CHECK_HAS(result.reason, "{relative: 1e-06, mismatches: 1}");
    commit(FAULT_UNWRITTEN);
    CHECK_INT(result.verdict, SHMT_VERDICT_UNWRITTEN);
    out->tolerance.mismatches = 2;
    commit(FAULT_MIXED);
    CHECK_INT(result.verdict, SHMT_VERDICT_WRONG);
    out->tolerance.mismatches = 0;
    out->tolerance.mismatch_share = 0.0011;
    commit(FAULT_ONE);
    CHECK_INT(result.verdict, SHMT_VERDICT_OK);
    out->tolerance.mismatch_share = 0.0009;
    commit(FAULT_ONE);
    CHECK_INT(result.verdict, SHMT_VERDICT_WRONG);
    out->tolerance = before;
    expect_good();
}

static void changed_sources_are_refused(void)
{
    const int64_t problem[] = {1000};
    shmt_config config[SHMT_SPACE_PARAMETERS];
    struct shmt_bench_request request = {
        .problem = problem, .config = config, .samples = 1,
        .give_up_us = (double)INFINITY, .verify = true, .image = "abcd"};

    need_bench();
    fixture_choice(kernel, config, NULL);
    CHECK_INT(shmt_bench_measure(bench, &request, &result, &note, &err),
              SHMTUNE_INVALID_FILE);
    CHECK_HAS(err.text, "changed");
}

static void sizes_change(void)
{
    shmt_config config[SHMT_SPACE_PARAMETERS];
    float *out = NULL, *expected = NULL;
    enum { MOST = 4099 };

    need_bench();
    out = malloc(MOST * sizeof *out);
    expected = malloc(MOST * sizeof *expected);
    if (out == NULL || expected == NULL)
        abort();
    fixture_choice(kernel, config, NULL);
    for (int64_t n = 1; n <= MOST; n = n * 3 + 1) {
        const struct shmt_bench_request request = {
            .problem = &n, .config = config, .samples = 1,
            .give_up_us = (double)INFINITY, .verify = true};

        CHECK_INT(shmt_bench_measure(bench, &request, &result, &note, &err),
                  SHMTUNE_OK);
        CHECK_INT(result.verdict, SHMT_VERDICT_OK);
        CHECK_INT(fixture_read(bench, "out", false, MOST, out, &err),
                  SHMTUNE_OK);
        CHECK_INT(fixture_read(bench, "out", true, MOST, expected, &err),
                  SHMTUNE_OK);
        CHECK(memcmp(out, expected, (size_t)n * sizeof *out) == 0);
    }
    CHECK_INT(fixture_read(bench, "nothing", false, 1, out, &err),
              SHMTUNE_NOT_FOUND);
    free(out);
    free(expected);
}

static void warm_samples_are_taken(void)
{
    shmt_config config[SHMT_SPACE_PARAMETERS];

    shmt_bench_close(bench);
    bench = NULL;
    CHECK_INT(open_bench(true), SHMTUNE_OK);
    CHECK_TEXT(shmt_bench_protocol(bench), "warm-l2");
    fixture_choice(kernel, config, NULL);
    CHECK_INT(measure_with(config, (double)INFINITY, true), SHMTUNE_OK);
    CHECK_INT(result.verdict, SHMT_VERDICT_OK);
    CHECK(fabs(result.time_us - 100) < 0.01);
    shmt_bench_close(bench);
    bench = NULL;
}

/* Where it is compiled, and by no other worker after that; loading a binary, of
 * which there are two, is for each of them to do. */
static void what_is_compiled_is_told(void)
{
    enum { LOAD_MS = 60 };
    const char *const before = images;
    char fresh[512];

    snprintf(fresh, sizeof fresh, "%s/fresh", images);
    CHECK_INT(mkdir(fresh, 0700), 0);
    images = fresh;
    for (int round = 0; round < 2; round++) {
        shmt_bench_close(bench);
        bench = NULL;
        need_bench();
        setenv("FAKE_CUDA_LOAD_MS", "60", 1);
        expect_good();
        unsetenv("FAKE_CUDA_LOAD_MS");
        CHECK((result.once_ms > 0) == (round == 0));
        CHECK(result.once_ms < result.measure_ms - 2 * LOAD_MS);
        expect_good();
        CHECK(!(result.once_ms > 0));
    }
    shmt_bench_close(bench);
    bench = NULL;
    images = before;
}

/* True when the failing of one call led to a status or a verdict. */
static bool is_noticed(const char *call, int which)
{
    shmt_config config[SHMT_SPACE_PARAMETERS];
    char fail[96];
    bool noticed = true;

    fixture_choice(kernel, config, NULL);
    snprintf(fail, sizeof fail, "%s=%d,%d", call,
             (int)CUDA_ERROR_INVALID_VALUE, which);
    setenv("FAKE_CUDA_FAIL", fail, 1);
    if (open_bench(false) != SHMTUNE_OK ||
        measure_with(config, (double)INFINITY, true) != SHMTUNE_OK)
        CHECK_HAS(err.text, "CUDA_ERROR_INVALID_VALUE");
    else if (result.verdict != SHMT_VERDICT_OK)
        CHECK_HAS(result.reason, "CUDA_ERROR_INVALID_VALUE");
    else
        noticed = false;
    unsetenv("FAKE_CUDA_FAIL");
    shmt_bench_close(bench);
    bench = NULL;
    return noticed;
}

/* Modules that the fake driver holds. */
static size_t modules_loaded(void)
{
    void *const library = dlopen(getenv("SHMTUNE_LIBCUDA"), RTLD_NOW);
    size_t (*count)(void) = NULL;
    size_t loaded;

    if (library != NULL)
        *(void **)(void *)&count = dlsym(library, "fake_modules");
    if (count == NULL) {
        printf("Bail out! no fake_modules: %s\n", dlerror());
        exit(EXIT_FAILURE);
    }
    loaded = count();
    dlclose(library);
    return loaded;
}

/* Every use of every call, one at a time, until there are no more: nothing is
 * taken for success, every module that was loaded is unloaded, and all memory
 * is given back (under ASan). */
static void failing_calls_are_noticed(void)
{
    static const char *const calls[] = {
        "DeviceGet", "DevicePrimaryCtxRetain", "CtxSetCurrent",
        "StreamCreate", "EventCreate", "ModuleLoadData", "ModuleGetFunction",
        "FuncGetAttribute", "MemAlloc", "MemcpyHtoD",
        "MemcpyDtoDAsync", "MemsetD8Async", "MemsetD32Async", "LaunchKernel",
        "EventRecord", "EventSynchronize",
        "OccupancyMaxActiveBlocksPerMultiprocessor"};
    enum { MOST_USES = 200 };
    size_t loaded;

    shmt_bench_close(bench);
    bench = NULL;
    loaded = modules_loaded();
    need_bench();
    CHECK(modules_loaded() > loaded);
    shmt_bench_close(bench);
    bench = NULL;
    CHECK_INT(modules_loaded(), loaded);
    for (size_t k = 0; k < sizeof calls / sizeof calls[0]; k++) {
        int which = 1;

        while (which < MOST_USES && is_noticed(calls[k], which))
            which++;
        if (which == 1)
            printf("# cu%s may fail unnoticed\n", calls[k]);
        CHECK(which > 1);
        CHECK(which < MOST_USES);
        CHECK_INT(modules_loaded(), loaded);
    }
}

static void devices_are_found(void)
{
    struct shmtune_device device;
    int ordinal = -1;

    setenv("FAKE_CUDA_DEVICES", "3", 1);
    CHECK_INT(shmt_driver_find_device(driver, "2", &ordinal, &err), SHMTUNE_OK);
    CHECK_INT(ordinal, 2);
    CHECK_INT(shmt_driver_describe_device(driver, 2, &device, &err),
              SHMTUNE_OK);
    CHECK_TEXT(device.name, "Fake device 2");
    CHECK_TEXT(device.uuid, "GPU-abababab-abab-abab-abab-ababababab02");
    CHECK_INT(device.compute_major, 9);
    CHECK_INT(device.shared_per_block_optin, 232448);
    CHECK_INT(shmt_driver_find_device(driver, device.uuid, &ordinal, &err),
              SHMTUNE_OK);
    CHECK_INT(ordinal, 2);
    CHECK_INT(shmt_driver_find_device(driver, "3", &ordinal, &err),
              SHMTUNE_NO_DEVICE);
    CHECK_HAS(err.text, "no device \"3\"; there are 0 (GPU-");
    CHECK_INT(shmt_driver_find_device(driver, "GPU-abab", &ordinal, &err),
              SHMTUNE_NO_DEVICE);
    CHECK_HAS(err.text, "more than one");
    CHECK_INT(shmt_driver_find_device(driver, "GPU-", &ordinal, &err),
              SHMTUNE_NO_DEVICE);
    CHECK_INT(shmt_driver_find_device(driver, "-1", &ordinal, &err),
              SHMTUNE_NO_DEVICE);
    setenv("FAKE_CUDA_FAIL", "DeviceGetUuid=1", 1);
    CHECK_INT(shmt_driver_describe_device(driver, 2, &device, &err),
              SHMTUNE_CUDA);
    CHECK_HAS(err.text, "UUID of device 2");
    unsetenv("FAKE_CUDA_FAIL");
    unsetenv("FAKE_CUDA_DEVICES");
}

/* X(test) */
#define TEST_LIST(X)                                                         \
    X(devices_are_found)                                                     \
    X(good_candidates_are_timed)                                             \
    X(faults_have_their_verdicts)                                            \
    X(lost_benches_say_so)                                                   \
    X(specs_are_held_to_their_bytes)                                         \
    X(memory_runs_out)                                                       \
    X(problems_that_do_not_fit_are_refused)                                  \
    X(shared_memory_is_opted_in)                                             \
    X(hopeless_candidates_are_raced_out)                                     \
    X(long_kernels_have_fewer_samples)                                       \
    X(unverified_runs_are_compared)                                          \
    X(tolerances_reach_the_comparison)                                       \
    X(tolerances_by_the_size_of_the_output)                                  \
    X(mismatches_are_allowed)                                                \
    X(changed_sources_are_refused)                                           \
    X(sizes_change)                                                          \
    X(warm_samples_are_taken)                                                \
    X(what_is_compiled_is_told)                                              \
    X(failing_calls_are_noticed)

int main(void)
{
    fixture_fake_driver();
    if (shmt_nvrtc_open(&nvrtc, &err) != SHMTUNE_OK) {
#define TEST_SKIP(test) CHECK_SKIP(test, "no NVRTC on this machine");
        TEST_LIST(TEST_SKIP)
        return CHECK_END();
    }
    if (shmt_driver_open(&driver, &err) != SHMTUNE_OK) {
        printf("Bail out! %s\n", err.text);
        return EXIT_FAILURE;
    }
    kernel = fixture_kernel();
    images = fixture_folder();
#define TEST_RUN(test) CHECK_RUN(test);
    TEST_LIST(TEST_RUN)
    shmt_bench_close(bench);
    shmt_kernel_free(kernel);
    return CHECK_END();
}
