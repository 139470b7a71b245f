/* SPDX-License-Identifier: MIT */
/*
 * builds: the commands that compile sources, of the compile_commands.json of a
 * project, a "JSON compilation database" of Clang.  Called by init_build.c and
 * draft_source.c.
 */
#ifndef SHMT_COMMAND_BUILDS_H
#define SHMT_COMMAND_BUILDS_H

#include "command/compiler_line.h"

/* The lists that were read, each once.  Starts as {.arena}, in which all that
 * is found is kept. */
struct shmt_builds {
    struct shmt_arena *arena;
    struct shmt_builds_list *lists;
    size_t count, room;
};

/* A command, and the folder in which it is used. */
struct shmt_builds_entry {
    struct shmt_compiler_words words;
    const char *folder;        /* NULL: that of this process */
    const char *list;          /* the file that has it; NULL: none has */
    bool exact;                /* it compiles the source, and no neighbour */
};

/* A file that is compiled, by its name. */
bool shmt_builds_is_unit(const char *path);

void shmt_builds_free(struct shmt_builds *builds);

/* That of the source, of the list that is nearest: in its folder and those
 * above it, and in their build/.  Else one whose file includes the source, or
 * the first of its folder.  Of one that is damaged a note is told. */
enum shmtune_status shmt_builds_find(struct shmt_builds *builds,
                                     const char *path,
                                     struct shmt_builds_entry *out,
                                     struct shmt_error *err);

/* The files of CUDA that the list which is nearest to this folder has; none
 * where there is no list. */
enum shmtune_status shmt_builds_sources(struct shmt_builds *builds,
                                        const char *folder,
                                        struct shmt_compiler_words *out,
                                        struct shmt_error *err);

/* Its options, without the toolkit's folders, and those that are not there. */
enum shmtune_status shmt_builds_line(struct shmt_arena *arena,
                                     const struct shmt_builds_entry *build,
                                     struct shmt_compiler_line *out,
                                     struct shmt_error *err);

/* *out: the file of the command that includes the source, which then is
 * compiled with it; NULL: none, or the source itself. */
enum shmtune_status shmt_builds_compiled(struct shmt_arena *arena,
                                         const struct shmt_builds_entry *build,
                                         const char *path, const char **out,
                                         struct shmt_error *err);

#endif
