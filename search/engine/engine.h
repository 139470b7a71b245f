/* SPDX-License-Identifier: MIT */
/*
 * engine: what strategies share.  A strategy takes from it what it needs;
 * nothing outside search/ does.
 */
#ifndef SHMT_ENGINE_H
#define SHMT_ENGINE_H

#include "search/engine/neighbours.h"
#include "search/engine/coverage.h"
#include "search/engine/guide.h"
#include "search/engine/predictor.h"
#include "search/engine/prior.h"
#include "search/engine/observations.h"
#include "search/engine/shuffle.h"
#include "search/engine/surrogate.h"

#endif
