/* SPDX-License-Identifier: MIT */
/*
 * data: what the inputs of a problem hold, element by element.
 */
#ifndef SHMT_DATA_H
#define SHMT_DATA_H

#include "data/pattern.h"

#endif
