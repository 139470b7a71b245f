// SPDX-License-Identifier: MIT
#define INDEX(block) (blockIdx.x * (block) + threadIdx.x)
