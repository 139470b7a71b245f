/* SPDX-License-Identifier: MIT */
/*
 * The messages between courier and relay: what is written is read again, names
 * lead nowhere else, nothing is longer than it may be; and the store of a
 * relay, whose files are what their digests say.
 */
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "target/far.h"
#include "target/far_store.h"
#include "tests/support/check.h"
#include "tests/support/folder.h"

static struct shmt_error err;

/* -- names ---------------------------------------------------------------- */

static void names_stay_in_their_folders(void)
{
    static const char *const good[] = {
        "tree/a", "tree/home/u/my kernel.yaml", "images/ab.cubin",
        "images/answers/ab.out.npy", "tree/a..b/c", "tree/-x"};
    static const char *const bad[] = {
        "", "/", "tree", "tree/", "/etc/passwd", "tree//a", "tree/a/",
        "tree/../a", "tree/a/../../b", "tree/./a", "tree/.profile",
        "images/.x", "tree/..", "other/a", "treex/a", "tree/a\nb", "tree/\x7f",
        "../tree/a", "images/../tree/a"};
    char longest[SHMT_FAR_NAME + 8];

    for (size_t k = 0; k < sizeof good / sizeof *good; k++)
        CHECK(shmt_far_name_valid(good[k]));
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++)
        CHECK(!shmt_far_name_valid(bad[k]));
    memset(longest, 'a', sizeof longest);
    memcpy(longest, "tree/", 5);
    longest[SHMT_FAR_NAME] = '\0';
    CHECK(!shmt_far_name_valid(longest));
    longest[SHMT_FAR_NAME - 1] = '\0';
    CHECK(shmt_far_name_valid(longest));
}

/* -- orders --------------------------------------------------------------- */

static char digest[SHMT_DIGEST_TEXT], other[SHMT_DIGEST_TEXT];

static void digest_of(const char *text, char out[SHMT_DIGEST_TEXT])
{
    struct shmt_digest sum;

    shmt_digest_begin(&sum);
    shmt_digest_add(&sum, text, strlen(text));
    shmt_digest_end(&sum, out);
}

static void orders_are_read_as_written(void)
{
    const char *const both[] = {digest, other};
    const struct shmt_far_order orders[] = {
        {.kind = SHMT_FAR_HAVE, .count = 2, .digests = both},
        {.kind = SHMT_FAR_PUT, .digest = digest, .bytes = 1u << 30},
        {.kind = SHMT_FAR_LAY, .digest = digest, .name = "tree/a b/x.cu"},
        {.kind = SHMT_FAR_OPEN, .name = "tree/x.yaml", .data_seed = 7,
         .data_digest = "", .compiler = "13000:0:0:"},
        {.kind = SHMT_FAR_ASK, .tag = 8, .seconds = 12.5,
         .request = "{verb: measure, tag: 8, config: {A: \"x\"}}"},
        {.kind = SHMT_FAR_RESTART}, {.kind = SHMT_FAR_BEAT}};
    struct shmt_arena *const arena = shmt_arena_new();

    for (size_t k = 0; k < sizeof orders / sizeof *orders; k++) {
        struct shmt_text text = {0};
        struct shmt_far_order read;

        shmt_far_write_order(&orders[k], &text);
        CHECK_INT(shmt_far_read_order(arena, text.data, text.length, &read,
                                      &err), SHMTUNE_OK);
        CHECK_INT(read.kind, orders[k].kind);
        CHECK_INT(read.count, orders[k].count);
        CHECK_INT(read.bytes, orders[k].bytes);
        CHECK_INT(read.tag, orders[k].tag);
        CHECK(read.seconds == orders[k].seconds);
        if (orders[k].name != NULL)
            CHECK(strcmp(read.name, orders[k].name) == 0);
        if (orders[k].request != NULL)
            CHECK(strcmp(read.request, orders[k].request) == 0);
        if (orders[k].count == 2)
            CHECK(strcmp(read.digests[1], other) == 0);
        shmt_text_free(&text);
    }
    shmt_arena_free(arena);
}

static void check_refused(const char *line, const char *because)
{
    struct shmt_arena *const arena = shmt_arena_new();
    struct shmt_far_order read;

    CHECK_INT(shmt_far_read_order(arena, line, strlen(line), &read, &err),
              SHMTUNE_INVALID_FILE);
    CHECK_HAS(err.text, because);
    shmt_arena_free(arena);
}

static void odd_orders_are_refused(void)
{
    char line[256];

    check_refused("{run: rm}", "none of the orders");
    check_refused("[beat]", "found a sequence");
    check_refused("{put: abc, bytes: 1}", "is no digest");
    snprintf(line, sizeof line, "{put: \"%s\", bytes: 1099511627777}", digest);
    check_refused(line, "a file of 1099511627777 bytes");
    snprintf(line, sizeof line, "{lay: \"%s\", name: tree/../../x}", digest);
    check_refused(line, "is no name of a file");
    snprintf(line, sizeof line, "{lay: \"%s\", name: tree/x, mode: 7}",
             digest);
    check_refused(line, "mode");
    check_refused("{ask: 1, seconds: 0, request: x}", "a deadline of 0 s");
    check_refused("{ask: 1, seconds: 5}", "request");
}

static void another_version_is_not_read_on(void)
{
    struct shmt_arena *const arena = shmt_arena_new();
    struct shmt_far_note note;

    CHECK_INT(shmt_far_read_note(arena, "{relay: 1, shmtune: 9.9, device: 7}",
                                 "0.1", &note, &err), SHMTUNE_OK);
    CHECK_INT(note.kind, SHMT_FAR_NOTE_GREETING);
    CHECK(strcmp(note.version, "9.9") == 0);
    CHECK_INT(shmt_far_read_note(arena, "{relay: 1, shmtune: 9.9, device: 7}",
                                 "9.9", &note, &err), SHMTUNE_INVALID_FILE);
    shmt_arena_free(arena);
}

/* -- the store ------------------------------------------------------------ */

static struct shmt_far_store store;

static enum shmtune_status put(const char *text, const char *as)
{
    enum shmtune_status status =
        shmt_far_store_begin(&store, as, strlen(text), &err);

    /* In two parts. */
    if (status == SHMTUNE_OK)
        status = shmt_far_store_add(&store, text, 1, &err);
    return status == SHMTUNE_OK
               ? shmt_far_store_add(&store, text + 1, strlen(text) - 1, &err)
               : status;
}

static void files_are_what_their_digests_say(void)
{
    struct shmt_arena *const arena = shmt_arena_new();
    const char *data = "";
    const char *path;
    size_t size = 0;

    CHECK_INT(shmt_far_store_open(&store, &err), SHMTUNE_OK);
    CHECK(!shmt_far_store_has(&store, digest));
    CHECK_INT(put("one", digest), SHMTUNE_OK);
    CHECK(shmt_far_store_has(&store, digest));
    CHECK_INT(put("one", other), SHMTUNE_INVALID_FILE);
    CHECK_HAS(err.text, "a file came in as");
    CHECK(!shmt_far_store_has(&store, other));
    CHECK_INT(shmt_far_store_lay(&store, digest, "tree/a/b/c.cu", &err),
              SHMTUNE_OK);
    path = shmt_path_join(arena, store.tree, "a/b/c.cu");
    CHECK_INT(shmt_path_read(arena, path, 100, &data, &size, &err),
              SHMTUNE_OK);
    CHECK(strcmp(data, "one") == 0);
    CHECK_INT(shmt_far_store_lay(&store, other, "tree/d", &err),
              SHMTUNE_NOT_FOUND);
    CHECK_HAS(err.text, "has not been sent");
    path = shmt_arena_copy(arena, store.root, strlen(store.root));
    shmt_far_store_close(&store);
    CHECK(!shmt_path_exists(path));
    shmt_arena_free(arena);
}

/* Files of some size stay, and are looked through before they are used. */
static void the_cache_is_not_trusted(void)
{
    struct shmt_arena *const arena = shmt_arena_new();
    const size_t size = 100000;
    char *const text = calloc(1, size + 1);
    char big[SHMT_DIGEST_TEXT];
    const char *path;

    memset(text, 'x', size);
    digest_of(text, big);
    CHECK_INT(shmt_far_store_open(&store, &err), SHMTUNE_OK);
    CHECK(store.cache != NULL);
    CHECK_INT(put(text, big), SHMTUNE_OK);
    path = shmt_path_join(arena, store.cache, big);
    shmt_far_store_close(&store);
    CHECK_INT(shmt_far_store_open(&store, &err), SHMTUNE_OK);
    CHECK(shmt_far_store_has(&store, big));
    text[7] = 'y';
    CHECK_INT(shmt_path_write(path, text, size, &err), SHMTUNE_OK);
    CHECK(!shmt_far_store_has(&store, big));
    CHECK(!shmt_path_exists(path));
    shmt_far_store_close(&store);
    free(text);
    shmt_arena_free(arena);
}

int main(void)
{
    char root[FOLDER_ROOM];

    folder_make(root);
    setenv("TMPDIR", root, 1);
    setenv("XDG_CACHE_HOME", root, 1);
    digest_of("one", digest);
    digest_of("two", other);
    CHECK_RUN(names_stay_in_their_folders);
    CHECK_RUN(orders_are_read_as_written);
    CHECK_RUN(odd_orders_are_refused);
    CHECK_RUN(another_version_is_not_read_on);
    CHECK_RUN(files_are_what_their_digests_say);
    CHECK_RUN(the_cache_is_not_trusted);
    folder_remove(root);
    return CHECK_END();
}
