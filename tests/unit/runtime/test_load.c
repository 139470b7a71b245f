/* SPDX-License-Identifier: MIT */
/* Preparing and launching, on the fake driver: where binaries come from, what
 * is refused, what a launch does.  Compiles with the real NVRTC. */
#include "shmtune.h"

#include <sys/auxv.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/path.h"
#include "tests/fake/fake_kernel.h"
#include "tests/support/allocations.h"
#include "tests/support/catalogue_fixture.h"
#include "tests/support/check.h"
#include "tests/support/driver_fixture.h"

enum { N = 1000, PARAMETERS = 6 };

static const char *root;
static struct shmtune *library;
static struct shmtune_choice choice = SHMTUNE_CHOICE_INIT;
static struct shmtune_message message;
static const struct shmt_driver *driver;
static CUcontext context;

/* Prepares and releases. */
static enum shmtune_status try(unsigned flags)
{
    struct shmtune_function *function = NULL;
    enum shmtune_status status;

    message.text[0] = '\0';
    status = shmtune_prepare(&choice, flags, &function, &message);
    CHECK((status == SHMTUNE_OK) == (function != NULL));
    CHECK((status == SHMTUNE_OK) == (message.text[0] == '\0'));
    shmtune_release(function);
    return status;
}

static void no_context(void)
{
    struct shmtune_device device = {.size = sizeof device, .warp_size = 7};

    CHECK_INT(shmtune_device_query(0, &device, &message), SHMTUNE_OK);
    CHECK_INT(device.compute_major, 9);
    CHECK_INT(shmtune_device_query(1, &device, &message), SHMTUNE_NO_DEVICE);
    CHECK_HAS(message.text, "no device 1: there is 1");
    CHECK_INT(shmtune_device_query(-2, &device, &message), SHMTUNE_NO_DEVICE);
    CHECK_INT(shmtune_device_query(SHMTUNE_CURRENT_DEVICE, &device, &message),
              SHMTUNE_NO_DEVICE);
    CHECK_HAS(message.text, "no CUDA context is current");
    CHECK_INT(try(SHMTUNE_ALLOW_COMPILE), SHMTUNE_NO_DEVICE);

    CHECK_INT(driver->DevicePrimaryCtxRetain(&context, 0), 0);
    CHECK_INT(driver->CtxSetCurrent(context), 0);
    device.warp_size = 7;
    CHECK_INT(shmtune_device_query(SHMTUNE_CURRENT_DEVICE, &device, &message),
              SHMTUNE_OK);
    CHECK_INT(device.warp_size, 32);
}

/* The one file in a folder whose name ends in `suffix`. */
static const char *find_one(const char *folder, const char *suffix,
                            char *path, size_t room)
{
    struct shmt_arena *arena = shmt_arena_new();
    const char *const *names;
    size_t count = 0;

    path[0] = '\0';
    if (shmt_path_list(arena, folder, suffix, &names, &count, NULL) ==
            SHMTUNE_OK && count > 0)
        snprintf(path, room, "%s/%s", folder, names[0]);
    shmt_arena_free(arena);
    return count == 1 ? path : NULL;
}

static const char *cached(const char *suffix)
{
    static char path[1024];

    return find_one(fixture_path("cache/shmtune/cubin"), suffix, path,
                    sizeof path);
}

static void binaries_are_cached(void)
{
    struct stat about;

    fixture_remove("cache");
    CHECK_INT(try(0), SHMTUNE_NOT_FOUND);
    CHECK_HAS(message.text, "SHMTUNE_ALLOW_COMPILE");
    CHECK_HAS(message.text, "sm_90");
    CHECK_INT(try(SHMTUNE_ALLOW_COMPILE | SHMTUNE_NO_CACHE), SHMTUNE_OK);
    CHECK(cached(".cubin") == NULL);
    CHECK_INT(try(SHMTUNE_ALLOW_COMPILE), SHMTUNE_OK);
    CHECK_INT(stat(fixture_path("cache/shmtune/cubin"), &about), 0);
    CHECK_INT(about.st_mode & 07777, 0700);
    CHECK(cached(".cubin") != NULL);
    CHECK(cached(".res") != NULL);
    CHECK_INT(try(0), SHMTUNE_OK);
    CHECK_INT(try(SHMTUNE_NO_CACHE), SHMTUNE_NOT_FOUND);
}

static bool secure;
unsigned long __real_getauxval(unsigned long type);
unsigned long __wrap_getauxval(unsigned long type);

unsigned long __wrap_getauxval(unsigned long type)
{
    return type == AT_SECURE ? secure : __real_getauxval(type);
}

/* With the rights of another user nothing is written, and what is there is not
 * used: it is the caller's. */
static void there_is_no_cache_with_the_rights_of_another(void)
{
    secure = true;
    CHECK_INT(try(0), SHMTUNE_NOT_FOUND);
    fixture_remove("cache");
    CHECK_INT(try(SHMTUNE_ALLOW_COMPILE), SHMTUNE_OK);
    CHECK(access(fixture_path("cache"), F_OK) != 0);
    secure = false;
    CHECK_INT(try(SHMTUNE_ALLOW_COMPILE), SHMTUNE_OK);
    CHECK_INT(try(0), SHMTUNE_OK);
}

/* Change one byte, or cut the file there. */
static void damage(const char *path, long at, bool cut)
{
    FILE *file;
    int byte;

    CHECK(path != NULL);
    if (path == NULL)
        return;
    if (cut) {
        CHECK_INT(truncate(path, at), 0);
        return;
    }
    file = fopen(path, "r+b");
    CHECK(file != NULL);
    if (file == NULL)
        return;
    fseek(file, at, SEEK_SET);
    byte = fgetc(file);
    fseek(file, at, SEEK_SET);
    fputc(byte ^ 1, file);
    fclose(file);
}

/* A cache that cannot be written is no failure, and does not end the
 * program. */
static void no_file_may_be_written(void)
{
    struct rlimit before, none;

    fixture_remove("cache");
    CHECK_INT(getrlimit(RLIMIT_FSIZE, &before), 0);
    none = before;
    none.rlim_cur = 0;
    CHECK_INT(setrlimit(RLIMIT_FSIZE, &none), 0);
    CHECK_INT(try(SHMTUNE_ALLOW_COMPILE), SHMTUNE_OK);
    CHECK_INT(setrlimit(RLIMIT_FSIZE, &before), 0);
    CHECK(cached(".cubin") == NULL);
    CHECK_INT(try(SHMTUNE_ALLOW_COMPILE), SHMTUNE_OK);
    CHECK(cached(".cubin") != NULL);
}

static void damaged_binaries_are_made_again(void)
{
    static const char *const suffixes[] = {".cubin", ".res"};
    char report[1024];

    for (size_t s = 0; s < 2; s++)
        for (int cut = 0; cut < 2; cut++) {
            CHECK_INT(try(SHMTUNE_ALLOW_COMPILE), SHMTUNE_OK);
            damage(cached(suffixes[s]), 100, cut == 1);
            CHECK_INT(try(0), SHMTUNE_NOT_FOUND);
            CHECK_INT(try(SHMTUNE_ALLOW_COMPILE), SHMTUNE_OK);
            CHECK_INT(try(0), SHMTUNE_OK);
        }
    /* A folder where the file should be. */
    CHECK_INT(snprintf(report, sizeof report, "%s", cached(".res")) > 0, 1);
    CHECK_INT(unlink(report), 0);
    CHECK_INT(mkdir(report, 0700), 0);
    CHECK_INT(try(0), SHMTUNE_NOT_FOUND);
    CHECK_INT(try(SHMTUNE_ALLOW_COMPILE), SHMTUNE_OK);
    fixture_remove("cache");
}

/* How many notes of a handle speak of the cache. */
static size_t cache_notes(void)
{
    struct shmtune *other = NULL;
    size_t count = 0;

    CHECK_INT(shmtune_open(root, &other, &message), SHMTUNE_OK);
    for (size_t k = 0; k < shmtune_note_count(other); k++)
        if (strncmp(shmtune_note(other, k), "cache: ", 7) == 0)
            count++;
    shmtune_close(other);
    return count;
}

static void caches_of_others_are_not_used(void)
{
    const char *const ours[] = {"cache", "cache/shmtune",
                                "cache/shmtune/cubin"};
    char before[1024];
    struct stat about;

    CHECK_INT(try(SHMTUNE_ALLOW_COMPILE), SHMTUNE_OK);
    CHECK_INT(cache_notes(), 0);
    for (size_t k = 0; k < 3; k++) {
        CHECK_INT(chmod(fixture_path(ours[k]), 0777), 0);
        CHECK_INT(try(0), SHMTUNE_NOT_FOUND);
        CHECK_HAS(message.text, "with mode 0777, and has to be");
        CHECK_INT(cache_notes(), 1);
        /* Nothing is written to it either. */
        CHECK_INT(unlink(cached(".res")), 0);
        CHECK_INT(try(SHMTUNE_ALLOW_COMPILE), SHMTUNE_OK);
        CHECK(cached(".res") == NULL);
        CHECK_INT(chmod(fixture_path(ours[k]), 0700), 0);
        CHECK_INT(try(SHMTUNE_ALLOW_COMPILE), SHMTUNE_OK);
        CHECK_INT(try(0), SHMTUNE_OK);
    }
    /* Each file on its own, and it is put right. */
    for (size_t k = 0; k < 2; k++) {
        snprintf(before, sizeof before, "%s", cached(k == 0 ? ".res"
                                                            : ".cubin"));
        CHECK_INT(chmod(before, 0666), 0);
        CHECK_INT(try(0), SHMTUNE_NOT_FOUND);
        CHECK_HAS(message.text, "with mode 0666, and has to be");
        CHECK_INT(try(SHMTUNE_ALLOW_COMPILE), SHMTUNE_OK);
        CHECK(stat(before, &about) == 0 && (about.st_mode & 0777) == 0600);
        CHECK_INT(try(0), SHMTUNE_OK);
        if (geteuid() != 0)
            continue;
        CHECK_INT(chown(before, 65534, 0), 0);
        CHECK_INT(try(0), SHMTUNE_NOT_FOUND);
        CHECK_HAS(message.text, "is user 65534's");
        CHECK_INT(try(SHMTUNE_ALLOW_COMPILE), SHMTUNE_OK);
        CHECK_INT(try(0), SHMTUNE_OK);
    }
    CHECK_INT(try(SHMTUNE_ALLOW_COMPILE), SHMTUNE_OK);
    CHECK_INT(try(0), SHMTUNE_OK);
    CHECK_INT(chmod(fixture_path("cache/shmtune/cubin"), 0770), 0);
    CHECK_INT(try(0), SHMTUNE_NOT_FOUND);
    CHECK_HAS(message.text, "with mode 0770, and has to be");
    CHECK_INT(try(SHMTUNE_ALLOW_COMPILE), SHMTUNE_OK);
    CHECK_INT(chmod(fixture_path("cache/shmtune/cubin"), 0700), 0);
    CHECK_INT(try(0), SHMTUNE_OK);
    /* A place where nothing can be written is no failure. */
    setenv("XDG_CACHE_HOME", "/dev/null", 1);
    CHECK_INT(try(0), SHMTUNE_NOT_FOUND);
    CHECK_HAS(message.text, "/dev/null");
    CHECK_INT(try(SHMTUNE_ALLOW_COMPILE), SHMTUNE_OK);
    setenv("XDG_CACHE_HOME", fixture_path("cache"), 1);
}

/* The binary in cubins/. */
static const char *shipped(void)
{
    static char path[1024];

    return find_one(fixture_path("cubins"), ".cubin", path, sizeof path);
}

/* What the cache has may be shipped beside the kernels. */
static void binaries_are_shipped(void)
{
    fixture_remove("cache");
    CHECK_INT(try(SHMTUNE_ALLOW_COMPILE), SHMTUNE_OK);
    CHECK_INT(rename(fixture_path("cache/shmtune/cubin"),
                     fixture_path("cubins")), 0);
    CHECK_INT(try(0), SHMTUNE_OK);
    CHECK_INT(try(SHMTUNE_NO_CACHE), SHMTUNE_OK);
    CHECK(cached(".cubin") == NULL);
    for (unsigned flags = 0; flags <= SHMTUNE_NO_CACHE;
         flags += SHMTUNE_NO_CACHE) {
        damage(shipped(), 100, flags != 0);
        CHECK_INT(try(flags), SHMTUNE_NOT_FOUND);
        CHECK_HAS(message.text, "no binary for sm_90 in ");
        CHECK_HAS(message.text, flags == 0 ? "/cubins or /"
                                           : "SHMTUNE_NO_CACHE leaves it");
        CHECK_HAS(message.text, flags == 0
                                    ? ".res:4:9: the digest of the binary is "
                                    : ".res:3:8: the binary has 100 bytes, "
                                      "expected ");
    }
    fixture_remove("cubins");
    CHECK_INT(try(0), SHMTUNE_NOT_FOUND);
    CHECK_HAS(message.text, "/cubins or ");
}

/* The library starts no compiler that is a program: it says what it needs. */
static void kernels_of_nvcc_need_their_binaries(void)
{
    const struct shmtune_device device = fixture_device();
    const struct shmtune_choice kept = choice;
    const int64_t problem[] = {N};
    struct shmtune *other = NULL;

    fixture_edit("kernels/fake_kernel.yaml", "source: fake_kernel.cu",
                 "source: fake_kernel.cu\ncompiler: nvcc");
    CHECK_INT(shmtune_open(root, &other, &message), SHMTUNE_OK);
    CHECK_INT(shmtune_select(shmtune_kernel_find(other, "fake_kernel"),
                             &device, problem, &choice), SHMTUNE_OK);
    CHECK_INT(try(SHMTUNE_ALLOW_COMPILE), SHMTUNE_NOT_FOUND);
    CHECK_HAS(message.text, "kernel fake_kernel: no binary for sm_90 in ");
    CHECK_HAS(message.text, "/cubins or ");
    CHECK_HAS(message.text, "nvcc compiles it");
    CHECK_HAS(message.text, "check TUNING --cubins DIR");
    choice = kept;
    fixture_copy("fake_kernel.yaml");
    shmtune_close(other);
}

static void what_is_refused(void)
{
    const struct shmtune_choice kept = choice;
    uint16_t values[PARAMETERS];
    struct shmtune_function *function = NULL;

    CHECK_INT(shmtune_prepare(NULL, 0, &function, &message),
              SHMTUNE_INVALID_ARGUMENT);
    CHECK_INT(shmtune_prepare(&choice, 0, NULL, &message),
              SHMTUNE_INVALID_ARGUMENT);
    CHECK_INT(try(4), SHMTUNE_INVALID_ARGUMENT);
    CHECK_HAS(message.text, "the flags are 0x4, known are "
                            "SHMTUNE_ALLOW_COMPILE, 0x1, and");
    choice.compute_minor = 7;
    CHECK_INT(try(SHMTUNE_ALLOW_COMPILE), SHMTUNE_INVALID_ARGUMENT);
    CHECK_HAS(message.text, "9.7");
    choice = kept;

    memcpy(values, choice.values, sizeof values);
    choice.values = values;
    values[5] = 1;   /* DYNAMIC: 64 KiB, by opt-in */
    CHECK_INT(try(SHMTUNE_ALLOW_COMPILE), SHMTUNE_OK);
    values[5] = 2;   /* 1000000 bytes */
    CHECK_INT(try(SHMTUNE_ALLOW_COMPILE), SHMTUNE_NO_CONFIGURATION);
    CHECK_HAS(message.text, "bytes a block, the device allows 232448");
    choice = kept;

    setenv("FAKE_CUDA_FAIL", "ModuleLoadData=2", 1);
    CHECK_INT(try(SHMTUNE_ALLOW_COMPILE), SHMTUNE_NO_MEMORY);
    CHECK_HAS(message.text, "CUDA_ERROR_OUT_OF_MEMORY");
    setenv("FAKE_CUDA_FAIL", "ModuleGetFunction=500", 1);
    CHECK_INT(try(SHMTUNE_ALLOW_COMPILE), SHMTUNE_CUDA);
    CHECK_HAS(message.text, "scale");
    unsetenv("FAKE_CUDA_FAIL");
    CHECK_INT(try(SHMTUNE_ALLOW_COMPILE), SHMTUNE_OK);
}

/* Device memory of the fake driver is memory. */
static float *out, *x;
static int *acc, *counter;

static CUdeviceptr on_device(size_t bytes)
{
    CUdeviceptr pointer = 0;

    CHECK_INT(driver->MemAlloc(&pointer, bytes), 0);
    return pointer;
}

static void set_buffers(void)
{
    for (int i = 0; i < N; i++) {
        out[i] = -1;
        x[i] = (float)i;
        acc[i] = i;
    }
    counter[0] = 99;
}

static int right_elements(void)
{
    int right = 0;

    for (int i = 0; i < N; i++)
        right += out[i] == 2 * x[i] && acc[i] == i + 1;
    return right;
}

static void launches(void)
{
    struct shmtune_function *function = NULL;
    void *arguments[] = {&out, &x, &acc, &counter, NULL, NULL, NULL};
    float *const kept = out;
    int fault = FAULT_UNWRITTEN;
    size_t before;

    CHECK_INT(shmtune_prepare(&choice, SHMTUNE_ALLOW_COMPILE, &function,
                              &message), SHMTUNE_OK);
    if (function == NULL)
        return;
    set_buffers();
    before = allocations;
    CHECK_INT(shmtune_launch(function, arguments, NULL, &message),
              SHMTUNE_OK);
    CHECK_INT(allocations - before, 0);
    CHECK_INT(right_elements(), N);
    CHECK_INT(counter[0], 1);   /* it was cleared */

    /* A scalar of the caller's own: the kernel leaves one element out. */
    set_buffers();
    arguments[5] = &fault;
    CHECK_INT(shmtune_launch(function, arguments, NULL, &message),
              SHMTUNE_OK);
    CHECK_INT(right_elements(), N - 1);
    arguments[5] = NULL;

    set_buffers();
    out = NULL;
    CHECK_INT(shmtune_launch(function, arguments, NULL, &message),
              SHMTUNE_INVALID_ARGUMENT);
    CHECK_HAS(message.text, "the buffer out (argument 0) is null");
    out = kept;
    arguments[1] = NULL;
    CHECK_INT(shmtune_launch(function, arguments, NULL, &message),
              SHMTUNE_INVALID_ARGUMENT);
    CHECK_HAS(message.text, "the buffer x (argument 1) is null");
    arguments[1] = &x;
    CHECK_INT(counter[0], 99);
    CHECK_INT(out[0], -1);
    CHECK_INT(shmtune_launch(function, NULL, NULL, &message),
              SHMTUNE_INVALID_ARGUMENT);
    CHECK_HAS(message.text, "arguments is NULL");
    CHECK_INT(shmtune_launch(NULL, arguments, NULL, &message),
              SHMTUNE_INVALID_ARGUMENT);
    CHECK_HAS(message.text, "function is NULL");
    shmtune_release(function);
}

/* One binary, two problems. */
static void another_problem(void)
{
    const struct shmtune_device device = fixture_device();
    const int64_t problem[] = {N / 2};
    const struct shmtune_choice kept = choice;
    struct shmtune_function *whole = NULL, *half = NULL, *none = NULL;
    void *arguments[] = {&out, &x, &acc, &counter, NULL, NULL, NULL};
    uint16_t values[PARAMETERS];

    CHECK_INT(shmtune_prepare(&choice, SHMTUNE_ALLOW_COMPILE, &whole,
                              &message), SHMTUNE_OK);
    CHECK_INT(shmtune_select(choice.kernel, &device, problem, &choice),
              SHMTUNE_OK);
    CHECK_INT(shmtune_resize(whole, &choice, &half, &message), SHMTUNE_OK);
    if (half == NULL)
        return;
    driver->CtxSetCurrent(NULL);
    CHECK_INT(shmtune_resize(half, &kept, &none, &message),
              SHMTUNE_NO_DEVICE);
    driver->CtxSetCurrent(context);
    /* TILE is compiled in, COST is not. */
    memcpy(values, choice.values, sizeof values);
    choice.values = values;
    values[0]++;
    CHECK_INT(shmtune_resize(whole, &choice, &none, &message),
              SHMTUNE_NOT_FOUND);
    CHECK_HAS(message.text, "prepare it");
    values[0]--;
    values[3]--;
    CHECK_INT(shmtune_resize(whole, &choice, &none, &message), SHMTUNE_OK);
    CHECK(none != NULL);
    shmtune_release(none);
    shmtune_release(whole);
    set_buffers();
    CHECK_INT(shmtune_launch(half, arguments, NULL, &message), SHMTUNE_OK);
    CHECK_INT(right_elements(), N / 2);
    shmtune_release(half);
    choice = kept;
}

/* The carve-outs of the launches that were made, and a comma behind each. */
static const char *carveouts(void)
{
    static char text[64];
    FILE *file = fopen(fixture_path("carveouts"), "r");
    char line[16];

    text[0] = '\0';
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        line[strcspn(line, "\n")] = ',';
        strncat(text, line, sizeof text - strlen(text) - 1);
    }
    if (file != NULL)
        fclose(file);
    fixture_remove("carveouts");
    return text;
}

/* Of two launches of one entry, and of two choices that share a binary. */
static void each_launch_has_its_carveout(void)
{
    const struct shmtune_device device = fixture_device();
    const int64_t problems[][1] = {{N}, {N / 2}};
    struct shmtune *other = NULL;
    struct shmtune_choice large = SHMTUNE_CHOICE_INIT, small = large;
    struct shmtune_function *whole = NULL, *half = NULL;
    void *arguments[] = {&out, &x, &acc, &counter, NULL, NULL, NULL};
    const struct shmtune_kernel *found;

    fixture_edit("kernels/fake_kernel.yaml", "  shared_dynamic: DYNAMIC\n",
                 "  carveout: 100 if n > 600 else -1\n"
                 "  arguments: [out, x, acc, counter, n, fault, cost]\n"
                 "- entry: scale\n"
                 "  grid: [1]\n"
                 "  block: [TILE]\n"
                 "  carveout: 50\n");
    CHECK_INT(shmtune_open(root, &other, NULL), SHMTUNE_OK);
    found = shmtune_kernel_find(other, "fake_kernel");
    CHECK_INT(shmtune_select(found, &device, problems[0], &large), SHMTUNE_OK);
    CHECK_INT(shmtune_select(found, &device, problems[1], &small), SHMTUNE_OK);
    CHECK_INT(shmtune_prepare(&large, SHMTUNE_ALLOW_COMPILE, &whole, &message),
              SHMTUNE_OK);
    CHECK_INT(shmtune_resize(whole, &small, &half, &message), SHMTUNE_OK);
    if (whole == NULL || half == NULL)
        return;
    setenv("FAKE_CUDA_CARVEOUTS", fixture_path("carveouts"), 1);
    CHECK_INT(shmtune_launch(whole, arguments, NULL, &message), SHMTUNE_OK);
    CHECK_TEXT(carveouts(), "100,50,");
    CHECK_INT(shmtune_launch(half, arguments, NULL, &message), SHMTUNE_OK);
    CHECK_TEXT(carveouts(), "-1,50,");
    CHECK_INT(shmtune_launch(whole, arguments, NULL, &message), SHMTUNE_OK);
    CHECK_TEXT(carveouts(), "100,50,");
    unsetenv("FAKE_CUDA_CARVEOUTS");
    shmtune_release(half);
    shmtune_release(whole);
    shmtune_close(other);
    fixture_copy("fake_kernel.yaml");
}

static void errors_of_a_launch(void)
{
    struct shmtune_function *function = NULL;
    void *arguments[] = {&out, &x, &acc, &counter, NULL, NULL, NULL};
    CUcontext current;

    CHECK_INT(shmtune_prepare(&choice, SHMTUNE_ALLOW_COMPILE, &function,
                              &message), SHMTUNE_OK);
    if (function == NULL)
        return;
    setenv("FAKE_CUDA_FAIL", "LaunchKernel=700", 1);
    CHECK_INT(shmtune_launch(function, arguments, NULL, &message),
              SHMTUNE_CUDA);
    CHECK_HAS(message.text, "CUDA_ERROR_ILLEGAL_ADDRESS");
    CHECK_HAS(message.text, "the context is lost");
    CHECK_INT(shmtune_launch(function, arguments, NULL, NULL), SHMTUNE_CUDA);
    setenv("FAKE_CUDA_FAIL", "MemsetD8Async=1", 1);
    CHECK_INT(shmtune_launch(function, arguments, NULL, &message),
              SHMTUNE_CUDA);
    CHECK_HAS(message.text, "cuMemsetD8Async: CUDA_ERROR_INVALID_VALUE");
    driver->CtxSetCurrent(NULL);
    CHECK_INT(shmtune_launch(function, arguments, NULL, &message),
              SHMTUNE_CUDA);
    CHECK_HAS(message.text, "not the one it was prepared in");
    unsetenv("FAKE_CUDA_FAIL");
    /* Releasing leaves the current context as it was. */
    shmtune_release(function);
    CHECK_INT(driver->CtxGetCurrent(&current), 0);
    CHECK(current == NULL);
    driver->CtxSetCurrent(context);
}

/* Each allocation of a preparation fails once.  (Without memory for its name
 * there is no cache.) */
static void memory_runs_out(void)
{
    size_t before;
    long count;

    CHECK_INT(try(SHMTUNE_ALLOW_COMPILE), SHMTUNE_OK);
    before = allocations;
    CHECK_INT(try(0), SHMTUNE_OK);
    count = (long)(allocations - before);
    for (long k = 1; k <= count; k++) {
        enum shmtune_status status;

        allocations_failing = k;
        status = try(0);
        allocations_failing = 0;
        CHECK(status == SHMTUNE_NO_MEMORY || status == SHMTUNE_NOT_FOUND);
    }
    printf("# %ld allocations\n", count);
    CHECK_INT(try(0), SHMTUNE_OK);
}

static void source_that_does_not_compile(void)
{
    const struct shmtune_choice kept = choice;
    const struct shmtune_device device = fixture_device();
    const int64_t problem[] = {N};
    struct shmtune *other = NULL;

    fixture_put_text("kernels/fake_kernel.cu", "extern \"C\" __global__ void "
                                               "scale(int n) { no_such(n); }");
    CHECK_INT(shmtune_open(root, &other, NULL), SHMTUNE_OK);
    CHECK_INT(shmtune_select(shmtune_kernel_find(other, "fake_kernel"),
                             &device, problem, &choice), SHMTUNE_OK);
    CHECK_INT(try(SHMTUNE_ALLOW_COMPILE), SHMTUNE_COMPILE);
    CHECK_HAS(message.text, "no_such");
    choice = kept;
    shmtune_close(other);
}

/* Where the launch would read beyond what it is given. */
static void spec_that_passes_too_little(void)
{
    const struct shmtune_choice kept = choice;
    const struct shmtune_device device = fixture_device();
    const int64_t problem[] = {N};
    struct shmtune *other = NULL;

    fixture_copy("fake_kernel.cu");
    fixture_edit("kernels/fake_kernel.yaml", ", fault, cost]", ", fault]");
    CHECK_INT(shmtune_open(root, &other, NULL), SHMTUNE_OK);
    CHECK_INT(shmtune_select(shmtune_kernel_find(other, "fake_kernel"),
                             &device, problem, &choice), SHMTUNE_OK);
    /* Compiled, from the cache, and from beside the spec. */
    for (int round = 0; round < 3; round++) {
        CHECK_INT(try(round == 0 ? SHMTUNE_ALLOW_COMPILE : 0),
                  SHMTUNE_INVALID_FILE);
        CHECK_HAS(message.text, "kernel fake_kernel: scale takes 7 ");
        CHECK_HAS(message.text, " passes 6 of 8, 8, 8, 8, 4 and 4");
        CHECK_HAS(message.text, "fake_kernel.yaml:20:14");
        if (round == 1)
            CHECK_INT(rename(fixture_path("cache/shmtune/cubin"),
                             fixture_path("cubins")), 0);
    }
    choice = kept;
    fixture_remove("cubins");
    fixture_copy("fake_kernel.yaml");
    shmtune_close(other);
}

int main(void)
{
    const struct shmtune_device device = fixture_device();
    const int64_t problem[] = {N};
    const struct shmt_nvrtc *nvrtc;

    fixture_driver(&driver, &nvrtc);
    root = fixture_begin();
    setenv("XDG_CACHE_HOME", fixture_path("cache"), 1);
    fixture_copy("fake_kernel.yaml");
    fixture_copy("fake_kernel.cu");
    if (shmtune_open(root, &library, NULL) != SHMTUNE_OK ||
        shmtune_select(shmtune_kernel_find(library, "fake_kernel"), &device,
                       problem, &choice) != SHMTUNE_OK) {
        printf("Bail out! no kernel: %s\n", shmtune_note(library, 0));
        return EXIT_FAILURE;
    }
    CHECK_RUN(no_context);
    out = (float *)on_device(N * sizeof *out);
    x = (float *)on_device(N * sizeof *x);
    acc = (int *)on_device(N * sizeof *acc);
    counter = (int *)on_device(sizeof *counter);
    CHECK_RUN(binaries_are_cached);
    CHECK_RUN(there_is_no_cache_with_the_rights_of_another);
    CHECK_RUN(no_file_may_be_written);
    CHECK_RUN(damaged_binaries_are_made_again);
    CHECK_RUN(caches_of_others_are_not_used);
    CHECK_RUN(binaries_are_shipped);
    CHECK_RUN(kernels_of_nvcc_need_their_binaries);
    CHECK_RUN(what_is_refused);
    CHECK_RUN(launches);
    CHECK_RUN(another_problem);
    CHECK_RUN(each_launch_has_its_carveout);
    CHECK_RUN(errors_of_a_launch);
    CHECK_RUN(memory_runs_out);
    CHECK_RUN(source_that_does_not_compile);
    CHECK_RUN(spec_that_passes_too_little);
    driver->MemFree((CUdeviceptr)out);
    driver->MemFree((CUdeviceptr)x);
    driver->MemFree((CUdeviceptr)acc);
    driver->MemFree((CUdeviceptr)counter);
    shmtune_close(library);
    fixture_end();
    return CHECK_END();
}
