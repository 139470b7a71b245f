/* SPDX-License-Identifier: MIT */
/*
 * tune_fixture: runs the tuner on the fake worker and on recordings made with
 * it.
 */
#define _GNU_SOURCE   /* nftw */
#include "tests/support/tune_fixture.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/path.h"
#include "record/recording.h"
#include "tests/support/folder.h"

static char folder[FOLDER_ROOM];

static const char *variable(const char *name)
{
    const char *const value = getenv(name);
    return value == NULL ? "." : value;
}

/* What follows would only crash. */
_Noreturn static void bail_out(const char *why)
{
    printf("Bail out! %s\n", why);
    exit(EXIT_FAILURE);
}

static void remove_all(void)
{
    folder_remove(folder);
}

const char *fixture_folder(void)
{
    if (folder[0] != '\0')
        return folder;
    folder_make(folder);
    atexit(remove_all);
    setenv("TMPDIR", folder, 1);   /* what is killed leaves things there */
    return folder;
}

const char *fixture_path(const char *name)
{
    static char paths[8][512];
    static size_t next;
    char *const path = paths[next++ % 8];

    snprintf(path, sizeof paths[0], "%s/%s", fixture_folder(), name);
    return path;
}

struct shmt_kernel *fixture_kernel(const char *name)
{
    struct shmt_kernel *kernel = NULL;
    struct shmt_error err = {0};
    char path[1024];

    snprintf(path, sizeof path, "%s/tests/fake/data/%s.yaml",
             variable("SHMT_SRCDIR"), name);
    if (shmt_kernel_read(path, &kernel, &err) != SHMTUNE_OK)
        bail_out(err.text);
    return kernel;
}

static struct shmt_target *open_live(const struct shmt_kernel *kernel,
                                     size_t jobs, double first_s)
{
    static char worker[1024];
    const struct shmt_live_options options = {
        .worker = worker,
        .device = "0",
        .jobs = jobs,
        .data_seed = 1,
        .start_s = 60,
        .compile_s = 2,
        .measure_s = 2,
        .first_s = first_s,
    };
    struct shmt_target *target = NULL;
    struct shmt_error err = {0};

    snprintf(worker, sizeof worker, "%s/tests/fake/worker",
             variable("SHMT_BUILDDIR"));
    if (shmt_live_open(kernel, &options, &target, &err) != SHMTUNE_OK)
        bail_out(err.text);
    return target;
}

struct shmt_target *fixture_live(const struct shmt_kernel *kernel,
                                 size_t jobs)
{
    return open_live(kernel, jobs, 0.2);
}

struct shmt_target *fixture_patient(const struct shmt_kernel *kernel,
                                    size_t jobs)
{
    return open_live(kernel, jobs, 0);
}

struct shmt_target *fixture_replay(const struct shmt_kernel *kernel,
                                   const char *recording, size_t jobs)
{
    const struct shmt_replay_options options = {&recording, 1, jobs};
    struct shmt_target *target = NULL;
    struct shmt_error err = {0};

    if (shmt_replay_open(kernel, &options, &target, &err) != SHMTUNE_OK)
        bail_out(err.text);
    return target;
}

struct shmt_tune_options fixture_options(void)
{
    return (struct shmt_tune_options){
        .strategy = "exhaustive",
        .seed = 1,
        .budget_s = INFINITY, .spare_s = INFINITY,
        .budget_count = UINT64_MAX,
        .policy = {.max_spill_bytes = -1},
        .resume = true,
    };
}

struct shmt_tune_outcome *fixture_run(struct shmt_target *target,
                                      const struct shmt_tune_options *options,
                                      enum shmtune_status status)
{
    struct shmt_tune_outcome *outcome = NULL;
    struct shmt_error err = {0};
    const enum shmtune_status found = shmt_tune_run(
        target, target->kernel->sizes[0], options, &outcome, &err);

    if (found != status)
        printf("# expected status %d, got %d: %s\n", (int)status, (int)found,
               err.text);
    for (size_t k = 1; outcome != NULL && k < outcome->final_count; k++)
        for (size_t j = 0; j < k; j++)
            if (outcome->finals[j].figures.index ==
                outcome->finals[k].figures.index)
                bail_out("a configuration is in the finals twice");
    if (found == status)
        return outcome;
    shmt_tune_free(outcome);
    return NULL;
}

const char *fixture_recording(const struct shmt_kernel *kernel)
{
    static char path[512];
    struct shmt_tune_options options = fixture_options();
    struct shmt_target *target;
    struct shmt_tune_outcome *outcome;
    struct shmt_error err = {0};

    if (path[0] != '\0')
        return path;
    snprintf(path, sizeof path, "%s/recorded.journal.gz", fixture_folder());
    target = fixture_live(kernel, 2);
    outcome = fixture_run(target, &options, SHMTUNE_OK);
    if (outcome == NULL)
        bail_out("there is nothing to record");
    if (shmt_recording_write(path, kernel, &outcome->header, outcome->ledger,
                             outcome->space, &err) != SHMTUNE_OK)
        bail_out(err.text);
    shmt_tune_free(outcome);
    target->operations->close(target);
    return path;
}

const char *fixture_describe(const struct shmt_kernel *kernel,
                             const struct shmt_tune_outcome *outcome)
{
    static struct shmt_text texts[4];
    static size_t next;
    struct shmt_text *const text = &texts[next++ % 4];

    shmt_text_clear(text);
    shmt_text_addf(text, "tried %llu best %.6g default %.6g\n",
                   (unsigned long long)outcome->tried, outcome->best_us,
                   outcome->default_us);
    for (int v = 0; v < SHMT_VERDICT_COUNT; v++)
        if (outcome->verdicts[v] > 0)
            shmt_text_addf(text, "%s %llu\n",
                           shmt_verdict_word((enum shmt_verdict)v),
                           (unsigned long long)outcome->verdicts[v]);
    for (size_t k = 0; k < outcome->final_count; k++) {
        shmt_kernel_describe_config(kernel, outcome->finals[k].config, text);
        shmt_text_addf(text, " %.6g%s\n", outcome->finals[k].result.time_us,
                       k < outcome->tie_count ? " tied" : "");
    }
    return shmt_text_string(text);
}

char *fixture_replayed(const struct shmt_kernel *kernel,
                       const struct shmt_tune_options *options, size_t jobs)
{
    struct shmt_target *const target =
        fixture_replay(kernel, fixture_recording(kernel), jobs);
    struct shmt_tune_outcome *const outcome =
        fixture_run(target, options, SHMTUNE_OK);
    char *const text =
        outcome == NULL ? NULL : strdup(fixture_describe(kernel, outcome));

    shmt_tune_free(outcome);
    target->operations->close(target);
    return text;
}

char *fixture_read(const char *path, size_t *size)
{
    struct shmt_arena *const arena = shmt_arena_new();
    const char *data = "";
    char *copy;

    *size = 0;
    if (shmt_path_read(arena, path, (size_t)1 << 26, &data, size, NULL) !=
        SHMTUNE_OK)
        data = "";
    copy = malloc(*size + 1);
    memcpy(copy, data, *size);
    copy[*size] = '\0';
    shmt_arena_free(arena);
    return copy;
}

/* Not through base/path.h, which waits for the disk each time. */
void fixture_write(const char *path, const char *data, size_t size)
{
    FILE *const file = fopen(path, "wb");

    if (file == NULL || fwrite(data, 1, size, file) != size ||
        fclose(file) != 0)
        printf("# cannot write %s\n", path);
}
