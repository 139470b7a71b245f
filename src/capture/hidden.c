/* SPDX-License-Identifier: MIT */
/*
 * hidden: addresses of the device inside of what was copied: tables of
 * pointers, lists.  Called by snapshot.c.
 *
 * Of eight bytes nobody says that they are an address.  Most are none by their
 * size; of others the driver is asked, once for each that comes often, and not
 * for ever: it answers in a little less than a microsecond.
 */
#include "capture/library.h"

#include <string.h>

/* Numbers below are whole numbers, those from the end on are reals. */
static const uint64_t lowest = (uint64_t)1 << 32, end = (uint64_t)1 << 47;

/* What the driver said last of a word that is no address. */
static uint64_t *place_of(struct shmt_capture_search *search, uint64_t word)
{
    return &search->none[word * 0x9e3779b97f4a7c15u >> 52];
}

static bool ask(struct shmt_capture_search *search, CUdeviceptr address)
{
    if (address - search->found.base < search->found.size)
        return true;
    if (*place_of(search, address) == address)
        return false;
    if (search->asked >= shmt_capture_setting()->questions) {
        search->over = true;
        return false;
    }
    search->asked++;
    if (shmt_capture_range_of(search->driver, address, &search->found) &&
        search->found.size > 0)
        return true;
    *place_of(search, address) = address;
    return false;
}

bool shmt_capture_search_next(struct shmt_capture_search *search,
                              const unsigned char *bytes, size_t size,
                              size_t *at)
{
    for (; *at + 8 <= size; *at += 8) {
        uint64_t word;

        memcpy(&word, bytes + *at, sizeof word);
        if (word < lowest || word >= end || !ask(search, word))
            continue;
        *at += 8;
        return true;
    }
    return false;
}
