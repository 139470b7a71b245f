/* SPDX-License-Identifier: MIT */
/*
 * joint: whether the application is faster with the tuned kernels that trial.c
 * leaves, those that won their own trials and those that nobody could tell.
 * What they gain and what they cost others comes later than at the next launch,
 * or is too little to be seen by one kernel: so they are launched as tuned, or
 * as they were, through whole stretches of the application's own cycle, in
 * turn, and the stretches are compared.  Called by trial.c.
 *
 * The cycle is what passes from one launch of the anchor to the next.  That is
 * the kernel which is launched least often, so that its cycle has most of the
 * others in it, but not more than RATE times less often than another, so that
 * this comes to an end.  A stretch is STRETCH of its launches, the same part of
 * the program each time also where 2, 3, 4, 6 or 12 launches of it make one
 * step; the first LEAD still have of the stretch before, and do not count.
 *
 * Each kernel has turns of its own, orthogonal to those of the others in any
 * eight stretches (of more than seven kernels, sixteen), so that all are tried
 * by all stretches at once.  The sums of as many are compared, and what they
 * differ in is ranked (Wilcoxon's signed ranks).  While a kernel is less than
 * two standard deviations away from half of the ranks, up to ROUNDS rounds are
 * made; then those go back whose losses have 4 of 9 parts of the ranks or more:
 * a little less than half, as in doubt nothing is changed.  What is left is
 * tried together once more, against all as they were, by pairs of stretches and
 * for up to two rounds, and goes back in the same case.  A kernel that is alone
 * is tried by pairs, up to ROUNDS rounds.
 *
 * What is in the end, by simulation of sets of 2 to 6 kernels of which each
 * gains or costs from nothing to 2 % of the program's time, where the time of a
 * stretch varies by 1.5 % (0.5 %) and one cycle in a hundred takes 10 to 50 %
 * longer: tuned is a kernel
 *
 *     that costs 1 %        in  0 %  (0 %)
 *                0.5 %          1 %  (0 %)
 *     of no effect             26 %  (27 %), in which nothing is lost
 *     that gains 0.5 %         86 %  (98 %)
 *                1 %           99 %  (100 %)
 *
 * and the program gains 1.97 % (1.98 %) of the 2.02 % (1.99 %) that the best
 * choice would, after 2,700 (2,360) launches of the anchor in the mean.
 *
 * Of a stretch the application notices two events on the anchor's stream.
 */
#include "capture/library.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    STRETCH = 12, LEAD = 2, COUNTED = STRETCH - LEAD,
    STRETCHES = 48, EACH = STRETCHES / 2,      /* of a round */
    ROUNDS = 4,
    PAIR = 2, GROUP = 8,       /* stretches of which the sums are compared */
    ORTHOGONAL = 7,            /* kernels, in a group; more in two */
    RATE = 16,
    STALLED = 4096,            /* launches of others with none of the anchor */
    TOGETHER = 15              /* the turns of Thue and Morse */
};
_Static_assert(STRETCHES % (2 * GROUP) == 0,
               "each group is whole, and the turns of each round are the same");
_Static_assert(ROUNDS * STRETCHES == SHMT_CAPTURE_TURNS,
               "there is room for all rounds");

enum { IDLE, WAITING, RUNNING };
enum phase { ALONE, BY_THEMSELVES, REST };
static const size_t most[] = {
    [ALONE] = ROUNDS, [BY_THEMSELVES] = ROUNDS, [REST] = 2
};

/* What follows is read at launches, which wait for nobody. */
static atomic_int state;
static _Atomic(struct shmt_capture_trial *) anchor;
static _Atomic(CUcontext) context;     /* of the anchor; NULL: not seen yet */
static atomic_size_t stretch;  /* that is under way; STRETCHES: none */
static atomic_size_t since;    /* launches since the anchor's last one */

/* Of the rest; of launches only the anchor's take it. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    struct shmt_capture_trial *trials;
    bool more;                 /* one was accepted meanwhile, or is left */
    enum phase phase;
    CUstream stream;           /* of the anchor's launches that count */
    pthread_t thread;          /* whose stream it is, if of a thread */
    size_t round;              /* of the phase */
    size_t launched, read;     /* of the round: launches; stretches */
    struct shmt_capture_pair pairs[STRETCHES];
    double us[ROUNDS * STRETCHES];
} joint;

/* -- the kernels ---------------------------------------------------------- */

static bool is_in(const struct shmt_capture_trial *one)
{
    return atomic_load(&one->together) != 0 &&
           !shmt_capture_trial_is_lost(one);
}

/* The first that is in, from `one` on. */
static struct shmt_capture_trial *next_in(struct shmt_capture_trial *one)
{
    while (one != NULL && !is_in(one))
        one = one->next;
    return one;
}

static size_t count_in(void)
{
    size_t count = 0;

    for (struct shmt_capture_trial *one = next_in(joint.trials); one != NULL;
         one = next_in(one->next))
        count++;
    return count;
}

/* How it is launched where no stretch is under way. */
static bool is_tuned_else(const struct shmt_capture_trial *one)
{
    return atomic_load(&one->verdict) == SHMT_CAPTURE_AS_TUNED;
}

/* "blend stays", "the 3 kernels stay": as many as there are. */
static void name_them(char *out, size_t size, const char *of_one,
                      const char *of_more)
{
    const size_t count = count_in();

    if (count == 1)
        snprintf(out, size, "%s %s", next_in(joint.trials)->name, of_one);
    else
        snprintf(out, size, "the %zu kernels %s", count, of_more);
}

/* From one launch to the next, in the mean of its trial; 0: not known. */
static double period_us(const struct shmt_capture_trial *trial)
{
    double sum = 0;
    size_t count = 0;

    for (size_t k = 0; k + 1 < SHMT_CAPTURE_TRIAL_LAUNCHES; k++)
        if (trial->period_us[k] > 0) {
            sum += trial->period_us[k];
            count++;
        }
    return count == 0 ? 0 : sum / (double)count;
}

static struct shmt_capture_trial *choose_anchor(void)
{
    struct shmt_capture_trial *found = NULL;
    double shortest = 0;

    for (struct shmt_capture_trial *one = next_in(joint.trials); one != NULL;
         one = next_in(one->next))
        if (shortest <= 0 ||
            (period_us(one) > 0 && period_us(one) < shortest))
            shortest = period_us(one);
    for (struct shmt_capture_trial *one = next_in(joint.trials); one != NULL;
         one = next_in(one->next))
        if (period_us(one) <= RATE * shortest &&
            (found == NULL || period_us(one) > period_us(found)))
            found = one;
    return found;
}

/* -- the verdict ---------------------------------------------------------- */

static void begin_round(size_t round)
{
    joint.round = round;
    joint.launched = joint.read = 0;
    atomic_store(&stretch, 0);
    atomic_store(&since, 0);
}

/* With the next launch of the anchor, which may have gone back. */
static void begin_phase(enum phase phase)
{
    size_t number = 0;

    joint.phase = phase;
    begin_round(0);
    atomic_store(&context, NULL);
    for (struct shmt_capture_trial *one = next_in(joint.trials); one != NULL;
         one = next_in(one->next))
        atomic_store(&one->together, phase == BY_THEMSELVES
                                         ? shmt_capture_turns_of(number++)
                                         : TOGETHER);
    atomic_store(&anchor, choose_anchor());
}

static void finish(void)
{
    for (struct shmt_capture_trial *one = joint.trials; one != NULL;
         one = one->next) {
        one->settled = one->settled || atomic_load(&one->together) != 0;
        atomic_store(&one->together, 0);
    }
    atomic_store(&state, joint.more ? WAITING : IDLE);
    joint.more = false;
}

static void become(int verdict)
{
    for (struct shmt_capture_trial *one = next_in(joint.trials); one != NULL;
         one = next_in(one->next))
        atomic_store(&one->verdict, verdict);
}

/* What passes from one launch of the anchor to the next. */
struct comparison {
    double tuned_us, was_us;
    double losses;             /* their share of the ranks, from 0 to 1 */
    bool clear;                /* two standard deviations from half of them */
};

/* In groups of so many stretches, half of them as tuned: what these differ in,
 * in the median, is what is told, as it goes the way of the ranks. */
static struct comparison compare(unsigned turns, size_t size)
{
    const size_t stretches = STRETCHES * (joint.round + 1);
    const size_t count = stretches / size;
    struct comparison found;
    double lost[ROUNDS * STRETCHES / PAIR], apart;

    for (size_t k = 0; k < count; k++)
        lost[k] = shmt_capture_turns_lost(turns, joint.us, size * k, size);
    found.losses = shmt_capture_turns_losses(lost, count);
    found.was_us = shmt_capture_turns_median(turns, joint.us, 0, stretches,
                                             false) / COUNTED;
    found.tuned_us = found.was_us + shmt_capture_median(lost, count) /
                                        ((double)size / 2 * COUNTED);
    /* The variance of the share is (2 n + 1) / (6 n (n + 1)) by chance. */
    apart = (found.losses - 0.5) * (found.losses - 0.5);
    found.clear = apart * 6 * (double)(count * (count + 1)) >=
                  4 * (double)(2 * count + 1);
    return found;
}

/* In which no kernel's turns are those of another. */
static size_t group_of_each(void)
{
    return count_in() > ORTHOGONAL ? 2 * GROUP : GROUP;
}

static bool is_slower(const struct comparison *found)
{
    return 9 * found->losses >= 4;
}

static void tell(const char *who, const struct comparison *found)
{
    shmt_capture_note("%s: %.1f us pass from one launch of %s to the next, and "
                      "%.1f us as it was (%zu stretches each)", who,
                      found->tuned_us, atomic_load(&anchor)->name,
                      found->was_us, EACH * (joint.round + 1));
}

static bool is_clear(void)
{
    const size_t size = group_of_each();
    bool clear = true;

    if (joint.phase != BY_THEMSELVES)
        return compare(TOGETHER, PAIR).clear;
    for (struct shmt_capture_trial *one = next_in(joint.trials); one != NULL;
         one = next_in(one->next))
        clear = clear && compare(one->together, size).clear;
    return clear;
}

static void decide_together(void)
{
    const struct comparison found = compare(TOGETHER, PAIR);
    char who[1100];

    if (is_slower(&found))
        name_them(who, sizeof who, "goes back to as it was",
                  "go back to as they were");
    else
        name_them(who, sizeof who, "stays as tuned", "stay as tuned");
    tell(who, &found);
    become(is_slower(&found) ? SHMT_CAPTURE_AS_IT_WAS : SHMT_CAPTURE_AS_TUNED);
    finish();
}

/* Those that stay are tuned now, whatever comes. */
static void decide_each(void)
{
    const size_t size = group_of_each();

    for (struct shmt_capture_trial *one = next_in(joint.trials); one != NULL;
         one = next_in(one->next)) {
        const struct comparison found = compare(one->together, size);
        char who[1100];

        snprintf(who, sizeof who, is_slower(&found)
                                      ? "%s goes back to as it was, by itself"
                                      : "%s stays as tuned, by itself",
                 one->name);
        tell(who, &found);
        atomic_store(&one->verdict, is_slower(&found)
                                        ? SHMT_CAPTURE_AS_IT_WAS
                                        : SHMT_CAPTURE_AS_TUNED);
    }
    if (count_in() > 0)
        begin_phase(REST);
    else
        finish();
}

static void decide(void)
{
    if (joint.round + 1 < most[joint.phase] && !is_clear())
        begin_round(joint.round + 1);
    else if (joint.phase == BY_THEMSELVES)
        decide_each();
    else
        decide_together();
}

/* Each is launched as it was where no stretch was under way. */
static void leave(const char *why)
{
    for (struct shmt_capture_trial *one = next_in(joint.trials); one != NULL;
         one = next_in(one->next))
        shmt_capture_note("%s stays as %s: %s", one->name,
                          is_tuned_else(one) ? "tuned" : "it is", why);
}

/* Under the lock. */
static void give_up(const char *why)
{
    leave(why);
    for (struct shmt_capture_trial *one = next_in(joint.trials); one != NULL;
         one = next_in(one->next))
        if (!is_tuned_else(one))
            atomic_store(&one->verdict, SHMT_CAPTURE_AS_IT_WAS);
    finish();
}

/* -- a launch ------------------------------------------------------------- */

/* Under the lock; the stretches that are done by now. */
static CUresult read_done(const struct shmt_capture_driver *driver)
{
    CUresult result = CUDA_SUCCESS;

    while (result == CUDA_SUCCESS &&
           STRETCH * (joint.read + 1) < joint.launched) {
        struct shmt_capture_pair *const pair = &joint.pairs[joint.read];

        result = shmt_capture_pair_read(
            driver, pair, &joint.us[STRETCHES * joint.round + joint.read]);
        if (result == CUDA_SUCCESS) {
            shmt_capture_pair_free(driver, pair);
            joint.read++;
        }
    }
    return result == CUDA_ERROR_NOT_READY ? CUDA_SUCCESS : result;
}

/* Under the lock, before a launch of the anchor; false: it cannot be timed. */
static bool advance(const struct shmt_capture_driver *driver)
{
    const size_t number = joint.launched / STRETCH;
    const size_t at = joint.launched % STRETCH;
    bool timed = true;

    if (number == STRETCHES && at > 0)
        return true;           /* the last one is not done yet */
    if (at == 0 && number > 0)
        timed = shmt_capture_pair_end(driver, &joint.pairs[number - 1],
                                      joint.stream);
    if (at == LEAD)
        timed = shmt_capture_pair_begin(driver, &joint.pairs[number],
                                        joint.stream);
    atomic_store(&stretch, number);
    joint.launched++;
    return timed;
}

/* Whether the anchor's launch is one of those that count: of one stream. */
static bool is_counted(CUcontext now, CUstream stream)
{
    if (atomic_load(&context) == NULL) {
        joint.stream = stream;
        joint.thread = pthread_self();
        atomic_store(&context, now);
    }
    return atomic_load(&context) == now && joint.stream == stream &&
           (stream != CU_STREAM_PER_THREAD ||
            pthread_equal(joint.thread, pthread_self()));
}

/* false: it is none of those that count. */
static bool count_launch(const struct shmt_capture_driver *driver,
                         CUcontext now, CUstream stream)
{
    bool timed, counted;

    pthread_mutex_lock(&lock);
    counted = atomic_load(&state) != RUNNING || is_counted(now, stream);
    if (atomic_load(&state) == RUNNING && counted) {
        atomic_store(&since, 0);
        timed = read_done(driver) == CUDA_SUCCESS;
        if (timed && joint.read == STRETCHES)
            decide();
        else if (!timed || !advance(driver))
            give_up("what passes between two launches cannot be timed");
    }
    pthread_mutex_unlock(&lock);
    return counted;
}

/* The anchor may not be launched any more. */
static void count_other(void)
{
    if (atomic_fetch_add(&since, 1) < STALLED)
        return;
    pthread_mutex_lock(&lock);
    if (atomic_load(&state) == RUNNING && atomic_load(&since) >= STALLED)
        give_up("the program goes on without the launches that were timed");
    pthread_mutex_unlock(&lock);
}

/* The verdict may come at this very launch. */
static bool is_tuned_now(const struct shmt_capture_trial *trial)
{
    const unsigned turns = atomic_load(&trial->together);
    const size_t number = atomic_load(&stretch);

    if (turns == 0 || number == STRETCHES)
        return is_tuned_else(trial);
    return shmt_capture_turn_is_tuned(turns, number);
}

static bool turn_of(const struct shmt_capture_driver *driver,
                    struct shmt_capture_trial *trial, CUstream stream)
{
    CUcontext now;

    if (driver->CtxGetCurrent(&now) != CUDA_SUCCESS || now == NULL ||
        shmt_capture_in_graph(driver, stream))
        return is_tuned_else(trial);
    if (trial != atomic_load(&anchor) || !count_launch(driver, now, stream))
        count_other();
    return atomic_load(&context) == now ? is_tuned_now(trial)
                                        : is_tuned_else(trial);
}

bool shmt_capture_joint_turn(struct shmt_capture_trial *trial,
                             CUstream stream)
{
    const struct shmt_capture_driver *driver;
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    bool tuned;

    if (atomic_load(&state) != RUNNING)
        return is_tuned_else(trial);
    driver = shmt_capture_driver();
    driver->ThreadExchangeStreamCaptureMode(&mode);
    tuned = turn_of(driver, trial, stream);
    driver->ThreadExchangeStreamCaptureMode(&mode);
    return tuned;
}

bool shmt_capture_joint_runs(void)
{
    if (atomic_load(&state) == RUNNING)
        count_other();
    return atomic_load(&state) == RUNNING;
}

/* -- its begin and its end ------------------------------------------------ */

void shmt_capture_joint_add(void)
{
    pthread_mutex_lock(&lock);
    if (atomic_load(&state) == IDLE)
        atomic_store(&state, WAITING);
    joint.more = atomic_load(&state) == RUNNING;
    pthread_mutex_unlock(&lock);
}

bool shmt_capture_joint_waits(void)
{
    return atomic_load(&state) == WAITING;
}

/* Those that have been tried stay what they are. */
static void enter_all(struct shmt_capture_trial *trials)
{
    size_t count = 0;

    joint.trials = trials;
    for (struct shmt_capture_trial *one = trials; one != NULL;
         one = one->next) {
        if (atomic_load(&one->verdict) < SHMT_CAPTURE_NEAR || one->settled)
            continue;
        if (count++ < SHMT_CAPTURE_APART)
            atomic_store(&one->together, TOGETHER);
        else
            joint.more = true;
    }
    begin_phase(count_in() > 1 ? BY_THEMSELVES : ALONE);
}

void shmt_capture_joint_begin(struct shmt_capture_trial *trials)
{
    pthread_mutex_lock(&lock);
    if (atomic_load(&state) == WAITING) {
        enter_all(trials);
        atomic_store(&state, atomic_load(&anchor) == NULL ? IDLE : RUNNING);
    }
    pthread_mutex_unlock(&lock);
}

void shmt_capture_joint_fail(const struct shmt_capture_trial *trial)
{
    pthread_mutex_lock(&lock);
    if (atomic_load(&state) == RUNNING && atomic_load(&trial->together) != 0)
        give_up("one that was tried with them is not launched any more");
    pthread_mutex_unlock(&lock);
}

void shmt_capture_joint_tell(struct shmt_capture_trial *trials)
{
    char why[128];

    pthread_mutex_lock(&lock);
    if (atomic_load(&state) == WAITING)
        enter_all(trials);
    if (atomic_load(&state) != IDLE) {
        snprintf(why, sizeof why, "the program ended before the joint trial "
                 "did, in %s it made %zu of at most %zu stretches",
                 joint.phase == REST ? "the second part of which" : "which",
                 STRETCHES * joint.round + joint.launched / STRETCH,
                 STRETCHES * most[joint.phase]);
        leave(why);
    }
    pthread_mutex_unlock(&lock);
}
