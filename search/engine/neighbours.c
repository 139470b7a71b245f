/* SPDX-License-Identifier: MIT */
/*
 * neighbours: where a local search can go from a configuration.
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

/* -- two at once ---------------------------------------------------------- */

/* Which values of each parameter are valid with the others of `config`. */
static void find_alone(const struct shmt_space *space, shmt_config *config,
                       bool (*alone)[UINT8_MAX + 1])
{
    for (size_t p = 0; p < shmt_space_parameters(space); p++) {
        const size_t values = shmt_space_parameter(space, p)->count;
        const shmt_config here = config[p];

        for (size_t v = 0; v < values && v <= UINT8_MAX; v++) {
            uint64_t index;

            config[p] = (shmt_config)v;
            alone[p][v] = shmt_space_index(space, config, &index);
        }
        config[p] = here;
    }
}

/* A list with room for some; the others take places in it at random. */
struct sample {
    uint64_t *list;
    size_t room, count;
    uint64_t offered;
    struct shmt_random *random;
};

static void offer(struct sample *sample, uint64_t index)
{
    uint64_t at = sample->count;

    sample->offered++;
    if (sample->count < sample->room)
        sample->count++;
    else
        at = shmt_random_below(sample->random, sample->offered);
    if (at < sample->room)
        sample->list[at] = index;
}

/* Those with the value that `p` has in `config`, and one other that is
 * another.  Where neither value is valid alone, the pair is found from the
 * first of them. */
static void offer_pairs(const struct shmt_space *space, shmt_config *config,
                        size_t p, bool (*alone)[UINT8_MAX + 1],
                        struct sample *sample)
{
    for (size_t q = 0; q < shmt_space_parameters(space); q++) {
        const size_t values = shmt_space_parameter(space, q)->count;
        const shmt_config here = config[q];

        for (size_t v = 0; q != p && v < values && v <= UINT8_MAX; v++) {
            uint64_t index;

            config[q] = (shmt_config)v;
            if (v != here && (q > p || alone[q][v]) &&
                shmt_space_index(space, config, &index))
                offer(sample, index);
        }
        config[q] = here;
    }
}

size_t shmt_neighbours_pairs(const struct shmt_space *space, uint64_t from,
                             uint64_t *out, size_t room,
                             struct shmt_random *random)
{
    struct sample sample = {.list = out, .room = room, .random = random};
    bool alone[SHMT_SPACE_PARAMETERS][UINT8_MAX + 1];
    shmt_config config[SHMT_SPACE_PARAMETERS];

    shmt_space_configuration(space, from, config);
    find_alone(space, config, alone);
    for (size_t p = 0; p < shmt_space_parameters(space); p++) {
        const size_t values = shmt_space_parameter(space, p)->count;
        const shmt_config here = config[p];

        for (size_t v = 0; v < values && v <= UINT8_MAX; v++) {
            config[p] = (shmt_config)v;
            if (!alone[p][v])
                offer_pairs(space, config, p, alone, &sample);
        }
        config[p] = here;
    }
    return sample.count;
}
