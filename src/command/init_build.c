/* SPDX-License-Identifier: MIT */
/*
 * init_build: how the source of a draft is built: folders of headers, macros
 * and options, from the command that stands behind "--", or from a
 * compile_commands.json of the project.  Called by init.c.
 */
#include "config.h"

#include <string.h>

#include "command/builds.h"
#include "command/init.h"
#include "yaml/yaml.h"

/* Ways up to a folder. */
enum { UPS = 3 };

enum shmtune_status shmt_init_find_build(struct shmt_init_draft *draft,
                                         const char *path,
                                         const char *const *words,
                                         size_t count, struct shmt_error *err)
{
    struct shmt_builds builds = {.arena = draft->arena};
    struct shmt_builds_entry build = {.words = {count, (const char **)words}};
    enum shmtune_status status = SHMTUNE_OK;

    if (count == 0)
        status = shmt_builds_find(&builds, path, &build, err);
    shmt_builds_free(&builds);
    draft->built = build.list;
    if (status == SHMTUNE_OK)
        status = shmt_builds_line(draft->arena, &build, &draft->line, err);
    return status == SHMTUNE_OK && build.words.count > 0
               ? shmt_builds_compiled(draft->arena, &build, path,
                                      &draft->compiled, err)
               : status;
}

/* -- what a draft says of it ---------------------------------------------- */

const char *shmt_init_given(const struct shmt_init_draft *draft,
                            const char *name)
{
    const char *value = NULL;
    const size_t length = strlen(name);

    for (size_t k = 0; k < draft->line.definitions.count; k++) {
        const char *const one = draft->line.definitions.items[k];

        if (strncmp(one, name, length) == 0 && one[length] == '=')
            value = one + length + 1;
        else if (strcmp(one, name) == 0)
            value = "1";
    }
    return value;
}

void shmt_init_add_definitions(const struct shmt_init_draft *draft,
                               struct shmt_text *text)
{
    for (size_t k = 0; k < draft->line.definitions.count; k++)
        shmt_compiler_line_define(draft->line.definitions.items[k], text);
}

static bool ends(char letter)
{
    return letter == '/' || letter == '\0';
}

/* As it is named from the folder of the spec, where it is not far from there:
 * "../include". */
static void add_path(const struct shmt_init_draft *draft, const char *path,
                     struct shmt_text *text)
{
    const char *const from = draft->spec_folder;
    size_t shared = 0, ups = 0;

    for (size_t at = 0;; at++) {
        if (ends(from[at]) && ends(path[at]))
            shared = at;
        if (from[at] == '\0' || from[at] != path[at])
            break;
    }
    for (const char *at = from + shared; *at != '\0'; at++)
        ups += *at == '/';
    if (shared == 0 || ups > UPS) {
        shmt_text_add(text, path);
        return;
    }
    for (size_t k = 0; k < ups; k++)
        shmt_text_add(text, k == 0 ? ".." : "/..");
    shmt_text_add(text, path[shared] == '\0' ? ups == 0 ? "." : ""
                        : ups == 0           ? path + shared + 1
                                             : path + shared);
}

static void add_item(struct shmt_text *list, const char *item)
{
    shmt_text_add(list, list->length == 0 ? "" : ", ");
    shmt_yaml_add_string(list, item);
}

static void add_includes(const struct shmt_init_draft *draft,
                         struct shmt_text *text)
{
    struct shmt_text list = {0};

    for (size_t k = 0; k < draft->line.includes.count; k++) {
        struct shmt_text path = {0};

        add_path(draft, draft->line.includes.items[k], &path);
        add_item(&list, shmt_text_string(&path));
        list.failed |= path.failed;
        shmt_text_free(&path);
    }
    if (list.length > 0)
        shmt_text_addf(text, "includes: [%s]\n", shmt_text_string(&list));
    text->failed |= list.failed;
    shmt_text_free(&list);
}

/* A parameter is given by its values. */
static bool is_parameter(const struct shmt_init_draft *draft,
                         const char *definition)
{
    const size_t length = strcspn(definition, "=");

    for (size_t k = 0; k < draft->macro_count; k++)
        if (strlen(draft->macros[k].name) == length &&
            memcmp(draft->macros[k].name, definition, length) == 0)
            return true;
    return false;
}

/* NVRTC, which a source without host code is for, knows no such option. */
static bool is_of_nvcc(const char *option)
{
    return strstr(option, "-expt-") != NULL ||
           strstr(option, "-extended-lambda") != NULL;
}

static void add_options(const struct shmt_init_draft *draft,
                        struct shmt_text *text)
{
    struct shmt_text list = {0};

    for (size_t k = 0; k < draft->line.definitions.count; k++) {
        const char *const one = draft->line.definitions.items[k];
        struct shmt_text option = {0};

        if (is_parameter(draft, one))
            continue;
        shmt_text_addf(&option, "-D%s", one);
        add_item(&list, shmt_text_string(&option));
        list.failed |= option.failed;
        shmt_text_free(&option);
    }
    for (size_t k = 0; k < draft->line.others.count; k++)
        if (draft->hosted != NULL ||
            !is_of_nvcc(draft->line.others.items[k]))
            add_item(&list, draft->line.others.items[k]);
    if (list.length > 0)
        shmt_text_addf(text, "options: [%s]\n", shmt_text_string(&list));
    text->failed |= list.failed;
    shmt_text_free(&list);
}

void shmt_init_add_build(const struct shmt_init_draft *draft,
                         struct shmt_text *text)
{
    const char *const standard =
        draft->line.standard == NULL ? NULL
                                     : strstr(draft->line.standard, "++2");

    if (draft->built != NULL) {
        shmt_text_add(text, "# Built as in ");
        add_path(draft, draft->built, text);
        shmt_text_add(text, ":\n");
    }
    add_includes(draft, text);
    if (standard != NULL)
        shmt_text_add(text, "standard: c++20\n");
    if (draft->line.fast_math)
        shmt_text_add(text, "fast_math: true\n");
    add_options(draft, text);
}
