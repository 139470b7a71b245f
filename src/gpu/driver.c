/* SPDX-License-Identifier: MIT */
/*
 * driver: opens libcuda.so.1 and fills the table of its functions, once for
 * the process; finds a device by number or UUID and reads its description.
 */
#include "gpu/driver.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
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

static enum shmtune_status refuse_no_gpu(struct shmt_error *err)
{
    return shmt_error_set(err, SHMTUNE_NO_DEVICE,
                          "the CUDA driver finds no GPU; see what nvidia-smi "
                          "says and $CUDA_VISIBLE_DEVICES");
}

/* Opens the library and fills the table. */
static enum shmtune_status load(const char *name, struct shmt_driver *driver,
                                struct shmt_error *err)
{
    void *const library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    enum shmtune_status status;

    if (library == NULL)
        return shmt_error_set(err, SHMTUNE_NO_DEVICE,
                              "no CUDA driver: %s; install the NVIDIA driver "
                              "(in a container: start it with the GPU)",
                              dlerror());
    status = find_all(library, driver, err);
    if (status != SHMTUNE_OK)
        dlclose(library);
    return status;
}

static enum shmtune_status open_once(struct shmt_driver *driver,
                                     struct shmt_error *err)
{
    const char *const given = shmt_driver_setting("SHMTUNE_LIBCUDA");
    const enum shmtune_status status =
        load(given != NULL ? given : "libcuda.so.1", driver, err);
    CUresult result;

    if (status != SHMTUNE_OK)
        return given == NULL
                   ? status
                   : shmt_error_append(err, ", or unset $SHMTUNE_LIBCUDA, "
                                       "which is \"%s\"", given);
    result = driver->Init(0);
    if (result == CUDA_ERROR_NO_DEVICE)
        return refuse_no_gpu(err);
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

    /* NULL stays, or is set, for one that the driver does not know. */
    driver->GetErrorName(result, &name);
    return name != NULL ? name : "an error the driver has no name for";
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
    driver->GetErrorString(result, &text);
    if (text == NULL)
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

/* -- devices -------------------------------------------------------------- */

enum { UUID_TEXT = 64 };

enum shmtune_status shmt_driver_device_count(const struct shmt_driver *driver,
                                             int *count, struct shmt_error *err)
{
    int found = 0;
    const CUresult result = driver->DeviceGetCount(&found);

    if (result != CUDA_SUCCESS)
        return shmt_driver_check(driver, result, err, "cuDeviceGetCount");
    if (found == 0)
        return refuse_no_gpu(err);
    *count = found;
    return SHMTUNE_OK;
}

/* "GPU-8-4-4-4-12", as nvidia-smi writes it. */
static enum shmtune_status uuid_of(const struct shmt_driver *driver,
                                   int ordinal, char text[UUID_TEXT],
                                   struct shmt_error *err)
{
    CUdevice device = 0;
    CUuuid uuid;
    CUresult result = driver->DeviceGet(&device, ordinal);
    size_t used;

    if (result == CUDA_SUCCESS)
        result = driver->DeviceGetUuid(&uuid, device);
    if (result != CUDA_SUCCESS)
        return shmt_driver_check(driver, result, err, "UUID of device %d",
                                 ordinal);
    used = (size_t)snprintf(text, UUID_TEXT, "GPU-");
    for (size_t i = 0; i < 16; i++)
        used += (size_t)snprintf(text + used, UUID_TEXT - used, "%s%02x",
                                 i == 4 || i == 6 || i == 8 || i == 10 ? "-"
                                                                       : "",
                                 (unsigned)(unsigned char)uuid.bytes[i]);
    return SHMTUNE_OK;
}

static enum shmtune_status refuse(const struct shmt_driver *driver,
                                  const char *text, int count, int fits,
                                  struct shmt_error *err)
{
    struct shmt_text list = {0};
    char uuid[UUID_TEXT];

    for (int k = 0; k < count && k < 16; k++)
        if (uuid_of(driver, k, uuid, NULL) == SHMTUNE_OK)
            shmt_text_addf(&list, "%s%d (%s)", k > 0 ? ", " : "", k, uuid);
    shmt_error_set(err, SHMTUNE_NO_DEVICE, "%s device \"%s\"; there %s %s",
                   fits > 1 ? "more than one" : "no", text,
                   count == 1 ? "is" : "are", shmt_text_string(&list));
    shmt_text_free(&list);
    return SHMTUNE_NO_DEVICE;
}

enum shmtune_status shmt_driver_find_device(const struct shmt_driver *driver,
                                            const char *text, int *ordinal,
                                            struct shmt_error *err)
{
    int count = 0, fits = 0, found = 0;
    char uuid[UUID_TEXT], *end;
    long number;
    enum shmtune_status status = shmt_driver_device_count(driver, &count, err);

    if (status != SHMTUNE_OK)
        return status;
    number = strtol(text, &end, 10);
    if (text[0] >= '0' && text[0] <= '9' && *end == '\0') {
        if (number >= count)
            return refuse(driver, text, count, 0, err);
        *ordinal = (int)number;
        return SHMTUNE_OK;
    }
    for (int k = 0; k < count; k++) {
        status = uuid_of(driver, k, uuid, err);
        if (status != SHMTUNE_OK)
            return status;
        if (strlen(text) > 4 && strncasecmp(uuid, text, strlen(text)) == 0) {
            found = k;
            fits++;
        }
    }
    if (fits != 1)
        return refuse(driver, text, count, fits, err);
    *ordinal = found;
    return SHMTUNE_OK;
}

/* X(field, attribute) */
#define ATTRIBUTE_LIST(X)                                                    \
    X(compute_major, COMPUTE_CAPABILITY_MAJOR)                               \
    X(compute_minor, COMPUTE_CAPABILITY_MINOR)                               \
    X(multiprocessors, MULTIPROCESSOR_COUNT)                                 \
    X(max_threads_per_block, MAX_THREADS_PER_BLOCK)                          \
    X(max_threads_per_multiprocessor, MAX_THREADS_PER_MULTIPROCESSOR)        \
    X(max_blocks_per_multiprocessor, MAX_BLOCKS_PER_MULTIPROCESSOR)          \
    X(registers_per_block, MAX_REGISTERS_PER_BLOCK)                          \
    X(registers_per_multiprocessor, MAX_REGISTERS_PER_MULTIPROCESSOR)        \
    X(warp_size, WARP_SIZE)                                                  \
    X(shared_per_block, MAX_SHARED_MEMORY_PER_BLOCK)                         \
    X(shared_per_block_optin, MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)             \
    X(shared_per_multiprocessor, MAX_SHARED_MEMORY_PER_MULTIPROCESSOR)       \
    X(shared_reserved_per_block, RESERVED_SHARED_MEMORY_PER_BLOCK)           \
    X(l2_bytes, L2_CACHE_SIZE)                                               \
    X(max_grid_y, MAX_GRID_DIM_Y)                                            \
    X(clock_khz, CLOCK_RATE)                                                 \
    X(memory_clock_khz, MEMORY_CLOCK_RATE)                                   \
    X(memory_bus_bits, GLOBAL_MEMORY_BUS_WIDTH)

enum shmtune_status
shmt_driver_describe_device(const struct shmt_driver *driver,
                            int ordinal, struct shmtune_device *out,
                            struct shmt_error *err)
{
    struct shmtune_device device = SHMTUNE_DEVICE_INIT;
    const char *what = "cuDeviceGet";
    enum shmtune_status status;
    CUdevice handle = 0;
    CUresult result = driver->DeviceGet(&handle, ordinal);
    size_t bytes = 0;

    if (result == CUDA_SUCCESS) {
        what = "cuDeviceGetName";
        result = driver->DeviceGetName(device.name, sizeof device.name,
                                       handle);
    }
#define ASK(field, attribute)                                                \
    if (result == CUDA_SUCCESS) {                                            \
        int number_ = 0;                                                     \
        what = "device attribute " #attribute;                               \
        result = driver->DeviceGetAttribute(                                 \
            &number_, CU_DEVICE_ATTRIBUTE_##attribute, handle);              \
        device.field = number_;                                              \
    }
    ATTRIBUTE_LIST(ASK)
#undef ASK
    if (result == CUDA_SUCCESS) {
        what = "cuDeviceTotalMem";
        result = driver->DeviceTotalMem(&bytes, handle);
    }
    if (result != CUDA_SUCCESS)
        return shmt_driver_check(driver, result, err, "%s of device %d", what,
                                 ordinal);
    status = uuid_of(driver, ordinal, device.uuid, err);
    if (status != SHMTUNE_OK)
        return status;
    device.memory_bytes = (int64_t)bytes;
    device.driver_version = driver->version;
    *out = device;
    return SHMTUNE_OK;
}
