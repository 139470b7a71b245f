/* SPDX-License-Identifier: MIT */
/*
 * observations: the results that a strategy was told, as rows of small
 * ordinals for a surrogate: first the parameters with more than one value,
 * then the compiler's report.  For search/ only.
 */
#ifndef SHMT_ENGINE_OBSERVATIONS_H
#define SHMT_ENGINE_OBSERVATIONS_H

#include "search/engine/surrogate.h"
#include "search/search.h"

/* Registers, spilled bytes, shared bytes, resident blocks, occupancy. */
enum {
    SHMT_OBSERVATION_RESOURCES = 5,
    SHMT_OBSERVATION_WIDTH = SHMT_SPACE_PARAMETERS + SHMT_OBSERVATION_RESOURCES
};

struct shmt_observation {
    uint64_t index;
    double cost;         /* natural logarithm; INFINITY: failed */
};

struct shmt_observations {
    const struct shmt_space *space;
    size_t parameters;       /* of a row: those with more than one value */
    size_t width;            /* parameters and resources */
    size_t parameter[SHMT_SPACE_PARAMETERS];
    struct shmt_surrogate_feature features[SHMT_OBSERVATION_WIDTH];

    size_t count, room;
    struct shmt_observation *list;
    uint8_t *rows;           /* [count][width] */
    size_t valid;            /* with a cost */
    double *sorted;          /* [valid] their costs, ascending */
    size_t best;             /* position; meaningless when valid is 0 */
    bool resources;          /* any were reported */
    struct shmt_map learned;       /* index -> row in compiled */
    uint8_t (*compiled)[SHMT_OBSERVATION_RESOURCES];
    size_t compiled_room;
};

void shmt_observations_begin(struct shmt_observations *observations,
                             const struct shmt_space *space);
void shmt_observations_end(struct shmt_observations *observations);

/* False when there is no memory; the observation is then dropped. */
bool shmt_observations_tell(struct shmt_observations *observations,
                            uint64_t index,
                            const struct shmt_search_outcome *outcome);
void shmt_observations_learn(struct shmt_observations *observations,
                             uint64_t index,
                             const struct shmt_result *compiled);

/* Parameters of `index`, and its resources where they are known. */
void shmt_observations_row(const struct shmt_observations *observations,
                           uint64_t index, uint8_t *row);

/* The cost at quantile `part` (0 to 1) of the valid ones; 0 when there are
 * none. */
double shmt_observations_quantile(
    const struct shmt_observations *observations, double part);

#endif
