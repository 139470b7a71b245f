/* SPDX-License-Identifier: MIT */
/*
 * faults: turns a vector round in groups of 256, through shared memory, and
 * does one thing wrong, after the parameter FAULT.  Which verdict each has to
 * have stands in faults.sh.
 */
#if FAULT == FAULT_static_too_large
#define SIZE 100000
#else
#define SIZE THREADS
#endif

extern "C" __global__ void faults(float *out, float *in, float *scratch,
                                  int n)
{
    __shared__ float tile[SIZE];
    const int t = threadIdx.x;
    const int i = blockIdx.x * THREADS + t;
    const int mirror = t - t % 256 + 255 - t % 256;
    const int from = blockIdx.x * THREADS + mirror;

#if FAULT == FAULT_no_barrier
    if (t / 32 % 2 == 1)
        __nanosleep(2000);
#endif
    tile[t] = i < n ? in[i] : 0.0f;
#if FAULT != FAULT_no_barrier
    __syncthreads();
#endif
#if FAULT == FAULT_unwritten
    if (i == n - 1)
        return;
#endif
    if (i < n)
        out[i] = from < n ? tile[mirror] : 0.0f;

#if FAULT == FAULT_illegal_address
    if (i == n / 2)
        out[(1ll << 40) + i] = 1.0f;
#elif FAULT == FAULT_misaligned
    if (i == n / 2)
        *(volatile float *)((char *)out + 1) = 1.0f;
#elif FAULT == FAULT_trap
    if (i == n / 2)
        asm volatile("trap;");
#elif FAULT == FAULT_endless
    while (i == 0 && *(volatile float *)scratch != 12345.0f)
        ;
#elif FAULT == FAULT_past_end
    if (i == 0)
        out[n] = 1.0f;
#elif FAULT == FAULT_before_begin
    if (i == 0)
        out[-1] = 1.0f;
#elif FAULT == FAULT_past_scratch
    if (i == 0)
        scratch[1] = 1.0f;
#elif FAULT == FAULT_changes_input
    if (i == n - 1)
        in[i] = tile[t] + 1.0f;
#elif FAULT == FAULT_nan
    if (i == n - 1)
        out[i] = __int_as_float(0x7fffffff);
#elif FAULT == FAULT_one_wrong
    if (i == n / 2)
        out[i] = tile[mirror] + 1.0e-3f;
#elif FAULT == FAULT_compile_error
    this_function_is_not_declared(i);
#elif FAULT == FAULT_unroll
    float sum = 0.0f;
#define STEP(j) sum += tile[(t * k + k / 3 + j) % 251] *                     \
                       in[(k % 7 + t % (j + 13)) * j];
#pragma unroll 8192
    for (int k = 0; k < 65536; k++) {
        STEP(1) STEP(2) STEP(3) STEP(4) STEP(5) STEP(6) STEP(7) STEP(8)
        STEP(9) STEP(10) STEP(11) STEP(12) STEP(13) STEP(14) STEP(15)
    }
    scratch[0] = sum;
#endif
}

#ifdef SHMTUNE_REFERENCE
extern "C" __global__ void faults_reference(float *out, const float *in,
                                            int n)
{
    const int i = blockIdx.x * 256 + threadIdx.x;
    const int from = i - i % 256 + 255 - i % 256;

    if (i < n)
        out[i] = from < n ? in[from] : 0.0f;
}
#endif
