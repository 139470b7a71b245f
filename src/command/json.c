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
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "exchange/exchange.h"

/* A text lacks its end. */
static bool cut;

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
    cut |= copy.failed;
    string = json_string(shmt_text_string(&copy));
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

json_t *shmt_json_measured(double number)
{
    return number < 0 ? NULL : shmt_json_real(number);
}

json_t *shmt_json_given(const char *text)
{
    return text == NULL || text[0] == '\0' ? NULL : shmt_json_text(text);
}

/* NULL, which is left out, of what is below `low`: it is not known. */
static json_t *known_from(int64_t low, int64_t number)
{
    return number < low ? NULL : json_integer(number);
}

static json_t *variable_of(const struct shmt_result *result)
{
    return result->variable[0] == '\0'
               ? NULL
               : shmt_json_object("name", shmt_json_text(result->variable),
                                  "bytes",
                                  json_integer(result->variable_bytes), NULL);
}

json_t *shmt_json_result(const struct shmt_result *result)
{
    const struct shmt_resources *const r = &result->resources;
    const char *const stage =
        shmt_stage_word(shmt_verdict_stage(result->verdict));
    const char *const limiter = result->resident_blocks < 0
                                    ? NULL : shmt_limiter_word(result->limiter);
    json_t *const samples = result->sample_count > 0 ? json_array() : NULL;

    for (int i = 0; i < result->sample_count; i++)
        json_array_append_new(samples,
                              shmt_json_real((double)result->samples_us[i]));
    return shmt_json_object(
        "verdict", shmt_json_text(shmt_verdict_word(result->verdict)),
        "stage", shmt_json_text(stage),
        "reason", shmt_json_given(result->reason),
        "variable", variable_of(result),
        "registers", known_from(0, r->registers),
        "spill_store_bytes", known_from(0, r->spill_store_bytes),
        "spill_load_bytes", known_from(0, r->spill_load_bytes),
        "stack_bytes", known_from(0, r->stack_bytes),
        "shared_static_bytes", known_from(0, r->shared_static_bytes),
        "constant_bytes", known_from(0, r->constant_bytes),
        "max_threads", known_from(0, r->max_threads),
        "shared_dynamic_bytes", known_from(0, result->shared_dynamic_bytes),
        "resident_blocks", known_from(0, result->resident_blocks),
        "occupancy_percent", known_from(0, result->occupancy_percent),
        "limiter", shmt_json_text(limiter),
        "compile_ms", shmt_json_measured(result->compile_ms),
        "measure_ms", shmt_json_measured(result->measure_ms),
        "time_us", shmt_json_measured(result->time_us),
        "mismatches", known_from(0, result->mismatches),
        "excess", shmt_json_measured(result->excess),
        "samples_us", samples, NULL);
}

json_t *shmt_json_device(const struct shmtune_device *device)
{
    return shmt_json_object(
        "name", shmt_json_text(device->name),
        "uuid", shmt_json_given(device->uuid),
        "compute_major", json_integer(device->compute_major),
        "compute_minor", json_integer(device->compute_minor),
        "multiprocessors", known_from(1, device->multiprocessors),
        "shared_per_block", known_from(1, device->shared_per_block),
        "shared_per_block_optin",
        known_from(1, device->shared_per_block_optin),
        "shared_per_multiprocessor",
        known_from(1, device->shared_per_multiprocessor),
        "registers_per_multiprocessor",
        known_from(1, device->registers_per_multiprocessor),
        "max_threads_per_multiprocessor",
        known_from(1, device->max_threads_per_multiprocessor),
        "l2_bytes", known_from(1, device->l2_bytes),
        "memory_bytes", known_from(1, device->memory_bytes),
        "clock_khz", known_from(1, device->clock_khz),
        "memory_clock_khz", known_from(1, device->memory_clock_khz),
        "memory_bus_bits", known_from(1, device->memory_bus_bits),
        "driver_version", known_from(1, device->driver_version), NULL);
}

/* Set when a document was printed: standard output holds one document only. */
static bool printed;
static bool one_line;

void shmt_json_one_line(void)
{
    one_line = true;
}

bool shmt_json_incomplete(void)
{
    return cut || shmt_export_memory_failed();
}

/* ":12" at `at`; returns what is behind it, NULL: there is none. */
static const char *take_number(const char *at, json_int_t *out)
{
    char *end;

    if (at[0] != ':' || at[1] < '1' || at[1] > '9')
        return NULL;
    *out = strtoll(at + 1, &end, 10);
    return end;
}

void shmt_json_add_place(json_t *object, const char *message)
{
    const char *begin = message;

    for (const char *at = message; *at != '\0'; at++) {
        json_int_t line, column;
        const char *end = take_number(at, &line);
        struct shmt_text file = {0};

        if (end != NULL)
            end = take_number(end, &column);
        if (end == NULL || *end != ':' || at == begin) {
            /* What stands before a name ends with a colon and a blank. */
            if (at[0] == ':' && at[1] == ' ')
                begin = at + 2;
            continue;
        }
        shmt_text_add_bytes(&file, begin, (size_t)(at - begin));
        cut |= file.failed;
        json_object_set_new(object, "place", shmt_json_object(
            "file", shmt_json_text(shmt_text_string(&file)),
            "line", json_integer(line),
            "column", json_integer(column), NULL));
        shmt_text_free(&file);
        return;
    }
}

json_t *shmt_json_failure(const struct shmt_kernel *kernel,
                          const int64_t *problem,
                          const struct shmt_error *why)
{
    json_t *const failure = shmt_json_object(
        "kernel", kernel == NULL ? json_null() : shmt_json_text(kernel->name),
        "size", problem == NULL ? json_null()
                                : shmt_json_problem(kernel, problem),
        "status", json_integer(why->status),
        "error", shmt_json_text(why->text), NULL);

    shmt_json_add_place(failure, why->text);
    return failure;
}

static char *dump(const char *name, json_t *root)
{
    struct shmt_text format = {0};
    json_t *whole;
    char *text;

    shmt_text_addf(&format, "%s.json/1", name);
    cut |= format.failed;
    whole = shmt_json_object("format",
                             shmt_json_text(shmt_text_string(&format)), NULL);
    cut |= json_object_update(whole, root) != 0;
    text = json_dumps(whole, (one_line ? 0 : JSON_INDENT(2)) |
                                 JSON_REAL_PRECISION(9));
    json_decref(whole);
    shmt_text_free(&format);
    return text;
}

enum shmtune_status shmt_json_print(const char *name, json_t *root,
                                    struct shmt_error *err)
{
    char *const text = root == NULL || shmt_json_incomplete()
                           ? NULL : dump(name, root);
    bool written;

    json_decref(root);
    /* What jansson writes without memory lacks members. */
    if (text == NULL || shmt_json_incomplete()) {
        free(text);
        return shmt_error_memory(err);
    }
    printed = true;
    if (one_line)
        putc('\n', stdout);
    written = fputs(text, stdout) >= 0 && putc('\n', stdout) != EOF;
    free(text);
    return written ? SHMTUNE_OK
                   : shmt_error_set(err, SHMTUNE_STORAGE,
                                    "standard output could not be written");
}

void shmt_command_json_begin(void)
{
    shmt_export_memory_watch();
}

enum shmtune_status shmt_command_json_version(const char *version,
                                              struct shmt_error *err)
{
    return shmt_json_print("version", shmt_json_object(
        "version", shmt_json_text(version), NULL), err);
}

static json_t *error_json(const struct shmt_error *why)
{
    json_t *const object = shmt_json_object(
        "format", json_string("error.json/1"),
        "status", json_integer(why->status), "error",
        shmt_json_text(why->text), NULL);

    shmt_json_add_place(object, why->text);
    return object;
}

void shmt_command_json_error(const struct shmt_error *why)
{
    if (printed)
        return;
    cut = false;
    shmt_export_memory_watch();
    (void)shmt_json_print("error", error_json(why), NULL);
}

void shmt_json_line(json_t *object)
{
    json_dumpf(object, stderr, JSON_COMPACT | JSON_REAL_PRECISION(9));
    putc('\n', stderr);
    json_decref(object);
}

void shmt_command_json_error_line(const struct shmt_error *why)
{
    shmt_json_line(error_json(why));
}
