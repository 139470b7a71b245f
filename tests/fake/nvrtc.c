/* SPDX-License-Identifier: MIT */
/*
 * nvrtc: an NVRTC that remembers.  What the real one, $FAKE_NVRTC_REAL, made of
 * a text is kept in the folder $FAKE_NVRTC_KEPT, and is the answer when that
 * text comes again with the same options: a compile then takes no time.  For
 * lanes that run a command thousands of times.  Headers are not looked at, so
 * they must not change while a folder is used.
 *
 * It has no precompiled headers: those make another binary of the same text.
 */
#include <dlfcn.h>
#include <nvrtc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"

enum { MOST_NAMES = 16, MOST_BYTES = 1 << 26 };

/* What a compile gives, in the order in which a kept file has it. */
enum part { LOG, CUBIN, PTX, PARTS };

struct part_of {
    size_t size;
    char *data;
};

struct _nvrtcProgram {
    struct shmt_digest digest;      /* of all that it was given */
    char *source, *name;
    int header_count;
    const char *const *headers, *const *include_names;  /* the caller's, which
                                                           outlive it */
    size_t name_count;
    char *names[MOST_NAMES], *lowered[MOST_NAMES];
    nvrtcResult result;
    struct part_of parts[PARTS];
};

/* -- the real one ---------------------------------------------------------- */

static void *real(const char *name)
{
    static void *library;

    if (library == NULL)
        library = dlopen(getenv("FAKE_NVRTC_REAL"), RTLD_NOW | RTLD_LOCAL);
    return library == NULL ? NULL : dlsym(library, name);
}

#define REAL(name) __typeof__(nvrtc##name) *name = NULL;                     \
    { void *found = real("nvrtc" #name);                                     \
      if (found == NULL) return NVRTC_ERROR_INTERNAL_ERROR;                  \
      memcpy(&name, &found, sizeof name); }

static char *copy(const char *text)
{
    char *const made = malloc(strlen(text) + 1);

    return made == NULL ? NULL : strcpy(made, text);
}

static nvrtcResult take_part(struct part_of *part, nvrtcProgram program,
                             __typeof__(nvrtcGetCUBINSize) *size_of,
                             __typeof__(nvrtcGetCUBIN) *get)
{
    size_t size = 0;

    if (size_of(program, &size) != NVRTC_SUCCESS || size == 0)
        return NVRTC_SUCCESS;
    part->data = malloc(size);
    if (part->data == NULL)
        return NVRTC_ERROR_OUT_OF_MEMORY;
    part->size = size;
    return get(program, part->data);
}

static nvrtcResult take_names(struct _nvrtcProgram *own, nvrtcProgram program)
{
    REAL(GetLoweredName)
    for (size_t k = 0; k < own->name_count; k++) {
        const char *lowered = NULL;

        if (GetLoweredName(program, own->names[k], &lowered) != NVRTC_SUCCESS)
            continue;
        own->lowered[k] = copy(lowered);
        if (own->lowered[k] == NULL)
            return NVRTC_ERROR_OUT_OF_MEMORY;
    }
    return NVRTC_SUCCESS;
}

static nvrtcResult take_parts(struct _nvrtcProgram *own, nvrtcProgram program)
{
    nvrtcResult result;
    REAL(GetProgramLogSize) REAL(GetProgramLog)
    REAL(GetCUBINSize) REAL(GetCUBIN)
    REAL(GetPTXSize) REAL(GetPTX)
    result = take_part(&own->parts[LOG], program, GetProgramLogSize,
                       GetProgramLog);
    if (result == NVRTC_SUCCESS && own->result == NVRTC_SUCCESS)
        result = take_part(&own->parts[CUBIN], program, GetCUBINSize,
                           GetCUBIN);
    if (result == NVRTC_SUCCESS && own->result == NVRTC_SUCCESS)
        result = take_part(&own->parts[PTX], program, GetPTXSize, GetPTX);
    return result;
}

static nvrtcResult compile(struct _nvrtcProgram *own, int count,
                           const char *const *options)
{
    nvrtcProgram program = NULL;
    nvrtcResult result;
    REAL(CreateProgram) REAL(AddNameExpression) REAL(CompileProgram)
    REAL(DestroyProgram)
    result = CreateProgram(&program, own->source, own->name,
                           own->header_count, own->headers,
                           own->include_names);
    for (size_t k = 0; result == NVRTC_SUCCESS && k < own->name_count; k++)
        result = AddNameExpression(program, own->names[k]);
    if (result != NVRTC_SUCCESS)
        return result;
    own->result = CompileProgram(program, count, options);
    result = take_parts(own, program);
    if (result == NVRTC_SUCCESS)
        result = take_names(own, program);
    DestroyProgram(&program);
    return result;
}

/* -- what is kept ---------------------------------------------------------- */

static bool kept_path(const struct _nvrtcProgram *own, char path[1024])
{
    const char *const folder = getenv("FAKE_NVRTC_KEPT");
    struct shmt_digest digest = own->digest;
    char text[SHMT_DIGEST_TEXT];

    shmt_digest_end(&digest, text);
    return folder != NULL &&
           snprintf(path, 1024, "%s/%s", folder, text) < 1024;
}

static bool write_bytes(FILE *file, const void *data, size_t size)
{
    return fwrite(&size, sizeof size, 1, file) == 1 &&
           (size == 0 || fwrite(data, size, 1, file) == 1);
}

static bool read_bytes(FILE *file, struct part_of *part)
{
    if (fread(&part->size, sizeof part->size, 1, file) != 1 ||
        part->size > MOST_BYTES)
        return false;
    part->data = malloc(part->size + 1);
    if (part->data == NULL)
        return false;
    part->data[part->size] = '\0';
    return part->size == 0 || fread(part->data, part->size, 1, file) == 1;
}

/* Renamed when it is whole, since workers compile the same side by side. */
static void keep(const struct _nvrtcProgram *own)
{
    char path[1024], made[1100];
    FILE *file;
    bool whole;

    if (!kept_path(own, path))
        return;
    snprintf(made, sizeof made, "%s.%ld", path, (long)getpid());
    file = fopen(made, "wb");
    if (file == NULL)
        return;
    whole = fwrite(&own->result, sizeof own->result, 1, file) == 1;
    for (int k = 0; k < PARTS; k++)
        whole = whole && write_bytes(file, own->parts[k].data,
                                     own->parts[k].size);
    for (size_t k = 0; k < own->name_count; k++)
        whole = whole && write_bytes(file, own->lowered[k],
                                     own->lowered[k] == NULL
                                         ? 0 : strlen(own->lowered[k]));
    whole = fclose(file) == 0 && whole;
    if (!whole || rename(made, path) != 0)
        unlink(made);
}

static bool find_kept(struct _nvrtcProgram *own)
{
    char path[1024];
    FILE *const file = kept_path(own, path) ? fopen(path, "rb") : NULL;
    bool whole;

    if (file == NULL)
        return false;
    whole = fread(&own->result, sizeof own->result, 1, file) == 1;
    for (int k = 0; whole && k < PARTS; k++)
        whole = read_bytes(file, &own->parts[k]);
    for (size_t k = 0; whole && k < own->name_count; k++) {
        struct part_of name = {0};

        whole = read_bytes(file, &name);
        own->lowered[k] = name.data;
    }
    fclose(file);
    return whole;
}

/* -- the interface --------------------------------------------------------- */

nvrtcResult nvrtcVersion(int *major, int *minor)
{
    REAL(Version)
    return Version(major, minor);
}

const char *nvrtcGetErrorString(nvrtcResult result)
{
    __typeof__(nvrtcGetErrorString) *get = NULL;
    void *const found = real("nvrtcGetErrorString");

    memcpy(&get, &found, sizeof get);
    return get == NULL ? "no NVRTC" : get(result);
}

static void add(struct _nvrtcProgram *own, const char *text)
{
    shmt_digest_add(&own->digest, text, strlen(text) + 1);
}

nvrtcResult nvrtcCreateProgram(nvrtcProgram *out, const char *source,
                               const char *name, int count,
                               const char *const *headers,
                               const char *const *include_names)
{
    struct _nvrtcProgram *const own = calloc(1, sizeof *own);

    if (own == NULL)
        return NVRTC_ERROR_OUT_OF_MEMORY;
    own->source = copy(source);
    own->name = copy(name == NULL ? "default_program" : name);
    own->header_count = count;
    own->headers = headers;
    own->include_names = include_names;
    *out = own;
    if (own->source == NULL || own->name == NULL) {
        nvrtcDestroyProgram(out);
        return NVRTC_ERROR_OUT_OF_MEMORY;
    }
    shmt_digest_begin(&own->digest);
    add(own, own->source);
    add(own, own->name);
    for (int k = 0; k < count; k++) {
        add(own, include_names[k]);
        add(own, headers[k]);
    }
    return NVRTC_SUCCESS;
}

nvrtcResult nvrtcDestroyProgram(nvrtcProgram *program)
{
    struct _nvrtcProgram *const own = *program;

    free(own->source);
    free(own->name);
    for (size_t k = 0; k < own->name_count; k++) {
        free(own->names[k]);
        free(own->lowered[k]);
    }
    for (int k = 0; k < PARTS; k++)
        free(own->parts[k].data);
    free(own);
    *program = NULL;
    return NVRTC_SUCCESS;
}

nvrtcResult nvrtcAddNameExpression(nvrtcProgram program, const char *name)
{
    char *const own = program->name_count < MOST_NAMES ? copy(name) : NULL;

    if (own == NULL)
        return NVRTC_ERROR_OUT_OF_MEMORY;
    program->names[program->name_count++] = own;
    add(program, name);
    return NVRTC_SUCCESS;
}

nvrtcResult nvrtcCompileProgram(nvrtcProgram program, int count,
                                const char *const *options)
{
    nvrtcResult result;

    for (int k = 0; k < count; k++)
        add(program, options[k]);
    if (find_kept(program))
        return program->result;
    result = compile(program, count, options);
    if (result != NVRTC_SUCCESS)
        return result;
    keep(program);
    return program->result;
}

nvrtcResult nvrtcGetLoweredName(nvrtcProgram program, const char *name,
                                const char **lowered)
{
    for (size_t k = 0; k < program->name_count; k++)
        if (strcmp(program->names[k], name) == 0 &&
            program->lowered[k] != NULL && program->lowered[k][0] != '\0') {
            *lowered = program->lowered[k];
            return NVRTC_SUCCESS;
        }
    return NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID;
}

#define GIVES(name, part)                                                    \
    nvrtcResult nvrtcGet##name##Size(nvrtcProgram program, size_t *size)     \
    {                                                                        \
        *size = program->parts[part].size;                                   \
        return NVRTC_SUCCESS;                                                \
    }                                                                        \
    nvrtcResult nvrtcGet##name(nvrtcProgram program, char *out)              \
    {                                                                        \
        if (program->parts[part].size > 0)                                   \
            memcpy(out, program->parts[part].data,                           \
                   program->parts[part].size);                               \
        return NVRTC_SUCCESS;                                                \
    }

GIVES(ProgramLog, LOG)
GIVES(CUBIN, CUBIN)
GIVES(PTX, PTX)
