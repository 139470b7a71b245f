/* SPDX-License-Identifier: MIT */
/*
 * exchange: files of other tuners, read and written.
 *
 * Import reads
 *
 *   T1 JSON             a search space: parameters, conditions
 *   Kernel Tuner cache  every configuration of a run, by its values
 *   T4 JSON             results, one an entry
 *   KTT's JSON          results, one a run
 *   CLBlast's JSON      results, one a configuration that was right
 *
 * each also compressed by gzip, and writes specs and journals from them.  Of
 * Python's lists and conditions it reads what the expression language (expr/)
 * covers; anything else is refused with its place.  No Python is run.
 *
 * Export writes a journal in these formats.  A run that was imported is
 * exported unchanged.  What the other format cannot hold of our own runs is put
 * into members named "shmtune", which import reads back.
 */
#ifndef SHMT_EXCHANGE_H
#define SHMT_EXCHANGE_H

#include "kernel/kernel.h"
#include "record/record.h"

/* -- import ---------------------------------------------------------------- */

enum shmt_import_kind {
    SHMT_IMPORT_SPACE,      /* T1 */
    SHMT_IMPORT_CACHE,      /* Kernel Tuner */
    SHMT_IMPORT_RESULTS,    /* T4 */
    SHMT_IMPORT_KTT,
    SHMT_IMPORT_CLBLAST
};
const char *shmt_import_kind_text(enum shmt_import_kind kind);

struct shmt_import_parameter {
    const char *name;
    enum shmt_value_type type;
    size_t count;
    const struct shmt_value *values;
    size_t default_value;       /* index of its default, or SIZE_MAX */
    bool truths;                /* written as true and false */
    bool mixed;                 /* integers written among reals */
};

struct shmt_import_constraint {
    const char *text;
    const char *where;          /* "f.json: ...Conditions[2].Expression" */
};

struct shmt_import {
    struct shmt_arena *arena;
    struct shmt_arena *scratch; /* of the entry that is read */
    enum shmt_import_kind kind;
    const char *file;
    const char *name;           /* an identifier */
    const char *device;         /* "" when the file does not say */
    const char *objective;      /* cache: the member that was minimised */
    double unit_ms;             /* T4, KTT: of its times, milliseconds; 0: that
                                   of each entry's time */
    size_t dimension_count;
    int64_t dimensions[SHMT_KERNEL_DIMENSIONS];
    const char *dimension_names[SHMT_KERNEL_DIMENSIONS];
    size_t parameter_count;
    struct shmt_import_parameter *parameters;
    size_t constraint_count;
    struct shmt_import_constraint *constraints;
    /* Results: the values of one after the other, by their places in
     * `distinct`, and the lines of a journal without their configurations,
     * each of which ends in a NUL. */
    size_t entry_count, value_room;
    uint32_t *values;           /* [entry_count * parameter_count] */
    struct shmt_text results;
    double clock_s;             /* the end of the last one */
    /* The values that occur in results, each once. */
    struct shmt_map distinct_map;
    size_t distinct_count, distinct_room;
    struct shmt_value *distinct;
    const char *origin;         /* the file's own, as JSON, or NULL */
    const struct shmt_space_limits *limits;     /* of its space; or NULL */
    /* The header of the journal, if the file was exported by us, or NULL. */
    const char *header;
};

/* SHMTUNE_STORAGE, SHMTUNE_NOT_FOUND; SHMTUNE_INVALID_FILE with the file and
 * the place in it. */
enum shmtune_status shmt_import_read(const char *path,
                                     struct shmt_import **out,
                                     struct shmt_error *err);
/* From memory; `file` is for messages, and for a name where the data has
 * none. */
enum shmtune_status shmt_import_parse(const char *file, const char *data,
                                      size_t size, struct shmt_import **out,
                                      struct shmt_error *err);
void shmt_import_free(struct shmt_import *import);

/* Python text of a list: [1, 2], (1, 2), range(1, 9), list(...), lists that
 * are added, [2**i for i in range(3) if i != 1]; numbers and words, and both:
 * then all are words. */
struct shmt_import_list {
    enum shmt_value_type type;
    size_t count;
    struct shmt_value *values;
};
enum shmtune_status shmt_import_parse_list(struct shmt_arena *arena,
                                           const char *where, const char *text,
                                           struct shmt_import_list *out,
                                           struct shmt_error *err);

/* Counts the configurations of the space; *drawn (or NULL): they are some of
 * more.  SHMTUNE_INVALID_FILE names the condition that cannot be evaluated for
 * one of them, or that leaves none. */
enum shmtune_status shmt_import_count(const struct shmt_import *import,
                                      uint64_t *count, bool *drawn,
                                      struct shmt_error *err);

/* The space as a spec of ours (kernel/1).  *defaults is false when the file
 * has a default configuration that its own conditions exclude: the spec then
 * has none. */
enum shmtune_status shmt_import_spec(const struct shmt_import *import,
                                     struct shmt_text *text, bool *defaults,
                                     struct shmt_error *err);

/* How far a journal has been written; at first {0}. */
struct shmt_import_cursor {
    size_t entry, offset;       /* the next result, and where its line is */
    bool ended;
};

/* Appends the next part, about a MiB, of the journal of `kernel`, whose
 * parameters are the import's, in any order, and have all its values. */
enum shmtune_status shmt_import_journal(const struct shmt_import *import,
                                        const struct shmt_kernel *kernel,
                                        struct shmt_import_cursor *cursor,
                                        struct shmt_text *text,
                                        struct shmt_error *err);

/* -- export ---------------------------------------------------------------- */

/* A Kernel Tuner cache file; T4 results. */
enum shmtune_status shmt_export_cache(const struct shmt_kernel *kernel,
                                      const struct shmt_journal *journal,
                                      struct shmt_text *text,
                                      struct shmt_error *err);
enum shmtune_status shmt_export_t4(const struct shmt_kernel *kernel,
                                   const struct shmt_journal *journal,
                                   struct shmt_text *text,
                                   struct shmt_error *err);
/* The space of a kernel for one problem, T1. */
enum shmtune_status shmt_export_t1(const struct shmt_kernel *kernel,
                                   const int64_t *problem,
                                   struct shmt_text *text,
                                   struct shmt_error *err);
/* The tunings of a kernel, in a form that programs are compiled with. */
enum {
    SHMT_EXPORT_TUNINGS = 64,
    SHMT_EXPORT_ROWS = 1024,       /* sizes, of all of them */
    SHMT_EXPORT_BYTES = 4 << 20    /* of what is written, and of a template */
};
struct shmt_export_rows;
enum shmtune_status shmt_export_rows_new(const struct shmt_kernel *kernel,
                                         struct shmt_export_rows **out,
                                         struct shmt_error *err);
void shmt_export_rows_free(struct shmt_export_rows *rows);
/* SHMTUNE_INVALID_FILE: it is of another kernel or other sources, has no
 * compute capability, or is one too many.  Sizes whose configuration the kernel
 * has not, or which does not run there, are left out and counted. */
enum shmtune_status shmt_export_rows_add(struct shmt_export_rows *rows,
                                         const struct shmt_tuning *tuning,
                                         const char *file,
                                         struct shmt_error *err);
size_t shmt_export_rows_count(const struct shmt_export_rows *rows);
size_t shmt_export_rows_left_out(const struct shmt_export_rows *rows);
/* A header of C and C++; or the rows in the form of a template, which is
 * `name` in messages. */
enum shmtune_status shmt_export_header(const struct shmt_export_rows *rows,
                                       struct shmt_text *text,
                                       struct shmt_error *err);
enum shmtune_status shmt_export_table(const struct shmt_export_rows *rows,
                                      const char *name, const char *form,
                                      struct shmt_text *text,
                                      struct shmt_error *err);

/* Has jansson's allocations watched from now on; whether one has failed since,
 * so that what was built of them may lack members. */
void shmt_export_memory_watch(void);
bool shmt_export_memory_failed(void);

/* How many results stand in a cache or T4 file. */
enum shmtune_status shmt_export_count(const struct shmt_kernel *kernel,
                                      const struct shmt_journal *journal,
                                      size_t *out, struct shmt_error *err);

#endif
