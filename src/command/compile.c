/* SPDX-License-Identifier: MIT */
/*
 * compile: compiles many configurations in parallel on a live target without a
 * device, and filters them.  Called by inspect.c, check*.c and
 * compile_refused.c.
 */
#include "config.h"

#include "command/command.h"
#include "command/compile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/device.h"
#include "target/target.h"
#include "tune/tune.h"

/* What is going on while a batch runs. */
struct run {
    struct shmt_compiler_batch *batch;
    struct shmt_target *target;
    struct shmt_filter filter;
    size_t next, in_flight, done;
};

static const shmt_config *choice_at(const struct run *run, size_t k)
{
    return run->batch->configs + k * run->target->kernel->parameter_count;
}

/* Submits the next candidate, unless the limits of the device reject it. */
static enum shmtune_status send_next(struct run *run, struct shmt_error *err)
{
    struct shmt_result *result = &run->batch->results[run->next];
    const struct shmt_target_request request = {
        .verb = SHMT_TARGET_INSPECT, .tag = run->next,
        .config = choice_at(run, run->next)
    };

    run->next++;
    if (!shmt_filter_before_compile(&run->filter, request.config, result)) {
        run->done++;
        return SHMTUNE_OK;
    }
    run->in_flight++;
    return run->target->operations->submit(run->target, &request, err);
}

static enum shmtune_status take_reply(struct run *run, struct shmt_error *err)
{
    struct shmt_target_reply reply;
    struct shmt_result *result;
    bool got = false;
    enum shmtune_status status = run->target->operations->wait(
        run->target, 0.25, &got, &reply, err);

    if (status != SHMTUNE_OK || !got)
        return status;
    if (reply.tag >= run->batch->count)
        return shmt_error_set(err, SHMTUNE_INTERNAL,
                              "a reply to a request that was not made");
    result = &run->batch->results[reply.tag];
    *result = reply.result;
    run->in_flight--;
    run->done++;
    if (result->verdict == SHMT_VERDICT_OK)
        shmt_filter_after_compile(&run->filter, choice_at(run, reply.tag),
                                  result);
    return SHMTUNE_OK;
}

static void show_progress(const struct run *run, size_t *shown)
{
    if (!run->batch->progress || run->done == *shown)
        return;
    *shown = run->done;
    shmt_command_pulse_said();
    fprintf(stderr, "\r%zu of %zu compiled%s", run->done, run->batch->count,
            run->done == run->batch->count ? "\r\033[K" : "");
    fflush(stderr);
}

static bool is_over(const struct run *run, double start)
{
    return run->batch->most_s > 0 &&
           run->target->operations->now(run->target) - start >
               run->batch->most_s;
}

static enum shmtune_status work(struct run *run, struct shmt_error *err)
{
    const struct shmt_target_operations *operations = run->target->operations;
    const double start = operations->now(run->target);
    /* Keep enough requests queued that no worker is idle. */
    const size_t most =
        2 * operations->capacity(run->target, SHMT_TARGET_INSPECT) + 1;
    size_t shown = 0;
    enum shmtune_status status =
        operations->begin(run->target, run->batch->problem, err);

    while (status == SHMTUNE_OK && run->done < run->batch->count &&
           !is_over(run, start)) {
        if (shmt_command_stopped)
            return shmt_error_set(err, SHMTUNE_INTERRUPTED,
                                  "interrupted after %zu of %zu candidates",
                                  run->done, run->batch->count);
        if (run->next < run->batch->count && run->in_flight < most)
            status = send_next(run, err);
        else
            status = take_reply(run, err);
        show_progress(run, &shown);
    }
    run->batch->elapsed_s = operations->now(run->target) - start;
    return status;
}

enum shmtune_status shmt_compiler_arch(const char *arch,
                                       struct shmtune_device *out,
                                       struct shmt_error *err)
{
    if (strchr(arch, ',') != NULL)
        return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                              "--arch is \"%.64s\"; one architecture is "
                              "expected, not a list: run the command once for "
                              "each", arch);
    if (shmt_device_for_arch(arch, out, err) == SHMTUNE_OK)
        return SHMTUNE_OK;
    return shmt_command_change_status(err, SHMTUNE_NOT_FOUND,
                                      SHMTUNE_INVALID_ARGUMENT);
}

enum shmtune_status
shmt_compiler_open(const struct shmt_kernel *kernel, const char *arch,
                   const struct shmt_compiler_options *wanted,
                   struct shmt_target **out, struct shmt_error *err)
{
    const struct shmt_live_options options = {
        .arch = arch, .jobs = (size_t)wanted->jobs, .images = wanted->images,
        .compile_s = (double)wanted->deadline_s, .stop = &shmt_command_stopped,
        .worker = getenv("SHMTUNE_WORKER"),   /* for tests */
    };
    enum shmtune_status status;

    if (kernel->source == NULL)
        return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                              "%s is a search space without a source: there "
                              "is nothing to compile", kernel->path);
    shmt_command_catch_signals();
    status = shmt_live_open(kernel, &options, out, err);
    /* No compiler, as no driver: something to install. */
    return status == SHMTUNE_OK
               ? status
               : shmt_command_change_status(err, SHMTUNE_NOT_FOUND,
                                            SHMTUNE_NO_DEVICE);
}

void shmt_compiler_close(struct shmt_target *compiler)
{
    if (compiler != NULL)
        compiler->operations->close(compiler);
}

enum shmtune_status shmt_compiler_run(struct shmt_target *compiler,
                                      struct shmt_compiler_batch *batch,
                                      struct shmt_error *err)
{
    struct run run = {
        .batch = batch, .target = compiler,
        .filter = {
            .kernel = compiler->kernel, .device = batch->device,
            .problem = batch->problem,
            .policy = {.max_spill_bytes = -1, .min_occupancy_percent = 0}
        }
    };

    shmt_command_pulse_work("compiling %zu configuration%s", batch->count,
                            shmt_text_plural(batch->count));
    return work(&run, err);
}

enum shmtune_status
shmt_compiler_check_batch(const struct shmt_kernel *kernel,
                          const struct shmt_compiler_batch *batch,
                          struct shmt_error *err)
{
    const struct shmt_result *failed = NULL;

    for (size_t k = 0; k < batch->count; k++) {
        const struct shmt_result *const result = &batch->results[k];
        const enum shmt_stage stage = shmt_verdict_stage(result->verdict);

        /* Here nothing runs: what crashed is the compiler. */
        const bool died = result->verdict == SHMT_VERDICT_CRASH;

        /* The verdict too_large may also come from the compiler. */
        if ((stage > SHMT_STAGE_COMPILE && !died) ||
            result->resources.registers >= 0)
            return SHMTUNE_OK;
        if ((stage == SHMT_STAGE_COMPILE || died) && failed == NULL)
            failed = result;
    }
    if (failed == NULL)
        return SHMTUNE_OK;
    return shmt_error_set(err, SHMTUNE_COMPILE,
                          "%s: none of %zu configuration%s compiles: %s%s%s",
                          kernel->name, batch->count,
                          shmt_text_plural(batch->count),
                          shmt_verdict_word(failed->verdict),
                          failed->reason[0] == '\0' ? "" : ": ",
                          failed->reason);
}
