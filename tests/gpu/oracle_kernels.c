/* SPDX-License-Identifier: MIT */
/*
 * oracle_kernels: float64 CPU versions of the built-in kernels, for
 * tests/gpu/oracle.c.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/data.h"
#include "oracle.h"

size_t argument_of(const struct shmt_kernel *kernel, const char *name)
{
    for (size_t k = 0; k < kernel->argument_count; k++)
        if (strcmp(kernel->arguments[k].name, name) == 0)
            return k;
    printf("Bail out! %s has no argument %s\n", kernel->name, name);
    exit(EXIT_FAILURE);
}

static int64_t size_of(const struct trial *trial, const char *name)
{
    for (size_t k = 0; k < trial->kernel->dimension_count; k++)
        if (strcmp(trial->kernel->dimensions[k].name, name) == 0)
            return trial->size[k];
    printf("Bail out! %s has no dimension %s\n", trial->kernel->name, name);
    exit(EXIT_FAILURE);
}

struct shmt_pattern pattern_of(const struct trial *trial, size_t number)
{
    struct shmt_kernel_evaluated evaluated;
    struct shmt_fill_values values = {0};
    struct shmt_error err = {0};

    shmt_kernel_evaluate_part(trial->kernel, SHMT_KERNEL_REFERENCE,
                              trial->size, &evaluated);
    if (shmt_kernel_argument_fill(&evaluated, number, &values, &err) !=
        SHMTUNE_OK)
        printf("Bail out! %s\n", err.text);
    return shmt_pattern_of(&values, number, ORACLE_SEED);
}

/* Asked for every element of an input: the last pattern is kept. */
double filled(const struct trial *trial, size_t number, uint64_t index)
{
    static struct shmt_pattern pattern;
    static struct trial kept;
    static size_t kept_number;
    union shmt_element_scalar scalar;

    if (memcmp(&kept, trial, sizeof kept) != 0 || kept_number != number)
        pattern = pattern_of(trial, number);
    kept = *trial;
    kept_number = number;
    scalar = shmt_pattern_value(&pattern, index);
    return shmt_element_real(trial->kernel->arguments[number].element,
                             &scalar);
}

/* Element `index` of the argument "in". */
static double in(const struct trial *trial, int64_t index)
{
    return filled(trial, argument_of(trial->kernel, "in"), (uint64_t)index);
}

/* Counted in words of 4 bytes: an element is one or two of them. */
static void transpose(const struct trial *trial, double *out)
{
    const int64_t rows = size_of(trial, "rows"), cols = size_of(trial, "cols");
    const int64_t words = size_of(trial, "element") / 4;

    for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 0; c < cols; c++)
            for (int64_t w = 0; w < words; w++)
                out[(c * rows + r) * words + w] =
                    in(trial, (r * cols + c) * words + w);
}

static void reduce(const struct trial *trial, double *out)
{
    *out = 0;
    for (int64_t i = 0; i < size_of(trial, "n"); i++)
        *out += in(trial, i);
}

static void matmul(const struct trial *trial, double *out)
{
    const uint64_t m = (uint64_t)size_of(trial, "m");
    const uint64_t n = (uint64_t)size_of(trial, "n");
    const uint64_t inner = (uint64_t)size_of(trial, "k");
    const size_t a = argument_of(trial->kernel, "a");
    const size_t b = argument_of(trial->kernel, "b");
    const size_t c = argument_of(trial->kernel, "c");

    for (uint64_t i = 0; i < m * n; i++) {
        double sum = 0;

        for (uint64_t p = 0; p < inner; p++)
            sum += filled(trial, a, i / n * inner + p) *
                   filled(trial, b, p * n + i % n);
        out[i] = sum + 0.5 * filled(trial, c, i);
    }
}

static void conv2d(const struct trial *trial, double *out)
{
    const int64_t height = size_of(trial, "height");
    const int64_t width = size_of(trial, "width");
    const int64_t filter = size_of(trial, "filter"), reach = filter / 2;
    const size_t image = argument_of(trial->kernel, "image");
    const size_t weights = argument_of(trial->kernel, "weights");

    for (int64_t i = 0; i < height * width; i++) {
        double sum = 0;

        for (int64_t f = 0; f < filter * filter; f++) {
            const int64_t x = i % width + f % filter - reach;
            const int64_t y = i / width + f / filter - reach;

            if (x >= 0 && x < width && y >= 0 && y < height)
                sum += filled(trial, image, (uint64_t)(y * width + x)) *
                       filled(trial, weights, (uint64_t)f);
        }
        out[i] = sum;
    }
}

static void scan(const struct trial *trial, double *out)
{
    const bool exclusive = size_of(trial, "form") == 2;
    double sum = 0;

    for (int64_t i = 0; i < size_of(trial, "n"); i++) {
        const double next = sum + in(trial, i);

        out[i] = exclusive ? sum : next;
        sum = next;
    }
}

/* Bytes in 256 bins, or words in 1024 by their highest bits. */
static void histogram(const struct trial *trial, double *out)
{
    const int64_t bins = size_of(trial, "bins");

    memset(out, 0, (size_t)bins * sizeof *out);
    for (int64_t i = 0; i < size_of(trial, "n"); i++) {
        if (bins == 256)
            out[(int)in(trial, i)]++;
        else
            out[((int)in(trial, 4 * i + 3) << 8 |
                 (int)in(trial, 4 * i + 2)) >> 6]++;
    }
}

static void row_reduce(const struct trial *trial, double *out)
{
    const int64_t rows = size_of(trial, "rows"), cols = size_of(trial, "cols");

    for (int64_t r = 0; r < rows; r++) {
        out[r] = 0;
        for (int64_t c = 0; c < cols; c++)
            out[r] += in(trial, r * cols + c);
    }
}

static void softmax(const struct trial *trial, double *out)
{
    const int64_t rows = size_of(trial, "rows"), cols = size_of(trial, "cols");

    for (int64_t r = 0; r < rows; r++) {
        double high = (double)-INFINITY, sum = 0;

        for (int64_t c = 0; c < cols; c++)
            high = fmax(high, in(trial, r * cols + c));
        for (int64_t c = 0; c < cols; c++)
            sum += exp(in(trial, r * cols + c) - high);
        for (int64_t c = 0; c < cols; c++)
            out[r * cols + c] = exp(in(trial, r * cols + c) - high) / sum;
    }
}

static void nbody(const struct trial *trial, double *out)
{
    const int64_t n = size_of(trial, "n");

    for (int64_t i = 0; i < n; i++) {
        double sum[3] = {0, 0, 0};

        for (int64_t j = 0; j < n; j++) {
            double away[3], square = (double)0.01f;

            for (int64_t k = 0; k < 3; k++) {
                away[k] = in(trial, 4 * j + k) - in(trial, 4 * i + k);
                square += away[k] * away[k];
            }
            for (int64_t k = 0; k < 3; k++)
                sum[k] += away[k] * in(trial, 4 * j + 3) /
                          pow(square, 1.5);
        }
        memcpy(out + 3 * i, sum, sizeof sum);
    }
}

static void coalescing(const struct trial *trial, double *out)
{
    const int64_t count = size_of(trial, "rows") * size_of(trial, "cols");

    for (int64_t i = 0; i < count; i++)
        out[i] = 2 * in(trial, i) + 1;
}

static void bank_conflict(const struct trial *trial, double *out)
{
    const size_t table = argument_of(trial->kernel, "table");
    const double rounds = (double)size_of(trial, "rounds");

    for (int64_t i = 0; i < size_of(trial, "n"); i++)
        out[i] = in(trial, i) +
                 rounds * filled(trial, table, (uint64_t)(i % 32));
}

/* The border stays; every other point becomes its neighbours' mean. */
static void stencil2d(const struct trial *trial, double *out)
{
    const int64_t rows = size_of(trial, "rows"), cols = size_of(trial, "cols");
    double *last = calloc((size_t)(rows * cols), sizeof *last);

    if (last == NULL)
        abort();
    for (int64_t i = 0; i < rows * cols; i++)
        out[i] = in(trial, i);
    for (int64_t step = 0; step < size_of(trial, "steps"); step++) {
        memcpy(last, out, (size_t)(rows * cols) * sizeof *last);
        for (int64_t i = 0; i < rows * cols; i++) {
            const int64_t x = i % cols, y = i / cols;

            if (x > 0 && x < cols - 1 && y > 0 && y < rows - 1)
                out[i] = (last[i - 1] + last[i + 1] + last[i - cols] +
                          last[i + cols]) / 4;
        }
    }
    free(last);
}

/* Sizes that no tile divides, and the smallest. */
const struct oracle oracles[] = {
    {"transpose", transpose, "out", {"rows", "cols", "element"},
     {{1, 1, 4}, {33, 65, 4}, {127, 1021, 4}, {1000, 31, 8}, {129, 67, 8}}},
    {"reduce", reduce, "out", {"n"}, {{1}, {31}, {4097}, {1000003}}},
    {"matmul", matmul, "c", {"m", "n", "k"},
     {{1, 1, 1}, {33, 65, 17}, {127, 131, 129}, {5, 300, 513}}},
    {"conv2d", conv2d, "out", {"height", "width", "filter"},
     {{1, 1, 3}, {67, 129, 3}, {45, 77, 5}, {61, 33, 7}, {50, 43, 15}}},
    {"scan", scan, "out", {"n", "form"},
     {{1, 1}, {33, 2}, {4097, 1}, {1000003, 1}, {300007, 2}}},
    {"histogram", histogram, "out", {"n", "bins"},
     {{1, 256}, {1000003, 256}, {77, 1024}, {300007, 1024}}},
    {"row_reduce", row_reduce, "out", {"rows", "cols"},
     {{1, 1}, {3, 10007}, {1001, 33}, {67, 2049}}},
    {"softmax", softmax, "out", {"rows", "cols"},
     {{1, 1}, {3, 10007}, {501, 33}, {67, 1025}}},
    {"nbody", nbody, "out", {"n"}, {{1}, {33}, {1021}}},
    {"coalescing", coalescing, "out", {"rows", "cols"},
     {{1, 1}, {129, 1023}, {1025, 67}}},
    {"bank_conflict", bank_conflict, "out", {"n", "rounds"},
     {{1, 3}, {4099, 7}, {100003, 16}}},
    {"stencil2d", stencil2d, "out", {"rows", "cols", "steps"},
     {{1, 1, 1}, {67, 131, 1}, {129, 77, 3}, {201, 203, 16}}},
};
const size_t oracle_count = sizeof oracles / sizeof oracles[0];
