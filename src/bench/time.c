/* SPDX-License-Identifier: MIT */
/*
 * time: samples by device events.
 *
 * Cold: in-outs restored, L2 read full, then event, launches, event.  The host
 * puts all of it on the stream while the flush still runs, so the time between
 * the events is the device's own.  For a short run the resolution of the clock
 * and the cost of the launch matter more: each of its samples is the median of
 * three.
 *
 * Warm: enough runs between the events to make the clock's resolution
 * irrelevant; only one if a run changes its own input.
 */
#include <stdlib.h>

#include "bench/state.h"

/* Below SHORT_US a sample is the median of three; a warm sample lasts about
 * WARM_US; sampling ends when it has taken LIMIT_US. */
static const double SHORT_US = 15, WARM_US = 200, LIMIT_US = 1e6;
enum { WARM_MOST = 100, GIVE_UP_SAMPLES = 2 };
/* A candidate is given up after one sample if it is above the threshold by
 * this factor. */
static const double FAR_ABOVE = 2;

static CUresult run_once(struct shmt_bench *bench,
                         const struct shmt_bench_run *run,
                         int repeats, double *us)
{
    const struct shmt_driver *driver = bench->options.driver;
    CUresult result = shmt_bench_run_restore_inouts(bench, run);
    float ms = 0;

    if (result == CUDA_SUCCESS && !bench->options.warm)
        result = shmt_probe_flush(&bench->probe);
    if (result == CUDA_SUCCESS)
        result = driver->EventRecord(bench->begin, bench->stream);
    for (int k = 0; k < repeats && result == CUDA_SUCCESS; k++)
        result = shmt_bench_run_zero_and_launch(bench, run);
    if (result == CUDA_SUCCESS)
        result = driver->EventRecord(bench->end, bench->stream);
    if (result == CUDA_SUCCESS)
        result = driver->EventSynchronize(bench->end);
    if (result == CUDA_SUCCESS)
        result = driver->EventElapsedTime(&ms, bench->begin, bench->end);
    if (result == CUDA_SUCCESS)
        *us = (double)ms * 1e3 / repeats;
    return result;
}

static double middle(double a, double b, double c)
{
    const double low = a < b ? a : b, high = a < b ? b : a;

    return c < low ? low : c > high ? high : c;
}

static CUresult sample(struct shmt_bench *bench,
                       const struct shmt_bench_run *run,
                       int repeats, double *us)
{
    double first = 0, second = 0, third = 0;
    CUresult result = run_once(bench, run, repeats, &first);

    *us = first;
    if (result != CUDA_SUCCESS || bench->options.warm || first >= SHORT_US)
        return result;
    result = run_once(bench, run, repeats, &second);
    if (result == CUDA_SUCCESS)
        result = run_once(bench, run, repeats, &third);
    *us = middle(first, second, third);
    return result;
}

static bool changes_its_input(const struct shmt_bench *bench)
{
    for (size_t k = 0; k < bench->kernel->argument_count; k++)
        if (bench->kernel->arguments[k].role == SHMT_ROLE_INOUT)
            return true;
    return false;
}

/* The first run of a binary loads its code; warm samples need a length. */
static CUresult warm_up(struct shmt_bench *bench,
                        const struct shmt_bench_run *run,
                        int *repeats)
{
    CUresult result = CUDA_SUCCESS;
    double us = 0;

    *repeats = 1;
    if (!run->loaded->warm || bench->options.warm)
        result = run_once(bench, run, 1, &us);
    if (result != CUDA_SUCCESS || !bench->options.warm ||
        changes_its_input(bench))
        return result;
    result = run_once(bench, run, 1, &us);
    if (us < WARM_US)
        *repeats = us > WARM_US / WARM_MOST ? (int)(WARM_US / us) : WARM_MOST;
    return result;
}

static bool is_too_slow(const struct shmt_result *out, double give_up_us)
{
    float least = out->samples_us[0];

    for (int k = 1; k < out->sample_count; k++)
        if (out->samples_us[k] < least)
            least = out->samples_us[k];
    return (double)least > (out->sample_count < GIVE_UP_SAMPLES
                                ? FAR_ABOVE * give_up_us : give_up_us);
}

CUresult shmt_bench_time(struct shmt_bench *bench,
                         const struct shmt_bench_run *run,
                         const struct shmt_bench_request *request,
                         struct shmt_result *out)
{
    int repeats = 1;
    double spent = 0;
    CUresult result = warm_up(bench, run, &repeats);

    out->sample_count = 0;
    for (int k = 0; k < request->samples && result == CUDA_SUCCESS; k++) {
        double us = 0;

        result = sample(bench, run, repeats, &us);
        if (result != CUDA_SUCCESS)
            break;
        out->samples_us[out->sample_count++] = (float)us;
        spent += us * repeats;
        if (out->sample_count <= GIVE_UP_SAMPLES &&
            is_too_slow(out, request->give_up_us)) {
            out->verdict = SHMT_VERDICT_SLOW;
            break;
        }
        if (spent > LIMIT_US)
            break;
    }
    if (result == CUDA_SUCCESS)
        shmt_result_summarise(out);
    return result;
}
