/* SPDX-License-Identifier: MIT */
/*
 * module: which function is of which module or library, and what that was
 * loaded from.  Images and names stay as long as the process: a handle may be
 * given again, and somebody may still hold what was copied out.
 */
#include "capture/library.h"

#include <elf.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gpu/cubin.h"

/* Larger ones are looked at, and not kept. */
enum { MOST_IMAGE = 1 << 28 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* By module or library. */
static struct shmt_capture_image **images;
static struct shmt_map by_owner;
static size_t image_count;

static struct shmt_capture_function **functions;
static struct shmt_map by_handle;
static size_t function_count, gone;     /* gone: of them have no handle */
static pid_t recorder;         /* a child that was forked has recorded none */

static uint64_t key_of(const void *handle)
{
    return (uint64_t)(uintptr_t)handle;
}

/* -- images --------------------------------------------------------------- */

/* Of a fatbin: behind its header of 16 bytes are as many as that says. */
struct fatbin {
    uint32_t magic;
    uint16_t version, header_size;
    uint64_t size;
};

/* What registered code of the CUDA runtime looks like: a pointer to one. */
struct wrapper {
    uint32_t magic, version;
    const struct fatbin *data;
    const void *more;
};

#define WRAPPER_MAGIC UINT32_C(0x466243b1)

static size_t cubin_size(const unsigned char *image)
{
    Elf64_Ehdr header;
    size_t end;

    memcpy(&header, image, sizeof header);
    end = header.e_shoff + (size_t)header.e_shentsize * header.e_shnum;
    for (size_t k = 0; k < header.e_phnum; k++) {
        Elf64_Phdr one;

        memcpy(&one, image + header.e_phoff + k * sizeof one, sizeof one);
        if (one.p_offset + one.p_filesz > end)
            end = one.p_offset + one.p_filesz;
    }
    if (header.e_phoff + (size_t)header.e_phentsize * header.e_phnum > end)
        end = header.e_phoff + (size_t)header.e_phentsize * header.e_phnum;
    for (size_t k = 0; k < header.e_shnum; k++) {
        Elf64_Shdr one;

        memcpy(&one, image + header.e_shoff + k * sizeof one, sizeof one);
        if (one.sh_type != SHT_NOBITS && one.sh_offset + one.sh_size > end)
            end = one.sh_offset + one.sh_size;
    }
    return end;
}

/* How the driver sees what it is given; the size is in none of its calls.
 * *stays: what is registered lies in the program's own file. */
static void look_at(const void *data, struct shmt_capture_image *image,
                    const void **begin, bool *stays)
{
    uint32_t magic;

    memcpy(&magic, data, sizeof magic);
    *stays = magic == WRAPPER_MAGIC;
    if (*stays) {
        data = ((const struct wrapper *)data)->data;
        memcpy(&magic, data, sizeof magic);
    }
    *begin = data;
    if (magic == SHMT_CUBIN_FATBIN) {
        const struct fatbin *fatbin = data;

        image->form = SHMT_CAPTURE_FATBIN;
        image->size = fatbin->header_size + (size_t)fatbin->size;
    } else if (memcmp(data, ELFMAG, SELFMAG) == 0) {
        image->form = SHMT_CAPTURE_CUBIN;
        image->size = cubin_size(data);
    } else if (strchr("/. \t\r\n", *(const char *)data) != NULL &&
               *(const char *)data != '\0') {
        image->form = SHMT_CAPTURE_PTX;
        image->size = strlen(data);
    } else {
        image->form = SHMT_CAPTURE_FATBIN;     /* of a form not known */
        image->size = 0;
    }
}

/* What is compiled from a source of this process is PTX or a cubin; a fatbin
 * may be large, and its digest is nobody's.  NULL: what it was is not known, or
 * nobody asks. */
static struct shmt_capture_image *make_image(const void *data)
{
    struct shmt_capture_image *image = calloc(1, sizeof *image);
    const void *begin;
    void *copy;
    bool stays;

    if (image == NULL || data == NULL)
        return image;
    look_at(data, image, &begin, &stays);
    if (image->form != SHMT_CAPTURE_FATBIN)
        shmt_capture_digest(begin, image->size, image->digest);
    if (image->size == 0)
        return image;
    if (stays)
        image->data = begin;
    else if (image->size <= MOST_IMAGE) {
        copy = malloc(image->size + 1);
        if (copy == NULL) {
            free(image);
            return NULL;
        }
        memcpy(copy, begin, image->size);
        ((char *)copy)[image->size] = '\0';
        image->data = copy;
    }
    return image;
}

/* That of a fatbin takes long, so it is made when somebody asks. */
const char *shmt_capture_identity(const struct shmt_capture_image *from)
{
    struct shmt_capture_image *image =
        (struct shmt_capture_image *)(uintptr_t)from;
    const struct shmt_capture_program *program;

    if (image == NULL)
        return "";
    pthread_mutex_lock(&lock);
    if (image->identity[0] == '\0') {
        program = image->digest[0] == '\0'
                      ? NULL : shmt_capture_program_of(image->digest);
        if (program != NULL)
            shmt_capture_program_digest(program, image->identity);
        else if (image->data != NULL)
            shmt_capture_digest(image->data, image->size, image->identity);
    }
    pthread_mutex_unlock(&lock);
    return image->identity;
}

/* Under the lock: what was loaded there before is gone, and its handles may be
 * given to others.  Counts of its functions stay. */
static void forget_owner(const void *owner)
{
    const uint32_t at = shmt_map_find(&by_owner, key_of(owner));
    const struct shmt_capture_image *image = NULL;     /* loading not seen */

    if (at != SHMT_MAP_NONE) {
        shmt_map_remove(&by_owner, key_of(owner), at);
        image = images[at];
    }
    for (size_t k = 0; k < function_count; k++) {
        struct shmt_capture_function *one = functions[k];

        if (one->handle == NULL ||
            (one->owner != owner && (image == NULL || one->image != image)))
            continue;
        shmt_map_remove(&by_handle, key_of(one->handle), (uint32_t)k);
        shmt_capture_launch_forget(one->handle);
        one->handle = NULL;
        gone++;
    }
}

static void add_image(void *owner, const void *data)
{
    struct shmt_capture_image *image, **made;
    bool whole = false;

    image = make_image(shmt_capture_setting()->list ? NULL : data);
    pthread_mutex_lock(&lock);
    forget_owner(owner);
    made = image == NULL ? NULL
                         : realloc(images, (image_count + 1) * sizeof *images);
    if (made != NULL) {
        images = made;
        images[image_count] = image;
        whole = shmt_map_set(&by_owner, key_of(owner), (uint32_t)image_count);
        image_count += whole;
    }
    pthread_mutex_unlock(&lock);
    if (!whole)
        shmt_capture_note("a binary is not kept: there is no memory");
}

static void add_file(void *owner, const char *path)
{
    struct shmt_arena *arena = shmt_arena_new();
    const char *data;
    size_t size;

    /* A NUL is behind it, as the driver has it. */
    if (arena == NULL || shmt_path_read(arena, path, MOST_IMAGE, &data, &size,
                                        NULL) != SHMTUNE_OK ||
        size <= sizeof(Elf64_Ehdr))
        data = NULL;
    add_image(owner, data);
    shmt_arena_free(arena);
}

static void remove_image(void *owner)
{
    const struct shmt_capture_image *image;
    uint32_t at;

    pthread_mutex_lock(&lock);
    at = shmt_map_find(&by_owner, key_of(owner));
    image = at == SHMT_MAP_NONE ? NULL : images[at];
    forget_owner(owner);
    pthread_mutex_unlock(&lock);
    shmt_capture_replace_forget(image);
}

/* -- functions ------------------------------------------------------------ */

/* Under the lock. */
static struct shmt_capture_function *find(const void *handle)
{
    const uint32_t at = shmt_map_find(&by_handle, key_of(handle));

    return at == SHMT_MAP_NONE ? NULL : functions[at];
}

/* One of the name whose module is unloaded: its counts go on. */
static size_t take_gone(const char *name)
{
    size_t k = 0;

    while (gone > 0 && k < function_count &&
           (functions[k]->handle != NULL ||
            strcmp(functions[k]->name, name) != 0))
        k++;
    return gone > 0 ? k : function_count;
}

/* The place of a new one, which has a name and nothing else; false: no memory.
 */
static bool make_place(const char *name)
{
    struct shmt_capture_function *function = calloc(1, sizeof *function);
    struct shmt_capture_function **made =
        realloc(functions, (function_count + 1) * sizeof *functions);

    if (made != NULL)
        functions = made;
    if (function != NULL)
        function->name = strdup(name);
    if (made == NULL || function == NULL || function->name == NULL) {
        free(function == NULL ? NULL : function->name);
        free(function);
        return false;
    }
    functions[function_count++] = function;
    gone++;
    return true;
}

static struct shmt_capture_function *
add(const void *handle, const struct shmt_capture_function *from)
{
    struct shmt_capture_function *function = find(handle);
    size_t k;
    uint32_t at;

    if (function != NULL && function->owner == from->owner &&
        strcmp(function->name, from->name) == 0)
        return function;
    k = take_gone(from->name);
    if ((k == function_count && !make_place(from->name)) ||
        !shmt_map_set(&by_handle, key_of(handle), (uint32_t)k))
        return NULL;
    if (function != NULL) {
        function->handle = NULL;       /* it is another's now */
        gone++;
    }
    function = functions[k];
    function->handle = handle;
    function->is_kernel = from->is_kernel;
    function->owner = from->owner;
    function->of_library = from->of_library;
    at = shmt_map_find(&by_owner, key_of(from->owner));
    function->image = at == SHMT_MAP_NONE ? NULL : images[at];
    gone--;
    return function;
}

static void add_function(const void *handle, const char *name, void *owner,
                         bool of_library)
{
    const struct shmt_capture_function from = {
        .name = (char *)(uintptr_t)name, .owner = owner,
        .of_library = of_library, .is_kernel = of_library};

    pthread_mutex_lock(&lock);
    add(handle, &from);
    pthread_mutex_unlock(&lock);
    shmt_capture_launch_forget(handle);
}

/* The kernel of a library of which the driver made the function, as for a node
 * of a graph; NULL: none that is known. */
static const struct shmt_capture_function *
kernel_of(const struct shmt_capture_driver *driver, CUfunction handle,
          const char *name)
{
    CUfunction plain;

    if (driver->KernelGetFunction == NULL)
        return NULL;
    for (size_t k = 0; k < function_count; k++)
        if (functions[k]->handle != NULL && functions[k]->is_kernel &&
            strcmp(functions[k]->name, name) == 0 &&
            driver->KernelGetFunction(
                &plain, (CUkernel)(uintptr_t)functions[k]->handle) ==
                CUDA_SUCCESS &&
            plain == handle)
            return functions[k];
    return NULL;
}

/* A handle of a way that we do not see: the driver knows its name. */
static struct shmt_capture_function *ask(CUfunction handle)
{
    const struct shmt_capture_driver *const driver = shmt_capture_driver();
    struct shmt_capture_function from = {0};
    const char *name = NULL;
    CUlibrary library = NULL;
    CUmodule module = NULL;

    if (driver == NULL || driver->FuncGetName == NULL)
        return NULL;
    if (driver->FuncGetName(&name, handle) == CUDA_SUCCESS && name != NULL) {
        const struct shmt_capture_function *kernel =
            kernel_of(driver, handle, name);

        if (kernel != NULL) {
            from = *kernel;
            from.is_kernel = false;
        } else if (driver->FuncGetModule != NULL &&
                   driver->FuncGetModule(&module, handle) == CUDA_SUCCESS) {
            from.owner = module;
        }
    } else if (driver->KernelGetName != NULL &&
               driver->KernelGetName(&name, (CUkernel)handle) ==
                   CUDA_SUCCESS && name != NULL) {
        from.is_kernel = from.of_library = true;
        if (driver->KernelGetLibrary != NULL &&
            driver->KernelGetLibrary(&library, (CUkernel)handle) ==
                CUDA_SUCCESS)
            from.owner = library;
    } else {
        return NULL;
    }
    from.name = (char *)(uintptr_t)name;
    return add(handle, &from);
}

bool shmt_capture_function_of(CUfunction handle,
                              struct shmt_capture_function *out)
{
    struct shmt_capture_function *function;

    pthread_mutex_lock(&lock);
    function = find(handle);
    if (function == NULL)
        function = ask(handle);
    if (function != NULL)
        *out = *function;
    pthread_mutex_unlock(&lock);
    return function != NULL;
}

/* Kernels of one name count as one: an application may have the same in many
 * modules. */
static void count_of(const char *name, struct shmt_capture_function *sum)
{
    sum->seen = sum->taken = sum->claimed = 0;
    for (size_t k = 0; k < function_count; k++)
        if (strcmp(functions[k]->name, name) == 0) {
            sum->seen += functions[k]->seen;
            sum->taken += functions[k]->taken;
            sum->claimed += functions[k]->claimed;
        }
}

bool shmt_capture_function_due(CUfunction handle, bool *over)
{
    const struct shmt_capture_setting *setting = shmt_capture_setting();
    struct shmt_capture_function *function, sum;
    bool due = false;

    pthread_mutex_lock(&lock);
    function = find(handle);
    *over = false;
    if (function != NULL) {
        count_of(function->name, &sum);
        function->seen++;
        due = sum.seen >= setting->skip &&
              sum.taken + sum.claimed < setting->count;
        function->claimed += due;
        *over = sum.taken >= setting->count;
    }
    pthread_mutex_unlock(&lock);
    return due;
}

bool shmt_capture_function_done(CUfunction handle, bool taken)
{
    struct shmt_capture_function *function, sum = {0};

    pthread_mutex_lock(&lock);
    function = find(handle);
    if (function != NULL) {
        function->taken += taken;
        function->claimed -= function->claimed > 0;
        count_of(function->name, &sum);
    }
    pthread_mutex_unlock(&lock);
    return function != NULL && sum.taken >= shmt_capture_setting()->count;
}

void shmt_capture_function_recorded(CUfunction handle)
{
    struct shmt_capture_function *function;

    pthread_mutex_lock(&lock);
    function = find(handle);
    if (function != NULL)
        function->recorded = true;
    recorder = getpid();
    pthread_mutex_unlock(&lock);
}

void shmt_capture_function_seen(CUfunction handle)
{
    struct shmt_capture_function *function;

    pthread_mutex_lock(&lock);
    function = find(handle);
    if (function != NULL)
        function->seen++;
    pthread_mutex_unlock(&lock);
}

__attribute__((destructor)) static void tell_recorded(void)
{
    struct shmt_capture_function sum;

    if (recorder != getpid())
        return;
    pthread_mutex_lock(&lock);
    for (size_t k = 0; k < function_count; k++) {
        if (!functions[k]->recorded)
            continue;
        count_of(functions[k]->name, &sum);
        if (sum.seen == 0)
            shmt_capture_note("%s is left out: it is captured into a graph, "
                              "and no launch of that was seen",
                              functions[k]->name);
    }
    pthread_mutex_unlock(&lock);
}

/* -- the functions of the driver ------------------------------------------ */

static bool is_on(CUresult result)
{
    return result == CUDA_SUCCESS && shmt_capture_setting()->folder != NULL;
}

SHMT_CAPTURE_HOOKED cuModuleLoad(CUmodule *module, const char *path)
{
    CUresult result;

    SHMT_CAPTURE_REAL(cuModuleLoad);
    result = real == NULL ? SHMT_CAPTURE_MISSING : real(module, path);
    if (is_on(result))
        add_file(*module, path);
    return result;
}

SHMT_CAPTURE_HOOKED cuModuleLoadData(CUmodule *module, const void *image)
{
    CUresult result;

    SHMT_CAPTURE_REAL(cuModuleLoadData);
    result = real == NULL ? SHMT_CAPTURE_MISSING : real(module, image);
    if (is_on(result))
        add_image(*module, image);
    return result;
}

SHMT_CAPTURE_HOOKED cuModuleLoadDataEx(CUmodule *module, const void *image,
                                       unsigned number,
                                       CUjit_option *options,
                                       void **values)
{
    CUresult result;

    SHMT_CAPTURE_REAL(cuModuleLoadDataEx);
    result = real == NULL ? SHMT_CAPTURE_MISSING
                          : real(module, image, number, options, values);
    if (is_on(result))
        add_image(*module, image);
    return result;
}

SHMT_CAPTURE_HOOKED cuModuleLoadFatBinary(CUmodule *module,
                                          const void *image)
{
    CUresult result;

    SHMT_CAPTURE_REAL(cuModuleLoadFatBinary);
    result = real == NULL ? SHMT_CAPTURE_MISSING : real(module, image);
    if (is_on(result))
        add_image(*module, image);
    return result;
}

SHMT_CAPTURE_HOOKED cuModuleUnload(CUmodule module)
{
    SHMT_CAPTURE_REAL(cuModuleUnload);
    if (real == NULL)
        return SHMT_CAPTURE_MISSING;
    if (is_on(CUDA_SUCCESS))
        remove_image(module);
    return real(module);
}

SHMT_CAPTURE_HOOKED cuModuleGetFunction(CUfunction *function,
                                        CUmodule module, const char *name)
{
    CUresult result;

    SHMT_CAPTURE_REAL(cuModuleGetFunction);
    result = real == NULL ? SHMT_CAPTURE_MISSING : real(function, module, name);
    if (is_on(result))
        add_function(*function, name, module, false);
    return result;
}

SHMT_CAPTURE_HOOKED cuLibraryLoadData(CUlibrary *library, const void *code,
                                      CUjit_option *options, void **values,
                                      unsigned number,
                                      CUlibraryOption *library_options,
                                      void **library_values,
                                      unsigned library_count)
{
    CUresult result;

    SHMT_CAPTURE_REAL(cuLibraryLoadData);
    result = real == NULL
                 ? SHMT_CAPTURE_MISSING
                 : real(library, code, options, values, number,
                        library_options, library_values, library_count);
    if (is_on(result))
        add_image(*library, code);
    return result;
}

SHMT_CAPTURE_HOOKED cuLibraryLoadFromFile(
    CUlibrary *library, const char *path, CUjit_option *options,
    void **values, unsigned number, CUlibraryOption *library_options,
    void **library_values, unsigned library_count)
{
    CUresult result;

    SHMT_CAPTURE_REAL(cuLibraryLoadFromFile);
    result = real == NULL
                 ? SHMT_CAPTURE_MISSING
                 : real(library, path, options, values, number,
                        library_options, library_values, library_count);
    if (is_on(result))
        add_file(*library, path);
    return result;
}

SHMT_CAPTURE_HOOKED cuLibraryUnload(CUlibrary library)
{
    SHMT_CAPTURE_REAL(cuLibraryUnload);
    if (real == NULL)
        return SHMT_CAPTURE_MISSING;
    if (is_on(CUDA_SUCCESS))
        remove_image(library);
    return real(library);
}

SHMT_CAPTURE_HOOKED cuLibraryGetKernel(CUkernel *kernel, CUlibrary library,
                                       const char *name)
{
    CUresult result;

    SHMT_CAPTURE_REAL(cuLibraryGetKernel);
    result = real == NULL ? SHMT_CAPTURE_MISSING : real(kernel, library, name);
    if (is_on(result))
        add_function(*kernel, name, library, true);
    return result;
}

/* The module of a library was loaded from what the library was. */
SHMT_CAPTURE_HOOKED cuLibraryGetModule(CUmodule *module, CUlibrary library)
{
    CUresult result;
    uint32_t at;

    SHMT_CAPTURE_REAL(cuLibraryGetModule);
    result = real == NULL ? SHMT_CAPTURE_MISSING : real(module, library);
    if (is_on(result)) {
        pthread_mutex_lock(&lock);
        at = shmt_map_find(&by_owner, key_of(library));
        if (at != shmt_map_find(&by_owner, key_of(*module)))
            forget_owner(*module);
        if (at != SHMT_MAP_NONE)
            shmt_map_set(&by_owner, key_of(*module), at);
        pthread_mutex_unlock(&lock);
    }
    return result;
}

SHMT_CAPTURE_HOOKED cuKernelGetFunction(CUfunction *function,
                                        CUkernel kernel)
{
    struct shmt_capture_function *known;
    CUresult result;

    SHMT_CAPTURE_REAL(cuKernelGetFunction);
    result = real == NULL ? SHMT_CAPTURE_MISSING : real(function, kernel);
    if (is_on(result)) {
        pthread_mutex_lock(&lock);
        known = find(kernel);
        if (known != NULL) {
            struct shmt_capture_function from = *known;

            from.is_kernel = false;
            add(*function, &from);
        }
        pthread_mutex_unlock(&lock);
        shmt_capture_launch_forget(*function);
    }
    return result;
}
