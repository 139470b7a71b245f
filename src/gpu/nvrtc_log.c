/* SPDX-License-Identifier: MIT */
/*
 * complaint: see nvrtc_log.h.
 *
 * NVRTC writes a diagnostic as three lines: FILE(LINE): error: TEXT, then the
 * line of the source, then a caret under the place.
 */
#include "gpu/nvrtc_log.h"

#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "device/device.h"
#include "gpu/ptxas.h"

/* The value of a macro that the options define, given its name and length;
 * NULL when it is none. */
static const char *defined_as(const struct shmt_nvrtc_log *diagnostic,
                              const char *word, size_t length)
{
    for (size_t k = 0; length > 0 && k < diagnostic->option_count; k++) {
        const char *option = diagnostic->options[k];

        if (strncmp(option, "-D", 2) == 0 &&
            strncmp(option + 2, word, length) == 0 &&
            option[2 + length] == '=')
            return option + 2 + length + 1;
    }
    return NULL;
}

/* The word above the caret of the diagnostic that begins at `line`.  Returns
 * its length; 0 when there is none. */
static size_t word_at_caret(const char *line, const char **word)
{
    const char *source = strchr(line, '\n');
    const char *marks = source == NULL ? NULL : strchr(source + 1, '\n');
    size_t column;

    if (marks == NULL)
        return 0;
    column = strspn(++marks, " \t");
    if (marks[column] != '^' || strcspn(++source, "\n") <= column)
        return 0;
    *word = source + column;
    return shmt_text_name_length(*word);
}

/* Whether libcu++ has a device header of that name: <cuda/std/limits> for
 * <limits>. */
static bool has_device_header(const struct shmt_nvrtc_log *diagnostic,
                              const char *name)
{
    char path[1200];

    if (strncmp(diagnostic->libraries, "-I", 2) != 0 ||
        name[shmt_text_name_length(name)] != '\0')
        return false;
    snprintf(path, sizeof path, "%s/cuda/std/%s", diagnostic->libraries + 2,
             name);
    return shmt_path_exists(path);
}

static void advise_header(const struct shmt_nvrtc_log *diagnostic, char *out,
                          size_t room)
{
    static const char mark[] = "open source file \"";
    const char *at = strstr(out, mark);
    const size_t used = strlen(out);
    char name[64] = "";

    if (at != NULL)
        sscanf(at + strlen(mark), "%63[^\"]", name);
    if (name[0] != '\0' && has_device_header(diagnostic, name))
        snprintf(out + used, room - used, "; device code has <cuda/std/%s>; "
                 "keep what is for the host behind #ifndef __CUDACC_RTC__",
                 name);
    else
        snprintf(out + used, room - used, "; name its folder in `includes`, "
                 "or keep what is for the host behind #ifndef "
                 "__CUDACC_RTC__: NVRTC compiles device code alone");
}

/* Appends a remedy to the diagnostic in `out`, if one is known. */
static void advise(const struct shmt_nvrtc_log *diagnostic, const char *line,
                   char *out, size_t room)
{
    const size_t used = strlen(out);
    const char *word = NULL, *value;
    const size_t length = word_at_caret(line, &word);

    if (strstr(out, "cannot open source file") != NULL) {
        advise_header(diagnostic, out, room);
        return;
    }
    if (strstr(out, "not allowed in JIT mode") != NULL ||
        strstr(out, "identifier \"cuda") != NULL) {
        snprintf(out + used, room - used, "; %s",
                 strstr(out, "/thrust/") != NULL || strstr(out, "/cub/") != NULL
                     ? "of CUB include <cub/block/...> or <cub/warp/...>: "
                       "NVRTC has no host code"
                     : "keep what is for the host behind #ifndef "
                       "__CUDACC_RTC__");
        return;
    }
    value = defined_as(diagnostic, word, length);
    /* NVRTC puts the entries into a file of its own, where the value of a
     * parameter may be on the line. */
    if (value != NULL && strncmp(line, "__nv_name_map(", 14) != 0)
        snprintf(out + used, room - used, "; %.*s is a macro there, "
                 "-D%.*s=%s of the spec: give one of the two another name",
                 (int)length, word, (int)length, word, value);
}

void shmt_nvrtc_log_error(const struct shmt_nvrtc_log *diagnostic, char *out,
                          size_t room)
{
    static const char *const marks[] = {"): error", ": error", "error",
                                        "fatal"};
    const char *log = diagnostic->log;
    const int64_t shared = shmt_ptxas_most_shared(log);
    const char *line = NULL;

    out[0] = '\0';
    for (size_t m = 0; line == NULL && m < sizeof marks / sizeof *marks; m++)
        line = strstr(log, marks[m]);
    /* NVRTC gives no error when a kernel has more static shared memory than
     * any device allows; only the ptxas report shows it. */
    if (line == NULL && shared > SHMT_FIT_STATIC_BYTES)
        snprintf(out, room, "%lld bytes of static shared memory, %d is the "
                 "most there can be; above it use dynamic shared memory",
                 (long long)shared, SHMT_FIT_STATIC_BYTES);
    if (line == NULL)
        return;
    while (line > log && line[-1] != '\n')
        line--;
    snprintf(out, room, "%.*s", (int)strcspn(line, "\n"), line);
    advise(diagnostic, line, out, room);
}

bool shmt_nvrtc_log_redefinition(const struct shmt_nvrtc_log *diagnostic,
                                 char *out, size_t room)
{
    static const char mark[] = "redefinition of macro \"";
    const char *line = diagnostic->log;

    while ((line = strstr(line, mark)) != NULL) {
        const char *word = line + strlen(mark);
        const size_t length = shmt_text_name_length(word);
        const char *value = defined_as(diagnostic, word, length);

        if (value != NULL) {
            while (line > diagnostic->log && line[-1] != '\n')
                line--;
            snprintf(out, room, "%.*s: #define %.*s is in the way of the "
                     "spec's %s; put it behind #ifndef %.*s",
                     (int)strcspn(line, ":"), line, (int)length, word, value,
                     (int)length, word);
            return true;
        }
        line = word;
    }
    return false;
}
