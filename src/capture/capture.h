/* SPDX-License-Identifier: MIT */
/*
 * capture: the library that is preloaded into an application, and what the
 * command and it say to each other.  The command sets the environment below;
 * the library writes one folder for each launch that it captured, with
 * SHMT_CAPTURE_LAUNCH in it, and SHMT_CAPTURE_NOTES.  A folder is there when it
 * is whole.  docs/capture.md has the way of a launch.
 */
#ifndef SHMT_CAPTURE_H
#define SHMT_CAPTURE_H

#include <stddef.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* The library's file: in the build folder, and installed in the folder of
 * shmtune's own libraries. */
#define SHMT_CAPTURE_LIBRARY "libshmtune-capture.so"

/* Where it writes; nothing is done without it. */
#define SHMT_CAPTURE_FOLDER "SHMTUNE_CAPTURE_FOLDER"
/* Patterns of names, a line each; "": every kernel. */
#define SHMT_CAPTURE_KERNELS "SHMTUNE_CAPTURE_KERNELS"
/* Of each kernel: launches that are let pass, and launches to be captured. */
#define SHMT_CAPTURE_SKIP "SHMTUNE_CAPTURE_SKIP"
#define SHMT_CAPTURE_COUNT "SHMTUNE_CAPTURE_COUNT"
/* Most bytes of buffers, of all launches together. */
#define SHMT_CAPTURE_BYTES "SHMTUNE_CAPTURE_BYTES"
/* Most words of one launch of which the driver is asked whether they are
 * addresses. */
#define SHMT_CAPTURE_QUESTIONS "SHMTUNE_CAPTURE_QUESTIONS"
/* Set: nothing is captured, the kernels are timed. */
#define SHMT_CAPTURE_LIST "SHMTUNE_CAPTURE_LIST"

/* A file that says which launches are replaced by which; nothing is captured
 * then. */
#define SHMT_CAPTURE_PLAN "SHMTUNE_CAPTURE_PLAN"
/* Set: they are replaced without a trial of which is the faster one. */
#define SHMT_CAPTURE_NO_TRIAL "SHMTUNE_CAPTURE_NO_TRIAL"

/* In the library's folder: an empty file, when a process has loaded it. */
#define SHMT_CAPTURE_LOADED "loaded"
/* There too: a line for each thing that was left out. */
#define SHMT_CAPTURE_NOTES "notes"
/* In the folder of a launch. */
#define SHMT_CAPTURE_LAUNCH "launch.yaml"
#define SHMT_CAPTURE_SOURCE "program.cu"
#define SHMT_CAPTURE_HEADERS "include"
/* What it says of memory that is not the device's alone: kind: WORD. */
#define SHMT_CAPTURE_KIND_MANAGED "managed"
#define SHMT_CAPTURE_KIND_HOST "host"
/* What is not whole yet ends so. */
#define SHMT_CAPTURE_PART ".part"
/* Beginning of the names of the files with times of kernels. */
#define SHMT_CAPTURE_TIMES "times-"
/* Their last line, if the program ended by itself. */
#define SHMT_CAPTURE_TIMES_END "end"

/* The name that a kernel has in its source, so many bytes of its symbol:
 * "scale" of _Z5scalePf, of _ZN2ns5scaleIfEvPT_, and of itself. */
static inline const char *shmt_capture_plain_name(const char *symbol,
                                                  size_t *length)
{
    const char *at = symbol + 2, *name = symbol;
    bool nested;

    *length = strlen(symbol);
    if (strncmp(symbol, "_Z", 2) != 0)
        return symbol;
    at += *at == 'L';         /* a static one */
    nested = *at == 'N';
    at += nested;
    /* The last of the names in front of a template's arguments; behind one that
     * is in no namespace a type may follow that is a name, too. */
    while (*at >= '0' && *at <= '9' && (nested || name == symbol)) {
        char *end;
        const unsigned long bytes = strtoul(at, &end, 10);

        if (bytes == 0 || bytes > strlen(end))
            break;
        name = end;
        *length = bytes;
        at = end + bytes;
    }
    return name;
}

#endif
