/* SPDX-License-Identifier: MIT */
/*
 * tuning_read: reads a tuning from a file or from memory (YAML).  The file is
 * not trusted: everything in it is checked.  Called by runtime/, tune/ and
 * command/.
 */
#include "record/tuning.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "device/device.h"
#include "record/tuning_order.h"
#include "yaml/yaml.h"

enum {
    TEXT = 128,
    CREATED = 20,
    GROWTH = 4,             /* bytes of entries for each of the file, */
    SLACK = 256 << 10       /* and more for small files */
};

/* An upper bound for times: a thousand years in microseconds. */
static const double most_real = 3.2e16;

enum {
    SIZE, CONFIGURATION, RESULT, SPREAD, DEFAULT_US, FLOOR_US, STRATEGY,
    SEED, DATA_SEED, DATA_DIGEST, SPACE_COUNT, TRIED, VERDICTS, ELAPSED_S,
    TIES, PARETO, TUNED_KEYS
};

static const char *const tuned_keys[TUNED_KEYS + 1] = {
    "size", "configuration", "result", "spread", "default_us", "floor_us",
    "strategy", "seed", "data_seed", "data_digest", "space_count", "tried",
    "verdicts", "elapsed_s", "ties", "pareto", NULL
};

static const struct {
    int key;
    size_t offset;
} reals[] = {
    {SPREAD, offsetof(struct shmt_tuned, spread)},
    {DEFAULT_US, offsetof(struct shmt_tuned, default_us)},
    {FLOOR_US, offsetof(struct shmt_tuned, floor_us)},
    {ELAPSED_S, offsetof(struct shmt_tuned, elapsed_s)},
}, counts[] = {
    {SEED, offsetof(struct shmt_tuned, seed)},
    {DATA_SEED, offsetof(struct shmt_tuned, data_seed)},
    {SPACE_COUNT, offsetof(struct shmt_tuned, space_count)},
    {TRIED, offsetof(struct shmt_tuned, tried)},
};

enum {
    REALS = sizeof reals / sizeof reals[0],
    COUNTS = sizeof counts / sizeof counts[0]
};

static const char *const keys[] = {
    "format", "kernel", "digest", "created", "nvrtc_version", "protocol",
    "device", "tuned", "dispatch", NULL
};

static enum shmtune_status read_value(const struct shmt_yaml *node,
                                      struct shmt_value *out,
                                      struct shmt_error *err)
{
    const enum shmtune_status status = shmt_yaml_value(node, out, err);

    /* Not any text: what a macro can be made of. */
    return status == SHMTUNE_OK && out->type == SHMT_VALUE_WORD && node->quoted
               ? shmt_yaml_word(node, &out->w, err)
               : status;
}

static enum shmtune_status check_settings(const struct shmt_yaml *mapping,
                                          size_t most, struct shmt_error *err)
{
    const enum shmtune_status status = shmt_yaml_expect(
        mapping, SHMT_YAML_MAPPING, "names and values", err);

    if (status == SHMTUNE_OK && mapping->count > most)
        return shmt_yaml_refuse(mapping, err, "found %zu names, expected at "
                                "most %zu", mapping->count, most);
    return status;
}

/* Copies a text that is forgotten with its entry; `like`, where it is the same
 * text, serves as it is. */
static bool keep_text(struct shmt_arena *arena, const char *like,
                      const char **text)
{
    *text = like != NULL && shmt_text_equal(like, *text)
                ? like : shmt_arena_copy(arena, *text, strlen(*text));
    return *text != NULL;
}

/* The same for the text of a value, if it is one. */
static bool keep_word(struct shmt_arena *arena,
                      const struct shmt_setting *like,
                      struct shmt_value *value)
{
    return value->type != SHMT_VALUE_WORD ||
           keep_text(arena, like != NULL && like->value.type == SHMT_VALUE_WORD
                                ? like->value.w : NULL, &value->w);
}

/* Names and values in the order of the file.  `like`, settings of the same
 * count or NULL, has texts that serve here too. */
static enum shmtune_status read_settings(struct shmt_arena *arena,
                                         const struct shmt_yaml *mapping,
                                         const struct shmt_setting *like,
                                         const struct shmt_setting **out,
                                         struct shmt_error *err)
{
    struct shmt_setting *settings;
    enum shmtune_status status = SHMTUNE_OK;

    settings = shmt_arena_alloc_raw(arena, mapping->count * sizeof *settings);
    if (settings == NULL)
        return shmt_error_memory(err);
    for (size_t k = 0; k < mapping->count; k++) {
        const struct shmt_setting *same = like == NULL ? NULL : &like[k];

        status = shmt_yaml_word(mapping->keys[k], &settings[k].name, err);
        if (status == SHMTUNE_OK)
            status = read_value(mapping->items[k], &settings[k].value, err);
        if (status != SHMTUNE_OK)
            return status;
        if (!keep_text(arena, same == NULL ? NULL : same->name,
                       &settings[k].name) ||
            !keep_word(arena, same, &settings[k].value))
            return shmt_error_memory(err);
    }
    *out = settings;
    return SHMTUNE_OK;
}

static enum shmtune_status read_size(struct shmt_arena *arena,
                                     const struct shmt_yaml *entry,
                                     const struct shmt_tuned *last,
                                     struct shmt_tuned *tuned,
                                     struct shmt_error *err)
{
    const struct shmt_yaml *node = NULL;
    enum shmtune_status status = shmt_yaml_need(entry, "size", &node, err);
    int64_t unused;

    if (status == SHMTUNE_OK)
        status = check_settings(node, SHMT_KERNEL_DIMENSIONS, err);
    if (status == SHMTUNE_OK)
        status = read_settings(
            arena, node,
            last != NULL && last->size_count == node->count ? last->size
                                                            : NULL,
            &tuned->size, err);
    if (status != SHMTUNE_OK)
        return status;
    tuned->size_count = node->count;
    for (size_t k = 0; k < node->count && status == SHMTUNE_OK; k++)
        status = shmt_yaml_int(node->items[k], 0, INT64_MAX, &unused, err);
    return status;
}

static bool same_settings(const struct shmt_setting *a,
                          const struct shmt_setting *b, size_t count)
{
    for (size_t k = 0; k < count; k++)
        if (!shmt_value_equal(a[k].value, b[k].value))
            return false;
    return true;
}

static enum shmtune_status refuse_tie(const struct shmt_yaml *key,
                                      struct shmt_error *err)
{
    const char *name;
    const enum shmtune_status status = shmt_yaml_word(key, &name, err);

    return status != SHMTUNE_OK
               ? status
               : shmt_yaml_refuse(key, err, "found the name %.64s, expected "
                                  "one of the configuration's", name);
}

enum shmtune_status shmt_tuning_read_like(struct shmt_arena *arena,
                                          const struct shmt_yaml *mapping,
                                          const struct shmt_setting *like,
                                          size_t count,
                                          const struct shmt_setting **out,
                                          struct shmt_error *err)
{
    struct shmt_setting *all;
    enum shmtune_status status =
        check_settings(mapping, SHMT_SPACE_PARAMETERS, err);

    if (status != SHMTUNE_OK)
        return status;
    *out = like;
    if (mapping->count == 0)
        return SHMTUNE_OK;
    all = shmt_arena_alloc_raw(arena, count * sizeof *all);
    if (all == NULL)
        return shmt_error_memory(err);
    memcpy(all, like, count * sizeof *all);
    for (size_t k = 0, at = 0; k < mapping->count; k++) {
        const char *name = mapping->keys[k]->text;
        size_t looked = 0;    /* the search starts behind the last match,
                                 because the names are mostly in order */

        while (looked < count && !shmt_text_equal(all[at].name, name)) {
            at = at + 1 < count ? at + 1 : 0;
            looked++;
        }
        if (looked == count)
            return refuse_tie(mapping->keys[k], err);
        status = read_value(mapping->items[k], &all[at].value, err);
        if (status != SHMTUNE_OK)
            return status;
        if (!keep_word(arena, &like[at], &all[at].value))
            return shmt_error_memory(err);
    }
    *out = all;
    return SHMTUNE_OK;
}

static enum shmtune_status read_ties(struct shmt_arena *arena,
                                     const struct shmt_yaml *node,
                                     struct shmt_tuned *tuned,
                                     struct shmt_error *err)
{
    const struct shmt_setting **ties;
    struct shmt_place *places;
    enum shmtune_status status =
        shmt_yaml_expect(node, SHMT_YAML_SEQUENCE, "ties", err);

    if (status != SHMTUNE_OK)
        return status;
    if (node->count > SHMT_TUNING_TIES)
        return shmt_yaml_refuse(node, err, "found %zu ties, expected at most "
                                "%d", node->count, SHMT_TUNING_TIES);
    ties = shmt_arena_alloc(arena, node->count, sizeof *ties);
    places = shmt_arena_alloc(arena, node->count, sizeof *places);
    if (ties == NULL || places == NULL)
        return shmt_error_memory(err);
    for (size_t k = 0; k < node->count; k++) {
        places[k] = node->items[k]->place;
        status = shmt_tuning_read_like(arena, node->items[k], tuned->settings,
                                       tuned->setting_count, &ties[k], err);
        if (status != SHMTUNE_OK)
            return status;
    }
    if (node->count > 0
        && !same_settings(tuned->settings, ties[0], tuned->setting_count))
        return shmt_yaml_refuse(node->items[0], err, "found another "
                                "configuration, expected the winner as the "
                                "first tie");
    tuned->ties = ties;
    tuned->tie_places = places;
    tuned->tie_count = node->count;
    return SHMTUNE_OK;
}

static enum shmtune_status read_verdicts(const struct shmt_yaml *node,
                                         struct shmt_tuned *tuned,
                                         struct shmt_error *err)
{
    char found[SHMT_YAML_QUOTED];
    enum shmt_verdict verdict;
    enum shmtune_status status =
        shmt_yaml_expect(node, SHMT_YAML_MAPPING, "verdicts", err);

    for (size_t k = 0; status == SHMTUNE_OK && k < node->count; k++) {
        if (!shmt_verdict_find(node->keys[k]->text, &verdict)) {
            shmt_yaml_quote(node->keys[k]->text, found);
            return shmt_yaml_refuse(node->keys[k], err, "found %s, expected "
                                    "a verdict like \"ok\"", found);
        }
        status = shmt_yaml_count(node->items[k], &tuned->verdicts[verdict],
                                 err);
    }
    return status;
}

static enum shmtune_status read_numbers(const struct shmt_yaml *const *values,
                                        struct shmt_tuned *tuned,
                                        struct shmt_error *err)
{
    const struct shmt_yaml *node;
    enum shmtune_status status = SHMTUNE_OK;

    for (size_t k = 0; k < REALS && status == SHMTUNE_OK; k++) {
        double value = -1;

        node = values[reals[k].key];
        if (node != NULL) {
            status = shmt_yaml_real(node, &value, err);
            if (status == SHMTUNE_OK && (value < 0 || value > most_real))
                status = shmt_yaml_refuse(node, err, "%s: found %g, expected "
                                          "0 to %g",
                                          tuned_keys[reals[k].key], value,
                                          most_real);
        }
        memcpy((char *)tuned + reals[k].offset, &value, sizeof value);
    }
    for (size_t k = 0; k < COUNTS && status == SHMTUNE_OK; k++) {
        uint64_t value = 0;

        node = values[counts[k].key];
        if (node != NULL)
            status = shmt_yaml_count(node, &value, err);
        memcpy((char *)tuned + counts[k].offset, &value, sizeof value);
    }
    if (values[DATA_SEED] == NULL)
        tuned->data_seed = tuned->seed;
    return status;
}

static enum shmtune_status read_data_digest(struct shmt_arena *arena,
                                            const struct shmt_yaml *node,
                                            const struct shmt_tuned *last,
                                            struct shmt_tuned *tuned,
                                            struct shmt_error *err)
{
    if (node->kind != SHMT_YAML_SCALAR || !shmt_digest_valid(node->text))
        return shmt_yaml_expected(node, err, "64 hexadecimal digits");
    tuned->data_digest = node->text;
    return keep_text(arena, last == NULL ? NULL : last->data_digest,
                     &tuned->data_digest)
               ? SHMTUNE_OK : shmt_error_memory(err);
}

static enum shmtune_status read_result(const struct shmt_yaml *node,
                                       struct shmt_result *result,
                                       struct shmt_error *err)
{
    enum shmtune_status status =
        shmt_yaml_expect(node, SHMT_YAML_MAPPING, "result", err);

    if (status == SHMTUNE_OK)
        status = shmt_result_read_strict(node, result, err);
    if (status == SHMTUNE_OK && result->verdict != SHMT_VERDICT_OK)
        status = shmt_yaml_refuse(node, err, "found the verdict \"%s\", "
                                  "expected a winner that is ok",
                                  shmt_verdict_word(result->verdict));
    return status;
}

static enum shmtune_status read_optional(struct shmt_arena *arena,
                                         const struct shmt_yaml *const *values,
                                         const struct shmt_tuned *last,
                                         struct shmt_tuned *tuned,
                                         struct shmt_error *err)
{
    enum shmtune_status status = read_numbers(values, tuned, err);

    shmt_result_clear(&tuned->result);
    tuned->strategy = "";
    tuned->data_digest = NULL;
    if (status == SHMTUNE_OK && values[RESULT] != NULL)
        status = read_result(values[RESULT], &tuned->result, err);
    if (status == SHMTUNE_OK && values[STRATEGY] != NULL)
        status = shmt_yaml_text(values[STRATEGY], TEXT, &tuned->strategy,
                                err);
    if (status == SHMTUNE_OK && values[STRATEGY] != NULL &&
        !keep_text(arena, last == NULL ? NULL : last->strategy,
                   &tuned->strategy))
        status = shmt_error_memory(err);
    if (status == SHMTUNE_OK && values[DATA_DIGEST] != NULL)
        status = read_data_digest(arena, values[DATA_DIGEST], last, tuned,
                                  err);
    if (status == SHMTUNE_OK && values[VERDICTS] != NULL)
        status = read_verdicts(values[VERDICTS], tuned, err);
    if (status == SHMTUNE_OK && values[TIES] != NULL)
        status = read_ties(arena, values[TIES], tuned, err);
    return status;
}

/* Texts of `last`, the entry before or NULL, serve where they are the same. */
static enum shmtune_status read_tuned(struct shmt_arena *arena,
                                      const struct shmt_yaml *entry,
                                      const struct shmt_tuned *last,
                                      struct shmt_tuned *tuned,
                                      struct shmt_error *err)
{
    const struct shmt_yaml *node = NULL, *values[TUNED_KEYS];
    enum shmtune_status status =
        shmt_yaml_expect(entry, SHMT_YAML_MAPPING, "a tuned problem", err);

    if (status == SHMTUNE_OK)
        status = shmt_yaml_get_keys(entry, tuned_keys, values, err);
    if (status == SHMTUNE_OK)
        status = read_size(arena, entry, last, tuned, err);
    if (status == SHMTUNE_OK)
        status = shmt_yaml_need(entry, "configuration", &node, err);
    if (status == SHMTUNE_OK)
        status = check_settings(node, SHMT_SPACE_PARAMETERS, err);
    if (status == SHMTUNE_OK)
        status = read_settings(
            arena, node,
            last != NULL && last->setting_count == node->count
                ? last->settings : NULL, &tuned->settings, err);
    if (status != SHMTUNE_OK)
        return status;
    tuned->setting_count = node->count;
    tuned->place = entry->place;
    tuned->settings_place = node->place;
    return read_optional(arena, values, last, tuned, err);
}

/* The key `pareto`, where `before`, the keys of the file so far, begin with a
 * version that has it.  A library needs none of it (`leave`): it is checked,
 * and forgotten. */
static enum shmtune_status read_front(const struct shmt_yaml *before,
                                      const struct shmt_yaml *entry,
                                      bool leave,
                                      struct shmt_arena *arena,
                                      struct shmt_tuned *tuned,
                                      struct shmt_error *err)
{
    const struct shmt_yaml *const node = shmt_yaml_get(entry, "pareto");
    const char *const format = before->items[0]->text;
    struct shmt_arena *scratch;
    enum shmtune_status status;

    if (node == NULL)
        return SHMTUNE_OK;
    if (strcmp(format, "tuning/1") == 0 || strcmp(format, "tuning/2") == 0)
        return shmt_yaml_refuse(node, err, "found a Pareto set in a %s, "
                                "expected one in a tuning/3", format);
    if (!leave)
        return shmt_tuning_read_front(arena, node, tuned, err);
    scratch = shmt_arena_new();
    if (scratch == NULL)
        return shmt_error_memory(err);
    status = shmt_tuning_read_front(scratch, node, tuned, err);
    memset(&tuned->pareto, 0, sizeof tuned->pareto);
    shmt_arena_free(scratch);
    return status;
}

static int compare_tuned(const void *left, const void *right)
{
    return shmt_tuning_compare(*(const struct shmt_tuned *const *)left,
                               *(const struct shmt_tuned *const *)right);
}

/* Reads the entries one at a time. */
struct reading {
    struct shmt_tuning *tuning;
    struct shmt_tuned **tuned;
    size_t count, room;
    size_t bytes, most;     /* taken by entries, and allowed */
};

/* What an entry takes, in about. */
static size_t bytes_of(const struct shmt_tuned *tuned)
{
    size_t settings = tuned->size_count + tuned->setting_count;

    for (size_t k = 0; k < tuned->tie_count; k++)
        settings += tuned->ties[k] != tuned->settings ? tuned->setting_count
                                                      : 0;
    return sizeof *tuned + settings * sizeof *tuned->settings +
           tuned->tie_count * (sizeof *tuned->ties +
                               sizeof *tuned->tie_places);
}

/* Takes the next entry.  The format is asked for before the first, because
 * its version says what may be in them.  More entries than there may be are
 * counted alone, and refused then. */
static enum shmtune_status take_tuned(void *context,
                                      const struct shmt_yaml *before,
                                      const struct shmt_yaml *entry,
                                      struct shmt_error *err)
{
    struct reading *reading = context;
    struct shmt_arena *arena = reading->tuning->arena;
    const struct shmt_tuned *last =
        reading->count == 0 ? NULL : reading->tuned[reading->count - 1];
    struct shmt_tuned *tuned;
    enum shmtune_status status = SHMTUNE_OK;

    if (reading->count == SHMT_TUNING_SIZES)
        return SHMTUNE_OK;
    if (reading->bytes > reading->most) {
        reading->tuning->left_out++;
        return SHMTUNE_OK;
    }
    if (last == NULL)
        status = shmt_yaml_format(before, SHMT_YAML_TUNING, err);
    if (status != SHMTUNE_OK)
        return status;
    tuned = shmt_arena_alloc(arena, 1, sizeof *tuned);
    if (tuned == NULL ||
        !shmt_array_reserve(&reading->tuned, &reading->room,
                            reading->count + 1, sizeof *reading->tuned))
        return shmt_error_memory(err);
    status = read_tuned(arena, entry, last, tuned, err);
    if (status == SHMTUNE_OK)
        status = read_front(before, entry, reading->most != SIZE_MAX, arena,
                            tuned, err);
    if (status != SHMTUNE_OK)
        return status;
    if (last != NULL && !shmt_tuning_same_names(last->size, last->size_count,
                                                tuned->size,
                                                tuned->size_count))
        return shmt_yaml_refuse(entry, err, "found a size of other "
                                "dimensions, expected those of the first in "
                                "their order");
    reading->tuned[reading->count++] = tuned;
    reading->bytes += bytes_of(tuned);
    return SHMTUNE_OK;
}

/* The place of the later one in the file. */
static struct shmt_place later(const struct shmt_tuned *a,
                               const struct shmt_tuned *b)
{
    return a->place.line != b->place.line
               ? a->place.line > b->place.line ? a->place : b->place
               : a->place.column > b->place.column ? a->place : b->place;
}

/* Sorts what was read. */
static enum shmtune_status finish(struct reading *reading,
                                  const struct shmt_yaml *list,
                                  struct shmt_error *err)
{
    struct shmt_tuning *tuning = reading->tuning;
    struct shmt_tuned **tuned;
    enum shmtune_status status =
        shmt_yaml_expect(list, SHMT_YAML_SEQUENCE, "tuned", err);

    if (status != SHMTUNE_OK)
        return status;
    if (list->count > SHMT_TUNING_SIZES)
        return shmt_yaml_refuse(list, err, "found %zu sizes, expected at "
                                "most %d", list->count, SHMT_TUNING_SIZES);
    tuned = shmt_arena_copy(tuning->arena, reading->tuned,
                            reading->count * sizeof *tuned);
    if (tuned == NULL)
        return shmt_error_memory(err);
    qsort(tuned, reading->count, sizeof *tuned, compare_tuned);
    for (size_t k = 1; k < reading->count; k++)
        if (shmt_tuning_compare(tuned[k - 1], tuned[k]) == 0)
            return shmt_yaml_refuse_at(later(tuned[k - 1], tuned[k]), err,
                                       "found the same size again, expected "
                                       "it once");
    tuning->tuned = tuned;
    tuning->tuned_count = reading->count;
    return SHMTUNE_OK;
}

/* "2026-11-21T10:00:00Z" */
static bool is_time(const char *text)
{
    static const char form[] = "0000-00-00T00:00:00Z";

    if (strlen(text) != CREATED)
        return false;
    for (size_t k = 0; k < CREATED; k++)
        if (form[k] == '0' ? text[k] < '0' || text[k] > '9'
                           : text[k] != form[k])
            return false;
    return true;
}

static enum shmtune_status read_header(const struct shmt_yaml *root,
                                       struct shmt_tuning *tuning,
                                       struct shmt_error *err)
{
    const struct shmt_yaml *node = shmt_yaml_get(root, "created");
    enum shmtune_status status = SHMTUNE_OK;
    int64_t version = 0;

    if (node != NULL) {
        if (node->kind != SHMT_YAML_SCALAR || !is_time(node->text))
            return shmt_yaml_expected(node, err,
                                      "a time like \"2026-11-21T10:00:00Z\"");
        tuning->created = node->text;
    }
    node = shmt_yaml_get(root, "nvrtc_version");
    if (node != NULL)
        status = shmt_yaml_int(node, 1, INT32_MAX, &version, err);
    tuning->nvrtc_version = (int)version;
    node = shmt_yaml_get(root, "protocol");
    if (status == SHMTUNE_OK && node != NULL)
        status = shmt_yaml_word(node, &tuning->protocol, err);
    if (status == SHMTUNE_OK)
        status = shmt_yaml_need(root, "kernel", &node, err);
    if (status == SHMTUNE_OK)
        status = shmt_yaml_word(node, &tuning->kernel, err);
    if (status == SHMTUNE_OK)
        status = shmt_yaml_need(root, "digest", &node, err);
    if (status != SHMTUNE_OK)
        return status;
    if (node->kind != SHMT_YAML_SCALAR || !shmt_digest_valid(node->text))
        return shmt_yaml_expected(node, err, "64 hexadecimal digits");
    memcpy(tuning->digest, node->text, SHMT_DIGEST_TEXT);
    return SHMTUNE_OK;
}

static enum shmtune_status read_dispatch(struct shmt_tuning *tuning,
                                         const struct shmt_yaml *root,
                                         struct shmt_error *err)
{
    const struct shmt_yaml *const node = shmt_yaml_get(root, "dispatch");

    if (node == NULL)
        return SHMTUNE_OK;
    if (strcmp(root->items[0]->text, "tuning/1") == 0)
        return shmt_yaml_refuse(node, err, "found a dispatch in a tuning/1, "
                                "expected one in a tuning/2");
    if (strcmp(root->items[0]->text, "tuning/2") == 0 &&
        shmt_yaml_get(node, "estimates") != NULL)
        return shmt_yaml_refuse(shmt_yaml_get(node, "estimates"), err,
                                "found estimates in a tuning/2, expected "
                                "them in a tuning/3");
    return shmt_dispatch_read(tuning, node, &tuning->dispatch, err);
}

/* What stands beside the entries lives in the tuning's arena, and the tuning
 * points into it. */
static enum shmtune_status read_tree(struct reading *reading,
                                     const struct shmt_yaml *root,
                                     struct shmt_error *err)
{
    struct shmt_tuning *tuning = reading->tuning;
    const struct shmt_yaml *node = NULL;
    enum shmtune_status status =
        shmt_yaml_format(root, SHMT_YAML_TUNING, err);

    if (status == SHMTUNE_OK)
        status = shmt_yaml_check_keys(root, keys, err);
    if (status == SHMTUNE_OK)
        status = read_header(root, tuning, err);
    if (status == SHMTUNE_OK)
        status = shmt_yaml_need(root, "device", &node, err);
    if (status == SHMTUNE_OK)
        status = shmt_device_read(node, &tuning->device, err);
    if (status == SHMTUNE_OK)
        status = shmt_yaml_need(root, "tuned", &node, err);
    if (status == SHMTUNE_OK)
        status = finish(reading, node, err);
    if (status == SHMTUNE_OK)
        status = read_dispatch(tuning, root, err);
    return status;
}

/* Everything goes into `arena`; entries take not much more than `most` bytes
 * of it. */
static enum shmtune_status parse(struct shmt_arena *arena, size_t most,
                                 struct shmt_yaml_source source,
                                 struct shmt_tuning **out,
                                 struct shmt_error *err)
{
    const char *const file = source.origin.file;
    struct shmt_tuning *tuning = shmt_tuning_new_in(arena);
    struct reading reading = {.tuning = tuning, .most = most};
    const struct shmt_yaml *root = NULL;
    enum shmtune_status status = SHMTUNE_OK;

    source.ends = true;
    source.stream = "tuned";
    source.take = take_tuned;
    source.context = &reading;
    source.origin.file = shmt_arena_copy(arena, file, strlen(file));
    if (tuning == NULL || source.origin.file == NULL)
        status = shmt_error_memory(err);
    else if (source.size > SHMT_TUNING_BYTES)
        status = shmt_yaml_refuse_at(source.origin, err, "found %zu bytes, "
                                     "expected at most %d", source.size,
                                     SHMT_TUNING_BYTES);
    if (status == SHMTUNE_OK)
        status = shmt_yaml_parse_from(arena, &source, &root, err);
    if (status == SHMTUNE_OK)
        status = read_tree(&reading, root, err);
    free(reading.tuned);
    if (status != SHMTUNE_OK)
        return status;
    tuning->bytes = source.size;
    *out = tuning;
    return SHMTUNE_OK;
}

enum shmtune_status shmt_tuning_parse(const char *name, const char *data,
                                      size_t size, struct shmt_tuning **out,
                                      struct shmt_error *err)
{
    const struct shmt_yaml_source source = {.origin = {name, 1, 1, 0},
                                            .data = data, .size = size};
    struct shmt_arena *arena = shmt_arena_new();
    enum shmtune_status status =
        arena == NULL ? shmt_error_memory(err)
                      : parse(arena, SIZE_MAX, source, out, err);

    if (status != SHMTUNE_OK)
        shmt_arena_free(arena);
    return status;
}

/* Nothing is left out where `growth` is 0. */
static enum shmtune_status read_file(struct shmt_arena *arena,
                                     const char *path, size_t growth,
                                     struct shmt_tuning **out,
                                     struct shmt_error *err)
{
    struct shmt_yaml_source source = {.origin = {path, 1, 1, 0}};
    enum shmtune_status status =
        shmt_path_read(arena, path, SHMT_TUNING_BYTES, &source.data,
                       &source.size, err);

    return status == SHMTUNE_OK
               ? parse(arena, growth == 0 ? SIZE_MAX
                                          : growth * source.size + SLACK,
                       source, out, err)
               : status;
}

enum shmtune_status shmt_tuning_read_into(struct shmt_arena *arena,
                                          const char *path,
                                          struct shmt_tuning **out,
                                          struct shmt_error *err)
{
    return read_file(arena, path, GROWTH, out, err);
}

enum shmtune_status shmt_tuning_read(const char *path,
                                     struct shmt_tuning **out,
                                     struct shmt_error *err)
{
    struct shmt_arena *arena = shmt_arena_new();
    enum shmtune_status status =
        arena == NULL ? shmt_error_memory(err)
                      : read_file(arena, path, 0, out, err);

    if (status != SHMTUNE_OK)
        shmt_arena_free(arena);
    return status;
}
