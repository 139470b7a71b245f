/* SPDX-License-Identifier: MIT */
/*
 * export_rows: the tunings of one kernel as rows, one a tuned size, for the
 * files that a program is compiled with.  Private to exchange/: export_rows.c
 * reads them, export_header.c and export_table.c write them.
 */
#ifndef SHMT_EXCHANGE_EXPORT_ROWS_H
#define SHMT_EXCHANGE_EXPORT_ROWS_H

#include "exchange/exchange.h"

/* Parts of a doubling in a distance, and in a difference of shares, of what a
 * header holds: fixed point. */
enum { SHMT_EXPORT_UNIT = 1 << 20 };

/* A configuration that may be chosen for a row: its winner, then its ties. */
struct shmt_export_try {
    size_t row, config;
    int resident;              /* blocks on a multiprocessor, whatever shared
                                  memory they take; 0: not known */
    int64_t share;             /* log2 of the wave efficiency there, units */
};

struct shmt_export_row {
    size_t device;
    size_t config;
    const int64_t *problem;    /* [dimension_count] */
    double time_us;            /* < 0: not known */
    const char *file;
};

struct shmt_export_rows {
    struct shmt_arena *arena;
    const struct shmt_kernel *kernel;
    size_t device_count;
    struct shmtune_device devices[SHMT_EXPORT_TUNINGS];
    size_t config_count, config_room;
    const shmt_config **configs;   /* each once; the first is the default */
    size_t row_count, row_room;
    struct shmt_export_row *rows;  /* by tuning, then by size */
    size_t try_count, try_room;
    struct shmt_export_try *tries; /* by row */
    size_t left_out;
    size_t tree_count;             /* what tunings have learnt, as code: */
    struct shmt_text trees;        /* a function each, */
    struct shmt_text choices;      /* and which is asked where */
};

/* The number of a configuration, which is added if it is a new one; SIZE_MAX:
 * there is no memory. */
size_t shmt_export_config(struct shmt_export_rows *rows,
                          const shmt_config *config);
/* Adds what the tuning of a device has learnt, if it fits the kernel. */
enum shmtune_status shmt_export_learnt(struct shmt_export_rows *rows,
                                       const struct shmt_dispatch *dispatch,
                                       size_t device, struct shmt_error *err);
/* log2 in units, rounded down; of 1 where the number is below. */
int64_t shmt_export_log2(uint64_t number);
/* The text of a string in C without its quotes. */
void shmt_export_add_string(struct shmt_text *text, const char *string);
/* The device's architecture as a number: 90. */
int shmt_export_arch(const struct shmtune_device *device);

#endif
