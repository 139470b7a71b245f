/* SPDX-License-Identifier: MIT */
/*
 * explain_show: prints the comparison of `shmtune explain` as a table or as
 * JSON.  It computes readings (ratios, percentages) from the counters, and
 * writes a remark for each reading that stands out.
 */
#include "config.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "command/explain.h"
#include "command/json.h"

/* -- what follows from the counters ---------------------------------------- */

/* What follows from the counters.  X(name, key, title, unit, decimals) */
#define READING_LIST(X)                                         \
    X(LOAD_SECTORS, "sectors_per_load_request",                              \
      "sectors a load request", "", 2)                                       \
    X(LOAD_USED, "load_bytes_used_percent", "  of their bytes used", "%", 1) \
    X(STORE_SECTORS, "sectors_per_store_request",                            \
      "sectors a store request", "", 2)                                      \
    X(STORE_USED, "store_bytes_used_percent", "  of their bytes used", "%",  \
      1)                                                                     \
    X(L2_HIT, "l2_hit_percent", "L2 hits", "%", 1)                           \
    X(DRAM_READ, "dram_read_megabytes", "DRAM read", "MB", 2)                \
    X(DRAM_WRITE, "dram_written_megabytes", "DRAM written", "MB", 2)         \
    X(DRAM_BUSY, "dram_percent_of_peak", "DRAM throughput of peak", "%", 1)  \
    X(SHARED_LOADS, "shared_load_instructions",                              \
      "shared-memory loads (warps)", "", 0)                                  \
    X(SHARED_LOAD_WAYS, "shared_load_ways", "  bank conflict of loads",      \
      "way", 2)                                                              \
    X(SHARED_STORES, "shared_store_instructions",                            \
      "shared-memory stores (warps)", "", 0)                                 \
    X(SHARED_STORE_WAYS, "shared_store_ways", "  bank conflict of stores",   \
      "way", 2)                                                              \
    X(SHARED_USED, "shared_efficiency_percent",                              \
      "shared bytes of what a step can", "%", 1)                             \
    X(LOCAL_SECTORS, "local_sectors", "local-memory sectors", "", 0)         \
    X(WARPS_ACTIVE, "warps_active_percent", "warps active (achieved)", "%",  \
      1)                                                                     \
    X(THREADS_ACTIVE, "threads_active_per_instruction",                      \
      "threads active an instruction", "of 32", 1)                           \
    X(ISSUE_BUSY, "issue_percent_of_peak", "instructions issued of peak",    \
      "%", 1)                                                                \
    X(FMA_BUSY, "fma_percent_of_peak", "multiply-add pipe of peak", "%", 1)

enum reading {
#define READING_ENUM(name, key, title, unit, decimals)          \
    READING_##name,
    READING_LIST(READING_ENUM)
#undef READING_ENUM
    READING_COUNT
};
static double ratio(double part, double whole)
{
    return whole > 0 ? part / whole : (double)NAN;
}

/* A warp's access to shared memory is served in steps (wavefronts); conflicts
 * are the steps beyond those needed without bank conflicts. */
static double ways(double waves, double conflicts)
{
    return waves > conflicts ? waves / (waves - conflicts) : (double)NAN;
}

/* Of what no request asks for nothing is used. */
static double used_of(double used, double requests)
{
    return requests > 0 || isnan(requests) ? used : (double)NAN;
}

/* NAN where a counter is not known, or divides by nothing. */
static void compute_readings(const struct shmt_counters *counters,
                             double out[READING_COUNT])
{
    const double *const c = counters->value;

    out[READING_LOAD_SECTORS] =
        ratio(c[SHMT_METRIC_LOAD_SECTORS], c[SHMT_METRIC_LOAD_REQUESTS]);
    out[READING_LOAD_USED] =
        used_of(c[SHMT_METRIC_LOAD_USED], c[SHMT_METRIC_LOAD_REQUESTS]);
    out[READING_STORE_SECTORS] =
        ratio(c[SHMT_METRIC_STORE_SECTORS], c[SHMT_METRIC_STORE_REQUESTS]);
    out[READING_STORE_USED] =
        used_of(c[SHMT_METRIC_STORE_USED], c[SHMT_METRIC_STORE_REQUESTS]);
    out[READING_L2_HIT] = c[SHMT_METRIC_L2_HIT];
    out[READING_DRAM_READ] = c[SHMT_METRIC_DRAM_READ] / 1e6;
    out[READING_DRAM_WRITE] = c[SHMT_METRIC_DRAM_WRITE] / 1e6;
    out[READING_DRAM_BUSY] = c[SHMT_METRIC_DRAM_BUSY];
    out[READING_SHARED_LOADS] = c[SHMT_METRIC_SHARED_LOADS];
    out[READING_SHARED_LOAD_WAYS] =
        ways(c[SHMT_METRIC_SHARED_LOAD_WAVES],
             c[SHMT_METRIC_SHARED_LOAD_CONFLICTS]);
    out[READING_SHARED_STORES] = c[SHMT_METRIC_SHARED_STORES];
    out[READING_SHARED_STORE_WAYS] =
        ways(c[SHMT_METRIC_SHARED_STORE_WAVES],
             c[SHMT_METRIC_SHARED_STORE_CONFLICTS]);
    out[READING_SHARED_USED] = c[SHMT_METRIC_SHARED_USED];
    out[READING_LOCAL_SECTORS] = c[SHMT_METRIC_LOCAL_LOAD_SECTORS] +
                                      c[SHMT_METRIC_LOCAL_STORE_SECTORS];
    out[READING_WARPS_ACTIVE] = c[SHMT_METRIC_WARPS_ACTIVE];
    out[READING_THREADS_ACTIVE] = c[SHMT_METRIC_THREADS_ACTIVE];
    out[READING_ISSUE_BUSY] = c[SHMT_METRIC_ISSUE_BUSY];
    out[READING_FMA_BUSY] = c[SHMT_METRIC_FMA_BUSY];
}

/* -- sentences ------------------------------------------------------------ */

static void remark_global(const char *what, const double numbers[2],
                          struct shmt_text *text)
{
    const double sectors = numbers[0], used = numbers[1];

    if (isfinite(sectors) && isfinite(used) && used < 70)
        shmt_text_addf(text, "a %s request takes %.1f sectors and uses "
                       "%.0f %% of their bytes: neighbouring threads are not "
                       "at neighbouring addresses\n", what, sectors, used);
    else if (!isfinite(used) && sectors > 16.5)
        shmt_text_addf(text, "a %s request takes %.1f sectors (4, 8 or "
                       "16 would do for words of 4, 8 or 16 bytes): "
                       "neighbouring threads are not at neighbouring "
                       "addresses\n", what, sectors);
}

static void remark_banks(const char *what, double way, struct shmt_text *text)
{
    if (way >= 1.1)
        shmt_text_addf(text, "shared-memory %s take %.1f times the steps "
                       "they need: threads of a warp ask one bank for "
                       "different words; pad the rows, or swizzle\n", what,
                       way);
}

static void remark_spills(const struct shmt_result *result, double sectors,
                          struct shmt_text *text)
{
    const int spilled = result->resources.spill_store_bytes;

    if (!(sectors > 0))
        return;
    shmt_text_addf(text, "%.0f sectors of local memory are moved: ", sectors);
    if (spilled == 0)
        shmt_text_add(text, "arrays with a computed index, for no register "
                      "spilled\n");
    else if (spilled < 0)
        shmt_text_add(text, "registers that spilled, or arrays with a computed "
                      "index\n");
    else
        shmt_text_addf(text, "registers that spilled (%d bytes a thread), or "
                       "arrays with a computed index\n", spilled);
}

/* What its launches have. */
struct shape {
    double most_blocks;         /* of one of them; 0: it is not known */
    double each_us;             /* NAN: it is not known */
};

static struct shape shape_of(const struct shmt_explain_view *all,
                             const struct shmt_explain_column *column)
{
    struct shmt_kernel_evaluated evaluated;
    struct shape out = {.each_us = (double)NAN};
    size_t count = 0;

    shmt_kernel_evaluate(all->kernel, all->problem, column->config,
                         &evaluated);
    if (shmt_kernel_evaluate_launches(&evaluated, NULL) != SHMTUNE_OK)
        return out;
    for (size_t k = 0; k < evaluated.launch_count; k++) {
        const struct shmt_geometry *const launch = &evaluated.geometry[k];

        if (launch->host)
            return (struct shape){.each_us = (double)NAN};
        if (!launch->used)
            continue;
        count++;
        out.most_blocks =
            fmax(out.most_blocks, (double)launch->grid[0] *
                                      launch->grid[1] * launch->grid[2]);
    }
    if (count > 0)
        out.each_us = column->counters.value[SHMT_METRIC_TIME_NS] / 1e3 /
                      (double)count;
    return out;
}

/* Below so much it is hardly the work that a launch takes its time for. */
static const double short_us = 5;

/* Of one that keeps neither DRAM nor its instructions busy. */
static void remark_waiting(const struct shape *shape, int multiprocessors,
                           struct shmt_text *text)
{
    if (shape->most_blocks > 0 && shape->most_blocks < multiprocessors)
        shmt_text_addf(text, "a launch has %.0f block%s at most, so of %d "
                       "multiprocessors %.0f are idle: more and smaller "
                       "blocks of work would use them\n", shape->most_blocks,
                       shmt_text_plural((size_t)shape->most_blocks),
                       multiprocessors,
                       multiprocessors - shape->most_blocks);
    else if (shape->each_us < short_us)
        shmt_text_addf(text, "a launch takes %.1f us, of which much is its "
                       "start and its end: more work a launch would pay\n",
                       shape->each_us);
    else
        shmt_text_add(text, "it waits, for memory's latency, barriers or one "
                      "pipe\n");
}

static void remark_limit(const struct shmt_explain_view *all,
                         const struct shmt_explain_column *column,
                         const double r[READING_COUNT], struct shmt_text *text)
{
    const struct shape shape = shape_of(all, column);
    const double dram = r[READING_DRAM_BUSY];
    const double fma = r[READING_FMA_BUSY];
    const double issue = r[READING_ISSUE_BUSY];

    if (dram >= 75)
        shmt_text_addf(text, "DRAM is %.0f %% busy: only moving fewer "
                       "bytes would make it much faster\n", dram);
    else if (fma >= 75)
        shmt_text_addf(text, "the multiply-add pipe is %.0f %% busy: it "
                       "computes about as fast as it can\n", fma);
    else if (issue >= 80)
        shmt_text_addf(text, "%.0f %% of the instruction slots are used: "
                       "fewer instructions for the same work (vectors, "
                       "unrolling) would help\n", issue);
    else if (isfinite(dram) && isfinite(issue) && dram < 60 && issue < 60) {
        shmt_text_addf(text, "neither DRAM (%.0f %%) nor instruction "
                       "issue (%.0f %%) is near its peak: ", dram, issue);
        remark_waiting(&shape, all->target->device.multiprocessors, text);
    }
}

/* What the readings of one column say, a line each. */
static void add_remark(const struct shmt_explain_view *all,
                       const struct shmt_explain_column *column,
                       const double readings[READING_COUNT],
                       struct shmt_text *text)
{
    const double threads = readings[READING_THREADS_ACTIVE];

    remark_global("load", &readings[READING_LOAD_SECTORS], text);
    remark_global("store", &readings[READING_STORE_SECTORS], text);
    remark_banks("loads", readings[READING_SHARED_LOAD_WAYS], text);
    remark_banks("stores", readings[READING_SHARED_STORE_WAYS], text);
    remark_spills(&column->result, readings[READING_LOCAL_SECTORS], text);
    if (threads < 28)
        shmt_text_addf(text, "%.1f of a warp's 32 threads are active in "
                       "an instruction: branches part them, or warps are not "
                       "full\n", threads);
    remark_limit(all, column, readings, text);
}

/* Takes the first line off a text, without its end; NULL: there is none. */
static const char *next_line(char **text)
{
    char *const line = *text, *const end = strchr(line, '\n');

    if (end == NULL)
        return NULL;
    *end = '\0';
    *text = end + 1;
    return line;
}

const char shmt_explain_legend[] =
    "A sector is 32 bytes. One request of a warp takes 4 at best for "
    "words of\n4 bytes (8 for 8, 16 for 16), 32 at worst. An n-way bank "
    "conflict makes\na warp's access take n steps instead of one; 1 is "
    "none. Local memory\nholds arrays with a computed index, and what did "
    "not fit the registers.\n";

static const struct shmt_explain_reading readings[] = {
#define ROW(name, key, title, unit, decimals) {key, title, unit, decimals},
    READING_LIST(ROW)
#undef ROW
};

const struct shmt_explain_reading *shmt_explain_readings(size_t *count)
{
    *count = READING_COUNT;
    return readings;
}

/* -- rows ----------------------------------------------------------------- */

struct sheet {
    const struct shmt_explain_view *all;
    struct shmt_table table;
};

/* The ratio means something between two columns only, of which both have such
 * a number. */
static void add_ratio(struct sheet *sheet, double first, double last)
{
    if (sheet->all->count != 2)
        return;
    if (first > 0 && last >= 0 && isfinite(last))
        shmt_table_paint(&sheet->table, SHMT_PAINT_DIM, "%.2f", last / first);
    else
        shmt_table_add(&sheet->table, "%s", "");
}

static void add_number(struct sheet *sheet, double number, int decimals)
{
    struct shmt_text text = {0};

    if (!isfinite(number) || number < 0) {
        shmt_table_paint(&sheet->table, SHMT_PAINT_DIM, "-");
        return;
    }
    if (decimals == 0)
        shmt_text_add_rounded(&text, number);
    else
        shmt_text_addf(&text, "%.*f", decimals, number);
    shmt_table_add_text(&sheet->table, &text);
}

static void begin_row(struct sheet *sheet, const char *title, const char *unit)
{
    shmt_table_add(&sheet->table, "%s", title);
    shmt_table_paint(&sheet->table, SHMT_PAINT_DIM, "%s", unit);
}

static const struct {
    const char *title, *unit;
    int decimals;
} known[] = {
    {"time", "us", 2},
    {"  bandwidth of its work", "GB/s", 0},
    {"  arithmetic of its work", "GFLOP/s", 0},
    {"registers a thread", "", 0},
    {"  spilled", "B a thread", 0},
    {"  stack", "B a thread", 0},
    {"shared memory, static", "B a block", 0},
    {"shared memory, dynamic", "B a block", 0},
    {"resident blocks", "a multiprocessor", 0},
    {"occupancy", "%", 0},
};
enum { BANDWIDTH = 1, ARITHMETIC = 2, KNOWN = sizeof known / sizeof *known };

/* In the order of `known`. */
static void list_known(const struct shmt_explain_view *all, size_t column,
                       double out[KNOWN])
{
    const struct shmt_result *const result = &all->columns[column].result;
    const struct shmt_kernel_work work =
        shmt_kernel_work_of(all->kernel, all->problem);
    const double numbers[KNOWN] = {
        result->time_us, shmt_kernel_work_rate(work.bytes, result->time_us),
        shmt_kernel_work_rate(work.flops, result->time_us),
        result->resources.registers,
        result->resources.spill_store_bytes, result->resources.stack_bytes,
        (double)result->resources.shared_static_bytes,
        (double)result->shared_dynamic_bytes, result->resident_blocks,
        result->occupancy_percent
    };

    memcpy(out, numbers, sizeof numbers);
}

static void add_known(struct sheet *sheet)
{
    const struct shmt_explain_view *const all = sheet->all;
    double first[KNOWN], numbers[KNOWN];

    list_known(all, 0, first);
    for (int i = 0; i < KNOWN; i++) {
        /* What the spec does not state is no row. */
        if ((i == BANDWIDTH && all->kernel->bytes == NULL) ||
            (i == ARITHMETIC && all->kernel->flops == NULL))
            continue;
        begin_row(sheet, known[i].title, known[i].unit);
        for (size_t k = 0; k < all->count; k++) {
            list_known(all, k, numbers);
            add_number(sheet, numbers[i], known[i].decimals);
        }
        add_ratio(sheet, first[i], numbers[i]);
    }
    begin_row(sheet, "  limited by", "");
    for (size_t k = 0; k < all->count; k++)
        shmt_table_add(
            &sheet->table, "%s",
            all->columns[k].result.resident_blocks >= 0
                ? shmt_limiter_word(all->columns[k].result.limiter) : "-");
    add_ratio(sheet, -1, -1);
}

static void add_counted(struct sheet *sheet)
{
    const struct shmt_explain_view *const all = sheet->all;
    double first[READING_COUNT],
    numbers[READING_COUNT];

    for (int i = 0; i < READING_COUNT; i++) {
        begin_row(sheet, readings[i].title, readings[i].unit);
        for (size_t k = 0; k < all->count; k++) {
            compute_readings(&all->columns[k].counters, numbers);
            if (k == 0)
                memcpy(first, numbers, sizeof first);
            add_number(sheet, numbers[i], readings[i].decimals);
        }
        add_ratio(sheet, first[i], numbers[i]);
    }
}

/* -- what stands round the table ------------------------------------------ */

static void add_head(const struct shmt_explain_view *all,
                     struct shmt_text *text)
{
    shmt_kernel_name_problem(all->kernel, all->problem, text);
    shmt_text_add(text, ", on ");
    shmt_text_add_visible(text, all->target->name);
    shmt_text_add(text, "; times are ");
    shmt_text_add_visible(text, all->target->protocol);
    shmt_text_add(text, "\n");
    for (size_t k = 0; k < all->count; k++) {
        const struct shmt_explain_column *const column = &all->columns[k];

        shmt_text_addf(text, "  %s: ", column->label);
        shmt_kernel_describe_config(all->kernel, column->config, text);
        if (column->result.verdict != SHMT_VERDICT_OK)
            shmt_text_addf(text, " (%s%s%s)",
                           shmt_verdict_text(column->result.verdict),
                           column->result.reason[0] == '\0' ? "" : ": ",
                           column->result.reason);
        shmt_text_add(text, "\n");
    }
    shmt_text_add(text, "\n");
}

/* "tuned: ...", a line each. */
static void add_labelled(const struct shmt_explain_view *all,
                         const struct shmt_explain_column *column,
                         struct shmt_text *text)
{
    double numbers[READING_COUNT];
    struct shmt_text remarks = {0};
    const char *line;
    char *rest;

    compute_readings(&column->counters, numbers);
    add_remark(all, column, numbers, &remarks);
    text->failed |= remarks.failed;
    rest = remarks.data;
    while (rest != NULL && (line = next_line(&rest)) != NULL)
        shmt_text_addf(text, "%s: %s\n", column->label, line);
    shmt_text_free(&remarks);
}

static void add_remarks(const struct shmt_explain_view *all,
                        struct shmt_text *text)
{
    const size_t before = text->length;

    shmt_text_add(text, "\n");
    for (size_t k = 0; k < all->count; k++)
        add_labelled(all, &all->columns[k], text);
    if (text->length > before + 1)
        shmt_text_add(text, "\n");
    shmt_text_add(text, shmt_explain_legend);
}

enum shmtune_status shmt_explain_show(const struct shmt_explain_view *all,
                                      const struct shmt_command_call *call,
                                      struct shmt_error *err)
{
    struct shmt_text text = {0}, titles = {0};
    struct sheet sheet = {.all = all};

    shmt_text_add(&titles, "|");
    for (size_t k = 0; k < all->count; k++)
        shmt_text_addf(&titles, "|>%s", all->columns[k].label);
    if (all->count == 2)
        shmt_text_add(&titles, "|>ratio");
    text.failed = titles.failed;
    sheet.table.titles = shmt_text_string(&titles);
    add_head(all, &text);
    add_known(&sheet);
    if (all->counted)
        add_counted(&sheet);
    shmt_table_end(&sheet.table, call, &text);
    shmt_text_free(&titles);
    if (all->counted)
        add_remarks(all, &text);
    return shmt_command_print_lines(&text, call, err);
}

/* -- JSON ----------------------------------------------------------------- */

/* *failed is set when memory is missing. */
static json_t *json_remarks(const struct shmt_explain_view *all,
                            const struct shmt_explain_column *column,
                            const double numbers[READING_COUNT], bool *failed)
{
    json_t *const remarks = json_array();
    struct shmt_text text = {0};
    const char *line;
    char *rest;

    add_remark(all, column, numbers, &text);
    *failed |= text.failed;
    rest = text.data;
    while (rest != NULL && (line = next_line(&rest)) != NULL)
        json_array_append_new(remarks, shmt_json_text(line));
    shmt_text_free(&text);
    return remarks;
}

static json_t *json_column(const struct shmt_explain_view *all,
                           const struct shmt_explain_column *column,
                           bool *failed)
{
    const struct shmt_kernel_work work =
        shmt_kernel_work_of(all->kernel, all->problem);
    json_t *const one = shmt_json_object(
        "label", shmt_json_text(column->label),
        "config", shmt_json_config(all->kernel, column->config),
        "result", shmt_json_result(&column->result),
        "gb_per_s", shmt_json_known(shmt_kernel_work_rate(
            work.bytes, column->result.time_us)),
        "gflop_per_s", shmt_json_known(shmt_kernel_work_rate(
            work.flops, column->result.time_us)), NULL);
    json_t *counters, *derived;
    double numbers[READING_COUNT];

    if (!all->counted)
        return one;
    counters = json_object();
    derived = json_object();
    compute_readings(&column->counters, numbers);
    for (int m = 0; m < SHMT_METRIC_COUNT; m++)
        json_object_set_new(counters, shmt_metric_name((enum shmt_metric)m),
                            shmt_json_real(column->counters.value[m]));
    for (int i = 0; i < READING_COUNT; i++)
        json_object_set_new(derived, readings[i].key,
                            shmt_json_real(numbers[i]));
    json_object_set_new(one, "counters", counters);
    json_object_set_new(one, "derived", derived);
    json_object_set_new(one, "remarks", json_remarks(all, column, numbers,
                                                     failed));
    return one;
}

enum shmtune_status shmt_explain_json(const struct shmt_explain_view *all,
                                      struct shmt_error *err)
{
    json_t *const columns = json_array();
    bool failed = false;

    for (size_t k = 0; k < all->count; k++)
        json_array_append_new(columns, json_column(all, &all->columns[k],
                                                   &failed));
    if (failed) {
        json_decref(columns);
        return shmt_error_memory(err);
    }
    return shmt_json_print("explain", shmt_json_object(
        "kernel", shmt_json_text(all->kernel->name),
        "digest", shmt_json_text(all->kernel->digest),
        "size", shmt_json_problem(all->kernel, all->problem),
        "device", shmt_json_device(&all->target->device),
        "recorded", json_boolean(all->target->recorded),
        "protocol", shmt_json_text(all->target->protocol),
        "tuning", shmt_json_text(all->tuning),
        "no_counters", shmt_json_text(all->missing),
        "configurations", columns, NULL), err);
}
