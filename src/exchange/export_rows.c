/* SPDX-License-Identifier: MIT */
/*
 * export_rows: reads the tunings of one kernel into rows, each checked as the
 * library does when it opens them: the configuration is one of the kernel, its
 * constraints hold at its size, its launches fit its device.  Called by
 * command/.
 */
#include "exchange/export_rows.h"

#include <math.h>
#include <stdlib.h>

enum shmtune_status shmt_export_rows_new(const struct shmt_kernel *kernel,
                                         struct shmt_export_rows **out,
                                         struct shmt_error *err)
{
    struct shmt_export_rows *const rows = calloc(1, sizeof *rows);
    shmt_config *usual;

    if (rows == NULL)
        return shmt_error_memory(err);
    rows->kernel = kernel;
    rows->arena = shmt_arena_new();
    usual = rows->arena == NULL
                ? NULL
                : shmt_arena_alloc(rows->arena, kernel->parameter_count + 1,
                                   sizeof *usual);
    if (usual == NULL ||
        !shmt_array_reserve(&rows->configs, &rows->config_room, 1,
                            sizeof *rows->configs)) {
        shmt_export_rows_free(rows);
        return shmt_error_memory(err);
    }
    shmt_kernel_default(kernel, usual);
    rows->configs[rows->config_count++] = usual;
    *out = rows;
    return SHMTUNE_OK;
}

void shmt_export_rows_free(struct shmt_export_rows *rows)
{
    if (rows == NULL)
        return;
    shmt_arena_free(rows->arena);
    free(rows->configs);
    free(rows->rows);
    free(rows->tries);
    shmt_text_free(&rows->trees);
    shmt_text_free(&rows->choices);
    free(rows);
}

size_t shmt_export_rows_count(const struct shmt_export_rows *rows)
{
    return rows->row_count;
}

size_t shmt_export_rows_left_out(const struct shmt_export_rows *rows)
{
    return rows->left_out;
}

/* The same steps as shmtuned_log2 in the header, so that equal shares are
 * equal numbers: a bit is 1 where the square of what is left is 2 or more. */
int64_t shmt_export_log2(uint64_t number)
{
    int64_t out = 0;

    if (number < 1)
        return 0;
    while (number >= UINT64_C(1) << 32) {
        number >>= 1;
        out += SHMT_EXPORT_UNIT;
    }
    out += 31 * (int64_t)SHMT_EXPORT_UNIT;
    while (number < UINT64_C(1) << 31) {
        number <<= 1;
        out -= SHMT_EXPORT_UNIT;
    }
    for (int64_t bit = SHMT_EXPORT_UNIT / 2; bit > 0; bit /= 2) {
        number = number * number >> 31;
        if (number >= UINT64_C(1) << 32) {
            number >>= 1;
            out += bit;
        }
    }
    return out;
}

int shmt_export_arch(const struct shmtune_device *device)
{
    return 10 * device->compute_major + device->compute_minor;
}

void shmt_export_add_string(struct shmt_text *text, const char *string)
{
    for (; *string != '\0'; string++) {
        const unsigned char c = (unsigned char)*string;

        if (c == '"' || c == '\\' || c == '?')
            shmt_text_addf(text, "\\%c", c);
        else if (c < 0x20 || c >= 0x7f)
            shmt_text_addf(text, "\\%03o", c);
        else
            shmt_text_add_bytes(text, string, 1);
    }
}

size_t shmt_export_config(struct shmt_export_rows *rows,
                          const shmt_config *config)
{
    const size_t bytes = rows->kernel->parameter_count * sizeof *config;
    const shmt_config *copy;

    for (size_t k = 0; k < rows->config_count; k++)
        if (memcmp(rows->configs[k], config, bytes) == 0)
            return k;
    copy = shmt_arena_copy(rows->arena, config, bytes);
    if (copy == NULL ||
        !shmt_array_reserve(&rows->configs, &rows->config_room,
                            rows->config_count + 1, sizeof *rows->configs))
        return SIZE_MAX;
    rows->configs[rows->config_count] = copy;
    return rows->config_count++;
}

/* log2 of the share of a device that its blocks fill. */
static int64_t share_of(const struct shmt_fit_waves *waves,
                        const struct shmtune_device *device)
{
    const uint64_t blocks = (uint64_t)fmin(waves->blocks, 1e15);
    const uint64_t places =
        (uint64_t)waves->resident * (uint64_t)device->multiprocessors;

    return shmt_export_log2(blocks) - shmt_export_log2(places) -
           shmt_export_log2(blocks / places + (blocks % places != 0));
}

/* How many would be resident if the shared memory that the spec states limited
 * nothing: how much it is depends on the size. */
static int resident_without(const struct shmt_fit_launches *ask, int resident)
{
    struct shmt_geometry *const launches = ask->evaluated->geometry;
    struct shmt_fit_waves waves;

    for (size_t k = 0; k < ask->evaluated->launch_count; k++) {
        if ((ask->evaluated->launched >> k & 1) == 0)
            continue;
        launches[k].shared_dynamic = 0;
        if (launches[k].shared_static > 0)
            launches[k].shared_static = 0;
    }
    return shmt_fit_waves(ask, &waves) ? waves.resident : resident;
}

/* Adds one configuration of a row: what the blocks of its launches fill there,
 * where that is known. */
static enum shmtune_status add_try(struct shmt_export_rows *rows,
                                   const struct shmt_fit_launches *ask,
                                   const shmt_config *config,
                                   struct shmt_error *err)
{
    struct shmt_export_try made = {.row = rows->row_count};
    struct shmt_fit_waves waves;

    if (ask->device->multiprocessors > 0 && shmt_fit_waves(ask, &waves)) {
        made.share = share_of(&waves, ask->device);
        made.resident = resident_without(ask, waves.resident);
    }
    made.config = shmt_export_config(rows, config);
    if (made.config == SIZE_MAX ||
        !shmt_array_reserve(&rows->tries, &rows->try_room, rows->try_count + 1,
                            sizeof made))
        return shmt_error_memory(err);
    rows->tries[rows->try_count++] = made;
    return SHMTUNE_OK;
}

/* Adds the winner of a row, if it runs where it was measured, and its ties.
 * How many blocks of a tie are resident is told by what the winner takes; it is
 * another binary, so whether it fits is not. */
static enum shmtune_status add_tries(struct shmt_export_rows *rows,
                                     const struct shmt_export_row *row,
                                     const struct shmt_tuned *tuned,
                                     const shmt_config *winner, bool *runs,
                                     struct shmt_error *err)
{
    const struct shmt_kernel *const kernel = rows->kernel;
    shmt_config ties[SHMT_TUNING_TRIED * SHMT_SPACE_PARAMETERS];
    struct shmt_kernel_evaluated evaluated;
    const struct shmt_fit_launches ask = {&rows->devices[row->device],
                                          &evaluated, &tuned->result.resources,
                                          &tuned->result.launches};
    enum shmtune_status status = SHMTUNE_OK;
    struct shmt_fit fit;
    size_t count;

    shmt_kernel_evaluate(kernel, row->problem, winner, &evaluated);
    *runs = shmt_kernel_allows(&evaluated) &&
            shmt_kernel_evaluate_launches(&evaluated, NULL) == SHMTUNE_OK &&
            shmt_fit_launches(&ask, &fit);
    if (!*runs)
        return SHMTUNE_OK;
    status = add_try(rows, &ask, winner, err);
    count = shmt_tuning_ties(kernel, tuned, row->problem, winner, ties);
    for (size_t k = 0; k < count && status == SHMTUNE_OK; k++) {
        const shmt_config *const tie = ties + k * kernel->parameter_count;

        shmt_kernel_evaluate(kernel, row->problem, tie, &evaluated);
        status = add_try(rows, &ask, tie, err);
    }
    return status;
}

/* One size; one that does not fit the kernel is counted as left out. */
static enum shmtune_status add_row(struct shmt_export_rows *rows,
                                   const struct shmt_tuned *tuned,
                                   size_t device, const char *file,
                                   struct shmt_error *err)
{
    const struct shmt_kernel *const kernel = rows->kernel;
    int64_t *const problem = shmt_arena_alloc(
        rows->arena, kernel->dimension_count + 1, sizeof *problem);
    shmt_config config[SHMT_SPACE_PARAMETERS];
    struct shmt_export_row row = {.device = device, .problem = problem,
                                  .time_us = tuned->result.time_us,
                                  .file = file};
    enum shmtune_status status;
    size_t first;
    bool runs = false;

    if (problem == NULL ||
        !shmt_array_reserve(&rows->rows, &rows->row_room, rows->row_count + 1,
                            sizeof row))
        return shmt_error_memory(err);
    if (shmt_tuning_problem(kernel, tuned, problem, NULL) != SHMTUNE_OK ||
        shmt_tuning_config(kernel, tuned->settings, tuned->setting_count,
                           config, NULL) != SHMTUNE_OK) {
        rows->left_out++;
        return SHMTUNE_OK;
    }
    if (rows->row_count == SHMT_EXPORT_ROWS)
        return shmt_error_set(err, SHMTUNE_INVALID_FILE,
                              "%s: with it there are more than the %d tuned "
                              "sizes that a file can have; name fewer "
                              "tunings", file, SHMT_EXPORT_ROWS);
    first = rows->try_count;
    status = add_tries(rows, &row, tuned, config, &runs, err);
    if (status != SHMTUNE_OK || !runs) {
        rows->left_out += !runs;
        return status;
    }
    row.config = rows->tries[first].config;
    rows->rows[rows->row_count++] = row;
    return SHMTUNE_OK;
}

static enum shmtune_status check(const struct shmt_export_rows *rows,
                                 const struct shmt_tuning *tuning,
                                 const char *file, struct shmt_error *err)
{
    const struct shmt_kernel *const kernel = rows->kernel;

    if (strcmp(tuning->kernel, kernel->name) != 0)
        return shmt_error_set(err, SHMTUNE_INVALID_FILE,
                              "%s: is a tuning of the kernel %.64s, not of "
                              "%s; a file has one kernel", file,
                              tuning->kernel, kernel->name);
    if (strcmp(tuning->digest, kernel->digest) != 0)
        return shmt_error_set(
            err, SHMTUNE_INVALID_FILE,
            "%s: is stale: made for sources with the digest %.12s..., those "
            "of %s have %.12s...; tune it again", file, tuning->digest,
            kernel->path, kernel->digest);
    if (tuning->device.compute_major < 1)
        return shmt_error_set(err, SHMTUNE_INVALID_FILE,
                              "%s: names no compute capability", file);
    return SHMTUNE_OK;
}

enum shmtune_status shmt_export_rows_add(struct shmt_export_rows *rows,
                                         const struct shmt_tuning *tuning,
                                         const char *file,
                                         struct shmt_error *err)
{
    enum shmtune_status status = check(rows, tuning, file, err);
    const char *const copy =
        shmt_arena_copy(rows->arena, file, strlen(file));
    const size_t before = rows->row_count;
    size_t device = 0;

    if (status != SHMTUNE_OK)
        return status;
    if (copy == NULL)
        return shmt_error_memory(err);
    while (device < rows->device_count &&
           !shmt_device_equal(&rows->devices[device], &tuning->device))
        device++;
    if (device == SHMT_EXPORT_TUNINGS)
        return shmt_error_set(err, SHMTUNE_INVALID_FILE,
                              "%s: is of a device more than the %d that a "
                              "file can have; name fewer tunings", file,
                              SHMT_EXPORT_TUNINGS);
    if (device == rows->device_count)
        rows->devices[rows->device_count++] = tuning->device;
    for (size_t k = 0; k < tuning->tuned_count && status == SHMTUNE_OK; k++)
        status = add_row(rows, tuning->tuned[k], device, copy, err);
    if (status == SHMTUNE_OK && tuning->dispatch != NULL &&
        rows->row_count > before)
        status = shmt_export_learnt(rows, tuning->dispatch, device, err);
    return status;
}
