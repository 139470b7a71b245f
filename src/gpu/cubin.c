/* SPDX-License-Identifier: MIT */
/*
 * cubin: reads the parameters of a kernel from the section .nv.info of its
 * binary, an ELF file (format in cubin.h).  Every offset is checked: the
 * binary is not trusted.
 */
#include "gpu/cubin.h"

#include <elf.h>
#include <string.h>

static const char prefix[] = ".nv.info.";

enum {
    FORM_NONE = 1, FORM_BYTE = 2, FORM_HALF = 3, FORM_SIZED = 4,
    PARAM = 0x17, PARAM_BYTES = 12, PARAM_SIZE_SHIFT = 18,
    PARAM_V2 = 0x45,
    PARAM_SUM = 0x19
};

struct bytes {
    const unsigned char *at;
    size_t size;
};

/* What the attributes read so far say. */
struct findings {
    struct shmt_cubin_params params;
    bool seen[SHMT_CUBIN_PARAMS];
    size_t last;               /* the largest ordinal */
    uint32_t end;              /* where the last parameter ends */
    bool summed;
    uint32_t sum;
};

static uint32_t u16_at(const unsigned char *at)
{
    return at[0] | (uint32_t)at[1] << 8;
}

static uint32_t u32_at(const unsigned char *at)
{
    return u16_at(at) | u16_at(at + 2) << 16;
}

static bool slice(struct bytes whole, uint64_t offset, uint64_t size,
                  struct bytes *out)
{
    if (offset > whole.size || size > whole.size - offset)
        return false;
    *out = (struct bytes){whole.at + offset, (size_t)size};
    return true;
}

/* -- the file ------------------------------------------------------------- */

static bool header_of(struct bytes file, Elf64_Ehdr *out)
{
    if (file.size < sizeof *out)
        return false;
    memcpy(out, file.at, sizeof *out);
    return memcmp(out->e_ident, ELFMAG, SELFMAG) == 0 &&
           out->e_ident[EI_CLASS] == ELFCLASS64 &&
           out->e_ident[EI_DATA] == ELFDATA2LSB &&
           out->e_machine == EM_CUDA &&
           out->e_shentsize == sizeof(Elf64_Shdr);
}

/* Section k, which the header has. */
static bool section_at(struct bytes table, size_t k, Elf64_Shdr *out)
{
    struct bytes entry;

    if (!slice(table, k * sizeof *out, sizeof *out, &entry))
        return false;
    memcpy(out, entry.at, sizeof *out);
    return true;
}

/* Is the text at `offset` of `names` the prefix and `symbol`? */
static bool is_named(struct bytes names, uint64_t offset, const char *symbol)
{
    const size_t before = sizeof prefix - 1, length = strlen(symbol) + 1;
    struct bytes name;

    return slice(names, offset, before + length, &name) &&
           memcmp(name.at, prefix, before) == 0 &&
           memcmp(name.at + before, symbol, length) == 0;
}

static bool find_section(struct bytes file, const char *symbol,
                         struct bytes *out)
{
    struct bytes table, names;
    Elf64_Ehdr header;
    Elf64_Shdr section;

    if (!header_of(file, &header) ||
        !slice(file, header.e_shoff,
               (uint64_t)header.e_shnum * sizeof section, &table) ||
        !section_at(table, header.e_shstrndx, &section) ||
        !slice(file, section.sh_offset, section.sh_size, &names))
        return false;
    for (size_t k = 0; section_at(table, k, &section); k++)
        if (is_named(names, section.sh_name, symbol))
            return section.sh_type != SHT_NOBITS &&
                   slice(file, section.sh_offset, section.sh_size, out);
    return false;
}

/* -- the attributes ------------------------------------------------------- */

static bool read_param(struct bytes payload, bool second,
                       struct findings *findings)
{
    uint32_t ordinal, offset, size;

    if (payload.size != PARAM_BYTES)
        return false;
    ordinal = u16_at(payload.at + 4);
    offset = u16_at(payload.at + 6);
    size = second ? u16_at(payload.at + 8)
                  : u32_at(payload.at + 8) >> PARAM_SIZE_SHIFT;
    if (ordinal >= SHMT_CUBIN_PARAMS || findings->seen[ordinal] || size == 0)
        return false;
    findings->seen[ordinal] = true;
    findings->params.sizes[ordinal] = size;
    findings->params.count++;
    if (ordinal > findings->last)
        findings->last = ordinal;
    if (offset + size > findings->end)
        findings->end = offset + size;
    return true;
}

/* One attribute; *rest is what comes after it. */
static bool read_attribute(struct bytes list, struct findings *findings,
                           struct bytes *rest)
{
    struct bytes payload = {list.at, 0};
    uint32_t value;
    bool good = true;

    if (list.size < 4)
        return false;
    value = u16_at(list.at + 2);
    if (list.at[0] == FORM_SIZED) {
        if (!slice(list, 4, value, &payload))
            return false;
        if (list.at[1] == PARAM || list.at[1] == PARAM_V2)
            good = read_param(payload, list.at[1] == PARAM_V2, findings);
    } else if (list.at[0] < FORM_NONE || list.at[0] > FORM_SIZED) {
        return false;
    } else if (list.at[0] == FORM_HALF && list.at[1] == PARAM_SUM) {
        findings->summed = true;
        findings->sum = value;
    }
    return good && slice(list, 4 + payload.size,
                         list.size - 4 - payload.size, rest);
}

bool shmt_cubin_read_params(const void *cubin, size_t size, const char *symbol,
                            struct shmt_cubin_params *out)
{
    struct findings findings = {0};
    struct bytes list;

    if (!find_section((struct bytes){cubin, size}, symbol, &list))
        return false;
    while (list.size > 0)
        if (!read_attribute(list, &findings, &list))
            return false;
    if (findings.params.count == 0 ||
        findings.last + 1 != findings.params.count || !findings.summed ||
        findings.sum != findings.end)
        return false;
    *out = findings.params;
    return true;
}
