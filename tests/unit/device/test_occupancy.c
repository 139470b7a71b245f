/* SPDX-License-Identifier: MIT */
/*
 * occupancy: known cases, and agreement with the rules of the programming
 * guide written down a second time.
 */
#include "tests/support/check.h"

#include "device/device.h"
#include "device/occupancy.h"
#include "tests/support/hostile.h"

static struct shmt_error err;

static const struct shmt_resources plain = {
    .registers = 32, .max_threads = -1
};

static struct shmtune_device device_of(const char *arch)
{
    struct shmtune_device device;

    CHECK_INT(shmt_device_for_arch(arch, &device, &err), SHMTUNE_OK);
    return device;
}

static void check(const char *arch, struct shmt_resources resources,
                  int threads, int64_t dynamic, int carveout, int blocks,
                  int percent, enum shmt_limiter limiter)
{
    const struct shmtune_device device = device_of(arch);
    struct shmt_occupancy found = {-1, -1, SHMT_LIMITER_NONE};

    CHECK_INT(shmt_occupancy_compute(&device, &resources, threads, dynamic,
                                     carveout, &found, &err), SHMTUNE_OK);
    if (found.resident_blocks != blocks)
        printf("# %s, %d threads, %d registers, %lld + %lld bytes\n", arch,
               threads, resources.registers,
               (long long)resources.shared_static_bytes, (long long)dynamic);
    CHECK_INT(found.resident_blocks, blocks);
    CHECK_INT(found.percent, percent);
    CHECK_TEXT(shmt_limiter_word(found.limiter), shmt_limiter_word(limiter));
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
            struct shmt_occupancy found = {-1, -1, SHMT_LIMITER_NONE};
            int blocks;

            resources.registers = (int)(hostile_random(&state) % 257);
            resources.shared_static_bytes = all < 40000 ? all / 2 : 0;
            blocks = expected_blocks(&device, resources.registers, all,
                                     threads);
            CHECK_INT(shmt_occupancy_compute(
                          &device, &resources, threads,
                          all - resources.shared_static_bytes, -1, &found,
                          &err), SHMTUNE_OK);
            if (found.resident_blocks != blocks)
                printf("# %s, %d threads, %d registers, %lld bytes\n",
                       device.name, threads, resources.registers,
                       (long long)all);
            CHECK_INT(found.resident_blocks, blocks);
            CHECK(found.percent >= 0 && found.percent <= 100);
            CHECK(found.limiter != SHMT_LIMITER_NONE);
        }
    }
}

static void newer_devices_go_by_the_newest_rules(void)
{
    struct shmtune_device device = device_of("sm_90");
    struct shmt_occupancy found = {0};

    device.compute_major = 14;
    device.shared_per_multiprocessor = 256 * 1024;
    device.shared_per_block_optin = 255 * 1024;
    CHECK_INT(shmt_occupancy_compute(&device, &plain, 256, 0, -1, &found,
                                     &err), SHMTUNE_OK);
    CHECK_INT(found.resident_blocks, 8);
    device.max_blocks_per_multiprocessor = 4;
    CHECK_INT(shmt_occupancy_compute(&device, &plain, 256, 0, -1, &found,
                                     &err), SHMTUNE_OK);
    CHECK_INT(found.resident_blocks, 4);
    CHECK_INT(found.limiter, SHMT_LIMITER_BLOCKS);
}

static void what_is_not_known_is_refused(void)
{
    const struct shmtune_device device = device_of("sm_90");
    struct shmtune_device unknown = device;
    struct shmt_resources resources = plain;
    struct shmt_occupancy found = {.percent = 7};

    unknown.registers_per_block = 0;
    CHECK_INT(shmt_occupancy_compute(&unknown, &plain, 256, 0, -1, &found,
                                     &err), SHMTUNE_INVALID_ARGUMENT);
    CHECK_HAS(err.text, "found registers_per_block = 0, expected 1 to");
    CHECK_INT(shmt_occupancy_compute(&device, &plain, 0, 0, -1, &found,
                                     &err), SHMTUNE_INVALID_ARGUMENT);
    CHECK_INT(shmt_occupancy_compute(&device, &plain, 32, -1, -1, &found,
                                     &err), SHMTUNE_INVALID_ARGUMENT);
    CHECK_INT(shmt_occupancy_compute(&device, &plain, 32, 0, 101, &found,
                                     &err), SHMTUNE_INVALID_ARGUMENT);
    CHECK_INT(shmt_occupancy_compute(&device, &plain, 32, 0, -2, &found,
                                     &err), SHMTUNE_INVALID_ARGUMENT);
    resources.registers = -1;
    CHECK_INT(shmt_occupancy_compute(&device, &resources, 32, 0, -1, &found,
                                     NULL), SHMTUNE_INVALID_ARGUMENT);
    CHECK_INT(found.percent, 7);
}

/* Devices from files may say anything: no overflow, no division by zero. */
static void odd_devices_do_no_harm(void)
{
    uint64_t state = 6;

    for (int round = 0; round < 20000; round++) {
        struct shmtune_device device = device_of("sm_90");
        struct shmt_resources resources = plain;
        struct shmt_occupancy found;
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
        enum shmtune_status status;

        *fields[r % 11] = (int)(hostile_random(&state) >> r % 64);
        *wide[r / 11 % 5] = (int64_t)(hostile_random(&state) >> r / 55 % 64);
        status = shmt_occupancy_compute(
            &device, &resources, (int)(hostile_random(&state) >> r % 63),
            (int64_t)(hostile_random(&state) >> r / 7 % 64), (int)(r % 120)
            - 10, &found, &err);
        CHECK(status == SHMTUNE_OK || status == SHMTUNE_INVALID_ARGUMENT);
    }
}

int main(void)
{
    CHECK_RUN(known_cases);
    CHECK_RUN(limits_of_one_block_give_none);
    CHECK_RUN(carveout_limits_and_yields);
    CHECK_RUN(the_guide_agrees);
    CHECK_RUN(newer_devices_go_by_the_newest_rules);
    CHECK_RUN(what_is_not_known_is_refused);
    CHECK_RUN(odd_devices_do_no_harm);
    return CHECK_END();
}
