/* SPDX-License-Identifier: MIT */
/*
 * Compares what a header of `shmtune export --to header` selects with what
 * libshmtune does, at tuned sizes, sizes beside them and drawn ones, on each
 * tuned device and on ones of the architecture that nobody tuned, with few and
 * many multiprocessors.  glue.h names the kernel: KERNEL, HEADER and its
 * functions.
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
    [SHMTUNED_LEARNT] = SHMTUNE_LEARNT,
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

/* Those that differ count, and the first few are told. */
static void tell(const struct shmtune_kernel *kernel,
                 const struct shmtune_device *device,
                 const struct shmtune_choice *choice,
                 struct shmtuned_choice ours, const int64_t *p)
{
    char text[1024] = "";

    if (differ[ours.match]++ > 4)
        return;
    fprintf(stderr, "%s, %d multiprocessors:", device->name,
            (int)device->multiprocessors);
    for (size_t d = 0; d < shmtune_dimension_count(kernel); d++)
        fprintf(stderr, " %lld", (long long)p[d]);
    shmtune_choice_text(choice, text, sizeof text);
    fprintf(stderr, ": match %d, row %d, configuration %d; the library: %s, "
            "%s\n", ours.match, ours.row, ours.config,
            shmtune_match_text(choice->match), text);
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

    if (status == SHMTUNE_OK && !is_whole(kernel, device, p))
        return;
    tries[ours.match]++;
    if (status != SHMTUNE_OK ? ours.match != SHMTUNED_NONE
                             : !is_same(kernel, &choice, ours))
        tell(kernel, device, &choice, ours, p);
    else if (status == SHMTUNE_OK)
        wrong += !launches_equal(&choice, ours, p);
}

static int64_t within(const struct shmtune_dimension *dimension, int64_t size)
{
    return size < dimension->low    ? dimension->low
           : size > dimension->high ? dimension->high : size;
}

/* One less to one more than a tuned size, or a half to twice, or any; tiny and
 * huge ones among them. */
static void draw_problem(const struct shmtune_kernel *kernel,
                         const int64_t *tuned, int64_t *p)
{
    const unsigned long long kind = draw() % 4;

    for (size_t d = 0; d < shmtune_dimension_count(kernel); d++) {
        struct shmtune_dimension dimension = SHMTUNE_DIMENSION_INIT;
        int64_t size = (int64_t)(1 + draw() % (2ULL << draw() % 24));

        shmtune_dimension_at(kernel, d, &dimension);
        if (kind == 0)
            size = tuned[d] - 1 + (int64_t)(draw() % 3);
        if (kind == 1)
            size = tuned[d] / 2 + (int64_t)(draw() % 100) * tuned[d] / 66;
        if (kind == 2 && draw() % 16 == 0)
            size = draw() % 2 != 0 ? dimension.low : dimension.high;
        p[d] = within(&dimension, size);
    }
}

static void compare_on(const struct shmtune_kernel *kernel,
                       const struct shmtune_device *device, int count)
{
    static const int64_t rows[][9] = {EACH_ROW(ROW_SIZES)};
    int64_t p[SHMTUNE_DIMENSIONS] = {0};

    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
        compare(kernel, device, rows[r]);
    for (int n = 0; n < count; n++) {
        draw_problem(kernel, rows[draw() % (sizeof rows / sizeof *rows)], p);
        compare(kernel, device, p);
    }
}

int main(int argc, char **argv)
{
    /* 0: it does not say how many. */
    static const int multiprocessors[] = {0, 1, 66, 114, 132, 160};
    struct shmtune_device device = SHMTUNE_DEVICE_INIT;
    struct shmtune *library;
    const struct shmtune_kernel *kernel;

    (void)argc;
    if (shmtune_open(argv[1], &library, NULL) != SHMTUNE_OK ||
        (kernel = shmtune_kernel_find(library, KERNEL)) == NULL)
        return 2;
    for (size_t k = 0; k < shmtune_tuned_device_count(kernel); k++) {
        shmtune_tuned_device_at(kernel, k, &device);
        compare_on(kernel, &device, 400);
    }
    strcpy(device.name, "Nobody's device");
    /* What the header is not told of. */
    device.memory_clock_khz = 0;
    for (size_t k = 0; k < sizeof multiprocessors / sizeof *multiprocessors;
         k++) {
        device.multiprocessors = multiprocessors[k];
        compare_on(kernel, &device, 400);
    }
    for (int k = 0; k < 6; k++)
        printf("%d: %d of %d differ\n", k, differ[k], tries[k]);
    printf("%d launches\n", wrong);
    shmtune_close(library);
    return 0;
}
