/* SPDX-License-Identifier: MIT */
/*
 * read: reads a spec (kernel/2): the top of the file, its source, and
 * the trial of the defaults at every size.  The parts are read by
 * space.c, argument.c and launch.c.
 */
#include "kernel/read.h"

#include <string.h>

#include "base/base.h"

static const char *const top_keys[] = {
    "format", "name", "summary", "source", "includes", "standard",
    "compiler", "fast_math", "features", "options", "problem", "sizes",
    "parameters", "derived", "constraints", "launches",
    "reference", "answer", "setup", "compare", "arguments", "work",
    NULL
};

static const char *const standards[] = {
    "c++11", "c++14", "c++17", "c++20", NULL
};

struct mark {
    struct shmt_place place;
    const char *what;
};

/* Whether the text looks like a part of an expression that YAML split at a
 * comma: `[ceildiv(n, 32), 1]` has three items. */
static bool is_piece(const struct shmt_yaml *node)
{
    int open = 0;

    for (const char *c = node->text; *c != '\0'; c++)
        open += (*c == '(') - (*c == ')');
    return open > 0 && !node->quoted;
}

enum shmtune_status shmt_kernel_read_list(struct shmt_kernel_reader *reader,
                                          struct shmt_kernel_list *list)
{
    const struct shmt_yaml *node = shmt_yaml_get(list->mapping, list->key);
    enum shmtune_status status = SHMTUNE_OK;
    char *items;

    if (node == NULL && !list->needed)
        return SHMTUNE_OK;
    if (node == NULL)
        return shmt_yaml_need(list->mapping, list->key, &node, reader->err);
    status = shmt_yaml_expect(node, list->kind, list->expected, reader->err);
    if (status != SHMTUNE_OK)
        return status;
    if (node->count < list->least || node->count > list->most)
        return shmt_yaml_refuse(node, reader->err,
                                "%zu %s; %s%zu are %s", node->count,
                                list->items_are,
                                list->least > 0 ? "1 to " : "at most ",
                                list->most,
                                list->least > 0 ? "expected" : "allowed");
    items = shmt_arena_alloc(reader->kernel->arena, node->count + 1,
                             list->size);
    if (items == NULL)
        return shmt_error_memory(reader->err);
    for (size_t i = 0; status == SHMTUNE_OK && i < node->count; i++)
        status = list->read(reader,
                            list->kind == SHMT_YAML_MAPPING ? node->keys[i]
                                                            : NULL,
                            node->items[i], items + i * list->size);
    list->node = node;
    list->items = items;
    list->count = node->count;
    return status;
}

enum shmtune_status shmt_kernel_read_expr(struct shmt_kernel_reader *reader,
                                          const struct shmt_yaml *node,
                                          struct shmt_expr **out)
{
    struct shmt_error why = {0};
    enum shmtune_status status = shmt_yaml_expect(
        node, SHMT_YAML_SCALAR,
        node->kind == SHMT_YAML_MAPPING
            ? "an expression (one with \": \" in it has to be in quotes)"
            : "an expression", reader->err);

    if (status != SHMTUNE_OK)
        return status;
    status = shmt_expr_compile(reader->kernel->arena, node->place, node->text,
                               &reader->kernel->scope, out, &why);
    if (status != SHMTUNE_OK)
        shmt_error_set(reader->err, status, "%s%s", why.text,
                       is_piece(node) ? "; within [ ] or { } put an "
                                        "expression with a comma in quotes"
                                      : "");
    return status;
}

bool shmt_kernel_expr_uses_parameters(const struct shmt_kernel *kernel,
                                      const struct shmt_expr *expr)
{
    if (expr == NULL)
        return false;
    for (size_t p = 0; p < kernel->parameter_count; p++)
        if (shmt_expr_uses(expr, kernel->dimension_count + p))
            return true;
    return false;
}

enum shmtune_status
shmt_kernel_read_problem_expr(struct shmt_kernel_reader *reader,
                              const struct shmt_yaml *node,
                              const char *what,
                              struct shmt_expr **out)
{
    const struct shmt_kernel *kernel = reader->kernel;
    struct shmt_expr *expr;
    const enum shmtune_status status =
        shmt_kernel_read_expr(reader, node, &expr);

    if (status != SHMTUNE_OK)
        return status;
    for (size_t p = 0; p < kernel->parameter_count; p++)
        if (shmt_expr_uses(expr, kernel->dimension_count + p))
            return shmt_yaml_refuse(
                node, reader->err,
                "%s uses the parameter %s; it may depend on the problem's "
                "dimensions only", what, kernel->parameters[p].name);
    *out = expr;
    return SHMTUNE_OK;
}

enum shmtune_status shmt_kernel_read_string(struct shmt_kernel_reader *reader,
                                            const struct shmt_yaml *node,
                                            size_t limit, const char **out)
{
    const enum shmtune_status status = shmt_yaml_expect(
        node, SHMT_YAML_SCALAR, "a text", reader->err);

    if (status != SHMTUNE_OK)
        return status;
    if (strlen(node->text) > limit)
        return shmt_yaml_refuse(
            node, reader->err, "a text of %zu bytes; at most %zu are allowed",
            strlen(node->text), limit);
    for (const char *c = node->text; *c != '\0'; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            return shmt_yaml_refuse(node, reader->err,
                                    "a control character in a text");
    *out = node->text;
    return SHMTUNE_OK;
}

static enum shmtune_status read_heading(struct shmt_kernel_reader *reader)
{
    struct shmt_kernel *kernel = reader->kernel;
    const struct shmt_yaml *node;
    enum shmtune_status status =
        shmt_yaml_need(reader->root, "name", &node, reader->err);

    if (status == SHMTUNE_OK)
        status = shmt_yaml_word(node, &kernel->name, reader->err);
    if (status != SHMTUNE_OK)
        return status;
    kernel->summary = "";
    node = shmt_yaml_get(reader->root, "summary");
    if (node != NULL)
        status = shmt_kernel_read_string(reader, node, SHMT_KERNEL_SUMMARY,
                             &kernel->summary);
    return status;
}

static enum shmtune_status read_standard(struct shmt_kernel_reader *reader)
{
    const struct shmt_yaml *node = shmt_yaml_get(reader->root, "standard");
    const char *word;
    enum shmtune_status status;

    reader->kernel->standard = "c++17";
    if (node == NULL)
        return SHMTUNE_OK;
    status = shmt_kernel_read_string(reader, node, 16, &word);
    if (status != SHMTUNE_OK)
        return status;
    for (size_t i = 0; standards[i] != NULL; i++)
        if (strcmp(standards[i], word) == 0) {
            reader->kernel->standard = word;
            return SHMTUNE_OK;
        }
    return shmt_yaml_refuse(
        node, reader->err,
        "standard \"%s\"; one of c++11, c++14, c++17, c++20 is expected",
        word);
}

static enum shmtune_status read_compiler(struct shmt_kernel_reader *reader)
{
    const struct shmt_yaml *node = shmt_yaml_get(reader->root, "compiler");
    const char *word;
    enum shmtune_status status;

    if (node == NULL)
        return SHMTUNE_OK;
    status = shmt_kernel_read_string(reader, node, 16, &word);
    if (status != SHMTUNE_OK)
        return status;
    reader->kernel->nvcc = strcmp(word, "nvcc") == 0;
    /* The entries are found by a template of an `auto` parameter. */
    if (reader->kernel->nvcc &&
        (strcmp(reader->kernel->standard, "c++11") == 0 ||
         strcmp(reader->kernel->standard, "c++14") == 0))
        return shmt_yaml_refuse(node, reader->err,
                                "compiler nvcc with standard %s; c++17 or "
                                "c++20 is expected with it",
                                reader->kernel->standard);
    if (reader->kernel->nvcc || strcmp(word, "nvrtc") == 0)
        return SHMTUNE_OK;
    return shmt_yaml_refuse(node, reader->err,
                            "compiler \"%s\"; nvrtc or nvcc is expected",
                            word);
}

static enum shmtune_status read_features(struct shmt_kernel_reader *reader)
{
    static const char *const words[] = {
        [SHMT_FEATURES_PORTABLE] = "portable",
        [SHMT_FEATURES_FAMILY] = "family",
        [SHMT_FEATURES_ARCHITECTURE] = "architecture",
    };
    const struct shmt_yaml *node = shmt_yaml_get(reader->root, "features");
    const char *word;
    enum shmtune_status status;

    if (node == NULL)
        return SHMTUNE_OK;
    status = shmt_kernel_read_string(reader, node, 16, &word);
    if (status != SHMTUNE_OK)
        return status;
    for (size_t k = 0; k < sizeof words / sizeof words[0]; k++)
        if (strcmp(words[k], word) == 0) {
            reader->kernel->features = (enum shmt_features)k;
            return SHMTUNE_OK;
        }
    return shmt_yaml_refuse(
        node, reader->err,
        "features \"%s\"; portable (sm_90), family (sm_100f) or architecture "
        "(sm_90a) is expected", word);
}

static enum shmtune_status read_include(struct shmt_kernel_reader *reader,
                                        const struct shmt_yaml *key,
                                        const struct shmt_yaml *node,
                                        void *item)
{
    struct shmt_arena *arena = reader->kernel->arena;
    const char *folder = shmt_path_folder(arena, reader->kernel->path);
    const char *name, **out = item;
    const enum shmtune_status status =
        shmt_kernel_read_string(reader, node, 1024, &name);

    (void)key;
    if (status != SHMTUNE_OK)
        return status;
    if (name[0] == '\0')
        return shmt_yaml_refuse(node, reader->err, "an empty folder name");
    *out = folder == NULL ? NULL : shmt_path_join(arena, folder, name);
    return *out == NULL ? shmt_error_memory(reader->err) : SHMTUNE_OK;
}

static enum shmtune_status read_includes(struct shmt_kernel_reader *reader)
{
    struct shmt_kernel_list list = {
        .mapping = reader->root, .key = "includes", .kind = SHMT_YAML_SEQUENCE,
        .expected = "includes, [FOLDER]", .items_are = "folders",
        .most = SHMT_KERNEL_INCLUDES, .size = sizeof(const char *),
        .read = read_include
    };
    const enum shmtune_status status = shmt_kernel_read_list(reader, &list);

    reader->kernel->includes = list.items;
    reader->kernel->include_count = list.count;
    return status;
}

/* A spec without a source describes a search space only: refuse every key that
 * needs a source. */
static enum shmtune_status refuse_code(struct shmt_kernel_reader *reader)
{
    static const char *const code[] = {
        "launches", "reference", "answer", "setup", "compare", "arguments",
        "includes", "standard", "compiler", "fast_math", "features", "options",
        "work"
    };

    for (size_t i = 0; i < sizeof code / sizeof code[0]; i++) {
        const struct shmt_yaml *node = shmt_yaml_get(reader->root, code[i]);

        if (node != NULL)
            return shmt_yaml_refuse(
                node, reader->err,
                "\"%s\" without a \"source\"; a spec without one is a search "
                "space and has a problem, parameters and constraints only",
                code[i]);
    }
    return SHMTUNE_OK;
}

static enum shmtune_status read_work(struct shmt_kernel_reader *reader)
{
    static const char *const keys[] = {"bytes", "flops", NULL};
    const struct shmt_yaml *work = shmt_yaml_get(reader->root, "work");
    struct shmt_expr **const fields[] = {
        &reader->kernel->bytes, &reader->kernel->flops
    };
    enum shmtune_status status;

    if (work == NULL)
        return SHMTUNE_OK;
    status = shmt_yaml_expect(work, SHMT_YAML_MAPPING, "work", reader->err);
    if (status == SHMTUNE_OK)
        status = shmt_yaml_check_keys(work, keys, reader->err);
    for (size_t i = 0; status == SHMTUNE_OK && keys[i] != NULL; i++) {
        const struct shmt_yaml *node = shmt_yaml_get(work, keys[i]);

        if (node != NULL)
            status = shmt_kernel_read_problem_expr(reader, node, "the work",
                                                   fields[i]);
    }
    return status;
}

static enum shmtune_status read_code(struct shmt_kernel_reader *reader)
{
    const struct shmt_yaml *source = shmt_yaml_get(reader->root, "source");
    const struct shmt_yaml *fast_math =
        shmt_yaml_get(reader->root, "fast_math");
    enum shmtune_status status;

    if (source == NULL)
        return refuse_code(reader);
    status = shmt_kernel_source_read(reader, source, &reader->kernel->code);
    if (status == SHMTUNE_OK)
        reader->kernel->source = reader->kernel->code.files[0].path;
    if (status == SHMTUNE_OK)
        status = read_includes(reader);
    if (status == SHMTUNE_OK)
        status = read_standard(reader);
    if (status == SHMTUNE_OK)
        status = read_compiler(reader);
    if (status == SHMTUNE_OK && fast_math != NULL)
        status = shmt_yaml_bool(fast_math, &reader->kernel->fast_math,
                                reader->err);
    if (status == SHMTUNE_OK)
        status = read_features(reader);
    if (status == SHMTUNE_OK)
        status = shmt_kernel_option_read(reader);
    if (status == SHMTUNE_OK)
        status = shmt_kernel_argument_read(reader);
    if (status == SHMTUNE_OK)
        status = shmt_kernel_launch_read(reader);
    if (status == SHMTUNE_OK)
        status = read_work(reader);
    return status;
}

/* Appends "(with the default configuration at SIZE)" to the message. */
static enum shmtune_status append_trial(struct shmt_kernel_reader *reader,
                                        const int64_t *problem,
                                        enum shmtune_status status)
{
    struct shmt_text text = {0};

    if (reader->err == NULL || status != SHMTUNE_INVALID_FILE)
        return status;
    shmt_text_addf(&text, "%s (with the default configuration",
                   reader->err->text);
    shmt_kernel_describe_at(reader->kernel, problem, &text);
    shmt_text_add(&text, ")");
    if (!text.failed)
        shmt_error_set(reader->err, status, "%s", shmt_text_string(&text));
    shmt_text_free(&text);
    return status;
}

static enum shmtune_status
refuse_default(struct shmt_kernel_reader *reader, const int64_t *problem,
               const struct shmt_value *values, const struct shmt_expr *expr)
{
    const struct shmt_place place = shmt_expr_place(expr);
    struct shmt_text text = {0};
    enum shmtune_status status;

    shmt_text_addf(&text, "%s:%d:%d: the default configuration does not "
                   "satisfy \"%.300s\"", place.file, place.line,
                   place.column, shmt_expr_text(expr));
    shmt_kernel_describe_at(reader->kernel, problem, &text);
    shmt_text_add(&text, ": ");
    shmt_expr_explain(expr, values, &text);
    shmt_text_add(&text, "; change a default, the size or the constraint");
    status = text.failed ? shmt_error_memory(reader->err)
                         : shmt_error_set(reader->err, SHMTUNE_INVALID_FILE,
                                          "%s", text.data);
    shmt_text_free(&text);
    return status;
}

/* Evaluates the default configuration at one size: the tuner starts from it,
 * so it has to be valid at every listed size. */
static enum shmtune_status try_size(struct shmt_kernel_reader *reader,
                                    const int64_t *problem)
{
    const struct shmt_kernel *kernel = reader->kernel;
    struct shmt_kernel_evaluated evaluated;
    shmt_config config[SHMT_SPACE_PARAMETERS];
    const struct shmt_expr *failed;
    enum shmtune_status status;

    shmt_kernel_default(kernel, config);
    shmt_kernel_evaluate(kernel, problem, config, &evaluated);
    status = shmt_kernel_satisfies(&evaluated, &failed, reader->err);
    if (status == SHMTUNE_OK && failed != NULL)
        return refuse_default(reader, problem, evaluated.values, failed);
    if (status == SHMTUNE_OK && kernel->source != NULL)
        status = shmt_kernel_argument_try(reader, &evaluated);
    if (status == SHMTUNE_OK && kernel->source != NULL)
        status = shmt_kernel_launch_try(reader, &evaluated);
    for (int part = SHMT_KERNEL_REFERENCE;
         status == SHMTUNE_OK && part < SHMT_KERNEL_PARTS; part++) {
        shmt_kernel_evaluate_part(kernel, (enum shmt_kernel_part)part, problem,
                                  &evaluated);
        if (evaluated.launch_count > 0 &&
            evaluated.launches != kernel->launches)
            status = shmt_kernel_launch_try(reader, &evaluated);
    }
    return append_trial(reader, problem, status);
}

static enum shmtune_status try_defaults(struct shmt_kernel_reader *reader)
{
    const struct shmt_kernel *kernel = reader->kernel;
    int64_t problem[SHMT_KERNEL_DIMENSIONS];
    enum shmtune_status status;

    if (kernel->source == NULL && !reader->defaults_given)
        return SHMTUNE_OK;
    shmt_kernel_default_problem(kernel, problem);
    status = try_size(reader, problem);
    for (size_t i = 0; status == SHMTUNE_OK && i < kernel->size_count; i++)
        status = try_size(reader, kernel->sizes[i]);
    return status;
}

static enum shmtune_status read_tree(struct shmt_kernel_reader *reader)
{
    struct shmt_kernel *kernel = reader->kernel;
    struct shmt_yaml_source source = {.origin = {kernel->path, 1, 1, 0},
                                      .nodes = reader->tree};
    enum shmtune_status status =
        shmt_path_read(reader->tree, kernel->path, SHMT_KERNEL_SPEC_BYTES,
                       &source.data, &source.size, reader->err);

    if (status == SHMTUNE_OK)
        status = shmt_yaml_parse_from(kernel->arena, &source, &reader->root,
                                      reader->err);
    return status;
}

/* Keeps the first mark of a draft. */
static void keep_mark(void *context, struct shmt_place place,
                      const char *what)
{
    struct mark *const first = context;

    if (first->what == NULL)
        *first = (struct mark){place, what};
}

static enum shmtune_status refuse_marks(struct shmt_kernel_reader *reader)
{
    struct mark first = {.what = NULL};
    const size_t count = shmt_yaml_todo(reader->root, keep_mark, &first);

    if (count == 0)
        return SHMTUNE_OK;
    return shmt_yaml_refuse_at(first.place, reader->err, "to be written: %s; "
                               "`shmtune check` lists all %zu", first.what,
                               count);
}

static enum shmtune_status read_spec(struct shmt_kernel_reader *reader)
{
    enum shmtune_status status = read_tree(reader);

    if (status == SHMTUNE_OK)
        status = shmt_yaml_format(reader->root, SHMT_YAML_KERNEL, reader->err);
    if (status == SHMTUNE_OK)
        status = refuse_marks(reader);
    if (status == SHMTUNE_OK)
        status = shmt_yaml_check_keys(reader->root, top_keys, reader->err);
    if (status == SHMTUNE_OK)
        status = read_heading(reader);
    if (status == SHMTUNE_OK)
        status = shmt_kernel_space_read(reader);
    if (status == SHMTUNE_OK)
        status = read_code(reader);
    if (status == SHMTUNE_OK)
        status = try_defaults(reader);
    if (status == SHMTUNE_OK)
        status = shmt_kernel_digest_compute(reader);
    if (status == SHMTUNE_OK && reader->kernel->source != NULL)
        status = shmt_kernel_override_check(reader);
    return status;
}

enum shmtune_status shmt_kernel_read_with(const char *path,
                                          struct shmt_arena *scratch,
                                          struct shmt_kernel **out,
                                          struct shmt_error *err)
{
    struct shmt_arena *arena = shmt_arena_new();
    struct shmt_kernel_reader reader = {.tree = scratch, .err = err};
    enum shmtune_status status;

    if (arena != NULL)
        reader.kernel = shmt_arena_alloc(arena, 1, sizeof *reader.kernel);
    if (reader.kernel != NULL)
        reader.kernel->path = shmt_arena_copy(arena, path, strlen(path));
    if (reader.kernel == NULL || reader.kernel->path == NULL) {
        status = shmt_error_memory(err);
        goto done;
    }
    reader.kernel->arena = arena;
    status = read_spec(&reader);
done:
    if (status == SHMTUNE_OK)
        *out = reader.kernel;
    else
        shmt_arena_free(arena);
    return status;
}

enum shmtune_status shmt_kernel_read(const char *path,
                                     struct shmt_kernel **out,
                                     struct shmt_error *err)
{
    struct shmt_arena *scratch = shmt_arena_new();
    const enum shmtune_status status =
        scratch == NULL ? shmt_error_memory(err)
                        : shmt_kernel_read_with(path, scratch, out, err);

    shmt_arena_free(scratch);
    return status;
}
