/* SPDX-License-Identifier: MIT */
#include "runtime/nearest.h"

#include <math.h>
#include <stdlib.h>

#include "runtime/admit.h"
#include "runtime/alike.h"
#include "runtime/filling.h"

/* Tunings are not trusted: a file of a million problems that all fail must
 * not make a selection take seconds. */
enum { MOST_CHECKS = 512 };

/* What a step towards a problem that nobody measured may cost, in doublings
 * of one of its sizes: fitted to what 90 problems of ten kernels lost on an
 * H100 when each was run by the configurations of the others.  Whether a size
 * divides by 2 and by 4 decides which accesses of 8 and 16 bytes a
 * configuration can make of it. */
static const double cost_of_factor = 0.8;        /* each 2 that one lacks */
static const double cost_of_half_filling = 8;    /* each halving */
static const double cost_of_tie = 1;             /* not the winner */
/* Not fitted: little enough that it decides between devices with as many
 * multiprocessors, and not between sizes that are far apart. */
static const double cost_of_memory_rate = 0.25;  /* each doubling, halving */
enum { MOST_FACTORS = 2 };

/* A walk over the entries of a level, by the size of their problems. */
struct walk {
    const struct shmt_question *ask;
    const struct shmtune_device *device;   /* completed */
    double log2_problem[SHMTUNE_DIMENSIONS];
    double log2_multiprocessors, log2_memory_rate;
    bool other_devices;        /* the level: not this device */
    /* where it stands */
    size_t shelf, entry;
    double distance;           /* < 0 before the first step */
    int checks;                /* as many more it may make */
};

static int factors_of_two(int64_t size)
{
    int factors = 0;

    while (factors < MOST_FACTORS && (size >> factors & 1) == 0)
        factors++;
    return factors;
}

static double distance(const struct walk *walk,
                       const struct shmt_shelf *shelf,
                       const struct shmt_shelf_entry *entry)
{
    const size_t dimensions = walk->ask->kernel->spec->dimension_count;
    const int64_t *problem = walk->ask->problem;
    double sum = 0;

    if (walk->other_devices)
        sum = fabs(walk->log2_multiprocessors - shelf->log2_multiprocessors);
    if (walk->other_devices && walk->log2_memory_rate > 0 &&
        shelf->log2_memory_rate > 0)
        sum += cost_of_memory_rate *
               fabs(walk->log2_memory_rate - shelf->log2_memory_rate);
    for (size_t k = 0; k < dimensions; k++)
        sum += fabs(walk->log2_problem[k] - entry->log2[k]) +
               cost_of_factor * abs(factors_of_two(problem[k]) -
                                    factors_of_two(entry->problem[k]));
    return sum;
}

static bool on_level(const struct walk *walk, const struct shmt_shelf *shelf)
{
    if (!shmt_same_capability(&shelf->device, walk->ask->device))
        return false;
    return shmt_same_device(&shelf->device, walk->ask->device) !=
           walk->other_devices;
}

/* Ties go to the earlier shelf, then to the earlier entry. */
static bool beyond(const struct walk *walk, double at, size_t shelf,
                   size_t entry)
{
    if (at != walk->distance)
        return at > walk->distance;
    return shelf > walk->shelf ||
           (shelf == walk->shelf && entry > walk->entry);
}

/* Steps to the nearest entry beyond where it stands. */
static bool step(struct walk *walk)
{
    const struct shmtune_kernel *kernel = walk->ask->kernel;
    size_t best_shelf = 0, best_entry = 0;
    double best = INFINITY;

    for (size_t s = 0; s < kernel->shelf_count; s++) {
        const struct shmt_shelf *shelf = &kernel->shelves[s];

        if (!on_level(walk, shelf))
            continue;
        for (size_t e = 0; e < shelf->entry_count; e++) {
            const double at = distance(walk, shelf, &shelf->entries[e]);

            if (at < best && beyond(walk, at, s, e)) {
                best = at;
                best_shelf = s;
                best_entry = e;
            }
        }
    }
    if (best == INFINITY)
        return false;
    walk->distance = best;
    walk->shelf = best_shelf;
    walk->entry = best_entry;
    return true;
}

/* The beginning of a line about an entry. */
static void trace_entry(const struct shmt_question *ask,
                        const struct shmt_shelf *shelf,
                        const struct shmt_shelf_entry *entry)
{
    shmt_text_addf(ask->trace, "%s: ", shelf->file);
    shmt_kernel_describe_size(ask->kernel->spec, entry->problem, ask->trace);
}

/* Another one than the winner, or another binary, because a dimension is
 * compiled in: its resources nobody has read. */
static const struct shmt_resources *known_resources(
    const struct shmt_question *ask, const struct shmt_shelf_entry *entry,
    const shmt_choice *values)
{
    const struct shmt_kernel *spec = ask->kernel->spec;

    if (values != entry->values)
        return NULL;
    for (size_t k = 0; k < spec->dimension_count; k++)
        if (spec->dimensions[k].defined &&
            entry->problem[k] != ask->problem[k])
            return NULL;
    return &entry->resources;
}

/* log2 of the share of the device that a configuration fills; resources are
 * taken to be the winner's. */
static double filling(const struct shmtune_device *device,
                      const struct shmt_shelf_entry *entry,
                      struct shmt_kernel_evaluated *evaluated)
{
    const struct shmt_candidate candidate = {
        .evaluated = evaluated, .resources = &entry->resources,
        .launches = entry->launches};

    return log2(shmt_filling(device, &candidate));
}

/* The same where it was measured, which is known of the winner. */
static double filling_there(const struct shmt_kernel *spec,
                            const struct shmt_shelf *shelf,
                            const struct shmt_shelf_entry *entry,
                            const shmt_choice *values)
{
    struct shmt_kernel_evaluated evaluated;

    if (values == entry->values)
        return entry->log2_filling;
    shmt_kernel_evaluate(spec, entry->problem, values, &evaluated);
    return filling(&shelf->device, entry, &evaluated);
}

/* Weighs what is admitted of the entry where the walk stands: its distance,
 * and what it would leave idle more than where it was measured. */
static void weigh(const struct walk *walk, const shmt_choice *values,
                  struct shmt_kernel_evaluated *evaluated,
                  struct shmt_nearest *best)
{
    const struct shmt_question *ask = walk->ask;
    const struct shmt_shelf *shelf = &ask->kernel->shelves[walk->shelf];
    const struct shmt_shelf_entry *entry = &shelf->entries[walk->entry];
    const double here = filling(walk->device, entry, evaluated);
    const double there =
        filling_there(ask->kernel->spec, shelf, entry, values);
    const double at = walk->distance +
                      (values == entry->values ? 0 : cost_of_tie) +
                      cost_of_half_filling * fmax(0, there - here);

    if (ask->trace != NULL) {
        trace_entry(ask, shelf, entry);
        shmt_text_addf(ask->trace, ", distance %.3g: %sfills %.0f %% of the "
                       "device, %.0f %% where it was measured: %.3g\n",
                       walk->distance,
                       values == entry->values ? "" : "one as good there ",
                       100 * exp2(here), 100 * exp2(there), at);
    }
    if (at < best->distance)
        *best = (struct shmt_nearest){shelf, entry, values, at};
}

static void trace_refusal(const struct walk *walk,
                          const struct shmt_error *err)
{
    const struct shmt_question *ask = walk->ask;
    const struct shmt_shelf *shelf = &ask->kernel->shelves[walk->shelf];

    trace_entry(ask, shelf, &shelf->entries[walk->entry]);
    shmt_text_addf(ask->trace, ", distance %.3g: %s\n", walk->distance,
                   err->text);
}

/* Weighs the winner of the entry where the walk stands, or, where that one
 * may not run, the first of those that were as good which may. */
static void consider(struct walk *walk, struct shmt_nearest *best)
{
    const struct shmt_question *ask = walk->ask;
    const struct shmt_kernel *spec = ask->kernel->spec;
    const struct shmt_shelf_entry *entry =
        &ask->kernel->shelves[walk->shelf].entries[walk->entry];

    for (size_t k = 0; k <= entry->tie_count && walk->checks > 0; k++) {
        const shmt_choice *values =
            k == 0 ? entry->values
                   : entry->ties + (k - 1) * spec->parameter_count;
        struct shmt_kernel_evaluated evaluated;
        const struct shmt_candidate candidate = {
            .evaluated = &evaluated,
            .resources = known_resources(ask, entry, values),
            .launches = entry->launches};
        struct shmt_error err;

        walk->checks--;
        shmt_kernel_evaluate(spec, ask->problem, values, &evaluated);
        if (shmt_admit_check(walk->device, &candidate,
                             ask->trace != NULL ? &err : NULL) ==
            SHMTUNE_OK) {
            weigh(walk, values, &evaluated, best);
            return;
        }
        if (ask->trace != NULL && k == 0)
            trace_refusal(walk, &err);
    }
}

/* Ends where distance alone is more than the best so far has in all. */
bool shmt_nearest_find(const struct shmt_question *ask,
                       const struct shmtune_device *device,
                       bool other_devices, struct shmt_nearest *out)
{
    struct walk walk = {.ask = ask, .device = device,
                        .other_devices = other_devices,
                        .distance = -1, .checks = MOST_CHECKS};

    if (device->multiprocessors > 0)
        walk.log2_multiprocessors = log2(device->multiprocessors);
    /* Not the completed one's: it is not a limit, and has none to complete. */
    walk.log2_memory_rate = shmt_memory_rate(ask->device);
    for (size_t k = 0; k < ask->kernel->spec->dimension_count; k++)
        walk.log2_problem[k] =
            log2(ask->problem[k] > 1 ? (double)ask->problem[k] : 1);
    *out = (struct shmt_nearest){.distance = INFINITY};
    while (walk.checks > 0 && step(&walk) && walk.distance < out->distance)
        consider(&walk, out);
    if (out->entry == NULL)
        return false;
    if (ask->trace != NULL) {
        trace_entry(ask, out->shelf, out->entry);
        shmt_text_add(ask->trace, ": taken\n");
    }
    return true;
}
