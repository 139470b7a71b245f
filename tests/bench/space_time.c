/* SPDX-License-Identifier: MIT */
/*
 * space_time: how long our construction of published spaces takes.  For each
 * file one line: name, valid configurations, then milliseconds to read and
 * compile the file, to build the diagram, to list every configuration; bytes
 * of the diagram; nanoseconds for index -> configuration, configuration ->
 * index, all neighbours of one parameter changed, and one draw of a random
 * configuration.  The best of several runs, on the core it runs on.
 *
 *   space_time [--runs N] FILE...
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "exchange/exchange.h"

struct figures {
    uint64_t valid;
    size_t bytes;
    double read_ms, build_ms, list_ms;
    double configuration_ns, index_ns, neighbours_ns, draw_ns;
    double neighbours;            /* of one configuration, on average */
};

static double now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

static uint64_t random_state = 1;

static uint64_t random_below(uint64_t bound)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state % bound;
}

static enum shmtune_status define(const struct shmt_import *import,
                                  struct shmt_space_definition *out,
                                  struct shmt_error *err)
{
    const size_t count = import->parameter_count;
    struct shmt_parameter *parameters =
        shmt_arena_alloc(import->arena, count, sizeof *parameters);
    struct shmt_expr_symbol *symbols =
        shmt_arena_alloc(import->arena, count, sizeof *symbols);
    struct shmt_expr **constraints = shmt_arena_alloc(
        import->arena, import->constraint_count, sizeof *constraints);
    enum shmtune_status status = SHMTUNE_OK;

    if (parameters == NULL || symbols == NULL || constraints == NULL)
        return shmt_error_memory(err);
    for (size_t p = 0; p < count; p++) {
        const struct shmt_import_parameter *from = &import->parameters[p];

        parameters[p] = (struct shmt_parameter){
            .name = from->name, .type = from->type, .count = from->count,
            .values = from->values, .ordered = from->type != SHMT_VALUE_WORD};
        symbols[p] = (struct shmt_expr_symbol){from->name, from->type};
    }
    for (size_t c = 0; c < import->constraint_count && status == SHMTUNE_OK;
         c++)
        status = shmt_expr_compile(
            import->arena,
            (struct shmt_place){.file = import->constraints[c].where},
            import->constraints[c].text,
            &(struct shmt_expr_scope){.count = count, .symbols = symbols},
            &constraints[c], err);
    *out = (struct shmt_space_definition){
        .parameter_count = count, .parameters = parameters,
        .constraint_count = import->constraint_count,
        .constraints = constraints};
    return status;
}

static void walk(const struct shmt_space *space, struct figures *figures)
{
    enum { DRAWS = 200000 };
    static shmt_config configs[DRAWS][SHMT_SPACE_PARAMETERS];
    static uint64_t indices[DRAWS], near[1 << 16];
    const uint64_t valid = figures->valid;
    double start;
    size_t wrong = 0, found = 0;
    uint64_t index;

    for (size_t k = 0; k < DRAWS; k++)
        indices[k] = random_below(valid);
    start = now_ms();
    for (size_t k = 0; k < DRAWS; k++)
        shmt_space_configuration(space, indices[k], configs[k]);
    figures->configuration_ns = (now_ms() - start) * 1e6 / DRAWS;
    start = now_ms();
    for (size_t k = 0; k < DRAWS; k++)
        wrong += !shmt_space_index(space, configs[k], &index) ||
                 index != indices[k];
    figures->index_ns = (now_ms() - start) * 1e6 / DRAWS;
    start = now_ms();
    for (size_t k = 0; k < DRAWS / 8; k++)
        found += shmt_space_neighbours(space, indices[k], SHMT_SPACE_HAMMING,
                                       near, 1 << 16);
    figures->neighbours_ns = (now_ms() - start) * 1e6 / (DRAWS / 8);
    figures->neighbours = (double)found / (DRAWS / 8);
    start = now_ms();
    for (size_t k = 0; k < DRAWS; k++)
        shmt_space_configuration(space, random_below(valid), configs[0]);
    figures->draw_ns = (now_ms() - start) * 1e6 / DRAWS;
    if (wrong > 0) {
        fprintf(stderr, "%zu indices do not come back\n", wrong);
        exit(EXIT_FAILURE);
    }
}

static void list_all(const struct shmt_space *space, struct figures *figures)
{
    const size_t width = shmt_space_parameters(space);
    const size_t most = (size_t)1 << 24;
    const size_t count =
        figures->valid < most ? (size_t)figures->valid : most;
    shmt_config *list = malloc((count * width + 1) * sizeof *list);
    const double start = now_ms();

    if (list == NULL)
        exit(EXIT_FAILURE);
    shmt_space_list(space, 0, count, list);
    figures->list_ms = now_ms() - start;
    free(list);
}

static enum shmtune_status run(const char *path, bool last,
                               struct figures *figures,
                               struct shmt_error *err)
{
    struct shmt_space_definition definition;
    struct shmt_space *space = NULL;
    struct shmt_import *import;
    const double start = now_ms();
    double read;
    enum shmtune_status status = shmt_import_read(path, &import, err);

    if (status != SHMTUNE_OK)
        return status;
    status = define(import, &definition, err);
    read = now_ms();
    if (status == SHMTUNE_OK)
        status = shmt_space_build(&definition, &space, err);
    figures->read_ms = read - start;
    figures->build_ms = now_ms() - read;
    if (status == SHMTUNE_OK) {
        figures->valid = shmt_space_count(space);
        figures->bytes = shmt_space_bytes(space);
        if (figures->valid > 0)
            list_all(space, figures);
        if (last && figures->valid > 0)
            walk(space, figures);
    }
    shmt_space_free(space);
    shmt_import_free(import);
    return status;
}

static double sum(const struct figures *figures)
{
    return figures->read_ms + figures->build_ms + figures->list_ms;
}

int main(int argc, char **argv)
{
    int first = 1, runs = 5;

    if (argc > 2 && strcmp(argv[1], "--runs") == 0) {
        runs = atoi(argv[2]);
        first = 3;
    }
    for (int k = first; k < argc; k++) {
        const char *name = strrchr(argv[k], '/');
        struct figures best = {0}, one = {0};
        struct shmt_error err = {0};

        for (int r = 0; r < runs; r++) {
            if (run(argv[k], r == runs - 1, &one, &err) != SHMTUNE_OK) {
                fprintf(stderr, "%s\n", err.text);
                return EXIT_FAILURE;
            }
            if (r == 0 || sum(&one) < sum(&best))
                best = one;
        }
        printf("%s %llu %.4f %.4f %.4f %zu %.1f %.1f %.1f %.1f %.1f\n",
               name == NULL ? argv[k] : name + 1,
               (unsigned long long)best.valid, best.read_ms, best.build_ms,
               best.list_ms, best.bytes, one.configuration_ns, one.index_ns,
               one.neighbours_ns, one.neighbours, one.draw_ns);
        fflush(stdout);
    }
    return EXIT_SUCCESS;
}
