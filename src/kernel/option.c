/* SPDX-License-Identifier: MIT */
/*
 * option: reads the options of the compiler that a spec gives: those of all
 * configurations, and those that are the values of a parameter.  They are
 * passed as they are, one argument each, so the spec is trusted with them;
 * refused is what another key says, and what would not give a binary.
 */
#include "kernel/read.h"

#include <string.h>

static const char elsewhere[] =
    "the binary and its files are shmtune's own business";

/* Up to the "=", or as far as they go where they end in "*". */
static const struct {
    const char *name, *remedy;
} refused[] = {
    {"-arch", "the device and `features` say it"},
    {"--gpu-architecture", "the device and `features` say it"},
    {"-code", "the device and `features` say it"},
    {"--gpu-code", "the device and `features` say it"},
    {"-gencode", "the device and `features` say it"},
    {"--generate-code", "the device and `features` say it"},
    {"-std", "write `standard`"},
    {"--std", "write `standard`"},
    {"-I*", "write `includes`"},
    {"--include-path", "write `includes`"},
    {"-isystem*", "write `includes`"},
    {"--system-include", "write `includes`"},
    {"-include*", "include it in the source, so that it counts"},
    {"--pre-include", "include it in the source, so that it counts"},
    {"-optf", "write the options here, so that they count"},
    {"--options-file", "write the options here, so that they count"},
    {"-rdc", "one source makes the whole binary"},
    {"--relocatable-device-code", "one source makes the whole binary"},
    {"-dc", "one source makes the whole binary"},
    {"--device-c", "one source makes the whole binary"},
    {"-dlto", "one source makes the whole binary"},
    {"--dlink-time-opt", "one source makes the whole binary"},
    {"-lto", "one source makes the whole binary"},
    {"-o", elsewhere}, {"-odir", elsewhere},
    {"--output*", elsewhere},
    {"-c", elsewhere}, {"--compile", elsewhere},
    {"-cubin", elsewhere}, {"--cubin", elsewhere},
    {"-fatbin", elsewhere}, {"--fatbin", elsewhere},
    {"-ptx", elsewhere}, {"--ptx", elsewhere},
    {"-E", elsewhere}, {"--preprocess", elsewhere},
    {"-M*", elsewhere}, {"--generate-dependencies*", elsewhere},
    {"-keep*", elsewhere}, {"--keep*", elsewhere},
    {"-save-temps", elsewhere}, {"--save-temps", elsewhere},
    {"-time", elsewhere}, {"--time", elsewhere},
    {"-ccbin", "the host compiler is nvcc's own: $NVCC_CCBIN names another"},
    {"--compiler-bindir",
     "the host compiler is nvcc's own: $NVCC_CCBIN names another"},
    {"-shared", elsewhere}, {"--shared", elsewhere},
    {"-lib", elsewhere}, {"--lib", elsewhere},
    {"-run*", elsewhere}, {"--run*", elsewhere},
    {"-dryrun", elsewhere}, {"--dryrun", elsewhere},
};

/* What has the host compiler or the linker load code or start a program, alone
 * or in a list behind -Xcompiler: who checks a spec compiles it, and runs
 * nothing of it. */
static const char *const loading[] = {
    "-fplugin", "-fpass-plugin", "-load", "-plugin", "--plugin", "-wrapper",
    "-specs", "--specs", "-B", "--prefix", "-fuse-ld", "--ld-path", "@"
};

static bool loads_code(const char *option)
{
    const char *at = option;

    while (at != NULL) {
        for (size_t k = 0; k < sizeof loading / sizeof loading[0]; k++)
            if (strncmp(at, loading[k], strlen(loading[k])) == 0)
                return true;
        at = strpbrk(at, "=, \"'");
        at = at == NULL ? NULL : at + 1;
    }
    return false;
}

static bool is_named(const char *option, const char *name)
{
    const size_t length = strcspn(name, "*");

    return strncmp(option, name, length) == 0 &&
           (name[length] == '*' || option[length] == '\0' ||
            option[length] == '=');
}

/* Text that is one argument of the compiler. */
static enum shmtune_status check_option(struct shmt_kernel_reader *reader,
                                        const struct shmt_yaml *node)
{
    const char *option;
    enum shmtune_status status =
        shmt_kernel_read_string(reader, node, SHMT_KERNEL_OPTION, &option);

    if (status != SHMTUNE_OK)
        return status;
    if (option[0] != '-' || option[1] == '\0')
        return shmt_yaml_refuse(
            node, reader->err, "\"%.64s\" is no option; one argument of the "
            "compiler that begins with \"-\" is expected: \"--NAME=VALUE\"",
            option);
    if (loads_code(option))
        return shmt_yaml_refuse(
            node, reader->err, "the option \"%.64s\" cannot be given: it has "
            "the compiler load or start something, and `shmtune check` runs "
            "nothing of a spec", option);
    for (size_t k = 0; k < sizeof refused / sizeof refused[0]; k++)
        if (is_named(option, refused[k].name))
            return shmt_yaml_refuse(node, reader->err,
                                    "the option \"%.64s\" cannot be given: "
                                    "%s", option, refused[k].remedy);
    return SHMTUNE_OK;
}

static enum shmtune_status read_option(struct shmt_kernel_reader *reader,
                                       const struct shmt_yaml *key,
                                       const struct shmt_yaml *node,
                                       void *item)
{
    (void)key;
    *(const char **)item = node->text;
    return check_option(reader, node);
}

enum shmtune_status shmt_kernel_option_read(struct shmt_kernel_reader *reader)
{
    struct shmt_kernel_list list = {
        .mapping = reader->root, .key = "options", .kind = SHMT_YAML_SEQUENCE,
        .expected = "options, [\"--NAME=VALUE\"]", .items_are = "options",
        .most = SHMT_KERNEL_OPTIONS, .size = sizeof(const char *),
        .read = read_option
    };
    const enum shmtune_status status = shmt_kernel_read_list(reader, &list);

    reader->kernel->options = list.items;
    reader->kernel->option_count = list.count;
    return status;
}

/* -- parameters that are options ------------------------------------------ */

/* The compilers take a limit of 0 registers for the least that there can be;
 * in a list of limits it stands for none. */
static bool is_no_limit(const char *option, struct shmt_value value)
{
    return value.type == SHMT_VALUE_INT && value.i == 0 &&
           strstr(option, "maxrregcount={}") != NULL;
}

/* One text, whose "{}" each value replaces. */
static enum shmtune_status fill_in(struct shmt_kernel_reader *reader,
                                   const struct shmt_yaml *node,
                                   const struct shmt_parameter *parameter,
                                   const char **options)
{
    const char *place;
    struct shmt_text text = {0};
    enum shmtune_status status = check_option(reader, node);

    if (status != SHMTUNE_OK)
        return status;
    place = strstr(node->text, "{}");
    if (place == NULL || strstr(place + 2, "{}") != NULL)
        return shmt_yaml_refuse(
            node, reader->err, "the option \"%.64s\" of %s has no {} for the "
            "value, or several; write \"--NAME={}\", or a list with one option "
            "for each value", node->text, parameter->name);
    for (size_t k = 0; status == SHMTUNE_OK && k < parameter->count; k++) {
        shmt_text_clear(&text);
        if (!is_no_limit(node->text, parameter->values[k])) {
            shmt_text_add_bytes(&text, node->text,
                                (size_t)(place - node->text));
            shmt_kernel_value_add(&text, parameter->values[k]);
            shmt_text_add(&text, place + 2);
        }
        options[k] = shmt_text_keep(&text, reader->kernel->arena);
        if (options[k] == NULL)
            status = shmt_error_memory(reader->err);
    }
    shmt_text_free(&text);
    return status;
}

/* One text for each value; an empty one is no option. */
static enum shmtune_status list_them(struct shmt_kernel_reader *reader,
                                     const struct shmt_yaml *node,
                                     const struct shmt_parameter *parameter,
                                     const char **options)
{
    enum shmtune_status status = SHMTUNE_OK;

    if (node->count != parameter->count)
        return shmt_yaml_refuse(node, reader->err,
                                "%zu options for the %zu value%s of %s; one "
                                "for each is expected, \"\" for none",
                                node->count, parameter->count,
                                shmt_text_plural(parameter->count),
                                parameter->name);
    for (size_t k = 0; status == SHMTUNE_OK && k < node->count; k++) {
        const struct shmt_yaml *item = node->items[k];

        options[k] = item->kind == SHMT_YAML_SCALAR ? item->text : NULL;
        if (options[k] == NULL || options[k][0] != '\0' || !item->quoted)
            status = check_option(reader, item);
    }
    return status;
}

enum shmtune_status
shmt_kernel_option_read_values(struct shmt_kernel_reader *reader,
                               const struct shmt_yaml *mapping,
                               struct shmt_parameter *parameter)
{
    const struct shmt_yaml *node = shmt_yaml_get(mapping, "option");
    const char **options;
    enum shmtune_status status;

    if (node == NULL)
        return SHMTUNE_OK;
    if (shmt_yaml_get(reader->root, "source") == NULL)
        return shmt_yaml_refuse(node, reader->err,
                                "\"option\" without a \"source\": there is "
                                "nothing to compile");
    if (parameter->launch_only)
        return shmt_yaml_refuse(node, reader->err,
                                "an option decides the binary; %s cannot have "
                                "the scope \"launch\"", parameter->name);
    options = shmt_arena_alloc(reader->kernel->arena, parameter->count,
                               sizeof *options);
    if (options == NULL)
        return shmt_error_memory(reader->err);
    status = node->kind == SHMT_YAML_SEQUENCE
                 ? list_them(reader, node, parameter, options)
                 : fill_in(reader, node, parameter, options);
    parameter->options = options;
    return status;
}
