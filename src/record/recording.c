/* SPDX-License-Identifier: MIT */
/*
 * recording: finds recordings by a part of their name in the folders of
 * tunings, and writes one, gzipped, in the order of the space.  Called by
 * command/ and tests.
 */
#include "record/recording.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/base.h"
#include "record/gzip.h"

static const char suffix[] = ".journal.gz";

bool shmt_recording_is_file(const char *word)
{
    return strchr(word, '/') != NULL || shmt_text_ends(word, ".journal") ||
           shmt_text_ends(word, ".gz");
}

/* Whether a word of the name ends between two characters. */
static bool is_between(char one, char other)
{
    return !isalnum((unsigned char)one) || !isalnum((unsigned char)other);
}

/* Of whole words: "h100" is a part of "sm_90-nvidia-h100", "h10" is none. */
static bool has_part(const char *name, const char *part)
{
    const size_t length = strlen(part);

    for (const char *at = name; *at != '\0'; at++)
        if (strncasecmp(at, part, length) == 0 &&
            (length == 0 ||
             ((at == name || is_between(at[-1], at[0])) &&
              is_between(at[length - 1], at[length]))))
            return true;
    return false;
}

/* Those in one folder; *others gathers the names that do not match. */
static enum shmtune_status search_folder(struct shmt_arena *arena,
                                         const char *folder,
                                         const char *word,
                                         struct shmt_text *others,
                                         const char ***paths, size_t *count,
                                         struct shmt_error *err)
{
    const char *const *names;
    size_t name_count;
    const char **found;
    enum shmtune_status status;

    *count = 0;
    status = shmt_path_list(arena, folder, suffix, &names, &name_count, err);
    if (status != SHMTUNE_OK)
        return status == SHMTUNE_NOT_FOUND ? SHMTUNE_OK : status;
    found = shmt_arena_alloc(arena, name_count + 1, sizeof *found);
    if (found == NULL)
        return shmt_error_memory(err);
    for (size_t k = 0; k < name_count; k++) {
        if (!has_part(names[k], word)) {
            shmt_text_addf(others, "%s%s", others->length > 0 ? ", " : "",
                           names[k]);
            continue;
        }
        found[*count] = shmt_path_join(arena, folder, names[k]);
        if (found[(*count)++] == NULL)
            return shmt_error_memory(err);
    }
    *paths = found;
    return SHMTUNE_OK;
}

static const char *folder_of(struct shmt_arena *arena, const char *root,
                             const char *kernel)
{
    const char *const tunings = shmt_path_join(arena, root, "tunings");
    return tunings == NULL ? NULL : shmt_path_join(arena, tunings, kernel);
}

static enum shmtune_status the_file(struct shmt_arena *arena,
                                    const char *word,
                                    const char *const **paths, size_t *count,
                                    struct shmt_error *err)
{
    const char *const copy = shmt_arena_copy(arena, word, strlen(word));

    *paths = shmt_arena_copy(arena, &copy, sizeof copy);
    *count = 1;
    return copy == NULL || *paths == NULL ? shmt_error_memory(err)
                                          : SHMTUNE_OK;
}

enum shmtune_status
shmt_recording_find(struct shmt_arena *arena,
                    const struct shmt_recording_places *places,
                    const char *kernel, const char *word,
                    const char *const **paths, size_t *count,
                    struct shmt_error *err)
{
    enum shmtune_status status = SHMTUNE_OK;
    struct shmt_text others = {0};
    const char **found = NULL;
    size_t n = 0;

    if (shmt_recording_is_file(word))
        return the_file(arena, word, paths, count, err);
    for (size_t k = 0;
         status == SHMTUNE_OK && n == 0 && k < places->count; k++) {
        const char *const folder = folder_of(arena, places->roots[k], kernel);
        status = folder == NULL ? shmt_error_memory(err)
                                : search_folder(arena, folder, word, &others,
                                                &found, &n, err);
    }
    if (status == SHMTUNE_OK && n == 0)
        status = shmt_error_set(
            err, SHMTUNE_NO_DEVICE,
            others.length > 0
                ? "no recording of the kernel %s matches \"%s\"; there are %s; "
                  "see `shmtune list`, or name a file: --device "
                  "replay:FILE.journal.gz"
                : "no recording of the kernel %s is here, of \"%s\" or "
                  "another%s; without a GPU `shmtune inspect` compiles its "
                  "candidates; a recording from elsewhere is named as "
                  "--device replay:FILE.journal.gz",
            kernel, word, shmt_text_string(&others));
    if (status == SHMTUNE_OK) {
        *paths = found;
        *count = n;
    }
    shmt_text_free(&others);
    return status;
}

void shmt_recording_problem_slug(const struct shmt_kernel *kernel,
                                 const int64_t *problem, struct shmt_text *text)
{
    for (size_t k = 0; k < kernel->dimension_count; k++)
        shmt_text_addf(text, "%s%lld", k > 0 ? "x" : "",
                       (long long)problem[k]);
}

/* -- writing ------------------------------------------------------------- */

static int by_index(const void *a, const void *b)
{
    const struct shmt_ledger_entry *const x =
        *(const struct shmt_ledger_entry *const *)a;
    const struct shmt_ledger_entry *const y =
        *(const struct shmt_ledger_entry *const *)b;
    return (x->index > y->index) - (x->index < y->index);
}

static enum shmtune_status format(const struct shmt_kernel *kernel,
                                  const struct shmt_ledger *ledger,
                                  const struct shmt_space *space,
                                  struct shmt_text *text)
{
    const size_t most = shmt_ledger_count(ledger);
    const struct shmt_ledger_entry **const entries =
        malloc((most + 1) * sizeof *entries);
    shmt_config config[SHMT_SPACE_PARAMETERS];
    size_t count = 0;

    if (entries == NULL)
        return SHMTUNE_NO_MEMORY;
    /* The ledger may hold candidates without a result: they were begun only,
     * or an earlier run's policy rejected them. */
    for (size_t k = 0; k < most; k++)
        if (shmt_ledger_at(ledger, k)->counted)
            entries[count++] = shmt_ledger_at(ledger, k);
    qsort(entries, count, sizeof *entries, by_index);
    for (size_t k = 0; k < count; k++) {
        const struct shmt_journal_record record = {
            .kind = SHMT_JOURNAL_RESULT, .config = config,
            .at_s = entries[k]->at_s, .result = &entries[k]->result
        };
        shmt_space_configuration(space, entries[k]->index, config);
        shmt_journal_result_write(kernel, &record, text);
    }
    free(entries);
    return text->failed ? SHMTUNE_NO_MEMORY : SHMTUNE_OK;
}

enum shmtune_status shmt_recording_store(const char *path,
                                         const struct shmt_text *text,
                                         struct shmt_error *err)
{
    struct shmt_gzip_writer *const writer = shmt_gzip_new();
    enum shmtune_status status;

    if (writer == NULL)
        return shmt_error_memory(err);
    shmt_gzip_add(writer, text);
    status = shmt_gzip_store(writer, path, err);
    shmt_gzip_free(writer);
    return status;
}

enum shmtune_status
shmt_recording_write(const char *path, const struct shmt_kernel *kernel,
                     const struct shmt_journal_header *header,
                     const struct shmt_ledger *ledger,
                     const struct shmt_space *space, struct shmt_error *err)
{
    struct shmt_text text = {0};
    enum shmtune_status status;

    shmt_journal_header_write(kernel, header, &text);
    status = format(kernel, ledger, space, &text);
    if (status != SHMTUNE_OK)
        shmt_error_memory(err);
    else
        status = shmt_recording_store(path, &text, err);
    shmt_text_free(&text);
    return status;
}
