/* SPDX-License-Identifier: MIT */
/*
 * value: numbers, words and keys out of a tree that yaml.c has read,
 * and the messages for what is found instead.
 */
#include "yaml/yaml.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"

enum { WORD = 64, NUMBER = 64 };

static enum shmtune_status refuse(struct shmt_place place,
                                  struct shmt_error *err, const char *format,
                                  va_list arguments)
{
    char text[SHMT_ERROR_BYTES];

    shmt_error_format(text, sizeof text, 0, format, arguments);
    return shmt_error_set(err, SHMTUNE_INVALID_FILE, "%s:%d:%d: %s",
                          place.file == NULL ? "?" : place.file, place.line,
                          place.column, text);
}

enum shmtune_status shmt_yaml_refuse_at(struct shmt_place place,
                                        struct shmt_error *err,
                                        const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    refuse(place, err, format, arguments);
    va_end(arguments);
    return SHMTUNE_INVALID_FILE;
}

enum shmtune_status shmt_yaml_refuse(const struct shmt_yaml *node,
                                     struct shmt_error *err,
                                     const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    refuse(node->place, err, format, arguments);
    va_end(arguments);
    return SHMTUNE_INVALID_FILE;
}

enum shmtune_status shmt_yaml_expected(const struct shmt_yaml *node,
                                       struct shmt_error *err,
                                       const char *format, ...)
{
    char found[SHMT_YAML_QUOTED], expected[256];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(expected, sizeof expected, format, arguments);
    va_end(arguments);
    shmt_yaml_describe(node, found);
    return shmt_yaml_refuse(node, err, "found %s, expected %s", found,
                            expected);
}

const char *shmt_yaml_kind_text(enum shmt_yaml_kind kind)
{
    static const char *const texts[] = {
        [SHMT_YAML_SCALAR] = "text",
        [SHMT_YAML_SEQUENCE] = "sequence",
        [SHMT_YAML_MAPPING] = "mapping",
    };

    return texts[kind];
}

/* How many decimal digits stand at the front. */
static size_t digits(const char *text)
{
    size_t count = 0;

    while (text[count] >= '0' && text[count] <= '9')
        count++;
    return count;
}

/* -?(0|[1-9][0-9]*|0x[0-9A-Fa-f]+) */
static bool looks_int(const char *text)
{
    size_t count;

    text += *text == '-';
    if (text[0] == '0' && text[1] == 'x') {
        count = strspn(text + 2, "0123456789abcdefABCDEF");
        return count > 0 && text[2 + count] == '\0';
    }
    count = digits(text);
    return count > 0 && text[count] == '\0' && (count == 1 || *text != '0');
}

/* -?digits(.digits)?([eE][+-]?digits)? */
static bool looks_real(const char *text)
{
    size_t count;

    text += *text == '-';
    count = digits(text);
    if (count == 0 || (count > 1 && *text == '0'))
        return false;
    text += count;
    if (*text == '.') {
        count = digits(text + 1);
        if (count == 0)
            return false;
        text += 1 + count;
    }
    if (*text == 'e' || *text == 'E') {
        text += 1 + (text[1] == '+' || text[1] == '-');
        count = digits(text);
        if (count == 0)
            return false;
        text += count;
    }
    return *text == '\0';
}

/* Whether a quoted text would be a number without its quotes: the message then
 * has to mention the quotes. */
static bool looks_number(const char *text)
{
    return looks_int(text) || looks_real(text);
}

void shmt_yaml_quote(const char *text, char out[SHMT_YAML_QUOTED])
{
    const size_t room = SHMT_YAML_QUOTED - 6;   /* ..." and both quotes */
    const size_t size = strlen(text);
    size_t used = 0, i = 0, length;
    uint32_t code;

    out[used++] = '"';
    while (i < size) {
        length = shmt_utf8_decode(text + i, size - i, &code);
        if (used + (length == 0 ? 1 : length) > room)
            break;
        if (length == 0 || code < 0x20 || !shmt_utf8_printable(code)) {
            out[used++] = '?';
            i += length == 0 ? 1 : length;
        } else {
            memcpy(out + used, text + i, length);
            used += length;
            i += length;
        }
    }
    memcpy(out + used, i < size ? "...\"" : "\"", i < size ? 5 : 2);
}

void shmt_yaml_describe(const struct shmt_yaml *node,
                        char out[SHMT_YAML_QUOTED])
{
    if (node->kind != SHMT_YAML_SCALAR)
        snprintf(out, SHMT_YAML_QUOTED, "a %s",
                 shmt_yaml_kind_text(node->kind));
    else if (node->quoted && looks_number(node->text))
        snprintf(out, SHMT_YAML_QUOTED, "\"%.40s\" in quotes", node->text);
    else if (node->text[0] == '\0' && !node->quoted)
        snprintf(out, SHMT_YAML_QUOTED, "nothing");
    else
        shmt_yaml_quote(node->text, out);
}

const struct shmt_yaml *shmt_yaml_get(const struct shmt_yaml *mapping,
                                      const char *key)
{
    if (mapping->kind != SHMT_YAML_MAPPING)
        return NULL;
    for (size_t i = 0; i < mapping->count; i++)
        if (shmt_text_equal(mapping->keys[i]->text, key))
            return mapping->items[i];
    return NULL;
}

enum shmtune_status shmt_yaml_expect(const struct shmt_yaml *node,
                                     enum shmt_yaml_kind kind,
                                     const char *what, struct shmt_error *err)
{
    char found[SHMT_YAML_QUOTED];

    if (node->kind == kind)
        return SHMTUNE_OK;
    shmt_yaml_describe(node, found);
    return shmt_yaml_refuse(node, err, "%s: found %s, expected a %s", what,
                            found, shmt_yaml_kind_text(kind));
}

enum shmtune_status shmt_yaml_need(const struct shmt_yaml *mapping,
                                   const char *key,
                                   const struct shmt_yaml **out,
                                   struct shmt_error *err)
{
    const struct shmt_yaml *node;
    enum shmtune_status status =
        shmt_yaml_expect(mapping, SHMT_YAML_MAPPING, key, err);

    if (status != SHMTUNE_OK)
        return status;
    node = shmt_yaml_get(mapping, key);
    if (node == NULL)
        return shmt_yaml_refuse(mapping, err, "expected the key \"%s\" in "
                                "this mapping, it is missing", key);
    *out = node;
    return SHMTUNE_OK;
}

static bool to_int(const char *text, int64_t *out)
{
    const bool negative = *text == '-';
    const int base = text[negative] == '0' && text[negative + 1] == 'x' ? 16
                                                                        : 10;
    int64_t value = 0;

    for (text += negative + (base == 16 ? 2 : 0); *text != '\0'; text++) {
        int digit = *text <= '9' ? *text - '0' : (*text | 0x20) - 'a' + 10;

        digit = negative ? -digit : digit;
        if (__builtin_mul_overflow(value, base, &value) ||
            __builtin_add_overflow(value, digit, &value))
            return false;
    }
    *out = value;
    return true;
}

static bool read_int(const char *text, int64_t *out)
{
    return looks_int(text) && to_int(text, out);
}

/* Up to 15 digits, no exponent: most there are.  Both numbers are exact, so
 * that their quotient is rounded as strtod rounds. */
static bool to_short_real(const char *text, double *out)
{
    const bool negative = *text == '-';
    double value = 0, scale = 1;
    bool fraction = false;
    int count = 0;

    for (text += negative; *text != '\0'; text++) {
        if (*text == '.') {
            fraction = true;
            continue;
        }
        if (*text < '0' || *text > '9' || ++count > 15)
            return false;
        value = 10 * value + (*text - '0');
        scale *= fraction ? 10 : 1;
    }
    *out = (negative ? -value : value) / scale;
    return true;
}

static bool to_real(const char *text, double *out)
{
    double value;

    if (to_short_real(text, out))
        return true;
    value = strlen(text) > NUMBER ? (double)NAN : shmt_text_real(text);
    if (!isfinite(value))
        return false;
    *out = value;
    return true;
}

static bool is_plain(const struct shmt_yaml *node)
{
    return node->kind == SHMT_YAML_SCALAR && !node->quoted;
}

static enum shmtune_status refuse_int(const struct shmt_yaml *node,
                                      int64_t low, int64_t high,
                                      struct shmt_error *err)
{
    char found[SHMT_YAML_QUOTED];

    shmt_yaml_describe(node, found);
    if (high == INT64_MAX && low == INT64_MIN)
        return shmt_yaml_refuse(node, err, "found %s, expected an integer of "
                                "64 bits", found);
    if (high == INT64_MAX)
        return shmt_yaml_refuse(node, err, "found %s, expected an integer "
                                "from %" PRId64 " up", found, low);
    return shmt_yaml_refuse(node, err, "found %s, expected an integer from "
                            "%" PRId64 " to %" PRId64, found, low, high);
}

enum shmtune_status shmt_yaml_int(const struct shmt_yaml *node, int64_t low,
                                  int64_t high, int64_t *out,
                                  struct shmt_error *err)
{
    int64_t value;

    if (!is_plain(node) || !read_int(node->text, &value) || value < low
        || value > high)
        return refuse_int(node, low, high, err);
    *out = value;
    return SHMTUNE_OK;
}

enum shmtune_status shmt_yaml_count(const struct shmt_yaml *node,
                                    uint64_t *out, struct shmt_error *err)
{
    uintmax_t value = 0;

    errno = is_plain(node) && looks_int(node->text) && *node->text != '-'
                ? 0
                : EINVAL;
    if (errno == 0)
        value = strtoumax(node->text, NULL,
                          strchr(node->text, 'x') == NULL ? 10 : 16);
    if (errno == 0 && value <= UINT64_MAX) {
        *out = value;
        return SHMTUNE_OK;
    }
    return shmt_yaml_expected(node, err, "an integer from 0 to 2^64 - 1");
}

enum shmtune_status shmt_yaml_real(const struct shmt_yaml *node, double *out,
                                   struct shmt_error *err)
{
    if (is_plain(node) && looks_real(node->text)
        && to_real(node->text, out))
        return SHMTUNE_OK;
    return shmt_yaml_expected(node, err, "a finite number");
}

enum shmtune_status shmt_yaml_bool(const struct shmt_yaml *node, bool *out,
                                   struct shmt_error *err)
{
    if (is_plain(node) && (strcmp(node->text, "true") == 0
                           || strcmp(node->text, "false") == 0)) {
        *out = node->text[0] == 't';
        return SHMTUNE_OK;
    }
    return shmt_yaml_expected(node, err, "true or false");
}

bool shmt_yaml_is_word(const char *text)
{
    static const char inside[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                 "abcdefghijklmnopqrstuvwxyz_0123456789.-";
    const size_t length = strspn(text, inside);

    return length > 0 && length <= WORD && text[length] == '\0' &&
           strchr("0123456789.-", text[0]) == NULL;
}

enum shmtune_status shmt_yaml_word(const struct shmt_yaml *node,
                                   const char **out, struct shmt_error *err)
{
    if (node->kind == SHMT_YAML_SCALAR && shmt_yaml_is_word(node->text)) {
        *out = node->text;
        return SHMTUNE_OK;
    }
    return shmt_yaml_expected(node, err,
                              "a word (a letter or _, then at most %d of "
                              "letters, digits, _ . -)", WORD - 1);
}

static bool is_line(const char *text, size_t limit)
{
    const size_t size = strlen(text);
    size_t length;
    uint32_t code;

    if (size == 0 || size > limit)
        return false;
    for (size_t i = 0; i < size; i += length) {
        length = shmt_utf8_decode(text + i, size - i, &code);
        if (length == 0 || code < 0x20 || !shmt_utf8_printable(code))
            return false;
    }
    return true;
}

enum shmtune_status shmt_yaml_text(const struct shmt_yaml *node, size_t limit,
                                   const char **out, struct shmt_error *err)
{
    if (node->kind == SHMT_YAML_SCALAR && is_line(node->text, limit)) {
        *out = node->text;
        return SHMTUNE_OK;
    }
    return shmt_yaml_expected(node, err,
                              "1 to %zu bytes of printable text", limit);
}

enum shmtune_status shmt_yaml_value(const struct shmt_yaml *node,
                                    struct shmt_value *out,
                                    struct shmt_error *err)
{
    struct shmt_value value;

    if (is_plain(node) && read_int(node->text, &value.i)) {
        value.type = SHMT_VALUE_INT;
    } else if (is_plain(node) && !looks_int(node->text)
               && looks_real(node->text) && to_real(node->text, &value.r)) {
        value.type = SHMT_VALUE_REAL;
    } else if (node->kind == SHMT_YAML_SCALAR
               && (shmt_yaml_is_word(node->text)
                   || (node->quoted && is_line(node->text, WORD)))) {
        value.type = SHMT_VALUE_WORD;
        value.w = node->text;
    } else {
        return shmt_yaml_expected(node, err,
                                  "an integer of 64 bits, a finite number or a "
                                  "word");
    }
    *out = value;
    return SHMTUNE_OK;
}
