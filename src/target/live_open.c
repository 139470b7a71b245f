/* SPDX-License-Identifier: MIT */
/*
 * live_open: opens and closes the live target: the folder of binaries, one
 * measure worker when there is a device, and the compile workers.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/base.h"
#include "device/device.h"
#include "target/live_state.h"

/* -- the end ------------------------------------------------------------- */

void shmt_live_close(struct shmt_target *target)
{
    struct shmt_live *const live = shmt_live_of(target);

    /* All workers are killed before the first one is waited for. */
    for (size_t k = 0; k < live->supervisor_count; k++)
        if (live->supervisors[k].worker != NULL)
            shmt_worker_kill(live->supervisors[k].worker);
    for (size_t k = 0; k < live->supervisor_count; k++) {
        shmt_supervisor_close(&live->supervisors[k]);
        shmt_live_job_free(live->busy[k]);
    }
    shmt_live_queue_clear(&live->pending[SHMT_TARGET_INSPECT]);
    shmt_live_queue_clear(&live->pending[SHMT_TARGET_MEASURE]);
    for (size_t k = 0; k < live->compiled_count; k++) {
        if (live->compiled[k] != NULL)
            shmt_live_queue_clear(&live->compiled[k]->waiting);
        free(live->compiled[k]);
    }
    while (live->answers != NULL) {
        struct shmt_live_answer *const one = live->answers;
        live->answers = one->next;
        free(one);
    }
    shmt_scratch_remove(&live->scratch);
    free(live->compiled);
    shmt_target_binaries_free(live->binaries);
    free(live->supervisors);
    free(live->busy);
    free(live->fds);
    shmt_arena_free(live->arena);
    free(live);
}

/* -- opening ------------------------------------------------------------- */

static enum shmtune_status make_folder(struct shmt_live *live,
                                       struct shmt_error *err)
{
    enum shmtune_status status;

    if (live->options.images != NULL)
        return shmt_path_make_folder(live->options.images, 0700, err);
    status = shmt_scratch_make("shmtune", &live->scratch, err);
    if (status == SHMTUNE_OK)
        live->options.images = live->scratch.folder;
    return status;
}

/* "PROGRAM worker --spec ... where what". */
static const char *const *make_command(struct shmt_live *live,
                                       const char *where, const char *what)
{
    const char **const argv =
        shmt_arena_alloc(live->arena, 16, sizeof *argv);
    char *const seed = shmt_arena_alloc(live->arena, 1, 24);
    size_t n = 0;

    if (argv == NULL || seed == NULL)
        return NULL;
    snprintf(seed, 24, "%llu", (unsigned long long)live->options.data_seed);
    argv[n++] = live->options.worker;
    argv[n++] = "worker";
    argv[n++] = "--spec";
    argv[n++] = live->target.kernel->path;
    argv[n++] = "--images";
    argv[n++] = live->options.images;
    argv[n++] = "--data-seed";
    argv[n++] = seed;
    argv[n++] = where;
    argv[n++] = what;
    return argv;
}

/* Raises the limit of open descriptors, because a machine with many processors
 * has many workers.  If it cannot be raised, starting a worker will fail with
 * a message. */
static void allow_descriptors(size_t workers)
{
    const rlim_t wanted = (workers + 1) * (rlim_t)SHMT_WORKER_FDS + 64;
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= wanted)
        return;
    limit.rlim_cur = wanted < limit.rlim_max ? wanted : limit.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
}

static enum shmtune_status allocate(struct shmt_live *live,
                                    struct shmt_error *err)
{
    const size_t count = live->options.jobs + 1;

    allow_descriptors(count);
    live->binaries = shmt_target_binaries_new();
    live->supervisors = calloc(count, sizeof *live->supervisors);
    live->busy = calloc(count, sizeof(struct shmt_live_job *));
    live->fds = calloc(count * SHMT_WORKER_FDS, sizeof *live->fds);
    return live->binaries == NULL || live->supervisors == NULL ||
                   live->busy == NULL || live->fds == NULL
               ? shmt_error_memory(err)
               : SHMTUNE_OK;
}

/* Starts the measure worker and waits until its hello names the device. */
static enum shmtune_status await_measure_worker(struct shmt_live *live,
                                                struct shmt_error *err)
{
    struct shmt_supervisor *const supervisor = &live->supervisors[0];
    const struct shmt_wire_reply *const hello = &supervisor->message;
    enum shmtune_status status = SHMTUNE_OK;
    bool woken;

    supervisor->argv = make_command(live, "--device", live->options.device);
    supervisor->what = "measure worker";
    supervisor->start_deadline_s = live->options.start_s;
    if (supervisor->argv == NULL)
        return shmt_error_memory(err);
    live->supervisor_count = 1;
    while (status == SHMTUNE_OK && supervisor->state != SHMT_SUPERVISOR_IDLE) {
        status = shmt_live_round(live, 0.25, &woken, err);
        if (status == SHMTUNE_OK && !woken)
            return shmt_error_set(err, SHMTUNE_INTERRUPTED,
                                  "interrupted while the worker started");
    }
    if (status != SHMTUNE_OK)
        return status;
    if (!hello->has_device)
        return shmt_error_set(err, SHMTUNE_INTERNAL,
                              "the hello of the measure worker names no "
                              "device");
    live->target.device = hello->device;
    live->target.nvrtc_version = hello->nvrtc_version;
    snprintf(live->protocol, sizeof live->protocol, "%s",
             hello->protocol[0] == '\0' ? "cold-l2" : hello->protocol);
    live->target.protocol = live->protocol;
    live->target.data_seed = live->options.data_seed;
    live->target.name = live->target.device.name;
    return SHMTUNE_OK;
}

/* Starts the compile workers without waiting for their hellos; requests are
 * queued meanwhile. */
static enum shmtune_status start_compile_workers(struct shmt_live *live,
                                                 struct shmt_error *err)
{
    char *const arch = shmt_arena_alloc(live->arena, 1, 16);
    const char *const *argv;

    if (arch == NULL)
        return shmt_error_memory(err);
    shmt_device_arch_text(&live->target.device, arch);
    argv = make_command(live, "--arch", arch);
    if (argv == NULL)
        return shmt_error_memory(err);
    for (size_t k = shmt_live_measurers(live);
         k < live->options.jobs + shmt_live_measurers(live); k++) {
        enum shmtune_status status;
        live->supervisors[k].argv = argv;
        live->supervisors[k].what = "compile worker";
        live->supervisors[k].start_deadline_s = live->options.start_s;
        live->supervisor_count = k + 1;
        status = shmt_live_step(live, k, err);
        if (status != SHMTUNE_OK)
            return status;
    }
    return SHMTUNE_OK;
}

/* Without a device, the hello of the first compile worker gives the NVRTC
 * version. */
static enum shmtune_status await_compile_worker(struct shmt_live *live,
                                                struct shmt_error *err)
{
    struct shmt_supervisor *const supervisor = &live->supervisors[0];
    enum shmtune_status status = shmt_device_for_arch(
        live->options.arch, &live->target.device, err);
    bool woken;

    live->target.protocol = "none";
    live->target.name = live->target.device.name;
    if (status == SHMTUNE_OK)
        status = start_compile_workers(live, err);
    while (status == SHMTUNE_OK && supervisor->state != SHMT_SUPERVISOR_IDLE) {
        status = shmt_live_round(live, 0.25, &woken, err);
        if (status == SHMTUNE_OK && !woken)
            return shmt_error_set(err, SHMTUNE_INTERRUPTED,
                                  "interrupted while the worker started");
    }
    if (status == SHMTUNE_OK)
        live->target.nvrtc_version = supervisor->message.nvrtc_version;
    return status;
}

static void set_usual(double *deadline, double usual)
{
    if (!(*deadline > 0))
        *deadline = usual;
}

static enum shmtune_status find_program(struct shmt_live *live,
                                        struct shmt_error *err)
{
    char self[4096];
    enum shmtune_status status;

    if (live->options.worker != NULL)
        return SHMTUNE_OK;
    status = shmt_worker_own_path(self, sizeof self, err);
    if (status != SHMTUNE_OK)
        return status;
    live->options.worker = shmt_arena_copy(live->arena, self, strlen(self));
    return live->options.worker == NULL ? shmt_error_memory(err) : SHMTUNE_OK;
}

enum shmtune_status shmt_live_open(const struct shmt_kernel *kernel,
                                   const struct shmt_live_options *options,
                                   struct shmt_target **out,
                                   struct shmt_error *err)
{
    struct shmt_live *const live = calloc(1, sizeof *live);
    enum shmtune_status status;

    if (live == NULL || (live->arena = shmt_arena_new()) == NULL) {
        free(live);
        return shmt_error_memory(err);
    }
    live->target.operations = &shmt_live_operations;
    live->target.kernel = kernel;
    live->options = *options;
    set_usual(&live->options.start_s, 60);
    set_usual(&live->options.compile_s, 30);
    set_usual(&live->options.measure_s, 10);
    set_usual(&live->options.first_s, 60);
    if (live->options.jobs == 0)
        live->options.jobs = 1;
    status = find_program(live, err);
    if (status == SHMTUNE_OK)
        status = make_folder(live, err);
    if (status == SHMTUNE_OK)
        status = allocate(live, err);
    if (status == SHMTUNE_OK && options->device == NULL)
        status = await_compile_worker(live, err);
    else if (status == SHMTUNE_OK) {
        status = await_measure_worker(live, err);
        if (status == SHMTUNE_OK)
            status = start_compile_workers(live, err);
    }
    if (status != SHMTUNE_OK) {
        shmt_live_close(&live->target);
        return status;
    }
    *out = &live->target;
    return SHMTUNE_OK;
}
