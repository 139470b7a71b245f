/* SPDX-License-Identifier: MIT */
/*
 * test_image: compiling without a GPU, and binaries that are kept.  Needs
 * NVRTC: without one every test but the last is skipped.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/path.h"
#include "bench/inspect.h"
#include "gpu/image.h"
#include "tests/support/check.h"
#include "tests/support/gpu_fixture.h"

static const struct shmt_nvrtc *nvrtc;
static const char *folder;
static struct shmt_error err;

static const char source[] =
    "__constant__ float weights[25];\n"
    "extern \"C\" __global__ void plain(float *o, int n)\n"
    "{ __shared__ float t[TILE][TILE + 1];\n"
    "  t[threadIdx.y][threadIdx.x] = o[n]; __syncthreads();\n"
    "  o[threadIdx.x] = t[threadIdx.x][threadIdx.y]; }\n"
    "template <typename T, int N> __global__ void typed(T *o, int)\n"
    "{ __shared__ T q[N]; q[threadIdx.x % N] = o[threadIdx.x];\n"
    "  __syncthreads(); o[threadIdx.x] = q[0]; }\n"
    "__global__ void __launch_bounds__(1024, 2) spill(float *o, int n)\n"
    "{ float a[64]; int t = threadIdx.x;\n"
    "  for (int i = 0; i < 64; i++) a[i] = o[i * 1024 + t];\n"
    "  for (int k = 0; k < n; k++)\n"
    "#pragma unroll\n"
    "    for (int i = 0; i < 64; i++) a[i] = a[i] * a[(i + 5) % 64] + o[k];\n"
    "  for (int i = 0; i < 64; i++) o[i * 1024 + t] = a[i]; }\n"
    "#if BIG\n"
    "extern \"C\" __global__ void big(float *o, int n)\n"
    "{ __shared__ float x[100000]; x[threadIdx.x] = o[n];\n"
    "  __syncthreads(); o[threadIdx.x] = x[n]; }\n"
    "#endif\n"
    "#if BROKEN\n"
    "extern \"C\" __global__ void broken() { no_such_thing(); }\n"
    "#endif\n"
    "#if MODE == MODE_slow\n"
    "extern \"C\" __global__ void mode(float *o, int n)\n"
    "{ o[n] = MODE_fast / o[n]; }\n"
    "#endif\n";

/* %s: the launches */
static const char spec[] =
    "format: kernel/1\nname: test\nsummary: for a test\nsource: test.cu\n"
    "problem:\n  n: {default: 16}\n"
    "parameters:\n"
    "  TILE: {values: [16, 32], default: 16}\n"
    "  BIG: {values: [0, 1], default: 0}\n"
    "  BROKEN: {values: [0, 1], default: 0}\n"
    "  MODE: {values: [fast, slow], default: fast}\n"
    "  LAUNCH: {values: [1, 2], default: 1, scope: launch}\n"
    "launches:\n%s"
    "arguments:\n"
    "  o: {type: f32, role: output, count: n}\n"
    "  n: {type: i32, value: n}\n";

#define LAUNCH(entry) "- entry: " entry "\n  grid: [1]\n  block: [32]\n"       \
    "  arguments: [o, n]\n"

static struct shmt_kernel *make(const char *launches)
{
    struct shmt_kernel *kernel = NULL;
    char path[512], text[4096];

    snprintf(text, sizeof text, spec, launches);
    snprintf(path, sizeof path, "%s/test.cu", folder);
    CHECK_INT(shmt_path_write(path, source, strlen(source), &err),
              SHMTUNE_OK);
    snprintf(path, sizeof path, "%s/test.yaml", folder);
    CHECK_INT(shmt_path_write(path, text, strlen(text), &err), SHMTUNE_OK);
    if (shmt_kernel_read(path, &kernel, &err) != SHMTUNE_OK) {
        printf("Bail out! %s\n", err.text);
        exit(EXIT_FAILURE);
    }
    return kernel;
}

static struct shmt_kernel_evaluated evaluated;
static const int64_t problem[] = {16};

static struct shmt_image_request request_of(const struct shmt_kernel *kernel,
                                            const char *name,
                                            const char *value)
{
    const struct shmt_image_request request = {
        .evaluated = &evaluated, .arch = "sm_90",
        .nvrtc_version = nvrtc->version};
    shmt_config config[SHMT_SPACE_PARAMETERS];

    fixture_choice(kernel, config, name, value, NULL);
    shmt_kernel_evaluate(kernel, problem, config, &evaluated);
    return request;
}

/* In the folder of a wheel, which the loader does not know, NVRTC would not
 * find them when it compiles. */
static void builtins_are_opened_with_it(void)
{
    char name[64];
    void *library;

    snprintf(name, sizeof name, "libnvrtc-builtins.so.%d.%d",
             nvrtc->version / 1000, nvrtc->version % 1000 / 10);
    library = dlopen(name, RTLD_NOW | RTLD_NOLOAD);
    CHECK(library != NULL);
    if (library != NULL)
        dlclose(library);
}

static void entries_have_their_resources(void)
{
    struct shmt_kernel *kernel =
        make(LAUNCH("plain") LAUNCH("\"typed<double, {TILE}>\"")
             LAUNCH("plain") LAUNCH("spill"));
    const struct shmt_image_request request =
        request_of(kernel, "TILE", "32");
    struct shmt_resources all;
    struct shmt_image *image = NULL;

    CHECK_INT(shmt_image_get(&request, nvrtc, NULL, &image, &err),
              SHMTUNE_OK);
    if (image == NULL) {
        printf("# %s\n", err.text);
        return;
    }
    CHECK_INT(image->entry_count, 3);
    CHECK_INT(image->launch_entry[0], 0);
    CHECK_INT(image->launch_entry[1], 1);
    CHECK_INT(image->launch_entry[2], 0);
    CHECK_INT(image->launch_entry[3], 2);
    CHECK_INT(image->launch_entry[4], -1);
    CHECK_TEXT(image->entries[0].lowered, "plain");
    CHECK_TEXT(image->entries[1].name, "typed<double, 32>");
    CHECK_HAS(image->entries[1].lowered, "_Z");
    CHECK_INT(image->entries[0].resources.shared_static_bytes, 32 * 33 * 4);
    CHECK_INT(image->entries[1].resources.shared_static_bytes, 32 * 8);
    CHECK_INT(image->entries[0].resources.spill_store_bytes, 0);
    CHECK(image->entries[2].resources.spill_store_bytes > 0);
    CHECK(image->entries[2].resources.spill_load_bytes > 0);
    CHECK(image->entries[2].resources.stack_bytes > 0);
    CHECK(memcmp(image->cubin, "\177ELF", 4) == 0);
    shmt_image_resources(image, &all);
    CHECK_INT(all.shared_static_bytes, 32 * 33 * 4);
    CHECK_INT(all.spill_store_bytes,
              image->entries[2].resources.spill_store_bytes);
    shmt_image_free(image);
    shmt_kernel_free(kernel);
}

static void failures_say_why(void)
{
    static const struct {
        const char *launches, *name, *value, *text;
    } cases[] = {
        {LAUNCH("broken"), "BROKEN", "1", "no_such_thing"},
        {LAUNCH("plain") LAUNCH("big"), "BIG", "1",
         "400000 bytes of static shared memory"},
        {LAUNCH("nowhere"), "BIG", "0", "nowhere"},
        {LAUNCH("mode"), "MODE", "fast", "mode"},
    };

    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        struct shmt_kernel *kernel = make(cases[k].launches);
        const struct shmt_image_request request =
            request_of(kernel, cases[k].name, cases[k].value);
        struct shmt_image *image = NULL;
        struct shmt_result result;

        CHECK_INT(shmt_image_get(&request, nvrtc, NULL, &image, &err),
                  SHMTUNE_COMPILE);
        CHECK_HAS(err.text, cases[k].text);
        CHECK(image == NULL);
        CHECK_INT(shmt_inspect(&request, nvrtc, NULL, &result, &err),
                  SHMTUNE_OK);
        CHECK_INT(result.verdict, SHMT_VERDICT_COMPILE_ERROR);
        CHECK_HAS(result.reason, cases[k].text);
        shmt_kernel_free(kernel);
    }
}

static void words_reach_the_source(void)
{
    struct shmt_kernel *kernel = make(LAUNCH("mode"));
    const struct shmt_image_request request =
        request_of(kernel, "MODE", "slow");
    struct shmt_image *image = NULL;

    CHECK_INT(shmt_image_get(&request, nvrtc, NULL, &image, &err),
              SHMTUNE_OK);
    shmt_image_free(image);
    shmt_kernel_free(kernel);
}

static void keys_tell_apart_what_differs(void)
{
    struct shmt_kernel *kernel = make(LAUNCH("plain"));
    char keys[7][SHMT_DIGEST_TEXT], same[SHMT_DIGEST_TEXT];
    struct shmt_image_request request = request_of(kernel, "TILE", "16");

    CHECK_INT(shmt_image_key(&request, keys[0], &err), SHMTUNE_OK);
    request.arch = "sm_80";
    CHECK_INT(shmt_image_key(&request, keys[1], &err), SHMTUNE_OK);
    request.arch = "sm_90";
    request.nvrtc_version++;
    CHECK_INT(shmt_image_key(&request, keys[2], &err), SHMTUNE_OK);
    request.nvrtc_version--;
    kernel->toolkit_version = 13000;
    CHECK_INT(shmt_image_key(&request, keys[5], &err), SHMTUNE_OK);
    request.nvrtc_version = 0;
    CHECK_INT(shmt_image_key(&request, keys[6], &err), SHMTUNE_OK);
    kernel->toolkit_version = 0;
    CHECK_INT(shmt_image_key(&request, same, &err), SHMTUNE_OK);
    CHECK_TEXT(same, keys[6]);
    request.nvrtc_version = nvrtc->version;
    shmt_kernel_evaluate_part(kernel, SHMT_KERNEL_REFERENCE,
                              problem, &evaluated);
    CHECK_INT(shmt_image_key(&request, keys[3], &err), SHMTUNE_OK);
    request = request_of(kernel, "TILE", "32");
    CHECK_INT(shmt_image_key(&request, keys[4], &err), SHMTUNE_OK);
    for (size_t a = 0; a < 7; a++)
        for (size_t b = a + 1; b < 7; b++)
            CHECK(strcmp(keys[a], keys[b]) != 0);
    request = request_of(kernel, "LAUNCH", "2");
    CHECK_INT(shmt_image_key(&request, same, &err), SHMTUNE_OK);
    CHECK_TEXT(same, keys[0]);
    shmt_kernel_free(kernel);
}

/* `fast_math` reaches the compiler: another key, another division. */
static void fast_math_is_passed(void)
{
    struct shmt_kernel *kernel = make(LAUNCH("mode"));
    struct shmt_image_request request = request_of(kernel, "MODE", "slow");
    struct shmt_image *images[2] = {NULL, NULL};

    for (int fast = 0; fast < 2; fast++) {
        kernel->fast_math = fast == 1;
        CHECK_INT(shmt_image_get(&request, nvrtc, NULL, &images[fast], &err),
                  SHMTUNE_OK);
    }
    if (images[0] != NULL && images[1] != NULL) {
        CHECK(strcmp(images[0]->key, images[1]->key) != 0);
        CHECK(images[0]->cubin_size != images[1]->cubin_size);
    }
    shmt_image_free(images[0]);
    shmt_image_free(images[1]);
    shmt_kernel_free(kernel);
}

/* Launches of one kernel that take turns: the same binary, another image. */
static void keys_tell_apart_the_launches(void)
{
    struct shmt_kernel *kernel =
        make(LAUNCH("plain") "  when: LAUNCH == 1 or BIG == 1\n"
             LAUNCH("plain") "  when: LAUNCH == 2 or BIG == 1\n");
    char keys[3][SHMT_DIGEST_TEXT];
    struct shmt_image_request request = request_of(kernel, "LAUNCH", "1");

    CHECK_INT(shmt_image_key(&request, keys[0], &err), SHMTUNE_OK);
    request = request_of(kernel, "LAUNCH", "2");
    CHECK_INT(shmt_image_key(&request, keys[1], &err), SHMTUNE_OK);
    request = request_of(kernel, "BIG", "1");
    CHECK_INT(shmt_image_key(&request, keys[2], &err), SHMTUNE_OK);
    CHECK(strcmp(keys[0], keys[1]) != 0);
    CHECK(strcmp(keys[0], keys[2]) != 0);
    CHECK(strcmp(keys[1], keys[2]) != 0);
    shmt_kernel_free(kernel);
}

/* The file of a key, for damage. */
static void file_name(const char *key, const char *suffix, char out[512])
{
    snprintf(out, 512, "%s/%s%s", folder, key, suffix);
}

static void damage(const char *path, long at)
{
    FILE *file = fopen(path, "r+b");
    int c;

    CHECK(file != NULL);
    if (file == NULL)
        return;
    fseek(file, at, at < 0 ? SEEK_END : SEEK_SET);
    c = fgetc(file);
    fseek(file, at, at < 0 ? SEEK_END : SEEK_SET);
    fputc(c ^ 1, file);
    fclose(file);
}

static bool obtain(const struct shmt_image_request *request, bool compile,
                   char key[SHMT_DIGEST_TEXT])
{
    struct shmt_image *image = NULL;
    bool found;

    if (shmt_image_get(request, compile ? nvrtc : NULL, folder, &image,
                       &err) != SHMTUNE_OK)
        return false;
    found = image->found;
    memcpy(key, image->key, SHMT_DIGEST_TEXT);
    shmt_image_free(image);
    return found;
}

static void binaries_are_kept_and_checked(void)
{
    struct shmt_kernel *kernel = make(LAUNCH("plain"));
    const struct shmt_image_request request =
        request_of(kernel, "TILE", "16");
    char key[SHMT_DIGEST_TEXT] = "", path[512];
    struct shmt_image *image = NULL;

    CHECK_INT(shmt_image_get(&request, NULL, folder, &image, &err),
              SHMTUNE_NOT_FOUND);
    CHECK(!obtain(&request, true, key));
    CHECK(obtain(&request, true, key));
    CHECK(obtain(&request, false, key));
    file_name(key, ".cubin", path);
    damage(path, 1000);
    CHECK_INT(shmt_image_get(&request, NULL, folder, &image, &err),
              SHMTUNE_NOT_FOUND);
    CHECK(!obtain(&request, true, key));
    CHECK(obtain(&request, false, key));
    CHECK_INT(truncate(path, 100), 0);
    CHECK(!obtain(&request, true, key));
    file_name(key, ".res", path);
    damage(path, 12);
    CHECK(!obtain(&request, true, key));
    CHECK_INT(truncate(path, 60), 0);
    CHECK(!obtain(&request, true, key));
    CHECK_INT(unlink(path), 0);
    CHECK(!obtain(&request, true, key));
    CHECK(obtain(&request, false, key));
    CHECK_INT(shmt_image_get(&request, nvrtc, "/no/such/folder", &image,
                             &err), SHMTUNE_STORAGE);
    CHECK_HAS(err.text, "/no/such/folder");
    shmt_kernel_free(kernel);
}

/* Several processes that make the same binary at once. */
static void folders_are_shared(void)
{
    struct shmt_kernel *kernel = make(LAUNCH("typed<float, 8>"));
    const struct shmt_image_request request =
        request_of(kernel, "TILE", "16");
    char key[SHMT_DIGEST_TEXT] = "";
    struct shmt_image *image = NULL;
    enum { PROCESSES = 4 };
    int bad = 0, status;

    fflush(stdout);
    for (int k = 0; k < PROCESSES; k++)
        if (fork() == 0)
            _exit(shmt_image_get(&request, nvrtc, folder, &image, &err));
    for (int k = 0; k < PROCESSES; k++)
        bad += wait(&status) < 0 || !WIFEXITED(status) ||
               WEXITSTATUS(status) != 0;
    CHECK_INT(bad, 0);
    CHECK(obtain(&request, false, key));
    shmt_kernel_free(kernel);
}

static void specs_are_held_to_their_bytes(void)
{
    struct shmt_kernel *kernel =
        make("- entry: plain\n  grid: [1]\n  block: [32]\n"
             "  shared_static: TILE * TILE * 4\n  shared_dynamic: 100\n"
             "  arguments: [o, n]\n");
    const struct shmt_image_request request =
        request_of(kernel, "TILE", "32");
    struct shmt_result result;

    CHECK_INT(shmt_inspect(&request, nvrtc, folder, &result, &err),
              SHMTUNE_OK);
    CHECK_INT(result.verdict, SHMT_VERDICT_SPEC_MISMATCH);
    CHECK_HAS(result.reason, "4096 bytes");
    CHECK_HAS(result.reason, "4224");
    CHECK_INT(result.shared_dynamic_bytes, 100);
    CHECK(result.compile_ms > 0);
    CHECK_INT(shmt_inspect(&request, nvrtc, folder, &result, &err),
              SHMTUNE_OK);
    CHECK(result.compile_ms == 0);
    shmt_kernel_free(kernel);
}

/* Made or found: nobody is handed a binary that would read beyond what a
 * launch is given. */
static void specs_are_held_to_the_parameters(void)
{
    struct shmt_kernel *kernel =
        make("- entry: plain\n  grid: [1]\n  block: [32]\n"
             "  arguments: [o]\n");
    const struct shmt_image_request request =
        request_of(kernel, "TILE", "16");
    struct shmt_image *image = NULL;
    struct shmt_result result;

    for (int found = 0; found < 2; found++) {
        CHECK_INT(shmt_image_get(&request, found ? NULL : nvrtc, folder,
                                 &image, &err), SHMTUNE_INVALID_FILE);
        CHECK(image == NULL);
        CHECK_HAS(err.text, "plain takes 2 parameters of 8 and 4 bytes, the "
                            "spec passes 1 of 8: see 'arguments' of launch 1");
    }
    CHECK_INT(shmt_inspect(&request, nvrtc, folder, &result, &err),
              SHMTUNE_OK);
    CHECK_INT(result.verdict, SHMT_VERDICT_SPEC_MISMATCH);
    CHECK_HAS(result.reason, "plain takes 2 ");
    shmt_kernel_free(kernel);
}

/* The answer to a library that is none, in a process of its own: a process
 * looks once. */
static void wrong_libraries_are_named(void)
{
    const struct shmt_nvrtc *other = NULL;
    int status = 0;

    fflush(stdout);
    if (fork() == 0) {
        setenv("SHMTUNE_NVRTC", "/no/such/libnvrtc.so.13", 1);
        status = shmt_nvrtc_open(&other, &err);
        _exit(status == SHMTUNE_NOT_FOUND &&
              strstr(err.text, "/no/such/libnvrtc.so.13") != NULL ? 0 : 1);
    }
    wait(&status);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* X(test) */
#define TEST_LIST(X)                                                         \
    X(builtins_are_opened_with_it)                                           \
    X(entries_have_their_resources)                                          \
    X(failures_say_why)                                                      \
    X(words_reach_the_source)                                                \
    X(keys_tell_apart_what_differs)                                          \
    X(keys_tell_apart_the_launches)                                          \
    X(fast_math_is_passed)                                                   \
    X(binaries_are_kept_and_checked)                                         \
    X(folders_are_shared)                                                    \
    X(specs_are_held_to_their_bytes)                                         \
    X(specs_are_held_to_the_parameters)

int main(void)
{
    CHECK_RUN(wrong_libraries_are_named);
    if (shmt_nvrtc_open(&nvrtc, &err) != SHMTUNE_OK) {
#define TEST_SKIP(test) CHECK_SKIP(test, "no NVRTC on this machine");
        TEST_LIST(TEST_SKIP)
        return CHECK_END();
    }
    folder = fixture_folder();
#define TEST_RUN(test) CHECK_RUN(test);
    TEST_LIST(TEST_RUN)
    return CHECK_END();
}
