/* SPDX-License-Identifier: MIT */
/*
 * node: the launch that a kernel node of a graph is.  Called by graph.c,
 * parts.c and swap.c.
 */
#include "capture/library.h"

#include <string.h>

static void read_attributes(const struct shmt_capture_driver *driver,
                            CUgraphNode node,
                            struct shmt_capture_launch *launch)
{
    CUkernelNodeAttrValue value = {{0}};

    if (driver->GraphKernelNodeGetAttribute(
            node, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &value) == CUDA_SUCCESS)
        launch->cooperative = value.cooperative != 0;
    memset(&value, 0, sizeof value);
    if (driver->GraphKernelNodeGetAttribute(
            node, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, &value) ==
            CUDA_SUCCESS &&
        value.clusterDim.x * value.clusterDim.y * value.clusterDim.z > 1) {
        launch->cluster[0] = value.clusterDim.x;
        launch->cluster[1] = value.clusterDim.y;
        launch->cluster[2] = value.clusterDim.z;
    }
}

struct shmt_capture_launch
shmt_capture_node_given(const CUDA_KERNEL_NODE_PARAMS *params)
{
    return (struct shmt_capture_launch){
        .handle = params->func != NULL ? params->func
                                       : (CUfunction)params->kern,
        .grid = {params->gridDimX, params->gridDimY, params->gridDimZ},
        .block = {params->blockDimX, params->blockDimY, params->blockDimZ},
        .shared = params->sharedMemBytes,
        .arguments = params->kernelParams,
        .extra = params->extra};
}

bool shmt_capture_node_launch(const struct shmt_capture_driver *driver,
                              CUgraphNode node,
                              struct shmt_capture_launch *out)
{
    CUDA_KERNEL_NODE_PARAMS params = {0};

    if (driver->GraphKernelNodeGetParams(node, &params) != CUDA_SUCCESS)
        return false;
    *out = shmt_capture_node_given(&params);
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
