/* SPDX-License-Identifier: MIT */
/*
 * driver_fixture: points $SHMTUNE_LIBCUDA at the fake driver and opens it
 * together with NVRTC.
 */
#include "tests/support/driver_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void fixture_fake_driver(void)
{
    const char *build = getenv("SHMT_BUILDDIR");
    char path[1024];

    snprintf(path, sizeof path, "%s/tests/fake/.libs/fake_cuda.so",
             build != NULL ? build : ".");
    setenv("SHMTUNE_LIBCUDA", path, 1);
}

void fixture_driver(const struct shmt_driver **driver,
                    const struct shmt_nvrtc **nvrtc)
{
    struct shmt_error err;
    const char *fake;

    fixture_fake_driver();
    fake = getenv("SHMTUNE_LIBCUDA");
    if (access(fake, R_OK) != 0) {
        printf("1..0 # SKIP the fake driver was not built (%s)\n", fake);
        exit(EXIT_SUCCESS);
    }
    if (shmt_nvrtc_open(nvrtc, &err) != SHMTUNE_OK) {
        printf("1..0 # SKIP no NVRTC here: %s\n", err.text);
        exit(EXIT_SUCCESS);
    }
    if (shmt_driver_open(driver, &err) != SHMTUNE_OK) {
        printf("Bail out! %s\n", err.text);
        exit(EXIT_FAILURE);
    }
}
