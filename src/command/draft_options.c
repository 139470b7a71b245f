/* SPDX-License-Identifier: MIT */
/*
 * draft_options: what the application told its compiler, as keys of a spec.
 * Called by capture.c.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/draft.h"
#include "command/init.h"
#include "yaml/yaml.h"

/* What a spec has no need of: the tuner says it itself. */
static const char *const dropped[] = {
    "-lineinfo", "--generate-line-info", "-default-device",
    "--device-as-default-execution-space", "-w", "--disable-warnings",
    "-G", "--device-debug", "-pch", "--pch", "-no-cache", "--no-cache",
    "-rdc", "--relocatable-device-code", "-dc", "--device-c", "-dlto",
    "--dlink-time-opt"
};

static const char *const standards[] = {"c++11", "c++14", "c++17", "c++20"};

struct reading {
    struct shmt_draft *draft;
    size_t at;                 /* of the option */
    struct shmt_text includes, options;
};

/* The value of an option that is called so, "-I path", "-Ipath" or
 * "--include-path=path"; NULL: it is another one. */
static const char *value_of(struct reading *reading, const char *name)
{
    const struct shmt_draft *draft = reading->draft;
    const char *option = draft->options[reading->at];
    const size_t length = strlen(name);
    const bool joined = length == 2;       /* -I, -D */

    if (strncmp(option, name, length) != 0)
        return NULL;
    if (option[length] == '=')
        return option + length + 1;
    if (option[length] == '\0' && reading->at + 1 < draft->option_count)
        return draft->options[++reading->at];
    return joined && option[length] != '\0' ? option + length : NULL;
}

static const char *any_value(struct reading *reading,
                             const char *const names[])
{
    const char *value = NULL;

    for (size_t k = 0; value == NULL && names[k] != NULL; k++)
        value = value_of(reading, names[k]);
    return value;
}

static void note(struct shmt_draft *draft, const char *option, const char *why)
{
    shmt_text_add(&draft->notes, "# The option ");
    shmt_text_add_visible(&draft->notes, option);
    shmt_text_addf(&draft->notes, " is left out: %s.\n", why);
}

static void add_item(struct shmt_text *list, const char *item)
{
    shmt_text_add(list, list->length == 0 ? "" : ", ");
    shmt_yaml_add_string(list, item);
}

/* The application's own folder was another one. */
static void add_folder(struct reading *reading, const char *path)
{
    const char *absolute = shmt_path_absolute(reading->draft->arena, path);

    if (absolute == NULL)
        reading->includes.failed = true;
    else
        add_item(&reading->includes, absolute);
}

static void take_architecture(struct shmt_draft *draft, const char *value)
{
    const size_t length = strlen(value);

    if (length > 0 && value[length - 1] == 'a')
        shmt_text_add(&draft->keys, "features: architecture\n");
    else if (length > 0 && value[length - 1] == 'f')
        shmt_text_add(&draft->keys, "features: family\n");
}

static void take_standard(struct shmt_draft *draft, const char *value)
{
    for (size_t k = 0; k < sizeof standards / sizeof standards[0]; k++)
        if (strcmp(value, standards[k]) == 0) {
            shmt_text_addf(&draft->keys, "standard: %s\n", value);
            return;
        }
    note(draft, value, "a spec has no such standard");
}

static bool is_dropped(const char *option)
{
    for (size_t k = 0; k < sizeof dropped / sizeof dropped[0]; k++)
        if (strncmp(option, dropped[k], strlen(dropped[k])) == 0 &&
            strchr("=-", option[strlen(dropped[k])]) != NULL)
            return true;
    return false;
}

static void take(struct reading *reading)
{
    static const char *const arch[] = {"-arch", "--gpu-architecture", NULL};
    static const char *const standard[] = {"-std", "--std", NULL};
    static const char *const include[] = {"-I", "--include-path", NULL};
    static const char *const define[] = {"-D", "--define-macro", NULL};
    static const char *const pre[] = {"-include", "--pre-include", NULL};
    struct shmt_draft *draft = reading->draft;
    const char *option = draft->options[reading->at], *value;

    if ((value = any_value(reading, arch)) != NULL)
        take_architecture(draft, value);
    else if ((value = any_value(reading, standard)) != NULL)
        take_standard(draft, value);
    else if ((value = any_value(reading, pre)) != NULL)
        shmt_text_addf(&draft->definitions, "#include \"%s\"\n", value);
    else if ((value = any_value(reading, include)) != NULL)
        add_folder(reading, value);
    else if ((value = any_value(reading, define)) != NULL)
        shmt_draft_define(draft, value);
    else if (strcmp(option, "-use_fast_math") == 0 ||
             strcmp(option, "--use_fast_math") == 0)
        shmt_text_add(&draft->keys, "fast_math: true\n");
    else if (!is_dropped(option))
        add_item(&reading->options, option);
}

void shmt_draft_define(struct shmt_draft *draft, const char *definition)
{
    const size_t length = shmt_text_name_length(definition);
    const char *value = definition[length] == '=' ? definition + length + 1
                                                  : "1";
    struct shmt_draft_number *number = &draft->numbers[draft->number_count];
    int64_t found;

    if (definition[length] == '=' && shmt_init_number(value, &found) &&
        draft->number_count < SHMT_DRAFT_NUMBERS) {
        *number = (struct shmt_draft_number){
            .name = shmt_arena_copy(draft->arena, definition, length),
            .value = found, .way = SHMT_DRAFT_OPTION};
        draft->number_count += number->name != NULL;
        draft->definitions.failed |= number->name == NULL;
        return;
    }
    /* One with arguments, NAME(x)=..., too. */
    shmt_text_addf(&draft->definitions, "#define %.*s %s\n",
                   (int)(strcspn(definition, "=")), definition, value);
}

void shmt_draft_options(struct shmt_draft *draft)
{
    struct reading reading = {.draft = draft};

    if (draft->headers != NULL)
        add_item(&reading.includes, draft->headers);
    for (; reading.at < draft->option_count; reading.at++)
        take(&reading);
    if (reading.includes.length > 0)
        shmt_text_addf(&draft->keys, "includes: [%s]\n",
                       shmt_text_string(&reading.includes));
    if (reading.options.length > 0)
        shmt_text_addf(&draft->keys, "options: [%s]\n",
                       shmt_text_string(&reading.options));
    draft->keys.failed |= reading.includes.failed || reading.options.failed;
    shmt_text_free(&reading.includes);
    shmt_text_free(&reading.options);
}
