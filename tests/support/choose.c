/* SPDX-License-Identifier: MIT */
/*
 * choose: what an application with the default search path gets, for
 * scripts:
 *
 *     choose KERNEL SIZE...
 *
 * or, where $CHOOSE_PACK names a pack, with that from memory.  Chooses for
 * device 0 of the driver and prints the notes, the match, the configuration,
 * its times, and that it could be prepared, or why not.
 */
#include <shmtune.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cuda.h>

/* Makes a context of device 0 current. */
static void make_context(void)
{
    const char *name = getenv("SHMTUNE_LIBCUDA");
    void *library = name == NULL ? NULL : dlopen(name, RTLD_NOW);
    void *symbol =
        library == NULL ? NULL : dlsym(library, "cuGetProcAddress_v2");
    CUresult (*find)(const char *, void **, int, cuuint64_t,
                     CUdriverProcAddressQueryResult *);
    CUresult (*retain)(CUcontext *, CUdevice), (*set)(CUcontext);
    CUdriverProcAddressQueryResult found;
    CUcontext context;
    void *functions[2];

    if (symbol == NULL)
        return;
    memcpy(&find, &symbol, sizeof find);
    if (find("cuDevicePrimaryCtxRetain", &functions[0], 12000, 0, &found) !=
            CUDA_SUCCESS ||
        find("cuCtxSetCurrent", &functions[1], 12000, 0, &found) !=
            CUDA_SUCCESS)
        return;
    memcpy(&retain, &functions[0], sizeof retain);
    memcpy(&set, &functions[1], sizeof set);
    if (retain(&context, 0) == CUDA_SUCCESS)
        set(context);
}

static int report(const struct shmtune_choice *choice)
{
    struct shmtune_function *function = NULL;
    struct shmtune_message message;
    char text[1024];

    shmtune_choice_text(choice, text, sizeof text);
    printf("match: %s\nconfiguration: %s\n", shmtune_match_text(choice->match),
           text);
    printf("time_us: %g\ndefault_us: %g\n", choice->time_us,
           choice->default_us);
    if (shmtune_prepare(choice, SHMTUNE_ALLOW_COMPILE, &function, &message) ==
        SHMTUNE_OK)
        printf("prepared\n");
    else
        printf("prepare: %s\n", message.text);
    shmtune_release(function);
    return EXIT_SUCCESS;
}

/* The pack is in memory of just its size, and stays. */
static enum shmtune_status open_library(struct shmtune **out,
                                        struct shmtune_message *message)
{
    const char *name = getenv("CHOOSE_PACK");
    FILE *file = name == NULL ? NULL : fopen(name, "rb");
    static char *bytes;
    long size;

    if (name == NULL)
        return shmtune_open(NULL, out, message);
    if (file == NULL || fseek(file, 0, SEEK_END) != 0 ||
        (size = ftell(file)) < 0)
        exit(EXIT_FAILURE);
    rewind(file);
    bytes = malloc((size_t)size + 1);
    if (bytes == NULL ||
        fread(bytes, 1, (size_t)size, file) != (size_t)size)
        exit(EXIT_FAILURE);
    fclose(file);
    return shmtune_open_memory(bytes, (size_t)size, out, message);
}

int main(int argc, char **argv)
{
    int64_t problem[SHMTUNE_DIMENSIONS] = {0};
    const struct shmtune_kernel *kernel;
    struct shmtune_message message;
    struct shmtune_device device = SHMTUNE_DEVICE_INIT;
    struct shmtune_choice choice = SHMTUNE_CHOICE_INIT;
    struct shmtune *library;
    int status = EXIT_FAILURE;

    for (int k = 2; k < argc && k - 2 < SHMTUNE_DIMENSIONS; k++)
        problem[k - 2] = strtoll(argv[k], NULL, 10);
    make_context();
    if (open_library(&library, &message) != SHMTUNE_OK) {
        fprintf(stderr, "%s\n", message.text);
        return EXIT_FAILURE;
    }
    for (size_t k = 0; k < shmtune_note_count(library); k++)
        printf("note: %s\n", shmtune_note(library, k));
    kernel = shmtune_kernel_find(library, argc > 1 ? argv[1] : NULL);
    if (kernel == NULL)
        fprintf(stderr, "no such kernel\n");
    else if (shmtune_device_query(0, &device, &message) != SHMTUNE_OK)
        fprintf(stderr, "%s\n", message.text);
    else if (shmtune_select(kernel, &device, problem, &choice) != SHMTUNE_OK)
        fprintf(stderr, "nothing fits\n");
    else
        status = report(&choice);
    shmtune_close(library);
    return status;
}
