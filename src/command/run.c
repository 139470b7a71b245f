/* SPDX-License-Identifier: MIT */
/*
 * run: runs a program with tuned kernels in the place of its own.  For each
 * captured launch that was tuned, the tuned configuration is compiled here and
 * written into a plan, by which the library that is preloaded into the program
 * (capture/replace.c) knows the launch and what is launched instead.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "capture/capture.h"
#include "command/compile.h"
#include "command/draft.h"
#include "command/preload.h"
#include "device/device.h"
#include "gpu/gpu.h"
#include "record/record.h"
#include "target/target.h"

static const char help[] =
    "usage: shmtune run --captured DIR [OPTION]... -- PROGRAM [ARGUMENT]...\n"
    "\n"
    "Runs the program as it is, with tuned kernels in the place of its own:\n"
    "launches that `capture` has captured and `tune` has tuned are made with\n"
    "the tuned binary, grid, block and shared memory. A launch is replaced\n"
    "where its source, its geometry and all its numbers are those that were\n"
    "captured, on the device that was tuned for. The first 104 launches of\n"
    "each are made as tuned and as they were, in turn, and timed; one that\n"
    "is clearly slower stays as it was. Of all others the program's own time\n"
    "tells, with each of them and then with all, for up to 3456 launches;\n"
    "what makes it slower goes back. A CUDA graph with such kernels is tried\n"
    "as one of them is. In any doubt it is the program's own, and a line at\n"
    "the end says why.\n"
    "\n"
    "  --captured DIR  what `capture -o DIR` has written, or one launch of\n"
    "                  it; may be repeated\n"
    "  --tunings DIR   where the tunings are [./tunings]\n"
    "  --any NAME      replace launches whatever number they have for NAME,\n"
    "                  a step, a time, a seed, not a size; may be repeated.\n"
    "                  Whether what was tuned is right with any, you know\n"
    "  --no-trial      launch what was tuned at once, and time nothing\n"
    "\n"
    "With SHMTUNE_LOG=FILE in the environment the lines go to that file.\n"
    "\n"
    "exit status: the program's; 128 and its number where a signal ended it\n"
    "\n"
    "examples:\n"
    "  shmtune run --captured taken --tunings tunings -- ./app input.dat\n"
    "  shmtune run --captured taken --any step --any t -- ./app input.dat\n";

struct planned {
    struct planned *next;
    const char *symbol;
};

struct job {
    const struct shmt_command_call *call;
    struct shmt_command_repeats captured;
    const char *tunings;           /* NULL: ./tunings, if it is there */
    struct shmt_command_repeats any;
    bool is_any[SHMT_COMMAND_REPEATS];     /* of each of these: some launch
                                              has such a number */
    bool trial;
    struct shmt_arena *arena;
    struct shmt_scratch raw;
    struct shmt_text plan;
    size_t launches;               /* in the plan */
    struct planned *planned;       /* their kernels, each once */
    const char *notes;             /* of the library */
    int ended;
};

/* A captured launch, and a tuning of it. */
struct pair {
    struct job *job;
    const char *folder;
    const struct shmt_draft *draft;
    const struct shmt_kernel *kernel;
    const struct shmt_tuning *tuning;
    int64_t problem[SHMT_KERNEL_DIMENSIONS];
    struct shmt_kernel_evaluated was, now;     /* the default, the tuned */
};

/* What is left out is said, and the rest goes on. */
static void leave_out(const struct pair *pair, const char *why)
{
    struct shmt_text text = {0};

    shmt_text_addf(&text, "%s is left out: %s", pair->folder, why);
    shmt_preload_note(pair->job->call, shmt_text_string(&text));
    shmt_text_free(&text);
}

/* Of many launches some have a TODO, were edited wrongly, or do not compile
 * here: they stay as they are, and the program runs. */
static enum shmtune_status leave_failed(const struct pair *pair,
                                        enum shmtune_status status,
                                        const struct shmt_error *err)
{
    if (status == SHMTUNE_OK || status == SHMTUNE_NO_MEMORY ||
        status == SHMTUNE_INTERNAL || status == SHMTUNE_INTERRUPTED)
        return status;
    leave_out(pair, err->text);
    return SHMTUNE_OK;
}

/* -- what is launched ----------------------------------------------------- */

static bool is_recorded(const struct shmt_geometry *geometry,
                        const struct shmt_draft *draft)
{
    for (size_t k = 0; k < 3; k++)
        if (geometry->grid[k] != draft->grid[k] ||
            geometry->block[k] != draft->block[k] ||
            geometry->cluster[k] != draft->cluster[k])
            return false;
    return geometry->shared_dynamic == draft->shared &&
           !geometry->cooperative && !draft->cooperative &&
           geometry->cluster[0] == 0;
}

/* A number that the application passes, and that follows from the
 * configuration, is passed as the tuned one wants it.  SHMTUNE_INVALID_FILE:
 * the default's is not the application's. */
static enum shmtune_status add_scalar(struct pair *pair, size_t position,
                                      struct shmt_error *err)
{
    const size_t k = pair->kernel->launches[0].arguments[position];
    const struct shmt_argument *argument = &pair->kernel->arguments[k];
    const size_t size = shmt_element_bytes(argument->element);
    union shmt_element_scalar was, now;
    struct shmt_value value;
    enum shmtune_status status;

    if (argument->role != SHMT_ROLE_SCALAR)
        return SHMTUNE_OK;
    status = shmt_kernel_argument_value(&pair->was, k, &value, err);
    if (status == SHMTUNE_OK)
        status = shmt_element_convert(argument->element, value, &was, err);
    if (status == SHMTUNE_OK)
        status = shmt_kernel_argument_value(&pair->now, k, &value, err);
    if (status == SHMTUNE_OK)
        status = shmt_element_convert(argument->element, value, &now, err);
    if (status != SHMTUNE_OK)
        return status;
    if (size != pair->draft->arguments[position].size ||
        memcmp(&was, pair->draft->arguments[position].bytes, size) != 0)
        return shmt_error_set(err, SHMTUNE_INVALID_FILE,
                              "%s: %s is not what the application passed",
                              pair->kernel->path, argument->name);
    if (memcmp(&was, &now, size) == 0)
        return SHMTUNE_OK;
    shmt_text_addf(&pair->job->plan, "give %zu ", position);
    for (size_t i = 0; i < size; i++)
        shmt_text_addf(&pair->job->plan, "%02x",
                       ((const unsigned char *)&now)[i]);
    shmt_text_add(&pair->job->plan, "\n");
    return SHMTUNE_OK;
}

/* Whether the spec has a number for it, which nothing else follows from. */
static bool is_number(const struct shmt_argument *argument)
{
    char *end;

    if (argument->role != SHMT_ROLE_SCALAR)
        return false;
    (void)strtod(shmt_expr_text(argument->value), &end);
    return *end == '\0';
}

/* What the application may pass another of: with --any it may be any. */
static void add_number(struct pair *pair, size_t position)
{
    struct job *const job = pair->job;
    const size_t k = pair->kernel->launches[0].arguments[position];
    const struct shmt_argument *const argument = &pair->kernel->arguments[k];
    bool any = false;

    if (!is_number(argument))
        return;
    for (size_t i = 0; i < job->any.count; i++)
        if (strcmp(job->any.items[i], argument->name) == 0)
            any = job->is_any[i] = true;
    shmt_text_addf(&job->plan, "%s %zu %s\n", any ? "any" : "number",
                   position, argument->name);
}

static void add_parameters(const struct pair *pair)
{
    struct shmt_text *text = &pair->job->plan;

    for (size_t k = 0; k < pair->draft->argument_count; k++) {
        const struct shmt_draft_argument *one = &pair->draft->arguments[k];

        shmt_text_add(text, "parameter ");
        for (size_t i = 0; i < one->size; i++)
            shmt_text_addf(text, "%02x", one->bytes[i]);
        for (size_t i = 0; i < one->pointer_count; i++)
            shmt_text_addf(text, " %llu",
                           (unsigned long long)one->pointers[i].at);
        shmt_text_add(text, "\n");
    }
}

static void add_geometry(struct shmt_text *text, const char *key,
                         const struct shmt_geometry *geometry)
{
    shmt_text_addf(text, "%s %u %u %u %u %u %u %lld", key, geometry->grid[0],
                   geometry->grid[1], geometry->grid[2], geometry->block[0],
                   geometry->block[1], geometry->block[2],
                   (long long)geometry->shared_dynamic);
}

static enum shmtune_status remember(struct job *job, const char *symbol,
                                    struct shmt_error *err)
{
    struct planned *one = job->planned;

    while (one != NULL && strcmp(one->symbol, symbol) != 0)
        one = one->next;
    if (one != NULL)
        return SHMTUNE_OK;
    one = shmt_arena_alloc(job->arena, 1, sizeof *one);
    if (one == NULL)
        return shmt_error_memory(err);
    *one = (struct planned){job->planned, symbol};
    job->planned = one;
    return SHMTUNE_OK;
}

/* The plan's lines of one launch, whose binary lies in a file. */
static enum shmtune_status add_launch(struct pair *pair, const char *binary,
                                      const char *entry,
                                      struct shmt_error *err)
{
    const struct shmtune_device *device = &pair->tuning->device;
    struct shmt_text *text = &pair->job->plan;
    enum shmtune_status status = SHMTUNE_OK;

    shmt_text_addf(text, "launch %s\nidentity %s\n", pair->draft->symbol,
                   pair->draft->identity);
    add_geometry(text, "was", &pair->was.geometry[0]);
    shmt_text_add(text, "\n");
    add_parameters(pair);
    for (size_t k = 0; status == SHMTUNE_OK && k < pair->draft->argument_count;
         k++) {
        status = add_scalar(pair, k, err);
        add_number(pair, k);
    }
    shmt_text_addf(text, "device %d %d %s\nbinary %s\nentry %s\n",
                   device->compute_major, device->compute_minor, device->name,
                   binary, entry);
    add_geometry(text, "becomes", &pair->now.geometry[0]);
    shmt_text_addf(text, " %d\n", pair->now.geometry[0].carveout);
    if (status == SHMTUNE_OK)
        status = remember(pair->job, pair->draft->symbol, err);
    pair->job->launches += status == SHMTUNE_OK;
    return status;
}

/* -- its binary ----------------------------------------------------------- */

static enum shmtune_status write_binary(struct pair *pair,
                                        const struct shmt_image *image,
                                        struct shmt_error *err)
{
    struct job *job = pair->job;
    const size_t before = job->plan.length;
    char name[64];
    const char *path;
    enum shmtune_status status;

    snprintf(name, sizeof name, "binary-%zu.cubin", job->launches);
    path = shmt_path_join(job->arena, job->raw.folder, name);
    status = path == NULL ? shmt_error_memory(err)
                          : shmt_path_write(path, image->cubin,
                                            image->cubin_size, err);
    if (status == SHMTUNE_OK)
        status = add_launch(pair, path, image->entries[0].lowered, err);
    if (status != SHMTUNE_OK)
        job->plan.length = before;
    return status;
}

static enum shmtune_status compile(struct pair *pair, struct shmt_error *err)
{
    struct shmt_compiler_here *here = NULL;
    struct shmt_image *image = NULL;
    char arch[16];
    enum shmtune_status status =
        shmt_compiler_here_open(pair->kernel, &here, err);

    shmt_device_arch_text(&pair->tuning->device, arch);
    if (status == SHMTUNE_OK)
        status = shmt_compiler_here_cached(here, &pair->now, arch, &image, err);
    if (status == SHMTUNE_OK)
        status = write_binary(pair, image, err);
    shmt_image_free(image);
    shmt_compiler_here_close(here);
    return status;
}

/* -- which launches ------------------------------------------------------- */

static bool is_problem(const struct pair *pair, const struct shmt_tuned *tuned)
{
    int64_t problem[SHMT_KERNEL_DIMENSIONS];

    return shmt_tuning_problem(pair->kernel, tuned, problem, NULL) ==
               SHMTUNE_OK &&
           memcmp(problem, pair->problem,
                  pair->kernel->dimension_count * sizeof *problem) == 0;
}

static enum shmtune_status take_tuned(struct pair *pair,
                                      const struct shmt_tuned *tuned,
                                      struct shmt_error *err)
{
    shmt_config was[SHMT_SPACE_PARAMETERS], now[SHMT_SPACE_PARAMETERS];
    enum shmtune_status status =
        shmt_tuning_config(pair->kernel, tuned->settings,
                           tuned->setting_count, now, err);

    if (status != SHMTUNE_OK)
        return status;
    shmt_kernel_default(pair->kernel, was);
    if (memcmp(was, now, pair->kernel->parameter_count * sizeof *was) == 0) {
        leave_out(pair, "the application's own configuration won");
        return SHMTUNE_OK;
    }
    shmt_kernel_evaluate(pair->kernel, pair->problem, was, &pair->was);
    shmt_kernel_evaluate(pair->kernel, pair->problem, now, &pair->now);
    status = shmt_kernel_evaluate_launches(&pair->was, err);
    if (status == SHMTUNE_OK)
        status = shmt_kernel_evaluate_launches(&pair->now, err);
    if (status != SHMTUNE_OK)
        return status;
    if (pair->kernel->launch_count != 1 ||
        pair->kernel->launches[0].argument_count !=
            pair->draft->argument_count ||
        !is_recorded(&pair->was.geometry[0], pair->draft)) {
        leave_out(pair, "the default configuration of its spec is not the "
                  "launch that was captured, or one of a kind that is not "
                  "replaced");
        return SHMTUNE_OK;
    }
    return compile(pair, err);
}

/* Says why a tuning does not serve. */
static void leave_tuning(const struct pair *pair, const char *path,
                         const char *why)
{
    struct shmt_text text = {0};

    shmt_text_addf(&text, "%s %s", path, why);
    leave_out(pair, shmt_text_string(&text));
    shmt_text_free(&text);
}

/* A tuning of other sources is none of it. */
static enum shmtune_status take_tuning(struct pair *pair, const char *path,
                                       struct shmt_error *err)
{
    struct shmt_tuning *tuning;
    size_t found = 0;
    enum shmtune_status status = shmt_tuning_read(path, &tuning, err);

    if (status != SHMTUNE_OK)
        return leave_failed(pair, status, err);
    pair->tuning = tuning;
    if (strcmp(tuning->digest, pair->kernel->digest) != 0)
        leave_tuning(pair, path, "was made for another spec or other "
                     "sources; tune it again");
    else {
        for (size_t k = 0; status == SHMTUNE_OK && k < tuning->tuned_count;
             k++)
            if (is_problem(pair, tuning->tuned[k])) {
                found++;
                status = take_tuned(pair, tuning->tuned[k], err);
            }
        if (status == SHMTUNE_OK && found == 0)
            leave_tuning(pair, path, "has not its size; see `shmtune tune`");
    }
    shmt_tuning_free(tuning);
    return leave_failed(pair, status, err);
}

static enum shmtune_status take_tunings(struct pair *pair,
                                        struct shmt_error *err)
{
    struct job *job = pair->job;
    const char *folder =
        shmt_path_join(job->arena,
                       job->tunings == NULL ? "tunings" : job->tunings,
                       pair->kernel->name);
    const char *const *names;
    size_t count = 0;
    enum shmtune_status status =
        folder == NULL ? shmt_error_memory(err)
                       : shmt_path_list(job->arena, folder, ".yaml", &names,
                                        &count, err);

    if (status == SHMTUNE_NOT_FOUND)
        status = SHMTUNE_OK;
    for (size_t k = 0; status == SHMTUNE_OK && k < count; k++) {
        const char *path = shmt_path_join(job->arena, folder, names[k]);

        status = path == NULL ? shmt_error_memory(err)
                              : take_tuning(pair, path, err);
    }
    if (status == SHMTUNE_OK && count == 0)
        leave_tuning(pair, folder, "has no tuning of it; see `shmtune tune`");
    return status;
}

static enum shmtune_status take_launch(struct job *job, const char *folder,
                                       struct shmt_error *err)
{
    struct pair *pair = shmt_arena_alloc(job->arena, 1, sizeof *pair);
    struct shmt_draft *draft = shmt_arena_alloc(job->arena, 1, sizeof *draft);
    struct shmt_kernel *kernel = NULL;
    enum shmtune_status status;

    if (pair == NULL || draft == NULL)
        return shmt_error_memory(err);
    *pair = (struct pair){.job = job, .folder = folder, .draft = draft};
    draft->arena = job->arena;
    status = shmt_draft_read(draft, folder, err);
    if (status == SHMTUNE_OK)
        status = shmt_command_kernel(
            shmt_path_join(job->arena, folder, "kernel.yaml"), &kernel, err);
    if (status != SHMTUNE_OK)
        return leave_failed(pair, status, err);
    pair->kernel = kernel;
    shmt_kernel_default_problem(kernel, pair->problem);
    if (draft->identity == NULL)
        leave_out(pair, "its binary cannot be known again");
    else
        status = take_tunings(pair, err);
    shmt_kernel_free(kernel);
    return status;
}

static enum shmtune_status is_launch(struct job *job, const char *folder,
                                     bool *is, struct shmt_error *err)
{
    const char *path =
        shmt_path_join(job->arena, folder, SHMT_CAPTURE_LAUNCH);
    enum shmt_path_kind kind;

    if (path == NULL)
        return shmt_error_memory(err);
    kind = shmt_path_kind(path);
    *is = kind == SHMT_PATH_FILE;
    return kind == SHMT_PATH_UNKNOWN
               ? shmt_error_system(err, path, "cannot be examined")
               : SHMTUNE_OK;
}

static enum shmtune_status take_folder(struct job *job, const char *folder,
                                       struct shmt_error *err)
{
    const char *const *names;
    size_t count, found = 0;
    bool is = false;
    enum shmtune_status status = is_launch(job, folder, &is, err);

    if (status == SHMTUNE_OK && is)
        return take_launch(job, folder, err);
    if (status == SHMTUNE_OK)
        status = shmt_path_list(job->arena, folder, "", &names, &count, err);
    if (status != SHMTUNE_OK)
        return shmt_command_change_status(err, SHMTUNE_NOT_FOUND,
                                          SHMTUNE_STORAGE);
    for (size_t k = 0; status == SHMTUNE_OK && k < count; k++) {
        const char *path = shmt_path_join(job->arena, folder, names[k]);

        status = path == NULL ? shmt_error_memory(err)
                              : is_launch(job, path, &is, err);
        if (status == SHMTUNE_OK && is) {
            found++;
            status = take_launch(job, path, err);
        }
    }
    if (status == SHMTUNE_OK && found == 0)
        status = shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                                "%s holds no captured launch; `shmtune "
                                "capture -o DIR` writes them", folder);
    return status;
}

/* Whether the library has said what became of it. */
static bool is_told(const char *notes, const char *symbol)
{
    const size_t length = strlen(symbol);

    for (const char *line = notes; *line != '\0';
         line += strcspn(line, "\n"), line += *line == '\n')
        if (strncmp(line, symbol, length) == 0 &&
            (line[length] == ' ' || line[length] == ':'))
            return true;
    return false;
}

/* What nothing was heard of was not launched as it was captured. */
static void tell_unheard(const struct job *job)
{
    for (const struct planned *one = job->planned; one != NULL;
         one = one->next) {
        struct shmt_text text = {0};

        if (is_told(job->notes, one->symbol))
            continue;
        shmt_text_addf(&text, "%s stays as it is: no launch of it was "
                       "compiled and made as the captured one, outside of "
                       "graphs, or the program ended suddenly in its trial",
                       one->symbol);
        shmt_preload_note(job->call, shmt_text_string(&text));
        shmt_text_free(&text);
    }
}

/* A size, or a name that is mistyped, would make a program wait for nothing. */
static enum shmtune_status check_any(const struct job *job,
                                     struct shmt_error *err)
{
    for (size_t k = 0; k < job->any.count && job->launches > 0; k++)
        if (!job->is_any[k])
            return shmt_error_set(
                err, SHMTUNE_INVALID_ARGUMENT, "--any %.64s: no launch that is "
                "tuned has a number of that name in its spec; of a size, "
                "capture the launches that matter (--count)",
                job->any.items[k]);
    return SHMTUNE_OK;
}

/* -- the run -------------------------------------------------------------- */

static enum shmtune_status run_program(struct job *job,
                                       struct shmt_error *err)
{
    const char *plan = shmt_path_join(job->arena, job->raw.folder, "plan");
    const char *env[5] = {NULL};
    enum shmtune_status status =
        plan == NULL || job->plan.failed
            ? shmt_error_memory(err)
            : shmt_path_write(plan, shmt_text_string(&job->plan),
                              job->plan.length, err);

    if (status == SHMTUNE_OK)
        status = shmt_preload_library(job->arena, &env[0], err);
    if (status == SHMTUNE_OK) {
        env[1] = shmt_preload_setting(job->arena, SHMT_CAPTURE_FOLDER,
                                      job->raw.folder);
        env[2] = shmt_preload_setting(job->arena, SHMT_CAPTURE_PLAN, plan);
        env[3] = job->trial ? NULL : SHMT_CAPTURE_NO_TRIAL "=1";
        if (env[1] == NULL || env[2] == NULL)
            status = shmt_error_memory(err);
    }
    if (status == SHMTUNE_OK)
        status = shmt_program_run_own(
            (const char *const *)job->call->words, env, &job->ended, err);
    if (status == SHMTUNE_OK)
        status = shmt_preload_tell_notes(job->call, job->arena,
                                         job->raw.folder, &job->notes, err);
    if (status == SHMTUNE_OK && job->planned != NULL &&
        !shmt_preload_tell_unloaded(job->call, job->arena, job->raw.folder))
        tell_unheard(job);
    return status;
}

static enum shmtune_status run(const struct shmt_command_call *call,
                               struct shmt_error *err)
{
    struct job job = {.call = call, .trial = true, .raw.lock = -1};
    const struct shmt_command_option options[] = {
        {"captured", 0, SHMT_OPTION_PATHS, &job.captured, 0, 0},
        {"tunings", 0, SHMT_OPTION_PATH, &job.tunings, 0, 0},
        {"any", 0, SHMT_OPTION_REPEATED, &job.any, 0, 0},
        {"trial", 0, SHMT_OPTION_FLAG, &job.trial, 0, 0},
        {NULL, 0, SHMT_OPTION_FLAG, NULL, 0, 0}
    };
    int rest;
    enum shmtune_status status =
        shmt_command_options(call, options, &rest, err);

    if (status != SHMTUNE_OK)
        return status;
    if (rest == 0 || job.captured.count == 0)
        return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                              rest == 0 ? "run needs a program: -- PROGRAM "
                                          "[ARGUMENT]..."
                                        : "run needs captured launches: "
                                          "--captured DIR");
    if (job.tunings != NULL &&
        shmt_path_kind(job.tunings) != SHMT_PATH_FOLDER)
        return shmt_error_set(err, SHMTUNE_STORAGE, "--tunings %s: there is no "
                              "such folder; `shmtune tune -o DIR` makes it",
                              job.tunings);
    call->words[rest] = NULL;
    job.arena = shmt_arena_new();
    status = job.arena == NULL ? shmt_error_memory(err)
                               : shmt_scratch_make("shmtune-run", &job.raw,
                                                   err);
    for (size_t k = 0; status == SHMTUNE_OK && k < job.captured.count; k++)
        status = take_folder(&job, job.captured.items[k], err);
    if (status == SHMTUNE_OK)
        status = check_any(&job, err);
    if (status == SHMTUNE_OK)
        status = run_program(&job, err);
    shmt_scratch_remove(&job.raw);
    shmt_text_free(&job.plan);
    shmt_arena_free(job.arena);
    return status == SHMTUNE_OK ? shmt_preload_status(job.ended, err) : status;
}

const struct shmt_command shmt_command_run = {
    "run", "an application, with tuned kernels in it", help, run
};
