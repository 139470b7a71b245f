/* SPDX-License-Identifier: MIT */
/*
 * histogram: counts of n samples.  bins = 256: a sample is a byte and its
 * bin.  bins = 1024: a sample is a 32-bit word, its bin the upper ten bits,
 * that is, even bins over all it can be.  Any n.
 *
 * Blocks count in shared memory and add what they found at the end.  Lanes
 * of a warp that add to the same bank take turns, so what decides is how
 * many copies of the bins there are and how they lie:
 *
 * COPIES   of the bins in a block.
 * LAYOUT   `lanes`: neighbouring lanes have neighbouring copies of a bin, so
 *          that 32 copies have no conflicts at all, whatever the samples;
 *          `warps`: a warp has a copy, the bins of which lie together.
 * PAD      words after every copy (`warps`) or bin (`lanes`).
 * VECTOR, UNROLL, BLOCKS   words a load, loads in flight, blocks in the
 *          grid, which strides over the input.  BLOCKS is a launch
 *          parameter: one binary.
 * MERGE    `clear`: one launch zeroes the output, blocks add to it;
 *          `ticket`: blocks add to a buffer that is 0 between launches, and
 *          the one that draws the last ticket moves it to the output.
 */

typedef unsigned u32;

constexpr bool BYTES = bins == 256;
constexpr bool BY_LANE = LAYOUT == LAYOUT_lanes;
constexpr int PITCH = (BY_LANE ? COPIES : bins) + PAD;
[[maybe_unused]] constexpr int WORDS = (BY_LANE ? bins : COPIES) * PITCH;
constexpr int SAMPLES = BYTES ? 4 : 1;   /* in a word */

struct alignas(VECTOR * 4) vector {
    u32 part[VECTOR];
};

__device__ __forceinline__ u32 *bin_at(u32 *counts, int bin, int copy)
{
    return counts + (BY_LANE ? bin * PITCH + copy : copy * PITCH + bin);
}

/* `mine` is this thread's copy of bin 0. */
__device__ __forceinline__ void count_sample(u32 *mine, u32 bin)
{
    atomicAdd(mine + bin * (BY_LANE ? PITCH : 1), 1u);
}

__device__ __forceinline__ void count_word(u32 *mine, u32 word)
{
    if (BYTES) {
#pragma unroll
        for (int i = 0; i < 4; i++)
            count_sample(mine, word >> 8 * i & 255);
    } else {
        count_sample(mine, word >> 22);
    }
}

__device__ __forceinline__ void count_all(u32 *mine,
                                          const unsigned char *__restrict__ in,
                                          long long n)
{
    long long step = (long long)gridDim.x * THREADS;
    long long first = (long long)blockIdx.x * THREADS + threadIdx.x;
    long long i = first;
    bool aligned = ((size_t)in & (VECTOR * 4 - 1)) == 0;
    long long vectors = aligned ? n / (VECTOR * SAMPLES) : 0;
    const vector *wide = (const vector *)in;
    for (; i + (UNROLL - 1) * step < vectors; i += UNROLL * step) {
        vector held[UNROLL];
#pragma unroll
        for (int k = 0; k < UNROLL; k++)
            held[k] = wide[i + k * step];
#pragma unroll
        for (int k = 0; k < UNROLL; k++)
#pragma unroll
            for (int v = 0; v < VECTOR; v++)
                count_word(mine, held[k].part[v]);
    }
#pragma unroll 1
    for (; i < vectors; i += step) {
        vector held = wide[i];
#pragma unroll
        for (int v = 0; v < VECTOR; v++)
            count_word(mine, held.part[v]);
    }
    /* What no vector holds, sample by sample. */
#pragma unroll 1
    for (i = vectors * VECTOR * SAMPLES + first; i < n; i += step)
        count_sample(mine, BYTES ? in[i] : ((const u32 *)in)[i] >> 22);
}

extern "C" __global__ void __launch_bounds__(THREADS)
histogram(u32 *out, u32 *sum, u32 *ticket, const unsigned char *in,
          long long n)
{
#if MEMORY == MEMORY_static
    __shared__ u32 counts[WORDS];
#else
    extern __shared__ u32 counts[];
#endif
    for (int i = threadIdx.x; i < WORDS; i += THREADS)
        counts[i] = 0;
    __syncthreads();
    int copy = (BY_LANE ? threadIdx.x : threadIdx.x / 32) % COPIES;
    count_all(bin_at(counts, 0, copy), in, n);
    __syncthreads();

    u32 *to = MERGE == MERGE_ticket ? sum : out;
    for (int bin = threadIdx.x; bin < bins; bin += THREADS) {
        u32 all = 0;
        /* Each lane begins with another copy, in another bank. */
#pragma unroll
        for (int c = 0; c < COPIES; c++)
            all += *bin_at(counts, bin, (c + threadIdx.x) % COPIES);
        if (all > 0)
            atomicAdd(to + bin, all);
    }
#if MERGE == MERGE_ticket
    __threadfence();
    __syncthreads();
    bool last = false;
    if (threadIdx.x == 0)
        last = atomicAdd(ticket, 1u) == gridDim.x - 1;
    if (!__syncthreads_or(last))
        return;
    __threadfence();
    for (int bin = threadIdx.x; bin < bins; bin += THREADS) {
        out[bin] = __ldcg(sum + bin);
        sum[bin] = 0;
    }
    if (threadIdx.x == 0)
        *ticket = 0;
#endif
}

extern "C" __global__ void histogram_clear(u32 *out)
{
    out[threadIdx.x] = 0;
}

#ifdef SHMTUNE_REFERENCE
/* The oracle: every sample straight into the output. */
extern "C" __global__ void histogram_reference(u32 *out,
                                               const unsigned char *in,
                                               long long n)
{
    long long step = (long long)gridDim.x * blockDim.x;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
         i < n; i += step)
        atomicAdd(out + (BYTES ? in[i] : ((const u32 *)in)[i] >> 22), 1u);
}
#endif
