/* SPDX-License-Identifier: MIT */
/*
 * test_source: kernels, macros and launches in the text of a source.
 */
#include "source/source.h"
#include "tests/support/source_read.h"

/* Name, and each parameter as TYPE NAME with what is known of the type. */
static const char *kernel_of(const struct shmt_source *source, size_t k)
{
    static char out[1024];
    const struct shmt_source_kernel *kernel = &source->kernels[k];

    snprintf(out, sizeof out, "%s%s:", kernel->name,
             kernel->is_template ? "<>" : "");
    for (size_t p = 0; p < kernel->signature.count; p++) {
        const struct shmt_signature_parameter *one =
            &kernel->signature.parameters[p];

        snprintf(out + strlen(out), sizeof out - strlen(out), " %s%s%s,%s;",
                 one->constant ? "const " : "",
                 one->kind == SHMT_SIGNATURE_ELEMENT
                     ? shmt_element_word(one->element)
                 : one->kind == SHMT_SIGNATURE_BITS   ? "bits"
                 : one->kind == SHMT_SIGNATURE_VECTOR ? "vector" : "other",
                 one->pointer ? "*" : "", one->name);
    }
    return out;
}

static struct shmt_source read_preprocessed(const char *text)
{
    const char *plain = NULL;
    struct shmt_error err = {0};

    CHECK_INT(shmt_source_preprocess(arena, text, &plain, &err), SHMTUNE_OK);
    return read_text(plain == NULL ? "" : plain);
}

/* The one kernel's only parameter is `yes` where the condition holds. */
static void holds(const char *condition, bool expected)
{
    struct shmt_source source;
    char text[512];

    snprintf(text, sizeof text,
             "#define FOUR 4\n#define SAME FOUR\n#define EMPTY\n"
             "__global__ void k(\n#if %s\nfloat yes\n#else\nint no\n#endif\n"
             ") {}\n", condition);
    source = read_preprocessed(text);
    CHECK_INT(source.kernel_count, 1);
    CHECK_TEXT(kernel_of(&source, 0),
               expected ? "k: f32,yes;" : "k: i32,no;");
    if (source.kernel_count != 1 ||
        (strcmp(kernel_of(&source, 0), "k: f32,yes;") == 0) != expected)
        printf("#   #if %s\n", condition);
}

static void a_text_is_preprocessed(void)
{
    const struct shmt_source source = read_preprocessed(
        "#define KERNEL extern \"C\" __global__\n"
        "#define GLOBAL\n"
        "#define real float   // a comment\n"
        "#define mixed real\n"
        "typedef unsigned long long mm_ulong;\n"
        "typedef mixed number;\n"
        "#define LOOP LOOP2\n#define LOOP2 LOOP\n"
        "#if 0\n#else\n"
        "#ifdef ABSENT\nKERNEL void no(int a) {}\n#undef real\n#endif\n"
        "#endif\n"
        "KERNEL void add(GLOBAL const real* RESTRICT x,\n"
        "#ifdef FIXED\n    GLOBAL mm_ulong* y,\n"
        "#elif !defined(FIXED) && SIZE + 1 == 1\n    GLOBAL number* y,\n"
        "#else\n    GLOBAL double* y,\n#endif\n"
        "    LOOP z, mm_ulong n) {}\n"
        "#undef real\n"
        "KERNEL void other(real *x) {}\n"
        "#if defined KERNEL\n#define FIXED\n#endif\n"
        "#ifndef FIXED\n#error never\nKERNEL void no(int a) {}\n#endif\n"
        "#endif\n#else\n"
        "KERNEL void last(int n) {}\n");

    CHECK_INT(source.kernel_count, 3);
    CHECK_TEXT(kernel_of(&source, 0),
               "add: const f32*,x; f32*,y; other,z; u64,n;");
    CHECK_TEXT(kernel_of(&source, 1), "other: other*,x;");
    CHECK_TEXT(kernel_of(&source, 2), "last: i32,n;");
}

static void conditions_are_those_of_c(void)
{
    holds("1", true);
    holds("0", false);
    holds("FOUR == 4 && SAME == FOUR", true);
    holds("ABSENT", false);
    holds("1 / 0 || 1", false);                /* as a compiler refuses it */
    holds("!ABSENT || 1 / 0", true);
    holds("!(ABSENT && 1 % ABSENT == 0)", true);
    holds("FOUR ? 1 : 1 / 0", true);
    holds("ABSENT ? 1 / 0 : FOUR", true);
    holds("-1 >> 1 == -1 && 8 >> 1 == 4", true);
    holds("defined FOUR && !defined(ABSENT)", true);
    holds("defined(EMPTY)", true);
    holds("EMPTY", false);
    holds("(1 + 2) * 3 == 9 && 1 + 2 * 3 == 7", true);
    holds("8 - 4 - 2 == 2 && 16 / 4 / 2 == 2 && 7 % 4 == 3", true);
    holds("1 << 4 | 1 ^ 3 & 2", true);
    holds("(1 << 4 | 1 ^ 3 & 2) == 19", true);
    holds("-1 < 0 && ~0 == -1 && 0x10UL == 16 && 010 == 8", true);
    holds("3 >= 3 && 3 <= 3 && 3 != 4 && !(3 > 3)", true);
    holds("FOUR ? 0 : 1", false);
    holds("0 ? 1 : 0 ? 1 : FOUR", true);
    holds("__CUDACC__ && __CUDA_ARCH__ >= 700", true);
    holds("FOUR FOUR", false);
    holds("(1", false);
    holds("1 +", false);
    holds("", false);
    holds("\"text\"", false);
}

/* Macros that double, conditions without an end, brackets without number. */
static void macros_without_end_are_let_be(void)
{
    struct shmt_text text = {0};

    for (int k = 0; k < 60; k++)
        shmt_text_addf(&text, "#define M%d M%d M%d\n", k, k + 1, k + 1);
    shmt_text_add(&text, "M0\n__global__ void last(int n) {}\n#if ");
    for (int k = 0; k < 10000; k++)
        shmt_text_add(&text, "(");
    shmt_text_add(&text, "\n#endif\n#if ");
    for (int k = 0; k < 1000000; k++)
        shmt_text_add(&text, "1?");
    shmt_text_add(&text, "\n");
    for (int k = 0; k < 30; k++)
        shmt_text_addf(&text, "#define E%d E%d E%d\n", k, k + 1, k + 1);
    shmt_text_add(&text, "#define E30\nE0\n");
    for (int k = 0; k < 1000; k++)     /* all together, not each, */
        shmt_text_add(&text, "#if M0\n#endif\n");
    for (int k = 0; k < 100000; k++)
        shmt_text_add(&text, "typedef ");
    for (int k = 0; k < 1000; k++)
        shmt_text_add(&text, "\n#if 1");
    CHECK(!text.failed);
    CHECK_INT(read_preprocessed(text.data).kernel_count, 1);
    shmt_text_free(&text);
}

static void kernels_are_found(void)
{
    const struct shmt_source source = read_text(
        "/* __global__ void no(int a) {} */\n"
        "// __global__ void no(int a) {}\n"
        "const char *text = \"__global__ void no(int a) {}\";\n"
        "#if 0\n__global__ void no(int a) {}\n#endif\n"
        "__global__ void declared(float *x);\n"
        "extern \"C\" __global__ void __launch_bounds__(256, 4)\n"
        "scale(float *__restrict__ y, const float *x, float a,\n"
        "      unsigned int n)\n{ if (n) { y[0] = a; } }\n"
        "template <class T, int B = (1 > 0)>\n"
        "static __global__ BOUNDS(B) void any(T *y, T const *x,\n"
        "    const unsigned long long n, std::size_t m = 3,\n"
        "    Array<float, 4> b, const half2 *h) {}\n"
        "__global__ void none(void) {}\n"
        "__global__ void odd(const char[], float x[4], int, bool b,\n"
        "                    float **rows, struct Weights w) {}\n");

    CHECK_INT(source.kernel_count, 4);
    if (source.kernel_count != 4)
        return;
    CHECK_TEXT(kernel_of(&source, 0),
               "scale: f32*,y; const f32*,x; f32,a; u32,n;");
    CHECK_INT(source.kernels[0].line, 9);
    CHECK_INT(source.kernels[0].column, 1);
    CHECK_TEXT(kernel_of(&source, 1),
               "any<>: other*,y; const other*,x; const u64,n; u64,m; "
               "other,b; const vector*,h;");
    CHECK_INT(source.kernels[1].signature.parameters[5].lanes, 2);
    CHECK_TEXT(kernel_of(&source, 2), "none:");
    CHECK_TEXT(kernel_of(&source, 3),
               "odd: const bits*,; f32*,x; i32,; bool,b; other*,rows; "
               "other,w;");
}

static const char *found(const struct shmt_source *source, const char *name)
{
    const struct shmt_source_kernel *one =
        shmt_source_find(source, name, strlen(name));

    return one == NULL ? "" : one->qualified;
}

/* As code at the end of the text names them. */
static void namespaces_are_followed(void)
{
    static const char *const expected[] = {
        "a::k", "a::b::c::k", "a::k", "a::d::k", "a::k", "a::e::k", "f::k",
        "g::h::k", "i::k", "j::k", "k"};
    const struct shmt_source source = read_text(
        "namespace a {\n__global__ void k(int a) { if (a) { a = 0; } }\n"
        "namespace b::c { extern \"C\" {\n__global__ void k() {}\n} }\n"
        "inline namespace v1 { namespace {\n__global__ void k() {}\n} }\n"
        "namespace [[deprecated]] d __attribute__((x)) {\n"
        "extern \"C\" __global__ void k() {}\n}\n"
        "struct S { int x; };\n__global__ void k() {}\n"
        "namespace inline v2::e {\n__global__ void k() {}\n}}\n"
        "namespace other = a; using namespace a;\n"
        "__global__ void f::k() {}\n"
        "#ifdef G\nnamespace no {\n#elif 1\nnamespace no {\n#else\n"
        "namespace g {\n#endif\nnamespace h {\n__global__ void k() {}\n}\n"
        "#if H\n} // of g\n#else\n}\n#endif\n"
        "namespace i {\n__global__ void k(int a) {\n"
        "#if H\nif (a) {\n#else\nif (!a) {\n#endif\n} }\n}\n"
        "} namespace j { __global__ void k() {} }\n"
        "__global__ void k() {}\nnamespace { namespace");

    CHECK_INT(source.kernel_count, 11);
    for (size_t k = 0; k < 11 && k < source.kernel_count; k++) {
        CHECK_TEXT(source.kernels[k].qualified, expected[k]);
        CHECK_TEXT(source.kernels[k].name, "k");
    }
    CHECK_TEXT(found(&source, "k"), "k");
    CHECK_TEXT(found(&source, "a::k"), "a::k");
    CHECK_TEXT(found(&source, "c::k"), "a::b::c::k");
    CHECK_TEXT(found(&source, "none::k"), "a::k");
    CHECK_TEXT(found(&source, "a::kk"), "");
    CHECK_TEXT(found(&source, ""), "");
}

static void shared_memory_is_found(void)
{
    const struct shmt_source source = read_text(
        "__global__ void a() { extern __shared__ double t[]; }\n"
        "__global__ void b() { extern __shared__ __align__(16) "
        "unsigned char t[]; }\n"
        "__global__ void c() { __shared__ float t[4]; }\n");

    CHECK_INT(source.kernel_count, 3);
    if (source.kernel_count != 3)
        return;
    CHECK(source.kernels[0].shared_dynamic);
    CHECK_INT(source.kernels[0].shared_element, 8);
    CHECK(source.kernels[1].shared_dynamic);
    CHECK_INT(source.kernels[1].shared_element, 1);
    CHECK(!source.kernels[2].shared_dynamic);
    CHECK(source.shared_dynamic);
}

/* That of the file, and of a function, in a template at times. */
static void shared_memory_elsewhere_is_found(void)
{
    const struct shmt_source source = read_text(
        "extern __shared__ __align__(16) double all[];\n"
        "template <class T> struct Shared { __device__ operator T *() {\n"
        "    extern __shared__ int own[]; return (T *)own; } };\n"
        "__global__ void a(float *y) { *y = all[0]; }\n"
        "__global__ void b(float *y) { float *t = Shared<float>(); }\n"
        "__global__ void c() { extern __shared__ float all[]; }\n");
    const struct shmt_source alone = read_text(
        "__global__ void a() { extern __shared__ float all[]; }\n"
        "__global__ void b(float *all) { *all = 1; }\n");

    CHECK_INT(source.kernel_count, 3);
    CHECK_INT(alone.kernel_count, 2);
    if (source.kernel_count != 3 || alone.kernel_count != 2)
        return;
    CHECK(source.kernels[0].shared_dynamic);
    CHECK_INT(source.kernels[0].shared_element, 8);
    CHECK(!source.kernels[1].shared_dynamic);
    CHECK(source.kernels[1].shared_elsewhere);
    CHECK(source.kernels[2].shared_dynamic);
    CHECK_INT(source.kernels[2].shared_element, 4);
    CHECK(!alone.kernels[1].shared_dynamic);
    CHECK(!alone.kernels[1].shared_elsewhere);
}

static void macros_are_found(void)
{
    const struct shmt_source source = read_text(
        "#ifndef GUARD_H\n#define GUARD_H\n"
        "#ifndef TILE\n#define TILE 32 // lanes\n#endif\n"
        "# ifndef PAD\n#  define PAD (1 + \\\n 0) /* one */\n# endif\n"
        "#define OWN 3\n"
        "#ifndef F\n#define F(x) x\n#endif\n"
        "#ifndef OTHER\n#define THIS 2\n#endif\n"
        "#ifndef BOTH\n#define BOTH 1\n#else\n#endif\n"
        "#if !defined(ROWS)\n#define ROWS 4\n#endif\n"
        "#if ! defined COLS // across\n#define COLS 8\n#endif\n"
        "#if !defined(A) && !defined(B)\n#define A 1\n#endif\n"
        "#if defined(C)\n#define C 1\n#endif\n"
        "#if !defined(D\n#define D 1\n#endif\n"
        "#endif\n");

    CHECK_INT(source.macro_count, 4);
    if (source.macro_count != 4)
        return;
    CHECK_TEXT(source.macros[0].name, "TILE");
    CHECK_TEXT(source.macros[0].value, "32");
    CHECK_INT(source.macros[0].line, 4);
    CHECK_TEXT(source.macros[1].name, "PAD");
    CHECK_TEXT(source.macros[1].value, "(1 +  0)");
    CHECK_TEXT(source.macros[2].name, "ROWS");
    CHECK_TEXT(source.macros[2].value, "4");
    CHECK_TEXT(source.macros[3].name, "COLS");
    CHECK_TEXT(source.macros[3].value, "8");
}

/* What ends with CR LF goes on behind a backslash as well. */
static void lines_go_on(void)
{
    const struct shmt_source source = read_text(
        "#ifndef TILE\r\n#define TILE \\\r\n 32\r\n#endif\r\n"
        "// goes on \\\r\n__global__ void no(int a) {}\r\n"
        "#define KERNEL(name) \\\r\n    __global__ void name(int a) \\\r\n"
        "    {}\r\n"
        "const char *text = \"one\\\r\n__global__ void no(int a) {}\";\r\n"
        "int a, \\\r\n#if 0\r\n;\r\n"
        "#define BEGIN \"/*\"\r\n"
        "const char *raw = u8R\"(\" __global__ void no(int a) {})\";\r\n"
        "__global__ void k(float *y,\r\n    int n) {}\r\n");

    CHECK_INT(source.kernel_count, 1);
    CHECK_INT(source.macro_count, 1);
    if (source.kernel_count != 1 || source.macro_count != 1)
        return;
    CHECK_TEXT(kernel_of(&source, 0), "k: f32*,y; i32,n;");
    CHECK_INT(source.kernels[0].line, 17);
    CHECK_TEXT(source.macros[0].value, "32");
}

/* Of a macro that is 1, ONE. */
/* What a template is given is neither the parameter's name nor its type. */
static void templates_are_given_types(void)
{
    const struct shmt_source source = read_text(
        "__global__ void k(pair<int[2], f<1, 2>> b, view<float *, 2> v,\n"
        "                  const tile<int, N> *__restrict__ t,\n"
        "                  ns::box<N> c[4]) {}\n");

    CHECK_INT(source.kernel_count, 1);
    if (source.kernel_count == 1)
        CHECK_TEXT(kernel_of(&source, 0),
                   "k: other,b; other,v; const other*,t; other*,c;");
}

static void zero_is_for_flags_and_sums(void)
{
    static const char *const yes[] = {
        "#if ONE", "#if (ONE) && A > 2", "#if A\n#elif B || !ONE", "#if ONE == 0",
        "if (ONE) {}", "if constexpr (ONE && a) {}", "while (a || ONE) {}",
        "x = ONE ? a : b;", "f(ONE ? a : b)", "x = !ONE;",
        "constexpr bool kOne = ONE;", "#define WIDE (ONE ? 2 : 1)",
        "float t[TILE][TILE + ONE];", "float t[ONE + TILE * 2];",
        "#define ROW (TILE + ONE)", "t[a + (ONE)] = t[a - ONE];",
        "#pragma unroll ONE\n#if \\\r\n ONE"};
    static const char *const no[] = {
        "", "#if ONE > 1", "#if defined(ONE) || defined ONE", "#ifdef ONE",
        "for (int k = 0; k < ONE; k++) {}", "i += ONE;", "if (ONE > 4) {}",
        "if (a && k < ONE) {}", "x = a < ONE ? a : b;", "if (n % ONE == 0) {}",
        "float v[ONE];", "k<ONE>(a);", "#pragma unroll ONE", "int n = ONE;",
        "float t[TILE + ONE]; float v[ONE];", "x = a + ONE * b;",
        "x = b * ONE + a;", "#define WIDE ONE", "f(ONE);", "// if (ONE)",
        "static_assert(ONE != 0, \"\");", "ONES ? a : b"};

    for (size_t k = 0; k < sizeof yes / sizeof *yes; k++) {
        bool zero = false;

        CHECK(shmt_source_takes_zero(arena, yes[k], "ONE", &zero));
        if (!zero)
            printf("# %s\n", yes[k]);
        CHECK(zero);
    }
    for (size_t k = 0; k < sizeof no / sizeof *no; k++) {
        bool zero = true;

        CHECK(shmt_source_takes_zero(arena, no[k], "ONE", &zero));
        if (zero)
            printf("# %s\n", no[k]);
        CHECK(!zero);
    }
}

static void launches_are_found(void)
{
    const struct shmt_source source = read_text(
        "int main() {\n"
        "  const int block = 256;\n"
        "  dim3 grid((n + block - 1) / block, f(a, b));\n"
        "  scale<<<grid, block>>>(y, x, 3.0f, n);\n"
        "  any<float, 4><<<dim3(1, 2), 32, 32 * sizeof(float), s>>>();\n"
        "}\n");

    CHECK_INT(source.launch_count, 2);
    CHECK_INT(source.variable_count, 2);
    if (source.launch_count != 2 || source.variable_count != 2)
        return;
    CHECK_TEXT(source.launches[0].name, "scale");
    CHECK_INT(source.launches[0].line, 4);
    CHECK_TEXT(source.launches[0].grid, "grid");
    CHECK_TEXT(source.launches[0].block, "block");
    CHECK_TEXT(source.launches[0].shared, "");
    CHECK_INT(source.launches[0].argument_count, 4);
    CHECK_TEXT(source.launches[0].arguments[2], "3.0f");
    CHECK_TEXT(source.launches[1].name, "any");
    CHECK_TEXT(source.launches[1].grid, "dim3(1, 2)");
    CHECK_TEXT(source.launches[1].shared, "32 * sizeof(float)");
    CHECK_INT(source.launches[1].argument_count, 0);
    CHECK_TEXT(source.variables[0].name, "block");
    CHECK_TEXT(source.variables[0].value, "256");
    CHECK_TEXT(source.variables[1].value,
               "(n + block - 1) / block, f(a, b)");
}

/* What is called otherwise, and by other functions; several variables. */
static void more_of_the_host_is_found(void)
{
    const struct shmt_source source = read_text(
        "int main() {\n"
        "  dim3 grid(n / 4, 2), block{TILE, ROWS}, none, more = dim3(7);\n"
        "  int a = 1, b = 2;\n"
        "  if (a == b) grid.y = 3;\n"
        "  b += 4;\n"
        "  cudaLaunchKernel((const void *)scale<float, 4>, grid, block, p);\n"
        "  cudaLaunchCooperativeKernel(other, 2, 32, p);\n"
        "  hipLaunchKernelGGL((any), grid, dim3(32), 64, 0, y, f(x, 1), n);\n"
        "}\n");
    static const char *const variables[][2] = {
        {"grid", "n / 4, 2"}, {"block", "TILE, ROWS"}, {"none", "1"},
        {"more", "dim3(7)"}, {"a", "1"}, {"b", "2"}, {"grid.y", "3"}};

    CHECK_INT(source.variable_count, 7);
    for (size_t k = 0; k < 7 && k < source.variable_count; k++) {
        CHECK_TEXT(source.variables[k].name, variables[k][0]);
        CHECK_TEXT(source.variables[k].value, variables[k][1]);
    }
    CHECK_INT(source.launch_count, 3);
    if (source.launch_count != 3)
        return;
    CHECK_TEXT(source.launches[0].name, "scale");
    CHECK_TEXT(source.launches[0].grid, "grid");
    CHECK_TEXT(source.launches[0].block, "block");
    CHECK_INT(source.launches[0].argument_count, 0);
    CHECK_TEXT(source.launches[1].name, "other");
    CHECK_TEXT(source.launches[1].block, "32");
    CHECK_TEXT(source.launches[2].name, "any");
    CHECK_TEXT(source.launches[2].shared, "64");
    CHECK_INT(source.launches[2].argument_count, 3);
    CHECK_TEXT(source.launches[2].arguments[1], "f(x, 1)");
}

static void definitions_are_found(void)
{
    const struct shmt_source source = read_text(
        "#define TILE 16 // wide\n"
        "#define DIVUP(a, b) (((a) + (b) - 1) / \\\n  (b))\n"
        "#define EMPTY()\n#define ODD(a\n"
        "static inline int up(int a, const int &b = 2)\n"
        "{ return a % b ? a / b + 1 : a / b; }\n"
        "int more(int a) { a++; return a; }\n");

    CHECK_INT(source.define_count, 4);
    if (source.define_count != 4)
        return;
    CHECK_TEXT(source.defines[0].name, "TILE");
    CHECK_TEXT(source.defines[0].value, "16");
    CHECK(!source.defines[0].takes);
    CHECK_TEXT(source.defines[1].name, "DIVUP");
    CHECK_INT(source.defines[1].parameter_count, 2);
    CHECK_TEXT(source.defines[1].parameters[1], "b");
    CHECK_TEXT(source.defines[1].value, "(((a) + (b) - 1) /   (b))");
    CHECK(source.defines[2].takes);
    CHECK_INT(source.defines[2].parameter_count, 0);
    CHECK_TEXT(source.defines[3].name, "up");
    CHECK_TEXT(source.defines[3].parameters[0], "a");
    CHECK_TEXT(source.defines[3].parameters[1], "b");
    CHECK_TEXT(source.defines[3].value, "a % b ? a / b + 1 : a / b");
}

/* -- extents -------------------------------------------------------------- */

/* Names in capitals are the spec's, and n, m, and "threads.x". */
static const char *find(const void *context, const char *name)
{
    static const char *const known[] = {"TILE", "ROWS", "n", "m"};

    (void)context;
    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        if (strcmp(known[k], name) == 0)
            return known[k];
    return strcmp(name, "threads.x") == 0 ? "BLOCK_X" : NULL;
}

/* Of x, y and z, "-" for what cannot be said. */
static const char *extents_of(const struct shmt_source *source,
                              const char *code)
{
    static const struct shmt_source_names names = {.find = find};
    static struct shmt_text text;

    shmt_text_clear(&text);
    for (int axis = 0; axis < 3; axis++) {
        shmt_text_add(&text, axis == 0 ? "" : "; ");
        if (!shmt_source_extent(source, code, 100, axis, &names, &text))
            shmt_text_add(&text, "-");
    }
    return shmt_text_string(&text);
}

static void extents_are_said(void)
{
    static const char *const cases[][2] = {
        {"n", "n; 1; 1"}, {"dim3(n, 2)", "n; 2; 1"}, {"{n, m, 3}", "n; m; 3"},
        {"(n + TILE - 1) / TILE", "ceildiv(n, TILE); 1; 1"},
        {"(n + 255) / 256", "ceildiv(n, 256); 1; 1"},
        {"(n + 254) / 256", "(n + 254) // 256; 1; 1"},
        {"(n + 256 - 1) / 256", "ceildiv(n, 256); 1; 1"},
        {"(n + TILE * 2 - 1) / (TILE * 2)", "ceildiv(n, TILE * 2); 1; 1"},
        {"(n + (TILE + 1) - 1) / (TILE + 1)", "ceildiv(n, TILE + 1); 1; 1"},
        {"n / TILE / 2", "n // TILE // 2; 1; 1"},
        {"n / (TILE / 2)", "n // (TILE // 2); 1; 1"},
        {"n - (m - 2)", "n - (m - 2); 1; 1"},
        {"(int)ceil((float)n / TILE)", "ceildiv(n, TILE); 1; 1"},
        {"std::ceil(n * 1.0 / TILE)", "ceildiv(n, TILE); 1; 1"},
        {"ceil(n / TILE)", "n // TILE; 1; 1"},
        {"floorf(double(n) / TILE)", "n // TILE; 1; 1"},
        {"n / 2.0f", "n // 2; 1; 1"}, {"n * 1.5", "-; -; -"},
        {"static_cast<unsigned int>(n / TILE)", "n // TILE; 1; 1"},
        {"DIVUP(n + 1, TILE)", "ceildiv(n + 1, TILE); 1; 1"},
        {"up(n, m)", "n // m + 1 if n % m != 0 else n // m; 1; 1"},
        {"iDivUp(n, TILE)", "ceildiv(n, TILE); 1; 1"},
        {"div_ceil(n, TILE)", "ceildiv(n, TILE); 1; 1"},
        {"other(n, TILE)", "-; -; -"}, {"std::min(n, 64)", "min(n, 64); 1; 1"},
        {"n * sizeof(float)", "n * 4; 1; 1"}, {"sizeof(x)", "-; -; -"},
        {"n << 2", "n * 4; 1; 1"}, {"n >> 1", "n // 2; 1; 1"},
        {"n > 4 && m != 2 ? n : m", "n if n > 4 and m != 2 else m; 1; 1"},
        {"WIDE", "TILE * 2; 1; 1"}, {"count", "n // 4; 1; 1"},
        {"grid", "n // TILE; m; 1"}, {"grid.y", "m; 1; 1"},
        {"dim3(grid.x, grid.z)", "n // TILE; 1; 1"},
        {"given", "2; n; 1"}, {"copy", "n // TILE; m; 1"},
        {"threads.x * 2", "BLOCK_X * 2; 1; 1"}, {"again", "-; -; -"},
        {"LOOP", "-; -; -"}, {"unknown", "-; -; -"}, {"", "-; -; -"},
        {"dim3(", "-; -; -"}, {"n +", "-; -; -"}, {"n) / (2", "-; -; -"},
        {"dim3(n, unknown, 2)", "n; -; 2"}, {"f(n)", "-; -; -"}};
    const struct shmt_source source = read_text(
        "#define DIVUP(a, b) (((a) + (b) - 1) / (b))\n"
        "#define WIDE (TILE * 2)\n#define LOOP POOL\n#define POOL (LOOP + 1)\n"
        "int up(int a, int b) { return a % b != 0 ? a / b + 1 : a / b; }\n"
        "const int count = n / 4;\n"
        "dim3 grid(n / TILE, m), copy(grid);\n"
        "dim3 given(1); given.x = 2; given.y = n;\n"
        "int again = again + 1;\n");

    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        CHECK_TEXT(extents_of(&source, cases[k][0]), cases[k][1]);
}

/* Names that stand for each other, and what is deep, have an end. */
static void what_is_deep_is_not_said(void)
{
    struct shmt_text text = {0};
    struct shmt_source source;

    for (int k = 0; k < 60; k++)
        shmt_text_addf(&text, "#define A%d (A%d + A%d)\n", k, k + 1, k + 1);
    shmt_text_add(&text, "#define A60 1\n");
    source = read_text(shmt_text_string(&text));
    CHECK_TEXT(extents_of(&source, "A0"), "-; -; -");
    CHECK_TEXT(extents_of(&source, "A57"),
               "1 + 1 + (1 + 1) + (1 + 1 + (1 + 1)); 1; 1");
    shmt_text_clear(&text);
    for (int k = 0; k < 700; k++)
        shmt_text_add(&text, "(-");
    shmt_text_add(&text, "n");
    for (int k = 0; k < 700; k++)
        shmt_text_add(&text, ")");
    CHECK_TEXT(extents_of(&source, shmt_text_string(&text)), "-; -; -");
    shmt_text_free(&text);
}

static void odd_text_is_let_pass(void)
{
    static const char *const texts[] = {
        "", "#", "__global__", "__global__ void f(", "__global__ void f(int",
        "\"", "/*", "R\"(", "R\"x(", "a<<<", "a<<<1", "a<<<1>>>", "a<<<1>>>(",
        "#ifndef A\n#define A 1", "#if 0\n#if 1\n#endif\n", "dim3 a(", "x = ",
        "<<<>>>()", "__global__ f() { extern __shared__", "\\", "'"
    };

    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++)
        CHECK_INT(read_text(texts[k]).kernel_count, 0 + (k == 18));
}

/* What the body does with `a`. */
static unsigned use_in(const char *body)
{
    struct shmt_source source;
    char text[512];

    snprintf(text, sizeof text, "__global__ void k(float *a, float *b, int i)\n"
             "{ %s\n}\n", body);
    source = read_text(text);
    return source.kernel_count == 1
               ? source.kernels[0].signature.parameters[0].use : 99;
}

static const char *used_in(const char *body, unsigned use, char out[128])
{
    snprintf(out, 128, "%.100s %u", body, use);
    return out;
}

static void what_is_done_with_arrays_is_found(void)
{
    static const struct {
        const char *body;
        unsigned use;
    } known[] = {
        {"b[i] = a[i];", SHMT_SOURCE_READ},
        {"if (a[i] == b[i] || a[i] <= 1) b[0] = x & 3;", SHMT_SOURCE_READ},
        {"b[(int)a[i]] = a[i + 1] * a[i - 1].x;", SHMT_SOURCE_READ},
        {"a[i] = b[i];", SHMT_SOURCE_WRITTEN},
        {"a[b[i] > 0 ? i : 0].x = 1; node.a[3] = p->a;", SHMT_SOURCE_WRITTEN},
        {"a[i][2] = b[i];", SHMT_SOURCE_WRITTEN},
        {"a[i] = a[i + 1];", SHMT_SOURCE_READ | SHMT_SOURCE_WRITTEN},
        {"a[i] += 1;", SHMT_SOURCE_READ | SHMT_SOURCE_WRITTEN},
        {"a[i] <<= 1;", SHMT_SOURCE_READ | SHMT_SOURCE_WRITTEN},
        {"a[i]++;", SHMT_SOURCE_READ | SHMT_SOURCE_WRITTEN},
        {"--a[i];", SHMT_SOURCE_READ | SHMT_SOURCE_WRITTEN},
        {"atomicMax(&a[i], 3);", SHMT_SOURCE_READ | SHMT_SOURCE_WRITTEN},
        {"help(a, i);", SHMT_SOURCE_UNKNOWN},
        {"*a = 1;", SHMT_SOURCE_WRITTEN},
        {"b[0] = i * *a;", SHMT_SOURCE_READ},
        {"a += i; b[i] = a[0];", SHMT_SOURCE_READ},
        {"float *c = &a[i]; c[0] = 1;", SHMT_SOURCE_WRITTEN},
        {"float4 *c = (float4 *)a; b[0] = a[1];", SHMT_SOURCE_READ},
        {"auto c = a + 4 * i; const float *d = c; b[0] = d[2];",
         SHMT_SOURCE_READ},
        {"float *c = i > 1 ? a : b; c[0] = 1;", SHMT_SOURCE_UNKNOWN},
        {"c = a; c[0] = 1;", SHMT_SOURCE_UNKNOWN},
        {"float *c[2]; c[0] = a;", SHMT_SOURCE_UNKNOWN},
        {"reinterpret_cast<float4 *>(a)[i] = v;", SHMT_SOURCE_WRITTEN},
        {"*reinterpret_cast<float4 *>(&a[4 * i]) = v;", SHMT_SOURCE_WRITTEN},
        {"v = *(const float4 *)(a + i);", SHMT_SOURCE_READ},
        {"((float4 *)a)[i].x += 1;", SHMT_SOURCE_READ | SHMT_SOURCE_WRITTEN},
        {"b[i] = __ldg(a + i) + __ldg(&a[i]);", SHMT_SOURCE_READ},
        {"atomicAdd(a + i, 1.0f);", SHMT_SOURCE_READ | SHMT_SOURCE_WRITTEN},
        {"if (a != nullptr && !a) b[0] = 1; a[0] = 2;", SHMT_SOURCE_WRITTEN},
        {"b[i] = fmaf(a[i], float(a[i]), max(0.0f, a[0]));",
         SHMT_SOURCE_READ},
        {"other(a[i], 1);", SHMT_SOURCE_UNKNOWN},
        {"store(&(a[i]), v);", SHMT_SOURCE_UNKNOWN},
        {"float *c = &(a[i]); *c = 1;", SHMT_SOURCE_WRITTEN},
        {"a[i].set(1);", SHMT_SOURCE_UNKNOWN},
        {"(float4 &)a[i] = v;", SHMT_SOURCE_UNKNOWN},
        {"use(&*a);", SHMT_SOURCE_UNKNOWN},
        {"float &c = a[i]; c = 1;", SHMT_SOURCE_UNKNOWN},
        {"swap(a[i], b[i]);", SHMT_SOURCE_UNKNOWN},
        {"FLOAT4(a[i]) = v;", SHMT_SOURCE_UNKNOWN},
        {"printf(\"%p\", a); b[0] = a[0];", SHMT_SOURCE_UNKNOWN},
        {"\n#define AT a[i]\n AT = 1; b[0] = a[0];", SHMT_SOURCE_UNKNOWN},
        {"b[i] = 1;", SHMT_SOURCE_UNKNOWN},
    };

    char found[128], expected[128];

    for (size_t k = 0; k < sizeof known / sizeof known[0]; k++)
        CHECK_TEXT(used_in(known[k].body, use_in(known[k].body), found),
                   used_in(known[k].body, known[k].use, expected));
}

int main(void)
{
    arena = shmt_arena_new();
    if (arena == NULL)
        return EXIT_FAILURE;
    CHECK_RUN(kernels_are_found);
    CHECK_RUN(a_text_is_preprocessed);
    CHECK_RUN(conditions_are_those_of_c);
    CHECK_RUN(macros_without_end_are_let_be);
    CHECK_RUN(namespaces_are_followed);
    CHECK_RUN(shared_memory_is_found);
    CHECK_RUN(shared_memory_elsewhere_is_found);
    CHECK_RUN(macros_are_found);
    CHECK_RUN(lines_go_on);
    CHECK_RUN(templates_are_given_types);
    CHECK_RUN(zero_is_for_flags_and_sums);
    CHECK_RUN(launches_are_found);
    CHECK_RUN(more_of_the_host_is_found);
    CHECK_RUN(definitions_are_found);
    CHECK_RUN(extents_are_said);
    CHECK_RUN(what_is_deep_is_not_said);
    CHECK_RUN(what_is_done_with_arrays_is_found);
    CHECK_RUN(odd_text_is_let_pass);
    shmt_arena_free(arena);
    return CHECK_END();
}
