/* SPDX-License-Identifier: MIT */
/*
 * relocate: addresses in what comes from files.  They are those that buffers
 * had in the application; the spec says where each began, and they become
 * those that the buffers have here.  Called by problem.c and input.c.
 */
#include <stdlib.h>
#include <string.h>

#include "bench/state.h"

static int compare_moves(const void *a, const void *b)
{
    const struct shmt_bench_move *one = a, *other = b;

    return (one->begin > other->begin) - (one->begin < other->begin);
}

void shmt_bench_relocate_open(struct shmt_bench *bench)
{
    const struct shmt_kernel *kernel = bench->kernel;

    bench->move_count = 0;
    for (size_t k = 0; k < kernel->argument_count; k++) {
        const struct shmt_argument *one = &kernel->arguments[k];

        if (one->at != 0)
            bench->moves[bench->move_count++] = (struct shmt_bench_move){
                .begin = one->at, .end = one->at + one->at_bytes,
                .now = shmt_buffer_data(&bench->slots[k].actual)};
    }
    qsort(bench->moves, bench->move_count, sizeof *bench->moves,
          compare_moves);
}

/* The buffer that an address leads into; or else the one that it is the end
 * of, as the ends of ranges are; or NULL. */
static const struct shmt_bench_move *find(const struct shmt_bench *bench,
                                          uint64_t address)
{
    size_t from = 0, end = bench->move_count;

    while (from < end) {
        const size_t middle = from + (end - from) / 2;

        if (bench->moves[middle].begin <= address)
            from = middle + 1;
        else
            end = middle;
    }
    return from > 0 && address <= bench->moves[from - 1].end
               ? &bench->moves[from - 1] : NULL;
}

void shmt_bench_relocate(const struct shmt_bench *bench, void *bytes,
                         size_t size)
{
    char *const words = bytes;

    if (bench->move_count == 0)
        return;
    for (size_t at = 0; at + sizeof(uint64_t) <= size; at += sizeof(uint64_t)) {
        const struct shmt_bench_move *move;
        uint64_t word;

        memcpy(&word, words + at, sizeof word);
        move = find(bench, word);
        if (move == NULL)
            continue;
        word = word - move->begin + move->now;
        memcpy(words + at, &word, sizeof word);
    }
}
