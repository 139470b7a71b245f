/* SPDX-License-Identifier: MIT */
/*
 * nbody: acceleration of each of n bodies by all of them, softened:
 *
 *     out[i] = sum over j of m[j] (x[j] - x[i]) / (|x[j] - x[i]|^2 + eps)^1.5
 *
 * Bodies are x, y, z, mass; accelerations x, y, z.
 *
 * An interaction is twelve multiply-add slots (three additions, six
 * multiply-adds, three products) and one reciprocal square root; everything
 * else (loading a body, the loop) has to be spread over many of them: with four
 * bodies a thread it is half an instruction, so that twelve of 13.5 issued are
 * multiply-adds, 89 % of their peak at most.  Texts count 20 flops an
 * interaction; by that measure the same bound is 74 %.  What the space spans:
 *
 * THREADS, BODIES  a thread accelerates BODIES bodies: each body loaded from
 *            shared memory is used that often.
 * TILE       bodies in shared memory at a time, in multiples of the block.
 * UNROLL     interactions of one body spelt out.
 * LAYOUT     of the tile: `bodies` of four floats, one load each; `arrays` of
 *            coordinates, so that a load brings VECTOR values of one.
 * STAGES     2: the next tile is loaded into registers while this one is
 *            worked on, and there is one barrier a tile instead of two.
 * SPLIT      blocks that share bodies and take their part of all others, for
 *            few bodies; a second launch adds their sums.
 */

constexpr int SIZE = TILE * THREADS;   /* of a tile, bodies */

#if MEMORY == MEMORY_static
#define SHARED(name) __shared__ __align__(16) float name[STAGES * SIZE * 4]
#else
#define SHARED(name) extern __shared__ __align__(16) float name[]
#endif

struct body {
    float x, y, z, mass;
};

/* A massless body anywhere adds nothing. */
__device__ __forceinline__ void take(float4 (&next)[TILE],
                                     const float4 *__restrict__ in, int at,
                                     int end)
{
#pragma unroll
    for (int k = 0; k < TILE; k++) {
        int i = at + k * THREADS + threadIdx.x;
        next[k] = i < end ? in[i] : float4{0.0f, 0.0f, 0.0f, 0.0f};
    }
}

__device__ __forceinline__ void put(float *tile, const float4 (&next)[TILE])
{
#pragma unroll
    for (int k = 0; k < TILE; k++) {
        int i = k * THREADS + threadIdx.x;
#if LAYOUT == LAYOUT_bodies
        ((float4 *)tile)[i] = next[k];
#else
        tile[i] = next[k].x;
        tile[SIZE + i] = next[k].y;
        tile[2 * SIZE + i] = next[k].z;
        tile[3 * SIZE + i] = next[k].w;
#endif
    }
}

__device__ __forceinline__ void interact(float (&sum)[3], const float4 &me,
                                         const body &other, float softening)
{
    float x = other.x - me.x;
    float y = other.y - me.y;
    float z = other.z - me.z;
    float square = fmaf(x, x, fmaf(y, y, fmaf(z, z, softening)));
    float inverse;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(square));
    float pull = other.mass * inverse * (inverse * inverse);
    sum[0] = fmaf(x, pull, sum[0]);
    sum[1] = fmaf(y, pull, sum[1]);
    sum[2] = fmaf(z, pull, sum[2]);
}

#if LAYOUT == LAYOUT_bodies
constexpr int AT_ONCE = 1;
#else
constexpr int AT_ONCE = VECTOR;
struct alignas(VECTOR * 4) vector {
    float part[VECTOR];
};
#endif

/* The AT_ONCE bodies of the tile from i on; all threads read the same. */
__device__ __forceinline__ void read(body (&others)[AT_ONCE],
                                     const float *tile, int i)
{
#if LAYOUT == LAYOUT_bodies
    float4 v = ((const float4 *)tile)[i];
    others[0] = {v.x, v.y, v.z, v.w};
#else
    vector x = *(const vector *)(tile + i);
    vector y = *(const vector *)(tile + SIZE + i);
    vector z = *(const vector *)(tile + 2 * SIZE + i);
    vector mass = *(const vector *)(tile + 3 * SIZE + i);
#pragma unroll
    for (int v = 0; v < VECTOR; v++)
        others[v] = {x.part[v], y.part[v], z.part[v], mass.part[v]};
#endif
}

__device__ __forceinline__ void do_tile(float (&sum)[BODIES][3],
                                        const float4 (&me)[BODIES],
                                        const float *tile, float softening)
{
#pragma unroll 1
    for (int i = 0; i < SIZE; i += UNROLL)
#pragma unroll
        for (int u = 0; u < UNROLL; u += AT_ONCE) {
            body others[AT_ONCE];
            read(others, tile, i + u);
#pragma unroll
            for (int v = 0; v < AT_ONCE; v++)
#pragma unroll
                for (int k = 0; k < BODIES; k++)
                    interact(sum[k], me[k], others[v], softening);
        }
}

extern "C" __global__ void __launch_bounds__(THREADS)
nbody(float *__restrict__ out, float *__restrict__ partial,
      const float4 *__restrict__ in, int n, float softening)
{
    SHARED(tile);
    int first = blockIdx.x * (THREADS * BODIES) + threadIdx.x;
    float4 me[BODIES];
#pragma unroll
    for (int k = 0; k < BODIES; k++)
        me[k] = in[min(first + k * THREADS, n - 1)];

    int each = (n + gridDim.y - 1) / gridDim.y;
    int at = min(n, (int)blockIdx.y * each);
    int end = min(n, at + each);
    float sum[BODIES][3] = {};
    float4 next[TILE];
#if STAGES == 1
    for (; at < end; at += SIZE) {
        take(next, in, at, end);
        put(tile, next);
        __syncthreads();
        do_tile(sum, me, tile, softening);
        __syncthreads();
    }
#else
    take(next, in, at, end);
    for (int stage = 0; at < end; at += SIZE, stage ^= 1) {
        float *now = tile + stage * SIZE * 4;
        put(now, next);
        __syncthreads();
        take(next, in, at + SIZE, end);
        do_tile(sum, me, now, softening);
    }
#endif

    float *to = gridDim.y == 1 ? out : partial + 3ll * n * blockIdx.y;
#pragma unroll
    for (int k = 0; k < BODIES; k++) {
        int i = first + k * THREADS;
        if (i < n) {
            to[3ll * i] = sum[k][0];
            to[3ll * i + 1] = sum[k][1];
            to[3ll * i + 2] = sum[k][2];
        }
    }
}

extern "C" __global__ void nbody_combine(float *__restrict__ out,
                                         const float *__restrict__ partial,
                                         int n, int splits)
{
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= 3ll * n)
        return;
    float sum = 0.0f;
    for (int s = 0; s < splits; s++)
        sum += partial[3ll * n * s + i];
    out[i] = sum;
}

#ifdef SHMTUNE_REFERENCE
/* The oracle: a body a thread, all in double. */
extern "C" __global__ void nbody_reference(float *out, const float4 *in, int n,
                                           float softening)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    double sum[3] = {};
    for (int j = 0; j < n; j++) {
        double x = (double)in[j].x - in[i].x;
        double y = (double)in[j].y - in[i].y;
        double z = (double)in[j].z - in[i].z;
        double square = x * x + y * y + z * z + softening;
        double pull = in[j].w / (square * sqrt(square));
        sum[0] += x * pull;
        sum[1] += y * pull;
        sum[2] += z * pull;
    }
    for (int k = 0; k < 3; k++)
        out[3ll * i + k] = (float)sum[k];
}
#endif
