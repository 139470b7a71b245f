/* SPDX-License-Identifier: MIT */
/*
 * test_texture: textures are made of inputs by the bench, on the fake driver,
 * and freed; applications pass their own to the library; and what the driver
 * would refuse is refused with a reason.  Compiles with the real NVRTC.
 */
#include "shmtune.h"

#include <dlfcn.h>
#include <math.h>

#include "bench/bench.h"
#include "tests/support/bench_read.h"
#include "tests/support/catalogue_fixture.h"
#include "tests/support/check.h"
#include "tests/support/driver_fixture.h"

enum { ROWS = 37, COLS = 53, PITCH = 56, IMAGE = 4, VOLUME = 7 };
static const char yaml[] = "kernels/fake_texture.yaml";
static const int64_t problem[] = {ROWS, COLS};

static const struct shmt_driver *driver;
static const struct shmt_nvrtc *nvrtc;
static struct shmt_kernel *kernel;
static struct shmt_bench *bench;
static struct shmt_result result;
static struct shmt_error err;

static void write_files(void)
{
    fixture_copy("fake_texture.yaml");
    fixture_copy("fake_texture.cu");
}

/* Arrays and texture objects that the fake driver holds. */
static size_t textures_there(void)
{
    void *const library = dlopen(getenv("SHMTUNE_LIBCUDA"), RTLD_NOW);
    size_t (*count)(void) = NULL;
    size_t found;

    if (library != NULL)
        *(void **)(void *)&count = dlsym(library, "fake_textures");
    if (count == NULL) {
        printf("Bail out! no fake_textures: %s\n", dlerror());
        exit(EXIT_FAILURE);
    }
    found = count();
    dlclose(library);
    return found;
}

static void open_bench(void)
{
    const struct shmt_bench_options options = {
        .driver = driver, .nvrtc = nvrtc, .seed = 11};

    CHECK_INT(shmt_kernel_read(fixture_path(yaml), &kernel, &err),
              SHMTUNE_OK);
    CHECK_INT(shmt_bench_open(kernel, &options, &bench, &err), SHMTUNE_OK);
}

static void close_bench(void)
{
    shmt_bench_close(bench);
    shmt_kernel_free(kernel);
    CHECK_INT(textures_there(), 0);
}

static enum shmtune_status measure_at(const int64_t *size, shmt_config block,
                                      shmt_config shift)
{
    const shmt_config choice[] = {block, shift};
    const struct shmt_bench_request request = {
        .problem = size, .config = choice, .samples = 3,
        .give_up_us = (double)INFINITY, .verify = true};
    struct shmt_bench_note note;

    shmt_result_clear(&result);
    err.text[0] = '\0';
    return shmt_bench_measure(bench, &request, &result, &note, &err);
}

static enum shmt_verdict measure(shmt_config block, shmt_config shift)
{
    CHECK_INT(measure_at(problem, block, shift), SHMTUNE_OK);
    CHECK_TEXT(err.text, "");
    return result.verdict;
}

/* Two arrays and four objects, of one problem at a time. */
static void candidates_get_them(void)
{
    const int64_t other[] = {8, 16};

    open_bench();
    for (shmt_config block = 0; block < 3; block++) {
        CHECK_INT(measure(block, 0), SHMT_VERDICT_OK);
        CHECK_TEXT(result.reason, "");
        CHECK_INT(measure(block, 1), SHMT_VERDICT_WRONG);
        CHECK_INT(textures_there(), 6);
    }
    CHECK_INT(measure_at(other, 0, 0), SHMTUNE_OK);
    CHECK_INT(result.verdict, SHMT_VERDICT_OK);
    CHECK_INT(textures_there(), 6);
    close_bench();
}

/* Of each call, one at a time: the problem is told to have failed, and the next
 * one is as if nothing had been. */
static void failures_are_told(void)
{
    static const struct {
        const char *fail, *message;
    } faults[] = {
        {"Array3DCreate=2", "cuArray3DCreate for the texture image, 53 x 37 x "
         "1 texels of 1 f32 ("},
        {"Array3DCreate=2", "MiB are free); choose a smaller size: "
         "CUDA_ERROR_OUT_OF_MEMORY"},
        {"Array3DCreate=1,2", "cuArray3DCreate for the texture volume, 8 x 4 "
         "x 2 texels of 4 u8 ("},
        {"TexObjectCreate=1,3", "cuTexObjectCreate for the texture table"},
        {"Memcpy3DAsync=1", "CUDA_ERROR_INVALID_VALUE"}};

    open_bench();
    for (size_t k = 0; k < sizeof faults / sizeof faults[0]; k++) {
        setenv("FAKE_CUDA_FAIL", faults[k].fail, 1);
        CHECK(measure_at(problem, 0, 0) != SHMTUNE_OK);
        CHECK_HAS(err.text, faults[k].message);
        CHECK_INT(textures_there(), 0);
        unsetenv("FAKE_CUDA_FAIL");
        CHECK_INT(measure(0, 0), SHMT_VERDICT_OK);
        close_bench();
        open_bench();
    }
    close_bench();
}

/* What a launch writes is read by the next through a texture: of another buffer
 * in the reference. */
static void workspaces_are_read_where_they_are(void)
{
    static const char more[] =
        "  half: {type: f32, role: workspace, count: rows * pitch}\n"
        "  unused: {texture: half, extents: [cols, rows], pitch: pitch, "
        "memory: pitch}\n  rows: {type";

    fixture_edit(yaml, "  rows: {type", more);
    open_bench();
    CHECK_INT(measure(0, 0), SHMT_VERDICT_OK);
    close_bench();
    write_files();
}

/* The kernel takes a struct of 8 bytes as it takes the handle. */
static void pack_image(void)
{
    fixture_edit(yaml, "[out, image, clamped", "[out, packed, clamped");
    fixture_edit(yaml, "  rows: {type",
                 "  packed: {struct: {image: {texture: image}}}\n"
                 "  rows: {type");
}

static void structs_have_them(void)
{
    pack_image();
    open_bench();
    CHECK_INT(measure(0, 0), SHMT_VERDICT_OK);
    CHECK_INT(measure(0, 1), SHMT_VERDICT_WRONG);
    close_bench();
    write_files();
}

static void others_are_refused(void)
{
    static const char image[] = "extents: [cols, rows], pitch: pitch, filter: "
                                "linear, address: border, border: 0.5";
    static const struct {
        const char *from, *to, *message;
    } faults[] = {
        {"texture: numbers", "texture: rows",
         ":31:20: a pointer to rows, which is no buffer but a scalar"},
        {"  shift: {type", "  one: {struct: {a: {texture: pixels}}}\n  shift: "
         "{type", ":37:31: the texture pixels has the role input; name an "
         "argument {texture: ..., extents: [...]}"},
        {"  shift: {type", "  one: {struct: {a: {texture: none}}}\n  shift: "
         "{type", ":37:31: \"none\" is not among the arguments of this spec; a "
         "texture is one of them"},
        {"texture: numbers", "texture: \"null\"", ":31:20: \"null\" is not"},
        {"extents: [entries]", "extents: []",
         ":31:38: extents has 0 items; 1 to 3 are expected"},
        {"extents: [entries]", "extents: [1, 2, 3, 4]",
         "extents has 4 items; 1 to 3"},
        {"extents: [entries]", "extents: [BLOCK]",
         ":31:39: an extent of a texture uses the parameter BLOCK"},
        {"extents: [entries]", "extents: [0]",
         ":31:39: extent 1 of the texture table is 0 texels; 1 to 268435456 "
         "are expected"},
        {"extents: [entries]", "extents: [entries + 1]",
         ":31:39: the texture table has 228 bytes, and numbers has 224; make "
         "the extents smaller, or the count larger"},
        {"extents: [entries]", "extents: [entries], address: clamp",
         ":31:58: \"address\" of a texture on linear memory, which is read by "
         "the number of a texel (tex1Dfetch); leave it out, or write "
         "\"memory: array\""},
        {"extents: [entries]", "extents: [entries], pitch: 64",
         ":31:56: a pitch of a texture with one row"},
        {"extents: [entries]", "extents: [entries], layered: true",
         ":31:58: layers of a texture with 1 extent"},
        {"extents: [entries]", "extents: [entries, 1], memory: linear",
         ":31:60: the memory linear for 2 extents; it takes 1: write "
         "\"memory: array\""},
        {"memory: pitch", "memory: pitch, layered: true",
         "the memory pitch for 2 extents with layers; it takes 2"},
        {"memory: pitch", "memory: tex",
         "\"tex\"; one of linear, pitch, array is expected"},
        {"pitch: pitch, memory: pitch", "memory: pitch",
         ":30:12: the pitch of the texture clamped is 212 bytes; a multiple of "
         "32, 2097120 at most, is expected: give rows a pitch, roundup(..., 8)"
         ", or write \"memory: array\""},
        {"pitch: pitch, memory: pitch", "pitch: cols - 1, memory: pitch",
         ":30:60: the pitch of the texture clamped is 52 elements; 53 to "},
        {"channels: 4", "channels: 3",
         ":32:59: 3 channels; the hardware knows 1, 2 and 4"},
        {"voxels, extents: [8, 4, 2]", "voxels, extents: [8, 4, 16385]",
         "extent 3 of the texture volume is 16385 texels; 1 to 16384"},
        {"normalized: true, ", "",
         "the address wrap without \"normalized: true\"; the hardware wraps "
         "and mirrors coordinates from 0 to 1 alone"},
        {"address: wrap", "address: [wrap, wrap, clamp, clamp]",
         "address has 4 items; 1 to 3 are expected"},
        {"address: wrap", "address: wrap, border: 1",
         "a border without \"address: border\""},
        {"read: normalized_float, normalized: true, address: wrap",
         "filter: linear", "the texture volume is of u8; \"filter: linear\" "
         "is for what is read as a real: write \"read: normalized_float\", or "
         "\"filter: point\""},
        {"read: normalized_float", "type: f64, read: normalized_float",
         ":32:11: the texture volume is of f64; the hardware has no elements "
         "of 8 bytes: read two halves, \"type: i32\" with \"channels: 2\""},
        {"read: normalized_float", "type: bf16, read: element",
         "the texture volume is of bf16; f16, f32, and whole numbers of 8 to "
         "32 bits"},
        {"read: normalized_float", "type: u32, read: normalized_float",
         "of u32; \"read: normalized_float\" is for whole numbers of 8 and 16"},
        {"read: normalized_float", "read: element, srgb: true",
         "\"srgb\" is for u8 with \"read: normalized_float\""},
        {"border: 0.5", "border: [0, 0]",
         "border has 2 items; 1 to 1 are expected"},
        {image, "extents: [cols, rows], tile: 1", "tile"},
        {"texture: pixels, extents: [cols, rows], pitch: pitch, filter",
         "texture: out, extents: [cols, rows], filter",
         ":29:20: a texture in an array is a copy of an input, and out is an "
         "output; make it one, or write \"memory: pitch\""},
        {"numbers: {type: i32, role: input", "numbers: {type: i32, role: "
         "surface", "surfaces are not supported; write the array as an output"},
    };

    for (size_t k = 0; k < sizeof faults / sizeof faults[0]; k++) {
        write_files();
        fixture_edit(yaml, faults[k].from, faults[k].to);
        kernel = NULL;
        CHECK_INT(shmt_kernel_read(fixture_path(yaml), &kernel, &err),
                  SHMTUNE_INVALID_FILE);
        CHECK_HAS(err.text, faults[k].message);
        if (kernel != NULL)
            shmt_kernel_free(kernel);
    }
    write_files();
}

/* Layers, one address for each dimension, a channel's own border, halves of
 * reals of 8 bytes. */
static void all_kinds_are_read(void)
{
    static const char *const kinds[] = {
        "{texture: voxels, extents: [8, 2, 4], layered: true, normalized: "
        "true, address: [wrap, mirror], channels: 4}",
        "{texture: voxels, extents: [8, 4], layered: true, address: border, "
        "border: [1, 0, 0, 255], channels: 4}",
        "{texture: voxels, extents: 64, memory: array, channels: 4, filter: "
        "linear, read: normalized_float, srgb: true}",
        "{texture: voxels, extents: [32], type: i32, channels: 2}",
        "{texture: voxels, extents: [8, 4, 2], type: f16, channels: 2, "
        "filter: linear}"};

    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        struct shmt_text line = {0};

        shmt_text_addf(&line, "  more: %s\n  rows: {type", kinds[k]);
        fixture_edit(yaml, "  rows: {type", shmt_text_string(&line));
        open_bench();
        CHECK_INT(measure(0, 0), SHMT_VERDICT_OK);
        CHECK_INT(textures_there(), k == 3 ? 7 : 8);
        close_bench();
        shmt_text_free(&line);
        write_files();
    }
}

/* The choice of a library on the fixture's kernels. */
struct opened {
    struct shmtune *library;
    const struct shmtune_kernel *kernel;
    struct shmtune_function *function;
};

static struct opened open_library(void)
{
    const struct shmtune_device device = fixture_device();
    struct shmtune_choice choice = SHMTUNE_CHOICE_INIT;
    struct opened opened = {0};
    struct shmtune_message message;
    int64_t bytes = -1;

    CHECK_INT(shmtune_open(fixture_path("."), &opened.library, NULL),
              SHMTUNE_OK);
    opened.kernel = shmtune_kernel_find(opened.library, "fake_texture");
    CHECK_INT(shmtune_select(opened.kernel, &device, problem, &choice),
              SHMTUNE_OK);
    CHECK_INT(shmtune_argument_bytes(&choice, 1, &bytes), SHMTUNE_OK);
    CHECK_INT(bytes, 0);       /* the pixels: a texture is given instead */
    CHECK_INT(shmtune_argument_bytes(&choice, IMAGE, &bytes), SHMTUNE_OK);
    CHECK_INT(bytes, 8);
    CHECK_INT(shmtune_prepare(&choice,
                              SHMTUNE_ALLOW_COMPILE | SHMTUNE_NO_CACHE,
                              &opened.function, &message), SHMTUNE_OK);
    return opened;
}

/* A table of zeros that all four textures are, so that the sum is known. */
enum { OUT, TABLE = 6, ARGUMENTS = 14 };
struct given {
    CUdeviceptr out, zeros;
    CUtexObject texture;
    void *arguments[ARGUMENTS];
};

static void give(struct given *given)
{
    CUDA_RESOURCE_DESC of = {.resType = CU_RESOURCE_TYPE_LINEAR};
    const CUDA_TEXTURE_DESC as = {.flags = CU_TRSF_READ_AS_INTEGER};

    *given = (struct given){0};
    CHECK_INT(driver->MemAlloc(&given->out, ROWS * COLS * sizeof(float)), 0);
    CHECK_INT(driver->MemAlloc(&given->zeros, 256), 0);
    memset((void *)given->zeros, 0, 256);
    of.res.linear.devPtr = given->zeros;
    of.res.linear.format = CU_AD_FORMAT_FLOAT;
    of.res.linear.numChannels = 1;
    of.res.linear.sizeInBytes = 256;
    CHECK_INT(driver->TexObjectCreate(&given->texture, &of, &as, NULL), 0);
    given->arguments[OUT] = &given->out;
    for (size_t k = IMAGE; k <= VOLUME; k++)
        given->arguments[k] = &given->texture;
}

static void launch_zeros(const struct opened *opened, struct given *given)
{
    struct shmtune_message message;
    int wrong = 0;

    CHECK_INT(shmtune_launch(opened->function, given->arguments, NULL,
                             &message), SHMTUNE_OK);
    for (int i = 0; i < ROWS * COLS; i++)
        wrong += ((float *)given->out)[i] != 0;
    CHECK_INT(wrong, 0);
}

static void launch_without(const struct opened *opened, struct given *given,
                           const char *text)
{
    struct shmtune_message message;

    CHECK_INT(shmtune_launch(opened->function, given->arguments, NULL,
                             &message), SHMTUNE_INVALID_ARGUMENT);
    CHECK_HAS(message.text, text);
}

static void take_back(struct opened *opened, struct given *given)
{
    driver->TexObjectDestroy(given->texture);
    driver->MemFree(given->out);
    driver->MemFree(given->zeros);
    shmtune_release(opened->function);
    shmtune_close(opened->library);
}

static void applications_give_their_own(void)
{
    struct opened opened = open_library();
    struct shmtune_argument argument = SHMTUNE_ARGUMENT_INIT;
    CUtexObject none = 0;
    struct given given;

    CHECK_INT(shmtune_argument_at(opened.kernel, IMAGE, &argument),
              SHMTUNE_OK);
    CHECK_INT(argument.role, SHMTUNE_TEXTURE);
    CHECK_INT(argument.element_bytes, 8);
    CHECK_TEXT(argument.type, "texture");
    give(&given);
    launch_zeros(&opened, &given);
    given.arguments[TABLE] = NULL;
    launch_without(&opened, &given, "the texture table (argument 6) is null");
    given.arguments[TABLE] = &none;
    launch_without(&opened, &given, "the texture table (argument 6) is null");
    take_back(&opened, &given);
}

/* Or in the struct that the library makes of it. */
static void applications_give_them_for_a_struct(void)
{
    struct opened opened;
    struct given given;

    pack_image();
    opened = open_library();
    give(&given);
    launch_zeros(&opened, &given);
    given.arguments[IMAGE] = NULL;
    launch_without(&opened, &given, "the texture image (argument 4) is null");
    take_back(&opened, &given);
    write_files();
}

int main(void)
{
    CUcontext context;

    fixture_driver(&driver, &nvrtc);
    fixture_begin();
    write_files();
    CHECK_RUN(candidates_get_them);
    CHECK_RUN(failures_are_told);
    CHECK_RUN(workspaces_are_read_where_they_are);
    CHECK_RUN(structs_have_them);
    CHECK_RUN(others_are_refused);
    CHECK_RUN(all_kinds_are_read);
    CHECK_INT(driver->DevicePrimaryCtxRetain(&context, 0), 0);
    CHECK_INT(driver->CtxSetCurrent(context), 0);
    CHECK_RUN(applications_give_their_own);
    CHECK_RUN(applications_give_them_for_a_struct);
    fixture_end();
    return CHECK_END();
}
