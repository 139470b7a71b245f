/* SPDX-License-Identifier: MIT */
/*
 * setting: what the command has written into the environment, and the notes
 * that go back to it.
 */
#include "capture/library.h"

#include <fcntl.h>
#include <fnmatch.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct shmt_capture_setting setting;
static char notes[4096];        /* the file of the notes; "": none */
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* Hashes of the notes that were written: each once, and not more of them than
 * anybody reads.  A launch that is left out may come a million times. */
enum { NOTES = 1000, PLACES = 2048 };
static _Atomic(uint64_t) said[PLACES];
static atomic_uint said_count;

static uint64_t number(const char *variable, uint64_t fallback)
{
    const char *value = getenv(variable);

    return value == NULL ? fallback : strtoull(value, NULL, 10);
}

/* NULL: there is none, or else *whole is false now. */
static char *copy_of(const char *variable, bool *whole)
{
    const char *value = getenv(variable);
    char *copy;

    if (value == NULL || value[0] == '\0')
        return NULL;
    copy = strdup(value);
    *whole = *whole && copy != NULL;
    return copy;
}

/* A line with its end.  One write each, so that lines of threads and processes
 * do not mix. */
static void add_line(const char *line, size_t length)
{
    const int fd = shmt_path_open_end(notes);

    if (fd < 0)
        return;
    /* On a full disk there is nothing to say it to. */
    (void)shmt_path_put(fd, line, length);
    close(fd);
}

/* The application may change its environment later. */
static void read_setting(void)
{
    static const char no_memory[] =
        "there is no memory: no launch is looked at\n";
    bool whole = true;
    char *const folder = copy_of(SHMT_CAPTURE_FOLDER, &whole);

    setting.patterns = copy_of(SHMT_CAPTURE_KERNELS, &whole);
    setting.skip = number(SHMT_CAPTURE_SKIP, 0);
    setting.count = number(SHMT_CAPTURE_COUNT, 1);
    setting.bytes = number(SHMT_CAPTURE_BYTES, (uint64_t)4 << 30);
    setting.questions = number(SHMT_CAPTURE_QUESTIONS, 4 << 20);
    setting.plan = copy_of(SHMT_CAPTURE_PLAN, &whole);
    setting.trial = getenv(SHMT_CAPTURE_NO_TRIAL) == NULL;
    setting.list = getenv(SHMT_CAPTURE_LIST) != NULL;
    if (getenv(SHMT_CAPTURE_FOLDER) != NULL &&
        (size_t)snprintf(notes, sizeof notes, "%s/" SHMT_CAPTURE_NOTES,
                         getenv(SHMT_CAPTURE_FOLDER)) >= sizeof notes)
        notes[0] = '\0';
    /* Half of it would do what nobody asked for. */
    setting.folder = whole ? folder : NULL;
    if (!whole && notes[0] != '\0')
        add_line(no_memory, strlen(no_memory));
}

/* For the command, which cannot see whether a program takes what is preloaded.
 */
__attribute__((constructor)) static void say_loaded(void)
{
    const char *folder = getenv(SHMT_CAPTURE_FOLDER);
    char path[1024];
    int fd;

    if (folder == NULL ||
        (size_t)snprintf(path, sizeof path, "%s/" SHMT_CAPTURE_LOADED,
                         folder) >= sizeof path)
        return;
    fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (fd >= 0)
        close(fd);
}

const struct shmt_capture_setting *shmt_capture_setting(void)
{
    pthread_once(&once, read_setting);
    return &setting;
}

bool shmt_capture_is_wanted(const char *symbol)
{
    const char *at = shmt_capture_setting()->patterns, *name;
    char pattern[512], plain[512];
    size_t size;

    if (at == NULL)
        return true;
    name = shmt_capture_plain_name(symbol, &size);
    snprintf(plain, sizeof plain, "%.*s", (int)size, name);
    while (*at != '\0') {
        const size_t length = strcspn(at, "\n");

        snprintf(pattern, sizeof pattern, "%.*s", (int)length, at);
        if (fnmatch(pattern, symbol, 0) == 0 ||
            fnmatch(pattern, plain, 0) == 0)
            return true;
        at += length + (at[length] == '\n');
    }
    return false;
}

/* Whether the line is a new one, and there is room for it. */
static bool is_news(const char *line, size_t length)
{
    const uint64_t hash = shmt_map_hash_bytes(line, length) | 1;
    size_t at = hash >> 53;

    for (;; at = (at + 1) % PLACES) {
        uint64_t known = 0;

        if (atomic_load(&said_count) >= NOTES)
            return false;
        if (atomic_compare_exchange_strong(&said[at], &known, hash))
            break;
        if (known == hash)
            return false;
    }
    return atomic_fetch_add(&said_count, 1) < NOTES;
}

void shmt_capture_note(const char *format, ...)
{
    static const char enough[] = "what else is left out is not said any more\n";
    char line[1024];
    va_list arguments;
    int length;

    shmt_capture_setting();
    if (notes[0] == '\0')
        return;
    va_start(arguments, format);
    length = vsnprintf(line, sizeof line - 1, format, arguments);
    va_end(arguments);
    if (length < 0)
        return;
    if ((size_t)length > sizeof line - 2)
        length = (int)sizeof line - 2;
    line[length++] = '\n';
    if (!is_news(line, (size_t)length))
        return;
    add_line(line, (size_t)length);
    if (atomic_load(&said_count) == NOTES)
        add_line(enough, strlen(enough));
}
