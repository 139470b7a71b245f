/* SPDX-License-Identifier: MIT */
/*
 * test_secure: a program that runs with the rights of another user (set-user-id
 * and the like: AT_SECURE) follows nothing that its caller can name: no folder
 * of kernels, no library, no profiler.  test_load has its cache.
 */
#include <sys/auxv.h>
#include <unistd.h>

#include "gpu/driver.h"
#include "kernel/catalogue.h"
#include "profile/profile.h"
#include "tests/support/catalogue_fixture.h"
#include "tests/support/check.h"

static bool secure;

unsigned long __real_getauxval(unsigned long type);
unsigned long __wrap_getauxval(unsigned long type);
char *__wrap_secure_getenv(const char *name);

unsigned long __wrap_getauxval(unsigned long type)
{
    return type == AT_SECURE ? secure : __real_getauxval(type);
}

char *__wrap_secure_getenv(const char *name)
{
    return secure ? NULL : getenv(name);
}

/* Whether `folder` is among those that are searched for kernels. */
static bool searches(const char *tree, const char *folder)
{
    struct shmt_catalogue *catalogue = NULL;
    struct shmt_error err = {0};
    bool found = false;

    CHECK_INT(shmt_catalogue_open(NULL, tree, &catalogue, &err), SHMTUNE_OK);
    if (catalogue == NULL)
        return false;
    for (size_t k = 0; k < catalogue->folder_count; k++)
        found = found || strcmp(catalogue->folders[k], folder) == 0;
    CHECK(!found || shmt_catalogue_find(catalogue, "toy") != NULL);
    shmt_catalogue_close(catalogue);
    return found;
}

/* Each place in turn: the environment, the source tree, the user's. */
static void kernels_are_the_installed_ones(void)
{
    const char *const root = fixture_path("");
    char place[512], user[600];

    snprintf(place, sizeof place, "%.*s", (int)strlen(root) - 1, root);
    snprintf(user, sizeof user, "%s/shmtune", place);
    for (int k = 0; k < 2; k++) {
        secure = k == 1;
        setenv("SHMTUNE_PATH", place, 1);
        setenv("XDG_DATA_HOME", "/nonexistent", 1);
        CHECK(searches(NULL, place) == !secure);
        unsetenv("SHMTUNE_PATH");
        CHECK(searches(place, place) == !secure);
        CHECK_INT(symlink(place, user), 0);
        setenv("XDG_DATA_HOME", place, 1);
        CHECK(searches(NULL, user) == !secure);
        CHECK_INT(unlink(user), 0);
    }
    secure = false;
}

static void libraries_are_the_systems(void)
{
    setenv("SHMTUNE_LIBCUDA", "/tmp/mine.so", 1);
    CHECK_TEXT(shmt_driver_setting("SHMTUNE_LIBCUDA"), "/tmp/mine.so");
    secure = true;
    CHECK(shmt_driver_setting("SHMTUNE_LIBCUDA") == NULL);
    secure = false;
    setenv("SHMTUNE_LIBCUDA", "", 1);
    CHECK(shmt_driver_setting("SHMTUNE_LIBCUDA") == NULL);
    unsetenv("SHMTUNE_LIBCUDA");
}

/* /bin/sh is a program that may be run. */
static void the_profiler_is_the_systems(void)
{
    struct shmt_error err = {0};
    char found[4096] = "";

    setenv("SHMTUNE_NCU", "/bin/sh", 1);
    CHECK_INT(shmt_counters_program(found, sizeof found, &err), SHMTUNE_OK);
    CHECK_TEXT(found, "/bin/sh");
    secure = true;
    found[0] = '\0';
    shmt_counters_program(found, sizeof found, &err);
    CHECK(strcmp(found, "/bin/sh") != 0);
    secure = false;
    unsetenv("SHMTUNE_NCU");
}

int main(void)
{
    fixture_begin();
    CHECK_RUN(kernels_are_the_installed_ones);
    CHECK_RUN(libraries_are_the_systems);
    CHECK_RUN(the_profiler_is_the_systems);
    fixture_end();
    return CHECK_END();
}
