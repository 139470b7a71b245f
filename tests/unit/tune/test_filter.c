/* SPDX-License-Identifier: MIT */
/* What leaves the funnel without being run. */
#include "device/device.h"
#include "tests/support/check.h"
#include "tests/support/spec_fixture.h"
#include "tune/filter.h"

static struct shmtune_device h100;

static struct shmt_geometry geometry(void)
{
    return (struct shmt_geometry){
        .used = true, .grid = {100, 1, 1}, .block = {256, 1, 1},
        .shared_static = 4096, .shared_dynamic = 0, .carveout = -1,
        .cluster = 1,
    };
}

static struct shmt_result judge(const struct shmt_geometry *g)
{
    struct shmt_result result;
    shmt_result_clear(&result);
    shmt_filter_geometry(&h100, g, &result);
    return result;
}

static void fits(void)
{
    struct shmt_geometry g = geometry();
    CHECK_INT(judge(&g).verdict, SHMT_VERDICT_OK);
    g.block[0] = 1024;
    CHECK_INT(judge(&g).verdict, SHMT_VERDICT_OK);
    g.shared_static = 49152;
    g.shared_dynamic = 232448 - 49152;
    CHECK_INT(judge(&g).verdict, SHMT_VERDICT_OK);
    g.grid[0] = 2147483647;
    g.grid[1] = g.grid[2] = 65535;
    CHECK_INT(judge(&g).verdict, SHMT_VERDICT_OK);
}

/* Each limit by itself, one beyond it; both sides are named. */
static void limits(void)
{
    static const struct {
        size_t offset;      /* of what is set */
        int64_t value;
        bool wide;          /* int64_t, else uint32_t */
        const char *found, *limit;
    } cases[] = {
        {offsetof(struct shmt_geometry, block[0]), 1025, false, "1025",
         "1024"},
        {offsetof(struct shmt_geometry, block[1]), 5, false, "1280", "1024"},
        {offsetof(struct shmt_geometry, block[2]), 65, false, "16640",
         "1024"},
        {offsetof(struct shmt_geometry, grid[0]), 2147483648, false,
         "2147483648", "2147483647"},
        {offsetof(struct shmt_geometry, grid[1]), 65536, false, "65536",
         "65535"},
        {offsetof(struct shmt_geometry, grid[2]), 65536, false, "65536",
         "65535"},
        {offsetof(struct shmt_geometry, shared_static), 49153, true, "49153",
         "49152"},
        {offsetof(struct shmt_geometry, shared_dynamic), 228353, true,
         "232449", "232448"},
    };

    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct shmt_geometry g = geometry();
        struct shmt_result result;
        const uint32_t narrow = (uint32_t)cases[k].value;
        char *const at = (char *)&g + cases[k].offset;
        if (cases[k].wide)
            memcpy(at, &cases[k].value, sizeof cases[k].value);
        else
            memcpy(at, &narrow, sizeof narrow);
        result = judge(&g);
        CHECK_INT(result.verdict, SHMT_VERDICT_TOO_LARGE);
        CHECK_HAS(result.reason, cases[k].found);
        CHECK_HAS(result.reason, cases[k].limit);
    }
}

static void deep_blocks(void)
{
    struct shmt_geometry g = geometry();
    g.block[0] = 1;
    g.block[2] = 65;
    CHECK_INT(judge(&g).verdict, SHMT_VERDICT_TOO_LARGE);
    CHECK_HAS(judge(&g).reason, "deep");
}

static void clusters(void)
{
    struct shmt_geometry g = geometry();
    struct shmtune_device old;
    struct shmt_result result;

    g.cluster = 16;
    CHECK_INT(judge(&g).verdict, SHMT_VERDICT_OK);
    g.cluster = 17;
    CHECK_INT(judge(&g).verdict, SHMT_VERDICT_TOO_LARGE);
    CHECK_INT(shmt_device_for_arch("sm_80", &old, NULL), SHMTUNE_OK);
    g.cluster = 2;
    shmt_result_clear(&result);
    shmt_filter_geometry(&old, &g, &result);
    CHECK_INT(result.verdict, SHMT_VERDICT_TOO_LARGE);
}

/* A device of which little is known is taken for an ordinary one. */
static void unknown_limits(void)
{
    const struct shmtune_device nothing = {0};
    struct shmt_geometry g = geometry();
    struct shmt_result result;

    shmt_result_clear(&result);
    shmt_filter_geometry(&nothing, &g, &result);
    CHECK_INT(result.verdict, SHMT_VERDICT_OK);
    g.shared_dynamic = 100000;
    shmt_filter_geometry(&nothing, &g, &result);
    CHECK_INT(result.verdict, SHMT_VERDICT_TOO_LARGE);
}

static struct shmt_result compiled(int registers)
{
    struct shmt_result result;
    shmt_result_clear(&result);
    result.resources.registers = registers;
    result.resources.shared_static_bytes = 4096;
    result.resources.spill_store_bytes = 16;
    result.resources.max_threads = 1024;
    return result;
}

static void residency(void)
{
    struct shmt_geometry g = geometry();
    struct shmt_result result = compiled(32);

    CHECK_INT(shmt_filter_resources(&h100, &g, &result, NULL), SHMTUNE_OK);
    CHECK_INT(result.verdict, SHMT_VERDICT_OK);
    CHECK_INT(result.resident_blocks, 8);
    CHECK_INT(result.occupancy_percent, 100);

    g.block[0] = 1024;
    result = compiled(128);
    CHECK_INT(shmt_filter_resources(&h100, &g, &result, NULL), SHMTUNE_OK);
    CHECK_INT(result.verdict, SHMT_VERDICT_NOT_RESIDENT);
    CHECK_HAS(result.reason, "registers");
    CHECK_INT(result.resident_blocks, 0);
}

/* Of several launches the lowest counts. */
static void the_lowest_counts(void)
{
    struct shmt_geometry g = geometry();
    struct shmt_result result = compiled(64);

    CHECK_INT(shmt_filter_resources(&h100, &g, &result, NULL), SHMTUNE_OK);
    CHECK_INT(result.occupancy_percent, 50);
    g.shared_dynamic = 100000;
    CHECK_INT(shmt_filter_resources(&h100, &g, &result, NULL), SHMTUNE_OK);
    CHECK_INT(result.resident_blocks, 2);
    CHECK_INT(result.limiter, SHMT_LIMITER_SHARED);
    CHECK_INT(result.shared_dynamic_bytes, 100000);
    g.shared_dynamic = 0;
    CHECK_INT(shmt_filter_resources(&h100, &g, &result, NULL), SHMTUNE_OK);
    CHECK_INT(result.resident_blocks, 2);
    CHECK_INT(result.shared_dynamic_bytes, 100000);
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
    shmt_choice choice[SHMT_SPACE_PARAMETERS];
    struct shmt_filter filter = {.device = &h100, .kernel = kernel,
                                 .problem = some_problem, .policy = {-1, 0}};
    struct shmt_result result = compiled(168);

    if (kernel == NULL)
        return;
    shmt_kernel_default(kernel, choice);
    choice[2] = 1;                      /* STAGES: 2, so there are two */
    result.launches.count = 2;
    result.launches.of[0] = compiled(168).resources;
    result.launches.of[1] = compiled(32).resources;
    CHECK_INT(shmt_filter_after(&filter, choice, &result, NULL), SHMTUNE_OK);
    CHECK_INT(result.verdict, SHMT_VERDICT_OK);
    CHECK_INT(result.resident_blocks, 3);
    CHECK_INT(result.occupancy_percent, 19);
    CHECK_INT(result.limiter, SHMT_LIMITER_REGISTERS);
    CHECK_INT(result.resources.registers, 168);
    CHECK_INT(result.launches.count, 2);

    /* Recorded without: what was found then stays. */
    result.launches.count = 0;
    CHECK_INT(shmt_filter_after(&filter, choice, &result, NULL), SHMTUNE_OK);
    CHECK_INT(result.verdict, SHMT_VERDICT_OK);
    CHECK_INT(result.resident_blocks, 3);
    CHECK_INT(result.occupancy_percent, 19);

    /* One of them does not fit. */
    result.launches.count = 2;
    result.launches.of[1] = compiled(72).resources;
    CHECK_INT(shmt_filter_after(&filter, choice, &result, NULL), SHMTUNE_OK);
    CHECK_INT(result.verdict, SHMT_VERDICT_NOT_RESIDENT);
    CHECK_HAS(result.reason, "1024 threads, 72 registers");
    shmt_kernel_free(kernel);
}

/* As an imported run has it. */
static void nothing_is_held_against_what_is_not_known(void)
{
    struct shmtune_device unknown = {.name = "another"};
    struct shmt_kernel *kernel = read_blocks_of("2048");
    shmt_choice choice[SHMT_SPACE_PARAMETERS];
    struct shmt_filter filter = {.device = &h100, .kernel = kernel,
                                 .problem = some_problem, .policy = {-1, 0}};
    struct shmt_result result;

    if (kernel == NULL)
        return;
    shmt_kernel_default(kernel, choice);
    choice[2] = 1;
    shmt_result_clear(&result);
    CHECK_INT(shmt_filter_before(&filter, choice, &result, NULL), SHMTUNE_OK);
    CHECK_INT(result.verdict, SHMT_VERDICT_TOO_LARGE);
    filter.device = &unknown;
    shmt_result_clear(&result);
    CHECK_INT(shmt_filter_before(&filter, choice, &result, NULL), SHMTUNE_OK);
    CHECK_INT(result.verdict, SHMT_VERDICT_OK);
    choice[2] = 0;
    CHECK_INT(shmt_filter_after(&filter, choice, &result, NULL), SHMTUNE_OK);
    CHECK_INT(result.verdict, SHMT_VERDICT_OK);
    CHECK_INT(result.resident_blocks, -1);
    filter.device = &h100;
    CHECK_INT(shmt_filter_after(&filter, choice, &result, NULL), SHMTUNE_OK);
    CHECK_INT(result.verdict, SHMT_VERDICT_OK);
    CHECK_INT(result.resident_blocks, -1);
    shmt_kernel_free(kernel);
}

static void policies(void)
{
    struct shmt_policy policy = {-1, 0};
    struct shmt_result result = compiled(64);

    result.resident_blocks = 4;
    result.occupancy_percent = 50;
    shmt_filter_policy(&policy, &result);
    CHECK_INT(result.verdict, SHMT_VERDICT_OK);
    policy.max_spill_bytes = 16;
    policy.min_occupancy_percent = 50;
    shmt_filter_policy(&policy, &result);
    CHECK_INT(result.verdict, SHMT_VERDICT_OK);
    policy.min_occupancy_percent = 51;
    shmt_filter_policy(&policy, &result);
    CHECK_INT(result.verdict, SHMT_VERDICT_LOW_OCCUPANCY);
    CHECK_HAS(result.reason, "50 %");
    policy.max_spill_bytes = 15;
    shmt_filter_policy(&policy, &result);
    CHECK_INT(result.verdict, SHMT_VERDICT_SPILLS);
    CHECK_HAS(result.reason, "16 bytes");
}

int main(void)
{
    if (shmt_device_for_arch("sm_90", &h100, NULL) != SHMTUNE_OK)
        return 1;
    CHECK_RUN(fits);
    CHECK_RUN(limits);
    CHECK_RUN(deep_blocks);
    CHECK_RUN(clusters);
    CHECK_RUN(unknown_limits);
    CHECK_RUN(residency);
    CHECK_RUN(the_lowest_counts);
    spec_begin();
    CHECK_RUN(each_launch_is_judged_by_its_own);
    CHECK_RUN(nothing_is_held_against_what_is_not_known);
    spec_end();
    CHECK_RUN(policies);
    return CHECK_END();
}
