/* SPDX-License-Identifier: MIT */
/*
 * nvcc: where the program is looked for, one compile, and which symbol is
 * which entry.  Called by image.c.
 *
 * nvcc has no name expressions.  Behind the source stands one small kernel for
 * each entry, a template whose argument is the address of the entry: that makes
 * the compiler instantiate it, and the name of the small kernel contains the
 * symbol of the entry:
 *
 *   _Z13shmtune_entryIXadL_Z5typedIfEvPT_S1_iEELi0EEvv
 *                         ^^^^^^^^^^^^^^^^^^^ entry 0
 *
 * A part that is there for the second time is a reference in a mangled name,
 * S_, S0_, S1_ and so on, and shmtune_entry itself is the first of the parts
 * there: the symbol of the entry is _Z5typedIfEvPT_S0_i.
 *
 * Functions of the host become a shared object.  Behind the source stands one
 * function for each, which calls it: the compiler so says whether it is there
 * and takes what it will be given, and it is all that the object shows.  What
 * is hidden cannot be taken for that of another candidate's object, whose names
 * are the same.  What nothing defines is refused here, and not first where the
 * object is opened.
 */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gpu/nvcc.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "gpu/diagnostic.h"
#include "gpu/driver.h"

#define MARKER "shmtune_entry"
#define HOST_ENTRY "shmtune_host_"

/* -- where it is ---------------------------------------------------------- */

/* In a toolkit, and in the wheels of CUDA 13 and 12. */
static const char *const places[] = {
    "bin", "nvidia/cu13/bin", "nvidia/cuda_nvcc/bin"
};

static const char *find_in_roots(struct shmt_arena *arena, size_t from,
                                 size_t to)
{
    for (size_t r = from; r < to; r++)
        for (size_t k = 0; k < sizeof places / sizeof places[0]; k++) {
            const char *root = shmt_nvrtc_root(r);
            const char *folder =
                root == NULL ? NULL : shmt_path_join(arena, root, places[k]);
            const char *path =
                folder == NULL ? NULL : shmt_path_join(arena, folder, "nvcc");

            if (path != NULL && shmt_path_is_program(path))
                return path;
        }
    return NULL;
}

static const char *find_in_path(struct shmt_arena *arena)
{
    char path[4096];

    return shmt_path_find_program(shmt_driver_setting("PATH"), "nvcc", path,
                                  sizeof path)
               ? shmt_arena_copy(arena, path, strlen(path)) : NULL;
}

/* "release 13.0" */
static int version_in(const char *text)
{
    const char *at = strstr(text, "release ");
    int major = 0, minor = 0;

    return at != NULL && sscanf(at, "release %3d.%3d", &major, &minor) == 2
               ? major * 1000 + minor * 10 : 0;
}

static enum shmtune_status find(struct shmt_arena *arena, const char **out,
                                struct shmt_error *err)
{
    const char *wanted = shmt_driver_setting("SHMTUNE_NVCC");

    if (wanted != NULL && !shmt_path_is_program(wanted))
        return shmt_error_set(err, SHMTUNE_NOT_FOUND, "$SHMTUNE_NVCC is "
                              "\"%s\", which is no program", wanted);
    *out = wanted;
    if (*out == NULL)
        *out = find_in_roots(arena, 0, SHMT_NVRTC_NAMED_ROOTS);
    if (*out == NULL)
        *out = find_in_path(arena);
    if (*out == NULL)
        *out = find_in_roots(arena, SHMT_NVRTC_NAMED_ROOTS, SHMT_NVRTC_ROOTS);
    return *out != NULL
               ? SHMTUNE_OK
               : shmt_error_set(err, SHMTUNE_NOT_FOUND,
                                "no nvcc: looked for bin/nvcc under "
                                "$SHMTUNE_CUDA, $CUDA_HOME, $CUDA_PATH, in "
                                "$PATH and under %s; install the CUDA toolkit "
                                "or `pip install nvidia-cuda-nvcc`, and name "
                                "the program in $SHMTUNE_NVCC",
                                shmt_nvrtc_root(SHMT_NVRTC_NAMED_ROOTS));
}

enum shmtune_status shmt_nvcc_open(shmt_nvcc_run *run, const char *scratch,
                                   struct shmt_arena *arena,
                                   struct shmt_nvcc *out,
                                   struct shmt_error *err)
{
    struct shmt_nvcc nvcc = {.run = run, .scratch = scratch};
    const char *argv[] = {NULL, "--version", NULL};
    const char *output = "";
    int code = -1;
    enum shmtune_status status = find(arena, &nvcc.path, err);

    if (status != SHMTUNE_OK)
        return status;
    argv[0] = nvcc.path;
    status = run(argv, NULL, arena, &output, &code, err);
    if (status != SHMTUNE_OK)
        return status;
    nvcc.version = version_in(output);
    if (code != 0 || nvcc.version < 12000)
        return shmt_error_set(err, SHMTUNE_NOT_FOUND,
                              "%s is no nvcc of CUDA 12 or newer; it says: "
                              "%.200s", nvcc.path, output);
    *out = nvcc;
    return SHMTUNE_OK;
}

/* -- the source ----------------------------------------------------------- */

/* The functions of the host, one a line as those of the device. */
static void write_host_entries(const struct shmt_nvrtc_job *job,
                               struct shmt_text *text)
{
    shmt_text_add(text, "struct CUstream_st;\n");
    for (size_t k = 0; k < job->entry_count; k++)
        shmt_text_addf(text, "extern \"C\" "
                       "__attribute__((visibility(\"default\"))) int "
                       HOST_ENTRY "%zu(CUstream_st *shmtune_stream, "
                       "void **shmtune_arguments) "
                       "{ return %s(shmtune_stream, shmtune_arguments); }\n",
                       k, job->entries[k]);
}

/* The source, and behind it the entries, one a line of a file of their own, by
 * which messages are told apart. */
static void write_source(const struct shmt_nvrtc_job *job,
                         struct shmt_text *text)
{
    shmt_text_add_line_mark(text, 1, job->name);
    shmt_text_addf(text, "%s\n#line 1 \"" MARKER "\"\n", job->source);
    if (job->host) {
        write_host_entries(job, text);
        return;
    }
    /* Not E or K: a source may have macros that are called so. */
    shmt_text_add(text, "template <auto shmtune_e, int shmtune_k> "
                  "__global__ void " MARKER "() {}\n");
    for (size_t k = 0; k < job->entry_count; k++) {
        const char *entry = job->entries[k];
        const char *sign = entry[0] == '&' || entry[0] == '(' ? "" : "&";

        shmt_text_addf(text, "template __global__ void " MARKER
                       "<%s%s, %zu>();\n", sign, entry, k);
    }
}

/* The options of a job that are NVRTC's own, or that are the other way round
 * for nvcc, which takes host code for host code. */
static bool is_for_nvcc(const char *option)
{
    return strcmp(option, "-default-device") != 0;
}

static const char **make_command(const struct shmt_nvcc *nvcc,
                                 const struct shmt_nvrtc_job *job,
                                 const char *source, const char *binary,
                                 struct shmt_arena *arena)
{
    const char **argv =
        shmt_arena_alloc(arena, job->option_count + 8, sizeof *argv);
    size_t n = 0;

    if (argv == NULL)
        return NULL;
    argv[n++] = nvcc->path;
    argv[n++] = job->host ? "-shared" : "-cubin";
    if (job->host) {
        argv[n++] = "-Xcompiler=-fPIC,-fvisibility=hidden";
        argv[n++] = "-Xlinker=-z,defs";
    }
    for (size_t k = 0; k < job->option_count; k++)
        if (is_for_nvcc(job->options[k]))
            argv[n++] = job->options[k];
    argv[n++] = "-o";
    argv[n++] = binary;
    argv[n++] = source;
    return argv;
}

/* -- what it says --------------------------------------------------------- */

/* The first line that tells an error, less the blanks around it. */
static void first_error(const char *log, char *out, size_t room)
{
    static const char *const marks[] = {"error: ", "error:", "error   :",
                                        "nvcc fatal"};
    const char *line = log, *end;
    bool found = false;

    for (; *line != '\0' && !found; line = end + (*end == '\n')) {
        end = line + strcspn(line, "\n");
        for (size_t k = 0; k < sizeof marks / sizeof marks[0]; k++) {
            const char *at = strstr(line, marks[k]);

            found = found || (at != NULL && at < end);
        }
        if (found)
            shmt_diagnostic_text(line, out, room);
    }
    if (!found)
        snprintf(out, room, "%.300s", log);
    for (char *c = out; *c != '\0'; c++)
        if (*c == '\n' || *c == '\t')
            *c = ' ';
}

/* A message about the lines of write_source, of which entry k is line k + 2,
 * names the entry instead. */
static void explain_entry(const struct shmt_nvrtc_job *job, char *line,
                          size_t room)
{
    const char *text = strstr(line, "error: ");
    char why[256];
    size_t number = 0;

    if (sscanf(line, MARKER ":%zu", &number) != 1 || number < 2 ||
        number - 2 >= job->entry_count)
        return;
    snprintf(why, sizeof why, "%.250s",
             text == NULL ? line : text + strlen("error: "));
    if (job->host)
        snprintf(line, room, "%.150s has no function int %.100s(cudaStream_t, "
                 "void **), a \"host\" of the spec: %.200s", job->name,
                 job->entries[number - 2], why);
    else
        snprintf(line, room, "%.200s has no kernel \"%.100s\", an entry of "
                 "the spec: %.200s", job->name, job->entries[number - 2], why);
}

/* The linker's first undefined name, in words. */
static void explain_undefined(const struct shmt_nvrtc_job *job,
                              const char *log, char *line, size_t room)
{
    static const char mark[] = "undefined reference to ";
    const char *name = job->host ? strstr(log, mark) : NULL;
    size_t length;

    if (name == NULL)
        return;
    name += strlen(mark);
    length = strcspn(name, "\n");
    snprintf(line, room, "%.150s: nothing defines %.*s, which the functions of "
             "the host need; define it in the source, or link what has it, "
             "\"options: [-lNAME]\"", job->name,
             (int)(length < 200 ? length : 200), name);
}

/* A function of the device that another file of the application has. */
static void explain_extern(const struct shmt_nvrtc_job *job, const char *log,
                           char *line, size_t room)
{
    static const char mark[] = "Unresolved extern ";
    const char *name = strstr(log, mark);

    if (name == NULL)
        return;
    name += strlen(mark);
    snprintf(line, room, "%.150s: nothing defines %.*s, of another file; list "
             "that in \"source\", too, \"source: [A.cu, B.cu]\"", job->name,
             (int)strcspn(name, "\n"), name);
}

/* A #define of the source would win over the value of a parameter, and all its
 * values make the same kernel: `FILE:LINE: warning: "TILE" redefined`. */
static enum shmtune_status check_macros(const struct shmt_nvrtc_job *job,
                                        const char *log,
                                        struct shmt_error *err)
{
    static const char mark[] = "warning: \"";

    for (const char *at = strstr(log, mark); at != NULL;
         at = strstr(at, mark)) {
        const char *word, *line = at;
        const size_t length =
            shmt_text_name_length(word = at += strlen(mark));

        while (line > log && line[-1] != '\n')
            line--;
        if (strncmp(word + length, "\" redefined", 11) != 0)
            continue;
        for (size_t k = 0; k < job->option_count; k++)
            if (strncmp(job->options[k], "-D", 2) == 0 &&
                strncmp(job->options[k] + 2, word, length) == 0 &&
                job->options[k][2 + length] == '=')
                return shmt_error_set(
                    err, SHMTUNE_COMPILE, "%.*s: #define %.*s is in the way of "
                    "the spec's %s; put it behind #ifndef %.*s, or write "
                    "\"override: true\" into the parameter",
                    (int)(at - line - (long)strlen(mark) - 2), line,
                    (int)length, word, job->options[k] + 2, (int)length, word);
    }
    return SHMTUNE_OK;
}

static enum shmtune_status refuse(const struct shmt_nvrtc_job *job,
                                  const char *log, int code,
                                  struct shmt_error *err)
{
    char line[640] = "";

    first_error(log, line, sizeof line);
    explain_entry(job, line, sizeof line);
    explain_undefined(job, log, line, sizeof line);
    explain_extern(job, log, line, sizeof line);
    if (line[0] == '\0')
        snprintf(line, sizeof line, "nvcc ended with status %d and said "
                 "nothing", code);
    return shmt_error_set(err, SHMTUNE_COMPILE, "%s", line);
}

/* -- which symbol is which entry ------------------------------------------ */

/* The C name in _Z5plainPfi or _ZN2ns5plainEPfi, which a function that is
 * extern "C" has; 0: it is a template. */
static size_t c_name(const char *mangled, const char **name)
{
    const bool nested = strncmp(mangled, "_ZN", 3) == 0;
    const char *at = mangled + 2 + nested;
    size_t length = 0;

    if (strncmp(mangled, "_Z", 2) != 0)
        return 0;
    while (*at >= '1' && *at <= '9') {
        char *end;

        length = strtoul(at, &end, 10);
        if (length > strlen(end))
            return 0;
        *name = end;
        at = end + length;
        if (!nested)
            return length;
    }
    return *at == 'E' ? length : 0;
}

/* The number of the reference S_, S0_, S1_, ... at `at`, 0 for the first one,
 * and its length; 0: it is none. */
static size_t reference(const char *at, unsigned long *number)
{
    size_t length = 1;

    *number = 0;
    if (at[0] != 'S')
        return 0;
    for (; (at[length] >= '0' && at[length] <= '9') ||
           (at[length] >= 'A' && at[length] <= 'Z'); length++)
        *number = *number * 36 + (unsigned long)(at[length] <= '9'
                                                     ? at[length] - '0'
                                                     : at[length] - 'A' + 10);
    if (at[length] != '_')
        return 0;
    *number += length > 1;
    return length + 1;
}

/* Whether `nested`, a symbol within another name, is `symbol`: its references
 * are one further. */
static bool is_same_symbol(const char *nested, size_t nested_length,
                           const char *symbol, size_t symbol_length)
{
    const char *const nested_end = nested + nested_length;
    const char *const symbol_end = symbol + symbol_length;

    while (nested < nested_end && symbol < symbol_end) {
        unsigned long further, number;
        const size_t skip = reference(nested, &further);
        const size_t step = reference(symbol, &number);

        if (skip > 0 && step > 0 && further == number + 1) {
            nested += skip;
            symbol += step;
        } else if (*nested++ != *symbol++) {
            return false;
        }
    }
    return nested == nested_end && symbol == symbol_end;
}

/* The next entry that the log reports, and the length of its symbol; NULL
 * behind the last. */
static const char *next_entry(const char *log, size_t *length)
{
    static const char mark[] = "Compiling entry function '";
    const char *at = strstr(log, mark);

    if (at == NULL)
        return NULL;
    at += strlen(mark);
    *length = strcspn(at, "'\n");
    return at;
}

/* The symbol of a kernel, whose mangled name is `nested` within another. */
static const char *resolve(const char *log, const char *nested, size_t size,
                           struct shmt_arena *arena)
{
    const char *name = nested;
    size_t length = 0;

    for (const char *at = next_entry(log, &length); at != NULL;
         at = next_entry(at, &length))
        if (is_same_symbol(nested, size, at, length))
            return shmt_arena_copy(arena, at, length);
    length = c_name(nested, &name);
    return shmt_arena_copy(arena, name, length > 0 ? length : size);
}

/* The symbol of entry k. */
static enum shmtune_status find_symbol(const struct shmt_nvrtc_job *job,
                                       const char *log, size_t k,
                                       struct shmt_arena *arena,
                                       const char **out, struct shmt_error *err)
{
    static const char head[] = "_Z13" MARKER "IXadL";
    const size_t before = strlen(head);
    char tail[32];
    size_t length = 0, after;

    after = (size_t)snprintf(tail, sizeof tail, "EELi%zuEEvv", k);
    for (const char *at = next_entry(log, &length); at != NULL;
         at = next_entry(at, &length)) {
        if (length <= before + after || strncmp(at, head, before) != 0 ||
            strncmp(at + length - after, tail, after) != 0)
            continue;
        *out = resolve(log, at + before, length - before - after, arena);
        return *out == NULL ? shmt_error_memory(err) : SHMTUNE_OK;
    }
    return shmt_error_set(err, SHMTUNE_COMPILE, "%s has no kernel \"%s\"",
                          job->name, job->entries[k]);
}

/* -- one compile ---------------------------------------------------------- */

/* A folder for it, and what nvcc leaves there. */
static void remove_folder(const char *folder)
{
    DIR *dir = opendir(folder);
    const struct dirent *entry;

    while (dir != NULL && (entry = readdir(dir)) != NULL)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            unlinkat(dirfd(dir), entry->d_name, 0);
    if (dir != NULL)
        closedir(dir);
    rmdir(folder);
}

static enum shmtune_status name_symbol(const struct shmt_nvrtc_job *job,
                                       const char *log, size_t k,
                                       struct shmt_arena *arena,
                                       const char **out, struct shmt_error *err)
{
    char name[32];
    int length;

    if (!job->host)
        return find_symbol(job, log, k, arena, out, err);
    length = snprintf(name, sizeof name, HOST_ENTRY "%zu", k);
    *out = shmt_arena_copy(arena, name, (size_t)length);
    return *out == NULL ? shmt_error_memory(err) : SHMTUNE_OK;
}

static enum shmtune_status read_product(const struct shmt_nvrtc_job *job,
                                        const char *binary,
                                        struct shmt_arena *arena,
                                        struct shmt_nvrtc_product *product,
                                        struct shmt_error *err)
{
    enum { CUBIN_LIMIT = 256 << 20 };
    const char **lowered = shmt_arena_alloc(arena, job->entry_count + 1,
                                            sizeof *lowered);
    const char *data = NULL;
    enum shmtune_status status =
        lowered == NULL ? shmt_error_memory(err)
                        : shmt_path_read(arena, binary, CUBIN_LIMIT, &data,
                                         &product->cubin_size, err);

    for (size_t k = 0; status == SHMTUNE_OK && k < job->entry_count; k++)
        status = name_symbol(job, product->log, k, arena, &lowered[k], err);
    product->cubin = data;
    product->lowered = lowered;
    return status;
}

static enum shmtune_status compile_in(const struct shmt_nvcc *nvcc,
                                      const struct shmt_nvrtc_job *job,
                                      const char *folder,
                                      struct shmt_arena *arena,
                                      struct shmt_nvrtc_product *out,
                                      struct shmt_error *err)
{
    const char *source = shmt_path_join(arena, folder, "source.cu");
    const char *binary = shmt_path_join(
        arena, folder, job->host ? "binary.so" : "binary.cubin");
    const char **argv =
        source == NULL || binary == NULL
            ? NULL : make_command(nvcc, job, source, binary, arena);
    struct shmt_text text = {0};
    enum shmtune_status status;
    int code = -1;

    write_source(job, &text);
    status = argv == NULL || text.failed
                 ? shmt_error_memory(err)
                 : shmt_path_write(source, text.data, text.length, err);
    shmt_text_free(&text);
    if (status == SHMTUNE_OK)
        status = nvcc->run(argv, folder, arena, &out->log, &code, err);
    if (status == SHMTUNE_OK && code != 0)
        status = refuse(job, out->log, code, err);
    if (status == SHMTUNE_OK)
        status = check_macros(job, out->log, err);
    if (status == SHMTUNE_OK)
        status = read_product(job, binary, arena, out, err);
    return status;
}

/* A new folder in the scratch folder. */
static enum shmtune_status make_folder(const struct shmt_nvcc *nvcc,
                                       struct shmt_arena *arena, char **out,
                                       struct shmt_error *err)
{
    const char *name = shmt_path_join(arena, nvcc->scratch, "nvcc-XXXXXX");

    *out = name == NULL ? NULL : shmt_arena_copy(arena, name, strlen(name));
    if (*out == NULL)
        return shmt_error_memory(err);
    return mkdtemp(*out) != NULL
               ? SHMTUNE_OK
               : shmt_error_system(err, *out, "folder cannot be made");
}

enum shmtune_status shmt_nvcc_compile(const struct shmt_nvcc *nvcc,
                                      const struct shmt_nvrtc_job *job,
                                      struct shmt_arena *arena,
                                      struct shmt_nvrtc_product *out,
                                      struct shmt_error *err)
{
    const double start = shmt_clock_s();
    struct shmt_nvrtc_product product = {0};
    char *folder;
    enum shmtune_status status = make_folder(nvcc, arena, &folder, err);

    if (status != SHMTUNE_OK)
        return status;
    status = compile_in(nvcc, job, folder, arena, &product, err);
    remove_folder(folder);
    if (status == SHMTUNE_OK) {
        product.elapsed_ms = (shmt_clock_s() - start) * 1e3;
        *out = product;
    }
    return status;
}

/* The last line of what the preprocessor makes of __VERSION__. */
static const char *last_line(const char *text, struct shmt_arena *arena)
{
    size_t end = strlen(text), begin;

    while (end > 0 && strchr("\n\r \"", text[end - 1]) != NULL)
        end--;
    for (begin = end; begin > 0 && strchr("\n\"", text[begin - 1]) == NULL;)
        begin--;
    return shmt_arena_copy(arena, text + begin, end - begin);
}

enum shmtune_status shmt_nvcc_ask_host(struct shmt_nvcc *nvcc,
                                       struct shmt_arena *arena,
                                       struct shmt_error *err)
{
    static const char question[] = "__VERSION__\n";
    const char *argv[] = {nvcc->path, "-E", NULL, NULL};
    const char *output = "";
    char *folder;
    int code = -1;
    enum shmtune_status status = make_folder(nvcc, arena, &folder, err);

    if (status != SHMTUNE_OK)
        return status;
    argv[2] = shmt_path_join(arena, folder, "host.cpp");
    status = argv[2] == NULL ? shmt_error_memory(err)
                             : shmt_path_write(argv[2], question,
                                               strlen(question), err);
    if (status == SHMTUNE_OK)
        status = nvcc->run(argv, folder, arena, &output, &code, err);
    remove_folder(folder);
    if (status == SHMTUNE_OK && code != 0)
        return shmt_error_set(err, SHMTUNE_NOT_FOUND, "%s finds no compiler "
                              "for code of the host: %.300s", nvcc->path,
                              output);
    if (status == SHMTUNE_OK)
        nvcc->host = last_line(output, arena);
    return status == SHMTUNE_OK && nvcc->host == NULL ? shmt_error_memory(err)
                                                      : status;
}
