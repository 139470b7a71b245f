/* SPDX-License-Identifier: MIT */
/* shmtune.h alone, in the language that C17 and C++ share; every function is
 * called through the shared library.  tests/cli/header.sh compiles this file
 * as C++ too. */
#include "shmtune.h"

#include "tests/unit/runtime/header_calls.h"

int main(void)
{
    return header_calls();
}
