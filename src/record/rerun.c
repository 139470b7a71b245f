/* SPDX-License-Identifier: MIT */
/*
 * rerun: what was found of a launch that was made again, as text and back.
 * Called by target/.
 */
#include "record/rerun.h"

#include <math.h>

enum { COLUMNS = 12, REALS = 2, FIRST_REAL = 4 };

/* The members in their order, those that are whole. */
static void list_members(struct shmt_rerun_buffer *one,
                         int64_t *members[COLUMNS])
{
    int64_t *const all[COLUMNS] = {
        &one->argument, &one->bytes, &one->other, &one->varying, NULL, NULL,
        &one->places[0], &one->places[1], &one->changed, &one->written[0],
        &one->written[1], &one->unwritten};

    for (size_t k = 0; k < COLUMNS; k++)
        members[k] = all[k];
}

static double *real_member(struct shmt_rerun_buffer *one, size_t k)
{
    return k == FIRST_REAL ? &one->spread : &one->most;
}

void shmt_rerun_write(const struct shmt_rerun *rerun, struct shmt_text *text)
{
    shmt_text_add(text, "[");
    for (size_t k = 0; k < rerun->count; k++) {
        struct shmt_rerun_buffer one = rerun->buffers[k];
        int64_t *members[COLUMNS];

        list_members(&one, members);
        shmt_text_add(text, k == 0 ? "[" : ", [");
        for (size_t m = 0; m < COLUMNS; m++) {
            shmt_text_add(text, m == 0 ? "" : ", ");
            if (members[m] != NULL)
                shmt_text_addf(text, "%lld", (long long)*members[m]);
            else if (isfinite(*real_member(&one, m)))
                shmt_yaml_add_real(text, *real_member(&one, m), 17);
            else
                shmt_text_add(text, "-1.0");
        }
        shmt_text_add(text, "]");
    }
    shmt_text_add(text, "]");
}

static enum shmtune_status read_one(const struct shmt_yaml *node,
                                    struct shmt_rerun_buffer *out,
                                    struct shmt_error *err)
{
    int64_t *members[COLUMNS];
    enum shmtune_status status =
        shmt_yaml_expect(node, SHMT_YAML_SEQUENCE, "a buffer", err);

    if (status == SHMTUNE_OK && node->count != COLUMNS)
        return shmt_yaml_expected(node, err, "10 numbers of a buffer");
    list_members(out, members);
    for (size_t k = 0; status == SHMTUNE_OK && k < COLUMNS; k++) {
        double *const real = real_member(out, k);

        if (members[k] != NULL) {
            status = shmt_yaml_int(node->items[k], 0, INT64_MAX, members[k],
                                   err);
            continue;
        }
        status = shmt_yaml_real(node->items[k], real, err);
        if (status == SHMTUNE_OK && *real < 0)
            *real = (double)INFINITY;
    }
    return status;
}

enum shmtune_status shmt_rerun_read(const struct shmt_yaml *node,
                                    struct shmt_rerun *out,
                                    struct shmt_error *err)
{
    enum shmtune_status status =
        shmt_yaml_expect(node, SHMT_YAML_SEQUENCE, "buffers", err);

    if (status == SHMTUNE_OK && node->count > SHMT_KERNEL_ARGUMENTS)
        return shmt_yaml_expected(node, err, "at most 256 buffers");
    for (size_t k = 0; status == SHMTUNE_OK && k < node->count; k++) {
        out->buffers[k] = (struct shmt_rerun_buffer){0};
        status = read_one(node->items[k], &out->buffers[k], err);
        if (status == SHMTUNE_OK)
            out->count = k + 1;
    }
    return status;
}
