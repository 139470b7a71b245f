/* SPDX-License-Identifier: MIT */
/*
 * test_watch: what a handle says of what it does, and the problems that were
 * wanted: of many threads, processes and handles, in one file, and nothing of
 * either where nobody asked or the process has the rights of another user.
 */
#include "shmtune.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/auxv.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "record/wanted.h"
#include "tests/support/catalogue_fixture.h"
#include "tests/support/check.h"

enum { THREADS = 4, PROCESSES = 6, ROUNDS = 500, HELD_US = 200000 };

static bool secure;
static struct shmtune_device device;
static char log_path[512], wanted_path[512], text[1 << 21];

unsigned long __real_getauxval(unsigned long type);
unsigned long __wrap_getauxval(unsigned long type);

unsigned long __wrap_getauxval(unsigned long type)
{
    return type == AT_SECURE ? secure : __real_getauxval(type);
}

/* This thread stays in what it has locked, and says so. */
static _Thread_local bool slow_mutex, slow_flock;
static atomic_bool inside;

int __real_pthread_mutex_lock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex);
int __real_flock(int fd, int operation);
int __wrap_flock(int fd, int operation);

static void stay_inside(void)
{
    atomic_store(&inside, true);
    usleep(HELD_US);
}

int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex)
{
    const int code = __real_pthread_mutex_lock(mutex);

    if (code == 0 && slow_mutex)
        stay_inside();
    return code;
}

int __wrap_flock(int fd, int operation)
{
    const int code = __real_flock(fd, operation);

    if (code == 0 && (operation & LOCK_EX) != 0 && slow_flock)
        stay_inside();
    return code;
}

static const char *read_text(const char *path)
{
    FILE *const file = fopen(path, "r");
    const size_t length =
        file == NULL ? 0 : fread(text, 1, sizeof text - 1, file);

    text[length] = '\0';
    if (file != NULL)
        fclose(file);
    return text;
}

static void ask(const char *log, const char *wanted)
{
    unlink(log_path);
    unlink(wanted_path);
    unsetenv("SHMTUNE_LOG");
    unsetenv("SHMTUNE_WANTED");
    if (log != NULL)
        setenv("SHMTUNE_LOG", log, 1);
    if (wanted != NULL)
        setenv("SHMTUNE_WANTED", wanted, 1);
}

static struct shmtune *open_all(void)
{
    struct shmtune *library = NULL;

    CHECK_INT(shmtune_open(fixture_path(""), &library, NULL), SHMTUNE_OK);
    return library;
}

static void pick(const struct shmtune *library, int64_t rows, int64_t cols)
{
    const int64_t problem[] = {rows, cols};
    struct shmtune_choice choice = SHMTUNE_CHOICE_INIT;

    shmtune_select(shmtune_kernel_find(library, "toy"), &device, problem,
                   &choice);
}

static size_t lines_with(const char *all, const char *what)
{
    size_t count = 0;

    for (const char *at = all; (at = strstr(at, what)) != NULL; at++)
        count++;
    return count;
}

/* How often rows x cols was wanted, by the file. */
static uint64_t wanted(int64_t rows, int64_t cols)
{
    struct shmt_wanted *file = NULL;
    struct shmt_error err = {0};
    uint64_t count = 0;

    if (shmt_wanted_read(wanted_path, &file, &err) != SHMTUNE_OK)
        return 0;
    for (size_t k = 0; k < file->count; k++) {
        const struct shmt_wanted_problem *const one = &file->problems[k];

        if (strcmp(one->kernel, "toy") == 0 &&
            strcmp(one->device, device.name) == 0 && one->size_count == 2 &&
            one->size[0].value.i == rows && one->size[1].value.i == cols)
            count += one->count;
    }
    shmt_wanted_free(file);
    return count;
}

static void nothing_is_said_unasked(void)
{
    struct shmtune *library;

    ask(NULL, NULL);
    library = open_all();
    pick(library, 1000, 1000);
    shmtune_close(library);
    CHECK(access(log_path, F_OK) != 0);
    CHECK(access(wanted_path, F_OK) != 0);
}

static void each_selection_is_said_once(void)
{
    struct shmtune *library;
    const char *said;

    ask(log_path, NULL);
    library = open_all();
    for (int k = 0; k < 3; k++) {
        pick(library, 1024, 1024);
        pick(library, 1000, 1000);
        pick(library, 1000, 40);
        pick(library, 0, 1024);
    }
    shmtune_close(library);
    said = read_text(log_path);
    CHECK_INT(lines_with(said, "\n"), 5);
    CHECK_INT(lines_with(said, ": open: 1 kernel, 1 tuning, of "), 1);
    CHECK_INT(lines_with(said, "select toy, rows=1024 cols=1024, on \""), 1);
    CHECK_INT(lines_with(said, "exact, BLOCK=128"), 1);
    CHECK_INT(lines_with(said, "nearest size, BLOCK=128"), 1);
    CHECK_INT(lines_with(said, "/tunings/toy/h100.yaml, rows=1024 cols=1024"),
              1);
    CHECK_INT(lines_with(said, "default, BLOCK="), 1);
    CHECK_INT(lines_with(said, "invalid argument; shmtune_explain says why"),
              1);
    CHECK(access(wanted_path, F_OK) != 0);
}

static void what_was_not_exact_is_wanted(void)
{
    struct shmtune *library;
    struct stat about;

    ask(NULL, wanted_path);
    library = open_all();
    pick(library, 1024, 1024);
    for (int k = 0; k < 7; k++)
        pick(library, 1000, 1000);
    pick(library, 1000, 40);
    pick(library, 0, 1024);
    CHECK(access(wanted_path, F_OK) != 0);
    shmtune_close(library);
    CHECK_INT(wanted(1024, 1024), 0);
    CHECK_INT(wanted(1000, 1000), 7);
    CHECK_INT(wanted(1000, 40), 1);
    CHECK_INT(wanted(0, 1024), 0);
    CHECK_INT(stat(wanted_path, &about), 0);
    CHECK_INT(about.st_mode & 0777, 0600);
    CHECK(strstr(read_text(wanted_path), "size: {rows: 1000, cols: 1000}, "
                 "count: 7}\n  - ") != NULL);
}

/* A device that the application described itself; the file stays one that can
 * be read. */
static void any_name_of_a_device(void)
{
    const struct shmtune_device kept = device;
    static const char *const names[] = {"tab\tin it", "no \xff UTF-8",
                                        "\xc2\x85", "Tesla \xc2\xb5"};
    struct shmtune *library;
    size_t lines = 0;

    ask(NULL, wanted_path);
    library = open_all();
    for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
        snprintf(device.name, sizeof device.name, "%s", names[k]);
        pick(library, 1000, 1000);
    }
    memset(device.name, 'x', sizeof device.name);
    pick(library, 1000, 1000);
    device = kept;
    pick(library, 1000, 1000);
    shmtune_close(library);
    CHECK_INT(wanted(1000, 1000), 1);
    read_text(wanted_path);
    lines = lines_with(text, "kernel: toy");
    CHECK_INT(lines, 6);
    CHECK_INT(lines_with(text, "device: \"tab?in it\""), 1);
    CHECK_INT(lines_with(text, "device: \"no ? UTF-8\""), 1);
    CHECK_INT(lines_with(text, "device: \"??\""), 1);
    CHECK_INT(lines_with(text, "device: \"Tesla \xc2\xb5\""), 1);
}

static void *pick_many(void *library)
{
    for (int k = 0; k < ROUNDS; k++)
        pick(library, 1000 + k % 5, 1000);
    return NULL;
}

static void threads_and_handles_add_up(void)
{
    struct shmtune *libraries[2];
    pthread_t threads[THREADS];

    ask(NULL, wanted_path);
    libraries[0] = open_all();
    libraries[1] = open_all();
    for (int k = 0; k < THREADS; k++)
        CHECK_INT(pthread_create(&threads[k], NULL, pick_many,
                                 libraries[k % 2]), 0);
    for (int k = 0; k < THREADS; k++)
        CHECK_INT(pthread_join(threads[k], NULL), 0);
    shmtune_close(libraries[0]);
    shmtune_close(libraries[1]);
    for (int k = 0; k < 5; k++)
        CHECK_INT(wanted(1000 + k, 1000), THREADS * ROUNDS / 5);
}

/* The half of them end without closing. */
static void processes_add_up(void)
{
    pid_t children[PROCESSES];
    int status;

    ask(NULL, wanted_path);
    fflush(stdout);
    for (int k = 0; k < PROCESSES; k++) {
        children[k] = fork();
        if (children[k] == 0) {
            struct shmtune *const library = open_all();

            pick(library, 1000, 1000);
            pick(library, 3000 + k, 1000);
            if (k % 2 == 0)
                shmtune_close(library);
            exit(0);
        }
    }
    for (int k = 0; k < PROCESSES; k++) {
        CHECK(waitpid(children[k], &status, 0) == children[k]);
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    CHECK_INT(wanted(1000, 1000), PROCESSES);
    for (int k = 0; k < PROCESSES; k++)
        CHECK_INT(wanted(3000 + k, 1000), 1);
}

/* Whether it ended by itself. */
static bool has_ended(pid_t child)
{
    int state = -1;

    return child > 0 && waitpid(child, &state, 0) == child && state == 0;
}

/* Many end at once, and whoever writes is slow: each waits for its turn. */
static void a_turn_is_waited_for(void)
{
    enum { LONG_US = 2500000 };
    struct shmtune *library;
    int fd;
    pid_t child;

    ask(NULL, wanted_path);
    fd = open(fixture_path(""), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    CHECK(fd >= 0 && flock(fd, LOCK_EX) == 0);
    fflush(stdout);
    child = fork();
    if (child == 0) {
        close(fd);
        library = open_all();
        pick(library, 1000, 1000);
        exit(0);
    }
    usleep(LONG_US);
    CHECK_INT(flock(fd, LOCK_UN), 0);
    close(fd);
    CHECK(child > 0 && waitpid(child, NULL, 0) == child);
    CHECK_INT(wanted(1000, 1000), 1);
}

/* A child writes what it counted itself, and its parent the rest, also of a
 * handle that both have; the half of them end without closing. */
static void each_process_counts_its_own(void)
{
    struct shmtune *library;
    pid_t children[PROCESSES];

    ask(NULL, wanted_path);
    library = open_all();
    for (int k = 0; k < 5; k++)
        pick(library, 1000, 1000);
    fflush(stdout);
    for (int k = 0; k < PROCESSES; k++) {
        children[k] = fork();
        if (children[k] != 0)
            continue;
        for (int i = 0; i < k; i++)
            pick(library, 1000, 1000);
        pick(library, 3000 + k, 1000);
        if (k % 2 == 0)
            shmtune_close(library);
        exit(0);
    }
    pick(library, 2000, 1000);
    for (int k = 0; k < PROCESSES; k++)
        CHECK(has_ended(children[k]));
    CHECK_INT(wanted(1000, 1000), PROCESSES * (PROCESSES - 1) / 2);
    shmtune_close(library);
    CHECK_INT(wanted(1000, 1000), 5 + PROCESSES * (PROCESSES - 1) / 2);
    CHECK_INT(wanted(2000, 1000), 1);
    for (int k = 0; k < PROCESSES; k++)
        CHECK_INT(wanted(3000 + k, 1000), 1);
}

/* As a daemon does: the handle is opened by one that ends at once. */
static void a_daemon_counts(void)
{
    pid_t child;

    ask(NULL, wanted_path);
    fflush(stdout);
    child = fork();
    if (child == 0) {
        struct shmtune *const library = open_all();

        pick(library, 1000, 1000);
        child = fork();
        if (child != 0)
            _exit(child < 0);
        pick(library, 1000, 1000);
        pick(library, 2000, 1000);
        exit(0);
    }
    CHECK(has_ended(child));
    for (int k = 0; wanted(2000, 1000) == 0 && k < 500; k++)
        usleep(10000);
    CHECK_INT(wanted(1000, 1000), 1);
    CHECK_INT(wanted(2000, 1000), 1);
}

static void *close_slowly(void *library)
{
    slow_mutex = true;
    shmtune_close(library);
    return NULL;
}

static void *write_slowly(void *library)
{
    slow_flock = true;
    shmtune_close(library);
    return NULL;
}

/* Begins to close a handle that wants something, in a thread of its own. */
static pthread_t begin_closing(void *(*how)(void *))
{
    struct shmtune *const library = open_all();
    pthread_t thread;

    pick(library, 1000, 1000);
    atomic_store(&inside, false);
    CHECK_INT(pthread_create(&thread, NULL, how, library), 0);
    while (!atomic_load(&inside))
        usleep(1000);
    return thread;
}

/* A handle is being closed while another thread forks. */
static void a_fork_never_hangs(void)
{
    struct shmtune *library;
    pthread_t thread;
    pid_t child;

    ask(NULL, wanted_path);
    library = open_all();
    thread = begin_closing(close_slowly);
    fflush(stdout);
    child = fork();
    if (child == 0) {
        alarm(10);
        pick(library, 1000, 1000);
        shmtune_close(open_all());
        exit(0);
    }
    CHECK(has_ended(child));
    CHECK_INT(pthread_join(thread, NULL), 0);
    shmtune_close(library);
    CHECK_INT(wanted(1000, 1000), 2);
}

/* What a child has inherited of a lock holds up nobody. */
static void a_child_keeps_no_lock(void)
{
    struct shmtune *library;
    pthread_t thread;
    pid_t child;

    ask(log_path, wanted_path);
    thread = begin_closing(write_slowly);
    child = fork();
    if (child == 0) {
        pause();
        _exit(0);
    }
    CHECK_INT(pthread_join(thread, NULL), 0);
    library = open_all();
    pick(library, 1000, 1000);
    shmtune_close(library);
    CHECK_INT(lines_with(read_text(log_path), "wanted: "), 0);
    CHECK_INT(wanted(1000, 1000), 2);
    CHECK(child > 0 && kill(child, SIGKILL) == 0);
    CHECK(waitpid(child, NULL, 0) == child);
}

/* A destructor that comes after the library's. */
static struct shmtune *closed_last;

__attribute__((destructor(101))) static void close_last(void)
{
    if (closed_last == NULL)
        return;
    pick(closed_last, 2000, 1000);
    shmtune_close(closed_last);
}

static void what_is_closed_late_counts_once(void)
{
    pid_t child;

    ask(NULL, wanted_path);
    fflush(stdout);
    child = fork();
    if (child == 0) {
        closed_last = open_all();
        pick(closed_last, 1000, 1000);
        exit(0);
    }
    CHECK(has_ended(child));
    CHECK_INT(wanted(1000, 1000), 1);
    CHECK_INT(wanted(2000, 1000), 1);
}

static void more_than_is_remembered(void)
{
    struct shmtune *library;
    const char *said;

    ask(log_path, wanted_path);
    library = open_all();
    for (int k = 0; k < 5000; k++)
        pick(library, 5000 + k, 1000);
    shmtune_close(library);
    said = read_text(log_path);
    CHECK_INT(lines_with(said, "more different problems than are remembered"),
              1);
    read_text(wanted_path);
    CHECK(lines_with(text, "kernel: toy") > 1000);
    CHECK(lines_with(text, "kernel: toy") <= 2048);
}

static void a_file_of_something_else_stays(void)
{
    struct shmtune *library;
    FILE *file;

    ask(log_path, wanted_path);
    file = fopen(wanted_path, "w");
    CHECK(file != NULL && fputs("precious\n", file) >= 0);
    CHECK(file != NULL && fclose(file) == 0 && chmod(wanted_path, 0600) == 0);
    library = open_all();
    pick(library, 1000, 1000);
    shmtune_close(library);
    CHECK_INT(lines_with(read_text(log_path), "wanted: "), 1);
    CHECK_TEXT(read_text(wanted_path), "precious\n");
}

static void the_rights_of_another_user(void)
{
    struct shmtune *library;

    ask(log_path, wanted_path);
    secure = true;
    library = open_all();
    pick(library, 1000, 1000);
    shmtune_close(library);
    secure = false;
    CHECK(access(log_path, F_OK) != 0);
    CHECK(access(wanted_path, F_OK) != 0);
}

/* What is said to nobody does not end the program. */
static void nobody_reads_it(void)
{
    int ends[2], state = 0;
    pid_t child;

    ask("stderr", NULL);
    fflush(stdout);
    child = fork();
    if (child == 0) {
        signal(SIGPIPE, SIG_DFL);
        if (pipe(ends) != 0 || dup2(ends[1], STDERR_FILENO) < 0)
            _exit(2);
        close(ends[0]);
        close(ends[1]);
        pick(open_all(), 1000, 1000);
        _exit(0);
    }
    CHECK(child > 0 && waitpid(child, &state, 0) == child);
    CHECK_INT(state, 0);
}

int main(void)
{
    static const struct fixture_tuned tuned[] = {
        {1024, 1024, 128, 0, 0, 10}};

    fixture_begin();
    device = fixture_device();
    fixture_tune("h100.yaml", &device, tuned, 1);
    snprintf(log_path, sizeof log_path, "%s", fixture_path("log"));
    snprintf(wanted_path, sizeof wanted_path, "%s",
             fixture_path("wanted.yaml"));
    CHECK_RUN(nothing_is_said_unasked);
    CHECK_RUN(each_selection_is_said_once);
    CHECK_RUN(what_was_not_exact_is_wanted);
    CHECK_RUN(any_name_of_a_device);
    CHECK_RUN(threads_and_handles_add_up);
    CHECK_RUN(processes_add_up);
    CHECK_RUN(a_turn_is_waited_for);
    CHECK_RUN(each_process_counts_its_own);
    CHECK_RUN(a_daemon_counts);
    CHECK_RUN(a_fork_never_hangs);
    CHECK_RUN(a_child_keeps_no_lock);
    CHECK_RUN(what_is_closed_late_counts_once);
    CHECK_RUN(more_than_is_remembered);
    CHECK_RUN(a_file_of_something_else_stays);
    CHECK_RUN(nobody_reads_it);
    CHECK_RUN(the_rights_of_another_user);
    ask(NULL, NULL);
    fixture_end();
    return CHECK_END();
}
