/* SPDX-License-Identifier: MIT */
/*
 * export_data: the configurations, devices and rows of a header, as functions
 * and as tables for the preprocessor.  Called by export_header.c.
 */
#include "exchange/export_parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { WORDS = 4096 };      /* of a parameter that have macros */

/* -- data ----------------------------------------------------------------- */

static bool is_word(const struct shmt_parameter *parameter)
{
    return parameter->type == SHMT_VALUE_WORD;
}

/* A value as a number of C. */
static void add_value(struct shmt_text *text,
                      const struct shmt_parameter *parameter,
                      shmt_config config)
{
    const struct shmt_value value = parameter->values[config];
    char digits[SHMT_TEXT_REAL];

    if (is_word(parameter)) {
        shmt_text_addf(text, "%u", config);
    } else if (value.type == SHMT_VALUE_INT) {
        if (value.i == INT64_MIN)
            shmt_text_add(text, "(-9223372036854775807LL - 1)");
        else
            shmt_text_addf(text, "%" PRId64 "%s", value.i,
                           value.i > INT32_MAX || value.i < -INT32_MAX ? "LL"
                                                                       : "");
    } else {
        shmt_text_put_real(value.r, 0, digits);
        shmt_text_add(text, digits);
        shmt_text_add(text, strpbrk(digits, ".en") == NULL ? ".0" : "");
    }
}

/* Numbers of a parameter are int where all have room in one. */
static const char *type_of(const struct shmt_parameter *parameter)
{
    if (parameter->type == SHMT_VALUE_REAL)
        return "double";
    for (size_t k = 0; !is_word(parameter) && k < parameter->count; k++)
        if (parameter->values[k].i > INT32_MAX ||
            parameter->values[k].i < -INT32_MAX)
            return "long long";
    return "int";
}

/* Whether another parameter and word make the same macro: A, b_c and A_b, c. */
static bool is_ambiguous(const struct shmt_kernel *kernel, size_t parameter,
                         const char *word)
{
    const char *const name = kernel->parameters[parameter].name;
    const size_t length = strlen(name) + 1 + strlen(word);

    for (size_t p = 0; p < kernel->parameter_count; p++) {
        const struct shmt_parameter *const other = &kernel->parameters[p];
        const size_t own = strlen(other->name);

        for (size_t k = 0;
             p != parameter && is_word(other) && k < other->count; k++) {
            const char *const its = other->values[k].w;
            struct shmt_text one = {0}, two = {0};
            bool same;

            if (own + 1 + strlen(its) != length)
                continue;
            shmt_text_addf(&one, "%s_%s", name, word);
            shmt_text_addf(&two, "%s_%s", other->name, its);
            same = strcmp(shmt_text_string(&one), shmt_text_string(&two)) == 0;
            shmt_text_free(&one);
            shmt_text_free(&two);
            if (same)
                return true;
        }
    }
    return false;
}

/* Words are numbers, those that the compiler of the kernel is given for them
 * too; each has a macro where it can be part of one. */
static void add_words(struct shmt_export_header *header)
{
    const struct shmt_kernel *const kernel = header->kernel;

    for (size_t p = 0; p < kernel->parameter_count; p++) {
        const struct shmt_parameter *const parameter = &kernel->parameters[p];

        for (size_t k = 0;
             is_word(parameter) && parameter->count <= WORDS &&
             k < parameter->count; k++) {
            const char *const word = parameter->values[k].w;

            if (word[0] == '\0' || word[shmt_text_name_length(word)] != '\0' ||
                is_ambiguous(kernel, p, word)) {
                shmt_text_addf(header->text, "/* p_%s = %zu: ",
                               parameter->name, k);
                shmt_export_add_comment(header->text, word);
                shmt_text_add(header->text, " */\n");
                continue;
            }
            shmt_export_add(header, "#define SHMTUNED_WORD_@");
            shmt_text_addf(header->text, "_%s_%s %zu\n", parameter->name, word,
                           k);
        }
    }
}

void shmt_export_add_settings(struct shmt_export_header *header)
{
    const struct shmt_kernel *const kernel = header->kernel;
    const struct shmt_export_rows *const rows = header->rows;

    shmt_export_add(header,
        "\n/* A configuration: a value for each parameter; words by "
        "their numbers. */\nstruct shmtuned_settings_@ {\n");
    for (size_t p = 0; p < kernel->parameter_count; p++)
        shmt_text_addf(header->text, "    %s p_%s;\n",
                       type_of(&kernel->parameters[p]),
                       kernel->parameters[p].name);
    if (kernel->parameter_count == 0)
        shmt_text_add(header->text, "    int none;\n");
    shmt_text_add(header->text, "};\n");
    add_words(header);
    shmt_export_add(header,
        "\n/* Configuration `number`; 0, and any that there is not: "
        "the spec's default. */\n#define SHMTUNED_SETTINGS_@ ");
    shmt_text_addf(header->text, "%zu\n", rows->config_count);
    shmt_export_add(header, "SHMTUNED_FUNCTION struct shmtuned_settings_@\n"
                "shmtuned_config_@(int number)\n{\n    switch (number) {\n");
    for (size_t k = rows->config_count; k-- > 0;) {
        if (k == 0)
            shmt_text_add(header->text, "    default: {\n");
        else
            shmt_text_addf(header->text, "    case %zu: {\n", k);
        shmt_export_add(header,
            "        const struct shmtuned_settings_@ settings = {\n"
            "            ");
        for (size_t p = 0; p < kernel->parameter_count; p++) {
            shmt_text_add(header->text, p == 0 ? "" : ", ");
            add_value(header->text, &kernel->parameters[p],
                      rows->configs[k][p]);
        }
        shmt_text_add(header->text, kernel->parameter_count == 0 ? "0" : "");
        shmt_text_add(header->text, "};\n\n        return settings;\n"
                                    "    }\n");
    }
    shmt_text_add(header->text, "    }\n}\n");
}

static int64_t log2_of_rate(const struct shmtune_device *device)
{
    const double rate =
        (double)device->memory_clock_khz * device->memory_bus_bits;

    return rate > 1 ? shmt_export_log2((uint64_t)rate) : 0;
}

static void add_limits_of(struct shmt_export_header *header,
                          const struct shmtune_device *device)
{
    shmt_text_addf(header->text,
                   "{%d, %d, %" PRId64 ", %" PRId64 ", %" PRId64 ", "
                   "%" PRId64 "};\n",
                   (int)device->multiprocessors,
                   device->max_threads_per_block > 0
                       ? (int)device->max_threads_per_block : 1024,
                   device->shared_per_block_optin > 0
                       ? (int64_t)device->shared_per_block_optin
                       : (int64_t)SHMT_FIT_STATIC_BYTES,
                   (int64_t)device->shared_per_multiprocessor,
                   (int64_t)device->shared_reserved_per_block,
                   log2_of_rate(device));
}

/* The limits of the tuned devices, of each architecture, and of all. */
void shmt_export_add_limits(struct shmt_export_header *header)
{
    const struct shmt_export_rows *const rows = header->rows;
    struct shmtune_device generic;
    const char *arch;

    shmt_export_add(header, "\nSHMTUNED_FUNCTION struct shmtuned_limits\n"
                "shmtuned_limits_@(int arch, int device)\n{\n"
                "    struct shmtuned_limits limits = {0, 1024, 49152, 0, 0, "
                "0};\n\n"
                "    switch (arch) {\n");
    for (size_t k = 0; (arch = shmt_device_arch(k)) != NULL; k++) {
        if (shmt_device_for_arch(arch, &generic, NULL) != SHMTUNE_OK)
            continue;
        shmt_text_addf(header->text, "    case %d:\n"
                       "        limits.multiprocessors = %d;\n"
                       "        limits.shared = %" PRId64 ";\n"
                       "        limits.shared_all = %" PRId64 ";\n"
                       "        limits.shared_reserved = %" PRId64 ";\n"
                       "        break;\n",
                       shmt_export_arch(&generic),
                       (int)generic.multiprocessors,
                       (int64_t)generic.shared_per_block_optin,
                       (int64_t)generic.shared_per_multiprocessor,
                       (int64_t)generic.shared_reserved_per_block);
    }
    shmt_text_add(header->text, "    default:\n        break;\n    }\n"
                                "    switch (device) {\n");
    for (size_t k = 0; k < rows->device_count; k++) {
        shmt_text_addf(header->text, "    case %zu: {\n        const struct "
                       "shmtuned_limits known = ", k + 1);
        add_limits_of(header, &rows->devices[k]);
        shmt_text_add(header->text, "\n        return known;\n    }\n");
    }
    shmt_text_add(header->text, "    default:\n"
                                "        if (device < 0)\n"
                                "            limits.multiprocessors = "
                                "-device;\n"
                                "        return limits;\n    }\n}\n");
}

void shmt_export_add_devices(struct shmt_export_header *header)
{
    const struct shmt_export_rows *const rows = header->rows;

    shmt_export_add(header,
        "\n/* The number of a device by what the driver says of it, from 1 "
        "on.  None of\n * these: how many multiprocessors it has, below 0.  "
        "None (0) are not compared. */\n"
        "SHMTUNED_FUNCTION int\n"
        "shmtuned_device_@(int arch, const char *name, "
        "int multiprocessors)\n{\n"
        "    (void)arch;\n    (void)name;\n");
    for (size_t k = 0; k < rows->device_count; k++) {
        const struct shmtune_device *const device = &rows->devices[k];

        shmt_text_addf(header->text, "    if (arch == %d &&\n"
                       "        (multiprocessors == %d || multiprocessors == "
                       "0) &&\n        shmtuned_is_name(name, \"",
                       shmt_export_arch(device),
                       (int)device->multiprocessors);
        shmt_export_add_string(header->text, device->name);
        shmt_text_addf(header->text, "\"))\n        return %zu;\n", k + 1);
    }
    shmt_text_add(header->text,
                  "    return multiprocessors > 0 ? -multiprocessors : 0;\n"
                  "}\n");
}

static void add_sizes(struct shmt_export_header *header,
                      const struct shmt_export_row *row)
{
    for (size_t d = 0; d < header->kernel->dimension_count; d++)
        shmt_text_addf(header->text, ", %" PRId64 "LL", row->problem[d]);
}

void shmt_export_add_rows(struct shmt_export_header *header)
{
    const struct shmt_kernel *const kernel = header->kernel;
    const struct shmt_export_rows *const rows = header->rows;

    shmt_export_add(header, "\n/* A tuned size, with its winner. */\n"
                "struct shmtuned_row_@ {\n    int arch, device, config;\n"
                "    double time_us;    /* < 0: not known */\n");
    for (size_t d = 0; d < kernel->dimension_count; d++)
        shmt_text_addf(header->text, "    long long d_%s;\n",
                       kernel->dimensions[d].name);
    shmt_export_add(header, "};\n#define SHMTUNED_COUNT_@ ");
    shmt_text_addf(header->text, "%zu\n", rows->row_count);
    shmt_export_add(header, "SHMTUNED_FUNCTION struct shmtuned_row_@\n"
                "shmtuned_row_@(int number)\n{\n"
                "    const struct shmtuned_row_@ none = {0, 0, 0, -1");
    for (size_t d = 0; d < kernel->dimension_count; d++)
        shmt_text_add(header->text, ", 0");
    shmt_text_add(header->text, "};\n\n    switch (number) {\n");
    for (size_t k = 0; k < rows->row_count; k++) {
        const struct shmt_export_row *const row = &rows->rows[k];

        shmt_text_addf(header->text, "    case %zu: {\n", k);
        shmt_export_add(header, "        const struct shmtuned_row_@ row = {");
        shmt_text_addf(header->text, "%d, %zu, %zu, %.6g",
                       shmt_export_arch(&rows->devices[row->device]),
                       row->device + 1, row->config, row->time_us);
        add_sizes(header, row);
        shmt_text_add(header->text, "};\n\n        return row;\n    }\n");
    }
    shmt_text_add(header->text, "    default:\n        return none;\n"
                                "    }\n}\n");
}

/* The configurations that may be chosen for a row: winner, then ties. */
void shmt_export_add_tries(struct shmt_export_header *header)
{
    const struct shmt_export_rows *const rows = header->rows;

    shmt_export_add(header,
        "\n/* What is looked at for the nearest size: the winner of "
        "each row, and what is as\n * good.  The share is log2 of "
        "what its blocks filled of the device, `resident`\n * how "
        "many a multiprocessor has room for but for shared memory. */\n"
        "struct shmtuned_try_@ {\n    int row, config, resident;\n"
        "    long long share;\n};\n#define SHMTUNED_TRIES_@ ");
    shmt_text_addf(header->text, "%zu\n", rows->try_count);
    shmt_export_add(header, "SHMTUNED_FUNCTION struct shmtuned_try_@\n"
                "shmtuned_try_@(int number)\n{\n"
                "    const struct shmtuned_try_@ none = {-1, 0, 0, 0};\n\n"
                "    switch (number) {\n");
    for (size_t k = 0; k < rows->try_count; k++) {
        const struct shmt_export_try *const one = &rows->tries[k];

        shmt_text_addf(header->text, "    case %zu: {\n", k);
        shmt_export_add(header, "        const struct shmtuned_try_@ one = {");
        shmt_text_addf(header->text, "%zu, %zu, %d, %" PRId64 "LL};\n\n"
                       "        return one;\n    }\n", one->row, one->config,
                       one->resident, one->share);
    }
    shmt_text_add(header->text, "    default:\n        return none;\n"
                                "    }\n}\n");
}

/* Functions of a row and a size. */
void shmt_export_add_comparisons(struct shmt_export_header *header)
{
    const struct shmt_kernel *const kernel = header->kernel;

    shmt_export_add(header, "\nSHMTUNED_FUNCTION int\n"
                "shmtuned_equal_@(const struct shmtuned_row_@ *row$P)\n{\n"
                "    (void)row;\n    return 1");
    for (size_t d = 0; d < kernel->dimension_count; d++)
        shmt_text_addf(header->text, " &&\n           row->d_%s == d_%s",
                       kernel->dimensions[d].name, kernel->dimensions[d].name);
    shmt_export_add(header, ";\n}\n\nSHMTUNED_FUNCTION long long\n"
                "shmtuned_distance_@(const struct shmtuned_row_@ *row$P)\n{\n"
                "    (void)row;\n    return 0");
    for (size_t d = 0; d < kernel->dimension_count; d++)
        shmt_text_addf(header->text,
                       " +\n           shmtuned_apart(row->d_%s, d_%s)",
                       kernel->dimensions[d].name, kernel->dimensions[d].name);
    shmt_export_add(header,
        ";\n}\n\n/* Whether the spec is right for a size. */\n"
        "SHMTUNED_FUNCTION int shmtuned_bounded_@(");
    shmt_text_add(header->text, kernel->dimension_count == 0
                                    ? "void" : header->names.parameters + 2);
    shmt_text_add(header->text, ")\n{\n    return 1");
    for (size_t d = 0; d < kernel->dimension_count; d++)
        shmt_text_addf(header->text, " &&\n           d_%s >= %" PRId64
                       "LL && d_%s <= %" PRId64 "LL",
                       kernel->dimensions[d].name, kernel->dimensions[d].low,
                       kernel->dimensions[d].name, kernel->dimensions[d].high);
    shmt_text_add(header->text, ";\n}\n");
}

/* -- for the preprocessor ------------------------------------------------- */

void shmt_export_add_tables(struct shmt_export_header *header)
{
    const struct shmt_kernel *const kernel = header->kernel;
    const struct shmt_export_rows *const rows = header->rows;

    shmt_text_add(header->text, "\n/* X(number");
    for (size_t p = 0; p < kernel->parameter_count; p++)
        shmt_text_addf(header->text, ", %s", kernel->parameters[p].name);
    shmt_export_add(header, ") for each configuration. */\n"
                "#define SHMTUNED_EACH_CONFIG_@(X)");
    for (size_t k = 0; k < rows->config_count; k++) {
        shmt_text_addf(header->text, " \\\n    X(%zu", k);
        for (size_t p = 0; p < kernel->parameter_count; p++) {
            shmt_text_add(header->text, ", ");
            add_value(header->text, &kernel->parameters[p],
                      rows->configs[k][p]);
        }
        shmt_text_add(header->text, ")");
    }
    shmt_text_add(header->text, "\n\n/* X(row, arch, device, config, time_us");
    for (size_t d = 0; d < kernel->dimension_count; d++)
        shmt_text_addf(header->text, ", %s", kernel->dimensions[d].name);
    shmt_export_add(header,
        ") for each tuned size. */\n#define SHMTUNED_EACH_ROW_@(X)");
    for (size_t k = 0; k < rows->row_count; k++) {
        const struct shmt_export_row *const row = &rows->rows[k];

        shmt_text_addf(header->text, " \\\n    X(%zu, %d, %zu, %zu, %.6g", k,
                       shmt_export_arch(&rows->devices[row->device]),
                       row->device + 1, row->config, row->time_us);
        add_sizes(header, row);
        shmt_text_add(header->text, ")");
    }
    shmt_text_add(header->text, "\n");
}

/* How far a row is from the spec's usual size. */
static int64_t distance_of(const struct shmt_export_header *header,
                           const struct shmt_export_row *row)
{
    const struct shmt_kernel *const kernel = header->kernel;
    int64_t problem[SHMT_KERNEL_DIMENSIONS], sum = 0;

    shmt_kernel_default_problem(kernel, problem);
    for (size_t d = 0; d < kernel->dimension_count; d++)
        sum += llabs(shmt_export_log2((uint64_t)row->problem[d]) -
                     shmt_export_log2((uint64_t)problem[d]));
    return sum;
}

static void add_macros_of(struct shmt_export_header *header, size_t config)
{
    const struct shmt_kernel *const kernel = header->kernel;

    shmt_export_add(header, "#define SHMTUNED_USUAL_@ ");
    shmt_text_addf(header->text, "%zu\n", config);
    for (size_t p = 0; p < kernel->parameter_count; p++) {
        shmt_export_add(header, "#define SHMTUNED_SET_@");
        shmt_text_addf(header->text, "_%s ", kernel->parameters[p].name);
        add_value(header->text, &kernel->parameters[p],
                  header->rows->configs[config][p]);
        shmt_text_add(header->text, "\n");
    }
}

/* By architecture alone: the winner for the usual size, or the nearest tuned
 * one, on its first device. */
void shmt_export_add_macros(struct shmt_export_header *header)
{
    const struct shmt_export_rows *const rows = header->rows;
    bool first = true;

    shmt_text_add(header->text,
                  "\n/* By architecture alone: the winner at the spec's usual "
                  "size, or at the nearest\n * tuned one, on the first device "
                  "of it; else the default. */\n");
    for (size_t k = 0; k < rows->row_count; k++) {
        const size_t device = rows->rows[k].device;
        const int arch = shmt_export_arch(&rows->devices[device]);
        size_t best = k;
        bool seen = false;

        for (size_t n = 0; n < k; n++)
            seen |= shmt_export_arch(&rows->devices[rows->rows[n].device]) ==
                    arch;
        if (seen)
            continue;
        for (size_t n = k; n < rows->row_count; n++)
            if (rows->rows[n].device == device &&
                distance_of(header, &rows->rows[n]) <
                    distance_of(header, &rows->rows[best]))
                best = n;
        shmt_text_addf(header->text, "#%s SHMTUNED_ARCH == %d\n",
                       first ? "if" : "elif", arch);
        add_macros_of(header, rows->rows[best].config);
        first = false;
    }
    if (!first)
        shmt_text_add(header->text, "#else\n");
    add_macros_of(header, 0);
    if (!first)
        shmt_text_add(header->text, "#endif\n");
}
