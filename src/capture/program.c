/* SPDX-License-Identifier: MIT */
/*
 * program: what NVRTC is given, kept beside the digest of what it gave back,
 * so that a module loaded from those bytes, or from a file of them, has its
 * source.  Any number of threads; a program is used by one at a time, as NVRTC
 * asks.
 */
#include "capture/library.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Most bytes of sources that are kept. */
enum { MOST_BYTES = 1 << 29 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct shmt_capture_program **programs;
static size_t program_count, program_room, kept_bytes;

/* A digest of a product, and whose it is. */
struct product {
    char digest[SHMT_DIGEST_TEXT];
    const struct shmt_capture_program *program;
};

static struct product *products;
static size_t product_count, product_room;
static struct shmt_map by_digest;

void shmt_capture_digest(const void *image, size_t size,
                         char digest[SHMT_DIGEST_TEXT])
{
    const char *bytes = image;
    struct shmt_digest state;

    if (size < 4 || memcmp(bytes, "\177ELF", 4) != 0)
        while (size > 0 && bytes[size - 1] == '\0')
            size--;
    shmt_digest_begin(&state);
    shmt_digest_add(&state, image, size);
    shmt_digest_end(&state, digest);
}

/* -- a program ------------------------------------------------------------ */

static void free_texts(char **texts, size_t count)
{
    for (size_t k = 0; texts != NULL && k < count; k++)
        free(texts[k]);
    free(texts);
}

static void free_program(struct shmt_capture_program *program)
{
    if (program == NULL)
        return;
    free(program->source);
    free(program->name);
    free(program->folder);
    free_texts(program->headers, program->header_count);
    free_texts(program->include_names, program->header_count);
    free_texts(program->options, program->option_count);
    for (size_t k = 0; k < program->lowered_count; k++) {
        free(program->lowered[k].expression);
        free(program->lowered[k].name);
    }
    free(program->lowered);
    free(program);
}

/* Copies of so many texts, a NULL among them as ""; NULL: no memory. */
static char **copy_texts(const char *const *texts, size_t count)
{
    char **copies = calloc(count + 1, sizeof *copies);

    for (size_t k = 0; copies != NULL && k < count; k++) {
        copies[k] = strdup(texts == NULL || texts[k] == NULL ? "" : texts[k]);
        if (copies[k] == NULL) {
            free_texts(copies, k);
            return NULL;
        }
        kept_bytes += strlen(copies[k]);
    }
    return copies;
}

static struct shmt_capture_program *find(nvrtcProgram handle)
{
    for (size_t k = program_count; k-- > 0;)
        if (programs[k]->handle == handle)
            return programs[k];
    return NULL;
}

/* Room for one more. */
static bool make_room(void *array, size_t count, size_t *room, size_t size)
{
    void *old, *made;

    if (count < *room)
        return true;
    memcpy(&old, array, sizeof old);
    made = realloc(old, (*room * 2 + 16) * size);
    if (made == NULL)
        return false;
    *room = *room * 2 + 16;
    memcpy(array, &made, sizeof made);
    return true;
}

/* A program's name as NVRTC was given it. */
static void not_kept(const char *name, const char *why)
{
    shmt_capture_note("the source of %s is not kept: %s",
                      name == NULL || name[0] == '\0' ? "a program" : name,
                      why);
}

static void remember(nvrtcProgram handle, const char *source, const char *name,
                     size_t count, const char *const *headers,
                     const char *const *include_names)
{
    struct shmt_capture_program *program;

    if (source == NULL)
        return;
    if (strlen(source) > MOST_BYTES - kept_bytes) {
        not_kept(name, "the sources are more than 512 MiB");
        return;
    }
    program = make_room(&programs, program_count, &program_room,
                        sizeof *programs) ? calloc(1, sizeof *program) : NULL;
    if (program == NULL) {
        not_kept(name, "there is no memory");
        return;
    }
    program->handle = handle;
    program->source = strdup(source);
    program->name = strdup(name == NULL ? "" : name);
    program->header_count = count;
    program->headers = copy_texts(headers, count);
    program->include_names = copy_texts(include_names, count);
    kept_bytes += strlen(source);
    if (program->source == NULL || program->name == NULL ||
        program->headers == NULL || program->include_names == NULL) {
        free_program(program);
        not_kept(name, "there is no memory");
        return;
    }
    programs[program_count++] = program;
}

/* Where the process is when it compiles. */
static void keep_folder(struct shmt_capture_program *program)
{
    free(program->folder);
    program->folder = getcwd(NULL, 0);
    if (program->folder == NULL)
        shmt_capture_note("the folder in which %s was compiled is not kept: "
                          "%s", program->name[0] == '\0' ? "a program"
                                                         : program->name,
                          strerror(errno));
}

/* One whose binary nobody has asked for is forgotten. */
static void forget(nvrtcProgram handle)
{
    for (size_t k = program_count; k-- > 0;)
        if (programs[k]->handle == handle) {
            programs[k]->handle = NULL;
            if (!programs[k]->kept) {
                free_program(programs[k]);
                programs[k] = programs[--program_count];
            }
            return;
        }
}

/* -- its binary ----------------------------------------------------------- */

static const struct product *product_of(const char *digest)
{
    const uint64_t key = shmt_map_hash_bytes(digest, SHMT_DIGEST_TEXT - 1);
    size_t probe = 0;
    uint32_t at;

    while ((at = shmt_map_next(&by_digest, key, &probe)) != SHMT_MAP_NONE)
        if (strcmp(products[at].digest, digest) == 0)
            return &products[at];
    return NULL;
}

static void keep(nvrtcProgram handle, const void *binary, size_t size)
{
    char digest[SHMT_DIGEST_TEXT];
    struct shmt_capture_program *program;

    shmt_capture_digest(binary, size, digest);
    pthread_mutex_lock(&lock);
    program = find(handle);
    if (program != NULL && product_of(digest) == NULL) {
        if (size > 0 && make_room(&products, product_count, &product_room,
                                  sizeof *products) &&
            shmt_map_add(&by_digest,
                         shmt_map_hash_bytes(digest, SHMT_DIGEST_TEXT - 1),
                         (uint32_t)product_count)) {
            memcpy(products[product_count].digest, digest, sizeof digest);
            products[product_count++].program = program;
            program->kept = true;
        } else {
            not_kept(program->name, size == 0 ? "NVRTC does not say how long "
                     "its binary is" : "there is no memory");
        }
    }
    pthread_mutex_unlock(&lock);
}

const struct shmt_capture_program *
shmt_capture_program_of(const char digest[SHMT_DIGEST_TEXT])
{
    const struct product *product;

    pthread_mutex_lock(&lock);
    product = product_of(digest);
    pthread_mutex_unlock(&lock);
    return product == NULL ? NULL : product->program;
}

static void add_text(struct shmt_digest *digest, const char *text)
{
    shmt_digest_add(digest, text, strlen(text) + 1);
}

void shmt_capture_program_digest(const struct shmt_capture_program *program,
                                 char digest[SHMT_DIGEST_TEXT])
{
    struct shmt_digest state;

    shmt_digest_begin(&state);
    add_text(&state, program->source);
    for (size_t k = 0; k < program->header_count; k++) {
        add_text(&state, program->include_names[k]);
        add_text(&state, program->headers[k]);
    }
    for (size_t k = 0; k < program->option_count; k++)
        add_text(&state, program->options[k]);
    shmt_digest_end(&state, digest);
}

/* -- the functions of NVRTC ----------------------------------------------- */

static bool is_on(void)
{
    return shmt_capture_setting()->folder != NULL;
}

SHMT_CAPTURE_PUBLIC
nvrtcResult nvrtcCreateProgram(nvrtcProgram *out, const char *source,
                               const char *name, int count,
                               const char *const *headers,
                               const char *const *include_names)
{
    nvrtcResult result;

    SHMT_CAPTURE_REAL(nvrtcCreateProgram);
    if (real == NULL)
        return NVRTC_ERROR_INTERNAL_ERROR;
    result = real(out, source, name, count, headers, include_names);
    if (result == NVRTC_SUCCESS && is_on()) {
        pthread_mutex_lock(&lock);
        remember(*out, source, name, count < 0 ? 0 : (size_t)count, headers,
                 include_names);
        pthread_mutex_unlock(&lock);
    }
    return result;
}

SHMT_CAPTURE_PUBLIC
nvrtcResult nvrtcDestroyProgram(nvrtcProgram *program)
{
    const nvrtcProgram handle = program == NULL ? NULL : *program;
    nvrtcResult result;

    SHMT_CAPTURE_REAL(nvrtcDestroyProgram);
    if (real == NULL)
        return NVRTC_ERROR_INTERNAL_ERROR;
    result = real(program);
    if (result == NVRTC_SUCCESS && handle != NULL && is_on()) {
        pthread_mutex_lock(&lock);
        forget(handle);
        pthread_mutex_unlock(&lock);
    }
    return result;
}

SHMT_CAPTURE_PUBLIC
nvrtcResult nvrtcAddNameExpression(nvrtcProgram handle,
                                   const char *expression)
{
    SHMT_CAPTURE_REAL(nvrtcAddNameExpression);
    return real == NULL ? NVRTC_ERROR_INTERNAL_ERROR
                        : real(handle, expression);
}

SHMT_CAPTURE_PUBLIC
nvrtcResult nvrtcCompileProgram(nvrtcProgram handle, int count,
                                const char *const *options)
{
    struct shmt_capture_program *program;
    nvrtcResult result;

    SHMT_CAPTURE_REAL(nvrtcCompileProgram);
    if (real == NULL)
        return NVRTC_ERROR_INTERNAL_ERROR;
    result = real(handle, count, options);
    if (result != NVRTC_SUCCESS || !is_on())
        return result;
    pthread_mutex_lock(&lock);
    program = find(handle);
    if (program != NULL) {
        free_texts(program->options, program->option_count);
        program->option_count = count < 0 ? 0 : (size_t)count;
        program->options = copy_texts(options, program->option_count);
        keep_folder(program);
        if (program->options == NULL) {
            program->option_count = 0;
            program->handle = NULL;    /* half of it is none */
            not_kept(program->name, "there is no memory");
        }
    }
    pthread_mutex_unlock(&lock);
    return result;
}

static void add_lowered(struct shmt_capture_program *program,
                        const char *expression, const char *name)
{
    struct shmt_capture_lowered *const made =
        realloc(program->lowered,
                (program->lowered_count + 1) * sizeof *made);

    if (made == NULL)
        return;
    program->lowered = made;
    made[program->lowered_count].expression = strdup(expression);
    made[program->lowered_count].name = strdup(name);
    if (made[program->lowered_count].expression != NULL &&
        made[program->lowered_count].name != NULL)
        program->lowered_count++;
}

SHMT_CAPTURE_PUBLIC
nvrtcResult nvrtcGetLoweredName(nvrtcProgram handle,
                                const char *expression,
                                const char **out)
{
    struct shmt_capture_program *program;
    nvrtcResult result;

    SHMT_CAPTURE_REAL(nvrtcGetLoweredName);
    if (real == NULL)
        return NVRTC_ERROR_INTERNAL_ERROR;
    result = real(handle, expression, out);
    if (result != NVRTC_SUCCESS || !is_on())
        return result;
    pthread_mutex_lock(&lock);
    program = find(handle);
    if (program != NULL)
        add_lowered(program, expression, *out);
    pthread_mutex_unlock(&lock);
    return result;
}

/* How many bytes it has given. */
static size_t size_by(enum shmt_capture_hook hook, const char *name,
                      nvrtcProgram handle)
{
    nvrtcResult (*size_of)(nvrtcProgram, size_t *);
    size_t size = 0;

    shmt_capture_sibling(hook, name, &size_of);
    return size_of != NULL && size_of(handle, &size) == NVRTC_SUCCESS ? size
                                                                      : 0;
}

SHMT_CAPTURE_PUBLIC
nvrtcResult nvrtcGetCUBIN(nvrtcProgram handle, char *out)
{
    nvrtcResult result;

    SHMT_CAPTURE_REAL(nvrtcGetCUBIN);
    if (real == NULL)
        return NVRTC_ERROR_INTERNAL_ERROR;
    result = real(handle, out);
    if (result == NVRTC_SUCCESS && is_on())
        keep(handle, out, size_by(SHMT_CAPTURE_nvrtcGetCUBIN,
                                  "nvrtcGetCUBINSize", handle));
    return result;
}

SHMT_CAPTURE_PUBLIC
nvrtcResult nvrtcGetPTX(nvrtcProgram handle, char *out)
{
    nvrtcResult result;

    SHMT_CAPTURE_REAL(nvrtcGetPTX);
    if (real == NULL)
        return NVRTC_ERROR_INTERNAL_ERROR;
    result = real(handle, out);
    if (result == NVRTC_SUCCESS && is_on())
        keep(handle, out, size_by(SHMT_CAPTURE_nvrtcGetPTX,
                                  "nvrtcGetPTXSize", handle));
    return result;
}
