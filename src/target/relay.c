/* SPDX-License-Identifier: MIT */
/*
 * relay: see relay.h.  One loop waits for orders, for the measure worker, and
 * for the next beat; nothing else waits.  Called by command/far.c.
 */
#include "target/relay.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "target/far.h"
#include "target/far_store.h"
#include "target/program.h"
#include "target/supervisor.h"
#include "yaml/yaml.h"

enum { READ = 64 << 10 };

/* The other side beats once a second, but says nothing while it compiles a
 * reference or is stopped at its terminal; a machine that is gone without a
 * word must not hold a GPU for ever. */
static const double silence_s = 300;
static const double beat_s = 1;
/* To open the driver, on a machine with many GPUs that nobody has woken. */
static const double start_s = 60;

struct relay {
    const struct shmt_relay_options *options;
    struct shmt_far_store store;
    char program[4096];
    struct shmt_supervisor child;
    const char *argv[20];
    char seed[24];
    bool opened;
    bool asked;                    /* and not given to the child so far */
    uint64_t tag;
    double seconds;
    struct shmt_text request;
    char *line;                    /* orders that came, SHMT_FAR_LINE */
    size_t used;
    double heard, beaten;          /* on shmt_clock_s */
    bool ended;
};

/* -- what is said --------------------------------------------------------- */

/* All of it, or the other side is gone. */
static bool write_out(const char *data, size_t size)
{
    size_t sent = 0;

    while (sent < size) {
        const ssize_t n = write(STDOUT_FILENO, data + sent, size - sent);

        if (n > 0)
            sent += (size_t)n;
        else if (n < 0 && errno == EAGAIN)
            poll(&(struct pollfd){STDOUT_FILENO, POLLOUT, 0}, 1, 1000);
        else if (n == 0 || errno != EINTR)
            return false;
    }
    return true;
}

static enum shmtune_status say(struct relay *relay,
                               const struct shmt_far_note *note,
                               struct shmt_error *err)
{
    struct shmt_text text = {0};
    enum shmtune_status status = SHMTUNE_OK;

    shmt_far_write_note(note, &text);
    shmt_text_add(&text, "\n");
    if (text.failed)
        status = shmt_error_memory(err);
    else if (!write_out(text.data, text.length))
        relay->ended = true;
    shmt_text_free(&text);
    return status;
}

/* What a child says of the device, which it opens and closes. */
static enum shmtune_status describe(struct relay *relay,
                                    struct shmtune_device *out,
                                    struct shmt_error *err)
{
    static const char name[] = "shmtune: error: ";
    const char *const argv[] = {relay->program, "worker", "--describe",
                                "--device", relay->options->device, NULL};
    const char *output = "", *line, *said;
    struct shmt_wire_reply hello = {0};
    int code = 0;
    enum shmtune_status status =
        shmt_program_run_in(argv, relay->store.scratch.folder, start_s,
                            relay->store.arena, &output, &code, err);

    if (status != SHMTUNE_OK)
        return status;
    line = strstr(output, "{hello: ");
    if (code == 0 && line != NULL) {
        line = shmt_arena_copy(relay->store.arena, line, strcspn(line, "\n"));
        status = line == NULL ? shmt_error_memory(err)
                              : shmt_wire_read_reply(line, &hello, err);
        *out = hello.device;
        if (status == SHMTUNE_NO_MEMORY ||
            (status == SHMTUNE_OK && hello.has_device))
            return status;
    }
    said = strstr(output, name);
    said = said == NULL ? output : said + strlen(name);
    return shmt_error_set(err, code > 0 && code < 100
                                   ? (enum shmtune_status)code
                                   : SHMTUNE_INTERNAL,
                          "%.*s", (int)fmin(900, (double)strcspn(said, "\n")),
                          said);
}

static enum shmtune_status greet(struct relay *relay, struct shmt_error *err)
{
    struct shmt_far_note greeting = {.kind = SHMT_FAR_NOTE_GREETING,
                                     .protocol = SHMT_FAR_PROTOCOL,
                                     .version = relay->options->version};
    const enum shmtune_status status =
        describe(relay, &greeting.device, err);

    return status == SHMTUNE_OK ? say(relay, &greeting, err) : status;
}

/* -- orders --------------------------------------------------------------- */

static enum shmtune_status do_have(struct relay *relay,
                                   const struct shmt_far_order *order,
                                   struct shmt_error *err)
{
    struct shmt_far_note note = {.kind = SHMT_FAR_NOTE_MISSING};
    const struct shmt_far_note beat = {.kind = SHMT_FAR_NOTE_BEAT};
    const char *missing[SHMT_FAR_FILES];
    enum shmtune_status status = SHMTUNE_OK;

    for (size_t k = 0; status == SHMTUNE_OK && k < order->count; k++) {
        if (!shmt_far_store_has(&relay->store, order->digests[k]))
            missing[note.count++] = order->digests[k];
        status = say(relay, &beat, err);   /* reading takes its time */
    }
    note.digests = missing;
    return status == SHMTUNE_OK ? say(relay, &note, err) : status;
}

static enum shmtune_status do_open(struct relay *relay,
                                   const struct shmt_far_order *order,
                                   struct shmt_error *err)
{
    struct shmt_arena *arena = relay->store.arena;
    const size_t folder = strlen(SHMT_FAR_TREE);
    const char *const words[] = {
        relay->program, "worker", "--spec",
        shmt_arena_copy(arena, order->name + folder,
                        strlen(order->name) - folder),
        "--images", relay->store.images, "--data-seed", relay->seed,
        "--data-digest", shmt_arena_copy(arena, order->data_digest,
                                         strlen(order->data_digest)),
        "--compiler", shmt_arena_copy(arena, order->compiler,
                                      strlen(order->compiler)),
        "--device", relay->options->device, NULL};

    if (relay->opened || strncmp(order->name, SHMT_FAR_TREE, folder) != 0)
        return shmt_error_set(err, SHMTUNE_INVALID_FILE,
                              "open: %s, %s", order->name, relay->opened
                              ? "a second time" : "which is no spec");
    if (words[3] == NULL || words[9] == NULL || words[11] == NULL)
        return shmt_error_memory(err);
    /* Messages of the worker then name files as the other side does. */
    if (chdir(relay->store.tree) != 0)
        return shmt_error_system(err, relay->store.tree, "cannot be entered");
    snprintf(relay->seed, sizeof relay->seed, "%llu",
             (unsigned long long)order->data_seed);
    memcpy(relay->argv, words, sizeof words);
    relay->child = (struct shmt_supervisor){
        .argv = relay->argv, .what = "measure worker",
        .start_deadline_s = start_s};
    relay->opened = true;
    return SHMTUNE_OK;
}

static enum shmtune_status do_ask(struct relay *relay,
                                  const struct shmt_far_order *order,
                                  struct shmt_error *err)
{
    if (!relay->opened || relay->asked ||
        relay->child.state == SHMT_SUPERVISOR_BUSY)
        return shmt_error_set(err, SHMTUNE_INVALID_FILE,
                              "a request before the spec was opened, or "
                              "before the last one was answered");
    shmt_text_clear(&relay->request);
    shmt_text_add(&relay->request, order->request);
    relay->asked = true;
    relay->tag = order->tag;
    relay->seconds = order->seconds;
    return relay->request.failed ? shmt_error_memory(err) : SHMTUNE_OK;
}

static enum shmtune_status obey(struct relay *relay, const char *line,
                                size_t size, struct shmt_error *err)
{
    struct shmt_arena *const arena = shmt_arena_new();
    struct shmt_far_order order;
    enum shmtune_status status =
        arena == NULL ? shmt_error_memory(err)
                      : shmt_far_read_order(arena, line, size, &order, err);

    if (status == SHMTUNE_OK)
        switch (order.kind) {
        case SHMT_FAR_HAVE:
            status = do_have(relay, &order, err);
            break;
        case SHMT_FAR_PUT:
            status = shmt_far_store_begin(&relay->store, order.digest,
                                          order.bytes, err);
            break;
        case SHMT_FAR_LAY:
            status = shmt_far_store_lay(&relay->store, order.digest,
                                        order.name, err);
            break;
        case SHMT_FAR_OPEN:
            status = do_open(relay, &order, err);
            break;
        case SHMT_FAR_ASK:
            status = do_ask(relay, &order, err);
            break;
        case SHMT_FAR_RESTART:
            relay->asked = false;
            if (relay->opened)
                shmt_supervisor_close(&relay->child);
            break;
        case SHMT_FAR_BEAT:
            break;
        }
    shmt_arena_free(arena);
    return status;
}

/* Takes what has come: parts of a file, and lines. */
static enum shmtune_status take(struct relay *relay, struct shmt_error *err)
{
    enum shmtune_status status = SHMTUNE_OK;
    size_t at = 0;

    while (status == SHMTUNE_OK && at < relay->used) {
        const char *const from = relay->line + at;
        const size_t rest = relay->used - at;
        const char *end;

        if (relay->store.file >= 0) {
            const size_t part =
                rest < relay->store.left ? rest : (size_t)relay->store.left;

            status = shmt_far_store_add(&relay->store, from, part, err);
            at += part;
            continue;
        }
        end = memchr(from, '\n', rest);
        if (end == NULL)
            break;
        status = obey(relay, from, (size_t)(end - from), err);
        at += (size_t)(end - from) + 1;
    }
    relay->used -= at;
    memmove(relay->line, relay->line + at, relay->used);
    if (status == SHMTUNE_OK && relay->used == SHMT_FAR_LINE)
        status = shmt_error_set(err, SHMTUNE_INVALID_FILE,
                                "an order of more than %d bytes",
                                (int)SHMT_FAR_LINE);
    return status;
}

static enum shmtune_status hear(struct relay *relay, struct shmt_error *err)
{
    const size_t room = SHMT_FAR_LINE - relay->used;
    const ssize_t n = read(STDIN_FILENO, relay->line + relay->used,
                           room < READ ? room : READ);

    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return SHMTUNE_OK;
    relay->heard = shmt_clock_s();
    if (n <= 0) {
        relay->ended = true;
        return SHMTUNE_OK;
    }
    relay->used += (size_t)n;
    return take(relay, err);
}

/* -- the measure worker --------------------------------------------------- */

static enum shmtune_status report(struct relay *relay,
                                  enum shmt_supervisor_event event,
                                  struct shmt_error *err)
{
    struct shmt_far_note note = {.kind = SHMT_FAR_NOTE_REPLY};

    /* Of a signal that somebody sent: the next worker is asked again.  Where
     * the whole job got it, the loop ends, and the other side asks another. */
    if (event == SHMT_SUPERVISOR_LOST) {
        relay->asked = true;
        return SHMTUNE_OK;
    }
    if (event != SHMT_SUPERVISOR_DIED) {
        note.reply = relay->child.message;
        return say(relay, &note, err);
    }
    note.kind = SHMT_FAR_NOTE_DIED;
    note.tag = relay->child.tag;
    note.timed_out = relay->child.timed_out;
    shmt_error_set(&note.error, SHMTUNE_INTERNAL, "%s", relay->child.why);
    return say(relay, &note, err);
}

static enum shmtune_status serve_child(struct relay *relay,
                                       struct shmt_error *err)
{
    enum shmt_supervisor_event event = SHMT_SUPERVISOR_NOTHING;
    enum shmtune_status status = SHMTUNE_OK;

    if (!relay->opened)
        return SHMTUNE_OK;
    do {
        status = shmt_supervisor_step(&relay->child, &event, err);
        if (status == SHMTUNE_OK && event != SHMT_SUPERVISOR_NOTHING)
            status = report(relay, event, err);
    } while (status == SHMTUNE_OK && event != SHMT_SUPERVISOR_NOTHING);
    if (status == SHMTUNE_OK && relay->asked &&
        relay->child.state == SHMT_SUPERVISOR_IDLE &&
        !shmt_worker_ending(relay->child.worker)) {
        relay->asked = false;
        status = shmt_supervisor_send(&relay->child,
                                      shmt_text_string(&relay->request),
                                      relay->tag, relay->seconds, err);
    }
    return status;
}

/* -- the loop ------------------------------------------------------------- */

static enum shmtune_status beat(struct relay *relay, struct shmt_error *err)
{
    const struct shmt_far_note note = {.kind = SHMT_FAR_NOTE_BEAT};
    const double now = shmt_clock_s();

    if (now - relay->heard > silence_s)
        relay->ended = true;
    if (now - relay->beaten < beat_s)
        return SHMTUNE_OK;
    relay->beaten = now;
    return say(relay, &note, err);
}

static enum shmtune_status turn(struct relay *relay, struct shmt_error *err)
{
    struct pollfd fds[1 + SHMT_WORKER_FDS] = {{STDIN_FILENO, POLLIN, 0}};
    double patience = beat_s;
    enum shmtune_status status = SHMTUNE_OK;
    int found;

    for (int k = 1; k <= SHMT_WORKER_FDS; k++)
        fds[k].fd = -1;
    if (relay->opened && relay->child.worker != NULL)
        shmt_worker_watch(relay->child.worker, fds + 1);
    if (relay->opened)
        patience = fmin(patience, shmt_supervisor_timeout(&relay->child));
    found = poll(fds, 1 + SHMT_WORKER_FDS, (int)ceil(patience * 1000));
    if (found < 0 && errno != EINTR)
        return shmt_error_system(err, "poll", "the worker cannot be waited "
                                 "for");
    if (found > 0 && relay->opened && relay->child.worker != NULL)
        shmt_worker_serve(relay->child.worker, fds + 1);
    if (found > 0 && fds[0].revents != 0)
        status = hear(relay, err);
    if (status == SHMTUNE_OK)
        status = serve_child(relay, err);
    return status == SHMTUNE_OK ? beat(relay, err) : status;
}

static enum shmtune_status run(struct relay *relay, struct shmt_error *err)
{
    enum shmtune_status status = shmt_far_store_open(&relay->store, err);

    relay->line = malloc(SHMT_FAR_LINE);
    if (status == SHMTUNE_OK && relay->line == NULL)
        status = shmt_error_memory(err);
    if (status == SHMTUNE_OK && relay->options->program == NULL)
        status = shmt_worker_own_path(relay->program, sizeof relay->program,
                                      err);
    else if (status == SHMTUNE_OK)
        snprintf(relay->program, sizeof relay->program, "%s",
                 relay->options->program);
    /* Ends what a login may have written without an end. */
    if (status == SHMTUNE_OK && !write_out("\n", 1))
        relay->ended = true;
    if (status == SHMTUNE_OK)
        status = greet(relay, err);
    relay->heard = relay->beaten = shmt_clock_s();
    while (status == SHMTUNE_OK && !relay->ended &&
           *relay->options->stop == 0)
        status = turn(relay, err);
    return status;
}

enum shmtune_status shmt_relay_run(const struct shmt_relay_options *options,
                                   struct shmt_error *err)
{
    struct relay relay = {.options = options};
    struct shmt_far_note last = {.kind = SHMT_FAR_NOTE_FAILED};
    enum shmtune_status status;

    signal(SIGPIPE, SIG_IGN);
    status = run(&relay, &last.error);
    if (status != SHMTUNE_OK && !relay.ended)
        (void)say(&relay, &last, NULL);
    if (status != SHMTUNE_OK)
        shmt_error_set(err, status, "%s", last.error.text);
    if (relay.opened)
        shmt_supervisor_close(&relay.child);
    shmt_far_store_close(&relay.store);
    shmt_text_free(&relay.request);
    free(relay.line);
    return status;
}
