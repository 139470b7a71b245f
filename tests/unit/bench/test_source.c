/* SPDX-License-Identifier: MIT */
/*
 * test_source: the measuring kernels themselves.  The text that NVRTC gets is
 * compiled for the host (tests/support/device_shim.h), loaded, and held
 * against what pattern.h and source.h promise; the fake driver has kernels of
 * its own in their place.
 */
#include <dlfcn.h>
#include <float.h>
#include <math.h>
#include <pthread.h>
#include <unistd.h>

#include "bench/source.h"
#include "data/data.h"
#include "tests/support/check.h"
#include "tests/support/folder.h"

typedef unsigned char u8;

/* The grids that every kernel is launched with: fewer threads than elements,
 * more, several blocks. */
static const struct grid { unsigned blocks, threads; } grids[] = {
    {1, 1}, {1, 32}, {3, 32}, {4, 64}};
enum { GRIDS = sizeof grids / sizeof grids[0] };

/* The library that was compiled. */
static struct {
    void (*fill)(void *, uint64_t, struct shmt_pattern);
    void (*compare)(const void *, const void *, uint64_t, int, double, double,
                    uint32_t, struct shmt_probe_finding *);
    void (*guard)(const u8 *, uint64_t, uint64_t, uint64_t, uint32_t,
                  struct shmt_probe_finding *);
    void (*hash)(const void *, uint64_t, struct shmt_probe_finding *);
    void (*flush)(const void *, uint64_t, uint32_t *);
    void (*enter)(unsigned, unsigned, unsigned, unsigned);
    pthread_barrier_t **barrier;
} device;

/* -- compiling the text --------------------------------------------------- */

static void write_text(const char *path)
{
    struct shmt_text all = {0};
    FILE *file = fopen(path, "w");

    for (size_t k = 0; shmt_bench_source[k] != NULL; k++)
        shmt_text_add(&all, shmt_bench_source[k]);
    CHECK(!all.failed && file != NULL);
    fputs(all.data, file);
    CHECK(fclose(file) == 0);
    shmt_text_free(&all);
}

static void *find(void *library, const char *name)
{
    void *symbol = dlsym(library, name);

    CHECK(symbol != NULL);
    return symbol;
}

static void load(void *library)
{
    /* ISO C has no cast from an object's pointer to a function's. */
    *(void **)&device.fill = find(library, "shmt_fill");
    *(void **)&device.compare = find(library, "shmt_compare");
    *(void **)&device.guard = find(library, "shmt_guard");
    *(void **)&device.hash = find(library, "shmt_hash");
    *(void **)&device.flush = find(library, "shmt_flush");
    *(void **)&device.enter = find(library, "shim_enter");
    device.barrier = find(library, "shim_barrier");
}

static bool have_compiler(const char *compiler)
{
    char command[512];

    snprintf(command, sizeof command, "command -v %s >/dev/null 2>&1",
             compiler);
    return system(command) == 0;
}

static void the_text_compiles(void)
{
    const char *source = getenv("SHMT_SRCDIR"), *compiler = getenv("CXX");
    char folder[FOLDER_ROOM], path[FOLDER_ROOM], command[4096];
    void *library;

    folder_make(folder);
    folder_path(path, folder, "text.cc");
    write_text(path);
    snprintf(command, sizeof command,
             "cd %s && %s -std=c++17 -O1 -ffp-contract=off -shared -fPIC "
             "-include '%s/tests/support/device_shim.h' text.cc -o text.so "
             "-pthread", folder, compiler == NULL ? "c++" : compiler,
             source == NULL ? "." : source);
    CHECK_INT(system(command), 0);
    folder_path(path, folder, "text.so");
    library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    CHECK(library != NULL);
    if (library != NULL)
        load(library);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    CHECK_INT(system(command), 0);
}

/* -- launching ------------------------------------------------------------ */

static struct shmt_probe_finding blank(void)
{
    return (struct shmt_probe_finding){.first = UINT64_MAX,
                                       .guard_first = INT64_MAX};
}

#define LAUNCH(grid, call)                                                   \
    for (unsigned at_ = 0; at_ < (grid).blocks * (grid).threads; at_++) {    \
        device.enter(at_ / (grid).threads, at_ % (grid).threads,             \
                     (grid).blocks, (grid).threads);                         \
        call;                                                                \
    }

struct comparison {
    enum shmt_element element;
    double absolute, relative;
    uint32_t poison;
};

static struct shmt_probe_finding compare(const struct comparison *how,
                                         const struct grid *grid,
                                         const void *const pair[2],
                                         uint64_t count)
{
    struct shmt_probe_finding out = blank();

    LAUNCH(*grid, device.compare(pair[0], pair[1], count, how->element,
                                 how->absolute, how->relative, how->poison,
                                 &out))
    return out;
}

/* Whether one element passes. */
static bool passes(const struct comparison *how, const void *found,
                   const void *expected)
{
    const void *const pair[2] = {found, expected};
    const struct shmt_probe_finding out = compare(how, &grids[0], pair, 1);

    CHECK(out.mismatches <= 1);
    CHECK(out.first == (out.mismatches == 0 ? UINT64_MAX : 0));
    return out.mismatches == 0;
}

/* -- comparing ------------------------------------------------------------ */

enum { COUNT = 131 };

struct elements {
    _Alignas(16) u8 bytes[8 * COUNT + 16];
};

/* Small different numbers, which each type has. */
static void set_numbers(enum shmt_element element, struct elements *out)
{
    const bool real = shmt_element_is_real(element);
    const size_t size = shmt_element_bytes(element);

    for (size_t i = 0; i < COUNT; i++) {
        const union shmt_element_number number =
            real ? (union shmt_element_number){.real = (double)i + 1}
                 : (union shmt_element_number){.whole = (int64_t)i + 1};
        const union shmt_element_scalar value =
            shmt_element_store(element, number);

        memcpy(out->bytes + i * size, &value, size);
    }
}

/* An element wrong in each place, then two; of each type, on each grid. */
static void one_wrong_element_is_found(void)
{
    static struct elements a, b;
    const void *const pair[2] = {a.bytes, b.bytes};

    for (int e = 0; e < SHMT_ELEMENT_COUNT; e++) {
        const struct comparison how = {.element = e,
                                       .poison = SHMT_PATTERN_POISON_A};
        const size_t size = shmt_element_bytes(e);

        set_numbers(e, &a);
        set_numbers(e, &b);
        for (size_t g = 0; g < GRIDS; g++) {
            struct shmt_probe_finding out =
                compare(&how, &grids[g], pair, COUNT);

            CHECK(out.mismatches == 0 && out.first == UINT64_MAX &&
                  out.unwritten == 0);
            for (size_t i = 0; i < COUNT; i++) {
                a.bytes[i * size] ^= 0x40;
                out = compare(&how, &grids[g], pair, COUNT);
                CHECK(out.mismatches == 1 && out.first == i &&
                      out.unwritten == 0);
                /* Those behind the last are not compared. */
                out = compare(&how, &grids[g], pair, i);
                CHECK(out.mismatches == 0);
                a.bytes[(COUNT - 1) * size] ^= 0x20;
                out = compare(&how, &grids[g], pair, COUNT);
                CHECK(out.mismatches == (i == COUNT - 1 ? 1 : 2) &&
                      out.first == i);
                a.bytes[(COUNT - 1) * size] ^= 0x20;
                a.bytes[i * size] ^= 0x40;
            }
        }
    }
}

static bool reals_pass(enum shmt_element element, double found,
                       const double expected[3])
{
    const struct comparison how = {.element = element, .absolute = expected[1],
                                   .relative = expected[2]};
    const union shmt_element_scalar a = shmt_element_store(
        element, (union shmt_element_number){.real = found});
    const union shmt_element_scalar b = shmt_element_store(
        element, (union shmt_element_number){.real = expected[0]});

    return passes(&how, &a, &b);
}

#define REAL_PASSES(element, found, ...)                                     \
    reals_pass(element, found, (const double[3]){__VA_ARGS__})

static void nan_and_infinity(void)
{
    for (int e = 0; e < SHMT_ELEMENT_COUNT; e++) {
        if (!shmt_element_is_real(e))
            continue;
        CHECK(!REAL_PASSES(e, NAN, NAN, 1e300, 1));
        CHECK(!REAL_PASSES(e, NAN, 1, 1e300, 1));
        CHECK(!REAL_PASSES(e, 1, NAN, 1e300, 1));
        CHECK(!REAL_PASSES(e, NAN, INFINITY, INFINITY, 0));
        CHECK(REAL_PASSES(e, 0.0, -0.0, 0, 0));
        CHECK(REAL_PASSES(e, -0.0, 0.0, 0, 0));
        CHECK(REAL_PASSES(e, INFINITY, INFINITY, 0, 0));
        CHECK(REAL_PASSES(e, -INFINITY, -INFINITY, 0, 0));
        if (!shmt_element_holds_real(e, INFINITY))
            continue;
        CHECK(!REAL_PASSES(e, INFINITY, -INFINITY, 1, 1));
        CHECK(!REAL_PASSES(e, -INFINITY, INFINITY, 1, 1));
        CHECK(!REAL_PASSES(e, INFINITY, 1, 1e300, 1));
        CHECK(!REAL_PASSES(e, 1, INFINITY, 1, 1));
        CHECK(!REAL_PASSES(e, 1, -INFINITY, 1, 1));
    }
    /* The largest number is one. */
    CHECK(REAL_PASSES(SHMT_ELEMENT_F64, DBL_MAX / 2, DBL_MAX, 0, 0.5));
    CHECK(REAL_PASSES(SHMT_ELEMENT_F64, -DBL_MAX / 2, -DBL_MAX, 0, 0.5));
}

/* Just what is allowed passes, and nothing more. */
static void tolerances_of_reals_are_exact(void)
{
    static const struct { enum shmt_element element; double last; } rows[] = {
        {SHMT_ELEMENT_F16, 0x1p-10}, {SHMT_ELEMENT_BF16, 0x1p-7},
        {SHMT_ELEMENT_F32, 0x1p-23}, {SHMT_ELEMENT_F64, 0x1p-52}};

    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        const enum shmt_element e = rows[k].element;
        const double ulp = rows[k].last;

        /* nothing allowed */
        CHECK(!REAL_PASSES(e, 1 + ulp, 1, 0, 0));
        CHECK(!REAL_PASSES(e, -1, 1, 0, 0));
        /* absolute: in both directions, once and not twice */
        CHECK(REAL_PASSES(e, 1.5, 1, 0.5, 0));
        CHECK(REAL_PASSES(e, 1, 1.5, 0.5, 0));
        CHECK(!REAL_PASSES(e, 1.5 + ulp, 1, 0.5, 0));
        CHECK(!REAL_PASSES(e, 0.5 - ulp / 2, 1, 0.5, 0));
        /* relative to what is expected, without its sign */
        CHECK(REAL_PASSES(e, 3, 2, 0, 0.5));
        CHECK(REAL_PASSES(e, -3, -2, 0, 0.5));
        CHECK(REAL_PASSES(e, 1, 2, 0, 0.5));
        CHECK(!REAL_PASSES(e, 2, 1, 0, 0.5));
        CHECK(!REAL_PASSES(e, 3 + 2 * ulp, 2, 0, 0.5));
        CHECK(!REAL_PASSES(e, 1 - ulp, 2, 0, 0.5));
        CHECK(!REAL_PASSES(e, ulp, 0, 0, 0.5));
        /* their sum */
        CHECK(REAL_PASSES(e, 3.25, 2, 0.25, 0.5));
        CHECK(!REAL_PASSES(e, 3.25 + 2 * ulp, 2, 0.25, 0.5));
    }
}

/* The device's conversions are the host's: on each pattern of bits it sees the
 * number that the host sees, or NaN. */
static void small_reals_are_the_same_on_the_device(void)
{
    for (int e = 0; e < SHMT_ELEMENT_COUNT; e++) {
        const size_t size = shmt_element_bytes(e);
        const struct comparison how = {.element = e};
        int failed = 0;

        if (!shmt_element_is_real(e) || size > 2)
            continue;
        for (uint32_t bits = 0; bits < 1u << (8 * size); bits++) {
            const double number = shmt_element_real(e, &bits);
            /* another pattern only where the type has no infinity to store */
            const union shmt_element_scalar again = shmt_element_store(
                e, (union shmt_element_number){.real = number});

            failed += passes(&how, &bits, &again) !=
                      (shmt_element_real(e, &again) == number);
        }
        CHECK_INT(failed, 0);
    }
}

static bool wholes_pass(enum shmt_element element, const int64_t numbers[2],
                        const double allowed[2])
{
    const struct comparison how = {.element = element, .absolute = allowed[0],
                                   .relative = allowed[1]};
    const union shmt_element_scalar a = shmt_element_store(
        element, (union shmt_element_number){.whole = numbers[0]});
    const union shmt_element_scalar b = shmt_element_store(
        element, (union shmt_element_number){.whole = numbers[1]});

    return passes(&how, &a, &b);
}

#define WHOLE_PASSES(element, found, expected, ...)                          \
    wholes_pass(element, (const int64_t[2]){found, expected},                \
                (const double[2]){__VA_ARGS__})

static void tolerances_of_whole_numbers_are_exact(void)
{
    for (int e = 0; e < SHMT_ELEMENT_COUNT; e++) {
        if (shmt_element_is_real(e))
            continue;
        CHECK(WHOLE_PASSES(e, 7, 7, 0, 0));
        CHECK(!WHOLE_PASSES(e, 8, 7, 0, 0));
        CHECK(!WHOLE_PASSES(e, 6, 7, 0.5, 0));
        CHECK(WHOLE_PASSES(e, 12, 10, 2, 0));
        CHECK(WHOLE_PASSES(e, 8, 10, 2, 0));
        CHECK(!WHOLE_PASSES(e, 13, 10, 2, 0));
        CHECK(!WHOLE_PASSES(e, 7, 10, 2, 0));
        CHECK(WHOLE_PASSES(e, 15, 10, 0, 0.5));
        CHECK(!WHOLE_PASSES(e, 16, 10, 0, 0.5));
        CHECK(WHOLE_PASSES(e, 17, 10, 2, 0.5));
        CHECK(!WHOLE_PASSES(e, 18, 10, 2, 0.5));
    }
    CHECK(WHOLE_PASSES(SHMT_ELEMENT_I32, -15, -10, 0, 0.5));
    CHECK(!WHOLE_PASSES(SHMT_ELEMENT_I32, -1, 1, 1, 0));
    CHECK(!WHOLE_PASSES(SHMT_ELEMENT_I32, INT32_MIN, INT32_MAX, 4294967294.0,
                        0));
    CHECK(WHOLE_PASSES(SHMT_ELEMENT_I32, INT32_MIN, INT32_MAX, 4294967295.0,
                       0));
    CHECK(!WHOLE_PASSES(SHMT_ELEMENT_U32, UINT32_MAX, 0, 4294967294.0, 0));
    CHECK(!WHOLE_PASSES(SHMT_ELEMENT_U32, 0, UINT32_MAX, 1, 0));
    CHECK(!WHOLE_PASSES(SHMT_ELEMENT_U8, 0, 255, 254, 0));
    CHECK(WHOLE_PASSES(SHMT_ELEMENT_U8, 0, 255, 255, 0));
    /* No double tells these neighbours apart. */
    CHECK(!WHOLE_PASSES(SHMT_ELEMENT_I64, INT64_MAX, INT64_MAX - 1, 0, 0));
    CHECK(WHOLE_PASSES(SHMT_ELEMENT_I64, INT64_MAX, INT64_MAX - 1, 1, 0));
    CHECK(!WHOLE_PASSES(SHMT_ELEMENT_I64, INT64_MIN, INT64_MAX, 1, 0));
    CHECK(!WHOLE_PASSES(SHMT_ELEMENT_U64, INT64_MAX, INT64_MAX - 1, 0, 0));
    CHECK(!WHOLE_PASSES(SHMT_ELEMENT_U64, INT64_MAX - 1, INT64_MAX, 0, 0));
    CHECK(WHOLE_PASSES(SHMT_ELEMENT_U64, INT64_MAX - 1, INT64_MAX, 1, 0));
    CHECK(!WHOLE_PASSES(SHMT_ELEMENT_U64, -1, 0, 0x1p63, 0));
    CHECK(!WHOLE_PASSES(SHMT_ELEMENT_U64, 0, -1, 0x1p63, 0));
    CHECK(WHOLE_PASSES(SHMT_ELEMENT_U64, -1, -2, 1, 0));
    CHECK(!WHOLE_PASSES(SHMT_ELEMENT_I8, -128, 127, 254, 0));
    CHECK(WHOLE_PASSES(SHMT_ELEMENT_I16, INT16_MIN, INT16_MAX, 65535, 0));
    CHECK(!WHOLE_PASSES(SHMT_ELEMENT_I64, INT64_MAX, INT64_MIN, 0x1p63, 0));
    CHECK(WHOLE_PASSES(SHMT_ELEMENT_I64, INT64_MIN, INT64_MAX, 0x1p64, 0));
}

/* -- unwritten ------------------------------------------------------------ */

static void put_poison(u8 *bytes, size_t count, uint32_t word)
{
    for (size_t k = 0; k < count; k++)
        bytes[k] = (u8)(word >> 8 * (k % 2));
}

/* An element is unwritten when every byte of it is, in each place. */
static void partly_written_is_not_unwritten(void)
{
    static const uint32_t poisons[] = {SHMT_PATTERN_POISON_A,
                                       SHMT_PATTERN_POISON_B};
    static struct elements a, b;
    const void *const pair[2] = {a.bytes, b.bytes};

    for (int run = 0; run < 2 * SHMT_ELEMENT_COUNT; run++) {
        const enum shmt_element e = run / 2;
        const size_t size = shmt_element_bytes(e);
        const struct comparison how = {.element = e,
                                       .poison = poisons[run % 2]};
        struct shmt_probe_finding out;

        set_numbers(e, &b);
        memcpy(&a, &b, sizeof a);
        put_poison(a.bytes + 2 * size, 3 * size, how.poison);
        out = compare(&how, &grids[1], pair, COUNT);
        CHECK(out.mismatches == 3 && out.unwritten == 3 && out.first == 2);
        for (size_t k = 2 * size; k < 5 * size; k++) {
            a.bytes[k] ^= 1;
            out = compare(&how, &grids[2], pair, COUNT);
            CHECK(out.mismatches == 3 && out.unwritten == 2);
            a.bytes[k] ^= 1;
        }
        /* nothing written at all, on each grid */
        put_poison(a.bytes, COUNT * size, how.poison);
        for (size_t g = 0; g < GRIDS; g++) {
            out = compare(&how, &grids[g], pair, COUNT);
            /* As u8, one number each is the poison's own. */
            CHECK(out.mismatches >= COUNT - 1 && out.first == 0);
            CHECK(out.unwritten == out.mismatches);
        }
        /* the other poison is a wrong result */
        put_poison(a.bytes, COUNT * size, poisons[1 - run % 2]);
        out = compare(&how, &grids[3], pair, COUNT);
        CHECK(out.mismatches >= COUNT - 1 && out.unwritten == 0);
    }
}

/* -- guards --------------------------------------------------------------- */

static void each_guard_byte_is_checked(void)
{
    enum { FRONT = 64, INSIDE = 37, WHOLE = 180 };
    static const uint32_t poison = SHMT_PATTERN_POISON_A;
    u8 bytes[WHOLE];

    for (size_t g = 0; g < GRIDS; g++)
        for (int64_t k = -1; k < WHOLE; k++) {
            const bool inside = k < 0 || (k >= FRONT && k < FRONT + INSIDE);
            struct shmt_probe_finding out = blank();

            put_poison(bytes, WHOLE, poison);
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
        struct shmt_probe_finding out = blank();

        memset(bytes, 0, sizeof bytes);
        put_poison(bytes, sizeof bytes, SHMT_PATTERN_POISON_B);
        bytes[90] = bytes[70] = bytes[12] = bytes[31] = 0x55;
        LAUNCH(grids[g], device.guard(bytes, 32, 16, 96,
                                      SHMT_PATTERN_POISON_B, &out))
        CHECK_INT(out.guard_bytes, 4);
        CHECK_INT(out.guard_first, 12 - 32);
        out = blank();
        put_poison(bytes, 32, SHMT_PATTERN_POISON_B);
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
    struct shmt_probe_finding out = blank();
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
    const char *compiler = getenv("CXX");

    if (!have_compiler(compiler == NULL ? "c++" : compiler)) {
        printf("1..0 # SKIP no C++ compiler\n");
        return EXIT_SUCCESS;
    }
    CHECK_RUN(the_text_compiles);
    if (device.fill == NULL)
        return CHECK_END();
    CHECK_RUN(one_wrong_element_is_found);
    CHECK_RUN(nan_and_infinity);
    CHECK_RUN(tolerances_of_reals_are_exact);
    CHECK_RUN(small_reals_are_the_same_on_the_device);
    CHECK_RUN(tolerances_of_whole_numbers_are_exact);
    CHECK_RUN(partly_written_is_not_unwritten);
    CHECK_RUN(each_guard_byte_is_checked);
    CHECK_RUN(the_lowest_guard_byte_is_told);
    CHECK_RUN(every_byte_is_in_the_hash);
    CHECK_RUN(fill_as_the_host_does);
    CHECK_RUN(fill_at_the_edges);
    CHECK_RUN(the_flush_only_reads);
    return CHECK_END();
}
