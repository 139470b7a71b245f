/* SPDX-License-Identifier: MIT */
/*
 * nvrtc_once: headers are read once a process: NVRTC's precompiled headers,
 * from NVRTC 12.8 on.
 *
 * NVRTC takes a precompiled header only where the options are the same, to the
 * last macro, and candidates differ in their macros.  So the source that a
 * candidate is compiled from is put in another order: the includes that it
 * begins with, the macros, the rest.  That is the same kernel where those
 * headers look at none of the macros.  Those of the toolkit do not, as long as
 * a macro is not named like one of theirs; a header of anybody else may, and
 * ends the includes that are taken.
 *
 * The first compile is one as ever.  If it took long, the next one writes what
 * it has read of the headers to a file, and all that follow begin with that.
 * NVRTC reads such a file in the process alone that has written it, so it has
 * no name: a process that is killed leaves nothing behind.  Whatever fails on
 * this way is compiled once more on the plain one, which has the last word and
 * the messages.
 * Called by nvrtc.c; a worker that compiles has one.
 */
#ifndef SHMT_GPU_NVRTC_ONCE_H
#define SHMT_GPU_NVRTC_ONCE_H

#include <stdbool.h>
#include <stddef.h>

#include <nvrtc.h>

#include "base/base.h"

enum shmt_nvrtc_once_state {
    SHMT_NVRTC_ONCE_WATCHES,    /* how long compiles take */
    SHMT_NVRTC_ONCE_WANTS,      /* the next one writes the file */
    SHMT_NVRTC_ONCE_HAS,        /* the file is there */
    SHMT_NVRTC_ONCE_OFF,        /* it does not work here */
};

/* The functions that NVRTC has for it; NULL where it is too old. */
struct shmt_nvrtc_once_calls {
    nvrtcResult (*SetPCHHeapSize)(size_t size);
    nvrtcResult (*GetPCHCreateStatus)(nvrtcProgram program);
    nvrtcResult (*GetPCHHeapSizeRequired)(nvrtcProgram program, size_t *size);
};

struct shmt_nvrtc_once {
    const char *folder;            /* for the file; it outlives this */
    double least_ms;               /* a compile that takes as long is long */
    enum shmt_nvrtc_once_state state;
    int failures;
    int file;                      /* a descriptor, in SHMT_NVRTC_ONCE_HAS */
    char path[512];                /* of the file while it is written */
    char key[SHMT_DIGEST_TEXT];    /* of what is the same for all that use it */
};

/* Where headers are found. */
struct shmt_nvrtc_once_places {
    const char *include;           /* the toolkit's; NULL: not found */
    const char *libraries;         /* those beside it; NULL: there are none */
    size_t header_count;           /* given to NVRTC as texts */
    const char *const *headers;
};

/* What a compile is given. */
struct shmt_nvrtc_once_text {
    const char *name, *source;
    size_t option_count;
    const char *const *options;
};

void shmt_nvrtc_once_begin(struct shmt_nvrtc_once *once, const char *folder);
void shmt_nvrtc_once_end(struct shmt_nvrtc_once *once);

/* The bytes of the includes of the toolkit that `given` begins with, up to
 * and with the end of a line; 0: there are none. */
size_t shmt_nvrtc_once_prefix(const struct shmt_nvrtc_once_places *places,
                              const struct shmt_nvrtc_once_text *given);

/* What is compiled in the place of `given`, in `arena`; false: `given` itself,
 * on the plain way. */
bool shmt_nvrtc_once_arrange(struct shmt_nvrtc_once *once,
                             const struct shmt_nvrtc_once_calls *calls,
                             const struct shmt_nvrtc_once_places *places,
                             const struct shmt_nvrtc_once_text *given,
                             struct shmt_arena *arena,
                             struct shmt_nvrtc_once_text *out);

/* What became of one that was arranged. */
void shmt_nvrtc_once_look(struct shmt_nvrtc_once *once,
                          const struct shmt_nvrtc_once_calls *calls,
                          nvrtcProgram program, bool compiled,
                          const char *log);

/* A compile on the plain way took so long. */
void shmt_nvrtc_once_watch(struct shmt_nvrtc_once *once, double ms);

#endif
