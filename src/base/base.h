/* SPDX-License-Identifier: MIT */
/*
 * base: what every module stands on and no word of the domain: memory that is
 * given back at once, arrays and texts that grow, a map, random numbers, the
 * clock, files and folders, digests, and the status with the message that
 * every fallible function returns.
 */
#ifndef SHMT_BASE_H
#define SHMT_BASE_H

#include "base/arena.h"
#include "base/array.h"
#include "base/clock.h"
#include "base/code.h"
#include "base/digest.h"
#include "base/field.h"
#include "base/map.h"
#include "base/middle.h"
#include "base/pack.h"
#include "base/path.h"
#include "base/random.h"
#include "base/signals.h"
#include "base/status.h"
#include "base/text.h"
#include "base/utf8.h"

#endif
