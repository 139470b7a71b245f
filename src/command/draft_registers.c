/* SPDX-License-Identifier: MIT */
/*
 * draft_registers: whether a captured kernel is worth a try with fewer
 * registers than the compiler took.  Where it is they that let no further block
 * onto a multiprocessor, the two largest limits that would are values of a
 * parameter, which may cost more in spills than the blocks bring: that is
 * measured.  Of registers a multiprocessor of compute capability 9.0 has as
 * many as one of 7.0 to 12.0.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "command/draft.h"
#include "device/device.h"

/* The compiler gives registers by UNIT. */
enum { UNIT = 8, LEAST = 24, LIMITS = 2 };

static const char name[] = "REGISTERS";

/* Blocks of the launch on a multiprocessor, its shared memory left aside. */
static int64_t blocks_of(const struct shmt_draft *draft, int64_t registers)
{
    const struct shmt_resources resources = {.registers = (int)registers,
                                             .max_threads = -1};
    struct shmt_geometry launch = {.grid = {1, 1, 1}, .shared_static = -1};
    struct shmtune_device device;
    struct shmt_fit fit;

    for (size_t k = 0; k < 3; k++)
        launch.block[k] = (unsigned)draft->block[k];
    return shmt_device_for_arch("sm_90", &device, NULL) == SHMTUNE_OK &&
                   shmt_fit_launch(&device, &launch, &resources, &fit)
               ? fit.occupancy.resident_blocks : 0;
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
    for (size_t k = 0; k < draft->line.others.count; k++)
        if (strstr(draft->line.others.items[k], "maxrregcount") != NULL)
            return true;
    return has_bounds(draft) || shmt_text_mentions(draft->code, name, 1) > 0;
}

/* The next fewer registers with which more blocks fit; how many there are. */
static size_t find_limits(const struct shmt_draft *draft,
                          int64_t limits[LIMITS])
{
    int64_t blocks = draft->resident;
    size_t count = 0;

    for (int64_t next = (draft->registers - 1) / UNIT * UNIT;
         next >= LEAST && count < LIMITS; next -= UNIT)
        if (blocks_of(draft, next) > blocks) {
            blocks = blocks_of(draft, next);
            limits[count++] = next;
        }
    return count;
}

void shmt_draft_registers(const struct shmt_draft *draft,
                          struct shmt_text *text)
{
    int64_t limits[LIMITS];
    size_t count;

    /* Something else may be what lets no more in. */
    if (draft->code == NULL || draft->registers == 0 ||
        blocks_of(draft, draft->registers) != draft->resident ||
        is_said(draft))
        return;
    count = find_limits(draft, limits);
    if (count == 0)
        return;
    shmt_text_addf(text, "  # A thread has %lld registers, so that %lld blocks "
                   "fit a multiprocessor; with at\n  # most",
                   (long long)draft->registers, (long long)draft->resident);
    for (size_t k = 0; k < count; k++)
        shmt_text_addf(text, "%s %lld it is %lld", k == 0 ? "" : ", with",
                       (long long)limits[k],
                       (long long)blocks_of(draft, limits[k]));
    shmt_text_add(text, ".\n");
    if (!draft->propose)
        shmt_text_add(text, "  # To tune it, write this, too:\n  # ");
    shmt_text_addf(text, "%s%s: {values: [0", draft->propose ? "  " : "",
                   name);
    for (size_t k = 0; k < count; k++)
        shmt_text_addf(text, ", %lld", (long long)limits[k]);
    shmt_text_add(text, "], default: 0, option: \"-maxrregcount={}\"}\n");
}
