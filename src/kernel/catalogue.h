/* SPDX-License-Identifier: MIT */
/*
 * catalogue: which kernels there are and where they are found.  The command and
 * the library open the same catalogue, so that both know the same kernels and
 * note the same in the same words.
 *
 * A folder of the search path has specs in kernels/, files that end in .yaml.
 * A kernel is known by the name in its spec; a file with another name is used,
 * and noted.  Of several specs with one name the first counts, folders in the
 * order of the search path and files in that of their names; the others are
 * left out and noted, unless they are the same kernel in another folder.  A
 * spec that cannot be read, a folder that is not there, or has nothing for us:
 * noted and left out.
 */
#ifndef SHMT_KERNEL_CATALOGUE_H
#define SHMT_KERNEL_CATALOGUE_H

#include "base/base.h"

struct shmt_kernel;

struct shmt_catalogue_kernel {
    struct shmt_kernel *kernel;
    const char *folder;              /* of the search path */
};

/* To read; shmt_catalogue_note and _take change it. */
struct shmt_catalogue {
    struct shmt_arena *arena;        /* all but the specs */
    size_t folder_count, folder_room;
    const char **folders;            /* absolute, in search order, each once */
    size_t kernel_count, kernel_room;
    struct shmt_catalogue_kernel *kernels;    /* sorted by name */
    size_t refused_count, refused_room;
    const char **refused;            /* paths of specs that cannot be read */
    enum shmtune_status refusal;     /* of the first of them, and the note */
    const char *refusal_note;
    size_t note_count, note_room;
    const char **notes;              /* SHMT_CATALOGUE_NOTES at most; then the
                                        last is `unsaid_note` */
    size_t unsaid_count;             /* notes that were not kept */
    char unsaid_note[160];
    const char *unread;              /* the first note of a folder that could
                                        not be looked at, NULL: they all were.
                                        A kernel may then be there that is not
                                        here */
};

/* Folders are not trusted: a bad file each would make a note each. */
enum { SHMT_CATALOGUE_NOTES = 256 };

/* `list` has folders between ':', which may be relative and must not be empty:
 * SHMTUNE_INVALID_ARGUMENT.  NULL stands for, in this order, the absolute ones
 * of $SHMTUNE_PATH, `tree` (may be NULL), the user's and the installed folder;
 * a program that runs with the rights of another user looks at the installed
 * one alone.  Other failures than that and of memory are notes. */
enum shmtune_status shmt_catalogue_open(const char *list, const char *tree,
                                        struct shmt_catalogue **out,
                                        struct shmt_error *err);
/* One folder, whose name may have a ':', or an open pack's root. */
enum shmtune_status shmt_catalogue_open_folder(const char *folder,
                                               struct shmt_catalogue **out,
                                               struct shmt_error *err);
/* The same with one spec, which comes before those of the folder and may lie
 * anywhere. */
enum shmtune_status shmt_catalogue_open_spec(const char *spec,
                                             const char *folder,
                                             struct shmt_catalogue **out,
                                             struct shmt_error *err);
void shmt_catalogue_close(struct shmt_catalogue *catalogue);

/* NULL: there is none of that name. */
struct shmt_catalogue_kernel *
shmt_catalogue_find(const struct shmt_catalogue *catalogue, const char *name);

/* Take the kernel out, for the caller to free. */
struct shmt_kernel *shmt_catalogue_take(struct shmt_catalogue *catalogue,
                                        const char *name);

/* Add a note; SHMTUNE_NO_MEMORY is the only failure. */
enum shmtune_status shmt_catalogue_note(struct shmt_catalogue *catalogue,
                                        const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The names in a folder that end in `suffix`: none where it is no folder, and
 * a note where it cannot be read. */
enum shmtune_status shmt_catalogue_list(struct shmt_catalogue *catalogue,
                                        const char *folder,
                                        const char *suffix,
                                        const char *const **names,
                                        size_t *count);

#endif
