/* SPDX-License-Identifier: MIT */
/*
 * cubin: reads the parameters of a kernel from the section .nv.info of its
 * binary, an ELF file (format in cubin.h), and from its table of symbols the
 * variables of the source.  Every offset is checked: the binary is not
 * trusted.
 */
#include "gpu/cubin.h"

#include <elf.h>
#include <string.h>

#include "gpu/bytes.h"

static const char info[] = ".nv.info.", shared[] = ".nv.shared.";

/* What the system keeps for itself, of GPUs where a section says so. */
enum { RESERVED_BYTES = 1024 };

enum {
    FORM_NONE = 1, FORM_BYTE = 2, FORM_HALF = 3, FORM_SIZED = 4,
    PARAM = 0x17, PARAM_BYTES = 12, PARAM_SIZE_SHIFT = 18,
    PARAM_V2 = 0x45,
    PARAM_SUM = 0x19
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

/* -- the file ------------------------------------------------------------- */

static bool header_of(struct shmt_bytes file, Elf64_Ehdr *out)
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
static bool section_at(struct shmt_bytes table, size_t k, Elf64_Shdr *out)
{
    struct shmt_bytes entry;

    if (!shmt_bytes_slice(table, k * sizeof *out, sizeof *out, &entry))
        return false;
    memcpy(out, entry.at, sizeof *out);
    return true;
}

/* Is the text at `offset` of `names` the prefix and `symbol`? */
static bool is_named(struct shmt_bytes names, uint64_t offset,
                     const char *prefix, const char *symbol)
{
    const size_t before = strlen(prefix), length = strlen(symbol) + 1;
    struct shmt_bytes name;

    return shmt_bytes_slice(names, offset, before + length, &name) &&
           memcmp(name.at, prefix, before) == 0 &&
           memcmp(name.at + before, symbol, length) == 0;
}

/* The table of sections, and their names. */
static bool open_sections(struct shmt_bytes file, struct shmt_bytes *table,
                          struct shmt_bytes *names)
{
    Elf64_Ehdr header;
    Elf64_Shdr section;

    return header_of(file, &header) &&
           shmt_bytes_slice(file, header.e_shoff,
                 (uint64_t)header.e_shnum * sizeof section, table) &&
           section_at(*table, header.e_shstrndx, &section) &&
           shmt_bytes_slice(file, section.sh_offset, section.sh_size, names);
}

static bool find_header(struct shmt_bytes file, const char *prefix,
                        const char *symbol, Elf64_Shdr *out)
{
    struct shmt_bytes table, names;

    if (!open_sections(file, &table, &names))
        return false;
    for (size_t k = 0; section_at(table, k, out); k++)
        if (is_named(names, out->sh_name, prefix, symbol))
            return true;
    return false;
}

static bool find_section(struct shmt_bytes file, const char *prefix,
                         const char *symbol, struct shmt_bytes *out)
{
    Elf64_Shdr section;

    return find_header(file, prefix, symbol, &section) &&
           section.sh_type != SHT_NOBITS &&
           shmt_bytes_slice(file, section.sh_offset, section.sh_size, out);
}

bool shmt_cubin_section(const void *cubin, size_t size, const char *name,
                        const void **out, size_t *out_size)
{
    struct shmt_bytes found;

    if (!find_section((struct shmt_bytes){cubin, size}, "", name, &found))
        return false;
    *out = found.at;
    *out_size = found.size;
    return true;
}

static uint64_t shared_bytes(struct shmt_bytes file, const char *symbol)
{
    Elf64_Shdr section, reserved;

    if (!find_header(file, shared, symbol, &section))
        return 0;
    return section.sh_size >= RESERVED_BYTES &&
                   find_header(file, shared, "reserved.0", &reserved)
               ? section.sh_size - RESERVED_BYTES
               : section.sh_size;
}

uint64_t shmt_cubin_shared_bytes(const void *cubin, size_t size)
{
    const struct shmt_bytes file = {cubin, size};
    const char *kernel;
    uint64_t most = 0;
    size_t at = 0;

    while ((kernel = shmt_cubin_next_kernel(cubin, size, &at)) != NULL) {
        const uint64_t bytes = shared_bytes(file, kernel);

        most = bytes > most ? bytes : most;
    }
    return most;
}

/* -- the attributes ------------------------------------------------------- */

static bool read_param(struct shmt_bytes payload, bool second,
                       struct findings *findings)
{
    uint32_t ordinal, offset, size;

    if (payload.size != PARAM_BYTES)
        return false;
    ordinal = (uint32_t)shmt_bytes_number(payload.at + 4, 2);
    offset = (uint32_t)shmt_bytes_number(payload.at + 6, 2);
    size = (uint32_t)shmt_bytes_number(payload.at + 8, second ? 2 : 4);
    size = second ? size : size >> PARAM_SIZE_SHIFT;
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
static bool read_attribute(struct shmt_bytes list, struct findings *findings,
                           struct shmt_bytes *rest)
{
    struct shmt_bytes payload = {list.at, 0};
    uint32_t value;
    bool good = true;

    if (list.size < 4)
        return false;
    value = (uint32_t)shmt_bytes_number(list.at + 2, 2);
    if (list.at[0] == FORM_SIZED) {
        if (!shmt_bytes_slice(list, 4, value, &payload))
            return false;
        if (list.at[1] == PARAM || list.at[1] == PARAM_V2)
            good = read_param(payload, list.at[1] == PARAM_V2, findings);
    } else if (list.at[0] < FORM_NONE || list.at[0] > FORM_SIZED) {
        return false;
    } else if (list.at[0] == FORM_HALF && list.at[1] == PARAM_SUM) {
        findings->summed = true;
        findings->sum = value;
    }
    return good && shmt_bytes_slice(list, 4 + payload.size,
                         list.size - 4 - payload.size, rest);
}

bool shmt_cubin_read_params(const void *cubin, size_t size, const char *symbol,
                            struct shmt_cubin_params *out)
{
    struct findings findings = {0};
    struct shmt_bytes list;

    if (!find_section((struct shmt_bytes){cubin, size}, info, symbol, &list))
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

/* -- the symbols ---------------------------------------------------------- */

struct symbols {
    struct shmt_bytes file;
    struct shmt_bytes table, names;     /* of sections */
    struct shmt_bytes list, texts;      /* of symbols */
};

/* A text that ends within `names`; NULL when it does not. */
static const char *text_at(struct shmt_bytes names, uint64_t offset)
{
    if (offset >= names.size ||
        memchr(names.at + offset, '\0', names.size - offset) == NULL)
        return NULL;
    return (const char *)names.at + offset;
}

static bool open_symbols(const void *cubin, size_t size, struct symbols *out)
{
    struct symbols symbols = {.file = {cubin, size}};
    Elf64_Shdr section, texts;

    if (!open_sections(symbols.file, &symbols.table, &symbols.names))
        return false;
    for (size_t k = 0; section_at(symbols.table, k, &section); k++) {
        if (section.sh_type != SHT_SYMTAB)
            continue;
        if (!section_at(symbols.table, section.sh_link, &texts) ||
            !shmt_bytes_slice(symbols.file, section.sh_offset, section.sh_size,
                   &symbols.list) ||
            !shmt_bytes_slice(symbols.file, texts.sh_offset, texts.sh_size,
                   &symbols.texts))
            return false;
        *out = symbols;
        return true;
    }
    return false;
}

static bool symbol_at(const struct symbols *symbols, size_t k, Elf64_Sym *out)
{
    struct shmt_bytes entry;

    if (!shmt_bytes_slice(symbols->list, k * sizeof *out, sizeof *out, &entry))
        return false;
    memcpy(out, entry.at, sizeof *out);
    return true;
}

static bool is_zero(struct shmt_bytes bytes)
{
    for (size_t k = 0; k < bytes.size; k++)
        if (bytes.at[k] != 0)
            return false;
    return true;
}

/* What `symbol` is, if it is a variable of the source. */
static bool read_variable(const struct symbols *symbols,
                          const Elf64_Sym *symbol,
                          struct shmt_cubin_variable *out)
{
    static const char *const places[] = {".nv.constant3", ".nv.global",
                                         ".nv.global.init"};
    enum { CONSTANT, BARE, PLACES = 3 };
    struct shmt_bytes whole = {0}, bytes = {0};
    Elf64_Shdr section;
    const char *name;
    size_t place = 0;

    if (ELF64_ST_TYPE(symbol->st_info) != STT_OBJECT ||
        !section_at(symbols->table, symbol->st_shndx, &section))
        return false;
    name = text_at(symbols->names, section.sh_name);
    while (name != NULL && place < PLACES && strcmp(name, places[place]) != 0)
        place++;
    out->name = text_at(symbols->texts, symbol->st_name);
    if (name == NULL || place == PLACES || out->name == NULL)
        return false;
    if (place != BARE &&
        (section.sh_type == SHT_NOBITS ||
         !shmt_bytes_slice(symbols->file, section.sh_offset, section.sh_size,
                           &whole) ||
         !shmt_bytes_slice(whole, symbol->st_value, symbol->st_size, &bytes)))
        return false;
    out->bytes = symbol->st_size;
    out->constant = place == CONSTANT;
    out->initialised = !is_zero(bytes);
    return true;
}

bool shmt_cubin_next_variable(const void *cubin, size_t size, size_t *at,
                              struct shmt_cubin_variable *out)
{
    struct symbols symbols;
    Elf64_Sym symbol;

    if (!open_symbols(cubin, size, &symbols))
        return false;
    while (symbol_at(&symbols, *at, &symbol)) {
        ++*at;
        if (read_variable(&symbols, &symbol, out))
            return true;
    }
    return false;
}

const char *shmt_cubin_next_kernel(const void *cubin, size_t size, size_t *at)
{
    enum { KERNEL = 0x10 };        /* of st_other */
    struct symbols symbols;
    Elf64_Sym symbol;

    if (!open_symbols(cubin, size, &symbols))
        return NULL;
    while (symbol_at(&symbols, *at, &symbol)) {
        const char *name = text_at(symbols.texts, symbol.st_name);

        ++*at;
        if (ELF64_ST_TYPE(symbol.st_info) == STT_FUNC &&
            (symbol.st_other & KERNEL) != 0 && name != NULL)
            return name;
    }
    return NULL;
}
