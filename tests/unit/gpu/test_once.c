/* SPDX-License-Identifier: MIT */
/*
 * test_once: which includes are read once, and that a kernel is the same with
 * it.  Needs NVRTC but for the first test; where that is older than 12.8, or
 * there is little memory, headers are read each time, and what is left to test
 * is that this works.
 */
#include <dirent.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/path.h"
#include "gpu/nvrtc.h"
#include "tests/support/check.h"
#include "tests/support/gpu_fixture.h"

static const struct shmt_nvrtc *nvrtc;
static const char *folder;
static struct shmt_error err;

/* -- which includes ------------------------------------------------------- */

static void write_header(const char *root, const char *name)
{
    char path[600];

    snprintf(path, sizeof path, "%s/%s", root, name);
    CHECK_INT(shmt_path_write(path, "", 0, &err), SHMTUNE_OK);
}

/* `first`: of the source, the bytes that are taken. */
static const struct {
    const char *first, *rest;
} sources[] = {
    {"#include <ours.h>\n", "int x;\n"},
    {"#include \"ours.h\"\n#include <other.h>\n", "\n#define X\n"},
    {"/* one\n * two */\n\n// three\n  #  include <ours.h> /* four */ // five\n",
     "// six\n"},
    {"#include<ours.h>\r\n", "\r\n__global__ void f();"},
    {"#include <as_text>\n", ""},
    {"#include <ours.h>\n", "#include <theirs.h>\n#include <other.h>\n"},
    {"#include <ours.h>\n", "#include <in_both.h>\n"},
    {"#include <ours.h>\n", "#include <absent.h>\n"},
    {"#include <ours.h>\n", "#ifdef X\n#include <other.h>\n#endif\n"},
    {"#include <ours.h>\n", "#include <other.h> /* goes\non */\n"},
    {"#include <ours.h>\n", "#include <other.h> int x;\n"},
    {"#include <ours.h>\n", "// goes on \\\n#include <other.h>\n"},
    {"#include <ours.h>\n", "// goes on \\\r\n#include <other.h>\r\n"},
    {"#include <ours.h>\n", "#include OTHER\n#include <other.h>\n"},
    {"#include <ours.h>\n", "/* no end\n#include <other.h>\n"},
    {"", "#include <ours.h>"},
    {"", "#define X\n#include <ours.h>\n"},
    {"", "#include <ours.h\n>\n"},
    {"", "#includes <ours.h>\n"},
    {"", "#pragma once\n"},
    {"", ""},
};

static void the_toolkits_includes_are_found(void)
{
    char own[512], toolkit[512], options[2][600];
    const char *const given[] = {"-DX=1", options[0], options[1]};
    const char *const texts[] = {"as_text"};
    const struct shmt_nvrtc_once_places places = {
        .include = toolkit, .header_count = 1, .headers = texts};

    snprintf(own, sizeof own, "%s/own", fixture_folder());
    snprintf(toolkit, sizeof toolkit, "%s/toolkit", fixture_folder());
    CHECK_INT(shmt_path_make_folder(own, 0700, &err), SHMTUNE_OK);
    CHECK_INT(shmt_path_make_folder(toolkit, 0700, &err), SHMTUNE_OK);
    snprintf(options[0], sizeof options[0], "-I%s", own);
    snprintf(options[1], sizeof options[1], "-I%s", toolkit);
    write_header(own, "theirs.h");
    write_header(own, "in_both.h");
    write_header(toolkit, "in_both.h");
    write_header(toolkit, "ours.h");
    write_header(toolkit, "other.h");
    for (size_t k = 0; k < sizeof sources / sizeof sources[0]; k++) {
        char text[256];
        const struct shmt_nvrtc_once_text job = {"a.cu", text, 3, given};
        size_t found;

        snprintf(text, sizeof text, "%s%s", sources[k].first,
                 sources[k].rest);
        found = shmt_nvrtc_once_prefix(&places, &job);
        if (found != strlen(sources[k].first))
            printf("# of source %zu\n", k);
        CHECK_INT(found, strlen(sources[k].first));
    }
}

/* -- compiles ------------------------------------------------------------- */

static const char source[] =
    "// a kernel\n"
    "#include <cuda_fp16.h>\n"
    "#if NVALUE > 1\n"
    "#define MORE 8\n"
    "#else\n"
    "#define MORE 0\n"
    "#endif\n"
    "extern \"C\" __global__ void k(__half *o)\n"
    "{ __shared__ __half t[TILE + MORE];\n"
    "  t[threadIdx.x % TILE] = __hadd(o[threadIdx.x], o[0]);\n"
    "  __syncthreads(); o[threadIdx.x] = t[0];\n"
    "#if BROKEN == 1\n"
    "  o[1] = no_such_thing;\n"
    "#elif BROKEN == 2\n"
    "#define TILE 5\n"
    "#endif\n"
    "}\n";

/* A compile; its product lives in `arena`. */
static enum shmtune_status compile(struct shmt_nvrtc_once *once, int tile,
                                   int broken, int nvalue,
                                   struct shmt_arena *arena,
                                   struct shmt_nvrtc_product *out)
{
    static const char *const entries[] = {"k"};
    char words[3][32], include[1100];
    const char *const options[] = {
        "--gpu-architecture=sm_90", "-std=c++17", "--ptxas-options=-v",
        "-lineinfo", words[0], words[1], words[2], include};
    const struct shmt_nvrtc_job job = {
        .name = "a/k.cu", .source = source, .option_count = 8,
        .options = options, .entry_count = 1, .entries = entries,
        .once = once};

    snprintf(words[0], sizeof words[0], "-DTILE=%d", tile);
    snprintf(words[1], sizeof words[1], "-DBROKEN=%d", broken);
    snprintf(words[2], sizeof words[2], "-DNVALUE=%d", nvalue);
    snprintf(include, sizeof include, "-I%s", nvrtc->include);
    return shmt_nvrtc_compile(nvrtc, &job, arena, out, &err);
}

/* The bytes of the section of the kernel's code. */
static const void *code(const struct shmt_nvrtc_product *product, size_t *size)
{
    const char *const file = product->cubin;
    const Elf64_Ehdr *const head = (const void *)file;
    const Elf64_Shdr *const table = (const void *)(file + head->e_shoff);
    const char *const names = file + table[head->e_shstrndx].sh_offset;

    for (int k = 0; k < head->e_shnum; k++)
        if (strcmp(names + table[k].sh_name, ".text.k") == 0) {
            *size = table[k].sh_size;
            return file + table[k].sh_offset;
        }
    *size = 0;
    return "";
}

/* One that has the headers of `source`; whether it has any. */
static bool make_once(struct shmt_nvrtc_once *once, struct shmt_arena *arena)
{
    struct shmt_nvrtc_product product;

    shmt_nvrtc_once_begin(once, folder);
    once->least_ms = 0;
    CHECK_INT(compile(once, 32, 0, 0, arena, &product), SHMTUNE_OK);
    CHECK_INT(once->state, SHMT_NVRTC_ONCE_WANTS);
    CHECK_INT(compile(once, 64, 0, 0, arena, &product), SHMTUNE_OK);
    if (once->state == SHMT_NVRTC_ONCE_HAS)
        return true;
    printf("# not on this machine: NVRTC %d, or too little room\n",
           nvrtc->version);
    CHECK(nvrtc->version < 12080 || once->state == SHMT_NVRTC_ONCE_OFF);
    return false;
}

static bool is_left(void)
{
    DIR *const dir = opendir(folder);
    const struct dirent *entry;
    bool found = dir == NULL;

    while (dir != NULL && (entry = readdir(dir)) != NULL)
        found = found || strncmp(entry->d_name, "headers-", 8) == 0;
    if (dir != NULL)
        closedir(dir);
    return found;
}

static void kernels_are_the_same(void)
{
    struct shmt_arena *arena = shmt_arena_new();
    struct shmt_nvrtc_once once;
    struct shmt_nvrtc_product plain, other;
    size_t size[2];

    make_once(&once, arena);
    CHECK(!is_left());
    CHECK_INT(compile(NULL, 48, 0, 0, arena, &plain), SHMTUNE_OK);
    CHECK_INT(compile(&once, 48, 0, 0, arena, &other), SHMTUNE_OK);
    CHECK_TEXT(other.lowered[0], "k");
    CHECK_HAS(other.log, " 96 bytes smem");
    code(&plain, &size[0]);
    code(&other, &size[1]);
    CHECK(size[0] > 0 && size[0] == size[1] &&
          memcmp(code(&plain, size), code(&other, size + 1), size[0]) == 0);
    shmt_nvrtc_once_end(&once);
    shmt_arena_free(arena);
}

static void messages_are_the_same(void)
{
    struct shmt_arena *arena = shmt_arena_new();
    struct shmt_nvrtc_once once;
    struct shmt_nvrtc_product product;
    const bool has = make_once(&once, arena);

    for (int broken = 1; broken <= 2; broken++) {
        char text[sizeof err.text];

        CHECK_INT(compile(NULL, 32, broken, 0, arena, &product),
                  SHMTUNE_COMPILE);
        CHECK_HAS(err.text, broken == 1 ? "k.cu:13:10: error: identifier"
                                        : "is in the way of the spec's 32");
        memcpy(text, err.text, sizeof text);
        CHECK_INT(compile(&once, 32, broken, 0, arena, &product),
                  SHMTUNE_COMPILE);
        CHECK_TEXT(err.text, text);
    }
    CHECK(!has || once.state == SHMT_NVRTC_ONCE_HAS);
    shmt_nvrtc_once_end(&once);
    shmt_arena_free(arena);
}

/* A macro that is named like the toolkit's stays in front of its headers; a
 * candidate with another value of it is compiled on its own. */
static void names_of_the_toolkit_stay_in_front(void)
{
    struct shmt_arena *arena = shmt_arena_new();
    struct shmt_nvrtc_once once;
    struct shmt_nvrtc_product product;

    const bool has = make_once(&once, arena);

    CHECK_INT(compile(&once, 32, 0, 2, arena, &product), SHMTUNE_OK);
    CHECK_HAS(product.log, " 80 bytes smem");
    CHECK_INT(compile(&once, 32, 0, 0, arena, &product), SHMTUNE_OK);
    CHECK_HAS(product.log, " 64 bytes smem");
    CHECK(!has || once.state == SHMT_NVRTC_ONCE_HAS);
    shmt_nvrtc_once_end(&once);
    shmt_arena_free(arena);
}

/* What is given to the compiler in its place, word for word. */
static void macros_follow_the_headers(void)
{
    struct shmt_arena *arena = shmt_arena_new();
    struct shmt_nvrtc_once once;
    const char *const options[] = {"-DTILE=32", "-DNVALUE=1", "-DFLAG",
                                   "-std=c++17", "-DWORD_a=0"};
    const char *const texts[] = {"cuda_fp16.h"};
    const struct shmt_nvrtc_once_places places = {.header_count = 1,
                                                  .headers = texts};
    const struct shmt_nvrtc_once_text given = {"k.cu", source, 5, options};
    struct shmt_nvrtc_once_text out;
    char expected[1200];

    shmt_nvrtc_once_begin(&once, folder);
    CHECK(!shmt_nvrtc_once_arrange(&once, &nvrtc->once, &places, &given,
                                   arena, &out));
    once.state = SHMT_NVRTC_ONCE_WANTS;
    if (shmt_nvrtc_once_arrange(&once, &nvrtc->once, &places, &given, arena,
                                &out)) {
        snprintf(expected, sizeof expected,
                 "// a kernel\n#include <cuda_fp16.h>\n#pragma nv_hdrstop\n"
                 "#define TILE 32\n#define WORD_a 0\n#line 3 \"k.cu\"\n%s",
                 strstr(source, "#if NVALUE"));
        CHECK_TEXT(out.source, expected);
        CHECK_INT(out.option_count, 4);
        CHECK_TEXT(out.options[0], "-DNVALUE=1");
        CHECK_TEXT(out.options[1], "-DFLAG");
        CHECK_TEXT(out.options[2], "-std=c++17");
        CHECK_HAS(out.options[3], "--create-pch=");
    }
    shmt_nvrtc_once_end(&once);
    shmt_arena_free(arena);
}

static void it_is_done_without(void)
{
    struct shmt_arena *arena = shmt_arena_new();
    struct shmt_nvrtc_once once;
    struct shmt_nvrtc_product product;

    shmt_nvrtc_once_begin(&once, "/no/such/folder");
    once.state = SHMT_NVRTC_ONCE_WANTS;
    CHECK_INT(compile(&once, 32, 0, 0, arena, &product), SHMTUNE_OK);
    CHECK_INT(compile(&once, 64, 0, 0, arena, &product), SHMTUNE_OK);
    CHECK_HAS(product.log, " 128 bytes smem");
    CHECK(nvrtc->version < 12080 || once.state == SHMT_NVRTC_ONCE_OFF);
    shmt_nvrtc_once_end(&once);
    if (make_once(&once, arena)) {
        /* As if NVRTC could not read it. */
        close(once.file);
        once.file = -1;
        CHECK_INT(compile(&once, 48, 0, 0, arena, &product), SHMTUNE_OK);
        CHECK_HAS(product.log, " 96 bytes smem");
    }
    shmt_nvrtc_once_end(&once);
    shmt_nvrtc_once_begin(&once, folder);
    shmt_nvrtc_once_watch(&once, 20);
    CHECK_INT(once.state, SHMT_NVRTC_ONCE_WATCHES);
    shmt_arena_free(arena);
}

/* X(test) */
#define TEST_LIST(X)                                                         \
    X(kernels_are_the_same)                                                  \
    X(messages_are_the_same)                                                 \
    X(names_of_the_toolkit_stay_in_front)                                    \
    X(macros_follow_the_headers)                                             \
    X(it_is_done_without)

int main(void)
{
    CHECK_RUN(the_toolkits_includes_are_found);
    if (shmt_nvrtc_open(&nvrtc, &err) != SHMTUNE_OK ||
        nvrtc->include == NULL) {
#define TEST_SKIP(test) CHECK_SKIP(test, "no NVRTC with headers here");
        TEST_LIST(TEST_SKIP)
        return CHECK_END();
    }
    folder = fixture_folder();
#define TEST_RUN(test) CHECK_RUN(test);
    TEST_LIST(TEST_RUN)
    return CHECK_END();
}
