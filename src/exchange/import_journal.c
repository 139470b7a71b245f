/* SPDX-License-Identifier: MIT */
/*
 * import_journal: writes imported results as a journal of a kernel, matching
 * parameters by name and values by equality.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/import.h"

struct matching {
    const struct shmt_import *import;
    const struct shmt_kernel *kernel;
    size_t column[SHMT_SPACE_PARAMETERS];   /* of the kernel's parameters in
                                               the import's values */
    struct shmt_error *err;
};

static enum shmtune_status match_names(struct matching *matching)
{
    const struct shmt_import *const import = matching->import;
    const struct shmt_kernel *const kernel = matching->kernel;
    size_t p;

    if (import->parameter_count != kernel->parameter_count)
        return shmt_error_set(matching->err, SHMTUNE_INVALID_FILE,
                              "%s has %zu parameters, %s has %zu",
                              import->file, import->parameter_count,
                              kernel->path, kernel->parameter_count);
    for (size_t k = 0; k < kernel->parameter_count; k++) {
        const char *const name = kernel->parameters[k].name;

        for (p = 0; p < import->parameter_count; p++)
            if (strcmp(import->parameters[p].name, name) == 0)
                break;
        if (p == import->parameter_count)
            return shmt_error_set(matching->err, SHMTUNE_INVALID_FILE,
                                  "%s has no parameter %s, which %s has",
                                  import->file, name, kernel->path);
        matching->column[k] = p;
    }
    return SHMTUNE_OK;
}

static enum shmtune_status choose(const struct matching *matching, size_t k,
                                  shmt_config *config)
{
    const struct shmt_kernel *const kernel = matching->kernel;
    const struct shmt_import_entry *const entry =
        &matching->import->entries[k];

    for (size_t p = 0; p < kernel->parameter_count; p++) {
        const struct shmt_value value = entry->values[matching->column[p]];
        char shown[80];

        if (shmt_kernel_find_value(&kernel->parameters[p], value, &config[p]))
            continue;
        if (value.type == SHMT_VALUE_WORD)
            snprintf(shown, sizeof shown, "%s", value.w);
        else if (value.type == SHMT_VALUE_REAL)
            snprintf(shown, sizeof shown, "%.17g", value.r);
        else
            snprintf(shown, sizeof shown, "%lld", (long long)value.i);
        return shmt_error_set(matching->err, SHMTUNE_INVALID_FILE,
                              "%s: entry %zu: %s is %s, which is none of its "
                              "values in %s", matching->import->file, k,
                              kernel->parameters[p].name, shown,
                              kernel->path);
    }
    return SHMTUNE_OK;
}

/* The number of configurations of the space.  Without constraints the space is
 * not known, and the number of recorded ones is used. */
static enum shmtune_status count_space(const struct matching *matching,
                                       const int64_t *problem,
                                       uint64_t *count)
{
    const struct shmt_kernel *const kernel = matching->kernel;
    struct shmt_space *space;
    enum shmtune_status status;

    *count = matching->import->entry_count;
    if (kernel->constraint_count == 0)
        return SHMTUNE_OK;
    status = shmt_kernel_space(kernel, problem, &space, matching->err);
    if (status != SHMTUNE_OK)
        return status;
    *count = shmt_space_count(space);
    shmt_space_free(space);
    return SHMTUNE_OK;
}

static enum shmtune_status write_header(const struct matching *matching,
                                        struct shmt_text *text)
{
    const struct shmt_import *const import = matching->import;
    const struct shmt_kernel *const kernel = matching->kernel;
    struct shmt_journal_header header = {.origin = import->origin};
    enum shmtune_status status;

    if (import->header != NULL) {
        shmt_text_add(text, import->header);
        return SHMTUNE_OK;
    }
    shmt_kernel_default_problem(kernel, header.problem);
    for (size_t d = 0; d < kernel->dimension_count &&
                       import->dimension_count == kernel->dimension_count; d++)
        header.problem[d] = import->dimensions[d];
    snprintf(header.kernel, sizeof header.kernel, "%s", kernel->name);
    memcpy(header.digest, kernel->digest, sizeof header.digest);
    snprintf(header.device.name, sizeof header.device.name, "%.200s",
             import->device[0] == '\0' ? "unknown" : import->device);
    snprintf(header.protocol, sizeof header.protocol, "%s",
             import->kind == SHMT_IMPORT_CACHE ? "kernel-tuner" : "t4");
    status = count_space(matching, header.problem, &header.space_count);
    if (status == SHMTUNE_OK)
        shmt_journal_header_write(kernel, &header, text);
    return status;
}

enum shmtune_status shmt_import_journal(const struct shmt_import *import,
                                        const struct shmt_kernel *kernel,
                                        struct shmt_text *text,
                                        struct shmt_error *err)
{
    struct matching matching = {.import = import, .kernel = kernel,
                                .err = err};
    shmt_config config[SHMT_SPACE_PARAMETERS];
    enum shmtune_status status = match_names(&matching);

    if (status == SHMTUNE_OK)
        status = write_header(&matching, text);
    for (size_t k = 0; k < import->entry_count && status == SHMTUNE_OK; k++) {
        const struct shmt_import_entry *const entry = &import->entries[k];
        const struct shmt_journal_record record = {
            .kind = SHMT_JOURNAL_RESULT, .config = config,
            .at_s = entry->at_s, .result = &entry->result,
            .origin = entry->origin};

        status = choose(&matching, k, config);
        if (status == SHMTUNE_OK)
            shmt_journal_result_write(kernel, &record, text);
    }
    if (status == SHMTUNE_OK && text->failed)
        status = shmt_error_memory(err);
    return status;
}
