/* SPDX-License-Identifier: MIT */
/*
 * object: opens the shared object of an image, and finds its functions.  Called
 * by module.c.
 *
 * It is opened by its path, which is its key's: the loader takes a path that it
 * has open for the same object.
 */
#include "gpu/object.h"

#include <dlfcn.h>
#include <string.h>

#include "base/base.h"

enum shmtune_status shmt_object_open(const struct shmt_image *image,
                                     struct shmt_object *out,
                                     struct shmt_error *err)
{
    struct shmt_object object = {0};

    if (image->object == NULL)
        return shmt_error_set(err, SHMTUNE_INTERNAL, "a shared object that "
                              "was not stored cannot be opened");
    object.handle = dlopen(image->object, RTLD_NOW | RTLD_LOCAL);
    if (object.handle == NULL)
        return shmt_error_set(err, SHMTUNE_CUDA, "the shared object of the "
                              "host's functions: %s", dlerror());
    for (size_t k = 0; k < image->entry_count; k++) {
        void *symbol = dlsym(object.handle, image->entries[k].lowered);

        if (symbol == NULL) {
            shmt_object_close(&object);
            return shmt_error_set(err, SHMTUNE_CUDA, "%s has no %s",
                                  image->object, image->entries[k].lowered);
        }
        memcpy(&object.functions[k], &symbol, sizeof symbol);
    }
    *out = object;
    return SHMTUNE_OK;
}

void shmt_object_close(struct shmt_object *object)
{
    if (object->handle != NULL)
        dlclose(object->handle);
    *object = (struct shmt_object){0};
}
