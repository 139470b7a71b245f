/* SPDX-License-Identifier: MIT */
/*
 * plain: a recursive reader that gives up rather than guess.  Every
 * function here returns false for what it is not sure of, and the whole text
 * is then libyaml's, mistakes and their messages too.
 */
#include "yaml/plain.h"

#include <stdlib.h>
#include <string.h>

#include "yaml/scan.h"

enum {
    KEYS = 128,             /* of a mapping, that are compared one by one */
    SCALAR_BYTES = 1024,
    NODES = 1000000,
    BATCH = 16,             /* nodes of one allocation */
    PENDING = 128           /* nodes before the first allocation */
};

struct plain {
    struct shmt_arena *arena;   /* of the nodes */
    const struct shmt_yaml_source *source;
    struct shmt_place place;    /* of line_begin */
    const char *data;       /* and a NUL behind it */
    const char *end;
    char *texts;            /* a copy, cut into scalars */
    const char *at;         /* the next byte */
    const char *line_begin;
    int depth;
    size_t nodes;
    struct shmt_yaml *spare;    /* nodes that are none yet */
    size_t spare_count;
    const struct shmt_yaml **pending;   /* children of what is open */
    size_t pending_count, pending_room;
    const struct shmt_yaml *few[PENDING];
    bool exhausted;         /* there was no memory */
};

/* -- characters ------------------------------------------------------------ */

/* NUL at the end: there is none before. */
static char peek(const struct plain *plain, size_t ahead)
{
    return plain->at[ahead];
}

static size_t column(const struct plain *plain)
{
    return (size_t)(plain->at - plain->line_begin);
}

static void skip_spaces(struct plain *plain)
{
    while (peek(plain, 0) == ' ')
        plain->at++;
}

static void skip_newline(struct plain *plain)
{
    plain->at++;
    plain->place.line++;
    plain->place.column = 1;
    plain->line_begin = plain->at;
}

/* From anywhere in a line without content left: to the next content, or the
 * end.  What could mark a document is not plain. */
static bool to_content(struct plain *plain)
{
    for (;;) {
        skip_spaces(plain);
        if (peek(plain, 0) == '#')
            while (peek(plain, 0) != '\n' && peek(plain, 0) != '\0')
                plain->at++;
        if (peek(plain, 0) != '\n')
            break;
        skip_newline(plain);
    }
    return column(plain) > 0 ||
           (peek(plain, 0) != '-' && peek(plain, 0) != '.') ||
           peek(plain, 0) != peek(plain, 1);
}

/* After a value: nothing but a comment may follow in its line. */
static bool end_line(struct plain *plain)
{
    const char *end = plain->at;

    skip_spaces(plain);
    return (peek(plain, 0) == '#' ? plain->at > end
                                  : shmt_yaml_scan_blank(peek(plain, 0))) &&
           to_content(plain);
}

/* -- nodes ----------------------------------------------------------------- */

static void *take_room(struct plain *plain, size_t bytes)
{
    void *piece = shmt_arena_room(plain->arena, bytes);

    plain->exhausted = plain->exhausted || piece == NULL;
    return piece;
}

static inline struct shmt_yaml *new_node(struct plain *plain,
                                         enum shmt_yaml_kind kind)
{
    struct shmt_yaml *node;

    if (plain->spare_count == 0) {
        plain->spare = take_room(plain, BATCH * sizeof *plain->spare);
        plain->spare_count = plain->spare == NULL ? 0 : BATCH;
    }
    if (plain->spare == NULL || plain->nodes++ == NODES)
        return NULL;
    node = plain->spare++;
    plain->spare_count--;
    *node = (struct shmt_yaml){.kind = kind, .place = plain->place};
    node->place.column += (int)column(plain);
    return node;
}

static bool more_pending(struct plain *plain)
{
    const size_t room = plain->pending_room * 2;
    const bool first = plain->pending == plain->few;
    const struct shmt_yaml **pending =
        realloc(first ? NULL : plain->pending, room * sizeof *pending);

    plain->exhausted = pending == NULL;
    if (pending == NULL)
        return false;
    if (first)
        memcpy(pending, plain->few, sizeof plain->few);
    plain->pending = pending;
    plain->pending_room = room;
    return true;
}

static inline bool push(struct plain *plain, const struct shmt_yaml *node)
{
    if (node == NULL ||
        (plain->pending_count == plain->pending_room && !more_pending(plain)))
        return false;
    plain->pending[plain->pending_count++] = node;
    return true;
}

/* The scalar of `length` bytes from `from` on; `node` was made before it. */
static inline bool push_text(struct plain *plain, struct shmt_yaml *node,
                             const char *from, size_t length)
{
    char *text = plain->texts + (from - plain->data);

    if (node == NULL || length > SCALAR_BYTES)
        return false;
    text[length] = '\0';
    node->text = text;
    return push(plain, node);
}

static bool has_twice(const struct shmt_yaml *const *keys, size_t count)
{
    for (size_t i = 1; i < count; i++)
        for (size_t k = 0; k < i; k++)
            if (shmt_text_same(keys[i]->text, keys[k]->text))
                return true;
    return false;
}

static struct shmt_yaml *open_node(struct plain *plain,
                                   enum shmt_yaml_kind kind)
{
    return plain->depth++ == SHMT_YAML_DEPTH ? NULL : new_node(plain, kind);
}

/* The children are pending[first..]; the node takes their place. */
static bool close_node(struct plain *plain, struct shmt_yaml *node,
                       size_t first)
{
    const struct shmt_yaml **children = plain->pending + first;
    const size_t count = plain->pending_count - first;
    const bool mapping = node->kind == SHMT_YAML_MAPPING;
    const struct shmt_yaml **copy = take_room(plain, count * sizeof *copy);

    if (copy == NULL)
        return false;
    node->items = copy;
    node->count = mapping ? count / 2 : count;
    if (mapping)
        node->keys = copy + count / 2;
    for (size_t k = 0; mapping && k < count / 2; k++) {
        copy[count / 2 + k] = children[2 * k];
        copy[k] = children[2 * k + 1];
    }
    if (!mapping && count > 0)
        memcpy(copy, children, count * sizeof *copy);
    plain->pending_count = first;
    plain->depth--;
    /* many keys are compared faster by the other reader */
    return (!mapping || (node->count <= KEYS &&
                         !has_twice(node->keys, node->count))) &&
           push(plain, node);
}

/* -- scalars --------------------------------------------------------------- */

/* The key and its ':'. */
static bool read_key(struct plain *plain)
{
    const char *from = plain->at;
    const size_t length = shmt_yaml_scan_key(from);

    if (length == 0 || !push_text(plain, new_node(plain, SHMT_YAML_SCALAR),
                                  from, length))
        return false;
    plain->at += length + 1;
    return true;
}

static bool read_quoted(struct plain *plain)
{
    const char quote = peek(plain, 0);
    struct shmt_yaml *node = new_node(plain, SHMT_YAML_SCALAR);
    const char *from = ++plain->at;

    while (peek(plain, 0) != quote) {
        if (peek(plain, 0) == '\\' || peek(plain, 0) == '\n' ||
            peek(plain, 0) == '\0')
            return false;
        plain->at++;
    }
    plain->at++;
    if (node == NULL || peek(plain, 0) == quote)
        return false;
    node->quoted = true;
    return push_text(plain, node, from, (size_t)(plain->at - 1 - from));
}

static bool read_plain(struct plain *plain, bool flow)
{
    const char *from = plain->at;
    const size_t length = shmt_yaml_scan_plain(from, flow);

    if (length == 0 || !push_text(plain, new_node(plain, SHMT_YAML_SCALAR),
                                  from, length))
        return false;
    plain->at += length;
    return true;
}

/* `>-`, whose lines all begin in one column beyond `at_column` and are joined
 * by spaces; up to the first line that is none of it. */
static bool read_folded(struct plain *plain, size_t at_column)
{
    struct shmt_yaml *node = new_node(plain, SHMT_YAML_SCALAR);
    size_t length = 0, indent;
    const char *from;
    char *text;

    if (node == NULL || peek(plain, 1) != '-' || peek(plain, 2) != '\n')
        return false;
    node->quoted = true;
    plain->at += 2;
    skip_newline(plain);
    skip_spaces(plain);
    indent = column(plain);
    from = plain->at;
    text = plain->texts + (from - plain->data);
    while (column(plain) == indent &&
           !shmt_yaml_scan_blank(peek(plain, 0))) {
        const char *line = plain->at;
        const char *end = memchr(line, '\n', (size_t)(plain->end - line));
        const size_t bytes =
            (size_t)((end == NULL ? plain->end : end) - line);

        if (line[bytes - 1] == ' ')
            return false;
        if (length > 0)
            text[length++] = ' ';
        memcpy(text + length, line, bytes);
        length += bytes;
        plain->at += bytes;
        if (end == NULL)
            break;
        skip_newline(plain);
        skip_spaces(plain);
    }
    /* after an empty line it could go on */
    return length > 0 && indent > at_column && column(plain) < indent &&
           peek(plain, 0) != '\n' && push_text(plain, node, from, length);
}

/* -- flow collections ------------------------------------------------------ */

static bool read_flow(struct plain *plain);

/* To the next content; what stands in the first column could mark a
 * document. */
static inline bool skip_flow(struct plain *plain)
{
    skip_spaces(plain);
    if (peek(plain, 0) != '\n')
        return true;
    for (; peek(plain, 0) == '\n'; skip_spaces(plain))
        skip_newline(plain);
    return column(plain) > 0;
}

static bool read_flow_value(struct plain *plain)
{
    switch (peek(plain, 0)) {
    case '{':
    case '[':
        return read_flow(plain);
    case '"':
    case '\'':
        return read_quoted(plain);
    default:
        return read_plain(plain, true);
    }
}

static bool read_flow(struct plain *plain)
{
    const bool mapping = peek(plain, 0) == '{';
    const char close = mapping ? '}' : ']';
    struct shmt_yaml *node =
        open_node(plain, mapping ? SHMT_YAML_MAPPING : SHMT_YAML_SEQUENCE);
    const size_t first = plain->pending_count;

    plain->at++;
    if (node == NULL || !skip_flow(plain))
        return false;
    while (peek(plain, 0) != close || plain->pending_count > first) {
        if (mapping && (!read_key(plain) || !skip_flow(plain)))
            return false;
        if (!read_flow_value(plain) || !skip_flow(plain))
            return false;
        if (peek(plain, 0) == close)
            break;
        if (peek(plain, 0) != ',')
            return false;
        plain->at++;
        if (!skip_flow(plain))
            return false;
    }
    plain->at++;
    return close_node(plain, node, first);
}

/* -- blocks ---------------------------------------------------------------- */

static bool read_block(struct plain *plain, size_t at_column);

/* Of the key just read, if nobody looks at its numbers. */
static bool read_unread(struct plain *plain)
{
    const struct shmt_yaml *key = plain->pending[plain->pending_count - 1];
    const char *unread = plain->source->unread;
    size_t length, count;

    if (unread == NULL || !shmt_text_same(key->text, unread))
        return false;
    length = shmt_yaml_scan_numbers(plain->at, &count);
    if (length == 0 || count > plain->source->unread_most ||
        !push(plain, new_node(plain, SHMT_YAML_SEQUENCE)))
        return false;
    plain->nodes += count;
    plain->at += length;
    return true;
}

/* What stands on the lines after a key of `at_column`. */
static bool read_below(struct plain *plain, size_t at_column)
{
    if (!to_content(plain) || plain->at == plain->end ||
        column(plain) < at_column)
        return false;
    if (column(plain) == at_column &&
        (peek(plain, 0) != '-' || !shmt_yaml_scan_blank(peek(plain, 1))))
        return false;
    return read_block(plain, column(plain));
}

/* After the ':' or '-' of an entry of `at_column`; to the next content. */
static bool read_entry(struct plain *plain, size_t at_column, bool mapping)
{
    bool good;

    skip_spaces(plain);
    switch (peek(plain, 0)) {
    case '\n':
    case '\0':
    case '#':
        return mapping && read_below(plain, at_column);
    case '{':
    case '[':
        good = (mapping && read_unread(plain)) || read_flow(plain);
        break;
    case '"':
    case '\'':
        good = read_quoted(plain);
        break;
    case '>':
        return read_folded(plain, at_column) && to_content(plain);
    default:
        if (!mapping && shmt_yaml_scan_key(plain->at) > 0)
            return read_block(plain, column(plain));
        good = read_plain(plain, false);
    }
    return good && end_line(plain);
}

/* A mapping, or a sequence, whose entries begin in `at_column`. */
static bool read_block(struct plain *plain, size_t at_column)
{
    const bool mapping = peek(plain, 0) != '-';
    struct shmt_yaml *node =
        open_node(plain, mapping ? SHMT_YAML_MAPPING : SHMT_YAML_SEQUENCE);
    const size_t first = plain->pending_count;

    if (node == NULL)
        return false;
    do {
        if (mapping && !read_key(plain))
            return false;
        if (!mapping) {
            /* the entries of a mapping that goes on after its sequence */
            if (peek(plain, 0) != '-' && plain->pending_count > first)
                break;
            if (peek(plain, 0) != '-' || peek(plain, 1) != ' ')
                return false;
            plain->at++;
        }
        if (!read_entry(plain, at_column, mapping))
            return false;
    } while (plain->at < plain->end && column(plain) == at_column);
    /* deeper is the rest of a scalar, or a mistake */
    return (plain->at == plain->end || column(plain) <= at_column) &&
           close_node(plain, node, first);
}

static bool read_root(struct plain *plain)
{
    if (!to_content(plain) || plain->at == plain->end)
        return false;
    if (peek(plain, 0) == '{' || peek(plain, 0) == '[')
        return read_flow(plain) && end_line(plain);
    return read_block(plain, column(plain));
}

enum shmtune_status shmt_yaml_plain_parse(struct shmt_arena *arena,
                                          const struct shmt_yaml_source *source,
                                          const struct shmt_yaml **out)
{
    const char *data = source->data;
    const size_t size = source->size;
    struct plain plain = {.arena = source->nodes == NULL ? arena
                                                         : source->nodes,
                          .source = source,
                          .place = source->origin,
                          .pending_room = PENDING};
    char *copy = NULL;
    bool good;

    if (!shmt_yaml_scan_ascii(data, size))
        return SHMTUNE_INVALID_FILE;
    plain.texts = shmt_arena_copy(arena, data, size);
    if (!source->ended) {
        data = copy = malloc(size + 1);
        if (copy != NULL) {
            memcpy(copy, source->data, size);
            copy[size] = '\0';
        }
    }
    if (plain.texts == NULL || data == NULL) {
        free(copy);
        return SHMTUNE_NO_MEMORY;
    }
    plain.data = plain.at = plain.line_begin = data;
    plain.end = data + size;
    plain.pending = plain.few;
    good = read_root(&plain) && plain.at == plain.end;
    free(copy);
    if (good)
        *out = plain.pending[0];
    if (plain.pending != plain.few)
        free(plain.pending);
    if (plain.exhausted)
        return SHMTUNE_NO_MEMORY;
    return good ? SHMTUNE_OK : SHMTUNE_INVALID_FILE;
}
