/* SPDX-License-Identifier: MIT */
/*
 * far: see far.h.  The writer and the reader of each message stand next to
 * each other.  Called by courier.c and relay.c.
 */
#include "target/far.h"

#include <stdio.h>
#include <string.h>

#include "device/device.h"
#include "yaml/yaml.h"

enum { COMPILER = 96 };
static const double SECONDS_MOST = 1e7;

/* -- names ---------------------------------------------------------------- */

static bool is_plain(const char *name)
{
    for (const char *c = name; *c != '\0'; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            return false;
    return true;
}

/* Behind a folder: components that are neither empty nor hidden. */
static bool has_components(const char *name)
{
    const char *at = name;

    while (*at != '\0' && *at != '/' && *at != '.') {
        at += strcspn(at, "/");
        if (*at == '\0')
            return true;
        at++;
    }
    return false;
}

bool shmt_far_name_valid(const char *name)
{
    const size_t tree = strlen(SHMT_FAR_TREE);
    const size_t images = strlen(SHMT_FAR_IMAGES);
    const char *rest = strncmp(name, SHMT_FAR_TREE, tree) == 0
                           ? name + tree
                       : strncmp(name, SHMT_FAR_IMAGES, images) == 0
                           ? name + images : NULL;

    return rest != NULL && strlen(name) < SHMT_FAR_NAME && is_plain(name) &&
           has_components(rest);
}

static enum shmtune_status read_name(const struct shmt_yaml *node,
                                     const char **out, struct shmt_error *err)
{
    const enum shmtune_status status =
        shmt_yaml_text(node, SHMT_FAR_NAME, out, err);

    if (status != SHMTUNE_OK || shmt_far_name_valid(*out))
        return status;
    return shmt_yaml_refuse(node, err, "\"%.100s\" is no name of a file in "
                            SHMT_FAR_TREE " or " SHMT_FAR_IMAGES, *out);
}

/* -- digests -------------------------------------------------------------- */

static enum shmtune_status read_digest(const struct shmt_yaml *node,
                                       const char **out,
                                       struct shmt_error *err)
{
    const enum shmtune_status status =
        shmt_yaml_expect(node, SHMT_YAML_SCALAR, "a digest", err);

    if (status != SHMTUNE_OK)
        return status;
    *out = node->text;
    return shmt_digest_valid(*out)
               ? SHMTUNE_OK
               : shmt_yaml_refuse(node, err, "\"%.70s\" is no digest", *out);
}

static void write_digests(const char *key, size_t count,
                          const char *const *digests, struct shmt_text *text)
{
    shmt_text_addf(text, "{%s: [", key);
    for (size_t k = 0; k < count; k++)
        shmt_text_addf(text, "%s\"%s\"", k == 0 ? "" : ", ", digests[k]);
    shmt_text_add(text, "]}");
}

static enum shmtune_status read_digests(struct shmt_arena *arena,
                                        const struct shmt_yaml *node,
                                        size_t *count,
                                        const char *const **out,
                                        struct shmt_error *err)
{
    enum shmtune_status status =
        shmt_yaml_expect(node, SHMT_YAML_SEQUENCE, "digests", err);
    const char **digests;

    if (status != SHMTUNE_OK)
        return status;
    if (node->count > SHMT_FAR_FILES)
        return shmt_yaml_refuse(node, err, "%zu digests; at most %d are "
                                "expected", node->count, SHMT_FAR_FILES);
    digests = shmt_arena_alloc(arena, node->count + 1, sizeof *digests);
    if (digests == NULL)
        return shmt_error_memory(err);
    for (size_t k = 0; status == SHMTUNE_OK && k < node->count; k++)
        status = read_digest(node->items[k], &digests[k], err);
    *count = node->count;
    *out = digests;
    return status;
}

/* -- orders --------------------------------------------------------------- */

static void write_open(const struct shmt_far_order *order,
                       struct shmt_text *text)
{
    shmt_text_add(text, "{open: ");
    shmt_yaml_add_string(text, order->name);
    shmt_text_addf(text, ", data_seed: %llu, data_digest: \"%s\", compiler: ",
                   (unsigned long long)order->data_seed, order->data_digest);
    shmt_yaml_add_string(text, order->compiler);
    shmt_text_add(text, "}");
}

static void write_ask(const struct shmt_far_order *order,
                      struct shmt_text *text)
{
    shmt_text_addf(text, "{ask: %llu, seconds: ",
                   (unsigned long long)order->tag);
    shmt_yaml_add_real(text, order->seconds, 7);
    shmt_text_add(text, ", request: ");
    shmt_yaml_add_string(text, order->request);
    shmt_text_add(text, "}");
}

void shmt_far_write_order(const struct shmt_far_order *order,
                          struct shmt_text *text)
{
    switch (order->kind) {
    case SHMT_FAR_HAVE:
        write_digests("have", order->count, order->digests, text);
        break;
    case SHMT_FAR_PUT:
        shmt_text_addf(text, "{put: \"%s\", bytes: %llu}", order->digest,
                       (unsigned long long)order->bytes);
        break;
    case SHMT_FAR_LAY:
        shmt_text_addf(text, "{lay: \"%s\", name: ", order->digest);
        shmt_yaml_add_string(text, order->name);
        shmt_text_add(text, "}");
        break;
    case SHMT_FAR_OPEN:
        write_open(order, text);
        break;
    case SHMT_FAR_ASK:
        write_ask(order, text);
        break;
    case SHMT_FAR_RESTART:
        shmt_text_add(text, "{restart: true}");
        break;
    case SHMT_FAR_BEAT:
        shmt_text_add(text, "{beat: true}");
        break;
    }
}

static enum shmtune_status read_put(const struct shmt_yaml *const *values,
                                    struct shmt_far_order *out,
                                    struct shmt_error *err)
{
    enum shmtune_status status = read_digest(values[0], &out->digest, err);

    if (status == SHMTUNE_OK)
        status = shmt_yaml_count(values[1], &out->bytes, err);
    if (status == SHMTUNE_OK && out->bytes > SHMT_FAR_FILE_BYTES)
        status = shmt_yaml_refuse(values[1], err, "a file of %llu bytes",
                                  (unsigned long long)out->bytes);
    return status;
}

static enum shmtune_status read_lay(const struct shmt_yaml *const *values,
                                    struct shmt_far_order *out,
                                    struct shmt_error *err)
{
    const enum shmtune_status status =
        read_digest(values[0], &out->digest, err);

    return status == SHMTUNE_OK ? read_name(values[1], &out->name, err)
                                : status;
}

static enum shmtune_status read_open(const struct shmt_yaml *const *values,
                                     struct shmt_far_order *out,
                                     struct shmt_error *err)
{
    enum shmtune_status status = read_name(values[0], &out->name, err);

    if (status == SHMTUNE_OK)
        status = shmt_yaml_count(values[1], &out->data_seed, err);
    if (status == SHMTUNE_OK)
        status = shmt_yaml_expect(values[2], SHMT_YAML_SCALAR,
                                  "data_digest", err);
    if (status == SHMTUNE_OK && values[2]->text[0] != '\0')
        status = read_digest(values[2], &out->data_digest, err);
    else
        out->data_digest = "";
    if (status == SHMTUNE_OK)
        status = shmt_yaml_text(values[3], COMPILER, &out->compiler, err);
    return status;
}

static enum shmtune_status read_ask(const struct shmt_yaml *const *values,
                                    struct shmt_far_order *out,
                                    struct shmt_error *err)
{
    enum shmtune_status status = shmt_yaml_count(values[0], &out->tag, err);

    if (status == SHMTUNE_OK)
        status = shmt_yaml_real(values[1], &out->seconds, err);
    if (status == SHMTUNE_OK &&
        !(out->seconds > 0 && out->seconds <= SECONDS_MOST))
        status = shmt_yaml_refuse(values[1], err, "a deadline of %g s",
                                  out->seconds);
    return status == SHMTUNE_OK
               ? shmt_yaml_text(values[2], SHMT_WIRE_LONGEST, &out->request,
                                err) : status;
}

static enum shmtune_status read_have(struct shmt_arena *arena,
                                     const struct shmt_yaml *node,
                                     struct shmt_far_order *out,
                                     struct shmt_error *err)
{
    return read_digests(arena, node, &out->count, &out->digests, err);
}

/* The keys of each, in the order of the readers' `values`. */
enum { KEYS = 5 };
static const struct {
    enum shmt_far_kind kind;
    const char *keys[KEYS];
    enum shmtune_status (*read)(const struct shmt_yaml *const *values,
                                struct shmt_far_order *out,
                                struct shmt_error *err);
} orders[] = {
    {SHMT_FAR_HAVE, {"have"}, NULL},
    {SHMT_FAR_PUT, {"put", "bytes"}, read_put},
    {SHMT_FAR_LAY, {"lay", "name"}, read_lay},
    {SHMT_FAR_OPEN, {"open", "data_seed", "data_digest", "compiler"},
     read_open},
    {SHMT_FAR_ASK, {"ask", "seconds", "request"}, read_ask},
    {SHMT_FAR_RESTART, {"restart"}, NULL},
    {SHMT_FAR_BEAT, {"beat"}, NULL},
};
enum { ORDERS = sizeof orders / sizeof *orders };

enum shmtune_status shmt_far_read_order(struct shmt_arena *arena,
                                        const char *line, size_t size,
                                        struct shmt_far_order *out,
                                        struct shmt_error *err)
{
    const struct shmt_yaml *top, *values[KEYS];
    enum shmtune_status status =
        shmt_yaml_parse(arena, "order", line, size, &top, err);
    size_t k = 0;

    *out = (struct shmt_far_order){0};
    if (status == SHMTUNE_OK)
        status = shmt_yaml_expect(top, SHMT_YAML_MAPPING, "an order", err);
    if (status != SHMTUNE_OK)
        return status;
    while (k < ORDERS && shmt_yaml_get(top, orders[k].keys[0]) == NULL)
        k++;
    if (k == ORDERS)
        return shmt_yaml_refuse(top, err, "none of the orders there are");
    out->kind = orders[k].kind;
    status = shmt_yaml_get_keys(top, orders[k].keys, values, err);
    for (size_t v = 0; status == SHMTUNE_OK && orders[k].keys[v] != NULL; v++)
        status = shmt_yaml_need(top, orders[k].keys[v], &values[v], err);
    if (status == SHMTUNE_OK && out->kind == SHMT_FAR_HAVE)
        return read_have(arena, values[0], out, err);
    return status == SHMTUNE_OK && orders[k].read != NULL
               ? orders[k].read(values, out, err) : status;
}

/* -- notes ---------------------------------------------------------------- */

bool shmt_far_is_greeting(const char *line)
{
    return strncmp(line, SHMT_FAR_GREETING, strlen(SHMT_FAR_GREETING)) == 0;
}

static void write_greeting(const struct shmt_far_note *note,
                           struct shmt_text *text)
{
    shmt_text_addf(text, "{relay: %d, shmtune: ", (int)note->protocol);
    shmt_yaml_add_string(text, note->version);
    shmt_text_add(text, ", device: ");
    shmt_device_write_flow(&note->device, text);
    shmt_text_add(text, "}");
}

void shmt_far_write_note(const struct shmt_far_note *note,
                         struct shmt_text *text)
{
    switch (note->kind) {
    case SHMT_FAR_NOTE_GREETING:
        write_greeting(note, text);
        break;
    case SHMT_FAR_NOTE_BEAT:
        shmt_text_add(text, "{beat: true}");
        break;
    case SHMT_FAR_NOTE_MISSING:
        write_digests("missing", note->count, note->digests, text);
        break;
    case SHMT_FAR_NOTE_DIED:
        shmt_text_addf(text, "{died: %llu, why: ",
                       (unsigned long long)note->tag);
        shmt_yaml_add_string(text, note->error.text);
        shmt_text_addf(text, ", timed_out: %s}",
                       note->timed_out ? "true" : "false");
        break;
    case SHMT_FAR_NOTE_FAILED:
        shmt_text_add(text, "{failed: ");
        shmt_yaml_add_string(text, note->error.text);
        shmt_text_addf(text, ", status: %d}", (int)note->error.status);
        break;
    case SHMT_FAR_NOTE_WAITING:
    case SHMT_FAR_NOTE_LOST:
        shmt_text_add(text, note->kind == SHMT_FAR_NOTE_LOST ? "{lost: "
                                                             : "{waiting: ");
        shmt_yaml_add_string(text, note->error.text);
        shmt_text_add(text, "}");
        break;
    case SHMT_FAR_NOTE_REPLY:
        shmt_wire_write_reply(&note->reply, text);
        break;
    }
}

/* The device's description belongs to the version: another one's is not
 * read. */
static enum shmtune_status read_greeting(const struct shmt_yaml *top,
                                         const char *version,
                                         struct shmt_far_note *out,
                                         struct shmt_error *err)
{
    const struct shmt_yaml *node;
    enum shmtune_status status = shmt_yaml_need(top, "relay", &node, err);

    if (status == SHMTUNE_OK)
        status = shmt_yaml_int(node, 0, INT32_MAX, &out->protocol, err);
    if (status == SHMTUNE_OK)
        status = shmt_yaml_need(top, "shmtune", &node, err);
    if (status == SHMTUNE_OK)
        status = shmt_yaml_text(node, 64, &out->version, err);
    if (status != SHMTUNE_OK || out->protocol != SHMT_FAR_PROTOCOL ||
        strcmp(out->version, version) != 0)
        return status;
    status = shmt_yaml_need(top, "device", &node, err);
    return status == SHMTUNE_OK ? shmt_device_read(node, &out->device, err)
                                : status;
}

static enum shmtune_status read_text(const struct shmt_yaml *top,
                                     const char *key,
                                     struct shmt_far_note *out,
                                     struct shmt_error *err)
{
    const struct shmt_yaml *node;
    enum shmtune_status status = shmt_yaml_need(top, key, &node, err);

    if (status == SHMTUNE_OK)
        status = shmt_yaml_expect(node, SHMT_YAML_SCALAR, key, err);
    if (status == SHMTUNE_OK)
        snprintf(out->error.text, sizeof out->error.text, "%s", node->text);
    return status;
}

static enum shmtune_status read_died(const struct shmt_yaml *top,
                                     struct shmt_far_note *out,
                                     struct shmt_error *err)
{
    const struct shmt_yaml *node;
    enum shmtune_status status = shmt_yaml_need(top, "died", &node, err);

    if (status == SHMTUNE_OK)
        status = shmt_yaml_count(node, &out->tag, err);
    if (status == SHMTUNE_OK)
        status = shmt_yaml_need(top, "timed_out", &node, err);
    if (status == SHMTUNE_OK)
        status = shmt_yaml_bool(node, &out->timed_out, err);
    return status == SHMTUNE_OK ? read_text(top, "why", out, err) : status;
}

static enum shmtune_status read_failed(const struct shmt_yaml *top,
                                       struct shmt_far_note *out,
                                       struct shmt_error *err)
{
    const struct shmt_yaml *node;
    int64_t number = 0;
    enum shmtune_status status = shmt_yaml_need(top, "status", &node, err);

    if (status == SHMTUNE_OK)
        status = shmt_yaml_int(node, 1, 99, &number, err);
    out->error.status = (enum shmtune_status)number;
    return status == SHMTUNE_OK ? read_text(top, "failed", out, err) : status;
}

/* A note of ours, by the key that it begins with. */
static enum shmtune_status read_known(struct shmt_arena *arena,
                                      const struct shmt_yaml *top,
                                      const char *version,
                                      struct shmt_far_note *out,
                                      struct shmt_error *err)
{
    switch (out->kind) {
    case SHMT_FAR_NOTE_GREETING:
        return read_greeting(top, version, out, err);
    case SHMT_FAR_NOTE_MISSING:
        return read_digests(arena, shmt_yaml_get(top, "missing"), &out->count,
                            &out->digests, err);
    case SHMT_FAR_NOTE_DIED:
        return read_died(top, out, err);
    case SHMT_FAR_NOTE_FAILED:
        return read_failed(top, out, err);
    case SHMT_FAR_NOTE_WAITING:
        return read_text(top, "waiting", out, err);
    case SHMT_FAR_NOTE_LOST:
        return read_text(top, "lost", out, err);
    case SHMT_FAR_NOTE_BEAT:
    case SHMT_FAR_NOTE_REPLY:
        break;
    }
    return SHMTUNE_OK;
}

enum shmtune_status shmt_far_read_note(struct shmt_arena *arena,
                                       const char *line, const char *version,
                                       struct shmt_far_note *out,
                                       struct shmt_error *err)
{
    static const struct {
        const char *key;
        enum shmt_far_note_kind kind;
    } kinds[] = {
        {"relay", SHMT_FAR_NOTE_GREETING}, {"beat", SHMT_FAR_NOTE_BEAT},
        {"missing", SHMT_FAR_NOTE_MISSING}, {"died", SHMT_FAR_NOTE_DIED},
        {"failed", SHMT_FAR_NOTE_FAILED}, {"waiting", SHMT_FAR_NOTE_WAITING},
        {"lost", SHMT_FAR_NOTE_LOST},
    };
    const struct shmt_yaml *top;
    enum shmtune_status status =
        shmt_yaml_parse(arena, "note", line, strlen(line), &top, err);

    *out = (struct shmt_far_note){.kind = SHMT_FAR_NOTE_REPLY};
    if (status == SHMTUNE_OK)
        status = shmt_yaml_expect(top, SHMT_YAML_MAPPING, "a note", err);
    if (status != SHMTUNE_OK)
        return status;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        if (shmt_yaml_get(top, kinds[k].key) != NULL) {
            out->kind = kinds[k].kind;
            return read_known(arena, top, version, out, err);
        }
    return shmt_wire_read_reply(line, &out->reply, err);
}
