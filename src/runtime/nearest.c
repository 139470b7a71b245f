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

/* What a check costs of the allowance at most: refused by the constraint that
 * refused another before, refused by something else, or passed and weighed. */
enum { COST_LIKELY = 1, COST_REFUSED = 4, COST_WEIGHED = 12 };

/* Weights of the distance, in doublings of one size.  They were fitted on an
 * H100 to 90 problems of ten kernels: to what each problem lost when it ran
 * the configurations of the others. */
static const double cost_of_factor = 0.8;        /* each 2 that one lacks */
static const double cost_of_half_waves = 8;      /* each halving */
static const double cost_of_tie = 1;             /* not the winner */
/* Not fitted.  It is so small that it only decides between devices with
 * equally many multiprocessors. */
static const double cost_of_memory_rate = 0.25;  /* each doubling, halving */

/* An entry, and the distance of its problem. */
struct stop {
    double distance;
    uint32_t tuning, entry;
};

/* An iteration over the entries of a match level in order of their distance.
 * The stops are a heap with the nearest first (Williams, Algorithm 232). */
struct walk {
    const struct shmt_runtime_request *request;
    const struct shmtune_device *device;   /* completed */
    struct shmt_runtime_coordinate place[SHMTUNE_DIMENSIONS];
    double log2_multiprocessors, log2_memory_rate;
    bool other_devices;        /* the level: not this device */
    const struct shmt_expr *likely;        /* refused one; or NULL */
    int allowance;
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

static void add_stops(struct walk *walk, uint32_t s)
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
        walk->stops[walk->count++] = (struct stop){sum, s, (uint32_t)e};
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
            add_stops(walk, (uint32_t)s);
    for (size_t k = walk->count / 2; k > 0; k--)
        sink(walk, k - 1);
}

/* Steps to the next nearest entry; walk->stops[0] is where it stands. */
static void step(struct walk *walk)
{
    walk->stops[0] = walk->stops[--walk->count];
    if (walk->count > 0)
        sink(walk, 0);
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

/* Computes the full distance of the current entry: of its problem, plus the
 * loss of wave efficiency compared with where it was measured. */
static void weigh(const struct walk *walk, const shmt_config *values,
                  struct shmt_kernel_evaluated *evaluated,
                  struct shmt_runtime_nearest *best)
{
    const struct shmt_runtime_request *request = walk->request;
    const struct shmt_runtime_tuning *tuning =
        &request->kernel->tunings[walk->stops[0].tuning];
    const struct shmt_runtime_entry *entry =
        &tuning->entries[walk->stops[0].entry];
    const double here = log2_waves_of(walk->device, entry, evaluated);
    const double there =
        log2_waves_there(request->kernel->spec, tuning, entry, values);
    const double at = walk->stops[0].distance +
                      (values == entry->values ? 0 : cost_of_tie) +
                      cost_of_half_waves * fmax(0, there - here);

    if (request->trace != NULL) {
        trace_entry(request, tuning, entry);
        shmt_text_addf(request->trace,
                       ", distance %.3g: %swave efficiency %.0f %%, %.0f %% "
                       "where it was measured: total %.3g\n",
                       walk->stops[0].distance,
                       values == entry->values ? "" : "of a tie, ",
                       100 * exp2(here), 100 * exp2(there), at);
    }
    if (at < best->distance)
        *best = (struct shmt_runtime_nearest){tuning, entry, values, at};
}

static void trace_refusal(const struct walk *walk,
                          const struct shmt_error *err)
{
    const struct shmt_runtime_request *request = walk->request;
    const struct shmt_runtime_tuning *tuning =
        &request->kernel->tunings[walk->stops[0].tuning];

    trace_entry(request, tuning, &tuning->entries[walk->stops[0].entry]);
    shmt_text_addf(request->trace, ", distance %.3g: %s\n",
                   walk->stops[0].distance, err->text);
}

/* Considers the winner of the current entry, or, if it may not run here, the
 * first of its ties that may. */
static void weigh_entry(struct walk *walk, struct shmt_runtime_nearest *best)
{
    const struct shmt_runtime_request *request = walk->request;
    const struct shmt_kernel *spec = request->kernel->spec;
    const struct shmt_runtime_entry *entry =
        &request->kernel->tunings[walk->stops[0].tuning]
             .entries[walk->stops[0].entry];

    for (size_t k = 0; k <= entry->tie_count && walk->allowance > 0; k++) {
        const shmt_config *values =
            k == 0 ? entry->values
                   : entry->ties + (k - 1) * spec->parameter_count;
        struct shmt_kernel_evaluated evaluated;
        const struct shmt_fit_launches candidate = {
            walk->device, &evaluated, known_resources(request, entry, values),
            entry->launches};
        struct shmt_error err;
        bool quick;

        shmt_kernel_evaluate(spec, request->problem, values, &evaluated);
        if (shmt_runtime_check_likely(&candidate, &walk->likely, &quick,
                                      request->trace != NULL ? &err : NULL)
            == SHMTUNE_OK) {
            walk->allowance -= COST_WEIGHED;
            weigh(walk, values, &evaluated, best);
            return;
        }
        walk->allowance -= quick ? COST_LIKELY : COST_REFUSED;
        if (request->trace != NULL && k == 0)
            trace_refusal(walk, &err);
    }
}

/* Stops when the distance of the problem alone exceeds the total of the best
 * so far, or when it has made all the checks it may. */
bool shmt_runtime_find_nearest(const struct shmt_runtime_request *request,
                               const struct shmtune_device *device,
                               bool other_devices, int *allowance,
                               struct shmt_runtime_nearest *out)
{
    struct walk walk;

    walk.request = request;
    walk.device = device;
    walk.other_devices = other_devices;
    walk.likely = NULL;
    walk.allowance = *allowance;
    walk.log2_multiprocessors =
        device->multiprocessors > 0 ? log2(device->multiprocessors) : 0;
    /* The caller's own value: a clock is no limit, so it was not completed
     * from the table. */
    walk.log2_memory_rate = shmt_runtime_log2_memory_rate(request->device);
    shmt_runtime_place(request->problem,
                       request->kernel->spec->dimension_count, walk.place);
    begin_walk(&walk);
    *out = (struct shmt_runtime_nearest){.distance = INFINITY};
    for (; walk.count > 0 && walk.allowance > 0 &&
           walk.stops[0].distance < out->distance; step(&walk))
        weigh_entry(&walk, out);
    *allowance = walk.allowance;
    if (request->trace != NULL && walk.count > 0 && walk.allowance <= 0)
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
