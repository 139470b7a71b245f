/* SPDX-License-Identifier: MIT */
/* kernel: derived names of a spec, and specs that are read one by one. */
#include "tests/support/check.h"

#include "tests/support/spec_fixture.h"

/* Reads a space of n, A and B, with what follows; NULL when refused. */
static struct shmt_kernel *read_derived(const char *rest,
                                        struct shmt_error *err)
{
    struct shmt_kernel *kernel = NULL;
    struct shmt_text text = {0};

    shmt_text_addf(&text, "format: kernel/1\nname: sums\n"
                   "problem:\n  n: {default: 10}\n"
                   "parameters:\n"
                   "  A: {values: [1, 2, 3, 4], default: 1}\n"
                   "  B: {values: [1, 2, 3], default: 1}\n"
                   "derived:\n%s", rest);
    spec_write_text("spec.yaml", shmt_text_string(&text));
    shmt_text_free(&text);
    shmt_kernel_read(spec_path, &kernel, err);
    return kernel;
}

static void derived_names_stand_for_expressions(void)
{
    const int64_t problem[1] = {10};
    struct shmt_space *space = NULL;
    struct shmt_error err = {0};
    /* Not 2 * A + B, nor without the space beyond the brackets. */
    struct shmt_kernel *kernel = read_derived(
        "  both: A +\n    B\n  twice: 2 * both\n"
        "constraints:\n- 10 * twice <= 8 * n\n- both != 3 or A == 1\n",
        &err);

    CHECK(kernel != NULL);
    if (kernel == NULL) {
        printf("# %s\n", err.text);
        return;
    }
    CHECK_TEXT(shmt_expr_text(kernel->constraints[0]), "10 * twice <= 8 * n");
    for (size_t k = 0; k < 3; k++) {
        CHECK(shmt_expr_uses(kernel->constraints[0], k));
        CHECK(shmt_expr_uses(kernel->constraints[1], k) == (k > 0));
    }
    CHECK_INT(shmt_kernel_space(kernel, problem, NULL, &space, &err),
              SHMTUNE_OK);
    CHECK_INT(shmt_space_count(space), 5);   /* of six, one more is refused */
    shmt_space_free(space);
    shmt_kernel_free(kernel);
}

static void derived_names_are_blamed_where_they_stand(void)
{
    struct shmt_error err = {0};
    struct shmt_text text = {0};
    struct shmt_kernel *kernel = read_derived(
        "  both: A + B\nconstraints:\n- 1 // (both - 2) >= 0\n", &err);

    CHECK(kernel == NULL);
    CHECK_HAS(err.text, "spec.yaml:11:5: ");
    CHECK_HAS(err.text, "A = 1, B = 1");
    /* Each says the one before it twice. */
    shmt_text_add(&text, "  a0: A + B\n");
    for (int k = 1; k < 20; k++)
        shmt_text_addf(&text, "  a%d: a%d * a%d\n", k, k - 1, k - 1);
    kernel = read_derived(shmt_text_string(&text), &err);
    shmt_text_free(&text);
    CHECK(kernel == NULL);
    CHECK_HAS(err.text, "10000");
    kernel = read_derived("  both: A + both\n", &err);
    CHECK(kernel == NULL);
    CHECK_HAS(err.text, "spec.yaml:9:13: unknown name 'both'");
}

static const char spec_derived[] =
    "format: kernel/1\nname: sums\nsource: scale.cu\n"
    "problem:\n  n: {default: 10}\n"
    "parameters:\n"
    "  A: {values: [1, 2, 3, 4], default: 1}\n"
    "  ROUND: {values: [0, 3], default: 0}\n"
    "derived:\n"
    "  tiles: ceildiv(n, A)\n"
    "  late: tiles % ROUND\n"
    "  parts: 1 if ROUND == 0 else late + 1\n"
    "constraints:\n- tiles * parts > 2\n"
    "launches:\n"
    "- entry: f\n"
    "  when: ROUND == 0 or late > 0\n"
    "  grid: [tiles, parts]\n"
    "  block: 32 * A\n"
    "  shared_dynamic: tiles * 4\n"
    "  arguments: [y, part, twice]\n"
    "- entry: g\n"
    "  when: ROUND > 0\n"
    "  grid: late\n"
    "  block: 32\n"
    "  arguments: [y]\n"
    "arguments:\n"
    "  y: {type: f32, role: output, count: n}\n"
    "  part: {type: f32, role: workspace, count: tiles * parts}\n"
    "  twice: {type: i32, value: tiles * 2}\n";

static void derived_names_are_worked_out_when_needed(void)
{
    const int64_t problem[] = {10}, exact[] = {9};
    const shmt_config configs[2][2] = {{2, 0}, {2, 1}};    /* A 3, ROUND */
    struct shmt_kernel_evaluated evaluated;
    const struct shmt_geometry *geometry = evaluated.geometry;
    struct shmt_kernel *kernel = NULL;
    struct shmt_error err = {0};
    struct shmt_value value = {0};
    uint64_t count = 0;
    int64_t number = 0;

    spec_write_text("spec.yaml", spec_derived);
    CHECK_INT(shmt_kernel_read(spec_path, &kernel, &err), SHMTUNE_OK);
    if (kernel == NULL) {
        printf("# %s\n", err.text);
        return;
    }
    for (unsigned i = 0; i < 2; i++) {
        shmt_kernel_evaluate(kernel, problem, configs[i], &evaluated);
        CHECK_INT(shmt_kernel_evaluate_launches(&evaluated, &err),
                  SHMTUNE_OK);
        CHECK_INT(geometry->grid[0], 4);
        CHECK_INT(geometry->grid[1], 1 + i);
        CHECK_INT(geometry->block[0], 96);
        CHECK_INT(geometry->shared_dynamic, 16);
        CHECK_INT(geometry[1].used, i == 1);
        CHECK_INT(shmt_kernel_argument_count(&evaluated, 1, &count, &err),
                  SHMTUNE_OK);
        CHECK_INT(count, 4 + 4 * i);
        CHECK_INT(shmt_kernel_argument_value(&evaluated, 2, &value, &err),
                  SHMTUNE_OK);
        CHECK_INT(value.i, 8);
    }
    shmt_kernel_evaluate(kernel, exact, configs[1], &evaluated);
    CHECK_INT(shmt_kernel_evaluate_launches(&evaluated, &err),
              SHMTUNE_INVALID_FILE);
    CHECK_HAS(err.text, "spec.yaml:24:9: the grid's x \"late\" is 0");
    shmt_kernel_evaluate(kernel, exact, configs[0], &evaluated);
    CHECK_INT(shmt_kernel_evaluate_launches(&evaluated, &err), SHMTUNE_OK);
    CHECK_INT(shmt_expr_eval_int(kernel->launches[1].grid[0],
                                 evaluated.values, &number, &err),
              SHMTUNE_INVALID_FILE);
    CHECK_HAS(err.text, "spec.yaml:24:9: division by zero where n = 9, "
                        "A = 3, ROUND = 0; in `late`");
    shmt_kernel_free(kernel);
}

/* Nothing that was read is in what is cleared. */
static void specs_are_read_with_one_scratch(void)
{
    struct shmt_arena *scratch = shmt_arena_new();
    struct shmt_kernel *kernels[2] = {NULL, NULL}, *alone = NULL;
    struct shmt_error err = {0};

    spec_write_text("spec.yaml", spec_good);
    CHECK_INT(shmt_kernel_read_with(spec_path, scratch, &kernels[0], &err),
              SHMTUNE_OK);
    shmt_arena_clear(scratch);
    spec_write_text("spec.yaml", spec_derived);
    CHECK_INT(shmt_kernel_read_with(spec_path, scratch, &kernels[1], &err),
              SHMTUNE_OK);
    shmt_arena_free(scratch);
    CHECK_INT(shmt_kernel_read(spec_path, &alone, &err), SHMTUNE_OK);
    CHECK_TEXT(kernels[0]->name, "scale");
    CHECK_TEXT(kernels[0]->launches[0].entry,
               "scale<float, {TILE}, {filter}>");
    CHECK_TEXT(kernels[1]->digest, alone->digest);
    CHECK_TEXT(shmt_expr_text(kernels[1]->launches[0].block[0]), "32 * A");
    shmt_kernel_free(kernels[0]);
    shmt_kernel_free(kernels[1]);
    shmt_kernel_free(alone);
}

int main(void)
{
    spec_begin();
    CHECK_RUN(derived_names_stand_for_expressions);
    CHECK_RUN(derived_names_are_blamed_where_they_stand);
    CHECK_RUN(derived_names_are_worked_out_when_needed);
    CHECK_RUN(specs_are_read_with_one_scratch);
    spec_end();
    return CHECK_END();
}
