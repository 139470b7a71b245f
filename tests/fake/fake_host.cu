// SPDX-License-Identifier: MIT
// Functions of the host on a device whose memory is the host's: no device code,
// so that any host compiler takes it.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <dlfcn.h>
#include <unistd.h>

struct CUstream_st;

namespace {

template <class T> T argument(void **arguments, int k)
{
    T value;

    std::memcpy(&value, arguments[k], sizeof value);
    return value;
}

// The device's clock goes on.
void spend(double us)
{
    void *driver = dlopen(std::getenv("SHMTUNE_LIBCUDA"),
                          RTLD_NOW | RTLD_NOLOAD);
    void (*go_on)(double) =
        reinterpret_cast<void (*)(double)>(dlsym(driver, "fake_spend"));

    go_on(us);
}

struct Both {
    const float *x;
    long long n;
};

}

namespace fake {

// Not a candidate's own but for its values: each has to run with its own.
inline int &kept()
{
    static int factor = 0;

    return factor;
}

#ifndef SHMTUNE_REFERENCE
template <int factor> int multiply(CUstream_st *stream, void **arguments)
{
    float *out = argument<float *>(arguments, 0);
    const float *x = argument<const float *>(arguments, 1);
    const int n = argument<int>(arguments, 2);
    const Both both = argument<Both>(arguments, 4);

    if (kept() != 0 && kept() != FACTOR)
        return 77;
    kept() = FACTOR;
    if (stream == nullptr || both.x != x || both.n != n)
        return 78;
    spend(argument<int>(arguments, 3));
    if (FAULT == FAULT_segfault)
        std::raise(SIGSEGV);
    while (FAULT == FAULT_hang)
        pause();
    if (FAULT == FAULT_status)
        return 3;
    if (FAULT == FAULT_exit)
        _exit(5);
    if (FAULT == FAULT_print)
        std::printf("hello from the host\n"), std::fflush(stdout);
    for (int i = FAULT == FAULT_first; i < n + (FAULT == FAULT_past); i++)
        out[i] = factor * x[i < n ? i : 0];
    return 0;
}

template int multiply<FACTOR>(CUstream_st *stream, void **arguments);
#endif

}

extern "C" int count(CUstream_st *, void **arguments)
{
    int *counter = argument<int *>(arguments, 0);

    return counter[0]++;   // it was zeroed
}

#ifdef SHMTUNE_REFERENCE
extern "C" int twice(CUstream_st *, void **arguments)
{
    float *out = argument<float *>(arguments, 0);
    const float *x = argument<const float *>(arguments, 1);

    for (int i = 0; i < argument<int>(arguments, 2); i++)
        out[i] = 2 * x[i];
    return 0;
}
#endif
