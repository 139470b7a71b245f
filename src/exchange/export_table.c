/* SPDX-License-Identifier: MIT */
/*
 * export_table: writes tunings in a form of the user's own, a template: a text
 * with {NAME} in it, of which the lines between {begin} and {end} stand once
 * for each tuned size.  Called by command/.
 *
 * {NAME} is a placeholder where NAME is an identifier, so that braces of C stay
 * what they are; {{NAME} is {NAME} itself.
 */
#include <inttypes.h>

#include "exchange/export_rows.h"
#include "yaml/yaml.h"

struct table {
    const struct shmt_export_rows *rows;
    const char *name;             /* of the template */
    const char *form;
    const struct shmt_export_row *row;   /* NULL: outside of the rows */
    struct shmt_kernel_evaluated evaluated;   /* its configuration */
    size_t number;                /* of the row */
    struct shmt_text *text;
    struct shmt_error *err;
};

enum word { KERNEL, DIGEST, COUNT, BEGIN, END, DEVICE, ARCH, TIME, NUMBER,
            WORDS };
static const char *const words[] = {
    [KERNEL] = "kernel", [DIGEST] = "digest", [COUNT] = "count",
    [BEGIN] = "begin", [END] = "end", [DEVICE] = "device", [ARCH] = "arch",
    [TIME] = "time_us", [NUMBER] = "number",
};

static bool is_word(const char *word, const char *at, size_t length)
{
    return strlen(word) == length && memcmp(word, at, length) == 0;
}

/* Bytes of the name in a placeholder that begins at `at`; 0: none does. */
static size_t name_at(const char *at)
{
    const size_t length = at[0] == '{' ? shmt_text_name_length(at + 1) : 0;

    return length > 0 && (at[1] < '0' || at[1] > '9') && at[1 + length] == '}'
               ? length : 0;
}

static enum shmtune_status refuse(const struct table *table, const char *at,
                                  const char *what)
{
    size_t line = 1;
    const char *start = table->form;

    for (const char *c = table->form; c < at; c++)
        if (*c == '\n') {
            line++;
            start = c + 1;
        }
    return shmt_error_set(table->err, SHMTUNE_INVALID_FILE,
                          "%s:%zu:%zu: %.*s: %s", table->name, line,
                          (size_t)(at - start) + 1,
                          (int)(name_at(at) < 64 ? name_at(at) : 64) + 2, at,
                          what);
}

/* All that there are, behind the error. */
static enum shmtune_status refuse_unknown(const struct table *table,
                                          const char *at)
{
    const struct shmt_kernel *const kernel = table->rows->kernel;
    struct shmt_text text = {0};
    enum shmtune_status status;

    shmt_text_add(&text, "no such placeholder; there are");
    for (size_t k = 0; k < kernel->scope.count; k++)
        shmt_text_addf(&text, " {%s}", kernel->scope.symbols[k].name);
    for (size_t k = 0; k < kernel->scope.derived_count; k++)
        shmt_text_addf(&text, " {%s}", kernel->scope.derived[k].name);
    for (size_t k = 0; k < WORDS; k++)
        shmt_text_addf(&text, " {%s}", words[k]);
    shmt_text_add(&text, "; {{NAME} is the text {NAME} itself");
    status = refuse(table, at, shmt_text_string(&text));
    shmt_text_free(&text);
    return status;
}

/* The number of a dimension, a parameter or a derived name, in this order; as
 * many as there are: it is none. */
static size_t find_symbol(const struct table *table, const char *name,
                          size_t length)
{
    const struct shmt_expr_scope *const scope = &table->rows->kernel->scope;
    size_t k = 0;

    while (k < scope->count && !is_word(scope->symbols[k].name, name, length))
        k++;
    while (k >= scope->count && k < scope->count + scope->derived_count &&
           !is_word(scope->derived[k - scope->count].name, name, length))
        k++;
    return k;
}

/* Whether it is one of them: they come before words. */
static bool is_symbol(const struct table *table, const char *name,
                      size_t length)
{
    const struct shmt_expr_scope *const scope = &table->rows->kernel->scope;

    return find_symbol(table, name, length) <
           scope->count + scope->derived_count;
}

/* Its value in the row. */
static enum shmtune_status add_symbol(struct table *table, const char *name,
                                      size_t length)
{
    const struct shmt_expr_scope *const scope = &table->rows->kernel->scope;
    const size_t k = find_symbol(table, name, length);
    struct shmt_value value;
    enum shmtune_status status = SHMTUNE_OK;

    if (k < scope->count)
        value = table->evaluated.values[k];
    else
        status = shmt_expr_next(scope->derived[k - scope->count].expr,
                                &table->evaluated.evaluation, &value,
                                table->err);
    if (status == SHMTUNE_OK)
        shmt_kernel_value_add(table->text, value);
    return status;
}

static size_t find_word(const char *name, size_t length)
{
    size_t k = 0;

    while (k < WORDS && !is_word(words[k], name, length))
        k++;
    return k;
}

static void add_word(struct table *table, size_t word)
{
    const struct shmt_kernel *const kernel = table->rows->kernel;
    const struct shmtune_device *const device =
        table->row == NULL ? NULL : &table->rows->devices[table->row->device];

    if (word == KERNEL)
        shmt_export_add_string(table->text, kernel->name);
    else if (word == DIGEST)
        shmt_text_add(table->text, kernel->digest);
    else if (word == COUNT)
        shmt_text_addf(table->text, "%zu", table->rows->row_count);
    else if (device != NULL && word == DEVICE)
        shmt_export_add_string(table->text, device->name);
    else if (device != NULL && word == ARCH)
        shmt_text_addf(table->text, "%d", shmt_export_arch(device));
    else if (device != NULL && word == TIME)
        shmt_yaml_add_real(table->text, table->row->time_us, 6);
    else if (device != NULL)
        shmt_text_addf(table->text, "%zu", table->number);
}

static enum shmtune_status put(struct table *table, const char *at)
{
    const size_t length = name_at(at);
    const size_t word = find_word(at + 1, length);
    const bool symbol = is_symbol(table, at + 1, length);

    if (word == BEGIN || word == END)
        return refuse(table, at, "stands in a line of its own, {begin} before "
                                 "{end}");
    if (!symbol && word == WORDS)
        return refuse_unknown(table, at);
    if (table->row == NULL && (symbol || word > END))
        return refuse(table, at, "is of a row, and stands between {begin} and "
                                 "{end} alone");
    if (symbol)
        return add_symbol(table, at + 1, length);
    add_word(table, word);
    return SHMTUNE_OK;
}

/* A part of the template, with its placeholders replaced. */
static enum shmtune_status expand(struct table *table, const char *from,
                                  const char *to)
{
    enum shmtune_status status = SHMTUNE_OK;

    while (from < to && status == SHMTUNE_OK) {
        const char *const next = memchr(from, '{', (size_t)(to - from));
        const char *const end = next == NULL ? to : next;

        shmt_text_add_bytes(table->text, from, (size_t)(end - from));
        from = end;
        if (from == to) {
            /* the text alone */
        } else if (name_at(from) > 0) {
            status = put(table, from);
            from += name_at(from) + 2;
        } else if (name_at(from + 1) > 0) {
            shmt_text_add_bytes(table->text, from + 1, name_at(from + 1) + 2);
            from += name_at(from + 1) + 3;
        } else {
            shmt_text_add_bytes(table->text, from++, 1);
        }
        if (table->text->length > SHMT_EXPORT_BYTES)
            return shmt_error_set(table->err, SHMTUNE_INVALID_FILE,
                                  "%s: %zu sizes in this form have more than "
                                  "the %d bytes that are allowed; name fewer "
                                  "tunings", table->name,
                                  table->rows->row_count, SHMT_EXPORT_BYTES);
    }
    return status;
}

/* Once for each row. */
static enum shmtune_status expand_rows(struct table *table, const char *from,
                                       const char *to)
{
    enum shmtune_status status = SHMTUNE_OK;

    for (size_t k = 0;
         k < table->rows->row_count && status == SHMTUNE_OK; k++) {
        table->row = &table->rows->rows[k];
        table->number = k;
        shmt_kernel_evaluate(table->rows->kernel, table->row->problem,
                             table->rows->configs[table->row->config],
                             &table->evaluated);
        status = expand(table, from, to);
    }
    table->row = NULL;
    return status;
}

/* The next line with this marker and nothing but blanks, or a comment's signs,
 * beside it; NULL: there is none.  *end is behind its newline. */
static const char *find_marker(const char *from, const char *marker,
                               const char **at, const char **end)
{
    while (from != NULL && *from != '\0') {
        const char *const newline = strchr(from, '\n');
        const size_t length =
            newline == NULL ? strlen(from) : (size_t)(newline - from);
        const size_t sign = strspn(from, " \t/*#-;");
        const size_t bytes = strlen(marker);

        *end = newline == NULL ? from + length : newline + 1;
        if (sign + bytes <= length &&
            memcmp(from + sign, marker, bytes) == 0 &&
            strspn(from + sign + bytes, " \t\r/*-") >= length - sign - bytes) {
            *at = from + sign;
            return from;
        }
        from = newline == NULL ? NULL : newline + 1;
    }
    return NULL;
}

enum shmtune_status shmt_export_table(const struct shmt_export_rows *rows,
                                      const char *name, const char *form,
                                      struct shmt_text *text,
                                      struct shmt_error *err)
{
    struct table table = {.rows = rows, .name = name, .form = form,
                          .text = text, .err = err};
    const char *at, *behind, *last, *after, *from = form;
    const char *begin = find_marker(from, "{begin}", &at, &behind);
    enum shmtune_status status = SHMTUNE_OK;

    if (begin == NULL)
        return shmt_error_set(err, SHMTUNE_INVALID_FILE,
                              "%s: has no line {begin}; the lines between "
                              "{begin} and {end} stand once for each tuned "
                              "size", name);
    while (begin != NULL && status == SHMTUNE_OK) {
        const char *const open = at;
        const char *const end = find_marker(behind, "{end}", &last, &after);

        if (end == NULL)
            return refuse(&table, open, "has no line {end} behind it");
        status = expand(&table, from, begin);
        if (status == SHMTUNE_OK)
            status = expand_rows(&table, behind, end);
        from = after;
        begin = find_marker(from, "{begin}", &at, &behind);
    }
    if (status == SHMTUNE_OK)
        status = expand(&table, from, from + strlen(from));
    if (status == SHMTUNE_OK && text->failed)
        status = shmt_error_memory(err);
    return status;
}
