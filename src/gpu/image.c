/* SPDX-License-Identifier: MIT */
/*
 * image: an image from a folder, or else from the compiler.  What goes into
 * one is image_build.c, how it lies in a folder image_store.c.
 */
#include "gpu/image.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/arguments.h"
#include "gpu/image_build.h"

/* The binary is that of the key, which knows the headers of the kernel as
 * they were: others would come out of a folder for ever. */
static enum shmtune_status build(const struct shmt_image_plan *plan,
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
            shmt_image_keep(folder, plan->image, plan->anew ? NULL : err);

        status = plan->anew ? status : kept;
    }
    return status;
}

/* Takes the plan's image over. */
static enum shmtune_status obtain(const struct shmt_image_plan *plan,
                                  const struct shmt_nvrtc *nvrtc,
                                  const char *folder, struct shmt_image **out,
                                  struct shmt_error *err)
{
    enum shmtune_status status = SHMTUNE_NOT_FOUND;

    if (folder != NULL && !plan->anew)
        status = shmt_image_fetch(folder, plan->image, err);
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

/* What makes a macro of a name that the spec knows; NULL: it is none of its
 * names, or has one. */
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
    struct shmt_error complaint;
    char name[64] = "";

    if (at == NULL || strstr(at, "is undefined") == NULL ||
        sscanf(at + strlen(mark), "%63[^\"]", name) != 1)
        return;
    missing = missing_for(kernel, name);
    if (missing == NULL)
        return;
    complaint = *err;
    shmt_error_set(err, complaint.status, "%s; %s is %s", complaint.text,
                   name, missing);
}

enum shmtune_status shmt_image_obtain(const struct shmt_image_request *request,
                                      const struct shmt_nvrtc *nvrtc,
                                      const char *folder,
                                      struct shmt_image **out,
                                      struct shmt_error *err)
{
    struct shmt_image_plan plan;
    struct shmt_image *image;
    enum shmtune_status status;

    status = shmt_image_plan(request, nvrtc != NULL ? nvrtc->include : NULL,
                             &plan, err);
    if (status == SHMTUNE_OK)
        status = obtain(&plan, nvrtc, folder, &image, err);
    if (status == SHMTUNE_COMPILE)
        explain_undefined(request->evaluated->kernel, err);
    if (status != SHMTUNE_OK)
        return status;
    status = shmt_arguments_check(request->evaluated, image, err);
    if (status == SHMTUNE_OK)
        *out = image;
    else
        shmt_image_free(image);
    return status;
}

enum shmtune_status shmt_image_obtain_text(const struct shmt_image_text *text,
                                           const struct shmt_nvrtc *nvrtc,
                                           const char *folder,
                                           struct shmt_image **out,
                                           struct shmt_error *err)
{
    struct shmt_image_plan plan;
    enum shmtune_status status = shmt_image_plan_text(text, &plan, err);

    if (status != SHMTUNE_OK)
        return status;
    return obtain(&plan, nvrtc, folder, out, err);
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
