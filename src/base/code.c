/* SPDX-License-Identifier: MIT */
#include "base/code.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

/* NVRTC takes any number of CR before the LF. */
size_t shmt_code_splice(const char *at)
{
    const size_t length =
        *at == '\\' ? 1 + strspn(at + 1, "\r") : 0;

    return length > 0 && at[length] == '\n' ? length + 1 : 0;
}

const char *shmt_code_behind_comment(const char *at)
{
    const char *end;

    if (at[0] != '/' || (at[1] != '/' && at[1] != '*'))
        return at;
    if (at[1] == '*') {
        end = strstr(at + 2, "*/");
        return end == NULL ? at + strlen(at) : end + 2;
    }
    while (*at != '\0' && *at != '\n') {
        const size_t splice = shmt_code_splice(at);

        at += splice > 0 ? splice : 1;
    }
    return at;
}

/* Behind "MARK(...)MARK", in front of which stands an R. */
static const char *behind_raw(const char *at)
{
    const char *const mark = at + 1;
    const size_t length = strcspn(mark, "(\" \n");

    if (mark[length] != '(' || length > 16)
        return mark;
    for (at = mark + length; (at = strchr(at, ')')) != NULL; at++)
        if (strncmp(at + 1, mark, length) == 0 && at[1 + length] == '"')
            return at + 2 + length;
    return mark + strlen(mark);
}

/* The word that stands in front of `at`: a prefix, or a number. */
static const char *word_before(const char *begin, const char *at)
{
    while (at > begin && (isalnum((unsigned char)at[-1]) || at[-1] == '_'))
        at--;
    return at;
}

static bool is_raw(const char *word, size_t length)
{
    static const char *const prefixes[] = {"R", "LR", "uR", "UR", "u8R"};

    for (size_t k = 0; k < sizeof prefixes / sizeof *prefixes; k++)
        if (strlen(prefixes[k]) == length &&
            memcmp(prefixes[k], word, length) == 0)
            return true;
    return false;
}

const char *shmt_code_behind_quotes(const char *begin, const char *at)
{
    const char sign = *at, *const word = word_before(begin, at);

    if (sign == '"' && is_raw(word, (size_t)(at - word)))
        return behind_raw(at);
    if (sign == '\'' && isdigit((unsigned char)*word))
        return at + 1;
    for (at++; *at != '\0' && *at != '\n' && *at != sign;) {
        const size_t splice = shmt_code_splice(at);

        at += splice > 0 ? splice : at[0] == '\\' && at[1] != '\0' ? 2 : 1;
    }
    return at + (*at == sign);
}

const char *shmt_code_end_of_line(const char *begin, const char *at)
{
    while (*at != '\0' && *at != '\n') {
        const char *const comment = shmt_code_behind_comment(at);
        const size_t splice = shmt_code_splice(at);

        if (comment != at)
            at = comment;
        else if (*at == '"' || *at == '\'')
            at = shmt_code_behind_quotes(begin, at);
        else
            at += splice > 0 ? splice : 1;
    }
    return at;
}
