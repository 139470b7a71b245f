/* SPDX-License-Identifier: MIT */
/*
 * shim: preloaded into a program, it numbers the calls that allocate memory or
 * enter the system, and makes one of them fail.  lane.py says which one, in a
 * file that both map, $SHMT_FAULTS: struct plan here, Plan there.
 *
 * Whose calls are numbered is a role: the program that lane.py started, its
 * children between fork and exec, its compile workers together, or its measure
 * workers together, the two ends of a far one, or an application that it
 * starts with the library of `capture` and `run` in it, of which only the
 * library's own calls count.  What dlopen loads (a driver, NVRTC) is not ours:
 * its own calls are neither numbered nor failed.
 *
 * A stream cannot be made to fail from outside, so its file is replaced: by
 * /dev/full where it is written, by a folder where it is read.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <glob.h>
#include <link.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CALLS = 1 << 18, NAME = 20, FRAMES = 24, OBJECT = 256, FOREIGN = 64 };
enum kind { ALLOCATION = 1, SYSTEM = 2 };
enum role {
    NOBODY, PROGRAM, CHILD, COMPILE, MEASURE, COURIER, RELAY, APPLICATION
};
enum how { ONCE, FROM_THERE_ON, SHORT };

struct frame {
    uint64_t offset;           /* in the file `object` */
    char object[OBJECT];
};

struct plan {
    uint64_t at;               /* which call fails, from 1; 0: none */
    uint32_t kinds;            /* of enum kind: what is numbered */
    uint32_t role;
    int32_t code;              /* errno */
    uint32_t how;
    int32_t lane;              /* the process that starts the program */
    uint32_t fired;
    uint64_t count;
    char only[NAME];           /* only calls of this name; "": all */
    struct frame frames[FRAMES];   /* who made the call that failed */
    char calls[CALLS][NAME];       /* their names, while `at` is 0 */
};

static struct plan *plan;
static enum role role;
static _Thread_local int passive;  /* inside of this file, or of dlopen */
struct part { uintptr_t low, high; };
static struct part foreign[FOREIGN], preloaded[FOREIGN];
static size_t own_count, foreign_count, preloaded_count;

/* -- whose call it is ------------------------------------------------------- */

static int count_object(struct dl_phdr_info *info, size_t size, void *count)
{
    (void)info, (void)size;
    ++*(size_t *)count;
    return 0;
}

static void note_parts(const struct dl_phdr_info *info, struct part *parts,
                       size_t *count)
{
    for (int k = 0; k < info->dlpi_phnum && *count < FOREIGN; k++)
        if (info->dlpi_phdr[k].p_type == PT_LOAD) {
            const ElfW(Phdr) *const part = &info->dlpi_phdr[k];

            parts[*count].low = info->dlpi_addr + part->p_vaddr;
            parts[*count].high = parts[*count].low + part->p_memsz;
            ++*count;
        }
}

/* Objects come in the order in which they were loaded. */
static int note_foreign(struct dl_phdr_info *info, size_t size, void *count)
{
    (void)size;
    if (++*(size_t *)count > own_count)
        note_parts(info, foreign, &foreign_count);
    return 0;
}

static int note_preloaded(struct dl_phdr_info *info, size_t size, void *unused)
{
    (void)size, (void)unused;
    if (strstr(info->dlpi_name, "/libshmtune-capture.so") != NULL)
        note_parts(info, preloaded, &preloaded_count);
    return 0;
}

static bool is_in(const struct part *parts, size_t count, const void *caller)
{
    for (size_t k = 0; k < count; k++)
        if ((uintptr_t)caller >= parts[k].low &&
            (uintptr_t)caller < parts[k].high)
            return true;
    return false;
}

static bool is_in_foreign(const void *caller)
{
    return is_in(foreign, foreign_count, caller);
}

/* What is not ours may also call by way of the C library. */
static bool is_foreign(const void *caller)
{
    void *frames[FRAMES];
    int count;
    bool found = is_in_foreign(caller);

    if (role == APPLICATION)
        return !is_in(preloaded, preloaded_count, caller);
    if (found || foreign_count == 0)
        return found;
    passive++;
    count = backtrace(frames, FRAMES);
    passive--;
    for (int k = 0; k < count && !found; k++)
        found = is_in_foreign(frames[k]);
    return found;
}

static enum role role_of(int argc, char **argv)
{
    static const struct {
        const char *word;
        enum role role;
    } words[] = {
        {"--device", MEASURE}, {"--on", COURIER}, {"--far", RELAY}};
    enum role found = COMPILE;

    if (getppid() == plan->lane)
        return PROGRAM;
    if (preloaded_count > 0)
        return APPLICATION;
    if (argc < 2 || strcmp(argv[1], "worker") != 0)
        return NOBODY;
    for (size_t w = 0; w < sizeof words / sizeof words[0]; w++)
        for (int k = 2; k < argc; k++)
            if (strcmp(argv[k], words[w].word) == 0)
                found = words[w].role;
    return found;
}

static void __attribute__((constructor)) start(int argc, char **argv)
{
    const char *const path = getenv("SHMT_FAULTS");
    int fd;
    void *at;

    if (path == NULL)
        return;
    passive++;
    dl_iterate_phdr(count_object, &own_count);
    dl_iterate_phdr(note_preloaded, NULL);
    fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC);
    at = mmap(NULL, sizeof *plan, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    syscall(SYS_close, fd);
    if (at != MAP_FAILED) {
        plan = at;
        role = role_of(argc, argv);
    }
    passive--;
}

/* -- whether it fails ------------------------------------------------------- */

static void note_frames(void)
{
    void *frames[FRAMES + 2];
    const int count = backtrace(frames, FRAMES + 2);
    Dl_info about;

    for (int k = 2; k < count; k++)
        if (dladdr(frames[k], &about) != 0 && about.dli_fname != NULL) {
            struct frame *const frame = &plan->frames[k - 2];

            frame->offset = (uintptr_t)frames[k] - (uintptr_t)about.dli_fbase;
            strncpy(frame->object, about.dli_fname, OBJECT - 1);
        }
}

static bool fails(enum kind kind, const char *name, const void *caller)
{
    uint64_t number;

    if (plan == NULL || passive > 0 || role != plan->role ||
        (plan->kinds & kind) == 0 || is_foreign(caller) ||
        (plan->only[0] != '\0' && strncmp(plan->only, name, NAME - 1) != 0))
        return false;
    number = __atomic_add_fetch(&plan->count, 1, __ATOMIC_RELAXED);
    if (plan->at == 0 && number <= CALLS)
        strncpy(plan->calls[number - 1], name, NAME - 1);
    if (plan->at == 0 || number < plan->at ||
        (number > plan->at && plan->how != FROM_THERE_ON))
        return false;
    passive++;
    if (number == plan->at) {
        plan->fired = 1;
        note_frames();
    }
    passive--;
    errno = plan->code;
    return true;
}

#define FAILS(kind, name) fails(kind, #name, __builtin_return_address(0))

static void *find(const char *name)
{
    void *found;

    passive++;
    found = dlsym(RTLD_NEXT, name);
    passive--;
    return found;
}

#define NEXT(name)                                                           \
    static __typeof__(&name) next;                                           \
    if (next == NULL)                                                        \
        *(void **)&next = find(#name)

/* A call that answers `failed` when it fails. */
#define CALL(type, failed, name, parameters, arguments)                      \
    type name parameters                                                     \
    {                                                                        \
        NEXT(name);                                                          \
        return FAILS(SYSTEM, name) ? (failed) : next arguments;              \
    }
#define INT_CALL(name, parameters, arguments)                                \
    CALL(int, -1, name, parameters, arguments)

/* -- memory ----------------------------------------------------------------- */

#define MEMORY(name, parameters, arguments)                                  \
    void *name parameters                                                    \
    {                                                                        \
        NEXT(name);                                                          \
        return FAILS(ALLOCATION, name) ? NULL : next arguments;              \
    }
MEMORY(malloc, (size_t size), (size))
MEMORY(calloc, (size_t count, size_t size), (count, size))
MEMORY(realloc, (void *data, size_t size), (data, size))
MEMORY(reallocarray, (void *data, size_t count, size_t size),
       (data, count, size))
MEMORY(aligned_alloc, (size_t to, size_t size), (to, size))

int posix_memalign(void **out, size_t to, size_t size)
{
    NEXT(posix_memalign);
    return FAILS(ALLOCATION, posix_memalign) ? ENOMEM : next(out, to, size);
}

/* -- files ------------------------------------------------------------------ */

/* The one optional argument of open, fcntl, ioctl and prctl. */
#define LAST(type, behind, out)                                              \
    type out;                                                                \
    va_list rest;                                                            \
    va_start(rest, behind);                                                  \
    out = va_arg(rest, type);                                                \
    va_end(rest)

#define OPEN(name)                                                           \
    int name(const char *path, int flags, ...)                               \
    {                                                                        \
        NEXT(name);                                                          \
        LAST(int, flags, mode);                                              \
        return FAILS(SYSTEM, name) ? -1 : next(path, flags, mode);           \
    }
OPEN(open)
OPEN(open64)

int openat(int at, const char *path, int flags, ...)
{
    NEXT(openat);
    LAST(int, flags, mode);
    return FAILS(SYSTEM, openat) ? -1 : next(at, path, flags, mode);
}

int fcntl(int fd, int command, ...)
{
    NEXT(fcntl);
    LAST(long, command, value);
    return FAILS(SYSTEM, fcntl) ? -1 : next(fd, command, value);
}

int ioctl(int fd, unsigned long request, ...)
{
    NEXT(ioctl);
    LAST(void *, request, value);
    return FAILS(SYSTEM, ioctl) ? -1 : next(fd, request, value);
}

/* The descriptor is gone whatever close answers. */
int close(int fd)
{
    const bool failed = FAILS(SYSTEM, close);
    const int code = errno;
    NEXT(close);
    const int rc = next(fd);

    if (failed)
        errno = code;
    return failed ? -1 : rc;
}

/* Reading and writing, which may also do one byte. */
#define TRANSFER(name, parameters, arguments)                                \
    ssize_t name parameters                                                  \
    {                                                                        \
        NEXT(name);                                                          \
        if (size > 0 && FAILS(SYSTEM, name)) {                               \
            if (plan->how != SHORT)                                          \
                return -1;                                                   \
            size = 1;                                                        \
        }                                                                    \
        return next arguments;                                               \
    }
TRANSFER(read, (int fd, void *data, size_t size), (fd, data, size))
TRANSFER(write, (int fd, const void *data, size_t size), (fd, data, size))
TRANSFER(pread, (int fd, void *data, size_t size, off_t at),
         (fd, data, size, at))
TRANSFER(send, (int fd, const void *data, size_t size, int flags),
         (fd, data, size, flags))

CALL(off_t, -1, lseek, (int fd, off_t at, int whence), (fd, at, whence))
INT_CALL(fsync, (int fd), (fd))
INT_CALL(ftruncate, (int fd, off_t size), (fd, size))
INT_CALL(flock, (int fd, int how), (fd, how))
INT_CALL(fchmod, (int fd, mode_t mode), (fd, mode))
INT_CALL(dup2, (int fd, int as), (fd, as))
INT_CALL(stat, (const char *path, struct stat *out), (path, out))
INT_CALL(fstat, (int fd, struct stat *out), (fd, out))
INT_CALL(fstatat, (int at, const char *path, struct stat *out, int flags),
         (at, path, out, flags))
INT_CALL(access, (const char *path, int how), (path, how))
INT_CALL(rename, (const char *from, const char *to), (from, to))
INT_CALL(renameat, (int at, const char *from, int there, const char *to),
         (at, from, there, to))
INT_CALL(unlink, (const char *path), (path))
INT_CALL(unlinkat, (int at, const char *path, int flags), (at, path, flags))
INT_CALL(remove, (const char *path), (path))
INT_CALL(rmdir, (const char *path), (path))
INT_CALL(mkdir, (const char *path, mode_t mode), (path, mode))
INT_CALL(mkdirat, (int at, const char *path, mode_t mode), (at, path, mode))
CALL(char *, NULL, mkdtemp, (char *path), (path))
CALL(char *, NULL, getcwd, (char *out, size_t size), (out, size))
CALL(char *, NULL, realpath, (const char *path, char *out), (path, out))
CALL(ssize_t, -1, readlink, (const char *path, char *out, size_t size),
     (path, out, size))
CALL(ssize_t, -1, readlinkat,
     (int at, const char *path, char *out, size_t size), (at, path, out, size))
CALL(DIR *, NULL, opendir, (const char *path), (path))
CALL(DIR *, NULL, fdopendir, (int fd), (fd))
CALL(struct dirent *, NULL, readdir, (DIR *dir), (dir))
CALL(int, plan->code == ENOMEM ? GLOB_NOSPACE : GLOB_ABORTED, glob,
     (const char *pattern, int flags, int (*failed)(const char *, int),
      glob_t *out), (pattern, flags, failed, out))

/* -- streams ---------------------------------------------------------------- */

static void spoil(FILE *stream, const char *path, int flags)
{
    const int bad = (int)syscall(SYS_openat, AT_FDCWD, path, flags);

    syscall(SYS_dup3, bad, fileno(stream), 0);
    syscall(SYS_close, bad);
}

#define WRITES(type, name, stream, parameters, arguments)                    \
    type name parameters                                                     \
    {                                                                        \
        NEXT(name);                                                          \
        if (FAILS(SYSTEM, name))                                             \
            spoil(stream, "/dev/full", O_WRONLY);                            \
        return next arguments;                                               \
    }
WRITES(int, fputs, stream, (const char *text, FILE *stream), (text, stream))
WRITES(int, fputc, stream, (int c, FILE *stream), (c, stream))
WRITES(int, putc, stream, (int c, FILE *stream), (c, stream))
WRITES(int, puts, stdout, (const char *text), (text))
WRITES(int, putchar, stdout, (int c), (c))
WRITES(size_t, fwrite, stream,
       (const void *data, size_t size, size_t count, FILE *stream),
       (data, size, count, stream))
WRITES(int, fflush, stream, (FILE *stream), (stream))

int printf(const char *format, ...)
{
    va_list rest;
    int rc;

    if (FAILS(SYSTEM, printf))
        spoil(stdout, "/dev/full", O_WRONLY);
    va_start(rest, format);
    rc = vfprintf(stdout, format, rest);
    va_end(rest);
    return rc;
}

int fprintf(FILE *stream, const char *format, ...)
{
    va_list rest;
    int rc;

    if (FAILS(SYSTEM, fprintf))
        spoil(stream, "/dev/full", O_WRONLY);
    va_start(rest, format);
    rc = vfprintf(stream, format, rest);
    va_end(rest);
    return rc;
}

char *fgets(char *out, int size, FILE *stream)
{
    NEXT(fgets);
    if (FAILS(SYSTEM, fgets))
        spoil(stream, "/", O_RDONLY | O_DIRECTORY);
    return next(out, size, stream);
}

int getc(FILE *stream)
{
    NEXT(getc);
    if (FAILS(SYSTEM, getc))
        spoil(stream, "/", O_RDONLY | O_DIRECTORY);
    return next(stream);
}

CALL(FILE *, NULL, fopen, (const char *path, const char *mode), (path, mode))
CALL(FILE *, NULL, fopen64, (const char *path, const char *mode), (path, mode))
CALL(FILE *, NULL, fdopen, (int fd, const char *mode), (fd, mode))

/* One that fails has closed the stream. */
FILE *freopen(const char *path, const char *mode, FILE *stream)
{
    const bool failed = FAILS(SYSTEM, freopen);
    const int code = errno;
    NEXT(freopen);
    FILE *const file = next(failed ? "/dev/null/none" : path, mode, stream);

    if (failed)
        errno = code;
    return file;
}

int fclose(FILE *stream)
{
    const bool failed = FAILS(SYSTEM, fclose);
    const int code = errno;
    NEXT(fclose);
    const int rc = next(stream);

    if (failed)
        errno = code;
    return failed ? EOF : rc;
}

/* -- processes -------------------------------------------------------------- */

pid_t fork(void)
{
    NEXT(fork);
    const pid_t pid = FAILS(SYSTEM, fork) ? -1 : next();

    if (pid == 0)
        role = role == PROGRAM ? CHILD : NOBODY;
    return pid;
}

int prctl(int option, ...)
{
    NEXT(prctl);
    LAST(unsigned long, option, value);
    return FAILS(SYSTEM, prctl) ? -1 : next(option, value, 0L, 0L, 0L);
}

INT_CALL(execv, (const char *path, char *const words[]), (path, words))
INT_CALL(pipe2, (int out[2], int flags), (out, flags))
INT_CALL(socketpair, (int domain, int type, int protocol, int out[2]),
         (domain, type, protocol, out))
INT_CALL(poll, (struct pollfd *fds, nfds_t count, int limit),
         (fds, count, limit))
CALL(pid_t, -1, waitpid, (pid_t pid, int *out, int how), (pid, out, how))
INT_CALL(waitid, (idtype_t type, id_t id, siginfo_t *out, int how),
         (type, id, out, how))
INT_CALL(kill, (pid_t pid, int number), (pid, number))
INT_CALL(setpgid, (pid_t pid, pid_t group), (pid, group))
INT_CALL(close_range, (unsigned first, unsigned last, int flags),
         (first, last, flags))
INT_CALL(nanosleep, (const struct timespec *time, struct timespec *left),
         (time, left))
INT_CALL(sched_getaffinity, (pid_t pid, size_t size, cpu_set_t *out),
         (pid, size, out))
CALL(long, -1, sysconf, (int name), (name))

int getrlimit(__rlimit_resource_t which, struct rlimit *out)
{
    NEXT(getrlimit);
    return FAILS(SYSTEM, getrlimit) ? -1 : next(which, out);
}

int setrlimit(__rlimit_resource_t which, const struct rlimit *to)
{
    NEXT(setrlimit);
    return FAILS(SYSTEM, setrlimit) ? -1 : next(which, to);
}

int pthread_create(pthread_t *out, const pthread_attr_t *attributes,
                   void *(*run)(void *), void *of)
{
    NEXT(pthread_create);
    return FAILS(SYSTEM, pthread_create) ? plan->code
                                         : next(out, attributes, run, of);
}

int pthread_mutex_init(pthread_mutex_t *out,
                       const pthread_mutexattr_t *attributes)
{
    NEXT(pthread_mutex_init);
    return FAILS(SYSTEM, pthread_mutex_init) ? plan->code
                                             : next(out, attributes);
}

void *dlopen(const char *path, int flags)
{
    NEXT(dlopen);
    const bool failed = FAILS(SYSTEM, dlopen);
    void *library;

    passive++;
    library = next(failed ? "/dev/null/none" : path, flags);
    foreign_count = 0;
    dl_iterate_phdr(note_foreign, &(size_t){0});
    passive--;
    return library;
}
