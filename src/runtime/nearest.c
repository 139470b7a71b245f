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

enum { STEPS = 4096 };         /* in a distance of 1 */

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
    uint32_t near;             /* which of the kernel's */
    uint32_t tie;              /* 0: the winner; its ties from 1 on */
};

/* An iteration over the entries of a match level in order of their distance:
 * their winners, and the ties of those that may not run.
 *
 * The winners are a heap with the nearest first (Williams, Algorithm 232), of
 * keys: the distance in steps, and behind it which entry it is, because at
 * equal distances the earlier tuning comes first, then the earlier entry.
 * Steps are so large that what is equally far is equal, however it was added
 * up.  Ties come in the order in which their winners were
 * refused, all later by the same distance, so they are a queue. */
struct walk {
    const struct shmt_runtime_request *request;
    const struct shmtune_device *device;   /* completed */
    float place[2 * SHMTUNE_DIMENSIONS];
    double log2_multiprocessors, log2_memory_rate;
    bool other_devices;        /* the level: not this device */
    int overdraft;             /* while nothing has been found */
    struct shmt_runtime_sieve *sieve;
    size_t count;
    uint64_t winners[SHMT_RUNTIME_NEAREST];
    size_t first_tie, tie_end;
    struct stop ties[SHMT_RUNTIME_NEAREST];
};

/* Where the walk stands. */
struct stand {
    struct stop stop;
    const struct shmt_runtime_tuning *tuning;
    const struct shmt_runtime_entry *entry;
    const shmt_config *values;
};

/* Whether a size is divisible by 2 and 4 decides whether a configuration can
 * use accesses of 8 and 16 bytes; further factors decide nothing. */
enum { MOST_FACTORS = 2 };

void shmt_runtime_place(const int64_t *problem, size_t dimensions,
                        size_t apart, float *out)
{
    for (size_t k = 0; k < dimensions; k++) {
        int factors = 0;

        while (factors < MOST_FACTORS && (problem[k] >> factors & 1) == 0)
            factors++;
        out[2 * k * apart] =
            (float)log2(problem[k] > 1 ? (double)problem[k] : 1.0);
        out[(2 * k + 1) * apart] = (float)(cost_of_factor * factors);
    }
}

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

static uint64_t key_of(float distance, size_t near)
{
    return (uint64_t)(uint32_t)(int32_t)(distance * STEPS + 0.5F) << 32 | near;
}

static struct stop winner_of(uint64_t key)
{
    return (struct stop){(double)(key >> 32) / STEPS, (uint32_t)key, 0};
}

/* Moves a key down the heap to where it belongs.  Which child is less cannot
 * be predicted, so there is no branch on it. */
static void sink(uint64_t *heap, size_t count, size_t at)
{
    const uint64_t key = heap[at];
    size_t child;

    while ((child = 2 * at + 1) + 1 < count) {
        child += heap[child + 1] < heap[child];
        if (heap[child] > key)
            break;
        heap[at] = heap[child];
        at = child;
    }
    if (child + 1 == count && heap[child] < key) {
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = key;
}

/* Distances are computed by blocks, each coordinate of a block at once: it is a
 * loop of constant length, which compilers make one instruction of. */
static void add_winners(struct walk *walk,
                        const struct shmt_runtime_tuning *tuning)
{
    const size_t rows = 2 * walk->request->kernel->spec->dimension_count;
    const float device = (float)device_distance(walk, tuning);

    for (size_t n = 0; n < tuning->near_count; n += SHMT_RUNTIME_BLOCK) {
        const float *places = tuning->places + n;
        float sum[SHMT_RUNTIME_BLOCK];

        for (size_t k = 0; k < SHMT_RUNTIME_BLOCK; k++)
            sum[k] = device;
        for (size_t row = 0; row < rows; row++) {
            const float here = walk->place[row];

            for (size_t k = 0; k < SHMT_RUNTIME_BLOCK; k++)
                sum[k] += fabsf(here - places[k]);
            places += tuning->near_room;
        }
        for (size_t k = 0; k < SHMT_RUNTIME_BLOCK && n + k < tuning->near_count;
             k++)
            walk->winners[walk->count++] =
                key_of(sum[k], tuning->near_first + n + k);
    }
}

/* One look at each entry of the level that counts; the strides keep them
 * within the room. */
static void begin_walk(struct walk *walk)
{
    const struct shmtune_kernel *const kernel = walk->request->kernel;
    const struct shmt_runtime_devices *const devices =
        &walk->request->devices;
    const uint64_t level =
        walk->other_devices ? devices->others : devices->same;

    walk->count = walk->first_tie = walk->tie_end = 0;
    for (size_t s = 0; s < kernel->tuning_count; s++)
        if (level >> s & 1)
            add_winners(walk, &kernel->tunings[s]);
    for (size_t k = walk->count / 2; k > 0; k--)
        sink(walk->winners, walk->count, k - 1);
}

/* How many stops there are yet. */
static size_t stops_of(const struct walk *walk)
{
    return walk->count + walk->tie_end - walk->first_tie;
}

/* Where the walk stands: at the nearest stop there is. */
static struct stand stand_of(const struct walk *walk)
{
    const struct shmtune_kernel *const kernel = walk->request->kernel;
    const struct stop *const tie = &walk->ties[walk->first_tie];
    struct stand out;

    if (walk->first_tie < walk->tie_end &&
        (walk->count == 0 ||
         key_of((float)tie->distance, tie->near) < walk->winners[0]))
        out.stop = *tie;
    else
        out.stop = winner_of(walk->winners[0]);
    out.tuning = &kernel->tunings[kernel->near[out.stop.near].tuning];
    out.entry = &out.tuning->entries[kernel->near[out.stop.near].entry];
    out.values = out.stop.tie == 0
                     ? out.entry->values
                     : out.entry->ties + (size_t)(out.stop.tie - 1) *
                           kernel->spec->parameter_count;
    return out;
}

/* Leaves the stop at which it stands, for good or for the next tie of the
 * entry. */
static void leave(struct walk *walk, const struct stand *at, bool for_tie)
{
    const bool ties = for_tie && at->stop.tie < at->entry->tie_count;

    if (at->stop.tie > 0 && ties) {
        walk->ties[walk->first_tie].tie++;
        return;
    }
    if (at->stop.tie > 0) {
        walk->first_tie++;
        return;
    }
    walk->winners[0] = walk->winners[--walk->count];
    if (walk->count > 0)
        sink(walk->winners, walk->count, 0);
    if (ties)
        walk->ties[walk->tie_end++] = (struct stop){
            at->stop.distance + cost_of_tie, at->stop.near, 1};
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
 * wave efficiency compared with where it was measured, in whole steps too. */
static double weigh(const struct walk *walk, const struct stand *at,
                    struct shmt_kernel_evaluated *evaluated)
{
    const struct shmt_runtime_request *request = walk->request;
    const double here = log2_waves_of(walk->device, at->entry, evaluated);
    const double there = log2_waves_there(request->kernel->spec, at->tuning,
                                          at->entry, at->values);
    const double total =
        at->stop.distance + cost_of_half_waves *
            ((double)(int64_t)(fmax(0, there - here) * STEPS + 0.5) / STEPS);

    if (request->trace != NULL) {
        trace_entry(request, at->tuning, at->entry);
        shmt_text_addf(request->trace,
                       ", distance %.3g: %swave efficiency %.0f %%, %.0f %% "
                       "where it was measured: total %.3g\n",
                       distance_of(&at->stop),
                       at->stop.tie == 0 ? "" : "of a tie, ",
                       100 * exp2(here), 100 * exp2(there), total);
    }
    return total;
}

/* Says what the winner of the current entry fails by. */
static void trace_refusal(const struct walk *walk, const struct stand *at,
                          const struct shmt_fit_launches *candidate)
{
    const struct shmt_runtime_request *request = walk->request;
    struct shmt_error err = {0};

    shmt_kernel_evaluate(request->kernel->spec, request->problem,
                         at->entry->values, candidate->evaluated);
    shmt_runtime_check(candidate, &err);
    trace_entry(request, at->tuning, at->entry);
    shmt_text_addf(request->trace, ", distance %.3g: %s\n",
                   distance_of(&at->stop), err.text);
}

/* Considers the configuration at which the walk stands, and steps on.  The
 * launches are checked of one that would be the best alone. */
static void visit(struct walk *walk, const struct stand *at,
                  struct shmt_runtime_nearest *best)
{
    const struct shmt_runtime_request *request = walk->request;
    struct shmt_kernel_evaluated evaluated;
    const struct shmt_fit_launches candidate = {
        walk->device, &evaluated,
        known_resources(request, at->entry, at->values), at->entry->launches};
    double distance = INFINITY;
    bool passes =
        shmt_runtime_sieve_pass(walk->sieve, at->values, &evaluated);

    if (passes)
        distance = weigh(walk, at, &evaluated);
    if (distance < best->distance) {
        passes = shmt_runtime_check_launches(&candidate, NULL) == SHMTUNE_OK;
        if (passes)
            *best = (struct shmt_runtime_nearest){at->tuning, at->entry,
                                                  at->values, distance};
    }
    walk->sieve->allowance -=
        COST_LOOK + (distance < INFINITY ? COST_WEIGH : 0) +
        (int)evaluated.evaluation.steps;
    if (!passes && request->trace != NULL && at->stop.tie == 0)
        trace_refusal(walk, at, &candidate);
    leave(walk, at, !passes);
}

/* Whether there is a next stop, *at, that may be better than the best so far: a
 * total is no less than the distance of the problem alone. */
static bool is_promising(const struct walk *walk,
                         const struct shmt_runtime_nearest *best,
                         struct stand *at)
{
    if (stops_of(walk) == 0 || walk->sieve->hopeless)
        return false;
    *at = stand_of(walk);
    return at->stop.distance < best->distance;
}

/* What has been found is not looked beyond for long; to find anything is worth
 * more checks. */
static bool may_look(const struct walk *walk,
                     const struct shmt_runtime_nearest *best)
{
    return walk->sieve->allowance >
           (best->entry == NULL ? -walk->overdraft : 0);
}

bool shmt_runtime_find_nearest(const struct shmt_runtime_request *request,
                               const struct shmtune_device *device,
                               bool other_devices,
                               struct shmt_runtime_sieve *sieve,
                               struct shmt_runtime_nearest *out)
{
    struct walk walk;
    struct stand at;
    bool cut;

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
                       request->kernel->spec->dimension_count, 1, walk.place);
    begin_walk(&walk);
    sieve->allowance -= COST_STOP * (int)walk.count;
    walk.overdraft =
        walk.count <= SHMT_RUNTIME_FEW ? SHMT_RUNTIME_OVERDRAFT : 0;
    *out = (struct shmt_runtime_nearest){.distance = INFINITY};
    while ((cut = is_promising(&walk, out, &at)) && may_look(&walk, out))
        visit(&walk, &at, out);
    sieve->cut |= cut;
    if (request->trace != NULL && cut)
        shmt_text_addf(request->trace, "%zu more sizes were not looked at: "
                       "a selection makes a few checks\n", stops_of(&walk));
    if (out->entry == NULL)
        return false;
    if (request->trace != NULL) {
        trace_entry(request, out->tuning, out->entry);
        shmt_text_add(request->trace, ": taken\n");
    }
    return true;
}
