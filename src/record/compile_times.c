/* SPDX-License-Identifier: MIT */
/*
 * compile_times: sorts the records of a journal by their compile-time
 * parameters, so that configurations with the same binary are neighbours, and
 * gives each the binary's compile time.  Called by score/load.c and exchange/.
 */
#include "record/compile_times.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct binary {
    size_t record;
    double compile_ms;
    shmt_config defined[SHMT_SPACE_PARAMETERS];  /* 0 where of the launch */
};

static int compare(const void *a, const void *b)
{
    const struct binary *const x = a, *const y = b;
    const int order = memcmp(x->defined, y->defined, sizeof x->defined);

    if (order != 0)
        return order;
    return x->compile_ms > y->compile_ms ? -1 : x->compile_ms < y->compile_ms;
}

static void describe(const struct shmt_kernel *kernel,
                     const struct shmt_journal_record *record,
                     struct binary *binary)
{
    for (size_t p = 0; p < kernel->parameter_count; p++)
        if (!kernel->parameters[p].launch_only)
            binary->defined[p] = record->config[p];
    binary->compile_ms =
        record->kind == SHMT_JOURNAL_RESULT ? record->result->compile_ms : -1;
}

enum shmtune_status
shmt_journal_compile_times(const struct shmt_kernel *kernel,
                           const struct shmt_journal *journal,
                           double *compile_ms, struct shmt_error *err)
{
    const size_t count = journal->count;
    struct binary *const binaries = calloc(count + 1, sizeof *binaries);
    double most = 0;

    if (binaries == NULL)
        return shmt_error_memory(err);
    for (size_t k = 0; k < count; k++) {
        binaries[k].record = k;
        describe(kernel, &journal->records[k], &binaries[k]);
    }
    qsort(binaries, count, sizeof *binaries, compare);
    for (size_t k = 0; k < count; k++) {
        if (k == 0 || memcmp(binaries[k].defined, binaries[k - 1].defined,
                             sizeof binaries[k].defined) != 0)
            most = fmax(0, binaries[k].compile_ms);
        compile_ms[binaries[k].record] = binaries[k].compile_ms < 0 ? -1 : most;
    }
    free(binaries);
    return SHMTUNE_OK;
}
