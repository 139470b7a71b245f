/* SPDX-License-Identifier: MIT */
/*
 * Any bytes: a spec whose configurations satisfy its constraints and can be
 * written and read, or a refusal with its place.
 */
#include "fuzz.h"

#include <string.h>

#include "kernel/kernel.h"
#include "space/space.h"
#include "yaml/yaml.h"

const char fuzz_name[] = "kernel";

/* A choice is written and read as the same. */
static void check_choice(const struct shmt_kernel *kernel,
                         const shmt_config *config)
{
    struct shmt_arena *arena = shmt_arena_new();
    shmt_config back[SHMT_SPACE_PARAMETERS];
    const struct shmt_yaml *root = NULL;
    struct shmt_text text = {0};
    struct shmt_error err;

    FUZZ_HOLDS(arena != NULL);
    shmt_kernel_config_write(kernel, config, &text);
    FUZZ_HOLDS(shmt_yaml_parse(arena, "choice", text.data, text.length, &root,
                               &err) == SHMTUNE_OK);
    FUZZ_HOLDS(shmt_kernel_config_read(kernel, root, back, &err) ==
               SHMTUNE_OK);
    FUZZ_HOLDS(memcmp(back, config,
                      kernel->parameter_count * sizeof *config) == 0);
    shmt_text_free(&text);
    shmt_arena_free(arena);
}

static void check_configuration(const struct shmt_kernel *kernel,
                                const int64_t *problem,
                                const shmt_config *config)
{
    struct shmt_kernel_evaluated evaluated;
    const struct shmt_expr *failed = NULL;
    struct shmt_text text = {0};
    struct shmt_error err;
    uint64_t count;
    char key[SHMT_DIGEST_TEXT];

    shmt_kernel_evaluate(kernel, problem, config, &evaluated);
    FUZZ_HOLDS(shmt_kernel_satisfies(&evaluated, &failed, &err) == SHMTUNE_OK &&
               failed == NULL);
    shmt_kernel_evaluate_launches(&evaluated, &err);
    for (size_t k = 0; k < evaluated.launch_count; k++)
        shmt_kernel_entry(&evaluated, k, &text, &err);
    for (size_t k = 0; k < kernel->argument_count; k++)
        shmt_kernel_argument_count(&evaluated, k, &count, &err);
    shmt_kernel_definitions(&evaluated, false, &text);
    FUZZ_HOLDS(shmt_kernel_binary_key(&evaluated, key) == SHMTUNE_OK);
    shmt_kernel_describe_config(kernel, config, &text);
    shmt_kernel_describe_problem(kernel, problem, &text);
    shmt_text_free(&text);
    check_choice(kernel, config);
}

/* A few spaces, each in about a millisecond, or some draws of it: how long a
 * large one takes is no matter of bytes. */
enum { SIZES = 3 };
static const struct shmt_space_limits limits = {
    .bytes = 4 << 20, .steps = 30000, .draws = 4};

/* The first, the middle and the last configuration of the first sizes. */
static void check_kernel(const struct shmt_kernel *kernel)
{
    for (size_t s = 0; s < kernel->size_count && s < SIZES; s++) {
        shmt_config config[SHMT_SPACE_PARAMETERS];
        struct shmt_space *space = NULL;
        struct shmt_error err;
        uint64_t count = 0;

        if (shmt_kernel_space(kernel, kernel->sizes[s], &limits, &space,
                              &err) == SHMTUNE_OK)
            count = shmt_space_count(space);
        for (uint64_t at = 0; at < count; at += count / 2 + 1) {
            shmt_space_configuration(space, at, config);
            check_configuration(kernel, kernel->sizes[s], config);
        }
        shmt_space_free(space);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char spec[128], source[128];
    struct shmt_kernel *kernel = NULL;
    struct shmt_error err = {0};
    enum shmtune_status status;

    /* The source is the one that the specs of the corpus name. */
    if (spec[0] == '\0') {
        snprintf(spec, sizeof spec, "%s/x.yaml", fuzz_folder());
        snprintf(source, sizeof source, "%s/x.cu", fuzz_folder());
        fuzz_write(source, "", 0);
    }
    fuzz_write(spec, data, size);
    status = shmt_kernel_read(spec, &kernel, &err);
    if (status == SHMTUNE_OK)
        check_kernel(kernel);
    else
        FUZZ_HOLDS(kernel == NULL && strstr(err.text, fuzz_folder()) != NULL);
    shmt_kernel_free(kernel);
    return 0;
}
