/* SPDX-License-Identifier: MIT */
/*
 * diagnostic: reads the place of an error out of a compiler's log.  Called by
 * nvrtc.c and nvcc.c.
 */
#include "gpu/diagnostic.h"

#include <stdio.h>
#include <string.h>

#include "base/base.h"

/* What a line of the source is moved to the right by. */
enum { INDENT = 2 };

/* The line of the source in a diagnostic, and *column where the caret stands in
 * it; NULL without. */
static const char *find_caret(const char *line, size_t *column)
{
    const char *source = strchr(line, '\n');
    const char *marks = source == NULL ? NULL : strchr(source + 1, '\n');

    if (marks == NULL)
        return NULL;
    *column = strspn(++marks, " \t");
    return marks[*column] == '^' && strcspn(++source, "\n") > *column
               ? source : NULL;
}

size_t shmt_diagnostic_word(const char *line, const char **word)
{
    size_t column;
    const char *source = find_caret(line, &column);

    if (source == NULL)
        return 0;
    *word = source + column;
    return shmt_text_name_length(*word);
}

void shmt_diagnostic_text(const char *line, char *out, size_t room)
{
    const size_t length = strcspn(line, "\n");
    const char *open = memchr(line, '(', length), *behind = NULL;
    char column[24] = "";
    size_t at;

    for (; open != NULL;
         open = memchr(open + 1, '(', length - (size_t)(open + 1 - line))) {
        const size_t digits = strspn(open + 1, "0123456789");

        behind = open + 1 + digits;
        if (digits > 0 && strncmp(behind, "): ", 3) == 0)
            break;
    }
    if (open == NULL) {
        snprintf(out, room, "%.*s", (int)length, line);
        return;
    }
    if (find_caret(line, &at) != NULL && at >= INDENT)
        snprintf(column, sizeof column, ":%zu", at - INDENT + 1);
    snprintf(out, room, "%.*s:%.*s%s: %.*s", (int)(open - line), line,
             (int)(behind - open - 1), open + 1, column,
             (int)(length - (size_t)(behind + 3 - line)), behind + 3);
}
