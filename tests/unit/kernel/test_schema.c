/* SPDX-License-Identifier: MIT */
/* kernel: docs/kernel.schema.json says what the reader reads, key by key. */
#include "tests/support/check.h"
#include "tests/support/schema_fixture.h"
#include "tests/support/spec_fixture.h"

#include <dirent.h>

/* No key, and nothing like one. */
#define ODD "zzzzzzzzzzzzzzzzzzzzzzzz"

static json_t *schema;
static struct shmt_error err;

/* The document at `path`, or NULL: not read, and then so is no kernel. */
static json_t *parse(const char *path)
{
    static char data[1 << 20];
    const struct shmt_yaml *root;
    struct shmt_arena *arena = shmt_arena_new();
    FILE *file = fopen(path, "rb");
    json_t *out = NULL;
    size_t size;

    if (file == NULL) {
        printf("Bail out! %s\n", path);
        exit(EXIT_FAILURE);
    }
    size = fread(data, 1, sizeof data, file);
    fclose(file);
    if (shmt_yaml_parse(arena, path, data, size, &root, &err) == SHMTUNE_OK)
        out = schema_of_yaml(root);
    shmt_arena_free(arena);
    return out;
}

static bool is_read(const char *path)
{
    struct shmt_kernel *kernel = NULL;
    const enum shmtune_status status = shmt_kernel_read(path, &kernel, &err);

    shmt_kernel_free(kernel);
    return status == SHMTUNE_OK;
}

/* Every spec of the folder that the reader reads; returns how many. */
static size_t check_folder(const char *name)
{
    const char *source = getenv("SHMT_SRCDIR");
    char folder[FOLDER_ROOM], path[FOLDER_ROOM];
    struct dirent *entry;
    size_t count = 0;
    DIR *listing;

    folder_path(folder, source != NULL ? source : ".", name);
    listing = opendir(folder);
    while (listing != NULL && (entry = readdir(listing)) != NULL) {
        const char *dot = strrchr(entry->d_name, '.');
        json_t *document;

        if (dot == NULL || strcmp(dot, ".yaml") != 0)
            continue;
        folder_path(path, folder, entry->d_name);
        if (!is_read(path))
            continue;
        document = parse(path);
        count++;
        if (!schema_holds(schema, document))
            check_fail(path, 1, "the schema refuses what the reader reads");
        json_decref(document);
    }
    if (listing != NULL)
        closedir(listing);
    return count;
}

static void specs_hold(void)
{
    CHECK(check_folder("kernels") >= 12);
    CHECK(check_folder("tests/fake") >= 8);
    CHECK(check_folder("tests/gpu") >= 8);
}

/* Writes the good spec with `to` for `from`; whether the schema lets it pass,
 * and *read whether the reader does. */
static bool passes(const char *from, const char *to, bool *read)
{
    struct shmt_text text = {0};
    json_t *document;
    bool holds;

    spec_edit(from, to, &text);
    spec_write_text("spec.yaml", shmt_text_string(&text));
    shmt_text_free(&text);
    err.text[0] = '\0';
    *read = is_read(spec_path);
    document = parse(spec_path);
    holds = document != NULL && schema_holds(schema, document);
    json_decref(document);
    return holds;
}

/* The properties of the mappings at `paths`, which commas part, as keys. */
static json_t *properties_at(const char *paths)
{
    json_t *out = json_object();

    for (;; paths++) {
        const size_t length = strcspn(paths, ",");
        char path[200];
        const char *key;
        json_t *item;

        snprintf(path, sizeof path, "%.*s%sproperties", (int)length, paths,
                 length > 0 ? "/" : "");
        json_object_foreach((json_t *)schema_at(schema, path), key, item)
            json_object_set_new(out, key, json_true());
        paths += length;
        if (*paths == '\0')
            return out;
    }
}

/* "a, b, c" as keys. */
static json_t *keys_of(const char *names)
{
    json_t *out = json_object();

    while (*names != '\0') {
        const size_t length = strcspn(names, ",");
        char name[64];

        snprintf(name, sizeof name, "%.*s", (int)length, names);
        json_object_set_new(out, name, json_true());
        names += length + strspn(names + length, ", ");
    }
    return out;
}

static void check_names(const char *names, const char *paths)
{
    json_t *stated = properties_at(paths), *known = keys_of(names);

    if (!json_equal(stated, known)) {
        check_fail(*paths == '\0' ? "the top" : paths, 0, "other keys");
        printf("#   the reader has %s\n", names);
    }
    json_decref(stated);
    json_decref(known);
}

#define LAUNCH "$defs/kernel_launch,$defs/host_launch"

/* An unknown key in each mapping there is: both refuse it, and the reader names
 * the keys that it knows. */
static const struct {
    const char *from, *to, *where;
} mappings[] = {
    {"summary:", ODD ": 1\nsummary:", ""},
    {"{default: 32}", "{default: 32, " ODD ": 1}",
     "properties/problem/additionalProperties"},
    {"default: 64}", "default: 64, " ODD ": 1}", "$defs/parameter"},
    {"from: 1, to: 3}", "from: 1, to: 3, " ODD ": 1}",
     "$defs/parameter/properties/values/anyOf/1"},
    {"- entry: finish\n", "- entry: finish\n  " ODD ": 1\n", LAUNCH},
    {"reference:\n", "reference: {" ODD ": 1}\nsetup:\n",
     "properties/reference/anyOf/1"},
    {"reference:\n", "setup:\n- " ODD ": 1\nreference:\n", LAUNCH},
    {"work:\n", "work:\n  " ODD ": 1\n", "properties/work"},
    {"relative: 1.0e-3", ODD ": 1", "$defs/tolerance"},
    {"tolerance:", "region: {columns: 1, " ODD ": 1}, tolerance:",
     "$defs/region"},
    {"tolerance:", "expect: {file: a, " ODD ": 1}, tolerance:",
     "$defs/file"},
    {"range: [-2, 2]", "fill: {file: a, " ODD ": 1}", "$defs/file"},
    {"range: [-2, 2]", "fill: {ramp: {" ODD ": 1}}",
     "$defs/fill/anyOf/3/properties/ramp"},
    {"range: [-2, 2]", "fill: {normal: {" ODD ": 1}}",
     "$defs/fill/anyOf/4/properties/normal"},
    {"range: [-2, 2]", "fill: {row_pointers: {mean: 1, " ODD ": 1}}",
     "$defs/fill/anyOf/5/properties/row_pointers"},
    {"{type: f32, value: 1.5}",
     "{struct: {n: {type: i32, value: 1, " ODD ": 1}}}", "$defs/member"},
    {"{type: f32, value: 1.5}", "{struct: {n: {pointer: x, " ODD ": 1}}}",
     "$defs/pointer"},
    {"{type: f32, value: 1.5}", "{type: f32, value: 1.5, " ODD ": 1}",
     "$defs/scalar,$defs/input,$defs/output,$defs/inout,$defs/workspace,"
     "$defs/value,$defs/symbol,$defs/pointer,$defs/struct,$defs/tensor_map,"
     "$defs/texture"},
};

static void keys_are_the_readers(void)
{
    static const char before[] = ", expected one of ";

    for (size_t m = 0; m < sizeof mappings / sizeof mappings[0]; m++) {
        bool read;
        const bool holds = passes(mappings[m].from, mappings[m].to, &read);
        const char *names = strstr(err.text, before);

        if (holds || read || names == NULL) {
            check_fail(mappings[m].to, (int)m, "unknown, and not refused so");
            printf("#   %s\n", err.text);
            continue;
        }
        check_names(names + strlen(before), mappings[m].where);
    }
}

/* Each key of an argument, with something that it may be. */
static const struct {
    const char *word, *text;
} argument_keys[] = {
    {"fill", "zero"}, {"range", "[0, 1]"}, {"expect", "{file: a}"},
    {"tolerance", "{absolute: 1}"}, {"region", "{columns: 1}"},
    {"zeroed", "true"}, {"symbol", "s"}, {"value", "1"}, {"pointer", "x"},
    {"offset", "1"}, {"struct", "{}"}, {"tensor_map", "x"},
    {"extents", "[1]"}, {"strides", "[]"}, {"box", "[1]"}, {"swizzle", "0"},
    {"interleave", "0"}, {"l2", "0"}, {"texture", "x"}, {"memory", "array"},
    {"pitch", "1"}, {"layered", "true"}, {"channels", "1"},
    {"address", "clamp"}, {"border", "0"}, {"filter", "point"},
    {"read", "element"}, {"normalized", "true"}, {"srgb", "false"}};

/* The keys of each role: the reader refuses those that the schema refuses. */
static void roles_have_the_readers_keys(void)
{
    static const char *const roles[] = {"input", "output", "inout",
                                        "workspace", "value", "symbol"};
    char to[200], path[64];

    for (size_t r = 0; r < sizeof roles / sizeof roles[0]; r++)
        for (size_t k = 0;
             k < sizeof argument_keys / sizeof argument_keys[0]; k++) {
            const char *key = argument_keys[k].word;
            bool read, known, other;

            snprintf(to, sizeof to, "{type: i32, role: %s, count: 4, %s: %s}",
                     roles[r], key, argument_keys[k].text);
            snprintf(path, sizeof path, "$defs/%s/properties/%s", roles[r],
                     key);
            known = schema_at(schema, path) != NULL;
            passes("{type: f32, value: 1.5}", to, &read);
            other = strstr(err.text, "unknown key") != NULL ||
                    strstr(err.text, "beside") != NULL;
            if (!read && known == other) {
                check_fail(to, (int)r, known ? "is in the schema"
                                             : "is not in the schema");
                printf("#   %s\n", err.text);
            }
        }
}

/* Values that both refuse. */
static void values_are_refused(void)
{
    static const struct {
        const char *from, *to;
    } bad[] = {
        {"kernel/1", "kernel/3"}, {"name: scale\n", ""},
        {"name: scale", "name: ../scale"}, {"scale.cu", "\"\""},
        {"[extra]", "extra"}, {"includes: [extra]", "standard: c++98"},
        {"includes: [extra]", "compiler: gcc"},
        {"includes: [extra]", "fast_math: 7"},
        {"includes: [extra]", "features: sm_90a"},
        {"  rows: {", "  ro-ws: {"}, {"default: 32}", "min: 1}"},
        {"min: 2", "min: 0"}, {"min: 2", "min: 2.5"},
        {"scope: launch", "scope: lunch"}, {"[32, 64, 128]", "[]"},
        {"[32, 64, 128]", "7"}, {"times: 2", "times: 1"},
        {"grid: 6", "grid: []"}, {"grid: 6", "grid: [1, 1, 1, 1]"},
        {"- entry: finish\n  when:", "- when:"},
        {"- entry: finish\n", "- host: finish\n"},
        {"block: [32]\n  cluster: STAGES", "cooperative: 7"},
        {"type: f32, role: input", "type: c64, role: input"},
        {"role: input", "role: texture"}, {"[-2, 2]", "[-2]"},
        {"relative: 1.0e-3", "relative: -1"},
        {"relative: 1.0e-3", "mismatch_share: 1"},
        {"relative: 1.0e-3", "ulp: 0.5"},
        {"range: [-2, 2]", "fill: unifrom"}, {"{type: f32, value: 1.5}", "7"},
        {"zeroed: true", "zeroed: 1"},
        {"{type: f32, value: 1.5}", "{texture: x}"},
        {"{type: f32, value: 1.5}", "{texture: x, extents: [4], memory: a}"},
        {"{type: f32, value: 1.5}", "{texture: x, extents: [4], channels: 3}"},
        {"{type: f32, value: 1.5}",
         "{texture: x, extents: [4, 4], address: repeat}"}};

    for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++) {
        bool read;

        if (passes(bad[k].from, bad[k].to, &read) || read)
            check_fail(bad[k].to, (int)k, "is not refused by both");
    }
}

/* Its words are those of the elements' table. */
static void types_are_the_elements(void)
{
    const json_t *types = schema_at(schema, "$defs/type/enum");

    CHECK_INT(json_array_size(types), SHMT_ELEMENT_COUNT);
    for (size_t k = 0; k < SHMT_ELEMENT_COUNT; k++)
        CHECK_TEXT(json_string_value(json_array_get(types, k)),
                   shmt_element_word((enum shmt_element)k));
}

/* The names of all properties of the schema. */
static void add_properties(const json_t *at, json_t *out)
{
    const char *key, *name;
    json_t *item, *property;
    size_t k;

    json_array_foreach(at, k, item)
        add_properties(item, out);
    json_object_foreach((json_t *)at, key, item) {
        if (strcmp(key, "properties") == 0)
            json_object_foreach(item, name, property)
                json_object_set_new(out, name, json_true());
        add_properties(item, out);
    }
}

/* Takes the keys of a document out. */
static void take_keys(const json_t *document, json_t *left)
{
    const char *key;
    json_t *item;
    size_t k;

    json_array_foreach(document, k, item)
        take_keys(item, left);
    json_object_foreach((json_t *)document, key, item) {
        json_object_del(left, key);
        take_keys(item, left);
    }
}

/* Each key stands in a spec with which fuzzing begins. */
static void keys_have_seeds(void)
{
    const char *source = getenv("SHMT_SRCDIR"), *key;
    char folder[FOLDER_ROOM], path[FOLDER_ROOM];
    json_t *left = json_object(), *item;
    struct dirent *entry;
    DIR *listing;

    add_properties(schema, left);
    CHECK(json_object_size(left) > 80);
    folder_path(folder, source != NULL ? source : ".",
                "tests/fuzz/corpus/kernel");
    listing = opendir(folder);
    while (listing != NULL && (entry = readdir(listing)) != NULL) {
        const char *dot = strrchr(entry->d_name, '.');
        json_t *document;

        if (dot == NULL || strcmp(dot, ".yaml") != 0)
            continue;
        folder_path(path, folder, entry->d_name);
        document = parse(path);
        take_keys(document, left);
        json_decref(document);
    }
    if (listing != NULL)
        closedir(listing);
    json_object_foreach(left, key, item)
        check_fail(key, 0, "stands in no spec of tests/fuzz/corpus/kernel");
    json_decref(left);
}

int main(void)
{
    const char *source = getenv("SHMT_SRCDIR");
    char path[FOLDER_ROOM];

    folder_path(path, source != NULL ? source : ".",
                "docs/kernel.schema.json");
    schema = schema_open(path);
    spec_begin();
    CHECK_RUN(specs_hold);
    CHECK_RUN(keys_are_the_readers);
    CHECK_RUN(roles_have_the_readers_keys);
    CHECK_RUN(values_are_refused);
    CHECK_RUN(types_are_the_elements);
    CHECK_RUN(keys_have_seeds);
    spec_end();
    json_decref(schema);
    return CHECK_END();
}
