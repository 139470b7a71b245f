/* SPDX-License-Identifier: MIT */
/*
 * variable_name: the mangled names of variables (of the Itanium C++ ABI), and
 * the namespaces that nvcc and NVRTC add to them.
 */
#include "gpu/variable_name.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* The name of which the length is at `at`, "4mean"; NULL: there is none. */
static const char *part_of(const char *at, size_t *length)
{
    char *part = NULL;

    *length = *at < '1' || *at > '9' ? 0 : strtoul(at, &part, 10);
    return *length == 0 || *length > strlen(part) ? NULL : part;
}

static bool is_added(const char *part)
{
    return strncmp(part, "_INTERNAL_", strlen("_INTERNAL_")) == 0 ||
           strncmp(part, "_GLOBAL__N_", strlen("_GLOBAL__N_")) == 0;
}

/* Adds the name in the source that a nested one, _ZN..E, stands for. */
static bool add_nested(const char *name, struct shmt_text *text)
{
    bool first = true;

    for (name += strlen("_ZN"); *name != 'E';) {
        const char *part;
        size_t length;

        name += *name == 'L';
        part = part_of(name, &length);
        if (part == NULL)
            return false;
        if (!is_added(part)) {
            shmt_text_addf(text, "%s%.*s", first ? "" : "::", (int)length,
                           part);
            first = false;
        }
        name = part + length;
    }
    return name[1] == '\0';
}

void shmt_variable_add_name(const char *symbol, struct shmt_text *text)
{
    struct shmt_text nested = {0};
    const bool is_nested = strncmp(symbol, "_ZN", strlen("_ZN")) == 0 &&
                           add_nested(symbol, &nested);

    shmt_text_add(text, is_nested ? shmt_text_string(&nested) : symbol);
    text->failed |= nested.failed;
    shmt_text_free(&nested);
}

/* Behind the namespaces that the compiler has added there. */
static const char *behind_added(const char *at)
{
    const char *part;
    size_t length;

    while ((part = part_of(at, &length)) != NULL && is_added(part))
        at = part + length;
    return at;
}

bool shmt_variable_is_of_file(const char *symbol)
{
    for (const char *at = symbol; *at != '\0'; at++)
        if ((at == symbol || !isdigit((unsigned char)at[-1])) &&
            behind_added(at) != at)
            return true;
    return false;
}

bool shmt_variable_is_same(const char *symbol, const char *other)
{
    bool number = false;       /* what is before it is a digit */

    for (;; symbol++, other++) {
        if (!number) {
            symbol = behind_added(symbol);
            other = behind_added(other);
        }
        if (*symbol != *other || *symbol == '\0')
            return *symbol == *other;
        number = isdigit((unsigned char)*symbol) != 0;
    }
}

bool shmt_variable_is_of_toolkit(const char *symbol)
{
    static const char *const spaces[] = {
        "cuda::std::", "cub::", "thrust::", "cooperative_groups::"};
    struct shmt_text name = {0};
    bool found = false;

    shmt_variable_add_name(symbol, &name);
    for (size_t k = 0; k < sizeof spaces / sizeof spaces[0]; k++)
        found |= strncmp(shmt_text_string(&name), spaces[k],
                         strlen(spaces[k])) == 0;
    shmt_text_free(&name);
    return found;
}
