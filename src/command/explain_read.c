/* SPDX-License-Identifier: MIT */
/*
 * explain_read: computes readings (ratios, percentages) from counters, and
 * writes a remark for each reading that stands out.
 */
#include "config.h"

#include <math.h>

#include "command/explain.h"

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

void shmt_explain_read(const struct shmt_counters *counters,
                       double out[SHMT_EXPLAIN_READING_COUNT])
{
    const double *const c = counters->value;

    out[SHMT_READING_LOAD_SECTORS] =
        ratio(c[SHMT_METRIC_LOAD_SECTORS], c[SHMT_METRIC_LOAD_REQUESTS]);
    out[SHMT_READING_LOAD_USED] = c[SHMT_METRIC_LOAD_USED];
    out[SHMT_READING_STORE_SECTORS] =
        ratio(c[SHMT_METRIC_STORE_SECTORS], c[SHMT_METRIC_STORE_REQUESTS]);
    out[SHMT_READING_STORE_USED] = c[SHMT_METRIC_STORE_USED];
    out[SHMT_READING_L2_HIT] = c[SHMT_METRIC_L2_HIT];
    out[SHMT_READING_DRAM_READ] = c[SHMT_METRIC_DRAM_READ] / 1e6;
    out[SHMT_READING_DRAM_WRITE] = c[SHMT_METRIC_DRAM_WRITE] / 1e6;
    out[SHMT_READING_DRAM_BUSY] = c[SHMT_METRIC_DRAM_BUSY];
    out[SHMT_READING_SHARED_LOADS] = c[SHMT_METRIC_SHARED_LOADS];
    out[SHMT_READING_SHARED_LOAD_WAYS] =
        ways(c[SHMT_METRIC_SHARED_LOAD_WAVES],
             c[SHMT_METRIC_SHARED_LOAD_CONFLICTS]);
    out[SHMT_READING_SHARED_STORES] = c[SHMT_METRIC_SHARED_STORES];
    out[SHMT_READING_SHARED_STORE_WAYS] =
        ways(c[SHMT_METRIC_SHARED_STORE_WAVES],
             c[SHMT_METRIC_SHARED_STORE_CONFLICTS]);
    out[SHMT_READING_SHARED_USED] = c[SHMT_METRIC_SHARED_USED];
    out[SHMT_READING_LOCAL_SECTORS] = c[SHMT_METRIC_LOCAL_LOAD_SECTORS] +
                                      c[SHMT_METRIC_LOCAL_STORE_SECTORS];
    out[SHMT_READING_WARPS_ACTIVE] = c[SHMT_METRIC_WARPS_ACTIVE];
    out[SHMT_READING_THREADS_ACTIVE] = c[SHMT_METRIC_THREADS_ACTIVE];
    out[SHMT_READING_ISSUE_BUSY] = c[SHMT_METRIC_ISSUE_BUSY];
    out[SHMT_READING_FMA_BUSY] = c[SHMT_METRIC_FMA_BUSY];
}

/* -- sentences ------------------------------------------------------------ */

static void remark_global(const char *label, const char *what,
                          const double numbers[2], struct shmt_text *text)
{
    const double sectors = numbers[0], used = numbers[1];

    if (isfinite(used) && used < 70)
        shmt_text_addf(text, "%s: a %s request takes %.1f sectors and uses "
                       "%.0f %% of their bytes: neighbouring threads are not "
                       "at neighbouring addresses\n", label, what, sectors,
                       used);
    else if (!isfinite(used) && sectors > 16.5)
        shmt_text_addf(text, "%s: a %s request takes %.1f sectors (4, 8 or "
                       "16 would do for words of 4, 8 or 16 bytes): "
                       "neighbouring threads are not at neighbouring "
                       "addresses\n", label, what, sectors);
}

static void remark_banks(const char *label, const char *what, double way,
                         struct shmt_text *text)
{
    if (way >= 1.1)
        shmt_text_addf(text, "%s: shared-memory %s take %.1f times the steps "
                       "they need: threads of a warp ask one bank for "
                       "different words; pad the rows, or swizzle\n", label,
                       what, way);
}

static void remark_spills(const struct shmt_explain_column *column,
                          double sectors, struct shmt_text *text)
{
    if (sectors > 0)
        shmt_text_addf(text, "%s: %.0f sectors of local memory are moved: "
                       "registers that spilled (%d bytes a thread), or arrays "
                       "with a computed index\n", column->label, sectors,
                       column->result.resources.spill_store_bytes > 0
                           ? column->result.resources.spill_store_bytes : 0);
}

static void remark_limit(const char *label,
                         const double r[SHMT_EXPLAIN_READING_COUNT],
                         struct shmt_text *text)
{
    const double dram = r[SHMT_READING_DRAM_BUSY];
    const double fma = r[SHMT_READING_FMA_BUSY];
    const double issue = r[SHMT_READING_ISSUE_BUSY];

    if (dram >= 75)
        shmt_text_addf(text, "%s: DRAM is %.0f %% busy: only moving fewer "
                       "bytes would make it much faster\n", label, dram);
    else if (fma >= 75)
        shmt_text_addf(text, "%s: the multiply-add pipe is %.0f %% busy: it "
                       "computes about as fast as it can\n", label, fma);
    else if (issue >= 80)
        shmt_text_addf(text, "%s: %.0f %% of the instruction slots are used: "
                       "fewer instructions for the same work (vectors, "
                       "unrolling) would help\n", label, issue);
    else if (isfinite(dram) && isfinite(issue) && dram < 60 && issue < 60)
        shmt_text_addf(text, "%s: neither DRAM (%.0f %%) nor instruction "
                       "issue (%.0f %%) is near its peak: it waits, for "
                       "memory's latency, barriers or one pipe\n", label,
                       dram, issue);
}

void shmt_explain_remark(const struct shmt_explain_column *column,
                         const double readings[SHMT_EXPLAIN_READING_COUNT],
                         struct shmt_text *text)
{
    const double threads = readings[SHMT_READING_THREADS_ACTIVE];

    remark_global(column->label, "load", &readings[SHMT_READING_LOAD_SECTORS],
                  text);
    remark_global(column->label, "store",
                  &readings[SHMT_READING_STORE_SECTORS], text);
    remark_banks(column->label, "loads",
                 readings[SHMT_READING_SHARED_LOAD_WAYS], text);
    remark_banks(column->label, "stores",
                 readings[SHMT_READING_SHARED_STORE_WAYS], text);
    remark_spills(column, readings[SHMT_READING_LOCAL_SECTORS], text);
    if (threads < 28)
        shmt_text_addf(text, "%s: %.1f of a warp's 32 threads are active in "
                       "an instruction: branches part them, or warps are not "
                       "full\n", column->label, threads);
    remark_limit(column->label, readings, text);
}
