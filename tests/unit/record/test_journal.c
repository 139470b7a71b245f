/* SPDX-License-Identifier: MIT */
/* Journals: written, read, cut anywhere, damaged anywhere. */
#define _GNU_SOURCE   /* syscall */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "device/device.h"
#include "record/journal.h"
#include "tests/support/check.h"
#include "tests/support/tune_fixture.h"

enum { RECORDS = 12 };

static struct shmt_kernel *toy;

static struct shmt_journal_header header_of_toy(void)
{
    struct shmt_journal_header header = {
        .nvrtc_version = 13000, .protocol = "cold-l2", .problem = {4096, 1},
        .seed = 42, .data_seed = 43, .space_count = UINT64_MAX - 1,
    };
    snprintf(header.kernel, sizeof header.kernel, "toy");
    memcpy(header.digest, toy->digest, sizeof header.digest);
    snprintf(header.from, sizeof header.from, "a: \"b\".yaml (H100)");
    memcpy(header.from_digest, toy->digest, sizeof header.from_digest);
    CHECK_INT(shmt_device_for_arch("sm_90", &header.device, NULL),
              SHMTUNE_OK);
    return header;
}

static struct shmt_result result_number(int k)
{
    struct shmt_result result;
    shmt_result_clear(&result);
    if (k % 3 == 2) {
        shmt_result_set_verdict(&result, SHMT_VERDICT_WRONG,
                                "out[%d] is 1.5, expected \"2\": {#, -} \xc3\xa9",
                                k);
        return result;
    }
    result.resources.registers = 20 + k;
    result.time_us = 10.5 + k;
    result.sample_count = 2;
    result.samples_us[0] = 10;
    result.samples_us[1] = 11;
    return result;
}

/* try and result for each, a drop at the end. */
static enum shmtune_status write_journal(const char *path, size_t go_on,
                                         struct shmt_error *err)
{
    const struct shmt_journal_header header = header_of_toy();
    struct shmt_journal_writer *writer;
    enum shmtune_status status = shmt_journal_open(path, toy, &writer, err);

    if (status != SHMTUNE_OK)
        return status;
    status = go_on > 0 ? shmt_journal_continue(writer, go_on, err)
                       : shmt_journal_begin(writer, &header, err);
    for (int k = 0; status == SHMTUNE_OK && k < RECORDS; k++) {
        const struct shmt_result result = result_number(k);
        const shmt_config config[] = {(shmt_config)(k % 6),
                                      (shmt_config)(k / 6), 0, 0, 1};
        struct shmt_journal_record record = {SHMT_JOURNAL_TRY, config,
                                             0.5 * k, &result, NULL, 0,
                                             k > 4 ? 0.25 : 0};
        status = shmt_journal_add(writer, &record, err);
        record.kind = k == RECORDS - 1 ? SHMT_JOURNAL_DROP
                                       : SHMT_JOURNAL_RESULT;
        if (status == SHMTUNE_OK)
            status = shmt_journal_add(writer, &record, err);
    }
    CHECK_INT(shmt_journal_close(writer, err), SHMTUNE_OK);
    return status;
}

static struct shmt_journal *read_journal(const char *path,
                                         enum shmtune_status expected)
{
    struct shmt_journal *journal = NULL;
    struct shmt_error err = {0};
    const enum shmtune_status status =
        shmt_journal_read(path, toy, &journal, &err);

    if (status != expected)
        printf("# %s\n", err.text);
    CHECK_INT(status, expected);
    return journal;
}

static void there_and_back(void)
{
    const char *const path = fixture_path("back.journal");
    struct shmt_error err = {0};
    struct shmt_journal *journal;

    CHECK_INT(write_journal(path, 0, &err), SHMTUNE_OK);
    CHECK_TEXT(err.text, "");
    journal = read_journal(path, SHMTUNE_OK);
    if (journal == NULL)
        return;
    CHECK_TEXT(journal->header.kernel, "toy");
    CHECK_TEXT(journal->header.digest, toy->digest);
    CHECK_TEXT(journal->header.protocol, "cold-l2");
    CHECK_INT(journal->header.device.multiprocessors, 132);
    CHECK_INT(journal->header.problem[0], 4096);
    CHECK_INT(journal->header.problem[1], 1);
    CHECK_INT(journal->header.seed, 42);
    CHECK_INT(journal->header.data_seed, 43);
    CHECK_TEXT(journal->header.from, "a: \"b\".yaml (H100)");
    CHECK_TEXT(journal->header.from_digest, toy->digest);
    CHECK(journal->header.space_count == UINT64_MAX - 1);
    CHECK_INT(journal->count, 2 * RECORDS);
    CHECK(!journal->cut);
    for (size_t k = 0; k < journal->count; k++) {
        const struct shmt_journal_record *const record =
            &journal->records[k];
        const struct shmt_result expected = result_number((int)k / 2);
        CHECK_INT(record->config[0], (k / 2) % 6);
        CHECK_INT(record->config[4], 1);
        CHECK_INT(record->kind, k % 2 == 0 ? SHMT_JOURNAL_TRY
                                : k == journal->count - 1
                                    ? SHMT_JOURNAL_DROP
                                    : SHMT_JOURNAL_RESULT);
        if (record->kind != SHMT_JOURNAL_RESULT)
            continue;
        CHECK_INT(record->result->verdict, expected.verdict);
        CHECK_TEXT(record->result->reason, expected.reason);
        CHECK_INT(record->result->resources.registers,
                  expected.resources.registers);
        CHECK(fabs(record->result->time_us - expected.time_us) < 1e-4);
        CHECK(fabs(record->at_s - 0.5 * (double)(k / 2)) < 1e-6);
        CHECK(fabs(record->others_s - (k / 2 > 4 ? 0.25 : 0)) < 1e-6);
    }
    shmt_journal_free(journal);
}

/* However it is cut: every whole record, and a writer that goes on. */
static void cut_anywhere(void)
{
    const char *const path = fixture_path("whole.journal");
    const char *const part = fixture_path("part.journal");
    size_t size, header = 0, before = 0;
    char *text;

    CHECK_INT(write_journal(path, 0, NULL), SHMTUNE_OK);
    text = fixture_read(path, &size);
    header = (size_t)(strstr(text, "records:\n") - text) + 9;
    for (size_t cut = header; cut <= size; cut += cut < size - 300 ? 7 : 1) {
        struct shmt_journal *journal;
        fixture_write(part, text, cut);
        journal = read_journal(part, SHMTUNE_OK);
        if (journal == NULL)
            break;
        CHECK_INT(journal->cut, text[cut - 1] != '\n');
        CHECK(journal->count >= before);
        CHECK(journal->whole_bytes <= cut);
        before = journal->count;
        shmt_journal_free(journal);
    }
    CHECK_INT(before, 2 * RECORDS);
    /* Within the header it is no journal at all. */
    for (size_t cut = 0; cut < header; cut += 13) {
        struct shmt_journal *journal = NULL;
        fixture_write(part, text, cut);
        CHECK_INT(shmt_journal_read(part, toy, &journal, NULL),
                  SHMTUNE_INVALID_FILE);
    }
    free(text);
}

static void goes_on_behind_a_cut(void)
{
    const char *const path = fixture_path("go.journal");
    struct shmt_journal *journal;
    size_t size, whole;
    char *text;

    CHECK_INT(write_journal(path, 0, NULL), SHMTUNE_OK);
    text = fixture_read(path, &size);
    fixture_write(path, text, size - 5);
    free(text);
    journal = read_journal(path, SHMTUNE_OK);
    CHECK(journal->cut);
    CHECK_INT(journal->count, 2 * RECORDS - 1);
    whole = journal->whole_bytes;
    shmt_journal_free(journal);
    CHECK_INT(write_journal(path, whole, NULL), SHMTUNE_OK);
    journal = read_journal(path, SHMTUNE_OK);
    if (journal != NULL)
        CHECK_INT(journal->count, 4 * RECORDS - 1);
    shmt_journal_free(journal);
}

/* Bits turned at random: read or refused, with a place, never a crash. */
static void damaged_anywhere(void)
{
    const char *const path = fixture_path("whole2.journal");
    const char *const bad = fixture_path("bad.journal");
    struct shmt_random random;
    size_t size, refused = 0;
    char *text;

    CHECK_INT(write_journal(path, 0, NULL), SHMTUNE_OK);
    text = fixture_read(path, &size);
    shmt_random_seed(&random, 5);
    for (int k = 0; k < 400; k++) {
        const size_t at = (size_t)shmt_random_below(&random, size);
        const char was = text[at];
        struct shmt_journal *journal = NULL;
        struct shmt_error err = {0};
        text[at] = (char)(was ^ (1 << shmt_random_below(&random, 8)));
        fixture_write(bad, text, size);
        text[at] = was;
        if (shmt_journal_read(bad, toy, &journal, &err) == SHMTUNE_OK) {
            shmt_journal_free(journal);
            continue;
        }
        refused++;
        CHECK_INT(err.status, SHMTUNE_INVALID_FILE);
        CHECK_HAS(err.text, "bad.journal:");
    }
    CHECK(refused > 100);
    free(text);
}

static void says_where(void)
{
    static const struct {
        const char *line, *place, *what;
    } cases[] = {
        {"- {config: {BLOCK_X: 33}}", ":38:", "33"},
        {"- {nothing: 1}", ":38:3:", "config"},
        {"- [1, 2]", ":38:3:", "mapping"},
        {"- {try: {}, at: 3}", ":38:", "at"},
        {"- {config: {BLOCK_X: 32, UNROLL: 1, PAD: 0, MEMORY: static, "
         "CARVEOUT: -1}, at: -1, verdict: ok}", ":38:", "at"},
        {"- {config: {BLOCK_X: 32, UNROLL: 1, PAD: 0, MEMORY: static, "
         "CARVEOUT: -1}, at: 1, verdict: ok, colour: red}", ":38:",
         "colour"},
        {"rubbish", ":38:1:", "rubbish"},
        {"- {config: &a {BLOCK_X: 32}}", ":38:", "anchor"},
    };
    const struct shmt_journal_header header = header_of_toy();

    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const char *const path = fixture_path("where.journal");
        struct shmt_text text = {0};
        struct shmt_journal *journal = NULL;
        struct shmt_error err = {0};
        char place[16];
        int line = 1;
        shmt_journal_header_write(toy, &header, &text);
        for (size_t c = 0; c < text.length; c++)
            line += text.data[c] == '\n';
        snprintf(place, sizeof place, ":%d%s", line, cases[k].place + 3);
        shmt_text_addf(&text, "%s\n", cases[k].line);
        fixture_write(path, text.data, text.length);
        CHECK_INT(shmt_journal_read(path, toy, &journal, &err),
                  SHMTUNE_INVALID_FILE);
        CHECK_HAS(err.text, place);
        CHECK_HAS(err.text, cases[k].what);
        shmt_text_free(&text);
    }
}

static void other_ends_of_lines_are_told(void)
{
    const struct shmt_journal_header header = header_of_toy();
    const char *const path = fixture_path("crlf.journal");
    struct shmt_journal *journal = NULL;
    struct shmt_text text = {0}, other = {0};
    struct shmt_error err = {0};

    shmt_journal_header_write(toy, &header, &text);
    for (size_t c = 0; c < text.length; c++)
        shmt_text_addf(&other, text.data[c] == '\n' ? "\r%c" : "%c",
                       text.data[c]);
    fixture_write(path, other.data, other.length);
    CHECK_INT(shmt_journal_read(path, toy, &journal, &err),
              SHMTUNE_INVALID_FILE);
    CHECK_HAS(err.text, "crlf.journal:1:18: found a line that ends with CR");
    CHECK_HAS(err.text, "expected LF alone");
    shmt_text_free(&text);
    shmt_text_free(&other);
}

static void of_another_kernel(void)
{
    struct shmt_kernel *const faults = fixture_kernel("faults");
    const char *const path = fixture_path("other.journal");
    struct shmt_journal *journal = NULL;
    struct shmt_journal_header header;
    struct shmt_error err = {0};
    char name[80];

    CHECK_INT(write_journal(path, 0, NULL), SHMTUNE_OK);
    CHECK_INT(shmt_journal_read(path, faults, &journal, &err),
              SHMTUNE_INVALID_FILE);
    CHECK_HAS(err.text, "toy");
    CHECK_HAS(err.text, "faults");
    CHECK_INT(shmt_journal_read_kernel_name(path, name, NULL), SHMTUNE_OK);
    CHECK_TEXT(name, "toy");
    CHECK_INT(shmt_journal_read_header(path, toy, &header, NULL), SHMTUNE_OK);
    CHECK_INT(header.problem[0], 4096);
    CHECK_INT(shmt_journal_read(fixture_path("absent"), toy, &journal, &err),
              SHMTUNE_NOT_FOUND);
    CHECK_INT(shmt_journal_read(fixture_folder(), toy, &journal, &err),
              SHMTUNE_STORAGE);
    shmt_kernel_free(faults);
}

static void one_writer_at_a_time(void)
{
    const char *const path = fixture_path("lock.journal");
    struct shmt_journal_writer *first, *second = NULL;
    struct shmt_error err = {0};

    CHECK_INT(shmt_journal_open(path, toy, &first, NULL), SHMTUNE_OK);
    CHECK_INT(shmt_journal_open(path, toy, &second, &err), SHMTUNE_STORAGE);
    CHECK_HAS(err.text, "another run");
    CHECK_INT(shmt_journal_close(first, NULL), SHMTUNE_OK);
    CHECK_INT(shmt_journal_open(path, toy, &second, NULL), SHMTUNE_OK);
    CHECK_INT(shmt_journal_close(second, NULL), SHMTUNE_OK);
}

/* As some network file systems have it. */
static bool no_locks;
int flock(int fd, int operation)
{
    if (!no_locks)
        return (int)syscall(SYS_flock, fd, operation);
    errno = ENOSYS;
    return -1;
}

static void dangling_links_are_refused(void)
{
    const char *const link = fixture_path("link.journal");
    const char *const target = fixture_path("elsewhere");
    struct shmt_journal_writer *writer = NULL;
    struct shmt_error err = {0};
    struct stat about;

    CHECK_INT(symlink("elsewhere", link), 0);
    CHECK_INT(shmt_journal_open(link, toy, &writer, &err), SHMTUNE_STORAGE);
    CHECK(writer == NULL);
    CHECK_HAS(err.text, "link.journal: is a link to a file that does not "
                        "exist; remove the link");
    CHECK(lstat(target, &about) != 0);
    /* A link to a file is followed: it was put there on purpose. */
    fixture_write(target, "", 0);
    CHECK_INT(shmt_journal_open(link, toy, &writer, &err), SHMTUNE_OK);
    shmt_journal_close(writer, NULL);
    CHECK(lstat(link, &about) == 0 && S_ISLNK(about.st_mode));
    unlink(link);
    unlink(target);
}

static void where_there_are_no_locks(void)
{
    const char *const path = fixture_path("lockless.journal");
    struct shmt_error err = {0};

    no_locks = true;
    CHECK_INT(write_journal(path, 0, &err), SHMTUNE_OK);
    no_locks = false;
    CHECK_TEXT(err.text, "");
    shmt_journal_free(read_journal(path, SHMTUNE_OK));
}

/* Written twice over: of each configuration the second result, and no try. */
static void the_last_result_holds(void)
{
    const char *const path = fixture_path("twice.journal");
    struct shmt_journal *journal;
    bool latest[4 * RECORDS];
    size_t count = 0;

    CHECK_INT(write_journal(path, 0, NULL), SHMTUNE_OK);
    journal = read_journal(path, SHMTUNE_OK);
    CHECK_INT(write_journal(path, journal->whole_bytes, NULL), SHMTUNE_OK);
    shmt_journal_free(journal);
    journal = read_journal(path, SHMTUNE_OK);
    CHECK_INT(journal->count, 4 * RECORDS);
    CHECK_INT(shmt_journal_latest(toy, journal, latest, NULL), SHMTUNE_OK);
    for (size_t k = 0; k < journal->count; k++) {
        count += latest[k];
        CHECK(!latest[k] || (k >= 2 * RECORDS &&
                             journal->records[k].kind ==
                                 SHMT_JOURNAL_RESULT));
    }
    CHECK_INT(count, RECORDS - 1);
    shmt_journal_free(journal);
}

/* On a full disk the journal stays whole, and the run is told. */
static void no_room(void)
{
    struct shmt_journal_writer *writer;
    const struct shmt_journal_header header = header_of_toy();
    struct shmt_error err = {0};

    if (access("/dev/full", W_OK) != 0)
        return;
    if (shmt_journal_open("/dev/full", toy, &writer, &err) != SHMTUNE_OK)
        return;
    CHECK_INT(shmt_journal_begin(writer, &header, &err), SHMTUNE_STORAGE);
    CHECK_HAS(err.text, "/dev/full");
    shmt_journal_close(writer, NULL);
}

/* A record that was written in part is taken back: what is there stays whole,
 * and the next one is behind it. */
static void a_partial_record_is_taken_back(void)
{
    const struct rlimit none = {RLIM_INFINITY, RLIM_INFINITY};
    const char *const path = fixture_path("partial.journal");
    const struct shmt_result result = result_number(0);
    const shmt_config config[] = {0, 0, 0, 0, 1};
    const struct shmt_journal_record record = {SHMT_JOURNAL_RESULT, config,
                                               1, &result, NULL, 0, 0};
    struct shmt_journal_writer *writer;
    struct shmt_journal *journal;
    struct shmt_error err = {0};
    size_t whole;

    signal(SIGXFSZ, SIG_IGN);
    CHECK_INT(write_journal(path, 0, NULL), SHMTUNE_OK);
    journal = read_journal(path, SHMTUNE_OK);
    whole = journal->whole_bytes;
    shmt_journal_free(journal);
    CHECK_INT(shmt_journal_open(path, toy, &writer, &err), SHMTUNE_OK);
    CHECK_INT(shmt_journal_continue(writer, whole, &err), SHMTUNE_OK);
    for (size_t room = 0; room < 40; room += 13) {
        const struct rlimit small = {whole + room, RLIM_INFINITY};
        struct stat about;

        CHECK_INT(setrlimit(RLIMIT_FSIZE, &small), 0);
        CHECK_INT(shmt_journal_add(writer, &record, &err), SHMTUNE_STORAGE);
        CHECK_HAS(err.text, "partial.journal");
        CHECK_INT(setrlimit(RLIMIT_FSIZE, &none), 0);
        CHECK_INT(stat(path, &about), 0);
        CHECK_INT(about.st_size, whole);
    }
    CHECK_INT(shmt_journal_add(writer, &record, &err), SHMTUNE_OK);
    CHECK_INT(shmt_journal_close(writer, &err), SHMTUNE_OK);
    journal = read_journal(path, SHMTUNE_OK);
    CHECK(!journal->cut);
    CHECK_INT(journal->count, 2 * RECORDS + 1);
    shmt_journal_free(journal);
}

/* -- the disk -------------------------------------------------------------- */

static int synced, sync_error;
int __real_fsync(int fd);
int __wrap_fsync(int fd);

int __wrap_fsync(int fd)
{
    synced++;
    errno = sync_error;
    return sync_error != 0 ? -1 : __real_fsync(fd);
}

/* Closing waits for the disk and says when that failed; what cannot be
 * synchronised, like a pipe, is no failure. */
static void closed_is_on_the_disk(void)
{
    static const struct { int error; enum shmtune_status status; } rows[] = {
        {0, SHMTUNE_OK}, {EIO, SHMTUNE_STORAGE}, {EINVAL, SHMTUNE_OK}};
    const struct shmt_journal_header header = header_of_toy();

    for (size_t k = 0; k < 3; k++) {
        struct shmt_journal_writer *writer;
        struct shmt_error err = {0};

        CHECK_INT(shmt_journal_open(fixture_path("synced.journal"), toy,
                                    &writer, &err), SHMTUNE_OK);
        CHECK_INT(shmt_journal_begin(writer, &header, &err), SHMTUNE_OK);
        synced = 0;
        sync_error = rows[k].error;
        CHECK_INT(shmt_journal_close(writer, &err), rows[k].status);
        CHECK_INT(synced, 1);
        sync_error = 0;
        if (rows[k].status != SHMTUNE_OK)
            CHECK_HAS(err.text, "synced.journal");
    }
}

int main(void)
{
    toy = fixture_kernel("toy");
    if (toy == NULL)
        return 1;
    CHECK_RUN(there_and_back);
    CHECK_RUN(cut_anywhere);
    CHECK_RUN(goes_on_behind_a_cut);
    CHECK_RUN(damaged_anywhere);
    CHECK_RUN(says_where);
    CHECK_RUN(other_ends_of_lines_are_told);
    CHECK_RUN(of_another_kernel);
    CHECK_RUN(one_writer_at_a_time);
    CHECK_RUN(dangling_links_are_refused);
    CHECK_RUN(where_there_are_no_locks);
    CHECK_RUN(the_last_result_holds);
    CHECK_RUN(no_room);
    CHECK_RUN(a_partial_record_is_taken_back);
    CHECK_RUN(closed_is_on_the_disk);
    shmt_kernel_free(toy);
    return CHECK_END();
}
