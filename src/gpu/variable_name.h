/* SPDX-License-Identifier: MIT */
/*
 * variable_name: what a variable of a binary is called in its source.  Of the
 * library that is preloaded into applications, too.
 */
#ifndef SHMT_GPU_VARIABLE_NAME_H
#define SHMT_GPU_VARIABLE_NAME_H

#include "base/base.h"

/* Appends the name in the source, "filters::weights" of _ZN7filters7weightsE,
 * without the namespaces that the compiler adds; a name that is no nested one
 * as it is. */
void shmt_variable_add_name(const char *symbol, struct shmt_text *text);

/* Whether the compiler has added a namespace, as to the names that only one
 * file knows: in each file, and in each folder, it is another. */
bool shmt_variable_is_of_file(const char *symbol);

/* Whether both are called alike but for such namespaces. */
bool shmt_variable_is_same(const char *symbol, const char *other);

/* Whether it is of a library of the toolkit, as cuda::std::end: nobody gives
 * those a value. */
bool shmt_variable_is_of_toolkit(const char *symbol);

#endif
