/* SPDX-License-Identifier: MIT */
/*
 * check_spec: a kernel spec: its spaces, and its default and its
 * reference through the compiler.
 */
#include "config.h"

#include <inttypes.h>
#include <string.h>

#include "command/check.h"
#include "device/device.h"

/* Counts the valid configurations at each size and keeps the smallest count. */
static enum shmtune_status check_space(struct shmt_check *check,
                                       const struct shmt_kernel *kernel,
                                       const int64_t *problem,
                                       uint64_t *least,
                                       struct shmt_error *err)
{
    struct shmt_text size = {0};
    struct shmt_space *space;
    const struct shmt_command_problem at = {kernel, problem};
    enum shmtune_status status = shmt_command_build_space(
        &check->limits, check->call, &at, &space, err);

    if (status != SHMTUNE_OK)
        return status;
    shmt_kernel_describe_problem(kernel, problem, &size);
    if (shmt_space_is_drawn(space))
        shmt_check_report(check, SHMT_CHECK_NOTE, SHMT_SPACE_DRAWN,
                          shmt_text_string(&size),
                          (unsigned long long)shmt_space_count(space));
    if (shmt_space_count(space) == 0)
        shmt_check_report(check, SHMT_CHECK_BAD,
                          "no configuration satisfies the constraints at %s",
                          shmt_text_string(&size));
    if (shmt_space_count(space) < *least)
        *least = shmt_space_count(space);
    shmt_text_free(&size);
    shmt_space_free(space);
    return SHMTUNE_OK;
}

static void report_default(struct shmt_check *check,
                           const struct shmt_kernel *kernel,
                           const int64_t *problem,
                           const struct shmt_result *result)
{
    struct shmt_text size = {0};

    shmt_kernel_describe_problem(kernel, problem, &size);
    if (result->verdict != SHMT_VERDICT_OK)
        shmt_check_report(check, SHMT_CHECK_BAD,
                          "the default configuration at %s: %s: %s",
                          shmt_text_string(&size),
                          shmt_verdict_word(result->verdict), result->reason);
    else if (result->resources.spill_store_bytes > 0)
        shmt_check_report(check, SHMT_CHECK_NOTE,
                          "the default configuration at %s spills %d bytes a "
                          "thread", shmt_text_string(&size),
                          result->resources.spill_store_bytes);
    shmt_text_free(&size);
}

static enum shmtune_status compile_default(struct shmt_check *check,
                                           const struct shmt_kernel *kernel,
                                           struct shmt_target *compiler,
                                           struct shmt_error *err)
{
    struct shmtune_device device;
    shmt_config config[SHMT_SPACE_PARAMETERS];
    struct shmt_result result;
    struct shmt_compiler_batch batch = {
        .device = &device, .count = 1, .configs = config, .results = &result
    };
    enum shmtune_status status =
        shmt_device_for_arch(check->arch, &device, err);

    shmt_kernel_default(kernel, config);
    for (size_t i = 0; status == SHMTUNE_OK && i < kernel->size_count; i++) {
        batch.problem = kernel->sizes[i];
        status = shmt_compiler_run(compiler, &batch, err);
        if (status == SHMTUNE_OK)
            report_default(check, kernel, kernel->sizes[i], &result);
    }
    return status;
}

/* Whether the spec has a reference of its own.  If not, the default
 * configuration is the oracle. */
static bool has_reference(const struct shmt_kernel *kernel)
{
    return kernel->reference_count > 0 &&
           kernel->reference != kernel->launches;
}

/* The reference, or the setup, is compiled in this process: it is simple code,
 * and the workers only compile candidates.  `notes` as in
 * shmt_compiler_here_make. */
static enum shmtune_status compile_once(struct shmt_check *check,
                                        struct shmt_kernel_evaluated *evaluated,
                                        const char *what,
                                        struct shmt_text *notes,
                                        struct shmt_error *err)
{
    const struct shmt_kernel *kernel = evaluated->kernel;
    struct shmt_compiler_here *here = NULL;
    char arch[16];
    enum shmtune_status status = shmt_compiler_here_open(kernel, &here, err);

    if (status != SHMTUNE_OK)
        return shmt_check_report_failure(check, status, err);
    shmt_device_arch_target(check->arch, kernel->features, arch);
    status = shmt_compiler_here_make(here, evaluated, arch, NULL, notes, err);
    shmt_compiler_here_close(here);
    if (status == SHMTUNE_OK)
        return status;
    shmt_error_prefix(err, "%s", what);
    return shmt_check_report_failure(check, status, err);
}

/* One finding for each line. */
static void report_notes(struct shmt_check *check,
                         const struct shmt_text *notes)
{
    const char *line = shmt_text_string(notes), *end;

    check->failed |= notes->failed;
    for (; (end = strchr(line, '\n')) != NULL; line = end + 1)
        shmt_check_report(check, SHMT_CHECK_NOTE, "%.*s", (int)(end - line),
                          line);
}

/* The notes on the kernel's own source, which its reference does not have. */
static enum shmtune_status note_default(struct shmt_check *check,
                                        const struct shmt_kernel *kernel,
                                        struct shmt_text *notes,
                                        struct shmt_error *err)
{
    shmt_config config[SHMT_SPACE_PARAMETERS];
    struct shmt_kernel_evaluated evaluated;

    shmt_kernel_default(kernel, config);
    shmt_kernel_evaluate(kernel, kernel->sizes[0], config, &evaluated);
    return compile_once(check, &evaluated, "the default", notes, err);
}

static enum shmtune_status compile_reference(struct shmt_check *check,
                                             const struct shmt_kernel *kernel,
                                             struct shmt_error *err)
{
    const bool none = kernel->reference_count == 0;
    const bool own = none || kernel->reference_code.file_count > 0;
    struct shmt_kernel_evaluated evaluated;
    struct shmt_text notes = {0};
    enum shmtune_status status = SHMTUNE_OK;

    shmt_kernel_evaluate_reference(kernel, kernel->sizes[0], &evaluated);
    if (!none)
        status = compile_once(check, &evaluated,
                              has_reference(kernel)
                                  ? "the reference"
                                  : "the default, as the reference",
                              own ? NULL : &notes, err);
    if (status == SHMTUNE_OK && own)
        status = note_default(check, kernel, &notes, err);
    if (status == SHMTUNE_OK)
        report_notes(check, &notes);
    shmt_text_free(&notes);
    if (status == SHMTUNE_OK && kernel->setup_count > 0) {
        shmt_kernel_evaluate_setup(kernel, kernel->sizes[0], &evaluated);
        status = compile_once(check, &evaluated, "the setup", NULL, err);
    }
    if (status == SHMTUNE_OK && kernel->compare_count > 0) {
        shmt_kernel_evaluate_compare(kernel, kernel->sizes[0], &evaluated);
        status = compile_once(check, &evaluated, "the comparison", NULL, err);
    }
    return status;
}

/* -- words that no parameter has ------------------------------------------ */

enum { STRAYS = 16 };

struct strays {
    struct shmt_check *check;
    const struct shmt_kernel *kernel;
    struct shmt_place place;      /* of the expression at hand */
    size_t count;
    const char *said[STRAYS];     /* each word once */
};

static void report_stray(struct strays *strays,
                         const struct shmt_parameter *parameter,
                         const char *word)
{
    struct shmt_text values = {0};

    shmt_kernel_describe_values(parameter, &values);
    shmt_check_report(strays->check, SHMT_CHECK_NOTE,
                      "line %d: '%s' is no value of %s, which has %s",
                      strays->place.line, word, parameter->name,
                      shmt_text_string(&values));
    shmt_text_free(&values);
}

static void take_word(void *context, size_t symbol, const char *word)
{
    struct strays *const strays = context;
    const struct shmt_kernel *const kernel = strays->kernel;
    const struct shmt_parameter *parameter;

    if (symbol < kernel->dimension_count)
        return;
    parameter = &kernel->parameters[symbol - kernel->dimension_count];
    if (parameter->type != SHMT_VALUE_WORD || strays->count == STRAYS)
        return;
    for (size_t k = 0; k < parameter->count; k++)
        if (strcmp(parameter->values[k].w, word) == 0)
            return;
    for (size_t k = 0; k < strays->count; k++)
        if (strcmp(strays->said[k], word) == 0)
            return;
    strays->said[strays->count++] = word;
    report_stray(strays, parameter, word);
}

static void look_for_words(struct strays *strays,
                           const struct shmt_expr *expr)
{
    if (expr == NULL)
        return;
    strays->place = shmt_expr_place(expr);
    shmt_expr_words(expr, take_word, strays);
}

/* A comparison with a word that the parameter does not have is always false:
 * the word is misspelt or was removed from the list.  This is a note and no
 * error, because removing a value from a list should not force a user to
 * rewrite expressions. */
static void note_stray_words(struct shmt_check *check,
                             const struct shmt_kernel *kernel)
{
    struct strays strays = {.check = check, .kernel = kernel};

    for (size_t k = 0; k < kernel->scope.derived_count; k++)
        look_for_words(&strays, kernel->scope.derived[k].expr);
    for (size_t k = 0; k < kernel->constraint_count; k++)
        look_for_words(&strays, kernel->constraints[k]);
    for (size_t k = 0; k < kernel->launch_count; k++)
        look_for_words(&strays, kernel->launches[k].when);
}

/* -- parameters that change nothing --------------------------------------- */

/* The directive `word` of `name`: #define TILE, # ifndef TILE. */
static bool directs(const char *text, const char *word, const char *name)
{
    const size_t length = strlen(word);

    for (const char *at = strchr(text, '#'); at != NULL;
         at = strchr(at + 1, '#')) {
        const char *behind = at + 1 + strspn(at + 1, " \t");

        if (strncmp(behind, word, length) != 0)
            continue;
        behind += length;
        behind += strspn(behind, " \t");
        if (strncmp(behind, name, strlen(name)) == 0 &&
            shmt_text_name_length(behind) == strlen(name))
            return true;
    }
    return false;
}

/* Compiling reports a #define only when its value differs from the spec's, so
 * it is searched for in the text. */
static void note_own_macros(struct shmt_check *check,
                            const struct shmt_kernel *kernel)
{
    for (size_t i = 0; kernel->source != NULL && i < kernel->parameter_count;
         i++) {
        const char *name = kernel->parameters[i].name;
        const char *text = kernel->code.text;

        if (!kernel->parameters[i].launch_only &&
            kernel->parameters[i].options == NULL &&
            directs(text, "define", name) && !directs(text, "ifndef", name) &&
            !directs(text, "undef", name) && !directs(text, "ifdef", name) &&
            strstr(text, "defined") == NULL)
            shmt_check_report(check, SHMT_CHECK_NOTE,
                              "%s has a #define of the parameter %s; put it "
                              "behind #ifndef %s", kernel->source, name, name);
    }
}

static bool uses(const struct shmt_expr *expr, size_t symbol)
{
    return expr != NULL && shmt_expr_uses(expr, symbol);
}

static bool launch_uses(const struct shmt_launch *launch, const char *name,
                        size_t symbol)
{
    bool used = shmt_text_mentions(launch->entry, name, 1) > 0 ||
                uses(launch->when, symbol) ||
                uses(launch->shared_dynamic, symbol) ||
                uses(launch->carveout, symbol);

    for (size_t k = 0; k < 3; k++)
        used |= uses(launch->grid[k], symbol) ||
                uses(launch->block[k], symbol) ||
                uses(launch->cluster[k], symbol);
    return used;
}

/* If the source says TILE (with #ifndef TILE and a default) and the spec says
 * SIZE, everything compiles and every SIZE makes the same kernel.  Local
 * headers are not searched. */
static void note_idle_parameters(struct shmt_check *check,
                                 const struct shmt_kernel *kernel)
{
    if (kernel->source == NULL || kernel->header_count > 0 ||
        kernel->include_count > 0)
        return;
    for (size_t i = 0; i < kernel->parameter_count; i++) {
        const char *name = kernel->parameters[i].name;
        const size_t symbol = kernel->dimension_count + i;
        bool used = kernel->parameters[i].options != NULL ||
                    shmt_text_mentions(kernel->code.text, name, 1) > 0;

        for (size_t k = 0; k < kernel->launch_count; k++)
            used |= launch_uses(&kernel->launches[k], name, symbol);
        for (size_t k = 0; k < kernel->argument_count; k++)
            used |= shmt_argument_uses(&kernel->arguments[k], symbol);
        if (!used)
            shmt_check_report(check, SHMT_CHECK_NOTE,
                              "parameter %s is neither in the source nor in a "
                              "launch: its values all make the same kernel",
                              name);
    }
}

static enum shmtune_status check_kernel(struct shmt_check *check,
                                        const struct shmt_kernel *kernel,
                                        struct shmt_error *err)
{
    const size_t bad = check->bad;
    struct shmt_target *compiler = NULL;
    uint64_t least = UINT64_MAX;
    enum shmtune_status status = SHMTUNE_OK;

    note_stray_words(check, kernel);
    note_idle_parameters(check, kernel);
    note_own_macros(check, kernel);
    for (size_t i = 0; status == SHMTUNE_OK && i < kernel->size_count; i++)
        status = check_space(check, kernel, kernel->sizes[i], &least, err);
    if (status == SHMTUNE_OK)
        status = shmt_check_compiler(check, kernel, check->arch, &compiler,
                                     err);
    if (status == SHMTUNE_OK && compiler != NULL)
        status = compile_default(check, kernel, compiler, err);
    if (status == SHMTUNE_OK && compiler != NULL)
        status = compile_reference(check, kernel, err);
    if (status == SHMTUNE_OK && check->bad == bad)
        shmt_check_report(check, SHMT_CHECK_GOOD,
                          "spec of %s: %zu parameter%s, %zu size%s, %" PRIu64
                          " or more configurations at each%s", kernel->name,
                          kernel->parameter_count,
                          shmt_text_plural(kernel->parameter_count),
                          kernel->size_count,
                          shmt_text_plural(kernel->size_count), least,
                          compiler == NULL ? ""
                          : has_reference(kernel)
                           ? "; the default and the reference compile"
                           : "; the default compiles");
    shmt_compiler_close(compiler);
    return status;
}

enum shmtune_status shmt_check_spec(struct shmt_check *check,
                                    struct shmt_error *err)
{
    struct shmt_kernel *kernel;
    enum shmtune_status status = shmt_kernel_read(check->file, &kernel, err);

    if (status != SHMTUNE_OK)
        return status;
    status = check_kernel(check, kernel, err);
    shmt_kernel_free(kernel);
    return status;
}
