/* SPDX-License-Identifier: MIT */
/*
 * import_node: a strict reader of JSON (RFC 8259), and of the NaN and Infinity
 * that Python's module json writes into it, for files of many entries.
 * It reads the entries one at a time, so that memory holds one of them and not
 * a tree of all, and keeps the text of each value, so that numbers can be kept
 * as the file has them.  Called by import.c and the importers.
 *
 * Members that occur twice are refused.  More than a few are known by their
 * hash of 64 bits: that two differ and have the same is not to be expected.
 */
#include "exchange/import_node.h"

#include <ctype.h>
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH = 100, FEW = 24 };

static enum shmtune_status refuse(const struct shmt_import_reader *reader,
                                  const char *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static enum shmtune_status refuse(const struct shmt_import_reader *reader,
                                  const char *at, const char *format, ...)
{
    const char *line = reader->text;
    size_t number = 1;
    char message[400];
    va_list arguments;

    for (const char *c = reader->text; c < at; c++)
        if (*c == '\n') {
            number++;
            line = c + 1;
        }
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    return shmt_error_set(reader->err, SHMTUNE_INVALID_FILE, "%s:%zu:%zu: %s",
                          reader->file, number, (size_t)(at - line) + 1,
                          message);
}

/* "found X, expected Y", or that the text ends here. */
static enum shmtune_status expected(const struct shmt_import_reader *reader,
                                    const char *what)
{
    const char *const at = reader->at;

    if (at == reader->end)
        return refuse(reader, at, "the file ends where %s is expected: it is "
                                  "cut, or no JSON", what);
    if (isprint((unsigned char)*at))
        return refuse(reader, at, "found '%c', expected %s", *at, what);
    return refuse(reader, at, "found the byte 0x%02x, expected %s",
                  (unsigned char)*at, what);
}

static void skip_blanks(struct shmt_import_reader *reader)
{
    while (reader->at < reader->end &&
           (*reader->at == ' ' || *reader->at == '\n' || *reader->at == '\t' ||
            *reader->at == '\r'))
        reader->at++;
}

static bool skip_byte(struct shmt_import_reader *reader, char byte)
{
    if (reader->at == reader->end || *reader->at != byte)
        return false;
    reader->at++;
    return true;
}

/* -- strings --------------------------------------------------------------- */

/* Four hexadecimal digits behind "\u"; false: there are none. */
static bool read_hex(struct shmt_import_reader *reader, uint32_t *out)
{
    *out = 0;
    for (int k = 0; k < 4; k++, reader->at++) {
        if (reader->at == reader->end ||
            !isxdigit((unsigned char)*reader->at))
            return false;
        *out = 16 * *out +
               (uint32_t)(isdigit((unsigned char)*reader->at)
                              ? *reader->at - '0'
                              : (*reader->at | 0x20) - 'a' + 10);
    }
    return true;
}

static char *put_utf8(char *to, uint32_t code)
{
    static const unsigned char heads[] = {0, 0, 0xc0, 0xe0, 0xf0};
    const int bytes = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3
                                                                          : 4;

    for (int k = bytes - 1; k > 0; k--) {
        to[k] = (char)(0x80 | (code & 0x3f));
        code >>= 6;
    }
    to[0] = (char)(bytes == 1 ? code : heads[bytes] | code);
    return to + bytes;
}

/* The character of "\n" or "\u20ac", behind the backslash. */
static enum shmtune_status read_escape(struct shmt_import_reader *reader,
                                       char **to)
{
    static const char letters[] = "\"\\/bfnrt", means[] = "\"\\/\b\f\n\r\t";
    const char *const from = reader->at;
    const char *const letter =
        from < reader->end && *from != '\0' ? strchr(letters, *from) : NULL;
    uint32_t code, low;

    if (letter != NULL) {
        *(*to)++ = means[letter - letters];
        reader->at++;
        return SHMTUNE_OK;
    }
    if (!skip_byte(reader, 'u') || !read_hex(reader, &code))
        return refuse(reader, from, "an escape that JSON does not have");
    if (code >= 0xd800 && code < 0xdc00) {
        if (!skip_byte(reader, '\\') || !skip_byte(reader, 'u') ||
            !read_hex(reader, &low) || low < 0xdc00 || low > 0xdfff)
            return refuse(reader, from, "one half of a surrogate pair");
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    } else if (code == 0 || (code >= 0xdc00 && code < 0xe000)) {
        return refuse(reader, from, "\\u%04x cannot be in a text",
                      (unsigned)code);
    }
    *to = put_utf8(*to, code);
    return SHMTUNE_OK;
}

/* The text between quotes, copied into the arena.  No escape is shorter than
 * what it stands for. */
static enum shmtune_status read_string(struct shmt_import_reader *reader,
                                       struct shmt_arena *arena,
                                       const char **out)
{
    const char *const from = ++reader->at;
    enum shmtune_status status = SHMTUNE_OK;
    const char *close = from;
    bool escaped = false;
    char *copy, *to;

    while (close < reader->end && *close != '"') {
        escaped |= *close == '\\' || (unsigned char)*close >= 0x80;
        if ((unsigned char)*close < 0x20) {
            reader->at = close;
            return expected(reader, "a character of a text");
        }
        close += *close == '\\' && close + 1 < reader->end ? 2 : 1;
    }
    if (close >= reader->end) {
        reader->at = reader->end;
        return expected(reader, "the quote that ends a text");
    }
    *out = copy = to = shmt_arena_copy(arena, from, (size_t)(close - from));
    if (copy == NULL)
        return shmt_error_memory(reader->err);
    reader->at = escaped ? from : close;
    while (reader->at < close && status == SHMTUNE_OK) {
        uint32_t code;
        const size_t length = shmt_utf8_decode(
            reader->at, (size_t)(close - reader->at), &code);

        if (length == 0)
            return refuse(reader, reader->at, "a text that is not UTF-8");
        if (code == '\\') {
            reader->at++;
            status = read_escape(reader, &to);
        } else {
            memcpy(to, reader->at, length);
            to += length;
            reader->at += length;
        }
    }
    if (escaped)
        *to = '\0';
    reader->at = close + 1;
    return status;
}

/* -- numbers --------------------------------------------------------------- */

/* By way of a double's 53 bits and an exact power of ten, where both suffice
 * (Clinger 1990); else by strtod. */
static double real_of(const char *from, const char *to)
{
    static const double tens[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,
                                  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                  1e12, 1e13, 1e14, 1e15, 1e16, 1e17,
                                  1e18, 1e19, 1e20, 1e21, 1e22};
    const bool minus = *from == '-';
    const char *at = from + minus;
    char copy[SHMT_TEXT_NUMBER];
    uint64_t mantissa = 0;
    int below = 0;

    for (bool point = false; at < to && mantissa < UINT64_C(1) << 53; at++) {
        if (*at == '.' && !point)
            point = true;
        else if (isdigit((unsigned char)*at))
            mantissa = 10 * mantissa + (uint64_t)(*at - '0'), below += point;
        else
            break;
    }
    if (at == to && mantissa <= UINT64_C(1) << 53 && below <= 22)
        return (minus ? -1.0 : 1.0) * ((double)mantissa / tens[below]);
    if ((size_t)(to - from) >= sizeof copy)
        return (double)NAN;
    memcpy(copy, from, (size_t)(to - from));
    copy[to - from] = '\0';
    return shmt_text_real(copy);
}

static size_t count_digits(const struct shmt_import_reader *reader)
{
    size_t count = 0;

    while (reader->at + count < reader->end &&
           isdigit((unsigned char)reader->at[count]))
        count++;
    return count;
}

static enum shmtune_status read_number(struct shmt_import_reader *reader,
                                       struct shmt_import_node *node)
{
    const bool minus = skip_byte(reader, '-');
    const char *const first = reader->at;
    size_t digits = count_digits(reader);
    uint64_t value = 0;
    bool fine = digits > 0 && (digits == 1 || *first != '0');
    bool power = false;

    for (size_t k = 0; k < digits && k < 19; k++)
        value = 10 * value + (uint64_t)(first[k] - '0');
    reader->at += digits;
    node->type = SHMT_IMPORT_INTEGER;
    if (fine && skip_byte(reader, '.')) {
        node->type = SHMT_IMPORT_REAL;
        fine = (digits = count_digits(reader)) > 0;
        reader->at += digits;
    }
    if (fine && reader->at < reader->end && (*reader->at | 0x20) == 'e') {
        node->type = SHMT_IMPORT_REAL;
        power = true;
        reader->at++;
        if (!skip_byte(reader, '-'))
            skip_byte(reader, '+');
        fine = (digits = count_digits(reader)) > 0;
        reader->at += digits;
    }
    if (!fine)
        return refuse(reader, node->from, "a number that JSON does not have");
    node->number = minus ? -(int64_t)value : (int64_t)value;
    if (node->type == SHMT_IMPORT_INTEGER)
        fine = digits < 19 || (digits == 19 && value <= INT64_MAX);
    else if (power || reader->at - node->from > DBL_MAX_10_EXP)
        fine = isfinite(real_of(node->from, reader->at));
    return fine ? SHMTUNE_OK
                : refuse(reader, node->from, "a number that is too large");
}

/* -- values ---------------------------------------------------------------- */

static enum shmtune_status read_value(struct shmt_import_reader *reader,
                                      struct shmt_arena *arena, int depth,
                                      struct shmt_import_node *node);

static bool is_list(const char *key, const char *const *lists)
{
    for (; lists != NULL && *lists != NULL; lists++)
        if (strcmp(*lists, key) == 0)
            return true;
    return false;
}

/* Behind the bracket that closes what opens here, as far as brackets and
 * quotes tell; NULL when nothing closes it. */
static const char *find_close(const char *at, const char *end)
{
    size_t depth = 0;

    for (; at < end; at++) {
        if (*at == '"') {
            for (at++; at < end && *at != '"'; at++)
                at += *at == '\\';
        } else if (*at == '{' || *at == '[') {
            depth++;
        } else if ((*at == '}' || *at == ']') && --depth == 0) {
            return at + 1;
        }
    }
    return NULL;
}

/* "key": value, or an item where `keys` is false.  The value is only looked
 * for when its key is one of `lists`. */
static enum shmtune_status read_one(struct shmt_import_reader *reader,
                                    struct shmt_arena *arena, int depth,
                                    const char *const *lists,
                                    struct shmt_import_node *node)
{
    enum shmtune_status status;
    const char *close;

    if (node->key_from != NULL) {
        if (reader->at == reader->end || *reader->at != '"')
            return expected(reader, "a name in quotes");
        status = read_string(reader, arena, &node->key);
        if (status != SHMTUNE_OK)
            return status;
        skip_blanks(reader);
        if (!skip_byte(reader, ':'))
            return expected(reader, "':'");
        skip_blanks(reader);
    }
    if (node->key == NULL || !is_list(node->key, lists) ||
        reader->at == reader->end ||
        (*reader->at != '{' && *reader->at != '['))
        return read_value(reader, arena, depth, node);
    node->type = *reader->at == '{' ? SHMT_IMPORT_OBJECT : SHMT_IMPORT_ARRAY;
    node->from = reader->at;
    close = find_close(reader->at, reader->end);
    reader->cut = close == NULL;
    reader->at = node->to = close == NULL ? reader->end : close;
    return SHMTUNE_OK;
}

/* Whether a member of this key came before; it is added to `map` when there are
 * more than a few. */
static enum shmtune_status
refuse_duplicate(const struct shmt_import_reader *reader,
                 const struct shmt_import_node *parent,
                 const struct shmt_import_node *one, struct shmt_map *map)
{
    const uint64_t hash = shmt_map_hash_bytes(one->key, strlen(one->key));
    const struct shmt_import_node *other = parent->first;
    bool twice = false;

    for (size_t k = 0; k < parent->count && k < FEW && !twice;
         k++, other = other->next)
        twice = shmt_text_equal(other->key, one->key);
    if (parent->count >= FEW) {
        twice |= shmt_map_find(map, hash) != SHMT_MAP_NONE;
        if (!twice && !shmt_map_add(map, hash, 0))
            return shmt_error_memory(reader->err);
    }
    return twice ? refuse(reader, one->key_from, "\"%.80s\" is there twice",
                          one->key)
                 : SHMTUNE_OK;
}

/* An object or an array, at its opening bracket. */
static enum shmtune_status read_items(struct shmt_import_reader *reader,
                                      struct shmt_arena *arena, int depth,
                                      const char *const *lists,
                                      struct shmt_import_node *node)
{
    const bool keys = *reader->at++ == '{';
    const char close = keys ? '}' : ']';
    const struct shmt_import_node **last = &node->first;
    struct shmt_map map = {0};
    enum shmtune_status status = SHMTUNE_OK;

    node->type = keys ? SHMT_IMPORT_OBJECT : SHMT_IMPORT_ARRAY;
    skip_blanks(reader);
    if (skip_byte(reader, close))
        return SHMTUNE_OK;
    do {
        struct shmt_import_node *const one =
            shmt_arena_alloc(arena, 1, sizeof *one);

        if (one == NULL) {
            status = shmt_error_memory(reader->err);
            break;
        }
        skip_blanks(reader);
        one->key_from = keys ? reader->at : NULL;
        status = read_one(reader, arena, depth, lists, one);
        if (status == SHMTUNE_OK && keys)
            status = refuse_duplicate(reader, node, one, &map);
        *last = one;
        last = (const struct shmt_import_node **)&one->next;
        node->count++;
        skip_blanks(reader);
    } while (status == SHMTUNE_OK && skip_byte(reader, ','));
    shmt_map_free(&map);
    /* A list that the text ends within ends what it is in. */
    if (status != SHMTUNE_OK || skip_byte(reader, close) || reader->cut)
        return status;
    return expected(reader, keys ? "',' or '}'" : "',' or ']'");
}

/* What is no number of JSON, and read as null. */
static const char *const not_finite[] = {"NaN", "Infinity", "-Infinity"};

/* The length of one of these words; 0: there is none. */
static size_t find_not_finite(const char *at, const char *end)
{
    if (at == end || (*at != 'N' && *at != 'I' && *at != '-'))
        return 0;
    for (size_t k = 0; k < sizeof not_finite / sizeof *not_finite; k++) {
        const size_t length = strlen(not_finite[k]);

        if ((size_t)(end - at) >= length &&
            memcmp(at, not_finite[k], length) == 0)
            return length;
    }
    return 0;
}

static enum shmtune_status read_literal(struct shmt_import_reader *reader,
                                        struct shmt_import_node *node)
{
    static const struct {
        const char *word;
        enum shmt_import_type type;
    } literals[] = {{"true", SHMT_IMPORT_TRUE}, {"false", SHMT_IMPORT_FALSE},
                    {"null", SHMT_IMPORT_NULL}};
    const size_t other = find_not_finite(reader->at, reader->end);

    if (other > 0) {
        reader->at += other;
        node->type = SHMT_IMPORT_NULL;
        return SHMTUNE_OK;
    }
    for (size_t k = 0; k < sizeof literals / sizeof *literals; k++) {
        const size_t length = strlen(literals[k].word);

        if ((size_t)(reader->end - reader->at) < length ||
            memcmp(reader->at, literals[k].word, length) != 0)
            continue;
        reader->at += length;
        node->type = literals[k].type;
        return SHMTUNE_OK;
    }
    return expected(reader, "a value");
}

static enum shmtune_status read_value(struct shmt_import_reader *reader,
                                      struct shmt_arena *arena, int depth,
                                      struct shmt_import_node *node)
{
    const char first = reader->at == reader->end ? '\0' : *reader->at;
    enum shmtune_status status;

    node->from = reader->at;
    if (first == '{' || first == '[')
        status = depth == DEPTH
                     ? refuse(reader, reader->at, "more than %d brackets "
                                                  "within each other", DEPTH)
                     : read_items(reader, arena, depth + 1, NULL, node);
    else if (first == '"')
        status = read_string(reader, arena, &node->word);
    else if (isdigit((unsigned char)first) ||
             (first == '-' &&
              find_not_finite(reader->at, reader->end) == 0))
        status = read_number(reader, node);
    else
        status = read_literal(reader, node);
    if (first == '"')
        node->type = SHMT_IMPORT_STRING;
    node->to = reader->at;
    return status;
}

enum shmtune_status
shmt_import_node_read(struct shmt_import_reader *reader,
                      struct shmt_arena *arena, const char *const *lists,
                      const struct shmt_import_node **out)
{
    static const char mark[] = "\xef\xbb\xbf";    /* of UTF-8 */
    struct shmt_import_node *const node =
        shmt_arena_alloc(arena, 1, sizeof *node);
    enum shmtune_status status;

    if (node == NULL)
        return shmt_error_memory(reader->err);
    reader->at = reader->text;
    if (reader->end - reader->at >= 3 && memcmp(reader->at, mark, 3) == 0)
        reader->at += 3;
    skip_blanks(reader);
    if (reader->at == reader->end || *reader->at != '{')
        return expected(reader, "'{': a T1 search space, a Kernel Tuner "
                                "cache, T4 results or results of KTT or "
                                "CLBlast");
    node->from = reader->at;
    status = read_items(reader, arena, 1, lists, node);
    node->to = reader->at;
    skip_blanks(reader);
    if (status == SHMTUNE_OK && reader->at < reader->end)
        status = expected(reader, "the end of the file");
    *out = node;
    return status;
}

void shmt_import_node_enter(struct shmt_import_reader *reader,
                            const struct shmt_import_node *list)
{
    reader->at = list->from + 1;
    reader->keys = list->type == SHMT_IMPORT_OBJECT;
    reader->taken = 0;
    shmt_map_clear(&reader->seen);
}

/* Whether another item follows, and goes there. */
static enum shmtune_status find_next(struct shmt_import_reader *reader,
                                     bool *more)
{
    const char close = reader->keys ? '}' : ']';

    skip_blanks(reader);
    *more = !skip_byte(reader, close);
    if (*more && reader->taken > 0 && reader->at < reader->end &&
        !skip_byte(reader, ','))
        return expected(reader, reader->keys ? "',' or '}'" : "',' or ']'");
    skip_blanks(reader);
    /* Kernel Tuner leaves a cache open while it tunes. */
    if (*more && reader->cut && reader->keys && reader->at == reader->end)
        *more = false;
    return SHMTUNE_OK;
}

enum shmtune_status
shmt_import_node_next(struct shmt_import_reader *reader,
                      struct shmt_arena *arena,
                      const struct shmt_import_node **out)
{
    struct shmt_import_node *node;
    enum shmtune_status status;
    uint64_t hash;
    bool more;

    *out = NULL;
    status = find_next(reader, &more);
    if (status != SHMTUNE_OK || !more)
        return status;
    node = shmt_arena_alloc(arena, 1, sizeof *node);
    if (node == NULL)
        return shmt_error_memory(reader->err);
    node->key_from = reader->keys ? reader->at : NULL;
    status = read_one(reader, arena, 2, NULL, node);
    if (status != SHMTUNE_OK)
        return status;
    if (reader->keys) {
        hash = shmt_map_hash_bytes(node->key, strlen(node->key));
        if (shmt_map_find(&reader->seen, hash) != SHMT_MAP_NONE)
            return refuse(reader, node->key_from, "\"%.80s\" is there twice",
                          node->key);
        if (!shmt_map_add(&reader->seen, hash, 0))
            return shmt_error_memory(reader->err);
    }
    reader->taken++;
    *out = node;
    return SHMTUNE_OK;
}

void shmt_import_node_leave(struct shmt_import_reader *reader)
{
    shmt_map_free(&reader->seen);
}

/* -- what is in a node ----------------------------------------------------- */

const struct shmt_import_node *
shmt_import_get(const struct shmt_import_node *object, const char *key)
{
    const struct shmt_import_node *one = object == NULL ? NULL : object->first;

    while (one != NULL && (one->key == NULL || !shmt_text_equal(one->key, key)))
        one = one->next;
    return one;
}

bool shmt_import_is(const struct shmt_import_node *node,
                         enum shmt_import_type type)
{
    return node != NULL && node->type == type;
}

bool shmt_import_is_number(const struct shmt_import_node *node)
{
    return shmt_import_is(node, SHMT_IMPORT_INTEGER) ||
           shmt_import_is(node, SHMT_IMPORT_REAL);
}

bool shmt_import_is_truth(const struct shmt_import_node *node)
{
    return shmt_import_is(node, SHMT_IMPORT_TRUE) ||
           shmt_import_is(node, SHMT_IMPORT_FALSE);
}

double shmt_import_number(const struct shmt_import_node *node)
{
    if (!shmt_import_is_number(node))
        return 0.0;
    return node->type == SHMT_IMPORT_INTEGER ? (double)node->number
                                             : real_of(node->from, node->to);
}

const char *shmt_import_word(const struct shmt_import_node *node)
{
    return shmt_import_is(node, SHMT_IMPORT_STRING) ? node->word : NULL;
}

void shmt_import_write_member(const struct shmt_import_node *node,
                                   struct shmt_text *text)
{
    const char *const end = node->to;
    const char *from = node->key_from;

    for (const char *at = from; at <= end; at++) {
        const size_t other = find_not_finite(at, end);

        if (at < end && *at == '"') {
            for (at++; *at != '"'; at++)
                at += *at == '\\';
        } else if (other > 0) {
            shmt_text_add_bytes(text, from, (size_t)(at - from));
            shmt_text_add(text, "null");
            from = at + other;
            at = from - 1;
        } else if (at == end || *at == ' ' || *at == '\n' || *at == '\t' ||
                   *at == '\r') {
            shmt_text_add_bytes(text, from, (size_t)(at - from));
            from = at + 1;
        }
    }
}
