/* SPDX-License-Identifier: MIT */
/*
 * trial: whether a tuned kernel is the faster one inside of the application,
 * where it finds in the caches what the kernels before it have left, and takes
 * from kernels beside it what they need.  The first launches are made as tuned
 * and as they were, in turn, each between two events.  These change what they
 * time, and of 5 to 30 us they say little of what the program gains: so one
 * that is clearly slower stays as it was for good, and of all others the
 * program's own time decides in joint.c.  Until then those are tuned that are
 * clearly faster.  Called by replace.c.
 *
 * The turns are a Walsh function of the launch's number: of the first trial the
 * Thue-Morse sequence (ABBA BAAB BAAB ABBA), in which both come at every place
 * of a short cycle equally often, and neither gains by a drift.  Trials at the
 * same time have others, of which seven are orthogonal to each other in any
 * eight launches, so that none sees the turns of the rest.
 *
 * Of each group of eight the two sums are compared: by chance ten of twelve
 * groups go one way in 1.9 % of trials (a sign test), however the times are
 * distributed.
 */
#include "capture/library.h"

#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

enum {
    GROUP = 8, GROUPS = 12,
    ENOUGH = 10,               /* groups that go one way */
    FIRST = GROUP,             /* these load code and data, and do not count */
    EACH = GROUP * GROUPS / 2,
    PATIENCE = 1024            /* launches of those that have verdicts since the
                                  last one, in which the joint trial waits for
                                  the next */
};
/* Times as it was, above which the tuned one may be out for good. */
static const double clearly = 1.1;
_Static_assert(FIRST + GROUP * GROUPS == SHMT_CAPTURE_TRIAL_LAUNCHES,
               "a trial has room for its launches");

enum {
    OPEN = SHMT_CAPTURE_OPEN,
    AS_IT_WAS = SHMT_CAPTURE_AS_IT_WAS,
    NEAR = SHMT_CAPTURE_NEAR,
    AS_TUNED = SHMT_CAPTURE_AS_TUNED
};

/* Of the trials' own members; none is held while a launch is made. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct shmt_capture_trial *trials;
static size_t waited;          /* launches of these since the last verdict */
static pid_t process;          /* that makes them; not a child of it */

/* -- the verdict ---------------------------------------------------------- */

static double median_us(const struct shmt_capture_trial *trial, bool tuned)
{
    return shmt_capture_turns_median(trial->turns, trial->us, FIRST,
                                     GROUP * GROUPS, tuned);
}

/* In how many groups the tuned one took less. */
static unsigned count_gains(const struct shmt_capture_trial *trial)
{
    unsigned gains = 0;

    for (size_t group = 0; group < GROUPS; group++)
        gains += shmt_capture_turns_lost(trial->turns, trial->us,
                                         FIRST + GROUP * group, GROUP) < 0;
    return gains;
}

static void decide(struct shmt_capture_trial *trial)
{
    const double tuned = median_us(trial, true), was = median_us(trial, false);
    const unsigned gains = count_gains(trial);

    waited = 0;
    if (tuned > clearly * was && gains <= GROUPS - ENOUGH) {
        atomic_store(&trial->verdict, AS_IT_WAS);
        shmt_capture_note("%s stays as it is: tuned it takes %.1f us here, as "
                          "it was %.1f us (%d launches each)", trial->name,
                          tuned, was, EACH);
        return;
    }
    if (tuned < was && gains >= ENOUGH) {
        atomic_store(&trial->verdict, AS_TUNED);
        shmt_capture_note("%s is launched as tuned: %.1f us, as it was %.1f us "
                          "(%d launches each)", trial->name, tuned, was, EACH);
    } else {
        atomic_store(&trial->verdict, NEAR);
        shmt_capture_note("%s: tuned it takes %.1f us here, as it was %.1f us "
                          "(%d launches each): the program's own time is to "
                          "tell", trial->name, tuned, was, EACH);
    }
    shmt_capture_joint_add();
}

static void give_up(struct shmt_capture_trial *trial, const char *why)
{
    pthread_mutex_lock(&lock);
    if (atomic_load(&trial->verdict) == OPEN) {
        atomic_store(&trial->verdict, AS_IT_WAS);
        shmt_capture_note("%s stays as it is: %s", trial->name, why);
    }
    pthread_mutex_unlock(&lock);
}

/* -- a launch ------------------------------------------------------------- */

/* Of the launch that is read now, and of the one before it, whose events are
 * not needed any more. */
static void read_period(const struct shmt_capture_driver *driver,
                        struct shmt_capture_trial *trial)
{
    const size_t k = trial->read;

    if (k > 0 && shmt_capture_pair_between(driver, &trial->pairs[k - 1],
                                           &trial->pairs[k],
                                           &trial->period_us[k - 1]) !=
                     CUDA_SUCCESS)
        trial->period_us[k - 1] = -1;
    if (k > 0)
        shmt_capture_pair_free(driver, &trial->pairs[k - 1]);
    if (k + 1 == SHMT_CAPTURE_TRIAL_LAUNCHES)
        shmt_capture_pair_free(driver, &trial->pairs[k]);
}

/* Under the lock; what is done by now, in the order of the launches.  false:
 * the driver does not say how long one took. */
static bool read_done(const struct shmt_capture_driver *driver,
                      struct shmt_capture_trial *trial)
{
    CUcontext context;

    if (driver->CtxGetCurrent(&context) != CUDA_SUCCESS)
        return true;
    while (trial->read < trial->launched && trial->running[trial->read]) {
        struct shmt_capture_pair *pair = &trial->pairs[trial->read];
        CUresult result;

        if (pair->context != context)
            return true;
        result = shmt_capture_pair_read(driver, pair,
                                        &trial->us[trial->read]);
        if (result == CUDA_ERROR_NOT_READY)
            return true;
        if (result != CUDA_SUCCESS)
            return false;
        read_period(driver, trial);
        trial->read++;
    }
    return true;
}

static void enter(struct shmt_capture_trial *trial, const char *name)
{
    static size_t count;

    if (trial->name != NULL)
        return;
    trial->name = name;
    trial->turns = shmt_capture_turns_of(count++);
    trial->next = trials;
    trials = trial;
    process = getpid();
}

/* The next launch of the trial; -1: this one is none of it. */
static int take(const struct shmt_capture_driver *driver,
                struct shmt_capture_trial *trial, const char *name)
{
    bool read;
    int launch = -1;

    pthread_mutex_lock(&lock);
    enter(trial, name);
    read = read_done(driver, trial);
    if (read && trial->read == SHMT_CAPTURE_TRIAL_LAUNCHES &&
        atomic_load(&trial->verdict) == OPEN)
        decide(trial);
    else if (read && trial->launched < SHMT_CAPTURE_TRIAL_LAUNCHES &&
             atomic_load(&trial->verdict) == OPEN) {
        if (!shmt_capture_joint_runs())
            launch = (int)trial->launched++;
    }
    pthread_mutex_unlock(&lock);
    if (!read)
        give_up(trial, "its launches cannot be timed");
    return launch;
}

/* Under events, or as it was. */
static void begin_timed(const struct shmt_capture_driver *driver,
                        struct shmt_capture_trial *trial, const char *name,
                        CUstream stream, struct shmt_capture_turn *out)
{
    out->launch = take(driver, trial, name);
    if (out->launch >= 0 &&
        !shmt_capture_pair_begin(driver, &trial->pairs[out->launch], stream)) {
        give_up(trial, "its launches cannot be timed");
        out->launch = -1;
    }
    out->tuned = out->launch >= 0
                     ? shmt_capture_turn_is_tuned(trial->turns,
                                                  (size_t)out->launch)
                     : atomic_load(&trial->verdict) == AS_TUNED;
}

/* What is recorded is launched when its graph is, and tried with that. */
static bool is_recorded_tuned(struct shmt_capture_trial *trial)
{
    const struct shmt_capture_trial *of_graph = atomic_load(&trial->of_graph);

    atomic_store(&trial->in_graph, true);
    return of_graph != NULL && atomic_load(&of_graph->verdict) == AS_TUNED;
}

static void begin(struct shmt_capture_trial *trial, const char *name,
                  CUstream stream, struct shmt_capture_turn *out)
{
    const struct shmt_capture_driver *driver = shmt_capture_driver();
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;

    if (driver == NULL)
        return;
    driver->ThreadExchangeStreamCaptureMode(&mode);
    if (shmt_capture_in_graph(driver, stream))
        out->tuned = is_recorded_tuned(trial);
    else
        begin_timed(driver, trial, name, stream, out);
    driver->ThreadExchangeStreamCaptureMode(&mode);
}

static bool is_one_open(void)
{
    const struct shmt_capture_trial *one = trials;

    while (one != NULL && atomic_load(&one->verdict) != OPEN)
        one = one->next;
    return one != NULL;
}

/* All that are not out, when the others have their verdicts; one that is seldom
 * launched may be long without. */
static bool is_tuned_with_others(struct shmt_capture_trial *trial,
                                 CUstream stream)
{
    if (shmt_capture_joint_waits()) {
        pthread_mutex_lock(&lock);
        if (!is_one_open() || ++waited > PATIENCE)
            shmt_capture_joint_begin(trials);
        pthread_mutex_unlock(&lock);
    }
    return shmt_capture_joint_turn(trial, stream);
}

struct shmt_capture_turn
shmt_capture_trial_begin(struct shmt_capture_trial *trial, const char *name,
                         CUstream stream)
{
    struct shmt_capture_turn turn = {.launch = -1};
    const bool tried = shmt_capture_setting()->trial;
    const int verdict = atomic_load(&trial->verdict);

    if (!tried && verdict == OPEN &&
        atomic_exchange(&trial->verdict, AS_TUNED) == OPEN)
        shmt_capture_note("%s is launched as tuned", name);
    if (!tried)
        turn.tuned = true;
    else if (verdict == AS_TUNED || verdict == NEAR)
        turn.tuned = is_tuned_with_others(trial, stream);
    else if (verdict == OPEN)
        begin(trial, name, stream, &turn);
    return turn;
}

bool shmt_capture_trial_is_lost(const struct shmt_capture_trial *trial)
{
    return atomic_load(&trial->verdict) == AS_IT_WAS;
}

/* After its verdict, which a line has said already. */
static void take_back(struct shmt_capture_trial *trial)
{
    if (shmt_capture_setting()->trial &&
        atomic_exchange(&trial->verdict, AS_IT_WAS) != AS_IT_WAS)
        shmt_capture_joint_fail(trial);
}

void shmt_capture_trial_end(struct shmt_capture_trial *trial, int launch,
                            CUstream stream, const char *failed)
{
    const struct shmt_capture_driver *driver = shmt_capture_driver();

    if (launch < 0 && failed != NULL)
        take_back(trial);
    if (launch < 0)
        return;
    if (failed != NULL) {
        give_up(trial, failed);
    } else if (!shmt_capture_pair_end(driver, &trial->pairs[launch], stream)) {
        give_up(trial, "its launches cannot be timed");
    } else {
        pthread_mutex_lock(&lock);
        trial->running[launch] = true;
        pthread_mutex_unlock(&lock);
    }
}

/* -- the end -------------------------------------------------------------- */

/* Of a graph that it is in another line tells. */
static void tell_one(struct shmt_capture_trial *one)
{
    const bool tried = atomic_load(&one->of_graph) != NULL;

    shmt_capture_note("%s stays as it is%s: the program ended before its trial "
                      "did, in which it made %zu of %d launches%s; --no-trial "
                      "has it as tuned at once", one->name,
                      tried ? " outside of graphs" : "", one->launched,
                      SHMT_CAPTURE_TRIAL_LAUNCHES,
                      !tried && atomic_load(&one->in_graph)
                          ? ", others went into graphs" : "");
}

/* Of the driver nothing is asked: it may have gone already. */
__attribute__((destructor)) static void tell_open(void)
{
    if (process != getpid())
        return;
    pthread_mutex_lock(&lock);
    for (struct shmt_capture_trial *one = trials; one != NULL; one = one->next)
        if (atomic_load(&one->verdict) == OPEN)
            tell_one(one);
    shmt_capture_joint_tell(trials);
    pthread_mutex_unlock(&lock);
}
