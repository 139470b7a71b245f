/* SPDX-License-Identifier: MIT */
/*
 * relay: the far side of a launcher: it speaks to a courier (courier.h) on its
 * standard input and output, receives the files of a spec and the binaries,
 * keeps a measure worker running on them, and passes requests and replies
 * through.  The messages are in far.h.
 *
 * The relay itself never opens the driver, so that nothing a candidate does
 * can reach it: that the measure worker died is a message over a connection
 * that lives, and a connection that ends says that the machine is gone.
 */
#ifndef SHMT_TARGET_RELAY_H
#define SHMT_TARGET_RELAY_H

#include <signal.h>

#include "base/base.h"

struct shmt_relay_options {
    const char *program;       /* of the measure worker; NULL: this one */
    const char *device;        /* "0", or a UUID */
    const char *version;       /* of this shmtune */
    const volatile sig_atomic_t *stop;   /* != 0: the machine is wanted back */
};

/* Returns when the other side has closed the connection, or says nothing for
 * too long.  A failure has been told to it. */
enum shmtune_status shmt_relay_run(const struct shmt_relay_options *options,
                                   struct shmt_error *err);

#endif
