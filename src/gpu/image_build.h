/* SPDX-License-Identifier: MIT */
/*
 * image_build: shared by image.c, image_build.c and image_store.c alone.
 */
#ifndef SHMT_GPU_IMAGE_BUILD_H
#define SHMT_GPU_IMAGE_BUILD_H

#include "gpu/image.h"

/* Everything that decides what the binary is, in the image's arena. */
struct shmt_image_recipe {
    struct shmt_image *image;      /* key, launch_entry, names are set */
    const struct shmt_kernel *kernel;   /* NULL: of source of our own */
    const char *name;              /* of the source */
    const char *source;            /* NULL: there is none to compile */
    int nvrtc_version;             /* 0: whichever */
    bool recompile;                /* see shmt_image_request */
    size_t option_count;
    const char **options;
};

/* A new image with its key, names and which launch uses which; and the
 * options to compile it with, `include` among them when not NULL. */
enum shmtune_status
shmt_image_recipe_make(const struct shmt_image_request *request,
                       const char *include,
                       struct shmt_image_recipe *out, struct shmt_error *err);

/* The same for source of our own. */
enum shmtune_status
shmt_image_recipe_from_text(const struct shmt_image_text *text,
                            struct shmt_image_recipe *out,
                            struct shmt_error *err);

/* Compiles: fills in the binary and the resources. */
enum shmtune_status shmt_image_build(const struct shmt_image_recipe *plan,
                                     const struct shmt_nvrtc *nvrtc,
                                     struct shmt_error *err);

/* SHMTUNE_NOT_FOUND unless a whole pair of the image's key lies in
 * `folder`. */
enum shmtune_status shmt_image_read_stored(const char *folder,
                                           struct shmt_image *image,
                                           struct shmt_error *err);
enum shmtune_status shmt_image_write_stored(const char *folder,
                                            const struct shmt_image *image,
                                            struct shmt_error *err);

#endif
