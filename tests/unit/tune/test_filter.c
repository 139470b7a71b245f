/* SPDX-License-Identifier: MIT */
/* What leaves the funnel without being run. */
#include "device/device.h"
#include "tests/support/check.h"
#include "tests/support/spec_fixture.h"
#include "tune/filter.h"

static struct shmtune_device h100;

static struct shmt_result compiled(int registers)
{
    struct shmt_result result;
    shmt_result_clear(&result);
    result.resources.registers = registers;
    result.resources.shared_static_bytes = 0;
    result.resources.spill_store_bytes = 16;
    result.resources.max_threads = 1024;
    return result;
}

static struct shmt_resources_of_launch kept(int registers)
{
    const struct shmt_result result = compiled(registers);

    return shmt_resources_keep(&result.resources);
}

static const int64_t some_problem[] = {64, 32, 3};

/* The spec with second launches of so many threads. */
static struct shmt_kernel *read_blocks_of(const char *threads)
{
    struct shmt_text text = {0};
    struct shmt_kernel *kernel = NULL;
    char block[40];

    snprintf(block, sizeof block, "  block: [%s]\n", threads);
    spec_edit("  block: [32]\n", block, &text);
    spec_write("spec.yaml", text.data, text.length);
    shmt_text_free(&text);
    CHECK_INT(shmt_kernel_read(spec_path, &kernel, NULL), SHMTUNE_OK);
    return kernel;
}

/* The kernel of one takes many registers a thread, that of the other has many
 * threads: each fits, though one that were both would not. */
static void each_launch_is_judged_by_its_own(void)
{
    struct shmt_kernel *kernel = read_blocks_of("1024");
    shmt_config config[SHMT_SPACE_PARAMETERS];
    struct shmt_filter filter = {.device = &h100, .kernel = kernel,
                                 .problem = some_problem, .policy = {.max_spill_bytes = -1}};
    struct shmt_result result = compiled(168);

    if (kernel == NULL)
        return;
    shmt_kernel_default(kernel, config);
    config[2] = 1;                      /* STAGES: 2, so there are two */
    result.launches.count = 2;
    result.launches.of[0] = kept(168);
    result.launches.of[1] = kept(32);
    CHECK(shmt_filter_after_compile(&filter, config, &result));
    CHECK_INT(result.verdict, SHMT_VERDICT_OK);
    CHECK_INT(result.resident_blocks, 3);
    CHECK_INT(result.occupancy_percent, 19);
    CHECK_INT(result.limiter, SHMT_LIMITER_REGISTERS);
    CHECK_INT(result.resources.registers, 168);
    CHECK_INT(result.launches.count, 2);

    /* Recorded without: what was found then stays. */
    result.launches.count = 0;
    CHECK(shmt_filter_after_compile(&filter, config, &result));
    CHECK_INT(result.verdict, SHMT_VERDICT_OK);
    CHECK_INT(result.resident_blocks, 3);
    CHECK_INT(result.occupancy_percent, 19);

    /* One of them does not fit. */
    result.launches.count = 2;
    result.launches.of[1] = kept(72);
    CHECK(!shmt_filter_after_compile(&filter, config, &result));
    CHECK_INT(result.verdict, SHMT_VERDICT_NOT_RESIDENT);
    CHECK_HAS(result.reason, "launch 2: no block fits a multiprocessor: one "
              "takes 73728 registers, there are 65536");

    /* The compiler found other than the spec says. */
    shmt_result_clear(&result);
    result.resources = compiled(168).resources;
    result.launches.count = 2;
    result.launches.of[0] = result.launches.of[1] = kept(32);
    result.launches.of[0].shared_static_bytes = 16;
    CHECK(!shmt_filter_after_compile(&filter, config, &result));
    CHECK_INT(result.verdict, SHMT_VERDICT_SPEC_MISMATCH);
    CHECK_HAS(result.reason, "launch 1: shared_static of the spec is 0 bytes, "
              "the compiler reports 16");
    shmt_kernel_free(kernel);
}

/* As an imported run has it. */
static void nothing_is_held_against_what_is_not_known(void)
{
    struct shmtune_device unknown = {.name = "another"};
    struct shmt_kernel *kernel = read_blocks_of("2048");
    shmt_config config[SHMT_SPACE_PARAMETERS];
    struct shmt_filter filter = {.device = &h100, .kernel = kernel,
                                 .problem = some_problem, .policy = {.max_spill_bytes = -1}};
    struct shmt_result result;

    if (kernel == NULL)
        return;
    shmt_kernel_default(kernel, config);
    config[2] = 1;
    CHECK(!shmt_filter_before_compile(&filter, config, &result));
    CHECK_INT(result.verdict, SHMT_VERDICT_TOO_LARGE);
    filter.device = &unknown;
    CHECK(shmt_filter_before_compile(&filter, config, &result));
    CHECK_INT(result.verdict, SHMT_VERDICT_OK);
    config[2] = 0;
    CHECK(shmt_filter_after_compile(&filter, config, &result));
    CHECK_INT(result.verdict, SHMT_VERDICT_OK);
    CHECK_INT(result.resident_blocks, -1);
    filter.device = &h100;
    CHECK(shmt_filter_after_compile(&filter, config, &result));
    CHECK_INT(result.verdict, SHMT_VERDICT_OK);
    CHECK_INT(result.resident_blocks, -1);
    shmt_kernel_free(kernel);
}

static void policies(void)
{
    struct shmt_filter_policy policy = {.max_spill_bytes = -1};
    struct shmt_result result = compiled(64);

    result.resident_blocks = 4;
    result.occupancy_percent = 50;
    shmt_filter_apply_policy(&policy, &result);
    CHECK_INT(result.verdict, SHMT_VERDICT_OK);
    policy.max_spill_bytes = 16;
    policy.min_occupancy_percent = 50;
    shmt_filter_apply_policy(&policy, &result);
    CHECK_INT(result.verdict, SHMT_VERDICT_OK);
    policy.min_occupancy_percent = 51;
    shmt_filter_apply_policy(&policy, &result);
    CHECK_INT(result.verdict, SHMT_VERDICT_LOW_OCCUPANCY);
    CHECK_HAS(result.reason, "50 %");
    policy.max_spill_bytes = 15;
    shmt_filter_apply_policy(&policy, &result);
    CHECK_INT(result.verdict, SHMT_VERDICT_SPILLS);
    CHECK_HAS(result.reason, "16 bytes");
}

int main(void)
{
    if (shmt_device_for_arch("sm_90", &h100, NULL) != SHMTUNE_OK)
        return 1;
    spec_begin();
    CHECK_RUN(each_launch_is_judged_by_its_own);
    CHECK_RUN(nothing_is_held_against_what_is_not_known);
    spec_end();
    CHECK_RUN(policies);
    return CHECK_END();
}
