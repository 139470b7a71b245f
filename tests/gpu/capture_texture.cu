// SPDX-License-Identifier: MIT
//
// capture_texture: a program of the CUDA runtime, as nvcc builds it, that blurs
// an image by textures: the image in an array, filtered and with a border, and
// its weights in linear memory, with a layered table beside them.  Prints what
// it has computed.  Run by capture.sh.
#include <cstdio>
#include <cstdlib>

#include <cuda_runtime.h>

#define BLOCK 128

__global__ void blur(float *out, cudaTextureObject_t image,
                     cudaTextureObject_t weights, cudaTextureObject_t layers,
                     int width, int height, int taps)
{
    const int at = blockIdx.x * BLOCK + threadIdx.x;
    const int x = at % width, y = at / width;
    float sum = 0;

    if (at >= width * height)
        return;
    for (int k = 0; k < taps; k++)
        sum += tex1Dfetch<float>(weights, k) *
               tex2D<float4>(image, (x + k - taps / 2 + 0.75f) / width,
                             (y + 0.25f) / height).y;
    out[at] = sum + tex1DLayered<float>(layers, x % 7 + 0.5f, y % 3);
}

static void must(cudaError_t result, const char *what)
{
    if (result == cudaSuccess)
        return;
    fprintf(stderr, "capture_texture: %s: %s\n", what,
            cudaGetErrorString(result));
    exit(8);
}

static cudaTextureObject_t texture_of(const cudaResourceDesc &resource,
                                      const cudaTextureDesc &how)
{
    cudaTextureObject_t texture = 0;

    must(cudaCreateTextureObject(&texture, &resource, &how, nullptr),
         "texture");
    return texture;
}

// Four bytes a texel, read as reals.
static cudaTextureObject_t make_image(int width, int height)
{
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<uchar4>();
    unsigned char *host = new unsigned char[width * height * 4];
    cudaResourceDesc resource = {};
    cudaTextureDesc how = {};

    for (int i = 0; i < width * height * 4; i++)
        host[i] = i * 7 % 251;
    resource.resType = cudaResourceTypeArray;
    must(cudaMallocArray(&resource.res.array.array, &format, width, height),
         "array");
    must(cudaMemcpy2DToArray(resource.res.array.array, 0, 0, host, width * 4,
                             width * 4, height, cudaMemcpyDefault), "copy");
    how.addressMode[0] = cudaAddressModeMirror;
    how.addressMode[1] = cudaAddressModeBorder;
    how.filterMode = cudaFilterModeLinear;
    how.readMode = cudaReadModeNormalizedFloat;
    how.normalizedCoords = 1;
    delete[] host;
    return texture_of(resource, how);
}

static cudaTextureObject_t make_weights(int taps)
{
    cudaResourceDesc resource = {};
    cudaTextureDesc how = {};
    float host[16];

    for (int k = 0; k < taps; k++)
        host[k] = 1.0f / (k + 1);
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.desc = cudaCreateChannelDesc<float>();
    resource.res.linear.sizeInBytes = taps * sizeof(float);
    must(cudaMalloc(&resource.res.linear.devPtr, sizeof host), "memory");
    must(cudaMemcpy(resource.res.linear.devPtr, host, taps * sizeof(float),
                    cudaMemcpyDefault), "copy");
    return texture_of(resource, how);
}

static cudaTextureObject_t make_layers()
{
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaResourceDesc resource = {};
    cudaTextureDesc how = {};
    cudaMemcpy3DParms copy = {};
    float host[3][7];

    for (int i = 0; i < 21; i++)
        host[i / 7][i % 7] = i * i;
    resource.resType = cudaResourceTypeArray;
    must(cudaMalloc3DArray(&resource.res.array.array, &format,
                           make_cudaExtent(7, 0, 3), cudaArrayLayered),
         "layers");
    copy.srcPtr = make_cudaPitchedPtr(host, sizeof host[0], 7, 1);
    copy.dstArray = resource.res.array.array;
    copy.extent = make_cudaExtent(7, 1, 3);
    copy.kind = cudaMemcpyHostToDevice;
    must(cudaMemcpy3D(&copy), "copy");
    return texture_of(resource, how);
}

int main()
{
    const int width = 300, height = 200, taps = 5;
    const cudaTextureObject_t image = make_image(width, height);
    const cudaTextureObject_t weights = make_weights(taps);
    const cudaTextureObject_t layers = make_layers();
    float *out, *host = new float[width * height];
    double sum = 0;

    must(cudaMalloc(&out, width * height * sizeof(float)), "memory");
    must(cudaMemset(out, 0, width * height * sizeof(float)), "set");
    blur<<<(width * height + BLOCK - 1) / BLOCK, BLOCK>>>(
        out, image, weights, layers, width, height, taps);
    must(cudaMemcpy(host, out, width * height * sizeof(float),
                    cudaMemcpyDefault), "copy");
    for (int i = 0; i < width * height; i++)
        sum += (double)host[i] * (i % 17);
    printf("sum %.1f\n", sum);
    delete[] host;
    return 3;
}
