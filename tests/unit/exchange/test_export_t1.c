/* SPDX-License-Identifier: MIT */
/*
 * export of spaces: what is written as T1 is read back as the same space, with
 * the same configurations in the same order.
 */
#include "base/text.h"
#include "tests/support/check.h"
#include "tests/support/import_fixture.h"
#include "tests/support/spec_fixture.h"

#define HEAD "format: kernel/1\nname: conv\n"

static struct shmt_kernel *kernel_from(const char *spec)
{
    struct shmt_kernel *kernel = NULL;

    spec_write_text("spec.yaml", spec);
    CHECK_INT(shmt_kernel_read(spec_path, &kernel, &err), SHMTUNE_OK);
    if (kernel == NULL)
        printf("# %s\n", err.text);
    return kernel;
}

static void check_same(const struct shmt_space *a, const struct shmt_space *b)
{
    shmt_config one[SHMT_SPACE_PARAMETERS], other[SHMT_SPACE_PARAMETERS];
    const size_t parameters = shmt_space_parameters(a);
    size_t differences = 0;

    CHECK_INT(shmt_space_parameters(b), parameters);
    CHECK_INT(shmt_space_count(b), shmt_space_count(a));
    for (uint64_t k = 0; k < shmt_space_count(a) && !check_failed; k++) {
        shmt_space_configuration(a, k, one);
        shmt_space_configuration(b, k, other);
        for (size_t p = 0; p < parameters; p++)
            differences += !shmt_value_equal(
                shmt_space_parameter(a, p)->values[one[p]],
                shmt_space_parameter(b, p)->values[other[p]]);
    }
    CHECK_INT(differences, 0);
}

/* The text that is written goes to `written`. */
static void check_trip(const struct shmt_kernel *kernel,
                       const int64_t *problem, struct shmt_text *written)
{
    struct shmt_space *there = NULL, *back = NULL;
    struct shmt_import *import;
    struct shmt_kernel *other = NULL;

    shmt_text_clear(written);
    CHECK_INT(shmt_export_t1(kernel, problem, written, &err), SHMTUNE_OK);
    import = parse(shmt_text_string(written));
    CHECK(import != NULL);
    if (import != NULL) {
        import->name = "conv";
        other = kernel_of(import);
    }
    CHECK(other != NULL);
    if (other != NULL) {
        CHECK_INT(shmt_kernel_space(kernel, problem, NULL, &there, &err),
                  SHMTUNE_OK);
        CHECK_INT(shmt_kernel_space(other, other->sizes[0], NULL, &back,
                                    &err),
                  SHMTUNE_OK);
        check_same(there, back);
        for (size_t p = 0; p < kernel->parameter_count; p++)
            CHECK_INT(other->parameters[p].default_value,
                      kernel->parameters[p].default_value);
    }
    if (check_failed)
        printf("# %s\n# %s\n", err.text, shmt_text_string(written));
    shmt_space_free(there);
    shmt_space_free(back);
    shmt_kernel_free(other);
    shmt_import_free(import);
}

static void spaces_come_back_the_same(void)
{
    struct shmt_kernel *const kernel = kernel_from(
        HEAD "problem:\n  n: {default: 100}\n"
        "parameters:\n"
        "  a: {values: [1, 2, 3, 5, 8], default: 3}\n"
        "  f: {values: [0.5, 1.0, 1.0e-7]}\n"
        "  w: {values: [\"it's\", \"n\", \"a \\\\ b\"], default: n}\n"
        "  v: {values: [n, x]}\n"
        "derived:\n  parts: \"ceildiv(n, a)\"\n  more: \"parts * 2 - 1\"\n"
        "constraints:\n"
        "- \"more % 3 != 0 or w == 'n'\"\n"
        "- \"roundup(n, a + 1) - n < 0x3 or v in ['n', 'x']\"\n"
        "- \"ceildiv(roundup(min(a, 4), (2)), 2) * f < 1.5e0\"\n"
        "- a != 8 or f <= n\n");
    const int64_t other[] = {1000};
    struct shmt_text text = {0};

    if (kernel == NULL)
        return;
    check_trip(kernel, kernel->sizes[0], &text);
    CHECK_HAS(shmt_text_string(&text),
              "\"Expression\": \"(((-(-(100) // (a)))) * 2 - 1) % 3 != 0 or "
              "w == 'n'\", \"Parameters\": [\"a\", \"w\"]");
    check_trip(kernel, other, &text);
    CHECK_HAS(shmt_text_string(&text), "\"ProblemSize\": [1000]");
    shmt_text_free(&text);
    shmt_kernel_free(kernel);
}

/* With sources, derived names and launches. */
static void kernels_are_spaces_too(void)
{
    static const char *const specs[] = {"kernels/reduce.yaml",
                                        "kernels/softmax.yaml",
                                        "kernels/transpose.yaml"};
    const char *const root = getenv("SHMT_SRCDIR");
    struct shmt_text text = {0}, path = {0};

    for (size_t k = 0; k < sizeof specs / sizeof *specs; k++) {
        struct shmt_kernel *kernel = NULL;

        shmt_text_clear(&path);
        shmt_text_addf(&path, "%s/%s", root == NULL ? "." : root, specs[k]);
        CHECK_INT(shmt_kernel_read(path.data, &kernel, &err), SHMTUNE_OK);
        if (kernel != NULL)
            check_trip(kernel, kernel->sizes[0], &text);
        shmt_kernel_free(kernel);
    }
    shmt_text_free(&text);
    shmt_text_free(&path);
}

/* A constraint of sizes alone is a condition without a parameter, which other
 * tuners do not take. */
static void sizes_alone_are_no_condition(void)
{
    struct shmt_kernel *kernel = kernel_from(
        HEAD "problem: {n: {default: 8}}\n"
        "parameters:\n  a: {values: [1, 2]}\n"
        "derived:\n  half: n // 2\n"
        "constraints:\n- half >= 2\n- a <= n\n- n % 2 == 0\n");
    const int64_t odd[] = {9};
    struct shmt_text text = {0};

    if (kernel == NULL)
        return;
    check_trip(kernel, kernel->sizes[0], &text);
    CHECK_HAS(shmt_text_string(&text),
              "\"Conditions\": [\n   {\"Expression\": \"a <= 8\", "
              "\"Parameters\": [\"a\"]}]}");
    CHECK_INT(shmt_export_t1(kernel, odd, &text, &err),
              SHMTUNE_NO_CONFIGURATION);
    CHECK_HAS(err.text, "conv has no configuration at {n: 9}: `n % 2 == 0` "
                        "does not hold");
    shmt_text_free(&text);
    shmt_kernel_free(kernel);
}

/* Derived names of derived names, each four times, with a long name in them. */
static void what_grows_without_bound_is_refused(void)
{
    struct shmt_text spec = {0}, text = {0};
    struct shmt_kernel *kernel;

    shmt_text_add(&spec, HEAD "parameters:\n"
                              "  a_long_name_of_a_parameter: {values: [1]}\n"
                              "derived:\n"
                              "  d0: a_long_name_of_a_parameter\n");
    for (int k = 1; k < 7; k++)
        shmt_text_addf(&spec, "  d%d: \"d%d + d%d + d%d + d%d\"\n", k, k - 1,
                       k - 1, k - 1, k - 1);
    shmt_text_add(&spec, "constraints:\n- \"d6 > 0\"\n");
    kernel = kernel_from(shmt_text_string(&spec));
    if (kernel != NULL) {
        CHECK_INT(shmt_export_t1(kernel, kernel->sizes[0], &text, &err),
                  SHMTUNE_INVALID_FILE);
        CHECK_HAS(err.text, "spec.yaml:");
        CHECK_HAS(err.text, "more than 64 KiB; divide it");
    }
    shmt_text_free(&spec);
    shmt_text_free(&text);
    shmt_kernel_free(kernel);
}

int main(void)
{
    import_begin();
    spec_begin();
    CHECK_RUN(spaces_come_back_the_same);
    CHECK_RUN(kernels_are_spaces_too);
    CHECK_RUN(sizes_alone_are_no_condition);
    CHECK_RUN(what_grows_without_bound_is_refused);
    spec_end();
    import_end();
    return CHECK_END();
}
