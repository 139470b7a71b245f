/* SPDX-License-Identifier: MIT */
/*
 * test_file: files that arguments are filled from: .npy and bare elements,
 * compressed or not, and what is wrong with each.
 */
#include <stdlib.h>

#include "data/data.h"
#include "record/record.h"
#include "tests/support/check.h"
#include "tests/support/folder.h"

static char folder[FOLDER_ROOM];
static struct shmt_error err;

/* What a sink was given. */
static struct {
    char bytes[1 << 16];
    uint64_t size;
    int parts;
} taken;

static enum shmtune_status take(void *context, void *bytes,
                                uint64_t offset, size_t size,
                                struct shmt_error *why)
{
    (void)context;
    (void)why;
    CHECK(offset == taken.size);
    CHECK_INT(offset % 16, 0);
    if (offset < sizeof taken.bytes)
        memcpy(taken.bytes + offset, bytes,
               size < sizeof taken.bytes - offset
                   ? size : sizeof taken.bytes - offset);
    taken.size += size;
    taken.parts++;
    return SHMTUNE_OK;
}

static void write_file(const char *name, const char *data, size_t size)
{
    char path[FOLDER_ROOM];
    struct shmt_text text = {0};
    const size_t length = strlen(name);

    folder_path(path, folder, name);
    shmt_text_add_bytes(&text, data, size);
    if (length > 3 && strcmp(name + length - 3, ".gz") == 0) {
        struct shmt_gzip_writer *writer = shmt_gzip_new();

        CHECK(writer != NULL);
        shmt_gzip_add(writer, &text);
        CHECK_INT(shmt_gzip_store(writer, path, &err), SHMTUNE_OK);
        shmt_gzip_free(writer);
    } else {
        CHECK_INT(shmt_path_write(path, shmt_text_string(&text), size, &err),
                  SHMTUNE_OK);
    }
    shmt_text_free(&text);
}

/* A .npy of this header and these elements. */
static void write_npy(const char *name, const char *header, const void *data,
                      size_t size)
{
    struct shmt_text text = {0};
    const size_t length = strlen(header);
    const char start[] = {'\x93', 'N', 'U', 'M', 'P', 'Y', 1, 0,
                          (char)(length & 0xff), (char)(length >> 8)};

    shmt_text_add_bytes(&text, start, sizeof start);
    shmt_text_add_bytes(&text, header, length);
    shmt_text_add_bytes(&text, data, size);
    write_file(name, text.data, text.length);
    shmt_text_free(&text);
}

static enum shmtune_status read_with(const char *name,
                                     struct shmt_fill_values values)
{
    char path[FOLDER_ROOM];
    const struct shmt_data_sink sink = {take, NULL};

    folder_path(path, folder, name);
    values.fill = SHMT_FILL_FILE;
    values.file = path;
    values.place = (struct shmt_place){"spec.yaml", 3, 9, 0};
    taken.size = 0;
    taken.parts = 0;
    err = (struct shmt_error){0};
    return shmt_data_read(&values, NULL, &sink, &err);
}

static enum shmtune_status read_as(const char *name,
                                   enum shmt_element element, uint64_t count)
{
    return read_with(name, (struct shmt_fill_values){.element = element,
                                                     .count = count});
}

static const float numbers[] = {1, -2.5f, 3e9f, 0, 5, 6};

static void elements_are_those_of_the_file(void)
{
    static const char header[] =
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }   \n";
    static const char *const names[] = {"a.npy", "a.npy.gz", "a.f32",
                                        "a.bin.gz", "npy"};

    write_npy("a.npy", header, numbers, sizeof numbers);
    write_npy("a.npy.gz", header, numbers, sizeof numbers);
    write_file("a.f32", (const char *)numbers, sizeof numbers);
    write_file("a.bin.gz", (const char *)numbers, sizeof numbers);
    write_file("npy", (const char *)numbers, sizeof numbers);
    for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
        CHECK_INT(read_as(names[k], SHMT_ELEMENT_F32, 6), SHMTUNE_OK);
        CHECK_TEXT(err.text, "");
        CHECK_INT(taken.size, sizeof numbers);
        CHECK(memcmp(taken.bytes, numbers, sizeof numbers) == 0);
    }
}

/* As numpy.save writes it, byte by byte. */
static void headers_are_numpys(void)
{
    struct shmt_text text = {0};
    struct shmt_npy npy;

    shmt_npy_write(SHMT_ELEMENT_F32, 3, &text);
    CHECK_INT(text.length, 128);
    CHECK(memcmp(text.data, "\x93NUMPY\1\0v\0{'descr': '<f4', "
                 "'fortran_order': False, 'shape': (3,), }   ", 70) == 0);
    CHECK(text.data[126] == ' ' && text.data[127] == '\n');
    for (int e = 0; e < SHMT_ELEMENT_COUNT; e++) {
        const struct shmt_fill_values values = {.element = e,
                                                .count = 123456789012};

        shmt_text_clear(&text);
        shmt_npy_write(e, 123456789012, &text);
        CHECK(text.length % 64 == 0);
        CHECK_INT(shmt_npy_read(text.data, text.length, &npy, &err),
                  SHMTUNE_OK);
        CHECK_INT(npy.bytes, text.length);
        CHECK_INT(npy.extent_count, 1);
        CHECK(npy.extents[0] == 123456789012);
        CHECK_INT(shmt_npy_check(&npy, &values, &err), SHMTUNE_OK);
    }
    shmt_text_free(&text);
}

#define HEAD(type, order, shape)                                             \
    "{'descr': '" type "', 'fortran_order': " order ", 'shape': " shape ", }"

/* Headers of other writers that are right, and the element. */
static void other_headers_are_read(void)
{
    static const struct {
        const char *header;
        enum shmt_element element;
    } rows[] = {
        {HEAD("|u1", "False", "(4,)"), SHMT_ELEMENT_U8},
        {HEAD("|V1", "False", "(4,)"), SHMT_ELEMENT_F8E4M3},
        {HEAD("|u1", "False", "(4,)"), SHMT_ELEMENT_F8E5M2},
        {HEAD("|b1", "False", "(2, 2)"), SHMT_ELEMENT_BOOL},
        {HEAD(">i1", "False", "(4, 1)"), SHMT_ELEMENT_I8},
        {HEAD("|u1", "False", "(4,)"), SHMT_ELEMENT_BYTES},
        {"{\"shape\": (4,), \"descr\": \"|i1\", \"fortran_order\": False}\n",
         SHMT_ELEMENT_I8},
        {"{'descr':'|i1','fortran_order':False,'shape':(1,1,4)}",
         SHMT_ELEMENT_I8},
    };

    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        write_npy("b.npy", rows[k].header, "\1\2\3\4", 4);
        CHECK_INT(read_as("b.npy", rows[k].element, 4), SHMTUNE_OK);
        CHECK_TEXT(err.text, "");
        CHECK_INT(taken.size, 4);
    }
    write_npy("b.npy", HEAD("|V2", "False", "(2,)"), "\1\2\3\4", 4);
    CHECK_INT(read_as("b.npy", SHMT_ELEMENT_BF16, 2), SHMTUNE_OK);
    write_npy("b.npy", HEAD("<u2", "False", "(2,)"), "\1\2\3\4", 4);
    CHECK_INT(read_as("b.npy", SHMT_ELEMENT_BF16, 2), SHMTUNE_OK);
    write_npy("b.npy", HEAD("<f4", "False", "()"), "\1\2\3\4", 4);
    CHECK_INT(read_as("b.npy", SHMT_ELEMENT_F32, 1), SHMTUNE_OK);
}

/* Six numbers of f32 are wanted. */
static void wrong_headers_are_refused(void)
{
    static const struct { const char *header, *message; } rows[] = {
        {HEAD("<f8", "False", "(6,)"),
         "has the dtype '<f8', the argument is of type f32; store "
         "a.astype('<f4')"},
        {HEAD(">f4", "False", "(6,)"),
         "has its bytes in the order \">\" (dtype '>f4'), the argument is "
         "little-endian; store a.astype('<f4')"},
        {HEAD("|V4", "False", "(6,)"), "has the dtype '|V4'"},
        {HEAD("<f4", "True", "(2, 3)"),
         "is in Fortran order, column by column; store "
         "numpy.ascontiguousarray(a)"},
        {HEAD("<f4", "False", "(3,)"),
         "has the shape (3,), 3 elements, the argument has 6"},
        {HEAD("<f4", "False", "(3, 0)"), "(3, 0), 0 elements"},
        {HEAD("<f4", "False", "()"), "has the shape (), 1 elements"},
        {HEAD("<f4", "False", "(1000000000000, 1000000000000)"), "elements"},
        {HEAD("<f4", "False", "(99999999999999999999,)"), "byte "},
        {HEAD("<f4", "False", "(6)"), "not one of an array of numbers"},
        {HEAD("<f4", "Maybe", "(6,)"), "not one of an array of numbers"},
        {"{'descr': '<f4', 'shape': (6,), }", "not one of an array"},
        {"{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, "
         "'shape': (6,), }", "not one of an array"},
        {"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (6,), }",
         "not one of an array"},
        {HEAD("<f4", "False", "(6,)") " x", "not one of an array"},
        {"", "not one of an array"},
    };

    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        write_npy("c.npy", rows[k].header, numbers, sizeof numbers);
        CHECK_INT(read_as("c.npy", SHMT_ELEMENT_F32, 6),
                  SHMTUNE_INVALID_FILE);
        CHECK_HAS(err.text, "spec.yaml:3:9: ");
        CHECK_HAS(err.text, "/c.npy ");
        CHECK_HAS(err.text, rows[k].message);
        CHECK_INT(taken.size, 0);
    }
}

static void shapes_can_be_stated(void)
{
    struct shmt_fill_values values = {.element = SHMT_ELEMENT_F32, .count = 6,
                                      .extent_count = 2, .extents = {2, 3}};

    write_npy("d.npy", HEAD("<f4", "False", "(2, 3)"), numbers,
              sizeof numbers);
    CHECK_INT(read_with("d.npy", values), SHMTUNE_OK);
    values.extents[0] = 3;
    values.extents[1] = 2;
    CHECK_INT(read_with("d.npy", values), SHMTUNE_INVALID_FILE);
    CHECK_HAS(err.text, "has the shape (2, 3), the spec says (3, 2)");
    values.extent_count = 1;
    values.extents[0] = 6;
    CHECK_INT(read_with("d.npy", values), SHMTUNE_INVALID_FILE);
    CHECK_HAS(err.text, "the spec says (6,)");
}

/* The file `from`, cut to `size` bytes, or with as many zeros behind it. */
static void write_cut(const char *from, const char *to, long change)
{
    char path[FOLDER_ROOM], data[4096] = {0};
    FILE *file;
    size_t size;

    folder_path(path, folder, from);
    file = fopen(path, "rb");
    CHECK(file != NULL);
    size = fread(data, 1, sizeof data / 2, file);
    fclose(file);
    folder_path(path, folder, to);
    CHECK_INT(shmt_path_write(path, data, (size_t)((long)size + change), &err),
              SHMTUNE_OK);
}

static void lengths_are_checked(void)
{
    static const struct {
        const char *from, *to;
        long change;
        const char *message;
    } rows[] = {
        {"a.f32", "cut.f32", -1, "has 23 bytes of elements, the argument has "
         "24: 6 of 4 bytes (f32)"},
        {"a.f32", "cut.f32", 1, "has more than 24 bytes of elements"},
        {"a.f32", "cut.f32", -24, "has 0 bytes"},
        {"a.npy", "cut.npy", -4, "has 20 bytes of elements"},
        {"a.npy", "cut.npy", 4, "has more than 24 bytes"},
        {"a.npy", "cut.npy", -30, "ends within its header, after "},
        {"a.npy", "cut.npy", -90, "does not begin as a .npy does"},
        {"a.bin.gz", "cut.bin.gz", -1, "its end is missing"},
        {"a.bin.gz", "cut.bin.gz", -10, "its end is missing"},
        {"a.npy.gz", "cut.npy.gz", -9, "its end is missing"},
        {"a.f32", "plain.gz", 0, "it does not begin as one"},
        {"a.bin.gz", "packed.f32", 0, "bytes of elements"},
        {"a.f32", "bare.npy", 0, "does not begin as a .npy does"},
        {"a.npy", "npy.f32", 0, "give it a name that ends in .npy"},
    };

    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        write_cut(rows[k].from, rows[k].to, rows[k].change);
        CHECK_INT(read_as(rows[k].to, SHMT_ELEMENT_F32, 6),
                  SHMTUNE_INVALID_FILE);
        CHECK_HAS(err.text, "spec.yaml:3:9: ");
        CHECK_HAS(err.text, rows[k].message);
        CHECK_HAS(err.text, rows[k].to);
    }
    CHECK_INT(read_as("absent.npy", SHMT_ELEMENT_F32, 6), SHMTUNE_STORAGE);
    CHECK_HAS(err.text, "spec.yaml:3:9: ");
    CHECK_HAS(err.text, "absent.npy");
    CHECK_INT(read_as(".", SHMT_ELEMENT_F32, 6), SHMTUNE_STORAGE);
}

static void large_files_come_in_parts(void)
{
    enum { SIZE = 5 << 20 };
    char *data = malloc(SIZE);

    if (data == NULL)
        abort();
    for (size_t k = 0; k < SIZE; k++)
        data[k] = (char)(k >> 7);
    write_file("large.bin.gz", data, SIZE);
    CHECK_INT(read_as("large.bin.gz", SHMT_ELEMENT_U8, SIZE), SHMTUNE_OK);
    CHECK_INT(taken.size, SIZE);
    CHECK(taken.parts >= 2);
    CHECK(memcmp(taken.bytes, data, sizeof taken.bytes) == 0);
    /* What is too long ends early. */
    CHECK_INT(read_as("large.bin.gz", SHMT_ELEMENT_U8, 7),
              SHMTUNE_INVALID_FILE);
    free(data);
}

/* The digest of files: what they hold, not how; their order, and each end. */
static void digest_of(const char *one, const char *other, char *out)
{
    char paths[2][FOLDER_ROOM];
    struct shmt_argument arguments[3] = {
        {.name = "a", .fill = SHMT_FILL_FILE, .file = {.path = paths[0]}},
        {.name = "b"},
        {.name = "c", .expect = {.path = paths[1]}}};
    const struct shmt_kernel kernel = {.arguments = arguments,
                                       .argument_count = 3};
    uint64_t bytes = 0;

    folder_path(paths[0], folder, one);
    folder_path(paths[1], folder, other);
    CHECK_INT(shmt_data_digest(&kernel, out, &bytes, &err), SHMTUNE_OK);
    CHECK(bytes > 0);
}

static void digests_are_of_what_is_read(void)
{
    char first[SHMT_DIGEST_TEXT], other[SHMT_DIGEST_TEXT];
    const struct shmt_kernel none = {0};
    uint64_t bytes = 7;

    digest_of("a.f32", "a.npy", first);
    CHECK_INT(strlen(first), 64);
    digest_of("a.bin.gz", "a.npy.gz", other);
    CHECK_TEXT(other, first);
    digest_of("a.npy", "a.f32", other);
    CHECK(strcmp(other, first) != 0);
    write_file("ab", "ab", 2);
    write_file("c", "c", 1);
    write_file("a", "a", 1);
    write_file("bc", "bc", 2);
    digest_of("ab", "c", first);
    digest_of("a", "bc", other);
    CHECK(strcmp(other, first) != 0);
    CHECK_INT(shmt_data_digest(&none, other, &bytes, &err), SHMTUNE_OK);
    CHECK_TEXT(other, "");
    CHECK_INT(bytes, 0);
}

int main(void)
{
    folder_make(folder);
    CHECK_RUN(elements_are_those_of_the_file);
    CHECK_RUN(headers_are_numpys);
    CHECK_RUN(other_headers_are_read);
    CHECK_RUN(wrong_headers_are_refused);
    CHECK_RUN(shapes_can_be_stated);
    CHECK_RUN(lengths_are_checked);
    CHECK_RUN(large_files_come_in_parts);
    CHECK_RUN(digests_are_of_what_is_read);
    folder_remove(folder);
    return CHECK_END();
}
