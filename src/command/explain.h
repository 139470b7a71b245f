/* SPDX-License-Identifier: MIT */
/*
 * explain: what the files explain*.c share: configurations of one
 * kernel side by side.
 */
#ifndef SHMT_COMMAND_EXPLAIN_H
#define SHMT_COMMAND_EXPLAIN_H

#include "command/command.h"
#include "command/tune_device.h"
#include "profile/profile.h"
#include "record/record.h"

/* The default, and the configurations that are set against it. */
enum { SHMT_EXPLAIN_COLUMNS = 1 + SHMT_COMMAND_REPEATS };

struct shmt_explain_column {
    char label[32];            /* "default", "tuned", "config 1" */
    shmt_config config[SHMT_SPACE_PARAMETERS];
    struct shmt_result result;
    struct shmt_counters counters;   /* when `counted` */
};

struct shmt_explain_view {
    const struct shmt_kernel *kernel;
    const struct shmt_target *target;
    int64_t problem[SHMT_KERNEL_DIMENSIONS];
    const char *tuning;        /* where "tuned" comes from, or NULL */
    size_t count;
    struct shmt_explain_column *columns;   /* [SHMT_EXPLAIN_COLUMNS] */
    bool counted;
    const char *missing;       /* why not */
};

/* -- explain_find.c --------------------------------------------------- */

/* Where the tuned configuration is looked for: `file`, else OUTPUT, else
 * ./tunings, then the folders of the kernels. */
struct shmt_explain_search {
    struct shmt_arena *arena;
    const struct shmt_target *target;
    const struct shmt_recording_places *places;
    struct shmt_display *display;
    const char *file, *output;
};

/* The tuned column.  `*problem_given` false: the problem is chosen too, the
 * kernel's usual one when it is tuned, else the largest.  SHMTUNE_NOT_FOUND
 * with what there is. */
enum shmtune_status
shmt_explain_find(const struct shmt_explain_search *search,
                  bool problem_given, struct shmt_explain_view *out,
                  struct shmt_error *err);

/* -- explain_show.c --------------------------------------------------- */

enum shmtune_status shmt_explain_show(const struct shmt_explain_view *all,
                                      bool colour, struct shmt_error *err);
enum shmtune_status shmt_explain_json(const struct shmt_explain_view *all,
                                      struct shmt_error *err);

/* -- explain_read.c --------------------------------------------------- */

/* What follows from the counters.  X(name, key, title, unit, decimals) */
#define SHMT_EXPLAIN_READING_LIST(X)                                         \
    X(LOAD_SECTORS, "sectors_per_load_request",                              \
      "sectors a load request", "", 2)                                       \
    X(LOAD_USED, "load_bytes_used_percent", "  of their bytes used", "%", 1) \
    X(STORE_SECTORS, "sectors_per_store_request",                            \
      "sectors a store request", "", 2)                                      \
    X(STORE_USED, "store_bytes_used_percent", "  of their bytes used", "%",  \
      1)                                                                     \
    X(L2_HIT, "l2_hit_percent", "L2 hits", "%", 1)                           \
    X(DRAM_READ, "dram_read_megabytes", "DRAM read", "MB", 2)                \
    X(DRAM_WRITE, "dram_written_megabytes", "DRAM written", "MB", 2)         \
    X(DRAM_BUSY, "dram_percent_of_peak", "DRAM throughput of peak", "%", 1)  \
    X(SHARED_LOADS, "shared_load_instructions",                              \
      "shared-memory loads (warps)", "", 0)                                  \
    X(SHARED_LOAD_WAYS, "shared_load_ways", "  bank conflict of loads",      \
      "way", 2)                                                              \
    X(SHARED_STORES, "shared_store_instructions",                            \
      "shared-memory stores (warps)", "", 0)                                 \
    X(SHARED_STORE_WAYS, "shared_store_ways", "  bank conflict of stores",   \
      "way", 2)                                                              \
    X(SHARED_USED, "shared_efficiency_percent",                              \
      "shared bytes of what a step can", "%", 1)                             \
    X(LOCAL_SECTORS, "local_sectors", "local-memory sectors", "", 0)         \
    X(WARPS_ACTIVE, "warps_active_percent", "warps active (achieved)", "%",  \
      1)                                                                     \
    X(THREADS_ACTIVE, "threads_active_per_instruction",                      \
      "threads active an instruction", "of 32", 1)                           \
    X(ISSUE_BUSY, "issue_percent_of_peak", "instructions issued of peak",    \
      "%", 1)                                                                \
    X(FMA_BUSY, "fma_percent_of_peak", "multiply-add pipe of peak", "%", 1)

enum shmt_explain_reading {
#define SHMT_EXPLAIN_READING_ENUM(name, key, title, unit, decimals)          \
    SHMT_READING_##name,
    SHMT_EXPLAIN_READING_LIST(SHMT_EXPLAIN_READING_ENUM)
#undef SHMT_EXPLAIN_READING_ENUM
    SHMT_EXPLAIN_READING_COUNT
};
/* NAN where a counter is not known, or divides by nothing. */
void shmt_explain_read(const struct shmt_counters *counters,
                       double out[SHMT_EXPLAIN_READING_COUNT]);

/* What the readings of one column say, a line each: "tuned: ..." */
void shmt_explain_remark(const struct shmt_explain_column *column,
                         const double readings[SHMT_EXPLAIN_READING_COUNT],
                         struct shmt_text *text);

#endif
