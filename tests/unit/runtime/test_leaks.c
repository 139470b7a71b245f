/* SPDX-License-Identifier: MIT */
/*
 * A plug-in may load the library, use it and unload it again, for as long as
 * its host runs: nothing is left behind.  Counted are bytes in use, mappings,
 * descriptors, threads and keys of threads.  tests/sanitizers.sh runs it with
 * LeakSanitizer too.  On the fake driver.
 */
#include "shmtune.h"

#include <dirent.h>
#include <dlfcn.h>
#include <limits.h>
#include <malloc.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/catalogue_fixture.h"
#include "tests/support/check.h"
#include "tests/support/driver_fixture.h"

enum { WARM_UP = 20, ROUNDS = 1000 };

static const char *root;
static char path[1024];

/* The library's functions, X(name). */
#define FUNCTIONS(X)                                                         \
    X(open) X(close) X(kernel_find) X(select) X(device_query) X(note_count)

static struct library {
    void *handle;
#define MEMBER(name) __typeof__(shmtune_##name) *name;
    FUNCTIONS(MEMBER)
#undef MEMBER
} library;

static void load(void)
{
    library.handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library.handle == NULL) {
        printf("Bail out! %s\n", dlerror());
        exit(EXIT_FAILURE);
    }
#define FIND(name)                                                           \
    *(void **)&library.name = dlsym(library.handle, "shmtune_" #name);
    FUNCTIONS(FIND)
#undef FIND
}

/* All of one use, but for the loading. */
static bool use(void)
{
    const int64_t problem[] = {1000, 1000};
    struct shmtune_device device = {.size = sizeof device};
    struct shmtune_choice choice = SHMTUNE_CHOICE_INIT;
    struct shmtune *handle = NULL;
    bool right = library.open(root, &handle, NULL) == SHMTUNE_OK;

    right = right && library.note_count(handle) == 1 &&
            library.device_query(0, &device, NULL) == SHMTUNE_OK &&
            library.select(library.kernel_find(handle, "toy"), &device,
                           problem, &choice) == SHMTUNE_OK;
    library.close(handle);
    return right;
}

static void open_and_close(void)
{
    use();
}

static void load_and_unload(void)
{
    load();
    use();
    dlclose(library.handle);
}

/* -- what may be left ----------------------------------------------------- */

struct held {
    size_t bytes;
    int mappings, descriptors, threads, keys;
};

static int count_entries(const char *folder)
{
    DIR *const list = opendir(folder);
    int count = 0;

    while (list != NULL && readdir(list) != NULL)
        count++;
    if (list != NULL)
        closedir(list);
    return count;
}

static int count_mappings(bool *loaded)
{
    FILE *const file = fopen("/proc/self/maps", "r");
    char line[4096];
    int count = 0;

    *loaded = false;
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        *loaded = *loaded || strstr(line, "libshmtune.so") != NULL;
        count++;
    }
    if (file != NULL)
        fclose(file);
    return count;
}

/* How many keys of threads there are still to be had. */
static int count_keys(void)
{
    static pthread_key_t keys[PTHREAD_KEYS_MAX];
    int count = 0;

    while (count < PTHREAD_KEYS_MAX &&
           pthread_key_create(&keys[count], NULL) == 0)
        count++;
    for (int k = 0; k < count; k++)
        pthread_key_delete(keys[k]);
    return count;
}

static struct held look(void)
{
    const struct mallinfo2 info = mallinfo2();
    bool loaded;

    return (struct held){
        .bytes = info.uordblks + info.hblkhd,
        .mappings = count_mappings(&loaded),
        .descriptors = count_entries("/proc/self/fd"),
        .threads = count_entries("/proc/self/task"), .keys = count_keys()};
}

/* What ROUNDS of it hold on to. */
static void repeat(void (*round)(void))
{
    struct held before, after;

    for (int k = 0; k < WARM_UP; k++)
        round();
    look();
    before = look();
    for (int k = 0; k < ROUNDS; k++)
        round();
    after = look();
    CHECK_INT(after.descriptors, before.descriptors);
    CHECK_INT(after.threads, before.threads);
    CHECK_INT(after.keys, before.keys);
    if (before.bytes == 0) {
        printf("# bytes and mappings are a sanitizer's: not counted\n");
        return;
    }
    CHECK(after.mappings <= before.mappings + 2);
    printf("# %zu bytes in use, %zu afterwards\n", before.bytes, after.bytes);
    /* A block takes 32 bytes at least; some that are free, in malloc's cache
     * of a thread, count as in use. */
    CHECK(after.bytes < before.bytes + 16 * (size_t)ROUNDS);
}

static void opening_and_closing_leaves_nothing(void)
{
    load();
    CHECK(use());
    repeat(open_and_close);
    dlclose(library.handle);
}

static void loading_and_unloading_leaves_nothing(void)
{
    bool loaded;

    load();
    CHECK(use());
    CHECK(count_mappings(&loaded) > 0 && loaded);
    dlclose(library.handle);
    CHECK(count_mappings(&loaded) > 0 && !loaded);
    repeat(load_and_unload);
}

/* A handle with a log, or with counts, is asked at each fork: no longer. */
static void a_fork_finds_nothing_of_it(void)
{
    int state = -1;
    pid_t child;

    setenv("SHMTUNE_LOG", fixture_path("log"), 1);
    load_and_unload();
    unsetenv("SHMTUNE_LOG");
    CHECK(access(fixture_path("log"), F_OK) == 0);
    fflush(stdout);
    child = fork();
    if (child == 0)
        _exit(0);
    CHECK(child > 0 && waitpid(child, &state, 0) == child && state == 0);
}

int main(void)
{
    static const struct fixture_tuned tuned[] = {
        {1024, 1024, 128, 0, 0, 10}, {4096, 512, 256, 0, 0, 10}};
    const char *const build = getenv("SHMT_BUILDDIR");
    const struct shmtune_device device = fixture_device();

    snprintf(path, sizeof path, "%s/.libs/libshmtune.so",
             build != NULL ? build : ".");
    fixture_fake_driver();
    if (access(path, R_OK) != 0 ||
        access(getenv("SHMTUNE_LIBCUDA"), R_OK) != 0) {
        printf("1..0 # SKIP no shared library was built (%s)\n", path);
        return EXIT_SUCCESS;
    }
    root = fixture_begin();
    fixture_tune("h100.yaml", &device, tuned, 2);
    fixture_put_text("tunings/toy/damaged.yaml", "format: tuning/1\nkernel: [");
    CHECK_RUN(opening_and_closing_leaves_nothing);
    CHECK_RUN(loading_and_unloading_leaves_nothing);
    CHECK_RUN(a_fork_finds_nothing_of_it);
    fixture_end();
    return CHECK_END();
}
