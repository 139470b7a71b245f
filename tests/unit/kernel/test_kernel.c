/* SPDX-License-Identifier: MIT */
/* kernel: what a spec says, read and worked out. */
#include "tests/support/check.h"

#include "tests/support/spec_fixture.h"
#include "yaml/yaml.h"

static void reads_every_field(void)
{
    struct shmt_kernel *kernel = spec_read_good();
    const struct shmt_argument *y = &kernel->arguments[1];

    CHECK_TEXT(kernel->name, "scale");
    CHECK_TEXT(kernel->summary, "y = a x, tile by tile");
    CHECK_TEXT(kernel->standard, "c++17");
    CHECK_INT(kernel->fast_math, false);
    CHECK_HAS(kernel->source, "/scale.cu");
    CHECK_INT(kernel->include_count, 1);
    CHECK_HAS(kernel->includes[0], "/extra");
    CHECK_INT(strlen(kernel->digest), 64);
    CHECK_INT(kernel->dimension_count, 3);
    CHECK_INT(kernel->dimensions[0].low, 2);
    CHECK_INT(kernel->dimensions[0].high, 4096);
    CHECK_INT(kernel->dimensions[1].low, 1);
    CHECK_INT(kernel->dimensions[1].high, INT32_MAX);
    CHECK_INT(kernel->dimensions[2].defined, true);
    CHECK_INT(kernel->size_count, 2);
    CHECK_INT(kernel->sizes[0][2], 3);
    CHECK_INT(kernel->sizes[1][2], 5);
    CHECK_INT(kernel->parameter_count, 5);
    CHECK_INT(kernel->parameters[1].count, 7);
    CHECK_INT(kernel->parameters[1].values[6].i, 64);
    CHECK_INT(kernel->parameters[1].default_value, 3);
    CHECK_INT(kernel->parameters[2].count, 3);
    CHECK_INT(kernel->parameters[1].ordered, true);
    CHECK_INT(kernel->parameters[3].ordered, false);
    CHECK_INT(kernel->parameters[4].launch_only, true);
    CHECK_INT(kernel->constraint_count, 3);
    CHECK_INT(kernel->launch_count, 2);
    CHECK_INT(kernel->reference_count, 1);
    CHECK_INT(kernel->argument_count, 5);
    CHECK_INT(kernel->launches[1].arguments[1], 2);
    CHECK_INT(y->element, SHMT_ELEMENT_F16);
    CHECK_INT(y->role, SHMT_ROLE_OUTPUT);
    CHECK(y->tolerance.absolute == 0.5 && y->tolerance.relative == 1.0e-3);
    CHECK_TEXT(shmt_expr_text(kernel->arguments[0].range[0]), "-2");
    CHECK_INT(kernel->arguments[2].zeroed, true);
    CHECK_INT(kernel->arguments[3].role, SHMT_ROLE_SCALAR);
    CHECK(kernel->bytes != NULL && kernel->flops == NULL);
    CHECK_INT(kernel->scope.count, 8);
    CHECK_TEXT(kernel->scope.symbols[3].name, "BLOCK");
    shmt_kernel_free(kernel);
}

/* Constraints that use a dimension, and the parameters that they use, are listed
 * apart: the library asks them again at each problem. */
static void constraints_of_the_size_are_listed(void)
{
    struct shmt_kernel *kernel = NULL;
    struct shmt_text text = {0};
    struct shmt_error err = {0};

    spec_edit("- TILE <= rows", "- rows > 1\n- BLOCK // 64 + STAGES <= cols",
              &text);
    spec_write("spec.yaml", text.data, text.length);
    CHECK_INT(shmt_kernel_read(spec_path, &kernel, &err), SHMTUNE_OK);
    if (kernel != NULL) {
        CHECK_INT(kernel->constraint_count, 4);
        CHECK_INT(kernel->sized_count, 2);
        CHECK_TEXT(shmt_expr_text(kernel->sized[0].constraint), "rows > 1");
        CHECK_INT(kernel->sized[0].parameter_count, 0);
        CHECK_TEXT(shmt_expr_text(kernel->sized[1].constraint),
                   "BLOCK // 64 + STAGES <= cols");
        CHECK_INT(kernel->sized[1].parameter_count, 2);
        CHECK_INT(kernel->sized[1].parameters[0], 0);
        CHECK_INT(kernel->sized[1].parameters[1], 2);
    }
    shmt_kernel_free(kernel);
    shmt_text_free(&text);
}

/* Where the spec says no range, reals are of [-1, 1) and whole numbers of
 * [0, 256), or as many of them as the type has. */
static void ranges_have_defaults(void)
{
    static const struct { const char *type; double low, high; } rows[] = {
        {"type: f32, role: input", -1, 1}, {"type: f16, role: input", -1, 1},
        {"type: f64, role: input", -1, 1}, {"type: i32, role: input", 0, 256},
        {"type: u8, role: input", 0, 256}, {"type: u32, role: input", 0, 256},
        {"type: i64, role: input", 0, 256}, {"type: u64, role: input", 0, 256},
        {"type: i16, role: input", 0, 256}, {"type: i8, role: input", 0, 128},
        {"type: bool, role: input", 0, 2}, {"type: bytes, role: input", 0, 256},
        {"type: bf16, role: input", -1, 1},
        {"type: f8e5m2, role: input", -1, 1}};

    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        struct shmt_kernel *kernel = NULL;
        struct shmt_kernel_evaluated evaluated;
        struct shmt_fill_values values = {0};
        struct shmt_text text = {0};
        struct shmt_error err = {0};
        char line[120];

        snprintf(line, sizeof line, "{%s, count: rows * cols}", rows[k].type);
        spec_edit("{type: f32, role: input, count: rows * cols, "
                  "range: [-2, 2]}", line, &text);
        spec_write("spec.yaml", text.data, text.length);
        CHECK_INT(shmt_kernel_read(spec_path, &kernel, &err), SHMTUNE_OK);
        if (kernel == NULL) {
            printf("# %s\n", err.text);
            continue;
        }
        shmt_kernel_evaluate_part(kernel, SHMT_KERNEL_REFERENCE,
                                  kernel->sizes[0], &evaluated);
        CHECK_INT(shmt_kernel_argument_fill(&evaluated, 0, &values, &err),
                  SHMTUNE_OK);
        CHECK(values.low == rows[k].low);
        CHECK(values.high == rows[k].high);
        shmt_kernel_free(kernel);
        shmt_text_free(&text);
    }
}

static void works_out_a_launch(void)
{
    struct shmt_kernel *kernel = spec_read_good();
    const shmt_config config[] = {2, 4, 0, 1, 1};   /* 128 16 1 dynamic 100 */
    const int64_t problem[] = {100, 33, 7};
    struct shmt_kernel_evaluated evaluated;
    const struct shmt_geometry *geometry = evaluated.geometry;
    struct shmt_text text = {0};
    struct shmt_error err = {0};
    double threads = 0, bytes = 0;

    shmt_kernel_evaluate(kernel, problem, config, &evaluated);
    CHECK_INT(shmt_kernel_evaluate_launches(&evaluated, &err), SHMTUNE_OK);
    CHECK_INT(geometry->used, true);
    CHECK_INT(geometry->grid[0], 3);
    CHECK_INT(geometry->grid[1], 7);
    CHECK_INT(geometry->grid[2], 1);
    CHECK_INT(geometry->block[0], 128);
    CHECK_INT(geometry->block[1], 1);
    CHECK_INT(geometry->shared_static, 0);
    CHECK_INT(geometry->shared_dynamic, 16 * 17 * 4);
    CHECK_INT(geometry->carveout, 100);
    CHECK_INT(geometry->cluster[0], 0);
    CHECK_INT(geometry[1].used, false);
    CHECK(shmt_kernel_largest_launch(&evaluated, &threads, &bytes));
    CHECK_INT((int64_t)threads, 3 * 7 * 128);
    CHECK_INT((int64_t)bytes, 16 * 17 * 4);
    CHECK_INT(shmt_kernel_entry(&evaluated, 0, &text, &err), SHMTUNE_OK);
    CHECK_TEXT(shmt_text_string(&text), "scale<float, 16, 7>");
    shmt_text_clear(&text);
    shmt_kernel_definitions(&evaluated, false, &text);
    CHECK_TEXT(shmt_text_string(&text),
               "-Dfilter=7\n-DBLOCK=128\n-DTILE=16\n-DSTAGES=1\n-DMEMORY=1\n"
               "-DMEMORY_static=0\n-DMEMORY_dynamic=1\n");
    shmt_text_clear(&text);
    shmt_kernel_evaluate_part(kernel, SHMT_KERNEL_REFERENCE,
                              problem, &evaluated);
    CHECK_INT(shmt_kernel_evaluate_launches(&evaluated, &err), SHMTUNE_OK);
    CHECK_INT(geometry->grid[0], 13);
    CHECK_INT(geometry->shared_static, -1);
    shmt_kernel_definitions(&evaluated, false, &text);
    CHECK_HAS(shmt_text_string(&text), "-DSHMTUNE_REFERENCE=1\n-Dfilter=7\n");
    shmt_text_free(&text);
    shmt_kernel_free(kernel);
}

static void refuses_a_geometry_out_of_range(void)
{
    struct shmt_kernel *kernel = spec_read_good();
    const shmt_config config[] = {0, 0, 0, 0, 0};
    const int64_t problem[] = {INT64_C(1) << 40, INT64_C(1) << 40, 1};
    struct shmt_kernel_evaluated evaluated;
    struct shmt_error err = {0};

    shmt_kernel_evaluate(kernel, problem, config, &evaluated);
    CHECK_INT(shmt_kernel_evaluate_launches(&evaluated, &err),
              SHMTUNE_INVALID_FILE);
    CHECK_HAS(err.text, "spec.yaml:25:");
    CHECK_HAS(err.text, "1099511627776");
    shmt_kernel_free(kernel);
}

static void admits_what_the_constraints_let_pass(void)
{
    struct shmt_kernel *kernel = spec_read_good();
    const int64_t problem[] = {64, 32, 3};
    const shmt_config fits[] = {0, 4, 0, 0, 0};
    const shmt_config large[] = {0, 6, 0, 0, 0};   /* static 64 x 65 x 4 */
    struct shmt_kernel_evaluated evaluated;
    const struct shmt_expr *failed = kernel->constraints[0];

    shmt_kernel_evaluate(kernel, problem, fits, &evaluated);
    CHECK_INT(shmt_kernel_satisfies(&evaluated, &failed, NULL), SHMTUNE_OK);
    CHECK(failed == NULL);
    shmt_kernel_evaluate(kernel, problem, large, &evaluated);
    CHECK_INT(shmt_kernel_satisfies(&evaluated, &failed, NULL), SHMTUNE_OK);
    CHECK(failed == kernel->constraints[1]);
    shmt_kernel_free(kernel);
}

static void space_counts_what_is_admitted(void)
{
    struct shmt_kernel *kernel = spec_read_good();
    const int64_t problem[] = {16, 32, 3};
    struct shmt_kernel_evaluated evaluated;
    struct shmt_space *space = NULL;
    struct shmt_error err = {0};
    uint64_t count = 0;

    for (shmt_config a = 0; a < 3; a++)
        for (shmt_config b = 0; b < 7; b++)
            for (shmt_config c = 0; c < 3; c++)
                for (shmt_config d = 0; d < 2; d++) {
                    const shmt_config config[] = {a, b, c, d, 0};
                    const struct shmt_expr *failed = NULL;

                    shmt_kernel_evaluate(kernel, problem, config, &evaluated);
                    CHECK_INT(shmt_kernel_satisfies(&evaluated, &failed, NULL),
                              SHMTUNE_OK);
                    count += failed == NULL ? 2 : 0;
                }
    CHECK_INT(shmt_kernel_space(kernel, problem, NULL, &space, &err),
              SHMTUNE_OK);
    if (space != NULL)
        CHECK_INT(shmt_space_count(space), count);
    shmt_space_free(space);
    shmt_kernel_free(kernel);
}

static enum shmtune_status read_choice(const struct shmt_kernel *kernel,
                                       const char *text, shmt_config *config,
                                       struct shmt_error *err)
{
    struct shmt_arena *arena = shmt_arena_new();
    const struct shmt_yaml *mapping;
    enum shmtune_status status = shmt_yaml_parse(
        arena, "choice", text, strlen(text), &mapping, err);

    if (status == SHMTUNE_OK)
        status = shmt_kernel_config_read(kernel, mapping, config, err);
    shmt_arena_free(arena);
    return status;
}

static void choices_are_read_and_written(void)
{
    struct shmt_kernel *kernel = spec_read_good();
    shmt_config config[5] = {0};
    struct shmt_text text = {0};
    struct shmt_error err = {0};

    CHECK_INT(read_choice(kernel, "{MEMORY: static, BLOCK: 128, TILE: 1, "
                          "CARVEOUT: 100, STAGES: 2}", config, &err),
              SHMTUNE_OK);
    shmt_kernel_config_write(kernel, config, &text);
    CHECK_TEXT(shmt_text_string(&text), "{BLOCK: 128, TILE: 1, STAGES: 2, "
               "MEMORY: static, CARVEOUT: 100}");
    shmt_text_clear(&text);
    shmt_kernel_describe_config(kernel, config, &text);
    CHECK_TEXT(shmt_text_string(&text),
               "BLOCK=128 TILE=1 STAGES=2 MEMORY=static CARVEOUT=100");
    config[0] = 1;
    CHECK_INT(read_choice(kernel, "{MEMORY: static, BLOCK: 32, TILE: 1, "
                          "CARVEOUT: 100}", config, &err),
              SHMTUNE_INVALID_FILE);
    CHECK_HAS(err.text, "STAGES");
    CHECK_INT(config[0], 1);
    CHECK_INT(read_choice(kernel, "{MEMORY: static, BLOCK: 33, TILE: 1, "
                          "CARVEOUT: 100, STAGES: 2}", config, &err),
              SHMTUNE_INVALID_FILE);
    CHECK_HAS(err.text, "choice:1:25");
    CHECK_INT(read_choice(kernel, "{MEMORY: static, BLOK: 32, TILE: 1, "
                          "CARVEOUT: 100, STAGES: 2}", config, &err),
              SHMTUNE_INVALID_FILE);
    CHECK_HAS(err.text, "BLOCK");
    CHECK_INT(read_choice(kernel, "[1, 2]", config, &err),
              SHMTUNE_INVALID_FILE);
    shmt_text_free(&text);
    shmt_kernel_free(kernel);
}

static void sizes_are_read_and_written(void)
{
    struct shmt_kernel *kernel = spec_read_good();
    struct shmt_arena *arena = shmt_arena_new();
    const struct shmt_yaml *mapping;
    int64_t problem[3] = {0};
    struct shmt_text text = {0};
    struct shmt_error err = {0};

    CHECK_INT(shmt_yaml_parse(arena, "size", "{cols: 7}", 9, &mapping, &err),
              SHMTUNE_OK);
    CHECK_INT(shmt_kernel_problem_read(kernel, mapping, problem, &err),
              SHMTUNE_OK);
    shmt_kernel_problem_write(kernel, problem, &text);
    CHECK_TEXT(shmt_text_string(&text), "{rows: 64, cols: 7, filter: 3}");
    shmt_text_clear(&text);
    shmt_kernel_describe_problem(kernel, problem, &text);
    CHECK_TEXT(shmt_text_string(&text), "rows=64 cols=7 filter=3");
    shmt_text_clear(&text);
    shmt_kernel_name_problem(kernel, problem, &text);
    CHECK_HAS(shmt_text_string(&text), ", rows=64 cols=7 filter=3");
    CHECK(strncmp(shmt_text_string(&text), kernel->name,
                  strlen(kernel->name)) == 0);
    shmt_text_clear(&text);
    kernel->dimension_count = 0;
    shmt_kernel_name_problem(kernel, problem, &text);
    CHECK_TEXT(shmt_text_string(&text), kernel->name);
    kernel->dimension_count = 3;
    CHECK_INT(shmt_yaml_parse(arena, "size", "{rows: 1}", 9, &mapping, &err),
              SHMTUNE_OK);
    CHECK_INT(shmt_kernel_problem_read(kernel, mapping, problem, &err),
              SHMTUNE_INVALID_FILE);
    CHECK_HAS(err.text, "size:1:8");
    shmt_text_free(&text);
    shmt_arena_free(arena);
    shmt_kernel_free(kernel);
}
static void absent_files_are_not_found(void)
{
    struct shmt_kernel *kernel = NULL;
    struct shmt_error err = {0};

    CHECK_INT(shmt_kernel_read("/nonexistent/x.yaml", &kernel, &err),
              SHMTUNE_NOT_FOUND);
    CHECK_HAS(err.text, "/nonexistent/x.yaml");
    CHECK(kernel == NULL);
}
static void reads_a_search_space_without_source(void)
{
    struct shmt_kernel *kernel = NULL;
    struct shmt_error err = {0};

    spec_write_text("spec.yaml",
               "format: kernel/1\nname: imported\n"
               "parameters:\n"
               "  block_size_x: {values: [16, 32, 64]}\n"
               "  mode: {values: [a-b, c.d], default: c.d}\n"
               "  alpha: {values: [0.5, 1, 1.5]}\n"
               "constraints: [block_size_x > 16 or mode == 'c.d']\n");
    CHECK_INT(shmt_kernel_read(spec_path, &kernel, &err), SHMTUNE_OK);
    if (kernel == NULL) {
        printf("# %s\n", err.text);
        return;
    }
    CHECK(kernel->source == NULL);
    CHECK_INT(kernel->launch_count, 0);
    CHECK_INT(kernel->size_count, 1);
    CHECK_INT(kernel->dimension_count, 0);
    CHECK_INT(kernel->parameters[1].default_value, 1);
    CHECK_INT(kernel->parameters[2].type, SHMT_VALUE_REAL);
    CHECK(kernel->parameters[2].values[1].r == 1.0);
    shmt_kernel_free(kernel);
    kernel = NULL;
    spec_write_text("spec.yaml",
               "format: kernel/1\nname: imported\n"
               "parameters:\n"
               "  A: {values: [1]}\n"
               "launches: []\n");
    CHECK_INT(shmt_kernel_read(spec_path, &kernel, &err),
              SHMTUNE_INVALID_FILE);
    CHECK_HAS(err.text, "source");
}

static void the_default_is_the_oracle_without_a_reference(void)
{
    struct shmt_kernel *kernel = NULL;
    struct shmt_error err = {0};
    struct shmt_text text = {0};

    spec_edit("reference:\n"
         "- entry: scale_reference\n"
         "  grid: [\"ceildiv(rows * cols, 256)\"]\n"
         "  block: [256]\n"
         "  arguments: [y, x, a, cols]\n", "", &text);
    spec_write_text("spec.yaml", shmt_text_string(&text));
    CHECK_INT(shmt_kernel_read(spec_path, &kernel, &err), SHMTUNE_OK);
    if (kernel != NULL) {
        CHECK(kernel->reference == kernel->launches);
        CHECK_INT(kernel->reference_count, kernel->launch_count);
    }
    shmt_kernel_free(kernel);
    shmt_text_free(&text);
}

static void reals_become_exact_definitions(void)
{
    struct shmt_kernel *kernel = NULL;
    struct shmt_error err = {0};
    struct shmt_text text = {0};
    struct shmt_kernel_evaluated evaluated;
    const shmt_config configs[][1] = {{0}, {1}, {2}, {3}};
    static const char *const expected[] = {
        "-DA=0.1\n", "-DA=2.0\n", "-DA=1e-30\n", "-DA=0.3333333333333333\n"
    };

    spec_write_text("spec.yaml",
               "format: kernel/1\nname: reals\nparameters:\n"
               "  A: {values: [0.1, 2, 1.0e-30, 0.3333333333333333]}\n");
    CHECK_INT(shmt_kernel_read(spec_path, &kernel, &err), SHMTUNE_OK);
    for (size_t i = 0; kernel != NULL && i < 4; i++) {
        shmt_text_clear(&text);
        shmt_kernel_evaluate(kernel, NULL, configs[i], &evaluated);
        shmt_kernel_definitions(&evaluated, false, &text);
        CHECK_TEXT(shmt_text_string(&text), expected[i]);
    }
    shmt_text_free(&text);
    shmt_kernel_free(kernel);
}

/* Where a line goes on there is none, whatever it ends with. */
static void definitions_are_found(void)
{
    static const char *const texts[] = {
        "// a \\\r\n#define TILE 1\r\n\r\n#define TILE 2\r\n",
        "const char *a = \"\\\r\n#define TILE 1\\\r\n\";\r\n#define TILE 2",
        "int a, \\\r\n#define TILE 1\r\n;\r\n#define TILE 2\r\n",
        "#define A a \\\r\n#define TILE 1 \\\r\n\r\n#define TILE 2\r\n"
    };

    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++)
        CHECK_INT(shmt_kernel_find_definition(texts[k], "TILE"), 4);
}

int main(void)
{
    spec_begin();
    CHECK_RUN(reads_every_field);
    CHECK_RUN(constraints_of_the_size_are_listed);
    CHECK_RUN(ranges_have_defaults);
    CHECK_RUN(works_out_a_launch);
    CHECK_RUN(refuses_a_geometry_out_of_range);
    CHECK_RUN(admits_what_the_constraints_let_pass);
    CHECK_RUN(space_counts_what_is_admitted);
    CHECK_RUN(choices_are_read_and_written);
    CHECK_RUN(sizes_are_read_and_written);
    CHECK_RUN(absent_files_are_not_found);
    CHECK_RUN(reads_a_search_space_without_source);
    CHECK_RUN(the_default_is_the_oracle_without_a_reference);
    CHECK_RUN(reals_become_exact_definitions);
    CHECK_RUN(definitions_are_found);
    spec_end();
    return CHECK_END();
}
