/* SPDX-License-Identifier: MIT */
/*
 * input: what inputs hold that the device does not fill itself: arrays that are
 * passed by value, which stay on the host, and what comes from files.  Called
 * by problem.c.
 */
#include <stdlib.h>
#include <string.h>

#include "bench/state.h"

/* What is on its way to be filled from a file. */
struct loading {
    const struct shmt_bench *bench;
    char *array;                        /* passed by value; else */
    const struct shmt_buffer *buffer;
};

static enum shmtune_status take_array(void *context, void *bytes,
                                      uint64_t offset, size_t size,
                                      struct shmt_error *err)
{
    const struct loading *loading = context;

    (void)err;
    shmt_bench_relocate(loading->bench, bytes, size);
    memcpy(loading->array + offset, bytes, size);
    return SHMTUNE_OK;
}

enum shmtune_status
shmt_bench_input_array(struct shmt_bench *bench, size_t k,
                       const struct shmt_fill_values *values,
                       struct shmt_digest *digest, struct shmt_error *err)
{
    const struct shmt_argument *argument = &bench->kernel->arguments[k];
    const size_t size = shmt_element_bytes(argument->element);
    const struct shmt_pattern pattern =
        shmt_pattern_of(values, k, bench->options.seed);
    char *array;

    /* The geometry has checked only arguments of launches; this one may belong
     * to none. */
    if (values->count > SHMT_KERNEL_ARGUMENT_BYTES / size)
        return shmt_error_set(err, SHMTUNE_INVALID_FILE,
                              "%s: argument %s has %llu elements of %zu "
                              "bytes, passed by value; a launch takes %d "
                              "bytes at most: make it an input",
                              bench->kernel->path, argument->name,
                              (unsigned long long)values->count, size,
                              SHMT_KERNEL_ARGUMENT_BYTES);
    array = calloc(1, SHMT_KERNEL_ARGUMENT_BYTES);
    if (array == NULL)
        return shmt_error_memory(err);
    bench->slots[k].array = array;
    if (values->file != NULL) {
        struct loading loading = {.bench = bench, .array = array};
        const struct shmt_data_sink sink = {take_array, &loading};

        return shmt_data_read(values, digest, &sink, err);
    }
    for (uint64_t i = 0; i < values->count; i++) {
        const union shmt_element_scalar value = shmt_pattern_value(&pattern, i);

        memcpy(array + i * size, &value, size);
    }
    return SHMTUNE_OK;
}

static enum shmtune_status take_part(void *context, void *bytes,
                                     uint64_t offset, size_t size,
                                     struct shmt_error *err)
{
    const struct loading *loading = context;
    const struct shmt_driver *driver = loading->bench->options.driver;

    shmt_bench_relocate(loading->bench, bytes, size);
    return shmt_driver_check(
        driver, driver->MemcpyHtoD(shmt_buffer_data(loading->buffer) + offset,
                                   bytes, size),
        err, "copying a part of a file to the device");
}

/* The stream has poisoned the buffer before the file is copied to it, by
 * another stream, and that copy is whole before anything else is done. */
enum shmtune_status
shmt_bench_input_load(struct shmt_bench *bench,
                      const struct shmt_buffer *buffer,
                      const struct shmt_fill_values *values,
                      struct shmt_digest *digest, struct shmt_error *err)
{
    const struct shmt_driver *driver = bench->options.driver;
    struct loading loading = {.bench = bench, .buffer = buffer};
    const struct shmt_data_sink sink = {take_part, &loading};
    enum shmtune_status status = shmt_driver_check(
        driver, driver->CtxSynchronize(), err, "the device");

    if (status == SHMTUNE_OK)
        status = shmt_data_read(values, digest, &sink, err);
    return status == SHMTUNE_OK
               ? shmt_driver_check(driver, driver->CtxSynchronize(), err,
                                   "copying a file to the device")
               : status;
}

enum shmtune_status shmt_bench_input_check(const struct shmt_bench *bench,
                                           struct shmt_digest *digest,
                                           struct shmt_error *err)
{
    const char *wanted = bench->options.data_digest;
    char found[SHMT_DIGEST_TEXT];

    shmt_digest_end(digest, found);
    if (wanted == NULL || wanted[0] == '\0' || strcmp(wanted, found) == 0)
        return SHMTUNE_OK;
    return shmt_error_set(err, SHMTUNE_STORAGE,
                          "%s: a file that its inputs are filled from was "
                          "changed since this run began (%.12s, now %.12s); "
                          "start the run again", bench->kernel->path, wanted,
                          found);
}
