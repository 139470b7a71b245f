/* SPDX-License-Identifier: MIT */
/*
 * Any text as the log of a compiler: the resources of each entry within their
 * ranges, or a message of one line that says why there is no binary.  The
 * first line of an input is what the compiler returned, a number of nvrtc.h,
 * the rest is its log.
 */
#include "fuzz.h"

#include <string.h>

#include "gpu/gpu.h"

const char fuzz_name[] = "log";

/* -- a compiler that says what it is told to say -------------------------- */

static const char *log_text;
static nvrtcResult log_result;

static const char *result_text(nvrtcResult result)
{
    (void)result;
    return "refused";
}

static nvrtcResult create(nvrtcProgram *out, const char *source,
                          const char *name, int count,
                          const char *const *headers, const char *const *names)
{
    (void)source;
    (void)name;
    (void)count;
    (void)headers;
    (void)names;
    *out = (nvrtcProgram)(void *)&log_text;
    return NVRTC_SUCCESS;
}

static nvrtcResult destroy(nvrtcProgram *program)
{
    *program = NULL;
    return NVRTC_SUCCESS;
}

static nvrtcResult compile(nvrtcProgram program, int count,
                           const char *const *options)
{
    (void)program;
    (void)count;
    (void)options;
    return log_result;
}

static nvrtcResult add_entry(nvrtcProgram program, const char *entry)
{
    (void)program;
    (void)entry;
    return NVRTC_SUCCESS;
}

static nvrtcResult lowered_name(nvrtcProgram program, const char *entry,
                                const char **out)
{
    (void)program;
    *out = entry;
    return NVRTC_SUCCESS;
}

static nvrtcResult cubin_size(nvrtcProgram program, size_t *out)
{
    (void)program;
    *out = 4;
    return NVRTC_SUCCESS;
}

static nvrtcResult cubin(nvrtcProgram program, char *out)
{
    (void)program;
    memcpy(out, "\177ELF", 4);
    return NVRTC_SUCCESS;
}

static nvrtcResult log_size(nvrtcProgram program, size_t *out)
{
    (void)program;
    *out = strlen(log_text) + 1;
    return NVRTC_SUCCESS;
}

static nvrtcResult log_copy(nvrtcProgram program, char *out)
{
    (void)program;
    strcpy(out, log_text);
    return NVRTC_SUCCESS;
}

static const struct shmt_nvrtc compiler = {
    .GetErrorString = result_text, .CreateProgram = create,
    .DestroyProgram = destroy, .CompileProgram = compile,
    .AddNameExpression = add_entry, .GetLoweredName = lowered_name,
    .GetCUBINSize = cubin_size, .GetCUBIN = cubin,
    .GetProgramLogSize = log_size, .GetProgramLog = log_copy,
    .version = 13000, .path = "a compiler"};

/* ------------------------------------------------------------------------- */

static void check_resources(const char *log, const char *lowered)
{
    struct shmt_resources found;

    if (!shmt_ptxas_resources(log, lowered, &found))
        return;
    FUZZ_HOLDS(found.registers >= 0 && found.registers <= 100000);
    FUZZ_HOLDS(found.spill_store_bytes >= 0 && found.spill_load_bytes >= 0);
    FUZZ_HOLDS(found.stack_bytes >= 0 && found.shared_static_bytes >= 0);
    FUZZ_HOLDS(found.constant_bytes >= -1 && found.max_threads == -1);
}

static void check_compile(const struct shmt_nvrtc_job *job)
{
    struct shmt_arena *arena = shmt_arena_new();
    struct shmt_nvrtc_product product;
    struct shmt_error err = {0};
    enum shmtune_status status;

    FUZZ_HOLDS(arena != NULL);
    status = shmt_nvrtc_compile(&compiler, job, arena, &product, &err);
    if (status == SHMTUNE_OK) {
        for (size_t k = 0; k < job->entry_count; k++)
            check_resources(product.log, product.lowered[k]);
        FUZZ_HOLDS(shmt_ptxas_most_shared(product.log) >= -1);
    } else {
        FUZZ_HOLDS(status == SHMTUNE_COMPILE || status == SHMTUNE_NOT_FOUND ||
                   status == SHMTUNE_INVALID_ARGUMENT ||
                   status == SHMTUNE_NO_MEMORY);
        FUZZ_HOLDS(err.status == status && err.text[0] != '\0');
        FUZZ_HOLDS(strchr(err.text, '\n') == NULL);
    }
    shmt_arena_free(arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const options[] = {
        "--gpu-architecture=sm_90", "-DBLOCK=64", "-DN=1"};
    static const char *const entries[] = {"k", "spill<float>"};
    const struct shmt_nvrtc_job job = {
        .name = "x.cu", .source = "", .option_count = 3, .options = options,
        .entry_count = 2, .entries = entries};
    char *const text = malloc(size + 1);
    char *end;

    FUZZ_HOLDS(text != NULL);
    memcpy(text, data, size);
    text[size] = '\0';
    log_result = (nvrtcResult)(strtoul(text, &end, 10) % 13);
    log_text = end + (*end == '\n');
    check_compile(&job);
    free(text);
    return 0;
}
