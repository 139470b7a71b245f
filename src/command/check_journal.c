/* SPDX-License-Identifier: MIT */
/*
 * check_journal: checks a journal or a recording against its kernel: digest,
 * and every record in the space.  Called by check.c.
 */
#include "config.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "command/check.h"
#include "record/record.h"

/* Every record of a configuration that the space has today. */
/* A run imported from another tuner has the values of the parameters and may
 * lack the constraints; then only the recorded configurations are known of its
 * space. */
static bool is_own_space(const struct shmt_kernel *kernel,
                         const struct shmt_journal *journal)
{
    return journal->header.origin != NULL && kernel->constraint_count == 0 &&
           journal->header.space_count <= journal->count;
}

static enum shmtune_status check_records(struct shmt_check *check,
                                         const struct shmt_kernel *kernel,
                                         const struct shmt_journal *journal,
                                         struct shmt_error *err)
{
    struct shmt_text config = {0};
    struct shmt_space *space;
    size_t outside = 0, first = 0;
    uint64_t index;
    bool other;
    enum shmtune_status status =
        shmt_kernel_space(kernel, journal->header.problem, &space, err);

    if (status != SHMTUNE_OK)
        return status;
    for (size_t i = 0; i < journal->count; i++)
        if (!shmt_space_index(space, journal->records[i].config, &index) &&
            outside++ == 0)
            first = i;
    other = shmt_space_count(space) != journal->header.space_count;
    if (other && is_own_space(kernel, journal))
        shmt_check_report(check, SHMT_CHECK_NOTE,
                          "imported without its constraints: "
                          "%" PRIu64 " of the "
                          "%" PRIu64 " configurations of the spec are in it",
                          journal->header.space_count, shmt_space_count(space));
    else if (other)
        shmt_check_report(check, SHMT_CHECK_BAD,
                          "the space has %" PRIu64 " configurations, %" PRIu64
                          " when it was recorded", shmt_space_count(space),
                          journal->header.space_count);
    if (outside > 0) {
        shmt_kernel_describe_config(kernel, journal->records[first].config,
                                    &config);
        shmt_check_report(check, SHMT_CHECK_BAD,
                          "%s:%d:1: %zu record%s of configurations that are "
                          "not in the space, the first of %s", check->file,
                          journal->records[first].line, outside,
                          outside == 1 ? " is" : "s are",
                          shmt_text_string(&config));
    }
    shmt_text_free(&config);
    shmt_space_free(space);
    return SHMTUNE_OK;
}

static enum shmtune_status check_journal(struct shmt_check *check,
                                         const struct shmt_kernel *kernel,
                                         struct shmt_error *err)
{
    const size_t bad = check->bad;
    struct shmt_journal *journal;
    size_t results = 0;
    bool *latest;
    enum shmtune_status status =
        shmt_journal_read(check->file, kernel, &journal, err);

    if (status != SHMTUNE_OK)
        return status;
    latest = calloc(journal->count + 1, sizeof *latest);
    status = latest == NULL
                 ? shmt_error_memory(err)
                 : shmt_journal_latest(kernel, journal, latest, err);
    if (strcmp(journal->header.digest, kernel->digest) != 0)
        shmt_check_report(check, SHMT_CHECK_BAD,
                          "made for other sources of %s: digest %.12s..., "
                          "today's are %.12s...", kernel->name,
                          journal->header.digest, kernel->digest);
    if (journal->cut)
        shmt_check_report(check, SHMT_CHECK_NOTE,
                          "its last line is cut: the run was killed");
    if (status == SHMTUNE_OK)
        status = check_records(check, kernel, journal, err);
    for (size_t i = 0; status == SHMTUNE_OK && i < journal->count; i++)
        results += latest[i];
    if (status == SHMTUNE_OK && check->bad == bad)
        shmt_check_report(check, SHMT_CHECK_GOOD,
                          "journal of %s on %s: %zu results of %" PRIu64
                          " configurations", kernel->name,
                          journal->header.device.name, results,
                          journal->header.space_count);
    free(latest);
    shmt_journal_free(journal);
    return status;
}

enum shmtune_status shmt_check_journal(struct shmt_check *check,
                                       struct shmt_error *err)
{
    struct shmt_kernel *kernel;
    char name[80];
    enum shmtune_status status =
        shmt_journal_read_kernel_name(check->file, name, err);

    if (status == SHMTUNE_OK)
        status = shmt_command_kernel_of(check->file, name, check->spec,
                                        &kernel, err);
    if (status != SHMTUNE_OK)
        return status;
    status = check_journal(check, kernel, err);
    shmt_kernel_free(kernel);
    return status;
}
