/* SPDX-License-Identifier: MIT */
/*
 * nearest: finds the nearest tuned problem.  It visits the entries of one
 * match level in order of their distance, checks each with device/fit, and
 * stops when no later one can be better.  Called by select.c.  Allocates
 * nothing but the lines of the trace.
 */
#include "runtime/nearest.h"

#include <math.h>
#include <stdlib.h>

#include "runtime/check.h"
#include "runtime/match.h"
#include "runtime/waves.h"

/* Tunings are not trusted: a file with a million problems whose configurations
 * all fail the checks must not make a selection take seconds. */
enum { MOST_CHECKS = 512 };

/* Weights of the distance, in doublings of one size.  They were fitted on an
 * H100 to 90 problems of ten kernels: to what each problem lost when it ran
 * the configurations of the others.  Whether a size is divisible by 2 and 4
 * decides whether a configuration can use accesses of 8 and 16 bytes. */
static const double cost_of_factor = 0.8;        /* each 2 that one lacks */
static const double cost_of_half_waves = 8;      /* each halving */
static const double cost_of_tie = 1;             /* not the winner */
/* Not fitted.  It is so small that it only decides between devices with
 * equally many multiprocessors. */
static const double cost_of_memory_rate = 0.25;  /* each doubling, halving */
enum { MOST_FACTORS = 2 };

/* An iteration over the entries of a match level in order of their distance. */
struct walk {
    const struct shmt_select_request *request;
    const struct shmtune_device *device;   /* completed */
    double log2_problem[SHMTUNE_DIMENSIONS];
    double log2_multiprocessors, log2_memory_rate;
    bool other_devices;        /* the level: not this device */
    /* where it stands */
    size_t tuning, entry;
    double distance;           /* < 0 before the first step */
    int checks;                /* how many more it may make */
};

static int factors_of_two(int64_t size)
{
    int factors = 0;

    while (factors < MOST_FACTORS && (size >> factors & 1) == 0)
        factors++;
    return factors;
}

static double distance(const struct walk *walk,
                       const struct shmt_runtime_tuning *tuning,
                       const struct shmt_runtime_entry *entry)
{
    const size_t dimensions = walk->request->kernel->spec->dimension_count;
    const int64_t *problem = walk->request->problem;
    double sum = 0;

    if (walk->other_devices)
        sum = fabs(walk->log2_multiprocessors - tuning->log2_multiprocessors);
    if (walk->other_devices && walk->log2_memory_rate > 0 &&
        tuning->log2_memory_rate > 0)
        sum += cost_of_memory_rate *
               fabs(walk->log2_memory_rate - tuning->log2_memory_rate);
    for (size_t k = 0; k < dimensions; k++)
        sum += fabs(walk->log2_problem[k] - entry->log2[k]) +
               cost_of_factor * abs(factors_of_two(problem[k]) -
                                    factors_of_two(entry->problem[k]));
    return sum;
}

static bool on_level(const struct walk *walk,
                     const struct shmt_runtime_tuning *tuning)
{
    if (!shmt_runtime_same_capability(&tuning->device, walk->request->device))
        return false;
    return shmt_runtime_same_device(&tuning->device, walk->request->device) !=
           walk->other_devices;
}

/* Ties go to the earlier shelf, then to the earlier entry. */
static bool comes_later(const struct walk *walk, double at, size_t tuning,
                        size_t entry)
{
    if (at != walk->distance)
        return at > walk->distance;
    return tuning > walk->tuning ||
           (tuning == walk->tuning && entry > walk->entry);
}

/* Steps to the nearest entry beyond where it stands. */
static bool step(struct walk *walk)
{
    const struct shmtune_kernel *kernel = walk->request->kernel;
    size_t best_shelf = 0, best_entry = 0;
    double best = INFINITY;

    for (size_t s = 0; s < kernel->tuning_count; s++) {
        const struct shmt_runtime_tuning *tuning = &kernel->tunings[s];

        if (!on_level(walk, tuning))
            continue;
        for (size_t e = 0; e < tuning->entry_count; e++) {
            const double at = distance(walk, tuning, &tuning->entries[e]);

            if (at < best && comes_later(walk, at, s, e)) {
                best = at;
                best_shelf = s;
                best_entry = e;
            }
        }
    }
    if (best == INFINITY)
        return false;
    walk->distance = best;
    walk->tuning = best_shelf;
    walk->entry = best_entry;
    return true;
}

/* The beginning of a line about an entry. */
static void trace_entry(const struct shmt_select_request *request,
                        const struct shmt_runtime_tuning *tuning,
                        const struct shmt_runtime_entry *entry)
{
    shmt_text_addf(request->trace, "%s: ", tuning->file);
    shmt_kernel_describe_problem(request->kernel->spec, entry->problem,
                                 request->trace);
}

/* The resources of the entry, or NULL.  They are not known for a tie, or when
 * a dimension is compiled in and differs, because both are other binaries. */
static const struct shmt_resources *
known_resources(const struct shmt_select_request *request,
                const struct shmt_runtime_entry *entry,
                const shmt_config *values)
{
    const struct shmt_kernel *spec = request->kernel->spec;

    if (values != entry->values)
        return NULL;
    for (size_t k = 0; k < spec->dimension_count; k++)
        if (spec->dimensions[k].defined &&
            entry->problem[k] != request->problem[k])
            return NULL;
    return &entry->resources;
}

/* log2 of the share of the device that a configuration fills; resources are
 * taken to be the winner's. */
static double log2_waves_of(const struct shmtune_device *device,
                            const struct shmt_runtime_entry *entry,
                            struct shmt_kernel_evaluated *evaluated)
{
    const struct shmt_runtime_candidate candidate = {
        .evaluated = evaluated, .resources = &entry->resources,
        .launches = entry->launches};

    return log2(shmt_runtime_wave_efficiency(device, &candidate));
}

/* The same where it was measured, which is known of the winner. */
static double filling_there(const struct shmt_kernel *spec,
                            const struct shmt_runtime_tuning *tuning,
                            const struct shmt_runtime_entry *entry,
                            const shmt_config *values)
{
    struct shmt_kernel_evaluated evaluated;

    if (values == entry->values)
        return entry->log2_waves;
    shmt_kernel_evaluate(spec, entry->problem, values, &evaluated);
    return log2_waves_of(&tuning->device, entry, &evaluated);
}

/* Computes the full distance of the current entry: of its problem, plus the
 * loss of wave efficiency compared with where it was measured. */
static void weigh(const struct walk *walk, const shmt_config *values,
                  struct shmt_kernel_evaluated *evaluated,
                  struct shmt_nearest *best)
{
    const struct shmt_select_request *request = walk->request;
    const struct shmt_runtime_tuning *tuning =
        &request->kernel->tunings[walk->tuning];
    const struct shmt_runtime_entry *entry = &tuning->entries[walk->entry];
    const double here = log2_waves_of(walk->device, entry, evaluated);
    const double there =
        filling_there(request->kernel->spec, tuning, entry, values);
    const double at = walk->distance +
                      (values == entry->values ? 0 : cost_of_tie) +
                      cost_of_half_waves * fmax(0, there - here);

    if (request->trace != NULL) {
        trace_entry(request, tuning, entry);
        shmt_text_addf(request->trace,
                       ", distance %.3g: %swave efficiency %.0f %%, %.0f %% "
                       "where it was measured: total %.3g\n",
                       walk->distance,
                       values == entry->values ? "" : "of a tie, ",
                       100 * exp2(here), 100 * exp2(there), at);
    }
    if (at < best->distance)
        *best = (struct shmt_nearest){tuning, entry, values, at};
}

static void trace_refusal(const struct walk *walk,
                          const struct shmt_error *err)
{
    const struct shmt_select_request *request = walk->request;
    const struct shmt_runtime_tuning *tuning =
        &request->kernel->tunings[walk->tuning];

    trace_entry(request, tuning, &tuning->entries[walk->entry]);
    shmt_text_addf(request->trace, ", distance %.3g: %s\n", walk->distance,
                   err->text);
}

/* Considers the winner of the current entry, or, if it may not run here, the
 * first of its ties that may. */
static void weigh_entry(struct walk *walk, struct shmt_nearest *best)
{
    const struct shmt_select_request *request = walk->request;
    const struct shmt_kernel *spec = request->kernel->spec;
    const struct shmt_runtime_entry *entry =
        &request->kernel->tunings[walk->tuning].entries[walk->entry];

    for (size_t k = 0; k <= entry->tie_count && walk->checks > 0; k++) {
        const shmt_config *values =
            k == 0 ? entry->values
                   : entry->ties + (k - 1) * spec->parameter_count;
        struct shmt_kernel_evaluated evaluated;
        const struct shmt_runtime_candidate candidate = {
            .evaluated = &evaluated,
            .resources = known_resources(request, entry, values),
            .launches = entry->launches};
        struct shmt_error err;

        walk->checks--;
        shmt_kernel_evaluate(spec, request->problem, values, &evaluated);
        if (shmt_runtime_check(walk->device, &candidate,
                               request->trace != NULL ? &err : NULL) ==
            SHMTUNE_OK) {
            weigh(walk, values, &evaluated, best);
            return;
        }
        if (request->trace != NULL && k == 0)
            trace_refusal(walk, &err);
    }
}

/* Stops when the distance of the problem alone exceeds the total of the best
 * so far. */
bool shmt_nearest_find(const struct shmt_select_request *request,
                       const struct shmtune_device *device,
                       bool other_devices, struct shmt_nearest *out)
{
    struct walk walk = {.request = request, .device = device,
                        .other_devices = other_devices,
                        .distance = -1, .checks = MOST_CHECKS};

    if (device->multiprocessors > 0)
        walk.log2_multiprocessors = log2(device->multiprocessors);
    /* The caller's own value: a clock is no limit, so it was not completed
     * from the table. */
    walk.log2_memory_rate = shmt_runtime_log2_memory_rate(request->device);
    for (size_t k = 0; k < request->kernel->spec->dimension_count; k++)
        walk.log2_problem[k] =
            log2(request->problem[k] > 1 ? (double)request->problem[k] : 1);
    *out = (struct shmt_nearest){.distance = INFINITY};
    while (walk.checks > 0 && step(&walk) && walk.distance < out->distance)
        weigh_entry(&walk, out);
    if (out->entry == NULL)
        return false;
    if (request->trace != NULL) {
        trace_entry(request, out->tuning, out->entry);
        shmt_text_add(request->trace, ": taken\n");
    }
    return true;
}
