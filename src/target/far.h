/* SPDX-License-Identifier: MIT */
/*
 * far: the messages between a courier here (courier.c) and a relay on another
 * machine (relay.c), both ends of each.  A message is one line of YAML.
 *
 * Orders, to the relay:
 *
 *   {have: [HEX, ...]}             which of these files are missing there?
 *   {put: HEX, bytes: N}           the N bytes of a file follow the line
 *   {lay: HEX, name: tree/a/x.cu}  the file goes by this name
 *   {open: a/x.yaml, data_seed: 1, data_digest: HEX, compiler: "13000:0:0:"}
 *                                  start the measure worker
 *   {ask: 8, seconds: 12.5, request: "{verb: measure, ...}"}
 *   {restart: true}                a new measure worker; what is asked is not
 *                                  wanted any more
 *   {beat: true}
 *
 * Notes, from the relay:
 *
 *   {relay: 1, shmtune: 0.1.0, device: {...}}     the greeting, the first
 *   {beat: true}                   once a second, whatever it does
 *   {missing: [HEX, ...]}          the answer to `have`
 *   {died: 8, why: "...", timed_out: false}
 *                                  the measure worker did, over request 8
 *   {failed: "...", status: 6}     the relay's last words
 *
 * and two more that the courier adds for its supervisor, which gets the rest
 * as well:
 *
 *   {waiting: "..."}               no greeting yet
 *   {lost: "..."}                  there is no relay any more
 *
 * Any other line of it is a hello or a reply of the measure worker (wire.h).
 * Nothing that comes is trusted: every length is bounded, a file is named by
 * its digest or by a name that shmt_far_name_valid accepts, and the content is
 * checked against the digest.
 */
#ifndef SHMT_TARGET_FAR_H
#define SHMT_TARGET_FAR_H

#include "target/wire.h"

enum {
    SHMT_FAR_PROTOCOL = 1,
    SHMT_FAR_LINE = 256 << 10,     /* bytes of an order */
    SHMT_FAR_NAME = 1024,
    SHMT_FAR_FILES = 256,          /* in one `have` */
};
/* Of one file: an input of a problem. */
#define SHMT_FAR_FILE_BYTES (UINT64_C(1) << 40)

/* Folders that names begin with: the spec's files, and the binaries. */
#define SHMT_FAR_TREE "tree/"
#define SHMT_FAR_IMAGES "images/"

/* Relative, in one of these folders, without a component that begins with a
 * dot, and with nothing but printable characters. */
bool shmt_far_name_valid(const char *name);

/* -- orders --------------------------------------------------------------- */

enum shmt_far_kind {
    SHMT_FAR_HAVE, SHMT_FAR_PUT, SHMT_FAR_LAY, SHMT_FAR_OPEN, SHMT_FAR_ASK,
    SHMT_FAR_RESTART, SHMT_FAR_BEAT
};

struct shmt_far_order {
    enum shmt_far_kind kind;
    size_t count;                  /* have */
    const char *const *digests;
    const char *digest;            /* put, lay */
    uint64_t bytes;                /* put */
    const char *name;              /* lay; of open the spec's, in the tree */
    uint64_t data_seed;            /* open */
    const char *data_digest;       /* "" when there are no files of inputs */
    const char *compiler;
    uint64_t tag;                  /* ask */
    double seconds;
    const char *request;
};

void shmt_far_write_order(const struct shmt_far_order *order,
                          struct shmt_text *text);
/* What it points to is in `arena`.  SHMTUNE_INVALID_FILE says what is wrong. */
enum shmtune_status shmt_far_read_order(struct shmt_arena *arena,
                                        const char *line, size_t size,
                                        struct shmt_far_order *out,
                                        struct shmt_error *err);

/* -- notes ---------------------------------------------------------------- */

enum shmt_far_note_kind {
    SHMT_FAR_NOTE_GREETING, SHMT_FAR_NOTE_BEAT, SHMT_FAR_NOTE_MISSING,
    SHMT_FAR_NOTE_DIED, SHMT_FAR_NOTE_FAILED, SHMT_FAR_NOTE_WAITING,
    SHMT_FAR_NOTE_LOST, SHMT_FAR_NOTE_REPLY
};

struct shmt_far_note {
    enum shmt_far_note_kind kind;
    int64_t protocol;              /* greeting */
    const char *version;           /* of the shmtune there */
    struct shmtune_device device;  /* read only if the two above are ours */
    size_t count;                  /* missing */
    const char *const *digests;
    uint64_t tag;                  /* died */
    bool timed_out;
    struct shmt_error error;       /* failed; of died, waiting and lost the
                                      text */
    struct shmt_wire_reply reply;  /* of the measure worker */
};

/* How a greeting begins. */
#define SHMT_FAR_GREETING "{relay: "

/* Whether a line may be a greeting: before the first one, a launcher may have
 * written anything else. */
bool shmt_far_is_greeting(const char *line);

/* Of a reply: shmt_wire_write_reply. */
void shmt_far_write_note(const struct shmt_far_note *note,
                         struct shmt_text *text);
enum shmtune_status shmt_far_read_note(struct shmt_arena *arena,
                                       const char *line, const char *version,
                                       struct shmt_far_note *out,
                                       struct shmt_error *err);

#endif
