/* SPDX-License-Identifier: MIT */
/*
 * tune: a tuning run, from the first candidate to the winner, and what is kept
 * and shown of it.
 */
#ifndef SHMT_TUNE_H
#define SHMT_TUNE_H

#include "tune/campaign.h"
#include "tune/ends.h"
#include "tune/failures.h"
#include "tune/output.h"
#include "tune/filter.h"
#include "tune/prior.h"
#include "tune/progress.h"
#include "tune/run.h"
#include "tune/winners.h"

#endif
