/* SPDX-License-Identifier: MIT */
/*
 * nearest: visits the entries of one match level in order of their distance,
 * and checks each with device/fit for the device and the problem at hand.  It
 * stops when no later one can be better, or when its allowance is spent.
 * Called by select.c where there is no exact hit.
 */
#include "runtime/nearest.h"

#include <math.h>

#include "runtime/check.h"

/* What is taken from the allowance beside the steps of expressions, by what it
 * takes as long as: an entry at all, looking at a configuration, and weighing
 * one. */
enum { COST_STOP = 4, COST_LOOK = 12, COST_WEIGH = 48 };

/* Weights of the distance, in doublings of one size.  They were fitted on an
 * H100 to 90 problems of ten kernels: to what each problem lost when it ran
 * the configurations of the others. */
static const double cost_of_factor = 0.8;        /* each 2 that one lacks */
static const double cost_of_half_waves = 8;      /* each halving */
static const double cost_of_tie = 1;             /* not the winner */
/* Not fitted.  It is so small that it only decides between devices with
 * equally many multiprocessors. */
static const double cost_of_memory_rate = 0.25;  /* each doubling, halving */

/* A configuration of an entry, and its distance at least: what its problem is
 * away, and more for a tie. */
struct stop {
    double distance;
    uint32_t entry;
    uint16_t tuning, tie;      /* 0: the winner; its ties from 1 on */
};

/* An iteration over the entries of a match level in order of their distance:
 * their winners, and the ties of those that may not run.
 * The stops are a heap with the nearest first (Williams, Algorithm 232). */
struct walk {
    const struct shmt_runtime_request *request;
    const struct shmtune_device *device;   /* completed */
    struct shmt_runtime_coordinate place[SHMTUNE_DIMENSIONS];
    double log2_multiprocessors, log2_memory_rate;
    bool other_devices;        /* the level: not this device */
    struct shmt_runtime_sieve *sieve;
    size_t count;
    struct stop stops[SHMT_RUNTIME_NEAREST];
};

/* The part of the distance that all entries of a tuning have. */
static double device_distance(const struct walk *walk,
                              const struct shmt_runtime_tuning *tuning)
{
    double sum = 0;

    if (walk->other_devices)
        sum = fabs(walk->log2_multiprocessors - tuning->log2_multiprocessors);
    if (walk->other_devices && walk->log2_memory_rate > 0 &&
        tuning->log2_memory_rate > 0)
        sum += cost_of_memory_rate *
               fabs(walk->log2_memory_rate - tuning->log2_memory_rate);
    return sum;
}

static bool on_level(const struct walk *walk,
                     const struct shmt_runtime_tuning *tuning)
{
    if (!shmt_device_same_capability(&tuning->device, walk->request->device))
        return false;
    return shmt_device_matches(&tuning->device, walk->request->device) !=
           walk->other_devices;
}

/* At equal distances the earlier tuning comes first, then the earlier
 * entry. */
static bool comes_first(const struct stop *a, const struct stop *b)
{
    if (a->distance != b->distance)
        return a->distance < b->distance;
    return a->tuning != b->tuning ? a->tuning < b->tuning
                                  : a->entry < b->entry;
}

/* Moves a stop down the heap to where it belongs. */
static void sink(struct walk *walk, size_t at)
{
    const struct stop stop = walk->stops[at];
    size_t child;

    while ((child = 2 * at + 1) < walk->count) {
        if (child + 1 < walk->count &&
            comes_first(&walk->stops[child + 1], &walk->stops[child]))
            child++;
        if (!comes_first(&walk->stops[child], &stop))
            break;
        walk->stops[at] = walk->stops[child];
        at = child;
    }
    walk->stops[at] = stop;
}

static void add_stops(struct walk *walk, size_t s)
{
    const size_t dimensions = walk->request->kernel->spec->dimension_count;
    const struct shmt_runtime_tuning *tuning =
        &walk->request->kernel->tunings[s];
    const double device = device_distance(walk, tuning);

    for (size_t e = 0; e < tuning->entry_count; e += tuning->stride) {
        const struct shmt_runtime_coordinate *there =
            tuning->coordinates + e * dimensions;
        double sum = device;

        for (size_t k = 0; k < dimensions; k++)
            sum += fabs((double)walk->place[k].log2 - there[k].log2) +
                   cost_of_factor * fabs((double)walk->place[k].factors -
                                         there[k].factors);
        walk->stops[walk->count++] =
            (struct stop){sum, (uint32_t)e, (uint16_t)s, 0};
    }
}

/* One look at each entry of the level that counts; the strides keep them
 * within the room. */
static void begin_walk(struct walk *walk)
{
    const struct shmtune_kernel *kernel = walk->request->kernel;

    walk->count = 0;
    for (size_t s = 0; s < kernel->tuning_count; s++)
        if (on_level(walk, &kernel->tunings[s]))
            add_stops(walk, s);
    for (size_t k = walk->count / 2; k > 0; k--)
        sink(walk, k - 1);
}

/* Leaves the entry at which it stands, which is walk->stops[0]. */
static void leave(struct walk *walk)
{
    walk->stops[0] = walk->stops[--walk->count];
    if (walk->count > 0)
        sink(walk, 0);
}

/* Puts the first tie of the entry at which it stands where the winner stood,
 * or the next one. */
static void take_tie(struct walk *walk, const struct shmt_runtime_entry *entry)
{
    struct stop *stop = &walk->stops[0];

    if (stop->tie == entry->tie_count) {
        leave(walk);
        return;
    }
    if (stop->tie++ == 0) {
        stop->distance += cost_of_tie;
        sink(walk, 0);
    }
}

/* The beginning of a line about an entry. */
static void trace_entry(const struct shmt_runtime_request *request,
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
known_resources(const struct shmt_runtime_request *request,
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
    const struct shmt_fit_launches ask = {
        device, evaluated, &entry->resources, entry->launches};

    return log2(shmt_runtime_wave_efficiency(&ask));
}

/* The same where it was measured, which is known of the winner. */
static double log2_waves_there(const struct shmt_kernel *spec,
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

/* The distance of the problem alone. */
static double distance_of(const struct stop *stop)
{
    return stop->distance - (stop->tie > 0 ? cost_of_tie : 0);
}

/* The full distance of the configuration: of its problem, plus the loss of
 * wave efficiency compared with where it was measured. */
static double weigh(const struct walk *walk, const shmt_config *values,
                    struct shmt_kernel_evaluated *evaluated)
{
    const struct shmt_runtime_request *request = walk->request;
    const struct stop *stop = &walk->stops[0];
    const struct shmt_runtime_tuning *tuning =
        &request->kernel->tunings[stop->tuning];
    const struct shmt_runtime_entry *entry = &tuning->entries[stop->entry];
    const double here = log2_waves_of(walk->device, entry, evaluated);
    const double there =
        log2_waves_there(request->kernel->spec, tuning, entry, values);
    const double at =
        stop->distance + cost_of_half_waves * fmax(0, there - here);

    if (request->trace != NULL) {
        trace_entry(request, tuning, entry);
        shmt_text_addf(request->trace,
                       ", distance %.3g: %swave efficiency %.0f %%, %.0f %% "
                       "where it was measured: total %.3g\n",
                       distance_of(stop), stop->tie == 0 ? "" : "of a tie, ",
                       100 * exp2(here), 100 * exp2(there), at);
    }
    return at;
}

/* Says what the winner of the current entry fails by. */
static void trace_refusal(const struct walk *walk,
                          const struct shmt_fit_launches *candidate)
{
    const struct shmt_runtime_request *request = walk->request;
    const struct stop *stop = &walk->stops[0];
    const struct shmt_runtime_tuning *tuning =
        &request->kernel->tunings[stop->tuning];
    struct shmt_error err = {0};

    shmt_kernel_evaluate(request->kernel->spec, request->problem,
                         tuning->entries[stop->entry].values,
                         candidate->evaluated);
    shmt_runtime_check(candidate, &err);
    trace_entry(request, tuning, &tuning->entries[stop->entry]);
    shmt_text_addf(request->trace, ", distance %.3g: %s\n",
                   distance_of(stop), err.text);
}

/* Considers the configuration at which the walk stands, and steps on.  The
 * launches are checked of one that would be the best alone. */
static void visit(struct walk *walk, struct shmt_runtime_nearest *best)
{
    const struct shmt_runtime_request *request = walk->request;
    const struct stop *stop = &walk->stops[0];
    const struct shmt_runtime_tuning *tuning =
        &request->kernel->tunings[stop->tuning];
    const struct shmt_runtime_entry *entry = &tuning->entries[stop->entry];
    const shmt_config *values =
        stop->tie == 0 ? entry->values
                       : entry->ties + (size_t)(stop->tie - 1) *
                             request->kernel->spec->parameter_count;
    struct shmt_kernel_evaluated evaluated;
    const struct shmt_fit_launches candidate = {
        walk->device, &evaluated, known_resources(request, entry, values),
        entry->launches};

    double distance = INFINITY;
    bool passes = shmt_runtime_sieve_pass(walk->sieve, values, &evaluated);

    if (passes)
        distance = weigh(walk, values, &evaluated);
    if (distance < best->distance) {
        passes = shmt_runtime_check_launches(&candidate, NULL) == SHMTUNE_OK;
        if (passes)
            *best = (struct shmt_runtime_nearest){tuning, entry, values,
                                                  distance};
    }
    walk->sieve->allowance -=
        COST_LOOK + (distance < INFINITY ? COST_WEIGH : 0) +
        (int)evaluated.evaluation.steps;
    if (passes) {
        leave(walk);
        return;
    }
    if (request->trace != NULL && stop->tie == 0)
        trace_refusal(walk, &candidate);
    take_tie(walk, entry);
}

/* Stops when the distance of the problem alone exceeds the total of the best
 * so far, or when it has made all the checks it may. */
bool shmt_runtime_find_nearest(const struct shmt_runtime_request *request,
                               const struct shmtune_device *device,
                               bool other_devices,
                               struct shmt_runtime_sieve *sieve,
                               struct shmt_runtime_nearest *out)
{
    struct walk walk;

    walk.request = request;
    walk.device = device;
    walk.other_devices = other_devices;
    walk.sieve = sieve;
    walk.log2_multiprocessors =
        device->multiprocessors > 0 ? log2(device->multiprocessors) : 0;
    /* The caller's own value: a clock is no limit, so it was not completed
     * from the table. */
    walk.log2_memory_rate = shmt_runtime_log2_memory_rate(request->device);
    shmt_runtime_place(request->problem,
                       request->kernel->spec->dimension_count, walk.place);
    begin_walk(&walk);
    sieve->allowance -= COST_STOP * (int)walk.count;
    *out = (struct shmt_runtime_nearest){.distance = INFINITY};
    while (walk.count > 0 && sieve->allowance > 0 && !sieve->hopeless &&
           walk.stops[0].distance < out->distance)
        visit(&walk, out);
    if (request->trace != NULL && walk.count > 0 && sieve->allowance <= 0)
        shmt_text_addf(request->trace, "%zu more sizes were not looked at: "
                       "a selection makes a few checks\n", walk.count);
    if (out->entry == NULL)
        return false;
    if (request->trace != NULL) {
        trace_entry(request, out->tuning, out->entry);
        shmt_text_add(request->trace, ": taken\n");
    }
    return true;
}
