/* SPDX-License-Identifier: MIT */
/*
 * space: the configurations that satisfy the constraints, each with an index
 * from 0 to count - 1.
 *
 * A space is a multi-valued decision diagram (MDD).  It has one level for each
 * parameter.  Two prefixes share a node when every undecided expression has
 * the same value for both.  Every edge carries the number of configurations
 * that end behind the edges before it.  Memory therefore grows with the nodes,
 * not with the configurations, and converting an index to a configuration or
 * back follows one path.  A space is immutable: any number of threads may read
 * it.
 *
 * The passes, in their order (docs/space.md explains them with an example):
 *
 *   lower.c      constraints become one graph of typed sub-expressions
 *   normal.c     one form for what means the same; graph.c keeps each once, and
 *                knows between what bounds its value lies
 *   space.c      parameters that nothing binds are components of their own
 *   order.c      tries orders of a component's parameters, first guessing one
 *   plan.c       what each level computes, and what the later ones still read:
 *                the state, in few values; symmetry.c makes them fewer
 *   build.c      all states of a level times all values of its parameter, each
 *                state kept once; lanes.c computes, and decides early by
 *                bounds; block.c has states as words
 *   reduce.c     drops dead ends, joins equal nodes, counts; puts components
 *                one behind the other
 *   index.c      index to configuration and back; neighbours
 *   draw.c       where the diagram is too large: single configurations
 *   from_list.c  a space that is given by its configurations
 *
 * Every pass that can take long spends from one budget (budget.h).
 *
 * The ideas: reduced ordered diagrams (Bryant 1986), many values an edge for
 * constraints (Andersen, Hadzic, Hooker and Tiedemann 2007), building from the
 * top down by states, and with a beam (Bergman, Cire, van Hoeve and Hooker
 * 2016), ranking by counts (Knuth, volume 4A, 7.1.4), interval arithmetic
 * (Moore 1966).
 *
 * Indices follow the variable order of the diagram: parameters that
 * constraints connect stand together, in declared order unless another order
 * makes a much smaller diagram.  The same definition always gives the same
 * indices.
 */
#ifndef SHMT_SPACE_H
#define SHMT_SPACE_H

#include <stddef.h>

#include "expr/expr.h"

/* The most parameters that a space can have, and the most values of one
 * parameter. */
#define SHMT_SPACE_PARAMETERS 64
#define SHMT_SPACE_VALUES 65535

struct shmt_parameter {
    const char *name;
    enum shmt_value_type type; /* of all its values */
    size_t count;
    const struct shmt_value *values;
    size_t default_value;    /* index into values */
    bool launch_only;        /* no macro: configurations that differ in it
                                alone share a binary */
    const char *const *options;   /* [count]: what the compiler is given for
                                each, "" for nothing; it is no macro then.
                                NULL: a macro */
    bool overrides;          /* a macro that wins over the source's own */
    bool ordered;            /* numbers in ascending order: has "steps" */
};

/* A configuration: for parameter p the index of its value.  Arrays of
 * `parameters` entries, in the order of the definition. */
typedef uint16_t shmt_config;

struct shmt_space_definition {
    size_t parameter_count;
    const struct shmt_parameter *parameters;
    size_t constraint_count;
    struct shmt_expr *const *constraints;
    /* The scope the constraints were compiled in is: `fixed_count` symbols
     * whose values are fixed (problem dimensions), then the parameters. */
    size_t fixed_count;
    const struct shmt_value *fixed;
    const struct shmt_space_limits *limits;   /* NULL: the defaults */
};

/* How far a build is, for somebody who waits. */
struct shmt_space_progress {
    double seconds;
    size_t bytes;
    uint64_t states;      /* of the diagram at hand */
    uint64_t drawn;       /* configurations, once they are drawn instead */
};

/* How much building a space may take; 0 stands for the default.  Steps are
 * counted and not measured: they end a build at the same place on every
 * machine.  Where seconds are given, steps have no limit but the given. */
struct shmt_space_limits {
    double seconds;       /* of the clock; 60 */
    size_t bytes;         /* 512 MiB */
    uint64_t steps;       /* 10^9: five to fifteen seconds */
    size_t draws;         /* configurations of a space that is drawn; 4096 */
    uint64_t seed;        /* of the draws; 1 */
    bool exact;           /* refuse a space of which some would be drawn */
    /* Called some times a second after the first one; or NULL. */
    void (*tell)(void *context, const struct shmt_space_progress *progress);
    void *context;
};

struct shmt_space;

/* The parameters must outlive the space, all else that the definition points
 * to the call.  An empty space is
 * not an error: its count is 0.  A constraint that divides by zero or
 * overflows at some configuration that the other constraints let pass is
 * SHMTUNE_INVALID_FILE, and so are 2^64 - 1 configurations or more.
 *
 * Where the diagram outgrows the limits, single configurations are looked for
 * instead (draw.c), with half of the limits on steps and seconds once more.  If
 * that finds all of them, the space is what it always is.  If not, the space
 * is of as many different valid configurations as were found, at most
 * `draws`; the default configuration is among them if it is valid.
 * shmt_space_is_drawn then holds.  SHMTUNE_NO_MEMORY, with the constraints
 * that take most: `exact` was asked for, or nothing was found. */
enum shmtune_status
shmt_space_build(const struct shmt_space_definition *definition,
                 struct shmt_space **out, struct shmt_error *err);
/* The space of exactly these configurations (arrays of `parameter_count`
 * entries; duplicates count once).  The constraints are not read.  For
 * recordings. */
enum shmtune_status
shmt_space_from_list(const struct shmt_space_definition *definition,
                     const shmt_config *const *configs, size_t count,
                     struct shmt_space **out, struct shmt_error *err);
void shmt_space_free(struct shmt_space *space);

/* Whether the space holds only some of the valid configurations, because its
 * diagram outgrew the limits: a caller who asks whether a configuration is
 * valid must evaluate the constraints. */
bool shmt_space_is_drawn(const struct shmt_space *space);
/* What the user is told then: the kernel's name, the count. */
#define SHMT_SPACE_DRAWN                                                     \
    "%s: the space is too irregular to be built within the limits; %llu "    \
    "valid configurations were drawn, not uniformly, and stand for it "      \
    "(--space-seconds and --space-memory allow more)"

uint64_t shmt_space_count(const struct shmt_space *space);
size_t shmt_space_parameters(const struct shmt_space *space);
const struct shmt_parameter *
shmt_space_parameter(const struct shmt_space *space, size_t parameter);
size_t shmt_space_nodes(const struct shmt_space *space);
size_t shmt_space_bytes(const struct shmt_space *space);

/* index < count. */
void shmt_space_configuration(const struct shmt_space *space, uint64_t index,
                              shmt_config *config);
/* False when the configuration is not in the space. */
bool shmt_space_index(const struct shmt_space *space,
                      const shmt_config *config, uint64_t *index);

/* Writes the configurations with the indices [first, first + count), which
 * must exist, one after the other.  Takes a few nanoseconds for each. */
void shmt_space_list(const struct shmt_space *space, uint64_t first,
                     size_t count, shmt_config *configs);

/* Neighbours of `index`: every valid configuration that differs in one
 * parameter (SHMT_SPACE_HAMMING), or by one step along one ordered parameter
 * and any value of an unordered one (SHMT_SPACE_ADJACENT); a step goes to the
 * next value, up or down, that is valid while the other parameters keep
 * theirs.  Writes at most `room` indices and returns how many neighbours there
 * are. */
enum shmt_space_neighbourhood { SHMT_SPACE_HAMMING, SHMT_SPACE_ADJACENT };
size_t shmt_space_neighbours(const struct shmt_space *space, uint64_t index,
                             enum shmt_space_neighbourhood kind, uint64_t *out,
                             size_t room);

/* The valid configuration that is closest to `choice` by a greedy walk of the
 * diagram: it keeps each value if it can, else it takes the nearest value
 * behind which there is a configuration.  For strategies that compute points
 * (genetic, swarm, differential evolution).  count > 0. */
uint64_t shmt_space_nearest(const struct shmt_space *space,
                            const shmt_config *config);

/* The funnel: configurations left when the first k constraints hold.  It is
 * not exact when the diagram of these constraints would outgrow a bound; then
 * the count is an estimate by sampling.  UINT64_MAX stands for "2^64 - 1 or
 * more".  `stages` has constraint_count + 1 places; 0 is the cartesian
 * size.  The limits are for all stages together. */
struct shmt_space_stage {
    uint64_t count;
    bool exact;
};
enum shmtune_status
shmt_space_funnel(const struct shmt_space_definition *definition,
                  struct shmt_space_stage *stages, struct shmt_error *err);

#endif
