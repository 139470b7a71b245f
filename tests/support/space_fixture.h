/* SPDX-License-Identifier: MIT */
/*
 * space_fixture: spaces made from a few words, and what a space says of
 * itself against every configuration there is.
 */
#ifndef SHMT_TESTS_SPACE_FIXTURE_H
#define SHMT_TESTS_SPACE_FIXTURE_H

#include "space/space.h"

/* -- space_fixture.c ------------------------------------------------------ */

/* The program's: what spaces are made in, and the last error. */
extern struct shmt_arena *arena;
extern struct shmt_error err;

/* The same numbers on every run; the state may be set. */
extern uint64_t random_state;
uint64_t random_next(void);
size_t below(size_t bound);

/* A space as text: parameters "x=1,2,3", constraints; `n` is fixed. */
struct made {
    struct shmt_space_definition definition;
    struct shmt_parameter parameters[SHMT_SPACE_PARAMETERS];
    struct shmt_expr_symbol symbols[SHMT_SPACE_PARAMETERS + 1];
    struct shmt_value fixed;
    struct shmt_expr_scope scope;
    struct shmt_expr *constraints[512];
};

/* Without a parameter yet. */
void begin(struct made *made);
void add_parameter(struct made *made, const char *text);
/* p0, p1, ... with the same values. */
void add_alike(struct made *made, int count, const char *values);
/* False, and `err`, when it does not compile. */
bool add_constraint(struct made *made, const char *text);

/* Parameters, NULL, constraints, NULL; ends the program when one of these
 * does not compile. */
void make(struct made *made, const char *const *texts);

/* Whether the configuration is one: 1, 0, or -1 when a constraint has no
 * value and none is false. */
int judge(const struct made *made, const shmt_config *config);

/* -- space_brute.c -------------------------------------------------------- */

/* Everything the space says of itself, against every configuration. */
bool agrees(const struct made *made);

#endif
