/* SPDX-License-Identifier: MIT */
/*
 * pair: an event before a launch and one after it, on the launch's own stream,
 * by which it is known how long that took.  They are read later, and nobody
 * waits for them.
 */
#include "capture/library.h"

static bool make(const struct shmt_capture_driver *driver,
                 struct shmt_capture_pair *pair, CUcontext context)
{
    if (driver->EventCreate(&pair->before, CU_EVENT_DEFAULT) != CUDA_SUCCESS)
        return false;
    if (driver->EventCreate(&pair->after, CU_EVENT_DEFAULT) != CUDA_SUCCESS) {
        driver->EventDestroy(pair->before);
        return false;
    }
    pair->context = context;
    return true;
}

bool shmt_capture_pair_begin(const struct shmt_capture_driver *driver,
                             struct shmt_capture_pair *pair, CUstream stream)
{
    CUcontext context;

    if (driver->CtxGetCurrent(&context) != CUDA_SUCCESS || context == NULL)
        return false;
    if (pair->context != context)
        pair->context = NULL;  /* its events go with the other context */
    return (pair->context != NULL || make(driver, pair, context)) &&
           driver->EventRecord(pair->before, stream) == CUDA_SUCCESS;
}

bool shmt_capture_pair_end(const struct shmt_capture_driver *driver,
                           const struct shmt_capture_pair *pair,
                           CUstream stream)
{
    return driver->EventRecord(pair->after, stream) == CUDA_SUCCESS;
}

static CUresult elapsed(const struct shmt_capture_driver *driver, CUevent from,
                        CUevent to, double *us)
{
    float ms;
    const CUresult result = driver->EventElapsedTime(&ms, from, to);

    if (result == CUDA_SUCCESS)
        *us = 1e3 * (double)ms;
    return result;
}

CUresult shmt_capture_pair_read(const struct shmt_capture_driver *driver,
                                const struct shmt_capture_pair *pair,
                                double *us)
{
    return elapsed(driver, pair->before, pair->after, us);
}

CUresult
shmt_capture_pair_between(const struct shmt_capture_driver *driver,
                          const struct shmt_capture_pair *pair,
                          const struct shmt_capture_pair *next, double *us)
{
    return elapsed(driver, pair->before, next->before, us);
}

void shmt_capture_pair_free(const struct shmt_capture_driver *driver,
                            struct shmt_capture_pair *pair)
{
    driver->EventDestroy(pair->before);
    driver->EventDestroy(pair->after);
    pair->context = NULL;
}
