/* SPDX-License-Identifier: MIT */
/*
 * neighbours: the moves of a local search: which configurations it can reach
 * from one.  For strategies.
 */
#ifndef SHMT_ENGINE_NEIGHBOURS_H
#define SHMT_ENGINE_NEIGHBOURS_H

#include "base/base.h"
#include "space/space.h"

/* Room that is enough for any list. */
size_t shmt_neighbours_room(const struct shmt_space *space);

/* Lists the valid configurations that differ from `from` in one parameter.  In
 * addition, for each value of an unordered parameter that is not valid with
 * the other values of `from`, the nearest valid configuration with that value.
 * Returns their number. */
size_t shmt_neighbours_list(const struct shmt_space *space, uint64_t from,
                            uint64_t *out, size_t room);

/* Lists valid configurations that differ from `from` in two parameters, of
 * which one has a value that is not valid with the other values of `from`: at
 * random, where there are more than `room`.  Returns their number. */
size_t shmt_neighbours_pairs(const struct shmt_space *space, uint64_t from,
                             uint64_t *out, size_t room,
                             struct shmt_random *random);

#endif
