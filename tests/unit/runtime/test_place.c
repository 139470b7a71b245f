/* SPDX-License-Identifier: MIT */
/* What changes around an open handle: the current folder, headers, drivers,
 * compilers, programs that are started.  Compiles with the real NVRTC. */
#include "shmtune.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/path.h"
#include "tests/support/catalogue_fixture.h"
#include "tests/support/check.h"
#include "tests/support/driver_fixture.h"

static const char spec[] =
    "format: kernel/1\n"
    "name: plain\n"
    "source: plain.cu\n"
    "problem:\n"
    "  n: {default: 100}\n"
    "parameters:\n"
    "  BLOCK: {values: [32, 64], default: 32}\n"
    "launches:\n"
    "- entry: plain\n"
    "  grid: [\"ceildiv(n, BLOCK)\"]\n"
    "  block: [BLOCK]\n"
    "  arguments: [out, n]\n"
    "arguments:\n"
    "  out: {type: f32, role: output, count: n}\n"
    "  n: {type: i32, value: n}\n";
static const char source[] =
    "#include \"plain.h\"\n"
    "extern \"C\" __global__ void plain(float *out, int n)\n"
    "{\n"
    "    out[0] = VALUE + n;\n"
    "}\n";
static const char header[] = "#define VALUE 1\n";

static const char *root;
static struct shmtune_message message;

/* A number of it fits its type at the default size. */
static const char large[] =
    "format: kernel/1\n"
    "name: large\n"
    "source: plain.cu\n"
    "problem:\n"
    "  n: {default: 1}\n"
    "parameters:\n"
    "  BLOCK: {values: [32, 64], default: 32}\n"
    "launches:\n"
    "- entry: plain\n"
    "  grid: [1]\n"
    "  block: [BLOCK]\n"
    "  arguments: [out, bits]\n"
    "arguments:\n"
    "  out: {type: f32, role: output, count: n}\n"
    "  bits: {type: i32, value: n * 100000000}\n";

/* Always of one size. */
static const char fixed[] =
    "format: kernel/1\n"
    "name: fixed\n"
    "source: plain.cu\n"
    "parameters:\n"
    "  BLOCK: {values: [32, 64], default: 32}\n"
    "launches:\n"
    "- entry: plain\n"
    "  grid: [1]\n"
    "  block: [BLOCK]\n"
    "  arguments: [out, n]\n"
    "arguments:\n"
    "  out: {type: f32, role: output, count: 100}\n"
    "  n: {type: i32, value: 100}\n";

/* Of what is opened, chooses for the fake device. */
static struct shmtune *open_and_choose(const char *path,
                                       struct shmtune_choice *choice)
{
    const int64_t problem[] = {100};
    struct shmtune_device device = SHMTUNE_DEVICE_INIT;
    struct shmtune *library = NULL;

    CHECK_INT(shmtune_open(path, &library, NULL), SHMTUNE_OK);
    CHECK_INT(shmtune_device_query(0, &device, NULL), SHMTUNE_OK);
    if (shmtune_select(shmtune_kernel_find(library, "plain"), &device,
                       problem, choice) != SHMTUNE_OK) {
        printf("Bail out! no kernel: %s\n", shmtune_note(library, 0));
        exit(EXIT_FAILURE);
    }
    return library;
}

/* Prepares and releases. */
static enum shmtune_status try(const struct shmtune_choice *choice,
                               unsigned flags)
{
    struct shmtune_function *function = NULL;
    enum shmtune_status status;

    message.text[0] = '\0';
    status = shmtune_prepare(choice, flags, &function, &message);
    CHECK((status == SHMTUNE_OK) == (function != NULL));
    CHECK((status == SHMTUNE_OK) == (message.text[0] == '\0'));
    shmtune_release(function);
    return status;
}

/* How many are in the cache; the path of the last. */
static size_t cached(const char *suffix, char path[1024])
{
    struct shmt_arena *arena = shmt_arena_new();
    const char *const *names;
    size_t count = 0;

    if (shmt_path_list(arena, fixture_path("cache/shmtune/cubin"), suffix,
                       &names, &count, NULL) == SHMTUNE_OK && count > 0)
        snprintf(path, 1024, "%s/%s", fixture_path("cache/shmtune/cubin"),
                 names[count - 1]);
    shmt_arena_free(arena);
    return count;
}

/* Files that are written, and whether a program started meanwhile would have
 * them open. */
static int written, inherited;
static bool disk_is_full;
ssize_t __real_write(int file, const void *data, size_t size);
ssize_t __wrap_write(int file, const void *data, size_t size);

ssize_t __wrap_write(int file, const void *data, size_t size)
{
    if (file > STDERR_FILENO) {
        written++;
        inherited += (fcntl(file, F_GETFD) & FD_CLOEXEC) == 0;
        if (disk_is_full) {
            errno = ENOSPC;
            return -1;
        }
    }
    return __real_write(file, data, size);
}

static int compiled;
enum shmtune_status
__real_shmt_nvrtc_compile(const struct shmt_nvrtc *nvrtc,
                          const struct shmt_nvrtc_job *job,
                          struct shmt_arena *arena,
                          struct shmt_nvrtc_product *out,
                          struct shmt_error *err);
enum shmtune_status
__wrap_shmt_nvrtc_compile(const struct shmt_nvrtc *nvrtc,
                          const struct shmt_nvrtc_job *job,
                          struct shmt_arena *arena,
                          struct shmt_nvrtc_product *out,
                          struct shmt_error *err);

enum shmtune_status
__wrap_shmt_nvrtc_compile(const struct shmt_nvrtc *nvrtc,
                          const struct shmt_nvrtc_job *job,
                          struct shmt_arena *arena,
                          struct shmt_nvrtc_product *out,
                          struct shmt_error *err)
{
    compiled++;
    return __real_shmt_nvrtc_compile(nvrtc, job, arena, out, err);
}

static void descriptors_are_not_inherited(void)
{
    struct shmtune_choice choice = SHMTUNE_CHOICE_INIT;
    struct shmtune *library = open_and_choose(root, &choice);

    written = inherited = 0;
    CHECK_INT(try(&choice, SHMTUNE_ALLOW_COMPILE), SHMTUNE_OK);
    CHECK(written >= 2);
    CHECK_INT(inherited, 0);
    shmtune_close(library);
    fixture_remove("cache");
}

/* Or the user's quota is used up: no more than a cache that is not there. */
static void the_disk_is_full(void)
{
    struct shmtune_choice choice = SHMTUNE_CHOICE_INIT;
    struct shmtune *library = open_and_choose(root, &choice);
    char path[1024];

    compiled = 0;
    disk_is_full = true;
    CHECK_INT(try(&choice, SHMTUNE_ALLOW_COMPILE), SHMTUNE_OK);
    disk_is_full = false;
    CHECK_INT(compiled, 1);
    CHECK_INT(cached("", path), 0);
    CHECK_INT(try(&choice, SHMTUNE_ALLOW_COMPILE), SHMTUNE_OK);
    CHECK_INT(compiled, 2);
    CHECK_INT(try(&choice, SHMTUNE_ALLOW_COMPILE), SHMTUNE_OK);
    CHECK_INT(compiled, 2);
    shmtune_close(library);
    fixture_remove("cache");
}

/* As a program that becomes a daemon does. */
static void current_folder_changes(void)
{
    struct shmtune_choice choice = SHMTUNE_CHOICE_INIT;
    struct shmtune *library;
    char before[4096];

    CHECK(getcwd(before, sizeof before) != NULL);
    CHECK_INT(chdir(root), 0);
    library = open_and_choose(".", &choice);
    CHECK_INT(chdir("/"), 0);
    CHECK_INT(try(&choice, SHMTUNE_ALLOW_COMPILE), SHMTUNE_OK);
    CHECK_INT(rename(fixture_path("cache/shmtune/cubin"),
                     fixture_path("cubins")), 0);
    CHECK_INT(try(&choice, 0), SHMTUNE_OK);
    CHECK_INT(chdir(before), 0);
    shmtune_close(library);
    fixture_remove("cubins");
}

/* NVRTC reads headers when it compiles: what it makes then is not what the
 * key in the cache says. */
static void headers_change(void)
{
    struct shmtune_choice choice = SHMTUNE_CHOICE_INIT;
    struct shmtune *library = open_and_choose(root, &choice);
    char path[1024];

    fixture_put_text("kernels/plain.h", "#define VALUE 2\n");
    CHECK_INT(try(&choice, SHMTUNE_ALLOW_COMPILE), SHMTUNE_STORAGE);
    CHECK_HAS(message.text, "kernels/plain.h: it was changed since");
    CHECK_INT(cached(".cubin", path), 0);
    fixture_remove("kernels/plain.h");
    CHECK_INT(try(&choice, SHMTUNE_ALLOW_COMPILE), SHMTUNE_STORAGE);
    CHECK_HAS(message.text, "kernels/plain.h: it was changed since");
    fixture_put_text("kernels/plain.h", header);
    CHECK_INT(try(&choice, SHMTUNE_ALLOW_COMPILE), SHMTUNE_OK);
    CHECK_INT(cached(".cubin", path), 1);
    shmtune_close(library);
    fixture_remove("cache");
}

/* Binaries of a compiler that is newer than the driver: a home that machines
 * share, an application's `cubins`. */
static void the_driver_refuses(void)
{
    struct shmtune_choice choice = SHMTUNE_CHOICE_INIT;
    struct shmtune *library = open_and_choose(root, &choice);
    struct stat before, after;
    char path[1024];

    CHECK_INT(try(&choice, SHMTUNE_ALLOW_COMPILE), SHMTUNE_OK);
    CHECK_INT(cached(".cubin", path), 1);
    CHECK_INT(stat(path, &before), 0);
    setenv("FAKE_CUDA_FAIL", "ModuleLoadData=200", 1);
    CHECK_INT(try(&choice, 0), SHMTUNE_NOT_FOUND);
    CHECK_HAS(message.text, path);
    CHECK_HAS(message.text, "device kernel image is invalid");
    CHECK_INT(try(&choice, SHMTUNE_ALLOW_COMPILE), SHMTUNE_NO_CONFIGURATION);
    CHECK_HAS(message.text, "kernel plain: cuModuleLoadData of ");
    CHECK_HAS(message.text, "$SHMTUNE_NVRTC");
    /* The one in the cache alone: it is made again and replaced. */
    setenv("FAKE_CUDA_FAIL", "ModuleLoadData=209,1", 1);
    CHECK_INT(try(&choice, SHMTUNE_ALLOW_COMPILE), SHMTUNE_OK);
    CHECK_INT(stat(path, &after), 0);
    CHECK(before.st_ino != after.st_ino);
    /* The one beside the kernel alone: the cache has another. */
    CHECK_INT(rename(fixture_path("cache/shmtune/cubin"),
                     fixture_path("cubins")), 0);
    CHECK_INT(try(&choice, SHMTUNE_ALLOW_COMPILE), SHMTUNE_OK);
    CHECK_INT(cached(".cubin", path), 0);
    /* A cache that there cannot be matters less. */
    setenv("XDG_CACHE_HOME", "/dev/null", 1);
    setenv("FAKE_CUDA_FAIL", "ModuleLoadData=222", 1);
    CHECK_INT(try(&choice, 0), SHMTUNE_NOT_FOUND);
    CHECK_HAS(message.text, "/cubins/");
    CHECK_HAS(message.text, "cuModuleLoadData");
    setenv("XDG_CACHE_HOME", fixture_path("cache"), 1);
    setenv("FAKE_CUDA_FAIL", "ModuleLoadData=222,1", 1);
    CHECK_INT(try(&choice, SHMTUNE_ALLOW_COMPILE), SHMTUNE_OK);
    CHECK_INT(cached(".cubin", path), 1);
    setenv("FAKE_CUDA_FAIL", "ModuleLoadData=218,1", 1);
    CHECK_INT(try(&choice, 0), SHMTUNE_OK);
    /* What has nothing to do with the binary is nobody's to try again. */
    setenv("FAKE_CUDA_FAIL", "ModuleLoadData=700,1", 1);
    CHECK_INT(try(&choice, SHMTUNE_ALLOW_COMPILE), SHMTUNE_CUDA);
    unsetenv("FAKE_CUDA_FAIL");
    shmtune_close(library);
    fixture_remove("cubins");
    fixture_remove("cache");
}

/* A shipped file that the user may not read looks like one that is absent,
 * but for its name in the message.  (Root may read all.) */
static void unreadable_binaries_are_named(void)
{
    struct shmtune_choice choice = SHMTUNE_CHOICE_INIT;
    struct shmtune *library = open_and_choose(root, &choice);
    char path[1024];

    CHECK_INT(try(&choice, SHMTUNE_ALLOW_COMPILE), SHMTUNE_OK);
    CHECK_INT(cached(".res", path), 1);
    CHECK_INT(unlink(path), 0);
    CHECK_INT(mkdir(path, 0700), 0);
    CHECK_INT(try(&choice, 0), SHMTUNE_NOT_FOUND);
    CHECK_HAS(message.text, "compiling was not allowed");
    CHECK_HAS(message.text, path);
    shmtune_close(library);
    fixture_remove("cache");
}

static void an_architecture_is_unknown(void)
{
    struct shmtune_choice choice = SHMTUNE_CHOICE_INIT;
    struct shmtune *library;

    setenv("FAKE_CUDA_MAJOR", "31", 1);
    library = open_and_choose(root, &choice);
    CHECK_INT(try(&choice, SHMTUNE_ALLOW_COMPILE), SHMTUNE_NOT_FOUND);
    CHECK_HAS(message.text, "does not know the architecture sm_310");
    CHECK_HAS(message.text, "$SHMTUNE_NVRTC");
    unsetenv("FAKE_CUDA_MAJOR");
    shmtune_close(library);
}

static void numbers_that_do_not_fit_are_named(void)
{
    const int64_t problem[] = {100};
    struct shmtune_choice choice = SHMTUNE_CHOICE_INIT;
    struct shmtune *library = open_and_choose(root, &choice);
    struct shmtune_device device = SHMTUNE_DEVICE_INIT;

    CHECK_INT(shmtune_device_query(0, &device, NULL), SHMTUNE_OK);
    CHECK_INT(shmtune_select(shmtune_kernel_find(library, "large"), &device,
                             problem, &choice), SHMTUNE_OK);
    CHECK_INT(try(&choice, SHMTUNE_ALLOW_COMPILE), SHMTUNE_INVALID_ARGUMENT);
    CHECK_HAS(message.text, "kernel large: the number bits (argument 1) at "
                            "n=100: 10000000000 does not fit the type i32");
    shmtune_close(library);
    fixture_remove("cache");
}

static void no_dimensions_need_no_problem(void)
{
    struct shmtune_choice choice = SHMTUNE_CHOICE_INIT;
    struct shmtune *library = open_and_choose(root, &choice);
    const struct shmtune_kernel *kernel = shmtune_kernel_find(library,
                                                              "fixed");
    struct shmtune_device device = SHMTUNE_DEVICE_INIT;
    char text[512];

    CHECK_INT(shmtune_device_query(0, &device, NULL), SHMTUNE_OK);
    CHECK_INT(shmtune_dimension_count(kernel), 0);
    CHECK_INT(shmtune_select(kernel, &device, NULL, &choice), SHMTUNE_OK);
    CHECK_INT(choice.match, SHMTUNE_DEFAULT);
    shmtune_explain(kernel, &device, NULL, text, sizeof text);
    CHECK_HAS(text, "fixed.yaml: taken");
    CHECK_INT(try(&choice, SHMTUNE_ALLOW_COMPILE), SHMTUNE_OK);
    CHECK_INT(shmtune_select(shmtune_kernel_find(library, "plain"), &device,
                             NULL, &choice), SHMTUNE_INVALID_ARGUMENT);
    shmtune_close(library);
    fixture_remove("cache");
}

/* As where a service opens its tunings anew. */
static void handles_are_told_apart(void)
{
    struct shmtune_choice old = SHMTUNE_CHOICE_INIT;
    struct shmtune_choice new = SHMTUNE_CHOICE_INIT;
    struct shmtune *library = open_and_choose(root, &old);
    struct shmtune *reopened = open_and_choose(root, &new);
    struct shmtune_function *function = NULL, *none = NULL;

    CHECK_INT(shmtune_prepare(&old, SHMTUNE_ALLOW_COMPILE, &function, NULL),
              SHMTUNE_OK);
    if (function != NULL) {
        CHECK_INT(shmtune_resize(function, &new, &none, &message),
                  SHMTUNE_NOT_FOUND);
        CHECK_HAS(message.text, "of another handle; prepare it");
    }
    shmtune_release(function);
    shmtune_close(reopened);
    shmtune_close(library);
    fixture_remove("cache");
}

static void forks_are_named(void)
{
    struct shmtune_device device = SHMTUNE_DEVICE_INIT;

    setenv("FAKE_CUDA_FAIL", "DeviceGetCount=3", 1);
    CHECK_INT(shmtune_device_query(0, &device, &message), SHMTUNE_CUDA);
    CHECK_HAS(message.text, "CUDA does not survive a fork");
    unsetenv("FAKE_CUDA_FAIL");
}

int main(void)
{
    const struct shmt_driver *driver;
    const struct shmt_nvrtc *nvrtc;
    CUcontext context;

    setenv("FAKE_CUDA_VERSION", "12000", 1);
    fixture_driver(&driver, &nvrtc);
    root = fixture_begin();
    setenv("XDG_CACHE_HOME", fixture_path("cache"), 1);
    fixture_put_text("kernels/plain.yaml", spec);
    fixture_put_text("kernels/large.yaml", large);
    fixture_put_text("kernels/fixed.yaml", fixed);
    fixture_put_text("kernels/plain.cu", source);
    fixture_put_text("kernels/plain.h", header);
    CHECK_INT(driver->DevicePrimaryCtxRetain(&context, 0), 0);
    CHECK_INT(driver->CtxSetCurrent(context), 0);
    CHECK_RUN(descriptors_are_not_inherited);
    CHECK_RUN(the_disk_is_full);
    CHECK_RUN(current_folder_changes);
    CHECK_RUN(headers_change);
    CHECK_RUN(the_driver_refuses);
    CHECK_RUN(unreadable_binaries_are_named);
    CHECK_RUN(an_architecture_is_unknown);
    CHECK_RUN(numbers_that_do_not_fit_are_named);
    CHECK_RUN(no_dimensions_need_no_problem);
    CHECK_RUN(handles_are_told_apart);
    CHECK_RUN(forks_are_named);
    fixture_end();
    return CHECK_END();
}
