/* SPDX-License-Identifier: MIT */
/*
 * devices: asks a worker that ends at once which GPUs there are: `worker
 * --devices` says a hello for each.  Called by command/tune_device.c.
 */
#include "target/devices.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "target/wire.h"
#include "target/worker.h"

/* The driver may take long to start on a machine with many GPUs. */
static const double patience_s = 60;

enum { MOST = 256 };

struct list {
    struct shmtune_device *devices;
    size_t count, room;
};

static enum shmtune_status add(struct list *list, const char *line,
                               struct shmt_error *err)
{
    struct shmt_wire_reply hello;
    enum shmtune_status status = shmt_wire_read_reply(line, &hello, err);

    if (status != SHMTUNE_OK)
        return status;
    if (hello.kind != SHMT_WIRE_HELLO || list->count == MOST)
        return shmt_error_set(err, SHMTUNE_INTERNAL,
                              "\"%.60s\" names no device", line);
    if (!shmt_array_reserve(&list->devices, &list->room, list->count + 1,
                            sizeof *list->devices))
        return shmt_error_memory(err);
    list->devices[list->count] = (struct shmtune_device)SHMTUNE_DEVICE_INIT;
    if (hello.has_device)
        list->devices[list->count] = hello.device;
    list->count++;
    return SHMTUNE_OK;
}

/* It ended: well, or with an error of its own. */
static enum shmtune_status check_end(const struct shmt_worker *worker,
                                     struct shmt_error *err)
{
    static const char name[] = "shmtune: error: ";
    const int code = shmt_worker_exit_status(worker);
    const char *text = shmt_worker_stderr(worker);
    size_t length;

    if (code == 0)
        return SHMTUNE_OK;
    if (strncmp(text, name, sizeof name - 1) == 0)
        text += sizeof name - 1;
    length = strcspn(text, "\n");
    if (code > 0 && code < 100 && length > 0)
        return shmt_error_set(err, (enum shmtune_status)code, "%.*s",
                              (int)length, text);
    return shmt_error_set(err, SHMTUNE_INTERNAL,
                          "the worker that was asked for the devices %s: %.*s",
                          shmt_worker_end_text(worker), (int)length, text);
}

/* Waits for something of the worker; false when that takes too long. */
static bool wait_for(struct shmt_worker *worker, double end_s)
{
    struct pollfd fds[SHMT_WORKER_FDS];

    for (int k = 0; k < SHMT_WORKER_FDS; k++)
        fds[k] = (struct pollfd){-1, 0, 0};
    shmt_worker_watch(worker, fds);
    if (poll(fds, SHMT_WORKER_FDS, shmt_worker_ending(worker) ? 2 : 250) > 0)
        shmt_worker_serve(worker, fds);
    return shmt_clock_s() < end_s;
}

static enum shmtune_status read_all(struct shmt_worker *worker,
                                    struct list *list, struct shmt_error *err)
{
    const double end_s = shmt_clock_s() + patience_s;
    enum shmtune_status status = SHMTUNE_OK;
    const char *line;

    while (status == SHMTUNE_OK)
        switch (shmt_worker_next(worker, &line)) {
        case SHMT_WORKER_WROTE_LINE:
            status = add(list, line, err);
            break;
        case SHMT_WORKER_ENDED:
            return check_end(worker, err);
        case SHMT_WORKER_GARBLED:
            return shmt_error_set(err, SHMTUNE_INTERNAL,
                                  "the worker that was asked for the devices "
                                  "sent no text");
        case SHMT_WORKER_NOTHING:
            if (!wait_for(worker, end_s))
                return shmt_error_set(err, SHMTUNE_NO_DEVICE,
                                      "the driver did not tell its devices in "
                                      "%.0f s", patience_s);
        }
    return status;
}

enum shmtune_status shmt_live_devices(const char *program, const char *device,
                                      struct shmtune_device **out,
                                      size_t *count, struct shmt_error *err)
{
    char self[4096];
    const char *const argv[] = {
        program != NULL ? program : self, "worker", "--devices",
        device != NULL ? "--device" : NULL, device, NULL
    };
    struct shmt_worker *worker;
    struct list list = {0};
    enum shmtune_status status = SHMTUNE_OK;

    if (program == NULL)
        status = shmt_worker_own_path(self, sizeof self, err);
    if (status == SHMTUNE_OK)
        status = shmt_worker_start(argv, &worker, err);
    if (status != SHMTUNE_OK)
        return status;
    status = read_all(worker, &list, err);
    shmt_worker_free(worker);
    if (status == SHMTUNE_OK && list.count == 0)
        status = shmt_error_set(err, SHMTUNE_NO_DEVICE, "there is no GPU");
    if (status != SHMTUNE_OK) {
        free(list.devices);
        return status;
    }
    *out = list.devices;
    *count = list.count;
    return SHMTUNE_OK;
}
