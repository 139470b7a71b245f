/* SPDX-License-Identifier: MIT */
/*
 * tunings: prepares a tuning file for selection.  Everything in it is checked
 * here once, so that an exact match needs no checks.
 */
#include <math.h>
#include <string.h>

#include "record/record.h"
#include "runtime/check.h"
#include "runtime/library.h"

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

const struct shmt_runtime_entry *
shmt_runtime_tuning_find(const struct shmt_runtime_tuning *tuning,
                         const int64_t *problem, size_t dimensions)
{
    const uint64_t key = hash_of(problem, dimensions);
    size_t probe = 0;
    uint32_t at;

    while ((at = shmt_map_next(&tuning->places, key, &probe)) !=
           SHMT_MAP_NONE)
        if (memcmp(tuning->entries[at].problem, problem,
                   dimensions * sizeof *problem) == 0)
            return &tuning->entries[at];
    return NULL;
}

/* Keeps the ties that are configurations of the kernel; others are dropped
 * without a note. */
static bool read_ties(struct shmt_arena *arena,
                      const struct shmt_kernel *spec,
                      const struct shmt_tuned *tuned,
                      struct shmt_runtime_entry *out)
{
    shmt_config *const ties = shmt_arena_alloc(
        arena, tuned->tie_count * spec->parameter_count, sizeof *ties);

    if (ties == NULL)
        return false;
    out->ties = ties;
    out->tie_count = shmt_tuning_ties(spec, tuned, out->values, ties);
    return true;
}

/* Keeps the resources of each launch, if there are several. */
static bool read_launches(struct shmt_arena *arena,
                          const struct shmt_resources_of_launches *tuned,
                          struct shmt_runtime_entry *out)
{
    static const struct shmt_resources_of_launches none;
    struct shmt_resources_of_launches *copy = NULL;

    if (tuned->count > 0)
        copy = shmt_arena_alloc_raw(arena, sizeof *copy);
    if (copy != NULL)
        *copy = *tuned;
    out->launches = tuned->count > 0 ? copy : &none;
    return out->launches != NULL;
}

/* Makes an entry of a tuned problem, if it fits the kernel.  The reader has
 * refused a winner that is not ok, and a problem that is there twice. */
static enum shmtune_status read_entry(struct shmt_arena *arena,
                                      const struct shmt_kernel *spec,
                                      const struct shmt_tuned *tuned,
                                      struct shmt_runtime_entry *out,
                                      struct shmt_error *err)
{
    shmt_config *values;
    enum shmtune_status status =
        shmt_tuning_problem(spec, tuned, out->problem, err);

    if (status != SHMTUNE_OK)
        return status;
    values = shmt_arena_alloc(arena, spec->parameter_count, sizeof *values);
    if (values == NULL)
        return shmt_error_memory(err);
    status = shmt_tuning_config(spec, tuned->settings, tuned->setting_count,
                                values, err);
    if (status != SHMTUNE_OK)
        return status;
    for (size_t k = 0; k < spec->dimension_count; k++)
        out->log2[k] =
            log2(out->problem[k] > 1 ? (double)out->problem[k] : 1.0);
    out->values = values;
    if (!read_ties(arena, spec, tuned, out) ||
        !read_launches(arena, &tuned->result.launches, out))
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

static enum shmtune_status fill(struct shmtune *library,
                                const struct shmt_kernel *spec,
                                const struct shmt_tuning *parsed,
                                struct shmt_runtime_tuning *tuning)
{
    tuning->entries = shmt_arena_alloc(library->arena, parsed->tuned_count,
                                       sizeof *tuning->entries);
    if (tuning->entries == NULL)
        return SHMTUNE_NO_MEMORY;
    for (size_t k = 0; k < parsed->tuned_count; k++) {
        struct shmt_runtime_entry *entry =
            &tuning->entries[tuning->entry_count];
        struct shmt_error err;
        enum shmtune_status status = read_entry(
            library->arena, spec, parsed->tuned[k], entry, &err);

        if (status == SHMTUNE_OK)
            status = check_entry(spec, tuning, entry, &err);
        if (status == SHMTUNE_OK &&
            !shmt_map_add(&tuning->places,
                          hash_of(entry->problem, spec->dimension_count),
                          (uint32_t)tuning->entry_count++))
            status = SHMTUNE_NO_MEMORY;
        if (status == SHMTUNE_OK)
            continue;
        if (status == SHMTUNE_NO_MEMORY)
            return status;
        if (note_entry(library, tuning, parsed->tuned[k], &err) != SHMTUNE_OK)
            return SHMTUNE_NO_MEMORY;
    }
    return SHMTUNE_OK;
}

/* There are few tunings, so the array is copied for each new one. */
static enum shmtune_status append(struct shmtune *library,
                                  struct shmtune_kernel *kernel,
                                  const struct shmt_runtime_tuning *tuning)
{
    struct shmt_runtime_tuning *tunings = shmt_arena_alloc(
        library->arena, kernel->tuning_count + 1, sizeof *tunings);

    if (tunings == NULL)
        return SHMTUNE_NO_MEMORY;
    if (kernel->tuning_count > 0)
        memcpy(tunings, kernel->tunings,
               kernel->tuning_count * sizeof *tunings);
    tunings[kernel->tuning_count++] = *tuning;
    kernel->tunings = tunings;
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

enum shmtune_status shmt_runtime_tuning_add(struct shmtune *library,
                                            struct shmtune_kernel *kernel,
                                            const char *file)
{
    struct shmt_runtime_tuning tuning = {.file = file};
    struct shmt_tuning *parsed = NULL;
    struct shmt_error err;
    enum shmtune_status status;

    shmt_arena_clear(library->scratch);
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
    if (status == SHMTUNE_OK && tuning.entry_count > 0)
        status = append(library, kernel, &tuning);
    if (status != SHMTUNE_OK || tuning.entry_count == 0)
        shmt_map_free(&tuning.places);
    return status;
}
