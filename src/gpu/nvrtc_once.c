/* SPDX-License-Identifier: MIT */
/*
 * nvrtc_once: which includes a source begins with, the source in its other
 * order, and the file of precompiled headers (see nvrtc_once.h).
 */
#define _GNU_SOURCE   /* O_CLOEXEC, sysconf's _SC_NPROCESSORS_ONLN */
#include "gpu/nvrtc_once.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* CUDA 12.0 has no name for it. */
enum { PCH_CREATE_HEAP_EXHAUSTED = 14 };

enum { LONG_MS = 250,
       MOST_FAILURES = 2,
       FILE_BYTES = 1 << 30,          /* free where the file is written */
       PROCESSOR_BYTES = 512 << 20,   /* of memory, for each processor: each
                                         has a worker */
       HEAP_BYTES = 1 << 30 };        /* the most that is taken */

void shmt_nvrtc_once_begin(struct shmt_nvrtc_once *once, const char *folder)
{
    *once = (struct shmt_nvrtc_once){
        .folder = folder, .least_ms = LONG_MS, .file = -1};
}

static void set_state(struct shmt_nvrtc_once *once,
                      enum shmt_nvrtc_once_state state)
{
    if (once->file >= 0)
        close(once->file);
    once->file = -1;
    once->state = state;
}

void shmt_nvrtc_once_end(struct shmt_nvrtc_once *once)
{
    set_state(once, SHMT_NVRTC_ONCE_OFF);
}

/* -- the includes a source begins with ------------------------------------ */

/* Behind blanks and comments, which may be several lines where `lines`; NULL:
 * a comment has no end there. */
static const char *skip_blank(const char *at, bool lines)
{
    for (;;) {
        const char *end;

        at += strspn(at, lines ? " \t\r\n" : " \t\r");
        end = shmt_code_behind_comment(at);
        if (end == at)
            return at;
        if (!lines && memchr(at, '\n', (size_t)(end - at)) != NULL)
            return NULL;
        at = end;
    }
}

static bool is_in(const char *folder, const char *name)
{
    char path[1400];

    return (size_t)snprintf(path, sizeof path, "%s/%s", folder, name) <
               sizeof path && shmt_path_exists(path);
}

static bool is_toolkits(const struct shmt_nvrtc_once_places *places,
                        const struct shmt_nvrtc_once_text *given,
                        const char *name)
{
    for (size_t k = 0; k < given->option_count; k++) {
        const char *folder = given->options[k] + 2;

        if (strncmp(given->options[k], "-I", 2) == 0 && is_in(folder, name))
            return (places->include != NULL &&
                    strcmp(folder, places->include) == 0) ||
                   (places->libraries != NULL &&
                    strcmp(folder, places->libraries) == 0);
    }
    for (size_t k = 0; k < places->header_count; k++)
        if (strcmp(places->headers[k], name) == 0)
            return true;
    return false;
}

/* Behind the line at `at` that is no more than an include of the toolkit's;
 * NULL: it is something else. */
static const char *skip_include(const struct shmt_nvrtc_once_places *places,
                                const struct shmt_nvrtc_once_text *given,
                                const char *at)
{
    char name[256], open;
    int length = 0;

    if (*at++ != '#')
        return NULL;
    at += strspn(at, " \t");
    if (strncmp(at, "include", 7) != 0)
        return NULL;
    at += 7;
    at += strspn(at, " \t");
    open = *at;
    if ((open != '<' && open != '"') ||
        sscanf(at + 1, open == '<' ? "%255[^>\n]%n" : "%255[^\"\n]%n", name,
               &length) != 1 ||
        at[1 + length] != (open == '<' ? '>' : '"') ||
        !is_toolkits(places, given, name))
        return NULL;
    at = skip_blank(at + 1 + length + 1, false);
    return at != NULL && *at == '\n' ? at + 1 : NULL;
}

size_t shmt_nvrtc_once_prefix(const struct shmt_nvrtc_once_places *places,
                              const struct shmt_nvrtc_once_text *given)
{
    const char *at = given->source, *end = given->source;

    while (at != NULL) {
        at = skip_blank(at, true);
        if (at != NULL)
            at = skip_include(places, given, at);
        if (at != NULL)
            end = at;
    }
    return (size_t)(end - given->source);
}

/* -- the other order ------------------------------------------------------ */

/* Whether the toolkit's headers may look at a macro of that name, which goes
 * on to a "=". */
static bool may_be_looked_at(const char *name)
{
    static const char *const begins[] = {
        "_", "CUB_", "THRUST_", "CCCL_", "LIBCUDACXX_", "CUDA", "CU_", "CG_",
        "NV", "NDEBUG=", "DEBUG="
    };

    for (size_t k = 0; k < sizeof begins / sizeof begins[0]; k++)
        if (strncmp(name, begins[k], strlen(begins[k])) == 0)
            return true;
    return false;
}

/* -DNAME=VALUE becomes a line of the source. */
static bool is_moved(const char *option)
{
    return strncmp(option, "-D", 2) == 0 && strchr(option, '=') != NULL &&
           !may_be_looked_at(option + 2);
}

static void write_source(const struct shmt_nvrtc_once_text *given,
                         size_t prefix, struct shmt_text *text)
{
    size_t line = 1;

    for (size_t k = 0; k < prefix; k++)
        line += given->source[k] == '\n';
    shmt_text_add_bytes(text, given->source, prefix);
    shmt_text_add(text, "#pragma nv_hdrstop\n");
    for (size_t k = 0; k < given->option_count; k++) {
        const char *option = given->options[k] + 2;
        const size_t name = strcspn(option, "=");

        if (is_moved(given->options[k]))
            shmt_text_addf(text, "#define %.*s %s\n", (int)name, option,
                           option + name + 1);
    }
    shmt_text_add_line_mark(text, line, given->name);
    shmt_text_add(text, given->source + prefix);
}

/* The options that stay, and the file's, for which there is room; and the key
 * of what has to be the same. */
static void write_options(const struct shmt_nvrtc_once_text *given,
                          size_t prefix, const char **options, size_t *count,
                          char key[SHMT_DIGEST_TEXT])
{
    struct shmt_digest digest;

    shmt_digest_begin(&digest);
    shmt_digest_add(&digest, given->source, prefix);
    shmt_digest_add(&digest, given->name, strlen(given->name) + 1);
    for (size_t k = 0; k < given->option_count; k++)
        if (!is_moved(given->options[k])) {
            options[(*count)++] = given->options[k];
            shmt_digest_add(&digest, given->options[k],
                            strlen(given->options[k]) + 1);
        }
    shmt_digest_end(&digest, key);
}

/* Of the machine, in kilobytes; -1: it does not say. */
static long long memory_left(void)
{
    FILE *const file = fopen("/proc/meminfo", "re");
    long long kilobytes = -1;
    char line[128];

    while (file != NULL && kilobytes < 0 &&
           fgets(line, sizeof line, file) != NULL)
        if (sscanf(line, "MemAvailable: %lld kB", &kilobytes) != 1)
            kilobytes = -1;
    if (file != NULL)
        fclose(file);
    return kilobytes;
}

static bool has_room(const struct shmt_nvrtc_once *once)
{
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    const long long left = memory_left();
    struct statvfs disk;

    return statvfs(once->folder, &disk) == 0 &&
           (double)disk.f_bavail * (double)disk.f_frsize >= FILE_BYTES &&
           left >= 0 &&
           left >= (processors > 0 ? processors : 1) *
                       (PROCESSOR_BYTES / 1024LL);
}

/* The option that has the file written, or read. */
static bool name_file(struct shmt_nvrtc_once *once, struct shmt_arena *arena,
                      const char **out)
{
    struct shmt_text text = {0};

    if (once->state == SHMT_NVRTC_ONCE_HAS) {
        shmt_text_addf(&text, "--use-pch=/proc/self/fd/%d", once->file);
    } else {
        if ((size_t)snprintf(once->path, sizeof once->path,
                             "%s/headers-%ld.pch", once->folder,
                             (long)getpid()) >= sizeof once->path)
            return false;
        shmt_text_addf(&text, "--create-pch=%s", once->path);
    }
    *out = shmt_text_keep(&text, arena);
    return *out != NULL;
}

bool shmt_nvrtc_once_arrange(struct shmt_nvrtc_once *once,
                             const struct shmt_nvrtc_once_calls *calls,
                             const struct shmt_nvrtc_once_places *places,
                             const struct shmt_nvrtc_once_text *given,
                             struct shmt_arena *arena,
                             struct shmt_nvrtc_once_text *out)
{
    const bool has = once->state == SHMT_NVRTC_ONCE_HAS;
    char key[SHMT_DIGEST_TEXT];
    struct shmt_text text = {0};
    const char **options;
    size_t prefix, count = 0;

    if (calls->GetPCHCreateStatus == NULL ||
        (!has && once->state != SHMT_NVRTC_ONCE_WANTS))
        return false;
    prefix = shmt_nvrtc_once_prefix(places, given);
    options = shmt_arena_alloc(arena, given->option_count + 1,
                               sizeof *options);
    if (prefix == 0 || options == NULL)
        return false;
    write_options(given, prefix, options, &count, key);
    if (has && strcmp(key, once->key) != 0)
        return false;
    if (!has && !has_room(once)) {
        set_state(once, SHMT_NVRTC_ONCE_OFF);
        return false;
    }
    if (!name_file(once, arena, &options[count++]))
        return false;
    memcpy(once->key, key, sizeof key);
    write_source(given, prefix, &text);
    *out = (struct shmt_nvrtc_once_text){
        given->name,
        shmt_text_keep(&text, arena), count, options
    };
    return out->source != NULL;
}

/* -- the file ------------------------------------------------------------- */

static void fail(struct shmt_nvrtc_once *once)
{
    once->failures++;
    if (once->failures >= MOST_FAILURES)
        set_state(once, SHMT_NVRTC_ONCE_OFF);
}

/* NVRTC has a heap of 256 MiB for what the headers say, unless it is told
 * another size. */
static void grow_heap(struct shmt_nvrtc_once *once,
                      const struct shmt_nvrtc_once_calls *calls,
                      nvrtcProgram program)
{
    size_t size = 0;

    fail(once);
    if (calls->GetPCHHeapSizeRequired == NULL ||
        calls->SetPCHHeapSize == NULL ||
        calls->GetPCHHeapSizeRequired(program, &size) != NVRTC_SUCCESS ||
        size > HEAP_BYTES || calls->SetPCHHeapSize(size) != NVRTC_SUCCESS)
        set_state(once, SHMT_NVRTC_ONCE_OFF);
}

void shmt_nvrtc_once_look(struct shmt_nvrtc_once *once,
                          const struct shmt_nvrtc_once_calls *calls,
                          nvrtcProgram program, bool compiled,
                          const char *log)
{
    nvrtcResult outcome;

    if (once->state == SHMT_NVRTC_ONCE_HAS) {
        /* NVRTC says that it does, and nothing else when it does not: a
         * header has changed. */
        if (strstr(log, "using precompiled header file") == NULL)
            set_state(once, SHMT_NVRTC_ONCE_OFF);
        return;
    }
    outcome = calls->GetPCHCreateStatus(program);
    if ((int)outcome == PCH_CREATE_HEAP_EXHAUSTED) {
        grow_heap(once, calls, program);
    } else if (!compiled || outcome != NVRTC_SUCCESS) {
        fail(once);
    } else {
        once->file = open(once->path, O_RDONLY | O_CLOEXEC);
        once->state = once->file >= 0 ? SHMT_NVRTC_ONCE_HAS
                                      : SHMT_NVRTC_ONCE_OFF;
    }
    unlink(once->path);
}

void shmt_nvrtc_once_watch(struct shmt_nvrtc_once *once, double ms)
{
    if (once->state == SHMT_NVRTC_ONCE_WATCHES && ms >= once->least_ms)
        once->state = SHMT_NVRTC_ONCE_WANTS;
}
