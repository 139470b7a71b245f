/* SPDX-License-Identifier: MIT */
/*
 * ptx: finds in the compiler's intermediate text whether a kernel uses dynamic
 * shared memory, which its binary does not say, and how much its arrays there
 * take.  Called by check_launch.c and draft_parameters.c of command/.
 */
#include "gpu/ptx.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static size_t word_length(const char *at)
{
    size_t length = 0;

    while (isalnum((unsigned char)at[length]) || at[length] == '_' ||
           at[length] == '$')
        length++;
    return length;
}

/* The next place of a name in [at, end), which is no part of an instruction
 * (ld.shared.f32) and no register; NULL: there is none. */
static const char *find_word(const char *at, const char *end,
                             const char *word, size_t length)
{
    while (at < end) {
        const size_t here = word_length(at);

        if (here == length && memcmp(at, word, length) == 0 &&
            at[-1] != '.' && at[-1] != '%')
            return at;
        at += here > 0 ? here : 1;
    }
    return NULL;
}

/* The function behind `.entry` or `.func` at `at`: its body, in braces. */
static bool find_body(const char *at, const char **from, const char **end)
{
    size_t depth = 0;
    const char *open = at + strcspn(at, "{;");

    if (*open != '{')
        return false;
    *from = open;
    for (const char *c = open; *c != '\0'; c++) {
        depth += *c == '{';
        if (*c == '}' && --depth == 0) {
            *end = c;
            return true;
        }
    }
    return false;
}

static int64_t reach(const char *from, const char *end, const char *name,
                     size_t length)
{
    int64_t least = 0;

    for (const char *at = from;
         (at = find_word(at, end, name, length)) != NULL; at += length) {
        const char *behind = at + length;
        const long long offset =
            *behind == '+' && isdigit((unsigned char)behind[1])
                ? strtoll(behind + 1, NULL, 10) : 0;

        if (offset < INT32_MAX && offset + 1 > least)
            least = offset + 1;
    }
    return least;
}

/* What the functions of one kind use of the memory `name`: the most of them,
 * or of the one that is called `symbol`.  Of no name only whether there is such
 * a function. */
static bool look(const char *ptx, const char *kind, const char *symbol,
                 const char *name, size_t length, int64_t *least)
{
    bool found = false;

    for (const char *at = ptx; (at = strstr(at, kind)) != NULL; at++) {
        const char *word = at + strlen(kind), *from, *end;
        int64_t here;

        word += strspn(word, " \t\n");
        if (!find_body(word, &from, &end) ||
            (symbol != NULL && (word_length(word) != strlen(symbol) ||
                                strncmp(word, symbol, strlen(symbol)) != 0)))
            continue;
        found = true;
        if (length == 0)
            continue;
        here = reach(from, end, name, length);
        if (here > *least)
            *least = here;
    }
    return found;
}

bool shmt_ptx_shared(const char *ptx, const char *symbol, int64_t *least)
{
    static const char mark[] = ".extern .shared";
    int64_t called = 0;

    *least = 0;
    if (!look(ptx, ".entry", symbol, "", 0, least))
        return false;
    *least = 0;
    for (const char *at = ptx; (at = strstr(at, mark)) != NULL; at++) {
        const char *end = at + strcspn(at, ";["), *name = end;

        while (name > at && word_length(name - 1) > 0)
            name--;
        if (name == end)
            continue;
        look(ptx, ".entry", symbol, name, (size_t)(end - name), least);
        look(ptx, ".func", NULL, name, (size_t)(end - name), &called);
    }
    return *least > 0 || called == 0;
}

/* An array `tile` of the kernel `scale` is _ZZ5scalePfE4tile: the length
 * of what is before the last E. */
static size_t owner_length(const char *name, const char *end)
{
    size_t length = 0;

    for (const char *at = name; at < end; at++)
        if (*at == 'E')
            length = (size_t)(at - name);
    return length;
}

/* Those of one kernel stand one below the other. */
int64_t shmt_ptx_shared_bytes(const char *ptx)
{
    const char *line = ptx;
    const char *owner = "";
    int64_t bytes = 0, most = 0;
    size_t length = 0;

    while ((line = strstr(line, ".shared .align")) != NULL) {
        const char *end = line + strcspn(line, "\n");
        const char *open = memchr(line, '[', (size_t)(end - line));
        const char *name = strstr(line, "_Z");

        line = end;
        if (open == NULL || name == NULL || name > open)
            continue;
        if (owner_length(name, open) != length ||
            strncmp(name, owner, length) != 0)
            bytes = 0;
        owner = name;
        length = owner_length(name, open);
        bytes += atoi(open + 1);
        most = bytes > most ? bytes : most;
    }
    return most;
}
