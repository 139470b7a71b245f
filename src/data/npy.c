/* SPDX-License-Identifier: MIT */
/*
 * npy: reads and writes the header of a .npy (NumPy's own description,
 * numpy.lib.format): a magic number, a version, the length of what follows, and
 * a Python dictionary of three keys.  Of Python no more is read than that.
 * Called by file.c and by the command `data`.
 */
#include "data/npy.h"

#include <inttypes.h>
#include <string.h>

static const char magic[] = "\x93NUMPY";
enum { MAGIC = sizeof magic - 1, ALIGNMENT = 64 };

/* The types by which an element is known in a file, without the order of its
 * bytes; the first is written.  NumPy has no type for some: their bits. */
static const char *const types[SHMT_ELEMENT_COUNT][2] = {
    [SHMT_ELEMENT_F16] = {"f2"}, [SHMT_ELEMENT_BF16] = {"u2", "V2"},
    [SHMT_ELEMENT_F8E4M3] = {"u1", "V1"}, [SHMT_ELEMENT_F8E5M2] = {"u1", "V1"},
    [SHMT_ELEMENT_F32] = {"f4"}, [SHMT_ELEMENT_F64] = {"f8"},
    [SHMT_ELEMENT_I8] = {"i1"}, [SHMT_ELEMENT_U8] = {"u1"},
    [SHMT_ELEMENT_I16] = {"i2"}, [SHMT_ELEMENT_U16] = {"u2"},
    [SHMT_ELEMENT_I32] = {"i4"}, [SHMT_ELEMENT_U32] = {"u4"},
    [SHMT_ELEMENT_I64] = {"i8"}, [SHMT_ELEMENT_U64] = {"u8"},
    [SHMT_ELEMENT_BOOL] = {"b1"}, [SHMT_ELEMENT_BYTES] = {"u1", "V1"},
};

/* -- reading -------------------------------------------------------------- */

bool shmt_npy_begins(const void *data, size_t size)
{
    return size >= MAGIC && memcmp(data, magic, MAGIC) == 0;
}

enum shmtune_status shmt_npy_size(const void *data, size_t size, size_t *out,
                                  struct shmt_error *err)
{
    const unsigned char *bytes = data;
    size_t start, length;

    if (!shmt_npy_begins(data, size) || size < SHMT_NPY_START)
        return shmt_error_set(err, SHMTUNE_INVALID_FILE,
                              "does not begin as a .npy does; write it with "
                              "numpy.save");
    if (bytes[MAGIC] < 1 || bytes[MAGIC] > 3)
        return shmt_error_set(err, SHMTUNE_INVALID_FILE,
                              "is a .npy of version %d.%d; 1 to 3 are known",
                              bytes[MAGIC], bytes[MAGIC + 1]);
    start = MAGIC + 2 + (bytes[MAGIC] == 1 ? 2 : 4);
    length = bytes[MAGIC + 2] | (size_t)bytes[MAGIC + 3] << 8;
    if (bytes[MAGIC] > 1)
        length |= (size_t)bytes[MAGIC + 4] << 16 |
                  (size_t)bytes[MAGIC + 5] << 24;
    if (length > SHMT_NPY_HEADER - start)
        return shmt_error_set(err, SHMTUNE_INVALID_FILE,
                              "has a header of %zu bytes; at most %zu are "
                              "read, those of an array of numbers have 118",
                              length, SHMT_NPY_HEADER - start);
    *out = start + length;
    return SHMTUNE_OK;
}

/* What is left of a header. */
struct cursor {
    const char *at, *begin, *end;
};

static void skip_blanks(struct cursor *cursor)
{
    while (cursor->at < cursor->end &&
           (*cursor->at == ' ' || *cursor->at == '\n'))
        cursor->at++;
}

/* Whether this character comes next, behind blanks; then it is passed. */
static bool pass(struct cursor *cursor, char c)
{
    skip_blanks(cursor);
    if (cursor->at == cursor->end || *cursor->at != c)
        return false;
    cursor->at++;
    return true;
}

static bool pass_word(struct cursor *cursor, const char *word)
{
    const size_t length = strlen(word);

    skip_blanks(cursor);
    if ((size_t)(cursor->end - cursor->at) < length ||
        memcmp(cursor->at, word, length) != 0)
        return false;
    cursor->at += length;
    return true;
}

static bool read_string(struct cursor *cursor, char *out, size_t room)
{
    const char quote = pass(cursor, '\'') ? '\'' : '"';
    size_t length = 0;

    if (quote == '"' && !pass(cursor, '"'))
        return false;
    while (cursor->at < cursor->end && *cursor->at != quote) {
        const char c = *cursor->at++;

        if (c < ' ' || c > '~' || c == '\\' || length + 1 == room)
            return false;
        out[length++] = c;
    }
    out[length] = '\0';
    return pass(cursor, quote);
}

static bool read_extent(struct cursor *cursor, uint64_t *out)
{
    uint64_t number = 0;
    bool any = false;

    skip_blanks(cursor);
    for (; cursor->at < cursor->end && *cursor->at >= '0' &&
           *cursor->at <= '9'; any = true) {
        if (number > (UINT64_C(1) << 59))
            return false;
        number = 10 * number + (uint64_t)(*cursor->at++ - '0');
    }
    *out = number;
    return any;
}

/* "()", "(3,)", "(3, 4)". */
static bool read_shape(struct cursor *cursor, struct shmt_npy *out)
{
    out->extent_count = 0;
    if (!pass(cursor, '('))
        return false;
    while (!pass(cursor, ')')) {
        if (out->extent_count == SHMT_NPY_EXTENTS ||
            !read_extent(cursor, &out->extents[out->extent_count++]))
            return false;
        if (!pass(cursor, ',')) {
            if (out->extent_count == 1)
                return false;
            return pass(cursor, ')');
        }
    }
    return true;
}

static bool read_value(struct cursor *cursor, const char *key,
                       struct shmt_npy *out, unsigned *seen)
{
    static const char *const keys[] = {"descr", "fortran_order", "shape"};
    unsigned k = 0;

    while (k < 3 && strcmp(keys[k], key) != 0)
        k++;
    if (k == 3 || (*seen & 1u << k) != 0)
        return false;
    *seen |= 1u << k;
    if (k == 0)
        return read_string(cursor, out->type, sizeof out->type);
    if (k == 2)
        return read_shape(cursor, out);
    out->column_major = pass_word(cursor, "True");
    return out->column_major || pass_word(cursor, "False");
}

/* {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), } */
static bool read_dictionary(struct cursor *cursor, struct shmt_npy *out)
{
    char key[SHMT_NPY_TYPE];
    unsigned seen = 0;

    if (!pass(cursor, '{'))
        return false;
    while (!pass(cursor, '}'))
        if (!read_string(cursor, key, sizeof key) || !pass(cursor, ':') ||
            !read_value(cursor, key, out, &seen) ||
            (!pass(cursor, ',') &&
             (cursor->at == cursor->end || *cursor->at != '}')))
            return false;
    skip_blanks(cursor);
    return seen == 7 && cursor->at == cursor->end;
}

enum shmtune_status shmt_npy_read(const void *data, size_t size,
                                  struct shmt_npy *out,
                                  struct shmt_error *err)
{
    struct shmt_npy npy = {0};
    struct cursor cursor = {.begin = data};
    size_t bytes;
    const enum shmtune_status status = shmt_npy_size(data, size, &bytes, err);

    if (status != SHMTUNE_OK)
        return status;
    if (size < bytes)
        return shmt_error_set(err, SHMTUNE_INVALID_FILE,
                              "ends within its header, after %zu of %zu bytes",
                              size, bytes);
    cursor.at = cursor.begin + (cursor.begin[MAGIC] == 1 ? 10 : 12);
    cursor.end = cursor.begin + bytes;
    if (!read_dictionary(&cursor, &npy))
        return shmt_error_set(err, SHMTUNE_INVALID_FILE,
                              "has a header that is not one of an array of "
                              "numbers (byte %td of it); write it with "
                              "numpy.save", cursor.at - cursor.begin);
    npy.bytes = bytes;
    *out = npy;
    return SHMTUNE_OK;
}

/* -- checking ------------------------------------------------------------- */

static enum shmtune_status check_type(const struct shmt_npy *npy,
                                      enum shmt_element element,
                                      struct shmt_error *err)
{
    const char *const word = shmt_element_word(element);
    const char *const wanted = types[element][0];
    const bool single = shmt_element_bytes(element) == 1;
    const char order = npy->type[0];

    for (size_t k = 0; k < 2 && types[element][k] != NULL; k++) {
        if (order == '\0' || strcmp(npy->type + 1, types[element][k]) != 0)
            continue;
        if (order == '<' || single || (order == '|' && types[element][k][0] ==
                                                           'V'))
            return SHMTUNE_OK;
        return shmt_error_set(err, SHMTUNE_INVALID_FILE,
                              "has its bytes in the order \"%c\" (dtype '%s'), "
                              "the argument is little-endian; store "
                              "a.astype('<%s')", order, npy->type, wanted);
    }
    return shmt_error_set(err, SHMTUNE_INVALID_FILE,
                          "has the dtype '%s', the argument is of type %s; "
                          "store a.astype('%c%s')%s", npy->type, word,
                          single ? '|' : '<', wanted,
                          strchr("uV", wanted[0]) != NULL && word[0] != 'u'
                              ? ", its bits" : "");
}

static void describe_shape(const struct shmt_npy *npy, struct shmt_text *text)
{
    shmt_text_add(text, "(");
    for (size_t k = 0; k < npy->extent_count; k++)
        shmt_text_addf(text, "%s%" PRIu64, k == 0 ? "" : ", ",
                       npy->extents[k]);
    shmt_text_add(text, npy->extent_count == 1 ? ",)" : ")");
}

/* UINT64_MAX for more than there can be. */
static uint64_t count_of(const struct shmt_npy *npy)
{
    uint64_t count = 1;

    for (size_t k = 0; k < npy->extent_count; k++)
        if (npy->extents[k] == 0)
            return 0;
    for (size_t k = 0; k < npy->extent_count; k++) {
        if (count > UINT64_MAX / npy->extents[k])
            return UINT64_MAX;
        count *= npy->extents[k];
    }
    return count;
}

static bool same_shape(const struct shmt_npy *npy,
                       const struct shmt_fill_values *values)
{
    bool same = npy->extent_count == values->extent_count;

    for (size_t k = 0; same && k < npy->extent_count; k++)
        same = npy->extents[k] == values->extents[k];
    return same;
}

static enum shmtune_status check_shape(const struct shmt_npy *npy,
                                       const struct shmt_fill_values *values,
                                       struct shmt_error *err)
{
    const bool stated = values->extent_count > 0;
    struct shmt_npy wanted = {.extent_count = values->extent_count};
    struct shmt_text text = {0};
    enum shmtune_status status;

    if (stated ? same_shape(npy, values) : count_of(npy) == values->count)
        return SHMTUNE_OK;
    shmt_text_add(&text, "has the shape ");
    describe_shape(npy, &text);
    memcpy(wanted.extents, values->extents, sizeof values->extents);
    if (stated) {
        shmt_text_add(&text, ", the spec says ");
        describe_shape(&wanted, &text);
    } else {
        shmt_text_addf(&text, ", %" PRIu64 " elements, the argument has "
                       "%" PRIu64, count_of(npy), values->count);
    }
    shmt_text_add(&text, "; choose the size of the file, or another file");
    status = text.failed ? shmt_error_memory(err)
                         : shmt_error_set(err, SHMTUNE_INVALID_FILE, "%s",
                                          text.data);
    shmt_text_free(&text);
    return status;
}

enum shmtune_status shmt_npy_check(const struct shmt_npy *npy,
                                   const struct shmt_fill_values *values,
                                   struct shmt_error *err)
{
    enum shmtune_status status = check_type(npy, values->element, err);

    if (status == SHMTUNE_OK && npy->column_major)
        status = shmt_error_set(err, SHMTUNE_INVALID_FILE,
                                "is in Fortran order, column by column; store "
                                "numpy.ascontiguousarray(a)");
    if (status == SHMTUNE_OK)
        status = check_shape(npy, values, err);
    return status;
}

/* -- writing -------------------------------------------------------------- */

void shmt_npy_write(enum shmt_element element, uint64_t count,
                    struct shmt_text *text)
{
    struct shmt_text header = {0};
    unsigned char start[MAGIC + 4] = {0};
    size_t length;

    shmt_text_addf(&header, "{'descr': '%c%s', 'fortran_order': False, "
                   "'shape': (%" PRIu64 ",), }",
                   shmt_element_bytes(element) == 1 ? '|' : '<',
                   types[element][0], count);
    while ((sizeof start + header.length + 1) % ALIGNMENT != 0 &&
           !header.failed)
        shmt_text_add(&header, " ");
    shmt_text_add(&header, "\n");
    length = header.length;
    memcpy(start, magic, MAGIC);
    start[MAGIC] = 1;
    start[MAGIC + 2] = (unsigned char)length;
    start[MAGIC + 3] = (unsigned char)(length >> 8);
    shmt_text_add_bytes(text, start, sizeof start);
    shmt_text_add_bytes(text, shmt_text_string(&header), length);
    text->failed |= header.failed;
    shmt_text_free(&header);
}
