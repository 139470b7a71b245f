/* SPDX-License-Identifier: MIT */
/*
 * tune_device: parses --device and opens the targets it names: GPUs
 * (target/live.h) or a recording (target/replay.h).  Called by command/tune.c,
 * command/tune_work.c and command/explain.c.
 */
#include "config.h"

#include "command/tune_device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "data/data.h"
#include "device/device.h"
#include "target/target.h"

/* -- which GPUs ----------------------------------------------------------- */

enum { MOST = 64 };
_Static_assert((int)SHMT_COMMAND_FAR_WORKERS <= (int)MOST,
               "there is room for far workers");

static const char *worker_program(void)
{
    return getenv("SHMTUNE_WORKER");   /* for tests */
}

static enum shmtune_status refuse_word(const char *word,
                                       struct shmt_error *err)
{
    return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                          "--device is \"%.64s\"; expected the number of "
                          "a GPU, its UUID (GPU-... or MIG-...), several with "
                          "commas, all, or a recorded device, replay:NAME or "
                          "replay:FILE; see `shmtune list`", word);
}

/* The GPUs that the driver has. */
struct machine {
    struct shmtune_device *devices;
    size_t count;
};

static enum shmtune_status no_such(const struct machine *machine,
                                   const char *word, size_t fits,
                                   struct shmt_error *err)
{
    struct shmt_text list = {0};

    for (size_t k = 0; k < machine->count; k++)
        shmt_text_addf(&list, "%s%zu (%s)", k > 0 ? ", " : "", k,
                       machine->devices[k].uuid);
    shmt_error_set(err, SHMTUNE_NO_DEVICE, "%s GPU \"%s\"; there %s %s",
                   fits > 1 ? "more than one" : "no", word,
                   machine->count == 1 ? "is" : "are",
                   shmt_text_string(&list));
    shmt_text_free(&list);
    return SHMTUNE_NO_DEVICE;
}

/* The GPU that a word of the list names. */
static enum shmtune_status find_gpu(const struct machine *machine,
                                    const char *word,
                                    struct shmtune_device *out,
                                    struct shmt_error *err)
{
    struct machine mig = {0};
    size_t found = 0, fits = 0;
    enum shmtune_status status = SHMTUNE_OK;

    if (strncasecmp(word, "MIG-", 4) == 0) {
        status = shmt_live_devices(worker_program(), word, &mig.devices,
                                   &mig.count, err);
        if (status == SHMTUNE_OK)
            *out = mig.devices[0];
        free(mig.devices);
        return status;
    }
    if (word[0] >= '0' && word[0] <= '9') {
        found = strtoul(word, NULL, 10);
        fits = found < machine->count;
    }
    for (size_t k = 0; fits == 0 && k < machine->count; k++)
        if (strncasecmp(machine->devices[k].uuid, word, strlen(word)) == 0) {
            found = k;
            fits++;
            for (size_t i = k + 1; i < machine->count; i++)
                fits += strncasecmp(machine->devices[i].uuid, word,
                                    strlen(word)) == 0;
        }
    if (fits != 1)
        return no_such(machine, word, fits, err);
    *out = machine->devices[found];
    return out->name[0] != '\0'
               ? SHMTUNE_OK
               : shmt_error_set(err, SHMTUNE_NO_DEVICE,
                                "the driver does not describe GPU %s; see "
                                "`shmtune doctor`", word);
}

/* Of different models, whose files would have one name. */
static enum shmtune_status refuse_mixed(const struct shmtune_device *a,
                                        const struct shmtune_device *b,
                                        struct shmt_error *err)
{
    char of_a[128], of_b[128];

    shmt_device_slug(a, of_a);
    shmt_device_slug(b, of_b);
    if (shmt_device_equal(a, b) || strcmp(of_a, of_b) != 0)
        return SHMTUNE_OK;
    return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                          "--device names \"%s\" with %d multiprocessors "
                          "(%s) and \"%s\" with %d (%s): both tunings would "
                          "be %s.yaml; tune one after the other, each with its "
                          "--output DIR", a->name,
                          a->multiprocessors, a->uuid, b->name,
                          b->multiprocessors, b->uuid, of_a);
}

static enum shmtune_status add_gpu(struct shmt_command_device *device,
                                   const struct shmtune_device *found,
                                   struct shmt_error *err)
{
    struct shmt_command_gpu *const gpu = &device->gpus[device->gpu_count];
    size_t models = 0;

    if (device->gpu_count == MOST)
        return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                              "--device names more than %d GPUs", MOST);
    for (size_t k = 0; k < device->gpu_count; k++)
        if (strcasecmp(device->gpus[k].uuid, found->uuid) == 0)
            return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                                  "--device names %s twice", found->uuid);
    for (size_t k = 0; k < device->gpu_count; k++) {
        const enum shmtune_status status =
            refuse_mixed(&device->gpus[k].device, found, err);
        if (status != SHMTUNE_OK)
            return status;
    }
    gpu->device = *found;
    gpu->word = gpu->uuid = shmt_arena_copy(device->arena, found->uuid,
                                            strlen(found->uuid));
    if (gpu->uuid == NULL)
        return shmt_error_memory(err);
    for (size_t k = 0; k < device->gpu_count; k++)
        models = device->gpus[k].model >= models ? device->gpus[k].model + 1
                                                 : models;
    gpu->model = models;
    for (size_t k = 0; k < device->gpu_count; k++)
        if (shmt_device_equal(&device->gpus[k].device, found))
            gpu->model = device->gpus[k].model;
    device->gpu_count++;
    return SHMTUNE_OK;
}

static enum shmtune_status add_all(struct shmt_command_device *device,
                                   const struct machine *machine,
                                   struct shmt_error *err)
{
    enum shmtune_status status = SHMTUNE_OK;
    char text[128];

    for (size_t k = 0; status == SHMTUNE_OK && k < machine->count; k++) {
        if (machine->devices[k].name[0] != '\0') {
            status = add_gpu(device, &machine->devices[k], err);
            continue;
        }
        snprintf(text, sizeof text, "the driver does not describe GPU %zu, "
                 "which is left out; see `shmtune doctor`", k);
        shmt_display_notice(device->display, text);
    }
    if (status == SHMTUNE_OK && device->gpu_count == 0)
        status = shmt_error_set(err, SHMTUNE_NO_DEVICE, "the driver describes "
                                "no GPU; see `shmtune doctor`");
    return status;
}

/* Each word of "0,GPU-4b". */
static enum shmtune_status add_words(struct shmt_command_device *device,
                                     const struct machine *machine,
                                     const char *words, struct shmt_error *err)
{
    struct shmtune_device found;
    enum shmtune_status status = SHMTUNE_OK;

    while (status == SHMTUNE_OK) {
        const size_t length = strcspn(words, ",");
        const char *const word = shmt_arena_copy(device->arena, words, length);

        if (word == NULL)
            return shmt_error_memory(err);
        status = find_gpu(machine, word, &found, err);
        if (status == SHMTUNE_OK)
            status = add_gpu(device, &found, err);
        if (words[length] == '\0')
            break;
        words += length + 1;
    }
    return status;
}

/* Whether each word can be that of a GPU; before the driver is asked. */
static bool are_gpus(struct shmt_arena *arena, const char *words)
{
    for (;;) {
        const size_t length = strcspn(words, ",");
        const char *const word = shmt_arena_copy(arena, words, length);

        if (word != NULL && !shmt_command_is_gpu(word))
            return false;
        if (words[length] == '\0')
            return true;
        words += length + 1;
    }
}

/* A use of the launcher, and the GPU where it leads. */
static enum shmtune_status add_far(struct shmt_command_device *device,
                                   const char *word, const char *label,
                                   struct shmt_error *err)
{
    struct shmt_command_gpu *const gpu = &device->gpus[device->gpu_count];

    if (device->gpu_count == MOST)
        return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                              "--device names more than %d GPUs", MOST);
    for (size_t k = 0; k < device->gpu_count; k++)
        if (strcasecmp(device->gpus[k].uuid, label) == 0)
            return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                                  "--device names %s twice", word);
    *gpu = (struct shmt_command_gpu){
        .word = word,
        .uuid = shmt_arena_copy(device->arena, label, strlen(label))};
    if (gpu->uuid == NULL)
        return shmt_error_memory(err);
    device->gpu_count++;
    return SHMTUNE_OK;
}

/* Each word of "0,1" on the machine where the launcher leads, or the same GPU
 * of as many machines as there are workers. */
static enum shmtune_status choose_far(struct shmt_command_device *device,
                                      const char *words,
                                      struct shmt_error *err)
{
    const bool several = strchr(words, ',') != NULL;
    enum shmtune_status status = SHMTUNE_OK;
    char label[96];

    if (!are_gpus(device->arena, words))
        return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                              "--device is \"%.64s\"; with --on it names GPUs "
                              "of the machine where that leads: a number, a "
                              "UUID, or several with commas", words);
    if (several && device->far.workers > 1)
        return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                              "--device names several GPUs of one machine, and "
                              "--workers %lld one of each of several; give "
                              "either", (long long)device->far.workers);
    for (int64_t k = 0; status == SHMTUNE_OK && !several &&
                        k < device->far.workers; k++) {
        snprintf(label, sizeof label, "far worker %lld", (long long)(k + 1));
        status = add_far(device, words, label, err);
    }
    while (status == SHMTUNE_OK && several) {
        const size_t length = strcspn(words, ",");
        const char *const word = shmt_arena_copy(device->arena, words, length);

        if (word == NULL)
            return shmt_error_memory(err);
        snprintf(label, sizeof label, "far GPU %s", word);
        status = add_far(device, word, label, err);
        if (words[length] == '\0')
            break;
        words += length + 1;
    }
    return status;
}

static enum shmtune_status choose_gpus(struct shmt_command_device *device,
                                       const char *word,
                                       struct shmt_error *err)
{
    const bool all = strcmp(word, "all") == 0;
    struct machine machine = {0};
    enum shmtune_status status;

    device->gpus = shmt_arena_alloc(device->arena, MOST, sizeof *device->gpus);
    if (device->gpus == NULL)
        return shmt_error_memory(err);
    if (device->far.on != NULL)
        return choose_far(device, word, err);
    if (!all && strchr(word, ',') == NULL) {
        device->gpus[0] = (struct shmt_command_gpu){.word = word, .uuid = ""};
        device->gpu_count = 1;
        return shmt_command_is_gpu(word) ? SHMTUNE_OK : refuse_word(word, err);
    }
    if (!all && !are_gpus(device->arena, word))
        return refuse_word(word, err);
    status = shmt_live_devices(worker_program(), NULL, &machine.devices,
                               &machine.count, err);
    if (status == SHMTUNE_OK)
        status = all ? add_all(device, &machine, err)
                     : add_words(device, &machine, word, err);
    free(machine.devices);
    if (status == SHMTUNE_NO_DEVICE)
        shmt_command_device_advise(device, NULL, err);
    return status;
}

enum shmtune_status
shmt_command_device_choose(struct shmt_command_device *device,
                           const char *word,
                           struct shmt_error *err)
{
    static const char prefix[] = "replay:";
    const size_t length = sizeof prefix - 1;
    const bool replayed = device->far.on == NULL &&
                          strncmp(word, prefix, length) == 0;
    enum shmtune_status status = SHMTUNE_OK;

    if (!replayed)
        status = choose_gpus(device, word, err);
    else if (word[length] == '\0')
        status = refuse_word(word, err);
    if (status != SHMTUNE_OK)
        return status;
    device->replayed = replayed ? word + length : NULL;
    status = shmt_command_catalogue(&device->catalogue, err);
    if (status == SHMTUNE_OK)
        device->places = (struct shmt_recording_places){
            (const char *const *)device->catalogue->folders,
            device->catalogue->folder_count};
    return status;
}

/* -- recordings ----------------------------------------------------------- */

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

/* -- opening -------------------------------------------------------------- */

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

static bool has_recording(const struct shmt_command_device *device,
                          const struct shmt_kernel *kernel)
{
    const char *const *paths;
    size_t count;

    return shmt_recording_find(device->arena, &device->places, kernel->name,
                               "", &paths, &count, NULL) == SHMTUNE_OK;
}

void shmt_command_device_advise(const struct shmt_command_device *device,
                                const struct shmt_kernel *kernel,
                                struct shmt_error *err)
{
    char why[SHMT_ERROR_BYTES];

    snprintf(why, sizeof why, "%.600s", err->text);
    if (device->far.on != NULL)
        shmt_error_set(err, err->status, "%s. `%.200s %.100s worker --far "
                       "--device %.64s </dev/null` shows what answers there; "
                       "--far-program PATH names shmtune where it is not in "
                       "the search path there", why, device->far.on,
                       device->far.program, device->gpus[0].word);
    else if (kernel != NULL && !has_recording(device, kernel))
        shmt_error_set(err, err->status, "%s. No recording of %s stands in "
                       "for it. Without a GPU `shmtune inspect %.200s` "
                       "compiles candidates, and shows registers, spills and "
                       "occupancy; `shmtune doctor` says what is missing",
                       why, kernel->name, kernel->path);
    else
        shmt_error_set(err, err->status, "%s. Without it, tune on a recorded "
                       "device: --device replay:NAME; `shmtune list` shows "
                       "the recordings there are, `shmtune doctor` what is "
                       "missing for the other", why);
}

static size_t jobs_of(const struct shmt_command_device *device)
{
    const size_t gpus = device->far.on == NULL ? device->gpu_count : 0;

    return device->jobs > 0
               ? device->jobs
               : shmt_live_pool_jobs((size_t)shmt_command_cores(), gpus);
}

static enum shmtune_status start_live(struct shmt_command_device *device,
                                      const struct shmt_kernel *kernel,
                                      const struct shmt_command_gpu *gpu,
                                      bool wait,
                                      struct shmt_target **out,
                                      struct shmt_error *err)
{
    struct shmt_live_options options = {
        .worker = worker_program(),
        .device = gpu->word,
        .seen = device->far.on == NULL && gpu->device.name[0] != '\0',
        .compile_s = device->compile_s,
        .warm = device->warm,
        .data_seed = device->data_seed,
        .on = device->far.on,
        .far_program = device->far.program,
        .stop = &shmt_command_stopped,
        .notice = shmt_display_notice,
        .notice_to = device->display,
    };
    char timeout[24];
    enum shmtune_status status =
        read_files(device->arena, kernel, &options, err);

    if (status == SHMTUNE_OK && device->pool == NULL)
        status = shmt_live_pool_open(jobs_of(device), NULL, &device->pool,
                                     err);
    options.pool = device->pool;
    if (status != SHMTUNE_OK)
        return status;
    snprintf(timeout, sizeof timeout, "%lld",
             (long long)device->far.timeout_s);
    options.far_timeout = shmt_arena_copy(device->arena, timeout,
                                          strlen(timeout));
    if (options.far_timeout == NULL)
        return shmt_error_memory(err);
    return wait ? shmt_live_open(kernel, &options, out, err)
                : shmt_live_start(kernel, &options, out, err);
}

enum shmtune_status
shmt_command_device_start(struct shmt_command_device *device,
                          const struct shmt_kernel *kernel, size_t k,
                          struct shmt_target **out, struct shmt_error *err)
{
    *out = NULL;
    return device->replayed != NULL
               ? open_replay(device, kernel, out, err)
               : start_live(device, kernel, &device->gpus[k], false, out, err);
}

enum shmtune_status
shmt_command_device_open(struct shmt_command_device *device,
                         const struct shmt_kernel *kernel,
                         struct shmt_target **out,
                         struct shmt_error *err)
{
    enum shmtune_status status;

    *out = NULL;
    if (device->replayed != NULL)
        return open_replay(device, kernel, out, err);
    if (device->gpu_count != 1)
        return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                              "--device names %zu GPUs; one is expected here",
                              device->gpu_count);
    status = start_live(device, kernel, &device->gpus[0], true, out, err);
    if (status == SHMTUNE_NO_DEVICE)
        shmt_command_device_advise(device, kernel, err);
    return status;
}
