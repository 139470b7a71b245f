/* SPDX-License-Identifier: MIT */
/*
 * place: the address that a buffer had where its launch was captured, since
 * other buffers hold it: the key `at`, which `shmtune capture` writes.  What
 * was at an address is known from files alone, and is as large as it was.
 */
#include "kernel/read.h"

#include <stdlib.h>
#include <string.h>

/* The host's allocations, which a device may reach, are aligned so: what a
 * kernel reads at once from there it can read here.  Then what may be an
 * address of a device. */
enum { ALIGNMENT = 16 };
static const uint64_t lowest = (uint64_t)1 << 32, behind = (uint64_t)1 << 47;

/* "0x7f0000000200" */
static bool read_address(const char *text, uint64_t *out)
{
    size_t length;

    if (strncmp(text, "0x", 2) != 0)
        return false;
    length = strspn(text + 2, "0123456789abcdef");
    if (length == 0 || length > 16 || text[2 + length] != '\0')
        return false;
    *out = strtoull(text + 2, NULL, 16);
    return true;
}

enum shmtune_status shmt_kernel_place_read(struct shmt_kernel_reader *reader,
                                           const struct shmt_yaml *mapping,
                                           struct shmt_argument *argument)
{
    const struct shmt_yaml *node = shmt_yaml_get(mapping, "at");
    const struct shmt_yaml *count = shmt_yaml_get(mapping, "count");
    const bool result = argument->role == SHMT_ROLE_OUTPUT ||
                        argument->role == SHMT_ROLE_INOUT;
    const uint64_t size = shmt_element_bytes(argument->element);
    uint64_t elements, at;
    const char *const text =
        node->kind == SHMT_YAML_SCALAR ? node->text : "";
    enum shmtune_status status;

    if (!read_address(text, &at) || at % ALIGNMENT != 0 || at < lowest ||
        at >= behind)
        return shmt_yaml_refuse(
            node, reader->err, "\"%.32s\"; an address of the device is "
            "expected that was captured, as 0x7f0000000200: a multiple of %d, "
            "from 0x%llx to below 0x%llx", text, (int)ALIGNMENT,
            (unsigned long long)lowest, (unsigned long long)behind);
    if ((argument->role != SHMT_ROLE_OUTPUT && argument->file.path == NULL) ||
        (result && argument->expect.path == NULL))
        return shmt_yaml_refuse(
            node, reader->err, "%s has an address, and what is at it is not "
            "from a file; give it \"%s: {file: PATH}\", as captures have it",
            argument->name, result && argument->expect.path == NULL
                                ? "expect" : "fill");
    if (argument->zeroed)
        return shmt_yaml_refuse(
            node, reader->err, "%s has an address, and nothing zeroes it "
            "there; leave \"zeroed\" out", argument->name);
    if (count->kind != SHMT_YAML_SCALAR ||
        strspn(count->text, "0123456789") != strlen(count->text))
        return shmt_yaml_refuse(
            count, reader->err, "%s has an address; its count is a number "
            "then, as it was captured", argument->name);
    status = shmt_yaml_count(count, &elements, reader->err);
    if (status != SHMTUNE_OK)
        return status;
    if (elements > (behind - at) / size)
        return shmt_yaml_refuse(
            count, reader->err, "%s ends behind 0x%llx, where addresses of a "
            "device end", argument->name, (unsigned long long)behind);
    argument->at = at;
    argument->at_bytes = elements * size;
    return SHMTUNE_OK;
}

enum shmtune_status shmt_kernel_place_check(struct shmt_kernel_reader *reader,
                                            const struct shmt_yaml *node)
{
    const struct shmt_argument *all = reader->kernel->arguments;

    for (size_t k = 0; k < reader->kernel->argument_count; k++)
        for (size_t i = 0; i < k; i++)
            if (all[i].at != 0 && all[k].at != 0 &&
                all[i].at < all[k].at + all[k].at_bytes &&
                all[k].at < all[i].at + all[i].at_bytes)
                return shmt_yaml_refuse(
                    node->keys[k], reader->err, "%s, %llu bytes at 0x%llx, "
                    "overlaps %s, %llu bytes at 0x%llx", all[k].name,
                    (unsigned long long)all[k].at_bytes,
                    (unsigned long long)all[k].at, all[i].name,
                    (unsigned long long)all[i].at_bytes,
                    (unsigned long long)all[i].at);
    return SHMTUNE_OK;
}
