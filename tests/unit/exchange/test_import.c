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
        {"Nan", "found 'N', expected a value"}, {"tru", "expected a value"},
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
        CHECK_INT(shmt_import_count(import, &count, NULL, &err), SHMTUNE_OK);
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
        CHECK_INT(shmt_import_count(import, &count, NULL, &err),
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
    CHECK_INT(shmt_import_count(import, &count, NULL, &err), SHMTUNE_OK);
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

/* A cache of `count` entries, each of another value of `a`, which is made of
 * `value` (a format of one number), and of `more` members. */
static char *cache_of(const char *list, const char *value, int count,
                      const char *more)
{
    struct shmt_text text = {0};

    shmt_text_addf(&text, "{\"tune_params_keys\": [\"a\"], "
                          "\"tune_params\": %s, \"cache\": {", list);
    for (int k = 0; k < count; k++) {
        shmt_text_addf(&text, "%s\"%d\": {\"a\": ", k == 0 ? "" : ",", k);
        shmt_text_addf(&text, value, k);
        shmt_text_addf(&text, ", \"time\": 1%s}", more);
    }
    shmt_text_add(&text, "}}");
    return text.data;
}

/* `most` of something are taken, one more is refused. */
static void check_most(char *most, char *more, const char *message)
{
    struct shmt_import *import = parse(most);

    CHECK(import != NULL);
    if (import == NULL)
        printf("# %s\n", err.text);
    shmt_import_free(import);
    refuses(more, message);
    free(most);
    free(more);
}

/* {"tune_params_keys": [...]} with so many parameters. */
static char *parameters_of(int count)
{
    struct shmt_text text = {0};

    shmt_text_add(&text, "{\"tune_params_keys\": [");
    for (int p = 0; p < count; p++)
        shmt_text_addf(&text, "%s\"p%d\"", p == 0 ? "" : ",", p);
    shmt_text_add(&text, "], \"tune_params\": {");
    for (int p = 0; p < count; p++)
        shmt_text_addf(&text, "%s\"p%d\": [1]", p == 0 ? "" : ",", p);
    shmt_text_add(&text, "}, \"cache\": {}}");
    return text.data;
}

static char *list_of(int count)
{
    struct shmt_text text = {0};

    for (int k = 0; k < count; k++)
        shmt_text_addf(&text, "%s%d", k == 0 ? "{\"a\": [" : ",", k);
    shmt_text_add(&text, "]}");
    return text.data;
}

static char *brackets_of(int count)
{
    char *const text = malloc(2 * (size_t)count + 1);

    memset(text, '[', (size_t)count);
    memset(text + count, ']', (size_t)count);
    text[2 * count] = '\0';
    return text;
}

/* What is refused for its number or its size, at the last that is taken. */
static void there_are_caps(void)
{
    char *const list = list_of(SHMT_SPACE_VALUES);
    char *const longer = list_of(SHMT_SPACE_VALUES + 1);
    char *const most = repeated(", \"m\": \"", "x", 57324);
    char *const more = repeated(", \"m\": \"", "x", 57400);
    struct shmt_text text = {0}, over = {0};

    check_most(parameters_of(SHMT_SPACE_PARAMETERS),
               parameters_of(SHMT_SPACE_PARAMETERS + 1),
               "tune_params_keys: 65 parameters, 1 to 64 are possible");
    check_most(cache_of(list, "%d", 2, ""), cache_of(longer, "%d", 2, ""),
               "tune_params.a: 65536 values, at most 65535 are possible");
    check_most(cache_of("\"?\"", "%d", SHMT_SPACE_VALUES, ""),
               cache_of("\"?\"", "%d", SHMT_SPACE_VALUES + 1, ""),
               "the parameter a has more than 65535 different values");
    check_most(cache_of("\"?\"", "\"w%d\"", 1024, ""),
               cache_of("\"?\"", "\"w%d\"", 1025, ""),
               "the parameter a has more than 1024 different values");
    shmt_text_addf(&text, "%s\"", most);
    shmt_text_addf(&over, "%s\"", more);
    check_most(cache_of("{\"a\": [0]}", "%d", 1, shmt_text_string(&text)),
               cache_of("{\"a\": [0]}", "%d", 1, shmt_text_string(&over)),
               "bytes beside the configuration, at most 57344 fit");
    shmt_text_free(&text);
    shmt_text_free(&over);
    free(list);
    free(longer);
    free(most);
    free(more);
}

/* Brackets within each other; the bytes of a word and of a name. */
static void there_are_caps_of_depth_and_length(void)
{
    static const char head[] = ", \"m\": ", word[] =
        "\"0123456789012345678901234567890123456789012345678901234567890123";
    char *const most = brackets_of(97), *const more = brackets_of(98);
    struct shmt_text text = {0}, over = {0};

    shmt_text_addf(&text, "%s%s", head, most);
    shmt_text_addf(&over, "%s%s", head, more);
    check_most(cache_of("{\"a\": [0]}", "%d", 1, shmt_text_string(&text)),
               cache_of("{\"a\": [0]}", "%d", 1, shmt_text_string(&over)),
               "more than 100 brackets within each other");
    shmt_text_clear(&text);
    shmt_text_clear(&over);
    shmt_text_addf(&text, "%s\"", word);
    shmt_text_addf(&over, "%s4\"", word);
    check_most(cache_of("\"?\"", shmt_text_string(&text), 1, ""),
               cache_of("\"?\"", shmt_text_string(&over), 1, ""),
               "on one line, 1 to 64 bytes");
    shmt_text_free(&text);
    shmt_text_free(&over);
    free(most);
    free(more);
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
    CHECK_RUN(there_are_caps);
    CHECK_RUN(there_are_caps_of_depth_and_length);
    CHECK_RUN(open_caches_are_closed);
    import_end();
    return CHECK_END();
}
