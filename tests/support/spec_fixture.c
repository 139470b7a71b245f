/* SPDX-License-Identifier: MIT */
/*
 * spec_fixture: writes a valid spec and its source to a folder, with edits,
 * and reads it.
 */
#include "tests/support/spec_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char spec_good[] =
    "format: kernel/1\n"
    "name: scale\n"
    "summary: y = a x, tile by tile\n"
    "source: scale.cu\n"
    "includes: [extra]\n"
    "problem:\n"
    "  rows: {default: 64, min: 2, max: 4096}\n"
    "  cols: {default: 32}\n"
    "  filter: {default: 3, define: true}\n"
    "sizes:\n"
    "- {rows: 1024, cols: 512}\n"
    "- {rows: 33, cols: 65, filter: 5}\n"
    "parameters:\n"
    "  BLOCK: {values: [32, 64, 128], default: 64}\n"
    "  TILE: {values: {from: 1, to: 64, times: 2}, default: 8}\n"
    "  STAGES: {values: {from: 1, to: 3}, default: 1}\n"
    "  MEMORY: {values: [static, dynamic], default: dynamic}\n"
    "  CARVEOUT: {values: [-1, 100], default: -1, scope: launch}\n"
    "constraints:\n"
    "- BLOCK * TILE <= 4096\n"
    "- MEMORY == 'dynamic' or TILE * (TILE + 1) * 4 <= 2048\n"
    "- TILE <= rows\n"
    "launches:\n"
    "- entry: \"scale<float, {TILE}, {filter}>\"\n"
    "  grid: [\"ceildiv(cols, TILE)\", \"ceildiv(rows, TILE)\"]\n"
    "  block: [BLOCK, STAGES]\n"
    "  shared_static: TILE * (TILE + 1) * 4 if MEMORY == 'static' else 0\n"
    "  shared_dynamic: 0 if MEMORY == 'static' else TILE * (TILE + 1) * 4\n"
    "  carveout: CARVEOUT\n"
    "  arguments: [y, x, part, a, cols]\n"
    "- entry: finish\n"
    "  when: STAGES > 1\n"
    "  grid: 6\n"
    "  block: [32]\n"
    "  cluster: STAGES\n"
    "  arguments: [y, part]\n"
    "reference:\n"
    "- entry: scale_reference\n"
    "  grid: [\"ceildiv(rows * cols, 256)\"]\n"
    "  block: [256]\n"
    "  arguments: [y, x, a, cols]\n"
    "arguments:\n"
    "  x: {type: f32, role: input, count: rows * cols, range: [-2, 2]}\n"
    "  y: {type: f16, role: output, count: rows * cols,\n"
    "      tolerance: {absolute: 0.5, relative: 1.0e-3}}\n"
    "  part: {type: f64, role: workspace, count: BLOCK * 2, zeroed: true}\n"
    "  a: {type: f32, value: 1.5}\n"
    "  cols: {type: i32, value: cols}\n"
    "work:\n"
    "  bytes: 6 * rows * cols\n";

char spec_path[FOLDER_ROOM];
static char folder[FOLDER_ROOM];

void spec_write(const char *name, const char *data, size_t size)
{
    char path[FOLDER_ROOM];
    FILE *file;

    folder_path(path, folder, name);
    /* A new file: ext4 flushes one that is cut to nothing and written anew. */
    remove(path);
    file = fopen(path, "wb");
    if (file == NULL || fwrite(data, 1, size, file) != size ||
        fclose(file) != 0) {
        perror(path);
        exit(EXIT_FAILURE);
    }
}

void spec_write_text(const char *name, const char *text)
{
    spec_write(name, text, strlen(text));
}

struct shmt_kernel *spec_read_good(void)
{
    struct shmt_kernel *kernel = NULL;
    struct shmt_error err = {0};

    spec_write_text("spec.yaml", spec_good);
    if (shmt_kernel_read(spec_path, &kernel, &err) != SHMTUNE_OK) {
        printf("Bail out! %s\n", err.text);
        exit(EXIT_FAILURE);
    }
    return kernel;
}

void spec_edit(const char *from, const char *to, struct shmt_text *out)
{
    const char *at = strstr(spec_good, from);

    if (at == NULL) {
        printf("Bail out! the good spec has no \"%s\"\n", from);
        exit(EXIT_FAILURE);
    }
    shmt_text_clear(out);
    shmt_text_add_bytes(out, spec_good, (size_t)(at - spec_good));
    shmt_text_add(out, to);
    shmt_text_add(out, at + strlen(from));
}

void spec_begin(void)
{
    char path[FOLDER_ROOM];

    folder_make(folder);
    folder_path(path, folder, "extra");
    mkdir(path, 0700);
    folder_path(path, folder, "extra/deep");
    mkdir(path, 0700);
    folder_path(spec_path, folder, "spec.yaml");
    spec_write_text("scale.cu", "__global__ void scale() {}\n");
}

void spec_end(void)
{
    folder_remove(folder);
}
