/* SPDX-License-Identifier: MIT */
/*
 * export_json: what the exporters share.  For the files export_*.c alone.
 *
 * Building is unchecked on the way, as jansson takes NULL for any value; the
 * writer refuses what is not whole.
 */
#ifndef SHMT_EXCHANGE_EXPORT_JSON_H
#define SHMT_EXCHANGE_EXPORT_JSON_H

#include <jansson.h>

#include "exchange/export.h"

struct shmt_export {
    const struct shmt_kernel *kernel;
    const struct shmt_journal *journal;
    json_t *origin;        /* of the imported file, or NULL */
    bool own;              /* a run of ours */
    double *charge;        /* of its records; own */
    bool *latest;          /* the records that hold */
    struct shmt_error *err;
};

/* NULL origins of what is no JSON are refused with the record's number. */
enum shmtune_status shmt_export_open(struct shmt_export *export);
void shmt_export_close(struct shmt_export *export);

/* The value of a parameter as the imported file wrote it. */
json_t *shmt_export_value(const struct shmt_export *export, size_t parameter,
                          shmt_choice value);
/* The members of a configuration, put into `object`. */
void shmt_export_configuration(const struct shmt_export *export,
                               const shmt_choice *choice, json_t *object);
/* A record's origin, or NULL when it has none (own). */
enum shmtune_status shmt_export_origin(const struct shmt_export *export,
                                       size_t record, json_t **out);
/* Whether a record stands in an export: results, of each configuration the
 * last. */
bool shmt_export_takes(const struct shmt_export *export, size_t record);
/* "at: 1.5, verdict: ok, ...", and the journal's header. */
json_t *shmt_export_own_result(const struct shmt_journal_record *record);
json_t *shmt_export_own_header(const struct shmt_export *export);
/* Milliseconds with as many digits as the journal has. */
json_t *shmt_export_ms(double us);
/* What compiling took, of a binary that is shared too: others have no binaries
 * that are shared, and replay one configuration as if alone. */
json_t *shmt_export_compile_ms(const struct shmt_export *export,
                               size_t record);
json_t *shmt_export_samples(const struct shmt_result *result);
/* Text of `json`, of ours with 15 digits, else with 17. */
enum shmtune_status shmt_export_dump(const struct shmt_export *export,
                                     const json_t *json,
                                     struct shmt_text *text);

#endif
