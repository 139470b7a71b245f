/* SPDX-License-Identifier: MIT */
/*
 * profile: what the hardware counted while configurations ran, by Nsight
 * Compute's command line: `ncu` runs our own worker, which launches each
 * configuration once between the profiler's marks, and writes one CSV row a
 * launch.
 *
 * Called by `shmtune explain`.
 */
#ifndef SHMT_PROFILE_H
#define SHMT_PROFILE_H

#include <signal.h>
#include <stdbool.h>

#include "base/base.h"
#include "kernel/kernel.h"

/* How the launches of one configuration make one number. */
enum shmt_metric_kind {
    SHMT_METRIC_SUM,
    SHMT_METRIC_MEAN,          /* weighted by the launches' times */
    SHMT_METRIC_MOST
};

/* X(name, kind, metric) */
#define SHMT_METRIC_LIST(X)                                                  \
    X(TIME_NS, SUM, "gpu__time_duration.sum")                                \
    X(LOAD_REQUESTS, SUM, "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum") \
    X(LOAD_SECTORS, SUM, "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum")   \
    X(LOAD_USED, MEAN,                                                       \
      "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct")       \
    X(STORE_REQUESTS, SUM,                                                   \
      "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum")                     \
    X(STORE_SECTORS, SUM, "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum")  \
    X(STORE_USED, MEAN,                                                      \
      "smsp__sass_average_data_bytes_per_sector_mem_global_op_st.pct")       \
    X(L2_HIT, MEAN, "lts__t_sector_hit_rate.pct")                            \
    X(DRAM_READ, SUM, "dram__bytes_read.sum")                                \
    X(DRAM_WRITE, SUM, "dram__bytes_write.sum")                              \
    X(DRAM_SECTORS_READ, SUM, "dram__sectors_read.sum")                      \
    X(DRAM_SECTORS_WRITE, SUM, "dram__sectors_write.sum")                    \
    X(DRAM_BUSY, MEAN, "dram__throughput.avg.pct_of_peak_sustained_elapsed") \
    X(SHARED_LOADS, SUM, "smsp__inst_executed_op_shared_ld.sum")             \
    X(SHARED_LOAD_WAVES, SUM,                                                \
      "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum")                \
    X(SHARED_LOAD_CONFLICTS, SUM,                                            \
      "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum")            \
    X(SHARED_STORES, SUM, "smsp__inst_executed_op_shared_st.sum")            \
    X(SHARED_STORE_WAVES, SUM,                                               \
      "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum")                \
    X(SHARED_STORE_CONFLICTS, SUM,                                           \
      "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum")            \
    X(SHARED_USED, MEAN,                                                     \
      "smsp__sass_average_data_bytes_per_wavefront_mem_shared.pct")          \
    X(LOCAL_LOAD_SECTORS, SUM,                                               \
      "l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum")                       \
    X(LOCAL_STORE_SECTORS, SUM,                                              \
      "l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum")                       \
    X(WARPS_ACTIVE, MEAN, "sm__warps_active.avg.pct_of_peak_sustained_active") \
    X(ISSUE_BUSY, MEAN, "sm__inst_issued.avg.pct_of_peak_sustained_active")  \
    X(FMA_BUSY, MEAN,                                                        \
      "sm__inst_executed_pipe_fma.avg.pct_of_peak_sustained_active")         \
    X(THREADS_ACTIVE, MEAN,                                                  \
      "smsp__thread_inst_executed_per_inst_executed.ratio")                  \
    X(REGISTERS, MOST, "launch__registers_per_thread")

enum shmt_metric {
#define SHMT_METRIC_ENUM(name, kind, metric) SHMT_METRIC_##name,
    SHMT_METRIC_LIST(SHMT_METRIC_ENUM)
#undef SHMT_METRIC_ENUM
    SHMT_METRIC_COUNT
};
const char *shmt_metric_name(enum shmt_metric metric);

/* In bytes and nanoseconds.  NAN: this GPU or this version of ncu does not
 * have the counter. */
struct shmt_counters {
    double value[SHMT_METRIC_COUNT];
};

/* The path of ncu: $SHMTUNE_NCU, $PATH, $CUDA_HOME/bin, /usr/local/cuda and
 * /opt/nvidia/nsight-compute.  SHMTUNE_NOT_FOUND with the remedy. */
enum shmtune_status shmt_counters_program(char *out, size_t room,
                                          struct shmt_error *err);

struct shmt_counters_request {
    const struct shmt_kernel *kernel;
    const int64_t *problem;
    size_t count;
    const shmt_config *configs;    /* [count][parameter_count] */
    const char *worker;            /* NULL: this program */
    const char *device;            /* "0" or "GPU-..." */
    const char *uuid;              /* whose turn is waited for; NULL or "":
                                      nobody's */
    uint64_t data_seed;            /* of the inputs */
    double deadline_s;             /* of all; 0: the usual one */
    const volatile sig_atomic_t *stop;
};

/* out[count].  NOT_FOUND: no ncu; CUDA: the driver does not let this user
 * read counters; WRONG_RESULT: a configuration did not run.  Each says what
 * can be done. */
enum shmtune_status
shmt_counters_collect(const struct shmt_counters_request *request,
                      struct shmt_counters *out, struct shmt_error *err);

/* -- counters_csv.c: what ncu writes ------------------------------------- */

enum { SHMT_COUNTERS_BYTES = 4 << 20, SHMT_COUNTERS_ROWS = 4096 };

/* The rows of `ncu --csv --page raw --print-units base`, one a launch.  Lines
 * before the line of titles are skipped, and so are lines that begin with "=="
 * (remarks of ncu).  SHMTUNE_INVALID_FILE with name:line for anything else. */
enum shmtune_status shmt_counters_parse(const char *name, const char *data,
                                        size_t size,
                                        struct shmt_counters *rows,
                                        size_t room, size_t *count,
                                        struct shmt_error *err);
/* One configuration from its launches. */
void shmt_counters_join(const struct shmt_counters *rows, size_t count,
                        struct shmt_counters *out);

#endif
