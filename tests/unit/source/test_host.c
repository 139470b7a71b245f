/* SPDX-License-Identifier: MIT */
/*
 * test_host: what the host's code of a source says of a kernel: templates, room
 * for its arrays, what functions that launch are called with, names that have no
 * value; and what functions of the source do with an array.
 */
#include "source/source.h"
#include "tests/support/source_read.h"

static bool asks_block(const char *text, const struct shmt_source_kernel *kernel)
{
    return shmt_source_asks_block(shmt_source_slice(arena, text, kernel), 0);
}

static void templates_are_read(void)
{
    static const char text[] =
        "template <typename T, int B = 4 * (2 + 1), class... Rest>\n"
        "__global__ void k(T *y) {}\n"
        "__global__ void plain(float *y) { y[blockDim.x] = 1; }\n"
        "void run() { ns::k<vec<float, 2>, 8><<<1, 32>>>(y); k<<<1, 2>>>(y); }"
        "\n";
    const struct shmt_source source = read_text(text);
    const struct shmt_source_template *list = source.kernels[0].templates;

    CHECK_INT(source.kernel_count, 2);
    CHECK_INT(source.kernels[0].template_count, 3);
    CHECK_TEXT(list[0].name, "T");
    CHECK_INT(list[0].is_type, true);
    CHECK_INT(list[0].value == NULL, true);
    CHECK_TEXT(list[1].name, "B");
    CHECK_TEXT(list[1].value, "4 * (2 + 1)");
    CHECK_INT(list[1].is_type, false);
    CHECK_INT(list[2].is_pack, true);
    CHECK_INT(asks_block(text, &source.kernels[0]), false);
    CHECK_INT(asks_block(text, &source.kernels[1]), true);
    CHECK_INT(source.kernels[1].is_template, false);
    CHECK_INT(source.launches[0].instance_count, 3);   /* a comma is one */
    CHECK_TEXT(source.launches[0].instance[2], "8");
    CHECK_INT(source.launches[1].instance_count, 0);
}

static void room_is_found(void)
{
    static const char *const expected[][4] = {
        {"d_x", "n * sizeof(float)", "", ""},
        {"p->y", "bytes", "", ""},
        {"z", "4", "", ""},
        {"w", "m", "", ""},
        {"v", "", "n + 1", "float4"}};
    const struct shmt_source source = read_text(
        "void run() {\n"
        "  CHECK(cudaMalloc((void **)&d_x, n * sizeof(float)));\n"
        "  cudaMallocManaged(reinterpret_cast<void **>(&p->y), bytes);\n"
        "  cudaMallocAsync(&z, 4, stream);\n"
        "  hipMalloc(&w, m);\n"
        "  thrust::device_vector<float4> v(n + 1), u;\n"
        "  cudaMalloc(only);\n"
        "  cudaMalloc(&none, );\n"
        "}\n");

    CHECK_INT(source.allocation_count, 5);
    for (size_t k = 0; k < source.allocation_count && k < 5; k++) {
        CHECK_TEXT(source.allocations[k].name, expected[k][0]);
        CHECK_TEXT(source.allocations[k].bytes, expected[k][1]);
        CHECK_TEXT(source.allocations[k].count, expected[k][2]);
        CHECK_TEXT(source.allocations[k].type, expected[k][3]);
        CHECK_INT(source.allocations[k].line, (int)k + 2);
    }
}

/* A name of small letters has no value there. */
static const char *open(const void *context, const char *name)
{
    (void)context;
    return name[0] >= 'a' && name[0] <= 'z' ? name : NULL;
}

static const char *find(const void *context, const char *name)
{
    (void)context;
    (void)name;
    return NULL;
}

static size_t bytes(const void *context, const char *type)
{
    (void)context;
    return strcmp(type, "Real") == 0 ? 8 : 0;
}

static const char *said(const struct shmt_source *source, const char *code,
                        int line)
{
    static const struct shmt_source_names names = {find, NULL, open, bytes};
    static struct shmt_text text;

    shmt_text_clear(&text);
    return shmt_source_extent(source, code, line, 0, &names, &text)
               ? shmt_text_string(&text) : "-";
}

static void open_names_are_asked_for(void)
{
    static const char *const cases[][2] = {
        {SHMT_SOURCE_ELEMENTS "(n * sizeof(float), 4)", "n"},
        {SHMT_SOURCE_ELEMENTS "(sizeof(Real) * n, 8)", "n"},
        {SHMT_SOURCE_ELEMENTS "(sizeof(unsigned long long) * n, 4)", "2 * n"},
        {SHMT_SOURCE_ELEMENTS "((n + 1) * sizeof(float2), 4)", "(n + 1) * 2"},
        {SHMT_SOURCE_ELEMENTS "(n / m * 4, 4)", "n // m"},
        {SHMT_SOURCE_ELEMENTS "(4 * n / m, 4)", "4 * n // m // 4"},
        {SHMT_SOURCE_ELEMENTS "(4096, 4)", "1024"},
        {SHMT_SOURCE_ELEMENTS "(n * 6, 4)", "n * 6 // 4"},
        {SHMT_SOURCE_ELEMENTS "(n, 1)", "n"}, {"4096 / 4", "4096 // 4"},
        {"sizeof(float *)", "8"}, {"sizeof(Other) * n", "-"},
        {"1024 * 1024 * n", "1048576 * n"}, {"1 << 20", "1048576"},
        {"p.rows * 2", "p.rows * 2"}, {"p.rows()", "-"}, {"N", "-"},
        {"given", "given"}, {"zero", "zero"}, {"two", "2"},
        {"half * 2", "two2 // 2 * 2"}};
    const struct shmt_source source = read_text(
        "int given = atoi(argv[1]), zero = 0, two = 2;\n"
        "int half = two2 / 2;\n");

    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++)
        CHECK_TEXT(said(&source, cases[k][0], 100), cases[k][1]);
}

/* What a function is given where it is called, two steps out; of what it does
 * itself, and of what was said before the call. */
static void callers_are_followed(void)
{
    const struct shmt_source source = read_text(
        "template <class T> void inner(T *out, int rows, int cols = 4)\n"
        "{\n"
        "  int all = rows * cols;\n"
        "  k<T><<<all / 32, 32>>>(out, all);\n"
        "}\n"
        "void outer(float *y, int n)\n"
        "{\n"
        "  if (n) inner<float>(y, n / 2, 8);\n"
        "}\n"
        "void other(int n);\n"
        "int main()\n"
        "{\n"
        "  int size = 1 << 10;\n"
        "  outer(d_y, size);\n"
        "  size = 3;\n"
        "}\n");
    static const char *const expected[][2] = {
        {"cols", "4"}, {"out", "y"}, {"rows", "n / 2"}, {"cols", "8"},
        {"T", "float"}, {"all", "rows * cols"}, {"y", "d_y"}, {"n", "size"},
        {"size", "1 << 10"}, {"size", "3"}};

    CHECK_INT(source.variable_count, 10);
    for (size_t k = 0; k < source.variable_count && k < 10; k++) {
        CHECK_TEXT(source.variables[k].name, expected[k][0]);
        CHECK_TEXT(source.variables[k].value, expected[k][1]);
    }
    CHECK_INT(source.variables[1].called, 8);
    CHECK_INT(source.variables[5].called, 0);
    CHECK_INT(source.variables[7].called, 14);
    CHECK_TEXT(said(&source, "all", 4), "1024 // 2 * 8");
}

/* Functions that call each other end. */
static void circles_end(void)
{
    const struct shmt_source source = read_text(
        "void a(int n) { b(n + 1); k<<<n, 32>>>(); }\n"
        "void b(int n) { a(n); }\n"
        "void c(int n) { c(n); k<<<n, 32>>>(); }\n"
        "void d( { d(d(d( k<<<1, 2>>>(\n");

    CHECK_INT(source.launch_count >= 2, true);
    CHECK_TEXT(said(&source, "n", 1), "n + 1");
    CHECK_TEXT(said(&source, "n", 3), "n");
}

/* What kernel k does with its first parameter. */
static unsigned use_of(const char *text)
{
    const struct shmt_source source = read_text(text);

    for (size_t k = 0; k < source.kernel_count; k++)
        if (strcmp(source.kernels[k].name, "k") == 0)
            return source.kernels[k].signature.parameters[0].use;
    return 99;
}

static void functions_are_looked_into(void)
{
    static const struct {
        const char *text;
        unsigned use;
    } cases[] = {
        {"__device__ void put(float *to, int i, float x) { to[i] = x; }\n"
         "__global__ void k(float *y, int i) { put(y + 1, i, 2); }\n",
         SHMT_SOURCE_WRITTEN},
        {"__device__ float get(int i, const float *from) { return from[i]; }\n"
         "__global__ void k(float *y, int i) { y[i] = get(i, y); }\n",
         SHMT_SOURCE_READ | SHMT_SOURCE_WRITTEN},
        {"template <int N> __device__ float sum(float *x) { return x[N]; }\n"
         "__global__ void k(float *y, float *z) { z[0] = sum<4>(y); }\n",
         SHMT_SOURCE_READ},
        {"__device__ void set(float &to) { to = 1; }\n"
         "__global__ void k(float *y) { set(y[0]); }\n", SHMT_SOURCE_UNKNOWN},
        {"__device__ float twice(float x) { return 2 * x; }\n"
         "__global__ void k(float *y, float *z) { z[0] = twice(y[0]); }\n",
         SHMT_SOURCE_READ},
        {"#define SWAP(a, b) { float c = a; a = b; b = c; }\n"
         "__global__ void k(float *y) { SWAP(y[0], y[1]); }\n",
         SHMT_SOURCE_UNKNOWN},
        {"__device__ void f(float *x) { g(x); }\n"
         "__device__ void g(float *x) { f(x); }\n"
         "__global__ void k(float *y) { f(y); }\n", SHMT_SOURCE_UNKNOWN},
        {"__device__ void keep(float *x) { list[0] = x; }\n"
         "__global__ void k(float *y) { keep(y); }\n", SHMT_SOURCE_UNKNOWN},
    };

    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        const unsigned use = use_of(cases[k].text);

        CHECK_INT(use, cases[k].use);
        if (use != cases[k].use)
            printf("#   %s", cases[k].text);
    }
}

int main(void)
{
    arena = shmt_arena_new();
    if (arena == NULL)
        return EXIT_FAILURE;
    CHECK_RUN(templates_are_read);
    CHECK_RUN(room_is_found);
    CHECK_RUN(open_names_are_asked_for);
    CHECK_RUN(callers_are_followed);
    CHECK_RUN(circles_end);
    CHECK_RUN(functions_are_looked_into);
    shmt_arena_free(arena);
    return CHECK_END();
}
