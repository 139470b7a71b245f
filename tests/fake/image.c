/* SPDX-License-Identifier: MIT */
/*
 * image: what a driver reads out of a cubin, an ELF file, when it loads
 * one.
 */
#include <elf.h>
#include <stdio.h>
#include <string.h>

#include "tests/fake/cuda.h"

/* In .nv.info: u8 form, u8 attribute, u16 size, then `size` bytes. */
enum { FORM_SIZED = 4, ATTRIBUTE_REGISTERS = 0x2f };

struct image {
    const unsigned char *bytes;
    const Elf64_Ehdr *header;
    const Elf64_Shdr *sections;
    const char *names;
};

static const Elf64_Shdr *section(const struct image *image, const char *name)
{
    for (size_t k = 0; k < image->header->e_shnum; k++)
        if (strcmp(image->names + image->sections[k].sh_name, name) == 0)
            return &image->sections[k];
    return NULL;
}

/* The symbol of that type and name, 0 when there is none; *size is its size. */
static uint32_t symbol_of(const struct image *image, unsigned type,
                          const char *name, size_t *size)
{
    const Elf64_Shdr *table = section(image, ".symtab");
    const Elf64_Shdr *strings = section(image, ".strtab");
    const Elf64_Sym *symbols;

    if (table == NULL || strings == NULL)
        return 0;
    symbols = (const Elf64_Sym *)(const void *)(image->bytes +
                                                table->sh_offset);
    for (uint32_t k = 0; k < table->sh_size / sizeof *symbols; k++)
        if (ELF64_ST_TYPE(symbols[k].st_info) == type &&
            strcmp((const char *)image->bytes + strings->sh_offset +
                       symbols[k].st_name, name) == 0) {
            *size = symbols[k].st_size;
            return k;
        }
    return 0;
}

/* Of a fatbin the first cubin, as nvcc registers it: behind a pointer. */
const void *fake_image_in(const void *data)
{
    const uint32_t wrapper = 0x466243b1, fatbin = 0xba55ed50;
    const unsigned char *at = data;
    uint32_t header;
    uint16_t kind = 0;
    uint64_t bytes;

    if (memcmp(at, &wrapper, sizeof wrapper) == 0)
        memcpy(&at, at + 8, sizeof at);
    if (memcmp(at, &fatbin, sizeof fatbin) != 0)
        return data;
    for (at += 16; memcpy(&kind, at, sizeof kind), kind != 2;
         at += header + bytes) {
        memcpy(&header, at + 4, sizeof header);
        memcpy(&bytes, at + 8, sizeof bytes);
    }
    memcpy(&header, at + 4, sizeof header);
    return at + header;
}

static bool open_image(const void *cubin, struct image *out)
{
    struct image image = {.bytes = cubin, .header = cubin};

    if (memcmp(cubin, ELFMAG, SELFMAG) != 0)
        return false;
    image.sections = (const Elf64_Shdr *)(const void *)(
        image.bytes + image.header->e_shoff);
    image.names = (const char *)image.bytes +
                  image.sections[image.header->e_shstrndx].sh_offset;
    *out = image;
    return true;
}

size_t fake_image_variable(const void *cubin, const char *name)
{
    struct image image;
    size_t size;

    return open_image(cubin, &image) &&
                   symbol_of(&image, STT_OBJECT, name, &size) != 0
               ? size : 0;
}

static int registers_of(const struct image *image, uint32_t symbol)
{
    const Elf64_Shdr *info = section(image, ".nv.info");
    const unsigned char *at, *end;
    uint32_t pair[2];
    uint16_t size;

    if (info == NULL)
        return -1;
    at = image->bytes + info->sh_offset;
    for (end = at + info->sh_size; at + 4 <= end;) {
        memcpy(&size, at + 2, sizeof size);
        if (at[0] == FORM_SIZED && at[1] == ATTRIBUTE_REGISTERS) {
            memcpy(pair, at + 4, sizeof pair);
            if (pair[0] == symbol)
                return (int)pair[1];
        }
        at += 4 + (at[0] == FORM_SIZED ? size : 0);
    }
    return -1;
}

bool fake_image_find(const void *cubin, const char *name,
                     struct fake_function *out)
{
    struct image image;
    const Elf64_Shdr *shared;
    char text[512];
    uint32_t symbol;
    size_t size;

    if (!open_image(cubin, &image))
        return false;
    symbol = symbol_of(&image, STT_FUNC, name, &size);
    if (symbol == 0)
        return false;
    snprintf(text, sizeof text, ".nv.shared.%s", name);
    shared = section(&image, text);
    out->registers = registers_of(&image, symbol);
    /* the first 1024 bytes are the driver's own */
    out->shared_static = shared == NULL || shared->sh_size < 1024
                             ? 0 : (int)(shared->sh_size - 1024);
    return true;
}
