/* SPDX-License-Identifier: MIT */
/*
 * pack: reads a folder that lies in memory.  Numbers are written in one way,
 * names are sorted, and each file begins where the one before ends, so that
 * no two files share bytes and each content is one sequence of bytes.
 *
 * Open packs stand in a table without a lock: a slot is taken and given back
 * by one atomic exchange, so that a fork at any moment leaves it usable.
 */
#include "base/pack.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/digest.h"

#define MAGIC "shmtune pack/"
#define ROOT "memory:"

enum {
    DIGEST = SHMT_DIGEST_TEXT - 1,
    /* "DIGEST 0 0 n\n" */
    LEAST_LINE = DIGEST + 7
};

struct file {
    const char *name;         /* in the table, as the digest */
    const char *digest;
    const char *data;
    size_t size;
    uint32_t length;          /* of the name */
};

_Static_assert(sizeof(struct file) <= LEAST_LINE,
               "what is kept of a table is not larger than the table");

struct shmt_pack {
    char root[SHMT_PACK_ROOT];
    size_t slot;
    const char *bytes;        /* the whole pack */
    size_t count;
    struct file *files;       /* sorted by name */
};

static _Atomic(struct shmt_pack *) slots[SHMT_PACK_OPEN];

/* -- the table ------------------------------------------------------------ */

/* What is left to read. */
struct cursor {
    const char *at, *end;
};

static bool take_word(struct cursor *in, const char *word)
{
    const size_t length = strlen(word);

    if ((size_t)(in->end - in->at) < length ||
        memcmp(in->at, word, length) != 0)
        return false;
    in->at += length;
    return true;
}

/* Digits without a zero before them, and what ends them. */
static bool take_number(struct cursor *in, char stop, size_t *out)
{
    const char *const begin = in->at;
    size_t number = 0;

    while (in->at < in->end && *in->at >= '0' && *in->at <= '9') {
        const size_t digit = (size_t)(*in->at++ - '0');

        if (number > (SIZE_MAX - digit) / 10)
            return false;
        number = number * 10 + digit;
    }
    if (in->at == begin || (*begin == '0' && in->at - begin > 1) ||
        in->at == in->end || *in->at++ != stop)
        return false;
    *out = number;
    return true;
}

static bool take_digest(struct cursor *in, char stop, const char **out)
{
    char text[SHMT_DIGEST_TEXT];

    if (in->end - in->at <= DIGEST || in->at[DIGEST] != stop)
        return false;
    memcpy(text, in->at, DIGEST);
    text[DIGEST] = '\0';
    if (!shmt_digest_valid(text))
        return false;
    *out = in->at;
    in->at += DIGEST + 1;
    return true;
}

static void digest_of(const char *data, size_t size,
                      char text[SHMT_DIGEST_TEXT])
{
    struct shmt_digest digest;

    shmt_digest_begin(&digest);
    shmt_digest_add(&digest, data, size);
    shmt_digest_end(&digest, text);
}

static bool has_digest(const char *data, size_t size, const char *expected)
{
    char text[SHMT_DIGEST_TEXT];

    digest_of(data, size, text);
    return memcmp(text, expected, DIGEST) == 0;
}

static int compare(const char *a, size_t a_length, const char *b,
                   size_t b_length)
{
    const int order =
        memcmp(a, b, a_length < b_length ? a_length : b_length);

    return order != 0 ? order : (a_length > b_length) - (a_length < b_length);
}

static bool is_component(const char *text, size_t length)
{
    if (length == 0 || (length == 1 && text[0] == '.') ||
        (length == 2 && text[0] == '.' && text[1] == '.'))
        return false;
    for (size_t k = 0; k < length; k++)
        if ((unsigned char)text[k] < ' ' || text[k] == 0x7f)
            return false;
    return true;
}

bool shmt_pack_is_name(const char *name, size_t length)
{
    size_t begin = 0;

    if (length > SHMT_PACK_NAME)
        return false;
    for (size_t k = 0; k <= length; k++)
        if (k == length || name[k] == '/') {
            if (!is_component(name + begin, k - begin))
                return false;
            begin = k + 1;
        }
    return true;
}

/* The header's numbers, in its order. */
struct header {
    size_t files, table, data;
    const char *digest;
};

static enum shmtune_status read_header(struct cursor *in, size_t size,
                                       struct header *out,
                                       struct shmt_error *err)
{
    const char *const begin = in->at;
    char found[SHMT_DIGEST_TEXT];
    size_t version;

    if (!take_word(in, MAGIC) || !take_number(in, ' ', &version))
        return shmt_error_set(err, SHMTUNE_INVALID_FILE,
                              "the %zu bytes are no pack, which begins with "
                              "\"" MAGIC "1 \"; make one with \"shmtune pack "
                              "DIR -o FILE\"", size);
    if (version != 1)
        return shmt_error_set(err, SHMTUNE_INVALID_FILE,
                              "the pack is of version %zu, this library reads "
                              "version 1; update the library", version);
    if (!take_number(in, ' ', &out->files) ||
        !take_number(in, ' ', &out->table) ||
        !take_number(in, ' ', &out->data) ||
        !take_digest(in, '\n', &out->digest))
        return shmt_error_set(err, SHMTUNE_INVALID_FILE,
                              "the first line of the pack is damaged at byte "
                              "%td: expected the number of files, the bytes "
                              "of the table and of the files, and a digest; "
                              "make the pack again", in->at - begin);
    version = (size_t)(in->at - begin);
    if (out->table > SIZE_MAX - version ||
        out->data > SIZE_MAX - version - out->table ||
        size != version + out->table + out->data)
        return shmt_error_set(err, SHMTUNE_INVALID_FILE,
                              "the pack says that it has %zu + %zu + %zu "
                              "bytes, and %zu were given: all of them are "
                              "needed, and no more", version, out->table,
                              out->data, size);
    digest_of(in->at, out->table, found);
    if (memcmp(found, out->digest, DIGEST) != 0)
        return shmt_error_set(err, SHMTUNE_INVALID_FILE,
                              "the table of the pack is damaged: the digest "
                              "of bytes %zu to %zu is %.12s..., expected "
                              "%.12s...; make the pack again", version,
                              version + out->table, found, out->digest);
    if (out->files > out->table / LEAST_LINE)
        return shmt_error_set(err, SHMTUNE_INVALID_FILE,
                              "the pack says that it has %zu files, and its "
                              "table has %zu bytes, too few for so many",
                              out->files, out->table);
    return SHMTUNE_OK;
}

/* One line of the table; `expected` is where its file has to begin, and
 * becomes where the next one has to. */
static bool read_line(struct cursor *in, const struct header *header,
                      size_t *expected, struct file *out)
{
    const char *end;
    size_t offset;

    if (!take_digest(in, ' ', &out->digest) ||
        !take_number(in, ' ', &offset) || !take_number(in, ' ', &out->size) ||
        offset != *expected || out->size > header->data - offset)
        return false;
    end = memchr(in->at, '\n', (size_t)(in->end - in->at));
    if (end == NULL || !shmt_pack_is_name(in->at, (size_t)(end - in->at)))
        return false;
    out->name = in->at;
    out->length = (uint32_t)(end - in->at);
    out->data = in->end + offset;
    *expected += out->size;
    in->at = end + 1;
    return true;
}

static enum shmtune_status read_table(struct cursor *in,
                                      const struct header *header,
                                      struct shmt_pack *pack,
                                      struct shmt_error *err)
{
    size_t next = 0;

    in->end = in->at + header->table;
    pack->files = calloc(header->files + 1, sizeof *pack->files);
    if (pack->files == NULL)
        return shmt_error_memory(err);
    for (; pack->count < header->files; pack->count++) {
        struct file *const file = &pack->files[pack->count];

        if (!read_line(in, header, &next, file) ||
            (pack->count > 0 &&
             compare(file[-1].name, file[-1].length, file->name,
                     file->length) >= 0))
            return shmt_error_set(err, SHMTUNE_INVALID_FILE,
                                  "line %zu of the pack is wrong: found no "
                                  "digest, offset %zu, size and name behind "
                                  "the name before; make the pack again",
                                  pack->count + 2, next);
    }
    if (in->at != in->end || next != header->data)
        return shmt_error_set(err, SHMTUNE_INVALID_FILE,
                              "the %zu files of the pack take %zu of its %zu "
                              "bytes; make the pack again", header->files,
                              next, header->data);
    return SHMTUNE_OK;
}

/* -- opening -------------------------------------------------------------- */

static enum shmtune_status take_slot(struct shmt_pack *pack,
                                     struct shmt_error *err)
{
    for (size_t k = 0; k < SHMT_PACK_OPEN; k++) {
        struct shmt_pack *none = NULL;

        pack->slot = k;
        snprintf(pack->root, sizeof pack->root, ROOT "%zu", k);
        if (atomic_compare_exchange_strong(&slots[k], &none, pack))
            return SHMTUNE_OK;
    }
    pack->slot = SHMT_PACK_OPEN;
    return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                          "%d packs are open, the most there may be; close "
                          "one", SHMT_PACK_OPEN);
}

enum shmtune_status shmt_pack_open(const void *bytes, size_t size,
                                   struct shmt_pack **out,
                                   struct shmt_error *err)
{
    struct shmt_pack *const pack = calloc(1, sizeof *pack);
    struct cursor in = {bytes, (const char *)bytes + size};
    struct header header;
    enum shmtune_status status;

    if (pack == NULL)
        return shmt_error_memory(err);
    pack->slot = SHMT_PACK_OPEN;
    pack->bytes = bytes;
    status = read_header(&in, size, &header, err);
    if (status == SHMTUNE_OK)
        status = read_table(&in, &header, pack, err);
    if (status == SHMTUNE_OK)
        status = take_slot(pack, err);
    if (status == SHMTUNE_OK)
        *out = pack;
    else
        shmt_pack_close(pack);
    return status;
}

void shmt_pack_close(struct shmt_pack *pack)
{
    if (pack == NULL)
        return;
    if (pack->slot < SHMT_PACK_OPEN)
        atomic_store(&slots[pack->slot], NULL);
    free(pack->files);
    free(pack);
}

const char *shmt_pack_root(const struct shmt_pack *pack)
{
    return pack->root;
}

/* -- examining ------------------------------------------------------------ */

size_t shmt_pack_count(const struct shmt_pack *pack)
{
    return pack->count;
}

void shmt_pack_examine(const struct shmt_pack *pack, size_t k,
                       struct shmt_pack_entry *out)
{
    const struct file *const file = &pack->files[k];

    *out = (struct shmt_pack_entry){
        .length = file->length, .data = file->data, .size = file->size,
        .offset = (size_t)(file->data - pack->bytes)};
    memcpy(out->name, file->name, file->length);
    memcpy(out->expected, file->digest, DIGEST);
    digest_of(file->data, file->size, out->found);
}

/* -- looking up ----------------------------------------------------------- */

/* Adds the components of a path to the name, without looking at what is
 * there. */
static bool add_components(const char *path, struct shmt_pack_place *place)
{
    while (*path != '\0') {
        const size_t length = strcspn(path, "/");

        if (length == 2 && memcmp(path, "..", 2) == 0) {
            if (place->length == 0)
                return false;
            while (place->length > 0 &&
                   place->name[--place->length] != '/')
                ;
        } else if (length > 0 && !(length == 1 && path[0] == '.')) {
            const bool slash = place->length > 0;

            if (place->length + slash + length > SHMT_PACK_NAME)
                return false;
            place->name[place->length] = '/';
            memcpy(place->name + place->length + slash, path, length);
            place->length += slash + length;
        }
        path += length + (path[length] == '/');
    }
    return true;
}

bool shmt_pack_find(const char *path, struct shmt_pack_place *place)
{
    struct cursor in = {path, NULL};
    size_t slot;
    char digits[8];

    if (strncmp(path, ROOT, sizeof ROOT - 1) != 0)
        return false;
    in.at += sizeof ROOT - 1;
    slot = strcspn(in.at, "/");
    if (slot >= sizeof digits - 1)
        return false;
    memcpy(digits, in.at, slot);
    memcpy(digits + slot, "/", 2);
    path = in.at + slot;
    in = (struct cursor){digits, digits + slot + 1};
    if (!take_number(&in, '/', &slot) || slot >= SHMT_PACK_OPEN)
        return false;
    place->pack = atomic_load(&slots[slot]);
    if (place->pack == NULL)
        return false;
    place->length = 0;
    place->inside = add_components(path, place);
    place->name[place->length] = '\0';
    return true;
}

/* The first file whose name is not before this one. */
static size_t first_from(const struct shmt_pack *pack, const char *name,
                         size_t length)
{
    size_t low = 0, high = pack->count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const struct file *const file = &pack->files[middle];

        if (compare(file->name, file->length, name, length) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static const struct file *file_at(const struct shmt_pack_place *place)
{
    const size_t k =
        place->inside ? first_from(place->pack, place->name, place->length)
                      : place->pack->count;
    const struct file *const file = &place->pack->files[k];

    return k < place->pack->count &&
                   compare(file->name, file->length, place->name,
                           place->length) == 0
               ? file : NULL;
}

/* The first file in a folder, by number, and the bytes before what its name
 * has there. */
static size_t first_in(const struct shmt_pack_place *place, size_t *before)
{
    char name[SHMT_PACK_NAME + 2];

    memcpy(name, place->name, place->length);
    name[place->length] = '/';
    *before = place->length > 0 ? place->length + 1 : 0;
    return place->inside ? first_from(place->pack, name, *before)
                         : place->pack->count;
}

static bool is_in(const struct shmt_pack_place *place, size_t k,
                  size_t before)
{
    const struct file *const file = &place->pack->files[k];

    return k < place->pack->count && file->length > before &&
           (before == 0 ||
            (memcmp(file->name, place->name, before - 1) == 0 &&
             file->name[before - 1] == '/'));
}

bool shmt_pack_has_file(const struct shmt_pack_place *place)
{
    return file_at(place) != NULL;
}

bool shmt_pack_has_folder(const struct shmt_pack_place *place)
{
    size_t before;
    const size_t first = first_in(place, &before);

    return place->inside && (place->length == 0 ||
                             is_in(place, first, before));
}

bool shmt_pack_list(const struct shmt_pack_place *place,
                    bool (*name)(void *context, const char *text,
                                 size_t length),
                    void *context)
{
    size_t before, last_length = 0;
    const char *last = "";

    for (size_t k = first_in(place, &before); is_in(place, k, before); k++) {
        const struct file *const file = &place->pack->files[k];
        const char *const text = file->name + before;
        const char *const slash = memchr(text, '/', file->length - before);
        const size_t length = slash != NULL ? (size_t)(slash - text)
                                            : file->length - before;

        if (compare(text, length, last, last_length) == 0)
            continue;
        if (!name(context, text, length))
            return false;
        last = text;
        last_length = length;
    }
    return true;
}

enum shmtune_status shmt_pack_read(struct shmt_arena *arena,
                                   const struct shmt_pack_place *place,
                                   const char *path, size_t limit,
                                   const char **data, size_t *size,
                                   struct shmt_error *err)
{
    const struct file *const file = file_at(place);
    char *bytes;

    if (file == NULL)
        return shmt_error_set(err, SHMTUNE_NOT_FOUND, "%s: the pack has no "
                              "such file", path);
    if (file->size > limit)
        return shmt_error_set(err, SHMTUNE_STORAGE, "%s: found %zu bytes, "
                              "expected at most %zu", path, file->size, limit);
    bytes = shmt_arena_alloc_raw(arena, file->size + 1);
    if (bytes == NULL)
        return shmt_error_memory(err);
    memcpy(bytes, file->data, file->size);
    bytes[file->size] = '\0';
    if (!has_digest(bytes, file->size, file->digest))
        return shmt_error_set(err, SHMTUNE_STORAGE, "%s: its bytes are "
                              "damaged: their digest is not the one in the "
                              "pack's table; make the pack again", path);
    *data = bytes;
    *size = file->size;
    return SHMTUNE_OK;
}
