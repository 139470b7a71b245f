/* SPDX-License-Identifier: MIT */
/*
 * trial: whether a tuned kernel is the faster one inside of the application,
 * where it finds in the caches what the kernels before it have left.  The first
 * launches are made as tuned and as they were, in turn, each between two
 * events; the faster one stays.  Called by replace.c.
 *
 * The turns are the Thue-Morse sequence (ABBA BAAB ...), in which both come at
 * every place of a short cycle equally often, and neither gains by a drift.  Of
 * each group of four the two sums are compared: by chance ENOUGH of GROUPS
 * groups go one way in 1.9 % of trials (a sign test), however the times are
 * distributed.
 */
#include "capture/library.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    GROUP = 4, GROUPS = 12, ENOUGH = 10,
    FIRST = GROUP,             /* these load code and data, and do not count */
    EACH = GROUP * GROUPS / 2
};
_Static_assert(FIRST + GROUP * GROUPS == SHMT_CAPTURE_TRIAL_LAUNCHES,
               "a trial has room for its launches");

enum { OPEN, AS_IT_WAS, AS_TUNED };

/* Of the trials' own members; none is held while a launch is made. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct shmt_capture_trial *trials;
static pid_t process;          /* that makes them; not a child of it */

/* -- the verdict ---------------------------------------------------------- */

static bool is_tuned_turn(size_t launch)
{
    return __builtin_parityl(launch);
}

static int by_size(const void *one, const void *other)
{
    const double a = *(const double *)one, b = *(const double *)other;

    return (a > b) - (a < b);
}

static double median_us(const struct shmt_capture_trial *trial, bool tuned)
{
    double us[EACH];
    size_t count = 0;

    for (size_t k = FIRST; k < SHMT_CAPTURE_TRIAL_LAUNCHES; k++)
        if (is_tuned_turn(k) == tuned)
            us[count++] = trial->us[k];
    qsort(us, EACH, sizeof *us, by_size);
    return (us[EACH / 2 - 1] + us[EACH / 2]) / 2;
}

/* In how many groups the tuned one took less. */
static int count_gains(const struct shmt_capture_trial *trial)
{
    int gains = 0;

    for (size_t group = FIRST; group < SHMT_CAPTURE_TRIAL_LAUNCHES;
         group += GROUP) {
        double lost_us = 0;

        for (size_t k = group; k < group + GROUP; k++)
            lost_us += is_tuned_turn(k) ? trial->us[k] : -trial->us[k];
        gains += lost_us < 0;
    }
    return gains;
}

static void decide(struct shmt_capture_trial *trial)
{
    const double tuned = median_us(trial, true);
    const double was = median_us(trial, false);

    if (tuned < was && count_gains(trial) >= ENOUGH) {
        atomic_store(&trial->verdict, AS_TUNED);
        shmt_capture_note("%s is launched as tuned: %.1f us, as it was %.1f us "
                          "(%d launches each)", trial->name, tuned, was, EACH);
        return;
    }
    atomic_store(&trial->verdict, AS_IT_WAS);
    shmt_capture_note("%s stays as it is: tuned it takes %.1f us here, as it "
                      "was %.1f us%s (%d launches each)", trial->name, tuned,
                      was, tuned < was ? ", too near to tell apart" : "",
                      EACH);
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
        shmt_capture_pair_free(driver, pair);
        trial->read++;
    }
    return true;
}

static void enter(struct shmt_capture_trial *trial, const char *name)
{
    if (trial->name != NULL)
        return;
    trial->name = name;
    trial->next = trials;
    trials = trial;
    process = getpid();
}

/* The next launch of the trial; -1: this one is none of it. */
static int take(const struct shmt_capture_driver *driver,
                struct shmt_capture_trial *trial, const char *name,
                CUstream stream)
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
        if (shmt_capture_in_graph(driver, stream))
            trial->in_graph = true;
        else
            launch = (int)trial->launched++;
    }
    pthread_mutex_unlock(&lock);
    if (!read)
        give_up(trial, "its launches cannot be timed");
    return launch;
}

static void begin(struct shmt_capture_trial *trial, const char *name,
                  CUstream stream, struct shmt_capture_turn *out)
{
    const struct shmt_capture_driver *driver = shmt_capture_driver();
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;

    if (driver == NULL)
        return;
    driver->ThreadExchangeStreamCaptureMode(&mode);
    out->launch = take(driver, trial, name, stream);
    if (out->launch >= 0 &&
        !shmt_capture_pair_begin(driver, &trial->pairs[out->launch], stream)) {
        give_up(trial, "its launches cannot be timed");
        out->launch = -1;
    }
    driver->ThreadExchangeStreamCaptureMode(&mode);
}

struct shmt_capture_turn
shmt_capture_trial_begin(struct shmt_capture_trial *trial, const char *name,
                         CUstream stream)
{
    struct shmt_capture_turn turn = {.launch = -1};

    if (!shmt_capture_setting()->trial) {
        if (atomic_exchange(&trial->verdict, AS_TUNED) == OPEN)
            shmt_capture_note("%s is launched as tuned", name);
    } else if (atomic_load(&trial->verdict) == OPEN) {
        begin(trial, name, stream, &turn);
    }
    turn.tuned = turn.launch >= 0
                     ? is_tuned_turn((size_t)turn.launch)
                     : atomic_load(&trial->verdict) == AS_TUNED;
    return turn;
}

void shmt_capture_trial_end(struct shmt_capture_trial *trial, int launch,
                            CUstream stream, const char *failed)
{
    const struct shmt_capture_driver *driver = shmt_capture_driver();

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

/* Of the driver nothing is asked: it may have gone already. */
__attribute__((destructor)) static void tell_open(void)
{
    if (process != getpid())
        return;
    pthread_mutex_lock(&lock);
    for (struct shmt_capture_trial *one = trials; one != NULL; one = one->next)
        if (atomic_load(&one->verdict) == OPEN)
            shmt_capture_note("%s stays as it is: the program ended before its "
                              "trial did, in which it made %zu of %d "
                              "launches%s; --no-trial has it as tuned at once",
                              one->name, one->launched,
                              SHMT_CAPTURE_TRIAL_LAUNCHES,
                              one->in_graph ? ", others went into graphs" : "");
    pthread_mutex_unlock(&lock);
}
