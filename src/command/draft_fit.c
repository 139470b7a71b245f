/* SPDX-License-Identifier: MIT */
/*
 * draft_fit: the sizes of a captured launch: which numbers are dimensions, the
 * counts and the grid that follow from them.  Where several launches of the
 * kernel were captured, an expression stands in the draft when it fits all of
 * them; a comment says how many those are.  Called by draft_write.c.
 *
 * Of one launch alone little follows: then the guesses are the usual ones, a
 * count that is a number of the arguments, a grid that covers one by blocks.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "command/draft.h"

size_t shmt_draft_launches(const struct shmt_draft *draft)
{
    return draft->launch_count > 0 ? draft->launch_count : 1;
}

const struct shmt_draft *shmt_draft_launch(const struct shmt_draft *draft,
                                           size_t j)
{
    return draft->launch_count > 0 ? draft->launches[j] : draft;
}

/* -- dimensions ----------------------------------------------------------- */

/* Elements, as this draft counts them, of what the argument points to the
 * begin of in a launch; 0: of nothing. */
static int64_t elements_of(const struct shmt_draft *draft, size_t argument,
                           const struct shmt_draft *launch)
{
    const struct shmt_draft_pointer *own =
        shmt_draft_plain_pointer(&draft->arguments[argument]);
    const struct shmt_draft_pointer *pointer =
        shmt_draft_plain_pointer(&launch->arguments[argument]);
    uint64_t size, bytes;

    if (own == NULL || pointer == NULL || pointer->offset != 0)
        return 0;
    size = shmt_element_bytes(draft->memories[own->memory].element);
    bytes = launch->memories[pointer->memory].bytes;
    return bytes % size != 0 || bytes / size > (uint64_t)1 << 40
               ? 0 : (int64_t)(bytes / size);
}

int64_t shmt_draft_size(const struct shmt_draft *draft,
                        const struct shmt_draft_dimension *one,
                        const struct shmt_draft *launch)
{
    int64_t elements, each;

    if (!one->elements)
        return shmt_draft_is_integer(&launch->arguments[one->argument])
                   ? shmt_draft_integer(&launch->arguments[one->argument])
                   : 0;
    elements = elements_of(draft, one->argument, launch);
    if (one->over < 0)
        return elements;
    if (!shmt_draft_is_integer(&launch->arguments[one->over]))
        return 0;
    each = shmt_draft_integer(&launch->arguments[one->over]);
    return each < 1 || elements % each != 0 ? 0 : elements / each;
}

static bool is_named(const struct shmt_draft *draft, const char *name)
{
    for (size_t k = 0; k < draft->argument_count; k++)
        if (strcmp(draft->arguments[k].name, name) == 0)
            return true;
    for (size_t k = 0; k < draft->memory_count; k++)
        if (strcmp(draft->memories[k].name, name) == 0)
            return true;
    for (size_t k = 0; k < draft->number_count; k++)
        if (strcmp(draft->numbers[k].name, name) == 0)
            return true;
    return false;
}

static void add_dimension(struct shmt_draft *draft,
                          struct shmt_draft_dimension one)
{
    one.value = shmt_draft_size(draft, &one, draft);
    if (draft->dimension_count < SHMT_DRAFT_DIMENSIONS && one.value >= 2 &&
        one.value <= (int64_t)1 << 40)
        draft->dimensions[draft->dimension_count++] = one;
}

static bool varies(const struct shmt_draft *draft,
                   const struct shmt_draft_dimension *one)
{
    for (size_t j = 0; j < shmt_draft_launches(draft); j++) {
        const int64_t value =
            shmt_draft_size(draft, one, shmt_draft_launch(draft, j));

        if (value > 0 && value != shmt_draft_size(draft, one, draft))
            return true;
    }
    return false;
}

/* Elements of a buffer, where launches tell them from a number. */
static void add_elements(struct shmt_draft *draft, size_t argument,
                         int64_t over)
{
    const char *own = draft->arguments[argument].name;
    struct shmt_draft_dimension one = {
        .elements = true, .argument = argument, .over = over};
    char name[160];

    if (over < 0)
        snprintf(name, sizeof name, "%.64s_count", own);
    else
        snprintf(name, sizeof name, "%.64s_per_%.64s", own,
                 draft->arguments[over].name);
    if (strlen(name) > 64 || is_named(draft, name) || !varies(draft, &one))
        return;
    one.name = shmt_arena_copy(draft->arena, name, strlen(name));
    if (one.name != NULL)
        add_dimension(draft, one);
}

/* The argument that the memory is called by; -1: none. */
static int64_t argument_of(const struct shmt_draft *draft, size_t memory)
{
    for (size_t k = 0; k < draft->argument_count; k++)
        if (strcmp(draft->arguments[k].name, draft->memories[memory].name) ==
            0)
            return (int64_t)k;
    return -1;
}

void shmt_draft_find_dimensions(struct shmt_draft *draft)
{
    size_t scalars;

    draft->dimension_count = 0;
    for (size_t k = 0; k < draft->argument_count; k++)
        if (shmt_draft_is_integer(&draft->arguments[k]))
            add_dimension(draft, (struct shmt_draft_dimension){
                .name = draft->arguments[k].name, .argument = k, .over = -1});
    scalars = draft->dimension_count;
    for (size_t m = 0;
         shmt_draft_launches(draft) > 1 && m < draft->memory_count; m++) {
        const int64_t k = argument_of(draft, m);

        if (k < 0 || draft->memories[m].symbol != NULL)
            continue;
        add_elements(draft, (size_t)k, -1);
        for (size_t i = 0; i < scalars; i++)
            add_elements(draft, (size_t)k,
                         (int64_t)draft->dimensions[i].argument);
    }
}

static size_t used_dimensions(const struct shmt_draft *draft)
{
    size_t count = 0;

    for (size_t k = 0; k < draft->dimension_count; k++)
        count += draft->dimensions[k].used;
    return count;
}

/* A spec has eight. */
static bool may_use(const struct shmt_draft *draft,
                    const struct shmt_draft_dimension *one,
                    const struct shmt_draft_dimension *other)
{
    const size_t more = (size_t)!one->used +
                        (size_t)(other != NULL && other != one &&
                                 !other->used);

    return used_dimensions(draft) + more <= SHMT_KERNEL_DIMENSIONS;
}

/* -- expressions ---------------------------------------------------------- */

/* a * b / (factor * block * number), up or down; what is NULL or 1 is left
 * out, and so is `factor` in front where nothing is divided. */
struct form {
    struct shmt_draft_dimension *a, *b;
    const struct shmt_draft_number *by, *and_by;
    int64_t constant, times;
    bool down;
};

int64_t shmt_draft_value(const struct shmt_draft_number *one,
                         const struct shmt_draft *launch)
{
    return one == NULL                    ? 1
           : one->way == SHMT_DRAFT_BLOCK ? launch->block[one->axis]
                                          : one->value;
}

/* 0: it has no value there. */
static int64_t evaluate(const struct shmt_draft *draft,
                        const struct form *form,
                        const struct shmt_draft *launch)
{
    const int64_t by = shmt_draft_value(form->by, launch);
    int64_t value = shmt_draft_size(draft, form->a, launch), other, divisor;

    if (form->b != NULL) {
        other = shmt_draft_size(draft, form->b, launch);
        if (other < 1 || value > ((int64_t)1 << 40) / other)
            return 0;
        value *= other;
    }
    if (value < 1 || by < 1 || shmt_draft_value(form->and_by, launch) < 1 ||
        value > ((int64_t)1 << 50) / form->times)
        return 0;
    if (by > 1 << 20 || shmt_draft_value(form->and_by, launch) > 1 << 20)
        return 0;
    divisor = by * shmt_draft_value(form->and_by, launch) * form->constant;
    value *= form->times;
    return form->down ? value / divisor : (value + divisor - 1) / divisor;
}

static void add_form(const struct form *form, struct shmt_text *text)
{
    const bool divided =
        form->by != NULL || form->and_by != NULL || form->constant > 1;
    const bool several = (form->by != NULL) + (form->and_by != NULL) +
                             (form->constant > 1) > 1;
    const char *between = "";

    shmt_text_add(text, divided && !form->down ? "ceildiv(" : "");
    if (form->times > 1)
        shmt_text_addf(text, "%lld * ", (long long)form->times);
    shmt_text_add(text, form->a->name);
    if (form->b != NULL)
        shmt_text_addf(text, " * %s", form->b->name);
    if (!divided)
        return;
    shmt_text_add(text, !form->down ? ", " : several ? " // (" : " // ");
    if (form->constant > 1) {
        shmt_text_addf(text, "%lld", (long long)form->constant);
        between = " * ";
    }
    if (form->by != NULL) {
        shmt_text_addf(text, "%s%s", between, form->by->name);
        between = " * ";
    }
    if (form->and_by != NULL)
        shmt_text_addf(text, "%s%s", between, form->and_by->name);
    shmt_text_add(text, !form->down || several ? ")" : "");
}

static void use(struct shmt_draft *draft, const struct form *form)
{
    form->a->used = true;
    if (form->b != NULL)
        form->b->used = true;
    /* It counts what is there for each of a number: both make the count. */
    for (size_t k = 0; form->a->over >= 0 && k < draft->dimension_count; k++)
        if (!draft->dimensions[k].elements &&
            draft->dimensions[k].argument == (size_t)form->a->over &&
            may_use(draft, &draft->dimensions[k], NULL))
            draft->dimensions[k].used = true;
}

static int64_t count_of(const struct shmt_draft_memory *memory)
{
    return (int64_t)(memory->bytes / shmt_element_bytes(memory->element));
}

/* -- counts --------------------------------------------------------------- */

/* In each launch whose buffer can be told. */
static bool fits_count(const struct shmt_draft *draft, size_t m,
                       const struct form *form)
{
    const struct shmt_draft_memory *memory = &draft->memories[m];
    const int64_t k = argument_of(draft, m);
    const int64_t own = count_of(memory);

    if (evaluate(draft, form, draft) != own)
        return false;
    for (size_t j = 0; k >= 0 && j < shmt_draft_launches(draft); j++) {
        const struct shmt_draft *launch = shmt_draft_launch(draft, j);
        const int64_t elements = elements_of(draft, (size_t)k, launch);

        if (elements > 0 && evaluate(draft, form, launch) != elements)
            return false;
    }
    return true;
}

static bool try_count(struct shmt_draft *draft, size_t m,
                      const struct form *form, struct shmt_text *text)
{
    /* Elements of a buffer are a dimension for the grid's sake alone. */
    if ((form->a->elements && !form->a->used) ||
        (form->b != NULL && form->b->elements && !form->b->used) ||
        !may_use(draft, form->a, form->b) || !fits_count(draft, m, form))
        return false;
    use(draft, form);
    add_form(form, text);
    return true;
}

/* "n", "rows * cols", "3 * n", or the number itself. */
void shmt_draft_add_count(struct shmt_draft *draft, size_t m,
                          struct shmt_text *text)
{
    struct shmt_draft_dimension *const all = draft->dimensions;
    const int64_t count = count_of(&draft->memories[m]);
    struct form form = {.constant = 1, .times = 1};

    for (size_t k = 0; k < draft->dimension_count; k++) {
        form.a = &all[k];
        if (try_count(draft, m, &form, text))
            return;
    }
    for (size_t k = 0; k < draft->dimension_count; k++)
        for (size_t i = k + 1; i < draft->dimension_count; i++) {
            form.a = &all[k];
            form.b = &all[i];
            if (try_count(draft, m, &form, text))
                return;
        }
    form.b = NULL;
    for (size_t k = 0; k < draft->dimension_count; k++) {
        form.a = &all[k];
        form.times = count / all[k].value;
        if (all[k].value >= 64 && form.times >= 1 && form.times <= 64 &&
            try_count(draft, m, &form, text))
            return;
    }
    shmt_text_addf(text, "%lld", (long long)count);
}

void shmt_draft_add_extent(struct shmt_draft *draft, size_t argument,
                           size_t axis, struct shmt_text *text)
{
    const int64_t own = draft->arguments[argument].texture.extents[axis];

    for (size_t k = 0; k < draft->dimension_count; k++) {
        struct shmt_draft_dimension *one = &draft->dimensions[k];
        bool fits = !one->elements && may_use(draft, one, NULL);

        for (size_t j = 0; fits && j < shmt_draft_launches(draft); j++) {
            const struct shmt_draft *launch = shmt_draft_launch(draft, j);

            fits = shmt_draft_size(draft, one, launch) ==
                   launch->arguments[argument].texture.extents[axis];
        }
        if (!fits)
            continue;
        one->used = true;
        shmt_text_add(text, one->name);
        return;
    }
    shmt_text_addf(text, "%lld", (long long)own);
}

/* -- the grid ------------------------------------------------------------- */

/* What fits best of all that was tried. */
struct search {
    struct shmt_draft *draft;
    int axis;
    size_t best;               /* launches that it fits; 0: none */
    struct form form;
};

/* true: it fits all. */
static bool try_form(struct search *search, const struct form *form)
{
    struct shmt_draft *draft = search->draft;
    size_t count = 0;

    if (!may_use(draft, form->a, form->b) ||
        evaluate(draft, form, draft) != draft->grid[search->axis])
        return false;
    for (size_t j = 0; j < shmt_draft_launches(draft); j++) {
        const struct shmt_draft *launch = shmt_draft_launch(draft, j);

        count += evaluate(draft, form, launch) == launch->grid[search->axis];
    }
    if (count > search->best) {
        search->best = count;
        search->form = *form;
    }
    return count == shmt_draft_launches(draft);
}

/* With each dimension, and each two numbers of the arguments. */
static bool try_dimensions(struct search *search, struct form form)
{
    struct shmt_draft *draft = search->draft;
    const size_t count = draft->dimension_count;

    for (size_t k = 0; k < count; k++) {
        form.a = &draft->dimensions[k];
        if (try_form(search, &form))
            return true;
    }
    for (size_t k = 0; k < count; k++)
        for (size_t i = k + 1; i < count; i++) {
            form.a = &draft->dimensions[k];
            form.b = &draft->dimensions[i];
            if (!form.a->elements && !form.b->elements &&
                try_form(search, &form))
                return true;
        }
    return false;
}

static const struct shmt_draft_number *
block_of(const struct shmt_draft *draft, int axis)
{
    const char *name = shmt_draft_block(draft, axis);

    for (size_t k = 0; name != NULL && k < draft->number_count; k++)
        if (strcmp(draft->numbers[k].name, name) == 0)
            return &draft->numbers[k];
    return NULL;
}

/* By the block of its axis, alone and with another number: the usual ones, and
 * all that one launch lets be guessed. */
static bool try_blocks(struct search *search, bool down)
{
    struct shmt_draft *draft = search->draft;
    const struct shmt_draft_number *block = block_of(draft, search->axis);
    struct form form = {.by = block, .constant = 1, .times = 1, .down = down};

    if (block == NULL)
        return false;
    for (size_t k = 0; k < draft->dimension_count; k++) {
        form.a = &draft->dimensions[k];
        form.and_by = NULL;
        if (try_form(search, &form))
            return true;
        for (size_t i = 0; i < draft->number_count; i++) {
            form.and_by = &draft->numbers[i];
            if (form.and_by->way != SHMT_DRAFT_BLOCK &&
                form.and_by->way != SHMT_DRAFT_GRID &&
                form.and_by->value >= 2 && form.and_by != block &&
                try_form(search, &form))
                return true;
        }
    }
    form.and_by = NULL;
    return shmt_draft_launches(draft) > 1 && try_dimensions(search, form);
}

/* What only launches with other grids can tell. */
static bool try_others(struct search *search)
{
    const struct shmt_draft *draft = search->draft;
    const struct shmt_draft_number *block = block_of(draft, search->axis);
    struct form form = {.constant = 1, .times = 1};

    if (try_dimensions(search, form))
        return true;
    for (int down = 0; down <= 1; down++) {
        form = (struct form){.constant = 1, .times = 1, .down = down == 1};
        if (down == 1 && try_blocks(search, true))
            return true;
        for (size_t k = 0; k < draft->number_count; k++) {
            form.by = &draft->numbers[k];
            if (shmt_draft_value(form.by, draft) >= 2 &&
                try_dimensions(search, form))
                return true;
        }
        for (form.constant = 2; form.constant <= 1024; form.constant *= 2)
            for (int with = 0; with <= 1; with++) {
                form.by = with == 1 ? block : NULL;
                if ((with == 0 || block != NULL) &&
                    try_dimensions(search, form))
                    return true;
            }
    }
    return false;
}

/* How many numbers of blocks there were along the axis. */
static size_t grids_of(const struct shmt_draft *draft, int axis)
{
    size_t count = 0;

    for (size_t j = 0; j < shmt_draft_launches(draft); j++) {
        size_t i = 0;

        while (shmt_draft_launch(draft, i)->grid[axis] !=
               shmt_draft_launch(draft, j)->grid[axis])
            i++;
        count += i == j;
    }
    return count;
}

/* -- its extents ---------------------------------------------------------- */

/* What an extent of the grid is, and where that is from. */
struct extent {
    struct search search;
    struct shmt_draft_said said;
    size_t grids;
    bool found;                /* an expression */
};

/* NULL, and no draft: there is no memory. */
static const char *text_of(struct shmt_draft *draft, const struct form *form)
{
    struct shmt_text text = {0};
    const char *out;

    add_form(form, &text);
    out = shmt_text_keep(&text, draft->arena);
    draft->keys.failed |= out == NULL;
    return out;
}

static void add_option(struct shmt_draft_question *asked, const char *text)
{
    for (size_t k = 0; k < asked->count; k++)
        if (text != NULL && strcmp(asked->options[k], text) == 0)
            return;
    if (text != NULL && asked->count < SHMT_DRAFT_OPTIONS)
        asked->options[asked->count++] = text;
}

/* The form with another number of the same value in the place of one. */
static void add_others(struct extent *extent, bool and_by,
                       struct shmt_draft_question *asked)
{
    struct shmt_draft *const draft = extent->search.draft;
    const struct form *const own = &extent->search.form;
    const struct shmt_draft_number *const old = and_by ? own->and_by
                                                       : own->by;

    for (size_t k = 0; old != NULL && old->way != SHMT_DRAFT_BLOCK &&
                       k < draft->number_count; k++) {
        const struct shmt_draft_number *const one = &draft->numbers[k];
        struct form form = *own;

        if (one == own->by || one == own->and_by ||
            one->way == SHMT_DRAFT_BLOCK || one->way == SHMT_DRAFT_GRID ||
            one->value != old->value)
            continue;
        *(and_by ? &form.and_by : &form.by) = one;
        add_option(asked, text_of(draft, &form));
    }
}

/* What is written for the axis, and may be instead. */
static void find_options(struct extent *extent,
                         struct shmt_draft_question *asked)
{
    struct shmt_draft *const draft = extent->search.draft;

    *asked = (struct shmt_draft_question){0};
    for (size_t k = 0; k < extent->said.count; k++)
        add_option(asked, extent->said.texts[k]);
    if (asked->count > 0 || !extent->found)
        return;
    add_option(asked, text_of(draft, &extent->search.form));
    add_others(extent, false, asked);
    add_others(extent, true, asked);
}

/* The dimensions that it has; false: more than there may be. */
static bool use_all(struct shmt_draft *draft, const char *text)
{
    size_t more = 0;

    for (size_t k = 0; k < draft->dimension_count; k++)
        more += !draft->dimensions[k].used &&
                shmt_text_mentions(text, draft->dimensions[k].name, 1) > 0;
    if (used_dimensions(draft) + more > SHMT_KERNEL_DIMENSIONS)
        return false;
    for (size_t k = 0; k < draft->dimension_count; k++)
        draft->dimensions[k].used |=
            shmt_text_mentions(text, draft->dimensions[k].name, 1) > 0;
    return true;
}

/* By the host's code; else by what fits, or is usual. */
static void find_extent(struct extent *extent)
{
    struct shmt_draft *const draft = extent->search.draft;
    const int axis = extent->search.axis;

    extent->grids = grids_of(draft, axis);
    shmt_draft_said_grid(draft, axis, &extent->said);
    if (extent->said.count > 0 &&
        use_all(draft, extent->said.texts[0])) {
        extent->found = !shmt_draft_is_constant(draft,
                                                extent->said.texts[0]);
        if (!extent->found && extent->said.count > 1)
            extent->said.count = 1;
        return;
    }
    extent->said.count = 0;
    if (extent->grids > 1 || draft->grid[axis] > 1)
        extent->found = try_blocks(&extent->search, false);
    if (!extent->found && extent->grids > 1)
        extent->found = try_others(&extent->search);
    if (extent->found)
        use(draft, &extent->search.form);
}

/* Of how many launches it is known. */
static void add_finding(const struct extent *extent, bool sure,
                        struct shmt_text *text)
{
    const struct search *const search = &extent->search;
    const size_t all = shmt_draft_launches(search->draft);

    if (all == 1)
        shmt_text_add(text, sure ? ".\n"
                                 : "a guess from one launch; `--count` "
                                   "captures others to prove it.\n");
    else if (extent->grids == 1)
        shmt_text_addf(text, "%sit fits all %zu launches, which have the same "
                       "grid.\n", sure ? ";\n  # " : "a guess; ", all);
    else if (extent->found)
        shmt_text_addf(text, "%sfits all %zu launches that were captured, "
                       "with %zu grids.\n", sure ? ";\n  # it " : "", all,
                       extent->grids);
    else {
        shmt_text_addf(text, "nothing fits all %zu launches that were "
                       "captured", all);
        if (search->best > 1) {
            const char *best = text_of(search->draft, &search->form);

            shmt_text_add(text, ";\n  # ");
            shmt_draft_add_expression(best == NULL ? "" : best, text);
            shmt_text_addf(text, " fits %zu of them", search->best);
        }
        shmt_text_add(text, ".\n");
    }
}

static void add_notes(const struct extent *extent, struct shmt_text *text)
{
    const struct search *const search = &extent->search;
    const size_t all = shmt_draft_launches(search->draft);
    const bool said = extent->said.count == 1 &&
                      (extent->found || search->draft->grid[search->axis] > 1);

    if (!extent->found && !said && extent->grids == 1 &&
        (all == 1 || search->draft->grid[search->axis] == 1))
        return;
    shmt_text_addf(text, "  # Blocks along %c: ", "xyz"[search->axis]);
    if (said)
        shmt_draft_tell_site(search->draft, &extent->said, text);
    if (extent->found || said || extent->grids > 1)
        add_finding(extent, said, text);
    else
        shmt_text_addf(text, "the same in all %zu launches that were "
                       "captured.\n", all);
}

static bool is_constant(const struct shmt_draft *draft, size_t memory)
{
    const int64_t k = argument_of(draft, memory);
    const struct shmt_draft_dimension one = {
        .elements = true, .argument = (size_t)(k < 0 ? 0 : k), .over = -1};

    return k < 0 || !varies(draft, &one);
}

/* The memory that the launch changes whose elements the blocks cover along the
 * axis, each thread one: the size of such a kernel is a macro.  NULL: none. */
static const struct shmt_draft_memory *
covered_by(const struct shmt_draft *draft, int axis)
{
    const int64_t block = shmt_draft_value(block_of(draft, axis), draft);

    for (size_t m = 0; block > 1 && draft->grid[axis] > 1 &&
                       m < draft->memory_count; m++) {
        const struct shmt_draft_memory *const one = &draft->memories[m];

        if (one->after != NULL && is_constant(draft, m) &&
            (count_of(one) + block - 1) / block == draft->grid[axis])
            return one;
    }
    return NULL;
}

static void add_cover(const struct shmt_draft *draft, int axis,
                      const struct shmt_draft_memory *memory,
                      struct shmt_text *text, struct shmt_text *notes)
{
    shmt_text_addf(text, "\"ceildiv(%lld, %s)\"",
                   (long long)count_of(memory), block_of(draft, axis)->name);
    shmt_text_addf(notes, "  # Blocks along %c: a guess; with a thread for "
                   "each element of %s they are as many.\n", "xyz"[axis],
                   memory->name);
}

/* Whether the kernel does with any blocks that have as many threads as there
 * were, and has no loop over the grid, which does with any grid; the block is
 * then a parameter of the launch. */
static bool keeps_threads(const struct shmt_draft *draft, int axis)
{
    const struct shmt_draft_number *const block = block_of(draft, axis);
    bool strides;

    return draft->grid[axis] > 1 && draft->found && block != NULL &&
           block->way == SHMT_DRAFT_BLOCK && block->reaches != NULL &&
           shmt_source_counts_threads(draft->own, axis) &&
           shmt_source_strides(draft->arena, draft->own, axis, &strides) &&
           !strides;
}

static void add_threads(const struct shmt_draft *draft, int axis,
                        struct shmt_text *text, struct shmt_text *notes)
{
    shmt_text_addf(text, "\"ceildiv(%lld, %s)\"",
                   (long long)(draft->grid[axis] * draft->block[axis]),
                   block_of(draft, axis)->name);
    shmt_text_addf(notes, "  # Blocks along %c: for as many threads as there "
                   "were, which the kernel counts over\n  # the grid.\n",
                   "xyz"[axis]);
}

/* The expression into `text`, what was found into `notes`. */
static void add_extent(struct shmt_draft *draft, int axis,
                       struct shmt_text *text, struct shmt_text *notes)
{
    struct extent extent = {.search = {.draft = draft, .axis = axis}};
    struct shmt_draft_question *const asked = &draft->questions[axis];
    const struct shmt_draft_memory *covered = NULL;
    const char *name = NULL;

    find_extent(&extent);
    if (draft->changed == NULL && asked->answer == SHMT_DRAFT_UNTRIED)
        find_options(&extent, asked);
    if (!extent.found && extent.grids == 1)
        name = shmt_draft_propose_grid(draft, axis);
    if (!extent.found && extent.grids == 1 && name == NULL)
        covered = covered_by(draft, axis);
    if (extent.found && asked->count > 0) {
        (void)use_all(draft, asked->options[asked->chosen]);
        shmt_draft_add_expression(asked->options[asked->chosen], text);
    } else if (name != NULL) {
        shmt_text_add(text, name);
    } else if (covered != NULL) {
        add_cover(draft, axis, covered, text, notes);
        return;
    } else if (!extent.found && extent.grids == 1 &&
               keeps_threads(draft, axis)) {
        add_threads(draft, axis, text, notes);
        return;
    } else {
        shmt_text_addf(text, "%lld", (long long)draft->grid[axis]);
    }
    add_notes(&extent, notes);
    if (extent.found)
        shmt_draft_add_question(draft, (size_t)axis, notes);
}

int shmt_draft_axes(const int64_t extents[3])
{
    return extents[2] > 1 ? 3 : extents[1] > 1 ? 2 : 1;
}

void shmt_draft_add_grid(struct shmt_draft *draft, struct shmt_text *text)
{
    struct shmt_text grid = {0};
    int axes = 1;

    for (size_t j = 0; j < shmt_draft_launches(draft); j++) {
        const int own = shmt_draft_axes(shmt_draft_launch(draft, j)->grid);

        axes = own > axes ? own : axes;
    }
    for (int axis = 0; axis < axes; axis++) {
        shmt_text_add(&grid, axis == 0 ? "" : ", ");
        add_extent(draft, axis, &grid, text);
    }
    shmt_text_addf(text, "  grid: [%s]\n", shmt_text_string(&grid));
    text->failed |= grid.failed;
    shmt_text_free(&grid);
}
