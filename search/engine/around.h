/* SPDX-License-Identifier: MIT */
/*
 * around: where a local search can go from a configuration.  For strategies.
 */
#ifndef SHMT_ENGINE_AROUND_H
#define SHMT_ENGINE_AROUND_H

#include "space/space.h"

/* Room that is enough for any list. */
size_t shmt_around_room(const struct shmt_space *space);

/* The configurations that differ from `from` in one parameter, and for each
 * value of an unordered one that the others do not allow the nearest that has
 * it.  Returns how many. */
size_t shmt_around_list(const struct shmt_space *space, uint64_t from,
                        uint64_t *out, size_t room);

#endif
