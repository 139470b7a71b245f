/* SPDX-License-Identifier: MIT */
/*
 * courier: see courier.h.  Called by command/far.c.
 *
 * One function waits: turn(), for the launcher, for standard input and for the
 * next beat.  All that has to wait for something calls it until that has come;
 * a relay that is lost meanwhile ends every one of these waits.
 */
#include "target/courier.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "target/worker.h"

enum {
    PART = 256 << 10,          /* of a file that is being sent */
    ASKED = 64 << 10,          /* a file of more bytes is asked for first: a
                                  question costs a way there and back, which
                                  a smaller one does not cost */
    NOISE = 1 << 20,           /* bytes before the greeting */
};
static const double beat_s = 1;
/* A queue is told of after so long, and then each time it was as long again. */
static const double notice_s = 5;

struct sent {
    const char *name;
    char digest[SHMT_DIGEST_TEXT];
};

struct shmt_courier {
    const struct shmt_courier_options *options;
    struct shmt_arena *arena;
    struct shmt_worker *launcher;
    const char *argv[4];
    /* What the launcher has written last. */
    struct shmt_arena *reading;
    struct shmt_far_note note;
    bool noted;                /* `note` is new */
    bool sending;              /* a file: nothing may come between its bytes */
    bool greeted;
    size_t noise;
    char heard_first[160];     /* of the noise */
    /* Standard input. */
    char *line;                /* SHMT_WIRE_LONGEST + 1 */
    size_t used;
    bool finished;             /* it has ended */
    double seconds;            /* for the next request */
    int answer_ms;             /* that a program took for it */
    /* Files that are there, by the hash of their names. */
    struct sent *sent;
    size_t sent_count, sent_room;
    struct shmt_map names;
    double heard, beaten, begun, told;
    bool lost;
    char why[SHMT_RESULT_REASON];
};

/* -- what is said --------------------------------------------------------- */

static enum shmtune_status say(struct shmt_courier *courier,
                               const struct shmt_far_note *note,
                               struct shmt_error *err)
{
    struct shmt_text text = {0};
    enum shmtune_status status = SHMTUNE_OK;

    shmt_far_write_note(note, &text);
    shmt_text_add(&text, "\n");
    if (text.failed)
        status = shmt_error_memory(err);
    else if (fwrite(text.data, 1, text.length, courier->options->out) !=
                 text.length || fflush(courier->options->out) != 0)
        courier->finished = true;
    shmt_text_free(&text);
    return status;
}

static enum shmtune_status say_text(struct shmt_courier *courier,
                                    enum shmt_far_note_kind kind,
                                    const char *text, struct shmt_error *err)
{
    struct shmt_far_note note = {.kind = kind};

    shmt_error_set(&note.error, SHMTUNE_INTERNAL, "%s", text);
    return say(courier, &note, err);
}

static enum shmtune_status give_order(struct shmt_courier *courier,
                                      const struct shmt_far_order *order,
                                      struct shmt_error *err)
{
    struct shmt_text text = {0};
    enum shmtune_status status;

    shmt_far_write_order(order, &text);
    status = text.failed ? shmt_error_memory(err)
                         : shmt_worker_send(courier->launcher, text.data, err);
    shmt_text_free(&text);
    return status;
}

/* -- losing it ------------------------------------------------------------ */

/* The last line that the launcher wrote to its standard error, without a full
 * stop: what follows has its own. */
static void add_stderr(const struct shmt_courier *courier, char *out,
                       size_t room)
{
    const char *const text = shmt_worker_stderr(courier->launcher);
    size_t end = strlen(text), start;

    while (end > 0 && strchr("\r\n.", text[end - 1]) != NULL)
        end--;
    start = end;
    while (start > 0 && text[start - 1] != '\n')
        start--;
    if (end > start)
        snprintf(out, room, ": %.*s", (int)fmin(189, (double)(end - start)),
                 text + start);
}

/* What the launcher says, as far as it is for people. */
static void add_said(const struct shmt_courier *courier, char *out,
                     size_t room)
{
    size_t used;

    add_stderr(courier, out, room);
    used = strlen(out);
    if (!courier->greeted && courier->heard_first[0] != '\0')
        snprintf(out + used, room - used,
                 "; before a greeting it wrote \"%.60s\"",
                 courier->heard_first);
}

static void lose(struct shmt_courier *courier, const char *why)
{
    char said[300] = "";

    if (courier->lost)
        return;
    courier->lost = true;
    add_said(courier, said, sizeof said);
    snprintf(courier->why, sizeof courier->why, "%.110s%s", why, said);
}

/* -- waiting -------------------------------------------------------------- */

static enum shmtune_status hear_noise(struct shmt_courier *courier,
                                      const char *line)
{
    const char *const inside = strstr(line, SHMT_FAR_GREETING);
    char why[SHMT_RESULT_REASON];

    courier->noise += strlen(line) + 1;
    if (courier->heard_first[0] == '\0')
        snprintf(courier->heard_first, sizeof courier->heard_first, "%s",
                 line);
    if (inside != NULL) {
        snprintf(why, sizeof why, "it has \"%.*s\" before each line: leave "
                 "that out (srun --label)",
                 (int)fmin(20, (double)(inside - line)), line);
        courier->heard_first[0] = '\0';
        lose(courier, why);
    }
    if (courier->noise > NOISE)
        lose(courier, "the launcher writes and writes, and no relay greets");
    return SHMTUNE_OK;
}

static enum shmtune_status hear_line(struct shmt_courier *courier,
                                     const char *line, struct shmt_error *err)
{
    struct shmt_error what = {0};
    char why[SHMT_RESULT_REASON];
    enum shmtune_status status;

    courier->heard = shmt_clock_s();
    if (!courier->greeted && !shmt_far_is_greeting(line) &&
        strncmp(line, "{failed: ", 9) != 0)
        return hear_noise(courier, line);
    shmt_arena_clear(courier->reading);
    status = shmt_far_read_note(courier->reading, line,
                                courier->options->version, &courier->note,
                                &what);
    if (status == SHMTUNE_NO_MEMORY)
        return shmt_error_memory(err);
    if (status != SHMTUNE_OK && line[strcspn(line, "\r")] != '\0') {
        courier->heard_first[0] = '\0';
        lose(courier, "its lines end as a terminal's do: leave that out (-t, "
                      "--tty, --pty)");
        return SHMTUNE_OK;
    }
    if (status != SHMTUNE_OK) {
        snprintf(why, sizeof why, "a line that is no message came: "
                 "\"%.60s\"", line);
        lose(courier, why);
        return SHMTUNE_OK;
    }
    if (courier->note.kind == SHMT_FAR_NOTE_FAILED)
        return shmt_error_set(err, courier->note.error.status, "%s",
                              courier->note.error.text);
    courier->noted = courier->note.kind != SHMT_FAR_NOTE_BEAT;
    return SHMTUNE_OK;
}

/* Takes one note, or what there is of noise. */
static enum shmtune_status hear(struct shmt_courier *courier,
                                struct shmt_error *err)
{
    const char *line = NULL;
    enum shmtune_status status = SHMTUNE_OK;

    while (status == SHMTUNE_OK && !courier->noted && !courier->lost)
        switch (shmt_worker_next(courier->launcher, &line)) {
        case SHMT_WORKER_WROTE_LINE:
            status = hear_line(courier, line, err);
            break;
        case SHMT_WORKER_GARBLED:
            lose(courier, "a line came that is too long or has a zero byte");
            break;
        case SHMT_WORKER_ENDED: {
            char why[160];

            snprintf(why, sizeof why, "the launcher %s",
                     shmt_worker_end_text(courier->launcher));
            lose(courier, why);
            break;
        }
        case SHMT_WORKER_NOTHING:
            return SHMTUNE_OK;
        }
    return status;
}

static void read_input(struct shmt_courier *courier)
{
    const ssize_t n = read(STDIN_FILENO, courier->line + courier->used,
                           SHMT_WIRE_LONGEST - courier->used);

    if (n > 0)
        courier->used += (size_t)n;
    else if (n == 0 || (errno != EINTR && errno != EAGAIN))
        courier->finished = true;
}

static enum shmtune_status keep_beating(struct shmt_courier *courier,
                                        struct shmt_error *err)
{
    const struct shmt_far_order beat = {.kind = SHMT_FAR_BEAT};
    const double now = shmt_clock_s();
    char why[800], said[300] = "";

    if (!courier->greeted && now - courier->told >= notice_s) {
        add_said(courier, said, sizeof said);
        snprintf(why, sizeof why, "waiting for %.100s for %.0f s%s",
                 courier->options->command, now - courier->begun, said);
        courier->told = now + 5 * (now - courier->begun);
        return say_text(courier, SHMT_FAR_NOTE_WAITING, why, err);
    }
    if (courier->greeted &&
        now - courier->heard > courier->options->silence_s) {
        snprintf(why, sizeof why, "nothing came for %.3g s",
                 courier->options->silence_s);
        lose(courier, why);
    }
    if (!courier->greeted || courier->sending ||
        now - courier->beaten < beat_s)
        return SHMTUNE_OK;
    courier->beaten = now;
    return give_order(courier, &beat, err);
}

/* Waits until something has come, or for a moment. */
static enum shmtune_status turn(struct shmt_courier *courier,
                                struct shmt_error *err)
{
    struct pollfd fds[SHMT_WORKER_FDS + 1];
    const bool ending = shmt_worker_ending(courier->launcher);
    enum shmtune_status status;

    shmt_worker_watch(courier->launcher, fds);
    fds[SHMT_WORKER_FDS] = (struct pollfd){
        courier->finished || courier->used == SHMT_WIRE_LONGEST
            ? -1 : STDIN_FILENO, POLLIN, 0};
    if (poll(fds, SHMT_WORKER_FDS + 1, ending ? 2 : 250) < 0)
        return errno == EINTR
                   ? SHMTUNE_OK
                   : shmt_error_system(err, "poll", "the launcher cannot be "
                                       "waited for");
    shmt_worker_serve(courier->launcher, fds);
    if (fds[SHMT_WORKER_FDS].fd >= 0 && fds[SHMT_WORKER_FDS].revents != 0)
        read_input(courier);
    status = hear(courier, err);
    return status == SHMTUNE_OK && !courier->lost
               ? keep_beating(courier, err) : status;
}

static bool is_over(const struct shmt_courier *courier)
{
    return courier->lost || courier->finished || *courier->options->stop != 0;
}

/* Until a note has come, which is then in courier->note. */
static enum shmtune_status await_note(struct shmt_courier *courier,
                                      struct shmt_error *err)
{
    enum shmtune_status status = SHMTUNE_OK;

    courier->noted = false;
    status = hear(courier, err);
    while (status == SHMTUNE_OK && !courier->noted && !is_over(courier))
        status = turn(courier, err);
    return status;
}

static void name_as_here(const struct shmt_courier *courier, char *text,
                         size_t room)
{
    courier->options->rename(courier->options->context, text, room);
}

/* A note of the measure worker goes on to the supervisor. */
static enum shmtune_status pass_on(struct shmt_courier *courier,
                                   struct shmt_error *err)
{
    struct shmt_far_note *const note = &courier->note;

    courier->noted = false;
    if (note->kind != SHMT_FAR_NOTE_REPLY &&
        note->kind != SHMT_FAR_NOTE_DIED) {
        lose(courier, "a message came out of turn");
        return SHMTUNE_OK;
    }
    name_as_here(courier, note->error.text, sizeof note->error.text);
    name_as_here(courier, note->reply.error.text,
                 sizeof note->reply.error.text);
    name_as_here(courier, note->reply.result.reason,
                 sizeof note->reply.result.reason);
    name_as_here(courier, note->reply.note, sizeof note->reply.note);
    note->reply.result.answer_ms = courier->answer_ms;
    courier->answer_ms = 0;
    return say(courier, note, err);
}

/* -- files ---------------------------------------------------------------- */

static struct sent *find_sent(const struct shmt_courier *courier,
                              const char *name)
{
    const uint64_t hash = shmt_map_hash_bytes(name, strlen(name));
    uint32_t at;

    for (size_t probe = 0;
         (at = shmt_map_next(&courier->names, hash, &probe)) != SHMT_MAP_NONE;)
        if (strcmp(courier->sent[at].name, name) == 0)
            return &courier->sent[at];
    return NULL;
}

static enum shmtune_status keep_sent(struct shmt_courier *courier,
                                     const char *name, const char *digest,
                                     struct shmt_error *err)
{
    const uint64_t hash = shmt_map_hash_bytes(name, strlen(name));
    struct sent one = {
        .name = shmt_arena_copy(courier->arena, name, strlen(name))};

    memcpy(one.digest, digest, sizeof one.digest);
    if (one.name == NULL ||
        !shmt_array_reserve(&courier->sent, &courier->sent_room,
                            courier->sent_count + 1, sizeof one) ||
        !shmt_map_add(&courier->names, hash, (uint32_t)courier->sent_count))
        return shmt_error_memory(err);
    courier->sent[courier->sent_count++] = one;
    return SHMTUNE_OK;
}

static enum shmtune_status digest_file(int file, const char *path,
                                       char *part,
                                       char digest[SHMT_DIGEST_TEXT],
                                       struct shmt_error *err)
{
    struct shmt_digest sum;
    ssize_t n;

    shmt_digest_begin(&sum);
    while ((n = shmt_path_read_part(file, part, PART)) > 0)
        shmt_digest_add(&sum, part, (size_t)n);
    shmt_digest_end(&sum, digest);
    return n == 0 && lseek(file, 0, SEEK_SET) == 0
               ? SHMTUNE_OK
               : shmt_error_system(err, path, "cannot be read");
}

/* Whether it has to be sent.  A new measure worker may say hello meanwhile. */
static enum shmtune_status ask_for(struct shmt_courier *courier,
                                   const char *digest, bool *missing,
                                   struct shmt_error *err)
{
    const char *const one[] = {digest};
    const struct shmt_far_order have = {
        .kind = SHMT_FAR_HAVE, .count = 1, .digests = one};
    enum shmtune_status status = give_order(courier, &have, err);

    while (status == SHMTUNE_OK && !is_over(courier)) {
        status = await_note(courier, err);
        if (status != SHMTUNE_OK || !courier->noted)
            continue;
        if (courier->note.kind == SHMT_FAR_NOTE_MISSING) {
            *missing = courier->note.count > 0;
            courier->noted = false;
            break;
        }
        status = pass_on(courier, err);
    }
    return status;
}

static enum shmtune_status send_part(struct shmt_courier *courier, int file,
                                     const char *path, char *part,
                                     uint64_t *left, struct shmt_error *err)
{
    const ssize_t n = shmt_path_read_part(
        file, part, *left < PART ? (size_t)*left : PART);

    if (n < 0)
        return shmt_error_system(err, path, "cannot be read");
    if (n == 0)
        return shmt_error_set(err, SHMTUNE_STORAGE,
                              "%s: it became shorter while it was sent", path);
    *left -= (uint64_t)n;
    return shmt_worker_send_bytes(courier->launcher, part, (size_t)n, err);
}

static enum shmtune_status send_bytes(struct shmt_courier *courier, int file,
                                      const char *path, char *part,
                                      uint64_t bytes, struct shmt_error *err)
{
    enum shmtune_status status = SHMTUNE_OK;

    courier->sending = true;
    while (status == SHMTUNE_OK && bytes > 0 && !is_over(courier)) {
        if (shmt_worker_unsent(courier->launcher) <= PART)
            status = send_part(courier, file, path, part, &bytes, err);
        else
            status = turn(courier, err);
        if (status == SHMTUNE_OK && courier->noted)
            status = pass_on(courier, err);
    }
    courier->sending = false;
    return status;
}

static enum shmtune_status send_file(struct shmt_courier *courier, int file,
                                     const char *path, uint64_t bytes,
                                     const char *name, struct shmt_error *err)
{
    char digest[SHMT_DIGEST_TEXT];
    struct shmt_far_order put = {.kind = SHMT_FAR_PUT, .digest = digest,
                                 .bytes = bytes};
    const struct shmt_far_order lay = {.kind = SHMT_FAR_LAY, .digest = digest,
                                       .name = name};
    bool missing = true;
    char *part = malloc(PART);
    enum shmtune_status status =
        part == NULL ? shmt_error_memory(err)
                     : digest_file(file, path, part, digest, err);

    if (status == SHMTUNE_OK && bytes > ASKED)
        status = ask_for(courier, digest, &missing, err);
    if (status == SHMTUNE_OK && missing && !is_over(courier))
        status = give_order(courier, &put, err);
    if (status == SHMTUNE_OK && missing && !is_over(courier))
        status = send_bytes(courier, file, path, part, bytes, err);
    if (status == SHMTUNE_OK && !is_over(courier))
        status = give_order(courier, &lay, err);
    if (status == SHMTUNE_OK && !is_over(courier))
        status = keep_sent(courier, name, digest, err);
    free(part);
    return status;
}

enum shmtune_status shmt_courier_send(struct shmt_courier *courier,
                                      const char *path, const char *name,
                                      struct shmt_error *err)
{
    size_t bytes = 0;
    int file = -1;
    enum shmtune_status status;

    if (is_over(courier) || find_sent(courier, name) != NULL)
        return SHMTUNE_OK;
    if (!shmt_far_name_valid(name))
        return shmt_error_set(err, SHMTUNE_INVALID_FILE,
                              "%s: a file of this name cannot be sent to a "
                              "far worker", path);
    status = shmt_path_open(path, &file, &bytes, err);
    if (status == SHMTUNE_OK)
        status = send_file(courier, file, path, bytes, name, err);
    if (file >= 0)
        close(file);
    return status;
}

/* -- the measure worker there --------------------------------------------- */

static enum shmtune_status check_greeting(const struct shmt_courier *courier,
                                          struct shmt_error *err)
{
    const struct shmt_far_note *const note = &courier->note;

    if (note->protocol != SHMT_FAR_PROTOCOL)
        return shmt_error_set(err, SHMTUNE_NO_DEVICE,
                              "%s: shmtune %s there speaks version %lld of "
                              "the relay's protocol, shmtune %s here version "
                              "%d; install the same version on both sides",
                              courier->options->command, note->version,
                              (long long)note->protocol,
                              courier->options->version, SHMT_FAR_PROTOCOL);
    if (strcmp(note->version, courier->options->version) != 0)
        return shmt_error_set(err, SHMTUNE_NO_DEVICE,
                              "%s: there it is shmtune %s, here shmtune %s; "
                              "install the same version on both sides, or "
                              "name it by --far-program",
                              courier->options->command, note->version,
                              courier->options->version);
    return SHMTUNE_OK;
}

static enum shmtune_status arrive(struct shmt_courier *courier,
                                  struct shmt_error *err)
{
    const struct shmt_courier_options *const options = courier->options;
    struct shmt_far_order open = {.kind = SHMT_FAR_OPEN};
    enum shmtune_status status = await_note(courier, err);
    struct shmtune_device device;

    if (status != SHMTUNE_OK || is_over(courier))
        return status;
    status = check_greeting(courier, err);
    if (status != SHMTUNE_OK)
        return status;
    courier->greeted = true;
    courier->noted = false;
    device = courier->note.device;
    status = options->arrive(options->context, courier, &device, &open, err);
    if (status == SHMTUNE_OK && !is_over(courier))
        status = give_order(courier, &open, err);
    return status;
}

/* -- what the supervisor says --------------------------------------------- */

static enum shmtune_status ask(struct shmt_courier *courier, const char *line,
                               size_t size, struct shmt_error *err)
{
    const struct shmt_courier_options *const options = courier->options;
    struct shmt_far_note answer = {.kind = SHMT_FAR_NOTE_REPLY};
    struct shmt_far_order order = {
        .kind = SHMT_FAR_ASK, .seconds = courier->seconds, .request = line};
    bool answered = false;
    enum shmtune_status status =
        options->prepare(options->context, courier, line, size, &order.tag,
                         &answered, &answer.reply, err);

    if (status != SHMTUNE_OK || is_over(courier))
        return status;
    courier->answer_ms = answer.reply.result.answer_ms;
    return answered ? say(courier, &answer, err)
                    : give_order(courier, &order, err);
}

static enum shmtune_status obey(struct shmt_courier *courier, const char *line,
                                size_t size, struct shmt_error *err)
{
    const struct shmt_far_order restart = {.kind = SHMT_FAR_RESTART};
    const size_t length = strlen(SHMT_COURIER_SECONDS);

    if (strcmp(line, SHMT_COURIER_RESTART) == 0)
        return give_order(courier, &restart, err);
    if (strncmp(line, SHMT_COURIER_SECONDS, length) == 0) {
        courier->seconds = shmt_text_real(line + length);
        return SHMTUNE_OK;
    }
    return ask(courier, line, size, err);
}

/* The first line of what has come. */
static enum shmtune_status take_input(struct shmt_courier *courier,
                                      bool *taken, struct shmt_error *err)
{
    char *const end = memchr(courier->line, '\n', courier->used);
    size_t size;
    char *line;
    enum shmtune_status status;

    *taken = end != NULL;
    if (end == NULL)
        return courier->used < SHMT_WIRE_LONGEST
                   ? SHMTUNE_OK
                   : shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                                    "a request of more than %d bytes",
                                    (int)SHMT_WIRE_LONGEST);
    size = (size_t)(end - courier->line);
    line = malloc(size + 1);
    if (line == NULL)
        return shmt_error_memory(err);
    memcpy(line, courier->line, size);
    line[size] = '\0';
    courier->used -= size + 1;
    memmove(courier->line, end + 1, courier->used);
    status = obey(courier, line, size, err);
    free(line);
    return status;
}

static enum shmtune_status serve(struct shmt_courier *courier,
                                 struct shmt_error *err)
{
    enum shmtune_status status = SHMTUNE_OK;
    bool taken = false;

    while (status == SHMTUNE_OK && !is_over(courier)) {
        status = hear(courier, err);
        if (status == SHMTUNE_OK && courier->noted)
            status = pass_on(courier, err);
        if (status == SHMTUNE_OK && !is_over(courier))
            status = take_input(courier, &taken, err);
        if (status == SHMTUNE_OK && !taken && !is_over(courier))
            status = turn(courier, err);
    }
    return status;
}

bool shmt_courier_word_valid(const char *word)
{
    static const char safe[] = "abcdefghijklmnopqrstuvwxyz"
                               "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                               "_-./:=@%+,";

    return word[0] != '\0' && word[0] != '-' &&
           word[strspn(word, safe)] == '\0';
}

/* -- the launcher --------------------------------------------------------- */

static enum shmtune_status start(struct shmt_courier *courier,
                                 struct shmt_error *err)
{
    const struct shmt_courier_options *const options = courier->options;
    struct shmt_text text = {0};

    shmt_text_addf(&text, "%s %s worker --far --device %s",
                   options->command, options->program, options->device);
    courier->argv[0] = "/bin/sh";
    courier->argv[1] = "-c";
    courier->argv[2] = shmt_text_keep(&text, courier->arena);
    courier->begun = courier->told = shmt_clock_s();
    return courier->argv[2] == NULL
               ? shmt_error_memory(err)
               : shmt_worker_start(courier->argv, &courier->launcher, err);
}

/* A launcher is told by the end of its input, so that it can give back what it
 * was granted, and by a signal; then it is killed. */
static void end(struct shmt_courier *courier)
{
    const double now_s = shmt_clock_s();

    if (courier->launcher == NULL)
        return;
    if (!courier->lost &&
        !shmt_worker_await_end(courier->launcher,
                               now_s + SHMT_COURIER_GRACE_S / 2.0)) {
        shmt_worker_terminate(courier->launcher);
        shmt_worker_await_end(courier->launcher,
                              now_s + SHMT_COURIER_GRACE_S);
    }
    shmt_worker_free(courier->launcher);
}

enum shmtune_status shmt_courier_run(const struct shmt_courier_options *options,
                                     struct shmt_error *err)
{
    struct shmt_courier courier = {.options = options, .seconds = 60};
    enum shmtune_status status = SHMTUNE_OK;

    /* It ends the launcher also where the tuner was killed: its input ends
     * then, too. */
    prctl(PR_SET_PDEATHSIG, 0);
    courier.arena = shmt_arena_new();
    courier.reading = shmt_arena_new();
    courier.line = malloc(SHMT_WIRE_LONGEST);
    if (courier.arena == NULL || courier.reading == NULL ||
        courier.line == NULL)
        status = shmt_error_memory(err);
    if (status == SHMTUNE_OK)
        status = start(&courier, err);
    if (status == SHMTUNE_OK)
        status = arrive(&courier, err);
    if (status == SHMTUNE_OK)
        status = serve(&courier, err);
    if (status == SHMTUNE_OK && courier.lost)
        status = say_text(&courier, SHMT_FAR_NOTE_LOST, courier.why, err);
    else if (status == SHMTUNE_OK && !courier.finished)
        status = say_text(&courier, SHMT_FAR_NOTE_LOST,
                          "a signal told it to end", err);
    end(&courier);
    shmt_map_free(&courier.names);
    free(courier.sent);
    free(courier.line);
    shmt_arena_free(courier.reading);
    shmt_arena_free(courier.arena);
    return status;
}
