/* SPDX-License-Identifier: MIT */
/*
 * options: parses the options of a command by its table, and suggests the
 * nearest option for an unknown one.
 */
#include "config.h"

#include "command/command.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { NEAREST_LENGTH = 40, MOST = 64 };

/* What was given of each option of a table: its value, or how a flag is
 * written; NULL: nothing. */
struct given {
    const char *text[MOST];
};

const struct shmt_command *const shmt_command_all[] = {
#define SHMT_COMMAND_ADDRESS(name) &shmt_command_##name,
    SHMT_COMMAND_LIST(SHMT_COMMAND_ADDRESS)
#undef SHMT_COMMAND_ADDRESS
    NULL
};

static enum shmtune_status
refuse_unknown(const struct shmt_command_option *options, const char *word,
               struct shmt_error *err)
{
    char name[NEAREST_LENGTH + 1];
    const char *names[MOST] = {NULL};
    const char *nearest;
    const size_t length = strcspn(word, "=");

    for (size_t i = 0; options[i].name != NULL && i + 1 < MOST; i++)
        names[i] = options[i].name;
    if (strncmp(word, "--", 2) != 0 || length - 2 > NEAREST_LENGTH)
        return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                              "unknown option \"%.64s\"", word);
    memcpy(name, word + 2, length - 2);
    name[length - 2] = '\0';
    nearest = shmt_text_nearest(name, names, strlen(name) / 3 + 2);
    if (nearest == NULL)
        return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                              "unknown option \"--%s\"", name);
    return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                          "unknown option \"--%s\"; did you mean \"--%s\"?",
                          name, nearest);
}

static enum shmtune_status store_int(const struct shmt_command_option *option,
                                     const char *value,
                                     struct shmt_error *err)
{
    char *end;
    long long number;

    errno = 0;
    number = strtoll(value, &end, 10);
    if (end == value || *end != '\0' || errno != 0 || number < option->low ||
        number > option->high)
        return shmt_error_set(
            err, SHMTUNE_INVALID_ARGUMENT,
            "--%s is \"%.64s\"; a whole number from %lld to %lld is expected",
            option->name, value, (long long)option->low,
            (long long)option->high);
    *(int64_t *)option->out = number;
    return SHMTUNE_OK;
}

static bool may_repeat(const struct shmt_command_option *option)
{
    return option->kind == SHMT_OPTION_REPEATED ||
           option->kind == SHMT_OPTION_PATHS;
}

static enum shmtune_status store(const struct shmt_command_option *option,
                                 const char *value, struct shmt_error *err)
{
    struct shmt_command_repeats *repeats;

    if (value != NULL && value[0] == '\0' &&
        (option->kind == SHMT_OPTION_PATH || option->kind == SHMT_OPTION_PATHS))
        return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                              "--%s is \"\"; the name of a file or a "
                              "folder is expected", option->name);
    switch (option->kind) {
    case SHMT_OPTION_FLAG:
        *(bool *)option->out = true;
        return SHMTUNE_OK;
    case SHMT_OPTION_TEXT:
        *(const char **)option->out = value;
        return SHMTUNE_OK;
    case SHMT_OPTION_PATH:
        *(const char **)option->out = value;
        return SHMTUNE_OK;
    case SHMT_OPTION_INT:
        return store_int(option, value, err);
    case SHMT_OPTION_REPEATED:
    case SHMT_OPTION_PATHS:
        break;
    }
    repeats = option->out;
    if (repeats->count == SHMT_COMMAND_REPEATS)
        return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                              "--%s is given more than %d times",
                              option->name, SHMT_COMMAND_REPEATS);
    repeats->items[repeats->count++] = value;
    return SHMTUNE_OK;
}

/* The option that a word begins with, and the value attached to it: --size=A,
 * -j4.  NULL when the word is no option. */
static const struct shmt_command_option *
match(const struct shmt_command_option *options, const char *word,
      const char **value)
{
    const size_t length = strcspn(word, "=");

    *value = NULL;
    for (; options->name != NULL; options++) {
        if (word[1] != '-' && word[1] == options->letter) {
            if (word[2] == '\0')
                return options;
            if (options->kind == SHMT_OPTION_FLAG)
                continue;
            *value = word[2] == '=' ? word + 3 : word + 2;
            return options;
        }
        if (word[1] == '-' && strlen(options->name) == length - 2 &&
            memcmp(word + 2, options->name, length - 2) == 0) {
            *value = word[length] == '=' ? word + length + 1 : NULL;
            return options;
        }
    }
    return NULL;
}

static const struct shmt_command_option *
match_negated(const struct shmt_command_option *options, const char *word)
{
    if (strncmp(word, "--no-", 5) != 0)
        return NULL;
    for (; options->name != NULL; options++)
        if (options->kind == SHMT_OPTION_FLAG &&
            strcmp(options->name, word + 5) == 0)
            return options;
    return NULL;
}

/* Of two that differ it is not known which is meant. */
static enum shmtune_status note(struct given *given, size_t k,
                                const struct shmt_command_option *option,
                                const char *text, struct shmt_error *err)
{
    const char *const before = given->text[k];

    given->text[k] = text;
    if (may_repeat(option) || before == NULL ||
        strcmp(before, text) == 0)
        return SHMTUNE_OK;
    if (option->kind == SHMT_OPTION_FLAG)
        return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                              "--%s and --no-%s are both given; give one of "
                              "them", option->name, option->name);
    return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                          "--%s is given twice, \"%.64s\" and \"%.64s\"; one "
                          "is expected", option->name, before, text);
}

/* Takes words[*at], and the next one when it is the option's value. */
static enum shmtune_status take(const struct shmt_command_call *call,
                                const struct shmt_command_option *options,
                                struct given *given, int *at,
                                struct shmt_error *err)
{
    const char *word = call->words[*at], *value;
    const struct shmt_command_option *option = match(options, word, &value);
    const struct shmt_command_option *negated = match_negated(options, word);
    enum shmtune_status status;

    if (option == NULL && negated != NULL) {
        *(bool *)negated->out = false;
        return note(given, (size_t)(negated - options), negated, "no", err);
    }
    if (option == NULL)
        return refuse_unknown(options, word, err);
    if (option->kind == SHMT_OPTION_FLAG && value != NULL)
        return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                              "--%s takes no value, but \"%.64s\" is given",
                              option->name, value);
    if (option->kind != SHMT_OPTION_FLAG && value == NULL) {
        if (*at + 1 >= call->count)
            return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                                  "\"%s\" needs a value", word);
        value = call->words[++*at];
    }
    status = note(given, (size_t)(option - options), option,
                  option->kind == SHMT_OPTION_FLAG ? "yes" : value, err);
    return status == SHMTUNE_OK ? store(option, value, err) : status;
}

enum shmtune_status
shmt_command_options(const struct shmt_command_call *call,
                     const struct shmt_command_option *options, int *rest,
                     struct shmt_error *err)
{
    struct given given = {{NULL}};
    bool ended = false;
    int kept = 0;

    if (call->show_options != NULL) {
        call->show_options(call->context, options);
        return SHMTUNE_INTERRUPTED;
    }
    for (int i = 0; i < call->count; i++) {
        char *word = call->words[i];
        enum shmtune_status status;

        if (!ended && word[0] == '\0')
            return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                                  "a word is empty (\"\"); a name or a path "
                                  "is expected in its place");
        if (ended || word[0] != '-' || word[1] == '\0') {
            call->words[kept++] = word;
            continue;
        }
        if (strcmp(word, "--") == 0) {
            ended = true;
            continue;
        }
        status = take(call, options, &given, &i, err);
        if (status != SHMTUNE_OK)
            return status;
    }
    *rest = kept;
    return SHMTUNE_OK;
}

enum shmtune_status shmt_command_change_status(struct shmt_error *err,
                                               enum shmtune_status from,
                                               enum shmtune_status to)
{
    if (err->status == from)
        err->status = to;
    return err->status;
}

bool shmt_command_is_gpu(const char *word)
{
    static const char digits[] = "0123456789";
    static const struct {
        const char *prefix, *digits;
    } uuids[] = {
        {"GPU-", "0123456789abcdefABCDEF-"},
        /* Drivers before R470 wrote MIG-GPU-UUID/3/0. */
        {"MIG-", "0123456789abcdefABCDEF-GPU/"},
    };

    for (size_t k = 0; k < sizeof uuids / sizeof *uuids; k++) {
        const size_t length = strlen(uuids[k].prefix);
        if (strncasecmp(word, uuids[k].prefix, length) == 0)
            return word[length] != '\0' &&
                   word[length + strspn(word + length, uuids[k].digits)] ==
                       '\0';
    }
    return word[0] != '\0' && word[strspn(word, digits)] == '\0';
}
