/* SPDX-License-Identifier: MIT */
/*
 * sieve: see sieve.h.  Most configurations that a selection looks at are
 * refused, and most of them for what refused another already, so what was
 * computed is remembered by the values of the parameters that it depends on,
 * and not computed again.  Called by nearest.c.
 */
#include "runtime/sieve.h"

#include <string.h>

void shmt_runtime_sieve_begin(struct shmt_runtime_sieve *sieve,
                              const struct shmt_kernel *spec,
                              const int64_t *problem)
{
    const size_t count = spec->sized_count < SHMT_RUNTIME_SIZED
                             ? spec->sized_count : SHMT_RUNTIME_SIZED;

    sieve->spec = spec;
    sieve->problem = problem;
    sieve->allowance = SHMT_RUNTIME_ALLOWANCE;
    sieve->likely = 0;
    sieve->hopeless = false;
    sieve->cut = false;
    memset(sieve->seen, 0, count * sizeof *sieve->seen);
}

/* Where a configuration is remembered: configurations that are one to the
 * constraint have one place. */
static size_t place_of(const struct shmt_kernel_sized *sized,
                       const shmt_config *config)
{
    size_t hash = 0;

    for (size_t k = 0; k < sized->parameter_count; k++)
        hash = hash * 5 + config[sized->parameters[k]];
    return (hash ^ hash >> 4) % SHMT_RUNTIME_SEEN;
}

/* Whether two configurations are one to the constraint. */
static bool agree(const struct shmt_kernel_sized *sized, const shmt_config *a,
                  const shmt_config *b)
{
    for (size_t k = 0; k < sized->parameter_count; k++)
        if (a[sized->parameters[k]] != b[sized->parameters[k]])
            return false;
    return true;
}

/* Whether sized constraint `k` holds; *evaluated says whether `out` is the
 * configuration's yet.  One that cannot be computed does not hold. */
static bool holds(struct shmt_runtime_sieve *sieve, size_t k,
                  const shmt_config *config, bool *evaluated,
                  struct shmt_kernel_evaluated *out)
{
    const struct shmt_kernel_sized *sized = &sieve->spec->sized[k];
    const bool remembers = k < SHMT_RUNTIME_SIZED;
    const size_t place = remembers ? place_of(sized, config) : 0;
    bool result = false;

    if (remembers && sieve->seen[k][place] != NULL &&
        agree(sized, config, sieve->seen[k][place]))
        return sieve->held[k][place];
    if (!*evaluated)
        shmt_kernel_evaluate(sieve->spec, sieve->problem, config, out);
    *evaluated = true;
    if (shmt_expr_next_bool(sized->constraint, &out->evaluation, &result,
                            NULL) != SHMTUNE_OK)
        result = false;
    if (remembers) {
        sieve->seen[k][place] = config;
        sieve->held[k][place] = result;
    }
    return result;
}

bool shmt_runtime_sieve_pass(struct shmt_runtime_sieve *sieve,
                             const shmt_config *config,
                             struct shmt_kernel_evaluated *out)
{
    const size_t count = sieve->spec->sized_count;
    bool evaluated = false;

    out->evaluation.steps = 0;
    for (size_t k = 0, at = sieve->likely; k < count; k++) {
        if (!holds(sieve, at, config, &evaluated, out)) {
            sieve->likely = at;
            sieve->hopeless = sieve->spec->sized[at].parameter_count == 0;
            return false;
        }
        at = at + 1 < count ? at + 1 : 0;
    }
    if (!evaluated)
        shmt_kernel_evaluate(sieve->spec, sieve->problem, config, out);
    return true;
}
