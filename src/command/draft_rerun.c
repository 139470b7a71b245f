/* SPDX-License-Identifier: MIT */
/*
 * draft_rerun: a captured launch made again in a measure worker: whether it
 * gives what the application got, which of what it changes is output and which
 * in-out, and how far its numbers vary; and what the draft says of that.
 * Called by capture.c and draft_write.c.
 */
#include "config.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/draft.h"

/* How many times as far as numbers were seen apart they may be. */
static const double MORE = 4;

/* What a draft proposes for reals whatever was seen, unless that of the type
 * is more. */
static const double RELATIVE = 1e-5, MAXIMUM = 1e-6;

static double tolerance_of(const struct shmt_draft_memory *memory)
{
    return strtod(shmt_element_tolerance(memory->element), NULL);
}

static double relative_of(const struct shmt_draft_memory *memory)
{
    return fmax(RELATIVE, tolerance_of(memory));
}

/* -- the experiments ------------------------------------------------------ */

static struct shmt_draft_memory *memory_of(struct shmt_draft *draft,
                                           const struct shmt_kernel *kernel,
                                           int64_t argument)
{
    for (size_t k = 0; k < draft->memory_count; k++)
        if ((size_t)argument < kernel->argument_count &&
            strcmp(draft->memories[k].name,
                   kernel->arguments[argument].name) == 0)
            return &draft->memories[k];
    return NULL;
}

static void keep_plain(struct shmt_draft *draft,
                       const struct shmt_kernel *kernel,
                       const struct shmt_rerun *found)
{
    draft->reran = true;
    for (size_t k = 0; k < found->count; k++) {
        struct shmt_draft_memory *memory =
            memory_of(draft, kernel, found->buffers[k].argument);

        if (memory != NULL)
            memory->plain = found->buffers[k];
    }
}

/* How far apart, of the largest, numbers may be that are the same but for
 * rounding. */
static const double ROUNDING = 0.1;

/* How far apart, so, what may be right is from what is by a tolerance. */
static const double NEAR = 1e-3;

bool shmt_draft_is_unsteady(const struct shmt_draft_memory *memory)
{
    return memory->plain.varying > 0 &&
           (!shmt_element_is_real(memory->element) ||
            !(memory->plain.spread <= ROUNDING * memory->plain.most));
}

bool shmt_draft_is_verified(const struct shmt_draft *draft)
{
    for (size_t k = 0; k < draft->memory_count; k++)
        if (draft->memories[k].after != NULL &&
            !shmt_draft_is_unsteady(&draft->memories[k]))
            return true;
    return false;
}

/* What comes out otherwise anywhere counts for the buffer that was other, but
 * of what does so anyway. */
static void keep_poisoned(struct shmt_draft *draft,
                          const struct shmt_kernel *kernel,
                          struct shmt_draft_memory *memory,
                          const struct shmt_live_reran *reran)
{
    memory->tried = true;
    if (!reran->ran) {
        memory->failed = shmt_arena_copy(draft->arena, reran->why,
                                         strlen(reran->why));
        memory->poisoned.changed = 1;
        return;
    }
    for (size_t k = 0; k < reran->found.count; k++) {
        const struct shmt_rerun_buffer *one = &reran->found.buffers[k];
        const struct shmt_draft_memory *of =
            memory_of(draft, kernel, one->argument);
        const int64_t before = memory->poisoned.changed;

        if (of == memory)
            memory->poisoned = *one;
        memory->poisoned.changed = before;
        if (of == NULL || !shmt_draft_is_unsteady(of))
            memory->poisoned.changed += one->changed;
    }
}

bool shmt_draft_gives_the_same(const struct shmt_draft *draft)
{
    for (size_t k = 0; k < draft->memory_count; k++)
        if (draft->memories[k].plain.other > 0 &&
            draft->memories[k].plain.varying == 0)
            return false;
    return true;
}

static enum shmtune_status experiment(struct shmt_draft *draft,
                                      const struct shmt_live_rerun *request,
                                      struct shmt_live_reran *reran,
                                      struct shmt_error *err)
{
    const struct shmt_kernel *const kernel = request->kernel;
    enum shmtune_status status = shmt_live_rerun(request, NULL, reran, err);

    if (status != SHMTUNE_OK)
        return status;
    if (!reran->ran)
        return shmt_error_set(err, SHMTUNE_WRONG_RESULT, "%s", reran->why);
    keep_plain(draft, kernel, &reran->found);
    for (size_t k = 0; status == SHMTUNE_OK &&
                       shmt_draft_gives_the_same(draft) &&
                       k < kernel->argument_count; k++) {
        struct shmt_draft_memory *memory =
            memory_of(draft, kernel, (int64_t)k);

        if (memory == NULL || memory->after == NULL ||
            shmt_draft_is_unsteady(memory) ||
            kernel->arguments[k].role != SHMT_ROLE_INOUT)
            continue;
        status = shmt_live_rerun(request, &kernel->arguments[k], reran, err);
        if (status == SHMTUNE_OK)
            keep_poisoned(draft, kernel, memory, reran);
    }
    return status;
}

enum shmtune_status shmt_draft_read_again(const struct shmt_draft *draft,
                                          const char *folder, const char *name,
                                          const char *images,
                                          struct shmt_draft_again *out,
                                          struct shmt_error *err)
{
    const char *path = shmt_path_join(draft->arena, folder, name);
    enum shmtune_status status;

    *out = (struct shmt_draft_again){
        .request = {.program = getenv("SHMTUNE_WORKER"),   /* for tests */
                    .device = "0", .images = images,
                    .stop = &shmt_command_stopped},
        .reran = shmt_arena_alloc(draft->arena, 1, sizeof *out->reran)};
    if (path == NULL || out->reran == NULL)
        return shmt_error_memory(err);
    status = shmt_kernel_read(path, &out->kernel, err);
    out->request.kernel = out->kernel;
    return status;
}

enum shmtune_status shmt_draft_rerun(struct shmt_draft *draft,
                                     const char *folder, const char *images,
                                     struct shmt_error *err)
{
    struct shmt_draft_again again;
    enum shmtune_status status = shmt_draft_read_again(
        draft, folder, "kernel.yaml", images, &again, err);

    if (status == SHMTUNE_OK)
        status = experiment(draft, &again.request, again.reran, err);
    shmt_kernel_free(again.kernel);
    return status;
}

/* -- what follows --------------------------------------------------------- */

bool shmt_draft_is_output(const struct shmt_draft_memory *memory)
{
    return memory->tried && memory->poisoned.changed == 0 &&
           memory->poisoned.unwritten == 0 &&
           memory->poisoned.written[1] > memory->poisoned.written[0];
}

static bool varies(const struct shmt_draft_memory *memory)
{
    return memory->plain.varying > 0 || memory->plain.other > 0;
}

/* Up, to one digit: 0.00034 is 0.0004. */
static double round_up(double number)
{
    const double unit = pow(10, floor(log10(number)));

    return ceil(number / unit) * unit;
}

/* Of the largest number; 0: nothing was seen to vary, or it is no number. */
static double seen(const struct shmt_draft_memory *memory)
{
    return varies(memory) && memory->plain.spread > 0 &&
                   isfinite(memory->plain.spread) && memory->plain.most > 0
               ? round_up(MORE * memory->plain.spread / memory->plain.most)
               : 0;
}

void shmt_draft_add_tolerance(const struct shmt_draft_memory *memory,
                              struct shmt_text *text)
{
    const double usual = fmax(MAXIMUM, tolerance_of(memory));

    if (shmt_draft_is_unsteady(memory)) {
        shmt_text_addf(text, ", tolerance: {mismatches: %llu}",
                       (unsigned long long)(memory->bytes /
                           shmt_element_bytes(memory->element)));
        return;
    }
    if (!shmt_element_is_real(memory->element))
        return;
    shmt_text_addf(text, ", tolerance: {relative: %.1e, maximum: %.1e}",
                   relative_of(memory), fmax(usual, seen(memory)));
}

/* -- with other numbers --------------------------------------------------- */

/* Whether the buffer holds what the application got, as far as it did when the
 * launch was made as it was; of what is not steady nothing follows. */
static bool is_right(const struct shmt_draft_memory *memory,
                     const struct shmt_rerun_buffer *found)
{
    const double share = fmax(relative_of(memory), seen(memory));

    if ((found->other == 0 && found->varying == 0) ||
        shmt_draft_is_unsteady(memory))
        return true;
    return shmt_element_is_real(memory->element)
               ? found->spread <= share * found->most
               : varies(memory);
}

/* Sums in another order are further apart than a tolerance where much of them
 * cancels. */
static bool is_near(const struct shmt_draft_memory *memory,
                    const struct shmt_rerun_buffer *found)
{
    return shmt_element_is_real(memory->element) &&
           found->spread <= NEAR * found->most;
}

static enum shmt_draft_outcome compare(struct shmt_draft *draft,
                                       const struct shmt_kernel *kernel,
                                       const struct shmt_rerun *found)
{
    enum shmt_draft_outcome out = SHMT_DRAFT_RIGHT;

    for (size_t k = 0; k < found->count; k++) {
        const struct shmt_rerun_buffer *one = &found->buffers[k];
        const struct shmt_draft_memory *memory =
            memory_of(draft, kernel, one->argument);

        if (memory == NULL || is_right(memory, one))
            continue;
        if (!is_near(memory, one))
            return SHMT_DRAFT_OTHER;
        out = SHMT_DRAFT_NEAR;
    }
    return out;
}

enum shmtune_status shmt_draft_try(struct shmt_draft *draft,
                                   const struct shmt_draft_again *again,
                                   enum shmt_draft_outcome *out,
                                   struct shmt_error *err)
{
    const struct shmt_live_reran *const reran = again->reran;
    const enum shmtune_status status =
        shmt_live_rerun(&again->request, NULL, again->reran, err);

    *out = SHMT_DRAFT_UNKNOWN;
    if (status == SHMTUNE_OK && reran->crashed)
        *out = SHMT_DRAFT_OTHER;
    else if (status == SHMTUNE_OK && reran->ran)
        *out = compare(draft, again->kernel, &reran->found);
    return status;
}

/* -- the comments --------------------------------------------------------- */

static void add_plain(const struct shmt_draft_memory *memory,
                      struct shmt_text *text)
{
    const struct shmt_rerun_buffer *plain = &memory->plain;

    if (!varies(memory)) {
        shmt_text_addf(text, "  # Made again %d times it left what the "
                       "application got, bit for bit.\n",
                       (int)SHMT_RERUN_TIMES);
        return;
    }
    shmt_text_addf(text, "  # Made again %d times it left %lld of %lld bytes "
                   "otherwise than the application\n  # got, and %lld "
                   "otherwise from time to time.\n", (int)SHMT_RERUN_TIMES,
                   (long long)plain->other, (long long)plain->bytes,
                   (long long)plain->varying);
    if (shmt_draft_is_unsteady(memory))
        shmt_text_add(text, "  # No tolerance follows, so nothing of it is "
                      "compared: each element may be wrong,\n  # "
                      "`mismatches`. If you know what is right, say less, or "
                      "write a `compare`.\n");
    else if (plain->varying == 0)
        shmt_text_add(text, "  # Something that it reads was not captured, or "
                      "it was compiled otherwise.\n");
    else if (seen(memory) > 0)
        shmt_text_addf(text, "  # Its numbers were %.2g apart at most, the "
                       "largest is %.3g: the tolerance\n  # has at least four "
                       "times that, `maximum: %.1e`.\n",
                       plain->spread, plain->most, seen(memory));
}

static void add_role(const struct shmt_draft_memory *memory,
                     struct shmt_text *text)
{
    const struct shmt_rerun_buffer *found = &memory->poisoned;

    if (!memory->tried)
        return;
    if (memory->failed != NULL)
        shmt_text_add(text, "  # What it held before is read: with other "
                      "contents the launch fails.\n");
    else if (shmt_draft_is_output(memory))
        shmt_text_addf(text, "  # What it held before is not read: with %d "
                       "other contents all was the same.\n",
                       (int)SHMT_RERUN_POISONS);
    else if (found->changed > 0)
        shmt_text_addf(text, "  # What it held before is read: with other "
                       "contents %lld bytes came out otherwise.\n",
                       (long long)found->changed);
    else if (found->written[1] == 0)
        shmt_text_add(text, "  # With other contents before nothing was seen "
                      "to be written.\n");
    else
        shmt_text_addf(text, "  # What it held before is not read, but of "
                       "bytes %lld to %lld it leaves %lld\n  # as they were, "
                       "so it is no output.\n",
                       (long long)found->written[0],
                       (long long)found->written[1],
                       (long long)found->unwritten);
}

void shmt_draft_add_findings(const struct shmt_draft *draft,
                             const struct shmt_draft_memory *memory,
                             struct shmt_text *text)
{
    if (!draft->reran)
        return;
    add_plain(memory, text);
    add_role(memory, text);
}

/* -- a line for people ---------------------------------------------------- */

static bool is_in_out(const struct shmt_draft_memory *memory)
{
    return memory->tried && !shmt_draft_is_output(memory);
}

static void add_names(const struct shmt_draft *draft,
                      bool (*is)(const struct shmt_draft_memory *memory),
                      const char *what, struct shmt_text *text)
{
    const char *before = what;

    for (size_t k = 0; k < draft->memory_count; k++) {
        const struct shmt_draft_memory *one = &draft->memories[k];

        if (!is(one))
            continue;
        shmt_text_addf(text, "%s%s", before, one->name);
        before = ", ";
    }
}

void shmt_draft_tell_rerun(const struct shmt_draft *draft,
                           struct shmt_text *text)
{
    bool same = true, changed = false;

    shmt_text_add(text, "made again");
    for (size_t k = 0; k < draft->memory_count; k++) {
        const struct shmt_draft_memory *one = &draft->memories[k];

        changed |= one->after != NULL;
        if (!varies(one))
            continue;
        same = false;
        shmt_text_addf(text, ", %lld of %lld bytes of %s %s",
                       (long long)(one->plain.varying > 0
                                       ? one->plain.varying
                                       : one->plain.other),
                       (long long)one->plain.bytes, one->name,
                       one->plain.varying > 0
                           ? "vary from time to time"
                           : "are not what the application got");
    }
    if (same)
        shmt_text_add(text, " it gives what the application got");
    if (!changed)
        shmt_text_add(text, "; it changed nothing, `--skip N` captures a later "
                      "one");
    add_names(draft, shmt_draft_is_output, "; output: ", text);
    add_names(draft, is_in_out, "; in-out: ", text);
    add_names(draft, shmt_draft_is_unsteady, "; not compared: ", text);
    shmt_draft_tell_decided(draft, text);
    shmt_draft_tell_choices(draft, text);
}
