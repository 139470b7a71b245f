/* SPDX-License-Identifier: MIT */
/* command: see command.h. */
#include "target/command.h"

#include <stdio.h>

#include "target/wire.h"

enum { MOST = 24, SEED_TEXT = 24 };

static size_t add(const char **argv, size_t count, const char *const *words)
{
    while (*words != NULL)
        argv[count++] = *words++;
    argv[count] = NULL;
    return count;
}

const char *const *
shmt_target_command(struct shmt_arena *arena,
                    const struct shmt_live_options *options,
                    const struct shmt_target_words *words)
{
    const char **const argv = shmt_arena_alloc(arena, MOST, sizeof *argv);
    char *const seed = shmt_arena_alloc(arena, 1, SEED_TEXT);
    const bool measures = words->arch == NULL;
    const bool far = measures && options->on != NULL;
    size_t count;

    if (argv == NULL || seed == NULL)
        return NULL;
    snprintf(seed, SEED_TEXT, "%llu", (unsigned long long)options->data_seed);
    /* A fake worker is one on the far side. */
    count = add(argv, 0, (const char *const[]){
        far ? words->own_path : options->worker, "worker", "--spec",
        words->spec, "--images", words->images, "--data-seed", seed,
        "--data-digest", options->data_digest,
        measures ? "--device" : "--arch",
        measures ? options->device : words->arch, NULL});
    if (measures && options->seen)
        count = add(argv, count, (const char *const[]){"--alone", NULL});
    if (options->warm)
        count = add(argv, count, (const char *const[]){"--warm", NULL});
    if (far)
        add(argv, count, (const char *const[]){
            "--on", options->on, "--far-program", options->far_program,
            "--far-timeout", options->far_timeout, NULL});
    return argv;
}

const char *shmt_target_serve(struct shmt_arena *arena,
                              const struct shmt_target_words *words)
{
    struct shmt_text line = {0};

    shmt_wire_write_serve(words->spec, words->arch, &line);
    return shmt_text_keep(&line, arena);
}
