/* SPDX-License-Identifier: MIT */
/*
 * compiled: what programs that play applications do with binaries: they
 * compile a source by NVRTC, and read and write files.  What fails ends the
 * program.
 */
#ifndef SHMT_FAKE_COMPILED_H
#define SHMT_FAKE_COMPILED_H

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <nvrtc.h>

static void must(int result, const char *what)
{
    if (result == 0)
        return;
    fprintf(stderr, "%s: %d\n", what, result);
    exit(8);
}

static void store(void *function, void *found, const char *name)
{
    if (found == NULL) {
        fprintf(stderr, "there is no %s\n", name);
        exit(9);
    }
    memcpy(function, &found, sizeof found);
}

static char *read_all(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    char *bytes = calloc(1, 1 << 24);

    if (file == NULL || bytes == NULL)
        exit(7);
    *size = fread(bytes, 1, (1 << 24) - 1, file);
    fclose(file);
    return bytes;
}

/* For sm_90, with one option more. */
static char *compile(const char *from, const char *option, size_t *size)
{
    const char *const options[] = {"--gpu-architecture=sm_90", option};
    void *library = dlopen(getenv("FAKE_NVRTC_REAL"), RTLD_NOW);
    __typeof__(nvrtcCreateProgram) *create;
    __typeof__(nvrtcCompileProgram) *build;
    __typeof__(nvrtcGetCUBINSize) *get_size;
    __typeof__(nvrtcGetCUBIN) *get;
    char *text = read_all(from, size), *cubin;
    nvrtcProgram program;

    if (library == NULL)
        exit(9);
    store(&create, dlsym(library, "nvrtcCreateProgram"), "NVRTC");
    store(&build, dlsym(library, "nvrtcCompileProgram"), "NVRTC");
    store(&get_size, dlsym(library, "nvrtcGetCUBINSize"), "NVRTC");
    store(&get, dlsym(library, "nvrtcGetCUBIN"), "NVRTC");
    must((int)create(&program, text, from, 0, NULL, NULL), "create");
    free(text);
    must((int)build(program, 2, options), "compile");
    must((int)get_size(program, size), "size");
    cubin = malloc(*size);
    must((int)get(program, cubin), "binary");
    return cubin;
}

static inline void write_binary(const char *from, const char *option, const char *to)
{
    FILE *file = fopen(to, "wb");
    size_t size;
    char *cubin = compile(from, option, &size);

    if (file == NULL || fwrite(cubin, 1, size, file) != size ||
        fclose(file) != 0)
        exit(7);
    free(cubin);
}

#endif
