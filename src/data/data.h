/* SPDX-License-Identifier: MIT */
/*
 * data: what the inputs of a problem hold, by a formula or from a file.
 */
#ifndef SHMT_DATA_H
#define SHMT_DATA_H

#include "data/file.h"
#include "data/npy.h"
#include "data/pattern.h"

#endif
