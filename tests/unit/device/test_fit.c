/* SPDX-License-Identifier: MIT */
/*
 * What may run on a device: each limit by itself, the occupancy of known
 * launches, and agreement with the rules of the programming guide written down
 * a second time.
 */
#include "tests/support/check.h"

#include "device/device.h"
#include "tests/support/hostile.h"

static const struct shmt_resources plain = {
    .registers = 32, .max_threads = -1
};

static struct shmtune_device device_of(const char *arch)
{
    struct shmtune_device device;

    CHECK_INT(shmt_device_for_arch(arch, &device, NULL), SHMTUNE_OK);
    return device;
}

static struct shmt_geometry launch_of(uint32_t threads, int64_t dynamic,
                                      int carveout)
{
    return (struct shmt_geometry){
        .used = true, .grid = {1, 1, 1}, .block = {threads, 1, 1},
        .shared_static = -1, .shared_dynamic = dynamic, .carveout = carveout
    };
}

static void check(const char *arch, struct shmt_resources resources,
                  uint32_t threads, int64_t dynamic, int carveout, int blocks,
                  int percent, enum shmt_limiter limiter)
{
    const struct shmtune_device device = device_of(arch);
    const struct shmt_geometry launch = launch_of(threads, dynamic, carveout);
    struct shmt_fit found;

    CHECK(shmt_fit_launch(&device, &launch, &resources, &found) ==
          (blocks > 0));
    if (found.occupancy.resident_blocks != blocks)
        printf("# %s, %u threads, %d registers, %lld + %lld bytes\n", arch,
               threads, resources.registers,
               (long long)resources.shared_static_bytes, (long long)dynamic);
    CHECK_INT(found.occupancy.resident_blocks, blocks);
    CHECK_INT(found.occupancy.percent, percent);
    CHECK_TEXT(shmt_limiter_word(found.occupancy.limiter),
               shmt_limiter_word(limiter));
    CHECK(blocks > 0 || found.wanted > found.bound);
}

static struct shmt_resources with(int registers, int64_t shared)
{
    struct shmt_resources resources = plain;

    resources.registers = registers;
    resources.shared_static_bytes = shared;
    return resources;
}

static void known_cases(void)
{
    check("sm_90", plain, 256, 0, -1, 8, 100, SHMT_LIMITER_WARPS);
    check("sm_90", plain, 32, 0, -1, 32, 50, SHMT_LIMITER_BLOCKS);
    check("sm_90", with(64, 0), 1024, 0, -1, 1, 50, SHMT_LIMITER_REGISTERS);
    check("sm_90", with(128, 0), 256, 0, -1, 2, 25, SHMT_LIMITER_REGISTERS);
    check("sm_90", with(32, 33 * 1024), 256, 0, -1, 6, 75,
          SHMT_LIMITER_SHARED);
    check("sm_90", with(32, 0), 256, 100 * 1024, -1, 2, 25,
          SHMT_LIMITER_SHARED);
    check("sm_86", plain, 1024, 0, -1, 1, 67, SHMT_LIMITER_WARPS);
    check("sm_75", with(32, 48 * 1024), 128, 0, -1, 1, 13,
          SHMT_LIMITER_SHARED);
}

static void limits_of_one_block_give_none(void)
{
    struct shmt_resources bounded = plain;

    check("sm_90", plain, 1025, 0, -1, 0, 0, SHMT_LIMITER_THREADS);
    bounded.max_threads = 128;
    check("sm_90", bounded, 128, 0, -1, 16, 100, SHMT_LIMITER_WARPS);
    check("sm_90", bounded, 129, 0, -1, 0, 0, SHMT_LIMITER_THREADS);
    check("sm_90", with(65, 0), 1024, 0, -1, 0, 0, SHMT_LIMITER_REGISTERS);
    check("sm_90", with(256, 0), 32, 0, -1, 0, 0, SHMT_LIMITER_REGISTERS);
    /* Opt-in: static and dynamic together. */
    check("sm_90", plain, 256, 232448, -1, 1, 13, SHMT_LIMITER_SHARED);
    check("sm_90", plain, 256, 232449, -1, 0, 0, SHMT_LIMITER_SHARED);
    check("sm_90", with(32, 1024), 256, 231424, -1, 1, 13,
          SHMT_LIMITER_SHARED);
    check("sm_90", with(32, 1024), 256, 231425, -1, 0, 0,
          SHMT_LIMITER_SHARED);
    check("sm_75", plain, 256, 65536, -1, 1, 25, SHMT_LIMITER_SHARED);
    check("sm_75", plain, 256, 65537, -1, 0, 0, SHMT_LIMITER_SHARED);
    check("sm_120", plain, 256, 101376, -1, 1, 17, SHMT_LIMITER_SHARED);
    check("sm_120", plain, 256, 101377, -1, 0, 0, SHMT_LIMITER_SHARED);
    /* Static shared memory has no opt-in. */
    check("sm_90", with(32, 49153), 256, 0, -1, 0, 0, SHMT_LIMITER_SHARED);
    check("sm_90", plain, 256, INT64_MAX, -1, 0, 0, SHMT_LIMITER_SHARED);
}

static void carveout_limits_and_yields(void)
{
    const struct shmt_resources small = with(32, 4224);

    check("sm_90", small, 256, 0, -1, 8, 100, SHMT_LIMITER_WARPS);
    check("sm_90", small, 256, 0, 100, 8, 100, SHMT_LIMITER_WARPS);
    /* 10 % of 228 KiB is rounded up to 32 KiB: 6 blocks of 5.125 KiB. */
    check("sm_90", small, 256, 0, 10, 6, 75, SHMT_LIMITER_SHARED);
    /* None asked for, but one block must fit: 8 KiB. */
    check("sm_90", small, 256, 0, 0, 1, 13, SHMT_LIMITER_SHARED);
}

/* The rules of the guide, once more. */
static int expected_blocks(const struct shmtune_device *device, int registers,
                           int64_t shared, int threads)
{
    const int64_t unit = device->compute_major == 7 ? 256 : 128;
    const int warps = (threads + 31) / 32;
    const int per_warp = (registers * 32 + 255) / 256 * 256;
    const int64_t bytes =
        (shared + device->shared_reserved_per_block + unit - 1) / unit * unit;
    int blocks = device->max_threads_per_multiprocessor / 32 / warps;

    if (registers > 255 || per_warp * ((warps + 3) / 4 * 4) > 65536)
        return 0;
    if (per_warp > 0 && 16384 / per_warp * 4 / warps < blocks)
        blocks = 16384 / per_warp * 4 / warps;
    if (bytes > 0 && device->shared_per_multiprocessor / bytes < blocks)
        blocks = (int)(device->shared_per_multiprocessor / bytes);
    if (device->max_blocks_per_multiprocessor < blocks)
        blocks = device->max_blocks_per_multiprocessor;
    return shared > device->shared_per_block_optin ? 0 : blocks;
}

static void the_guide_agrees(void)
{
    uint64_t state = 5;

    for (size_t k = 0; shmt_device_arch(k) != NULL; k++) {
        const struct shmtune_device device = device_of(shmt_device_arch(k));

        for (int round = 0; round < 3000; round++) {
            struct shmt_resources resources = plain;
            const int threads = (int)(hostile_random(&state) % 1024) + 1;
            const int64_t all = (int64_t)(hostile_random(&state)
                                          % (round % 2 ? 250000 : 20000));
            struct shmt_geometry launch;
            struct shmt_fit found;
            int blocks;

            resources.registers = (int)(hostile_random(&state) % 257);
            resources.shared_static_bytes = all < 40000 ? all / 2 : 0;
            launch = launch_of((uint32_t)threads,
                               all - resources.shared_static_bytes, -1);
            blocks = expected_blocks(&device, resources.registers, all,
                                     threads);
            CHECK(shmt_fit_launch(&device, &launch, &resources, &found) ==
                  (blocks > 0));
            if (found.occupancy.resident_blocks != blocks)
                printf("# %s, %d threads, %d registers, %lld bytes\n",
                       device.name, threads, resources.registers,
                       (long long)all);
            CHECK_INT(found.occupancy.resident_blocks, blocks);
            CHECK(found.occupancy.percent >= 0 &&
                  found.occupancy.percent <= 100);
            CHECK(found.occupancy.limiter != SHMT_LIMITER_NONE);
            CHECK(blocks > 0 || found.wanted > found.bound);
        }
    }
}

static void newer_devices_go_by_the_newest_rules(void)
{
    const struct shmt_geometry launch = launch_of(256, 0, -1);
    struct shmtune_device device = device_of("sm_90");
    struct shmt_fit found;

    device.compute_major = 14;
    device.shared_per_multiprocessor = 256 * 1024;
    device.shared_per_block_optin = 255 * 1024;
    CHECK(shmt_fit_launch(&device, &launch, &plain, &found));
    CHECK_INT(found.occupancy.resident_blocks, 8);
    device.max_blocks_per_multiprocessor = 4;
    CHECK(shmt_fit_launch(&device, &launch, &plain, &found));
    CHECK_INT(found.occupancy.resident_blocks, 4);
    CHECK_INT(found.occupancy.limiter, SHMT_LIMITER_BLOCKS);
}

/* Nothing is said of the occupancy, and nothing is held against a launch, where
 * the device or what the compiler found is not known. */
static void what_is_not_known_is_not_held_against(void)
{
    const struct shmtune_device device = device_of("sm_90");
    const struct shmtune_device none = {.compute_major = 0};
    struct shmt_geometry launch = launch_of(256, 0, -1);
    struct shmtune_device unknown = device;
    struct shmt_resources resources = plain;
    struct shmt_fit found;

    unknown.registers_per_block = 0;
    CHECK(shmt_fit_launch(&unknown, &launch, &plain, &found));
    CHECK_INT(found.occupancy.resident_blocks, -1);
    resources.registers = -1;
    CHECK(shmt_fit_launch(&device, &launch, &resources, &found));
    CHECK_INT(found.occupancy.resident_blocks, -1);
    CHECK(shmt_fit_launch(&device, &launch, NULL, &found));
    CHECK_INT(found.occupancy.resident_blocks, -1);
    launch = launch_of(5000, 1 << 30, -1);
    CHECK(!shmt_fit_launch(&device, &launch, &plain, &found));
    CHECK(shmt_fit_launch(&none, &launch, &plain, &found));
}

/* -- the limits ----------------------------------------------------------- */

enum number {
    GRID_X, GRID_Y, GRID_Z, BLOCK_X, BLOCK_Y, BLOCK_Z, STATIC, DYNAMIC,
    CLUSTER, NUMBERS
};

/* One thread in one block but for that number. */
static struct shmt_geometry launch_with(enum number number, int64_t value)
{
    int64_t all[NUMBERS] = {1, 1, 1, 1, 1, 1, 0, 0, 0};
    struct shmt_geometry launch = launch_of(1, 0, -1);

    all[number] = value;
    for (int d = 0; d < 3; d++) {
        launch.grid[d] = (uint32_t)all[GRID_X + d];
        launch.block[d] = (uint32_t)all[BLOCK_X + d];
    }
    launch.shared_static = all[STATIC];
    launch.shared_dynamic = all[DYNAMIC];
    launch.cluster[0] = (uint32_t)all[CLUSTER];
    return launch;
}

/* Each limit of an H100, and one beyond it. */
static void each_limit_by_itself(void)
{
    static const struct {
        enum number number;
        int64_t most;
        enum shmt_fit_limit limit;
        const char *text;
    } cases[] = {
        {BLOCK_X, 1024, SHMT_FIT_BLOCK_X,
         "block is 1025 threads wide, the device allows 1024"},
        {BLOCK_Y, 1024, SHMT_FIT_BLOCK_Y,
         "block is 1025 threads high, the device allows 1024"},
        {BLOCK_Z, 64, SHMT_FIT_BLOCK_Z,
         "block is 65 threads deep, the device allows 64"},
        {GRID_X, 2147483647, SHMT_FIT_GRID_X,
         "grid is 2147483648 blocks wide, the device allows 2147483647"},
        {GRID_Y, 65535, SHMT_FIT_GRID_Y,
         "grid is 65536 blocks high, the device allows 65535"},
        {GRID_Z, 65535, SHMT_FIT_GRID_Z,
         "grid is 65536 blocks deep, the device allows 65535"},
        {CLUSTER, 16, SHMT_FIT_CLUSTER,
         "cluster has 17 blocks, the device allows 16"},
        {STATIC, 49152, SHMT_FIT_STATIC,
         "static shared memory is 49153 bytes a block (more has to be "
         "dynamic), the device allows 49152"},
        {DYNAMIC, 232448, SHMT_FIT_SHARED,
         "shared memory is 232449 bytes a block, the device allows 232448"},
    };
    const struct shmtune_device device = device_of("sm_90");
    struct shmt_geometry launch;
    struct shmt_fit found;
    char text[SHMT_FIT_TEXT];

    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        launch = launch_with(cases[k].number, cases[k].most);
        CHECK(shmt_fit_launch(&device, &launch, NULL, &found));
        CHECK_INT(found.limit, SHMT_FIT_NOTHING);
        launch = launch_with(cases[k].number, cases[k].most + 1);
        CHECK(!shmt_fit_launch(&device, &launch, NULL, &found));
        CHECK_INT(found.limit, cases[k].limit);
        CHECK_INT(found.wanted, cases[k].most + 1);
        CHECK_INT(found.bound, cases[k].most);
        CHECK_INT(found.launch, 0);
        shmt_fit_text(&found, text);
        CHECK_TEXT(text, cases[k].text);
        CHECK_HAS(text, found.unit);
    }
    launch = launch_with(BLOCK_X, 256);
    launch.block[1] = 5;
    CHECK(!shmt_fit_launch(&device, &launch, NULL, &found));
    shmt_fit_text(&found, text);
    CHECK_TEXT(text, "block has 1280 threads, the device allows 1024");
}

static void clusters_are_new(void)
{
    const struct shmtune_device old = device_of("sm_80");
    struct shmt_geometry launch = launch_of(32, 0, -1);
    struct shmt_fit found;

    launch.cluster[0] = 1;
    CHECK(shmt_fit_launch(&old, &launch, NULL, &found));
    launch.cluster[0] = 2;
    CHECK(!shmt_fit_launch(&old, &launch, NULL, &found));
    CHECK_INT(found.bound, 1);
}

/* The spec's word on static shared memory against the compiler's. */
static void what_the_spec_states(void)
{
    const struct shmtune_device device = device_of("sm_90");
    struct shmt_geometry launch = launch_of(32, 0, -1);
    struct shmt_fit found;
    char text[SHMT_FIT_TEXT];

    launch.shared_static = 1024;
    CHECK(shmt_fit_stated(&launch, -1, &found));
    CHECK(shmt_fit_stated(&launch, 1024, &found));
    CHECK(!shmt_fit_stated(&launch, 1028, &found));
    shmt_fit_text(&found, text);
    CHECK_TEXT(text, "shared_static of the spec is 1024 bytes, the compiler "
               "reports 1028");
    CHECK(!shmt_fit_launch(&device, &launch, &plain, &found));
    CHECK_INT(found.limit, SHMT_FIT_STATED);
}

static struct shmt_resources_of_launch kept(int registers)
{
    const struct shmt_resources resources = with(registers, 0);

    return shmt_resources_keep(&resources);
}

/* Which of several launches it is, by what each takes; those that are not made
 * do not count. */
static void several_launches(void)
{
    const struct shmtune_device device = device_of("sm_90");
    struct shmt_kernel_evaluated evaluated = {
        .launch_count = 3,
        .geometry = {launch_of(32, 0, -1), {.shared_static = -1},
                     launch_of(1024, 0, -1)}
    };
    struct shmt_resources_of_launches each = {2, {kept(168), kept(32)}};
    const struct shmt_resources most = with(168, 0);
    const struct shmt_fit_launches ask = {&device, &evaluated, &most,
                                          &each};
    struct shmt_fit found;
    char text[SHMT_FIT_TEXT];

    CHECK(shmt_fit_launches(&ask, &found));
    CHECK_INT(found.occupancy.resident_blocks, 12);
    CHECK_INT(found.occupancy.percent, 19);
    each.of[1].registers = 72;
    CHECK(!shmt_fit_launches(&ask, &found));
    CHECK_INT(found.launch, 3);
    CHECK_INT(found.occupancy.resident_blocks, 0);
    shmt_fit_text(&found, text);
    CHECK_TEXT(text, "launch 3: no block fits a multiprocessor: one takes "
               "73728 registers, there are 65536");
    each.count = 0;
    CHECK(shmt_fit_launches(&ask, &found));
    CHECK_INT(found.occupancy.resident_blocks, -1);
    evaluated.geometry[2].used = false;
    CHECK(shmt_fit_launches(&ask, &found));
    CHECK_INT(found.occupancy.resident_blocks, 12);
}

/* Two launches fit when each does alone, however alike they are: each pair of
 * what may differ, on either side of the limit. */
static void launches_fit_as_each_alone(void)
{
    enum { WAYS = 7 };
    const struct shmtune_device device = device_of("sm_90");
    struct shmt_geometry launches[WAYS];
    struct shmt_resources taken[WAYS];

    for (size_t k = 0; k < WAYS; k++) {
        launches[k] = launch_of(k == 1 ? 1024 : 512, 0, -1);
        taken[k] = with(k == 2 ? 200 : 40, 0);
    }
    launches[3].shared_dynamic = 1 << 20;
    launches[4].grid[1] = 70000;
    taken[5].shared_static_bytes = 60000;
    taken[6].max_threads = 256;
    for (size_t a = 0; a < WAYS; a++)
        for (size_t b = 0; b < WAYS; b++) {
            struct shmt_kernel_evaluated evaluated = {
                .launch_count = 2, .geometry = {launches[a], launches[b]}};
            const struct shmt_resources_of_launches each = {
                2, {shmt_resources_keep(&taken[a]),
                    shmt_resources_keep(&taken[b])}};
            const struct shmt_fit_launches ask = {&device, &evaluated,
                                                  &taken[a], &each};
            struct shmt_fit found;
            const bool first = shmt_fit_launch(&device, &launches[a],
                                               &taken[a], &found);
            const bool second = shmt_fit_launch(&device, &launches[b],
                                                &taken[b], &found);

            CHECK(first == (a < 2) && second == (b < 2));
            CHECK(shmt_fit_launches(&ask, &found) == (first && second));
        }
}

/* A device may have room for fewer blocks than its architecture says: the cap
 * is exact, and named only where it binds. */
static void blocks_are_capped(void)
{
    struct shmtune_device device = device_of("sm_90");
    const struct shmt_geometry small = launch_of(32, 0, -1);
    const struct shmt_geometry large = launch_of(256, 0, -1);
    struct shmt_fit found;

    for (int cap = 1; cap <= 40; cap++) {
        device.max_blocks_per_multiprocessor = cap;
        CHECK(shmt_fit_launch(&device, &small, &plain, &found));
        CHECK_INT(found.occupancy.resident_blocks, cap < 32 ? cap : 32);
        CHECK_INT(found.occupancy.limiter, SHMT_LIMITER_BLOCKS);
        CHECK(shmt_fit_launch(&device, &large, &plain, &found));
        CHECK_INT(found.occupancy.resident_blocks, cap < 8 ? cap : 8);
        CHECK_INT(found.occupancy.limiter,
                  cap < 8 ? SHMT_LIMITER_BLOCKS : SHMT_LIMITER_WARPS);
    }
}

/* Devices from files may say anything: no overflow, no division by zero. */
static void odd_devices_do_no_harm(void)
{
    uint64_t state = 6;
    int refused = 0;

    for (int round = 0; round < 20000; round++) {
        struct shmtune_device device = device_of("sm_90");
        struct shmt_resources resources = plain;
        struct shmt_geometry launch;
        struct shmt_fit found;
        int *const fields[] = {
            &device.compute_major, &device.compute_minor,
            &device.multiprocessors, &device.max_threads_per_block,
            &device.max_threads_per_multiprocessor,
            &device.max_blocks_per_multiprocessor,
            &device.registers_per_block,
            &device.registers_per_multiprocessor, &device.warp_size,
            &resources.registers, &resources.max_threads};
        int64_t *const wide[] = {
            &device.shared_per_block, &device.shared_per_block_optin,
            &device.shared_per_multiprocessor,
            &device.shared_reserved_per_block,
            &resources.shared_static_bytes};
        const uint64_t r = hostile_random(&state);

        *fields[r % 11] = (int)(hostile_random(&state) >> r % 64);
        *wide[r / 11 % 5] = (int64_t)(hostile_random(&state) >> r / 55 % 64);
        launch = launch_of((uint32_t)(hostile_random(&state) >> r % 63),
                           (int64_t)(hostile_random(&state) >> 1 >> r / 7 % 63),
                           (int)(r % 102) - 1);
        launch.block[1] = (uint32_t)(r >> 32 & (r % 2 ? 1 : UINT32_MAX));
        launch.block[2] = launch.block[1];
        if (!shmt_fit_launch(&device, &launch, &resources, &found)) {
            CHECK(found.limit != SHMT_FIT_NOTHING && found.unit[0] != '\0');
            CHECK(found.wanted > found.bound);
            refused++;
        }
    }
    CHECK(refused > 1000 && refused < 19000);
}

/* The blocks that fit a multiprocessor, times those there are. */
static void cooperative_grids_are_resident(void)
{
    struct shmtune_device device = device_of("sm_90");
    struct shmt_geometry launch = launch_of(1024, 0, -1);
    const struct shmt_resources taken = with(64, 0);
    struct shmt_fit found;
    char text[SHMT_FIT_TEXT];

    device.multiprocessors = 132;
    launch.grid[0] = 11;
    launch.grid[1] = 12;
    launch.cooperative = true;
    CHECK(shmt_fit_launch(&device, &launch, &taken, &found));
    CHECK_INT(found.occupancy.resident_blocks, 1);
    CHECK(shmt_fit_launch(&device, &launch, NULL, &found));
    launch.grid[2] = 2;
    CHECK(shmt_fit_launch(&device, &launch, NULL, &found));
    CHECK(!shmt_fit_launch(&device, &launch, &taken, &found));
    shmt_fit_text(&found, text);
    CHECK_TEXT(text, "grid of a cooperative launch has 264 blocks, the device "
               "holds at once 132");
    launch.cooperative = false;
    CHECK(shmt_fit_launch(&device, &launch, &taken, &found));
}

/* All extents of a cluster count. */
static void clusters_are_boxes(void)
{
    const struct shmtune_device device = device_of("sm_90");
    struct shmt_geometry launch = launch_of(32, 0, -1);
    struct shmt_fit found;

    launch.cluster[0] = launch.cluster[1] = 2;
    launch.cluster[2] = 4;
    CHECK(shmt_fit_launch(&device, &launch, NULL, &found));
    launch.cluster[2] = 5;
    CHECK(!shmt_fit_launch(&device, &launch, NULL, &found));
    CHECK_INT(found.limit, SHMT_FIT_CLUSTER);
    CHECK_INT(found.wanted, 20);
}

int main(void)
{
    CHECK_RUN(known_cases);
    CHECK_RUN(limits_of_one_block_give_none);
    CHECK_RUN(carveout_limits_and_yields);
    CHECK_RUN(the_guide_agrees);
    CHECK_RUN(newer_devices_go_by_the_newest_rules);
    CHECK_RUN(what_is_not_known_is_not_held_against);
    CHECK_RUN(each_limit_by_itself);
    CHECK_RUN(clusters_are_new);
    CHECK_RUN(clusters_are_boxes);
    CHECK_RUN(cooperative_grids_are_resident);
    CHECK_RUN(what_the_spec_states);
    CHECK_RUN(several_launches);
    CHECK_RUN(launches_fit_as_each_alone);
    CHECK_RUN(blocks_are_capped);
    CHECK_RUN(odd_devices_do_no_harm);
    return CHECK_END();
}
