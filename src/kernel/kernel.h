/* SPDX-License-Identifier: MIT */
/*
 * kernel: a kernel spec (kernel/2) as read from its file, and a configuration
 * of it, evaluated for one problem: constraints, geometry and bytes of the
 * launches, counts of the arguments, definitions for the compiler, and which
 * binary it needs.
 *
 * Specs are trusted like a Makefile.
 */
#ifndef SHMT_KERNEL_H
#define SHMT_KERNEL_H

#include "base/base.h"
#include "expr/expr.h"
#include "kernel/catalogue.h"
#include "kernel/element.h"
#include "space/space.h"

enum {
    SHMT_KERNEL_DIMENSIONS = 8,
    SHMT_KERNEL_ARGUMENTS = 256,
    SHMT_KERNEL_LAUNCHES = 64,
    SHMT_KERNEL_ENTRY = 512,       /* bytes */
    SHMT_KERNEL_DERIVED = 32,
    SHMT_KERNEL_VARIABLES = 64,
    SHMT_FILL_EXTENTS = 8,
    /* what the arguments of one launch may take; compilers before CUDA 12.1,
       and those for devices before 7.0, refuse more than 4096 */
    SHMT_KERNEL_ARGUMENT_BYTES = 32764,
    /* the most a scope can have */
    SHMT_KERNEL_SYMBOLS = SHMT_KERNEL_DIMENSIONS + SHMT_SPACE_PARAMETERS
};

enum shmt_role {
    SHMT_ROLE_INPUT,
    SHMT_ROLE_OUTPUT,
    SHMT_ROLE_INOUT,      /* restored before every launch, untimed */
    SHMT_ROLE_WORKSPACE,  /* nobody reads its contents afterwards */
    SHMT_ROLE_VALUE,      /* an array passed by value: the kernel's parameter
                             is a struct of `count` elements, in the constant
                             bank of the launch */
    SHMT_ROLE_SYMBOL,     /* a __constant__ or __device__ variable of the
                             source that is read: no launch is passed it */
    SHMT_ROLE_POINTER,    /* to the buffer of another argument, or null */
    SHMT_ROLE_STRUCT,     /* passed by value: numbers and such pointers */
    SHMT_ROLE_TENSOR_MAP, /* passed by value: how boxes of another argument's
                             buffer are copied (TMA) */
    SHMT_ROLE_TEXTURE,    /* the handle of a texture object of another
                             argument's buffer, or of a copy of it */
    SHMT_ROLE_SCALAR
};
const char *shmt_role_word(enum shmt_role role);
/* Whether nothing may change what a buffer of this role holds. */
bool shmt_role_is_read(enum shmt_role role);
/* Whether a launch is passed the address of memory of the device. */
bool shmt_role_is_buffer(enum shmt_role role);

/* What of an architecture's features the source may use.  A binary with more
 * than the portable ones runs on devices of its architecture, or of its family,
 * alone. */
enum shmt_features {
    SHMT_FEATURES_PORTABLE,      /* sm_90 */
    SHMT_FEATURES_FAMILY,        /* sm_100f where there is one */
    SHMT_FEATURES_ARCHITECTURE   /* sm_90a where there is one */
};

/* X(NAME): what inputs, in-outs and arrays by value are filled with.
 * data/pattern.h has the formulas; a ramp of `fill: ramp` begins anew where its
 * type ends, one with numbers of its own, STEPS, has to fit it. */
#define SHMT_FILL_LIST(X)                                                    \
    X(UNIFORM)                                                               \
    X(ZERO)                                                                  \
    X(RAMP)                                                                  \
    X(CONSTANT)                                                              \
    X(STEPS)                                                                 \
    X(NORMAL)                                                                \
    X(SORTED)                                                                \
    X(PERMUTATION)                                                           \
    X(ROW_POINTERS)                                                          \
    X(FILE)                                                                  \
    X(SETUP)

enum shmt_fill {
#define SHMT_FILL_ENUM(name) SHMT_FILL_##name,
    SHMT_FILL_LIST(SHMT_FILL_ENUM)
#undef SHMT_FILL_ENUM
    SHMT_FILL_COUNT
};

/* How far an element a may be from b, which is expected: it is right when
 *   |a - b| <= absolute + relative |b| + maximum max|b| + norm rms(b),
 * or when it is at most `ulp` numbers of its type away; max and rms (the root
 * of the mean square) are those of all that is expected.  tolerance.c has what
 * follows from it. */
struct shmt_tolerance {
    double absolute, relative, maximum, norm;
    uint64_t ulp;                  /* of reals alone */
    uint64_t mismatches;           /* so many elements may be wrong, */
    double mismatch_share;         /* or this share of all */
    bool stated;                   /* the spec says something of it */
    struct shmt_place place;       /* in the spec; of the argument when it
                                      states none */
};

#define SHMT_ARGUMENT_NONE SIZE_MAX

enum {
    SHMT_ARGUMENT_RANK = 5,            /* of a tensor map, at most */
    SHMT_ARGUMENT_NUMBERS = 3 * SHMT_ARGUMENT_RANK + 3,
    SHMT_ARGUMENT_MAP_BYTES = 128,
    SHMT_ARGUMENT_MAP_ALIGNMENT = 64
};

/* A texture: what the spec says of it, and its sizes at a problem. */
enum shmt_argument_memory {
    SHMT_ARGUMENT_LINEAR,      /* the buffer itself, */
    SHMT_ARGUMENT_PITCH,       /* with rows so many bytes apart */
    SHMT_ARGUMENT_ARRAY        /* a CUDA array with a copy of an input */
};
enum shmt_argument_address {   /* numbered as CUaddress_mode is */
    SHMT_ARGUMENT_WRAP, SHMT_ARGUMENT_CLAMP, SHMT_ARGUMENT_MIRROR,
    SHMT_ARGUMENT_BORDER
};
enum { SHMT_ARGUMENT_EXTENTS = 3, SHMT_ARGUMENT_CHANNELS = 4 };
struct shmt_argument_texture {
    size_t rank;               /* layers count as one */
    enum shmt_argument_memory memory;
    bool layered;              /* the last extent is of layers */
    bool typed;                /* `element` is the spec's own word, and not
                                  that of the buffer */
    enum shmt_element element;
    int channels;              /* 1, 2 or 4 elements are a texel */
    bool linear;               /* filter; else the nearest texel */
    bool fraction;             /* whole numbers are read as [0, 1], [-1, 1] */
    bool normalized;           /* coordinates are [0, 1) */
    bool srgb;
    enum shmt_argument_address address[SHMT_ARGUMENT_EXTENTS];
    double border[SHMT_ARGUMENT_CHANNELS];
    uint64_t extents[SHMT_ARGUMENT_EXTENTS];   /* texels; 1 beyond the rank */
    uint64_t pitch;            /* bytes from row to row; of an array those of
                                  the buffer that is copied */
};

/* Of a struct, or the only one of a pointer. */
struct shmt_argument_member {
    const char *name;
    bool pointer;
    bool texture;              /* which is the handle of the argument */
    const char *to;            /* the argument's name, or "null" */
    size_t target;             /* the same; SHMT_ARGUMENT_NONE: null */
    struct shmt_expr *offset;  /* in elements of it; NULL: 0 */
    enum shmt_element element; /* else; of `count` numbers, an array if there */
    size_t count;              /* are several */
    struct shmt_expr **values;
    size_t at;                 /* in the struct, bytes */
    struct shmt_place place;
};

/* Which elements of an output are looked at: columns side by side, rows `pitch`
 * apart, planes `plane_pitch` apart, from element `offset`. */
enum { SHMT_REGION_NUMBERS = 6 };
struct shmt_region {
    uint64_t columns;              /* 0: all elements are */
    uint64_t rows, planes, pitch, plane_pitch, offset;
};
/* How many of `count` elements it has. */
uint64_t shmt_region_count(const struct shmt_region *region, uint64_t count);
bool shmt_region_has(const struct shmt_region *region, uint64_t index);

/* A file with the elements of an argument, as its spec names it. */
struct shmt_argument_file {
    const char *path;              /* NULL: none */
    size_t extent_count;           /* its shape, 0: not stated */
    struct shmt_expr *extents[SHMT_FILL_EXTENTS];
    struct shmt_place place;       /* in the spec */
};

struct shmt_argument {
    const char *name;
    enum shmt_element element;
    enum shmt_role role;
    struct shmt_expr *count;   /* elements; may use parameters for a
                                  workspace only; NULL for what is no
                                  array */
    struct shmt_expr *value;   /* scalar: dimensions and parameters */
    enum shmt_fill fill;       /* input, in-out, by value; its numbers use
                                  dimensions only: */
    struct shmt_expr *range[2];    /* [low, high); NULL: the default */
    struct shmt_expr *numbers[2];  /* what the fill is written with, as
                                      {from, step}; NULL: the default */
    struct shmt_place fill_place;  /* of the range, or else of the fill */
    struct shmt_argument_file file;    /* of the fill FILE */
    struct shmt_argument_file expect;  /* output, in-out: what is right, and
                                          not of the reference */
    bool zeroed;               /* set to 0 on the stream before every
                                  launch, and timed with it */
    const char *symbol;        /* of a variable of the source: its name there,
                                  or in the binary; NULL: it is none.  One that
                                  is written is an output, an in-out or a
                                  workspace */
    uint64_t at;               /* of a buffer: the address that it had where
                                  files have addresses of it; 0: none */
    uint64_t at_bytes;         /* of such a one */
    size_t member_count;       /* of a pointer or a struct; of a tensor map
                                  or a texture one, the buffer */
    struct shmt_argument_member *members;
    size_t rank;               /* of a tensor map; its numbers, in the order
                                  of tensor.c, NULL where not stated */
    struct shmt_expr **numbers_of_map; /* of a texture, in that of texture.c */
    const struct shmt_argument_texture *texture;   /* without its sizes */
    size_t bytes, alignment;   /* of these four */
    struct shmt_tolerance tolerance;   /* outputs and in-outs */
    struct shmt_expr *region[SHMT_REGION_NUMBERS];   /* of them, in the order
                                          of shmt_region; the first is NULL
                                          where there is none */
    struct shmt_place region_place;
    bool compared;             /* by launches of the spec, not by elements */
};

/* Whether nothing but equal elements is right. */
bool shmt_tolerance_is_exact(const struct shmt_tolerance *tolerance);
/* How many of `count` elements may be wrong. */
uint64_t shmt_tolerance_allowed(const struct shmt_tolerance *tolerance,
                                uint64_t count);
/* Appends what the spec says of it, "{relative: 1e-06}"; "{}" for none. */
void shmt_tolerance_add(const struct shmt_tolerance *tolerance,
                        struct shmt_text *text);
/* The tolerance that takes elements which exceed this one by a factor (an exact
 * one: which are wrong by that much, reals relative to what is expected). */
struct shmt_tolerance
shmt_tolerance_raise(const struct shmt_tolerance *tolerance,
                     enum shmt_element element, double factor);

struct shmt_launch {
    const char *entry;             /* C name, or a C++ expression in which
                                      {NAME} stands for a parameter's or
                                      dimension's value */
    struct shmt_place entry_place; /* in the spec */
    bool host;                     /* the entry is a function of the host,
                                      which launches what it likes: no geometry
                                      is known.  All of a list are, or none */
    struct shmt_expr *when;        /* NULL: always */
    struct shmt_expr *grid[3];     /* NULL: 1 */
    struct shmt_expr *block[3];
    struct shmt_expr *shared_static;   /* exact bytes; NULL: not stated */
    struct shmt_expr *shared_dynamic;  /* exact bytes; NULL: 0 */
    struct shmt_expr *carveout;        /* percent, -1 default; NULL: -1 */
    struct shmt_expr *cluster[3];      /* blocks; NULL: none, or 1 */
    bool cooperative;                  /* the grid is resident as a whole */
    size_t argument_count;
    const size_t *arguments;           /* into shmt_kernel.arguments */
    size_t reach_count;                /* with those behind them, which
                                          pointers among them lead to */
    struct shmt_place arguments_place; /* where the spec lists them */
    bool by_value;                     /* an array or a struct is among them */
    bool reads;                        /* an input is */
    bool alike;                        /* grid to cluster are those of the
                                          launch before */
};

struct shmt_dimension {
    const char *name;
    int64_t default_size; /* the size when nobody gives one */
    int64_t low, high;
    bool defined;        /* also a macro, hence part of the binary's key */
};

/* A source, or a local file that one includes, as it was when the spec was
 * read. */
struct shmt_kernel_header {
    const char *path;
    const char *text;
    size_t size;
};

/* A program that computes what is right, in the place of a reference. */
struct shmt_answer_word {
    const char *text;          /* an absolute path, */
    bool file;                 /* if it is a file beside the spec */
};
struct shmt_answer {
    size_t word_count;         /* 0: there is none */
    const struct shmt_answer_word *words;
    double timeout_s;
    struct shmt_place place;
};

/* What is compiled as one text. */
struct shmt_kernel_code {
    size_t file_count;
    const struct shmt_kernel_header *files;   /* in their order */
    const char *text;          /* of the one file, or of all */
};

/* A constraint whose truth depends on the problem. */
struct shmt_kernel_sized {
    const struct shmt_expr *constraint;
    size_t parameter_count;
    uint16_t *parameters;              /* that it uses */
};

struct shmt_kernel {
    struct shmt_arena *arena;
    const char *path;          /* of the spec */
    const char *name;
    const char *summary;
    const char *source;        /* path of the first .cu; NULL: a search space,
                                  with no launches and no arguments */
    struct shmt_kernel_code code;
    size_t include_count;
    const char *const *includes;   /* folders */
    size_t header_count;
    const struct shmt_kernel_header *headers;
    int toolkit_version;           /* 13000: of a CUDA toolkit that `includes`
                                      names and that has headers of the kernel;
                                      0: none.  Not in the digest */
    const char *standard;          /* "c++17" */
    bool nvcc;                     /* compiled by nvcc, not by NVRTC */
    bool fast_math;
    enum shmt_features features;
    size_t option_count;
    const char *const *options;    /* of the compiler, for every one */
    char digest[SHMT_DIGEST_TEXT]; /* of spec (less sizes and summary),
                                      source and local includes */

    size_t dimension_count;
    const struct shmt_dimension *dimensions;
    size_t size_count;
    const int64_t *const *sizes;   /* to tune: [size_count][dimension];
                                      one, of fallbacks, when none is given */
    size_t parameter_count;
    const struct shmt_parameter *parameters;
    size_t constraint_count;
    struct shmt_expr *const *constraints;
    size_t sized_count;
    struct shmt_kernel_sized *sized;   /* those that use a dimension */
    size_t launch_count;
    const struct shmt_launch *launches;
    size_t reference_count;               /* 0: files have all results */
    const struct shmt_launch *reference;  /* launches, when none is given */
    struct shmt_kernel_code reference_code;   /* no file: that of the kernel */
    const char *reference_macros;  /* -DNAME=VALUE, one a line; NULL: those of
                                      the default configuration */
    struct shmt_answer answer;
    size_t setup_count;
    const struct shmt_launch *setup;      /* fill inputs and in-outs, once a
                                             problem; none: NULL */
    size_t compare_count;
    const struct shmt_launch *compare;    /* count what is wrong; none: NULL */
    size_t argument_count;
    const struct shmt_argument *arguments;
    size_t compared_count;                /* behind the arguments, for these
                                             launches: what is expected of */
    const size_t *compared;               /* these, and then their counter */
    struct shmt_expr *bytes;       /* work: NULL when not stated */
    struct shmt_expr *flops;
    /* Symbols: the dimensions, then the parameters; with the derived names. */
    struct shmt_expr_scope scope;
};

/* Reads the spec and its source.  Every refusal has file:line:column. */
enum shmtune_status shmt_kernel_read(const char *path,
                                     struct shmt_kernel **out,
                                     struct shmt_error *err);
/* Whether spec, source and local headers are unchanged since the kernel was
 * read. */
bool shmt_kernel_is_unchanged(const struct shmt_kernel *kernel);
/* As shmt_kernel_read.  What is needed only while the spec is read goes into
 * `scratch`, which a caller that reads many specs can clear after each. */
enum shmtune_status shmt_kernel_read_with(const char *path,
                                          struct shmt_arena *scratch,
                                          struct shmt_kernel **out,
                                          struct shmt_error *err);
void shmt_kernel_free(struct shmt_kernel *kernel);

/* The next header that a text may include: the name in an include, or in a
 * macro that one may name.  It is looked for from *at on, at first the text
 * itself.  false: there is no more. */
bool shmt_kernel_next_include(const char *text, const char **at,
                              const char **name, size_t *length,
                              bool *quoted);

/* Checks that the local headers are still those of the digest, because the
 * compiler reads the files itself.  SHMTUNE_STORAGE names the first one that
 * has changed. */
enum shmtune_status
shmt_kernel_check_headers(const struct shmt_kernel *kernel,
                          struct shmt_error *err);

/* What an evaluated configuration is compiled from. */
struct shmt_kernel_evaluated;
const struct shmt_kernel_code *
shmt_kernel_code_of(const struct shmt_kernel_evaluated *evaluated);

/* The text of that: the source's own, or, where parameters override its
 * definitions, one in `arena` with their values in the place of those. */
enum shmtune_status
shmt_kernel_source_text(const struct shmt_kernel_evaluated *evaluated,
                        struct shmt_arena *arena, const char **out,
                        struct shmt_error *err);
/* The line of the first `#define NAME ...` in a text; 0: there is none. */
int shmt_kernel_find_definition(const char *text, const char *name);

/* `NAME = 32` of a constant, which a parameter may override, too. */
struct shmt_kernel_constant {
    const char *name;
    size_t length;
    const char *value, *end;       /* its digits, with `u` and `l` */
};
/* Those of a text, one after the other; begins as {.begin = text, .at = text};
 * the rest belongs to constant.c. */
struct shmt_kernel_constants {
    const char *begin, *at;
    bool constant, list;           /* the statement says so; `enum` was read */
    size_t depth;                  /* of parentheses */
};
/* The next one before `end`; false: there is none, and `at` is there. */
bool shmt_kernel_next_constant(struct shmt_kernel_constants *scan,
                               const char *end,
                               struct shmt_kernel_constant *out);
/* The line of the first of that name; 0: there is none. */
int shmt_kernel_find_constant(const char *text, const char *name);
/* Whether there is one of that name, and each has the same number. */
bool shmt_kernel_is_constant(const char *text, const char *name,
                             int64_t value);
int64_t shmt_kernel_constant_value(const struct shmt_kernel_constant *one);

/* The space for one problem; the kernel must outlive it.  `limits` may be
 * NULL: the defaults. */
enum shmtune_status shmt_kernel_space(const struct shmt_kernel *kernel,
                                      const int64_t *problem,
                                      const struct shmt_space_limits *limits,
                                      struct shmt_space **out,
                                      struct shmt_error *err);

/* Writes the spec's default configuration: [parameter_count]. */
void shmt_kernel_default(const struct shmt_kernel *kernel,
                         shmt_config *config);
/* Its index in a space of the kernel; UINT64_MAX: it is not in it. */
uint64_t shmt_kernel_default_index(const struct shmt_kernel *kernel,
                                   const struct shmt_space *space);
/* The problem when nobody gives one: [dimension_count]. */
void shmt_kernel_default_problem(const struct shmt_kernel *kernel,
                                 int64_t *problem);
/* Where in the parameter's list a value is; false when it is not in it. */
bool shmt_kernel_find_value(const struct shmt_parameter *parameter,
                            struct shmt_value value, shmt_config *out);

/* -- a configuration, evaluated ------------------------------------------- */

/* One launch. */
struct shmt_geometry {
    bool used;               /* `when` held */
    uint32_t grid[3];
    uint32_t block[3];
    int64_t shared_static;   /* -1: not stated */
    int64_t shared_dynamic;
    int carveout;
    uint32_t cluster[3];     /* blocks; zeros: none */
    bool cooperative;
    bool host;               /* a function of the host: of the above nothing
                                else than `used` says something */
};
/* The threads of a block; fewer than there are if one extent alone is too
 * large for any device. */
int64_t shmt_geometry_threads(const struct shmt_geometry *geometry);
/* The blocks of the grid, in the same way, and of a cluster; 0: no cluster. */
int64_t shmt_geometry_blocks(const struct shmt_geometry *geometry);
int64_t shmt_geometry_cluster(const struct shmt_geometry *geometry);

/* The launches of a spec: of its candidates, and of what runs beside them. */
enum shmt_kernel_part {
    SHMT_KERNEL_CANDIDATE, SHMT_KERNEL_REFERENCE, SHMT_KERNEL_SETUP,
    SHMT_KERNEL_COMPARE,
    SHMT_KERNEL_PARTS
};

/* A configuration at a problem, and what follows from the two.  Each value is
 * computed when it is first needed, and what several parts share is computed
 * once.  The object points into itself, so it must not be copied, and only one
 * thread may use it at a time.  It allocates nothing and need not be freed.
 * The kernel must outlive it. */
struct shmt_kernel_evaluated {
    const struct shmt_kernel *kernel;
    enum shmt_kernel_part part;        /* whose launches these are */
    size_t launch_count;
    const struct shmt_launch *launches;
    struct shmt_value values[SHMT_KERNEL_SYMBOLS];   /* of kernel->scope */
    struct shmt_geometry geometry[SHMT_KERNEL_LAUNCHES];   /* of the launches,
                                          by shmt_kernel_evaluate_launches */
    uint64_t launched;                 /* a bit for each that is computed; this
                                          and the next belong to evaluated.c */
    struct shmt_expr_evaluation evaluation;
};

void shmt_kernel_evaluate(const struct shmt_kernel *kernel,
                          const int64_t *problem, const shmt_config *config,
                          struct shmt_kernel_evaluated *out);
/* The same for launches of a part, with the default configuration; it has none
 * where the spec has no such part. */
void shmt_kernel_evaluate_part(const struct shmt_kernel *kernel,
                               enum shmt_kernel_part part,
                               const int64_t *problem,
                               struct shmt_kernel_evaluated *out);

/* Sets *failed to the first constraint that does not hold, or to NULL when all
 * hold. */
enum shmtune_status
shmt_kernel_satisfies(struct shmt_kernel_evaluated *evaluated,
                      const struct shmt_expr **failed,
                      struct shmt_error *err);
/* Whether all hold; one that cannot be computed does not. */
bool shmt_kernel_allows(struct shmt_kernel_evaluated *evaluated);

/* Whether the launches are functions of the host, and the binary is a shared
 * object with them. */
bool shmt_kernel_is_host(const struct shmt_kernel_evaluated *evaluated);
/* Whether those of the configurations are, or any others of the spec. */
bool shmt_kernel_has_host(const struct shmt_kernel *kernel);

/* Computes the geometry of every launch.  SHMTUNE_INVALID_FILE when the
 * arguments of one take more than SHMT_KERNEL_ARGUMENT_BYTES. */
enum shmtune_status
shmt_kernel_evaluate_launches(struct shmt_kernel_evaluated *evaluated,
                              struct shmt_error *err);
/* That of launch k alone; those before it have been computed. */
enum shmtune_status
shmt_kernel_evaluate_launch(struct shmt_kernel_evaluated *evaluated, size_t k,
                            struct shmt_error *err);
/* Whether launch k is used.  This can be known even if its geometry cannot be
 * computed. */
enum shmtune_status
shmt_kernel_uses_launch(struct shmt_kernel_evaluated *evaluated, size_t k,
                        bool *used, struct shmt_error *err);

/* The threads of all blocks of the launch that has the most, and the shared
 * memory of a block of it, in bytes, as far as it is stated.  False: that is
 * not known, as of functions of the host. */
bool shmt_kernel_largest_launch(struct shmt_kernel_evaluated *evaluated,
                                double *threads, double *shared_bytes);

/* Elements of argument k, 1 of a scalar.  SHMTUNE_INVALID_FILE for a number
 * below 0, or of more bytes than can be counted. */
enum shmtune_status
shmt_kernel_argument_count(struct shmt_kernel_evaluated *evaluated, size_t k,
                           uint64_t *out, struct shmt_error *err);
/* Bytes of argument k in the parameter list of a launch: those of an address,
 * a scalar, or an array that is passed by value. */
enum shmtune_status
shmt_kernel_argument_bytes(struct shmt_kernel_evaluated *evaluated, size_t k,
                           int64_t *out, struct shmt_error *err);
/* What argument k, an input, an in-out or an array by value, is filled with at
 * one problem. */
struct shmt_fill_values {
    enum shmt_fill fill;
    enum shmt_element element;
    uint64_t count;
    double low, high;              /* [low, high), whole numbers too */
    struct shmt_value numbers[2];  /* none is a word */
    const char *file;              /* NULL but for a file; its shape, */
    size_t extent_count;           /* if it is stated, has `count` elements */
    uint64_t extents[SHMT_FILL_EXTENTS];
    struct shmt_place place;       /* in the spec */
};
/* SHMTUNE_INVALID_FILE with the place in the spec when the type has not all
 * of these elements, or the numbers make no sense. */
enum shmtune_status
shmt_kernel_argument_fill(struct shmt_kernel_evaluated *evaluated, size_t k,
                          struct shmt_fill_values *out,
                          struct shmt_error *err);
/* Writes argument k, a pointer or a struct, as it is passed: argument.bytes.
 * Each pointer is an offset in bytes, which shmt_argument_link makes one.
 * SHMTUNE_INVALID_FILE with the place of a number that its type has not, or of
 * an offset outside of the buffer. */
enum shmtune_status
shmt_kernel_argument_pack(struct shmt_kernel_evaluated *evaluated, size_t k,
                          void *out, struct shmt_error *err);
/* Argument k, a tensor map, evaluated: what the driver encodes. */
struct shmt_argument_map {
    enum shmt_element element;
    size_t rank;
    uint64_t extents[SHMT_ARGUMENT_RANK];      /* elements */
    uint64_t strides[SHMT_ARGUMENT_RANK - 1];  /* bytes */
    uint32_t box[SHMT_ARGUMENT_RANK];          /* elements */
    int swizzle, interleave, l2;               /* bytes; 0: none */
};
/* SHMTUNE_INVALID_FILE with the place of the number that cannot be. */
enum shmtune_status
shmt_kernel_argument_map(struct shmt_kernel_evaluated *evaluated, size_t k,
                         struct shmt_argument_map *out,
                         struct shmt_error *err);
/* Argument k, a texture, with its sizes.  SHMTUNE_INVALID_FILE with the place
 * of the number that cannot be. */
enum shmtune_status
shmt_kernel_argument_texture(struct shmt_kernel_evaluated *evaluated, size_t k,
                             struct shmt_argument_texture *out,
                             struct shmt_error *err);
/* Adds to each pointer the address of its argument, [argument_count]. */
void shmt_argument_link(const struct shmt_argument *argument,
                        const uint64_t *addresses, void *packed);
/* Whether it is a pointer or a struct. */
bool shmt_argument_is_packed(const struct shmt_argument *argument);
/* Whether one of its expressions has the symbol. */
bool shmt_argument_uses(const struct shmt_argument *argument, size_t symbol);
/* The same of the file that argument k, an output or in-out, is compared
 * with. */
enum shmtune_status
shmt_kernel_argument_expect(struct shmt_kernel_evaluated *evaluated, size_t k,
                            struct shmt_fill_values *out,
                            struct shmt_error *err);
/* The region of argument k, an output or in-out, that is looked at.
 * SHMTUNE_INVALID_FILE where it is not within the buffer. */
enum shmtune_status
shmt_kernel_argument_region(struct shmt_kernel_evaluated *evaluated, size_t k,
                            struct shmt_region *out, struct shmt_error *err);
/* The value of argument k, a scalar. */
enum shmtune_status
shmt_kernel_argument_value(struct shmt_kernel_evaluated *evaluated, size_t k,
                           struct shmt_value *out, struct shmt_error *err);

/* The -D options, one a line, composed from declared names and numbers only:
 * NAME=value for each defined dimension and each parameter that is a macro; and
 * the options that are values of a parameter.  A parameter of words: NAME=k,
 * k the index of the word in its declared list, and NAME_word=k for each of its
 * words.  A real: its shortest exact decimal.
 * For the setup, SHMTUNE_SETUP=1 before them; for the launches that compare,
 * SHMTUNE_COMPARE=1; for the reference,
 * SHMTUNE_REFERENCE=1, and its own macros in
 * place of parameters if it has some, or none.
 * All that a binary depends on; or, with `given`, what the compiler is given
 * beside the text of shmt_kernel_source_text, which has the values of
 * parameters that override its definitions where these stand. */
void shmt_kernel_definitions(const struct shmt_kernel_evaluated *evaluated,
                             bool given, struct shmt_text *text);
/* The entry of launch k with {NAME} replaced. */
enum shmtune_status
shmt_kernel_entry(const struct shmt_kernel_evaluated *evaluated, size_t k,
                  struct shmt_text *text, struct shmt_error *err);

/* A key that is equal for configurations that share a binary: they have the
 * same definitions, and each launch has the same entry, or none.  What cannot
 * be evaluated is left out; compiling will refuse it.  The only failure is
 * SHMTUNE_NO_MEMORY. */
enum shmtune_status
shmt_kernel_binary_key(struct shmt_kernel_evaluated *evaluated,
                       char key[SHMT_DIGEST_TEXT]);

/* -- texts ---------------------------------------------------------------- */

/* "BLOCK_X=32 BLOCK_Y=8 MEMORY=static", for people and messages. */
void shmt_kernel_describe_config(const struct shmt_kernel *kernel,
                                 const shmt_config *config,
                                 struct shmt_text *text);
/* 32, static: as it stands in a name. */
void shmt_kernel_value_add(struct shmt_text *text, struct shmt_value value);
/* "32, 64, 128": its values, the first few of many; for messages. */
void shmt_kernel_describe_values(const struct shmt_parameter *parameter,
                                 struct shmt_text *text);
/* Whether a dimension or a parameter may be called so. */
bool shmt_kernel_may_name(const char *word);
/* "rows=4096 cols=4096". */
void shmt_kernel_describe_problem(const struct shmt_kernel *kernel,
                                  const int64_t *problem,
                                  struct shmt_text *text);
/* The same behind " at "; nothing where it has no dimensions. */
void shmt_kernel_describe_at(const struct shmt_kernel *kernel,
                             const int64_t *problem, struct shmt_text *text);
/* The same behind the kernel's name, "transpose, rows=4096 cols=4096"; the name
 * alone where it has no dimensions. */
void shmt_kernel_name_problem(const struct shmt_kernel *kernel,
                              const int64_t *problem, struct shmt_text *text);

/* Reads the flow mapping "{BLOCK_X: 32, MEMORY: static}": every parameter
 * exactly once, each with a value of its list. */
struct shmt_yaml;
enum shmtune_status
shmt_kernel_config_read(const struct shmt_kernel *kernel,
                        const struct shmt_yaml *mapping, shmt_config *config,
                        struct shmt_error *err);
/* Append that flow mapping. */
void shmt_kernel_config_write(const struct shmt_kernel *kernel,
                              const shmt_config *config,
                              struct shmt_text *text);
/* The same two for a problem: "{rows: 4096, cols: 4096}"; a dimension that
 * is not named has its fallback. */
enum shmtune_status
shmt_kernel_problem_read(const struct shmt_kernel *kernel,
                         const struct shmt_yaml *mapping, int64_t *problem,
                         struct shmt_error *err);
void shmt_kernel_problem_write(const struct shmt_kernel *kernel,
                               const int64_t *problem, struct shmt_text *text);

/* -- work ----------------------------------------------------------------- */

/* Bytes and floating-point operations of a problem, whatever the configuration;
 * below 0: the spec does not say. */
struct shmt_kernel_work {
    double bytes, flops;
};
struct shmt_kernel_work shmt_kernel_work_of(const struct shmt_kernel *kernel,
                                            const int64_t *problem);
/* Of `work` done in so many microseconds: 10^9 a second, GB/s or GFLOP/s; below
 * 0: not known. */
double shmt_kernel_work_rate(double work, double time_us);
/* Whether arithmetic says more of a kernel than bytes do. */
bool shmt_kernel_work_is_arithmetic(const struct shmt_kernel_work *work);

#endif
