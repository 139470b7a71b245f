/* SPDX-License-Identifier: MIT */
/*
 * test_source: the measuring kernels themselves.  The text that NVRTC gets is
 * compiled for the host (tests/support/device_text.h), loaded, and held
 * against what pattern.h and source.h promise; the fake driver has kernels of
 * its own in their place.
 */
#include "tests/support/check.h"
#include "tests/support/device_text.h"

/* -- guards --------------------------------------------------------------- */

static void each_guard_byte_is_checked(void)
{
    enum { FRONT = 64, INSIDE = 37, WHOLE = 180 };
    static const uint32_t poison = SHMT_PATTERN_POISON_A;
    u8 bytes[WHOLE];

    for (size_t g = 0; g < GRIDS; g++)
        for (int64_t k = -1; k < WHOLE; k++) {
            const bool inside = k < 0 || (k >= FRONT && k < FRONT + INSIDE);
            struct shmt_probe_finding out = device_text_blank();

            device_text_poison(bytes, WHOLE, poison);
            memset(bytes + FRONT, 0, INSIDE);
            if (k >= 0)
                bytes[k] ^= 0x10;
            LAUNCH(grids[g], device.guard(bytes, FRONT, INSIDE, WHOLE, poison,
                                          &out))
            CHECK_INT(out.guard_bytes, inside ? 0 : 1);
            CHECK_INT(out.guard_first, inside ? INT64_MAX : k - FRONT);
            CHECK(out.mismatches == 0 && out.first == UINT64_MAX);
        }
}

static void the_lowest_guard_byte_is_told(void)
{
    u8 bytes[96];

    for (size_t g = 0; g < GRIDS; g++) {
        struct shmt_probe_finding out = device_text_blank();

        memset(bytes, 0, sizeof bytes);
        device_text_poison(bytes, sizeof bytes, SHMT_PATTERN_POISON_B);
        bytes[90] = bytes[70] = bytes[12] = bytes[31] = 0x55;
        LAUNCH(grids[g], device.guard(bytes, 32, 16, 96,
                                      SHMT_PATTERN_POISON_B, &out))
        CHECK_INT(out.guard_bytes, 4);
        CHECK_INT(out.guard_first, 12 - 32);
        out = device_text_blank();
        device_text_poison(bytes, 32, SHMT_PATTERN_POISON_B);
        LAUNCH(grids[g], device.guard(bytes, 32, 16, 96,
                                      SHMT_PATTERN_POISON_B, &out))
        CHECK_INT(out.guard_bytes, 2);
        CHECK_INT(out.guard_first, 70 - 32);
    }
}

/* -- hashing -------------------------------------------------------------- */

/* One thread of a grid whose threads exchange values. */
struct lane {
    pthread_t thread;
    const struct grid *grid;
    unsigned at;
    const void *data;
    uint64_t bytes;
    struct shmt_probe_finding *out;
};

static void *run_lane(void *argument)
{
    const struct lane *lane = argument;
    const struct grid *grid = lane->grid;

    device.enter(lane->at / grid->threads, lane->at % grid->threads,
                 grid->blocks, grid->threads);
    device.hash(lane->data, lane->bytes, lane->out);
    return NULL;
}

static uint64_t hash(const struct grid *grid, const void *data, uint64_t bytes)
{
    enum { MOST = 256 };
    struct lane lanes[MOST];
    struct shmt_probe_finding out = device_text_blank();
    pthread_barrier_t barrier;
    const unsigned count = grid->blocks * grid->threads;

    CHECK(count <= MOST && pthread_barrier_init(&barrier, NULL, count) == 0);
    *device.barrier = &barrier;
    for (unsigned k = 0; k < count; k++) {
        lanes[k] = (struct lane){.grid = grid, .at = k, .data = data,
                                 .bytes = bytes, .out = &out};
        if (pthread_create(&lanes[k].thread, NULL, run_lane, &lanes[k]) != 0)
            abort();
    }
    for (unsigned k = 0; k < count; k++)
        pthread_join(lanes[k].thread, NULL);
    pthread_barrier_destroy(&barrier);
    CHECK(out.mismatches == 0 && out.guard_bytes == 0);
    return out.hash;
}

/* The sum that source.c describes, by one thread. */
static uint64_t expected_hash(const u8 *data, uint64_t bytes)
{
    uint64_t sum = 0;
    uint32_t v[4];

    for (uint64_t i = 0; i < bytes / 16; i++) {
        memcpy(v, data + 16 * i, 16);
        sum += ((uint64_t)v[0] << 32 | v[1]) * (2 * i + 1) *
               UINT64_C(0x9e3779b97f4a7c15);
        sum += ((uint64_t)v[2] << 32 | v[3]) * (2 * i + 1) *
               UINT64_C(0xd1b54a32d192ed03);
    }
    for (uint64_t k = 0; k < bytes % 16; k++)
        sum += shmt_random_mix(data[bytes / 16 * 16 + k] + 256 * k);
    return sum;
}

static void every_byte_is_in_the_hash(void)
{
    static const struct grid warps[] = {{1, 32}, {2, 32}, {1, 64}, {2, 64}};
    static struct elements all;
    static const uint64_t lengths[] = {0, 1, 15, 16, 17, 100, 999};

    for (size_t k = 0; k < sizeof all.bytes; k++)
        all.bytes[k] = (u8)(k * k + 3);
    for (size_t n = 0; n < 7; n++)
        for (size_t g = 0; g < 4; g++)
            CHECK(hash(&warps[g], all.bytes, lengths[n]) ==
                  expected_hash(all.bytes, lengths[n]));
    for (size_t k = 0; k < 101; k++) {
        const uint64_t before = expected_hash(all.bytes, 100);

        all.bytes[k] ^= 0x80;
        CHECK((hash(&warps[0], all.bytes, 100) == before) == (k == 100));
        all.bytes[k] ^= 0x80;
    }
}

/* -- filling -------------------------------------------------------------- */

/* Numbers with which each type has each fill. */
static struct shmt_pattern pattern_of(enum shmt_element element,
                                      enum shmt_fill fill, uint64_t seed)
{
    struct shmt_pattern out = {
        .element = (int)element, .fill = (int)fill, .low = 0, .high = 100,
        .seed = seed, .count = COUNT};

    switch (fill) {
    case SHMT_FILL_NORMAL:
        out.first = 49.5;
        out.second = 20;
        break;
    case SHMT_FILL_ROW_POINTERS:
        out.first = 0.9;
        out.second = 0.7;
        break;
    default:
        out.first = 0.75;
        out.second = 0.7;
        out.from = 1;
        out.step = -1;
    }
    return shmt_pattern_complete(&out);
}

static void fill_as_the_host_does(void)
{
    static struct elements data;
    enum { FILLS = SHMT_FILL_COUNT };

    for (int run = 0; run < FILLS * SHMT_ELEMENT_COUNT * GRIDS; run++) {
        const enum shmt_element e = run / FILLS % SHMT_ELEMENT_COUNT;
        const struct grid *grid = &grids[run / FILLS / SHMT_ELEMENT_COUNT];
        const size_t size = shmt_element_bytes(e);
        const struct shmt_pattern pattern = pattern_of(
            e, (enum shmt_fill)(run % FILLS), (uint64_t)run);

        memset(&data, 0xa5, sizeof data);
        LAUNCH(*grid, device.fill(data.bytes, COUNT, pattern))
        for (size_t i = 0; i < COUNT; i++) {
            const union shmt_element_scalar value =
                shmt_pattern_value(&pattern, i);

            CHECK(memcmp(data.bytes + i * size, &value, size) == 0);
        }
        for (size_t k = COUNT * size; k < sizeof data.bytes; k++)
            CHECK(data.bytes[k] == 0xa5);
    }
}

/* The range of one number, and ramps beyond their mask. */
static void fill_at_the_edges(void)
{
    const struct shmt_pattern empty = {.element = SHMT_ELEMENT_I32, .low = 5,
                                       .high = 5, .seed = 1};
    const struct shmt_pattern below = {.element = SHMT_ELEMENT_I32, .low = -9,
                                       .high = -2, .seed = 1};
    const struct shmt_pattern ramp = {.element = SHMT_ELEMENT_I32, .mask = 7,
                                      .fill = (int)SHMT_FILL_RAMP};
    int32_t data[64];
    uint32_t seen = 0;

    LAUNCH(grids[1], device.fill(data, 64, empty))
    for (int i = 0; i < 64; i++)
        CHECK_INT(data[i], 5);
    LAUNCH(grids[1], device.fill(data, 64, ramp))
    for (int i = 0; i < 64; i++)
        CHECK_INT(data[i], i % 8);
    LAUNCH(grids[1], device.fill(data, 64, below))
    for (int i = 0; i < 64; i++) {
        CHECK(data[i] >= -9 && data[i] < -2);
        if (data[i] >= -9 && data[i] < -2)
            seen |= 1u << (data[i] + 9);
    }
    CHECK_INT(seen, 0x7f);
}

/* All words, and no more, whatever the grid; no two are the same, which memory
 * could compress. */
static void noise_differs(void)
{
    for (size_t g = 0; g < GRIDS; g++) {
        uint64_t data[66] = {0};

        LAUNCH(grids[g], device.noise(data, 65))
        CHECK(data[65] == 0);
        for (size_t k = 0; k < 65; k++)
            for (size_t other = 0; other < k; other++)
                CHECK(data[k] != 0 && data[k] != data[other]);
    }
}

/* The flush reads everything and leaves everything as it was, but for one sum
 * in 2^32. */
static void the_flush_only_reads(void)
{
    _Alignas(16) uint32_t data[64], before[64];
    uint32_t sink = 77;

    for (uint32_t k = 0; k < 64; k++)
        before[k] = data[k] = k * 2654435761u;
    for (size_t g = 0; g < GRIDS; g++)
        LAUNCH(grids[g], device.flush(data, 16, &sink))
    CHECK_INT(sink, 77);
    CHECK(memcmp(data, before, sizeof data) == 0);
    /* All of it is read: the sum of all words is the impossible value. */
    memset(data, 0, sizeof data);
    data[63] = 1;
    data[0] = 0x9d2c5681u;
    data[13] = 0xffffffffu;
    LAUNCH(grids[0], device.flush(data, 16, &sink))
    CHECK(sink == 0x9d2c5681u);
}

int main(void)
{
    if (!device_text_can_compile())
        return EXIT_SUCCESS;
    device_text_compile();
    CHECK_RUN(each_guard_byte_is_checked);
    CHECK_RUN(the_lowest_guard_byte_is_told);
    CHECK_RUN(every_byte_is_in_the_hash);
    CHECK_RUN(fill_as_the_host_does);
    CHECK_RUN(fill_at_the_edges);
    CHECK_RUN(noise_differs);
    CHECK_RUN(the_flush_only_reads);
    return CHECK_END();
}
