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
 * interaction; by that measure the same bound is 74 %.
 *
 * Two bodies pull each other along one line: what the distance costs serves
 * both.  A pair is seventeen slots and one reciprocal square root for two
 * interactions.  (Sixteen, were the inverse distance cubed for both masses,
 * but a float has no such cubes for metres between stars.)  What the space
 * spans:
 *
 * FORM       `each`: every interaction by itself, a body's sum in one thread.
 *            `pairs`: every pair once, see below.
 * THREADS, BODIES  a thread accelerates BODIES bodies: each body loaded from
 *            shared memory is used that often.
 * UNROLL     interactions of one body spelt out.
 * STAGES     2: the next bodies are loaded into registers while these are
 *            worked on; with `each` one barrier a tile instead of two.
 * WARPS      resident warps a scheduler that the compiler has to leave
 *            registers for; 0 leaves them to it.
 * Of `each` alone:
 * TILE       bodies in shared memory at a time, in multiples of the block.
 * LAYOUT     of the tile: `bodies` of four floats, one load each; `arrays` of
 *            coordinates, so that a load brings VECTOR values of one.
 * SPLIT      blocks that share bodies and take their part of all others, for
 *            few bodies; a second launch adds their sums.
 * Of `pairs` alone:
 * BLOCKS     all warps take equal shares of the pairs, however many they are.
 * ROUND      how many multiprocessors there are: as many blocks for each as
 *            leave the least idle, while some warps have one set more to meet
 *            than others.
 *
 * The warps of `pairs` add to out in no order: its last digits vary from run to
 * run.  Those of `each` do not.
 *
 * Sums: a float that 262,144 terms are added to one by one strays; so at most
 * RUN are, before their sum is added to what is in memory.
 */

constexpr int RUN = 1024;   /* terms of one running sum */

#if WARPS > 0
#define BOUNDS __launch_bounds__(THREADS, WARPS * 128 / THREADS)
#else
#define BOUNDS __launch_bounds__(THREADS)
#endif

__device__ __forceinline__ float inverse_root(float square)
{
    float inverse;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(square));
    return inverse;
}

#if FORM == FORM_each

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
    float inverse = inverse_root(square);
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

/* What is beyond `count` in the last UNROLL has no mass. */
__device__ __forceinline__ void do_tile(float (&sum)[BODIES][3],
                                        const float4 (&me)[BODIES],
                                        const float *tile, int count,
                                        float softening)
{
#pragma unroll 1
    for (int i = 0; i < count; i += UNROLL)
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

/* Adds the sums to what the thread has stored before, and clears them. */
__device__ __forceinline__ void store(float *to, float (&sum)[BODIES][3],
                                      int n, bool again)
{
    int first = blockIdx.x * (THREADS * BODIES) + threadIdx.x;
#pragma unroll
    for (int k = 0; k < BODIES; k++) {
        int i = first + k * THREADS;
#pragma unroll
        for (int c = 0; c < 3; c++) {
            if (i < n)
                to[3ll * i + c] = sum[k][c] +
                                  (again ? to[3ll * i + c] : 0.0f);
            sum[k][c] = 0.0f;
        }
    }
}

extern "C" __global__ void BOUNDS
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
    float *to = gridDim.y == 1 ? out : partial + 3ll * n * blockIdx.y;
    float sum[BODIES][3] = {};
    float4 next[TILE];
    int stop = at + RUN;
    bool again = false;
#if STAGES == 1
    for (; at < end; at += SIZE) {
        take(next, in, at, end);
        put(tile, next);
        __syncthreads();
        do_tile(sum, me, tile, min(SIZE, end - at), softening);
        __syncthreads();
#else
    take(next, in, at, end);
    for (int stage = 0; at < end; at += SIZE, stage ^= 1) {
        float *now = tile + stage * SIZE * 4;
        put(now, next);
        __syncthreads();
        take(next, in, at + SIZE, end);
        do_tile(sum, me, now, min(SIZE, end - at), softening);
#endif
        if (at + SIZE >= stop) {
            store(to, sum, n, again);
            again = true;
            stop += RUN;
        }
    }
    store(to, sum, n, again);
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

#else

/*
 * Every pair once.  Bodies come in sets of 32, and a warp keeps BODIES sets in
 * registers, its own.  Another set goes round: lane l meets body l + step of
 * it, which is loaded from shared memory, while what the body gathers is
 * handed on from lane to lane and is home after 32 steps.  A step costs a load
 * and three shuffles for 2 * BODIES interactions.
 *
 * Own sets a and others are on a circle, each meets itself (one way: a body
 * then meets all of its kind) and the half of the circle before it.  If they
 * are even in number, those opposite each other meet once too: the first half
 * of them see to it.  All the meetings in one line, as units of one set that
 * goes round, are cut into equal parts for the warps.
 */
constexpr int PARTY = 32 * BODIES;

struct plan {
    int parties;
    long long few;      /* units of a party without an opposite to see to */
    int many;           /* parties with one, the first */
};

__device__ __forceinline__ plan plan_of(int n)
{
    plan p;
    p.parties = (n + PARTY - 1) / PARTY;
    int odd = p.parties & 1;
    p.few = (long long)BODIES * (p.parties / 2 + odd);
    p.many = odd ? 0 : p.parties / 2;
    return p;
}

/* The party of a unit, its first unit, and the first one of the next. */
__device__ __forceinline__ int party_of(const plan &p, long long unit,
                                        long long &from, long long &next)
{
    long long wide = p.many * (p.few + BODIES);
    int party;
    if (unit < wide) {
        party = (int)(unit / (p.few + BODIES));
        from = party * (p.few + BODIES);
        next = from + p.few + BODIES;
    } else {
        long long after = (unit - wide) / p.few;
        party = p.many + (int)after;
        from = wide + after * p.few;
        next = from + p.few;
    }
    return party;
}

template <bool BOTH>
__device__ __forceinline__ void go_round(float (&sum)[BODIES][3],
                                         float (&gathered)[3],
                                         const float4 (&me)[BODIES],
                                         const float4 *ring, float softening)
{
    int behind = (threadIdx.x + 1) % 32;
#pragma unroll 1
    for (int i = 0; i < 32; i += UNROLL)
#pragma unroll
        for (int u = 0; u < UNROLL; u++) {
            float4 other = ring[i + u];
#pragma unroll
            for (int k = 0; k < BODIES; k++) {
                float x = other.x - me[k].x;
                float y = other.y - me[k].y;
                float z = other.z - me[k].z;
                float inverse = inverse_root(
                    fmaf(x, x, fmaf(y, y, fmaf(z, z, softening))));
                float squared = inverse * inverse;
                float pull = other.w * inverse * squared;
                sum[k][0] = fmaf(x, pull, sum[k][0]);
                sum[k][1] = fmaf(y, pull, sum[k][1]);
                sum[k][2] = fmaf(z, pull, sum[k][2]);
                if (BOTH) {
                    float back = me[k].w * inverse * squared;
                    gathered[0] = fmaf(-x, back, gathered[0]);
                    gathered[1] = fmaf(-y, back, gathered[1]);
                    gathered[2] = fmaf(-z, back, gathered[2]);
                }
            }
            if (BOTH)
#pragma unroll
                for (int c = 0; c < 3; c++)
                    gathered[c] = __shfl_sync(~0u, gathered[c], behind);
        }
}

/* Adds three floats a lane to 32 bodies' of out, neighbours to neighbours. */
__device__ __forceinline__ void add(float *out, float *mine, int set, int n,
                                    const float (&value)[3])
{
    int lane = threadIdx.x % 32;
    __syncwarp();
#pragma unroll
    for (int c = 0; c < 3; c++)
        mine[3 * lane + c] = value[c];
    __syncwarp();
#pragma unroll
    for (int c = 0; c < 3; c++)
        if (96ll * set + 32 * c + lane < 3ll * n)
            atomicAdd(out + 96ll * set + 32 * c + lane, mine[32 * c + lane]);
}

__device__ __forceinline__ float4 body_of(const float4 *__restrict__ in,
                                          int set, int n)
{
    int i = set * 32 + threadIdx.x % 32;
    return i < n ? in[i] : float4{0.0f, 0.0f, 0.0f, 0.0f};
}

extern "C" __global__ void BOUNDS
nbody_pairs(float *__restrict__ out, const float4 *__restrict__ in, int n,
            float softening)
{
    __shared__ float4 rings[THREADS / 32][64];
    float4 *ring = rings[threadIdx.x / 32];
    int lane = threadIdx.x % 32;
    plan p = plan_of(n);
    int sets = p.parties * BODIES;
    long long units = p.parties * p.few + (long long)p.many * BODIES;
    long long warps = gridDim.x * (THREADS / 32);
    /* The shuffle tells the compiler that it is one number a warp. */
    long long warp = blockIdx.x * (THREADS / 32) +
                     __shfl_sync(~0u, threadIdx.x / 32, 0);
    long long at = units * warp / warps;
    long long end = units * (warp + 1) / warps;

    while (at < end) {
        long long from, next;
        int party = party_of(p, at, from, next);
        int count = (int)min(min(end, next) - at, (long long)(RUN / 32));
        int beyond = (int)(at - from);      /* sets past the party's first */
        int set = party * BODIES + beyond;
        if (set >= sets)
            set -= sets;
        at += count;

        float4 me[BODIES];
        float sum[BODIES][3] = {};
#pragma unroll
        for (int k = 0; k < BODIES; k++)
            me[k] = body_of(in, party * BODIES + k, n);
        float4 other = body_of(in, set, n);
#pragma unroll 1
        for (; count > 0; count--, beyond++) {
            float gathered[3] = {};
            int now = set;
            set = set + 1 < sets ? set + 1 : 0;
#if STAGES == 1
            other = body_of(in, now, n);
#endif
            __syncwarp();
            ring[lane] = other;
            ring[lane + 32] = other;
            __syncwarp();
#if STAGES == 2
            other = body_of(in, set, n);
#endif
            if (beyond < BODIES) {
                go_round<false>(sum, gathered, me, ring + lane, softening);
            } else {
                go_round<true>(sum, gathered, me, ring + lane, softening);
                add(out, (float *)ring, now, n, gathered);
            }
        }
#pragma unroll
        for (int k = 0; k < BODIES; k++)
            add(out, (float *)ring, party * BODIES + k, n, sum[k]);
    }
}

extern "C" __global__ void nbody_clear(float *__restrict__ out, int n)
{
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < 3ll * n)
        out[i] = 0.0f;
}

#endif

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
