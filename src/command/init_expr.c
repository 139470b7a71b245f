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

/* Variables that are made of variables. */
enum { DEPTH = 8 };

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
    return !parameter->pointer && parameter->name[0] != '\0' &&
           parameter->kind == SHMT_SIGNATURE_ELEMENT &&
           !shmt_element_is_real(parameter->element) &&
           shmt_element_bytes(parameter->element) >= 4;
}

static bool add_code(const struct shmt_init_draft *draft, const char *code,
                     size_t depth, struct shmt_text *text);

static bool equal(const char *name, size_t length, const char *word)
{
    return strlen(word) == length && memcmp(name, word, length) == 0;
}

/* The spec's own name for a name of the host's: a macro, a dimension that the
 * launch passes it as, or one that is called the same. */
static const char *own_name(const struct shmt_init_draft *draft,
                            const char *name, size_t length)
{
    const struct shmt_signature *signature = &draft->kernel->signature;
    const struct shmt_source_launch *launch = draft->launch;
    int64_t number;

    for (size_t k = 0; k < draft->source.macro_count; k++)
        if (equal(name, length, draft->source.macros[k].name) &&
            shmt_init_number(draft->source.macros[k].value, &number))
            return draft->source.macros[k].name;
    for (size_t k = 0; launch != NULL && k < signature->count &&
                       launch->argument_count == signature->count; k++)
        if (shmt_init_is_dimension(&signature->parameters[k]) &&
            equal(name, length, launch->arguments[k]))
            return signature->parameters[k].name;
    return NULL;
}

/* The value that was given last before the launch; NULL: none. */
static const char *value_of(const struct shmt_init_draft *draft,
                            const char *name, size_t length)
{
    const char *value = NULL;

    for (size_t k = 0; draft->launch != NULL &&
                       k < draft->source.variable_count; k++)
        if (draft->source.variables[k].line <= draft->launch->line &&
            equal(name, length, draft->source.variables[k].name))
            value = draft->source.variables[k].value;
    return value;
}

static bool add_name(const struct shmt_init_draft *draft, const char *name,
                     size_t length, size_t depth, struct shmt_text *text)
{
    const char *own = own_name(draft, name, length);
    const char *value = own == NULL ? value_of(draft, name, length) : NULL;
    int64_t number;

    if (own != NULL) {
        shmt_text_add(text, own);
        return true;
    }
    if (value == NULL || depth == DEPTH)
        return false;
    if (shmt_init_number(value, &number)) {
        shmt_text_addf(text, "%lld", (long long)number);
        return true;
    }
    shmt_text_add(text, "(");
    if (!add_code(draft, value, depth + 1, text))
        return false;
    shmt_text_add(text, ")");
    return true;
}

/* sizeof(float); `at` is behind the word.  NULL: not understood. */
static const char *add_sizeof(const char *at, struct shmt_text *text)
{
    static const struct {
        const char *name;
        int bytes;
    } types[] = {
        {"float", 4}, {"double", 8}, {"int", 4}, {"unsigned", 4},
        {"char", 1}, {"short", 2}, {"half", 2}, {"__half", 2}, {"float2", 8},
        {"float4", 16}
    };
    const char *name = at + strspn(at, " (");
    const size_t length = shmt_text_name_length(name);
    const char *behind = name + length + strspn(name + length, " ");

    for (size_t k = 0; *behind == ')' && k < sizeof types / sizeof *types;
         k++)
        if (equal(name, length, types[k].name)) {
            shmt_text_addf(text, "%d", types[k].bytes);
            return behind + 1;
        }
    return NULL;
}

static bool add_code(const struct shmt_init_draft *draft, const char *code,
                     size_t depth, struct shmt_text *text)
{
    const char *at = code;

    while (*at != '\0') {
        const size_t name = shmt_text_name_length(at);

        if (isdigit((unsigned char)*at)) {
            const size_t digits = strspn(at, "0123456789");

            shmt_text_add_bytes(text, at, digits);
            at += digits;
            at += strspn(at, "uUlL");
            if (shmt_text_name_length(at) > 0 || *at == '.')
                return false;
        } else if (equal(at, name, "sizeof")) {
            at = add_sizeof(at + name, text);
            if (at == NULL)
                return false;
        } else if (name > 0) {
            if (!add_name(draft, at, name, depth, text))
                return false;
            at += name;
        } else if (strchr("+-*%() ", *at) != NULL) {
            shmt_text_add_bytes(text, at++, 1);
        } else if (*at == '/') {
            shmt_text_add(text, "//");
            at++;
        } else {
            return false;
        }
    }
    return at > code;
}

bool shmt_init_expr(const struct shmt_init_draft *draft, const char *code,
                    struct shmt_text *text)
{
    struct shmt_text made = {0};
    const bool known = add_code(draft, code, 0, &made);

    if (known)
        shmt_text_add(text, shmt_text_string(&made));
    text->failed |= made.failed;
    shmt_text_free(&made);
    return known;
}

/* The extents behind dim3, or the code itself. */
static const char *list_of(const struct shmt_init_draft *draft,
                           const char *code)
{
    const size_t length = shmt_text_name_length(code);
    const char *value;

    if (length > 0 && code[length] == '\0' &&
        own_name(draft, code, length) == NULL &&
        (value = value_of(draft, code, length)) != NULL)
        code = value;
    return strncmp(code, "dim3", 4) == 0 &&
                   shmt_text_name_length(code) == 4
               ? code + 4 + strspn(code + 4, " ") : code;
}

/* The comma, or the end, that closes the item at `at`. */
static const char *end_of_item(const char *at)
{
    size_t depth = 0;

    for (; *at != '\0' && (depth > 0 || *at != ','); at++) {
        depth += *at == '(';
        depth -= *at == ')' && depth > 0;
    }
    return at;
}

bool shmt_init_extents(const struct shmt_init_draft *draft, const char *code,
                       struct shmt_text *text)
{
    const char *list = list_of(draft, code), *end;
    const size_t length = strlen(list);
    struct shmt_text item = {0}, made = {0};
    size_t count = 0;
    bool known = true;

    /* dim3(a, b): without the parentheses. */
    if (list != code && *list == '(' && list[length - 1] == ')' &&
        end_of_item(list)[0] == '\0')
        list = shmt_arena_copy(draft->arena, list + 1, length - 2);
    for (; known && list != NULL && *list != '\0'; list = end) {
        list += strspn(list, " ");
        end = end_of_item(list);
        shmt_text_clear(&item);
        shmt_text_add_bytes(&item, list, (size_t)(end - list));
        shmt_text_addf(&made, "%s\"", count == 0 ? "" : ", ");
        known = shmt_init_expr(draft, shmt_text_string(&item), &made) &&
                ++count <= 3;
        shmt_text_add(&made, "\"");
        end += *end == ',';
    }
    known = known && list != NULL && count > 0;
    if (known)
        shmt_text_addf(text, "[%s]", shmt_text_string(&made));
    text->failed |= made.failed || item.failed || list == NULL;
    shmt_text_free(&made);
    shmt_text_free(&item);
    return known;
}
