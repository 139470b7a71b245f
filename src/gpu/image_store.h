/* SPDX-License-Identifier: MIT */
/*
 * image_store: images in a folder, for image.c alone.
 */
#ifndef SHMT_GPU_IMAGE_STORE_H
#define SHMT_GPU_IMAGE_STORE_H

#include "gpu/image.h"

struct shmt_image_folder {
    const char *path;
    bool is_private;   /* see shmt_image_request */
};

/* SHMTUNE_NOT_FOUND unless a whole pair of the image's key lies in
 * `folder`. */
enum shmtune_status
shmt_image_read_stored(const struct shmt_image_folder *folder,
                       struct shmt_image *image, struct shmt_error *err);
enum shmtune_status
shmt_image_write_stored(const struct shmt_image_folder *folder,
                        const struct shmt_image *image,
                        struct shmt_error *err);
/* Where its binary is then; NULL: no memory. */
const char *shmt_image_stored_path(const struct shmt_image_folder *folder,
                                   const struct shmt_image *image);

#endif
