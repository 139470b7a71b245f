/* SPDX-License-Identifier: MIT */
/*
 * diagnostic: one error in a log of NVRTC or nvcc.  Both print it as
 *
 *     file.cu(5): error: identifier "m" is undefined
 *       y[0] = m;
 *              ^
 *
 * with the line of the source two blanks to the right.
 */
#ifndef SHMT_GPU_DIAGNOSTIC_H
#define SHMT_GPU_DIAGNOSTIC_H

#include <stddef.h>

/* The first line of the diagnostic that begins at `line`, its place written as
 * all places are: "file.cu:5:8: error: ...", the column only where a caret says
 * it. */
void shmt_diagnostic_text(const char *line, char *out, size_t room);

/* The word above the caret.  Returns its length; 0 when there is none. */
size_t shmt_diagnostic_word(const char *line, const char **word);

#endif
