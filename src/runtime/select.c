/* SPDX-License-Identifier: MIT */
/*
 * select: this device and problem; this device, nearest problem; another
 * device of this compute capability; the kernel's default.
 *
 * An exact hit is a comparison of devices and one look into a hash table: its
 * entry was checked when it was opened.  All else is checked again here.
 */
#include "runtime/select.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/device.h"
#include "runtime/admit.h"
#include "runtime/filling.h"

/* Tunings are not trusted: a file of a million problems that all fail must
 * not make a selection take seconds. */
enum { MOST_CHECKS = 512 };

static const char reason_exact[] =
    "measured on this device for this problem";
static const char reason_nearest[] =
    "measured on this device, not for this problem: the nearest that fits";
static const char reason_capability[] =
    "not measured on this device: another device of its compute capability, "
    "the nearest problem that fits";
static const char reason_no_tuning[] =
    "no tuning of this kernel was opened (the notes say what was left out)";
static const char reason_no_device[] =
    "no tuning of this kernel is for this compute capability";
static const char reason_no_fit[] =
    "no tuned configuration fits this problem on this device";

/* What decides whether and how well a configuration runs.  In the order in
 * which devices differ most often. */
#define LIMIT_LIST(X)                                                        \
    X(multiprocessors) X(shared_per_block_optin)                             \
    X(shared_per_multiprocessor) X(shared_per_block)                         \
    X(shared_reserved_per_block) X(registers_per_multiprocessor)             \
    X(registers_per_block) X(max_threads_per_multiprocessor)                 \
    X(max_blocks_per_multiprocessor) X(max_threads_per_block) X(warp_size)   \
    X(max_grid_y)

static inline bool same_capability(const struct shmtune_device *tuned,
                                   const struct shmtune_device *device)
{
    return tuned->compute_major == device->compute_major &&
           tuned->compute_minor == device->compute_minor;
}

/* A limit that is not known (0) is taken to be the same; a name must be. */
static inline bool same_device(const struct shmtune_device *tuned,
                               const struct shmtune_device *device)
{
#define LIMIT_AGREES(limit)                                                  \
    && (tuned->limit == device->limit || device->limit == 0)
    return same_capability(tuned, device) LIMIT_LIST(LIMIT_AGREES) &&
           strcmp(tuned->name, device->name) == 0;
#undef LIMIT_AGREES
}

static void fill(const struct shmt_question *ask,
                 const struct shmt_shelf *shelf,
                 const struct shmt_entry *entry, const shmt_choice *values,
                 struct shmtune_choice *out)
{
    const size_t dimensions = ask->kernel->spec->dimension_count;

    *out = (struct shmtune_choice){
        .kernel = ask->kernel,
        .match = SHMTUNE_EXACT,
        .compute_major = ask->device->compute_major,
        .compute_minor = ask->device->compute_minor,
        .tuned_problem = entry->problem,
        .values = values,
        .file = shelf->file,
        .reason = reason_exact,
        .time_us = entry->time_us,
        .default_us = entry->default_us,
    };
    for (size_t k = 0; k < dimensions; k++)
        out->problem[k] = ask->problem[k];
}

/* The exact hit, NULL when there is none. */
static const struct shmt_entry *find_exact(const struct shmt_question *ask,
                                           const struct shmt_shelf **shelf)
{
    const struct shmtune_kernel *kernel = ask->kernel;

    for (size_t k = 0; k < kernel->shelf_count; k++)
        if (same_device(&kernel->shelves[k].device, ask->device)) {
            const struct shmt_entry *entry =
                shmt_shelf_find(&kernel->shelves[k], ask->problem,
                                kernel->spec->dimension_count);

            if (entry != NULL) {
                *shelf = &kernel->shelves[k];
                return entry;
            }
        }
    return NULL;
}

/* What a step towards a problem that nobody measured may cost, in doublings
 * of one of its sizes: fitted to what 90 problems of ten kernels lost on an
 * H100 when each was run by the configurations of the others.  Whether a size
 * divides by 2 and by 4 decides which accesses of 8 and 16 bytes a
 * configuration can make of it. */
static const double cost_of_factor = 0.8;        /* each 2 that one lacks */
static const double cost_of_half_filling = 8;    /* each halving */
static const double cost_of_tie = 1;             /* not the winner */
enum { MOST_FACTORS = 2 };

/* A walk over the entries of a level, by the size of their problems. */
struct walk {
    const struct shmt_question *ask;
    const struct shmtune_device *device;   /* completed */
    double log2_problem[SHMTUNE_DIMENSIONS];
    double log2_multiprocessors;
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
                       const struct shmt_entry *entry)
{
    const size_t dimensions = walk->ask->kernel->spec->dimension_count;
    const int64_t *problem = walk->ask->problem;
    double sum = 0;

    if (walk->other_devices)
        sum = fabs(walk->log2_multiprocessors - shelf->log2_multiprocessors);
    for (size_t k = 0; k < dimensions; k++)
        sum += fabs(walk->log2_problem[k] - entry->log2[k]) +
               cost_of_factor * abs(factors_of_two(problem[k]) -
                                    factors_of_two(entry->problem[k]));
    return sum;
}

static bool on_level(const struct walk *walk, const struct shmt_shelf *shelf)
{
    if (!same_capability(&shelf->device, walk->ask->device))
        return false;
    return same_device(&shelf->device, walk->ask->device) !=
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
                        const struct shmt_entry *entry)
{
    shmt_text_addf(ask->trace, "%s: ", shelf->file);
    shmt_kernel_describe_size(ask->kernel->spec, entry->problem, ask->trace);
}

/* Another one than the winner, or another binary, because a dimension is
 * compiled in: its resources nobody has read. */
static const struct shmt_resources *known_resources(
    const struct shmt_question *ask, const struct shmt_entry *entry,
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

/* The best so far. */
struct nearest {
    const struct shmt_shelf *shelf;
    const struct shmt_entry *entry;
    const shmt_choice *values;
    double distance;
};

/* log2 of the share of the device that `values` fill at a problem; resources
 * are taken to be the winner's. */
static double filling(const struct shmtune_device *device,
                      const struct shmt_kernel *spec,
                      const struct shmt_entry *entry,
                      const shmt_choice *values, const int64_t *problem)
{
    const struct shmt_candidate candidate = {problem, values,
                                             &entry->resources};

    return log2(shmt_filling(spec, device, &candidate));
}

/* Weighs what is admitted of the entry where the walk stands: its distance,
 * and what it would leave idle more than where it was measured. */
static void weigh(const struct walk *walk, const shmt_choice *values,
                  struct nearest *best)
{
    const struct shmt_question *ask = walk->ask;
    const struct shmt_kernel *spec = ask->kernel->spec;
    const struct shmt_shelf *shelf = &ask->kernel->shelves[walk->shelf];
    const struct shmt_entry *entry = &shelf->entries[walk->entry];
    const double here =
        filling(walk->device, spec, entry, values, ask->problem);
    const double there =
        values == entry->values ? entry->log2_filling
                                : filling(&shelf->device, spec, entry,
                                          values, entry->problem);
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
        *best = (struct nearest){shelf, entry, values, at};
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
static void consider(struct walk *walk, struct nearest *best)
{
    const struct shmt_question *ask = walk->ask;
    const struct shmt_kernel *spec = ask->kernel->spec;
    const struct shmt_entry *entry =
        &ask->kernel->shelves[walk->shelf].entries[walk->entry];

    for (size_t k = 0; k <= entry->tie_count && walk->checks > 0; k++) {
        const shmt_choice *values =
            k == 0 ? entry->values
                   : entry->ties + (k - 1) * spec->parameter_count;
        const struct shmt_candidate candidate = {
            ask->problem, values, known_resources(ask, entry, values)};
        struct shmt_error err;

        walk->checks--;
        if (shmt_admit_check(spec, walk->device, &candidate,
                             ask->trace != NULL ? &err : NULL) ==
            SHMTUNE_OK) {
            weigh(walk, values, best);
            return;
        }
        if (ask->trace != NULL && k == 0)
            trace_refusal(walk, &err);
    }
}

/* Ends where distance alone is more than the best so far has in all. */
static bool take_nearest(struct walk *walk, struct shmtune_choice *out)
{
    const struct shmt_question *ask = walk->ask;
    struct nearest best = {.distance = INFINITY};

    walk->shelf = walk->entry = 0;
    walk->distance = -1;
    walk->checks = MOST_CHECKS;
    while (walk->checks > 0 && step(walk) && walk->distance < best.distance)
        consider(walk, &best);
    if (best.entry == NULL)
        return false;
    if (ask->trace != NULL) {
        trace_entry(ask, best.shelf, best.entry);
        shmt_text_add(ask->trace, ": taken\n");
    }
    fill(ask, best.shelf, best.entry, best.values, out);
    return true;
}

/* What is not known of a device is that of its architecture. */
static const struct shmtune_device *complete(
    const struct shmtune_device *device, struct shmtune_device *room)
{
    char arch[16];

#define LIMIT_KNOWN(limit) && device->limit != 0
    if (true LIMIT_LIST(LIMIT_KNOWN))
        return device;
#undef LIMIT_KNOWN
    shmt_device_arch_text(device, arch);
    if (shmt_device_for_arch(arch, room, NULL) != SHMTUNE_OK)
        return device;
#define LIMIT_TAKE(limit)                                                    \
    room->limit = device->limit != 0 ? device->limit : room->limit;
    LIMIT_LIST(LIMIT_TAKE)
#undef LIMIT_TAKE
    return room;
}

static const char *default_reason(const struct shmt_question *ask)
{
    const struct shmtune_kernel *kernel = ask->kernel;

    if (kernel->shelf_count == 0)
        return reason_no_tuning;
    for (size_t k = 0; k < kernel->shelf_count; k++)
        if (same_capability(&kernel->shelves[k].device, ask->device))
            return reason_no_fit;
    return reason_no_device;
}

static enum shmtune_status take_default(const struct walk *walk,
                                        struct shmtune_choice *out)
{
    static const struct shmt_shelf no_shelf;
    const struct shmt_question *ask = walk->ask;
    const struct shmt_entry entry = {.values = ask->kernel->fallback,
                                     .time_us = -1, .default_us = -1};
    const struct shmt_candidate candidate = {ask->problem, entry.values,
                                             NULL};
    struct shmt_error err;
    const enum shmtune_status status =
        shmt_admit_check(ask->kernel->spec, walk->device, &candidate,
                         ask->trace != NULL ? &err : NULL);

    if (ask->trace != NULL)
        shmt_text_addf(ask->trace, "the default of %s: %s\n",
                       ask->kernel->spec->path,
                       status == SHMTUNE_OK ? "taken" : err.text);
    if (status != SHMTUNE_OK)
        return status;
    fill(ask, &no_shelf, &entry, entry.values, out);
    out->match = SHMTUNE_DEFAULT;
    out->reason = default_reason(ask);
    out->tuned_problem = NULL;
    return SHMTUNE_OK;
}

enum shmtune_status shmt_select_search(const struct shmt_question *question,
                                       struct shmtune_choice *out)
{
    struct shmtune_device room;
    struct walk walk = {.ask = question};

    walk.device = complete(question->device, &room);
    if (walk.device->multiprocessors > 0)
        walk.log2_multiprocessors = log2(walk.device->multiprocessors);
    for (size_t k = 0; k < question->kernel->spec->dimension_count; k++)
        walk.log2_problem[k] =
            log2(question->problem[k] > 1 ? (double)question->problem[k] : 1);
    if (take_nearest(&walk, out)) {
        out->match = SHMTUNE_NEAREST_SIZE;
        out->reason = reason_nearest;
        return SHMTUNE_OK;
    }
    walk.other_devices = true;
    if (take_nearest(&walk, out)) {
        out->match = SHMTUNE_SAME_CAPABILITY;
        out->reason = reason_capability;
        return SHMTUNE_OK;
    }
    return take_default(&walk, out);
}

enum shmtune_status shmt_select_check(const struct shmt_question *question,
                                      struct shmt_error *err)
{
    if (question->device->compute_major < 1)
        return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                              "the device \"%s\" has no compute capability",
                              question->device->name);
    return shmt_admit_problem(question->kernel->spec, question->problem, err);
}

enum shmtune_status shmtune_select(const struct shmtune_kernel *kernel,
                                   const struct shmtune_device *device,
                                   const int64_t *problem,
                                   struct shmtune_choice *out)
{
    const struct shmt_question ask = {kernel, device, problem, NULL};
    const struct shmt_shelf *shelf;
    const struct shmt_entry *entry;
    enum shmtune_status status;

    if (kernel == NULL || device == NULL || problem == NULL || out == NULL)
        return SHMTUNE_INVALID_ARGUMENT;
    entry = find_exact(&ask, &shelf);
    if (entry != NULL) {
        fill(&ask, shelf, entry, entry->values, out);
        return SHMTUNE_OK;
    }
    status = shmt_select_check(&ask, NULL);
    return status == SHMTUNE_OK ? shmt_select_search(&ask, out) : status;
}
