/* SPDX-License-Identifier: MIT */
/*
 * choice: what a choice means: as text, by parameter, and as the geometry and
 * bytes of its launches.
 */
#include "runtime/choice.h"

#include <stdio.h>
#include <string.h>

#include "runtime/interface.h"
#include "runtime/library.h"

const char *shmtune_match_text(enum shmtune_match match)
{
    static const char *const texts[] = {
        [SHMTUNE_EXACT] = "exact",
        [SHMTUNE_NEAREST_SIZE] = "nearest size",
        [SHMTUNE_SAME_CAPABILITY] = "same capability",
        [SHMTUNE_DEFAULT] = "default",
        [SHMTUNE_LEARNT] = "learnt",
    };

    return (size_t)match < sizeof texts / sizeof texts[0] ? texts[match]
                                                          : "unknown";
}

enum shmtune_status shmt_choice_check(const struct shmtune_choice *choice,
                                      const char *what,
                                      struct shmt_error *err)
{
    const enum shmtune_status status = shmt_runtime_check_size(
        choice, SHMT_RUNTIME_LEAST_CHOICE, what, err);

    if (status == SHMTUNE_OK && choice->kernel == NULL)
        return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                              "%s->kernel is NULL", what);
    return status;
}

static bool is_choice(const struct shmtune_choice *choice)
{
    return shmt_choice_check(choice, "choice", NULL) == SHMTUNE_OK;
}

void shmt_choice_evaluate(const struct shmtune_choice *choice,
                          struct shmt_kernel_evaluated *out)
{
    shmt_kernel_evaluate(choice->kernel->spec, choice->problem,
                         choice->values, out);
}

size_t shmt_choice_copy_text(struct shmt_text *from, char *text, size_t room)
{
    const size_t length = from->failed ? 0 : from->length;

    if (text != NULL && room > 0)
        snprintf(text, room, "%s", shmt_text_string(from));
    shmt_text_free(from);
    return length;
}

size_t shmtune_choice_text(const struct shmtune_choice *choice, char *text,
                           size_t room)
{
    struct shmt_text whole = {0};

    if (is_choice(choice))
        shmt_kernel_describe_config(choice->kernel->spec, choice->values,
                                    &whole);
    return shmt_choice_copy_text(&whole, text, room);
}

enum shmtune_status shmtune_choice_value(const struct shmtune_choice *choice,
                                         const char *parameter,
                                         struct shmtune_value *out)
{
    struct shmtune_value made = SHMTUNE_VALUE_INIT;
    const struct shmt_kernel *spec;

    if (!is_choice(choice) || parameter == NULL ||
        !shmt_runtime_is_sized(out, sizeof *out))
        return SHMTUNE_INVALID_ARGUMENT;
    spec = choice->kernel->spec;
    for (size_t k = 0; k < spec->parameter_count; k++) {
        const struct shmt_value value =
            spec->parameters[k].values[choice->values[k]];

        if (strcmp(spec->parameters[k].name, parameter) != 0)
            continue;
        if (value.type == SHMT_VALUE_WORD)
            made.word = value.w;
        else
            made.number = value.type == SHMT_VALUE_INT ? (double)value.i
                                                       : value.r;
        shmt_runtime_copy_sized(out, &made, sizeof made);
        return SHMTUNE_OK;
    }
    return SHMTUNE_NOT_FOUND;
}

enum shmtune_status shmtune_choice_launch(const struct shmtune_choice *choice,
                                          size_t k,
                                          struct shmtune_geometry *out)
{
    struct shmt_kernel_evaluated evaluated;

    if (!is_choice(choice) || !shmt_runtime_is_sized(out, sizeof *out))
        return SHMTUNE_INVALID_ARGUMENT;
    shmt_choice_evaluate(choice, &evaluated);
    if (shmt_kernel_evaluate_launches(&evaluated, NULL) != SHMTUNE_OK)
        return SHMTUNE_INVALID_ARGUMENT;
    for (size_t i = 0; i < evaluated.launch_count; i++) {
        const struct shmt_geometry *geometry = &evaluated.geometry[i];
        struct shmtune_geometry made = {
            .entry = evaluated.launches[i].entry,
            .shared_dynamic = geometry->shared_dynamic,
            .carveout = geometry->carveout,
            .cooperative = geometry->cooperative,
        };

        if (!geometry->used || geometry->host || k-- > 0)
            continue;
        memcpy(made.cluster, geometry->cluster, sizeof made.cluster);
        memcpy(made.grid, geometry->grid, sizeof made.grid);
        memcpy(made.block, geometry->block, sizeof made.block);
        shmt_runtime_copy_sized(out, &made, sizeof made);
        return SHMTUNE_OK;
    }
    return SHMTUNE_NOT_FOUND;
}

enum shmtune_status
shmt_choice_bytes(struct shmt_kernel_evaluated *evaluated, size_t k,
                  int64_t *bytes, struct shmt_error *err)
{
    const struct shmt_argument *argument = &evaluated->kernel->arguments[k];
    uint64_t count = 0;
    enum shmtune_status status = SHMTUNE_OK;

    if (argument->count != NULL)
        status = shmt_kernel_argument_count(evaluated, k, &count, err);
    if (status != SHMTUNE_OK)
        return SHMTUNE_INVALID_ARGUMENT;
    *bytes = argument->texture != NULL
                 ? (int64_t)argument->bytes
                 : (int64_t)(count * shmt_element_bytes(argument->element));
    return SHMTUNE_OK;
}

/* The caller need not provide an argument that only the reference takes, or a
 * launch whose `when` is false. */
static bool is_used(struct shmt_kernel_evaluated *evaluated, size_t k)
{
    for (size_t i = 0; i < evaluated->launch_count; i++) {
        const struct shmt_launch *launch = &evaluated->launches[i];
        bool used;

        if (shmt_kernel_uses_launch(evaluated, i, &used, NULL) != SHMTUNE_OK)
            used = true;
        for (size_t a = 0; used && a < launch->reach_count; a++)
            if (launch->arguments[a] == k)
                return true;
    }
    return false;
}

enum shmtune_status shmtune_argument_bytes(const struct shmtune_choice *choice,
                                           size_t k, int64_t *bytes)
{
    struct shmt_kernel_evaluated evaluated;

    if (!is_choice(choice) || bytes == NULL)
        return SHMTUNE_INVALID_ARGUMENT;
    if (k >= choice->kernel->spec->argument_count)
        return SHMTUNE_NOT_FOUND;
    shmt_choice_evaluate(choice, &evaluated);
    if (choice->kernel->spec->arguments[k].symbol == NULL &&
        !is_used(&evaluated, k)) {
        *bytes = 0;
        return SHMTUNE_OK;
    }
    return shmt_choice_bytes(&evaluated, k, bytes, NULL);
}
