/* SPDX-License-Identifier: MIT */
/*
 * show_tuning: a tuning as a table: what was won at each problem, with
 * what.
 */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>

#include "command/command.h"
#include "command/json.h"
#include "command/show.h"
#include "device/device.h"
#include "record/record.h"
#include "yaml/yaml.h"

static void add_settings(struct shmt_text *text,
                         const struct shmt_setting *settings, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        shmt_text_addf(text, "%s%s=", i == 0 ? "" : " ", settings[i].name);
        shmt_yaml_add_value(text, settings[i].value);
    }
}

static void add_time(struct shmt_command_table *table, double time_us)
{
    if (time_us < 0)
        shmt_command_add_cell(table, SHMT_PAINT_DIM, "-");
    else
        shmt_command_add_cell(table, SHMT_PAINT_NONE, "%.2f", time_us);
}

static double gain(const struct shmt_tuned *tuned)
{
    return tuned->default_us > 0 && tuned->result.time_us > 0
               ? tuned->default_us / tuned->result.time_us : -1;
}

static void add_gain(struct shmt_command_table *table,
                     const struct shmt_tuned *tuned, double most)
{
    struct shmt_text bar = {0};
    const double ratio = gain(tuned);

    if (ratio < 0) {
        shmt_command_add_cell(table, SHMT_PAINT_DIM, "-");
        shmt_command_add_cell(table, SHMT_PAINT_NONE, "%s", "");
        return;
    }
    shmt_command_add_bar(&bar, ratio / most, SHMT_SHOW_BAR);
    shmt_command_add_cell(table, ratio > 1 ? SHMT_PAINT_GOOD : SHMT_PAINT_NONE,
                          "%.2fx", ratio);
    shmt_command_add_cell(table, SHMT_PAINT_NONE, "%s", shmt_text_string(&bar));
    shmt_text_free(&bar);
}

static void add_row(struct shmt_command_table *table,
                    const struct shmt_tuned *tuned, double most)
{
    const struct shmt_result *result = &tuned->result;
    struct shmt_text size = {0};

    add_settings(&size, tuned->size, tuned->size_count);
    shmt_command_add_cell(table, SHMT_PAINT_NONE, "%s",
                          shmt_text_string(&size));
    add_time(table, result->time_us);
    add_time(table, tuned->default_us);
    add_gain(table, tuned, most);
    if (tuned->floor_us > 0 && result->time_us > 0)
        shmt_command_add_cell(table, SHMT_PAINT_NONE, "%.0f %%",
                              100 * tuned->floor_us / result->time_us);
    else
        shmt_command_add_cell(table, SHMT_PAINT_DIM, "-");
    shmt_show_number(table, result->resources.registers);
    shmt_show_number(table, result->resources.spill_store_bytes);
    shmt_show_number(table, result->resources.shared_static_bytes);
    shmt_show_number(table, result->shared_dynamic_bytes);
    shmt_show_number(table, result->occupancy_percent);
    shmt_show_number(table, (int64_t)tuned->tried);
    shmt_show_number(table, (int64_t)tuned->space_count);
    shmt_show_number(table, (int64_t)tuned->tie_count);
    shmt_text_free(&size);
}

static void add_heading(const struct shmt_tuning *tuning,
                        struct shmt_text *text)
{
    shmt_text_addf(text, "%s on ", tuning->kernel);
    shmt_show_device(&tuning->device, text);
    if (tuning->device.driver_version > 0)
        shmt_text_addf(text, ", driver for CUDA %d.%d",
                       tuning->device.driver_version / 1000,
                       tuning->device.driver_version % 1000 / 10);
    if (tuning->nvrtc_version > 0)
        shmt_text_addf(text, ", NVRTC %d.%d", tuning->nvrtc_version / 1000,
                       tuning->nvrtc_version % 1000 / 10);
    if (tuning->protocol != NULL)
        shmt_text_addf(text, ", %s", tuning->protocol);
    if (tuning->created != NULL)
        shmt_text_addf(text, ", %s", tuning->created);
    shmt_text_add(text, "\n\n");
}

static void add_tables(const struct shmt_tuning *tuning, bool colour,
                       struct shmt_text *text)
{
    static const struct shmt_command_column columns[] = {
        {"problem", false}, {"us", true}, {"default", true}, {"gain", true},
        {"", false}, {"of floor", true}, {"regs", true}, {"spill", true},
        {"static", true}, {"dynamic", true}, {"occ %", true},
        {"tried", true}, {"of", true}, {"ties", true}
    };
    static const struct shmt_command_column winners[] = {
        {"problem", false}, {"configuration", false}
    };
    struct shmt_command_table times = {.columns = columns,
                                       .column_count = 14};
    struct shmt_command_table configurations = {.columns = winners,
                                                .column_count = 2};
    double most = 1;

    for (size_t i = 0; i < tuning->tuned_count; i++)
        most = gain(tuning->tuned[i]) > most ? gain(tuning->tuned[i]) : most;
    for (size_t i = 0; i < tuning->tuned_count; i++) {
        const struct shmt_tuned *tuned = tuning->tuned[i];
        struct shmt_text size = {0}, settings = {0};

        add_row(&times, tuned, most);
        add_settings(&size, tuned->size, tuned->size_count);
        add_settings(&settings, tuned->settings, tuned->setting_count);
        shmt_command_add_cell(&configurations, SHMT_PAINT_NONE, "%s",
                              shmt_text_string(&size));
        shmt_command_add_cell(&configurations, SHMT_PAINT_NONE, "%s",
                              shmt_text_string(&settings));
        shmt_text_free(&size);
        shmt_text_free(&settings);
    }
    shmt_command_table_add(&times, colour, text);
    shmt_text_add(text, "\n");
    shmt_command_table_add(&configurations, colour, text);
    shmt_command_table_free(&times);
    shmt_command_table_free(&configurations);
}

static json_t *settings_json(const struct shmt_setting *settings,
                             size_t count)
{
    json_t *object = json_object();

    for (size_t i = 0; i < count; i++)
        json_object_set_new(object, settings[i].name,
                            shmt_json_value(settings[i].value));
    return object;
}

static void set_real(json_t *object, const char *key, double number)
{
    if (number >= 0)
        json_object_set_new(object, key, shmt_json_real(number));
}

static json_t *tuned_json(const struct shmt_tuned *tuned)
{
    json_t *object = json_object(), *ties = json_array();
    json_t *verdicts = json_object();

    json_object_set_new(object, "size",
                        settings_json(tuned->size, tuned->size_count));
    json_object_set_new(object, "config",
                        settings_json(tuned->settings, tuned->setting_count));
    json_object_set_new(object, "result", shmt_json_result(&tuned->result));
    set_real(object, "default_us", tuned->default_us);
    set_real(object, "gain", gain(tuned));
    set_real(object, "floor_us", tuned->floor_us);
    set_real(object, "spread", tuned->spread);
    set_real(object, "elapsed_s", tuned->elapsed_s);
    if (tuned->strategy != NULL)
        json_object_set_new(object, "strategy",
                            shmt_json_text(tuned->strategy));
    json_object_set_new(object, "seed", shmt_json_count(tuned->seed));
    json_object_set_new(object, "data_seed",
                        shmt_json_count(tuned->data_seed));
    json_object_set_new(object, "space", shmt_json_count(tuned->space_count));
    json_object_set_new(object, "tried", shmt_json_count(tuned->tried));
    for (size_t v = 0; v < SHMT_VERDICT_COUNT; v++)
        if (tuned->verdicts[v] > 0)
            json_object_set_new(verdicts,
                                shmt_verdict_word((enum shmt_verdict)v),
                                shmt_json_count(tuned->verdicts[v]));
    json_object_set_new(object, "verdicts", verdicts);
    for (size_t i = 0; i < tuned->tie_count; i++)
        json_array_append_new(ties, settings_json(tuned->ties[i],
                                                  tuned->setting_count));
    json_object_set_new(object, "ties", ties);
    return object;
}

static json_t *tuning_json(const struct shmt_tuning *tuning)
{
    json_t *root = json_object(), *tuned = json_array();

    for (size_t i = 0; i < tuning->tuned_count; i++)
        json_array_append_new(tuned, tuned_json(tuning->tuned[i]));
    json_object_set_new(root, "kernel", shmt_json_text(tuning->kernel));
    json_object_set_new(root, "digest", shmt_json_text(tuning->digest));
    json_object_set_new(root, "device", shmt_json_device(&tuning->device));
    json_object_set_new(root, "created", shmt_json_text(tuning->created));
    json_object_set_new(root, "nvrtc_version",
                        json_integer(tuning->nvrtc_version));
    json_object_set_new(root, "protocol", shmt_json_text(tuning->protocol));
    json_object_set_new(root, "tuned", tuned);
    return root;
}

enum shmtune_status shmt_show_tuning(const struct shmt_show *show,
                                     struct shmt_error *err)
{
    struct shmt_tuning *tuning;
    struct shmt_text text = {0};
    enum shmtune_status status = shmt_tuning_read(show->file, &tuning, err);

    if (status != SHMTUNE_OK)
        return shmt_command_change_status(err, SHMTUNE_NOT_FOUND,
                                          SHMTUNE_STORAGE);
    if (show->json) {
        status = shmt_json_print(tuning_json(tuning), err);
    } else {
        add_heading(tuning, &text);
        add_tables(tuning, show->colour, &text);
        if (text.failed)
            status = shmt_error_memory(err);
        else
            fputs(shmt_text_string(&text), stdout);
        shmt_text_free(&text);
    }
    shmt_tuning_free(tuning);
    return status;
}
