/* SPDX-License-Identifier: MIT */
/*
 * record: everything that outlives a run.  A result is what is known of one
 * candidate, a journal every result of a run, a recording a journal that can be
 * run again, and a tuning what an application loads.
 */
#ifndef SHMT_RECORD_H
#define SHMT_RECORD_H

#include "record/dispatch.h"
#include "record/journal.h"
#include "record/ledger.h"
#include "record/gzip.h"
#include "record/recording.h"
#include "record/rerun.h"
#include "record/result.h"
#include "record/tuning.h"
#include "record/wanted.h"

#endif
