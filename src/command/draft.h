/* SPDX-License-Identifier: MIT */
/*
 * draft: from what the library saw of one launch, SHMT_CAPTURE_LAUNCH, to a
 * spec beside it.  Called by capture.c: draft_read.c reads, draft_source.c
 * finds a source that was not seen, draft_options.c says what the application's
 * compiler was told, draft_parameters.c which numbers may be tuned,
 * draft_host.c what host code says of block and grid, draft_fit.c and
 * draft_problem.c which sizes there are, draft_name.c what things are called,
 * draft_write.c writes the rest, draft_compile.c leaves out what does not
 * compile, draft_rerun.c makes the launch again, and by that draft_decide.c
 * finds out which of several expressions is right, and draft_choice.c which
 * numbers are no choice.
 */
#ifndef SHMT_COMMAND_DRAFT_H
#define SHMT_COMMAND_DRAFT_H

#include "command/command.h"
#include "command/builds.h"
#include "command/compiler_line.h"
#include "record/record.h"
#include "source/source.h"
#include "target/target.h"

/* 8 bytes of a parameter that are an address. */
struct shmt_draft_pointer {
    uint64_t at, memory, offset;       /* bytes */
};

/* A texture object that the application made. */
struct shmt_draft_texture {
    const char *type;                  /* of its elements; NULL: there is none,
                                          or one that a spec has not, */
    const char *other;                 /* and why; NULL: none */
    uint64_t memory;
    size_t rank;
    int64_t extents[3];                /* texels */
    const char *words;                 /* ", filter: linear", of a spec */
};

struct shmt_draft_argument {
    const unsigned char *bytes;
    size_t size, pointer_count;
    const struct shmt_draft_pointer *pointers;
    const char *name;                  /* in the spec */
    /* What the source says of it; NULL: nothing. */
    const struct shmt_signature_parameter *declared;
    bool image, surface;               /* the handle of a texture or surface;
                                          of the latter */
    struct shmt_draft_texture texture;
};

/* An allocation, or a variable of the module. */
struct shmt_draft_memory {
    uint64_t bytes;
    const char *before, *after;        /* files; after is NULL: unchanged */
    const char *symbol;                /* NULL: an allocation */
    const char *kind;                  /* SHMT_CAPTURE_KIND_...; NULL: the
                                          device's */
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
    SHMT_DRAFT_CONSTANT,               /* const int NAME = VALUE; */
    SHMT_DRAFT_BLOCK,                  /* the launch's block alone */
    SHMT_DRAFT_GRID                    /* the launch's grid alone */
};

enum { SHMT_DRAFT_REFUSED = 8, SHMT_DRAFT_WRONG = 8 };

struct shmt_draft_number {
    const char *name;
    int64_t value;
    enum shmt_draft_way way;
    const char *reaches;               /* for people; NULL: nothing */
    int axis;                          /* of a SHMT_DRAFT_BLOCK or _GRID */
    int64_t least, most;               /* no other value is worth a try */
    bool zero;                         /* 0 may be in the place of 1 */
    bool given;                        /* of a SHMT_DRAFT_BLOCK: an argument of
                                          the kernel's template, too */
    size_t refused_count;              /* values that it would have but for the
                                          compiler, */
    int64_t refused[SHMT_DRAFT_REFUSED];
    const char *why;                   /* and what that says of the first */
    size_t wrong_count;                /* it is no choice: values with which the
                                          launch was made again, and gave
                                          another result, */
    int64_t wrong[SHMT_DRAFT_WRONG];
    bool fails;                        /* or broke off with one */
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

enum {
    SHMT_DRAFT_NUMBERS = 48, SHMT_DRAFT_DIMENSIONS = 64,
    SHMT_DRAFT_OPTIONS = 6, SHMT_DRAFT_QUESTIONS = 6, SHMT_DRAFT_ARRAYS = 32
};

/* Expressions of host code for an extent of the grid. */
struct shmt_draft_said {
    size_t count;
    const char *texts[SHMT_DRAFT_OPTIONS];
    int lines[SHMT_DRAFT_OPTIONS];
    const char *files[SHMT_DRAFT_OPTIONS];     /* NULL: another that was named
                                                  */
};

/* An extent that several expressions give, since numbers have the same value:
 * they part where one of those is another.  Of the grid along x, y and z, then
 * of the block. */
enum shmt_draft_answer {
    SHMT_DRAFT_UNTRIED,
    SHMT_DRAFT_FOUND,                  /* it is the one chosen */
    SHMT_DRAFT_SEVERAL,                /* each of those left is as right */
    SHMT_DRAFT_NOTHING                 /* no trial was right */
};
struct shmt_draft_question {
    size_t count;                      /* of options; less than 2: none */
    size_t left;                       /* the first of them, once tried */
    const char *options[SHMT_DRAFT_OPTIONS];
    size_t chosen;
    enum shmt_draft_answer answer;
};

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
    size_t folder_count;               /* of headers, absolute */
    const char *const *folders;
    bool found;                        /* the kernel, in the text or what that
                                          includes, */
    bool overloaded;                   /* and other functions of its name */
    const char *own;                   /* what of both it is made of; all where
                                          it is not found */
    const char *launching;             /* what host code names that launches
                                          it; "": none is known */
    const char *program;               /* what NVRTC was told it is called */
    const char *built;                 /* the compile_commands.json that says
                                          how; NULL: none does */
    const char *compiled_in;           /* folder; NULL: that of this process */
    bool nvcc;                         /* it was found, not seen: absolute, */
    const struct shmt_source_splice *whole;    /* and what it includes is in its
                                                  text */
    const char *image, *headers;       /* NULL: none */
    const char *identity;              /* of its binary, or source; NULL */
    int64_t grid[3], block[3], cluster[3], shared;
    int64_t registers, resident;       /* of a thread, and blocks on a
                                          multiprocessor; 0: not known */
    bool cooperative;
    bool reran;                        /* the launch was made again, */
    bool chosen;                       /* and with other values of numbers */
    struct shmt_compiler_line line;    /* what its compiler was told */
    size_t argument_count, memory_count;
    struct shmt_draft_argument *arguments;
    struct shmt_draft_memory *memories;
    struct shmt_source text;           /* what the source says */
    const struct shmt_signature *signature;        /* NULL: not found */
    size_t arrays_count;               /* what arrays in shared memory take, of
                                          the functions whose do by a number */
    const char *arrays[SHMT_DRAFT_ARRAYS];
    size_t global_count;               /* variables that the source declares */
    const struct shmt_source_global *globals;
    size_t number_count, dimension_count;
    struct shmt_draft_number numbers[SHMT_DRAFT_NUMBERS];
    struct shmt_draft_dimension dimensions[SHMT_DRAFT_DIMENSIONS];
    size_t host_count;                 /* other sources with host code */
    const struct shmt_source *const *hosts;
    const char *said_block[3];         /* by host code; NULL: it does not */
    const char *said_shared;           /* the bytes that the launch is given,
                                          where they follow a number */
    struct shmt_draft_question questions[SHMT_DRAFT_QUESTIONS];
    /* Written with another value of a number, to be tried; NULL: as it is. */
    const struct shmt_draft_number *changed;
    int64_t changed_to;
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

/* The source with what it includes. */
enum shmtune_status shmt_draft_whole(const struct shmt_draft *draft,
                                     const char **out, struct shmt_error *err);
/* The kernel in a source: it has its name, and as many parameters; of several
 * the one whose types are most like those of the symbol; NULL: it is not
 * there. */
const struct shmt_source_kernel *
shmt_draft_kernel_in(const struct shmt_draft *draft,
                     const struct shmt_source *source);

/* What the user says of sources, and where else it is looked up how they are
 * compiled. */
struct shmt_draft_sources {
    const char *const *files;
    size_t count;
    const struct shmt_compiler_line *line;     /* what nvcc was told; NULL: not
                                                  said */
    struct shmt_builds *builds;
};

/* draft_source.c: of a kernel without a source the first of the files, of those
 * that its binary names, or of those that are here, that has it. */
enum shmtune_status
shmt_draft_find_source(struct shmt_draft *draft, const char *folder,
                       const struct shmt_draft_sources *given,
                       struct shmt_error *err);

/* draft_options.c: into `keys`, `definitions`, `numbers`. */
void shmt_draft_options(struct shmt_draft *draft);
/* "BLOCK=256" or "BLOCK": a number that may be tuned, or a definition. */
void shmt_draft_define(struct shmt_draft *draft, const char *definition);
/* "#define BLOCK 256" */
void shmt_draft_add_definition(const struct shmt_draft_number *one,
                               struct shmt_text *text);

/* draft_parameters.c: finds what may be tuned, and writes `parameters`. */
enum shmtune_status shmt_draft_find_numbers(struct shmt_draft *draft,
                                            struct shmt_error *err);
void shmt_draft_parameters(const struct shmt_draft *draft,
                           struct shmt_text *text);
/* Whether its values to try are in force. */
bool shmt_draft_is_proposed(const struct shmt_draft *draft,
                            const struct shmt_draft_number *one);
/* draft_compile.c: finds the values in FOLDER/kernel.yaml that do not compile,
 * or has them of an earlier draft of the kernel, `earlier`, or NULL.  The draft
 * is then to be written again.  A status says why that cannot be done. */
enum shmtune_status shmt_draft_compile(struct shmt_draft *draft,
                                       const struct shmt_draft *earlier,
                                       const char *folder, const char *arch,
                                       double most_s, struct shmt_error *err);
/* Takes them out of the values; how many are left. */
size_t shmt_draft_drop_refused(const struct shmt_draft_number *one,
                               int64_t *values, size_t count);
/* "# ..." lines. */
void shmt_draft_add_refused(const struct shmt_draft_number *one,
                            struct shmt_text *text);
/* For people; false: there are none. */
bool shmt_draft_tell_refused(const struct shmt_draft *draft,
                             struct shmt_text *text);
/* draft_shared.c: into `arrays`, once the numbers are there. */
enum shmtune_status shmt_draft_find_arrays(struct shmt_draft *draft,
                                           struct shmt_error *err);
/* Less than the first power of two, up to four times the number's value, with
 * which arrays are more than there is; INT64_MAX: none. */
int64_t shmt_draft_most_of_arrays(const struct shmt_draft *draft,
                                  const struct shmt_draft_number *one);
/* `constraints`, or nothing. */
void shmt_draft_constraints(const struct shmt_draft *draft,
                            struct shmt_text *text);
/* draft_template.c: whether the kernel's template is given this extent of the
 * block, so that a parameter of that name may be both. */
bool shmt_draft_is_given(const struct shmt_draft *draft, const char *name,
                         int64_t value);
/* The entry with {NAME} of such parameters, and the types by which it is chosen
 * among others of its name; NULL: it was, or no memory. */
const char *shmt_draft_give(const struct shmt_draft *draft, const char *entry);
/* What is to be written in the place of an entry that its symbol does not say,
 * for people. */
const char *shmt_draft_ask_entry(const struct shmt_draft *draft);
/* draft_registers.c: a limit of the registers, where it would let in more
 * blocks. */
void shmt_draft_registers(const struct shmt_draft *draft,
                          struct shmt_text *text);
/* The name of a parameter that is the number of blocks along the axis, which
 * nothing else gives.  NULL: it stays a number. */
const char *shmt_draft_propose_grid(struct shmt_draft *draft, int axis);
/* The parameter, or the expression, that is this extent of the block. */
const char *shmt_draft_block(const struct shmt_draft *draft, int axis);
/* Those that may be, where nothing says which; how many. */
size_t shmt_draft_blocks(const struct shmt_draft *draft, int axis,
                         const char *names[SHMT_DRAFT_OPTIONS]);

/* draft_host.c: what host code says of the block, into `said_block`; and of the
 * grid, which then fits all launches. */
void shmt_draft_find_block(struct shmt_draft *draft);
/* Of the shared memory, into `said_shared`, once the block's numbers are
 * there. */
void shmt_draft_find_shared(struct shmt_draft *draft);
void shmt_draft_said_grid(const struct shmt_draft *draft, int axis,
                          struct shmt_draft_said *out);
/* "as line 12 of the source launches it", the first. */
void shmt_draft_tell_site(const struct shmt_draft *draft,
                          const struct shmt_draft_said *said,
                          struct shmt_text *text);

/* draft_rerun.c: makes the launch of FOLDER/kernel.yaml again, on device 0.
 * The draft is then to be written again.  A status says why that cannot be
 * done. */
enum shmtune_status shmt_draft_rerun(struct shmt_draft *draft,
                                     const char *folder, const char *images,
                                     struct shmt_error *err);
/* Whether the application's results were among those that it then gave. */
bool shmt_draft_gives_the_same(const struct shmt_draft *draft);
/* A launch to be made again, and what came of it the last time. */
struct shmt_draft_again {
    struct shmt_kernel *kernel;         /* the caller frees it */
    struct shmt_live_rerun request;
    struct shmt_live_reran *reran;
};
/* That of a spec in the folder. */
enum shmtune_status shmt_draft_read_again(const struct shmt_draft *draft,
                                          const char *folder, const char *name,
                                          const char *images,
                                          struct shmt_draft_again *out,
                                          struct shmt_error *err);
/* Makes it, and compares with what the application got, as far as the launch
 * itself gives that. */
enum shmt_draft_outcome {
    SHMT_DRAFT_UNKNOWN,                 /* it was not launched, or did not
                                           end */
    SHMT_DRAFT_OTHER,                   /* it is not that, or crashed */
    SHMT_DRAFT_NEAR,                    /* it may be that but for rounding */
    SHMT_DRAFT_RIGHT
};
enum shmtune_status shmt_draft_try(struct shmt_draft *draft,
                                   const struct shmt_draft_again *again,
                                   enum shmt_draft_outcome *out,
                                   struct shmt_error *err);
/* What was found of it, for people. */
void shmt_draft_tell_rerun(const struct shmt_draft *draft,
                           struct shmt_text *text);
/* Nothing of what it held before is read, and all that is compared written. */
bool shmt_draft_is_output(const struct shmt_draft_memory *memory);
/* What it is left as varies from launch to launch, by more than rounding, so
 * that nothing of it can be compared. */
bool shmt_draft_is_unsteady(const struct shmt_draft_memory *memory);
/* Whether something that the launch changed can be compared. */
bool shmt_draft_is_verified(const struct shmt_draft *draft);
/* ", tolerance: {...}" of reals, and comments. */
void shmt_draft_add_tolerance(const struct shmt_draft_memory *memory,
                              struct shmt_text *text);
void shmt_draft_add_findings(const struct shmt_draft *draft,
                             const struct shmt_draft_memory *memory,
                             struct shmt_text *text);

/* draft_decide.c: tries what the questions ask, unless an earlier draft of the
 * kernel has the answers: `earlier`, or NULL. */
enum shmtune_status shmt_draft_decide(struct shmt_draft *draft,
                                      const struct shmt_draft *earlier,
                                      const char *folder, const char *images,
                                      struct shmt_error *err);
/* "# ..." lines of one that has options. */
void shmt_draft_add_question(const struct shmt_draft *draft, size_t question,
                             struct shmt_text *text);
/* What was found, for people. */
void shmt_draft_tell_decided(const struct shmt_draft *draft,
                             struct shmt_text *text);

/* draft_choice.c: makes the launch again with other values of each number that
 * is proposed, and finds those that are no choice, or has them of an earlier
 * draft of the kernel, `earlier`, or NULL.  The draft is then to be written
 * again. */
enum shmtune_status shmt_draft_choose(struct shmt_draft *draft,
                                      const struct shmt_draft *earlier,
                                      const char *folder, const char *images,
                                      struct shmt_error *err);
/* "# ..." lines. */
void shmt_draft_add_choice(const struct shmt_draft_number *one,
                           struct shmt_text *text);
/* For people. */
void shmt_draft_tell_choices(const struct shmt_draft *draft,
                             struct shmt_text *text);

/* draft_fit.c: what is a size, for this launch and the others of the kernel. */
void shmt_draft_find_dimensions(struct shmt_draft *draft);
/* The `count` of a memory, the `grid` with its comments. */
void shmt_draft_add_count(struct shmt_draft *draft, size_t memory,
                          struct shmt_text *text);
void shmt_draft_add_grid(struct shmt_draft *draft, struct shmt_text *text);
/* An extent of the argument's texture: a dimension that has its value in all
 * launches, or the number. */
void shmt_draft_add_extent(struct shmt_draft *draft, size_t argument,
                           size_t axis, struct shmt_text *text);
/* All captured launches of the kernel, this one alone where none were
 * gathered. */
size_t shmt_draft_launches(const struct shmt_draft *draft);
const struct shmt_draft *shmt_draft_launch(const struct shmt_draft *draft,
                                           size_t k);
/* Of a dimension, 0: it has no value, and of a number in a launch. */
int64_t shmt_draft_size(const struct shmt_draft *draft,
                        const struct shmt_draft_dimension *one,
                        const struct shmt_draft *launch);
int64_t shmt_draft_value(const struct shmt_draft_number *one,
                         const struct shmt_draft *launch);
/* Extents that are 1 at the end need not be said. */
int shmt_draft_axes(const int64_t extents[3]);

/* draft_problem.c: `problem`, with the sizes that were captured. */
void shmt_draft_add_problem(const struct shmt_draft *draft,
                            struct shmt_text *text);

/* draft_expression.c: what an expression comes to for this launch, with a
 * number of another value unless `changed` is NULL; false: it has no value, or
 * is none. */
bool shmt_draft_evaluate(const struct shmt_draft *draft, const char *text,
                         const struct shmt_draft_number *changed, int64_t to,
                         int64_t *out);
/* Of how many of the captured launches it gives the grid. */
size_t shmt_draft_fits(const struct shmt_draft *draft, const char *text,
                       int axis);
/* Neither a size nor a number is in it. */
bool shmt_draft_is_constant(const struct shmt_draft *draft, const char *text);
/* An expression, in quotes where it is no word. */
void shmt_draft_add_expression(const char *expression,
                               struct shmt_text *text);

/* draft_read.c: a pointer, and no struct with one in it; NULL: neither. */
const struct shmt_draft_pointer *
shmt_draft_plain_pointer(const struct shmt_draft_argument *one);
bool shmt_draft_is_integer(const struct shmt_draft_argument *one);
int64_t shmt_draft_integer(const struct shmt_draft_argument *one);
/* Whether two are launches of one kernel of one binary. */
bool shmt_draft_is_of_one(const struct shmt_draft *one,
                          const struct shmt_draft *other);

/* draft_source.c: of the files those, but the kernel's own, that may have host
 * code. */
enum shmtune_status shmt_draft_find_hosts(struct shmt_draft *draft,
                                          const char *const *files,
                                          size_t count,
                                          struct shmt_error *err);

/* What is written where a number has another value. */
#define SHMT_DRAFT_TRIAL "trial.yaml"

/* draft_name.c: as the source calls them, where a spec may; of memories one
 * after the other, behind the arguments.  False: no memory. */
bool shmt_draft_name_arguments(struct shmt_draft *draft);
bool shmt_draft_name_memory(struct shmt_draft *draft, size_t m);

/* draft_write.c: which of the buffers are not the device's own in the
 * application, for people; a line for each kind. */
void shmt_draft_tell_kinds(const struct shmt_draft *draft,
                           struct shmt_text *text);
/* The spec; FOLDER/defines.cu beside it where it needs one. */
enum shmtune_status shmt_draft_write(struct shmt_draft *draft,
                                     const char *folder,
                                     struct shmt_error *err);

#endif
