/* SPDX-License-Identifier: MIT */
/*
 * init_expr: geometry as host code writes it, (n + block - 1) / block, said in
 * the expressions of a spec.  Called by init_write.c.
 */
#include "config.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "command/init.h"

bool shmt_init_number(const char *value, int64_t *out)
{
    char *end;
    long long number;

    while (*value == '(' || *value == ' ')
        value++;
    if (!isdigit((unsigned char)*value))
        return false;
    errno = 0;
    number = strtoll(value, &end, 0);
    end += strspn(end, "uUlL) ");
    *out = number;
    return *end == '\0' && errno == 0 && number <= INT32_MAX;
}

bool shmt_init_is_dimension(const struct shmt_signature_parameter *parameter)
{
    return !parameter->pointer && shmt_kernel_may_name(parameter->name) &&
           parameter->kind == SHMT_SIGNATURE_ELEMENT &&
           !shmt_element_is_real(parameter->element) &&
           shmt_element_bytes(parameter->element) >= 4;
}

/* The spec's own name for a name of the host's: a macro, or a dimension that
 * the launch passes it as. */
static const char *find_name(const void *context, const char *name)
{
    const struct shmt_init_draft *const draft = context;
    const struct shmt_signature *signature = &draft->kernel->signature;
    const struct shmt_source_launch *launch = draft->launch;
    int64_t number;

    for (size_t k = 0; k < draft->macro_count; k++)
        if (strcmp(name, draft->macros[k].name) == 0 &&
            shmt_init_number(draft->macros[k].value, &number))
            return draft->macros[k].name;
    for (size_t k = 0; launch != NULL && k < signature->count &&
                       launch->argument_count == signature->count; k++)
        if (shmt_init_is_dimension(&signature->parameters[k]) &&
            strcmp(name, launch->arguments[k]) == 0)
            return signature->parameters[k].name;
    return NULL;
}

static bool add_extent(const struct shmt_init_draft *draft, const char *code,
                       int axis, struct shmt_text *text)
{
    const struct shmt_source_names names = {find_name, draft};
    const int line = draft->launch == NULL ? 0 : draft->launch->line;

    return shmt_source_extent(&draft->source, code, line, axis, &names, text);
}

bool shmt_init_expr(const struct shmt_init_draft *draft, const char *code,
                    struct shmt_text *text)
{
    return add_extent(draft, code, 0, text);
}

bool shmt_init_extents(const struct shmt_init_draft *draft, const char *code,
                       struct shmt_text *text)
{
    struct shmt_text made = {0}, item = {0};
    size_t length = 0;
    bool known = true;

    /* What is 1 at the end need not be said. */
    for (int axis = 0; known && axis < 3; axis++) {
        shmt_text_clear(&item);
        known = add_extent(draft, code, axis, &item);
        shmt_text_addf(&made, "%s\"%s\"", axis == 0 ? "" : ", ",
                       shmt_text_string(&item));
        if (axis == 0 || strcmp(shmt_text_string(&item), "1") != 0)
            length = made.length;
    }
    if (known)
        shmt_text_addf(text, "[%.*s]", (int)length, shmt_text_string(&made));
    text->failed |= made.failed || item.failed;
    shmt_text_free(&made);
    shmt_text_free(&item);
    return known;
}
