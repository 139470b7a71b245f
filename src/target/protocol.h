/* SPDX-License-Identifier: MIT */
/*
 * protocol: what the tuner and its worker processes say to each other, both
 * ends of every message.  One line of YAML each way, without its newline here.
 *
 * A request:
 *
 *   {verb: inspect, tag: 7, size: {rows: 64}, config: {BLOCK_X: 32}}
 *   {verb: measure, tag: 8, size: ..., config: ..., image: HEX, samples: 7,
 *    hopeless_us: 12.5, verify: true}
 *   {verb: profile, tag: 9, size: ..., config: ...}
 *
 * Only the verb, the tag and the configuration must be there; the size
 * defaults to the spec's.  A reply, of which the hello comes first and unasked:
 *
 *   {hello: 1, nvrtc: 13000, arch: sm_90, digest: HEX,
 *    protocol: cold-l2, device: {...}}           with a device only
 *   {tag: 7, verdict: ok, registers: 32, ...}    a result
 *   {tag: 8, error: "the reference ...", status: 4}
 *
 * Used by the tuner (live.c, station.c), by profile/, by the worker's side
 * (command/worker.c) and by the worker of the tests (tests/fake/worker.c).
 */
#ifndef SHMT_TARGET_PROTOCOL_H
#define SHMT_TARGET_PROTOCOL_H

#include "target/request.h"

enum { SHMT_PROTOCOL_LONGEST = 64 << 10 };   /* bytes of a request */

struct shmt_protocol_request {
    enum shmt_verb verb;
    uint64_t tag;
    int64_t problem[SHMT_KERNEL_DIMENSIONS];
    shmt_choice choice[SHMT_SPACE_PARAMETERS];
    /* Of measure and profile. */
    char image[SHMT_DIGEST_TEXT];   /* "": the worker compiles it */
    int samples;
    double hopeless_us;             /* INFINITY: never */
    bool verify;
};

void shmt_protocol_write_request(const struct shmt_kernel *kernel,
                                 const struct shmt_protocol_request *request,
                                 struct shmt_text *text);

/* A line of `size` bytes.  What it does not say is 7 samples, verified, never
 * hopeless.  SHMTUNE_INVALID_FILE for a line that makes no sense and
 * SHMTUNE_INVALID_ARGUMENT for one that does not fit the kernel; out->tag is
 * set then too, when the line had one. */
enum shmtune_status
shmt_protocol_read_request(const struct shmt_kernel *kernel, const char *line,
                           size_t size, struct shmt_protocol_request *out,
                           struct shmt_error *err);

enum shmt_protocol_kind {
    SHMT_PROTOCOL_HELLO, SHMT_PROTOCOL_RESULT, SHMT_PROTOCOL_ERROR
};

struct shmt_protocol_reply {
    enum shmt_protocol_kind kind;
    uint64_t tag;                   /* of a result or an error */
    struct shmt_error error;        /* of an error: status and text */
    struct shmt_result result;
    /* Of a result: what the reader should know beside it, or "". */
    char note[SHMT_RESULT_REASON];
    int computed_blocks;            /* resident blocks we computed, where the
                                       driver counts others (the note) */
    /* Of a hello. */
    int nvrtc_version;
    char arch[16];                  /* "" when it does not say; as are: */
    char digest[SHMT_DIGEST_TEXT];  /* of the kernel's sources */
    char protocol[32];
    bool has_device;
    struct shmtune_device device;
};

void shmt_protocol_write_reply(const struct shmt_protocol_reply *reply,
                               struct shmt_text *text);

/* SHMTUNE_INVALID_FILE when the line makes no sense. */
enum shmtune_status shmt_protocol_read_reply(const char *line,
                                             struct shmt_protocol_reply *out,
                                             struct shmt_error *err);

#endif
