/* SPDX-License-Identifier: MIT */
/*
 * graph: the constraints of a space as one graph of typed
 * sub-expressions, each there once.  For space/ alone.
 *
 * Fixed symbols and parameters of one value are constants here.  Integer sums
 * and products that cannot overflow, `and` and `or` that cannot fail, have
 * any number of operands in no order, so that the order of the parameters can
 * choose how to group them.  Comparisons of integers are "sum <= constant",
 * "sum == constant", "sum != constant".
 */
#ifndef SHMT_SPACE_GRAPH_H
#define SHMT_SPACE_GRAPH_H

#include "expr/expr.h"
#include "expr/tree.h"
#include "space/space.h"

/* Operators beyond enum shmt_op. */
enum {
    SHMT_GRAPH_OPAQUE = SHMT_OP_COUNT,   /* a constraint left to expr/expr.c */
    SHMT_GRAPH_FAULT                     /* has no value */
};

enum { SHMT_GRAPH_NODES = 200000 };

#define SHMT_GRAPH_NONE UINT32_MAX

/* One value of a node.  "No value" is a reserved integer or a reserved NaN.
 * (A result that happens to be the reserved integer is treated as an
 * overflow.) */
union shmt_graph_cell {
    int64_t i;
    double r;
    uint64_t bits;
};
#define SHMT_GRAPH_NO_INT (-INT64_C(0x5c3e9f1b2d6a7481))
#define SHMT_GRAPH_NO_REAL UINT64_C(0x7ff8dead0000beef)

struct shmt_graph_node {
    uint8_t op;
    uint8_t type;        /* SHMT_VALUE_WORD: the rank of a word, as an
                            integer */
    bool fails;          /* may have no value */
    bool overflows;      /* of itself, whatever its operands */
    bool unbounded;      /* a real of no known range */
    uint8_t level;       /* set by the plan: 0 constant, else 1 + position */
    uint32_t column;     /* set by the plan: its place among those needed */
    uint32_t first, count;
    uint64_t support;    /* parameters it depends on */
    int64_t low, high;   /* bounds of an integer, whenever it has a value */
    double real_low, real_high;
    union shmt_graph_cell constant;
    uint32_t parameter;            /* SHMT_OP_SYMBOL */
    const struct shmt_expr *expr;  /* SHMT_GRAPH_OPAQUE */
};

struct shmt_graph {
    const struct shmt_space_definition *definition;
    struct shmt_graph_node *nodes;
    size_t node_count, node_room;
    uint32_t *kids;
    size_t kid_count, kid_room;
    struct shmt_map places;        /* hash of a node -> its id */
    const char **words;            /* sorted; the rank is the place */
    size_t word_count;
    /* Conjuncts: all must hold. */
    uint32_t *conjuncts;
    size_t conjunct_count, conjunct_room;
    uint32_t *sources;             /* of each conjunct: its constraint, the
                                      first that has it */
    size_t source_room;
    uint32_t source;               /* the one that is being added */
    bool never;                    /* one of them is false */
    bool failed;                   /* no memory, or too many nodes */
};

/* Build from the first `constraints` constraints; `graph` starts as {0}. */
enum shmtune_status
shmt_graph_build(struct shmt_graph *graph,
                 const struct shmt_space_definition *definition,
                 size_t constraints, struct shmt_error *err);
void shmt_graph_free(struct shmt_graph *graph);

/* Forget the nodes made since there were `count`. */
void shmt_graph_rewind(struct shmt_graph *graph, size_t count);

/* The rank of a word among all of the space, UINT32_MAX when it is none of
 * them. */
uint32_t shmt_graph_rank(const struct shmt_graph *graph, const char *word);

/* The values of all symbols of the constraints: the fixed ones, then of each
 * parameter the first.  The caller frees them; NULL when there is no memory. */
struct shmt_value *
shmt_graph_first_values(const struct shmt_space_definition *definition);

/* Nodes, made once.  After a failure any id may come back. */
uint32_t shmt_graph_int(struct shmt_graph *graph, int64_t value);
uint32_t shmt_graph_value(struct shmt_graph *graph, struct shmt_value value);
uint32_t shmt_graph_parameter(struct shmt_graph *graph, uint32_t parameter);
uint32_t shmt_graph_opaque(struct shmt_graph *graph,
                           const struct shmt_expr *expr);
/* Adds a node as given; if its operands are constants, the constant result. */
uint32_t shmt_graph_add_node(struct shmt_graph *graph, unsigned op,
                             enum shmt_value_type type, const uint32_t *kids,
                             size_t count);
/* Sums and products of integers; SHMT_GRAPH_NONE when they could overflow. */
uint32_t shmt_graph_sum(struct shmt_graph *graph, const uint32_t *terms,
                        size_t count);
uint32_t shmt_graph_product(struct shmt_graph *graph, const uint32_t *factors,
                            size_t count);
/* a * b, as a product where it cannot overflow. */
uint32_t shmt_graph_multiply(struct shmt_graph *graph, uint32_t a, uint32_t b);
/* Comparison of two nodes; SHMT_GRAPH_NONE when it has no typed form. */
uint32_t shmt_graph_compare(struct shmt_graph *graph, enum shmt_op op,
                            uint32_t a, uint32_t b);
/* `and`, `or` of truths (0 or 1). */
uint32_t shmt_graph_logic(struct shmt_graph *graph, enum shmt_op op,
                          const uint32_t *kids, size_t count);
uint32_t shmt_graph_negate(struct shmt_graph *graph, uint32_t truth);
uint32_t shmt_graph_truth(struct shmt_graph *graph, uint32_t node);

/* Operands whose order does not matter stand by their ids. */
void shmt_graph_sort(uint32_t *kids, size_t count);

bool shmt_graph_is_constant(const struct shmt_graph *graph, uint32_t node);
/* A cell of a node, as a value and back. */
struct shmt_value shmt_graph_box(const struct shmt_graph *graph,
                                 enum shmt_value_type type,
                                 union shmt_graph_cell cell);

/* The bounds of op on two integers within bounds; false when there may be no
 * value. */
bool shmt_graph_range_of_two(unsigned op, const int64_t a[2],
                             const int64_t b[2], int64_t out[2]);

/* The bounds of an integer node from other bounds of its operands
 * (`bounds`, by id; constants and reals have them too, as in the graph), never
 * wider than those that it has in the graph.  Where all operands are points
 * and the node has a value, it is a point. */
void shmt_graph_get_bounds(const struct shmt_graph *graph, uint32_t node,
                           const int64_t (*bounds)[2], int64_t out[2]);

/* lower.c: one constraint becomes conjuncts. */
void shmt_graph_add_constraint(struct shmt_graph *graph,
                               const struct shmt_expr *expr);

#endif
