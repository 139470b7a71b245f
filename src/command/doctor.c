/* SPDX-License-Identifier: MIT */
/*
 * doctor: what tuning needs, what of it is there, and how to get the
 * rest.
 */
#include "config.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "command/command.h"
#include "command/json.h"
#include "device/device.h"
#include "gpu/gpu.h"
#include "profile/profile.h"
#include "target/target.h"
#include "yaml/yaml.h"

static const char help[] =
    "usage: shmtune doctor [--json]\n"
    "\n"
    "Looks at what tuning needs: the driver and its devices, NVRTC, the\n"
    "toolkit's headers, the compiler's resource report, permissions, folders.\n"
    "Says what is missing and how to get it.\n"
    "\n"
    "exit status: 0 this machine can tune on a GPU, 6 it cannot (recorded\n"
    "devices, inspect, show and check may still work)\n"
    "\n"
    "examples:\n"
    "  shmtune doctor\n"
    "  shmtune doctor --json\n";

enum state { GOOD, NOTE, MISSING };

static const struct {
    const char *word;
    enum shmt_command_paint paint;
} states[] = {
    [GOOD] = {"ok", SHMT_PAINT_GOOD},
    [NOTE] = {"note", SHMT_PAINT_NONE},
    [MISSING] = {"missing", SHMT_PAINT_BAD},
};

enum { KINDS = 8 };    /* more of them in one machine are not looked at */

struct visit {
    struct shmt_table table;
    json_t *json;
    bool can_tune;
    int usable, busy;    /* GPUs: busy ones may be usable later */
    struct {
        char arch[16];
        int ordinal;     /* of the first GPU that has it */
    } kinds[KINDS];
    int kind_count;
    int device;          /* the first for which kernels compile; -1: none */
    bool compiles, writes;         /* the latter: into ./tunings */
    size_t kernels, recordings;    /* that are built in */
};

/* Adds a finding to the table; `what` must be short. */
static void add_finding(struct visit *visit, enum state state, const char *what,
                        const char *format, ...)
    __attribute__((format(printf, 4, 5)));

static void add_finding(struct visit *visit, enum state state, const char *what,
                        const char *format, ...)
{
    char text[SHMT_ERROR_BYTES];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    shmt_table_paint(&visit->table, states[state].paint, "%s",
                     states[state].word);
    shmt_table_add(&visit->table, "%s", what);
    shmt_table_add(&visit->table, "%s", text);
    json_array_append_new(visit->json,
                          json_pack("{s:s, s:s, s:o}", "check", what, "state",
                                    states[state].word, "text",
                                    shmt_json_text(text)));
}

/* The rest of the line behind `key` in a file of /proc. */
static bool find_line(const char *path, const char *key, char *out,
                      size_t room)
{
    FILE *file = fopen(path, "r");
    char line[512];
    bool found = false;

    if (file == NULL)
        return false;
    while (!found && fgets(line, sizeof line, file) != NULL) {
        const char *at = strstr(line, key);

        if (at == NULL)
            continue;
        at += strlen(key);
        at += strspn(at, " :\t");
        snprintf(out, room, "%.*s", (int)strcspn(at, "\n"), at);
        found = true;
    }
    fclose(file);
    return found;
}

/* -- the driver ----------------------------------------------------------- */

static void look_at_module(struct visit *visit)
{
    char version[256];

    if (!find_line("/proc/driver/nvidia/version", "Kernel Module", version,
                   sizeof version)) {
        add_finding(visit, NOTE, "kernel module",
                    "not loaded: no /proc/driver/nvidia/version");
        return;
    }
    add_finding(visit, GOOD, "kernel module", "NVIDIA %.60s", version);
    if (access("/dev/nvidiactl", R_OK | W_OK) != 0)
        add_finding(visit, MISSING, "device files",
                    "/dev/nvidiactl: %s; join the group that owns it, or "
                    "start the container with the GPU", strerror(errno));
    else
        add_finding(visit, GOOD, "device files",
                    "/dev/nvidiactl can be opened");
}

static void look_at_counters(struct visit *visit)
{
    char value[64];

    if (!find_line("/proc/driver/nvidia/params", "RmProfilingAdminOnly",
                   value, sizeof value))
        return;
    if (value[0] == '0' || geteuid() == 0)
        add_finding(visit, GOOD, "counters", "profilers may read them");
    else
        add_finding(visit, NOTE, "counters",
                    "only root may read them (RmProfilingAdminOnly: %s); "
                    "tuning does not need them, profilers do: options nvidia "
                    "NVreg_RestrictProfilingToAdminUsers=0 in /etc/modprobe.d",
                    value);
}

/* For `shmtune explain` alone. */
static void look_at_profiler(struct visit *visit)
{
    struct shmt_error err = {0};
    char path[4096];

    if (shmt_counters_program(path, sizeof path, &err) == SHMTUNE_OK)
        add_finding(visit, GOOD, "ncu", "%s", path);
    else
        add_finding(visit, NOTE, "ncu", "%s", err.text);
}

/* What of the memory is free; more than a tenth in use is somebody's. */
static void look_at_memory(struct visit *visit,
                           const struct shmt_driver *driver, int ordinal)
{
    size_t unused = 0, total = 0;
    char what[32];
    bool shared;

    if (driver->MemGetInfo(&unused, &total) != CUDA_SUCCESS)
        return;
    snprintf(what, sizeof what, "GPU %d memory", ordinal);
    shared = total - unused > total / 10;
    add_finding(visit, shared ? NOTE : GOOD, what, "%.1f of %.1f GiB free%s",
                (double)unused / 1073741824.0, (double)total / 1073741824.0,
                shared ? "; another process uses this device: times will be "
                         "noisy" : "");
}

static void look_at_clocks(struct visit *visit,
                           const struct shmtune_device *device, int ordinal)
{
    char what[32];

    snprintf(what, sizeof what, "GPU %d clocks", ordinal);
    /* By UUID: nvidia-smi numbers the GPUs in another order than CUDA. */
    add_finding(visit, NOTE, what,
                "up to %d MHz; for figures that repeat, lock it: nvidia-smi "
                "-i %s --lock-gpu-clocks=%d (as root)",
                device->clock_khz / 1000, device->uuid,
                device->clock_khz / 1000);
}

/* Why there can be no context, and what can be done. */
static void refuse_device(struct visit *visit, const char *what,
                          const struct shmtune_device *device, CUresult code,
                          const char *why)
{
    if (code != CUDA_ERROR_DEVICE_UNAVAILABLE) {
        add_finding(visit, MISSING, what, "%s, %s: a context cannot be made: "
                    "%s", device->name, device->uuid, why);
        return;
    }
    visit->busy++;
    add_finding(visit, NOTE, what, "%s, %s: another process has exclusive use "
                "of it, or its compute mode prohibits any: wait for that "
                "process, or nvidia-smi -i %s --compute-mode=0 (as root)",
                device->name, device->uuid, device->uuid);
}

static void keep_kind(struct visit *visit, const char *arch, int ordinal)
{
    for (int k = 0; k < visit->kind_count; k++)
        if (strcmp(visit->kinds[k].arch, arch) == 0)
            return;
    if (visit->kind_count == KINDS)
        return;
    snprintf(visit->kinds[visit->kind_count].arch, sizeof visit->kinds->arch,
             "%s", arch);
    visit->kinds[visit->kind_count++].ordinal = ordinal;
}

/* Each GPU has a verdict of its own: whether one can tune on it. */
static void look_at_device(struct visit *visit,
                           const struct shmt_driver *driver, int ordinal)
{
    struct shmt_error err = {0};
    struct shmtune_device device;
    CUdevice handle = 0;
    CUcontext context;
    CUresult code;
    char what[32], arch[16];

    snprintf(what, sizeof what, "GPU %d", ordinal);
    if (shmt_driver_describe_device(driver, ordinal, &device, &err) !=
        SHMTUNE_OK) {
        add_finding(visit, MISSING, what, "%s", err.text);
        return;
    }
    code = driver->DeviceGet(&handle, ordinal);
    if (code == CUDA_SUCCESS)
        code = driver->DevicePrimaryCtxRetain(&context, handle);
    if (shmt_driver_check(driver, code, &err, "cuDevicePrimaryCtxRetain") !=
        SHMTUNE_OK) {
        refuse_device(visit, what, &device, code, err.text);
        return;
    }
    visit->usable++;
    shmt_device_arch_text(&device, arch);
    keep_kind(visit, arch, ordinal);
    add_finding(visit, GOOD, what,
                "%s, %s, %d multiprocessors, %lld KiB of shared memory a "
                "block, %s",
                device.name, arch, device.multiprocessors,
                (long long)device.shared_per_block_optin / 1024, device.uuid);
    look_at_clocks(visit, &device, ordinal);
    if (driver->CtxSetCurrent(context) == CUDA_SUCCESS)
        look_at_memory(visit, driver, ordinal);
    driver->CtxSetCurrent(NULL);
    driver->DevicePrimaryCtxRelease(handle);
}

static void look_at_driver(struct visit *visit)
{
    struct shmt_error err = {0};
    const struct shmt_driver *driver;
    int count = 0;

    look_at_module(visit);
    if (shmt_driver_open(&driver, &err) != SHMTUNE_OK) {
        add_finding(visit, MISSING, "driver", "%s", err.text);
        visit->can_tune = false;
        return;
    }
    add_finding(visit, GOOD, "driver", "for CUDA %d.%d", driver->version / 1000,
                driver->version % 1000 / 10);
    if (shmt_driver_device_count(driver, &count, &err) != SHMTUNE_OK) {
        add_finding(visit, MISSING, "devices", "%s", err.text);
        visit->can_tune = false;
        return;
    }
    for (int i = 0; i < count; i++)
        look_at_device(visit, driver, i);
    visit->can_tune = visit->can_tune && visit->usable > 0;
    look_at_counters(visit);
    look_at_profiler(visit);
}

/* -- the compiler --------------------------------------------------------- */

/* Whether registers, spills and shared bytes of the probe can be read. */
static void look_at_report(struct visit *visit, const char *log)
{
    struct shmt_resources resources;

    if (shmt_ptxas_resources(log, "probe", &resources) &&
        resources.shared_static_bytes == 512)
        add_finding(visit, GOOD, "report",
                    "registers, spills and shared bytes can be read");
    else
        add_finding(visit, MISSING, "report",
                    "the compiler's resource report (--ptxas-options=-v) "
                    "is not understood: registers and spills will be "
                    "unknown; please report it with the version of NVRTC");
}

/* One small kernel with 128 floats of shared memory, for which the report has
 * to say 512 bytes; `ordinal` is -1 where there is no GPU. */
static void look_at_compiling(struct visit *visit,
                              const struct shmt_nvrtc *nvrtc,
                              const char *arch, int ordinal)
{
    static const char source[] =
        "extern \"C\" __global__ void probe(float *out)\n"
        "{\n"
        "    __shared__ float tile[128];\n"
        "    tile[threadIdx.x] = out[threadIdx.x];\n"
        "    __syncthreads();\n"
        "    out[threadIdx.x] = tile[127 - threadIdx.x];\n"
        "}\n";
    char option[64];
    const char *const options[] = {option, "--ptxas-options=-v"};
    static const char *const entries[] = {"probe"};
    const struct shmt_nvrtc_job job = {
        .name = "probe.cu", .source = source, .option_count = 2,
        .options = options, .entry_count = 1, .entries = entries
    };
    struct shmt_arena *arena = shmt_arena_new();
    struct shmt_nvrtc_product product;
    struct shmt_error err = {0};

    snprintf(option, sizeof option, "--gpu-architecture=%s", arch);
    if (arena != NULL && shmt_nvrtc_compile(nvrtc, &job, arena, &product,
                                            &err) == SHMTUNE_OK) {
        add_finding(visit, GOOD, "compiling", "a kernel for %s in %.0f ms",
                    arch, product.elapsed_ms);
        if (!visit->compiles)
            look_at_report(visit, product.log);
        visit->compiles = true;
        if (visit->device < 0)
            visit->device = ordinal;
    } else if (ordinal >= 0 &&
               strstr(err.text, "--gpu-architecture") != NULL) {
        add_finding(visit, MISSING, "compiling", "NVRTC %d.%d does not know "
                    "%s, the architecture of GPU %d: name one that does in "
                    "$SHMTUNE_NVRTC", nvrtc->version / 1000,
                    nvrtc->version % 1000 / 10, arch, ordinal);
    } else {
        add_finding(visit, MISSING, "compiling", "%s", err.text);
    }
    shmt_arena_free(arena);
}

/* For kernels that ask for it alone. */
static void look_at_nvcc(struct visit *visit)
{
    struct shmt_arena *arena = shmt_arena_new();
    struct shmt_error err = {0};
    struct shmt_nvcc nvcc;

    visit->table.failed |= arena == NULL;
    if (arena == NULL)
        return;
    if (shmt_nvcc_open(shmt_program_run, NULL, arena, &nvcc, &err) ==
        SHMTUNE_OK)
        add_finding(visit, GOOD, "nvcc", "%d.%d, %s", nvcc.version / 1000,
                    nvcc.version % 1000 / 10, nvcc.path);
    else
        add_finding(visit, NOTE, "nvcc", "%s; only kernels with \"compiler: "
                    "nvcc\" need it", err.text);
    shmt_arena_free(arena);
}

static void look_at_compiler(struct visit *visit)
{
    struct shmt_error err = {0};
    const struct shmt_nvrtc *nvrtc;

    if (shmt_nvrtc_open(&nvrtc, &err) != SHMTUNE_OK) {
        add_finding(visit, MISSING, "NVRTC", "%s", err.text);
        visit->can_tune = false;
        return;
    }
    add_finding(visit, GOOD, "NVRTC", "%d.%d, %s", nvrtc->version / 1000,
                nvrtc->version % 1000 / 10, nvrtc->path);
    if (nvrtc->include != NULL)
        add_finding(visit, GOOD, "headers", "%s", nvrtc->include);
    else
        add_finding(visit, NOTE, "headers",
                    "no toolkit headers: kernels that include <cuda_fp16.h> "
                    "and the like do not compile; install the toolkit or the "
                    "wheel nvidia-cuda-runtime and set CUDA_HOME");
    for (int k = 0; k < visit->kind_count; k++)
        look_at_compiling(visit, nvrtc, visit->kinds[k].arch,
                          visit->kinds[k].ordinal);
    /* An architecture that each NVRTC knows: for inspect. */
    if (!visit->compiles)
        look_at_compiling(visit, nvrtc, "sm_90", -1);
    visit->can_tune = visit->can_tune && visit->device >= 0;
}

/* -- folders -------------------------------------------------------------- */

/* Applications create the cache when they need it; check that they will be
 * able to. */
static void look_at_cache(struct visit *visit, struct shmt_arena *arena)
{
    const char *cache = shmt_path_cache(arena), *there = cache;
    const char *binaries = shmt_path_cache_binaries(arena);
    struct shmt_error why;
    bool made;
    int folder = -1;

    if (cache == NULL) {
        add_finding(visit, NOTE, "cache",
                    "neither XDG_CACHE_HOME nor HOME is set: "
                    "applications compile anew every time");
        return;
    }
    while (there != NULL && !shmt_path_exists(there) && there[1] != '\0')
        there = shmt_path_folder(arena, there);
    there = there == NULL ? NULL : shmt_path_join(arena, there, ".");
    visit->table.failed |= there == NULL || binaries == NULL;
    if (there == NULL || binaries == NULL)
        return;
    made = shmt_path_exists(cache);
    if (access(there, W_OK | X_OK) != 0)
        add_finding(visit, NOTE, "cache",
                    "%s%s: %s: applications compile anew every "
                    "time; XDG_CACHE_HOME may name another folder", cache,
                    made ? "" : " cannot be made", strerror(errno));
    else if (shmt_path_open_private(binaries, false, &folder, &why) ==
             SHMTUNE_STORAGE)
        add_finding(visit, NOTE, "cache", "%s: applications compile anew "
                    "every time; XDG_CACHE_HOME may name another folder",
                    why.text);
    else
        add_finding(visit, GOOD, "cache", "%s%s", cache,
                    made ? "" : ", made when it is needed");
    if (folder >= 0)
        close(folder);
}

/* Where tune puts what it finds, when nobody says. */
static void look_at_output(struct visit *visit)
{
    const bool made = access("./tunings", F_OK) == 0;

    visit->writes =
        access(made ? "./tunings/." : ".", W_OK | X_OK) == 0;
    if (visit->writes)
        add_finding(visit, GOOD, "output", "./tunings%s",
                    made ? "" : ", made when it is needed");
    else
        add_finding(visit, NOTE, "output", "./tunings%s: %s; work in a folder "
                    "of your own, or name one with --output DIR",
                    made ? "" : " cannot be made", strerror(errno));
}

static void count_recordings(struct visit *visit,
                             const struct shmt_catalogue *catalogue)
{
    const struct shmt_recording_places places = {
        (const char *const *)catalogue->folders, catalogue->folder_count};
    struct shmt_arena *const arena = shmt_arena_new();
    enum shmtune_status status = SHMTUNE_OK;
    const char *const *paths;
    struct shmt_error why;
    size_t count;

    visit->kernels = catalogue->kernel_count;
    for (size_t k = 0; arena != NULL && k < catalogue->kernel_count; k++) {
        status = shmt_recording_find(arena, &places,
                                     catalogue->kernels[k].kernel->name, "",
                                     &paths, &count, &why);
        visit->recordings += status == SHMTUNE_OK;
        if (status == SHMTUNE_NO_MEMORY)
            visit->table.failed = true;
        else if (status != SHMTUNE_OK && status != SHMTUNE_NO_DEVICE)
            add_finding(visit, NOTE, "recordings", "%s", why.text);
    }
    visit->table.failed |= arena == NULL;
    shmt_arena_free(arena);
}

static void look_at_catalogue(struct visit *visit)
{
    struct shmt_catalogue *catalogue;
    struct shmt_error why = {0};
    const enum shmtune_status status =
        shmt_command_catalogue(&catalogue, &why);

    visit->table.failed |= status == SHMTUNE_NO_MEMORY;
    if (status != SHMTUNE_OK) {
        add_finding(visit, NOTE, "data folder", "%s", why.text);
        return;
    }
    count_recordings(visit, catalogue);
    if (catalogue->kernel_count == 0)
        add_finding(visit, NOTE, "kernels",
                    "no built-in kernels; make install, or "
                    "name their folder in SHMTUNE_PATH");
    else
        add_finding(visit, GOOD, "kernels", "%zu, the first at %s",
                    catalogue->kernel_count,
                    catalogue->kernels[0].kernel->path);
    for (size_t i = 0; i < catalogue->folder_count; i++)
        add_finding(visit, GOOD, "data folder", "%s", catalogue->folders[i]);
    for (size_t i = 0; i < catalogue->note_count; i++)
        add_finding(visit, NOTE, "data folder", "%s", catalogue->notes[i]);
    shmt_catalogue_close(catalogue);
}

static void look_at_folders(struct visit *visit)
{
    struct shmt_arena *arena = shmt_arena_new();
    const char *temporary = getenv("TMPDIR");

    visit->table.failed |= arena == NULL;
    if (arena == NULL)
        return;
    if (temporary == NULL || temporary[0] == '\0')
        temporary = "/tmp";
    /* A worker is started with a folder in it. */
    if (access(temporary, W_OK | X_OK) != 0) {
        add_finding(visit, MISSING, "temporary", "%s: %s; set TMPDIR",
                    temporary, strerror(errno));
        visit->can_tune = visit->compiles = false;
    }
    look_at_output(visit);
    look_at_cache(visit, arena);
    look_at_catalogue(visit);
    shmt_arena_free(arena);
}

/* -- the command ---------------------------------------------------------- */

/* What may be typed next, of which nothing fails for what was found. */
static void add_last_words(const struct visit *visit, struct shmt_text *text)
{
    const char *const output = visit->writes ? "" : " --output DIR";
    char device[32] = "";    /* 0 is taken without a word */

    if (visit->device > 0)
        snprintf(device, sizeof device, " --device %d", visit->device);
    if (visit->can_tune && visit->kernels > 0) {
        shmt_text_addf(text, "\nThis machine can tune on a GPU: `shmtune "
                             "--device %d%s`, or `shmtune tune SPEC.yaml%s%s`"
                             ".\n",
                       visit->device, output, device, output);
        return;
    }
    if (visit->can_tune) {
        shmt_text_addf(text, "\nThis machine can tune on a GPU, kernels of "
                             "your own: `shmtune tune SPEC.yaml%s%s`.\n",
                       device, output);
        return;
    }
    shmt_text_add(text, visit->busy > 0 && visit->usable == 0
                            ? "\nThis machine cannot tune on a GPU now: other "
                              "processes have exclusive use of what it has.\n"
                            : "\nThis machine cannot tune on a GPU.\n");
    if (visit->compiles)
        shmt_text_addf(text, "What works without: `shmtune inspect %s` "
                             "compiles candidates, and shows registers, "
                             "spills and occupancy.\n",
                       visit->kernels > 0 ? "KERNEL|SPEC.yaml" : "SPEC.yaml");
    if (visit->recordings > 0)
        shmt_text_addf(text, "Kernels with a recording can be tuned on that: "
                             "`shmtune list recordings` shows them, "
                             "`--device replay:NAME%s` takes one.\n", output);
}

static enum shmtune_status print(struct visit *visit, bool json,
                                 const struct shmt_command_call *call,
                                 struct shmt_error *err)
{
    struct shmt_text text = {0};

    shmt_table_end(&visit->table, call, &text);
    if (json && !text.failed) {
        shmt_text_free(&text);
        return shmt_json_print("doctor", json_pack("{s:b, s:O}", "can_tune",
                                         visit->can_tune, "checks",
                                         visit->json), err);
    }
    add_last_words(visit, &text);
    return shmt_command_print_lines(&text, call, err);
}

static enum shmtune_status run(const struct shmt_command_call *call,
                               struct shmt_error *err)
{
    struct visit visit = {
        .table = {.titles = "|what|finding"}, .can_tune = true, .device = -1
    };
    bool json = false;
    const struct shmt_command_option options[] = {
        {"json", 0, SHMT_OPTION_FLAG, &json, 0, 0},
        {NULL, 0, SHMT_OPTION_FLAG, NULL, 0, 0}
    };
    int rest;
    enum shmtune_status status =
        shmt_command_options(call, options, &rest, err);

    if (status != SHMTUNE_OK)
        return status;
    if (rest != 0)
        return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                              "\"%.64s\": no words but options are expected",
                              call->words[0]);
    visit.json = json_array();
    add_finding(&visit, GOOD, "shmtune",
                PACKAGE_VERSION ", libyaml %s, jansson %s",
                shmt_yaml_version(), jansson_version_str());
    add_finding(&visit, GOOD, "processors", "%lld for compile workers",
                (long long)shmt_command_cores());
    look_at_driver(&visit);
    look_at_compiler(&visit);
    look_at_nvcc(&visit);
    look_at_folders(&visit);
    status = print(&visit, json, call, err);
    if (status == SHMTUNE_OK && !visit.can_tune)
        status = SHMTUNE_NO_DEVICE;   /* all has been said */
    json_decref(visit.json);
    return status;
}

const struct shmt_command shmt_command_doctor = {
    "doctor", "what tuning needs, what is missing, how to get it", help, run
};
