/* SPDX-License-Identifier: MIT */
/*
 * check_binaries: the binaries in cubins/ of a folder against their list, the
 * manifest, and against what the library may choose by today's sources and
 * tunings.  Called by check_folder.c.
 *
 * A binary of the manifest that nothing chooses any more is stale: sources or
 * tunings have changed since.  What would be chosen instead is then no finding
 * of its own, when the manifest has the same configuration of before.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "command/check.h"
#include "command/pack.h"
#include "device/device.h"
#include "gpu/gpu.h"
#include "kernel/kernel.h"

enum {
    KEY = SHMT_DIGEST_TEXT - 1,
    ARCHS = 64,
    MANIFEST_BYTES = 64 << 20
};

/* A binary: in the manifest, or chosen by the library. */
struct binary {
    const char *key;
    const char *text;         /* "sm_90 scale: BLOCK=64 at n=1000" */
    bool listed, chosen, winner;
    bool absent;              /* not listed or there */
    bool missing;             /* too, and its constraints hold somewhere */
};

struct look {
    struct shmt_check *check;
    const struct shmt_catalogue *catalogue;
    struct shmt_arena *arena;
    const char *folder, *manifest;    /* cubins, and its list */
    struct binary *binaries;
    size_t count, room;
    char archs[ARCHS][16];            /* of the manifest, each once */
    size_t arch_count;
    struct shmt_command_tuned_kernel *tunings;
    size_t tuning_count, tuning_room;
    size_t found;                     /* chosen, and there */
    size_t gaps;                      /* chosen, and never made */
    const char *gap;                  /* the first of them */
    const char *remedy;               /* a command */
};

static struct binary *find(const struct look *look, const char *key)
{
    for (size_t k = 0; k < look->count; k++)
        if (memcmp(look->binaries[k].key, key, KEY) == 0)
            return &look->binaries[k];
    return NULL;
}

static enum shmtune_status add(struct look *look, struct binary binary,
                               struct shmt_error *err)
{
    if (!shmt_array_reserve(&look->binaries, &look->room, look->count + 1,
                            sizeof *look->binaries))
        return shmt_error_memory(err);
    look->binaries[look->count++] = binary;
    return SHMTUNE_OK;
}

/* -- the manifest --------------------------------------------------------- */

static enum shmtune_status refuse(const struct look *look, size_t line,
                                  size_t column, const char *found,
                                  const char *expected,
                                  struct shmt_error *err)
{
    const int length = (int)strcspn(found, "\n");

    return shmt_error_set(err, SHMTUNE_INVALID_FILE,
                          "%s:%zu:%zu: found \"%.*s\", expected %s; write it "
                          "again: shmtune pack DIR --arch sm_XX",
                          look->manifest, line, column + 1,
                          length < 40 ? length : 40, found, expected);
}

static enum shmtune_status add_arch(struct look *look, const char *target,
                                    struct shmt_error *err)
{
    struct shmtune_device device;
    char arch[16];
    enum shmtune_status status = shmt_device_for_arch(target, &device, err);

    if (status != SHMTUNE_OK)
        return status;
    shmt_device_arch_text(&device, arch);
    for (size_t k = 0; k < look->arch_count; k++)
        if (strcmp(look->archs[k], arch) == 0)
            return SHMTUNE_OK;
    if (look->arch_count == ARCHS)
        return shmt_error_set(err, SHMTUNE_INVALID_FILE,
                              "%s: more than %d architectures",
                              look->manifest, ARCHS);
    memcpy(look->archs[look->arch_count++], arch, sizeof arch);
    return SHMTUNE_OK;
}

/* KEY TARGET KERNEL: CONFIGURATION at SIZE */
static enum shmtune_status read_line(struct look *look, const char *line,
                                     size_t number, struct shmt_error *err)
{
    const char *const text = line + KEY + 1, *rest;
    struct binary binary = {.listed = true};
    char target[16];
    size_t length;

    binary.key = shmt_arena_copy(look->arena, line,
                                 strnlen(line, KEY));
    if (binary.key == NULL)
        return shmt_error_memory(err);
    if (!shmt_digest_valid(binary.key) || line[KEY] != ' ')
        return refuse(look, number, 0, line, "a key, 64 digits, and a blank",
                      err);
    length = strcspn(text, " ");
    if (length >= sizeof target || text[length] != ' ')
        return refuse(look, number, KEY + 1, text, "an architecture", err);
    memcpy(target, text, length);
    target[length] = '\0';
    if (add_arch(look, target, err) != SHMTUNE_OK)
        return refuse(look, number, KEY + 1, text, "an architecture that is "
                      "known, as sm_90", err);
    rest = strstr(text + length + 1, ": ");
    if (rest == NULL || strstr(rest, " at ") == NULL)
        return refuse(look, number, KEY + 2 + length, text + length + 1,
                      "KERNEL: CONFIGURATION at SIZE", err);
    if (find(look, binary.key) != NULL)
        return refuse(look, number, 0, line, "a key that no line before has",
                      err);
    binary.text = shmt_arena_copy(look->arena, text, strlen(text));
    return binary.text == NULL ? shmt_error_memory(err)
                               : add(look, binary, err);
}

static enum shmtune_status read_lines(struct look *look, const char *data,
                                      size_t size, struct shmt_error *err)
{
    static const char head[] = SHMT_COMMAND_MANIFEST "1\n";
    const char *at = data, *const end = data + size;
    size_t number = 1;
    enum shmtune_status status = SHMTUNE_OK;

    if (strncmp(data, head, sizeof head - 1) != 0)
        return refuse(look, 1, 0, data,
                      strncmp(data, head, sizeof head - 3) == 0
                          ? "\"" SHMT_COMMAND_MANIFEST "1\": update shmtune, "
                            "if a newer one wrote it"
                          : "\"" SHMT_COMMAND_MANIFEST "1\"", err);
    for (at += sizeof head - 1; status == SHMTUNE_OK && at < end; ) {
        const char *const stop = memchr(at, '\n', (size_t)(end - at));
        const char *line;

        number++;
        if (stop == NULL)
            return refuse(look, number, 0, at, "the end of the line: the "
                          "file is cut", err);
        line = shmt_arena_copy(look->arena, at, (size_t)(stop - at));
        status = line == NULL ? shmt_error_memory(err)
                              : read_line(look, line, number, err);
        at = stop + 1;
    }
    return status;
}

/* -- tunings -------------------------------------------------------------- */

/* One that fits; what is wrong with others was told. */
static enum shmtune_status add_tuning(struct look *look,
                                      const struct shmt_kernel *kernel,
                                      const char *path,
                                      struct shmt_error *err)
{
    struct shmt_tuning *tuning;
    enum shmtune_status status =
        path == NULL ? shmt_error_memory(err)
                     : shmt_tuning_read(path, &tuning, err);

    if (status != SHMTUNE_OK)
        return status == SHMTUNE_NO_MEMORY ? status : SHMTUNE_OK;
    if (strcmp(tuning->kernel, kernel->name) != 0 ||
        strcmp(tuning->digest, kernel->digest) != 0) {
        shmt_tuning_free(tuning);
        return SHMTUNE_OK;
    }
    if (!shmt_array_reserve(&look->tunings, &look->tuning_room,
                            look->tuning_count + 1,
                            sizeof *look->tunings)) {
        shmt_tuning_free(tuning);
        return shmt_error_memory(err);
    }
    look->tunings[look->tuning_count++] =
        (struct shmt_command_tuned_kernel){kernel, tuning};
    return SHMTUNE_OK;
}

static enum shmtune_status add_tunings(struct look *look,
                                       const struct shmt_kernel *kernel,
                                       struct shmt_error *err)
{
    struct shmt_text folder = {0};
    const char *const *names;
    size_t count = 0;
    enum shmtune_status status;

    shmt_text_addf(&folder, "%s/tunings/%s", look->catalogue->folders[0],
                   kernel->name);
    status = folder.failed
                 ? shmt_error_memory(err)
                 : shmt_path_list(look->arena, shmt_text_string(&folder),
                                  ".yaml", &names, &count, err);
    if (status != SHMTUNE_OK && status != SHMTUNE_NO_MEMORY)
        status = SHMTUNE_OK;
    for (size_t k = 0; status == SHMTUNE_OK && k < count; k++)
        status = add_tuning(look, kernel,
                            shmt_path_join(look->arena,
                                           shmt_text_string(&folder),
                                           names[k]), err);
    shmt_text_free(&folder);
    return status;
}

/* -- what is chosen ------------------------------------------------------- */

/* Whole, and what the kernel of today takes; `err` has the reason. */
static enum shmtune_status
examine(const struct look *look, const struct shmt_command_choices *choices,
        size_t k, struct shmt_error *err)
{
    const size_t width = choices->kernel->parameter_count;
    struct shmt_kernel_evaluated evaluated;
    const struct shmt_image_request request = {.evaluated = &evaluated,
                                               .arch = choices->target};
    struct shmt_image *image = NULL;
    enum shmtune_status status =
        shmt_image_check_stored(look->folder, choices->keys[k], err);

    if (status != SHMTUNE_OK)
        return status;
    shmt_kernel_evaluate(choices->kernel, choices->problem,
                         choices->configs + k * width, &evaluated);
    status = shmt_image_get(&request, NULL, look->folder, &image, err);
    if (status == SHMTUNE_OK)
        shmt_image_free(image);
    return status;
}

static bool was_made(const struct look *look, const char *text)
{
    for (size_t k = 0; k < look->count; k++)
        if (look->binaries[k].listed && !look->binaries[k].chosen &&
            strcmp(look->binaries[k].text, text) == 0)
            return true;
    return false;
}

/* Those that are chosen, and neither listed nor there. */
static void tell_missing(struct look *look)
{
    for (size_t k = 0; k < look->count; k++) {
        const struct binary *const one = &look->binaries[k];

        if (!one->missing || was_made(look, one->text))
            continue;
        if (one->winner)
            shmt_check_report(look->check, SHMT_CHECK_BAD,
                              "the winner %s has no binary; make it: %s",
                              one->text, look->remedy);
        else if (look->gaps++ == 0)
            look->gap = one->text;
    }
}

/* The library chooses it nowhere else. */
static bool satisfies(const struct shmt_command_choices *choices, size_t k)
{
    const size_t width = choices->kernel->parameter_count;
    struct shmt_kernel_evaluated evaluated;

    shmt_kernel_evaluate(choices->kernel, choices->problem,
                         choices->configs + k * width, &evaluated);
    return shmt_kernel_allows(&evaluated);
}

static const char *describe(struct look *look,
                            const struct shmt_command_choices *choices,
                            size_t k)
{
    struct shmt_text text = {0};

    shmt_command_describe_choice(choices, k, &text);
    return shmt_text_keep(&text, look->arena);
}

static enum shmtune_status look_at(struct look *look,
                                   const struct shmt_command_choices *choices,
                                   size_t k, struct shmt_error *err)
{
    struct binary *const known = find(look, choices->keys[k]);
    struct binary found = {.key = choices->keys[k], .chosen = true,
                           .winner = choices->winner && k == 0};
    struct shmt_error why;
    enum shmtune_status status;

    if (known != NULL && known->chosen) {
        known->winner = known->winner || found.winner;
        if (!known->absent || known->missing || !satisfies(choices, k))
            return SHMTUNE_OK;
        known->missing = true;
        known->text = describe(look, choices, k);
        return known->text == NULL ? shmt_error_memory(err) : SHMTUNE_OK;
    }
    found.text = describe(look, choices, k);
    status = found.text == NULL ? SHMTUNE_NO_MEMORY
                                : examine(look, choices, k, &why);
    if (status == SHMTUNE_NO_MEMORY)
        return shmt_error_memory(err);
    look->found += status == SHMTUNE_OK;
    found.absent = status == SHMTUNE_NOT_FOUND && known == NULL;
    if (found.absent)
        found.missing = satisfies(choices, k);
    else if (status != SHMTUNE_OK)
        shmt_check_report(look->check, SHMT_CHECK_BAD, "the binary of %s: "
                          "%s; make it: %s", found.text, why.text,
                          look->remedy);
    if (known == NULL)
        return add(look, found, err);
    known->chosen = true;
    known->winner = found.winner;
    return SHMTUNE_OK;
}

static enum shmtune_status visit(void *context,
                                 struct shmt_command_choices *choices,
                                 struct shmt_error *err)
{
    enum shmtune_status status = SHMTUNE_OK;

    for (size_t k = 0; status == SHMTUNE_OK && k < choices->count; k++)
        status = look_at(context, choices, k, err);
    return status;
}

static enum shmtune_status look_at_kernel(struct look *look,
                                          const struct shmt_kernel *kernel,
                                          struct shmt_error *err)
{
    enum shmtune_status status = SHMTUNE_OK;

    if (!shmt_command_has_binaries(kernel))
        return SHMTUNE_OK;
    status = add_tunings(look, kernel, err);
    for (size_t k = 0; status == SHMTUNE_OK && k < look->arch_count; k++) {
        const struct shmt_command_choosing choosing = {
            .tunings = look->tunings, .tuning_count = look->tuning_count,
            .arena = look->arena, .visit = visit, .context = look};

        status = shmt_command_visit_choices(&choosing, kernel,
                                            look->archs[k], err);
        /* A tuning that does not fit its kernel was told of. */
        if (status == SHMTUNE_INVALID_FILE)
            status = SHMTUNE_OK;
    }
    return status;
}

/* -- what is not ---------------------------------------------------------- */

/* 0 of what is no file. */
static size_t bytes_of(const struct look *look, const char *name)
{
    const char *const path = shmt_path_join(look->arena, look->folder, name);
    size_t size = 0;
    int fd;

    if (path == NULL || shmt_path_open(path, &fd, &size, NULL) != SHMTUNE_OK)
        return 0;
    close(fd);
    return size;
}

/* The key of KEY.cubin and KEY.res; NULL: the file is nobody's. */
static const char *key_of(const struct look *look, const char *name)
{
    const char *const tail = name + (strlen(name) < KEY ? 0 : KEY);
    const char *key;

    if (strcmp(tail, ".cubin") != 0 && strcmp(tail, ".res") != 0)
        return NULL;
    key = shmt_arena_copy(look->arena, name, KEY);
    return key != NULL && shmt_digest_valid(key) ? key : NULL;
}

/* Binaries of the manifest that nothing chooses: there, and whole. */
static enum shmtune_status check_listed(struct look *look,
                                        struct shmt_error *err)
{
    struct shmt_error why;

    for (size_t k = 0; k < look->count; k++) {
        const struct binary *const binary = &look->binaries[k];
        const enum shmtune_status status =
            binary->chosen ? SHMTUNE_OK
                           : shmt_image_check_stored(look->folder,
                                                     binary->key, &why);

        if (status == SHMTUNE_NO_MEMORY)
            return shmt_error_memory(err);
        if (status != SHMTUNE_OK)
            shmt_check_report(look->check, SHMT_CHECK_BAD, "the binary of "
                              "%s: %s; make today's: %s", binary->text,
                              why.text, look->remedy);
    }
    return SHMTUNE_OK;
}

/* Files that are stale, and those that no list and no choice has. */
static enum shmtune_status note_files(struct look *look,
                                      struct shmt_error *err)
{
    size_t stale = 0, stale_bytes = 0, other = 0, other_bytes = 0, count = 0;
    const struct binary *first_stale = NULL;
    const char *first = NULL, *const *names;
    enum shmtune_status status = shmt_path_list(
        look->arena, look->folder, "", &names, &count, err);

    for (size_t k = 0; status == SHMTUNE_OK && k < count; k++) {
        const char *const key = key_of(look, names[k]);
        const struct binary *const known = key == NULL ? NULL
                                                       : find(look, key);

        if ((known != NULL && known->chosen) ||
            strcmp(names[k], SHMT_COMMAND_MANIFEST_NAME) == 0)
            continue;
        if (known != NULL) {
            stale++;
            stale_bytes += bytes_of(look, names[k]);
            first_stale = first_stale == NULL ? known : first_stale;
        } else {
            other++;
            other_bytes += bytes_of(look, names[k]);
            first = first == NULL ? names[k] : first;
        }
    }
    if (stale > 0)
        shmt_check_report(look->check, SHMT_CHECK_NOTE,
                          "%zu file%s of binaries (%zu bytes) %s made for "
                          "other sources or tunings, such as %s; make "
                          "today's: %s", stale, shmt_text_plural(stale),
                          stale_bytes, stale == 1 ? "is" : "are",
                          first_stale->text, look->remedy);
    if (other > 0)
        shmt_check_report(look->check, SHMT_CHECK_NOTE,
                          "%zu file%s (%zu bytes) that nothing selects, such "
                          "as %s; take %s away", other,
                          shmt_text_plural(other), other_bytes, first,
                          other == 1 ? "it" : "them");
    return status;
}

static void tell_rest(struct look *look, size_t bad)
{
    struct shmt_text archs = {0};

    if (look->gaps > 0)
        shmt_check_report(look->check, SHMT_CHECK_NOTE,
                          "%zu configuration%s that may be chosen %s no "
                          "binary, such as %s: %s not compile there, or %s "
                          "not made: %s", look->gaps,
                          shmt_text_plural(look->gaps),
                          look->gaps == 1 ? "has" : "have", look->gap,
                          look->gaps == 1 ? "it does" : "they do",
                          look->gaps == 1 ? "was" : "were", look->remedy);
    for (size_t k = 0; k < look->arch_count; k++)
        shmt_text_addf(&archs, "%s%s", k > 0 ? ", " : "", look->archs[k]);
    if (look->check->bad == bad && look->found > 0)
        shmt_check_report(look->check, SHMT_CHECK_GOOD,
                          "%zu binar%s for %s, whole and of today's sources",
                          look->found, look->found == 1 ? "y" : "ies",
                          shmt_text_string(&archs));
    look->check->failed |= archs.failed;
    shmt_text_free(&archs);
}

/* -- the folder ----------------------------------------------------------- */

static enum shmtune_status make_remedy(struct look *look,
                                       struct shmt_error *err)
{
    const bool packed = look->check->root[0] != '\0';
    struct shmt_text text = {0};

    shmt_text_add(&text, "shmtune pack ");
    shmt_text_add_word(&text, packed ? "DIR" : look->catalogue->folders[0]);
    shmt_text_add(&text, " --arch ");
    for (size_t k = 0; k < look->arch_count; k++)
        shmt_text_addf(&text, "%s%s", k > 0 ? "," : "", look->archs[k]);
    if (packed) {
        shmt_text_add(&text, " -o ");
        shmt_text_add_word(&text, look->check->pack);
    }
    look->remedy = shmt_text_keep(&text, look->arena);
    return look->remedy == NULL ? shmt_error_memory(err) : SHMTUNE_OK;
}

/* With a manifest: what it says, and what should be there. */
static enum shmtune_status compare(struct look *look, struct shmt_error *err)
{
    const size_t bad = look->check->bad;
    enum shmtune_status status = make_remedy(look, err);

    for (size_t k = 0; status == SHMTUNE_OK &&
                       k < look->catalogue->kernel_count; k++)
        status = look_at_kernel(look, look->catalogue->kernels[k].kernel,
                                err);
    tell_missing(look);
    if (status == SHMTUNE_OK)
        status = check_listed(look, err);
    if (status == SHMTUNE_OK)
        status = note_files(look, err);
    if (status == SHMTUNE_OK)
        tell_rest(look, bad);
    return status;
}

/* Without one, that each is whole is all that is known. */
static enum shmtune_status check_alone(struct look *look,
                                       struct shmt_error *err)
{
    const char *const *names;
    struct shmt_error why;
    size_t count = 0;
    enum shmtune_status status = shmt_path_list(
        look->arena, look->folder, ".cubin", &names, &count, err);

    for (size_t k = 0; status == SHMTUNE_OK && k < count; k++) {
        const char *const key = key_of(look, names[k]);
        const enum shmtune_status whole =
            key == NULL ? SHMTUNE_OK
                        : shmt_image_check_stored(look->folder, key, &why);

        if (whole != SHMTUNE_OK)
            shmt_check_report(look->check, SHMT_CHECK_BAD, "%s", why.text);
    }
    if (status == SHMTUNE_OK && count > 0)
        shmt_check_report(look->check, SHMT_CHECK_NOTE,
                          "has no %s, which says for which architectures the "
                          "%zu binar%s; make it: shmtune pack DIR --arch "
                          "sm_XX", SHMT_COMMAND_MANIFEST_NAME, count,
                          count == 1 ? "y is" : "ies are");
    return status;
}

static enum shmtune_status check_cubins(struct look *look,
                                        struct shmt_error *err)
{
    const char *data;
    size_t size;
    enum shmtune_status status;

    if (shmt_path_is_absent(look->manifest))
        return check_alone(look, err);
    status = shmt_path_read(look->arena, look->manifest, MANIFEST_BYTES,
                            &data, &size, err);
    if (status == SHMTUNE_OK)
        status = read_lines(look, data, size, err);
    return status == SHMTUNE_OK ? compare(look, err) : status;
}

enum shmtune_status
shmt_check_binaries(struct shmt_check *check,
                    const struct shmt_catalogue *catalogue,
                    struct shmt_error *err)
{
    struct look look = {.check = check, .catalogue = catalogue,
                        .arena = shmt_arena_new()};
    enum shmtune_status status = SHMTUNE_OK;

    look.folder = look.arena == NULL
                      ? NULL : shmt_path_join(look.arena,
                                              catalogue->folders[0],
                                              "cubins");
    look.manifest = look.folder == NULL
                        ? NULL : shmt_path_join(look.arena, look.folder,
                                                SHMT_COMMAND_MANIFEST_NAME);
    check->file = look.folder;
    if (look.manifest == NULL)
        status = shmt_error_memory(err);
    else if (!shmt_path_is_absent(look.folder))
        status = shmt_check_report_failure(check, check_cubins(&look, err),
                                           err);
    check->file = catalogue->folders[0];   /* the arena had its name */
    for (size_t k = 0; k < look.tuning_count; k++)
        shmt_tuning_free(look.tunings[k].tuning);
    free(look.tunings);
    free(look.binaries);
    shmt_arena_free(look.arena);
    return status;
}
