/* SPDX-License-Identifier: MIT */
/*
 * space_fixture: makes spaces from short texts for tests, and random numbers
 * that repeat.
 */
#include "tests/support/space_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

struct shmt_arena *arena;
struct shmt_error err;

uint64_t random_state = 20261121;

uint64_t random_next(void)
{
    uint64_t z = random_state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

size_t below(size_t bound)
{
    return (size_t)(random_next() % bound);
}

void add_parameter(struct made *made, const char *text)
{
    const char *equals = strchr(text, '=');
    struct shmt_parameter *p =
        &made->parameters[made->definition.parameter_count++];
    struct shmt_value *values =
        shmt_arena_alloc(arena, strlen(text), sizeof *values);
    const char *at = equals + 1;

    p->name = shmt_arena_copy(arena, text, (size_t)(equals - text));
    p->values = values;
    p->ordered = true;
    while (*at != '\0') {
        const size_t length = strcspn(at, ",");
        char *item = shmt_arena_copy(arena, at, length);
        struct shmt_value *value = &values[p->count++];

        if (strpbrk(item, "0123456789") == NULL)
            *value = (struct shmt_value){.type = SHMT_VALUE_WORD, .w = item};
        else if (strchr(item, '.') != NULL)
            *value = (struct shmt_value){.type = SHMT_VALUE_REAL,
                                         .r = strtod(item, NULL)};
        else
            *value = (struct shmt_value){.type = SHMT_VALUE_INT,
                                         .i = strtoll(item, NULL, 10)};
        p->type = value->type;
        p->ordered = value->type != SHMT_VALUE_WORD;
        at += length + (at[length] == ',');
    }
    made->symbols[made->scope.count].name = p->name;
    made->symbols[made->scope.count++].type = p->type;
}

void add_alike(struct made *made, int count, const char *values)
{
    struct shmt_text text = {0};

    for (int p = 0; p < count; p++) {
        shmt_text_clear(&text);
        shmt_text_addf(&text, "p%d=%s", p, values);
        add_parameter(made, shmt_text_string(&text));
    }
    shmt_text_free(&text);
}

void begin(struct made *made)
{
    *made = (struct made){.fixed = {.type = SHMT_VALUE_INT, .i = 24}};
    made->definition.parameters = made->parameters;
    made->definition.constraints = made->constraints;
    made->definition.fixed_count = 1;
    made->definition.fixed = &made->fixed;
    made->symbols[0] = (struct shmt_expr_symbol){"n", SHMT_VALUE_INT};
    made->scope =
        (struct shmt_expr_scope){.count = 1, .symbols = made->symbols};
}

bool add_constraint(struct made *made, const char *text)
{
    const struct shmt_place place = {
        "space.yaml", (int)made->definition.constraint_count + 1, 3, 0};

    if (shmt_expr_compile(arena, place, text, &made->scope,
                          &made->constraints[made->definition
                                                 .constraint_count],
                          &err) != SHMTUNE_OK)
        return false;
    made->definition.constraint_count++;
    return true;
}

void make(struct made *made, const char *const *texts)
{
    begin(made);
    for (; *texts != NULL; texts++)
        add_parameter(made, *texts);
    for (texts++; *texts != NULL; texts++)
        if (!add_constraint(made, *texts)) {
            printf("Bail out! %s\n", err.text);
            exit(EXIT_FAILURE);
        }
}

int judge(const struct made *made, const shmt_config *config)
{
    const struct shmt_space_definition *d = &made->definition;
    struct shmt_value values[SHMT_SPACE_PARAMETERS + 1];
    bool fault = false, truth;

    values[0] = made->fixed;
    for (size_t p = 0; p < d->parameter_count; p++)
        values[1 + p] = d->parameters[p].values[config[p]];
    for (size_t c = 0; c < d->constraint_count; c++) {
        if (shmt_expr_eval_bool(d->constraints[c], values, &truth, NULL) !=
            SHMTUNE_OK)
            fault = true;
        else if (!truth)
            return 0;
    }
    return fault ? -1 : 1;
}
