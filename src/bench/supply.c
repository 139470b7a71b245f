/* SPDX-License-Identifier: MIT */
/*
 * supply: gets the images that bench.c and problem.c will load, in the same
 * order and by the same keys, and puts them into a folder.
 */
#include "bench/supply.h"

#include <stdio.h>
#include <string.h>

#include "bench/probe.h"
#include "bench/state.h"
#include "device/device.h"

/* -- the compilers -------------------------------------------------------- */

void shmt_supply_write_origin(const struct shmt_supply_origin *origin,
                              char text[SHMT_SUPPLY_TEXT])
{
    snprintf(text, SHMT_SUPPLY_TEXT, "%d:%d:%d:%s", origin->nvrtc_version,
             origin->nvcc_version, origin->toolkit_version, origin->host);
}

enum shmtune_status shmt_supply_read_origin(const char *text,
                                            struct shmt_supply_origin *out,
                                            struct shmt_error *err)
{
    struct shmt_supply_origin found = {0};
    int end = 0;

    if (sscanf(text, "%7d:%7d:%7d:%n", &found.nvrtc_version,
               &found.nvcc_version, &found.toolkit_version, &end) != 3 ||
        end == 0 || found.nvrtc_version <= 0 || found.nvcc_version < 0 ||
        found.toolkit_version < 0 ||
        strlen(text + end) >= sizeof found.host)
        return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                              "the compilers are \"%.80s\"; expected versions "
                              "as NVRTC:NVCC:TOOLKIT:HOST, such as "
                              "13000:0:0:", text);
    snprintf(found.host, sizeof found.host, "%s", text + end);
    *out = found;
    return SHMTUNE_OK;
}

/* -- binaries ------------------------------------------------------------- */

static enum shmtune_status hand_over(const struct shmt_supply *supply,
                                     const struct shmt_image *image,
                                     struct shmt_error *err)
{
    const char *const suffixes[] = {image->host ? ".so" : ".cubin", ".res"};
    char name[SHMT_DIGEST_TEXT + 8];
    enum shmtune_status status = SHMTUNE_OK;

    for (size_t k = 0; status == SHMTUNE_OK && k < 2; k++) {
        const char *path;

        snprintf(name, sizeof name, "%s%s", image->key, suffixes[k]);
        path = shmt_path_join(image->arena, supply->images, name);
        status = path == NULL ? shmt_error_memory(err)
                              : supply->take(supply->context, path, name,
                                             err);
    }
    return status;
}

enum shmtune_status shmt_supply_probe(const struct shmt_supply *supply,
                                      struct shmt_error *err)
{
    const struct shmt_probe_options options = {
        .nvrtc = supply->nvrtc, .device = supply->device,
        .elements = shmt_probe_elements(supply->kernel),
        .folder = supply->images, .cache = supply->cache,
    };
    struct shmt_image *image = NULL;
    enum shmtune_status status = shmt_probe_image(&options, &image, err);

    if (status != SHMTUNE_OK)
        return status;
    /* It may have been found in the cache. */
    status = shmt_image_put(image, supply->images, err);
    if (status == SHMTUNE_OK)
        status = hand_over(supply, image, err);
    shmt_image_free(image);
    return status;
}

static enum shmtune_status supply_one(const struct shmt_supply *supply,
                                      struct shmt_kernel_evaluated *evaluated,
                                      struct shmt_error *err)
{
    char arch[16];
    const struct shmt_image_request request = {
        .evaluated = evaluated, .arch = arch,
        .nvrtc_version = supply->kernel->nvcc ? supply->nvcc->version
                                              : supply->nvrtc->version,
        .nvcc = supply->nvcc, .once = supply->once,
    };
    struct shmt_image *image = NULL;
    enum shmtune_status status;

    shmt_device_target(supply->device, supply->kernel->features, arch);
    status = shmt_image_get(&request, supply->nvrtc, supply->images, &image,
                            err);
    if (status != SHMTUNE_OK)
        return status;
    status = hand_over(supply, image, err);
    shmt_image_free(image);
    return status;
}

enum shmtune_status shmt_supply_problem(const struct shmt_supply *supply,
                                        const int64_t *problem,
                                        struct shmt_error *err)
{
    const struct shmt_kernel *kernel = supply->kernel;
    const struct {
        const char *what;
        size_t count;
        enum shmt_kernel_part part;
    } parts[] = {
        {"setup", kernel->setup_count, SHMT_KERNEL_SETUP},
        {"comparison", kernel->compare_count, SHMT_KERNEL_COMPARE},
        {"reference", kernel->reference_count, SHMT_KERNEL_REFERENCE},
    };

    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) {
        struct shmt_kernel_evaluated evaluated;
        enum shmtune_status status;

        if (parts[k].count == 0)
            continue;
        shmt_kernel_evaluate_part(kernel, parts[k].part, problem,
                                  &evaluated);
        status = supply_one(supply, &evaluated, err);
        if (status != SHMTUNE_OK)
            return shmt_bench_problem_refuse(kernel, parts[k].what, status,
                                             err);
    }
    return SHMTUNE_OK;
}

enum shmtune_status shmt_supply_candidate(const struct shmt_supply *supply,
                                          const int64_t *problem,
                                          const shmt_config *config,
                                          struct shmt_error *err)
{
    struct shmt_kernel_evaluated evaluated;

    shmt_kernel_evaluate(supply->kernel, problem, config, &evaluated);
    return supply_one(supply, &evaluated, err);
}
