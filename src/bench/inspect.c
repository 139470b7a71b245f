/* SPDX-License-Identifier: MIT */
/*
 * inspect: compiles one candidate and compares the compiler's report with the
 * spec.  Called by command/worker.c.  Needs no GPU.
 */
#include "bench/inspect.h"

#include <stdio.h>
#include <string.h>

#include "device/device.h"

static enum shmtune_status
check_static(const struct shmt_image_request *request,
             const struct shmt_image *image, struct shmt_result *result,
             struct shmt_error *err)
{
    struct shmt_kernel_evaluated *evaluated = request->evaluated;
    const enum shmtune_status status =
        shmt_kernel_evaluate_launches(evaluated, err);

    for (size_t k = 0; status == SHMTUNE_OK && k < evaluated->launch_count;
         k++) {
        const struct shmt_geometry *geometry = &evaluated->geometry[k];
        const int entry = image->launch_entry[k];
        struct shmt_fit fit;

        if (entry < 0)
            continue;
        if (geometry->shared_dynamic > result->shared_dynamic_bytes)
            result->shared_dynamic_bytes = geometry->shared_dynamic;
        if (!shmt_fit_stated(
                geometry,
                image->entries[entry].resources.shared_static_bytes, &fit)) {
            const struct shmt_place place =
                shmt_expr_place(evaluated->launches[k].shared_static);
            char text[SHMT_FIT_TEXT];

            shmt_fit_text(&fit, text);
            shmt_result_set_verdict(result, SHMT_VERDICT_SPEC_MISMATCH,
                                    "%.64s: %s: see %.100s:%d:%d",
                                    image->entries[entry].name, text,
                                    place.file,
                                    place.line, place.column);
            return SHMTUNE_OK;
        }
    }
    return status;
}

/* Copies the resources of each launch, if there are several. */
static void copy_launch_resources(const struct shmt_image *image,
                                  struct shmt_result *result)
{
    int count = 0;

    for (size_t k = 0; k < image->launch_count; k++)
        if (image->launch_entry[k] >= 0)
            result->launches.of[count++] = shmt_resources_keep(
                &image->entries[image->launch_entry[k]].resources);
    result->launches.count = count > 1 && !image->host ? count : 0;
}

/* The variable that does not fit, in the result. */
static void copy_misfit(const struct shmt_image_misfit *misfit,
                        struct shmt_result *result)
{
    snprintf(result->variable, sizeof result->variable, "%s", misfit->name);
    result->variable_bytes = (int64_t)misfit->bytes;
}

enum shmtune_status shmt_inspect(const struct shmt_image_request *request,
                                 const struct shmt_nvrtc *nvrtc,
                                 const char *folder,
                                 struct shmt_result *result,
                                 struct shmt_error *err)
{
    struct shmt_error why = {0};
    struct shmt_image *image = NULL;
    struct shmt_image_misfit misfit = {0};
    struct shmt_image_request wanted = *request;
    struct shmt_result out;
    enum shmtune_status status;

    shmt_result_clear(&out);
    wanted.misfit = &misfit;
    status = shmt_image_get(&wanted, nvrtc, folder, &image, &why);
    if (status == SHMTUNE_COMPILE || status == SHMTUNE_INVALID_FILE) {
        shmt_result_set_verdict(&out,
                                status == SHMTUNE_COMPILE
                             ? SHMT_VERDICT_COMPILE_ERROR
                             : SHMT_VERDICT_SPEC_MISMATCH, "%s", why.text);
        copy_misfit(&misfit, &out);
        *result = out;
        return SHMTUNE_OK;
    }
    if (status != SHMTUNE_OK)
        return shmt_error_set(err, status, "%s", why.text);
    shmt_image_resources(image, &out.resources);
    copy_launch_resources(image, &out);
    memcpy(out.image, image->key, sizeof out.image);
    out.compile_ms = image->found ? 0 : image->compile_ms;
    out.shared_dynamic_bytes = 0;
    status = check_static(request, image, &out, err);
    shmt_image_free(image);
    if (status == SHMTUNE_OK)
        *result = out;
    return status;
}
