/* SPDX-License-Identifier: MIT */
/*
 * message: the lines between the tuner and its workers.
 *
 *   {verb: inspect, tag: 7, size: {rows: 64}, config: {BLOCK_X: 32}}
 *   {verb: measure, tag: 8, size: ..., config: ..., image: HEX, samples: 7,
 *    hopeless_us: 12.5, verify: true}          hopeless_us may be left out
 *
 *   {hello: 1, nvrtc: 13000, digest: HEX,        at the start
 *    protocol: cold-l2, device: {...}}
 *   {tag: 7, verdict: ok, registers: 32, ...}
 *   {tag: 8, error: "the reference ...", status: 4}
 *
 * Called by target/station.c and target/live.c.
 */
#ifndef SHMT_TARGET_MESSAGE_H
#define SHMT_TARGET_MESSAGE_H

#include "target/request.h"

/* Without a newline. */
void shmt_message_request(const struct shmt_kernel *kernel,
                          const int64_t *problem,
                          const struct shmt_request *request,
                          struct shmt_text *text);

enum shmt_message_kind {
    SHMT_MESSAGE_HELLO, SHMT_MESSAGE_RESULT, SHMT_MESSAGE_ERROR
};

struct shmt_message {
    enum shmt_message_kind kind;
    uint64_t tag;
    struct shmt_result result;
    struct shmt_error error;        /* of an error: status and text */
    int nvrtc_version;              /* of a hello */
    bool has_device;
    struct shmtune_device device;
    char protocol[32];              /* "" when it does not say */
    char digest[SHMT_DIGEST_TEXT];  /* of the sources; likewise */
};

/* SHMTUNE_INVALID_FILE when the line makes no sense. */
enum shmtune_status shmt_message_read(const char *line,
                                      struct shmt_message *out,
                                      struct shmt_error *err);

#endif
