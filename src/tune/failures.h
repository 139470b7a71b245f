/* SPDX-License-Identifier: MIT */
/*
 * failures: what is said of candidates that failed, in lines for people.
 */
#ifndef SHMT_TUNE_FAILURES_H
#define SHMT_TUNE_FAILURES_H

#include "tune/run.h"

/* Appends lines: where most candidates that ran have an output a little off,
 * how many, and the tolerance that would pass them; then the commonest reasons
 * of each verdict that more than a few have, with an example.  Nothing when few
 * failed.  True when most of the candidates failed: then it is to be said
 * before everything else. */
bool shmt_tune_failures(const struct shmt_kernel *kernel,
                        const struct shmt_tune_outcome *outcome,
                        struct shmt_text *text);

/* Appends "; `tolerance: {relative: 2e-06}` at FILE:LINE:COLUMN would pass it"
 * for a result that is a little off. */
void shmt_tune_advise(const struct shmt_kernel *kernel,
                      const struct shmt_result *result,
                      struct shmt_text *text);

#endif
