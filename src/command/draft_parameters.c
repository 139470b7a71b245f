/* SPDX-License-Identifier: MIT */
/*
 * draft_parameters: which numbers of a captured launch may be tuned: those that
 * reach its block, an array in shared memory, or the launch bounds.  Each is in
 * the draft with the value that it had; the values to try are a comment, unless
 * --propose has asked for them.  Called by capture.c.
 */
#include "config.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "command/draft.h"
#include "command/init.h"
#include "gpu/gpu.h"

/* Threads of a warp; bytes of a binary. */
enum { WARP = 32, MOST_IMAGE = 1 << 26 };

static const struct shmt_draft_number *find(const struct shmt_draft *draft,
                                            const char *name, size_t length)
{
    for (size_t k = 0; k < draft->number_count; k++)
        if (strlen(draft->numbers[k].name) == length &&
            memcmp(draft->numbers[k].name, name, length) == 0)
            return &draft->numbers[k];
    return NULL;
}

static void add(struct shmt_draft *draft, const char *name, size_t length,
                int64_t value, enum shmt_draft_way way)
{
    struct shmt_draft_number *number = &draft->numbers[draft->number_count];

    if (draft->number_count == SHMT_DRAFT_NUMBERS ||
        find(draft, name, length) != NULL)
        return;
    *number = (struct shmt_draft_number){
        .name = shmt_arena_copy(draft->arena, name, length), .value = value,
        .way = way};
    draft->number_count += number->name != NULL;
}

/* -- where a number stands ------------------------------------------------ */

static bool is_extent(const struct shmt_draft *draft, int64_t value)
{
    for (size_t k = 0; k < 3; k++)
        if (value > 1 && draft->block[k] == value)
            return true;
    return false;
}

/* Whether the kernel, or who launches it, names the number; of one that nobody
 * names nothing is known. */
static bool is_used(const struct shmt_draft *draft,
                    const struct shmt_draft_number *number)
{
    return !draft->found || number->way == SHMT_DRAFT_OPTION ||
           (number->way == SHMT_DRAFT_GUARDED &&
            shmt_source_only_defines(draft->code, number->name)) ||
           shmt_text_mentions(draft->own, number->name, 1) > 0 ||
           shmt_text_mentions(draft->launching, number->name, 1) > 0;
}

static const char *reached(const struct shmt_draft *draft,
                           const struct shmt_draft_number *number)
{
    if (shmt_source_is_warp(number->name, number->value))
        return NULL;
    if (is_extent(draft, number->value) &&
        (is_used(draft, number) || draft->launching[0] == '\0'))
        return "it is an extent of the block";
    return shmt_source_reaches(draft->own, number->name);
}

/* What of the source is the kernel's, and its launch's. */
static enum shmtune_status find_own(struct shmt_draft *draft,
                                    struct shmt_error *err)
{
    const struct shmt_source_kernel *kernel;
    struct shmt_source source;
    const char *whole;
    enum shmtune_status status = shmt_draft_whole(draft, &whole, err);

    if (status == SHMTUNE_OK)
        status = shmt_source_read(draft->arena, whole, &source, err);
    if (status != SHMTUNE_OK)
        return status;
    kernel = shmt_draft_kernel_in(draft, &source);
    draft->found = kernel != NULL;
    if (kernel != NULL)
        status = shmt_source_is_overloaded(draft->arena, whole, kernel->name,
                                           &draft->overloaded, err);
    if (status != SHMTUNE_OK)
        return status;
    draft->own = kernel == NULL
                     ? whole : shmt_source_slice(draft->arena, whole, kernel);
    draft->launching = shmt_source_launching(draft->arena, &source,
                                             draft->name);
    return draft->own == NULL || draft->launching == NULL
               ? shmt_error_memory(err) : SHMTUNE_OK;
}

/* -- what is defined ------------------------------------------------------ */

/* `#define NAME NUMBER` at the begin of a line; the name, and behind it. */
static const char *defined_at(const char *line, size_t *length)
{
    line += strspn(line, " \t");
    if (*line++ != '#')
        return NULL;
    line += strspn(line, " \t");
    if (strncmp(line, "define", 6) != 0)
        return NULL;
    line += 6;
    line += strspn(line, " \t");
    *length = shmt_text_name_length(line);
    return *length > 0 && isblank((unsigned char)line[*length]) ? line : NULL;
}

static void find_plain(struct shmt_draft *draft)
{
    const char *line = draft->code;

    while (line != NULL && *line != '\0') {
        size_t length;
        const char *name = defined_at(line, &length);
        char value[64];
        int64_t number;

        if (name != NULL) {
            const char *from = name + length;

            snprintf(value, sizeof value, "%.*s",
                     (int)strcspn(from, "\n\r/"), from);
            if (shmt_init_number(value, &number))
                add(draft, name, length, number, SHMT_DRAFT_PLAIN);
        }
        line = strchr(line, '\n');
        line = line == NULL ? NULL : line + 1;
    }
}

/* Those that the kernel is made of, where the source has no other of the
 * name. */
static void find_constants(struct shmt_draft *draft)
{
    struct shmt_kernel_constants scan = {.begin = draft->own,
                                         .at = draft->own};
    struct shmt_kernel_constant one;

    while (shmt_kernel_next_constant(&scan, draft->own + strlen(draft->own),
                                     &one)) {
        const int64_t value = shmt_kernel_constant_value(&one);
        const char *const name =
            shmt_arena_copy(draft->arena, one.name, one.length);

        if (name != NULL && shmt_kernel_is_constant(draft->code, name, value))
            add(draft, name, one.length, value, SHMT_DRAFT_CONSTANT);
    }
}

/* Behind #ifndef a number asks to be given. */
static bool is_tuned(const struct shmt_draft *draft,
                     const struct shmt_draft_number *number)
{
    return !shmt_source_is_warp(number->name, number->value) &&
           is_used(draft, number);
}

/* What reaches nothing is a definition as any other, before those that it may
 * be used by. */
static void drop_others(struct shmt_draft *draft)
{
    struct shmt_text definitions = {0};
    size_t kept = 0;

    for (size_t k = 0; k < draft->number_count; k++) {
        struct shmt_draft_number *one = &draft->numbers[k];

        one->reaches = reached(draft, one);
        if (shmt_kernel_may_name(one->name) &&
            (one->reaches != NULL || (one->way == SHMT_DRAFT_GUARDED &&
                                      is_tuned(draft, one)))) {
            draft->numbers[kept++] = *one;
            continue;
        }
        if (one->way == SHMT_DRAFT_OPTION)
            shmt_draft_add_definition(one, &definitions);
    }
    draft->number_count = kept;
    shmt_text_add(&definitions, shmt_text_string(&draft->definitions));
    definitions.failed |= draft->definitions.failed;
    shmt_text_free(&draft->definitions);
    draft->definitions = definitions;
}

/* Part `axis` of "A, B", without blanks; *length 0: there is none. */
static const char *part_of(const char *list, int axis, size_t *length)
{
    for (; axis > 0 && list != NULL; axis--) {
        list = strchr(list, ',');
        list = list == NULL ? NULL : list + 1;
    }
    *length = 0;
    if (list == NULL)
        return NULL;
    list += strspn(list, " \t\n");
    *length = strcspn(list, ", \t\n");
    return list;
}

/* Whether `dim3 threads(A, B)` says this block, with names for all that is more
 * than 1. */
static bool says_block(const struct shmt_draft *draft, const char *list)
{
    for (int axis = 0; axis < shmt_draft_axes(draft->block); axis++) {
        size_t length;
        const char *part = part_of(list, axis, &length);
        const struct shmt_draft_number *one =
            part == NULL ? NULL : find(draft, part, length);

        if (draft->block[axis] > 1 &&
            (one == NULL || one->value != draft->block[axis]))
            return false;
    }
    return true;
}

/* Of several numbers of one value the one that the source gives to this axis;
 * NULL: it does not say. */
static const char *spelled_block(const struct shmt_draft *draft, int axis)
{
    for (size_t k = 0; k < draft->text.variable_count; k++) {
        const char *list = draft->text.variables[k].value;
        size_t length;
        const char *part = part_of(list, axis, &length);

        if (part != NULL && draft->block[axis] > 1 && says_block(draft, list))
            return find(draft, part, length)->name;
    }
    return NULL;
}

/* Whether the number may be this extent of the block, by its value. */
static bool may_be_block(const struct shmt_draft *draft,
                         const struct shmt_draft_number *one, int axis)
{
    return one->way == SHMT_DRAFT_BLOCK
               ? one->axis == axis
               : one->way != SHMT_DRAFT_GRID && draft->block[axis] > 1 &&
                     one->value == draft->block[axis];
}

size_t shmt_draft_blocks(const struct shmt_draft *draft, int axis,
                         const char *names[SHMT_DRAFT_OPTIONS])
{
    size_t count = 0;

    if (draft->said_block[axis] != NULL || spelled_block(draft, axis) != NULL)
        return 0;
    for (size_t k = 0; k < draft->number_count && count < SHMT_DRAFT_OPTIONS;
         k++)
        if (may_be_block(draft, &draft->numbers[k], axis))
            names[count++] = draft->numbers[k].name;
    return count;
}

const char *shmt_draft_block(const struct shmt_draft *draft, int axis)
{
    const struct shmt_draft_question *const asked =
        &draft->questions[3 + axis];
    const char *const said = draft->said_block[axis] != NULL
                                 ? draft->said_block[axis]
                                 : spelled_block(draft, axis);

    if (said != NULL)
        return said;
    if (asked->count > 1)
        return asked->options[asked->chosen];
    for (size_t k = 0; k < draft->number_count; k++)
        if (may_be_block(draft, &draft->numbers[k], axis))
            return draft->numbers[k].name;
    return NULL;
}

/* An extent that is no macro is a number of the launch alone. */
static void add_blocks(struct shmt_draft *draft)
{
    static const char *const names[] = {"BLOCK_X", "BLOCK_Y", "BLOCK_Z"};

    for (int axis = 0; axis < 3; axis++) {
        const size_t before = draft->number_count;

        if ((axis > 0 && draft->block[axis] == 1) ||
            shmt_draft_block(draft, axis) != NULL)
            continue;
        add(draft, names[axis], strlen(names[axis]), draft->block[axis],
            SHMT_DRAFT_BLOCK);
        if (draft->number_count == before)
            continue;
        draft->numbers[before].axis = axis;
        draft->numbers[before].given =
            shmt_draft_is_given(draft, names[axis], draft->block[axis]);
        if (draft->numbers[before].given)
            draft->numbers[before].reaches = "its template is given it";
        else if (draft->code != NULL &&
                 shmt_source_asks_block(draft->own, axis))
            draft->numbers[before].reaches = "the source asks blockDim";
    }
}

/* A kernel with a loop over the grid may do with other blocks than there are:
 * each tried is compared with what the application got. */
const char *shmt_draft_propose_grid(struct shmt_draft *draft, int axis)
{
    static const char *const names[] = {"GRID_X", "GRID_Y", "GRID_Z"};
    const char *name = names[axis];
    const size_t before = draft->number_count;
    bool strides;

    if (!draft->propose || draft->grid[axis] < 2 || draft->code == NULL ||
        !shmt_source_strides(draft->arena, draft->own, axis, &strides) ||
        !strides)
        return NULL;
    add(draft, name, strlen(name), draft->grid[axis], SHMT_DRAFT_GRID);
    if (draft->number_count > before) {
        draft->numbers[before].axis = axis;
        draft->numbers[before].reaches = "the source asks gridDim";
        draft->numbers[before].most = INT64_MAX;
    }
    for (size_t k = 0; k < draft->number_count; k++)
        if (draft->numbers[k].way == SHMT_DRAFT_GRID &&
            strcmp(draft->numbers[k].name, name) == 0)
            return name;
    return NULL;
}

/* -- how large it may become ---------------------------------------------- */

/* Bytes of shared memory that arrays have in the kernel of this source that has
 * most, since all are compiled; 0: not known, as of an image that is too
 * large. */
static enum shmtune_status shared_bytes(const struct shmt_draft *draft,
                                        int64_t *out, struct shmt_error *err)
{
    const char *end = draft->image == NULL ? NULL : strrchr(draft->image, '.');
    const char *path, *data;
    enum shmtune_status status;
    uint64_t bytes;
    size_t size;

    *out = 0;
    if (end == NULL)
        return SHMTUNE_OK;
    path = shmt_path_join(draft->arena,
                          shmt_path_folder(draft->arena, draft->path),
                          draft->image);
    if (path == NULL)
        return shmt_error_memory(err);
    status = shmt_path_read(draft->arena, path, MOST_IMAGE, &data, &size, err);
    if (status != SHMTUNE_OK)
        return status == SHMTUNE_INVALID_FILE ? SHMTUNE_OK : status;
    bytes = strcmp(end, ".cubin") == 0 ? shmt_cubin_shared_bytes(data, size)
                                       : 0;
    if (strcmp(end, ".ptx") == 0)
        *out = shmt_ptx_shared_bytes(data);
    else if (bytes <= INT32_MAX)
        *out = (int64_t)bytes;
    return SHMTUNE_OK;
}

/* Threads of a block, as far as this extent of it goes. */
static int64_t most_of_extent(const struct shmt_draft *draft, int64_t value)
{
    const int64_t threads =
        draft->block[0] * draft->block[1] * draft->block[2];

    return shmt_init_most_threads(
               draft->code != NULL && draft->found ? draft->own : "") *
           value / threads;
}

/* Less than a warp is no block that is worth a try.  Beyond `most` the block is
 * more than there is, or shared memory where that grows as the number does;
 * what of it the launch gives may be meant for the block as it was. */
static void limit(const struct shmt_draft *draft, int64_t shared,
                  struct shmt_draft_number *one)
{
    one->least = 1;
    one->most = INT64_MAX;
    if (is_extent(draft, one->value) && one->value >= WARP &&
        draft->block[0] * draft->block[1] * draft->block[2] == one->value)
        one->least = WARP;
    if (one->way == SHMT_DRAFT_BLOCK && draft->shared > 0 &&
        (draft->said_shared == NULL ||
         shmt_text_mentions(draft->said_shared, one->name, 1) == 0))
        one->most = one->value;
    else if (one->way == SHMT_DRAFT_BLOCK || is_extent(draft, one->value))
        one->most = most_of_extent(draft, one->value);
    if (one->way != SHMT_DRAFT_BLOCK && shared > 0 && one->value > 0 &&
        one->value <= INT32_MAX &&
        one->most > SHMT_INIT_SHARED * one->value / shared)
        one->most = SHMT_INIT_SHARED * one->value / shared;
    if (one->way != SHMT_DRAFT_BLOCK &&
        one->most > shmt_draft_most_of_arrays(draft, one))
        one->most = shmt_draft_most_of_arrays(draft, one);
}

enum shmtune_status shmt_draft_find_numbers(struct shmt_draft *draft,
                                            struct shmt_error *err)
{
    int64_t shared;
    enum shmtune_status status = shared_bytes(draft, &shared, err);

    if (status != SHMTUNE_OK)
        return status;
    if (draft->code != NULL) {
        status = find_own(draft, err);
        if (status != SHMTUNE_OK)
            return status;
        for (size_t k = 0; k < draft->text.macro_count; k++) {
            const struct shmt_source_macro *macro = &draft->text.macros[k];
            int64_t value;

            if (shmt_init_number(macro->value, &value))
                add(draft, macro->name, strlen(macro->name), value,
                    SHMT_DRAFT_GUARDED);
        }
        find_plain(draft);
        find_constants(draft);
        drop_others(draft);
        shmt_draft_find_block(draft);
        status = shmt_draft_find_arrays(draft, err);
        if (status != SHMTUNE_OK)
            return status;
    }
    add_blocks(draft);
    shmt_draft_find_shared(draft);
    for (size_t k = 0; k < draft->number_count; k++) {
        struct shmt_draft_number *const one = &draft->numbers[k];

        limit(draft, shared, one);
        if (draft->code != NULL && one->value == 1 &&
            !shmt_source_takes_zero(draft->arena, draft->code, one->name,
                                    &one->zero))
            return shmt_error_memory(err);
    }
    return SHMTUNE_OK;
}

/* -- the text ------------------------------------------------------------- */

static void add_reason(const struct shmt_draft_number *one,
                       struct shmt_text *text)
{
    static const char *const ways[] = {
        [SHMT_DRAFT_OPTION] = "an option -D of the application",
        [SHMT_DRAFT_GUARDED] = "a macro behind #ifndef",
        [SHMT_DRAFT_PLAIN] = "a #define of the source",
        [SHMT_DRAFT_CONSTANT] = "a constant of the source",
        [SHMT_DRAFT_BLOCK] = "the launch's block",
        [SHMT_DRAFT_GRID] = "the launch's grid"};

    shmt_text_addf(text, "  # %s is %s%s%s.\n", one->name, ways[one->way],
                   one->reaches == NULL ? "" : "; ",
                   one->reaches == NULL ? "" : one->reaches);
    if (one->way == SHMT_DRAFT_BLOCK && one->reaches == NULL)
        shmt_text_add(text, "  # Only a kernel that asks blockDim takes "
                      "another.\n");
}

static const char *suffix_of(const struct shmt_draft_number *one)
{
    return (one->way == SHMT_DRAFT_BLOCK && !one->given) ||
                   one->way == SHMT_DRAFT_GRID
               ? ", scope: launch}\n"
           : one->way == SHMT_DRAFT_PLAIN || one->way == SHMT_DRAFT_CONSTANT
               ? ", override: true}\n" : "}\n";
}

/* A grid is no power of two. */
static size_t find_grids(int64_t value, int64_t out[SHMT_INIT_VALUES])
{
    const int64_t half = (value + 1) / 2, quarter = (value + 3) / 4;
    size_t count = 0;

    if (quarter < half)
        out[count++] = quarter;
    out[count++] = half;
    for (int64_t times = 1; times <= 4; times *= 2)
        out[count++] = times * value;
    return count;
}

static void add_values(const struct shmt_draft_number *one,
                       struct shmt_text *text)
{
    int64_t values[SHMT_INIT_VALUES];
    const size_t count =
        one->way == SHMT_DRAFT_GRID
            ? find_grids(one->value, values)
            : shmt_init_values(one->value, one->least, one->most, one->zero,
                               values);

    shmt_init_add_values(values, shmt_draft_drop_refused(one, values, count),
                         one->value, text);
}

bool shmt_draft_is_proposed(const struct shmt_draft *draft,
                            const struct shmt_draft_number *one)
{
    return draft->propose && one->reaches != NULL &&
           one->most >= one->value && one->wrong_count == 0;
}

/* A number of the block alone, of a kernel that does not ask for it, is tuned
 * by who knows the kernel. */
void shmt_draft_parameters(const struct shmt_draft *draft,
                           struct shmt_text *text)
{
    shmt_text_add(text, "parameters:\n");
    for (size_t k = 0; k < draft->number_count; k++) {
        const struct shmt_draft_number *one = &draft->numbers[k];
        const bool proposed = shmt_draft_is_proposed(draft, one);

        if (one == draft->changed) {
            shmt_text_addf(text, "  %s: {values: [%lld], default: %lld%s",
                           one->name, (long long)draft->changed_to,
                           (long long)draft->changed_to, suffix_of(one));
            continue;
        }
        add_reason(one, text);
        shmt_draft_add_refused(one, text);
        shmt_draft_add_choice(one, text);
        if (!proposed)
            shmt_text_addf(text, "  # To tune it%s, write this instead:\n  # ",
                           one->wrong_count > 0 ? " all the same" : "");
        shmt_text_addf(text, "%s%s: {values: ", proposed ? "  " : "",
                       one->name);
        add_values(one, text);
        shmt_text_add(text, suffix_of(one));
        if (!proposed)
            shmt_text_addf(text, "  %s: {values: [%lld], default: %lld%s",
                           one->name, (long long)one->value,
                           (long long)one->value, suffix_of(one));
    }
    shmt_draft_registers(draft, text);
    if (draft->changed == NULL)
        shmt_draft_constraints(draft, text);
}
