/* SPDX-License-Identifier: MIT */
/*
 * plan: what the command has written of which launches are replaced by which
 * (SHMT_CAPTURE_PLAN).  For replace.c.
 */
#ifndef SHMT_CAPTURE_PLAN_H
#define SHMT_CAPTURE_PLAN_H

#include "capture/library.h"

/* A parameter as it was recorded; where it has a pointer, any address but null
 * is right. */
struct shmt_capture_given {
    size_t size, pointer_count;
    unsigned char *bytes;
    size_t pointers[64];
    unsigned char *given;      /* what the tuned one gets; NULL: the same */
    char *number;              /* the source's name for one that nothing
                                  follows from; NULL: something may */
    bool any;                  /* it may be any */
};

/* Of replace.c: its binary in a context. */
struct shmt_capture_loaded;

/* One launch, and what is launched in its place. */
struct shmt_capture_plan {
    char symbol[1024], identity[SHMT_DIGEST_TEXT];
    unsigned grid[3], block[3], shared;
    int major, minor;
    char device[256], entry[1024];
    void *binary;
    size_t binary_size;
    unsigned new_grid[3], new_block[3], new_shared;
    int carveout;
    size_t parameter_count;
    struct shmt_capture_given parameters[SHMT_CAPTURE_PARAMETERS];
    struct shmt_capture_layout *layout;        /* of these; NULL: not asked */
    struct shmt_capture_loaded *loaded;        /* never freed: a launch may
                                                  hold one */
    struct shmt_capture_trial trial;
    const char *told;          /* why the last launch that is another stayed */
    const char *another_of;    /* the number that the last one was about: */
    char another[256];         /* that it is another */
    const char *name;          /* of the function that it was seen to be of */
    const struct shmt_capture_image *image;    /* and its image */
};

/* Of the process, read once; they are never freed.  None where they cannot be
 * read, which a note says. */
struct shmt_capture_plan *shmt_capture_plans(size_t *count);

#endif
