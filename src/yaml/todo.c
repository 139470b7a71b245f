/* SPDX-License-Identifier: MIT */
/*
 * todo: the marks of a draft: a text "TODO: ..." stands where a person has to
 * write something.  `shmtune init` writes them; the reader of specs refuses
 * them, and `shmtune check` lists them all.
 */
#include "yaml/yaml.h"

#include <string.h>

size_t shmt_yaml_todo(const struct shmt_yaml *node, shmt_yaml_take_todo *take,
                      void *context)
{
    const char *text;
    size_t count = 0;

    if (node->kind != SHMT_YAML_SCALAR) {
        for (size_t k = 0; k < node->count; k++)
            count += shmt_yaml_todo(node->items[k], take, context);
        return count;
    }
    if (strncmp(node->text, SHMT_YAML_TODO, sizeof SHMT_YAML_TODO - 1) != 0)
        return 0;
    text = node->text + sizeof SHMT_YAML_TODO - 1;
    if (take != NULL)
        take(context, node->place, text + strspn(text, " "));
    return 1;
}
