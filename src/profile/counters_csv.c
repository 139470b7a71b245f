/* SPDX-License-Identifier: MIT */
/*
 * counters_csv: a strict parser of the CSV that `ncu --csv --page raw` writes.
 * Called by counters.c and tests.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profile/profile.h"

enum { COLUMNS = 4096, CELL = 1024 };

static const struct {
    const char *name;
    enum shmt_metric_kind kind;
} metrics[] = {
#define ROW(name, kind, metric) {metric, SHMT_METRIC_##kind},
    SHMT_METRIC_LIST(ROW)
#undef ROW
};

const char *shmt_metric_name(enum shmt_metric metric)
{
    return metrics[metric].name;
}

/* What is read, and where. */
struct reader {
    const char *name;
    const char *at, *end;
    unsigned line;
    char cell[CELL];
    size_t columns;                 /* of the titles */
    int metric[COLUMNS];            /* of each; -1: none of ours */
    double factor[COLUMNS];         /* of its unit */
};

static enum shmtune_status refuse(const struct reader *reader,
                                  const char *what, struct shmt_error *err)
{
    return shmt_error_set(err, SHMTUNE_INVALID_FILE,
                          "%s:%u: not what ncu --csv --page raw writes: %s",
                          reader->name, reader->line, what);
}

/* -- lines and cells ------------------------------------------------------ */

static void skip_line(struct reader *reader)
{
    const char *newline = memchr(reader->at, '\n',
                                 (size_t)(reader->end - reader->at));

    reader->at = newline == NULL ? reader->end : newline + 1;
    reader->line++;
}

static bool begins(const struct reader *reader, const char *text)
{
    const size_t length = strlen(text);

    return (size_t)(reader->end - reader->at) >= length &&
           memcmp(reader->at, text, length) == 0;
}

/* Skips remarks of ncu and empty lines; false at the end of the text. */
static bool next_row(struct reader *reader)
{
    while (reader->at < reader->end &&
           (begins(reader, "==") || begins(reader, "\n") ||
            begins(reader, "\r\n")))
        skip_line(reader);
    return reader->at < reader->end;
}

/* Each cell is quoted, with "" for a quote; *last when the line ends behind
 * it. */
static enum shmtune_status read_cell(struct reader *reader, bool *last,
                                     struct shmt_error *err)
{
    size_t length = 0;

    if (!begins(reader, "\""))
        return refuse(reader, "a cell without quotes", err);
    for (reader->at++;; reader->at++) {
        if (reader->at == reader->end || *reader->at == '\n' ||
            *reader->at == '\0')
            return refuse(reader, "a quote that does not end", err);
        if (*reader->at == '"') {
            reader->at++;
            if (!begins(reader, "\""))
                break;
        }
        /* A long name (of a template) is cut; its end is not needed. */
        if (length < CELL - 1)
            reader->cell[length++] = *reader->at;
    }
    reader->cell[length] = '\0';
    if (begins(reader, "\r"))
        reader->at++;
    *last = reader->at == reader->end || *reader->at == '\n';
    if (!*last && *reader->at != ',')
        return refuse(reader, "text behind a cell", err);
    if (reader->at < reader->end)
        reader->at++;
    return SHMTUNE_OK;
}

/* -- titles and units ----------------------------------------------------- */

static int find_metric(const char *name)
{
    for (int k = 0; k < SHMT_METRIC_COUNT; k++)
        if (strcmp(metrics[k].name, name) == 0)
            return k;
    return -1;
}

static enum shmtune_status read_titles(struct reader *reader,
                                       struct shmt_error *err)
{
    bool seen[SHMT_METRIC_COUNT] = {false}, last = false;

    while (!last) {
        enum shmtune_status status = read_cell(reader, &last, err);
        const int metric =
            status == SHMTUNE_OK ? find_metric(reader->cell) : -1;

        if (status != SHMTUNE_OK)
            return status;
        if (reader->columns == COLUMNS)
            return refuse(reader, "more than 4096 columns", err);
        if (metric >= 0 && seen[metric])
            return refuse(reader, "the same metric in two columns", err);
        if (metric >= 0)
            seen[metric] = true;
        reader->factor[reader->columns] = 1;
        reader->metric[reader->columns++] = metric;
    }
    reader->line++;
    return SHMTUNE_OK;
}

/* The factor to bytes or nanoseconds, for versions of ncu that ignore
 * --print-units base.  For other units only a prefix K is known. */
static bool unit_factor(const char *unit, double *out)
{
    static const struct {
        const char *unit;
        double factor;
    } known[] = {
        {"byte", 1}, {"Kbyte", 1e3}, {"Mbyte", 1e6}, {"Gbyte", 1e9},
        {"Tbyte", 1e12},
        {"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9},
        {"nsecond", 1}, {"usecond", 1e3}, {"msecond", 1e6}, {"second", 1e9},
    };
    const size_t length = strlen(unit);

    for (size_t k = 0; k < sizeof known / sizeof known[0]; k++)
        if (strcmp(known[k].unit, unit) == 0) {
            *out = known[k].factor;
            return true;
        }
    if (length > 32 || strstr(unit, "byte") != NULL ||
        (length > 6 && strcmp(unit + length - 6, "second") == 0))
        return false;
    *out = unit[0] == 'K' ? 1e3 : unit[0] == 'M' ? 1e6
           : unit[0] == 'G' ? 1e9 : 1;
    return true;
}

static enum shmtune_status read_units(struct reader *reader,
                                      struct shmt_error *err)
{
    bool last = false;
    size_t k = 0;

    for (; !last; k++) {
        enum shmtune_status status = read_cell(reader, &last, err);

        if (status != SHMTUNE_OK)
            return status;
        if (k == reader->columns)
            return refuse(reader, "more cells than titles", err);
        if (reader->metric[k] >= 0 &&
            !unit_factor(reader->cell, &reader->factor[k]))
            return refuse(reader, "a unit that is not known", err);
    }
    if (k != reader->columns)
        return refuse(reader, "fewer units than titles", err);
    reader->line++;
    return SHMTUNE_OK;
}

/* -- numbers -------------------------------------------------------------- */

/* "12", "1,234,567", "0.5", "1.2e+06": each comma with three digits behind
 * it. */
static bool strip_commas(const char *text, char *out, size_t room)
{
    size_t digits = 0, used = 0;
    bool commas = false, whole = true;

    for (; *text != '\0'; text++) {
        if (*text == ',') {
            if (!whole || digits == 0 || digits > 3 ||
                (commas && digits != 3))
                return false;
            commas = true;
            digits = 0;
            continue;
        }
        if (*text >= '0' && *text <= '9') {
            digits++;
        } else if (whole) {
            if ((commas && digits != 3) ||
                (*text != '.' && *text != 'e' && *text != 'E'))
                return false;
            whole = false;
        } else if (*text != 'e' && *text != 'E' && *text != '+' &&
                   *text != '-') {
            return false;
        }
        if (used + 1 >= room)
            return false;
        out[used++] = *text;
    }
    out[used] = '\0';
    return used > 0 && !(whole && commas && digits != 3);
}

/* A missing value is NAN; a negative one is refused. */
static bool read_number(const char *text, double *out)
{
    char plain[64], *end;

    if (text[0] == '\0' || strcmp(text, "n/a") == 0 ||
        strcmp(text, "N/A") == 0 || strcmp(text, "nan") == 0) {
        *out = (double)NAN;
        return true;
    }
    if (text[0] < '0' || text[0] > '9' ||
        !strip_commas(text, plain, sizeof plain))
        return false;
    *out = strtod(plain, &end);
    return *end == '\0' && isfinite(*out);
}

static enum shmtune_status read_row(struct reader *reader,
                                    struct shmt_counters *out,
                                    struct shmt_error *err)
{
    bool last = false;
    size_t k = 0;

    for (int m = 0; m < SHMT_METRIC_COUNT; m++)
        out->value[m] = (double)NAN;
    for (; !last; k++) {
        enum shmtune_status status = read_cell(reader, &last, err);
        double number;

        if (status != SHMTUNE_OK)
            return status;
        if (k == reader->columns)
            return refuse(reader, "more cells than titles", err);
        if (reader->metric[k] < 0)
            continue;
        if (!read_number(reader->cell, &number) ||
            isinf(number * reader->factor[k]))
            return refuse(reader, "a value that is no number", err);
        out->value[reader->metric[k]] = number * reader->factor[k];
    }
    if (k != reader->columns)
        return refuse(reader, "fewer cells than titles", err);
    reader->line++;
    return SHMTUNE_OK;
}

/* -- all of it ------------------------------------------------------------ */

static enum shmtune_status parse(struct reader *reader,
                                 struct shmt_counters *rows, size_t room,
                                 size_t *count, struct shmt_error *err)
{
    enum shmtune_status status;

    while (reader->at < reader->end && !begins(reader, "\"ID\","))
        skip_line(reader);
    if (reader->at == reader->end)
        return refuse(reader, "no line of titles", err);
    status = read_titles(reader, err);
    if (status == SHMTUNE_OK && !next_row(reader))
        status = refuse(reader, "no line of units", err);
    if (status == SHMTUNE_OK)
        status = read_units(reader, err);
    *count = 0;
    while (status == SHMTUNE_OK && next_row(reader)) {
        if (*count == room)
            return refuse(reader, "more launches than were asked for", err);
        status = read_row(reader, &rows[*count], err);
        if (status == SHMTUNE_OK)
            ++*count;
    }
    return status;
}

enum shmtune_status shmt_counters_parse(const char *name, const char *data,
                                        size_t size,
                                        struct shmt_counters *rows,
                                        size_t room, size_t *count,
                                        struct shmt_error *err)
{
    struct reader *const reader = calloc(1, sizeof *reader);
    enum shmtune_status status;

    if (reader == NULL)
        return shmt_error_memory(err);
    reader->name = name;
    reader->at = data;
    reader->end = data + size;
    reader->line = 1;
    status = parse(reader, rows, room, count, err);
    free(reader);
    return status;
}

void shmt_counters_join(const struct shmt_counters *rows, size_t count,
                        struct shmt_counters *out)
{
    for (int m = 0; m < SHMT_METRIC_COUNT; m++) {
        double sum = 0, weights = 0, most = 0;

        for (size_t k = 0; k < count; k++) {
            const double value = rows[k].value[m];
            const double time = rows[k].value[SHMT_METRIC_TIME_NS];
            const double weight = time > 0 ? time : 1;

            sum += metrics[m].kind == SHMT_METRIC_MEAN ? value * weight
                                                       : value;
            weights += weight;
            most = isnan(value) || value > most ? value : most;
        }
        out->value[m] = count == 0 ? (double)NAN
                        : metrics[m].kind == SHMT_METRIC_SUM ? sum
                        : metrics[m].kind == SHMT_METRIC_MEAN ? sum / weights
                                                              : most;
    }
}
