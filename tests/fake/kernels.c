/* SPDX-License-Identifier: MIT */
/*
 * kernels: the kernels the fake driver can run, in C.  The probe's are
 * written from their description in bench/source.c, so that a mistake in one
 * of the two is seen.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/source.h"
#include "data/data.h"
#include "tests/fake/cuda.h"
#include "tests/fake/fake_kernel.h"

#define ARGUMENT(launch, k, type) (*(type *)(launch)->arguments[k])

static void *memory(const struct fake_launch *launch, size_t k)
{
    return (void *)(uintptr_t)ARGUMENT(launch, k, CUdeviceptr);
}

/* -- the probe ----------------------------------------------------------- */

static void fill(struct fake_launch *launch)
{
    struct shmt_pattern pattern;
    char *data = memory(launch, 0);
    size_t size;

    memcpy(&pattern, launch->arguments[2], sizeof pattern);
    size = shmt_element_bytes((enum shmt_element)pattern.element);
    for (uint64_t i = 0; i < ARGUMENT(launch, 1, uint64_t); i++) {
        const union shmt_element_scalar value = shmt_pattern_value(&pattern, i);

        memcpy(data + i * size, &value, size);
    }
}

/* How many numbers of the type lie between two, one end counted. */
static uint64_t steps_between(enum shmt_element element,
                              const unsigned char *a, const unsigned char *b)
{
    const size_t size = shmt_element_bytes(element);
    const unsigned char *const both[] = {a, b};
    uint64_t away[2] = {0, 0};
    bool negative[2];

    for (int k = 0; k < 2; k++) {
        for (size_t i = size; i-- > 0;)
            away[k] = away[k] << 8 | both[k][i];
        negative[k] = both[k][size - 1] >= 0x80;
        away[k] &= UINT64_MAX >> (65 - 8 * size);
    }
    if (negative[0] != negative[1])
        return away[0] + away[1];
    return away[0] > away[1] ? away[0] - away[1] : away[1] - away[0];
}

/* Whether a pair is right; *excess is by how much it is not, or nearly. */
static bool judge(const struct shmt_probe_rule *rule, const unsigned char *at,
                  const unsigned char *from, double *excess)
{
    const enum shmt_element element = (enum shmt_element)rule->element;
    const double a = shmt_element_real(element, at);
    const double b = shmt_element_real(element, from);
    const double allowed =
        rule->absolute + rule->relative * fabs(b) + rule->scale;
    const double steps = (double)steps_between(element, at, from);
    const bool finite = isfinite(a) && isfinite(b);

    *excess = a == b ? 0 : (double)INFINITY;
    if (a == b)
        return true;
    if (finite && allowed > 0)
        *excess = fabs(a - b) / allowed;
    if (finite && rule->ulp > 0)
        *excess = fmin(*excess, steps / (double)rule->ulp);
    if (finite && rule->absolute == 0 && rule->relative == 0 &&
        rule->scale == 0 && rule->ulp == 0) {
        *excess = fabs(a - b);
        if (rule->real)
            *excess = b == 0 ? (double)INFINITY : *excess / fabs(b);
    }
    return finite && (fabs(a - b) <= allowed ||
                      (rule->ulp > 0 && steps <= (double)rule->ulp));
}

static bool is_poison(const unsigned char *bytes, uint64_t from, size_t size,
                      uint32_t poison)
{
    for (size_t k = 0; k < size; k++)
        if (bytes[k] != (unsigned char)(poison >> 8 * ((from + k) % 2)))
            return false;
    return true;
}

/* By walking the region: whether it has element `index`. */
static bool in_region(const struct shmt_probe_rule *rule, uint64_t index)
{
    if (rule->columns == 0)
        return true;
    for (uint64_t z = 0; z < rule->planes; z++)
        for (uint64_t y = 0; y < rule->rows; y++) {
            const uint64_t row =
                rule->offset + z * rule->plane_pitch + y * rule->pitch;

            if (index >= row && index < row + rule->columns)
                return true;
        }
    return false;
}

static void compare(struct fake_launch *launch)
{
    const unsigned char *a = memory(launch, 0), *b = memory(launch, 1);
    const unsigned char *kept = memory(launch, 2);
    const struct shmt_probe_rule *rule = launch->arguments[4];
    const size_t size = shmt_element_bytes((enum shmt_element)rule->element);
    struct shmt_probe_finding *out = memory(launch, 5);
    double excess, worst = 0;

    for (uint64_t i = 0; i < ARGUMENT(launch, 3, uint64_t); i++) {
        if (!in_region(rule, i)) {
            if (kept != NULL ? memcmp(a + i * size, kept + i * size, size) == 0
                             : is_poison(a + i * size, i * size, size,
                                         rule->outside))
                continue;
            if (out->outside++ == 0)
                out->outside_first = i;
            continue;
        }
        if (judge(rule, a + i * size, b + i * size, &excess)) {
            worst = fmax(worst, excess);
            continue;
        }
        if (out->mismatches++ == 0)
            out->first = i;
        worst = fmax(worst, excess);
        out->unwritten += is_poison(a + i * size, i * size, size,
                                    rule->poison);
    }
    memcpy(&out->worst, &worst, sizeof worst);
}

static void find_worst(struct fake_launch *launch)
{
    const unsigned char *a = memory(launch, 0), *b = memory(launch, 1);
    const struct shmt_probe_rule *rule = launch->arguments[4];
    const size_t size = shmt_element_bytes((enum shmt_element)rule->element);
    struct shmt_probe_finding *out = memory(launch, 5);
    double excess, worst;

    memcpy(&worst, &out->worst, sizeof worst);
    for (uint64_t i = ARGUMENT(launch, 3, uint64_t); i-- > 0;)
        if (in_region(rule, i) &&
            !judge(rule, a + i * size, b + i * size, &excess) &&
            !(excess < worst) && !(excess > worst))
            out->worst_at = i;
}

static void guard(struct fake_launch *launch)
{
    const unsigned char *base = memory(launch, 0);
    const uint64_t front = ARGUMENT(launch, 1, uint64_t);
    const uint64_t inside = ARGUMENT(launch, 2, uint64_t);
    struct shmt_probe_finding *out = memory(launch, 5);

    for (uint64_t at = 0; at < ARGUMENT(launch, 3, uint64_t); at++) {
        if (at == front)
            at += inside;
        if (is_poison(base + at, at, 1, ARGUMENT(launch, 4, uint32_t)))
            continue;
        if (out->guard_bytes++ == 0)
            out->guard_first = (int64_t)at - (int64_t)front;
    }
}

static void hash(struct fake_launch *launch)
{
    const unsigned char *data = memory(launch, 0);
    struct shmt_probe_finding *out = memory(launch, 2);

    for (uint64_t i = 0; i < ARGUMENT(launch, 1, uint64_t); i++)
        out->hash += data[i] * (2 * i + 1) * 0x9e3779b97f4a7c15u;
}

/* There is no cache that is flushed, and nothing to be filled for that. */
static void flush(struct fake_launch *launch)
{
    launch->cost_us = 40;
}

/* -- tests/fake/fake_kernel.cu ------------------------------------------------- */

/* Elements [0, last) of both outputs. */
static void scale_some(struct fake_launch *launch, int last)
{
    float *out = memory(launch, 0);
    const float *x = memory(launch, 1);
    int *acc = memory(launch, 2);

    for (int i = 0; i < last; i++) {
        out[i] = 2 * x[i];
        acc[i] += 1;
    }
}

static void scale_reference(struct fake_launch *launch)
{
    scale_some(launch, ARGUMENT(launch, 3, int));
}

static void scale_compare(struct fake_launch *launch)
{
    uint64_t *mismatches = memory(launch, 0);
    const float *out = memory(launch, 1), *expected = memory(launch, 2);

    for (int i = 0; i < ARGUMENT(launch, 3, int); i++)
        *mismatches += !(fabsf(out[i] - expected[i]) <= 0.25f);
}

/* True when the first element still holds what it was poisoned with before
 * the first of two verified runs. */
static bool is_first_run(const float *out)
{
    const uint32_t poison = SHMT_PATTERN_POISON_A;

    return memcmp(out, &poison, sizeof poison) == 0;
}

static void scale(struct fake_launch *launch)
{
    float *out = memory(launch, 0), *x = memory(launch, 1);
    int *counter = memory(launch, 3);
    const int n = ARGUMENT(launch, 4, int);
    const int fault = ARGUMENT(launch, 5, int);
    const bool first = is_first_run(out);

    launch->cost_us = ARGUMENT(launch, 6, int);
    scale_some(launch, fault == FAULT_UNWRITTEN || fault == FAULT_MIXED
                           ? n - 1 : n);
    counter[0] += 1;
    out[0] += (float)(counter[0] - 1);   /* it was zeroed */
    switch (fault) {
    case FAULT_ILLEGAL: launch->stuck = CUDA_ERROR_ILLEGAL_ADDRESS; break;
    case FAULT_TRAP: launch->stuck = CUDA_ERROR_LAUNCH_FAILED; break;
    case FAULT_WATCHDOG: launch->stuck = CUDA_ERROR_LAUNCH_TIMEOUT; break;
    case FAULT_PAST: out[n] = 1; break;
    case FAULT_BEFORE: out[-1] = 1; break;
    case FAULT_INPUT: x[n / 2] += 1; break;
    case FAULT_NAN: out[n - 1] = (float)NAN; break;
    case FAULT_ONE: out[n / 3] += 0.5f; break;
    case FAULT_UNSTABLE: out[0] += first ? 0.0f : 1.0f; break;
    case FAULT_HANG: for (;;) pause();
    case FAULT_PRINT: printf("hello from a kernel\n"); fflush(stdout); break;
    case FAULT_WORKSPACE: counter[1] = 1; break;
    case FAULT_MIXED: out[0] += 0.5f; break;
    default: break;
    }
}

/* -- tests/fake/fake_value.cu -------------------------------------------------- */

/* The weights end at the first zero: the bench puts zeros after them, and a
 * test of the library one. */
static void smooth_by(struct fake_launch *launch, int shift)
{
    float *out = memory(launch, 0);
    const float *x = memory(launch, 1), *weights = launch->arguments[2];
    const int n = ARGUMENT(launch, 3, int);

    for (int i = 0; i < n; i++) {
        float sum = 0;

        for (int t = 0; weights[t] != 0; t++)
            sum += weights[t] * x[(i + t + shift) % n];
        out[i] = sum;
    }
}

static void smooth(struct fake_launch *launch)
{
    launch->cost_us = 10;
    smooth_by(launch, ARGUMENT(launch, 4, int));
}

static void smooth_reference(struct fake_launch *launch)
{
    smooth_by(launch, 0);
}

/* -- tests/fake/fake_setup.cu --------------------------------------------- */

static void lengths(struct fake_launch *launch, int stride, int n)
{
    const float *x = memory(launch, 1);
    float *out = memory(launch, 0);

    launch->cost_us = 10;
    for (int i = 0; i < n; i++)
        out[i] = x[stride * i] * x[stride * i];
}

static void lengths_structures(struct fake_launch *launch)
{
    lengths(launch, 2, ARGUMENT(launch, 2, int));
}

static void lengths_arrays(struct fake_launch *launch)
{
    lengths(launch, 1, ARGUMENT(launch, 3, int));
}

static void split_points(struct fake_launch *launch)
{
    float *split = memory(launch, 0), *sums = memory(launch, 1);
    float *points = memory(launch, 2);
    const int n = ARGUMENT(launch, 3, int), fault = ARGUMENT(launch, 4, int);

    for (int i = 0; i < n; i++) {
        split[i] = points[2 * i];
        if (fault != 2 || i > 0)
            split[n + i] = points[2 * i + 1];
        if (fault != 5 || i > 0)
            sums[i] = points[2 * i] + points[2 * i + 1];
    }
    if (fault == 3)
        points[n] += 1;
    if (fault == 4)
        split[2 * n] = 1;
}

/* -- tests/fake/fake_symbol.cu -------------------------------------------- */

enum { TAPS = 5 };

static void convolve_with(struct fake_launch *launch, int fault)
{
    const float *weights = fake_variable(launch, "_ZN7filters7weightsE");
    const float *x = memory(launch, 1);
    int *offsets = fake_variable(launch, "offsets");
    float *out = memory(launch, 0);
    const int n = ARGUMENT(launch, 2, int);

    launch->cost_us = 10;
    if (offsets == NULL) {
        launch->stuck = CUDA_ERROR_ILLEGAL_ADDRESS;
        return;
    }
    for (int i = 0; i < n; i++) {
        out[i] = 0;
        for (int t = 0; t < TAPS; t++)
            out[i] += (weights != NULL ? weights[t] : 1) *
                      x[(i + offsets[t]) % n];
    }
    offsets[0] += fault == 1;
}

static void convolve(struct fake_launch *launch)
{
    convolve_with(launch, ARGUMENT(launch, 3, int));
}

static void convolve_reference(struct fake_launch *launch)
{
    convolve_with(launch, 0);
}

static void make_offsets(struct fake_launch *launch)
{
    int *offsets = memory(launch, 0);

    for (int t = 0; t < TAPS; t++)
        offsets[t] = t * t;
}

/* -- tests/fake/fake_variable.cu ------------------------------------------ */

enum { BINS = 7 };

/* From what the head of the queue holds, which has to be zero. */
static void count_from(struct fake_launch *launch, unsigned head, int fault)
{
    unsigned *histogram =
        fake_variable(launch, "_ZN8counters9histogramE");
    float *sums = fake_variable(launch, "sums");
    int *limits = fake_variable(launch, "limits");
    const int *x = memory(launch, 0);
    const unsigned n = ARGUMENT(launch, 1, unsigned);

    launch->cost_us = 10;
    for (unsigned i = head; i < n; i++) {
        histogram[x[i]] += fault == 3 && i == 0 ? 2 : 1;
        sums[x[i]] += fault == 4 && i == 0 ? 2 : 1;
    }
    limits[0] = (int)n - (fault == 1);
    if (fault != 2)
        limits[1] = BINS;
}

static void count_values(struct fake_launch *launch)
{
    unsigned *head = fake_variable(launch, "head");

    count_from(launch, *head, ARGUMENT(launch, 2, int));
    *head = ARGUMENT(launch, 1, unsigned) + 4 * 64;
}

static void count_reference(struct fake_launch *launch)
{
    count_from(launch, 0, 0);
}

static void make_sums(struct fake_launch *launch)
{
    float *sums = memory(launch, 0);

    for (int k = 0; k < BINS; k++)
        sums[k] = (float)(8 * k);
}

static void compare_limits(struct fake_launch *launch)
{
    uint64_t *mismatches = memory(launch, 0);
    const int *limits = memory(launch, 1), *expected = memory(launch, 2);

    for (int k = 0; k < 2; k++)
        *mismatches += limits[k] != expected[k];
}

/* -- tests/fake/fake_struct.cu -------------------------------------------- */

struct parameters {
    signed char sign;
    float *out;
    short steps[3];
    double scale;
    int n;
    const float *none;
    bool last;
};

static void combine(struct fake_launch *launch)
{
    const struct parameters *p = launch->arguments[0];
    const float *behind = memory(launch, 1);
    const bool right =
        p->none == NULL && memory(launch, 2) == NULL && p->last;

    launch->cost_us = 10;
    for (int i = 0; i < p->n; i++)
        p->out[i] = (float)p->sign * (float)(p->scale * (double)behind[i]) +
                    (float)p->steps[i % 3] + (right ? 0.0f : 1.0f);
}

static void combine_reference(struct fake_launch *launch)
{
    float *out = memory(launch, 0);
    const float *x = memory(launch, 1);
    const int n = ARGUMENT(launch, 2, int);

    for (int i = 0; i < n; i++)
        out[i] = -(float)(1.5 * (double)x[n + i]) +
                 (float)(i % 3 == 2 ? n % 100 : i % 3);
}

/* -- tests/fake/fake_grid.cu ---------------------------------------------- */

/* A grid that is not cooperative cannot wait for itself. */
static void mirror(struct fake_launch *launch)
{
    int *out = memory(launch, 0), *twice = memory(launch, 1);
    const int *x = memory(launch, 2);
    const int n = ARGUMENT(launch, 3, int);

    launch->cost_us = 10;
    if (!launch->cooperative)
        launch->stuck = CUDA_ERROR_LAUNCH_FAILED;
    for (int i = 0; i < n; i++)
        twice[i] = 2 * x[i];
    for (int i = 0; i < n; i++)
        out[i] = twice[n - 1 - i];
}

/* By the cluster that the launch has. */
static void opposite(struct fake_launch *launch)
{
    const unsigned *grid = launch->grids, *size = launch->cluster;
    int *across = memory(launch, 0);

    launch->cost_us = 10;
    for (unsigned k = 0; size[0] > 0 && k < launch->grid; k++) {
        const unsigned at[] = {k % grid[0], k / grid[0] % grid[1],
                               k / grid[0] / grid[1]};
        unsigned to[3];

        for (size_t i = 0; i < 3; i++)
            to[i] = at[i] / size[i] * size[i] + size[i] - 1 - at[i] % size[i];
        across[k] = (int)((to[2] * grid[1] + to[1]) * grid[0] + to[0]);
    }
}

static void grid_reference(struct fake_launch *launch)
{
    int *out = memory(launch, 0), *across = memory(launch, 3);
    const int *x = memory(launch, 1);
    const int n = ARGUMENT(launch, 2, int), edge = ARGUMENT(launch, 4, int);
    struct fake_launch other = {
        .arguments = (void *[]){&across},
        .grid = (unsigned)(6 * edge * edge * edge),
        .grids = {2 * (unsigned)edge, 3 * (unsigned)edge, (unsigned)edge},
        .cluster = {(unsigned)edge, (unsigned)edge, (unsigned)edge}};

    for (int i = 0; i < n; i++)
        out[i] = 2 * x[n - 1 - i];
    opposite(&other);
}

/* -- tests/fake/fake_steps.cu --------------------------------------------- */

static const char step_name[] = "_Z4stepILi";

static void step(struct fake_launch *launch)
{
    unsigned *out = memory(launch, 0);
    const unsigned k = (unsigned)atoi(launch->function->name +
                                      strlen(step_name));

    launch->cost_us = 1;
    for (int i = 0; i < ARGUMENT(launch, 1, int); i++)
        out[i] = 3 * out[i] + k + (unsigned)i;
}

static void steps_reference(struct fake_launch *launch)
{
    unsigned *out = memory(launch, 0);

    for (int i = 0; i < ARGUMENT(launch, 1, int); i++) {
        out[i] = 0;
        for (unsigned k = 0; k < 64; k++)
            out[i] = 3 * out[i] + k + (unsigned)i;
    }
}

/* -- tests/fake/fake_tensor.cu -------------------------------------------- */

/* An element of the map's buffer, 0 outside of its extents. */
static float mapped(const struct fake_map *map, unsigned col, unsigned row)
{
    const char *base = (const void *)(uintptr_t)map->address;
    float value = 0;

    if (col < map->extents[0] && row < map->extents[1])
        memcpy(&value, base + row * map->strides[0] + col * sizeof value,
               sizeof value);
    return value;
}

/* Tile by tile: what the box does not reach is not written. */
static void tiles(struct fake_launch *launch)
{
    float *out = memory(launch, 0);
    const unsigned rows = ARGUMENT(launch, 2, unsigned);
    const unsigned cols = ARGUMENT(launch, 3, unsigned);
    const unsigned pitch = ARGUMENT(launch, 4, unsigned);
    const unsigned shift = ARGUMENT(launch, 5, unsigned);
    struct fake_map map;

    launch->cost_us = 10;
    memcpy(&map, launch->arguments[1], sizeof map);
    for (unsigned top = 0; top < rows; top += map.box[1])
        for (unsigned left = 0; left < cols; left += map.box[0])
            for (unsigned i = top; i < top + map.box[1] && i < rows; i++)
                for (unsigned k = left; k < left + map.box[0] && k < cols; k++)
                    out[i * pitch + k] = 2 * mapped(&map, k, i + shift);
}

static void tensor_reference(struct fake_launch *launch)
{
    float *out = memory(launch, 0);
    const float *x = memory(launch, 1);
    const int pitch = ARGUMENT(launch, 4, int);

    for (int i = 0; i < ARGUMENT(launch, 2, int); i++)
        for (int k = 0; k < ARGUMENT(launch, 3, int); k++)
            out[i * pitch + k] = 2 * x[i * pitch + k];
}

/* -- tests/fake/application.c --------------------------------------------- */

struct bounds {
    CUdeviceptr low;
    int first, last;
};

/* Fastest with 128 threads a block. */
static void blend(struct fake_launch *launch)
{
    const struct bounds *bounds = launch->arguments[4];
    const float *offsets = fake_variable(launch, "offsets");
    const float *low = (const void *)(uintptr_t)bounds->low;
    const float *x = memory(launch, 1);
    float *y = memory(launch, 0);

    launch->cost_us = launch->threads > 128 ? launch->threads
                                            : 256 - launch->threads;
    for (int i = bounds->first; i < bounds->last; i++)
        y[i] = ARGUMENT(launch, 2, float) * x[i] + y[i] +
               (offsets == NULL ? 0 : offsets[0]) + low[0];
}

static void cover(struct fake_launch *launch)
{
    const float *x = memory(launch, 1);
    float *z = memory(launch, 0);

    launch->cost_us = launch->threads;
    for (int i = 0; i < ARGUMENT(launch, 3, int); i++)
        z[i] = ARGUMENT(launch, 2, float) * x[i];
}

/* Its blocks are 256 threads each, and nobody tells it how many elements. */
static void plain(struct fake_launch *launch)
{
    const float *x = memory(launch, 1);
    float *z = memory(launch, 0);

    launch->cost_us = launch->threads;
    for (unsigned i = 0; i < launch->grid * launch->threads; i++)
        z[i] = 2 * x[i];
}

/* By tables of addresses, as many rows as the grid has. */
static void gather(struct fake_launch *launch)
{
    float *const *out = memory(launch, 0), *const *rows = memory(launch, 1);

    launch->cost_us = launch->threads;
    for (unsigned r = 0; r < 3; r++)
        for (int i = 0; i < ARGUMENT(launch, 2, int); i++)
            out[r][i] = 2 * rows[r][i];
}

struct node {
    float value;
    struct node *next;
};

static void walk(struct fake_launch *launch)
{
    float *sum = memory(launch, 0);

    launch->cost_us = launch->threads;
    for (struct node *at = memory(launch, 1); at != NULL; at = at->next) {
        at->value += 1;
        *sum += at->value;
    }
}

struct span {
    float *first, *last;
};

/* Its middles are addresses; with $FAKE_SPAN others. */
static void span(struct fake_launch *launch)
{
    float **middle = memory(launch, 0);
    const struct span *spans = memory(launch, 1);

    launch->cost_us = launch->threads;
    for (int r = 0; r < ARGUMENT(launch, 2, int); r++) {
        for (float *at = spans[r].first; at != spans[r].last; at++)
            *at *= 2;
        middle[r] = spans[r].first + (spans[r].last - spans[r].first) / 2 +
                    (getenv("FAKE_SPAN") != NULL);
    }
}

/* Into variables of its module alone; with $FAKE_TALLY one too many. */
static void tally(struct fake_launch *launch)
{
    unsigned *seen = fake_variable(launch, "_ZN8counters4seenE");
    const int *untouched = fake_variable(launch, "untouched");
    float *mean = fake_variable(launch, "mean");
    const float *x = memory(launch, 1);
    const int n = ARGUMENT(launch, 3, int);

    launch->cost_us = launch->threads;
    for (int i = 0; i < n; i++)
        seen[(int)x[i]]++;
    seen[0] += getenv("FAKE_TALLY") != NULL;
    *mean = ARGUMENT(launch, 2, float) * (float)n + (float)untouched[0];
}

/* What it reads no capture sees. */
static void stray(struct fake_launch *launch)
{
    float *z = memory(launch, 0);

    cover(launch);
    z[0] += (float)(getpid() % 1000 + 1);
}

/* Its old contents say where it reads. */
static void follow(struct fake_launch *launch)
{
    const float *x = memory(launch, 1);
    float *z = memory(launch, 0);

    for (int i = 0; i < ARGUMENT(launch, 3, int); i++) {
        const bool near = z[i] >= 0 && z[i] < 16;

        if (!near)
            abort();
        z[i] = x[(int)z[i] + 1];
    }
}

/* Begins elsewhere each time, as atomics do. */
static void total(struct fake_launch *launch)
{
    static int times;
    const float *x = memory(launch, 1);
    float *sums = memory(launch, 0);
    const int n = ARGUMENT(launch, 2, int), first = 37 * times++ % n;

    launch->cost_us = launch->threads;
    for (int k = 0; k < n; k++)
        sums[(first + k) % n % 4] += 0.1f * x[(first + k) % n];
}

static const char unchecked[] = "shmtune_unchecked_";
static const struct {
    const char *name;
    void (*run)(struct fake_launch *launch);
} kernels[] = {
    {"shmt_fill", fill}, {"shmt_compare", compare},
    {"shmt_worst", find_worst}, {"shmt_guard", guard}, {"shmt_hash", hash},
    {"shmt_noise", flush}, {"shmt_flush", flush}, {"scale", scale},
    {"scale_reference", scale_reference}, {"scale_compare", scale_compare},
    {"smooth", smooth},
    {"smooth_reference", smooth_reference},
    {"lengths_structures", lengths_structures},
    {"lengths_arrays", lengths_arrays}, {"split_points", split_points},
    {"convolve", convolve}, {"convolve_reference", convolve_reference},
    {"make_offsets", make_offsets},
    {"count", count_values}, {"count_reference", count_reference},
    {"make_sums", make_sums}, {"compare_limits", compare_limits},
    {"mirror", mirror}, {"opposite", opposite},
    {"grid_reference", grid_reference}, {"steps_reference", steps_reference},
    {"tiles", tiles}, {"tensor_reference", tensor_reference},
    {"blend", blend}, {"cover", cover}, {"tally", tally},
    {"total", total}, {"stray", stray},
    {"gather", gather}, {"walk", walk}, {"span", span}, {"follow", follow},
    {"plain", plain}, {"stride", cover}, {"uneven", cover},
    {"loose", cover}, {"plenty", cover}, {"many", cover},
    {"_ZN2ns5coverIfLi2EEEvPT_PKS1_fi", cover},
    {"_Z5cover6holderPKffi", cover},
    {"_Z5looseIfLi64ELi2EEvPT_PKS0_fi", cover},
    {"_Z5looseIfLi64ELi64EEvPT_PKS0_fi", cover},
    {"_Z5loosePfPKffi", cover},
    {"_Z5looseIXadL_Z3twofEEEvPfPKffi", cover},
    {"_ZN3far5looseIfEEvPT_PKS1_S1_i", cover},
    {"_Z9transposePfPKfii", fake_transpose}, {"transpose", fake_transpose},
    {"_Z5widenPfPKfii", fake_widen}, {"_Z7shatterPfPKfii", fake_shatter},
    {"_Z7quarterPfPKfii", fake_quarter}, {"_Z6pairedPfPKfii", fake_paired},
    {"_Z5alonePfPKfii", fake_alone}, {"_Z5alikePfPKfii", fake_alike},
    {"_Z7roundedPfPKfii", fake_rounded},
    {"_Z5twicePfPKfii", fake_twice}, {"_Z7stridesPfPKfii", fake_strides},
    {"_Z7sixteenPfPKfii", fake_sixteen},
    {"ticks", fake_ticks}, {"timed", fake_timed}, {"wander", fake_wander},
    {"idle", fake_nothing}, {"only", fake_nothing},
    {"sample", fake_sample}, {"sample_reference", fake_sample_reference},
    {"_Z6samplePfyyyyiiii", fake_sample},
    {"combine", combine}, {"combine_reference", combine_reference},
};

bool fake_kernel_run(struct fake_launch *launch)
{
    if (strncmp(launch->function->name, step_name, strlen(step_name)) == 0) {
        step(launch);
        return true;
    }
    /* What tune_kernel of the Python package compares with: nothing. */
    if (strncmp(launch->function->name, unchecked, strlen(unchecked)) == 0)
        return true;
    for (size_t k = 0; k < sizeof kernels / sizeof kernels[0]; k++)
        if (strcmp(kernels[k].name, launch->function->name) == 0) {
            kernels[k].run(launch);
            return true;
        }
    return false;
}
