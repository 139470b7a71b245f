/* SPDX-License-Identifier: MIT */
/*
 * An application that loads tunings and launches with them: the transpose of
 * 3000 x 7000 floats.  Where there is no GPU it shows what would be launched.
 *
 *     cc application.c $(pkg-config --cflags --libs shmtune) -lcudart
 *
 * ./quickstart compiles and runs it, and so does `make check`.
 */
#include <cuda_runtime_api.h>
#include <shmtune.h>
#include <stdio.h>

static int launch(const struct shmtune_choice *choice, int rows, int cols)
{
    const size_t bytes = sizeof(float) * (size_t)rows * (size_t)cols;
    struct shmtune_function *transpose = NULL;
    struct shmtune_message message = {"a call of CUDA failed"};
    cudaStream_t stream = NULL;
    float *in = NULL, *out = NULL, first = 0;
    const float corner = 42;
    int wrong = -1;

    if (cudaSetDevice(0) != cudaSuccess ||
        cudaMalloc((void **)&in, bytes) != cudaSuccess ||
        cudaMalloc((void **)&out, bytes) != cudaSuccess ||
        cudaStreamCreate(&stream) != cudaSuccess)
        goto out;
    /* in[0][cols - 1], which is out[cols - 1][0] */
    cudaMemcpy(in + cols - 1, &corner, sizeof corner, cudaMemcpyHostToDevice);

    /* From the cache of binaries, else through NVRTC: once per size. */
    if (shmtune_prepare(choice, SHMTUNE_ALLOW_COMPILE, &transpose,
                        &message) != SHMTUNE_OK)
        goto out;
    /* One pointer an argument, in the order of the spec's `arguments`, which
     * may not be the kernel's: out, in, rows, cols.  NULL for a number: the
     * spec knows it from the problem. */
    void *arguments[] = {&out, &in, NULL, NULL};

    if (shmtune_launch(transpose, arguments, stream, &message) !=
            SHMTUNE_OK ||
        cudaStreamSynchronize(stream) != cudaSuccess)
        goto out;
    cudaMemcpy(&first, out + (size_t)(cols - 1) * (size_t)rows, sizeof first,
               cudaMemcpyDeviceToHost);
    wrong = first != corner;
    printf("launched: %s\n", wrong ? "WRONG" : "right");
out:
    if (wrong < 0)
        fprintf(stderr, "%s\n", message.text);
    shmtune_release(transpose);
    cudaStreamDestroy(stream);
    cudaFree(out);
    cudaFree(in);
    return wrong != 0;
}

int main(void)
{
    const int64_t problem[] = {3000, 7000, 4};   /* rows, cols, element */
    const struct shmtune_kernel *kernel;
    struct shmtune *library;
    struct shmtune_device device = SHMTUNE_DEVICE_INIT;
    struct shmtune_choice choice = SHMTUNE_CHOICE_INIT;
    struct shmtune_message message;
    char text[1024];
    int gpu, failed;

    if (shmtune_open(NULL, &library, &message) != SHMTUNE_OK) {
        fprintf(stderr, "%s\n", message.text);
        return 1;
    }
    for (size_t k = 0; k < shmtune_note_count(library); k++)
        fprintf(stderr, "note: %s\n", shmtune_note(library, k));
    kernel = shmtune_kernel_find(library, "transpose");
    if (kernel == NULL) {
        fprintf(stderr, "no kernel transpose; set $SHMTUNE_PATH\n");
        shmtune_close(library);
        return 1;
    }

    gpu = shmtune_device_query(0, &device, &message) == SHMTUNE_OK;
    if (!gpu) {
        printf("no GPU: %s\n", message.text);
        if (shmtune_tuned_device_at(kernel, 0, &device) != SHMTUNE_OK)
            shmtune_device_for_arch("sm_90", &device, NULL);
    }

    failed = shmtune_select(kernel, &device, problem, &choice) != SHMTUNE_OK;
    if (failed) {
        shmtune_explain(kernel, &device, problem, text, sizeof text);
        fprintf(stderr, "%s", text);
    } else {
        shmtune_choice_text(&choice, text, sizeof text);
        printf("for %s: %s\n%s: %s\n", device.name, text,
               shmtune_match_text(choice.match), choice.reason);
        if (choice.file != NULL)
            printf("from %s\n", choice.file);
        if (choice.time_us > 0)
            printf("measured: %.1f us, the default %.1f us\n", choice.time_us,
                   choice.default_us);
        if (gpu)
            failed = launch(&choice, (int)problem[0], (int)problem[1]);
        else
            printf("chosen, not launched: there is no GPU\n");
    }
    shmtune_close(library);
    return failed;
}
