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

struct writing {
    struct shmt_draft *draft;
    const char **folders;                          /* of draft->folders */
    struct shmt_text includes, options, before;    /* before: -include */
};

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
    return shmt_compiler_line_path(draft->arena, draft->compiled_in, path);
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

/* A folder of headers, absolute as they are but for that of the draft. */
static void add_folder(struct writing *writing, const char *item)
{
    struct shmt_draft *const draft = writing->draft;
    const char *const own = shmt_path_folder(draft->arena, draft->path);
    const char *const path =
        own == NULL ? NULL : shmt_path_join(draft->arena, own, item);

    add_item(&writing->includes, item);
    if (path == NULL)
        draft->keys.failed = true;
    else
        writing->folders[draft->folder_count++] = path;
}

/* Behind all definitions, wherever the option stands. */
static void include_before(struct writing *writing, const char *name)
{
    const char *path = is_given(writing->draft, name)
                           ? NULL : absolute_of(writing->draft, name);

    shmt_text_addf(&writing->before, "#include \"%s\"\n",
                   path != NULL && shmt_path_is_file(path) ? path : name);
}

/* NVRTC looks for headers in quotes beside the program, before all folders
 * but not before its texts.  What is not needed is no folder. */
static void add_own_folder(struct writing *writing)
{
    const struct shmt_draft *draft = writing->draft;
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
            add_folder(writing, folder);
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

void shmt_draft_define(struct shmt_draft *draft, const char *definition)
{
    const size_t length = shmt_text_name_length(definition);
    struct shmt_draft_number *number = &draft->numbers[draft->number_count];
    int64_t found;

    if (definition[length] == '=' &&
        shmt_init_number(definition + length + 1, &found) &&
        draft->number_count < SHMT_DRAFT_NUMBERS) {
        *number = (struct shmt_draft_number){
            .name = shmt_arena_copy(draft->arena, definition, length),
            .value = found, .way = SHMT_DRAFT_OPTION};
        draft->number_count += number->name != NULL;
        draft->definitions.failed |= number->name == NULL;
        return;
    }
    shmt_compiler_line_define(definition, &draft->definitions);
}

void shmt_draft_add_definition(const struct shmt_draft_number *one,
                               struct shmt_text *text)
{
    shmt_text_addf(text, "#define %s %lld\n", one->name,
                   (long long)one->value);
}

static void add_keys(struct shmt_draft *draft,
                     const struct shmt_compiler_line *line)
{
    if (line->architecture != NULL)
        take_architecture(draft, line->architecture);
    if (line->standard != NULL)
        take_standard(draft, line->standard);
    if (line->fast_math)
        shmt_text_add(&draft->keys, "fast_math: true\n");
}

static void add_lists(struct writing *writing,
                      const struct shmt_compiler_line *line)
{
    enum { OWN = 2 };                  /* its headers, and beside it */
    struct shmt_draft *const draft = writing->draft;

    writing->folders = shmt_arena_alloc(draft->arena,
                                        line->includes.count + OWN,
                                        sizeof *writing->folders);
    draft->folders = writing->folders;
    if (writing->folders == NULL) {
        draft->keys.failed = true;
        return;
    }
    if (draft->headers != NULL)
        add_folder(writing, draft->headers);
    add_own_folder(writing);
    for (size_t k = 0; k < line->includes.count; k++)
        add_folder(writing, line->includes.items[k]);
    for (size_t k = 0; k < line->definitions.count; k++)
        shmt_draft_define(draft, line->definitions.items[k]);
    for (size_t k = 0; k < line->before.count; k++)
        include_before(writing, line->before.items[k]);
    for (size_t k = 0; k < line->others.count; k++)
        if (!is_dropped(line->others.items[k]))
            add_item(&writing->options, line->others.items[k]);
}

void shmt_draft_options(struct shmt_draft *draft)
{
    struct writing writing = {.draft = draft};

    add_keys(draft, &draft->line);
    add_lists(&writing, &draft->line);
    shmt_text_add(&draft->definitions, shmt_text_string(&writing.before));
    if (writing.includes.length > 0)
        shmt_text_addf(&draft->keys, "includes: [%s]\n",
                       shmt_text_string(&writing.includes));
    if (writing.options.length > 0)
        shmt_text_addf(&draft->keys, "options: [%s]\n",
                       shmt_text_string(&writing.options));
    draft->keys.failed |= writing.includes.failed || writing.options.failed ||
                          writing.before.failed;
    shmt_text_free(&writing.includes);
    shmt_text_free(&writing.options);
    shmt_text_free(&writing.before);
}
