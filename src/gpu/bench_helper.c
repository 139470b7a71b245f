/* SPDX-License-Identifier: MIT */
/*
 * bench_helper: see bench_source.c for what the kernels do.
 */
#include "gpu/bench_helper.h"

#include <stdlib.h>
#include <string.h>

#include "core/device.h"

enum { FILL, COMPARE, GUARD, HASH, FLUSH, ENTRIES };
static const char *const entries[ENTRIES] = {
    "shmt_fill", "shmt_compare", "shmt_guard", "shmt_hash", "shmt_flush"};

enum { THREADS = 256, BLOCKS_A_MULTIPROCESSOR = 8 };
/* When the driver does not tell the size of the cache. */
enum { L2_FALLBACK = 64 << 20 };

static char *join_source(void)
{
    struct shmt_text text = {0};

    for (size_t k = 0; shmt_bench_source[k] != NULL; k++)
        shmt_text_add(&text, shmt_bench_source[k]);
    if (!text.failed)
        return text.data;
    shmt_text_free(&text);
    return NULL;
}

static enum shmtune_status
load_module(const struct shmt_helper_options *options,
            struct shmt_module *out, struct shmt_error *err)
{
    char arch[16];
    char *source = join_source();
    const struct shmt_image_text text = {
        .name = "shmtune-helpers.cu", .source = source, .arch = arch,
        .nvrtc_version = options->nvrtc->version, .entry_count = ENTRIES,
        .entries = entries,
    };
    struct shmt_image *image = NULL;
    enum shmtune_status status;

    if (source == NULL)
        return shmt_error_memory(err);
    shmt_device_arch_text(options->device, arch);
    status = shmt_image_obtain_text(&text, options->nvrtc, options->folder,
                                    &image, err);
    if (status == SHMTUNE_OK)
        status = shmt_launch_load(options->driver, image, out, err);
    if (status != SHMTUNE_OK)
        shmt_error_prefix(err, "the measuring helpers");
    shmt_image_free(image);
    free(source);
    return status;
}

static CUresult launch(const struct shmt_helper *helper, int entry,
                       unsigned blocks, void **arguments)
{
    return helper->driver->LaunchKernel(
        helper->module.functions[entry].handle, blocks, 1, 1, THREADS, 1, 1,
        0, helper->stream, arguments, NULL);
}

/* Small work does not need the whole device. */
static unsigned blocks_for(const struct shmt_helper *helper, uint64_t items)
{
    const uint64_t blocks = (items + THREADS - 1) / THREADS;

    return blocks == 0 ? 1 : blocks < helper->blocks ? (unsigned)blocks
                                                     : helper->blocks;
}

/* Twice the cache, with data that are not all the same. */
static CUresult make_flush(struct shmt_helper *helper, int64_t l2_bytes)
{
    const uint64_t l2 = l2_bytes > 0 ? (uint64_t)l2_bytes : L2_FALLBACK;
    const struct shmt_pattern pattern = {
        .element = SHMT_ELEMENT_U32, .low = 0, .high = 4294967296.0,
        .seed = 1};
    struct shmt_buffer buffer = {.element = SHMT_ELEMENT_U32};
    CUresult result;

    helper->flush_bytes = 2 * l2 / 16 * 16;
    result = helper->driver->MemAlloc(&helper->flush, helper->flush_bytes);
    if (result != CUDA_SUCCESS)
        return result;
    /* A buffer whose data begin where this memory does. */
    buffer.base = helper->flush - SHMT_GUARD_BYTES;
    buffer.count = helper->flush_bytes / 4;
    return shmt_helper_fill(helper, &buffer, &pattern);
}

static CUresult make_memory(struct shmt_helper *helper, int64_t l2_bytes)
{
    struct shmt_finding blank[SHMT_FINDINGS];
    const struct shmt_driver *driver = helper->driver;
    CUresult result = driver->MemAlloc(&helper->findings, sizeof blank);

    memset(blank, 0, sizeof blank);
    for (size_t k = 0; k < SHMT_FINDINGS; k++) {
        blank[k].first = UINT64_MAX;
        blank[k].guard_first = INT64_MAX;
    }
    if (result == CUDA_SUCCESS)
        result = driver->MemAlloc(&helper->blank, sizeof blank);
    if (result == CUDA_SUCCESS)
        result = driver->MemAlloc(&helper->sink, sizeof(uint32_t));
    if (result == CUDA_SUCCESS)
        result = driver->MemcpyHtoD(helper->blank, blank, sizeof blank);
    if (result == CUDA_SUCCESS)
        result = make_flush(helper, l2_bytes);
    if (result == CUDA_SUCCESS)
        result = driver->StreamSynchronize(helper->stream);
    return result;
}

enum shmtune_status
shmt_helper_open(const struct shmt_helper_options *options, CUstream stream,
                 struct shmt_helper *out, struct shmt_error *err)
{
    struct shmt_helper helper = {
        .driver = options->driver, .stream = stream,
        .blocks = (unsigned)(options->device->multiprocessors *
                             BLOCKS_A_MULTIPROCESSOR),
    };
    enum shmtune_status status = load_module(options, &helper.module, err);
    CUresult result;

    if (status != SHMTUNE_OK)
        return status;
    result = make_memory(&helper, options->device->l2_bytes);
    if (result != CUDA_SUCCESS) {
        shmt_helper_close(&helper);
        return shmt_driver_check(options->driver, result, err,
                                 "memory to read the L2 cache full");
    }
    *out = helper;
    return SHMTUNE_OK;
}

void shmt_helper_close(struct shmt_helper *helper)
{
    const CUdeviceptr all[] = {helper->findings, helper->blank, helper->flush,
                               helper->sink};

    if (helper->driver == NULL)
        return;
    for (size_t k = 0; k < sizeof all / sizeof all[0]; k++)
        if (all[k] != 0)
            helper->driver->MemFree(all[k]);
    shmt_launch_unload(helper->driver, &helper->module);
    *helper = (struct shmt_helper){0};
}

/* -- buffers -------------------------------------------------------------- */

CUdeviceptr shmt_buffer_data(const struct shmt_buffer *buffer)
{
    return buffer->base + SHMT_GUARD_BYTES;
}

/* The poison repeats every two bytes, from the buffer's begin. */
static CUresult paint(const struct shmt_helper *helper, CUdeviceptr from,
                      uint64_t bytes, uint32_t word)
{
    const struct shmt_driver *driver = helper->driver;
    CUresult result = CUDA_SUCCESS;

    while (result == CUDA_SUCCESS && bytes > 0 &&
           (from % 4 != 0 || bytes < 4)) {
        result = driver->MemsetD8Async(
            from, (unsigned char)(word >> 8 * (from & 1)), 1, helper->stream);
        from++;
        bytes--;
    }
    if (result == CUDA_SUCCESS && bytes >= 4) {
        result = driver->MemsetD32Async(from, word, bytes / 4,
                                        helper->stream);
        if (result == CUDA_SUCCESS && bytes % 4 != 0)
            result = paint(helper, from + bytes / 4 * 4, bytes % 4, word);
    }
    return result;
}

CUresult shmt_buffer_new(const struct shmt_helper *helper,
                         enum shmt_element element, uint64_t count,
                         struct shmt_buffer *out)
{
    const uint64_t size = shmt_element_bytes(element);
    struct shmt_buffer buffer = {.count = count, .element = element};
    CUresult result;

    if (count > (UINT64_MAX >> 4) / size)
        return CUDA_ERROR_OUT_OF_MEMORY;
    buffer.bytes = count * size;
    buffer.whole = 2 * SHMT_GUARD_BYTES + (buffer.bytes + 255) / 256 * 256;
    result = helper->driver->MemAlloc(&buffer.base, buffer.whole);
    if (result != CUDA_SUCCESS)
        return result;
    result = paint(helper, buffer.base, buffer.whole, SHMT_PATTERN_POISON_A);
    if (result != CUDA_SUCCESS) {
        helper->driver->MemFree(buffer.base);
        return result;
    }
    *out = buffer;
    return CUDA_SUCCESS;
}

void shmt_buffer_free(const struct shmt_helper *helper,
                      struct shmt_buffer *buffer)
{
    if (buffer->base != 0)
        helper->driver->MemFree(buffer->base);
    *buffer = (struct shmt_buffer){0};
}

CUresult shmt_helper_poison(const struct shmt_helper *helper,
                            const struct shmt_buffer *buffer, uint32_t word)
{
    return paint(helper, shmt_buffer_data(buffer), buffer->bytes, word);
}

CUresult shmt_helper_mend(const struct shmt_helper *helper,
                          const struct shmt_buffer *buffer)
{
    const CUdeviceptr end = shmt_buffer_data(buffer) + buffer->bytes;
    CUresult result = paint(helper, buffer->base, SHMT_GUARD_BYTES,
                            SHMT_PATTERN_POISON_A);

    if (result == CUDA_SUCCESS)
        result = paint(helper, end, buffer->base + buffer->whole - end,
                       SHMT_PATTERN_POISON_A);
    return result;
}

CUresult shmt_helper_zero(const struct shmt_helper *helper,
                          const struct shmt_buffer *buffer)
{
    if (buffer->bytes == 0)
        return CUDA_SUCCESS;
    return helper->driver->MemsetD8Async(shmt_buffer_data(buffer), 0,
                                         buffer->bytes, helper->stream);
}

CUresult shmt_helper_copy(const struct shmt_helper *helper,
                          const struct shmt_buffer *from,
                          const struct shmt_buffer *to)
{
    if (from->bytes == 0)
        return CUDA_SUCCESS;
    return helper->driver->MemcpyDtoDAsync(shmt_buffer_data(to),
                                           shmt_buffer_data(from),
                                           from->bytes, helper->stream);
}

/* -- kernels -------------------------------------------------------------- */

CUresult shmt_helper_fill(const struct shmt_helper *helper,
                          const struct shmt_buffer *buffer,
                          const struct shmt_pattern *pattern)
{
    static const uint64_t masks[SHMT_ELEMENT_COUNT] = {
        [SHMT_ELEMENT_F16] = (1u << 11) - 1,
        [SHMT_ELEMENT_F32] = (1u << 24) - 1,
        [SHMT_ELEMENT_F64] = ((uint64_t)1 << 53) - 1,
        [SHMT_ELEMENT_U8] = UINT8_MAX, [SHMT_ELEMENT_I32] = INT32_MAX,
        [SHMT_ELEMENT_U32] = UINT32_MAX, [SHMT_ELEMENT_I64] = INT64_MAX,
    };
    static const int fills[] = {[SHMT_FILL_UNIFORM] = 0, [SHMT_FILL_ZERO] = 1,
                                [SHMT_FILL_RAMP] = 2};
    /* the same structure stands in the source */
    struct {
        double low, high;
        uint64_t seed, mask;
        int fill, real;
    } device = {
        .low = pattern->low, .high = pattern->high, .seed = pattern->seed,
        .mask = masks[pattern->element], .fill = fills[pattern->fill],
        .real = pattern->element <= SHMT_ELEMENT_F64,
    };
    CUdeviceptr data = shmt_buffer_data(buffer);
    uint64_t count = buffer->count;
    int element = (int)pattern->element;
    void *arguments[] = {&data, &count, &element, &device};

    return launch(helper, FILL, blocks_for(helper, count), arguments);
}

CUresult shmt_helper_flush(const struct shmt_helper *helper)
{
    CUdeviceptr data = helper->flush, sink = helper->sink;
    uint64_t count = helper->flush_bytes / 16;
    void *arguments[] = {&data, &count, &sink};

    return launch(helper, FLUSH, helper->blocks, arguments);
}

CUresult shmt_helper_begin(const struct shmt_helper *helper)
{
    return helper->driver->MemcpyDtoDAsync(
        helper->findings, helper->blank,
        SHMT_FINDINGS * sizeof(struct shmt_finding), helper->stream);
}

static CUdeviceptr slot_of(const struct shmt_helper *helper, size_t slot)
{
    return helper->findings + slot * sizeof(struct shmt_finding);
}

CUresult shmt_helper_compare(const struct shmt_helper *helper,
                             const struct shmt_comparison *comparison,
                             size_t slot)
{
    CUdeviceptr found = shmt_buffer_data(comparison->found);
    CUdeviceptr expected = shmt_buffer_data(comparison->expected);
    CUdeviceptr finding = slot_of(helper, slot);
    uint64_t count = comparison->found->count;
    int element = (int)comparison->found->element;
    double absolute = comparison->absolute, relative = comparison->relative;
    uint32_t poison = comparison->poison;
    void *arguments[] = {&found, &expected, &count, &element, &absolute,
                         &relative, &poison, &finding};

    return launch(helper, COMPARE, blocks_for(helper, count), arguments);
}

CUresult shmt_helper_guard(const struct shmt_helper *helper,
                           const struct shmt_buffer *buffer, size_t slot)
{
    CUdeviceptr base = buffer->base, finding = slot_of(helper, slot);
    uint64_t front = SHMT_GUARD_BYTES, inside = buffer->bytes;
    uint64_t whole = buffer->whole;
    uint32_t poison = SHMT_PATTERN_POISON_A;
    void *arguments[] = {&base, &front, &inside, &whole, &poison, &finding};

    return launch(helper, GUARD, blocks_for(helper, whole - inside),
                  arguments);
}

CUresult shmt_helper_hash(const struct shmt_helper *helper,
                          const struct shmt_buffer *buffer, size_t slot)
{
    CUdeviceptr data = shmt_buffer_data(buffer);
    CUdeviceptr finding = slot_of(helper, slot);
    uint64_t bytes = buffer->bytes;
    void *arguments[] = {&data, &bytes, &finding};

    return launch(helper, HASH, blocks_for(helper, bytes / 16), arguments);
}

CUresult shmt_helper_end(const struct shmt_helper *helper,
                         struct shmt_finding findings[SHMT_FINDINGS])
{
    CUresult result = helper->driver->MemcpyDtoHAsync(
        findings, helper->findings,
        SHMT_FINDINGS * sizeof(struct shmt_finding), helper->stream);

    if (result == CUDA_SUCCESS)
        result = helper->driver->StreamSynchronize(helper->stream);
    return result;
}
