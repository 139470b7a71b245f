/* SPDX-License-Identifier: MIT */
/*
 * catalogue_fixture: a folder with kernels, tunings and a device for tests of
 * libshmtune, written anew for each test.
 */
#define _XOPEN_SOURCE 700   /* nftw */
#include "tests/support/catalogue_fixture.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/path.h"
#include "tests/support/folder.h"

enum { PATH_ROOM = 512, PATHS = 8 };

static char root[FOLDER_ROOM], mark[FOLDER_ROOM];

static const char spec[] =
    "format: kernel/1\n"
    "name: toy\n"
    "summary: out = in + 1\n"
    "source: toy.cu\n"
    "problem:\n"
    "  rows: {default: 1024, min: 1, max: 1000000}\n"
    "  cols: {default: 1024, min: 1, max: 1000000}\n"
    "parameters:\n"
    "  BLOCK: {values: [32, 64, 128, 256, 1024], default: 32}\n"
    "  SHARED_KIB: {values: [0, 32, 100, 200], default: 0}\n"
    "  MEMORY: {values: [static, dynamic], default: dynamic}\n"
    "constraints:\n"
    "- BLOCK <= max(cols, 32)\n"
    "launches:\n"
    "- entry: toy\n"
    "  grid: [\"ceildiv(rows * cols, BLOCK)\"]\n"
    "  block: [BLOCK]\n"
    "  shared_dynamic: SHARED_KIB * 1024\n"
    "  arguments: [out, from, part, n]\n"
    "- entry: toy_last\n"
    "  when: MEMORY == 'static'\n"
    "  grid: [1]\n"
    "  block: [32]\n"
    "  arguments: [out, last]\n"
    "arguments:\n"
    "  out: {type: f32, role: output, count: rows * cols,"
    " tolerance: {absolute: 0}}\n"
    "  from: {type: f32, role: input, count: rows * cols}\n"
    "  n: {type: i32, value: rows * cols}\n"
    "  part: {type: f64, role: workspace, count: BLOCK, zeroed: true}\n"
    "  last: {type: f64, role: workspace, count: BLOCK}\n";

static const char source[] =
    "extern \"C\" __global__ void\n"
    "toy(float *out, const float *in, double *part, int n)\n"
    "{\n"
    "    extern __shared__ float tile[];\n"
    "    const int i = blockIdx.x * BLOCK + threadIdx.x;\n"
    "    if (i < n)\n"
    "        out[i] = in[i] + 1;\n"
    "    if (n < 0)\n"
    "        tile[0] = part[0];\n"
    "}\n"
    "extern \"C\" __global__ void toy_last(float *out, double *last)\n"
    "{\n"
    "    if (last[0] < 0)\n"
    "        out[0] = 0;\n"
    "}\n";

static void fail(const char *what)
{
    printf("Bail out! fixture: %s\n", what);
    exit(EXIT_FAILURE);
}

const char *fixture_path(const char *name)
{
    static char paths[PATHS][2 * PATH_ROOM];
    static unsigned next;
    char *path = paths[next++ % PATHS];

    snprintf(path, sizeof paths[0], "%s/%s", root, name);
    return path;
}

static void make_parents(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash != NULL;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(path, 0700);
        *slash = '/';
    }
}

void fixture_put(const char *name, const void *data, size_t size)
{
    char path[2 * PATH_ROOM];
    FILE *file;

    snprintf(path, sizeof path, "%s", fixture_path(name));
    make_parents(path);
    file = fopen(path, "wb");
    if (file == NULL || fwrite(data, 1, size, file) != size ||
        fclose(file) != 0)
        fail(path);
}

void fixture_put_text(const char *name, const char *text)
{
    fixture_put(name, text, strlen(text));
}

void fixture_clear_first(bool clear)
{
    static const char list[] = "launches:\n";
    static const char first[] = "- entry: toy_clear\n"
                                "  grid: [1]\n"
                                "  block: [32]\n"
                                "  arguments: [out]\n";
    const char *const rest = strstr(spec, list) + strlen(list);
    char text[sizeof spec + sizeof first];

    snprintf(text, sizeof text, "%.*s%s%s", (int)(rest - spec), spec,
             clear ? first : "", rest);
    fixture_put_text("kernels/toy.yaml", text);
}

void fixture_copy(const char *name)
{
    const char *folder = getenv("SHMT_SRCDIR");
    struct shmt_arena *arena = shmt_arena_new();
    struct shmt_error err;
    const char *data;
    char from[1024], to[256];
    size_t size;

    snprintf(from, sizeof from, "%s/tests/fake/%s",
             folder != NULL ? folder : ".", name);
    snprintf(to, sizeof to, "kernels/%s", name);
    if (shmt_path_read(arena, from, 1 << 20, &data, &size, &err) !=
        SHMTUNE_OK) {
        printf("Bail out! %s\n", err.text);
        exit(EXIT_FAILURE);
    }
    fixture_put(to, data, size);
    shmt_arena_free(arena);
}

void fixture_edit(const char *name, const char *from, const char *to)
{
    struct shmt_arena *arena = shmt_arena_new();
    struct shmt_text text = {0};
    const char *data = NULL, *at = NULL;
    size_t size = 0;

    if (shmt_path_read(arena, fixture_path(name), 1 << 20, &data, &size,
                       NULL) != SHMTUNE_OK ||
        (at = strstr(data, from)) == NULL)
        fail(name);
    shmt_text_addf(&text, "%.*s%s%s", (int)(at - data), data, to,
                   at + strlen(from));
    if (text.failed)
        fail("memory");
    fixture_put_text(name, text.data);
    shmt_text_free(&text);
    shmt_arena_free(arena);
}

static int remove_one(const char *path, const struct stat *about, int type,
                      struct FTW *walk)
{
    (void)about;
    (void)type;
    (void)walk;
    return remove(path);
}

void fixture_remove(const char *name)
{
    nftw(fixture_path(name), remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

const char *fixture_begin(void)
{
    /* Thousands of small files: in memory where that is possible. */
    if (access("/dev/shm", W_OK | X_OK) != 0) {
        folder_make(root);
    } else {
        snprintf(root, sizeof root, "/dev/shm/shmtune-test-XXXXXX");
        if (mkdtemp(root) == NULL)
            fail("mkdtemp");
        /* By this `make check` finds what a killed test left there. */
        folder_path(mark, NULL, strrchr(root, '/') + 1);
        if (symlink(root, mark) != 0)
            fail("symlink");
    }
    fixture_put_text("kernels/toy.yaml", spec);
    fixture_put_text("kernels/toy.cu", source);
    return root;
}

void fixture_end(void)
{
    fixture_remove("");
    unlink(mark);
}

struct shmtune_device fixture_device(void)
{
    return (struct shmtune_device){
        .size = sizeof(struct shmtune_device),
        .name = "NVIDIA H100 80GB HBM3",
        .uuid = "GPU-00000000-0000-0000-0000-000000000001",
        .compute_major = 9,
        .compute_minor = 0,
        .multiprocessors = 132,
        .max_threads_per_block = 1024,
        .max_threads_per_multiprocessor = 2048,
        .max_blocks_per_multiprocessor = 32,
        .registers_per_block = 65536,
        .registers_per_multiprocessor = 65536,
        .warp_size = 32,
        .shared_per_block = 49152,
        .shared_per_block_optin = 232448,
        .shared_per_multiprocessor = 233472,
        .shared_reserved_per_block = 1024,
        .l2_bytes = 52428800,
        .memory_bytes = INT64_C(85520809984),
        .max_grid_y = 65535,
        .clock_khz = 1980000,
        .memory_clock_khz = 2619000,
        .memory_bus_bits = 5120,
        .driver_version = 13000,
    };
}

struct page {
    struct shmt_setting size[2];
    struct shmt_setting settings[3];
    const struct shmt_setting *ties[1];
    struct shmt_tuned tuned;
};

static struct shmt_setting number(const char *name, int64_t value)
{
    return (struct shmt_setting){
        .name = name, .value = {.type = SHMT_VALUE_INT, .i = value}};
}

static void fill(const struct fixture_tuned *from, struct page *page)
{
    page->size[0] = number("rows", from->rows);
    page->size[1] = number("cols", from->cols);
    page->settings[0] = number("BLOCK", from->block);
    page->settings[1] = number("SHARED_KIB", from->shared_kib);
    page->settings[2] = (struct shmt_setting){
        .name = "MEMORY", .value = {.type = SHMT_VALUE_WORD, .w = "dynamic"}};
    page->ties[0] = page->settings;
    page->tuned = (struct shmt_tuned){
        .size_count = 2, .size = page->size,
        .setting_count = 3, .settings = page->settings,
        .default_us = 2 * from->time_us, .floor_us = -1,
        .strategy = "exhaustive", .space_count = 40, .tried = 40,
        .elapsed_s = 1, .tie_count = 1, .ties = page->ties,
    };
    page->tuned.verdicts[SHMT_VERDICT_OK] = 40;
    shmt_result_clear(&page->tuned.result);
    page->tuned.result.resources = (struct shmt_resources){
        .registers = from->registers > 0 ? from->registers : 32,
        .max_threads = 1024,
    };
    page->tuned.result.shared_dynamic_bytes = from->shared_kib * 1024;
    page->tuned.result.resident_blocks = 1;
    page->tuned.result.occupancy_percent = 50;
    page->tuned.result.limiter = SHMT_LIMITER_WARPS;
    page->tuned.result.sample_count = 1;
    page->tuned.result.samples_us[0] = (float)from->time_us;
    page->tuned.result.time_us = from->time_us;
}

char *fixture_tuning(const struct shmtune_device *device,
                     const struct fixture_tuned *tuned, size_t count)
{
    struct shmt_tuning tuning = {
        .kernel = "toy", .device = *device, .protocol = "cold-l2",
        .created = "2026-11-21T10:00:00Z", .nvrtc_version = 13000,
        .tuned_count = count,
    };
    struct page *pages = calloc(count + 1, sizeof *pages);
    struct shmt_tuned **list = calloc(count + 1, sizeof *list);
    struct shmt_text text = {0};
    struct shmt_kernel *kernel;
    struct shmt_error err;

    if (pages == NULL || list == NULL)
        fail("memory");
    if (shmt_kernel_read(fixture_path("kernels/toy.yaml"), &kernel, &err) !=
        SHMTUNE_OK)
        fail(err.text);
    memcpy(tuning.digest, kernel->digest, sizeof tuning.digest);
    shmt_kernel_free(kernel);
    for (size_t k = 0; k < count; k++) {
        fill(&tuned[k], &pages[k]);
        list[k] = &pages[k].tuned;
    }
    tuning.tuned = list;
    shmt_tuning_format(&tuning, &text);
    free(list);
    free(pages);
    if (text.failed || text.data == NULL)
        fail("memory");
    return text.data;
}

void fixture_tune(const char *name, const struct shmtune_device *device,
                  const struct fixture_tuned *tuned, size_t count)
{
    char *text = fixture_tuning(device, tuned, count);
    char path[PATH_ROOM];

    snprintf(path, sizeof path, "tunings/toy/%s", name);
    fixture_put_text(path, text);
    free(text);
}
