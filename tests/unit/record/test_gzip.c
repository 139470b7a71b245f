/* SPDX-License-Identifier: MIT */
/* packed: what was written compressed is read, whole or not at all. */
#include "tests/support/check.h"
#include "tests/support/folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record/gzip.h"
#include "record/recording.h"

static const size_t limit = 1 << 20;
static char path[FOLDER_ROOM];
static struct shmt_error err;

static void write_file(const void *data, size_t size)
{
    FILE *const file = fopen(path, "wb");

    CHECK(file != NULL && fwrite(data, 1, size, file) == size);
    CHECK(file != NULL && fclose(file) == 0);
}

static char *read_file(size_t *size)
{
    static char data[1 << 16];
    FILE *const file = fopen(path, "rb");

    *size = file == NULL ? 0 : fread(data, 1, sizeof data, file);
    CHECK(file != NULL && fclose(file) == 0);
    CHECK(*size > 100 && *size < sizeof data);
    return data;
}

/* Longer than what zlib has in store at a time. */
static void make_text(struct shmt_text *text)
{
    shmt_text_clear(text);
    for (int k = 0; text->length < 40000; k++)
        shmt_text_addf(text, "- {config: {TILE: %d}, time_us: %d}\n", k % 97,
                       k * k % 1009);
    CHECK(!text->failed);
}

static enum shmtune_status read_packed(struct shmt_text *text)
{
    shmt_text_clear(text);
    err.text[0] = '\0';
    return shmt_gzip_read(path, NULL, limit, text, &err);
}

static void comes_back(void)
{
    struct shmt_text text = {0}, back = {0};
    char *data;
    size_t size;

    make_text(&text);
    CHECK_INT(shmt_recording_store(path, &text, &err), SHMTUNE_OK);
    CHECK_INT(read_packed(&back), SHMTUNE_OK);
    CHECK_INT(back.length, text.length);
    CHECK_TEXT(shmt_text_string(&back), shmt_text_string(&text));
    shmt_text_clear(&back);
    CHECK_INT(shmt_gzip_read(path, "TILE: 5}", limit, &back, &err),
              SHMTUNE_OK);
    CHECK_HAS(shmt_text_string(&back), "TILE: 5}");
    CHECK_INT(shmt_gzip_read(path, NULL, 30000, &back, &err),
              SHMTUNE_INVALID_FILE);

    /* One file behind the other is both; zeros behind it are padding. */
    data = read_file(&size);
    memcpy(data + size, data, size);
    write_file(data, 2 * size);
    CHECK_INT(read_packed(&back), SHMTUNE_OK);
    CHECK_INT(back.length, 2 * text.length);
    memset(data + size, 0, 512);
    write_file(data, size + 512);
    CHECK_INT(read_packed(&back), SHMTUNE_OK);
    CHECK_INT(back.length, text.length);

    write_file(text.data, text.length);
    CHECK_INT(read_packed(&back), SHMTUNE_OK);
    CHECK_TEXT(shmt_text_string(&back), shmt_text_string(&text));
    shmt_text_free(&text);
    shmt_text_free(&back);
}

/* Wherever the first of two ends in what the reader reads at a time: a name
 * in its header makes it as long as it has to be. */
static void what_follows_is_found(void)
{
    enum { AT_A_TIME = 8192, HEADER = 10, HAS_NAME = 8 };
    static char both[3 * AT_A_TIME];
    struct shmt_text text = {0}, back = {0};
    const char *data;
    size_t size;

    make_text(&text);
    CHECK_INT(shmt_recording_store(path, &text, &err), SHMTUNE_OK);
    data = read_file(&size);
    for (size_t end = AT_A_TIME - 3; end <= AT_A_TIME + 3; end++) {
        const size_t name = end - size;

        memcpy(both, data, HEADER);
        both[3] = HAS_NAME;
        memset(both + HEADER, 'x', name - 1);
        both[HEADER + name - 1] = '\0';
        memcpy(both + HEADER + name, data + HEADER, size - HEADER);
        memcpy(both + end, data, size);
        write_file(both, end + size);
        CHECK_INT(read_packed(&back), SHMTUNE_OK);
        CHECK_INT(back.length, 2 * text.length);
        memset(both + end, 0, 2);
        write_file(both, end + 1);
        CHECK_INT(read_packed(&back), SHMTUNE_OK);
        CHECK_INT(back.length, text.length);
    }
    shmt_text_free(&text);
    shmt_text_free(&back);
}

/* Bytes that are neither a member nor padding may be text that was meant. */
static void garbage_behind_it_is_refused(void)
{
    static const struct {
        const char *bytes;
        size_t count;
    } tails[] = {
        {"- {config: {TILE: 1}}\n", 22}, {"\0\0x", 3}, {"\x1f", 1},
        {"\x1f\x8b", 2}, {"\0\x1f\x8b\x08", 4}, {"\x1fgzip", 5},
    };
    struct shmt_text text = {0}, back = {0};
    char *data;
    size_t size;

    make_text(&text);
    CHECK_INT(shmt_recording_store(path, &text, &err), SHMTUNE_OK);
    data = read_file(&size);
    for (size_t k = 0; k < sizeof tails / sizeof *tails; k++) {
        memcpy(data + size, tails[k].bytes, tails[k].count);
        write_file(data, size + tails[k].count);
        CHECK_INT(read_packed(&back), SHMTUNE_INVALID_FILE);
        CHECK_HAS(err.text, path);
    }
    memset(data + size, 0, 20000);      /* more than is read at a time */
    data[size + 19999] = '!';
    write_file(data, size + 19999);
    CHECK_INT(read_packed(&back), SHMTUNE_OK);
    CHECK_INT(back.length, text.length);
    write_file(data, size + 20000);
    CHECK_INT(read_packed(&back), SHMTUNE_INVALID_FILE);
    CHECK_HAS(err.text, "0x21");
    CHECK_HAS(err.text, "compress the file again");
    shmt_text_free(&text);
    shmt_text_free(&back);
}

/* Also where the text so far fills the reader's buffers to the last byte. */
static void every_cut_is_seen(void)
{
    struct shmt_text text = {0}, back = {0};
    char *data;
    size_t size;

    make_text(&text);
    CHECK_INT(shmt_recording_store(path, &text, &err), SHMTUNE_OK);
    data = read_file(&size);
    for (size_t at = 2; at < size; at++) {
        write_file(data, at);
        if (read_packed(&back) != SHMTUNE_INVALID_FILE ||
            strstr(err.text, "its end is missing") == NULL) {
            printf("# cut at %zu of %zu: \"%s\"\n", at, size, err.text);
            CHECK(!"a cut is seen");
        }
    }
    data[size / 2] ^= 16;
    write_file(data, size);
    CHECK_INT(read_packed(&back), SHMTUNE_INVALID_FILE);
    CHECK_HAS(err.text, "damaged");
    shmt_text_free(&text);
    shmt_text_free(&back);
}

int main(void)
{
    char folder[FOLDER_ROOM];

    folder_make(folder);
    folder_path(path, folder, "packed.gz");
    CHECK_RUN(comes_back);
    CHECK_RUN(what_follows_is_found);
    CHECK_RUN(garbage_behind_it_is_refused);
    CHECK_RUN(every_cut_is_seen);
    folder_remove(folder);
    return CHECK_END();
}
