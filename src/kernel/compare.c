/* SPDX-License-Identifier: MIT */
/*
 * compare: reads the launches that compare outputs in the place of the tuner,
 * and count what is wrong.  They take what is expected of an output as
 * `expected.NAME`, and their counter as `mismatches`: arguments that nobody
 * else sees, as they stand behind the last in the kernel's list.
 */
#include "kernel/read.h"

#include <string.h>

#define COUNTER "mismatches"

static bool has_result(const struct shmt_argument *argument)
{
    return argument->role == SHMT_ROLE_OUTPUT ||
           argument->role == SHMT_ROLE_INOUT;
}

/* Appends what only the comparison may take.  *out is the list that can be
 * written to. */
static enum shmtune_status add_hidden(struct shmt_kernel_reader *reader,
                                      struct shmt_argument **out)
{
    struct shmt_kernel *kernel = reader->kernel;
    const size_t given = kernel->argument_count;
    struct shmt_argument *arguments = shmt_arena_alloc(
        kernel->arena, 2 * given + 1, sizeof *arguments);
    size_t *compared =
        shmt_arena_alloc(kernel->arena, given, sizeof *compared);
    size_t count = 0;

    if (arguments == NULL || compared == NULL)
        return shmt_error_memory(reader->err);
    memcpy(arguments, kernel->arguments, given * sizeof *arguments);
    for (size_t k = 0; k < given; k++) {
        struct shmt_argument *hidden = &arguments[given + count];
        struct shmt_text name = {0};

        if (!has_result(&arguments[k]))
            continue;
        shmt_text_addf(&name, "expected.%s", arguments[k].name);
        *hidden = arguments[k];
        hidden->role = SHMT_ROLE_INPUT;
        hidden->symbol = NULL;
        hidden->name = shmt_text_keep(&name, kernel->arena);
        if (hidden->name == NULL)
            return shmt_error_memory(reader->err);
        compared[count++] = k;
    }
    arguments[given + count] = (struct shmt_argument){
        .name = COUNTER, .element = SHMT_ELEMENT_U64,
        .role = SHMT_ROLE_WORKSPACE};
    kernel->arguments = arguments;
    kernel->compared = compared;
    kernel->compared_count = count;
    reader->hidden = count + 1;
    *out = arguments;
    return SHMTUNE_OK;
}

/* An output that is compared by the user has no other rule. */
static enum shmtune_status check_rule(struct shmt_kernel_reader *reader,
                                      const struct shmt_argument *argument)
{
    const struct shmt_tolerance *tolerance = &argument->tolerance;

    if (!shmt_tolerance_is_exact(tolerance) || tolerance->mismatches > 0 ||
        tolerance->mismatch_share > 0)
        return shmt_yaml_refuse_at(tolerance->place, reader->err,
                                   "a tolerance of %s, which the launches of "
                                   "compare judge; leave it out",
                                   argument->name);
    if (argument->region[0] != NULL)
        return shmt_yaml_refuse_at(argument->region_place, reader->err,
                                   "a region of %s, which the launches of "
                                   "compare judge; leave it out",
                                   argument->name);
    return SHMTUNE_OK;
}

/* What the launches take: a counter, something expected, and no workspace. */
static enum shmtune_status check_taken(struct shmt_kernel_reader *reader,
                                       const struct shmt_yaml *node,
                                       struct shmt_argument *arguments)
{
    const struct shmt_kernel *kernel = reader->kernel;
    const size_t given = kernel->argument_count;
    enum shmtune_status status = SHMTUNE_OK;
    bool counter = false, expected = false;

    for (size_t i = 0; i < kernel->compare_count; i++)
        for (size_t k = 0; status == SHMTUNE_OK &&
                           k < kernel->compare[i].reach_count; k++) {
            const size_t which = kernel->compare[i].arguments[k];

            if (which < given) {
                if (arguments[which].role == SHMT_ROLE_WORKSPACE)
                    return shmt_yaml_refuse(node, reader->err,
                                            "the comparison takes the "
                                            "workspace %s, which is the "
                                            "candidate's own",
                                            arguments[which].name);
            } else if (which - given == kernel->compared_count) {
                counter = true;
            } else {
                expected = true;
                arguments[kernel->compared[which - given]].compared = true;
                status = check_rule(
                    reader, &arguments[kernel->compared[which - given]]);
            }
        }
    if (status == SHMTUNE_OK && !(counter && expected))
        return shmt_yaml_refuse(node, reader->err,
                                "no launch takes %s; give it \"%s\"",
                                counter ? "what is expected" : "the counter",
                                counter ? "expected.NAME" : COUNTER);
    return status;
}

enum shmtune_status
shmt_kernel_compare_read(struct shmt_kernel_reader *reader)
{
    struct shmt_kernel *kernel = reader->kernel;
    const struct shmt_yaml *node = shmt_yaml_get(reader->root, "compare");
    struct shmt_argument *arguments = NULL;
    enum shmtune_status status = SHMTUNE_OK;

    if (node == NULL)
        return SHMTUNE_OK;
    for (size_t k = 0; k < kernel->argument_count; k++)
        if (strcmp(kernel->arguments[k].name, COUNTER) == 0)
            return shmt_yaml_refuse(node, reader->err,
                                    "the argument " COUNTER " has the name of "
                                    "the counter of these launches; give it "
                                    "another");
    status = add_hidden(reader, &arguments);
    if (status == SHMTUNE_OK)
        status = shmt_kernel_launch_read_once(
            reader, "compare", "the comparison", &kernel->compare,
            &kernel->compare_count);
    reader->hidden = 0;
    return status == SHMTUNE_OK ? check_taken(reader, node, arguments)
                                : status;
}
