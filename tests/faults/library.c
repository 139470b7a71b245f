/* SPDX-License-Identifier: MIT */
/*
 * library: an application for the fault lane.  It does twice all that one does
 * with the library: open, ask for the device, select, explain, prepare,
 * launch, release, close.  A fault of the first time must have left nothing
 * behind for the second.  With the word "compile" binaries that are not in
 * the cache are compiled.
 *
 * It writes by the system call itself, which the shim neither counts nor
 * fails.
 */
#include "shmtune.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "gpu/gpu.h"

enum { N = 1000, ARGUMENTS = 7 };

struct buffers {
    float *out, *x;
    int *acc, *counter;
};

static void say(const char *what, enum shmtune_status status, const char *why)
{
    char line[1400];
    const int length = snprintf(line, sizeof line, "%s: %d %s\n", what,
                                (int)status, status == SHMTUNE_OK ? "" : why);

    if (syscall(SYS_write, STDOUT_FILENO, line, (size_t)length) != length)
        exit(EXIT_FAILURE);
}

static bool allocate(const struct shmt_driver *driver, struct buffers *out)
{
    void **const all[] = {(void **)&out->out, (void **)&out->x,
                          (void **)&out->acc, (void **)&out->counter};
    bool ok = true;

    for (int k = 0; k < 4; k++) {
        CUdeviceptr at = 0;

        ok &= driver->MemAlloc(&at, N * sizeof(float)) == 0;
        /* The fake's memory is the host's. */
        *all[k] = (void *)(uintptr_t)at;
    }
    for (int k = 0; ok && k < N; k++) {
        out->x[k] = (float)k;
        out->acc[k] = k;
    }
    return ok;
}

static void release(const struct shmt_driver *driver,
                    const struct buffers *buffers)
{
    const void *const all[] = {buffers->out, buffers->x, buffers->acc,
                               buffers->counter};

    for (int k = 0; k < 4; k++)
        driver->MemFree((CUdeviceptr)(uintptr_t)all[k]);
}

static void launch(const struct shmt_driver *driver,
                   struct shmtune_function *function)
{
    struct shmtune_message message = {""};
    struct buffers buffers = {0};
    void *arguments[ARGUMENTS] = {&buffers.out, &buffers.x, &buffers.acc,
                                  &buffers.counter};
    int right = 0;

    if (allocate(driver, &buffers)) {
        say("launch", shmtune_launch(function, arguments, NULL, &message),
            message.text);
        for (int k = 0; k < N; k++)
            right += buffers.out[k] == 2 * buffers.x[k];
        say("right elements", (enum shmtune_status)right, "");
    }
    release(driver, &buffers);
}

static void run(const struct shmtune_choice *choice, unsigned flags)
{
    const struct shmt_driver *driver = NULL;
    struct shmtune_function *function = NULL;
    struct shmtune_message message = {""};
    struct shmt_error err = {0};
    CUcontext context = NULL;
    enum shmtune_status status = shmt_driver_open(&driver, &err);

    if (status != SHMTUNE_OK) {
        say("driver", status, err.text);
        return;
    }
    driver->DevicePrimaryCtxRetain(&context, 0);
    driver->CtxSetCurrent(context);
    status = shmtune_prepare(choice, flags, &function, &message);
    say("prepare", status, message.text);
    if (status == SHMTUNE_OK)
        launch(driver, function);
    shmtune_release(function);
    driver->CtxSetCurrent(NULL);
    driver->DevicePrimaryCtxRelease(0);
}

static void choose(const struct shmtune *library, unsigned flags)
{
    const struct shmtune_kernel *const kernel =
        shmtune_kernel_find(library, "fake_kernel");
    const int64_t problem[] = {N};
    struct shmtune_device device = SHMTUNE_DEVICE_INIT;
    struct shmtune_choice choice = SHMTUNE_CHOICE_INIT;
    struct shmtune_message message = {""};
    char text[2048];
    enum shmtune_status status;

    for (size_t k = 0; k < shmtune_note_count(library); k++)
        say("note", SHMTUNE_NOT_FOUND, shmtune_note(library, k));
    say("kernel", kernel == NULL ? SHMTUNE_NOT_FOUND : SHMTUNE_OK, "");
    status = shmtune_device_query(0, &device, &message);
    say("device", status, message.text);
    if (kernel == NULL || status != SHMTUNE_OK)
        return;
    shmtune_explain(kernel, &device, problem, text, sizeof text);
    status = shmtune_select(kernel, &device, problem, &choice);
    say("select", status, "");
    if (status == SHMTUNE_OK) {
        shmtune_choice_text(&choice, text, sizeof text);
        say(text, SHMTUNE_OK, "");
        run(&choice, flags);
    }
}

static void use(unsigned flags)
{
    struct shmtune_message message = {""};
    struct shmtune *library = NULL;
    const enum shmtune_status status = shmtune_open(NULL, &library, &message);

    say("open", status, message.text);
    if (status == SHMTUNE_OK)
        choose(library, flags);
    shmtune_close(library);
}

int main(int argc, char **argv)
{
    const bool compile = argc > 1 && strcmp(argv[1], "compile") == 0;
    const unsigned flags = compile ? SHMTUNE_ALLOW_COMPILE : 0;

    use(flags);
    say("again", SHMTUNE_OK, "");
    use(flags);
    return EXIT_SUCCESS;
}
