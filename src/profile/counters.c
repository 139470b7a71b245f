/* SPDX-License-Identifier: MIT */
/*
 * counters: finds ncu, runs it with our own worker as its child, sends the
 * worker requests through a file, and matches the rows of ncu's log to
 * configurations.  Called by command/explain.c; command/doctor.c asks where ncu
 * is.
 */
#define _GNU_SOURCE   /* secure_getenv */
#include "profile/profile.h"

#include <errno.h>
#include <glob.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"
#include "target/target.h"

/* -- where ncu is ---------------------------------------------------------- */

/* Of several versions the last one by name. */
static bool try_pattern(const char *pattern, char *out, size_t room)
{
    glob_t found = {0};
    bool any = false;

    if (glob(pattern, 0, NULL, &found) == 0)
        for (size_t k = found.gl_pathc; k > 0 && !any; k--)
            any = (size_t)snprintf(out, room, "%s", found.gl_pathv[k - 1]) <
                      room &&
                  shmt_path_is_program(out);
    globfree(&found);
    return any;
}

/* What was named is that, or why not is told. */
static enum shmtune_status take_named(const char *named, char *out,
                                      size_t room, struct shmt_error *err)
{
    const bool fits = named[0] == '/' &&
                      (size_t)snprintf(out, room, "%s", named) < room;
    struct stat about;
    const bool may_run =
        fits && stat(named, &about) == 0 && access(named, X_OK) == 0;

    if (may_run && S_ISREG(about.st_mode))
        return SHMTUNE_OK;
    if (fits && !may_run && errno != ENOENT && errno != ENOTDIR)
        return shmt_error_system(err, named, "$SHMTUNE_NCU cannot be run");
    return shmt_error_set(err, SHMTUNE_NOT_FOUND,
                          "$SHMTUNE_NCU is \"%s\", which is not the "
                          "absolute path of a program", named);
}

enum shmtune_status shmt_counters_program(char *out, size_t room,
                                          struct shmt_error *err)
{
    static const char *const patterns[] = {
        "/usr/local/cuda/bin/ncu", "/usr/local/cuda*/bin/ncu",
        "/opt/nvidia/nsight-compute/*/ncu",
    };
    const char *const named = secure_getenv("SHMTUNE_NCU");
    const char *const cuda = secure_getenv("CUDA_HOME");
    char folder[4096];

    if (named != NULL && named[0] != '\0')
        return take_named(named, out, room, err);
    if (shmt_path_find_program(getenv("PATH"), "ncu", out, room))
        return SHMTUNE_OK;
    if (cuda != NULL &&
        (size_t)snprintf(folder, sizeof folder, "%s/bin", cuda) <
            sizeof folder &&
        shmt_path_find_program(folder, "ncu", out, room))
        return SHMTUNE_OK;
    for (size_t k = 0; k < sizeof patterns / sizeof patterns[0]; k++)
        if (try_pattern(patterns[k], out, room))
            return SHMTUNE_OK;
    return shmt_error_set(err, SHMTUNE_NOT_FOUND,
                          "counters are read by Nsight Compute's ncu, which "
                          "is neither in $PATH nor in $CUDA_HOME/bin, "
                          "/usr/local/cuda*/bin or /opt/nvidia/"
                          "nsight-compute/*: install it (it comes with the "
                          "CUDA toolkit; on its own as nsight-compute), or "
                          "name it in $SHMTUNE_NCU");
}

/* -- one collection -------------------------------------------------------- */

/* Deadlines: for starting both programs, and for each configuration, which ncu
 * runs once for each group of counters. */
static const double START_S = 60, EACH_S = 30;
enum { ATTEMPTS = 3, WORDS = 48 };

/* One collection. */
struct collection {
    const struct shmt_counters_request *request;
    struct shmt_arena *arena;
    struct shmt_scratch scratch;
    char requests[640], log[640], images[640];
    char ncu[4096], self[4096];
    const char *program;                /* of the worker */
    char seed[24];
    bool left_out[SHMT_METRIC_COUNT];   /* metrics that this version of ncu
                                           does not know */
    const char *text;                   /* of the log */
    size_t size;
    struct shmt_error refused;          /* what the worker said */
    size_t answers;
};

/* -- what is asked -------------------------------------------------------- */

static const shmt_config *choice_at(const struct shmt_counters_request *request,
                                    size_t k)
{
    return request->configs + k * request->kernel->parameter_count;
}

static enum shmtune_status make_folder(struct collection *c,
                                       struct shmt_error *err)
{
    const char *const folder = c->scratch.folder;
    const enum shmtune_status status =
        shmt_scratch_make("shmtune-counters", &c->scratch, err);

    snprintf(c->requests, sizeof c->requests, "%s/requests", folder);
    snprintf(c->log, sizeof c->log, "%s/counters.csv", folder);
    snprintf(c->images, sizeof c->images, "%s/images", folder);
    return status;
}

static enum shmtune_status write_requests(struct collection *c,
                                          struct shmt_error *err)
{
    const struct shmt_counters_request *const request = c->request;
    struct shmt_wire_request message = {.verb = SHMT_TARGET_PROFILE};
    struct shmt_text text = {0};
    enum shmtune_status status;
    const struct shmt_kernel *const kernel = request->kernel;

    memcpy(message.problem, request->problem,
           kernel->dimension_count * sizeof *message.problem);
    for (size_t k = 0; k < request->count; k++) {
        message.tag = k;
        memcpy(message.config, choice_at(request, k),
               kernel->parameter_count * sizeof *message.config);
        shmt_wire_write_request(kernel, &message, &text);
        shmt_text_add(&text, "\n");
    }
    status = text.failed ? shmt_error_memory(err)
                         : shmt_path_write(c->requests, text.data,
                                           text.length, err);
    shmt_text_free(&text);
    return status;
}

static void list_metrics(const struct collection *c, struct shmt_text *text)
{
    for (int m = 0; m < SHMT_METRIC_COUNT; m++)
        if (!c->left_out[m])
            shmt_text_addf(text, "%s%s", text->length > 0 ? "," : "",
                           shmt_metric_name((enum shmt_metric)m));
}

static enum shmtune_status start(struct collection *c,
                                 struct shmt_worker **out,
                                 struct shmt_error *err)
{
    const struct shmt_counters_request *const request = c->request;
    struct shmt_text metrics = {0};
    enum shmtune_status status;

    c->program = request->worker != NULL ? request->worker : c->self;
    list_metrics(c, &metrics);
    const char *const argv[WORDS] = {
        c->ncu, "--csv", "--page", "raw", "--print-units", "base",
        "--log-file", c->log, "--profile-from-start", "off",
        "--cache-control", "all", "--clock-control", "none", "--metrics",
        shmt_text_string(&metrics),
        c->program, "worker", "--spec", request->kernel->path,
        "--images", c->images,
        "--data-seed", c->seed, "--device", request->device,
        "--requests", c->requests, NULL
    };
    unlink(c->log);
    status = metrics.failed ? shmt_error_memory(err)
                            : shmt_worker_start(argv, out, err);
    shmt_text_free(&metrics);
    return status;
}

/* -- while it runs -------------------------------------------------------- */

static void describe_failure(struct collection *c,
                             const struct shmt_wire_reply *message)
{
    const struct shmt_kernel *const kernel = c->request->kernel;
    struct shmt_text text = {0};

    if (c->refused.status != SHMTUNE_OK)
        return;
    if (message->tag < c->request->count)
        shmt_kernel_describe_config(kernel, choice_at(c->request, message->tag),
                                    &text);
    if (message->kind == SHMT_WIRE_ERROR)
        shmt_error_set(&c->refused, message->error.status, "%s: %s",
                       shmt_text_string(&text), message->error.text);
    else
        shmt_error_set(&c->refused, SHMTUNE_WRONG_RESULT, "%s: %s%s%s",
                       shmt_text_string(&text),
                       shmt_verdict_text(message->result.verdict),
                       message->result.reason[0] == '\0' ? "" : ": ",
                       message->result.reason);
    shmt_text_free(&text);
}

/* Answers come in the order of the requests, each once.  Whatever is not
 * answered so would put one configuration's counters beside another's. */
static void refuse_reply(struct collection *c, uint64_t tag)
{
    if (c->answers >= c->request->count)
        shmt_error_set(&c->refused, SHMTUNE_INTERNAL,
                       "the worker gave %zu answers to %zu requests: another "
                       "one to request %llu; is %s a worker of this version?",
                       c->answers + 1, c->request->count,
                       (unsigned long long)tag, c->program);
    else
        shmt_error_set(&c->refused, SHMTUNE_INTERNAL,
                       "the worker answered request %llu, expected the answer "
                       "to request %zu of %zu; is %s a worker of this "
                       "version?", (unsigned long long)tag, c->answers,
                       c->request->count, c->program);
}

/* Lines of ncu may come between the worker's replies: they are skipped. */
static void read_reply(struct collection *c, const char *line)
{
    struct shmt_wire_reply message;
    enum shmtune_status status;

    if (line[0] != '{')
        return;
    status = shmt_wire_read_reply(line, &message, NULL);
    if (status == SHMTUNE_NO_MEMORY)
        shmt_error_memory(&c->refused);
    if (status != SHMTUNE_OK || message.kind == SHMT_WIRE_HELLO)
        return;
    if (message.tag != c->answers || c->answers >= c->request->count) {
        /* It could not read which request it was. */
        if (c->refused.status == SHMTUNE_OK &&
            message.kind == SHMT_WIRE_ERROR)
            c->refused = message.error;
        if (c->refused.status == SHMTUNE_OK)
            refuse_reply(c, message.tag);
        return;
    }
    c->answers++;
    if (message.kind == SHMT_WIRE_ERROR ||
        message.result.verdict != SHMT_VERDICT_OK)
        describe_failure(c, &message);
}

static enum shmtune_status wait_for_ncu(struct collection *c,
                                        struct shmt_worker *worker,
                                        struct shmt_error *err)
{
    const double wanted = c->request->deadline_s;
    const double limit = wanted > 0 ? wanted
                         : START_S + EACH_S * (double)c->request->count;
    const double deadline = shmt_clock_s() + limit;
    struct pollfd fds[SHMT_WORKER_FDS];
    const char *line = NULL;

    for (;;) {
        switch (shmt_worker_next(worker, &line)) {
        case SHMT_WORKER_WROTE_LINE:
            read_reply(c, line);
            continue;
        case SHMT_WORKER_ENDED:
            return SHMTUNE_OK;
        case SHMT_WORKER_GARBLED:
            return shmt_error_set(err, SHMTUNE_INTERNAL, "%s wrote a line "
                                  "that is too long or holds a zero byte",
                                  c->ncu);
        case SHMT_WORKER_NOTHING:
            break;
        }
        if (c->request->stop != NULL && *c->request->stop)
            return shmt_error_set(err, SHMTUNE_INTERRUPTED,
                                  "interrupted while counters were read");
        if (shmt_clock_s() > deadline)
            return shmt_error_set(err, SHMTUNE_CUDA, "%s did not end within "
                                  "%.0f s", c->ncu, limit);
        shmt_worker_watch(worker, fds);
        if (poll(fds, SHMT_WORKER_FDS,
                 shmt_worker_ending(worker) ? 5 : 250) > 0)
            shmt_worker_serve(worker, fds);
    }
}

/* -- what came of it ------------------------------------------------------ */

static enum shmtune_status read_log(struct collection *c,
                                    struct shmt_error *err)
{
    enum shmtune_status status =
        shmt_path_read(c->arena, c->log, SHMT_COUNTERS_BYTES, &c->text,
                       &c->size, err);

    if (status == SHMTUNE_NOT_FOUND) {
        c->text = "";
        c->size = 0;
        return SHMTUNE_OK;
    }
    return status;
}

/* The first line of ncu's remarks of that kind; its length, or 0. */
static size_t find_remark(const struct collection *c, const char *mark,
                          const char **out)
{
    const char *const found = strstr(c->text, mark);
    size_t length;

    if (found == NULL)
        return 0;
    *out = found + strlen(mark);
    *out += strspn(*out, " ");
    length = strcspn(*out, "\r\n");
    return length < 400 ? length : 400;
}

static enum shmtune_status explain_end(struct collection *c,
                                       struct shmt_worker *worker,
                                       struct shmt_error *err)
{
    const int code = shmt_worker_exit_status(worker);
    const int deaf = shmt_worker_deaf(worker);
    const char *remark = NULL;
    size_t length = find_remark(c, "==ERROR==", &remark);

    if (strstr(c->text, "ERR_NVGPUCTRPERM") != NULL ||
        strstr(shmt_worker_stderr(worker), "ERR_NVGPUCTRPERM") != NULL)
        return shmt_error_set(
            err, SHMTUNE_CUDA,
            "the driver does not let this user read counters "
            "(ERR_NVGPUCTRPERM): run as root, give a container "
            "--cap-add=SYS_ADMIN, or have the driver loaded with "
            "NVreg_RestrictProfilingToAdminUsers=0 (options nvidia ... in "
            "/etc/modprobe.d)");
    if (c->refused.status != SHMTUNE_OK)
        return shmt_error_set(err, c->refused.status, "%s", c->refused.text);
    if (length > 0)
        return shmt_error_set(err, SHMTUNE_CUDA, "%s: %.*s", c->ncu,
                              (int)length, remark);
    if (deaf != 0)
        return shmt_error_set(err, SHMTUNE_STORAGE, "%s: what it writes "
                              "cannot be read: %s", c->ncu, strerror(deaf));
    /* ncu ends with what its child ended with: our worker, which was not
     * started wrongly. */
    if (code != 0 || c->answers < c->request->count)
        return shmt_error_set(
            err, code > SHMTUNE_INVALID_ARGUMENT && code < 100
                     ? (enum shmtune_status)code
                     : SHMTUNE_CUDA,
            "%s %s after %zu of %zu configurations%s%.400s", c->ncu,
            shmt_worker_end_text(worker), c->answers, c->request->count,
            shmt_worker_stderr(worker)[0] == '\0' ? "" : ": ",
            shmt_worker_stderr(worker));
    return SHMTUNE_OK;
}

/* Drops the metrics that ncu reports as unknown, so that the next attempt does
 * not request them. */
static bool drop_unknown_metrics(struct collection *c)
{
    bool any = false;

    for (int m = 0; m < SHMT_METRIC_COUNT; m++) {
        const char *const name = shmt_metric_name((enum shmt_metric)m);
        const size_t stem = strcspn(name, ".");
        const char *at = c->text;

        while (!c->left_out[m] && (at = strstr(at, "==ERROR==")) != NULL) {
            const char *const end = at + strcspn(at, "\r\n");

            for (; at < end; at++)
                if (strncmp(at, name, stem) == 0)
                    any = c->left_out[m] = true;
        }
    }
    return any;
}

/* -- rows to configurations ----------------------------------------------- */

/* A function of the host launches as many kernels as it likes: its
 * configurations are counted one at a time. */
static bool launches_itself(const struct shmt_counters_request *request)
{
    return request->kernel->launches[0].host;
}

static enum shmtune_status count_launches(const struct collection *c, size_t k,
                                          size_t *out, struct shmt_error *err)
{
    struct shmt_kernel_evaluated evaluated;
    enum shmtune_status status;

    shmt_kernel_evaluate(c->request->kernel, c->request->problem,
                         choice_at(c->request, k), &evaluated);
    status = shmt_kernel_evaluate_launches(&evaluated, err);
    *out = 0;
    for (size_t i = 0; status == SHMTUNE_OK && i < evaluated.launch_count; i++)
        *out += evaluated.geometry[i].used;
    return status;
}

static enum shmtune_status sum_by_config(const struct collection *c,
                                         const struct shmt_counters *rows,
                                         size_t count,
                                         struct shmt_counters *out,
                                         struct shmt_error *err)
{
    size_t launches, at = 0;

    for (size_t k = 0; k < c->request->count; k++) {
        enum shmtune_status status = count_launches(c, k, &launches, err);

        if (status != SHMTUNE_OK)
            return status;
        if (launches_itself(c->request))
            launches = count;
        if (launches <= count && at <= count - launches)
            shmt_counters_join(rows + at, launches, &out[k]);
        at += launches;
    }
    if (at == count)
        return SHMTUNE_OK;
    return shmt_error_set(err, SHMTUNE_INVALID_FILE,
                          "%s wrote the counters of %zu launches, expected %zu "
                          "of %zu configurations; does another program use "
                          "the device?", c->ncu, count, at,
                          c->request->count);
}

static enum shmtune_status read_counters(struct collection *c,
                                         struct shmt_counters *out,
                                         struct shmt_error *err)
{
    struct shmt_counters *const rows =
        shmt_arena_alloc(c->arena, SHMT_COUNTERS_ROWS, sizeof *rows);
    size_t count = 0;
    enum shmtune_status status;

    if (rows == NULL)
        return shmt_error_memory(err);
    status = shmt_counters_parse("ncu's output", c->text, c->size, rows,
                                 SHMT_COUNTERS_ROWS, &count, err);
    return status == SHMTUNE_OK ? sum_by_config(c, rows, count, out, err)
                                : status;
}

static enum shmtune_status attempt(struct collection *c, bool *again,
                                   struct shmt_counters *out,
                                   struct shmt_error *err)
{
    struct shmt_worker *worker = NULL;
    enum shmtune_status status = start(c, &worker, err);

    *again = false;
    c->answers = 0;
    c->refused = (struct shmt_error){0};
    if (status == SHMTUNE_OK)
        status = wait_for_ncu(c, worker, err);
    if (status == SHMTUNE_OK)
        status = read_log(c, err);
    if (status == SHMTUNE_OK) {
        status = explain_end(c, worker, err);
        *again = status == SHMTUNE_CUDA && drop_unknown_metrics(c);
    }
    shmt_worker_free(worker);
    return status == SHMTUNE_OK ? read_counters(c, out, err) : status;
}

static enum shmtune_status
collect(const struct shmt_counters_request *request,
        struct shmt_counters *out, struct shmt_error *err)
{
    struct collection c = {.request = request};
    enum shmtune_status status =
        shmt_counters_program(c.ncu, sizeof c.ncu, err);
    bool again = true;

    if (status != SHMTUNE_OK)
        return status;
    c.arena = shmt_arena_new();
    if (c.arena == NULL)
        return shmt_error_memory(err);
    snprintf(c.seed, sizeof c.seed, "%llu",
             (unsigned long long)request->data_seed);
    status = shmt_worker_own_path(c.self, sizeof c.self, err);
    if (status == SHMTUNE_OK)
        status = make_folder(&c, err);
    if (status == SHMTUNE_OK)
        status = write_requests(&c, err);
    for (int k = 0; k < ATTEMPTS && again; k++) {
        again = false;
        if (status == SHMTUNE_OK || k > 0)
            status = attempt(&c, &again, out, err);
    }
    shmt_scratch_remove(&c.scratch);
    shmt_arena_free(c.arena);
    return status;
}

/* A tuner that measures on the GPU waits for the counters, and the other way
 * round.  NULL: nobody is waited for. */
static enum shmtune_status wait_for_turn(
    const struct shmt_counters_request *request, struct shmt_turn **turn,
    struct shmt_error *err)
{
    *turn = NULL;
    if (request->uuid == NULL || request->uuid[0] == '\0' ||
        shmt_turn_open(request->uuid, turn, NULL) != SHMTUNE_OK ||
        shmt_turn_wait(*turn, request->stop))
        return SHMTUNE_OK;
    return shmt_error_set(err, SHMTUNE_INTERRUPTED,
                          "interrupted while another tuner used the GPU");
}

static enum shmtune_status
collect_each(const struct shmt_counters_request *request,
             struct shmt_counters *out, struct shmt_error *err)
{
    struct shmt_counters_request one = *request;
    enum shmtune_status status = SHMTUNE_OK;

    if (!launches_itself(request))
        return collect(request, out, err);
    one.count = 1;
    for (size_t k = 0; status == SHMTUNE_OK && k < request->count; k++) {
        one.configs = choice_at(request, k);
        status = collect(&one, &out[k], err);
    }
    return status;
}

enum shmtune_status
shmt_counters_collect(const struct shmt_counters_request *request,
                      struct shmt_counters *out, struct shmt_error *err)
{
    struct shmt_turn *turn;
    enum shmtune_status status = wait_for_turn(request, &turn, err);

    if (status == SHMTUNE_OK)
        status = collect_each(request, out, err);
    shmt_turn_close(turn);
    return status;
}
