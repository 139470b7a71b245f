/* SPDX-License-Identifier: MIT */
/*
 * worker: the far side of the tuner's pipe: compiles candidates, and on a
 * device measures them.  One request a line on standard input, one reply a
 * line on standard output, in their order; it ends with its input, or after
 * the reply to a candidate that broke the device's context.  Deadlines are
 * the caller's business.  Not in the list of commands, but it can be driven
 * by hand.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "bench/bench.h"
#include "command/command.h"
#include "device/device.h"
#include "gpu/gpu.h"
#include "yaml/yaml.h"

static const char help[] =
    "usage: shmtune worker --spec FILE --images DIR\n"
    "                      (--arch sm_XX | --device N|UUID)\n"
    "                      [--seed N] [--warm] [--requests FILE]\n"
    "\n"
    "Compiles and measures candidates of one kernel for the tuner, which\n"
    "starts it. Says hello, then answers each line of its input:\n"
    "\n"
    "  {verb: inspect, tag: 1, size: {rows: 64}, config: {TILE: 32}}\n"
    "  {verb: measure, tag: 2, size: {rows: 64}, config: {TILE: 32},\n"
    "   samples: 7, hopeless_us: 50, verify: true}\n"
    "  {verb: profile, tag: 3, size: {rows: 64}, config: {TILE: 32}}\n"
    "\n"
    "  --spec FILE      the kernel\n"
    "  --images DIR     folder of binaries, made when it is absent\n"
    "  --arch sm_XX     compile for it; no device is opened\n"
    "  --device N|UUID  measure on it\n"
    "  --seed N         of the random inputs\n"
    "  --warm           leave the L2 cache warm between samples\n"
    "  --requests FILE  read them there, not on standard input\n"
    "\n"
    "profile verifies a candidate and launches it once between\n"
    "cuProfilerStart and cuProfilerStop: start the worker through\n"
    "ncu --profile-from-start off (shmtune explain does).\n"
    "\n"
    "examples:\n"
    "  printf '%s\\n' '{verb: inspect, tag: 1, config: {TILE: 32}}' |\n"
    "      shmtune worker --spec my.yaml --arch sm_90 --images /tmp/images\n";

enum { LONGEST = 64 << 10, SAMPLES = 7 };

static const char *const request_keys[] = {
    "verb", "tag", "size", "config", "image", "samples", "hopeless_us",
    "verify", NULL};

struct worker {
    struct shmt_kernel *kernel;
    const struct shmt_nvrtc *nvrtc;
    struct shmt_bench *bench;      /* NULL without a device */
    const char *images;
    char arch[16];
    FILE *replies;
};

struct request {
    bool measure;                  /* or profile */
    bool profile;
    uint64_t tag;
    int64_t problem[SHMT_KERNEL_DIMENSIONS];
    shmt_choice choice[SHMT_SPACE_PARAMETERS];
    char image[SHMT_DIGEST_TEXT];
    int64_t samples;
    double hopeless_us;
    bool verify;
};

/* -- requests ------------------------------------------------------------- */

static enum shmtune_status read_verb(const struct shmt_yaml *top,
                                     struct request *out,
                                     struct shmt_error *err)
{
    const struct shmt_yaml *verb;
    const char *word = NULL;
    enum shmtune_status status = shmt_yaml_need(top, "verb", &verb, err);

    if (status == SHMTUNE_OK)
        status = shmt_yaml_word(verb, &word, err);
    if (status != SHMTUNE_OK)
        return status;
    out->profile = strcmp(word, "profile") == 0;
    out->measure = out->profile || strcmp(word, "measure") == 0;
    if (!out->measure && strcmp(word, "inspect") != 0)
        return shmt_yaml_refuse(verb, err, "found verb \"%s\", expected "
                                "inspect, measure or profile", word);
    return SHMTUNE_OK;
}

/* What a measure may say beside size and configuration. */
static enum shmtune_status read_wishes(const struct shmt_yaml *top,
                                       struct request *out,
                                       struct shmt_error *err)
{
    const struct shmt_yaml *image = shmt_yaml_get(top, "image");
    const struct shmt_yaml *samples = shmt_yaml_get(top, "samples");
    const struct shmt_yaml *hopeless = shmt_yaml_get(top, "hopeless_us");
    const struct shmt_yaml *verify = shmt_yaml_get(top, "verify");
    enum shmtune_status status = SHMTUNE_OK;

    if (image != NULL) {
        status = shmt_yaml_expect(image, SHMT_YAML_SCALAR, "image", err);
        if (status == SHMTUNE_OK)
            snprintf(out->image, sizeof out->image, "%s", image->text);
    }
    if (status == SHMTUNE_OK && samples != NULL)
        status = shmt_yaml_int(samples, 1, SHMT_RESULT_SAMPLES,
                               &out->samples, err);
    if (status == SHMTUNE_OK && hopeless != NULL)
        status = shmt_yaml_real(hopeless, &out->hopeless_us, err);
    if (status == SHMTUNE_OK && verify != NULL)
        status = shmt_yaml_bool(verify, &out->verify, err);
    return status;
}

static enum shmtune_status read_request(const struct worker *worker,
                                        const struct shmt_yaml *top,
                                        struct request *out,
                                        struct shmt_error *err)
{
    const struct shmt_yaml *tag, *config, *size;
    enum shmtune_status status =
        shmt_yaml_expect(top, SHMT_YAML_MAPPING, "a request", err);

    if (status == SHMTUNE_OK)
        status = shmt_yaml_need(top, "tag", &tag, err);
    if (status == SHMTUNE_OK)
        status = shmt_yaml_count(tag, &out->tag, err);
    if (status == SHMTUNE_OK)
        status = shmt_yaml_keys(top, request_keys, err);
    if (status == SHMTUNE_OK)
        status = read_verb(top, out, err);
    if (status != SHMTUNE_OK)
        return status;
    for (size_t i = 0; i < worker->kernel->dimension_count; i++)
        out->problem[i] = worker->kernel->dimensions[i].fallback;
    size = shmt_yaml_get(top, "size");
    if (size != NULL)
        status = shmt_kernel_size_read(worker->kernel, size, out->problem,
                                       err);
    if (status == SHMTUNE_OK)
        status = shmt_yaml_need(top, "config", &config, err);
    if (status == SHMTUNE_OK)
        status = shmt_kernel_choice_read(worker->kernel, config, out->choice,
                                         err);
    if (status == SHMTUNE_OK)
        status = read_wishes(top, out, err);
    return status;
}

/* -- replies -------------------------------------------------------------- */

static void write_hello(const struct worker *worker, struct shmt_text *text)
{
    shmt_text_addf(text, "{hello: 1, nvrtc: %d, arch: %s, digest: \"%s\"",
                   worker->nvrtc->version, worker->arch,
                   worker->kernel->digest);
    if (worker->bench != NULL) {
        shmt_text_addf(text, ", protocol: %s, device: ",
                       shmt_bench_protocol(worker->bench));
        shmt_device_write_flow(shmt_bench_device(worker->bench), text);
    }
    shmt_text_add(text, "}");
}

static void write_error(uint64_t tag, const struct shmt_error *why,
                        struct shmt_text *text)
{
    shmt_text_addf(text, "{tag: %llu, error: ",
                   (unsigned long long)tag);
    shmt_yaml_add_string(text, why->text);
    shmt_text_addf(text, ", status: %d}", (int)why->status);
}

static void write_result(uint64_t tag, const struct shmt_result *result,
                         const struct shmt_bench_note *note,
                         struct shmt_text *text)
{
    shmt_text_addf(text, "{tag: %llu, ", (unsigned long long)tag);
    shmt_result_write(result, text);
    if (note->text[0] != '\0') {
        shmt_text_addf(text, ", computed_blocks: %d, note: ",
                       note->computed_blocks);
        shmt_yaml_add_string(text, note->text);
    }
    shmt_text_add(text, "}");
}

static enum shmtune_status send(const struct worker *worker,
                                struct shmt_text *text,
                                struct shmt_error *err)
{
    shmt_text_add(text, "\n");
    if (text->failed)
        return shmt_error_memory(err);
    if (fwrite(text->data, 1, text->length, worker->replies) !=
            text->length || fflush(worker->replies) != 0)
        return shmt_error_set(err, SHMTUNE_STORAGE, "the reply: %s",
                              strerror(errno));
    return SHMTUNE_OK;
}

/* -- work ----------------------------------------------------------------- */

static enum shmtune_status do_inspect(const struct worker *worker,
                                      const struct request *request,
                                      struct shmt_result *out,
                                      struct shmt_error *err)
{
    struct shmt_value values[SHMT_KERNEL_DIMENSIONS + SHMT_SPACE_PARAMETERS];
    const struct shmt_image_request wanted = {
        .kernel = worker->kernel, .values = values, .arch = worker->arch,
        .nvrtc_version = worker->nvrtc->version,
    };

    shmt_kernel_values(worker->kernel, request->problem, request->choice,
                       values);
    return shmt_inspect(&wanted, worker->nvrtc, worker->images, out, err);
}

static enum shmtune_status do_measure(const struct worker *worker,
                                      const struct request *request,
                                      struct shmt_result *out,
                                      struct shmt_bench_note *note,
                                      struct shmt_error *err)
{
    const struct shmt_bench_request wanted = {
        .problem = request->problem, .choice = request->choice,
        .image = request->image, .samples = (int)request->samples,
        .hopeless_us = request->hopeless_us, .verify = request->verify,
        .profile = request->profile,
    };

    if (worker->bench == NULL)
        return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT, "this worker "
                              "has no device; start it with --device");
    return shmt_bench_measure(worker->bench, &wanted, out, note, err);
}

static enum shmtune_status answer(const struct worker *worker,
                                  const char *line, size_t size,
                                  struct shmt_error *err)
{
    struct request request = {.samples = SAMPLES, .verify = true,
                              .hopeless_us = (double)INFINITY};
    struct shmt_arena *arena = shmt_arena_new();
    const struct shmt_yaml *top;
    struct shmt_text text = {0};
    struct shmt_error why = {0};
    struct shmt_result result;
    struct shmt_bench_note note = {0};
    enum shmtune_status status = SHMTUNE_NO_MEMORY;

    if (arena != NULL)
        status = shmt_yaml_parse(arena, "request", line, size, &top, &why);
    else
        shmt_error_memory(&why);
    if (status == SHMTUNE_OK)
        status = read_request(worker, top, &request, &why);
    if (status == SHMTUNE_OK && request.measure)
        status = do_measure(worker, &request, &result, &note, &why);
    else if (status == SHMTUNE_OK)
        status = do_inspect(worker, &request, &result, &why);
    if (status == SHMTUNE_OK)
        write_result(request.tag, &result, &note, &text);
    else
        write_error(request.tag, &why, &text);
    status = send(worker, &text, err);
    shmt_text_free(&text);
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
        if (used < LONGEST)
            line[used] = (char)c;
        used++;
    }
    line[used < LONGEST ? used : LONGEST] = '\0';
    *size = used <= LONGEST ? used : SIZE_MAX;
    return any;
}

static enum shmtune_status serve(const struct worker *worker,
                                 struct shmt_error *err)
{
    char *line = malloc(LONGEST + 1);
    enum shmtune_status status = SHMTUNE_OK;
    size_t size;

    if (line == NULL)
        return shmt_error_memory(err);
    while (status == SHMTUNE_OK && next_line(line, &size)) {
        if (size == SIZE_MAX) {
            struct shmt_text text = {0};
            struct shmt_error why = {0};

            shmt_error_set(&why, SHMTUNE_INVALID_ARGUMENT, "a request of "
                           "more than %d bytes", (int)LONGEST);
            write_error(0, &why, &text);
            status = send(worker, &text, err);
            shmt_text_free(&text);
        } else if (strspn(line, " \t\r") < size) {
            status = answer(worker, line, size, err);
        }
        if (worker->bench != NULL && shmt_bench_lost(worker->bench))
            break;
    }
    free(line);
    return status;
}

/* -- start ---------------------------------------------------------------- */

/* What a kernel or a library prints must not come between the replies: they
 * go to what was standard output, which becomes standard error. */
static enum shmtune_status take_output(struct worker *worker,
                                       struct shmt_error *err)
{
    const int file = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);

    worker->replies = file >= 0 ? fdopen(file, "w") : NULL;
    if (worker->replies == NULL || dup2(STDERR_FILENO, STDOUT_FILENO) < 0) {
        if (worker->replies == NULL && file >= 0)
            close(file);
        return shmt_error_set(err, SHMTUNE_STORAGE, "standard output: %s",
                              strerror(errno));
    }
    return SHMTUNE_OK;
}

static enum shmtune_status open_device(struct worker *worker,
                                       const char *device, int64_t seed,
                                       bool warm, struct shmt_error *err)
{
    struct shmt_bench_options options = {
        .nvrtc = worker->nvrtc, .images = worker->images,
        .seed = (uint64_t)seed, .warm = warm};
    enum shmtune_status status = shmt_driver_open(&options.driver, err);

    if (status == SHMTUNE_OK)
        status = shmt_query_find(options.driver, device, &options.ordinal,
                                 err);
    if (status == SHMTUNE_OK)
        status = shmt_bench_open(worker->kernel, &options, &worker->bench,
                                 err);
    if (status == SHMTUNE_OK)
        shmt_device_arch_text(shmt_bench_device(worker->bench), worker->arch);
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
        snprintf(worker->arch, sizeof worker->arch, "%s", arch);
    return status;
}

static void close_worker(struct worker *worker)
{
    shmt_bench_close(worker->bench);
    shmt_kernel_free(worker->kernel);
    if (worker->replies != NULL)
        fclose(worker->replies);
}

static enum shmtune_status run(const struct shmt_command_call *call,
                               struct shmt_error *err)
{
    const char *spec = NULL, *arch = NULL, *images = NULL, *device = NULL;
    const char *requests = NULL;
    int64_t seed = 0;
    bool warm = false;
    const struct shmt_command_option options[] = {
        {"spec", 0, SHMT_OPTION_TEXT, &spec, 0, 0},
        {"arch", 0, SHMT_OPTION_TEXT, &arch, 0, 0},
        {"images", 0, SHMT_OPTION_TEXT, &images, 0, 0},
        {"device", 0, SHMT_OPTION_TEXT, &device, 0, 0},
        {"seed", 0, SHMT_OPTION_INT, &seed, 0, INT64_MAX},
        {"warm", 0, SHMT_OPTION_FLAG, &warm, 0, 0},
        {"requests", 0, SHMT_OPTION_TEXT, &requests, 0, 0},
        {NULL, 0, SHMT_OPTION_FLAG, NULL, 0, 0},
    };
    struct worker worker = {0};
    struct shmt_text hello = {0};
    int rest = 0;
    enum shmtune_status status =
        shmt_command_options(call, options, &rest, err);

    if (status != SHMTUNE_OK)
        return status;
    if (rest > 0 || spec == NULL || images == NULL ||
        (arch == NULL && device == NULL))
        return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                              "worker needs --spec, --images, and --arch or "
                              "--device; see shmtune worker --help");
    if (device != NULL && !shmt_command_is_gpu(device))
        return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                              "--device is \"%.64s\"; expected the number of "
                              "a GPU or its UUID (GPU-...)", device);
    worker.images = images;
    status = take_requests(requests, err);
    if (status == SHMTUNE_OK)
        status = take_output(&worker, err);
    if (status == SHMTUNE_OK)
        status = shmt_kernel_read(spec, &worker.kernel, err);
    if (status == SHMTUNE_OK)
        status = shmt_path_make(images, 0700, err);
    if (status == SHMTUNE_OK) {
        status = shmt_nvrtc_open(&worker.nvrtc, err);
        if (status != SHMTUNE_OK)
            status = shmt_command_blame(err, SHMTUNE_NOT_FOUND,
                                        SHMTUNE_NO_DEVICE);
    }
    if (status == SHMTUNE_OK)
        status = device != NULL ? open_device(&worker, device, seed, warm, err)
                                : check_arch(&worker, arch, err);
    if (status == SHMTUNE_OK) {
        write_hello(&worker, &hello);
        status = send(&worker, &hello, err);
    }
    if (status == SHMTUNE_OK)
        status = serve(&worker, err);
    shmt_text_free(&hello);
    close_worker(&worker);
    return status;
}

const struct shmt_command shmt_command_worker = {
    .name = "worker", .summary = NULL, .help = help, .run = run,
};
