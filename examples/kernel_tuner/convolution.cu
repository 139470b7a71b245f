/* SPDX-License-Identifier: MIT */
/*
 * Convolution of an image with a square filter; outside of the image are
 * zeros.  Both tuners compile this file as it stands and define
 *
 *     block_size_x, block_size_y    threads of a block
 *     tile_size_x, tile_size_y      outputs of a thread
 *     use_padding                   1: one more column in shared memory
 *     filter_size                   7: not tuned
 */
#define border (filter_size / 2)
#define outputs_x (block_size_x * tile_size_x)
#define outputs_y (block_size_y * tile_size_y)
#define tile_width (outputs_x + 2 * border)
#define tile_height (outputs_y + 2 * border)

extern "C" __global__ void convolution(float *output, const float *input,
                                       const float *filter, int width,
                                       int height)
{
    __shared__ float tile[tile_height][tile_width + use_padding];
    const int left = blockIdx.x * outputs_x - border;
    const int top = blockIdx.y * outputs_y - border;
    float sum[tile_size_y][tile_size_x] = {};

    for (int y = threadIdx.y; y < tile_height; y += block_size_y)
        for (int x = threadIdx.x; x < tile_width; x += block_size_x)
            tile[y][x] = 0 <= left + x && left + x < width &&
                                 0 <= top + y && top + y < height
                             ? input[(top + y) * width + left + x]
                             : 0;
    __syncthreads();

    for (int i = 0; i < filter_size; i++)
        for (int j = 0; j < filter_size; j++)
            for (int y = 0; y < tile_size_y; y++)
                for (int x = 0; x < tile_size_x; x++)
                    sum[y][x] += filter[i * filter_size + j] *
                                 tile[threadIdx.y + y * block_size_y + i]
                                     [threadIdx.x + x * block_size_x + j];

    for (int y = 0; y < tile_size_y; y++)
        for (int x = 0; x < tile_size_x; x++) {
            const int column = left + border + threadIdx.x + x * block_size_x;
            const int row = top + border + threadIdx.y + y * block_size_y;

            if (column < width && row < height)
                output[row * width + column] = sum[y][x];
        }
}

/* One thread an output, nothing shared: what every result is compared with. */
extern "C" __global__ void convolution_naive(float *output, const float *input,
                                             const float *filter, int width,
                                             int height)
{
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0;

    if (column >= width || row >= height)
        return;
    for (int i = 0; i < filter_size; i++)
        for (int j = 0; j < filter_size; j++) {
            const int x = column + j - border, y = row + i - border;

            if (0 <= x && x < width && 0 <= y && y < height)
                sum += filter[i * filter_size + j] * input[y * width + x];
        }
    output[row * width + column] = sum;
}
