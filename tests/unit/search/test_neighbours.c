/* SPDX-License-Identifier: MIT */
/*
 * around: local searches get from one algorithm to another where that takes
 * several parameters at once, and every step is there once.
 */
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

int main(void)
{
    struct made made;

    arena = shmt_arena_new();
    make(&made, texts);
    if (shmt_space_build(&made.definition, &space, &err) != SHMTUNE_OK)
        return 1;
    CHECK_RUN(leaps_keep_what_they_can);
    CHECK_RUN(every_step_is_another_one);
    shmt_space_free(space);
    shmt_arena_free(arena);
    return CHECK_END();
}
