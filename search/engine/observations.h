/* SPDX-License-Identifier: MIT */
/*
 * observations: the costs that a strategy was told, with the parameters of more
 * than one value as rows of small ordinals for a surrogate.  For search/ only.
 */
#ifndef SHMT_ENGINE_OBSERVATIONS_H
#define SHMT_ENGINE_OBSERVATIONS_H

#include "search/engine/surrogate.h"
#include "search/search.h"

struct shmt_observation {
    uint64_t index;
    double cost;         /* natural logarithm; INFINITY: failed */
};

struct shmt_observations {
    const struct shmt_space *space;
    size_t parameters;       /* of a row: those with more than one value */
    size_t parameter[SHMT_SPACE_PARAMETERS];
    struct shmt_surrogate_feature features[SHMT_SPACE_PARAMETERS];

    size_t count, room;
    struct shmt_observation *list;
    uint8_t *rows;           /* [count][parameters] */
    size_t valid;            /* with a cost */
    double *sorted;          /* [valid] their costs, ascending */
    size_t best;             /* position; meaningless when valid is 0 */
};

void shmt_observations_begin(struct shmt_observations *observations,
                             const struct shmt_space *space);
void shmt_observations_end(struct shmt_observations *observations);

/* False when there is no memory; the observation is then dropped. */
bool shmt_observations_tell(struct shmt_observations *observations,
                            uint64_t index, double cost);
/* The parameters of `index`. */
void shmt_observations_row(const struct shmt_observations *observations,
                           uint64_t index, uint8_t *row);
void shmt_observations_row_of(const struct shmt_observations *observations,
                              const shmt_config *config, uint8_t *row);

/* The cost at quantile `part` (0 to 1) of the valid ones; 0 when there are
 * none. */
double shmt_observations_quantile(
    const struct shmt_observations *observations, double part);

#endif
