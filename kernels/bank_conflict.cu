/* SPDX-License-Identifier: MIT */
/*
 * bank_conflict: a demonstration.  out[i] = in[i] + the sum, over `rounds`
 * rounds, of table[i % 32]; the rounds read shared memory, and the space is
 * every way for a warp to be in its own way there:
 *
 * STRIDE   words between the words of neighbouring threads.
 * WORD     bytes of a word: 4, 8 or 16.
 * PAD      words left out after every 32, the textbook's cure.
 *
 * Shared memory has 32 banks of 4 bytes, and serves in one step the words of
 * 32 threads of 4 bytes, of 16 threads of 8, or of 8 threads of 16.  Word k
 * stands at slot k + k / 32 * PAD, and thread t reads word t * STRIDE.  A step
 * takes as long as the bank that is asked for the most different words: with
 * no padding that is n times as long as without conflict,
 *
 *     n = gcd(STRIDE, 128 / WORD).
 *
 * The same number of floats is read whatever the word, so that times compare
 * directly.
 */

constexpr int FLOATS = WORD / 4;
/* The last word is 31 * STRIDE. */
constexpr int SLOTS = 31 * STRIDE + 31 * STRIDE / 32 * PAD + 1;

struct alignas(WORD) word {
    float part[FLOATS];
};

__device__ __forceinline__ int slot(int thread)
{
    int k = thread * STRIDE;
    return k + k / 32 * PAD;
}

/* A load that the compiler may neither drop nor take out of the loop. */
__device__ __forceinline__ word read(unsigned at)
{
    word w;
#if WORD == 4
    asm volatile("ld.volatile.shared.f32 %0, [%1];"
                 : "=f"(w.part[0]) : "r"(at));
#elif WORD == 8
    asm volatile("ld.volatile.shared.v2.f32 {%0, %1}, [%2];"
                 : "=f"(w.part[0]), "=f"(w.part[1]) : "r"(at));
#else
    asm volatile("ld.volatile.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(w.part[0]), "=f"(w.part[1]), "=f"(w.part[2]),
                   "=f"(w.part[3]) : "r"(at));
#endif
    return w;
}

extern "C" __global__ void __launch_bounds__(256)
bank_conflict(float *__restrict__ out, const float *__restrict__ in,
              const float *__restrict__ table, int n, int rounds)
{
#if MEMORY == MEMORY_static
    __shared__ word words[SLOTS];
#else
    extern __shared__ word words[];
#endif
    int t = threadIdx.x;
    if (t < 32)
        for (int v = 0; v < FLOATS; v++)
            words[slot(t)].part[v] = table[(t * FLOATS + v) % 32];
    __syncthreads();

    unsigned at = (unsigned)__cvta_generic_to_shared(words + slot(t % 32));
    word sum = {};
#pragma unroll 8
    for (int r = 0; r < rounds; r++) {
        word w = read(at);
#pragma unroll
        for (int v = 0; v < FLOATS; v++)
            sum.part[v] += w.part[v];
    }
    long long i = ((long long)blockIdx.x * 256 + t) * FLOATS;
#pragma unroll
    for (int v = 0; v < FLOATS; v++)
        if (i + v < n)
            out[i + v] = in[i + v] + sum.part[v];
}

#ifdef SHMTUNE_REFERENCE
extern "C" __global__ void bank_conflict_reference(float *out, const float *in,
                                                   const float *table, int n,
                                                   int rounds)
{
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    double sum = in[i];
    for (int r = 0; r < rounds; r++)
        sum += table[i % 32];
    out[i] = (float)sum;
}
#endif
