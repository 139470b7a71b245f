/* SPDX-License-Identifier: MIT */
// shmtune.h alone, as a C++ program has it.
#include "shmtune.h"

#include "header_calls.h"

int main()
{
    return header_calls();
}
