/* SPDX-License-Identifier: MIT */
/*
 * Memory that runs out while a file of another tuner is read, or written: the
 * n-th allocation fails, for every n.  The file is good, so it must never be
 * called bad.
 */
#include <jansson.h>
#include <unistd.h>

#include "tests/support/check.h"
#include "tests/support/folder.h"
#include "tests/support/starve.h"

#include "exchange/exchange.h"

static struct shmt_error err;
static const char *file;
static struct shmt_kernel *kernel;
static struct shmt_journal *journal;
static char folder[FOLDER_ROOM];

static const char t1[] =
    "{\"General\": {\"BenchmarkName\": \"k\"}, \"ConfigurationSpace\": {"
    "\"TuningParameters\": [{\"Name\": \"a\", \"Values\": "
    "\"[2**i for i in range(6) if i > 1]\", \"Default\": [8]}, "
    "{\"Name\": \"w\", \"Values\": [\"x\", \"\\u00e9y\"]}], "
    "\"Conditions\": [{\"Expression\": \"a < 32 or w == 'x'\"}]}}";
static const char cache[] =
    "{\"kernel_name\": \"k\", \"device_name\": \"A\", \"problem_size\": [64], "
    "\"tune_params_keys\": [\"a\", \"on\"], \"tune_params\": {\"a\": [1, 2], "
    "\"on\": [true, false]}, \"objective\": \"time\", \"more\": {\"x\": [1]}, "
    "\"cache\": {\"1,True\": {\"a\": 1, \"on\": true, \"time\": 1.5, "
    "\"times\": [1.25, 1.75], \"timestamp\": \"now\"}, "
    "\"2,True\": {\"a\": 2, \"on\": true, \"__error__\": \"InvalidConfig\"}}}";
static const char t4[] =
    "{\"metadata\": {\"timeunit\": \"ms\"}, \"results\": [{\"configuration\": "
    "{\"w\": \"x\", \"on\": true}, \"times\": {\"runtimes\": [2.5]}, "
    "\"invalidity\": \"correct\"}, {\"configuration\": {\"w\": \"y\", "
    "\"on\": false}, \"times\": {}, \"invalidity\": \"timeout\"}]}";
static const char ktt[] =
    "{\"Metadata\": {\"Device\": \"A\", \"TimeUnit\": \"Seconds\"}, "
    "\"Results\": [{\"KernelName\": \"k\", \"Status\": \"Ok\", "
    "\"TotalDuration\": 0.5, \"Configuration\": [{\"Name\": \"a\", "
    "\"Value\": 1}, {\"Name\": \"w\", \"Value\": \"x\"}]}]}";
static const char clblast[] =
    "{\"device\": \"A\", \"device_vendor\": \"B\", \"results\": [{\"kernel\": "
    "\"k\", \"time\": 0.5, \"parameters\": {\"a\": 1,\"b\": 2}}]}";
static const char *const files[] = {t1, cache, t4, ktt, clblast};

static enum shmtune_status read_import(void)
{
    struct shmt_import *import = NULL;
    struct shmt_import_cursor cursor = {0};
    struct shmt_text text = {0};
    enum shmtune_status status =
        shmt_import_parse("f.json", file, strlen(file), &import, &err);
    uint64_t count = 0;
    bool defaults;

    CHECK((status == SHMTUNE_OK) == (import != NULL));
    if (status == SHMTUNE_OK)
        status = shmt_import_count(import, &count, NULL, &err);
    if (status == SHMTUNE_OK)
        status = shmt_import_spec(import, &text, &defaults, &err);
    if (status == SHMTUNE_OK && kernel != NULL) {
        shmt_text_clear(&text);
        status = shmt_import_journal(import, kernel, &cursor, &text, &err);
    }
    shmt_text_free(&text);
    shmt_import_free(import);
    return status;
}

/* The kernel of an import, by way of a file, and its journal. */
static void set_up(void)
{
    struct shmt_import *import = NULL;
    struct shmt_import_cursor cursor = {0};
    struct shmt_text text = {0};
    char path[FOLDER_ROOM];
    bool defaults;

    folder_path(path, folder, "k.yaml");
    CHECK_INT(shmt_import_parse("f.json", file, strlen(file), &import, &err),
              SHMTUNE_OK);
    CHECK_INT(shmt_import_spec(import, &text, &defaults, &err), SHMTUNE_OK);
    CHECK_INT(shmt_path_write(path, text.data, text.length, &err), SHMTUNE_OK);
    CHECK_INT(shmt_kernel_read(path, &kernel, &err), SHMTUNE_OK);
    unlink(path);
    if (import->entry_count > 0) {
        shmt_text_clear(&text);
        CHECK_INT(shmt_import_journal(import, kernel, &cursor, &text, &err),
                  SHMTUNE_OK);
        CHECK_INT(shmt_path_write(path, text.data, text.length, &err),
                  SHMTUNE_OK);
        CHECK_INT(shmt_journal_read(path, kernel, &journal, &err),
                  SHMTUNE_OK);
        unlink(path);
    }
    shmt_text_free(&text);
    shmt_import_free(import);
}

static void tear_down(void)
{
    shmt_journal_free(journal);
    shmt_kernel_free(kernel);
    journal = NULL;
    kernel = NULL;
}

static void good_files_are_not_called_bad(void)
{
    for (size_t k = 0; k < sizeof files / sizeof *files; k++) {
        file = files[k];
        set_up();
        starve(read_import, &err);
        tear_down();
    }
}

static const struct form {
    enum shmtune_status (*write)(const struct shmt_kernel *,
                                 const struct shmt_journal *,
                                 struct shmt_text *, struct shmt_error *);
} forms[] = {{shmt_export_cache}, {shmt_export_t4}};
static const struct form *form;
static struct shmt_text whole;      /* what it writes when there is memory */

/* All of it is written, or nothing. */
static enum shmtune_status write_export(void)
{
    struct shmt_text text = {0};
    enum shmtune_status status = form->write(kernel, journal, &text, &err);

    if (status == SHMTUNE_OK && whole.length > 0)
        CHECK_TEXT(shmt_text_string(&text), shmt_text_string(&whole));
    else if (status == SHMTUNE_OK)
        shmt_text_add_bytes(&whole, text.data, text.length);
    else
        CHECK_INT(text.length, 0);
    shmt_text_free(&text);
    return status;
}

static void starve_exports(void)
{
    for (size_t k = 0; k < sizeof forms / sizeof *forms; k++) {
        form = &forms[k];
        shmt_text_clear(&whole);
        CHECK_INT(write_export(), SHMTUNE_OK);
        starve(write_export, &err);
    }
}

/* Of a run of ours, exports say more. */
static void run_here(void)
{
    for (size_t k = 0; k < journal->count; k++)
        ((struct shmt_journal_record *)&journal->records[k])->origin = NULL;
    journal->header.origin = NULL;
}

static void nor_are_good_journals(void)
{
    for (size_t k = 0; k < sizeof files / sizeof *files; k++) {
        file = files[k];
        set_up();
        if (journal != NULL) {
            starve_exports();
            run_here();
            starve_exports();
        }
        tear_down();
    }
    shmt_text_free(&whole);
}

int main(void)
{
    folder_make(folder);
    CHECK_RUN(good_files_are_not_called_bad);
    CHECK_RUN(nor_are_good_journals);
    folder_remove(folder);
    return CHECK_END();
}
