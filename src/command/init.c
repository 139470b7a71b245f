/* SPDX-License-Identifier: MIT */
/*
 * init: drafts the spec of a kernel from the text of its source.  Needs neither
 * a GPU nor a compiler.  init_write.c writes the draft.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "command/init.h"
#include "command/json.h"
#include "yaml/yaml.h"

static const char help[] =
    "usage: shmtune init FILE.cu [OPTION]... [-- COMMAND...]\n"
    "\n"
    "Drafts the spec of a kernel, from the text of its source: the types of\n"
    "its arguments, what it does with arrays, and, from code of the host in\n"
    "the source, in what that includes or in a file beside it, the launch,\n"
    "how long arrays are, and sizes. Parameters are extents of a block that\n"
    "the kernel asks for (blockDim), macros behind #ifndef, and each #define,\n"
    "constant and name that nobody declares that reaches the block, the\n"
    "launch bounds or an array in shared memory. What the text does not say\n"
    "is marked \"TODO: ...\"; `shmtune check` lists the marks. Needs no GPU\n"
    "and no compiler.\n"
    "\n"
    "Folders of headers, -D and options of device code are those of the\n"
    "command that compiles the source: what stands behind --, or what a\n"
    "compile_commands.json says, of the source's folder, one above it, or\n"
    "their build/ (cmake -DCMAKE_EXPORT_COMPILE_COMMANDS=ON).\n"
    "\n"
    "  --entry NAME    the kernel, where the source has several\n"
    "  -o, --output FILE  the spec [FILE.yaml beside the source]; - prints it\n"
    "  --force         write over a file that is there\n"
    "  --json          the file, what the source says of the arguments, and\n"
    "                  what is left to write, as JSON\n"
    "\n"
    "exit status: 0 drafted, 1 there is no such kernel\n"
    "\n"
    "examples:\n"
    "  shmtune init scale.cu\n"
    "  shmtune init main.cu --entry reduce -o reduce.yaml\n"
    "  shmtune init scale.cu --force -- nvcc -O3 -I ../include -c scale.cu\n";

struct job {
    const char *entry, *output;
    bool force, json;
    const char *const *command;       /* that builds the source */
    size_t command_count;
    const struct shmt_command_call *call;
    struct shmt_init_draft draft;
};

/* -- which kernel --------------------------------------------------------- */

static const char *const plain[] = {"_reference", "_ref", "_naive"};
enum { PLAIN = sizeof plain / sizeof plain[0] };

/* Whether the name is that of a reference, and of which kernel. */
static bool is_reference(const char *name, size_t *length)
{
    for (size_t k = 0; k < PLAIN; k++) {
        if (shmt_text_ends(name, plain[k])) {
            *length = strlen(name) - strlen(plain[k]);
            return true;
        }
    }
    return false;
}

static enum shmtune_status refuse(const struct job *job, const char *path,
                                  bool several, struct shmt_error *err)
{
    const struct shmt_source *source = &job->draft.source;
    struct shmt_text names = {0};
    enum shmtune_status status;

    for (size_t k = 0; k < source->kernel_count; k++)
        shmt_text_addf(&names, "%s%s", k == 0 ? "" : ", ",
                       source->kernels[k].qualified);
    if (source->kernel_count == 0)
        status = shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                                "%s defines no __global__ function", path);
    else if (job->entry != NULL && !several)
        status = shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                                "%s has no kernel \"%.64s\"; it has %.500s",
                                path, job->entry, shmt_text_string(&names));
    else
        status = shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                                "%s has %zu kernels: name one with --entry: "
                                "%.500s", path, source->kernel_count,
                                shmt_text_string(&names));
    if (names.failed)
        status = shmt_error_memory(err);
    shmt_text_free(&names);
    return status;
}

/* How well the kernel is what --entry means, or without one may be meant. */
static enum shmt_source_match meant(const struct job *job,
                                    const struct shmt_source_kernel *kernel)
{
    enum shmt_source_match match = SHMT_SOURCE_EXACT;
    size_t length;

    if (job->entry != NULL)
        match = shmt_source_match(kernel, job->entry, strlen(job->entry));
    else if (is_reference(kernel->name, &length))
        match = SHMT_SOURCE_OTHER;
    return match == SHMT_SOURCE_ELSEWHERE ? SHMT_SOURCE_OTHER : match;
}

/* *several: another one is meant as well.  Of overloads the first is taken. */
static void find_meant(struct job *job, bool *several)
{
    struct shmt_init_draft *draft = &job->draft;
    enum shmt_source_match best = SHMT_SOURCE_OTHER;

    *several = false;
    draft->kernel = NULL;
    for (size_t k = 0; k < draft->source.kernel_count; k++) {
        const struct shmt_source_kernel *one = &draft->source.kernels[k];
        const enum shmt_source_match match = meant(job, one);

        if (match > best) {
            *several = false;
            best = match;
            draft->kernel = one;
        } else if (match == best && match != SHMT_SOURCE_OTHER) {
            *several |= job->entry == NULL ||
                        strcmp(one->qualified, draft->kernel->qualified) != 0;
        }
    }
}

/* Whether the kernel looks like the reference of the one that is drafted. */
static bool refers(const struct shmt_init_draft *draft,
                   const struct shmt_source_kernel *kernel)
{
    size_t length;

    return is_reference(kernel->name, &length) &&
           length == strlen(draft->kernel->name) &&
           memcmp(kernel->name, draft->kernel->name, length) == 0 &&
           kernel->signature.count == draft->kernel->signature.count;
}

/* Both stand in the same namespaces. */
static bool are_neighbours(const struct shmt_source_kernel *a,
                           const struct shmt_source_kernel *b)
{
    const size_t length = strlen(a->qualified) - strlen(a->name);

    return length == strlen(b->qualified) - strlen(b->name) &&
           memcmp(a->qualified, b->qualified, length) == 0;
}

static void find_reference(struct shmt_init_draft *draft)
{
    const struct shmt_source *source = &draft->source;

    draft->reference = NULL;
    for (size_t k = 0; k < source->kernel_count; k++)
        if (refers(draft, &source->kernels[k]) &&
            (draft->reference == NULL ||
             are_neighbours(draft->kernel, &source->kernels[k])))
            draft->reference = &source->kernels[k];
}

static void take_launch(struct shmt_init_draft *draft)
{
    const struct shmt_source *source = &draft->source;

    for (size_t k = 0; k < source->launch_count && draft->launch == NULL; k++)
        if (strcmp(source->launches[k].name, draft->kernel->name) == 0)
            draft->launch = &source->launches[k];
}

/* In the source, or in a file beside it. */
static enum shmtune_status find_launch(struct job *job, const char *path,
                                       struct shmt_error *err)
{
    struct shmt_init_draft *draft = &job->draft;
    bool several;
    enum shmtune_status status;

    take_launch(draft);
    if (draft->launch != NULL)
        return SHMTUNE_OK;
    status = shmt_init_read_launch(draft, path, err);
    if (status != SHMTUNE_OK)
        return status;
    /* It has been read anew. */
    find_meant(job, &several);
    find_reference(draft);
    take_launch(draft);
    return SHMTUNE_OK;
}

/* A spec is UTF-8, and could not say it otherwise. */
static enum shmtune_status refuse_name(const char *path,
                                       struct shmt_error *err)
{
    const size_t size = strlen(path);
    size_t at = 0, length = 1;
    uint32_t code;

    for (; at < size && length > 0; at += length)
        length = shmt_utf8_decode(path + at, size - at, &code);
    return length > 0
               ? SHMTUNE_OK
               : shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                                "%s: a spec is UTF-8, and this name of its "
                                "source is not: rename it", path);
}

/* The file that includes the source, which may have other kernels. */
static enum shmtune_status read_compiled(struct job *job,
                                         struct shmt_error *err)
{
    struct shmt_init_draft *const draft = &job->draft;
    bool several;
    enum shmtune_status status;

    if (job->entry == NULL)
        job->entry = draft->kernel->qualified;
    status = shmt_init_read_compiled(draft, draft->compiled, err);
    if (status == SHMTUNE_OK)
        status = refuse_name(draft->path, err);
    if (status != SHMTUNE_OK)
        return status;
    find_meant(job, &several);
    return draft->kernel != NULL
               ? SHMTUNE_OK
               : refuse(job, draft->compiled, several, err);
}

static enum shmtune_status choose(struct job *job, const char *path,
                                  struct shmt_error *err)
{
    struct shmt_init_draft *draft = &job->draft;
    bool several;

    find_meant(job, &several);
    if (draft->kernel == NULL || several)
        return refuse(job, path, several, err);
    if (draft->compiled != NULL) {
        const enum shmtune_status status = read_compiled(job, err);

        if (status != SHMTUNE_OK)
            return status;
    }
    find_reference(draft);
    return find_launch(job, path, err);
}

/* -- the file ------------------------------------------------------------- */

static void tell_mark(void *context, struct shmt_place place,
                      const char *what)
{
    struct shmt_text *const text = context;

    shmt_text_addf(text, "  %s:%d:%d: %s\n", place.file, place.line,
                   place.column, what);
}

static void add_mark(void *context, struct shmt_place place, const char *what)
{
    json_array_append_new(
        context, shmt_json_object(
            "file", shmt_json_text(place.file),
            "line", json_integer(place.line),
            "column", json_integer(place.column),
            "text", shmt_json_text(what), NULL));
}

/* A parameter of the kernel, as its text has it. */
static json_t *argument_of(const struct shmt_init_draft *draft, size_t k)
{
    const struct shmt_signature_parameter *const one =
        &draft->signature.parameters[k];
    const bool known = one->kind == SHMT_SIGNATURE_ELEMENT ||
                       (one->kind == SHMT_SIGNATURE_BITS &&
                        one->element != SHMT_ELEMENT_BYTES);

    return shmt_json_object(
        "name", shmt_json_text(one->name),
        "declared", shmt_json_text(one->type),
        "type", known ? json_string(shmt_element_word(one->element))
                      : json_null(),
        "array", json_boolean(one->pointer),
        "role", one->pointer ? shmt_json_text(shmt_init_role(draft, one))
                             : NULL, NULL);
}

static enum shmtune_status tell_json(const struct job *job,
                                     const struct shmt_yaml *root,
                                     struct shmt_error *err)
{
    json_t *marks = json_array(), *arguments = json_array();

    (void)shmt_yaml_todo(root, add_mark, marks);
    for (size_t k = 0; k < job->draft.signature.count; k++)
        json_array_append_new(arguments, argument_of(&job->draft, k));
    return shmt_json_print("init", shmt_json_object(
        "file", shmt_json_text(job->output),
        "kernel", shmt_json_text(job->draft.kernel->qualified),
        "arguments", arguments, "todo", marks, NULL), err);
}

static enum shmtune_status tell(const struct job *job,
                                const struct shmt_text *draft,
                                struct shmt_error *err)
{
    const struct shmt_yaml *root;
    struct shmt_text marks = {0}, text = {0};
    size_t count;
    const enum shmtune_status status =
        shmt_yaml_parse(job->draft.arena, job->output, draft->data,
                        draft->length, &root, err);

    if (status != SHMTUNE_OK)
        return status;
    if (job->json)
        return tell_json(job, root, err);
    count = shmt_yaml_todo(root, tell_mark, &marks);
    shmt_text_addf(&text, "%s: drafted for %s; %zu thing%s to write:\n%s",
                   job->output, job->draft.kernel->qualified, count,
                   shmt_text_plural(count), shmt_text_string(&marks));
    text.failed |= marks.failed;
    shmt_text_free(&marks);
    if (!job->call->quiet && !shmt_command_is_standard(job->output))
        return shmt_command_print(&text, err);
    if (!job->call->quiet)
        fputs(shmt_text_string(&text), stderr);
    shmt_text_free(&text);
    return SHMTUNE_OK;
}

/* The spec beside the source unless -o says where. */
static enum shmtune_status name_spec(struct job *job, const char *path,
                                     struct shmt_error *err)
{
    const char *slash = strrchr(path, '/');
    const char *dot = strrchr(slash == NULL ? path : slash, '.');
    struct shmt_text name = {0};

    if (job->output != NULL)
        return SHMTUNE_OK;
    shmt_text_add_bytes(&name, path,
                        dot == NULL ? strlen(path) : (size_t)(dot - path));
    shmt_text_add(&name, ".yaml");
    job->output = shmt_text_keep(&name, job->draft.arena);
    return job->output == NULL ? shmt_error_memory(err) : SHMTUNE_OK;
}

/* The source as it is named from the spec's folder. */
static enum shmtune_status name_files(struct job *job, const char *path,
                                      struct shmt_error *err)
{
    struct shmt_arena *arena = job->draft.arena;
    const char *slash = strrchr(path, '/');
    const char *ours = shmt_path_folder(arena, path), *theirs;
    enum shmtune_status status = name_spec(job, path, err);

    if (status != SHMTUNE_OK)
        return status;
    theirs = shmt_path_folder(arena, job->output);
    job->draft.spec_folder =
        theirs == NULL ? NULL : shmt_path_absolute(arena, theirs);
    if (ours == NULL || job->draft.spec_folder == NULL)
        return shmt_error_memory(err);
    if (job->draft.spec_folder[0] != '/')
        return shmt_error_system(err, ".", "cannot be named");
    job->draft.path = slash == NULL ? path : slash + 1;
    if (strcmp(ours, theirs) == 0)
        return SHMTUNE_OK;
    job->draft.path = shmt_path_absolute(arena, path);
    if (job->draft.path == NULL)
        return shmt_error_memory(err);
    return job->draft.path[0] == '/'
               ? SHMTUNE_OK
               : shmt_error_system(err, ".", "cannot be named");
}

static enum shmtune_status refuse_existing(const char *path,
                                           struct shmt_error *err)
{
    switch (shmt_path_kind(path)) {
    case SHMT_PATH_ABSENT:
        return SHMTUNE_OK;
    case SHMT_PATH_UNKNOWN:
        return shmt_error_system(err, path, "cannot be examined");
    default:
        return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                              "%s is there already; --force writes over it, "
                              "-o names another file", path);
    }
}

/* All that the source says of the kernel that was chosen. */
static enum shmtune_status study(struct shmt_init_draft *draft,
                                 struct shmt_error *err)
{
    enum shmtune_status status = shmt_init_find_macros(draft, err);

    if (status == SHMTUNE_OK)
        status = shmt_init_guess_block(draft, err);
    if (status == SHMTUNE_OK)
        status = shmt_init_find_arrays(draft, err);
    if (status == SHMTUNE_OK)
        status = shmt_init_find_types(draft, err);
    if (status == SHMTUNE_OK)
        status = shmt_init_plan(draft, err);
    if (status == SHMTUNE_OK)
        status = shmt_init_guess_grid(draft, err);
    if (status == SHMTUNE_OK)
        status = shmt_source_globals(draft->arena, draft->text, draft->kernel,
                                     &draft->globals, &draft->global_count,
                                     err);
    /* What is not known is a mark, but not for want of memory. */
    return status == SHMTUNE_OK && shmt_arena_failed(draft->arena)
               ? shmt_error_memory(err) : status;
}

static enum shmtune_status draft_file(struct job *job, const char *path,
                                      struct shmt_error *err)
{
    struct shmt_text text = {0};
    enum shmtune_status status = name_files(job, path, err);

    if (status == SHMTUNE_OK)
        status = shmt_init_find_build(&job->draft, path, job->command,
                                      job->command_count, err);
    if (status == SHMTUNE_OK)
        status = shmt_init_read(&job->draft, path, err);
    if (status == SHMTUNE_NOT_FOUND)
        return shmt_error_set_status(err, SHMTUNE_STORAGE);
    if (status == SHMTUNE_OK)
        status = refuse_name(job->draft.path, err);
    if (status == SHMTUNE_OK)
        status = choose(job, path, err);
    if (status == SHMTUNE_OK)
        status = study(&job->draft, err);
    if (status == SHMTUNE_OK)
        status = shmt_command_check_output(job->output, path, err);
    if (status == SHMTUNE_OK && !job->force &&
        !shmt_command_is_standard(job->output))
        status = refuse_existing(job->output, err);
    if (status != SHMTUNE_OK)
        return status;
    shmt_init_write(&job->draft, &text);
    status = shmt_command_put(job->output, &text, err);
    if (status == SHMTUNE_OK)
        status = tell(job, &text, err);
    shmt_text_free(&text);
    return status;
}

/* Else it is no command of a compiler. */
static bool has_option(const struct job *job)
{
    for (size_t k = 0; k < job->command_count; k++)
        if (job->command[k][0] == '-')
            return true;
    return false;
}

static enum shmtune_status run(const struct shmt_command_call *call,
                               struct shmt_error *err)
{
    struct job job = {.call = call};
    const struct shmt_command_option options[] = {
        {"entry", 0, SHMT_OPTION_TEXT, &job.entry, 0, 0},
        {"output", 'o', SHMT_OPTION_PATH, &job.output, 0, 0},
        {"force", 0, SHMT_OPTION_FLAG, &job.force, 0, 0},
        {"json", 0, SHMT_OPTION_FLAG, &job.json, 0, 0},
        {NULL, 0, SHMT_OPTION_FLAG, NULL, 0, 0}
    };
    int rest;
    enum shmtune_status status =
        shmt_command_options(call, options, &rest, err);

    if (status != SHMTUNE_OK)
        return status;
    job.command = (const char *const *)call->words + 1;
    job.command_count = rest > 0 ? (size_t)rest - 1 : 0;
    if (rest == 0 || (rest > 1 && !has_option(&job)))
        return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                              "init needs one source, FILE.cu%s",
                              rest == 0 ? "" : "; the command that compiles "
                              "it may stand behind --");
    if (job.json && job.output != NULL &&
        shmt_command_is_standard(job.output))
        return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                              "-o - and --json both write to standard "
                              "output: leave out one");
    job.draft.arena = shmt_arena_new();
    status = job.draft.arena == NULL
                 ? shmt_error_memory(err)
                 : draft_file(&job, call->words[0], err);
    shmt_arena_free(job.draft.arena);
    return status;
}

const struct shmt_command shmt_command_init = {
    "init", "the draft of a spec, from a source", help, run
};
