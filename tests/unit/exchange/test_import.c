/* SPDX-License-Identifier: MIT */
/*
 * import: which files are taken, what is refused and where, and what a space
 * is as a spec.
 */
#include <time.h>

#include "base/text.h"
#include "tests/support/check.h"
#include "tests/support/import_fixture.h"

static void refuses(const char *text, const char *message)
{
    struct shmt_import *import = parse(text);

    CHECK(import == NULL);
    CHECK_HAS(err.text, message);
    shmt_import_free(import);
}

#define T1(parameters, conditions)                                           \
    "{\"General\": {\"BenchmarkName\": \"my kernel\"}, "                     \
    "\"ConfigurationSpace\": {\"TuningParameters\": [" parameters "], "      \
    "\"Conditions\": [" conditions "]}}"
#define P(name, values) "{\"Name\": \"" name "\", \"Values\": " values "}"
#define C(text) "{\"Expression\": \"" text "\", \"Parameters\": []}"

static void t1_spaces_become_specs(void)
{
    struct shmt_import *import = parse(T1(
        P("BX", "\"[2**i for i in range(6)]\"") ", "
        P("MODE", "[\"static\", \"dynamic\"]") ", "
        P("N", "\"range(64, 2048, 64)\""),
        C("32 <= BX * N <= 1024") ", " C("MODE == 'static' or BX > 1")));
    struct shmt_text text = {0};
    bool defaults;

    CHECK(import != NULL);
    if (import == NULL)
        return;
    CHECK_INT(import->kind, SHMT_IMPORT_SPACE);
    CHECK_TEXT(import->name, "my_kernel");
    CHECK_INT(shmt_import_spec(import, &text, &defaults, &err), SHMTUNE_OK);
    CHECK(defaults);
    CHECK_TEXT(shmt_text_string(&text),
               "format: kernel/1\n"
               "name: my_kernel\n"
               "summary: \"T1 search space, imported from f.json\"\n"
               "parameters:\n"
               "  BX: {values: [1, 2, 4, 8, 16, 32]}\n"
               "  MODE: {values: [static, dynamic]}\n"
               "  N: {values: {from: 64, to: 1984, step: 64}}\n"
               "constraints:\n"
               "- \"32 <= BX * N <= 1024\"\n"
               "- \"MODE == 'static' or BX > 1\"\n");
    shmt_text_free(&text);
    shmt_import_free(import);
}

static void what_is_wrong_has_its_place(void)
{
    refuses("", "f.json:");
    refuses("[1, 2]", "f.json:1:1: found '[', expected '{': a T1 search");
    refuses("{}", "found neither \"ConfigurationSpace\" (T1)");
    refuses("{\"cache\": 1, \"cache\": 2}", "f.json:1:");
    refuses("{\"ConfigurationSpace\": 5}",
            "f.json: ConfigurationSpace: found an integer");
    refuses("{\"ConfigurationSpace\": {}}",
            "f.json: ConfigurationSpace: \"TuningParameters\" is missing");
    refuses(T1("", ""), "TuningParameters: 0 parameters, 1 to 64");
    refuses(T1(P("a", "\"[1]\"") ", 7", ""),
            "f.json: ConfigurationSpace.TuningParameters[1]: expected an");
    refuses(T1(P("a", "\"[1]\"") ", " P("a", "\"[2]\""), ""),
            "TuningParameters[1].Name: the parameter a is there twice");
    refuses(T1(P("a b", "\"[1]\""), ""), "cannot be a parameter's");
    refuses(T1(P("a", "\"[]\""), ""), "the list of values is empty");
    refuses(T1(P("a", "\"[1, 2, 1]\""), ""), "the value 1 occurs twice");
    refuses(T1(P("a", "[1, [2]]"), ""), "Values[1]: found an array");
    refuses(T1(P("a", "[\"x\\ty\"]"), ""), "cannot be a value");
    refuses(T1(P("a", "[\"\"]"), ""), "the word \"\" cannot be");
    refuses(T1(P("a", "\"range(10**9)\""), ""),
            "f.json: ConfigurationSpace.TuningParameters[0].Values: "
            "character 7: a range of 1000000000 values");
    refuses(T1(P("a", "\"[1]\""), C("a + b < 3")),
            "f.json: ConfigurationSpace.Conditions[0].Expression: "
            "character 5: unknown name 'b'");
    refuses(T1(P("a", "\"[1]\""), "{\"Parameters\": []}"),
            "Conditions[0]: \"Expression\" is missing");
    refuses(T1(P("a", "\"[1]\""), C("exit(1)")), "unknown function 'exit'");
    refuses("{\"results\": [{}]}",
            "f.json: results[0]: \"configuration\" is missing");
    refuses("{\"results\": []}", "no results");
    refuses("{\"results\": [{\"configuration\": {\"a\": 1}, \"times\": {}, "
            "\"invalidity\": \"maybe\"}]}",
            "results[0].invalidity: found \"maybe\"");
    refuses("{\"results\": [{\"configuration\": {\"a\": 1}, \"times\": {}, "
            "\"invalidity\": \"correct\"}]}", "without a measurement");
    refuses("{\"metadata\": {\"timeunit\": \"fortnights\"}, "
            "\"results\": []}", "metadata.timeunit: found \"fortnights\"");
    refuses("{\"results\": [{\"configuration\": {\"a\": 1}, \"times\": {}, "
            "\"invalidity\": \"correct\", \"measurements\": [{\"name\": "
            "\"time\", \"value\": 1, \"unit\": \"GB/s\"}]}]}",
            "results[0].measurements[0].unit: found \"GB/s\"");
    refuses("{\"cache\": {}, \"tune_params_keys\": [\"a\"], "
            "\"tune_params\": {}}", "tune_params: \"a\" is missing");
    refuses("{\"cache\": {\"1\": {\"a\": 1, \"time\": \"Odd\"}}, "
            "\"tune_params_keys\": [\"a\"], \"tune_params\": {\"a\": [1]}}",
            "f.json: cache.1.time: found Odd");
    refuses("{\"cache\": {\"1\": {\"time\": 1.5}}, "
            "\"tune_params_keys\": [\"a\"], \"tune_params\": {\"a\": [1]}}",
            "cache.1: the parameter a is missing");
}

/* The benchmark hub has defaults in a list of one. */
static void defaults_may_stand_in_a_list(void)
{
    struct shmt_import *import = parse(T1(
        "{\"Name\": \"a\", \"Values\": \"[0, 1]\", \"Default\": [1]}, "
        "{\"Name\": \"b\", \"Values\": [2, 3], \"Default\": 2}", ""));

    CHECK(import != NULL);
    if (import != NULL) {
        CHECK_INT(import->parameters[0].default_value, 1);
        CHECK_INT(import->parameters[1].default_value, 0);
    }
    shmt_import_free(import);
    refuses(T1("{\"Name\": \"a\", \"Values\": [0, 1], "
               "\"Default\": [0, 1]}", ""),
            "TuningParameters[0].Default: found a list of 2 values, expected "
            "one value");
}

/* What is no JSON is refused where it is not, within entries too. */
static void json_is_read_strictly(void)
{
    static const struct {
        const char *value, *message;
    } cases[] = {
        {"01", "1:10: a number that JSON does not have"},
        {"-", "a number"}, {"1.", "a number"}, {".5", "found '.', expected a"},
        {"1e", "a number"}, {"1e999", "a number that is too large"},
        {"9223372036854775808", "a number that is too large"},
        {"NaN", "found 'N', expected a value"}, {"tru", "expected a value"},
        {"[1,]", "found ']', expected a value"}, {"[1 2]", "expected ',' or"},
        {"{\"a\": 1,}", "expected a name in quotes"},
        {"{\"a\": 1, \"a\": 2}", "\"a\" is there twice"},
        {"{a: 1}", "expected a name"}, {"\"\\x\"", "an escape that JSON"},
        {"\"\\ud800\"", "half of a surrogate pair"},
        {"\"\\u0000\"", "cannot be in a text"}, {"\"\xff\"", "not UTF-8"},
        {"\"a\nb\"", "expected a character of a text"},
        {"\"a", "the quote that ends a text"}, {"[1}", "found '}'"},
        {"1} x", "expected the end of the file"},
    };

    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct shmt_text text = {0};

        shmt_text_addf(&text, "{\"more\": %s}", cases[k].value);
        refuses(shmt_text_string(&text), cases[k].message);
        shmt_text_clear(&text);
        shmt_text_addf(&text, "{\"tune_params_keys\": [\"a\"], "
                              "\"tune_params\": {\"a\": [1]}, \"cache\": {\n"
                              "\"1\": {\"a\": 1, \"time\": 1, \"m\": %s}}}",
                       cases[k].value);
        refuses(shmt_text_string(&text), "f.json:");
        shmt_text_free(&text);
    }
    refuses("{\"tune_params_keys\": [\"a\"], \"tune_params\": {\"a\": [1]}, "
            "\"cache\": {\"1\": {\"a\": 1, \"time\": 1}, "
            "\"1\": {\"a\": 1, \"time\": 2}}}", "\"1\" is there twice");
}

static void check_count(const char *text, uint64_t expected)
{
    struct shmt_import *import = parse(text);
    uint64_t count = 0;

    CHECK(import != NULL);
    if (import != NULL) {
        CHECK_INT(shmt_import_count(import, &count, &err), SHMTUNE_OK);
        CHECK_INT(count, expected);
    }
    shmt_import_free(import);
}

static void check_no_count(const char *text, const char *message)
{
    struct shmt_import *import = parse(text);
    uint64_t count;

    CHECK(import != NULL);
    if (import != NULL) {
        CHECK_INT(shmt_import_count(import, &count, &err),
                  SHMTUNE_INVALID_FILE);
        CHECK_HAS(err.text, message);
    }
    shmt_import_free(import);
}

/* Whatever words a space has, they are words in its spec too. */
static void words_stay_words(void)
{
    struct shmt_import *import = parse(T1(
        P("type", "[\"float4 *\", \"16x16\", \"0\", \"true\", \"a b\", "
                  "\"-O3\", \"1e3\", \"it's: #1, {x}\"]"),
        C("type in ['0', '16x16', 'a b'] or type == '-O3'")));
    struct shmt_kernel *kernel;
    uint64_t count = 0;

    CHECK(import != NULL);
    if (import == NULL)
        return;
    CHECK_INT(shmt_import_count(import, &count, &err), SHMTUNE_OK);
    CHECK_INT(count, 4);
    kernel = kernel_of(import);
    CHECK(kernel != NULL);
    for (size_t k = 0; kernel != NULL && k < 8; k++) {
        CHECK_INT(kernel->parameters[0].values[k].type, SHMT_VALUE_WORD);
        CHECK_TEXT(kernel->parameters[0].values[k].w,
                   import->parameters[0].values[k].w);
    }
    shmt_kernel_free(kernel);
    shmt_import_free(import);
}

/* Their place is the condition in the file, not in what was made of it. */
static void conditions_that_cannot_hold_are_named(void)
{
    check_count(T1(P("a", "\"range(1, 5)\"") ", " P("b", "[1, 2, 3]"),
                   C("a <= b") ", " C("a % 2 == 1 or b > 2")), 5);
    check_no_count(T1(P("a", "[1, 2]"), C("a < 3") ", " C("3 / (a - 2) > 0")),
                   "f.json: ConfigurationSpace.Conditions[1].Expression: "
                   "character 3: division by zero where a = 2");
    check_no_count(T1(P("a", "[1, 2]"), C("a ** 2000 > 1")),
                   "Conditions[0].Expression: character 3: overflow where "
                   "a = 2");
    check_no_count(T1(P("a", "[1, 2]"),
                      C("a > 0") ", " C("a > 2") ", " C("a > 1")),
                   "Conditions[1].Expression: with it no configuration is "
                   "left; in `a > 2`");
}

static void hostile_files_are_refused_at_once(void)
{
    static const struct {
        const char *head, *piece;
    } hostile[] = {
        {"", "["}, {"", "{\"a\":"}, {"{\"cache\": ", "["},
        {"{\"ConfigurationSpace\": {\"TuningParameters\": [{\"Name\": "
         "\"a\", \"Values\": \"", "["},
        {"{\"ConfigurationSpace\": {\"TuningParameters\": [{\"Name\": "
         "\"a\", \"Values\": \"", "list("},
        {"\"", "a"},
    };
    const clock_t start = clock();

    for (size_t k = 0; k < sizeof hostile / sizeof *hostile; k++) {
        char *text = repeated(hostile[k].head, hostile[k].piece, 1000000);
        struct shmt_import *import = parse(text);

        CHECK(import == NULL);
        CHECK_HAS(err.text, "f.json");
        free(text);
    }
    CHECK((double)(clock() - start) / CLOCKS_PER_SEC < 2.0);
}

static void open_caches_are_closed(void)
{
    static const char open[] =
        "{\"tune_params_keys\": [\"a\"], \"tune_params\": {\"a\": [1, 2]}, "
        "\"cache\": {\n\"1\": {\"a\": 1, \"time\": 2.5},\n"
        "\"2\": {\"a\": 2, \"time\": 1.5},";
    struct shmt_import *import = parse(open);

    CHECK(import != NULL);
    if (import != NULL)
        CHECK_INT(import->entry_count, 2);
    shmt_import_free(import);
    refuses("{\"tune_params_keys\": [\"a\"], \"tune_params\": {\"a\": [1]}, "
            "\"cache\": {\n\"1\": {\"a\": 1, \"ti", "f.json:2:");
}

int main(void)
{
    import_begin();
    CHECK_RUN(t1_spaces_become_specs);
    CHECK_RUN(what_is_wrong_has_its_place);
    CHECK_RUN(defaults_may_stand_in_a_list);
    CHECK_RUN(json_is_read_strictly);
    CHECK_RUN(words_stay_words);
    CHECK_RUN(conditions_that_cannot_hold_are_named);
    CHECK_RUN(hostile_files_are_refused_at_once);
    CHECK_RUN(open_caches_are_closed);
    import_end();
    return CHECK_END();
}
