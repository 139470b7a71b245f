/* SPDX-License-Identifier: MIT */
/*
 * coverage: see coverage.h.  Values of a parameter are put into at most BINS
 * bins, by their order.
 */
#include "search/engine/coverage.h"

#include <stdlib.h>

enum { BINS = 4 };

struct shmt_coverage {
    const struct shmt_search_view *view;
    size_t parameters;
    uint32_t tried[];    /* [parameters][parameters][BINS][BINS] */
};

struct shmt_coverage *shmt_coverage_new(const struct shmt_search_view *view)
{
    const size_t parameters = shmt_space_parameters(view->space);
    struct shmt_coverage *coverage =
        calloc(1, sizeof *coverage + parameters * parameters * BINS * BINS *
                                         sizeof *coverage->tried);

    if (coverage == NULL)
        return NULL;
    coverage->view = view;
    coverage->parameters = parameters;
    return coverage;
}

void shmt_coverage_free(struct shmt_coverage *coverage)
{
    free(coverage);
}

static void bins_of(const struct shmt_coverage *coverage, uint64_t index,
                    size_t *bins)
{
    shmt_config config[SHMT_SPACE_PARAMETERS];

    shmt_space_configuration(coverage->view->space, index, config);
    for (size_t p = 0; p < coverage->parameters; p++) {
        const size_t count =
            shmt_space_parameter(coverage->view->space, p)->count;

        bins[p] = count <= BINS ? config[p] : config[p] * BINS / count;
    }
}

static size_t cell(const struct shmt_coverage *coverage, const size_t *bins,
                   size_t p, size_t q)
{
    return ((p * coverage->parameters + q) * BINS + bins[p]) * BINS + bins[q];
}

void shmt_coverage_note(struct shmt_coverage *coverage, uint64_t index)
{
    size_t bins[SHMT_SPACE_PARAMETERS];

    bins_of(coverage, index, bins);
    for (size_t p = 0; p < coverage->parameters; p++)
        for (size_t q = p + 1; q < coverage->parameters; q++)
            coverage->tried[cell(coverage, bins, p, q)]++;
}

uint64_t shmt_coverage_draw(const struct shmt_coverage *coverage,
                            size_t draws)
{
    const struct shmt_search_view *const view = coverage->view;
    uint64_t best = 0;
    double most = -1;

    for (size_t k = 0; k < draws; k++) {
        const uint64_t index = shmt_random_below(
            view->random, shmt_space_count(view->space));
        size_t bins[SHMT_SPACE_PARAMETERS];
        double worth = 0;

        if (view->seen(view->session, index))
            continue;
        bins_of(coverage, index, bins);
        for (size_t p = 0; p < coverage->parameters; p++)
            for (size_t q = p + 1; q < coverage->parameters; q++) {
                const double tried =
                    coverage->tried[cell(coverage, bins, p, q)];

                worth += 1 / (1 + tried * tried);
            }
        if (worth > most) {
            most = worth;
            best = index;
        }
    }
    return best;
}
