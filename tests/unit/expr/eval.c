/* SPDX-License-Identifier: MIT */
/*
 * eval: what expr_python.py compares with Python.  Lines in: `expression
 * TAB name=i:1 name=r:0x1p0 name=w:word ...`; lines out: `i:1`, `r:0x1p+0`,
 * `w:word`, `fault` or `refused`.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "expr/expr.h"

enum { NAMES = 16 };

static size_t read_names(char *text, struct shmt_expr_symbol *symbols,
                         struct shmt_value *values)
{
    size_t count = 0;

    for (char *item = strtok(text, " "); item != NULL && count < NAMES;
         item = strtok(NULL, " "), count++) {
        char *equals = strchr(item, '=');

        *equals = '\0';
        symbols[count].name = item;
        values[count].type = equals[1] == 'i' ? SHMT_VALUE_INT
                             : equals[1] == 'r' ? SHMT_VALUE_REAL :
                                 SHMT_VALUE_WORD;
        symbols[count].type = values[count].type;
        if (equals[1] == 'i')
            values[count].i = strtoll(equals + 3, NULL, 10);
        else if (equals[1] == 'r')
            values[count].r = strtod(equals + 3, NULL);
        else
            values[count].w = equals + 3;
    }
    return count;
}

static void answer(const char *text, char *names)
{
    struct shmt_expr_symbol symbols[NAMES];
    struct shmt_value values[NAMES], value;
    struct shmt_expr_scope scope = {.symbols = symbols};
    struct shmt_arena *arena = shmt_arena_new();
    struct shmt_error err = {0};
    struct shmt_expr *expr;

    scope.count = read_names(names, symbols, values);
    if (arena == NULL ||
        shmt_expr_compile(arena, (struct shmt_place){0}, text, &scope, &expr,
                          &err) != SHMTUNE_OK)
        printf("refused %s\n", err.text);
    else if (shmt_expr_eval(expr, values, &value, &err) != SHMTUNE_OK)
        printf("fault %s\n", err.text);
    else if (value.type == SHMT_VALUE_INT)
        printf("i:%" PRId64 "\n", value.i);
    else if (value.type == SHMT_VALUE_REAL)
        printf("r:%a\n", value.r);
    else
        printf("w:%s\n", value.w);
    shmt_arena_free(arena);
}

int main(void)
{
    static char line[1 << 16];

    while (fgets(line, sizeof line, stdin) != NULL) {
        char *tab = strchr(line, '\t');

        line[strcspn(line, "\n")] = '\0';
        if (tab == NULL)
            return 2;
        *tab = '\0';
        answer(line, tab + 1);
    }
    return 0;
}
