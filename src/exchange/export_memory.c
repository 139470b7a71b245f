/* SPDX-License-Identifier: MIT */
/*
 * export_memory: tells whether a document of jansson may lack members.  Its
 * callers hand values on without looking, because it accepts NULL for any of
 * them; so its allocations pass here, and one that failed is remembered until
 * the next document begins.  Called by export.c, and by commands for --json.
 */
#include "exchange/exchange.h"

#include <jansson.h>
#include <stdlib.h>

static bool failed;

static void *allocate(size_t size)
{
    void *const piece = malloc(size);

    failed |= piece == NULL;
    return piece;
}

void shmt_export_memory_watch(void)
{
    json_set_alloc_funcs(allocate, free);
    failed = false;
}

bool shmt_export_memory_failed(void)
{
    return failed;
}
