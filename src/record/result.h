/* SPDX-License-Identifier: MIT */
/*
 * result: everything that is known of one candidate: the stage it reached, its
 * verdict with a reason, what the compiler reported and what was measured.
 * One line of YAML in a journal and in a worker's reply.
 */
#ifndef SHMT_RECORD_RESULT_H
#define SHMT_RECORD_RESULT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/base.h"
#include "device/device.h"

/* X(name, word, stage, text).  Stages in funnel order: filter (before the
 * compiler), compile, resources, run, verify, time. */
#define SHMT_VERDICT_LIST(X)                                                 \
    X(OK, "ok", TIME, "verified and timed")                                  \
    X(SLOW, "slow", TIME, "verified; given up after its first samples")      \
    X(TOO_LARGE, "too_large", FILTER, "exceeds a limit of the device")       \
    X(COMPILE_ERROR, "compile_error", COMPILE, "does not compile")           \
    X(COMPILE_TIMEOUT, "compile_timeout", COMPILE,                           \
      "the compiler exceeded its deadline")                                  \
    X(NOT_RECORDED, "not_recorded", COMPILE, "not in the recording")         \
    X(NOT_RESIDENT, "not_resident", RESOURCES,                               \
      "no block fits a multiprocessor")                                      \
    X(SPEC_MISMATCH, "spec_mismatch", RESOURCES,                             \
      "shared bytes or arguments of the spec are not the compiler's")        \
    X(SPILLS, "spills", RESOURCES, "spills more than --max-spill")           \
    X(LOW_OCCUPANCY, "low_occupancy", RESOURCES, "below --min-occupancy")    \
    X(UNMET, "unmet", RESOURCES, "does not meet a --require")                \
    X(LAUNCH_ERROR, "launch_error", RUN, "the driver refused the launch")    \
    X(OUT_OF_MEMORY, "out_of_memory", RUN, "device memory exhausted")        \
    X(CRASH, "crash", RUN, "the kernel or its worker died")                  \
    X(TIMEOUT, "timeout", RUN, "did not end within its deadline")            \
    X(WRONG, "wrong", VERIFY, "output differs from the reference")           \
    X(UNWRITTEN, "unwritten", VERIFY, "output elements left unwritten")      \
    X(OUT_OF_BOUNDS, "out_of_bounds", VERIFY, "wrote outside a buffer")      \
    X(UNSTABLE, "unstable", VERIFY, "right at first, wrong after timing")

enum shmt_stage {
    SHMT_STAGE_FILTER, SHMT_STAGE_COMPILE, SHMT_STAGE_RESOURCES,
    SHMT_STAGE_RUN, SHMT_STAGE_VERIFY, SHMT_STAGE_TIME, SHMT_STAGE_COUNT
};
const char *shmt_stage_word(enum shmt_stage stage);

enum shmt_verdict {
#define SHMT_VERDICT_ENUM(name, word, stage, text) SHMT_VERDICT_##name,
    SHMT_VERDICT_LIST(SHMT_VERDICT_ENUM)
#undef SHMT_VERDICT_ENUM
    SHMT_VERDICT_COUNT
};
const char *shmt_verdict_word(enum shmt_verdict verdict);
const char *shmt_verdict_text(enum shmt_verdict verdict);
enum shmt_stage shmt_verdict_stage(enum shmt_verdict verdict);
/* False when no verdict has that word. */
bool shmt_verdict_find(const char *word, enum shmt_verdict *out);

enum {
    SHMT_RESULT_SAMPLES = 64,
    SHMT_RESULT_REASON = 256,
    SHMT_RESULT_VARIABLE = 65
};

struct shmt_result {
    enum shmt_verdict verdict;
    char reason[SHMT_RESULT_REASON];  /* "" when the verdict says it all */
    struct shmt_resources resources;
    struct shmt_resources_of_launches launches;
    int64_t shared_dynamic_bytes;
    int resident_blocks;              /* -1: not known */
    int occupancy_percent;
    enum shmt_limiter limiter;
    int argument;                     /* a wrong output: its number in the
                                         spec, */
    int64_t mismatches;               /* its elements that are wrong, */
    double excess;                    /* how many times the tolerance the
                                         worst is off, of a right output too
                                         (an exact one: by how much, reals
                                         relative); < 0: not known, or
                                         without bounds */
    double compile_ms;                /* < 0: not compiled (shared binary: 0) */
    double measure_ms;                /* wall time in the measure worker, */
    /* In messages of workers alone: */
    int answer_ms;                    /* beside what a program took to say what
                                         is right; 0: none ran */
    double once_ms;                   /* of measure_ms, what another worker
                                         would find done: the reference was
                                         compiled */
    char variable[SHMT_RESULT_VARIABLE];   /* of the source, that the spec
                                         fills with other bytes than these, or
                                         leaves unfilled; "": none */
    int64_t variable_bytes;
    int sample_count;
    float samples_us[SHMT_RESULT_SAMPLES];
    double time_us;                   /* their middle; < 0: not timed */
    double scale;                     /* of another device's samples to those
                                         of the run's own: time_us is the
                                         middle x scale; < 0: its own */
    char image[SHMT_DIGEST_TEXT];   /* content key of its binary, or "" */
};

/* Verdict OK, every number -1 (not known), no samples, texts "". */
void shmt_result_clear(struct shmt_result *result);

/* Sets the verdict and a reason cut to fit, control characters replaced. */
void shmt_result_set_verdict(struct shmt_result *result,
                             enum shmt_verdict verdict,
                             const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Median of the samples, on the scale, into time_us. */
void shmt_result_summarise(struct shmt_result *result);

/* "verdict: ok, registers: 32, ..." : the inside of a flow mapping, fields
 * that are not known left out, samples with 5 significant digits; and back
 * from a mapping whose other keys are ignored.  Strict on values:
 * SHMTUNE_INVALID_FILE with the place of the first that cannot be. */
void shmt_result_write(const struct shmt_result *result,
                       struct shmt_text *text);
/* The same as a block mapping, each line indented by `indent` spaces. */
void shmt_result_write_block(const struct shmt_result *result, int indent,
                             struct shmt_text *text);
struct shmt_yaml;
enum shmtune_status shmt_result_read(const struct shmt_yaml *mapping,
                                     struct shmt_result *out,
                                     struct shmt_error *err);
/* The same; other keys are refused. */
enum shmtune_status shmt_result_read_strict(const struct shmt_yaml *mapping,
                                            struct shmt_result *out,
                                            struct shmt_error *err);
extern const char *const shmt_result_keys[];   /* NULL-terminated */

#endif
