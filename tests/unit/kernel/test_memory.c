/* SPDX-License-Identifier: MIT */
/*
 * Memory that runs out while a spec is read, its space is built or a catalogue
 * is opened: the n-th allocation fails, for every n until the work is done
 * without meeting it.
 */
#include <unistd.h>

#include "tests/support/check.h"
#include "tests/support/folder.h"
#include "tests/support/starve.h"

#include "kernel/kernel.h"

static char path[4096];
static struct shmt_error err;

static enum shmtune_status read_spec(void)
{
    struct shmt_kernel *kernel = NULL;
    const enum shmtune_status status = shmt_kernel_read(path, &kernel, &err);

    CHECK((status == SHMTUNE_OK) == (kernel != NULL));
    shmt_kernel_free(kernel);
    return status;
}

static enum shmtune_status build_space(void)
{
    const long kept = allocations_failing;
    struct shmt_kernel *kernel = NULL;
    struct shmt_space *space = NULL;
    enum shmtune_status status;

    allocations_failing = 0;
    if (shmt_kernel_read(path, &kernel, &err) != SHMTUNE_OK)
        return SHMTUNE_INTERNAL;
    allocations_failing = kept;
    status = shmt_kernel_space(kernel, kernel->sizes[0], NULL, &space, &err);
    CHECK((status == SHMTUNE_OK) == (space != NULL));
    if (space != NULL)
        CHECK_INT(shmt_space_count(space), 36);
    shmt_space_free(space);
    shmt_kernel_free(kernel);
    return status;
}

static char folder[FOLDER_ROOM];

static enum shmtune_status open_catalogue(void)
{
    struct shmt_catalogue *catalogue = NULL;
    const enum shmtune_status status =
        shmt_catalogue_open(folder, NULL, &catalogue, &err);

    CHECK((status == SHMTUNE_OK) == (catalogue != NULL));
    if (catalogue != NULL)
        CHECK(shmt_catalogue_find(catalogue, "scale") != NULL);
    shmt_catalogue_close(catalogue);
    return status;
}

static void a_spec_is_read_or_memory_is_missed(void)
{
    starve(read_spec, &err);
}

static void so_is_its_space_built(void)
{
    starve(build_space, &err);
}

/* Names that stand for expressions of other such names. */
static void derived_names_are_read_or_memory_is_missed(void)
{
    starve(read_spec, &err);
}

/* A folder whose kernels are the files beside the spec. */
static void so_is_a_catalogue_opened(void)
{
    char link[FOLDER_ROOM];

    folder_make(folder);
    folder_path(link, folder, "kernels");
    path[strlen(path) - strlen("/scale.yaml")] = '\0';
    CHECK_INT(symlink(path, link), 0);
    starve(open_catalogue, &err);
    CHECK_INT(unlink(link), 0);
    folder_remove(folder);
}

static void set_path(const char *spec)
{
    const char *source = getenv("SHMT_SRCDIR");

    snprintf(path, sizeof path, "%s/%s", source == NULL ? "." : source, spec);
}

int main(void)
{
    set_path("tests/cli/data/scale.yaml");
    CHECK_RUN(a_spec_is_read_or_memory_is_missed);
    CHECK_RUN(so_is_its_space_built);
    CHECK_RUN(so_is_a_catalogue_opened);
    set_path("kernels/matmul.yaml");
    CHECK_RUN(derived_names_are_read_or_memory_is_missed);
    return CHECK_END();
}
