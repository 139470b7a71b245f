/* SPDX-License-Identifier: MIT */
/*
 * tunings: prepares a tuning file for selection.  Everything in it is checked
 * here once, so that an exact match needs no checks.
 */
#include <math.h>
#include <string.h>

#include "record/record.h"
#include "runtime/check.h"
#include "runtime/dispatch.h"
#include "runtime/nearest.h"

_Static_assert((int)SHMTUNE_DIMENSIONS == (int)SHMT_KERNEL_DIMENSIONS,
               "the public limit is the private one");

double shmt_runtime_log2_memory_rate(const struct shmtune_device *device)
{
    const double rate =
        (double)device->memory_clock_khz * device->memory_bus_bits;

    return rate > 1 ? log2(rate) : 0;
}

/* Depends on the first `dimensions` sizes. */
static uint64_t hash_of(const int64_t *problem, size_t dimensions)
{
    uint64_t hash = dimensions;

    for (size_t k = 0; k < dimensions; k++)
        hash = shmt_map_hash(hash, (uint64_t)problem[k]);
    return hash;
}

/* A place names a tuning and one of its entries; that of an earlier tuning is
 * less. */
enum { ENTRY_BITS = 26 };

_Static_assert(SHMT_RUNTIME_TUNINGS <= 1 << (32 - ENTRY_BITS) &&
               SHMT_TUNING_BYTES < 1 << ENTRY_BITS,
               "a place has room for every entry of a file");

static bool is_same_problem(const int64_t *a, const int64_t *b,
                            size_t dimensions)
{
    for (size_t k = 0; k < dimensions; k++)
        if (a[k] != b[k])
            return false;
    return true;
}

const struct shmt_runtime_entry *
shmt_runtime_tunings_find(const struct shmtune_kernel *kernel,
                          const struct shmtune_device *device,
                          const int64_t *problem,
                          const struct shmt_runtime_tuning **tuning)
{
    const size_t dimensions = kernel->spec->dimension_count;
    const uint64_t key = hash_of(problem, dimensions);
    const struct shmt_runtime_entry *found = NULL;
    uint32_t first = SHMT_MAP_NONE, place;
    size_t probe = 0;

    while ((place = shmt_map_next(&kernel->exact, key, &probe)) !=
           SHMT_MAP_NONE) {
        const struct shmt_runtime_tuning *const in =
            &kernel->tunings[place >> ENTRY_BITS];
        const struct shmt_runtime_entry *const entry =
            &in->entries[place & ((1U << ENTRY_BITS) - 1)];

        if (place > first ||
            !is_same_problem(entry->problem, problem, dimensions) ||
            !shmt_device_matches(&in->device, device))
            continue;
        first = place;
        found = entry;
        *tuning = in;
    }
    return found;
}

struct shmt_runtime_devices
shmt_runtime_tunings_of(const struct shmtune_kernel *kernel,
                        const struct shmtune_device *device)
{
    struct shmt_runtime_devices out = {0};

    for (size_t k = 0; k < kernel->tuning_count; k++) {
        const struct shmt_runtime_tuning *const tuning = &kernel->tunings[k];
        const bool same = tuning->twin < k
                              ? out.same >> tuning->twin & 1
                              : shmt_device_matches(&tuning->device, device);

        if (same)
            out.same |= UINT64_C(1) << k;
        else if (shmt_device_same_capability(&tuning->device, device))
            out.others |= UINT64_C(1) << k;
    }
    return out;
}

/* Others are dropped without a note. */
static bool read_ties(struct shmt_arena *arena,
                      const struct shmt_kernel *spec,
                      const struct shmt_tuned *tuned,
                      struct shmt_runtime_entry *out)
{
    const size_t room = tuned->tie_count < SHMT_TUNING_TRIED
                            ? tuned->tie_count : SHMT_TUNING_TRIED;
    shmt_config *const ties = shmt_arena_alloc(
        arena, room * spec->parameter_count, sizeof *ties);

    if (ties == NULL)
        return false;
    out->ties = ties;
    out->tie_count = (uint32_t)shmt_tuning_ties(spec, tuned, out->problem,
                                                out->values, ties);
    return true;
}

/* Makes an entry of a tuned problem, if it fits the kernel; what it points to
 * is in `arena` or in `tuned`.  The reader has refused a winner that is not
 * ok, and a problem that is there twice. */
static enum shmtune_status read_entry(struct shmt_arena *arena,
                                      const struct shmt_kernel *spec,
                                      const struct shmt_tuned *tuned,
                                      struct shmt_runtime_entry *out,
                                      struct shmt_error *err)
{
    int64_t *const problem =
        shmt_arena_alloc(arena, spec->dimension_count, sizeof *problem);
    shmt_config *const values =
        shmt_arena_alloc(arena, spec->parameter_count, sizeof *values);
    enum shmtune_status status;

    if (problem == NULL || values == NULL)
        return shmt_error_memory(err);
    status = shmt_tuning_problem(spec, tuned, problem, err);
    if (status != SHMTUNE_OK)
        return status;
    status = shmt_tuning_config(spec, tuned->settings, tuned->setting_count,
                                values, err);
    if (status != SHMTUNE_OK)
        return status;
    out->problem = problem;
    out->values = values;
    out->launches = &tuned->result.launches;
    if (!read_ties(arena, spec, tuned, out))
        return shmt_error_memory(err);
    out->resources = tuned->result.resources;
    out->time_us = tuned->result.time_us;
    out->default_us = tuned->default_us;
    return SHMTUNE_OK;
}

static enum shmtune_status check_entry(const struct shmt_kernel *spec,
                                       const struct shmt_runtime_tuning *tuning,
                                       struct shmt_runtime_entry *entry,
                                       struct shmt_error *err)
{
    struct shmt_kernel_evaluated evaluated;
    const struct shmt_fit_launches candidate = {
        &tuning->device, &evaluated, &entry->resources, entry->launches};
    enum shmtune_status status;

    shmt_kernel_evaluate(spec, entry->problem, entry->values, &evaluated);
    status = shmt_runtime_check(&candidate, err);
    if (status == SHMTUNE_OK)
        entry->log2_waves = log2(shmt_runtime_wave_efficiency(&candidate));
    return status;
}

static enum shmtune_status note_entry(struct shmtune *library,
                                      const struct shmt_runtime_tuning *tuning,
                                      const struct shmt_tuned *tuned,
                                      const struct shmt_error *err)
{
    struct shmt_text size = {0};
    enum shmtune_status status;

    for (size_t k = 0; k < tuned->size_count; k++) {
        shmt_text_addf(&size, "%s%s=", k > 0 ? " " : "", tuned->size[k].name);
        if (tuned->size[k].value.type == SHMT_VALUE_INT)
            shmt_text_addf(&size, "%lld",
                           (long long)tuned->size[k].value.i);
        else
            shmt_text_add(&size, "?");
    }
    status = shmt_catalogue_note(library->catalogue, "%s: the configuration "
                                 "for %s is left out: %s", tuning->file,
                                 shmt_text_string(&size), err->text);
    if (size.failed)
        status = SHMTUNE_NO_MEMORY;
    shmt_text_free(&size);
    return status;
}

/* What an entry takes that is kept, its share of the map included. */
static size_t bytes_of(const struct shmt_kernel *spec,
                       const struct shmt_runtime_entry *entry)
{
    const size_t configs = 1 + entry->tie_count;
    const size_t map = 4 * (sizeof(uint64_t) + sizeof(uint32_t));

    return sizeof *entry + map +
           sizeof(struct shmt_runtime_near) +
           spec->dimension_count * (sizeof *entry->problem +
                                    2 * sizeof(float)) +
           configs * spec->parameter_count * sizeof *entry->values +
           (entry->launches->count > 0 ? sizeof *entry->launches : 0);
}

/* Adds the valid entries, in memory that serves the next file again. */
static enum shmtune_status fill(struct shmtune *library,
                                const struct shmt_kernel *spec,
                                const struct shmt_tuning *parsed,
                                struct shmt_runtime_tuning *tuning)
{
    size_t refused = 0, bytes = 0, left_out, k = 0;
    enum shmtune_status status = SHMTUNE_OK;
    struct shmt_error err;

    tuning->entries = shmt_arena_alloc(library->scratch, parsed->tuned_count,
                                       sizeof *tuning->entries);
    if (tuning->entries == NULL)
        return SHMTUNE_NO_MEMORY;
    for (; k < parsed->tuned_count && status != SHMTUNE_NO_MEMORY; k++) {
        struct shmt_runtime_entry *entry =
            &tuning->entries[tuning->entry_count];

        status = read_entry(library->scratch, spec, parsed->tuned[k], entry,
                            &err);
        if (status == SHMTUNE_OK)
            status = check_entry(spec, tuning, entry, &err);
        if (status == SHMTUNE_OK &&
            (bytes += bytes_of(spec, entry)) >
            SHMT_RUNTIME_GROWTH * parsed->bytes)
            break;
        if (status == SHMTUNE_OK)
            tuning->entry_count++;
        else if (status != SHMTUNE_NO_MEMORY &&
                 refused++ < SHMT_RUNTIME_NOTES)
            status = note_entry(library, tuning, parsed->tuned[k], &err);
    }
    if (status != SHMTUNE_NO_MEMORY && refused > SHMT_RUNTIME_NOTES)
        status = shmt_catalogue_note(
            library->catalogue, "%s: %zu more configurations are left out; "
            "tune it again", tuning->file, refused - SHMT_RUNTIME_NOTES);
    left_out = parsed->tuned_count - k + parsed->left_out;
    if (status != SHMTUNE_NO_MEMORY && left_out > 0)
        status = shmt_catalogue_note(
            library->catalogue, "%s: its last %zu of %zu sizes are left out: "
            "with them it takes more than %d times the %zu bytes of the file; "
            "spread them over several files", tuning->file, left_out,
            parsed->tuned_count + parsed->left_out, SHMT_RUNTIME_GROWTH,
            parsed->bytes);
    return status == SHMTUNE_NO_MEMORY ? status : SHMTUNE_OK;
}

/* The memory of what is kept: one piece of each. */
struct pieces {
    int64_t *problems;
    shmt_config *configs;
    struct shmt_resources_of_launches *launches;
};

/* Allocates the pieces; false: there is no memory. */
static bool take_pieces(struct shmt_arena *arena,
                        const struct shmt_kernel *spec,
                        const struct shmt_runtime_tuning *tuning,
                        struct pieces *out)
{
    const size_t count = tuning->entry_count;
    size_t configs = count, launches = 0;

    for (size_t k = 0; k < count; k++) {
        configs += tuning->entries[k].tie_count;
        launches += tuning->entries[k].launches->count > 0;
    }
    out->problems = shmt_arena_alloc(
        arena, count * spec->dimension_count, sizeof *out->problems);
    out->configs = shmt_arena_alloc(
        arena, configs * spec->parameter_count, sizeof *out->configs);
    out->launches = shmt_arena_alloc(arena, launches, sizeof *out->launches);
    return out->problems != NULL && out->configs != NULL &&
           out->launches != NULL;
}

/* Copies what an entry points to, and moves the pieces on. */
static void move_entry(const struct shmt_kernel *spec,
                       struct shmt_runtime_entry *entry, struct pieces *to)
{
    static const struct shmt_resources_of_launches none;
    const size_t parameters = spec->parameter_count;
    const size_t ties = entry->tie_count * parameters;

    if (spec->dimension_count > 0)
        memcpy(to->problems, entry->problem,
               spec->dimension_count * sizeof *to->problems);
    if (parameters > 0)
        memcpy(to->configs, entry->values, parameters * sizeof *to->configs);
    if (ties > 0)
        memcpy(to->configs + parameters, entry->ties,
               ties * sizeof *to->configs);
    entry->problem = to->problems;
    entry->values = to->configs;
    entry->ties = to->configs + parameters;
    to->problems += spec->dimension_count;
    to->configs += parameters + ties;
    if (entry->launches->count == 0) {
        entry->launches = &none;
        return;
    }
    *to->launches = *entry->launches;
    entry->launches = to->launches++;
}

/* Makes the entries of the kernel's next tuning be found, all or none; false:
 * there is no memory. */
static bool add_places(struct shmtune_kernel *kernel,
                       const struct shmt_runtime_tuning *next)
{
    const size_t dimensions = kernel->spec->dimension_count;
    const uint32_t first = (uint32_t)kernel->tuning_count << ENTRY_BITS;
    uint32_t k = 0;

    while (k < next->entry_count &&
           shmt_map_add(&kernel->exact,
                        hash_of(next->entries[k].problem, dimensions),
                        first + k))
        k++;
    if (k == next->entry_count)
        return true;
    while (k-- > 0)
        shmt_map_remove(&kernel->exact,
                        hash_of(next->entries[k].problem, dimensions),
                        first + k);
    return false;
}

/* Copies a tuning to where the handle keeps it, in as much memory as it
 * needs. */
static enum shmtune_status keep(struct shmtune *library,
                                struct shmtune_kernel *kernel,
                                const struct shmt_runtime_tuning *filled)
{
    const struct shmt_kernel *spec = kernel->spec;
    const size_t count = filled->entry_count;
    struct shmt_runtime_tuning kept = *filled;
    struct pieces pieces;

    kept.file = shmt_arena_copy(library->arena, filled->file,
                                strlen(filled->file));
    kept.entries = shmt_arena_copy(library->arena, filled->entries,
                                   count * sizeof *kept.entries);
    if (kept.file == NULL || kept.entries == NULL ||
        !take_pieces(library->arena, spec, filled, &pieces) ||
        !shmt_array_reserve(&kernel->tunings, &kernel->tuning_room,
                            kernel->tuning_count + 1, sizeof kept))
        return SHMTUNE_NO_MEMORY;
    for (size_t k = 0; k < count; k++)
        move_entry(spec, &kept.entries[k], &pieces);
    if (!add_places(kernel, &kept))
        return SHMTUNE_NO_MEMORY;
    while (kept.twin < kernel->tuning_count &&
           !shmt_device_equal(&kernel->tunings[kept.twin].device,
                              &kept.device))
        kept.twin++;
    kernel->tunings[kernel->tuning_count++] = kept;
    return SHMTUNE_OK;
}

/* Checks that the tuning is for this kernel, has the digest of its current
 * sources, and names a device. */
static enum shmtune_status check_tuning(const struct shmt_kernel *spec,
                                        const struct shmt_tuning *parsed,
                                        struct shmt_error *err)
{
    if (strcmp(parsed->kernel, spec->name) != 0)
        return shmt_error_set(err, SHMTUNE_INVALID_FILE,
                              "is a tuning of the kernel %s, in the folder of "
                              "%s", parsed->kernel, spec->name);
    if (strcmp(parsed->digest, spec->digest) != 0)
        return shmt_error_set(
            err, SHMTUNE_INVALID_FILE,
            "is stale: made for sources with the digest %.12s..., those of %s "
            "have %.12s...; tune it again", parsed->digest, spec->path,
            spec->digest);
    if (parsed->device.compute_major < 1)
        return shmt_error_set(err, SHMTUNE_INVALID_FILE,
                              "names no compute capability");
    return SHMTUNE_OK;
}

/* A dispatch that cannot be used is left out; the sizes serve without it. */
static enum shmtune_status read_dispatch(struct shmtune *library,
                                         const struct shmt_kernel *spec,
                                         const struct shmt_tuning *parsed,
                                         struct shmt_runtime_tuning *tuning)
{
    struct shmt_error err;
    enum shmtune_status status;

    if (parsed->dispatch == NULL)
        return SHMTUNE_OK;
    status = shmt_runtime_dispatch_make(library->arena, spec, parsed,
                                        &tuning->dispatch, &err);
    return status == SHMTUNE_OK || status == SHMTUNE_NO_MEMORY
               ? status
               : shmt_catalogue_note(library->catalogue, "%s: its dispatch is "
                                     "left out: %s", tuning->file, err.text);
}

static enum shmtune_status add(struct shmtune *library,
                               struct shmtune_kernel *kernel,
                               const char *file)
{
    struct shmt_runtime_tuning tuning = {.file = file, .stride = 1};
    struct shmt_tuning *parsed = NULL;
    struct shmt_error err;
    enum shmtune_status status;

    status = shmt_tuning_read_into(library->scratch, file, &parsed, &err);
    /* What the reader says begins with the file's name. */
    if (status == SHMTUNE_NO_MEMORY)
        return status;
    if (status != SHMTUNE_OK)
        return shmt_catalogue_note(library->catalogue, "%s", err.text);
    status = check_tuning(kernel->spec, parsed, &err);
    if (status != SHMTUNE_OK)
        return shmt_catalogue_note(library->catalogue, "%s: %s", file,
                                   err.text);
    tuning.device = parsed->device;
    if (tuning.device.multiprocessors > 0)
        tuning.log2_multiprocessors = log2(tuning.device.multiprocessors);
    tuning.log2_memory_rate = shmt_runtime_log2_memory_rate(&tuning.device);
    status = fill(library, kernel->spec, parsed, &tuning);
    if (status == SHMTUNE_OK)
        status = read_dispatch(library, kernel->spec, parsed, &tuning);
    return status == SHMTUNE_OK && tuning.entry_count > 0
               ? keep(library, kernel, &tuning)
               : status;
}

enum shmtune_status shmt_runtime_tuning_add(struct shmtune *library,
                                            struct shmtune_kernel *kernel,
                                            const char *folder,
                                            const char *name)
{
    enum shmtune_status status = SHMTUNE_NO_MEMORY;
    const char *file;

    shmt_arena_clear(library->scratch);
    file = shmt_path_join(library->scratch, folder, name);
    if (file != NULL)
        status = add(library, kernel, file);
    /* A file must not keep an application from starting. */
    return status != SHMTUNE_NO_MEMORY
               ? status
               : shmt_catalogue_note(library->catalogue, "%s/%s: left out: "
                                     "out of memory; give the process more, "
                                     "or remove the file", folder, name);
}

/* How many entries of a compute capability there are with a stride. */
static size_t count_entries(const struct shmtune_kernel *kernel,
                            const struct shmtune_device *device, size_t stride)
{
    size_t count = 0;

    for (size_t k = 0; k < kernel->tuning_count; k++)
        if (shmt_device_same_capability(&kernel->tunings[k].device, device))
            count += (kernel->tunings[k].entry_count + stride - 1) / stride;
    return count;
}

/* Counts the entries of each tuning that count; returns how many coordinates
 * they have. */
static size_t count_near(struct shmtune_kernel *kernel, size_t *near_count)
{
    size_t places = 0;

    *near_count = 0;
    for (size_t k = 0; k < kernel->tuning_count; k++) {
        struct shmt_runtime_tuning *const tuning = &kernel->tunings[k];
        size_t *const room = &tuning->near_room;

        tuning->near_first = *near_count;
        tuning->near_count =
            (tuning->entry_count + tuning->stride - 1) / tuning->stride;
        *room = tuning->near_count + SHMT_RUNTIME_BLOCK - 1;
        *room -= *room % SHMT_RUNTIME_BLOCK;
        *near_count += tuning->near_count;
        places += 2 * kernel->spec->dimension_count * *room;
    }
    return places;
}

/* Puts what a selection looks at of every entry that counts side by side.
 * False: there is no memory. */
static bool place_near(struct shmt_arena *arena, struct shmtune_kernel *kernel)
{
    const size_t dimensions = kernel->spec->dimension_count;
    size_t near_count;
    const size_t place_count = count_near(kernel, &near_count);
    struct shmt_runtime_near *const near =
        shmt_arena_alloc(arena, near_count, sizeof *near);
    float *places = shmt_arena_alloc(arena, place_count, sizeof *places);

    if (near == NULL || places == NULL)
        return false;
    memset(places, 0, place_count * sizeof *places);
    for (size_t k = 0; k < kernel->tuning_count; k++) {
        struct shmt_runtime_tuning *const tuning = &kernel->tunings[k];

        for (size_t n = 0; n < tuning->near_count; n++) {
            const size_t entry = n * tuning->stride;

            near[tuning->near_first + n] = (struct shmt_runtime_near){
                (uint32_t)k, (uint32_t)entry};
            shmt_runtime_place(tuning->entries[entry].problem, dimensions,
                               tuning->near_room, places + n);
        }
        tuning->places = places;
        places += 2 * dimensions * tuning->near_room;
    }
    kernel->near = near;
    return true;
}

/* Every tuning has at least one entry that counts, and there are so few
 * tunings that a stride is always found. */
enum shmtune_status shmt_runtime_tunings_thin(struct shmtune *library,
                                              struct shmtune_kernel *kernel)
{
    enum shmtune_status status = SHMTUNE_OK;

    for (size_t k = 0; status == SHMTUNE_OK && k < kernel->tuning_count; k++) {
        struct shmt_runtime_tuning *tuning = &kernel->tunings[k];
        const struct shmtune_device *device = &tuning->device;
        bool first = true;

        for (size_t other = 0; other < k; other++)
            if (shmt_device_same_capability(&kernel->tunings[other].device,
                                            device)) {
                tuning->stride = kernel->tunings[other].stride;
                first = false;
            }
        while (first && count_entries(kernel, device, tuning->stride) >
                            SHMT_RUNTIME_NEAREST)
            tuning->stride += tuning->stride / 8 + 1;
        if (first && tuning->stride > 1)
            status = shmt_catalogue_note(
                library->catalogue, "%s and the files behind it: the kernel "
                "%s has %zu tuned sizes for compute capability %d.%d; all are "
                "found exactly, but the nearest is looked for in every %zu. "
                "of each file, among %d at most; tune fewer sizes to "
                "have all of them looked at", tuning->file,
                kernel->spec->name, count_entries(kernel, device, 1),
                device->compute_major, device->compute_minor, tuning->stride,
                SHMT_RUNTIME_NEAREST);
    }
    return status == SHMTUNE_OK && !place_near(library->arena, kernel)
               ? SHMTUNE_NO_MEMORY : status;
}
