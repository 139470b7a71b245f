/* SPDX-License-Identifier: MIT */
/*
 * select: how long the library takes to open and to select.
 *
 *     select [FOLDER]     FOLDER has kernels/ and tunings/; else the default
 *                         search path
 *
 * One line a kernel and level, medians of samples of many calls each.
 */
#include "shmtune.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { SAMPLES = 501, CALLS = 2000, OPENS = 51 };

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

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : NULL;
    struct shmtune *library;
    size_t files = 0;

    if (shmtune_open(path, &library, NULL) != SHMTUNE_OK)
        return EXIT_FAILURE;
    for (size_t k = 0; k < shmtune_note_count(library); k++)
        fprintf(stderr, "%s\n", shmtune_note(library, k));
    for (size_t k = 0; k < shmtune_kernel_count(library); k++)
        files += shmtune_tuned_device_count(shmtune_kernel_at(library, k));
    printf("open: %zu kernels, %zu tunings: %.2f ms\n",
           shmtune_kernel_count(library), files, time_open_ns(path) / 1e6);
    for (size_t k = 0; k < shmtune_kernel_count(library); k++)
        if (shmtune_tuned_device_count(shmtune_kernel_at(library, k)) > 0)
            report_levels(shmtune_kernel_at(library, k));
    shmtune_close(library);
    return EXIT_SUCCESS;
}
