/* SPDX-License-Identifier: MIT */
/* result: words, medians, and results as YAML and back. */
#include "tests/support/check.h"

#include <math.h>

#include "record/result.h"
#include "tests/support/hostile.h"
#include "yaml/yaml.h"

#define FOUR_LAUNCHES "[], [], [], [], "
#define SIXTEEN_LAUNCHES                                                     \
    FOUR_LAUNCHES FOUR_LAUNCHES FOUR_LAUNCHES FOUR_LAUNCHES

static struct shmt_error err;

static enum shmtune_status read_text(const char *text, size_t size,
                                     struct shmt_result *out)
{
    struct shmt_arena *arena = shmt_arena_new();
    const struct shmt_yaml *root = NULL;
    enum shmtune_status status;

    err.text[0] = '\0';
    status = shmt_yaml_parse(arena, "f", text, size, &root, &err);
    if (status == SHMTUNE_OK)
        status = shmt_result_read(root, out, &err);
    shmt_arena_free(arena);
    return status;
}

static void words_are_their_own(void)
{
    enum shmt_verdict found;

    for (int k = 0; k < SHMT_VERDICT_COUNT; k++) {
        const enum shmt_verdict verdict = (enum shmt_verdict)k;

        CHECK(shmt_verdict_find(shmt_verdict_word(verdict), &found));
        CHECK_INT(found, verdict);
        CHECK(shmt_verdict_text(verdict)[0] != '\0');
        CHECK(shmt_verdict_stage(verdict) < SHMT_STAGE_COUNT);
    }
    CHECK(!shmt_verdict_find("fine", &found));
    CHECK(!shmt_verdict_find("", &found));
    CHECK_TEXT(shmt_stage_word(shmt_verdict_stage(SHMT_VERDICT_WRONG)),
               "verify");
    CHECK_TEXT(shmt_limiter_word(SHMT_LIMITER_SHARED), "shared_memory");
}

static void a_cleared_result_knows_nothing(void)
{
    struct shmt_result result;
    struct shmt_text text = {0};

    shmt_result_clear(&result);
    CHECK_INT(result.verdict, SHMT_VERDICT_OK);
    CHECK_INT(result.resources.registers, -1);
    CHECK_INT(result.resources.shared_static_bytes, -1);
    CHECK_INT(result.resident_blocks, -1);
    CHECK_INT(result.sample_count, 0);
    CHECK(result.time_us < 0 && result.compile_ms < 0);
    CHECK_TEXT(result.image, "");
    shmt_result_write(&result, &text);
    CHECK_TEXT(text.data, "verdict: ok");
    shmt_text_free(&text);
}

static void the_time_is_the_middle_of_the_samples(void)
{
    struct shmt_result result;

    shmt_result_clear(&result);
    shmt_result_summarise(&result);
    CHECK(result.time_us < 0);
    memcpy(result.samples_us, (float[]){5, 1, 4, 2}, 4 * sizeof(float));
    result.sample_count = 1;
    shmt_result_summarise(&result);
    CHECK(result.time_us == 5);
    result.sample_count = 3;
    shmt_result_summarise(&result);
    CHECK(result.time_us == 4);
    result.sample_count = 4;
    shmt_result_summarise(&result);
    CHECK(result.time_us == 3);
    CHECK(result.samples_us[0] == 5);
}

/* Of a kernel of tens and hundreds of milliseconds, too. */
static void samples_keep_what_an_event_tells(void)
{
    static const float samples[] = {25.5681F, 9999.9F, 12345.5F, 123456.5F,
                                    1234567};
    struct shmt_result result;
    struct shmt_text text = {0};

    shmt_result_clear(&result);
    memcpy(result.samples_us, samples, sizeof samples);
    result.sample_count = sizeof samples / sizeof *samples;
    shmt_result_write(&result, &text);
    CHECK_HAS(shmt_text_string(&text), "samples_us: [25.568, 9999.9, 12345.5, "
              "123456.5, 1234567]");
    shmt_text_free(&text);
}

static void reasons_are_one_clean_line(void)
{
    struct shmt_result result;
    char longer[1000];

    shmt_result_clear(&result);
    shmt_result_set_verdict(&result, SHMT_VERDICT_COMPILE_ERROR,
                            "a.cu(3): error:\n\t\x1b[31m%s\x1b[0m\n", "x\xff");
    CHECK_INT(result.verdict, SHMT_VERDICT_COMPILE_ERROR);
    CHECK_TEXT(result.reason, "a.cu(3): error:  ?[31mx??[0m");
    memset(longer, 'x', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    shmt_result_set_verdict(&result, SHMT_VERDICT_CRASH, "%s", longer);
    CHECK_INT(strlen(result.reason), SHMT_RESULT_REASON - 1);
    /* A character of two bytes across the end is left out whole. */
    memcpy(longer + SHMT_RESULT_REASON - 2, "\xc3\xa9", 2);
    shmt_result_set_verdict(&result, SHMT_VERDICT_CRASH, "%s", longer);
    CHECK_INT(strlen(result.reason), SHMT_RESULT_REASON - 2);
    shmt_result_set_verdict(&result, SHMT_VERDICT_CRASH, "\n");
    CHECK_TEXT(result.reason, "");
}

static int sometimes(uint64_t *state, int64_t high)
{
    const uint64_t r = hostile_random(state);

    return r % 4 == 0 ? -1 : (int)((r >> 8) % (uint64_t)(high + 1));
}

static double positive(uint64_t *state)
{
    const int exponent = (int)(hostile_random(state) % 24) - 8;

    return hostile_random(state) % 5 == 0
               ? -1
               : (double)(hostile_random(state) % 1000000) * pow(10, exponent
                                                                      - 6);
}

static void make_any(uint64_t *state, struct shmt_result *result)
{
    static const char *const reasons[] = {
        "", "element 17: found 3.5, expected 4", "no", "{a: 1}", "# x",
        "\xc3\xa9 \"quoted\" \\", "1e5", "- x", " leads and follows "};

    shmt_result_clear(result);
    result->verdict =
        (enum shmt_verdict)(hostile_random(state) % SHMT_VERDICT_COUNT);
    strcpy(result->reason, reasons[hostile_random(state) % 9]);
    result->resources.registers = sometimes(state, 255);
    result->resources.spill_store_bytes = sometimes(state, 100000);
    result->resources.spill_load_bytes = sometimes(state, INT32_MAX);
    result->resources.stack_bytes = sometimes(state, 4096);
    result->resources.shared_static_bytes = sometimes(state, 49152);
    result->resources.constant_bytes = sometimes(state, 65536);
    result->resources.max_threads = sometimes(state, 1024);
    result->shared_dynamic_bytes = sometimes(state, 232448);
    result->resident_blocks = sometimes(state, 32);
    result->occupancy_percent = sometimes(state, 100);
    result->argument = sometimes(state, 255);
    result->mismatches = sometimes(state, INT32_MAX);
    result->excess = positive(state);
    result->limiter =
        (enum shmt_limiter)(hostile_random(state) % SHMT_LIMITER_COUNT);
    result->compile_ms = positive(state);
    result->measure_ms = positive(state);
    result->sample_count =
        (int)(hostile_random(state) % (SHMT_RESULT_SAMPLES + 1));
    for (int k = 0; k < result->sample_count; k++)
        result->samples_us[k] = (float)fabs(positive(state));
    shmt_result_summarise(result);
    result->launches.count =
        (int)(hostile_random(state) % (SHMT_RESOURCES_LAUNCHES + 1));
    for (int k = 0; k < result->launches.count; k++) {
        result->launches.of[k].registers =
            (int16_t)sometimes(state, 255);
        result->launches.of[k].shared_static_bytes =
            (int32_t)sometimes(state, 49152);
        result->launches.of[k].max_threads =
            (int16_t)sometimes(state, 1024);
    }
    if (hostile_random(state) % 2 == 0)
        for (int k = 0; k < 64; k++)
            result->image[k] = "0123456789abcdef"[hostile_random(state) % 16];
}

static bool near(double a, double b, double relative)
{
    return (a < 0 && b < 0) || fabs(a - b) <= relative * fabs(b);
}

static void compare(const struct shmt_result *back,
                    const struct shmt_result *result)
{
    const struct shmt_resources *a = &back->resources, *b =
        &result->resources;

    CHECK_INT(back->verdict, result->verdict);
    CHECK_TEXT(back->reason, result->reason);
    CHECK_INT(a->registers, b->registers);
    CHECK_INT(a->spill_store_bytes, b->spill_store_bytes);
    CHECK_INT(a->spill_load_bytes, b->spill_load_bytes);
    CHECK_INT(a->stack_bytes, b->stack_bytes);
    CHECK_INT(a->shared_static_bytes, b->shared_static_bytes);
    CHECK_INT(a->constant_bytes, b->constant_bytes);
    CHECK_INT(a->max_threads, b->max_threads);
    CHECK_INT(back->shared_dynamic_bytes, result->shared_dynamic_bytes);
    CHECK_INT(back->resident_blocks, result->resident_blocks);
    CHECK_INT(back->occupancy_percent, result->occupancy_percent);
    CHECK_INT(back->argument, result->argument);
    CHECK_INT(back->mismatches, result->mismatches);
    CHECK(near(back->excess, result->excess, 6e-6));
    CHECK_INT(back->limiter, result->limiter);
    CHECK(near(back->compile_ms, result->compile_ms, 6e-6));
    CHECK(near(back->measure_ms, result->measure_ms, 6e-6));
    CHECK(near(back->time_us, result->time_us, 6e-6));
    CHECK_INT(back->sample_count, result->sample_count);
    for (int k = 0; k < result->sample_count; k++)
        CHECK(near(back->samples_us[k], result->samples_us[k], 6e-5));
    CHECK_TEXT(back->image, result->image);
    CHECK_INT(back->launches.count, result->launches.count);
    for (int k = 0; k < result->launches.count; k++) {
        const struct shmt_resources_of_launch *one = &back->launches.of[k];
        const struct shmt_resources_of_launch *other =
            &result->launches.of[k];

        CHECK_INT(one->registers, other->registers);
        CHECK_INT(one->shared_static_bytes, other->shared_static_bytes);
        CHECK_INT(one->max_threads, other->max_threads);
    }
}

/* Both forms; and what was read is written the same again. */
static void any_result_survives(void)
{
    uint64_t state = 7;
    struct shmt_text text = {0}, again = {0};

    for (int round = 0; round < 2000; round++) {
        struct shmt_result result, back;

        make_any(&state, &result);
        shmt_text_clear(&text);
        shmt_text_add(&text, "{");
        shmt_result_write(&result, &text);
        shmt_text_add(&text, "}");
        CHECK(strchr(text.data, '\n') == NULL);
        if (read_text(text.data, text.length, &back) != SHMTUNE_OK) {
            printf("# %s in %s\n", err.text, text.data);
            CHECK(false);
            continue;
        }
        compare(&back, &result);
        shmt_text_clear(&again);
        shmt_text_add(&again, "{");
        shmt_result_write(&back, &again);
        shmt_text_add(&again, "}");
        CHECK_TEXT(again.data, text.data);
        shmt_text_clear(&text);
        shmt_result_write_block(&result, 4, &text);
        CHECK_INT(read_text(text.data, text.length, &back), SHMTUNE_OK);
        compare(&back, &result);
    }
    shmt_text_free(&text);
    shmt_text_free(&again);
}

static void wrong_values_are_refused(void)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"{}", "f:1:1: expected the key \"verdict\""},
        {"[]", "f:1:1: verdict: found a sequence, expected a mapping"},
        {"{verdict: fine}", "f:1:11: found \"fine\", expected a verdict"},
        {"{verdict: [ok]}", "f:1:11: found a sequence, expected a verdict"},
        {"{verdict: ok, registers: -1}",
         "f:1:26: found \"-1\", expected an integer from 0 to 65536"},
        {"{verdict: ok, registers: many}", "expected an integer from 0"},
        {"{verdict: ok, occupancy_percent: 101}", "from 0 to 100"},
        {"{verdict: ok, time_us: -1}",
         "f:1:24: found \"-1\", expected a number from 0 to"},
        {"{verdict: ok, time_us: 1e300}", "expected a number from 0 to"},
        {"{verdict: ok, time_us: .nan}", "expected a finite number"},
        {"{verdict: ok, samples_us: 1}",
         "samples_us: found \"1\", expected a sequence"},
        {"{verdict: ok, launches: 3}", "launches"},
        {"{verdict: ok, launches: [3]}", "a launch"},
        {"{verdict: ok, launches: [[3, 4]]}", "found 2 numbers"},
        {"{verdict: ok, launches: [[3, 4, -2]]}", "-2"},
        {"{verdict: ok, launches: [" SIXTEEN_LAUNCHES SIXTEEN_LAUNCHES
         SIXTEEN_LAUNCHES SIXTEEN_LAUNCHES "[]]}", "found 65 launches"},
        {"{verdict: ok, launches: [[32768, 4, 5]]}", "32768"},
        {"{verdict: ok, samples_us: [1, x]}",
         "f:1:31: found \"x\", expected a finite number"},
        {"{verdict: ok, samples_us: [1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,"
         "1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,"
         "1,1,1,1,1,1,1,1,1,1,1]}", "found 65 samples, expected at most 64"},
        {"{verdict: ok, limiter: luck}", "expected a limiter"},
        {"{verdict: ok, reason: \"a\\nb\"}", "printable text"},
        {"{verdict: ok, reason: {}}", "found a mapping"},
        {"{verdict: ok, image: abc}",
         "f:1:22: found \"abc\", expected 64 hexadecimal digits"},
        {"{verdict: ok, image: ../../../../../../../../../../../../../../../.."
         "/../../etc/p}", "expected 64 hexadecimal digits"},
    };
    struct shmt_result result;

    shmt_result_clear(&result);
    result.resident_blocks = 7;
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        CHECK_INT(read_text(cases[k].text, strlen(cases[k].text), &result),
                  SHMTUNE_INVALID_FILE);
        CHECK_HAS(err.text, cases[k].message);
        CHECK_INT(result.resident_blocks, 7);
    }
    CHECK_INT(read_text("{verdict: ok, other: 1}", 23, &result), SHMTUNE_OK);
}

static void keys_are_those_that_are_written(void)
{
    uint64_t state = 8;
    struct shmt_arena *arena = shmt_arena_new();
    struct shmt_text text = {0};
    struct shmt_result result;
    const struct shmt_yaml *root = NULL;

    for (int round = 0; round < 50; round++) {
        make_any(&state, &result);
        shmt_text_clear(&text);
        shmt_result_write_block(&result, 0, &text);
        CHECK_INT(shmt_yaml_parse(arena, "f", text.data, text.length, &root,
                                  &err), SHMTUNE_OK);
        CHECK_INT(shmt_yaml_check_keys(root, shmt_result_keys, &err),
                  SHMTUNE_OK);
        CHECK_INT(shmt_result_read_strict(root, &result, &err), SHMTUNE_OK);
    }
    CHECK_INT(shmt_yaml_parse(arena, "f", "{verdict: ok, other: 1}", 23,
                              &root, &err), SHMTUNE_OK);
    CHECK_INT(shmt_result_read_strict(root, &result, &err),
              SHMTUNE_INVALID_FILE);
    CHECK_HAS(err.text, "f:1:15: found the unknown key \"other\"");
    shmt_text_free(&text);
    shmt_arena_free(arena);
}

static void feed(const char *data, size_t size)
{
    struct shmt_result result;
    const enum shmtune_status status = read_text(data, size, &result);

    CHECK(status == SHMTUNE_OK || status == SHMTUNE_INVALID_FILE);
    if (status == SHMTUNE_OK)
        CHECK(result.sample_count <= SHMT_RESULT_SAMPLES);
}

static void damage_is_refused_or_read(void)
{
    uint64_t state = 9;
    struct shmt_text text = {0};
    struct shmt_result result;

    do
        make_any(&state, &result);
    while (result.sample_count > 10 || result.sample_count < 3);
    shmt_text_add(&text, "{");
    shmt_result_write(&result, &text);
    shmt_text_add(&text, "}");
    hostile_cuts(feed, text.data, text.length);
    hostile_flips(feed, text.data, text.length, 3000);
    hostile_splices(feed, text.data, text.length, 3000);
    shmt_text_free(&text);
}

int main(void)
{
    CHECK_RUN(words_are_their_own);
    CHECK_RUN(a_cleared_result_knows_nothing);
    CHECK_RUN(the_time_is_the_middle_of_the_samples);
    CHECK_RUN(samples_keep_what_an_event_tells);
    CHECK_RUN(reasons_are_one_clean_line);
    CHECK_RUN(any_result_survives);
    CHECK_RUN(wrong_values_are_refused);
    CHECK_RUN(keys_are_those_that_are_written);
    CHECK_RUN(damage_is_refused_or_read);
    return CHECK_END();
}
