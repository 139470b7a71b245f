# SPDX-License-Identifier: MIT
"""What Kernel Tuner's examples vector_add, matmul, convolution, reduction,
pnpoly and stencil do, with kernels of our own: each function gives tune_kernel,
Kernel Tuner's or shmtune's, the arguments that the example of its name gives.

    PORTS[name](tune_kernel, scale) -> (results, env)

`scale` is "full", as the examples, or "small".  Inputs are seeded.
"""
import numpy

VECTOR_ADD = """
__global__ void vector_add(float *c, float *a, float *b, int n)
{
    const int at = blockIdx.x * block_size_x + threadIdx.x;

    if (at < n)
        c[at] = a[at] + b[at];
}
"""

MATMUL = """
#define N WIDTH
#define ROWS (block_size_y * tile_size_y)
#define COLS (block_size_x * tile_size_x)

__global__ void matmul_kernel(float *C, float *A, float *B)
{
    __shared__ float left[ROWS][block_size_x];
    __shared__ float right[block_size_x][COLS];
    const int row = blockIdx.y * ROWS + threadIdx.y;
    const int col = blockIdx.x * COLS + threadIdx.x;
    float sum[tile_size_y][tile_size_x] = {};

    for (int begin = 0; begin < N; begin += block_size_x) {
        for (int i = 0; i < tile_size_y; i++)
            left[threadIdx.y + i * block_size_y][threadIdx.x] =
                A[(row + i * block_size_y) * N + begin + threadIdx.x];
        for (int k = threadIdx.y; k < block_size_x; k += block_size_y)
            for (int j = 0; j < tile_size_x; j++)
                right[k][threadIdx.x + j * block_size_x] =
                    B[(begin + k) * N + col + j * block_size_x];
        __syncthreads();
#pragma unroll
        for (int k = 0; k < block_size_x; k++)
#pragma unroll
            for (int i = 0; i < tile_size_y; i++)
#pragma unroll
                for (int j = 0; j < tile_size_x; j++)
                    sum[i][j] += left[threadIdx.y + i * block_size_y][k] *
                                 right[k][threadIdx.x + j * block_size_x];
        __syncthreads();
    }
    for (int i = 0; i < tile_size_y; i++)
        for (int j = 0; j < tile_size_x; j++)
            C[(row + i * block_size_y) * N + col + j * block_size_x] =
                sum[i][j];
}
"""

CONVOLUTION = """
#define in_width (WIDTH + largest - 1)
#define tile_h (block_size_y * tile_size_y + filter_height - 1)
#define tile_w (block_size_x * tile_size_x + filter_width - 1)
#if use_padding
#define pitch (tile_w + 1)
#else
#define pitch tile_w
#endif

__constant__ float d_filter[largest * largest];

__global__ void convolution_kernel(float *output, float *input, float *filter)
{
    __shared__ float tile[tile_h][pitch];
    const int x0 = blockIdx.x * block_size_x * tile_size_x;
    const int y0 = blockIdx.y * block_size_y * tile_size_y;

    for (int i = threadIdx.y; i < tile_h; i += block_size_y)
        for (int j = threadIdx.x; j < tile_w; j += block_size_x)
            if (y0 + i < HEIGHT + largest - 1 && x0 + j < in_width)
#if read_only
                tile[i][j] = __ldg(&input[(y0 + i) * in_width + x0 + j]);
#else
                tile[i][j] = input[(y0 + i) * in_width + x0 + j];
#endif
    __syncthreads();

    float sum[tile_size_y][tile_size_x] = {};
#pragma unroll
    for (int i = 0; i < filter_height; i++)
#pragma unroll
        for (int j = 0; j < filter_width; j++)
#pragma unroll
            for (int v = 0; v < tile_size_y; v++)
#pragma unroll
                for (int u = 0; u < tile_size_x; u++)
                    sum[v][u] += d_filter[i * filter_width + j] *
                        tile[threadIdx.y + v * block_size_y + i]
                            [threadIdx.x + u * block_size_x + j];
    for (int v = 0; v < tile_size_y; v++)
        for (int u = 0; u < tile_size_x; u++) {
            const int y = y0 + threadIdx.y + v * block_size_y;
            const int x = x0 + threadIdx.x + u * block_size_x;

            if (y < HEIGHT && x < WIDTH)
                output[y * WIDTH + x] = sum[v][u];
        }
}
"""

REDUCTION = """
#if vector == 1
#define floats float
#define total(v) (v)
#elif vector == 2
#define floats float2
#define total(v) ((v).x + (v).y)
#else
#define floats float4
#define total(v) ((v).x + (v).y + (v).z + (v).w)
#endif

__global__ void sum_floats(float *sums, floats *array, int n)
{
    __shared__ float part[block_size_x];
    const int step = num_blocks * block_size_x;
    float sum = 0;

    #pragma unroll loop_unroll_factor_0
    for (int i = blockIdx.x * block_size_x + threadIdx.x; i < n / vector;
         i += step) {
        const floats v = array[i];

        sum += total(v);
    }
    part[threadIdx.x] = sum;
    __syncthreads();
    for (int half = block_size_x / 2; half > (use_shuffle ? 8 : 0);
         half /= 2) {
        if (threadIdx.x < half)
            part[threadIdx.x] += part[threadIdx.x + half];
        __syncthreads();
    }
#if use_shuffle
    if (threadIdx.x < 32) {
        sum = threadIdx.x < 16 ? part[threadIdx.x] : 0;
        for (int half = 8; half > 0; half /= 2)
            sum += __shfl_down_sync(0xffffffff, sum, half);
    }
#else
    sum = part[0];
#endif
    if (threadIdx.x == 0)
        sums[blockIdx.x] = sum;
}
"""

PNPOLY = """
#define COUNT 600

__constant__ float2 d_vertices[COUNT];
__constant__ float d_slopes[COUNT];

__device__ bool between(float a, float b, float c)
{
#if between_method == 0
    return (a < b) != (a < c);
#elif between_method == 1
    return (a < b && a >= c) || (a >= b && a < c);
#elif between_method == 2
    return a - b == 0 || (a - b) * (a - c) < 0;
#else
    return (a - b) * (a - c) < 0 || a - b == 0;
#endif
}

__global__ void cn_pnpoly(int *bitmap, float2 *points, int n)
{
    const int first = blockIdx.x * block_size_x * tile_size + threadIdx.x;
    float2 point[tile_size];
    int crossings[tile_size] = {};

#pragma unroll
    for (int t = 0; t < tile_size; t++)
        if (first + t * block_size_x < n)
            point[t] = points[first + t * block_size_x];
    for (int j = 0, k = COUNT - 1; j < COUNT; k = j++) {
        const float2 to = d_vertices[j];
#if use_precomputed_slopes
        const float slope = d_slopes[j];
#else
        const float2 from = d_vertices[k];
        const float slope = (from.x - to.x) / (from.y - to.y);
#endif
        const float y = d_vertices[k].y;
#pragma unroll
        for (int t = 0; t < tile_size; t++) {
            const float2 p = point[t];
#if use_method == 0
            if (between(p.y, to.y, y) && p.x < slope * (p.y - to.y) + to.x)
                crossings[t] = !crossings[t];
#else
            crossings[t] += between(p.y, to.y, y) &
                            (p.x < slope * (p.y - to.y) + to.x);
#endif
        }
    }
#pragma unroll
    for (int t = 0; t < tile_size; t++)
        if (first + t * block_size_x < n)
            bitmap[first + t * block_size_x] = crossings[t] & 1;
}
"""

STENCIL = """
__global__ void stencil_kernel(float *x_new, float *x_old)
{
    const int x = blockIdx.x * block_size_x + threadIdx.x;
    const int y = blockIdx.y * block_size_y + threadIdx.y;
    const int at = y * WIDTH + x;

    if (x > 0 && x < WIDTH - 1 && y > 0 && y < HEIGHT - 1)
        x_new[at] = 0.2f * (x_old[at] + x_old[at - 1] + x_old[at + 1] +
                            x_old[at - WIDTH] + x_old[at + WIDTH]);
}
"""


def floats(random, *shape):
    return random.standard_normal(shape, dtype=numpy.float32)


def vector_add(tune_kernel, scale, **more):
    random = numpy.random.default_rng(1)
    size = 10000000 if scale == "full" else 100000
    a, b = floats(random, size), floats(random, size)
    c = numpy.zeros_like(b)
    tune_params = {"block_size_x": [128 + 64 * i for i in range(15)]}
    return tune_kernel("vector_add", VECTOR_ADD, size,
                       [c, a, b, numpy.int32(size)], tune_params, **more)


def matmul(tune_kernel, scale, **more):
    random = numpy.random.default_rng(2)
    width = 4096 if scale == "full" else 512
    problem_size = (width, width)
    a, b = floats(random, width, width), floats(random, width, width)
    c = numpy.zeros_like(a)
    tune_params = {"block_size_x": [16, 32, 64],
                   "block_size_y": [1, 2, 4, 8, 16, 32],
                   "tile_size_x": [1, 2, 4, 8], "tile_size_y": [1, 2, 4, 8]}
    return tune_kernel(
        "matmul_kernel", MATMUL.replace("WIDTH", str(width)), problem_size,
        [c, a, b], tune_params, grid_div_y=["block_size_y", "tile_size_y"],
        grid_div_x=["block_size_x", "tile_size_x"],
        restrictions=["block_size_x==block_size_y*tile_size_y"],
        verbose=False, iterations=32, answer=[numpy.dot(a, b), None, None],
        atol=1e-2,
        metrics={"GFLOP/s": lambda p: (2 * width**3 / 1e9)
                 / (p["time"] / 1e3)}, **more)


def convolution(tune_kernel, scale, **more):
    random = numpy.random.default_rng(3)
    full = scale == "full"
    problem_size = (4096, 4096) if full else (512, 512)
    tune_params = {
        "filter_height": list(range(3, 35, 2)) if full else [15],
        "filter_width": list(range(3, 35, 2)) if full else [15],
        "block_size_x": [16 * i for i in range(1, 9)],
        "block_size_y": [1, 2, 4, 8, 16, 32],
        "tile_size_x": list(range(1, 9)) if full else [1, 2, 4],
        "tile_size_y": list(range(1, 9)) if full else [1, 2, 4],
        "use_padding": [0, 1], "read_only": [0, 1]}
    largest = max(tune_params["filter_height"])
    output = numpy.zeros(problem_size[0] * problem_size[1], numpy.float32)
    image = floats(random, (problem_size[0] + largest - 1)
                   * (problem_size[1] + largest - 1))
    weights = floats(random, largest * largest)
    source = ("#define largest %d\n#define HEIGHT %d\n#define WIDTH %d\n"
              % (largest, problem_size[1], problem_size[0])) + CONVOLUTION
    return tune_kernel(
        "convolution_kernel", source, problem_size, [output, image, weights],
        tune_params, grid_div_y=["block_size_y", "tile_size_y"],
        grid_div_x=["block_size_x", "tile_size_x"],
        cmem_args={"d_filter": weights}, verbose=False,
        restrictions=["use_padding==0 or (block_size_x % 32 != 0)"], **more)


def reduction(tune_kernel, scale, **more):
    random = numpy.random.default_rng(4)
    full = scale == "full"
    tune_params = {
        "block_size_x": [2**i for i in range(5, 11)],
        "vector": [1, 2, 4],
        "num_blocks": [2**i for i in (range(5, 16) if full else (6, 9))],
        "loop_unroll_factor_0": [0, 1, 8, 16, 32, 64] if full else [0, 8],
        "use_shuffle": [0, 1]}
    size = 1 << 26 if full else 1 << 20
    x = random.random(size, dtype=numpy.float32)
    sum_x = numpy.zeros(max(tune_params["num_blocks"]), numpy.float32)

    def verify(cpu_result, gpu_result, atol=None):
        return numpy.isclose(cpu_result[0],
                             numpy.sum(gpu_result[0], dtype=numpy.float64),
                             rtol=1e-4)

    return tune_kernel(
        "sum_floats", REDUCTION, "num_blocks",
        [sum_x, x, numpy.int32(size)], tune_params, grid_div_x=[],
        verbose=False, verify=verify,
        answer=[numpy.sum(x, dtype=numpy.float64), None, None], **more)


def pnpoly(tune_kernel, scale, **more):
    random = numpy.random.default_rng(5)
    full = scale == "full"
    size = numpy.int32(2e7 if full else 2e5)
    points = floats(random, 2 * int(size))
    bitmap = numpy.zeros(size, numpy.int32)
    angles = numpy.sort(random.random(600) * 2 * numpy.pi)[::-1]
    x, y = numpy.cos(angles), numpy.sin(angles)
    vertices = numpy.stack([x, y], 1).astype(numpy.float32).ravel()
    slopes = ((numpy.roll(x, 1) - x) / (numpy.roll(y, 1) - y)).astype(
        numpy.float32)
    tune_params = {
        "block_size_x": [32 * i for i in range(1, 32)] if full else
        [64, 128, 256],
        "tile_size": [1] + [2 * i for i in range(1, 11)] if full else [1, 2],
        "between_method": [0, 1, 2, 3], "use_precomputed_slopes": [0, 1],
        "use_method": [0, 1]}
    return tune_kernel(
        "cn_pnpoly", PNPOLY, (size, 1), [bitmap, points, size], tune_params,
        grid_div_x=["block_size_x", "tile_size"],
        cmem_args={"d_vertices": vertices, "d_slopes": slopes}, lang="CUDA",
        compiler_options=["-DSHAPE=1"], verbose=False, **more)


def stencil(tune_kernel, scale, **more):
    random = numpy.random.default_rng(6)
    problem_size = (4096, 2048) if scale == "full" else (512, 256)
    x_old = floats(random, problem_size[0] * problem_size[1])
    source = "#define WIDTH %d\n#define HEIGHT %d\n%s" % (
        problem_size + (STENCIL,))
    return tune_kernel(
        "stencil_kernel", source, problem_size, [x_old.copy(), x_old],
        {"block_size_x": [32 * i for i in range(1, 9)],
         "block_size_y": [2**i for i in range(6)]},
        grid_div_x=["block_size_x"], grid_div_y=["block_size_y"],
        verbose=False, **more)


PORTS = {f.__name__: f for f in (vector_add, matmul, convolution, reduction,
                                 pnpoly, stencil)}
