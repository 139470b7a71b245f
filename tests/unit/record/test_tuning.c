/* SPDX-License-Identifier: MIT */
/* tuning: tuning/2 read, written, refused, and damaged. */
#include <unistd.h>

#include "base/path.h"
#include "tests/support/check.h"
#include "tests/support/hostile.h"
#include "tests/support/tuning_fixture.h"

static void every_field_is_read(void)
{
    struct shmt_tuning *tuning = parse(good);
    const struct shmt_tuned *first, *second;

    CHECK_TEXT(err.text, "");
    if (tuning == NULL)
        return;
    CHECK_TEXT(tuning->kernel, "transpose");
    CHECK_HAS(tuning->digest, "9f86d081");
    CHECK_TEXT(tuning->created, "2026-11-21T10:00:00Z");
    CHECK_INT(tuning->nvrtc_version, 13000);
    CHECK_TEXT(tuning->protocol, "cold-l2");
    CHECK_TEXT(tuning->device.name, "NVIDIA H100 80GB HBM3");
    CHECK_INT(tuning->device.shared_per_block_optin, 232448);
    CHECK_INT(tuning->tuned_count, 2);
    first = tuning->tuned[0];
    second = tuning->tuned[1];
    CHECK_INT(first->size_count, 2);
    CHECK_TEXT(first->size[1].name, "cols");
    CHECK_INT(first->size[1].value.i, 1024);
    CHECK_INT(first->setting_count, 5);
    CHECK_TEXT(first->settings[3].value.w, "static");
    CHECK_INT(first->settings[4].value.type, SHMT_VALUE_REAL);
    CHECK_INT(first->result.resources.registers, 32);
    CHECK_INT(first->result.sample_count, 3);
    CHECK(first->result.time_us == 7.712);
    CHECK(first->spread == 0.0041 && first->default_us == 8.9);
    CHECK(first->floor_us == 2.5 && first->elapsed_s == 12.5);
    CHECK_TEXT(first->strategy, "genetic:population=20");
    CHECK(first->seed == UINT64_MAX);
    CHECK_INT(first->data_seed, 5);
    CHECK_INT(first->space_count, 1344);
    CHECK_INT(first->tried, 412);
    CHECK_INT(first->verdicts[SHMT_VERDICT_CRASH], 4);
    CHECK_INT(first->tie_count, 2);
    CHECK_TEXT(first->ties[1][3].value.w, "dynamic");
    CHECK_TEXT(second->settings[3].value.w, "no");
    CHECK_TEXT(second->strategy, "");
    CHECK(second->default_us < 0 && second->spread < 0);
    CHECK_INT(second->tie_count, 0);
    CHECK_INT(second->result.resources.registers, -1);
    shmt_tuning_free(tuning);
}

/* As files of before, whose inputs had the seed of the search. */
static void without_a_data_seed_it_is_the_searchs(void)
{
    struct shmt_tuning *tuning = parse(changed("  data_seed: 5\n", ""));
    struct shmt_text text = {0};

    CHECK(tuning != NULL);
    if (tuning == NULL)
        return;
    CHECK(tuning->tuned[0]->data_seed == UINT64_MAX);
    shmt_tuning_format(tuning, &text);
    CHECK(strstr(shmt_text_string(&text), "data_seed") == NULL);
    shmt_text_free(&text);
    shmt_tuning_free(tuning);
}

/* What is written is `good` between the two marks of a whole file. */
static void check_written(struct shmt_text *text)
{
    static const char begin[] = "---\n", end[] = "...\n";
    const size_t marks = strlen(begin) + strlen(end);

    CHECK(text->length > marks);
    if (text->length <= marks)
        return;
    CHECK(memcmp(text->data, begin, strlen(begin)) == 0);
    CHECK_TEXT(text->data + text->length - strlen(end), end);
    text->data[text->length - strlen(end)] = '\0';
    CHECK_TEXT(text->data + strlen(begin), good);
}

static void what_is_read_is_written_the_same(void)
{
    struct shmt_tuning *tuning = parse(good);
    struct shmt_text text = {0};

    shmt_tuning_format(tuning, &text);
    check_written(&text);
    shmt_text_free(&text);
    shmt_tuning_free(tuning);
}

/* A tie with all its parameters is one too. */
static void ties_may_say_everything(void)
{
    struct shmt_tuning *tuning = parse(changed(
        "  - {}\n  - {BLOCK_X: 64, BLOCK_Y: 4, MEMORY: dynamic}",
        "  - {BLOCK_X: 32, BLOCK_Y: 8, PAD: 1, MEMORY: static, SCALE: 0.5}\n"
        "  - {SCALE: 0.5, BLOCK_Y: 4, BLOCK_X: 64, PAD: 1, MEMORY: dynamic}"));
    struct shmt_text text = {0};

    CHECK_TEXT(err.text, "");
    shmt_tuning_format(tuning, &text);
    check_written(&text);
    shmt_text_free(&text);
    shmt_tuning_free(tuning);
}

/* From a file with these samples instead of those it has. */
static enum shmtune_status read_into(struct shmt_arena *arena,
                                     const char *samples,
                                     struct shmt_tuning **out)
{
    char path[] = "test_tuning.XXXXXX";
    const char *text = changed("samples_us: [", samples);
    const int fd = mkstemp(path);
    enum shmtune_status status;

    CHECK(fd >= 0);
    close(fd);
    CHECK_INT(shmt_path_write(path, text, strlen(text), &err), SHMTUNE_OK);
    status = shmt_tuning_read_into(arena, path, out, &err);
    unlink(path);
    return status;
}

static void a_tuning_lives_in_its_readers_arena(void)
{
    struct shmt_tuning *tuning = NULL;
    struct shmt_arena *arena = shmt_arena_new();
    struct shmt_text text = {0};

    CHECK_INT(read_into(arena, "samples_us: [", &tuning), SHMTUNE_OK);
    shmt_tuning_format(tuning, &text);
    check_written(&text);
    shmt_text_free(&text);
    shmt_arena_clear(arena);
    tuning = NULL;
    CHECK_INT(read_into(arena, "samples_us: [-1, ", &tuning),
              SHMTUNE_INVALID_FILE);
    CHECK_HAS(err.text, "found \"-1\", expected a number from 0 to");
    CHECK(tuning == NULL);
    shmt_arena_free(arena);
}

static void files_go_out_and_in(void)
{
    char path[] = "test_tuning.XXXXXX";
    struct shmt_tuning *tuning = parse(good), *back = NULL;
    struct shmt_text text = {0};
    const int fd = mkstemp(path);

    CHECK(fd >= 0);
    close(fd);
    CHECK_INT(shmt_tuning_write(tuning, path, &err), SHMTUNE_OK);
    CHECK_INT(shmt_tuning_read(path, &back, &err), SHMTUNE_OK);
    shmt_tuning_free(tuning);
    shmt_tuning_format(back, &text);
    check_written(&text);
    shmt_text_free(&text);
    shmt_tuning_free(back);
    unlink(path);
    back = NULL;
    CHECK_INT(shmt_tuning_read(path, &back, &err), SHMTUNE_NOT_FOUND);
    CHECK_INT(shmt_tuning_read(".", &back, &err), SHMTUNE_STORAGE);
    CHECK(back == NULL);
    shmt_tuning_free(NULL);
}

static void wrong_tunings_are_refused_with_their_place(void)
{
    static const struct {
        const char *from, *to, *message;
    } cases[] = {
        {"format: tuning/1", "format: tuning/4",
         "t.yaml:1:9: found the format tuning/4, newer than tuning/3"},
        {"format: tuning/1\n", "",
         "t.yaml:1:1: expected \"format: tuning/3\" as the first key"},
        {"kernel: transpose\n", "", "t.yaml:1:1: expected the key \"kernel\""},
        {"kernel: transpose", "kernel: ../../x",
         "t.yaml:2:9: found \"../../x\", expected a word"},
        {"kernel: transpose", "kernels: transpose",
         "t.yaml:2:1: found the unknown key \"kernels\", did you mean "
         "\"kernel\"?"},
        {"digest: 9", "digest: g", "t.yaml:3:9: found \"gf86"},
        {"digest: 9f", "digest: 9", "expected 64 hexadecimal digits"},
        {"T10:00:00Z", " 10:00:00Z", "t.yaml:4:10: found \"2026-11-21 10:00:0"
                                     "0Z\", expected a time like"},
        {"nvrtc_version: 13000", "nvrtc_version: 0x1p3",
         "t.yaml:5:16: found \"0x1p3\", expected an integer from 1 to"},
        {"protocol: cold-l2", "protocol: -O3",
         "t.yaml:6:11: found \"-O3\", expected a word"},
        {"  warp_size: 32", "  warp_size: thirty",
         "t.yaml:18:14: found \"thirty\", expected an integer"},
        {"tuned:\n", "tuned:\n- 3\n",
         "t.yaml:28:3: a tuned problem: found \"3\", expected a mapping"},
        {"size: {rows: 1024, cols: 1024}", "size: {rows: 1024, cols: wide}",
         "t.yaml:28:28: found \"wide\", expected an integer from 0 up"},
        {"size: {rows: 1024, cols: 1024}", "size: {rows: 1024, cols: -4}",
         "t.yaml:28:28: found \"-4\", expected an integer from 0 up"},
        {"size: {rows: 1024, cols: 1024}", "size: [1024, 1024]",
         "t.yaml:28:9: names and values: found a sequence, expected"},
        {"size: {rows: 1024, cols: 1024}", "size: {cols: 1024, rows: 1024}",
         "t.yaml:56:3: found a size of other dimensions"},
        {"rows: 4096, cols: 333", "rows: 1024, cols: 1024",
         "t.yaml:56:3: found the same size again"},
        {"size: {rows: 1024, cols: 1024}",
         "size: {a: 1, b: 1, c: 1, d: 1, e: 1, f: 1, g: 1, h: 1, i: 1}",
         "t.yaml:28:9: found 9 names, expected at most 8"},
        {"BLOCK_X: 32", "BLOCK_X: 32; asm(\"trap;\")",
         "found \"32; asm(\"trap;\")\", expected an integer of 64 bits, a "
         "finite number or a word"},
        {"BLOCK_X: 32", "BLOCK_X: \"32 -DX\"",
         "found \"32 -DX\", expected a word"},
        {"BLOCK_X: 32", "BLOCK_X: [32]",
         "t.yaml:29:28: found a sequence, expected an integer"},
        {"BLOCK_X: 32", "\"-DX\": 32", "t.yaml:29:19: found \"-DX\", expected"
                                       " a word"},
        {"BLOCK_X: 32", "BLOCK_X: 99999999999999999999", "an integer of 64"},
        {"MEMORY: static", "MEMORY: \"\"", "found \"\", expected an integer"},
        {"verdict: ok", "verdict: crash",
         "t.yaml:31:5: found the verdict \"crash\", expected a winner"},
        {"verdict: ok", "verdict: ok\n    luck: 1",
         "t.yaml:32:5: found the unknown key \"luck\""},
        {"registers: 32", "registers: 1e9", "found \"1e9\", expected an int"},
        {"spread: 0.0041", "spread: -1", "spread: found -1, expected 0 to"},
        {"spread: 0.0041", "spread: 1e40", "spread: found 1e+40, expected"},
        {"seed: 18446744073709551615", "seed: 18446744073709551616",
         "expected an integer from 0 to 2^64 - 1"},
        {"verdicts: {ok", "verdicts: {good", "t.yaml:51:14: found \"good\", "
                                             "expected a verdict"},
        {"crash: 4", "crash: -4", "expected an integer from 0 to 2^64 - 1"},
        {"strategy: \"genetic", "strategy: \"\\e", "printable text"},
        {"  - {BLOCK_X: 64, ", "  - {BLOCK_Z: 64, ",
         "t.yaml:55:6: found the name BLOCK_Z, expected one of the"},
        {"  - {}", "  - {BLOCK_X: 64}",
         "t.yaml:54:5: found another configuration, expected the winner"},
        {"  ties:", "  tie:", "t.yaml:53:3: found the unknown key \"tie\", "
                              "did you mean \"ties\"?"},
        {"  seed:", "  tried: 1\n  seed:",
         "found the key \"tried\" again, it stands in line 47 already"},
    };

    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        struct shmt_tuning *tuning =
            parse(changed(cases[k].from, cases[k].to));

        if (tuning != NULL || strstr(err.text, cases[k].message) == NULL)
            printf("# of %s\n", cases[k].to);
        CHECK(tuning == NULL);
        CHECK_HAS(err.text, cases[k].message);
        CHECK(strncmp(err.text, "t.yaml:", 7) == 0);
        shmt_tuning_free(tuning);
    }
}

static void too_much_is_refused(void)
{
    struct shmt_text text = {0};
    struct shmt_tuning *tuning;

    shmt_text_add(&text, good);
    shmt_text_add(&text, "#");
    while (text.length <= SHMT_TUNING_BYTES)
        shmt_text_add(&text, "                                        ");
    tuning = parse(text.data);
    CHECK(tuning == NULL);
    CHECK_HAS(err.text, "bytes, expected at most 2097152");
    text.length = SHMT_TUNING_BYTES;
    text.data[text.length] = '\0';
    tuning = parse(text.data);
    CHECK(tuning != NULL);
    shmt_tuning_free(tuning);
    shmt_text_clear(&text);
    shmt_text_add(&text, "  - {BLOCK_X: 64, ");
    for (int k = 0; k < 63; k++)
        shmt_text_add(&text, "BLOCK_Y: 4}\n  - {BLOCK_X: 64, ");
    tuning = parse(changed("  - {BLOCK_X: 64, ", text.data));
    CHECK(tuning == NULL);
    CHECK_HAS(err.text, "t.yaml:54:3: found 65 ties, expected at most 64");
    shmt_text_clear(&text);
    shmt_text_add(&text, "SCALE: 0.5");
    for (int k = 0; k < 60; k++)
        shmt_text_addf(&text, ", P%d: 1", k);
    tuning = parse(changed("SCALE: 0.5", text.data));
    CHECK(tuning == NULL);
    CHECK_HAS(err.text, "t.yaml:29:18: found 65 names, expected at most 64");
    shmt_text_free(&text);
}

/* Refused with a place, or read and written so that it reads again. */
static void feed(const char *data, size_t size)
{
    struct shmt_tuning *tuning = NULL, *back = NULL;
    struct shmt_text text = {0}, again = {0};
    const enum shmtune_status status =
        shmt_tuning_parse("t.yaml", data, size, &tuning, &err);

    if (status != SHMTUNE_OK) {
        CHECK_INT(status, SHMTUNE_INVALID_FILE);
        CHECK(strncmp(err.text, "t.yaml:", 7) == 0);
        CHECK(tuning == NULL);
        return;
    }
    shmt_tuning_format(tuning, &text);
    CHECK_INT(shmt_tuning_parse("w.yaml", text.data, text.length, &back,
                                &err), SHMTUNE_OK);
    if (back != NULL) {
        shmt_tuning_format(back, &again);
        CHECK_TEXT(again.data, text.data);
    } else {
        printf("# %s\n", err.text);
    }
    shmt_tuning_free(back);
    shmt_tuning_free(tuning);
    shmt_text_free(&text);
    shmt_text_free(&again);
}

static void every_cut_is_refused_or_read(void)
{
    hostile_cuts(feed, good, good_size);
}

/* Also where each line left is whole, as a full disk or an interrupted copy
 * leaves it.  Files of before, and by hand, have no such end. */
static void a_written_tuning_cut_at_a_line_is_refused(void)
{
    struct shmt_tuning *tuning = parse(good);
    struct shmt_text text = {0};
    int cuts = 0;

    shmt_tuning_format(tuning, &text);
    shmt_tuning_free(tuning);
    for (size_t size = 0; size + 4 < text.length; size++) {
        if (size > 0 && text.data[size - 1] != '\n')
            continue;
        tuning = NULL;
        CHECK_INT(shmt_tuning_parse("t.yaml", text.data, size, &tuning, &err),
                  SHMTUNE_INVALID_FILE);
        shmt_tuning_free(tuning);
        cuts++;
    }
    printf("# %d cuts\n", cuts);
    CHECK(cuts > 50);
    CHECK_INT(shmt_tuning_parse("t.yaml", text.data, text.length - 4, &tuning,
                                &err), SHMTUNE_INVALID_FILE);
    CHECK_HAS(err.text, "expected \"...\", because it begins with \"---\": "
              "it was cut");
    CHECK_INT(shmt_tuning_parse("t.yaml", text.data + 4, text.length - 8,
                                &tuning, &err), SHMTUNE_OK);
    shmt_tuning_free(tuning);
    CHECK_INT(shmt_tuning_parse("t.yaml", text.data, text.length - 1, &tuning,
                                &err), SHMTUNE_OK);
    shmt_tuning_free(tuning);
    shmt_text_free(&text);
}

static void flipped_bits_are_refused_or_read(void)
{
    hostile_flips(feed, good, good_size, 6000);
}

static void spliced_text_is_refused_or_read(void)
{
    hostile_splices(feed, good, good_size, 6000);
}

int main(void)
{
    tuning_begin();
    CHECK_RUN(every_field_is_read);
    CHECK_RUN(without_a_data_seed_it_is_the_searchs);
    CHECK_RUN(what_is_read_is_written_the_same);
    CHECK_RUN(ties_may_say_everything);
    CHECK_RUN(a_tuning_lives_in_its_readers_arena);
    CHECK_RUN(files_go_out_and_in);
    CHECK_RUN(wrong_tunings_are_refused_with_their_place);
    CHECK_RUN(too_much_is_refused);
    CHECK_RUN(every_cut_is_refused_or_read);
    CHECK_RUN(a_written_tuning_cut_at_a_line_is_refused);
    CHECK_RUN(flipped_bits_are_refused_or_read);
    CHECK_RUN(spliced_text_is_refused_or_read);
    tuning_end();
    return CHECK_END();
}
