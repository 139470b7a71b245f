/* SPDX-License-Identifier: MIT */
/*
 * capture: runs a program with the capturing library before it
 * (capture/capture.h), and makes a spec of each launch that the library wrote.
 * The program's files, signals and exit status are its own.
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/capture.h"
#include "command/capture_list.h"
#include "command/draft.h"
#include "command/json.h"
#include "command/preload.h"
#include "target/target.h"

static const char help[] =
    "usage: shmtune capture [OPTION]... -o DIR -- PROGRAM [ARGUMENT]...\n"
    "       shmtune capture --list [-k GLOB]... -- PROGRAM [ARGUMENT]...\n"
    "\n"
    "Runs the program as it is, and writes what its kernels are given: for\n"
    "each launch asked for a folder DIR/KERNEL-1 with a spec, kernel.yaml,\n"
    "the source where NVRTC compiled it, and every buffer before and after\n"
    "the launch. `shmtune check`, `tune` and `explain` take the folder as a\n"
    "spec: the launch is its problem, what the application's own kernel wrote\n"
    "is what is right, its configuration the default. A kernel of a CUDA\n"
    "graph is captured where the graph is launched.\n"
    "\n"
    "The folders hold the application's data; only you may read them.\n"
    "\n"
    "  -k, --kernel GLOB  kernels to capture, by name; may be repeated [all]\n"
    "  --skip N        launches of each kernel that are let pass [0]\n"
    "  --count N       launches of each kernel to capture [1]\n"
    "  --max-bytes N   most bytes of buffers, all launches together, with K,\n"
    "                  M or G behind it [4G]\n"
    "  -o, --output DIR  where the folders go\n"
    "  --no-rerun      do not make the launches again on device 0, which\n"
    "                  tells outputs from in-outs, and how far results vary\n"
    "  --propose       parameters get the values to try, and not as a\n"
    "                  comment: those that the source compiles with, unless\n"
    "                  the launch made again is wrong with each\n"
    "  --source FILE   where kernels are that nvcc compiled, or what launches\n"
    "                  them; may be repeated\n"
    "                  [what the binary names, of -lineinfo; else *.cu here,\n"
    "                  and in the project's compile_commands.json]\n"
    "  --nvcc-option X  an option that nvcc was given, -DN=4, -I DIR; may be\n"
    "                  repeated [those that compile_commands.json has]\n"
    "  --list          capture nothing; show the kernels by their time\n"
    "  --json          as JSON: the last line of standard output, after what\n"
    "                  the program prints\n"
    "\n"
    "exit status: the program's; 128 and its number where a signal ended it\n"
    "\n"
    "examples:\n"
    "  shmtune capture --list -- ./app input.dat\n"
    "  shmtune capture -k computeForces --skip 10 --propose -o taken -- ./app\n"
    "  shmtune tune taken/computeForces-1 --device 0\n";

struct job {
    const struct shmt_command_call *call;
    struct shmt_command_repeats kernels, sources, options;
    int64_t skip, count;
    const char *bytes, *output;
    bool list, propose, rerun, json;
    struct shmt_arena *arena;
    struct shmt_scratch raw;       /* what the library writes into */
    struct shmt_compiler_line line;    /* the options */
    struct shmt_builds builds;         /* where there are none */
    const char *const *program;
    int ended;                     /* as waitpid says it */
    const char *notes;             /* of the library: what it left out */
    struct written {
        struct shmt_draft *draft;
        const char *path;          /* of its folder */
        const char *again;         /* what making it again has shown; NULL:
                                      it was not */
    } *written;
    size_t written_count, written_room;
};

/* -- the library ---------------------------------------------------------- */

static const char *setting(struct job *job, const char *name,
                           const char *value)
{
    return shmt_preload_setting(job->arena, name, value);
}

static const char *setting_number(struct job *job, const char *name,
                                  uint64_t value)
{
    char number[32];

    snprintf(number, sizeof number, "%llu", (unsigned long long)value);
    return setting(job, name, number);
}

/* "4G" */
static enum shmtune_status read_bytes(const char *text, uint64_t *out,
                                      struct shmt_error *err)
{
    static const char units[] = "KMGT";
    char *end;
    unsigned long long number;
    const char *unit;

    errno = 0;
    number = strtoull(text, &end, 10);
    unit = *end == '\0' ? NULL : strchr(units, *end);
    if (text[0] < '0' || text[0] > '9' || errno != 0 || number == 0 ||
        (*end != '\0' && (unit == NULL || end[1] != '\0')) ||
        number > (UINT64_MAX >> 1) >> (unit == NULL
                                           ? 0 : 10 * (unit - units + 1)))
        return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                              "--max-bytes %.64s: a number of bytes is "
                              "expected, as 512M or 4G", text);
    *out = number << (unit == NULL ? 0 : 10 * (unit - units + 1));
    return SHMTUNE_OK;
}

enum { SETTINGS = 7 };

static enum shmtune_status make_settings(struct job *job,
                                         const char *env[SETTINGS + 1],
                                         struct shmt_error *err)
{
    const char *library = NULL;
    struct shmt_text patterns = {0};
    uint64_t bytes = (uint64_t)4 << 30;
    size_t n = 0;
    enum shmtune_status status =
        shmt_preload_library(job->arena, &library, err);

    if (status == SHMTUNE_OK && job->bytes != NULL)
        status = read_bytes(job->bytes, &bytes, err);
    if (status != SHMTUNE_OK)
        return status;
    for (size_t k = 0; k < job->kernels.count; k++)
        shmt_text_addf(&patterns, "%s%s", k == 0 ? "" : "\n",
                       job->kernels.items[k]);
    env[n++] = library;
    env[n++] = setting(job, SHMT_CAPTURE_FOLDER, job->raw.folder);
    env[n++] = setting(job, SHMT_CAPTURE_KERNELS, shmt_text_string(&patterns));
    env[n++] = setting_number(job, SHMT_CAPTURE_SKIP, (uint64_t)job->skip);
    env[n++] = setting_number(job, SHMT_CAPTURE_COUNT, (uint64_t)job->count);
    env[n++] = setting_number(job, SHMT_CAPTURE_BYTES, bytes);
    if (job->list)
        env[n++] = setting(job, SHMT_CAPTURE_LIST, "1");
    for (size_t k = 0; k < n; k++)
        if (env[k] == NULL || patterns.failed)
            status = shmt_error_memory(err);
    shmt_text_free(&patterns);
    env[n] = NULL;
    return status;
}

/* -- a folder ------------------------------------------------------------- */

/* DIR/NAME-N, the first that is not there. */
static const char *new_folder(struct job *job, const char *name)
{
    char last[96];

    for (int number = 1; number < 1000000; number++) {
        const char *path;

        snprintf(last, sizeof last, "%.56s-%d", name, number);
        path = shmt_path_join(job->arena, job->output, last);
        if (path == NULL || shmt_path_is_absent(path))
            return path;
    }
    return NULL;
}

static enum shmtune_status tell(struct job *job, const char *format,
                                const char *one, const char *other)
{
    struct shmt_text text = {0};

    if (!job->call->quiet) {
        shmt_text_addf(&text, "%s%s%s", one, format, other);
        shmt_command_tell("", shmt_text_string(&text));
    }
    shmt_text_free(&text);
    return SHMTUNE_OK;
}

static enum shmtune_status keep(struct job *job, struct shmt_draft *draft,
                                struct shmt_error *err)
{
    if (draft == NULL || !shmt_array_reserve(&job->written, &job->written_room,
                            job->written_count + 1, sizeof *job->written))
        return shmt_error_memory(err);
    job->written[job->written_count++] = (struct written){.draft = draft};
    draft->arena = job->arena;
    draft->propose = job->propose;
    return SHMTUNE_OK;
}

static void release(struct shmt_draft *draft)
{
    shmt_text_free(&draft->definitions);
    shmt_text_free(&draft->notes);
    shmt_text_free(&draft->keys);
}

static void tell_kinds(struct job *job, const char *path,
                       const struct shmt_draft *draft)
{
    struct shmt_text text = {0};
    char *rest, *line;

    shmt_draft_tell_kinds(draft, &text);
    if (!text.failed && text.length > 0)
        for (line = strtok_r(text.data, "\n", &rest); line != NULL;
             line = strtok_r(NULL, "\n", &rest))
            tell(job, ": ", path, line);
    shmt_text_free(&text);
}

static enum shmtune_status tell_draft(struct job *job, const char *path,
                                      const struct shmt_draft *draft)
{
    if (draft->nvcc)
        tell(job, ": the launch and its buffers; its source is ", path,
             draft->source);
    else
        tell(job, ": ", path,
             draft->code != NULL
                 ? "the launch, its source and its buffers"
                 : "the launch and its buffers; its source was not seen: "
                   "--source names it");
    tell_kinds(job, path, draft);
    return SHMTUNE_OK;
}

/* The draft goes into the library's folder, which then gets its name; another
 * capture may take that meanwhile. */
static enum shmtune_status write_one(struct job *job, struct shmt_draft *draft,
                                     const char *folder, const char **out,
                                     struct shmt_error *err)
{
    enum shmtune_status status;

    do {
        *out = new_folder(job, draft->name);
        if (*out == NULL)
            return shmt_error_memory(err);
        draft->folder = strrchr(*out, '/') + 1;
        status = shmt_draft_write(draft, folder, err);
        if (status != SHMTUNE_OK || rename(folder, *out) == 0)
            return status;
    } while (errno == EEXIST || errno == ENOTEMPTY);
    return shmt_error_system(err, *out, "cannot be made");
}

static enum shmtune_status draft_one(struct job *job, const char *folder,
                                     struct shmt_error *err)
{
    struct shmt_draft *draft = shmt_arena_alloc(job->arena, 1, sizeof *draft);
    const char *path = NULL;
    enum shmtune_status status = keep(job, draft, err);

    if (status == SHMTUNE_OK)
        status = shmt_draft_read(draft, folder, err);
    if (status == SHMTUNE_OK)
        status = shmt_draft_find_source(
            draft, folder,
            &(struct shmt_draft_sources){
                job->sources.items, job->sources.count,
                job->options.count == 0 ? NULL : &job->line, &job->builds},
            err);
    if (status == SHMTUNE_OK && draft->nvcc)
        status = shmt_draft_find_hosts(draft, job->sources.items,
                                       job->sources.count, err);
    if (status == SHMTUNE_OK) {
        shmt_draft_options(draft);
        status = shmt_draft_find_kernel(draft, err);
    }
    if (status == SHMTUNE_OK)
        status = shmt_draft_find_numbers(draft, err);
    if (status == SHMTUNE_OK)
        status = write_one(job, draft, folder, &path, err);
    if (status == SHMTUNE_OK)
        status = tell_draft(job, path, draft);
    if (status == SHMTUNE_OK)
        job->written[job->written_count - 1].path = path;
    return status;
}

/* A launch that was written down otherwise than it should be keeps no other
 * from its draft. */
static enum shmtune_status draft_or_tell(struct job *job, const char *folder,
                                         struct shmt_error *err)
{
    struct shmt_error why = {0};
    const enum shmtune_status status = draft_one(job, folder, &why);

    if (status != SHMTUNE_INVALID_FILE)
        return status == SHMTUNE_OK
                   ? status : shmt_error_set(err, status, "%s", why.text);
    release(job->written[--job->written_count].draft);
    return tell(job, "a launch is left out: ", "", why.text);
}

/* A folder of the library is whole when its name does not say otherwise. */
static enum shmtune_status draft_all(struct job *job, struct shmt_error *err)
{
    const char *const *names;
    size_t count;
    enum shmtune_status status = shmt_path_list(job->arena, job->raw.folder,
                                                "", &names, &count, err);

    for (size_t k = 0; status == SHMTUNE_OK && k < count; k++) {
        const char *folder =
            shmt_path_join(job->arena, job->raw.folder, names[k]);
        const char *launch =
            folder == NULL ? NULL : shmt_path_join(job->arena, folder,
                                                   SHMT_CAPTURE_LAUNCH);
        const size_t length = strlen(names[k]);
        const size_t part = sizeof SHMT_CAPTURE_PART - 1;

        if (launch == NULL)
            status = shmt_error_memory(err);
        else if (shmt_path_is_file(launch) &&
                 (length < part || strcmp(names[k] + length - part,
                                          SHMT_CAPTURE_PART) != 0))
            status = draft_or_tell(job, folder, err);
    }
    return status;
}

/* -- launches of one kernel ----------------------------------------------- */

/* Those of the kernel of one, in their order, into its draft. */
static enum shmtune_status gather(struct job *job, struct shmt_draft *draft,
                                  struct shmt_error *err)
{
    const struct shmt_draft **launches =
        shmt_arena_alloc(job->arena, job->written_count, sizeof *launches);
    size_t count = 0;

    if (launches == NULL)
        return shmt_error_memory(err);
    for (size_t k = 0; k < job->written_count; k++)
        if (shmt_draft_is_of_one(draft, job->written[k].draft))
            launches[count++] = job->written[k].draft;
    draft->launches = launches;
    draft->launch_count = count;
    return SHMTUNE_OK;
}

/* What several launches say of a kernel goes into the draft of each.  What
 * they share is made once. */
static enum shmtune_status fit_all(struct job *job, struct shmt_error *err)
{
    enum shmtune_status status = SHMTUNE_OK;

    for (size_t k = 0; status == SHMTUNE_OK && k < job->written_count; k++) {
        struct shmt_draft *draft = job->written[k].draft;

        for (size_t i = 0; draft->launches == NULL && i < k; i++)
            if (shmt_draft_is_of_one(draft, job->written[i].draft)) {
                draft->launches = job->written[i].draft->launches;
                draft->launch_count = job->written[i].draft->launch_count;
            }
        if (draft->launches == NULL)
            status = gather(job, draft, err);
        if (status == SHMTUNE_OK && draft->launch_count > 1)
            status = shmt_draft_write(draft, job->written[k].path, err);
    }
    return status;
}

/* -- what does not compile ------------------------------------------------- */

/* Of all drafts together. */
static const double COMPILE_S = 120;

/* That of device 0, where there is one. */
static void find_arch(char out[16])
{
    struct shmtune_device *devices;
    size_t count;

    snprintf(out, 16, "sm_90");
    if (shmt_live_devices(getenv("SHMTUNE_WORKER"), NULL, &devices, &count,
                          NULL) != SHMTUNE_OK)
        return;
    if (count > 0 && devices[0].name[0] != '\0')
        shmt_device_arch_text(&devices[0], out);
    free(devices);
}

/* The first earlier launch of the kernel for which that holds, any for NULL;
 * NULL: none. */
static const struct shmt_draft *
earlier_of_one(const struct job *job, size_t k,
               bool (*is)(const struct shmt_draft *draft))
{
    for (size_t i = 0; i < k; i++)
        if ((is == NULL || is(job->written[i].draft)) &&
            shmt_draft_is_of_one(job->written[k].draft, job->written[i].draft))
            return job->written[i].draft;
    return NULL;
}

/* Values with which its source does not compile are left out and said; where
 * there is no compiler, or the time is over, none are. */
static enum shmtune_status drop_values(struct job *job, size_t k,
                                       const char *arch, double most_s,
                                       struct shmt_error *err)
{
    const struct written *const written = &job->written[k];
    struct shmt_text text = {0};
    struct shmt_error why = {0};
    enum shmtune_status status = SHMTUNE_OK;

    if (shmt_draft_compile(written->draft, earlier_of_one(job, k, NULL),
                           written->path, arch, most_s, &why) == SHMTUNE_OK &&
        shmt_draft_tell_refused(written->draft, &text)) {
        status = shmt_draft_write(written->draft, written->path, err);
        if (status == SHMTUNE_OK)
            status = tell(job, ": ", written->path, shmt_text_string(&text));
    }
    shmt_text_free(&text);
    return status;
}

static enum shmtune_status compile_all(struct job *job, struct shmt_error *err)
{
    const double until_s = shmt_clock_s() + COMPILE_S;
    char arch[16] = "";
    enum shmtune_status status = SHMTUNE_OK;

    for (size_t k = 0; status == SHMTUNE_OK && k < job->written_count; k++) {
        const double left_s = until_s - shmt_clock_s();

        if (job->written[k].draft->code == NULL || left_s <= 0 ||
            shmt_command_stopped)
            continue;
        if (arch[0] == '\0')
            find_arch(arch);
        status = drop_values(job, k, arch, left_s, err);
    }
    return status;
}

/* -- again ---------------------------------------------------------------- */

static enum shmtune_status tell_again(struct job *job,
                                      struct written *written,
                                      const char *text, struct shmt_error *err)
{
    written->again = shmt_arena_copy(job->arena, text, strlen(text));
    return written->again == NULL ? shmt_error_memory(err)
                                  : tell(job, ": ", written->path, text);
}

/* What was found of it is said, and stands in its spec. */
static enum shmtune_status keep_rerun(struct job *job,
                                      struct written *written,
                                      struct shmt_error *err)
{
    struct shmt_text text = {0};
    enum shmtune_status status =
        shmt_draft_write(written->draft, written->path, err);

    if (status == SHMTUNE_OK) {
        shmt_draft_tell_rerun(written->draft, &text);
        status = tell_again(job, written, shmt_text_string(&text), err);
    }
    shmt_text_free(&text);
    return status;
}

static enum shmtune_status tell_why_not(struct job *job,
                                        struct written *written,
                                        const char *why,
                                        struct shmt_error *err)
{
    struct shmt_text text = {0};
    enum shmtune_status status;

    shmt_text_addf(&text, "not made again, so that roles and tolerances are "
                   "guesses: %s", why);
    if (written->draft->nvcc && strstr(why, "No such file") != NULL)
        shmt_text_add(&text, "; --nvcc-option=-IDIR names the folder of a "
                      "header");
    status = tell_again(job, written, shmt_text_string(&text), err);
    shmt_text_free(&text);
    return status;
}

static bool is_reran(const struct shmt_draft *draft)
{
    return draft->reran;
}

static bool is_chosen(const struct shmt_draft *draft)
{
    return draft->chosen;
}

/* Which of several expressions an extent has, and which numbers are no choice,
 * where an earlier launch of the kernel has not shown it.  What cannot be tried
 * stays as it was, and is said in the draft. */
static void decide(struct job *job, size_t k, const char *images)
{
    const struct written *const written = &job->written[k];

    (void)shmt_draft_decide(written->draft, earlier_of_one(job, k, is_reran),
                            written->path, images, NULL);
    if (job->propose)
        (void)shmt_draft_choose(written->draft,
                                earlier_of_one(job, k, is_chosen),
                                written->path, images, NULL);
}

/* What cannot be made again stays as it is, and why is said: once where that is
 * no affair of one launch. */
static enum shmtune_status rerun_all(struct job *job, struct shmt_error *err)
{
    const char *images =
        shmt_path_join(job->arena, job->raw.folder, "images");
    enum shmtune_status status = SHMTUNE_OK;

    if (images == NULL)
        return shmt_error_memory(err);
    for (size_t k = 0; status == SHMTUNE_OK && k < job->written_count; k++) {
        struct written *written = &job->written[k];
        struct shmt_error why = {0};

        if (written->draft->code == NULL)
            continue;
        status = shmt_command_stopped
                     ? shmt_error_set(&why, SHMTUNE_INTERRUPTED, "interrupted")
                     : shmt_draft_rerun(written->draft, written->path, images,
                                        &why);
        if (status == SHMTUNE_OK) {
            decide(job, k, images);
            status = keep_rerun(job, written, err);
            continue;
        }
        status = tell_why_not(job, written, why.text, err);
        if (why.status != SHMTUNE_WRONG_RESULT &&
            why.status != SHMTUNE_INVALID_FILE)
            break;
    }
    return status;
}

/* -- JSON ----------------------------------------------------------------- */

static json_t *lines_json(const char *text)
{
    json_t *const lines = json_array();
    const char *end;

    for (; (end = strchr(text, '\n')) != NULL; text = end + 1) {
        char line[1024];

        snprintf(line, sizeof line, "%.*s", (int)(end - text), text);
        json_array_append_new(lines, shmt_json_text(line));
    }
    return lines;
}

static enum shmtune_status print_json(const struct job *job,
                                      struct shmt_error *err)
{
    json_t *const launches = json_array();

    for (size_t k = 0; k < job->written_count; k++) {
        const struct written *one = &job->written[k];

        json_array_append_new(launches, shmt_json_object(
            "kernel", shmt_json_text(one->draft->name),
            "symbol", shmt_json_text(one->draft->symbol),
            "folder", shmt_json_text(one->path),
            "source", json_boolean(one->draft->code != NULL),
            "again", shmt_json_text(one->again), NULL));
    }
    return shmt_json_print("capture", shmt_json_object(
        "launches", launches, "notes", lines_json(job->notes), NULL), err);
}

/* -- the run -------------------------------------------------------------- */

static enum shmtune_status run_program(struct job *job,
                                       struct shmt_error *err)
{
    const char *env[SETTINGS + 1];
    bool unloaded = false;
    enum shmtune_status status = make_settings(job, env, err);

    if (status == SHMTUNE_OK)
        status = shmt_program_run_own(job->program, env, &job->ended, err);
    if (status == SHMTUNE_OK)
        status = shmt_preload_tell_notes(job->call, job->arena,
                                         job->raw.folder, &job->notes, err);
    if (status == SHMTUNE_OK)
        unloaded = shmt_preload_tell_unloaded(job->call, job->arena,
                                              job->raw.folder);
    if (status == SHMTUNE_OK && job->list)
        return shmt_command_list_captured(
            &(struct shmt_command_captured){job->call, job->arena,
                                            job->raw.folder, job->json}, err);
    if (status == SHMTUNE_OK)
        status = draft_all(job, err);
    if (status == SHMTUNE_OK)
        status = fit_all(job, err);
    if (status == SHMTUNE_OK && job->propose)
        status = compile_all(job, err);
    if (status == SHMTUNE_OK && job->rerun)
        status = rerun_all(job, err);
    if (status == SHMTUNE_OK && job->written_count == 0 && !unloaded)
        status = tell(job, "", "", "no launch was captured; `shmtune capture "
                      "--list` shows the kernels that the program launches");
    return status == SHMTUNE_OK && job->json ? print_json(job, err) : status;
}

static enum shmtune_status prepare(struct job *job, struct shmt_error *err)
{
    enum shmtune_status status;

    if (job->list)
        return shmt_scratch_make("shmtune-capture", &job->raw, err);
    status = shmt_path_make_folder(job->output, 0700, err);
    if (status == SHMTUNE_OK)
        job->output = shmt_path_absolute(job->arena, job->output);
    if (status == SHMTUNE_OK && job->output == NULL)
        status = shmt_error_memory(err);
    if (status == SHMTUNE_OK)
        status = shmt_compiler_line_read(job->arena, NULL, job->options.items,
                                         job->options.count, &job->line, err);
    /* Hidden, on the same disk, and gone with the next capture if this one is
     * killed. */
    return status == SHMTUNE_OK
               ? shmt_scratch_make_in(job->output, ".capture", &job->raw, err)
               : status;
}

static enum shmtune_status run(const struct shmt_command_call *call,
                               struct shmt_error *err)
{
    struct job job = {.call = call, .count = 1, .rerun = true};
    const struct shmt_command_option options[] = {
        {"kernel", 'k', SHMT_OPTION_REPEATED, &job.kernels, 0, 0},
        {"skip", 0, SHMT_OPTION_INT, &job.skip, 0, INT64_MAX},
        {"count", 0, SHMT_OPTION_INT, &job.count, 1, INT64_MAX},
        {"max-bytes", 0, SHMT_OPTION_TEXT, &job.bytes, 0, 0},
        {"output", 'o', SHMT_OPTION_PATH, &job.output, 0, 0},
        {"propose", 0, SHMT_OPTION_FLAG, &job.propose, 0, 0},
        {"source", 0, SHMT_OPTION_PATHS, &job.sources, 0, 0},
        {"nvcc-option", 0, SHMT_OPTION_REPEATED, &job.options, 0, 0},
        {"rerun", 0, SHMT_OPTION_FLAG, &job.rerun, 0, 0},
        {"list", 0, SHMT_OPTION_FLAG, &job.list, 0, 0},
        {"json", 0, SHMT_OPTION_FLAG, &job.json, 0, 0},
        {NULL, 0, SHMT_OPTION_FLAG, NULL, 0, 0}
    };
    int rest;
    enum shmtune_status status =
        shmt_command_options(call, options, &rest, err);

    shmt_json_one_line();
    if (status != SHMTUNE_OK)
        return status;
    if (rest == 0)
        return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                              "capture needs a program: -- PROGRAM "
                              "[ARGUMENT]...");
    if (job.list == (job.output != NULL))
        return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                              job.list ? "--list writes no folders: leave out "
                                         "-o"
                                       : "capture needs a folder for what it "
                                         "writes: -o DIR");
    for (size_t k = 0; k < job.sources.count; k++)
        if (!shmt_path_is_file(job.sources.items[k]))
            return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                                  "--source %s is no file",
                                  job.sources.items[k]);
    call->words[rest] = NULL;
    job.program = (const char *const *)call->words;
    job.raw.lock = -1;
    job.arena = shmt_arena_new();
    job.builds.arena = job.arena;
    shmt_command_catch_signals();
    status = job.arena == NULL ? shmt_error_memory(err) : prepare(&job, err);
    if (status == SHMTUNE_OK)
        status = run_program(&job, err);
    for (size_t k = 0; k < job.written_count; k++)
        release(job.written[k].draft);
    free(job.written);
    shmt_scratch_remove(&job.raw);
    shmt_builds_free(&job.builds);
    shmt_arena_free(job.arena);
    return status == SHMTUNE_OK ? shmt_preload_status(job.ended, err) : status;
}

const struct shmt_command shmt_command_capture = {
    "capture", "a spec with real data, from a running application", help, run
};
