/* SPDX-License-Identifier: MIT */
/*
 * bench_read: what a bench's buffers hold.
 */
#ifndef SHMT_TESTS_BENCH_READ_H
#define SHMT_TESTS_BENCH_READ_H

#include <string.h>

#include "bench/state.h"

/* Copies of a buffer's elements after the last measure: the reference's result
 * when `expected`.  Argument by name; at most `count` elements. */
static inline enum shmtune_status
fixture_read(struct shmt_bench *bench, const char *argument, bool expected,
             uint64_t count, void *out, struct shmt_error *err)
{
    for (size_t k = 0; k < bench->kernel->argument_count; k++) {
        const struct shmt_buffer *buffer =
            expected ? &bench->slots[k].expected : &bench->slots[k].actual;
        const uint64_t most = count < buffer->count ? count : buffer->count;

        if (strcmp(bench->kernel->arguments[k].name, argument) != 0 ||
            buffer->base == 0)
            continue;
        return shmt_driver_check(
            bench->options.driver,
            bench->options.driver->MemcpyDtoH(
                out, shmt_buffer_data(buffer),
                most * shmt_element_bytes(buffer->element)),
            err, "reading %s", argument);
    }
    return shmt_error_set(err, SHMTUNE_NOT_FOUND, "no buffer of an argument "
                          "\"%s\"", argument);
}

#endif
