/* SPDX-License-Identifier: MIT */
/*
 * watch: see watch.h.  Called by handle.c, select.c and function.c.
 *
 * Selections are remembered in a table of fixed size whose places are claimed
 * by one exchange, for the hash of kernel, device and problem; who has claimed
 * one writes it, and says so when it is whole.  So nobody waits.  Two problems
 * of one hash would count as one.
 *
 * A fork waits until the list of handles is whole, and its child counts from 0:
 * each process writes what it selected itself.
 */
#include "runtime/watch.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gpu/gpu.h"
#include "record/record.h"
#include "runtime/library.h"

struct seen {
    atomic_uint_least64_t key;         /* 0: free */
    atomic_uint_least64_t count;
    atomic_bool whole;                 /* what follows can be read */
    bool wanted;
    const struct shmtune_kernel *kernel;
    int64_t problem[SHMTUNE_DIMENSIONS];
    char device[sizeof((struct shmtune_device *)0)->name + 1];
};

struct shmt_runtime_watch {
    struct shmt_runtime_watch *next;   /* of those that are open */
    long pid;
    char *log;                         /* a path, "" for the standard error,
                                          NULL: none */
    char *wanted;                      /* a path or NULL */
    atomic_long room;                  /* bytes that the log may take */
    atomic_bool overflowed;
    struct seen seen[SHMT_RUNTIME_WATCHED];
};

/* Those of the process that are open, for its end. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct shmt_runtime_watch *all;

/* -- the log -------------------------------------------------------------- */

/* One write each, so that lines of threads and processes do not mix; where it
 * fails there is nobody to say it to.  Nothing is open between two lines: an
 * application may close what it does not know. */
static void write_line(const struct shmt_runtime_watch *watch,
                       const struct shmt_text *line)
{
    const bool is_file = watch->log[0] != '\0';
    const int fd = is_file ? shmt_path_open_end(watch->log) : STDERR_FILENO;

    if (fd < 0)
        return;
    shmt_path_put(fd, line->data, line->length);
    if (is_file)
        close(fd);
}

static void say(struct shmt_runtime_watch *watch, const char *text)
{
    struct shmt_text line = {0};
    long before;

    if (watch->log == NULL)
        return;
    shmt_text_addf(&line, "shmtune[%ld]: ", (long)getpid());
    shmt_text_add_visible(&line, text);
    shmt_text_add(&line, "\n");
    before = atomic_fetch_sub(&watch->room, (long)line.length);
    if (before > 0 && before <= (long)line.length) {
        shmt_text_clear(&line);
        shmt_text_addf(&line, "shmtune[%ld]: the log has %d bytes of this "
                       "handle, and no more is said\n", (long)getpid(),
                       SHMT_RUNTIME_LOG);
    }
    if (before > 0 && !line.failed)
        write_line(watch, &line);
    else if (before <= 0)
        atomic_store(&watch->room, 0);
    shmt_text_free(&line);
}

static void say_opened(const struct shmtune *library)
{
    const struct shmt_catalogue *const catalogue = library->catalogue;
    struct shmt_text text = {0};
    size_t tunings = 0;

    for (size_t k = 0; k < library->kernel_count; k++)
        tunings += library->kernels[k].tuning_count;
    shmt_text_addf(&text, "open: %zu kernel%s, %zu tuning%s, of",
                   library->kernel_count,
                   shmt_text_plural(library->kernel_count), tunings,
                   shmt_text_plural(tunings));
    for (size_t k = 0; k < catalogue->folder_count; k++)
        shmt_text_addf(&text, " %s", catalogue->folders[k]);
    say(library->watch, shmt_text_string(&text));
    for (size_t k = 0; k < catalogue->note_count; k++) {
        shmt_text_clear(&text);
        shmt_text_addf(&text, "note: %s", catalogue->notes[k]);
        say(library->watch, shmt_text_string(&text));
    }
    shmt_text_free(&text);
}

static void add_problem(const struct shmtune_kernel *kernel,
                        const int64_t *problem, struct shmt_text *text)
{
    shmt_text_addf(text, " %s", kernel->spec->name);
    if (kernel->spec->dimension_count == 0)
        return;
    shmt_text_add(text, ", ");
    shmt_kernel_describe_problem(kernel->spec, problem, text);
}

void shmt_runtime_watch_say(const struct shmtune_kernel *kernel,
                            const struct shmtune_choice *choice,
                            const char *what, const char *said)
{
    struct shmt_text text = {0};

    if (kernel->watch == NULL || kernel->watch->log == NULL)
        return;
    shmt_text_add(&text, what);
    if (choice != NULL) {
        add_problem(kernel, choice->problem, &text);
        shmt_text_add(&text, ": ");
        shmt_kernel_describe_config(kernel->spec, choice->values, &text);
    }
    shmt_text_addf(&text, ": %s", said);
    say(kernel->watch, shmt_text_string(&text));
    shmt_text_free(&text);
}

/* -- selections ----------------------------------------------------------- */

/* "select toy, rows=1000 cols=1000, on "H100": nearest size, BLOCK=128:
 * measured on this device ..., of tunings/toy/h100.yaml, rows=1024
 * cols=1024". */
static void say_selected(const struct shmt_runtime_request *request,
                         enum shmtune_status status,
                         const struct shmtune_choice *choice)
{
    const struct shmtune_kernel *const kernel = request->kernel;
    struct shmt_text text = {0};

    shmt_text_add(&text, "select");
    add_problem(kernel, request->problem, &text);
    shmt_text_addf(&text, ", on \"%.*s\": ",
                   (int)sizeof request->device->name, request->device->name);
    if (status != SHMTUNE_OK) {
        shmt_text_addf(&text, "%s; shmtune_explain says why",
                       shmtune_status_text(status));
    } else {
        shmt_text_addf(&text, "%s, ", shmtune_match_text(choice->match));
        shmt_kernel_describe_config(kernel->spec, choice->values, &text);
        shmt_text_addf(&text, ": %s", choice->reason);
        if (choice->file != NULL)
            shmt_text_addf(&text, ", of %s", choice->file);
        if (choice->tuned_problem != NULL &&
            choice->match != SHMTUNE_EXACT) {
            shmt_text_add(&text, ", ");
            shmt_kernel_describe_problem(kernel->spec, choice->tuned_problem,
                                         &text);
        }
    }
    say(kernel->watch, shmt_text_string(&text));
    shmt_text_free(&text);
}

static uint64_t key_of(const struct shmt_runtime_request *request)
{
    const struct shmtune_device *const device = request->device;
    uint64_t key = shmt_map_hash(
        shmt_map_hash_bytes(device->name,
                            strnlen(device->name, sizeof device->name)),
        (uint64_t)(request->kernel - request->kernel->library->kernels));

    for (size_t k = 0; k < request->kernel->spec->dimension_count; k++)
        key = shmt_map_hash(key, (uint64_t)request->problem[k]);
    return key != 0 ? key : 1;
}

/* The place of the selection; *first: it is a new one, to be written.  NULL:
 * there is no room. */
static struct seen *place_of(struct shmt_runtime_watch *watch, uint64_t key,
                             bool *first)
{
    for (size_t k = 0; k < SHMT_RUNTIME_PROBES; k++) {
        struct seen *const seen =
            &watch->seen[(key + k) % SHMT_RUNTIME_WATCHED];
        uint_least64_t found =
            atomic_load_explicit(&seen->key, memory_order_relaxed);

        *first = found == 0 &&
                 atomic_compare_exchange_strong(&seen->key, &found, key);
        if (*first || found == key)
            return seen;
    }
    return NULL;
}

/* What the application calls its device, in the bytes that a file of what was
 * wanted may have. */
static void keep_name(const char *name, size_t size, char *out)
{
    uint32_t code;

    for (size_t k = 0, length; k < size; k += length) {
        length = shmt_utf8_decode(name + k, size - k, &code);
        if (length > 0 && code >= 0x20 && shmt_utf8_printable(code)) {
            memcpy(out + k, name + k, length);
        } else {
            length = 1;
            out[k] = '?';
        }
    }
    out[size] = '\0';
}

void shmt_runtime_watch_selected(const struct shmt_runtime_request *request,
                                 enum shmtune_status status,
                                 const struct shmtune_choice *choice)
{
    struct shmt_runtime_watch *const watch = request->kernel->watch;
    const struct shmt_kernel *const spec = request->kernel->spec;
    const char *const name = request->device->name;
    bool first;
    struct seen *const seen = place_of(watch, key_of(request), &first);

    if (seen == NULL) {
        if (!atomic_exchange(&watch->overflowed, true))
            say(watch, "select: more different problems than are remembered; "
                "further ones are not said, nor wanted");
        return;
    }
    atomic_fetch_add_explicit(&seen->count, 1, memory_order_relaxed);
    if (!first)
        return;
    seen->kernel = request->kernel;
    for (size_t k = 0; k < spec->dimension_count; k++)
        seen->problem[k] = request->problem[k];
    keep_name(name, strnlen(name, sizeof request->device->name), seen->device);
    seen->wanted = status == SHMTUNE_NO_CONFIGURATION ||
                   (status == SHMTUNE_OK && choice->match != SHMTUNE_EXACT);
    atomic_store_explicit(&seen->whole, true, memory_order_release);
    if (watch->log != NULL)
        say_selected(request, status, choice);
}

/* -- what was wanted ------------------------------------------------------ */

static enum shmtune_status add_wanted(struct seen *seen,
                                      struct shmt_wanted *wanted,
                                      struct shmt_error *err)
{
    const struct shmt_kernel *const spec = seen->kernel->spec;
    struct shmt_setting size[SHMTUNE_DIMENSIONS];
    const struct shmt_wanted_problem one = {
        .kernel = spec->name, .device = seen->device, .size = size,
        .size_count = spec->dimension_count,
        .count = atomic_exchange(&seen->count, 0)};

    if (one.count == 0)
        return SHMTUNE_OK;
    for (size_t k = 0; k < spec->dimension_count; k++)
        size[k] = (struct shmt_setting){
            spec->dimensions[k].name,
            {.type = SHMT_VALUE_INT, .i = seen->problem[k]}};
    return shmt_wanted_add(wanted, &one, err);
}

/* What is written is no longer counted: a handle may be closed after the end of
 * the process has written it.  A child that no handler of a fork has seen has
 * its parent's counts, which the parent writes. */
static void write_wanted(struct shmt_runtime_watch *watch)
{
    struct shmt_wanted *wanted = NULL;
    struct shmt_error err = {0};
    char text[SHMT_ERROR_BYTES + 16];
    enum shmtune_status status = SHMTUNE_OK;

    if (watch->wanted == NULL || watch->pid != (long)getpid())
        return;
    status = shmt_wanted_new(&wanted, &err);
    for (size_t k = 0; status == SHMTUNE_OK && k < SHMT_RUNTIME_WATCHED; k++) {
        struct seen *const seen = &watch->seen[k];

        if (atomic_load_explicit(&seen->whole, memory_order_acquire) &&
            seen->wanted && seen->device[0] != '\0')
            status = add_wanted(seen, wanted, &err);
    }
    if (status == SHMTUNE_OK && wanted->count > 0)
        status = shmt_wanted_merge(wanted, watch->wanted, &err);
    if (status != SHMTUNE_OK) {
        snprintf(text, sizeof text, "wanted: %s", err.text);
        say(watch, text);
    }
    shmt_wanted_free(wanted);
}

/* -- forks ---------------------------------------------------------------- */

static void before_fork(void)
{
    pthread_mutex_lock(&lock);
}

static void after_fork(void)
{
    pthread_mutex_unlock(&lock);
}

/* What another thread was about to write is written by nobody here. */
static void begin_child(void)
{
    for (struct shmt_runtime_watch *watch = all; watch != NULL;
         watch = watch->next) {
        watch->pid = (long)getpid();
        for (size_t k = 0; k < SHMT_RUNTIME_WATCHED; k++) {
            struct seen *const seen = &watch->seen[k];

            if (seen->key == 0)
                continue;
            seen->count = 0;
            if (!seen->whole)
                seen->key = 0;
        }
    }
    after_fork();
}

static int heeding;   /* what came of it */

static void heed_forks(void)
{
    heeding = pthread_atfork(before_fork, after_fork, begin_child);
}

/* -- from the opening to the end ------------------------------------------ */

static void destroy(struct shmt_runtime_watch *watch)
{
    free(watch->log);
    free(watch->wanted);
    free(watch);
}

/* A path that stays right when the current folder changes. */
static char *absolute(const char *path)
{
    struct shmt_arena *const arena = shmt_arena_new();
    const char *const whole =
        arena == NULL ? NULL : shmt_path_absolute(arena, path);
    char *const copy = whole == NULL ? NULL : strdup(whole);

    shmt_arena_free(arena);
    return copy;
}

/* Who asked for a file that cannot be written hears of it as of a file that
 * was left out. */
static enum shmtune_status note_places(struct shmtune *library)
{
    const struct shmt_runtime_watch *const watch = library->watch;
    const char *folder;
    struct shmt_error err;
    enum shmtune_status status = SHMTUNE_OK;
    int fd;

    if (watch->log != NULL && watch->log[0] != '\0') {
        fd = shmt_path_open_end(watch->log);
        if (fd < 0)
            status = shmt_catalogue_note(library->catalogue, "SHMTUNE_LOG: "
                                         "%s: cannot be opened: %s",
                                         watch->log, strerror(errno));
        else
            close(fd);
    }
    if (status != SHMTUNE_OK || watch->wanted == NULL)
        return status;
    folder = shmt_path_folder(library->arena, watch->wanted);
    if (folder == NULL)
        return SHMTUNE_NO_MEMORY;
    if (shmt_path_open_private(folder, false, &fd, &err) != SHMTUNE_OK)
        return shmt_catalogue_note(library->catalogue, "SHMTUNE_WANTED: %s",
                                   err.text);
    close(fd);
    return SHMTUNE_OK;
}

enum shmtune_status shmt_runtime_watch_begin(struct shmtune *library)
{
    const char *const log = shmt_driver_setting("SHMTUNE_LOG");
    const char *const wanted = shmt_driver_setting("SHMTUNE_WANTED");
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    struct shmt_runtime_watch *watch;
    enum shmtune_status status;

    if (log == NULL && wanted == NULL)
        return SHMTUNE_OK;
    if (pthread_once(&once, heed_forks) != 0 || heeding != 0)
        return SHMTUNE_NO_MEMORY;
    watch = calloc(1, sizeof *watch);
    if (watch == NULL)
        return SHMTUNE_NO_MEMORY;
    watch->pid = (long)getpid();
    atomic_init(&watch->room, SHMT_RUNTIME_LOG);
    if (log != NULL)
        watch->log = strcmp(log, "stderr") == 0 ? strdup("") : absolute(log);
    if (wanted != NULL)
        watch->wanted = absolute(wanted);
    if ((log != NULL && watch->log == NULL) ||
        (wanted != NULL && watch->wanted == NULL)) {
        destroy(watch);
        return SHMTUNE_NO_MEMORY;
    }
    library->watch = watch;
    for (size_t k = 0; k < library->kernel_count; k++)
        library->kernels[k].watch = watch;
    pthread_mutex_lock(&lock);
    watch->next = all;
    all = watch;
    pthread_mutex_unlock(&lock);
    status = note_places(library);
    if (watch->log != NULL)
        say_opened(library);
    return status;
}

void shmt_runtime_watch_end(struct shmt_runtime_watch *watch)
{
    if (watch == NULL)
        return;
    pthread_mutex_lock(&lock);
    for (struct shmt_runtime_watch **at = &all; *at != NULL;
         at = &(*at)->next)
        if (*at == watch) {
            *at = watch->next;
            break;
        }
    pthread_mutex_unlock(&lock);
    write_wanted(watch);
    destroy(watch);
}

/* What was never closed.  Threads may still select. */
__attribute__((destructor)) static void write_all(void)
{
    pthread_mutex_lock(&lock);
    for (struct shmt_runtime_watch *watch = all; watch != NULL;
         watch = watch->next)
        write_wanted(watch);
    pthread_mutex_unlock(&lock);
}
