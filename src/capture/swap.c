/* SPDX-License-Identifier: MIT */
/*
 * swap: tuned kernels in the executable graphs of the application.  Between two
 * launches a node of one gets other parameters, and all else of the graph stays
 * as it is.  A graph is tried as a kernel is, by trial.c, as a whole: its
 * launches are made as tuned, and as they were, in turns.  Called by graph.c.
 */
#include "capture/graph.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A node with a kernel that has something in the place of some launch. */
struct swap {
    CUgraphNode node;          /* of the graph that it was made from */
    size_t place;              /* in the shape of this graph */
    struct shmt_capture_launch seen;   /* the arguments are not kept */
    /* What is in the place of this one. */
    CUDA_KERNEL_NODE_PARAMS own, tuned;
    unsigned char *bytes;      /* of its arguments */
    void **arguments;          /* as it was, and then as tuned */
    size_t room, argument_room;
    struct shmt_capture_trial *alone;  /* of launches of the kernel; or NULL:
                                        * nothing is */
    const char *name;
    bool is_tuned;             /* in the executable graph */
};

/* Graphs that have the same kernels in their places are tried together: a
 * program may make the same graph again and again. */
struct tried {
    struct tried *next;
    size_t node_count, count;
    struct shmt_capture_trial **alone;
    char name[1024];
    struct shmt_capture_trial trial;
};

struct shmt_capture_swaps {
    const struct shmt_capture_driver *driver;
    struct shmt_capture_shape shape;
    size_t count;
    struct swap *items;
    struct tried *tried;       /* NULL: nothing is replaced */
    bool settled;              /* that is of what is replaced now */
    bool over;                 /* the driver does not change its nodes */
    bool told;                 /* that it is not known what is where */
};

/* -- one kernel ----------------------------------------------------------- */

/* It is as the application has it. */
static void clear(struct swap *swap)
{
    swap->alone = NULL;
    swap->is_tuned = false;
}

/* The arguments themselves: the node's go with the graph, and those that the
 * application gives with its call. */
static bool keep_arguments(struct swap *swap,
                           const struct shmt_capture_own *own,
                           void *const *tuned)
{
    size_t size = 0, at = 0;

    for (size_t k = 0; k < own->count; k++)
        size += own->sizes[k];
    if (!shmt_array_reserve(&swap->bytes, &swap->room, size + 1, 1) ||
        !shmt_array_reserve(&swap->arguments, &swap->argument_room,
                            2 * own->count + 1, sizeof *swap->arguments))
        return false;
    for (size_t k = 0; k < own->count; k++) {
        void *const copy = memcpy(swap->bytes + at, own->arguments[k],
                                  own->sizes[k]);

        swap->arguments[k] = copy;
        swap->arguments[own->count + k] =
            tuned[k] == own->arguments[k] ? copy : tuned[k];
        at += own->sizes[k];
    }
    return true;
}

/* Of whatever function. */
static CUDA_KERNEL_NODE_PARAMS params_of(const unsigned grid[3],
                                         const unsigned block[3],
                                         unsigned shared, void **arguments)
{
    return (CUDA_KERNEL_NODE_PARAMS){
        .gridDimX = grid[0], .gridDimY = grid[1], .gridDimZ = grid[2],
        .blockDimX = block[0], .blockDimY = block[1], .blockDimZ = block[2],
        .sharedMemBytes = shared, .kernelParams = arguments};
}

/* What is in the place of this launch, if anything is. */
static void fill(struct swap *swap, const struct shmt_capture_launch *launch)
{
    struct shmt_capture_replacement by;
    struct shmt_capture_own own;
    struct shmt_capture_function function;

    if (!shmt_capture_function_of(launch->handle, &function) ||
        !shmt_capture_replace_node(&function, launch, &by, &own) ||
        !keep_arguments(swap, &own, by.arguments))
        return;
    swap->own = params_of(launch->grid, launch->block, launch->shared,
                          swap->arguments);
    if (function.is_kernel)
        swap->own.kern = (CUkernel)launch->handle;
    else
        swap->own.func = launch->handle;
    swap->tuned = params_of(by.grid, by.block, by.shared,
                            swap->arguments + own.count);
    swap->tuned.func = by.function;
    swap->alone = by.trial;
    swap->name = function.name;
}

/* The application's launch is this one now. */
static void put(struct swap *swap, const struct shmt_capture_launch *launch)
{
    clear(swap);
    swap->seen = *launch;
    fill(swap, launch);
}

static CUresult set(CUgraphExec exec, struct swap *swap, bool tuned)
{
    __typeof__(cuGraphExecKernelNodeSetParams_v2) *set_params;
    CUresult result = CUDA_ERROR_NOT_SUPPORTED;

    shmt_capture_real(SHMT_CAPTURE_cuGraphExecKernelNodeSetParams_v2,
                      &set_params);
    if (set_params != NULL)
        result = set_params(exec, swap->node,
                            tuned ? &swap->tuned : &swap->own);
    if (result == CUDA_SUCCESS)
        swap->is_tuned = tuned;
    return result;
}

/* The launch of a node, if it is one that can be replaced. */
static bool read_node(const struct shmt_capture_driver *driver,
                      CUgraphNode node, struct shmt_capture_launch *out)
{
    return shmt_capture_node_is_kernel(driver, node) &&
           !shmt_capture_node_is_updatable(driver, node) &&
           shmt_capture_node_launch(driver, node, out);
}

static bool is_known(const struct shmt_capture_launch *launch)
{
    struct shmt_capture_function function;

    return shmt_capture_function_of(launch->handle, &function) &&
           shmt_capture_replace_knows(&function);
}

/* -- a graph -------------------------------------------------------------- */

void shmt_capture_swaps_free(struct shmt_capture_swaps *swaps)
{
    if (swaps == NULL)
        return;
    for (size_t k = 0; k < swaps->count; k++) {
        free(swaps->items[k].bytes);
        free(swaps->items[k].arguments);
    }
    free(swaps->items);
    shmt_capture_shape_free(&swaps->shape);
    free(swaps);
}

static bool is_same(const struct tried *tried,
                    const struct shmt_capture_swaps *swaps)
{
    bool same = tried->node_count == swaps->shape.node_count &&
                tried->count == swaps->count;

    for (size_t k = 0; same && k < swaps->count; k++)
        same = tried->alone[k] == swaps->items[k].alone;
    return same;
}

/* The kernels that are replaced: how many, and the name of the first. */
static size_t count_replaced(const struct shmt_capture_swaps *swaps,
                             const char **name)
{
    size_t count = 0;

    for (size_t k = swaps->count; k-- > 0;)
        if (swaps->items[k].alone != NULL) {
            *name = swaps->items[k].name;
            count++;
        }
    return count;
}

static void name_it(struct tried *tried,
                    const struct shmt_capture_swaps *swaps)
{
    const char *name = NULL;
    const size_t count = count_replaced(swaps, &name);

    if (count == 1)
        snprintf(tried->name, sizeof tried->name, "a graph with %s", name);
    else
        snprintf(tried->name, sizeof tried->name,
                 "a graph with %s and %zu more", name, count - 1);
}

static struct tried *make_tried(const struct shmt_capture_swaps *swaps)
{
    struct tried *made = calloc(1, sizeof *made);

    if (made != NULL)
        made->alone = calloc(swaps->count, sizeof(void *));
    if (made == NULL || made->alone == NULL) {
        free(made);
        return NULL;
    }
    made->node_count = swaps->shape.node_count;
    made->count = swaps->count;
    for (size_t k = 0; k < swaps->count; k++) {
        const struct swap *swap = &swaps->items[k];

        made->alone[k] = swap->alone;
        if (swap->alone == NULL)
            continue;
        atomic_store(&swap->alone->of_graph, &made->trial);
        shmt_capture_note("%s is tuned in a graph, which is launched as a "
                          "whole", swap->name);
    }
    name_it(made, swaps);
    return made;
}

/* Never freed: a trial is not. */
static struct tried *tried_of(const struct shmt_capture_swaps *swaps)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static struct tried *all;
    struct tried *found;

    pthread_mutex_lock(&lock);
    found = all;
    while (found != NULL && !is_same(found, swaps))
        found = found->next;
    if (found == NULL) {
        found = make_tried(swaps);
        if (found != NULL) {
            found->next = all;
            all = found;
        }
    }
    pthread_mutex_unlock(&lock);
    return found;
}

/* Before a launch: a program may change one node after the other. */
static void settle(struct shmt_capture_swaps *swaps)
{
    const char *name;

    if (swaps->settled)
        return;
    swaps->tried = count_replaced(swaps, &name) > 0 ? tried_of(swaps) : NULL;
    swaps->settled = true;
}

static void find_swaps(struct shmt_capture_swaps *swaps)
{
    for (size_t k = 0; k < swaps->shape.node_count; k++) {
        struct swap *const swap = &swaps->items[swaps->count];
        struct shmt_capture_launch launch;

        if (!read_node(swaps->driver, swaps->shape.nodes[k], &launch) ||
            !is_known(&launch))
            continue;
        *swap = (struct swap){.node = swaps->shape.nodes[k], .place = k};
        put(swap, &launch);
        swaps->count++;
    }
}

struct shmt_capture_swaps *
shmt_capture_swaps_of(const struct shmt_capture_driver *driver, CUgraph from)
{
    struct shmt_capture_swaps *swaps = calloc(1, sizeof *swaps);

    if (swaps == NULL)
        return NULL;
    swaps->driver = driver;
    if (shmt_capture_shape_read(driver, from, &swaps->shape))
        swaps->items = calloc(swaps->shape.node_count + 1,
                              sizeof *swaps->items);
    if (swaps->items != NULL)
        find_swaps(swaps);
    settle(swaps);
    if (swaps->count > 0)
        return swaps;
    shmt_capture_swaps_free(swaps);
    return NULL;
}

static struct swap *find(struct shmt_capture_swaps *swaps, CUgraphNode node)
{
    for (size_t k = 0; k < swaps->count; k++)
        if (swaps->items[k].node == node)
            return &swaps->items[k];
    return NULL;
}

static void give(struct swap *swap, const CUDA_KERNEL_NODE_PARAMS *params)
{
    struct shmt_capture_launch launch = swap->seen;

    shmt_capture_node_give(&launch, params);
    put(swap, &launch);
}

void shmt_capture_swaps_set(struct shmt_capture_swaps *swaps, CUgraphNode node,
                            const CUDA_KERNEL_NODE_PARAMS *params)
{
    struct swap *const swap = find(swaps, node);
    const struct shmt_capture_trial *before;

    if (swap == NULL)
        return;
    before = swap->alone;
    give(swap, params);
    swaps->settled = swaps->settled && swap->alone == before;
}

bool shmt_capture_swaps_set_tuned(struct shmt_capture_swaps *swaps,
                                  CUgraphExec exec, CUgraphNode node,
                                  const CUDA_KERNEL_NODE_PARAMS *params)
{
    struct swap *const swap = find(swaps, node);
    const struct shmt_capture_trial *before;

    if (swap == NULL || !swap->is_tuned)
        return false;
    before = swap->alone;
    give(swap, params);
    if (swap->alone == NULL || set(exec, swap, true) != CUDA_SUCCESS)
        clear(swap);
    swaps->settled = swaps->settled && swap->alone == before;
    return swap->is_tuned;
}

static void tell_unknown(struct shmt_capture_swaps *swaps)
{
    if (swaps->tried == NULL || swaps->told)
        return;
    shmt_capture_note("%s stays as it is where it is updated by one of which "
                      "it is not known which node is in the place of which",
                      swaps->tried->name);
    swaps->told = true;
}

void shmt_capture_swaps_update(struct shmt_capture_swaps *swaps, CUgraph from)
{
    struct shmt_capture_shape shape;
    bool same;

    if (swaps->over)
        return;
    same = shmt_capture_shape_read(swaps->driver, from, &shape) &&
           shmt_capture_shape_is_same(swaps->driver, &swaps->shape, &shape);
    if (!same)
        tell_unknown(swaps);
    for (size_t k = 0; k < swaps->count; k++) {
        struct swap *const swap = &swaps->items[k];
        struct shmt_capture_launch launch;

        clear(swap);
        if (same &&
            read_node(swaps->driver, shape.nodes[swap->place], &launch))
            put(swap, &launch);
    }
    shmt_capture_shape_free(&shape);
    swaps->settled = false;
}

/* -- a launch ------------------------------------------------------------- */

/* `anew`: so that it takes as long where they are so already. */
static CUresult set_all(struct shmt_capture_swaps *swaps, CUgraphExec exec,
                        bool tuned, bool anew)
{
    CUresult result = CUDA_SUCCESS;

    for (size_t k = 0; k < swaps->count && result == CUDA_SUCCESS; k++)
        if (swaps->items[k].alone != NULL &&
            (anew || swaps->items[k].is_tuned != tuned))
            result = set(exec, &swaps->items[k], tuned);
    return result;
}

/* Those that were changed are its own again. */
static void take_back(struct shmt_capture_swaps *swaps, CUgraphExec exec)
{
    swaps->over = true;
    for (size_t k = 0; k < swaps->count; k++)
        if (swaps->items[k].is_tuned)
            (void)set(exec, &swaps->items[k], false);
}

CUresult shmt_capture_swaps_launch(struct shmt_capture_swaps *swaps,
                                   __typeof__(cuGraphLaunch) *real,
                                   CUgraphExec exec, CUstream stream,
                                   CUstream seen_as)
{
    struct shmt_capture_trial *trial;
    struct shmt_capture_turn turn;
    char room[32], why[96];
    CUresult result;

    if (swaps->over)
        return real(exec, stream);
    settle(swaps);
    if (swaps->tried == NULL)
        return real(exec, stream);
    trial = &swaps->tried->trial;
    turn = shmt_capture_trial_begin(trial, swaps->tried->name, seen_as);
    result = set_all(swaps, exec, turn.tuned, turn.launch >= 0);
    if (result == CUDA_SUCCESS)
        result = real(exec, stream);
    if (result == CUDA_SUCCESS) {
        shmt_capture_trial_end(trial, turn.launch, seen_as, NULL);
        return CUDA_SUCCESS;
    }
    snprintf(why, sizeof why, "a launch of it fails, by %s",
             shmt_capture_error(swaps->driver, result, room));
    if (turn.launch < 0)
        shmt_capture_note("%s stays as it is: %s", swaps->tried->name, why);
    take_back(swaps, exec);
    shmt_capture_trial_end(trial, turn.launch, seen_as, why);
    return real(exec, stream);
}
