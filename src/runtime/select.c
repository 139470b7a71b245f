/* SPDX-License-Identifier: MIT */
/*
 * select: shmtune_select, and shmtune_explain, which follows the same steps:
 * this device and problem; this device, nearest problem; another device of this
 * compute capability; the kernel's default.
 *
 * An exact hit is a comparison of devices and one look into a hash table: its
 * entry was checked when it was opened.  All else is checked again here: the
 * entries of one match level are visited in order of their distance, each is
 * checked with device/fit, and the search stops when no later one can be
 * better, or its allowance is spent.  Allocates nothing but the lines of the
 * trace.
 */
#include <math.h>
#include <stdlib.h>

#include "runtime/check.h"
#include "runtime/choice.h"
#include "runtime/interface.h"
#include "runtime/library.h"

struct request {
    const struct shmtune_kernel *kernel;
    const struct shmtune_device *device;
    const int64_t *problem;
    struct shmt_text *trace;   /* NULL, or gets a line for each tuning that
                                  is considered; only this allocates */
};

/* Tunings are not trusted, and a selection is to take a few microseconds
 * whatever they hold, so it has an allowance for its checks.  A check costs at
 * most: refused by the constraint that refused another before, refused by
 * something else, or passed and weighed. */
enum {
    ALLOWANCE = 96,
    ALLOWANCE_MORE = 12,      /* for the other devices, with what is left */
    COST_LIKELY = 1, COST_REFUSED = 4, COST_WEIGHED = 12
};

/* Weights of the distance, in doublings of one size.  They were fitted on an
 * H100 to 90 problems of ten kernels: to what each problem lost when it ran
 * the configurations of the others. */
static const double cost_of_factor = 0.8;        /* each 2 that one lacks */
static const double cost_of_half_waves = 8;      /* each halving */
static const double cost_of_tie = 1;             /* not the winner */
/* Not fitted.  It is so small that it only decides between devices with
 * equally many multiprocessors. */
static const double cost_of_memory_rate = 0.25;  /* each doubling, halving */

struct nearest {
    const struct shmt_runtime_tuning *tuning;
    const struct shmt_runtime_entry *entry;
    const shmt_config *values;      /* the winner's there, or a tie's */
    double distance;                /* in doublings of a size */
};

/* An entry, and the distance of its problem. */
struct stop {
    double distance;
    uint32_t tuning, entry;
};

/* An iteration over the entries of a match level in order of their distance.
 * The stops are a heap with the nearest first (Williams, Algorithm 232). */
struct walk {
    const struct request *request;
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
static void trace_entry(const struct request *request,
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
known_resources(const struct request *request,
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
                  struct nearest *best)
{
    const struct request *request = walk->request;
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
        *best = (struct nearest){tuning, entry, values, at};
}

static void trace_refusal(const struct walk *walk,
                          const struct shmt_error *err)
{
    const struct request *request = walk->request;
    const struct shmt_runtime_tuning *tuning =
        &request->kernel->tunings[walk->stops[0].tuning];

    trace_entry(request, tuning, &tuning->entries[walk->stops[0].entry]);
    shmt_text_addf(request->trace, ", distance %.3g: %s\n",
                   walk->stops[0].distance, err->text);
}

/* Considers the winner of the current entry, or, if it may not run here, the
 * first of its ties that may. */
static void weigh_entry(struct walk *walk, struct nearest *best)
{
    const struct request *request = walk->request;
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
static bool find_nearest(const struct request *request,
                         const struct shmtune_device *device,
                         bool other_devices, int *allowance,
                         struct nearest *out)
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
    *out = (struct nearest){.distance = INFINITY};
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

static void fill(const struct request *request,
                 const struct shmt_runtime_tuning *tuning,
                 const struct shmt_runtime_entry *entry,
                 const shmt_config *values, struct shmtune_choice *out)
{
    const size_t dimensions = request->kernel->spec->dimension_count;

    *out = (struct shmtune_choice){
        .size = sizeof *out,
        .kernel = request->kernel,
        .match = SHMTUNE_EXACT,
        .compute_major = request->device->compute_major,
        .compute_minor = request->device->compute_minor,
        .tuned_problem = entry->problem,
        .values = values,
        .file = tuning->file,
        .reason = reason_exact,
        .time_us = entry->time_us,
        .default_us = entry->default_us,
    };
    for (size_t k = 0; k < dimensions; k++)
        out->problem[k] = request->problem[k];
}

/* The exact hit, NULL when there is none. */
static const struct shmt_runtime_entry *
find_exact(const struct request *request,
           const struct shmt_runtime_tuning **tuning)
{
    const struct shmtune_kernel *kernel = request->kernel;

    for (size_t k = 0; k < kernel->tuning_count; k++)
        if (shmt_device_matches(&kernel->tunings[k].device,
                                     request->device)) {
            const struct shmt_runtime_entry *entry =
                shmt_runtime_tuning_find(&kernel->tunings[k], request->problem,
                                         kernel->spec->dimension_count);

            if (entry != NULL) {
                *tuning = &kernel->tunings[k];
                return entry;
            }
        }
    return NULL;
}

static bool select_exact(const struct request *request,
                         struct shmtune_choice *out)
{
    const struct shmt_runtime_tuning *tuning;
    const struct shmt_runtime_entry *entry = find_exact(request, &tuning);

    if (entry == NULL)
        return false;
    fill(request, tuning, entry, entry->values, out);
    if (request->trace != NULL) {
        shmt_text_addf(request->trace, "%s: ", tuning->file);
        shmt_kernel_describe_problem(request->kernel->spec, entry->problem,
                                     request->trace);
        shmt_text_add(request->trace, ": taken\n");
    }
    return true;
}

/* Fills in unknown limits of a device from the table of architectures. */
static const struct shmtune_device *complete(
    const struct shmtune_device *device, struct shmtune_device *room)
{
    char arch[16];

#define LIMIT_KNOWN(limit) && device->limit != 0
    if (true SHMT_DEVICE_LIMIT_LIST(LIMIT_KNOWN))
        return device;
#undef LIMIT_KNOWN
    shmt_device_arch_text(device, arch);
    if (shmt_device_for_arch(arch, room, NULL) != SHMTUNE_OK)
        return device;
#define LIMIT_TAKE(limit)                                                    \
    room->limit = device->limit != 0 ? device->limit : room->limit;
    SHMT_DEVICE_LIMIT_LIST(LIMIT_TAKE)
#undef LIMIT_TAKE
    return room;
}

static const char *default_reason(const struct request *request)
{
    const struct shmtune_kernel *kernel = request->kernel;

    if (kernel->tuning_count == 0)
        return reason_no_tuning;
    for (size_t k = 0; k < kernel->tuning_count; k++)
        if (shmt_device_same_capability(&kernel->tunings[k].device,
                                         request->device))
            return reason_no_fit;
    return reason_no_device;
}

static enum shmtune_status
take_default(const struct request *request,
             const struct shmtune_device *device,
             struct shmtune_choice *out)
{
    static const struct shmt_runtime_tuning no_tuning;
    const struct shmt_runtime_entry entry =
        {.values = request->kernel->default_config,
                                     .time_us = -1, .default_us = -1};
    struct shmt_kernel_evaluated evaluated;
    const struct shmt_fit_launches candidate = {.device = device,
                                                .evaluated = &evaluated};
    struct shmt_error err;
    enum shmtune_status status;

    shmt_kernel_evaluate(request->kernel->spec, request->problem, entry.values,
                         &evaluated);
    status = shmt_runtime_check(&candidate,
                                request->trace != NULL ? &err : NULL);
    if (request->trace != NULL)
        shmt_text_addf(request->trace, "the default of %s: %s\n",
                       request->kernel->spec->path,
                       status == SHMTUNE_OK ? "taken" : err.text);
    if (status != SHMTUNE_OK)
        return status;
    fill(request, &no_tuning, &entry, entry.values, out);
    out->match = SHMTUNE_DEFAULT;
    out->reason = default_reason(request);
    out->tuned_problem = NULL;
    return SHMTUNE_OK;
}

/* Where there is no exact hit. */
static enum shmtune_status search(const struct request *request,
                                  struct shmtune_choice *out)
{
    struct shmtune_device room;
    const struct shmtune_device *device =
        complete(request->device, &room);
    struct nearest found;
    bool other_devices = false;
    int allowance = ALLOWANCE;

    if (!find_nearest(request, device, false, &allowance, &found)) {
        other_devices = true;
        allowance += ALLOWANCE_MORE;
        if (!find_nearest(request, device, true, &allowance, &found))
            return take_default(request, device, out);
    }
    fill(request, found.tuning, found.entry, found.values, out);
    out->match =
        other_devices ? SHMTUNE_SAME_CAPABILITY : SHMTUNE_NEAREST_SIZE;
    out->reason = other_devices ? reason_capability : reason_nearest;
    return SHMTUNE_OK;
}

/* Checks that no required pointer is NULL.  A device that is shorter than this
 * version's is replaced by a copy in `full`, with 0 for what it lacks. */
static enum shmtune_status accept_request(struct request *request,
                                          struct shmtune_device *full,
                                          struct shmt_error *err)
{
    enum shmtune_status status;

    if (request->kernel == NULL || request->device == NULL ||
        (request->problem == NULL &&
         request->kernel->spec->dimension_count > 0))
        return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                              "kernel, device or problem is NULL");
    if (shmt_runtime_is_sized(request->device, sizeof *full))
        return SHMTUNE_OK;
    status = shmt_runtime_check_size(
        request->device, SHMT_RUNTIME_LEAST_DEVICE, "device", err);
    if (status != SHMTUNE_OK)
        return status;
    full->size = sizeof *full;
    shmt_runtime_copy_sized(full, request->device, request->device->size);
    request->device = full;
    return SHMTUNE_OK;
}

/* Not needed for an exact hit, which has passed it when it was opened. */
static enum shmtune_status check_request(const struct request *request,
                                         struct shmt_error *err)
{
    const struct shmt_kernel *kernel = request->kernel->spec;
    const int64_t *problem = request->problem;

    if (request->device->compute_major < 1)
        return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                              "the device \"%s\" has no compute capability",
                              request->device->name);
    for (size_t k = 0; k < kernel->dimension_count; k++) {
        const struct shmt_dimension *d = &kernel->dimensions[k];

        if (problem[k] < d->low || problem[k] > d->high)
            return shmt_error_set(
                err, SHMTUNE_INVALID_ARGUMENT,
                "%s = %lld, kernel %s is right for %lld to %lld", d->name,
                (long long)problem[k], kernel->name, (long long)d->low,
                (long long)d->high);
    }
    return SHMTUNE_OK;
}

enum shmtune_status shmtune_select(const struct shmtune_kernel *kernel,
                                   const struct shmtune_device *device,
                                   const int64_t *problem,
                                   struct shmtune_choice *out)
{
    struct request request = {kernel, device, problem, NULL};
    struct shmtune_device full;
    struct shmtune_choice made, *whole = &made;
    enum shmtune_status status = accept_request(&request, &full, NULL);

    if (status != SHMTUNE_OK ||
        !shmt_runtime_is_sized(out, SHMT_RUNTIME_LEAST_CHOICE))
        return SHMTUNE_INVALID_ARGUMENT;
    /* Nearly always the caller's struct is ours, and needs no copy. */
    if (out->size == sizeof *out)
        whole = out;
    if (!select_exact(&request, whole)) {
        status = check_request(&request, NULL);
        if (status == SHMTUNE_OK)
            status = search(&request, whole);
    }
    if (status == SHMTUNE_OK && whole == &made)
        shmt_runtime_copy_sized(out, &made, sizeof made);
    return status;
}

static void explain(const struct request *request)
{
    struct shmt_text *text = request->trace;
    struct shmtune_choice choice;
    struct shmt_error err;

    shmt_text_addf(text, "%s, ", request->kernel->spec->name);
    shmt_kernel_describe_problem(request->kernel->spec, request->problem, text);
    shmt_text_addf(text, ", on \"%s\" (compute capability %d.%d)\n",
                   request->device->name, request->device->compute_major,
                   request->device->compute_minor);
    if (check_request(request, &err) != SHMTUNE_OK) {
        shmt_text_addf(text, "%s\n", err.text);
        return;
    }
    if (!select_exact(request, &choice) &&
        search(request, &choice) != SHMTUNE_OK) {
        shmt_text_add(text, "nothing fits\n");
        return;
    }
    shmt_text_addf(text, "%s: %s\n", shmtune_match_text(choice.match),
                   choice.reason);
}

size_t shmtune_explain(const struct shmtune_kernel *kernel,
                       const struct shmtune_device *device,
                       const int64_t *problem, char *text, size_t room)
{
    struct shmt_text whole = {0};
    struct request request = {kernel, device, problem, &whole};
    struct shmtune_device full;
    struct shmt_error err;

    if (accept_request(&request, &full, &err) == SHMTUNE_OK)
        explain(&request);
    else
        shmt_text_addf(&whole, "%s\n", err.text);
    return shmt_choice_copy_text(&whole, text, room);
}
