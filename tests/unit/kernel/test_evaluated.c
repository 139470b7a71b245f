/* SPDX-License-Identifier: MIT */
/* kernel: a configuration, evaluated: what its arguments are, and which
 * configurations share a binary. */
#include <string.h>

#include "tests/support/check.h"
#include "tests/support/spec_fixture.h"

/* Three launches whose entries follow the problem. */
static const char spec[] =
    "format: kernel/1\nname: turns\nsource: spec.cu\n"
    "problem:\n"
    "  a: {default: 1}\n  b: {default: 2}\n  c: {default: 1}\n"
    "  n: {default: 16}\n"
    "parameters:\n"
    "  TILE: {values: [16, 32], default: 32}\n"
    "  BLOCK: {values: [64, 128], default: 64, scope: launch}\n"
    "  SKIP: {values: [0, 1], default: 0, scope: launch}\n"
    "launches:\n"
    "- entry: \"turn<{a}>\"\n  grid: [1]\n  block: [BLOCK]\n"
    "  arguments: [out]\n"
    "- entry: \"turn<{b}>\"\n  grid: [1]\n  block: [BLOCK]\n"
    "  arguments: [out]\n"
    "- entry: \"turn<{c}>\"\n  grid: [1]\n  block: [BLOCK]\n"
    "  arguments: [out]\n  when: SKIP == 0\n"
    "arguments:\n"
    "  out: {type: f64, role: output, count: n - 8}\n"
    "  n: {type: i32, value: n - TILE}\n";

static struct shmt_kernel *kernel;
static struct shmt_kernel_evaluated evaluated;
static struct shmt_error err;

/* The configuration of these values, of which each is an index, at a b c n. */
static void evaluate(const int64_t problem[4], shmt_config tile,
                     shmt_config block, shmt_config skip)
{
    const shmt_config config[] = {tile, block, skip};

    shmt_kernel_evaluate(kernel, problem, config, &evaluated);
}

static void arguments_have_counts_and_values(void)
{
    const int64_t good[] = {1, 2, 1, 16}, below[] = {1, 2, 1, 4};
    const int64_t above[] = {1, 2, 1, INT64_C(1) << 62};
    struct shmt_value value = {0};
    uint64_t count = 77;
    int64_t bytes = 0;

    evaluate(good, 0, 0, 0);
    CHECK_INT(shmt_kernel_argument_count(&evaluated, 0, &count, &err),
              SHMTUNE_OK);
    CHECK_INT(count, 8);
    CHECK_INT(shmt_kernel_argument_count(&evaluated, 1, &count, &err),
              SHMTUNE_OK);
    CHECK_INT(count, 1);
    CHECK_INT(shmt_kernel_argument_bytes(&evaluated, 0, &bytes, &err),
              SHMTUNE_OK);
    CHECK_INT(bytes, 8);
    CHECK_INT(shmt_kernel_argument_bytes(&evaluated, 1, &bytes, &err),
              SHMTUNE_OK);
    CHECK_INT(bytes, 4);
    CHECK_INT(shmt_kernel_argument_value(&evaluated, 1, &value, &err),
              SHMTUNE_OK);
    CHECK_INT(value.i, 0);
    evaluate(below, 0, 0, 0);
    CHECK_INT(shmt_kernel_argument_count(&evaluated, 0, &count, &err),
              SHMTUNE_INVALID_FILE);
    CHECK_HAS(err.text, "out of kernel turns would have -4 elements of 8 "
                        "bytes");
    evaluate(above, 0, 0, 0);
    CHECK_INT(shmt_kernel_argument_count(&evaluated, 0, &count, &err),
              SHMTUNE_INVALID_FILE);
    CHECK_HAS(err.text, "4611686018427387896 elements of 8 bytes");
    CHECK_INT(count, 1);
}

/* The key at a problem that is (a, b, c, 16). */
static void key_at(int64_t a, int64_t b, int64_t c, char key[SHMT_DIGEST_TEXT])
{
    const int64_t problem[] = {a, b, c, 16};

    evaluate(problem, 0, 0, 0);
    CHECK_INT(shmt_kernel_binary_key(&evaluated, key), SHMTUNE_OK);
}

static void parameters_of_the_launch_share_a_binary(void)
{
    const int64_t problem[] = {1, 2, 1, 16}, longer[] = {1, 2, 1, 99};
    char keys[5][SHMT_DIGEST_TEXT];

    key_at(1, 2, 1, keys[0]);
    evaluate(problem, 0, 1, 0);
    CHECK_INT(shmt_kernel_binary_key(&evaluated, keys[1]), SHMTUNE_OK);
    CHECK_TEXT(keys[1], keys[0]);
    evaluate(longer, 0, 0, 0);
    CHECK_INT(shmt_kernel_binary_key(&evaluated, keys[1]), SHMTUNE_OK);
    CHECK_TEXT(keys[1], keys[0]);
    /* It compiles another text, makes fewer launches, or is the reference. */
    evaluate(problem, 1, 0, 0);
    CHECK_INT(shmt_kernel_binary_key(&evaluated, keys[2]), SHMTUNE_OK);
    evaluate(problem, 0, 0, 1);
    CHECK_INT(shmt_kernel_binary_key(&evaluated, keys[3]), SHMTUNE_OK);
    shmt_kernel_evaluate_part(kernel, SHMT_KERNEL_REFERENCE,
                              problem, &evaluated);
    CHECK_INT(shmt_kernel_binary_key(&evaluated, keys[4]), SHMTUNE_OK);
    for (size_t k = 2; k < 5; k++)
        for (size_t i = 1; i < k; i++)
            CHECK(strcmp(keys[k], keys[i]) != 0);
}

/* Both have the entries turn<1> and turn<2>, and nothing else: the third
 * launch is the first's function, or the second's. */
static void launches_in_another_order_are_another_binary(void)
{
    char first[SHMT_DIGEST_TEXT], second[SHMT_DIGEST_TEXT];

    key_at(1, 2, 1, first);
    key_at(1, 2, 2, second);
    CHECK(strcmp(first, second) != 0);
}

/* Whatever was asked for before, a part is the same. */
static void parts_may_be_asked_for_in_any_order(void)
{
    const int64_t problem[] = {1, 2, 1, 16};
    struct shmt_geometry before[SHMT_KERNEL_LAUNCHES];
    const struct shmt_expr *failed = NULL;
    char first[SHMT_DIGEST_TEXT], second[SHMT_DIGEST_TEXT];
    bool used = true;

    evaluate(problem, 0, 1, 1);
    CHECK_INT(shmt_kernel_uses_launch(&evaluated, 2, &used, &err), SHMTUNE_OK);
    CHECK_INT(used, false);
    CHECK_INT(shmt_kernel_binary_key(&evaluated, first), SHMTUNE_OK);
    CHECK_INT(shmt_kernel_evaluate_launches(&evaluated, &err), SHMTUNE_OK);
    memcpy(before, evaluated.geometry, sizeof before);
    CHECK_INT(shmt_kernel_satisfies(&evaluated, &failed, &err), SHMTUNE_OK);
    CHECK(failed == NULL);
    CHECK_INT(shmt_kernel_evaluate_launches(&evaluated, &err), SHMTUNE_OK);
    CHECK_INT(shmt_kernel_binary_key(&evaluated, second), SHMTUNE_OK);
    CHECK_TEXT(second, first);
    for (size_t k = 0; k < 3; k++) {
        CHECK_INT(evaluated.geometry[k].used, k < 2);
        CHECK_INT(evaluated.geometry[k].block[0], before[k].block[0]);
        CHECK_INT(evaluated.geometry[k].block[0], k < 2 ? 128 : 0);
    }
}

int main(void)
{
    spec_begin();
    spec_write_text("spec.cu", "\n");
    spec_write_text("spec.yaml", spec);
    if (shmt_kernel_read(spec_path, &kernel, &err) != SHMTUNE_OK) {
        printf("Bail out! %s\n", err.text);
        return 1;
    }
    CHECK_RUN(arguments_have_counts_and_values);
    CHECK_RUN(parameters_of_the_launch_share_a_binary);
    CHECK_RUN(launches_in_another_order_are_another_binary);
    CHECK_RUN(parts_may_be_asked_for_in_any_order);
    shmt_kernel_free(kernel);
    spec_end();
    return CHECK_END();
}
