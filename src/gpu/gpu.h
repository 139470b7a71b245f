/* SPDX-License-Identifier: MIT */
/*
 * gpu: the CUDA driver and NVRTC, both opened at run time: compiling a
 * configuration, keeping its binary, asking devices what they are, launching.
 */
#ifndef SHMT_GPU_H
#define SHMT_GPU_H

#include "gpu/cubin.h"
#include "gpu/driver.h"
#include "gpu/image.h"
#include "gpu/lines.h"
#include "gpu/module.h"
#include "gpu/nvcc.h"
#include "gpu/nvrtc.h"
#include "gpu/nvrtc_headers.h"
#include "gpu/ptx.h"
#include "gpu/ptxas.h"
#include "gpu/texture.h"
#include "gpu/variable.h"
#include "gpu/variable_name.h"

#endif
