/* SPDX-License-Identifier: MIT */
/*
 * draft: from what the library saw of one launch, SHMT_CAPTURE_LAUNCH, to a
 * spec beside it.  Called by capture.c: draft_read.c reads, draft_source.c
 * finds a source that was not seen, draft_options.c says what the application's
 * compiler was told, draft_parameters.c which numbers may be tuned, draft_fit.c
 * which sizes there are, draft_write.c writes the rest, and draft_rerun.c makes
 * the launch again.
 */
#ifndef SHMT_COMMAND_DRAFT_H
#define SHMT_COMMAND_DRAFT_H

#include "command/command.h"
#include "record/record.h"
#include "source/source.h"
#include "target/target.h"

/* 8 bytes of a parameter that are an address. */
struct shmt_draft_pointer {
    uint64_t at, memory, offset;       /* bytes */
};

struct shmt_draft_argument {
    const unsigned char *bytes;
    size_t size, pointer_count;
    const struct shmt_draft_pointer *pointers;
    const char *name;                  /* in the spec */
    /* What the source says of it; NULL: nothing. */
    const struct shmt_signature_parameter *declared;
};

/* An allocation, or a variable of the module. */
struct shmt_draft_memory {
    uint64_t bytes;
    const char *before, *after;        /* files; after is NULL: unchanged */
    const char *symbol;                /* NULL: an allocation */
    uint64_t address;                  /* other memories have it; 0: none */
    uint64_t changed[2];               /* bytes, multiples of eight */
    const char *nan[4];                /* types of which it then has a NaN */
    size_t nan_count;
    /* What it is in the spec. */
    const char *name;
    enum shmt_element element;
    bool constant;                     /* no parameter may write it */
    /* What it is left as when the launch is made again; with other contents
     * before, where that was tried. */
    struct shmt_rerun_buffer plain, poisoned;
    bool tried;
    const char *failed;                /* NULL: it did not fail then */
};

/* A number that may be tuned. */
enum shmt_draft_way {
    SHMT_DRAFT_OPTION,                 /* -DNAME=VALUE of the application */
    SHMT_DRAFT_GUARDED,                /* #ifndef NAME */
    SHMT_DRAFT_PLAIN,                  /* #define NAME VALUE */
    SHMT_DRAFT_BLOCK,                  /* the launch's block alone */
    SHMT_DRAFT_GRID                    /* the launch's grid alone */
};

struct shmt_draft_number {
    const char *name;
    int64_t value;
    enum shmt_draft_way way;
    const char *reaches;               /* for people; NULL: nothing */
    int axis;                          /* of a SHMT_DRAFT_BLOCK or _GRID */
    int64_t most;                      /* no larger value is worth a try */
};

/* What sizes are made of: a whole number among the arguments; or how many
 * elements the buffer has that an argument points to, all, or for each of a
 * number of the arguments. */
struct shmt_draft_dimension {
    const char *name;
    int64_t value;
    bool used, elements;
    size_t argument;
    int64_t over;                      /* an argument; -1: none */
};

enum { SHMT_DRAFT_NUMBERS = 48, SHMT_DRAFT_DIMENSIONS = 64 };

struct shmt_draft {
    struct shmt_arena *arena;
    const char *path;                  /* of SHMT_CAPTURE_LAUNCH */
    const char *folder;                /* the last of its names, and the
                                          name of the spec, whose tunings are
                                          its own */
    /* All captured launches of the kernel, this one among them, in their
     * order; NULL: it alone. */
    const struct shmt_draft *const *launches;
    size_t launch_count;
    bool propose;                      /* --propose: what may be tuned is */
    const char *symbol, *name;         /* the kernel's; "scale" of _Z5scalePf */
    const char *expression;            /* NULL: none */
    const char *source, *code;         /* the file and its text; NULL: none */
    bool nvcc;                         /* it was found, not seen: absolute */
    const char *image, *headers;       /* NULL: none */
    const char *identity;              /* of its binary, or source; NULL */
    int64_t grid[3], block[3], cluster[3], shared;
    int64_t registers, resident;       /* of a thread, and blocks on a
                                          multiprocessor; 0: not known */
    bool cooperative;
    bool reran;                        /* the launch was made again */
    size_t option_count, argument_count, memory_count;
    const char *const *options;
    struct shmt_draft_argument *arguments;
    struct shmt_draft_memory *memories;
    struct shmt_source text;           /* what the source says */
    const struct shmt_signature *signature;        /* NULL: not found */
    size_t number_count, dimension_count;
    struct shmt_draft_number numbers[SHMT_DRAFT_NUMBERS];
    struct shmt_draft_dimension dimensions[SHMT_DRAFT_DIMENSIONS];
    struct shmt_text definitions;      /* text before the source */
    struct shmt_text notes;            /* "# ..." lines: what was left out */
    struct shmt_text keys;             /* `includes`, `options`, ... */
};

/* draft_read.c: reads FOLDER/launch.yaml.  Everything lives in the arena. */
enum shmtune_status shmt_draft_read(struct shmt_draft *draft,
                                    const char *folder,
                                    struct shmt_error *err);
/* The kernel's parameters, from the source and what was defined before it. */
enum shmtune_status shmt_draft_find_kernel(struct shmt_draft *draft,
                                           struct shmt_error *err);
/* As shmt_capture_plain_name. */
const char *shmt_draft_plain_name(struct shmt_arena *arena,
                                  const char *symbol);

/* The parameters of the kernel in a source: it has its name, and as many of
 * them; NULL: it is not there. */
const struct shmt_signature *
shmt_draft_signature_in(const struct shmt_draft *draft,
                        const struct shmt_source *source);

/* draft_source.c: of a kernel without a source the first of the files, or of
 * those that its binary names, that has it. */
enum shmtune_status shmt_draft_find_source(struct shmt_draft *draft,
                                           const char *folder,
                                           const char *const *files,
                                           size_t count,
                                           struct shmt_error *err);

/* draft_options.c: into `keys`, `definitions`, `numbers`. */
void shmt_draft_options(struct shmt_draft *draft);
/* "BLOCK=256" or "BLOCK": a number that may be tuned, or a definition. */
void shmt_draft_define(struct shmt_draft *draft, const char *definition);

/* draft_parameters.c: finds what may be tuned, and writes `parameters`. */
enum shmtune_status shmt_draft_find_numbers(struct shmt_draft *draft,
                                            struct shmt_error *err);
void shmt_draft_parameters(const struct shmt_draft *draft,
                           struct shmt_text *text);
/* draft_registers.c: a limit of the registers, where it would let in more
 * blocks. */
void shmt_draft_registers(const struct shmt_draft *draft,
                          struct shmt_text *text);
/* The name of a parameter that is the number of blocks along the axis, which
 * nothing else gives.  NULL: it stays a number. */
const char *shmt_draft_propose_grid(struct shmt_draft *draft, int axis);
/* The name of the parameter that is this extent of the block. */
const char *shmt_draft_block(const struct shmt_draft *draft, int axis);

/* draft_rerun.c: makes the launch of FOLDER/kernel.yaml again, on device 0.
 * The draft is then to be written again.  A status says why that cannot be
 * done. */
enum shmtune_status shmt_draft_rerun(struct shmt_draft *draft,
                                     const char *folder, const char *images,
                                     struct shmt_error *err);
/* What was found of it, for people. */
void shmt_draft_tell_rerun(const struct shmt_draft *draft,
                           struct shmt_text *text);
/* Nothing of what it held before is read, and all that is compared written. */
bool shmt_draft_is_output(const struct shmt_draft_memory *memory);
/* ", tolerance: {...}" of reals, and comments. */
void shmt_draft_add_tolerance(const struct shmt_draft_memory *memory,
                              struct shmt_text *text);
void shmt_draft_add_findings(const struct shmt_draft *draft,
                             const struct shmt_draft_memory *memory,
                             struct shmt_text *text);

/* draft_fit.c: what is a size, for this launch and the others of the kernel. */
void shmt_draft_find_dimensions(struct shmt_draft *draft);
/* The `count` of a memory, the `grid` with its comments, `problem`. */
void shmt_draft_add_count(struct shmt_draft *draft, size_t memory,
                          struct shmt_text *text);
void shmt_draft_add_grid(struct shmt_draft *draft, struct shmt_text *text);
void shmt_draft_add_problem(const struct shmt_draft *draft,
                            struct shmt_text *text);
/* Extents that are 1 at the end need not be said. */
int shmt_draft_axes(const int64_t extents[3]);

/* draft_read.c: a pointer, and no struct with one in it; NULL: neither. */
const struct shmt_draft_pointer *
shmt_draft_plain_pointer(const struct shmt_draft_argument *one);
bool shmt_draft_is_integer(const struct shmt_draft_argument *one);
int64_t shmt_draft_integer(const struct shmt_draft_argument *one);
/* Whether two are launches of one kernel of one binary. */
bool shmt_draft_is_of_one(const struct shmt_draft *one,
                          const struct shmt_draft *other);

/* draft_write.c: the spec; FOLDER/defines.cu beside it where it needs one. */
enum shmtune_status shmt_draft_write(struct shmt_draft *draft,
                                     const char *folder,
                                     struct shmt_error *err);

#endif
