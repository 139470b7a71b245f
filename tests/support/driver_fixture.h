/* SPDX-License-Identifier: MIT */
/*
 * driver_fixture: the fake driver beside the real NVRTC, for tests that load
 * and launch.
 */
#ifndef SHMT_TESTS_DRIVER_FIXTURE_H
#define SHMT_TESTS_DRIVER_FIXTURE_H

#include "gpu/driver.h"
#include "gpu/nvrtc.h"

/* tests/fake/.libs/fake_cuda.so of the build tree, into $SHMTUNE_LIBCUDA. */
void fixture_fake_driver(void);

/* Opens both; ends the test program, as skipped, where one is not here. */
void fixture_driver(const struct shmt_driver **driver,
                    const struct shmt_nvrtc **nvrtc);

#endif
