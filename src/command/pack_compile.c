/* SPDX-License-Identifier: MIT */
/*
 * pack_compile: compiles what the library may choose at tuned sizes into a
 * folder cubins/, under the keys by which it looks there, by the compile
 * workers and without a GPU.  Called by pack.c.
 *
 * The workers' binaries lie in a scratch folder under keys with the compiler's
 * version; from there they are shipped under keys without it.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "command/compile.h"
#include "command/pack.h"
#include "device/device.h"
#include "gpu/gpu.h"
#include "target/target.h"

enum {
    TIES = 8,          /* that the library keeps of a size */
    ARCHS = 16
};

/* One kernel for one architecture, and one problem of it at a time. */
struct work {
    struct shmt_command_binaries *binaries;
    const struct shmt_kernel *kernel;
    struct shmtune_device device;     /* of the table */
    char arch[16], target[16];
    const char *images;               /* the workers' folder */
    struct shmt_target *compiler;     /* NULL: nothing to compile yet */
    struct shmt_text *manifest;
    /* The configurations of a problem that are to be compiled. */
    const struct shmtune_device *at;  /* whose limits */
    int64_t problem[SHMT_KERNEL_DIMENSIONS];
    shmt_config *configs;             /* [room][parameter_count] */
    const char **keys;                /* [count], of each */
    size_t count, room;
    bool winner;                      /* the first of them */
};

/* -- what is wanted ------------------------------------------------------- */

static bool is_made(const struct shmt_command_binaries *binaries,
                    const char *key)
{
    for (size_t k = 0; k < binaries->key_count; k++)
        if (strcmp(binaries->keys[k], key) == 0)
            return true;
    return false;
}

static enum shmtune_status make_key(const struct work *work,
                                    const shmt_config *config,
                                    struct shmt_kernel_evaluated *evaluated,
                                    char key[SHMT_DIGEST_TEXT],
                                    struct shmt_error *err)
{
    const struct shmt_image_request request = {.evaluated = evaluated,
                                               .arch = work->target};

    shmt_kernel_evaluate(work->kernel, work->problem, config, evaluated);
    return shmt_image_key(&request, key, err);
}

/* One more configuration, unless its binary is made or among them. */
static enum shmtune_status want(struct work *work, const shmt_config *config,
                                struct shmt_error *err)
{
    const size_t width = work->kernel->parameter_count;
    struct shmt_kernel_evaluated evaluated;
    char key[SHMT_DIGEST_TEXT];
    enum shmtune_status status =
        make_key(work, config, &evaluated, key, err);

    if (status != SHMTUNE_OK || is_made(work->binaries, key))
        return status;
    for (size_t k = 0; k < work->count; k++)
        if (strcmp(work->keys[k], key) == 0)
            return SHMTUNE_OK;
    if (work->count == work->room)
        return SHMTUNE_OK;
    work->keys[work->count] =
        shmt_arena_copy(work->binaries->arena, key, strlen(key));
    if (work->keys[work->count] == NULL)
        return shmt_error_memory(err);
    memcpy(work->configs + work->count++ * width, config,
           width * sizeof *config);
    return SHMTUNE_OK;
}

/* Room for a winner, its ties, a dispatch and the default. */
static enum shmtune_status make_room(struct work *work, size_t room,
                                     struct shmt_error *err)
{
    work->configs = shmt_arena_alloc(work->binaries->arena,
                                     room * work->kernel->parameter_count + 1,
                                     sizeof *work->configs);
    work->keys = shmt_arena_alloc(work->binaries->arena, room,
                                  sizeof *work->keys);
    work->room = room;
    work->count = 0;
    return work->configs == NULL || work->keys == NULL
               ? shmt_error_memory(err) : SHMTUNE_OK;
}

static enum shmtune_status want_default(struct work *work,
                                        struct shmt_error *err)
{
    shmt_config config[SHMT_SPACE_PARAMETERS];

    shmt_kernel_default(work->kernel, config);
    return want(work, config, err);
}

/* The winner first, if its binary is not made yet. */
static enum shmtune_status want_tuned(struct work *work,
                                      const struct shmt_tuning *tuning,
                                      const struct shmt_tuned *tuned,
                                      struct shmt_error *err)
{
    const struct shmt_kernel *const kernel = work->kernel;
    const struct shmt_dispatch *const dispatch = tuning->dispatch;
    const size_t width = kernel->parameter_count;
    shmt_config config[SHMT_SPACE_PARAMETERS];
    shmt_config *const ties = shmt_arena_alloc(
        work->binaries->arena, tuned->tie_count * width + 1, sizeof *ties);
    size_t count;
    enum shmtune_status status =
        ties == NULL ? shmt_error_memory(err)
                     : shmt_tuning_config(kernel, tuned->settings,
                                          tuned->setting_count, config, err);

    if (status == SHMTUNE_OK)
        status = want(work, config, err);
    if (status != SHMTUNE_OK)
        return status;
    work->winner = work->count > 0;
    count = shmt_tuning_ties(kernel, tuned, config, ties);
    for (size_t k = 0; status == SHMTUNE_OK && k < count && k < TIES; k++)
        status = want(work, ties + k * width, err);
    for (size_t k = 0; status == SHMTUNE_OK && dispatch != NULL &&
                       k < dispatch->config_count; k++) {
        status = shmt_tuning_config(kernel, dispatch->configs[k],
                                    dispatch->setting_count, config, err);
        if (status == SHMTUNE_OK)
            status = want(work, config, err);
    }
    return status;
}

/* -- making them ---------------------------------------------------------- */

static const shmt_config *config_at(const struct work *work, size_t k)
{
    return work->configs + k * work->kernel->parameter_count;
}

static enum shmtune_status keep(struct work *work, size_t k,
                                struct shmt_error *err)
{
    struct shmt_command_binaries *const to = work->binaries;
    struct shmt_text *const text = work->manifest;

    if (!shmt_array_reserve(&to->keys, &to->key_room, to->key_count + 1,
                            sizeof *to->keys))
        return shmt_error_memory(err);
    to->keys[to->key_count++] = work->keys[k];
    shmt_text_addf(text, "%s %s %s: ", work->keys[k], work->target,
                   work->kernel->name);
    shmt_kernel_describe_config(work->kernel, config_at(work, k), text);
    shmt_text_add(text, " at ");
    shmt_kernel_describe_problem(work->kernel, work->problem, text);
    shmt_text_add(text, "\n");
    return text->failed ? shmt_error_memory(err) : SHMTUNE_OK;
}

/* In the folder already; anything else is made again. */
static bool is_there(const struct work *work,
                     struct shmt_kernel_evaluated *evaluated)
{
    const struct shmt_image_request request = {.evaluated = evaluated,
                                               .arch = work->target};
    struct shmt_image *image = NULL;
    struct shmt_error why;
    const bool there = shmt_image_get(&request, NULL, work->binaries->folder,
                                      &image, &why) == SHMTUNE_OK;

    if (there)
        shmt_image_free(image);
    return there;
}

/* From the workers' folder.  How long it took to compile is left out: the same
 * binary makes the same bytes. */
static enum shmtune_status ship(struct work *work, size_t k,
                                struct shmt_kernel_evaluated *evaluated,
                                struct shmt_error *err)
{
    const struct shmt_image_request request = {
        .evaluated = evaluated, .arch = work->target,
        .nvrtc_version = work->compiler->nvrtc_version};
    struct shmt_image *image = NULL;
    enum shmtune_status status =
        shmt_image_get(&request, NULL, work->images, &image, err);

    if (status != SHMTUNE_OK)
        return status;
    memcpy(image->key, work->keys[k], sizeof image->key);
    image->compile_ms = 0;
    status = shmt_compiler_ship(image, work->binaries->folder, err);
    shmt_image_free(image);
    work->binaries->compiled += status == SHMTUNE_OK;
    return status;
}

/* A winner has to compile; a default or another may be none here. */
static enum shmtune_status take(struct work *work, size_t k,
                                const struct shmt_result *result,
                                struct shmt_error *err)
{
    struct shmt_kernel_evaluated evaluated;
    enum shmtune_status status;

    shmt_kernel_evaluate(work->kernel, work->problem, config_at(work, k),
                         &evaluated);
    if (result->verdict != SHMT_VERDICT_OK)
        return k > 0 || !work->winner
                   ? SHMTUNE_OK
                   : shmt_error_set(err, SHMTUNE_COMPILE,
                                    "kernel %s for %s: a winner cannot be "
                                    "shipped: %s: %s; tune again, or take its "
                                    "tuning away", work->kernel->name,
                                    work->target,
                                    shmt_verdict_word(result->verdict),
                                    result->reason);
    status = ship(work, k, &evaluated, err);
    return status == SHMTUNE_OK ? keep(work, k, err) : status;
}

/* Drops those whose binary is in the folder already. */
static enum shmtune_status drop_made(struct work *work, struct shmt_error *err)
{
    const size_t width = work->kernel->parameter_count;
    enum shmtune_status status = SHMTUNE_OK;
    size_t left = 0;

    for (size_t k = 0; status == SHMTUNE_OK && k < work->count; k++) {
        const shmt_config *const config = config_at(work, k);
        struct shmt_kernel_evaluated evaluated;

        shmt_kernel_evaluate(work->kernel, work->problem, config, &evaluated);
        if (is_there(work, &evaluated)) {
            status = keep(work, k, err);
            work->winner = work->winner && k > 0;
            continue;
        }
        work->keys[left] = work->keys[k];
        memmove(work->configs + left++ * width, config,
                width * sizeof *config);
    }
    work->count = left;
    return status;
}

static enum shmtune_status make(struct work *work, struct shmt_error *err)
{
    struct shmt_compiler_batch batch = {
        .device = work->at, .problem = work->problem,
        .configs = work->configs,
        .progress = !work->binaries->call->quiet && isatty(STDERR_FILENO)};
    enum shmtune_status status = drop_made(work, err);

    if (status != SHMTUNE_OK || work->count == 0)
        return status;
    if (work->compiler == NULL)
        status = shmt_compiler_open_in(work->kernel, work->arch,
                                       work->binaries->jobs, work->images,
                                       &work->compiler, err);
    batch.count = work->count;
    batch.results = status != SHMTUNE_OK
                        ? NULL
                        : shmt_arena_alloc(work->binaries->arena, work->count,
                                           sizeof *batch.results);
    if (status == SHMTUNE_OK)
        status = batch.results == NULL
                     ? shmt_error_memory(err)
                     : shmt_compiler_run(work->compiler, &batch, err);
    for (size_t k = 0; status == SHMTUNE_OK && k < work->count; k++)
        status = take(work, k, &batch.results[k], err);
    return status;
}

/* -- a kernel ------------------------------------------------------------- */

/* A size of a tuning: of this architecture what was measured, and the
 * default in any case. */
static enum shmtune_status make_tuned(struct work *work,
                                      const struct shmt_tuning *tuning,
                                      const struct shmt_tuned *tuned,
                                      struct shmt_error *err)
{
    const size_t dispatched =
        tuning->dispatch == NULL ? 0 : tuning->dispatch->config_count;
    char arch[16];
    bool same;
    enum shmtune_status status =
        shmt_tuning_problem(work->kernel, tuned, work->problem, err);

    shmt_device_arch_text(&tuning->device, arch);
    same = strcmp(arch, work->arch) == 0;
    work->at = same ? &tuning->device : &work->device;
    work->winner = false;
    if (status == SHMTUNE_OK)
        status = make_room(work, 2 + TIES + dispatched, err);
    if (status == SHMTUNE_OK && same)
        status = want_tuned(work, tuning, tuned, err);
    if (status == SHMTUNE_OK)
        status = want_default(work, err);
    return status == SHMTUNE_OK ? make(work, err) : status;
}

/* The default where nothing was tuned. */
static enum shmtune_status make_usual(struct work *work,
                                      struct shmt_error *err)
{
    enum shmtune_status status = make_room(work, 1, err);

    shmt_kernel_default_problem(work->kernel, work->problem);
    work->at = &work->device;
    work->winner = false;
    if (status == SHMTUNE_OK)
        status = want_default(work, err);
    return status == SHMTUNE_OK ? make(work, err) : status;
}

static enum shmtune_status make_kernel(struct work *work,
                                       struct shmt_error *err)
{
    const struct shmt_command_binaries *const to = work->binaries;
    enum shmtune_status status = make_usual(work, err);

    for (size_t k = 0; status == SHMTUNE_OK && k < to->tuning_count; k++) {
        const struct shmt_tuning *const tuning = to->tunings[k].tuning;

        for (size_t i = 0; to->tunings[k].kernel == work->kernel &&
                           status == SHMTUNE_OK && i < tuning->tuned_count;
             i++)
            status = make_tuned(work, tuning, tuning->tuned[i], err);
    }
    shmt_compiler_close(work->compiler);
    work->compiler = NULL;
    return status;
}

/* No binary serves a size that is compiled in and was not tuned. */
static void tell_limits(const struct shmt_command_binaries *binaries,
                        const struct shmt_kernel *kernel)
{
    char text[256] = "";

    if (shmt_kernel_has_host(kernel))
        snprintf(text, sizeof text, "%s has functions of the host, which no "
                 "application loads: it has no binaries", kernel->name);
    for (size_t k = 0; text[0] == '\0' && k < kernel->dimension_count; k++)
        if (kernel->dimensions[k].defined)
            snprintf(text, sizeof text, "%s has the size %s compiled in: "
                     "there are binaries for its tuned sizes alone",
                     kernel->name, kernel->dimensions[k].name);
    if (text[0] != '\0' && !binaries->call->quiet)
        shmt_command_tell("note: ", text);
}

/* Splits "sm_80,sm_90"; returns their number in *count. */
static enum shmtune_status read_archs(const char *list, struct work *works,
                                      size_t *count, struct shmt_error *err)
{
    enum shmtune_status status = SHMTUNE_OK;

    for (*count = 0; status == SHMTUNE_OK; (*count)++) {
        struct work *const work = &works[*count];
        const size_t length = strcspn(list, ",");
        char found[16];

        if (*count == ARCHS || length >= sizeof work->arch)
            return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                                  "--arch: \"%.64s\" is not expected: up to "
                                  "%d architectures, as sm_80,sm_90", list,
                                  ARCHS);
        memcpy(work->arch, list, length);
        work->arch[length] = '\0';
        status = shmt_device_for_arch(work->arch, &work->device, err);
        if (status != SHMTUNE_OK)
            return shmt_command_change_status(err, SHMTUNE_NOT_FOUND,
                                              SHMTUNE_INVALID_ARGUMENT);
        shmt_device_arch_text(&work->device, found);
        if (strcmp(found, work->arch) != 0)
            return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                                  "--arch %s: name %s; a kernel's spec says "
                                  "which features it is compiled with",
                                  work->arch, found);
        list += length;
        if (*list++ == '\0') {
            (*count)++;
            break;
        }
    }
    return status;
}

static enum shmtune_status make_all(struct shmt_command_binaries *binaries,
                                    const char *images,
                                    struct shmt_text *manifest,
                                    struct shmt_error *err)
{
    struct work works[ARCHS] = {0};
    size_t count;
    enum shmtune_status status =
        read_archs(binaries->archs, works, &count, err);

    for (size_t k = 0; status == SHMTUNE_OK &&
                       k < binaries->catalogue->kernel_count; k++) {
        const struct shmt_kernel *const kernel =
            binaries->catalogue->kernels[k].kernel;

        if (kernel->source == NULL || kernel->launch_count == 0)
            continue;
        tell_limits(binaries, kernel);
        for (size_t a = 0; status == SHMTUNE_OK && a < count &&
                           !shmt_kernel_has_host(kernel); a++) {
            works[a].binaries = binaries;
            works[a].kernel = kernel;
            works[a].images = images;
            works[a].manifest = manifest;
            shmt_device_arch_target(works[a].arch, kernel->features,
                                    works[a].target);
            status = make_kernel(&works[a], err);
        }
    }
    return status;
}

/* Another list of the same binaries: what each is for. */
static enum shmtune_status
write_manifest(const struct shmt_command_binaries *binaries,
               const struct shmt_text *manifest, struct shmt_error *err)
{
    const char *const path =
        shmt_path_join(binaries->arena, binaries->folder, "manifest");

    return path == NULL || manifest->failed
               ? shmt_error_memory(err)
               : shmt_path_write(path, manifest->data, manifest->length, err);
}

enum shmtune_status
shmt_command_make_binaries(struct shmt_command_binaries *binaries,
                           struct shmt_error *err)
{
    struct shmt_scratch scratch = {0};
    struct shmt_text manifest = {0};
    enum shmtune_status status = shmt_path_make_folder(binaries->folder, 0755,
                                                       err);

    shmt_text_add(&manifest, "shmtune cubins/1\n");
    if (status == SHMTUNE_OK)
        status = shmt_scratch_make("shmtune", &scratch, err);
    if (status == SHMTUNE_OK)
        status = make_all(binaries, scratch.folder, &manifest, err);
    if (status == SHMTUNE_OK)
        status = write_manifest(binaries, &manifest, err);
    shmt_scratch_remove(&scratch);
    shmt_text_free(&manifest);
    return status;
}
