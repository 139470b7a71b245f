/* SPDX-License-Identifier: MIT */
/*
 * test_given: the order of toolkits in a program that was configured with
 * --with-cuda.  It has gpu/nvrtc.c of its own, compiled as such.
 */
#include "config.h"

#include <stdlib.h>

#include "gpu/nvrtc.h"
#include "tests/support/check.h"

static void the_given_toolkit_is_behind_ours_and_before_cuda_s(void)
{
    setenv("SHMTUNE_CUDA", "/of/ours", 1);
    setenv("CUDA_HOME", "/of/cuda", 1);
    setenv("CUDA_PATH", "/of/cuda/too", 1);
    CHECK_TEXT(shmt_nvrtc_root(0), "/of/ours");
    CHECK_TEXT(shmt_nvrtc_root(1), SHMT_CUDA_DIR);
    CHECK_TEXT(shmt_nvrtc_root(2), "/of/cuda");
    CHECK_TEXT(shmt_nvrtc_root(3), "/of/cuda/too");
}

static void what_is_not_set_is_no_folder(void)
{
    unsetenv("SHMTUNE_CUDA");
    unsetenv("CUDA_HOME");
    unsetenv("CUDA_PATH");
    CHECK(shmt_nvrtc_root(0) == NULL);
    CHECK_TEXT(shmt_nvrtc_root(1), SHMT_CUDA_DIR);
    CHECK(shmt_nvrtc_root(2) == NULL);
    CHECK(shmt_nvrtc_root(3) == NULL);
    CHECK_TEXT(shmt_nvrtc_root(SHMT_NVRTC_ROOTS - 1), "/usr/local/cuda");
}

int main(void)
{
    CHECK_RUN(the_given_toolkit_is_behind_ours_and_before_cuda_s);
    CHECK_RUN(what_is_not_set_is_no_folder);
    return CHECK_END();
}
