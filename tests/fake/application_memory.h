/* SPDX-License-Identifier: MIT */
/*
 * application_memory: where application.c has its buffers, by
 * $APPLICATION_MEMORY: managed; host, pinned; combined, the same with another
 * address on the device; registered, the program's own, 16 bytes behind the
 * begin of a page, or so many as $APPLICATION_BEHIND says; pageable, from
 * malloc.  Else on the device.
 */
static struct {
    CUdeviceptr device;
    void *host;                /* NULL: the host does not reach it */
    size_t size;
} places[64];
static size_t place_count;

static int is_memory(const char *kind)
{
    const char *said = getenv("APPLICATION_MEMORY");

    return said != NULL && strcmp(said, kind) == 0;
}

/* As much as malloc would give, at an address that is the same each time. */
static void *own_memory(size_t size)
{
    static size_t at = (size_t)0x31 << 40;
    const char *behind = getenv("APPLICATION_BEHIND");
    const size_t offset = behind == NULL ? 16 : strtoull(behind, NULL, 10);
    char *const page = mmap((void *)at, size + offset, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    must(page == MAP_FAILED, "mmap");
    at += (size + offset + 0x1fffff) & ~(size_t)0x1fffff;
    return page + offset;
}

static CUdeviceptr allocate(size_t size)
{
    const unsigned combined =
        is_memory("combined") ? CU_MEMHOSTALLOC_WRITECOMBINED : 0;
    CUdeviceptr device = 0;
    void *host = NULL;

    if (is_memory("managed")) {
        must((int)api.cuMemAllocManaged(&device, size, CU_MEM_ATTACH_GLOBAL),
             "cuMemAllocManaged");
        host = (void *)(uintptr_t)device;
    } else if (is_memory("pageable")) {
        host = malloc(size);
        device = (CUdeviceptr)(uintptr_t)host;
    } else if (is_memory("registered")) {
        host = own_memory(size);
        must((int)api.cuMemHostRegister(host, size,
                                        CU_MEMHOSTREGISTER_DEVICEMAP),
             "cuMemHostRegister");
    } else if (is_memory("host") || combined != 0) {
        must((int)api.cuMemHostAlloc(
                 &host, size, CU_MEMHOSTALLOC_DEVICEMAP | combined),
             "cuMemHostAlloc");
    } else {
        must((int)api.cuMemAlloc(&device, size), "memory");
    }
    if (device == 0)
        must((int)api.cuMemHostGetDevicePointer(&device, host, 0),
             "cuMemHostGetDevicePointer");
    if (place_count < sizeof places / sizeof places[0]) {
        places[place_count].device = device;
        places[place_count].size = size;
        places[place_count++].host = host;
    }
    return device;
}

static void give_back(CUdeviceptr device)
{
    void *host = NULL;

    for (size_t k = 0; k < place_count; k++)
        if (places[k].device == device) {
            host = places[k].host;
            places[k].size = 0;
        }
    if (is_memory("registered"))
        must((int)api.cuMemHostUnregister(host), "cuMemHostUnregister");
    else if (is_memory("host") || is_memory("combined"))
        must((int)api.cuMemFreeHost(host), "cuMemFreeHost");
    else if (!is_memory("pageable"))
        must((int)api.cuMemFree(device), "cuMemFree");
}

/* Where the host has it; NULL: nowhere. */
static void *host_of(CUdeviceptr device)
{
    for (size_t k = 0; k < place_count; k++)
        if (device - places[k].device < places[k].size &&
            places[k].host != NULL)
            return (char *)places[k].host + (device - places[k].device);
    return NULL;
}

static void put(CUdeviceptr to, const void *data, size_t size)
{
    if (host_of(to) != NULL)
        memcpy(host_of(to), data, size);
    else
        must((int)api.cuMemcpyHtoD(to, data, size), "copy");
}

static void get(void *out, CUdeviceptr from, size_t size, CUstream stream)
{
    if (host_of(from) == NULL) {
        must((int)api.cuMemcpyDtoH(out, from, size), "copy");
        return;
    }
    must((int)api.cuStreamSynchronize(stream), "cuStreamSynchronize");
    memcpy(out, host_of(from), size);
}
