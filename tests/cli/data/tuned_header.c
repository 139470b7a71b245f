/* SPDX-License-Identifier: MIT */
/*
 * Compares what a header of `shmtune export --to header` selects with what
 * libshmtune does, at drawn sizes on each tuned device and on one of the
 * architecture that nobody tuned.  glue.h names the kernel: KERNEL, HEADER and
 * its functions.
 */
#include <shmtune.h>
#include <stdio.h>
#include <string.h>

#include "glue.h"

#define ROW(number, ...) {__VA_ARGS__},
static const double values[][64] = {EACH(ROW)};

static unsigned long long state = 88172645463325252ULL;
static unsigned long long draw(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

static const enum shmtune_match match_of[] = {
    [SHMTUNED_DEFAULT] = SHMTUNE_DEFAULT,
    [SHMTUNED_CAPABILITY] = SHMTUNE_SAME_CAPABILITY,
    [SHMTUNED_NEAREST] = SHMTUNE_NEAREST_SIZE,
    [SHMTUNED_EXACT] = SHMTUNE_EXACT,
};

static int is_same(const struct shmtune_kernel *kernel,
                   const struct shmtune_choice *choice,
                   struct shmtuned_choice ours)
{
    if (match_of[ours.match] != choice->match)
        return 0;
    for (size_t p = 0; p < shmtune_parameter_count(kernel); p++) {
        const char *const name = shmtune_parameter_name(kernel, p);
        struct shmtune_value value = SHMTUNE_VALUE_INIT;

        shmtune_choice_value(choice, name, &value);
        if (values[ours.config][p] !=
            (value.word != NULL ? (double)choice->values[p] : value.number))
            return 0;
    }
    return 1;
}

/* The geometry of each launch, of the same choice. */
static int launches_equal(const struct shmtune_choice *choice,
                          struct shmtuned_choice ours, const int64_t *p)
{
    struct shmtune_geometry theirs = SHMTUNE_GEOMETRY_INIT;
    size_t used = 0;

    for (int k = 0; k < LAUNCHES; k++) {
        const struct shmtuned_geometry g = LAUNCH(ours.config, k, p);

        if (!g.used)
            continue;
        if (!g.ok || shmtune_choice_launch(choice, used++, &theirs) !=
                         SHMTUNE_OK)
            return 0;
        for (int d = 0; d < 3; d++)
            if (g.grid[d] != theirs.grid[d] || g.block[d] != theirs.block[d])
                return 0;
        if (g.shared_dynamic != theirs.shared_dynamic)
            return 0;
    }
    return shmtune_choice_launch(choice, used, &theirs) ==
           SHMTUNE_NOT_FOUND;
}

static int tries[8], differ[8], wrong;

/* The library makes a few checks only, and then takes the best so far; the
 * header looks at all sizes.  Whether the library did here too. */
static int is_whole(const struct shmtune_kernel *kernel,
                    const struct shmtune_device *device, const int64_t *p)
{
    static char text[1 << 16];

    shmtune_explain(kernel, device, p, text, sizeof text);
    return strstr(text, "were not looked at") == NULL;
}

static void compare(const struct shmtune_kernel *kernel,
                    const struct shmtune_device *device, const int64_t *p)
{
    const int arch = 10 * device->compute_major + device->compute_minor;
    const struct shmtuned_choice ours =
        SELECT(arch, DEVICE(arch, device->name, device->multiprocessors), p);
    struct shmtune_choice choice = SHMTUNE_CHOICE_INIT;
    const enum shmtune_status status =
        shmtune_select(kernel, device, p, &choice);

    if (status == SHMTUNE_OK &&
        (choice.match == SHMTUNE_LEARNT || !is_whole(kernel, device, p)))
        return;
    tries[ours.match]++;
    if (status != SHMTUNE_OK ? ours.match != SHMTUNED_NONE
                             : !is_same(kernel, &choice, ours))
        differ[ours.match]++;
    else if (status == SHMTUNE_OK)
        wrong += !launches_equal(&choice, ours, p);
}

/* Sizes near tuned ones, and any. */
static void draw_problem(const struct shmtune_kernel *kernel, int64_t *p)
{
    for (size_t d = 0; d < shmtune_dimension_count(kernel); d++) {
        struct shmtune_dimension dimension = SHMTUNE_DIMENSION_INIT;

        shmtune_dimension_at(kernel, d, &dimension);
        p[d] = (int64_t)(1 + draw() % (2ULL << draw() % 24));
        if (p[d] < dimension.low)
            p[d] = dimension.low;
        if (p[d] > dimension.high)
            p[d] = dimension.high;
    }
}

int main(int argc, char **argv)
{
    static const int64_t rows[][9] = {EACH_ROW(ROW_SIZES)};
    struct shmtune *library;
    const struct shmtune_kernel *kernel;
    int64_t p[SHMTUNE_DIMENSIONS] = {0};

    (void)argc;
    if (shmtune_open(argv[1], &library, NULL) != SHMTUNE_OK ||
        (kernel = shmtune_kernel_find(library, KERNEL)) == NULL)
        return 2;
    for (size_t k = 0; k <= shmtune_tuned_device_count(kernel); k++) {
        struct shmtune_device device = SHMTUNE_DEVICE_INIT;
        const size_t count = shmtune_tuned_device_count(kernel);

        shmtune_tuned_device_at(kernel, k < count ? k : 0, &device);
        if (k == count) {
            strcpy(device.name, "Nobody's device");
            /* What the header is not told of. */
            device.multiprocessors = 0;
            device.memory_clock_khz = 0;
        }
        for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
            compare(kernel, &device, rows[r]);
        for (int n = 0; n < 400; n++) {
            draw_problem(kernel, p);
            compare(kernel, &device, p);
        }
    }
    for (int k = 0; k < 5; k++)
        printf("%d: %d of %d differ\n", k, differ[k], tries[k]);
    printf("%d launches\n", wrong);
    shmtune_close(library);
    return 0;
}
