/* SPDX-License-Identifier: MIT */
/*
 * init: what init.c shares with init_write.c, and with the drafts of captured
 * launches.
 */
#ifndef SHMT_COMMAND_INIT_H
#define SHMT_COMMAND_INIT_H

#include "command/command.h"
#include "command/compiler_line.h"
#include "source/source.h"

/* A macro that may be given another value. */
struct shmt_init_macro {
    const char *name, *value;
    const char *reaches;              /* what makes it one; NULL: it is behind
                                         #ifndef */
    bool given;                       /* by the command that builds it; else,
                                         if it reaches, a plain definition, */
    bool constant;                    /* or a constant, */
    bool undeclared;                  /* or nothing: the value is a guess, */
    enum shmt_source_reach reach;     /* by where it is, if it multiplies no
                                         index */
    int64_t most;                     /* as an extent of the block, too */
};

/* A dimension of the problem. */
struct shmt_init_dimension {
    const char *name, *from;          /* what the host calls it */
    const char *value;                /* NULL: the source has none */
};

/* An extent of the block that is a parameter: a number, or what the caller of
 * the host's function says. */
struct shmt_init_threads {
    const char *name, *from;          /* the host's name for it; NULL: none */
    int64_t value;
    int axis;
    bool is_open;                     /* the caller says it */
    bool is_macro;                    /* the source needs it when compiled */
    size_t instance;                  /* the template is given it, too, as
                                         parameter so many; 0: it is not */
};

/* What the host's code says of an argument; NULL: nothing. */
struct shmt_init_said {
    const char *count, *value;
};

/* What a draft is made from. */
struct shmt_init_draft {
    struct shmt_arena *arena;
    const char *path;                 /* of the source, as the spec names it */
    const char *spec_folder;          /* absolute */
    struct shmt_compiler_line line;   /* how the source is built */
    const char *built;                /* the file that says so; NULL: none */
    const char *compiled;             /* another file, which includes the
                                         source; NULL: none */
    bool lacks;                       /* of what it includes something is not
                                         there */
    const char *text;                 /* of the source, with what it includes,
                                         and of the file that launches it */
    const char *own;                  /* without the latter */
    struct shmt_source source;        /* what it says */
    struct shmt_source file;          /* what the file alone says */
    const struct shmt_source_kernel *kernel;
    bool overloaded;                  /* other functions have its name */
    const char *parts;                /* what of the text the kernel is made
                                         of, and what the host's code names
                                         that launches it */
    const char *launching;
    bool asks_block;                  /* they ask how large a block is */
    const struct shmt_source_kernel *reference;  /* NULL: none looks like it */
    const struct shmt_source_launch *launch;     /* NULL: there is none */
    struct shmt_signature signature;  /* of the kernel, types by their names */
    size_t declared_count;            /* structures of the text */
    const struct shmt_source_structure *declared;
    const struct shmt_source_structure **structures;   /* what a parameter is,
                                         or points to; NULL: none that is
                                         known */
    const char *const *instance;      /* what its template is given; NULL for
                                         what is not known */
    const char *hosted;               /* what no device code has; NULL: none */
    const char *gnu;                  /* what no compiler of device code alone
                                         takes; NULL: none */
    size_t macro_count, macro_room;
    struct shmt_init_macro *macros;
    size_t global_count;              /* variables that the kernel uses, too */
    const struct shmt_source_global *globals;
    size_t dimension_count;
    struct shmt_init_dimension dimensions[SHMT_KERNEL_DIMENSIONS];
    size_t thread_count;
    struct shmt_init_threads threads[3];
    const char *grid, *block, *shared;   /* as expressions; NULL: not said */
    const char *extents[3];           /* of the block; NULL: not said */
    size_t array_count;               /* what arrays in shared memory take, in
                                         parameters */
    const char **arrays;
    struct shmt_init_said *said;      /* one for each argument */
};

/* init_build.c: draft->line, from the words of a command, or, where there are
 * none, from a compile_commands.json that has the source. */
enum shmtune_status shmt_init_find_build(struct shmt_init_draft *draft,
                                         const char *path,
                                         const char *const *words,
                                         size_t count,
                                         struct shmt_error *err);
/* What -D gives the macro; NULL: it does not. */
const char *shmt_init_given(const struct shmt_init_draft *draft,
                            const char *name);
/* As directives. */
void shmt_init_add_definitions(const struct shmt_init_draft *draft,
                               struct shmt_text *text);
/* As keys of the spec, but for what is a parameter. */
void shmt_init_add_build(const struct shmt_init_draft *draft,
                         struct shmt_text *text);

/* init_read.c: the text of a source with those of the files that it includes in
 * quotes, as far as they are there, behind the macros that it is built with. */
enum shmtune_status shmt_init_read(struct shmt_init_draft *draft,
                                   const char *path, struct shmt_error *err);
/* Of a source that is compiled with another file: that, which then is the
 * source. */
enum shmtune_status shmt_init_read_compiled(struct shmt_init_draft *draft,
                                            const char *path,
                                            struct shmt_error *err);
/* Of a kernel that is launched elsewhere: a file beside the source that does,
 * behind its text. */
enum shmtune_status shmt_init_read_launch(struct shmt_init_draft *draft,
                                          const char *path,
                                          struct shmt_error *err);
/* init_type.c: the types of the kernel's parameters, its instance, and what of
 * the source needs a compiler of the host. */
enum shmtune_status shmt_init_find_types(struct shmt_init_draft *draft,
                                         struct shmt_error *err);
/* The structure of that name, "Particle"; NULL: none that is known. */
const struct shmt_source_structure *
shmt_init_structure(const struct shmt_init_draft *draft, const char *name);
/* The kernel's name, with what its template is given; NULL: that is not
 * known. */
const char *shmt_init_entry(const struct shmt_init_draft *draft);
/* init_plan.c: dimensions, block and grid, counts and values, from the host's
 * code. */
enum shmtune_status shmt_init_plan(struct shmt_init_draft *draft,
                                   struct shmt_error *err);

/* Whether the name has one of the words, whatever its letters' case; NULL is
 * behind the last. */
bool shmt_init_has_word(const char *name, const char *const *words);
/* init_guess.c: where nobody launches the kernel, its block, and values of what
 * nobody declares; then its grid. */
enum shmtune_status shmt_init_guess_block(struct shmt_init_draft *draft,
                                          struct shmt_error *err);
enum shmtune_status shmt_init_guess_grid(struct shmt_init_draft *draft,
                                         struct shmt_error *err);
/* The threads of the reference's block, `blockIdx.x * 256`; NULL: nobody
 * knows. */
const char *shmt_init_guess_reference(const struct shmt_init_draft *draft);
/* init_macro.c: once the rest is known. */
enum shmtune_status shmt_init_find_macros(struct shmt_init_draft *draft,
                                          struct shmt_error *err);
/* Behind a product, `* NAME`: where the factor is; *length 0: it is no name or
 * number.  NULL: the product ends.  And before one, `NAME * `. */
const char *shmt_init_factor(const char *at, size_t *length);
const char *shmt_init_factor_before(const char *text, const char *at,
                                    size_t *length);
/* Whether it is one of them; no name is none. */
bool shmt_init_is_macro(const struct shmt_init_draft *draft, const char *name);
/* A `constexpr int NAME = 32;` that would be one of them as a macro behind
 * #ifndef; NULL: none. */
const char *shmt_init_constant(const struct shmt_init_draft *draft);

/* init_limit.c: what parameters may not come to together. */
enum { SHMT_INIT_SHARED = 48 * 1024, SHMT_INIT_BLOCK = 1024 };
struct shmt_init_limits {
    size_t count;
    const char *const *names;         /* of parameters with several values */
    const char *extents[3];           /* of the block; NULL behind the last */
    int64_t threads, most;            /* of it, as it is; 0: not known; and as
                                         it may be */
    size_t array_count;
    const char *const *arrays;        /* what they take */
};
/* As the key of a spec, where there is one. */
void shmt_init_add_limits(const struct shmt_init_limits *limits,
                          struct shmt_text *text);
/* Threads of a block, as far as the launch bounds of the text go. */
int64_t shmt_init_most_threads(const char *parts);
/* Of a type that is not known: no less.  For struct shmt_source_names. */
size_t shmt_init_least_bytes(const void *context, const char *type);

/* init_shared.c: which arrays in shared memory parameters make, and how large
 * each may be, alone. */
enum shmtune_status shmt_init_find_arrays(struct shmt_init_draft *draft,
                                          struct shmt_error *err);
/* What several of them may not come to together, as the key of a spec. */
void shmt_init_add_constraints(const struct shmt_init_draft *draft,
                               struct shmt_text *text);

/* init_global.c: whether the kernel uses one that nobody else gives a value, or
 * writes it. */
bool shmt_init_global(const struct shmt_source_global *global);
/* Those of them as arguments of the spec. */
void shmt_init_add_globals(const struct shmt_init_draft *draft,
                           struct shmt_text *text);
/* A mark, in quotes. */
void shmt_init_mark(struct shmt_text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* "type: f32"; ", tolerance: " with a mark, where elements are reals. */
void shmt_init_add_type(const struct shmt_signature_parameter *parameter,
                        struct shmt_text *text);
void shmt_init_add_tolerance(const struct shmt_signature_parameter *parameter,
                             struct shmt_text *text);

/* Of an array, by what the text does with it, "inout"; NULL: it does not
 * say. */
const char *
shmt_init_role(const struct shmt_init_draft *draft,
               const struct shmt_signature_parameter *parameter);
/* Writes the spec, with a mark for all that is not known. */
void shmt_init_write(const struct shmt_init_draft *draft,
                     struct shmt_text *text);
/* Powers of two around the value, from `least` to `most`, and the value; how
 * many.  `zero`: 0 may be in the place of 1. */
enum { SHMT_INIT_VALUES = 8 };
size_t shmt_init_values(int64_t value, int64_t least, int64_t most, bool zero,
                        int64_t out[SHMT_INIT_VALUES]);
/* "[1, 2, 4], default: 2" */
void shmt_init_add_values(const int64_t *values, size_t count, int64_t value,
                          struct shmt_text *text);

/* init_expr.c: the dimension of that name; NULL: there is none. */
const struct shmt_init_dimension *
shmt_init_dimension(const struct shmt_init_draft *draft, const char *name,
                    size_t length);
/* What C code of the host says as an expression of a spec, with
 * the names that the spec has; NULL: it cannot be said. */
const char *shmt_init_expr(const struct shmt_init_draft *draft,
                           const char *code);
/* The same of a grid or a block along an axis.  Names that the source gives no
 * value become dimensions of the problem, or, with `threads`, a parameter. */
const char *shmt_init_extent(struct shmt_init_draft *draft, const char *code,
                             int axis, bool threads);
/* What a parameter of the function that launches is given where it is called;
 * NULL: it is none. */
const char *shmt_init_called(const struct shmt_init_draft *draft,
                             const char *name);
/* `argc > 1 ? atoi(argv[1]) : 4096`: what stands at the end of the name's
 * value; NULL: it has none. */
const char *shmt_init_otherwise(const struct shmt_init_draft *draft,
                                const char *name);
/* init_type.c: what a type of the host's own template is where that is called,
 * or the type itself. */
const char *shmt_init_resolved(const struct shmt_init_draft *draft,
                               const char *type);
/* What the host makes room for under the name of argument k of the launch;
 * NULL: it is not found. */
const struct shmt_source_allocation *
shmt_init_allocation(const struct shmt_init_draft *draft, size_t k);
/* The elements of that, as an expression; NULL: they cannot be said. */
const char *shmt_init_count(struct shmt_init_draft *draft, size_t k);
/* The whole number that a macro is; false: it is something else. */
bool shmt_init_number(const char *value, int64_t *out);
/* init_texture.c: whether the parameter is a texture, or a surface: types that
 * are numbers to a compiler. */
bool shmt_init_is_texture(const struct shmt_signature_parameter *declared);
bool shmt_init_is_surface(const struct shmt_signature_parameter *declared);
/* The lines of the texture and of its data, with marks. */
void shmt_init_add_texture(const struct shmt_init_draft *draft,
                           const char *name, struct shmt_text *text);
/* Whether the parameter can be the size of a problem. */
bool shmt_init_is_dimension(const struct shmt_signature_parameter *parameter);

#endif
