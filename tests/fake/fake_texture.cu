/* SPDX-License-Identifier: MIT */
/*
 * fake_texture: an image with a linear filter and a border, the same image
 * clamped in its own pitched memory, a table in linear memory and a volume of
 * four bytes a voxel in an array, which repeats; summed up.  The fake driver
 * runs C in its stead (texture.c).
 */
#ifdef SHMTUNE_REFERENCE
__device__ static float pixel(const float *image, int x, int y, int rows,
                              int cols, int pitch)
{
    return x < 0 || x >= cols || y < 0 || y >= rows ? 0.5f
                                                    : image[y * pitch + x];
}

extern "C" __global__ void sample_reference(float *out, const float *image,
                                            const int *table,
                                            const unsigned char *voxels,
                                            int rows, int cols, int pitch,
                                            int entries)
{
    for (int i = 0; i < rows * cols; i++) {
        const int x = i % cols, y = i / cols;
        const int right = min(x + 2, cols - 1), lower = min(y + 2, rows - 1);
        const unsigned char *voxel =
            voxels + 4 * (x % 8 + 8 * (y % 4) + 32 * (i % 2));
        float sum = 0;

        for (int k = 0; k < 4; k++)
            sum += (k % 2 == 1 ? 0.25f : 0.75f) * (k / 2 == 1 ? 0.75f : 0.25f) *
                   pixel(image, x - 1 + k % 2, y - 2 + k / 2, rows, cols,
                         pitch);
        sum += image[lower * pitch + right] + (float)table[i % entries];
        for (int c = 0; c < 4; c++)
            sum += (float)(1 << c) * ((float)voxel[c] / 255);
        out[i] = sum;
    }
}
#else
extern "C" __global__ void sample(float *out, cudaTextureObject_t image,
                                  cudaTextureObject_t clamped,
                                  cudaTextureObject_t table,
                                  cudaTextureObject_t volume, int rows,
                                  int cols, int entries, int shift)
{
    for (int i = blockIdx.x * BLOCK + threadIdx.x; i < rows * cols;
         i += gridDim.x * BLOCK) {
        const float x = (float)(i % cols), y = (float)(i / cols);
        const float4 voxel = tex3D<float4>(volume, (x + 0.5f) / 8,
                                           (y + 0.5f) / 4,
                                           ((float)(i % 2) + 0.5f) / 2);

        out[i] = tex2D<float>(image, x - 0.25f + (float)shift, y - 0.75f) +
                 tex2D<float>(clamped, x + 2.5f, y + 2.5f) +
                 (float)tex1Dfetch<int>(table, i % entries) + voxel.x +
                 2 * voxel.y + 4 * voxel.z + 8 * voxel.w;
    }
}
#endif
