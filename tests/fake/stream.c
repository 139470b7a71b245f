/* SPDX-License-Identifier: MIT */
/* stream: streams, on which all is done at once, and events. */
#include <stdio.h>

#include "tests/fake/cuda.h"

enum { EVENTS = 4096 };

/* Never freed: a broken context's are not given back. */
struct fake_event {
    atomic_bool used;
    int64_t ns;
    size_t launches;       /* made before it */
    int context;
};

static struct fake_event events[EVENTS];

static char streams[64];

bool fake_stream_is_first(CUstream stream)
{
    return (const void *)stream == &streams[0];
}

CUresult fake_StreamCreate(CUstream *out, unsigned flags)
{
    static atomic_uint count;

    (void)flags;
    FAKE_ENTER("StreamCreate");
    *out = (CUstream)(void *)&streams[atomic_fetch_add(&count, 1) %
                                        sizeof streams];
    return CUDA_SUCCESS;
}

void fake_spend(double us)
{
    fake.ns += (int64_t)(1e3 * us);
}

CUresult fake_StreamDestroy(CUstream stream)
{
    (void)stream;
    return CUDA_SUCCESS;
}

CUresult fake_StreamSynchronize(CUstream stream)
{
    (void)stream;
    FAKE_ENTER("StreamSynchronize");
    return CUDA_SUCCESS;
}

CUresult fake_EventCreate(CUevent *out, unsigned flags)
{
    (void)flags;
    FAKE_ENTER("EventCreate");
    for (size_t k = 0; k < EVENTS; k++)
        if (!atomic_exchange(&events[k].used, true)) {
            events[k].context = fake.contexts;
            *out = (CUevent)(void *)&events[k];
            return CUDA_SUCCESS;
        }
    return CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult fake_EventDestroy(CUevent event)
{
    ((struct fake_event *)(void *)event)->used = false;
    return CUDA_SUCCESS;
}

static bool is_gone(CUevent event)
{
    return ((struct fake_event *)(void *)event)->context != fake.contexts;
}

CUresult fake_EventRecord(CUevent event, CUstream stream)
{
    (void)stream;
    FAKE_ENTER("EventRecord");
    if (is_gone(event))
        return CUDA_ERROR_INVALID_HANDLE;
    if (fake.capturing)
        fprintf(stderr, "fake_cuda: the capture into a graph is disturbed\n");
    ((struct fake_event *)(void *)event)->ns = fake.ns;
    ((struct fake_event *)(void *)event)->launches = fake.launches;
    return CUDA_SUCCESS;
}

CUresult fake_EventSynchronize(CUevent event)
{
    (void)event;
    FAKE_ENTER("EventSynchronize");
    return CUDA_SUCCESS;
}

CUresult fake_EventElapsedTime(float *ms, CUevent from, CUevent to)
{
    FAKE_ENTER("EventElapsedTime");
    fake_stream_disturb();
    if (is_gone(from) || is_gone(to))
        return CUDA_ERROR_INVALID_HANDLE;
    if (((struct fake_event *)(void *)to)->launches +
            fake_number("FAKE_CUDA_LAG", 0) > fake.launches)
        return CUDA_ERROR_NOT_READY;
    *ms = (float)((double)(((struct fake_event *)(void *)to)->ns -
                           ((struct fake_event *)(void *)from)->ns) / 1e6);
    return CUDA_SUCCESS;
}
