/* SPDX-License-Identifier: MIT */
/*
 * around: where a local search can go from a configuration.
 */
#include "search/engine/neighbours.h"

static bool listed(const uint64_t *list, size_t count, uint64_t index)
{
    for (size_t k = 0; k < count; k++)
        if (list[k] == index)
            return true;
    return false;
}

/* A parameter of words often selects an algorithm, and other parameters must
 * change with it: no configuration that differs in one parameter leads there.
 * Such a step goes to the nearest valid configuration. */
static size_t forced_steps(const struct shmt_space *space, uint64_t from,
                           uint64_t *out, size_t room)
{
    const size_t parameters = shmt_space_parameters(space);
    shmt_config config[SHMT_SPACE_PARAMETERS];
    size_t count = 0;

    shmt_space_configuration(space, from, config);
    for (size_t p = 0; p < parameters; p++) {
        const struct shmt_parameter *parameter =
            shmt_space_parameter(space, p);
        const shmt_config here = config[p];

        if (parameter->ordered)
            continue;
        for (size_t v = 0; v < parameter->count; v++) {
            uint64_t index;
            shmt_config there[SHMT_SPACE_PARAMETERS];

            config[p] = (shmt_config)v;
            if (v == here || shmt_space_index(space, config, &index))
                continue;
            index = shmt_space_nearest(space, config);
            shmt_space_configuration(space, index, there);
            if (there[p] == v && count < room && !listed(out, count, index))
                out[count++] = index;
        }
        config[p] = here;
    }
    return count;
}

size_t shmt_neighbours_room(const struct shmt_space *space)
{
    size_t room = 1;

    for (size_t p = 0; p < shmt_space_parameters(space); p++)
        room += shmt_space_parameter(space, p)->count;
    return room;
}

size_t shmt_neighbours_list(const struct shmt_space *space, uint64_t from,
                            uint64_t *out, size_t room)
{
    const size_t count =
        shmt_space_neighbours(space, from, SHMT_SPACE_HAMMING, out, room);

    return count + forced_steps(space, from, out + count, room - count);
}
