/* SPDX-License-Identifier: MIT */
/*
 * select: shmtune_select, and shmtune_explain, which follows the same steps:
 * this device and problem; this device, what was learnt; this device, nearest
 * problem; another device of this compute capability; the kernel's default.
 *
 * An exact hit is a comparison of devices and one look into a hash table: its
 * entry was checked when it was opened.  All else is checked again: what was
 * learnt in dispatch.c, the nearest in nearest.c, the default here.  Allocates
 * nothing but the lines of the trace, and of the log where there is one.
 */
#include <string.h>

#include "runtime/check.h"
#include "runtime/choice.h"
#include "runtime/dispatch.h"
#include "runtime/interface.h"
#include "runtime/nearest.h"
#include "runtime/watch.h"

static const char reason_exact[] =
    "measured on this device for this problem";
static const char reason_learnt[] =
    "learnt on this device from other problems: what does best at such sizes";
#define LOOKED_AT " of those that a selection looks at"
#define NEAREST "measured on this device, not for this problem: the nearest " \
                "that fits"
#define CAPABILITY "not measured on this device: another device of its "     \
                   "compute capability, the nearest problem that fits"
static const char *const reason_nearest[] = {NEAREST, NEAREST LOOKED_AT};
static const char *const reason_capability[] = {CAPABILITY,
                                                CAPABILITY LOOKED_AT};
static const char reason_no_tuning[] =
    "no tuning of this kernel was opened (the notes say what was left out)";
static const char reason_no_device[] =
    "no tuning of this kernel is for this compute capability";
static const char *const reason_no_fit[] = {
    "no tuned configuration fits this problem on this device",
    "no tuned configuration" LOOKED_AT " fits this problem on this device, "
    "and there are more (shmtune_explain counts them)"
};

static void fill(const struct shmt_runtime_request *request,
                 const struct shmt_runtime_tuning *tuning,
                 const struct shmt_runtime_entry *entry,
                 const shmt_config *values, struct shmtune_choice *out)
{
    const size_t dimensions = request->kernel->spec->dimension_count;
    const size_t first = offsetof(struct shmtune_choice, match);
    const size_t last = offsetof(struct shmtune_choice, tuned_problem);

    _Static_assert(offsetof(struct shmtune_choice, default_us) +
                           sizeof out->default_us == sizeof *out,
                   "every member is set here");
    /* Here are a hole and sizes that may not be used.  To clear all of the
     * struct takes longer than all else that is done here. */
    memset((char *)out + first, 0, last - first);
    out->size = sizeof *out;
    out->kernel = request->kernel;
    out->match = SHMTUNE_EXACT;
    out->compute_major = request->device->compute_major;
    out->compute_minor = request->device->compute_minor;
    out->tuned_problem = entry->problem;
    out->values = values;
    out->file = tuning->file;
    out->reason = reason_exact;
    out->time_us = entry->time_us;
    out->default_us = entry->default_us;
    for (size_t k = 0; k < dimensions; k++)
        out->problem[k] = request->problem[k];
}

static bool select_exact(const struct shmt_runtime_request *request,
                         struct shmtune_choice *out)
{
    const struct shmt_runtime_tuning *tuning;
    const struct shmt_runtime_entry *const entry = shmt_runtime_tunings_find(
        request->kernel, request->device, request->problem, &tuning);

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

static bool select_learnt(const struct shmt_runtime_request *request,
                          struct shmtune_choice *out)
{
    static const struct shmt_runtime_entry entry = {.time_us = -1,
                                                    .default_us = -1};
    const struct shmt_runtime_tuning *tuning;
    const shmt_config *const values =
        shmt_runtime_dispatch_find(request, &tuning);

    if (values == NULL)
        return false;
    fill(request, tuning, &entry, values, out);
    out->match = SHMTUNE_LEARNT;
    out->reason = reason_learnt;
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

static const char *default_reason(const struct shmt_runtime_request *request,
                                  bool cut)
{
    if (request->kernel->tuning_count == 0)
        return reason_no_tuning;
    return (request->devices.same | request->devices.others) != 0
               ? reason_no_fit[cut] : reason_no_device;
}

static enum shmtune_status
take_default(const struct shmt_runtime_request *request,
             const struct shmtune_device *device,
             struct shmt_runtime_sieve *sieve, struct shmtune_choice *out)
{
    static const struct shmt_runtime_tuning no_tuning;
    const struct shmt_runtime_entry entry = {
        .values = request->kernel->default_config,
        .time_us = -1, .default_us = -1};
    struct shmt_kernel_evaluated evaluated;
    const struct shmt_fit_launches candidate = {.device = device,
                                                .evaluated = &evaluated};
    struct shmt_error err;
    enum shmtune_status status = SHMTUNE_NO_CONFIGURATION;

    /* The constraints that use no size hold of every default. */
    if (request->trace == NULL) {
        if (shmt_runtime_sieve_pass(sieve, entry.values, &evaluated))
            status = shmt_runtime_check_launches(&candidate, NULL);
    } else {
        shmt_kernel_evaluate(request->kernel->spec, request->problem,
                             entry.values, &evaluated);
        status = shmt_runtime_check(&candidate, &err);
    }
    if (request->trace != NULL)
        shmt_text_addf(request->trace, "the default of %s: %s\n",
                       request->kernel->spec->path,
                       status == SHMTUNE_OK ? "taken" : err.text);
    if (status != SHMTUNE_OK)
        return status;
    fill(request, &no_tuning, &entry, entry.values, out);
    out->match = SHMTUNE_DEFAULT;
    out->reason = default_reason(request, sieve->cut);
    out->tuned_problem = NULL;
    return SHMTUNE_OK;
}

/* Where there is no exact hit. */
static enum shmtune_status search(struct shmt_runtime_request *request,
                                  struct shmtune_choice *out)
{
    struct shmtune_device room;
    const struct shmtune_device *device =
        complete(request->device, &room);
    struct shmt_runtime_nearest found;
    bool other_devices = false;
    struct shmt_runtime_sieve sieve;

    request->devices =
        shmt_runtime_tunings_of(request->kernel, request->device);
    shmt_runtime_sieve_begin(&sieve, request->kernel->spec, request->problem);
    if (!shmt_runtime_find_nearest(request, device, false, &sieve, &found)) {
        other_devices = true;
        sieve.allowance += SHMT_RUNTIME_MORE_ALLOWANCE;
        if (!shmt_runtime_find_nearest(request, device, true, &sieve, &found))
            return take_default(request, device, &sieve, out);
    }
    fill(request, found.tuning, found.entry, found.values, out);
    out->match =
        other_devices ? SHMTUNE_SAME_CAPABILITY : SHMTUNE_NEAREST_SIZE;
    out->reason = (other_devices ? reason_capability
                                 : reason_nearest)[sieve.cut];
    return SHMTUNE_OK;
}

/* Checks that no required pointer is NULL.  A device that is shorter than this
 * version's is replaced by a copy in `full`, with 0 for what it lacks. */
static enum shmtune_status accept_request(struct shmt_runtime_request *request,
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

/* Not needed for an exact hit, which has passed it when it was opened, and for
 * what was learnt, of which the range is within the kernel's. */
static enum shmtune_status
check_request(const struct shmt_runtime_request *request,
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
    struct shmt_runtime_request request = {kernel, device, problem, NULL, {0}};
    struct shmtune_device full;
    struct shmtune_choice made, *whole = &made;
    enum shmtune_status status = accept_request(&request, &full, NULL);

    if (status != SHMTUNE_OK ||
        !shmt_runtime_is_sized(out, SHMT_RUNTIME_LEAST_CHOICE))
        return SHMTUNE_INVALID_ARGUMENT;
    /* Nearly always the caller's struct is ours, and needs no copy. */
    if (out->size == sizeof *out)
        whole = out;
    if (!select_exact(&request, whole) && !select_learnt(&request, whole)) {
        status = check_request(&request, NULL);
        if (status == SHMTUNE_OK)
            status = search(&request, whole);
    }
    if (status == SHMTUNE_OK && whole == &made)
        shmt_runtime_copy_sized(out, &made, sizeof made);
    if (kernel->watch != NULL)
        shmt_runtime_watch_selected(&request, status, whole);
    return status;
}

static void explain(struct shmt_runtime_request *request)
{
    struct shmt_text *text = request->trace;
    struct shmtune_choice choice;
    struct shmt_error err;

    shmt_kernel_name_problem(request->kernel->spec, request->problem, text);
    shmt_text_addf(text, ", on \"%s\" (compute capability %d.%d)\n",
                   request->device->name, request->device->compute_major,
                   request->device->compute_minor);
    if (check_request(request, &err) != SHMTUNE_OK) {
        shmt_text_addf(text, "%s\n", err.text);
        return;
    }
    if (!select_exact(request, &choice) &&
        !select_learnt(request, &choice) &&
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
    struct shmt_runtime_request request = {kernel, device, problem, &whole,
                                           {0}};
    struct shmtune_device full;
    struct shmt_error err;

    if (accept_request(&request, &full, &err) == SHMTUNE_OK)
        explain(&request);
    else
        shmt_text_addf(&whole, "%s\n", err.text);
    return shmt_choice_copy_text(&whole, text, room);
}
