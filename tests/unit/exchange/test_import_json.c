/* SPDX-License-Identifier: MIT */
/*
 * import: texts and numbers of JSON mean what JSON says, to the last bit, and
 * members are told apart however many there are.
 */
#include "base/random.h"
#include "base/text.h"
#include "tests/support/check.h"
#include "tests/support/import_fixture.h"

/* A cache with one parameter of these values, on a device of this name. */
static struct shmt_import *cache_of(const char *device, const char *values)
{
    struct shmt_text text = {0};
    struct shmt_import *import;

    shmt_text_addf(&text, "{\"device_name\": \"%s\", "
                          "\"tune_params_keys\": [\"a\"], "
                          "\"tune_params\": {\"a\": [", device);
    shmt_text_add(&text, values);
    shmt_text_add(&text, "]}, \"cache\": {}}");
    import = parse(shmt_text_string(&text));
    shmt_text_free(&text);
    return import;
}

static void check_text(const char *written, const char *expected)
{
    struct shmt_import *import = cache_of(written, "1");

    CHECK(import != NULL);
    if (import != NULL)
        CHECK_TEXT(import->device, expected);
    shmt_import_free(import);
}

/* Each written as an escape, and as it is. */
static void characters_are_what_their_escapes_say(void)
{
    static const struct {
        const char *escape, *bytes;
    } cases[] = {
        {"\\u0041", "A"}, {"\\u007f", "\x7f"}, {"\\u0080", "\xc2\x80"},
        {"\\u00e9", "\xc3\xa9"}, {"\\u07FF", "\xdf\xbf"},
        {"\\u0800", "\xe0\xa0\x80"}, {"\\u20ac", "\xe2\x82\xac"},
        {"\\ud7ff", "\xed\x9f\xbf"}, {"\\ue000", "\xee\x80\x80"},
        {"\\uFFFd", "\xef\xbf\xbd"}, {"\\ud800\\udc00", "\xf0\x90\x80\x80"},
        {"\\ud83d\\uDE00", "\xf0\x9f\x98\x80"},
        {"\\udbff\\udfff", "\xf4\x8f\xbf\xbf"},
    };

    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct shmt_text written = {0}, expected = {0};

        shmt_text_addf(&written, "x%s%sy", cases[k].escape, cases[k].bytes);
        shmt_text_addf(&expected, "x%s%sy", cases[k].bytes, cases[k].bytes);
        check_text(shmt_text_string(&written), shmt_text_string(&expected));
        shmt_text_free(&written);
        shmt_text_free(&expected);
    }
    check_text("\\\"\\\\\\/\\b\\f\\n\\r\\t.", "\"\\/\b\f\n\r\t.");
    check_text("", "");
}

static void check_real(const char *written)
{
    struct shmt_import *import = cache_of("gpu", written);

    CHECK(import != NULL);
    if (import != NULL && import->parameters[0].values[0].r !=
                              strtod(written, NULL)) {
        CHECK(!"a number is read to the last bit");
        printf("# %s became %.17g\n", written,
               import->parameters[0].values[0].r);
    }
    shmt_import_free(import);
}

/* strtod() of the C library rounds correctly. */
static void numbers_are_read_to_the_last_bit(void)
{
    static const char *const edges[] = {
        "0.0", "-0.0", "1.0", "-1.5", "0.1", "9007199254740991.0",
        "9007199254740992.0", "9007199254740993.0", "900719925474099.35",
        "9007199254740.993", "0.00000000000000000000001",
        "0.0000000000000000000001", "1e22", "1e23", "1E+5", "2.5e-7",
        "1.7976931348623157e308", "5e-324", "123456789012345678901234567890.5",
    };
    struct shmt_random random;
    struct shmt_text text = {0};

    for (size_t k = 0; k < sizeof edges / sizeof *edges; k++)
        check_real(edges[k]);
    shmt_random_seed(&random, 1);
    for (int k = 0; k < 2000 && !check_failed; k++) {
        const uint64_t digits = shmt_random_next(&random) >>
                                shmt_random_below(&random, 64);
        const int length = (int)shmt_random_below(&random, 18);

        shmt_text_clear(&text);
        shmt_text_addf(&text, "%s%llu.%0*llu", k % 2 == 0 ? "" : "-",
                       (unsigned long long)digits >> k % 50, length + 1,
                       (unsigned long long)digits % 1000);
        if (k % 3 == 0)
            shmt_text_addf(&text, "e%d",
                           (int)shmt_random_below(&random, 60) - 30);
        check_real(shmt_text_string(&text));
    }
    shmt_text_free(&text);
}

/* Of many digits, those of which memory is kept are read. */
static void numbers_may_be_long(void)
{
    char *const zeros = repeated("1.", "0", 400),
         *const more = repeated("1.", "0", 100000);
    struct shmt_import *import;

    check_real(zeros);
    import = cache_of("gpu", more);
    CHECK(import == NULL);
    CHECK_HAS(err.text, "f.json:1:");
    CHECK_HAS(err.text, "a number that is too large");
    shmt_import_free(import);
    free(zeros);
    free(more);
}

/* Each of up to some hundred members, doubled. */
static void members_are_there_once(void)
{
    for (int count = 1; count < 300; count = count * 3 / 2 + 1)
        for (int twice = 0; twice <= count; twice += 1 + twice) {
            struct shmt_text text = {0};
            struct shmt_import *import;

            shmt_text_add(&text, "{\"tune_params_keys\": [\"a\"], "
                                 "\"tune_params\": {\"a\": [1]}, \"cache\": "
                                 "{}, \"more\": {");
            for (int k = 0; k < count; k++)
                shmt_text_addf(&text, "%s\"m%d\": 1", k == 0 ? "" : ", ", k);
            if (twice > 0)
                shmt_text_addf(&text, ", \"m%d\": 1", twice - 1);
            shmt_text_add(&text, "}}");
            import = parse(shmt_text_string(&text));
            CHECK((import == NULL) == (twice > 0));
            if (import == NULL)
                CHECK_HAS(err.text, "is there twice");
            shmt_import_free(import);
            shmt_text_free(&text);
        }
}

static void names_become_identifiers(void)
{
    char *const letters = repeated("", "a", 100);
    char cut[61] = {0};
    struct {
        const char *name, *expected;
    } cases[] = {
        {"conv", "conv"}, {"my kernel", "my_kernel"}, {"a--b++", "a_b"},
        {"  x  ", "x"}, {"_a__b_", "_a__b"}, {"2d", "k_2d"}, {"9", "k_9"},
        {"", "k_"}, {"?!", "k_"}, {"K9_z", "K9_z"}, {letters, cut},
    };

    memset(cut, 'a', 60);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct shmt_text text = {0};
        struct shmt_import *import;

        shmt_text_addf(&text, "{\"kernel_name\": \"%s\", "
                              "\"tune_params_keys\": [\"a\"], "
                              "\"tune_params\": {\"a\": [1]}, "
                              "\"cache\": {}}", cases[k].name);
        import = parse(shmt_text_string(&text));
        CHECK(import != NULL);
        if (import != NULL)
            CHECK_TEXT(import->name, cases[k].expected);
        shmt_import_free(import);
        shmt_text_free(&text);
    }
    free(letters);
}

int main(void)
{
    CHECK_RUN(characters_are_what_their_escapes_say);
    CHECK_RUN(numbers_are_read_to_the_last_bit);
    CHECK_RUN(numbers_may_be_long);
    CHECK_RUN(members_are_there_once);
    CHECK_RUN(names_become_identifiers);
    return CHECK_END();
}
