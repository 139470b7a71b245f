/* SPDX-License-Identifier: MIT */
/*
 * finals: measures the best of the search and the default again, interleaved:
 * several passes over all of them, each in another order; or decides by the
 * times of the search, where none fits into the budget.  Called by run.c.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tune/state.h"

enum { PASS_SAMPLES = 5 };
enum { MOST_EARLIER_WINNERS = 8, FASTEST = 8, PREFERRED = 16 };
_Static_assert(MOST_EARLIER_WINNERS + FASTEST + PREFERRED < SHMT_TUNE_FINALISTS,
               "there is room for all of them and the default");

/* The addresses of the buffers differ from process to process, and the same
 * configuration was seen to take 9.1 us in one process and 9.7 us in the next.
 * So a process serves so many passes, the last one the rest; one each where
 * there is time for as many. */
enum { BLOCK = 2 };

/* After this many passes, finalists that were slower than the leader by this
 * factor in every pass are dropped. */
enum { RACED = 2 * BLOCK };
static const double slow_factor = 1.02;

/* When samples are this long, fewer of them are enough. */
static const double enough_us = 20000;
enum { LEAST_SAMPLES = 2 };

/* The fastest eight are finalists.  Many more may be so close that one
 * measurement cannot separate them from the best: of those, the ones that the
 * tie rule prefers, so that two runs have the same finalists.  If there is
 * room left, those that are near the best. */
static const double tied_factor = 1.02;

struct shmt_tune_finals {
    struct shmt_tune *tune;
    struct shmt_tune_finals_plan plan;
    bool measuring;                       /* the passes; before, binaries
                                             are awaited: */
    size_t asked, there;                  /* so many, and these are there; */
    double binaries_s;                    /* at most until so many elapsed
                                             seconds */
    size_t passes;                        /* held */
    double since_s, took_s;               /* of this pass, and of the last */
    size_t order[SHMT_TUNE_FINALISTS];    /* of this pass, */
    size_t next;                          /* position in it */
    size_t waited_for;                    /* whose reply; SIZE_MAX: nobody's */
    size_t earlier;                       /* winners of other runs, first in
                                             the list */
    size_t count;
    struct shmt_ledger_entry *entries[SHMT_TUNE_FINALISTS];
    bool out[SHMT_TUNE_FINALISTS];        /* it failed or was dropped */
    bool verified[SHMT_TUNE_FINALISTS];
    struct shmt_random random;
};

/* -- who takes part ------------------------------------------------------ */

/* What the tie rule asks of a candidate, apart from its times. */
static struct shmt_tune_finalist
figures_of(const struct shmt_ledger_entry *entry)
{
    const struct shmt_result *const result = &entry->result;
    const int64_t fixed = result->resources.shared_static_bytes;
    const int64_t dynamic = result->shared_dynamic_bytes;

    return (struct shmt_tune_finalist){
        .index = entry->index,
        .spill_bytes = result->resources.spill_store_bytes,
        .shared_bytes = (fixed < 0 ? 0 : fixed) + (dynamic < 0 ? 0 : dynamic),
    };
}

static int by_preference(const void *a, const void *b)
{
    const struct shmt_tune_finalist x =
        figures_of(*(struct shmt_ledger_entry *const *)a);
    const struct shmt_tune_finalist y =
        figures_of(*(struct shmt_ledger_entry *const *)b);

    return shmt_tune_prefers(&y, &x) - shmt_tune_prefers(&x, &y);
}

static void add(struct shmt_tune_finals *finals,
                struct shmt_ledger_entry *entry)
{
    for (size_t k = 0; k < finals->count; k++)
        if (finals->entries[k] == entry)
            return;
    finals->entries[finals->count++] = entry;
}

static void add_default(struct shmt_tune_finals *finals)
{
    struct shmt_ledger_entry *const entry =
        finals->tune->start == UINT64_MAX
            ? NULL
            : shmt_ledger_find(finals->tune->outcome->ledger,
                               finals->tune->start);

    if (entry != NULL && isfinite(shmt_ledger_cost(&entry->result)))
        add(finals, entry);
}

/* How many of the entries, sorted by time, are within `factor` of the first. */
static size_t count_within(struct shmt_ledger_entry *const *sorted,
                           size_t count, double factor)
{
    size_t n = 0;
    while (n < count &&
           sorted[n]->result.time_us <= factor * sorted[0]->result.time_us)
        n++;
    return n;
}

/* `sorted` by time; its order is lost. */
static void add_best(struct shmt_tune_finals *finals,
                     struct shmt_ledger_entry **sorted, size_t count)
{
    const size_t like = count_within(sorted, count, tied_factor);
    const size_t near = count_within(sorted, count, SHMT_TUNE_NEAR_FACTOR);
    size_t k;

    for (k = 0; k < count && k < FASTEST; k++)
        add(finals, sorted[k]);
    if (finals->count + near <= SHMT_TUNE_FINALISTS - 1) {
        for (; k < near; k++)
            add(finals, sorted[k]);
        return;
    }
    qsort(sorted, like, sizeof(struct shmt_ledger_entry *), by_preference);
    for (k = 0; k < like && k < PREFERRED; k++)
        add(finals, sorted[k]);
    qsort(sorted, like, sizeof *sorted, shmt_ledger_compare);
    for (k = 0; k < near && finals->count < SHMT_TUNE_FINALISTS - 1; k++)
        add(finals, sorted[k]);
}

/* Whether it won this problem in another run; being tied there is not
 * enough. */
static bool won_here(const struct shmt_tune_finals *finals,
                     const struct shmt_winner *winner)
{
    const struct shmt_tune *const tune = finals->tune;
    const size_t dimensions = tune->target->kernel->dimension_count;

    return winner->rank == 0 &&
           memcmp(winner->problem, tune->problem,
                  dimensions * sizeof *tune->problem) == 0;
}

/* Adds the winners that other runs have for this problem, so that the results
 * of the runs can be compared. */
static void add_earlier_winners(struct shmt_tune_finals *finals)
{
    const struct shmt_tune *const tune = finals->tune;
    const struct shmt_winners *const last = tune->options->last;

    for (size_t k = 0; last != NULL && k < last->count &&
                       finals->count < MOST_EARLIER_WINNERS; k++) {
        struct shmt_ledger_entry *entry;
        uint64_t index;

        if (!won_here(finals, &last->list[k]) ||
            !shmt_space_index(tune->outcome->space, last->list[k].config,
                              &index))
            continue;
        entry = shmt_ledger_find(tune->outcome->ledger, index);
        if (entry != NULL && entry->result.verdict == SHMT_VERDICT_OK)
            add(finals, entry);
    }
    finals->earlier = finals->count;
}

/* Leaves out those that there is no time for, the slower ones; never an
 * earlier winner, the fastest, or the default. */
static void leave_out(struct shmt_tune_finals *finals)
{
    const uint64_t start = finals->tune->start;
    const size_t least = finals->earlier + 2;
    const size_t keep =
        finals->plan.finalists > least ? finals->plan.finalists : least;

    for (size_t k = keep; k < finals->count; k++)
        if (finals->entries[k]->index == start)
            finals->entries[keep - 1] = finals->entries[k];
    if (finals->count > keep)
        finals->count = keep;
}

static enum shmtune_status select_finalists(struct shmt_tune_finals *finals,
                                            struct shmt_error *err)
{
    const struct shmt_ledger *const ledger = finals->tune->outcome->ledger;
    struct shmt_ledger_entry **const best =
        malloc((shmt_ledger_count(ledger) + 1) * sizeof *best);
    size_t count, n = 0;

    if (best == NULL)
        return shmt_error_memory(err);
    count = shmt_ledger_fastest(ledger, best);
    for (size_t k = 0; k < count; k++)
        if (best[k]->result.verdict == SHMT_VERDICT_OK)
            best[n++] = best[k];
    add_earlier_winners(finals);
    add_best(finals, best, n);
    free(best);
    add_default(finals);
    leave_out(finals);
    return SHMTUNE_OK;
}

/* -- measuring ----------------------------------------------------------- */

static int samples_of(const struct shmt_ledger_entry *entry)
{
    const double wanted = enough_us / fmax(entry->result.time_us, 1);
    return (int)fmin(fmax(wanted, LEAST_SAMPLES), PASS_SAMPLES);
}

static enum shmtune_status measure(struct shmt_tune_finals *finals, size_t k,
                                   struct shmt_error *err)
{
    struct shmt_target *const target = finals->tune->target;
    struct shmt_ledger_entry *const entry = finals->entries[k];
    shmt_config config[SHMT_SPACE_PARAMETERS];
    const struct shmt_target_request one = {
        .verb = SHMT_TARGET_MEASURE,
        .tag = entry->index,
        .config = config,
        .compiled = &entry->result,
        .samples = samples_of(entry),
        .give_up_us = INFINITY,
        .worth = INFINITY,
        .verify = !finals->verified[k],
    };

    shmt_space_configuration(finals->tune->outcome->space, entry->index,
                             config);
    finals->waited_for = k;
    return target->operations->submit(target, &one, err);
}

/* The best of those that are right so far. */
static double best_of(const struct shmt_ledger *ledger)
{
    double best_us = INFINITY;

    for (size_t k = 0; k < shmt_ledger_count(ledger); k++)
        best_us = fmin(best_us,
                       shmt_ledger_cost(&shmt_ledger_at(ledger, k)->result));
    return isfinite(best_us) ? best_us : -1;
}

static void lose_default(struct shmt_tune *tune,
                         const struct shmt_result *failed)
{
    tune->outcome->default_us = -1;
    shmt_tune_notice(tune, "the default configuration %snot compared with: "
                     "%s: %s",
                     failed->verdict == SHMT_VERDICT_UNMET
                         ? "cannot win, and is " : "is ",
                     shmt_verdict_text(failed->verdict), failed->reason);
}

/* A finalist that fails here loses its result of the search. */
static enum shmtune_status drop(struct shmt_tune_finals *finals, size_t k,
                                const struct shmt_result *failed,
                                struct shmt_error *err)
{
    struct shmt_ledger_entry *const entry = finals->entries[k];
    uint64_t *const verdicts = finals->tune->outcome->verdicts;

    finals->out[k] = true;
    verdicts[entry->result.verdict]--;
    shmt_result_set_verdict(&entry->result, failed->verdict,
                            "in the finals: %s",
                            failed->reason[0] == '\0'
                         ? shmt_verdict_text(failed->verdict)
                         : failed->reason);
    entry->result.sample_count = 0;
    entry->result.time_us = -1;
    verdicts[entry->result.verdict]++;
    finals->tune->outcome->best_us = best_of(finals->tune->outcome->ledger);
    if (entry->index == finals->tune->start)
        lose_default(finals->tune, &entry->result);
    return shmt_tune_journal(finals->tune, SHMT_JOURNAL_RESULT, entry->index,
                             &entry->result, err);
}

/* Asks for the binary of a finalist.  One whose result comes from an earlier
 * run has none yet. */
static enum shmtune_status ask_for_binary(struct shmt_tune_finals *finals,
                                          size_t k, struct shmt_error *err)
{
    const struct shmt_target *const target = finals->tune->target;
    const struct shmt_ledger_entry *const entry = finals->entries[k];
    shmt_config config[SHMT_SPACE_PARAMETERS];
    const struct shmt_target_request one = {
        .verb = SHMT_TARGET_INSPECT, .tag = entry->index, .config = config};

    finals->verified[k] = entry->result.image[0] != '\0';
    if (target->recorded || finals->verified[k])
        return SHMTUNE_OK;
    finals->out[k] = true;
    finals->asked++;
    shmt_space_configuration(finals->tune->outcome->space, entry->index,
                             config);
    return target->operations->submit(finals->tune->target, &one, err);
}

static enum shmtune_status take_binary(struct shmt_tune_finals *finals,
                                       const struct shmt_target_reply *reply,
                                       struct shmt_error *err)
{
    size_t k = 0;

    finals->asked--;

    while (k < finals->count && finals->entries[k]->index != reply->tag)
        k++;
    if (k == finals->count)
        return shmt_error_set(err, SHMTUNE_INTERNAL,
                              "a binary that no finalist asked for");
    if (reply->result.verdict != SHMT_VERDICT_OK)
        return drop(finals, k, &reply->result, err);
    memcpy(finals->entries[k]->result.image, reply->result.image,
           sizeof reply->result.image);
    finals->out[k] = false;
    finals->there++;
    return SHMTUNE_OK;
}

/* Half of the time of the finals is for compiling; what is not there by then is
 * left out.  The first binary is waited for. */
static enum shmtune_status ask_for_binaries(struct shmt_tune_finals *finals,
                                            struct shmt_error *err)
{
    const struct shmt_tune *const tune = finals->tune;
    const double now_s = shmt_tune_elapsed(tune);
    enum shmtune_status status = SHMTUNE_OK;

    finals->binaries_s = now_s + (shmt_tune_finals_end(tune) - now_s) / 2;
    for (size_t k = 0; status == SHMTUNE_OK && k < finals->count; k++)
        status = ask_for_binary(finals, k, err);
    for (size_t k = 0; k < finals->count; k++)
        finals->there += !finals->out[k];
    return status;
}

static bool waits_for_binaries(const struct shmt_tune_finals *finals)
{
    return finals->asked > 0 &&
           (finals->there == 0 ||
            shmt_tune_elapsed(finals->tune) < finals->binaries_s);
}

static void shuffle(struct shmt_tune_finals *finals)
{
    size_t *const order = finals->order;

    for (size_t k = 0; k < finals->count; k++) {
        const size_t other =
            (size_t)shmt_random_below(&finals->random, k + 1);
        order[k] = order[other];
        order[other] = k;
    }
}

/* A recording gives the same samples in each pass: they are kept once.  Those
 * of a search may be another device's, whose times count by its scale. */
static void add_pass(struct shmt_tune_finals *finals, size_t k, size_t pass,
                     const struct shmt_result *result)
{
    struct shmt_tune_final *const final = &finals->tune->outcome->finals[k];
    struct shmt_result *const all = &final->result;
    const int most = finals->tune->target->recorded
                         ? finals->entries[k]->result.sample_count
                         : SHMT_RESULT_SAMPLES;
    const double scale = result->scale > 0 ? result->scale : 1;

    final->figures.pass_us[pass] = result->time_us;
    for (int s = 0; s < result->sample_count && all->sample_count < most; s++)
        all->samples_us[all->sample_count++] =
            (float)(scale * result->samples_us[s]);
}

static void restart(struct shmt_target *target)
{
    if (target->operations->restart != NULL)
        target->operations->restart(target);
}

static double total_of(const struct shmt_tune_finals *finals, size_t k)
{
    double sum = 0;
    for (size_t pass = 0; pass < RACED; pass++)
        sum += finals->tune->outcome->finals[k].figures.pass_us[pass];
    return sum;
}

/* The default is never dropped, because the others are compared with it. */
static void drop_slow(struct shmt_tune_finals *finals)
{
    struct shmt_tune_final *const all = finals->tune->outcome->finals;
    size_t leader = finals->count;

    for (size_t k = 0; k < finals->count; k++)
        if (!finals->out[k] && (leader == finals->count ||
                                total_of(finals, k) <
                                    total_of(finals, leader)))
            leader = k;
    for (size_t k = 0; k < finals->count; k++) {
        bool lost = !finals->out[k] && !all[k].figures.is_default;
        for (size_t pass = 0; lost && pass < RACED; pass++)
            lost = all[k].figures.pass_us[pass] >
                   slow_factor * all[leader].figures.pass_us[pass];
        if (lost)
            finals->out[k] = true;
    }
}

/* -- the outcome --------------------------------------------------------- */

static void begin_outcome(struct shmt_tune_finals *finals)
{
    for (size_t k = 0; k < finals->count; k++) {
        const struct shmt_ledger_entry *const entry = finals->entries[k];
        struct shmt_tune_final *const final =
            &finals->tune->outcome->finals[k];
        shmt_space_configuration(finals->tune->outcome->space, entry->index,
                                 final->config);
        final->result = entry->result;
        final->result.sample_count = 0;
        final->result.scale = -1;   /* all are on the run's own device */
        final->figures = figures_of(entry);
        final->figures.is_default = entry->index == finals->tune->start;
    }
}

static int winner_first(const void *a, const void *b)
{
    const struct shmt_tune_finalist *const x =
        &((const struct shmt_tune_final *)a)->figures;
    const struct shmt_tune_finalist *const y =
        &((const struct shmt_tune_final *)b)->figures;

    if (x->tied != y->tied)
        return x->tied ? -1 : 1;
    if (x->middle_us < y->middle_us || x->middle_us > y->middle_us)
        return x->middle_us < y->middle_us ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

static double spread_of(const struct shmt_result *result)
{
    double sorted[SHMT_RESULT_SAMPLES];
    const size_t n = (size_t)result->sample_count;

    for (size_t k = 0; k < n; k++)
        sorted[k] = (double)result->samples_us[k];
    qsort(sorted, n, sizeof *sorted, shmt_array_compare_doubles);
    if (n < 4 || !(sorted[n / 2] > 0))
        return 0;
    return (sorted[(3 * n) / 4] - sorted[n / 4]) / sorted[n / 2];
}

static void order_finals(struct shmt_tune_outcome *outcome, size_t winner)
{
    struct shmt_tune_final *const finals = outcome->finals;
    const struct shmt_tune_final first = finals[winner];

    finals[winner] = finals[0];
    finals[0] = first;
    qsort(finals + 1, outcome->final_count - 1, sizeof *finals,
          winner_first);
    outcome->tie_count = 0;
    while (outcome->tie_count < outcome->final_count &&
           finals[outcome->tie_count].figures.tied)
        outcome->tie_count++;
    for (size_t k = 0; k < outcome->final_count; k++) {
        shmt_result_summarise(&finals[k].result);
        if (finals[k].figures.is_default)
            outcome->default_us = finals[k].result.time_us;
    }
    outcome->spread = spread_of(&finals[0].result);
}

/* By the times of the finals, who breaks a requirement cannot win. */
static enum shmtune_status judge_finals(struct shmt_tune_finals *finals,
                                        struct shmt_error *err)
{
    enum shmtune_status status = SHMTUNE_OK;

    for (size_t k = 0; status == SHMTUNE_OK && k < finals->count; k++) {
        struct shmt_tune_final *const final =
            &finals->tune->outcome->finals[k];

        if (finals->out[k])
            continue;
        shmt_result_summarise(&final->result);
        if (!shmt_filter_after_measure(&finals->tune->filter, final->config,
                                       &final->result))
            status = drop(finals, k, &final->result, err);
    }
    return status;
}

static enum shmtune_status decide(struct shmt_tune_finals *finals,
                                  struct shmt_error *err)
{
    struct shmt_tune_outcome *const outcome = finals->tune->outcome;
    struct shmt_tune_finalist figures[SHMT_TUNE_FINALISTS];
    const enum shmtune_status status = judge_finals(finals, err);
    size_t n = 0, winner;

    if (status != SHMTUNE_OK)
        return status;
    for (size_t k = 0; k < finals->count; k++) {
        if (finals->out[k])
            continue;
        outcome->finals[n] = outcome->finals[k];
        figures[n] = outcome->finals[n].figures;
        n++;
    }
    if (n == 0)
        return shmt_error_set(err, SHMTUNE_NO_CONFIGURATION,
                              "%s: every finalist failed, or broke a "
                              "--require, when it was measured again",
                              finals->tune->what);
    winner = shmt_tune_choose_winner(figures, n, finals->passes);
    for (size_t k = 0; k < n; k++)
        outcome->finals[k].figures = figures[k];
    outcome->final_count = n;
    order_finals(outcome, winner);
    return SHMTUNE_OK;
}

static enum shmtune_status refuse_no_winner(const struct shmt_tune *tune,
                                            struct shmt_error *err)
{
    const uint64_t *const verdicts = tune->outcome->verdicts;
    struct shmt_text text = {0};

    if (tune->outcome->tried == 0)
        return shmt_error_set(err, SHMTUNE_NO_CONFIGURATION,
                              "%s: no candidate had a result when the budget "
                              "ended, %.2g s after the beginning; a longer %s "
                              "searches", tune->what,
                              tune->outcome->search_s,
                              shmt_tune_longer(tune));
    for (int v = 0; v < SHMT_VERDICT_COUNT; v++)
        if (verdicts[v] > 0)
            shmt_text_addf(&text, "%s%llu %s", text.length > 0 ? ", " : "",
                           (unsigned long long)verdicts[v],
                           shmt_verdict_word((enum shmt_verdict)v));
    shmt_error_set(err, SHMTUNE_NO_CONFIGURATION,
                   "%s: none of %llu candidates works: %s",
                   tune->what, (unsigned long long)tune->outcome->tried,
                   shmt_text_string(&text));
    shmt_text_free(&text);
    return SHMTUNE_NO_CONFIGURATION;
}

/* -- from pass to pass ---------------------------------------------------- */

/* Whether there is a next pass.  One like the last has to end in time. */
static bool begin_pass(struct shmt_tune_finals *finals)
{
    const struct shmt_tune *const tune = finals->tune;
    const size_t pass = finals->passes;
    const size_t block =
        finals->plan.blocks > SHMT_TUNE_FINALS_BLOCKS ? 1 : BLOCK;

    if (pass == finals->plan.passes ||
        (pass > 0 && shmt_tune_elapsed(tune) + finals->took_s >
                         shmt_tune_finals_end(tune)))
        return false;
    finals->since_s = shmt_tune_elapsed(tune);
    if (pass == RACED)
        drop_slow(finals);
    if (pass > 0 && pass % block == 0 && pass / block < finals->plan.blocks)
        restart(tune->target);
    shuffle(finals);
    finals->next = 0;
    return true;
}

static void end_pass(struct shmt_tune_finals *finals)
{
    finals->took_s =
        fmax(shmt_tune_elapsed(finals->tune) - finals->since_s, 0);
    finals->passes++;
}

/* Measures the next one in the order of this pass, or of the next pass; *over
 * when there is none. */
static enum shmtune_status measure_next(struct shmt_tune_finals *finals,
                                        bool *over, struct shmt_error *err)
{
    for (;;) {
        while (finals->next < finals->count) {
            const size_t k = finals->order[finals->next++];
            if (!finals->out[k])
                return measure(finals, k, err);
        }
        end_pass(finals);
        *over = !begin_pass(finals);
        if (*over)
            return decide(finals, err);
    }
}

/* There is no time for a pass: the times of the search are one. */
static enum shmtune_status decide_by_search(struct shmt_tune_finals *finals,
                                            struct shmt_error *err)
{
    begin_outcome(finals);
    for (size_t k = 0; k < finals->count; k++)
        add_pass(finals, k, 0, &finals->entries[k]->result);
    finals->passes = 1;
    return decide(finals, err);
}

static enum shmtune_status take_time(struct shmt_tune_finals *finals,
                                     const struct shmt_result *result,
                                     struct shmt_error *err)
{
    const size_t k = finals->waited_for, pass = finals->passes;
    enum shmtune_status status = SHMTUNE_OK;

    finals->waited_for = SIZE_MAX;
    finals->verified[k] = true;
    if (isfinite(shmt_ledger_cost(result)))
        add_pass(finals, k, pass, result);
    else
        status = drop(finals, k, result, err);
    shmt_tune_report(finals->tune, "finals",
                     pass * finals->count + finals->next,
                     finals->plan.passes * finals->count);
    return status;
}

enum shmtune_status shmt_tune_begin_finals(struct shmt_tune *tune,
                                           struct shmt_error *err)
{
    struct shmt_tune_finals *const finals = calloc(1, sizeof *finals);
    enum shmtune_status status;

    if (finals == NULL)
        return shmt_error_memory(err);
    tune->finals = finals;
    finals->tune = tune;
    finals->waited_for = SIZE_MAX;
    shmt_tune_plan_finals(tune, &finals->plan);
    status = select_finalists(finals, err);
    if (status == SHMTUNE_OK && finals->count == 0)
        return refuse_no_winner(tune, err);
    tune->outcome->finals =
        calloc(finals->count + 1, sizeof *tune->outcome->finals);
    if (status == SHMTUNE_OK && tune->outcome->finals == NULL)
        status = shmt_error_memory(err);
    shmt_random_seed(&finals->random, tune->options->seed ^ 0x66696e616c73);
    if (status != SHMTUNE_OK || finals->plan.passes == 0)
        return status;
    return ask_for_binaries(finals, err);
}

enum shmtune_status shmt_tune_feed_finals(struct shmt_tune *tune, bool *over,
                                          double *wait_s,
                                          struct shmt_error *err)
{
    struct shmt_tune_finals *const finals = tune->finals;
    enum shmtune_status status = SHMTUNE_OK;

    if (finals->plan.passes == 0) {
        *over = true;
        return decide_by_search(finals, err);
    }
    if (!finals->measuring && waits_for_binaries(finals)) {
        *wait_s = finals->there == 0
                      ? INFINITY
                      : fmax(finals->binaries_s - shmt_tune_elapsed(tune), 0);
        return SHMTUNE_OK;
    }
    if (!finals->measuring) {
        if (finals->asked > 0)
            tune->target->operations->cancel(tune->target);
        begin_outcome(finals);
        finals->measuring = true;
        (void)begin_pass(finals);
    }
    if (finals->waited_for == SIZE_MAX)
        status = measure_next(finals, over, err);
    if (status == SHMTUNE_OK && !*over)
        *wait_s = INFINITY;
    return status;
}

enum shmtune_status shmt_tune_finals_reply(
    struct shmt_tune *tune, const struct shmt_target_reply *reply,
    struct shmt_error *err)
{
    struct shmt_tune_finals *const finals = tune->finals;

    return finals->measuring ? take_time(finals, &reply->result, err)
                             : take_binary(finals, reply, err);
}

void shmt_tune_free_finals(struct shmt_tune *tune)
{
    free(tune->finals);
    tune->finals = NULL;
}
