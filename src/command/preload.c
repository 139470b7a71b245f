/* SPDX-License-Identifier: MIT */
/*
 * preload: the library that goes into a user's program, found beside this
 * program or where it is installed; what it has noted; and the exit status of
 * the program.  Called by capture.c and run.c.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "capture/capture.h"
#include "command/preload.h"

/* In its build folder; in the folder of an installation, which may have been
 * moved: PREFIX/bin beside PREFIX/lib. */
static enum shmtune_status find_library(struct shmt_arena *arena,
                                        const char **out,
                                        struct shmt_error *err)
{
    static const char *const beside[] = {
        SHMT_CAPTURE_LIBRARY, "../lib/shmtune/" SHMT_CAPTURE_LIBRARY};
    char self[4096];
    const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    enum shmt_path_kind kind;
    const char *folder;

    if (length < 0)
        return shmt_error_system(err, "/proc/self/exe", "cannot be read");
    self[length] = '\0';
    folder = shmt_path_folder(arena, self);
    for (size_t k = 0; k < 3; k++) {
        *out = k == 2           ? SHMT_PKGLIBDIR "/" SHMT_CAPTURE_LIBRARY
               : folder == NULL ? NULL
                                : shmt_path_join(arena, folder, beside[k]);
        if (*out == NULL)
            return shmt_error_memory(err);
        kind = shmt_path_kind(*out);
        if (kind == SHMT_PATH_UNKNOWN)
            return shmt_error_system(err, *out, "cannot be examined");
        if (kind == SHMT_PATH_FILE)
            return SHMTUNE_OK;
    }
    return shmt_error_set(err, SHMTUNE_STORAGE,
                          "%s is neither beside this program nor in %s: "
                          "install shmtune, or build it whole",
                          SHMT_CAPTURE_LIBRARY, SHMT_PKGLIBDIR);
}

const char *shmt_preload_setting(struct shmt_arena *arena, const char *name,
                                 const char *value)
{
    struct shmt_text text = {0};

    shmt_text_addf(&text, "%s=%s", name, value);
    return shmt_text_keep(&text, arena);
}

enum shmtune_status shmt_preload_library(struct shmt_arena *arena,
                                         const char **out,
                                         struct shmt_error *err)
{
    const char *before = getenv("LD_PRELOAD"), *library;
    struct shmt_text text = {0};
    const enum shmtune_status status = find_library(arena, &library, err);

    if (status != SHMTUNE_OK)
        return status;
    /* The loader would say that it ignores both halves, and go on. */
    if (strpbrk(library, " :") != NULL)
        return shmt_error_set(err, SHMTUNE_STORAGE,
                              "%s: cannot be preloaded, since a space or a "
                              "colon in a path ends it there: install shmtune "
                              "into a folder without", library);
    shmt_text_add(&text, library);
    if (before != NULL && before[0] != '\0')
        shmt_text_addf(&text, ":%s", before);
    *out = text.failed ? NULL
                       : shmt_preload_setting(arena, "LD_PRELOAD", text.data);
    shmt_text_free(&text);
    return *out == NULL ? shmt_error_memory(err) : SHMTUNE_OK;
}

/* What $SHMTUNE_LOG names, open; -1: nothing, or what cannot be opened, which
 * is said once. */
static int open_log(const struct shmt_command_call *call)
{
    static bool told;
    const char *path = getenv("SHMTUNE_LOG");
    struct shmt_error why;
    int fd;

    if (path == NULL || path[0] == '\0' || strcmp(path, "stderr") == 0)
        return -1;
    fd = shmt_path_open_end(path);
    if (fd < 0 && !told && !call->quiet) {
        told = true;
        shmt_error_system(&why, path, "the log cannot be opened (SHMTUNE_LOG)");
        shmt_command_tell("", why.text);
    }
    return fd;
}

void shmt_preload_note(const struct shmt_command_call *call,
                       const char *line)
{
    const int log = open_log(call);
    struct shmt_text text = {0};

    if (log < 0) {
        if (!call->quiet)
            shmt_command_tell("", line);
        return;
    }
    shmt_text_add(&text, "shmtune: ");
    shmt_text_add_visible(&text, line);
    shmt_text_add(&text, "\n");
    if (write(log, shmt_text_string(&text), text.length) < 0) {
        /* Nobody is left to say it to. */
    }
    close(log);
    shmt_text_free(&text);
}

enum shmtune_status shmt_preload_tell_notes(
    const struct shmt_command_call *call, struct shmt_arena *arena,
    const char *folder, const char **out, struct shmt_error *err)
{
    const char *path = shmt_path_join(arena, folder, SHMT_CAPTURE_NOTES);
    const char *data, *end;
    size_t size;
    enum shmtune_status status =
        path == NULL ? shmt_error_memory(err)
                     : shmt_path_read(arena, path, 16 << 20, &data, &size,
                                      err);

    *out = status == SHMTUNE_OK ? data : "";
    if (status == SHMTUNE_NOT_FOUND)
        return SHMTUNE_OK;
    for (; status == SHMTUNE_OK && (end = strchr(data, '\n')) != NULL;
         data = end + 1) {
        char line[1024];

        snprintf(line, sizeof line, "%.*s", (int)(end - data), data);
        shmt_preload_note(call, line);
    }
    return status;
}

bool shmt_preload_tell_unloaded(const struct shmt_command_call *call,
                                struct shmt_arena *arena, const char *folder)
{
    const char *path = shmt_path_join(arena, folder, SHMT_CAPTURE_LOADED);

    if (path == NULL || !shmt_path_is_absent(path))
        return false;
    shmt_preload_note(call, "the program did not load " SHMT_CAPTURE_LIBRARY
                      ": it is linked statically, runs with other privileges "
                      "(setuid), or takes LD_PRELOAD away");
    return true;
}

enum shmtune_status shmt_preload_status(int ended, struct shmt_error *err)
{
    err->text[0] = '\0';
    return (enum shmtune_status)(WIFSIGNALED(ended) ? 128 + WTERMSIG(ended)
                                                    : WEXITSTATUS(ended));
}
