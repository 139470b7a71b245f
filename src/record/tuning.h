/* SPDX-License-Identifier: MIT */
/*
 * tuning: what was found for one kernel on one device (tuning/3), as data.
 * Untrusted: integers, words and numbers, never a path, an option or source.
 */
#ifndef SHMT_RECORD_TUNING_H
#define SHMT_RECORD_TUNING_H

#include "kernel/kernel.h"
#include "record/dispatch.h"
#include "record/result.h"

/* Names and values as they stand in the file: a tuning is read without its
 * kernel.  Matched by shmt_tuning_config. */
struct shmt_setting {
    const char *name;
    struct shmt_value value;
};

/* Candidates that no other dominates on some numbers, with those numbers. */
enum { SHMT_TUNED_AXES = 4, SHMT_TUNED_FRONT = 64 };
struct shmt_tuned_axis {
    const char *name;
    bool most;                   /* more is better */
};
struct shmt_tuned_point {
    const struct shmt_setting *settings;    /* names as in the winner's; in a
                                    file only what differs from these */
    double at[SHMT_TUNED_AXES];
};
struct shmt_tuned_front {
    size_t axis_count;           /* 0: there is none */
    struct shmt_tuned_axis axes[SHMT_TUNED_AXES];
    size_t count;                /* of the points that are there, */
    uint64_t all;                /* of so many */
    const struct shmt_tuned_point *points;
};

/* One problem.  What is not known: NULL or "" as a text, below 0 as a real
 * number, 0 as a count. */
struct shmt_tuned {
    size_t size_count;
    const struct shmt_setting *size;            /* the problem: integers */
    size_t setting_count;
    const struct shmt_setting *settings;        /* the winner */
    struct shmt_result result;                  /* of the winner's finals; its
                                    verdict is OK */
    double spread;               /* (p75 - p25) / median of the samples */
    double default_us;           /* the default in the same finals; < 0: it
                                    failed */
    double floor_us;             /* bytes over bandwidth; < 0: not known */
    const char *strategy;        /* "exhaustive", ... */
    uint64_t seed;               /* of the search */
    uint64_t data_seed;          /* of the inputs; a file that does not say
                                    means the search's */
    const char *data_digest;     /* of the files that the inputs were filled
                                    from; NULL or "": of none */
    uint64_t space_count;        /* valid configurations */
    uint64_t tried;              /* candidates with a result */
    uint64_t verdicts[SHMT_VERDICT_COUNT];
    double elapsed_s;
    size_t tie_count;            /* configurations as good, the winner
                                    first; names as in `settings`; in a
                                    file only what differs from these */
    const struct shmt_setting *const *ties;     /* [tie_count][setting_count] */
    struct shmt_tuned_front pareto;
    /* Where it was read, for messages: the problem, the winner and
     * [tie_count]; line 0 and NULL when it was not. */
    struct shmt_place place, settings_place;
    const struct shmt_place *tie_places;
};

struct shmt_tuning {
    struct shmt_arena *arena;
    size_t bytes;                /* of the text it was read from; 0: of none */
    const char *kernel;
    char digest[SHMT_DIGEST_TEXT];
    struct shmtune_device device;
    const char *created;         /* "2026-11-21T10:00:00Z" */
    int nvrtc_version;           /* 13000 */
    const char *protocol;        /* "cold-l2", "warm-l2" */
    size_t tuned_count;
    struct shmt_tuned **tuned;   /* sorted by size */
    const struct shmt_dispatch *dispatch;   /* NULL: none */
    size_t left_out;             /* the last ones: see shmt_tuning_read_into */
};

/* Of what is written and read. */
enum {
    SHMT_TUNING_BYTES = 2 << 20,
    SHMT_TUNING_TIES = 64,       /* shmt_tuning_put keeps the first */
    SHMT_TUNING_SIZES = 4096
};

/* An empty tuning for a writer to fill in: no problems, every text "".  Texts
 * must live in `arena` (shmt_arena_copy) or be constants. */
enum shmtune_status shmt_tuning_new(struct shmt_tuning **out,
                                    struct shmt_error *err);

/* Every refusal is SHMTUNE_INVALID_FILE and begins with file:line:column;
 * a file that is absent or cannot be read is NOT_FOUND or STORAGE. */
enum shmtune_status shmt_tuning_read(const char *path,
                                     struct shmt_tuning **out,
                                     struct shmt_error *err);
/* The same, with all of it in the caller's `arena`: shmt_tuning_free is not
 * for it.  It is for files that are not trusted: where the entries take more
 * than 4 times the size of the file and 256 KiB, as those that an adversary
 * makes can, the rest are left out. */
enum shmtune_status shmt_tuning_read_into(struct shmt_arena *arena,
                                          const char *path,
                                          struct shmt_tuning **out,
                                          struct shmt_error *err);
enum shmtune_status shmt_tuning_parse(const char *name, const char *data,
                                      size_t size, struct shmt_tuning **out,
                                      struct shmt_error *err);
void shmt_tuning_free(struct shmt_tuning *tuning);

/* Writes the tuning as text, always the same text for the same tuning: a block
 * for each problem, with one line for its size, one for its configuration and
 * one for each tie, so that a diff is readable.  It begins with `---` and ends
 * with `...`, so that the reader refuses it where it was cut. */
void shmt_tuning_format(const struct shmt_tuning *tuning,
                        struct shmt_text *text);
enum shmtune_status shmt_tuning_write(const struct shmt_tuning *tuning,
                                      const char *path,
                                      struct shmt_error *err);

/* Adds a deep copy of `one`, or replaces the entry of the same problem.  Its
 * dimensions must be those of the other entries, in the same order. */
enum shmtune_status shmt_tuning_put(struct shmt_tuning *tuning,
                                    const struct shmt_tuned *one,
                                    struct shmt_error *err);

/* The settings as a configuration of `kernel`: every parameter named once,
 * each value in its list; else SHMTUNE_INVALID_FILE with the name. */
enum shmtune_status
shmt_tuning_config(const struct shmt_kernel *kernel,
                   const struct shmt_setting *settings, size_t count,
                   shmt_config *config, struct shmt_error *err);

/* The ties of a tuned problem but the first, which is the winner again, as
 * configurations of `kernel`: the first SHMT_TUNING_TRIED that are one of it at
 * some size.  Returns how many there are.  `winner` is the choice of the
 * settings, and runs at `problem`; `ties` has room for so many, or for
 * tie_count where that is less. */
enum { SHMT_TUNING_TRIED = 8 };
size_t shmt_tuning_ties(const struct shmt_kernel *kernel,
                        const struct shmt_tuned *tuned,
                        const int64_t *problem, const shmt_config *winner,
                        shmt_config *ties);

/* [dimension_count]; every dimension named once, within its bounds. */
enum shmtune_status shmt_tuning_problem(const struct shmt_kernel *kernel,
                                        const struct shmt_tuned *tuned,
                                        int64_t *problem,
                                        struct shmt_error *err);

#endif
