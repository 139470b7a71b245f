/* SPDX-License-Identifier: MIT */
/*
 * launch: reads the launches of a spec, and tries them.
 */
#include "kernel/read.h"

#include <ctype.h>
#include <string.h>

static const char *const launch_keys[] = {
    "entry", "host", "when", "grid", "block", "shared_static", "shared_dynamic",
    "carveout", "cluster", "cooperative", "arguments", NULL
};
/* What a function of the host says itself. */
static const char *const geometry_keys[] = {
    "grid", "block", "shared_static", "shared_dynamic", "carveout", "cluster",
    "cooperative"
};

/* The symbol between braces at `text` ("{TILE}..."), and its end. */
static bool placeholder(const struct shmt_kernel *kernel, const char *text,
                        size_t *symbol, const char **end)
{
    const char *close = strchr(text, '}');

    if (close == NULL ||
        !shmt_kernel_name_find(kernel, text + 1, (size_t)(close - text - 1),
                               symbol))
        return false;
    *end = close + 1;
    return true;
}

/* A launch-only parameter must not change the binary, and a name of a
 * function is part of the binary. */
static enum shmtune_status check_entry(struct shmt_kernel_reader *reader,
                                       const struct shmt_yaml *node)
{
    const struct shmt_kernel *kernel = reader->kernel;
    const char *end;
    size_t symbol;

    if (node->text[0] == '\0' || strlen(node->text) > SHMT_KERNEL_ENTRY)
        return shmt_yaml_refuse(node, reader->err,
                                "an entry of %zu bytes; 1 to %d are expected",
                                strlen(node->text), SHMT_KERNEL_ENTRY);
    for (const char *c = node->text; *c != '\0'; c++) {
        if (!isprint((unsigned char)*c))
            return shmt_yaml_refuse(node, reader->err,
                                    "the entry has a character that is not "
                                    "printable ASCII");
        if (*c == '}')
            return shmt_yaml_refuse(node, reader->err,
                                    "a \"}\" without its \"{\" in the entry");
        if (*c != '{')
            continue;
        if (!placeholder(kernel, c, &symbol, &end))
            return shmt_yaml_refuse(
                node, reader->err,
                "\"%.40s\" in the entry is not {NAME} with the name of a "
                "parameter or a dimension", c);
        if (symbol >= kernel->dimension_count &&
            kernel->parameters[symbol - kernel->dimension_count].launch_only)
            return shmt_yaml_refuse(
                node, reader->err,
                "the entry uses %s, whose scope is \"launch\"; give it the "
                "scope \"compile\"", kernel->scope.symbols[symbol].name);
        c = end - 1;
    }
    return SHMTUNE_OK;
}

/* One to three expressions, or one alone. */
static enum shmtune_status read_extent(struct shmt_kernel_reader *reader,
                                       const struct shmt_yaml *mapping,
                                       const char *key, bool needed,
                                       struct shmt_expr *out[3])
{
    const struct shmt_yaml *node = shmt_yaml_get(mapping, key);
    enum shmtune_status status;

    if (node == NULL)
        return needed ? shmt_yaml_need(mapping, key, &node, reader->err)
                      : SHMTUNE_OK;
    if (node->kind == SHMT_YAML_SCALAR)
        return shmt_kernel_read_expr(reader, node, &out[0]);
    status = shmt_yaml_expect(node, SHMT_YAML_SEQUENCE, key, reader->err);
    if (status != SHMTUNE_OK)
        return status;
    if (node->count < 1 || node->count > 3)
        return shmt_yaml_refuse(
            node, reader->err,
            "%s has %zu extents; 1 to 3 are expected (an item with a comma "
            "in it needs quotes)", key, node->count);
    for (size_t i = 0; status == SHMTUNE_OK && i < node->count; i++)
        status = shmt_kernel_read_expr(reader, node->items[i], &out[i]);
    return status;
}

static enum shmtune_status read_numbers(struct shmt_kernel_reader *reader,
                                        const struct shmt_yaml *mapping,
                                        struct shmt_launch *launch)
{
    const struct shmt_yaml *cooperative =
        shmt_yaml_get(mapping, "cooperative");
    const struct {
        const char *key;
        struct shmt_expr **field;
    } fields[] = {
        {"when", &launch->when},
        {"shared_static", &launch->shared_static},
        {"shared_dynamic", &launch->shared_dynamic},
        {"carveout", &launch->carveout},
    };
    enum shmtune_status status =
        read_extent(reader, mapping, "grid", !launch->host, launch->grid);

    if (status == SHMTUNE_OK)
        status = read_extent(reader, mapping, "block", !launch->host,
                             launch->block);
    if (status == SHMTUNE_OK)
        status = read_extent(reader, mapping, "cluster", false,
                             launch->cluster);
    if (status == SHMTUNE_OK && cooperative != NULL)
        status = shmt_yaml_bool(cooperative, &launch->cooperative,
                                reader->err);
    for (size_t i = 0;
         status == SHMTUNE_OK && i < sizeof fields / sizeof fields[0]; i++) {
        const struct shmt_yaml *node = shmt_yaml_get(mapping, fields[i].key);

        if (node != NULL)
            status = shmt_kernel_read_expr(reader, node, fields[i].field);
    }
    return status;
}

static enum shmtune_status read_name(struct shmt_kernel_reader *reader,
                                     const struct shmt_yaml *key,
                                     const struct shmt_yaml *node, void *item)
{
    const struct shmt_kernel *kernel = reader->kernel;
    const enum shmtune_status status =
        shmt_yaml_expect(node, SHMT_YAML_SCALAR, "the name of an argument",
                         reader->err);

    (void)key;
    for (size_t k = 0; status == SHMTUNE_OK &&
                       k < kernel->argument_count + reader->hidden; k++)
        if (strcmp(kernel->arguments[k].name, node->text) == 0) {
            *(size_t *)item = k;
            return SHMTUNE_OK;
        }
    return status != SHMTUNE_OK
               ? status
               : shmt_yaml_refuse(node, reader->err, "\"%.64s\" is not among "
                                  "the arguments of this spec", node->text);
}

/* Only a setup and a comparison are passed a variable of the source: the buffer
 * that is copied to it later, or was from it. */
static enum shmtune_status check_passed(struct shmt_kernel_reader *reader,
                                        const struct shmt_yaml *node,
                                        const struct shmt_argument *argument)
{
    if (argument->symbol == NULL || reader->setup || reader->hidden > 0)
        return SHMTUNE_OK;
    if (argument->role != SHMT_ROLE_SYMBOL)
        return shmt_yaml_refuse(node, reader->err,
                                "%s is a variable of the source (symbol: "
                                "%.64s), which a kernel writes without being "
                                "passed it; leave it out here", argument->name,
                                argument->symbol);
    return shmt_yaml_refuse(node, reader->err,
                            "%s is a variable of the source (role: symbol), "
                            "which a kernel reads without being passed it",
                            argument->name);
}

/* Adds what the pointers among the passed arguments lead to. */
static enum shmtune_status reach(struct shmt_kernel_reader *reader,
                                 const size_t *passed,
                                 struct shmt_launch *launch)
{
    const struct shmt_kernel *kernel = reader->kernel;
    bool there[2 * SHMT_KERNEL_ARGUMENTS + 1] = {false};   /* hidden, too */
    size_t *list = shmt_arena_alloc(
        kernel->arena, launch->argument_count + kernel->argument_count,
        sizeof *list);

    if (list == NULL)
        return shmt_error_memory(reader->err);
    launch->arguments = list;
    for (size_t k = 0; k < launch->argument_count; k++) {
        list[launch->reach_count++] = passed[k];
        there[passed[k]] = true;
    }
    for (size_t k = 0; k < launch->argument_count; k++) {
        const struct shmt_argument *argument = &kernel->arguments[passed[k]];

        launch->by_value |= argument->role == SHMT_ROLE_VALUE ||
                            argument->bytes > 0;
        /* An application has a texture, and perhaps no buffer. */
        for (size_t m = 0; argument->texture == NULL &&
                           m < argument->member_count; m++) {
            const size_t target = argument->members[m].target;

            if (target == SHMT_ARGUMENT_NONE || there[target])
                continue;
            there[target] = true;
            list[launch->reach_count++] = target;
        }
    }
    for (size_t k = 0; k < launch->reach_count; k++) {
        const enum shmt_role role = kernel->arguments[list[k]].role;

        launch->reads |= role == SHMT_ROLE_INPUT || role == SHMT_ROLE_INOUT ||
                         role == SHMT_ROLE_TEXTURE;
    }
    return SHMTUNE_OK;
}

static enum shmtune_status read_names(struct shmt_kernel_reader *reader,
                                      const struct shmt_yaml *mapping,
                                      struct shmt_launch *launch)
{
    const struct shmt_kernel *kernel = reader->kernel;
    const size_t *passed;
    struct shmt_kernel_list list = {
        .mapping = mapping, .key = "arguments", .needed = true,
        .kind = SHMT_YAML_SEQUENCE, .expected = "arguments, [NAME, NAME]",
        .items_are = "arguments", .most = SHMT_KERNEL_ARGUMENTS,
        .size = sizeof(size_t), .read = read_name
    };
    enum shmtune_status status = shmt_kernel_read_list(reader, &list);

    if (status != SHMTUNE_OK)
        return status;
    passed = list.items;
    launch->argument_count = list.count;
    launch->arguments_place = list.node->place;
    for (size_t k = 0; status == SHMTUNE_OK && k < list.count; k++)
        status = check_passed(reader, list.node->items[k],
                              &kernel->arguments[passed[k]]);
    return status == SHMTUNE_OK ? reach(reader, passed, launch) : status;
}

/* "entry", or "host" with nothing that a function of the host says itself. */
static enum shmtune_status read_entry(struct shmt_kernel_reader *reader,
                                      const struct shmt_yaml *mapping,
                                      struct shmt_launch *launch)
{
    const struct shmt_yaml *host = shmt_yaml_get(mapping, "host");
    const struct shmt_yaml *entry = host;
    enum shmtune_status status = SHMTUNE_OK;

    if (host != NULL && shmt_yaml_get(mapping, "entry") != NULL)
        return shmt_yaml_refuse(host, reader->err, "a launch with \"entry\" "
                                "and with \"host\"; it is a kernel, or a "
                                "function of the host");
    if (host != NULL && !reader->kernel->nvcc)
        return shmt_yaml_refuse(host, reader->err, "\"host\" without "
                                "\"compiler: nvcc\"; NVRTC compiles no code "
                                "of the host");
    for (size_t k = 0; host != NULL &&
                       k < sizeof geometry_keys / sizeof geometry_keys[0]; k++)
        if (shmt_yaml_get(mapping, geometry_keys[k]) != NULL)
            return shmt_yaml_refuse(
                shmt_yaml_get(mapping, geometry_keys[k]), reader->err,
                "\"%s\" beside \"host\"; a function of the host launches by "
                "itself what it wants: leave the key out", geometry_keys[k]);
    if (host == NULL)
        status = shmt_yaml_need(mapping, "entry", &entry, reader->err);
    if (status == SHMTUNE_OK)
        status = shmt_yaml_expect(entry, SHMT_YAML_SCALAR,
                                  host != NULL ? "host" : "entry",
                                  reader->err);
    if (status == SHMTUNE_OK)
        status = check_entry(reader, entry);
    if (status != SHMTUNE_OK)
        return status;
    launch->entry = entry->text;
    launch->entry_place = entry->place;
    launch->host = host != NULL;
    return SHMTUNE_OK;
}

static enum shmtune_status read_launch(struct shmt_kernel_reader *reader,
                                       const struct shmt_yaml *key,
                                       const struct shmt_yaml *node,
                                       void *item)
{
    struct shmt_launch *launch = item;
    enum shmtune_status status = shmt_yaml_expect(
        node, SHMT_YAML_MAPPING, "a launch", reader->err);

    (void)key;
    if (status == SHMTUNE_OK && shmt_yaml_get(node, "programmatic") != NULL)
        return shmt_yaml_refuse(shmt_yaml_get(node, "programmatic"),
                                reader->err, "programmatic launches, which "
                                "begin before the one before has ended, are "
                                "not supported; leave the key out");
    if (status == SHMTUNE_OK)
        status = shmt_yaml_check_keys(node, launch_keys, reader->err);
    if (status == SHMTUNE_OK)
        status = read_entry(reader, node, launch);
    if (status == SHMTUNE_OK)
        status = read_numbers(reader, node, launch);
    if (status == SHMTUNE_OK)
        status = read_names(reader, node, launch);
    return status;
}

/* Every output is an argument of one of these launches.  An in-out need not
 * be one of the reference's: then it must be left as it was.  What has an
 * address is found by that, and a variable by its name. */
static enum shmtune_status check_outputs(struct shmt_kernel_reader *reader,
                                         const struct shmt_yaml *node,
                                         const struct shmt_launch *launches,
                                         size_t count)
{
    const struct shmt_kernel *kernel = reader->kernel;

    for (size_t a = 0; a < kernel->argument_count; a++) {
        const struct shmt_argument *argument = &kernel->arguments[a];
        const bool reference = launches == kernel->reference;
        bool used = (argument->role != SHMT_ROLE_OUTPUT &&
                     (argument->role != SHMT_ROLE_INOUT || reference)) ||
                    (reference && argument->expect.path != NULL) ||
                    argument->at != 0 || argument->symbol != NULL;

        for (size_t i = 0; i < count; i++)
            for (size_t k = 0; k < launches[i].reach_count; k++)
                used |= launches[i].arguments[k] == a;
        if (!used)
            return shmt_yaml_refuse(node, reader->err,
                                    "the output %s is an argument of none of "
                                    "these launches", argument->name);
    }
    return SHMTUNE_OK;
}

/* The reference and the setup (`what`) run once a problem, so no configuration
 * may change them. */
static enum shmtune_status check_once(struct shmt_kernel_reader *reader,
                                      const struct shmt_yaml *node,
                                      const struct shmt_launch *launch,
                                      const char *what)
{
    const struct shmt_kernel *kernel = reader->kernel;
    const struct shmt_expr *const numbers[] = {
        launch->when, launch->grid[0], launch->grid[1], launch->grid[2],
        launch->block[0], launch->block[1], launch->block[2],
        launch->shared_static, launch->shared_dynamic, launch->carveout,
        launch->cluster[0], launch->cluster[1], launch->cluster[2]
    };
    const char *end;
    size_t symbol;

    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        if (shmt_kernel_expr_uses_parameters(kernel, numbers[i]))
            return shmt_yaml_refuse(
                node, reader->err,
                "%s uses a parameter in \"%s\"; it may depend on the problem's "
                "dimensions only", what, shmt_expr_text(numbers[i]));
    for (size_t k = 0; k < launch->reach_count; k++) {
        const struct shmt_argument *argument =
            &kernel->arguments[launch->arguments[k]];

        if (shmt_kernel_argument_uses_parameters(kernel, argument))
            return shmt_yaml_refuse(
                node, reader->err,
                "%s takes %s, which depends on a parameter", what,
                argument->name);
    }
    /* check_entry has found every "{" to be one. */
    for (const char *c = strchr(launch->entry, '{');
         c != NULL && placeholder(kernel, c, &symbol, &end);
         c = strchr(end, '{'))
        if (symbol >= kernel->dimension_count)
            return shmt_yaml_refuse(
                node, reader->err,
                "the entry of %s uses the parameter %s", what,
                kernel->scope.symbols[symbol].name);
    return SHMTUNE_OK;
}

/* Whether both are the same text, or none. */
static bool same_number(const struct shmt_expr *one,
                        const struct shmt_expr *other)
{
    return one == NULL || other == NULL
               ? one == other
               : strcmp(shmt_expr_text(one), shmt_expr_text(other)) == 0;
}

/* Says of each launch whether it has the geometry of the one before. */
static void compare_launches(struct shmt_launch *launches, size_t count)
{
    for (size_t k = 1; k < count; k++) {
        const struct shmt_launch *a = &launches[k - 1], *b = &launches[k];
        bool alike = same_number(a->shared_static, b->shared_static) &&
                     same_number(a->shared_dynamic, b->shared_dynamic) &&
                     same_number(a->carveout, b->carveout) &&
                     a->cooperative == b->cooperative;

        for (size_t i = 0; i < 3; i++)
            alike &= same_number(a->grid[i], b->grid[i]) &&
                     same_number(a->block[i], b->block[i]) &&
                     same_number(a->cluster[i], b->cluster[i]);
        launches[k].alike = alike;
    }
}

static struct shmt_kernel_list list_of(struct shmt_kernel_reader *reader,
                                       const char *key)
{
    return (struct shmt_kernel_list){
        .mapping = reader->root, .key = key, .kind = SHMT_YAML_SEQUENCE,
        .expected = "launches, lines of \"- entry: NAME\"",
        .items_are = "launches", .least = 1, .most = SHMT_KERNEL_LAUNCHES,
        .size = sizeof(struct shmt_launch), .read = read_launch
    };
}

static enum shmtune_status
refuse_variable(struct shmt_kernel_reader *reader,
                const struct shmt_launch *launch,
                const struct shmt_argument *argument)
{
    const bool read = argument->role == SHMT_ROLE_SYMBOL;

    return shmt_yaml_refuse_at(
        launch->entry_place, reader->err, "a function of the host beside %s "
        "(%s), a variable that nobody can %s in its shared object; pass it as "
        "%s", argument->name, read ? "role: symbol" : "with \"symbol\"",
        read ? "fill" : "set and read", read ? "an input" : "a buffer");
}

/* What is launched together is compiled together: as a module, or as a shared
 * object. */
static enum shmtune_status read_list(struct shmt_kernel_reader *reader,
                                     struct shmt_kernel_list *list)
{
    enum shmtune_status status = shmt_kernel_read_list(reader, list);
    const struct shmt_launch *launches = list->items;

    for (size_t k = 1; status == SHMTUNE_OK && k < list->count; k++)
        if (launches[k].host != launches[0].host)
            status = shmt_yaml_refuse_at(
                launches[k].entry_place, reader->err, "kernels and functions "
                "of the host in one list; let a function launch the kernels");
    for (size_t a = 0; status == SHMTUNE_OK && list->count > 0 &&
                       launches[0].host && a < reader->kernel->argument_count;
         a++)
        if (reader->kernel->arguments[a].symbol != NULL)
            status = refuse_variable(reader, &launches[0],
                                     &reader->kernel->arguments[a]);
    return status;
}

/* One macro of the reference's own. */
static enum shmtune_status read_macro(struct shmt_kernel_reader *reader,
                                      const struct shmt_yaml *key,
                                      const struct shmt_yaml *node,
                                      struct shmt_text *text)
{
    const struct shmt_kernel *kernel = reader->kernel;
    struct shmt_value value;
    size_t symbol;
    enum shmtune_status status =
        shmt_kernel_name_check(reader, key, "the macro");

    if (status == SHMTUNE_OK)
        status = shmt_yaml_value(node, &value, reader->err);
    if (status != SHMTUNE_OK)
        return status;
    if (shmt_kernel_name_find(kernel, key->text, strlen(key->text), &symbol) &&
        symbol < kernel->dimension_count)
        return shmt_yaml_refuse(key, reader->err, "\"%s\" is a dimension, "
                                "which is a macro with define: true",
                                key->text);
    if (value.type == SHMT_VALUE_WORD &&
        shmt_text_name_length(value.w) != strlen(value.w))
        return shmt_yaml_refuse(node, reader->err, "the value of a macro is "
                                "\"%.64s\"; a number or a name is expected",
                                value.w);
    shmt_text_addf(text, "-D%s=", key->text);
    shmt_kernel_value_add(text, value);
    shmt_text_add(text, "\n");
    return SHMTUNE_OK;
}

/* `macros`: default, none, or a mapping.  A source of its own has none unless
 * it asks. */
static enum shmtune_status read_macros(struct shmt_kernel_reader *reader,
                                       const struct shmt_yaml *reference)
{
    struct shmt_kernel *kernel = reader->kernel;
    const struct shmt_yaml *node = shmt_yaml_get(reference, "macros");
    const bool word = node != NULL && node->kind == SHMT_YAML_SCALAR;
    enum shmtune_status status = SHMTUNE_OK;
    struct shmt_text text = {0};

    if (node == NULL ? kernel->reference_code.file_count == 0
                     : word && strcmp(node->text, "default") == 0)
        return SHMTUNE_OK;
    if (word && strcmp(node->text, "none") != 0)
        return shmt_yaml_refuse(node, reader->err, "macros \"%.64s\"; default, "
                                "none or {NAME: VALUE} is expected",
                                node->text);
    if (node != NULL && !word)
        status = shmt_yaml_expect(node, SHMT_YAML_MAPPING,
                                  "macros, {NAME: VALUE}", reader->err);
    if (status == SHMTUNE_OK && node != NULL && !word &&
        node->count > SHMT_KERNEL_MACROS)
        status = shmt_yaml_refuse(node, reader->err, "%zu macros; at most %d "
                                  "are allowed", node->count,
                                  SHMT_KERNEL_MACROS);
    for (size_t k = 0;
         status == SHMTUNE_OK && node != NULL && !word && k < node->count; k++)
        status = read_macro(reader, node->keys[k], node->items[k], &text);
    if (status == SHMTUNE_OK) {
        kernel->reference_macros = shmt_text_keep(&text, kernel->arena);
        if (kernel->reference_macros == NULL)
            status = shmt_error_memory(reader->err);
    }
    shmt_text_free(&text);
    return status;
}

/* {source: PATH, macros: ..., launches: [...]} */
static enum shmtune_status
read_reference_code(struct shmt_kernel_reader *reader,
                    const struct shmt_yaml *reference)
{
    static const char *const keys[] = {"source", "macros", "launches", NULL};
    const struct shmt_yaml *source = shmt_yaml_get(reference, "source");
    enum shmtune_status status =
        shmt_yaml_check_keys(reference, keys, reader->err);

    if (status == SHMTUNE_OK && source != NULL)
        status = shmt_kernel_source_read(reader, source,
                                         &reader->kernel->reference_code);
    if (status == SHMTUNE_OK)
        status = read_macros(reader, reference);
    return status;
}

/* Whether files, or the answer, have all that candidates are compared with. */
static bool expects_all(const struct shmt_kernel *kernel)
{
    bool all = true;

    if (kernel->answer.word_count > 0)
        return true;
    for (size_t a = 0; a < kernel->argument_count; a++)
        if (kernel->arguments[a].role == SHMT_ROLE_OUTPUT ||
            kernel->arguments[a].role == SHMT_ROLE_INOUT)
            all &= kernel->arguments[a].expect.path != NULL;
    return all;
}

static enum shmtune_status read_reference(struct shmt_kernel_reader *reader)
{
    struct shmt_kernel *kernel = reader->kernel;
    const struct shmt_yaml *reference =
        shmt_yaml_get(reader->root, "reference");
    struct shmt_kernel_list list = list_of(reader, "reference");
    enum shmtune_status status = SHMTUNE_OK;

    if (reference != NULL && reference->kind == SHMT_YAML_MAPPING) {
        list.mapping = reference;
        list.key = "launches";
        list.needed = true;
        status = read_reference_code(reader, reference);
    }
    if (status == SHMTUNE_OK)
        status = read_list(reader, &list);
    if (status == SHMTUNE_OK && list.node == NULL && expects_all(kernel))
        return SHMTUNE_OK;
    if (status == SHMTUNE_OK && list.node == NULL) {
        /* The default configuration is the oracle. */
        kernel->reference = kernel->launches;
        kernel->reference_count = kernel->launch_count;
        return SHMTUNE_OK;
    }
    kernel->reference = list.items;
    kernel->reference_count = list.count;
    for (size_t i = 0; status == SHMTUNE_OK && i < list.count; i++)
        status = check_once(reader, list.node->items[i],
                            &kernel->reference[i], "the reference");
    if (status == SHMTUNE_OK)
        status = check_outputs(reader, list.node, kernel->reference,
                               kernel->reference_count);
    return status;
}

/* Each argument with `fill: setup` is one of the setup's, which takes no
 * output. */
static enum shmtune_status check_filled(struct shmt_kernel_reader *reader,
                                        const struct shmt_yaml *node)
{
    const struct shmt_kernel *kernel = reader->kernel;
    size_t filled = 0;

    for (size_t a = 0; a < kernel->argument_count; a++) {
        const struct shmt_argument *argument = &kernel->arguments[a];
        bool taken = false;

        for (size_t i = 0; i < kernel->setup_count; i++)
            for (size_t k = 0; k < kernel->setup[i].reach_count; k++)
                taken |= kernel->setup[i].arguments[k] == a;
        if (taken && argument->role == SHMT_ROLE_OUTPUT)
            return shmt_yaml_refuse(node, reader->err,
                                    "the setup takes the output %s, which "
                                    "candidates write", argument->name);
        if (argument->fill != SHMT_FILL_SETUP)
            continue;
        filled++;
        if (!taken)
            return shmt_yaml_refuse_at(
                argument->fill_place, reader->err,
                "%s is to be filled by the setup, but is an argument of none "
                "of the launches in \"setup\"", argument->name);
    }
    return node == NULL || filled > 0
               ? SHMTUNE_OK
               : shmt_yaml_refuse(node, reader->err,
                                  "no argument has \"fill: setup\", so that "
                                  "these launches fill nothing");
}

enum shmtune_status
shmt_kernel_launch_read_once(struct shmt_kernel_reader *reader,
                             const char *key, const char *what,
                             const struct shmt_launch **out, size_t *count)
{
    struct shmt_kernel_list list = list_of(reader, key);
    enum shmtune_status status = read_list(reader, &list);

    *out = list.items;
    *count = list.count;
    for (size_t i = 0; status == SHMTUNE_OK && i < list.count; i++)
        status = check_once(reader, list.node->items[i], &(*out)[i], what);
    return status;
}

static enum shmtune_status read_setup(struct shmt_kernel_reader *reader)
{
    struct shmt_kernel *kernel = reader->kernel;
    enum shmtune_status status;

    reader->setup = true;
    status = shmt_kernel_launch_read_once(reader, "setup", "the setup",
                                          &kernel->setup,
                                          &kernel->setup_count);
    return status == SHMTUNE_OK
               ? check_filled(reader, shmt_yaml_get(reader->root, "setup"))
               : status;
}

enum shmtune_status shmt_kernel_launch_read(struct shmt_kernel_reader *reader)
{
    struct shmt_kernel *kernel = reader->kernel;
    struct shmt_kernel_list list = list_of(reader, "launches");
    enum shmtune_status status;

    list.needed = true;
    status = read_list(reader, &list);
    kernel->launches = list.items;
    kernel->launch_count = list.count;
    if (status == SHMTUNE_OK)
        compare_launches(list.items, list.count);
    if (status == SHMTUNE_OK)
        status = check_outputs(reader, list.node, kernel->launches,
                               kernel->launch_count);
    if (status == SHMTUNE_OK)
        status = shmt_kernel_answer_read(reader);
    if (status == SHMTUNE_OK)
        status = read_reference(reader);
    if (status == SHMTUNE_OK)
        status = read_setup(reader);
    if (status == SHMTUNE_OK)
        status = shmt_kernel_compare_read(reader);
    return status;
}

enum shmtune_status
shmt_kernel_launch_try(struct shmt_kernel_reader *reader,
                       struct shmt_kernel_evaluated *evaluated)
{
    const enum shmtune_status status =
        shmt_kernel_evaluate_launches(evaluated, reader->err);
    bool used = false;

    for (size_t k = 0; status == SHMTUNE_OK && k < evaluated->launch_count;
         k++)
        used |= evaluated->geometry[k].used;
    if (status != SHMTUNE_OK || used)
        return status;
    return shmt_error_set(reader->err, SHMTUNE_INVALID_FILE,
                          "%s:%d:%d: no launch is used: no \"when\" holds",
                          reader->kernel->path, reader->root->place.line,
                          reader->root->place.column);
}
