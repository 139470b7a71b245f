/* SPDX-License-Identifier: MIT */
/*
 * image: gets an image from a folder, or compiles it. image_build.c decides
 * what it is made of and compiles; image_store.c reads and writes the folder.
 */
#include "gpu/image.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/image_arguments.h"
#include "gpu/image_build.h"

/* Compiles the image and stores it.  The key covers the local headers as they
 * were when the spec was read.  If one has changed since, the image is
 * refused: stored under this key it would be wrong for ever. */
static enum shmtune_status build(const struct shmt_image_recipe *plan,
                                 const struct shmt_nvrtc *nvrtc,
                                 const char *folder, struct shmt_error *err)
{
    enum shmtune_status status = shmt_image_build(plan, nvrtc, err);

    if (plan->kernel != NULL &&
        (status == SHMTUNE_OK || status == SHMTUNE_COMPILE)) {
        const enum shmtune_status same =
            shmt_kernel_check_headers(plan->kernel, err);

        status = same != SHMTUNE_OK ? same : status;
    }
    if (status == SHMTUNE_OK && folder != NULL) {
        const enum shmtune_status kept =
            shmt_image_write_stored(folder, plan->image,
                                    plan->recompile ? NULL : err);

        status = plan->recompile ? status : kept;
    }
    return status;
}

/* Becomes the owner of the plan's image. */
static enum shmtune_status get(const struct shmt_image_recipe *plan,
                               const struct shmt_nvrtc *nvrtc,
                               const char *folder, struct shmt_image **out,
                               struct shmt_error *err)
{
    enum shmtune_status status = SHMTUNE_NOT_FOUND;

    if (folder != NULL && !plan->recompile)
        status = shmt_image_read_stored(folder, plan->image, err);
    plan->image->found = status == SHMTUNE_OK;
    if (status == SHMTUNE_NOT_FOUND && nvrtc != NULL) {
        status = build(plan, nvrtc, folder, err);
    } else if (status == SHMTUNE_NOT_FOUND) {
        shmt_error_set(err, status, "no binary %.12s... in %s, and no "
                       "compiler to make it", plan->image->key,
                       folder != NULL ? folder : "no folder");
    }
    if (status != SHMTUNE_OK) {
        shmt_image_free(plan->image);
        return status;
    }
    *out = plan->image;
    return SHMTUNE_OK;
}

/* For a name that the compiler says is undefined: why the spec does not define
 * it as a macro.  NULL when the spec does not know the name, or does define
 * it. */
static const char *missing_for(const struct shmt_kernel *kernel,
                               const char *name)
{
    for (size_t d = 0; d < kernel->dimension_count; d++)
        if (!kernel->dimensions[d].defined &&
            strcmp(kernel->dimensions[d].name, name) == 0)
            return "a dimension of the spec, a macro only with define: true";
    for (size_t p = 0; p < kernel->parameter_count; p++)
        if (kernel->parameters[p].launch_only &&
            strcmp(kernel->parameters[p].name, name) == 0)
            return "a parameter of the scope \"launch\", which makes no macro";
    return NULL;
}

static void explain_undefined(const struct shmt_kernel *kernel,
                              struct shmt_error *err)
{
    static const char mark[] = "identifier \"";
    const char *at = err == NULL ? NULL : strstr(err->text, mark), *missing;
    struct shmt_error diagnostic;
    char name[64] = "";

    if (at == NULL || strstr(at, "is undefined") == NULL ||
        sscanf(at + strlen(mark), "%63[^\"]", name) != 1)
        return;
    missing = missing_for(kernel, name);
    if (missing == NULL)
        return;
    diagnostic = *err;
    shmt_error_set(err, diagnostic.status, "%s; %s is %s", diagnostic.text,
                   name, missing);
}

enum shmtune_status shmt_image_get(const struct shmt_image_request *request,
                                   const struct shmt_nvrtc *nvrtc,
                                   const char *folder,
                                   struct shmt_image **out,
                                   struct shmt_error *err)
{
    struct shmt_image_recipe plan;
    struct shmt_image *image;
    enum shmtune_status status;

    status =
        shmt_image_recipe_make(request, nvrtc != NULL ? nvrtc->include : NULL,
                                    &plan, err);
    if (status == SHMTUNE_OK)
        status = get(&plan, nvrtc, folder, &image, err);
    if (status == SHMTUNE_COMPILE)
        explain_undefined(request->evaluated->kernel, err);
    if (status != SHMTUNE_OK)
        return status;
    status = shmt_image_check_arguments(request->evaluated, image, err);
    if (status == SHMTUNE_OK)
        *out = image;
    else
        shmt_image_free(image);
    return status;
}

enum shmtune_status shmt_image_get_from_text(const struct shmt_image_text *text,
                                             const struct shmt_nvrtc *nvrtc,
                                             const char *folder,
                                             struct shmt_image **out,
                                             struct shmt_error *err)
{
    struct shmt_image_recipe plan;
    enum shmtune_status status = shmt_image_recipe_from_text(text, &plan, err);

    if (status != SHMTUNE_OK)
        return status;
    return get(&plan, nvrtc, folder, out, err);
}

void shmt_image_free(struct shmt_image *image)
{
    if (image != NULL)
        shmt_arena_free(image->arena);   /* the image itself is in it */
}

void shmt_image_resources(const struct shmt_image *image,
                          struct shmt_resources *out)
{
    struct shmt_resources most = image->entries[0].resources;

#define MOST(field)                                                          \
    if (one->field > most.field)                                             \
        most.field = one->field
    for (size_t k = 1; k < image->entry_count; k++) {
        const struct shmt_resources *one = &image->entries[k].resources;

        MOST(registers);
        MOST(spill_store_bytes);
        MOST(spill_load_bytes);
        MOST(stack_bytes);
        MOST(shared_static_bytes);
        MOST(constant_bytes);
        if (one->max_threads >= 0 &&
            (most.max_threads < 0 || one->max_threads < most.max_threads))
            most.max_threads = one->max_threads;
    }
#undef MOST
    *out = most;
}
