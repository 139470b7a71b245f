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
static char *notes;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static uint64_t number(const char *variable, uint64_t fallback)
{
    const char *value = getenv(variable);

    return value == NULL ? fallback : strtoull(value, NULL, 10);
}

static char *copy_of(const char *variable)
{
    const char *value = getenv(variable);

    return value == NULL || value[0] == '\0' ? NULL : strdup(value);
}

/* The application may change its environment later. */
static void read_setting(void)
{
    char *const folder = copy_of(SHMT_CAPTURE_FOLDER);
    struct shmt_text path = {0};

    if (folder == NULL)
        return;
    setting.patterns = copy_of(SHMT_CAPTURE_KERNELS);
    setting.skip = number(SHMT_CAPTURE_SKIP, 0);
    setting.count = number(SHMT_CAPTURE_COUNT, 1);
    setting.bytes = number(SHMT_CAPTURE_BYTES, (uint64_t)4 << 30);
    setting.plan = copy_of(SHMT_CAPTURE_PLAN);
    setting.list = getenv(SHMT_CAPTURE_LIST) != NULL;
    shmt_text_addf(&path, "%s/" SHMT_CAPTURE_NOTES, folder);
    notes = path.failed ? NULL : path.data;
    setting.folder = folder;
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

/* One write each, so that lines of threads and processes do not mix. */
void shmt_capture_note(const char *format, ...)
{
    char line[1024];
    va_list arguments;
    int fd, length;

    shmt_capture_setting();
    if (notes == NULL)
        return;
    va_start(arguments, format);
    length = vsnprintf(line, sizeof line - 1, format, arguments);
    va_end(arguments);
    if (length < 0)
        return;
    if ((size_t)length > sizeof line - 2)
        length = (int)sizeof line - 2;
    line[length++] = '\n';
    fd = open(notes, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0)
        return;
    if (write(fd, line, (size_t)length) != length)
        line[0] = '\0';        /* a full disk: there is nothing to say it to */
    close(fd);
}
