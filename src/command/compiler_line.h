/* SPDX-License-Identifier: MIT */
/*
 * compiler_line: what a compiler was told, by the words of its command line, in
 * the parts that a spec has keys for.  For drafts of specs.
 */
#ifndef SHMT_COMMAND_COMPILER_LINE_H
#define SHMT_COMMAND_COMPILER_LINE_H

#include "base/base.h"

struct shmt_compiler_words {
    size_t count;
    const char **items;
};

struct shmt_compiler_line {
    const char *standard;            /* "c++17"; NULL: not said */
    const char *architecture;        /* "sm_90a"; NULL: not said */
    bool fast_math;
    struct shmt_compiler_words includes;     /* folders, absolute */
    struct shmt_compiler_words definitions;  /* "N", "N=4", "N(x)=x" */
    struct shmt_compiler_words before;       /* files of -include */
    struct shmt_compiler_words others;       /* as they are */
};

/* The path as it was named to a compiler that was in `folder`; NULL: where this
 * process is.  NULL: there is no memory. */
const char *shmt_compiler_line_path(struct shmt_arena *arena,
                                    const char *folder, const char *path);

/* Of options as NVRTC and nvcc take them.  `folder`: where the compiler was;
 * NULL: where this process is.  Everything lives in `arena`; the only failure
 * is SHMTUNE_NO_MEMORY. */
enum shmtune_status shmt_compiler_line_read(struct shmt_arena *arena,
                                            const char *folder,
                                            const char *const *words,
                                            size_t count,
                                            struct shmt_compiler_line *out,
                                            struct shmt_error *err);

/* "#define N 4" of "N=4", with its line's end. */
void shmt_compiler_line_define(const char *definition, struct shmt_text *text);

/* Of a command, "nvcc -O3 -I ../include -c main.cu -o main.o", what concerns
 * device code: its options without the program, the files, and what the tuner
 * says itself; those of files of options, too, where these can be read. */
enum shmtune_status shmt_compiler_line_command(struct shmt_arena *arena,
                                               const char *folder,
                                               const char *const *words,
                                               size_t count,
                                               struct shmt_compiler_words *out,
                                               struct shmt_error *err);

/* The words of a text as a shell takes them that looks for nothing but quotes
 * and backslashes. */
enum shmtune_status shmt_compiler_line_split(struct shmt_arena *arena,
                                             const char *text,
                                             struct shmt_compiler_words *out,
                                             struct shmt_error *err);

#endif
