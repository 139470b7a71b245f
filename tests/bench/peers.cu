/* SPDX-License-Identifier: MIT */
/*
 * peers: every tuned kernel, launched through libshmtune, beside the library
 * that a user would otherwise call, interleaved in one process on one GPU.
 *
 *   peers [--path ROOT:ROOT] [--rounds N] [--json] [--held-out] [KERNEL]...
 *
 * Both results are compared before anything is timed.  Cold: twice the L2
 * cache is read before every sample.  Warm: ten launches back to back.  A
 * ratio above 1 means that the tuned kernel is the faster one.  The floor is
 * the larger of bytes over the bandwidth of a large cudaMemcpy and flops over
 * the rate of a chain of FMAs, both measured here first.
 */
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "peers_case.cuh"
#include "peers_libraries.cuh"
#include "peers_timing.cuh"
#include "shmtune.h"

/* -- comparing and reporting ----------------------------------------------- */

/* *worst is not negative, so that its bits compare as it does. */
__global__ void compare(const unsigned *a, const unsigned *b, size_t count,
                        float tolerance, float *worst)
{
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    size_t step = (size_t)gridDim.x * blockDim.x;
    float most = 0;

    for (; i < count; i += step) {
        float x = __uint_as_float(a[i]), y = __uint_as_float(b[i]);
        float d = tolerance == 0
                      ? (a[i] == b[i] ? 0.0f : INFINITY)
                      : fabsf(x - y) / (tolerance + tolerance * fabsf(y));
        if (!(d <= most))
            most = isnan(d) ? INFINITY : d;
    }
    if (most > 0)
        atomicMax((unsigned *)worst, __float_as_uint(most));
}

/* The largest |a - b| / (tolerance + tolerance |b|), at most 1 when equal
 * enough; NaN counts as infinite.  Without a tolerance words must be the
 * same. */
static double difference(Case &c, const Peer &p)
{
    float worst, *at;

    if (p.result == nullptr)
        return 0;
    const size_t count = (size_t)c.bytes.at(p.output) / 4;
    CUDA(cudaMalloc(&at, sizeof worst));
    CUDA(cudaMemset(at, 0, sizeof worst));
    compare<<<1024, 256>>>((unsigned *)c.buffers.at(p.output),
                           (unsigned *)p.result, count, (float)p.tolerance,
                           at);
    CUDA(cudaMemcpy(&worst, at, sizeof worst, cudaMemcpyDeviceToHost));
    CUDA(cudaFree(at));
    return worst;
}

struct Options {
    const char *path = nullptr;
    int rounds = 30;
    bool json = false, held_out = false;
    std::vector<std::string> kernels;
};

/* Cold and warm, of the tuned kernel and its peer; 0 where there is none. */
struct Times {
    double tuned = 0, spread = 0, peer = 0, warm_tuned = 0, warm_peer = 0;
};

static Times time_both(Bench &bench, int rounds, const Launch &tuned,
                       const Launch &peer)
{
    std::vector<double> a, b, aw, bw;
    Times t;

    for (int r = 0; r < 3; r++) {
        bench.sample(tuned, false, 1);
        if (peer)
            bench.sample(peer, false, 1);
    }
    for (int r = 0; r < rounds; r++) {
        a.push_back(bench.sample(tuned, true, 1));
        if (peer)
            b.push_back(bench.sample(peer, true, 1));
    }
    const int repeats = quantile(a, 0.5) > 2000 ? 2 : 10;
    for (int r = 0; r < rounds / 3 + 1; r++) {
        aw.push_back(bench.sample(tuned, false, repeats));
        if (peer)
            bw.push_back(bench.sample(peer, false, repeats));
    }
    t.tuned = quantile(a, 0.5);
    t.spread = (quantile(a, 0.75) - quantile(a, 0.25)) / t.tuned;
    t.warm_tuned = quantile(aw, 0.5);
    if (peer) {
        t.peer = quantile(b, 0.5);
        t.warm_peer = quantile(bw, 0.5);
    }
    return t;
}

static void report(const Case &c, const std::string &size, const Peer &p,
                   const Times &t, double floor_us, bool json)
{
    const char *match = shmtune_match_text(c.choice.match);
    const double default_us =
        c.choice.match == SHMTUNE_EXACT ? c.choice.default_us : -1;

    if (json)
        std::printf("{\"kernel\": \"%s\", \"size\": \"%s\", \"match\": "
                    "\"%s\", \"peer\": \"%s\", \"tuned_us\": %.3f, "
                    "\"spread\": %.4f, \"peer_us\": %.3f, "
                    "\"warm_tuned_us\": %.3f, \"warm_peer_us\": %.3f, "
                    "\"floor_us\": %.3f, \"default_us\": %.3f}\n",
                    c.name.c_str(), size.c_str(), match, p.name, t.tuned,
                    t.spread, t.peer, t.warm_tuned, t.warm_peer, floor_us,
                    default_us);
    else
        std::printf("%-11s %-20s %-13s %10.2f %5.1f%% %10.2f %6.2f  "
                    "%10.2f %6.2f %5.0f%%  %s\n",
                    c.name.c_str(), size.c_str(), match, t.tuned,
                    100 * t.spread, t.peer, t.peer / t.tuned, t.warm_tuned,
                    t.warm_peer / t.warm_tuned, 100 * floor_us / t.tuned,
                    p.name);
    std::fflush(stdout);
}

static std::string size_text(const Case &c)
{
    std::string text;

    for (int64_t d : c.problem)
        text += (text.empty() ? "" : "x") + std::to_string(d);
    return text;
}

static bool run_case(Bench &bench, const Options &options, Case &c,
                     Peer (*make)(Case &), const shmtune_device &device)
{
    const std::string size = size_text(c);
    shmtune_message message;

    if (shmtune_select(c.kernel, &device, c.problem.data(), &c.choice) !=
        SHMTUNE_OK)
        die("%s %s: no configuration", c.name.c_str(), size.c_str());
    if (shmtune_prepare(&c.choice, SHMTUNE_ALLOW_COMPILE, &c.function,
                        &message) != SHMTUNE_OK)
        die("%s %s: %s", c.name.c_str(), size.c_str(), message.text);
    make_buffers(c);
    Peer p = make(c);
    Launch tuned = [&](cudaStream_t s) {
        if (shmtune_launch(c.function, c.arguments.data(), s, &message) !=
            SHMTUNE_OK)
            die("%s %s: %s", c.name.c_str(), size.c_str(), message.text);
    };
    tuned(bench.stream);
    if (p.launch)
        p.launch(bench.stream);
    CUDA(cudaStreamSynchronize(bench.stream));
    const double worst = difference(c, p);
    if (worst <= 1)
        report(c, size, p, time_both(bench, options.rounds, tuned, p.launch),
               std::max(p.bytes / bench.bytes_per_us,
                        p.flops / bench.flops_per_us), options.json);
    else
        std::fprintf(stderr, "peers: %s %s: results differ, %g x tolerance\n",
                     c.name.c_str(), size.c_str(), worst);
    shmtune_release(c.function);
    free_buffers(c);
    for (void *at : p.owned)
        CUDA(cudaFree(at));
    return worst <= 1;
}

/* Sizes that are tuned, and with --held-out sizes that nobody tuned. */
struct Sized {
    const char *kernel;
    bool held_out;
    std::vector<int64_t> problem;
};
static const std::vector<Sized> sizes = {
#include "peers_sizes.inc"
};

int main(int argc, char **argv)
{
    Options options;
    shmtune *library;
    shmtune_device device = SHMTUNE_DEVICE_INIT;
    shmtune_message message;
    Bench bench;
    int failures = 0;

    for (int k = 1; k < argc; k++) {
        if (!std::strcmp(argv[k], "--json"))
            options.json = true;
        else if (!std::strcmp(argv[k], "--held-out"))
            options.held_out = true;
        else if (!std::strcmp(argv[k], "--path") && k + 1 < argc)
            options.path = argv[++k];
        else if (!std::strcmp(argv[k], "--rounds") && k + 1 < argc)
            options.rounds = std::max(1, std::atoi(argv[++k]));
        else if (argv[k][0] == '-')
            die("unknown option %s; usage: peers [--path ROOT:ROOT] "
                "[--rounds N] [--json] [--held-out] [KERNEL]...", argv[k]);
        else
            options.kernels.push_back(argv[k]);
    }
    int count = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) {
        std::printf("skipped: no CUDA device\n");
        return 77;
    }
    CUDA(cudaSetDevice(0));
    open_bench(bench);
    CUBLAS(cublasCreate(&blas));
    CUBLAS(cublasSetMathMode(blas, CUBLAS_PEDANTIC_MATH));
#ifdef WITH_CUDNN
    CUDNN(cudnnCreate(&dnn));
#endif
    if (shmtune_open(options.path, &library, &message) != SHMTUNE_OK)
        die("%s", message.text);
    for (size_t k = 0; k < shmtune_note_count(library); k++)
        std::fprintf(stderr, "peers: note: %s\n", shmtune_note(library, k));
    if (shmtune_device_query(SHMTUNE_CURRENT_DEVICE, &device, &message) !=
        SHMTUNE_OK)
        die("%s", message.text);
    if (!options.json)
        std::printf("%s; copy %.0f GB/s, fp32 FMA %.1f TFLOP/s\n"
                    "%-11s %-20s %-13s %10s %6s %10s %6s  %10s %6s %6s  %s\n",
                    device.name, bench.bytes_per_us / 1e3,
                    bench.flops_per_us / 1e6, "kernel", "size", "match",
                    "cold us", "spread", "peer us", "ratio", "warm us",
                    "ratio", "floor", "peer");
    for (const Sized &sized : sizes) {
        Case c;

        c.name = sized.kernel;
        if (sized.held_out && !options.held_out)
            continue;
        if (!options.kernels.empty() &&
            std::find(options.kernels.begin(), options.kernels.end(),
                      c.name) == options.kernels.end())
            continue;
        c.kernel = shmtune_kernel_find(library, sized.kernel);
        if (c.kernel == nullptr)
            continue;
        c.problem = sized.problem;
        for (const auto &peer : peers)
            if (c.name == peer.kernel)
                failures += !run_case(bench, options, c, peer.make, device);
    }
    shmtune_close(library);
    return failures == 0 ? 0 : 1;
}
