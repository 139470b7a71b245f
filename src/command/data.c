/* SPDX-License-Identifier: MIT */
/*
 * data: the command `shmtune data`: writes what the tuner fills the inputs of
 * a problem with, one .npy each, computed here or copied from a file.  Needs no
 * GPU.
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command/command.h"
#include "command/json.h"
#include "data/data.h"

enum { PART = 1 << 16 };   /* elements that are computed at a time */

static const char help[] =
    "usage: shmtune data KERNEL|SPEC.yaml -o DIR [OPTION]...\n"
    "\n"
    "Writes every input of a problem (roles input, inout, value and symbol)\n"
    "as DIR/NAME.npy, with the very bits that candidates are checked and\n"
    "timed with, so that anybody can do the same elsewhere: numpy.load reads\n"
    "them. "
    "Scalars are printed. Needs no GPU.\n"
    "\n"
    "  -o, --output DIR  where to; made when it is absent\n"
    "  --size DIM=N,...  the problem; dimensions left out have their default\n"
    "  --data-seed N     of the random inputs [1]\n"
    "  --json            what was written, as JSON\n"
    "\n"
    "examples:\n"
    "  shmtune data transpose -o inputs --size rows=1024,cols=512\n"
    "  shmtune data ./my_kernel.yaml -o inputs --data-seed 7\n";

/* One use of the command. */
struct job {
    const char *output, *size;
    int64_t data_seed;
    bool json;
    struct shmt_kernel *kernel;
    struct shmt_arena *arena;
    int64_t problem[SHMT_KERNEL_DIMENSIONS];
    struct shmt_kernel_evaluated evaluated;
    struct shmt_table table;
    json_t *list;
};

/* A .npy on its way. */
struct output {
    const char *path;
    FILE *file;
};

/* -- writing -------------------------------------------------------------- */

static enum shmtune_status put(const struct output *output, const void *bytes,
                               size_t size, struct shmt_error *err)
{
    return fwrite(bytes, 1, size, output->file) == size
               ? SHMTUNE_OK
               : shmt_error_system(err, output->path, "cannot be written");
}

static enum shmtune_status take_part(void *context, void *bytes,
                                     uint64_t offset, size_t size,
                                     struct shmt_error *err)
{
    (void)offset;
    return put(context, bytes, size, err);
}

static enum shmtune_status put_computed(const struct output *output,
                                        const struct shmt_fill_values *values,
                                        const struct shmt_pattern *pattern,
                                        struct shmt_error *err)
{
    const size_t size = shmt_element_bytes(values->element);
    char *part = malloc(PART * size);
    enum shmtune_status status =
        part == NULL ? shmt_error_memory(err) : SHMTUNE_OK;

    for (uint64_t i = 0; status == SHMTUNE_OK && i < values->count;
         i += PART) {
        const size_t count =
            values->count - i < PART ? (size_t)(values->count - i) : PART;

        for (size_t k = 0; k < count; k++) {
            const union shmt_element_scalar value =
                shmt_pattern_value(pattern, i + k);

            memcpy(part + k * size, &value, size);
        }
        status = put(output, part, count * size, err);
        if (status == SHMTUNE_OK && shmt_command_stopped != 0)
            status = shmt_error_set(err, SHMTUNE_INTERRUPTED, "interrupted");
    }
    free(part);
    return status;
}

static enum shmtune_status put_array(const struct job *job, size_t number,
                                     const struct shmt_fill_values *values,
                                     struct output *output,
                                     struct shmt_error *err)
{
    const struct shmt_pattern pattern =
        shmt_pattern_of(values, number, (uint64_t)job->data_seed);
    const struct shmt_data_sink sink = {take_part, output};
    struct shmt_text header = {0};
    enum shmtune_status status;

    shmt_npy_write(values->element, values->count, &header);
    status = header.failed
                 ? shmt_error_memory(err)
                 : put(output, header.data, header.length, err);
    shmt_text_free(&header);
    if (status == SHMTUNE_OK)
        status = values->file != NULL
                     ? shmt_data_read(values, NULL, &sink, err)
                     : put_computed(output, values, &pattern, err);
    if (status == SHMTUNE_OK && fflush(output->file) != 0)
        status = shmt_error_system(err, output->path, "cannot be written");
    return status;
}

/* The file has its name once it is whole. */
static enum shmtune_status write_array(const struct job *job, size_t number,
                                       const struct shmt_fill_values *values,
                                       const char *path,
                                       struct shmt_error *err)
{
    struct shmt_text part = {0};
    struct output output = {.path = path};
    enum shmtune_status status;

    shmt_text_addf(&part, "%s.part", path);
    if (part.failed)
        return shmt_error_memory(err);
    output.file = fopen(part.data, "wb");
    if (output.file == NULL) {
        status = shmt_error_system(err, part.data, "cannot be created");
        goto done;
    }
    status = put_array(job, number, values, &output, err);
    if (fclose(output.file) != 0 && status == SHMTUNE_OK)
        status = shmt_error_system(err, path, "cannot be written");
    if (status == SHMTUNE_OK && rename(part.data, path) != 0)
        status = shmt_error_system(err, path, "cannot be written");
    if (status != SHMTUNE_OK)
        unlink(part.data);
done:
    shmt_text_free(&part);
    return status;
}

/* -- telling -------------------------------------------------------------- */

static enum shmtune_status tell_number(struct job *job, const char *name,
                                       enum shmt_element element,
                                       const struct shmt_expr *expr,
                                       struct shmt_error *err)
{
    const char *word = shmt_element_word(element);
    struct shmt_text text = {0};
    struct shmt_value value;
    const enum shmtune_status status =
        shmt_expr_next(expr, &job->evaluated.evaluation, &value, err);

    if (status != SHMTUNE_OK)
        return status;
    shmt_text_add(&text, "= ");
    shmt_kernel_value_add(&text, value);
    json_array_append_new(
        job->list, shmt_json_object("name", shmt_json_text(name),
                                    "type", shmt_json_text(word), "value",
                                    shmt_json_value(value), NULL));
    shmt_table_add(&job->table, "%s", name);
    shmt_table_add(&job->table, "scalar");
    shmt_table_add(&job->table, "%s", word);
    shmt_table_add(&job->table, "1");
    shmt_table_add_text(&job->table, &text);
    return SHMTUNE_OK;
}

/* The numbers of a struct: "parameters.n", "parameters.at[1]". */
static enum shmtune_status tell_members(struct job *job,
                                        const struct shmt_argument *argument,
                                        struct shmt_error *err)
{
    enum shmtune_status status = SHMTUNE_OK;
    struct shmt_text name = {0};

    for (size_t m = 0; m < argument->member_count; m++) {
        const struct shmt_argument_member *member = &argument->members[m];

        for (size_t v = 0; status == SHMTUNE_OK && v < member->count; v++) {
            shmt_text_clear(&name);
            shmt_text_addf(&name, "%s.%s", argument->name, member->name);
            if (member->count > 1)
                shmt_text_addf(&name, "[%zu]", v);
            status = name.failed ? shmt_error_memory(err)
                                 : tell_number(job, shmt_text_string(&name),
                                               member->element,
                                               member->values[v], err);
        }
    }
    shmt_text_free(&name);
    return status;
}

static void tell_array(struct job *job, size_t number, uint64_t count,
                       const char *path)
{
    const struct shmt_argument *argument = &job->kernel->arguments[number];
    const char *word = shmt_element_word(argument->element);
    const char *role = shmt_role_word(argument->role);

    json_array_append_new(
        job->list, shmt_json_object("name", shmt_json_text(argument->name),
                                    "role", shmt_json_text(role),
                                    "type", shmt_json_text(word), "count",
                                    shmt_json_count(count), "file",
                                    shmt_json_text(path), NULL));
    shmt_table_add(&job->table, "%s", argument->name);
    shmt_table_add(&job->table, "%s", role);
    shmt_table_add(&job->table, "%s", word);
    shmt_table_add(&job->table, "%" PRIu64, count);
    shmt_table_add(&job->table, "%s",
                   path != NULL ? path : "none: the setup fills it, on a GPU");
}

static enum shmtune_status do_argument(struct job *job, size_t number,
                                       struct shmt_error *err)
{
    const struct shmt_argument *argument = &job->kernel->arguments[number];
    struct shmt_fill_values values;
    struct shmt_text name = {0};
    const char *path;
    enum shmtune_status status;

    if (argument->role == SHMT_ROLE_OUTPUT ||
        argument->role == SHMT_ROLE_WORKSPACE)
        return SHMTUNE_OK;
    if (argument->role == SHMT_ROLE_SCALAR)
        return tell_number(job, argument->name, argument->element,
                           argument->value, err);
    if (argument->bytes > 0)
        return tell_members(job, argument, err);
    status = shmt_kernel_argument_fill(&job->evaluated, number, &values, err);
    if (status != SHMTUNE_OK)
        return status;
    if (values.fill == SHMT_FILL_SETUP) {
        tell_array(job, number, values.count, NULL);
        return SHMTUNE_OK;
    }
    shmt_text_addf(&name, "%s.npy", argument->name);
    path = name.failed ? NULL
                       : shmt_path_join(job->arena, job->output, name.data);
    shmt_text_free(&name);
    if (path == NULL)
        return shmt_error_memory(err);
    status = write_array(job, number, &values, path, err);
    if (status == SHMTUNE_OK)
        tell_array(job, number, values.count, path);
    return status;
}

static enum shmtune_status tell(struct job *job,
                                const struct shmt_command_call *call,
                                struct shmt_error *err)
{
    struct shmt_text text = {0};

    if (!job->json) {
        shmt_table_end(&job->table, call, &text);
        return shmt_command_print_lines(&text, call, err);
    }
    return shmt_json_print("data", shmt_json_object(
            "kernel", shmt_json_text(job->kernel->name),
            "size", shmt_json_problem(job->kernel, job->problem),
            "data_seed", shmt_json_count((uint64_t)job->data_seed),
            "arguments", json_incref(job->list), NULL), err);
}

static enum shmtune_status write_all(struct job *job,
                                     const struct shmt_command_call *call,
                                     struct shmt_error *err)
{
    const struct shmt_kernel *kernel = job->kernel;
    enum shmtune_status status =
        shmt_command_parse_problem(kernel, job->size, job->problem, err);

    if (status == SHMTUNE_OK && kernel->source == NULL)
        status = shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                                "%s has no source: it is only a space, and "
                                "has no inputs", kernel->path);
    if (status == SHMTUNE_OK)
        status = shmt_path_make_folder(job->output, 0777, err);
    if (status != SHMTUNE_OK)
        return status;
    shmt_kernel_evaluate_part(kernel, SHMT_KERNEL_REFERENCE,
                              job->problem, &job->evaluated);
    for (size_t k = 0; status == SHMTUNE_OK && k < kernel->argument_count; k++)
        status = do_argument(job, k, err);
    return status == SHMTUNE_OK ? tell(job, call, err) : status;
}

static enum shmtune_status run(const struct shmt_command_call *call,
                               struct shmt_error *err)
{
    struct job job = {.data_seed = SHMT_COMMAND_SEED,
                      .table = {.titles = "argument|role|type|>count|_file"}};
    const struct shmt_command_option options[] = {
        {"output", 'o', SHMT_OPTION_PATH, &job.output, 0, 0},
        {"size", 0, SHMT_OPTION_TEXT, &job.size, 0, 0},
        {"data-seed", 0, SHMT_OPTION_INT, &job.data_seed, 0, INT64_MAX},
        {"json", 0, SHMT_OPTION_FLAG, &job.json, 0, 0},
        {0}
    };
    struct shmt_text rest = {0};
    int count;
    enum shmtune_status status =
        shmt_command_options(call, options, &count, err);

    if (status == SHMTUNE_OK && count != 1)
        status = shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                                "%d kernels are given; one is expected",
                                count);
    if (status == SHMTUNE_OK && job.output == NULL)
        status = shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                                "no folder is given; -o DIR is expected");
    if (status != SHMTUNE_OK)
        return status;
    shmt_command_catch_signals();
    job.arena = shmt_arena_new();
    job.list = json_array();
    status = job.arena == NULL || job.list == NULL
                 ? shmt_error_memory(err)
                 : shmt_command_kernel(call->words[0], &job.kernel, err);
    if (status == SHMTUNE_OK)
        status = write_all(&job, call, err);
    shmt_table_end(&job.table, call, &rest);   /* what was not printed */
    shmt_text_free(&rest);
    json_decref(job.list);
    shmt_kernel_free(job.kernel);
    shmt_arena_free(job.arena);
    return status;
}

const struct shmt_command shmt_command_data = {
    "data", "write the inputs of a problem as .npy files", help, run
};
