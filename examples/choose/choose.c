/* SPDX-License-Identifier: MIT */
/*
 * Prints what the library would choose for a kernel, an architecture and the
 * kernel's default size: needs neither a GPU nor CUDA.  Built by CMakeLists.txt
 * (find_package) or the Makefile (pkg-config) beside it.
 *
 *     choose transpose sm_90
 */
#include <shmtune.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    const char *arch = argc > 2 ? argv[2] : "sm_90";
    const struct shmtune_kernel *kernel;
    struct shmtune *library;
    struct shmtune_device device = SHMTUNE_DEVICE_INIT;
    struct shmtune_choice choice = SHMTUNE_CHOICE_INIT;
    struct shmtune_message message;
    int64_t problem[SHMTUNE_DIMENSIONS];
    char text[1024];
    int failed = 1;

    if (argc < 2) {
        fprintf(stderr, "usage: choose KERNEL [ARCH]\n");
        return 2;
    }
    if (shmtune_open(NULL, &library, &message) != SHMTUNE_OK) {
        fprintf(stderr, "%s\n", message.text);
        return 1;
    }
    kernel = shmtune_kernel_find(library, argv[1]);
    if (kernel == NULL) {
        fprintf(stderr, "no kernel %s; set $SHMTUNE_PATH\n", argv[1]);
        goto out;
    }
    for (size_t k = 0; k < shmtune_dimension_count(kernel); k++) {
        struct shmtune_dimension dimension = SHMTUNE_DIMENSION_INIT;

        shmtune_dimension_at(kernel, k, &dimension);
        problem[k] = dimension.fallback;
    }
    if (shmtune_device_for_arch(arch, &device, &message) != SHMTUNE_OK) {
        fprintf(stderr, "%s\n", message.text);
        goto out;
    }
    if (shmtune_select(kernel, &device, problem, &choice) != SHMTUNE_OK) {
        shmtune_explain(kernel, &device, problem, text, sizeof text);
        fprintf(stderr, "%s", text);
        goto out;
    }
    shmtune_choice_text(&choice, text, sizeof text);
    printf("%s: %s\n", shmtune_match_text(choice.match), text);
    failed = 0;
out:
    shmtune_close(library);
    return failed;
}
