/* SPDX-License-Identifier: MIT */
/*
 * export_t1: writes the space of a kernel, for one problem, as T1 JSON, the
 * community's form of search spaces.  Called by command/export.c.
 *
 * T1 has Python expressions over parameters and nothing else.  So the sizes of
 * the problem stand in them as numbers, derived names as what they stand for,
 * and ceildiv and roundup, which Python does not have, as floor divisions.
 */
#include "exchange/exchange.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "yaml/yaml.h"

enum { EXPRESSION_BYTES = 64 << 10, NESTING = 64 };

struct writer {
    const struct shmt_kernel *kernel;
    const int64_t *problem;
    bool uses[SHMT_SPACE_PARAMETERS];   /* of the expression that is written */
    size_t start;                       /* where that begins in the text */
    struct shmt_text *text;
    struct shmt_error *err;
};

static void add_json(struct shmt_text *text, const char *string)
{
    shmt_text_add(text, "\"");
    for (; *string != '\0'; string++) {
        if (*string == '"' || *string == '\\')
            shmt_text_addf(text, "\\%c", *string);
        else if ((unsigned char)*string < 0x20)
            shmt_text_add(text, " ");
        else
            shmt_text_add_bytes(text, string, 1);
    }
    shmt_text_add(text, "\"");
}

/* -- expressions ----------------------------------------------------------- */

/* The comma or the bracket that ends an argument which begins at `at`. */
static const char *find_end(const char *at, const char *to)
{
    int depth = 0;

    for (; at < to; at++) {
        if (*at == '\'' || *at == '"') {
            const char *const close =
                memchr(at + 1, *at, (size_t)(to - at - 1));

            at = close == NULL ? to - 1 : close;
        } else if (*at == '(' || *at == '[') {
            depth++;
        } else if ((*at == ')' || *at == ']') && depth-- == 0) {
            return at;
        } else if (*at == ',' && depth == 0) {
            return at;
        }
    }
    return to;
}

static void rewrite(struct writer *writer, const char *from, const char *to,
                    int nesting);

/* ceildiv(a, b) is -(-a // b); roundup(a, b) is b times that.  `at` is behind
 * the bracket; the result is behind the one that closes it. */
static const char *rewrite_call(struct writer *writer, const char *at,
                                const char *to, bool roundup)
{
    const char *const comma = find_end(at, to);
    const char *const second =
        comma == to ? to : comma + 1 + strspn(comma + 1, " \t\n");
    const char *const close = find_end(second, to);

    shmt_text_add(writer->text, "(-(-(");
    rewrite(writer, at, comma, 1);
    shmt_text_add(writer->text, ") // (");
    rewrite(writer, second, close, 1);
    shmt_text_add(writer->text, "))");
    if (roundup) {
        shmt_text_add(writer->text, " * (");
        rewrite(writer, second, close, 1);
        shmt_text_add(writer->text, ")");
    }
    shmt_text_add(writer->text, ")");
    return close == to ? to : close + 1;
}

static bool is_name(const char *name, const char *from, size_t length)
{
    return strlen(name) == length && memcmp(name, from, length) == 0;
}

/* What the name stands for; the result is behind it. */
static const char *rewrite_name(struct writer *writer, const char *from,
                                const char *to, int nesting)
{
    const struct shmt_kernel *const kernel = writer->kernel;
    const size_t length = shmt_text_name_length(from);
    const char *const behind = from + length;
    const bool ceildiv = is_name("ceildiv", from, length);

    if ((ceildiv || is_name("roundup", from, length)) && behind < to) {
        const char *const open = behind + strspn(behind, " \t\n");

        if (*open == '(')
            return rewrite_call(writer, open + 1, to, !ceildiv);
    }
    for (size_t d = 0; d < kernel->dimension_count; d++)
        if (is_name(kernel->dimensions[d].name, from, length)) {
            shmt_text_addf(writer->text, "%" PRId64, writer->problem[d]);
            return behind;
        }
    for (size_t d = 0; d < kernel->scope.derived_count; d++)
        if (is_name(kernel->scope.derived[d].name, from, length)) {
            const char *const text =
                shmt_expr_text(kernel->scope.derived[d].expr);

            shmt_text_add(writer->text, "(");
            rewrite(writer, text, text + strlen(text), nesting + 1);
            shmt_text_add(writer->text, ")");
            return behind;
        }
    for (size_t p = 0; p < kernel->parameter_count; p++)
        writer->uses[p] |= is_name(kernel->parameters[p].name, from, length);
    shmt_text_add_bytes(writer->text, from, length);
    return behind;
}

/* What gets too long is cut off here, and refused by the caller. */
static void rewrite(struct writer *writer, const char *from, const char *to,
                    int nesting)
{
    struct shmt_text *const text = writer->text;

    while (from < to && nesting < NESTING &&
           text->length - writer->start <= EXPRESSION_BYTES &&
           !text->failed) {
        const char *end = from + 1;

        if (isalpha((unsigned char)*from) || *from == '_') {
            from = rewrite_name(writer, from, to, nesting);
            continue;
        }
        if (*from == '\'' || *from == '"') {
            const char *const close =
                memchr(end, *from, (size_t)(to - end));

            end = close == NULL ? to : close + 1;
        } else if (isdigit((unsigned char)*from)) {
            while (end < to && (isalnum((unsigned char)*end) || *end == '.' ||
                                *end == '_'))
                end++;
        }
        if (isspace((unsigned char)*from))
            shmt_text_add(text, " ");
        else
            shmt_text_add_bytes(text, from, (size_t)(end - from));
        from = end;
    }
}

/* The expression as a JSON string; NULL: "1". */
static enum shmtune_status add_expression(struct writer *writer,
                                          const struct shmt_expr *expr)
{
    const char *const from = expr == NULL ? "1" : shmt_expr_text(expr);
    struct shmt_text *const out = writer->text;
    struct shmt_text python = {0};
    enum shmtune_status status = SHMTUNE_OK;

    memset(writer->uses, 0, sizeof writer->uses);
    writer->text = &python;
    writer->start = 0;
    rewrite(writer, from, from + strlen(from), 0);
    writer->text = out;
    if (python.length > EXPRESSION_BYTES)
        status = shmt_error_set(
            writer->err, SHMTUNE_INVALID_FILE,
            "%s:%d:%d: with its derived names written out, as T1 needs it, "
            "the expression has more than %d KiB; divide it into several",
            shmt_expr_place(expr).file, shmt_expr_place(expr).line,
            shmt_expr_place(expr).column, EXPRESSION_BYTES >> 10);
    out->failed |= python.failed;
    add_json(out, shmt_text_string(&python));
    shmt_text_free(&python);
    return status;
}

/* -- the parts of the file ------------------------------------------------- */

/* A value within Python's list: words in quotes, of which Python has two. */
static void add_item(struct shmt_text *text, struct shmt_value value)
{
    const char *quote;

    if (value.type != SHMT_VALUE_WORD) {
        shmt_yaml_add_value(text, value);
        return;
    }
    quote = strchr(value.w, '\'') == NULL ? "'" : "\"";
    shmt_text_addf(text, "%s%s%s", quote, value.w, quote);
}

static void add_default(struct shmt_text *text, struct shmt_value value)
{
    if (value.type == SHMT_VALUE_WORD)
        add_json(text, value.w);
    else
        shmt_yaml_add_value(text, value);
}

/* Python's list as a string, as T1 has it; a JSON array where a word has both
 * of Python's quotes, or an escape. */
static void add_values(struct shmt_text *text, const struct shmt_parameter *p)
{
    struct shmt_text list = {0};
    bool plain = true;

    for (size_t k = 0; k < p->count; k++)
        plain &= p->type != SHMT_VALUE_WORD ||
                 (strchr(p->values[k].w, '\\') == NULL &&
                  (strchr(p->values[k].w, '\'') == NULL ||
                   strchr(p->values[k].w, '"') == NULL));
    shmt_text_add(&list, "[");
    for (size_t k = 0; k < p->count; k++) {
        shmt_text_add(&list, k == 0 ? "" : ", ");
        if (plain)
            add_item(&list, p->values[k]);
        else
            add_default(&list, p->values[k]);
    }
    shmt_text_add(&list, "]");
    text->failed |= list.failed;
    if (plain)
        add_json(text, shmt_text_string(&list));
    else
        shmt_text_add(text, shmt_text_string(&list));
    shmt_text_free(&list);
}

static void add_parameters(struct writer *writer)
{
    static const char *const types[] = {[SHMT_VALUE_INT] = "int",
                                        [SHMT_VALUE_REAL] = "float",
                                        [SHMT_VALUE_WORD] = "string"};
    struct shmt_text *const text = writer->text;

    for (size_t p = 0; p < writer->kernel->parameter_count; p++) {
        const struct shmt_parameter *const one =
            &writer->kernel->parameters[p];

        shmt_text_add(text, p == 0 ? "\n   {\"Name\": " : ",\n   {\"Name\": ");
        add_json(text, one->name);
        shmt_text_addf(text, ", \"Type\": \"%s\", \"Values\": ",
                       types[one->type]);
        add_values(text, one);
        shmt_text_add(text, ", \"Default\": ");
        add_default(text, one->values[one->default_value]);
        shmt_text_add(text, "}");
    }
}

/* Whether constraint `c` is one of the sizes alone and holds, so that it says
 * nothing of the space: Kernel Tuner takes no condition without a parameter.
 * One that does not hold leaves no space. */
static enum shmtune_status leave_out(struct writer *writer, size_t c,
                                     bool *out)
{
    const struct shmt_kernel *const kernel = writer->kernel;
    const struct shmt_expr *const constraint = kernel->constraints[c];
    shmt_config config[SHMT_SPACE_PARAMETERS];
    struct shmt_kernel_evaluated evaluated;
    struct shmt_text size = {0};
    enum shmtune_status status;

    *out = true;
    for (size_t p = 0; p < kernel->parameter_count; p++)
        *out &= !writer->uses[p];
    if (!*out)
        return SHMTUNE_OK;
    shmt_kernel_default(kernel, config);
    shmt_kernel_evaluate(kernel, writer->problem, config, &evaluated);
    status = shmt_expr_next_bool(constraint, &evaluated.evaluation, out,
                                 writer->err);
    if (status != SHMTUNE_OK || *out)
        return status;
    shmt_kernel_problem_write(kernel, writer->problem, &size);
    status = size.failed
                 ? shmt_error_memory(writer->err)
                 : shmt_error_set(writer->err, SHMTUNE_NO_CONFIGURATION,
                                  "%s has no configuration at %s: `%.200s` "
                                  "does not hold; give another size by --size",
                                  kernel->name, shmt_text_string(&size),
                                  shmt_expr_text(constraint));
    shmt_text_free(&size);
    return status;
}

static enum shmtune_status add_conditions(struct writer *writer)
{
    const struct shmt_kernel *const kernel = writer->kernel;
    struct shmt_text *const text = writer->text;
    enum shmtune_status status = SHMTUNE_OK;
    const char *before = "\n";

    for (size_t c = 0; c < kernel->constraint_count && status == SHMTUNE_OK;
         c++) {
        const size_t begin = text->length;
        const char *comma = "";
        bool out = false;

        shmt_text_add(text, before);
        shmt_text_add(text, "   {\"Expression\": ");
        status = add_expression(writer, kernel->constraints[c]);
        if (status == SHMTUNE_OK && !text->failed)
            status = leave_out(writer, c, &out);
        if (out) {
            text->length = begin;
            continue;
        }
        before = ",\n";
        shmt_text_add(text, ", \"Parameters\": [");
        for (size_t p = 0; p < kernel->parameter_count; p++)
            if (writer->uses[p]) {
                shmt_text_add(text, comma);
                add_json(text, kernel->parameters[p].name);
                comma = ", ";
            }
        shmt_text_add(text, "]}");
    }
    return status;
}

/* {"X": "...", "Y": "...", "Z": "..."} */
static enum shmtune_status add_size(struct writer *writer, const char *key,
                                    struct shmt_expr *const *three)
{
    static const char *const names[] = {"{\"X\": ", ", \"Y\": ", ", \"Z\": "};
    enum shmtune_status status = SHMTUNE_OK;

    shmt_text_addf(writer->text, ", \"%s\": ", key);
    for (size_t k = 0; k < 3 && status == SHMTUNE_OK; k++) {
        shmt_text_add(writer->text, names[k]);
        status = add_expression(writer, three[k]);
    }
    shmt_text_add(writer->text, "}");
    return status;
}

/* Of several launches, T1 has room for one: the first. */
static enum shmtune_status add_specification(struct writer *writer)
{
    static struct shmt_expr *const one[3];
    const struct shmt_kernel *const kernel = writer->kernel;
    const bool space = kernel->launch_count == 0;
    const char *const slash =
        space ? NULL : strrchr(kernel->source, '/');
    struct shmt_text *const text = writer->text;
    enum shmtune_status status;

    shmt_text_add(text, ",\n \"KernelSpecification\": {\"Language\": "
                        "\"CUDA\", \"BenchmarkName\": ");
    add_json(text, kernel->name);
    shmt_text_add(text, ", \"KernelName\": ");
    add_json(text, space ? kernel->name : kernel->launches[0].entry);
    shmt_text_add(text, ", \"KernelFile\": ");
    add_json(text, slash != NULL ? slash + 1 : space ? "" : kernel->source);
    shmt_text_add(text, ", \"GlobalSizeType\": \"CUDA\"");
    status = add_size(writer, "GlobalSize",
                      space ? one : kernel->launches[0].grid);
    if (status == SHMTUNE_OK)
        status = add_size(writer, "LocalSize",
                          space ? one : kernel->launches[0].block);
    shmt_text_add(text, ", \"ProblemSize\": [");
    for (size_t d = 0; d < kernel->dimension_count; d++)
        shmt_text_addf(text, "%s%" PRId64, d == 0 ? "" : ", ",
                       writer->problem[d]);
    shmt_text_add(text, "]}");
    return status;
}

enum shmtune_status shmt_export_t1(const struct shmt_kernel *kernel,
                                   const int64_t *problem,
                                   struct shmt_text *text,
                                   struct shmt_error *err)
{
    struct writer writer = {.kernel = kernel, .problem = problem,
                            .text = text, .err = err};
    enum shmtune_status status;

    shmt_text_add(text, "{\"General\": {\"BenchmarkName\": ");
    add_json(text, kernel->name);
    shmt_text_add(text, ", \"OutputFormat\": \"JSON\"},\n"
                        " \"ConfigurationSpace\": {\n"
                        "  \"TuningParameters\": [");
    add_parameters(&writer);
    shmt_text_add(text, "],\n  \"Conditions\": [");
    status = add_conditions(&writer);
    shmt_text_add(text, "]}");
    if (status == SHMTUNE_OK)
        status = add_specification(&writer);
    shmt_text_add(text, "}\n");
    if (status == SHMTUNE_OK && text->failed)
        status = shmt_error_memory(err);
    return status;
}
