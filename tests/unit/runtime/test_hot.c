/* SPDX-License-Identifier: MIT */
/* Selection allocates nothing, makes no system call, and many threads may do
 * it at once. */
#include "shmtune.h"

#include <pthread.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/allocations.h"
#include "tests/support/catalogue_fixture.h"
#include "tests/support/check.h"

enum { THREADS = 4, ROUNDS = 2000 };

static const char *root;
static struct shmtune *library;
static const struct shmtune_kernel *toy;
static struct shmtune_device devices[3];

/* Each match level once, and a problem outside the kernel's domain. */
static const struct {
    int device;
    int64_t problem[2];
    enum shmtune_status status;
    enum shmtune_match match;
} asks[] = {
    {0, {1024, 1024}, SHMTUNE_OK, SHMTUNE_EXACT},
    {0, {4096, 512}, SHMTUNE_OK, SHMTUNE_EXACT},
    {0, {1000, 1000}, SHMTUNE_OK, SHMTUNE_NEAREST_SIZE},
    {0, {1000, 40}, SHMTUNE_OK, SHMTUNE_DEFAULT},
    {1, {1024, 1024}, SHMTUNE_OK, SHMTUNE_SAME_CAPABILITY},
    {2, {1024, 1024}, SHMTUNE_OK, SHMTUNE_DEFAULT},
    {0, {0, 1024}, SHMTUNE_INVALID_ARGUMENT, SHMTUNE_EXACT},
    {2, {1000000, 1000000}, SHMTUNE_NO_CONFIGURATION, SHMTUNE_EXACT},
};
enum { ASKS = sizeof asks / sizeof asks[0] };

/* How many of `rounds` selections gave what was expected. */
static int select_all(int rounds)
{
    int right = 0;

    for (int k = 0; k < rounds; k++) {
        struct shmtune_choice choice = {.size = sizeof choice,
                                        .match = SHMTUNE_EXACT};
        const int a = k % ASKS;
        const enum shmtune_status status = shmtune_select(
            toy, &devices[asks[a].device], asks[a].problem, &choice);

        right += status == asks[a].status && choice.match == asks[a].match;
    }
    return right;
}

static void every_level_is_reached(void)
{
    for (int a = 0; a < ASKS; a++) {
        struct shmtune_choice choice = {.size = sizeof choice,
                                        .match = SHMTUNE_EXACT};

        CHECK_INT(shmtune_select(toy, &devices[asks[a].device],
                                 asks[a].problem, &choice), asks[a].status);
        CHECK_INT(choice.match, asks[a].match);
    }
}

static void nothing_is_allocated(void)
{
    const size_t before = allocations;
    struct shmtune *other;

    CHECK_INT(select_all(ROUNDS), ROUNDS);
    CHECK_INT(allocations - before, 0);
    /* The count counts. */
    CHECK_INT(shmtune_open(root, &other, NULL), SHMTUNE_OK);
    shmtune_close(other);
    CHECK(allocations > before);
}

/* The tuning was left out for want of memory, and a note says so. */
static bool is_noted(const struct shmtune *other)
{
    return shmtune_note_count(other) > 0 &&
           strstr(shmtune_note(other, 0), "left out: out of memory") != NULL;
}

/* Each allocation of an opening fails once: the call says so and gives back
 * all that it had taken (the sanitizer build looks), or, where only a tuning
 * wanted it, does without that tuning. */
static void memory_runs_out(void)
{
    struct shmtune *other = NULL;
    const size_t before = allocations;
    long count;
    long failed = 0, noted = 0;

    CHECK_INT(shmtune_open(root, &other, NULL), SHMTUNE_OK);
    count = (long)(allocations - before);
    shmtune_close(other);
    for (long k = 1; k <= count; k++) {
        struct shmtune_message message = {""};
        enum shmtune_status status;

        other = NULL;
        allocations_failing = k;
        status = shmtune_open(root, &other, &message);
        allocations_failing = 0;
        failed += status == SHMTUNE_NO_MEMORY && other == NULL &&
                  strcmp(message.text, "out of memory") == 0;
        noted += status == SHMTUNE_OK && is_noted(other);
        shmtune_close(other);
    }
    printf("# %ld allocations, %ld of them of a tuning\n", count, noted);
    CHECK_INT(failed + noted, count);
    CHECK(failed > 0);
    CHECK(noted > 0);
}

#ifndef __SANITIZE_THREAD__   /* its own thread makes some */
/* In strict mode the kernel kills a thread for any system call but read,
 * write and exit. */
static void no_system_call(void)
{
    int status;
    pid_t child;

    fflush(stdout);
    alarm(30);   /* the end of this program should the child be lost */
    child = fork();
    if (child == 0) {
        /* SECCOMP_MODE_STRICT */
        if (prctl(PR_SET_SECCOMP, 1, 0, 0, 0) != 0)
            _exit(77);
        syscall(SYS_exit, select_all(ROUNDS) == ROUNDS ? 0 : 1);
    }
    CHECK(child > 0);
    CHECK(waitpid(child, &status, 0) == child);
    alarm(0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77) {
        printf("# no seccomp here: not checked\n");
        return;
    }
    CHECK(WIFEXITED(status));
    CHECK_INT(WEXITSTATUS(status), 0);
}
#endif

static void *run_thread(void *right)
{
    *(int *)right = select_all(ROUNDS);
    return NULL;
}

static void many_threads(void)
{
    pthread_t threads[THREADS];
    int right[THREADS] = {0};

    for (int k = 0; k < THREADS; k++)
        CHECK_INT(pthread_create(&threads[k], NULL, run_thread, &right[k]),
                  0);
    for (int k = 0; k < THREADS; k++) {
        CHECK_INT(pthread_join(threads[k], NULL), 0);
        CHECK_INT(right[k], ROUNDS);
    }
}

int main(void)
{
    static const struct fixture_tuned tuned[] = {
        {1024, 1024, 128, 0, 0, 10}, {4096, 512, 256, 0, 0, 10},
        {512, 4096, 1024, 0, 0, 10}};

    root = fixture_begin();
    devices[0] = devices[1] = devices[2] = fixture_device();
    strcpy(devices[1].name, "another");
    devices[2].compute_major = 8;
    fixture_tune("h100.yaml", &devices[0], tuned, 3);
    if (shmtune_open(root, &library, NULL) != SHMTUNE_OK)
        return EXIT_FAILURE;
    toy = shmtune_kernel_find(library, "toy");
    CHECK_RUN(every_level_is_reached);
    CHECK_RUN(nothing_is_allocated);
    CHECK_RUN(memory_runs_out);
#ifdef __SANITIZE_THREAD__
    CHECK_SKIP(no_system_call, "the sanitizer's own thread makes some");
#else
    CHECK_RUN(no_system_call);
#endif
    CHECK_RUN(many_threads);
    shmtune_close(library);
    fixture_end();
    return CHECK_END();
}
