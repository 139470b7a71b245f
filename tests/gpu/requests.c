/* SPDX-License-Identifier: MIT */
/*
 * requests VERB COUNT SPEC [DIM=N,...] [KEYS]: request lines for a worker,
 * for COUNT configurations spread evenly over the space (0: all of them).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/kernel.h"

static int usage(void)
{
    fputs("usage: requests inspect|measure COUNT SPEC [DIM=N,...] [KEYS]\n",
          stderr);
    return EXIT_FAILURE;
}

static void read_size(const struct shmt_kernel *kernel, const char *text,
                      int64_t *problem)
{
    for (size_t d = 0; d < kernel->dimension_count; d++) {
        const struct shmt_dimension *dimension = &kernel->dimensions[d];
        const size_t length = strlen(dimension->name);
        const char *at = text;

        problem[d] = dimension->fallback;
        while (at != NULL && *at != '\0') {
            at += *at == ',';
            if (strncmp(at, dimension->name, length) == 0 &&
                at[length] == '=')
                problem[d] = strtoll(at + length + 1, NULL, 10);
            at = strchr(at, ',');
        }
    }
}

static void print(const struct shmt_kernel *kernel, const int64_t *problem,
                  const struct shmt_space *space, uint64_t index)
{
    shmt_choice choice[SHMT_SPACE_PARAMETERS];
    struct shmt_text text = {0};

    shmt_space_configuration(space, index, choice);
    shmt_text_addf(&text, ", tag: %llu, size: ", (unsigned long long)index);
    shmt_kernel_size_write(kernel, problem, &text);
    shmt_text_add(&text, ", config: ");
    shmt_kernel_choice_write(kernel, choice, &text);
    fputs(shmt_text_string(&text), stdout);
    shmt_text_free(&text);
}

int main(int count, char **words)
{
    struct shmt_kernel *kernel = NULL;
    struct shmt_space *space = NULL;
    struct shmt_error err = {0};
    struct shmt_value values[SHMT_KERNEL_DIMENSIONS + SHMT_SPACE_PARAMETERS];
    int64_t problem[SHMT_KERNEL_DIMENSIONS];
    uint64_t wanted, all;
    enum shmtune_status status;

    if (count < 4 || count > 6)
        return usage();
    status = shmt_kernel_read(words[3], &kernel, &err);
    if (status == SHMTUNE_OK) {
        read_size(kernel, count > 4 ? words[4] : "", problem);
        status = shmt_kernel_space(kernel, problem, values, &space, &err);
    }
    if (status != SHMTUNE_OK) {
        fprintf(stderr, "requests: %s\n", err.text);
        shmt_kernel_free(kernel);
        return EXIT_FAILURE;
    }
    all = shmt_space_count(space);
    wanted = strtoull(words[2], NULL, 10);
    if (wanted == 0 || wanted > all)
        wanted = all;
    for (uint64_t k = 0; k < wanted; k++) {
        printf("{verb: %s", words[1]);
        print(kernel, problem, space,
              (uint64_t)((double)k * (double)all / (double)wanted));
        printf("%s}\n", count > 5 ? words[5] : "");
    }
    shmt_space_free(space);
    shmt_kernel_free(kernel);
    return EXIT_SUCCESS;
}
