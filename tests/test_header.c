/* SPDX-License-Identifier: MIT */
/* shmtune.h alone, as a C17 program has it; test_header_cxx.cc has it as a
 * C++ program.  Every function is called through it. */
#include "shmtune.h"

#include "header_calls.h"

int main(void)
{
    return header_calls();
}
