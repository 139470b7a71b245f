/* SPDX-License-Identifier: MIT */
/*
 * Memory that runs out while a space is built, drawn, or counted stage by
 * stage: the n-th allocation fails, for every n until the work is done without
 * meeting it.
 */
#include "base/text.h"
#include "tests/support/allocations.h"
#include "tests/support/check.h"
#include "tests/support/space_fixture.h"

enum { PARAMETERS = 8, CONSTRAINTS = PARAMETERS - 1 };

/* Too few steps for the diagram, enough for some configurations. */
static const struct shmt_space_limits few = {.steps = 20000, .draws = 20};

static struct made made;
static uint64_t count;
static struct shmt_space_stage stages[CONSTRAINTS + 1];

static void make_chain(void)
{
    struct shmt_text text = {0};

    begin(&made);
    add_alike(&made, PARAMETERS - 1, "1,2,3,4,5,6");
    add_parameter(&made, "p7=a,b,c");
    for (int k = 0; k + 2 < PARAMETERS; k++) {
        shmt_text_clear(&text);
        shmt_text_addf(&text, "p%d * p%d %% 5 < 4 or p%d + p%d == %d", k,
                       (k + 3) % 7, k, (k + 1) % 7, k + 2);
        CHECK(add_constraint(&made, shmt_text_string(&text)));
    }
    CHECK(add_constraint(&made, "p7 != 'b' or p0 // p1 > 0.5"));
    shmt_text_free(&text);
}

static enum shmtune_status build(const struct shmt_space_limits *limits)
{
    struct shmt_space *space = NULL;
    enum shmtune_status status;

    made.definition.limits = limits;
    status = shmt_space_build(&made.definition, &space, &err);
    made.definition.limits = NULL;
    CHECK((status == SHMTUNE_OK) == (space != NULL));
    if (space != NULL) {
        CHECK(shmt_space_is_drawn(space) == (limits != NULL));
        count = shmt_space_count(space);
    }
    shmt_space_free(space);
    return status;
}

static enum shmtune_status build_whole(void)
{
    return build(NULL);
}

static enum shmtune_status build_drawn(void)
{
    return build(&few);
}

static enum shmtune_status count_stages(void)
{
    enum shmtune_status status;

    made.definition.limits = &few;
    status = shmt_space_funnel(&made.definition, stages, &err);
    made.definition.limits = NULL;
    return status;
}

static void starve(enum shmtune_status (*work)(void))
{
    enum shmtune_status status;
    long n = 0;

    for (;; n++) {
        allocations_failing = n + 1;
        status = work();
        if (allocations_failing != 0 || check_failed)
            break;          /* it did not come to that */
        CHECK(status == SHMTUNE_NO_MEMORY || status == SHMTUNE_OK);
    }
    allocations_failing = 0;
    printf("# %ld allocations\n", n);
    CHECK(n > 10);
    CHECK_INT(work(), SHMTUNE_OK);
}

static void a_space_is_built_or_memory_is_missed(void)
{
    starve(build_whole);
}

static void so_is_one_drawn(void)
{
    starve(build_drawn);
    CHECK(count > 0 && count <= 20);
}

/* Stages that cannot be counted are estimated. */
static void so_are_stages_counted(void)
{
    size_t estimated = 0;

    CHECK_INT(build_whole(), SHMTUNE_OK);
    starve(count_stages);
    for (size_t k = 0; k <= CONSTRAINTS; k++)
        estimated += !stages[k].exact;
    CHECK(stages[0].exact && stages[0].count == 3 * 279936);
    CHECK(estimated > 0 && !stages[CONSTRAINTS].exact);
    CHECK((double)stages[CONSTRAINTS].count > 0.8 * (double)count);
    CHECK((double)stages[CONSTRAINTS].count < 1.2 * (double)count);
    printf("# %llu, %llu estimated, of %zu stages\n",
           (unsigned long long)count,
           (unsigned long long)stages[CONSTRAINTS].count, estimated);
}

int main(void)
{
    arena = shmt_arena_new();
    make_chain();
    CHECK_RUN(a_space_is_built_or_memory_is_missed);
    CHECK_RUN(so_is_one_drawn);
    CHECK_RUN(so_are_stages_counted);
    shmt_arena_free(arena);
    return CHECK_END();
}
