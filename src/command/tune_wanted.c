/* SPDX-License-Identifier: MIT */
/*
 * tune_wanted: see tune_wanted.h.  Called by command/tune.c and tune_work.c.
 */
#include "config.h"

#include "command/tune_wanted.h"

#include <stdio.h>
#include <string.h>

#include "device/device.h"

enum shmtune_status shmt_command_wanted_open(struct shmt_command_wanted *wanted,
                                             const char *path,
                                             struct shmt_error *err)
{
    enum shmtune_status status = SHMTUNE_OK;

    wanted->path = path;
    if (path == NULL)
        return SHMTUNE_OK;
    status = shmt_wanted_read(path, &wanted->file, err);
    if (status == SHMTUNE_NOT_FOUND)
        return shmt_error_set(err, SHMTUNE_STORAGE, "%s: no such file; an "
                              "application with SHMTUNE_WANTED=%s in its "
                              "environment writes it when it ends, if it had "
                              "problems that nobody tuned", path, path);
    if (status != SHMTUNE_OK)
        return status;
    shmt_wanted_sort(wanted->file);
    return wanted->file->count > 0
               ? SHMTUNE_OK
               : shmt_error_set(err, SHMTUNE_NOT_FOUND,
                                "%s: nothing is wanted", path);
}

enum shmtune_status
shmt_command_wanted_kernels(const struct shmt_command_wanted *wanted,
                            const char *const **names, size_t *count,
                            struct shmt_error *err)
{
    const struct shmt_wanted *const file = wanted->file;
    const char **const list =
        shmt_arena_alloc(wanted->arena, file->count, sizeof *list);
    size_t found = 0;

    if (list == NULL)
        return shmt_error_memory(err);
    for (size_t k = 0; k < file->count; k++) {
        size_t i = 0;

        while (i < found && strcmp(list[i], file->problems[k].kernel) != 0)
            i++;
        if (i == found)
            list[found++] = file->problems[k].kernel;
    }
    *names = list;
    *count = found;
    return SHMTUNE_OK;
}

/* The problem as one of the kernel; false where it has other dimensions or
 * bounds. */
static bool is_of(const struct shmt_kernel *kernel,
                  const struct shmt_wanted_problem *one, int64_t *problem,
                  struct shmt_error *err)
{
    const struct shmt_tuned tuned = {.size = one->size,
                                     .size_count = one->size_count};

    memset(problem, 0, SHMT_KERNEL_DIMENSIONS * sizeof *problem);
    return strcmp(one->kernel, kernel->name) == 0 &&
           shmt_tuning_problem(kernel, &tuned, problem, err) == SHMTUNE_OK;
}

static bool has(int64_t (*list)[SHMT_KERNEL_DIMENSIONS], size_t count,
                const int64_t *problem)
{
    for (size_t k = 0; k < count; k++)
        if (memcmp(list[k], problem, sizeof list[k]) == 0)
            return true;
    return false;
}

static enum shmtune_status
make_room(const struct shmt_command_wanted *wanted,
          struct shmt_command_wanted_problems *out, struct shmt_error *err)
{
    out->count = 0;
    out->list = shmt_arena_alloc(wanted->arena, wanted->file->count + 1,
                                 sizeof *out->list);
    return out->list == NULL ? shmt_error_memory(err) : SHMTUNE_OK;
}

enum shmtune_status
shmt_command_wanted_any(const struct shmt_command_wanted *wanted,
                        const struct shmt_kernel *kernel,
                        struct shmt_command_wanted_problems *out,
                        struct shmt_error *err)
{
    const struct shmt_wanted *const file = wanted->file;
    const enum shmtune_status status = make_room(wanted, out, err);

    for (size_t k = 0; status == SHMTUNE_OK && k < file->count; k++)
        if (is_of(kernel, &file->problems[k], out->list[out->count], NULL) &&
            !has(out->list, out->count, out->list[out->count]))
            out->count++;
    return status;
}

void shmt_command_wanted_leave(struct shmt_command_wanted *wanted,
                               size_t count, const char *text)
{
    wanted->left_out += count;
    shmt_display_notice(wanted->display, text);
}

/* The problems that the tuning at `path` has already, as of today's sources. */
static enum shmtune_status
read_tuned(const struct shmt_command_wanted *wanted,
           const struct shmt_target *target, const char *path,
           struct shmt_command_wanted_problems *out, struct shmt_error *err)
{
    struct shmt_tuning *tuning = NULL;
    enum shmtune_status status = shmt_tuning_read(path, &tuning, err);

    *out = (struct shmt_command_wanted_problems){NULL, 0};
    if (status == SHMTUNE_NOT_FOUND)
        return SHMTUNE_OK;
    if (status != SHMTUNE_OK)
        return status;
    if (strcmp(tuning->digest, target->kernel->digest) == 0 &&
        shmt_device_equal(&tuning->device, &target->device))
        out->list = shmt_arena_alloc(wanted->arena, tuning->tuned_count + 1,
                                     sizeof *out->list);
    for (size_t k = 0; out->list != NULL && k < tuning->tuned_count; k++)
        if (shmt_tuning_problem(target->kernel, tuning->tuned[k],
                                out->list[out->count], NULL) == SHMTUNE_OK)
            out->count++;
    shmt_tuning_free(tuning);
    return SHMTUNE_OK;
}

/* Says that a problem is left out. */
static void leave(struct shmt_command_wanted *wanted,
                  const struct shmt_wanted_problem *one, const char *why)
{
    struct shmt_text text = {0};

    shmt_text_addf(&text, "%s", one->kernel);
    for (size_t k = 0; k < one->size_count; k++)
        shmt_text_addf(&text, "%s%s=%lld", k == 0 ? " " : ",",
                       one->size[k].name, (long long)one->size[k].value.i);
    shmt_text_addf(&text, ": wanted %llu time%s, %s",
                   (unsigned long long)one->count, one->count == 1 ? "" : "s",
                   why);
    shmt_command_wanted_leave(wanted, 1, shmt_text_string(&text));
    shmt_text_free(&text);
}

/* Names a device whose problems they are. */
static void leave_others(struct shmt_command_wanted *wanted,
                         const struct shmt_target *target, size_t count,
                         const char *device)
{
    char text[640];

    snprintf(text, sizeof text, "%s: %zu problem%s wanted on another device "
             "than \"%.100s\" left out, such as \"%.256s\"",
             target->kernel->name, count, shmt_text_plural(count),
             target->device.name, device);
    shmt_command_wanted_leave(wanted, count, text);
}

enum shmtune_status
shmt_command_wanted_here(struct shmt_command_wanted *wanted,
                         const struct shmt_target *target, const char *path,
                         struct shmt_command_wanted_problems *out,
                         struct shmt_error *err)
{
    const struct shmt_wanted *const file = wanted->file;
    struct shmt_command_wanted_problems tuned;
    const char *other = NULL;
    struct shmt_error why;
    size_t others = 0;
    enum shmtune_status status = make_room(wanted, out, err);

    if (status == SHMTUNE_OK)
        status = read_tuned(wanted, target, path, &tuned, err);
    for (size_t k = 0; status == SHMTUNE_OK && k < file->count; k++) {
        const struct shmt_wanted_problem *const one = &file->problems[k];
        int64_t *const problem = out->list[out->count];

        if (strcmp(one->kernel, target->kernel->name) != 0)
            continue;
        if (strcmp(one->device, target->device.name) != 0) {
            other = others++ == 0 ? one->device : other;
        } else if (!is_of(target->kernel, one, problem, &why)) {
            leave(wanted, one, why.text);
        } else if (has(tuned.list, tuned.count, problem)) {
            leave(wanted, one, "is tuned already");
        } else {
            out->count++;
        }
    }
    if (status == SHMTUNE_OK && others > 0)
        leave_others(wanted, target, others, other);
    return status;
}
