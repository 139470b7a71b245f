/* SPDX-License-Identifier: MIT */
/* format: this version and those before are read, a newer one says what to
 * do, anything else what was expected. */
#include "tests/support/check.h"

#include "tests/support/yaml_fixture.h"

/* What is said of a text as a tuning; "" when it is one. */
static const char *answer(const char *text)
{
    struct shmt_arena *arena = shmt_arena_new();
    const struct shmt_yaml *root = parse(arena, text);

    CHECK(root != NULL);
    err.text[0] = '\0';
    CHECK_INT(shmt_yaml_format(root, SHMT_YAML_TUNING, &err),
              err.text[0] == '\0' ? SHMTUNE_OK : SHMTUNE_INVALID_FILE);
    shmt_arena_free(arena);
    return err.text;
}

static void this_version_is_read(void)
{
    CHECK_TEXT(answer("format: tuning/1"), "");
    CHECK_TEXT(answer("format: \"tuning/1\"\nkey: of any kind"), "");
}

static void a_newer_version_says_what_to_do(void)
{
    CHECK_TEXT(answer("format: tuning/4"),
               "f.yaml:1:9: found the format tuning/4, newer than tuning/3, "
               "the newest that shmtune " SHMTUNE_VERSION " reads: update "
               "shmtune");
    CHECK_HAS(answer("# comment\nformat: tuning/123456\nx: 1"),
              "f.yaml:2:9: found the format tuning/123456, newer than ");
}

static void anything_else_is_no_version(void)
{
    static const char *const cases[] = {
        "kernel/1", "tuning", "tuning/", "tuning/0", "tuning/01", "tuning/-1",
        "tuning/1.0", "tuning/1a", "Tuning/1", "tuning/1/2", "tunings/1",
        "tuning/99999999999999999999", "[tuning/1]", "{tuning: 1}", "1", ""
    };

    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        struct shmt_text text = {0};

        shmt_text_addf(&text, "format: %s\nx: 1\n", cases[k]);
        CHECK_HAS(answer(text.data), ", expected tuning/3");
        CHECK_HAS(answer(text.data), "f.yaml:1:");
        shmt_text_free(&text);
    }
}

static void it_is_the_first_key(void)
{
    CHECK_TEXT(answer("kernel: x\nformat: tuning/1"),
               "f.yaml:1:1: expected \"format: tuning/3\" as the first key");
    CHECK_HAS(answer("{}"), "expected \"format: tuning/3\"");
    CHECK_HAS(answer("- format"), "expected a mapping");
    CHECK_HAS(answer("format"), "expected a mapping");
}

int main(void)
{
    CHECK_RUN(this_version_is_read);
    CHECK_RUN(a_newer_version_says_what_to_do);
    CHECK_RUN(anything_else_is_no_version);
    CHECK_RUN(it_is_the_first_key);
    return CHECK_END();
}
