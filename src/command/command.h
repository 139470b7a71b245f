/* SPDX-License-Identifier: MIT */
/*
 * command: what the commands and main.c share.  A command is one file
 * <name>.c that defines `const struct shmt_command shmt_command_<name>`,
 * and one line in SHMT_COMMAND_LIST.
 *
 * Results go to standard output, everything else to standard error.  A
 * command returns a status and a message; main prints the message and turns
 * the status into the exit code.
 */
#ifndef SHMT_COMMAND_H
#define SHMT_COMMAND_H

#include <signal.h>
#include <stdio.h>

#include "kernel/kernel.h"

/* In the order of the help. */
#define SHMT_COMMAND_LIST(X)                                                 \
    X(tune)                                                                  \
    X(dispatch)                                                              \
    X(list)                                                                  \
    X(space)                                                                 \
    X(inspect)                                                               \
    X(show)                                                                  \
    X(explain)                                                               \
    X(report)                                                                \
    X(capture)                                                               \
    X(run)                                                                   \
    X(init)                                                                  \
    X(check)                                                                 \
    X(doctor)                                                                \
    X(score)                                                                 \
    X(import)                                                                \
    X(export)                                                                \
    X(pack)                                                                  \
    X(data)                                                                  \
    X(completion)                                                            \
    X(worker)

struct shmt_command;
struct shmt_command_option;

/* One use of a command. */
struct shmt_command_call {
    const struct shmt_command *command;
    int count;              /* words behind the command's name */
    char **words;
    bool quiet;             /* -q: no progress, no notices */
    bool verbose;           /* -v */
    bool wide;              /* --wide: all columns, however long a line gets */
    size_t width;           /* of a line on standard output, in columns */
    bool colour;            /* on standard output */
    bool error_colour;      /* on standard error */
    /* NULL, or the command is not run: its options are shown, and
     * shmt_command_options fails without a word. */
    void (*show_options)(void *context,
                         const struct shmt_command_option *options);
    void *context;
};

struct shmt_command {
    const char *name;
    const char *summary;    /* one line for the list; NULL: not listed */
    const char *help;       /* usage, options, examples: for --help */
    enum shmtune_status (*run)(const struct shmt_command_call *call,
                               struct shmt_error *err);
};

#define SHMT_COMMAND_DECLARE(name)                                           \
    extern const struct shmt_command shmt_command_##name;
SHMT_COMMAND_LIST(SHMT_COMMAND_DECLARE)
#undef SHMT_COMMAND_DECLARE

/* All of them; NULL ends the list. */
extern const struct shmt_command *const shmt_command_all[];
#define SHMT_COMMAND_ONE(name) +1
enum { SHMT_COMMAND_COUNT = SHMT_COMMAND_LIST(SHMT_COMMAND_ONE) };
#undef SHMT_COMMAND_ONE

/* -- options.c --------------------------------------------------- */

enum { SHMT_COMMAND_REPEATS = 64 };

/* What --seed and --data-seed are where nobody says, in every command. */
enum { SHMT_COMMAND_SEED = 1 };

/* An option that may be given several times: --size A --size B. */
struct shmt_command_repeats {
    size_t count;
    const char *items[SHMT_COMMAND_REPEATS];
};

enum shmt_command_kind {
    SHMT_OPTION_FLAG,      /* bool: --json sets it, --no-json clears it */
    SHMT_OPTION_TEXT,      /* const char * */
    SHMT_OPTION_PATH,      /* the same, not empty */
    SHMT_OPTION_INT,       /* int64_t in [low, high] */
    SHMT_OPTION_REPEATED,  /* struct shmt_command_repeats */
    SHMT_OPTION_PATHS      /* the same, none of them empty */
};

struct shmt_command_option {
    const char *name;      /* without its dashes; NULL ends the table */
    char letter;           /* 0: none */
    enum shmt_command_kind kind;
    void *out;             /* untouched when the option is not given */
    int64_t low, high;
};

/* Options and other words may come in any order, "--" ends the options.  The
 * other words are moved to the front of call->words and counted in *rest;
 * before "--" none is empty.  An option that is given twice has to say the
 * same.
 * SHMTUNE_INVALID_ARGUMENT names the nearest option there is. */
enum shmtune_status
shmt_command_options(const struct shmt_command_call *call,
                     const struct shmt_command_option *options, int *rest,
                     struct shmt_error *err);

/* Changes the status of `err` from `from` to `to` and keeps its message: a
 * "not found" may mean a wrong word on the command line, or something that has
 * to be installed.  Returns the status. */
enum shmtune_status shmt_command_change_status(struct shmt_error *err,
                                               enum shmtune_status from,
                                               enum shmtune_status to);

/* Whether `word` can name a GPU: a number, a UUID, or the beginning of one
 * ("GPU-4b..."), or the UUID of a MIG device ("MIG-..."). */
bool shmt_command_is_gpu(const char *word);

/* -- limits.c ---------------------------------------------------- */

/* --space-seconds and --space-memory; starts as {0}: the defaults. */
struct shmt_command_limits {
    int64_t seconds, mebibytes;
    bool exact;                  /* refuse a space that would be drawn */
    struct shmt_space_limits space;
    bool shown;                  /* a line of progress */
    bool *line;                  /* where that is noted; NULL: in `shown` */
};
#define SHMT_COMMAND_LIMITS(limits)                                          \
    {"space-seconds", 0, SHMT_OPTION_INT, &(limits).seconds, 1, 86400},      \
    {"space-memory", 0, SHMT_OPTION_INT, &(limits).mebibytes, 1, 1 << 20}
#define SHMT_COMMAND_LIMITS_HELP                                             \
    "  --space-seconds N  most that building the space may take [10 or so]\n" \
    "  --space-memory N   the same in MiB [512]\n"

/* The limits as the space wants them, with progress on a terminal; and what
 * is left of the progress taken away. */
const struct shmt_space_limits *
shmt_command_limits_begin(struct shmt_command_limits *limits,
                          const struct shmt_command_call *call);
void shmt_command_limits_end(struct shmt_command_limits *limits);

struct shmt_command_problem {
    const struct shmt_kernel *kernel;
    const int64_t *problem;
};
/* The space of a kernel, within these limits. */
enum shmtune_status shmt_command_build_space(struct shmt_command_limits *limits,
                                       const struct shmt_command_call *call,
                                       const struct shmt_command_problem *at,
                                       struct shmt_space **out,
                                       struct shmt_error *err);

/* Says on standard error when the space was drawn. */
void shmt_command_tell_drawn(const struct shmt_command_call *call,
                             const struct shmt_kernel *kernel,
                             const struct shmt_space *space);

/* -- cores.c ----------------------------------------------------- */

/* Processors that may be used, by affinity and a container's limit: the
 * default of -j where there is one GPU at most. */
int64_t shmt_command_cores(void);

/* -- problem.c --------------------------------------------------- */

/* "rows=1024,cols=512" for this kernel; dimensions that are not named have
 * their default.  NULL: all of them. */
enum shmtune_status shmt_command_parse_problem(const struct shmt_kernel *kernel,
                                               const char *text,
                                               int64_t *problem,
                                               struct shmt_error *err);
/* "TILE=32,MEMORY=static"; the same. */
enum shmtune_status shmt_command_parse_config(const struct shmt_kernel *kernel,
                                              const char *text,
                                              shmt_config *config,
                                              struct shmt_error *err);

/* -- find.c ------------------------------------------------------ */

/* The kernels and folders of this program: the default search path, with the
 * source tree when the program lies in its build tree. */
enum shmtune_status shmt_command_catalogue(struct shmt_catalogue **out,
                                           struct shmt_error *err);

/* SHMTUNE_STORAGE when a folder of the search path could not be looked at, so
 * that what is missing in the catalogue may be there. */
enum shmtune_status
shmt_command_check_catalogue(const struct shmt_catalogue *catalogue,
                             struct shmt_error *err);

/* Is it a path: has a '/', or ends in .yaml or .yml? */
bool shmt_command_is_path(const char *word);

/* The spec in the folder of a captured launch, written into `path`; of all
 * else the word itself. */
const char *shmt_command_spec_of(const char *word, char path[4096]);

/* The folders of captured launches in a folder, "taken/scale-1", ...; none
 * where it is no folder, or one that cannot be read. */
enum shmtune_status
shmt_command_list_launches(struct shmt_arena *arena, const char *folder,
                           const char *const **out, size_t *count,
                           struct shmt_error *err);
/* SHMTUNE_INVALID_ARGUMENT where a word is a folder of captured launches, and
 * one of them was meant. */
enum shmtune_status shmt_command_refuse_launches(const char *word,
                                                 struct shmt_error *err);

/* Reads the spec at a path, or of a built-in kernel.
 * SHMTUNE_INVALID_ARGUMENT: no such kernel; SHMTUNE_STORAGE: no such file. */
enum shmtune_status shmt_command_kernel(const char *word,
                                        struct shmt_kernel **out,
                                        struct shmt_error *err);
/* The same, where one of `commands` (NULL after the last) may be meant too. */
enum shmtune_status shmt_command_word(const char *word,
                                      const char *const *commands,
                                      struct shmt_kernel **out,
                                      struct shmt_error *err);

/* What a file says it is, by its name (.journal, .gz) or its first key. */
enum shmt_command_format {
    SHMT_FORMAT_SPEC, SHMT_FORMAT_TUNING, SHMT_FORMAT_JOURNAL
};
/* SHMTUNE_STORAGE: cannot be read; SHMTUNE_INVALID_FILE: none of ours. */
enum shmtune_status shmt_command_format_of(const char *path,
                                           enum shmt_command_format *out,
                                           struct shmt_error *err);

/* What names the kernel in a command that is proposed: its spec, where a word
 * of this one is that, else its name. */
const char *shmt_command_kernel_word(const struct shmt_command_call *call,
                                     const struct shmt_kernel *kernel);

struct shmt_journal;

/* The kernel that `file`, a tuning or a journal of sources of this digest, is
 * about: `spec` when it is given, else the built-in one of that name, else the
 * one in ../../kernels beside the file, which comes first where it alone has
 * the digest. */
enum shmtune_status shmt_command_kernel_of(const char *file,
                                           const char *name,
                                           const char *digest,
                                           const char *spec,
                                           struct shmt_kernel **out,
                                           struct shmt_error *err);

/* The same of a journal, which says both.  SHMTUNE_STORAGE: no such file. */
enum shmtune_status shmt_command_kernel_of_journal(const char *path,
                                                   const char *spec,
                                                   struct shmt_kernel **out,
                                                   struct shmt_error *err);
/* With what is in it.  The caller frees both, the kernel after a failure,
 * too. */
enum shmtune_status shmt_command_journal(const char *path, const char *spec,
                                         struct shmt_kernel **kernel,
                                         struct shmt_journal **out,
                                         struct shmt_error *err);

/* A file could not be read as one of this kernel, which has its name: the
 * failure tells so, where the digest of the file is another. */
enum shmtune_status shmt_command_other_kernel(const char *path,
                                              const struct shmt_kernel *kernel,
                                              const char *digest,
                                              struct shmt_error *err);

/* -- json.c ----------------------------------------------------------- */

/* Prints the error as {"status": 2, "error": "..."}, unless a document with
 * results was printed already. */
void shmt_command_json_error(const struct shmt_error *why);
enum shmtune_status shmt_command_json_version(const char *version,
                                              struct shmt_error *err);
/* The same as a line of standard error, for --progress. */
void shmt_command_json_error_line(const struct shmt_error *why);
/* To be called first: JSON that lacks memory is never printed. */
void shmt_command_json_begin(void);

/* -- signal.c ---------------------------------------------------- */

/* 1 after the first SIGINT, SIGTERM, SIGHUP, SIGUSR1 or SIGUSR2 since they are
 * caught, or when nobody reads what is printed any more: the command should
 * end soon, with the results it has.  A signal two seconds later ends the
 * program. */
extern volatile sig_atomic_t shmt_command_stopped;
void shmt_command_catch_signals(void);
/* To be called at the end: dies of SIGPIPE where that was caught. */
void shmt_command_end_signals(void);

/* -- lines.c ----------------------------------------------------- */

/* How a line is wide that is not broken. */
#define SHMT_COMMAND_WIDE SIZE_MAX

/* Columns of the terminal that a file leads to; of none, what COLUMNS in the
 * environment says, else 80.  20 at least. */
size_t shmt_command_terminal_width(int descriptor);

/* The columns that a text takes, colours none. */
size_t shmt_command_text_width(const char *text);
/* The bytes of a text that go on a line of so many columns: to the last blank
 * or, where that would leave half of the line empty, to a '/' or ',' of the
 * word behind it; one character at least. */
size_t shmt_command_text_piece(const char *text, size_t columns);

enum shmt_command_paint {
    SHMT_PAINT_NONE, SHMT_PAINT_GOOD, SHMT_PAINT_BAD, SHMT_PAINT_DIM,
    SHMT_PAINT_BOLD
};

/* The escape sequences that begin and end a colour; "" without colour or for
 * NONE. */
const char *shmt_command_begin_paint(enum shmt_command_paint paint,
                                     bool colour);
const char *shmt_command_end_paint(enum shmt_command_paint paint, bool colour);

/* Prints the text to standard output, and frees it: lines, colours, and
 * whatever else does not print escaped.  SHMTUNE_NO_MEMORY when it has
 * failed. */
enum shmtune_status shmt_command_print(struct shmt_text *text,
                                       struct shmt_error *err);
/* Whether -o FILE is standard output: not given, or "-". */
bool shmt_command_is_standard(const char *output);
/* Refuses a file to write that is one to read, whatever both are called;
 * SHMTUNE_INVALID_ARGUMENT.  With the spec, its sources and headers. */
enum shmtune_status shmt_command_check_output(const char *output,
                                              const char *input,
                                              struct shmt_error *err);
enum shmtune_status
shmt_command_check_output_of(const char *output,
                             const struct shmt_kernel *kernel,
                             struct shmt_error *err);
/* Refuses one file for the page that an option names and for the drawing. */
enum shmtune_status shmt_command_check_apart(const char *option,
                                             const char *page,
                                             const char *plot,
                                             struct shmt_error *err);
/* Writes the text to -o FILE, as it is. */
enum shmtune_status shmt_command_put(const char *output,
                                     const struct shmt_text *text,
                                     struct shmt_error *err);
/* The same for people: lines that are wider than the terminal are broken at
 * blanks, and go on further to the right. */
enum shmtune_status shmt_command_print_lines(struct shmt_text *text,
                                      const struct shmt_command_call *call,
                                      struct shmt_error *err);

/* "shmtune: ", the head, and the text, escaped to one line, to standard
 * error; broken as above where that is a terminal. */
void shmt_command_tell(const char *head, const char *text);

/* -- pulse.c ----------------------------------------------------- */

/* A command that has said nothing for four seconds says that it is still at
 * work, and at what, from begin to end; without a thread for that it does not.
 */
void shmt_command_pulse_begin(void);
void shmt_command_pulse_end(void);
/* Something was said. */
void shmt_command_pulse_said(void);
/* What is begun: "compiling 24 configurations". */
void shmt_command_pulse_work(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

/* -- table.c ----------------------------------------------------- */

struct shmt_table_cell;

/* Starts as {.titles = "name|>count"}: the titles of the columns.  Before a
 * title stands '>' when the column is aligned to the right, '?' when it is left
 * out where no row knows its value, '#' when it is left out where a line has
 * no room for it, '_' when it then goes below its row, and '=' behind these
 * when it may begin with one of them.  Cells are added row by row.  After a
 * failed allocation `failed` is set and later additions do nothing. */
struct shmt_table {
    const char *titles;
    struct shmt_table_cell *cells;
    size_t cell_count, room;
    bool failed;
};

/* Puts the rows in this order, each of them once. */
void shmt_table_order(struct shmt_table *table, const size_t *order,
                      size_t rows);
void shmt_table_add(struct shmt_table *table, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void shmt_table_paint(struct shmt_table *table, enum shmt_command_paint paint,
                      const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* A number; "-" when it is below 0, which says that it is not known. */
void shmt_table_add_known(struct shmt_table *table, int64_t number);
/* A real number by its format; "-" when it is below 0 or none, and no decimals
 * from 1000 on. */
void shmt_table_add_real(struct shmt_table *table,
                         enum shmt_command_paint paint, const char *format,
                         double number);
/* A bar of `cells` characters (40 at most) filled to `share` (0 to 1). */
void shmt_table_add_bar(struct shmt_table *table, double share, int cells);
/* The text, which is freed. */
void shmt_table_add_text(struct shmt_table *table, struct shmt_text *text);
/* Appends the title line and the rows, with two spaces between columns and
 * none at the end of a line, and frees the table.  No line is wider than
 * call->width: what is too long is broken in its column; where not even words
 * have room, each cell has a line with its title before it. */
void shmt_table_end(struct shmt_table *table,
                    const struct shmt_command_call *call,
                    struct shmt_text *text);

/* The line that a compiler's message speaks of, "FILE:LINE:COLUMN: error: ...",
 * with a caret below it; nothing where the message has no such place. */
void shmt_command_print_excerpt(FILE *out, const char *message);

/* Behind `before`, "NVRTC 13.0" or "nvcc 13.0" of version 13000; which of them
 * the kernel says, NULL: it is not known.  Nothing of version 0. */
void shmt_command_add_compiler(struct shmt_text *text, const char *before,
                               const struct shmt_kernel *kernel, int version);

#endif
