/* SPDX-License-Identifier: MIT */
/*
 * rerun: makes a recorded launch again, as it was and with other old contents
 * in one in-out, and counts what comes out otherwise.  Called by
 * command/worker.c.
 *
 * A byte is written where one of the poisons is not there any more; they
 * differ from each other in every byte.  In each type of reals they are a NaN,
 * a large, a large negative and a moderate number, so that what is the larger
 * or the smaller of two shows, and what is left where it is no number; to the
 * last one may be added without it staying the same.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/state.h"

static const uint32_t poisons[SHMT_RERUN_POISONS] = {
    0xffffffff, 0x7b7b7b7b, 0xfbfbfbfb, 0x3fa53fa5};

/* What is read at a time; a multiple of each element's size. */
enum { PART = 1 << 20 };

/* What numbers may be further apart than they were from run to run, before
 * something else must be the reason. */
static const double MORE = 4;

enum { WRITTEN = 1, OTHERWISE = 2 };

struct rerun {
    struct shmt_bench *bench;
    const struct shmt_bench_run *run;
    struct shmt_rerun *out;
    size_t poisoned;               /* the argument; SHMT_KERNEL_ARGUMENTS:
                                      none */
    unsigned char *flags;          /* of its bytes */
    unsigned char *first[SHMT_KERNEL_ARGUMENTS];    /* by buffer of `out` */
    unsigned char *now, *expected; /* parts */
};

static struct shmt_bench_slot *slot_of(const struct rerun *rerun, size_t k)
{
    return &rerun->bench->slots[rerun->out->buffers[k].argument];
}

/* -- memory --------------------------------------------------------------- */

static enum shmtune_status prepare(struct rerun *rerun,
                                   struct shmt_error *err)
{
    const struct shmt_kernel *kernel = rerun->bench->kernel;
    bool whole = true;

    rerun->out->count = 0;
    rerun->now = malloc(PART);
    rerun->expected = malloc(PART);
    for (size_t k = 0; k < kernel->argument_count; k++) {
        const struct shmt_bench_slot *slot = &rerun->bench->slots[k];
        const size_t n = rerun->out->count;

        if (!slot->given)
            continue;
        rerun->out->buffers[n] = (struct shmt_rerun_buffer){
            .argument = (int64_t)k, .bytes = (int64_t)slot->actual.bytes};
        rerun->out->count++;
        rerun->first[n] = malloc(slot->actual.bytes);
        whole = whole && rerun->first[n] != NULL;
        if (k != rerun->poisoned)
            continue;
        rerun->flags = calloc(1, slot->actual.bytes);
        whole = whole && rerun->flags != NULL;
    }
    return whole && rerun->now != NULL && rerun->expected != NULL
               ? SHMTUNE_OK : shmt_error_memory(err);
}

static void release(struct rerun *rerun)
{
    for (size_t k = 0; k < rerun->out->count; k++)
        free(rerun->first[k]);
    free(rerun->flags);
    free(rerun->now);
    free(rerun->expected);
}

/* -- launches ------------------------------------------------------------- */

/* As it was; or with the poison in what is asked for, unless NULL. */
static CUresult launch(struct rerun *rerun, const uint32_t *poison)
{
    struct shmt_bench *bench = rerun->bench;
    CUresult result = shmt_bench_run_fill(bench, rerun->run);

    if (result == CUDA_SUCCESS)
        result = shmt_bench_run_restore(bench, rerun->run,
                                        SHMT_PATTERN_POISON_A);
    if (result == CUDA_SUCCESS && poison != NULL)
        result = shmt_probe_poison(&bench->probe,
                                   &bench->slots[rerun->poisoned].actual,
                                   *poison);
    if (result == CUDA_SUCCESS)
        result = shmt_bench_run_put(bench, rerun->run);
    if (result == CUDA_SUCCESS)
        result = shmt_bench_run_zero(bench, rerun->run);
    if (result == CUDA_SUCCESS)
        result = shmt_bench_run_launch(bench, rerun->run);
    if (result == CUDA_SUCCESS)
        result = shmt_bench_run_take(bench, rerun->run);
    if (result == CUDA_SUCCESS)
        result = bench->options.driver->StreamSynchronize(bench->stream);
    return result;
}

static CUresult read_part(const struct rerun *rerun,
                          const struct shmt_buffer *buffer, uint64_t at,
                          size_t size, unsigned char *out)
{
    return rerun->bench->options.driver->MemcpyDtoH(
        out, shmt_buffer_data(buffer) + at, size);
}

/* -- two contents --------------------------------------------------------- */

static int64_t bytes_apart(const unsigned char *a, const unsigned char *b,
                           size_t size)
{
    int64_t count = 0;

    for (size_t i = 0; i < size; i++)
        count += a[i] != b[i];
    return count;
}

/* 0 for the same bits; INFINITY where one is no number. */
static double apart(enum shmt_element element, const unsigned char *a,
                    const unsigned char *b)
{
    const double distance =
        memcmp(a, b, shmt_element_bytes(element)) == 0
            ? 0 : fabs(shmt_element_real(element, a) -
                       shmt_element_real(element, b));

    return isfinite(distance) ? distance : (double)INFINITY;
}

static double furthest(enum shmt_element element, const unsigned char *a,
                       const unsigned char *b, size_t size)
{
    double most = 0;

    for (size_t at = 0; at < size; at += shmt_element_bytes(element))
        most = fmax(most, apart(element, a + at, b + at));
    return most;
}

static double largest(enum shmt_element element, const unsigned char *a,
                      size_t size)
{
    double most = 0;

    for (size_t at = 0; at < size; at += shmt_element_bytes(element)) {
        const double number = fabs(shmt_element_real(element, a + at));

        if (isfinite(number))
            most = fmax(most, number);
    }
    return most;
}

/* -- as it was ------------------------------------------------------------ */

/* Of bytes that are not all the same; the first of them is byte `at`. */
static void note_places(struct shmt_rerun_buffer *one,
                        const unsigned char *now, const unsigned char *before,
                        int64_t at, size_t size)
{
    size_t first = 0, end = size;

    while (now[first] == before[first])
        first++;
    while (now[end - 1] == before[end - 1])
        end--;
    if (one->places[1] == 0 || at + (int64_t)first < one->places[0])
        one->places[0] = at + (int64_t)first;
    if (at + (int64_t)end > one->places[1])
        one->places[1] = at + (int64_t)end;
}

/* Of a part that begins with byte `at`. */
static void note_plain(struct shmt_rerun_buffer *one, bool first,
                       enum shmt_element element, const unsigned char *now,
                       const unsigned char *before, int64_t at, size_t size)
{
    const int64_t count = bytes_apart(now, before, size);

    *(first ? &one->other : &one->varying) += count;
    if (first)
        one->most = fmax(one->most, largest(element, before, size));
    if (count == 0)
        return;
    one->spread = fmax(one->spread, furthest(element, now, before, size));
    note_places(one, now, before, at, size);
}

/* The first with what is expected, a later one with the first. */
static CUresult compare_plain(struct rerun *rerun, size_t k, bool first)
{
    struct shmt_rerun_buffer *one = &rerun->out->buffers[k];
    const struct shmt_bench_slot *slot = slot_of(rerun, k);
    const uint64_t bytes = slot->actual.bytes;
    CUresult result = CUDA_SUCCESS;

    one->varying = 0;
    for (uint64_t at = 0; at < bytes && result == CUDA_SUCCESS; at += PART) {
        const size_t size = bytes - at < PART ? (size_t)(bytes - at) : PART;

        result = read_part(rerun, &slot->actual, at, size, rerun->now);
        if (result == CUDA_SUCCESS && first)
            result = read_part(rerun, &slot->expected, at, size,
                               rerun->expected);
        if (result != CUDA_SUCCESS)
            break;
        note_plain(one, first, slot->actual.element, rerun->now,
                   first ? rerun->expected : rerun->first[k] + at,
                   (int64_t)at, size);
        if (first)
            memcpy(rerun->first[k] + at, rerun->now, size);
    }
    return result;
}

static CUresult run_plain(struct rerun *rerun)
{
    CUresult result = CUDA_SUCCESS;

    for (int time = 0; time < SHMT_RERUN_TIMES && result == CUDA_SUCCESS;
         time++) {
        result = launch(rerun, NULL);
        for (size_t k = 0; k < rerun->out->count && result == CUDA_SUCCESS;
             k++) {
            const int64_t before = rerun->out->buffers[k].varying;
            struct shmt_rerun_buffer *one = &rerun->out->buffers[k];

            result = compare_plain(rerun, k, time == 0);
            if (one->varying < before)
                one->varying = before;
        }
    }
    return result;
}

/* -- with other contents -------------------------------------------------- */

static bool is_otherwise(const struct rerun *rerun, size_t k,
                         const unsigned char *now, const unsigned char *first)
{
    const enum shmt_element element = slot_of(rerun, k)->actual.element;
    const double spread = rerun->out->buffers[k].spread;

    if (memcmp(now, first, shmt_element_bytes(element)) == 0)
        return false;
    return !shmt_element_is_real(element) || !isfinite(spread) ||
           apart(element, now, first) > MORE * spread;
}

/* Of a part that begins with byte `at`; the bytes that come out otherwise, but
 * of what is poisoned, where it is noted which they are. */
static int64_t note_poisoned(struct rerun *rerun, size_t k, uint64_t at,
                             size_t size, uint32_t poison)
{
    const struct shmt_bench_slot *slot = slot_of(rerun, k);
    const size_t step = shmt_element_bytes(slot->actual.element);
    const unsigned char *first = rerun->first[k] + at;
    const bool poisoned =
        (size_t)rerun->out->buffers[k].argument == rerun->poisoned;
    int64_t count = 0;

    for (size_t i = 0; poisoned && i < size; i++)
        if (rerun->now[i] != (unsigned char)(poison >> (8 * (i % 4))))
            rerun->flags[at + i] |= WRITTEN;
    for (size_t i = 0; i < size; i += step) {
        if (!is_otherwise(rerun, k, rerun->now + i, first + i))
            continue;
        if (poisoned)
            rerun->flags[at + i] |= OTHERWISE;
        else
            count += (int64_t)step;
    }
    return count;
}

static CUresult compare_poisoned(struct rerun *rerun, size_t k,
                                 uint32_t poison)
{
    struct shmt_rerun_buffer *one = &rerun->out->buffers[k];
    const struct shmt_buffer *buffer = &slot_of(rerun, k)->actual;
    CUresult result = CUDA_SUCCESS;
    int64_t count = 0;

    for (uint64_t at = 0; at < buffer->bytes && result == CUDA_SUCCESS;
         at += PART) {
        const size_t size = buffer->bytes - at < PART
                                ? (size_t)(buffer->bytes - at) : PART;

        result = read_part(rerun, buffer, at, size, rerun->now);
        if (result == CUDA_SUCCESS)
            count += note_poisoned(rerun, k, at, size, poison);
    }
    if (count > one->changed)
        one->changed = count;
    return result;
}

/* Of the poisoned buffer, when all poisons were tried. */
static void add_up(const struct rerun *rerun, struct shmt_rerun_buffer *one)
{
    const int64_t step = (int64_t)shmt_element_bytes(
        rerun->bench->slots[one->argument].actual.element);
    int64_t written = 0;

    for (int64_t at = 0; at < one->bytes; at += step) {
        int64_t here = 0;

        for (int64_t i = at; i < at + step; i++)
            here += (rerun->flags[i] & WRITTEN) != 0;
        if (here == 0)
            continue;
        if (written == 0)
            one->written[0] = at;
        one->written[1] = at + step;
        written += here;
        if ((rerun->flags[at] & OTHERWISE) != 0)
            one->changed += step;
    }
    one->unwritten = one->written[1] - one->written[0] - written;
}

static CUresult run_poisoned(struct rerun *rerun)
{
    CUresult result = CUDA_SUCCESS;

    if (rerun->flags == NULL)
        return CUDA_SUCCESS;
    for (size_t p = 0; p < SHMT_RERUN_POISONS && result == CUDA_SUCCESS;
         p++) {
        result = launch(rerun, &poisons[p]);
        for (size_t k = 0; k < rerun->out->count && result == CUDA_SUCCESS;
             k++)
            result = compare_poisoned(rerun, k, poisons[p]);
    }
    for (size_t k = 0; k < rerun->out->count; k++)
        if ((size_t)rerun->out->buffers[k].argument == rerun->poisoned)
            add_up(rerun, &rerun->out->buffers[k]);
    return result;
}

/* -- the whole ------------------------------------------------------------ */

static void run_all(struct rerun *rerun, struct shmt_result *verdict)
{
    const char *when = "when it was made again";
    CUresult result = run_plain(rerun);

    if (result == CUDA_SUCCESS && rerun->flags != NULL) {
        when = "with other contents in the buffer";
        result = run_poisoned(rerun);
        /* What it read as an index may have led it anywhere. */
        if (result == CUDA_SUCCESS)
            result = shmt_bench_problem_repair(rerun->bench);
    }
    if (result != CUDA_SUCCESS)
        shmt_bench_set_verdict(rerun->bench, result, when, verdict);
}

enum shmtune_status shmt_bench_rerun(struct shmt_bench *bench,
                                     const struct shmt_bench_request *request,
                                     size_t poisoned,
                                     struct shmt_result *result,
                                     struct shmt_rerun *out,
                                     struct shmt_error *err)
{
    struct shmt_kernel_evaluated evaluated;
    struct shmt_bench_run run = {.evaluated = &evaluated};
    struct shmt_bench_note note = {.computed_blocks = -1};
    struct rerun rerun = {.bench = bench, .run = &run, .out = out,
                          .poisoned = poisoned};
    enum shmtune_status status;

    shmt_kernel_evaluate(bench->kernel, request->problem, request->config,
                         &evaluated);
    shmt_result_clear(result);
    out->count = 0;
    status = shmt_bench_problem_prepare(bench, request->problem, err);
    if (status == SHMTUNE_OK)
        status = shmt_bench_prepare_run(bench, request, &run, result, &note,
                                        err);
    if (status == SHMTUNE_OK && result->verdict == SHMT_VERDICT_OK) {
        status = prepare(&rerun, err);
        if (status == SHMTUNE_OK)
            run_all(&rerun, result);
        release(&rerun);
    }
    return status;
}
