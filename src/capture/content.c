/* SPDX-License-Identifier: MIT */
/*
 * content: the bytes of a buffer, by name and compressed.  The program waits
 * for it, and buffers have hundreds of megabytes: several threads take a piece
 * each, which becomes a member of the gzip file, and write them one behind the
 * other.  A piece that hardly becomes smaller is stored as it is, as numbers
 * mostly are: compressing it would take fifty times as long, and reading it ten
 * times.  The threads live as long as the call, and no signal of the program
 * comes to them.
 */
#define _GNU_SOURCE   /* sched_getaffinity */
#include "capture/library.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <zlib.h>

enum {
    PIECE = 1 << 20, THREADS = 8, GZIP = 15 + 16, MEMORY = 8,
    /* What is looked at of a piece, and which share of that it may become. */
    SAMPLE = 1 << 13, SHARE = 2
};

struct content {
    const unsigned char *data;
    size_t size, count;                    /* bytes, pieces */
    int fd;
    char (*digests)[SHMT_DIGEST_TEXT];     /* of the pieces; NULL: they are
                                              written */
    pthread_mutex_t lock;
    pthread_cond_t turn;                   /* `written` is another, or `code` */
    size_t next, written;
    int code;                              /* why it failed; 0: it has not */
};

static const unsigned char *piece_of(const struct content *content, size_t k,
                                     size_t *size)
{
    const size_t left = content->size - k * PIECE;

    *size = left < PIECE ? left : PIECE;
    return content->data + k * PIECE;
}

/* -- a piece -------------------------------------------------------------- */

static void add_digest(const struct content *content, size_t k)
{
    struct shmt_digest state;
    size_t size;
    const unsigned char *bytes = piece_of(content, k, &size);

    shmt_digest_begin(&state);
    shmt_digest_add(&state, bytes, size);
    shmt_digest_end(&state, content->digests[k]);
}

/* The bytes as one member; how long it is. */
static size_t compress_as(z_stream *stream, int level,
                          const unsigned char *bytes, size_t size,
                          unsigned char *room, size_t most)
{
    deflateReset(stream);
    deflateParams(stream, level, Z_DEFAULT_STRATEGY);
    stream->next_in = (unsigned char *)(uintptr_t)bytes;
    stream->avail_in = (unsigned)size;
    stream->next_out = room;
    stream->avail_out = (unsigned)most;
    deflate(stream, Z_FINISH);
    return most - stream->avail_out;
}

static size_t compress_piece(z_stream *stream, const unsigned char *bytes,
                             size_t size, unsigned char *room, size_t most)
{
    const size_t sample = size < SAMPLE ? size : SAMPLE;
    const size_t small = compress_as(stream, 1, bytes + (size - sample) / 2,
                                     sample, room, most);

    return compress_as(stream, size > SAMPLE && small > sample / SHARE ? 0 : 1,
                       bytes, size, room, most);
}

/* -- all of them ---------------------------------------------------------- */

static bool take(struct content *content, size_t *k)
{
    bool found;

    pthread_mutex_lock(&content->lock);
    found = content->code == 0 && content->next < content->count;
    if (found)
        *k = content->next++;
    pthread_mutex_unlock(&content->lock);
    return found;
}

static void fail(struct content *content, int code)
{
    pthread_mutex_lock(&content->lock);
    if (content->code == 0)
        content->code = code;
    pthread_cond_broadcast(&content->turn);
    pthread_mutex_unlock(&content->lock);
}

/* Behind the pieces before it. */
static void put_in_turn(struct content *content, size_t k,
                        const unsigned char *bytes, size_t size)
{
    bool whole;

    pthread_mutex_lock(&content->lock);
    while (content->written != k && content->code == 0)
        pthread_cond_wait(&content->turn, &content->lock);
    whole = content->code == 0;
    pthread_mutex_unlock(&content->lock);
    if (!whole)
        return;
    if (!shmt_path_put(content->fd, bytes, size)) {
        fail(content, errno);
        return;
    }
    pthread_mutex_lock(&content->lock);
    content->written++;
    pthread_cond_broadcast(&content->turn);
    pthread_mutex_unlock(&content->lock);
}

static void write_pieces(struct content *content)
{
    z_stream stream = {0};
    const bool begun = deflateInit2(&stream, 1, Z_DEFLATED, GZIP, MEMORY,
                                    Z_DEFAULT_STRATEGY) == Z_OK;
    const size_t most = begun ? deflateBound(&stream, PIECE) : 0;
    unsigned char *const room = begun ? malloc(most) : NULL;
    size_t k;

    if (room == NULL)
        fail(content, ENOMEM);
    while (take(content, &k)) {
        size_t size;
        const unsigned char *bytes = piece_of(content, k, &size);

        put_in_turn(content, k, room,
                    compress_piece(&stream, bytes, size, room, most));
    }
    if (begun)
        deflateEnd(&stream);
    free(room);
}

static void *work(void *context)
{
    struct content *const content = context;
    size_t k;

    if (content->digests == NULL)
        write_pieces(content);
    else
        while (take(content, &k))
            add_digest(content, k);
    return NULL;
}

/* How many threads there are for it, this one among them. */
static size_t count_threads(const struct content *content)
{
    cpu_set_t set;
    size_t count = sched_getaffinity(0, sizeof set, &set) == 0
                       ? (size_t)CPU_COUNT(&set) : 1;

    if (count > THREADS)
        count = THREADS;
    return count < content->count ? count : content->count;
}

/* Where there is no further thread, this one does it. */
static bool work_on(struct content *content)
{
    const size_t count = count_threads(content);
    pthread_t threads[THREADS];
    sigset_t all, before;
    size_t made = 0;
    int state;

    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
    pthread_mutex_init(&content->lock, NULL);
    pthread_cond_init(&content->turn, NULL);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (made + 1 < count &&
           pthread_create(&threads[made], NULL, work, content) == 0)
        made++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    work(content);
    for (size_t k = 0; k < made; k++)
        pthread_join(threads[k], NULL);
    pthread_cond_destroy(&content->turn);
    pthread_mutex_destroy(&content->lock);
    pthread_setcancelstate(state, NULL);
    errno = content->code;
    return content->code == 0;
}

bool shmt_capture_content_put(int fd, const unsigned char *data, size_t size)
{
    /* Of no bytes, too, there is a member. */
    struct content content = {
        .data = data, .size = size, .fd = fd,
        .count = size == 0 ? 1 : (size + PIECE - 1) / PIECE};

    return work_on(&content);
}

bool shmt_capture_content_digest(const unsigned char *data, size_t size,
                                 char digest[SHMT_DIGEST_TEXT])
{
    struct content content = {
        .data = data, .size = size, .count = (size + PIECE - 1) / PIECE};
    struct shmt_digest state;

    content.digests = malloc((content.count + 1) * sizeof *content.digests);
    if (content.digests == NULL)
        return false;
    work_on(&content);
    shmt_digest_begin(&state);
    shmt_digest_add(&state, content.digests,
                    content.count * sizeof *content.digests);
    shmt_digest_end(&state, digest);
    free(content.digests);
    return true;
}
