/* SPDX-License-Identifier: MIT */
/*
 * result_launch: writes and reads the resources of each launch of a result.
 * Called by result.c alone.
 */
#include "record/result_launch.h"

#include <inttypes.h>

#include "yaml/yaml.h"

void shmt_result_write_launches(const struct shmt_result *result,
                                struct shmt_text *text)
{
    shmt_text_add(text, "launches: [");
    for (int k = 0; k < result->launches.count; k++) {
        const struct shmt_resources *one = &result->launches.of[k];

        shmt_text_addf(text, "%s[%d, %" PRId64 ", %d]", k > 0 ? ", " : "",
                       one->registers, one->shared_static_bytes,
                       one->max_threads);
    }
    shmt_text_add(text, "]");
}

static enum shmtune_status read_launch(const struct shmt_yaml *node,
                                       struct shmt_resources *out,
                                       struct shmt_error *err)
{
    int64_t values[3] = {-1, -1, -1};
    enum shmtune_status status =
        shmt_yaml_expect(node, SHMT_YAML_SEQUENCE, "a launch", err);

    if (status == SHMTUNE_OK && node->count != 3)
        return shmt_yaml_refuse(node, err, "found %zu numbers, expected "
                                "registers, static shared bytes and threads",
                                node->count);
    for (size_t k = 0; k < 3 && status == SHMTUNE_OK; k++)
        status = shmt_yaml_int(node->items[k], -1, INT32_MAX, &values[k],
                               err);
    out->registers = (int)values[0];
    out->shared_static_bytes = values[1];
    out->max_threads = (int)values[2];
    return status;
}

enum shmtune_status
shmt_result_read_launches(const struct shmt_yaml *node,
                          struct shmt_result *result, struct shmt_error *err)
{
    enum shmtune_status status =
        shmt_yaml_expect(node, SHMT_YAML_SEQUENCE, "launches", err);

    if (status != SHMTUNE_OK)
        return status;
    if (node->count > SHMT_RESOURCES_LAUNCHES)
        return shmt_yaml_refuse(node, err, "found %zu launches, expected at "
                                "most %d", node->count,
                                SHMT_RESOURCES_LAUNCHES);
    for (size_t k = 0; k < node->count && status == SHMTUNE_OK; k++)
        status = read_launch(node->items[k], &result->launches.of[k], err);
    result->launches.count = (int)node->count;
    return status;
}
