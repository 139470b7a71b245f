/* SPDX-License-Identifier: MIT */
/*
 * answer: lets the program of a spec compute what is right, once a problem.  It
 * is given the inputs as .npy, and the sizes and scalars as problem.json, in a
 * folder of its own, and writes NAME.answer.npy of each output there.  What it
 * has written is kept in the cache, by the digest of all that it was given, so
 * that the next worker does not wait for it.  Called by problem.c.
 *
 * For a measure worker that has no compilers, supply.c lets the program run
 * where they are: the inputs are computed there.  The worker then looks for the
 * answer beside its binaries, by the problem.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "bench/state.h"

enum { PART = 1 << 20, PROGRAM = 64 << 20, TOLD = 400 };

struct asking {
    const struct shmt_kernel *kernel;
    struct shmt_bench *bench;        /* NULL: there is no device; then: */
    const struct shmt_supply *supply;
    shmt_bench_run_program *run;
    const char *images;              /* folder of binaries; or NULL */
    struct shmt_kernel_evaluated *evaluated;
    struct shmt_arena *arena;
    char key[SHMT_DIGEST_TEXT];
    const char *store;         /* folder of the answers that are kept */
    const char *folder;        /* in it, that of the program */
    double took_s;             /* until the answer was read */
    struct shmt_error *err;
};

/* Whether the program says what is right of an argument. */
static bool is_asked(const struct shmt_argument *argument)
{
    return shmt_bench_has_result(argument) && argument->expect.path == NULL;
}

/* Whether it is given to the program. */
static bool is_given(const struct shmt_argument *argument)
{
    return shmt_role_is_read(argument->role) ||
           argument->role == SHMT_ROLE_INOUT ||
           argument->role == SHMT_ROLE_VALUE;
}

static const char *path_of(const struct asking *asking, const char *folder,
                           const char *format, const char *name)
{
    struct shmt_text text = {0};
    const char *path;

    shmt_text_addf(&text, format, name);
    path = text.failed ? NULL : shmt_path_join(asking->arena, folder,
                                               text.data);
    shmt_text_free(&text);
    return path;
}

static const char *kept_path(const struct asking *asking, const char *name)
{
    char format[SHMT_DIGEST_TEXT + 16];

    snprintf(format, sizeof format, "%s.%%s.npy", asking->key);
    return path_of(asking, asking->store, format, name);
}

/* -- what the program is given -------------------------------------------- */

static void add_scalars(const struct asking *asking, struct shmt_text *text)
{
    const struct shmt_kernel *kernel = asking->kernel;
    const char *between = "";

    for (size_t k = 0; k < kernel->argument_count; k++) {
        const struct shmt_argument *argument = &kernel->arguments[k];
        struct shmt_value value;

        if (argument->role != SHMT_ROLE_SCALAR ||
            shmt_kernel_argument_value(asking->evaluated, k, &value, NULL) !=
                SHMTUNE_OK)
            continue;
        shmt_text_addf(text, "%s\"%s\": ", between, argument->name);
        if (value.type == SHMT_VALUE_REAL)
            shmt_text_addf(text, "%.17g", value.r);
        else
            shmt_text_addf(text, "%" PRId64, value.i);
        between = ", ";
    }
}

static void add_arrays(const struct asking *asking, bool asked,
                       struct shmt_text *text)
{
    const struct shmt_kernel *kernel = asking->kernel;
    const char *between = "";

    for (size_t k = 0; k < kernel->argument_count; k++) {
        const struct shmt_argument *argument = &kernel->arguments[k];
        uint64_t count = 0;

        if (!(asked ? is_asked(argument) : is_given(argument)) ||
            shmt_kernel_argument_count(asking->evaluated, k, &count, NULL) !=
                SHMTUNE_OK)
            continue;
        shmt_text_addf(text, "%s\"%s\": {\"type\": \"%s\", \"count\": %" PRIu64
                       "}", between, argument->name,
                       shmt_element_word(argument->element), count);
        between = ", ";
    }
}

/* {"kernel": "scale", "size": {"n": 1000}, "scalars": {"a": 2}, "inputs":
 * {"x": {"type": "f32", "count": 1000}}, "outputs": {...}} */
static void add_problem(const struct asking *asking, struct shmt_text *text)
{
    const struct shmt_kernel *kernel = asking->kernel;

    shmt_text_addf(text, "{\"kernel\": \"%s\", \"size\": {", kernel->name);
    for (size_t d = 0; d < kernel->dimension_count; d++)
        shmt_text_addf(text, "%s\"%s\": %" PRId64, d == 0 ? "" : ", ",
                       kernel->dimensions[d].name,
                       asking->evaluated->values[d].i);
    shmt_text_add(text, "}, \"scalars\": {");
    add_scalars(asking, text);
    shmt_text_add(text, "}, \"inputs\": {");
    add_arrays(asking, false, text);
    shmt_text_add(text, "}, \"outputs\": {");
    add_arrays(asking, true, text);
    shmt_text_add(text, "}}\n");
}

typedef enum shmtune_status take_part(void *context, const void *bytes,
                                      size_t size, struct shmt_error *err);

/* The elements of argument k on the device. */
static enum shmtune_status read_device(const struct asking *asking, size_t k,
                                       take_part *take, void *context)
{
    const struct shmt_driver *driver = asking->bench->options.driver;
    const struct shmt_bench_slot *slot = &asking->bench->slots[k];
    const struct shmt_buffer *buffer =
        slot->initial.base != 0 ? &slot->initial : &slot->actual;
    uint64_t count = 0, bytes, at = 0;
    enum shmtune_status status = shmt_kernel_argument_count(
        asking->evaluated, k, &count, asking->err);
    char *part;

    bytes = count * shmt_element_bytes(asking->kernel->arguments[k].element);
    if (status == SHMTUNE_OK && slot->array != NULL)
        return take(context, slot->array, (size_t)bytes, asking->err);
    part = malloc(PART);
    if (status == SHMTUNE_OK && part == NULL)
        status = shmt_error_memory(asking->err);
    for (; status == SHMTUNE_OK && at < bytes; at += PART) {
        const size_t size = bytes - at < PART ? (size_t)(bytes - at) : PART;

        status = shmt_driver_check(
            driver, driver->MemcpyDtoH(part, shmt_buffer_data(buffer) + at,
                                       size), asking->err,
            "reading an input for the answer");
        if (status == SHMTUNE_OK)
            status = take(context, part, size, asking->err);
    }
    free(part);
    return status;
}

/* Passes on what comes from a file. */
struct passing {
    take_part *take;
    void *context;
};

static enum shmtune_status pass(void *context, void *bytes,
                                uint64_t offset, size_t size,
                                struct shmt_error *err)
{
    const struct passing *passing = context;

    (void)offset;
    return passing->take(passing->context, bytes, size, err);
}

/* The same, computed or read from its file. */
static enum shmtune_status read_here(const struct asking *asking, size_t k,
                                     take_part *take, void *context)
{
    struct passing passing = {take, context};
    const struct shmt_data_sink sink = {pass, &passing};
    const struct shmt_argument *argument = &asking->kernel->arguments[k];
    const size_t size = shmt_element_bytes(argument->element);
    struct shmt_fill_values values;
    struct shmt_pattern pattern;
    enum shmtune_status status = shmt_kernel_argument_fill(
        asking->evaluated, k, &values, asking->err);
    char *part;

    if (status != SHMTUNE_OK)
        return status;
    if (values.fill == SHMT_FILL_SETUP)
        return shmt_error_set(asking->err, SHMTUNE_INVALID_FILE,
                              "its setup fills %s on the GPU of another "
                              "machine, and the program runs on this one; let "
                              "a reference say what is right",
                              argument->name);
    if (values.file != NULL)
        return shmt_data_read(&values, NULL, &sink, asking->err);
    part = malloc(PART);
    if (part == NULL)
        return shmt_error_memory(asking->err);
    pattern = shmt_pattern_of(&values, k, asking->supply->seed);
    for (uint64_t i = 0; status == SHMTUNE_OK && i < values.count;) {
        size_t used = 0;

        for (; used + size <= PART && i < values.count; i++, used += size) {
            const union shmt_element_scalar value =
                shmt_pattern_value(&pattern, i);

            memcpy(part + used, &value, size);
        }
        status = take(context, part, used, asking->err);
    }
    free(part);
    return status;
}

/* Hands out the elements of argument k, as candidates will find them. */
static enum shmtune_status read_array(const struct asking *asking, size_t k,
                                      take_part *take, void *context)
{
    return asking->bench != NULL ? read_device(asking, k, take, context)
                                 : read_here(asking, k, take, context);
}

/* -- the key -------------------------------------------------------------- */

static enum shmtune_status digest_part(void *context, const void *bytes,
                                       size_t size, struct shmt_error *err)
{
    (void)err;
    shmt_digest_add(context, bytes, size);
    return SHMTUNE_OK;
}

static enum shmtune_status add_command(const struct asking *asking,
                                       struct shmt_digest *digest)
{
    const struct shmt_answer *answer = &asking->kernel->answer;

    for (size_t k = 0; k < answer->word_count; k++) {
        const struct shmt_answer_word *word = &answer->words[k];
        const char *data;
        size_t size;
        enum shmtune_status status;

        shmt_digest_add(digest, word->text, strlen(word->text) + 1);
        if (!word->file)
            continue;
        status = shmt_path_read(asking->arena, word->text, PROGRAM, &data,
                                &size, asking->err);
        if (status != SHMTUNE_OK)
            return status;
        shmt_digest_add(digest, data, size);
    }
    return SHMTUNE_OK;
}

/* By what the other side knows as well. */
static enum shmtune_status make_far_key(const struct asking *asking,
                                        char key[SHMT_DIGEST_TEXT])
{
    struct shmt_text problem = {0};
    struct shmt_digest digest;
    enum shmtune_status status = SHMTUNE_OK;

    shmt_digest_begin(&digest);
    add_problem(asking, &problem);
    shmt_digest_add(&digest, shmt_text_string(&problem), problem.length);
    shmt_digest_end(&digest, key);
    if (problem.failed)
        status = shmt_error_memory(asking->err);
    shmt_text_free(&problem);
    return status;
}

static enum shmtune_status make_key(struct asking *asking)
{
    const struct shmt_kernel *kernel = asking->kernel;
    struct shmt_text problem = {0};
    struct shmt_digest digest;
    enum shmtune_status status;

    shmt_digest_begin(&digest);
    add_problem(asking, &problem);
    shmt_digest_add(&digest, shmt_text_string(&problem), problem.length + 1);
    status = problem.failed ? shmt_error_memory(asking->err)
                            : add_command(asking, &digest);
    shmt_text_free(&problem);
    for (size_t k = 0; status == SHMTUNE_OK && k < kernel->argument_count; k++)
        if (is_given(&kernel->arguments[k]))
            status = read_array(asking, k, digest_part, &digest);
    shmt_digest_end(&digest, asking->key);
    return status;
}

/* -- running it ----------------------------------------------------------- */

static enum shmtune_status write_part(void *context, const void *bytes,
                                      size_t size, struct shmt_error *err)
{
    return fwrite(bytes, 1, size, context) == size
               ? SHMTUNE_OK
               : shmt_error_system(err, "an input for the answer",
                                   "cannot be written");
}

static enum shmtune_status write_array(const struct asking *asking, size_t k)
{
    const struct shmt_argument *argument =
        &asking->kernel->arguments[k];
    const char *path =
        path_of(asking, asking->folder, "%s.npy", argument->name);
    struct shmt_text header = {0};
    uint64_t count = 0;
    enum shmtune_status status = shmt_kernel_argument_count(
        asking->evaluated, k, &count, asking->err);
    FILE *file = path == NULL ? NULL : fopen(path, "wb");

    if (file == NULL)
        return path == NULL ? shmt_error_memory(asking->err)
                            : shmt_error_system(asking->err, path,
                                                "cannot be created");
    shmt_npy_write(argument->element, count, &header);
    if (status == SHMTUNE_OK)
        status = header.failed
                     ? shmt_error_memory(asking->err)
                     : write_part(file, header.data, header.length,
                                  asking->err);
    shmt_text_free(&header);
    if (status == SHMTUNE_OK)
        status = read_array(asking, k, write_part, file);
    if (fclose(file) != 0 && status == SHMTUNE_OK)
        status = shmt_error_system(asking->err, path, "cannot be written");
    return status;
}

static enum shmtune_status write_problem(const struct asking *asking)
{
    const struct shmt_kernel *kernel = asking->kernel;
    const char *path =
        path_of(asking, asking->folder, "%s", "problem.json");
    struct shmt_text text = {0};
    enum shmtune_status status;

    add_problem(asking, &text);
    status = path == NULL || text.failed
                 ? shmt_error_memory(asking->err)
                 : shmt_path_write(path, text.data, text.length, asking->err);
    shmt_text_free(&text);
    for (size_t k = 0; status == SHMTUNE_OK && k < kernel->argument_count; k++)
        if (is_given(&kernel->arguments[k]))
            status = write_array(asking, k);
    return status;
}

static void remove_file(const struct asking *asking, const char *format,
                        const char *name)
{
    const char *path = path_of(asking, asking->folder, format, name);

    if (path != NULL)
        unlink(path);
}

/* What was written for the program, and by it. */
static void remove_files(const struct asking *asking)
{
    const struct shmt_kernel *kernel = asking->kernel;

    remove_file(asking, "%s", "problem.json");
    for (size_t k = 0; k < kernel->argument_count; k++) {
        remove_file(asking, "%s.npy", kernel->arguments[k].name);
        remove_file(asking, "%s.answer.npy", kernel->arguments[k].name);
    }
}

/* The last lines of what a program has said. */
static const char *last_lines(const char *output)
{
    size_t length = strlen(output);

    return length <= TOLD ? output : output + length - TOLD;
}

static enum shmtune_status run_program(const struct asking *asking)
{
    const struct shmt_answer *answer = &asking->kernel->answer;
    const char **argv = shmt_arena_alloc(asking->arena,
                                         answer->word_count + 1,
                                         sizeof *argv);
    const char *output = "";
    int code = 0;
    enum shmtune_status status;

    if (argv == NULL)
        return shmt_error_memory(asking->err);
    for (size_t k = 0; k < answer->word_count; k++)
        argv[k] = answer->words[k].text;
    status = asking->run(argv, asking->folder, answer->timeout_s,
                         asking->arena, &output, &code, asking->err);
    if (status == SHMTUNE_OK && code != 0)
        status = shmt_error_set(asking->err, SHMTUNE_WRONG_RESULT,
                                "%s ended with %d: %s", argv[0], code,
                                last_lines(output));
    return status;
}

/* -- what it answers ------------------------------------------------------ */

static bool is_kept(const struct asking *asking)
{
    const struct shmt_kernel *kernel = asking->kernel;

    for (size_t k = 0; k < kernel->argument_count; k++) {
        const char *path = kept_path(asking, kernel->arguments[k].name);

        if (is_asked(&kernel->arguments[k]) &&
            (path == NULL || !shmt_path_is_file(path)))
            return false;
    }
    return true;
}

static enum shmtune_status ignore(void *context, void *bytes,
                                  uint64_t offset, size_t size,
                                  struct shmt_error *err)
{
    (void)context, (void)bytes, (void)offset, (void)size, (void)err;
    return SHMTUNE_OK;
}

/* Reads an answer; the file is kept if it is a good one. */
static enum shmtune_status take_answer(const struct asking *asking, size_t k,
                                       bool fresh)
{
    const struct shmt_argument *argument = &asking->kernel->arguments[k];
    const struct shmt_data_sink nowhere = {ignore, NULL};
    const char *kept = kept_path(asking, argument->name);
    struct shmt_fill_values values = {
        .fill = SHMT_FILL_FILE, .element = argument->element,
        .place = asking->kernel->answer.place,
        .file = fresh ? path_of(asking, asking->folder, "%s.answer.npy",
                                argument->name) : kept,
    };
    enum shmtune_status status = shmt_kernel_argument_count(
        asking->evaluated, k, &values.count, asking->err);

    if (status == SHMTUNE_OK && (kept == NULL || values.file == NULL))
        status = shmt_error_memory(asking->err);
    if (status == SHMTUNE_OK)
        status = asking->bench == NULL
                     ? shmt_data_read(&values, NULL, &nowhere, asking->err)
                     : shmt_bench_input_load(
                           asking->bench, &asking->bench->slots[k].expected,
                           &values, NULL, asking->err);
    if (status == SHMTUNE_OK && fresh && rename(values.file, kept) != 0)
        status = shmt_error_system(asking->err, kept, "cannot be written");
    if (asking->bench != NULL)
        asking->bench->slots[k].given = true;
    return status;
}

static enum shmtune_status take_answers(const struct asking *asking,
                                        bool fresh)
{
    const struct shmt_kernel *kernel = asking->kernel;
    enum shmtune_status status = SHMTUNE_OK;

    for (size_t k = 0; status == SHMTUNE_OK && k < kernel->argument_count; k++)
        if (is_asked(&kernel->arguments[k]))
            status = take_answer(asking, k, fresh);
    return status;
}

/* Two workers that want the same answer wait for each other. */
static enum shmtune_status ask(struct asking *asking)
{
    const double begun_s = shmt_clock_s();
    const int lock = open(asking->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    enum shmtune_status status = SHMTUNE_OK;
    bool fresh;

    if (lock < 0)
        return shmt_error_system(asking->err, asking->folder,
                                 "cannot be opened");
    flock(lock, LOCK_EX);
    fresh = !is_kept(asking);
    if (fresh) {
        remove_files(asking);
        status = write_problem(asking);
        if (status == SHMTUNE_OK)
            status = run_program(asking);
    }
    if (status == SHMTUNE_OK)
        status = take_answers(asking, fresh);
    asking->took_s = shmt_clock_s() - begun_s;
    remove_files(asking);
    rmdir(asking->folder);
    close(lock);
    return status;
}

/* The folder of answers in the user's cache, or else in that of binaries. */
static enum shmtune_status open_store(struct asking *asking)
{
    const char *cache = shmt_path_cache(asking->arena);
    const char *root = cache != NULL ? cache : asking->images;
    enum shmtune_status status;
    int folder = -1;

    asking->store = root == NULL ? NULL : shmt_path_join(asking->arena, root,
                                                         "answers");
    if (asking->store != NULL)
        asking->store = shmt_path_absolute(asking->arena, asking->store);
    if (asking->store == NULL)
        return shmt_error_memory(asking->err);
    status = shmt_path_open_private(asking->store, true, &folder,
                                    asking->err);
    if (folder >= 0)
        close(folder);
    if (status != SHMTUNE_OK)
        return status;
    asking->folder = path_of(asking, asking->store, "%s.run", asking->key);
    return asking->folder == NULL
               ? shmt_error_memory(asking->err)
               : shmt_path_make_folder(asking->folder, 0700, asking->err);
}

static enum shmtune_status run_or_find(struct asking *asking)
{
    enum shmtune_status status = make_key(asking);

    if (status == SHMTUNE_OK)
        status = open_store(asking);
    return status == SHMTUNE_OK ? ask(asking) : status;
}

/* It was sent with the binaries. */
static enum shmtune_status find_sent(struct asking *asking)
{
    const enum shmtune_status status = make_far_key(asking, asking->key);

    if (status != SHMTUNE_OK)
        return status;
    asking->store = asking->images == NULL
                        ? NULL : shmt_path_join(asking->arena, asking->images,
                                                SHMT_SUPPLY_ANSWERS);
    if (asking->store == NULL || !is_kept(asking))
        return shmt_error_set(asking->err, SHMTUNE_NOT_FOUND,
                              "it is not among the binaries, and its program "
                              "does not run here");
    return take_answers(asking, false);
}

/* What the user's program left undone is its failure, files or not. */
static enum shmtune_status refuse(const struct shmt_kernel *kernel,
                                  enum shmtune_status status,
                                  struct shmt_error *err)
{
    return shmt_bench_problem_refuse(kernel, "answer",
                                     status == SHMTUNE_NO_MEMORY
                                         ? status : SHMTUNE_WRONG_RESULT,
                                     err);
}

enum shmtune_status shmt_bench_answer(struct shmt_bench *bench,
                                      struct shmt_kernel_evaluated *evaluated,
                                      struct shmt_error *err)
{
    struct asking asking = {
        .kernel = bench->kernel, .bench = bench, .evaluated = evaluated,
        .run = bench->options.run, .images = bench->options.images,
        .err = err};
    enum shmtune_status status;

    if (bench->kernel->answer.word_count == 0)
        return SHMTUNE_OK;
    if (bench->options.run == NULL)
        return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                              "%s: nobody runs the program of its answer here",
                              bench->kernel->path);
    asking.arena = shmt_arena_new();
    if (asking.arena == NULL)
        return shmt_error_memory(err);
    status = bench->options.nvrtc == NULL ? find_sent(&asking)
                                          : run_or_find(&asking);
    bench->answer_s = asking.took_s;
    shmt_arena_free(asking.arena);
    return status == SHMTUNE_OK
               ? status
               : refuse(bench->kernel, status, err);
}

/* -- for another machine -------------------------------------------------- */

static enum shmtune_status hand_over(const struct asking *asking,
                                     struct shmt_error *err)
{
    const struct shmt_kernel *kernel = asking->kernel;
    struct shmt_text name = {0};
    char key[SHMT_DIGEST_TEXT];
    enum shmtune_status status = make_far_key(asking, key);

    for (size_t k = 0; status == SHMTUNE_OK && k < kernel->argument_count;
         k++) {
        const char *path = kept_path(asking, kernel->arguments[k].name);

        if (!is_asked(&kernel->arguments[k]))
            continue;
        shmt_text_clear(&name);
        shmt_text_addf(&name, SHMT_SUPPLY_ANSWERS "/%s.%s.npy", key,
                       kernel->arguments[k].name);
        status = path == NULL || name.failed
                     ? shmt_error_memory(err)
                     : asking->supply->take(asking->supply->context, path,
                                            name.data, err);
    }
    shmt_text_free(&name);
    return status;
}

enum shmtune_status shmt_supply_answer(const struct shmt_supply *supply,
                                       const int64_t *problem,
                                       struct shmt_error *err)
{
    struct shmt_kernel_evaluated evaluated;
    struct asking asking = {
        .kernel = supply->kernel, .supply = supply, .evaluated = &evaluated,
        .run = supply->run, .images = supply->images, .err = err};
    enum shmtune_status status;

    if (supply->kernel->answer.word_count == 0)
        return SHMTUNE_OK;
    asking.arena = shmt_arena_new();
    if (asking.arena == NULL)
        return shmt_error_memory(err);
    shmt_kernel_evaluate_part(supply->kernel, SHMT_KERNEL_REFERENCE, problem,
                              &evaluated);
    status = run_or_find(&asking);
    if (status != SHMTUNE_OK)
        status = refuse(supply->kernel, status, err);
    if (status == SHMTUNE_OK)
        status = hand_over(&asking, err);
    shmt_arena_free(asking.arena);
    return status;
}
