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
    struct shmt_text includes, options, before;    /* before: -include */
};

static const char *option_of(const struct reading *reading, size_t at)
{
    const char *option = reading->draft->options[at];

    return option + strspn(option, " \t");
}

/* The value of an option that is called so, "-I", "path", or "-Ipath",
 * "-I path" or "--include-path=path" in one; NULL: it is another one. */
static const char *value_of(struct reading *reading, const char *name)
{
    const char *option = option_of(reading, reading->at);
    const size_t length = strlen(name);
    const bool joined = length == 2;       /* -I, -D */
    const char *value = option + length;

    if (strncmp(option, name, length) != 0)
        return NULL;
    if (*value == '\0' && reading->at + 1 < reading->draft->option_count)
        return option_of(reading, ++reading->at);
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

/* From the folder in which the application was when it compiled. */
static const char *absolute_of(const struct shmt_draft *draft,
                               const char *path)
{
    if (draft->compiled_in != NULL && path[0] != '/')
        path = shmt_path_join(draft->arena, draft->compiled_in, path);
    return path == NULL ? NULL : shmt_path_absolute(draft->arena, path);
}

static void add_folder(struct reading *reading, const char *path)
{
    const char *absolute = absolute_of(reading->draft, path);

    if (absolute == NULL)
        reading->includes.failed = true;
    else
        add_item(&reading->includes, absolute);
}

/* Whether the application gave the header as a text. */
static bool is_given(const struct shmt_draft *draft, const char *name)
{
    const char *path =
        draft->headers == NULL
            ? NULL : shmt_path_join(draft->arena,
                                    shmt_path_folder(draft->arena,
                                                     draft->path),
                                    draft->headers);

    path = path == NULL ? NULL : shmt_path_join(draft->arena, path, name);
    return path != NULL && shmt_path_is_file(path);
}

/* Behind all definitions, wherever the option stands. */
static void include_before(struct reading *reading, const char *name)
{
    const char *path = is_given(reading->draft, name)
                           ? NULL : absolute_of(reading->draft, name);

    shmt_text_addf(&reading->before, "#include \"%s\"\n",
                   path != NULL && shmt_path_is_file(path) ? path : name);
}

/* NVRTC looks for headers in quotes beside the program, before all folders
 * but not before its texts.  What is not needed is no folder. */
static void add_own_folder(struct reading *reading)
{
    const struct shmt_draft *draft = reading->draft;
    const char *path = draft->program == NULL
                           ? NULL : absolute_of(draft, draft->program);
    const char *folder =
        path == NULL ? NULL : shmt_path_folder(draft->arena, path);
    const char *at = draft->code, *name;
    size_t length;
    bool quoted;

    while (folder != NULL && at != NULL &&
           shmt_kernel_next_include(draft->code, &at, &name, &length,
                                    &quoted)) {
        name = quoted ? shmt_arena_copy(draft->arena, name, length) : NULL;
        path = name == NULL || is_given(draft, name)
                   ? NULL : shmt_path_join(draft->arena, folder, name);
        if (path != NULL && shmt_path_is_file(path)) {
            add_item(&reading->includes, folder);
            return;
        }
    }
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
    const char *option = option_of(reading, reading->at), *value;

    if ((value = any_value(reading, arch)) != NULL)
        take_architecture(draft, value);
    else if ((value = any_value(reading, standard)) != NULL)
        take_standard(draft, value);
    else if ((value = any_value(reading, pre)) != NULL)
        include_before(reading, value);
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

void shmt_draft_add_definition(const struct shmt_draft_number *one,
                               struct shmt_text *text)
{
    shmt_text_addf(text, "#define %s %lld\n", one->name,
                   (long long)one->value);
}

void shmt_draft_options(struct shmt_draft *draft)
{
    struct reading reading = {.draft = draft};

    if (draft->headers != NULL)
        add_item(&reading.includes, draft->headers);
    add_own_folder(&reading);
    for (; reading.at < draft->option_count; reading.at++)
        take(&reading);
    shmt_text_add(&draft->definitions, shmt_text_string(&reading.before));
    if (reading.includes.length > 0)
        shmt_text_addf(&draft->keys, "includes: [%s]\n",
                       shmt_text_string(&reading.includes));
    if (reading.options.length > 0)
        shmt_text_addf(&draft->keys, "options: [%s]\n",
                       shmt_text_string(&reading.options));
    draft->keys.failed |= reading.includes.failed || reading.options.failed ||
                          reading.before.failed;
    shmt_text_free(&reading.includes);
    shmt_text_free(&reading.options);
    shmt_text_free(&reading.before);
}
