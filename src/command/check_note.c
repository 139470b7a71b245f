/* SPDX-License-Identifier: MIT */
/*
 * check_note: what is odd in a spec and may be meant: words that no parameter
 * has, parameters that change nothing, macros of the source's own, outputs
 * without a tolerance, functions of the host, programs that are not there.
 * Called by check_spec.c.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "command/check.h"

/* -- words that no parameter has, or that are no truths -------------------- */

enum { STRAYS = 16 };

struct strays {
    struct shmt_check *check;
    const struct shmt_kernel *kernel;
    struct shmt_place place;      /* of the expression at hand */
    size_t count;
    struct shmt_expr_word said[STRAYS];    /* each once */
};

static bool is_new(struct strays *strays, const struct shmt_expr_word *word)
{
    const char *const text = word->word == NULL ? "" : word->word;

    if (strays->count == STRAYS)
        return false;
    for (size_t k = 0; k < strays->count; k++) {
        const struct shmt_expr_word *const said = &strays->said[k];

        if (said->use == word->use && said->symbol == word->symbol &&
            strcmp(said->word == NULL ? "" : said->word, text) == 0)
            return false;
    }
    strays->said[strays->count++] = *word;
    return true;
}

static bool has_word(const struct shmt_parameter *parameter, const char *word)
{
    for (size_t k = 0; k < parameter->count; k++)
        if (strcmp(parameter->values[k].w, word) == 0)
            return true;
    return false;
}

/* Appends what is wrong with a parameter there; nothing: it is well. */
static void add_blame(const struct shmt_parameter *parameter,
                      const struct shmt_expr_word *word,
                      struct shmt_text *text)
{
    const bool words = parameter->type == SHMT_VALUE_WORD;

    if (word->use != SHMT_EXPR_WITH_WORD)
        shmt_text_addf(text, "%s is a word%s; compare it, as %s == '%s'; it",
                       parameter->name,
                       word->use == SHMT_EXPR_AS_TRUTH
                           ? ", which is always true" : " and equals no number",
                       parameter->name,
                       parameter->values[parameter->count - 1].w);
    else if (!words)
        shmt_text_addf(text, "%s is a number and equals no word; write the "
                       "number without quotes; it", parameter->name);
    else if (!has_word(parameter, word->word))
        shmt_text_addf(text, "'%s' is no value of %s, which", word->word,
                       parameter->name);
    else
        return;
    shmt_text_add(text, " has ");
    shmt_kernel_describe_values(parameter, text);
}

static void take_word(void *context, const struct shmt_expr_word *word)
{
    struct strays *const strays = context;
    const struct shmt_kernel *const kernel = strays->kernel;
    const struct shmt_place place = strays->place;
    const struct shmt_parameter *parameter;
    struct shmt_text text = {0};

    if (word->use == SHMT_EXPR_AS_TRUTH && word->word != NULL) {
        if (is_new(strays, word))
            shmt_check_report(strays->check, SHMT_CHECK_NOTE,
                              "%s:%d:%d: '%s' stands alone, and is always "
                              "true; one of several words is NAME in ['a', "
                              "'b']", place.file, place.line, place.column,
                              word->word);
        return;
    }
    if (word->symbol < kernel->dimension_count)
        return;
    parameter = &kernel->parameters[word->symbol - kernel->dimension_count];
    add_blame(parameter, word, &text);
    if (text.length > 0 && is_new(strays, word))
        shmt_check_report(strays->check, SHMT_CHECK_NOTE, "%s:%d:%d: %s",
                          place.file, place.line, place.column,
                          shmt_text_string(&text));
    shmt_text_free(&text);
}

static void look_for_words(struct strays *strays,
                           const struct shmt_expr *expr, bool condition)
{
    if (expr == NULL)
        return;
    strays->place = shmt_expr_place(expr);
    shmt_expr_words(expr, condition, take_word, strays);
}

/* A comparison with a word that the parameter does not have is always false:
 * the word is misspelt or was removed from the list.  So is one of a word and a
 * number.  This is a note and no error, because removing a value from a list
 * should not force a user to rewrite expressions. */
static void note_stray_words(struct shmt_check *check,
                             const struct shmt_kernel *kernel)
{
    struct strays strays = {.check = check, .kernel = kernel};

    for (size_t k = 0; k < kernel->scope.derived_count; k++)
        look_for_words(&strays, kernel->scope.derived[k].expr, false);
    for (size_t k = 0; k < kernel->constraint_count; k++)
        look_for_words(&strays, kernel->constraints[k], true);
    for (size_t k = 0; k < kernel->launch_count; k++) {
        const struct shmt_launch *const launch = &kernel->launches[k];

        look_for_words(&strays, launch->when, true);
        for (size_t axis = 0; axis < 3; axis++) {
            look_for_words(&strays, launch->grid[axis], false);
            look_for_words(&strays, launch->block[axis], false);
            look_for_words(&strays, launch->cluster[axis], false);
        }
        look_for_words(&strays, launch->shared_static, false);
        look_for_words(&strays, launch->shared_dynamic, false);
        look_for_words(&strays, launch->carveout, false);
    }
    for (size_t k = 0; k < kernel->argument_count; k++) {
        look_for_words(&strays, kernel->arguments[k].count, false);
        look_for_words(&strays, kernel->arguments[k].value, false);
    }
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

static void note_own_macro(struct shmt_check *check,
                           const struct shmt_kernel *kernel, const char *name)
{
    for (size_t f = 0; f < kernel->code.file_count; f++) {
        const struct shmt_kernel_header *file = &kernel->code.files[f];
        const int line = shmt_kernel_find_definition(file->text, name);

        if (line > 0)
            shmt_check_report(check, SHMT_CHECK_NOTE,
                              "%s:%d: a #define of the parameter %s; put it "
                              "behind #ifndef %s, or write \"override: true\" "
                              "into the parameter", file->path, line, name,
                              name);
    }
}

/* Compiling reports a #define, and none that is inactive, where its value
 * differs from the spec's, as it does for one of two values; else it is
 * searched for in the text. */
void shmt_check_macros(struct shmt_check *check,
                       const struct shmt_kernel *kernel, bool compiled)
{
    for (size_t i = 0; kernel->source != NULL && i < kernel->parameter_count;
         i++) {
        const char *name = kernel->parameters[i].name;
        const char *text = kernel->code.text;

        if (!(compiled && kernel->parameters[i].count > 1) &&
            !kernel->parameters[i].launch_only &&
            kernel->parameters[i].options == NULL &&
            !kernel->parameters[i].overrides &&
            !directs(text, "ifndef", name) &&
            !directs(text, "undef", name) && !directs(text, "ifdef", name) &&
            strstr(text, "defined") == NULL)
            note_own_macro(check, kernel, name);
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

/* -- outputs that have to be equal bit for bit ----------------------------- */

static void note_tolerances(struct shmt_check *check,
                            const struct shmt_kernel *kernel)
{
    for (size_t k = 0; k < kernel->argument_count; k++) {
        const struct shmt_argument *argument = &kernel->arguments[k];
        const struct shmt_place place = argument->tolerance.place;

        if ((argument->role == SHMT_ROLE_OUTPUT ||
             argument->role == SHMT_ROLE_INOUT) &&
            shmt_element_is_real(argument->element) &&
            !argument->tolerance.stated && !argument->compared)
            shmt_check_report(check, SHMT_CHECK_NOTE,
                              "%s:%d:%d: %s is %s without a tolerance: every "
                              "element has to be the expected one, bit for "
                              "bit; write \"tolerance: {relative: %s}\", "
                              "or {absolute: 0} if that is meant",
                              place.file, place.line, place.column,
                              argument->name,
                              shmt_element_word(argument->element),
                              shmt_element_tolerance(argument->element));
    }
}

/* -- arguments that nobody takes ------------------------------------------- */

static bool is_taken(const struct shmt_launch *launches, size_t count,
                     size_t argument)
{
    for (size_t k = 0; k < count; k++)
        for (size_t a = 0; a < launches[k].reach_count; a++)
            if (launches[k].arguments[a] == argument)
                return true;
    return false;
}

/* A name that was forgotten in a launch, or one that is left over.  What is no
 * result may be; a program is given all inputs, and what has an address is
 * found by that, a variable by its name. */
static void note_idle_arguments(struct shmt_check *check,
                                const struct shmt_kernel *kernel)
{
    for (size_t k = 0; k < kernel->argument_count; k++) {
        const struct shmt_argument *argument = &kernel->arguments[k];
        const bool filled = argument->role == SHMT_ROLE_INPUT ||
                            argument->role == SHMT_ROLE_VALUE;
        struct shmt_place place;

        if ((!filled && argument->role != SHMT_ROLE_WORKSPACE) ||
            (filled && kernel->answer.word_count > 0) ||
            argument->at != 0 || argument->symbol != NULL ||
            is_taken(kernel->launches, kernel->launch_count, k) ||
            is_taken(kernel->reference, kernel->reference_count, k) ||
            is_taken(kernel->setup, kernel->setup_count, k) ||
            is_taken(kernel->compare, kernel->compare_count, k))
            continue;
        place = shmt_expr_place(argument->count);
        shmt_check_report(check, SHMT_CHECK_NOTE,
                          "%s:%d:%d: no launch takes the %s %s, which is %s "
                          "for nothing; name it among the arguments of a "
                          "launch, or take it away", place.file, place.line,
                          place.column,
                          argument->role == SHMT_ROLE_VALUE
                              ? "array" : shmt_role_word(argument->role),
                          argument->name, filled ? "filled" : "allocated");
    }
}

/* -- functions of the host ------------------------------------------------ */

static void note_host(struct shmt_check *check,
                      const struct shmt_kernel *kernel)
{
    struct shmt_place place;

    if (kernel->launch_count == 0 || !kernel->launches[0].host)
        return;
    place = kernel->launches[0].entry_place;
    shmt_check_report(check, SHMT_CHECK_NOTE,
                      "%s:%d:%d: %s is a function of the host: it is compiled "
                      "here and runs in tune and explain; libshmtune chooses "
                      "its configuration and does not run it", place.file,
                      place.line, place.column, kernel->launches[0].entry);
}

/* -- programs -------------------------------------------------------------- */

/* A word without a slash is looked for in $PATH, as the shell does. */
static void note_answer(struct shmt_check *check,
                        const struct shmt_kernel *kernel)
{
    const struct shmt_answer *const answer = &kernel->answer;
    const char *const program =
        answer->word_count == 0 ? NULL : answer->words[0].text;
    char found[4096];

    if (program == NULL ||
        (strchr(program, '/') != NULL
             ? shmt_path_is_program(program)
             : shmt_path_find_program(getenv("PATH"), program, found,
                                      sizeof found)))
        return;
    shmt_check_report(check, SHMT_CHECK_NOTE,
                      strchr(program, '/') != NULL
                          ? "%s:%d:%d: the program of the answer, %s, is no "
                            "file that may be run (`chmod +x` makes it one); "
                            "`tune` will need it"
                          : "%s:%d:%d: the program of the answer, %s, is not "
                            "in $PATH; `tune` will need it",
                      answer->place.file, answer->place.line,
                      answer->place.column, program);
}

void shmt_check_notes(struct shmt_check *check,
                      const struct shmt_kernel *kernel)
{
    note_stray_words(check, kernel);
    note_idle_parameters(check, kernel);
    note_tolerances(check, kernel);
    note_idle_arguments(check, kernel);
    note_host(check, kernel);
    note_answer(check, kernel);
}
