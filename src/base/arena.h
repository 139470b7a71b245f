/* SPDX-License-Identifier: MIT */
/*
 * arena: memory that is taken in small pieces and given back all at once.
 * What is read from a file (a spec, a tuning) lives in the arena of its owner.
 * One thread at a time may use an arena.
 */
#ifndef SHMT_BASE_ARENA_H
#define SHMT_BASE_ARENA_H

#include <stdbool.h>
#include <stddef.h>

struct shmt_arena;

/* NULL when there is no memory. */
struct shmt_arena *shmt_arena_new(void);

/* Makes the next chunk at least `bytes` long, for a caller that knows how much
 * it will need.  Pages that are never written cost nothing. */
void shmt_arena_reserve(struct shmt_arena *arena, size_t bytes);

/* Frees the arena and everything in it.  NULL is allowed. */
void shmt_arena_free(struct shmt_arena *arena);

/* Frees everything in the arena but keeps its largest chunk for reuse. */
void shmt_arena_clear(struct shmt_arena *arena);

/* Zeroed memory of count * size bytes, aligned for any type; NULL when there
 * is no memory or the product overflows. */
void *shmt_arena_alloc(struct shmt_arena *arena, size_t count, size_t size);

/* As shmt_arena_alloc, but the `size` bytes are not set to zero. */
void *shmt_arena_alloc_raw(struct shmt_arena *arena, size_t size);

/* A copy of `length` bytes, aligned for any type, and a NUL behind them. */
void *shmt_arena_copy(struct shmt_arena *arena, const void *bytes,
                      size_t length);

/* Whether one of them was NULL, or whoever works with the arena has had no
 * memory elsewhere and said so: for those to whom NULL means something else,
 * too. */
bool shmt_arena_failed(const struct shmt_arena *arena);
void shmt_arena_fail(struct shmt_arena *arena);

#endif
