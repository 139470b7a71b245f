/* SPDX-License-Identifier: MIT */
/*
 * export_code: the parts of a header that are the same for every kernel but
 * for its names.  In them @ stands for the kernel's name, $P for the sizes as
 * parameters, $A for the sizes as arguments, each with a comma before it, $B
 * for the same without.  Called by export_header.c.
 */
#include "exchange/export_code.h"

/* Once in a program, however many kernels it has. */
static const char *const common[] = {
    "#ifndef SHMTUNED_1\n",
    "#define SHMTUNED_1\n",
    "\n",
    "#if (defined(__cplusplus) && __cplusplus >= 201402L) || \\\n",
    "    (defined(_MSVC_LANG) && _MSVC_LANG >= 201402L)\n",
    "#define SHMTUNED_CONSTEXPR constexpr\n",
    "#else\n",
    "#define SHMTUNED_CONSTEXPR\n",
    "#endif\n",
    "#if defined(__CUDACC__)\n",
    "#define SHMTUNED_FUNCTION __host__ __device__ inline SHMTUNED_CONSTEXPR\n",
    "#elif defined(__cplusplus)\n",
    "#define SHMTUNED_FUNCTION inline SHMTUNED_CONSTEXPR\n",
    "#else\n",
    "#define SHMTUNED_FUNCTION static inline\n",
    "#endif\n",
    "\n",
    "/* Ten times the compute capability that is compiled for;"
    " 0: for the host.\n",
    " * Define it before this file for its macros in code of the host. */\n",
    "#ifndef SHMTUNED_ARCH\n",
    "#ifdef __CUDA_ARCH__\n",
    "#define SHMTUNED_ARCH (__CUDA_ARCH__ / 10)\n",
    "#else\n",
    "#define SHMTUNED_ARCH 0\n",
    "#endif\n",
    "#endif\n",
    "\n",
    "/* How good a match is. */\n",
    "#define SHMTUNED_NONE 0         /* nothing runs at this size */\n",
    "#define SHMTUNED_DEFAULT 1      /* the spec's default */\n",
    "#define SHMTUNED_CAPABILITY 2   /* of another device of"
    " this capability */\n",
    "#define SHMTUNED_NEAREST 3      /* of this device, for the"
    " nearest size */\n",
    "#define SHMTUNED_EXACT 4        /* of this device, for this size */\n",
    "\n",
    "/* What is chosen: a configuration by its number, 0 is the"
    " default; and the\n",
    " * row it is from, -1: none. */\n",
    "struct shmtuned_choice {\n",
    "    int match, config, row;\n",
    "};\n",
    "\n",
    "/* One launch at one size; not `used`: it is left out"
    " there.  Not `ok`: it has\n",
    " * no geometry. */\n",
    "struct shmtuned_geometry {\n",
    "    int ok, used;\n",
    "    long long grid[3], block[3];\n",
    "    long long shared_static;    /* bytes; -1: not stated */\n",
    "    long long shared_dynamic;   /* bytes */\n",
    "    long long carveout;         /* percent; -1: the driver's choice */\n",
    "    long long cluster[3];       /* blocks; 0: none */\n",
    "};\n",
    "\n",
    "struct shmtuned_limits {\n",
    "    int multiprocessors;        /* 0: not known */\n",
    "    int threads;                /* of a block */\n",
    "    int shared;                 /* bytes of a block, with opt-in */\n",
    "    int memory_rate;            /* log2, parts of"
    " SHMTUNED_UNIT; 0: not known */\n",
    "};\n",
    "\n",
    "#define SHMTUNED_UNIT 1048576\n",
    "#define SHMTUNED_MOST 9223372036854775807LL\n",
    "\n",
    "/* Integers; *bad is set where the result has more than 64"
    " bits, or none. */\n",
    "SHMTUNED_FUNCTION long long shmtuned_fail(int *bad)\n",
    "{\n",
    "    *bad = 1;\n",
    "    return 0;\n",
    "}\n",
    "\n",
    "SHMTUNED_FUNCTION long long shmtuned_add(long long a, long"
    " long b, int *bad)\n",
    "{\n",
    "    return (b > 0 && a > SHMTUNED_MOST - b) ||\n",
    "                   (b < 0 && a < -SHMTUNED_MOST - 1 - b)\n",
    "               ? shmtuned_fail(bad) : a + b;\n",
    "}\n",
    "\n",
    "SHMTUNED_FUNCTION long long shmtuned_sub(long long a, long"
    " long b, int *bad)\n",
    "{\n",
    "    return (b < 0 && a > SHMTUNED_MOST + b) ||\n",
    "                   (b > 0 && a < -SHMTUNED_MOST - 1 + b)\n",
    "               ? shmtuned_fail(bad) : a - b;\n",
    "}\n",
    "\n",
    "SHMTUNED_FUNCTION long long shmtuned_neg(long long a, int *bad)\n",
    "{\n",
    "    return a < -SHMTUNED_MOST ? shmtuned_fail(bad) : -a;\n",
    "}\n",
    "\n",
    "SHMTUNED_FUNCTION long long shmtuned_abs(long long a, int *bad)\n",
    "{\n",
    "    return a < 0 ? shmtuned_neg(a, bad) : a;\n",
    "}\n",
    "\n",
    "SHMTUNED_FUNCTION long long shmtuned_mul(long long a, long"
    " long b, int *bad)\n",
    "{\n",
    "    if (a == 0 || b == 0)\n",
    "        return 0;\n",
    "    if (a < -SHMTUNED_MOST || b < -SHMTUNED_MOST)\n",
    "        return a == 1 ? b : b == 1 ? a : shmtuned_fail(bad);\n",
    "    if ((a < 0 ? -a : a) > SHMTUNED_MOST / (b < 0 ? -b : b))\n",
    "        return shmtuned_fail(bad);\n",
    "    return a * b;\n",
    "}\n",
    "\n",
    "SHMTUNED_FUNCTION long long shmtuned_floor(long long a,"
    " long long b, int *bad)\n",
    "{\n",
    "    if (b == 0 || (a < -SHMTUNED_MOST && b == -1))\n",
    "        return shmtuned_fail(bad);\n",
    "    return a / b - (a % b != 0 && (a < 0) != (b < 0));\n",
    "}\n",
    "\n",
    "SHMTUNED_FUNCTION long long shmtuned_ceildiv(long long a,"
    " long long b, int *bad)\n",
    "{\n",
    "    if (b == 0 || (a < -SHMTUNED_MOST && b == -1))\n",
    "        return shmtuned_fail(bad);\n",
    "    return a / b + (a % b != 0 && (a < 0) == (b < 0));\n",
    "}\n",
    "\n",
    "SHMTUNED_FUNCTION long long shmtuned_roundup(long long a,"
    " long long b, int *bad)\n",
    "{\n",
    "    return shmtuned_mul(shmtuned_ceildiv(a, b, bad), b, bad);\n",
    "}\n",
    "\n",
    "SHMTUNED_FUNCTION long long shmtuned_mod(long long a, long"
    " long b, int *bad)\n",
    "{\n",
    "    if (b == 0)\n",
    "        return shmtuned_fail(bad);\n",
    "    if (b == -1)\n",
    "        return 0;\n",
    "    return a % b != 0 && (a % b < 0) != (b < 0) ? a % b + b : a % b;\n",
    "}\n",
    "\n",
    "SHMTUNED_FUNCTION long long shmtuned_pow(long long a, long"
    " long b, int *bad)\n",
    "{\n",
    "    long long power = 1;\n",
    "\n",
    "    if (b < 0)\n",
    "        return shmtuned_fail(bad);\n",
    "    if (a == 0 || a == 1 || a == -1)\n",
    "        return b == 0 || a == 1 ? 1 : a == 0 ? 0 : b % 2 == 0 ? 1 : -1;\n",
    "    for (; b > 0 && *bad == 0; b--)\n",
    "        power = shmtuned_mul(power, a, bad);\n",
    "    return power;\n",
    "}\n",
    "\n",
    "SHMTUNED_FUNCTION long long shmtuned_min(long long a, long"
    " long b, int *bad)\n",
    "{\n",
    "    (void)bad;\n",
    "    return b < a ? b : a;\n",
    "}\n",
    "\n",
    "SHMTUNED_FUNCTION long long shmtuned_max(long long a, long"
    " long b, int *bad)\n",
    "{\n",
    "    (void)bad;\n",
    "    return b > a ? b : a;\n",
    "}\n",
    "\n",
    "SHMTUNED_FUNCTION double shmtuned_min_real(double a, double"
    " b, int *bad)\n",
    "{\n",
    "    (void)bad;\n",
    "    return b < a ? b : a;\n",
    "}\n",
    "\n",
    "SHMTUNED_FUNCTION double shmtuned_max_real(double a, double"
    " b, int *bad)\n",
    "{\n",
    "    (void)bad;\n",
    "    return b > a ? b : a;\n",
    "}\n",
    "\n",
    "SHMTUNED_FUNCTION double shmtuned_div(double a, double b, int *bad)\n",
    "{\n",
    "    return b < 0 || b > 0 ? a / b : (double)shmtuned_fail(bad);\n",
    "}\n",
    "\n",
    "SHMTUNED_FUNCTION long long shmtuned_whole(double a, int *bad)\n",
    "{\n",
    "    return a >= -9223372036854775808.0 && a < 9223372036854775808.0\n",
    "               ? (long long)a : shmtuned_fail(bad);\n",
    "}\n",
    "\n",
    "/* log2, parts of SHMTUNED_UNIT. */\n",
    "SHMTUNED_FUNCTION long long shmtuned_log2(unsigned long long number)\n",
    "{\n",
    "    long long out = 31LL * SHMTUNED_UNIT;\n",
    "    long long bit = SHMTUNED_UNIT / 2;\n",
    "\n",
    "    if (number < 1)\n",
    "        return 0;\n",
    "    for (; number >= 1ULL << 32; number >>= 1)\n",
    "        out += SHMTUNED_UNIT;\n",
    "    for (; number < 1ULL << 31; number <<= 1)\n",
    "        out -= SHMTUNED_UNIT;\n",
    "    for (; bit > 0; bit /= 2) {\n",
    "        number = number * number >> 31;\n",
    "        if (number >= 1ULL << 32) {\n",
    "            number >>= 1;\n",
    "            out += bit;\n",
    "        }\n",
    "    }\n",
    "    return out;\n",
    "}\n",
    "\n",
    "/* How far two sizes are from each other: in doublings, and"
    " 0.8 for each factor\n",
    " * 2, of up to two, that only one of them has. */\n",
    "SHMTUNED_FUNCTION long long shmtuned_apart(long long a, long long b)\n",
    "{\n",
    "    const long long gap = shmtuned_log2(a < 1 ? 1ULL :"
    " (unsigned long long)a) -\n",
    "                          shmtuned_log2(b < 1 ? 1ULL :"
    " (unsigned long long)b);\n",
    "    const int left = a % 2 != 0 ? 0 : a % 4 != 0 ? 1 : 2;\n",
    "    const int right = b % 2 != 0 ? 0 : b % 4 != 0 ? 1 : 2;\n",
    "\n",
    "    return (gap < 0 ? -gap : gap) +\n",
    "           838861LL * (left < right ? right - left : left - right);\n",
    "}\n",
    "\n",
    "/* A device's share of the distance. */\n",
    "SHMTUNED_FUNCTION long long shmtuned_other(struct shmtuned_limits a,\n",
    "                                           struct shmtuned_limits b)\n",
    "{\n",
    "    const long long gap =\n",
    "        a.multiprocessors < 1 || b.multiprocessors < 1\n",
    "            ? 0 : shmtuned_log2((unsigned long"
    " long)a.multiprocessors) -\n",
    "                      shmtuned_log2((unsigned long"
    " long)b.multiprocessors);\n",
    "    const long long rate = a.memory_rate == 0 || b.memory_rate == 0\n",
    "                               ? 0 : a.memory_rate - b.memory_rate;\n",
    "\n",
    "    return (gap < 0 ? -gap : gap) + (rate < 0 ? -rate : rate) / 4;\n",
    "}\n",
    "\n",
    "/* To what the library rounds distances, 1/4096. */\n",
    "SHMTUNED_FUNCTION long long shmtuned_round(long long distance)\n",
    "{\n",
    "    return (distance + 128) / 256;\n",
    "}\n",
    "\n",
    "/* log2 of the share of a device that `blocks` fill when so"
    " many run at a\n",
    " * time. */\n",
    "SHMTUNED_FUNCTION long long shmtuned_share(unsigned long long blocks,\n",
    "                                           unsigned long long places)\n",
    "{\n",
    "    return shmtuned_log2(blocks) - shmtuned_log2(places) -\n",
    "           shmtuned_log2(blocks / places + (blocks % places != 0));\n",
    "}\n",
    "\n",
    "SHMTUNED_FUNCTION int shmtuned_is_name(const char *a, const char *b)\n",
    "{\n",
    "    for (; *a != 0 && *a == *b; a++)\n",
    "        b++;\n",
    "    return *a == *b;\n",
    "}\n",
    "\n",
    "/* Whether a launch that is used has a geometry, within the limits. */\n",
    "SHMTUNED_FUNCTION int shmtuned_within(const struct"
    " shmtuned_geometry *g,\n",
    "                                      const struct"
    " shmtuned_limits *limits)\n",
    "{\n",
    "    if (g->block[0] > 1024 || g->block[1] > 1024 || g->block[2] > 64 ||\n",
    "        g->block[0] * g->block[1] * g->block[2] > limits->threads ||\n",
    "        g->grid[1] > 65535 || g->grid[2] > 65535 ||"
    " g->shared_static > 49152)\n",
    "        return 0;\n",
    "    return (g->shared_static > 0 ? g->shared_static : 0) +"
    " g->shared_dynamic <=\n",
    "           limits->shared;\n",
    "}\n",
    "\n",
    "SHMTUNED_FUNCTION int shmtuned_is_geometry(const struct"
    " shmtuned_geometry *g)\n",
    "{\n",
    "    int k = 0;\n",
    "\n",
    "    for (; k < 3; k++) {\n",
    "        if (g->grid[k] < 1 || g->grid[k] > 2147483647 ||"
    " g->block[k] < 1 ||\n",
    "            g->block[k] > 2147483647 || g->cluster[k] < 0 ||\n",
    "            g->cluster[k] > 1024)\n",
    "            return 0;\n",
    "        if (g->cluster[0] > 0 && (g->cluster[k] < 1 ||\n",
    "                                  g->grid[k] % g->cluster[k] != 0))\n",
    "            return 0;\n",
    "    }\n",
    "    return g->shared_static >= -1 && g->shared_static <= 2147483647 &&\n",
    "           g->shared_dynamic >= 0 && g->shared_dynamic <= 2147483647 &&\n",
    "           g->carveout >= -1 && g->carveout <= 100;\n",
    "}\n",
    "\n",
    "#ifdef __cplusplus\n",
    "/* A number as a type, for templates. */\n",
    "template <int number> struct shmtuned_number {\n",
    "    enum { value = number };\n",
    "};\n",
    "#endif\n",
    "\n",
    "#endif\n",
    NULL
};

/* Where everything of the spec can be written in C. */
static const char *const nearest[] = {
    "\n",
    "/* Whether a configuration may run on a device at a size:"
    " its constraints hold,\n",
    " * and its launches are within the device's limits. */\n",
    "SHMTUNED_FUNCTION int shmtuned_fits_@(int config, int arch,"
    " int device$P)\n",
    "{\n",
    "    const struct shmtuned_settings_@ settings ="
    " shmtuned_config_@(config);\n",
    "    const struct shmtuned_limits limits ="
    " shmtuned_limits_@(arch, device);\n",
    "    int k = 0;\n",
    "\n",
    "    if (!shmtuned_holds_@(&settings$A))\n",
    "        return 0;\n",
    "    for (; k < SHMTUNED_LAUNCHES_@; k++) {\n",
    "        const struct shmtuned_geometry g =\n",
    "            shmtuned_geometry_@(&settings, k$A);\n",
    "\n",
    "        if (!g.ok || (g.used && !shmtuned_within(&g, &limits)))\n",
    "            return 0;\n",
    "    }\n",
    "    return 1;\n",
    "}\n",
    "\n",
    "/* 8 for each halving of the share of the device that its"
    " blocks fill, where\n",
    " * they fill less than they did. */\n",
    "SHMTUNED_FUNCTION long long shmtuned_loss_@(const struct"
    " shmtuned_try_@ *one,\n",
    "                                            int multiprocessors$P)\n",
    "{\n",
    "    const struct shmtuned_settings_@ settings =\n",
    "        shmtuned_config_@(one->config);\n",
    "    long long blocks = 0, loss = 0;\n",
    "    int k = 0, reads = 0;\n",
    "\n",
    "    if (one->resident < 1 || multiprocessors < 1)\n",
    "        return 0;\n",
    "    for (; k < SHMTUNED_LAUNCHES_@ && !reads; k++) {\n",
    "        const struct shmtuned_geometry g =\n",
    "            shmtuned_geometry_@(&settings, k$A);\n",
    "\n",
    "        reads = g.used && shmtuned_reads_@(k);\n",
    "        if (g.used && (blocks == 0 || reads))\n",
    "            blocks = g.grid[0] * g.grid[1] * g.grid[2];\n",
    "    }\n",
    "    if (blocks < 1)\n",
    "        return 0;\n",
    "    loss = one->share -\n",
    "           shmtuned_share((unsigned long long)blocks,\n",
    "                          (unsigned long long)one->resident *\n",
    "                              (unsigned long long)multiprocessors);\n",
    "    return loss > 0 ? 8 * shmtuned_round(loss) : 0;\n",
    "}\n",
    "\n",
    "/* The nearest of this device's sizes, or of the others' of"
    " its capability. */\n",
    "SHMTUNED_FUNCTION struct shmtuned_choice\n",
    "shmtuned_nearest_@(int arch, int device, int others$P)\n",
    "{\n",
    "    struct shmtuned_choice best = {SHMTUNED_NONE, 0, -1};\n",
    "    const struct shmtuned_limits limits ="
    " shmtuned_limits_@(arch, device);\n",
    "    long long least = SHMTUNED_MOST, nearest = SHMTUNED_MOST;\n",
    "    int passed = -1, last = -1, k = 0;\n",
    "\n",
    "    for (; k < SHMTUNED_TRIES_@; k++) {\n",
    "        const struct shmtuned_try_@ one = shmtuned_try_@(k);\n",
    "        const struct shmtuned_row_@ row = shmtuned_row_@(one.row);\n",
    "        long long distance = 0, total = 0;\n",
    "\n",
    "        if (row.arch != arch || (row.device == device) =="
    " (others != 0) ||\n",
    "            one.row == passed)\n",
    "            continue;\n",
    "        distance = shmtuned_round(\n",
    "            shmtuned_distance_@(&row$A) +\n",
    "            (others ? shmtuned_other(limits,\n",
    "                                    "
    " shmtuned_limits_@(arch, row.device))\n",
    "                    : 0)) + (one.row == last ? 4096 : 0);\n",
    "        last = one.row;\n",
    "        if (distance > least || (distance == least &&"
    " distance >= nearest) ||\n",
    "            !shmtuned_fits_@(one.config, arch, device$A))\n",
    "            continue;\n",
    "        passed = one.row;\n",
    "        total = distance + shmtuned_loss_@(&one,"
    " limits.multiprocessors$A);\n",
    "        if (total > least || (total == least && distance >= nearest))\n",
    "            continue;\n",
    "        least = total;\n",
    "        nearest = distance;\n",
    "        best.match = others ? SHMTUNED_CAPABILITY : SHMTUNED_NEAREST;\n",
    "        best.config = one.config;\n",
    "        best.row = one.row;\n",
    "    }\n",
    "    return best;\n",
    "}\n",
    NULL
};

/* The choice; one of the two parts below ends it. */
static const char *const choose[] = {
    "\n",
    "/* The configuration for a device and a size.  `arch` is"
    " ten times the compute\n",
    " * capability (90), `device` a number that"
    " shmtuned_device_@ gave, 0: none of\n",
    " * these. */\n",
    "SHMTUNED_FUNCTION struct shmtuned_choice shmtuned_select_@(int arch,\n",
    "                                                          "
    " int device$P)\n",
    "{\n",
    "    struct shmtuned_choice choice = {SHMTUNED_NONE, 0, -1};\n",
    "    int k = 0;\n",
    "\n",
    "    if (!shmtuned_bounded_@($B))\n",
    "        return choice;\n",
    "    for (; device > 0 && k < SHMTUNED_COUNT_@; k++) {\n",
    "        const struct shmtuned_row_@ row = shmtuned_row_@(k);\n",
    "\n",
    "        if (row.arch == arch && row.device == device &&\n",
    "            shmtuned_equal_@(&row$A)) {\n",
    "            choice.match = SHMTUNED_EXACT;\n",
    "            choice.config = row.config;\n",
    "            choice.row = k;\n",
    "            return choice;\n",
    "        }\n",
    "    }\n",
    NULL
};

/* With the nearest size and the launches. */
static const char *const with_nearest[] = {
    "    choice = shmtuned_nearest_@(arch, device, 0$A);\n",
    "    if (choice.match == SHMTUNED_NONE)\n",
    "        choice = shmtuned_nearest_@(arch, device, 1$A);\n",
    "    if (choice.match == SHMTUNED_NONE && shmtuned_fits_@(0,"
    " arch, device$A))\n",
    "        choice.match = SHMTUNED_DEFAULT;\n",
    "    return choice;\n",
    "}\n",
    "\n",
    "/* One launch of a configuration at a size: its grid, block"
    " and bytes of shared\n",
    " * memory. */\n",
    "SHMTUNED_FUNCTION struct shmtuned_geometry\n",
    "shmtuned_launch_@(int config, int launch$P)\n",
    "{\n",
    "    const struct shmtuned_settings_@ settings ="
    " shmtuned_config_@(config);\n",
    "\n",
    "    return shmtuned_geometry_@(&settings, launch$A);\n",
    "}\n",
    NULL
};

/* Without. */
static const char *const exact_alone[] = {
    "    choice.match = SHMTUNED_DEFAULT;\n",
    "    return choice;\n",
    "}\n",
    NULL
};

static const char *const *const parts[] = {
    [SHMT_EXPORT_COMMON] = common,
    [SHMT_EXPORT_NEAREST] = nearest,
    [SHMT_EXPORT_CHOOSE] = choose,
    [SHMT_EXPORT_WITH_NEAREST] = with_nearest,
    [SHMT_EXPORT_EXACT_ALONE] = exact_alone,
};

void shmt_export_add_code(const struct shmt_export_names *names,
                          const char *code, struct shmt_text *text)
{
    for (; *code != '\0'; code++) {
        if (*code == '@') {
            shmt_text_add(text, names->kernel);
        } else if (*code == '$' && code[1] != '\0') {
            code++;
            shmt_text_add(text, *code == 'P'   ? names->parameters
                                : *code == 'A' ? names->arguments
                                               : names->sizes);
        } else {
            shmt_text_add_bytes(text, code, 1);
        }
    }
}

void shmt_export_add_part(const struct shmt_export_names *names,
                          enum shmt_export_part part, struct shmt_text *text)
{
    for (const char *const *line = parts[part]; *line != NULL; line++)
        shmt_export_add_code(names, *line, text);
}
