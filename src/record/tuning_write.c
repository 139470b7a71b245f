/* SPDX-License-Identifier: MIT */
/*
 * tuning_write: writes a tuning as YAML, always the same text for the same
 * tuning, and replaces the file atomically.
 */
#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "base/base.h"
#include "device/device.h"
#include "record/tuning.h"
#include "yaml/yaml.h"

enum { DIGITS = 6 };

static void add_text(struct shmt_text *text, const char *key,
                     const char *value)
{
    if (value == NULL || value[0] == '\0')
        return;
    shmt_text_addf(text, "%s: ", key);
    shmt_yaml_add_string(text, value);
    shmt_text_add(text, "\n");
}

/* Those that are not as in `than`, which may be NULL. */
static void add_settings(struct shmt_text *text,
                         const struct shmt_setting *settings, size_t count,
                         const struct shmt_setting *than)
{
    const char *before = "";

    shmt_text_add(text, "{");
    for (size_t k = 0; k < count; k++) {
        if (than != NULL &&
            shmt_value_equal(settings[k].value, than[k].value))
            continue;
        shmt_text_add(text, before);
        shmt_yaml_add_string(text, settings[k].name);
        shmt_text_add(text, ": ");
        shmt_yaml_add_value(text, settings[k].value);
        before = ", ";
    }
    shmt_text_add(text, "}\n");
}

static void add_real(struct shmt_text *text, const char *key, double value)
{
    if (!(value >= 0))
        return;
    shmt_text_addf(text, "  %s: ", key);
    shmt_yaml_add_real(text, value, DIGITS);
    shmt_text_add(text, "\n");
}

static void add_count(struct shmt_text *text, const char *key, uint64_t value)
{
    if (value > 0)
        shmt_text_addf(text, "  %s: %" PRIu64 "\n", key, value);
}

static void add_verdicts(struct shmt_text *text,
                         const uint64_t counts[SHMT_VERDICT_COUNT])
{
    const char *before = "  verdicts: {";

    for (int k = 0; k < SHMT_VERDICT_COUNT; k++) {
        if (counts[k] == 0)
            continue;
        shmt_text_addf(text, "%s%s: %" PRIu64, before,
                       shmt_verdict_word((enum shmt_verdict)k), counts[k]);
        before = ", ";
    }
    if (before[0] == ',')
        shmt_text_add(text, "}\n");
}

static void add_tuned(struct shmt_text *text, const struct shmt_tuned *tuned)
{
    shmt_text_add(text, "- size: ");
    add_settings(text, tuned->size, tuned->size_count, NULL);
    shmt_text_add(text, "  configuration: ");
    add_settings(text, tuned->settings, tuned->setting_count, NULL);
    shmt_text_add(text, "  result:\n");
    shmt_result_write_block(&tuned->result, 4, text);
    add_real(text, "spread", tuned->spread);
    add_real(text, "default_us", tuned->default_us);
    add_real(text, "floor_us", tuned->floor_us);
    if (tuned->strategy != NULL && tuned->strategy[0] != '\0') {
        shmt_text_add(text, "  ");
        add_text(text, "strategy", tuned->strategy);
    }
    add_count(text, "seed", tuned->seed);
    if (tuned->data_seed != 0 || tuned->seed != 0)
        shmt_text_addf(text, "  data_seed: %" PRIu64 "\n", tuned->data_seed);
    add_count(text, "space_count", tuned->space_count);
    add_count(text, "tried", tuned->tried);
    add_verdicts(text, tuned->verdicts);
    add_real(text, "elapsed_s", tuned->elapsed_s);
    if (tuned->tie_count > 0)
        shmt_text_add(text, "  ties:\n");
    for (size_t k = 0; k < tuned->tie_count; k++) {
        shmt_text_add(text, "  - ");
        add_settings(text, tuned->ties[k], tuned->setting_count,
                     tuned->settings);
    }
}

void shmt_tuning_format(const struct shmt_tuning *tuning,
                        struct shmt_text *text)
{
    shmt_text_add(text, "format: tuning/1\n");
    add_text(text, "kernel", tuning->kernel);
    shmt_text_addf(text, "digest: %s\n", tuning->digest);
    add_text(text, "created", tuning->created);
    if (tuning->nvrtc_version > 0)
        shmt_text_addf(text, "nvrtc_version: %d\n", tuning->nvrtc_version);
    add_text(text, "protocol", tuning->protocol);
    shmt_device_write(&tuning->device, text);
    shmt_text_add(text, tuning->tuned_count == 0 ? "tuned: []\n"
                                                 : "tuned:\n");
    for (size_t k = 0; k < tuning->tuned_count; k++)
        add_tuned(text, tuning->tuned[k]);
}

enum shmtune_status shmt_tuning_write(const struct shmt_tuning *tuning,
                                      const char *path,
                                      struct shmt_error *err)
{
    struct shmt_text text = {0};
    enum shmtune_status status;

    shmt_tuning_format(tuning, &text);
    if (text.failed)
        status = shmt_error_memory(err);
    else if (text.length > SHMT_TUNING_BYTES)
        status = shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT, "%s: the "
                                "tuning has %zu bytes, expected at most %d; "
                                "split its sizes over two files", path,
                                text.length, SHMT_TUNING_BYTES);
    else
        status = shmt_path_write(path, text.data, text.length, err);
    shmt_text_free(&text);
    return status;
}
