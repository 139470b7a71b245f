/* SPDX-License-Identifier: MIT */
/* An application that sets its user's locale, whose decimal point is none,
 * reads the same kernels and tunings and compiles the same source. */
#include "shmtune.h"

#include <langinfo.h>
#include <locale.h>

#include "tests/support/catalogue_fixture.h"
#include "tests/support/check.h"

static const char spec[] =
    "format: kernel/1\n"
    "name: real\n"
    "source: toy.cu\n"
    "problem:\n"
    "  n: {default: 100}\n"
    "parameters:\n"
    "  BLOCK: {values: [32, 64], default: 32}\n"
    "  ALPHA: {values: [0.5, 1.25e-7], default: 0.5}\n"
    "constraints:\n"
    "- BLOCK * 0.5 >= 16\n"
    "launches:\n"
    "- entry: toy\n"
    "  grid: [\"ceildiv(n, BLOCK)\"]\n"
    "  block: [BLOCK]\n"
    "  shared_dynamic: int(n * 2.5e-1)\n"
    "  arguments: [out, n]\n"
    "arguments:\n"
    "  out: {type: f32, role: output, count: n}\n"
    "  n: {type: i32, value: n}\n";

static const char *root;

/* Made where it is not installed and localedef is.  (A folder that has been
 * looked into is not looked into again.) */
static bool set_locale(const char *name)
{
    char command[2048], full[64];

    snprintf(full, sizeof full, "%s.UTF-8", name);
    unsetenv("LOCPATH");
    if (setlocale(LC_ALL, full) == NULL) {
        fixture_put_text("locales/none", "");
        snprintf(command, sizeof command, "localedef -i %s -f UTF-8 '%s/%s' "
                 ">'%s/log' 2>&1", name, fixture_path("locales"), full,
                 fixture_path("locales"));
        if (system(command) == -1)
            return false;
        setenv("LOCPATH", fixture_path("locales"), 1);
        if (setlocale(LC_ALL, full) == NULL)
            return false;
    }
    return strcmp(nl_langinfo(RADIXCHAR), ".") != 0;
}

static void definitions_are_the_same(void)
{
    struct shmt_kernel *kernel;
    const int64_t problem[] = {100};
    const shmt_config config[] = {0, 1};
    struct shmt_kernel_evaluated evaluated;
    struct shmt_text text = {0};
    struct shmt_error err;

    if (shmt_kernel_read(fixture_path("kernels/real.yaml"), &kernel, &err) !=
        SHMTUNE_OK) {
        CHECK_TEXT(err.text, "");
        return;
    }
    shmt_kernel_evaluate(kernel, problem, config, &evaluated);
    shmt_kernel_definitions(&evaluated, false, &text);
    CHECK_TEXT(shmt_text_string(&text), "-DBLOCK=32\n-DALPHA=1.25e-07\n");
    shmt_text_free(&text);
    shmt_kernel_free(kernel);
}

static void kernels_are_the_same(void)
{
    const int64_t problem[] = {100};
    struct shmtune_device device = fixture_device();
    struct shmtune_geometry launch = SHMTUNE_GEOMETRY_INIT;
    struct shmtune_choice config = SHMTUNE_CHOICE_INIT;
    struct shmtune *library;
    char text[256];

    CHECK_INT(shmtune_open(root, &library, NULL), SHMTUNE_OK);
    CHECK_INT(shmtune_note_count(library), 0);
    if (shmtune_select(shmtune_kernel_find(library, "real"), &device, problem,
                       &config) != SHMTUNE_OK) {
        CHECK(!"selected");
        return;
    }
    shmtune_choice_text(&config, text, sizeof text);
    CHECK_TEXT(text, "BLOCK=32 ALPHA=0.5");
    CHECK_INT(shmtune_choice_launch(&config, 0, &launch), SHMTUNE_OK);
    CHECK_INT(launch.shared_dynamic, 25);
    shmtune_close(library);
}

static void tunings_are_the_same(void)
{
    static const struct fixture_tuned one[] = {{1024, 1024, 128, 0, 0, 10.5}};
    const int64_t problem[] = {1024, 1024};
    const struct shmtune_device device = fixture_device();
    struct shmtune_choice config = SHMTUNE_CHOICE_INIT;
    struct shmtune *library;

    fixture_tune("h100.yaml", &device, one, 1);
    CHECK_INT(shmtune_open(root, &library, NULL), SHMTUNE_OK);
    CHECK_INT(shmtune_select(shmtune_kernel_find(library, "toy"), &device,
                             problem, &config), SHMTUNE_OK);
    CHECK_INT(config.match, SHMTUNE_EXACT);
    CHECK(config.time_us == 10.5);
    shmtune_close(library);
}

int main(void)
{
    /* A comma, and one of two bytes. */
    static const char *const names[] = {"de_DE", "ps_AF"};

    root = fixture_begin();
    fixture_put_text("kernels/real.yaml", spec);
    for (size_t k = 0; k < 2; k++)
        if (set_locale(names[k])) {
            CHECK_RUN(definitions_are_the_same);
            CHECK_RUN(kernels_are_the_same);
            CHECK_RUN(tunings_are_the_same);
        } else {
            CHECK_SKIP(the_locale, "no locale with another decimal point");
        }
    fixture_end();
    return CHECK_END();
}
