/* SPDX-License-Identifier: MIT */
/*
 * interpose: how the application comes to the functions of this library in the
 * place of the driver's and NVRTC's: linked, since a preloaded library comes
 * first; by dlsym; and by cuGetProcAddress, which is what the CUDA runtime
 * uses.  Also finds the real ones.
 *
 * dlsym itself is a few instructions, so that what is none of ours goes on to
 * the real one as if nobody stood between: RTLD_NEXT looks at who calls.
 */
#define _GNU_SOURCE
#include "capture/library.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

/* A sanitizer asks for functions by dlsym before it is there itself: what runs
 * then is without its checks, and calls nothing that it stands before. */
#define EARLY __attribute__((no_sanitize("address", "undefined", "thread")))

static const struct {
    const char *name;
    void (*own)(void);
} hooks[] = {
#define ROW(name) {#name, (void (*)(void))name},
    SHMT_CAPTURE_HOOKS(ROW)
#undef ROW
};

static _Atomic(void *) reals[SHMT_CAPTURE_HOOK_COUNT];

typedef void *find_function(void *handle, const char *name);

/* ISO C has no cast between pointers to functions and to objects. */
static void *own_of(size_t hook)
{
    void *own;

    memcpy(&own, &hooks[hook].own, sizeof own);
    return own;
}

/* -- the real ones -------------------------------------------------------- */

EARLY static find_function *real_dlsym(void)
{
    static _Atomic(void *) known;
    static const char *const versions[] = {"GLIBC_2.34", "GLIBC_2.2.5",
                                           "GLIBC_2.17"};
    void *found = atomic_load(&known);
    find_function *function;

    for (size_t k = 0;
         found == NULL && k < sizeof versions / sizeof versions[0]; k++)
        found = dlvsym(RTLD_NEXT, "dlsym", versions[k]);
    atomic_store(&known, found);
    memcpy(&function, &found, sizeof function);
    return function;
}

enum { LIBRARIES = 4, PATH = 1024 };

/* The libraries of one name that the process has open. */
struct search {
    const char *library;
    size_t count;
    char paths[LIBRARIES][PATH];
};

/* The loader is locked meanwhile: a path is noted, and nothing opened. */
static int note_path(struct dl_phdr_info *info, size_t size, void *context)
{
    struct search *const search = context;
    const char *slash = strrchr(info->dlpi_name, '/');
    const char *file = slash == NULL ? info->dlpi_name : slash + 1;

    (void)size;
    if (strncmp(file, search->library, strlen(search->library)) == 0 &&
        search->count < LIBRARIES && strlen(info->dlpi_name) < PATH)
        snprintf(search->paths[search->count++], PATH, "%s",
                 info->dlpi_name);
    return 0;
}

/* In whatever scope they are. */
static void *find_loaded(const char *name)
{
    struct search search = {
        .library = name[0] == 'n' ? "libnvrtc.so" : "libcuda.so"};
    void *found = NULL;

    dl_iterate_phdr(note_path, &search);
    for (size_t k = 0; found == NULL && k < search.count; k++) {
        void *handle = dlopen(search.paths[k], RTLD_LAZY | RTLD_NOLOAD);

        if (handle == NULL)
            continue;
        found = real_dlsym()(handle, name);
        dlclose(handle);
    }
    return found;
}

void shmt_capture_real(enum shmt_capture_hook hook, void *function)
{
    void *found = atomic_load(&reals[hook]);

    if (found == NULL) {
        found = real_dlsym()(RTLD_NEXT, hooks[hook].name);
        if (found == NULL)
            found = find_loaded(hooks[hook].name);
        if (found != NULL)
            atomic_store(&reals[hook], found);
    }
    memcpy(function, &found, sizeof found);
}

void shmt_capture_symbol(const char *name, void *function)
{
    void *found = real_dlsym()(RTLD_NEXT, name);

    if (found == NULL)
        found = find_loaded(name);
    memcpy(function, &found, sizeof found);
}

void shmt_capture_sibling(enum shmt_capture_hook hook, const char *name,
                          void *function)
{
    void *real, *found = NULL, *handle = NULL;
    Dl_info info;

    shmt_capture_real(hook, &real);
    if (real != NULL && dladdr(real, &info) != 0 && info.dli_fname != NULL)
        handle = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    if (handle != NULL) {
        found = real_dlsym()(handle, name);
        dlclose(handle);
    }
    memcpy(function, &found, sizeof found);
}

/* -- the ways in ---------------------------------------------------------- */

/* Whether it can be one of ours at all. */
EARLY static bool may_be_hook(const char *name)
{
    return name != NULL && ((name[0] == 'c' && name[1] == 'u') ||
                            (name[0] == 'n' && name[1] == 'v'));
}

static size_t hook_of(const char *name)
{
    for (size_t k = 0; k < SHMT_CAPTURE_HOOK_COUNT; k++)
        if (strcmp(hooks[k].name, name) == 0)
            return k;
    return SHMT_CAPTURE_HOOK_COUNT;
}

static void *library_of(const void *symbol)
{
    Dl_info info;

    return dladdr(symbol, &info) == 0 ? NULL : info.dli_fbase;
}

/* A process may hold two NVRTCs, and a program of one is nothing to the other:
 * only one is seen, which is the one that is linked, or else the first. */
static bool is_of_other(const void *found)
{
    static _Atomic(void *) seen;
    static atomic_bool told;
    void *linked = atomic_load(&seen), *known = NULL;

    if (linked == NULL) {
        linked = real_dlsym()(RTLD_NEXT, "nvrtcCreateProgram");
        linked = library_of(linked == NULL ? found : linked);
        atomic_compare_exchange_strong(&seen, &known, linked);
    }
    if (library_of(found) == atomic_load(&seen))
        return false;
    if (!atomic_exchange(&told, true))
        shmt_capture_note("the program holds two NVRTCs: one is not seen");
    return true;
}

/* Ours in the place of one that was found. */
static void *replace(size_t hook, void *found)
{
    void *known = NULL;

    if (hooks[hook].name[0] == 'n' && is_of_other(found))
        return found;
    atomic_compare_exchange_strong(&reals[hook], &known, found);
    return own_of(hook);
}

/* Where dlsym is to go on to, or what it answers. */
struct shmt_capture_answer {
    void *found, *go_on;
};

struct shmt_capture_answer shmt_capture_dlsym(void *handle, const char *name,
                                              const void *caller);

struct request {
    void *handle;
    const char *name;
    const void *caller;        /* where it goes back to */
};

/* Another library may stand before the driver as we do: what it asks for is
 * what it goes on to, and we go on to it. */
static bool is_behind(const void *caller, size_t hook)
{
    void *real = atomic_load(&reals[hook]), *library;

    if (real == NULL)
        real = real_dlsym()(RTLD_NEXT, hooks[hook].name);
    library = real == NULL ? NULL : library_of(real);
    return library != NULL && library == library_of(caller);
}

/* For a name that may be one of ours. */
static struct shmt_capture_answer answer_for(const struct request *request,
                                             void *go_on)
{
    struct shmt_capture_answer answer = {NULL, go_on};
    const size_t hook = hook_of(request->name);
    void *found;

    if (hook == SHMT_CAPTURE_HOOK_COUNT || request->handle == RTLD_NEXT ||
        shmt_capture_setting()->folder == NULL)
        return answer;
    found = real_dlsym()(request->handle, request->name);
    if (found != NULL && found != own_of(hook) &&
        is_behind(request->caller, hook))
        return answer;
    if (found == own_of(hook)) {
        /* It has looked everywhere, and we are first. */
        shmt_capture_real((enum shmt_capture_hook)hook, &found);
        if (found == NULL)
            answer.go_on = NULL;
    }
    if (found != NULL) {
        answer.found = replace(hook, found);
        answer.go_on = NULL;
    }
    return answer;
}

/* Called by the instructions below. */
EARLY __attribute__((used)) struct shmt_capture_answer
shmt_capture_dlsym(void *handle, const char *name, const void *caller)
{
    const struct request request = {handle, name, caller};
    find_function *const real = real_dlsym();
    struct shmt_capture_answer answer = {NULL, NULL};

    memcpy(&answer.go_on, &real, sizeof answer.go_on);
    return may_be_hook(name) ? answer_for(&request, answer.go_on) : answer;
}

#if defined __x86_64__
__asm__(
    ".text\n"
    ".globl dlsym\n"
    ".type dlsym, @function\n"
    ".hidden shmt_capture_dlsym\n"
    "dlsym:\n"
    ".cfi_startproc\n"
    "    pushq %rdi\n"
    ".cfi_adjust_cfa_offset 8\n"
    "    pushq %rsi\n"
    ".cfi_adjust_cfa_offset 8\n"
    "    subq $8, %rsp\n"
    ".cfi_adjust_cfa_offset 8\n"
    "    movq 24(%rsp), %rdx\n"
    "    call shmt_capture_dlsym\n"
    "    addq $8, %rsp\n"
    ".cfi_adjust_cfa_offset -8\n"
    "    popq %rsi\n"
    ".cfi_adjust_cfa_offset -8\n"
    "    popq %rdi\n"
    ".cfi_adjust_cfa_offset -8\n"
    "    testq %rdx, %rdx\n"
    "    jnz 1f\n"
    "    ret\n"
    "1:  jmp *%rdx\n"
    ".cfi_endproc\n"
    ".size dlsym, . - dlsym\n");
#elif defined __aarch64__
__asm__(
    ".text\n"
    ".globl dlsym\n"
    ".type dlsym, %function\n"
    ".hidden shmt_capture_dlsym\n"
    "dlsym:\n"
    ".cfi_startproc\n"
    "    stp x29, x30, [sp, -32]!\n"
    ".cfi_adjust_cfa_offset 32\n"
    ".cfi_rel_offset x30, 8\n"
    "    stp x0, x1, [sp, 16]\n"
    "    mov x2, x30\n"
    "    bl shmt_capture_dlsym\n"
    "    mov x9, x0\n"
    "    mov x10, x1\n"
    "    ldp x0, x1, [sp, 16]\n"
    "    ldp x29, x30, [sp], 32\n"
    ".cfi_adjust_cfa_offset -32\n"
    "    cbnz x10, 1f\n"
    "    mov x0, x9\n"
    "    ret\n"
    "1:  br x10\n"
    ".cfi_endproc\n"
    ".size dlsym, . - dlsym\n");
#else
#error "dlsym has to be written for this processor"
#endif

/* The driver has names without their versions: from which version on of what
 * asks it gives which function, the newest first. */
static const struct {
    const char *name;
    int from;
    const char *symbol;
} versions[] = {
    {"cuGetProcAddress", 12000, "cuGetProcAddress_v2"},
    {"cuGraphInstantiate", 11000, "cuGraphInstantiate_v2"},
    {"cuGraphExecUpdate", 12000, "cuGraphExecUpdate_v2"},
    {"cuGraphExecKernelNodeSetParams", 12000,
     "cuGraphExecKernelNodeSetParams_v2"},
};

static const char *symbol_of(const char *name, int version)
{
    for (size_t k = 0; k < sizeof versions / sizeof versions[0]; k++)
        if (strcmp(versions[k].name, name) == 0 && version >= versions[k].from)
            return versions[k].symbol;
    return name;
}

/* It has two functions of one name where a stream may be the thread's own. */
static void replace_driver(const char *name, cuuint64_t flags, int version,
                           void **out)
{
    char own_stream[64];
    size_t hook = SHMT_CAPTURE_HOOK_COUNT;

    if (name == NULL || out == NULL || *out == NULL ||
        shmt_capture_setting()->folder == NULL)
        return;
    name = symbol_of(name, version);
    snprintf(own_stream, sizeof own_stream, "%s_ptsz", name);
    if ((flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) != 0)
        hook = hook_of(own_stream);
    if (hook == SHMT_CAPTURE_HOOK_COUNT)
        hook = hook_of(name);
    if (hook < SHMT_CAPTURE_HOOK_COUNT && *out != own_of(hook))
        *out = replace(hook, *out);
}

SHMT_CAPTURE_HOOKED cuGetProcAddress(const char *name, void **out,
                                     int version, cuuint64_t flags)
{
    CUresult result;

    SHMT_CAPTURE_REAL(cuGetProcAddress);
    if (real == NULL)
        return SHMT_CAPTURE_MISSING;
    result = real(name, out, version, flags);
    if (result == CUDA_SUCCESS)
        replace_driver(name, flags, version, out);
    return result;
}

SHMT_CAPTURE_HOOKED cuGetProcAddress_v2(
    const char *name, void **out, int version, cuuint64_t flags,
    CUdriverProcAddressQueryResult *status)
{
    CUresult result;

    SHMT_CAPTURE_REAL(cuGetProcAddress_v2);
    if (real == NULL)
        return SHMT_CAPTURE_MISSING;
    result = real(name, out, version, flags, status);
    if (result == CUDA_SUCCESS)
        replace_driver(name, flags, version, out);
    return result;
}
