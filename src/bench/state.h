/* SPDX-License-Identifier: MIT */
/*
 * state: shared by the files of bench/ alone.
 *
 * Functions that return a CUresult are called while or after a candidate runs:
 * an error may be the candidate's fault; shmt_bench_set_verdict decides that.
 */
#ifndef SHMT_BENCH_STATE_H
#define SHMT_BENCH_STATE_H

#include "bench/bench.h"
#include "bench/probe.h"

enum { SHMT_BENCH_MODULES = 32 };

/* One argument of the kernel. */
struct shmt_bench_slot {
    struct shmt_buffer actual;     /* what the kernel is given */
    struct shmt_buffer expected;   /* outputs and in-outs: the reference's, */
    bool given;                    /* or not: it was read from a file */
    struct shmt_buffer initial;    /* in-outs: as they begin */
    struct shmt_region region;     /* of them, what is looked at */
    double scale;                  /* what the tolerance allows by the size
                                      of all that is expected */
    union shmt_element_scalar scalar;
    void *array;                   /* passed by value, as are pointers. It has
                                      as many bytes as the arguments of a
                                      launch may take, so that the driver reads
                                      zeros if the kernel takes more than the
                                      spec passes */
    void *packed;                  /* what the array of a pointer or a struct
                                      is made of at each launch; of a tensor
                                      map or a texture the numbers */
    uint64_t encoded;              /* the address that the array of a tensor
                                      map is for; 0: of none */
    struct shmt_texture texture;
};

/* A candidate on the device. */
struct shmt_bench_loaded {
    char key[SHMT_DIGEST_TEXT];
    struct shmt_image *image;
    struct shmt_module module;
    uint64_t used;                 /* time of the last use; the oldest is
                                      unloaded first */
    bool pinned;                   /* it stays loaded */
    bool warm;                     /* it has run */
};

/* What is launched: a candidate, or the reference. */
struct shmt_bench_run {
    struct shmt_bench_loaded *loaded;
    struct shmt_kernel_evaluated *evaluated;   /* its launches, too */
    bool expected;                 /* outputs go to slot.expected, but for
                                      what is given */
    bool setup;                    /* in-outs are slot.initial */
};

/* From where a buffer was in the application to where it is. */
struct shmt_bench_move {
    uint64_t begin, end;           /* addresses there */
    CUdeviceptr now;
};

struct shmt_bench {
    const struct shmt_kernel *kernel;
    struct shmt_bench_options options;
    struct shmtune_device device;
    char arch[16];
    CUdevice handle;
    bool retained;
    CUstream stream;
    CUevent begin, end;
    struct shmt_probe probe;
    bool lost;
    double answer_s;               /* that the program of the answer took for
                                      the request at hand, */
    double once_s;                 /* and what was compiled for it here */
    bool prepared;                 /* for `problem` */
    int64_t problem[SHMT_KERNEL_DIMENSIONS];
    struct shmt_bench_slot slots[SHMT_KERNEL_ARGUMENTS];
    size_t move_count;             /* of those that have an address there, */
    struct shmt_bench_move moves[SHMT_KERNEL_ARGUMENTS];   /* by it */
    uint64_t hashes[SHMT_PROBE_FINDINGS];   /* when they were prepared */
    struct shmt_bench_loaded modules[SHMT_BENCH_MODULES];
    struct shmt_kernel_evaluated comparing;
    struct shmt_bench_run comparison;       /* of `comparing` */
    struct shmt_buffer counter;             /* of what it finds wrong */
    uint64_t uses;
    const struct shmt_launch *refused;      /* the host's function that said
                                               so; NULL: none did */
    int refusal;                            /* what it returned */
};

/* Marks the bench lost when `result` cannot be recovered from, and turns it
 * into a verdict: crash, timeout, out of memory, launch error.  `when` is
 * part of the reason. */
void shmt_bench_set_verdict(struct shmt_bench *bench, CUresult result,
                            const char *when, struct shmt_result *out);

/* -- bench.c -------------------------------------------------------- */

/* Loads the binary of a configuration, or finds it loaded.  It stays loaded
 * until its place is needed.  SHMTUNE_NO_MEMORY is the host's; where the driver
 * had no memory for the binary, it is SHMTUNE_CUDA, and *full, unless NULL. */
enum shmtune_status shmt_bench_load(struct shmt_bench *bench,
                                    struct shmt_kernel_evaluated *evaluated,
                                    struct shmt_bench_loaded **out, bool *full,
                                    struct shmt_error *err);

/* Loads what is asked for and makes it ready.  A verdict in *out where it
 * cannot be launched. */
enum shmtune_status
shmt_bench_prepare_run(struct shmt_bench *bench,
                       const struct shmt_bench_request *request,
                       struct shmt_bench_run *run, struct shmt_result *out,
                       struct shmt_bench_note *note, struct shmt_error *err);

/* -- problem.c ------------------------------------------------------ */

/* Buffers, inputs and the reference's results for a problem; kept until the
 * problem changes. */
enum shmtune_status shmt_bench_problem_prepare(struct shmt_bench *bench,
                                               const int64_t *problem,
                                               struct shmt_error *err);
void shmt_bench_problem_free(struct shmt_bench *bench);
/* Loads and prepares the reference or the setup. */
enum shmtune_status shmt_bench_problem_load(struct shmt_bench *bench,
                                            struct shmt_bench_run *run,
                                            struct shmt_error *err);
/* The failure of what a problem needs, `what`, as SHMTUNE_WRONG_RESULT; what
 * could not be read or written, and no memory, stay what they are. */
enum shmtune_status shmt_bench_problem_refuse(const struct shmt_kernel *kernel,
                                              const char *what,
                                              enum shmtune_status status,
                                              struct shmt_error *err);

/* Scalars and workspaces of one configuration.  A workspace that does not
 * fit the device fails the candidate; a status is an error of the spec. */
enum shmtune_status
shmt_bench_problem_configure(struct shmt_bench *bench,
                             struct shmt_kernel_evaluated *evaluated,
                             struct shmt_result *out, struct shmt_error *err);

/* After a candidate that wrote outside of its outputs: checks inputs and
 * expected results by their hashes and repairs the guards.  If anything else
 * was damaged, the problem is marked to be prepared again. */
CUresult shmt_bench_problem_repair(struct shmt_bench *bench);

/* Whether what a candidate leaves in the argument is compared. */
bool shmt_bench_has_result(const struct shmt_argument *argument);

/* -- verify.c ------------------------------------------------------- */

/* Computes slot.scale from the expected results, where a tolerance asks. */
CUresult shmt_bench_verify_scale(struct shmt_bench *bench);
/* Waits for the stream, compares the outputs, checks guards and inputs.  Sets
 * a verdict in *out only when something is wrong. */
CUresult shmt_bench_verify(struct shmt_bench *bench, uint32_t poison,
                           struct shmt_result *out);

/* -- input.c -------------------------------------------------------- */

/* Makes and fills array k, which is passed by value: the reference and every
 * candidate get it.  `digest` goes on with what is read from files. */
enum shmtune_status
shmt_bench_input_array(struct shmt_bench *bench, size_t k,
                       const struct shmt_fill_values *values,
                       struct shmt_digest *digest, struct shmt_error *err);
/* Fills a buffer from a file. */
enum shmtune_status
shmt_bench_input_load(struct shmt_bench *bench,
                      const struct shmt_buffer *buffer,
                      const struct shmt_fill_values *values,
                      struct shmt_digest *digest, struct shmt_error *err);
/* Whether the files that were read are those that the tuner saw, also for a
 * worker that came later. */
enum shmtune_status shmt_bench_input_check(const struct shmt_bench *bench,
                                           struct shmt_digest *digest,
                                           struct shmt_error *err);

/* -- relocate.c ----------------------------------------------------- */

/* Notes where the buffers are, which are made. */
void shmt_bench_relocate_open(struct shmt_bench *bench);
/* Makes each word of what an argument holds, from a multiple of eight bytes of
 * it on, the address that it was in the application, if it was one. */
void shmt_bench_relocate(const struct shmt_bench *bench, void *bytes,
                         size_t size);

/* -- setup.c -------------------------------------------------------- */

/* Fills what the spec's setup fills, if it has one.  SHMTUNE_WRONG_RESULT when
 * the setup fails. */
enum shmtune_status shmt_bench_setup(struct shmt_bench *bench,
                                     const int64_t *problem,
                                     struct shmt_error *err);

/* -- texture.c ------------------------------------------------------ */

/* Evaluates the textures, and makes those of inputs. */
enum shmtune_status
shmt_bench_texture_make(struct shmt_bench *bench,
                        struct shmt_kernel_evaluated *evaluated,
                        struct shmt_error *err);
/* Copies inputs into the arrays that they are read from. */
CUresult shmt_bench_texture_fill(struct shmt_bench *bench);
/* Makes the texture k be of the buffer at `address`. */
CUresult shmt_bench_texture_link(struct shmt_bench *bench, size_t k,
                                 CUdeviceptr address);

/* -- answer.c ------------------------------------------------------- */

/* Lets the spec's program compute what is expected, or finds it in the cache,
 * if there is one.  SHMTUNE_WRONG_RESULT when it fails. */
enum shmtune_status shmt_bench_answer(struct shmt_bench *bench,
                                      struct shmt_kernel_evaluated *evaluated,
                                      struct shmt_error *err);

/* -- compare.c ------------------------------------------------------ */

/* Makes the launches that compare ready, if the spec has some.
 * SHMTUNE_WRONG_RESULT when they cannot be. */
enum shmtune_status shmt_bench_compare_open(struct shmt_bench *bench,
                                            const int64_t *problem,
                                            struct shmt_error *err);
void shmt_bench_compare_close(struct shmt_bench *bench);
/* Lets them compare, and waits for the stream.  Sets a verdict in *out only
 * when something is wrong. */
CUresult shmt_bench_compare(struct shmt_bench *bench, struct shmt_result *out);

/* -- run.c ---------------------------------------------------------- */

/* Fills the variables of the run's binary that are read alone, and the arrays
 * of textures, once before its launches, as an application does; the setup's
 * without the variables that the setup fills. */
CUresult shmt_bench_run_fill(struct shmt_bench *bench,
                             const struct shmt_bench_run *run);
/* Copies to the variables that launches may write what is in their buffers, and
 * back what is compared. */
CUresult shmt_bench_run_put(struct shmt_bench *bench,
                            const struct shmt_bench_run *run);
CUresult shmt_bench_run_take(struct shmt_bench *bench,
                             const struct shmt_bench_run *run);
/* Sets everything that a launch may write, variables too, to its state before
 * the first launch. */
CUresult shmt_bench_run_restore(struct shmt_bench *bench,
                                const struct shmt_bench_run *run,
                                uint32_t poison);
/* Zeroes what the spec wants zeroed; launches. */
CUresult shmt_bench_run_zero(struct shmt_bench *bench,
                             const struct shmt_bench_run *run);
CUresult shmt_bench_run_launch(struct shmt_bench *bench,
                               const struct shmt_bench_run *run);
/* All three, and the variables are taken. */
CUresult shmt_bench_run_fresh(struct shmt_bench *bench,
                              const struct shmt_bench_run *run,
                              uint32_t poison);

/* Writes the samples to *out.  The verdict is SLOW when the candidate is given
 * up. */
CUresult shmt_bench_time(struct shmt_bench *bench,
                         const struct shmt_bench_run *run,
                         const struct shmt_bench_request *request,
                         struct shmt_result *out);

#endif
