/* SPDX-License-Identifier: MIT */
/*
 * requests VERB COUNT SPEC [DIM=N,...] [SAMPLES]: request lines for a worker,
 * for COUNT configurations spread evenly over the space (0: all of them).
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/kernel.h"
#include "target/target.h"

static int usage(void)
{
    fputs("usage: requests inspect|measure COUNT SPEC [DIM=N,...] [SAMPLES]\n",
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

        problem[d] = dimension->default_size;
        while (at != NULL && *at != '\0') {
            at += *at == ',';
            if (strncmp(at, dimension->name, length) == 0 &&
                at[length] == '=')
                problem[d] = strtoll(at + length + 1, NULL, 10);
            at = strchr(at, ',');
        }
    }
}

static void print(const struct shmt_kernel *kernel,
                  const struct shmt_wire_request *request)
{
    struct shmt_text text = {0};

    shmt_wire_write_request(kernel, request, &text);
    puts(shmt_text_string(&text));
    shmt_text_free(&text);
}

int main(int count, char **words)
{
    struct shmt_kernel *kernel = NULL;
    struct shmt_space *space = NULL;
    struct shmt_error err = {0};
    struct shmt_wire_request request = {
        .samples = 7, .verify = true, .give_up_us = (double)INFINITY};
    uint64_t wanted, all;
    enum shmtune_status status;

    if (count < 4 || count > 6)
        return usage();
    status = shmt_kernel_read(words[3], &kernel, &err);
    if (status == SHMTUNE_OK) {
        read_size(kernel, count > 4 ? words[4] : "", request.problem);
        status = shmt_kernel_space(kernel, request.problem, NULL, &space, &err);
    }
    if (status != SHMTUNE_OK) {
        fprintf(stderr, "requests: %s\n", err.text);
        shmt_kernel_free(kernel);
        return EXIT_FAILURE;
    }
    request.verb = strcmp(words[1], "measure") == 0 ? SHMT_TARGET_MEASURE
                                                    : SHMT_TARGET_INSPECT;
    if (count > 5)
        request.samples = atoi(words[5]);
    all = shmt_space_count(space);
    wanted = strtoull(words[2], NULL, 10);
    if (wanted == 0 || wanted > all)
        wanted = all;
    for (uint64_t k = 0; k < wanted; k++) {
        request.tag = (uint64_t)((double)k * (double)all / (double)wanted);
        shmt_space_configuration(space, request.tag, request.config);
        print(kernel, &request);
    }
    shmt_space_free(space);
    shmt_kernel_free(kernel);
    return EXIT_SUCCESS;
}
