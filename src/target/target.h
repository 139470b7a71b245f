/* SPDX-License-Identifier: MIT */
/*
 * target: what candidates are tried on.  The tuner sees two verbs (request.h);
 * behind them are worker processes with a GPU (live.h) or a recording
 * (replay.h).  Worker processes are started here and nowhere else, and their
 * messages are written and read here.
 */
#ifndef SHMT_TARGET_H
#define SHMT_TARGET_H

#include "target/courier.h"
#include "target/devices.h"
#include "target/live.h"
#include "target/wire.h"
#include "target/program.h"
#include "target/relay.h"
#include "target/replay.h"
#include "target/request.h"
#include "target/rerun.h"
#include "target/scratch.h"
#include "target/turn.h"
#include "target/worker.h"

#endif
