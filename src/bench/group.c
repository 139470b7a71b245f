/* SPDX-License-Identifier: MIT */
/*
 * group: the problems of a kernel that one process keeps prepared, each with a
 * bench of its own.  They share the primary context of the device, which takes
 * the driver longer to make than most problems take to be prepared.
 */
#include <stdlib.h>
#include <string.h>

#include "bench/state.h"

enum { MOST = 64 };

struct member {
    struct shmt_bench *bench;
    bool stale;              /* its problem is to lie elsewhere: this one holds
                                the memory until another has it prepared */
};

struct shmt_bench_group {
    const struct shmt_kernel *kernel;
    struct shmt_bench_options options;
    struct member members[MOST];   /* the one used last is the first */
    size_t count;                  /* at least one */
};

/* What lies at addresses of its own lies there once. */
static size_t most_of(const struct shmt_kernel *kernel)
{
    for (size_t k = 0; k < kernel->argument_count; k++)
        if (kernel->arguments[k].at != 0)
            return 1;
    return MOST;
}

static void close_at(struct shmt_bench_group *group, size_t k)
{
    shmt_bench_close(group->members[k].bench);
    group->members[k] = group->members[--group->count];
}

static void move_to_front(struct shmt_bench_group *group, size_t k)
{
    const struct member member = group->members[k];

    memmove(&group->members[1], group->members, k * sizeof member);
    group->members[0] = member;
}

static bool is_for(const struct member *member, const int64_t *problem)
{
    const struct shmt_bench *const bench = member->bench;

    return bench->prepared &&
           memcmp(bench->problem, problem,
                  bench->kernel->dimension_count * sizeof *problem) == 0;
}

/* The member that has a problem, stale or not; `count` when none has. */
static size_t find_member(const struct shmt_bench_group *group,
                          const int64_t *problem, bool stale)
{
    size_t k = 0;

    while (k < group->count && (group->members[k].stale != stale ||
                                !is_for(&group->members[k], problem)))
        k++;
    return k;
}

/* Puts the bench of a problem to the front: the one that has it prepared, one
 * that has none, or a new one. */
static enum shmtune_status find(struct shmt_bench_group *group,
                                const int64_t *problem,
                                struct shmt_error *err)
{
    struct shmt_bench *fresh = NULL;
    enum shmtune_status status;
    size_t k = find_member(group, problem, false);

    if (k == group->count)
        for (k = 0; k < group->count && group->members[k].bench->prepared; k++)
            ;
    if (k == group->count && group->count == most_of(group->kernel))
        k = group->count - 1;
    if (k < group->count) {
        move_to_front(group, k);
        group->members[0].stale = false;
        return SHMTUNE_OK;
    }
    status = shmt_bench_open(group->kernel, &group->options, &fresh, err);
    if (status != SHMTUNE_OK)
        return status;
    group->members[group->count++] = (struct member){.bench = fresh};
    move_to_front(group, group->count - 1);
    return SHMTUNE_OK;
}

enum shmtune_status
shmt_bench_group_open(const struct shmt_kernel *kernel,
                      const struct shmt_bench_options *options,
                      struct shmt_bench_group **out, struct shmt_error *err)
{
    struct shmt_bench_group *const group = calloc(1, sizeof *group);
    enum shmtune_status status;

    if (group == NULL)
        return shmt_error_memory(err);
    group->kernel = kernel;
    group->options = *options;
    status = shmt_bench_open(kernel, options, &group->members[0].bench, err);
    if (status != SHMTUNE_OK) {
        free(group);
        return status;
    }
    group->count = 1;
    *out = group;
    return SHMTUNE_OK;
}

void shmt_bench_group_close(struct shmt_bench_group *group)
{
    if (group == NULL)
        return;
    while (group->count > 0)
        close_at(group, group->count - 1);
    free(group);
}

const struct shmt_bench *
shmt_bench_group_first(const struct shmt_bench_group *group)
{
    return group->members[0].bench;
}

static enum shmtune_status measure(struct shmt_bench_group *group,
                                   const struct shmt_bench_request *request,
                                   struct shmt_result *result,
                                   struct shmt_bench_note *note,
                                   struct shmt_error *err)
{
    const enum shmtune_status status = find(group, request->problem, err);

    return status == SHMTUNE_OK
               ? shmt_bench_measure(group->members[0].bench, request, result,
                                    note, err) : status;
}

/* Frees what the problem had elsewhere before; false: there is no such. */
static bool close_stale(struct shmt_bench_group *group,
                        const int64_t *problem)
{
    const size_t stale = find_member(group, problem, true);

    if (group->count < 2 || stale == group->count ||
        shmt_bench_group_lost(group))
        return false;
    close_at(group, stale);
    return true;
}

enum shmtune_status
shmt_bench_group_measure(struct shmt_bench_group *group,
                         const struct shmt_bench_request *request,
                         struct shmt_result *result,
                         struct shmt_bench_note *note, struct shmt_error *err)
{
    enum shmtune_status status = measure(group, request, result, note, err);
    const bool full = status == SHMTUNE_NO_MEMORY ||
                      (status == SHMTUNE_OK &&
                       result->verdict == SHMT_VERDICT_OUT_OF_MEMORY);

    /* What lacks may be what it had before, which it does not need any more, or
     * what the others hold, which have to be prepared again then. */
    if (close_stale(group, request->problem) && full)
        status = measure(group, request, result, note, err);
    if (status == SHMTUNE_NO_MEMORY && group->count > 1) {
        while (group->count > 1)
            close_at(group, group->count - 1);
        if (!is_for(&group->members[0], request->problem))
            shmt_bench_problem_free(group->members[0].bench);
        status = measure(group, request, result, note, err);
    }
    return status;
}

enum shmtune_status
shmt_bench_group_rerun(struct shmt_bench_group *group,
                       const struct shmt_bench_request *request,
                       size_t poisoned, struct shmt_result *result,
                       struct shmt_rerun *out, struct shmt_error *err)
{
    const enum shmtune_status status = find(group, request->problem, err);

    return status == SHMTUNE_OK
               ? shmt_bench_rerun(group->members[0].bench, request, poisoned,
                                  result, out, err) : status;
}

void shmt_bench_group_renew(struct shmt_bench_group *group,
                            const int64_t *problem)
{
    const size_t k = find_member(group, problem, false);

    if (k < group->count)
        group->members[k].stale = true;
}

/* The last one is kept without its problem, and the context with it. */
void shmt_bench_group_forget(struct shmt_bench_group *group,
                             const int64_t *problem)
{
    for (size_t k = group->count; k-- > 0;)
        if (is_for(&group->members[k], problem)) {
            if (group->count > 1)
                close_at(group, k);
            else
                shmt_bench_problem_free(group->members[0].bench);
        }
    group->members[0].stale = group->members[0].stale &&
                              group->members[0].bench->prepared;
}

bool shmt_bench_group_lost(const struct shmt_bench_group *group)
{
    for (size_t k = 0; k < group->count; k++)
        if (shmt_bench_context_lost(group->members[k].bench))
            return true;
    return false;
}
