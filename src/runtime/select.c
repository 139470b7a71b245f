/* SPDX-License-Identifier: MIT */
/*
 * select: this device and problem; this device, nearest problem; another
 * device of this compute capability; the kernel's default.
 *
 * An exact hit is a comparison of devices and one look into a hash table: its
 * entry was checked when it was opened.  All else is checked again here.
 */
#include "runtime/select.h"

#include "device/device.h"
#include "runtime/admit.h"
#include "runtime/alike.h"
#include "runtime/nearest.h"

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

static void fill(const struct shmt_question *ask,
                 const struct shmt_shelf *shelf,
                 const struct shmt_shelf_entry *entry,
                 const shmt_choice *values, struct shmtune_choice *out)
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
static const struct shmt_shelf_entry *
find_exact(const struct shmt_question *ask, const struct shmt_shelf **shelf)
{
    const struct shmtune_kernel *kernel = ask->kernel;

    for (size_t k = 0; k < kernel->shelf_count; k++)
        if (shmt_same_device(&kernel->shelves[k].device, ask->device)) {
            const struct shmt_shelf_entry *entry =
                shmt_shelf_find(&kernel->shelves[k], ask->problem,
                                kernel->spec->dimension_count);

            if (entry != NULL) {
                *shelf = &kernel->shelves[k];
                return entry;
            }
        }
    return NULL;
}

bool shmt_select_exact(const struct shmt_question *question,
                       struct shmtune_choice *out)
{
    const struct shmt_shelf *shelf;
    const struct shmt_shelf_entry *entry = find_exact(question, &shelf);

    if (entry == NULL)
        return false;
    fill(question, shelf, entry, entry->values, out);
    if (question->trace != NULL) {
        shmt_text_addf(question->trace, "%s: ", shelf->file);
        shmt_kernel_describe_size(question->kernel->spec, entry->problem,
                                  question->trace);
        shmt_text_add(question->trace, ": taken\n");
    }
    return true;
}

/* What is not known of a device is that of its architecture. */
static const struct shmtune_device *complete(
    const struct shmtune_device *device, struct shmtune_device *room)
{
    char arch[16];

#define LIMIT_KNOWN(limit) && device->limit != 0
    if (true SHMT_LIMIT_LIST(LIMIT_KNOWN))
        return device;
#undef LIMIT_KNOWN
    shmt_device_arch_text(device, arch);
    if (shmt_device_for_arch(arch, room, NULL) != SHMTUNE_OK)
        return device;
#define LIMIT_TAKE(limit)                                                    \
    room->limit = device->limit != 0 ? device->limit : room->limit;
    SHMT_LIMIT_LIST(LIMIT_TAKE)
#undef LIMIT_TAKE
    return room;
}

static const char *default_reason(const struct shmt_question *ask)
{
    const struct shmtune_kernel *kernel = ask->kernel;

    if (kernel->shelf_count == 0)
        return reason_no_tuning;
    for (size_t k = 0; k < kernel->shelf_count; k++)
        if (shmt_same_capability(&kernel->shelves[k].device, ask->device))
            return reason_no_fit;
    return reason_no_device;
}

static enum shmtune_status take_default(const struct shmt_question *ask,
                                        const struct shmtune_device *device,
                                        struct shmtune_choice *out)
{
    static const struct shmt_shelf no_shelf;
    const struct shmt_shelf_entry entry = {.values = ask->kernel->fallback,
                                     .time_us = -1, .default_us = -1};
    struct shmt_kernel_evaluated evaluated;
    const struct shmt_candidate candidate = {.evaluated = &evaluated};
    struct shmt_error err;
    enum shmtune_status status;

    shmt_kernel_evaluate(ask->kernel->spec, ask->problem, entry.values,
                         &evaluated);
    status = shmt_admit_check(device, &candidate,
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
    const struct shmtune_device *device =
        complete(question->device, &room);
    struct shmt_nearest found;
    bool other_devices = false;

    if (!shmt_nearest_find(question, device, false, &found)) {
        other_devices = true;
        if (!shmt_nearest_find(question, device, true, &found))
            return take_default(question, device, out);
    }
    fill(question, found.shelf, found.entry, found.values, out);
    out->match =
        other_devices ? SHMTUNE_SAME_CAPABILITY : SHMTUNE_NEAREST_SIZE;
    out->reason = other_devices ? reason_capability : reason_nearest;
    return SHMTUNE_OK;
}

bool shmt_select_complete(const struct shmt_question *question)
{
    return question->kernel != NULL && question->device != NULL &&
           (question->problem != NULL ||
            question->kernel->spec->dimension_count == 0);
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
    enum shmtune_status status;

    if (!shmt_select_complete(&ask) || out == NULL)
        return SHMTUNE_INVALID_ARGUMENT;
    if (shmt_select_exact(&ask, out))
        return SHMTUNE_OK;
    status = shmt_select_check(&ask, NULL);
    return status == SHMTUNE_OK ? shmt_select_search(&ask, out) : status;
}
