/* SPDX-License-Identifier: MIT */
/*
 * image_arguments: compares number and sizes of the arguments in a spec with
 * the parameters of each compiled kernel.  Called by image.c for every image.
 */
#include "gpu/image_arguments.h"

#include <string.h>

#include "gpu/cubin.h"

/* The longest path that a message has room for. */
enum { PATH_SHOWN = 60 };

/* Both sides of one launch. */
struct sides {
    const struct shmt_kernel *kernel;
    const struct shmt_launch *launch;
    size_t number;                 /* of the launch, from 1 */
    const char *entry;
    struct shmt_cubin_params takes; /* the kernel */
    uint32_t passes[SHMT_KERNEL_ARGUMENTS];
};

/* -- what is said --------------------------------------------------------- */

/* "8, 8 and 4", the first few of many. */
static void add_sizes(struct shmt_text *text, const uint32_t *sizes,
                      size_t count)
{
    enum { SHOWN = 8 };

    for (size_t k = 0; k < count && k < SHOWN; k++)
        shmt_text_addf(text, "%s%lu",
                       k == 0 ? "" : k + 1 == count ? " and " : ", ",
                       (unsigned long)sizes[k]);
    if (count > SHOWN)
        shmt_text_addf(text, ", ...");
}

static void add_count(struct shmt_text *text, const struct sides *sides)
{
    const size_t takes = sides->takes.count;
    const size_t passes = sides->launch->argument_count;

    shmt_text_addf(text, "%.64s takes %zu parameter%s of ", sides->entry,
                   takes, shmt_text_plural(takes));
    add_sizes(text, sides->takes.sizes, takes);
    shmt_text_addf(text, " bytes, the spec passes %zu%s", passes,
                   passes == 0 ? "" : " of ");
    add_sizes(text, sides->passes, passes);
}

static void add_size(struct shmt_text *text, const struct sides *sides,
                     size_t k)
{
    const size_t which = sides->launch->arguments[k];

    shmt_text_addf(text,
                   "%.64s takes %lu byte%s as parameter %zu, the spec passes "
                   "%.40s of %lu", sides->entry,
                   (unsigned long)sides->takes.sizes[k],
                   shmt_text_plural(sides->takes.sizes[k]), k + 1,
                   sides->kernel->arguments[which].name,
                   (unsigned long)sides->passes[k]);
}

static void add_place(struct shmt_text *text, const struct sides *sides)
{
    const struct shmt_place place = sides->launch->arguments_place;
    const char *slash = strrchr(place.file, '/');
    const char *file = strlen(place.file) > PATH_SHOWN && slash != NULL
                           ? slash + 1 : place.file;

    shmt_text_addf(text, ": see 'arguments' of launch %zu (%.*s:%d:%d)",
                   sides->number, PATH_SHOWN, file, place.line, place.column);
}

/* -- the comparison ------------------------------------------------------- */

static enum shmtune_status compare(const struct sides *sides,
                                   struct shmt_error *err)
{
    const size_t count = sides->launch->argument_count;
    struct shmt_text text = {0};
    enum shmtune_status status;
    size_t k = 0;

    while (k < count && k < sides->takes.count &&
           sides->takes.sizes[k] == sides->passes[k])
        k++;
    if (k == count && k == sides->takes.count)
        return SHMTUNE_OK;
    if (count != sides->takes.count)
        add_count(&text, sides);
    else
        add_size(&text, sides, k);
    add_place(&text, sides);
    status = text.failed ? shmt_error_memory(err)
                         : shmt_error_set(err, SHMTUNE_INVALID_FILE, "%s",
                                          shmt_text_string(&text));
    shmt_text_free(&text);
    return status;
}

static enum shmtune_status check_one(struct shmt_kernel_evaluated *evaluated,
                                     const struct shmt_image *image,
                                     size_t k, struct shmt_error *err)
{
    const struct shmt_image_entry *entry =
        &image->entries[image->launch_entry[k]];
    struct sides sides = {
        .kernel = evaluated->kernel, .number = k + 1, .entry = entry->name,
        .launch = &evaluated->launches[k]
    };

    if (!shmt_cubin_read_params(image->cubin, image->cubin_size, entry->lowered,
                                &sides.takes))
        return SHMTUNE_OK;
    for (size_t a = 0; a < sides.launch->argument_count; a++) {
        int64_t bytes;
        const enum shmtune_status status = shmt_kernel_argument_bytes(
            evaluated, sides.launch->arguments[a], &bytes, err);

        if (status != SHMTUNE_OK)
            return status;
        sides.passes[a] = bytes < UINT32_MAX ? (uint32_t)bytes : UINT32_MAX;
    }
    return compare(&sides, err);
}

enum shmtune_status
shmt_image_check_arguments(struct shmt_kernel_evaluated *evaluated,
                           const struct shmt_image *image,
                           struct shmt_error *err)
{
    for (size_t k = 0; k < evaluated->launch_count; k++) {
        const enum shmtune_status status =
            image->launch_entry[k] < 0 ? SHMTUNE_OK
                                       : check_one(evaluated, image, k, err);

        if (status != SHMTUNE_OK)
            return status;
    }
    return SHMTUNE_OK;
}
