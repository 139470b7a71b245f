/* SPDX-License-Identifier: MIT */
/*
 * pack_choices: which configurations of a kernel the library may choose at the
 * problems that are known beforehand, and the keys of their binaries.  Called
 * by pack_compile.c, which makes these, and by check_binaries.c, which looks
 * for them.
 */
#include "config.h"

#include <string.h>

#include "base/base.h"
#include "command/pack.h"
#include "device/device.h"
#include "gpu/gpu.h"

bool shmt_command_has_binaries(const struct shmt_kernel *kernel)
{
    return kernel->source != NULL && kernel->launch_count > 0 &&
           !shmt_kernel_has_host(kernel);
}

void shmt_command_describe_choice(const struct shmt_command_choices *choices,
                                  size_t k, struct shmt_text *text)
{
    const struct shmt_kernel *const kernel = choices->kernel;

    shmt_text_addf(text, "%s %s: ", choices->target, kernel->name);
    shmt_kernel_describe_config(
        kernel, choices->configs + k * kernel->parameter_count, text);
    shmt_text_add(text, " at ");
    shmt_kernel_describe_problem(kernel, choices->problem, text);
}

/* -- one problem ---------------------------------------------------------- */

/* One more configuration, unless its binary is that of one before. */
static enum shmtune_status add(struct shmt_command_choices *choices,
                               struct shmt_arena *arena,
                               const shmt_config *config,
                               struct shmt_error *err)
{
    const size_t width = choices->kernel->parameter_count;
    struct shmt_kernel_evaluated evaluated;
    const struct shmt_image_request request = {.evaluated = &evaluated,
                                               .arch = choices->target};
    char key[SHMT_DIGEST_TEXT];
    enum shmtune_status status;

    shmt_kernel_evaluate(choices->kernel, choices->problem, config,
                         &evaluated);
    status = shmt_image_key(&request, key, err);
    if (status != SHMTUNE_OK)
        return status;
    for (size_t k = 0; k < choices->count; k++)
        if (strcmp(choices->keys[k], key) == 0)
            return SHMTUNE_OK;
    if (choices->count == choices->room)
        return SHMTUNE_OK;
    choices->keys[choices->count] = shmt_arena_copy(arena, key, strlen(key));
    if (choices->keys[choices->count] == NULL)
        return shmt_error_memory(err);
    memcpy(choices->configs + choices->count++ * width, config,
           width * sizeof *config);
    return SHMTUNE_OK;
}

/* Room for a winner, its ties, a dispatch and the default. */
static enum shmtune_status make_room(struct shmt_command_choices *choices,
                                     struct shmt_arena *arena, size_t room,
                                     struct shmt_error *err)
{
    choices->configs = shmt_arena_alloc(
        arena, room * choices->kernel->parameter_count + 1,
        sizeof *choices->configs);
    choices->keys = shmt_arena_alloc(arena, room, sizeof *choices->keys);
    choices->room = room;
    choices->count = 0;
    choices->winner = false;
    return choices->configs == NULL || choices->keys == NULL
               ? shmt_error_memory(err) : SHMTUNE_OK;
}

static enum shmtune_status add_default(struct shmt_command_choices *choices,
                                       struct shmt_arena *arena,
                                       struct shmt_error *err)
{
    shmt_config config[SHMT_SPACE_PARAMETERS];

    shmt_kernel_default(choices->kernel, config);
    return add(choices, arena, config, err);
}

/* The winner first. */
static enum shmtune_status add_tuned(struct shmt_command_choices *choices,
                                     struct shmt_arena *arena,
                                     const struct shmt_tuning *tuning,
                                     const struct shmt_tuned *tuned,
                                     struct shmt_error *err)
{
    const struct shmt_kernel *const kernel = choices->kernel;
    const struct shmt_dispatch *const dispatch = tuning->dispatch;
    const size_t width = kernel->parameter_count;
    shmt_config config[SHMT_SPACE_PARAMETERS];
    shmt_config *const ties = shmt_arena_alloc(
        arena, SHMT_TUNING_TRIED * width + 1, sizeof *ties);
    size_t count;
    enum shmtune_status status =
        ties == NULL ? shmt_error_memory(err)
                     : shmt_tuning_config(kernel, tuned->settings,
                                          tuned->setting_count, config, err);

    if (status == SHMTUNE_OK)
        status = add(choices, arena, config, err);
    if (status != SHMTUNE_OK)
        return status;
    choices->winner = true;
    count = shmt_tuning_ties(kernel, tuned, choices->problem, config, ties);
    for (size_t k = 0; status == SHMTUNE_OK && k < count; k++)
        status = add(choices, arena, ties + k * width, err);
    for (size_t k = 0; status == SHMTUNE_OK && dispatch != NULL &&
                       k < dispatch->config_count; k++) {
        status = shmt_tuning_config(kernel, dispatch->configs[k],
                                    dispatch->setting_count, config, err);
        if (status == SHMTUNE_OK)
            status = add(choices, arena, config, err);
    }
    return status;
}

/* -- a kernel ------------------------------------------------------------- */

/* A size of a tuning: of this architecture what was measured, and the
 * default in any case. */
static enum shmtune_status
visit_tuned(const struct shmt_command_choosing *choosing,
            struct shmt_command_choices *choices, const char *arch,
            const struct shmt_tuning *tuning, const struct shmt_tuned *tuned,
            struct shmt_error *err)
{
    const size_t dispatched =
        tuning->dispatch == NULL ? 0 : tuning->dispatch->config_count;
    const struct shmtune_device *const usual = choices->device;
    char measured[16];
    bool same;
    enum shmtune_status status = shmt_tuning_problem(
        choices->kernel, tuned, choices->problem, err);

    shmt_device_arch_text(&tuning->device, measured);
    same = strcmp(measured, arch) == 0;
    if (status == SHMTUNE_OK)
        status = make_room(choices, choosing->arena,
                           2 + SHMT_TUNING_TRIED + dispatched, err);
    if (status == SHMTUNE_OK && same)
        status = add_tuned(choices, choosing->arena, tuning, tuned, err);
    if (status == SHMTUNE_OK)
        status = add_default(choices, choosing->arena, err);
    choices->device = same ? &tuning->device : usual;
    if (status == SHMTUNE_OK)
        status = choosing->visit(choosing->context, choices, err);
    choices->device = usual;
    return status;
}

/* The default where nothing was tuned. */
static enum shmtune_status
visit_default(const struct shmt_command_choosing *choosing,
              struct shmt_command_choices *choices, struct shmt_error *err)
{
    enum shmtune_status status = make_room(choices, choosing->arena, 1, err);

    shmt_kernel_default_problem(choices->kernel, choices->problem);
    if (status == SHMTUNE_OK)
        status = add_default(choices, choosing->arena, err);
    return status == SHMTUNE_OK
               ? choosing->visit(choosing->context, choices, err) : status;
}

enum shmtune_status
shmt_command_visit_choices(const struct shmt_command_choosing *choosing,
                           const struct shmt_kernel *kernel, const char *arch,
                           struct shmt_error *err)
{
    struct shmtune_device device;
    struct shmt_command_choices choices = {.kernel = kernel,
                                           .device = &device};
    enum shmtune_status status = shmt_device_for_arch(arch, &device, err);

    shmt_device_arch_target(arch, kernel->features, choices.target);
    if (status == SHMTUNE_OK)
        status = visit_default(choosing, &choices, err);
    for (size_t k = 0; status == SHMTUNE_OK && k < choosing->tuning_count;
         k++) {
        const struct shmt_tuning *const tuning = choosing->tunings[k].tuning;

        for (size_t i = 0; choosing->tunings[k].kernel == kernel &&
                           status == SHMTUNE_OK && i < tuning->tuned_count;
             i++)
            status = visit_tuned(choosing, &choices, arch, tuning,
                                 tuning->tuned[i], err);
    }
    return status;
}
