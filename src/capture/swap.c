/* SPDX-License-Identifier: MIT */
/*
 * swap: tuned kernels in the executable graphs of the application.  Between two
 * launches a node of one gets other parameters, and all else of the graph stays
 * as it is.  A graph is tried as a kernel is, by trial.c, as a whole: its
 * launches are made as tuned, and as they were, in turns.  Called by graph.c.
 */
#include "capture/library.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A kernel of it, and what becomes of it. */
struct swap {
    CUgraphNode node;          /* of the graph that it was made from */
    CUDA_KERNEL_NODE_PARAMS own, tuned;
    unsigned char *bytes;      /* of its parameters */
    void **arguments;          /* as it was, and then as tuned */
    struct shmt_capture_trial *alone;  /* of launches of the kernel */
    const char *name;
    bool is_tuned;             /* in the executable graph */
};

/* Graphs that have the same kernels in their places are tried together: a
 * program may make the same graph again and again. */
struct tried {
    struct tried *next;
    size_t node_count, swap_count;
    struct shmt_capture_trial **alone;
    char name[1024];
    struct shmt_capture_trial trial;
};

struct shmt_capture_swaps {
    const struct shmt_capture_driver *driver;
    size_t node_count, count;
    struct swap *items;
    struct tried *tried;
    bool over;                 /* the driver does not change its nodes */
};

/* -- one kernel ----------------------------------------------------------- */

static void free_swap(struct swap *swap)
{
    free(swap->bytes);
    free(swap->arguments);
}

/* The parameters themselves: the node's go with the graph. */
static bool keep_arguments(struct swap *swap,
                           const struct shmt_capture_layout *layout,
                           void *const *given)
{
    size_t size = 0, at = 0;

    for (size_t k = 0; k < layout->count; k++)
        size += layout->sizes[k];
    swap->bytes = malloc(size + 1);
    swap->arguments = calloc(2 * layout->count + 1, sizeof(void *));
    if (swap->bytes == NULL || swap->arguments == NULL)
        return false;
    for (size_t k = 0; k < layout->count; k++) {
        swap->arguments[k] =
            memcpy(swap->bytes + at, given[k], layout->sizes[k]);
        at += layout->sizes[k];
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
static bool fill(struct swap *swap, struct shmt_capture_launch *launch)
{
    void *given[SHMT_CAPTURE_PARAMETERS];
    struct shmt_capture_replacement by;
    struct shmt_capture_function function;
    struct shmt_capture_layout layout;
    const char *why;

    if (!shmt_capture_function_of(launch->handle, &function) ||
        !shmt_capture_replace_knows(&function))
        return false;
    why = shmt_capture_layout_of(&function, launch->handle, &layout);
    if (why == NULL)
        why = shmt_capture_arguments(launch, &layout, given);
    if (why == NULL && !keep_arguments(swap, &layout, given))
        why = "there is no memory";
    if (why != NULL) {
        shmt_capture_note("%s stays as it is: %s", function.name, why);
        return false;
    }
    launch->arguments = swap->arguments;
    if (!shmt_capture_replace_node(&function, launch, &by))
        return false;
    memcpy(swap->arguments + layout.count, by.arguments,
           layout.count * sizeof(void *));
    swap->own = params_of(launch->grid, launch->block, launch->shared,
                          swap->arguments);
    if (function.is_kernel)
        swap->own.kern = (CUkernel)launch->handle;
    else
        swap->own.func = launch->handle;
    swap->tuned = params_of(by.grid, by.block, by.shared,
                            swap->arguments + layout.count);
    swap->tuned.func = by.function;
    swap->alone = by.trial;
    swap->name = function.name;
    return true;
}

static bool make_swap(struct swap *swap, CUgraphNode node,
                      struct shmt_capture_launch *launch)
{
    *swap = (struct swap){.node = node};
    if (fill(swap, launch))
        return true;
    free_swap(swap);
    return false;
}

static bool read_swap(const struct shmt_capture_driver *driver,
                      CUgraphNode node, struct swap *swap)
{
    struct shmt_capture_launch launch;

    return shmt_capture_node_is_kernel(driver, node) &&
           !shmt_capture_node_is_updatable(driver, node) &&
           shmt_capture_node_launch(driver, node, &launch) &&
           make_swap(swap, node, &launch);
}

/* -- a graph -------------------------------------------------------------- */

void shmt_capture_swaps_free(struct shmt_capture_swaps *swaps)
{
    for (size_t k = 0; swaps != NULL && k < swaps->count; k++)
        free_swap(&swaps->items[k]);
    if (swaps != NULL)
        free(swaps->items);
    free(swaps);
}

static bool is_same(const struct tried *tried,
                    const struct shmt_capture_swaps *swaps)
{
    bool same = tried->node_count == swaps->node_count &&
                tried->swap_count == swaps->count;

    for (size_t k = 0; same && k < swaps->count; k++)
        same = tried->alone[k] == swaps->items[k].alone;
    return same;
}

static void name_it(struct tried *tried,
                    const struct shmt_capture_swaps *swaps)
{
    if (swaps->count == 1)
        snprintf(tried->name, sizeof tried->name, "a graph with %s",
                 swaps->items[0].name);
    else
        snprintf(tried->name, sizeof tried->name,
                 "a graph with %s and %zu more", swaps->items[0].name,
                 swaps->count - 1);
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
    made->node_count = swaps->node_count;
    made->swap_count = swaps->count;
    for (size_t k = 0; k < swaps->count; k++) {
        made->alone[k] = swaps->items[k].alone;
        atomic_store(&made->alone[k]->of_graph, &made->trial);
        shmt_capture_note("%s is tuned in a graph, which is launched as a "
                          "whole", swaps->items[k].name);
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

struct shmt_capture_swaps *
shmt_capture_swaps_of(const struct shmt_capture_driver *driver, CUgraph from)
{
    struct shmt_capture_swaps *swaps = calloc(1, sizeof *swaps);
    CUgraphNode *nodes = NULL;

    if (swaps == NULL)
        return NULL;
    swaps->driver = driver;
    if (driver->GraphGetNodes(from, NULL, &swaps->node_count) == CUDA_SUCCESS)
        nodes = calloc(swaps->node_count + 1, sizeof(CUgraphNode));
    swaps->items = calloc(swaps->node_count + 1, sizeof *swaps->items);
    if (nodes != NULL && swaps->items != NULL &&
        driver->GraphGetNodes(from, nodes, &swaps->node_count) == CUDA_SUCCESS)
        for (size_t k = 0; k < swaps->node_count; k++)
            swaps->count += read_swap(driver, nodes[k],
                                      &swaps->items[swaps->count]);
    free(nodes);
    if (swaps->count > 0)
        swaps->tried = tried_of(swaps);
    if (swaps->tried != NULL)
        return swaps;
    shmt_capture_swaps_free(swaps);
    return NULL;
}

void shmt_capture_swaps_set(struct shmt_capture_swaps *swaps, CUgraphNode node,
                            const CUDA_KERNEL_NODE_PARAMS *params)
{
    struct shmt_capture_launch launch;
    size_t k = 0;

    while (k < swaps->count && swaps->items[k].node != node)
        k++;
    if (k == swaps->count)
        return;
    free_swap(&swaps->items[k]);
    if (params != NULL)
        launch = shmt_capture_node_given(params);
    if (params == NULL || !make_swap(&swaps->items[k], node, &launch))
        swaps->items[k] = swaps->items[--swaps->count];
}

/* -- a launch ------------------------------------------------------------- */

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

/* `anew`: so that it takes as long where they are so already. */
static CUresult set_all(struct shmt_capture_swaps *swaps, CUgraphExec exec,
                        bool tuned, bool anew)
{
    CUresult result = CUDA_SUCCESS;

    for (size_t k = 0; k < swaps->count && result == CUDA_SUCCESS; k++)
        if (anew || swaps->items[k].is_tuned != tuned)
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
    struct shmt_capture_trial *const trial = &swaps->tried->trial;
    struct shmt_capture_turn turn;
    char room[32], why[96];
    CUresult result;

    if (swaps->over || swaps->count == 0)
        return real(exec, stream);
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
