/* SPDX-License-Identifier: MIT */
/*
 * test_slice: what of a source a kernel is made of, and what that says of its
 * launch.
 */
#include "source/source.h"
#include "tests/support/source_read.h"

/* Of the kernel k of the text. */
static const char *slice(const char *text)
{
    const struct shmt_source source = read_text(text);
    const struct shmt_source_kernel *const kernel =
        shmt_source_find(&source, "k", 1);
    const char *out = NULL;

    CHECK(kernel != NULL);
    if (kernel != NULL)
        out = shmt_source_slice(arena, text, kernel);
    CHECK(out != NULL);
    return out == NULL ? "" : out;
}

static bool has(const char *text, const char *name)
{
    return shmt_text_mentions(text, name, 1) > 0;
}

static void others_are_left_out(void)
{
    static const char text[] =
        "#define R 4\n#define TILE 16 // wide\n#define WIDE (TILE + PAD)\n"
        "#ifndef PAD\n#define PAD 1\n#endif\n"
        "static const int LEFT = 2, COUNT = LEFT * STEP;\n"
        "#define STEP 3\n"
        "__device__ float table[FIXED];\n#define FIXED 9\n"
        "struct part { float x[MEMBERS]; void go() { turn(1); } };\n"
        "#define MEMBERS 5\n"
        "enum { NEAR, FAR = DEEP };\n#define DEEP 7\n"
        "__device__ float turn(float x) { return x * TURNS; }\n"
        "#define TURNS 8\n"
        "template <int N = 4> __device__ void unused(float *x) { x[R] = 0; }\n"
        "__global__ void other(float *x) { __shared__ float s[R]; }\n"
        "namespace a {\nextern \"C\" {\n"
        "__global__ void __launch_bounds__(256) k(float *x, part p) {\n"
        "    __shared__ float s[WIDE]; /* R */\n"
        "#if UNROLL > 1\n#pragma unroll UNROLL\n#endif\n"
        "    for (int i = 0; i < COUNT; i++) x[i] = table[FAR] + p.other;\n"
        "}\n}\n}\n"
        "#define UNROLL 2\n"
        "void run() { other<<<R, 1>>>(0); a::k<<<1, 1>>>(0, {}); }\n";
    static const char *const used[] = {"TILE", "PAD", "WIDE", "COUNT", "LEFT",
                                       "STEP", "FIXED", "MEMBERS", "FAR",
                                       "DEEP", "turn", "TURNS", "UNROLL"};
    static const char *const unused[] = {"R", "unused", "run", "wide"};
    const char *const out = slice(text);

    for (size_t n = 0; n < sizeof used / sizeof used[0]; n++) {
        CHECK(has(out, used[n]));
        if (!has(out, used[n]))
            printf("#   %s is used\n", used[n]);
    }
    for (size_t n = 0; n < sizeof unused / sizeof unused[0]; n++) {
        CHECK(!has(out, unused[n]));
        if (has(out, unused[n]))
            printf("#   %s is not used\n", unused[n]);
    }
}

/* A parameter hides what has its name elsewhere, and an operator is a function
 * as any other. */
static void names_are_those_of_the_kernel(void)
{
    static const char text[] =
        "struct part { float x; };\n"
        "__device__ void operator+=(part &a, part b) { a.x += b.x; }\n"
        "__device__ bool operator<(part a, const part &b) { return a.x < b.x;"
        " }\n__device__ void operator()(part a) {}\n"
        "const int BLOCK = 256;\nconst int count = 4 * BLOCK;\n"
        "struct given { int deep[DEEP]; };\n#define DEEP 3\n"
        "const int last = LAST;\n#define LAST 5\n"
        "__global__ void __launch_bounds__(last)\n"
        "k(part *x, int count, const given, int list[]) {\n"
        "    if (threadIdx.x < count + list[0]) x[0] += x[1];\n}\n";
    const char *const out = slice(text);

    CHECK(!has(out, "BLOCK"));
    CHECK(has(out, "DEEP"));
    CHECK(has(out, "LAST"));
    CHECK(has(out, "part"));
}

/* Conditions may choose what is compiled; the default of a macro is none. */
static void conditions_are_kept(void)
{
    static const char text[] =
        "#if !defined(ALONE)\n#define ALONE 2\n#endif\n"
        "#ifndef WAIVED\n#define WAIVED 3\n#endif\n"
        "#if MODE == 1 && defined(MORE)\ntypedef float real;\n#endif\n"
        "__global__ void k(float *x) { x[0] = 1; }\n";

    CHECK(has(slice(text), "MODE"));
    CHECK(has(slice(text), "MORE"));
    CHECK(!has(slice(text), "ALONE"));
    CHECK(!has(slice(text), "WAIVED"));
}

/* What is not closed, or is no C++, is read to its end. */
static void anything_ends(void)
{
    CHECK(has(slice("__global__ void k(int n) { if (n) { N; \n#define N 1\n"),
              "N"));
    CHECK(has(slice("}} ;; enum { = , template < ( x\n"
                    "__global__ void k(int n) { N; }\n"), "N"));
    CHECK(has(slice("namespace { extern \"C\" __global__ void k() { N; }"),
              "N"));
}

static void blocks_are_asked_for(void)
{
    CHECK(shmt_source_asks_block("i = threadIdx.x * blockDim . y", 1));
    CHECK(!shmt_source_asks_block("i = blockDim.y + my_blockDim.x", 0));
    CHECK(shmt_source_asks_block("const dim3 b = blockDim;", 2));
    CHECK(shmt_source_asks_block("cg::this_thread_block().size()", 0));
    CHECK(shmt_source_asks_block("cg::this_grid().thread_rank()", 0));
}

static void bounds_are_read(void)
{
    CHECK_INT(shmt_source_bound("void __launch_bounds__(256) k()"), 256);
    CHECK_INT(shmt_source_bound("void __launch_bounds__ ( 128 , 2) k()"), 128);
    CHECK_INT(shmt_source_bound("void __launch_bounds__(4 * N) k()"), 0);
    CHECK_INT(shmt_source_bound("void __launch_bounds__(N) k()"), 0);
    CHECK_INT(shmt_source_bound("void __launch_bounds__"), 0);
    CHECK_INT(shmt_source_bound("void k()"), 0);
}

static void threads_are_counted(void)
{
    CHECK(shmt_source_counts_threads(
        "i = blockIdx.x * blockDim.x; j = (long)blockDim.x*blockIdx.x + 1", 0));
    CHECK(!shmt_source_counts_threads(
        "i = blockIdx.x * blockDim.x; y[blockIdx.x] = 1", 0));
    CHECK(shmt_source_counts_threads(
        "i = blockIdx.y * blockDim.y; y[blockIdx.x] = 1", 1));
    CHECK(!shmt_source_counts_threads("i = blockIdx.y * blockDim.x;", 1));
    CHECK(!shmt_source_counts_threads("i = threadIdx.x;", 0));
    CHECK(!shmt_source_counts_threads("* blockIdx.x", 0));
    CHECK(shmt_source_counts_threads("i = cg::this_grid().thread_rank();", 0));
    CHECK(!shmt_source_counts_threads(
        "auto g = this_grid(); i = g.thread_rank(); b = g.block_rank();", 0));
    CHECK(!shmt_source_counts_threads(
        "i = this_grid().thread_rank(); y[blockIdx.x] = i;", 0));
    CHECK(!shmt_source_counts_threads("i = this_grid().thread_rank();", 1));
}

static bool strides(const char *text, int axis)
{
    bool out = false;

    CHECK(shmt_source_strides(arena, text, axis, &out));
    return out;
}

static void loops_over_the_grid_are_found(void)
{
    CHECK(strides("for (; i < n; i += blockDim.x * gridDim.x)", 0));
    CHECK(!strides("for (; i < n; i += blockDim.x * gridDim.x)", 1));
    CHECK(strides("int a = 1, s = (int)gridDim.y * 2; int t = s; i += t;", 1));
    CHECK(strides("i = i + gridDim.x;", 0));
    CHECK(strides("int step() { return gridDim.x; } i += step();", 0));
    CHECK(strides("STEP = (gridDim.x) ; i += STEP;", 0));
    CHECK(strides("part = (n + gridDim.x - 1) / gridDim.x;", 0));
    CHECK(strides("auto g = this_grid(); i += g.size();", 2));
    CHECK(!strides("b = blockIdx.y * gridDim.x + blockIdx.x; i += 2;", 0));
    CHECK(!strides("y[b + gridDim.x] = t; for (i = 0; i < n; i += 4) {}", 0));
    CHECK(!strides("f(i += 2, gridDim.x); g(i += 1), gridDim.x;", 0));
    CHECK(!strides("return", 0));
}

static void warps_have_their_size(void)
{
    CHECK(shmt_source_is_warp("WARP_SIZE", 32));
    CHECK(shmt_source_is_warp("warpSz", 32));
    CHECK(shmt_source_is_warp("THREADS_PER_WARP", 32));
    CHECK(shmt_source_is_warp("WARP", 32));
    CHECK(shmt_source_is_warp("WAVE_SIZE", 32));
    CHECK(shmt_source_is_warp("ws", 32));
    CHECK(!shmt_source_is_warp("WARP_SIZE", 64));
    CHECK(!shmt_source_is_warp("ROWS", 32));
    CHECK(!shmt_source_is_warp("WAVES", 32));
    CHECK(!shmt_source_is_warp("WARPS_PER_BLOCK", 32));
    CHECK(!shmt_source_is_warp("WARPS", 32));
    CHECK(!shmt_source_is_warp("SIZE", 32));
}

static void arrays_are_summed(void)
{
    const struct shmt_source_shared *list = NULL;
    struct shmt_error err = {0};
    size_t count = 0;

    CHECK_INT(shmt_source_shared_arrays(
        arena,
        "__global__ void a() {\n"
        "  __shared__ float s[N + 1][M], t[4], u;\n"
        "  extern __shared__ char all[];\n"
        "  volatile __shared__ __align__(16) pair<int, 2> v[N];\n"
        "}\n"
        "__global__ void b() { extern __shared__ float s[]; s[0] = 1; }\n"
        "__device__ int c() { __shared__ unsigned char s[\n", &list, &count,
        &err), SHMTUNE_OK);
    CHECK(count > 0);
    if (count == 0)
        return;
    CHECK_TEXT(list[0].bytes,
               "sizeof(float) * (N + 1) * (M) + sizeof(float) * (4) + "
               "sizeof(float) + sizeof(pair<int, 2>) * (N)");
    CHECK_INT(list[0].line, 5);
    for (size_t k = 1; k < count; k++)
        CHECK(strstr(list[k].bytes, "float") == NULL);
}

static void defaults_alone_are_told(void)
{
    CHECK(shmt_source_only_defines("#ifndef N\n#define N 4\n#endif\n", "N"));
    CHECK(!shmt_source_only_defines(
        "#ifndef N\n#define N 4\n#endif\nint a = N;\n", "N"));
}

static void launches_name_what_they_need(void)
{
    const struct shmt_source source = read_text(
        "#define GRID(n) ((n) / BLOCK)\n"
        "__global__ void k(float *x) { x[0] = 1; }\n"
        "__global__ void other(float *x) { x[0] = 1; }\n"
        "void run(int n) {\n"
        "  dim3 threads; threads.x = WIDE; int turns = TURNS;\n"
        "  other<<<OTHER, 1>>>(0);\n"
        "  k<LANES><<<GRID(n), threads, BYTES>>>(x);\n"
        "}\n");
    const char *const out = shmt_source_launching(arena, &source, "k");

    CHECK(has(out, "BLOCK") && has(out, "WIDE") && has(out, "LANES") &&
          has(out, "BYTES"));
    CHECK(!has(out, "OTHER") && !has(out, "TURNS"));
    CHECK_TEXT(shmt_source_launching(arena, &source, "none"), "");
}

int main(void)
{
    arena = shmt_arena_new();
    if (arena == NULL)
        return EXIT_FAILURE;
    CHECK_RUN(others_are_left_out);
    CHECK_RUN(names_are_those_of_the_kernel);
    CHECK_RUN(conditions_are_kept);
    CHECK_RUN(anything_ends);
    CHECK_RUN(blocks_are_asked_for);
    CHECK_RUN(bounds_are_read);
    CHECK_RUN(threads_are_counted);
    CHECK_RUN(loops_over_the_grid_are_found);
    CHECK_RUN(warps_have_their_size);
    CHECK_RUN(arrays_are_summed);
    CHECK_RUN(defaults_alone_are_told);
    CHECK_RUN(launches_name_what_they_need);
    shmt_arena_free(arena);
    return CHECK_END();
}
