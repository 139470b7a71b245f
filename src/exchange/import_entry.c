/* SPDX-License-Identifier: MIT */
/*
 * import_entry: the results of a run, one after the other: its configuration,
 * its samples, and what an export of ours says in our own words.  A result is
 * kept as the line of the journal that it will be.  Called by the importers of
 * runs.
 */
#include <math.h>
#include <string.h>

#include "exchange/import_json.h"
#include "yaml/yaml.h"

static uint64_t hash_of(struct shmt_value value)
{
    if (value.type == SHMT_VALUE_WORD)
        return shmt_map_hash_bytes(value.w, strlen(value.w));
    return shmt_map_hash(value.type, (uint64_t)value.i);
}

/* Where the value stands among the distinct ones. */
static enum shmtune_status intern(const struct shmt_import_place *place,
                                  struct shmt_value value, uint32_t *out)
{
    struct shmt_import *const import = place->import;
    const uint64_t hash = hash_of(value);
    enum shmtune_status status = SHMTUNE_OK;

    for (size_t probe = 0;
         (*out = shmt_map_next(&import->distinct_map, hash, &probe)) !=
             SHMT_MAP_NONE;)
        if (import->distinct[*out].type == value.type &&
            shmt_value_equal(import->distinct[*out], value))
            return SHMTUNE_OK;
    if (value.type == SHMT_VALUE_WORD)
        status = shmt_import_copy(place, value.w, &value.w);
    *out = (uint32_t)import->distinct_count;
    if (status == SHMTUNE_OK &&
        (!shmt_array_reserve(&import->distinct, &import->distinct_room,
                             import->distinct_count + 1,
                             sizeof *import->distinct) ||
         !shmt_map_add(&import->distinct_map, hash, *out)))
        status = shmt_error_memory(place->err);
    if (status == SHMTUNE_OK)
        import->distinct[import->distinct_count++] = value;
    return status;
}

enum shmtune_status
shmt_import_configuration(const struct shmt_import_place *place,
                          const struct shmt_import_node *object, bool others)
{
    struct shmt_import *const import = place->import;
    uint32_t *values;
    struct shmt_value value;
    enum shmtune_status status = SHMTUNE_OK;

    if (!shmt_array_reserve(&import->values, &import->value_room,
                            (import->entry_count + 1) *
                                import->parameter_count,
                            sizeof *import->values))
        return shmt_error_memory(place->err);
    values = import->values + import->entry_count * import->parameter_count;
    for (size_t p = 0; p < import->parameter_count; p++) {
        const char *const name = import->parameters[p].name;
        const struct shmt_import_node *const json =
            shmt_import_get(object, name);
        const struct shmt_import_place below =
            shmt_import_member(place, name);

        if (json == NULL)
            return shmt_import_refuse(place, "the parameter %s is missing",
                                      name);
        status = shmt_import_value(&below, json, &value);
        if (status == SHMTUNE_OK)
            status = intern(&below, value, &values[p]);
        if (status != SHMTUNE_OK)
            return status;
    }
    if (!others && object->count != import->parameter_count)
        return shmt_import_refuse(place, "%zu names, expected the %zu "
                                         "parameters of the first entry",
                                  object->count, import->parameter_count);
    return SHMTUNE_OK;
}

/* The most of them, and of the text of the journal, which readers limit. */
enum { ENTRIES = 4000000 };
static const size_t results_limit = (size_t)384 << 20;

static enum shmtune_status
refuse_too_many(const struct shmt_import_place *place)
{
    const struct shmt_import *const import = place->import;

    if (import->entry_count == ENTRIES)
        return shmt_import_refuse(place, "more than %d results, the most that "
                                         "one recording holds; split the file "
                                         "and import the parts by --name",
                                  ENTRIES);
    if (import->results.length > results_limit)
        return shmt_import_refuse(place, "the %zu results so far are %zu MiB "
                                         "of a recording, at most %zu MiB are "
                                         "possible; split the file and import "
                                         "the parts by --name",
                                  import->entry_count,
                                  import->results.length >> 20,
                                  results_limit >> 20);
    return SHMTUNE_OK;
}

/* A result of another tuner follows the one before it. */
static void set_time(struct shmt_import *import,
                     struct shmt_import_entry *entry)
{
    if (entry->own)
        return;
    import->clock_s +=
        (fmax(entry->result.compile_ms, 0.0) + entry->result.measure_ms) /
        1000.0;
    entry->at_s = import->clock_s;
}

/* The result is kept as its line of the journal will be, which takes a fraction
 * of the memory. */
static enum shmtune_status add_entry(const struct shmt_import_place *place,
                                     struct shmt_import_entry *entry)
{
    struct shmt_import *const import = place->import;
    const struct shmt_journal_record record = {
        .kind = SHMT_JOURNAL_RESULT, .at_s = entry->at_s,
        .result = &entry->result, .origin = entry->origin};

    shmt_journal_rest_write(&record, &import->results);
    if (import->results.failed)
        return shmt_error_memory(place->err);
    /* Ends the line, so that it can be added as a text. */
    shmt_text_add_bytes(&import->results, "", 1);
    import->entry_count++;
    return SHMTUNE_OK;
}

/* `place` is where the list is. */
enum shmtune_status shmt_import_entries(const struct shmt_import_place *place,
                                        const struct shmt_import_node *list,
                                        shmt_import_entry_reader *read)
{
    struct shmt_import *const import = place->import;
    struct shmt_import_entry entry;
    struct shmt_import_place at = {.import = import, .reader = place->reader,
                                   .err = place->err, .parent = place};
    enum shmtune_status status = SHMTUNE_OK;

    for (shmt_import_node_enter(place->reader, list); status == SHMTUNE_OK;) {
        const struct shmt_import_node *json;

        shmt_arena_clear(import->scratch);
        status = shmt_import_node_next(place->reader, import->scratch, &json);
        if (status != SHMTUNE_OK || json == NULL)
            break;
        at.key = json->key;
        at.item = import->entry_count;
        entry.own = false;
        entry.origin = NULL;
        status = refuse_too_many(&at);
        if (status == SHMTUNE_OK)
            status = read(&at, json, &entry);
        if (status == SHMTUNE_OK) {
            set_time(import, &entry);
            status = add_entry(&at, &entry);
        }
    }
    return status;
}

enum shmtune_status shmt_import_results(const struct shmt_import_place *place,
                                        const struct shmt_import_node *json,
                                        const char *key,
                                        shmt_import_entry_reader *read)
{
    const char *const drop[] = {key, NULL};
    const struct shmt_import_place below = shmt_import_member(place, key);
    const struct shmt_import_node *list;
    enum shmtune_status status =
        shmt_import_need(place, json, key, SHMT_IMPORT_ARRAY, &list);

    if (status == SHMTUNE_OK)
        status = shmt_import_entries(&below, list, read);
    if (status == SHMTUNE_OK)
        status = shmt_import_collect(&below);
    if (status == SHMTUNE_OK)
        status = shmt_import_rest(place, json, drop, NULL,
                                  &place->import->origin);
    return status;
}

enum shmtune_status shmt_import_samples(const struct shmt_import_place *place,
                                        const struct shmt_import_node *list,
                                        double ms, struct shmt_result *result)
{
    const struct shmt_import_node *sample = list->first;
    const size_t count = list->count;

    for (size_t k = 0; k < count; k++, sample = sample->next) {
        const struct shmt_import_place item = shmt_import_item(place, k);

        const double time = shmt_import_number(sample);

        if (!shmt_import_is_number(sample) || !(time >= 0.0) || time > 1e12)
            return shmt_import_refuse(&item, "expected a time, 0 or more");
        if (k < SHMT_RESULT_SAMPLES)
            result->samples_us[k] = (float)(time * ms * 1000.0);
    }
    result->sample_count =
        count < SHMT_RESULT_SAMPLES ? (int)count : SHMT_RESULT_SAMPLES;
    return SHMTUNE_OK;
}

/* {rows: 1024, cols: 1024} */
static enum shmtune_status read_size(const struct shmt_import_place *place,
                                     const struct shmt_yaml *size)
{
    struct shmt_import *const import = place->import;
    enum shmtune_status status =
        shmt_yaml_expect(size, SHMT_YAML_MAPPING, "size", place->err);

    if (status != SHMTUNE_OK)
        return status;
    if (size->count > SHMT_KERNEL_DIMENSIONS)
        return shmt_import_refuse(place, "size has %zu dimensions, at most "
                                         "%d are possible", size->count,
                                  SHMT_KERNEL_DIMENSIONS);
    for (size_t d = 0; d < size->count && status == SHMTUNE_OK; d++) {
        status = shmt_import_name(place, size->keys[d]->text,
                                  &import->dimension_names[d]);
        if (status == SHMTUNE_OK)
            status = shmt_yaml_int(size->items[d], 1, INT64_MAX,
                                   &import->dimensions[d], place->err);
    }
    import->dimension_count = size->count;
    return status;
}

enum shmtune_status
shmt_import_read_export_header(const struct shmt_import_place *place,
                               const char *text)
{
    struct shmt_arena *arena = shmt_arena_new();
    const char *const where = shmt_import_where(place);
    const struct shmt_yaml *node, *size, *kernel, *device;
    const char *word;
    enum shmtune_status status;

    if (arena == NULL || where == NULL) {
        shmt_arena_free(arena);
        return shmt_error_memory(place->err);
    }
    status = shmt_yaml_parse(arena, where, text, strlen(text), &node,
                             place->err);
    if (status == SHMTUNE_OK)
        status = shmt_yaml_need(node, "kernel", &kernel, place->err);
    if (status == SHMTUNE_OK)
        status = shmt_yaml_word(kernel, &word, place->err);
    if (status == SHMTUNE_OK)
        status = shmt_import_identifier(place, word, &place->import->name);
    if (status == SHMTUNE_OK)
        status = shmt_yaml_need(node, "size", &size, place->err);
    device = status == SHMTUNE_OK ? shmt_yaml_get(node, "device") : NULL;
    if (device != NULL)
        device = shmt_yaml_get(device, "name");
    if (device != NULL)
        status = shmt_yaml_text(device, 200, &word, place->err);
    if (device != NULL && status == SHMTUNE_OK)
        status = shmt_import_copy(place, word, &place->import->device);
    if (status == SHMTUNE_OK)
        status = read_size(place, size);
    if (status == SHMTUNE_OK)
        status = shmt_import_copy(place, text, &place->import->header);
    shmt_arena_free(arena);
    return status;
}

enum shmtune_status
shmt_import_read_export(const struct shmt_import_place *place,
                        const char *text,
                        struct shmt_import_entry *entry)
{
    struct shmt_arena *arena = shmt_arena_new();
    const char *const where = shmt_import_where(place);
    const struct shmt_yaml *node, *at;
    struct shmt_text flow = {0};
    enum shmtune_status status;

    if (arena == NULL || where == NULL) {
        shmt_arena_free(arena);
        return shmt_error_memory(place->err);
    }
    shmt_text_addf(&flow, "{%s}", text);
    status = shmt_yaml_parse(arena, where, shmt_text_string(&flow),
                             flow.length, &node, place->err);
    if (status == SHMTUNE_OK)
        status = shmt_yaml_need(node, "at", &at, place->err);
    if (status == SHMTUNE_OK)
        status = shmt_yaml_real(at, &entry->at_s, place->err);
    if (status == SHMTUNE_OK && entry->at_s < 0)
        status = shmt_import_refuse(place, "at is below 0");
    if (status == SHMTUNE_OK)
        status = shmt_result_read(node, &entry->result, place->err);
    entry->own = true;
    shmt_text_free(&flow);
    shmt_arena_free(arena);
    return status;
}
