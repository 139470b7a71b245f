/* SPDX-License-Identifier: MIT */
/*
 * launch_kernels: the expected results of the kernels that tests/gpu/launch.c
 * launches through libshmtune.
 */
#include "launch_kernels.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void *named(const struct buffers *buffers, const char *name)
{
    for (size_t k = 0; k < buffers->count; k++)
        if (strcmp(buffers->arguments[k].name, name) == 0)
            return buffers->here[k];
    return NULL;
}

static int64_t wrong_transpose(const struct buffers *buffers,
                               const void *result, const int64_t *size)
{
    const int64_t words = size[2] / 4;
    const uint32_t *in = named(buffers, "in");
    const uint32_t *out = result;
    int64_t wrong = 0;

    for (int64_t r = 0; r < size[0]; r++)
        for (int64_t c = 0; c < size[1]; c++)
            for (int64_t w = 0; w < words; w++)
                wrong += out[(c * size[0] + r) * words + w] !=
                         in[(r * size[1] + c) * words + w];
    return wrong;
}

static int64_t wrong_reduce(const struct buffers *buffers, const void *result,
                            const int64_t *size)
{
    const float *in = named(buffers, "in");
    const float *out = result;
    double sum = 0;

    for (int64_t i = 0; i < size[0]; i++)
        sum += in[i];
    if (fabs(out[0] - sum) <= 0.05 + 1e-6 * fabs(sum))
        return 0;
    printf("# sum %.9g, expected %.9g\n", out[0], sum);
    return 1;
}

static int64_t wrong_matmul(const struct buffers *buffers, const void *result,
                            const int64_t *size)
{
    const float *a = named(buffers, "a"), *b = named(buffers, "b");
    const float *before = named(buffers, "c");
    const float *c = result;
    int64_t wrong = 0;

    for (int64_t i = 0; i < size[0]; i++)
        for (int64_t j = 0; j < size[1]; j++) {
            double sum = 0.5 * before[i * size[1] + j];

            for (int64_t k = 0; k < size[2]; k++)
                sum += (double)a[i * size[2] + k] * b[k * size[1] + j];
            wrong += !(fabs(c[i * size[1] + j] - sum) <= 1e-3);
        }
    return wrong;
}

static int64_t wrong_conv2d(const struct buffers *buffers, const void *result,
                            const int64_t *size)
{
    const float *image = named(buffers, "image");
    const float *weights = named(buffers, "weights");
    const int64_t height = size[0], width = size[1], filter = size[2];
    const float *out = result;
    int64_t wrong = 0;

    for (int64_t y = 0; y < height; y++)
        for (int64_t x = 0; x < width; x++) {
            double sum = 0;

            for (int64_t f = 0; f < filter * filter; f++) {
                const int64_t from_y = y + f / filter - filter / 2;
                const int64_t from_x = x + f % filter - filter / 2;

                if (from_y >= 0 && from_y < height && from_x >= 0 &&
                    from_x < width)
                    sum += (double)image[from_y * width + from_x] *
                           weights[f];
            }
            wrong += !(fabs(out[y * width + x] - sum) <=
                       4e-5 + 1e-5 * fabs(sum));
        }
    return wrong;
}

const struct reference references[] = {
    {"transpose", "out", wrong_transpose,
     {{1023, 4097, 4}, {1, 77, 4}, {333, 1, 8}, {65, 129, 8},
      {4096, 4096, 4}}},
    {"reduce", "out", wrong_reduce,
     {{1000003}, {1}, {31}, {16777216}, {4194305}}},
    {"matmul", "c", wrong_matmul,
     {{1, 1, 1}, {127, 65, 33}, {300, 257, 129}, {512, 512, 512},
      {17, 1000, 3}}},
    {"conv2d", "out", wrong_conv2d,
     {{1023, 1025, 3}, {1, 1, 7}, {77, 300, 5}, {500, 333, 15},
      {2048, 2048, 7}}},
};

const size_t reference_count = sizeof references / sizeof references[0];
