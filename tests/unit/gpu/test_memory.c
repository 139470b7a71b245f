/* SPDX-License-Identifier: MIT */
/*
 * Memory that runs out while it is made out what to compile and with which
 * options: the n-th allocation fails, for every n.  Compiles nothing.
 */
#include "gpu/image.h"
#include "kernel/kernel.h"
#include "tests/support/check.h"
#include "tests/support/starve.h"

static const struct shmt_kernel *kernel;
static char arch[16] = "sm_90";
static struct shmt_error err;

/* There is no compiler, which is found out behind the options. */
static enum shmtune_status look_for_binary(void)
{
    shmt_config config[SHMT_SPACE_PARAMETERS];
    struct shmt_kernel_evaluated evaluated;
    const struct shmt_image_request request = {
        .evaluated = &evaluated, .arch = arch, .nvrtc_version = 13000};
    struct shmt_image *image = NULL;
    enum shmtune_status status;

    shmt_kernel_default(kernel, config);
    shmt_kernel_evaluate(kernel, kernel->sizes[0], config, &evaluated);
    status = shmt_image_get(&request, NULL, NULL, &image, &err);
    CHECK(image == NULL);
    if (status != SHMTUNE_NOT_FOUND)
        return status;
    CHECK_HAS(err.text, "no compiler to make it");
    return SHMTUNE_OK;
}

/* Names of all lengths, so that the text of the options grows at each place of
 * a line. */
static void a_binary_is_looked_for_or_memory_is_missed(void)
{
    for (size_t length = strlen(arch); length < sizeof arch; length++) {
        starve(look_for_binary, &err);
        arch[length] = length + 1 < sizeof arch ? '0' : '\0';
    }
}

int main(void)
{
    const char *source = getenv("SHMT_SRCDIR");
    struct shmt_kernel *read = NULL;
    char path[4096];

    snprintf(path, sizeof path, "%s/kernels/matmul.yaml",
             source == NULL ? "." : source);
    if (shmt_kernel_read(path, &read, &err) != SHMTUNE_OK) {
        printf("Bail out! %s\n", err.text);
        return EXIT_FAILURE;
    }
    kernel = read;
    CHECK_RUN(a_binary_is_looked_for_or_memory_is_missed);
    shmt_kernel_free(read);
    return CHECK_END();
}
