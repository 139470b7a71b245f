/* SPDX-License-Identifier: MIT */
/*
 * exchange: files of other tuners, read and written.
 */
#ifndef SHMT_EXCHANGE_H
#define SHMT_EXCHANGE_H

#include "exchange/export.h"
#include "exchange/import.h"

#endif
