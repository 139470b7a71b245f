/* SPDX-License-Identifier: MIT */
/*
 * Specs: what a good one says, and that a bad one is refused at its place.
 */
#include "check.h"

#include <sys/stat.h>
#include <unistd.h>

#include "core/kernel.h"
#include "core/yaml.h"

static const char good_spec[] =
    "format: kernel/1\n"
    "name: scale\n"
    "summary: y = a x, tile by tile\n"
    "source: scale.cu\n"
    "includes: [extra]\n"
    "problem:\n"
    "  rows: {default: 64, min: 2, max: 4096}\n"
    "  cols: {default: 32}\n"
    "  filter: {default: 3, define: true}\n"
    "sizes:\n"
    "- {rows: 1024, cols: 512}\n"
    "- {rows: 33, cols: 65, filter: 5}\n"
    "parameters:\n"
    "  BLOCK: {values: [32, 64, 128], default: 64}\n"
    "  TILE: {values: {from: 1, to: 64, times: 2}, default: 8}\n"
    "  STAGES: {values: {from: 1, to: 3}, default: 1}\n"
    "  MEMORY: {values: [static, dynamic], default: dynamic}\n"
    "  CARVEOUT: {values: [-1, 100], default: -1, scope: launch}\n"
    "constraints:\n"
    "- BLOCK * TILE <= 4096\n"
    "- MEMORY == 'dynamic' or TILE * (TILE + 1) * 4 <= 2048\n"
    "- TILE <= rows\n"
    "launches:\n"
    "- entry: \"scale<float, {TILE}, {filter}>\"\n"
    "  grid: [\"ceildiv(cols, TILE)\", \"ceildiv(rows, TILE)\"]\n"
    "  block: [BLOCK, STAGES]\n"
    "  shared_static: TILE * (TILE + 1) * 4 if MEMORY == 'static' else 0\n"
    "  shared_dynamic: 0 if MEMORY == 'static' else TILE * (TILE + 1) * 4\n"
    "  carveout: CARVEOUT\n"
    "  arguments: [y, x, part, a, cols]\n"
    "- entry: finish\n"
    "  when: STAGES > 1\n"
    "  grid: 7\n"
    "  block: [32]\n"
    "  cluster: STAGES\n"
    "  arguments: [y, part]\n"
    "reference:\n"
    "- entry: scale_reference\n"
    "  grid: [\"ceildiv(rows * cols, 256)\"]\n"
    "  block: [256]\n"
    "  arguments: [y, x, a, cols]\n"
    "arguments:\n"
    "  x: {type: f32, role: input, count: rows * cols, range: [-2, 2]}\n"
    "  y: {type: f16, role: output, count: rows * cols,\n"
    "      tolerance: {absolute: 0.5, relative: 1.0e-3}}\n"
    "  part: {type: f64, role: workspace, count: BLOCK * 2, zeroed: true}\n"
    "  a: {type: f32, value: 1.5}\n"
    "  cols: {type: i32, value: cols}\n"
    "work:\n"
    "  bytes: 6 * rows * cols\n";

static char folder[64];
static char spec_path[128];

static void write_file(const char *name, const char *data, size_t size)
{
    char path[256];
    FILE *file;

    snprintf(path, sizeof path, "%s/%s", folder, name);
    /* A new file: ext4 flushes one that is cut to nothing and written anew. */
    remove(path);
    file = fopen(path, "wb");
    if (file == NULL || fwrite(data, 1, size, file) != size ||
        fclose(file) != 0) {
        perror(path);
        exit(EXIT_FAILURE);
    }
}

static void write_text(const char *name, const char *text)
{
    write_file(name, text, strlen(text));
}

static struct shmt_kernel *read_good(void)
{
    struct shmt_kernel *kernel = NULL;
    struct shmt_error err = {0};

    write_text("spec.yaml", good_spec);
    if (shmt_kernel_read(spec_path, &kernel, &err) != SHMTUNE_OK) {
        printf("Bail out! %s\n", err.text);
        exit(EXIT_FAILURE);
    }
    return kernel;
}

static void reads_every_field(void)
{
    struct shmt_kernel *kernel = read_good();
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
    CHECK(y->absolute == 0.5 && y->relative == 1.0e-3);
    CHECK(kernel->arguments[0].low == -2 && kernel->arguments[0].high == 2);
    CHECK_INT(kernel->arguments[2].zeroed, true);
    CHECK_INT(kernel->arguments[3].role, SHMT_ROLE_SCALAR);
    CHECK(kernel->bytes != NULL && kernel->flops == NULL);
    CHECK_INT(kernel->scope.count, 8);
    CHECK_TEXT(kernel->scope.symbols[3].name, "BLOCK");
    shmt_kernel_free(kernel);
}

static void works_out_a_launch(void)
{
    struct shmt_kernel *kernel = read_good();
    const shmt_choice choice[] = {2, 4, 0, 1, 1};   /* 128 16 1 dynamic 100 */
    const int64_t problem[] = {100, 33, 7};
    struct shmt_value values[SHMT_KERNEL_SYMBOLS];
    struct shmt_geometry geometry;
    struct shmt_text text = {0};
    struct shmt_error err = {0};

    shmt_kernel_values(kernel, problem, choice, values);
    CHECK_INT(shmt_kernel_geometry(kernel, &kernel->launches[0], values,
                                   &geometry, &err), SHMTUNE_OK);
    CHECK_INT(geometry.used, true);
    CHECK_INT(geometry.grid[0], 3);
    CHECK_INT(geometry.grid[1], 7);
    CHECK_INT(geometry.grid[2], 1);
    CHECK_INT(geometry.block[0], 128);
    CHECK_INT(geometry.block[1], 1);
    CHECK_INT(geometry.shared_static, 0);
    CHECK_INT(geometry.shared_dynamic, 16 * 17 * 4);
    CHECK_INT(geometry.carveout, 100);
    CHECK_INT(geometry.cluster, 0);
    CHECK_INT(shmt_kernel_geometry(kernel, &kernel->launches[1], values,
                                   &geometry, &err), SHMTUNE_OK);
    CHECK_INT(geometry.used, false);
    CHECK_INT(shmt_kernel_geometry(kernel, &kernel->reference[0], values,
                                   &geometry, &err), SHMTUNE_OK);
    CHECK_INT(geometry.grid[0], 13);
    CHECK_INT(geometry.shared_static, -1);
    CHECK_INT(shmt_kernel_entry(kernel, &kernel->launches[0], values, &text,
                                &err), SHMTUNE_OK);
    CHECK_TEXT(shmt_text_string(&text), "scale<float, 16, 7>");
    shmt_text_clear(&text);
    shmt_kernel_definitions(kernel, values, &text);
    CHECK_TEXT(shmt_text_string(&text),
               "-Dfilter=7\n-DBLOCK=128\n-DTILE=16\n-DSTAGES=1\n-DMEMORY=1\n"
               "-DMEMORY_static=0\n-DMEMORY_dynamic=1\n");
    shmt_text_free(&text);
    shmt_kernel_free(kernel);
}

static void refuses_a_geometry_out_of_range(void)
{
    struct shmt_kernel *kernel = read_good();
    const shmt_choice choice[] = {0, 0, 0, 0, 0};
    const int64_t problem[] = {INT64_C(1) << 40, INT64_C(1) << 40, 1};
    struct shmt_value values[SHMT_KERNEL_SYMBOLS];
    struct shmt_geometry geometry;
    struct shmt_error err = {0};

    shmt_kernel_values(kernel, problem, choice, values);
    CHECK_INT(shmt_kernel_geometry(kernel, &kernel->launches[0], values,
                                   &geometry, &err), SHMTUNE_INVALID_FILE);
    CHECK_HAS(err.text, "spec.yaml:25:");
    CHECK_HAS(err.text, "1099511627776");
    shmt_kernel_free(kernel);
}

static void admits_what_the_constraints_let_pass(void)
{
    struct shmt_kernel *kernel = read_good();
    const int64_t problem[] = {64, 32, 3};
    const shmt_choice fits[] = {0, 4, 0, 0, 0};
    const shmt_choice large[] = {0, 6, 0, 0, 0};   /* static 64 x 65 x 4 */
    struct shmt_value values[SHMT_KERNEL_SYMBOLS];
    bool admits = false;
    size_t failed = 99;

    shmt_kernel_values(kernel, problem, fits, values);
    CHECK_INT(shmt_kernel_admits(kernel, values, &admits, &failed, NULL),
              SHMTUNE_OK);
    CHECK_INT(admits, true);
    CHECK_INT(failed, 99);
    shmt_kernel_values(kernel, problem, large, values);
    CHECK_INT(shmt_kernel_admits(kernel, values, &admits, &failed, NULL),
              SHMTUNE_OK);
    CHECK_INT(admits, false);
    CHECK_INT(failed, 1);
    shmt_kernel_free(kernel);
}

static void space_counts_what_is_admitted(void)
{
    struct shmt_kernel *kernel = read_good();
    const int64_t problem[] = {16, 32, 3};
    struct shmt_value fixed[SHMT_KERNEL_DIMENSIONS];
    struct shmt_value values[SHMT_KERNEL_SYMBOLS];
    struct shmt_space *space = NULL;
    struct shmt_error err = {0};
    uint64_t count = 0;

    for (shmt_choice a = 0; a < 3; a++)
        for (shmt_choice b = 0; b < 7; b++)
            for (shmt_choice c = 0; c < 3; c++)
                for (shmt_choice d = 0; d < 2; d++) {
                    const shmt_choice choice[] = {a, b, c, d, 0};
                    bool admits = false;

                    shmt_kernel_values(kernel, problem, choice, values);
                    CHECK_INT(shmt_kernel_admits(kernel, values, &admits,
                                                 NULL, NULL), SHMTUNE_OK);
                    count += admits ? 2 : 0;
                }
    CHECK_INT(shmt_kernel_space(kernel, problem, fixed, &space, &err),
              SHMTUNE_OK);
    if (space != NULL)
        CHECK_INT(shmt_space_count(space), count);
    shmt_space_free(space);
    shmt_kernel_free(kernel);
}

static enum shmtune_status read_choice(const struct shmt_kernel *kernel,
                                       const char *text, shmt_choice *choice,
                                       struct shmt_error *err)
{
    struct shmt_arena *arena = shmt_arena_new();
    const struct shmt_yaml *mapping;
    enum shmtune_status status = shmt_yaml_parse(
        arena, "choice", text, strlen(text), &mapping, err);

    if (status == SHMTUNE_OK)
        status = shmt_kernel_choice_read(kernel, mapping, choice, err);
    shmt_arena_free(arena);
    return status;
}

static void choices_are_read_and_written(void)
{
    struct shmt_kernel *kernel = read_good();
    shmt_choice choice[5] = {0};
    struct shmt_text text = {0};
    struct shmt_error err = {0};

    CHECK_INT(read_choice(kernel, "{MEMORY: static, BLOCK: 128, TILE: 1, "
                          "CARVEOUT: 100, STAGES: 2}", choice, &err),
              SHMTUNE_OK);
    shmt_kernel_choice_write(kernel, choice, &text);
    CHECK_TEXT(shmt_text_string(&text), "{BLOCK: 128, TILE: 1, STAGES: 2, "
               "MEMORY: static, CARVEOUT: 100}");
    shmt_text_clear(&text);
    shmt_kernel_describe(kernel, choice, &text);
    CHECK_TEXT(shmt_text_string(&text),
               "BLOCK=128 TILE=1 STAGES=2 MEMORY=static CARVEOUT=100");
    choice[0] = 1;
    CHECK_INT(read_choice(kernel, "{MEMORY: static, BLOCK: 32, TILE: 1, "
                          "CARVEOUT: 100}", choice, &err),
              SHMTUNE_INVALID_FILE);
    CHECK_HAS(err.text, "STAGES");
    CHECK_INT(choice[0], 1);
    CHECK_INT(read_choice(kernel, "{MEMORY: static, BLOCK: 33, TILE: 1, "
                          "CARVEOUT: 100, STAGES: 2}", choice, &err),
              SHMTUNE_INVALID_FILE);
    CHECK_HAS(err.text, "choice:1:25");
    CHECK_INT(read_choice(kernel, "{MEMORY: static, BLOK: 32, TILE: 1, "
                          "CARVEOUT: 100, STAGES: 2}", choice, &err),
              SHMTUNE_INVALID_FILE);
    CHECK_HAS(err.text, "BLOCK");
    CHECK_INT(read_choice(kernel, "[1, 2]", choice, &err),
              SHMTUNE_INVALID_FILE);
    shmt_text_free(&text);
    shmt_kernel_free(kernel);
}

static void sizes_are_read_and_written(void)
{
    struct shmt_kernel *kernel = read_good();
    struct shmt_arena *arena = shmt_arena_new();
    const struct shmt_yaml *mapping;
    int64_t problem[3] = {0};
    struct shmt_text text = {0};
    struct shmt_error err = {0};

    CHECK_INT(shmt_yaml_parse(arena, "size", "{cols: 7}", 9, &mapping, &err),
              SHMTUNE_OK);
    CHECK_INT(shmt_kernel_size_read(kernel, mapping, problem, &err),
              SHMTUNE_OK);
    shmt_kernel_size_write(kernel, problem, &text);
    CHECK_TEXT(shmt_text_string(&text), "{rows: 64, cols: 7, filter: 3}");
    shmt_text_clear(&text);
    shmt_kernel_describe_size(kernel, problem, &text);
    CHECK_TEXT(shmt_text_string(&text), "rows=64 cols=7 filter=3");
    CHECK_INT(shmt_yaml_parse(arena, "size", "{rows: 1}", 9, &mapping, &err),
              SHMTUNE_OK);
    CHECK_INT(shmt_kernel_size_read(kernel, mapping, problem, &err),
              SHMTUNE_INVALID_FILE);
    CHECK_HAS(err.text, "size:1:8");
    shmt_text_free(&text);
    shmt_arena_free(arena);
    shmt_kernel_free(kernel);
}

/* One change of the good spec: its first `from` becomes `to`. */
static void edit(const char *from, const char *to, struct shmt_text *out)
{
    const char *at = strstr(good_spec, from);

    if (at == NULL) {
        printf("Bail out! the good spec has no \"%s\"\n", from);
        exit(EXIT_FAILURE);
    }
    shmt_text_clear(out);
    shmt_text_add_bytes(out, good_spec, (size_t)(at - good_spec));
    shmt_text_add(out, to);
    shmt_text_add(out, at + strlen(from));
}

/* Each edit makes the spec wrong at `place` with `message`. */
static const struct {
    const char *from, *to, *place, *message;
} bad[] = {
    {"kernel/1", "kernel/2", ":1:9:", "kernel/1"},
    {"kernel/1", "tuning/1", ":1:9:", "tuning/1"},
    {"format: kernel/1\n", "", ":1:1:", "format"},
    {"name: scale\n", "", ":1:1:", "name"},
    {"name: scale", "name: ../scale", ":2:7:", ""},
    {"name: scale", "name: [scale]", ":2:7:", ""},
    {"summary:", "sumary:", ":3:1:", "summary"},
    {"summary:", "name:", ":3:1:", "name"},
    {"y = a x", "&x y", ":3:10:", ""},
    {"y = a x", "*x", ":3:10:", ""},
    {"y = a x", "!!str y", ":3:10:", ""},
    {"scale.cu", "absent.cu", ":4:9:", "absent.cu"},
    {"scale.cu", "\"\"", ":4:9:", ""},
    {"source: scale.cu\nincludes: [extra]\n", "", ":", "source"},
    {"[extra]", "extra", ":5:11:", ""},
    {"[extra]", "[\"\"]", ":5:12:", ""},
    {"includes: [extra]", "standard: c++98", ":5:11:", "c++17"},
    {"includes: [extra]", "fast_math: 7", ":5:12:", ""},
    {"  rows: {", "  min: {", ":7:3:", "min"},
    {"  rows: {", "  int: {", ":7:3:", "int"},
    {"  rows: {", "  __rows: {", ":7:3:", "compiler"},
    {"  rows: {", "  ro-ws: {", ":7:3:", "identifier"},
    {"default: 64, min: 2", "default: 1, min: 2", ":7:19:", ""},
    {"default: 64, min: 2", "default: 6.4, min: 2", ":7:19:", ""},
    {"default: 64, min: 2", "default: 99999999999999999999", ":7:19:", ""},
    {"max: 4096", "max: 1", ":7:36:", ""},
    {"max: 4096", "top: 4096", ":7:31:", "top"},
    {"{rows: 1024, cols", "{rows: 5000, cols", ":11:10:", "4096"},
    {"{rows: 1024, cols", "{row: 1024, cols", ":11:4:", "rows"},
    {"{rows: 33, cols: 65, filter: 5}", "{rows: 1024, cols: 512}", ":12:3:",
     "already"},
    {"{rows: 33, cols: 65, filter: 5}", "7", ":12:3:", ""},
    {"  BLOCK: {", "  while: {", ":14:3:", "while"},
    {"  BLOCK: {", "  cols: {", ":14:3:", "dimension"},
    {"  BLOCK: {", "  MEMORY_static: {", ":14:3:", "macro"},
    {"[32, 64, 128]", "[32, 64, 32]", ":14:28:", "already"},
    {"[32, 64, 128]", "[32, 64, wide]", ":14:28:", "word"},
    {"[32, 64, 128]", "[]", ":14:19:", ""},
    {"[32, 64, 128]", "7", ":14:19:", ""},
    {"[32, 64, 128]", "[32, 64, 12345678901234567890123]", ":14:28:", ""},
    {"[32, 64, 128]", "[32, 64, [1]]", ":14:28:", ""},
    {"default: 64}", "default: 65}", ":14:43:", "65"},
    {", default: 64}", "}", ":14:10:", "default"},
    {"from: 1, to: 64, times: 2", "from: 1, to: 64, times: 1", ":15:43:", ""},
    {"from: 1, to: 64, times: 2", "from: 0, to: 64, times: 2", ":15:25:", ""},
    {"from: 1, to: 64, times: 2", "from: 9, to: 4", ":15:32:", ""},
    {"from: 1, to: 64, times: 2", "from: 1, to: 70000", ":15:18:", "65535"},
    {"from: 1, to: 64, times: 2", "from: 1, to: 64, step: 2, times: 2",
     ":15:52:", "both"},
    {"from: 1, to: 3}", "from: 1}", ":16:20:", "to"},
    {"[static, dynamic]", "[static, dy-namic]", ":17:29:", "macro"},
    {"scope: launch", "scope: lunch", ":18:53:", "lunch"},
    {"- BLOCK * TILE <= 4096", "- BLOCK * TYLE <= 4096", ":20:11:", "TYLE"},
    {"- BLOCK * TILE <= 4096", "- BLOCK * TILE <=", ":20:", ""},
    {"- BLOCK * TILE <= 4096", "- BLOCK * TILE <= 256", ":20:3:",
     "BLOCK=64 TILE=8"},
    {"- BLOCK * TILE <= 4096", "- BLOCK // (TILE - 8) <= 256", ":20:", ""},
    {"- TILE <= rows", "- TILE < rows - 25", ":22:3:", "rows=33"},
    {"- TILE <= rows", "- {TILE: rows}", ":22:3:", ""},
    {"scale<float, {TILE}, {filter}>", "", ":24:10:", ""},
    {"scale<float, {TILE}, {filter}>", "scale<{TYLE}>", ":24:10:", "TYLE"},
    {"scale<float, {TILE}, {filter}>", "scale<{TILE>", ":24:10:", ""},
    {"scale<float, {TILE}, {filter}>", "scale<TILE}>", ":24:10:", ""},
    {"scale<float, {TILE}, {filter}>", "scale<{CARVEOUT}>", ":24:10:",
     "CARVEOUT"},
    {"[BLOCK, STAGES]", "[BLOCK, STAGES, 1, 1]", ":26:10:", "4"},
    {"[BLOCK, STAGES]", "[]", ":26:10:", "0"},
    {"[BLOCK, STAGES]", "[BLOCK - 64]", ":26:11:", "is 0"},
    {"  block: [BLOCK, STAGES]\n", "", ":24:3:", "block"},
    {"  carveout: CARVEOUT", "  carveout: 101", ":29:13:", "101"},
    {"  carveout: CARVEOUT", "  carve_out: CARVEOUT", ":29:3:", "carveout"},
    {"[y, x, part, a, cols]", "[y, x, parts, a, cols]", ":30:21:", "parts"},
    {"[y, x, part, a, cols]", "y", ":30:14:", ""},
    {"  when: STAGES > 1", "  when: STAGE > 1", ":32:9:", "STAGE"},
    {"  grid: [\"ceildiv(rows * cols, 256)\"]", "  grid: [BLOCK]", ":38:3:",
     "BLOCK"},
    {"scale_reference", "\"scale_reference<{TILE}>\"", ":38:3:", "TILE"},
    {"[y, x, a, cols]", "[y, x, a, part]", ":38:3:", "part"},
    {"[y, x, a, cols]", "[x, a, cols]", ":38:1:", "output y"},
    {"type: f32, role: input", "type: f31, role: input", ":43:13:", "f32"},
    {"type: f32, role: input", "type: f32, role: in", ":43:24:", "input"},
    {"type: f32, role: input", "type: f32", ":43:6:", "role"},
    {"rows * cols, range", "rows * BLOCK, range", ":43:38:", "BLOCK"},
    {"rows * cols, range", "rows - 64, range", ":43:38:", "is 0"},
    {"range: [-2, 2]", "range: [2, -2]", ":43:58:", "empty"},
    {"range: [-2, 2]", "range: [2]", ":43:58:", ""},
    {"range: [-2, 2]", "fill: zero, range: [2, 3]", ":43:70:", "zero"},
    {"range: [-2, 2]", "fill: noise", ":43:57:", "uniform"},
    {"range: [-2, 2]", "tolerance: {}", ":43:51:", "tolerance"},
    {"role: output", "role: input, fill: zero", ":45:7:", "tolerance"},
    {"absolute: 0.5", "absolute: -0.5", ":45:29:", "-0.5"},
    {"absolute: 0.5", "absolute: .inf", ":45:29:", ""},
    {"role: output", "role: workspace", ":45:7:", "tolerance"},
    {"  a: {type: f32, value: 1.5}", "  a: {type: i32, value: rows ** 4}",
     ":47:25:", "type i32"},
    {"  a: {type: f32, value: 1.5}", "  a: {type: i32, value: 1.5}",
     ":47:25:", ""},
    {"  a: {type: f32", "  rows: {role: input, type: f32", ":47:", ""},
    {"  x: {type: f32", "  BLOCK: {type: f32", ":43:3:", "parameter"},
    {"  x: {type: f32", "  rows: {type: f32", ":43:3:", "dimension"},
    {"6 * rows * cols", "6 * rows * BLOCK", ":50:10:", "BLOCK"},
    {"  bytes:", "  byte:", ":50:3:", "bytes"},
};

static void refuses_each_fault_at_its_place(void)
{
    struct shmt_text text = {0};

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct shmt_kernel *kernel = NULL;
        struct shmt_error err = {0};
        char place[160];
        enum shmtune_status status;

        edit(bad[i].from, bad[i].to, &text);
        write_file("spec.yaml", text.data, text.length);
        status = shmt_kernel_read(spec_path, &kernel, &err);
        snprintf(place, sizeof place, "%s%s", spec_path, bad[i].place);
        if (status != SHMTUNE_INVALID_FILE || kernel != NULL ||
            strncmp(err.text, place, strlen(place)) != 0 ||
            strstr(err.text, bad[i].message) == NULL) {
            printf("# \"%s\" -> \"%s\" expected %s %s\n#   got %d %s\n",
                   bad[i].from, bad[i].to, bad[i].place, bad[i].message,
                   (int)status, err.text);
            CHECK(!"refused at its place");
        }
        if (status == SHMTUNE_OK)
            shmt_kernel_free(kernel);
    }
    shmt_text_free(&text);
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

/* Whatever is cut off, a refusal names the file; what is left of the good
 * spec may be good too. */
static void survives_truncation_at_every_byte(void)
{
    size_t refused = 0;

    for (size_t size = 0; size < sizeof good_spec - 1; size++) {
        struct shmt_kernel *kernel = NULL;
        struct shmt_error err = {0};

        write_file("spec.yaml", good_spec, size);
        if (shmt_kernel_read(spec_path, &kernel, &err) == SHMTUNE_OK) {
            shmt_kernel_free(kernel);
            continue;
        }
        refused++;
        if (err.status != SHMTUNE_INVALID_FILE ||
            strncmp(err.text, spec_path, strlen(spec_path)) != 0) {
            printf("# cut at %zu: %s\n", size, err.text);
            CHECK(!"a refusal at its place");
        }
    }
    CHECK(refused > sizeof good_spec * 9 / 10);
}

static void survives_flipped_bits(void)
{
    char copy[sizeof good_spec];
    uint64_t random = 88172645463325252u;

    for (int round = 0; round < 4000; round++) {
        struct shmt_kernel *kernel = NULL;
        struct shmt_error err = {0};

        memcpy(copy, good_spec, sizeof copy);
        for (int flips = 0; flips <= round % 3; flips++) {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            copy[random / 8 % (sizeof copy - 1)] ^= (char)(1 << random % 8);
        }
        write_file("spec.yaml", copy, sizeof copy - 1);
        if (shmt_kernel_read(spec_path, &kernel, &err) == SHMTUNE_OK)
            shmt_kernel_free(kernel);
        else if (err.status != SHMTUNE_INVALID_FILE ||
                 strncmp(err.text, spec_path, strlen(spec_path)) != 0) {
            printf("# round %d: %s\n", round, err.text);
            CHECK(!"a refusal at its place");
        }
    }
}

static void survives_depth_and_length(void)
{
    static const char *const pieces[] = {"[", "{a: ", "- ", "? ", "(", "-"};
    struct shmt_text text = {0};

    for (size_t i = 0; i < sizeof pieces / sizeof pieces[0]; i++)
        for (int where = 0; where < 2; where++) {
            struct shmt_kernel *kernel = NULL;
            struct shmt_error err = {0};

            shmt_text_clear(&text);
            shmt_text_add(&text, where == 0 ? "" :
                          "format: kernel/1\nname: x\nparameters:\n"
                          "  A: {values: [1]}\nconstraints:\n- ");
            for (int k = 0; k < 20000; k++)
                shmt_text_add(&text, pieces[i]);
            write_file("spec.yaml", text.data, text.length);
            CHECK_INT(shmt_kernel_read(spec_path, &kernel, &err),
                      SHMTUNE_INVALID_FILE);
            CHECK(strncmp(err.text, spec_path, strlen(spec_path)) == 0);
        }
    shmt_text_free(&text);
}

static void reads_a_search_space_without_source(void)
{
    struct shmt_kernel *kernel = NULL;
    struct shmt_error err = {0};

    write_text("spec.yaml",
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
    CHECK_INT(kernel->parameters[2].type, SHMT_REAL);
    CHECK(kernel->parameters[2].values[1].r == 1.0);
    shmt_kernel_free(kernel);
    kernel = NULL;
    write_text("spec.yaml",
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

    edit("reference:\n"
         "- entry: scale_reference\n"
         "  grid: [\"ceildiv(rows * cols, 256)\"]\n"
         "  block: [256]\n"
         "  arguments: [y, x, a, cols]\n", "", &text);
    write_text("spec.yaml", shmt_text_string(&text));
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
    struct shmt_value values[4];
    const shmt_choice choices[][1] = {{0}, {1}, {2}, {3}};
    static const char *const expected[] = {
        "-DA=0.1\n", "-DA=2.0\n", "-DA=1e-30\n", "-DA=0.3333333333333333\n"
    };

    write_text("spec.yaml",
               "format: kernel/1\nname: reals\nparameters:\n"
               "  A: {values: [0.1, 2, 1.0e-30, 0.3333333333333333]}\n");
    CHECK_INT(shmt_kernel_read(spec_path, &kernel, &err), SHMTUNE_OK);
    for (size_t i = 0; kernel != NULL && i < 4; i++) {
        shmt_text_clear(&text);
        shmt_kernel_values(kernel, NULL, choices[i], values);
        shmt_kernel_definitions(kernel, values, &text);
        CHECK_TEXT(shmt_text_string(&text), expected[i]);
    }
    shmt_text_free(&text);
    shmt_kernel_free(kernel);
}

static void read_digest(char digest[SHMT_DIGEST_TEXT])
{
    struct shmt_kernel *kernel = NULL;
    struct shmt_error err = {0};

    digest[0] = '\0';
    if (shmt_kernel_read(spec_path, &kernel, &err) != SHMTUNE_OK) {
        printf("# %s\n", err.text);
        return;
    }
    memcpy(digest, kernel->digest, SHMT_DIGEST_TEXT);
    shmt_kernel_free(kernel);
}

static void digest_covers_spec_source_and_local_includes(void)
{
    char before[SHMT_DIGEST_TEXT], after[SHMT_DIGEST_TEXT];

    write_text("spec.yaml", good_spec);
    write_text("scale.cu", "#include \"near.h\"\n  #  include <deep/far.h>\n"
               "#include <cuda_fp16.h>\n#include \"absent.h\"\n");
    write_text("near.h", "#include \"near.h\"\n#include \"third.h\"\n");
    write_text("extra/deep/far.h", "int far;\n");
    write_text("third.h", "int third;\n");
    read_digest(before);
    CHECK_INT(strlen(before), 64);
    write_text("unrelated.h", "int unrelated;\n");
    read_digest(after);
    CHECK_TEXT(after, before);
    write_text("third.h", "int changed;\n");
    read_digest(after);
    CHECK(strcmp(after, before) != 0);
    write_text("third.h", "int third;\n");
    read_digest(after);
    CHECK_TEXT(after, before);
    write_text("extra/deep/far.h", "int changed;\n");
    read_digest(after);
    CHECK(strcmp(after, before) != 0);
    write_text("extra/deep/far.h", "int far;\n");
    write_text("absent.h", "\n");
    read_digest(after);
    CHECK(strcmp(after, before) != 0);
    write_text("scale.cu", "\n");
    read_digest(before);
    CHECK(strcmp(after, before) != 0);
    write_text("scale.cu", "// \n");
    read_digest(after);
    CHECK(strcmp(after, before) != 0);
    write_text("scale.cu", "\n");
}

/* The same kernel, said otherwise or tuned at other sizes. */
static const struct {
    const char *from, *to;
    bool same;
} respelled[] = {
    {"1024, cols: 512", "1024, cols: 513", true},
    {"y = a x", "y = x a", true},
    {"sizes:", "# more to come\nsizes:", true},
    {"[BLOCK, STAGES]", "\n  - BLOCK\n  - \"STAGES\"", true},
    {"max: 4096", "max: 4095", false},
    {"default: 32}", "default: 31}", false},
    {"[32, 64, 128]", "[32, 64, 129]", false},
    {"  block: [256]", "  block: [255]", false},
    {"relative: 1.0e-3", "relative: 1.0e-2", false},
    {"[static, dynamic], default: dynamic}",
     "[dynamic, static], default: dynamic}", false},
};

static void digest_is_of_what_a_spec_says(void)
{
    char before[SHMT_DIGEST_TEXT], after[SHMT_DIGEST_TEXT];
    struct shmt_text text = {0};

    write_text("spec.yaml", good_spec);
    read_digest(before);
    for (size_t i = 0; i < sizeof respelled / sizeof respelled[0]; i++) {
        edit(respelled[i].from, respelled[i].to, &text);
        write_text("spec.yaml", shmt_text_string(&text));
        read_digest(after);
        CHECK_INT(strlen(after), 64);
        if ((strcmp(after, before) == 0) != respelled[i].same) {
            printf("# \"%s\" -> \"%s\"\n", respelled[i].from,
                   respelled[i].to);
            CHECK(!"the digest says what changed");
        }
    }
    shmt_text_free(&text);
}

static void digest_is_bounded(void)
{
    struct shmt_kernel *kernel = NULL;
    struct shmt_error err = {0};
    char name[32], text[64];

    write_text("spec.yaml", good_spec);
    write_text("scale.cu", "#include \"h0.h\"\n");
    for (int i = 0; i < 300; i++) {
        snprintf(name, sizeof name, "h%d.h", i);
        snprintf(text, sizeof text, "#include \"h%d.h\"\n", i + 1);
        write_text(name, text);
    }
    CHECK_INT(shmt_kernel_read(spec_path, &kernel, &err),
              SHMTUNE_INVALID_FILE);
    CHECK_HAS(err.text, "256 files");
    write_text("scale.cu", "__global__ void scale() {}\n");
}

static void clean_up(void)
{
    char command[128];

    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    if (system(command) != 0)
        perror(command);
}

int main(void)
{
    const char *temporary = getenv("TMPDIR");
    char path[128];

    snprintf(folder, sizeof folder, "%.40s/test_kernel.XXXXXX",
             temporary == NULL ? "/tmp" : temporary);
    if (mkdtemp(folder) == NULL) {
        perror(folder);
        return EXIT_FAILURE;
    }
    snprintf(path, sizeof path, "%s/extra", folder);
    mkdir(path, 0700);
    snprintf(path, sizeof path, "%s/extra/deep", folder);
    mkdir(path, 0700);
    snprintf(spec_path, sizeof spec_path, "%s/spec.yaml", folder);
    write_text("scale.cu", "__global__ void scale() {}\n");
    CHECK_RUN(reads_every_field);
    CHECK_RUN(works_out_a_launch);
    CHECK_RUN(refuses_a_geometry_out_of_range);
    CHECK_RUN(admits_what_the_constraints_let_pass);
    CHECK_RUN(space_counts_what_is_admitted);
    CHECK_RUN(choices_are_read_and_written);
    CHECK_RUN(sizes_are_read_and_written);
    CHECK_RUN(refuses_each_fault_at_its_place);
    CHECK_RUN(absent_files_are_not_found);
    CHECK_RUN(reads_a_search_space_without_source);
    CHECK_RUN(the_default_is_the_oracle_without_a_reference);
    CHECK_RUN(reals_become_exact_definitions);
    CHECK_RUN(survives_truncation_at_every_byte);
    CHECK_RUN(survives_flipped_bits);
    CHECK_RUN(survives_depth_and_length);
    CHECK_RUN(digest_covers_spec_source_and_local_includes);
    CHECK_RUN(digest_is_of_what_a_spec_says);
    CHECK_RUN(digest_is_bounded);
    clean_up();
    return CHECK_END();
}
