/* SPDX-License-Identifier: MIT */
/*
 * draft_choice: which proposed numbers of a captured launch are no choice, as a
 * stencil's radius, which is part of what the kernel computes.  The launch is
 * made again with each other value of a number, the rest of the draft as it is,
 * until one gives what the application got, or nearly so: such a number may be
 * tuned.  Of the others each two are given other values together, since a tile
 * and a block may have to be of one size.  What then never gave that result is
 * no choice.  Called by capture.c.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "command/draft.h"

/* All that is tried of a kernel. */
static const double SECONDS = 60;

/* Values that must have been tried to say so; and that many numbers of one
 * value may all have to be the same, which is not tried. */
enum { LEAST = 2, ALIKE = 3 };

/* A number with other values. */
struct candidate {
    struct shmt_draft_number *number;
    size_t parameter;          /* of the spec */
    size_t count;
    shmt_config others[SHMT_DRAFT_WRONG];      /* the nearest first */
    bool right;                /* or near, with one of them, whatever else was
                                  another */
    size_t wrong_count;        /* alone */
    int64_t wrong[SHMT_DRAFT_WRONG];
    bool fails;
    size_t untried;            /* candidates that were not yet others, too */
};

struct choosing {
    struct shmt_draft *draft;
    struct shmt_draft_again again;
    const struct shmt_kernel *kernel;
    double until_s;
    shmt_config config[SHMT_SPACE_PARAMETERS];  /* what is tried */
    size_t count;
    struct candidate candidates[SHMT_DRAFT_NUMBERS];
};

/* -- the numbers ---------------------------------------------------------- */

/* By their distance in the list of values. */
static void find_others(const struct shmt_parameter *parameter,
                        struct candidate *out)
{
    const size_t own = parameter->default_value;

    for (size_t away = 1; away < parameter->count; away++) {
        if (own + away < parameter->count && out->count < SHMT_DRAFT_WRONG)
            out->others[out->count++] = (shmt_config)(own + away);
        if (away <= own && out->count < SHMT_DRAFT_WRONG)
            out->others[out->count++] = (shmt_config)(own - away);
    }
}

static void find_candidates(struct choosing *choosing)
{
    struct shmt_draft *const draft = choosing->draft;
    const struct shmt_kernel *const kernel = choosing->kernel;

    for (size_t k = 0; k < draft->number_count; k++)
        for (size_t p = 0; p < kernel->parameter_count; p++) {
            struct candidate *const one =
                &choosing->candidates[choosing->count];

            if (kernel->parameters[p].count < 2 ||
                strcmp(kernel->parameters[p].name,
                       draft->numbers[k].name) != 0)
                continue;
            *one = (struct candidate){.number = &draft->numbers[k],
                                      .parameter = p};
            find_others(&kernel->parameters[p], one);
            choosing->count++;
        }
}

/* -- other values --------------------------------------------------------- */

static enum shmtune_status try_config(struct choosing *choosing,
                                      enum shmt_draft_outcome *out,
                                      struct shmt_error *err)
{
    struct shmt_draft_again *const again = &choosing->again;
    struct shmt_kernel_evaluated evaluated;

    *out = SHMT_DRAFT_UNKNOWN;
    shmt_kernel_evaluate(choosing->kernel, choosing->kernel->sizes[0],
                         choosing->config, &evaluated);
    if (!shmt_kernel_allows(&evaluated))
        return SHMTUNE_OK;
    again->request.most_s = choosing->until_s - shmt_clock_s();
    if (again->request.most_s <= 0)
        return shmt_error_set(err, SHMTUNE_WRONG_RESULT,
                              "trying takes too long");
    return shmt_draft_try(choosing->draft, again, out, err);
}

static void set(struct choosing *choosing, const struct candidate *one,
                shmt_config value)
{
    choosing->config[one->parameter] = value;
}

static void set_back(struct choosing *choosing, const struct candidate *one)
{
    const struct shmt_parameter *const parameter =
        &choosing->kernel->parameters[one->parameter];

    set(choosing, one, (shmt_config)parameter->default_value);
}

/* Until one is right. */
static enum shmtune_status try_alone(struct choosing *choosing,
                                     struct candidate *one,
                                     struct shmt_error *err)
{
    const struct shmt_parameter *const parameter =
        &choosing->kernel->parameters[one->parameter];
    enum shmtune_status status = SHMTUNE_OK;

    for (size_t k = 0; status == SHMTUNE_OK && !one->right && k < one->count;
         k++) {
        enum shmt_draft_outcome outcome;

        set(choosing, one, one->others[k]);
        status = try_config(choosing, &outcome, err);
        one->right = outcome >= SHMT_DRAFT_NEAR;
        if (outcome != SHMT_DRAFT_OTHER)
            continue;
        one->fails = one->fails || choosing->again.reran->crashed;
        one->wrong[one->wrong_count++] =
            parameter->values[one->others[k]].i;
    }
    set_back(choosing, one);
    return status;
}

static int64_t number_of(const struct choosing *choosing,
                         const struct candidate *one, size_t value)
{
    return choosing->kernel->parameters[one->parameter].values[value].i;
}

/* Whether both are as many times as large as they were. */
static bool go_along(const struct choosing *choosing,
                     const struct candidate *one, size_t value,
                     const struct candidate *other, size_t another)
{
    return number_of(choosing, one, value) * other->number->value ==
           number_of(choosing, other, another) * one->number->value;
}

/* Of what is right together each may be tuned.  Where one was right alone the
 * other one is given what it may have to be with that. */
static enum shmtune_status try_together(struct choosing *choosing,
                                        struct candidate *one,
                                        struct candidate *other,
                                        struct shmt_error *err)
{
    enum shmtune_status status = SHMTUNE_OK;
    enum shmt_draft_outcome outcome = SHMT_DRAFT_UNKNOWN;

    for (size_t k = 0; k < one->count; k++)
        for (size_t i = 0; status == SHMTUNE_OK &&
                           outcome < SHMT_DRAFT_NEAR && i < other->count;
             i++) {
            if ((one->right || other->right) &&
                !go_along(choosing, one, one->others[k], other,
                          other->others[i]))
                continue;
            set(choosing, one, one->others[k]);
            set(choosing, other, other->others[i]);
            status = try_config(choosing, &outcome, err);
        }
    if (outcome >= SHMT_DRAFT_NEAR)
        one->right = other->right = true;
    set_back(choosing, one);
    set_back(choosing, other);
    return status;
}

/* Each two of which one was not right. */
static enum shmtune_status try_pairs(struct choosing *choosing,
                                     struct shmt_error *err)
{
    enum shmtune_status status = SHMTUNE_OK;

    for (size_t k = 0; k < choosing->count; k++)
        choosing->candidates[k].untried = choosing->count - 1;
    for (size_t k = 0; status == SHMTUNE_OK && k < choosing->count; k++)
        for (size_t i = k + 1; status == SHMTUNE_OK && i < choosing->count;
             i++) {
            struct candidate *const one = &choosing->candidates[k];
            struct candidate *const other = &choosing->candidates[i];

            if (!one->right || !other->right)
                status = try_together(choosing, one, other, err);
            one->untried -= status == SHMTUNE_OK;
            other->untried -= status == SHMTUNE_OK;
        }
    return status;
}

/* -- what follows --------------------------------------------------------- */

/* Whether the grid or the block may be by this number, and it is open. */
static bool is_open(const struct shmt_draft *draft,
                    const struct shmt_draft_number *number)
{
    for (size_t k = 0; k < SHMT_DRAFT_QUESTIONS; k++) {
        const struct shmt_draft_question *const one = &draft->questions[k];

        for (size_t i = 0; one->count > 1 &&
                           one->answer != SHMT_DRAFT_FOUND &&
                           i < one->count; i++)
            if (shmt_text_mentions(one->options[i], number->name, 1) > 0)
                return true;
    }
    return false;
}

/* Whether it is the number that the launch had, whatever is another, and no
 * size. */
static bool is_plain(const struct shmt_kernel *kernel,
                     const struct shmt_expr *extent, int64_t had)
{
    const size_t symbols = kernel->dimension_count + kernel->parameter_count;

    for (size_t k = 0; extent != NULL && k < symbols; k++)
        if (shmt_expr_uses(extent, k))
            return false;
    for (size_t d = 0; d < kernel->dimension_count; d++)
        if (kernel->sizes[0][d] == had)
            return false;
    return had > 1;
}

static bool has_plain_extent(const struct choosing *choosing)
{
    const struct shmt_launch *const launch = choosing->kernel->launches;

    for (int axis = 0; axis < 3; axis++)
        if (is_plain(choosing->kernel, launch->grid[axis],
                     choosing->draft->grid[axis]) ||
            is_plain(choosing->kernel, launch->block[axis],
                     choosing->draft->block[axis]))
            return true;
    return false;
}

/* With another grid what is wrong might be right, of that number, and of one
 * that has to be changed with it. */
static bool may_conclude(const struct choosing *choosing)
{
    if (has_plain_extent(choosing))
        return false;
    for (size_t k = 0; k < choosing->count; k++)
        if (!choosing->candidates[k].right &&
            is_open(choosing->draft, choosing->candidates[k].number))
            return false;
    return true;
}

static bool is_no_choice(const struct choosing *choosing,
                         const struct candidate *one)
{
    size_t alike = 0;

    for (size_t k = 0; k < choosing->count; k++)
        alike += !choosing->candidates[k].right &&
                 choosing->candidates[k].number->value == one->number->value;
    return !one->right && one->untried == 0 && one->wrong_count >= LEAST &&
           alike < ALIKE;
}

static void conclude(const struct choosing *choosing)
{
    for (size_t k = 0; k < choosing->count; k++) {
        const struct candidate *const one = &choosing->candidates[k];

        if (!is_no_choice(choosing, one))
            continue;
        one->number->wrong_count = one->wrong_count;
        one->number->fails = one->fails;
        memcpy(one->number->wrong, one->wrong, sizeof one->wrong);
    }
}

/* What could be tried in the time counts when it is over. */
static enum shmtune_status choose(struct choosing *choosing,
                                  struct shmt_error *err)
{
    enum shmtune_status status = SHMTUNE_OK;

    find_candidates(choosing);
    shmt_kernel_default(choosing->kernel, choosing->config);
    choosing->again.request.config = choosing->config;
    for (size_t k = 0; status == SHMTUNE_OK && k < choosing->count; k++)
        status = try_alone(choosing, &choosing->candidates[k], err);
    if (status != SHMTUNE_OK || !may_conclude(choosing))
        return status;
    status = try_pairs(choosing, err);
    conclude(choosing);
    return status;
}

static void take_over(struct shmt_draft *draft, const struct shmt_draft *from)
{
    for (size_t k = 0; k < draft->number_count; k++)
        for (size_t i = 0; i < from->number_count; i++) {
            struct shmt_draft_number *const one = &draft->numbers[k];
            const struct shmt_draft_number *const other = &from->numbers[i];

            if (strcmp(one->name, other->name) != 0 ||
                one->value != other->value)
                continue;
            one->wrong_count = other->wrong_count;
            one->fails = other->fails;
            memcpy(one->wrong, other->wrong, sizeof one->wrong);
        }
}

enum shmtune_status shmt_draft_choose(struct shmt_draft *draft,
                                      const struct shmt_draft *earlier,
                                      const char *folder, const char *images,
                                      struct shmt_error *err)
{
    struct choosing *choosing;
    enum shmtune_status status;

    if (earlier != NULL) {
        take_over(draft, earlier);
        return SHMTUNE_OK;
    }
    if (!shmt_draft_gives_the_same(draft) || !shmt_draft_is_verified(draft))
        return SHMTUNE_OK;
    choosing = calloc(1, sizeof *choosing);
    if (choosing == NULL)
        return shmt_error_memory(err);
    draft->chosen = true;
    choosing->draft = draft;
    choosing->until_s = shmt_clock_s() + SECONDS;
    status = shmt_draft_write(draft, folder, err);
    if (status == SHMTUNE_OK)
        status = shmt_draft_read_again(draft, folder, "kernel.yaml", images,
                                       &choosing->again, err);
    choosing->kernel = choosing->again.kernel;
    if (status == SHMTUNE_OK)
        status = choose(choosing, err);
    shmt_kernel_free(choosing->again.kernel);
    free(choosing);
    return status;
}

/* -- what is said --------------------------------------------------------- */

void shmt_draft_add_choice(const struct shmt_draft_number *one,
                           struct shmt_text *text)
{
    if (one->wrong_count == 0)
        return;
    shmt_text_add(text, "  # It is no choice: with ");
    for (size_t k = 0; k < one->wrong_count; k++)
        shmt_text_addf(text, "%s%lld", k == 0 ? "" : ", ",
                       (long long)one->wrong[k]);
    shmt_text_addf(text, " in its place the result is another%s.\n",
                   one->fails ? ",\n  # or the launch fails" : "");
}

void shmt_draft_tell_choices(const struct shmt_draft *draft,
                             struct shmt_text *text)
{
    const char *before = "; no choice: ";

    for (size_t k = 0; k < draft->number_count; k++) {
        if (draft->numbers[k].wrong_count == 0)
            continue;
        shmt_text_addf(text, "%s%s", before, draft->numbers[k].name);
        before = ", ";
    }
}
