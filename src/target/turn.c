/* SPDX-License-Identifier: MIT */
/*
 * turn: see turn.h.  Called by pool.c and live.c, and by profile/.
 *
 * There are two locks, by flock: whoever wants the GPU first gets `next`, with
 * it waits for `held`, and then gives `next` back.  So the holder, who has to
 * get `next` again, cannot come before one who waits.  The system gives both
 * back when a process ends, however it does.
 *
 * The folder may be of another user, so what is opened is checked through its
 * descriptor: no link is followed, nothing is created over what is there, and
 * only a plain file that has no other name is locked.  flock asks for no right
 * to write.
 */
#include "target/turn.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

static const char usual_folder[] = "/tmp/shmtune-locks";

struct shmt_turn {
    int folder;
    int next, held;          /* descriptors */
    bool has_next, has_held;
    double since_s;          /* when it was taken, on shmt_clock_s */
    char stem[96];           /* of the files' names */
};

static enum shmtune_status refuse(const char *path, const char *why,
                                  struct shmt_error *err)
{
    return shmt_error_set(err, SHMTUNE_STORAGE, "%.256s: %s", path, why);
}

/* -- files ---------------------------------------------------------------- */

/* Who may write to the folder may remove the files, unless it is sticky. */
static enum shmtune_status open_folder(int *folder, struct shmt_error *err)
{
    const char *const named = getenv("SHMTUNE_LOCKS");
    const bool usual = named == NULL || named[0] == '\0';
    const char *const path = usual ? usual_folder : named;
    struct stat about;

    if (mkdir(path, 0777) == 0 && chmod(path, 01777) != 0)
        return refuse(path, strerror(errno), err);
    *folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC |
                             (usual ? O_NOFOLLOW : 0));
    if (*folder < 0 || fstat(*folder, &about) != 0)
        return refuse(path, strerror(errno), err);
    if (about.st_uid != geteuid() && about.st_uid != 0 &&
        (about.st_mode & S_ISVTX) == 0)
        return refuse(path, "the folder is another user's and not sticky "
                      "(chmod +t); SHMTUNE_LOCKS may name another", err);
    return SHMTUNE_OK;
}

static int open_file(const struct shmt_turn *turn, const char *suffix)
{
    const int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
    struct stat about;
    char name[128];
    int fd = -1;

    snprintf(name, sizeof name, "%s.%s", turn->stem, suffix);
    /* Another may create it in between. */
    for (int k = 0; k < 3 && fd < 0; k++) {
        fd = openat(turn->folder, name, flags);
        if (fd >= 0 || errno != ENOENT)
            break;
        fd = openat(turn->folder, name, flags | O_CREAT | O_EXCL, 0644);
        if (fd >= 0)
            (void)fchmod(fd, 0644);
        else if (errno != EEXIST)
            break;
    }
    if (fd < 0)
        return -1;
    if (fstat(fd, &about) != 0 || !S_ISREG(about.st_mode) ||
        about.st_nlink != 1) {
        close(fd);
        errno = EPERM;
        return -1;
    }
    return fd;
}

static void close_files(struct shmt_turn *turn)
{
    if (turn->held >= 0)
        close(turn->held);
    if (turn->next >= 0)
        close(turn->next);
    turn->held = turn->next = -1;
    turn->has_held = turn->has_next = false;
}

static bool open_files(struct shmt_turn *turn)
{
    turn->held = open_file(turn, "lock");
    turn->next = turn->held < 0 ? -1 : open_file(turn, "next");
    return turn->next >= 0;
}

/* Whether the file was removed, as what is in /tmp may be: then others lock
 * another one of that name. */
static bool is_gone(const struct shmt_turn *turn)
{
    struct stat own, there;
    char name[128];

    snprintf(name, sizeof name, "%s.lock", turn->stem);
    return fstat(turn->held, &own) != 0 ||
           fstatat(turn->folder, name, &there, AT_SYMLINK_NOFOLLOW) != 0 ||
           own.st_ino != there.st_ino || own.st_dev != there.st_dev;
}

enum shmtune_status shmt_turn_open(const char *uuid, struct shmt_turn **out,
                                   struct shmt_error *err)
{
    struct shmt_turn *const turn = calloc(1, sizeof *turn);
    enum shmtune_status status;

    if (turn == NULL)
        return shmt_error_memory(err);
    turn->folder = turn->next = turn->held = -1;
    for (size_t k = 0; uuid[k] != '\0' && k + 1 < sizeof turn->stem; k++)
        turn->stem[k] = uuid[k] == '/' || uuid[k] == '.' ? '_' : uuid[k];
    status = open_folder(&turn->folder, err);
    if (status == SHMTUNE_OK && !open_files(turn))
        status = refuse(turn->stem, strerror(errno), err);
    if (status != SHMTUNE_OK) {
        shmt_turn_close(turn);
        return status;
    }
    *out = turn;
    return SHMTUNE_OK;
}

void shmt_turn_close(struct shmt_turn *turn)
{
    if (turn == NULL)
        return;
    close_files(turn);
    if (turn->folder >= 0)
        close(turn->folder);
    free(turn);
}

/* -- turns ---------------------------------------------------------------- */

/* Where the system has no lock to give there is nothing to wait for. */
static bool lock(int fd, bool *has)
{
    if (!*has)
        *has = flock(fd, LOCK_EX | LOCK_NB) == 0 ||
               (errno != EWOULDBLOCK && errno != EINTR);
    return *has;
}

static bool unlock(int fd, bool *has)
{
    *has = *has && flock(fd, LOCK_UN) != 0;
    return !*has;
}

bool shmt_turn_take(struct shmt_turn *turn)
{
    if (turn->has_held)
        return true;
    if (!lock(turn->next, &turn->has_next) ||
        !lock(turn->held, &turn->has_held))
        return false;
    if (is_gone(turn)) {
        close_files(turn);
        /* Without files there is nothing to wait for. */
        turn->has_held = !open_files(turn);
        return turn->has_held;
    }
    (void)unlock(turn->next, &turn->has_next);
    turn->since_s = shmt_clock_s();
    return true;
}

void shmt_turn_give_back(struct shmt_turn *turn)
{
    (void)unlock(turn->held, &turn->has_held);
    (void)unlock(turn->next, &turn->has_next);
    if (!turn->has_held && !turn->has_next)
        return;
    /* A file that is closed holds no lock; without one nobody is waited
     * for. */
    close_files(turn);
    (void)open_files(turn);
}

bool shmt_turn_wait(struct shmt_turn *turn, const volatile sig_atomic_t *stop)
{
    const struct timespec pause = {.tv_nsec = 5000000};

    while (!shmt_turn_take(turn)) {
        if (stop != NULL && *stop != 0)
            return false;
        (void)nanosleep(&pause, NULL);
    }
    return true;
}

double shmt_turn_held_s(const struct shmt_turn *turn)
{
    return turn->has_held ? shmt_clock_s() - turn->since_s : -1;
}

/* "1: FLOCK  ADVISORY  WRITE 1234 08:01:5678 0 EOF" */
long shmt_turn_holder(const struct shmt_turn *turn)
{
    FILE *const file = fopen("/proc/locks", "re");
    struct stat own;
    char line[256];
    long holder = 0;

    if (file == NULL)
        return 0;
    while (fstat(turn->held, &own) == 0 &&
           fgets(line, sizeof line, file) != NULL) {
        unsigned major_number, minor_number;
        unsigned long inode;
        long pid;

        if (sscanf(line, "%*s FLOCK %*s WRITE %ld %x:%x:%lu", &pid,
                   &major_number, &minor_number, &inode) == 4 &&
            inode == own.st_ino && major_number == major(own.st_dev) &&
            minor_number == minor(own.st_dev))
            holder = pid;
    }
    fclose(file);
    return holder;
}
