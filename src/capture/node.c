/* SPDX-License-Identifier: MIT */
/*
 * node: the launch that a kernel node of a graph is.  Called by graph.c,
 * parts.c and swap.c.
 */
#include "capture/graph.h"

#include <string.h>

/* Every node has all of them: a cluster of one block is none. */
static void read_attributes(const struct shmt_capture_driver *driver,
                            CUgraphNode node,
                            struct shmt_capture_launch *launch)
{
    static const CUlaunchAttributeID ids[] = {
        CU_LAUNCH_ATTRIBUTE_COOPERATIVE, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
        CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION};

    for (size_t k = 0; k < sizeof ids / sizeof ids[0]; k++) {
        CUkernelNodeAttrValue value = {{0}};

        if (driver->GraphKernelNodeGetAttribute(node, ids[k], &value) ==
            CUDA_SUCCESS)
            shmt_capture_launch_attribute(launch, ids[k], &value);
    }
    if (launch->cluster[0] * launch->cluster[1] * launch->cluster[2] <= 1)
        memset(launch->cluster, 0, sizeof launch->cluster);
}

void shmt_capture_node_give(struct shmt_capture_launch *launch,
                            const CUDA_KERNEL_NODE_PARAMS *params)
{
    const unsigned grid[] = {params->gridDimX, params->gridDimY,
                             params->gridDimZ};
    const unsigned block[] = {params->blockDimX, params->blockDimY,
                              params->blockDimZ};

    launch->handle = params->func != NULL ? params->func
                                          : (CUfunction)params->kern;
    memcpy(launch->grid, grid, sizeof grid);
    memcpy(launch->block, block, sizeof block);
    launch->shared = params->sharedMemBytes;
    launch->arguments = params->kernelParams;
    launch->extra = params->extra;
}

bool shmt_capture_node_launch(const struct shmt_capture_driver *driver,
                              CUgraphNode node,
                              struct shmt_capture_launch *out)
{
    CUDA_KERNEL_NODE_PARAMS params = {0};

    if (driver->GraphKernelNodeGetParams(node, &params) != CUDA_SUCCESS)
        return false;
    *out = (struct shmt_capture_launch){0};
    shmt_capture_node_give(out, &params);
    read_attributes(driver, node, out);
    return true;
}

bool shmt_capture_node_is_kernel(const struct shmt_capture_driver *driver,
                                 CUgraphNode node)
{
    CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;

    return driver->GraphNodeGetType(node, &type) == CUDA_SUCCESS &&
           type == CU_GRAPH_NODE_TYPE_KERNEL;
}

/* Of a node that the device may change nobody else knows what it has. */
bool shmt_capture_node_is_updatable(const struct shmt_capture_driver *driver,
                                    CUgraphNode node)
{
    CUkernelNodeAttrValue value = {{0}};

    return driver->GraphKernelNodeGetAttribute(
               node, CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE,
               &value) == CUDA_SUCCESS &&
           value.deviceUpdatableKernelNode.deviceUpdatable != 0;
}
