/* SPDX-License-Identifier: MIT */
/*
 * arena: memory that is taken in small pieces and given back all at once.
 * What is read from a file (a spec, a tuning) lives in the arena of its
 * owner.  Not for many threads at a time.
 */
#ifndef SHMT_BASE_ARENA_H
#define SHMT_BASE_ARENA_H

#include <stddef.h>

struct shmt_arena;

/* NULL when there is no memory. */
struct shmt_arena *shmt_arena_new(void);

/* The next piece begins a chunk of so many bytes: for those who know what
 * they will need.  Memory that is not written to costs nothing. */
void shmt_arena_expect(struct shmt_arena *arena, size_t bytes);

/* Frees every piece; NULL is allowed. */
void shmt_arena_free(struct shmt_arena *arena);

/* Gives every piece back; the largest chunk stays for the next ones. */
void shmt_arena_clear(struct shmt_arena *arena);

/* Zeroed memory of count * size bytes, aligned for any type; NULL when there
 * is no memory or the product overflows. */
void *shmt_arena_alloc(struct shmt_arena *arena, size_t count, size_t size);

/* Memory for `size` bytes to be written over; else the same. */
void *shmt_arena_room(struct shmt_arena *arena, size_t size);

/* A copy of `length` bytes and a NUL behind them. */
char *shmt_arena_copy(struct shmt_arena *arena, const char *text,
                      size_t length);

#endif
