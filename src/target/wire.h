/* SPDX-License-Identifier: MIT */
/*
 * wire: the messages between the tuner and its worker processes, both ends of
 * each.  A message is one line of YAML; these functions leave its newline out.
 *
 * A request:
 *
 *   {verb: inspect, tag: 7, size: {rows: 64}, config: {BLOCK_X: 32}}
 *   {verb: measure, tag: 8, size: ..., config: ..., image: HEX, samples: 7,
 *    hopeless_us: 12.5, verify: true}
 *   {verb: profile, tag: 9, size: ..., config: ...}
 *   {verb: rerun, tag: 10, size: ..., config: ..., poison: y}
 *   {verb: renew, tag: 0, size: ..., config: ...}    without a reply,
 *   {verb: forget, tag: 0, size: ..., config: ...}   as this
 *   {serve: FILE, arch: sm_90}   of another spec from now on, compiling for
 *                                that; the answer is a hello
 *
 * Only the verb, the tag and the configuration must be there; the size
 * defaults to the spec's.  A reply; the hello is sent first, without a
 * request:
 *
 *   {hello: 1, nvrtc: 13000, arch: sm_90, digest: HEX,
 *    protocol: cold-l2, device: {...}}           with a device only
 *   {tag: 7, verdict: ok, registers: 32, ...}    a result; answer_ms: 812,
 *                            where a program said for it what is right;
 *                            once_ms: 400, where its reference was compiled;
 *                            variable: "taps", variable_bytes: 20, of one
 *                            that the spec does not fill with so many;
 *                            rerun: [[...], ...] where one ran
 *   {tag: 8, error: "the reference ...", status: 4}
 *
 * Used by the tuner (live.c, supervisor.c), by rerun.c and profile/, by the
 * worker's side (command/worker.c) and by the worker of the tests
 * (tests/fake/worker.c).
 */
#ifndef SHMT_TARGET_WIRE_H
#define SHMT_TARGET_WIRE_H

#include "target/request.h"

enum { SHMT_WIRE_LONGEST = 64 << 10 };       /* bytes of a request */

struct shmt_wire_request {
    enum shmt_target_verb verb;
    uint64_t tag;
    int64_t problem[SHMT_KERNEL_DIMENSIONS];
    shmt_config config[SHMT_SPACE_PARAMETERS];
    /* Of measure and profile. */
    char image[SHMT_DIGEST_TEXT];   /* "": the worker compiles it */
    int samples;
    double give_up_us;              /* INFINITY: never */
    bool verify;
    /* Of rerun: the in-out that holds something else before; NULL: none. */
    const struct shmt_argument *poison;
};

void shmt_wire_write_request(const struct shmt_kernel *kernel,
                             const struct shmt_wire_request *request,
                             struct shmt_text *text);

/* The line after which a worker that compiles serves another spec. */
void shmt_wire_write_serve(const char *spec, const char *arch,
                           struct shmt_text *text);
bool shmt_wire_is_serve(const char *line);
/* Both in the arena. */
enum shmtune_status
shmt_wire_read_serve(struct shmt_arena *arena, const char *line, size_t size,
                     const char **spec, const char **arch,
                     struct shmt_error *err);

/* Reads a line of `size` bytes.  If it does not say otherwise, a request has 7
 * samples, is verified and is never given up.  SHMTUNE_INVALID_FILE when the
 * line is no request, SHMTUNE_INVALID_ARGUMENT when it does not fit the
 * kernel; even then out->tag is set, if the line has a tag. */
enum shmtune_status
shmt_wire_read_request(const struct shmt_kernel *kernel, const char *line,
                       size_t size, struct shmt_wire_request *out,
                       struct shmt_error *err);

enum shmt_wire_kind {
    SHMT_WIRE_HELLO, SHMT_WIRE_RESULT, SHMT_WIRE_ERROR
};

struct shmt_wire_reply {
    enum shmt_wire_kind kind;
    uint64_t tag;                   /* of a result or an error */
    struct shmt_error error;        /* of an error: status and text */
    struct shmt_result result;
    /* Of a result: a note for the reader, or "". */
    char note[SHMT_RESULT_REASON];
    int computed_blocks;            /* resident blocks we computed, where the
                                       driver counts others (the note) */
    const struct shmt_rerun *rerun; /* written with the result, unless NULL;
                                       shmt_wire_read_rerun reads it */
    /* Of a hello. */
    int nvrtc_version;
    char arch[16];                  /* "" when the hello does not say; also: */
    char digest[SHMT_DIGEST_TEXT];  /* of the kernel's sources */
    char protocol[32];
    bool has_device;
    struct shmtune_device device;
};

void shmt_wire_write_reply(const struct shmt_wire_reply *reply,
                           struct shmt_text *text);

/* SHMTUNE_INVALID_FILE when the line is no reply. */
enum shmtune_status shmt_wire_read_reply(const char *line,
                                         struct shmt_wire_reply *out,
                                         struct shmt_error *err);

/* What a rerun has found, of a line that is the result of one. */
enum shmtune_status shmt_wire_read_rerun(const char *line,
                                         struct shmt_rerun *out,
                                         struct shmt_error *err);

/* Whether a worker that is started later is on the device on which the run
 * began (no name: not known yet).  The number of a GPU may be another one's
 * after a reset, and candidates on both would be compared. */
enum shmtune_status shmt_wire_check_device(const struct shmt_wire_reply *hello,
                                           const struct shmtune_device *begun,
                                           struct shmt_error *err);

/* Whether a worker elsewhere is on a device like that of the first one, which
 * it is where *kind has no name: times of two kinds are not compared. */
enum shmtune_status shmt_wire_check_kind(const struct shmt_wire_reply *hello,
                                         struct shmtune_device *kind,
                                         const char *launcher,
                                         struct shmt_error *err);

#endif
