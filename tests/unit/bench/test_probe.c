/* SPDX-License-Identifier: MIT */
/*
 * test_probe: buffers with their guards, and what they are filled with, on the
 * fake driver, and messages of what is loaded there.  Needs no NVRTC: nothing
 * is launched.
 */
#include "bench/probe.h"
#include "tests/support/check.h"
#include "tests/support/driver_fixture.h"

static struct shmt_probe probe;
static struct shmt_error err;

/* Bytes [from, to) of the buffer's memory that are not `word`, which repeats
 * every two bytes. */
static uint64_t others(const struct shmt_buffer *buffer, uint64_t from,
                       uint64_t to, uint32_t word)
{
    unsigned char *bytes = malloc(buffer->whole);
    uint64_t count = 0;

    if (bytes == NULL)
        abort();
    CHECK_INT(probe.driver->MemcpyDtoH(bytes, buffer->base, buffer->whole),
              0);
    for (uint64_t k = from; k < to; k++)
        count += bytes[k] != (unsigned char)(word >> 8 * (k & 1));
    free(bytes);
    return count;
}

/* On both sides there is as much memory as is promised, all of it poisoned;
 * new poison stays inside. */
static void guards_are_whole(void)
{
    static const uint64_t counts[] = {0, 1, 2, 3, 5, 254, 255, 256, 257, 1000};
    const uint64_t guard = SHMT_PROBE_GUARD_BYTES;

    for (size_t k = 0; k < sizeof counts / sizeof counts[0]; k++) {
        const uint64_t end = guard + counts[k];
        struct shmt_buffer buffer;

        CHECK_INT(shmt_buffer_new(&probe, SHMT_ELEMENT_U8, counts[k],
                                  &buffer), 0);
        CHECK_INT(buffer.bytes, counts[k]);
        CHECK(buffer.whole >= end + guard);
        CHECK_INT(shmt_buffer_data(&buffer) - buffer.base, guard);
        CHECK_INT(others(&buffer, 0, buffer.whole, SHMT_PATTERN_POISON_A), 0);
        CHECK_INT(shmt_probe_poison(&probe, &buffer, SHMT_PATTERN_POISON_B),
                  0);
        CHECK_INT(others(&buffer, 0, guard, SHMT_PATTERN_POISON_A), 0);
        CHECK_INT(others(&buffer, guard, end, SHMT_PATTERN_POISON_B), 0);
        CHECK_INT(others(&buffer, end, buffer.whole, SHMT_PATTERN_POISON_A),
                  0);
        CHECK_INT(probe.driver->MemsetD8Async(buffer.base, 0, guard, NULL), 0);
        CHECK_INT(probe.driver->MemsetD8Async(buffer.base + end, 0, guard,
                                              NULL), 0);
        CHECK_INT(shmt_probe_repair_guards(&probe, &buffer), 0);
        CHECK_INT(others(&buffer, 0, guard, SHMT_PATTERN_POISON_A), 0);
        CHECK_INT(others(&buffer, guard, end, SHMT_PATTERN_POISON_B), 0);
        CHECK_INT(others(&buffer, end, buffer.whole, SHMT_PATTERN_POISON_A),
                  0);
        shmt_buffer_free(&probe, &buffer);
        CHECK_INT(buffer.base, 0);
    }
}

/* Of the calls that fill a buffer each may fail, whatever comes after it. */
static void filling_that_fails_is_told(void)
{
    static const char *const calls[] = {"MemsetD32Async=1,1",
                                        "MemsetD8Async=1,1"};
    struct shmt_buffer buffer;

    CHECK_INT(shmt_buffer_new(&probe, SHMT_ELEMENT_U8, 1003, &buffer), 0);
    for (size_t k = 0; k < 2; k++) {
        setenv("FAKE_CUDA_FAIL", calls[k], 1);
        CHECK_INT(shmt_probe_poison(&probe, &buffer, SHMT_PATTERN_POISON_B),
                  CUDA_ERROR_INVALID_VALUE);
        unsetenv("FAKE_CUDA_FAIL");
        CHECK_INT(shmt_probe_poison(&probe, &buffer, SHMT_PATTERN_POISON_B),
                  0);
    }
    shmt_buffer_free(&probe, &buffer);
}

/* The kernels would do nothing with them: no poison filled, no element
 * compared, and so none wrong. */
static void types_that_are_not_compiled_are_refused(void)
{
    static const struct shmt_pattern pattern = {.real = 1};
    struct shmt_probe some = probe;
    struct shmt_buffer buffer;
    struct shmt_probe_comparison comparison = {.found = &buffer,
                                               .expected = &buffer};
    struct shmt_probe_finding finding;

    some.elements = 1U << SHMT_ELEMENT_F32 | 1U << SHMT_ELEMENT_U16;
    CHECK_INT(shmt_buffer_new(&some, SHMT_ELEMENT_U8, 10, &buffer), 0);
    CHECK_INT(shmt_probe_fill(&some, &buffer, &pattern),
              CUDA_ERROR_INVALID_VALUE);
    CHECK_INT(shmt_probe_compare(&some, &comparison, 0),
              CUDA_ERROR_INVALID_VALUE);
    CHECK_INT(shmt_probe_worst(&some, &comparison, 0, &finding),
              CUDA_ERROR_INVALID_VALUE);
    shmt_buffer_free(&some, &buffer);
}

/* Arrays alone: what a scalar is, no kernel of ours ever sees. */
static void types_are_those_of_arrays(void)
{
    struct shmt_expr *const count = (struct shmt_expr *)&probe;
    struct shmt_argument arguments[] = {
        {.element = SHMT_ELEMENT_F16, .count = count},
        {.element = SHMT_ELEMENT_I32},
        {.element = SHMT_ELEMENT_U8, .count = count}};
    const struct shmt_kernel kernel = {.argument_count = 3,
                                       .arguments = arguments};

    CHECK_INT(shmt_probe_elements(&kernel),
              1U << SHMT_ELEMENT_F16 | 1U << SHMT_ELEMENT_U8);
}

static void errors_without_a_name_are_told(void)
{
    CHECK_INT(shmt_driver_check(probe.driver, (CUresult)12345, &err,
                                "step %d", 2), SHMTUNE_CUDA);
    CHECK_TEXT(err.text, "step 2: an error the driver has no name for "
                         "(12345: no text)");
    CHECK_INT(shmt_driver_check(probe.driver, CUDA_ERROR_OUT_OF_MEMORY, &err,
                                "step 3"), SHMTUNE_NO_MEMORY);
    CHECK_TEXT(err.text, "step 3: CUDA_ERROR_OUT_OF_MEMORY (2: out of "
                         "memory)");
}

/* What cannot be had of our own kernels is said to be of these. */
static void the_measuring_kernels_are_named(void)
{
    static const struct shmtune_device device = {
        .compute_major = 9, .multiprocessors = 1};
    struct shmt_probe_options options = {
        .driver = probe.driver, .nvrtc_version = 12080, .device = &device};
    struct shmt_image *image = NULL;
    struct shmt_probe none;

    CHECK_INT(shmt_probe_image(&options, &image, &err), SHMTUNE_NOT_FOUND);
    CHECK_HAS(err.text, "the measuring kernels: no binary ");
    CHECK_INT(shmt_probe_open(&options, NULL, &none, &err),
              SHMTUNE_NOT_FOUND);
    CHECK_HAS(err.text, "the measuring kernels: no binary ");
    CHECK(strstr(err.text, "kernels: the measuring") == NULL);
}

/* What is for another device says how old the driver is. */
static void foreign_binaries_tell_the_driver(void)
{
    const struct shmt_image image = {.cubin = "no binary", .cubin_size = 9};
    struct shmt_module module;

    CHECK_INT(shmt_module_load(probe.driver, &image, &module, &err),
              SHMTUNE_NO_CONFIGURATION);
    CHECK_INT(err.status, SHMTUNE_NO_CONFIGURATION);
    CHECK_TEXT(err.text, "cuModuleLoadData of 9 bytes (driver: CUDA 12.8): "
                         "CUDA_ERROR_INVALID_IMAGE (200: device kernel image "
                         "is invalid)");
}

/* Where a launch is the host's, or not used, there is no kernel. */
static void launches_without_a_kernel(void)
{
    static struct shmt_module module;

    CHECK(shmt_module_function(&module, 0) == NULL);
    module.handle = (CUmodule)(void *)&module;
    CHECK(shmt_module_function(&module, 0) == &module.functions[0]);
    module.launch_function[0] = -1;
    CHECK(shmt_module_function(&module, 0) == NULL);
}

int main(void)
{
    setenv("FAKE_CUDA_VERSION", "12080", 1);
    fixture_fake_driver();
    if (shmt_driver_open(&probe.driver, &err) != SHMTUNE_OK) {
        printf("Bail out! %s\n", err.text);
        return EXIT_FAILURE;
    }
    CHECK_RUN(guards_are_whole);
    CHECK_RUN(filling_that_fails_is_told);
    CHECK_RUN(types_that_are_not_compiled_are_refused);
    CHECK_RUN(types_are_those_of_arrays);
    CHECK_RUN(errors_without_a_name_are_told);
    CHECK_RUN(the_measuring_kernels_are_named);
    CHECK_RUN(foreign_binaries_tell_the_driver);
    CHECK_RUN(launches_without_a_kernel);
    return CHECK_END();
}
