/* SPDX-License-Identifier: MIT */
/* Every module, whole, in one program: that it links is the test.  A function
 * that two of them define stops it. */
#include "record/record.h"
#include "shmtune.h"
#include "tests/support/check.h"

static void tuner_and_library_are_one_program(void)
{
    CHECK_TEXT(shmtune_match_text(SHMTUNE_EXACT), "exact");
    CHECK_TEXT(shmt_verdict_word(SHMT_VERDICT_OK), "ok");
}

int main(void)
{
    CHECK_RUN(tuner_and_library_are_one_program);
    return CHECK_END();
}
