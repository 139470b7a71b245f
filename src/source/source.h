/* SPDX-License-Identifier: MIT */
/*
 * source: what the text of a CUDA source says, without a compiler: its
 * kernels and their parameters, the macros that may be given from outside, and
 * the launches of its host code.  And what a compiler says of the types of a
 * kernel, in the names that it makes.
 *
 * Where nothing else is said the text is not preprocessed: of `#if 0` the lines
 * are left out, of any other condition both sides are read.
 */
#ifndef SHMT_SOURCE_H
#define SHMT_SOURCE_H

#include "base/base.h"
#include "kernel/kernel.h"

/* -- parameters of a kernel ----------------------------------------------- */

enum shmt_signature_kind {
    SHMT_SIGNATURE_OTHER,      /* a structure, or not understood */
    SHMT_SIGNATURE_ELEMENT,    /* one of ours */
    SHMT_SIGNATURE_BITS,       /* void, or whole numbers that may hold the bits
                                  of any type of their size: char */
    SHMT_SIGNATURE_VECTOR      /* float4: so many of an element */
};

enum { SHMT_SOURCE_UNKNOWN, SHMT_SOURCE_READ, SHMT_SOURCE_WRITTEN };

struct shmt_signature_parameter {
    const char *name;          /* "" when it is not known */
    const char *type;          /* "const float *", for people */
    bool pointer;
    bool constant;             /* what it points to */
    enum shmt_signature_kind kind;   /* of it, or of what it points to */
    enum shmt_element element;       /* of ELEMENT, VECTOR; of BITS with a
                                        size, else BYTES */
    int lanes;                       /* of VECTOR, 1 to 4, as a text has it;
                                        0: not known */
    unsigned use;                    /* of what it points to, as a text has it:
                                        READ, WRITTEN, or both */
};

struct shmt_signature {
    size_t count;
    const struct shmt_signature_parameter *parameters;
};

/* Whether an argument of the spec may be passed as the parameter: a scalar is
 * no address, an array is one, and of elements of the same type (a workspace:
 * of the same size), and a struct of its bytes a number.  What is not known
 * fits. */
bool shmt_signature_takes(const struct shmt_signature_parameter *parameter,
                          const struct shmt_argument *argument);

/* A template for the end of a source, and the name expression of its instance
 * for an entry.  The name that a compiler makes of that instance has all the
 * types of the entry's parameters, those of an extern "C" kernel too. */
#define SHMT_SIGNATURE_PROBE                                                 \
    "\ntemplate <class T> __global__ void shmtune_signature() {}\n"
#define SHMT_SIGNATURE_ENTRY "shmtune_signature<decltype(%s)>"
/* Reads that name, without names of parameters.  False when it is not
 * understood. */
bool shmt_signature_read(struct shmt_arena *arena, const char *lowered,
                         struct shmt_signature *out);

/* The same of a kernel's own symbol, which has them unless it is extern "C". */
bool shmt_signature_read_symbol(struct shmt_arena *arena, const char *symbol,
                                struct shmt_signature *out);

/* What the kernel of a symbol is called in its source, "ns::scale<float, 4>";
 * NULL: it cannot be said, or there is no memory. */
const char *shmt_signature_expression(struct shmt_arena *arena,
                                      const char *symbol);

/* "(void (*)(float *, int))", which before that chooses the kernel among others
 * of its name; NULL: it cannot be said, or there is no memory. */
const char *shmt_signature_cast(struct shmt_arena *arena, const char *symbol);

/* -- the text ------------------------------------------------------------- */

/* `typename NAME`, `int NAME = VALUE`. */
struct shmt_source_template {
    const char *name;
    const char *value;         /* where none is given; NULL: there is none */
    bool is_type, is_pack;
};

struct shmt_source_kernel {
    const char *name;
    const char *qualified;     /* "ns::name" */
    int line, column;          /* of the name */
    bool is_template;
    size_t template_count;     /* its parameters, as far as they have names */
    const struct shmt_source_template *templates;
    bool shared_dynamic;       /* its body declares `extern __shared__`, or
                                  names one that is declared elsewhere */
    bool shared_elsewhere;     /* one is, and it may use that */
    size_t shared_element;     /* bytes of one element of that; 0: not known */
    struct shmt_signature signature;
};

/* #ifndef NAME or #if !defined(NAME), #define NAME VALUE, #endif. */
struct shmt_source_macro {
    const char *name;
    const char *value;         /* without comments; never empty */
    int line, column;
};

/* A __constant__ or __device__ variable that is declared outside of
 * functions. */
struct shmt_source_global {
    const char *name;
    const char *qualified;     /* "ns::name" */
    struct shmt_signature_parameter declared;   /* of an element, and what the
                                  kernel does with it */
    const char *count;         /* "4 * (N + 1)", its elements; NULL: not said */
    const char *value;         /* that it begins with; NULL: zeros */
    bool constant;             /* __constant__ */
    bool fixed;                /* const, constexpr, or of managed memory */
    bool used;                 /* by the kernel, or what that calls, */
    bool unknown;              /* otherwise than by its elements */
};

/* NAME<<<grid, block, shared>>>(arguments): texts of its parts, "" for those
 * that are not there.  So is a call of cudaLaunchKernel, which has its
 * arguments elsewhere, or of hipLaunchKernelGGL. */
struct shmt_source_launch {
    const char *name;
    int line, column;
    const char *grid, *block, *shared;
    size_t argument_count;
    const char *const *arguments;
    size_t instance_count;     /* arguments of its template */
    const char *const *instance;
};

/* What host code makes room for: `cudaMalloc(&NAME, BYTES)`, and variants of
 * it; a `device_vector<TYPE> NAME(COUNT)`. */
struct shmt_source_allocation {
    const char *name;          /* "d_x", "data->x" */
    const char *bytes;         /* as code; "": `count` of `type` */
    const char *count, *type;
    int line;
};

/* What is given a value in the text: `dim3 grid(n / 32, 2);`, `int b = 4;`,
 * `grid.y = 2;` */
struct shmt_source_variable {
    const char *name;          /* "grid.y" */
    const char *value;         /* what stands behind the `=`, or within the
                                  parentheses */
    int line;
    int called;                /* of a parameter of the function that launches:
                                  the line of a call, which gives it the value;
                                  else 0 */
    int until;                 /* the last line of that function */
};

/* `#define NAME VALUE`, `#define NAME(A, B) VALUE`, and a function that does
 * nothing but `return VALUE;`. */
struct shmt_source_define {
    const char *name;
    const char *value;
    bool takes;                /* it has parentheses */
    size_t parameter_count;
    const char *const *parameters;
};

/* A member of a structure; one that is a structure is its members. */
struct shmt_source_member {
    const char *name;          /* "mass", "place_x" */
    bool pointer;
    enum shmt_element element; /* of a pointer: what it leads to, if known */
    size_t count, offset;      /* elements, or pointers; bytes */
};

/* `struct NAME { float x, y; int at[2]; };`, as it lies in memory. */
struct shmt_source_structure {
    const char *name;
    size_t bytes, alignment;
    size_t same;               /* of so many elements of one type, without a
                                  gap; 0: not so */
    size_t member_count;
    const struct shmt_source_member *members;
};

struct shmt_source {
    size_t kernel_count;       /* those that are defined */
    const struct shmt_source_kernel *kernels;
    size_t macro_count;
    const struct shmt_source_macro *macros;
    size_t launch_count;
    const struct shmt_source_launch *launches;
    size_t variable_count;
    const struct shmt_source_variable *variables;
    size_t define_count;
    const struct shmt_source_define *defines;
    size_t allocation_count;
    const struct shmt_source_allocation *allocations;
    bool shared_dynamic;       /* `extern __shared__` somewhere */
};

/* Everything lives in `arena`.  Any text is accepted; the only failure is
 * SHMTUNE_NO_MEMORY. */
enum shmtune_status shmt_source_read(struct shmt_arena *arena,
                                     const char *text,
                                     struct shmt_source *out,
                                     struct shmt_error *err);
/* Those of the text, and what the kernel, of the same text, does with them;
 * NULL: nothing is said of that.  Lives in `arena`; the only failure is
 * SHMTUNE_NO_MEMORY. */
enum shmtune_status
shmt_source_globals(struct shmt_arena *arena, const char *text,
                    const struct shmt_source_kernel *kernel,
                    const struct shmt_source_global **out, size_t *count,
                    struct shmt_error *err);
/* Structures of numbers, pointers, and such structures; of a text as a compiler
 * reads it all of them, of another those of plain types.  Lives in `arena`; the
 * only failure is SHMTUNE_NO_MEMORY. */
enum shmtune_status
shmt_source_structures(struct shmt_arena *arena, const char *text,
                       const struct shmt_source_structure **out, size_t *count,
                       struct shmt_error *err);
/* What of a source, of the same text, the kernel is made of: itself, and the
 * functions, macros, types and variables that it names, and those that they
 * name; and each condition of the preprocessor.  It is for looking for words:
 * comments are left out, and of a macro all but its name and its value.  Lives
 * in `arena`; NULL: there is no memory. */
const char *shmt_source_slice(struct shmt_arena *arena, const char *text,
                              const struct shmt_source_kernel *kernel);
/* Names that `part` uses as numbers, and the text declares nowhere but perhaps
 * as a macro: each once.  Lives in `arena`; the only failure is
 * SHMTUNE_NO_MEMORY. */
enum shmtune_status
shmt_source_undeclared(struct shmt_arena *arena, const char *text,
                       const char *part, const char *const **out,
                       size_t *count, struct shmt_error *err);
/* What the arrays of a function take of shared memory, all of them, as code of
 * the host's: "sizeof(float) * (TILE) * (TILE + 1)"; and a line behind them. */
struct shmt_source_shared {
    const char *bytes;
    int line;
};
/* Of each function of the text that declares some, but for `extern`.  Lives in
 * `arena`; the only failure is SHMTUNE_NO_MEMORY. */
enum shmtune_status
shmt_source_shared_arrays(struct shmt_arena *arena, const char *text,
                          const struct shmt_source_shared **out, size_t *count,
                          struct shmt_error *err);
/* Where a number stands that makes it one to tune. */
enum shmt_source_reach {
    SHMT_SOURCE_NOWHERE, SHMT_SOURCE_IN_BOUNDS, SHMT_SOURCE_IN_SHARED,
    SHMT_SOURCE_IN_UNROLL
};

enum shmt_source_reach shmt_source_reach_of(const char *text,
                                            const char *name);
/* The same for people, "it stands in the launch bounds"; NULL: nowhere. */
const char *shmt_source_reaches(const char *text, const char *name);
/* The threads of a block that its first launch bounds allow; 0: none, or no
 * plain number. */
int64_t shmt_source_bound(const char *text);
/* Whether the text asks how large a block is along an axis, 0 to 2. */
bool shmt_source_asks_block(const char *text, int axis);
/* Whether a block has no part but that of its threads, counted over the grid:
 * each `blockIdx.x` is multiplied by `blockDim.x`, or it has a thread's rank in
 * the grid. */
bool shmt_source_counts_threads(const char *text, int axis);
/* *strides: a sum of the text goes on by how many blocks there are along the
 * axis, `i += gridDim.x * blockDim.x`, or something is divided by it, as where
 * any grid does all of the work.  false: there is no memory. */
bool shmt_source_strides(struct shmt_arena *arena, const char *text, int axis,
                         bool *strides);
/* Whether the macro has a default, behind #ifndef, and stands nowhere else: in
 * a header that is not there, perhaps. */
bool shmt_source_only_defines(const char *text, const char *name);
/* Whether the macro is the size of a warp, which is what it is. */
bool shmt_source_is_warp(const char *name, int64_t value);
/* What host code says of how the kernel of that name is launched: block and
 * grid, shared memory, arguments of a template, and the values of the variables
 * in them.  For looking for words; "" where it launches none.  Lives in
 * `arena`; NULL: there is no memory. */
const char *shmt_source_launching(struct shmt_arena *arena,
                                  const struct shmt_source *source,
                                  const char *name);
/* *zero: the text asks whether the macro is set, `#if NAME`, `NAME ? a : b`, or
 * adds it and does nothing else with it, `[TILE + NAME]`, so that 0 may be a
 * value of it as 1 is.  false: there is no memory. */
bool shmt_source_takes_zero(struct shmt_arena *arena, const char *text,
                            const char *name, bool *zero);
/* The text as a compiler reads it, for reading declarations: one side of each
 * condition, macros without parameters replaced, and types by the names that
 * their typedefs stand for.  Directives are lost but #include, which is left
 * as it is, and so are places in the text; a text of macros that grow without
 * end is left as it was from there on.  Lives in `arena`; the only failure is
 * SHMTUNE_NO_MEMORY. */
enum shmtune_status shmt_source_preprocess(struct shmt_arena *arena,
                                           const char *text, const char **out,
                                           struct shmt_error *err);

/* -- with what it includes ------------------------------------------------- */

enum { SHMT_SOURCE_FILES = 256, SHMT_SOURCE_ORIGINS = 2 * SHMT_SOURCE_FILES };

/* From its line `at` on the text is the file's, from its `line` on. */
struct shmt_source_origin {
    int at;
    const char *file;
    int line;
};

/* A text that is put together: files, in which those that they include by
 * #include, in quotes beside the file that says it, else in one of the folders,
 * stand where they are included, each once. */
struct shmt_source_splice {
    struct shmt_arena *arena;
    const char *const *folders;    /* of headers */
    size_t folder_count;
    bool lax;                      /* files that cannot be read are not there */
    struct shmt_error *err;
    size_t count;
    const char *files[SHMT_SOURCE_FILES];      /* that are in the text */
    bool lacks;                    /* a file in quotes is elsewhere */
    size_t origin_count;
    struct shmt_source_origin origins[SHMT_SOURCE_ORIGINS];
    int line;                      /* ends of lines before byte `counted` */
    size_t counted;
    struct shmt_text text;         /* so far; failed: `status` may say why */
    enum shmtune_status status;
};

/* Puts the file behind what is there. */
void shmt_source_splice_file(struct shmt_source_splice *splice,
                             const char *path);
/* That has been read. */
void shmt_source_splice_text(struct shmt_source_splice *splice,
                             const char *path, const char *text);
bool shmt_source_splice_has(const struct shmt_source_splice *splice,
                            const char *path);
/* The whole text, in the arena; the splice has no other memory then. */
enum shmtune_status shmt_source_splice_end(struct shmt_source_splice *splice,
                                           const char **out);
/* Which line of which file a line of the text is; *file NULL: of none. */
int shmt_source_splice_line(const struct shmt_source_splice *splice, int line,
                            const char **file);

/* *out: the file includes the header, or what it includes does: by #include, in
 * quotes beside the file that says it, else in one of the folders.  Of files
 * that cannot be read nothing is included; the only failure is
 * SHMTUNE_NO_MEMORY. */
enum shmtune_status shmt_source_includes(const char *path, const char *header,
                                         const char *const *folders,
                                         size_t folder_count, bool *out,
                                         struct shmt_error *err);

/* -- what the host computes ----------------------------------------------- */

/* What a name of the host's is in the spec, "BLOCK" or "32"; NULL: the source
 * says what it is.  `open` is asked where it does not, with members as they
 * stand there, "p.rows"; `bytes` for the size of a type that is none of ours,
 * 0: it is not known.  Both may be NULL. */
struct shmt_source_names {
    const char *(*find)(const void *context, const char *name);
    const void *context;
    const char *(*open)(const void *context, const char *name);
    size_t (*bytes)(const void *context, const char *type);
};

/* A function that code may call which is read below, and no source has: how
 * many elements of so many bytes other bytes are. */
#define SHMT_SOURCE_ELEMENTS "shmtune_elements"

/* The extent of a grid or a block along an axis, 0 to 2, as code of the host
 * says it, "dim3(n / 32, 2)", said as an expression of a spec with the names
 * that `names` gives.  Variables have the values that they were given before
 * `line`.  Appends it and returns true; false: it cannot be said, or, where
 * text->failed, there is no memory. */
bool shmt_source_extent(const struct shmt_source *source, const char *code,
                        int line, int axis,
                        const struct shmt_source_names *names,
                        struct shmt_text *text);

/* How well a name, "scale" or "ns::scale", means the kernel. */
enum shmt_source_match {
    SHMT_SOURCE_OTHER,         /* not at all */
    SHMT_SOURCE_ELSEWHERE,     /* in namespaces that are not seen in the text */
    SHMT_SOURCE_SHORT,         /* without some of its namespaces */
    SHMT_SOURCE_EXACT
};
enum shmt_source_match
shmt_source_match(const struct shmt_source_kernel *kernel, const char *name,
                  size_t length);
/* Whether the text defines several functions of that name, a kernel and one of
 * the host, perhaps, so that the name alone is no address.  The only failure is
 * SHMTUNE_NO_MEMORY. */
enum shmtune_status
shmt_source_is_overloaded(struct shmt_arena *arena, const char *text,
                          const char *name, bool *out, struct shmt_error *err);
/* The last that has this name, whatever namespaces it is in, and as many
 * parameters; NULL: there is none. */
const struct shmt_source_kernel *
shmt_source_kernel_with(const struct shmt_source *source, const char *name,
                        size_t count);
/* The kernel that the name means best; NULL: there is none. */
const struct shmt_source_kernel *
shmt_source_find(const struct shmt_source *source, const char *name,
                 size_t length);

#endif
