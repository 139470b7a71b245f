/* SPDX-License-Identifier: MIT */
/*
 * shmtune: launch CUDA kernels in the configuration that was measured to be
 * the fastest for the device and the problem at hand.
 *
 * This header is the whole public interface of libshmtune and its manual.  It
 * needs no CUDA header and may be included from C17 and from C++.
 *
 *     shmtune_open       read kernels and tunings from folders, once; or
 *     shmtune_open_memory  from memory, what `shmtune pack` made of a folder
 *     shmtune_select     the best configuration for a device and a problem
 *     shmtune_prepare    its binary, loaded into the current CUDA context
 *     shmtune_launch     on your stream, with your buffers
 *
 * Rules that hold for every function:
 *
 * - None exits, aborts, or changes the environment, the locale, a signal or
 *   the current CUDA context.  None prints or writes a file of what it did
 *   unless the user asks by the environment, which a handle looks at when it is
 *   opened, and a process with more rights than its user never:
 *       SHMTUNE_LOG=FILE, or stderr: a line for each file that was left out,
 *           for the first selection of each problem, for what was prepared,
 *           and for what failed; 1 MiB at most;
 *       SHMTUNE_WANTED=FILE: the problems whose match was not exact, with how
 *           often, added to the file by shmtune_close or the end of the process
 *           (not by a signal or _exit); a child of a fork adds what it selected
 *           itself.  `shmtune tune --wanted FILE` tunes them.
 *   A note (shmtune_note) says where one of them cannot be written.
 * - What can fail returns an enum shmtune_status.  Outputs are written only
 *   when it is SHMTUNE_OK.
 * - `message` is the caller's place for a sentence about a failure, and may be
 *   NULL.  It is written only when the status is not SHMTUNE_OK.
 * - What is opened or prepared is the caller's to close or release.  Every
 *   other pointer that is handed out (kernels, names, texts, the pointers in a
 *   choice) belongs to the handle and is good until shmtune_close.
 * - A handle never changes after shmtune_open: any number of threads may call
 *   anything on it at the same time.
 * - CUDA does not survive a fork: a child may go on with what needs no driver,
 *   and with devices, preparing and launching only where the parent had not
 *   begun with CUDA.
 * - Bytes are bytes, `_us` are microseconds, sizes count elements.
 *
 * What is stable
 *
 * A program runs, without being compiled again, with every library that has
 * the soname it was linked with; the soname changes when that would no longer
 * be true.  Before 1.0 a new minor version may change it, and anything below;
 * from 1.0 on only a new major version may.  The changelog says what changed.
 *
 * - Functions keep their arguments and their meaning; new ones are added.
 * - Every struct that you allocate, but shmtune_message, begins with `size`,
 *   which says how much of it your header knows.  Initialise it by its macro:
 *       struct shmtune_device device = SHMTUNE_DEVICE_INIT;
 *   The library neither reads nor writes beyond `size`.  What your struct has
 *   and an older library does not know is written as 0.  A `size` that is too
 *   small for what the function needs, or above SHMTUNE_SIZE_MAX, is refused:
 *   SHMTUNE_INVALID_ARGUMENT.  So initialise before the first call; the same
 *   struct may then be used again and again.
 * - New members are added at the end of a struct, and 0 in them means what a
 *   library that does not know them does.  A member never moves or changes its
 *   type.  Do not embed these structs in the interface of your own library.
 * - shmtune_message is one array and stays as it is; so does
 *   SHMTUNE_DIMENSIONS.
 * - An enumeration may gain enumerators, which take new values: give a `switch`
 *   a `default`.  No value changes.
 * - Texts (messages, notes, reasons, explanations) are for people, and change.
 */
#ifndef SHMTUNE_H
#define SHMTUNE_H

#include <stddef.h>
#include <stdint.h>

/* What a struct that begins with `size` is initialised with.  In C++ the size
 * is part of the function's name: a program may have parts that were built with
 * other versions of this header. */
#ifdef __cplusplus
extern "C++" {                 /* also where extern "C" surrounds the header */
template <typename Struct, size_t Size> inline Struct shmtune_init()
{
    Struct made = Struct();

    made.size = Size;
    return made;
}
}
#define SHMTUNE_INIT(name) shmtune_init<struct name, sizeof(struct name)>()
#else
#define SHMTUNE_INIT(name) {.size = sizeof(struct name)}
#endif
#define SHMTUNE_DEVICE_INIT SHMTUNE_INIT(shmtune_device)
#define SHMTUNE_DIMENSION_INIT SHMTUNE_INIT(shmtune_dimension)
#define SHMTUNE_ARGUMENT_INIT SHMTUNE_INIT(shmtune_argument)
#define SHMTUNE_CHOICE_INIT SHMTUNE_INIT(shmtune_choice)
#define SHMTUNE_VALUE_INIT SHMTUNE_INIT(shmtune_value)
#define SHMTUNE_GEOMETRY_INIT SHMTUNE_INIT(shmtune_geometry)
enum { SHMTUNE_SIZE_MAX = 4096 };

#ifdef __cplusplus
extern "C" {
#endif
#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

/* The version of this header: as three numbers, as one to compare with
 * (1.2.3 is 10203), and as a text. */
#define SHMTUNE_VERSION_MAJOR 0
#define SHMTUNE_VERSION_MINOR 2
#define SHMTUNE_VERSION_PATCH 0
#define SHMTUNE_VERSION_NUMBER                                               \
    (SHMTUNE_VERSION_MAJOR * 10000 + SHMTUNE_VERSION_MINOR * 100             \
     + SHMTUNE_VERSION_PATCH)
#define SHMTUNE_TEXT_OF(number) #number
#define SHMTUNE_VERSION_TEXT(major, minor, patch)                            \
    SHMTUNE_TEXT_OF(major) "." SHMTUNE_TEXT_OF(minor) "."                    \
    SHMTUNE_TEXT_OF(patch)
#define SHMTUNE_VERSION                                                      \
    SHMTUNE_VERSION_TEXT(SHMTUNE_VERSION_MAJOR, SHMTUNE_VERSION_MINOR,       \
                         SHMTUNE_VERSION_PATCH)

/* The same of the library that is running: a number, and a text. */
int shmtune_version_number(void);
const char *shmtune_version(void);

/* X(name, value, text): the results of every function, and the exit codes of
 * the command `shmtune`. */
#define SHMTUNE_STATUS_LIST(X)                                               \
    X(OK, 0, "success")                                                      \
    X(INVALID_ARGUMENT, 1, "invalid argument")                               \
    X(INVALID_FILE, 2, "invalid file")                                       \
    X(NO_CONFIGURATION, 3, "no valid configuration")                         \
    X(WRONG_RESULT, 4, "the reference or the default is wrong")              \
    X(STORAGE, 5, "a file could not be read or written")                     \
    X(NO_DEVICE, 6, "no usable device or driver")                            \
    X(NO_MEMORY, 7, "out of memory")                                         \
    X(NOT_FOUND, 8, "not found")                                             \
    X(COMPILE, 9, "the kernel does not compile")                             \
    X(CUDA, 10, "a CUDA call failed")                                        \
    X(INTERNAL, 70, "a defect in shmtune")                                   \
    X(INTERRUPTED, 130, "interrupted")

enum shmtune_status {
#define SHMTUNE_STATUS_ENUM(name, value, text) SHMTUNE_##name = value,
    SHMTUNE_STATUS_LIST(SHMTUNE_STATUS_ENUM)
#undef SHMTUNE_STATUS_ENUM
    SHMTUNE_STATUS_COUNT_GUARD = 255
};

/* A constant text; never NULL. */
const char *shmtune_status_text(enum shmtune_status status);

/*
 * What selection needs to know of a device.  shmtune_device_query fills it
 * from the driver; an application without CUDA, or a test, may fill it by
 * hand or from a tuning.  Zero bytes and counts mean "unknown".  `size` has to
 * reach l2_bytes.
 */
struct shmtune_device {
    size_t size;                   /* SHMTUNE_DEVICE_INIT sets it */
    char name[256];
    char uuid[64];                 /* "GPU-...", or "" */
    int compute_major;             /* 9 for an H100 */
    int compute_minor;
    int multiprocessors;
    int max_threads_per_block;
    int max_threads_per_multiprocessor;
    int max_blocks_per_multiprocessor;
    int registers_per_block;
    int registers_per_multiprocessor;
    int warp_size;
    int64_t shared_per_block;         /* bytes without opt-in: 49152 */
    int64_t shared_per_block_optin;   /* bytes: 232448 on an H100 */
    int64_t shared_per_multiprocessor;
    int64_t shared_reserved_per_block; /* bytes the driver takes: 1024 */
    int64_t l2_bytes;
    int64_t memory_bytes;
    int64_t max_grid_y;               /* 65535 */
    int clock_khz;
    int memory_clock_khz;
    int memory_bus_bits;
    int driver_version;               /* 13000 */
};

/* One sentence: what failed, where, both sides of the comparison with their
 * units, and the remedy.  No newline at its end.  It needs no initialising. */
enum { SHMTUNE_MESSAGE_BYTES = 1024 };
struct shmtune_message {
    char text[SHMTUNE_MESSAGE_BYTES];
};

/* -- devices -------------------------------------------------------------- */

/* The device of the CUDA context that is current in the calling thread. */
#define SHMTUNE_CURRENT_DEVICE (-1)

/*
 * Ask the driver for a device: `ordinal` counts from 0 as CUDA counts, or is
 * SHMTUNE_CURRENT_DEVICE.  The first call of a process opens the driver, which
 * takes 0.1 s or more; later calls take microseconds.  Whether there is a
 * driver is checked once only.
 *
 * SHMTUNE_INVALID_ARGUMENT: `out` is NULL or has a wrong `size`.
 * SHMTUNE_NO_DEVICE: no driver, no such device, or no current context.
 * SHMTUNE_CUDA: the driver refused.
 */
enum shmtune_status shmtune_device_query(int ordinal,
                                         struct shmtune_device *out,
                                         struct shmtune_message *message);

/*
 * A typical device of an architecture, "sm_90", from a table: needs no CUDA.
 * SHMTUNE_NOT_FOUND: not in the table; the message lists those that are.
 */
enum shmtune_status shmtune_device_for_arch(const char *arch,
                                            struct shmtune_device *out,
                                            struct shmtune_message *message);

/* -- opening -------------------------------------------------------------- */

struct shmtune;          /* a handle: kernels and tunings in memory */
struct shmtune_kernel;   /* one kernel of a handle */

/*
 * Read kernels and tunings.  `path` is one folder or several with ':' between
 * them; NULL stands for, in this order, the folders of $SHMTUNE_PATH (absolute
 * ones only), the user's ($XDG_DATA_HOME/shmtune, else
 * ~/.local/share/shmtune) and the installed ones (PREFIX/share/shmtune).  The
 * current folder is never searched; a relative name in `path` is one from
 * what it is during the call.  A process that runs with more rights than
 * its user (set-user-id) takes neither from the environment.
 *
 * A folder has, all optional:
 *     kernels/NAME.yaml           kernel specs, with the sources they name:
 *                                 trusted, as any code you ship
 *     tunings/NAME/ANY.yaml       tunings of the kernel NAME: data, not
 *                                 trusted
 *     cubins/                     binaries of those kernels, for machines
 *                                 without NVRTC (see shmtune_prepare): trusted
 * A kernel is known by the name in its spec; a note says where its file is
 * called otherwise.  Of two kernels of one name the first is taken, and a note
 * names the other where it is not the same kernel; tunings of all folders
 * count, those of earlier folders first where two are for one device and
 * problem.  A folder that is named twice counts once.
 *
 * A file that is unreadable, malformed, or made for other sources of a kernel
 * does not fail the call: it is left out, and a note says why (shmtune_note).
 * A missing folder does not fail it either.  An empty handle is valid.
 *
 * SHMTUNE_INVALID_ARGUMENT: `out` is NULL, or a folder's name is empty.
 * SHMTUNE_NO_MEMORY.
 */
enum shmtune_status shmtune_open(const char *path, struct shmtune **out,
                                 struct shmtune_message *message);

/*
 * The same from memory: `bytes` is what `shmtune pack DIR -o FILE` wrote, all
 * of it and no more, linked into the program or read by it.  Nothing of it is
 * copied before it is needed: the bytes have to stay there, unchanged, until
 * shmtune_close.  They may be read-only, and lie at any address.  No folder is
 * looked into.
 *
 * The pack is trusted no more than a file: its specs and binaries as those of
 * a folder, its tunings not.  Damage of its table fails the call; a file in it
 * whose bytes are damaged is left out with a note, or counts as absent when it
 * is a binary.  In messages its files are called "memory:0/tunings/...".
 *
 * A kernel that includes headers of its own is not compiled from memory: its
 * pack needs the binaries (`shmtune pack --arch`).
 *
 * SHMTUNE_INVALID_ARGUMENT: `bytes` or `out` is NULL, or 1,024 are open.
 * SHMTUNE_INVALID_FILE: no pack, one that is cut or damaged, or of a newer
 * version.
 * SHMTUNE_NO_MEMORY.
 */
enum shmtune_status shmtune_open_memory(const void *bytes, size_t size,
                                        struct shmtune **out,
                                        struct shmtune_message *message);

/* Gives back what shmtune_open or shmtune_open_memory took; NULL is allowed.
 * Release what was prepared from it first. */
void shmtune_close(struct shmtune *library);

/* What was left out when it was opened, one sentence each, with
 * file:line:column where there is one.  NULL past the last. */
size_t shmtune_note_count(const struct shmtune *library);
const char *shmtune_note(const struct shmtune *library, size_t k);

/* -- kernels -------------------------------------------------------------- */

/* Dimensions of a problem: at most. */
enum { SHMTUNE_DIMENSIONS = 8 };

/* Sorted by name; NULL past the last, and NULL for a name that is not there
 * (the notes say whether its file was refused). */
size_t shmtune_kernel_count(const struct shmtune *library);
const struct shmtune_kernel *shmtune_kernel_at(const struct shmtune *library,
                                               size_t k);
const struct shmtune_kernel *shmtune_kernel_find(const struct shmtune *library,
                                                 const char *name);

const char *shmtune_kernel_name(const struct shmtune_kernel *kernel);
const char *shmtune_kernel_summary(const struct shmtune_kernel *kernel);

/* What a problem is made of: dimension k, in the order of the spec, which is
 * the order of `problem` everywhere. */
struct shmtune_dimension {
    size_t size;           /* SHMTUNE_DIMENSION_INIT sets it */
    const char *name;      /* "rows" */
    int64_t fallback;      /* the spec's default size */
    int64_t low, high;     /* the sizes the kernel is right for */
};
size_t shmtune_dimension_count(const struct shmtune_kernel *kernel);
/* SHMTUNE_NOT_FOUND past the last. */
enum shmtune_status shmtune_dimension_at(const struct shmtune_kernel *kernel,
                                         size_t k,
                                         struct shmtune_dimension *out);

/* What a launch is given: argument k, in the order of the spec's own
 * `arguments`, which is the order of `arguments` in shmtune_launch.  It need
 * not be that of the kernel's parameters, which a launch of the spec lists. */
enum shmtune_role {
    SHMTUNE_INPUT,       /* a buffer that is read */
    SHMTUNE_OUTPUT,      /* a buffer that is written */
    SHMTUNE_INOUT,       /* both */
    SHMTUNE_WORKSPACE,   /* a buffer that is yours to provide and whose
                            contents are not read afterwards */
    SHMTUNE_SCALAR,      /* a number */
    SHMTUNE_VALUE,       /* an array that is passed by value: its elements lie
                            in your memory, not the device's, and come to the
                            constant memory of the launch */
    SHMTUNE_SYMBOL,      /* a __constant__ or __device__ variable of the
                            source: shmtune_fill fills it, shmtune_read reads
                            one that the launches write */
    SHMTUNE_POINTER,     /* to the buffer of another argument, or null */
    SHMTUNE_STRUCT,      /* a struct that is passed by value, made of numbers
                            and such pointers */
    SHMTUNE_TENSOR_MAP,  /* a CUtensorMap of another argument's buffer, which
                            the library encodes */
    SHMTUNE_TEXTURE      /* a CUtexObject or cudaTextureObject_t of yours,
                            which has the extents, addressing and filter that
                            the spec says.  The buffer that the spec makes it
                            of is yours alone: give NULL for that, if no launch
                            takes it, too */
};
struct shmtune_argument {
    size_t size;             /* SHMTUNE_ARGUMENT_INIT sets it */
    const char *name;        /* "in" */
    const char *type;        /* the spec's word, "f32"; "pointer", ... */
    size_t element_bytes;    /* 4 for f32; of a struct all */
    enum shmtune_role role;
    int zeroed;              /* 1: shmtune_launch clears it on the stream */
    const char *count;       /* the spec's expression for how many elements a
                                buffer has, "rows * cols"; NULL for what is no
                                array */
    const char *value;       /* the spec's expression for a scalar, "rows";
                                NULL for anything else */
};
size_t shmtune_argument_count(const struct shmtune_kernel *kernel);
/* SHMTUNE_NOT_FOUND past the last. */
enum shmtune_status shmtune_argument_at(const struct shmtune_kernel *kernel,
                                        size_t k,
                                        struct shmtune_argument *out);

/* Tunable parameters; NULL past the last. */
size_t shmtune_parameter_count(const struct shmtune_kernel *kernel);
const char *shmtune_parameter_name(const struct shmtune_kernel *kernel,
                                   size_t k);

/* The devices this kernel has tunings for, in search order (one may come
 * twice, from two files). */
size_t shmtune_tuned_device_count(const struct shmtune_kernel *kernel);
/* SHMTUNE_NOT_FOUND past the last. */
enum shmtune_status
shmtune_tuned_device_at(const struct shmtune_kernel *kernel, size_t k,
                        struct shmtune_device *out);

/* -- selecting ------------------------------------------------------------ */

/* How good a match is, best first; SHMTUNE_LEARNT comes after SHMTUNE_EXACT. */
enum shmtune_match {
    SHMTUNE_EXACT,             /* measured on this device, for this problem */
    SHMTUNE_NEAREST_SIZE,      /* measured on this device, for the nearest
                                  problem: the smallest sum over dimensions
                                  of |log2(size / tuned size)|, 0.8 for each
                                  factor 2 (of up to two) that only one of
                                  both sizes has, and 8 for each halving of
                                  the share of the device that its blocks
                                  fill, where they fill less than they did.
                                  If the winner there may not run here, a tie
                                  of it is used, for 1 more */
    SHMTUNE_SAME_CAPABILITY,   /* measured on another device of this compute
                                  capability, nearest as above, each halving
                                  or doubling of the multiprocessors counted
                                  like one of a dimension, of the memory's
                                  bandwidth, where known, like a quarter */
    SHMTUNE_DEFAULT,           /* not measured: the spec's own default */
    SHMTUNE_LEARNT             /* on this device, by what was learnt there from
                                  other problems: a tuning's dispatch */
};
/* "exact", "nearest size", "same capability", "default", "learnt"; never
 * NULL. */
const char *shmtune_match_text(enum shmtune_match match);

/* A configuration for one device and one problem.  Plain data: yours, copy it
 * as you like; what it points to belongs to the handle.  Read only.  `size` has
 * to reach time_us. */
struct shmtune_choice {
    size_t size;                    /* SHMTUNE_CHOICE_INIT sets it */
    const struct shmtune_kernel *kernel;
    enum shmtune_match match;
    int compute_major;              /* of the device it was selected for */
    int compute_minor;
    int64_t problem[SHMTUNE_DIMENSIONS];
    const int64_t *tuned_problem;   /* where it was measured; NULL: default,
                                       learnt */
    const uint16_t *values;         /* for each parameter the index of its
                                       value in the spec's list */
    const char *file;               /* the tuning; NULL: default */
    const char *reason;             /* why this match and no better one */
    double time_us;                 /* on the tuned device at
                                       tuned_problem; < 0: not measured */
    double default_us;              /* of the spec's default in the same
                                       measurement; < 0: not measured */
};

/*
 * The best configuration known for `device` and `problem`
 * (shmtune_dimension_count sizes, in their order; NULL is right for none).
 * Whatever its match, it has been checked: the constraints hold at this
 * problem, and on this device each launch is within the limits, opt-in shared
 * memory included, and at least one block of it fits a multiprocessor.
 *
 * Takes well under 100 ns when the match is exact, about 100 when it is learnt,
 * a few microseconds otherwise, some ten where hardly anything that was tuned
 * fits; allocates nothing, makes no system call, takes no lock.  ($SHMTUNE_LOG:
 * but for the first of a problem.)
 *
 * SHMTUNE_INVALID_ARGUMENT: a NULL, a wrong `size`, a problem outside of the
 * kernel's domain, or a device with no compute capability.
 * SHMTUNE_NO_CONFIGURATION: not even the default can run here.  Either way
 * shmtune_explain says why.
 */
enum shmtune_status shmtune_select(const struct shmtune_kernel *kernel,
                                   const struct shmtune_device *device,
                                   const int64_t *problem,
                                   struct shmtune_choice *out);

/*
 * Which tunings shmtune_select considers for the same arguments, best first,
 * and what is wrong with each one it passes over: lines of text, cut to
 * `room` bytes, a NUL included.  Returns the length of the whole without its
 * NUL, as snprintf does; `text` may be NULL when `room` is 0.  May allocate:
 * not for a hot path.
 */
size_t shmtune_explain(const struct shmtune_kernel *kernel,
                       const struct shmtune_device *device,
                       const int64_t *problem, char *text, size_t room);

/* -- what a choice means -------------------------------------------------- */

/* "BLOCK_X=32 BLOCK_Y=8 MEMORY=static"; length and room as above. */
size_t shmtune_choice_text(const struct shmtune_choice *choice, char *text,
                           size_t room);

/* One parameter of it, for applications that build their kernel themselves:
 * a number, or a word.  SHMTUNE_NOT_FOUND: no such parameter. */
struct shmtune_value {
    size_t size;           /* SHMTUNE_VALUE_INIT sets it */
    double number;         /* 0 for a word */
    const char *word;      /* NULL for a number */
};
enum shmtune_status shmtune_choice_value(const struct shmtune_choice *choice,
                                         const char *parameter,
                                         struct shmtune_value *out);

/* One launch of it.  A choice is one or more launches, one after the other on
 * one stream.  SHMTUNE_NOT_FOUND past the last. */
struct shmtune_geometry {
    size_t size;               /* SHMTUNE_GEOMETRY_INIT sets it */
    const char *entry;         /* the kernel's name in the source, with
                                  {NAME} where a template takes a value */
    uint32_t grid[3];          /* blocks */
    uint32_t block[3];         /* threads */
    uint32_t cluster[3];       /* blocks; {0, 0, 0}: no cluster */
    int carveout;              /* percent of shared memory; -1: the driver's */
    int64_t shared_dynamic;    /* bytes */
    int cooperative;           /* 1: all its blocks are resident at once */
};
enum shmtune_status shmtune_choice_launch(const struct shmtune_choice *choice,
                                          size_t k,
                                          struct shmtune_geometry *out);

/*
 * Bytes of the buffer that argument k needs at the choice's problem, or of the
 * array that it passes by value, or of the variable that it fills, or of a
 * texture's handle; 0 for a scalar, a pointer and a struct, and for what this
 * configuration does not use, for which shmtune_launch takes NULL.  A workspace
 * depends on the configuration: ask after every selection.
 *
 * SHMTUNE_NOT_FOUND past the last; SHMTUNE_INVALID_ARGUMENT when the spec gives
 * no size at this problem (more than 2^63 bytes, say).
 */
enum shmtune_status shmtune_argument_bytes(const struct shmtune_choice *choice,
                                           size_t k, int64_t *bytes);

/* -- preparing and launching ---------------------------------------------- */

/* A choice, loaded into one CUDA context and ready to launch. */
struct shmtune_function;

/* Flags of shmtune_prepare. */
enum {
    /* Compile with NVRTC what is not in the cache: 0.1 to some seconds of this
     * thread's time.  Without it the compiler is never opened.  It is the
     * library that $SHMTUNE_NVRTC names; else one under $SHMTUNE_CUDA,
     * $CUDA_HOME, $CUDA_PATH or /usr/local/cuda, or on the loader's path. */
    SHMTUNE_ALLOW_COMPILE = 1,
    /* Neither read nor write the cache. */
    SHMTUNE_NO_CACHE = 2
};

/*
 * Load the binary of `choice` into the CUDA context that is current in the
 * calling thread (cudaSetDevice and any call of the runtime, or
 * cuCtxSetCurrent, make one current), check it against that device, and allow
 * it the shared memory it needs, opt-in and carve-out included.
 *
 * The binary comes from the folder `cubins` beside the kernel's `kernels`,
 * else from the cache, $XDG_CACHE_HOME/shmtune/cubin (else
 * ~/.cache/shmtune/cubin), under a key of all that goes into it: source, local
 * includes, spec, options, architecture.  The cache is created for its owner
 * alone (0700), and one that others may write is not used.  A file that is
 * damaged counts as absent, and so does one that the driver refuses because a
 * newer compiler made it: the next place is looked into, and with
 * SHMTUNE_ALLOW_COMPILE the one in the cache is replaced.  A cache that cannot
 * be written is no failure.  To ship binaries, copy what SHMTUNE_ALLOW_COMPILE
 * has put into the cache to `cubins`.
 *
 * The function is good for the choice's problem and for this context; release
 * it before the context is destroyed.  It may outlive the choice, not the
 * handle.
 *
 * SHMTUNE_INVALID_ARGUMENT: a NULL, a wrong `size`, an unknown flag, a choice
 * made for another compute capability than that of the current context, a
 * number or a count of the spec that does not fit its type at this problem, or
 * a kernel whose launches are functions of the host.
 * SHMTUNE_NO_DEVICE: no driver, or no current context.
 * SHMTUNE_NOT_FOUND: in neither folder, and SHMTUNE_ALLOW_COMPILE is not set,
 * or NVRTC is not installed or knows nothing of the device's architecture.
 * SHMTUNE_COMPILE: the source does not compile.
 * SHMTUNE_INVALID_FILE: the kernel in the binary takes other parameters than
 * the spec's launch passes, in number or in size.
 * SHMTUNE_STORAGE: a header beside the source is not what it was when the
 * kernel was opened: it would make another kernel of it.
 * SHMTUNE_NO_CONFIGURATION: the binary cannot run on this device, or not with
 * this driver.
 * SHMTUNE_CUDA, SHMTUNE_NO_MEMORY.
 */
enum shmtune_status shmtune_prepare(const struct shmtune_choice *choice,
                                    unsigned flags,
                                    struct shmtune_function **out,
                                    struct shmtune_message *message);

/*
 * A second function, of the same kernel and binary, for a choice with another
 * problem: no file, no compiler, no loading; microseconds.  Both are functions
 * of their own, to be released in any order.
 *
 * SHMTUNE_NOT_FOUND: the choice needs another binary (other parameters, or a
 * dimension that is compiled in), or is of another handle; prepare it.
 * SHMTUNE_INVALID_ARGUMENT: a NULL, or the current context is not the one of
 * `function`.
 * SHMTUNE_NO_DEVICE: no context is current.
 * SHMTUNE_NO_CONFIGURATION, SHMTUNE_CUDA, SHMTUNE_NO_MEMORY.
 */
enum shmtune_status shmtune_resize(const struct shmtune_function *function,
                                   const struct shmtune_choice *choice,
                                   struct shmtune_function **out,
                                   struct shmtune_message *message);

/* Give it back, and unload the binary with its last function; NULL is
 * allowed.  Nothing of it may be running: synchronise your stream first. */
void shmtune_release(struct shmtune_function *function);

/*
 * Fill argument k, a __constant__ or __device__ variable of the source
 * (SHMTUNE_SYMBOL), on `stream`, with the shmtune_argument_bytes that lie at
 * `data`: in the host's memory or the device's.  Memory of the host that is
 * not page-locked has been read when the call returns.  Each variable has to be
 * filled once before the first launch, but for outputs and workspaces of the
 * spec, and keeps what it holds: one that the launches write, what they leave.
 * Functions that shmtune_resize has made share the variables of the one that
 * was prepared.
 * Where a configuration's binary has no such variable nothing is done.
 *
 * SHMTUNE_INVALID_ARGUMENT: a NULL, an argument of another role, or `bytes`
 * that are not the variable's.  SHMTUNE_NOT_FOUND: past the last argument.
 * SHMTUNE_CUDA.
 */
enum shmtune_status shmtune_fill(const struct shmtune_function *function,
                                 size_t k, const void *data, size_t bytes,
                                 void *stream,
                                 struct shmtune_message *message);

/*
 * Read argument k, a variable of the source that the launches write, on
 * `stream`: copy its shmtune_argument_bytes to `data`, in the host's memory or
 * the device's.  It is there when the stream has come so far; memory of the
 * host that is not page-locked when the call returns.  All launches of a
 * function write the same variable: order those whose results you want.
 *
 * SHMTUNE_INVALID_ARGUMENT: a NULL, an argument of another role, or `bytes`
 * that are not the variable's.  SHMTUNE_NOT_FOUND: past the last argument, or
 * the configuration's binary has no such variable.  SHMTUNE_CUDA.
 */
enum shmtune_status shmtune_read(const struct shmtune_function *function,
                                 size_t k, void *data, size_t bytes,
                                 void *stream,
                                 struct shmtune_message *message);

/*
 * Launch on `stream` (a CUstream or cudaStream_t; NULL: the legacy default
 * stream, also in a program that is compiled for one a thread) and return
 * without waiting.  Clears on the stream what the spec wants cleared, then
 * launches every launch of the kernel in order.
 *
 * `arguments` has one pointer for each argument of the spec, in the order of
 * shmtune_argument_at, not of the kernel's parameters, each as cuLaunchKernel
 * takes them: for a buffer the address of your device pointer
 * (of a CUdeviceptr or of a `float *`), for a scalar the address of a number
 * of its type, or NULL for the value that the spec computes from the problem,
 * for an array that is passed by value the address of its first element, for a
 * pointer, a struct or a tensor map the address of yours, or NULL for the one
 * that the spec makes of numbers and of the buffers you give, which are given
 * in any case, for a texture the address of your handle of it, 8 bytes.
 * Numbers and arrays are read before the call returns, so two launches may
 * have two of them, on any streams.  A NULL is right, too, where
 * shmtune_argument_bytes says 0, and for a variable.
 *
 * The context of the function has to be current in the calling thread.
 * Allocates nothing and never synchronises.  Any number of threads may launch
 * one function at the same time, on streams of their own if the kernel has a
 * workspace, each with a workspace of its own.
 *
 * SHMTUNE_INVALID_ARGUMENT: a NULL, or a buffer or an array that is a null
 * pointer, or a texture that is 0, or a variable that was never filled; then
 * nothing was launched.  SHMTUNE_CUDA: the driver refused, or reports the error
 * of earlier work; the message has its name.
 */
enum shmtune_status shmtune_launch(const struct shmtune_function *function,
                                   void *const *arguments, void *stream,
                                   struct shmtune_message *message);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif

#endif
