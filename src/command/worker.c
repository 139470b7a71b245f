/* SPDX-License-Identifier: MIT */
/*
 * worker: the worker process: compiles candidates and, if it has a device,
 * measures them.  It reads one request a line from standard input and writes
 * one reply a line to standard output, in the same order.  It ends at the end
 * of its input, or after the reply to a candidate that broke the CUDA context.
 * The caller enforces deadlines.  Not in the list of commands, but it can be
 * driven by hand.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <strings.h>
#include <unistd.h>

#include "base/base.h"
#include "bench/bench.h"
#include "command/command.h"
#include "command/far.h"
#include "device/device.h"
#include "gpu/gpu.h"
#include "target/target.h"

static const char help[] =
    "usage: shmtune worker --spec FILE --images DIR\n"
    "                      (--arch sm_XX | --device N|UUID [--alone])\n"
    "                      [--data-seed N] [--data-digest HEX] [--warm]\n"
    "                      [--requests FILE] [--compiler VERSIONS]\n"
    "                      [--for-library] [--on COMMAND]\n"
    "       shmtune worker --far | --describe --device N|UUID\n"
    "       shmtune worker --devices [--device UUID]\n"
    "\n"
    "Compiles and measures candidates of one kernel for the tuner, which\n"
    "starts it. Says hello, then answers each line of its input:\n"
    "\n"
    "  {verb: inspect, tag: 1, size: {rows: 64}, config: {TILE: 32}}\n"
    "  {verb: measure, tag: 2, size: {rows: 64}, config: {TILE: 32},\n"
    "   samples: 7, give_up_us: 50, verify: true}\n"
    "  {verb: profile, tag: 3, size: {rows: 64}, config: {TILE: 32}}\n"
    "  {verb: rerun, tag: 4, size: {rows: 64}, config: {TILE: 32},\n"
    "   poison: y}\n"
    "  {verb: renew, tag: 0, size: {rows: 64}, config: {TILE: 32}}\n"
    "  {verb: forget, tag: 0, size: {rows: 64}, config: {TILE: 32}}\n"
    "  {serve: FILE, arch: sm_90}\n"
    "\n"
    "  --spec FILE      the kernel\n"
    "  --images DIR     folder of binaries, made when it is absent\n"
    "  --arch sm_XX     compile for it; no device is opened\n"
    "  --device N|UUID  measure on it\n"
    "  --alone          the driver is to look for no other GPU than this UUID\n"
    "  --data-seed N    of the random inputs [1]\n"
    "  --data-digest HEX  of the files that inputs are filled from: refuse\n"
    "                   others\n"
    "  --warm           leave the L2 cache warm between samples\n"
    "  --requests FILE  read them there, not on standard input\n"
    "  --compiler VERSIONS  compile nothing: compilers of these versions have\n"
    "                   made all binaries, NVRTC:NVCC:TOOLKIT:HOST\n"
    "  --for-library    inspect makes binaries that libshmtune takes from its\n"
    "                   cache, whichever compiler made them\n"
    "  --on COMMAND     measure where COMMAND leads, which starts\n"
    "                   shmtune worker --far there\n"
    "  --far-program PATH, --far-timeout SECONDS\n"
    "                   as in shmtune tune\n"
    "  --far            be the other end of --on: docs/architecture.md\n"
    "  --describe       say hello with the device, and no more\n"
    "  --devices        say a hello for each GPU, by number, and end\n"
    "\n"
    "profile verifies a candidate and launches it once between\n"
    "cuProfilerStart and cuProfilerStop: start the worker through\n"
    "ncu --profile-from-start off (shmtune explain does). rerun compares what\n"
    "a launch leaves with what files expect, and whether it is the same with\n"
    "other old contents in an in-out (shmtune capture does). renew has\n"
    "a problem prepared anew, in other memory, forget frees its memory; they\n"
    "have no answer. After serve a worker without a device compiles for\n"
    "another spec, and says hello again.\n"
    "\n"
    "examples:\n"
    "  printf '%s\\n' '{verb: inspect, tag: 1, config: {TILE: 32}}' |\n"
    "      shmtune worker --spec my.yaml --arch sm_90 --images /tmp/images\n";

struct worker {
    struct shmt_kernel *kernel;
    struct shmt_arena *arena;
    const struct shmt_nvrtc *nvrtc;   /* NULL: nvcc compiles the kernel, and
                                         there is no device */
    struct shmt_supply_origin origin;   /* of the binaries, if there is no
                                           compiler */
    struct shmt_nvcc nvcc;         /* for a kernel that it compiles */
    struct shmt_nvrtc_once once;
    int compiler_version;
    bool for_library;              /* binaries are named as the library does */
    struct shmt_bench_group *benches;   /* NULL without a device */
    const char *device;            /* as it was asked for */
    const char *images;
    char arch[16];
    FILE *replies;
};

/* -- the device ---------------------------------------------------------- */

static bool is_mig(const char *device)
{
    return strncasecmp(device, "MIG-", 4) == 0;
}

/* A process sees a MIG device only if that is all it sees; of other GPUs each
 * that it sees makes the driver take longer to start.  Before the driver is
 * opened; returns the word by which it then has the device. */
static const char *see_device(const char *device, bool alone)
{
    if (device == NULL || !(alone || is_mig(device)))
        return device;
    setenv("CUDA_VISIBLE_DEVICES", device, 1);
    return "0";
}

/* A MIG device has the UUID that the user knows it by. */
static void name_device(const char *device, struct shmtune_device *out)
{
    if (device != NULL && is_mig(device))
        snprintf(out->uuid, sizeof out->uuid, "%s", device);
}

/* -- replies -------------------------------------------------------------- */

static enum shmtune_status send(const struct worker *worker,
                                const struct shmt_wire_reply *reply,
                                struct shmt_error *err)
{
    struct shmt_text text = {0};
    enum shmtune_status status = SHMTUNE_OK;

    shmt_wire_write_reply(reply, &text);
    shmt_text_add(&text, "\n");
    if (text.failed)
        status = shmt_error_memory(err);
    else if (fwrite(text.data, 1, text.length, worker->replies) !=
                 text.length || fflush(worker->replies) != 0)
        status = shmt_error_set(err, SHMTUNE_STORAGE, "the reply: %s",
                                strerror(errno));
    shmt_text_free(&text);
    return status;
}

static const struct shmt_bench *first_bench(const struct worker *worker)
{
    return shmt_bench_group_first(worker->benches);
}

static enum shmtune_status say_hello(const struct worker *worker,
                                     struct shmt_error *err)
{
    struct shmt_wire_reply hello = {
        .kind = SHMT_WIRE_HELLO, .nvrtc_version = worker->compiler_version,
        .has_device = worker->benches != NULL};

    memcpy(hello.arch, worker->arch, sizeof hello.arch);
    memcpy(hello.digest, worker->kernel->digest, sizeof hello.digest);
    if (worker->benches != NULL) {
        snprintf(hello.protocol, sizeof hello.protocol, "%s",
                 shmt_bench_protocol(first_bench(worker)));
        hello.device = *shmt_bench_device(first_bench(worker));
        name_device(worker->device, &hello.device);
    }
    return send(worker, &hello, err);
}

/* -- work ----------------------------------------------------------------- */

static enum shmtune_status
do_inspect(struct worker *worker,
           const struct shmt_wire_request *request,
           struct shmt_result *out, struct shmt_error *err)
{
    struct shmt_kernel_evaluated evaluated;
    const struct shmt_image_request wanted = {
        .evaluated = &evaluated, .arch = worker->arch,
        .nvrtc_version = worker->for_library ? 0 : worker->compiler_version,
        .nvcc = &worker->nvcc,
        .once = &worker->once,
    };

    shmt_kernel_evaluate(worker->kernel, request->problem, request->config,
                         &evaluated);
    return shmt_inspect(&wanted, worker->nvrtc, worker->images, out, err);
}

static enum shmtune_status
do_measure(const struct worker *worker,
           const struct shmt_wire_request *request,
           struct shmt_wire_reply *out, struct shmt_error *err)
{
    struct shmt_bench_note note = {0};
    enum shmtune_status status;
    const struct shmt_bench_request wanted = {
        .problem = request->problem, .config = request->config,
        .image = request->image, .samples = request->samples,
        .give_up_us = request->give_up_us, .verify = request->verify,
        .profile = request->verb == SHMT_TARGET_PROFILE,
    };

    if (worker->benches == NULL)
        return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT, "this worker "
                              "has no device; start it with --device");
    status = shmt_bench_group_measure(worker->benches, &wanted, &out->result,
                                      &note, err);
    snprintf(out->note, sizeof out->note, "%s", note.text);
    out->computed_blocks = note.computed_blocks;
    return status;
}

static enum shmtune_status
do_rerun(const struct worker *worker,
         const struct shmt_wire_request *request, struct shmt_rerun *found,
         struct shmt_wire_reply *out, struct shmt_error *err)
{
    const struct shmt_bench_request wanted = {
        .problem = request->problem, .config = request->config};
    const size_t poisoned =
        request->poison == NULL
            ? SHMT_KERNEL_ARGUMENTS
            : (size_t)(request->poison - worker->kernel->arguments);
    enum shmtune_status status;

    if (worker->benches == NULL)
        return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT, "this worker "
                              "has no device; start it with --device");
    status = shmt_bench_group_rerun(worker->benches, &wanted, poisoned,
                                    &out->result, found, err);
    if (status == SHMTUNE_OK && out->result.verdict == SHMT_VERDICT_OK)
        out->rerun = found;
    return status;
}

/* What has no answer. */
static void take_note(struct worker *worker,
                      const struct shmt_wire_request *request)
{
    if (worker->benches == NULL)
        return;
    if (request->verb == SHMT_TARGET_RENEW)
        shmt_bench_group_renew(worker->benches, request->problem);
    else
        shmt_bench_group_forget(worker->benches, request->problem);
}

static enum shmtune_status answer(struct worker *worker,
                                  const char *line, size_t size,
                                  struct shmt_error *err)
{
    struct shmt_wire_reply reply = {.kind = SHMT_WIRE_RESULT};
    struct shmt_wire_request request = {0};
    struct shmt_rerun found;
    enum shmtune_status status;

    if (size > SHMT_WIRE_LONGEST)
        status = shmt_error_set(&reply.error, SHMTUNE_INVALID_ARGUMENT,
                                "a request of more than %d bytes",
                                (int)SHMT_WIRE_LONGEST);
    else
        status = shmt_wire_read_request(worker->kernel, line, size,
                                        &request, &reply.error);
    reply.tag = request.tag;
    if (status == SHMTUNE_OK && (request.verb == SHMT_TARGET_RENEW ||
                                 request.verb == SHMT_TARGET_FORGET)) {
        take_note(worker, &request);
        return SHMTUNE_OK;
    }
    if (status == SHMTUNE_OK && request.verb == SHMT_TARGET_INSPECT)
        status = do_inspect(worker, &request, &reply.result, &reply.error);
    else if (status == SHMTUNE_OK && request.verb == SHMT_TARGET_RERUN)
        status = do_rerun(worker, &request, &found, &reply, &reply.error);
    else if (status == SHMTUNE_OK)
        status = do_measure(worker, &request, &reply, &reply.error);
    if (status != SHMTUNE_OK)
        reply.kind = SHMT_WIRE_ERROR;
    return send(worker, &reply, err);
}

/* -- start ---------------------------------------------------------------- */

/* Replies go to a copy of standard output.  Standard output itself is
 * redirected to standard error, so that what a kernel or a library prints does
 * not come between the replies. */
static enum shmtune_status take_output(struct worker *worker,
                                       struct shmt_error *err)
{
    const int file = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);

    enum shmtune_status status;

    worker->replies = file >= 0 ? fdopen(file, "w") : NULL;
    if (worker->replies != NULL && dup2(STDERR_FILENO, STDOUT_FILENO) >= 0)
        return SHMTUNE_OK;
    status = shmt_error_system(err, "standard output", "cannot be copied");
    if (worker->replies == NULL && file >= 0)
        close(file);
    return status;
}

/* `options` has what the command line says. */
static enum shmtune_status open_device(struct worker *worker,
                                       const char *device, bool alone,
                                       struct shmt_bench_options options,
                                       struct shmt_error *err)
{
    const char *const word = see_device(device, alone);
    enum shmtune_status status = shmt_driver_open(&options.driver, err);

    worker->device = device;
    options.nvrtc = worker->nvrtc;
    options.nvrtc_version = worker->origin.nvrtc_version;
    options.nvcc = &worker->nvcc;
    options.run = shmt_program_run_in;
    options.images = worker->images;
    options.cache = shmt_path_cache_binaries(worker->arena);
    if (options.cache != NULL && options.cache[0] != '/')
        options.cache = NULL;
    if (status == SHMTUNE_OK)
        status = shmt_driver_find_device(options.driver, word,
                                         &options.ordinal, err);
    if (status == SHMTUNE_OK)
        status = shmt_bench_group_open(worker->kernel, &options,
                                       &worker->benches, err);
    if (status == SHMTUNE_OK)
        shmt_device_target(shmt_bench_device(first_bench(worker)),
                           worker->kernel->features, worker->arch);
    return status;
}

static enum shmtune_status take_requests(const char *path,
                                         struct shmt_error *err)
{
    return path == NULL || freopen(path, "r", stdin) != NULL
               ? SHMTUNE_OK
               : shmt_error_set(err, SHMTUNE_STORAGE, "%s: %s", path,
                                strerror(errno));
}

static enum shmtune_status check_arch(struct worker *worker, const char *arch,
                                      struct shmt_error *err)
{
    struct shmtune_device device;
    enum shmtune_status status = shmt_device_for_arch(arch, &device, err);

    if (status == SHMTUNE_OK)
        shmt_device_arch_target(arch, worker->kernel->features, worker->arch);
    return status;
}

/* What is measured was compiled elsewhere. */
static enum shmtune_status use_no_compiler(struct worker *worker,
                                           const char *compiler,
                                           struct shmt_error *err)
{
    struct shmt_supply_origin *origin = &worker->origin;
    enum shmtune_status status =
        shmt_supply_read_origin(compiler, origin, err);

    worker->arena = shmt_arena_new();
    if (status == SHMTUNE_OK && worker->arena == NULL)
        status = shmt_error_memory(err);
    worker->nvcc.version = origin->nvcc_version;
    worker->nvcc.host = origin->host[0] == '\0' ? NULL : origin->host;
    worker->kernel->toolkit_version = origin->toolkit_version;
    worker->compiler_version = worker->kernel->nvcc ? origin->nvcc_version
                                                    : origin->nvrtc_version;
    return status;
}

/* Our own kernels, which measure, need NVRTC whatever compiles the user's. */
static enum shmtune_status open_compiler(struct worker *worker, bool measures,
                                         struct shmt_error *err)
{
    const bool nvcc = worker->kernel->nvcc;
    enum shmtune_status status = SHMTUNE_OK;

    worker->arena = shmt_arena_new();
    if (worker->arena == NULL)
        return shmt_error_memory(err);
    if (nvcc)
        status = shmt_nvcc_open(shmt_program_run, worker->images,
                                worker->arena, &worker->nvcc, err);
    if (status == SHMTUNE_OK && shmt_kernel_has_host(worker->kernel))
        status = shmt_nvcc_ask_host(&worker->nvcc, worker->arena, err);
    if (status == SHMTUNE_OK && (!nvcc || measures))
        status = shmt_nvrtc_open(&worker->nvrtc, err);
    if (status != SHMTUNE_OK)
        return shmt_command_change_status(err, SHMTUNE_NOT_FOUND,
                                          SHMTUNE_NO_DEVICE);
    worker->compiler_version = nvcc ? worker->nvcc.version
                                    : worker->nvrtc->version;
    return SHMTUNE_OK;
}

static enum shmtune_status open_kernel(struct worker *worker,
                                       const char *spec,
                                       struct shmt_error *err)
{
    shmt_nvrtc_once_begin(&worker->once, worker->images);
    return shmt_kernel_read(spec, &worker->kernel, err);
}

/* With what its compiler keeps for it. */
static void close_kernel(struct worker *worker)
{
    if (worker->kernel == NULL)
        return;
    shmt_nvrtc_once_end(&worker->once);
    shmt_kernel_free(worker->kernel);
    shmt_arena_free(worker->arena);
    worker->nvcc = (struct shmt_nvcc){0};
    worker->kernel = NULL;
    worker->arena = NULL;
}

static void close_worker(struct worker *worker)
{
    shmt_bench_group_close(worker->benches);
    close_kernel(worker);
    if (worker->replies != NULL)
        fclose(worker->replies);
}

/* -- from the first request to the last ----------------------------------- */

/* The line is of shmt_wire_write_serve. */
static enum shmtune_status serve_another(struct worker *worker,
                                         const char *line, size_t size,
                                         struct shmt_error *err)
{
    struct shmt_arena *const arena = shmt_arena_new();
    const char *spec = NULL, *arch = NULL;
    enum shmtune_status status =
        arena == NULL ? shmt_error_memory(err)
                      : shmt_wire_read_serve(arena, line, size, &spec, &arch,
                                             err);

    if (status == SHMTUNE_OK && worker->benches != NULL)
        status = shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT, "this worker "
                                "has a device, and measures one kernel; "
                                "start one for %s", spec);
    if (status == SHMTUNE_OK) {
        close_kernel(worker);
        status = open_kernel(worker, spec, err);
    }
    if (status == SHMTUNE_OK)
        status = open_compiler(worker, false, err);
    if (status == SHMTUNE_OK)
        status = check_arch(worker, arch, err);
    if (status == SHMTUNE_OK)
        status = say_hello(worker, err);
    shmt_arena_free(arena);
    return status;
}

/* A line without its newline; *size is SIZE_MAX for one that is too long.
 * False at the end of the input. */
static bool next_line(char *line, size_t *size)
{
    size_t used = 0;
    bool any = false;
    int c;

    while ((c = getchar()) != EOF) {
        any = true;
        if (c == '\n')
            break;
        if (used < SHMT_WIRE_LONGEST)
            line[used] = (char)c;
        used++;
    }
    line[used < SHMT_WIRE_LONGEST ? used : SHMT_WIRE_LONGEST] = '\0';
    *size = used <= SHMT_WIRE_LONGEST ? used : SIZE_MAX;
    return any;
}

static enum shmtune_status serve(struct worker *worker,
                                 struct shmt_error *err)
{
    char *line = malloc(SHMT_WIRE_LONGEST + 1);
    enum shmtune_status status = SHMTUNE_OK;
    size_t size;

    if (line == NULL)
        return shmt_error_memory(err);
    while (status == SHMTUNE_OK && next_line(line, &size)) {
        if (size <= SHMT_WIRE_LONGEST && shmt_wire_is_serve(line))
            status = serve_another(worker, line, size, err);
        else if (size > SHMT_WIRE_LONGEST || strspn(line, " \t\r") < size)
            status = answer(worker, line, size, err);
        if (worker->benches != NULL && shmt_bench_group_lost(worker->benches))
            break;
    }
    if (status == SHMTUNE_OK && ferror(stdin))
        status = shmt_error_system(err, "standard input", "cannot be read");
    free(line);
    return status;
}

/* Says a hello for each GPU. */
static enum shmtune_status list_devices(const char *device,
                                        struct shmt_error *err)
{
    const char *const word = see_device(device, false);
    struct worker worker = {0};
    const struct shmt_driver *driver;
    int first = 0, count = 0;
    enum shmtune_status status = shmt_driver_open(&driver, err);

    if (status == SHMTUNE_OK)
        status = take_output(&worker, err);
    if (status == SHMTUNE_OK && device != NULL) {
        status = shmt_driver_find_device(driver, word, &first, err);
        count = first + 1;
    } else if (status == SHMTUNE_OK) {
        status = shmt_driver_device_count(driver, &count, err);
    }
    for (int k = first; status == SHMTUNE_OK && k < count; k++) {
        struct shmt_wire_reply hello = {.kind = SHMT_WIRE_HELLO};
        hello.has_device = shmt_driver_describe_device(
                               driver, k, &hello.device, NULL) == SHMTUNE_OK;
        name_device(device, &hello.device);
        status = send(&worker, &hello, err);
    }
    close_worker(&worker);
    return status;
}

/* What a relay wants to know of the device, which is not measured on. */
static enum shmtune_status describe(struct worker *worker, const char *device,
                                    struct shmt_error *err)
{
    struct shmt_wire_reply hello = {.kind = SHMT_WIRE_HELLO,
                                    .has_device = true};
    const struct shmt_driver *driver = NULL;
    int ordinal = 0;
    enum shmtune_status status = shmt_driver_open(&driver, err);

    if (status == SHMTUNE_OK)
        status = shmt_driver_find_device(driver, device, &ordinal, err);
    if (status == SHMTUNE_OK)
        status = shmt_driver_describe_device(driver, ordinal, &hello.device,
                                             err);
    return status == SHMTUNE_OK ? send(worker, &hello, err) : status;
}

/* The command line. */
struct given {
    const char *spec, *arch, *device, *requests, *compiler;
    bool far, describe, devices, alone;
    struct shmt_command_courier courier;   /* far.on NULL: none */
    struct shmt_bench_options bench;
};

static enum shmtune_status parse(const struct shmt_command_call *call,
                                 struct given *given, struct worker *worker,
                                 struct shmt_error *err)
{
    struct shmt_command_courier *const courier = &given->courier;
    int64_t data_seed = SHMT_COMMAND_SEED;
    const struct shmt_command_option options[] = {
        {"devices", 0, SHMT_OPTION_FLAG, &given->devices, 0, 0},
        {"spec", 0, SHMT_OPTION_PATH, &given->spec, 0, 0},
        {"arch", 0, SHMT_OPTION_TEXT, &given->arch, 0, 0},
        {"images", 0, SHMT_OPTION_TEXT, &worker->images, 0, 0},
        {"device", 0, SHMT_OPTION_TEXT, &given->device, 0, 0},
        {"alone", 0, SHMT_OPTION_FLAG, &given->alone, 0, 0},
        {"data-seed", 0, SHMT_OPTION_INT, &data_seed, 0, INT64_MAX},
        {"data-digest", 0, SHMT_OPTION_TEXT, &given->bench.data_digest, 0, 0},
        {"warm", 0, SHMT_OPTION_FLAG, &given->bench.warm, 0, 0},
        {"requests", 0, SHMT_OPTION_TEXT, &given->requests, 0, 0},
        {"compiler", 0, SHMT_OPTION_TEXT, &given->compiler, 0, 0},
        {"for-library", 0, SHMT_OPTION_FLAG, &worker->for_library, 0, 0},
        {"far", 0, SHMT_OPTION_FLAG, &given->far, 0, 0},
        {"describe", 0, SHMT_OPTION_FLAG, &given->describe, 0, 0},
        SHMT_COMMAND_FAR(courier->far),
        {NULL, 0, SHMT_OPTION_FLAG, NULL, 0, 0},
    };
    int rest = 0;
    enum shmtune_status status =
        shmt_command_options(call, options, &rest, err);

    given->bench.seed = courier->data_seed = (uint64_t)data_seed;
    courier->data_digest = given->bench.data_digest;
    courier->device = given->device;
    courier->images = worker->images;
    if (status == SHMTUNE_OK)
        status = shmt_command_far_check(&courier->far, err);
    if (status != SHMTUNE_OK)
        return status;
    if (given->devices && rest == 0)
        return SHMTUNE_OK;
    if (rest > 0 || (given->far || given->describe
                         ? given->device == NULL
                         : given->spec == NULL || worker->images == NULL ||
                               (given->arch == NULL && given->device == NULL)))
        return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                              "worker needs --spec, --images, and --arch or "
                              "--device; see shmtune worker --help");
    if (given->device != NULL && !shmt_command_is_gpu(given->device))
        return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                              "--device is \"%.64s\"; expected the number of "
                              "a GPU or its UUID (GPU-...)", given->device);
    return SHMTUNE_OK;
}

/* There are as many of them as processors, beside those that measure, and the
 * tuner, for which they all wait: with half of this it had half a processor,
 * of 64, and wanted a whole one. */
static void come_second(void)
{
    enum { STEP = 10 };

    (void)setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) + STEP);
}

/* Compiles, or measures, itself. */
static enum shmtune_status work(struct worker *worker,
                                const struct given *given,
                                struct shmt_error *err)
{
    enum shmtune_status status =
        given->compiler != NULL
            ? use_no_compiler(worker, given->compiler, err)
            : open_compiler(worker, given->device != NULL, err);

    if (given->device == NULL)
        come_second();
    if (status == SHMTUNE_OK)
        status = given->device == NULL
                     ? check_arch(worker, given->arch, err)
                     : open_device(worker, given->device, given->alone,
                                   given->bench, err);
    if (status == SHMTUNE_OK)
        status = say_hello(worker, err);
    return status == SHMTUNE_OK ? serve(worker, err) : status;
}

static enum shmtune_status run(const struct shmt_command_call *call,
                               struct shmt_error *err)
{
    struct worker worker = {0};
    struct given given = {.courier.far = SHMT_COMMAND_FAR_USUAL};
    enum shmtune_status status = parse(call, &given, &worker, err);

    if (status != SHMTUNE_OK)
        return status;
    if (given.far)
        return shmt_command_relay(given.device, err);
    if (given.devices)
        return list_devices(given.device, err);
    status = take_requests(given.requests, err);
    if (status == SHMTUNE_OK)
        status = take_output(&worker, err);
    if (status == SHMTUNE_OK && given.describe) {
        status = describe(&worker, given.device, err);
        close_worker(&worker);
        return status;
    }
    if (status == SHMTUNE_OK)
        status = open_kernel(&worker, given.spec, err);
    if (status == SHMTUNE_OK)
        status = shmt_path_make_folder(worker.images, 0700, err);
    given.courier.kernel = worker.kernel;
    given.courier.out = worker.replies;
    if (status == SHMTUNE_OK)
        status = given.courier.far.on != NULL
                     ? shmt_command_courier(&given.courier, err)
                     : work(&worker, &given, err);
    close_worker(&worker);
    return status;
}

const struct shmt_command shmt_command_worker = {
    .name = "worker", .summary = NULL, .help = help, .run = run,
};
