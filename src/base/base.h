/* SPDX-License-Identifier: MIT */
/*
 * base: what every module stands on and no word of the domain: memory that is
 * given back at once, texts that grow, files and folders, digests, and the
 * status with the message that every fallible function returns.
 */
#ifndef SHMT_BASE_H
#define SHMT_BASE_H

#include "base/arena.h"
#include "base/digest.h"
#include "base/path.h"
#include "base/status.h"
#include "base/text.h"
#include "base/utf8.h"

#endif
