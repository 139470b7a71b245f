/* SPDX-License-Identifier: MIT */
/*
 * source_read: the text of a source, read into an arena that a test has.
 */
#ifndef SHMT_TESTS_SOURCE_READ_H
#define SHMT_TESTS_SOURCE_READ_H

#include "source/source.h"
#include "tests/support/check.h"

static struct shmt_arena *arena;

static struct shmt_source read_text(const char *text)
{
    struct shmt_source source = {0};
    struct shmt_error err = {0};

    CHECK_INT(shmt_source_read(arena, text, &source, &err), SHMTUNE_OK);
    return source;
}

#endif
