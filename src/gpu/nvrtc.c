/* SPDX-License-Identifier: MIT */
/*
 * nvrtc: where the compiler is looked for, one compile, and the first error of
 * its log as one line.
 *
 * NVRTC opens libnvrtc-builtins by its bare name, and only when it compiles:
 * on the loader's path alone, which knows nothing of a wheel's folder.  That
 * file is therefore opened here first, from the folder of NVRTC; the
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
#include "device/device.h"
#include "gpu/diagnostic.h"
#include "gpu/driver.h"
#include "gpu/nvrtc_headers.h"
#include "gpu/ptxas.h"

#ifndef SHMT_CUDA_DIR
#define SHMT_CUDA_DIR "/usr/local/cuda"
#endif

/* Whoever built this named the toolkit. */
#ifdef SHMT_CUDA_GIVEN
static const char *const given = SHMT_CUDA_DIR;
#else
static const char *const given = NULL;
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
    char libraries[1100];   /* "-IFOLDER" of libcu++ and CUB, or "" */
    struct shmt_nvrtc_headers headers;
} process = {.once = PTHREAD_ONCE_INIT};

/* See driver.c. */
static void store(void *function, void *symbol)
{
    memcpy(function, &symbol, sizeof symbol);
}

const char *shmt_nvrtc_root(size_t k)
{
    static const char *const variables[SHMT_NVRTC_NAMED_ROOTS] = {
        [0] = "SHMTUNE_CUDA", [2] = "CUDA_HOME", [3] = "CUDA_PATH"};

    if (k < SHMT_NVRTC_NAMED_ROOTS && variables[k] != NULL)
        return shmt_driver_setting(variables[k]);
    if (k < SHMT_NVRTC_NAMED_ROOTS)
        return given;
    return k == SHMT_NVRTC_NAMED_ROOTS ? SHMT_CUDA_DIR : "/usr/local/cuda";
}

static bool bind(void *library, struct shmt_nvrtc *nvrtc)
{
    int major = 0, minor = 0;
    bool whole = true;

#define BIND(name)                                                           \
    store(&nvrtc->name, dlsym(library, "nvrtc" #name));                      \
    whole = whole && nvrtc->name != NULL;
    SHMT_NVRTC_LIST(BIND)
#undef BIND
    store(&nvrtc->once.SetPCHHeapSize, dlsym(library, "nvrtcSetPCHHeapSize"));
    store(&nvrtc->once.GetPCHCreateStatus,
          dlsym(library, "nvrtcGetPCHCreateStatus"));
    store(&nvrtc->once.GetPCHHeapSizeRequired,
          dlsym(library, "nvrtcGetPCHHeapSizeRequired"));
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

    for (size_t r = 0; r < SHMT_NVRTC_ROOTS; r++)
        for (size_t n = 0; shmt_nvrtc_root(r) != NULL && n < COUNT_NAMES; n++)
            for (size_t f = 0; f < COUNT_FOLDERS; f++) {
                snprintf(path, sizeof path, "%s/%s/%s", shmt_nvrtc_root(r),
                         library_folders[f], names[n]);
                if (shmt_path_exists(path) && try_open(path))
                    return true;
            }
    return false;
}

static bool has_header(const char *folder, const char *file)
{
    char path[1200];

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
    for (size_t r = 0; r < SHMT_NVRTC_ROOTS; r++)
        for (size_t f = 0; shmt_nvrtc_root(r) != NULL && f < COUNT_INCLUDES;
             f++) {
            snprintf(process.include, sizeof process.include, "%s/%s",
                     shmt_nvrtc_root(r), include_folders[f]);
            if (has_header(process.include, "cuda_fp16.h")) {
                process.nvrtc.include = process.include;
                return;
            }
        }
}

/* Where libcu++ and CUB are beside the toolkit's own headers: in a folder of
 * its own since CUDA 13, or in that of another wheel. */
static const char *const library_places[] = {
    "cccl", ".", "../../cuda_cccl/include", "../../cu13/include/cccl"
};

/* Headers of the toolkit include them, cooperative_groups.h for one. */
static void find_libraries(void)
{
    static const char mark[] = "cuda/std/version";
    const char *include = process.nvrtc.include;
    char folder[1090];

    for (size_t k = 0; include != NULL && process.libraries[0] == '\0' &&
                       k < sizeof library_places / sizeof library_places[0];
         k++) {
        snprintf(folder, sizeof folder, "%s/%s", include, library_places[k]);
        if (has_header(folder, mark))
            snprintf(process.libraries, sizeof process.libraries, "-I%s",
                     folder);
    }
    shmt_nvrtc_headers_list(process.libraries[0] != '\0'
                                ? process.libraries + strlen("-I") : NULL,
                            &process.headers);
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

/* -- what the log says ---------------------------------------------------- */

/* The log of a compile.  NVRTC writes a diagnostic as three lines:
 * FILE(LINE): error: TEXT, then the line of the source, then a caret under the
 * place. */
struct diagnostics {
    const char *log;
    const char *const *options;    /* those of the compile: -DNAME=VALUE */
    size_t option_count;
};

/* The value of a macro that the options define, given its name and length;
 * NULL when it is none. */
static const char *defined_as(const struct diagnostics *diagnostic,
                              const char *word, size_t length)
{
    for (size_t k = 0; length > 0 && k < diagnostic->option_count; k++) {
        const char *option = diagnostic->options[k];

        if (strncmp(option, "-D", 2) == 0 &&
            strncmp(option + 2, word, length) == 0 &&
            option[2 + length] == '=')
            return option + 2 + length + 1;
    }
    return NULL;
}

/* Whether libcu++ has a device header of that name: <cuda/std/limits> for
 * <limits>. */
static bool has_device_header(const char *name)
{
    char file[80];

    if (process.libraries[0] == '\0' ||
        name[shmt_text_name_length(name)] != '\0')
        return false;
    snprintf(file, sizeof file, "cuda/std/%s", name);
    return has_header(process.libraries + strlen("-I"), file);
}

static void advise_header(char *out, size_t room)
{
    static const char mark[] = "open source file \"";
    const char *at = strstr(out, mark);
    const size_t used = strlen(out);
    char name[64] = "";

    if (at != NULL)
        sscanf(at + strlen(mark), "%63[^\"]", name);
    if (name[0] != '\0' && has_device_header(name))
        snprintf(out + used, room - used, "; device code has <cuda/std/%s>; "
                 "keep what is for the host behind #ifndef __CUDACC_RTC__, or "
                 "write `compiler: nvcc`", name);
    else
        snprintf(out + used, room - used, "; name its folder in `includes`, "
                 "keep what is for the host behind #ifndef __CUDACC_RTC__, or "
                 "write `compiler: nvcc`: NVRTC compiles device code alone");
}

/* Appends a remedy to the diagnostic in `out`, if one is known. */
static void advise(const struct diagnostics *diagnostic, const char *line,
                   char *out, size_t room)
{
    const size_t used = strlen(out);
    const char *word = NULL, *value;
    const size_t length = shmt_diagnostic_word(line, &word);

    if (strstr(out, "cannot open source file") != NULL) {
        advise_header(out, room);
        return;
    }
    if (strstr(out, "not allowed in JIT mode") != NULL ||
        strstr(out, "identifier \"cuda") != NULL ||
        strstr(out, "namespace \"std\" has no member") != NULL ||
        strstr(out, "device-side kernel launch") != NULL) {
        snprintf(out + used, room - used, "; %s",
                 strstr(out, "/thrust/") != NULL || strstr(out, "/cub/") != NULL
                     ? "of CUB include <cub/block/...> or <cub/warp/...>: "
                       "NVRTC has no host code"
                     : "keep what is for the host behind #ifndef "
                       "__CUDACC_RTC__, or write `compiler: nvcc`");
        return;
    }
    value = defined_as(diagnostic, word, length);
    /* NVRTC puts the entries into a file of its own, where the value of a
     * parameter may be on the line. */
    if (value != NULL && strncmp(line, "__nv_name_map(", 14) != 0)
        snprintf(out + used, room - used, "; %.*s is a macro there, "
                 "-D%.*s=%s of the spec: give one of the two another name",
                 (int)length, word, (int)length, word, value);
}

/* The first error, "" when the log has none.  Where a remedy is known it
 * follows. */
static void first_error(const struct diagnostics *diagnostic, char *out,
                          size_t room)
{
    static const char *const marks[] = {"): error", ": error", "error",
                                        "): Error", "fatal"};
    const char *log = diagnostic->log;
    const int64_t shared = shmt_ptxas_most_shared(log);
    const char *line = NULL;

    out[0] = '\0';
    for (size_t m = 0; line == NULL && m < sizeof marks / sizeof *marks; m++)
        line = strstr(log, marks[m]);
    /* NVRTC gives no error when a kernel has more static shared memory than
     * any device allows; only the ptxas report shows it. */
    if (line == NULL && shared > SHMT_FIT_STATIC_BYTES)
        snprintf(out, room, "%lld bytes of static shared memory, %d is the "
                 "most there can be; above it use dynamic shared memory",
                 (long long)shared, SHMT_FIT_STATIC_BYTES);
    if (line == NULL)
        return;
    while (line > log && line[-1] != '\n')
        line--;
    shmt_diagnostic_text(line, out, room);
    advise(diagnostic, line, out, room);
}

/* Whether the source defines a macro that the options define too.  The
 * source's definition wins, so every value of that parameter would make the
 * same kernel. */
static bool find_redefinition(const struct diagnostics *diagnostic,
                                 char *out, size_t room)
{
    static const char mark[] = "redefinition of macro \"";
    const char *line = diagnostic->log;

    while ((line = strstr(line, mark)) != NULL) {
        const char *word = line + strlen(mark);
        const size_t length = shmt_text_name_length(word);
        const char *value = defined_as(diagnostic, word, length);

        if (value != NULL) {
            while (line > diagnostic->log && line[-1] != '\n')
                line--;
            snprintf(out, room, "%.*s: #define %.*s is in the way of the "
                     "spec's %s; put it behind #ifndef %.*s, or write "
                     "\"override: true\" into the parameter",
                     (int)strcspn(line, ":\n"), line, (int)length, word, value,
                     (int)length, word);
            return true;
        }
        line = word;
    }
    return false;
}

/* -- one compile ---------------------------------------------------------- */

static enum shmtune_status
fail(const struct shmt_nvrtc *nvrtc, nvrtcResult result,
     const struct diagnostics *diagnostic, struct shmt_error *err)
{
    char line[512] = "";

    if (diagnostic != NULL)
        first_error(diagnostic, line, sizeof line);
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

/* The entry that a diagnostic is about: each has a line of the file, in their
 * order; else one that contains the first quoted word. */
static const char *entry_in_message(const struct shmt_nvrtc_job *job,
                                    int line, const char *diagnostic)
{
    char word[256];

    if (sscanf(diagnostic, "%*[^\"]\"%255[^\"]", word) != 1)
        word[0] = '\0';
    if (line > 0 && (size_t)line <= job->entry_count &&
        strstr(job->entries[line - 1], word) != NULL)
        return job->entries[line - 1];
    for (size_t k = 0; word[0] != '\0' && k < job->entry_count; k++)
        if (strstr(job->entries[k], word) != NULL)
            return job->entries[k];
    return job->entry_count == 1 ? job->entries[0] : NULL;
}

/* NVRTC looks entries up in a generated file, which the message would name.
 * Name the entry of the spec instead. */
static void explain_missing_entry(const struct shmt_nvrtc_job *job,
                                  struct shmt_error *err)
{
    static const char file[] = "__nv_name_map:";
    const char *text, *entry;
    char why[256];

    if (err == NULL || strncmp(err->text, file, sizeof file - 1) != 0)
        return;
    text = strstr(err->text, "error: ");
    snprintf(why, sizeof why, "%.250s",
             text == NULL ? err->text : text + strlen("error: "));
    entry = entry_in_message(job, atoi(err->text + sizeof file - 1), why);
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

/* Left out where there is none. */
static enum shmtune_status
read_ptx(const struct shmt_nvrtc *nvrtc, nvrtcProgram program,
         struct shmt_arena *arena, struct shmt_nvrtc_product *product,
         struct shmt_error *err)
{
    size_t size = 0;
    char *ptx;

    if (nvrtc->GetPTXSize(program, &size) != NVRTC_SUCCESS || size == 0)
        return SHMTUNE_OK;
    ptx = shmt_arena_alloc(arena, 1, size + 1);
    if (ptx == NULL)
        return shmt_error_memory(err);
    if (nvrtc->GetPTX(program, ptx) == NVRTC_SUCCESS)
        product->ptx = ptx;
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
              const struct diagnostics *diagnostic, struct shmt_error *err)
{
    char line[512];

    if (result != NVRTC_SUCCESS)
        return fail(nvrtc, result, diagnostic, err);
    if (find_redefinition(diagnostic, line, sizeof line))
        return shmt_error_set(err, SHMTUNE_COMPILE, "%s", line);
    return SHMTUNE_OK;
}

/* One compile of `text`, which is the job's, or the same in another order:
 * messages speak of `diagnostic`'s options. */
static enum shmtune_status
compile_text(const struct shmt_nvrtc *nvrtc, const struct shmt_nvrtc_job *job,
             const struct shmt_nvrtc_once_text *text,
             struct diagnostics diagnostic, struct shmt_arena *arena,
             struct shmt_nvrtc_product *out, struct shmt_error *err)
{
    const bool arranged = text->options != diagnostic.options;
    struct shmt_nvrtc_product product = {0};
    enum shmtune_status status;
    nvrtcProgram program = NULL;
    nvrtcResult result;
    const char **lowered = NULL;

    result = nvrtc->CreateProgram(&program, text->source, text->name,
                                  (int)process.headers.count,
                                  process.headers.texts,
                                  process.headers.names);
    for (size_t k = 0; result == NVRTC_SUCCESS && k < job->entry_count; k++)
        result = nvrtc->AddNameExpression(program, job->entries[k]);
    if (result != NVRTC_SUCCESS) {
        status = fail(nvrtc, result, NULL, err);
        goto done;
    }
    result = nvrtc->CompileProgram(program, (int)text->option_count,
                                   text->options);
    status = read_log(nvrtc, program, arena, &product.log, err);
    if (status == SHMTUNE_OK && arranged)
        shmt_nvrtc_once_look(job->once, &nvrtc->once, program,
                             result == NVRTC_SUCCESS, product.log);
    diagnostic.log = product.log;
    if (status == SHMTUNE_OK)
        status = check_outcome(nvrtc, result, &diagnostic, err);
    if (status == SHMTUNE_COMPILE)
        explain_missing_entry(job, err);
    if (status == SHMTUNE_OK)
        status = read_names(nvrtc, program, job, arena, &lowered, err);
    if (status == SHMTUNE_OK)
        status = read_cubin(nvrtc, program, arena, &product, err);
    if (status == SHMTUNE_OK && job->keep_ptx)
        status = read_ptx(nvrtc, program, arena, &product, err);
    if (status == SHMTUNE_OK) {
        product.lowered = lowered;
        *out = product;
    }
done:
    if (program != NULL)
        nvrtc->DestroyProgram(&program);
    return status;
}

/* With the headers read once.  False: to be compiled on the plain way. */
static bool compile_once(const struct shmt_nvrtc *nvrtc,
                         const struct shmt_nvrtc_job *job,
                         const struct shmt_nvrtc_once_text *text,
                         struct shmt_arena *arena,
                         struct shmt_nvrtc_product *out)
{
    const struct shmt_nvrtc_once_places places = {
        .include = nvrtc->include,
        .libraries = process.libraries[0] != '\0'
                         ? process.libraries + strlen("-I") : NULL,
        .header_count = process.headers.count,
        .headers = process.headers.names,
    };
    const struct diagnostics diagnostic = {
        .options = text->options, .option_count = text->option_count};
    struct shmt_nvrtc_once_text arranged;
    struct shmt_error ignored = {0};

    return job->once != NULL &&
           shmt_nvrtc_once_arrange(job->once, &nvrtc->once, &places, text,
                                   arena, &arranged) &&
           compile_text(nvrtc, job, &arranged, diagnostic, arena, out,
                        &ignored) == SHMTUNE_OK;
}

enum shmtune_status shmt_nvrtc_compile(const struct shmt_nvrtc *nvrtc,
                                       const struct shmt_nvrtc_job *job,
                                       struct shmt_arena *arena,
                                       struct shmt_nvrtc_product *out,
                                       struct shmt_error *err)
{
    const double start = shmt_clock_s();
    struct shmt_nvrtc_product product;
    struct shmt_nvrtc_once_text text = {job->name, job->source, 0, NULL};
    enum shmtune_status status = SHMTUNE_OK;

    text.options = add_own_options(nvrtc, job, arena, &text.option_count);
    if (text.options == NULL)
        return shmt_error_memory(err);
    if (!compile_once(nvrtc, job, &text, arena, &product)) {
        status = compile_text(nvrtc, job, &text, (struct diagnostics){
            .options = text.options, .option_count = text.option_count},
            arena, &product, err);
        if (job->once != NULL)
            shmt_nvrtc_once_watch(job->once, (shmt_clock_s() - start) * 1e3);
    }
    if (status == SHMTUNE_OK) {
        product.elapsed_ms = (shmt_clock_s() - start) * 1e3;
        *out = product;
    }
    return status;
}
