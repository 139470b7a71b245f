/* SPDX-License-Identifier: MIT */
/*
 * bench: measures one candidate: loads it, compares the driver's attributes
 * with the compiler's report, verifies it, times it and verifies it again.
 *
 * Loaded binaries are kept: the finals measure a few candidates in turn, which
 * then need not be loaded again.
 */
#include "bench/bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/state.h"
#include "device/device.h"
#include "gpu/gpu.h"

/* -- binaries ------------------------------------------------------------- */

static void drop(struct shmt_bench *bench, struct shmt_bench_loaded *loaded)
{
    if (!bench->lost)
        shmt_module_unload(bench->options.driver, &loaded->module);
    shmt_image_free(loaded->image);
    *loaded = (struct shmt_bench_loaded){0};
}

static void unload_all(struct shmt_bench *bench)
{
    for (size_t k = 0; k < SHMT_BENCH_MODULES; k++)
        drop(bench, &bench->modules[k]);
}

static struct shmt_bench_loaded *find(struct shmt_bench *bench, const char *key)
{
    for (size_t k = 0; k < SHMT_BENCH_MODULES; k++)
        if (bench->modules[k].image != NULL &&
            strcmp(bench->modules[k].key, key) == 0)
            return &bench->modules[k];
    return NULL;
}

/* A free place, or that of the one that was not used for the longest time. */
static struct shmt_bench_loaded *make_room(struct shmt_bench *bench)
{
    struct shmt_bench_loaded *oldest = NULL;

    for (size_t k = 0; k < SHMT_BENCH_MODULES; k++) {
        struct shmt_bench_loaded *loaded = &bench->modules[k];

        if (loaded->image == NULL)
            return loaded;
        if (!loaded->pinned && (oldest == NULL || loaded->used < oldest->used))
            oldest = loaded;
    }
    drop(bench, oldest);
    return oldest;
}

enum shmtune_status shmt_bench_load(struct shmt_bench *bench,
                                    struct shmt_kernel_evaluated *evaluated,
                                    struct shmt_bench_loaded **out, bool *full,
                                    struct shmt_error *err)
{
    const struct shmt_image_request request = {
        .evaluated = evaluated, .arch = bench->arch,
        .nvrtc_version = bench->kernel->nvcc ? bench->options.nvcc->version
                                             : bench->options.nvrtc_version,
        .nvcc = bench->options.nvcc,
    };
    char key[SHMT_DIGEST_TEXT];
    enum shmtune_status status = shmt_image_key(&request, key, err);
    struct shmt_bench_loaded *place, fresh = {0};

    if (status != SHMTUNE_OK)
        return status;
    place = find(bench, key);
    if (place == NULL) {
        const double begun_s = shmt_clock_s();

        status = shmt_image_get(&request, bench->options.nvrtc,
                                bench->options.images, &fresh.image, err);
        if (status != SHMTUNE_OK)
            return status;
        if (!fresh.image->found)
            bench->once_s += shmt_clock_s() - begun_s;
        status = shmt_module_load(bench->options.driver, fresh.image,
                                  &fresh.module, err);
        if (status != SHMTUNE_OK) {
            shmt_image_free(fresh.image);
            if (full != NULL)
                *full = status == SHMTUNE_NO_MEMORY;
            /* There is no other binary to try. */
            return shmt_error_set_status(err, SHMTUNE_CUDA);
        }
        memcpy(fresh.key, key, sizeof key);
        place = make_room(bench);
        *place = fresh;
    }
    place->used = ++bench->uses;
    *out = place;
    return SHMTUNE_OK;
}

/* -- open and close ------------------------------------------------------- */

static enum shmtune_status open_context(struct shmt_bench *bench,
                                        struct shmt_error *err)
{
    const struct shmt_driver *driver = bench->options.driver;
    const char *what = "cuDeviceGet";
    CUcontext context = NULL;
    CUresult result = driver->DeviceGet(&bench->handle,
                                        bench->options.ordinal);

    if (result == CUDA_SUCCESS) {
        what = "cuDevicePrimaryCtxRetain";
        result = driver->DevicePrimaryCtxRetain(&context, bench->handle);
        bench->retained = result == CUDA_SUCCESS;
    }
    if (result == CUDA_SUCCESS) {
        what = "cuCtxSetCurrent";
        result = driver->CtxSetCurrent(context);
    }
    if (result == CUDA_SUCCESS) {
        what = "cuStreamCreate";
        result = driver->StreamCreate(&bench->stream, CU_STREAM_NON_BLOCKING);
    }
    if (result == CUDA_SUCCESS) {
        what = "cuEventCreate";
        result = driver->EventCreate(&bench->begin, CU_EVENT_DEFAULT);
    }
    if (result == CUDA_SUCCESS)
        result = driver->EventCreate(&bench->end, CU_EVENT_DEFAULT);
    return shmt_driver_check(driver, result, err, "%s on device %d", what,
                             bench->options.ordinal);
}

enum shmtune_status shmt_bench_open(const struct shmt_kernel *kernel,
                                    const struct shmt_bench_options *options,
                                    struct shmt_bench **out,
                                    struct shmt_error *err)
{
    struct shmt_bench *bench = calloc(1, sizeof *bench);
    enum shmtune_status status;

    if (bench == NULL)
        return shmt_error_memory(err);
    bench->kernel = kernel;
    bench->options = *options;
    if (options->nvrtc != NULL)
        bench->options.nvrtc_version = options->nvrtc->version;
    status = shmt_driver_describe_device(options->driver, options->ordinal,
                                         &bench->device, err);
    if (status == SHMTUNE_OK)
        status = open_context(bench, err);
    if (status == SHMTUNE_OK) {
        const struct shmt_probe_options probe = {
            .driver = options->driver, .nvrtc = options->nvrtc,
            .nvrtc_version = bench->options.nvrtc_version,
            .device = &bench->device,
            .elements = shmt_probe_elements(kernel), .folder = options->images,
            .cache = options->cache,
        };

        shmt_device_target(&bench->device, kernel->features, bench->arch);
        status = shmt_probe_open(&probe, bench->stream, &bench->probe,
                                  err);
    }
    if (status != SHMTUNE_OK) {
        shmt_bench_close(bench);
        return status;
    }
    *out = bench;
    return SHMTUNE_OK;
}

void shmt_bench_close(struct shmt_bench *bench)
{
    const struct shmt_driver *driver;

    if (bench == NULL)
        return;
    driver = bench->options.driver;
    unload_all(bench);
    if (bench->lost) {
        /* A broken context cannot be released, and the process ends anyway. */
        free(bench);
        return;
    }
    if (bench->stream != NULL)
        driver->StreamSynchronize(bench->stream);
    shmt_bench_problem_free(bench);
    shmt_probe_close(&bench->probe);
    if (bench->begin != NULL)
        driver->EventDestroy(bench->begin);
    if (bench->end != NULL)
        driver->EventDestroy(bench->end);
    if (bench->stream != NULL)
        driver->StreamDestroy(bench->stream);
    if (bench->retained)
        driver->DevicePrimaryCtxRelease(bench->handle);
    free(bench);
}

const struct shmtune_device *shmt_bench_device(const struct shmt_bench *bench)
{
    return &bench->device;
}

const char *shmt_bench_protocol(const struct shmt_bench *bench)
{
    return bench->options.warm ? "warm-l2" : "cold-l2";
}

bool shmt_bench_context_lost(const struct shmt_bench *bench)
{
    return bench->lost;
}

void shmt_bench_set_verdict(struct shmt_bench *bench, CUresult result,
                            const char *when, struct shmt_result *out)
{
    enum shmt_verdict verdict = SHMT_VERDICT_LAUNCH_ERROR;
    struct shmt_error why = {0};

    if (bench->refused != NULL) {
        shmt_result_set_verdict(out, verdict, "%.100s returned %d %s",
                                bench->refused->entry, bench->refusal, when);
        bench->refused = NULL;
        return;
    }
    shmt_driver_check(bench->options.driver, result, &why, "%s", when);
    if (result == CUDA_ERROR_OUT_OF_MEMORY)
        verdict = SHMT_VERDICT_OUT_OF_MEMORY;
    else if (result == CUDA_ERROR_LAUNCH_TIMEOUT)
        verdict = SHMT_VERDICT_TIMEOUT;
    else if (shmt_driver_is_sticky(result))
        verdict = SHMT_VERDICT_CRASH;
    bench->lost = bench->lost || shmt_driver_is_sticky(result);
    shmt_result_set_verdict(out, verdict, "%s", why.text);
}

/* -- what the driver says ------------------------------------------------- */

static void note_registers(const struct shmt_function *function,
                           const struct shmt_image_entry *entry,
                           struct shmt_bench_note *note)
{
    if (function->registers != entry->resources.registers)
        snprintf(note->text, sizeof note->text,
                 "%.64s: %d registers by the driver, %d by the compiler",
                 entry->name, function->registers,
                 entry->resources.registers);
}

/* Compares the static shared bytes of the spec, the compiler and the driver. */
static void check_static(const struct shmt_function *function,
                         const struct shmt_image_entry *entry,
                         const struct shmt_geometry *geometry,
                         struct shmt_result *out)
{
    const int64_t compiled = entry->resources.shared_static_bytes;
    struct shmt_fit fit;
    char text[SHMT_FIT_TEXT];

    if (!shmt_fit_stated(geometry, compiled, &fit)) {
        shmt_fit_text(&fit, text);
        shmt_result_set_verdict(out, SHMT_VERDICT_SPEC_MISMATCH, "%.64s: %s",
                                entry->name, text);
    } else if (function->shared_static_bytes != compiled)
        shmt_result_set_verdict(out, SHMT_VERDICT_SPEC_MISMATCH,
                                "%.64s: the compiler reports %lld bytes of "
                                "static shared memory, the driver "
                                "%d", entry->name,
                                (long long)compiled,
                                function->shared_static_bytes);
}

/* The launch with the lowest occupancy stands for all. */
static enum shmtune_status
read_occupancy(const struct shmt_bench *bench, const struct shmt_bench_run *run,
               size_t k, struct shmt_result *out, struct shmt_bench_note *note,
               struct shmt_error *err)
{
    const struct shmt_image_entry *entry =
        &run->loaded->image->entries[run->loaded->image->launch_entry[k]];
    const struct shmt_function *function =
        &run->loaded->module.functions[run->loaded->image->launch_entry[k]];
    const struct shmt_geometry *geometry = &run->evaluated->geometry[k];
    struct shmt_resources resources = entry->resources;
    struct shmt_fit fit;
    char text[SHMT_FIT_TEXT];
    const int threads = (int)shmt_geometry_threads(geometry);
    const int warp = bench->device.warp_size;
    int blocks = 0, percent;
    enum shmtune_status status = shmt_function_occupancy(
        bench->options.driver, function, geometry, &blocks, err);
    bool fits;

    if (status != SHMTUNE_OK)
        return status;
    resources.max_threads = function->max_threads;
    fits = shmt_fit_launch(&bench->device, geometry, &resources, &fit);
    percent = (blocks * ((threads + warp - 1) / warp * warp) * 100 +
               bench->device.max_threads_per_multiprocessor / 2) /
              bench->device.max_threads_per_multiprocessor;
    if (out->resident_blocks < 0 || percent < out->occupancy_percent) {
        out->resident_blocks = blocks;
        out->occupancy_percent = percent;
        out->limiter = fit.occupancy.limiter;
        note->computed_blocks = fit.occupancy.resident_blocks;
    }
    if (fit.occupancy.resident_blocks >= 0 &&
        blocks != fit.occupancy.resident_blocks && note->text[0] == '\0')
        snprintf(note->text, sizeof note->text,
                 "%.64s: %d resident blocks by the driver, %d by "
                 "cuda_occupancy.h", entry->name, blocks,
                 fit.occupancy.resident_blocks);
    if (blocks == 0 || (!fits && fit.limit == SHMT_FIT_COOPERATIVE)) {
        shmt_fit_text(&fit, text);
        shmt_result_set_verdict(out, SHMT_VERDICT_NOT_RESIDENT, "%s",
                                fits ? "no block fits a multiprocessor, by the "
                                "driver" : text);
    }
    return SHMTUNE_OK;
}

/* Geometry and attributes of launch k. */
static enum shmtune_status prepare_launch(struct shmt_bench *bench,
                                          struct shmt_bench_run *run, size_t k,
                                          struct shmt_result *out,
                                          struct shmt_bench_note *note)
{
    struct shmt_function *function =
        shmt_module_function(&run->loaded->module, k);
    const struct shmt_image_entry *entry =
        &run->loaded->image->entries[run->loaded->image->launch_entry[k]];
    const struct shmt_geometry *geometry = &run->evaluated->geometry[k];
    enum shmtune_status status;
    struct shmt_error why = {0};

    note_registers(function, entry, note);
    check_static(function, entry, geometry, out);
    if (out->verdict != SHMT_VERDICT_OK)
        return SHMTUNE_OK;
    if (function->constant_bytes > out->resources.constant_bytes)
        out->resources.constant_bytes = function->constant_bytes;
    if (out->resources.max_threads < 0 ||
        function->max_threads < out->resources.max_threads)
        out->resources.max_threads = function->max_threads;
    if (geometry->shared_dynamic > out->shared_dynamic_bytes)
        out->shared_dynamic_bytes = geometry->shared_dynamic;
    status = shmt_function_prepare(bench->options.driver, function, geometry,
                                   &why);
    if (status == SHMTUNE_OK)
        status = read_occupancy(bench, run, k, out, note, &why);
    if (status != SHMTUNE_OK)
        shmt_result_set_verdict(out, SHMT_VERDICT_LAUNCH_ERROR, "%s", why.text);
    return SHMTUNE_OK;
}

/* Sets a verdict if the candidate is the reason why there is no module;
 * otherwise returns the status.  `full`: the driver had no memory for it. */
static enum shmtune_status verdict_of_loading(const struct shmt_error *why,
                                              bool full,
                                              struct shmt_result *out,
                                              struct shmt_error *err)
{
    const struct {
        enum shmtune_status status;
        enum shmt_verdict verdict;
    } faults[] = {
        {SHMTUNE_COMPILE, SHMT_VERDICT_COMPILE_ERROR},
        {SHMTUNE_INVALID_FILE, SHMT_VERDICT_SPEC_MISMATCH},
        {SHMTUNE_CUDA, full ? SHMT_VERDICT_OUT_OF_MEMORY
                            : SHMT_VERDICT_LAUNCH_ERROR},
    };

    for (size_t k = 0; k < sizeof faults / sizeof faults[0]; k++)
        if (why->status == faults[k].status) {
            shmt_result_set_verdict(out, faults[k].verdict, "%s", why->text);
            return SHMTUNE_OK;
        }
    return shmt_error_set(err, why->status, "%s", why->text);
}

enum shmtune_status
shmt_bench_prepare_run(struct shmt_bench *bench,
                       const struct shmt_bench_request *request,
                       struct shmt_bench_run *run, struct shmt_result *out,
                       struct shmt_bench_note *note, struct shmt_error *err)
{
    struct shmt_kernel_evaluated *evaluated = run->evaluated;
    struct shmt_error why = {0};
    bool full = false;
    enum shmtune_status status =
        shmt_bench_load(bench, evaluated, &run->loaded, &full, &why);

    if (status != SHMTUNE_OK)
        return verdict_of_loading(&why, full, out, err);
    if (request->image != NULL && request->image[0] != '\0' &&
        strcmp(request->image, run->loaded->key) != 0)
        return shmt_error_set(err, SHMTUNE_INVALID_FILE,
                              "%s: it was changed since this candidate was "
                              "compiled; start the run again",
                              bench->kernel->source);
    memcpy(out->image, run->loaded->key, sizeof out->image);
    shmt_image_resources(run->loaded->image, &out->resources);
    out->shared_dynamic_bytes = 0;
    status = shmt_kernel_evaluate_launches(evaluated, err);
    for (size_t k = 0; k < evaluated->launch_count && status == SHMTUNE_OK &&
                       out->verdict == SHMT_VERDICT_OK; k++)
        if (evaluated->geometry[k].used && !evaluated->geometry[k].host)
            status = prepare_launch(bench, run, k, out, note);
    if (status == SHMTUNE_OK && out->verdict == SHMT_VERDICT_OK)
        status = shmt_bench_problem_configure(bench, evaluated, out, err);
    return status;
}

/* -- measuring ------------------------------------------------------------ */

static CUresult verify(struct shmt_bench *bench,
                       const struct shmt_bench_run *run,
                       struct shmt_result *out)
{
    CUresult result = shmt_bench_run_fresh(bench, run, SHMT_PATTERN_POISON_A);

    if (result == CUDA_SUCCESS)
        result = shmt_bench_verify(bench, SHMT_PATTERN_POISON_A, out);
    return result;
}

/* Takes the samples, then verifies what the last of them wrote. */
static CUresult measure(struct shmt_bench *bench,
                        const struct shmt_bench_run *run,
                        const struct shmt_bench_request *request,
                        struct shmt_result *out)
{
    const char *why = "right at first, but after the timing";
    struct shmt_result after;
    CUresult result = shmt_bench_run_restore(bench, run, SHMT_PATTERN_POISON_B);

    shmt_result_clear(&after);
    if (result == CUDA_SUCCESS)
        result = shmt_bench_time(bench, run, request, out);
    if (result == CUDA_SUCCESS)
        result = shmt_bench_verify(bench, SHMT_PATTERN_POISON_B, &after);
    if (result != CUDA_SUCCESS || after.verdict == SHMT_VERDICT_OK)
        return result;
    if (after.verdict == SHMT_VERDICT_OUT_OF_BOUNDS || !request->verify)
        shmt_result_set_verdict(out, after.verdict, "%s", after.reason);
    else
        shmt_result_set_verdict(out, SHMT_VERDICT_UNSTABLE, "%s %s", why,
                                after.reason);
    out->argument = after.argument;
    out->mismatches = after.mismatches;
    out->excess = after.excess;
    out->sample_count = 0;
    out->time_us = -1;
    return result;
}

/* Launches the candidate once between cuProfilerStart and cuProfilerStop. */
static CUresult profile(struct shmt_bench *bench,
                        const struct shmt_bench_run *run)
{
    const struct shmt_driver *driver = bench->options.driver;
    CUresult result = shmt_bench_run_restore(bench, run, SHMT_PATTERN_POISON_B);

    if (result == CUDA_SUCCESS)
        result = shmt_bench_run_zero(bench, run);
    if (result == CUDA_SUCCESS)
        result = shmt_probe_flush(&bench->probe);
    if (result == CUDA_SUCCESS)
        result = driver->StreamSynchronize(bench->stream);
    if (result == CUDA_SUCCESS)
        result = driver->ProfilerStart();
    if (result == CUDA_SUCCESS)
        result = shmt_bench_run_launch(bench, run);
    if (result == CUDA_SUCCESS)
        result = driver->StreamSynchronize(bench->stream);
    if (result == CUDA_SUCCESS)
        result = driver->ProfilerStop();
    return result;
}

static void run_candidate(struct shmt_bench *bench,
                          const struct shmt_bench_run *run,
                          const struct shmt_bench_request *request,
                          struct shmt_result *out)
{
    CUresult result = shmt_bench_run_fill(bench, run);
    const char *when =
        result == CUDA_SUCCESS ? "in the first run" : "filling variables";

    if (result == CUDA_SUCCESS && (request->verify || request->profile))
        result = verify(bench, run, out);
    if (result == CUDA_SUCCESS && out->verdict == SHMT_VERDICT_OK) {
        when = request->profile ? "under the profiler" : "while timing";
        result = request->profile ? profile(bench, run)
                                  : measure(bench, run, request, out);
    }
    if (result == CUDA_SUCCESS &&
        shmt_verdict_stage(out->verdict) == SHMT_STAGE_VERIFY) {
        when = "after a wrong result";
        result = shmt_bench_problem_repair(bench);
    }
    if (result != CUDA_SUCCESS)
        shmt_bench_set_verdict(bench, result, when, out);
}

enum shmtune_status shmt_bench_measure(struct shmt_bench *bench,
                                       const struct shmt_bench_request *request,
                                       struct shmt_result *result,
                                       struct shmt_bench_note *note,
                                       struct shmt_error *err)
{
    struct shmt_kernel_evaluated evaluated;
    struct shmt_bench_run run = {.evaluated = &evaluated};
    const double start = shmt_clock_s();
    struct shmt_result out;
    struct shmt_bench_note said = {.computed_blocks = -1};
    enum shmtune_status status;

    if (bench->lost)
        return shmt_error_set(err, SHMTUNE_CUDA, "the device's context is "
                              "lost: this process has to be replaced");
    shmt_kernel_evaluate(bench->kernel, request->problem, request->config,
                         &evaluated);
    shmt_result_clear(&out);
    bench->answer_s = bench->once_s = 0;
    status = shmt_bench_problem_prepare(bench, request->problem, err);
    if (status == SHMTUNE_OK)
        status = shmt_bench_prepare_run(bench, request, &run, &out, &said,
                                        err);
    if (status != SHMTUNE_OK)
        return status;
    if (out.verdict == SHMT_VERDICT_OK)
        run_candidate(bench, &run, request, &out);
    out.answer_ms = (int)(bench->answer_s * 1e3);
    out.once_ms = bench->once_s * 1e3;
    out.measure_ms = (shmt_clock_s() - start - bench->answer_s) * 1e3;
    *result = out;
    *note = said;
    return SHMTUNE_OK;
}
