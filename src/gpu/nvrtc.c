/* SPDX-License-Identifier: MIT */
/*
 * nvrtc: where the compiler is looked for, and one compile.
 *
 * NVRTC opens libnvrtc-builtins by its bare name, and only when it compiles:
 * on the loader's path alone, which knows nothing of a wheel's folder.  It is
 * That file is therefore opened here first, from the folder of NVRTC; the
 * loader then finds it by its name.
 */
#define _GNU_SOURCE   /* dladdr, in POSIX only since 2024 */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gpu/nvrtc.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "gpu/nvrtc_log.h"
#include "gpu/driver.h"
#include "gpu/nvrtc_headers.h"

#ifndef SHMT_CUDA_DIR
#define SHMT_CUDA_DIR "/usr/local/cuda"
#endif

/* The toolkit's own layouts, and that of the wheels of CUDA 13 and 12. */
static const char *const library_folders[] = {
    "lib64", "lib", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib",
    "nvidia/cu13/lib", "nvidia/cuda_nvrtc/lib",
};
static const char *const include_folders[] = {
    "include", "targets/x86_64-linux/include", "targets/sbsa-linux/include",
    "nvidia/cu13/include", "nvidia/cuda_runtime/include",
};
/* Versioned names first: the plain name exists only with developer packages. */
static const char *const names[] = {
    "libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so",
};

enum { COUNT_FOLDERS = sizeof library_folders / sizeof library_folders[0],
       COUNT_INCLUDES = sizeof include_folders / sizeof include_folders[0],
       COUNT_NAMES = sizeof names / sizeof names[0] };

static struct {
    pthread_once_t once;
    enum shmtune_status status;
    struct shmt_error err;
    struct shmt_nvrtc nvrtc;
    char path[1024];
    char include[1024];
    char libraries[1100];   /* "-IFOLDER" or "" */
} process = {.once = PTHREAD_ONCE_INIT};

/* See driver.c. */
static void store(void *function, void *symbol)
{
    memcpy(function, &symbol, sizeof symbol);
}

/* Folders that hold a toolkit, best first; NULL where unset. */
static const char *root(size_t k)
{
    static const char *const variables[] = {"SHMTUNE_CUDA", "CUDA_HOME",
                                            "CUDA_PATH"};

    if (k < 3)
        return shmt_driver_setting(variables[k]);
    return k == 3 ? SHMT_CUDA_DIR : "/usr/local/cuda";
}
enum { COUNT_ROOTS = 5 };

static bool bind(void *library, struct shmt_nvrtc *nvrtc)
{
    int major = 0, minor = 0;
    bool whole = true;

#define BIND(name)                                                           \
    store(&nvrtc->name, dlsym(library, "nvrtc" #name));                      \
    whole = whole && nvrtc->name != NULL;
    SHMT_NVRTC_LIST(BIND)
#undef BIND
    if (!whole || nvrtc->Version(&major, &minor) != NVRTC_SUCCESS)
        return false;
    nvrtc->version = major * 1000 + minor * 10;
    return true;
}

/* A failure is ignored here: NVRTC reports it when it compiles. */
static void open_builtins(const struct shmt_nvrtc *nvrtc)
{
    const char *cut = strrchr(nvrtc->path, '/');
    char path[1100];

    if (cut == NULL)
        return;
    snprintf(path, sizeof path, "%.*s/libnvrtc-builtins.so.%d.%d",
             (int)(cut - nvrtc->path), nvrtc->path, nvrtc->version / 1000,
             nvrtc->version % 1000 / 10);
    (void)dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

/* Opens `name` and keeps its full path in process.path. */
static bool try_open(const char *name)
{
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    Dl_info info;
    void *symbol;

    if (library == NULL)
        return false;
    if (!bind(library, &process.nvrtc)) {
        dlclose(library);
        return false;
    }
    symbol = dlsym(library, "nvrtcVersion");
    snprintf(process.path, sizeof process.path, "%s",
             symbol != NULL && dladdr(symbol, &info) != 0 &&
                     info.dli_fname != NULL ? info.dli_fname : name);
    process.nvrtc.path = process.path;
    open_builtins(&process.nvrtc);
    return true;
}

static bool try_roots(void)
{
    char path[1024];

    for (size_t r = 0; r < COUNT_ROOTS; r++)
        for (size_t n = 0; root(r) != NULL && n < COUNT_NAMES; n++)
            for (size_t f = 0; f < COUNT_FOLDERS; f++) {
                snprintf(path, sizeof path, "%s/%s/%s", root(r),
                         library_folders[f], names[n]);
                if (shmt_path_exists(path) && try_open(path))
                    return true;
            }
    return false;
}

static bool has_header(const char *folder, const char *file)
{
    char path[1100];

    snprintf(path, sizeof path, "%s/%s", folder, file);
    return shmt_path_exists(path);
}

/* cuda_fp16.h marks the folder that sources need. */
static void find_include(void)
{
    char *cut;

    snprintf(process.include, sizeof process.include, "%s", process.path);
    for (int up = 0; up < 4; up++) {
        cut = strrchr(process.include, '/');
        if (cut == NULL)
            break;
        snprintf(cut, sizeof process.include - (size_t)(cut -
                 process.include), "/include");
        if (has_header(process.include, "cuda_fp16.h")) {
            process.nvrtc.include = process.include;
            return;
        }
        *cut = '\0';
    }
    for (size_t r = 0; r < COUNT_ROOTS; r++)
        for (size_t f = 0; root(r) != NULL && f < COUNT_INCLUDES; f++) {
            snprintf(process.include, sizeof process.include, "%s/%s",
                     root(r), include_folders[f]);
            if (has_header(process.include, "cuda_fp16.h")) {
                process.nvrtc.include = process.include;
                return;
            }
        }
}

/* cooperative_groups.h includes <cuda/std/...>, which CUDA 13 keeps apart. */
static void find_libraries(void)
{
    if (process.nvrtc.include != NULL &&
        has_header(process.nvrtc.include, "cccl/cuda/std/version"))
        snprintf(process.libraries, sizeof process.libraries, "-I%s/cccl",
                 process.nvrtc.include);
}

static enum shmtune_status open_once(struct shmt_error *err)
{
    const char *wanted = shmt_driver_setting("SHMTUNE_NVRTC");
    bool found = false;

    if (wanted != NULL) {
        if (!try_open(wanted)) {
            const char *why = dlerror();

            return shmt_error_set(err, SHMTUNE_NOT_FOUND,
                                  "$SHMTUNE_NVRTC is \"%s\", which is not an "
                                  "NVRTC of CUDA 12 or newer%s%s", wanted,
                                  why != NULL ? ": " : "",
                                  why != NULL ? why : "");
        }
        found = true;
    }
    if (!found)
        found = try_roots();
    for (size_t n = 0; !found && n < COUNT_NAMES; n++)
        found = try_open(names[n]);
    if (!found)
        return shmt_error_set(err, SHMTUNE_NOT_FOUND,
                              "no NVRTC: looked for libnvrtc.so.13, "
                              "libnvrtc.so.12 and libnvrtc.so under "
                              "$SHMTUNE_CUDA, $CUDA_HOME, $CUDA_PATH, %s and "
                              "on the loader's path; install the CUDA toolkit "
                              "or `pip install nvidia-cuda-nvrtc`, and name "
                              "the library in $SHMTUNE_NVRTC", SHMT_CUDA_DIR);
    find_include();
    find_libraries();
    return SHMTUNE_OK;
}

static void run_once(void)
{
    process.status = open_once(&process.err);
}

enum shmtune_status shmt_nvrtc_open(const struct shmt_nvrtc **out,
                                    struct shmt_error *err)
{
    pthread_once(&process.once, run_once);
    if (process.status != SHMTUNE_OK)
        return shmt_error_set(err, process.status, "%s", process.err.text);
    *out = &process.nvrtc;
    return SHMTUNE_OK;
}

static enum shmtune_status
fail(const struct shmt_nvrtc *nvrtc, nvrtcResult result,
     const struct shmt_nvrtc_log *diagnostic, struct shmt_error *err)
{
    char line[512] = "";

    if (diagnostic != NULL)
        shmt_nvrtc_log_error(diagnostic, line, sizeof line);
    if (result == NVRTC_ERROR_BUILTIN_OPERATION_FAILURE)
        return shmt_error_set(err, SHMTUNE_NOT_FOUND,
                              "NVRTC (%s) cannot open libnvrtc-builtins, which "
                              "must be in the same folder: %s", nvrtc->path,
                              line);
    if (result == NVRTC_ERROR_OUT_OF_MEMORY)
        return shmt_error_memory(err);
    if (result == NVRTC_ERROR_INVALID_OPTION)
        return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                              "NVRTC %d.%d refuses an option: %s",
                              nvrtc->version / 1000,
                              nvrtc->version % 1000 / 10, line);
    return shmt_error_set(err, SHMTUNE_COMPILE, "%s",
                          line[0] != '\0' ? line
                                          : nvrtc->GetErrorString(result));
}

/* The entry that contains the first quoted word of a diagnostic. */
static const char *entry_in_message(const struct shmt_nvrtc_job *job,
                                    const char *diagnostic)
{
    char word[256];

    if (sscanf(diagnostic, "%*[^\"]\"%255[^\"]", word) == 1)
        for (size_t k = 0; k < job->entry_count; k++)
            if (strstr(job->entries[k], word) != NULL)
                return job->entries[k];
    return job->entry_count == 1 ? job->entries[0] : NULL;
}

/* NVRTC looks entries up in a generated file, which the message would name.
 * Name the entry of the spec instead. */
static void explain_missing_entry(const struct shmt_nvrtc_job *job,
                                  struct shmt_error *err)
{
    static const char file[] = "__nv_name_map(";
    const char *text, *entry;
    char why[256];

    if (err == NULL || strncmp(err->text, file, sizeof file - 1) != 0)
        return;
    text = strstr(err->text, "error: ");
    snprintf(why, sizeof why, "%.250s",
             text == NULL ? err->text : text + strlen("error: "));
    entry = entry_in_message(job, why);
    if (entry == NULL)
        shmt_error_set(err, SHMTUNE_COMPILE, "%s has no kernel of an entry "
                       "of the spec: %s", job->name, why);
    else
        shmt_error_set(err, SHMTUNE_COMPILE, "%s has no kernel \"%s\", an "
                       "entry of the spec: %s", job->name, entry, why);
}

static enum shmtune_status read_log(const struct shmt_nvrtc *nvrtc,
                                    nvrtcProgram program,
                                    struct shmt_arena *arena, const char **out,
                                    struct shmt_error *err)
{
    size_t size = 0;
    char *log;

    if (nvrtc->GetProgramLogSize(program, &size) != NVRTC_SUCCESS)
        size = 0;
    log = shmt_arena_alloc(arena, 1, size + 1);
    if (log == NULL)
        return shmt_error_memory(err);
    if (size > 0 && nvrtc->GetProgramLog(program, log) != NVRTC_SUCCESS)
        log[0] = '\0';
    *out = log;
    return SHMTUNE_OK;
}

static enum shmtune_status
read_names(const struct shmt_nvrtc *nvrtc, nvrtcProgram program,
           const struct shmt_nvrtc_job *job, struct shmt_arena *arena,
           const char ***out, struct shmt_error *err)
{
    const char **lowered = shmt_arena_alloc(arena, job->entry_count + 1,
                                            sizeof *lowered);
    const char *name = NULL;

    if (lowered == NULL)
        return shmt_error_memory(err);
    for (size_t k = 0; k < job->entry_count; k++) {
        nvrtcResult result =
            nvrtc->GetLoweredName(program, job->entries[k], &name);

        if (result != NVRTC_SUCCESS)
            return shmt_error_set(err, SHMTUNE_COMPILE,
                                  "%s has no kernel \"%s\": %s", job->name,
                                  job->entries[k],
                                  nvrtc->GetErrorString(result));
        lowered[k] = shmt_arena_copy(arena, name, strlen(name));
        if (lowered[k] == NULL)
            return shmt_error_memory(err);
    }
    *out = lowered;
    return SHMTUNE_OK;
}

static enum shmtune_status
read_cubin(const struct shmt_nvrtc *nvrtc, nvrtcProgram program,
           struct shmt_arena *arena, struct shmt_nvrtc_product *product,
           struct shmt_error *err)
{
    size_t size = 0;
    char *cubin;
    nvrtcResult result = nvrtc->GetCUBINSize(program, &size);

    if (result != NVRTC_SUCCESS || size == 0)
        return shmt_error_set(err, SHMTUNE_COMPILE,
                              "NVRTC gives no binary: %s; the architecture "
                              "must be a real one, sm_XX",
                              nvrtc->GetErrorString(result));
    cubin = shmt_arena_alloc(arena, 1, size);
    if (cubin == NULL)
        return shmt_error_memory(err);
    result = nvrtc->GetCUBIN(program, cubin);
    if (result != NVRTC_SUCCESS)
        return fail(nvrtc, result, NULL, err);
    product->cubin = cubin;
    product->cubin_size = size;
    return SHMTUNE_OK;
}

/* Adds our own options to the job's: the folder of the C++ libraries that
 * CUDA's headers need, and from NVRTC 12.9 on --no-cache, because a binary
 * from NVRTC's own cache comes without the ptxas report. */
static const char **add_own_options(const struct shmt_nvrtc *nvrtc,
                                  const struct shmt_nvrtc_job *job,
                                  struct shmt_arena *arena, size_t *count)
{
    const char **options =
        shmt_arena_alloc(arena, job->option_count + 2, sizeof *options);

    if (options == NULL)
        return NULL;
    for (size_t k = 0; k < job->option_count; k++)
        options[k] = job->options[k];
    *count = job->option_count;
    if (process.libraries[0] != '\0')
        options[(*count)++] = process.libraries;
    if (nvrtc->version >= 12090)
        options[(*count)++] = "--no-cache";
    return options;
}

static enum shmtune_status
check_outcome(const struct shmt_nvrtc *nvrtc, nvrtcResult result,
              const struct shmt_nvrtc_log *diagnostic, struct shmt_error *err)
{
    char line[512];

    if (result != NVRTC_SUCCESS)
        return fail(nvrtc, result, diagnostic, err);
    if (shmt_nvrtc_log_redefinition(diagnostic, line, sizeof line))
        return shmt_error_set(err, SHMTUNE_COMPILE, "%s", line);
    return SHMTUNE_OK;
}

enum shmtune_status shmt_nvrtc_compile(const struct shmt_nvrtc *nvrtc,
                                       const struct shmt_nvrtc_job *job,
                                       struct shmt_arena *arena,
                                       struct shmt_nvrtc_product *out,
                                       struct shmt_error *err)
{
    struct shmt_nvrtc_product product = {0};
    const double start = shmt_clock_s();
    enum shmtune_status status;
    nvrtcProgram program = NULL;
    nvrtcResult result;
    const char **lowered = NULL;
    const char **options;
    size_t option_count;

    result = nvrtc->CreateProgram(&program, job->source, job->name,
                                  SHMT_NVRTC_HEADERS, shmt_nvrtc_header_texts,
                                  shmt_nvrtc_header_names);
    for (size_t k = 0; result == NVRTC_SUCCESS && k < job->entry_count; k++)
        result = nvrtc->AddNameExpression(program, job->entries[k]);
    if (result != NVRTC_SUCCESS) {
        status = fail(nvrtc, result, NULL, err);
        goto done;
    }
    options = add_own_options(nvrtc, job, arena, &option_count);
    if (options == NULL) {
        status = shmt_error_memory(err);
        goto done;
    }
    result = nvrtc->CompileProgram(program, (int)option_count, options);
    status = read_log(nvrtc, program, arena, &product.log, err);
    if (status == SHMTUNE_OK)
        status = check_outcome(nvrtc, result, &(struct shmt_nvrtc_log){
            .log = product.log, .options = options,
            .option_count = option_count, .libraries = process.libraries},
            err);
    if (status == SHMTUNE_COMPILE)
        explain_missing_entry(job, err);
    if (status == SHMTUNE_OK)
        status = read_names(nvrtc, program, job, arena, &lowered, err);
    if (status == SHMTUNE_OK)
        status = read_cubin(nvrtc, program, arena, &product, err);
    if (status == SHMTUNE_OK) {
        product.lowered = lowered;
        product.elapsed_ms = (shmt_clock_s() - start) * 1e3;
        *out = product;
    }
done:
    if (program != NULL)
        nvrtc->DestroyProgram(&program);
    return status;
}
