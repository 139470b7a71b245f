/* SPDX-License-Identifier: MIT */
/*
 * check_tuning: a tuning: every configuration of it in the space of its
 * problem, launchable on its device, and through the compiler.
 */
#include "config.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "command/check.h"
#include "device/device.h"
#include "tune/tune.h"

/* A tuning, and one problem of it at a time. */
struct visit {
    struct shmt_check *check;
    const struct shmt_tuning *tuning;
    const struct shmt_kernel *kernel;
    struct shmt_target *compiler;   /* NULL: none here */
    struct shmt_compiler_here *here;   /* for --cubins, else NULL */
    const struct shmt_tuned *tuned;
    int64_t problem[SHMT_KERNEL_DIMENSIONS];
    shmt_config config[SHMT_SPACE_PARAMETERS];
    char size[256];                   /* " at rows=1024 cols=1024" */
    struct shmt_place place;          /* of what is looked at */
    const char *what;                 /* "the configuration", "a tie" */
};

static void report(const struct visit *visit, enum shmt_check_outcome outcome,
                   const char *format,
                   ...) __attribute__((format(printf, 3, 4)));

/* Prints a finding with file:line:column, as the readers do. */
static void report(const struct visit *visit, enum shmt_check_outcome outcome,
                   const char *format, ...)
{
    char text[SHMT_ERROR_BYTES];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    shmt_check_report(visit->check, outcome, "%s:%d:%d: %s%s%s%s",
                      visit->check->file, visit->place.line,
                      visit->place.column, visit->what, visit->size,
                      text[0] == ':' ? "" : " ", text);
}

static void report_outside(const struct visit *visit,
                           const struct shmt_expr *constraint,
                           const struct shmt_value *values)
{
    struct shmt_text why = {0};

    shmt_expr_explain(constraint, values, &why);
    report(visit, SHMT_CHECK_BAD, "is no longer in the space: \"%s\" does not "
           "hold: %s", shmt_expr_text(constraint), shmt_text_string(&why));
    shmt_text_free(&why);
}

/* In the space: its values are listed, the constraints hold. */
static void check_settings(struct visit *visit,
                           const struct shmt_setting *settings,
                           struct shmt_error *err)
{
    const struct shmt_kernel *kernel = visit->kernel;
    struct shmt_kernel_evaluated evaluated;
    shmt_config config[SHMT_SPACE_PARAMETERS];
    const struct shmt_expr *failed = NULL;
    enum shmtune_status status = shmt_tuning_config(
        kernel, settings, visit->tuned->setting_count, config, err);

    if (status == SHMTUNE_OK) {
        shmt_kernel_evaluate(kernel, visit->problem, config, &evaluated);
        status = shmt_kernel_satisfies(&evaluated, &failed, err);
    }
    if (status != SHMTUNE_OK)
        report(visit, SHMT_CHECK_BAD, ": %s", err->text);
    else if (failed != NULL)
        report_outside(visit, failed, evaluated.values);
    else if (settings == visit->tuned->settings)
        memcpy(visit->config, config,
               kernel->parameter_count * sizeof *config);
}

/* Compares the compiler's report of today with the recorded one. */
static void compare_with_tuned(const struct visit *visit,
                               const struct shmt_result *now)
{
    const struct shmt_resources *before = &visit->tuned->result.resources;
    const struct shmt_resources *after = &now->resources;

    if (now->verdict != SHMT_VERDICT_OK) {
        report(visit, SHMT_CHECK_BAD, ": %s: %s",
               shmt_verdict_word(now->verdict), now->reason);
        return;
    }
    if (visit->compiler == NULL)
        return;
    if (before->spill_store_bytes >= 0 &&
        after->spill_store_bytes > before->spill_store_bytes)
        report(visit, SHMT_CHECK_BAD,
               "spills %d bytes a thread, %d when it was "
               "tuned", after->spill_store_bytes, before->spill_store_bytes);
    if (before->shared_static_bytes >= 0 &&
        after->shared_static_bytes != before->shared_static_bytes)
        report(visit, SHMT_CHECK_BAD, "has %" PRId64 " bytes of static shared "
               "memory, %" PRId64 " when it was tuned",
               after->shared_static_bytes, before->shared_static_bytes);
    if (before->registers >= 0 && after->registers != before->registers)
        report(visit, SHMT_CHECK_NOTE, "takes %d registers, %d when it was "
               "tuned", after->registers, before->registers);
}

/* Launchable by the recorded resources: geometry, shared memory, occupancy. */
static void filter_recorded(const struct visit *visit,
                            struct shmt_result *result)
{
    const struct shmt_filter filter = {
        .kernel = visit->kernel, .device = &visit->tuning->device,
        .problem = visit->problem, .policy = {.max_spill_bytes = -1}
    };

    if (!shmt_filter_before_compile(&filter, visit->config, result) ||
        visit->tuned->result.resources.registers < 0)
        return;
    result->resources = visit->tuned->result.resources;
    result->launches = visit->tuned->result.launches;
    shmt_filter_after_compile(&filter, visit->config, result);
}

static enum shmtune_status check_winner(struct visit *visit,
                                        struct shmt_error *err)
{
    struct shmt_result result;
    struct shmt_compiler_batch batch = {
        .device = &visit->tuning->device, .problem = visit->problem,
        .count = 1, .configs = visit->config, .results = &result
    };
    enum shmtune_status status = SHMTUNE_OK;

    if (visit->compiler != NULL)
        status = shmt_compiler_run(visit->compiler, &batch, err);
    else
        filter_recorded(visit, &result);
    if (status == SHMTUNE_OK)
        compare_with_tuned(visit, &result);
    return status;
}

/* Puts the binaries of the winner and of the default into the folder. */
static enum shmtune_status ship(struct visit *visit, struct shmt_error *err)
{
    const struct shmt_kernel *kernel = visit->kernel;
    struct shmt_kernel_evaluated evaluated;
    shmt_config usual[SHMT_SPACE_PARAMETERS];
    const shmt_config *configs[] = {visit->config, usual};
    enum shmtune_status status = SHMTUNE_OK;
    char arch[16];

    shmt_kernel_default(kernel, usual);
    shmt_device_target(&visit->tuning->device, kernel->features, arch);
    for (size_t k = 0; status == SHMTUNE_OK && k < 2; k++) {
        shmt_kernel_evaluate(kernel, visit->problem, configs[k], &evaluated);
        status = shmt_compiler_here_make(visit->here, &evaluated, arch,
                                         visit->check->cubins, err);
    }
    return shmt_check_report_failure(visit->check, status, err);
}

static enum shmtune_status check_tuned(struct visit *visit,
                                       struct shmt_error *err)
{
    const struct shmt_tuned *tuned = visit->tuned;
    const size_t bad = visit->check->bad;
    struct shmt_text size = {0};
    enum shmtune_status status = shmt_tuning_problem(
        visit->kernel, tuned, visit->problem, err);

    if (status != SHMTUNE_OK) {
        shmt_error_prefix(err, "%s:%d:%d", visit->check->file,
                          tuned->place.line, tuned->place.column);
        return shmt_check_report_failure(visit->check, status, err);
    }
    shmt_kernel_describe_at(visit->kernel, visit->problem, &size);
    if (size.failed) {
        shmt_text_free(&size);
        return shmt_error_memory(err);
    }
    snprintf(visit->size, sizeof visit->size, "%s", shmt_text_string(&size));
    shmt_text_free(&size);
    visit->place = tuned->settings_place;
    visit->what = "the configuration";
    check_settings(visit, tuned->settings, err);
    if (visit->check->bad == bad)
        status = check_winner(visit, err);
    if (status == SHMTUNE_OK && visit->check->bad == bad &&
        visit->here != NULL)
        status = ship(visit, err);
    /* The first tie is the winner again. */
    visit->what = "a tie";
    for (size_t i = 1; status == SHMTUNE_OK && i < tuned->tie_count; i++) {
        visit->place = tuned->tie_places[i];
        check_settings(visit, tuned->ties[i], err);
    }
    return status;
}

/* Compiler and toolkit headers change together, and make no tuning stale. */
static void note_versions(struct shmt_check *check, int then, int now)
{
    if (then > 0 && then != now)
        shmt_check_report(check, SHMT_CHECK_NOTE,
                          "made with the compiler and the headers of CUDA "
                          "%d.%d, here are those of %d.%d: resources and times "
                          "may differ", then / 1000, then % 1000 / 10,
                          now / 1000, now % 1000 / 10);
}

/* The configurations that the dispatch names; where they run is found out at
 * each problem. */
static void check_dispatch(struct visit *visit)
{
    const struct shmt_dispatch *const dispatch = visit->tuning->dispatch;
    shmt_config config[SHMT_SPACE_PARAMETERS];
    struct shmt_error why;

    for (size_t k = 0; dispatch != NULL && k < dispatch->config_count; k++)
        if (shmt_tuning_config(visit->kernel, dispatch->configs[k],
                               dispatch->setting_count, config, &why) !=
            SHMTUNE_OK)
            shmt_check_report(visit->check, SHMT_CHECK_BAD,
                              "configuration %zu of its dispatch: %s; learn "
                              "it again", k, why.text);
}

static enum shmtune_status check_entries(struct visit *visit,
                                         struct shmt_error *err)
{
    struct shmt_check *check = visit->check;
    const struct shmt_tuning *tuning = visit->tuning;
    const size_t bad = check->bad;
    char arch[16];
    enum shmtune_status status;

    if (strcmp(tuning->digest, visit->kernel->digest) != 0)
        shmt_check_report(check, SHMT_CHECK_BAD,
                          "made for other sources of %s: digest %.12s..., "
                          "today's are %.12s...; tune again", tuning->kernel,
                          tuning->digest, visit->kernel->digest);
    shmt_device_arch_text(&tuning->device, arch);
    status = shmt_check_compiler(check, visit->kernel, arch, &visit->compiler,
                                 err);
    if (check->cubins != NULL && shmt_kernel_has_host(visit->kernel))
        shmt_check_report(check, SHMT_CHECK_NOTE,
                          "%s has functions of the host, which no application "
                          "loads: nothing is put into %s", tuning->kernel,
                          check->cubins);
    else if (status == SHMTUNE_OK && visit->compiler != NULL &&
             check->cubins != NULL)
        status = shmt_compiler_here_open(visit->kernel, &visit->here, err);
    if (status == SHMTUNE_OK && visit->compiler != NULL)
        note_versions(check, tuning->nvrtc_version,
                      visit->compiler->nvrtc_version);
    for (size_t i = 0; status == SHMTUNE_OK && i < tuning->tuned_count; i++) {
        visit->tuned = tuning->tuned[i];
        status = check_tuned(visit, err);
    }
    if (status == SHMTUNE_OK)
        check_dispatch(visit);
    if (status == SHMTUNE_OK && check->bad == bad)
        shmt_check_report(check, SHMT_CHECK_GOOD,
                          "tuning of %s for %s: %zu problem%s%s",
                          tuning->kernel, tuning->device.name,
                          tuning->tuned_count,
                          shmt_text_plural(tuning->tuned_count),
                          visit->compiler == NULL
                           ? "" : "; every configuration compiles");
    shmt_compiler_here_close(visit->here);
    shmt_compiler_close(visit->compiler);
    return status;
}

enum shmtune_status shmt_check_tuning(struct shmt_check *check,
                                      struct shmt_error *err)
{
    struct shmt_tuning *tuning;
    struct shmt_kernel *kernel = NULL;
    struct visit visit = {.check = check};
    enum shmtune_status status = shmt_tuning_read(check->file, &tuning, err);

    if (status != SHMTUNE_OK)
        return status;
    check->tunings++;
    status = shmt_command_kernel_of(check->file, tuning->kernel,
                                    tuning->digest, check->spec, &kernel, err);
    if (status == SHMTUNE_OK) {
        visit.tuning = tuning;
        visit.kernel = kernel;
        status = check_entries(&visit, err);
    }
    shmt_kernel_free(kernel);
    shmt_tuning_free(tuning);
    return status;
}
