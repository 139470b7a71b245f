/* SPDX-License-Identifier: MIT */
/*
 * y = 3 x on the GPU, by the kernel `scale` in the configuration that was
 * tuned for this device and this n.  The tutorial (docs/tutorial.md) comes to
 * this file at its end.
 *
 *     cc application.c $(pkg-config --cflags --libs shmtune) -lcudart
 *     ./a.out FOLDER
 *
 * FOLDER has kernels/scale.yaml, kernels/scale.cu and tunings/scale/.  Without
 * it those of $SHMTUNE_PATH are searched, then what is installed.
 */
#include <cuda_runtime_api.h>
#include <shmtune.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 1000000 };

/* Scales N numbers and looks at each.  0 when all are right. */
static int scale(const struct shmtune_choice *choice)
{
    struct shmtune_message message = {"malloc or a call of CUDA failed"};
    struct shmtune_function *function = NULL;
    float *host = malloc(N * sizeof *host), *x = NULL, *y = NULL;
    int wrong = -1;

    if (host == NULL || cudaSetDevice(0) != cudaSuccess ||
        cudaMalloc((void **)&x, N * sizeof *x) != cudaSuccess ||
        cudaMalloc((void **)&y, N * sizeof *y) != cudaSuccess)
        goto out;
    for (int i = 0; i < N; i++)
        host[i] = (float)i;
    cudaMemcpy(x, host, N * sizeof *x, cudaMemcpyHostToDevice);

    /* Once for a choice; may compile.  Then launch as often as you like. */
    if (shmtune_prepare(choice, SHMTUNE_ALLOW_COMPILE, &function,
                        &message) != SHMTUNE_OK)
        goto out;
    /* In the order of the spec's `arguments`: y, x, a, n.  NULL for a number
     * that the spec knows: a is 3, n is that of the problem. */
    void *arguments[] = {&y, &x, NULL, NULL};

    if (shmtune_launch(function, arguments, NULL, &message) != SHMTUNE_OK)
        goto out;
    if (cudaMemcpy(host, y, N * sizeof *y, cudaMemcpyDeviceToHost) !=
        cudaSuccess)
        goto out;
    wrong = 0;
    for (int i = 0; i < N; i++)
        wrong += host[i] != 3 * (float)i;
    printf("launched: %d of %d wrong\n", wrong, N);
out:
    if (wrong < 0)
        fprintf(stderr, "%s\n", message.text);
    shmtune_release(function);
    cudaFree(y);
    cudaFree(x);
    free(host);
    return wrong != 0;
}

int main(int count, char **argument)
{
    const int64_t problem[] = {N};
    const struct shmtune_kernel *kernel;
    struct shmtune_message message;
    struct shmtune_device device = SHMTUNE_DEVICE_INIT;
    struct shmtune_choice choice = SHMTUNE_CHOICE_INIT;
    struct shmtune *library;
    char text[1024];
    int gpu, failed;

    if (shmtune_open(count > 1 ? argument[1] : NULL, &library, &message) !=
        SHMTUNE_OK) {
        fprintf(stderr, "%s\n", message.text);
        return 1;
    }
    for (size_t k = 0; k < shmtune_note_count(library); k++)
        fprintf(stderr, "note: %s\n", shmtune_note(library, k));
    kernel = shmtune_kernel_find(library, "scale");
    if (kernel == NULL) {
        fprintf(stderr, "no kernel scale: name the folder with "
                        "kernels/scale.yaml in it\n");
        shmtune_close(library);
        return 1;
    }

    gpu = shmtune_device_query(0, &device, &message) == SHMTUNE_OK;
    if (!gpu)
        shmtune_device_for_arch("sm_90", &device, NULL);

    failed = shmtune_select(kernel, &device, problem, &choice) != SHMTUNE_OK;
    if (failed) {
        shmtune_explain(kernel, &device, problem, text, sizeof text);
        fprintf(stderr, "%s", text);
    } else {
        shmtune_choice_text(&choice, text, sizeof text);
        printf("%s: %s (%s)\n", device.name, text,
               shmtune_match_text(choice.match));
        if (gpu)
            failed = scale(&choice);
        else
            printf("chosen, not launched: there is no GPU\n");
    }
    shmtune_close(library);
    return failed;
}
