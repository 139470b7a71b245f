/* SPDX-License-Identifier: MIT */
/* yaml: what is accepted, what is refused and where, and at what price. */
#include "tests/support/check.h"

#include <time.h>

#include "tests/support/hostile.h"
#include "tests/support/yaml_fixture.h"

static void tree_has_kinds_texts_and_places(void)
{
    struct shmt_arena *arena = shmt_arena_new();
    const struct shmt_yaml *root = parse(
        arena, "a: {b: [1, 2], \"c d\": 'x'}\n# comment\n\xc3\xa9:\n"
               "- \xc3\xbc: |\n    two\n    lines\n-\n");
    const struct shmt_yaml *node;

    CHECK(root != NULL && root->kind == SHMT_YAML_MAPPING);
    CHECK_INT(root->count, 2);
    node = shmt_yaml_get(shmt_yaml_get(root, "a"), "b");
    CHECK_INT(node->kind, SHMT_YAML_SEQUENCE);
    CHECK_INT(node->count, 2);
    CHECK_TEXT(node->items[1]->text, "2");
    CHECK(!node->items[1]->quoted);
    CHECK_INT(node->items[1]->place.line, 1);
    CHECK_INT(node->items[1]->place.column, 12);
    CHECK_TEXT(node->place.file, "f.yaml");
    node = shmt_yaml_get(shmt_yaml_get(root, "a"), "c d");
    CHECK(node->quoted);
    node = shmt_yaml_get(root, "\xc3\xa9");
    CHECK_INT(node->count, 2);
    CHECK_TEXT(node->items[0]->items[0]->text, "two\nlines\n");
    CHECK_INT(node->items[0]->items[0]->place.column, 6);
    CHECK_TEXT(node->items[1]->text, "");
    CHECK(shmt_yaml_get(root, "nothing") == NULL);
    CHECK(shmt_yaml_get(node, "nothing") == NULL);
    shmt_arena_free(arena);
}

static void a_piece_keeps_the_place_of_its_file(void)
{
    struct shmt_arena *arena = shmt_arena_new();
    struct shmt_yaml_source source = {.origin = {"run.journal", 812, 3, 0},
                                      .data = "{a: x,\n b: y}", .size = 13};
    const struct shmt_yaml *root = NULL;
    int64_t value;

    CHECK_INT(shmt_yaml_parse_from(arena, &source, &root, &err), SHMTUNE_OK);
    CHECK_INT(shmt_yaml_int(root->items[0], 1, 64, &value, &err),
              SHMTUNE_INVALID_FILE);
    CHECK_TEXT(err.text, "run.journal:812:7: found \"x\", expected an integer "
                         "from 1 to 64");
    CHECK_INT(root->items[1]->place.line, 813);
    CHECK_INT(root->items[1]->place.column, 5);
    source.data = "{a: \x01}";
    source.size = 6;
    CHECK_INT(shmt_yaml_parse_from(arena, &source, &root, &err),
              SHMTUNE_INVALID_FILE);
    CHECK_HAS(err.text, "run.journal:812:7: found the character U+0001");
    shmt_arena_free(arena);
}

static void more_than_plain_data_is_refused(void)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"", "f:1:1: found nothing, expected a document"},
        {"---\n...\n", "f:1:1: found nothing, expected a document"},
        {"# only\n", "f:1:1: found nothing, expected a document"},
        {"a: &x 1", "f:1:4: found an anchor, expected plain data"},
        {"a: &x [1]", "f:1:4: found an anchor, expected plain data"},
        {"a: &x {}", "f:1:4: found an anchor, expected plain data"},
        {"a: *x", "f:1:4: found an alias, expected plain data"},
        {"? *x\n: 1", "f:1:3: found an alias, expected plain data"},
        {"&k a: 1", "f:1:1: found an anchor, expected plain data"},
        {"!!int 1", "f:1:1: found a tag, expected plain data"},
        {"a: !t [1]", "f:1:4: found a tag, expected plain data"},
        {"a: !<x> {}", "f:1:4: found a tag, expected plain data"},
        {"\xc3\xa9: ! b", "f:1:4: found a tag, expected plain data"},
        {"! 'b'", "f:1:1: found a tag, expected plain data"},
        {"%YAML 1.1\n---\na: 1",
         "f:1:1: found a directive, expected plain data"},
        {"%TAG ! x:\n---\na: 1",
         "f:1:1: found a directive, expected plain data"},
        {"%FOO\n---\na: 1", "f:1:5: found unknown directive name, while "
                            "scanning a directive at line 1"},
        {"a: 1\n---\nb: 2", "f:2:1: found a second document, expected one"},
        {"a: 1\n...\n---\n", "f:3:1: found a second document, expected one"},
        {"<<: {a: 1}", "f:1:1: found a merge key, expected plain data"},
        {"a: 1\nb: 2\na: 3",
         "f:3:1: found the key \"a\" again, it stands in line 1 already"},
        {"{a: 1, \"a\": 2}",
         "f:1:8: found the key \"a\" again, it stands in line 1 already"},
        {"? [a]\n: b", "f:1:3: found a sequence, expected a key"},
        {"{{a: 1}: 2}", "f:1:2: found a mapping, expected a key"},
        {": 1", "f:1:1: did not find expected key"},
        {"? \n: 1", "f:1:2: found nothing, expected a key"},
        {"a: \"x\\0y\"", "f:1:4: found a NUL in a text"},
        {"a: b\rc", "f:1:5: found the character U+000D, expected printable "
                    "text"},
        {"a: \x7f", "f:1:4: found the character U+007F, expected printable "
                    "text"},
        {"a: \xc2\x85", "f:1:4: found the character U+0085, expected "
                        "printable text"},
        {"a: \xe2\x80\xa8", "f:1:4: found the character U+2028, expected "
                            "printable text"},
        {"\xef\xbb\xbf" "a: 1", "f:1:1: found the character U+FEFF, expected "
                                "printable text; save the file as UTF-8 "
                                "without a byte order mark"},
        {"a\n\xc3\xa9\x80", "f:2:2: found byte 0x80, expected UTF-8"},
        {"\xff\xfe" "a", "f:1:1: found byte 0xff, expected UTF-8; save the "
                         "file as UTF-8, not as UTF-16"},
        {"\xff" "a", "f:1:1: found byte 0xff, expected UTF-8"},
        {"a: \xc0\x80", "f:1:4: found byte 0xc0, expected UTF-8"},
        {"a: \xed\xa0\x80", "f:1:4: found byte 0xed, expected UTF-8"},
        {"a: \xf4\x90\x80\x80", "f:1:4: found byte 0xf4, expected UTF-8"},
        {"a: \xe2\x82", "f:1:4: found byte 0xe2, expected UTF-8"},
        {"[a, b", "f:2:1: did not find expected ',' or ']', while parsing a "
                  "flow sequence at line 1"},
        {"- 'x' == a\n- b",
         "a block collection at line 1; a text that begins with a quote, or "
         "has brackets inside of brackets, has to be in quotes as a whole"},
        {"a: [b in [1, 2] or c]", "in quotes as a whole"},
        {"- !a\n", "found a tag, expected plain data; a text that begins "
                    "with ! has to be in quotes"},
        {"- *a\n", "found an alias, expected plain data; write the value out "
                    "in each place; a text that begins with *"},
        {"a: b: c", "f:1:5: mapping values are not allowed in this context"},
        {"\t- a", "f:1:1: found a tab, expected spaces, while scanning for "
                  "the next token at line 1"},
        {"\xc3\xa9:\n\tb: 2", "f:2:1: found a tab, expected spaces"},
        {"a: @b", "f:1:4: found character that cannot start any token"},
    };

    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        const char *message =
            refusal(cases[k].text, strlen(cases[k].text));

        if (strstr(message, cases[k].message) == NULL)
            printf("# of %s\n", cases[k].text);
        CHECK_HAS(message, cases[k].message);
    }
    CHECK_HAS(refusal("a\0b", 3), "f:1:2: found the character U+0000");
    CHECK_TEXT(refusal("a: \"\\u0085 \\t\"\r\n", 16), "");
}

/* `count` times `piece` between `head` and `tail`; to be freed. */
static char *repeat(const char *head, const char *piece, size_t count,
                    const char *tail)
{
    struct shmt_text text = {0};

    shmt_text_add(&text, head);
    for (size_t k = 0; k < count; k++)
        shmt_text_add(&text, piece);
    shmt_text_add(&text, tail);
    if (text.failed)
        abort();
    return text.data;
}

static double seconds_of(const char *text, const char *message)
{
    const clock_t begin = clock();
    const char *found = refusal(text, strlen(text));

    if (message == NULL)
        CHECK_TEXT(found, "");
    else
        CHECK_HAS(found, message);
    return (double)(clock() - begin) / CLOCKS_PER_SEC;
}

/* Ten times what it takes under ASan on a slow machine; what is quadratic
 * takes minutes. */
static void hostile_shapes_end_soon(void)
{
    static const struct {
        const char *head, *piece, *tail, *message;
        size_t count;
    } shapes[] = {
        {"", "[", "", "found more than 32 levels", 160 << 10},
        {"", "[", "", "found more than 32 levels", 8 << 20},
        {"", "[a,", "", "found more than 32 levels", 1 << 20},
        {"", "{a: ", "", "found more than 32 levels", 1 << 20},
        {"", "- ", "a", "found more than 32 levels", 1 << 20},
        {"", "? ", "a", "found a mapping, expected a key", 1 << 20},
        {"[", "? ", "a", "did not find expected node content", 1 << 20},
        {"a: ", "x", "", "found a text of 1048576 bytes", 1 << 20},
        {"a: \"", "x\n\n", "\"", "found a text of", 1 << 20},
        {"a: |\n", " x\n", "", "found a text of", 1 << 20},
        {"", "\n", "a: [", "did not find expected node content", 1 << 20},
        {"", "#\n", "", "found nothing", 1 << 20},
        {"", " ", "", "found nothing", 1 << 20},
        {"", "&a ", "", "found an anchor", 1 << 20},
        {"[", "[],", "]", NULL, 100000},
        {"", "- {a: [1, {b: 2}]}\n", "", NULL, 20000},
        {"a: '", "''", "'", "found a text of", 1 << 20},
    };
    const char *const deepest =
        "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]";

    for (size_t k = 0; k < sizeof shapes / sizeof shapes[0]; k++) {
        char *text = repeat(shapes[k].head, shapes[k].piece, shapes[k].count,
                            shapes[k].tail);
        const double seconds = seconds_of(text, shapes[k].message);

        if (seconds > 2)
            printf("# %g s: %zu of %s\n", seconds, shapes[k].count,
                   shapes[k].piece);
        CHECK(seconds < 2);
        free(text);
    }
    CHECK_TEXT(refusal(deepest, strlen(deepest)), "");
}

static void caps_hold(void)
{
    char *text = repeat("", "0123456789abcde\n", 1 << 19, "x");

    CHECK_HAS(refusal(text, strlen(text)),
              "f:1:1: found 8388609 bytes, expected at most 8388608");
    free(text);
    text = repeat("- ", "x", 65536, "");
    CHECK_TEXT(refusal(text, strlen(text)), "");
    free(text);
    text = repeat("- ", "x", 65537, "");
    CHECK_TEXT(refusal(text, strlen(text)),
               "f:1:3: found a text of 65537 bytes, expected at most 65536");
    free(text);
    text = repeat("[", "a,", 4000000, "]");
    CHECK_HAS(refusal(text, strlen(text)), "found more than 4000000 nodes");
    free(text);
}

static void duplicates_are_found_among_many_keys(void)
{
    struct shmt_text text = {0};

    for (int k = 0; k < 100000; k++)
        shmt_text_addf(&text, "key_with_a_long_common_beginning_%d: 1\n", k);
    CHECK(seconds_of(text.data, NULL) < 2);
    shmt_text_add(&text, "key_with_a_long_common_beginning_4711: 2\n");
    CHECK(seconds_of(text.data,
                     "f:100001:1: found the key \"key_with_a_long_common_"
                     "beginning_4711\" again, it stands in line 4712 already")
          < 2);
    shmt_text_free(&text);
}

static void feed(const char *data, size_t size)
{
    refusal(data, size);
}

static void damage_is_refused_or_read(void)
{
    static const char good[] =
        "format: kernel/1\n"
        "sizes:\n"
        "- {rows: 1024, \"cols\": 0x400}   # a comment\n"
        "text: |\n"
        "  two\n"
        "  lines\n"
        "? key\n"
        ": 'single ''quoted'' text'\n"
        "folded: >-\n"
        "  some\n"
        "  text\n"
        "list: [a, [b, c], {d: e}, \"\\x41\\u00e9\\n\"]\n";

    CHECK_TEXT(refusal(good, sizeof good - 1), "");
    hostile_cuts(feed, good, sizeof good - 1);
    hostile_flips(feed, good, sizeof good - 1, 5000);
    hostile_splices(feed, good, sizeof good - 1, 5000);
}

static void a_journal_line_is_cheap(void)
{
    static const char line[] =
        "- {config: {BLOCK_X: 32, BLOCK_Y: 8, TILE: 32, PAD: 1, MEMORY: "
        "static}, verdict: ok, registers: 32, spill_store_bytes: 0, "
        "shared_static_bytes: 4224, resident_blocks: 8, limiter: warps, "
        "samples_us: [12.341, 12.345, 12.333, 12.313, 12.321]}\n";
    const clock_t begin = clock();
    double each;

    for (int k = 0; k < 2000; k++)
        refusal(line, sizeof line - 1);
    each = (double)(clock() - begin) / CLOCKS_PER_SEC / 2000;
    printf("# %.1f us a line\n", each * 1e6);
    CHECK(each < 1e-3);
}

int main(void)
{
    CHECK_RUN(tree_has_kinds_texts_and_places);
    CHECK_RUN(a_piece_keeps_the_place_of_its_file);
    CHECK_RUN(more_than_plain_data_is_refused);
    CHECK_RUN(hostile_shapes_end_soon);
    CHECK_RUN(caps_hold);
    CHECK_RUN(duplicates_are_found_among_many_keys);
    CHECK_RUN(damage_is_refused_or_read);
    CHECK_RUN(a_journal_line_is_cheap);
    return CHECK_END();
}
