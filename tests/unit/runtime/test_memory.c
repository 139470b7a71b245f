/* SPDX-License-Identifier: MIT */
/* A handle that is opened from memory: selects as the folder does, which is no
 * longer there; launches what the pack has without a compiler; and whatever is
 * done to the bytes, a table that is wrong is refused, and a file that is
 * wrong is left out. */
#include "shmtune.h"

#include <stdlib.h>

#include "base/base.h"
#include "tests/support/catalogue_fixture.h"
#include "tests/support/check.h"
#include "tests/support/driver_fixture.h"
#include "tests/support/hostile.h"

enum { FILES = 16, N = 1000 };

static struct shmt_arena *arena;
static struct shmt_pack_file files[FILES];
static size_t file_count;
static struct shmtune_message message;
static const struct shmtune_device *device;

static void add(const char *name)
{
    struct shmt_pack_file *const file = &files[file_count++];

    file->name = shmt_arena_copy(arena, name, strlen(name));
    CHECK_INT(shmt_path_read(arena, fixture_path(name), 1 << 28, &file->data,
                             &file->size, NULL), SHMTUNE_OK);
}

static void add_folder(const char *folder)
{
    const char *const *names;
    char name[256];
    size_t count = 0;

    CHECK_INT(shmt_path_list(arena, fixture_path(folder), "", &names, &count,
                             NULL), SHMTUNE_OK);
    for (size_t k = 0; k < count; k++) {
        snprintf(name, sizeof name, "%s/%s", folder, names[k]);
        add(name);
    }
}

static void make(struct shmt_text *text)
{
    struct shmt_error err;

    shmt_text_clear(text);
    CHECK_INT(shmt_pack_write(files, file_count, text, &err), SHMTUNE_OK);
}

static struct shmtune *open_pack(const struct shmt_text *pack)
{
    struct shmtune *library = NULL;

    CHECK_INT(shmtune_open_memory(pack->data, pack->length, &library,
                                  &message), SHMTUNE_OK);
    return library;
}

/* -- the same as from a folder -------------------------------------------- */

static void opens_as_the_folder(void)
{
    const int64_t problem[] = {64, 64}, near[] = {64, 65};
    struct shmtune_choice choice = SHMTUNE_CHOICE_INIT;
    struct shmt_text pack = {0};
    const struct shmtune_kernel *kernel;
    struct shmtune *library, *twin;

    make(&pack);
    fixture_remove("kernels");
    fixture_remove("tunings");
    library = open_pack(&pack);
    twin = open_pack(&pack);
    if (library == NULL || twin == NULL)
        return;
    kernel = shmtune_kernel_find(library, "toy");
    CHECK_INT(shmtune_note_count(library), 0);
    CHECK_INT(shmtune_kernel_count(library), 1);
    CHECK_INT(shmtune_tuned_device_count(kernel), 1);
    CHECK_INT(shmtune_select(kernel, device, problem, &choice), SHMTUNE_OK);
    CHECK_INT(choice.match, SHMTUNE_EXACT);
    CHECK_HAS(choice.file, "memory:0/tunings/toy/a.yaml");
    CHECK_INT(shmtune_select(kernel, device, near, &choice), SHMTUNE_OK);
    CHECK_INT(choice.match, SHMTUNE_NEAREST_SIZE);
    CHECK_INT(shmtune_select(shmtune_kernel_find(twin, "toy"), device,
                             problem, &choice), SHMTUNE_OK);
    CHECK_HAS(choice.file, "memory:1/tunings/");
    shmtune_close(library);
    shmtune_close(twin);
    shmt_text_free(&pack);
}

static void arguments_are_checked(void)
{
    struct shmtune *library = NULL;

    CHECK_INT(shmtune_open_memory(NULL, 4, &library, &message),
              SHMTUNE_INVALID_ARGUMENT);
    CHECK_HAS(message.text, "bytes is NULL");
    CHECK_INT(shmtune_open_memory("", 0, NULL, &message),
              SHMTUNE_INVALID_ARGUMENT);
    CHECK_HAS(message.text, "out is NULL");
    CHECK_INT(shmtune_open_memory("", 0, &library, &message),
              SHMTUNE_INVALID_FILE);
    CHECK_HAS(message.text, "the 0 bytes are no pack");
    CHECK(library == NULL);
}

static void many_are_open_at_a_time(void)
{
    static struct shmtune *open[SHMT_PACK_OPEN + 1];
    struct shmt_text pack = {0};
    struct shmt_error err;
    size_t count = 0;

    CHECK_INT(shmt_pack_write(NULL, 0, &pack, &err), SHMTUNE_OK);
    while (count <= SHMT_PACK_OPEN &&
           shmtune_open_memory(pack.data, pack.length, &open[count],
                               &message) == SHMTUNE_OK)
        count++;
    CHECK_INT(count, SHMT_PACK_OPEN);
    CHECK_HAS(message.text, "1024 packs are open");
    CHECK_INT(shmtune_kernel_count(open[0]), 0);
    CHECK_INT(shmtune_note_count(open[0]), 1);
    shmtune_close(open[7]);
    CHECK_INT(shmtune_open_memory(pack.data, pack.length, &open[7], NULL),
              SHMTUNE_OK);
    for (size_t k = 0; k < count; k++)
        shmtune_close(open[k]);
    shmt_text_free(&pack);
}

/* -- damage --------------------------------------------------------------- */

static size_t opened;

/* Whatever it is, it opens or it does not. */
static void try(const char *data, size_t size)
{
    const int64_t problem[] = {64, 64};
    struct shmtune_choice choice = SHMTUNE_CHOICE_INIT;
    struct shmtune *library = NULL;
    const struct shmtune_kernel *kernel;
    const enum shmtune_status status =
        shmtune_open_memory(data, size, &library, &message);

    CHECK((status == SHMTUNE_OK) == (library != NULL));
    if (status != SHMTUNE_OK) {
        CHECK_INT(status, SHMTUNE_INVALID_FILE);
        CHECK(message.text[0] != '\0');
        return;
    }
    opened++;
    kernel = shmtune_kernel_find(library, "toy");
    if (kernel != NULL)
        (void)shmtune_select(kernel, device, problem, &choice);
    CHECK(kernel != NULL || shmtune_note_count(library) > 0);
    shmtune_close(library);
}

static void bytes_are_damaged(void)
{
    struct shmt_text pack = {0};

    make(&pack);
    hostile_cuts(try, pack.data, pack.length);
    CHECK_INT(opened, 0);
    hostile_flips(try, pack.data, pack.length, 400);
    CHECK(opened > 0);
    shmt_text_free(&pack);
}

/* One byte of a file is another: that file is left out, with a note. */
static void a_file_is_damaged(void)
{
    static const char *const marks[] = {"format: tuning/", "format: kernel/"};
    struct shmt_text pack = {0};

    for (size_t k = 0; k < 2; k++) {
        struct shmtune *library;
        char *at;

        make(&pack);
        at = strstr(pack.data, marks[k]);
        CHECK(at != NULL);
        if (at == NULL)
            return;
        at[0] ^= 1;
        library = open_pack(&pack);
        CHECK_INT(shmtune_kernel_count(library), 1 - k);
        CHECK_HAS(shmtune_note(library, 0), "its bytes are damaged");
        CHECK_HAS(shmtune_note(library, 0), "memory:0/");
        shmtune_close(library);
    }
    shmt_text_free(&pack);
}

/* A table with its right digest in front of some data. */
static void seal(struct shmt_text *text, const char *table, size_t count,
                 const char *data)
{
    struct shmt_digest digest;
    char sum[SHMT_DIGEST_TEXT];

    shmt_digest_begin(&digest);
    shmt_digest_add(&digest, table, strlen(table));
    shmt_digest_end(&digest, sum);
    shmt_text_clear(text);
    shmt_text_addf(text, "shmtune pack/1 %zu %zu %zu %s\n%s%s", count,
                   strlen(table), strlen(data), sum, table, data);
}

#define D "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

static void tables_are_wrong(void)
{
    static const struct {
        size_t count;
        const char *table, *data, *said;   /* said NULL: it is right */
    } cases[] = {
        {1, D " 0 2 a\n", "xy", NULL},
        {2, D " 0 1 a\n" D " 1 1 b\n", "xy", NULL},
        /* overlapping, with a hole, out of order, beyond the end, cut */
        {2, D " 0 2 a\n" D " 1 1 b\n", "xy", "line 3 of the pack"},
        {2, D " 0 1 a\n" D " 2 0 b\n", "xy", "line 3 of the pack"},
        {2, D " 0 1 b\n" D " 1 1 a\n", "xy", "line 3 of the pack"},
        {2, D " 0 1 a\n" D " 1 1 a\n", "xy", "line 3 of the pack"},
        {1, D " 0 3 a\n", "xy", "line 2 of the pack"},
        {1, D " 0 18446744073709551615 a\n", "xy", "line 2 of the pack"},
        {1, D " 0 18446744073709551616 a\n", "xy", "line 2 of the pack"},
        {1, D " 0 1 a\n", "xy", "take 1 of its 2 bytes"},
        {1, D " 0 2 a", "xy", "too few"},
        {1, D " 0 2 ab", "xy", "line 2 of the pack"},
        {2, D " 0 2 aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
            "aaaaaaaaaaaaaa\n", "xy", "line 3 of the pack"},
        {1, D " 0 2 a\n" D " 2 0 b\n", "xy", "take 2 of its 2 bytes"},
        {1000000, D " 0 2 a\n", "xy", "too few for so many"},
        /* numbers and names */
        {1, D " 00 2 a\n", "xy", "line 2 of the pack"},
        {1, D " +0 2 a\n", "xy", "line 2 of the pack"},
        {1, D " 0  2 a\n", "xy", "line 2 of the pack"},
        {1, D " 0 2 ../a\n", "xy", "line 2 of the pack"},
        {1, D " 0 2 a/./b\n", "xy", "line 2 of the pack"},
        {1, D " 0 2 /a\n", "xy", "line 2 of the pack"},
        {1, D " 0 2 a//b\n", "xy", "line 2 of the pack"},
        {1, D " 0 2 a/\n", "xy", "line 2 of the pack"},
        {1, D " 0 2 a\tb\n", "xy", "line 2 of the pack"},
        {1, "E" D " 0 2 a\n", "xy", "line 2 of the pack"},
    };
    struct shmt_text pack = {0};
    struct shmtune *library;

    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        library = NULL;
        seal(&pack, cases[k].table, cases[k].count, cases[k].data);
        CHECK_INT(shmtune_open_memory(pack.data, pack.length, &library,
                                      &message),
                  cases[k].said == NULL ? SHMTUNE_OK : SHMTUNE_INVALID_FILE);
        if (cases[k].said != NULL)
            CHECK_HAS(message.text, cases[k].said);
        if (check_failed)
            printf("# case %zu\n", k);
        shmtune_close(library);
    }
    seal(&pack, "", 0, "");
    pack.data[13] = '2';
    CHECK_INT(shmtune_open_memory(pack.data, pack.length, &library, &message),
              SHMTUNE_INVALID_FILE);
    CHECK_HAS(message.text, "of version 2");
    shmt_text_free(&pack);
}

/* Paths in the pack: ".." does not lead out of it, "." and "//" are nothing. */
static void paths_stay_inside(void)
{
    static const struct {
        const char *path;
        enum shmt_path_kind kind;
    } cases[] = {
        {"", SHMT_PATH_FOLDER}, {"/", SHMT_PATH_FOLDER},
        {"/a", SHMT_PATH_FOLDER}, {"/a/b", SHMT_PATH_FILE},
        {"/a//./b", SHMT_PATH_FILE}, {"/x/../a/b", SHMT_PATH_FILE},
        {"/a/b/c", SHMT_PATH_ABSENT}, {"/../a", SHMT_PATH_ABSENT},
        {"/a/../..", SHMT_PATH_ABSENT}, {"/ab", SHMT_PATH_FILE},
        {"/aa", SHMT_PATH_ABSENT}, {"/a/..", SHMT_PATH_FOLDER},
    };
    struct shmt_text pack = {0};
    struct shmt_pack *open = NULL;
    const char *const *names;
    char path[64];
    size_t count = 0;

    seal(&pack, D " 0 0 a/.h\n" D " 0 0 a/b\n" D " 0 0 a/d/1\n"
         D " 0 0 a/d/2\n" D " 0 0 a/e\n" D " 0 0 ab\n", 6, "");
    CHECK_INT(shmt_pack_open(pack.data, pack.length, &open, NULL), SHMTUNE_OK);
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        snprintf(path, sizeof path, "%s%s", shmt_pack_root(open),
                 cases[k].path);
        CHECK_INT(shmt_path_kind(path), cases[k].kind);
        if (check_failed)
            printf("# %s\n", path);
    }
    snprintf(path, sizeof path, "%s/a", shmt_pack_root(open));
    CHECK_INT(shmt_path_list(arena, path, "", &names, &count, NULL),
              SHMTUNE_OK);
    CHECK_INT(count, 3);
    CHECK(count == 3 && strcmp(names[0], "b") == 0 &&
          strcmp(names[1], "d") == 0 && strcmp(names[2], "e") == 0);
    shmt_pack_close(open);
    CHECK_INT(shmt_path_kind(path), SHMT_PATH_ABSENT);
    shmt_text_free(&pack);
}

/* -- launching ------------------------------------------------------------ */

static const struct shmt_driver *driver;

static float *on_device(size_t bytes)
{
    CUdeviceptr pointer = 0;

    CHECK_INT(driver->MemAlloc(&pointer, bytes), 0);
    return (float *)pointer;   /* of the fake driver: memory */
}

/* Selects for N elements, and prepares. */
static struct shmtune_function *prepare(const struct shmtune *library,
                                        unsigned flags,
                                        enum shmtune_status expected)
{
    const int64_t problem[] = {N};
    struct shmtune_choice choice = SHMTUNE_CHOICE_INIT;
    struct shmtune_function *function = NULL;

    CHECK_INT(shmtune_select(shmtune_kernel_find(library, "fake_kernel"),
                             device, problem, &choice), SHMTUNE_OK);
    CHECK_INT(shmtune_prepare(&choice, flags, &function, &message), expected);
    return function;
}

static void launch(const struct shmtune_function *function)
{
    float *out = on_device(N * sizeof *out), *x = on_device(N * sizeof *x);
    float *acc = on_device(N * sizeof(int)), *counter = on_device(4);
    void *arguments[] = {&out, &x, &acc, &counter, NULL, NULL, NULL};
    int right = 0;

    for (int k = 0; k < N; k++)
        x[k] = (float)k;
    CHECK_INT(shmtune_launch(function, arguments, NULL, &message), SHMTUNE_OK);
    for (int k = 0; k < N; k++)
        right += out[k] == 2 * x[k];
    CHECK_INT(right, N);
    driver->MemFree((CUdeviceptr)out);
    driver->MemFree((CUdeviceptr)x);
    driver->MemFree((CUdeviceptr)acc);
    driver->MemFree((CUdeviceptr)counter);
}

static void make_current(void)
{
    CUcontext context;

    CHECK_INT(driver->DevicePrimaryCtxRetain(&context, 0), 0);
    CHECK_INT(driver->CtxSetCurrent(context), 0);
}

/* Without its binary the pack needs the compiler, with it nobody; a binary of
 * which a byte is another is none. */
static void launches_what_is_packed(void)
{
    struct shmt_text pack = {0};
    struct shmtune *library = NULL;
    size_t plain;

    file_count = 0;
    add("kernels/fake_kernel.yaml");
    add("kernels/fake_kernel.cu");
    plain = file_count;
    make(&pack);
    library = open_pack(&pack);
    prepare(library, SHMTUNE_NO_CACHE, SHMTUNE_NOT_FOUND);
    CHECK_HAS(message.text, "no binary for sm_90 in memory:0/cubins");
    shmtune_release(prepare(library, SHMTUNE_ALLOW_COMPILE, SHMTUNE_OK));
    shmtune_close(library);
    CHECK_INT(rename(fixture_path("cache/shmtune/cubin"),
                     fixture_path("cubins")), 0);
    add_folder("cubins");
    CHECK_INT(file_count, plain + 2);
    make(&pack);
    fixture_remove("cubins");
    fixture_remove("kernels");
    library = open_pack(&pack);
    for (unsigned flags = 0; flags <= SHMTUNE_NO_CACHE;
         flags += SHMTUNE_NO_CACHE) {
        struct shmtune_function *const function =
            prepare(library, flags, SHMTUNE_OK);

        if (function != NULL)
            launch(function);
        shmtune_release(function);
    }
    for (size_t k = 0; k < pack.length; k++)
        if (memcmp(pack.data + k, "\177ELF", 4) == 0) {
            pack.data[k + 64] ^= 1;
            break;
        }
    prepare(library, SHMTUNE_NO_CACHE, SHMTUNE_NOT_FOUND);
    CHECK_HAS(message.text, "its bytes are damaged");
    shmtune_close(library);
    shmt_text_free(&pack);
}

/* The compiler opens headers as files, so it is not asked. */
static void headers_are_not_compiled_from_memory(void)
{
    struct shmt_text pack = {0};
    struct shmtune *library;

    fixture_copy("fake_kernel.yaml");
    fixture_copy("fake_kernel.cu");
    fixture_put_text("kernels/own.h", "\n");
    fixture_edit("kernels/fake_kernel.cu", "\n", "\n#include \"own.h\"\n");
    file_count = 0;
    add_folder("kernels");
    make(&pack);
    library = open_pack(&pack);
    prepare(library, SHMTUNE_ALLOW_COMPILE, SHMTUNE_NOT_FOUND);
    CHECK_HAS(message.text, "it includes memory:0/kernels/own.h");
    CHECK_HAS(message.text, "--arch sm_90");
    shmtune_close(library);
    shmt_text_free(&pack);
}

/* A source that the spec names by an absolute path is looked for in the pack;
 * the one of the machine is not read. */
static void absolute_names_stay_inside(void)
{
    struct shmt_text pack = {0}, name = {0};
    struct shmtune *library;
    bool said = false;

    fixture_copy("fake_kernel.yaml");
    shmt_text_addf(&name, "source: %s",
                   fixture_path("kernels/fake_kernel.cu"));
    fixture_edit("kernels/fake_kernel.yaml", "source: fake_kernel.cu",
                 shmt_text_string(&name));
    file_count = 0;
    add_folder("kernels");
    make(&pack);
    library = open_pack(&pack);
    CHECK(shmtune_kernel_find(library, "fake_kernel") == NULL);
    for (size_t k = 0; k < shmtune_note_count(library); k++)
        said |= strstr(shmtune_note(library, k),
                       "the pack has no such file") != NULL;
    CHECK(said);
    shmtune_close(library);
    shmt_text_free(&name);
    shmt_text_free(&pack);
}

int main(void)
{
    static const struct fixture_tuned tuned = {
        .rows = 64, .cols = 64, .block = 64, .time_us = 2};
    const struct shmtune_device here = fixture_device();
    const struct shmt_nvrtc *nvrtc;

    device = &here;
    arena = shmt_arena_new();
    fixture_begin();
    setenv("XDG_CACHE_HOME", fixture_path("cache"), 1);
    fixture_tune("a.yaml", &here, &tuned, 1);
    add("kernels/toy.cu");
    add("tunings/toy/a.yaml");
    add("kernels/toy.yaml");
    CHECK_RUN(opens_as_the_folder);
    CHECK_RUN(arguments_are_checked);
    CHECK_RUN(many_are_open_at_a_time);
    CHECK_RUN(bytes_are_damaged);
    CHECK_RUN(a_file_is_damaged);
    CHECK_RUN(tables_are_wrong);
    CHECK_RUN(paths_stay_inside);
    fixture_driver(&driver, &nvrtc);
    make_current();
    fixture_copy("fake_kernel.yaml");
    fixture_copy("fake_kernel.cu");
    CHECK_RUN(launches_what_is_packed);
    CHECK_RUN(headers_are_not_compiled_from_memory);
    CHECK_RUN(absolute_names_stay_inside);
    fixture_end();
    shmt_arena_free(arena);
    return CHECK_END();
}
