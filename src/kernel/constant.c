/* SPDX-License-Identifier: MIT */
/*
 * constant: whole numbers that a source declares, `const int TILE = 32;`,
 * `constexpr`, and those of an enumeration.  Called by override.c and the
 * commands that draft specs.
 */
#include "kernel/kernel.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const char *skip_blanks(const char *at)
{
    return at + strspn(at, " \t\r\n");
}

static bool begins_line(const char *begin, const char *at)
{
    while (at > begin && (at[-1] == ' ' || at[-1] == '\t'))
        at--;
    return at == begin || at[-1] == '\n';
}

static bool is_word(const char *at, size_t length, const char *word)
{
    return strlen(word) == length && memcmp(at, word, length) == 0;
}

/* A pointer is no number, and `a.N` nothing that is declared. */
static bool may_be_name(const char *begin, const char *at)
{
    while (at > begin && isspace((unsigned char)at[-1]))
        at--;
    return at == begin || strchr("*&.>", at[-1]) == NULL;
}

/* Behind a name: `= 32;`, `= 32u,`, `= 32 }`. */
static bool read_value(const char *at, struct shmt_kernel_constant *out)
{
    const char *end;

    at = skip_blanks(at);
    if (at[0] != '=' || at[1] == '=')
        return false;
    at = skip_blanks(at + 1);
    out->value = at;
    at += strspn(at, "0123456789");
    out->end = at + strspn(at, "uUlL");
    end = skip_blanks(out->end);
    return at > out->value && (out->value[0] != '0' || at == out->value + 1) &&
           *end != '\0' && strchr(",;}", *end) != NULL;
}

/* The word at scan->at, of so many bytes: true: a constant. */
static bool read_word(struct shmt_kernel_constants *scan, size_t length,
                      struct shmt_kernel_constant *out)
{
    const char *const at = scan->at;

    scan->at += length;
    if (is_word(at, length, "const") || is_word(at, length, "constexpr"))
        scan->constant = true;
    scan->list |= is_word(at, length, "enum");
    *out = (struct shmt_kernel_constant){.name = at, .length = length};
    return scan->constant && scan->depth == 0 &&
           may_be_name(scan->begin, at) && read_value(scan->at, out);
}

/* What a statement says ends with it; `enum {` is followed by constants. */
static void read_sign(struct shmt_kernel_constants *scan)
{
    switch (*scan->at++) {
    case '{':
        scan->constant = scan->list;
        scan->list = false;
        scan->depth = 0;
        break;
    case ';':
    case '}':
        scan->constant = scan->list = false;
        scan->depth = 0;
        break;
    case '(':
    case '<':
        scan->depth++;
        break;
    case ')':
    case '>':
        scan->depth -= scan->depth > 0;
        break;
    default:
        break;
    }
}

bool shmt_kernel_next_constant(struct shmt_kernel_constants *scan,
                               const char *end,
                               struct shmt_kernel_constant *out)
{
    while (scan->at < end) {
        const char *const at = scan->at;
        const size_t length = shmt_text_name_length(at);

        if (*at == '#' && begins_line(scan->begin, at))
            scan->at = shmt_code_end_of_line(scan->begin, at);
        else if (at[0] == '/' && (at[1] == '/' || at[1] == '*'))
            scan->at = shmt_code_behind_comment(at);
        else if (*at == '"' || *at == '\'')
            scan->at = shmt_code_behind_quotes(scan->begin, at);
        else if (isdigit((unsigned char)*at))
            while (isalnum((unsigned char)*scan->at))
                scan->at++;
        else if (length == 0)
            read_sign(scan);
        else if (read_word(scan, length, out))
            return true;
    }
    return false;
}

static int line_of(const char *text, const char *at)
{
    int line = 1;

    for (; text < at; text++)
        line += *text == '\n';
    return line;
}

int shmt_kernel_find_constant(const char *text, const char *name)
{
    struct shmt_kernel_constants scan = {.begin = text, .at = text};
    struct shmt_kernel_constant one;

    while (shmt_kernel_next_constant(&scan, text + strlen(text), &one))
        if (is_word(one.name, one.length, name))
            return line_of(text, one.name);
    return 0;
}

int64_t shmt_kernel_constant_value(const struct shmt_kernel_constant *one)
{
    return strtoll(one->value, NULL, 10);
}

bool shmt_kernel_is_constant(const char *text, const char *name,
                             int64_t value)
{
    struct shmt_kernel_constants scan = {.begin = text, .at = text};
    struct shmt_kernel_constant one;
    bool found = false;

    while (shmt_kernel_next_constant(&scan, text + strlen(text), &one)) {
        if (!is_word(one.name, one.length, name))
            continue;
        if (shmt_kernel_constant_value(&one) != value)
            return false;
        found = true;
    }
    return found;
}
