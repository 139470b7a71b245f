/* SPDX-License-Identifier: MIT */
/*
 * Memory that runs out: the n-th allocation fails, for every n until the work
 * is done without meeting it.
 */
#define _GNU_SOURCE   /* mallinfo2 */
#include "tests/support/check.h"
#include "tests/support/starve.h"

#include <malloc.h>
#include <unistd.h>

#include "base/path.h"
#include "record/tuning.h"
#include "yaml/yaml.h"

static const char *good;
static size_t good_size;
static struct shmt_error err;

static enum shmtune_status parse_yaml(void)
{
    struct shmt_arena *arena = shmt_arena_new();
    const struct shmt_yaml *root = NULL;
    enum shmtune_status status = SHMTUNE_NO_MEMORY;

    if (arena != NULL)
        status = shmt_yaml_parse(arena, "f", good, good_size, &root, &err);
    CHECK((root != NULL) == (status == SHMTUNE_OK));
    shmt_arena_free(arena);
    return status;
}

/* More nodes at a time than the reader holds without an allocation. */
static enum shmtune_status parse_wide(void)
{
    static char text[2048];
    const struct shmt_yaml *root = NULL;
    struct shmt_arena *arena = shmt_arena_new();
    enum shmtune_status status = SHMTUNE_NO_MEMORY;
    size_t used = 0;

    for (int k = 0; k < 150; k++)
        used += (size_t)snprintf(text + used, sizeof text - used,
                                 "key_%d: 1\n", k);
    if (arena != NULL)
        status = shmt_yaml_parse(arena, "f", text, used, &root, &err);
    shmt_arena_free(arena);
    return status;
}

static enum shmtune_status use_tuning(void)
{
    struct shmt_tuning *tuning = NULL;
    struct shmt_tuned one;
    struct shmt_setting size[2];
    enum shmtune_status status =
        shmt_tuning_parse("f", good, good_size, &tuning, &err);

    if (status != SHMTUNE_OK)
        return status;
    one = *tuning->tuned[0];
    memcpy(size, one.size, sizeof size);
    size[0].value.i = 7;
    one.size = size;
    status = shmt_tuning_put(tuning, &one, &err);
    if (status != SHMTUNE_OK)
        CHECK_INT(tuning->tuned_count, 2);
    else
        status = shmt_tuning_write(tuning, "test_memory.out", &err);
    shmt_tuning_free(tuning);
    return status;
}

static enum shmtune_status list_folder(void)
{
    struct shmt_arena *arena = shmt_arena_new();
    const char *const *names;
    size_t count;
    enum shmtune_status status = SHMTUNE_NO_MEMORY;

    if (arena != NULL)
        status = shmt_path_list(arena, ".", "", &names, &count, &err);
    shmt_arena_free(arena);
    return status;
}

static enum shmtune_status read_file(void)
{
    struct shmt_tuning *tuning = NULL;
    const enum shmtune_status status =
        shmt_tuning_read("test_memory.out", &tuning, &err);

    shmt_tuning_free(status == SHMTUNE_OK ? tuning : NULL);
    return status;
}

static enum shmtune_status make_folders(void)
{
    rmdir("test_memory.folder/a");
    rmdir("test_memory.folder");
    return shmt_path_make_folder("test_memory.folder/a", 0700, &err);
}

static void yaml_runs_out(void)
{
    starve(parse_yaml, &err);
}

static void a_wide_mapping_runs_out(void)
{
    starve(parse_wide, &err);
}

static void a_tuning_runs_out(void)
{
    starve(use_tuning, &err);
}

static void a_tuning_from_a_file_runs_out(void)
{
    starve(read_file, &err);
}

static void folders_run_out(void)
{
    starve(list_folder, &err);
    starve(make_folders, &err);
}

static size_t bytes_in_use(void)
{
    const struct mallinfo2 info = mallinfo2();

    return info.uordblks + info.hblkhd;
}

/* Writes a tuning of many sizes. */
static void write_long(void)
{
    struct shmt_tuning *tuning = NULL;
    struct shmt_setting size[2];
    struct shmt_tuned one;

    CHECK_INT(shmt_tuning_parse("f", good, good_size, &tuning, &err),
              SHMTUNE_OK);
    one = *tuning->tuned[0];
    memcpy(size, one.size, sizeof size);
    one.size = size;
    for (int k = 0; k < 1500; k++) {
        size[0].value.i = 10000 + k;
        CHECK_INT(shmt_tuning_put(tuning, &one, &err), SHMTUNE_OK);
    }
    CHECK_INT(shmt_tuning_write(tuning, "test_memory.out", &err), SHMTUNE_OK);
    shmt_tuning_free(tuning);
}

/* Text, entries and what is left of the tree: the tree of a whole file alone
 * would take 16 times as much as the file. */
static void a_long_tuning_takes_little(void)
{
    enum { SLACK = 1 << 20 };
    struct shmt_arena *arena = shmt_arena_new();
    struct shmt_tuning *tuning = NULL;
    size_t before, after;

    write_long();
    before = bytes_in_use();
    CHECK_INT(shmt_tuning_read_into(arena, "test_memory.out", &tuning, &err),
              SHMTUNE_OK);
    after = bytes_in_use();
    CHECK(tuning != NULL && tuning->tuned_count >= 1500);
    if (tuning != NULL) {
        printf("# %zu bytes, %zu in memory\n", tuning->bytes, after - before);
        CHECK(after < before || after - before <= 4 * tuning->bytes + SLACK);
    }
    shmt_arena_free(arena);
}

int main(void)
{
    const char *folder = getenv("SHMT_SRCDIR");
    struct shmt_arena *arena = shmt_arena_new();
    char path[1000];

    snprintf(path, sizeof path, "%s/tests/fuzz/corpus/tuning/good.yaml",
             folder == NULL ? "." : folder);
    if (arena == NULL
        || shmt_path_read(arena, path, 1 << 20, &good, &good_size, &err)
               != SHMTUNE_OK) {
        printf("Bail out! %s\n", err.text);
        return EXIT_FAILURE;
    }
    CHECK_RUN(yaml_runs_out);
    CHECK_RUN(a_wide_mapping_runs_out);
    CHECK_RUN(a_tuning_runs_out);
    CHECK_RUN(a_tuning_from_a_file_runs_out);
    CHECK_RUN(folders_run_out);
    CHECK_RUN(a_long_tuning_takes_little);
    unlink("test_memory.out");
    rmdir("test_memory.folder/a");
    rmdir("test_memory.folder");
    shmt_arena_free(arena);
    return CHECK_END();
}
