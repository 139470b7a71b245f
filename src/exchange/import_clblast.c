/* SPDX-License-Identifier: MIT */
/*
 * import_clblast: what CLBlast's tuners write as JSON, and CLTune did: one
 * entry for each configuration that ran and was right, with its milliseconds
 * and parameters.  Those that failed are not there.
 */
#include "exchange/import_json.h"

static enum shmtune_status read_entry(const struct shmt_import_place *place,
                                      const struct shmt_import_node *json,
                                      struct shmt_import_entry *entry)
{
    const struct shmt_import_place below =
        shmt_import_member(place, "parameters");
    const struct shmt_import_place at = shmt_import_member(place, "time");
    const struct shmt_import_node *object, *time;
    enum shmtune_status status;

    if (!shmt_import_is(json, SHMT_IMPORT_OBJECT))
        return shmt_import_refuse(place, "expected an object");
    status = shmt_import_need(place, json, "parameters", SHMT_IMPORT_OBJECT,
                              &object);
    if (status == SHMTUNE_OK)
        status = shmt_import_first_entry(
            &below, object, shmt_import_word(shmt_import_get(json, "kernel")));
    if (status == SHMTUNE_OK)
        status = shmt_import_configuration(&below, object, false);
    if (status != SHMTUNE_OK)
        return status;
    time = shmt_import_get(json, "time");
    if (time == NULL)
        return shmt_import_refuse(place, "\"time\" is missing");
    shmt_result_clear(&entry->result);
    entry->result.compile_ms = 0;
    entry->result.measure_ms = shmt_import_number(time);
    entry->result.time_us = entry->result.measure_ms * 1000.0;
    return entry->result.time_us > 0
               ? SHMTUNE_OK
               : shmt_import_refuse(&at, "found %.*s, expected milliseconds "
                                         "above 0",
                                    (int)(time->to - time->from), time->from);
}

enum shmtune_status shmt_import_clblast(const struct shmt_import_place *place,
                                        const struct shmt_import_node *json)
{
    static const char *const names[] = {"clblast_device_name", "device"};
    struct shmt_import *const import = place->import;
    const char *device = NULL;
    enum shmtune_status status = shmt_import_name_of_file(place);

    import->kind = SHMT_IMPORT_CLBLAST;
    for (size_t k = 0; k < 2 && (device == NULL || device[0] == '\0'); k++)
        device = shmt_import_word(shmt_import_get(json, names[k]));
    if (status == SHMTUNE_OK && device != NULL)
        status = shmt_import_copy(place, device, &import->device);
    return status == SHMTUNE_OK
               ? shmt_import_results(place, json, "results", read_entry)
               : status;
}
