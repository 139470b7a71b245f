/* SPDX-License-Identifier: MIT */
/*
 * fatbin: walks its entries (format in fatbin.h).
 */
#include "gpu/fatbin.h"

#include "gpu/cubin.h"

enum {
    FATBIN_HEADER = 16, ENTRY_HEADER = 48, COMPRESSED = 0x2000 | 0x8000
};

bool shmt_fatbin_is(struct shmt_bytes binary)
{
    return binary.size >= FATBIN_HEADER &&
           shmt_bytes_number(binary.at, 4) == SHMT_CUBIN_FATBIN;
}

bool shmt_fatbin_next(struct shmt_bytes fatbin, size_t *at,
                      struct shmt_fatbin_entry *out)
{
    struct shmt_bytes all, rest, header;

    if (!shmt_fatbin_is(fatbin) ||
        !shmt_bytes_slice(fatbin, shmt_bytes_number(fatbin.at + 6, 2),
                          shmt_bytes_number(fatbin.at + 8, 8), &all) ||
        *at > all.size || all.size - *at < ENTRY_HEADER)
        return false;
    rest = (struct shmt_bytes){all.at + *at, all.size - *at};
    if (!shmt_bytes_slice(rest, 0, shmt_bytes_number(rest.at + 4, 4),
                          &header) ||
        header.size < ENTRY_HEADER ||
        !shmt_bytes_slice(rest, header.size, shmt_bytes_number(rest.at + 8, 8),
                          &out->image))
        return false;
    out->kind = shmt_bytes_number(header.at, 2);
    out->compressed =
        (shmt_bytes_number(header.at + 40, 8) & COMPRESSED) != 0;
    if (!shmt_bytes_slice(header, shmt_bytes_number(header.at + 32, 4),
                          shmt_bytes_number(header.at + 36, 4), &out->name))
        out->name.size = 0;
    *at += header.size + out->image.size;
    return true;
}
