/* SPDX-License-Identifier: MIT */
/*
 * export_json: what the exporters share.  For the files export_*.c alone.
 *
 * Allocation failures are not checked while JSON is built, because jansson
 * accepts NULL for any value; shmt_export_dump refuses an incomplete tree.
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
    double *compile_ms;    /* of its records; own */
    bool *latest;          /* the records that hold */
    struct shmt_error *err;
};

/* An `origin` text that is no JSON object is refused with the number of its
 * record. */
enum shmtune_status shmt_export_open(struct shmt_export *export);
void shmt_export_close(struct shmt_export *export);

/* The value of a parameter as the imported file wrote it. */
json_t *shmt_export_value(const struct shmt_export *export, size_t parameter,
                          shmt_config value);
/* The members of a configuration, put into `object`. */
void shmt_export_configuration(const struct shmt_export *export,
                               const shmt_config *config, json_t *object);
/* A record's origin, or NULL when it has none (own). */
enum shmtune_status shmt_export_origin(const struct shmt_export *export,
                                       size_t record, json_t **out);
/* Whether a record is exported: only the last result of each configuration
 * is. */
bool shmt_export_includes(const struct shmt_export *export, size_t record);
/* "at: 1.5, verdict: ok, ...", and the journal's header. */
json_t *shmt_export_write_result(const struct shmt_journal_record *record);
json_t *shmt_export_write_header(const struct shmt_export *export);
/* Milliseconds with as many digits as the journal has. */
json_t *shmt_export_ms(double us);
/* The compile time of the record's binary, even if it was shared: other tuners
 * do not share binaries and simulate each configuration on its own. */
json_t *shmt_export_compile_ms(const struct shmt_export *export,
                               size_t record);
json_t *shmt_export_samples(const struct shmt_result *result);
/* Text of `json`, of ours with 15 digits, else with 17. */
enum shmtune_status shmt_export_dump(const struct shmt_export *export,
                                     const json_t *json,
                                     struct shmt_text *text);

#endif
