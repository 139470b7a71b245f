/* SPDX-License-Identifier: MIT */
/*
 * import and export: what is taken, what is refused and where, and that what
 * goes in comes out.
 */
#include <jansson.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "core/path.h"
#include "tune/export.h"
#include "tune/import.h"

static struct shmt_error err;
static char folder[] = "/tmp/shmtune-import.XXXXXX";

/* -- Python's lists ------------------------------------------------------- */

static void check_list(const char *text, const char *expected)
{
    struct shmt_arena *arena = shmt_arena_new();
    struct shmt_import_list list = {0};
    struct shmt_text got = {0};

    err.text[0] = '\0';
    if (shmt_import_list(arena, "f.json: Values", text, &list, &err) !=
        SHMTUNE_OK)
        shmt_text_add(&got, err.text);
    for (size_t k = 0; k < list.count; k++) {
        shmt_text_add(&got, k == 0 ? "" : " ");
        if (list.type == SHMT_INT)
            shmt_text_addf(&got, "%lld", (long long)list.values[k].i);
        else if (list.type == SHMT_REAL)
            shmt_text_addf(&got, "%g.", list.values[k].r);
        else
            shmt_text_add(&got, list.values[k].w);
    }
    if (strncmp(expected, "~", 1) == 0)
        CHECK_HAS(shmt_text_string(&got), expected + 1);
    else
        CHECK_TEXT(shmt_text_string(&got), expected);
    shmt_text_free(&got);
    shmt_arena_free(arena);
}

static void lists_are_pythons(void)
{
    check_list("[1, 2, 4]", "1 2 4");
    check_list(" ( 1 ,-2 , 3, ) ", "1 -2 3");
    check_list("[0x10, 2**5, 12//5, 1_000]", "16 32 2 1000");
    check_list("[0.5, 1, -1.5]", "0.5. 1. -1.5.");
    check_list("['a', \"b-c\"]", "a b-c");
    check_list("[True, False]", "1 0");
    check_list("range(4)", "0 1 2 3");
    check_list("range(1, 10, 4)", "1 5 9");
    check_list("list(range(5, 0, -2))", "5 3 1");
    check_list("range(3, 3)", "");
    check_list("[2**i for i in range(5)]", "1 2 4 8 16");
    check_list("[x*2 for x in [1,2,3,4] if x % 2 == 0 and x != 2]", "8");
    check_list("[i/2 for i in range(1, 4)]", "0.5. 1. 1.5.");
    check_list("[w for w in ['a', 'b'] if w != 'a']", "b");
    check_list("[16*i for i in range(1,3)] + [1] + list((7, 9))",
               "16 32 1 7 9");
    check_list("[(i if i > 1 else 10) for i in range(3)]", "10 10 2");
    check_list("[i for i in list(range(2)) + [5]]", "0 1 5");
    check_list("[max(i, 2) for i in (1, 2, 3)]", "2 2 3");
    check_list("[-9223372036854775808, 9223372036854775807]",
               "-9223372036854775808 9223372036854775807");
}

static void lists_beyond_that_are_refused(void)
{
    check_list("", "~f.json: Values: character 1: expected a list");
    check_list("5", "~expected a list");
    check_list("[1, 2", "~character 6: expected ','");
    check_list("[1 2]", "~found '2', expected an operator");
    check_list("[1, [2]]", "~character 5: a list in a list");
    check_list("[1, 'a']", "~words and numbers in one list");
    check_list("[1, 2] * 3", "~expected the end");
    check_list("range(10**9)", "~a range of 1000000000 values, at most 65535");
    check_list("range(0, 9223372036854775807, 1)", "~at most 65535");
    check_list("range(-9223372036854775808, 9223372036854775807)",
               "~at most 65535");
    check_list("range(1, 5, 0)", "~the step of a range is 0");
    check_list("range(1.5)", "~takes integers");
    check_list("range()", "~found the end, expected a value");
    check_list("range(1, 2, 3, 4)", "~one to three numbers");
    check_list("[i for i in range(3) for j in range(3)]", "~only one 'for'");
    check_list("[j for i in range(3)]", "~unknown name 'j'");
    check_list("[1 / i for i in range(3)]", "~division by zero where i = 0");
    check_list("[10**i for i in range(30)]", "~overflow where i = 19");
    check_list("[open('x') for i in range(3)]", "~unknown function 'open'");
    check_list("[i for 3 in range(3)]", "~expected a name");
    check_list("[i for i of range(3)]", "~expected 'in'");
    check_list("np.arange(3)", "~expected a list");
    check_list("__import__('os')", "~expected a list");
    check_list("[1, lambda: 2]", "~found 'lambda'");
}

/* -- files ---------------------------------------------------------------- */

static struct shmt_import *parse(const char *text)
{
    struct shmt_import *import = NULL;

    err.text[0] = '\0';
    shmt_import_parse("f.json", text, strlen(text), &import, &err);
    return import;
}

static struct shmt_kernel *kernel_of(const struct shmt_import *import);

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
    refuses("[1, 2]", "found no object at the top");
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
        CHECK_INT(kernel->parameters[0].values[k].type, SHMT_WORD);
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

static char *repeated(const char *head, const char *piece, size_t count)
{
    const size_t length = strlen(piece), start = strlen(head);
    char *text = malloc(start + count * length + 1);

    memcpy(text, head, start);
    for (size_t k = 0; k < count; k++)
        memcpy(text + start + k * length, piece, length);
    text[start + count * length] = '\0';
    return text;
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

static void hostile_lists_are_refused_at_once(void)
{
    static const struct {
        const char *piece, *message;
    } hostile[] = {
        {"list(", "nested too deep"}, {"[1]+", "expected a list"},
        {"(", "a value"}, {"[", "a list in a list"},
        {"[1 for i in ", "nested too deep"},
    };
    const clock_t start = clock();

    for (size_t k = 0; k < sizeof hostile / sizeof *hostile; k++) {
        char *text = repeated("", hostile[k].piece, 60000);
        struct shmt_arena *arena = shmt_arena_new();
        struct shmt_import_list list;

        CHECK(shmt_import_list(arena, "f.json", text, &list, &err) ==
              SHMTUNE_INVALID_FILE);
        shmt_arena_free(arena);
        free(text);
    }
    CHECK((double)(clock() - start) / CLOCKS_PER_SEC < 2.0);
}

/* -- round trips ---------------------------------------------------------- */

/* Import `text`, write its spec, and read that. */
static struct shmt_kernel *kernel_of(const struct shmt_import *import)
{
    struct shmt_text text = {0}, path = {0};
    struct shmt_kernel *kernel = NULL;
    bool defaults;

    shmt_text_addf(&path, "%s/%s.yaml", folder, import->name);
    if (shmt_import_spec(import, &text, &defaults, &err) == SHMTUNE_OK &&
        shmt_path_write(path.data, text.data, text.length, &err) ==
            SHMTUNE_OK)
        shmt_kernel_read(path.data, &kernel, &err);
    shmt_text_free(&text);
    shmt_text_free(&path);
    return kernel;
}

static struct shmt_journal *journal_of(const struct shmt_import *import,
                                       const struct shmt_kernel *kernel)
{
    struct shmt_journal *journal = NULL;
    struct shmt_text text = {0}, path = {0};

    shmt_text_addf(&path, "%s/run.journal", folder);
    if (shmt_import_journal(import, kernel, &text, &err) == SHMTUNE_OK &&
        shmt_path_write(path.data, text.data, text.length, &err) ==
            SHMTUNE_OK)
        shmt_journal_read(path.data, kernel, &journal, &err);
    shmt_text_free(&text);
    shmt_text_free(&path);
    return journal;
}

typedef enum shmtune_status exporter(const struct shmt_kernel *,
                                     const struct shmt_journal *,
                                     struct shmt_text *, struct shmt_error *);

/* What comes out is, as JSON, what went in. */
static void check_trip(const char *text, exporter *out)
{
    struct shmt_import *import = parse(text);
    struct shmt_kernel *kernel = NULL;
    struct shmt_journal *journal = NULL;
    struct shmt_text back = {0};
    json_t *first, *second;

    CHECK(import != NULL);
    kernel = import == NULL ? NULL : kernel_of(import);
    CHECK(kernel != NULL);
    journal = kernel == NULL ? NULL : journal_of(import, kernel);
    CHECK(journal != NULL);
    if (journal != NULL) {
        CHECK_INT(out(kernel, journal, &back, &err), SHMTUNE_OK);
        first = json_loads(text, 0, NULL);
        second = json_loads(shmt_text_string(&back), 0, NULL);
        CHECK(json_equal(first, second));
        if (!json_equal(first, second))
            printf("# %s\n# became %s\n", text, back.data);
        json_decref(first);
        json_decref(second);
    }
    if (err.text[0] != '\0')
        printf("# %s\n", err.text);
    shmt_text_free(&back);
    shmt_journal_free(journal);
    shmt_kernel_free(kernel);
    shmt_import_free(import);
}

static const char cache[] =
    "{\"device_name\": \"A \\\"GPU\\\"\", \"kernel_name\": \"conv\", "
    "\"problem_size\": [4096, 17], \"objective\": \"time\", "
    "\"tune_params_keys\": [\"x\", \"on\", \"f\", \"mode\"], "
    "\"tune_params\": {\"x\": [1, 2, 4], \"on\": [true, false], "
    "\"f\": [0.5, 1, 1e-7], \"mode\": [\"b\", \"a\"]}, \"cache\": {"
    "\"1,True,0.5,b\": {\"x\": 1, \"on\": true, \"f\": 0.5, \"mode\": \"b\", "
    "\"time\": 3.8753279224038124, \"times\": [3.976191997528076, 3.1], "
    "\"compile_time\": 918.5990339610726, \"verification_time\": 0, "
    "\"benchmark_time\": 126.38, \"GFLOP/s\": 1948.1569950129526, "
    "\"strategy_time\": 0, \"framework_time\": 105.2, "
    "\"timestamp\": \"2023-12-22 09:54:05.502007+00:00\"}, "
    "\"4,False,1e-07,a\": {\"x\": 4, \"on\": false, \"f\": 1e-7, "
    "\"mode\": \"a\", \"time\": \"RuntimeFailedConfig\", "
    "\"compile_time\": 16378.9}, "
    "\"2,True,1,a\": {\"x\": 2, \"on\": true, \"f\": 1, \"mode\": \"a\", "
    "\"time\": \"InvalidConfig\", \"extra\": {\"deep\": [null, {}]}}}}";

static const char t4[] =
    "{\"metadata\": {\"timeunit\": \"miliseconds\", \"who\": [1, 2]}, "
    "\"schema_version\": \"1.0.0\", \"results\": ["
    "{\"timestamp\": \"now\", \"configuration\": {\"x\": 8, \"on\": true}, "
    "\"times\": {\"compilation\": 918.5990339610726, \"framework\": 105.2, "
    "\"search_algorithm\": 0, \"validation\": 0.25, "
    "\"runtimes\": [3.976191997528076, 3.25]}, \"invalidity\": \"correct\", "
    "\"correctness\": 1, \"measurements\": [{\"name\": \"time\", "
    "\"value\": 3.8753279224038124, \"unit\": \"\"}], "
    "\"objectives\": [\"time\"]}, "
    "{\"configuration\": {\"x\": 2, \"on\": false}, \"times\": {}, "
    "\"invalidity\": \"timeout\", \"correctness\": 0}]}";

static void imported_runs_come_out_as_they_went_in(void)
{
    check_trip(cache, shmt_export_cache);
    check_trip(t4, shmt_export_t4);
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

static void results_are_understood(void)
{
    struct shmt_import *import = parse(cache);
    const struct shmt_import_entry *entries;

    CHECK(import != NULL);
    if (import == NULL)
        return;
    entries = import->entries;
    CHECK_INT(import->dimension_count, 2);
    CHECK_INT(import->dimensions[0], 4096);
    CHECK_TEXT(import->device, "A \"GPU\"");
    CHECK_INT(entries[0].result.verdict, SHMT_VERDICT_OK);
    CHECK(entries[0].result.time_us == 3.8753279224038124 * 1000.0);
    CHECK_INT(entries[0].result.sample_count, 2);
    CHECK(entries[0].result.compile_ms == 918.5990339610726);
    CHECK(entries[0].result.measure_ms == 126.38 + 105.2);
    CHECK_INT(entries[1].result.verdict, SHMT_VERDICT_LAUNCH_ERROR);
    CHECK_INT(entries[2].result.verdict, SHMT_VERDICT_TOO_LARGE);
    CHECK(entries[1].at_s > entries[0].at_s);
    shmt_import_free(import);
}

static void times_have_units(void)
{
    struct shmt_import *import = parse(
        "{\"metadata\": {\"timeunit\": \"seconds\"}, \"results\": ["
        "{\"configuration\": {\"a\": 1}, \"times\": {\"compilation\": 0.5, "
        "\"runtimes\": [0.25]}, \"invalidity\": \"correct\", "
        "\"measurements\": [{\"name\": \"time\", \"value\": 250, "
        "\"unit\": \"us\"}]}]}");

    CHECK(import != NULL);
    if (import != NULL) {
        CHECK(import->entries[0].result.compile_ms == 500);
        CHECK(import->entries[0].result.samples_us[0] == 250000);
        CHECK(import->entries[0].result.time_us == 250);
    }
    shmt_import_free(import);
}

/* A run of ours: what is written in the other form is read back the same. */
static void our_runs_come_back(void)
{
    exporter *const forms[] = {shmt_export_cache, shmt_export_t4};
    struct shmt_import *import = parse(cache);
    struct shmt_kernel *kernel;
    struct shmt_journal *journal, own, *back;
    struct shmt_journal_record records[3];
    struct shmt_result result;
    struct shmt_text text = {0}, once = {0}, again = {0};

    import->dimension_names[0] = "rows";
    import->dimension_names[1] = "cols";
    kernel = kernel_of(import);
    journal = journal_of(import, kernel);
    result = *journal->records[0].result;
    result.resources.registers = 40;
    result.resources.spill_store_bytes = 8;
    result.occupancy_percent = 75;
    shmt_result_fail(&result, SHMT_VERDICT_UNSTABLE, "first \"%s\", then",
                     "this");
    own = *journal;
    own.records = records;
    own.header.origin = NULL;
    for (size_t k = 0; k < 3; k++) {
        records[k] = journal->records[k];
        records[k].origin = NULL;
    }
    records[2].result = &result;
    shmt_journal_header_write(kernel, &own.header, &once);
    for (size_t k = 0; k < 3; k++)
        shmt_journal_result_write(kernel, &records[k], &once);
    for (size_t f = 0; f < 2; f++) {
        struct shmt_import *other;
        struct shmt_kernel *alone;

        shmt_text_clear(&text);
        shmt_text_clear(&again);
        CHECK_INT(forms[f](kernel, &own, &text, &err), SHMTUNE_OK);
        other = parse(shmt_text_string(&text));
        CHECK(other != NULL);
        back = other == NULL ? NULL : journal_of(other, kernel);
        CHECK(back != NULL);
        /* Its spec has the journal's dimensions, so that both go together. */
        alone = other == NULL ? NULL : kernel_of(other);
        CHECK(alone != NULL);
        if (alone != NULL) {
            CHECK_TEXT(alone->name, kernel->name);
            CHECK_TEXT(other->device, import->device);
            CHECK_INT(alone->dimension_count, kernel->dimension_count);
            CHECK_TEXT(alone->dimensions[0].name, kernel->dimensions[0].name);
        }
        shmt_kernel_free(alone);
        if (back != NULL) {
            shmt_journal_header_write(kernel, &back->header, &again);
            for (size_t k = 0; k < back->count; k++)
                shmt_journal_result_write(kernel, &back->records[k], &again);
            CHECK_TEXT(shmt_text_string(&again), shmt_text_string(&once));
        }
        shmt_journal_free(back);
        shmt_import_free(other);
    }
    shmt_text_free(&text);
    shmt_text_free(&once);
    shmt_text_free(&again);
    shmt_journal_free(journal);
    shmt_kernel_free(kernel);
    shmt_import_free(import);
}

static void values_must_be_the_specs(void)
{
    struct shmt_import *import = parse(cache), *other;
    struct shmt_kernel *kernel = kernel_of(import);
    struct shmt_text text = {0};

    other = parse("{\"tune_params_keys\": [\"mode\", \"x\", \"on\", \"f\"], "
                  "\"tune_params\": \"?\", \"cache\": {\"\": {\"x\": 3, "
                  "\"on\": true, \"f\": 1, \"mode\": \"b\", "
                  "\"time\": 1.0}}}");
    CHECK(other != NULL);
    if (other != NULL) {
        CHECK_INT(shmt_import_journal(other, kernel, &text, &err),
                  SHMTUNE_INVALID_FILE);
        CHECK_HAS(err.text, "x is 3, which is none of its values");
    }
    shmt_text_free(&text);
    shmt_import_free(other);
    shmt_kernel_free(kernel);
    shmt_import_free(import);
}

int main(void)
{
    if (mkdtemp(folder) == NULL)
        return EXIT_FAILURE;
    CHECK_RUN(lists_are_pythons);
    CHECK_RUN(lists_beyond_that_are_refused);
    CHECK_RUN(t1_spaces_become_specs);
    CHECK_RUN(what_is_wrong_has_its_place);
    CHECK_RUN(words_stay_words);
    CHECK_RUN(conditions_that_cannot_hold_are_named);
    CHECK_RUN(hostile_files_are_refused_at_once);
    CHECK_RUN(hostile_lists_are_refused_at_once);
    CHECK_RUN(results_are_understood);
    CHECK_RUN(times_have_units);
    CHECK_RUN(imported_runs_come_out_as_they_went_in);
    CHECK_RUN(open_caches_are_closed);
    CHECK_RUN(our_runs_come_back);
    CHECK_RUN(values_must_be_the_specs);
    for (size_t k = 0; k < 4; k++) {
        static const char *const files[] = {"conv.yaml", "f.yaml",
                                            "my_kernel.yaml", "run.journal"};
        struct shmt_text path = {0};

        shmt_text_addf(&path, "%s/%s", folder, files[k]);
        unlink(shmt_text_string(&path));
        shmt_text_free(&path);
    }
    rmdir(folder);
    return CHECK_END();
}
