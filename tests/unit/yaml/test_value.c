/* SPDX-License-Identifier: MIT */
/* yaml: numbers, words and strings, read strictly and written to be read. */
#include "tests/support/check.h"

#include <locale.h>

#include "tests/support/hostile.h"
#include "tests/support/yaml_fixture.h"

static void numbers_are_strict(void)
{
    static const struct {
        const char *text;
        bool is_int, is_real;
        int64_t i;
        double r;
    } cases[] = {
        {"0", true, true, 0, 0},
        {"-1", true, true, -1, -1},
        {"9223372036854775807", true, true, INT64_MAX, 9223372036854775807.},
        {"-9223372036854775808", true, true, INT64_MIN,
         -9223372036854775808.},
        {"9223372036854775808", false, true, 0, 9223372036854775808.},
        {"0x7f", true, false, 127, 0},
        {"-0xA", true, false, -10, 0},
        {"999999999999999999", true, true, 999999999999999999, 1e18},
        {"-999999999999999999", true, true, -999999999999999999, -1e18},
        {"1000000000000000001", true, true, 1000000000000000001, 1e18},
        {"-01", false, false, 0, 0},
        {"0x", false, false, 0, 0},
        {"0X1", false, false, 0, 0},
        {"0x1p3", false, false, 0, 0},
        {"010", false, false, 0, 0},
        {"00", false, false, 0, 0},
        {"+1", false, false, 0, 0},
        {"1_000", false, false, 0, 0},
        {"1 2", false, false, 0, 0},
        {"--1", false, false, 0, 0},
        {"-", false, false, 0, 0},
        {"1.5", false, true, 0, 1.5},
        {"-1.5e-3", false, true, 0, -1.5e-3},
        {"1e5", false, true, 0, 1e5},
        {"1E+5", false, true, 0, 1e5},
        {"1.", false, false, 0, 0},
        {".5", false, false, 0, 0},
        {"1e", false, false, 0, 0},
        {"1e999", false, false, 0, 0},
        {"-1e999", false, false, 0, 0},
        {"1e-999", false, true, 0, 0},
        {".nan", false, false, 0, 0},
        {"nan", false, false, 0, 0},
        {"inf", false, false, 0, 0},
        {".inf", false, false, 0, 0},
        {"infinity", false, false, 0, 0},
        {"1,5", false, false, 0, 0},
        {"\"1\"", false, false, 0, 0},
        {"'1.5'", false, false, 0, 0},
        {"1.00000000000000000000000000000000000000000000000000000000000001",
         false, true, 0, 1},
        {"1.0000000000000000000000000000000000000000000000000000000000000001",
         false, false, 0, 0},   /* 65 characters and more are no number */
        {"{}", false, false, 0, 0},
        {"[1]", false, false, 0, 0},
    };
    struct shmt_arena *arena = shmt_arena_new();

    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        const struct shmt_yaml *node = parse(arena, cases[k].text);
        int64_t i = 12345;
        double r = 12345;
        const bool is_int =
            shmt_yaml_int(node, INT64_MIN, INT64_MAX, &i, &err) == SHMTUNE_OK;
        const bool is_real = shmt_yaml_real(node, &r, &err) == SHMTUNE_OK;

        if (is_int != cases[k].is_int || is_real != cases[k].is_real)
            printf("# of %s\n", cases[k].text);
        CHECK_INT(is_int, cases[k].is_int);
        CHECK_INT(is_real, cases[k].is_real);
        CHECK_INT(i, is_int ? cases[k].i : 12345);
        CHECK(r == (is_real ? cases[k].r : 12345));
    }
    shmt_arena_free(arena);
}

static void messages_name_both_sides(void)
{
    struct shmt_arena *arena = shmt_arena_new();
    const struct shmt_yaml *root = parse(
        arena, "n: foo\nlist: [1]\nempty:\nlong: "
               "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
               "aaaaaaaa\nesc: \"\\e[31m\\n\"\nregisterz: 1\n");
    static const char *const allowed[] = {"n", "list", "registers", NULL};
    const struct shmt_yaml *node = NULL;
    int64_t value = 0;
    uint64_t count = 0;
    bool truth = false;
    const char *word = NULL;

    shmt_yaml_int(shmt_yaml_get(root, "n"), 1, 64, &value, &err);
    CHECK_TEXT(err.text, "f.yaml:1:4: found \"foo\", expected an integer from "
                         "1 to 64");
    shmt_yaml_int(shmt_yaml_get(root, "list"), 0, INT64_MAX, &value, &err);
    CHECK_TEXT(err.text, "f.yaml:2:7: found a sequence, expected an integer "
                         "from 0 up");
    shmt_yaml_count(shmt_yaml_get(root, "n"), &count, &err);
    CHECK_HAS(err.text, "expected an integer from 0 to 2^64 - 1");
    shmt_yaml_bool(shmt_yaml_get(root, "empty"), &truth, &err);
    CHECK_TEXT(err.text, "f.yaml:3:7: found nothing, expected true or false");
    shmt_yaml_word(shmt_yaml_get(root, "long"), &word, &err);
    CHECK_HAS(err.text, "aaaa...\", expected a word");
    shmt_yaml_word(shmt_yaml_get(root, "esc"), &word, &err);
    CHECK_HAS(err.text, "f.yaml:5:6: found \"?[31m?\", expected a word");
    shmt_yaml_text(shmt_yaml_get(root, "esc"), 100, &word, &err);
    CHECK_HAS(err.text, "expected 1 to 100 bytes of printable text");
    shmt_yaml_expect(root, SHMT_YAML_SEQUENCE, "sizes", &err);
    CHECK_TEXT(err.text, "f.yaml:1:1: sizes: found a mapping, expected a "
                         "sequence");
    CHECK_INT(shmt_yaml_need(root, "kernel", &node, &err),
              SHMTUNE_INVALID_FILE);
    CHECK_TEXT(err.text, "f.yaml:1:1: expected the key \"kernel\" in this "
                         "mapping, it is missing");
    CHECK_INT(shmt_yaml_check_keys(root, allowed, &err), SHMTUNE_INVALID_FILE);
    CHECK_TEXT(err.text, "f.yaml:3:1: found the unknown key \"empty\", "
                         "expected one of n, list, registers");
    root = parse(arena, "n: 1\nregisterz: 1\n");
    CHECK_INT(shmt_yaml_check_keys(root, allowed, &err), SHMTUNE_INVALID_FILE);
    CHECK_TEXT(err.text, "f.yaml:2:1: found the unknown key \"registerz\", "
                         "did you mean \"registers\"?");
    CHECK_INT(shmt_yaml_check_keys(root, allowed, NULL), SHMTUNE_INVALID_FILE);
    CHECK(word == NULL && value == 0 && node == NULL);
    shmt_arena_free(arena);
}

static void keys_are_taken_in_any_order(void)
{
    static const char *const allowed[] = {"a", "ab", "c", NULL};
    struct shmt_arena *arena = shmt_arena_new();
    const struct shmt_yaml *values[3];
    const struct shmt_yaml *root = parse(arena, "c: 3\nab: 2\n");

    CHECK_INT(shmt_yaml_get_keys(root, allowed, values, &err), SHMTUNE_OK);
    CHECK(values[0] == NULL && values[1] == root->items[1] &&
          values[2] == root->items[0]);
    root = parse(arena, "{a: 1, ab: 2, c: 3}");
    CHECK_INT(shmt_yaml_get_keys(root, allowed, values, &err), SHMTUNE_OK);
    for (int k = 0; k < 3; k++)
        CHECK(values[k] == root->items[k]);
    root = parse(arena, "{ab: 2, x: 0, a: 1, b: 0}");
    shmt_yaml_get_known(root, allowed, values);
    CHECK(values[0] == root->items[2] && values[1] == root->items[0] &&
          values[2] == NULL);
    CHECK_INT(shmt_yaml_get_keys(root, allowed, values, &err),
              SHMTUNE_INVALID_FILE);
    CHECK_HAS(err.text, "f.yaml:1:9: found the unknown key \"x\"");
    shmt_yaml_get_known(parse(arena, "[1, 2]"), allowed, values);
    CHECK(values[0] == NULL && values[1] == NULL && values[2] == NULL);
    shmt_arena_free(arena);
}

static void counts_reach_to_64_bits(void)
{
    struct shmt_arena *arena = shmt_arena_new();
    uint64_t count = 0;

    CHECK_INT(shmt_yaml_count(parse(arena, "-0"), &count, &err),
              SHMTUNE_INVALID_FILE);
    CHECK_INT(shmt_yaml_count(parse(arena, "00"), &count, &err),
              SHMTUNE_INVALID_FILE);
    CHECK_INT(shmt_yaml_count(parse(arena, "1000000000000000001"), &count,
                              &err), SHMTUNE_OK);
    CHECK(count == 1000000000000000001);

    CHECK_INT(shmt_yaml_count(parse(arena, "18446744073709551615"), &count,
                              &err), SHMTUNE_OK);
    CHECK(count == UINT64_MAX);
    CHECK_INT(shmt_yaml_count(parse(arena, "18446744073709551616"), &count,
                              &err), SHMTUNE_INVALID_FILE);
    CHECK_INT(shmt_yaml_count(parse(arena, "-1"), &count, &err),
              SHMTUNE_INVALID_FILE);
    CHECK_INT(shmt_yaml_count(parse(arena, "0xffff"), &count, &err),
              SHMTUNE_OK);
    CHECK_INT(count, 65535);
    shmt_arena_free(arena);
}

/* Put a string in a flow mapping in a block sequence, read it back. */
static bool string_survives(const char *string)
{
    struct shmt_arena *arena = shmt_arena_new();
    struct shmt_text text = {0};
    const struct shmt_yaml *root;
    bool same = false;

    shmt_text_add(&text, "- {key: ");
    shmt_yaml_add_string(&text, string);
    shmt_text_add(&text, ", ");
    shmt_yaml_add_string(&text, string);
    shmt_text_add(&text, ": 1}\n- ");
    shmt_yaml_add_string(&text, string);
    shmt_text_add(&text, "\n");
    root = parse(arena, text.data);
    if (root == NULL)
        printf("# %s of %s\n", err.text, text.data);
    else
        same = strcmp(root->items[0]->items[0]->text, string) == 0
               && strcmp(root->items[0]->keys[1]->text, string) == 0
               && strcmp(root->items[1]->text, string) == 0;
    shmt_text_free(&text);
    shmt_arena_free(arena);
    return same;
}

static void strings_survive(void)
{
    static const char *const pieces[] = {
        "a", "B", "0", "-", ".", " ", ":", ": ", "#", " #", "\n", "\t", "\"",
        "'", "\\", "{", "}", "[", "]", ",", "&", "*", "!", "%", "@", "`",
        "|", ">", "?", "\x01", "\x7f", "\x1b", "\xc2\x85", "\xc2\xa0",
        "\xc3\xa9", "\xe2\x80\xa8", "\xef\xbb\xbf", "\xf0\x9f\x98\x80",
        "\r", "null", "true", "1e5", "~", "---", "...", "<<"
    };
    enum { PIECES = sizeof pieces / sizeof pieces[0] };
    uint64_t state = 3;

    for (int round = 0; round < 3000; round++) {
        char string[64] = "";

        for (uint64_t k = hostile_random(&state) % 6 + 1; k > 0; k--)
            strcat(string, pieces[hostile_random(&state) % PIECES]);
        /* A key may not be "<<" unquoted; the writer quotes it. */
        CHECK(string_survives(string));
    }
    CHECK(string_survives("NVIDIA H100 80GB HBM3"));
}

static void strings_are_plain_where_others_agree(void)
{
    static const struct {
        const char *string, *written;
    } cases[] = {
        {"static", "static"},
        {"n", "n"},
        {"sm_90", "sm_90"},
        {"NVIDIA H100 80GB HBM3", "NVIDIA H100 80GB HBM3"},
        {"no", "\"no\""},
        {"Off", "\"Off\""},
        {"null", "\"null\""},
        {"", "\"\""},
        {"90", "\"90\""},
        {"-x", "\"-x\""},
        {"a: b", "\"a: b\""},
        {"a ", "\"a \""},
        {"a #b", "\"a #b\""},
        {"2026-11-21", "\"2026-11-21\""},
        {"\xff", "\"\\uFFFD\""},
        {"a\xff\xfe\xc3\xa9z", "\"a\\uFFFD\\uFFFD\xc3\xa9z\""},
        {"\x1b[0m", "\"\\u001B[0m\""},
    };

    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        struct shmt_text text = {0};

        shmt_yaml_add_string(&text, cases[k].string);
        CHECK_TEXT(text.data, cases[k].written);
        shmt_text_free(&text);
    }
}

/* Rounded as strtod rounds, long or short. */
static void reals_are_read_exactly(void)
{
    struct shmt_arena *arena = shmt_arena_new();
    uint64_t state = 7;

    for (int k = 0; k < 20000; k++) {
        char text[64];
        double value = 0;

        snprintf(text, sizeof text, "%s%.*f", k % 3 == 0 ? "-" : "",
                 k % 18, (double)(hostile_random(&state) >> (k % 60)) /
                 (double)((hostile_random(&state) >> (k % 50 + 8)) + 1));
        if (strlen(text) > 60)
            continue;
        CHECK_INT(shmt_yaml_real(parse(arena, text), &value, &err),
                  SHMTUNE_OK);
        if (memcmp(&value, &(double){strtod(text, NULL)}, sizeof value) != 0)
            CHECK_TEXT(text, "read as strtod does");
    }
    shmt_arena_free(arena);
}

static void reals_survive(void)
{
    struct shmt_arena *arena = shmt_arena_new();
    struct shmt_text text = {0};
    uint64_t state = 4;

    shmt_yaml_add_real(&text, 12.3456789, 5);
    CHECK_TEXT(text.data, "12.346");
    shmt_text_clear(&text);
    shmt_yaml_add_real(&text, 1500000, 3);
    CHECK_TEXT(text.data, "1.5e+06");
    shmt_text_clear(&text);
    shmt_yaml_add_real(&text, -0.0, 3);
    CHECK_TEXT(text.data, "0");
    for (int round = 0; round < 3000; round++) {
        const uint64_t bits = hostile_random(&state);
        struct shmt_value value = {.type = SHMT_VALUE_REAL}, back = {0};

        memcpy(&value.r, &bits, sizeof bits);
        if (round < 100)
            value.r = round;
        if (!(value.r - value.r == 0))
            continue;
        shmt_text_clear(&text);
        shmt_yaml_add_value(&text, value);
        CHECK_INT(shmt_yaml_value(parse(arena, text.data), &back, &err),
                  SHMTUNE_OK);
        CHECK_INT(back.type, SHMT_VALUE_REAL);
        CHECK(back.r == value.r);
    }
    shmt_text_free(&text);
    shmt_arena_free(arena);
}

static void values_keep_their_type(void)
{
    struct shmt_arena *arena = shmt_arena_new();
    struct shmt_value value = {0};

    CHECK_INT(shmt_yaml_value(parse(arena, "-3"), &value, &err), SHMTUNE_OK);
    CHECK(value.type == SHMT_VALUE_INT && value.i == -3);
    CHECK_INT(shmt_yaml_value(parse(arena, "2.0"), &value, &err), SHMTUNE_OK);
    CHECK(value.type == SHMT_VALUE_REAL && value.r == 2);
    CHECK_INT(shmt_yaml_value(parse(arena, "static"), &value, &err),
              SHMTUNE_OK);
    CHECK(value.type == SHMT_VALUE_WORD);
    CHECK_INT(shmt_yaml_value(parse(arena, "\"no\""), &value, &err),
              SHMTUNE_OK);
    CHECK(value.type == SHMT_VALUE_WORD);
    CHECK_INT(shmt_yaml_value(parse(arena, "99999999999999999999"), &value,
                              &err), SHMTUNE_INVALID_FILE);
    CHECK_INT(shmt_yaml_value(parse(arena, "\"3\""), &value, &err),
              SHMTUNE_OK);
    CHECK(value.type == SHMT_VALUE_WORD);
    CHECK_INT(shmt_yaml_value(parse(arena, "\"a (b)\""), &value, &err),
              SHMTUNE_OK);
    CHECK(value.type == SHMT_VALUE_WORD);
    CHECK_INT(shmt_yaml_value(parse(arena, "\"a\\nb\""), &value, &err),
              SHMTUNE_INVALID_FILE);
    CHECK_INT(shmt_yaml_value(parse(arena, "-D x"), &value, &err),
              SHMTUNE_INVALID_FILE);
    shmt_arena_free(arena);
}

static void the_locale_does_not_matter(void)
{
    struct shmt_arena *arena = shmt_arena_new();
    struct shmt_text text = {0};
    double value = 0;

    shmt_yaml_add_real(&text, 1.25, 5);
    shmt_yaml_add_value(&text,
                        (struct shmt_value){SHMT_VALUE_REAL, {.r = 2.5}});
    CHECK_TEXT(text.data, "1.252.5");
    CHECK_INT(shmt_yaml_real(parse(arena, "1.25"), &value, &err), SHMTUNE_OK);
    CHECK(value == 1.25);
    shmt_text_free(&text);
    shmt_arena_free(arena);
}

int main(void)
{
    CHECK_RUN(numbers_are_strict);
    CHECK_RUN(messages_name_both_sides);
    CHECK_RUN(keys_are_taken_in_any_order);
    CHECK_RUN(counts_reach_to_64_bits);
    CHECK_RUN(strings_survive);
    CHECK_RUN(strings_are_plain_where_others_agree);
    CHECK_RUN(reals_are_read_exactly);
    CHECK_RUN(reals_survive);
    CHECK_RUN(values_keep_their_type);
    if (setlocale(LC_ALL, "de_DE.UTF-8") != NULL
        || setlocale(LC_ALL, "fr_FR.UTF-8") != NULL) {
        CHECK_RUN(the_locale_does_not_matter);
        setlocale(LC_ALL, "C");
    } else {
        CHECK_SKIP(the_locale_does_not_matter,
                   "no locale with a decimal comma is installed");
    }
    return CHECK_END();
}
