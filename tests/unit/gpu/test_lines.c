/* SPDX-License-Identifier: MIT */
/*
 * test_lines: the names of the sources in cubins, PTX and fatbins, of one that
 * was just compiled, and of some that were damaged on their way here.
 */
#include "base/arena.h"
#include "gpu/lines.h"
#include "gpu/nvrtc.h"
#include "tests/support/check.h"
#include "tests/support/hostile.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>

static struct shmt_error err;

static const char ptx[] =
    ".version 9.0\n.visible .entry k()\n{\n\t.loc 1 3 1\n\tret;\n}\n"
    "\t.file\t1 \"/home/me/a b.cu\", 1795560849, 14722\n"
    "  .file 2 \"/home/me/x.cuh\"\n"
    "\t.file\t3 \"/home/me/x.cuh\"\n"
    ".file 4 \"unended\n.files 5 \"no\"\n.file 6 \"\"\n.file 7 \"<built-in>\"";

/* "a.cu|b.cu" */
static const char *names_of(const void *binary, size_t size)
{
    static char text[1024];
    struct shmt_arena *arena = shmt_arena_new();
    struct shmt_lines lines;

    shmt_lines_read(arena, binary, size, &lines);
    text[0] = '\0';
    for (size_t k = 0; k < lines.count; k++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s",
                 k == 0 ? "" : "|", lines.files[k]);
    shmt_arena_free(arena);
    return text;
}

static void ptx_has_directives(void)
{
    CHECK_TEXT(names_of(ptx, sizeof ptx - 1), "/home/me/a b.cu|/home/me/x.cuh");
    CHECK_TEXT(names_of("", 0), "");
    CHECK_TEXT(names_of(".file", 5), "");
}

/* -- a cubin -------------------------------------------------------------- */

struct built {
    unsigned char bytes[2048];
    size_t size;
};

static void put(struct built *to, const void *bytes, size_t size)
{
    if (size > sizeof to->bytes - to->size)
        abort();
    memcpy(to->bytes + to->size, bytes, size);
    to->size += size;
}

static void put_number(struct built *to, uint64_t number, size_t size)
{
    put(to, &number, size);    /* the host is little-endian, as cubins are */
}

/* One unit of DWARF: two folders, three files. */
static void put_unit(struct built *to, unsigned version, const char *file)
{
    static const char folders[] = "/home/me\0/usr/include\0";
    struct built unit = {.size = 0};

    put_number(&unit, version, 2);
    put_number(&unit, 0, 4);
    put_number(&unit, 1, 1);
    if (version >= 4)
        put_number(&unit, 1, 1);
    put(&unit, "\1\373\16\3\0\1", 6);  /* two opcodes have operands */
    put(&unit, folders, sizeof folders);
    put(&unit, file, strlen(file) + 1);
    put(&unit, "\1\221\327\226\330\6\202s", 8);
    put(&unit, "y.h\0\2\0\0z.h\0\0\0\0/abs.cu\0\1\0\0\0", 7 + 7 + 12);
    put(&unit, "\0\5\2garbage", 10);
    put_number(to, unit.size, 4);
    put(to, unit.bytes, unit.size);
}

static struct built cubin_of(unsigned version)
{
    static const char names[] = "\0.shstrtab\0.debug_line";
    struct built lines = {.size = 0}, out = {.size = 0};
    Elf64_Ehdr header = {
        .e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
                    ELFDATA2LSB},
        .e_machine = EM_CUDA, .e_shentsize = sizeof(Elf64_Shdr), .e_shnum = 3,
        .e_shstrndx = 1
    };
    Elf64_Shdr sections[3] = {{0}};

    put_unit(&lines, version, "x.cu");
    put_unit(&lines, version, "x.cu");
    put_unit(&lines, version, "other.cu");
    sections[1] = (Elf64_Shdr){.sh_name = 1, .sh_type = SHT_STRTAB,
                               .sh_offset = sizeof header,
                               .sh_size = sizeof names};
    sections[2] = (Elf64_Shdr){.sh_name = 11, .sh_type = SHT_PROGBITS,
                               .sh_offset = sizeof header + sizeof names,
                               .sh_size = lines.size};
    header.e_shoff = sizeof header + sizeof names + lines.size;
    put(&out, &header, sizeof header);
    put(&out, names, sizeof names);
    put(&out, lines.bytes, lines.size);
    put(&out, sections, sizeof sections);
    return out;
}

static const char of_cubin[] =
    "/home/me/x.cu|/usr/include/y.h|z.h|/abs.cu|/home/me/other.cu";

static void a_cubin_has_tables(void)
{
    for (unsigned version = 2; version <= 4; version++) {
        const struct built cubin = cubin_of(version);

        CHECK_TEXT(names_of(cubin.bytes, cubin.size), of_cubin);
    }
    for (unsigned version = 1; version <= 5; version += 4) {
        const struct built cubin = cubin_of(version);

        CHECK_TEXT(names_of(cubin.bytes, cubin.size), "");
    }
}

static void one_that_was_just_compiled(void)
{
    static const char *const options[] = {"--gpu-architecture=sm_90",
                                          "-lineinfo"};
    const struct shmt_nvrtc *nvrtc;
    const struct shmt_nvrtc_job job = {
        .name = "/home/me/just.cu",
        .source = "extern \"C\" __global__ void k(int *x)\n{ *x += 1; }\n",
        .option_count = 2, .options = options
    };
    struct shmt_arena *arena = shmt_arena_new();
    struct shmt_nvrtc_product product;

    CHECK_INT(shmt_nvrtc_open(&nvrtc, &err), SHMTUNE_OK);
    CHECK_INT(shmt_nvrtc_compile(nvrtc, &job, arena, &product, &err),
              SHMTUNE_OK);
    CHECK_TEXT(names_of(product.cubin, product.cubin_size),
               "/home/me/just.cu");
    shmt_arena_free(arena);
}

/* -- a fatbin ------------------------------------------------------------- */

static void put_entry(struct built *to, unsigned kind, uint64_t flags,
                      const char *name, const void *payload, size_t size)
{
    const size_t length = strlen(name);

    put_number(to, kind, 2);
    put_number(to, 0x101, 2);
    put_number(to, 64 + length, 4);
    put_number(to, size, 8);
    put_number(to, 0, 8);
    put_number(to, 0, 8);
    put_number(to, 64, 4);
    put_number(to, length, 4);
    put_number(to, flags, 8);
    put_number(to, 0, 8);
    put_number(to, 0, 8);
    put(to, name, length);
    put(to, payload, size);
}

static struct built fatbin_of(void)
{
    const struct built cubin = cubin_of(2);
    struct built entries = {.size = 0}, out = {.size = 0};

    put_entry(&entries, 2, 0x11, "x.cu", cubin.bytes, cubin.size);
    put_entry(&entries, 1, 0x2011, "packed.cu", ptx, sizeof ptx);
    put_entry(&entries, 2, 0x8011, "", cubin.bytes, cubin.size);
    put_entry(&entries, 1, 0x11, "", ptx, sizeof ptx);
    put_number(&out, 0xba55ed50, 4);
    put_number(&out, 1, 2);
    put_number(&out, 16, 2);
    put_number(&out, entries.size, 8);
    put(&out, entries.bytes, entries.size);
    return out;
}

static void a_fatbin_has_several(void)
{
    const struct built fatbin = fatbin_of();
    char expected[512];

    snprintf(expected, sizeof expected,
             "%s|x.cu|packed.cu|/home/me/a b.cu|/home/me/x.cuh", of_cubin);
    CHECK_TEXT(names_of(fatbin.bytes, fatbin.size), expected);
}

/* -- hostile bytes -------------------------------------------------------- */

static size_t known;

static void read_damaged(const char *data, size_t size)
{
    known += names_of(data, size)[0] != '\0';
}

static void damage_is_survived(void)
{
    const struct built fatbin = fatbin_of(), cubin = cubin_of(4);

    known = 0;
    hostile_cuts(read_damaged, (const char *)fatbin.bytes, fatbin.size);
    hostile_flips(read_damaged, (const char *)fatbin.bytes, fatbin.size, 5000);
    hostile_splices(read_damaged, (const char *)fatbin.bytes, fatbin.size,
                    2000);
    hostile_cuts(read_damaged, (const char *)cubin.bytes, cubin.size);
    hostile_flips(read_damaged, (const char *)cubin.bytes, cubin.size, 5000);
    hostile_cuts(read_damaged, ptx, sizeof ptx);
    CHECK(known > 0);
}

int main(void)
{
    const struct shmt_nvrtc *nvrtc;

    CHECK_RUN(ptx_has_directives);
    CHECK_RUN(a_cubin_has_tables);
    CHECK_RUN(a_fatbin_has_several);
    CHECK_RUN(damage_is_survived);
    if (shmt_nvrtc_open(&nvrtc, &err) == SHMTUNE_OK)
        CHECK_RUN(one_that_was_just_compiled);
    else
        CHECK_SKIP(one_that_was_just_compiled, "no NVRTC");
    return CHECK_END();
}
