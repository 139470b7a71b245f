/* SPDX-License-Identifier: MIT */
/* text, arena and status: the small things everything else stands on. */
#include "base/arena.h"
#include "base/status.h"
#include "base/text.h"
#include "base/utf8.h"
#include "tests/support/check.h"

static void text_grows_and_keeps_its_bytes(void)
{
    struct shmt_text text = {0};

    CHECK_TEXT(shmt_text_string(&text), "");
    for (int i = 0; i < 1000; i++)
        shmt_text_addf(&text, "%d,", i);
    CHECK_INT(text.length, 10 * 2 + 90 * 3 + 900 * 4);
    CHECK_HAS(shmt_text_string(&text), "998,999,");
    shmt_text_clear(&text);
    shmt_text_add(&text, "again");
    CHECK_TEXT(shmt_text_string(&text), "again");
    CHECK(!text.failed);
    shmt_text_free(&text);
}

static void a_text_is_kept_in_an_arena(void)
{
    struct shmt_arena *const arena = shmt_arena_new();
    struct shmt_text text = {0};
    const char *kept;

    CHECK_TEXT(shmt_text_keep(&text, arena), "");
    shmt_text_add_bytes(&text, "a\0b", 3);
    kept = shmt_text_keep(&text, arena);
    CHECK(memcmp(kept, "a\0b", 4) == 0);
    CHECK(text.data == NULL && text.length == 0);
    CHECK(!shmt_arena_failed(arena));
    shmt_text_add(&text, "half of it");
    text.failed = true;
    CHECK(shmt_text_keep(&text, arena) == NULL);
    CHECK(shmt_arena_failed(arena));
    CHECK(text.data == NULL && !text.failed);
    shmt_arena_free(arena);
}

static void a_text_ends_in_what_is_not_all_of_it(void)
{
    CHECK(shmt_text_ends("a.yaml", ".yaml"));
    CHECK(shmt_text_ends("a", ""));
    CHECK(!shmt_text_ends("a.yaml2", ".yaml"));
    CHECK(!shmt_text_ends("a.yaml.gz", ".yaml"));
    CHECK(!shmt_text_ends(".yaml", ".yaml"));
    CHECK(!shmt_text_ends("yaml", ".yaml"));
    CHECK(!shmt_text_ends("", ""));
}

static void a_word_is_one_for_a_shell(void)
{
    static const char *const words[][2] = {
        {"./tunings/a-b_c.yaml", "./tunings/a-b_c.yaml"}, {"a b", "'a b'"},
        {"it's", "'it'\\''s'"}, {"", "''"}, {"$HOME", "'$HOME'"},
        {"~", "'~'"}, {"caf\xc3\xa9", "'caf\xc3\xa9'"}, {"a;b", "'a;b'"}};

    for (size_t k = 0; k < sizeof words / sizeof *words; k++) {
        struct shmt_text text = {0};

        shmt_text_add_word(&text, words[k][0]);
        CHECK_TEXT(shmt_text_string(&text), words[k][1]);
        shmt_text_free(&text);
    }
}

/* At every distance from the end of the memory that is there. */
static void a_format_fits_or_makes_room(void)
{
    for (int before = 0; before < 200; before++)
        for (int more = 0; more < 200; more += before == 63 ? 1 : 37) {
            struct shmt_text text = {0};

            shmt_text_addf(&text, "%*s", before, "");
            shmt_text_addf(&text, "%0*d", more, 0);
            shmt_text_addf(&text, "%s", "end");
            CHECK_INT(text.length, before + (more > 0 ? more : 1) + 3);
            CHECK_TEXT(text.data + text.length - 4, "0end");
            shmt_text_free(&text);
        }
}

static void arena_has_the_room_it_was_told_of(void)
{
    struct shmt_arena *arena = shmt_arena_new();
    const char *first;

    shmt_arena_reserve(arena, 64 * 4096);
    first = shmt_arena_alloc_raw(arena, 4096);
    for (size_t k = 1; k < 64; k++)
        CHECK((char *)shmt_arena_alloc_raw(arena, 4096) == first + k * 4096);
    shmt_arena_free(arena);
}

static void arena_gives_zeroed_aligned_pieces(void)
{
    struct shmt_arena *arena = shmt_arena_new();

    for (size_t size = 1; size < 100000; size = size * 3 + 1) {
        unsigned char *piece = shmt_arena_alloc(arena, size, 1);
        size_t sum = 0;

        CHECK(piece != NULL);
        CHECK_INT((uintptr_t)piece % _Alignof(max_align_t), 0);
        for (size_t i = 0; i < size; i++)
            sum += piece[i];
        CHECK_INT(sum, 0);
        memset(piece, 0xff, size);
    }
    CHECK_TEXT(shmt_arena_copy(arena, "word and more", 4), "word");
    CHECK(shmt_arena_alloc(arena, SIZE_MAX / 2, 16) == NULL);
    shmt_arena_free(arena);
}

static void numbers_are_for_people(void)
{
    static const struct {
        double number;
        const char *text;
    } rounded[] = {{0.0, "0"}, {0.1834, "0.18"}, {7.0, "7"}, {9.96, "10"},
                   {10.4, "10"}, {12345.5, "12,346"}, {3e16, "3e+16"}};
    struct shmt_text text = {0};

    for (size_t k = 0; k < sizeof rounded / sizeof rounded[0]; k++) {
        shmt_text_clear(&text);
        shmt_text_add_rounded(&text, rounded[k].number);
        CHECK_TEXT(shmt_text_string(&text), rounded[k].text);
    }
    shmt_text_clear(&text);
    shmt_text_add_count(&text, 999);
    shmt_text_add(&text, " ");
    shmt_text_add_count(&text, 12345678);
    shmt_text_add(&text, " ");
    shmt_text_add_count(&text, UINT64_MAX);
    CHECK_TEXT(shmt_text_string(&text), "999 12,345,678 2^64 or more");
    shmt_text_free(&text);
}

static void microseconds_have_no_exponent(void)
{
    struct shmt_text text = {0};

    shmt_text_add_us(&text, 9.1254);
    shmt_text_add(&text, ", ");
    shmt_text_add_us(&text, 9999.4);
    shmt_text_add(&text, ", ");
    shmt_text_add_us(&text, 21468.3);
    CHECK_TEXT(shmt_text_string(&text), "9.125 us, 9999 us, 21468 us");
    shmt_text_free(&text);
}

/* In the fewest figures, or to so many. */
static void a_real_is_as_short_as_it_may_be(void)
{
    static const struct {
        double value;
        int figures;
        const char *text;
    } cases[] = {
        {10, 0, "10"}, {-16, 0, "-16"}, {1e6, 0, "1000000"}, {0, 0, "0"},
        {1e15, 0, "1000000000000000"}, {1e16, 0, "1e+16"}, {0.1, 0, "0.1"},
        {65.0527, 0, "65.0527"}, {1e-7, 0, "1e-07"}, {1234.5, 0, "1234.5"},
        {0.1 + 0.2, 0, "0.30000000000000004"}, {1e22, 0, "1e+22"},
        {9007199254740991.0, 0, "9007199254740991"},
        {1.7976931348623157e308, 0, "1.7976931348623157e+308"},
        {5e-324, 0, "5e-324"}, {1.0 / 3, 3, "0.333"}, {1000, 2, "1e+03"},
    };
    char text[SHMT_TEXT_REAL];

    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        shmt_text_put_real(cases[k].value, cases[k].figures, text);
        CHECK_TEXT(text, cases[k].text);
    }
}

/* The shortest form of a character; its length. */
static size_t encode(uint32_t code, char bytes[4])
{
    const size_t length = code < 0x80 ? 1 : code < 0x800 ? 2
                          : code < 0x10000 ? 3 : 4;
    static const uint32_t leads[] = {0, 0, 0xc0, 0xe0, 0xf0};

    for (size_t k = length; k-- > 1; code >>= 6)
        bytes[k] = (char)(0x80 | (code & 0x3f));
    bytes[0] = (char)(leads[length] | code);
    return length;
}

static void every_character_is_decoded(void)
{
    for (uint32_t code = 0; code < 0x110000 && !check_failed; code++) {
        char bytes[5] = {0};
        const size_t length = encode(code, bytes);
        const bool half = code >= 0xd800 && code < 0xe000;
        uint32_t found = UINT32_MAX;

        CHECK_INT(shmt_utf8_decode(bytes, 5, &found), half ? 0 : length);
        CHECK_INT(found, half ? UINT32_MAX : code);
        /* Cut off, though more lies behind. */
        for (size_t size = 0; size < length; size++)
            CHECK_INT(shmt_utf8_decode(bytes, size, &found), 0);
    }
}

static void what_is_no_character_is_refused(void)
{
    static const char *const bad[] = {
        "\x80", "\xbf", "\xc0\x80", "\xc1\xbf", "\xe0\x80\x80",
        "\xe0\x9f\xbf", "\xf0\x80\x80\x80", "\xf0\x8f\xbf\xbf",
        "\xf4\x90\x80\x80", "\xf8\x88\x80\x80\x80", "\xfe", "\xff",
        "\xc3(", "\xe2\x82(", "\xe2(\xac", "\xf0\x9f\x98(",
    };

    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++)
        CHECK_INT(shmt_utf8_decode(bad[k], strlen(bad[k]), &(uint32_t){0}),
                  0);
}

/* What is left out, added, exchanged or swapped with its neighbour counts
 * one. */
static void the_nearest_word_is_as_near_as_it_is(void)
{
    static const struct {
        const char *word, *other;
        size_t far;
    } cases[] = {
        {"abdc", "abcd", 1}, {"axyd", "abcd", 2}, {"abc", "abcd", 1},
        {"bcd", "abcd", 1}, {"abcde", "abcd", 1}, {"badc", "abcd", 2},
        {"dcba", "abcd", 3}, {"xyz", "abcd", 4}, {"sharde", "shared", 1},
        {"a", "b", 1}, {"ab", "ba", 1}, {"launchs", "launches", 1},
    };

    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const char *const list[] = {"0123456789", cases[k].other, NULL};

        CHECK_TEXT(shmt_text_nearest(cases[k].word, list, cases[k].far + 1),
                   cases[k].other);
        CHECK(shmt_text_nearest(cases[k].word, list, cases[k].far) ==
              NULL);
    }
}

static void error_is_set_and_prefixed(void)
{
    struct shmt_error err = {0};
    char longer[2 * SHMT_ERROR_BYTES];

    CHECK_INT(shmt_error_set(&err, SHMTUNE_STORAGE, "no %s", "room"),
              SHMTUNE_STORAGE);
    CHECK_INT(shmt_error_prefix(&err, "while %s", "writing"),
              SHMTUNE_STORAGE);
    CHECK_TEXT(err.text, "while writing: no room");
    memset(longer, 'x', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    shmt_error_prefix(&err, "%s", longer);
    CHECK_INT(strlen(err.text) < SHMT_ERROR_BYTES, 1);
    shmt_error_set(NULL, SHMTUNE_STORAGE, "nobody listens");
}

static bool is_utf8(const char *text)
{
    uint32_t code;
    size_t length = 1;

    for (; *text != '\0' && length > 0; text += length)
        length = shmt_utf8_decode(text, strlen(text), &code);
    return length > 0;
}

/* Wherever the characters lie that it has no room for. */
static void a_long_error_keeps_its_end(void)
{
    struct shmt_error err = {0};
    char path[4096];

    for (size_t k = 0; k < 2100; k += 2)
        memcpy(path + k, "\xc3\xa9", 3);
    for (int before = 0; before < 4; before++)
        for (int behind = 0; behind < 4; behind++) {
            shmt_error_set(&err, SHMTUNE_STORAGE, "/%.*s%s", before, "xyz",
                           path);
            shmt_error_append(&err, "%.*s: no room; remove it", behind,
                              "xyz");
            shmt_error_prefix(&err, "here");
            CHECK(strncmp(err.text, "here: /", 7) == 0);
            CHECK_HAS(err.text, ".\xc3\xa9");
            CHECK_TEXT(strchr(strchr(err.text + 7, ':') - behind, ':'),
                       ": no room; remove it");
            CHECK(is_utf8(err.text));
            CHECK(strlen(err.text) > SHMT_ERROR_BYTES - 8);
        }
}

int main(void)
{
    CHECK_RUN(text_grows_and_keeps_its_bytes);
    CHECK_RUN(a_text_is_kept_in_an_arena);
    CHECK_RUN(a_text_ends_in_what_is_not_all_of_it);
    CHECK_RUN(a_format_fits_or_makes_room);
    CHECK_RUN(a_word_is_one_for_a_shell);
    CHECK_RUN(arena_gives_zeroed_aligned_pieces);
    CHECK_RUN(arena_has_the_room_it_was_told_of);
    CHECK_RUN(numbers_are_for_people);
    CHECK_RUN(microseconds_have_no_exponent);
    CHECK_RUN(a_real_is_as_short_as_it_may_be);
    CHECK_RUN(every_character_is_decoded);
    CHECK_RUN(what_is_no_character_is_refused);
    CHECK_RUN(the_nearest_word_is_as_near_as_it_is);
    CHECK_RUN(error_is_set_and_prefixed);
    CHECK_RUN(a_long_error_keeps_its_end);
    return CHECK_END();
}
