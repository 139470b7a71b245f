/* SPDX-License-Identifier: MIT */
/*
 * probe: launches the kernels of source.c, which fill, compare, check and hash
 * buffers, and manages the buffers and their guard bands.
 */
#include "bench/probe.h"

#include <stdlib.h>
#include <string.h>

#include "device/device.h"

enum { FILL, COMPARE, WORST, GUARD, HASH, NOISE, FLUSH, ENTRIES };
static const char *const entries[ENTRIES] = {
    "shmt_fill", "shmt_compare", "shmt_worst", "shmt_guard", "shmt_hash",
    "shmt_noise", "shmt_flush"};

enum { THREADS = 256, BLOCKS_A_MULTIPROCESSOR = 8 };
/* When the driver does not tell the size of the cache. */
enum { L2_FALLBACK = 64 << 20 };

unsigned shmt_probe_elements(const struct shmt_kernel *kernel)
{
    unsigned elements = 0;

    for (size_t k = 0; k < kernel->argument_count; k++)
        if (kernel->arguments[k].count != NULL)
            elements |= 1U << kernel->arguments[k].element;
    return elements;
}

char *shmt_probe_source(unsigned elements)
{
    struct shmt_text text = {0};

    for (int k = 0; k < SHMT_ELEMENT_COUNT; k++)
        if ((elements >> k & 1) != 0)
            shmt_text_addf(&text, "#define SHMT_HAS_%s\n",
                           shmt_element_word((enum shmt_element)k));
    for (size_t k = 0; shmt_bench_source[k] != NULL; k++)
        shmt_text_add(&text, shmt_bench_source[k]);
    if (!text.failed)
        return text.data;
    shmt_text_free(&text);
    return NULL;
}

enum shmtune_status
shmt_probe_image(const struct shmt_probe_options *options,
                 struct shmt_image **out, struct shmt_error *err)
{
    char arch[16];
    char *source = shmt_probe_source(options->elements);
    const struct shmt_image_text text = {
        .name = "shmtune-probe.cu", .source = source, .arch = arch,
        .nvrtc_version = options->nvrtc != NULL ? options->nvrtc->version
                                                : options->nvrtc_version,
        .entry_count = ENTRIES, .entries = entries,
        .cache = options->cache,
    };
    enum shmtune_status status;

    if (source == NULL)
        return shmt_error_memory(err);
    shmt_device_arch_text(options->device, arch);
    status = shmt_image_get_from_text(&text, options->nvrtc, options->folder,
                                      out, err);
    if (status != SHMTUNE_OK)
        shmt_error_prefix(err, "the measuring kernels");
    free(source);
    return status;
}

static enum shmtune_status
load_module(const struct shmt_probe_options *options,
            struct shmt_module *out, struct shmt_error *err)
{
    struct shmt_image *image = NULL;
    enum shmtune_status status = shmt_probe_image(options, &image, err);

    if (status != SHMTUNE_OK)
        return status;
    status = shmt_module_load(options->driver, image, out, err);
    if (status != SHMTUNE_OK)
        shmt_error_prefix(err, "the measuring kernels");
    shmt_image_free(image);
    return status;
}

static CUresult launch(const struct shmt_probe *probe, int entry,
                       unsigned blocks, void **arguments)
{
    return probe->driver->LaunchKernel(
        probe->module.functions[entry].handle, blocks, 1, 1, THREADS, 1, 1,
        0, probe->stream, arguments, NULL);
}

/* Small work does not need the whole device. */
static unsigned blocks_for(const struct shmt_probe *probe, uint64_t items)
{
    const uint64_t blocks = (items + THREADS - 1) / THREADS;

    return blocks == 0 ? 1 : blocks < probe->blocks ? (unsigned)blocks
                                                     : probe->blocks;
}

/* Allocates the buffer for the flush: twice the size of the L2 cache, with
 * data that differ. */
static CUresult make_flush(struct shmt_probe *probe, int64_t l2_bytes)
{
    const uint64_t l2 = l2_bytes > 0 ? (uint64_t)l2_bytes : L2_FALLBACK;
    uint64_t count = 2 * l2 / 16 * 2;
    void *arguments[] = {&probe->flush, &count};
    CUresult result;

    probe->flush_bytes = count * 8;
    result = probe->driver->MemAlloc(&probe->flush, probe->flush_bytes);
    return result == CUDA_SUCCESS
               ? launch(probe, NOISE, blocks_for(probe, count), arguments)
               : result;
}

static CUresult make_memory(struct shmt_probe *probe, int64_t l2_bytes)
{
    struct shmt_probe_finding blank[SHMT_PROBE_FINDINGS];
    const struct shmt_driver *driver = probe->driver;
    CUresult result = driver->MemAlloc(&probe->findings, sizeof blank);

    memset(blank, 0, sizeof blank);
    for (size_t k = 0; k < SHMT_PROBE_FINDINGS; k++) {
        blank[k].first = blank[k].worst_at = UINT64_MAX;
        blank[k].outside_first = UINT64_MAX;
        blank[k].guard_first = INT64_MAX;
    }
    if (result == CUDA_SUCCESS)
        result = driver->MemAlloc(&probe->blank, sizeof blank);
    if (result == CUDA_SUCCESS)
        result = driver->MemAlloc(&probe->sink, sizeof(uint32_t));
    if (result == CUDA_SUCCESS)
        result = driver->MemcpyHtoD(probe->blank, blank, sizeof blank);
    if (result == CUDA_SUCCESS)
        result = make_flush(probe, l2_bytes);
    if (result == CUDA_SUCCESS)
        result = driver->StreamSynchronize(probe->stream);
    return result;
}

enum shmtune_status
shmt_probe_open(const struct shmt_probe_options *options, CUstream stream,
                 struct shmt_probe *out, struct shmt_error *err)
{
    struct shmt_probe probe = {
        .driver = options->driver, .stream = stream,
        .elements = options->elements,
        .blocks = (unsigned)(options->device->multiprocessors *
                             BLOCKS_A_MULTIPROCESSOR),
    };
    enum shmtune_status status = load_module(options, &probe.module, err);
    CUresult result;

    if (status != SHMTUNE_OK)
        return status;
    result = make_memory(&probe, options->device->l2_bytes);
    if (result != CUDA_SUCCESS) {
        shmt_probe_close(&probe);
        return shmt_driver_check(options->driver, result, err,
                                 "memory to read the L2 cache full");
    }
    *out = probe;
    return SHMTUNE_OK;
}

void shmt_probe_close(struct shmt_probe *probe)
{
    const CUdeviceptr all[] = {probe->findings, probe->blank, probe->flush,
                               probe->sink};

    if (probe->driver == NULL)
        return;
    for (size_t k = 0; k < sizeof all / sizeof all[0]; k++)
        if (all[k] != 0)
            probe->driver->MemFree(all[k]);
    shmt_module_unload(probe->driver, &probe->module);
    *probe = (struct shmt_probe){0};
}

/* -- buffers -------------------------------------------------------------- */

CUdeviceptr shmt_buffer_data(const struct shmt_buffer *buffer)
{
    return buffer->base + SHMT_PROBE_GUARD_BYTES;
}

/* The poison repeats every two bytes, from the buffer's begin. */
static CUresult fill_pattern(const struct shmt_probe *probe, CUdeviceptr from,
                             uint64_t bytes, uint32_t word)
{
    const struct shmt_driver *driver = probe->driver;
    CUresult result = CUDA_SUCCESS;

    while (result == CUDA_SUCCESS && bytes > 0 &&
           (from % 4 != 0 || bytes < 4)) {
        result = driver->MemsetD8Async(
            from, (unsigned char)(word >> 8 * (from & 1)), 1, probe->stream);
        from++;
        bytes--;
    }
    if (result == CUDA_SUCCESS && bytes >= 4) {
        result = driver->MemsetD32Async(from, word, bytes / 4,
                                        probe->stream);
        if (result == CUDA_SUCCESS && bytes % 4 != 0)
            result = fill_pattern(probe, from + bytes / 4 * 4, bytes % 4, word);
    }
    return result;
}

CUresult shmt_buffer_new(const struct shmt_probe *probe,
                         enum shmt_element element, uint64_t count,
                         struct shmt_buffer *out)
{
    const uint64_t size = shmt_element_bytes(element);
    struct shmt_buffer buffer = {.count = count, .element = element};
    CUresult result;

    if (count > (UINT64_MAX >> 4) / size)
        return CUDA_ERROR_OUT_OF_MEMORY;
    buffer.bytes = count * size;
    buffer.whole = 2 * SHMT_PROBE_GUARD_BYTES +
        (buffer.bytes + 255) / 256 * 256;
    result = probe->driver->MemAlloc(&buffer.base, buffer.whole);
    if (result != CUDA_SUCCESS)
        return result;
    result =
        fill_pattern(probe, buffer.base, buffer.whole, SHMT_PATTERN_POISON_A);
    if (result != CUDA_SUCCESS) {
        probe->driver->MemFree(buffer.base);
        return result;
    }
    *out = buffer;
    return CUDA_SUCCESS;
}

void shmt_buffer_free(const struct shmt_probe *probe,
                      struct shmt_buffer *buffer)
{
    if (buffer->base != 0)
        probe->driver->MemFree(buffer->base);
    *buffer = (struct shmt_buffer){0};
}

CUresult shmt_probe_poison(const struct shmt_probe *probe,
                            const struct shmt_buffer *buffer, uint32_t word)
{
    return fill_pattern(probe, shmt_buffer_data(buffer), buffer->bytes, word);
}

CUresult shmt_probe_repair_guards(const struct shmt_probe *probe,
                          const struct shmt_buffer *buffer)
{
    const CUdeviceptr end = shmt_buffer_data(buffer) + buffer->bytes;
    CUresult result;

    result = fill_pattern(probe, buffer->base, SHMT_PROBE_GUARD_BYTES,
                          SHMT_PATTERN_POISON_A);
    if (result == CUDA_SUCCESS)
        result = fill_pattern(probe, end, buffer->base + buffer->whole - end,
                              SHMT_PATTERN_POISON_A);
    return result;
}

CUresult shmt_probe_zero(const struct shmt_probe *probe,
                          const struct shmt_buffer *buffer)
{
    if (buffer->bytes == 0)
        return CUDA_SUCCESS;
    return probe->driver->MemsetD8Async(shmt_buffer_data(buffer), 0,
                                         buffer->bytes, probe->stream);
}

CUresult shmt_probe_copy(const struct shmt_probe *probe,
                          const struct shmt_buffer *from,
                          const struct shmt_buffer *to)
{
    if (from->bytes == 0)
        return CUDA_SUCCESS;
    return probe->driver->MemcpyDtoDAsync(shmt_buffer_data(to),
                                           shmt_buffer_data(from),
                                           from->bytes, probe->stream);
}

/* -- kernels -------------------------------------------------------------- */

static bool knows(const struct shmt_probe *probe,
                  const struct shmt_buffer *buffer)
{
    return (probe->elements >> buffer->element & 1) != 0;
}

CUresult shmt_probe_fill(const struct shmt_probe *probe,
                          const struct shmt_buffer *buffer,
                          const struct shmt_pattern *pattern)
{
    struct shmt_pattern device = shmt_pattern_complete(pattern);
    CUdeviceptr data = shmt_buffer_data(buffer);
    uint64_t count = buffer->count;
    void *arguments[] = {&data, &count, &device};

    if (!knows(probe, buffer))
        return CUDA_ERROR_INVALID_VALUE;
    return launch(probe, FILL, blocks_for(probe, count), arguments);
}

CUresult shmt_probe_flush(const struct shmt_probe *probe)
{
    CUdeviceptr data = probe->flush, sink = probe->sink;
    uint64_t count = probe->flush_bytes / 16;
    void *arguments[] = {&data, &count, &sink};

    return launch(probe, FLUSH, probe->blocks, arguments);
}

CUresult shmt_probe_begin(const struct shmt_probe *probe)
{
    return probe->driver->MemcpyDtoDAsync(
        probe->findings, probe->blank,
        SHMT_PROBE_FINDINGS * sizeof(struct shmt_probe_finding), probe->stream);
}

static CUdeviceptr slot_of(const struct shmt_probe *probe, size_t slot)
{
    return probe->findings + slot * sizeof(struct shmt_probe_finding);
}

static CUresult launch_comparison(
    const struct shmt_probe *probe, int entry,
    const struct shmt_probe_comparison *comparison, size_t slot)
{
    CUdeviceptr found = shmt_buffer_data(comparison->found);
    CUdeviceptr expected = shmt_buffer_data(comparison->expected);
    CUdeviceptr finding = slot_of(probe, slot);
    CUdeviceptr kept = comparison->kept == NULL
                           ? 0 : shmt_buffer_data(comparison->kept);
    uint64_t count = comparison->found->count;
    struct shmt_probe_rule rule = comparison->rule;
    void *arguments[] = {&found, &expected, &kept, &count, &rule, &finding};

    if (!knows(probe, comparison->found))
        return CUDA_ERROR_INVALID_VALUE;
    rule.element = (int)comparison->found->element;
    rule.real = shmt_element_is_real(comparison->found->element);
    return launch(probe, entry, blocks_for(probe, count), arguments);
}

CUresult shmt_probe_compare(const struct shmt_probe *probe,
                             const struct shmt_probe_comparison *comparison,
                             size_t slot)
{
    return launch_comparison(probe, COMPARE, comparison, slot);
}

CUresult shmt_probe_worst(const struct shmt_probe *probe,
                           const struct shmt_probe_comparison *comparison,
                           size_t slot, struct shmt_probe_finding *out)
{
    CUresult result = launch_comparison(probe, WORST, comparison, slot);

    if (result == CUDA_SUCCESS)
        result = probe->driver->MemcpyDtoHAsync(out, slot_of(probe, slot),
                                                sizeof *out, probe->stream);
    if (result == CUDA_SUCCESS)
        result = probe->driver->StreamSynchronize(probe->stream);
    return result;
}

CUresult shmt_probe_guard(const struct shmt_probe *probe,
                           const struct shmt_buffer *buffer, size_t slot)
{
    CUdeviceptr base = buffer->base, finding = slot_of(probe, slot);
    uint64_t front = SHMT_PROBE_GUARD_BYTES, inside = buffer->bytes;
    uint64_t whole = buffer->whole;
    uint32_t poison = SHMT_PATTERN_POISON_A;
    void *arguments[] = {&base, &front, &inside, &whole, &poison, &finding};

    return launch(probe, GUARD, blocks_for(probe, whole - inside),
                  arguments);
}

CUresult shmt_probe_hash(const struct shmt_probe *probe,
                          const struct shmt_buffer *buffer, size_t slot)
{
    CUdeviceptr data = shmt_buffer_data(buffer);
    CUdeviceptr finding = slot_of(probe, slot);
    uint64_t bytes = buffer->bytes;
    void *arguments[] = {&data, &bytes, &finding};

    return launch(probe, HASH, blocks_for(probe, bytes / 16), arguments);
}

CUresult
shmt_probe_end(const struct shmt_probe *probe,
               struct shmt_probe_finding findings[SHMT_PROBE_FINDINGS])
{
    CUresult result = probe->driver->MemcpyDtoHAsync(
        findings, probe->findings,
        SHMT_PROBE_FINDINGS * sizeof(struct shmt_probe_finding), probe->stream);

    if (result == CUDA_SUCCESS)
        result = probe->driver->StreamSynchronize(probe->stream);
    return result;
}
