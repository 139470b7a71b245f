/* SPDX-License-Identifier: MIT */
/*
 * test_params: the parameters of kernels that were just compiled, and of
 * binaries that were damaged on their way here.
 */
#include "base/arena.h"
#include "gpu/nvrtc.h"
#include "gpu/cubin.h"
#include "tests/support/check.h"
#include "tests/support/hostile.h"

static const struct shmt_nvrtc *nvrtc;
static struct shmt_error err;

static const char source[] =
    "struct Three { char at[3]; };\n"
    "struct Nine { float at[9]; };\n"
    "struct Largest { char at[4084]; };\n"
    "struct Huge { float at[4500]; };\n"
    "extern \"C\" __global__ void box(const float *x, float *y, int n)\n"
    "{ y[n] = x[n]; }\n"
    "extern \"C\" __global__ void mixed(float *y, Nine w, char c, double d,\n"
    "                                   Three t, short s, bool b)\n"
    "{ y[threadIdx.x] = w.at[threadIdx.x] + c + d + t.at[1] + s + b; }\n"
    "extern \"C\" __global__ void unused(float *, double, int) {}\n"
    "extern \"C\" __global__ void __launch_bounds__(64, 2)\n"
    "large(float *y, int n, Largest z)\n"
    "{ y[threadIdx.x + blockIdx.z] = z.at[n]; }\n"
    "extern \"C\" __global__ void none() {}\n"
    "template <typename T, int N> __global__ void typed(T *y, T a)\n"
    "{ y[N] = a; }\n"
    "namespace n { __constant__ float bare[3]; }\n"
    "__constant__ int set = 5;\n"
    "__device__ double counter;\n"
    "__device__ int started[2] = {0, 7};\n"
    "extern \"C\" __global__ void reads(int i)\n"
    "{ counter += n::bare[i] + set + started[i]++; }\n"
    "#if HUGE\n"
    "extern \"C\" __global__ void huge(float *y, Huge z, int n)\n"
    "{ y[threadIdx.x] = z.at[n]; }\n"
    "#endif\n";

static const char *const entries[] = {
    "box", "mixed", "unused", "large", "none", "typed<double, 3>", "huge"
};
enum { TYPED = 5, HUGE_ONE = 6 };

/* In `arena`.  Parameters of more than 4 KiB came with CUDA 12.1. */
static bool compile(const char *arch, struct shmt_arena *arena,
                    struct shmt_nvrtc_product *out)
{
    const bool huge = nvrtc->version >= 12010;
    char option[64];
    const char *const options[] = {
        option, huge ? "-DHUGE=1" : "-DHUGE=0", "--std=c++17"
    };
    const struct shmt_nvrtc_job job = {
        .name = "test.cu", .source = source, .option_count = 3,
        .options = options, .entry_count = huge ? HUGE_ONE + 1 : HUGE_ONE,
        .entries = entries
    };

    snprintf(option, sizeof option, "--gpu-architecture=%s", arch);
    if (shmt_nvrtc_compile(nvrtc, &job, arena, out, &err) == SHMTUNE_OK)
        return true;
    printf("# %s: %s\n", arch, err.text);
    return false;
}

/* "8 8 4" of an entry, "?" when nothing is known. */
static const char *sizes_of(const struct shmt_nvrtc_product *product,
                            const char *symbol)
{
    static char text[256];
    struct shmt_cubin_params params;
    size_t length = 0;

    if (!shmt_cubin_read_params(product->cubin, product->cubin_size, symbol,
                                &params))
        return "?";
    text[0] = '\0';
    for (size_t k = 0; k < params.count && length < sizeof text - 16; k++)
        length += (size_t)snprintf(text + length, sizeof text - length,
                                   k == 0 ? "%lu" : " %lu",
                                   (unsigned long)params.sizes[k]);
    return text;
}

static void every_architecture_is_read(void)
{
    static const char *const archs[] = {
        "sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120"
    };

    for (size_t k = 0; k < sizeof archs / sizeof archs[0]; k++) {
        struct shmt_arena *arena = shmt_arena_new();
        struct shmt_nvrtc_product product;

        /* not every compiler knows the newest */
        if (!compile(archs[k], arena, &product)) {
            CHECK(strcmp(archs[k], "sm_90") != 0);
            shmt_arena_free(arena);
            continue;
        }
        CHECK_TEXT(sizes_of(&product, "box"), "8 8 4");
        CHECK_TEXT(sizes_of(&product, "mixed"), "8 36 1 8 3 2 1");
        CHECK_TEXT(sizes_of(&product, "unused"), "8 8 4");
        CHECK_TEXT(sizes_of(&product, "large"), "8 4 4084");
        CHECK_TEXT(sizes_of(&product, product.lowered[TYPED]), "8 8");
        if (nvrtc->version >= 12010)
            CHECK_TEXT(sizes_of(&product, "huge"), "8 18000 4");
        shmt_arena_free(arena);
    }
}

static void what_is_not_there_is_not_known(void)
{
    struct shmt_arena *arena = shmt_arena_new();
    struct shmt_nvrtc_product product;

    CHECK(compile("sm_90", arena, &product));
    CHECK_TEXT(sizes_of(&product, "none"), "?");
    CHECK_TEXT(sizes_of(&product, "bo"), "?");
    CHECK_TEXT(sizes_of(&product, "boxes"), "?");
    CHECK_TEXT(sizes_of(&product, ""), "?");
    shmt_arena_free(arena);
}

static void variables_are_read(void)
{
    static const struct shmt_cubin_variable expected[] = {
        {"_ZN1n4bareE", 12, true, false}, {"set", 4, true, true},
        {"counter", 8, false, false}, {"started", 8, false, true}
    };
    enum { EXPECTED = sizeof expected / sizeof expected[0] };
    static const char *const archs[] = {"sm_75", "sm_90", "sm_120"};

    for (size_t a = 0; a < sizeof archs / sizeof archs[0]; a++) {
        struct shmt_arena *arena = shmt_arena_new();
        struct shmt_nvrtc_product product;
        struct shmt_cubin_variable found;
        size_t at = 0, count = 0;

        if (!compile(archs[a], arena, &product)) {
            CHECK(strcmp(archs[a], "sm_90") != 0);
            shmt_arena_free(arena);
            continue;
        }
        while (shmt_cubin_next_variable(product.cubin, product.cubin_size,
                                        &at, &found))
            for (size_t k = 0; k < EXPECTED; k++)
                if (strcmp(found.name, expected[k].name) == 0) {
                    CHECK_INT(found.bytes, expected[k].bytes);
                    CHECK_INT(found.constant, expected[k].constant);
                    CHECK_INT(found.initialised, expected[k].initialised);
                    count++;
                }
        CHECK_INT(count, EXPECTED);
        at = count = 0;
        for (const char *name; (name = shmt_cubin_next_kernel(
                                    product.cubin, product.cubin_size,
                                    &at)) != NULL; count++)
            CHECK(strcmp(name, "n::bare") != 0);
        CHECK_INT(count, nvrtc->version >= 12010 ? 8 : 7);
        shmt_arena_free(arena);
    }
}

/* -- hostile bytes -------------------------------------------------------- */

static size_t known, wrong;

/* What can still be read is whole. */
static void read_cut(const char *data, size_t size)
{
    struct shmt_cubin_params params;

    if (!shmt_cubin_read_params(data, size, "box", &params))
        return;
    known++;
    wrong += params.count != 3 || params.sizes[0] != 8 ||
             params.sizes[1] != 8 || params.sizes[2] != 4;
}

/* Only what adds up: the largest sum that an attribute holds is 64 KiB. */
static void read_damaged(const char *data, size_t size)
{
    struct shmt_cubin_params params;
    struct shmt_cubin_variable variable;

    for (size_t at = 0;
         shmt_cubin_next_variable(data, size, &at, &variable);)
        wrong += variable.name < data ||
                 variable.name + strlen(variable.name) >= data + size;
    if (!shmt_cubin_read_params(data, size, "mixed", &params))
        return;
    known++;
    wrong += params.count == 0 || params.count > SHMT_CUBIN_PARAMS;
    for (size_t k = 0; k < params.count; k++)
        wrong += params.sizes[k] == 0 || params.sizes[k] > UINT16_MAX;
}

static void damage_is_survived(void)
{
    static const char *const archs[] = {"sm_75", "sm_90"};

    known = wrong = 0;
    for (size_t k = 0; k < 2; k++) {
        struct shmt_arena *arena = shmt_arena_new();
        struct shmt_nvrtc_product product;

        if (compile(archs[k], arena, &product)) {
            const char *data = product.cubin;
            const size_t size = product.cubin_size;

            hostile_cuts(read_cut, data, size);
            hostile_flips(read_damaged, data, size, 20000);
            hostile_splices(read_damaged, data, size, 2000);
            /* the header, and that section alone */
            hostile_flips(read_damaged, data, 64, 2000);
        }
        shmt_arena_free(arena);
    }
    CHECK(known > 0);
    CHECK_INT(wrong, 0);
}

/* Every byte of the list of `mixed`, in turn: never a crash, and what is
 * understood adds up. */
static void every_byte_of_the_list_may_be_wrong(void)
{
    static const char first[] = {0x04, 0x17, 0x0c, 0x00, 0, 0, 0, 0, 6};
    struct shmt_arena *arena = shmt_arena_new();
    struct shmt_nvrtc_product product;
    size_t at = 0, size;
    char *copy;

    CHECK(compile("sm_90", arena, &product));
    size = product.cubin_size;
    copy = malloc(size);
    memcpy(copy, product.cubin, size);
    while (at + 0x100 < size && memcmp(copy + at, first, sizeof first) != 0)
        at++;
    CHECK(at + 0x100 < size);
    known = wrong = 0;
    for (size_t k = 0; k < 0x100 && at + k < size; k++)
        for (int value = 0; value < 256; value++) {
            const char before = copy[at + k];

            copy[at + k] = (char)value;
            hostile_feed(read_damaged, copy, size);
            copy[at + k] = before;
        }
    CHECK(known > 0);
    CHECK_INT(wrong, 0);
    free(copy);
    shmt_arena_free(arena);
}

static void other_files_are_not_known(void)
{
    struct shmt_cubin_params params;
    char zeros[256] = "";

    CHECK(!shmt_cubin_read_params(zeros, 0, "box", &params));
    CHECK(!shmt_cubin_read_params(zeros, sizeof zeros, "box", &params));
    CHECK(!shmt_cubin_read_params(source, sizeof source, "box", &params));
    memcpy(zeros, "\177ELF\2\1\1", 7);
    CHECK(!shmt_cubin_read_params(zeros, sizeof zeros, "box", &params));
}

int main(void)
{
    CHECK_RUN(other_files_are_not_known);
    if (shmt_nvrtc_open(&nvrtc, &err) != SHMTUNE_OK) {
        CHECK_SKIP(every_architecture_is_read, "no NVRTC");
        CHECK_SKIP(what_is_not_there_is_not_known, "no NVRTC");
        CHECK_SKIP(variables_are_read, "no NVRTC");
        CHECK_SKIP(damage_is_survived, "no NVRTC");
        CHECK_SKIP(every_byte_of_the_list_may_be_wrong, "no NVRTC");
        return CHECK_END();
    }
    CHECK_RUN(every_architecture_is_read);
    CHECK_RUN(what_is_not_there_is_not_known);
    CHECK_RUN(variables_are_read);
    CHECK_RUN(damage_is_survived);
    CHECK_RUN(every_byte_of_the_list_may_be_wrong);
    return CHECK_END();
}
