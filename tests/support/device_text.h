/* SPDX-License-Identifier: MIT */
/*
 * device_text: the text of bench/source.c as NVRTC gets it, compiled for the
 * host beside device_shim.h, and its kernels launched thread by thread.
 */
#ifndef SHMT_TESTS_DEVICE_TEXT_H
#define SHMT_TESTS_DEVICE_TEXT_H

#include <pthread.h>
#include <stdbool.h>

#include "bench/probe.h"
#include "data/data.h"

typedef unsigned char u8;

/* The grids that every kernel is launched with: fewer threads than elements,
 * more, several blocks. */
static const struct grid { unsigned blocks, threads; } grids[] = {
    {1, 1}, {1, 32}, {3, 32}, {4, 64}};
enum { GRIDS = sizeof grids / sizeof grids[0] };

/* The library that was compiled. */
struct device_text {
    void (*fill)(void *, uint64_t, struct shmt_pattern);
    void (*compare)(const void *, const void *, const void *, uint64_t,
                    struct shmt_probe_rule, struct shmt_probe_finding *);
    void (*worst)(const void *, const void *, const void *, uint64_t,
                  struct shmt_probe_rule, struct shmt_probe_finding *);
    void (*guard)(const u8 *, uint64_t, uint64_t, uint64_t, uint32_t,
                  struct shmt_probe_finding *);
    void (*hash)(const void *, uint64_t, struct shmt_probe_finding *);
    void (*noise)(uint64_t *, uint64_t);
    void (*flush)(const void *, uint64_t, uint32_t *);
    void (*enter)(unsigned, unsigned, unsigned, unsigned);
    pthread_barrier_t **barrier;
};
extern struct device_text device;

/* False, with the test skipped, when there is no C++ compiler. */
bool device_text_can_compile(void);
/* Compiles and loads the text, or ends the test. */
void device_text_compile(void);

struct shmt_probe_finding device_text_blank(void);

#define LAUNCH(grid, call)                                                   \
    for (unsigned at_ = 0; at_ < (grid).blocks * (grid).threads; at_++) {    \
        device.enter(at_ / (grid).threads, at_ % (grid).threads,             \
                     (grid).blocks, (grid).threads);                         \
        call;                                                                \
    }

/* What the comparison finds on one grid, and where the worst is. */
struct shmt_probe_finding device_text_compare(
    const struct shmt_probe_rule *how, const struct grid *grid,
    const void *const pair[2], uint64_t count);
/* The same with what is kept outside of the region. */
struct shmt_probe_finding device_text_compare_kept(
    const struct shmt_probe_rule *how, const struct grid *grid,
    const void *const three[3], uint64_t count);

/* Poisons so many bytes from the begin of a buffer. */
void device_text_poison(u8 *bytes, size_t count, uint32_t word);

/* Elements of which each type has small different numbers. */
enum { COUNT = 131 };
struct elements {
    _Alignas(16) u8 bytes[8 * COUNT + 16];
};

#endif
