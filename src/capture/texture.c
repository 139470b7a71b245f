/* SPDX-License-Identifier: MIT */
/*
 * texture: the texture objects that the application has, as it made them: a
 * handle is a small number, so only what was handed out is one.  Says of one
 * what a spec can say of it, in the words of a spec.
 */
#include "capture/library.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct object {
    CUtexObject handle;
    CUcontext context;
    CUDA_RESOURCE_DESC of;
    CUDA_TEXTURE_DESC as;
    bool viewed;               /* as something else than its memory is */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct object *objects;
static size_t count, room;

static CUcontext context_now(void)
{
    const struct shmt_capture_driver *driver = shmt_capture_driver();
    CUcontext context = NULL;

    return driver != NULL && driver->CtxGetCurrent(&context) == CUDA_SUCCESS
               ? context : NULL;
}

/* The one of the handle in the context; under the lock. */
static struct object *find(CUtexObject handle, CUcontext context)
{
    for (size_t k = count; k-- > 0;)
        if (objects[k].handle == handle && objects[k].context == context)
            return &objects[k];
    return NULL;
}

/* One of the same handle and context is gone. */
static void add(const struct object *one)
{
    struct object *place, *more;

    pthread_mutex_lock(&lock);
    place = find(one->handle, one->context);
    if (place == NULL && count == room) {
        more = realloc(objects, (room + 64) * 2 * sizeof *objects);
        if (more != NULL) {
            objects = more;
            room = (room + 64) * 2;
        }
    }
    if (place == NULL && count < room)
        place = &objects[count++];
    if (place != NULL)
        *place = *one;
    pthread_mutex_unlock(&lock);
}

SHMT_CAPTURE_HOOKED cuTexObjectCreate(CUtexObject *out,
                                      const CUDA_RESOURCE_DESC *of,
                                      const CUDA_TEXTURE_DESC *as,
                                      const CUDA_RESOURCE_VIEW_DESC *view)
{
    CUresult result;

    SHMT_CAPTURE_REAL(cuTexObjectCreate);
    if (real == NULL)
        return CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND;
    result = real(out, of, as, view);
    if (result == CUDA_SUCCESS && shmt_capture_setting()->folder != NULL)
        add(&(const struct object){*out, context_now(), *of, *as,
                                   view != NULL});
    return result;
}

SHMT_CAPTURE_HOOKED cuTexObjectDestroy(CUtexObject handle)
{
    struct object *one;

    SHMT_CAPTURE_REAL(cuTexObjectDestroy);
    if (real == NULL)
        return CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND;
    if (shmt_capture_setting()->folder != NULL) {
        const CUcontext context = context_now();

        pthread_mutex_lock(&lock);
        one = find(handle, context);
        if (one != NULL)
            *one = objects[--count];
        pthread_mutex_unlock(&lock);
    }
    return real(handle);
}

/* -- what it is of -------------------------------------------------------- */

static const struct {
    CUarray_format format;
    const char *type;
    size_t bytes;
} formats[] = {
    {CU_AD_FORMAT_UNSIGNED_INT8, "u8", 1}, {CU_AD_FORMAT_SIGNED_INT8, "i8", 1},
    {CU_AD_FORMAT_UNSIGNED_INT16, "u16", 2},
    {CU_AD_FORMAT_SIGNED_INT16, "i16", 2},
    {CU_AD_FORMAT_UNSIGNED_INT32, "u32", 4},
    {CU_AD_FORMAT_SIGNED_INT32, "i32", 4},
    {CU_AD_FORMAT_HALF, "f16", 2}, {CU_AD_FORMAT_FLOAT, "f32", 4}};

/* Type, extents and pitch of the resource; NULL, or what a spec has not. */
static const char *look_at_memory(const CUDA_RESOURCE_DESC *of,
                                  struct shmt_capture_texture *out)
{
    const struct shmt_capture_driver *driver = shmt_capture_driver();
    const unsigned known = CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_SURFACE_LDST |
                           CUDA_ARRAY3D_TEXTURE_GATHER;
    CUDA_ARRAY3D_DESCRIPTOR array = {0};
    size_t texel = 0;

    out->kind = of->resType;
    if (of->resType == CU_RESOURCE_TYPE_ARRAY) {
        if (driver == NULL ||
            driver->Array3DGetDescriptor(&array, of->res.array.hArray) !=
                CUDA_SUCCESS)
            return "whose array the driver does not describe";
        if ((array.Flags & ~known) != 0)
            return "of a cube map, or a sparse array";
        out->array = of->res.array.hArray;
        out->base = (CUdeviceptr)(uintptr_t)out->array;
        out->layered = (array.Flags & CUDA_ARRAY3D_LAYERED) != 0;
    } else if (of->resType == CU_RESOURCE_TYPE_LINEAR) {
        array.Format = of->res.linear.format;
        array.NumChannels = of->res.linear.numChannels;
        out->base = of->res.linear.devPtr;
    } else if (of->resType == CU_RESOURCE_TYPE_PITCH2D) {
        array.Format = of->res.pitch2D.format;
        array.NumChannels = of->res.pitch2D.numChannels;
        array.Width = of->res.pitch2D.width;
        array.Height = of->res.pitch2D.height;
        out->base = of->res.pitch2D.devPtr;
    } else {
        return "of mipmaps";
    }
    for (size_t k = 0; k < sizeof formats / sizeof formats[0]; k++)
        if (formats[k].format == array.Format) {
            out->type = formats[k].type;
            out->unit = formats[k].bytes;
            texel = formats[k].bytes * array.NumChannels;
        }
    if (texel == 0)
        return "of a format that is none of 1, 2 and 4 channels of 8 to 32 "
               "bits";
    if (of->resType == CU_RESOURCE_TYPE_LINEAR)
        array.Width = of->res.linear.sizeInBytes / texel;
    out->channels = array.NumChannels;
    out->extents[0] = array.Width;
    out->extents[1] = array.Height;
    out->extents[2] = array.Depth;
    out->row = out->pitch = array.Width * texel;
    if (of->resType == CU_RESOURCE_TYPE_PITCH2D)
        out->pitch = of->res.pitch2D.pitchInBytes;
    return NULL;
}

static size_t at_least_1(size_t extent)
{
    return extent == 0 ? 1 : extent;
}

size_t shmt_capture_texture_bytes(const struct shmt_capture_texture *one)
{
    const size_t rows = at_least_1(one->extents[1]) *
                        at_least_1(one->extents[2]);

    return (rows - 1) * one->pitch + one->row;
}

bool shmt_capture_texture_copy(const struct shmt_capture_driver *driver,
                               const struct shmt_capture_texture *one,
                               void *out, CUstream stream)
{
    const size_t rows = at_least_1(one->extents[1]);
    const CUDA_MEMCPY3D copy = {
        .srcMemoryType = CU_MEMORYTYPE_ARRAY, .srcArray = one->array,
        .dstMemoryType = CU_MEMORYTYPE_HOST, .dstHost = out,
        .dstPitch = one->row, .dstHeight = rows, .WidthInBytes = one->row,
        .Height = rows, .Depth = at_least_1(one->extents[2])};

    return driver->Memcpy3DAsync(&copy, stream) == CUDA_SUCCESS;
}

/* -- how it is read ------------------------------------------------------- */

/* What is not the default, as a spec has it. */
static void describe(const CUDA_TEXTURE_DESC *as,
                     struct shmt_capture_texture *out)
{
    const bool normalized = (as->flags & CU_TRSF_NORMALIZED_COORDINATES) != 0;
    const bool linear = out->kind == CU_RESOURCE_TYPE_LINEAR;

    out->normalized = normalized && !linear;
    out->fraction = (as->flags & CU_TRSF_READ_AS_INTEGER) == 0 &&
                    out->type[0] != 'f' && out->unit <= 2;
    out->srgb = (as->flags & CU_TRSF_SRGB) != 0 && out->fraction &&
                strcmp(out->type, "u8") == 0;
    out->linear = as->filterMode == CU_TR_FILTER_MODE_LINEAR && !linear &&
                  (out->type[0] == 'f' || out->fraction);
    /* The driver clamps what is not 0 to 1, and is to be wrapped. */
    for (size_t k = 0; k < 3; k++)
        out->address[k] =
            linear || (!normalized &&
                       (as->addressMode[k] == CU_TR_ADDRESS_MODE_WRAP ||
                        as->addressMode[k] == CU_TR_ADDRESS_MODE_MIRROR))
                ? CU_TR_ADDRESS_MODE_CLAMP : as->addressMode[k];
    memcpy(out->border, as->borderColor, sizeof out->border);
}

bool shmt_capture_texture_of(uint64_t handle, struct shmt_capture_texture *out)
{
    const CUcontext context = context_now();
    const struct object *found;
    struct object one;

    pthread_mutex_lock(&lock);
    found = find(handle, context);
    if (found != NULL)
        one = *found;
    pthread_mutex_unlock(&lock);
    if (found == NULL)
        return false;
    *out = (struct shmt_capture_texture){0};
    out->other = look_at_memory(&one.of, out);
    if (out->other == NULL && one.viewed)
        out->other = "that views its memory in another way";
    if (out->other == NULL && one.as.maxAnisotropy > 1)
        out->other = "with an anisotropic filter";
    if (out->other == NULL)
        describe(&one.as, out);
    return true;
}

static void add_words(const struct shmt_capture_texture *one, size_t rank,
                      struct shmt_text *text)
{
    static const char *const words[] = {
        [CU_TR_ADDRESS_MODE_WRAP] = "wrap",
        [CU_TR_ADDRESS_MODE_CLAMP] = "clamp",
        [CU_TR_ADDRESS_MODE_MIRROR] = "mirror",
        [CU_TR_ADDRESS_MODE_BORDER] = "border"};
    bool same = true, bordered = false, zero = true;

    for (size_t k = 0; k < rank; k++) {
        same = same && one->address[k] == one->address[0];
        bordered |= one->address[k] == CU_TR_ADDRESS_MODE_BORDER;
    }
    if (!same || one->address[0] != CU_TR_ADDRESS_MODE_CLAMP)
        shmt_text_addf(text, ", address: %s%s", same ? "" : "[",
                       words[one->address[0]]);
    for (size_t k = 1; k < rank && !same; k++)
        shmt_text_addf(text, ", %s", words[one->address[k]]);
    shmt_text_add(text, same ? "" : "]");
    for (size_t k = 0; k < one->channels; k++)
        zero = zero && one->border[k] == 0;
    for (size_t k = 0; k < one->channels && bordered && !zero; k++)
        shmt_text_addf(text, "%s%.9g", k == 0 ? ", border: [" : ", ",
                       (double)one->border[k]);
    shmt_text_add(text, bordered && !zero ? "]" : "");
}

void shmt_capture_texture_add(const struct shmt_capture_texture *one,
                              struct shmt_text *text)
{
    const size_t rank = 1 + (one->extents[1] > 0) + (one->extents[2] > 0);
    const size_t extents[] = {
        one->extents[0],
        one->extents[1] > 0 ? one->extents[1] : one->extents[2],
        one->extents[2]};

    shmt_text_add(text, "  texture: {");
    if (one->other != NULL) {
        shmt_text_addf(text, "other: \"%s\"}\n", one->other);
        return;
    }
    shmt_text_addf(text, "memory: %zu, type: %s, extents: [", one->memory,
                   one->type);
    for (size_t k = 0; k < rank; k++)
        shmt_text_addf(text, "%s%zu", k == 0 ? "" : ", ", extents[k]);
    shmt_text_add(text, "], words: \"");
    if (one->kind == CU_RESOURCE_TYPE_ARRAY && rank == 1)
        shmt_text_add(text, ", memory: array");
    if (one->kind == CU_RESOURCE_TYPE_PITCH2D)
        shmt_text_addf(text, ", memory: pitch, pitch: %zu",
                       one->pitch / one->unit);
    if (one->layered)
        shmt_text_add(text, ", layered: true");
    if (one->channels > 1)
        shmt_text_addf(text, ", channels: %u", one->channels);
    if (one->fraction)
        shmt_text_add(text, ", read: normalized_float");
    if (one->normalized)
        shmt_text_add(text, ", normalized: true");
    if (one->srgb)
        shmt_text_add(text, ", srgb: true");
    if (one->linear)
        shmt_text_add(text, ", filter: linear");
    add_words(one, rank - one->layered, text);
    shmt_text_add(text, "\"}\n");
}
