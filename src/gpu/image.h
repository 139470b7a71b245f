/* SPDX-License-Identifier: MIT */
/*
 * image: the binary of one kernel in one configuration for one architecture,
 * with what the compiler reported of it.  Made with NVRTC, kept in a folder
 * under a key of everything that went into it.  Needs no GPU.
 *
 * In the folder: KEY.cubin, or KEY.so where the launches are functions of the
 * host, and KEY.res, the report, which also holds the digest of the binary: a
 * pair that does not fit is compiled again.  Both are
 * put there by rename, so any number of processes may share a folder.
 */
#ifndef SHMT_GPU_IMAGE_H
#define SHMT_GPU_IMAGE_H

#include "gpu/nvcc.h"
#include "gpu/nvrtc.h"
#include "kernel/kernel.h"
#include "record/record.h"

/* A variable of the source that the spec fills with another number of bytes, or
 * leaves unfilled. */
struct shmt_image_misfit {
    char name[65];                     /* "": there is none */
    uint64_t bytes;                    /* that it has */
};

struct shmt_image_request {
    /* Of the reference: the source sees SHMTUNE_REFERENCE defined. */
    struct shmt_kernel_evaluated *evaluated;
    const char *arch;                  /* "sm_90", "sm_90a" */
    int nvrtc_version;                 /* of the kernel's compiler; part of
                                          the key; 0: whichever, for binaries
                                          kept for machines without it */
    const struct shmt_nvcc *nvcc;      /* for kernels that nvcc compiles; NULL:
                                          those are never compiled */
    bool recompile;    /* compile even if it is stored already, and store it
                          if possible: a full disk is no failure */
    bool keep_ptx;     /* the image is to have the compiler's PTX; then
                          `folder` is NULL */
    struct shmt_nvrtc_once *once;   /* of this process, see there; NULL:
                                       every compile reads its headers */
    bool private_folder;
                       /* the folder is the user's cache: created if needed,
                          and only used if no other user can have changed what
                          it holds, else SHMTUNE_STORAGE */
    struct shmt_image_misfit *misfit;   /* told where that is the failure;
                                           NULL: in the message alone */
};

struct shmt_image_entry {
    const char *name;      /* as the spec writes it, {NAME} replaced */
    const char *lowered;   /* the symbol */
    struct shmt_resources resources;
};

/* A variable of the source that an argument fills. */
struct shmt_image_variable {
    const char *name;      /* in the binary */
    size_t argument;
};

struct shmt_image {
    struct shmt_arena *arena;
    char key[SHMT_DIGEST_TEXT];
    const void *cubin;     /* or a shared object */
    size_t cubin_size;
    bool host;             /* the entries are functions of the host, in a
                              shared object; of resources nothing is known */
    const char *object;    /* its path in the folder; NULL: it is in none */
    const char *ptx;       /* NULL: not asked for, or the compiler gives none */
    size_t entry_count;
    const struct shmt_image_entry *entries;   /* those of used launches */
    size_t launch_count;
    int launch_entry[SHMT_KERNEL_LAUNCHES];   /* -1: the launch is not used */
    double compile_ms;                        /* when it was compiled */
    size_t variable_count;         /* those of the source that the spec fills */
    const struct shmt_image_variable *variables;
    bool found;                               /* it was read from the folder,
                                                 not compiled */
};

/* Equal for those that share an image; it is not said here whether there can
 * be one. */
enum shmtune_status shmt_image_key(const struct shmt_image_request *request,
                                   char key[SHMT_DIGEST_TEXT],
                                   struct shmt_error *err);

/* From `folder` when it is there, else compiled with `nvrtc` and put there.
 * `folder` NULL: never stored.  `nvrtc` NULL (for a kernel of nvcc's,
 * request->nvcc): never compiled, an image that is not there is
 * SHMTUNE_NOT_FOUND.  SHMTUNE_COMPILE with the compiler's
 * first error.  A folder that cannot be written is SHMTUNE_STORAGE, and so
 * is a local header that has changed since the spec was read.
 * SHMTUNE_INVALID_FILE where the spec passes to a launch what its kernel does
 * not take, or uses no launch, or leaves a variable of the source unfilled that
 * has to be filled. */
enum shmtune_status shmt_image_get(const struct shmt_image_request *request,
                                   const struct shmt_nvrtc *nvrtc,
                                   const char *folder,
                                   struct shmt_image **out,
                                   struct shmt_error *err);
void shmt_image_free(struct shmt_image *image);

/* Whether the binary of a key lies whole in a folder, whatever kernel it is
 * of, with its report: SHMTUNE_NOT_FOUND, one of the two is absent;
 * SHMTUNE_INVALID_FILE, they do not fit each other; SHMTUNE_STORAGE. */
enum shmtune_status shmt_image_check_stored(const char *folder,
                                            const char *key,
                                            struct shmt_error *err);

/* Source of our own, kept in the same way; launch k is entry k. */
struct shmt_image_text {
    const char *name;              /* for messages */
    const char *source;
    const char *arch;
    int nvrtc_version;
    size_t entry_count;            /* at most SHMT_KERNEL_LAUNCHES */
    const char *const *entries;
    const char *cache;             /* the user's, private as above: looked
                                      into first, and what is compiled is put
                                      there if possible; NULL: none */
};
enum shmtune_status shmt_image_get_from_text(const struct shmt_image_text *text,
                                             const struct shmt_nvrtc *nvrtc,
                                             const char *folder,
                                             struct shmt_image **out,
                                             struct shmt_error *err);

/* Puts a copy into a folder that is not private, as KEY.cubin, or KEY.so, and
 * KEY.res. */
enum shmtune_status shmt_image_put(const struct shmt_image *image,
                                   const char *folder, struct shmt_error *err);

/* Resources of the launch that needs the most registers, spills and static
 * shared memory the largest of any. */
void shmt_image_resources(const struct shmt_image *image,
                          struct shmt_resources *out);

#endif
