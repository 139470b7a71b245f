/* SPDX-License-Identifier: MIT */
/*
 * journal: writes journals: one record with one write(2), under a lock on the
 * file.  Invariant: after every call the file is a sequence of whole records.
 * journal_read.c reads them.
 */
#include "record/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "device/device.h"
#include "yaml/yaml.h"

const char *shmt_journal_difference(const struct shmt_journal_header *old,
                                    const struct shmt_journal_header *now)
{
    if (strcmp(old->digest, now->digest) != 0)
        return "the kernel's sources have changed";
    if (!shmt_device_equal(&old->device, &now->device))
        return "it is of another device";
    if (strcmp(old->protocol, now->protocol) != 0)
        return "its measuring protocol is another one";
    if (old->data_seed != now->data_seed)
        return "it was measured with other inputs (--data-seed)";
    if (strcmp(old->data_digest, now->data_digest) != 0)
        return "a file that the inputs are filled from has changed";
    if (old->nvrtc_version != now->nvrtc_version)
        return "its compiler version is another one";
    return NULL;
}

/* The first line; one digit is the version of what is written here. */
static const char format_line[] = "format: journal/5\n";
enum { VERSION_AT = sizeof format_line - 3 };

struct shmt_journal_writer {
    const struct shmt_kernel *kernel;
    int fd;
    char *path;
    struct shmt_text line;
};

void shmt_journal_header_write(const struct shmt_kernel *kernel,
                               const struct shmt_journal_header *header,
                               struct shmt_text *text)
{
    shmt_text_addf(text, "%skernel: ", format_line);
    shmt_yaml_add_string(text, header->kernel);
    shmt_text_addf(text, "\ndigest: \"%s\"\n", header->digest);
    shmt_device_write(&header->device, text);
    shmt_text_addf(text, "nvrtc: %d\nprotocol: ", header->nvrtc_version);
    shmt_yaml_add_string(text, header->protocol);
    shmt_text_add(text, "\nsize: ");
    shmt_kernel_problem_write(kernel, header->problem, text);
    shmt_text_addf(text, "\nseed: %llu\ndata_seed: %llu\n",
                   (unsigned long long)header->seed,
                   (unsigned long long)header->data_seed);
    if (header->data_digest[0] != '\0')
        shmt_text_addf(text, "data_digest: \"%s\"\n", header->data_digest);
    if (header->from_digest[0] != '\0') {
        shmt_text_add(text, "from: ");
        shmt_yaml_add_string(text, header->from);
        shmt_text_addf(text, "\nfrom_digest: \"%s\"\n",
                       header->from_digest);
    }
    if (header->require[0] != '\0') {
        shmt_text_add(text, "require: ");
        shmt_yaml_add_string(text, header->require);
        shmt_text_add(text, "\n");
    }
    shmt_text_addf(text, "space: %llu\n",
                   (unsigned long long)header->space_count);
    if (header->origin != NULL) {
        shmt_text_add(text, "origin: ");
        shmt_yaml_add_string(text, header->origin);
        shmt_text_add(text, "\n");
    }
    shmt_text_add(text, "records:\n");
}

void shmt_journal_result_write(const struct shmt_kernel *kernel,
                               const struct shmt_journal_record *record,
                               struct shmt_text *text)
{
    shmt_text_add(text, "- {config: ");
    shmt_kernel_config_write(kernel, record->config, text);
    shmt_journal_rest_write(record, text);
}

void shmt_journal_rest_write(const struct shmt_journal_record *record,
                             struct shmt_text *text)
{
    struct shmt_result result = *record->result;

    result.image[0] = '\0';
    shmt_text_add(text, ", at: ");
    shmt_yaml_add_real(text, record->at_s, 9);
    if (record->others_s > 0) {
        shmt_text_add(text, ", others: ");
        shmt_yaml_add_real(text, record->others_s, 9);
    }
    shmt_text_add(text, ", ");
    shmt_result_write(&result, text);
    if (record->origin != NULL) {
        shmt_text_add(text, ", origin: ");
        shmt_yaml_add_string(text, record->origin);
    }
    shmt_text_add(text, "}\n");
}

/* Opens the file, or creates it, but not at the end of a link: the place that
 * a dangling link names was never chosen for a journal.  -1 with EEXIST for
 * such a one. */
static int open_or_create(const char *path)
{
    const int flags = O_RDWR | O_APPEND | O_CLOEXEC;
    int fd = open(path, flags);

    if (fd < 0 && errno == ENOENT)
        fd = open(path, flags | O_CREAT | O_EXCL, 0666);
    /* Another process may just have created it. */
    if (fd < 0 && errno == EEXIST) {
        fd = open(path, flags);
        if (fd < 0 && errno == ENOENT)
            errno = EEXIST;
    }
    return fd;
}

enum shmtune_status shmt_journal_open(const char *path,
                                      const struct shmt_kernel *kernel,
                                      struct shmt_journal_writer **out,
                                      struct shmt_error *err)
{
    enum shmtune_status status;
    struct shmt_journal_writer *writer = calloc(1, sizeof *writer);

    if (writer == NULL)
        return shmt_error_memory(err);
    writer->fd = -1;
    writer->kernel = kernel;
    writer->path = strdup(path);
    if (writer->path == NULL) {
        status = shmt_error_memory(err);
        goto fail;
    }
    writer->fd = open_or_create(path);
    if (writer->fd < 0 && errno == EEXIST) {
        status = shmt_error_set(err, SHMTUNE_STORAGE,
                                "%s: is a link to a file that does not exist; "
                                "remove the link, or create that file", path);
        goto fail;
    }
    if (writer->fd < 0) {
        status = shmt_error_system(err, writer->path,
                                   "cannot open the journal");
        goto fail;
    }
    /* Without locks in the file system another run cannot be noticed. */
    if (flock(writer->fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
        status = shmt_error_set(err, SHMTUNE_STORAGE,
                                "%s: another run is writing to this journal; "
                                "wait for it, or choose another --output",
                                path);
        goto fail;
    }
    *out = writer;
    return SHMTUNE_OK;
fail:
    shmt_journal_close(writer, NULL);
    return status;
}

/* Removes the first `written` bytes of a record that could not be written
 * whole. */
static bool remove_partial(const struct shmt_journal_writer *writer,
                           off_t written)
{
    const off_t end = lseek(writer->fd, 0, SEEK_END);

    return end >= written && ftruncate(writer->fd, end - written) == 0;
}

/* Appends with one write(2).  If only a part was written, the rest is tried
 * again, because that call then returns the reason (disk full, quota, file
 * size limit). */
static enum shmtune_status append(struct shmt_journal_writer *writer,
                                  struct shmt_error *err)
{
    const struct shmt_text *const line = &writer->line;
    size_t written = 0;

    if (line->failed)
        return shmt_error_memory(err);
    while (written < line->length) {
        const ssize_t n = write(writer->fd, line->data + written,
                                line->length - written);
        int why;

        if (n > 0)
            written += (size_t)n;
        if (n > 0 || (n < 0 && errno == EINTR))
            continue;
        why = n < 0 ? errno : ENOSPC;
        if (written > 0 && !remove_partial(writer, (off_t)written))
            return shmt_error_system(err, writer->path,
                                     "cannot remove a partly written record");
        errno = why;
        return shmt_error_system(err, writer->path,
                                 "cannot write to the journal");
    }
    return SHMTUNE_OK;
}

enum shmtune_status
shmt_journal_begin(struct shmt_journal_writer *writer,
                   const struct shmt_journal_header *header,
                   struct shmt_error *err)
{
    if (ftruncate(writer->fd, 0) != 0)
        return shmt_error_system(err, writer->path, "cannot empty the journal");
    shmt_text_clear(&writer->line);
    shmt_journal_header_write(writer->kernel, header, &writer->line);
    return append(writer, err);
}

/* What follows is of this version, so that programs that know an older one
 * alone refuse the file and do not read half of it. */
static bool raise_version(int fd)
{
    const int flags = fcntl(fd, F_GETFL);
    char line[sizeof format_line - 1];
    bool raised;

    if (pread(fd, line, sizeof line, 0) != (ssize_t)sizeof line ||
        memcmp(line, format_line, VERSION_AT) != 0 ||
        line[VERSION_AT] == format_line[VERSION_AT] ||
        line[VERSION_AT + 1] != '\n')
        return true;
    /* Else it would be appended, wherever it is to be. */
    if (flags < 0 || fcntl(fd, F_SETFL, flags & ~O_APPEND) != 0)
        return false;
    raised = pwrite(fd, format_line + VERSION_AT, 1, VERSION_AT) == 1;
    return fcntl(fd, F_SETFL, flags) == 0 && raised;
}

enum shmtune_status shmt_journal_continue(struct shmt_journal_writer *writer,
                                          size_t whole_bytes,
                                          struct shmt_error *err)
{
    if (!raise_version(writer->fd))
        return shmt_error_system(err, writer->path,
                                 "cannot write the version of the journal");
    if (ftruncate(writer->fd, (off_t)whole_bytes) != 0)
        return shmt_error_system(err, writer->path,
                                 "cannot cut off an incomplete record");
    return SHMTUNE_OK;
}

enum shmtune_status
shmt_journal_add(struct shmt_journal_writer *writer,
                 const struct shmt_journal_record *record,
                 struct shmt_error *err)
{
    struct shmt_text *const line = &writer->line;

    shmt_text_clear(line);
    if (record->kind == SHMT_JOURNAL_RESULT) {
        shmt_journal_result_write(writer->kernel, record, line);
    } else {
        shmt_text_addf(line, "- {%s: ",
                       record->kind == SHMT_JOURNAL_TRY ? "try" : "drop");
        shmt_kernel_config_write(writer->kernel, record->config, line);
        shmt_text_add(line, "}\n");
    }
    return append(writer, err);
}

enum shmtune_status shmt_journal_close(struct shmt_journal_writer *writer,
                                       struct shmt_error *err)
{
    enum shmtune_status status = SHMTUNE_OK;

    if (writer == NULL)
        return SHMTUNE_OK;
    if (writer->fd >= 0) {
        if (!shmt_path_sync(writer->fd))
            status = shmt_error_system(
                err, writer->path,
                "cannot synchronise the journal to the disk");
        close(writer->fd);
    }
    shmt_text_free(&writer->line);
    free(writer->path);
    free(writer);
    return status;
}
