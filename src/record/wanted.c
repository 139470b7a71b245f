/* SPDX-License-Identifier: MIT */
/*
 * wanted: reads, adds up and writes the problems that applications wanted
 * (YAML).  The file is not trusted: what is in it is checked.  Called by
 * runtime/ and command/.
 */
#include "record/wanted.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "yaml/yaml.h"

enum {
    NAME = 256,
    LOCK_S = 30, PAUSE_NS = 10000000     /* for the lock; between two looks */
};

enum shmtune_status shmt_wanted_new(struct shmt_wanted **out,
                                    struct shmt_error *err)
{
    struct shmt_arena *const arena = shmt_arena_new();
    struct shmt_wanted *const wanted = calloc(1, sizeof *wanted);

    if (arena == NULL || wanted == NULL) {
        shmt_arena_free(arena);
        free(wanted);
        return shmt_error_memory(err);
    }
    wanted->arena = arena;
    *out = wanted;
    return SHMTUNE_OK;
}

void shmt_wanted_free(struct shmt_wanted *wanted)
{
    if (wanted == NULL)
        return;
    shmt_map_free(&wanted->places);
    shmt_arena_free(wanted->arena);
    free(wanted->problems);
    free(wanted);
}

/* -- adding --------------------------------------------------------------- */

static int compare_names(const struct shmt_wanted_problem *a,
                         const struct shmt_wanted_problem *b)
{
    const int order = strcmp(a->kernel, b->kernel);

    return order != 0 ? order : strcmp(a->device, b->device);
}

static int compare_sizes(const struct shmt_wanted_problem *a,
                         const struct shmt_wanted_problem *b)
{
    if (a->size_count != b->size_count)
        return a->size_count < b->size_count ? -1 : 1;
    for (size_t k = 0; k < a->size_count; k++) {
        const int order = strcmp(a->size[k].name, b->size[k].name);

        if (order != 0)
            return order;
        if (a->size[k].value.i != b->size[k].value.i)
            return a->size[k].value.i < b->size[k].value.i ? -1 : 1;
    }
    return 0;
}

static bool is_same(const struct shmt_wanted_problem *a,
                    const struct shmt_wanted_problem *b)
{
    return compare_names(a, b) == 0 && compare_sizes(a, b) == 0;
}

static uint64_t hash_of(const struct shmt_wanted_problem *one)
{
    uint64_t hash = shmt_map_hash(
        shmt_map_hash_bytes(one->kernel, strlen(one->kernel)),
        shmt_map_hash_bytes(one->device, strlen(one->device)));

    for (size_t k = 0; k < one->size_count; k++)
        hash = shmt_map_hash(hash, (uint64_t)one->size[k].value.i);
    return hash;
}

static bool copy_into(struct shmt_wanted *wanted,
                      const struct shmt_wanted_problem *one)
{
    struct shmt_wanted_problem *const to = &wanted->problems[wanted->count];
    struct shmt_setting *const size =
        shmt_arena_alloc(wanted->arena, one->size_count, sizeof *size);

    *to = *one;
    to->kernel = shmt_arena_copy(wanted->arena, one->kernel,
                                 strlen(one->kernel));
    to->device = shmt_arena_copy(wanted->arena, one->device,
                                 strlen(one->device));
    to->size = size;
    if (to->kernel == NULL || to->device == NULL || size == NULL)
        return false;
    for (size_t k = 0; k < one->size_count; k++) {
        size[k] = one->size[k];
        size[k].name = shmt_arena_copy(wanted->arena, one->size[k].name,
                                       strlen(one->size[k].name));
        if (size[k].name == NULL)
            return false;
    }
    return true;
}

enum shmtune_status shmt_wanted_add(struct shmt_wanted *wanted,
                                    const struct shmt_wanted_problem *one,
                                    struct shmt_error *err)
{
    const uint64_t hash = hash_of(one);
    uint32_t at;

    for (size_t probe = 0;
         (at = shmt_map_next(&wanted->places, hash, &probe)) !=
         SHMT_MAP_NONE;) {
        struct shmt_wanted_problem *const known = &wanted->problems[at];

        if (!is_same(known, one))
            continue;
        known->count = known->count > UINT64_MAX - one->count
                           ? UINT64_MAX : known->count + one->count;
        return SHMTUNE_OK;
    }
    if (!shmt_array_reserve(&wanted->problems, &wanted->room,
                            wanted->count + 1, sizeof *wanted->problems) ||
        !copy_into(wanted, one) ||
        !shmt_map_add(&wanted->places, hash, (uint32_t)wanted->count))
        return shmt_error_memory(err);
    wanted->count++;
    return SHMTUNE_OK;
}

static int by_count(const void *a, const void *b)
{
    const struct shmt_wanted_problem *const x = a, *const y = b;
    const int order = compare_names(x, y);

    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    return order != 0 ? order : compare_sizes(x, y);
}

void shmt_wanted_sort(struct shmt_wanted *wanted)
{
    if (wanted->count > 1)
        qsort(wanted->problems, wanted->count, sizeof *wanted->problems,
              by_count);
    /* Places are those of before. */
    shmt_map_clear(&wanted->places);
    for (size_t k = 0; k < wanted->count; k++)
        (void)shmt_map_add(&wanted->places, hash_of(&wanted->problems[k]),
                           (uint32_t)k);
}

/* -- reading -------------------------------------------------------------- */

enum { KERNEL, DEVICE, SIZE, COUNT, KEYS };

static const char *const problem_keys[KEYS + 1] = {
    "kernel", "device", "size", "count", NULL
};

static enum shmtune_status read_size(struct shmt_arena *arena,
                                     const struct shmt_yaml *node,
                                     struct shmt_wanted_problem *one,
                                     struct shmt_error *err)
{
    struct shmt_setting *size;
    enum shmtune_status status =
        shmt_yaml_expect(node, SHMT_YAML_MAPPING, "sizes", err);

    if (status == SHMTUNE_OK && node->count > SHMT_KERNEL_DIMENSIONS)
        return shmt_yaml_refuse(node, err, "found %zu dimensions, expected at "
                                "most %d", node->count,
                                SHMT_KERNEL_DIMENSIONS);
    if (status != SHMTUNE_OK)
        return status;
    size = shmt_arena_alloc(arena, node->count, sizeof *size);
    if (size == NULL)
        return shmt_error_memory(err);
    for (size_t k = 0; status == SHMTUNE_OK && k < node->count; k++) {
        size[k].value.type = SHMT_VALUE_INT;
        status = shmt_yaml_word(node->keys[k], &size[k].name, err);
        if (status == SHMTUNE_OK)
            status = shmt_yaml_int(node->items[k], INT64_MIN, INT64_MAX,
                                   &size[k].value.i, err);
    }
    one->size = size;
    one->size_count = node->count;
    return status;
}

static enum shmtune_status read_problem(struct shmt_wanted *wanted,
                                        const struct shmt_yaml *node,
                                        struct shmt_error *err)
{
    struct shmt_wanted_problem one = {0};
    const struct shmt_yaml *values[KEYS];
    enum shmtune_status status =
        shmt_yaml_expect(node, SHMT_YAML_MAPPING, "a problem", err);

    if (status == SHMTUNE_OK)
        status = shmt_yaml_get_keys(node, problem_keys, values, err);
    for (size_t k = 0; status == SHMTUNE_OK && k < KEYS; k++)
        if (values[k] == NULL)
            status = shmt_yaml_refuse(node, err, "the key \"%s\" is missing",
                                      problem_keys[k]);
    if (status == SHMTUNE_OK)
        status = shmt_yaml_word(values[KERNEL], &one.kernel, err);
    if (status == SHMTUNE_OK)
        status = shmt_yaml_text(values[DEVICE], NAME, &one.device, err);
    if (status == SHMTUNE_OK)
        status = read_size(wanted->arena, values[SIZE], &one, err);
    if (status == SHMTUNE_OK)
        status = shmt_yaml_count(values[COUNT], &one.count, err);
    return status == SHMTUNE_OK ? shmt_wanted_add(wanted, &one, err) : status;
}

static enum shmtune_status read_root(struct shmt_wanted *wanted,
                                     const struct shmt_yaml *root,
                                     struct shmt_error *err)
{
    static const char *const keys[] = {"format", "problems", NULL};
    const struct shmt_yaml *values[2];
    enum shmtune_status status =
        shmt_yaml_format(root, SHMT_YAML_WANTED, err);

    if (status == SHMTUNE_OK)
        status = shmt_yaml_get_keys(root, keys, values, err);
    if (status == SHMTUNE_OK)
        status = shmt_yaml_need(root, keys[1], &values[1], err);
    if (status == SHMTUNE_OK)
        status = shmt_yaml_expect(values[1], SHMT_YAML_SEQUENCE, "problems",
                                  err);
    if (status == SHMTUNE_OK && values[1]->count > SHMT_WANTED_PROBLEMS)
        return shmt_yaml_refuse(values[1], err, "found %zu problems, expected "
                                "at most %d", values[1]->count,
                                SHMT_WANTED_PROBLEMS);
    for (size_t k = 0; status == SHMTUNE_OK && k < values[1]->count; k++)
        status = read_problem(wanted, values[1]->items[k], err);
    return status;
}

enum shmtune_status shmt_wanted_parse(const char *name, const char *data,
                                      size_t size, struct shmt_wanted **out,
                                      struct shmt_error *err)
{
    struct shmt_wanted *wanted = NULL;
    struct shmt_arena *const nodes = shmt_arena_new();
    const struct shmt_yaml_source source = {
        .origin = {name, 1, 1, 0}, .data = data, .size = size, .ends = true};
    const struct shmt_yaml *root;
    enum shmtune_status status =
        nodes == NULL ? shmt_error_memory(err) : shmt_wanted_new(&wanted, err);

    /* An empty file is one that was made to be written, as by mktemp. */
    if (status == SHMTUNE_OK && size > 0)
        status = shmt_yaml_parse_from(nodes, &source, &root, err);
    if (status == SHMTUNE_OK && size > 0)
        status = read_root(wanted, root, err);
    shmt_arena_free(nodes);
    if (status == SHMTUNE_OK)
        *out = wanted;
    else
        shmt_wanted_free(wanted);
    return status;
}

enum shmtune_status shmt_wanted_read(const char *path,
                                     struct shmt_wanted **out,
                                     struct shmt_error *err)
{
    struct shmt_arena *const arena = shmt_arena_new();
    const char *data;
    size_t size;
    enum shmtune_status status =
        arena == NULL ? shmt_error_memory(err)
                      : shmt_path_read(arena, path, SHMT_WANTED_BYTES, &data,
                                       &size, err);

    if (status == SHMTUNE_OK)
        status = shmt_wanted_parse(path, data, size, out, err);
    shmt_arena_free(arena);
    return status;
}

/* -- writing -------------------------------------------------------------- */

static void add_problem(const struct shmt_wanted_problem *one,
                        struct shmt_text *text)
{
    shmt_text_add(text, "  - {kernel: ");
    shmt_yaml_add_string(text, one->kernel);
    shmt_text_add(text, ", device: ");
    shmt_yaml_add_string(text, one->device);
    shmt_text_add(text, ", size: {");
    for (size_t k = 0; k < one->size_count; k++)
        shmt_text_addf(text, "%s%s: %lld", k > 0 ? ", " : "",
                       one->size[k].name, (long long)one->size[k].value.i);
    shmt_text_addf(text, "}, count: %llu}\n", (unsigned long long)one->count);
}

void shmt_wanted_format(struct shmt_wanted *wanted, struct shmt_text *text)
{
    shmt_wanted_sort(wanted);
    shmt_text_add(text, "---\nformat: wanted/1\nproblems:");
    shmt_text_add(text, wanted->count == 0 ? " []\n" : "\n");
    for (size_t k = 0; k < wanted->count && k < SHMT_WANTED_PROBLEMS; k++)
        add_problem(&wanted->problems[k], text);
    shmt_text_add(text, "...\n");
}

/* The lock of the folder: a file that is replaced cannot have one.  -1 with a
 * message when somebody else has it for too long; a file system without locks
 * is used without. */
static int lock_folder(int folder, const char *path, struct shmt_error *err)
{
    const int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const struct timespec pause = {0, PAUSE_NS};
    const double end = shmt_clock_s() + LOCK_S;

    if (fd < 0) {
        shmt_error_system(err, path, "its folder cannot be opened");
        return -1;
    }
    do {
        if (flock(fd, LOCK_EX | LOCK_NB) == 0 ||
            (errno != EWOULDBLOCK && errno != EINTR))
            return fd;
        nanosleep(&pause, NULL);
    } while (shmt_clock_s() < end);
    close(fd);
    shmt_error_set(err, SHMTUNE_STORAGE, "%s: the lock of its folder was not "
                   "free for %d seconds; is a process stopped that has it?",
                   path, LOCK_S);
    return -1;
}

static enum shmtune_status add_all(struct shmt_wanted *to,
                                   const struct shmt_wanted *from,
                                   struct shmt_error *err)
{
    enum shmtune_status status = SHMTUNE_OK;

    for (size_t k = 0; status == SHMTUNE_OK && k < from->count; k++)
        status = shmt_wanted_add(to, &from->problems[k], err);
    return status;
}

static enum shmtune_status merge_locked(struct shmt_arena *arena, int folder,
                                        const struct shmt_wanted *wanted,
                                        const char *path,
                                        struct shmt_error *err)
{
    struct shmt_wanted *all = NULL;
    struct shmt_text text = {0};
    const char *data;
    size_t size;
    enum shmtune_status status = shmt_path_read_private(
        arena, folder, path, SHMT_WANTED_BYTES, &data, &size, err);

    if (status == SHMTUNE_OK)
        status = shmt_wanted_parse(path, data, size, &all, err);
    else if (status == SHMTUNE_NOT_FOUND)
        status = shmt_wanted_new(&all, err);
    if (status == SHMTUNE_OK)
        status = add_all(all, wanted, err);
    if (status == SHMTUNE_OK)
        shmt_wanted_format(all, &text);
    if (status == SHMTUNE_OK && text.failed)
        status = shmt_error_memory(err);
    if (status == SHMTUNE_OK)
        status = shmt_path_write_private(folder, path, text.data, text.length,
                                         err);
    shmt_text_free(&text);
    shmt_wanted_free(all);
    return status;
}

enum shmtune_status shmt_wanted_merge(const struct shmt_wanted *wanted,
                                      const char *path,
                                      struct shmt_error *err)
{
    struct shmt_arena *const arena = shmt_arena_new();
    const char *const parent =
        arena == NULL ? NULL : shmt_path_folder(arena, path);
    int folder = -1, lock = -1;
    enum shmtune_status status =
        parent == NULL ? shmt_error_memory(err)
                       : shmt_path_open_private(parent, false, &folder, err);

    if (status == SHMTUNE_OK) {
        lock = lock_folder(folder, path, err);
        status = lock < 0 ? SHMTUNE_STORAGE
                          : merge_locked(arena, folder, wanted, path, err);
    }
    /* A child that another thread has forked meanwhile has a copy of it. */
    if (lock >= 0) {
        flock(lock, LOCK_UN);
        close(lock);
    }
    if (folder >= 0)
        close(folder);
    shmt_arena_free(arena);
    return status;
}
