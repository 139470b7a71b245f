/* SPDX-License-Identifier: MIT */
/*
 * device_text: see device_text.h.
 */
#include "tests/support/device_text.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/support/folder.h"

struct device_text device;

static void need(bool fine, const char *what)
{
    if (fine)
        return;
    printf("Bail out! %s\n", what);
    exit(EXIT_FAILURE);
}

static void write_text(const char *path)
{
    char *const text = shmt_probe_source((1U << SHMT_ELEMENT_COUNT) - 1);
    FILE *file = fopen(path, "w");

    need(text != NULL && file != NULL, path);
    fputs(text, file);
    need(fclose(file) == 0, path);
    free(text);
}

static void *find(void *library, const char *name)
{
    void *symbol = dlsym(library, name);

    need(symbol != NULL, name);
    return symbol;
}

static void load(void *library)
{
    /* ISO C has no cast from an object's pointer to a function's. */
    *(void **)&device.fill = find(library, "shmt_fill");
    *(void **)&device.compare = find(library, "shmt_compare");
    *(void **)&device.worst = find(library, "shmt_worst");
    *(void **)&device.guard = find(library, "shmt_guard");
    *(void **)&device.hash = find(library, "shmt_hash");
    *(void **)&device.noise = find(library, "shmt_noise");
    *(void **)&device.flush = find(library, "shmt_flush");
    *(void **)&device.enter = find(library, "shim_enter");
    device.barrier = find(library, "shim_barrier");
}

bool device_text_can_compile(void)
{
    const char *compiler = getenv("CXX");
    char command[512];

    snprintf(command, sizeof command, "command -v %s >/dev/null 2>&1",
             compiler == NULL ? "c++" : compiler);
    if (system(command) == 0)
        return true;
    printf("1..0 # SKIP no C++ compiler\n");
    return false;
}

void device_text_compile(void)
{
    const char *source = getenv("SHMT_SRCDIR"), *compiler = getenv("CXX");
    char folder[FOLDER_ROOM], path[FOLDER_ROOM], command[4096];
    void *library;

    folder_make(folder);
    folder_path(path, folder, "text.cc");
    write_text(path);
    snprintf(command, sizeof command,
             "cd %s && %s -std=c++17 -O1 -ffp-contract=off -shared -fPIC "
             "-include '%s/tests/support/device_shim.h' text.cc -o text.so "
             "-pthread", folder, compiler == NULL ? "c++" : compiler,
             source == NULL ? "." : source);
    need(system(command) == 0, command);
    folder_path(path, folder, "text.so");
    library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    need(library != NULL, path);
    load(library);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    need(system(command) == 0, command);
}
struct shmt_probe_finding device_text_blank(void)
{
    return (struct shmt_probe_finding){.first = UINT64_MAX,
                                       .worst_at = UINT64_MAX,
                                       .outside_first = UINT64_MAX,
                                       .guard_first = INT64_MAX};
}

struct shmt_probe_finding device_text_compare_kept(
    const struct shmt_probe_rule *how, const struct grid *grid,
    const void *const three[3], uint64_t count)
{
    struct shmt_probe_finding out = device_text_blank();
    struct shmt_probe_rule rule = *how;

    rule.real = shmt_element_is_real((enum shmt_element)rule.element);
    LAUNCH(*grid,
           device.compare(three[0], three[1], three[2], count, rule, &out))
    LAUNCH(*grid,
           device.worst(three[0], three[1], three[2], count, rule, &out))
    return out;
}

struct shmt_probe_finding device_text_compare(
    const struct shmt_probe_rule *how, const struct grid *grid,
    const void *const pair[2], uint64_t count)
{
    return device_text_compare_kept(
        how, grid, (const void *const[]){pair[0], pair[1], NULL}, count);
}

void device_text_poison(u8 *bytes, size_t count, uint32_t word)
{
    for (size_t k = 0; k < count; k++)
        bytes[k] = (u8)(word >> 8 * (k % 2));
}
