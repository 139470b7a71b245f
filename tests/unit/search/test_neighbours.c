/* SPDX-License-Identifier: MIT */
/*
 * neighbours: local searches get from one algorithm to another where that takes
 * several parameters at once, and every step is there once.
 */
#include <string.h>

#include "search/engine/neighbours.h"
#include "tests/support/check.h"
#include "tests/support/space_fixture.h"

/* `kind` says which of the others may be what, and one of it is nowhere; a gap
 * is left at y = 2. */
static const char *const texts[] = {
    "x=1,2,3", "kind=plain,ahead,never", "y=1,2,3,4", "blocks=0,132,264", NULL,
    "(kind == 'ahead') == (blocks > 0)", "kind == 'plain' or y == 4",
    "y != 2 or x == 1", "kind != 'never'", NULL};
enum { X, KIND, Y, BLOCKS };

static struct shmt_space *space;

static uint64_t index_of(const shmt_config config[4])
{
    uint64_t index = UINT64_MAX;

    CHECK(shmt_space_index(space, config, &index));
    return index;
}

static size_t index_count(const uint64_t *list, size_t count, uint64_t index)
{
    size_t found = 0;

    for (size_t k = 0; k < count; k++)
        found += list[k] == index;
    return found;
}

static void leaps_keep_what_they_can(void)
{
    static const shmt_config plain[4] = {[X] = 2, [KIND] = 0, [Y] = 3};
    uint64_t list[16];
    const size_t room = shmt_neighbours_room(space);
    const size_t count =
        shmt_neighbours_list(space, index_of(plain), list, room);
    size_t leaps = 0;

    CHECK(room <= sizeof list / sizeof *list && count <= room);
    for (size_t k = 0; k < count; k++) {
        shmt_config config[4];

        shmt_space_configuration(space, list[k], config);
        if (config[KIND] == 1) {
            leaps++;
            CHECK_INT(config[X], 2);
            CHECK_INT(config[Y], 3);
            CHECK(config[BLOCKS] > 0);
        }
    }
    CHECK_INT(leaps, 1);
    CHECK_INT(count, 2 + 2 + 1);
}

static void every_step_is_another_one(void)
{
    uint64_t list[16];
    const size_t room = shmt_neighbours_room(space);

    for (uint64_t from = 0; from < shmt_space_count(space); from++) {
        const size_t count = shmt_neighbours_list(space, from, list, room);

        shmt_config here[4];

        shmt_space_configuration(space, from, here);
        CHECK(count > 0 && count <= room);
        for (size_t k = 0; k < count; k++) {
            shmt_config there[4];
            size_t differ = 0;

            /* One parameter, or another kind and what that takes. */
            shmt_space_configuration(space, list[k], there);
            for (size_t p = 0; p < 4; p++)
                differ += there[p] != here[p];
            CHECK(differ == 1 || there[KIND] != here[KIND]);
            CHECK(list[k] < shmt_space_count(space) && list[k] != from);
            for (size_t j = 0; j < k; j++)
                CHECK(list[j] != list[k]);
        }
    }
}

/* Pairs of values, of which one is not valid alone: all of them, each once, as
 * found by looking at every configuration; and at random where there is less
 * room. */
static void pairs_lead_where_no_step_does(void)
{
    struct shmt_random random;
    size_t all = 0;

    shmt_random_seed(&random, 1);
    for (uint64_t from = 0; from < shmt_space_count(space); from++) {
        uint64_t list[64];
        const size_t count =
            shmt_neighbours_pairs(space, from, list, 64, &random);
        shmt_config here[4], there[4];
        size_t expected = 0;

        shmt_space_configuration(space, from, here);
        for (uint64_t to = 0; to < shmt_space_count(space); to++) {
            size_t differ = 0, alone = 0;

            shmt_space_configuration(space, to, there);
            for (size_t p = 0; p < 4; p++) {
                shmt_config step[4];
                uint64_t index;

                memcpy(step, here, sizeof step);
                step[p] = there[p];
                differ += there[p] != here[p];
                alone += there[p] != here[p] &&
                         shmt_space_index(space, step, &index);
            }
            if (differ != 2 || alone == 2)
                continue;
            expected++;
            CHECK_INT(index_count(list, count, to), 1);
        }
        CHECK_INT(count, expected);
        CHECK_INT(shmt_neighbours_pairs(space, from, list, 1, &random),
                  expected > 0);
        all += expected;
    }
    printf("# %zu pairs\n", all);
    CHECK(all > 0);
}

int main(void)
{
    struct made made;

    arena = shmt_arena_new();
    make(&made, texts);
    if (shmt_space_build(&made.definition, &space, &err) != SHMTUNE_OK)
        return 1;
    CHECK_RUN(leaps_keep_what_they_can);
    CHECK_RUN(every_step_is_another_one);
    CHECK_RUN(pairs_lead_where_no_step_does);
    shmt_space_free(space);
    shmt_arena_free(arena);
    return CHECK_END();
}
