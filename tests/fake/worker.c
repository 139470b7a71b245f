/* SPDX-License-Identifier: MIT */
/*
 * worker: a worker that compiles nothing and has no device: it answers the
 * protocol with figures computed from the configuration, and misbehaves as
 * the configuration's word BEHAVE says.  Run like the real one:
 *
 *   worker worker --spec FILE --images DIR --data-seed N --arch sm_90
 *   worker worker --spec FILE --images DIR --data-seed N --device 0
 *
 * FAKE_WORKER_START=refuse   says why and exits 6
 * FAKE_WORKER_START=die      is killed by a signal at once
 * FAKE_WORKER_START=mute     never says hello
 * FAKE_WORKER_START=half     says half of it
 * FAKE_WORKER_START=late     says it after 0.3 s; a line "starts" is in the log,
 *                            and then "ready", of each that has a device
 * FAKE_WORKER_START=twice    says it twice
 * FAKE_WORKER_START=answer   answers before anything was asked
 * FAKE_WORKER_START=ids      gives every answer another tag
 * FAKE_WORKER_START=endless  says hello without an end
 * FAKE_WORKER_START=bare     says it without a device
 * FAKE_WORKER_BUSY_MS=N      really takes so long for each request, and says so
 * FAKE_WORKER_BUSY_FROM=N    but for the first N - 1 measurements of all
 * FAKE_WORKER_BUSY_UNTIL=FILE  until that is there
 * FAKE_WORKER_BESIDE_MS=N    takes so much longer, and does not say so
 * FAKE_WORKER_COMPILE_MS=N   and so long for each compilation
 * FAKE_WORKER_ONCE_MS=N      the first measurement of all takes so much longer,
 *                            and says so
 * FAKE_WORKER_REFERENCE=bad  has no reference; full: no memory for the problem
 * FAKE_WORKER_LOG=FILE       appends a line for each request it begins, and
 *                            the number of its device, where there are several;
 *                            "alone DEVICE" when it starts to see that alone;
 *                            "renew PROBLEM", "forget PROBLEM"
 * FAKE_WORKER_DEVICES=A,B    devices by name, with UUIDs; `--device` is a
 *                            number or the beginning of a UUID
 * FAKE_WORKER_FACTORS=1,1.5  what each takes longer
 * FAKE_WORKER_MEMORY=BYTES   what each has
 * FAKE_WORKER_EXCLUSIVE=FILE a device serves one process at a time
 * FAKE_WORKER_ALONE=FILE     is there while a measurement lasts; one that
 *                            finds it there writes a line "overlap" to the log
 * FAKE_WORKER_MUTE=K,L       the devices of these numbers never say hello
 * FAKE_WORKER_STOPPED=N      a batch system ends it in its first N measurements
 * FAKE_WORKER_BROKEN=K       the device of that number: after 3 measurements
 *                            its worker cannot be started any more
 * FAKE_WORKER_BROKEN_AS=N    which exits with N then, not with 6
 * FAKE_WORKER_KILLED=N       somebody kills that of each Nth request, in turn
 *                            before and after its answer; "killed" is logged
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "device/device.h"
#include "kernel/kernel.h"
#include "landscape.h"
#include "record/record.h"
#include "target/target.h"

struct fake {
    struct shmt_kernel *kernel;
    const char *images;
    const char *device;       /* NULL: compiles only */
    size_t number;            /* of the device */
};

struct request {
    struct shmt_wire_request said;
    const char *behave;
    double busy_ms;           /* that it took */
};

static void say(const struct shmt_wire_reply *reply)
{
    struct shmt_text text = {0};

    shmt_wire_write_reply(reply, &text);
    puts(shmt_text_string(&text));
    fflush(stdout);
    shmt_text_free(&text);
}

static bool is_started(const char *how)
{
    const char *const start = getenv("FAKE_WORKER_START");

    return start != NULL && strcmp(start, how) == 0;
}

/* The k-th of a list with commas, into `out`; false: there are fewer. */
static bool word_of(const char *list, size_t k, char out[64])
{
    for (; list != NULL && k > 0; k--) {
        list = strchr(list, ',');
        list += list != NULL;
    }
    if (list == NULL)
        return false;
    snprintf(out, 64, "%.*s", (int)strcspn(list, ","), list);
    return true;
}

/* The device of that number; false: there is none. */
static bool describe(size_t k, struct shmtune_device *out)
{
    const char *const list = getenv("FAKE_WORKER_DEVICES");
    char name[64];

    if (list == NULL ? k > 0 : !word_of(list, k, name))
        return false;
    shmt_device_for_arch("sm_90", out, NULL);
    snprintf(out->name, sizeof out->name, "Pretended %s",
             list == NULL ? "H100" : name);
    if (getenv("FAKE_WORKER_MEMORY") != NULL)
        out->memory_bytes = strtoll(getenv("FAKE_WORKER_MEMORY"), NULL, 10);
    if (list != NULL)
        snprintf(out->uuid, sizeof out->uuid,
                 "GPU-%08zx-0000-4000-8000-%012zx", k + 0xa0, k);
    return true;
}

static void find(struct fake *fake)
{
    struct shmtune_device device;

    if (getenv("FAKE_WORKER_DEVICES") == NULL)
        return;
    for (size_t k = 0; describe(k, &device); k++)
        if (strncmp(device.uuid, fake->device, strlen(fake->device)) == 0)
            fake->number = k;
    if (fake->device[0] >= '0' && fake->device[0] <= '9')
        fake->number = strtoul(fake->device, NULL, 10);
    if (!describe(fake->number, &device)) {
        fprintf(stderr, "no device \"%s\" (planted)\n", fake->device);
        _exit(6);
    }
}

static void list_devices(void)
{
    struct shmt_wire_reply hello = {.kind = SHMT_WIRE_HELLO,
                                    .has_device = true};

    for (size_t k = 0; describe(k, &hello.device); k++)
        say(&hello);
}

/* How often something was counted by all workers of a run, before this. */
static long count(const struct fake *fake, const char *what, bool once_more)
{
    char path[4096];
    long before;
    int fd;

    snprintf(path, sizeof path, "%s/%s", fake->images, what);
    fd = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
    before = fd < 0 ? -1 : (long)lseek(fd, 0, SEEK_END);
    /* No two of those that write are told the same. */
    if (before >= 0 && once_more)
        before = write(fd, "x", 1) < 0 ? -1 : (long)lseek(fd, 0, SEEK_CUR) - 1;
    if (before < 0)
        perror(path);
    if (fd >= 0)
        close(fd);
    return before;
}

/* Ends with the device, if that is the broken one and has measured enough;
 * counts what it measures. */
static void wear_out(const struct fake *fake, bool measured)
{
    const char *const broken = getenv("FAKE_WORKER_BROKEN");
    const char *const status = getenv("FAKE_WORKER_BROKEN_AS");
    long before;

    if (broken == NULL || fake->device == NULL ||
        strtoul(broken, NULL, 10) != fake->number)
        return;
    before = count(fake, "worn", measured);
    if (before < 0 || before >= 3) {
        fprintf(stderr, "the device has fallen off the bus (planted)\n");
        _exit(status == NULL ? 6 : atoi(status));
    }
}

static void be_mute(const struct fake *fake)
{
    const char *const mute = getenv("FAKE_WORKER_MUTE");
    char word[64];

    for (size_t k = 0; fake->device != NULL && word_of(mute, k, word); k++)
        while (strtoul(word, NULL, 10) == fake->number)
            pause();
}

static void take_alone(void)
{
    const char *const path = getenv("FAKE_WORKER_EXCLUSIVE");
    const int fd =
        path == NULL ? -1 : open(path, O_RDONLY | O_CREAT | O_CLOEXEC, 0600);

    if (path == NULL || flock(fd, LOCK_EX | LOCK_NB) == 0)
        return;
    fprintf(stderr, "the device is in exclusive use (planted)\n");
    _exit(6);
}

static void log_word(const char *word)
{
    const char *const path = getenv("FAKE_WORKER_LOG");
    const int fd = path == NULL
                       ? -1 : open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);

    if (fd >= 0 && write(fd, word, strlen(word)) < 0)
        perror(path);
    if (fd >= 0)
        close(fd);
}

static bool is_alone(int argc, char **argv)
{
    while (argc > 0 && strcmp(argv[argc - 1], "--alone") != 0)
        argc--;
    return argc > 0;
}

static void log_alone(const struct fake *fake)
{
    char line[128];

    snprintf(line, sizeof line, "alone %.96s\n", fake->device);
    log_word(line);
}

static void be_late(const struct fake *fake)
{
    if (fake->images != NULL && fake->device != NULL)
        log_word("starts\n");
    usleep(300000);
    if (fake->images != NULL && fake->device != NULL)
        log_word("ready\n");
}

static void hello(const struct fake *fake)
{
    struct shmt_wire_reply hello = {
        .kind = SHMT_WIRE_HELLO, .nvrtc_version = 13000,
        .has_device = fake->device != NULL && !is_started("bare")};

    if (hello.has_device) {
        describe(fake->number, &hello.device);
        strcpy(hello.protocol, "cold-l2");
    }
    while (is_started("endless"))
        fputs("{hello: 1, ", stdout);
    if (is_started("late"))
        be_late(fake);
    if (is_started("answer"))
        puts("{tag: 0, verdict: ok}");
    say(&hello);
    if (is_started("twice"))
        say(&hello);
}

/* -- what the figures are ------------------------------------------------- */

/* What this device takes longer. */
static double time_of(const struct fake *fake, const struct request *request)
{
    const double us = landscape_us(fake->kernel, &request->said);
    char factor[64];

    return word_of(getenv("FAKE_WORKER_FACTORS"), fake->number, factor)
               ? us * strtod(factor, NULL) : us;
}

static int64_t shared_static(const struct fake *fake,
                             const struct request *request)
{
    struct shmt_kernel_evaluated evaluated;

    shmt_kernel_evaluate(fake->kernel, request->said.problem,
                         request->said.config, &evaluated);
    if (shmt_kernel_evaluate_launches(&evaluated, NULL) != SHMTUNE_OK ||
        evaluated.geometry[0].shared_static < 0)
        return 0;
    return evaluated.geometry[0].shared_static;
}

static void inspect(const struct fake *fake,
                    const struct request *request, struct shmt_result *out)
{
    const uint64_t h = landscape_hash(fake->kernel, &request->said, true);

    out->resources = (struct shmt_resources){
        .registers = 24 + (int)(h % 40),
        .spill_store_bytes = h % 16 == 0 ? 24 : 0,
        .spill_load_bytes = h % 16 == 0 ? 32 : 0,
        .stack_bytes = 0,
        .shared_static_bytes = shared_static(fake, request),
        .constant_bytes = 360,
        .max_threads = 1024,
    };
    if (strcmp(request->behave, "spills") == 0)
        out->resources.spill_store_bytes = 400;
    if (strcmp(request->behave, "not_resident") == 0)
        out->resources.registers = 255;
    if (strcmp(request->behave, "static_lie") == 0)
        out->resources.shared_static_bytes += 128;
    out->compile_ms = 20 + (double)(h % 30);
    if (strcmp(request->behave, "compile_error") == 0)
        shmt_result_set_verdict(out, SHMT_VERDICT_COMPILE_ERROR,
                                "toy.cu(3): error: planted");
    snprintf(out->image, sizeof out->image, "%064llx",
             (unsigned long long)h);
}

static const struct {
    const char *word;
    enum shmt_verdict verdict;
} planted[] = {
    {"wrong", SHMT_VERDICT_WRONG},
    {"unwritten", SHMT_VERDICT_UNWRITTEN},
    {"out_of_bounds", SHMT_VERDICT_OUT_OF_BOUNDS},
    {"unstable", SHMT_VERDICT_UNSTABLE},
    {"out_of_memory", SHMT_VERDICT_OUT_OF_MEMORY},
    {"crash", SHMT_VERDICT_CRASH},
};

static bool first_time(const struct fake *fake, const char *what)
{
    char path[4096];
    int fd;

    snprintf(path, sizeof path, "%s/%s", fake->images, what);
    fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

/* What a variable says; 0: nothing. */
static double asked_ms(const char *name)
{
    const char *const text = getenv(name);
    return text == NULL ? 0 : strtod(text, NULL);
}

/* As what a reference takes that is compiled here. */
static void compile_once(const struct fake *fake, struct shmt_result *out)
{
    const char *const once = getenv("FAKE_WORKER_ONCE_MS");

    if (once == NULL || !first_time(fake, "compiled"))
        return;
    out->once_ms = strtod(once, NULL);
    usleep((useconds_t)(1000 * out->once_ms));
    out->measure_ms += out->once_ms;
}

static void measure(const struct fake *fake,
                    const struct request *request, struct shmt_result *out)
{
    const double us = time_of(fake, request) *
                      (strcmp(request->behave, "slow") == 0 ? 50 : 1);
    const uint64_t h = landscape_hash(fake->kernel, &request->said, false);
    char once[64];

    out->measure_ms = 4 + us / 50 + request->busy_ms;
    compile_once(fake, out);
    snprintf(once, sizeof once, "faded-%llx", (unsigned long long)h);
    if (strcmp(request->behave, "fades") == 0 && !first_time(fake, once)) {
        shmt_result_set_verdict(out, SHMT_VERDICT_UNSTABLE, "planted");
        return;
    }
    for (size_t k = 0; k < sizeof planted / sizeof *planted; k++)
        if (strcmp(request->behave, planted[k].word) == 0) {
            shmt_result_set_verdict(out, planted[k].verdict, "planted");
            return;
        }
    out->sample_count = 7;
    for (unsigned s = 0; s < (unsigned)out->sample_count; s++)
        out->samples_us[s] =
            (float)(us * (1 + 0.0005 * (double)(landscape_mix(h + s) % 7)));
    shmt_result_summarise(out);
    if (strcmp(request->behave, "slow") == 0) {
        out->verdict = SHMT_VERDICT_SLOW;
        out->sample_count = 1;
    }
}

/* -- misbehaviour --------------------------------------------------------- */

static void hang(void)
{
    for (;;)
        pause();
}

/* Half a line, and no more. */
static void say_half(const struct request *request)
{
    printf("{tag: %llu, verdict: o", (unsigned long long)request->said.tag);
    fflush(stdout);
}

/* Instead of an answer to an inspect; or returns. */
static void misbehave_inspect(const struct fake *fake,
                              const struct request *request)
{
    const char *const behave = request->behave;

    if (strcmp(behave, "compile_hang") == 0)
        hang();
    if (strcmp(behave, "compile_half") == 0) {
        say_half(request);
        hang();
    }
    if (strcmp(behave, "compile_wrong_tag") == 0) {
        puts("{tag: 999999999, verdict: ok, registers: 1}");
        fflush(stdout);
    }
    if (strcmp(behave, "compile_die") == 0 ||
        (strcmp(behave, "compile_die_once") == 0 &&
         first_time(fake, "compiler-died"))) {
        fprintf(stderr, "the compiler's own trouble\n");
        abort();
    }
}

/* By a signal, as each process of a job has it. */
static void be_stopped(const struct fake *fake)
{
    const char *const stopped = getenv("FAKE_WORKER_STOPPED");
    char mark[32];

    for (long k = 0; stopped != NULL && k < strtol(stopped, NULL, 10); k++) {
        snprintf(mark, sizeof mark, "stopped-%ld", k);
        if (first_time(fake, mark))
            raise(SIGTERM);
    }
}

/* Ends, when that is due before the answer to request `k` of all, or after. */
static void be_killed(long k, bool answered)
{
    const char *const each = getenv("FAKE_WORKER_KILLED");
    const long n = each == NULL ? 0 : strtol(each, NULL, 10);

    if (n > 0 && k % n == 0 && (k / n % 2 == 0) == answered) {
        log_word("killed\n");
        raise(SIGKILL);
    }
}

static void misbehave_measure(const struct fake *fake,
                              const struct request *request)
{
    const char *const behave = request->behave;

    be_stopped(fake);

    if (strcmp(behave, "die") == 0 ||
        (strcmp(behave, "die_once") == 0 && first_time(fake, "died"))) {
        signal(SIGSEGV, SIG_DFL);
        raise(SIGSEGV);
    }
    if (strcmp(behave, "hang") == 0)
        hang();
    if (strcmp(behave, "partial") == 0) {
        say_half(request);
        _exit(0);
    }
    if (strcmp(behave, "half") == 0) {
        say_half(request);
        hang();
    }
    if (strcmp(behave, "endless") == 0)
        for (;;)
            fputs("xxxxxxxxxxxxxxxx", stdout);
    if (strcmp(behave, "garbage") == 0)
        puts("[1, 2: {");
    if (strcmp(behave, "wrong_tag") == 0)
        puts("{tag: 999999999, verdict: ok, time_us: 0.001}");
    if (strcmp(behave, "zero_byte") == 0)
        fwrite("{tag\0: 1}\n", 1, 10, stdout);
    if (strcmp(behave, "chatty") == 0)
        for (int k = 0; k < 2000; k++)
            fprintf(stderr, "this worker talks a lot, %0400d\n", k);
    fflush(stdout);
}

/* -- requests ------------------------------------------------------------- */

static void keep_log(const struct fake *fake,
                     const struct request *request)
{
    struct shmt_text text = {0};

    if (getenv("FAKE_WORKER_LOG") == NULL)
        return;
    shmt_text_addf(&text, "%s ",
                   request->said.verb == SHMT_TARGET_MEASURE ? "measure"
                                                          : "inspect");
    shmt_kernel_problem_write(fake->kernel, request->said.problem, &text);
    shmt_text_add(&text, " ");
    shmt_kernel_config_write(fake->kernel, request->said.config, &text);
    shmt_text_addf(&text, " by %ld", (long)getpid());
    if (getenv("FAKE_WORKER_DEVICES") != NULL && fake->device != NULL)
        shmt_text_addf(&text, " on %zu", fake->number);
    shmt_text_add(&text, "\n");
    log_word(shmt_text_string(&text));
    shmt_text_free(&text);
}

/* How long the next request is to take. */
static double busy_ms_of_next(const struct fake *fake, bool measured)
{
    const char *const compile = getenv("FAKE_WORKER_COMPILE_MS");
    const char *const from = getenv("FAKE_WORKER_BUSY_FROM");

    if (!measured && compile != NULL)
        return strtod(compile, NULL);
    return from != NULL && (!measured || count(fake, "begun", true) + 1 <
                                             strtol(from, NULL, 10))
               ? 0 : asked_ms("FAKE_WORKER_BUSY_MS");
}

/* How much of it there was until the file was there, if one is awaited. */
static double wait_ms(double all_ms)
{
    const char *const until = getenv("FAKE_WORKER_BUSY_UNTIL");
    const double each_ms = until == NULL ? all_ms : 10;
    double ms = 0;

    for (; ms < all_ms && (until == NULL || access(until, F_OK) != 0);
         ms += each_ms)
        usleep((useconds_t)(1000 * each_ms));
    return ms;
}

/* Takes as long as it is asked to. */
static void spend(const struct fake *fake, struct request *request)
{
    const bool measured = request->said.verb == SHMT_TARGET_MEASURE;
    const char *const alone = measured ? getenv("FAKE_WORKER_ALONE") : NULL;
    const int fd =
        alone == NULL ? -1 : open(alone, O_WRONLY | O_CREAT | O_EXCL, 0600);

    if (alone != NULL && fd < 0)
        log_word("overlap\n");
    request->busy_ms = wait_ms(busy_ms_of_next(fake, measured));
    usleep((useconds_t)(1000 * asked_ms("FAKE_WORKER_BESIDE_MS")));
    if (fd >= 0) {
        close(fd);
        unlink(alone);
    }
}

static void answer(const struct fake *fake, struct request *request)
{
    const char *const reference = getenv("FAKE_WORKER_REFERENCE");
    const bool measured = request->said.verb == SHMT_TARGET_MEASURE;
    const bool dies = getenv("FAKE_WORKER_KILLED") != NULL;
    const long asked = dies ? count(fake, "asked", true) + 1 : 0;
    struct shmt_wire_reply reply = {.kind = SHMT_WIRE_RESULT,
                                    .tag = request->said.tag};

    keep_log(fake, request);
    be_killed(asked, false);
    if (measured)
        wear_out(fake, true);
    spend(fake, request);
    if (measured)
        misbehave_measure(fake, request);
    else
        misbehave_inspect(fake, request);
    shmt_result_clear(&reply.result);
    if (measured && reference != NULL) {
        reply.kind = SHMT_WIRE_ERROR;
        shmt_error_set(&reply.error, strcmp(reference, "full") == 0
                                           ? SHMTUNE_CUDA : SHMTUNE_WRONG_RESULT,
                       "the reference does not run");
    } else if (measured) {
        measure(fake, request, &reply.result);
    } else {
        inspect(fake, request, &reply.result);
    }
    if (is_started("ids"))
        reply.tag += 1000;
    say(&reply);
    be_killed(asked, true);
    if (strcmp(request->behave, "again") == 0)
        for (int k = 0; k < 3; k++)
            say(&reply);
    if (reply.result.verdict == SHMT_VERDICT_CRASH)
        _exit(1);   /* as after a sticky error */
}

static const char *behaviour(const struct fake *fake,
                             const struct request *request)
{
    const struct shmt_kernel *const kernel = fake->kernel;
    for (size_t p = 0; p < kernel->parameter_count; p++)
        if (strcmp(kernel->parameters[p].name, "BEHAVE") == 0)
            return kernel->parameters[p].values[request->said.config[p]].w;
    return "good";
}

static enum shmtune_status take(const struct fake *fake,
                                const char *line, size_t size,
                                struct request *request,
                                struct shmt_error *err)
{
    struct shmt_wire_request *const said = &request->said;
    enum shmtune_status status = shmt_wire_read_request(
        fake->kernel, line, size, said, err);

    if (status != SHMTUNE_OK)
        return status;
    request->behave = behaviour(fake, request);
    if (said->verb == SHMT_TARGET_MEASURE && said->image[0] == '\0')
        return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT, "no image");
    if ((said->verb != SHMT_TARGET_INSPECT) != (fake->device != NULL))
        return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                              "asked the wrong worker");
    return SHMTUNE_OK;
}

static void log_note(const struct fake *fake, const struct request *request)
{
    struct shmt_text line = {0};

    shmt_text_add(&line, request->said.verb == SHMT_TARGET_RENEW ? "renew "
                                                                 : "forget ");
    shmt_kernel_problem_write(fake->kernel, request->said.problem, &line);
    shmt_text_add(&line, "\n");
    log_word(shmt_text_string(&line));
    shmt_text_free(&line);
}

static int read_kernel(struct fake *fake, const char *spec)
{
    struct shmt_error err = {0};

    if (shmt_kernel_read(spec, &fake->kernel, &err) != SHMTUNE_OK)
        fprintf(stderr, "%s\n", err.text);
    return (int)err.status;
}

/* 0, or with what it ends. */
static int serve_another(struct fake *fake, const char *line, size_t size)
{
    struct shmt_arena *const arena = shmt_arena_new();
    const char *spec = "", *arch = "";
    int code = (int)shmt_wire_read_serve(arena, line, size, &spec, &arch,
                                         NULL);

    shmt_kernel_free(fake->kernel);
    fake->kernel = NULL;
    if (code == 0)
        code = read_kernel(fake, spec);
    shmt_arena_free(arena);
    if (code == 0)
        hello(fake);
    return code;
}

static int serve(struct fake *fake)
{
    int code = 0;
    char *line = NULL;
    size_t room = 0;
    ssize_t n;

    while (code == 0 && (n = getline(&line, &room, stdin)) > 0) {
        struct shmt_wire_reply refusal = {.kind = SHMT_WIRE_ERROR};
        struct request request = {.behave = "good"};

        if (shmt_wire_is_serve(line)) {
            code = serve_another(fake, line, (size_t)n);
            continue;
        }
        if (take(fake, line, (size_t)n, &request, &refusal.error) ==
            SHMTUNE_OK) {
            if (request.said.verb == SHMT_TARGET_RENEW ||
                request.said.verb == SHMT_TARGET_FORGET)
                log_note(fake, &request);
            else
                answer(fake, &request);
        } else {
            refusal.tag = request.said.tag;
            say(&refusal);
        }
    }
    free(line);
    return code;
}

static void begin_badly(void)
{
    if (is_started("refuse")) {
        fprintf(stderr, "no driver answers (planted)\n");
        _exit(6);
    }
    if (is_started("die")) {
        fprintf(stderr, "dying at once (planted)\n");
        raise(SIGKILL);
    }
    if (is_started("half")) {
        printf("{hello: 1, nvrtc: 1");
        fflush(stdout);
    }
    if (is_started("mute") || is_started("half"))
        hang();
}

int main(int argc, char **argv)
{
    struct fake fake = {0};
    const char *spec = "";
    int code;

    /* worker worker --describe --device 0 */
    if (argc > 4 && strcmp(argv[2], "--describe") == 0) {
        fake.device = argv[4];
        hello(&fake);
        return 0;
    }
    if (argc > 2 && strcmp(argv[2], "--devices") == 0) {
        list_devices();
        return 0;
    }
    for (int k = 2; k + 1 < argc; k += 2) {
        if (strcmp(argv[k], "--spec") == 0)
            spec = argv[k + 1];
        else if (strcmp(argv[k], "--images") == 0)
            fake.images = argv[k + 1];
        else if (strcmp(argv[k], "--device") == 0)
            fake.device = argv[k + 1];
    }
    begin_badly();
    if (fake.device != NULL && is_alone(argc, argv))
        log_alone(&fake);
    if (fake.device != NULL)
        find(&fake);
    be_mute(&fake);
    wear_out(&fake, false);
    if (fake.device != NULL)
        take_alone();
    code = read_kernel(&fake, spec);
    if (code != 0)
        return code;
    hello(&fake);
    code = serve(&fake);
    shmt_kernel_free(fake.kernel);
    return code;
}
