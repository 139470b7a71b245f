/* SPDX-License-Identifier: MIT */
/*
 * yaml: bytes to a tree, by libyaml's events.  The one file that includes
 * <yaml.h>; value.c reads the tree, write.c writes.
 *
 * The caps are kept here, not by libyaml: an event is looked at before the
 * next one is asked for, and libyaml reads at most 1,024 characters ahead of
 * the event it gives, so what it does in quadratic time stays small.
 */
#include "yaml/yaml.h"

#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "base/base.h"

enum {
    FILE_BYTES = 8 << 20,
    DEPTH = 32,
    EVENTS = 4000000,
    SCALAR_BYTES = 64 << 10,
    PENDING = 128,          /* nodes before the first allocation */
    FEW_KEYS = 16           /* compared one with another */
};

/* A mapping or sequence whose end has not been seen: its children are
 * pending[first..]. */
struct frame {
    struct shmt_yaml *node;
    size_t first;
};

struct reader {
    yaml_parser_t parser;
    const struct shmt_yaml_source *source;
    struct shmt_arena *arena;      /* of the texts */
    struct shmt_arena *nodes;
    struct shmt_arena *items;      /* of both, of an item that is handed on */
    struct shmt_yaml *streamed;    /* whose items they are; NULL outside */
    struct shmt_yaml *before;      /* what stands before it */
    struct shmt_place origin;      /* of the first byte */
    const char *data;
    size_t size;
    size_t ascii;                  /* bytes before the first wider character */
    size_t at_byte, at_index;      /* the same character, by both counts */
    struct frame frames[DEPTH];
    size_t depth;
    const struct shmt_yaml **pending;
    size_t pending_count, pending_room;
    const struct shmt_yaml *few[PENDING];
    const struct shmt_yaml *root;
    bool document;                 /* one has begun, */
    bool must_end;                 /* and is whole with a `...` alone */
    bool done;
    struct shmt_error *err;
};

static struct shmt_place place_at(const struct reader *reader, size_t line,
                                  size_t column)
{
    struct shmt_place place = reader->origin;

    place.column = line == 0 ? place.column + (int)column : (int)column + 1;
    place.line += (int)line;
    return place;
}

static struct shmt_place place_of(const struct reader *reader,
                                  yaml_mark_t mark)
{
    return place_at(reader, mark.line, mark.column);
}

/* The place of a byte; everything before it is known to be UTF-8. */
static struct shmt_place place_of_byte(const struct reader *reader,
                                       size_t byte)
{
    size_t line = 0, column = 0;

    for (size_t i = 0; i < byte; i++)
        if (reader->data[i] == '\n') {
            line++;
            column = 0;
        } else if ((reader->data[i] & 0xc0) != 0x80) {
            column++;
        }
    return place_at(reader, line, column);
}

/* A text of UTF-16 begins with its byte order mark. */
static bool is_utf16(const char *data, size_t size, size_t at)
{
    return at == 0 && size > 1 &&
           (memcmp(data, "\xff\xfe", 2) == 0 ||
            memcmp(data, "\xfe\xff", 2) == 0);
}

/* UTF-8 without control characters, before libyaml sees it: libyaml would
 * guess at UTF-16, and has no line for what it cannot read. */
static enum shmtune_status check_bytes(struct reader *reader)
{
    const char *data = reader->data;
    size_t size = reader->size, i = 0, length;
    uint32_t code;

    reader->ascii = size;
    for (;;) {
        while (i < size && ((data[i] >= 0x20 && data[i] < 0x7f)
                            || data[i] == '\n'))
            i++;
        if (i == size)
            break;
        length = shmt_utf8_decode(data + i, size - i, &code);
        if (length == 0)
            return shmt_yaml_refuse_at(
                place_of_byte(reader, i), reader->err,
                "found byte 0x%02x, expected UTF-8%s",
                (unsigned)(unsigned char)data[i],
                is_utf16(data, size, i) ? "; save the file as UTF-8, not as "
                                          "UTF-16" : "");
        if (code == '\r' && i + 1 < size && data[i + 1] == '\n')
            code = '\n';
        if (!shmt_utf8_printable(code))
            return shmt_yaml_refuse_at(
                place_of_byte(reader, i), reader->err,
                "found the character U+%04X, expected printable text%s",
                (unsigned)code,
                code == 0xfeff ? "; save the file as UTF-8 without a byte "
                                 "order mark" : "");
        if (length > 1 && reader->ascii == size)
            reader->ascii = reader->at_byte = reader->at_index = i;
        i += length;
    }
    return SHMTUNE_OK;
}

/* The byte at a mark, whose index counts characters.  Marks only go up. */
static char byte_at(struct reader *reader, yaml_mark_t mark)
{
    if (mark.index < reader->ascii)
        return reader->data[mark.index];
    while (reader->at_index < mark.index && reader->at_byte < reader->size) {
        reader->at_byte++;
        while (reader->at_byte < reader->size
               && (reader->data[reader->at_byte] & 0xc0) == 0x80)
            reader->at_byte++;
        reader->at_index++;
    }
    return reader->at_byte < reader->size ? reader->data[reader->at_byte]
                                          : '\0';
}

static bool expects_key(const struct reader *reader)
{
    const struct frame *top;

    if (reader->depth == 0)
        return false;
    top = &reader->frames[reader->depth - 1];
    return top->node->kind == SHMT_YAML_MAPPING
           && (reader->pending_count - top->first) % 2 == 0;
}

static enum shmtune_status push(struct reader *reader,
                                const struct shmt_yaml *node)
{
    const struct shmt_yaml **more;
    size_t room = reader->pending_room;

    if (reader->depth == 0) {
        reader->root = node;
        return SHMTUNE_OK;
    }
    if (reader->pending_count == room) {
        more = malloc(2 * room * sizeof *more);
        if (more == NULL)
            return shmt_error_memory(reader->err);
        memcpy(more, reader->pending, room * sizeof *more);
        if (reader->pending != reader->few)
            free(reader->pending);
        reader->pending = more;
        reader->pending_room = 2 * room;
    }
    reader->pending[reader->pending_count++] = node;
    return SHMTUNE_OK;
}

/* NULL when there is no memory. */
static struct shmt_yaml *new_node(struct reader *reader,
                                  enum shmt_yaml_kind kind,
                                  struct shmt_place place)
{
    struct shmt_yaml *node = shmt_arena_alloc(
        reader->streamed != NULL ? reader->items : reader->nodes, 1,
        sizeof *node);

    if (node != NULL) {
        node->kind = kind;
        node->place = place;
    }
    return node;
}

/* Makes a mapping of keys and values, each key before its value. */
static bool fill_mapping(struct shmt_arena *arena,
                         const struct shmt_yaml *const *children, size_t count,
                         struct shmt_yaml *mapping)
{
    const struct shmt_yaml **copy =
        shmt_arena_alloc(arena, 2 * count, sizeof *copy);

    if (copy == NULL)
        return false;
    mapping->items = copy;
    mapping->keys = copy + count;
    mapping->count = count;
    for (size_t i = 0; i < count; i++) {
        copy[i] = children[2 * i + 1];
        copy[count + i] = children[2 * i];
    }
    return true;
}

/* Whether the node that was opened is the sequence under the key. */
static bool is_streamed(const struct reader *reader,
                        const struct shmt_yaml *node)
{
    return reader->source->stream != NULL && reader->depth == 2 &&
           node->kind == SHMT_YAML_SEQUENCE &&
           reader->frames[0].node->kind == SHMT_YAML_MAPPING &&
           strcmp(reader->pending[reader->pending_count - 2]->text,
                  reader->source->stream) == 0;
}

static enum shmtune_status begin_stream(struct reader *reader,
                                        struct shmt_yaml *node)
{
    reader->before =
        new_node(reader, SHMT_YAML_MAPPING, reader->frames[0].node->place);
    if (reader->before == NULL ||
        !fill_mapping(reader->nodes, reader->pending,
                      reader->pending_count / 2 - 1, reader->before))
        return shmt_error_memory(reader->err);
    reader->streamed = node;
    return SHMTUNE_OK;
}

/* Hands on the node that is whole now, where it is an item. */
static enum shmtune_status hand_on(struct reader *reader)
{
    enum shmtune_status status;

    if (reader->streamed == NULL || reader->depth != 2)
        return SHMTUNE_OK;
    reader->streamed->count++;
    status = reader->source->take(reader->source->context, reader->before,
                                  reader->pending[--reader->pending_count],
                                  reader->err);
    shmt_arena_clear(reader->items);
    return status;
}

static enum shmtune_status add_scalar(struct reader *reader,
                                      const yaml_event_t *event)
{
    const char *text = (const char *)event->data.scalar.value;
    const size_t length = event->data.scalar.length;
    struct shmt_place place = place_of(reader, event->start_mark);
    const bool plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
    struct shmt_yaml *node;
    enum shmtune_status status;

    if (length > SCALAR_BYTES)
        return shmt_yaml_refuse_at(place, reader->err,
                                   "found a text of %zu bytes, expected at "
                                   "most %d", length, SCALAR_BYTES);
    if (strlen(text) != length)
        return shmt_yaml_refuse_at(place, reader->err,
                                   "found a NUL in a text");
    if (plain && expects_key(reader) && strcmp(text, "<<") == 0)
        return shmt_yaml_refuse_at(place, reader->err,
                                   "found a merge key, expected plain data");
    if (plain && expects_key(reader) && length == 0)
        return shmt_yaml_refuse_at(place, reader->err,
                                   "found nothing, expected a key");
    place.inside = event->start_mark.line != event->end_mark.line ? -1
                   : plain                                        ? 0 : 1;
    node = new_node(reader, SHMT_YAML_SCALAR, place);
    if (node == NULL)
        return shmt_error_memory(reader->err);
    node->quoted = !plain;
    node->text = shmt_arena_copy(
        reader->streamed != NULL ? reader->items : reader->arena, text,
        length);
    if (node->text == NULL)
        return shmt_error_memory(reader->err);
    status = push(reader, node);
    return status == SHMTUNE_OK ? hand_on(reader) : status;
}

static enum shmtune_status open_node(struct reader *reader,
                                     enum shmt_yaml_kind kind,
                                     const yaml_event_t *event)
{
    const struct shmt_place place = place_of(reader, event->start_mark);
    struct shmt_yaml *node;
    enum shmtune_status status;

    if (expects_key(reader))
        return shmt_yaml_refuse_at(place, reader->err,
                                   "found a %s, expected a key",
                                   shmt_yaml_kind_text(kind));
    if (reader->depth == DEPTH)
        return shmt_yaml_refuse_at(place, reader->err,
                                   "found more than %d levels, expected "
                                   "at most that", DEPTH);
    node = new_node(reader, kind, place);
    if (node == NULL)
        return shmt_error_memory(reader->err);
    status = push(reader, node);
    if (status != SHMTUNE_OK)
        return status;
    reader->frames[reader->depth].node = node;
    reader->frames[reader->depth].first = reader->pending_count;
    reader->depth++;
    return is_streamed(reader, node) ? begin_stream(reader, node) : SHMTUNE_OK;
}

static int compare_keys(const void *left, const void *right)
{
    const struct shmt_yaml *const *a = left, *const *b = right;
    const int order = strcmp((*a)->text, (*b)->text);

    if (order != 0)
        return order;
    if ((*a)->place.line != (*b)->place.line)
        return (*a)->place.line < (*b)->place.line ? -1 : 1;
    return ((*a)->place.column > (*b)->place.column)
           - ((*a)->place.column < (*b)->place.column);
}

static enum shmtune_status refuse_duplicate(const struct reader *reader,
                                            const struct shmt_yaml *first,
                                            const struct shmt_yaml *second)
{
    char quoted[SHMT_YAML_QUOTED];

    shmt_yaml_quote(second->text, quoted);
    return shmt_yaml_refuse_at(second->place, reader->err,
                               "found the key %s again, it stands in line "
                               "%d already", quoted, first->place.line);
}

static enum shmtune_status check_keys(const struct reader *reader,
                                      const struct shmt_yaml *mapping)
{
    const struct shmt_yaml *const *keys = mapping->keys;
    const struct shmt_yaml **sorted;
    const size_t count = mapping->count;
    enum shmtune_status status = SHMTUNE_OK;

    if (count <= FEW_KEYS) {
        for (size_t i = 1; i < count; i++)
            for (size_t k = 0; k < i; k++)
                if (strcmp(keys[i]->text, keys[k]->text) == 0)
                    return refuse_duplicate(reader, keys[k], keys[i]);
        return SHMTUNE_OK;
    }
    sorted = malloc(count * sizeof *sorted);
    if (sorted == NULL)
        return shmt_error_memory(reader->err);
    memcpy(sorted, keys, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, compare_keys);
    for (size_t i = 1; i < count && status == SHMTUNE_OK; i++)
        if (strcmp(sorted[i - 1]->text, sorted[i]->text) == 0)
            status = refuse_duplicate(reader, sorted[i - 1], sorted[i]);
    free(sorted);
    return status;
}

static enum shmtune_status close_node(struct reader *reader)
{
    const struct frame *top = &reader->frames[--reader->depth];
    const struct shmt_yaml **children = reader->pending + top->first;
    const size_t children_count = reader->pending_count - top->first;
    struct shmt_arena *arena =
        reader->streamed != NULL ? reader->items : reader->nodes;
    enum shmtune_status status = SHMTUNE_OK;

    if (top->node == reader->streamed) {
        reader->streamed = NULL;
        return SHMTUNE_OK;
    }
    reader->pending_count = top->first;
    if (top->node->kind == SHMT_YAML_SEQUENCE) {
        top->node->items = shmt_arena_copy(arena, children,
                                           children_count * sizeof *children);
        top->node->count = children_count;
        if (top->node->items == NULL)
            status = shmt_error_memory(reader->err);
    } else if (fill_mapping(arena, children, children_count / 2, top->node)) {
        status = check_keys(reader, top->node);
    } else {
        status = shmt_error_memory(reader->err);
    }
    return status == SHMTUNE_OK ? hand_on(reader) : status;
}

static enum shmtune_status begin_document(struct reader *reader,
                                          const yaml_event_t *event)
{
    const struct shmt_place place = place_of(reader, event->start_mark);

    if (reader->document)
        return shmt_yaml_refuse_at(place, reader->err,
                                   "found a second document, expected one");
    if (event->data.document_start.version_directive != NULL
        || event->data.document_start.tag_directives.start
               != event->data.document_start.tag_directives.end)
        return shmt_yaml_refuse_at(place, reader->err,
                                   "found a directive, expected plain data");
    reader->document = true;
    if (event->data.document_start.implicit)
        reader->must_end = false;
    return SHMTUNE_OK;
}

/* A text that is cut at the end of a line is often a good document still. */
static enum shmtune_status end_document(struct reader *reader,
                                        const yaml_event_t *event)
{
    if (!reader->must_end || !event->data.document_end.implicit)
        return SHMTUNE_OK;
    return shmt_yaml_refuse_at(
        place_of(reader, event->end_mark), reader->err,
        "found the end of the file after %zu bytes, expected \"...\", because "
        "it begins with \"---\": it was cut; copy or tune it again, or, where "
        "it is whole, add a line \"...\"", reader->size);
}

/* An expression may be meant. */
#define BEGINS_WITH(sign)                                                    \
    "; a text that begins with " sign " has to be in quotes"
#define WRITTEN_OUT(sign)                                                    \
    "; write the value out in each place" BEGINS_WITH(sign)

/* Refuses anchors and tags. libyaml drops the tag of `! text`, so the byte
 * itself is looked at too. */
static enum shmtune_status check_plain(struct reader *reader,
                                       const yaml_event_t *event,
                                       const yaml_char_t *anchor,
                                       const yaml_char_t *tag)
{
    const struct shmt_place place = place_of(reader, event->start_mark);

    if (anchor != NULL)
        return shmt_yaml_refuse_at(place, reader->err,
                                   "found an anchor, expected plain data"
                                   WRITTEN_OUT("&"));
    if (tag != NULL || byte_at(reader, event->start_mark) == '!')
        return shmt_yaml_refuse_at(place, reader->err,
                                   "found a tag, expected plain data"
                                   BEGINS_WITH("!"));
    return SHMTUNE_OK;
}

static enum shmtune_status on_event(struct reader *reader,
                                    const yaml_event_t *event)
{
    enum shmtune_status status;

    switch (event->type) {
    case YAML_DOCUMENT_START_EVENT:
        return begin_document(reader, event);
    case YAML_DOCUMENT_END_EVENT:
        return end_document(reader, event);
    case YAML_SCALAR_EVENT:
        status = check_plain(reader, event, event->data.scalar.anchor,
                             event->data.scalar.tag);
        return status == SHMTUNE_OK ? add_scalar(reader, event) : status;
    case YAML_SEQUENCE_START_EVENT:
        status = check_plain(reader, event,
                             event->data.sequence_start.anchor,
                             event->data.sequence_start.tag);
        return status == SHMTUNE_OK
                   ? open_node(reader, SHMT_YAML_SEQUENCE, event)
                   : status;
    case YAML_MAPPING_START_EVENT:
        status = check_plain(reader, event, event->data.mapping_start.anchor,
                             event->data.mapping_start.tag);
        return status == SHMTUNE_OK
                   ? open_node(reader, SHMT_YAML_MAPPING, event)
                   : status;
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        return close_node(reader);
    case YAML_ALIAS_EVENT:
        return shmt_yaml_refuse_at(place_of(reader, event->start_mark),
                                   reader->err,
                                   "found an alias, expected plain data"
                                   WRITTEN_OUT("*"));
    case YAML_STREAM_END_EVENT:
        reader->done = true;
        return SHMTUNE_OK;
    default:
        return SHMTUNE_OK;
    }
}

/* What is not at the end of the file may be an expression: 'x' == A. */
static const char *hint_at_quotes(struct reader *reader)
{
    const yaml_parser_t *parser = &reader->parser;

    if (parser->problem == NULL ||
        strstr(parser->problem, "did not find expected") == NULL ||
        parser->problem_mark.index + 1 >= reader->size)
        return "";
    return "; a text that begins with a quote, or has brackets inside of "
           "brackets, has to be in quotes as a whole";
}

static enum shmtune_status refuse_syntax(struct reader *reader)
{
    const yaml_parser_t *parser = &reader->parser;
    const char *problem =
        parser->problem == NULL ? "not YAML" : parser->problem;
    struct shmt_place begun;

    if (parser->error == YAML_MEMORY_ERROR)
        return shmt_error_memory(reader->err);
    if (strstr(problem, "cannot start any token") != NULL &&
        byte_at(reader, parser->problem_mark) == '\t')
        problem = "found a tab, expected spaces";
    if (parser->context == NULL)
        return shmt_yaml_refuse_at(place_of(reader, parser->problem_mark),
                                   reader->err, "%s", problem);
    begun = place_of(reader, parser->context_mark);
    return shmt_yaml_refuse_at(place_of(reader, parser->problem_mark),
                               reader->err, "%s, %s at line %d%s", problem,
                               parser->context, begun.line,
                               hint_at_quotes(reader));
}

static enum shmtune_status read_events(struct reader *reader)
{
    enum shmtune_status status = SHMTUNE_OK;
    yaml_event_t event;

    for (long k = 0; status == SHMTUNE_OK && !reader->done; k++) {
        if (!yaml_parser_parse(&reader->parser, &event))
            return refuse_syntax(reader);
        if (k == EVENTS)
            status = shmt_yaml_refuse_at(
                place_of(reader, event.start_mark), reader->err,
                "found more than %d nodes, expected at most that", EVENTS);
        else
            status = on_event(reader, &event);
        yaml_event_delete(&event);
    }
    if (status != SHMTUNE_OK)
        return status;
    if (reader->root == NULL
        || (reader->root->kind == SHMT_YAML_SCALAR && !reader->root->quoted
            && reader->root->text[0] == '\0'))
        return shmt_yaml_refuse_at(reader->origin, reader->err,
                                   "found nothing, expected a document");
    return SHMTUNE_OK;
}

enum shmtune_status shmt_yaml_parse_from(struct shmt_arena *arena,
                                         const struct shmt_yaml_source *source,
                                         const struct shmt_yaml **out,
                                         struct shmt_error *err)
{
    struct reader reader = {.source = source,
                            .arena = arena,
                            .nodes = source->nodes == NULL ? arena
                                                           : source->nodes,
                            .origin = source->origin,
                            .data = source->data,
                            .size = source->size,
                            .pending_room = PENDING,
                            .must_end = source->ends,
                            .err = err};
    enum shmtune_status status;

    reader.pending = reader.few;
    if (source->size > FILE_BYTES)
        return shmt_yaml_refuse_at(source->origin, err,
                                   "found %zu bytes, expected at most %d",
                                   source->size, FILE_BYTES);
    status = check_bytes(&reader);
    if (status != SHMTUNE_OK)
        return status;
    if (source->stream != NULL)
        reader.items = shmt_arena_new();
    if ((source->stream != NULL && reader.items == NULL) ||
        !yaml_parser_initialize(&reader.parser)) {
        shmt_arena_free(reader.items);
        return shmt_error_memory(err);
    }
    yaml_parser_set_encoding(&reader.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&reader.parser,
                                 (const unsigned char *)source->data,
                                 source->size);
    status = read_events(&reader);
    if (status == SHMTUNE_OK)
        *out = reader.root;
    yaml_parser_delete(&reader.parser);
    shmt_arena_free(reader.items);
    if (reader.pending != reader.few)
        free(reader.pending);
    return status;
}

enum shmtune_status shmt_yaml_parse(struct shmt_arena *arena,
                                    const char *file, const char *data,
                                    size_t size, const struct shmt_yaml **out,
                                    struct shmt_error *err)
{
    struct shmt_yaml_source source = {
        {.line = 1, .column = 1}, .data = data, .size = size};

    source.origin.file = shmt_arena_copy(arena, file, strlen(file));
    if (source.origin.file == NULL)
        return shmt_error_memory(err);
    return shmt_yaml_parse_from(arena, &source, out, err);
}

const char *shmt_yaml_version(void)
{
    return yaml_get_version_string();
}
