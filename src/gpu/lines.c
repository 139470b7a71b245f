/* SPDX-License-Identifier: MIT */
/*
 * lines: reads the names of sources out of cubins, PTX and fatbins (formats in
 * lines.h).  Every offset is checked: the binary is not trusted.
 */
#include "gpu/lines.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "gpu/bytes.h"
#include "gpu/cubin.h"
#include "gpu/fatbin.h"

enum { UNIT_HEADER = 10, FOLDERS = 64 };

struct reading {
    struct shmt_arena *arena;
    struct shmt_lines *out;
};

static void skip(struct shmt_bytes *rest, size_t size)
{
    rest->at += size;
    rest->size -= size;
}

/* What the compiler calls `<built-in>` is none. */
static void add(struct reading *reading, const char *name, size_t length)
{
    struct shmt_lines *out = reading->out;
    const char *copy;

    length = strnlen(name, length);
    if (length == 0 || name[0] == '<' || out->count == SHMT_LINES_FILES)
        return;
    for (size_t k = 0; k < out->count; k++)
        if (strlen(out->files[k]) == length &&
            memcmp(out->files[k], name, length) == 0)
            return;
    copy = shmt_arena_copy(reading->arena, name, length);
    if (copy != NULL)
        out->files[out->count++] = copy;
}

/* -- a cubin -------------------------------------------------------------- */

/* A text with its zero; false: it has none. */
static bool take_text(struct shmt_bytes *rest, const char **out)
{
    const unsigned char *end = memchr(rest->at, '\0', rest->size);

    if (end == NULL)
        return false;
    *out = (const char *)rest->at;
    skip(rest, (size_t)(end - rest->at) + 1);
    return true;
}

/* LEB128; of more than 63 bits nothing is kept. */
static bool take_number(struct shmt_bytes *rest, uint64_t *out)
{
    *out = 0;
    for (unsigned shift = 0; rest->size > 0; shift += 7) {
        const unsigned char byte = rest->at[0];

        skip(rest, 1);
        if (shift < 63)
            *out |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return true;
    }
    return false;
}

/* Folders, then files with the numbers of theirs; 0 is the compiler's own. */
static void read_tables(struct reading *reading, struct shmt_bytes rest)
{
    const char *folders[FOLDERS], *name;
    size_t count = 0;
    uint64_t folder, ignored;

    while (take_text(&rest, &name) && name[0] != '\0')
        if (count < FOLDERS)
            folders[count++] = name;
    while (take_text(&rest, &name) && name[0] != '\0') {
        if (!take_number(&rest, &folder) || !take_number(&rest, &ignored) ||
            !take_number(&rest, &ignored))
            return;
        if (folder > 0 && folder <= count)
            name = shmt_path_join(reading->arena, folders[folder - 1], name);
        if (name != NULL)
            add(reading, name, strlen(name));
    }
}

static void read_unit(struct reading *reading, struct shmt_bytes unit)
{
    const unsigned version = (unsigned)shmt_bytes_number(unit.at + 4, 2);
    const size_t fixed = version >= 4 ? 6 : 5;
    size_t operands;

    if (version < 2 || version > 4 || unit.size < UNIT_HEADER + fixed)
        return;
    skip(&unit, UNIT_HEADER + fixed);
    operands = unit.at[-1] == 0 ? 0 : unit.at[-1] - 1u;
    if (operands > unit.size)
        return;
    skip(&unit, operands);
    read_tables(reading, unit);
}

static void read_cubin(struct reading *reading, struct shmt_bytes cubin)
{
    struct shmt_bytes rest, unit;
    const void *section;

    if (!shmt_cubin_section(cubin.at, cubin.size, ".debug_line", &section,
                            &rest.size))
        return;
    rest.at = section;
    while (rest.size >= UNIT_HEADER &&
           shmt_bytes_slice(rest, 0, 4 + shmt_bytes_number(rest.at, 4),
                            &unit)) {
        if (unit.size >= UNIT_HEADER)
            read_unit(reading, unit);
        skip(&rest, unit.size);
    }
}

/* -- PTX ------------------------------------------------------------------ */

/* `.file N "NAME"`, which may have more behind it. */
static void read_directive(struct reading *reading, const char *line,
                           size_t length)
{
    static const char word[] = ".file";
    const char *end = line + length, *open, *close;

    while (line < end && (*line == ' ' || *line == '\t'))
        line++;
    if ((size_t)(end - line) < sizeof word ||
        memcmp(line, word, sizeof word - 1) != 0 ||
        (line[sizeof word - 1] != ' ' && line[sizeof word - 1] != '\t'))
        return;
    open = memchr(line, '"', (size_t)(end - line));
    close = open == NULL
                ? NULL : memchr(open + 1, '"', (size_t)(end - open - 1));
    if (close != NULL)
        add(reading, open + 1, (size_t)(close - open - 1));
}

static void read_ptx(struct reading *reading, struct shmt_bytes text)
{
    while (text.size > 0) {
        const unsigned char *end = memchr(text.at, '\n', text.size);
        const size_t length = end == NULL ? text.size
                                          : (size_t)(end - text.at);

        read_directive(reading, (const char *)text.at, length);
        skip(&text, end == NULL ? length : length + 1);
    }
}

/* -- a fatbin ------------------------------------------------------------- */

static void read_fatbin(struct reading *reading, struct shmt_bytes fatbin)
{
    struct shmt_fatbin_entry entry;
    size_t at = 0;

    while (shmt_fatbin_next(fatbin, &at, &entry)) {
        if (!entry.compressed && entry.kind == SHMT_FATBIN_CUBIN)
            read_cubin(reading, entry.image);
        else if (!entry.compressed && entry.kind == SHMT_FATBIN_PTX)
            read_ptx(reading, entry.image);
        if (entry.name.size > 0)
            add(reading, (const char *)entry.name.at, entry.name.size);
    }
}

void shmt_lines_read(struct shmt_arena *arena, const void *binary, size_t size,
                     struct shmt_lines *out)
{
    struct reading reading = {arena, out};
    const struct shmt_bytes whole = {binary, size};

    out->count = 0;
    if (shmt_fatbin_is(whole))
        read_fatbin(&reading, whole);
    else if (size >= 4 && memcmp(binary, "\x7f""ELF", 4) == 0)
        read_cubin(&reading, whole);
    else
        read_ptx(&reading, whole);
}
