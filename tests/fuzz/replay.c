/* SPDX-License-Identifier: MIT */
/*
 * replay: a fuzz target as a test.  Feeds it the files of its corpus (or
 * those named in the arguments), each whole and damaged, and those of the
 * corpus's folder found/ whole.  A target that aborts ends the program; the
 * input is then in <name>.failed.
 */
#include "fuzz.h"

#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/path.h"
#include "tests/support/hostile.h"

enum { ROUNDS = 1500, LARGEST = 8 << 20, SMALL = 4000 };

/* Nothing small may take longer, whatever it says. */
static const double slow_s = 2;

static const char *current;
static size_t current_size;
static double slowest_s;

/* Not all of it is allowed in a signal handler; there is nothing to lose. */
static void keep_input(int number)
{
    char name[64] = {0};
    FILE *file;

    signal(number, SIG_DFL);
    snprintf(name, sizeof name, "%s.failed", fuzz_name);
    file = fopen(name, "wb");
    if (file != NULL) {
        fwrite(current, 1, current_size, file);
        fclose(file);
    }
    raise(number);
}

static void feed(const char *data, size_t size)
{
    const clock_t begin = clock();
    double seconds;

    current = data;
    current_size = size;
    LLVMFuzzerTestOneInput((const uint8_t *)data, size);
    seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
    if (seconds > slowest_s)
        slowest_s = seconds;
}

static int rounds(void)
{
    const char *text = getenv("FUZZ_ROUNDS");

    return text == NULL ? ROUNDS : atoi(text);
}

/* Large files are there for their size: they are not damaged as often. */
static bool replay(const char *path, int number)
{
    struct shmt_arena *arena = shmt_arena_new();
    struct shmt_error err;
    const char *data = NULL;
    size_t size = 0;
    const bool read = shmt_path_read(arena, path, LARGEST, &data, &size, &err)
                      == SHMTUNE_OK;
    const int times = size > SMALL ? rounds() / 50 : rounds();

    slowest_s = 0;
    if (read) {
        hostile_feed(feed, data, size);
        if (size <= SMALL)
            hostile_cuts(feed, data, size);
        hostile_flips(feed, data, size, times);
        hostile_splices(feed, data, size, times);
    } else {
        printf("# %s\n", err.text);
    }
    if (slowest_s > slow_s)
        printf("# one input took %g s, expected at most %g s\n", slowest_s,
               slow_s);
    printf("%sok %d - %s %s\n", read && slowest_s <= slow_s ? "" : "not ",
           number, fuzz_name, shmt_path_stem(arena, path, ""));
    fflush(stdout);
    shmt_arena_free(arena);
    return read && slowest_s <= slow_s;
}

/* What a fuzzer found, in a folder: whole.  What it tried around them is not
 * tried again. */
static bool replay_found(const char *folder, int number)
{
    struct shmt_arena *arena = shmt_arena_new();
    const char *const *names = NULL;
    const char *data = NULL;
    size_t count = 0, size = 0;
    struct shmt_error err;
    bool good = shmt_path_list(arena, folder, "", &names, &count, &err) ==
                SHMTUNE_OK;

    slowest_s = 0;
    for (size_t k = 0; good && k < count; k++) {
        good = shmt_path_read(arena, shmt_path_join(arena, folder, names[k]),
                              LARGEST, &data, &size, &err) == SHMTUNE_OK;
        if (good)
            hostile_feed(feed, data, size);
    }
    if (!good)
        printf("# %s\n", err.text);
    good = good && slowest_s <= slow_s;
    printf("%sok %d - %s %zu that were found\n", good ? "" : "not ", number,
           fuzz_name, count);
    fflush(stdout);
    shmt_arena_free(arena);
    return good;
}

static int replay_corpus(void)
{
    struct shmt_arena *arena = shmt_arena_new();
    const char *source = getenv("SHMT_SRCDIR");
    const char *const *names = NULL;
    const char *folder;
    struct shmt_error err;
    size_t count = 0;
    int failures = 0;

    folder = shmt_path_join(arena, source == NULL ? "." : source,
                            "tests/fuzz/corpus");
    folder = shmt_path_join(arena, folder, fuzz_name);
    if (shmt_path_list(arena, folder, "", &names, &count, &err)
            != SHMTUNE_OK
        || count == 0) {
        printf("Bail out! no corpus in %s\n", folder);
        return 1;
    }
    for (size_t k = 0; k < count; k++) {
        const char *const path = shmt_path_join(arena, folder, names[k]);

        failures += shmt_path_is_folder(path)
                        ? !replay_found(path, (int)k + 1)
                        : !replay(path, (int)k + 1);
    }
    printf("1..%zu\n", count);
    shmt_arena_free(arena);
    return failures;
}

int main(int argc, char **argv)
{
    int failures = 0;

    signal(SIGABRT, keep_input);
    signal(SIGSEGV, keep_input);
    if (argc == 1)
        return replay_corpus() == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
    for (int k = 1; k < argc; k++)
        failures += !replay(argv[k], k);
    printf("1..%d\n", argc - 1);
    return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
