/* SPDX-License-Identifier: MIT */
/* plan: reads the plan, a thing a line. */
#include "capture/plan.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BINARY = 1 << 28 };

static struct shmt_capture_plan *plans;
static size_t plan_count;

static unsigned char *read_hex(const char *text, size_t *size)
{
    unsigned char *bytes = malloc(strlen(text) / 2 + 1);

    *size = strlen(text) / 2;
    for (size_t k = 0; bytes != NULL && k < *size; k++) {
        const char pair[] = {text[2 * k], text[2 * k + 1], '\0'};

        bytes[k] = (unsigned char)strtoul(pair, NULL, 16);
    }
    return bytes;
}

static bool read_binary(struct shmt_capture_plan *plan, const char *path)
{
    struct shmt_arena *arena = shmt_arena_new();
    const char *data;
    size_t size;

    if (arena != NULL && shmt_path_read(arena, path, MOST_BINARY, &data, &size,
                                        NULL) == SHMTUNE_OK) {
        plan->binary = malloc(size + 1);
        if (plan->binary != NULL)
            memcpy(plan->binary, data, size);
        plan->binary_size = size;
    }
    shmt_arena_free(arena);
    return plan->binary != NULL;
}

/* "parameter HEX [AT]..." */
static bool read_parameter(struct shmt_capture_plan *plan, char *text)
{
    struct shmt_capture_given *one = &plan->parameters[plan->parameter_count];
    char *word = strtok_r(text, " ", &text);

    if (word == NULL || plan->parameter_count == SHMT_CAPTURE_PARAMETERS)
        return false;
    one->bytes = read_hex(word, &one->size);
    while ((word = strtok_r(text, " ", &text)) != NULL &&
           one->pointer_count < 64)
        one->pointers[one->pointer_count++] = strtoul(word, NULL, 10);
    plan->parameter_count++;
    return one->bytes != NULL && word == NULL;
}

static bool read_given(struct shmt_capture_plan *plan, const char *text)
{
    size_t size;
    char *end;
    const unsigned long k = strtoul(text, &end, 10);

    if (k >= plan->parameter_count || *end != ' ')
        return false;
    plan->parameters[k].given = read_hex(end + 1, &size);
    return plan->parameters[k].given != NULL &&
           size == plan->parameters[k].size;
}

/* "number K NAME", "any K NAME" */
static bool read_number(struct shmt_capture_plan *plan, const char *text,
                        bool any)
{
    char *end;
    const unsigned long k = strtoul(text, &end, 10);

    if (k >= plan->parameter_count || *end != ' ')
        return false;
    plan->parameters[k].any = any;
    plan->parameters[k].number = strdup(end + 1);
    return plan->parameters[k].number != NULL;
}

static bool read_line(struct shmt_capture_plan *plan, char *line)
{
    char *text = strchr(line, ' ');

    if (text == NULL)
        return false;
    *text++ = '\0';
    if (strcmp(line, "identity") == 0)
        return sscanf(text, "%64s", plan->identity) == 1;
    if (strcmp(line, "was") == 0)
        return sscanf(text, "%u %u %u %u %u %u %u", &plan->grid[0],
                      &plan->grid[1], &plan->grid[2], &plan->block[0],
                      &plan->block[1], &plan->block[2], &plan->shared) == 7;
    if (strcmp(line, "parameter") == 0)
        return read_parameter(plan, text);
    if (strcmp(line, "give") == 0)
        return read_given(plan, text);
    if (strcmp(line, "number") == 0 || strcmp(line, "any") == 0)
        return read_number(plan, text, line[0] == 'a');
    if (strcmp(line, "device") == 0)
        return sscanf(text, "%d %d %255[^\n]", &plan->major, &plan->minor,
                      plan->device) == 3;
    if (strcmp(line, "binary") == 0)
        return read_binary(plan, text);
    if (strcmp(line, "entry") == 0)
        return snprintf(plan->entry, sizeof plan->entry, "%s", text) > 0;
    if (strcmp(line, "becomes") == 0)
        return sscanf(text, "%u %u %u %u %u %u %u %d", &plan->new_grid[0],
                      &plan->new_grid[1], &plan->new_grid[2],
                      &plan->new_block[0], &plan->new_block[1],
                      &plan->new_block[2], &plan->new_shared,
                      &plan->carveout) == 8;
    return false;
}

static void read_plans(void)
{
    struct shmt_arena *arena = shmt_arena_new();
    const char *path = shmt_capture_setting()->plan, *data;
    char *text = NULL, *line;
    size_t size;
    bool right = true;

    if (path != NULL && arena != NULL &&
        shmt_path_read(arena, path, MOST_BINARY, &data, &size, NULL) ==
            SHMTUNE_OK)
        text = shmt_arena_copy(arena, data, size);
    while (text != NULL && right &&
           (line = strtok_r(text, "\n", &text)) != NULL) {
        if (strncmp(line, "launch ", 7) == 0) {
            struct shmt_capture_plan *made =
                realloc(plans, (plan_count + 1) * sizeof *plans);

            if (made == NULL)
                break;
            plans = made;
            made[plan_count] = (struct shmt_capture_plan){0};
            snprintf(made[plan_count++].symbol, sizeof made->symbol, "%s",
                     line + 7);
        } else {
            right = plan_count > 0 && read_line(&plans[plan_count - 1], line);
        }
    }
    shmt_arena_free(arena);
    if (!right) {
        plan_count = 0;
        shmt_capture_note("the plan cannot be read: nothing is replaced");
    }
}

struct shmt_capture_plan *shmt_capture_plans(size_t *count)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, read_plans);
    *count = plan_count;
    return plans;
}
