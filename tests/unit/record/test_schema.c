/* SPDX-License-Identifier: MIT */
/* tuning: docs/tuning.schema.json says what the reader reads, key by key. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "record/record.h"
#include "tests/support/check.h"
#include "tests/support/schema_fixture.h"
#include "yaml/yaml.h"

/* No key, and nothing like one. */
#define ODD "zzzzzzzzzzzzzzzzzzzzzzzz"

static json_t *schema;
static struct shmt_error err;
static struct shmt_arena *arena;
static const char *source;

/* The text of a file of the source tree. */
static const char *text_of(const char *name)
{
    struct shmt_text path = {0};
    const char *data = "";
    size_t size;

    shmt_text_addf(&path, "%s/%s", source, name);
    if (shmt_path_read(arena, shmt_text_string(&path), 4 << 20, &data, &size,
                       &err) != SHMTUNE_OK)
        check_fail(name, 0, err.text);
    shmt_text_free(&path);
    return data;
}

static bool reads(const char *text)
{
    struct shmt_tuning *tuning = NULL;
    const bool read = shmt_tuning_parse("t.yaml", text, strlen(text), &tuning,
                                        &err) == SHMTUNE_OK;

    if (read)
        shmt_tuning_free(tuning);
    return read;
}

static bool holds(const char *text)
{
    struct shmt_arena *own = shmt_arena_new();
    const struct shmt_yaml *root;
    bool good = false;

    if (shmt_yaml_parse(own, "t.yaml", text, strlen(text), &root, NULL) ==
        SHMTUNE_OK) {
        json_t *document = schema_of_yaml(root);

        good = schema_holds(schema, document);
        json_decref(document);
    }
    shmt_arena_free(own);
    return good;
}

/* What is shipped, and what has every key there is. */
static void tunings_hold(void)
{
    static const char *const names[] = {
        "tests/fuzz/corpus/tuning/good.yaml",
        "tests/fuzz/corpus/tuning/dispatch.yaml",
        "tests/fuzz/corpus/tuning/estimates.yaml",
        "tests/fuzz/corpus/tuning/pareto.yaml",
        "tunings/transpose/sm_90-nvidia-h100-80gb-hbm3.yaml",
        "tunings/matmul/sm_90-nvidia-h100-80gb-hbm3.yaml",
        "tunings/scan/sm_90-nvidia-h200.yaml",
        "tunings/softmax/sm_90-nvidia-h200.yaml",
    };

    for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
        const char *const text = text_of(names[k]);

        if (!reads(text) || !holds(text))
            check_fail(names[k], 1, "the schema refuses what the reader "
                                    "reads, or both");
    }
}

/* `text` with the first `from` in it replaced. */
static const char *edit(const char *text, const char *from, const char *to)
{
    const char *const at = strstr(text, from);
    struct shmt_text out = {0};
    const char *kept;

    if (at == NULL) {
        check_fail(from, 0, "is not in the tuning");
        return text;
    }
    shmt_text_add_bytes(&out, text, (size_t)(at - text));
    shmt_text_addf(&out, "%s%s", to, at + strlen(from));
    kept = shmt_arena_copy(arena, shmt_text_string(&out), out.length);
    shmt_text_free(&out);
    return kept;
}

/* Whether the properties at a path of the schema are "a, b, c". */
static bool same_keys(const char *path, const char *names)
{
    char where[128];
    const json_t *properties;
    size_t count = 0;

    snprintf(where, sizeof where, "%s%sproperties", path,
             *path == '\0' ? "" : "/");
    properties = schema_at(schema, where);
    while (*names != '\0') {
        const size_t length = strcspn(names, ", ");
        char name[64];

        snprintf(name, sizeof name, "%.*s", (int)length, names);
        if (json_object_get(properties, name) == NULL)
            return false;
        names += length + strspn(names + length, ", ");
        count++;
    }
    return json_object_size(properties) == count;
}

/* An unknown key in each mapping there is: both refuse it, and the reader names
 * the keys that it knows. */
static void keys_are_the_readers(void)
{
    static const struct {
        const char *from, *to, *where;
    } mappings[] = {
        {"digest:", ODD ": 1\ndigest:", ""},
        {"  compute_major:", "  " ODD ": 1\n  compute_major:",
         "$defs/device"},
        {"  result:", "  " ODD ": 1\n  result:", "$defs/tuned"},
        {"    verdict: ok", "    verdict: ok\n    " ODD ": 1",
         "$defs/result"},
        {"  sizes: 143", "  " ODD ": 1\n  sizes: 143", "$defs/dispatch"},
        {"modulo: 132", "modulo: 132, " ODD ": 1",
         "$defs/dispatch/properties/features/items"},
        {"rounds: 132", "rounds: 132, " ODD ": 1",
         "$defs/dispatch/properties/terms/items"},
        {"start: 0", "start: 0, " ODD ": 1",
         "$defs/dispatch/properties/estimates/items"},
    };
    static const char before[] = ", expected one of ";
    const char *const text =
        text_of("tests/fuzz/corpus/tuning/estimates.yaml");

    for (size_t m = 0; m < sizeof mappings / sizeof mappings[0]; m++) {
        const char *const odd = edit(text, mappings[m].from, mappings[m].to);
        const bool good = reads(odd) || holds(odd);
        const char *const names = strstr(err.text, before);

        if (good || names == NULL ||
            !same_keys(mappings[m].where, names + strlen(before))) {
            check_fail(mappings[m].to, (int)m, "other keys, or not refused");
            printf("#   %s\n", err.text);
        }
    }
}

/* What is no tuning is refused by both. */
static void both_refuse(void)
{
    static const struct {
        const char *from, *to;
    } changes[] = {
        {"format: tuning/2", "format: tuning/4"},
        {"kernel: transpose\n", ""},
        {"digest: 9f86d081", "digest: 9f86"},
        {"  compute_major: 9\n", ""},
        {"rows: 1024", "rows: x"},
        {"verdict: ok", "verdict: eh"},
        {"take: [0]", "take: []"},
        {"{feature: 0, below: 1048576, else: 4}", "{feature: 0, else: 4}"},
        {"modulo: 132", "modulo: 1"},
        {"  seed: 1", "  seed: -1"},
        {"held_out: [9912, 9480]", "held_out: [9912]"},
    };
    const char *const text =
        text_of("tests/fuzz/corpus/tuning/dispatch.yaml");

    for (size_t k = 0; k < sizeof changes / sizeof changes[0]; k++) {
        const char *const bad = edit(text, changes[k].from, changes[k].to);

        if (reads(bad) || holds(bad))
            check_fail(changes[k].to, (int)k, reads(bad)
                           ? "the reader reads it" : "the schema lets it by");
    }
}

int main(void)
{
    const char *const folder = getenv("SHMT_SRCDIR");

    source = folder != NULL ? folder : ".";
    arena = shmt_arena_new();
    schema = schema_open(shmt_path_join(arena, source,
                                        "docs/tuning.schema.json"));
    CHECK_RUN(tunings_hold);
    CHECK_RUN(keys_are_the_readers);
    CHECK_RUN(both_refuse);
    json_decref(schema);
    shmt_arena_free(arena);
    return CHECK_END();
}
