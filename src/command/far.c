/* SPDX-License-Identifier: MIT */
/*
 * far: see far.h.  The courier's half compiles, for the device there, what a
 * measurement needs (bench/supply.h), and says which files those are.
 */
#include "config.h"

#include "command/far.h"

#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "gpu/gpu.h"
#include "target/target.h"

enum shmtune_status shmt_command_far_check(const struct shmt_command_far *far,
                                           struct shmt_error *err)
{
    const struct shmt_command_far usual = SHMT_COMMAND_FAR_USUAL;

    if (far->on != NULL && far->on[strspn(far->on, " \t\n")] == '\0')
        return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                              "--on is empty; expected a command that starts "
                              "programs elsewhere, such as 'ssh host' or "
                              "'srun -n1 --gpus=1'");
    if (far->on == NULL && far->workers > 1)
        return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                              "--workers is for --on; the GPUs of this "
                              "machine are named by --device");
    if (far->on == NULL && (strcmp(far->program, usual.program) != 0 ||
                            far->timeout_s != usual.timeout_s))
        return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                              "--far-program and --far-timeout are for --on, "
                              "which measures on another machine");
    if (!shmt_courier_word_valid(far->program))
        return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                              "--far-program is \"%.80s\"; expected letters, "
                              "digits and _-./:=@%%+, alone, as a launcher may "
                              "pass it through another shell", far->program);
    return SHMTUNE_OK;
}

enum shmtune_status shmt_command_relay(const char *device,
                                       struct shmt_error *err)
{
    const struct shmt_relay_options options = {
        .program = getenv("SHMTUNE_WORKER"),   /* for tests */
        .device = device, .version = PACKAGE_VERSION,
        .stop = &shmt_command_stopped,
    };

    shmt_command_catch_signals();
    return shmt_relay_run(&options, err);
}

/* -- the courier ---------------------------------------------------------- */

struct load {
    const struct shmt_command_courier *given;
    struct shmt_arena *arena;
    const struct shmt_nvrtc *nvrtc;
    struct shmt_nvcc nvcc;
    struct shmt_nvrtc_once once;
    struct shmtune_device device;
    struct shmt_supply supply;
    char compiler[SHMT_SUPPLY_TEXT];
    struct shmt_courier *courier;
    const char *here, *there;      /* the folder of the spec */
    bool prepared;                 /* for `problem` */
    int64_t problem[SHMT_KERNEL_DIMENSIONS];
    double answer_s;               /* for the request at hand */
};

/* -- names of files ------------------------------------------------------- */

/* Removes "." and "..", and slashes that are too many, of an absolute path. */
static void add_plain(struct shmt_text *text, const char *path)
{
    const size_t root = text->length;

    while (*path != '\0') {
        const size_t length = strcspn(path, "/");

        if (length == 2 && memcmp(path, "..", 2) == 0) {
            while (text->length > root && text->data[--text->length] != '/')
                ;
            text->data[text->length] = '\0';
        } else if (length > 0 && !(length == 1 && *path == '.')) {
            if (text->length > root)
                shmt_text_add(text, "/");
            shmt_text_add_bytes(text, path, length);
        }
        path += length + (path[length] == '/');
    }
}

/* The name of a file of the spec's: its absolute path, in the tree, so that
 * all lead to each other there as they do here. */
static enum shmtune_status send_path(struct load *load, const char *path,
                                     struct shmt_error *err)
{
    const struct shmt_kernel *kernel = load->given->kernel;
    const char *folder = shmt_path_folder(load->arena, kernel->path);
    const char *whole = shmt_path_absolute(load->arena, path);
    struct shmt_text name = {0};
    enum shmtune_status status;

    if (folder == NULL || whole == NULL)
        return shmt_error_memory(err);
    /* What the spec names by a relative path begins with the spec's folder. */
    if (strcmp(path, kernel->path) != 0 && path[0] == '/' &&
        (strncmp(path, folder, strlen(folder)) != 0 ||
         path[strlen(folder)] != '/'))
        return shmt_error_set(err, SHMTUNE_INVALID_FILE,
                              "%s names %s by an absolute path, which leads "
                              "elsewhere on another machine; name it relative "
                              "to the spec", kernel->path, path);
    shmt_text_add(&name, SHMT_FAR_TREE);
    add_plain(&name, whole);
    status = name.failed ? shmt_error_memory(err)
                         : shmt_courier_send(load->courier, path, name.data,
                                             err);
    shmt_text_free(&name);
    return status;
}

static enum shmtune_status send_all(struct load *load, size_t count,
                                    const struct shmt_kernel_header *files,
                                    struct shmt_error *err)
{
    enum shmtune_status status = SHMTUNE_OK;

    for (size_t k = 0; status == SHMTUNE_OK && k < count; k++)
        status = send_path(load, files[k].path, err);
    return status;
}

/* Spec, sources and headers: of those the digest is made. */
static enum shmtune_status send_kernel(struct load *load,
                                       struct shmt_error *err)
{
    const struct shmt_kernel *kernel = load->given->kernel;
    enum shmtune_status status = send_path(load, kernel->path, err);

    if (status == SHMTUNE_OK)
        status = send_all(load, kernel->code.file_count, kernel->code.files,
                          err);
    if (status == SHMTUNE_OK)
        status = send_all(load, kernel->reference_code.file_count,
                          kernel->reference_code.files, err);
    return status == SHMTUNE_OK
               ? send_all(load, kernel->header_count, kernel->headers, err)
               : status;
}

/* The files of one problem's inputs, and of what is expected. */
static enum shmtune_status send_data(struct load *load, const int64_t *problem,
                                     struct shmt_error *err)
{
    const struct shmt_kernel *kernel = load->given->kernel;
    struct shmt_kernel_evaluated evaluated;
    struct shmt_fill_values values;
    enum shmtune_status status = SHMTUNE_OK;

    shmt_kernel_evaluate_part(kernel, SHMT_KERNEL_REFERENCE, problem,
                              &evaluated);
    for (size_t k = 0; status == SHMTUNE_OK && k < kernel->argument_count;
         k++) {
        const struct shmt_argument *argument = &kernel->arguments[k];

        if (argument->file.path != NULL) {
            status = shmt_kernel_argument_fill(&evaluated, k, &values, err);
            if (status == SHMTUNE_OK)
                status = send_path(load, values.file, err);
        }
        if (status == SHMTUNE_OK && argument->expect.path != NULL) {
            status = shmt_kernel_argument_expect(&evaluated, k, &values, err);
            if (status == SHMTUNE_OK)
                status = send_path(load, values.file, err);
        }
    }
    return status;
}

/* A binary, or an answer. */
static enum shmtune_status take(void *context, const char *path,
                                const char *name, struct shmt_error *err)
{
    struct load *load = context;
    struct shmt_text there = {0};
    enum shmtune_status status;

    shmt_text_addf(&there, SHMT_FAR_IMAGES "%s", name);
    status = there.failed ? shmt_error_memory(err)
                          : shmt_courier_send(load->courier, path, there.data,
                                              err);
    shmt_text_free(&there);
    return status;
}

/* The folder of the spec goes by another name there. */
static void rename_folder(void *context, char *text, size_t room)
{
    const struct load *load = context;
    const size_t length = strlen(load->there);
    struct shmt_text out = {0};
    const char *at = text, *found;

    if (length == 0 || strstr(text, load->there) == NULL)
        return;
    while ((found = strstr(at, load->there)) != NULL) {
        shmt_text_add_bytes(&out, at, (size_t)(found - at));
        shmt_text_add(&out, load->here);
        at = found + length;
    }
    shmt_text_add(&out, at);
    if (!out.failed)
        snprintf(text, room, "%.*s", (int)room - 1, out.data);
    shmt_text_free(&out);
}

/* "home/u/", for what is "./" here. */
static enum shmtune_status name_folders(struct load *load,
                                        struct shmt_error *err)
{
    const char *path = load->given->kernel->path;
    const char *slash = strrchr(path, '/');
    const char *whole = shmt_path_absolute(load->arena, path);
    struct shmt_text there = {0};

    load->here = shmt_arena_copy(load->arena, path,
                                 slash == NULL ? 0
                                               : (size_t)(slash - path) + 1);
    if (whole != NULL)
        add_plain(&there, whole);
    slash = strrchr(shmt_text_string(&there), '/');
    load->there = whole == NULL || there.failed
                      ? NULL
                      : shmt_arena_copy(load->arena, shmt_text_string(&there),
                                        slash == NULL
                                            ? 0
                                            : (size_t)(slash - there.data) + 1);
    shmt_text_free(&there);
    return load->here == NULL || load->there == NULL ? shmt_error_memory(err)
                                                     : SHMTUNE_OK;
}

/* -- what target/courier.c calls ------------------------------------------ */

static enum shmtune_status open_compilers(struct load *load,
                                          struct shmt_error *err)
{
    const struct shmt_kernel *kernel = load->given->kernel;
    struct shmt_supply_origin origin = {
        .toolkit_version = kernel->toolkit_version};
    enum shmtune_status status = shmt_nvrtc_open(&load->nvrtc, err);

    if (status == SHMTUNE_OK && kernel->nvcc)
        status = shmt_nvcc_open(shmt_program_run, load->given->images,
                                load->arena, &load->nvcc, err);
    if (status == SHMTUNE_OK && shmt_kernel_has_host(kernel))
        status = shmt_nvcc_ask_host(&load->nvcc, load->arena, err);
    if (status != SHMTUNE_OK)
        return status;
    origin.nvrtc_version = load->nvrtc->version;
    origin.nvcc_version = load->nvcc.version;
    if (load->nvcc.host != NULL)
        snprintf(origin.host, sizeof origin.host, "%s", load->nvcc.host);
    shmt_supply_write_origin(&origin, load->compiler);
    return SHMTUNE_OK;
}

static enum shmtune_status arrive(void *context, struct shmt_courier *courier,
                                  const struct shmtune_device *device,
                                  struct shmt_far_order *open,
                                  struct shmt_error *err)
{
    struct load *load = context;
    const struct shmt_command_courier *given = load->given;
    const char *whole = shmt_path_absolute(load->arena, given->kernel->path);
    const char *cache = shmt_path_cache_binaries(load->arena);
    struct shmt_text name = {0};
    enum shmtune_status status = open_compilers(load, err);

    load->courier = courier;
    load->device = *device;
    load->supply = (struct shmt_supply){
        .kernel = given->kernel, .device = &load->device,
        .nvrtc = load->nvrtc, .nvcc = &load->nvcc, .once = &load->once,
        .images = given->images,
        .cache = cache != NULL && cache[0] == '/' ? cache : NULL,
        .run = shmt_program_run_in, .seed = given->data_seed,
        .take = take, .context = load,
    };
    if (status == SHMTUNE_OK)
        status = send_kernel(load, err);
    if (status == SHMTUNE_OK)
        status = shmt_supply_probe(&load->supply, err);
    if (status != SHMTUNE_OK)
        return status;
    shmt_text_add(&name, SHMT_FAR_TREE);
    if (whole != NULL)
        add_plain(&name, whole);
    open->name = shmt_text_keep(&name, load->arena);
    open->data_seed = given->data_seed;
    open->data_digest = given->data_digest == NULL ? "" : given->data_digest;
    open->compiler = load->compiler;
    return open->name == NULL || whole == NULL ? shmt_error_memory(err)
                                               : SHMTUNE_OK;
}

static enum shmtune_status send_answer(struct load *load,
                                       const int64_t *problem,
                                       struct shmt_error *err)
{
    const double begun_s = shmt_clock_s();
    const enum shmtune_status status =
        shmt_supply_answer(&load->supply, problem, err);

    if (load->given->kernel->answer.word_count > 0)
        load->answer_s = shmt_clock_s() - begun_s;
    return status;
}

static enum shmtune_status supply(struct load *load,
                                  const struct shmt_wire_request *request,
                                  struct shmt_error *err)
{
    const size_t size =
        load->given->kernel->dimension_count * sizeof *request->problem;
    enum shmtune_status status = SHMTUNE_OK;

    if (!load->prepared ||
        memcmp(load->problem, request->problem, size) != 0) {
        load->prepared = false;
        status = send_data(load, request->problem, err);
        if (status == SHMTUNE_OK)
            status = shmt_supply_problem(&load->supply, request->problem,
                                         err);
        if (status == SHMTUNE_OK)
            status = send_answer(load, request->problem, err);
        if (status != SHMTUNE_OK)
            return status;
        memcpy(load->problem, request->problem, size);
        load->prepared = true;
    }
    return shmt_supply_candidate(&load->supply, request->problem,
                                 request->config, err);
}

static enum shmtune_status prepare(void *context, struct shmt_courier *courier,
                                   const char *request, size_t size,
                                   uint64_t *tag, bool *answered,
                                   struct shmt_wire_reply *reply,
                                   struct shmt_error *err)
{
    struct load *load = context;
    struct shmt_wire_request read = {0};
    enum shmtune_status status = shmt_wire_read_request(
        load->given->kernel, request, size, &read, &reply->error);

    (void)courier;
    *tag = reply->tag = read.tag;
    load->answer_s = 0;
    if (status == SHMTUNE_OK)
        status = supply(load, &read, &reply->error);
    *answered = status != SHMTUNE_OK;
    reply->kind = SHMT_WIRE_ERROR;
    if (status == SHMTUNE_COMPILE || status == SHMTUNE_INVALID_FILE) {
        reply->kind = SHMT_WIRE_RESULT;
        shmt_result_clear(&reply->result);
        shmt_result_set_verdict(&reply->result,
                                status == SHMTUNE_COMPILE
                                    ? SHMT_VERDICT_COMPILE_ERROR
                                    : SHMT_VERDICT_SPEC_MISMATCH, "%s",
                                reply->error.text);
    }
    reply->result.answer_ms = (int)(load->answer_s * 1e3);
    return status == SHMTUNE_NO_MEMORY ? shmt_error_memory(err) : SHMTUNE_OK;
}

enum shmtune_status
shmt_command_courier(const struct shmt_command_courier *courier,
                     struct shmt_error *err)
{
    struct load load = {.given = courier};
    const struct shmt_courier_options options = {
        .command = courier->far.on, .program = courier->far.program,
        .device = courier->device, .version = PACKAGE_VERSION,
        .silence_s = (double)courier->far.timeout_s, .out = courier->out,
        .stop = &shmt_command_stopped,
        .arrive = arrive, .rename = rename_folder, .prepare = prepare,
        .context = &load,
    };
    enum shmtune_status status;

    shmt_command_catch_signals();
    load.arena = shmt_arena_new();
    if (load.arena == NULL)
        return shmt_error_memory(err);
    shmt_nvrtc_once_begin(&load.once, courier->images);
    status = name_folders(&load, err);
    if (status == SHMTUNE_OK)
        status = shmt_courier_run(&options, err);
    shmt_nvrtc_once_end(&load.once);
    shmt_arena_free(load.arena);
    return status;
}
