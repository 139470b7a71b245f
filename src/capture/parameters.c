/* SPDX-License-Identifier: MIT */
/*
 * parameters: what parameters a function has, and where those of a launch are,
 * which gives each by its address or all of them as one block of bytes.
 */
#include "capture/library.h"

#include <string.h>

#include "gpu/cubin.h"

static const char *add(struct shmt_capture_layout *layout, size_t offset,
                       size_t size)
{
    if (layout->count == SHMT_CAPTURE_PARAMETERS)
        return "it has more than 256 parameters";
    layout->offsets[layout->count] = offset;
    layout->sizes[layout->count++] = size;
    return NULL;
}

/* Where the driver is too old to say, the binary does. */
static const char *ask_cubin(const struct shmt_capture_function *function,
                             struct shmt_capture_layout *out)
{
    const struct shmt_capture_image *image = function->image;
    struct shmt_cubin_params params;
    const char *why = NULL;
    size_t at = 0;

    if (image == NULL || image->data == NULL ||
        image->form != SHMT_CAPTURE_CUBIN ||
        !shmt_cubin_read_params(image->data, image->size, function->name,
                                &params))
        return "neither this driver nor its binary says what its parameters "
               "are: 12.4 or newer does";
    for (size_t k = 0; k < params.count && why == NULL; k++) {
        const size_t size = params.sizes[k];
        const size_t align = size >= 8 && size % 8 == 0   ? 8
                             : size >= 4 && size % 4 == 0 ? 4
                             : size % 2 == 0              ? 2
                                                          : 1;

        at = (at + align - 1) / align * align;
        why = add(out, at, size);
        at += size;
    }
    return why;
}

CUfunction
shmt_capture_plain_function(const struct shmt_capture_function *function,
                            CUfunction handle)
{
    const struct shmt_capture_driver *driver = shmt_capture_driver();
    CUfunction plain;

    if (!function->is_kernel)
        return handle;
    return driver != NULL && driver->KernelGetFunction != NULL &&
                   driver->KernelGetFunction(&plain, (CUkernel)handle) ==
                       CUDA_SUCCESS
               ? plain : NULL;
}

const char *
shmt_capture_layout_of(const struct shmt_capture_function *function,
                       CUfunction handle, struct shmt_capture_layout *out)
{
    const struct shmt_capture_driver *driver = shmt_capture_driver();
    const char *why = NULL;
    CUresult result = CUDA_SUCCESS;
    size_t offset, size;

    out->count = 0;
    if (driver == NULL)
        return "the driver lacks functions that are needed";
    handle = shmt_capture_plain_function(function, handle);
    if (handle == NULL)
        return "the driver has no function of it";
    if (driver->FuncGetParamInfo == NULL)
        return ask_cubin(function, out);
    while (why == NULL &&
           (result = driver->FuncGetParamInfo(handle, out->count, &offset,
                                              &size)) == CUDA_SUCCESS)
        why = add(out, offset, size);
    /* An index that is too large ends them; anything else is a failure. */
    if (why != NULL || result == CUDA_ERROR_INVALID_VALUE)
        return why;
    out->count = 0;
    return ask_cubin(function, out);
}

/* The buffer of CU_LAUNCH_PARAM_BUFFER_POINTER; NULL: there is none. */
static unsigned char *packed(void **extra)
{
    for (; extra != NULL && extra[0] != CU_LAUNCH_PARAM_END; extra += 2)
        if (extra[0] == CU_LAUNCH_PARAM_BUFFER_POINTER)
            return extra[1];
    return NULL;
}

const char *shmt_capture_arguments(const struct shmt_capture_launch *launch,
                                   const struct shmt_capture_layout *layout,
                                   void **out)
{
    unsigned char *from = packed(launch->extra);

    if (layout->count > 0 && from == NULL && launch->arguments == NULL)
        return "its parameters were given in no way that is known";
    for (size_t k = 0; k < layout->count; k++)
        out[k] = from != NULL ? from + layout->offsets[k]
                              : launch->arguments[k];
    return NULL;
}
