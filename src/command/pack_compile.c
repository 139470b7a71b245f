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
#include "command/pack.h"
#include "device/device.h"
#include "gpu/gpu.h"
#include "target/target.h"

enum { ARCHS = 16 };

/* One kernel for one architecture, and one problem of it at a time. */
struct work {
    struct shmt_command_binaries *binaries;
    const struct shmt_kernel *kernel;
    char arch[16];
    const char *images;               /* the workers' folder */
    struct shmt_target *compiler;     /* NULL: nothing to compile yet */
    struct shmt_text *manifest;
    struct shmt_command_choices *now; /* what is left to be compiled */
};

/* -- making them ---------------------------------------------------------- */

static const shmt_config *config_at(const struct work *work, size_t k)
{
    return work->now->configs + k * work->kernel->parameter_count;
}

static bool is_made(const struct shmt_command_binaries *binaries,
                    const char *key)
{
    for (size_t k = 0; k < binaries->key_count; k++)
        if (strcmp(binaries->keys[k], key) == 0)
            return true;
    return false;
}

static enum shmtune_status keep(struct work *work, size_t k,
                                struct shmt_error *err)
{
    struct shmt_command_binaries *const to = work->binaries;
    struct shmt_text *const text = work->manifest;

    if (!shmt_array_reserve(&to->keys, &to->key_room, to->key_count + 1,
                            sizeof *to->keys))
        return shmt_error_memory(err);
    to->keys[to->key_count++] = work->now->keys[k];
    shmt_text_addf(text, "%s ", work->now->keys[k]);
    shmt_command_describe_choice(work->now, k, text);
    shmt_text_add(text, "\n");
    return text->failed ? shmt_error_memory(err) : SHMTUNE_OK;
}

/* In the folder already; anything else is made again. */
static bool is_there(const struct work *work,
                     struct shmt_kernel_evaluated *evaluated)
{
    const struct shmt_image_request request = {.evaluated = evaluated,
                                               .arch = work->now->target};
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
        .evaluated = evaluated, .arch = work->now->target,
        .nvrtc_version = work->compiler->nvrtc_version};
    struct shmt_image *image = NULL;
    enum shmtune_status status =
        shmt_image_get(&request, NULL, work->images, &image, err);

    if (status != SHMTUNE_OK)
        return status;
    memcpy(image->key, work->now->keys[k], sizeof image->key);
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

    shmt_kernel_evaluate(work->kernel, work->now->problem, config_at(work, k),
                         &evaluated);
    if (result->verdict != SHMT_VERDICT_OK)
        return k > 0 || !work->now->winner
                   ? SHMTUNE_OK
                   : shmt_error_set(err, SHMTUNE_COMPILE,
                                    "kernel %s for %s: a winner cannot be "
                                    "shipped: %s: %s; tune again, or take its "
                                    "tuning away", work->kernel->name,
                                    work->now->target,
                                    shmt_verdict_word(result->verdict),
                                    result->reason);
    status = ship(work, k, &evaluated, err);
    return status == SHMTUNE_OK ? keep(work, k, err) : status;
}

/* Drops those that are made, and those whose binary is in the folder. */
static enum shmtune_status drop_made(struct work *work, struct shmt_error *err)
{
    const size_t width = work->kernel->parameter_count;
    struct shmt_command_choices *const now = work->now;
    enum shmtune_status status = SHMTUNE_OK;
    size_t left = 0;

    for (size_t k = 0; status == SHMTUNE_OK && k < now->count; k++) {
        const shmt_config *const config = config_at(work, k);
        const bool made = is_made(work->binaries, now->keys[k]);
        struct shmt_kernel_evaluated evaluated;

        shmt_kernel_evaluate(work->kernel, now->problem, config, &evaluated);
        if (made || is_there(work, &evaluated)) {
            status = made ? SHMTUNE_OK : keep(work, k, err);
            now->winner = now->winner && k > 0;
            continue;
        }
        now->keys[left] = now->keys[k];
        memmove(now->configs + left++ * width, config,
                width * sizeof *config);
    }
    now->count = left;
    return status;
}

static enum shmtune_status make(void *context,
                                struct shmt_command_choices *choices,
                                struct shmt_error *err)
{
    struct work *const work = context;
    struct shmt_compiler_options options = work->binaries->compiler;
    struct shmt_compiler_batch batch = {
        .device = choices->device, .problem = choices->problem,
        .configs = choices->configs,
        .progress = !work->binaries->call->quiet && isatty(STDERR_FILENO)};
    enum shmtune_status status;

    options.images = work->images;
    work->now = choices;
    status = drop_made(work, err);
    if (status != SHMTUNE_OK || choices->count == 0)
        return status;
    if (work->compiler == NULL)
        status = shmt_compiler_open(work->kernel, work->arch, &options,
                                    &work->compiler, err);
    batch.count = choices->count;
    batch.results = status != SHMTUNE_OK
                        ? NULL
                        : shmt_arena_alloc(work->binaries->arena, batch.count,
                                           sizeof *batch.results);
    if (status == SHMTUNE_OK)
        status = batch.results == NULL
                     ? shmt_error_memory(err)
                     : shmt_compiler_run(work->compiler, &batch, err);
    for (size_t k = 0; status == SHMTUNE_OK && k < choices->count; k++)
        status = take(work, k, &batch.results[k], err);
    return status;
}

/* -- a kernel ------------------------------------------------------------- */

static enum shmtune_status make_kernel(struct work *work,
                                       struct shmt_error *err)
{
    const struct shmt_command_binaries *const to = work->binaries;
    const struct shmt_command_choosing choosing = {
        .tunings = to->tunings, .tuning_count = to->tuning_count,
        .arena = to->arena, .visit = make, .context = work};
    const enum shmtune_status status =
        shmt_command_visit_choices(&choosing, work->kernel, work->arch, err);

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
        struct shmtune_device device;
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
        status = shmt_compiler_arch(work->arch, &device, err);
        if (status != SHMTUNE_OK)
            return status;
        shmt_device_arch_text(&device, found);
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

/* Whether a tuning is of a device of the architecture. */
static bool is_tuned_for(const struct shmt_tuning *tuning, const char *arch)
{
    char measured[16];

    shmt_device_arch_text(&tuning->device, measured);
    return strcmp(measured, arch) == 0;
}

static bool is_asked_for(const struct work *works, size_t count,
                         const struct shmt_tuning *tuning)
{
    size_t a = 0;

    while (a < count && !is_tuned_for(tuning, works[a].arch))
        a++;
    return a < count;
}

/* Architectures that are asked for and not tuned, and the other way round: of
 * these the winners would be chosen, and not be there. */
static void tell_mismatches(const struct shmt_command_binaries *binaries,
                            const struct work *works, size_t count)
{
    char text[256], arch[16], told[16] = "";

    for (size_t a = 0; a < count; a++) {
        size_t k = 0;

        while (k < binaries->tuning_count &&
               !is_tuned_for(binaries->tunings[k].tuning, works[a].arch))
            k++;
        if (k < binaries->tuning_count)
            continue;
        snprintf(text, sizeof text, "nothing of it is tuned for %s: that gets "
                 "the defaults alone", works[a].arch);
        shmt_command_tell("note: ", text);
    }
    for (size_t k = 0; k < binaries->tuning_count; k++) {
        const struct shmt_tuning *tuning = binaries->tunings[k].tuning;

        shmt_device_arch_text(&tuning->device, arch);
        if (is_asked_for(works, count, tuning) || strcmp(told, arch) == 0)
            continue;
        memcpy(told, arch, sizeof told);
        snprintf(text, sizeof text, "what is tuned for %s has no binaries, so "
                 "that its machines need NVRTC: add it to --arch", arch);
        shmt_command_tell("note: ", text);
    }
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

    if (status == SHMTUNE_OK && !binaries->call->quiet)
        tell_mismatches(binaries, works, count);
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
        shmt_path_join(binaries->arena, binaries->folder,
                       SHMT_COMMAND_MANIFEST_NAME);

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

    shmt_text_add(&manifest, SHMT_COMMAND_MANIFEST "1\n");
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
