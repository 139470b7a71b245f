/* SPDX-License-Identifier: MIT */
/*
 * hostile: what happens to a good file on its way to a reader: cut short at
 * every byte, bits flipped, pieces of it repeated, swapped or replaced by
 * what readers stumble over.  The same on every run.  Each damaged copy lies
 * in memory of just its size, so that ASan sees a read past its end.
 */
#ifndef SHMT_TESTS_HOSTILE_H
#define SHMT_TESTS_HOSTILE_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef void hostile_reader(const char *data, size_t size);

static inline uint64_t hostile_random(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static inline void hostile_feed(hostile_reader *reader, const char *data,
                                size_t size)
{
    char *copy = malloc(size == 0 ? 1 : size);

    if (copy == NULL)
        abort();
    if (size > 0)
        memcpy(copy, data, size);
    reader(copy, size);
    free(copy);
}

static inline void hostile_cuts(hostile_reader *reader, const char *data,
                                size_t size)
{
    for (size_t length = 0; length < size; length++)
        hostile_feed(reader, data, length);
}

/* `rounds` copies with 1 to 8 bits flipped. */
static inline void hostile_flips(hostile_reader *reader, const char *data,
                                 size_t size, int rounds)
{
    uint64_t state = 1;
    char *copy = malloc(size == 0 ? 1 : size);

    if (copy == NULL)
        abort();
    for (int round = 0; size > 0 && round < rounds; round++) {
        memcpy(copy, data, size);
        for (uint64_t k = hostile_random(&state) % 8 + 1; k > 0; k--) {
            const uint64_t bit = hostile_random(&state) % (8 * size);

            copy[bit / 8] = (char)(copy[bit / 8] ^ 1 << bit % 8);
        }
        hostile_feed(reader, copy, size);
    }
    free(copy);
}

/* `rounds` copies in which a stretch gave way to a piece from elsewhere in
 * the text or to a token that readers stumble over. */
static inline void hostile_splices(hostile_reader *reader, const char *data,
                                   size_t size, int rounds)
{
    static const char *const tokens[] = {
        "", "\n", " ", "\t", ":", ": ", "- ", "? ", "[", "]", "{", "}", ",",
        "#", "'", "\"", "\\", "|", ">", "&a ", "*a", "! ", "!!int ", "%YAML",
        "---\n", "...\n", "<<: ", "~", "null", "true", "0", "-1", "-0",
        "9223372036854775808", "-9223372036854775809", "1e999", ".nan",
        "0x", "1.5", "1e-400", "\"\\0\"", "\xff", "\xc3\xa9", "\r", "\"\"",
        "{}", "[]", "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
        "99999999999999999999999999999999999999999999",
        "verylongwordverylongwordverylongwordverylongwordverylongwordvery"
    };
    enum { TOKENS = sizeof tokens / sizeof tokens[0] };
    uint64_t state = 2;
    char *copy = malloc(2 * size + 128);

    if (copy == NULL)
        abort();
    for (int round = 0; size > 0 && round < rounds; round++) {
        const size_t at = hostile_random(&state) % size;
        size_t gone = hostile_random(&state) % 24, length;
        const char *piece;

        if (gone > size - at)
            gone = size - at;
        if (hostile_random(&state) % 4 == 0) {
            const size_t from = hostile_random(&state) % size;

            piece = data + from;
            length = hostile_random(&state) % (size - from) % 200;
        } else {
            piece = tokens[hostile_random(&state) % TOKENS];
            length = strlen(piece);
        }
        memcpy(copy, data, at);
        memcpy(copy + at, piece, length);
        memcpy(copy + at + length, data + at + gone, size - at - gone);
        hostile_feed(reader, copy, size - gone + length);
    }
    free(copy);
}

#endif
