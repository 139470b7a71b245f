/* SPDX-License-Identifier: MIT */
/*
 * variable: finds the variables that a spec fills among those of a binary.
 *
 * A binary has the mangled name of what stands in a namespace, and the spec the
 * one of the source; other mangled names are compared as they are.
 */
#include "gpu/variable.h"

#include <stdio.h>
#include <string.h>

#include "gpu/cubin.h"
#include "gpu/variable_name.h"

static bool is_named(const char *name, const char *symbol)
{
    struct shmt_text plain = {0};
    bool same = strcmp(name, symbol) == 0;

    shmt_variable_add_name(name, &plain);
    same |= strcmp(shmt_text_string(&plain), symbol) == 0;
    shmt_text_free(&plain);
    return same;
}

/* The argument that it is, argument_count when it is none. */
static size_t argument_of(const struct shmt_kernel *kernel, const char *name)
{
    size_t k = 0;

    while (k < kernel->argument_count &&
           (kernel->arguments[k].symbol == NULL ||
            !is_named(name, kernel->arguments[k].symbol)))
        k++;
    return k;
}

/* Without its namespaces. */
static const char *name_of(const char *plain)
{
    const char *const last = strrchr(plain, ':');

    return last == NULL ? plain : last + 1;
}

/* Whether the source has the variable and does more than declare it.  One that
 * it does not have is of a header of the toolkit's, or of a macro. */
static bool is_used(const struct shmt_kernel *kernel,
                    const struct shmt_kernel_code *code, const char *plain)
{
    const char *const name = name_of(plain);
    size_t count = shmt_text_mentions(code->text, name, 2);

    if (shmt_variable_is_of_toolkit(plain))
        return false;
    for (size_t k = 0; k < kernel->header_count && count < 2; k++)
        count += shmt_text_mentions(kernel->headers[k].text, name, 2);
    return count >= 2;
}

/* Whether a declaration in the text gives the variable a value: an initialiser
 * of zeros leaves no byte in a binary.  An assignment is none. */
static bool has_initialiser(const char *text, const char *name)
{
    const size_t length = strlen(name);

    for (const char *at = strstr(text, name); at != NULL;
         at = strstr(at + 1, name)) {
        const char *end = at + length, *start = at, *word;

        end += strspn(end, " \t\r\n");
        while (*end == '[' && strchr(end, ']') != NULL) {
            end = strchr(end, ']') + 1;
            end += strspn(end, " \t\r\n");
        }
        if (shmt_text_name_length(at) != length ||
            !(*end == '{' || (*end == '=' && end[1] != '=')))
            continue;
        while (start > text && strchr(";{}", start[-1]) == NULL)
            start--;
        word = strstr(start, "const");     /* __constant__, constexpr too */
        if (word == NULL || word >= at)
            word = strstr(start, "__device__");
        if (word != NULL && word < at)
            return true;
    }
    return false;
}

/* Whether nobody gives it a value, as far as can be told. */
static bool is_unfilled(const struct shmt_kernel *kernel,
                        const struct shmt_kernel_code *code, const char *plain)
{
    const char *const name = name_of(plain);
    bool filled = !is_used(kernel, code, plain) ||
                  has_initialiser(code->text, name);

    for (size_t k = 0; k < kernel->header_count && !filled; k++)
        filled = has_initialiser(kernel->headers[k].text, name);
    return !filled;
}

static void tell(const char *name, const struct shmt_cubin_variable *found,
                 struct shmt_image_misfit *out)
{
    if (out == NULL)
        return;
    snprintf(out->name, sizeof out->name, "%s", name);
    out->bytes = found->bytes;
}

static enum shmtune_status check_bytes(struct shmt_kernel_evaluated *evaluated,
                                       const struct shmt_cubin_variable *found,
                                       size_t k,
                                       struct shmt_image_misfit *misfit,
                                       struct shmt_error *err)
{
    const struct shmt_argument *argument = &evaluated->kernel->arguments[k];
    const struct shmt_place place = shmt_expr_place(argument->count);
    const uint64_t unit = shmt_element_bytes(argument->element);
    uint64_t count;
    const enum shmtune_status status =
        shmt_kernel_argument_count(evaluated, k, &count, err);

    if (found->constant && !shmt_role_is_read(argument->role))
        return shmt_error_set(
            err, SHMTUNE_INVALID_FILE, "the variable %.64s is __constant__, "
            "which no kernel writes, and %s has the role %s; give it \"role: "
            "symbol\": see %s:%d:%d", argument->symbol, argument->name,
            shmt_role_word(argument->role), place.file, place.line,
            place.column);
    if (status != SHMTUNE_OK || count * unit == found->bytes)
        return status;
    tell(argument->symbol, found, misfit);
    return shmt_error_set(
        err, SHMTUNE_INVALID_FILE,
        "the variable %.64s has %llu bytes, the argument %.40s %llu element%s "
        "of %llu: see %s:%d:%d", argument->symbol,
        (unsigned long long)found->bytes, argument->name,
        (unsigned long long)count, shmt_text_plural(count),
        (unsigned long long)unit, place.file, place.line, place.column);
}

/* A variable that kernels write, of which the binary has none.  The setup and
 * the comparison are passed its buffer, and what is expected may be a file's.
 */
static enum shmtune_status
check_there(const struct shmt_kernel_evaluated *evaluated,
            const struct shmt_image *image, struct shmt_error *err)
{
    const struct shmt_kernel *kernel = evaluated->kernel;
    bool there[SHMT_KERNEL_ARGUMENTS] = {false};

    for (size_t v = 0; v < image->variable_count; v++)
        there[image->variables[v].argument] = true;
    for (size_t k = 0; k < kernel->argument_count; k++) {
        const struct shmt_argument *argument = &kernel->arguments[k];
        const struct shmt_place place = argument->symbol == NULL
                                            ? (struct shmt_place){0}
                                            : shmt_expr_place(argument->count);

        if (argument->symbol == NULL || argument->role != SHMT_ROLE_OUTPUT ||
            there[k] || evaluated->part == SHMT_KERNEL_SETUP ||
            evaluated->part == SHMT_KERNEL_COMPARE ||
            (evaluated->part == SHMT_KERNEL_REFERENCE &&
             argument->expect.path != NULL))
            continue;
        return shmt_error_set(
            err, SHMTUNE_INVALID_FILE, "the binary has no variable %.64s, "
            "which the output %s is, see %s:%d:%d; call it as the source does, "
            "and let a kernel write it", argument->symbol, argument->name,
            place.file, place.line, place.column);
    }
    return SHMTUNE_OK;
}

static enum shmtune_status refuse_unfilled(const char *plain, uint64_t bytes,
                                           struct shmt_error *err)
{
    return shmt_error_set(
        err, SHMTUNE_INVALID_FILE,
        "the __constant__ variable %.64s (%llu byte%s) has no initialiser and "
        "nobody fills it; add an argument {type: TYPE, role: symbol, count: "
        "COUNT} to the spec", plain, (unsigned long long)bytes,
        shmt_text_plural(bytes));
}

static bool is_among(const struct shmt_launch *launches, size_t count,
                     const char *name)
{
    size_t k = 0;

    while (k < count && strcmp(launches[k].entry, name) != 0)
        k++;
    return k < count;
}

/* Whether the binary has a kernel that the spec does not know. */
static bool has_others(const struct shmt_kernel *kernel,
                       const struct shmt_image *image)
{
    const char *name;
    size_t at = 0;

    while ((name = shmt_cubin_next_kernel(image->cubin, image->cubin_size,
                                          &at)) != NULL) {
        bool known =
            is_among(kernel->launches, kernel->launch_count, name) ||
            is_among(kernel->reference, kernel->reference_count, name) ||
            is_among(kernel->setup, kernel->setup_count, name) ||
            is_among(kernel->compare, kernel->compare_count, name);

        for (size_t k = 0; k < image->entry_count; k++)
            known |= strcmp(image->entries[k].lowered, name) == 0;
        if (!known)
            return true;
    }
    return false;
}

/* One variable of the binary. */
static enum shmtune_status check_one(struct shmt_kernel_evaluated *evaluated,
                                     const struct shmt_image *image,
                                     const struct shmt_cubin_variable *found,
                                     struct shmt_image_misfit *misfit,
                                     struct shmt_error *err)
{
    const struct shmt_kernel *kernel = evaluated->kernel;
    struct shmt_text plain = {0};
    enum shmtune_status status = SHMTUNE_OK;

    if (!found->constant || found->initialised ||
        has_others(kernel, image))
        return SHMTUNE_OK;
    shmt_variable_add_name(found->name, &plain);
    if (plain.failed) {
        status = shmt_error_memory(err);
    } else if (is_unfilled(kernel, shmt_kernel_code_of(evaluated),
                           plain.data)) {
        tell(plain.data, found, misfit);
        status = refuse_unfilled(plain.data, found->bytes, err);
    }
    shmt_text_free(&plain);
    return status;
}

enum shmtune_status
shmt_variable_check(struct shmt_kernel_evaluated *evaluated,
                    struct shmt_image *image,
                    struct shmt_image_misfit *misfit, struct shmt_error *err)
{
    const struct shmt_kernel *kernel = evaluated->kernel;
    struct shmt_image_variable *list = shmt_arena_alloc(
        image->arena, SHMT_KERNEL_VARIABLES, sizeof *list);
    struct shmt_cubin_variable found;
    enum shmtune_status status =
        list == NULL ? shmt_error_memory(err) : SHMTUNE_OK;
    size_t at = 0, count = 0;

    while (status == SHMTUNE_OK && count < SHMT_KERNEL_VARIABLES &&
           shmt_cubin_next_variable(image->cubin, image->cubin_size, &at,
                                    &found)) {
        const size_t k = argument_of(kernel, found.name);

        if (k == kernel->argument_count) {
            status = check_one(evaluated, image, &found, misfit, err);
            continue;
        }
        status = check_bytes(evaluated, &found, k, misfit, err);
        list[count++] =
            (struct shmt_image_variable){.name = found.name, .argument = k};
    }
    image->variables = list;
    image->variable_count = count;
    return status == SHMTUNE_OK ? check_there(evaluated, image, err) : status;
}

/* -- notes ---------------------------------------------------------------- */

static void note_unfilled(const struct shmt_kernel *kernel,
                          const struct shmt_cubin_variable *found,
                          struct shmt_text *notes)
{
    struct shmt_text plain = {0};

    shmt_variable_add_name(found->name, &plain);
    if (!plain.failed && is_unfilled(kernel, &kernel->code, plain.data))
        shmt_text_addf(notes, "the %s variable %s (%llu byte%s) has no "
                       "initialiser, and no argument with \"role: symbol\" "
                       "fills it%s\n",
                       found->constant ? "__constant__" : "__device__",
                       plain.data, (unsigned long long)found->bytes,
                       shmt_text_plural(found->bytes),
                       found->constant ? "" : "; if kernels write it, an "
                       "output or workspace with \"symbol\" has it set before "
                       "each run, and compared");
    notes->failed |= plain.failed;
    shmt_text_free(&plain);
}

void shmt_variable_note(const struct shmt_kernel *kernel,
                        const struct shmt_image *image,
                        struct shmt_text *notes)
{
    bool seen[SHMT_KERNEL_ARGUMENTS + 1] = {false};
    struct shmt_cubin_variable found;

    for (size_t at = 0; shmt_cubin_next_variable(
             image->cubin, image->cubin_size, &at, &found);) {
        const size_t k = argument_of(kernel, found.name);

        seen[k] = true;
        if (k == kernel->argument_count && !found.initialised)
            note_unfilled(kernel, &found, notes);
    }
    for (size_t k = 0; k < kernel->argument_count; k++)
        if (kernel->arguments[k].symbol != NULL && !seen[k])
            shmt_text_addf(notes, "the binary has no variable %s, which the "
                           "argument %s %s\n", kernel->arguments[k].symbol,
                           kernel->arguments[k].name,
                           kernel->arguments[k].role == SHMT_ROLE_SYMBOL
                               ? "fills" : "is");
}
