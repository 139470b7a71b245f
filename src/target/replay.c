/* SPDX-License-Identifier: MIT */
/*
 * replay: the target that answers from recordings.  It keeps a hash table of
 * the recorded configurations and a simulated clock with one queue of events;
 * compilers and the device are busy as long as in the recording.
 */
#include "target/replay.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/device.h"
#include "target/binaries.h"

struct file {
    char *path;
    struct shmt_journal_header header;
};

/* What is known of one configuration. */
struct record {
    const shmt_config *config;
    const struct shmt_result *result;
    size_t binary;
    size_t measured;          /* how often it was asked for again */
};

struct binary {
    double compile_ms;        /* compile time in the recording, from
                                 whichever configuration has it */
    double ready_s;           /* when it will be there; < 0: not begun */
};

/* An answer, and when it is due on the simulated clock. */
struct event {
    double at_s;
    uint64_t order;
    struct shmt_target_reply reply;
};

struct replay {
    struct shmt_target target;
    size_t file_count;
    struct file *files;
    char name[300];
    size_t jobs;
    double now_s;
    uint64_t orders;
    /* of the problem at hand */
    struct shmt_journal *journal;
    const int64_t *problem;
    struct record *records;
    size_t record_count;
    struct shmt_map places;   /* hash of a choice -> position in records */
    struct shmt_target_binaries numbers;
    struct binary *binaries;
    double *free_s;           /* [jobs]: when a compiler is done */
    double device_free_s;
    struct event events[SHMT_TARGET_REQUESTS];
    size_t event_count;
};

static struct replay *replay_of(const struct shmt_target *target)
{
    return (struct replay *)target;   /* its first member */
}

/* -- the table of what is recorded --------------------------------------- */

static uint64_t hash_of(const struct replay *replay,
                        const shmt_config *config)
{
    return shmt_map_hash_bytes(config, replay->target.kernel->parameter_count *
                                           sizeof *config);
}

/* NULL when nothing is known of it. */
static struct record *find(const struct replay *replay,
                           const shmt_config *config)
{
    const size_t bytes =
        replay->target.kernel->parameter_count * sizeof *config;
    const uint64_t hash = hash_of(replay, config);
    uint32_t at;

    for (size_t probe = 0;
         (at = shmt_map_next(&replay->places, hash, &probe)) != SHMT_MAP_NONE;)
        if (memcmp(replay->records[at].config, config, bytes) == 0)
            return &replay->records[at];
    return NULL;
}

static void free_records(struct replay *replay)
{
    shmt_journal_free(replay->journal);
    shmt_target_binaries_free(&replay->numbers);
    free(replay->records);
    shmt_map_free(&replay->places);
    free(replay->binaries);
    replay->journal = NULL;
    replay->records = NULL;
    replay->record_count = 0;
    replay->binaries = NULL;
}

static struct record *add(struct replay *replay, const shmt_config *config)
{
    struct record *const record = &replay->records[replay->record_count];
    struct shmt_kernel_evaluated evaluated;
    char key[SHMT_DIGEST_TEXT];

    shmt_kernel_evaluate(replay->target.kernel, replay->problem, config,
                         &evaluated);
    if (shmt_kernel_binary_key(&evaluated, key) != SHMTUNE_OK)
        return NULL;
    record->config = config;
    record->binary = shmt_target_binaries_number(&replay->numbers, key);
    if (record->binary == SIZE_MAX ||
        !shmt_map_add(&replay->places, hash_of(replay, config),
                      (uint32_t)replay->record_count))
        return NULL;
    replay->record_count++;
    return record;
}

/* The last result of a configuration is the one that counts. */
static bool add_record(struct replay *replay,
                       const struct shmt_journal_record *from)
{
    struct record *record = find(replay, from->config);
    struct binary *binary;

    if (record == NULL)
        record = add(replay, from->config);
    if (record == NULL)
        return false;
    record->result = from->result;
    binary = &replay->binaries[record->binary];
    binary->ready_s = -1;
    binary->compile_ms = fmax(binary->compile_ms, from->result->compile_ms);
    return true;
}

static enum shmtune_status add_records(struct replay *replay,
                                       struct shmt_error *err)
{
    const size_t count = replay->journal->count;

    replay->records = calloc(count + 1, sizeof *replay->records);
    replay->binaries = calloc(count + 1, sizeof *replay->binaries);
    if (replay->records == NULL || replay->binaries == NULL)
        return shmt_error_memory(err);
    for (size_t k = 0; k < count; k++)
        if (replay->journal->records[k].kind == SHMT_JOURNAL_RESULT &&
            !add_record(replay, &replay->journal->records[k]))
            return shmt_error_memory(err);
    return SHMTUNE_OK;
}

/* -- answers ------------------------------------------------------------- */

/* The part of a result that inspect knows: verdicts of later stages become
 * OK. */
static void as_inspected(const struct shmt_result *known,
                         struct shmt_result *out)
{
    const enum shmt_stage stage = shmt_verdict_stage(known->verdict);

    *out = *known;
    if (stage != SHMT_STAGE_COMPILE) {
        out->verdict = SHMT_VERDICT_OK;
        out->reason[0] = '\0';
    }
    out->measure_ms = -1;
    out->sample_count = 0;
    out->time_us = -1;
}

/* Picks `count` of the recorded samples, different ones at each call. */
static void some_samples(const struct shmt_result *from, size_t call,
                         int count, struct shmt_result *out)
{
    char text[32];

    if (from->sample_count == 0 || count >= from->sample_count)
        return;
    out->sample_count = count;
    for (int k = 0; k < count; k++) {
        const size_t at = (call * (size_t)count + (size_t)k) %
                          (size_t)from->sample_count;
        out->samples_us[k] = from->samples_us[at];
    }
    shmt_result_summarise(out);
    /* Rounds as a journal does, so that a resumed run reads the same number. */
    snprintf(text, sizeof text, "%.6g", out->time_us);
    out->time_us = strtod(text, NULL);
}

/* The first request for a binary occupies a compiler; later ones wait for it.
 * Fills in the answer and returns the time at which it is due. */
static double inspect(struct replay *replay, struct record *record,
                      const struct shmt_target_request *request,
                      struct shmt_result *out)
{
    struct binary *const binary = &replay->binaries[record->binary];
    size_t idle = 0;

    as_inspected(request->known != NULL ? request->known : record->result,
                 out);
    if (binary->ready_s >= 0) {
        if (out->compile_ms > 0)
            out->compile_ms = 0;
        return fmax(binary->ready_s, replay->now_s);
    }
    if (binary->compile_ms > 0)
        out->compile_ms = binary->compile_ms;
    for (size_t k = 1; k < replay->jobs; k++)
        if (replay->free_s[k] < replay->free_s[idle])
            idle = k;
    binary->ready_s = fmax(replay->free_s[idle], replay->now_s) +
                      fmax(out->compile_ms, 0) / 1000;
    replay->free_s[idle] = binary->ready_s;
    return binary->ready_s;
}

/* Other tuners may have written a time alone. */
static void give_sample(struct shmt_result *out)
{
    if (out->sample_count > 0 || !(out->time_us > 0))
        return;
    out->samples_us[0] = (float)out->time_us;
    out->sample_count = 1;
}

static void measure(struct record *record,
                    const struct shmt_target_request *request,
                    struct shmt_result *out)
{
    const size_t call = record->measured++;

    if (request->known != NULL) {
        *out = *request->known;
        return;
    }
    *out = *record->result;
    some_samples(record->result, call, request->samples, out);
    give_sample(out);
    if (out->verdict == SHMT_VERDICT_OK &&
        out->time_us > request->give_up_us)
        out->verdict = SHMT_VERDICT_SLOW;
}

/* One measurement after the other. */
static void occupy_device(struct replay *replay, struct event *event)
{
    event->at_s = fmax(replay->device_free_s, replay->now_s) +
                  fmax(event->reply.result.measure_ms, 0) / 1000;
    replay->device_free_s = event->at_s;
}

/* A configuration that is not recorded: the run may have a result for it in
 * its journal. */
static void answer_unrecorded(struct replay *replay,
                              const struct shmt_target_request *request,
                              struct event *event)
{
    struct shmt_result *const result = &event->reply.result;
    const bool measured = request->verb == SHMT_TARGET_MEASURE &&
                          request->compiled != NULL &&
                          request->compiled->sample_count > 0;
    struct record own = {.result = request->known != NULL ? request->known
                                   : measured ? request->compiled : NULL};

    if (own.result == NULL) {
        shmt_result_clear(result);
        shmt_result_set_verdict(result, SHMT_VERDICT_NOT_RECORDED,
                                "the recording does not have this "
                                "configuration");
    } else if (request->verb == SHMT_TARGET_INSPECT) {
        as_inspected(own.result, result);
    } else {
        measure(&own, request, result);
        occupy_device(replay, event);
    }
}

static enum shmtune_status
replay_submit(struct shmt_target *target,
              const struct shmt_target_request *request, struct shmt_error *err)
{
    struct replay *const replay = replay_of(target);
    struct event *const event = &replay->events[replay->event_count];
    struct record *const record = find(replay, request->config);
    struct shmt_result *const result = &event->reply.result;

    if (replay->event_count == SHMT_TARGET_REQUESTS)
        return shmt_error_set(err, SHMTUNE_INTERNAL,
                              "more than %d requests at a time",
                              SHMT_TARGET_REQUESTS);
    event->at_s = replay->now_s;
    event->order = replay->orders++;
    event->reply.target = target;
    event->reply.verb = request->verb;
    event->reply.tag = request->tag;
    if (record == NULL) {
        answer_unrecorded(replay, request, event);
    } else if (request->verb == SHMT_TARGET_INSPECT) {
        event->at_s = inspect(replay, record, request, result);
    } else {
        measure(record, request, result);
        occupy_device(replay, event);
    }
    replay->event_count++;
    return SHMTUNE_OK;
}

static enum shmtune_status replay_wait(struct shmt_target *target,
                                       double timeout_s, bool *got,
                                       struct shmt_target_reply *reply,
                                       struct shmt_error *err)
{
    struct replay *const replay = replay_of(target);
    const double end_s = replay->now_s + timeout_s;
    size_t next = 0;

    *got = replay->event_count > 0;
    if (!*got)
        return shmt_error_set(err, SHMTUNE_INTERNAL, "a reply is awaited, and "
                              "no request is outstanding");
    for (size_t k = 1; k < replay->event_count; k++) {
        const struct event *const a = &replay->events[k];
        const struct event *const b = &replay->events[next];
        if (a->at_s < b->at_s || (a->at_s <= b->at_s && a->order < b->order))
            next = k;
    }
    *got = replay->events[next].at_s <= end_s;
    replay->now_s = fmax(replay->now_s, fmin(replay->events[next].at_s, end_s));
    if (!*got)
        return SHMTUNE_OK;
    *reply = replay->events[next].reply;
    replay->events[next] = replay->events[--replay->event_count];
    return SHMTUNE_OK;
}

static void replay_cancel(struct shmt_target *target)
{
    struct replay *const replay = replay_of(target);

    replay->event_count = 0;
    for (size_t k = 0; k < replay->jobs; k++)
        replay->free_s[k] = fmin(replay->free_s[k], replay->now_s);
    replay->device_free_s = fmin(replay->device_free_s, replay->now_s);
    for (size_t k = 0; k < replay->record_count; k++) {
        struct binary *const binary =
            &replay->binaries[replay->records[k].binary];
        if (binary->ready_s > replay->now_s)
            binary->ready_s = -1;
    }
}

static size_t replay_capacity(const struct shmt_target *target,
                              enum shmt_target_verb verb)
{
    return verb == SHMT_TARGET_MEASURE ? 1 : replay_of(target)->jobs;
}

static double replay_now(const struct shmt_target *target)
{
    return replay_of(target)->now_s;
}

static bool same_problem(const struct shmt_kernel *kernel, const int64_t *a,
                         const int64_t *b)
{
    return memcmp(a, b, kernel->dimension_count * sizeof *a) == 0;
}

/* Opening reads the headers alone, so that a header may be a damaged one:
 * whoever looks for a problem in vain is told of that first. */
static enum shmtune_status read_all(const struct replay *replay,
                                    struct shmt_error *err)
{
    enum shmtune_status status = SHMTUNE_OK;

    for (size_t k = 0; status == SHMTUNE_OK && k < replay->file_count; k++) {
        struct shmt_journal *journal = NULL;
        status = shmt_journal_read(replay->files[k].path,
                                   replay->target.kernel, &journal, err);
        shmt_journal_free(journal);
    }
    return status;
}

static enum shmtune_status no_such_problem(const struct replay *replay,
                                           const int64_t *problem,
                                           struct shmt_error *err)
{
    const struct shmt_kernel *const kernel = replay->target.kernel;
    struct shmt_text text = {0};
    enum shmtune_status status = read_all(replay, err);

    if (status != SHMTUNE_OK)
        return status;
    shmt_kernel_describe_problem(kernel, problem, &text);
    shmt_text_addf(&text, " of %s is not recorded; what is recorded: ",
                   kernel->name);
    for (size_t k = 0; k < replay->file_count; k++) {
        shmt_text_add(&text, k > 0 ? ", " : "");
        shmt_kernel_describe_problem(kernel, replay->files[k].header.problem,
                                     &text);
    }
    status = shmt_error_set(err, SHMTUNE_NO_DEVICE, "%s: %s", replay->name,
                            shmt_text_string(&text));
    shmt_text_free(&text);
    return status;
}

static enum shmtune_status replay_begin(struct shmt_target *target,
                                        const int64_t *problem,
                                        struct shmt_error *err)
{
    struct replay *const replay = replay_of(target);
    enum shmtune_status status;
    size_t k = 0;

    while (k < replay->file_count &&
           !same_problem(target->kernel, replay->files[k].header.problem,
                         problem))
        k++;
    if (k == replay->file_count)
        return no_such_problem(replay, problem, err);
    free_records(replay);
    replay->event_count = 0;
    for (size_t j = 0; j < replay->jobs; j++)
        replay->free_s[j] = replay->now_s;
    replay->device_free_s = replay->now_s;
    replay->problem = replay->files[k].header.problem;
    target->protocol = replay->files[k].header.protocol;
    target->data_seed = replay->files[k].header.data_seed;
    target->data_digest = replay->files[k].header.data_digest;
    target->digest = replay->files[k].header.digest;
    target->nvrtc_version = replay->files[k].header.nvrtc_version;
    status = shmt_journal_read(replay->files[k].path, target->kernel,
                               &replay->journal, err);
    return status == SHMTUNE_OK ? add_records(replay, err) : status;
}

static void replay_close(struct shmt_target *target)
{
    struct replay *const replay = replay_of(target);

    free_records(replay);
    for (size_t k = 0; k < replay->file_count; k++)
        free(replay->files[k].path);
    free(replay->files);
    free(replay->free_s);
    free(replay);
}

static const struct shmt_target_operations operations = {
    replay_begin, NULL, replay_submit, replay_wait, replay_cancel,
    replay_capacity, NULL, replay_now, NULL, replay_close, NULL
};

/* -- opening ------------------------------------------------------------- */

static enum shmtune_status add_file(struct replay *replay, const char *path,
                                    struct shmt_error *err)
{
    struct file *const file = &replay->files[replay->file_count];
    const struct shmt_journal_header *const header = &file->header;
    enum shmtune_status status =
        shmt_journal_read_header(path, replay->target.kernel, &file->header,
                                 err);

    if (status == SHMTUNE_NOT_FOUND)
        return shmt_error_set(err, SHMTUNE_NO_DEVICE,
                              "%s: there is no such recording", path);
    if (status != SHMTUNE_OK)
        return status;
    if (replay->file_count == 0)
        replay->target.device = header->device;
    else if (!shmt_device_equal(&replay->target.device, &header->device))
        return shmt_error_set(err, SHMTUNE_INVALID_FILE,
                              "%s was recorded on %s, %s on %s: name one of "
                              "the two", replay->files[0].path,
                              replay->target.device.name, path,
                              header->device.name);
    file->path = strdup(path);
    if (file->path == NULL)
        return shmt_error_memory(err);
    replay->file_count++;
    return SHMTUNE_OK;
}

enum shmtune_status shmt_replay_open(const struct shmt_kernel *kernel,
                                     const struct shmt_replay_options *options,
                                     struct shmt_target **out,
                                     struct shmt_error *err)
{
    struct replay *const replay = calloc(1, sizeof *replay);
    enum shmtune_status status = SHMTUNE_OK;

    if (replay == NULL)
        return shmt_error_memory(err);
    replay->target.operations = &operations;
    replay->target.kernel = kernel;
    replay->target.recorded = true;
    replay->jobs = options->jobs > 0 ? options->jobs : 1;
    replay->free_s = calloc(replay->jobs, sizeof *replay->free_s);
    replay->files = calloc(options->path_count + 1, sizeof *replay->files);
    if (replay->free_s == NULL || replay->files == NULL)
        status = shmt_error_memory(err);
    for (size_t k = 0; status == SHMTUNE_OK && k < options->path_count; k++)
        status = add_file(replay, options->paths[k], err);
    if (status == SHMTUNE_OK && options->path_count == 0)
        status = shmt_error_set(err, SHMTUNE_NO_DEVICE, "no recording");
    if (status != SHMTUNE_OK) {
        replay_close(&replay->target);
        return status;
    }
    snprintf(replay->name, sizeof replay->name, "%s, recorded",
             replay->target.device.name);
    replay->target.name = replay->name;
    replay->target.nvrtc_version = replay->files[0].header.nvrtc_version;
    replay->target.protocol = replay->files[0].header.protocol;
    replay->target.data_seed = replay->files[0].header.data_seed;
    replay->target.data_digest = replay->files[0].header.data_digest;
    *out = &replay->target;
    return SHMTUNE_OK;
}

size_t shmt_replay_count(const struct shmt_target *replay)
{
    return replay_of(replay)->file_count;
}

const struct shmt_journal_header *
shmt_replay_header(const struct shmt_target *replay, size_t k)
{
    return &replay_of(replay)->files[k].header;
}
