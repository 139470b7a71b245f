/* SPDX-License-Identifier: MIT */
/*
 * export_learnt: the tree that a tuning has learnt (record/dispatch.h), as a
 * function of C: comparisons, and at each leaf its configurations, the best
 * first, or by estimates.  What it says of a number of a problem is what
 * shmt_dispatch_value and shmt_dispatch_term_value compute.  Called by
 * export_rows.c while the tuning is open; export_header.c puts it into a
 * header, with the names of export_code.c.
 */
#include "exchange/export_rows.h"

#include <inttypes.h>

/* What is being written. */
struct writer {
    const struct shmt_dispatch *dispatch;
    size_t configs[SHMT_DISPATCH_CONFIGS];   /* their numbers in the header */
    size_t of[SHMT_KERNEL_DIMENSIONS];       /* dimension of the kernel */
    const struct shmt_kernel *kernel;
    struct shmt_text *text;
};

static const char *name_of(const struct writer *writer, size_t d)
{
    return writer->kernel->dimensions[writer->of[d]].name;
}

/* The product of ceildiv(size, unit) of the dimensions whose unit is not 0. */
static void add_product(const struct writer *writer, const int64_t *units)
{
    size_t left = 0;

    for (size_t d = 0; d < writer->dispatch->dimension_count; d++)
        left += units[d] != 0;
    for (size_t k = 1; k < left; k++)
        shmt_text_add(writer->text, "shmtuned_times(");
    for (size_t d = 0, made = 0; d < writer->dispatch->dimension_count; d++) {
        if (units[d] == 0)
            continue;
        shmt_text_addf(writer->text, "%sshmtuned_parts(d_%s, %" PRId64 "LL)%s",
                       made > 0 ? ", " : "", name_of(writer, d), units[d],
                       made > 0 ? ")" : "");
        made++;
    }
    if (left == 0)
        shmt_text_add(writer->text, "1LL");
}

static void add_feature(const struct writer *writer,
                        const struct shmt_dispatch_feature *feature)
{
    shmt_text_add(writer->text, "shmtuned_ratio(");
    add_product(writer, feature->of);
    shmt_text_add(writer->text, ", ");
    add_product(writer, feature->per);
    shmt_text_addf(writer->text, ", %" PRId64 "LL)", feature->modulo);
}

static void add_term(const struct writer *writer,
                     const struct shmt_dispatch_term *term)
{
    for (size_t d = 0; d < writer->dispatch->dimension_count; d++)
        if (term->by[d])
            shmt_text_add(writer->text, "shmtuned_times(");
    if (term->rounds > 0)
        shmt_text_add(writer->text, "shmtuned_parts(");
    add_product(writer, term->of);
    if (term->rounds > 0)
        shmt_text_addf(writer->text, ", %" PRId64 "LL)", term->rounds);
    for (size_t d = 0; d < writer->dispatch->dimension_count; d++)
        if (term->by[d])
            shmt_text_addf(writer->text, ", d_%s)", name_of(writer, d));
}

static void add_estimate(const struct writer *writer,
                         const struct shmt_dispatch_estimate *estimate)
{
    for (size_t k = 0; k < estimate->count; k++)
        shmt_text_add(writer->text, "shmtuned_plus(");
    shmt_text_addf(writer->text, "%" PRId64 "LL", estimate->start);
    for (size_t k = 0; k < estimate->count; k++) {
        shmt_text_addf(writer->text, ",\n    shmtuned_times(%" PRId64 "LL, ",
                       estimate->each[k]);
        add_term(writer, &writer->dispatch->terms[estimate->terms[k]]);
        shmt_text_add(writer->text, "))");
    }
}

/* By the estimates, of several. */
static void add_ranking(const struct writer *writer,
                        const struct shmt_dispatch_node *leaf)
{
    const struct shmt_dispatch *const from = writer->dispatch;
    const uint16_t *const ranks = from->ranks + leaf->rank;

    shmt_text_addf(writer->text, "{\nconst struct shmtuned_rank ranks[%u] = {",
                   leaf->other);
    for (size_t r = 0; r < leaf->other; r++) {
        shmt_text_addf(writer->text, "%s\n    {%zu, %u, ", r > 0 ? "," : "",
                       writer->configs[ranks[r]],
                       from->factors[leaf->rank + r]);
        add_estimate(writer, &from->estimates[ranks[r]]);
        shmt_text_add(writer->text, "}");
    }
    shmt_text_addf(writer->text, "};\n\nreturn shmtuned_ranked_@(ranks, %u, "
                   "arch, device$A);\n}\n", leaf->other);
}

static void add_leaf(const struct writer *writer,
                     const struct shmt_dispatch_node *leaf)
{
    const uint16_t *const ranks = writer->dispatch->ranks + leaf->rank;

    if (writer->dispatch->estimates != NULL && leaf->other > 1) {
        add_ranking(writer, leaf);
        return;
    }
    for (size_t r = 0; r < leaf->other; r++)
        shmt_text_addf(writer->text, "if (shmtuned_fits_@(%zu, arch, "
                       "device$A))\n    return %zu;\n",
                       writer->configs[ranks[r]], writer->configs[ranks[r]]);
    shmt_text_add(writer->text, "return -1;\n");
}

/* A part that returns; trees are as deep as the reader lets them be. */
static void add_node(const struct writer *writer, size_t k)
{
    const struct shmt_dispatch_node *const node = &writer->dispatch->nodes[k];

    if (node->feature == SHMT_DISPATCH_LEAF) {
        add_leaf(writer, node);
        return;
    }
    shmt_text_add(writer->text, "if (");
    add_feature(writer, &writer->dispatch->features[node->feature]);
    shmt_text_addf(writer->text, " < %" PRId64 "LL) {\n", node->below);
    add_node(writer, k + 1);
    shmt_text_add(writer->text, "}\n");
    add_node(writer, node->other);
}

/* Whether it is one of the kernel: its dimensions and its configurations. */
static enum shmtune_status match(struct shmt_export_rows *rows,
                                 struct writer *writer, bool *matches,
                                 struct shmt_error *err)
{
    const struct shmt_dispatch *const from = writer->dispatch;
    const struct shmt_kernel *const kernel = rows->kernel;
    shmt_config config[SHMT_SPACE_PARAMETERS];

    *matches = from->dimension_count == kernel->dimension_count;
    for (size_t d = 0; *matches && d < from->dimension_count; d++) {
        size_t k = 0;

        while (k < kernel->dimension_count &&
               strcmp(kernel->dimensions[k].name, from->names[d]) != 0)
            k++;
        *matches = k < kernel->dimension_count;
        writer->of[d] = k;
    }
    for (size_t k = 0; *matches && k < from->config_count; k++) {
        *matches = shmt_tuning_config(kernel, from->configs[k],
                                      from->setting_count, config, NULL) ==
                   SHMTUNE_OK;
        if (*matches)
            writer->configs[k] = shmt_export_config(rows, config);
        if (*matches && writer->configs[k] == SIZE_MAX)
            return shmt_error_memory(err);
    }
    return SHMTUNE_OK;
}

enum shmtune_status shmt_export_learnt(struct shmt_export_rows *rows,
                                       const struct shmt_dispatch *dispatch,
                                       size_t device, struct shmt_error *err)
{
    struct writer writer = {.dispatch = dispatch, .kernel = rows->kernel,
                            .text = &rows->trees};
    bool matches;
    enum shmtune_status status = match(rows, &writer, &matches, err);

    if (status != SHMTUNE_OK || !matches)
        return status;
    shmt_text_addf(&rows->trees, "\nSHMTUNED_FUNCTION int\n"
                   "shmtuned_tree_%zu_@(int arch, int device$P)\n{\n",
                   rows->tree_count);
    add_node(&writer, 0);
    shmt_text_add(&rows->trees, "}\n");
    shmt_text_addf(&rows->choices, "    if (arch == %d && device == %zu",
                   shmt_export_arch(&rows->devices[device]), device + 1);
    for (size_t d = 0; d < dispatch->dimension_count; d++)
        shmt_text_addf(&rows->choices, " &&\n        d_%s >= %" PRId64
                       "LL && d_%s <= %" PRId64 "LL", name_of(&writer, d),
                       dispatch->least[d], name_of(&writer, d),
                       dispatch->most[d]);
    shmt_text_addf(&rows->choices,
                   ")\n        return shmtuned_tree_%zu_@(arch, device$A);\n",
                   rows->tree_count++);
    return rows->trees.failed || rows->choices.failed ? shmt_error_memory(err)
                                                      : SHMTUNE_OK;
}
