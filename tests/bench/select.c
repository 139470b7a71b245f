/* SPDX-License-Identifier: MIT */
/*
 * select: how long the library takes to open and to select.
 *
 *     select [FOLDER [COUNT]]   FOLDER has kernels/ and tunings/; else the
 *                               default search path
 *
 * One line a kernel and level, medians of samples of many calls each.  With a
 * COUNT, one line for each of so many problems at random of each kernel and
 * device: what was chosen, to compare two versions by; and on the standard
 * error the distribution of the times, of each problem the least of several
 * rounds over all problems of the kernel.
 */
#include "shmtune.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SAMPLES = 501, CALLS = 2000, OPENS = 51, ROUNDS = 250 };

static double now_ns(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double median(double *samples, size_t count)
{
    qsort(samples, count, sizeof *samples, compare);
    return samples[count / 2];
}

static double time_open_ns(const char *path)
{
    static double samples[OPENS];

    for (size_t k = 0; k < OPENS; k++) {
        const double start = now_ns();
        struct shmtune *library;

        if (shmtune_open(path, &library, NULL) != SHMTUNE_OK)
            exit(EXIT_FAILURE);
        samples[k] = now_ns() - start;
        shmtune_close(library);
    }
    return median(samples, OPENS);
}

static double time_select_ns(const struct shmtune_kernel *kernel,
                             const struct shmtune_device *device,
                             const int64_t *problem)
{
    static double samples[SAMPLES];
    struct shmtune_choice choice = SHMTUNE_CHOICE_INIT;
    double sum = 0;

    for (size_t k = 0; k < SAMPLES; k++) {
        const double start = now_ns();

        for (size_t call = 0; call < CALLS; call++) {
            shmtune_select(kernel, device, problem, &choice);
            sum += choice.time_us;
        }
        samples[k] = (now_ns() - start) / CALLS;
    }
    /* The sum is asked for, so that no call can be left out. */
    return sum == 0 ? -1 : median(samples, SAMPLES);
}

static void report(const struct shmtune_kernel *kernel,
                   const struct shmtune_device *device,
                   const int64_t *problem)
{
    struct shmtune_choice choice = SHMTUNE_CHOICE_INIT;

    if (shmtune_select(kernel, device, problem, &choice) != SHMTUNE_OK)
        return;
    printf("%-16s %-16s %8.1f ns\n", shmtune_kernel_name(kernel),
           shmtune_match_text(choice.match),
           time_select_ns(kernel, device, problem));
}

/* An exact hit, a nearest size, another device, and the default. */
static void report_levels(const struct shmtune_kernel *kernel)
{
    const size_t last = shmtune_tuned_device_count(kernel) - 1;
    struct shmtune_device device = SHMTUNE_DEVICE_INIT;
    int64_t problem[SHMTUNE_DIMENSIONS] = {0};
    struct shmtune_choice choice = SHMTUNE_CHOICE_INIT;

    shmtune_tuned_device_at(kernel, last, &device);
    for (size_t k = 0; k < shmtune_dimension_count(kernel); k++) {
        struct shmtune_dimension dimension = SHMTUNE_DIMENSION_INIT;

        shmtune_dimension_at(kernel, k, &dimension);
        problem[k] = dimension.fallback;
    }
    if (shmtune_select(kernel, &device, problem, &choice) != SHMTUNE_OK ||
        choice.tuned_problem == NULL)
        return;
    report(kernel, &device, choice.tuned_problem);
    for (size_t k = 0; k < shmtune_dimension_count(kernel); k++)
        problem[k] = choice.tuned_problem[k];
    problem[0]++;
    report(kernel, &device, problem);
    snprintf(device.name, sizeof device.name, "another");
    report(kernel, &device, problem);
    device.compute_major = 1;
    report(kernel, &device, problem);
}

static double draw(void)
{
    static uint64_t state = 1;

    state = state * UINT64_C(6364136223846793005) + 1;
    return (double)(state >> 33) / 0x1p31;
}

/* Log-uniform between the bounds, or around the size that the spec has as
 * default; half of all are multiples of a power of two. */
static int64_t draw_size(const struct shmtune_dimension *dimension, bool near)
{
    double low = log2((double)dimension->low);
    double high = log2((double)dimension->high + 1);
    int64_t size, unit;

    if (near) {
        low = fmax(low, log2((double)dimension->fallback) - 6);
        high = fmin(high, log2((double)dimension->fallback) + 3);
    }
    size = (int64_t)exp2(low + (high - low) * draw());
    unit = draw() < 0.5 ? 1 : INT64_C(1) << (int)(8 * draw());
    size -= size % unit;
    return size < dimension->low ? dimension->low : size;
}

static void draw_problem(const struct shmtune_kernel *kernel, bool near,
                         int64_t *problem)
{
    for (size_t k = 0; k < shmtune_dimension_count(kernel); k++) {
        struct shmtune_dimension dimension = SHMTUNE_DIMENSION_INIT;

        shmtune_dimension_at(kernel, k, &dimension);
        problem[k] = draw_size(&dimension, near);
    }
}

static void print_choice(const struct shmtune_kernel *kernel,
                         const struct shmtune_device *device,
                         const int64_t *problem)
{
    const size_t count = shmtune_dimension_count(kernel);
    struct shmtune_choice choice = SHMTUNE_CHOICE_INIT;
    const bool found =
        shmtune_select(kernel, device, problem, &choice) == SHMTUNE_OK;
    char text[1024] = "";

    printf("%s, %s", device->name, shmtune_kernel_name(kernel));
    for (size_t k = 0; k < count; k++)
        printf(" %lld", (long long)problem[k]);
    printf(": %s", found ? shmtune_match_text(choice.match) : "nothing");
    for (size_t k = 0; k < count && choice.tuned_problem != NULL; k++)
        printf(" %lld", (long long)choice.tuned_problem[k]);
    if (found)
        shmtune_choice_text(&choice, text, sizeof text);
    printf(" %s\n", text);
}

/* Adds `count` times in nanoseconds. */
static void select_at_random(const struct shmtune_kernel *kernel,
                             const struct shmtune_device *device,
                             size_t count, double *times)
{
    int64_t (*problems)[SHMTUNE_DIMENSIONS] = calloc(count, sizeof *problems);
    struct shmtune_choice choice = SHMTUNE_CHOICE_INIT;

    if (problems == NULL)
        exit(EXIT_FAILURE);
    for (size_t k = 0; k < count; k++) {
        draw_problem(kernel, k % 2 != 0, problems[k]);
        times[k] = INFINITY;
    }
    for (int round = 0; round < ROUNDS; round++)
        for (size_t k = 0; k < count; k++) {
            const double start = now_ns();

            shmtune_select(kernel, device, problems[k], &choice);
            times[k] = fmin(times[k], now_ns() - start);
        }
    for (size_t k = 0; k < count; k++) {
        printf("%5.0f ns, ", times[k]);
        print_choice(kernel, device, problems[k]);
    }
    free(problems);
}

static void report_random(const struct shmtune *library, size_t count)
{
    size_t made = 0, room = 0;
    double *times = NULL;

    for (size_t k = 0; k < shmtune_kernel_count(library); k++) {
        const struct shmtune_kernel *kernel = shmtune_kernel_at(library, k);

        for (size_t d = 0; d < shmtune_tuned_device_count(kernel); d++) {
            struct shmtune_device device = SHMTUNE_DEVICE_INIT;

            room += count;
            times = realloc(times, room * sizeof *times);
            if (times == NULL)
                exit(EXIT_FAILURE);
            shmtune_tuned_device_at(kernel, d, &device);
            select_at_random(kernel, &device, count, times + made);
            made += count;
        }
    }
    if (made == 0)
        return;
    qsort(times, made, sizeof *times, compare);
    fprintf(stderr, "%zu problems: median %.2f us, p90 %.2f, p99 %.2f, "
            "worst %.2f\n", made, times[made / 2] / 1e3,
            times[made * 9 / 10] / 1e3, times[made * 99 / 100] / 1e3,
            times[made - 1] / 1e3);
    free(times);
}

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : NULL;
    const size_t count = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
    struct shmtune *library;
    size_t files = 0;

    if (shmtune_open(path, &library, NULL) != SHMTUNE_OK)
        return EXIT_FAILURE;
    for (size_t k = 0; k < shmtune_note_count(library); k++)
        fprintf(stderr, "%s\n", shmtune_note(library, k));
    for (size_t k = 0; k < shmtune_kernel_count(library); k++)
        files += shmtune_tuned_device_count(shmtune_kernel_at(library, k));
    if (count > 0) {
        report_random(library, count);
        shmtune_close(library);
        return EXIT_SUCCESS;
    }
    printf("open: %zu kernels, %zu tunings: %.2f ms\n",
           shmtune_kernel_count(library), files, time_open_ns(path) / 1e6);
    for (size_t k = 0; k < shmtune_kernel_count(library); k++)
        if (shmtune_tuned_device_count(shmtune_kernel_at(library, k)) > 0)
            report_levels(shmtune_kernel_at(library, k));
    shmtune_close(library);
    return EXIT_SUCCESS;
}
