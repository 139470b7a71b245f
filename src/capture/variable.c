/* SPDX-License-Identifier: MIT */
/*
 * variable: the names of a module's variables, __constant__ and __device__, as
 * the image lists them that it was loaded from.
 */
#include "capture/library.h"

#include <ctype.h>
#include <string.h>

#include "gpu/cubin.h"
#include "gpu/fatbin.h"

/* Who is told of each. */
struct listener {
    bool (*take)(void *context, const char *name);
    void *context;
};

/* The name that a line of PTX declares as a variable, ".visible .const .align 4
 * .b8 offsets[8];"; an instruction has its state space behind a dot. */
static const char *declared_by(const char *line, size_t *length)
{
    const size_t size = strcspn(line, "\n=[;");
    char text[512];

    line += strspn(line, " \t");
    if (*line != '.' || size >= sizeof text)
        return NULL;
    memcpy(text, line, size);
    text[size] = '\0';
    if (strstr(text, ".const ") == NULL && strstr(text, ".global ") == NULL)
        return NULL;
    line += strcspn(line, "\n=[;");
    while (line[-1] == ' ')
        line--;
    for (*length = 0; line[-1] == '_' || line[-1] == '$' ||
                      isalnum((unsigned char)line[-1]); line--)
        ++*length;
    return *length == 0 ? NULL : line;
}

/* The variables of PTX in turn; *at is 0 at first. */
static bool next_declared(struct shmt_bytes ptx, size_t *at, char name[512])
{
    while (*at < ptx.size) {
        const char *line = (const char *)ptx.at + *at;
        size_t length;
        const char *found = declared_by(line, &length);

        *at += strcspn(line, "\n") + 1;
        if (found != NULL && length < 512) {
            memcpy(name, found, length);
            name[length] = '\0';
            return true;
        }
    }
    return false;
}

static bool tell_ptx(struct shmt_bytes ptx, const struct listener *listener)
{
    char name[512];
    size_t at = 0;

    while (next_declared(ptx, &at, name))
        if (!listener->take(listener->context, name))
            return false;
    return true;
}

static bool tell_cubin(struct shmt_bytes cubin,
                       const struct listener *listener)
{
    struct shmt_cubin_variable variable;
    size_t at = 0;

    while (shmt_cubin_next_variable(cubin.at, cubin.size, &at, &variable))
        if (!listener->take(listener->context, variable.name))
            return false;
    return true;
}

/* Those of each of its images: which one the driver took is not known, and what
 * is only another's the module does not have. */
static bool tell_fatbin(struct shmt_bytes fatbin,
                        const struct listener *listener, bool *hidden)
{
    struct shmt_fatbin_entry entry;
    size_t at = 0;

    *hidden = true;
    while (shmt_fatbin_next(fatbin, &at, &entry)) {
        if (entry.compressed || entry.kind != SHMT_FATBIN_CUBIN)
            continue;
        *hidden = false;
        if (!tell_cubin(entry.image, listener))
            return false;
    }
    return true;
}

bool shmt_capture_variables(const struct shmt_capture_image *image,
                            bool (*take)(void *context, const char *name),
                            void *context, bool *hidden)
{
    const struct listener listener = {take, context};
    const struct shmt_bytes bytes = {image->data, image->size};

    *hidden = false;
    switch (image->form) {
    case SHMT_CAPTURE_FATBIN:
        return tell_fatbin(bytes, &listener, hidden);
    case SHMT_CAPTURE_PTX:
        return tell_ptx(bytes, &listener);
    default:
        return tell_cubin(bytes, &listener);
    }
}

CUmodule shmt_capture_module_of(const struct shmt_capture_driver *driver,
                                const struct shmt_capture_function *function)
{
    CUmodule module = NULL;

    if (!function->of_library)
        return function->owner;
    return driver->LibraryGetModule == NULL ||
                   driver->LibraryGetModule(&module, function->owner) !=
                       CUDA_SUCCESS
               ? NULL : module;
}
