/* SPDX-License-Identifier: MIT */
/*
 * signals: what a person or a batch system sends to a program from outside, to
 * end it or to say that it will be ended; nothing does this to itself.  For who
 * includes <signal.h>.
 */
#ifndef SHMT_BASE_SIGNALS_H
#define SHMT_BASE_SIGNALS_H

#define SHMT_SIGNALS_FROM_OUTSIDE SIGHUP, SIGINT, SIGTERM, SIGUSR1, SIGUSR2

#endif
