/* SPDX-License-Identifier: MIT */
/*
 * The tuner and the library hold one opinion on what may run: whatever the
 * device is like and whatever the launches ask for, the tuner's filter refuses
 * a configuration exactly when the library's check of it does, and both say
 * the same.
 */
#include "device/device.h"
#include "runtime/check.h"
#include "tests/support/check.h"
#include "tests/support/hostile.h"
#include "tests/support/spec_fixture.h"
#include "tune/filter.h"

/* The problem is the geometry of the first launch, so that every number can
 * be anything; of the bytes one less, as no size is 0. */
static const char spec[] =
    "format: kernel/1\n"
    "name: scale\n"
    "source: scale.cu\n"
    "problem:\n"
    "  gx: {default: 1, min: 1, max: 2147483647}\n"
    "  gy: {default: 1, min: 1, max: 2147483647}\n"
    "  gz: {default: 1, min: 1, max: 2147483647}\n"
    "  bx: {default: 1, min: 1, max: 2147483647}\n"
    "  by: {default: 1, min: 1, max: 2147483647}\n"
    "  bz: {default: 1, min: 1, max: 2147483647}\n"
    "  fixed: {default: 1, min: 1, max: 2147483647}\n"
    "  dynamic: {default: 1, min: 1, max: 2147483647}\n"
    "parameters:\n"
    "  CARVEOUT: {values: [-1, 0, 50, 100], default: -1}\n"
    "  CLUSTER: {values: [0, 1, 2, 16, 17], default: 0}\n"
    "  SECOND: {values: [0, 1], default: 0}\n"
    "launches:\n"
    "- entry: scale\n"
    "  grid: [\"roundup(gx, max(CLUSTER, 1))\", gy, gz]\n"
    "  block: [bx, by, bz]\n"
    "  shared_static: fixed - 1\n"
    "  shared_dynamic: dynamic - 1\n"
    "  carveout: CARVEOUT\n"
    "  cluster: CLUSTER\n"
    "  arguments: [y]\n"
    "- entry: finish\n"
    "  when: SECOND == 1\n"
    "  grid: [1, gy]\n"
    "  block: [\"min(bx, 1024)\"]\n"
    "  shared_dynamic: dynamic - 1\n"
    "  arguments: [y]\n"
    "arguments:\n"
    "  y: {type: f32, role: output, count: 1}\n";

enum { SECOND = 2 };      /* among the parameters */

static struct shmt_kernel *kernel;

/* What is asked of both. */
struct question {
    struct shmtune_device device;
    int64_t problem[SHMT_KERNEL_DIMENSIONS];
    shmt_config config[SHMT_SPACE_PARAMETERS];
    struct shmt_resources resources;
    struct shmt_resources_of_launches launches;
};

static struct question ask_of(const char *arch)
{
    struct question ask = {
        .problem = {1, 1, 1, 256, 1, 1, 1, 1},
        .resources = {.registers = 32, .max_threads = -1}
    };

    CHECK_INT(shmt_device_for_arch(arch, &ask.device, NULL), SHMTUNE_OK);
    return ask;
}

/* The reason, or "". */
static const char *tuner_says(const struct question *ask)
{
    static struct shmt_result result;
    const struct shmt_filter filter = {
        .kernel = kernel, .device = &ask->device, .problem = ask->problem,
        .policy = {.max_spill_bytes = -1}
    };

    if (!shmt_filter_before_compile(&filter, ask->config, &result))
        return result.reason;
    result.resources = ask->resources;
    result.launches = ask->launches;
    return shmt_filter_after_compile(&filter, ask->config, &result) ? ""
                                                            : result.reason;
}

static const char *library_says(const struct question *ask)
{
    static struct shmt_error why;
    struct shmt_kernel_evaluated evaluated;
    const struct shmt_fit_launches candidate = {
        &ask->device, &evaluated, &ask->resources, &ask->launches
    };
    enum shmtune_status status;

    shmt_kernel_evaluate(kernel, ask->problem, ask->config, &evaluated);
    status = shmt_runtime_check(&candidate, &why);
    CHECK(status == SHMTUNE_OK || status == SHMTUNE_NO_CONFIGURATION);
    return status == SHMTUNE_OK ? "" : why.text;
}

/* Both refuse with `part`, or, where that is NULL, both admit. */
static void check_both(const struct question *ask, const char *part)
{
    const char *tuner = tuner_says(ask), *library = library_says(ask);

    CHECK_TEXT(library, tuner);
    if (part == NULL)
        CHECK_TEXT(tuner, "");
    else
        CHECK_HAS(tuner, part);
}

/* A device has one limit for y and another for z. */
static void deep_grids(void)
{
    struct question ask = ask_of("sm_90");

    ask.device.max_grid_y = 2147483647;
    ask.problem[1] = 70000;
    check_both(&ask, NULL);
    ask.problem[1] = 1;
    ask.problem[2] = 70000;
    check_both(&ask, "70000 blocks deep, the device allows 65535");
}

/* Nothing is held against what is not known; static shared memory has one
 * limit on every device. */
static void unknown_shared_memory(void)
{
    struct question ask = ask_of("sm_90");

    ask.device.shared_per_block = ask.device.shared_per_block_optin = 0;
    ask.problem[7] = 200001;
    check_both(&ask, NULL);
    ask.problem[7] = 1;
    ask.problem[6] = 49154;
    ask.resources.shared_static_bytes = 49153;
    check_both(&ask, "49153 bytes");
    ask.device.shared_per_block_optin = 101376;
    ask.resources.shared_static_bytes = 0;
    ask.problem[6] = 1;
    ask.problem[7] = 101378;
    check_both(&ask, "101377 bytes a block, the device allows 101376");
}

/* The number of blocks that fit a multiprocessor need not be known. */
static void unknown_blocks(void)
{
    struct question ask = ask_of("sm_90");

    ask.device.max_blocks_per_multiprocessor = 0;
    ask.resources.registers = 255;
    ask.problem[3] = 1024;
    check_both(&ask, "registers");
}

/* No size of a block may overflow on the way. */
static void huge_blocks(void)
{
    struct question ask = ask_of("sm_90");

    ask.problem[3] = ask.problem[4] = ask.problem[5] = 2147483647;
    check_both(&ask, "2147483647 threads wide, the device allows 1024");
}

/* Which of two launches takes the registers that were reported is not said. */
static void shares_that_are_not_known(void)
{
    struct question ask = ask_of("sm_90");

    ask.resources.registers = 200;
    ask.problem[3] = 1024;
    ask.config[SECOND] = 1;
    check_both(&ask, NULL);
    ask.launches.count = 2;
    ask.launches.of[0] = ask.launches.of[1] =
        shmt_resources_keep(&ask.resources);
    ask.launches.of[0].registers = 32;
    check_both(&ask, "launch 2: ");
}

/* -- any device, any launch ----------------------------------------------- */

static uint64_t state = 11;

static int64_t random_below(int64_t high)
{
    return (int64_t)(hostile_random(&state) % (uint64_t)high);
}

/* On the limit, beside it, or anywhere. */
static int64_t near(int64_t limit)
{
    const int64_t number = random_below(4) > 0
                               ? limit - 1 + random_below(3)
                               : random_below(2 * limit + 2);

    return number < 1 ? 1 : number > 2147483647 ? 2147483647 : number;
}

static void spoil_device(struct shmtune_device *device)
{
    int *const narrow[] = {
        &device->compute_major, &device->multiprocessors,
        &device->max_threads_per_block,
        &device->max_threads_per_multiprocessor,
        &device->max_blocks_per_multiprocessor, &device->registers_per_block,
        &device->registers_per_multiprocessor, &device->warp_size
    };
    int64_t *const wide[] = {
        &device->shared_per_block, &device->shared_per_block_optin,
        &device->shared_per_multiprocessor,
        &device->shared_reserved_per_block, &device->max_grid_y
    };

    for (int64_t k = random_below(4); k > 0; k--) {
        int *const n = narrow[random_below(8)];
        int64_t *const w = wide[random_below(5)];

        *n = random_below(2) ? 0 : (int)random_below(2 * (int64_t)*n + 2);
        *w = random_below(2) ? 0 : random_below(2 * *w + 2);
    }
}

static struct shmt_resources random_resources(void)
{
    return (struct shmt_resources){
        .registers = (int)random_below(300) - 1,
        .shared_static_bytes = random_below(3) ? 0 : random_below(60000) - 1,
        .max_threads = random_below(3) ? -1 : (int)random_below(1100),
    };
}

static struct question random_question(size_t archs)
{
    static const int64_t blocks[] = {1, 1, 32, 64, 256, 1024};
    struct question ask =
        ask_of(shmt_device_arch((size_t)random_below((int64_t)archs)));

    spoil_device(&ask.device);
    for (size_t k = 0; k < 3; k++) {
        ask.problem[k] = random_below(4) ? 1 : near(65535);
        ask.problem[3 + k] =
            random_below(8) ? blocks[random_below(k > 0 ? 2 : 6)]
                            : near(k > 1 ? 64 : 1024);
    }
    ask.resources = random_resources();
    ask.problem[6] = ask.resources.shared_static_bytes < 0
                         ? 1 : ask.resources.shared_static_bytes + 1;
    ask.problem[7] = random_below(2) ? 1 : near(random_below(240000));
    for (size_t k = 0; k < kernel->parameter_count; k++)
        if (random_below(2))
            ask.config[k] = (shmt_config)random_below(
                (int64_t)kernel->parameters[k].count);
    if (ask.config[SECOND] == 1 && random_below(4)) {
        const struct shmt_resources second = random_resources();

        ask.launches.count = 2;
        ask.launches.of[0] = shmt_resources_keep(&ask.resources);
        ask.launches.of[1] = shmt_resources_keep(&second);
    }
    return ask;
}

static void any_device_and_launch(void)
{
    enum { ROUNDS = 100000 };
    size_t archs = 0;
    int refused = 0, different = 0;

    while (shmt_device_arch(archs) != NULL)
        archs++;
    for (int round = 0; round < ROUNDS; round++) {
        const struct question ask = random_question(archs);
        const char *tuner = tuner_says(&ask), *library = library_says(&ask);

        refused += tuner[0] != '\0';
        if (strcmp(tuner, library) != 0 && different++ < 5)
            printf("# round %d: the tuner: \"%s\"; the library: \"%s\"\n",
                   round, tuner, library);
    }
    CHECK_INT(different, 0);
    CHECK(refused > ROUNDS / 10 && refused < ROUNDS / 10 * 9);
}

int main(void)
{
    struct shmt_error why;

    spec_begin();
    spec_write_text("spec.yaml", spec);
    if (shmt_kernel_read(spec_path, &kernel, &why) != SHMTUNE_OK) {
        printf("# %s\n", why.text);
        return 1;
    }
    CHECK_RUN(deep_grids);
    CHECK_RUN(unknown_shared_memory);
    CHECK_RUN(unknown_blocks);
    CHECK_RUN(huge_blocks);
    CHECK_RUN(shares_that_are_not_known);
    CHECK_RUN(any_device_and_launch);
    shmt_kernel_free(kernel);
    spec_end();
    return CHECK_END();
}
