/* SPDX-License-Identifier: MIT */
/*
 * shelf: one tuning file made ready for selection.  Everything that a tuning
 * claims is checked here, once, so that an exact hit has nothing to check.
 */
#include <math.h>
#include <string.h>

#include "record/record.h"
#include "runtime/admit.h"
#include "runtime/alike.h"
#include "runtime/library.h"
#include "runtime/filling.h"

_Static_assert((int)SHMTUNE_DIMENSIONS == (int)SHMT_KERNEL_DIMENSIONS,
               "the public limit is the private one");

const struct shmt_shelf_entry *shmt_shelf_find(const struct shmt_shelf *shelf,
                                         const int64_t *problem,
                                         size_t dimensions)
{
    size_t slot = shmt_shelf_hash(problem, dimensions) & shelf->mask;

    while (shelf->slots[slot] != 0) {
        const struct shmt_shelf_entry *entry =
            &shelf->entries[shelf->slots[slot] - 1];
        size_t k = 0;

        while (k < dimensions && entry->problem[k] == problem[k])
            k++;
        if (k == dimensions)
            return entry;
        slot = (slot + 1) & shelf->mask;
    }
    return NULL;
}

/* The table has at least twice as many slots as entries. */
static bool index_entries(struct shmt_arena *arena, struct shmt_shelf *shelf,
                          size_t dimensions)
{
    size_t slots = 4;

    while (slots < 2 * shelf->entry_count)
        slots *= 2;
    shelf->slots = shmt_arena_alloc(arena, slots, sizeof *shelf->slots);
    if (shelf->slots == NULL)
        return false;
    shelf->mask = slots - 1;
    for (size_t k = 0; k < shelf->entry_count; k++) {
        size_t slot = shmt_shelf_hash(shelf->entries[k].problem, dimensions) &
                      shelf->mask;

        while (shelf->slots[slot] != 0)
            slot = (slot + 1) & shelf->mask;
        shelf->slots[slot] = (uint32_t)k + 1;
    }
    return true;
}

/* Those that are of the space; nobody has to know of others. */
static bool read_ties(struct shmt_arena *arena,
                      const struct shmt_kernel *spec,
                      const struct shmt_tuned *tuned,
                      struct shmt_shelf_entry *out)
{
    shmt_choice *const ties = shmt_arena_alloc(
        arena, tuned->tie_count * spec->parameter_count, sizeof *ties);

    if (ties == NULL)
        return false;
    out->ties = ties;
    out->tie_count = shmt_tuning_ties(spec, tuned, out->values, ties);
    return true;
}

/* Mostly there is but one, and nothing to keep. */
static bool read_launches(struct shmt_arena *arena,
                          const struct shmt_launch_resources *tuned,
                          struct shmt_shelf_entry *out)
{
    static const struct shmt_launch_resources none;
    struct shmt_launch_resources *copy = NULL;

    if (tuned->count > 0)
        copy = shmt_arena_room(arena, sizeof *copy);
    if (copy != NULL)
        *copy = *tuned;
    out->launches = tuned->count > 0 ? copy : &none;
    return out->launches != NULL;
}

/* What fits the kernel of one tuned problem, as an entry. */
static enum shmtune_status read_entry(struct shmt_arena *arena,
                                      const struct shmt_kernel *spec,
                                      const struct shmt_tuned *tuned,
                                      struct shmt_shelf_entry *out,
                                      struct shmt_error *err)
{
    shmt_choice *values;
    enum shmtune_status status =
        shmt_tuning_problem(spec, tuned, out->problem, err);

    if (status == SHMTUNE_OK)
        status = shmt_admit_problem(spec, out->problem, err);
    if (status != SHMTUNE_OK)
        return status;
    values = shmt_arena_alloc(arena, spec->parameter_count, sizeof *values);
    if (values == NULL)
        return shmt_error_memory(err);
    status = shmt_tuning_choice(spec, tuned->settings, tuned->setting_count,
                                values, err);
    if (status != SHMTUNE_OK)
        return status;
    if (tuned->result.verdict != SHMT_VERDICT_OK)
        return shmt_error_set(err, SHMTUNE_INVALID_FILE,
                              "the winner's verdict is \"%s\"",
                              shmt_verdict_word(tuned->result.verdict));
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
                                       const struct shmt_shelf *shelf,
                                       struct shmt_shelf_entry *entry,
                                       struct shmt_error *err)
{
    struct shmt_kernel_evaluated evaluated;
    const struct shmt_candidate candidate = {
        .evaluated = &evaluated, .resources = &entry->resources,
        .launches = entry->launches};
    enum shmtune_status status;

    for (size_t k = 0; k < shelf->entry_count; k++)
        if (memcmp(shelf->entries[k].problem, entry->problem,
                   spec->dimension_count * sizeof *entry->problem) == 0)
            return shmt_error_set(err, SHMTUNE_INVALID_FILE,
                                  "this problem is in the file twice");
    shmt_kernel_evaluate(spec, entry->problem, entry->values, &evaluated);
    status = shmt_admit_check(&shelf->device, &candidate, err);
    if (status == SHMTUNE_OK)
        entry->log2_filling = log2(shmt_filling(&shelf->device, &candidate));
    return status;
}

static enum shmtune_status note_entry(struct shmtune *library,
                                      const struct shmt_shelf *shelf,
                                      const struct shmt_tuned *tuned,
                                      const struct shmt_error *err)
{
    struct shmt_text size = {0};
    enum shmtune_status status;

    for (size_t k = 0; k < tuned->size_count; k++) {
        shmt_text_addf(&size, "%s%s=", k > 0 ? " " : "", tuned->size[k].name);
        if (tuned->size[k].value.type == SHMT_INT)
            shmt_text_addf(&size, "%lld",
                           (long long)tuned->size[k].value.i);
        else
            shmt_text_add(&size, "?");
    }
    status = shmt_catalogue_note(library->catalogue, "%s: the configuration "
                                 "for %s is left out: %s", shelf->file,
                                 shmt_text_string(&size), err->text);
    if (size.failed)
        status = SHMTUNE_NO_MEMORY;
    shmt_text_free(&size);
    return status;
}

static enum shmtune_status fill(struct shmtune *library,
                                const struct shmt_kernel *spec,
                                const struct shmt_tuning *tuning,
                                struct shmt_shelf *shelf)
{
    shelf->entries = shmt_arena_alloc(library->arena, tuning->tuned_count,
                                      sizeof *shelf->entries);
    if (shelf->entries == NULL)
        return SHMTUNE_NO_MEMORY;
    for (size_t k = 0; k < tuning->tuned_count; k++) {
        struct shmt_shelf_entry *entry = &shelf->entries[shelf->entry_count];
        struct shmt_error err;
        enum shmtune_status status = read_entry(
            library->arena, spec, tuning->tuned[k], entry, &err);

        if (status == SHMTUNE_OK)
            status = check_entry(spec, shelf, entry, &err);
        if (status == SHMTUNE_OK)
            shelf->entry_count++;
        else if (status == SHMTUNE_NO_MEMORY)
            return status;
        else if (note_entry(library, shelf, tuning->tuned[k], &err) !=
                 SHMTUNE_OK)
            return SHMTUNE_NO_MEMORY;
    }
    return index_entries(library->arena, shelf, spec->dimension_count)
               ? SHMTUNE_OK
               : SHMTUNE_NO_MEMORY;
}

/* Shelves are few: the array is copied for each one more. */
static enum shmtune_status append(struct shmtune *library,
                                  struct shmtune_kernel *kernel,
                                  const struct shmt_shelf *shelf)
{
    struct shmt_shelf *shelves = shmt_arena_alloc(
        library->arena, kernel->shelf_count + 1, sizeof *shelves);

    if (shelves == NULL)
        return SHMTUNE_NO_MEMORY;
    if (kernel->shelf_count > 0)
        memcpy(shelves, kernel->shelves,
               kernel->shelf_count * sizeof *shelves);
    shelves[kernel->shelf_count++] = *shelf;
    kernel->shelves = shelves;
    return SHMTUNE_OK;
}

/* Made for this kernel as it is now, and for a device. */
static enum shmtune_status check_tuning(const struct shmt_kernel *spec,
                                        const struct shmt_tuning *tuning,
                                        struct shmt_error *err)
{
    if (strcmp(tuning->kernel, spec->name) != 0)
        return shmt_error_set(err, SHMTUNE_INVALID_FILE,
                              "is a tuning of the kernel %s, in the folder of "
                              "%s", tuning->kernel, spec->name);
    if (strcmp(tuning->digest, spec->digest) != 0)
        return shmt_error_set(
            err, SHMTUNE_INVALID_FILE,
            "is stale: made for sources with the digest %.12s..., those of %s "
            "have %.12s...; tune it again", tuning->digest, spec->path,
            spec->digest);
    if (tuning->device.compute_major < 1)
        return shmt_error_set(err, SHMTUNE_INVALID_FILE,
                              "names no compute capability");
    return SHMTUNE_OK;
}

enum shmtune_status shmt_shelf_add(struct shmtune *library,
                                   struct shmtune_kernel *kernel,
                                   const char *file)
{
    struct shmt_shelf shelf = {.file = file};
    struct shmt_tuning *tuning = NULL;
    struct shmt_error err;
    enum shmtune_status status;

    shmt_arena_clear(library->scratch);
    status = shmt_tuning_read_into(library->scratch, file, &tuning, &err);
    /* What the reader says begins with the file's name. */
    if (status == SHMTUNE_NO_MEMORY)
        return status;
    if (status != SHMTUNE_OK)
        return shmt_catalogue_note(library->catalogue, "%s", err.text);
    status = check_tuning(kernel->spec, tuning, &err);
    if (status != SHMTUNE_OK)
        return shmt_catalogue_note(library->catalogue, "%s: %s", file,
                                   err.text);
    shelf.device = tuning->device;
    if (shelf.device.multiprocessors > 0)
        shelf.log2_multiprocessors = log2(shelf.device.multiprocessors);
    shelf.log2_memory_rate = shmt_memory_rate(&shelf.device);
    status = fill(library, kernel->spec, tuning, &shelf);
    if (status == SHMTUNE_OK && shelf.entry_count > 0)
        status = append(library, kernel, &shelf);
    return status;
}
