/* SPDX-License-Identifier: MIT */
/*
 * draft_decide: which of several expressions an extent of a launch has.
 * Numbers that have the same value, a tile of 16 by blocks of 16 rows, give the
 * same grid in more than one way, and nothing but the kernel knows which is
 * meant.
 * So it is asked: the captured launch is made again with one of the numbers
 * twice or half as large, with the grid and the block of each hypothesis, and
 * what gives another result than the application got is out, if another
 * hypothesis gives the same.  Called by capture.c; draft_fit.c and
 * draft_write.c have the questions.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "command/draft.h"

/* Hypotheses, launches and seconds at most. */
enum { HYPOTHESES = 64, TRIALS = 96 };
static const double SECONDS = 180;

/* Every combination of an option of each question, while it is not refuted. */
struct deciding {
    struct shmt_draft *draft;
    const char *folder, *images;
    size_t count;
    bool refuted[HYPOTHESES], right[HYPOTHESES];
    bool any;                  /* one was right, with some number changed */
    size_t trials;
    double since_s;
};

static struct shmt_draft_question *question_of(struct shmt_draft *draft,
                                               size_t k)
{
    return draft->questions[k].count > 1 ? &draft->questions[k] : NULL;
}

/* The option that a hypothesis has of each question. */
static void choose(struct shmt_draft *draft, size_t hypothesis)
{
    for (size_t k = 0; k < SHMT_DRAFT_QUESTIONS; k++) {
        struct shmt_draft_question *const one = question_of(draft, k);

        if (one == NULL)
            continue;
        one->chosen = hypothesis % one->count;
        hypothesis /= one->count;
    }
}

static size_t hypothesis_of(struct shmt_draft *draft)
{
    size_t out = 0;

    for (size_t k = SHMT_DRAFT_QUESTIONS; k-- > 0;)
        if (question_of(draft, k) != NULL)
            out = out * draft->questions[k].count + draft->questions[k].chosen;
    return out;
}

/* How many there are; 0: none, or too many. */
static size_t count_hypotheses(struct shmt_draft *draft)
{
    size_t count = 1;

    for (size_t k = 0; k < SHMT_DRAFT_QUESTIONS; k++)
        if (question_of(draft, k) != NULL && count <= HYPOTHESES)
            count *= draft->questions[k].count;
    return count > 1 && count <= HYPOTHESES ? count : 0;
}

/* -- a number is another -------------------------------------------------- */

/* Extents of a hypothesis; one that has no value is -1. */
static void extents(struct deciding *deciding, size_t hypothesis,
                    int64_t out[SHMT_DRAFT_QUESTIONS])
{
    struct shmt_draft *const draft = deciding->draft;

    choose(draft, hypothesis);
    for (size_t k = 0; k < SHMT_DRAFT_QUESTIONS; k++) {
        const struct shmt_draft_question *const one = question_of(draft, k);

        out[k] = -1;
        if (one != NULL &&
            !shmt_draft_evaluate(draft, one->options[one->chosen],
                                 draft->changed, draft->changed_to, &out[k]))
            out[k] = -1;
    }
}

/* An earlier one that has the same extents; `hypothesis` itself: none. */
static size_t same_as(struct deciding *deciding, size_t hypothesis)
{
    int64_t own[SHMT_DRAFT_QUESTIONS], other[SHMT_DRAFT_QUESTIONS];

    extents(deciding, hypothesis, own);
    for (size_t k = 0; k < hypothesis; k++) {
        if (deciding->refuted[k])
            continue;
        extents(deciding, k, other);
        if (memcmp(own, other, sizeof own) == 0)
            return k;
    }
    return hypothesis;
}

/* Whether it makes a difference which is right. */
static bool differ(struct deciding *deciding)
{
    size_t count = 0;

    for (size_t k = 0; k < deciding->count; k++)
        count += !deciding->refuted[k] && same_as(deciding, k) == k;
    return count > 1;
}

/* What is no spec with this number is as one that does not run. */
static enum shmtune_status try_written(struct deciding *deciding, bool *right,
                                       struct shmt_error *err)
{
    struct shmt_draft *const draft = deciding->draft;
    enum shmt_draft_outcome outcome = SHMT_DRAFT_UNKNOWN;
    struct shmt_draft_again again;
    enum shmtune_status status =
        shmt_draft_read_again(draft, deciding->folder, SHMT_DRAFT_TRIAL,
                              deciding->images, &again, err);

    if (status == SHMTUNE_OK)
        status = shmt_draft_try(draft, &again, &outcome, err);
    *right = outcome == SHMT_DRAFT_RIGHT;
    shmt_kernel_free(again.kernel);
    return status == SHMTUNE_INVALID_FILE ? SHMTUNE_OK : status;
}

static enum shmtune_status try_one(struct deciding *deciding,
                                   size_t hypothesis, struct shmt_error *err)
{
    struct shmt_draft *const draft = deciding->draft;
    const size_t same = same_as(deciding, hypothesis);
    enum shmtune_status status;

    if (same < hypothesis) {
        deciding->right[hypothesis] = deciding->right[same];
        return SHMTUNE_OK;
    }
    if (deciding->trials++ == TRIALS ||
        shmt_clock_s() - deciding->since_s > SECONDS)
        return shmt_error_set(err, SHMTUNE_WRONG_RESULT,
                              "trying takes too long");
    choose(draft, hypothesis);
    status = shmt_draft_write(draft, deciding->folder, err);
    return status == SHMTUNE_OK
               ? try_written(deciding, &deciding->right[hypothesis], err)
               : status;
}

/* All that are left, with this value of the number.  Where none is right the
 * kernel cannot do with it, and nothing follows. */
static enum shmtune_status try_all(struct deciding *deciding,
                                   const struct shmt_draft_number *number,
                                   int64_t to, struct shmt_error *err)
{
    struct shmt_draft *const draft = deciding->draft;
    enum shmtune_status status = SHMTUNE_OK;
    bool any = false;

    draft->changed = number;
    draft->changed_to = to;
    if (differ(deciding))
        for (size_t k = 0; status == SHMTUNE_OK && k < deciding->count; k++) {
            if (deciding->refuted[k])
                continue;
            status = try_one(deciding, k, err);
            any = any || (status == SHMTUNE_OK && deciding->right[k]);
        }
    draft->changed = NULL;
    for (size_t k = 0; status == SHMTUNE_OK && any && k < deciding->count;
         k++)
        deciding->refuted[k] = deciding->refuted[k] || !deciding->right[k];
    deciding->any = deciding->any || any;
    return status;
}

static bool is_asked(const struct shmt_draft *draft,
                     const struct shmt_draft_number *number)
{
    for (size_t k = 0; k < SHMT_DRAFT_QUESTIONS; k++)
        for (size_t i = 0; draft->questions[k].count > 1 &&
                           i < draft->questions[k].count; i++)
            if (shmt_text_mentions(draft->questions[k].options[i],
                                   number->name, 1) > 0)
                return true;
    return false;
}

/* Twice as large first: a grid that is too small then leaves something out,
 * and one that is too large may write where nothing is. */
static enum shmtune_status try_numbers(struct deciding *deciding,
                                       struct shmt_error *err)
{
    const struct shmt_draft *const draft = deciding->draft;
    enum shmtune_status status = SHMTUNE_OK;

    for (size_t k = 0; status == SHMTUNE_OK && k < draft->number_count; k++) {
        const struct shmt_draft_number *const one = &draft->numbers[k];

        if (one->way == SHMT_DRAFT_BLOCK || one->way == SHMT_DRAFT_GRID ||
            one->value < 2 || one->value > 1 << 20 || !is_asked(draft, one))
            continue;
        status = try_all(deciding, one, 2 * one->value, err);
        if (status == SHMTUNE_OK && one->value % 2 == 0)
            status = try_all(deciding, one, one->value / 2, err);
    }
    return status;
}

/* -- what follows --------------------------------------------------------- */

/* The options of a question that are left, the one that was guessed first if it
 * is among them. */
static void answer(struct deciding *deciding, size_t question, size_t guessed)
{
    struct shmt_draft *const draft = deciding->draft;
    struct shmt_draft_question *const one = &draft->questions[question];
    const char *left[SHMT_DRAFT_OPTIONS];
    bool is_left[SHMT_DRAFT_OPTIONS] = {false};
    size_t count = 0;

    for (size_t k = 0; k < deciding->count; k++) {
        choose(draft, k);
        is_left[one->chosen] |= !deciding->refuted[k];
    }
    choose(draft, guessed);
    guessed = one->chosen;
    for (size_t i = 0; i < one->count; i++)
        if (is_left[i] && i == guessed)
            left[count++] = one->options[i];
    for (size_t i = 0; i < one->count; i++)
        if (is_left[i] && i != guessed)
            left[count++] = one->options[i];
    one->answer = !deciding->any ? SHMT_DRAFT_NOTHING
                  : count == 1   ? SHMT_DRAFT_FOUND : SHMT_DRAFT_SEVERAL;
    for (size_t i = 0; i < count; i++)
        one->options[i] = left[i];
    one->left = count;
}

static void conclude(struct deciding *deciding, size_t guessed)
{
    struct shmt_draft *const draft = deciding->draft;

    for (size_t k = 0; k < SHMT_DRAFT_QUESTIONS; k++)
        if (question_of(draft, k) != NULL)
            answer(deciding, k, guessed);
    for (size_t k = 0; k < SHMT_DRAFT_QUESTIONS; k++)
        if (question_of(draft, k) != NULL)
            draft->questions[k].chosen = 0;
}

/* Of the same questions. */
static bool take_over(struct shmt_draft *draft, const struct shmt_draft *from)
{
    bool is = false;

    for (size_t k = 0; from != NULL && k < SHMT_DRAFT_QUESTIONS; k++) {
        is |= draft->questions[k].count > 1;
        if (draft->questions[k].count != from->questions[k].count)
            return false;
    }
    if (is)
        memcpy(draft->questions, from->questions, sizeof draft->questions);
    return is;
}

enum shmtune_status shmt_draft_decide(struct shmt_draft *draft,
                                      const struct shmt_draft *earlier,
                                      const char *folder, const char *images,
                                      struct shmt_error *err)
{
    struct deciding deciding = {
        .draft = draft, .folder = folder, .images = images,
        .count = count_hypotheses(draft), .since_s = shmt_clock_s()};
    const size_t guessed = hypothesis_of(draft);
    const char *trial;
    enum shmtune_status status;

    if (deciding.count == 0 || !shmt_draft_gives_the_same(draft) ||
        take_over(draft, earlier) || !shmt_draft_is_verified(draft))
        return SHMTUNE_OK;
    status = try_numbers(&deciding, err);
    trial = shmt_path_join(draft->arena, folder, SHMT_DRAFT_TRIAL);
    if (trial != NULL)
        (void)unlink(trial);
    if (deciding.any || (deciding.trials > 0 && status == SHMTUNE_OK))
        conclude(&deciding, guessed);
    else
        choose(draft, guessed);
    return status;
}

/* -- what is said --------------------------------------------------------- */

void shmt_draft_add_question(const struct shmt_draft *draft, size_t question,
                             struct shmt_text *text)
{
    const struct shmt_draft_question *const one = &draft->questions[question];
    const size_t count = one->answer == SHMT_DRAFT_UNTRIED ? one->count
                                                           : one->left;

    if (one->count < 2)
        return;
    shmt_text_addf(text, "  # %s along %c: ",
                   question < 3 ? "Blocks" : "Threads", "xyz"[question % 3]);
    if (one->answer == SHMT_DRAFT_FOUND) {
        shmt_text_add(text, "found by trying: of numbers with the same value "
                      "one was made\n  # another, and what else gives this "
                      "extent gave another result.\n");
        return;
    }
    shmt_text_addf(text, "several give it, since numbers have the same "
                   "value.\n  # %s It may also be\n",
                   one->answer == SHMT_DRAFT_UNTRIED
                       ? "None was tried."
                   : one->answer == SHMT_DRAFT_SEVERAL
                       ? "With others of them all of these gave the same "
                         "result."
                       : "With others of them none gave the result of the "
                         "application.");
    for (size_t k = 0; k < count; k++)
        if (k != one->chosen) {
            shmt_text_add(text, "  #   ");
            shmt_draft_add_expression(one->options[k], text);
            shmt_text_add(text, "\n");
        }
}

void shmt_draft_tell_decided(const struct shmt_draft *draft,
                             struct shmt_text *text)
{
    static const char *const names[] = {"grid x", "grid y", "grid z",
                                        "block x", "block y", "block z"};

    for (size_t k = 0; k < SHMT_DRAFT_QUESTIONS; k++) {
        const struct shmt_draft_question *const one = &draft->questions[k];

        if (one->count < 2 || one->answer == SHMT_DRAFT_UNTRIED)
            continue;
        shmt_text_addf(text, "; %s: ", names[k]);
        if (one->answer == SHMT_DRAFT_FOUND)
            shmt_text_add(text, one->options[one->chosen]);
        else
            shmt_text_addf(text, "one of %zu, see the draft", one->left);
    }
}
