/* SPDX-License-Identifier: MIT */
/*
 * init_global: the variables of the source that a kernel uses, as arguments of
 * a drafted spec.  Called by init_write.c.
 */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "command/init.h"
#include "yaml/yaml.h"

bool shmt_init_global(const struct shmt_source_global *global)
{
    const bool written = !global->constant && !global->fixed &&
                         global->declared.use != SHMT_SOURCE_READ;

    return global->used && !global->fixed &&
           (written || global->value == NULL);
}

/* NULL: the text does not say. */
static const char *role_of(const struct shmt_source_global *global)
{
    static const char *const roles[] = {
        [SHMT_SOURCE_READ] = "symbol", [SHMT_SOURCE_WRITTEN] = "output",
        [SHMT_SOURCE_READ | SHMT_SOURCE_WRITTEN] = "inout"};

    return global->constant ? "symbol" : roles[global->declared.use];
}

/* Whether something else has the name of variable `own`. */
static bool is_taken(const struct shmt_init_draft *draft, size_t own)
{
    const char *const name = draft->globals[own].name;
    const struct shmt_signature *signature = &draft->kernel->signature;
    bool taken = !shmt_kernel_may_name(name);

    for (size_t k = 0; k < signature->count; k++)
        taken |= strcmp(signature->parameters[k].name, name) == 0;
    for (size_t k = 0; k < draft->macro_count; k++)
        taken |= strcmp(draft->macros[k].name, name) == 0;
    for (size_t k = 0; k < draft->global_count; k++)
        taken |= k != own && shmt_init_global(&draft->globals[k]) &&
                 strcmp(draft->globals[k].name, name) == 0;
    return taken;
}

/* Its own name, where that is free. */
static void add_name(const struct shmt_init_draft *draft, size_t k,
                     struct shmt_text *text)
{
    const struct shmt_source_global *global = &draft->globals[k];

    if (is_taken(draft, k))
        shmt_text_addf(text, "  %s_%zu: ", global->name, k + 1);
    else
        shmt_text_addf(text, "  %s: ", global->name);
}

/* And which variable it is; of one that is read alone that need not be said
 * where both are the same. */
static void add_role(const struct shmt_init_draft *draft, size_t k,
                     struct shmt_text *text)
{
    const struct shmt_source_global *global = &draft->globals[k];
    const char *const role = role_of(global);

    shmt_text_add(text, ", role: ");
    if (role != NULL)
        shmt_text_add(text, role);
    else
        shmt_init_mark(text, "symbol if kernels only read it; output, inout "
                       "if what is in it counts, workspace if nobody reads it "
                       "afterwards");
    if (role != NULL && strcmp(role, "symbol") == 0 &&
        strcmp(global->qualified, global->name) == 0 &&
        !is_taken(draft, k))
        return;
    shmt_text_add(text, ", symbol: ");
    shmt_yaml_add_string(text, global->qualified);
}

/* A number, or what the source says: a dimension has to be its macro, and a
 * parameter cannot stand there. */
static const char *say_count(const struct shmt_init_draft *draft,
                             const char *code)
{
    const char *const said = shmt_init_expr(draft, code);

    return said == NULL || said[strspn(said, "0123456789 +-*/()")] != '\0'
               ? NULL : said;
}

static void add_count(const struct shmt_init_draft *draft,
                      const struct shmt_source_global *global,
                      struct shmt_text *text)
{
    const struct shmt_signature_parameter *one = &global->declared;
    const bool known = one->kind != SHMT_SIGNATURE_OTHER;
    const int lanes = one->kind == SHMT_SIGNATURE_VECTOR ? one->lanes : 1;
    const char *const said = known && lanes > 0 && global->count != NULL
                                 ? say_count(draft, global->count) : NULL;

    shmt_text_add(text, ", count: ");
    if (said != NULL && lanes > 1)
        shmt_text_addf(text, strchr(said, ' ') == NULL ? "%d * %s"
                                                       : "%d * (%s)",
                       lanes, said);
    else if (said != NULL)
        shmt_text_add(text, said);
    else if (!known)
        shmt_init_mark(text, "the bytes of %.100s, a number", one->type);
    else
        shmt_init_mark(text, "how many elements, a number, or by dimensions "
                       "with \"define: true\"; the source says %.100s [%.100s]",
                       one->type, global->count == NULL ? "" : global->count);
}

/* What an in-out begins with: the language gives it zeros, unless the source
 * says another number. */
static void add_fill(const struct shmt_source_global *global,
                     struct shmt_text *text)
{
    const char *const value = global->value == NULL ? "0" : global->value;
    char *end;
    const double number = strtod(value, &end);
    const bool all = global->count != NULL && strcmp(global->count, "1") == 0;

    end += strspn(end, "uUlLfF ");
    shmt_text_add(text, ", fill: ");
    if (global->value == NULL || strcmp(value, "{0}") == 0 ||
        strcmp(value, "{}") == 0 || (*end == '\0' && !(number < 0) &&
                                      !(number > 0)))
        shmt_text_add(text, "zero");
    else if (all && *end == '\0' && isfinite(number))
        shmt_text_addf(text, "{constant: %.17g}", number);
    else
        shmt_init_mark(text, "what it begins with; the source says %.100s",
                       value);
}

static void add_global(const struct shmt_init_draft *draft, size_t k,
                       struct shmt_text *text)
{
    const struct shmt_source_global *global = &draft->globals[k];
    const struct shmt_signature_parameter *one = &global->declared;
    const char *const role = role_of(global);

    add_name(draft, k, text);
    if (one->pointer) {
        shmt_init_mark(text, "a variable with an address, %.100s, which no "
                       "spec fills: pass the kernel the buffer", one->type);
        shmt_text_add(text, "\n");
        return;
    }
    shmt_text_add(text, "{");
    if (one->kind == SHMT_SIGNATURE_OTHER)
        shmt_text_add(text, "type: bytes");
    else
        shmt_init_add_type(one, text);
    add_role(draft, k, text);
    add_count(draft, global, text);
    if (role != NULL && strcmp(role, "inout") == 0)
        add_fill(global, text);
    if (role == NULL || strcmp(role, "symbol") != 0)
        shmt_init_add_tolerance(one, text);
    shmt_text_add(text, "}\n");
}

void shmt_init_add_globals(const struct shmt_init_draft *draft,
                           struct shmt_text *text)
{
    for (size_t k = 0; k < draft->global_count; k++)
        if (shmt_init_global(&draft->globals[k]))
            add_global(draft, k, text);
}
