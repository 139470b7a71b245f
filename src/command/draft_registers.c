/* SPDX-License-Identifier: MIT */
/*
 * draft_registers: whether a captured kernel is worth a try with fewer
 * registers than the compiler took.  Where it is they that let no further block
 * onto a multiprocessor, the two largest limits that would are values of a
 * parameter, which may cost more in spills than the blocks bring: that is
 * measured.
 *
 * A multiprocessor has four parts, each with 16,384 registers, which are given
 * to warps, 8 a thread at a time (CUDA C++ Programming Guide, technical
 * specifications of compute capability 7.0 to 12.0).
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "command/draft.h"

enum {
    PARTS = 4, PART_REGISTERS = 16384, UNIT = 8, WARP = 32,
    LEAST = 24, LIMITS = 2
};

static const char name[] = "REGISTERS";

/* Blocks of so many warps that a multiprocessor has the registers for. */
static int64_t blocks_of(int64_t registers, int64_t warps)
{
    const int64_t taken = (registers + UNIT - 1) / UNIT * UNIT;

    return PARTS * (PART_REGISTERS / (WARP * taken)) / warps;
}

/* The compiler obeys launch bounds of a kernel, and no limit beside them. */
static bool has_bounds(const struct shmt_draft *draft)
{
    static const char mark[] = "__global__";
    const char *code = draft->code;

    while ((code = strstr(code, mark)) != NULL) {
        char head[512];

        snprintf(head, sizeof head, "%.*s", (int)strcspn(code, "{;"), code);
        if (shmt_text_mentions(head, draft->name, 1) > 0 &&
            shmt_text_mentions(head, "__launch_bounds__", 1) > 0)
            return true;
        code += strlen(mark);
    }
    return false;
}

/* The application has said it, or the name is taken. */
static bool is_said(const struct shmt_draft *draft)
{
    for (size_t k = 0; k < draft->option_count; k++)
        if (strstr(draft->options[k], "maxrregcount") != NULL)
            return true;
    return has_bounds(draft) || shmt_text_mentions(draft->code, name, 1) > 0;
}

/* The next fewer registers with which more blocks fit; how many there are. */
static size_t find_limits(const struct shmt_draft *draft, int64_t warps,
                          int64_t limits[LIMITS])
{
    int64_t blocks = draft->resident;
    size_t count = 0;

    for (int64_t next = (draft->registers - 1) / UNIT * UNIT;
         next >= LEAST && count < LIMITS; next -= UNIT)
        if (blocks_of(next, warps) > blocks) {
            blocks = blocks_of(next, warps);
            limits[count++] = next;
        }
    return count;
}

void shmt_draft_registers(const struct shmt_draft *draft,
                          struct shmt_text *text)
{
    const int64_t threads =
        draft->block[0] * draft->block[1] * draft->block[2];
    const int64_t warps = (threads + WARP - 1) / WARP;
    int64_t limits[LIMITS];
    size_t count;

    /* Something else may be what lets no more in. */
    if (draft->code == NULL || draft->registers == 0 ||
        blocks_of(draft->registers, warps) != draft->resident ||
        is_said(draft))
        return;
    count = find_limits(draft, warps, limits);
    if (count == 0)
        return;
    shmt_text_addf(text, "  # A thread has %lld registers, so that %lld blocks "
                   "fit a multiprocessor; with at\n  # most",
                   (long long)draft->registers, (long long)draft->resident);
    for (size_t k = 0; k < count; k++)
        shmt_text_addf(text, "%s %lld it is %lld", k == 0 ? "" : ", with",
                       (long long)limits[k],
                       (long long)blocks_of(limits[k], warps));
    shmt_text_add(text, ".\n");
    if (!draft->propose)
        shmt_text_add(text, "  # To tune it, write this, too:\n  # ");
    shmt_text_addf(text, "%s%s: {values: [0", draft->propose ? "  " : "",
                   name);
    for (size_t k = 0; k < count; k++)
        shmt_text_addf(text, ", %lld", (long long)limits[k]);
    shmt_text_add(text, "], default: 0, option: \"-maxrregcount={}\"}\n");
}
