/* SPDX-License-Identifier: MIT */
/*
 * clock: how much time passes.
 */
#ifndef SHMT_BASE_CLOCK_H
#define SHMT_BASE_CLOCK_H

/* Seconds since some moment in the past; nobody can set this clock. */
double shmt_clock_s(void);

/* Seconds for which the calling thread had a processor. */
double shmt_clock_thread_s(void);

#endif
