/* SPDX-License-Identifier: MIT */
/*
 * arena: a chain of chunks, each twice the size of the one before up to a
 * limit; a piece larger than a chunk has one of its own.
 */
#include "base/arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_CHUNK = 4096, LARGEST_CHUNK = 1 << 20 };

struct chunk {
    struct chunk *next;
    size_t used;
    size_t size;
    max_align_t data[];
};

struct shmt_arena {
    struct chunk *chunks;
    size_t next_size;
    bool failed;
};

struct shmt_arena *shmt_arena_new(void)
{
    struct shmt_arena *arena = calloc(1, sizeof *arena);

    if (arena != NULL)
        arena->next_size = FIRST_CHUNK;
    return arena;
}

void shmt_arena_reserve(struct shmt_arena *arena, size_t bytes)
{
    if (bytes > arena->next_size)
        arena->next_size = bytes;
}

void shmt_arena_free(struct shmt_arena *arena)
{
    if (arena == NULL)
        return;
    while (arena->chunks != NULL) {
        struct chunk *next = arena->chunks->next;

        free(arena->chunks);
        arena->chunks = next;
    }
    free(arena);
}

void shmt_arena_clear(struct shmt_arena *arena)
{
    struct chunk *kept = arena->chunks;

    while (arena->chunks != NULL) {
        struct chunk *chunk = arena->chunks;

        arena->chunks = chunk->next;
        if (chunk->size > kept->size) {
            free(kept);
            kept = chunk;
        } else if (chunk != kept) {
            free(chunk);
        }
    }
    if (kept != NULL) {
        kept->next = NULL;
        kept->used = 0;
    }
    arena->chunks = kept;
    arena->failed = false;
}

static struct chunk *add_chunk(struct shmt_arena *arena, size_t bytes)
{
    size_t size = bytes > arena->next_size ? bytes : arena->next_size;
    struct chunk *chunk = malloc(sizeof *chunk + size);

    if (chunk == NULL)
        return NULL;
    chunk->used = 0;
    chunk->size = size;
    chunk->next = arena->chunks;
    arena->chunks = chunk;
    if (arena->next_size < LARGEST_CHUNK)
        arena->next_size *= 2;
    return chunk;
}

void shmt_arena_fail(struct shmt_arena *arena)
{
    arena->failed = true;
}

bool shmt_arena_failed(const struct shmt_arena *arena)
{
    return arena->failed;
}

void *shmt_arena_alloc_raw(struct shmt_arena *arena, size_t size)
{
    const size_t unit = sizeof(max_align_t);
    struct chunk *chunk = arena->chunks;
    size_t bytes;
    void *piece;

    arena->failed |= size > SIZE_MAX / 2 - unit;
    if (size > SIZE_MAX / 2 - unit)
        return NULL;
    bytes = size == 0 ? unit : (size + unit - 1) / unit * unit;
    if (chunk == NULL || chunk->size - chunk->used < bytes)
        chunk = add_chunk(arena, bytes);
    arena->failed |= chunk == NULL;
    if (chunk == NULL)
        return NULL;
    piece = (char *)chunk->data + chunk->used;
    chunk->used += bytes;
    return piece;
}

void *shmt_arena_alloc(struct shmt_arena *arena, size_t count, size_t size)
{
    size_t bytes;
    void *piece;

    if (__builtin_mul_overflow(count, size, &bytes))
        return NULL;
    piece = shmt_arena_alloc_raw(arena, bytes);
    return piece == NULL ? NULL : memset(piece, 0, bytes);
}

void *shmt_arena_copy(struct shmt_arena *arena, const void *bytes,
                      size_t length)
{
    char *copy;

    if (length == SIZE_MAX)
        return NULL;
    copy = shmt_arena_alloc_raw(arena, length + 1);
    if (copy == NULL)
        return NULL;
    if (length > 0)
        memcpy(copy, bytes, length);
    copy[length] = '\0';
    return copy;
}
