/* SPDX-License-Identifier: MIT */
/*
 * read: what the files that read a spec share.  For the
 * files of kernel/ alone; everybody else uses kernel/kernel.h.
 *
 * A spec is read in this order; each step uses what the earlier ones stored in
 * reader->kernel: the space (problem, parameters, constraints, sizes), the
 * source, the arguments, the launches, the work, then the defaults are tried
 * at every size.
 */
#ifndef SHMT_KERNEL_READ_H
#define SHMT_KERNEL_READ_H

#include "kernel/kernel.h"
#include "yaml/yaml.h"

enum {
    SHMT_KERNEL_SPEC_BYTES = 1 << 20,
    SHMT_KERNEL_SOURCE_BYTES = 16 << 20,
    SHMT_KERNEL_CONSTRAINTS = 1024,
    SHMT_KERNEL_SIZES = 1024,
    SHMT_KERNEL_INCLUDES = 32,
    SHMT_KERNEL_SOURCES = 32,
    SHMT_KERNEL_MACROS = 64,
    SHMT_KERNEL_OPTIONS = 64,
    SHMT_KERNEL_OPTION = 256,      /* bytes of one */
    SHMT_KERNEL_FILE = 1024,
    SHMT_KERNEL_SUMMARY = 256
};

/* A constraint that follows from a range. */
struct shmt_kernel_implied {
    const char *text;
    struct shmt_place place;
};

struct shmt_kernel_reader {
    struct shmt_kernel *kernel;      /* filled step by step */
    struct shmt_arena *tree;         /* nodes; gone when the spec is read,
                                        its texts are in the kernel's */
    const struct shmt_yaml *root;
    bool defaults_given;             /* at least one parameter gives its
                                        default */
    bool setup;                      /* its launches are being read */
    size_t hidden;                   /* arguments behind the last that the
                                        launches may take */
    size_t implied_count;
    struct shmt_kernel_implied implied[2 * SHMT_SPACE_PARAMETERS];
    struct shmt_error *err;
};

/* space.c */
enum shmtune_status shmt_kernel_space_read(struct shmt_kernel_reader *reader);

/* parameter.c */
enum shmtune_status
shmt_kernel_parameter_read(struct shmt_kernel_reader *reader);

/* range.c: {from: 1, to: 8}, {from: 0, to: cols, step: 8}, {from: 1, to: 1024,
 * times: 2}; both ends belong to it.  The parameter's name is set. */
enum shmtune_status shmt_kernel_range_read(struct shmt_kernel_reader *reader,
                                           const struct shmt_yaml *node,
                                           struct shmt_parameter *parameter);
/* Adds what follows from ranges to the constraints. */
enum shmtune_status
shmt_kernel_range_constrain(struct shmt_kernel_reader *reader);

/* source.c: one path, or a list. */
enum shmtune_status shmt_kernel_source_read(struct shmt_kernel_reader *reader,
                                            const struct shmt_yaml *node,
                                            struct shmt_kernel_code *out);

/* option.c */
enum shmtune_status shmt_kernel_option_read(struct shmt_kernel_reader *reader);
/* The key "option" of a parameter whose values are known. */
enum shmtune_status
shmt_kernel_option_read_values(struct shmt_kernel_reader *reader,
                               const struct shmt_yaml *mapping,
                               struct shmt_parameter *parameter);

/* override.c: "override" of a parameter whose scope and option are known. */
enum shmtune_status
shmt_kernel_override_read(struct shmt_kernel_reader *reader,
                          const struct shmt_yaml *mapping,
                          struct shmt_parameter *parameter);
/* What is overridden is there; after the headers are known. */
enum shmtune_status
shmt_kernel_override_check(struct shmt_kernel_reader *reader);

/* text.c: the value of the macro of a parameter's name. */
void shmt_kernel_macro_add(const struct shmt_parameter *parameter,
                           struct shmt_value value, struct shmt_text *text);

/* argument.c */
enum shmtune_status
shmt_kernel_argument_read(struct shmt_kernel_reader *reader);
/* Count and value of every argument can be evaluated and fit their type. */
enum shmtune_status
shmt_kernel_argument_try(struct shmt_kernel_reader *reader,
                         struct shmt_kernel_evaluated *evaluated);

/* The index of a word in a list, refused by naming the list. */
enum shmtune_status shmt_kernel_word_read(struct shmt_kernel_reader *reader,
                                          const struct shmt_yaml *node,
                                          const char *const *words,
                                          size_t *out);

/* "type". */
enum shmtune_status shmt_kernel_type_read(struct shmt_kernel_reader *reader,
                                          const struct shmt_yaml *mapping,
                                          enum shmt_element *out);

/* packed.c: {pointer: ...} and {struct: ...}. */
enum shmtune_status shmt_kernel_packed_read(struct shmt_kernel_reader *reader,
                                            const struct shmt_yaml *mapping,
                                            struct shmt_argument *argument);
/* The argument that a tensor map or a texture is of, which `to` names, as the
 * one member of it. */
enum shmtune_status shmt_kernel_base_read(struct shmt_kernel_reader *reader,
                                          const struct shmt_yaml *to,
                                          struct shmt_argument *argument);
/* tensor.c: {tensor_map: ...}. */
enum shmtune_status shmt_kernel_tensor_read(struct shmt_kernel_reader *reader,
                                            const struct shmt_yaml *mapping,
                                            struct shmt_argument *argument);
/* texture.c: {texture: ...}, and whether what it is of can be one, when all
 * arguments have been read. */
enum shmtune_status shmt_kernel_texture_read(struct shmt_kernel_reader *reader,
                                             const struct shmt_yaml *mapping,
                                             struct shmt_argument *argument);
enum shmtune_status
shmt_kernel_texture_check(struct shmt_kernel_reader *reader,
                          const struct shmt_argument *argument);
/* packed.c: finds the arguments that pointers, tensor maps and textures are to,
 * when all have been read. */
enum shmtune_status
shmt_kernel_packed_resolve(struct shmt_kernel_reader *reader);
bool shmt_kernel_argument_uses_parameters(const struct shmt_kernel *kernel,
                                          const struct shmt_argument *argument);

/* fill.c: "fill" and "range" of an argument. */
enum shmtune_status shmt_kernel_fill_read(struct shmt_kernel_reader *reader,
                                          const struct shmt_yaml *mapping,
                                          struct shmt_argument *argument);

/* -- place.c -------------------------------------------------------------- */

/* The key `at` of a buffer, whose other keys have been read. */
enum shmtune_status shmt_kernel_place_read(struct shmt_kernel_reader *reader,
                                           const struct shmt_yaml *mapping,
                                           struct shmt_argument *argument);
/* No two of the arguments, in `node`, overlap. */
enum shmtune_status shmt_kernel_place_check(struct shmt_kernel_reader *reader,
                                            const struct shmt_yaml *node);


/* fill.c: "expect" of an output or in-out. */
enum shmtune_status
shmt_kernel_expect_read(struct shmt_kernel_reader *reader,
                        const struct shmt_yaml *mapping,
                        struct shmt_argument *argument);

/* region.c: "region" of an output or in-out. */
enum shmtune_status shmt_kernel_region_read(struct shmt_kernel_reader *reader,
                                            const struct shmt_yaml *mapping,
                                            struct shmt_argument *argument);

/* tolerance.c: "tolerance" of an output or in-out. */
enum shmtune_status
shmt_kernel_tolerance_read(struct shmt_kernel_reader *reader,
                           const struct shmt_yaml *mapping,
                           struct shmt_argument *argument);

/* launch.c */
enum shmtune_status shmt_kernel_launch_read(struct shmt_kernel_reader *reader);
/* Launches under a key that may be left out, which run once a problem or a
 * candidate: no configuration may change them.  `what` names them in
 * messages. */
enum shmtune_status
shmt_kernel_launch_read_once(struct shmt_kernel_reader *reader,
                             const char *key, const char *what,
                             const struct shmt_launch **out, size_t *count);
/* Every launch can be evaluated and at least one is used. */
enum shmtune_status
shmt_kernel_launch_try(struct shmt_kernel_reader *reader,
                       struct shmt_kernel_evaluated *evaluated);

/* answer.c: "answer". */
enum shmtune_status shmt_kernel_answer_read(struct shmt_kernel_reader *reader);

/* compare.c: "compare", behind everything else that launches. */
enum shmtune_status
shmt_kernel_compare_read(struct shmt_kernel_reader *reader);

/* digest.c: spec, source and every file they include that lies in
 * the folders of the spec. */
enum shmtune_status
shmt_kernel_digest_compute(struct shmt_kernel_reader *reader);

/* name.c */

/* Macros that begin with it and "_" are ours, whatever they will be; today
 * there are three. */
#define SHMT_KERNEL_OUR_NAME "SHMTUNE"
#define SHMT_KERNEL_REFERENCE_MACRO SHMT_KERNEL_OUR_NAME "_REFERENCE"
#define SHMT_KERNEL_SETUP_MACRO SHMT_KERNEL_OUR_NAME "_SETUP"
#define SHMT_KERNEL_COMPARE_MACRO SHMT_KERNEL_OUR_NAME "_COMPARE"

/* A C identifier that is no keyword, no name of the expression language, and
 * no macro of ours.  `what` names it in messages. */
enum shmtune_status shmt_kernel_name_check(struct shmt_kernel_reader *reader,
                                           const struct shmt_yaml *node,
                                           const char *what);
/* A C identifier and no more: for arguments. */
enum shmtune_status
shmt_kernel_name_check_form(struct shmt_kernel_reader *reader,
                            const struct shmt_yaml *node, const char *what);
/* Dimension or parameter: its place in the scope. */
bool shmt_kernel_name_find(const struct shmt_kernel *kernel, const char *name,
                           size_t length, size_t *symbol);

/* read.c */

/* A list of the spec: what it is to be, how its items are read, and then what
 * was found. */
struct shmt_kernel_list {
    const struct shmt_yaml *mapping;
    const char *key;               /* in the mapping */
    bool needed;                   /* refused when it is not there */
    enum shmt_yaml_kind kind;      /* a mapping has keys, too */
    const char *expected;          /* "a problem", for messages */
    const char *items_are;         /* "dimensions", for messages */
    size_t least, most;
    size_t size;                   /* bytes of an item */
    enum shmtune_status (*read)(struct shmt_kernel_reader *reader,
                                const struct shmt_yaml *key,
                                const struct shmt_yaml *node, void *item);
    const struct shmt_yaml *node;  /* NULL: it is not there */
    void *items;                   /* in the kernel's arena */
    size_t count;
};
enum shmtune_status shmt_kernel_read_list(struct shmt_kernel_reader *reader,
                                          struct shmt_kernel_list *list);
/* A text of at most `limit` bytes, without control characters. */
enum shmtune_status shmt_kernel_read_string(struct shmt_kernel_reader *reader,
                                            const struct shmt_yaml *node,
                                            size_t limit, const char **out);
/* An expression in the kernel's scope. */
enum shmtune_status shmt_kernel_read_expr(struct shmt_kernel_reader *reader,
                                          const struct shmt_yaml *node,
                                          struct shmt_expr **out);
/* The same; it may use dimensions only.  `what` names it in messages. */
enum shmtune_status
shmt_kernel_read_problem_expr(struct shmt_kernel_reader *reader,
                              const struct shmt_yaml *node,
                              const char *what,
                              struct shmt_expr **out);
bool shmt_kernel_expr_uses_parameters(const struct shmt_kernel *kernel,
                                      const struct shmt_expr *expr);

#endif
