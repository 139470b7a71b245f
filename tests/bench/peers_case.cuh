/* SPDX-License-Identifier: MIT */
/* peers_case: one kernel at one size, with the buffers that its spec wants. */
#ifndef SHMT_BENCH_PEERS_CASE_CUH
#define SHMT_BENCH_PEERS_CASE_CUH

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "peers_timing.cuh"
#include "shmtune.h"

struct Case {
    const shmtune_kernel *kernel;
    std::string name;
    std::vector<int64_t> problem;
    shmtune_choice choice = SHMTUNE_CHOICE_INIT;
    shmtune_function *function;
    std::map<std::string, void *> buffers;
    std::map<std::string, int64_t> bytes;
    std::vector<void *> pointers;       /* what the arguments point to */
    std::vector<void *> arguments;
    std::map<std::string, std::vector<char>> arrays;  /* passed by value */

    int64_t dim(size_t k) const { return problem[k]; }
    float *f32(const char *name) { return (float *)buffers.at(name); }
};

static void fill(Case &c, const shmtune_argument &a, void *at, int64_t bytes,
                 unsigned seed)
{
    (void)c;
    if (!std::strcmp(a.type, "f32"))
        fill_floats<<<1024, 256>>>((float *)at, bytes / 4, seed);
    else
        fill_words<<<1024, 256>>>((unsigned *)at, bytes / 4, seed,
                                  !std::strcmp(a.type, "u8") ? ~0u : 1023u);
}

/* Allocates and fills what the spec declares; a word that the spec wants
 * zero at first ("ticket") is zeroed.  Of an array passed by value the peers
 * find a copy on the device. */
static void make_buffers(Case &c)
{
    const size_t count = shmtune_argument_count(c.kernel);

    c.pointers.resize(count);
    c.arguments.assign(count, nullptr);
    for (size_t k = 0; k < count; k++) {
        shmtune_argument a = SHMTUNE_ARGUMENT_INIT;
        int64_t bytes;

        shmtune_argument_at(c.kernel, k, &a);
        if (a.role == SHMTUNE_SCALAR)
            continue;
        if (shmtune_argument_bytes(&c.choice, k, &bytes) != SHMTUNE_OK)
            die("%s: no size of %s", c.name.c_str(), a.name);
        CUDA(cudaMalloc(&c.pointers[k], std::max<int64_t>(bytes, 16)));
        CUDA(cudaMemset(c.pointers[k], 0, bytes));
        if (a.role == SHMTUNE_INPUT || a.role == SHMTUNE_VALUE)
            fill(c, a, c.pointers[k], bytes, (unsigned)k + 1);
        c.arguments[k] = &c.pointers[k];
        if (a.role == SHMTUNE_VALUE) {
            std::vector<char> &array = c.arrays[a.name];

            array.resize(bytes);
            CUDA(cudaMemcpy(array.data(), c.pointers[k], bytes,
                            cudaMemcpyDefault));
            c.arguments[k] = array.data();
        }
        c.buffers[a.name] = c.pointers[k];
        c.bytes[a.name] = bytes;
    }
    CUDA(cudaDeviceSynchronize());
}

static void free_buffers(Case &c)
{
    for (void *p : c.pointers)
        if (p != nullptr)
            CUDA(cudaFree(p));
}

#endif
