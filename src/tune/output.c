/* SPDX-License-Identifier: MIT */
/*
 * output: checks and creates the output folder, and adds a winner to the
 * tuning file under a lock, so that several runs can write to one tuning.
 * Called by command/tune.c.
 */
#include "tune/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "base/base.h"
#include "device/device.h"
#include "record/record.h"

static void add_folder(const struct shmt_target *target, const char *output,
                       struct shmt_text *text)
{
    shmt_text_addf(text, "%s/%s", output, target->kernel->name);
}

/* The common beginning of the names of a device's files. */
static void add_stem(const struct shmt_target *target, const char *output,
                     struct shmt_text *text)
{
    char slug[128];

    shmt_device_slug(&target->device, slug);
    add_folder(target, output, text);
    shmt_text_addf(text, "/%s", slug);
}

enum shmtune_status
shmt_output_paths_of(struct shmt_arena *arena, const struct shmt_target *target,
                     const char *output, const int64_t *problem,
                     struct shmt_output_paths *out, struct shmt_error *err)
{
    struct shmt_output_paths place;
    struct shmt_text text = {0};
    enum shmtune_status status = SHMTUNE_OK;

    add_folder(target, output, &text);
    place.folder = shmt_text_keep(&text, arena);
    add_stem(target, output, &text);
    shmt_text_add(&text, ".yaml");
    place.tuning = shmt_text_keep(&text, arena);
    add_stem(target, output, &text);
    shmt_text_add(&text, ".");
    shmt_recording_problem_slug(target->kernel, problem, &text);
    shmt_text_add(&text, ".journal");
    place.journal = shmt_text_keep(&text, arena);
    if (place.journal != NULL)
        shmt_text_addf(&text, "%s.gz", place.journal);
    place.recording = shmt_text_keep(&text, arena);
    if (place.folder == NULL || place.tuning == NULL ||
        place.journal == NULL || place.recording == NULL)
        status = shmt_error_memory(err);
    if (status == SHMTUNE_OK)
        *out = place;
    return status;
}

/* -- before anything is measured ------------------------------------------ */

enum shmtune_status shmt_output_make_folder(const struct shmt_target *target,
                                            const char *output,
                                            const char *option,
                                            struct shmt_error *err)
{
    struct shmt_error why = {0};
    struct shmt_text folder = {0};
    enum shmtune_status status = SHMTUNE_OK;

    add_folder(target, output, &folder);
    if (folder.failed)
        status = shmt_error_memory(&why);
    else
        status = shmt_path_make_folder(shmt_text_string(&folder), 0777, &why);
    if (status == SHMTUNE_OK &&
        access(shmt_text_string(&folder), W_OK | X_OK) != 0)
        status = shmt_error_set(&why, SHMTUNE_STORAGE,
                                "%s: no file can be made in this folder: %s",
                                shmt_text_string(&folder), strerror(errno));
    /* The path leads through a file. */
    if (status == SHMTUNE_NOT_FOUND)
        status = SHMTUNE_STORAGE;
    shmt_text_free(&folder);
    return status == SHMTUNE_OK
               ? status
               : shmt_error_set(err, status, "%.900s; name another with %s "
                                "DIR", why.text, option);
}

static enum shmtune_status refuse_file(const struct shmt_error *why,
                                       struct shmt_error *err)
{
    if (why->status == SHMTUNE_NO_MEMORY)
        return shmt_error_memory(err);
    return shmt_error_set(err, why->status, "%s%.800s; move it away, or name "
                          "another folder with --output DIR",
                          why->status == SHMTUNE_INVALID_FILE
                              ? "the tuning cannot be added to the file "
                                "that is there: "
                              : "", why->text);
}

/* Names that differ in signs alone, or one name of two models, make one name
 * of files; the winners of neither may take the place of the other's. */
static enum shmtune_status refuse_other(const struct shmt_tuning *tuning,
                                        const struct shmt_target *target,
                                        const char *path,
                                        struct shmt_error *err)
{
    const struct shmtune_device *const there = &tuning->device;
    const struct shmtune_device *const here = &target->device;

    if (shmt_device_matches(there, here) || shmt_device_matches(here, there))
        return SHMTUNE_OK;
    return shmt_error_set(err, SHMTUNE_STORAGE, "%s: is the tuning of another "
                          "device: \"%s\" with %d multiprocessors; here it "
                          "is \"%s\" with %d, and the names of their files "
                          "are the same; name another folder with --output "
                          "DIR", path, there->name,
                          there->multiprocessors, here->name,
                          here->multiprocessors);
}

enum shmtune_status shmt_output_check_tuning(const struct shmt_target *target,
                                             const char *output,
                                             struct shmt_error *err)
{
    struct shmt_tuning *tuning = NULL;
    struct shmt_error why = {0};
    struct shmt_text path = {0};
    enum shmtune_status status;

    add_stem(target, output, &path);
    shmt_text_add(&path, ".yaml");
    if (path.failed)
        status = shmt_error_memory(&why);
    else
        status = shmt_tuning_read(shmt_text_string(&path), &tuning, &why);
    if (status == SHMTUNE_OK)
        status = refuse_other(tuning, target, shmt_text_string(&path), err);
    else if (status != SHMTUNE_NOT_FOUND)
        refuse_file(&why, err);
    shmt_tuning_free(tuning);
    shmt_text_free(&path);
    return status == SHMTUNE_NOT_FOUND ? SHMTUNE_OK : status;
}

/* -- the tuning ---------------------------------------------------------- */

static const struct shmt_setting *
settings_of(struct shmt_arena *arena, const struct shmt_kernel *kernel,
            const shmt_config *config)
{
    struct shmt_setting *const settings =
        shmt_arena_alloc(arena, kernel->parameter_count + 1,
                         sizeof *settings);

    for (size_t p = 0; settings != NULL && p < kernel->parameter_count; p++)
        settings[p] = (struct shmt_setting){
            kernel->parameters[p].name,
            kernel->parameters[p].values[config[p]]
        };
    return settings;
}

static const struct shmt_setting *size_of(struct shmt_arena *arena,
                                          const struct shmt_kernel *kernel,
                                          const int64_t *problem)
{
    struct shmt_setting *const size =
        shmt_arena_alloc(arena, kernel->dimension_count + 1, sizeof *size);

    for (size_t d = 0; size != NULL && d < kernel->dimension_count; d++) {
        size[d].name = kernel->dimensions[d].name;
        size[d].value.type = SHMT_VALUE_INT;
        size[d].value.i = problem[d];
    }
    return size;
}

static enum shmtune_status describe(struct shmt_arena *arena,
                                    const struct shmt_kernel *kernel,
                                    const struct shmt_tune_outcome *outcome,
                                    struct shmt_tuned *out)
{
    const struct shmt_tune_final *const winner = &outcome->finals[0];
    const struct shmt_setting **const ties =
        shmt_arena_alloc(arena, outcome->tie_count + 1, sizeof *ties);
    struct shmt_tuned tuned = {
        .size_count = kernel->dimension_count,
        .size = size_of(arena, kernel, outcome->header.problem),
        .setting_count = kernel->parameter_count,
        .settings = settings_of(arena, kernel, winner->config),
        .result = winner->result,
        .spread = outcome->spread,
        .default_us = outcome->default_us,
        .floor_us = outcome->floor_us,
        .strategy = outcome->strategy,
        .seed = outcome->header.seed,
        .data_seed = outcome->header.data_seed,
        .data_digest = outcome->header.data_digest,
        .space_count = outcome->header.space_count,
        .tried = outcome->tried,
        .elapsed_s = outcome->elapsed_s,
        .tie_count = outcome->tie_count,
        .ties = ties,
        .pareto = outcome->pareto,
    };

    if (ties == NULL || tuned.size == NULL || tuned.settings == NULL)
        return SHMTUNE_NO_MEMORY;
    memcpy(tuned.verdicts, outcome->verdicts, sizeof tuned.verdicts);
    tuned.result.verdict = SHMT_VERDICT_OK;
    tuned.result.reason[0] = tuned.result.image[0] = '\0';
    tuned.result.measure_ms = -1;
    for (size_t k = 0; k < outcome->tie_count; k++) {
        ties[k] = settings_of(arena, kernel, outcome->finals[k].config);
        if (ties[k] == NULL)
            return SHMTUNE_NO_MEMORY;
    }
    *out = tuned;
    return SHMTUNE_OK;
}

/* The current time, or $SOURCE_DATE_EPOCH, with which the same run writes the
 * same file. */
static const char *time_text(struct shmt_arena *arena)
{
    time_t now;
    struct tm utc;
    char text[32];

    (void)shmt_clock_date(&now, NULL);
    if (gmtime_r(&now, &utc) == NULL ||
        strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc) == 0)
        return "";
    return shmt_arena_copy(arena, text, strlen(text));
}

/* Why a winner cannot be added to a tuning; NULL: it can. */
static const char *difference(const struct shmt_tuning *tuning,
                              const struct shmt_journal_header *header)
{
    return strcmp(tuning->digest, header->digest) != 0
               ? "it is of other sources of the kernel"
           : !shmt_device_equal(&tuning->device, &header->device)
               ? "it is of another device"
           : strcmp(tuning->protocol, header->protocol) != 0
               ? "it was measured by another protocol" : NULL;
}

/* The file that is there, or a new one: what differs is in *why. */
static enum shmtune_status open_tuning(const char *path,
                                       const struct shmt_tune_outcome *outcome,
                                       struct shmt_tuning **out,
                                       const char **why,
                                       struct shmt_error *err)
{
    struct shmt_error refused = {0};
    enum shmtune_status status = shmt_tuning_read(path, out, &refused);

    *why = NULL;
    if (status == SHMTUNE_NOT_FOUND)
        return shmt_tuning_new(out, err);
    if (status != SHMTUNE_OK)
        return refuse_file(&refused, err);
    *why = difference(*out, &outcome->header);
    if (*why == NULL)
        return SHMTUNE_OK;
    shmt_tuning_free(*out);
    return shmt_tuning_new(out, err);
}

/* In the place of a tuning of another origin, which is kept under another
 * name; where there can be no new one, under its own. */
static enum shmtune_status replace_tuning(const struct shmt_tuning *tuning,
                                          const char *path, const char *why,
                                          struct shmt_text *notice,
                                          struct shmt_error *err)
{
    struct shmt_text old = {0};
    enum shmtune_status status = shmt_path_put_away(path, &old, err);

    if (status == SHMTUNE_OK)
        status = shmt_tuning_write(tuning, path, err);
    if (status == SHMTUNE_OK)
        shmt_text_addf(notice, "starting a new tuning: %s; the old one is now "
                       "%s", why, shmt_text_string(&old));
    else if (old.length > 0)
        (void)rename(shmt_text_string(&old), path);
    shmt_text_free(&old);
    return status;
}

/* Another run may add another problem to the same tuning at the same time, so
 * reading and writing it is done under a lock.  Returns a descriptor to close,
 * or -1 when the file system has no locks. */
static int lock_folder(const char *path)
{
    struct shmt_arena *const arena = shmt_arena_new();
    const char *const folder =
        arena == NULL ? NULL : shmt_path_folder(arena, path);
    const int fd = folder == NULL ? -1
                                  : open(folder, O_RDONLY | O_DIRECTORY |
                                                     O_CLOEXEC);

    while (fd >= 0 && flock(fd, LOCK_EX) != 0 && errno == EINTR)
        continue;
    shmt_arena_free(arena);
    return fd;
}

static enum shmtune_status add_to_tuning(
    const struct shmt_kernel *kernel, const struct shmt_tune_outcome *outcome,
    const char *path, struct shmt_text *notice, struct shmt_error *err)
{
    const struct shmt_journal_header *const header = &outcome->header;
    struct shmt_tuning *tuning;
    struct shmt_tuned tuned;
    const char *why;
    enum shmtune_status status =
        open_tuning(path, outcome, &tuning, &why, err);

    if (status != SHMTUNE_OK)
        return status;
    tuning->kernel = kernel->name;
    memcpy(tuning->digest, header->digest, sizeof tuning->digest);
    tuning->device = header->device;
    tuning->created = time_text(tuning->arena);
    tuning->nvrtc_version = header->nvrtc_version;
    tuning->protocol = header->protocol;
    if (tuning->created == NULL ||
        describe(tuning->arena, kernel, outcome, &tuned) != SHMTUNE_OK)
        status = shmt_error_memory(err);
    if (status == SHMTUNE_OK)
        status = shmt_tuning_put(tuning, &tuned, err);
    if (status == SHMTUNE_OK)
        status = why == NULL
                     ? shmt_tuning_write(tuning, path, err)
                     : replace_tuning(tuning, path, why, notice, err);
    shmt_tuning_free(tuning);
    return status;
}

enum shmtune_status
shmt_output_write_tuning(const struct shmt_kernel *kernel,
                         const struct shmt_tune_outcome *outcome,
                         const char *path, struct shmt_text *notice,
                         struct shmt_error *err)
{
    const int lock = lock_folder(path);
    const enum shmtune_status status =
        add_to_tuning(kernel, outcome, path, notice, err);

    if (lock >= 0)
        close(lock);
    return status;
}

/* The file's own dispatch is not written again where there is nothing to
 * change. */
static enum shmtune_status put_dispatch(const char *path,
                                        const struct shmt_dispatch *dispatch,
                                        const struct shmt_tuning *learnt_on,
                                        struct shmt_error *err)
{
    struct shmt_tuning *tuning;
    enum shmtune_status status = shmt_tuning_read(path, &tuning, err);

    if (status != SHMTUNE_OK)
        return status;
    if (strcmp(tuning->digest, learnt_on->digest) != 0 ||
        !shmt_device_equal(&tuning->device, &learnt_on->device)) {
        status = shmt_error_set(err, SHMTUNE_INVALID_FILE, "%s: has changed "
                                "since it was read: it is of other sources or "
                                "of another device", path);
    } else if (dispatch != NULL || tuning->dispatch != NULL) {
        tuning->dispatch = dispatch;
        status = shmt_tuning_write(tuning, path, err);
    }
    shmt_tuning_free(tuning);
    return status;
}

enum shmtune_status
shmt_output_write_dispatch(const char *path,
                           const struct shmt_dispatch *dispatch,
                           const struct shmt_tuning *learnt_on,
                           struct shmt_error *err)
{
    const int lock = lock_folder(path);
    const enum shmtune_status status =
        put_dispatch(path, dispatch, learnt_on, err);

    if (lock >= 0)
        close(lock);
    return status;
}
