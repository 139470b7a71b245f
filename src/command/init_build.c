/* SPDX-License-Identifier: MIT */
/*
 * init_build: how the source of a draft is built: folders of headers, macros
 * and options, from the command that stands behind "--", or from a
 * compile_commands.json of the project, a "JSON compilation database" of Clang.
 * Called by init.c.
 */
#include "config.h"

#include <string.h>

#include "command/init.h"
#include "command/json.h"
#include "exchange/exchange.h"
#include "yaml/yaml.h"

/* Folders above the source's, bytes of a file, ways up to a folder. */
enum { HIGHEST = 8, BYTES = 256 << 20, UPS = 3, FILES = 256 };

/* -- what is compiled ----------------------------------------------------- */

static bool is_code(const char *name)
{
    static const char *const ends[] = {".cu", ".cpp", ".cc", ".cxx", ".c"};
    const char *const dot = strrchr(name, '.');

    for (size_t k = 0; dot != NULL && k < sizeof ends / sizeof ends[0]; k++)
        if (strcmp(dot, ends[k]) == 0)
            return true;
    return false;
}

static enum shmtune_status read_line(struct shmt_init_draft *draft,
                                     const char *folder,
                                     const struct shmt_compiler_words *words,
                                     struct shmt_compiler_line *out,
                                     struct shmt_error *err)
{
    struct shmt_compiler_words kept;
    const enum shmtune_status status = shmt_compiler_line_command(
        draft->arena, folder, words->items, words->count, &kept, err);

    return status != SHMTUNE_OK
               ? status
               : shmt_compiler_line_read(draft->arena, folder, kept.items,
                                         kept.count, out, err);
}

/* *out: the file of a command that includes the source, which then is compiled
 * with it; NULL: none, or the source itself. */
static enum shmtune_status
find_compiled(struct shmt_init_draft *draft, const char *path,
              const char *folder, const struct shmt_compiler_words *words,
              const char **out, struct shmt_error *err)
{
    struct shmt_compiler_line line;
    enum shmtune_status status = read_line(draft, folder, words, &line, err);

    *out = NULL;
    for (size_t k = 1; status == SHMTUNE_OK && k < words->count; k++) {
        const char *const word = words->items[k];
        const char *const file =
            shmt_compiler_line_path(draft->arena, folder, word);
        bool includes = false;

        if (file == NULL)
            return shmt_error_memory(err);
        if (!is_code(word) || !shmt_path_is_file(file))
            continue;
        if (shmt_path_is_same(file, path)) {
            *out = NULL;
            break;
        }
        if (*out == NULL)
            status = shmt_source_includes(file, path, line.includes.items,
                                          line.includes.count, &includes, err);
        if (includes)
            *out = file;
    }
    return status;
}

/* -- compile_commands.json ------------------------------------------------ */

struct found {
    struct shmt_compiler_words words;
    const char *folder;
    bool exact;                /* it is the source's own */
};

static const char *text_of(const json_t *entry, const char *key)
{
    const char *text = json_string_value(json_object_get(entry, key));

    return text == NULL ? "" : text;
}

static enum shmtune_status take_words(struct shmt_init_draft *draft,
                                      const json_t *entry,
                                      struct shmt_compiler_words *out,
                                      struct shmt_error *err)
{
    const json_t *const list = json_object_get(entry, "arguments");
    const char *const command = text_of(entry, "command");
    const char *const copy = shmt_arena_copy(draft->arena, command,
                                             strlen(command));

    if (copy == NULL)
        return shmt_error_memory(err);
    if (!json_is_array(list))
        return shmt_compiler_line_split(draft->arena, copy, out, err);
    out->count = 0;
    out->items = shmt_arena_alloc(draft->arena, json_array_size(list) + 1,
                                  sizeof *out->items);
    for (size_t k = 0; out->items != NULL && k < json_array_size(list); k++) {
        const char *const word = json_string_value(json_array_get(list, k));
        const char *const kept =
            word == NULL ? "" : shmt_arena_copy(draft->arena, word,
                                                strlen(word));

        if (kept == NULL)
            return shmt_error_memory(err);
        out->items[out->count++] = kept;
    }
    return out->items == NULL ? shmt_error_memory(err) : SHMTUNE_OK;
}

/* An entry whose file includes the source. */
static enum shmtune_status search_includer(struct shmt_init_draft *draft,
                                           const json_t *root,
                                           const char *place, const char *path,
                                           struct found *found,
                                           struct shmt_error *err)
{
    enum shmtune_status status = SHMTUNE_OK;
    const char *compiled = NULL;

    for (size_t k = 0; status == SHMTUNE_OK && compiled == NULL &&
                       k < json_array_size(root) && k < FILES; k++) {
        const json_t *const entry = json_array_get(root, k);
        const char *const folder = shmt_path_join(draft->arena, place,
                                                  text_of(entry, "directory"));
        struct shmt_compiler_words words;

        if (folder == NULL)
            return shmt_error_memory(err);
        status = take_words(draft, entry, &words, err);
        if (status == SHMTUNE_OK)
            status = find_compiled(draft, path, folder, &words, &compiled,
                                   err);
        if (status == SHMTUNE_OK && compiled != NULL) {
            found->words = words;
            found->folder = folder;
        }
    }
    return status;
}

/* The entry of the source, or else one whose file includes it, or the first of
 * its folder.  `place`: the folder of the list. */
static enum shmtune_status search(struct shmt_init_draft *draft,
                                  const json_t *root, const char *place,
                                  const char *path, struct found *found,
                                  struct shmt_error *err)
{
    const char *const own = shmt_path_folder(draft->arena, path);
    enum shmtune_status status = SHMTUNE_OK;

    for (size_t k = 0; status == SHMTUNE_OK && !found->exact &&
                       k < json_array_size(root); k++) {
        const json_t *const entry = json_array_get(root, k);
        const char *const directory = text_of(entry, "directory");
        const char *const name = text_of(entry, "file");
        const char *const folder =
            shmt_path_join(draft->arena, place, directory);
        const char *const file =
            folder == NULL ? NULL : shmt_path_join(draft->arena, folder, name);
        const char *const beside =
            file == NULL ? NULL : shmt_path_folder(draft->arena, file);

        if (own == NULL || beside == NULL)
            return shmt_error_memory(err);
        if (name[0] == '\0' || directory[0] == '\0')
            continue;
        found->exact = shmt_path_is_same(file, path);
        if (!found->exact &&
            (found->folder != NULL || !shmt_path_is_same(beside, own)))
            continue;
        found->folder = folder;
        status = take_words(draft, entry, &found->words, err);
    }
    return status != SHMTUNE_OK || found->exact
               ? status
               : search_includer(draft, root, place, path, found, err);
}

/* Of one that is damaged. */
static void tell(const char *name, const char *why)
{
    struct shmt_text line = {0};

    shmt_text_addf(&line, "%s: %s; the draft does without it", name, why);
    shmt_command_tell("note: ", shmt_text_string(&line));
    shmt_text_free(&line);
}

static enum shmtune_status parse(const char *name, const char *text,
                                 size_t size, json_t **out,
                                 struct shmt_error *err)
{
    json_error_t error;

    shmt_export_memory_watch();
    *out = json_loadb(text, size, 0, &error);
    if (shmt_export_memory_failed()) {
        json_decref(*out);
        *out = NULL;
        return shmt_error_memory(err);
    }
    if (!json_is_array(*out))
        tell(name, *out == NULL ? error.text : "it is no list of commands");
    return SHMTUNE_OK;
}

static enum shmtune_status search_file(struct shmt_init_draft *draft,
                                       const char *name, const char *path,
                                       struct found *found,
                                       struct shmt_error *err)
{
    const char *text, *place = shmt_path_folder(draft->arena, name);
    size_t size;
    json_t *root;
    enum shmtune_status status;

    if (place == NULL)
        return shmt_error_memory(err);
    switch (shmt_path_kind(name)) {
    case SHMT_PATH_FILE:
        break;
    case SHMT_PATH_UNKNOWN:
        return shmt_error_system(err, name, "cannot be examined");
    default:
        return SHMTUNE_OK;
    }
    status = shmt_path_read(draft->arena, name, BYTES, &text, &size, err);
    if (status == SHMTUNE_OK)
        status = parse(name, text, size, &root, err);
    if (status != SHMTUNE_OK)
        return status;
    status = search(draft, root, place, path, found, err);
    json_decref(root);
    return status;
}

/* In the folder of the source and those above it, and in their build/. */
static enum shmtune_status find(struct shmt_init_draft *draft,
                                const char *path, struct found *found,
                                const char **from, struct shmt_error *err)
{
    static const char *const names[] = {"compile_commands.json",
                                        "build/compile_commands.json"};
    const char *const absolute = shmt_path_absolute(draft->arena, path);
    const char *folder =
        absolute == NULL ? NULL : shmt_path_folder(draft->arena, absolute);

    if (absolute != NULL && absolute[0] != '/')
        return shmt_error_system(err, ".", "cannot be named");
    for (int up = 0; folder != NULL && up <= HIGHEST; up++) {
        for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
            enum shmtune_status status;

            *from = shmt_path_join(draft->arena, folder, names[k]);
            status = *from == NULL
                         ? shmt_error_memory(err)
                         : search_file(draft, *from, path, found, err);
            if (status != SHMTUNE_OK || found->folder != NULL)
                return status;
        }
        if (strcmp(folder, "/") == 0)
            break;
        folder = shmt_path_folder(draft->arena, folder);
    }
    *from = NULL;
    return folder == NULL ? shmt_error_memory(err) : SHMTUNE_OK;
}

/* Headers of the toolkit are there without being named. */
static bool is_folder(const struct shmt_init_draft *draft, const char *path)
{
    const char *const header =
        shmt_path_join(draft->arena, path, "cuda_runtime.h");

    return header != NULL && !shmt_path_is_absent(path) &&
           !shmt_path_is_file(header);
}

static void drop_folders(const struct shmt_init_draft *draft,
                         struct shmt_compiler_words *includes)
{
    const size_t count = includes->count;

    includes->count = 0;
    for (size_t k = 0; k < count; k++)
        if (is_folder(draft, includes->items[k]))
            includes->items[includes->count++] = includes->items[k];
}

enum shmtune_status shmt_init_find_build(struct shmt_init_draft *draft,
                                         const char *path,
                                         const char *const *words,
                                         size_t count, struct shmt_error *err)
{
    struct found found = {.words = {count, (const char **)words}};
    enum shmtune_status status = SHMTUNE_OK;

    if (count == 0)
        status = find(draft, path, &found, &draft->built, err);
    if (status == SHMTUNE_OK)
        status = read_line(draft, found.folder, &found.words, &draft->line,
                           err);
    if (status == SHMTUNE_OK && found.words.count > 0)
        status = find_compiled(draft, path, found.folder, &found.words,
                               &draft->compiled, err);
    drop_folders(draft, &draft->line.includes);
    return status;
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
