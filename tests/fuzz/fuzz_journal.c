/* SPDX-License-Identifier: MIT */
/*
 * Any bytes, compressed or not: a journal of tests/fake/data/toy.yaml, or a
 * refusal with its place.
 */
#define _GNU_SOURCE   /* memfd_create */
#include "fuzz.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "record/journal.h"

const char fuzz_name[] = "journal";

static void check_journal(const struct shmt_journal *journal, size_t size)
{
    const struct shmt_kernel *const kernel = fuzz_kernel();

    (void)size;
    FUZZ_HOLDS(journal->count == 0 || journal->whole_bytes > 0);
    for (size_t k = 0; k < journal->count; k++) {
        const struct shmt_journal_record *const record =
            &journal->records[k];
        FUZZ_HOLDS((record->kind == SHMT_JOURNAL_RESULT) ==
                   (record->result != NULL));
        for (size_t p = 0; p < kernel->parameter_count; p++)
            FUZZ_HOLDS(record->config[p] < kernel->parameters[p].count);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct shmt_journal *journal = NULL;
    struct shmt_error err = {0};
    const int fd = memfd_create("journal", MFD_CLOEXEC);
    enum shmtune_status status;
    char path[64];

    FUZZ_HOLDS(fd >= 0);
    FUZZ_HOLDS(write(fd, data, size) == (ssize_t)size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    status = shmt_journal_read(path, fuzz_kernel(), &journal, &err);
    if (status == SHMTUNE_OK) {
        check_journal(journal, size);
    } else {
        FUZZ_HOLDS(status == SHMTUNE_INVALID_FILE);
        FUZZ_HOLDS(strncmp(err.text, path, strlen(path)) == 0);
        FUZZ_HOLDS(journal == NULL);
    }
    shmt_journal_free(journal);
    close(fd);
    return 0;
}
