/* SPDX-License-Identifier: MIT */
/* path: whole files in, whole files out, nothing left behind. */
#include "tests/support/check.h"
#include "tests/support/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/path.h"

static struct shmt_arena *arena;
static struct shmt_error err;
static char root[FOLDER_ROOM];
static pid_t locker;   /* a process that holds a lock */

static const char *in_root(const char *name)
{
    return shmt_path_join(arena, root, name);
}

static void write_file(const char *name, const char *text)
{
    CHECK_INT(shmt_path_write(in_root(name), text, strlen(text), &err),
              SHMTUNE_OK);
}

static enum shmtune_status read_file(const char *path, size_t limit,
                                     const char **data, size_t *size)
{
    *data = NULL;
    err.text[0] = '\0';
    return shmt_path_read(arena, path, limit, data, size, &err);
}

static size_t count_files(void)
{
    char command[400], line[64] = "";
    FILE *stream;

    snprintf(command, sizeof command, "ls -A '%s' | wc -l", root);
    stream = popen(command, "r");
    if (stream == NULL || fgets(line, sizeof line, stream) == NULL)
        abort();
    pclose(stream);
    return strtoul(line, NULL, 10);
}

static void what_is_written_is_read(void)
{
    const char *data;
    size_t size;

    write_file("a", "first");
    write_file("a", "second, longer");
    CHECK_INT(read_file(in_root("a"), 100, &data, &size), SHMTUNE_OK);
    CHECK_TEXT(data, "second, longer");
    CHECK_INT(size, 14);
    CHECK_INT(shmt_path_write(in_root("b"), "x\0y", 3, &err), SHMTUNE_OK);
    CHECK_INT(read_file(in_root("b"), 3, &data, &size), SHMTUNE_OK);
    CHECK_INT(size, 3);
    CHECK(memcmp(data, "x\0y", 4) == 0);
    CHECK_INT(shmt_path_write(in_root("b"), "", 0, &err), SHMTUNE_OK);
    CHECK_INT(read_file(in_root("b"), 0, &data, &size), SHMTUNE_OK);
    CHECK_INT(size, 0);
    CHECK_INT(count_files(), 2);
}

static void large_files_survive(void)
{
    const size_t large = 5000001;
    char *bytes = malloc(large);
    const char *data;
    size_t size;

    if (bytes == NULL)
        abort();
    for (size_t k = 0; k < large; k++)
        bytes[k] = (char)(k * 31 + k / 4096);
    CHECK_INT(shmt_path_write(in_root("large"), bytes, large, &err),
              SHMTUNE_OK);
    CHECK_INT(read_file(in_root("large"), large, &data, &size), SHMTUNE_OK);
    CHECK_INT(size, large);
    CHECK(data != NULL && memcmp(data, bytes, large) == 0);
    CHECK_INT(read_file(in_root("large"), large - 1, &data, &size),
              SHMTUNE_STORAGE);
    CHECK_HAS(err.text, "found more than 5000000 bytes, expected at most");
    CHECK(data == NULL);
    unlink(in_root("large"));
    free(bytes);
}

static void only_regular_files_are_read(void)
{
    const char *data;
    size_t size;

    CHECK_INT(read_file(in_root("absent"), 100, &data, &size),
              SHMTUNE_NOT_FOUND);
    CHECK_HAS(err.text, "absent: cannot be opened: No such file");
    CHECK_INT(read_file(in_root("a/b"), 100, &data, &size),
              SHMTUNE_NOT_FOUND);
    CHECK_INT(read_file(root, 100, &data, &size), SHMTUNE_STORAGE);
    CHECK_HAS(err.text, "found a folder, expected a regular file");
    CHECK_INT(read_file("/dev/zero", 100, &data, &size), SHMTUNE_STORAGE);
    CHECK_HAS(err.text, "found a device or pipe");
    CHECK_INT(mkfifo(in_root("fifo"), 0600), 0);
    alarm(10);   /* a reader that blocks dies here */
    CHECK_INT(read_file(in_root("fifo"), 100, &data, &size),
              SHMTUNE_STORAGE);
    alarm(0);
    unlink(in_root("fifo"));
}

/* Files that the kernel makes up say that they have 0 bytes. */
static void a_wrong_size_is_no_matter(void)
{
    const char *data;
    size_t size;

    if (!shmt_path_exists("/proc/self/maps"))
        return;
    CHECK_INT(read_file("/proc/self/maps", 1 << 22, &data, &size),
              SHMTUNE_OK);
    CHECK(size > 100 && strlen(data) == size);
    CHECK_INT(read_file("/proc/self/maps", 100, &data, &size),
              SHMTUNE_STORAGE);
}

static void permissions_are_kept(void)
{
    struct stat about;

    write_file("secret", "1");
    CHECK_INT(chmod(in_root("secret"), 0600), 0);
    write_file("secret", "2");
    CHECK_INT(stat(in_root("secret"), &about), 0);
    CHECK_INT(about.st_mode & 0777, 0600);
    unlink(in_root("secret"));
}

static void failures_leave_nothing(void)
{
    const size_t before = count_files();
    const char *data;
    size_t size;

    CHECK_INT(shmt_path_write(in_root("absent/file"), "x", 1, &err),
              SHMTUNE_STORAGE);
    CHECK_HAS(err.text, "absent/file: no temporary file can be created");
    CHECK_INT(mkdir(in_root("folder"), 0700), 0);
    CHECK_INT(shmt_path_write(in_root("folder"), "x", 1, &err),
              SHMTUNE_STORAGE);
    CHECK_HAS(err.text, "folder: cannot be replaced");
    CHECK_INT(rmdir(in_root("folder")), 0);
    CHECK_INT(count_files(), before);
    CHECK_INT(read_file(in_root("a"), 100, &data, &size), SHMTUNE_OK);
}

/* The disk is full, as far as this process can tell. */
static void a_full_disk_keeps_the_old_file(void)
{
    const struct rlimit small = {4096, RLIM_INFINITY};
    const struct rlimit none = {RLIM_INFINITY, RLIM_INFINITY};
    const size_t before = count_files();
    static char bytes[10000];
    const char *data;
    size_t size;

    signal(SIGXFSZ, SIG_IGN);
    memset(bytes, 'x', sizeof bytes);
    CHECK_INT(setrlimit(RLIMIT_FSIZE, &small), 0);
    CHECK_INT(shmt_path_write(in_root("a"), bytes, sizeof bytes, &err),
              SHMTUNE_STORAGE);
    CHECK_HAS(err.text, "a: cannot be written: File too large");
    CHECK_INT(setrlimit(RLIMIT_FSIZE, &none), 0);
    CHECK_INT(count_files(), before);
    CHECK_INT(read_file(in_root("a"), 100, &data, &size), SHMTUNE_OK);
    CHECK_TEXT(data, "second, longer");
}

/* -- the disk -------------------------------------------------------------- */

/* What this thread did. */
static _Thread_local struct { ino_t inode; } synced[8];
static _Thread_local int sync_count, sync_error;
static _Thread_local ino_t renamed;
static _Thread_local int renamed_after;
int __real_fsync(int fd);
int __wrap_fsync(int fd);
int __real_renameat(int from, const char *old, int to, const char *new);
int __wrap_renameat(int from, const char *old, int to, const char *new);

int __wrap_fsync(int fd)
{
    struct stat about;

    if (fstat(fd, &about) == 0)
        synced[sync_count++ % 8].inode = about.st_ino;
    errno = sync_error;
    if (sync_error == EINTR)
        sync_error = 0;
    return errno != 0 ? -1 : __real_fsync(fd);
}

int __wrap_renameat(int from, const char *old, int to, const char *new)
{
    struct stat about;

    if (fstatat(from, old, &about, 0) == 0)
        renamed = about.st_ino;
    renamed_after = sync_count;
    return __real_renameat(from, old, to, new);
}

/* The file is on the disk before it has its name, the folder after that: a
 * machine that stops leaves the old file or the new one. */
static void the_disk_is_waited_for(void)
{
    const size_t before = count_files();
    struct stat folder;
    const char *data;
    size_t size;

    sync_count = 0;
    write_file("a", "on the disk");
    CHECK_INT(stat(root, &folder), 0);
    CHECK_INT(renamed_after, 1);
    CHECK(synced[0].inode == renamed);
    CHECK_INT(sync_count, 2);
    CHECK(synced[1].inode == folder.st_ino);
    /* Where the disk fails nothing is replaced. */
    sync_error = EIO;
    CHECK_INT(shmt_path_write(in_root("a"), "lost", 4, &err),
              SHMTUNE_STORAGE);
    sync_error = 0;
    CHECK_HAS(err.text, "a: cannot be written: Input/output error");
    CHECK_INT(count_files(), before);
    CHECK_INT(read_file(in_root("a"), 100, &data, &size), SHMTUNE_OK);
    CHECK_TEXT(data, "on the disk");
    /* A signal is no failure, nor is a file system that cannot wait. */
    sync_error = EINTR;
    sync_count = 0;
    write_file("a", "waited for");
    CHECK_INT(sync_count, 3);
    sync_error = EINVAL;
    write_file("a", "second, longer");
    sync_error = 0;
}

static char shared[300];

static void *replace(void *letter)
{
    char bytes[20000];

    memset(bytes, *(const char *)letter, sizeof bytes);
    for (int k = 0; k < 60; k++)
        if (shmt_path_write(shared, bytes, sizeof bytes, NULL) != SHMTUNE_OK)
            return letter;
    return NULL;
}

/* A reader sees the one or the other, whole. */
/* As root it would be replaced, be it /dev/null. */
static void pipes_are_written_to(void)
{
    const char *const path = in_root("pipe");
    struct stat about;
    char text[8] = "";
    int fd;

    CHECK_INT(mkfifo(path, 0600), 0);
    fd = open(path, O_RDWR | O_NONBLOCK);
    CHECK(fd >= 0);
    CHECK_INT(shmt_path_write(path, "tuned", 5, NULL), SHMTUNE_OK);
    CHECK(stat(path, &about) == 0 && S_ISFIFO(about.st_mode));
    CHECK_INT(read(fd, text, sizeof text - 1), 5);
    CHECK_TEXT(text, "tuned");
    close(fd);
    unlink(path);
}

/* A device that is there and cannot be opened: no terminal is ours. */
static void devices_that_cannot_be_opened(void)
{
    int status = 0;
    const pid_t pid = fork();

    if (pid == 0) {
        setsid();
        _exit(shmt_path_write("/dev/tty", "tuned", 5, &err) !=
                  SHMTUNE_STORAGE || strstr(err.text, "/dev/tty") == NULL ||
              strstr(err.text, "cannot be opened") == NULL);
    }
    CHECK_INT(waitpid(pid, &status, 0), pid);
    CHECK_INT(status, 0);
}

static void writers_do_not_mix(void)
{
    static char letters[] = "ab";
    pthread_t threads[2];
    void *failed;

    snprintf(shared, sizeof shared, "%s/shared", root);
    for (int k = 0; k < 2; k++)
        CHECK_INT(pthread_create(&threads[k], NULL, replace, &letters[k]), 0);
    for (int k = 0; k < 200; k++) {
        struct shmt_arena *own = shmt_arena_new();
        const char *data = NULL;
        size_t size = 0;

        if (shmt_path_read(own, shared, 1 << 20, &data, &size, NULL)
            == SHMTUNE_OK) {
            CHECK_INT(size, 20000);
            CHECK(strspn(data, "a") == 20000 || strspn(data, "b") == 20000);
        }
        shmt_arena_free(own);
    }
    for (int k = 0; k < 2; k++) {
        pthread_join(threads[k], &failed);
        CHECK(failed == NULL);
    }
    unlink(shared);
}

static void on_signal(int number)
{
    (void)number;
}

/* Signals without SA_RESTART rain down while files are written and read. */
static void signals_do_not_matter(void)
{
    const struct sigaction action = {.sa_handler = on_signal};
    const struct itimerval often = {{0, 200}, {0, 200}}, never = {0};
    const size_t large = 1 << 20;
    char *bytes = malloc(large);
    const char *data;
    size_t size;

    if (bytes == NULL)
        abort();
    memset(bytes, 's', large);
    CHECK_INT(sigaction(SIGALRM, &action, NULL), 0);
    CHECK_INT(setitimer(ITIMER_REAL, &often, NULL), 0);
    for (int k = 0; k < 20; k++) {
        CHECK_INT(shmt_path_write(in_root("signals"), bytes, large, &err),
                  SHMTUNE_OK);
        CHECK_INT(read_file(in_root("signals"), large, &data, &size),
                  SHMTUNE_OK);
        CHECK_INT(size, large);
    }
    CHECK_INT(setitimer(ITIMER_REAL, &never, NULL), 0);
    signal(SIGALRM, SIG_DFL);
    unlink(in_root("signals"));
    free(bytes);
}

static void folders_are_made(void)
{
    struct stat about;

    CHECK_INT(shmt_path_make_folder(in_root("x/y//z/"), 0700, &err),
              SHMTUNE_OK);
    CHECK_INT(stat(in_root("x/y/z"), &about), 0);
    CHECK(S_ISDIR(about.st_mode));
    CHECK_INT(about.st_mode & 0777, 0700);
    CHECK_INT(shmt_path_make_folder(in_root("x/y/z"), 0700, &err), SHMTUNE_OK);
    CHECK_INT(shmt_path_make_folder("/", 0700, &err), SHMTUNE_OK);
    CHECK(shmt_path_make_folder(in_root("a/b"), 0700, &err) != SHMTUNE_OK);
    CHECK_HAS(err.text, "a");
    CHECK_INT(shmt_path_make_folder(in_root("a"), 0700, &err), SHMTUNE_STORAGE);
    CHECK_HAS(err.text, "found a file, expected a folder");
    rmdir(in_root("x/y/z"));
    rmdir(in_root("x/y"));
    rmdir(in_root("x"));
}

/* As root, as another user: root may write anywhere. */
static void why_a_folder_is_not_made(void)
{
    const bool as_root = geteuid() == 0;

    CHECK_INT(mkdir(in_root("closed"), 0755), 0);
    CHECK_INT(chmod(in_root("closed"), 0555), 0);
    CHECK_INT(chmod(root, 0755), 0);
    CHECK(!as_root || seteuid(65534) == 0);
    CHECK_INT(shmt_path_make_folder(in_root("closed/x"), 0700, &err),
              SHMTUNE_STORAGE);
    CHECK_HAS(err.text, strerror(EACCES));
    CHECK(!as_root || seteuid(0) == 0);
    rmdir(in_root("closed"));
}

static void names_are_taken_apart(void)
{
    static const struct {
        const char *path, *folder, *stem;
    } cases[] = {
        {"a.yaml", ".", "a"},         {"x/a.yaml", "x", "a"},
        {"/a.yaml", "/", "a"},        {"x/y/a", "x/y", "a"},
        {"x/y/", "x", "y"},           {"//a.yaml", "/", "a"},
        {".yaml", ".", ".yaml"},      {"a.yaml.yaml", ".", "a.yaml"},
        {"x//a.yml", "x", "a.yml"},   {"/", "/", ""},
        {"//", "/", ""},              {"x///a", "x", "a"},
        {"///a//", "/", "a"},         {"xy//z/", "xy", "z"},
    };

    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        CHECK_TEXT(shmt_path_folder(arena, cases[k].path), cases[k].folder);
        CHECK_TEXT(shmt_path_stem(arena, cases[k].path, ".yaml"),
                   cases[k].stem);
    }
    CHECK_TEXT(shmt_path_join(arena, "x", "y"), "x/y");
    CHECK_TEXT(shmt_path_join(arena, "x/", "y"), "x/y");
    CHECK_TEXT(shmt_path_join(arena, "x", "/y"), "/y");
    CHECK_TEXT(shmt_path_join(arena, "", "y"), "y");
    CHECK_TEXT(shmt_path_join(arena, "/", "y"), "/y");
}

/* A process that was killed between writing a file and naming it. */
static void absolute_paths_are_clean(void)
{
    const int before = open(".", O_RDONLY | O_DIRECTORY);
    char here[4096];

    CHECK(before >= 0 && mkdir(in_root("climb"), 0700) == 0 &&
          chdir(in_root("climb")) == 0 &&
          getcwd(here, sizeof here) != NULL);
    CHECK_TEXT(shmt_path_absolute(arena, "."), here);
    CHECK_TEXT(shmt_path_absolute(arena, "././/x/../y"),
               shmt_path_join(arena, here, "x/../y"));
    CHECK_TEXT(shmt_path_absolute(arena, ".x"),
               shmt_path_join(arena, here, ".x"));
    CHECK_TEXT(shmt_path_absolute(arena, ".../x"),
               shmt_path_join(arena, here, ".../x"));
    *strrchr(here, '/') = '\0';
    CHECK_TEXT(shmt_path_absolute(arena, "..//./x"),
               shmt_path_join(arena, here, "x"));
    CHECK_TEXT(shmt_path_absolute(arena, ".."), here);
    CHECK_TEXT(shmt_path_absolute(arena, "../../../../../../../../../x"), "/x");
    CHECK_TEXT(shmt_path_absolute(arena, "../../../../../../../../.."), "/");
    CHECK_TEXT(shmt_path_absolute(arena, "/a/../b"), "/a/../b");
    CHECK(fchdir(before) == 0);
    close(before);
}

static void make_temporary(const char *name, bool locked)
{
    int ready[2];
    pid_t pid;

    CHECK_INT(pipe(ready), 0);
    pid = fork();
    if (pid == 0) {
        const int fd = open(in_root(name), O_RDWR | O_CREAT | O_EXCL, 0600);

        if (fd < 0 || (locked && flock(fd, LOCK_EX | LOCK_NB) != 0) ||
            write(ready[1], "", 1) != 1)
            _exit(1);
        pause();
    }
    close(ready[1]);
    CHECK_INT(read(ready[0], &(char){0}, 1), 1);
    close(ready[0]);
    if (locked) {
        locker = pid;
        return;
    }
    CHECK_INT(kill(pid, SIGKILL), 0);
    CHECK_INT(waitpid(pid, NULL, 0), pid);
}

/* Those of the dead go with the next file in the folder, those of the living
 * stay, and so does what has another name. */
static void files_of_killed_processes_are_removed(void)
{
    static const char dead[] = "left/.a.yaml.123-0.shmtune.tmp";
    static const char live[] = "left/.b.yaml.124-0.shmtune.tmp";
    static const char other[] = "left/.a.yaml.123-0.tmp";

    CHECK_INT(mkdir(in_root("left"), 0700), 0);
    make_temporary(dead, false);
    make_temporary(other, false);
    make_temporary(live, true);
    CHECK_INT(symlink("../a", in_root("left/.x.1-0.shmtune.tmp")), 0);
    write_file("left/new", "text");
    CHECK(!shmt_path_exists(in_root(dead)));
    CHECK(shmt_path_exists(in_root(live)));
    CHECK(shmt_path_exists(in_root(other)));
    CHECK(shmt_path_exists(in_root("a")));
    CHECK_INT(kill(locker, SIGKILL), 0);
    CHECK_INT(waitpid(locker, NULL, 0), locker);
    write_file("elsewhere", "");
    write_file("left/new", "again");
    CHECK(!shmt_path_exists(in_root(live)));
    unlink(in_root("elsewhere"));
    unlink(in_root(other));
    unlink(in_root("left/.x.1-0.shmtune.tmp"));
    unlink(in_root("left/new"));
    CHECK_INT(rmdir(in_root("left")), 0);
}

static void stop_here(int number)
{
    (void)number;
    raise(SIGSTOP);
}

/* A process that has written a part of in_root("stop/file"). */
static pid_t start_to_write(void)
{
    static char bytes[1 << 20];
    const struct rlimit small = {4096, RLIM_INFINITY};
    const pid_t pid = fork();

    if (pid != 0)
        return pid;
    signal(SIGXFSZ, stop_here);
    setrlimit(RLIMIT_FSIZE, &small);
    shmt_path_write(in_root("stop/file"), bytes, sizeof bytes, NULL);
    _exit(0);
}

/* What it writes has such a name, and stays while the process lives. */
static void temporary_files_are_locked(void)
{
    char name[300];
    int status = 0;
    pid_t pid;

    CHECK_INT(mkdir(in_root("stop"), 0700), 0);
    pid = start_to_write();
    CHECK_INT(waitpid(pid, &status, WUNTRACED), pid);
    CHECK(WIFSTOPPED(status));
    snprintf(name, sizeof name, "stop/.file.%ld-0.shmtune.tmp", (long)pid);
    CHECK(shmt_path_exists(in_root(name)));
    /* A folder is looked at once, and this may have the number of one that was
     * removed. */
    for (int k = 0; k < 2; k++) {
        write_file("elsewhere", "");
        write_file("stop/file", "whole");
        CHECK(shmt_path_exists(in_root(name)) == (k == 0));
        if (k == 0) {
            CHECK_INT(kill(pid, SIGKILL), 0);
            CHECK_INT(waitpid(pid, &status, 0), pid);
        }
    }
    CHECK_INT(unlink(in_root("elsewhere")), 0);
    CHECK_INT(unlink(in_root("stop/file")), 0);
    CHECK_INT(rmdir(in_root("stop")), 0);
}

static void lists_are_sorted(void)
{
    const char *const *names = NULL;
    size_t count = 99;

    write_file("b.yaml", "");
    write_file("a.yaml", "");
    write_file("B.yaml", "");
    write_file(".hidden.yaml", "");
    write_file("a.yaml.tmp", "");
    CHECK_INT(shmt_path_list(arena, root, ".yaml", &names, &count, &err),
              SHMTUNE_OK);
    CHECK_INT(count, 3);
    CHECK_TEXT(names[0], "B.yaml");
    CHECK_TEXT(names[1], "a.yaml");
    CHECK_TEXT(names[2], "b.yaml");
    CHECK_INT(shmt_path_list(arena, root, ".none", &names, &count, &err),
              SHMTUNE_OK);
    CHECK_INT(count, 0);
    CHECK_INT(shmt_path_list(arena, in_root("absent"), "", &names, &count,
                             &err), SHMTUNE_NOT_FOUND);
    CHECK_INT(shmt_path_list(arena, in_root("a"), "", &names, &count, &err),
              SHMTUNE_NOT_FOUND);
    for (int k = 0; k < 100; k++) {
        char name[16];

        snprintf(name, sizeof name, "%02d.many", 99 - k);
        write_file(name, "");
    }
    CHECK_INT(shmt_path_list(arena, root, ".many", &names, &count, &err),
              SHMTUNE_OK);
    CHECK_INT(count, 100);
    for (size_t k = 0; k < count; k++)
        CHECK_INT(strtol(names[k], NULL, 10), k);
}

static void user_folders_follow_the_environment(void)
{
    setenv("HOME", "/home/u", 1);
    setenv("XDG_CACHE_HOME", "/c", 1);
    unsetenv("XDG_DATA_HOME");
    CHECK_TEXT(shmt_path_cache(arena), "/c/shmtune");
    CHECK_TEXT(shmt_path_user_data(arena), "/home/u/.local/share/shmtune");
    setenv("XDG_CACHE_HOME", "relative", 1);
    CHECK_TEXT(shmt_path_cache(arena), "/home/u/.cache/shmtune");
    setenv("XDG_DATA_HOME", "/d/", 1);
    CHECK_TEXT(shmt_path_user_data(arena), "/d/shmtune");
    unsetenv("HOME");
    CHECK(shmt_path_cache(arena) == NULL);
}

static void descriptors_are_closed(void)
{
    const int first = dup(0);
    int second;
    const char *data;
    size_t size;

    close(first);
    read_file(root, 10, &data, &size);
    read_file(in_root("a"), 1, &data, &size);
    read_file(in_root("a"), 100, &data, &size);
    write_file("a", "again");
    second = dup(0);
    close(second);
    CHECK_INT(second, first);
}

int main(void)
{
    folder_make(root);
    arena = shmt_arena_new();
    if (arena == NULL)
        return EXIT_FAILURE;
    CHECK_RUN(what_is_written_is_read);
    CHECK_RUN(large_files_survive);
    CHECK_RUN(only_regular_files_are_read);
    CHECK_RUN(a_wrong_size_is_no_matter);
    CHECK_RUN(permissions_are_kept);
    CHECK_RUN(failures_leave_nothing);
    CHECK_RUN(a_full_disk_keeps_the_old_file);
    CHECK_RUN(the_disk_is_waited_for);
    CHECK_RUN(pipes_are_written_to);
    CHECK_RUN(devices_that_cannot_be_opened);
    CHECK_RUN(writers_do_not_mix);
    CHECK_RUN(signals_do_not_matter);
    CHECK_RUN(folders_are_made);
    CHECK_RUN(why_a_folder_is_not_made);
    CHECK_RUN(names_are_taken_apart);
    CHECK_RUN(absolute_paths_are_clean);
    CHECK_RUN(files_of_killed_processes_are_removed);
    CHECK_RUN(temporary_files_are_locked);
    CHECK_RUN(lists_are_sorted);
    CHECK_RUN(user_folders_follow_the_environment);
    CHECK_RUN(descriptors_are_closed);
    folder_remove(root);
    shmt_arena_free(arena);
    return CHECK_END();
}
