/* SPDX-License-Identifier: MIT */
/*
 * result: words of verdicts, and a result as one line of YAML and back, both
 * from one table of fields.
 */
#include "record/result.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "yaml/yaml.h"

enum { TIME_DIGITS = 6 };

/* Longer than any measurement: a thousand years. */
static const double most_us = 3.2e16;

static const char *const stage_words[SHMT_STAGE_COUNT] = {
    [SHMT_STAGE_FILTER] = "filter",       [SHMT_STAGE_COMPILE] = "compile",
    [SHMT_STAGE_RESOURCES] = "resources", [SHMT_STAGE_RUN] = "run",
    [SHMT_STAGE_VERIFY] = "verify",       [SHMT_STAGE_TIME] = "time",
};

static const struct {
    const char *word;
    const char *text;
    enum shmt_stage stage;
} verdicts[SHMT_VERDICT_COUNT] = {
#define VERDICT_ROW(name, word, stage, text) {word, text, SHMT_STAGE_##stage},
    SHMT_VERDICT_LIST(VERDICT_ROW)
#undef VERDICT_ROW
};

/* X(key, member, high): integers, -1 when not known, in written order. */
#define INTEGERS(X)                                                          \
    X(registers, resources.registers, 65536)                                 \
    X(spill_store_bytes, resources.spill_store_bytes, INT32_MAX)             \
    X(spill_load_bytes, resources.spill_load_bytes, INT32_MAX)               \
    X(stack_bytes, resources.stack_bytes, INT32_MAX)                         \
    X(shared_static_bytes, resources.shared_static_bytes, INT32_MAX)         \
    X(constant_bytes, resources.constant_bytes, INT32_MAX)                   \
    X(max_threads, resources.max_threads, 1 << 20)                           \
    X(shared_dynamic_bytes, shared_dynamic_bytes, INT64_C(1) << 40)          \
    X(resident_blocks, resident_blocks, 1 << 20)                             \
    X(occupancy_percent, occupancy_percent, 100)                             \
    X(argument, argument, 255)                                               \
    X(mismatches, mismatches, INT64_C(1) << 40)

static const struct integer {
    const char *key;
    size_t offset;
    size_t size;      /* of an int or an int64_t */
    int64_t high;
} integers[] = {
#define INTEGER_ROW(key, member, high)                                       \
    {#key, offsetof(struct shmt_result, member),                             \
     sizeof((struct shmt_result *)NULL)->member, high},
    INTEGERS(INTEGER_ROW)
#undef INTEGER_ROW
};

/* Numbers below 0 are not known. */
static const struct real {
    const char *key;
    size_t offset;
} reals[] = {
    {"excess", offsetof(struct shmt_result, excess)},
    {"compile_ms", offsetof(struct shmt_result, compile_ms)},
    {"measure_ms", offsetof(struct shmt_result, measure_ms)},
    {"time_us", offsetof(struct shmt_result, time_us)},
    {"scale", offsetof(struct shmt_result, scale)},
};

enum {
    INTEGER_COUNT = sizeof integers / sizeof integers[0],
    REAL_COUNT = sizeof reals / sizeof reals[0]
};

/* Where a key's value is among those of all of them. */
enum {
    KEY_VERDICT, KEY_REASON, KEY_INTEGERS,
    KEY_LIMITER = KEY_INTEGERS + INTEGER_COUNT,
    KEY_REALS,
    KEY_SAMPLES = KEY_REALS + REAL_COUNT,
    KEY_IMAGE,
    KEY_LAUNCHES,
    KEYS
};

const char *const shmt_result_keys[] = {
    "verdict", "reason",
#define INTEGER_KEY(key, member, high) #key,
    INTEGERS(INTEGER_KEY)
#undef INTEGER_KEY
    "limiter", "excess", "compile_ms", "measure_ms", "time_us", "scale",
    "samples_us", "image", "launches", NULL
};

const char *shmt_stage_word(enum shmt_stage stage)
{
    return stage_words[stage];
}

const char *shmt_verdict_word(enum shmt_verdict verdict)
{
    return verdicts[verdict].word;
}

const char *shmt_verdict_text(enum shmt_verdict verdict)
{
    return verdicts[verdict].text;
}

enum shmt_stage shmt_verdict_stage(enum shmt_verdict verdict)
{
    return verdicts[verdict].stage;
}

bool shmt_verdict_find(const char *word, enum shmt_verdict *out)
{
    for (int k = 0; k < SHMT_VERDICT_COUNT; k++)
        if (strcmp(word, verdicts[k].word) == 0) {
            *out = (enum shmt_verdict)k;
            return true;
        }
    return false;
}

static int64_t get_integer(const struct shmt_result *result,
                           const struct integer *integer)
{
    return shmt_field_get((const char *)result + integer->offset,
                          integer->size);
}

static void set_integer(struct shmt_result *result,
                       const struct integer *integer, int64_t value)
{
    shmt_field_set((char *)result + integer->offset, integer->size, value);
}

static double *real_at(struct shmt_result *result, const struct real *real)
{
    return (double *)(void *)((char *)result + real->offset);
}

void shmt_result_clear(struct shmt_result *result)
{
    memset(result, 0, sizeof *result);
    result->verdict = SHMT_VERDICT_OK;
    result->limiter = SHMT_LIMITER_NONE;
    for (size_t k = 0; k < INTEGER_COUNT; k++)
        set_integer(result, &integers[k], -1);
    for (size_t k = 0; k < REAL_COUNT; k++)
        *real_at(result, &reals[k]) = -1;
}

/* One line of printable UTF-8 from what a compiler or driver said. */
static void sanitise(const char *text, char *out, size_t room)
{
    const size_t size = strlen(text);
    size_t used = 0, length;
    uint32_t code;

    for (size_t i = 0; i < size; i += length) {
        bool printable;

        length = shmt_utf8_decode(text + i, size - i, &code);
        printable = length > 0 && code >= 0x20 && shmt_utf8_printable(code);
        if (length == 0)
            length = 1;
        if (used + length >= room)
            break;
        if (printable)
            memcpy(out + used, text + i, length);
        else
            out[used] = text[i] == '\n' || text[i] == '\t' ? ' ' : '?';
        used += printable ? length : 1;
    }
    while (used > 0 && out[used - 1] == ' ')
        used--;
    out[used] = '\0';
}

void shmt_result_set_verdict(struct shmt_result *result,
                             enum shmt_verdict verdict,
                             const char *format, ...)
{
    char text[4 * SHMT_RESULT_REASON];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    result->verdict = verdict;
    sanitise(text, result->reason, sizeof result->reason);
}

_Static_assert((int)SHMT_RESULT_SAMPLES <= (int)SHMT_MIDDLE_MOST,
               "all samples have a middle");

void shmt_result_summarise(struct shmt_result *result)
{
    const int count = result->sample_count;

    if (count <= 0 || count > SHMT_RESULT_SAMPLES) {
        result->time_us = -1;
        return;
    }
    result->time_us = shmt_middle_of_floats(result->samples_us, (size_t)count);
    if (result->scale > 0)
        result->time_us *= result->scale;
}

/* A tenth of a microsecond, of which an event tells five, or what a float
 * holds; five at least. */
static int sample_digits(float us)
{
    return us < 1e4F ? 5 : us < 1e5F ? 6 : 7;
}

static void write_samples(const struct shmt_result *result,
                          struct shmt_text *text)
{
    shmt_text_add(text, "samples_us: [");
    for (int k = 0; k < result->sample_count; k++) {
        if (k > 0)
            shmt_text_add(text, ", ");
        shmt_yaml_add_real(text, result->samples_us[k],
                           sample_digits(result->samples_us[k]));
    }
    shmt_text_add(text, "]");
}

/* What each of several launches takes: registers, static shared bytes and most
 * threads, -1 where not known: [[166, 29184, 128], ...]. */
static void write_launches(const struct shmt_result *result,
                           struct shmt_text *text)
{
    shmt_text_add(text, "launches: [");
    for (int k = 0; k < result->launches.count; k++) {
        const struct shmt_resources_of_launch *one = &result->launches.of[k];

        shmt_text_addf(text, "%s[%d, %" PRId32 ", %d]", k > 0 ? ", " : "",
                       one->registers, one->shared_static_bytes,
                       one->max_threads);
    }
    shmt_text_add(text, "]");
}

/* What is known, `between` one field and the next. */
static void write_fields(const struct shmt_result *result,
                         const char *between, struct shmt_text *text)
{
    struct shmt_result copy = *result;

    shmt_text_addf(text, "verdict: %s", shmt_verdict_word(result->verdict));
    if (result->reason[0] != '\0') {
        shmt_text_addf(text, "%sreason: ", between);
        shmt_yaml_add_string(text, result->reason);
    }
    for (size_t k = 0; k < INTEGER_COUNT; k++) {
        const int64_t value = get_integer(result, &integers[k]);

        if (value >= 0)
            shmt_text_addf(text, "%s%s: %" PRId64, between, integers[k].key,
                           value);
    }
    if (result->limiter != SHMT_LIMITER_NONE)
        shmt_text_addf(text, "%slimiter: %s", between,
                       shmt_limiter_word(result->limiter));
    for (size_t k = 0; k < REAL_COUNT; k++) {
        const double value = *real_at(&copy, &reals[k]);

        if (!(value >= 0))
            continue;
        shmt_text_addf(text, "%s%s: ", between, reals[k].key);
        shmt_yaml_add_real(text, value, TIME_DIGITS);
    }
    if (result->sample_count > 0) {
        shmt_text_add(text, between);
        write_samples(result, text);
    }
    if (result->image[0] != '\0')
        shmt_text_addf(text, "%simage: %s", between, result->image);
    if (result->launches.count > 0) {
        shmt_text_add(text, between);
        write_launches(result, text);
    }
}

void shmt_result_write(const struct shmt_result *result,
                       struct shmt_text *text)
{
    write_fields(result, ", ", text);
}

void shmt_result_write_block(const struct shmt_result *result, int indent,
                             struct shmt_text *text)
{
    char between[2 + 16];

    snprintf(between, sizeof between, "\n%*s", indent > 16 ? 16 : indent, "");
    shmt_text_add(text, between + 1);
    write_fields(result, between, text);
    shmt_text_add(text, "\n");
}

static enum shmtune_status read_limiter(const struct shmt_yaml *node,
                                        enum shmt_limiter *out,
                                        struct shmt_error *err)
{
    if (node->kind == SHMT_YAML_SCALAR)
        for (int k = 0; k < SHMT_LIMITER_COUNT; k++)
            if (strcmp(node->text,
                       shmt_limiter_word((enum shmt_limiter)k)) == 0) {
                *out = (enum shmt_limiter)k;
                return SHMTUNE_OK;
            }
    return shmt_yaml_expected(node, err, "a limiter like \"registers\"");
}

static enum shmtune_status read_verdict(const struct shmt_yaml *node,
                                        enum shmt_verdict *out,
                                        struct shmt_error *err)
{
    if (node->kind == SHMT_YAML_SCALAR && shmt_verdict_find(node->text, out))
        return SHMTUNE_OK;
    return shmt_yaml_expected(node, err,
                              "a verdict like \"ok\" or \"compile_error\"");
}

static enum shmtune_status read_words(const struct shmt_yaml *const *values,
                                      struct shmt_result *result,
                                      struct shmt_error *err)
{
    const char *reason;
    enum shmtune_status status =
        read_verdict(values[KEY_VERDICT], &result->verdict, err);

    if (status == SHMTUNE_OK && values[KEY_LIMITER] != NULL)
        status = read_limiter(values[KEY_LIMITER], &result->limiter, err);
    if (status != SHMTUNE_OK || values[KEY_REASON] == NULL)
        return status;
    status = shmt_yaml_text(values[KEY_REASON], sizeof result->reason - 1,
                            &reason, err);
    if (status == SHMTUNE_OK)
        memcpy(result->reason, reason, strlen(reason) + 1);
    return status;
}

static enum shmtune_status read_positive(const struct shmt_yaml *node,
                                         double *out, struct shmt_error *err)
{
    double value = 0;
    enum shmtune_status status = shmt_yaml_real(node, &value, err);

    if (status != SHMTUNE_OK)
        return status;
    if (value < 0 || value > most_us)
        return shmt_yaml_expected(node, err, "a number from 0 to %g", most_us);
    *out = value;
    return SHMTUNE_OK;
}

static enum shmtune_status read_numbers(const struct shmt_yaml *const *values,
                                        struct shmt_result *result,
                                        struct shmt_error *err)
{
    enum shmtune_status status;
    int64_t value = 0;

    for (size_t k = 0; k < INTEGER_COUNT; k++) {
        if (values[KEY_INTEGERS + k] == NULL)
            continue;
        status = shmt_yaml_int(values[KEY_INTEGERS + k], 0, integers[k].high,
                               &value, err);
        if (status != SHMTUNE_OK)
            return status;
        set_integer(result, &integers[k], value);
    }
    for (size_t k = 0; k < REAL_COUNT; k++) {
        if (values[KEY_REALS + k] == NULL)
            continue;
        status = read_positive(values[KEY_REALS + k],
                               real_at(result, &reals[k]), err);
        if (status != SHMTUNE_OK)
            return status;
    }
    return SHMTUNE_OK;
}

static enum shmtune_status read_samples(const struct shmt_yaml *node,
                                        struct shmt_result *result,
                                        struct shmt_error *err)
{
    enum shmtune_status status =
        shmt_yaml_expect(node, SHMT_YAML_SEQUENCE, "samples_us", err);
    double value = 0;

    if (status != SHMTUNE_OK)
        return status;
    if (node->count > SHMT_RESULT_SAMPLES)
        return shmt_yaml_refuse(node, err, "found %zu samples, expected at "
                                "most %d", node->count, SHMT_RESULT_SAMPLES);
    for (size_t k = 0; k < node->count; k++) {
        status = read_positive(node->items[k], &value, err);
        if (status != SHMTUNE_OK)
            return status;
        result->samples_us[k] = (float)value;
    }
    result->sample_count = (int)node->count;
    return SHMTUNE_OK;
}

static enum shmtune_status read_launch(const struct shmt_yaml *node,
                                       struct shmt_resources_of_launch *out,
                                       struct shmt_error *err)
{
    static const int64_t most[3] = {INT16_MAX, INT32_MAX, INT16_MAX};
    int64_t values[3] = {-1, -1, -1};
    enum shmtune_status status =
        shmt_yaml_expect(node, SHMT_YAML_SEQUENCE, "a launch", err);

    if (status == SHMTUNE_OK && node->count != 3)
        return shmt_yaml_refuse(node, err, "found %zu numbers, expected "
                                "registers, static shared bytes and threads",
                                node->count);
    for (size_t k = 0; k < 3 && status == SHMTUNE_OK; k++)
        status = shmt_yaml_int(node->items[k], -1, most[k], &values[k], err);
    out->registers = (int16_t)values[0];
    out->shared_static_bytes = (int32_t)values[1];
    out->max_threads = (int16_t)values[2];
    return status;
}

static enum shmtune_status read_launches(const struct shmt_yaml *node,
                                         struct shmt_result *result,
                                         struct shmt_error *err)
{
    enum shmtune_status status =
        shmt_yaml_expect(node, SHMT_YAML_SEQUENCE, "launches", err);

    if (status != SHMTUNE_OK)
        return status;
    if (node->count > SHMT_RESOURCES_LAUNCHES)
        return shmt_yaml_refuse(node, err, "found %zu launches, expected at "
                                "most %d", node->count,
                                SHMT_RESOURCES_LAUNCHES);
    for (size_t k = 0; k < node->count && status == SHMTUNE_OK; k++)
        status = read_launch(node->items[k], &result->launches.of[k], err);
    result->launches.count = (int)node->count;
    return status;
}

static enum shmtune_status read_image(const struct shmt_yaml *node,
                                      struct shmt_result *result,
                                      struct shmt_error *err)
{
    if (node->kind == SHMT_YAML_SCALAR && shmt_digest_valid(node->text)) {
        memcpy(result->image, node->text, SHMT_DIGEST_TEXT);
        return SHMTUNE_OK;
    }
    return shmt_yaml_expected(node, err, "64 hexadecimal digits");
}

static enum shmtune_status read_fields(const struct shmt_yaml *mapping,
                                       const struct shmt_yaml *const *values,
                                       struct shmt_result *out,
                                       struct shmt_error *err)
{
    struct shmt_result result;
    const struct shmt_yaml *node;
    enum shmtune_status status =
        shmt_yaml_need(mapping, "verdict", &node, err);

    if (status != SHMTUNE_OK)
        return status;
    shmt_result_clear(&result);
    status = read_words(values, &result, err);
    if (status == SHMTUNE_OK)
        status = read_numbers(values, &result, err);
    if (status == SHMTUNE_OK && values[KEY_SAMPLES] != NULL)
        status = read_samples(values[KEY_SAMPLES], &result, err);
    if (status == SHMTUNE_OK && values[KEY_IMAGE] != NULL)
        status = read_image(values[KEY_IMAGE], &result, err);
    if (status == SHMTUNE_OK && values[KEY_LAUNCHES] != NULL)
        status = read_launches(values[KEY_LAUNCHES], &result, err);
    if (status == SHMTUNE_OK)
        *out = result;
    return status;
}

enum shmtune_status shmt_result_read(const struct shmt_yaml *mapping,
                                     struct shmt_result *out,
                                     struct shmt_error *err)
{
    const struct shmt_yaml *values[KEYS];

    shmt_yaml_get_known(mapping, shmt_result_keys, values);
    return read_fields(mapping, values, out, err);
}

enum shmtune_status shmt_result_read_strict(const struct shmt_yaml *mapping,
                                            struct shmt_result *out,
                                            struct shmt_error *err)
{
    const struct shmt_yaml *values[KEYS];
    enum shmtune_status status =
        shmt_yaml_get_keys(mapping, shmt_result_keys, values, err);

    if (status == SHMTUNE_OK)
        status = read_fields(mapping, values, out, err);
    return status;
}
