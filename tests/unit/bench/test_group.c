/* SPDX-License-Identifier: MIT */
/*
 * test_group: the problems that one process keeps prepared, on the fake driver.
 * Compiling needs NVRTC: without one every test is skipped.
 */
#include <math.h>

#include "bench/bench.h"
#include "gpu/driver.h"
#include "tests/fake/fake_kernel.h"
#include "tests/support/check.h"
#include "tests/support/driver_fixture.h"
#include "tests/support/gpu_fixture.h"

static const struct shmt_nvrtc *nvrtc;
static const struct shmt_driver *driver;
static struct shmt_kernel *kernel;
static struct shmt_bench_options options;
static struct shmt_bench_group *group;
static struct shmt_result result;
static struct shmt_bench_note note;
static struct shmt_error err;

static const int64_t small[] = {1000}, large[] = {100000};

static void open_group(void)
{
    shmt_bench_group_close(group);
    group = NULL;
    CHECK_INT(shmt_bench_group_open(kernel, &options, &group, &err),
              SHMTUNE_OK);
}

static enum shmtune_status measure_with(const int64_t *problem,
                                        enum fake_fault fault,
                                        const char *scratch)
{
    shmt_config config[SHMT_SPACE_PARAMETERS];
    const struct shmt_bench_request request = {
        .problem = problem, .config = config, .samples = 7,
        .give_up_us = (double)INFINITY, .verify = true};
    char text[16];

    snprintf(text, sizeof text, "%d", (int)fault);
    fixture_choice(kernel, config, "FAULT", text, "SCRATCH", scratch, NULL);
    memset(&result, 0, sizeof result);
    return shmt_bench_group_measure(group, &request, &result, &note, &err);
}

static enum shmtune_status measure(const int64_t *problem,
                                   enum fake_fault fault)
{
    return measure_with(problem, fault, "1");
}

static void expect_good(const int64_t *problem)
{
    CHECK_INT(measure(problem, FAULT_NONE), SHMTUNE_OK);
    CHECK_INT(result.verdict, SHMT_VERDICT_OK);
    CHECK_TEXT(result.reason, "");
}

static size_t free_bytes(void)
{
    size_t available = 0, total;

    CHECK_INT(driver->MemGetInfo(&available, &total), CUDA_SUCCESS);
    return available;
}

static void two_problems_stay_prepared(void)
{
    size_t one, both;

    open_group();
    expect_good(small);
    one = free_bytes();
    expect_good(large);
    both = free_bytes();
    CHECK(both < one);
    expect_good(small);
    expect_good(large);
    CHECK_INT(free_bytes(), both);
}

static void a_problem_is_forgotten(void)
{
    size_t one;

    open_group();
    expect_good(small);
    one = free_bytes();
    expect_good(large);
    shmt_bench_group_forget(group, large);
    CHECK_INT(free_bytes(), one);
    shmt_bench_group_forget(group, large);      /* it is not there */
    CHECK_INT(free_bytes(), one);
    shmt_bench_group_forget(group, small);      /* the last one */
    CHECK(free_bytes() > one);
    expect_good(small);
    CHECK_INT(free_bytes(), one);
    expect_good(large);
}

static void a_problem_is_renewed(void)
{
    size_t all;

    open_group();
    expect_good(small);
    expect_good(large);
    all = free_bytes();
    shmt_bench_group_renew(group, large);
    CHECK_INT(free_bytes(), all);
    expect_good(small);
    CHECK_INT(free_bytes(), all);
    expect_good(large);
    CHECK_INT(free_bytes(), all);
    shmt_bench_group_renew(group, large);
    shmt_bench_group_forget(group, large);
    CHECK(free_bytes() > all);
    expect_good(large);
    CHECK_INT(free_bytes(), all);
}

static void limit_memory(size_t bytes)
{
    char memory[32];

    snprintf(memory, sizeof memory, "%zu", bytes);
    CHECK_INT(setenv("FAKE_CUDA_MEMORY", memory, 1), 0);
}

/* A problem is prepared anew beside what it was: where both do not fit, that is
 * freed, and then what others hold, which are prepared again. */
static void memory_of_others_is_taken(void)
{
    const size_t total = (size_t)1 << 30;
    size_t before, other, each;

    open_group();
    expect_good(small);
    before = free_bytes();
    other = total - before;
    expect_good(large);
    each = before - free_bytes();
    CHECK(2 * each - 4096 > total - free_bytes());
    limit_memory(2 * each - 4096);
    shmt_bench_group_renew(group, large);
    expect_good(large);
    CHECK_INT(free_bytes(), each - 4096 - other);
    shmt_bench_group_forget(group, large);
    limit_memory(each + other - 4096);
    expect_good(large);
    CHECK_INT(free_bytes(), other - 4096);     /* the large one is alone */
    expect_good(small);
    expect_good(large);
    CHECK_INT(unsetenv("FAKE_CUDA_MEMORY"), 0);
}

/* What a problem had elsewhere takes no memory from its candidates. */
static void a_renewed_one_has_its_workspace(void)
{
    const size_t total = (size_t)1 << 30;
    size_t before, each;

    open_group();
    expect_good(small);
    before = free_bytes();
    CHECK_INT(measure_with(large, FAULT_NONE, "1000"), SHMTUNE_OK);
    CHECK_INT(result.verdict, SHMT_VERDICT_OK);
    each = before - free_bytes();
    limit_memory(total - free_bytes() + each - 256);
    shmt_bench_group_renew(group, large);
    CHECK_INT(measure_with(large, FAULT_NONE, "1000"), SHMTUNE_OK);
    CHECK_INT(result.verdict, SHMT_VERDICT_OK);
    CHECK_TEXT(result.reason, "");
    CHECK_INT(free_bytes(), each - 256);
    CHECK_INT(unsetenv("FAKE_CUDA_MEMORY"), 0);
}

static void a_lost_context_is_that_of_all(void)
{
    open_group();
    expect_good(small);
    expect_good(large);
    CHECK(!shmt_bench_group_lost(group));
    CHECK_INT(measure(small, FAULT_TRAP), SHMTUNE_OK);
    CHECK_INT(result.verdict, SHMT_VERDICT_CRASH);
    CHECK(shmt_bench_group_lost(group));
}

#define TEST_LIST(X)                                                         \
    X(two_problems_stay_prepared)                                            \
    X(a_problem_is_forgotten)                                                \
    X(a_problem_is_renewed)                                                  \
    X(memory_of_others_is_taken)                                             \
    X(a_renewed_one_has_its_workspace)                                       \
    X(a_lost_context_is_that_of_all)

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
    options = (struct shmt_bench_options){
        .driver = driver, .nvrtc = nvrtc, .images = fixture_folder()};
#define TEST_RUN(test) CHECK_RUN(test);
    TEST_LIST(TEST_RUN)
    shmt_bench_group_close(group);
    shmt_kernel_free(kernel);
    return CHECK_END();
}
