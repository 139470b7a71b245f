/* SPDX-License-Identifier: MIT */
/*
 * pulse: a thread that speaks when nobody else does: a command that has said
 * nothing for four seconds is still at work, and says at what, the longer it
 * takes the less often.  Called by main.c, by what prints, and by commands that
 * begin something that may be long.  Everything but shmt_command_pulse_begin
 * and _end may be called before the thread is there, and without it.
 */
#include "config.h"

#include "command/command.h"

#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/base.h"

static const double silence_s = 4;

static struct {
    pthread_mutex_t lock;      /* of what follows */
    pthread_cond_t ended;
    pthread_t thread;
    bool is_running, is_over;
    double began_s, said_s;    /* on shmt_clock_s */
    char what[256];
} pulse = {.lock = PTHREAD_MUTEX_INITIALIZER,
           .ended = PTHREAD_COND_INITIALIZER};

static void speak(double now_s)
{
    const char *const head = isatty(STDERR_FILENO) ? "\r\033[K" : "";

    fprintf(stderr, "%sshmtune: %s: %.0f s\n", head,
            pulse.what[0] != '\0' ? pulse.what : "still at work",
            now_s - pulse.began_s);
    pulse.said_s = now_s;
}

static void *run(void *none)
{
    struct timespec until;
    double now_s;

    pthread_mutex_lock(&pulse.lock);
    while (!pulse.is_over) {
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += 250 * 1000 * 1000;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&pulse.ended, &pulse.lock, &until);
        now_s = shmt_clock_s();
        if (!pulse.is_over &&
            now_s - pulse.said_s >=
                fmax(silence_s, (now_s - pulse.began_s) / 8))
            speak(now_s);
    }
    pthread_mutex_unlock(&pulse.lock);
    return none;
}

void shmt_command_pulse_begin(void)
{
    sigset_t all, before;

    pulse.began_s = pulse.said_s = shmt_clock_s();
    /* Signals are for the thread that works. */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pulse.is_running =
        pthread_create(&pulse.thread, NULL, run, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void shmt_command_pulse_end(void)
{
    if (!pulse.is_running)
        return;
    pthread_mutex_lock(&pulse.lock);
    pulse.is_over = true;
    pthread_cond_signal(&pulse.ended);
    pthread_mutex_unlock(&pulse.lock);
    pthread_join(pulse.thread, NULL);
    pulse.is_running = false;
}

void shmt_command_pulse_said(void)
{
    pthread_mutex_lock(&pulse.lock);
    pulse.said_s = shmt_clock_s();
    pthread_mutex_unlock(&pulse.lock);
}

void shmt_command_pulse_work(const char *format, ...)
{
    char what[sizeof pulse.what];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    pthread_mutex_lock(&pulse.lock);
    if (strcmp(pulse.what, what) != 0)
        pulse.began_s = shmt_clock_s();
    memcpy(pulse.what, what, sizeof what);
    pthread_mutex_unlock(&pulse.lock);
}
