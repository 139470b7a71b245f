/* SPDX-License-Identifier: MIT */
/*
 * header_calls: every public function once, with arguments that it has to
 * refuse or that ask for nothing, in the language that C17 and C++ share.
 */
#ifndef SHMT_TESTS_HEADER_CALLS_H
#define SHMT_TESTS_HEADER_CALLS_H

#include <stdio.h>
#include <string.h>

static int header_calls(void)
{
    struct shmtune *library = NULL, *other = NULL;
    struct shmtune_function *function = NULL;
    struct shmtune_message message = {{0}};
    struct shmtune_device device = SHMTUNE_DEVICE_INIT;
    struct shmtune_choice choice = SHMTUNE_CHOICE_INIT;
    struct shmtune_dimension dimension = SHMTUNE_DIMENSION_INIT;
    struct shmtune_argument argument = SHMTUNE_ARGUMENT_INIT;
    struct shmtune_geometry geometry = SHMTUNE_GEOMETRY_INIT;
    struct shmtune_value value = SHMTUNE_VALUE_INIT;
    int64_t bytes = 0;
    char text[8];
    int test = 0, failed = 0;

#define HEADER_CALL(condition)                                               \
    do {                                                                     \
        const int holds_ = (condition) ? 1 : 0;                              \
        failed += !holds_;                                                   \
        printf("%sok %d - %s\n", holds_ ? "" : "not ", ++test, #condition);  \
    } while (0)

    /* What this version has of 64 bits.  A member that is added adds its size
     * here; a program of today passes today's size for ever, so the library's
     * least size (runtime/interface.h) stays. */
#define HEADER_SIZE(name, bytes)                                             \
    HEADER_CALL(sizeof(void *) != 8 || sizeof(struct shmtune_##name) == bytes)
    HEADER_SIZE(device, 440);
    HEADER_SIZE(message, 1024);
    HEADER_SIZE(dimension, 40);
    HEADER_SIZE(argument, 56);
    HEADER_SIZE(choice, 144);
    HEADER_SIZE(value, 24);
    HEADER_SIZE(geometry, 72);
    HEADER_CALL(choice.size == sizeof choice && choice.kernel == NULL);
    /* The library has its version from configure.ac. */
    HEADER_CALL(strcmp(shmtune_version(), SHMTUNE_VERSION) == 0);
    HEADER_CALL(shmtune_version_number() == SHMTUNE_VERSION_NUMBER);
    HEADER_CALL(shmtune_status_text(SHMTUNE_OK)[0] != '\0');
    HEADER_CALL(shmtune_match_text(SHMTUNE_EXACT)[0] == 'e');
    HEADER_CALL(shmtune_device_for_arch("sm_90", &device, &message) ==
                SHMTUNE_OK);
    HEADER_CALL(device.compute_major == 9);
    HEADER_CALL(shmtune_device_for_arch("sm_1", &device, &message) ==
                SHMTUNE_NOT_FOUND);
    HEADER_CALL(message.text[0] != '\0');
    HEADER_CALL(shmtune_device_query(SHMTUNE_CURRENT_DEVICE, NULL, NULL) ==
                SHMTUNE_INVALID_ARGUMENT);
    HEADER_CALL(shmtune_open("/nonexistent", &library, &message) ==
                SHMTUNE_OK);
    HEADER_CALL(shmtune_open_memory(NULL, 0, &other, NULL) ==
                SHMTUNE_INVALID_ARGUMENT);
    HEADER_CALL(shmtune_open_memory("no pack", 7, &other, &message) ==
                SHMTUNE_INVALID_FILE);
    HEADER_CALL(other == NULL);
    HEADER_CALL(shmtune_note_count(library) == 1);
    HEADER_CALL(shmtune_note(library, 0) != NULL);
    HEADER_CALL(shmtune_kernel_count(library) == 0);
    HEADER_CALL(shmtune_kernel_at(library, 0) == NULL);
    HEADER_CALL(shmtune_kernel_find(library, "transpose") == NULL);
    HEADER_CALL(shmtune_kernel_name(NULL) == NULL);
    HEADER_CALL(shmtune_kernel_summary(NULL) == NULL);
    HEADER_CALL(shmtune_dimension_count(NULL) == 0);
    HEADER_CALL(shmtune_dimension_at(NULL, 0, &dimension) ==
                SHMTUNE_INVALID_ARGUMENT);
    HEADER_CALL(shmtune_argument_count(NULL) == 0);
    HEADER_CALL(shmtune_argument_at(NULL, 0, &argument) ==
                SHMTUNE_INVALID_ARGUMENT);
    HEADER_CALL(shmtune_parameter_count(NULL) == 0);
    HEADER_CALL(shmtune_parameter_name(NULL, 0) == NULL);
    HEADER_CALL(shmtune_tuned_device_count(NULL) == 0);
    HEADER_CALL(shmtune_tuned_device_at(NULL, 0, &device) ==
                SHMTUNE_INVALID_ARGUMENT);
    HEADER_CALL(shmtune_select(NULL, &device, &bytes, &choice) ==
                SHMTUNE_INVALID_ARGUMENT);
    HEADER_CALL(shmtune_explain(NULL, NULL, NULL, text, sizeof text) > 0);
    HEADER_CALL(shmtune_choice_text(NULL, text, sizeof text) == 0);
    HEADER_CALL(shmtune_choice_value(&choice, "N", &value) ==
                SHMTUNE_INVALID_ARGUMENT);
    HEADER_CALL(shmtune_choice_launch(&choice, 0, &geometry) ==
                SHMTUNE_INVALID_ARGUMENT);
    HEADER_CALL(shmtune_argument_bytes(&choice, 0, &bytes) ==
                SHMTUNE_INVALID_ARGUMENT);
    HEADER_CALL(shmtune_prepare(&choice, SHMTUNE_NO_CACHE, &function,
                                &message) == SHMTUNE_INVALID_ARGUMENT);
    HEADER_CALL(shmtune_resize(function, &choice, &function, &message) ==
                SHMTUNE_INVALID_ARGUMENT);
    HEADER_CALL(shmtune_fill(function, 0, NULL, 0, NULL, &message) ==
                SHMTUNE_INVALID_ARGUMENT);
    HEADER_CALL(shmtune_read(function, 0, NULL, 0, NULL, &message) ==
                SHMTUNE_INVALID_ARGUMENT);
    HEADER_CALL(shmtune_launch(function, NULL, NULL, &message) ==
                SHMTUNE_INVALID_ARGUMENT);
    shmtune_release(function);
    shmtune_close(library);
    printf("1..%d\n", test);
    return failed != 0;
#undef HEADER_SIZE
#undef HEADER_CALL
}

#endif
