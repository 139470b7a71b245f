/* SPDX-License-Identifier: MIT */
/*
 * json: converts our data to JSON values for --json, and prints the one
 * document of a command.
 */
#include "config.h"

#include "command/command.h"
#include "command/json.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "base/base.h"

json_t *shmt_json_text(const char *text)
{
    struct shmt_text copy = {0};
    size_t size = text == NULL ? 0 : strlen(text);
    json_t *string;

    if (text == NULL)
        return NULL;
    while (size > 0) {
        uint32_t code;
        const size_t length = shmt_utf8_decode(text, size, &code);

        if (length == 0)
            shmt_text_add(&copy, "?");
        else
            shmt_text_add_bytes(&copy, text, length);
        text += length == 0 ? 1 : length;
        size -= length == 0 ? 1 : length;
    }
    string = copy.failed ? NULL : json_string(shmt_text_string(&copy));
    shmt_text_free(&copy);
    return string;
}

json_t *shmt_json_object(const char *key, ...)
{
    json_t *const object = json_object();
    va_list arguments;

    va_start(arguments, key);
    for (; key != NULL; key = va_arg(arguments, const char *))
        json_object_set_new(object, key, va_arg(arguments, json_t *));
    va_end(arguments);
    return object;
}

json_t *shmt_json_real(double number)
{
    return isfinite(number) ? json_real(number) : json_null();
}

json_t *shmt_json_known(double number)
{
    return number < 0 ? json_null() : shmt_json_real(number);
}

json_t *shmt_json_value(struct shmt_value value)
{
    if (value.type == SHMT_VALUE_INT)
        return json_integer(value.i);
    return value.type == SHMT_VALUE_REAL ? shmt_json_real(value.r)
                                   : shmt_json_text(value.w);
}

json_t *shmt_json_count(uint64_t count)
{
    return count <= INT64_MAX ? json_integer((json_int_t)count)
                              : json_real((double)count);
}

json_t *shmt_json_problem(const struct shmt_kernel *kernel,
                          const int64_t *problem)
{
    json_t *size = json_object();

    for (size_t d = 0; d < kernel->dimension_count; d++)
        json_object_set_new(size, kernel->dimensions[d].name,
                            json_integer(problem[d]));
    return size;
}

json_t *shmt_json_config(const struct shmt_kernel *kernel,
                         const shmt_config *config)
{
    json_t *object = json_object();

    for (size_t p = 0; p < kernel->parameter_count; p++)
        json_object_set_new(
            object, kernel->parameters[p].name,
            shmt_json_value(kernel->parameters[p].values[config[p]]));
    return object;
}

json_t *shmt_json_verdicts(const uint64_t counts[SHMT_VERDICT_COUNT])
{
    json_t *const verdicts = json_object();

    for (int v = 0; v < SHMT_VERDICT_COUNT; v++)
        if (counts[v] > 0)
            json_object_set_new(verdicts,
                                shmt_verdict_word((enum shmt_verdict)v),
                                shmt_json_count(counts[v]));
    return verdicts;
}

static void set_known(json_t *object, const char *key, int64_t number)
{
    if (number >= 0)
        json_object_set_new(object, key, json_integer(number));
}

static void set_resources(json_t *object,
                          const struct shmt_resources *resources)
{
    set_known(object, "registers", resources->registers);
    set_known(object, "spill_store_bytes", resources->spill_store_bytes);
    set_known(object, "spill_load_bytes", resources->spill_load_bytes);
    set_known(object, "stack_bytes", resources->stack_bytes);
    set_known(object, "shared_static_bytes", resources->shared_static_bytes);
    set_known(object, "constant_bytes", resources->constant_bytes);
    set_known(object, "max_threads", resources->max_threads);
}

json_t *shmt_json_result(const struct shmt_result *result)
{
    json_t *object = json_object(), *samples = json_array();

    json_object_set_new(object, "verdict",
                        shmt_json_text(shmt_verdict_word(result->verdict)));
    json_object_set_new(object, "stage",
                        shmt_json_text(shmt_stage_word(
                            shmt_verdict_stage(result->verdict))));
    if (result->reason[0] != '\0')
        json_object_set_new(object, "reason", shmt_json_text(result->reason));
    set_resources(object, &result->resources);
    set_known(object, "shared_dynamic_bytes", result->shared_dynamic_bytes);
    set_known(object, "resident_blocks", result->resident_blocks);
    set_known(object, "occupancy_percent", result->occupancy_percent);
    if (result->resident_blocks >= 0)
        json_object_set_new(object, "limiter",
                            shmt_json_text(shmt_limiter_word(result->limiter)));
    if (result->compile_ms >= 0)
        json_object_set_new(object, "compile_ms",
                            shmt_json_real(result->compile_ms));
    if (result->measure_ms >= 0)
        json_object_set_new(object, "measure_ms",
                            shmt_json_real(result->measure_ms));
    if (result->time_us >= 0)
        json_object_set_new(object, "time_us",
                            shmt_json_real(result->time_us));
    for (int i = 0; i < result->sample_count; i++)
        json_array_append_new(samples,
                              shmt_json_real((double)result->samples_us[i]));
    if (result->sample_count > 0)
        json_object_set(object, "samples_us", samples);
    json_decref(samples);
    return object;
}

json_t *shmt_json_device(const struct shmtune_device *device)
{
    const struct {
        const char *key;
        int64_t number;
    } fields[] = {
        {"multiprocessors", device->multiprocessors},
        {"shared_per_block", device->shared_per_block},
        {"shared_per_block_optin", device->shared_per_block_optin},
        {"shared_per_multiprocessor", device->shared_per_multiprocessor},
        {"registers_per_multiprocessor",
         device->registers_per_multiprocessor},
        {"max_threads_per_multiprocessor",
         device->max_threads_per_multiprocessor},
        {"l2_bytes", device->l2_bytes},
        {"memory_bytes", device->memory_bytes},
        {"clock_khz", device->clock_khz},
        {"memory_clock_khz", device->memory_clock_khz},
        {"memory_bus_bits", device->memory_bus_bits},
        {"driver_version", device->driver_version},
    };
    json_t *object = json_object();

    json_object_set_new(object, "name", shmt_json_text(device->name));
    if (device->uuid[0] != '\0')
        json_object_set_new(object, "uuid", shmt_json_text(device->uuid));
    json_object_set_new(object, "compute_major",
                        json_integer(device->compute_major));
    json_object_set_new(object, "compute_minor",
                        json_integer(device->compute_minor));
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
        if (fields[i].number > 0)
            json_object_set_new(object, fields[i].key,
                                json_integer(fields[i].number));
    return object;
}

/* Set when a document was printed: standard output holds one document only. */
static bool printed;

enum shmtune_status shmt_json_print(json_t *root, struct shmt_error *err)
{
    int failed;

    if (root == NULL)
        return shmt_error_memory(err);
    printed = true;
    failed = json_dumpf(root, stdout,
                        JSON_INDENT(2) | JSON_REAL_PRECISION(9));
    putc('\n', stdout);
    json_decref(root);
    return failed == 0 ? SHMTUNE_OK
                       : shmt_error_set(err, SHMTUNE_STORAGE,
                                        "the JSON could not be written");
}

void shmt_command_json_error(const struct shmt_error *why)
{
    if (!printed)
        (void)shmt_json_print(json_pack("{s:i, s:o}", "status",
                                        (int)why->status, "error",
                                        shmt_json_text(why->text)), NULL);
}
