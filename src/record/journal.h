/* SPDX-License-Identifier: MIT */
/*
 * journal: what a tuning run leaves on disk as it goes (journal/5), and how
 * it is read back: by the next run, which resumes, and as a recording.
 *
 *   format: journal/5
 *   kernel: transpose
 *   ...
 *   records:
 *   - {try: {BLOCK_X: 32}}                  about to run on the device
 *   - {config: {BLOCK_X: 32}, at: 1.25, verdict: ok, ...}
 *   - {drop: {BLOCK_X: 32}}                 the try was called off
 *
 * Every record is one write(2): a run that is killed leaves whole records
 * and at most one piece, which the reader leaves out and the next writer cuts
 * off.  A file ending in .gz is read through zlib.
 */
#ifndef SHMT_RECORD_JOURNAL_H
#define SHMT_RECORD_JOURNAL_H

#include "kernel/kernel.h"
#include "record/result.h"

enum { SHMT_JOURNAL_PROTOCOL = 32 };

enum { SHMT_JOURNAL_FROM = 1024, SHMT_JOURNAL_REQUIRE = 1024 };

struct shmt_journal_header {
    char kernel[80];
    char digest[SHMT_DIGEST_TEXT];
    struct shmtune_device device;
    int nvrtc_version;
    char protocol[SHMT_JOURNAL_PROTOCOL];
    int64_t problem[SHMT_KERNEL_DIMENSIONS];
    uint64_t seed;              /* of the search */
    uint64_t data_seed;         /* of the inputs; where a journal does not say,
                                   they had the search's */
    char data_digest[SHMT_DIGEST_TEXT];   /* of the files that the inputs were
                                   filled from; "": of none */
    /* What the search learned from (tune --from), as the user was told, and the
     * SHA-256 of what was learned; "": nothing. */
    char from[SHMT_JOURNAL_FROM], from_digest[SHMT_DIGEST_TEXT];
    /* What a candidate had to meet (tune --require) when the journal was begun,
     * with "; " between them; "": nothing. */
    char require[SHMT_JOURNAL_REQUIRE];
    uint64_t space_count;      /* valid configurations at this size */
    /* NULL; of an imported run, what its file said besides, as JSON, kept to
     * be exported again.  NULL after a peek. */
    const char *origin;
};

enum shmt_journal_kind {
    SHMT_JOURNAL_TRY, SHMT_JOURNAL_RESULT, SHMT_JOURNAL_DROP
};

struct shmt_journal_record {
    enum shmt_journal_kind kind;
    const shmt_config *config;
    double at_s;                        /* of a result: the target's clock */
    const struct shmt_result *result;   /* of a result, else NULL */
    const char *origin;                 /* as in the header */
    int line;                           /* of the file; 0: not read */
    double others_s;                    /* of at_s, what others had that ran
                                           together with this one */
};

struct shmt_journal {
    struct shmt_arena *arena;
    struct shmt_journal_header header;
    size_t count;
    const struct shmt_journal_record *records;   /* in the file's order */
    size_t whole_bytes;        /* without the piece at the end */
    bool cut;                  /* there is such a piece */
};

/* Absent: SHMTUNE_NOT_FOUND.  Not a journal of `kernel`, or a record that is
 * whole and makes no sense: SHMTUNE_INVALID_FILE with file:line:column.  A
 * file that was cut within its header is refused in the same way. */
enum shmtune_status shmt_journal_read(const char *path,
                                      const struct shmt_kernel *kernel,
                                      struct shmt_journal **out,
                                      struct shmt_error *err);
/* The same of a journal that need not be of today's sources, nor of the size
 * of a problem of today's: configurations that the kernel does not have now
 * are left out, and counted; *why says what the first of them has. */
enum shmtune_status shmt_journal_read_some(const char *path,
                                           const struct shmt_kernel *kernel,
                                           size_t *left_out,
                                           struct shmt_error *why,
                                           struct shmt_journal **out,
                                           struct shmt_error *err);
void shmt_journal_free(struct shmt_journal *journal);

/* What keeps results from counting beside those of a journal with the header
 * `now`: other sources, another device, protocol, compiler, or other inputs;
 * NULL: nothing.  Sizes may differ. */
const char *shmt_journal_difference(const struct shmt_journal_header *old,
                                    const struct shmt_journal_header *now);

/* latest[k]: record k is the last result of its configuration.  Only the last
 * result of a configuration is valid: it may have passed in the search and
 * failed in the finals, or a candidate that was `not_recorded` may have been
 * tried since. */
enum shmtune_status shmt_journal_latest(const struct shmt_kernel *kernel,
                                        const struct shmt_journal *journal,
                                        bool *latest, struct shmt_error *err);

/* compile_ms[k], in milliseconds, for each record of the journal; negative when
 * nothing was compiled.  Configurations that differ only in launch parameters
 * share a binary, and the journal gives its compile time to only one of them,
 * whichever came first in that run.  Here each of them gets the compile time of
 * its binary. */
enum shmtune_status
shmt_journal_compile_times(const struct shmt_kernel *kernel,
                           const struct shmt_journal *journal,
                           double *compile_ms, struct shmt_error *err);

/* Reads the header only.  If `kernel` is NULL, only the kernel's name and the
 * digest are read, which stay readable whatever has changed in the spec. */
enum shmtune_status shmt_journal_read_header(const char *path,
                                             const struct shmt_kernel *kernel,
                                             struct shmt_journal_header *out,
                                             struct shmt_error *err);

/* Reads only the name of the journal's kernel; the kernel itself is not
 * needed. */
enum shmtune_status shmt_journal_read_kernel_name(const char *path,
                                                  char name[80],
                                                  struct shmt_error *err);

void shmt_journal_header_write(const struct shmt_kernel *kernel,
                               const struct shmt_journal_header *header,
                               struct shmt_text *text);
/* The line of a result, with its newline.  The key of its binary is left out,
 * because binaries do not outlive the run. */
void shmt_journal_result_write(const struct shmt_kernel *kernel,
                               const struct shmt_journal_record *record,
                               struct shmt_text *text);

/* What of this line is behind the configuration. */
void shmt_journal_rest_write(const struct shmt_journal_record *record,
                             struct shmt_text *text);

/* -- writing ------------------------------------------------------------- */
struct shmt_journal_writer;

/* Opens and locks the file, and creates it if it does not exist.
 * SHMTUNE_STORAGE when another run writes to it.  The content is not changed
 * yet. */
enum shmtune_status shmt_journal_open(const char *path,
                                      const struct shmt_kernel *kernel,
                                      struct shmt_journal_writer **out,
                                      struct shmt_error *err);
/* shmt_journal_begin empties the file and writes a header;
 * shmt_journal_continue cuts it to the `whole_bytes` that were read, has it say
 * that it is of today's version, and appends. */
enum shmtune_status
shmt_journal_begin(struct shmt_journal_writer *writer,
                   const struct shmt_journal_header *header,
                   struct shmt_error *err);
enum shmtune_status shmt_journal_continue(struct shmt_journal_writer *writer,
                                          size_t whole_bytes,
                                          struct shmt_error *err);
/* A record for `kind`; `result` and `at_s` are for a result. */
enum shmtune_status
shmt_journal_add(struct shmt_journal_writer *writer,
                 const struct shmt_journal_record *record,
                 struct shmt_error *err);
/* Synchronises the file to the disk and closes it.  The writer is freed even
 * on failure.  NULL is allowed. */
enum shmtune_status shmt_journal_close(struct shmt_journal_writer *writer,
                                       struct shmt_error *err);

#endif
