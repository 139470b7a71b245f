/* SPDX-License-Identifier: MIT */
/*
 * gpu_fixture: what the tests of src/gpu share: the spec of the fake driver,
 * configurations by name, a folder that goes away.
 */
#ifndef SHMT_TESTS_GPU_FIXTURE_H
#define SHMT_TESTS_GPU_FIXTURE_H

#include "kernel/kernel.h"

/* tests/fake/fake_kernel.yaml of the source tree; ends the program when it cannot
 * be read. */
struct shmt_kernel *fixture_kernel(void);

/* The default with one parameter after the other set: "TILE", "32", ...,
 * NULL. */
void fixture_choice(const struct shmt_kernel *kernel, shmt_config *config,
                    ...);

/* A new empty folder; removed, with its files, when the program ends. */
const char *fixture_folder(void);

#endif
