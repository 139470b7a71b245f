/* SPDX-License-Identifier: MIT */
/*
 * compiler_line: reads the options of a compiler, and which of a command are
 * about device code.  Called by builds.c, and for drafts of captured kernels.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "command/compiler_line.h"

/* -- options -------------------------------------------------------------- */

struct reading {
    struct shmt_arena *arena;
    const char *folder;
    const char *const *words;
    size_t count, at;
};

static const char *word_of(const struct reading *reading, size_t at)
{
    const char *word = reading->words[at];

    return word + strspn(word, " \t");
}

/* The value of an option that is called so, "-I", "path", or "-Ipath",
 * "-I path" or "--include-path=path" in one; NULL: it is another one. */
static const char *value_of(struct reading *reading, const char *name)
{
    const char *word = word_of(reading, reading->at);
    const size_t length = strlen(name);
    const bool joined = length == 2;       /* -I, -D */
    const char *value = word + length;

    if (strncmp(word, name, length) != 0)
        return NULL;
    if (*value == '\0' && reading->at + 1 < reading->count)
        return word_of(reading, ++reading->at);
    if (*value == '\0' || (*value != '=' && !joined))
        return NULL;
    value += *value == '=';
    return value + strspn(value, " \t");
}

static const char *any_value(struct reading *reading,
                             const char *const names[])
{
    const char *value = NULL;

    for (size_t k = 0; value == NULL && names[k] != NULL; k++)
        value = value_of(reading, names[k]);
    return value;
}

/* "/p/include" of "/p/build/../include", unless a link leads elsewhere. */
static const char *without_ups(struct shmt_arena *arena, const char *path)
{
    char *copy = shmt_arena_copy(arena, path, strlen(path));

    for (char *at = copy; at != NULL && (at = strstr(at, "/../")) != NULL;) {
        char *from = at;

        while (from > copy && *--from != '/')
            ;
        if (from == at)
            break;
        memmove(from, at + 3, strlen(at + 3) + 1);
        at = from;
    }
    return copy == NULL || shmt_path_is_same(copy, path) ? copy : path;
}

const char *shmt_compiler_line_path(struct shmt_arena *arena,
                                    const char *folder, const char *path)
{
    if (folder != NULL)
        path = shmt_path_join(arena, folder, path);
    path = path == NULL ? NULL : shmt_path_absolute(arena, path);
    return path == NULL ? NULL : without_ups(arena, path);
}

static void add(struct shmt_compiler_words *words, const char *word)
{
    words->items[words->count++] = word;
}

static void take(struct reading *reading, struct shmt_compiler_line *out)
{
    static const char *const arch[] = {"-arch", "--gpu-architecture", NULL};
    static const char *const standard[] = {"-std", "--std", NULL};
    static const char *const include[] = {"-I", "--include-path", "-isystem",
                                          "--system-include", NULL};
    static const char *const define[] = {"-D", "--define-macro", NULL};
    static const char *const pre[] = {"-include", "--pre-include", NULL};
    const char *const word = word_of(reading, reading->at), *value;

    if ((value = any_value(reading, arch)) != NULL)
        out->architecture = value;
    else if ((value = any_value(reading, standard)) != NULL)
        out->standard = value;
    else if ((value = any_value(reading, pre)) != NULL)
        add(&out->before, value);
    else if ((value = any_value(reading, include)) != NULL)
        add(&out->includes, shmt_compiler_line_path(reading->arena,
                                                    reading->folder, value));
    else if ((value = any_value(reading, define)) != NULL)
        add(&out->definitions, value);
    else if (strcmp(word, "-use_fast_math") == 0 ||
             strcmp(word, "--use_fast_math") == 0)
        out->fast_math = true;
    else
        add(&out->others, word);
}

static bool has_all(const struct shmt_compiler_words *words)
{
    for (size_t k = 0; k < words->count; k++)
        if (words->items[k] == NULL)
            return false;
    return true;
}

enum shmtune_status shmt_compiler_line_read(struct shmt_arena *arena,
                                            const char *folder,
                                            const char *const *words,
                                            size_t count,
                                            struct shmt_compiler_line *out,
                                            struct shmt_error *err)
{
    struct shmt_compiler_words *const lists[] = {
        &out->includes, &out->definitions, &out->before, &out->others};
    struct reading reading = {arena, folder, words, count, 0};

    memset(out, 0, sizeof *out);
    for (size_t k = 0; k < sizeof lists / sizeof lists[0]; k++) {
        lists[k]->items = shmt_arena_alloc(arena, count + 1,
                                           sizeof *lists[k]->items);
        if (lists[k]->items == NULL)
            return shmt_error_memory(err);
    }
    for (; reading.at < count; reading.at++)
        take(&reading, out);
    return has_all(&out->includes) ? SHMTUNE_OK : shmt_error_memory(err);
}

/* -- a command ------------------------------------------------------------ */

enum { DEEPEST = 4, BYTES = 1 << 20, MOST = 4096 };

struct command {
    struct shmt_arena *arena;
    const char *folder;
    struct shmt_compiler_words *out;
    struct shmt_error *err;
};

enum about {
    OTHER,                     /* nothing to a tuner */
    FLAG, VALUED, NUMBER,      /* kept: alone, as it is, in one word */
    PTXAS, WORDS,              /* for ptxas; a file of options */
    SKIPPED                    /* OTHER, with a value */
};

/* The first that fits counts. */
static const struct {
    const char *name;
    enum about about;
} known[] = {
    {"-I", VALUED}, {"--include-path", VALUED}, {"-isystem", VALUED},
    {"--system-include", VALUED}, {"-include", VALUED},
    {"--pre-include", VALUED}, {"-D", VALUED}, {"--define-macro", VALUED},
    {"-std", VALUED}, {"--std", VALUED}, {"-arch", VALUED},
    {"--gpu-architecture", VALUED},
    {"-use_fast_math", FLAG}, {"--use_fast_math", FLAG},
    {"-extended-lambda", FLAG}, {"--extended-lambda", FLAG},
    {"-expt-extended-lambda", FLAG}, {"--expt-extended-lambda", FLAG},
    {"-expt-relaxed-constexpr", FLAG}, {"--expt-relaxed-constexpr", FLAG},
    {"-extra-device-vectorization", FLAG},
    {"--extra-device-vectorization", FLAG},
    {"-restrict", FLAG}, {"--restrict", FLAG},
    {"-maxrregcount", NUMBER}, {"--maxrregcount", NUMBER},
    {"-fmad", NUMBER}, {"--fmad", NUMBER}, {"-ftz", NUMBER},
    {"--ftz", NUMBER}, {"-prec-div", NUMBER}, {"--prec-div", NUMBER},
    {"-prec-sqrt", NUMBER}, {"--prec-sqrt", NUMBER},
    {"-Xptxas", PTXAS}, {"--ptxas-options", PTXAS},
    {"-optf", WORDS}, {"--options-file", WORDS},
    {"-o", SKIPPED}, {"--output-file", SKIPPED}, {"-odir", SKIPPED},
    {"-x", SKIPPED}, {"--x", SKIPPED}, {"-gencode", SKIPPED},
    {"--generate-code", SKIPPED}, {"-code", SKIPPED}, {"--gpu-code", SKIPPED},
    {"-Xcompiler", SKIPPED}, {"--compiler-options", SKIPPED},
    {"-Xlinker", SKIPPED}, {"--linker-options", SKIPPED},
    {"-Xarchive", SKIPPED}, {"-Xnvlink", SKIPPED},
    {"--nvlink-options", SKIPPED}, {"-ccbin", SKIPPED},
    {"--compiler-bindir", SKIPPED}, {"-t", SKIPPED}, {"--threads", SKIPPED},
    {"-L", SKIPPED}, {"-l", SKIPPED}, {"-MF", SKIPPED}, {"-MT", SKIPPED},
    {"-MQ", SKIPPED}, {"-cudart", SKIPPED}, {"--cudart", SKIPPED},
};

/* "-I", "-Idir", "--include-path", "--include-path=dir". */
static bool is_named(const char *word, const char *name)
{
    const size_t length = strlen(name);

    return strncmp(word, name, length) == 0 &&
           (word[length] == '\0' || word[length] == '=' || length == 2);
}

/* *bare: nothing is joined to its name. */
static enum about about_of(const char *word, bool *bare)
{
    for (size_t k = 0; k < sizeof known / sizeof known[0]; k++) {
        *bare = strcmp(word, known[k].name) == 0;
        if (*bare || (known[k].about != FLAG && is_named(word, known[k].name)))
            return known[k].about;
    }
    *bare = false;
    return OTHER;
}

static enum shmtune_status keep(const struct command *command,
                                const char *word)
{
    if (word == NULL)
        return shmt_error_memory(command->err);
    if (command->out->count < MOST)
        add(command->out, word);
    return SHMTUNE_OK;
}

/* In one word. */
static enum shmtune_status keep_pair(const struct command *command,
                                     const char *name, const char *value)
{
    struct shmt_text text = {0};

    shmt_text_addf(&text, "%s=%s", name, value);
    return keep(command, shmt_text_keep(&text, command->arena));
}

/* What it tells people is not kept. */
static bool tells(const char *ptxas)
{
    return strcmp(ptxas, "-v") == 0 || strcmp(ptxas, "--verbose") == 0 ||
           strncmp(ptxas, "-w", 2) == 0 || strncmp(ptxas, "--w", 3) == 0;
}

static enum shmtune_status sort(const struct command *command,
                                const char *const *words, size_t count,
                                int depth);

/* One that cannot be read says nothing. */
static enum shmtune_status sort_file(const struct command *command,
                                     const char *name, int depth)
{
    const char *const path =
        shmt_compiler_line_path(command->arena, command->folder, name);
    struct shmt_compiler_words words;
    const char *text;
    size_t size;
    enum shmtune_status status;

    if (path == NULL)
        return shmt_error_memory(command->err);
    if (depth == DEEPEST)
        return SHMTUNE_OK;
    status = shmt_path_read(command->arena, path, BYTES, &text, &size,
                            command->err);
    if (status != SHMTUNE_OK)
        return status == SHMTUNE_NO_MEMORY ? status : SHMTUNE_OK;
    status = shmt_compiler_line_split(command->arena, text, &words,
                                      command->err);
    return status == SHMTUNE_OK
               ? sort(command, words.items, words.count, depth + 1) : status;
}

/* The option at words[*at], and the value behind it. */
static enum shmtune_status sort_one(const struct command *command,
                                    const char *const *words, size_t count,
                                    size_t *at, int depth)
{
    const char *const word = words[*at], *const equals = strchr(word, '=');
    bool bare;
    const enum about about = about_of(word, &bare);
    const bool apart = bare && about != FLAG && *at + 1 < count;
    const char *const value = apart            ? words[++*at]
                              : equals != NULL ? equals + 1
                                               : NULL;

    if (word[0] == '@')
        return sort_file(command, word + 1, depth);
    if (about == FLAG || (about == VALUED && !apart))
        return keep(command, word);
    if (value == NULL || about == OTHER || about == SKIPPED ||
        (about == PTXAS && tells(value)))
        return SHMTUNE_OK;
    if (about == WORDS)
        return sort_file(command, value, depth);
    if (about == PTXAS)
        return keep_pair(command, "--ptxas-options", value);
    if (about == NUMBER)
        return apart ? keep_pair(command, word, value) : keep(command, word);
    return keep(command, word) == SHMTUNE_OK ? keep(command, value)
                                             : SHMTUNE_NO_MEMORY;
}

static enum shmtune_status sort(const struct command *command,
                                const char *const *words, size_t count,
                                int depth)
{
    enum shmtune_status status = SHMTUNE_OK;

    for (size_t at = 0; status == SHMTUNE_OK && at < count; at++)
        if (words[at][0] == '-' || words[at][0] == '@')
            status = sort_one(command, words, count, &at, depth);
    return status;
}

enum shmtune_status shmt_compiler_line_command(struct shmt_arena *arena,
                                               const char *folder,
                                               const char *const *words,
                                               size_t count,
                                               struct shmt_compiler_words *out,
                                               struct shmt_error *err)
{
    const struct command command = {arena, folder, out, err};

    out->count = 0;
    out->items = shmt_arena_alloc(arena, MOST, sizeof *out->items);
    return out->items == NULL ? shmt_error_memory(err)
                              : sort(&command, words, count, 0);
}

/* -- words ---------------------------------------------------------------- */

/* Writes the word that begins there, without quotes; what is behind it. */
static const char *take_word(const char *at, char *to)
{
    char quote = '\0';

    for (; *at != '\0' && (quote != '\0' || strchr(" \t\r\n", *at) == NULL);
         at++) {
        if (quote == '\0' && (*at == '\'' || *at == '"')) {
            quote = *at;
        } else if (*at == quote) {
            quote = '\0';
        } else {
            if (*at == '\\' && quote != '\'' && at[1] != '\0')
                at++;
            *to++ = *at;
        }
    }
    *to = '\0';
    return at;
}

enum shmtune_status shmt_compiler_line_split(struct shmt_arena *arena,
                                             const char *text,
                                             struct shmt_compiler_words *out,
                                             struct shmt_error *err)
{
    const size_t length = strlen(text);
    /* A word has a letter and a blank behind it. */
    char *room = shmt_arena_alloc(arena, length + 1, 1);

    out->count = 0;
    out->items = shmt_arena_alloc(arena, length / 2 + 1, sizeof *out->items);
    if (room == NULL || out->items == NULL)
        return shmt_error_memory(err);
    for (;;) {
        text += strspn(text, " \t\r\n");
        if (*text == '\0')
            return SHMTUNE_OK;
        text = take_word(text, room);
        add(out, room);
        room += strlen(room) + 1;
    }
}

void shmt_compiler_line_define(const char *definition, struct shmt_text *text)
{
    const size_t length = strcspn(definition, "=");

    shmt_text_addf(text, "#define %.*s %s\n", (int)length, definition,
                   definition[length] == '=' ? definition + length + 1 : "1");
}
