/* SPDX-License-Identifier: MIT */
/* kernel: specs with one mistake, cut, flipped and worse: refused in place. */
#include "tests/support/check.h"

#include "tests/support/spec_fixture.h"

#define FOUR(text) text text text text
#define SIXTEEN(text) FOUR(FOUR(text))

/* Each edit makes the spec wrong at `place` with `message`. */
static const struct {
    const char *from, *to, *place, *message;
} bad[] = {
    {"kernel/1", "kernel/3", ":1:9:", "newer than kernel/2"},
    {"kernel/1", "tuning/1", ":1:9:", "tuning/1"},
    {"format: kernel/1\n", "", ":1:1:", "format"},
    {"format: kernel/1\nname: scale\n", "name: scale\nformat: kernel/1\n",
     ":1:1:", "as the first key"},
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
    {"includes: [extra]", "compiler: gcc", ":5:11:",
     "compiler \"gcc\"; nvrtc or nvcc is expected"},
    {"includes: [extra]", "compiler: nvcc\nstandard: c++14", ":5:11:",
     "compiler nvcc with standard c++14; c++17 or c++20 is expected"},
    {"includes: [extra]", "features: sm_90a", ":5:11:",
     "features \"sm_90a\"; portable (sm_90), family (sm_100f) or arch"},
    {"includes: [extra]", "features: [family]", ":5:11:", ""},
    {"  rows: {", "  min: {", ":7:3:", "min"},
    {"  rows: {", "  int: {", ":7:3:", "int"},
    {"  rows: {", "  __rows: {", ":7:3:", "compiler"},
    {"  rows: {", "  ro-ws: {", ":7:3:", "identifier"},
    {"default: 64, min: 2", "default: 1, min: 2", ":7:19:", ""},
    {"default: 64, min: 2", "default: 6.4, min: 2", ":7:19:", ""},
    {"default: 64, min: 2", "default: 99999999999999999999", ":7:19:", ""},
    {"default: 64, min: 2", "default: \"64\", min: 2", ":7:19:",
     "found \"64\" in quotes, expected an integer"},
    {"max: 4096", "max: 1", ":7:36:", ""},
    {"max: 4096", "top: 4096", ":7:31:", "top"},
    {"{rows: 1024, cols", "{rows: 5000, cols", ":11:10:", "4096"},
    {"{rows: 1024, cols", "{row: 1024, cols", ":11:4:", "rows"},
    {"{rows: 33, cols: 65, filter: 5}", "{rows: 1024, cols: 512}", ":12:3:",
     "already"},
    {"{rows: 33, cols: 65, filter: 5}", "7", ":12:3:", ""},
    {"constraints:\n", "derived: 7\nconstraints:\n", ":19:10:", "names"},
    {"constraints:\n", "derived:\n  BLOCK: 2\nconstraints:\n", ":20:3:",
     "already"},
    {"constraints:\n", "derived:\n  min: 2\nconstraints:\n", ":20:3:", "min"},
    {"constraints:\n", "derived:\n  a: 2\n  a: 3\nconstraints:\n", ":21:3:",
     "a"},
    {"constraints:\n", "derived:\n  a-b: 2\nconstraints:\n", ":20:3:",
     "identifier"},
    {"constraints:\n", "derived:\n  a: b\n  b: 2\nconstraints:\n",
     ":20:6:", "unknown name 'b'"},
    {"constraints:\n", "derived:\n  a: 2 *\nconstraints:\n", ":20:", ""},
    {"constraints:\n", "derived:\n  a: [2]\nconstraints:\n", ":20:6:", ""},
    {"  BLOCK: {", "  while: {", ":14:3:", "while"},
    {"  BLOCK: {", "  cols: {", ":14:3:", "dimension"},
    {"  BLOCK: {", "  MEMORY_static: {", ":14:3:", "macro"},
    {"  BLOCK: {", "  SHMTUNE_REFERENCE: {", ":14:3:",
     "\"SHMTUNE_REFERENCE\" begins with SHMTUNE_"},
    {"  rows: {", "  SHMTUNE_X: {", ":7:3:", "begins with SHMTUNE_"},
    {"  BLOCK: {values: [32, 64, 128], default: 64}",
     "  SHMTUNE: {values: [REFERENCE, x], default: x}", ":14:22:",
     "SHMTUNE_REFERENCE"},
    {"  BLOCK: {values: [32, 64, 128], default: 64}",
     "  A: {values: [x, b_c], default: x}\n"
     "  A_b: {values: [c, y], default: c}", ":15:18:",
     "the word c of A_b and the word b_c of A (line 14, column 19) both "
     "define the macro A_b_c"},
    {"  BLOCK: {values: [32, 64, 128], default: 64}",
     "  A_b: {values: [c, y], default: c}\n"
     "  A: {values: [x, b_c], default: x}", ":15:19:",
     "the word b_c of A and the word c of A_b (line 14, column 18) both "
     "define the macro A_b_c"},
    {"[32, 64, 128]", "[32, 64, 32]", ":14:28:", "already"},
    {"[32, 64, 128]", "[32, 64, wide]", ":14:28:", "word"},
    {"[32, 64, 128]", "[]", ":14:19:", ""},
    {"[32, 64, 128]", "7", ":14:19:", ""},
    {"[32, 64, 128]", "[32, 64, 12345678901234567890123]", ":14:28:", ""},
    {"[32, 64, 128]", "[32, 64, [1]]", ":14:28:", ""},
    {"default: 64}", "default: 65}", ":14:43:",
     "the default of BLOCK, the number 65, is not among its values, the "
     "numbers 32, 64, 128"},
    {"default: 64}", "default: \"64\"}", ":14:43:",
     "the default of BLOCK, the word \"64\", is not among its values, the "
     "numbers"},
    {"{values: [32, 64, 128], default: 64}", "[32, 64, 128]", ":14:10:",
     "{values: [1, 2], default: 1}: found a sequence, expected a mapping"},
    {"[32, 64, 128]", "range(32)", ":14:19:",
     "[1, 2, 4] or {from: 1, to: 8}: found \"range(32)\""},
    {", default: 64}", "}", ":14:10:", "default"},
    {"from: 1, to: 64, times: 2", "from: 1, to: 64, times: 1", ":15:43:", ""},
    {"from: 1, to: 64, times: 2", "from: 0, to: 64, times: 2", ":15:25:", ""},
    {"from: 1, to: 64, times: 2", "from: 9, to: 4", ":15:32:", ""},
    {"from: 1, to: 64, times: 2", "from: 1, to: 70000", ":15:18:", "65535"},
    {"from: 1, to: 64, times: 2", "from: 1, to: min(rows, 64)", ":15:42:",
     "the unknown key \"64)\"; within { } put an expression with a comma in "
     "quotes"},
    {"from: 1, to: 64, times: 2", "from: 1, to: BLOCK", ":15:32:",
     "in `BLOCK`; a bound of values may name dimensions alone: write a number, "
     "and the constraint TILE <= (BLOCK)"},
    {"from: 1, to: 64, times: 2", "from: 1, to: 64, step: 2, times: 2",
     ":15:52:", "both"},
    {"from: 1, to: 3}", "from: 1}", ":16:20:", "to"},
    {"from: 1, to: 3}", "from: 1, to: TILE}", ":16:34:",
     "unknown name 'TILE'; known are rows, cols, filter"},
    {"from: 1, to: 3}", "from: 1, to: cols}", ":16:20:",
     "a range of more than 65535 values, 1 to 2147483647; give the dimensions "
     "that its bounds name a max"},
    {"from: 1, to: 3}", "from: 1, to: rows // 0}", ":16:", "division by zero"},
    {"from: 1, to: 3}", "from: 1, to: 2 - rows}", ":16:34:",
     "\"2 - rows\" is 0 at most; 1 to 1099511627776 is expected"},
    {"from: 1, to: 64, times: 2", "from: rows - 2, to: 64, times: 2",
     ":15:25:", "\"rows - 2\" is 0 at least; 1 to 1099511627776 is expected: "
     "give its dimensions a min"},
    {"[static, dynamic], default: dynamic", "[true, false], default: true",
     ":17:20:", "so that MEMORY=true would be 0 there; list it last"},
    {"[static, dynamic], default: dynamic", "[True], default: True", ":17:20:",
     "MEMORY=True would be 0 there; write 1"},
    {"[static, dynamic]", "[static, dy-namic]", ":17:29:", "macro"},
    {"scope: launch", "scope: lunch", ":18:53:", "lunch"},
    {"- BLOCK * TILE <= 4096", "- BLOCK * TYLE <= 4096", ":20:11:", "TYLE"},
    {"- BLOCK * TILE <= 4096", "- BLOCK * TILE <=", ":20:", ""},
    {"- BLOCK * TILE <= 4096", "- BLOCK * TILE <= 256", ":20:3:",
     "the default configuration does not satisfy \"BLOCK * TILE <= 256\" at "
     "rows=64 cols=32 filter=3: 512 <= 256 is false where BLOCK = 64, TILE = "
     "8; change a default"},
    {"- TILE <= rows", "- rows == cols or filter < TILE <= cols < 64",
     ":22:3:", "at rows=1024 cols=512 filter=3: 1024 == 512 or 512 < 64 is "
     "false where rows = 1024, cols = 512, filter = 3, TILE = 8; change"},
    {"- BLOCK * TILE <= 4096", "- BLOCK // (TILE - 8) <= 256", ":20:",
     "<= 256` (with the default configuration at rows="},
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
    {"[y, x, part, a, cols]", "[y" SIXTEEN(SIXTEEN(", x")) "]", ":30:14:",
     "257 arguments; at most 256 are allowed"},
    {"  when: STAGES > 1", "  when: STAGE > 1", ":32:9:", "STAGE"},
    {"  when: STAGES > 1\n  grid: 6\n  block: [32]\n  cluster: STAGES",
     "  grid: 6\n  block: [32]\n  cluster: STAGES + 3", ":34:12:",
     "cluster \"STAGES + 3\" is 4, the grid's x is 6, which is no multiple "
     "of it; round the grid up"},
    {"  grid: [\"ceildiv(rows * cols, 256)\"]",
     "  grid: [ceildiv(rows * cols, 256)]", ":39:29:",
     "with a comma in quotes"},
    {"  grid: [\"ceildiv(rows * cols, 256)\"]", "  grid: [BLOCK]", ":38:3:",
     "BLOCK"},
    {"scale_reference", "\"scale_reference<{TILE}>\"", ":38:3:", "TILE"},
    {"[y, x, a, cols]", "[y, x, a, part]", ":38:3:", "part"},
    {"[y, x, a, cols]", "[x, a, cols]", ":38:1:", "output y"},
    {"type: f32, role: input", "type: f31, role: input", ":43:13:", "f32"},
    {"type: f32, role: input", "type: f32, role: in", ":43:24:", "input"},
    {"type: f32, role: input", "type: f32", ":43:6:", "role"},
    {"type: f32, role: input", "type: f32, rol: input", ":43:18:", "rol"},
    {"rows * cols, range", "rows * BLOCK, range", ":43:38:", "BLOCK"},
    {"rows * cols, range", "rows - 64, range", ":43:38:", "is 0"},
    {"range: [-2, 2]", "range: [2, -2]", ":43:58:", "empty"},
    {"range: [-2, 2]", "range: [2]", ":43:58:", ""},
    {"range: [-2, 2]", "range: [-2, 1e39]", ":43:58:",
     "the range [-2, 9.9999999999999994e+38) is outside of what f32 may"},
    {"x: {type: f32, role: input, count: rows * cols, range: [-2, 2]",
     "x: {type: u8, role: input, count: rows, range: [0, 257]", ":43:50:",
     "the range [0, 257) is outside of what u8 may have, [0, 256)"},
    {"x: {type: f32, role: input, count: rows * cols, range: [-2, 2]",
     "x: {type: i64, role: input, count: rows, range: [0, 1e19]", ":43:51:",
     "outside of what i64"},
    {"x: {type: f32, role: input, count: rows * cols, range: [-2, 2]",
     "x: {type: i32, role: input, count: rows, range: [0.5, 7]", ":43:51:",
     "whole numbers"},
    {"x: {type: f32, role: input, count: rows * cols, range: [-2, 2]",
     "x: {type: i32, role: input, count: rows, range: [0, 1]", ":43:51:",
     "write [0, 2] for 0 and 1"},
    {"range: [-2, 2]", "fill: zero, range: [2, 3]", ":43:70:", "zero"},
    {"range: [-2, 2]", "fill: noise", ":43:57:", "uniform"},
    {"range: [-2, 2]", "tolerance: {}", ":43:51:", "tolerance"},
    {"role: output", "role: input, fill: zero", ":45:7:", "tolerance"},
    {"absolute: 0.5", "absolute: -0.5", ":45:29:", "-0.5"},
    {"absolute: 0.5", "absolute: .inf", ":45:29:", ""},
    {"absolute: 0.5", "maximum: -1", ":45:28:", "-1"},
    {"absolute: 0.5", "ulp: -1", ":45:24:", "-1"},
    {"absolute: 0.5", "ulp: 1.5", ":45:24:", "1.5"},
    {"absolute: 0.5", "mismatches: -3", ":45:31:", "-3"},
    {"absolute: 0.5", "mismatch_share: 1", ":45:35:", "less than 1"},
    {"absolute: 0.5", "mismatches: 3, mismatch_share: 0.5", ":45:50:",
     "one of the two"},
    {"absolute: 0.5", "absolut: 0.5", ":45:19:", "absolut"},
    {"y: {type: f16, role: output, count: rows * cols,\n"
     "      tolerance: {absolute: 0.5",
     "y: {type: i16, role: output, count: rows * cols,\n"
     "      tolerance: {ulp: 2", ":45:24:", "ulp of i16"},
#define OUTPUT "      tolerance: {absolute: 0.5, relative: 1.0e-3}"
    {OUTPUT, "      expect: y.npy", ":45:15:", "expect, {file: PATH}"},
    {OUTPUT, "      expect: {}", ":45:15:", "file"},
    {OUTPUT, "      expect: {file: y.npy, shap: [1]}", ":45:29:", "shap"},
    {OUTPUT, "      expect: {file: y.npy, shape: [rows, cols, 2]}", ":45:15:",
     "the shape has not as many elements as the count"},
    {OUTPUT, "      expect: {file: y.npy, shape: [BLOCK]}", ":45:37:",
     "BLOCK"},
    {"range: [-2, 2]", "expect: {file: x.npy}", ":43:51:", "expect"},
    {OUTPUT, "      region: 5", ":45:15:", "region, {columns: COLS"},
    {OUTPUT, "      region: {rows: rows}", ":45:15:", "columns"},
    {OUTPUT, "      region: {columns: cols, depth: 2}", ":45:31:", "depth"},
    {OUTPUT, "      region: {columns: BLOCK}", ":45:25:",
     "uses the parameter BLOCK"},
    {OUTPUT, "      region: {columns: cols - cols}", ":45:25:",
     "a region with the number 0; 1 to the count, "},
    {OUTPUT, "      region: {columns: cols, offset: -1}", ":45:39:",
     "the number -1; 0 to"},
    {OUTPUT, "      region: {columns: cols, rows: rows, pitch: cols - 1}",
     ":45:15:", "rows would overlap"},
    {OUTPUT, "      region: {columns: cols, rows: rows, pitch: cols + 1}",
     ":45:15:", "the region goes on behind the"},
    {OUTPUT, "      region: {columns: cols, rows: rows, offset: 1}",
     ":45:15:", "the region goes on behind the"},
    {OUTPUT, "      region: {columns: 2, planes: rows * cols - 1, "
     "plane_pitch: 1}", ":45:15:", "planes would overlap"},
    {"range: [-2, 2]", "region: {columns: cols}", ":43:51:", "region"},
#undef OUTPUT
    {"role: output", "role: workspace", ":45:7:", "tolerance"},
    {"{type: f32, value: 1.5}", "{type: f32, role: value, count: BLOCK}",
     ":47:38:", "passed by value uses the parameter BLOCK"},
    {"{type: f32, value: 1.5}", "{type: f32, role: value, count: cols}",
     ":47:38:", "dimension cols, which the source does not know; give it "
     "\"define: true\""},
    {"{type: f32, value: 1.5}", "{type: f32, role: value, count: filter - 9}",
     ":47:38:", "is -"},
    {"{type: f32, value: 1.5}", "{type: f32, role: value, count: filter ** 9}",
     ":47:38:", "bytes, 78732 of them a, passed by value; a launch takes "
     "32764 bytes at most: make a an input"},
    {"{type: f32, value: 1.5}", "{type: f64, role: value, count: 4093}",
     ":47:38:", "take 32772 bytes, 32744 of them a"},
    {"{type: f32, value: 1.5}",
     "{type: f32, role: value, count: 9, zeroed: true}", ":47:41:", "zeroed"},
    {"{type: f32, value: 1.5}",
     "{type: f32, role: value, count: 9, tolerance: {}}", ":47:41:",
     "tolerance"},
    {"  cluster: STAGES", "  cluster: [STAGES, 1, 1, 1]", ":35:12:",
     "cluster has 4 extents; 1 to 3 are expected"},
    {"  when: STAGES > 1\n  grid: 6\n  block: [32]\n  cluster: STAGES",
     "  grid: [6, 9]\n  block: [32]\n  cluster: [2, STAGES + 1]", ":34:16:",
     "cluster \"STAGES + 1\" is 2, the grid's y is 9, which is no multiple"},
    {"  when: STAGES > 1\n  grid: 6\n  block: [32]\n  cluster: STAGES",
     "  grid: 6\n  block: [32]\n  cluster: [1, 0]", ":34:16:",
     "the cluster's y \"0\" is 0; 1 to 1024 is expected"},
    {"  carveout: CARVEOUT", "  cooperative: 7", ":29:16:", ""},
    {"  carveout: CARVEOUT", "  programmatic: true", ":29:17:",
     "programmatic launches, which begin before the one before has ended, are "
     "not supported"},
    {"type: f32, role: input", "type: f32, role: texture", ":43:24:",
     "textures as a role are not supported; add an argument beside the input, "
     "{texture: NAME, extents: [...]}"},
    {"type: f32, role: input", "type: f32, role: surface", ":43:24:",
     "surfaces are not supported; write the array as an output"},
    {"type: f32, role: input", "type: c64, role: input", ":43:13:",
     "complex numbers are not supported; declare twice as many f32"},
    {"{type: f32, value: 1.5}", "{pointer: z}", ":47:16:",
     "\"z\" is not among the arguments of this spec; a pointer is to one of "
     "them, or null"},
    {"{type: f32, value: 1.5}", "{pointer: cols}", ":47:16:",
     "a pointer to cols, which is no buffer but a scalar"},
    {"{type: f32, value: 1.5}", "{pointer: a}", ":47:16:",
     "a pointer to a, which is no buffer but a pointer"},
    {"{type: f32, value: 1.5}", "{pointer: \"null\", offset: 1}", ":47:16:",
     "an offset to a null pointer"},
    {"{type: f32, value: 1.5}", "{pointer: x, offset: -1}", ":47:27:",
     "the offset of a is -1; 0 to "},
    {"{type: f32, value: 1.5}", "{pointer: x, offset: rows * cols + 1}",
     ":47:27:", "the elements of x, is expected"},
    {"{type: f32, value: 1.5}", "{pointer: x, type: f32}", ":47:19:", "type"},
    {"{type: f32, value: 1.5}", "{pointer: [x]}", ":47:16:", ""},
    {"{type: f32, value: 1.5}", "{struct: {}}", ":47:15:",
     "0 members; 1 to 256 are expected"},
    {"{type: f32, value: 1.5}", "{struct: 7}", ":47:15:", "a struct"},
    {"{type: f32, value: 1.5}", "{struct: {n: 7}}", ":47:19:", "a member"},
    {"{type: f32, value: 1.5}", "{struct: {a-b: {pointer: x}}}", ":47:16:",
     "the member"},
    {"{type: f32, value: 1.5}", "{struct: {n: {type: i8, value: 300}}}",
     ":47:37:", "the value of n is 300, outside its type i8"},
    {"{type: f32, value: 1.5}", "{struct: {n: {type: i8, value: [1, rows]}}}",
     ":47:41:", "the value of n is 1024, outside its type i8"},
    {"{type: f32, value: 1.5}", "{struct: {n: {type: i8, value: []}}}",
     ":47:37:", "0 values"},
    {"{type: f32, value: 1.5}", "{struct: {n: {type: i8}}}", ":47:19:",
     "value"},
    {"{type: f32, value: 1.5}", "{struct: {n: {type: i8, role: value}}}",
     ":47:30:", "role"},
    {"{type: f32, value: 1.5}", "{struct: {p: {pointer: y}}, count: 2}",
     ":47:34:", "count"},
    {"{type: f32, value: 1.5}", "{struct: {p: {pointer: part}}}", ":38:3:",
     "the reference takes part, which depends on a parameter"},
    {"{type: f32, value: 1.5}", "{struct: {p: {type: i32, value: BLOCK}}}",
     ":38:3:", "the reference takes a, which depends on a parameter"},
    {"type: f32, role: input", "type: f32, role: symbol", ":43:39:",
     "the count of a variable of the source uses the dimension rows, which "
     "the source does not know; give it \"define: true\""},
    {"type: f32, role: input, count: rows * cols",
     "type: f32, role: symbol, count: filter * STAGES", ":43:39:",
     "the count of a variable of the source uses the parameter STAGES"},
    {"type: f32, role: input, count: rows * cols, range: [-2, 2]",
     "type: f32, role: symbol, count: filter, zeroed: true", ":43:47:",
     "zeroed"},
    {"type: f32, role: input, count: rows * cols",
     "type: f32, role: input, symbol: b, count: rows", ":43:31:", "symbol"},
    {"type: f32, role: input, count: rows * cols",
     "type: f32, role: symbol, symbol: \"\", count: filter", ":43:40:", ""},
    {"type: f32, role: input, count: rows * cols",
     "type: f32, role: symbol, count: filter", ":30:18:",
     "x is a variable of the source (role: symbol), which a kernel reads "
     "without being passed it"},
    {"  a: {type: f32, value: 1.5}",
     "  a: {type: f32, value: 1.5}\n"
     "  b: {type: f32, role: symbol, count: 2}\n"
     "  c: {type: f32, role: symbol, symbol: b, count: 2}", ":49:3:",
     "b and c are both the variable b of the source"},
    {"  a: {type: f32, value: 1.5}",
     "  a: {type: f32, value: 1.5}\n"
     "  b: {type: f32, role: symbol, count: 2}\n"
     "  c: {type: f32, role: output, symbol: b, count: 2}", ":49:3:",
     "b and c are both the variable b of the source"},
    {"  a: {type: f32, value: 1.5}",
     "  a: {type: f32, value: 1.5}\n  BLOCK: {type: i32, value: 2}",
     ":48:3:", "the name BLOCK is an argument and a parameter; call the "
     "argument otherwise, its name need not be the kernel's"},
    {"type: f16, role: output", "type: f32, role: output, symbol: hits",
     ":44:53:", "the count of a variable of the source uses the dimension rows, "
     "which the source does not know; give it \"define: true\""},
    {"type: f16, role: output, count: rows * cols",
     "type: f16, role: output, symbol: hits, count: 4", ":30:15:",
     "y is a variable of the source (symbol: hits), which a kernel writes "
     "without being passed it; leave it out here"},
    {"  a: {type: f32, value: 1.5}",
     "  a: {type: f32, value: 1.5}\n"
     "  b: {type: f32, role: workspace, symbol: b, count: STAGES}", ":48:53:",
     "the count of a variable of the source uses the parameter STAGES"},
    {"  a: {type: f32, value: 1.5}",
     "  a: {type: f32, value: 1.5}\n"
     "  b: {type: f32, role: workspace, symbol: b, count: 2}\n"
     "  c: {pointer: b}", ":49:16:",
     "a pointer to b, which is no buffer but the variable b of the source"},
    {"  a: {type: f32, value: 1.5}",
     "  a: {type: f32, value: 1.5}\n"
     "  b: {type: f32, role: inout, symbol: b, count: 2, at: 0x7f0000000000}",
     ":48:39:", "b is a variable of the source, which lies where the driver "
     "loads it; leave \"at\" out"},
    {"  a: {type: f32, value: 1.5}", "  a: {type: i32, value: rows ** 4}",
     ":47:25:", "type i32"},
    {"  a: {type: f32, value: 1.5}", "  a: {type: f32, value: 1e39}",
     ":47:25:", "the value of a is 1e+39, outside its type f32"},
    {"  a: {type: f32, value: 1.5}", "  a: {type: f16, value: rows * 1024}",
     ":47:25:", "the value of a is 65536, outside its type f16"},
    {"  a: {type: f32, value: 1.5}", "  a: {type: f8e4m3, value: 449}",
     ":47:28:", "the value of a is 449, outside its type f8e4m3"},
    {"  a: {type: f32, value: 1.5}", "  a: {type: bool, value: 2}",
     ":47:26:", "the value of a is 2, outside its type bool"},
    {"  a: {type: f32, value: 1.5}", "  a: {type: f8, value: 1}", ":47:13:",
     "\"f8\"; one of f16, bf16, f8e4m3, f8e5m2, f32, f64, i8, u8, i16, u16, "
     "i32, u32, i64, u64, bool, bytes is expected"},
    {"  a: {type: f32, value: 1.5}", "  a: {type: i32, value: 1.5}",
     ":47:25:", ""},
    {"  a: {type: f32", "  rows: {role: input, type: f32", ":47:", ""},
    {"  x: {type: f32", "  BLOCK: {type: f32", ":43:3:", "parameter"},
    {"  x: {type: f32", "  rows: {type: f32", ":43:3:", "dimension"},
#define REFERENCE "reference:\n- entry: scale_reference\n"                    \
                  "  grid: [\"ceildiv(rows * cols, 256)\"]\n"                \
                  "  block: [256]\n  arguments: [y, x, a, cols]\n"
    {REFERENCE, "answer: 5\n", ":37:9:", "answer, {command: [PROGRAM]}"},
    {REFERENCE, "answer: {timeout_s: 5}\n", ":37:9:", "command"},
    {REFERENCE, "answer: {command: []}\n", ":37:19:", "0 words"},
    {REFERENCE, "answer: {command: a}\n", ":37:19:", "command, [PROGRAM"},
    {REFERENCE, "answer: {command: ['']}\n", ":37:20:", "an empty word"},
    {REFERENCE, "answer: {command: [a], time: 5}\n", ":37:24:", "time"},
    {REFERENCE, "answer: {command: [a], timeout_s: 0}\n", ":37:35:",
     "a timeout of 0 s"},
    {REFERENCE, "answer: {command: [a]}\n" REFERENCE, ":37:9:",
     "answer beside reference"},
#undef REFERENCE
#define COMPARE(arguments) "compare:\n- entry: far\n  grid: 1\n  block: 32\n"  \
                           "  arguments: " arguments "\narguments:\n"
    {"arguments:\n  x", COMPARE("[mismatches, y, cols]") "  x", ":43:1:",
     "no launch takes what is expected; give it \"expected.NAME\""},
    {"arguments:\n  x", COMPARE("[expected.y, y, cols]") "  x", ":50:18:",
     "a tolerance of y, which the launches of compare judge"},
    {"arguments:\n  x", COMPARE("[mismatches, expected.x]") "  x", ":46:27:",
     "\"expected.x\" is not among the arguments"},
    {"arguments:\n  x", COMPARE("[mismatches, expected.y, part]") "  x",
     ":43:3:", "the comparison takes part, which depends on a parameter"},
    {"arguments:\n  x", "compare: {}\narguments:\n  x", ":42:10:",
     "launches"},
    {"arguments: [y, x, a, cols]\n", "arguments: [y, x, a, expected.y]\n",
     ":41:24:", "\"expected.y\" is not among"},
#undef COMPARE
    {"6 * rows * cols", "6 * rows * BLOCK", ":50:10:", "BLOCK"},
    {"  bytes:", "  byte:", ":50:3:", "bytes"},
};

static void refuses_each_fault_at_its_place(void)
{
    struct shmt_text text = {0};

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct shmt_kernel *kernel = NULL;
        struct shmt_error err = {0};
        char place[FOLDER_ROOM + 32];
        enum shmtune_status status;

        spec_edit(bad[i].from, bad[i].to, &text);
        spec_write("spec.yaml", text.data, text.length);
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
        /* Nobody needs to listen. */
        CHECK_INT(shmt_kernel_read(spec_path, &kernel, NULL),
                  SHMTUNE_INVALID_FILE);
    }
    shmt_text_free(&text);
}
/* Whatever is cut off, a refusal names the file; what is left of the good
 * spec may be good too. */
static void survives_truncation_at_every_byte(void)
{
    const size_t whole = strlen(spec_good);
    size_t refused = 0;

    for (size_t size = 0; size < whole; size++) {
        struct shmt_kernel *kernel = NULL;
        struct shmt_error err = {0};

        spec_write("spec.yaml", spec_good, size);
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
    CHECK(refused > whole * 9 / 10);
}

static void survives_flipped_bits(void)
{
    const size_t size = strlen(spec_good);
    char copy[4096];
    uint64_t random = 88172645463325252u;

    CHECK(size <= sizeof copy);
    for (int round = 0; round < 4000; round++) {
        struct shmt_kernel *kernel = NULL;
        struct shmt_error err = {0};

        memcpy(copy, spec_good, size);
        for (int flips = 0; flips <= round % 3; flips++) {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            copy[random / 8 % size] ^= (char)(1 << random % 8);
        }
        spec_write("spec.yaml", copy, size);
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
            spec_write("spec.yaml", text.data, text.length);
            CHECK_INT(shmt_kernel_read(spec_path, &kernel, &err),
                      SHMTUNE_INVALID_FILE);
            CHECK(strncmp(err.text, spec_path, strlen(spec_path)) == 0);
        }
    shmt_text_free(&text);
}

int main(void)
{
    spec_begin();
    CHECK_RUN(refuses_each_fault_at_its_place);
    CHECK_RUN(survives_truncation_at_every_byte);
    CHECK_RUN(survives_flipped_bits);
    CHECK_RUN(survives_depth_and_length);
    spec_end();
    return CHECK_END();
}
