/* SPDX-License-Identifier: MIT */
/*
 * complaint: see complaint.h.
 *
 * NVRTC writes a complaint as three lines: FILE(LINE): error: TEXT, the line
 * of the source, and a caret under the place.
 */
#include "gpu/complaint.h"

#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "device/device.h"
#include "gpu/report.h"

/* The value that the options give a word of `length`; NULL: none. */
static const char *defined_as(const struct shmt_complaint *complaint,
                              const char *word, size_t length)
{
    for (size_t k = 0; length > 0 && k < complaint->option_count; k++) {
        const char *option = complaint->options[k];

        if (strncmp(option, "-D", 2) == 0 &&
            strncmp(option + 2, word, length) == 0 &&
            option[2 + length] == '=')
            return option + 2 + length + 1;
    }
    return NULL;
}

/* The word over the caret of the complaint that begins at `line`; its length,
 * 0: there is none. */
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
    return shmt_text_word(*word);
}

/* What libcu++ has for device code under the same name: <limits>. */
static bool has_device_header(const struct shmt_complaint *complaint,
                              const char *name)
{
    char path[1200];

    if (strncmp(complaint->libraries, "-I", 2) != 0 ||
        name[shmt_text_word(name)] != '\0')
        return false;
    snprintf(path, sizeof path, "%s/cuda/std/%s", complaint->libraries + 2,
             name);
    return shmt_path_exists(path);
}

static void advise_header(const struct shmt_complaint *complaint, char *out,
                          size_t room)
{
    static const char mark[] = "open source file \"";
    const char *at = strstr(out, mark);
    const size_t used = strlen(out);
    char name[64] = "";

    if (at != NULL)
        sscanf(at + strlen(mark), "%63[^\"]", name);
    if (name[0] != '\0' && has_device_header(complaint, name))
        snprintf(out + used, room - used, "; device code has <cuda/std/%s>; "
                 "keep what is for the host behind #ifndef __CUDACC_RTC__",
                 name);
    else
        snprintf(out + used, room - used, "; name its folder in `includes`, "
                 "or keep what is for the host behind #ifndef "
                 "__CUDACC_RTC__: NVRTC compiles device code alone");
}

/* Appends what is known to help against the complaint `line` in `out`. */
static void advise(const struct shmt_complaint *complaint, const char *line,
                   char *out, size_t room)
{
    const size_t used = strlen(out);
    const char *word = NULL, *value;
    const size_t length = word_at_caret(line, &word);

    if (strstr(out, "cannot open source file") != NULL) {
        advise_header(complaint, out, room);
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
    value = defined_as(complaint, word, length);
    /* NVRTC's own file holds the entries, where a parameter may stand. */
    if (value != NULL && strncmp(line, "__nv_name_map(", 14) != 0)
        snprintf(out + used, room - used, "; %.*s is a macro there, "
                 "-D%.*s=%s of the spec: give one of the two another name",
                 (int)length, word, (int)length, word, value);
}

void shmt_complaint_error(const struct shmt_complaint *complaint, char *out,
                          size_t room)
{
    static const char *const marks[] = {"): error", ": error", "error",
                                        "fatal"};
    const char *log = complaint->log;
    const int64_t shared = shmt_report_most_shared(log);
    const char *line = NULL;

    out[0] = '\0';
    for (size_t m = 0; line == NULL && m < sizeof marks / sizeof *marks; m++)
        line = strstr(log, marks[m]);
    /* NVRTC says nothing when a kernel has more static shared memory than any
     * device; its report does. */
    if (line == NULL && shared > SHMT_FIT_STATIC_BYTES)
        snprintf(out, room, "%lld bytes of static shared memory, %d is the "
                 "most there can be; above it use dynamic shared memory",
                 (long long)shared, SHMT_FIT_STATIC_BYTES);
    if (line == NULL)
        return;
    while (line > log && line[-1] != '\n')
        line--;
    snprintf(out, room, "%.*s", (int)strcspn(line, "\n"), line);
    advise(complaint, line, out, room);
}

bool shmt_complaint_redefined(const struct shmt_complaint *complaint,
                              char *out, size_t room)
{
    static const char mark[] = "redefinition of macro \"";
    const char *line = complaint->log;

    while ((line = strstr(line, mark)) != NULL) {
        const char *word = line + strlen(mark);
        const size_t length = shmt_text_word(word);
        const char *value = defined_as(complaint, word, length);

        if (value != NULL) {
            while (line > complaint->log && line[-1] != '\n')
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
