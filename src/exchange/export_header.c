/* SPDX-License-Identifier: MIT */
/*
 * export_header: writes tunings as one header of C99 and C++, which needs no
 * other file: configurations and rows as functions, what was learnt, the rule
 * of the nearest size, constraints and launches as functions where C has their
 * expressions, tables for the preprocessor.  Called by command/.
 *
 * No name of the kernel stands alone in it, because a program may have a macro
 * of that name: p_ stands before a parameter, d_ before a dimension.
 */
#include "exchange/export_parts.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { NUMBERS = 12 };

/* -- names and comments --------------------------------------------------- */

void shmt_export_add(struct shmt_export_header *header, const char *code)
{
    shmt_export_add_code(&header->names, code, header->text);
}

/* As a piece of a comment, on its line. */
void shmt_export_add_comment(struct shmt_text *text, const char *string)
{
    char last = '\0';

    for (; *string != '\0'; last = *string++) {
        const bool ends = (last == '*' && *string == '/') ||
                          (last == '/' && *string == '*');

        if (ends)
            shmt_text_add(text, " ");
        if ((unsigned char)*string < 0x20 || *string == 0x7f ||
            *string == '\\' || (*string == '?' && last == '?'))
            shmt_text_add(text, " ");
        else
            shmt_text_add_bytes(text, string, 1);
    }
}

/* A name that is no identifier has a part of its digest behind it, so that two
 * of them stay two. */
static void make_kernel_name(const struct shmt_kernel *kernel,
                             struct shmt_text *text)
{
    struct shmt_digest digest;
    char hash[SHMT_DIGEST_TEXT];
    const char *const name = kernel->name;

    if (name[shmt_text_name_length(name)] == '\0') {
        shmt_text_add(text, name);
        return;
    }
    for (const char *c = name; *c != '\0'; c++)
        shmt_text_addf(text, "%c", isalnum((unsigned char)*c) ? *c : '_');
    shmt_digest_begin(&digest);
    shmt_digest_add(&digest, name, strlen(name));
    shmt_digest_end(&digest, hash);
    shmt_text_addf(text, "_%.8s", hash);
}

static bool make_names(struct shmt_export_header *header,
                       struct shmt_arena *arena)
{
    const struct shmt_kernel *const kernel = header->kernel;
    bool failed = false;

    make_kernel_name(kernel, &header->kernel_name);
    for (size_t d = 0; d < kernel->dimension_count; d++) {
        const char *const name = kernel->dimensions[d].name;

        shmt_text_addf(&header->parameters, ", long long d_%s", name);
        shmt_text_addf(&header->arguments, ", d_%s", name);
        shmt_text_addf(&header->values, "    (void)d_%s;\n", name);
    }
    shmt_text_addf(&header->sizes, "%s",
                   shmt_text_string(&header->arguments) +
                       (kernel->dimension_count > 0 ? 2 : 0));
    shmt_text_addf(&header->calls, "shmtuned_derived_%s_",
                   shmt_text_string(&header->kernel_name));
    shmt_text_addf(&header->constant, "(settings%s, bad)",
                   shmt_text_string(&header->arguments));
    for (size_t k = 0; k < kernel->scope.count; k++) {
        const bool size = k < kernel->dimension_count;
        struct shmt_text text = {0};

        shmt_text_addf(&text, size ? "d_%s" : "settings->p_%s",
                       kernel->scope.symbols[k].name);
        header->symbols[k] = shmt_text_keep(&text, arena);
        failed |= header->symbols[k] == NULL;
    }
    header->names = (struct shmt_export_names){
        shmt_text_string(&header->kernel_name),
        shmt_text_string(&header->parameters),
        shmt_text_string(&header->arguments),
        shmt_text_string(&header->sizes)};
    return !failed && !header->kernel_name.failed &&
           !header->parameters.failed && !header->arguments.failed &&
           !header->sizes.failed && !header->calls.failed &&
           !header->constant.failed && !header->values.failed;
}

static void free_names(struct shmt_export_header *header)
{
    shmt_text_free(&header->kernel_name);
    shmt_text_free(&header->parameters);
    shmt_text_free(&header->arguments);
    shmt_text_free(&header->sizes);
    shmt_text_free(&header->calls);
    shmt_text_free(&header->values);
    shmt_text_free(&header->constant);
}

/* -- expressions ---------------------------------------------------------- */

static long number_of_word(void *context, size_t symbol, const char *word)
{
    const struct shmt_kernel *const kernel = context;
    const struct shmt_value value = {.type = SHMT_VALUE_WORD, .w = word};
    shmt_config found;

    return shmt_kernel_find_value(
               &kernel->parameters[symbol - kernel->dimension_count], value,
               &found) ? found : -1;
}

/* The expression into `text`; false: C has it not, or not as an integer. */
static bool write_c(struct shmt_export_header *header,
                    const struct shmt_expr *expr,
                    bool truth, bool *real, struct shmt_text *text)
{
    const struct shmt_expr_c form = {
        header->symbols, shmt_text_string(&header->calls),
        shmt_text_string(&header->constant), header->derived, number_of_word,
        (void *)header->kernel};

    return shmt_expr_write_c(expr, &form, truth, real, text);
}

static void begin_function(struct shmt_export_header *header)
{
    shmt_text_add(header->text,
                  "\n{\n    (void)settings;\n    (void)bad;\n");
    shmt_text_add(header->text, shmt_text_string(&header->values));
}

/* Each derived name that C has is a function. */
static void add_derived(struct shmt_export_header *header)
{
    const struct shmt_expr_scope *const scope = &header->kernel->scope;

    for (size_t k = 0; k < scope->derived_count; k++) {
        const struct shmt_expr_derived *const derived = &scope->derived[k];
        struct shmt_text text = {0};
        bool real;

        header->derived[k] =
            write_c(header, derived->expr, false, &real, &text);
        if (header->derived[k]) {
            shmt_text_addf(header->text, "\n/* %s: ", derived->name);
            shmt_export_add_comment(header->text,
                shmt_expr_text(derived->expr));
            shmt_text_addf(header->text,
                           " */\nSHMTUNED_FUNCTION %s\n%s%zu(",
                           real ? "double" : "long long",
                           shmt_text_string(&header->calls), k);
            shmt_export_add(header,
                "const struct shmtuned_settings_@ *settings$P, "
                "int *bad)");
            begin_function(header);
            shmt_text_addf(header->text, "    return %s;\n}\n",
                           shmt_text_string(&text));
        }
        header->text->failed |= text.failed;
        shmt_text_free(&text);
    }
}

/* Notes the first expression that is not there. */
static void note_missing(struct shmt_export_header *header,
                         const struct shmt_expr *expr,
                         bool there)
{
    if (!there && header->missing == NULL)
        header->missing = expr;
}

static void add_constraints(struct shmt_export_header *header)
{
    const struct shmt_kernel *const kernel = header->kernel;

    shmt_export_add(header, "\n/* Whether the constraints hold. */\n"
                "SHMTUNED_FUNCTION int\n"
                "shmtuned_holds_@(const struct shmtuned_settings_@ "
                "*settings$P)\n{\n    int fault = 0;\n"
                "    int *const bad = &fault;\n\n"
                "    (void)settings;\n    (void)bad;\n");
    shmt_text_add(header->text, shmt_text_string(&header->values));
    for (size_t k = 0; k < kernel->constraint_count; k++) {
        bool real;

        shmt_text_add(header->text, "    /* ");
        shmt_export_add_comment(header->text,
            shmt_expr_text(kernel->constraints[k]));
        shmt_text_add(header->text, " */\n    if (!(");
        note_missing(header, kernel->constraints[k],
                     write_c(header, kernel->constraints[k], true, &real,
                             header->text));
        shmt_text_add(header->text, ") || fault)\n        return 0;\n");
    }
    shmt_text_add(header->text, "    return 1;\n}\n");
}

/* -- launches ------------------------------------------------------------- */

static void add_number(struct shmt_export_header *header, const char *name,
                       const struct shmt_expr *expr)
{
    bool real = false;

    if (expr == NULL)
        return;
    shmt_text_addf(header->text, "        g.%s = ", name);
    note_missing(header, expr,
                 write_c(header, expr, false, &real, header->text) && !real);
    shmt_text_add(header->text, ";\n");
}

static void add_launch(struct shmt_export_header *header, size_t k)
{
    const struct shmt_launch *const launch = &header->kernel->launches[k];
    const struct {
        const char *name;
        const struct shmt_expr *expr;
    } numbers[NUMBERS] = {
        {"grid[0]", launch->grid[0]}, {"grid[1]", launch->grid[1]},
        {"grid[2]", launch->grid[2]}, {"block[0]", launch->block[0]},
        {"block[1]", launch->block[1]}, {"block[2]", launch->block[2]},
        {"shared_static", launch->shared_static},
        {"shared_dynamic", launch->shared_dynamic},
        {"carveout", launch->carveout}, {"cluster[0]", launch->cluster[0]},
        {"cluster[1]", launch->cluster[1]}, {"cluster[2]", launch->cluster[2]},
    };
    bool real;

    shmt_text_addf(header->text, "    case %zu:    /* ", k);
    shmt_export_add_comment(header->text, launch->entry);
    shmt_text_add(header->text, " */\n");
    if (launch->when != NULL) {
        shmt_text_add(header->text, "        g.used = ");
        note_missing(header, launch->when,
                     write_c(header, launch->when, true, &real, header->text));
        shmt_text_add(header->text, ";\n        g.ok = !fault;\n"
                                    "        if (!g.used || fault)\n"
                                    "            return g;\n");
    }
    shmt_text_add(header->text, "        g.used = 1;\n");
    if (launch->cluster[0] != NULL)
        shmt_text_add(header->text, "        g.cluster[1] = 1;\n"
                                    "        g.cluster[2] = 1;\n");
    for (size_t n = 0; n < NUMBERS; n++)
        add_number(header, numbers[n].name, numbers[n].expr);
    shmt_text_add(header->text, "        break;\n");
}

/* Launches of functions of the host have no geometry. */
static void add_launches(struct shmt_export_header *header)
{
    const struct shmt_kernel *const kernel = header->kernel;
    const bool host = kernel->launch_count > 0 && kernel->launches[0].host;
    const size_t count = host ? 0 : kernel->launch_count;

    shmt_export_add(header, "\n#define SHMTUNED_LAUNCHES_@ ");
    shmt_text_addf(header->text, "%zu\n", count);
    shmt_export_add(header, "SHMTUNED_FUNCTION struct shmtuned_geometry\n"
                "shmtuned_geometry_@(const struct shmtuned_settings_@ "
                "*settings,\n                    int launch$P)\n{\n"
                "    struct shmtuned_geometry g = {0, 0, {1, 1, 1}, "
                "{1, 1, 1}, -1, 0, -1,\n"
                "                                  {0, 0, 0}};\n"
                "    int fault = 0;\n    int *const bad = &fault;\n\n"
                "    (void)settings;\n    (void)bad;\n");
    shmt_text_add(header->text, shmt_text_string(&header->values));
    shmt_text_add(header->text, "    switch (launch) {\n");
    for (size_t k = 0; k < count; k++)
        add_launch(header, k);
    shmt_text_add(header->text,
                  "    default:\n        return g;\n    }\n"
                  "    g.ok = !fault && shmtuned_is_geometry(&g);\n"
                  "    return g;\n}\n\n"
                  "/* Whether a launch reads an input: its waves count. */\n");
    shmt_export_add(header,
        "SHMTUNED_FUNCTION int shmtuned_reads_@(int launch)\n{\n"
        "    switch (launch) {\n");
    for (size_t k = 0; k < count; k++)
        if (kernel->launches[k].reads)
            shmt_text_addf(header->text, "    case %zu:\n", k);
    shmt_text_add(header->text, "    case -1:\n        return launch >= 0;\n"
                                "    default:\n        return 0;\n    }\n}\n");
}

/* -- the whole ------------------------------------------------------------ */

static void add_heading(struct shmt_export_header *header)
{
    const struct shmt_kernel *const kernel = header->kernel;
    const struct shmt_export_rows *const rows = header->rows;

    shmt_text_add(header->text,
                  "/*\n * Made by `shmtune export --to header`: do not edit."
                  "\n *\n * ");
    shmt_export_add_comment(header->text, kernel->name);
    shmt_text_add(header->text, ": ");
    shmt_export_add_comment(header->text, kernel->summary);
    shmt_text_addf(header->text, "\n * Digest of its sources: %s\n *\n",
                   kernel->digest);
    for (size_t k = 0; k < rows->device_count; k++) {
        shmt_text_addf(header->text, " * device %zu: sm_%d, ", k + 1,
                       shmt_export_arch(&rows->devices[k]));
        shmt_export_add_comment(header->text, rows->devices[k].name);
        shmt_text_add(header->text, "\n");
    }
    shmt_export_add(header,
        " *\n * shmtuned_select_@(arch, device, sizes) chooses; "
        "shmtuned_config_@(number) has\n * the values, "
        "shmtuned_launch_@(config, launch, sizes) grid and block.\n");
    shmt_text_add(header->text, " */\n");
}

/* What the tunings have learnt. */
static void add_learnt(struct shmt_export_header *header)
{
    shmt_export_add_part(&header->names, SHMT_EXPORT_RANKED, header->text);
    shmt_export_add(header, shmt_text_string(&header->rows->trees));
    shmt_export_add(header,
        "\n/* The configuration that was learnt for a size; -1: none. */\n"
        "SHMTUNED_FUNCTION int\n"
        "shmtuned_learnt_@(int arch, int device$P)\n{\n"
        "    (void)arch;\n    (void)device;\n");
    shmt_text_add(header->text, shmt_text_string(&header->values));
    shmt_export_add(header, shmt_text_string(&header->rows->choices));
    shmt_text_add(header->text, "    return -1;\n}\n");
}

/* Constraints and launches go into a text of their own, because only its end
 * tells whether C has all of them. */
static void add_functions(struct shmt_export_header *header)
{
    struct shmt_text *const whole = header->text;
    struct shmt_text functions = {0};

    header->text = &functions;
    add_derived(header);
    add_constraints(header);
    add_launches(header);
    header->text = whole;
    whole->failed |= functions.failed;
    if (header->missing == NULL) {
        shmt_text_add(whole, shmt_text_string(&functions));
        shmt_export_add_part(&header->names, SHMT_EXPORT_NEAREST, whole);
        add_learnt(header);
    } else {
        shmt_text_add(whole, "\n/* No launches and no nearest size are here: "
                             "C has not the expression\n * ");
        shmt_export_add_comment(whole, shmt_expr_text(header->missing));
        shmt_text_add(whole, " */\n");
    }
    shmt_text_free(&functions);
    shmt_export_add_part(&header->names, SHMT_EXPORT_CHOOSE, whole);
    shmt_export_add_part(&header->names, header->missing == NULL
                                             ? SHMT_EXPORT_WITH_NEAREST
                                             : SHMT_EXPORT_EXACT_ALONE, whole);
}

/* Calls `function` with the number as a type. */
static void add_visit(struct shmt_export_header *header)
{
    shmt_export_add(header, "\n#ifdef __cplusplus\n"
                "/* Calls function(shmtuned_number<config>()): what is a "
                "number of the program is a\n * constant of a template "
                "there. */\n"
                "template <class Function>\n"
                "inline void shmtuned_visit_@(int config, Function &&function)"
                "\n{\n    switch (config) {\n");
    for (size_t k = header->rows->config_count; k-- > 0;) {
        if (k == 0)
            shmt_text_add(header->text, "    default:\n");
        else
            shmt_text_addf(header->text, "    case %zu:\n", k);
        shmt_text_addf(header->text, "        function(shmtuned_number<%zu>())"
                       ";\n        break;\n", k);
    }
    shmt_text_add(header->text, "    }\n}\n#endif\n");
}

enum shmtune_status shmt_export_header(const struct shmt_export_rows *rows,
                                       struct shmt_text *text,
                                       struct shmt_error *err)
{
    struct shmt_export_header header = {.rows = rows, .kernel = rows->kernel,
                            .text = text};
    struct shmt_arena *const arena = shmt_arena_new();
    enum shmtune_status status = SHMTUNE_OK;

    if (arena == NULL || !make_names(&header, arena)) {
        free_names(&header);
        shmt_arena_free(arena);
        return shmt_error_memory(err);
    }
    add_heading(&header);
    shmt_export_add(&header,
        "#ifndef SHMTUNED_HEADER_@\n#define SHMTUNED_HEADER_@\n\n");
    shmt_export_add_part(&header.names, SHMT_EXPORT_COMMON, text);
    shmt_export_add_settings(&header);
    shmt_export_add_limits(&header);
    shmt_export_add_devices(&header);
    shmt_export_add_rows(&header);
    shmt_export_add_tries(&header);
    shmt_export_add_comparisons(&header);
    add_functions(&header);
    shmt_export_add_tables(&header);
    shmt_export_add_macros(&header);
    add_visit(&header);
    shmt_text_add(text, "\n#endif\n");
    if (text->failed)
        status = shmt_error_memory(err);
    else if (text->length > SHMT_EXPORT_BYTES)
        status = shmt_error_set(err, SHMTUNE_INVALID_FILE,
                                "the header of %s would have %zu bytes, %d "
                                "are allowed; name fewer tunings",
                                rows->kernel->name, text->length,
                                SHMT_EXPORT_BYTES);
    free_names(&header);
    shmt_arena_free(arena);
    return status;
}
