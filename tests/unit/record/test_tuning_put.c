/* SPDX-License-Identifier: MIT */
/* tuning: what is put into one, and what a kernel takes out of it. */
#include "tests/support/check.h"
#include "tests/support/tuning_fixture.h"

static void put_replaces_keeps_and_sorts(void)
{
    struct shmt_tuning *tuning = parse(good);
    struct shmt_setting size[2] = {{"rows", {SHMT_VALUE_INT, {4096}}},
                                   {"cols", {SHMT_VALUE_INT, {333}}}};
    char word[] = "static", name[] = "MEMORY";
    struct shmt_setting winner[1] =
        {{name, {.type = SHMT_VALUE_WORD, .w = word}}};
    const struct shmt_setting *ties[1] = {winner};
    struct shmt_tuned one = {.size_count = 2, .size = size,
                             .setting_count = 1, .settings = winner,
                             .tie_count = 1, .ties = ties,
                             .default_us = -1, .floor_us = -1};
    struct shmt_text text = {0};

    shmt_result_clear(&one.result);
    CHECK_INT(shmt_tuning_put(tuning, &one, &err), SHMTUNE_OK);
    CHECK_INT(tuning->tuned_count, 2);
    word[0] = name[0] = 'x';   /* the tuning has its own */
    CHECK_TEXT(tuning->tuned[1]->settings[0].name, "MEMORY");
    CHECK_TEXT(tuning->tuned[1]->settings[0].value.w, "static");
    CHECK_TEXT(tuning->tuned[1]->ties[0][0].value.w, "static");
    CHECK_INT(tuning->tuned[0]->tried, 412);
    for (int64_t rows = 5000; rows > 0; rows -= 37) {
        size[0].value.i = rows;
        CHECK_INT(shmt_tuning_put(tuning, &one, &err), SHMTUNE_OK);
    }
    CHECK_INT(tuning->tuned_count, 2 + 136);
    for (size_t k = 1; k < tuning->tuned_count; k++)
        CHECK(tuning->tuned[k - 1]->size[0].value.i
              < tuning->tuned[k]->size[0].value.i);
    shmt_tuning_format(tuning, &text);
    shmt_tuning_free(tuning);
    tuning = parse(text.data);
    CHECK_TEXT(err.text, "");
    CHECK(tuning != NULL && tuning->tuned_count == 138);
    shmt_tuning_free(tuning);
    shmt_text_free(&text);
}

static void put_refuses_what_could_not_be_read(void)
{
    struct shmt_tuning *tuning = parse(good);
    struct shmt_tuned one = *tuning->tuned[0];
    const struct shmt_setting other[2] = {{"n", {SHMT_VALUE_INT, {1}}},
                                          {"m", {SHMT_VALUE_INT, {1}}}};
    const struct shmt_setting *ties[100];

    one.result.verdict = SHMT_VERDICT_SLOW;
    CHECK_INT(shmt_tuning_put(tuning, &one, &err), SHMTUNE_INVALID_ARGUMENT);
    one = *tuning->tuned[0];
    one.size = other;
    CHECK_INT(shmt_tuning_put(tuning, &one, &err), SHMTUNE_INVALID_ARGUMENT);
    CHECK_HAS(err.text, "other dimensions");
    one = *tuning->tuned[0];
    one.size_count = 1;
    CHECK_INT(shmt_tuning_put(tuning, &one, &err), SHMTUNE_INVALID_ARGUMENT);
    CHECK_INT(tuning->tuned_count, 2);
    one = *tuning->tuned[0];
    for (int k = 0; k < 100; k++)
        ties[k] = one.settings;
    one.ties = ties;
    one.tie_count = 100;
    CHECK_INT(shmt_tuning_put(tuning, &one, &err), SHMTUNE_OK);
    CHECK_INT(tuning->tuned[0]->tie_count, SHMT_TUNING_TIES);
    shmt_tuning_free(tuning);
}

static void a_new_tuning_can_be_written(void)
{
    struct shmt_tuning *tuning = NULL, *back = NULL;
    struct shmt_text text = {0};

    CHECK_INT(shmt_tuning_new(&tuning, &err), SHMTUNE_OK);
    tuning->kernel = "reduce";
    memset(tuning->digest, 'a', 64);
    strcpy(tuning->device.name, "generic");
    tuning->device.compute_major = 9;
    shmt_tuning_format(tuning, &text);
    CHECK_HAS(text.data, "tuned: []\n");
    back = parse(text.data);
    CHECK_TEXT(err.text, "");
    CHECK(back != NULL && back->tuned_count == 0);
    CHECK_TEXT(back->protocol, "");
    shmt_tuning_free(tuning);
    shmt_tuning_free(back);
    shmt_text_free(&text);
}

/* A kernel as far as tunings look at it. */
static const struct shmt_value numbers[] = {
    {SHMT_VALUE_INT, {8}}, {SHMT_VALUE_INT, {16}}, {SHMT_VALUE_INT, {32}}};
static const struct shmt_value words[] =
    {{.type = SHMT_VALUE_WORD, .w = "static"},
                                          {.type = SHMT_VALUE_WORD, .w = "no"}};
static const struct shmt_parameter parameters[] = {
    {.name = "BLOCK_X", .type = SHMT_VALUE_INT, .count = 3, .values = numbers},
    {.name = "MEMORY", .type = SHMT_VALUE_WORD, .count = 2, .values = words},
};
static const struct shmt_dimension dimensions[] = {
    {.name = "rows", .low = 1, .high = 4096},
    {.name = "cols", .low = 1, .high = 1 << 20},
};
static const struct shmt_kernel kernel = {
    .name = "transpose",
    .dimension_count = 2, .dimensions = dimensions,
    .parameter_count = 2, .parameters = parameters,
};

static enum shmtune_status choose(const char *first, struct shmt_value value,
                                  const char *second, size_t count)
{
    const struct shmt_setting settings[3] = {
        {first, value}, {second, words[1]}, {"PAD", numbers[0]}};
    shmt_config config[2] = {99, 99};
    const enum shmtune_status status =
        shmt_tuning_config(&kernel, settings, count, config, &err);

    if (status == SHMTUNE_OK) {
        CHECK_INT(config[0], 2);
        CHECK_INT(config[1], 1);
    }
    return status;
}

static void settings_become_a_choice(void)
{
    const struct shmt_value real = {SHMT_VALUE_REAL, {.r = 32}};
    const struct shmt_value odd = {SHMT_VALUE_INT, {31}};
    const struct shmt_value word = {.type = SHMT_VALUE_WORD, .w = "32"};

    CHECK_INT(choose("BLOCK_X", numbers[2], "MEMORY", 2), SHMTUNE_OK);
    CHECK_INT(choose("BLOCK_X", real, "MEMORY", 2), SHMTUNE_OK);
    CHECK_INT(choose("BLOCK_X", odd, "MEMORY", 2), SHMTUNE_INVALID_FILE);
    CHECK_TEXT(err.text, "found BLOCK_X = 31, expected one of 8, 16, 32");
    CHECK_INT(choose("BLOCK_X", word, "MEMORY", 2), SHMTUNE_INVALID_FILE);
    CHECK_INT(choose("BLOCK_X", numbers[2], "MEMORY", 1),
              SHMTUNE_INVALID_FILE);
    CHECK_TEXT(err.text, "MEMORY is missing");
    CHECK_INT(choose("BLOCK_X", numbers[2], "MEMORY", 3),
              SHMTUNE_INVALID_FILE);
    CHECK_TEXT(err.text, "found PAD, which is not a parameter of transpose");
    CHECK_INT(choose("MEMORY", words[0], "MEMORY", 2), SHMTUNE_INVALID_FILE);
    CHECK_INT(choose("BLOCK_X", numbers[2], "BLOCK_X", 2),
              SHMTUNE_INVALID_FILE);
    CHECK_TEXT(err.text, "found BLOCK_X twice, expected it once");
}

/* Of a winner and three ties, one of which is none of the kernel's, with the
 * settings in the kernel's order or not. */
static void check_ties(bool ordered)
{
    const struct shmt_value odd = {SHMT_VALUE_INT, {31}};
    const struct shmt_setting names[2] = {{"BLOCK_X", numbers[2]},
                                          {"MEMORY", words[0]}};
    const struct shmt_value said[4][2] = {{numbers[2], words[0]},
                                          {numbers[0], words[0]},
                                          {odd, words[0]},
                                          {numbers[2], words[1]}};
    struct shmt_setting settings[4][2];
    const struct shmt_setting *const ties[4] = {settings[0], settings[1],
                                                settings[2], settings[3]};
    const struct shmt_tuned tuned = {.setting_count = 2,
                                     .settings = settings[0],
                                     .tie_count = 4, .ties = ties};
    const int64_t problem[2] = {1, 1};
    shmt_config winner[2], found[SHMT_TUNING_TRIED][2];

    for (int k = 0; k < 4; k++)
        for (int p = 0; p < 2; p++)
            settings[k][ordered ? p : 1 - p] =
                (struct shmt_setting){names[p].name, said[k][p]};
    CHECK_INT(shmt_tuning_config(&kernel, settings[0], 2, winner, &err),
              SHMTUNE_OK);
    CHECK_INT(shmt_tuning_ties(&kernel, &tuned, problem, winner, found[0]),
              2);
    CHECK_INT(found[0][0], 0);
    CHECK_INT(found[0][1], 0);
    CHECK_INT(found[1][0], 2);
    CHECK_INT(found[1][1], 1);
}

static void ties_become_choices(void)
{
    check_ties(true);
    check_ties(false);
}

static void sizes_become_a_problem(void)
{
    struct shmt_tuning *tuning = parse(good);
    struct shmt_tuned one = *tuning->tuned[1];
    const struct shmt_setting swapped[3] = {one.size[1], one.size[0],
                                            {"depth", numbers[0]}};
    int64_t problem[2] = {-1, -1};

    CHECK_INT(shmt_tuning_problem(&kernel, &one, problem, &err), SHMTUNE_OK);
    CHECK_INT(problem[0], 4096);
    CHECK_INT(problem[1], 333);
    one.size = swapped;
    CHECK_INT(shmt_tuning_problem(&kernel, &one, problem, &err), SHMTUNE_OK);
    CHECK_INT(problem[0], 4096);
    one.size_count = 3;
    CHECK_INT(shmt_tuning_problem(&kernel, &one, problem, &err),
              SHMTUNE_INVALID_FILE);
    one.size_count = 1;
    CHECK_INT(shmt_tuning_problem(&kernel, &one, problem, &err),
              SHMTUNE_INVALID_FILE);
    CHECK_TEXT(err.text, "rows is missing");
    shmt_tuning_free(tuning);
    tuning = parse(changed("rows: 4096", "rows: 4097"));
    CHECK_INT(shmt_tuning_problem(&kernel, tuning->tuned[1], problem, &err),
              SHMTUNE_INVALID_FILE);
    CHECK_TEXT(err.text, "found rows = 4097, expected 1 to 4096");
    shmt_tuning_free(tuning);
}

int main(void)
{
    tuning_begin();
    CHECK_RUN(put_replaces_keeps_and_sorts);
    CHECK_RUN(put_refuses_what_could_not_be_read);
    CHECK_RUN(a_new_tuning_can_be_written);
    CHECK_RUN(settings_become_a_choice);
    CHECK_RUN(ties_become_choices);
    CHECK_RUN(sizes_become_a_problem);
    tuning_end();
    return CHECK_END();
}
