/* SPDX-License-Identifier: MIT */
/*
 * tune_device: parses --device and opens the target it names: a GPU
 * (target/live.h) or a recording (target/replay.h).  Called by command/tune.c
 * and command/explain.c.
 */
#include "config.h"

#include "command/tune_device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/data.h"
#include "target/target.h"

enum shmtune_status
shmt_command_device_choose(struct shmt_command_device *device,
                           const char *word,
                           struct shmt_error *err)
{
    static const char prefix[] = "replay:";
    const size_t length = sizeof prefix - 1;
    const bool replayed = strncmp(word, prefix, length) == 0;
    enum shmtune_status status;

    if (replayed ? word[length] == '\0' : !shmt_command_is_gpu(word))
        return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                              "--device is \"%.64s\"; expected the number of "
                              "a GPU, its UUID (GPU-...), or a recorded "
                              "device, replay:NAME or replay:FILE; see "
                              "`shmtune list`", word);
    device->live = word;
    device->replayed = replayed ? word + length : NULL;
    status = shmt_command_catalogue(&device->catalogue, err);
    if (status == SHMTUNE_OK)
        device->places = (struct shmt_recording_places){
            (const char *const *)device->catalogue->folders,
            device->catalogue->folder_count};
    return status;
}

static bool is_stale(const struct shmt_target *replay)
{
    for (size_t k = 0; k < shmt_replay_count(replay); k++)
        if (strcmp(shmt_replay_header(replay, k)->digest,
                   replay->kernel->digest) != 0)
            return true;
    return false;
}

static enum shmtune_status open_replay(const struct shmt_command_device *device,
                                       const struct shmt_kernel *kernel,
                                       struct shmt_target **out,
                                       struct shmt_error *err)
{
    struct shmt_replay_options options = {.jobs = device->jobs};
    char text[512];
    enum shmtune_status status = shmt_recording_find(
        device->arena, &device->places, kernel->name, device->replayed,
        &options.paths, &options.path_count, err);

    if (status == SHMTUNE_OK)
        status = shmt_replay_open(kernel, &options, out, err);
    if (status == SHMTUNE_OK && is_stale(*out)) {
        snprintf(text, sizeof text, "%s: the sources have changed since they "
                 "were recorded on %s; the tuning will be of those recorded, "
                 "and stale", kernel->name, (*out)->device.name);
        shmt_display_notice(device->display, text);
    }
    return status;
}

/* What the files of the inputs hold, and more time for the first measurement,
 * which reads them, at this many bytes a second, and waits for the answer. */
static const double READ_BYTES_S = 5e7;

static enum shmtune_status read_files(struct shmt_arena *arena,
                                      const struct shmt_kernel *kernel,
                                      struct shmt_live_options *options,
                                      struct shmt_error *err)
{
    char *digest = shmt_arena_alloc(arena, 1, SHMT_DIGEST_TEXT);
    uint64_t bytes = 0;
    enum shmtune_status status =
        digest == NULL ? shmt_error_memory(err)
                       : shmt_data_digest(kernel, digest, &bytes, err);

    options->data_digest = digest;
    options->first_s = SHMT_LIVE_FIRST_S + (double)bytes / READ_BYTES_S +
                       kernel->answer.timeout_s;
    return status;
}

static void notice(void *display, const char *text)
{
    shmt_display_notice(display, text);
}

static enum shmtune_status open_live(const struct shmt_command_device *device,
                                     const struct shmt_kernel *kernel,
                                     struct shmt_target **out,
                                     struct shmt_error *err)
{
    struct shmt_live_options options = {
        .worker = getenv("SHMTUNE_WORKER"),   /* for tests */
        .device = device->live,
        .jobs = device->jobs,
        .compile_s = device->compile_s,
        .data_seed = device->data_seed,
        .on = device->far.on,
        .far_program = device->far.program,
        .notice = notice,
        .notice_to = device->display,
        .stop = &shmt_command_stopped,
    };
    char timeout[24];
    char why[SHMT_ERROR_BYTES];
    enum shmtune_status status =
        read_files(device->arena, kernel, &options, err);

    if (status != SHMTUNE_OK)
        return status;
    snprintf(timeout, sizeof timeout, "%lld",
             (long long)device->far.timeout_s);
    options.far_timeout = shmt_arena_copy(device->arena, timeout,
                                          strlen(timeout));
    if (options.far_timeout == NULL)
        return shmt_error_memory(err);
    status = shmt_live_open(kernel, &options, out, err);
    if (status == SHMTUNE_NO_DEVICE) {
        snprintf(why, sizeof why, "%.900s", err->text);
        shmt_error_set(err, status, "%s. Without it, tune on a recorded "
                       "device: --device replay:NAME; `shmtune list` shows "
                       "the recordings there are, `shmtune doctor` what is "
                       "missing for the other", why);
    }
    return status;
}

enum shmtune_status
shmt_command_device_open(const struct shmt_command_device *device,
                         const struct shmt_kernel *kernel,
                         struct shmt_target **out,
                         struct shmt_error *err)
{
    *out = NULL;
    return device->replayed != NULL ? open_replay(device, kernel, out, err)
                                    : open_live(device, kernel, out, err);
}
