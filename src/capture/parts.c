/* SPDX-License-Identifier: MIT */
/*
 * parts: a graph is launched in parts, one behind the other: what comes before
 * a kernel that is to be captured or timed, the kernel alone, what comes behind
 * it, and so on.  Each part is a copy of the graph without all other nodes, so
 * that the kernel keeps all that the application has said of it.  Called by
 * graph.c.
 */
#include "capture/graph.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct part {
    size_t first, end;         /* nodes of the graph */
    struct shmt_capture_node *kernel;  /* that is due; or NULL */
    CUgraphExec exec;
};

struct parts {
    const struct shmt_capture_driver *driver;
    struct shmt_capture_graph *graph;
    CUstream stream;
    size_t count;
    struct part *items;
};

static void leave_out(struct shmt_capture_node *kernel, const char *why)
{
    kernel->left = true;
    if (shmt_capture_setting()->list)
        shmt_capture_times_count(kernel);
    else
        shmt_capture_launch_leave_out(kernel->handle, kernel->grid, why);
}

/* -- making them ---------------------------------------------------------- */

static void add(struct parts *parts, size_t first, size_t end,
                struct shmt_capture_node *kernel)
{
    if (first < end)
        parts->items[parts->count++] =
            (struct part){.first = first, .end = end, .kernel = kernel};
}

/* The kernels that are due are in the order of the nodes. */
static void split(struct parts *parts)
{
    const struct shmt_capture_graph *graph = parts->graph;
    size_t first = 0, at = 0;

    for (size_t k = 0; k < graph->kernel_count; k++) {
        if (!graph->kernels[k].due)
            continue;
        while (graph->nodes[at] != graph->kernels[k].node)
            at++;
        add(parts, first, at, NULL);
        add(parts, at, at + 1, &graph->kernels[k]);
        first = at + 1;
    }
    add(parts, first, graph->node_count, NULL);
}

static CUresult keep_alone(const struct parts *parts, const struct part *part,
                           CUgraph copy)
{
    const struct shmt_capture_driver *driver = parts->driver;
    CUresult result = CUDA_SUCCESS;
    CUgraphNode node;

    for (size_t k = 0;
         k < parts->graph->node_count && result == CUDA_SUCCESS; k++) {
        if (k >= part->first && k < part->end)
            continue;
        result = driver->GraphNodeFindInClone(&node, parts->graph->nodes[k],
                                              copy);
        if (result == CUDA_SUCCESS)
            result = driver->GraphDestroyNode(node);
    }
    return result;
}

static CUresult make(const struct parts *parts, struct part *part)
{
    const struct shmt_capture_driver *driver = parts->driver;
    CUgraph copy;
    CUresult result = driver->GraphClone(&copy, parts->graph->clone);

    if (result != CUDA_SUCCESS)
        return result;
    result = keep_alone(parts, part, copy);
    if (result == CUDA_SUCCESS)
        result = driver->GraphInstantiateWithFlags(&part->exec, copy,
                                                   parts->graph->flags);
    if (result != CUDA_SUCCESS)
        part->exec = NULL;
    driver->GraphDestroy(copy);
    return result;
}

/* -- launching them ------------------------------------------------------- */

static CUresult launch_part(const struct parts *parts, const struct part *part)
{
    return parts->driver->GraphLaunch(part->exec, parts->stream);
}

static CUresult capture(const struct parts *parts, const struct part *part)
{
    struct shmt_capture_node *const kernel = part->kernel;
    struct shmt_capture_launch launch;
    struct shmt_capture_snapshot *snapshot = NULL;
    CUresult result;

    if (shmt_capture_node_launch(parts->driver, kernel->node, &launch)) {
        launch.stream = parts->stream;
        snapshot = shmt_capture_launch_begin(&launch);
        kernel->left = snapshot == NULL;
    } else {
        leave_out(kernel, "the driver does not say what its node has");
    }
    result = launch_part(parts, part);
    if (snapshot != NULL)
        shmt_capture_launch_end(kernel->handle, snapshot, result);
    return result;
}

static CUresult time_part(const struct parts *parts, const struct part *part)
{
    const struct shmt_capture_node *kernel = part->kernel;
    const struct shmt_capture_launch launch = {
        .handle = kernel->handle, .stream = parts->stream,
        .grid = {kernel->grid[0], kernel->grid[1], kernel->grid[2]},
        .block = {kernel->block[0], kernel->block[1], kernel->block[2]}};
    const int at = shmt_capture_times_begin(&launch);
    const CUresult result = launch_part(parts, part);

    if (at >= 0)
        shmt_capture_times_end(at, &launch);
    return result;
}

/* Those behind one that is not launched are not, either. */
static CUresult launch_all(const struct parts *parts)
{
    CUresult result = CUDA_SUCCESS;

    for (size_t k = 0; k < parts->count; k++) {
        const struct part *part = &parts->items[k];

        if (result == CUDA_SUCCESS)
            result = part->kernel == NULL ? launch_part(parts, part)
                     : shmt_capture_setting()->list
                         ? time_part(parts, part) : capture(parts, part);
        else if (part->kernel != NULL)
            leave_out(part->kernel, "its graph was not launched to its end");
    }
    return result;
}

static void leave_out_all(const struct parts *parts, CUresult code)
{
    char room[32], why[96];

    snprintf(why, sizeof why, "its graph cannot be launched in parts: %s",
             shmt_capture_error(parts->driver, code, room));
    for (size_t k = 0; k < parts->graph->kernel_count; k++)
        if (parts->graph->kernels[k].due)
            leave_out(&parts->graph->kernels[k], why);
}

/* An executable graph is launched behind its own launches on other streams,
 * before and behind: an upload waits for those before, and those behind find
 * all parts done. */
static bool launch_parts(struct parts *parts, CUgraphExec exec,
                         CUresult *result)
{
    CUresult made = parts->items == NULL ? CUDA_ERROR_OUT_OF_MEMORY
                                         : CUDA_SUCCESS;

    if (made == CUDA_SUCCESS)
        split(parts);
    for (size_t k = 0; k < parts->count && made == CUDA_SUCCESS; k++)
        made = make(parts, &parts->items[k]);
    if (made == CUDA_SUCCESS)
        made = parts->driver->GraphUpload(exec, parts->stream);
    if (made == CUDA_SUCCESS) {
        *result = launch_all(parts);
        shmt_capture_await(parts->driver, parts->stream);
    } else {
        leave_out_all(parts, made);
    }
    for (size_t k = 0; k < parts->count; k++)
        if (parts->items[k].exec != NULL)
            parts->driver->GraphExecDestroy(parts->items[k].exec);
    return made == CUDA_SUCCESS;
}

bool shmt_capture_parts_launch(const struct shmt_capture_driver *driver,
                               struct shmt_capture_graph *graph,
                               CUgraphExec exec, CUstream stream,
                               CUresult *result)
{
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    struct parts parts = {.driver = driver, .graph = graph, .stream = stream};
    bool launched;

    parts.items = calloc(2 * graph->kernel_count + 1, sizeof *parts.items);
    driver->ThreadExchangeStreamCaptureMode(&mode);
    launched = launch_parts(&parts, exec, result);
    driver->ThreadExchangeStreamCaptureMode(&mode);
    free(parts.items);
    return launched;
}
