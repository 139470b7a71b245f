/* SPDX-License-Identifier: MIT */
/*
 * texture: has the driver make what kernel/texture.c has evaluated, and copies
 * buffers into CUDA arrays.  Called by bench/.
 */
#include "gpu/texture.h"

static CUarray_format format_of(enum shmt_element element)
{
    switch (element) {
    case SHMT_ELEMENT_I8: return CU_AD_FORMAT_SIGNED_INT8;
    case SHMT_ELEMENT_I16: return CU_AD_FORMAT_SIGNED_INT16;
    case SHMT_ELEMENT_I32: return CU_AD_FORMAT_SIGNED_INT32;
    case SHMT_ELEMENT_U8: return CU_AD_FORMAT_UNSIGNED_INT8;
    case SHMT_ELEMENT_U16: return CU_AD_FORMAT_UNSIGNED_INT16;
    case SHMT_ELEMENT_U32: return CU_AD_FORMAT_UNSIGNED_INT32;
    case SHMT_ELEMENT_F16: return CU_AD_FORMAT_HALF;
    default: return CU_AD_FORMAT_FLOAT;
    }
}

static size_t row_bytes(const struct shmt_argument_texture *as)
{
    return (size_t)as->extents[0] * (size_t)as->channels *
           shmt_element_bytes(as->element);
}

/* A dimension that it has not is 0; the number of layers is the depth. */
static CUresult make_array(const struct shmt_driver *driver,
                           const struct shmt_argument_texture *as,
                           CUarray *out)
{
    const size_t rank = as->rank - as->layered;
    const CUDA_ARRAY3D_DESCRIPTOR descriptor = {
        .Width = (size_t)as->extents[0],
        .Height = rank > 1 ? (size_t)as->extents[1] : 0,
        .Depth = as->layered || rank > 2 ? (size_t)as->extents[as->rank - 1]
                                         : 0,
        .Format = format_of(as->element),
        .NumChannels = (unsigned)as->channels,
        .Flags = as->layered ? CUDA_ARRAY3D_LAYERED : 0};

    return driver->Array3DCreate(out, &descriptor);
}

static CUDA_RESOURCE_DESC
resource_of(const struct shmt_argument_texture *as,
            const struct shmt_texture *texture)
{
    CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_ARRAY};

    if (as->memory == SHMT_ARGUMENT_ARRAY) {
        resource.res.array.hArray = texture->array;
    } else if (as->memory == SHMT_ARGUMENT_LINEAR) {
        resource.resType = CU_RESOURCE_TYPE_LINEAR;
        resource.res.linear.devPtr = texture->address;
        resource.res.linear.format = format_of(as->element);
        resource.res.linear.numChannels = (unsigned)as->channels;
        resource.res.linear.sizeInBytes = row_bytes(as);
    } else {
        resource.resType = CU_RESOURCE_TYPE_PITCH2D;
        resource.res.pitch2D.devPtr = texture->address;
        resource.res.pitch2D.format = format_of(as->element);
        resource.res.pitch2D.numChannels = (unsigned)as->channels;
        resource.res.pitch2D.width = (size_t)as->extents[0];
        resource.res.pitch2D.height = (size_t)as->extents[1];
        resource.res.pitch2D.pitchInBytes = (size_t)as->pitch;
    }
    return resource;
}

static CUresult make_object(const struct shmt_driver *driver,
                            const struct shmt_argument_texture *as,
                            struct shmt_texture *texture)
{
    static const CUaddress_mode modes[] = {
        [SHMT_ARGUMENT_WRAP] = CU_TR_ADDRESS_MODE_WRAP,
        [SHMT_ARGUMENT_CLAMP] = CU_TR_ADDRESS_MODE_CLAMP,
        [SHMT_ARGUMENT_MIRROR] = CU_TR_ADDRESS_MODE_MIRROR,
        [SHMT_ARGUMENT_BORDER] = CU_TR_ADDRESS_MODE_BORDER};
    const CUDA_RESOURCE_DESC resource = resource_of(as, texture);
    CUDA_TEXTURE_DESC sampling = {
        .filterMode = as->linear ? CU_TR_FILTER_MODE_LINEAR
                                 : CU_TR_FILTER_MODE_POINT,
        .flags = (as->fraction ? 0u : CU_TRSF_READ_AS_INTEGER) |
                 (as->normalized ? CU_TRSF_NORMALIZED_COORDINATES : 0u) |
                 (as->srgb ? CU_TRSF_SRGB : 0u)};

    for (size_t k = 0; k < SHMT_ARGUMENT_EXTENTS; k++)
        sampling.addressMode[k] = modes[as->address[k]];
    for (size_t k = 0; k < SHMT_ARGUMENT_CHANNELS; k++)
        sampling.borderColor[k] = (float)as->border[k];
    return driver->TexObjectCreate(&texture->object, &resource, &sampling,
                                   NULL);
}

CUresult shmt_texture_make(const struct shmt_driver *driver,
                           const struct shmt_argument_texture *as,
                           CUdeviceptr address, struct shmt_texture *out,
                           const char **what)
{
    struct shmt_texture texture = {.address = address};
    CUresult result = CUDA_SUCCESS;

    *what = "cuArray3DCreate";
    if (as->memory == SHMT_ARGUMENT_ARRAY)
        result = make_array(driver, as, &texture.array);
    if (result == CUDA_SUCCESS) {
        *what = "cuTexObjectCreate";
        result = make_object(driver, as, &texture);
    }
    if (result == CUDA_SUCCESS)
        *out = texture;
    else if (texture.array != NULL)
        driver->ArrayDestroy(texture.array);
    return result;
}

CUresult shmt_texture_copy(const struct shmt_driver *driver,
                           const struct shmt_argument_texture *as,
                           const struct shmt_texture *texture,
                           CUstream stream)
{
    /* The layers of one-dimensional textures are planes of one row. */
    const bool flat = as->layered && as->rank == 2;
    const size_t rows = (size_t)(flat ? 1 : as->extents[1]);
    const CUDA_MEMCPY3D copy = {
        .srcMemoryType = CU_MEMORYTYPE_DEVICE, .srcDevice = texture->address,
        .srcPitch = (size_t)as->pitch, .srcHeight = rows,
        .dstMemoryType = CU_MEMORYTYPE_ARRAY, .dstArray = texture->array,
        .WidthInBytes = row_bytes(as), .Height = rows,
        .Depth = (size_t)(flat ? as->extents[1] : as->extents[2])};

    return texture->array == NULL ? CUDA_SUCCESS
                                  : driver->Memcpy3DAsync(&copy, stream);
}

void shmt_texture_free(const struct shmt_driver *driver,
                       struct shmt_texture *texture)
{
    if (texture->object != 0)
        driver->TexObjectDestroy(texture->object);
    if (texture->array != NULL)
        driver->ArrayDestroy(texture->array);
    *texture = (struct shmt_texture){0};
}
