/* SPDX-License-Identifier: MIT */
/*
 * journal_read: reads journals, line by line.  A file that is cut anywhere
 * gives every complete record; a whole record that makes no sense is refused
 * with its line.
 */
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "device/device.h"
#include "record/journal.h"
#include "record/gzip.h"
#include "yaml/yaml.h"

/* Caps: a journal of a million candidates is some 400 MB. */
static const size_t file_limit = (size_t)512 << 20;
static const size_t line_limit = (size_t)64 << 10;
static const size_t header_limit = (size_t)64 << 10;

static const char records_mark[] = "\nrecords:\n";

/* -- the header ---------------------------------------------------------- */

static const char *const header_keys[] = {
    "format", "kernel", "digest", "device", "nvrtc", "protocol", "size",
    "seed", "data_seed", "data_digest", "from", "from_digest",
    "require", "space", "origin", NULL
};

static enum shmtune_status copy_word(const struct shmt_yaml *top,
                                     const char *key, size_t room, char *out,
                                     struct shmt_error *err)
{
    const struct shmt_yaml *node;
    enum shmtune_status status = shmt_yaml_need(top, key, &node, err);

    if (status == SHMTUNE_OK)
        status = shmt_yaml_expect(node, SHMT_YAML_SCALAR, key, err);
    if (status != SHMTUNE_OK)
        return status;
    if (strlen(node->text) >= room)
        return shmt_yaml_refuse(node, err,
                                "%s has %zu characters, at most %zu are "
                                "allowed", key, strlen(node->text), room - 1);
    memcpy(out, node->text, strlen(node->text) + 1);
    return SHMTUNE_OK;
}

static enum shmtune_status read_int(const struct shmt_yaml *top,
                                    const char *key, int64_t high,
                                    int64_t *out, struct shmt_error *err)
{
    const struct shmt_yaml *node;
    enum shmtune_status status = shmt_yaml_need(top, key, &node, err);
    return status != SHMTUNE_OK ? status
                                : shmt_yaml_int(node, 0, high, out, err);
}

static enum shmtune_status read_count(const struct shmt_yaml *top,
                                      const char *key, uint64_t *out,
                                      struct shmt_error *err)
{
    const struct shmt_yaml *node;
    enum shmtune_status status = shmt_yaml_need(top, key, &node, err);
    return status != SHMTUNE_OK ? status : shmt_yaml_count(node, out, err);
}

static enum shmtune_status take_data_seed(const struct shmt_yaml *top,
                                          struct shmt_journal_header *header,
                                          struct shmt_error *err)
{
    const struct shmt_yaml *const node = shmt_yaml_get(top, "data_seed");

    header->data_seed = header->seed;
    return node == NULL ? SHMTUNE_OK
                        : shmt_yaml_count(node, &header->data_seed, err);
}

static enum shmtune_status take_digest(const struct shmt_yaml *top,
                                       const char *key,
                                       char out[SHMT_DIGEST_TEXT],
                                       struct shmt_error *err)
{
    const struct shmt_yaml *const node = shmt_yaml_get(top, key);

    out[0] = '\0';
    if (node == NULL)
        return SHMTUNE_OK;
    if (node->kind != SHMT_YAML_SCALAR || !shmt_digest_valid(node->text))
        return shmt_yaml_expected(node, err, "64 hexadecimal digits");
    memcpy(out, node->text, SHMT_DIGEST_TEXT);
    return SHMTUNE_OK;
}

/* Both or neither. */
static enum shmtune_status take_from(const struct shmt_yaml *top,
                                     struct shmt_journal_header *header,
                                     struct shmt_error *err)
{
    enum shmtune_status status =
        take_digest(top, "from_digest", header->from_digest, err);

    header->from[0] = '\0';
    if (status != SHMTUNE_OK)
        return status;
    if (header->from_digest[0] != '\0')
        return copy_word(top, "from", sizeof header->from, header->from, err);
    if (shmt_yaml_get(top, "from") != NULL)
        return shmt_yaml_refuse(shmt_yaml_get(top, "from"), err,
                                "found from without from_digest, expected "
                                "both");
    return SHMTUNE_OK;
}

static enum shmtune_status take_require(const struct shmt_yaml *top,
                                        struct shmt_journal_header *header,
                                        struct shmt_error *err)
{
    header->require[0] = '\0';
    return shmt_yaml_get(top, "require") == NULL
               ? SHMTUNE_OK
               : copy_word(top, "require", sizeof header->require,
                           header->require, err);
}

/* kernel may be NULL: then only what needs none is filled in. */
static enum shmtune_status header_fields(const struct shmt_yaml *top,
                                         const struct shmt_kernel *kernel,
                                         bool any_size,
                                         struct shmt_journal_header *h,
                                         struct shmt_error *err)
{
    const struct shmt_yaml *device, *size;
    int64_t nvrtc;
    enum shmtune_status status =
        shmt_yaml_format(top, SHMT_YAML_JOURNAL, err);

    if (status == SHMTUNE_OK)
        status = shmt_yaml_check_keys(top, header_keys, err);
    if (status == SHMTUNE_OK)
        status = copy_word(top, "kernel", sizeof h->kernel, h->kernel, err);
    if (status == SHMTUNE_OK && kernel != NULL &&
        strcmp(h->kernel, kernel->name) != 0)
        return shmt_yaml_refuse(shmt_yaml_get(top, "kernel"), err,
                                "a journal of the kernel %s, expected %s",
                                h->kernel, kernel->name);
    if (status == SHMTUNE_OK)
        status = copy_word(top, "digest", sizeof h->digest, h->digest, err);
    if (status != SHMTUNE_OK || kernel == NULL)
        return status;
    if ((status = copy_word(top, "protocol", sizeof h->protocol, h->protocol,
                            err)) != SHMTUNE_OK ||
        (status = read_int(top, "nvrtc", INT_MAX, &nvrtc, err)) !=
            SHMTUNE_OK ||
        (status = read_count(top, "seed", &h->seed, err)) != SHMTUNE_OK ||
        (status = take_data_seed(top, h, err)) != SHMTUNE_OK ||
        (status = take_digest(top, "data_digest", h->data_digest, err)) !=
            SHMTUNE_OK ||
        (status = take_from(top, h, err)) != SHMTUNE_OK ||
        (status = take_require(top, h, err)) != SHMTUNE_OK ||
        (status = read_count(top, "space", &h->space_count, err)) !=
            SHMTUNE_OK ||
        (status = shmt_yaml_need(top, "device", &device, err)) !=
            SHMTUNE_OK ||
        (status = shmt_device_read(device, &h->device, err)) != SHMTUNE_OK ||
        (status = shmt_yaml_need(top, "size", &size, err)) != SHMTUNE_OK ||
        ((status = shmt_kernel_problem_read(kernel, size, h->problem,
                                            err)) != SHMTUNE_OK && !any_size))
        return status;
    h->nvrtc_version = (int)nvrtc;
    return SHMTUNE_OK;
}

/* What an imported file said besides; NULL when there is nothing. */
static enum shmtune_status read_origin(const struct shmt_yaml *node,
                                       struct shmt_arena *arena,
                                       const char **out,
                                       struct shmt_error *err)
{
    const struct shmt_yaml *const origin = shmt_yaml_get(node, "origin");

    if (origin == NULL)
        return SHMTUNE_OK;
    if (shmt_yaml_expect(origin, SHMT_YAML_SCALAR, "origin", err) != 0)
        return SHMTUNE_INVALID_FILE;
    *out = shmt_arena_copy(arena, origin->text, strlen(origin->text));
    return *out == NULL ? shmt_error_memory(err) : SHMTUNE_OK;
}

/* Why the line that ends the header was not found. */
static enum shmtune_status refuse_header(const char *path, const char *data,
                                         struct shmt_error *err)
{
    if (strstr(data, "\nrecords:\r\n") != NULL)
        return shmt_error_set(err, SHMTUNE_INVALID_FILE,
                              "%s:1:%zu: found a line that ends with CR and "
                              "LF, expected LF alone: an editor or a transfer "
                              "as text changed the journal; \"sed -i "
                              "'s/\\r$//' FILE\" changes it back", path,
                              strcspn(data, "\r\n") + 1);
    if (data[strspn(data, " \t\r\n")] == '{')
        return shmt_error_set(err, SHMTUNE_INVALID_FILE,
                              "%s:1:1: found JSON, expected a journal: of "
                              "what another tuner wrote `shmtune import` "
                              "makes one", path);
    return shmt_error_set(err, SHMTUNE_INVALID_FILE,
                          "%s:1:1: no journal: found no line \"records:\" "
                          "within its first %zu KiB", path,
                          header_limit >> 10);
}

/* `text` is the file; `keep` is for the origin, NULL to leave that out.  With
 * `any_size` its problem need not be one of the kernel's. */
static enum shmtune_status read_header(const char *path,
                                       const struct shmt_text *text,
                                       const struct shmt_kernel *kernel,
                                       bool any_size,
                                       struct shmt_arena *keep,
                                       struct shmt_journal_header *header,
                                       struct shmt_error *err)
{
    const char *const data = shmt_text_string(text);
    const char *const mark = strstr(data, records_mark);
    const struct shmt_yaml *top;
    struct shmt_arena *arena;
    enum shmtune_status status;

    if (mark == NULL || (size_t)(mark - data) > header_limit)
        return refuse_header(path, data, err);
    arena = shmt_arena_new();
    if (arena == NULL)
        return shmt_error_memory(err);
    memset(header, 0, sizeof *header);
    status = shmt_yaml_parse(arena, path, data, (size_t)(mark - data) + 1,
                             &top, err);
    if (status == SHMTUNE_OK)
        status = header_fields(top, kernel, any_size, header, err);
    if (status == SHMTUNE_OK && keep)
        status = read_origin(top, keep, &header->origin, err);
    shmt_arena_free(arena);
    return status;
}

enum shmtune_status shmt_journal_read_header(const char *path,
                                             const struct shmt_kernel *kernel,
                                             struct shmt_journal_header *out,
                                             struct shmt_error *err)
{
    struct shmt_text text = {0};
    struct shmt_journal_header header;
    enum shmtune_status status =
        shmt_gzip_read(path, records_mark, header_limit, &text, err);

    if (status == SHMTUNE_OK)
        status = read_header(path, &text, kernel, false, NULL, &header, err);
    if (status == SHMTUNE_OK)
        *out = header;
    shmt_text_free(&text);
    return status;
}

enum shmtune_status shmt_journal_read_kernel_name(const char *path,
                                                  char name[80],
                                                  struct shmt_error *err)
{
    struct shmt_journal_header header;
    enum shmtune_status status =
        shmt_journal_read_header(path, NULL, &header, err);

    if (status == SHMTUNE_OK)
        memcpy(name, header.kernel, sizeof header.kernel);
    return status;
}

/* -- the records --------------------------------------------------------- */

struct reading {
    const char *path;
    const struct shmt_kernel *kernel;
    struct shmt_journal *journal;
    struct shmt_arena *scratch;      /* one line at a time */
    int line;                        /* from 1 */
    struct shmt_journal_record *records;
    size_t room;
    size_t *left_out;                /* NULL: what cannot be read is refused */
    struct shmt_error *why;          /* of the first that is left out */
};

static const struct {
    const char *key;
    enum shmt_journal_kind kind;
} kinds[] = {
    {"config", SHMT_JOURNAL_RESULT},
    {"try", SHMT_JOURNAL_TRY},
    {"drop", SHMT_JOURNAL_DROP},
};

static bool is_result_key(const char *key)
{
    if (shmt_text_equal(key, "at") || shmt_text_equal(key, "others") ||
        shmt_text_equal(key, "origin"))
        return true;
    for (size_t k = 0; shmt_result_keys[k] != NULL; k++)
        if (shmt_text_equal(key, shmt_result_keys[k]))
            return true;
    return false;
}

/* A `config` record has the fields of a result beside it; `try` and `drop`
 * have nothing else. */
static enum shmtune_status check_keys(const struct shmt_yaml *node,
                                      size_t kind, struct shmt_error *err)
{
    for (size_t k = 0; k < node->count; k++) {
        const char *const key = node->keys[k]->text;
        if (strcmp(key, kinds[kind].key) != 0 &&
            (kinds[kind].kind != SHMT_JOURNAL_RESULT || !is_result_key(key)))
            return shmt_yaml_refuse(node->keys[k], err,
                                    "unknown key \"%s\" in a record", key);
    }
    return SHMTUNE_OK;
}

static enum shmtune_status read_seconds(const struct shmt_yaml *node,
                                        struct shmt_journal_record *record,
                                        struct shmt_error *err)
{
    const struct shmt_yaml *const others = shmt_yaml_get(node, "others");
    const struct shmt_yaml *at;
    enum shmtune_status status = shmt_yaml_need(node, "at", &at, err);

    if (status == SHMTUNE_OK)
        status = shmt_yaml_real(at, &record->at_s, err);
    if (status == SHMTUNE_OK && record->at_s < 0)
        return shmt_yaml_refuse(at, err, "at is %g s, expected 0 or more",
                                record->at_s);
    if (status == SHMTUNE_OK && others != NULL)
        status = shmt_yaml_real(others, &record->others_s, err);
    if (status == SHMTUNE_OK &&
        !(record->others_s >= 0 && record->others_s <= record->at_s))
        return shmt_yaml_refuse(others, err, "others is %g s, expected 0 to "
                                "%g, as at is", record->others_s,
                                record->at_s);
    return status;
}

static enum shmtune_status read_result(struct reading *r,
                                       const struct shmt_yaml *node,
                                       struct shmt_journal_record *record,
                                       struct shmt_error *err)
{
    struct shmt_result *result;
    enum shmtune_status status = read_seconds(node, record, err);

    if (status != SHMTUNE_OK)
        return status;
    result = shmt_arena_alloc(r->journal->arena, 1, sizeof *result);
    if (result == NULL)
        return shmt_error_memory(err);
    record->result = result;
    status = read_origin(node, r->journal->arena, &record->origin, err);
    return status == SHMTUNE_OK ? shmt_result_read(node, result, err)
                                : status;
}

static enum shmtune_status read_record(struct reading *r,
                                       const struct shmt_yaml *node,
                                       struct shmt_journal_record *record,
                                       struct shmt_error *err)
{
    const struct shmt_yaml *config_node = NULL;
    size_t kind = 0;
    shmt_config *config;
    enum shmtune_status status =
        shmt_yaml_expect(node, SHMT_YAML_MAPPING, "a record", err);

    if (status != SHMTUNE_OK)
        return status;
    while (kind < sizeof kinds / sizeof *kinds &&
           (config_node = shmt_yaml_get(node, kinds[kind].key)) == NULL)
        kind++;
    if (config_node == NULL)
        return shmt_yaml_refuse(node, err, "a record needs one of config, "
                                "try, drop");
    record->kind = kinds[kind].kind;
    status = check_keys(node, kind, err);
    if (status != SHMTUNE_OK)
        return status;
    config = shmt_arena_alloc(r->journal->arena, r->kernel->parameter_count,
                              sizeof *config);
    if (config == NULL)
        return shmt_error_memory(err);
    record->config = config;
    status = shmt_kernel_config_read(r->kernel, config_node, config, err);
    if (status == SHMTUNE_INVALID_FILE && r->left_out != NULL) {
        if (record->kind == SHMT_JOURNAL_RESULT && (*r->left_out)++ == 0 &&
            err != NULL)
            *r->why = *err;
        record->config = NULL;
        return SHMTUNE_OK;
    }
    if (status == SHMTUNE_OK && record->kind == SHMT_JOURNAL_RESULT)
        status = read_result(r, node, record, err);
    return status;
}

static enum shmtune_status read_line(struct reading *r, const char *line,
                                     size_t length,
                                     struct shmt_journal_record *record,
                                     struct shmt_error *err)
{
    const struct shmt_yaml *node;
    enum shmtune_status status;

    if (length < 2 || line[0] != '-' || line[1] != ' ')
        return shmt_error_set(err, SHMTUNE_INVALID_FILE,
                              "%s:%d:1: found \"%.*s\", expected a record "
                              "\"- {...}\"", r->path, r->line,
                              length > 20 ? 20 : (int)length, line);
    if (length > line_limit)
        return shmt_error_set(err, SHMTUNE_INVALID_FILE,
                              "%s:%d:1: a record of %zu bytes, at most %zu "
                              "are allowed", r->path, r->line, length,
                              line_limit);
    shmt_arena_clear(r->scratch);
    status = shmt_yaml_parse_from(r->scratch,
                                  &(struct shmt_yaml_source){
                                      {r->path, r->line, 3, 0},
                                      .data = line + 2, .size = length - 2},
                                  &node, err);
    if (status == SHMTUNE_OK)
        status = read_record(r, node, record, err);
    return status;
}

static enum shmtune_status read_records(struct reading *r,
                                        const struct shmt_text *text,
                                        struct shmt_error *err)
{
    const char *const data = shmt_text_string(text);
    const char *at = strstr(data, records_mark) + sizeof records_mark - 1;
    const char *const end = data + text->length;

    r->line = 1;
    for (const char *c = data; c < at; c++)
        r->line += *c == '\n';
    while (at < end) {
        const char *const stop = memchr(at, '\n', (size_t)(end - at));
        struct shmt_journal_record record = {0};
        enum shmtune_status status;
        if (stop == NULL)
            break;
        if (!shmt_array_reserve(&r->records, &r->room, r->journal->count + 1,
                                sizeof *r->records))
            return shmt_error_memory(err);
        status = read_line(r, at, (size_t)(stop - at), &record, err);
        if (status != SHMTUNE_OK)
            return status;
        record.line = r->line;
        if (record.config != NULL)
            r->records[r->journal->count++] = record;
        at = stop + 1;
        r->line++;
    }
    r->journal->whole_bytes = (size_t)(at - data);
    r->journal->cut = at < end;
    return SHMTUNE_OK;
}

static enum shmtune_status read_journal(const char *path,
                                        const struct shmt_kernel *kernel,
                                        size_t *left_out,
                                        struct shmt_error *why,
                                        struct shmt_journal **out,
                                        struct shmt_error *err)
{
    struct shmt_journal *const journal = calloc(1, sizeof *journal);
    struct reading r = {.path = path, .kernel = kernel, .journal = journal,
                        .scratch = shmt_arena_new(), .left_out = left_out,
                        .why = why};
    struct shmt_text text = {0};
    enum shmtune_status status = SHMTUNE_OK;

    if (journal != NULL)
        journal->arena = shmt_arena_new();
    if (journal == NULL || journal->arena == NULL || r.scratch == NULL)
        status = shmt_error_memory(err);
    if (status == SHMTUNE_OK)
        status = shmt_gzip_read(path, NULL, file_limit, &text, err);
    if (status == SHMTUNE_OK)
        status = read_header(path, &text, kernel, left_out != NULL,
                             journal->arena, &journal->header, err);
    if (status == SHMTUNE_OK)
        status = read_records(&r, &text, err);
    /* The records move from the heap into the arena, where they are freed with
     * everything else. */
    if (status == SHMTUNE_OK &&
        (journal->records = shmt_arena_copy(
             journal->arena, r.records,
             journal->count * sizeof *r.records)) == NULL)
        status = shmt_error_memory(err);
    free(r.records);
    shmt_arena_free(r.scratch);
    shmt_text_free(&text);
    if (status != SHMTUNE_OK) {
        shmt_journal_free(journal);
        return status;
    }
    *out = journal;
    return SHMTUNE_OK;
}

enum shmtune_status shmt_journal_read(const char *path,
                                      const struct shmt_kernel *kernel,
                                      struct shmt_journal **out,
                                      struct shmt_error *err)
{
    return read_journal(path, kernel, NULL, NULL, out, err);
}

enum shmtune_status shmt_journal_read_some(const char *path,
                                           const struct shmt_kernel *kernel,
                                           size_t *left_out,
                                           struct shmt_error *why,
                                           struct shmt_journal **out,
                                           struct shmt_error *err)
{
    *left_out = 0;
    return read_journal(path, kernel, left_out, why, out, err);
}

void shmt_journal_free(struct shmt_journal *journal)
{
    if (journal == NULL)
        return;
    shmt_arena_free(journal->arena);
    free(journal);
}
