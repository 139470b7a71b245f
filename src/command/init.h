/* SPDX-License-Identifier: MIT */
/*
 * init: what init.c shares with init_write.c, and with the drafts of captured
 * launches.
 */
#ifndef SHMT_COMMAND_INIT_H
#define SHMT_COMMAND_INIT_H

#include "command/command.h"
#include "source/source.h"

/* A macro that may be given another value. */
struct shmt_init_macro {
    const char *name, *value;
    const char *reaches;              /* of a plain definition; NULL: it is
                                         behind #ifndef */
};

/* What a draft is made from. */
struct shmt_init_draft {
    struct shmt_arena *arena;
    const char *path;                 /* of the source, as the spec names it */
    const char *text;                 /* of the source */
    struct shmt_source source;        /* what it says */
    const struct shmt_source_kernel *kernel;
    const struct shmt_source_kernel *reference;  /* NULL: none looks like it */
    const struct shmt_source_launch *launch;     /* NULL: there is none */
    size_t macro_count;
    const struct shmt_init_macro *macros;
    size_t global_count;              /* variables that the kernel uses, too */
    const struct shmt_source_global *globals;
};

/* init_macro.c: once the rest is known. */
enum shmtune_status shmt_init_find_macros(struct shmt_init_draft *draft,
                                          struct shmt_error *err);
/* A `constexpr int NAME = 32;` that would be one of them as a macro; NULL:
 * none. */
const char *shmt_init_constant(const struct shmt_init_draft *draft);

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
                             const char *more, struct shmt_text *text);

/* Writes the spec, with a mark for all that is not known. */
void shmt_init_write(const struct shmt_init_draft *draft,
                     struct shmt_text *text);
/* Powers of two around the value, `most` at most, and the value: "[1, 2, 4],
 * default: 2".  `zero`: 0 may be in the place of 1. */
void shmt_init_values(int64_t value, int64_t most, bool zero,
                      struct shmt_text *text);

/* init_expr.c: appends what C code of the host says as an expression of a
 * spec, with the names that the spec has.  false: it cannot be said. */
bool shmt_init_expr(const struct shmt_init_draft *draft, const char *code,
                    struct shmt_text *text);
/* Up to three extents of a grid or block, "[a, b]"; the same. */
bool shmt_init_extents(const struct shmt_init_draft *draft, const char *code,
                       struct shmt_text *text);
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
