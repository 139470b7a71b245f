/* SPDX-License-Identifier: MIT */
/*
 * texture: CUDA arrays and texture objects, what a kernel reads through one,
 * and the kernels of tests/fake/fake_texture.cu.  Handles are small numbers, as
 * those of CUDA are.
 */
#include <math.h>
#include <pthread.h>
#include <string.h>

#include "tests/fake/cuda.h"

enum { MOST = 64 };

/* A CUarray is the address of one. */
struct array {
    CUDA_ARRAY3D_DESCRIPTOR as;
    CUdeviceptr memory;        /* 0: a free place */
};

struct texture {
    bool used;
    CUDA_RESOURCE_DESC of;
    CUDA_TEXTURE_DESC as;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct array arrays[MOST];
static struct texture textures[MOST];

size_t fake_textures(void)
{
    size_t count = 0;

    pthread_mutex_lock(&lock);
    for (size_t k = 0; k < MOST; k++)
        count += (arrays[k].memory != 0) + textures[k].used;
    pthread_mutex_unlock(&lock);
    return count;
}

void fake_textures_forget(void)
{
    pthread_mutex_lock(&lock);
    memset(arrays, 0, sizeof arrays);
    memset(textures, 0, sizeof textures);
    pthread_mutex_unlock(&lock);
}

static size_t format_bytes(CUarray_format format)
{
    return format == CU_AD_FORMAT_UNSIGNED_INT8 ||
                   format == CU_AD_FORMAT_SIGNED_INT8
               ? 1
           : format == CU_AD_FORMAT_UNSIGNED_INT32 ||
                   format == CU_AD_FORMAT_SIGNED_INT32 ||
                   format == CU_AD_FORMAT_FLOAT
               ? 4 : 2;
}

static size_t at_least_1(size_t extent)
{
    return extent == 0 ? 1 : extent;
}

static struct array *array_of(CUarray handle)
{
    for (size_t k = 0; k < MOST; k++)
        if ((void *)handle == &arrays[k] && arrays[k].memory != 0)
            return &arrays[k];
    return NULL;
}

static size_t row_of(const struct array *one)
{
    return one->as.Width * one->as.NumChannels * format_bytes(one->as.Format);
}

/* -- arrays --------------------------------------------------------------- */

CUresult fake_Array3DCreate(CUarray *out,
                            const CUDA_ARRAY3D_DESCRIPTOR *descriptor)
{
    const struct array made = {.as = *descriptor};
    const size_t bytes = row_of(&made) * at_least_1(descriptor->Height) *
                         at_least_1(descriptor->Depth);
    CUresult result = CUDA_ERROR_OUT_OF_MEMORY;

    FAKE_ENTER("Array3DCreate");
    if (descriptor->Width == 0 || descriptor->NumChannels == 3 ||
        (descriptor->Flags & ~(unsigned)CUDA_ARRAY3D_LAYERED) != 0 ||
        (descriptor->Flags == 0 && descriptor->Height == 0 &&
         descriptor->Depth != 0))
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&lock);
    for (size_t k = 0; k < MOST && result != CUDA_SUCCESS; k++) {
        if (arrays[k].memory != 0)
            continue;
        result = fake_memory_new(&arrays[k].memory, bytes);
        if (result != CUDA_SUCCESS)
            break;
        arrays[k].as = *descriptor;
        *out = (CUarray)(void *)&arrays[k];
    }
    pthread_mutex_unlock(&lock);
    return result;
}

CUresult fake_ArrayDestroy(CUarray handle)
{
    struct array *one;
    CUdeviceptr memory = 0;

    FAKE_ENTER("ArrayDestroy");
    pthread_mutex_lock(&lock);
    one = array_of(handle);
    if (one != NULL) {
        memory = one->memory;
        one->memory = 0;
    }
    pthread_mutex_unlock(&lock);
    return one == NULL ? CUDA_ERROR_INVALID_HANDLE : fake_MemFree(memory);
}

CUresult fake_Array3DGetDescriptor(CUDA_ARRAY3D_DESCRIPTOR *out,
                                   CUarray handle)
{
    const struct array *one = array_of(handle);

    FAKE_ENTER("Array3DGetDescriptor");
    if (one == NULL)
        return CUDA_ERROR_INVALID_HANDLE;
    *out = one->as;
    return CUDA_SUCCESS;
}

/* One side of a copy. */
struct side {
    char *at;
    size_t pitch, height;
};

static bool open_side(CUmemorytype type, const void *host,
                      CUdeviceptr device, CUarray handle, struct side *out)
{
    const struct array *one;

    if (type == CU_MEMORYTYPE_HOST)
        out->at = (char *)(uintptr_t)host;
    if (type == CU_MEMORYTYPE_DEVICE)
        out->at = (char *)(uintptr_t)device;
    if (type != CU_MEMORYTYPE_ARRAY)
        return true;
    one = array_of(handle);
    if (one == NULL)
        return false;
    out->at = (char *)(uintptr_t)one->memory;
    out->pitch = row_of(one);
    out->height = at_least_1(one->as.Height);
    return true;
}

CUresult fake_Memcpy3DAsync(const CUDA_MEMCPY3D *copy, CUstream stream)
{
    struct side from = {NULL, copy->srcPitch, copy->srcHeight};
    struct side to = {NULL, copy->dstPitch, copy->dstHeight};

    (void)stream;
    FAKE_ENTER("Memcpy3DAsync");
    if (!open_side(copy->srcMemoryType, copy->srcHost, copy->srcDevice,
                   copy->srcArray, &from) ||
        !open_side(copy->dstMemoryType, copy->dstHost, copy->dstDevice,
                   copy->dstArray, &to) ||
        from.pitch < copy->WidthInBytes || to.pitch < copy->WidthInBytes ||
        (copy->Depth > 1 && (from.height < copy->Height ||
                             to.height < copy->Height)))
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t z = 0; z < copy->Depth; z++)
        for (size_t y = 0; y < copy->Height; y++)
            memcpy(to.at + (z * to.height + y) * to.pitch,
                   from.at + (z * from.height + y) * from.pitch,
                   copy->WidthInBytes);
    return CUDA_SUCCESS;
}

/* -- texture objects ------------------------------------------------------ */

static bool is_possible(const CUDA_RESOURCE_DESC *of,
                        const CUDA_TEXTURE_DESC *as)
{
    const CUDA_ARRAY3D_DESCRIPTOR *array;

    (void)as;
    switch (of->resType) {
    case CU_RESOURCE_TYPE_ARRAY:
        if (array_of(of->res.array.hArray) == NULL)
            return false;
        array = &array_of(of->res.array.hArray)->as;
        return as->filterMode == CU_TR_FILTER_MODE_POINT ||
               array->Format == CU_AD_FORMAT_FLOAT ||
               array->Format == CU_AD_FORMAT_HALF ||
               (as->flags & CU_TRSF_READ_AS_INTEGER) == 0;
    case CU_RESOURCE_TYPE_LINEAR:
        return of->res.linear.devPtr % 256 == 0 &&
               of->res.linear.sizeInBytes > 0;
    case CU_RESOURCE_TYPE_PITCH2D:
        return of->res.pitch2D.devPtr % 256 == 0 &&
               of->res.pitch2D.pitchInBytes % 32 == 0;
    default:
        return false;
    }
}

CUresult fake_TexObjectCreate(CUtexObject *out, const CUDA_RESOURCE_DESC *of,
                              const CUDA_TEXTURE_DESC *as,
                              const CUDA_RESOURCE_VIEW_DESC *view)
{
    CUresult result = CUDA_ERROR_OUT_OF_MEMORY;

    FAKE_ENTER("TexObjectCreate");
    if (view != NULL || !is_possible(of, as))
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&lock);
    for (size_t k = 0; k < MOST && result != CUDA_SUCCESS; k++)
        if (!textures[k].used) {
            textures[k] = (struct texture){true, *of, *as};
            *out = k + 1;
            result = CUDA_SUCCESS;
        }
    pthread_mutex_unlock(&lock);
    return result;
}

static struct texture *texture_of(CUtexObject handle)
{
    return handle >= 1 && handle <= MOST && textures[handle - 1].used
               ? &textures[handle - 1] : NULL;
}

CUresult fake_TexObjectDestroy(CUtexObject handle)
{
    struct texture *one;

    FAKE_ENTER("TexObjectDestroy");
    pthread_mutex_lock(&lock);
    one = texture_of(handle);
    if (one != NULL)
        one->used = false;
    pthread_mutex_unlock(&lock);
    return one == NULL ? CUDA_ERROR_INVALID_HANDLE : CUDA_SUCCESS;
}

CUresult fake_TexObjectGetResourceDesc(CUDA_RESOURCE_DESC *out,
                                       CUtexObject handle)
{
    const struct texture *one = texture_of(handle);

    FAKE_ENTER("TexObjectGetResourceDesc");
    if (one == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *out = one->of;
    return CUDA_SUCCESS;
}

CUresult fake_TexObjectGetTextureDesc(CUDA_TEXTURE_DESC *out,
                                      CUtexObject handle)
{
    const struct texture *one = texture_of(handle);

    FAKE_ENTER("TexObjectGetTextureDesc");
    if (one == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *out = one->as;
    return CUDA_SUCCESS;
}

CUresult fake_TexObjectGetResourceViewDesc(CUDA_RESOURCE_VIEW_DESC *out,
                                           CUtexObject handle)
{
    FAKE_ENTER("TexObjectGetResourceViewDesc");
    *out = (CUDA_RESOURCE_VIEW_DESC){.format = CU_RES_VIEW_FORMAT_NONE};
    return texture_of(handle) == NULL ? CUDA_ERROR_INVALID_VALUE
                                      : CUDA_SUCCESS;
}

/* -- reading -------------------------------------------------------------- */

/* Where the texels of a texture are. */
struct texels {
    const char *at;
    CUarray_format format;
    unsigned channels;
    long extents[3];           /* 1 beyond the rank */
    size_t pitch;
    int rank;
};

static struct texels texels_of(const struct texture *one)
{
    const struct array *array;

    switch (one->of.resType) {
    case CU_RESOURCE_TYPE_LINEAR: {
        const size_t bytes = one->of.res.linear.numChannels *
                             format_bytes(one->of.res.linear.format);

        return (struct texels){
            (const char *)(uintptr_t)one->of.res.linear.devPtr,
            one->of.res.linear.format, one->of.res.linear.numChannels,
            {(long)(one->of.res.linear.sizeInBytes / bytes), 1, 1}, 0, 1};
    }
    case CU_RESOURCE_TYPE_PITCH2D:
        return (struct texels){
            (const char *)(uintptr_t)one->of.res.pitch2D.devPtr,
            one->of.res.pitch2D.format, one->of.res.pitch2D.numChannels,
            {(long)one->of.res.pitch2D.width, (long)one->of.res.pitch2D.height,
             1}, one->of.res.pitch2D.pitchInBytes, 2};
    default:
        array = array_of(one->of.res.array.hArray);
        return (struct texels){
            (const char *)(uintptr_t)array->memory, array->as.Format,
            array->as.NumChannels,
            {(long)array->as.Width, (long)at_least_1(array->as.Height),
             (long)at_least_1(array->as.Depth)}, row_of(array),
            1 + (array->as.Height > 0) + (array->as.Depth > 0)};
    }
}

static float number_at(const char *at, CUarray_format format, bool fraction)
{
    int8_t i8;
    uint8_t u8;
    int16_t i16;
    uint16_t u16;
    int32_t i32;
    float f32;

    memcpy(&i8, at, 1);
    memcpy(&u8, at, 1);
    switch (format) {
    case CU_AD_FORMAT_SIGNED_INT8: return fraction ? i8 / 127.0f : i8;
    case CU_AD_FORMAT_UNSIGNED_INT8: return fraction ? u8 / 255.0f : u8;
    case CU_AD_FORMAT_SIGNED_INT16:
        memcpy(&i16, at, 2);
        return fraction ? i16 / 32767.0f : i16;
    case CU_AD_FORMAT_UNSIGNED_INT16:
        memcpy(&u16, at, 2);
        return fraction ? u16 / 65535.0f : u16;
    case CU_AD_FORMAT_SIGNED_INT32:
    case CU_AD_FORMAT_UNSIGNED_INT32:
        memcpy(&i32, at, 4);
        return (float)i32;
    default:
        memcpy(&f32, at, 4);
        return f32;
    }
}

/* The texel number k of an extent, as the address mode has it: one that wraps or
 * mirrors is for coordinates from 0 to 1 alone, and clamps others.  false: the
 * border. */
static bool address(const CUDA_TEXTURE_DESC *as, int axis, long extent,
                    long *k)
{
    CUaddress_mode mode = as->addressMode[axis];

    if (*k >= 0 && *k < extent)
        return true;
    if ((as->flags & CU_TRSF_NORMALIZED_COORDINATES) == 0 &&
        mode != CU_TR_ADDRESS_MODE_BORDER)
        mode = CU_TR_ADDRESS_MODE_CLAMP;
    if (mode == CU_TR_ADDRESS_MODE_BORDER)
        return false;
    if (mode == CU_TR_ADDRESS_MODE_WRAP)
        *k = (*k % extent + extent) % extent;
    else if (mode == CU_TR_ADDRESS_MODE_MIRROR) {
        *k = (*k % (2 * extent) + 2 * extent) % (2 * extent);
        *k = *k < extent ? *k : 2 * extent - 1 - *k;
    } else
        *k = *k < 0 ? 0 : extent - 1;
    return true;
}

static float texel(const struct texture *one, const struct texels *texels,
                   const long at[3], unsigned channel)
{
    const size_t bytes = format_bytes(texels->format);
    long k[3] = {at[0], at[1], at[2]};
    bool inside = true;

    for (int d = 0; d < 3; d++)
        if (d < texels->rank)
            inside = address(&one->as, d, texels->extents[d], &k[d]) && inside;
        else
            k[d] = 0;
    if (!inside)
        return one->as.borderColor[channel];
    return number_at(texels->at +
                         (size_t)(k[2] * texels->extents[1] + k[1]) *
                             texels->pitch +
                         ((size_t)k[0] * texels->channels + channel) * bytes,
                     texels->format,
                     (one->as.flags & CU_TRSF_READ_AS_INTEGER) == 0);
}

/* Of the eight texels beside a place. */
static float between(const struct texture *one, const struct texels *texels,
                     const float place[3], unsigned channel)
{
    float sum = 0;

    for (unsigned corner = 0; corner < 8; corner++) {
        long at[3] = {0, 0, 0};
        float weight = 1;

        for (int d = 0; d < 3; d++) {
            const bool flat = d >= texels->rank;
            const float from = floorf(place[d] - 0.5f);
            const float share = flat ? 0 : place[d] - 0.5f - from;
            const bool upper = (corner >> d & 1) != 0;

            at[d] = flat ? 0 : (long)from + upper;
            weight *= upper ? share : 1 - share;
        }
        if (weight > 0)
            sum += weight * texel(one, texels, at, channel);
    }
    return sum;
}

float fake_texture_read(CUtexObject handle, const float place[3],
                        unsigned channel)
{
    const struct texture *one = texture_of(handle);
    float at[3] = {place[0], place[1], place[2]};
    struct texels texels;

    if (one == NULL)
        return NAN;
    texels = texels_of(one);
    if (channel >= texels.channels)
        return 0;
    if ((one->as.flags & CU_TRSF_NORMALIZED_COORDINATES) != 0)
        for (int d = 0; d < 3; d++)
            at[d] *= (float)texels.extents[d];
    return one->of.resType != CU_RESOURCE_TYPE_LINEAR &&
                   one->as.filterMode == CU_TR_FILTER_MODE_LINEAR
               ? between(one, &texels, at, channel)
               : texel(one, &texels,
                       (const long[]){(long)floorf(at[0]), (long)floorf(at[1]),
                                      (long)floorf(at[2])}, channel);
}

/* -- tests/fake/fake_texture.cu ------------------------------------------- */

#define ARGUMENT(launch, k, type) (*(type *)(launch)->arguments[k])

static void *memory(const struct fake_launch *launch, size_t k)
{
    return (void *)(uintptr_t)ARGUMENT(launch, k, CUdeviceptr);
}

/* (out, image, rows_of, table, volume, rows, cols, entries, shift) */
void fake_sample(struct fake_launch *launch)
{
    float *out = memory(launch, 0);
    const int rows = ARGUMENT(launch, 5, int);
    const int cols = ARGUMENT(launch, 6, int);
    const int entries = ARGUMENT(launch, 7, int);
    const float shift = (float)ARGUMENT(launch, 8, int);
    CUtexObject of[4];

    launch->cost_us = 10;
    for (size_t k = 0; k < 4; k++)
        of[k] = ARGUMENT(launch, 1 + k, CUtexObject);
    for (int i = 0; i < rows * cols; i++) {
        const float x = (float)(i % cols), y = (float)(i / cols);
        const float places[4][3] = {
            {x - 0.25f + shift, y - 0.75f, 0}, {x + 2.5f, y + 2.5f, 0},
            {(float)(i % entries), 0, 0},
            {(x + 0.5f) / 8, (y + 0.5f) / 4, ((float)(i % 2) + 0.5f) / 2}};
        float sum = 0;

        for (unsigned k = 0; k < 3; k++)
            sum += fake_texture_read(of[k], places[k], 0);
        for (unsigned c = 0; c < 4; c++)
            sum += (float)(1 << c) * fake_texture_read(of[3], places[3], c);
        out[i] = sum;
    }
}

static float pixel(const float *image, int x, int y, int rows, int cols,
                   int pitch)
{
    return x < 0 || x >= cols || y < 0 || y >= rows ? 0.5f
                                                    : image[y * pitch + x];
}

/* (out, pixels, entries_of, voxels, rows, cols, pitch, entries) */
void fake_sample_reference(struct fake_launch *launch)
{
    float *out = memory(launch, 0);
    const float *image = memory(launch, 1);
    const int *table = memory(launch, 2);
    const unsigned char *voxels = memory(launch, 3);
    const int rows = ARGUMENT(launch, 4, int);
    const int cols = ARGUMENT(launch, 5, int);
    const int pitch = ARGUMENT(launch, 6, int);

    for (int i = 0; i < rows * cols; i++) {
        const int x = i % cols, y = i / cols;
        const int right = x + 2 < cols ? x + 2 : cols - 1;
        const int lower = y + 2 < rows ? y + 2 : rows - 1;
        const unsigned char *voxel =
            voxels + 4 * (x % 8 + 8 * (y % 4) + 32 * (i % 2));
        float sum = 0;

        for (int k = 0; k < 4; k++)
            sum += (k % 2 == 1 ? 0.25f : 0.75f) * (k / 2 == 1 ? 0.75f : 0.25f) *
                   pixel(image, x - 1 + k % 2, y - 2 + k / 2, rows, cols,
                         pitch);
        sum += image[lower * pitch + right] +
               (float)table[i % ARGUMENT(launch, 7, int)];
        for (int c = 0; c < 4; c++)
            sum += (float)(1 << c) * ((float)voxel[c] / 255);
        out[i] = sum;
    }
}
