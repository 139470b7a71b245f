/* SPDX-License-Identifier: MIT */
/*
 * matrices: the kernels that launcher.c is tried with, (out, in, width,
 * height), thread by thread.  How large TILE_DIM and BLOCK_ROWS are, which are
 * macros of their sources, is known by their arrays in shared memory: one of
 * TILE_DIM by TILE_DIM + 1 numbers, and one of BLOCK_ROWS.
 */
#include <stdlib.h>

#include "tests/fake/cuda.h"

struct matrices {
    struct fake_launch *launch;
    float *out;
    const float *in;
    unsigned width, height, tile, rows;
};

static struct matrices open_matrices(struct fake_launch *launch)
{
    struct matrices m = {.launch = launch};

    m.out = (void *)(uintptr_t)*(CUdeviceptr *)launch->arguments[0];
    m.in = (void *)(uintptr_t)*(CUdeviceptr *)launch->arguments[1];
    m.width = *(unsigned *)launch->arguments[2];
    m.height = *(unsigned *)launch->arguments[3];
    for (unsigned tile = 1; tile <= 64; tile *= 2)
        for (unsigned rows = 1; rows <= 64; rows *= 2)
            if ((int)(4 * (tile * (tile + 1) + rows)) ==
                launch->function->shared_static) {
                m.tile = tile;
                m.rows = rows;
            }
    launch->cost_us = launch->threads;
    if (m.tile == 0)
        abort();
    return m;
}

/* An element of `in` into the tile, or of the tile into `out`. */
static bool move(const struct matrices *m, float *tile, unsigned row,
                 unsigned column, unsigned long at, bool back)
{
    if (row >= m->tile || column >= m->tile ||
        at >= (unsigned long)m->width * m->height) {
        m->launch->stuck = CUDA_ERROR_ILLEGAL_ADDRESS;
        return false;
    }
    if (back)
        m->out[at] = tile[column * m->tile + row];
    else
        tile[row * m->tile + column] = m->in[at];
    return true;
}

/* What a block does up to its barrier, or from there on. */
static bool half_block(const struct matrices *m, float *tile, unsigned bx,
                       unsigned by, bool back)
{
    const unsigned *block = m->launch->block;
    const unsigned long pitch = back ? m->height : m->width;
    const unsigned x = (back ? by : bx) * m->tile;
    const unsigned y = (back ? bx : by) * m->tile;

    for (unsigned thread = 0; thread < m->launch->threads; thread++)
        for (unsigned i = 0; i < m->tile; i += m->rows) {
            const unsigned tx = thread % block[0], ty = thread / block[0] + i;

            if (!move(m, tile, ty, tx, x + tx + pitch * (y + ty), back))
                return false;
        }
    return true;
}

/* As the one of the CUDA samples: nothing asks where the matrix ends. */
void fake_transpose(struct fake_launch *launch)
{
    const struct matrices m = open_matrices(launch);
    float tile[64 * 64];
    bool going = true;

    for (unsigned k = 0; going && k < launch->grid; k++) {
        const unsigned bx = k % launch->grids[0], by = k / launch->grids[0];

        for (size_t i = 0; i < 64 * 64; i++)
            tile[i] = -1;
        going = half_block(&m, tile, bx, by, false) &&
                half_block(&m, tile, bx, by, true);
    }
}

/* Each thread has an element, if there is one. */
void fake_twice(struct fake_launch *launch)
{
    const struct matrices m = open_matrices(launch);
    const unsigned *block = launch->block;

    for (unsigned k = 0; k < launch->grid; k++)
        for (unsigned thread = 0; thread < launch->threads; thread++) {
            const unsigned x = k % launch->grids[0] * m.tile +
                               thread % block[0];
            const unsigned y = k / launch->grids[0] * m.rows +
                               thread / block[0];

            if (x < m.width && y < m.height)
                m.out[x + (size_t)m.width * y] =
                    2 * m.in[x + (size_t)m.width * y];
        }
}

/* With as many blocks as there are. */
void fake_strides(struct fake_launch *launch)
{
    const struct matrices m = open_matrices(launch);

    for (size_t i = 0; i < (size_t)m.width * m.height; i++)
        m.out[i] = 2 * m.in[i];
}

/* Not with other numbers than 16. */
void fake_sixteen(struct fake_launch *launch)
{
    const struct matrices m = open_matrices(launch);

    fake_strides(launch);
    if (m.tile != 16 || m.rows != 16)
        m.out[0] += 1;
}
