/* SPDX-License-Identifier: MIT */
/*
 * failures: what a run says of the candidates that failed: which tolerance
 * would pass those that are a little off, and the commonest reasons of each
 * verdict with an example.  Called by command/tune_show.c, and by run.c for the
 * default configuration.
 */
#include "tune/failures.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "device/device.h"
#include "record/record.h"

/* -- a little off --------------------------------------------------------- */

/* So many times a tolerance is a little; without one, this share of what was
 * expected, or this much of whole numbers.  So is a number of elements below
 * this share of all. */
static const double little_times = 100, little_share = 1e-3, little_whole = 1;
static const double few_share = 1e-3;

/* Failures of one argument. */
struct near {
    size_t count;
    double excess;             /* the most of them; < 0: not all are little */
    int64_t mismatches;        /* the most; < 0: not all are few */
};

static bool is_little(const struct shmt_argument *argument,
                      const struct shmt_result *result)
{
    const bool real = shmt_element_is_real(argument->element);
    const double most =
        !shmt_tolerance_is_exact(&argument->tolerance) ? little_times
        : real ? little_share : little_whole;

    return result->excess >= 0 && result->excess <= most;
}

static const struct shmt_argument *
argument_of(const struct shmt_kernel *kernel, const struct shmt_result *result)
{
    return result->argument >= 0 &&
                   (size_t)result->argument < kernel->argument_count
               ? &kernel->arguments[result->argument] : NULL;
}

/* "`tolerance: {relative: 1.4e-06}` at scale.yaml:25:18". */
static void add_tolerance(const struct shmt_argument *argument,
                          const struct shmt_tolerance *tolerance,
                          struct shmt_text *text)
{
    shmt_text_add(text, "`tolerance: ");
    shmt_tolerance_add(tolerance, text);
    shmt_text_addf(text, "` at %s:%d:%d", argument->tolerance.place.file,
                   argument->tolerance.place.line,
                   argument->tolerance.place.column);
}

void shmt_tune_advise(const struct shmt_kernel *kernel,
                      const struct shmt_result *result, struct shmt_text *text)
{
    const struct shmt_argument *argument = argument_of(kernel, result);
    struct shmt_tolerance raised;

    if (argument == NULL || !is_little(argument, result))
        return;
    raised = shmt_tolerance_raise(&argument->tolerance, argument->element,
                                  result->excess);
    shmt_text_add(text, "; ");
    add_tolerance(argument, &raised, text);
    shmt_text_add(text, " would pass it");
}

/* Elements of an argument at the problem of the run. */
static double elements_of(const struct shmt_kernel *kernel,
                          const struct shmt_tune_outcome *outcome, size_t k)
{
    struct shmt_kernel_evaluated evaluated;
    uint64_t count = 0;

    shmt_kernel_evaluate_part(kernel, SHMT_KERNEL_REFERENCE,
                              outcome->header.problem,
                                   &evaluated);
    return shmt_kernel_argument_count(&evaluated, k, &count, NULL) ==
                   SHMTUNE_OK ? (double)count : 0;
}

/* Adds a failure to those of its argument, if it is a near one. */
static void add_near(const struct shmt_kernel *kernel,
                     const struct shmt_tune_outcome *outcome,
                     const struct shmt_result *result, struct near *near)
{
    const struct shmt_argument *argument = argument_of(kernel, result);
    bool little, few;

    if (argument == NULL)
        return;
    near += result->argument;
    little = is_little(argument, result);
    few = (double)result->mismatches <=
          few_share * elements_of(kernel, outcome, (size_t)result->argument);
    if (!little && !few)
        return;
    if (near->count++ == 0)
        near->excess = near->mismatches = 0;
    near->excess = little && near->excess >= 0
                       ? fmax(near->excess, result->excess) : -1;
    if (!few || near->mismatches < 0)
        near->mismatches = -1;
    else if (result->mismatches > near->mismatches)
        near->mismatches = result->mismatches;
}

static void tell_near(const struct shmt_argument *argument,
                      const struct near *near, size_t ran,
                      struct shmt_text *text)
{
    struct shmt_tolerance raised = argument->tolerance;

    shmt_text_addf(text, "%zu of the %zu candidates that ran have %s a "
                   "little off: ", near->count, ran, argument->name);
    if (near->excess >= 0) {
        raised = shmt_tolerance_raise(&argument->tolerance, argument->element,
                                      near->excess);
    } else {
        raised.mismatches = (uint64_t)near->mismatches;
        raised.mismatch_share = 0;
    }
    add_tolerance(argument, &raised, text);
    shmt_text_add(text, " would pass them");
    if (near->excess >= 0 && near->mismatches >= 0)
        shmt_text_addf(text, ", and so would `mismatches: %lld` in it",
                       (long long)near->mismatches);
    shmt_text_add(text, "\n");
}

/* Whether most candidates that ran fail by little; then it is said. */
static bool tell_most_near(const struct shmt_kernel *kernel,
                           const struct shmt_tune_outcome *outcome,
                           struct shmt_text *text)
{
    struct near near[SHMT_KERNEL_ARGUMENTS] = {{0}};
    size_t ran = 0;
    bool told = false;

    for (size_t k = 0; k < shmt_ledger_count(outcome->ledger); k++) {
        const struct shmt_ledger_entry *entry =
            shmt_ledger_at(outcome->ledger, k);

        if (!entry->counted || shmt_verdict_stage(entry->result.verdict) <
                                   SHMT_STAGE_RUN)
            continue;
        ran++;
        add_near(kernel, outcome, &entry->result, near);
    }
    for (size_t k = 0; k < kernel->argument_count; k++)
        if (2 * near[k].count > ran &&
            (near[k].excess >= 0 || near[k].mismatches >= 0)) {
            tell_near(&kernel->arguments[k], &near[k], ran, text);
            told = true;
        }
    return told;
}

/* -- reasons -------------------------------------------------------------- */

/* More than FEW of a verdict, and its reasons are told, the SHOWN commonest. */
enum { FEW = 4, SHOWN = 2, SHAPES = 256 };

/* Reasons that differ in their numbers alone. */
struct shape {
    enum shmt_verdict verdict;
    uint64_t hash;
    uint64_t count;
    const struct shmt_ledger_entry *example;   /* the first */
};

static uint64_t shape_of(const struct shmt_result *result)
{
    char masked[SHMT_RESULT_REASON];
    size_t length = 0;

    for (const char *c = result->reason; *c != '\0'; c++) {
        const bool number = isdigit((unsigned char)*c) != 0;

        if (!number || length == 0 || masked[length - 1] != '0')
            masked[length++] = number ? '0' : *c;
    }
    return shmt_map_hash_bytes(masked, length);
}

/* Returns how many there are. */
static size_t collect_shapes(const struct shmt_tune_outcome *outcome,
                             struct shape shapes[SHAPES])
{
    size_t count = 0;

    for (size_t k = 0; k < shmt_ledger_count(outcome->ledger); k++) {
        const struct shmt_ledger_entry *entry =
            shmt_ledger_at(outcome->ledger, k);
        const struct shmt_result *result = &entry->result;
        size_t s = 0;
        uint64_t hash;

        if (!entry->counted || result->reason[0] == '\0' ||
            result->verdict == SHMT_VERDICT_NOT_RECORDED ||
            shmt_verdict_stage(result->verdict) == SHMT_STAGE_TIME)
            continue;
        hash = shape_of(result);
        while (s < count && (shapes[s].hash != hash ||
                             shapes[s].verdict != result->verdict))
            s++;
        if (s == SHAPES)
            continue;
        if (s == count)
            shapes[count++] = (struct shape){result->verdict, hash, 0, entry};
        shapes[s].count++;
    }
    return count;
}

/* By verdict, then the commonest first, then by the first example. */
static int compare_shapes(const void *a, const void *b)
{
    const struct shape *x = a, *y = b;

    if (x->verdict != y->verdict)
        return x->verdict < y->verdict ? -1 : 1;
    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    return (x->example->index > y->example->index) -
           (x->example->index < y->example->index);
}

static void tell_shapes(const struct shmt_kernel *kernel,
                        const struct shmt_tune_outcome *outcome,
                        struct shape *shapes, size_t count,
                        struct shmt_text *text)
{
    size_t shown = 0;

    qsort(shapes, count, sizeof *shapes, compare_shapes);
    for (size_t s = 0; s < count; s++) {
        const struct shape *shape = &shapes[s];
        const uint64_t all = outcome->verdicts[shape->verdict];
        shmt_config config[SHMT_SPACE_PARAMETERS];

        shown = s > 0 && shape[-1].verdict == shape->verdict ? shown + 1 : 0;
        if (all <= FEW || shown >= SHOWN)
            continue;
        shmt_text_addf(text, "%llu of %llu %s, for example ",
                       (unsigned long long)shape->count,
                       (unsigned long long)all,
                       shmt_verdict_word(shape->verdict));
        shmt_space_configuration(outcome->space, shape->example->index,
                                 config);
        shmt_kernel_describe_config(kernel, config, text);
        shmt_text_addf(text, ": %s\n", shape->example->result.reason);
    }
}

/* -- a run ---------------------------------------------------------------- */

/* Those that failed on the device, by a compiler or by a limit: not those that
 * a user's own option leaves out, nor those that no recording has. */
static uint64_t count_failures(const struct shmt_tune_outcome *outcome)
{
    uint64_t count = 0;

    for (int v = 0; v < SHMT_VERDICT_COUNT; v++)
        if (shmt_verdict_stage((enum shmt_verdict)v) != SHMT_STAGE_TIME &&
            v != SHMT_VERDICT_NOT_RECORDED && v != SHMT_VERDICT_SPILLS &&
            v != SHMT_VERDICT_LOW_OCCUPANCY && v != SHMT_VERDICT_UNMET)
            count += outcome->verdicts[v];
    return count;
}

bool shmt_tune_failures(const struct shmt_kernel *kernel,
                        const struct shmt_tune_outcome *outcome,
                        struct shmt_text *text)
{
    struct shape shapes[SHAPES];
    const uint64_t failed = count_failures(outcome);
    const bool most = 2 * failed > outcome->tried && failed > FEW;
    bool first = tell_most_near(kernel, outcome, text);

    if (most && !first)
        shmt_text_addf(text, "most candidates fail: %llu of %llu\n",
                       (unsigned long long)failed,
                       (unsigned long long)outcome->tried);
    tell_shapes(kernel, outcome, shapes, collect_shapes(outcome, shapes),
                text);
    return first || most;
}
