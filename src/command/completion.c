/* SPDX-License-Identifier: MIT */
/*
 * completion: the command `shmtune completion`, which writes what bash, zsh and
 * fish complete a command line by.  Options come from the commands' own tables,
 * what is said of them from their help.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "command/command.h"
#include "search/search.h"

static const char help[] =
    "usage: shmtune completion bash|zsh|fish\n"
    "       shmtune completion kernels|strategies|recordings\n"
    "\n"
    "Writes a script by which a shell completes the words of shmtune:\n"
    "commands, options, kernels, strategies and recorded devices. `make\n"
    "install` puts them where the shells look. The second form prints names,\n"
    "one a line: the scripts ask it.\n"
    "\n"
    "examples:\n"
    "  . <(shmtune completion bash)\n"
    "  shmtune completion zsh >\"${fpath[1]}/_shmtune\"\n"
    "  shmtune completion fish >~/.config/fish/completions/shmtune.fish\n";

/* -- commands and their options ------------------------------------------- */

static bool is_listed(const struct shmt_command *command)
{
    return command->summary != NULL;
}

/* One script that is being written. */
struct script {
    const struct shell *shell;
    const struct shmt_command *command;
    struct shmt_text text;
};

struct shell {
    const char *name;
    void (*write)(struct script *script);
    /* One option of script->command. */
    void (*option)(struct script *script,
                   const struct shmt_command_option *option);
};

/* -- what the help says --------------------------------------------------- */

/* Options of every command: those of main.c, which no help shows again. */
static const struct {
    const char *name;
    char letter;
    const char *text;
} common[] = {
    {"help", 'h', "how it is used, with examples"},
    {"version", 'V', "the version of shmtune"},
    {"quiet", 'q', "no progress, no notices"},
    {"verbose", 'v', "say more"},
    {"no-color", 0, "no colours"},
    {"wide", 0, "tables with all columns, however wide"},
};
enum { COMMON = sizeof common / sizeof common[0] };

/* What stands behind "--NAME" in the help's list of options; NULL: nothing. */
static const char *find_option(const char *text, const char *name)
{
    const size_t length = strlen(name);

    for (const char *at = text; (at = strstr(at, "--")) != NULL; at += 2) {
        const char *begin = at, *const end = at + 2 + length;

        while (begin > text && begin[-1] != '\n')
            begin--;
        if (strncmp(begin, "  -", 3) == 0 &&
            strncmp(at + 2, name, length) == 0 &&
            strchr(" ,\n", *end) != NULL)
            return end;
    }
    return NULL;
}

/* "FILE" of "--requests FILE  read them there"; its length. */
static size_t find_value(const char *text, const char *name, const char **out)
{
    const char *const at = find_option(text, name);

    *out = at == NULL || *at != ' ' ? "" : at + 1;
    return strcspn(*out, " ,:[|\n");
}

/* Whether only the manual needs what follows; that is never half of what is in
 * brackets. */
static bool ends_at(const char *at)
{
    const char *const word = at + strspn(at, " ");

    return *at == ';' || *at == ':' || strncmp(at, " [", 2) == 0 ||
           (*word == '(' && word[strcspn(word, ";:)")] != ')');
}

/* The sentence behind it, up to what only the manual needs. */
static void describe(const char *help_text, const char *name,
                     struct shmt_text *out)
{
    const char *at = find_option(help_text, name);

    for (size_t k = 0; at == NULL && k < COMMON; k++)
        if (strcmp(common[k].name, name) == 0)
            shmt_text_add(out, common[k].text);
    if (at == NULL && strcmp(name, "json") == 0)
        shmt_text_add(out, "results as JSON");
    if (at == NULL)
        return;
    while (*at != '\0' && *at != '\n' && strncmp(at, "  ", 2) != 0)
        at++;
    for (;;) {
        at += strspn(at, " \n");
        for (; *at != '\n' && *at != '\0'; at++) {
            if (ends_at(at))
                return;
            shmt_text_addf(out, "%c", *at);
        }
        if (strncmp(at, "\n          ", 11) != 0 || ends_at(at + 1))
            return;
        shmt_text_add(out, " ");
    }
}

/* Of a help, the end of its usage, which ends with an empty line. */
static const char *end_of_usage(const char *text)
{
    const char *const end = strstr(text, "\n\n");

    return end == NULL ? text + strlen(text) : end;
}

/* Whether the words of a command may be kernels. */
static bool takes_kernels(const struct shmt_command *command)
{
    const char *const at = strstr(command->help, "KERNEL");

    return at != NULL && at < end_of_usage(command->help);
}

/* Adds the words that a usage has itself, with a blank before each: of
 * "shmtune list [kernels|tunings]..." those two. */
static void add_fixed_words(struct shmt_text *text,
                            const struct shmt_command *command)
{
    const char *const end = end_of_usage(command->help);
    const char *at = command->help;
    char before[64];
    size_t length;

    snprintf(before, sizeof before, "shmtune %s ", command->name);
    while ((at = strstr(at, before)) != NULL && at < end) {
        at += strlen(before);
        at += *at == '[';
        length = strspn(at, "abcdefghijklmnopqrstuvwxyz|");
        if (length == 0 || memchr(at, '|', length) == NULL)
            continue;
        shmt_text_add(text, " ");
        for (size_t k = 0; k < length; k++)
            shmt_text_addf(text, "%c", at[k] == '|' ? ' ' : at[k]);
    }
}

/* A flag has two forms, --resume and --no-resume: the second where the help
 * shows it, the first unless it shows the second alone. */
static void take_options(void *context,
                         const struct shmt_command_option *options)
{
    struct script *const script = context;
    const char *const text = script->command->help;
    struct shmt_command_option form;
    char negated[64];
    bool has_negated;

    for (; options->name != NULL; options++) {
        form = *options;
        snprintf(negated, sizeof negated, "no-%s", options->name);
        has_negated = options->kind == SHMT_OPTION_FLAG &&
                      find_option(text, negated) != NULL;
        if (!has_negated || find_option(text, form.name) != NULL)
            script->shell->option(script, &form);
        form.name = negated;
        form.letter = 0;
        if (has_negated)
            script->shell->option(script, &form);
    }
}

/* A command shows its table in the place of running. */
static void add_options(struct script *script,
                        const struct shmt_command *command)
{
    const struct shmt_command_call call = {
        .command = command, .show_options = take_options, .context = script};
    struct shmt_error ignored = {0};

    script->command = command;
    (void)command->run(&call, &ignored);
}

/* In the quotes of a shell, where `special` needs a backslash. */
static void add_quoted(struct shmt_text *text, const char *shown,
                       const char *special)
{
    for (; *shown != '\0'; shown++)
        if (*shown == '\'')
            shmt_text_add(text, "'\\''");
        else
            shmt_text_addf(text, "%s%c",
                           strchr(special, *shown) != NULL ? "\\" : "",
                           *shown);
}

static void add_names(struct shmt_text *text, const char *separator)
{
    bool first = true;

    for (size_t k = 0; k < SHMT_COMMAND_COUNT; k++)
        if (is_listed(shmt_command_all[k])) {
            shmt_text_addf(text, "%s%s", first ? "" : separator,
                           shmt_command_all[k]->name);
            first = false;
        }
}

/* The option takes one of our names. */
static bool takes_strategy(const struct shmt_command_option *option)
{
    return strcmp(option->name, "strategy") == 0 ||
           strcmp(option->name, "strategies") == 0;
}

/* And one a recorded device. */
static bool takes_recording(const struct script *script,
                            const struct shmt_command_option *option)
{
    return strcmp(option->name, "device") == 0 &&
           strstr(script->command->help, "replay:") != NULL;
}

static void take_common(struct script *script)
{
    for (size_t k = 0; k < COMMON; k++)
        script->shell->option(script, &(struct shmt_command_option){
            .name = common[k].name, .letter = common[k].letter});
}

/* -- bash ----------------------------------------------------------------- */

static void bash_option(struct script *script,
                        const struct shmt_command_option *option)
{
    shmt_text_addf(&script->text, " --%s", option->name);
    if (option->letter != 0)
        shmt_text_addf(&script->text, " -%c", option->letter);
}

static void bash_value(struct script *script,
                       const struct shmt_command_option *option)
{
    if (option->kind != SHMT_OPTION_FLAG)
        bash_option(script, option);
}

static void bash_recorded(struct script *script,
                          const struct shmt_command_option *option)
{
    if (takes_recording(script, option))
        shmt_text_add(&script->text, " recorded=yes");
}

static void bash_command(struct script *script,
                         const struct shmt_command *command)
{
    static const struct shell values = {.option = bash_value};
    static const struct shell recorded = {.option = bash_recorded};
    const struct shell *const shell = script->shell;

    shmt_text_addf(&script->text, "    %s)\n        options='", command->name);
    add_options(script, command);
    take_common(script);
    shmt_text_add(&script->text, "'\n        values='");
    script->shell = &values;
    add_options(script, command);
    shmt_text_add(&script->text, " '\n        words='");
    add_fixed_words(&script->text, command);
    shmt_text_addf(&script->text, "'%s",
                   takes_kernels(command) ? " kernels=yes" : "");
    script->shell = &recorded;
    add_options(script, command);
    script->shell = shell;
    shmt_text_add(&script->text, " ;;\n");
}

static void write_bash(struct script *script)
{
    struct shmt_text *const text = &script->text;

    shmt_text_add(text,
        "# Completes shmtune in bash; by `shmtune completion bash`.\n"
        "_shmtune()\n{\n"
        "    local current=${COMP_WORDS[COMP_CWORD]}\n"
        "    local before=${COMP_WORDS[COMP_CWORD - 1]}\n"
        "    local command= options values words kernels= recorded= word\n"
        "    for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n"
        "        case $word in\n        ");
    add_names(text, "|");
    shmt_text_add(text, ") command=$word; break ;;\n"
        "        esac\n    done\n"
        "    case ${command:-tune} in\n");
    for (size_t k = 0; k < SHMT_COMMAND_COUNT; k++)
        if (is_listed(shmt_command_all[k]))
            bash_command(script, shmt_command_all[k]);
    shmt_text_add(text, "    esac\n    COMPREPLY=()\n"
        "    # bash parts words at a colon: a value, replay:NAME.\n"
        "    if [[ $before == : || $current == : ]]; then\n"
        "        [[ -n $recorded && "
        "${COMP_WORDS[*]:COMP_CWORD-3} == *' replay :'* ]] || return\n"
        "        words=$(\"$1\" completion recordings 2>/dev/null)\n"
        "        COMPREPLY=($(compgen -W \"${words//replay:/}\" -- "
        "\"${current#:}\"))\n"
        "        return\n    fi\n"
        "    case $before in\n"
        "    -d|--device)\n"
        "        [[ -z $recorded ]] || COMPREPLY=($(compgen -W \\\n"
        "            \"$(\"$1\" completion recordings 2>/dev/null)\" -- "
        "\"$current\"))\n"
        "        return ;;\n"
        "    --strategy|--strategies)\n"
        "        COMPREPLY=($(compgen -W \\\n"
        "            \"$(\"$1\" completion strategies 2>/dev/null)\" -- "
        "\"$current\"))\n"
        "        return ;;\n    esac\n"
        "    [[ $values == *\" $before \"* ]] && return\n"
        "    if [[ $current == -* ]]; then\n"
        "        COMPREPLY=($(compgen -W \"$options\" -- \"$current\"))\n"
        "        return\n    fi\n"
        "    [[ -z $kernels ]] ||\n"
        "        words+=\" $(\"$1\" completion kernels 2>/dev/null)\"\n"
        "    [[ -n $command ]] || words+=' ");
    add_names(text, " ");
    shmt_text_add(text, "'\n"
        "    COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n}\n"
        "complete -o default -F _shmtune shmtune\n");
}

/* -- zsh ------------------------------------------------------------------ */

/* What completes the value: our names, files, or nothing. */
static const char *zsh_values(const struct script *script,
                              const struct shmt_command_option *option,
                              const char *value, size_t length)
{
    if (takes_recording(script, option))
        return "_shmtune_devices";
    if (takes_strategy(option))
        return "_shmtune_strategies";
    if (length >= 3 && strncmp(value + length - 3, "DIR", 3) == 0)
        return "_files -/";
    return option->kind == SHMT_OPTION_INT ? " " : "_files";
}

static void zsh_option(struct script *script,
                       const struct shmt_command_option *option)
{
    struct shmt_text *const text = &script->text;
    struct shmt_text said = {0};
    const char *value;
    const size_t length =
        find_value(script->command->help, option->name, &value);
    const char *const star =
        option->kind == SHMT_OPTION_REPEATED ||
                option->kind == SHMT_OPTION_PATHS ? "*" : "";

    describe(script->command->help, option->name, &said);
    text->failed |= said.failed;
    for (int word = 0; word < (option->letter != 0 ? 2 : 1); word++) {
        shmt_text_add(text, " \\\n            '");
        shmt_text_add(text, star);
        if (word == 0)
            shmt_text_addf(text, "--%s", option->name);
        else
            shmt_text_addf(text, "-%c", option->letter);
        shmt_text_add(text, "[");
        add_quoted(text, shmt_text_string(&said), "[]:\\");
        shmt_text_add(text, "]");
        if (option->kind != SHMT_OPTION_FLAG)
            shmt_text_addf(text, ":%.*s:%s", length > 0 ? (int)length : 5,
                           length > 0 ? value : "value",
                           zsh_values(script, option, value, length));
        shmt_text_add(text, "'");
    }
    shmt_text_free(&said);
}

static void zsh_words(struct shmt_text *text,
                      const struct shmt_command *command)
{
    struct shmt_text fixed = {0};

    add_fixed_words(&fixed, command);
    text->failed |= fixed.failed;
    shmt_text_add(text, " \\\n            '*:word:");
    if (fixed.length > 0)
        shmt_text_addf(text, "(%s)", shmt_text_string(&fixed) + 1);
    else
        shmt_text_add(text, takes_kernels(command) ? "_shmtune_words"
                                                   : "_files");
    shmt_text_add(text, "' ;;\n");
    shmt_text_free(&fixed);
}

static void write_zsh(struct script *script)
{
    struct shmt_text *const text = &script->text;

    shmt_text_add(text,
        "#compdef shmtune\n"
        "# Completes shmtune in zsh; by `shmtune completion zsh`.\n"
        "_shmtune_strategies()\n{\n"
        "    compadd -- ${(f)\"$(_call_program names shmtune completion "
        "strategies)\"}\n}\n"
        "_shmtune_devices()\n{\n"
        "    compadd -- ${(f)\"$(_call_program names shmtune completion "
        "recordings)\"}\n}\n"
        "_shmtune_words()\n{\n"
        "    local -a commands\n"
        "    commands=(");
    for (size_t k = 0; k < SHMT_COMMAND_COUNT; k++)
        if (is_listed(shmt_command_all[k])) {
            shmt_text_addf(text, "\n        '%s:", shmt_command_all[k]->name);
            add_quoted(text, shmt_command_all[k]->summary, ":\\");
            shmt_text_add(text, "'");
        }
    shmt_text_add(text, ")\n"
        "    [[ -n $verb ]] || _describe command commands\n"
        "    compadd -- ${(f)\"$(_call_program names shmtune completion "
        "kernels)\"}\n"
        "    _files\n}\n"
        "_shmtune()\n{\n"
        "    local verb= word\n"
        "    for word in ${words[2,CURRENT-1]}; do\n"
        "        case $word in\n        ");
    add_names(text, "|");
    shmt_text_add(text, ") verb=$word; break ;;\n"
        "        esac\n    done\n"
        "    case ${verb:-tune} in\n");
    for (size_t k = 0; k < SHMT_COMMAND_COUNT; k++)
        if (is_listed(shmt_command_all[k])) {
            shmt_text_addf(text, "    %s)\n        _arguments -s",
                           shmt_command_all[k]->name);
            add_options(script, shmt_command_all[k]);
            take_common(script);
            zsh_words(text, shmt_command_all[k]);
        }
    shmt_text_add(text, "    esac\n}\n"
        "if [[ $funcstack[1] == _shmtune ]]; then\n"
        "    _shmtune \"$@\"\n"
        "else\n"
        "    compdef _shmtune shmtune\n"
        "fi\n");
}

/* -- fish ----------------------------------------------------------------- */

static void fish_option(struct script *script,
                        const struct shmt_command_option *option)
{
    struct shmt_text *const text = &script->text;
    struct shmt_text said = {0};

    describe(script->command->help, option->name, &said);
    text->failed |= said.failed;
    shmt_text_addf(text, "complete -c shmtune -n '__shmtune_is %s' -l %s",
                   script->command->name, option->name);
    if (option->letter != 0)
        shmt_text_addf(text, " -s %c", option->letter);
    if (takes_strategy(option))
        shmt_text_add(text, " -x -a '(shmtune completion strategies "
                      "2>/dev/null)'");
    else if (takes_recording(script, option))
        shmt_text_add(text, " -r -a '(shmtune completion recordings "
                      "2>/dev/null)'");
    else if (option->kind == SHMT_OPTION_INT)
        shmt_text_add(text, " -x");
    else if (option->kind != SHMT_OPTION_FLAG)
        shmt_text_add(text, " -r");
    shmt_text_add(text, " -d '");
    add_quoted(text, shmt_text_string(&said), "\\");
    shmt_text_add(text, "'\n");
    shmt_text_free(&said);
}

static void fish_words(struct shmt_text *text,
                       const struct shmt_command *command)
{
    struct shmt_text fixed = {0};

    add_fixed_words(&fixed, command);
    text->failed |= fixed.failed;
    if (takes_kernels(command))
        shmt_text_addf(text, "complete -c shmtune -n '__shmtune_is %s' -a "
                       "'(shmtune completion kernels 2>/dev/null)'\n",
                       command->name);
    else if (fixed.length > 0)
        shmt_text_addf(text, "complete -c shmtune -n '__shmtune_is %s' -f -a "
                       "'%s'\n", command->name,
                       shmt_text_string(&fixed) + 1);
    shmt_text_free(&fixed);
}

static void write_fish(struct script *script)
{
    struct shmt_text *const text = &script->text;

    shmt_text_add(text,
        "# Completes shmtune in fish; by `shmtune completion fish`.\n"
        "function __shmtune_verb\n"
        "    for word in (commandline -opc)[2..]\n"
        "        if contains -- $word ");
    add_names(text, " ");
    shmt_text_add(text, "\n"
        "            echo $word\n            return 0\n        end\n    end\n"
        "    return 1\nend\n"
        "function __shmtune_is\n"
        "    set -l verb (__shmtune_verb; or echo tune)\n"
        "    test $verb = $argv[1]\nend\n");
    for (size_t k = 0; k < SHMT_COMMAND_COUNT; k++)
        if (is_listed(shmt_command_all[k])) {
            shmt_text_addf(text, "complete -c shmtune -n 'not "
                           "__shmtune_verb >/dev/null' -a %s -d '",
                           shmt_command_all[k]->name);
            add_quoted(text, shmt_command_all[k]->summary, "\\");
            shmt_text_add(text, "'\n");
            fish_words(text, shmt_command_all[k]);
            add_options(script, shmt_command_all[k]);
            take_common(script);
        }
}

/* -- the command ---------------------------------------------------------- */

static const struct shell shells[] = {
    {"bash", write_bash, bash_option},
    {"zsh", write_zsh, zsh_option},
    {"fish", write_fish, fish_option},
};
enum { SHELLS = sizeof shells / sizeof shells[0] };

static enum shmtune_status add_kernels(struct shmt_text *text,
                                       struct shmt_error *err)
{
    struct shmt_catalogue *catalogue = NULL;
    enum shmtune_status status = shmt_command_catalogue(&catalogue, err);

    for (size_t k = 0; status == SHMTUNE_OK && k < catalogue->kernel_count;
         k++)
        shmt_text_addf(text, "%s\n", catalogue->kernels[k].kernel->name);
    shmt_catalogue_close(catalogue);
    return status;
}

static void add_strategies(struct shmt_text *text)
{
    const struct shmt_strategy *strategy;

    for (size_t k = 0; (strategy = shmt_strategy_at(k)) != NULL; k++)
        shmt_text_addf(text, "%s\n", strategy->name);
}

/* "replay:sm_90-nvidia-h100" of its files in a folder, where it is new. */
static enum shmtune_status add_recorded(struct shmt_text *text,
                                        struct shmt_arena *arena,
                                        const char *folder,
                                        struct shmt_error *err)
{
    static const char *const ends[] = {".journal", ".journal.gz"};
    enum shmtune_status status = SHMTUNE_OK;
    const char *const *names;
    size_t count;

    for (size_t e = 0; status == SHMTUNE_OK && e < 2; e++) {
        status = shmt_path_list(arena, folder, ends[e], &names, &count, err);
        for (size_t k = 0; status == SHMTUNE_OK && k < count; k++) {
            char line[300];

            snprintf(line, sizeof line, "replay:%.*s\n",
                     (int)strcspn(names[k], "."), names[k]);
            if (strstr(shmt_text_string(text), line) == NULL)
                shmt_text_add(text, line);
        }
    }
    return status == SHMTUNE_NO_MEMORY ? status : SHMTUNE_OK;
}

static enum shmtune_status add_recordings(struct shmt_text *text,
                                          struct shmt_error *err)
{
    struct shmt_arena *const arena = shmt_arena_new();
    struct shmt_catalogue *catalogue = NULL;
    enum shmtune_status status =
        arena == NULL ? shmt_error_memory(err)
                      : shmt_command_catalogue(&catalogue, err);

    for (size_t f = 0; status == SHMTUNE_OK && f < catalogue->folder_count;
         f++)
        for (size_t k = 0; status == SHMTUNE_OK && k < catalogue->kernel_count;
             k++) {
            const char *path = shmt_path_join(arena, catalogue->folders[f],
                                              "tunings");

            if (path != NULL)
                path = shmt_path_join(arena, path,
                                      catalogue->kernels[k].kernel->name);
            status = path == NULL ? shmt_error_memory(err)
                                  : add_recorded(text, arena, path, err);
        }
    shmt_catalogue_close(catalogue);
    shmt_arena_free(arena);
    return status;
}

static enum shmtune_status write_for(const char *word, struct script *script,
                                     struct shmt_error *err)
{
    if (strcmp(word, "kernels") == 0)
        return add_kernels(&script->text, err);
    if (strcmp(word, "strategies") == 0) {
        add_strategies(&script->text);
        return SHMTUNE_OK;
    }
    if (strcmp(word, "recordings") == 0)
        return add_recordings(&script->text, err);
    for (size_t k = 0; k < SHELLS; k++)
        if (strcmp(word, shells[k].name) == 0) {
            script->shell = &shells[k];
            shells[k].write(script);
            return SHMTUNE_OK;
        }
    return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                          "\"%.64s\" is not among bash, zsh, fish, kernels, "
                          "strategies, recordings", word);
}

static enum shmtune_status run(const struct shmt_command_call *call,
                               struct shmt_error *err)
{
    const struct shmt_command_option options[] = {
        {NULL, 0, SHMT_OPTION_FLAG, NULL, 0, 0}
    };
    struct script script = {0};
    int rest;
    enum shmtune_status status =
        shmt_command_options(call, options, &rest, err);

    if (status != SHMTUNE_OK)
        return status;
    if (rest != 1)
        return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                              "expected one of bash, zsh, fish, kernels, "
                              "strategies, recordings");
    status = write_for(call->words[0], &script, err);
    if (status == SHMTUNE_OK)
        status = shmt_command_print(&script.text, err);
    shmt_text_free(&script.text);
    return status;
}

const struct shmt_command shmt_command_completion = {
    "completion", "what bash, zsh and fish complete commands by", help, run
};
