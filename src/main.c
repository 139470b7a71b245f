/* SPDX-License-Identifier: MIT */
/*
 * main: the program `shmtune`: global options, the table of commands, errors
 * and the exit status.
 */
#include "config.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command/command.h"

/* The global options. */
struct request {
    struct shmt_command_call call;
    bool help, version, no_color;
    bool json, progress;       /* options of commands; main needs them to
                                  print errors */
};

static void print_help(FILE *to)
{
    fputs("usage: shmtune [tune] [KERNEL | SPEC.yaml]... --device "
          "0|UUID|replay:NAME\n"
          "               [OPTION]...\n"
          "       shmtune COMMAND [OPTION]...\n"
          "\n"
          "Finds the fastest configuration of CUDA kernels: block shape, "
          "tile, padding,\n"
          "static or dynamic shared memory, unrolling.\n"
          "\n"
          "commands:\n", to);
    for (size_t i = 0; shmt_command_all[i] != NULL; i++)
        if (shmt_command_all[i]->summary != NULL)
            fprintf(to, "  %-10s  %s\n", shmt_command_all[i]->name,
                    shmt_command_all[i]->summary);
    fputs("\n"
          "for every command:\n"
          "  -h, --help  how it is used, with examples\n"
          "  --json      results as JSON on standard output (run and\n"
          "              completion have none)\n"
          "  --no-color  no colours (also: NO_COLOR in the environment)\n"
          "  --wide      tables with all columns, however wide\n"
          "  -q          no progress, no notices\n"
          "  -v          say more: what was rejected and why (tune)\n"
          "  -V, --version\n"
          "              the version of shmtune\n"
          "\n"
          "examples:\n"
          "  shmtune --device 0                    tune every built-in kernel\n"
          "  shmtune tune my.yaml --device 0       tune a kernel of your own\n"
          "  shmtune inspect transpose --arch sm_90\n"
          "\n"
          "exit status: 0 done, 1 usage, 2 invalid file, 3 no valid "
          "configuration,\n"
          "4 reference or default wrong, 5 storage, 6 no device or driver,\n"
          "7 out of memory, 8 not found, 9 does not compile, 10 a CUDA call "
          "failed,\n"
          "70 a defect in shmtune, 130 interrupted\n", to);
}

static const struct shmt_command *find_command(const char *name)
{
    for (size_t i = 0; shmt_command_all[i] != NULL; i++)
        if (strcmp(shmt_command_all[i]->name, name) == 0)
            return shmt_command_all[i];
    return NULL;
}

/* Takes one of the global options; they may stand anywhere before "--". */
static bool take_global(struct request *request, const char *word)
{
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
        request->help = true;
    else if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0)
        request->version = true;
    else if (strcmp(word, "--no-color") == 0)
        request->no_color = true;
    else if (strcmp(word, "--wide") == 0)
        request->call.wide = true;
    else if (strcmp(word, "-q") == 0 || strcmp(word, "--quiet") == 0)
        request->call.quiet = true;
    else if (strcmp(word, "-v") == 0 || strcmp(word, "--verbose") == 0)
        request->call.verbose = true;
    else
        return false;
    return true;
}

/* --json is for each command to take: where it stands before the command's
 * name, it goes behind. */
static void put_name_first(struct shmt_command_call *call)
{
    int at = 0;

    while (at < call->count && strcmp(call->words[at], "--json") == 0)
        at++;
    if (at < call->count && call->words[at][0] != '-') {
        char *const name = call->words[at];

        memmove(call->words + 1, call->words,
                (size_t)at * sizeof *call->words);
        call->words[0] = name;
    }
}

static void take_globals(struct request *request, int count, char **words)
{
    bool ended = false;
    int kept = 0;

    for (int i = 0; i < count; i++) {
        ended |= strcmp(words[i], "--") == 0;
        request->json |= !ended && strcmp(words[i], "--json") == 0;
        request->progress |= !ended && strcmp(words[i], "--progress") == 0;
        if (ended || !take_global(request, words[i]))
            words[kept++] = words[i];
    }
    request->call.count = kept;
    request->call.words = words;
    put_name_first(&request->call);
}

static bool may_colour(const struct request *request, int descriptor)
{
    const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");

    return !request->no_color && (no_color == NULL || no_color[0] == '\0') &&
           term != NULL && strcmp(term, "dumb") != 0 && isatty(descriptor);
}

static void drop_first(struct shmt_command_call *call)
{
    call->words++;
    call->count--;
}

/* That `word` is a kernel's name or path. */
static enum shmtune_status need_kernel(const char *word,
                                       struct shmt_error *err)
{
    const char *names[SHMT_COMMAND_COUNT + 1];
    struct shmt_kernel *kernel = NULL;
    enum shmtune_status status = SHMTUNE_OK;
    size_t count = 0;

    for (size_t i = 0; shmt_command_all[i] != NULL; i++)
        if (shmt_command_all[i]->summary != NULL)
            names[count++] = shmt_command_all[i]->name;
    names[count] = NULL;
    if (!shmt_command_is_path(word))
        status = shmt_command_word(word, names, &kernel, err);
    shmt_kernel_free(kernel);
    return status;
}

/* Without a command's name it is `tune`: shmtune --device 0. */
static enum shmtune_status choose(struct shmt_command_call *call,
                                  struct shmt_error *err)
{
    const char *word = call->words[0];
    enum shmtune_status status = SHMTUNE_OK;

    call->command = find_command(word);
    if (call->command != NULL) {
        drop_first(call);
        return SHMTUNE_OK;
    }
    if (word[0] != '-')
        status = need_kernel(word, err);
    if (status == SHMTUNE_OK)
        call->command = find_command("tune");
    return status;
}

static enum shmtune_status print_version(bool json, struct shmt_error *err)
{
    if (json)
        return shmt_command_json_version(PACKAGE_VERSION, err);
    puts("shmtune " PACKAGE_VERSION);
    return SHMTUNE_OK;
}

static enum shmtune_status run(struct request *request,
                               struct shmt_error *err)
{
    struct shmt_command_call *call = &request->call;
    enum shmtune_status status;
    bool speaks;

    if (call->count > 0 && strcmp(call->words[0], "help") == 0) {
        request->help = true;
        drop_first(call);
        put_name_first(call);
    }
    if (request->version)
        return print_version(request->json, err);
    if (call->count == 0) {
        print_help(request->help ? stdout : stderr);
        return request->help ? SHMTUNE_OK : SHMTUNE_INVALID_ARGUMENT;
    }
    status = choose(call, err);
    if (status == SHMTUNE_OK && call->quiet && call->verbose &&
        !request->help)
        status = shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                                "-q and -v are both given, to say less and to "
                                "say more; give one of them");
    if (status != SHMTUNE_OK)
        return status;
    if (request->help) {
        fputs(call->command->help, stdout);
        return SHMTUNE_OK;
    }
    /* A log of a run may be read as it grows; of other commands only what a
     * person sees. */
    speaks = !call->quiet && call->command->summary != NULL &&
             (isatty(STDERR_FILENO) || call->command == &shmt_command_tune ||
              call->command == &shmt_command_dispatch);
    if (speaks)
        shmt_command_pulse_begin();
    status = call->command->run(call, err);
    shmt_command_pulse_end();
    return status;
}

/* Fails when standard output could not be written. */
static enum shmtune_status close_output(struct shmt_error *err)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return SHMTUNE_OK;
    return shmt_error_set(err, SHMTUNE_STORAGE,
                          "standard output could not be written");
}

static void print_error(const struct request *request,
                        const struct shmt_error *err)
{
    const bool colour = request->call.error_colour;
    char head[32];

    if (request->json && request->progress) {
        shmt_command_json_error_line(err);
        return;
    }
    snprintf(head, sizeof head, "%serror:%s ",
             shmt_command_begin_paint(SHMT_PAINT_BAD, colour),
             shmt_command_end_paint(SHMT_PAINT_BAD, colour));
    shmt_command_tell(head, err->text);
    if (err->status == SHMTUNE_INVALID_ARGUMENT)
        fprintf(stderr, "Try \"shmtune %s%s--help\".\n",
                request->call.command == NULL ? ""
                                              : request->call.command->name,
                request->call.command == NULL ? "" : " ");
}

/* If one of the standard files is closed, the next file that is opened, such
 * as a journal, would get its descriptor and receive what is printed.  So each
 * is opened to /dev/null, for reading only, so that printing fails and no
 * results vanish silently. */
static void hold_standard_files(void)
{
    int file;

    do
        file = open("/dev/null", O_RDONLY);
    while (file >= 0 && file <= STDERR_FILENO);
    if (file >= 0)
        close(file);
}

int main(int argc, char **argv)
{
    struct request request = {0};
    struct shmt_error err = {0};
    enum shmtune_status status, closed;

    hold_standard_files();
    shmt_command_json_begin();
    signal(SIGXFSZ, SIG_IGN);   /* report a file that is too large as an
                                   error instead of dying */
    take_globals(&request, argc > 0 ? argc - 1 : 0, argv + 1);
    request.call.width =
        request.call.wide ? SHMT_COMMAND_WIDE
                          : shmt_command_terminal_width(STDOUT_FILENO);
    request.call.colour = may_colour(&request, STDOUT_FILENO);
    request.call.error_colour = may_colour(&request, STDERR_FILENO);
    status = run(&request, &err);
    shmt_command_end_signals();
    if (status != SHMTUNE_OK && request.json && err.text[0] != '\0')
        shmt_command_json_error(&err);
    closed = close_output(status == SHMTUNE_OK ? &err : NULL);
    if (status == SHMTUNE_OK)
        status = closed;
    if (status != SHMTUNE_OK && err.text[0] != '\0')
        print_error(&request, &err);
    return (int)status;
}
