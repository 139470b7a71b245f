/* SPDX-License-Identifier: MIT */
/*
 * driver: opens libcuda.so.1 and fills the table of its functions, once for
 * the process.
 */
#include "gpu/driver.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

/* The oldest driver version that has all functions of the list with these
 * arguments. */
enum { OLDEST = 12000 };

static struct {
    pthread_once_t once;
    enum shmtune_status status;
    struct shmt_error err;
    struct shmt_driver driver;
} process = {.once = PTHREAD_ONCE_INIT};

/* The text of a name after its macros. */
#define TEXT_OF(name) #name
#define TEXT(name) TEXT_OF(name)

/* ISO C has no cast from an object pointer to a function pointer; POSIX says
 * that the bytes are the same. */
static void store(void *function, void *symbol)
{
    memcpy(function, &symbol, sizeof symbol);
}

static enum shmtune_status
find_all(void *library, struct shmt_driver *driver, struct shmt_error *err)
{
    CUresult (*get)(const char *, void **, int, cuuint64_t,
                    CUdriverProcAddressQueryResult *);
    CUresult (*get_version)(int *);
    const char *missing = NULL;
    int version = 0;

    store(&get, dlsym(library, "cuGetProcAddress_v2"));
    store(&get_version, dlsym(library, "cuDriverGetVersion"));
    if (get_version == NULL || get_version(&version) != CUDA_SUCCESS)
        return shmt_error_set(err, SHMTUNE_NO_DEVICE,
                              "the CUDA driver library does not tell its "
                              "version; reinstall the NVIDIA driver");
    if (get == NULL || version < OLDEST)
        return shmt_error_set(err, SHMTUNE_NO_DEVICE,
                              "the NVIDIA driver supports CUDA %d.%d, shmtune "
                              "needs %d.%d or newer; update the driver",
                              version / 1000, version % 1000 / 10,
                              OLDEST / 1000, OLDEST % 1000 / 10);
/* First the symbol that the header's macros make of the name, which is what
 * the header declares.  The driver's own answer comes second: for a name such
 * as cuCtxGetDevice it gives 13.0's _v2, with one argument more, although the
 * header's is still the old one. */
#define FIND(name)                                                           \
    {                                                                        \
        CUdriverProcAddressQueryResult found_;                               \
        void *symbol_ = dlsym(library, TEXT(cu##name));                      \
        if (symbol_ == NULL &&                                               \
            get("cu" #name, &symbol_,                                        \
                version < CUDA_VERSION ? version : CUDA_VERSION,             \
                CU_GET_PROC_ADDRESS_DEFAULT, &found_) != CUDA_SUCCESS)       \
            symbol_ = NULL;                                                  \
        if (symbol_ == NULL)                                                 \
            missing = "cu" #name;                                            \
        store(&driver->name, symbol_);                                       \
    }
    SHMT_DRIVER_LIST(FIND)
#undef FIND
    if (missing != NULL)
        return shmt_error_set(err, SHMTUNE_NO_DEVICE,
                              "the NVIDIA driver (CUDA %d.%d) has no function "
                              "%s; update the driver",
                              version / 1000, version % 1000 / 10, missing);
    driver->version = version;
    return SHMTUNE_OK;
}

static enum shmtune_status open_once(struct shmt_driver *driver,
                                     struct shmt_error *err)
{
    const char *name = shmt_driver_setting("SHMTUNE_LIBCUDA");
    enum shmtune_status status;
    void *library;
    CUresult result;

    if (name == NULL)
        name = "libcuda.so.1";
    library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL)
        return shmt_error_set(err, SHMTUNE_NO_DEVICE,
                              "no CUDA driver: %s; install the NVIDIA driver "
                              "(in a container: start it with the GPU), or "
                              "use a recorded device", dlerror());
    status = find_all(library, driver, err);
    if (status != SHMTUNE_OK) {
        dlclose(library);
        return status;
    }
    result = driver->Init(0);
    if (result == CUDA_ERROR_NO_DEVICE)
        return shmt_error_set(err, SHMTUNE_NO_DEVICE,
                              "the CUDA driver finds no GPU; see what "
                              "nvidia-smi says and $CUDA_VISIBLE_DEVICES");
    if (result != CUDA_SUCCESS) {
        shmt_driver_check(driver, result, err, "cuInit");
        if (err != NULL)
            err->status = SHMTUNE_NO_DEVICE;
        return SHMTUNE_NO_DEVICE;
    }
    return SHMTUNE_OK;
}

static void run_once(void)
{
    process.status = open_once(&process.driver, &process.err);
}

enum shmtune_status shmt_driver_open(const struct shmt_driver **out,
                                     struct shmt_error *err)
{
    pthread_once(&process.once, run_once);
    if (process.status != SHMTUNE_OK)
        return shmt_error_set(err, process.status, "%s", process.err.text);
    *out = &process.driver;
    return SHMTUNE_OK;
}

const char *shmt_driver_error_name(const struct shmt_driver *driver,
                                   CUresult result)
{
    const char *name = NULL;

    if (driver->GetErrorName(result, &name) != CUDA_SUCCESS || name == NULL)
        return "an error the driver has no name for";
    return name;
}

enum shmtune_status shmt_driver_check(const struct shmt_driver *driver,
                                      CUresult result, struct shmt_error *err,
                                      const char *what, ...)
{
    const char *text = NULL;
    char subject[256];
    va_list arguments;

    if (result == CUDA_SUCCESS)
        return SHMTUNE_OK;
    va_start(arguments, what);
    vsnprintf(subject, sizeof subject, what, arguments);
    va_end(arguments);
    if (driver->GetErrorString(result, &text) != CUDA_SUCCESS || text == NULL)
        text = "no text";
    return shmt_error_set(err,
                          result == CUDA_ERROR_OUT_OF_MEMORY
                              ? SHMTUNE_NO_MEMORY : SHMTUNE_CUDA,
                          "%s: %s (%d: %s)%s", subject,
                          shmt_driver_error_name(driver, result), (int)result,
                          text,
                          result == CUDA_ERROR_NOT_INITIALIZED
                              ? "; CUDA does not survive a fork: start the "
                                "child anew, by exec" : "");
}

bool shmt_driver_is_sticky(CUresult result)
{
    switch (result) {
    case CUDA_ERROR_ILLEGAL_ADDRESS:
    case CUDA_ERROR_LAUNCH_TIMEOUT:
    case CUDA_ERROR_LAUNCH_FAILED:
    case CUDA_ERROR_HARDWARE_STACK_ERROR:
    case CUDA_ERROR_ILLEGAL_INSTRUCTION:
    case CUDA_ERROR_MISALIGNED_ADDRESS:
    case CUDA_ERROR_INVALID_ADDRESS_SPACE:
    case CUDA_ERROR_INVALID_PC:
    case CUDA_ERROR_ASSERT:
    case CUDA_ERROR_ECC_UNCORRECTABLE:
    case CUDA_ERROR_UNKNOWN:
    case CUDA_ERROR_DEINITIALIZED:
    case CUDA_ERROR_CONTEXT_IS_DESTROYED:
        return true;
    default:
        return false;
    }
}

const char *shmt_driver_setting(const char *variable)
{
    const char *value = getauxval(AT_SECURE) != 0 ? NULL : getenv(variable);

    return value != NULL && value[0] != '\0' ? value : NULL;
}
