/* SPDX-License-Identifier: MIT */
/*
 * capture_list: the kernels of a program by the time that they take, from what
 * the capturing library has summed up.  Called by capture.c.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/capture.h"
#include "command/capture_list.h"
#include "command/draft.h"
#include "command/json.h"

struct sum {
    unsigned long long timed;
    double ms;
};

/* A line of the library. */
struct kernel {
    unsigned long long launches, in_graphs, untimed;   /* untimed: in graphs */
    struct sum others, first;      /* first: the first of each function */
    double ms;                     /* of all launches */
    unsigned grid[3], block[3];
    const char *name;
};

struct kernels {
    struct shmt_arena *arena;
    struct kernel *items;
    size_t count;
    bool cut;                      /* a process said nothing of its end */
};

static int by_time(const void *one, const void *other)
{
    const double a = ((const struct kernel *)one)->ms;
    const double b = ((const struct kernel *)other)->ms;

    return (a < b) - (a > b);
}

static void add_sum(struct sum *to, const struct sum *sum)
{
    to->timed += sum->timed;
    to->ms += sum->ms;
}

/* What all launches take when each takes what others than the first ones took,
 * in which the code was loaded; where there is no other, what these took. */
static void set_time(struct kernel *one)
{
    const struct sum *sum = one->others.timed > 0 ? &one->others : &one->first;

    if (sum->timed > 0)
        one->ms = sum->ms * (double)one->launches / (double)sum->timed;
}

static bool read_line(struct kernels *kernels, char *line)
{
    struct kernel one = {0};
    int length = 0;

    if (sscanf(line, "%llu %llu %llu %llu %lf %llu %lf %u %u %u %u %u %u %n",
               &one.launches, &one.in_graphs, &one.untimed, &one.others.timed,
               &one.others.ms, &one.first.timed, &one.first.ms, &one.grid[0],
               &one.grid[1], &one.grid[2], &one.block[0], &one.block[1],
               &one.block[2], &length) != 13 || length == 0)
        return true;
    one.name = line + length;
    for (size_t k = 0; k < kernels->count; k++)
        if (strcmp(kernels->items[k].name, one.name) == 0) {
            kernels->items[k].launches += one.launches;
            kernels->items[k].in_graphs += one.in_graphs;
            kernels->items[k].untimed += one.untimed;
            add_sum(&kernels->items[k].others, &one.others);
            add_sum(&kernels->items[k].first, &one.first);
            return true;
        }
    one.name = shmt_arena_copy(kernels->arena, one.name, strlen(one.name));
    kernels->items[kernels->count++] = one;
    return one.name != NULL;
}

static enum shmtune_status read_file(struct kernels *kernels,
                                     const char *path, struct shmt_error *err)
{
    const char *data;
    char *line, *end;
    size_t size, lines = 0;
    bool ended = false;
    struct kernel *items;
    const enum shmtune_status status = shmt_path_read(
        kernels->arena, path, 64 << 20, &data, &size, err);

    if (status != SHMTUNE_OK)
        return status;
    for (size_t k = 0; k < size; k++)
        lines += data[k] == '\n';
    items = shmt_arena_alloc(kernels->arena, kernels->count + lines + 1,
                             sizeof *items);
    line = shmt_arena_copy(kernels->arena, data, size);
    if (items == NULL || line == NULL)
        return shmt_error_memory(err);
    if (kernels->count > 0)
        memcpy(items, kernels->items, kernels->count * sizeof *items);
    kernels->items = items;
    for (; (end = strchr(line, '\n')) != NULL; line = end + 1) {
        *end = '\0';
        ended = ended || strcmp(line, SHMT_CAPTURE_TIMES_END) == 0;
        if (!read_line(kernels, line))
            return shmt_error_memory(err);
    }
    kernels->cut = kernels->cut || !ended;
    return SHMTUNE_OK;
}

static enum shmtune_status read_all(struct kernels *kernels,
                                    const char *folder,
                                    struct shmt_error *err)
{
    const char *const *names;
    size_t count;
    enum shmtune_status status = shmt_path_list(kernels->arena, folder, "",
                                                &names, &count, err);

    for (size_t k = 0; status == SHMTUNE_OK && k < count; k++) {
        const char *path = shmt_path_join(kernels->arena, folder, names[k]);

        if (strncmp(names[k], SHMT_CAPTURE_TIMES,
                    sizeof SHMT_CAPTURE_TIMES - 1) != 0)
            continue;
        status = path == NULL ? shmt_error_memory(err)
                              : read_file(kernels, path, err);
    }
    return status;
}

static bool is_of_first(const struct kernel *one)
{
    return one->others.timed == 0 && one->first.timed > 0;
}

static bool is_timed(const struct kernel *one)
{
    return one->others.timed > 0 || one->first.timed > 0;
}

static void add_row(struct shmt_table *table, struct shmt_arena *arena,
                    const struct kernel *one, double all_ms)
{
    const char *name = shmt_draft_plain_name(arena, one->name);

    if (is_timed(one)) {
        shmt_table_add(table, "%.1f %%",
                       all_ms > 0 ? 100 * one->ms / all_ms : 0);
        shmt_table_add(table, "%.3f", one->ms);
        shmt_table_add(table, "%llu", one->launches);
        shmt_table_add(table, "%.2f", 1e3 * one->ms / (double)one->launches);
    } else {
        shmt_table_add(table, "-");
        shmt_table_add(table, "-");
        shmt_table_add(table, "%llu", one->launches);
        shmt_table_add(table, "-");
    }
    shmt_table_add(table, "%u x %u x %u", one->grid[0], one->grid[1],
                   one->grid[2]);
    shmt_table_add(table, "%u x %u x %u", one->block[0], one->block[1],
                   one->block[2]);
    shmt_table_add(table, "%s%s", name == NULL ? one->name : name,
                   is_of_first(one)      ? " (its first launches only)"
                   : !is_timed(one)      ? " (not timed)"
                   : one->untimed > 0    ? " (not all timed)" : "");
}

static json_t *three(const unsigned of[3])
{
    json_t *const list = json_array();

    for (size_t k = 0; k < 3; k++)
        json_array_append_new(list, json_integer(of[k]));
    return list;
}

static enum shmtune_status print_json(const struct kernels *kernels,
                                      struct shmt_error *err)
{
    json_t *const list = json_array();

    for (size_t k = 0; k < kernels->count; k++) {
        const struct kernel *one = &kernels->items[k];
        const char *name = shmt_draft_plain_name(kernels->arena, one->name);

        json_array_append_new(list, shmt_json_object(
            "kernel", shmt_json_text(name == NULL ? one->name : name),
            "symbol", shmt_json_text(one->name),
            "ms", shmt_json_real(one->ms),
            "launches", shmt_json_count(one->launches),
            "in_graphs", shmt_json_count(one->in_graphs),
            "untimed", shmt_json_count(one->untimed),
            "us_each", !is_timed(one) ? json_null()
                                      : shmt_json_real(1e3 * one->ms /
                                                       (double)one->launches),
            "first_only", json_boolean(is_of_first(one)),
            "last_grid", three(one->grid),
            "last_block", three(one->block), NULL));
    }
    return shmt_json_print("kernels", shmt_json_object("kernels", list, NULL),
                           err);
}

enum shmtune_status
shmt_command_list_captured(const struct shmt_command_captured *captured,
                           struct shmt_error *err)
{
    const struct shmt_command_call *const call = captured->call;
    struct shmt_arena *const arena = captured->arena;
    struct kernels kernels = {.arena = arena};
    struct shmt_table table = {
        .titles = ">share|>ms|>launches|>us each|>last grid|>last block|"
                  "kernel"};
    struct shmt_text text = {0};
    double all_ms = 0;
    const enum shmtune_status status = read_all(&kernels, captured->folder,
                                                 err);

    if (status != SHMTUNE_OK)
        return status;
    if (kernels.cut && !call->quiet)
        shmt_command_tell("", "the program, or a part of it, ended by a "
                          "signal, _exit or exec: its last launches may be "
                          "missing");
    if (kernels.count == 0 && !captured->json) {
        if (!call->quiet)
            shmt_command_tell("", "the program launched no kernel that could "
                              "be seen");
        return SHMTUNE_OK;
    }
    for (size_t k = 0; k < kernels.count; k++) {
        set_time(&kernels.items[k]);
        all_ms += kernels.items[k].ms;
    }
    if (kernels.count > 0)
        qsort(kernels.items, kernels.count, sizeof *kernels.items, by_time);
    if (captured->json)
        return print_json(&kernels, err);
    for (size_t k = 0; k < kernels.count; k++)
        add_row(&table, arena, &kernels.items[k], all_ms);
    shmt_table_end(&table, call, &text);
    return shmt_command_print(&text, err);
}
