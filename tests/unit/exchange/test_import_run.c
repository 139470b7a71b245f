/* SPDX-License-Identifier: MIT */
/*
 * import and export: what the runs of other tuners say is understood, and
 * what goes in comes out.
 */
#include <jansson.h>

#include "base/text.h"
#include "exchange/exchange.h"
#include "tests/support/check.h"
#include "tests/support/import_fixture.h"

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

/* Numbers among words are words here, and numbers again when they leave. */
static const char words[] =
    "{\"device_name\": \"A\", \"kernel_name\": \"k\", "
    "\"problem_size\": [64], \"objective\": \"time\", "
    "\"tune_params_keys\": [\"x\"], "
    "\"tune_params\": {\"x\": [1, \"half\", 0.5, \"2\"]}, \"cache\": {"
    "\"1\": {\"x\": 1, \"time\": 1.5}, "
    "\"half\": {\"x\": \"half\", \"time\": 2.5}, "
    "\"2\": {\"x\": \"2\", \"time\": 3.5}, "
    "\"0.5\": {\"x\": 0.5, \"time\": 4.5}}}";

static void imported_runs_come_out_as_they_went_in(void)
{
    check_trip(words, shmt_export_cache);
    check_trip(cache, shmt_export_cache);
    check_trip(t4, shmt_export_t4);
}

/* The results of an import, as the records of its journal. */
struct run {
    struct shmt_import *import;
    struct shmt_kernel *kernel;
    struct shmt_journal *journal;   /* NULL: refused */
};

static struct run run_of(const char *text)
{
    struct run run = {.import = parse(text)};

    CHECK(run.import != NULL);
    if (run.import != NULL)
        run.kernel = kernel_of(run.import);
    if (run.kernel != NULL)
        run.journal = journal_of(run.import, run.kernel);
    CHECK(run.journal != NULL);
    if (err.text[0] != '\0')
        printf("# %s\n", err.text);
    return run;
}

static void end_run(struct run *run)
{
    shmt_journal_free(run->journal);
    shmt_kernel_free(run->kernel);
    shmt_import_free(run->import);
}

/* A journal has six digits of a time, five of a sample. */
static bool is_near(double a, double b)
{
    return a >= b * 0.99998 && a <= b * 1.00002;
}

static void results_are_understood(void)
{
    struct run run = run_of(cache);
    const struct shmt_journal_record *records;

    if (run.journal != NULL) {
        records = run.journal->records;
        CHECK_INT(run.import->dimension_count, 2);
        CHECK_INT(run.import->dimensions[0], 4096);
        CHECK_TEXT(run.import->device, "A \"GPU\"");
        CHECK_INT(run.journal->count, 3);
        CHECK_INT(records[0].result->verdict, SHMT_VERDICT_OK);
        CHECK(is_near(records[0].result->time_us, 3875.3279224038124));
        CHECK_INT(records[0].result->sample_count, 2);
        CHECK(is_near(records[0].result->compile_ms, 918.5990339610726));
        CHECK(is_near(records[0].result->measure_ms, 126.38 + 105.2));
        CHECK_INT(records[1].result->verdict, SHMT_VERDICT_LAUNCH_ERROR);
        CHECK_INT(records[2].result->verdict, SHMT_VERDICT_TOO_LARGE);
        CHECK(records[1].at_s > records[0].at_s);
    }
    end_run(&run);
}

/* Each generation of Kernel Tuner has another way to say that it failed. */
static void failures_need_no_time(void)
{
    static const struct {
        const char *entry;
        enum shmt_verdict verdict;
        const char *reason;
    } cases[] = {
        {"\"time\": \"InvalidConfig\"", SHMT_VERDICT_TOO_LARGE,
         "InvalidConfig"},
        {"\"__error__\": \"CompilationFailedConfig\"",
         SHMT_VERDICT_COMPILE_ERROR, "CompilationFailedConfig"},
        {"\"__error__\": \"SkippedConfig\"", SHMT_VERDICT_CRASH,
         "SkippedConfig"},
        {"\"__error__\": \"RuntimeFailedConfig\", \"time\": 1.5",
         SHMT_VERDICT_LAUNCH_ERROR, "RuntimeFailedConfig"},
        {"\"GFLOP/s\": \"RuntimeFailedConfig\", \"time\": 1.5",
         SHMT_VERDICT_LAUNCH_ERROR, "RuntimeFailedConfig"},
        {"\"compile_time\": 2.5", SHMT_VERDICT_CRASH, "no time"},
        {"\"time\": null", SHMT_VERDICT_CRASH, "no time"},
    };

    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct shmt_text text = {0};
        struct run run;

        shmt_text_addf(&text, "{\"objective\": \"GFLOP/s\", "
                              "\"tune_params_keys\": [\"a\"], "
                              "\"tune_params\": {\"a\": [1]}, "
                              "\"cache\": {\"1\": {\"a\": 1, %s}}}",
                       cases[k].entry);
        run = run_of(shmt_text_string(&text));
        if (run.journal != NULL) {
            CHECK_INT(run.journal->records[0].result->verdict,
                      cases[k].verdict);
            CHECK_HAS(run.journal->records[0].result->reason,
                      cases[k].reason);
        }
        end_run(&run);
        shmt_text_free(&text);
    }
    CHECK(parse("{\"objective\": \"energy\", "
                "\"tune_params_keys\": [\"a\"], "
                "\"tune_params\": {\"a\": [1]}, "
                "\"cache\": {\"1\": {\"a\": 1, \"energy\": 2.5}}}") == NULL);
    CHECK_HAS(err.text, "f.json: cache.1: \"time\" is missing, and the "
                        "objective \"energy\" is 2.5");
}

static void times_have_units(void)
{
    struct run run = run_of(
        "{\"metadata\": {\"timeunit\": \"seconds\"}, \"results\": ["
        "{\"configuration\": {\"a\": 1}, \"times\": {\"compilation\": 0.5, "
        "\"runtimes\": [0.25]}, \"invalidity\": \"correct\", "
        "\"measurements\": [{\"name\": \"time\", \"value\": 250, "
        "\"unit\": \"us\"}]}]}");

    if (run.journal != NULL) {
        const struct shmt_result *const result =
            run.journal->records[0].result;

        CHECK(result->compile_ms == 500);
        CHECK(result->samples_us[0] == 250000);
        CHECK(result->time_us == 250);
    }
    end_run(&run);
    run = run_of(
        "{\"metadata\": {\"timeunit\": \"seconds\"}, \"results\": ["
        "{\"configuration\": {\"a\": 1}, \"times\": {\"runtimes\": [0.25]}, "
        "\"invalidity\": \"correct\", \"measurements\": "
        "[{\"name\": \"time\", \"value\": 0.25, \"unit\": \"\"}]}]}");
    if (run.journal != NULL)
        CHECK(run.journal->records[0].result->time_us == 250000);
    end_run(&run);
}

/* KTT's own results as T4: the objective is a time by its unit, which is that
 * of the others, too. */
static void an_objective_has_a_unit(void)
{
    struct run run = run_of(
        "{\"schema_version\": \"1.0.0\", \"results\": ["
        "{\"configuration\": {\"a\": 1}, \"objectives\": "
        "[\"TotalDuration\"], \"times\": {\"compilation_time\": 2500.0, "
        "\"runtimes\": [250.5], \"framework\": 1500, \"validation\": 0}, "
        "\"invalidity\": \"correct\", \"correctness\": 1, "
        "\"measurements\": [{\"name\": \"dram\", \"value\": 6.5, "
        "\"unit\": \"\"}, {\"name\": \"TotalDuration\", \"value\": 250.5, "
        "\"unit\": \"Microseconds\"}]}]}");
    struct shmt_text written = {0};

    if (run.journal != NULL) {
        const struct shmt_result *const result =
            run.journal->records[0].result;

        CHECK(result->time_us == 250.5);
        CHECK(result->samples_us[0] == 250.5f);
        CHECK(result->compile_ms == 2.5);
        CHECK(result->measure_ms > 1.75 && result->measure_ms < 1.7506);
        CHECK_INT(shmt_export_cache(run.kernel, run.journal, &written, &err),
                  SHMTUNE_OK);
        CHECK_HAS(shmt_text_string(&written), "\"time\": 0.2505");
        CHECK_HAS(shmt_text_string(&written), "\"times\": [0.2505]");
        CHECK_HAS(shmt_text_string(&written), "\"compile_time\": 2.5,");
        CHECK_HAS(shmt_text_string(&written), "\"framework_time\": 1.5");
    }
    shmt_text_free(&written);
    end_run(&run);
}

static const char ktt[] =
    "{\"Metadata\": {\"ComputeApi\": \"CUDA\", \"Device\": \"A GPU\", "
    "\"KttVersion\": \"2.1.0\", \"TimeUnit\": \"Microseconds\"}, "
    "\"Results\": [\n"
    "{\"ComputationResults\": [{\"Duration\": 109440.0, \"Overhead\": 7500, "
    "\"KernelFunction\": \"sum\"}], \"Configuration\": ["
    "{\"Name\": \"x\", \"Value\": 16, \"ValueType\": \"UnsignedInt\"}, "
    "{\"Name\": \"on\", \"Value\": true, \"ValueType\": \"Bool\"}], "
    "\"DataMovementOverhead\": 1500.0, \"KernelName\": \"conv\", "
    "\"Status\": \"Ok\", \"TotalDuration\": 109440.0, "
    "\"ValidationOverhead\": 500},\n"
    "{\"ComputationResults\": [], \"CompilationOverhead\": 2000, "
    "\"Configuration\": [{\"Name\": \"x\", \"Value\": 8}, "
    "{\"Name\": \"on\", \"Value\": true}], \"Status\": "
    "\"ValidationFailed\", \"TotalDuration\": 1.8446744073709552e19}]}";

static void runs_of_ktt_are_understood(void)
{
    struct run run = run_of(ktt);
    struct shmt_text text = {0};

    if (run.journal != NULL) {
        const struct shmt_journal_record *const records =
            run.journal->records;

        CHECK_TEXT(run.import->name, "conv");
        CHECK_TEXT(run.import->device, "A GPU");
        CHECK_TEXT(run.journal->header.protocol, "ktt");
        CHECK_INT(run.journal->count, 2);
        CHECK(records[0].result->time_us == 109440);
        CHECK(records[0].result->compile_ms == 7.5);
        CHECK(is_near(records[0].result->measure_ms, 109.44 + 1.5 + 0.5));
        CHECK_INT(records[1].result->verdict, SHMT_VERDICT_WRONG);
        CHECK(records[1].result->compile_ms == 2);
        CHECK_INT(shmt_export_t4(run.kernel, run.journal, &text, &err),
                  SHMTUNE_OK);
        CHECK_HAS(shmt_text_string(&text), "\"invalidity\": \"correctness\"");
        CHECK_HAS(shmt_text_string(&text), "109.44");
        shmt_text_clear(&text);
        CHECK_INT(shmt_export_cache(run.kernel, run.journal, &text, &err),
                  SHMTUNE_OK);
        CHECK_HAS(shmt_text_string(&text), "\"time\": 109.44");
    }
    end_run(&run);
    shmt_text_free(&text);
}

/* Where nothing says how long compiling took, that is not known: 0 would be the
 * time of a binary that another configuration had compiled. */
static void ktt_need_not_say_how_long_it_compiled(void)
{
    struct run run = run_of(
        "{\"Metadata\": {\"TimeUnit\": \"Milliseconds\"}, \"Results\": ["
        "{\"ComputationResults\": [{\"Duration\": 1.5}], \"Status\": \"Ok\", "
        "\"Configuration\": [{\"Name\": \"a\", \"Value\": 1}], "
        "\"TotalDuration\": 1.5}, "
        "{\"Status\": \"CompilationFailed\", "
        "\"Configuration\": [{\"Name\": \"a\", \"Value\": 2}]}, "
        "{\"ComputationResults\": [{\"Overhead\": 90, "
        "\"CompilationOverhead\": 7}, {\"CompilationOverhead\": 2}], "
        "\"Status\": \"Ok\", \"TotalDuration\": 2, "
        "\"Configuration\": [{\"Name\": \"a\", \"Value\": 4}]}]}");

    if (run.journal != NULL) {
        const struct shmt_journal_record *const records =
            run.journal->records;

        CHECK_INT(run.journal->count, 3);
        CHECK(records[0].result->compile_ms < 0);
        CHECK(records[0].result->time_us == 1500);
        CHECK(is_near(records[0].at_s, 1.5e-3));
        CHECK(records[1].result->compile_ms < 0);
        CHECK(records[2].result->compile_ms == 9);
        CHECK(is_near(records[2].at_s, 12.5e-3));
    }
    end_run(&run);
}

static const char clblast[] =
    "{\n  \"best_kernel\": \"Xgemm\",\n  \"best_time\": \"0.250\",\n"
    "  \"arg_m\": \"1024\",\n"
    "  \"clblast_device_name\": \"GeForce GTX 1080\",\n"
    "  \"device\": \"NVIDIA GeForce GTX 1080\",\n"
    "  \"device_vendor\": \"NVIDIA\",\n  \"results\": [\n"
    "    {\n      \"kernel\": \"Xgemm\",\n      \"time\": 0.250,\n"
    "      \"parameters\": {\"KWG\": 32,\"MWG\": 64,\"PRECISION\": 32}\n"
    "    },\n    {\n      \"kernel\": \"Xgemm\",\n      \"time\": 1,\n"
    "      \"parameters\": {\"KWG\": 16,\"MWG\": 64,\"PRECISION\": 32}\n"
    "    }\n  ]\n}\n";

static void runs_of_clblast_are_understood(void)
{
    struct run run = run_of(clblast);

    if (run.journal != NULL) {
        const struct shmt_journal_record *const records =
            run.journal->records;

        CHECK_TEXT(run.import->name, "Xgemm");
        CHECK_TEXT(run.import->device, "GeForce GTX 1080");
        CHECK_TEXT(run.journal->header.protocol, "clblast");
        CHECK_HAS(run.journal->header.origin, "\"arg_m\":\"1024\"");
        CHECK_INT(run.import->parameter_count, 3);
        CHECK_INT(run.import->parameters[0].count, 2);
        CHECK_INT(run.journal->count, 2);
        CHECK_INT(records[0].result->verdict, SHMT_VERDICT_OK);
        CHECK(records[0].result->time_us == 250);
        CHECK(records[1].result->time_us == 1000);
        CHECK(records[1].result->compile_ms == 0);
        CHECK(records[1].result->measure_ms == 1);
    }
    end_run(&run);
}

static void what_clblast_does_not_write_is_refused(void)
{
    static const struct {
        const char *result, *message;
    } cases[] = {
        {"5", "results[0]: expected an object"},
        {"{\"time\": 1}", "results[0]: \"parameters\" is missing"},
        {"{\"parameters\": {}, \"time\": 1}",
         "results[0].parameters: 0 parameters"},
        {"{\"parameters\": {\"a\": 1}}", "results[0]: \"time\" is missing"},
        {"{\"parameters\": {\"a\": 1}, \"time\": 0.000}",
         "results[0].time: found 0.000, expected milliseconds above 0"},
        {"{\"parameters\": {\"a\": 1}, \"time\": \"fast\"}",
         "results[0].time: found \"fast\", expected milliseconds"},
        {"{\"parameters\": {\"a\": 1}, \"time\": 1}, "
         "{\"parameters\": {\"b\": 1}, \"time\": 1}", "results[1]"},
    };

    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct shmt_text text = {0};

        shmt_text_addf(&text, "{\"device_vendor\": \"B\", \"results\": [%s]}",
                       cases[k].result);
        CHECK(parse(shmt_text_string(&text)) == NULL);
        CHECK_HAS(err.text, cases[k].message);
        shmt_text_free(&text);
    }
}

static void what_ktt_does_not_write_is_refused(void)
{
    static const struct {
        const char *metadata, *result, *message;
    } cases[] = {
        {"\"TimeUnit\": \"Hours\"", "", "Metadata.TimeUnit: found \"Hours\""},
        {"", "", "Metadata: \"TimeUnit\" is missing"},
        {"\"TimeUnit\": \"Seconds\"", "5", "Results[0]: expected an object"},
        {"\"TimeUnit\": \"Seconds\"", "[{}]",
         "Results[0]: expected an object"},
        {"\"TimeUnit\": \"Seconds\"", "{}",
         "Results[0]: \"Configuration\" is missing"},
        {"\"TimeUnit\": \"Seconds\"",
         "{\"Configuration\": [{\"Name\": \"a\"}]}",
         "Results[0].Configuration[0]: \"Value\" is missing"},
        {"\"TimeUnit\": \"Seconds\"",
         "{\"Configuration\": [{\"Name\": \"a\", \"Value\": 1}, "
         "{\"Name\": \"a\", \"Value\": 2}]}", "a is there twice"},
        {"\"TimeUnit\": \"Seconds\"",
         "{\"Configuration\": [{\"Name\": \"a\", \"Value\": 1}], "
         "\"Status\": \"Fine\"}", "Results[0].Status: found \"Fine\""},
        {"\"TimeUnit\": \"Seconds\"",
         "{\"Configuration\": [{\"Name\": \"a\", \"Value\": 1}], "
         "\"Status\": \"Ok\"}", "without a \"TotalDuration\""},
    };

    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct shmt_text text = {0};

        shmt_text_addf(&text, "{\"Metadata\": {%s}, \"Results\": [%s]}",
                       cases[k].metadata, cases[k].result);
        CHECK(parse(shmt_text_string(&text)) == NULL);
        CHECK_HAS(err.text, cases[k].message);
        shmt_text_free(&text);
    }
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
    shmt_result_set_verdict(&result, SHMT_VERDICT_UNSTABLE,
                            "first \"%s\", then",
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
    struct shmt_import_cursor cursor = {0};
    struct shmt_text text = {0};

    other = parse("{\"tune_params_keys\": [\"mode\", \"x\", \"on\", \"f\"], "
                  "\"tune_params\": \"?\", \"cache\": {\"\": {\"x\": 3, "
                  "\"on\": true, \"f\": 1, \"mode\": \"b\", "
                  "\"time\": 1.0}}}");
    CHECK(other != NULL);
    if (other != NULL) {
        CHECK_INT(shmt_import_journal(other, kernel, &cursor, &text, &err),
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
    import_begin();
    CHECK_RUN(results_are_understood);
    CHECK_RUN(failures_need_no_time);
    CHECK_RUN(times_have_units);
    CHECK_RUN(an_objective_has_a_unit);
    CHECK_RUN(runs_of_ktt_are_understood);
    CHECK_RUN(ktt_need_not_say_how_long_it_compiled);
    CHECK_RUN(what_ktt_does_not_write_is_refused);
    CHECK_RUN(runs_of_clblast_are_understood);
    CHECK_RUN(what_clblast_does_not_write_is_refused);
    CHECK_RUN(imported_runs_come_out_as_they_went_in);
    CHECK_RUN(our_runs_come_back);
    CHECK_RUN(values_must_be_the_specs);
    import_end();
    return CHECK_END();
}
