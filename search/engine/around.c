/* SPDX-License-Identifier: MIT */
/*
 * around: where a local search can go from a configuration.
 */
#include "search/engine/around.h"

static bool listed(const uint64_t *list, size_t count, uint64_t index)
{
    for (size_t k = 0; k < count; k++)
        if (list[k] == index)
            return true;
    return false;
}

/* A word that changes the algorithm often needs others to change with it:
 * nothing that differs in one parameter leads there.  Such a step takes what
 * is nearest. */
static size_t leaps(const struct shmt_space *space, uint64_t from,
                    uint64_t *out, size_t room)
{
    const size_t parameters = shmt_space_parameters(space);
    shmt_choice choice[SHMT_SPACE_PARAMETERS];
    size_t count = 0;

    shmt_space_configuration(space, from, choice);
    for (size_t p = 0; p < parameters; p++) {
        const struct shmt_parameter *parameter =
            shmt_space_parameter(space, p);
        const shmt_choice here = choice[p];

        if (parameter->ordered)
            continue;
        for (size_t v = 0; v < parameter->count; v++) {
            uint64_t index;
            shmt_choice there[SHMT_SPACE_PARAMETERS];

            choice[p] = (shmt_choice)v;
            if (v == here || shmt_space_index(space, choice, &index))
                continue;
            index = shmt_space_nearest(space, choice);
            shmt_space_configuration(space, index, there);
            if (there[p] == v && count < room && !listed(out, count, index))
                out[count++] = index;
        }
        choice[p] = here;
    }
    return count;
}

size_t shmt_around_room(const struct shmt_space *space)
{
    size_t room = 1;

    for (size_t p = 0; p < shmt_space_parameters(space); p++)
        room += shmt_space_parameter(space, p)->count;
    return room;
}

size_t shmt_around_list(const struct shmt_space *space, uint64_t from,
                        uint64_t *out, size_t room)
{
    const size_t count =
        shmt_space_neighbours(space, from, SHMT_NEIGHBOUR_ANY, out, room);

    return count + leaps(space, from, out + count, room - count);
}
