/* SPDX-License-Identifier: MIT */
/*
 * figure: see figure.h.  Expressions of the command line see the dimensions,
 * parameters and derived names of the kernel, then the numbers of the table
 * below, then the metrics that were defined before.  Called by tune/, report/
 * and commands.
 */
#include "figure/figure.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* -- what is known of a candidate ------------------------------------------ */

/* What numbers are taken from. */
struct facts {
    const struct shmt_result *result;
    struct shmt_kernel_work work;
};

static double take_time(const struct facts *facts)
{
    return facts->result->time_us;
}

static double take_bandwidth(const struct facts *facts)
{
    return shmt_kernel_work_rate(facts->work.bytes, facts->result->time_us);
}

static double take_arithmetic(const struct facts *facts)
{
    return shmt_kernel_work_rate(facts->work.flops, facts->result->time_us);
}

/* Static and dynamic bytes; of one that is not known, the other. */
static double take_shared(const struct facts *facts)
{
    const double fixed = facts->result->resources.shared_static_bytes;
    const double dynamic = (double)facts->result->shared_dynamic_bytes;

    return fixed < 0 && dynamic < 0 ? -1 : fmax(fixed, 0) + fmax(dynamic, 0);
}

/* X(name, expression): numbers as they stand in a result, below 0 when they are
 * not known. */
#define PLAIN(X)                                                             \
    X(registers, resources.registers)                                        \
    X(spill_store_bytes, resources.spill_store_bytes)                        \
    X(spill_load_bytes, resources.spill_load_bytes)                          \
    X(stack_bytes, resources.stack_bytes)                                    \
    X(shared_static_bytes, resources.shared_static_bytes)                    \
    X(shared_dynamic_bytes, shared_dynamic_bytes)                            \
    X(constant_bytes, resources.constant_bytes)                              \
    X(max_threads, resources.max_threads)                                    \
    X(resident_blocks, resident_blocks)                                      \
    X(occupancy_percent, occupancy_percent)                                  \
    X(mismatches, mismatches)                                                \
    X(excess, excess)                                                        \
    X(compile_ms, compile_ms)                                                \
    X(measure_ms, measure_ms)
#define TAKE(name, member)                                                   \
    static double take_##name(const struct facts *facts)                     \
    {                                                                        \
        return (double)facts->result->member;                                \
    }
PLAIN(TAKE)
#undef TAKE

/* The rows with a `full` name are short words for others. */
static const struct known {
    const char *name;
    double (*take)(const struct facts *facts);
    enum shmt_value_type type;
    enum shmt_figure_stage stage;
    bool most;               /* more is better */
    const char *full;
} known[] = {
    {"time_us", take_time, SHMT_VALUE_REAL, SHMT_FIGURE_MEASURED, false, NULL},
    {"gb_per_s", take_bandwidth, SHMT_VALUE_REAL, SHMT_FIGURE_MEASURED, true,
     NULL},
    {"gflop_per_s", take_arithmetic, SHMT_VALUE_REAL, SHMT_FIGURE_MEASURED,
     true, NULL},
    {"registers", take_registers, SHMT_VALUE_INT, SHMT_FIGURE_COMPILED, false,
     NULL},
    {"spill_store_bytes", take_spill_store_bytes, SHMT_VALUE_INT,
     SHMT_FIGURE_COMPILED, false, NULL},
    {"spill_load_bytes", take_spill_load_bytes, SHMT_VALUE_INT,
     SHMT_FIGURE_COMPILED, false, NULL},
    {"stack_bytes", take_stack_bytes, SHMT_VALUE_INT, SHMT_FIGURE_COMPILED,
     false, NULL},
    {"shared_bytes", take_shared, SHMT_VALUE_INT, SHMT_FIGURE_COMPILED, false,
     NULL},
    {"shared_static_bytes", take_shared_static_bytes, SHMT_VALUE_INT,
     SHMT_FIGURE_COMPILED, false, NULL},
    {"shared_dynamic_bytes", take_shared_dynamic_bytes, SHMT_VALUE_INT,
     SHMT_FIGURE_COMPILED, false, NULL},
    {"constant_bytes", take_constant_bytes, SHMT_VALUE_INT,
     SHMT_FIGURE_COMPILED, false, NULL},
    {"max_threads", take_max_threads, SHMT_VALUE_INT, SHMT_FIGURE_COMPILED,
     true, NULL},
    {"resident_blocks", take_resident_blocks, SHMT_VALUE_INT,
     SHMT_FIGURE_COMPILED, true, NULL},
    {"occupancy_percent", take_occupancy_percent, SHMT_VALUE_INT,
     SHMT_FIGURE_COMPILED, true, NULL},
    {"mismatches", take_mismatches, SHMT_VALUE_INT, SHMT_FIGURE_MEASURED,
     false, NULL},
    {"excess", take_excess, SHMT_VALUE_REAL, SHMT_FIGURE_MEASURED, false,
     NULL},
    {"compile_ms", take_compile_ms, SHMT_VALUE_REAL, SHMT_FIGURE_COMPILED,
     false, NULL},
    {"measure_ms", take_measure_ms, SHMT_VALUE_REAL, SHMT_FIGURE_MEASURED,
     false, NULL},
    {"time", take_time, SHMT_VALUE_REAL, SHMT_FIGURE_MEASURED, false,
     "time_us"},
    {"spills", take_spill_store_bytes, SHMT_VALUE_INT, SHMT_FIGURE_COMPILED,
     false, "spill_store_bytes"},
    {"occupancy", take_occupancy_percent, SHMT_VALUE_INT,
     SHMT_FIGURE_COMPILED, true, "occupancy_percent"},
    {"worst_error", take_excess, SHMT_VALUE_REAL, SHMT_FIGURE_MEASURED, false,
     "excess"},
};
enum { KNOWN = sizeof known / sizeof known[0] };

/* What a tuning can name. */
enum { MOST_NAME = 64 };

/* -- what is asked for ----------------------------------------------------- */

/* A number that is shown or an axis: one of the table or an expression. */
struct source {
    const struct known *known;     /* NULL: */
    const struct shmt_expr *expr;
};

struct requirement {
    const struct shmt_expr *expr;
    enum shmt_figure_stage stage;
};

struct shmt_figures {
    struct shmt_arena *arena;
    const struct shmt_kernel *kernel;
    size_t first;                  /* symbol of known[0] */
    struct shmt_expr_scope scope;
    struct shmt_expr_derived *derived;
    size_t metric_count, axis_count, require_count;
    const char *metrics[SHMT_FIGURE_METRICS];
    struct shmt_tuned_axis axes[SHMT_FIGURE_AXES];
    struct source of_metric[SHMT_FIGURE_METRICS], of_axis[SHMT_FIGURE_AXES];
    struct requirement *requires;
    const char *required;
};

static const struct known *find_known(const char *name)
{
    for (size_t k = 0; k < KNOWN; k++)
        if (strcmp(known[k].name, name) == 0)
            return &known[k];
    return NULL;
}

/* Whether the kernel has the name already. */
static bool is_taken(const struct shmt_figures *figures, const char *name)
{
    for (size_t k = 0; k < figures->scope.count; k++)
        if (strcmp(figures->scope.symbols[k].name, name) == 0)
            return true;
    for (size_t k = 0; k < figures->scope.derived_count; k++)
        if (strcmp(figures->scope.derived[k].name, name) == 0)
            return true;
    return false;
}

/* "time_us, gb_per_s, ..., or a metric NAME = EXPRESSION" */
static void add_names(struct shmt_text *text)
{
    for (size_t k = 0; k < KNOWN; k++)
        if (known[k].full == NULL)
            shmt_text_addf(text, "%s%s", k == 0 ? "" : ", ", known[k].name);
}

static enum shmtune_status refuse_name(const char *option, const char *name,
                                       const char *advice,
                                       struct shmt_error *err)
{
    struct shmt_text names = {0};

    add_names(&names);
    shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                   "%s: \"%.64s\" is no number of a candidate; they are %s%s",
                   option, name, shmt_text_string(&names), advice);
    shmt_text_free(&names);
    return SHMTUNE_INVALID_ARGUMENT;
}

static enum shmtune_status compile(struct shmt_figures *figures,
                                   const char *option, const char *text,
                                   const struct shmt_expr **out,
                                   struct shmt_error *err)
{
    struct shmt_expr *expr;
    const enum shmtune_status status = shmt_expr_compile(
        figures->arena, (struct shmt_place){.file = option}, text,
        &figures->scope, &expr, err);

    if (status == SHMTUNE_OK)
        *out = expr;
    else if (status == SHMTUNE_INVALID_FILE && err != NULL)
        err->status = SHMTUNE_INVALID_ARGUMENT;
    return status == SHMTUNE_INVALID_FILE ? SHMTUNE_INVALID_ARGUMENT : status;
}

/* Where "NAME = EXPRESSION" has its sign; NULL: it is no definition. */
static const char *find_sign(const char *text)
{
    const char *at = text + strspn(text, " \t");

    at += shmt_text_name_length(at);
    at += strspn(at, " \t");
    return at > text && at[0] == '=' && at[1] != '=' ? at : NULL;
}

static const char *copy_name(struct shmt_arena *arena, const char *text)
{
    text += strspn(text, " \t");
    return shmt_arena_copy(arena, text, shmt_text_name_length(text));
}

/* Whether there is nothing but a name and blanks. */
static bool is_name(const char *text)
{
    text += strspn(text, " \t");
    if (shmt_text_name_length(text) == 0 || isdigit((unsigned char)text[0]))
        return false;
    text += shmt_text_name_length(text);
    return text[strspn(text, " \t")] == '\0';
}

static enum shmtune_status define(struct shmt_figures *figures,
                                  const char *text, const char *sign,
                                  struct shmt_error *err)
{
    const size_t k = figures->metric_count, d = figures->scope.derived_count;
    const char *const name = copy_name(figures->arena, text);
    enum shmtune_status status;

    if (name == NULL)
        return shmt_error_memory(err);
    if (name[0] == '\0' || isdigit((unsigned char)name[0]) ||
        strlen(name) > MOST_NAME)
        return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                              "--metric %.80s: expected NAME = EXPRESSION, "
                              "the name a letter and at most %d characters",
                              text, MOST_NAME);
    if (is_taken(figures, name))
        return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                              "--metric %.80s: %s is a name already, of a "
                              "number or of %s; choose another", text, name,
                              figures->kernel->name);
    if (d == SHMT_EXPR_DERIVED)
        return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                              "--metric %.80s: %s and the metrics have more "
                              "than %d derived names", text,
                              figures->kernel->name, SHMT_EXPR_DERIVED);
    status = compile(figures, "--metric", sign + 1,
                     &figures->of_metric[k].expr, err);
    if (status != SHMTUNE_OK)
        return status;
    figures->derived[d] =
        (struct shmt_expr_derived){name, figures->of_metric[k].expr};
    figures->scope.derived_count++;
    figures->metrics[figures->metric_count++] = name;
    return SHMTUNE_OK;
}

static enum shmtune_status add_metric(struct shmt_figures *figures,
                                      const char *text, struct shmt_error *err)
{
    const size_t k = figures->metric_count;
    const char *const sign = find_sign(text);
    const struct known *one;
    const char *name;

    if (k == SHMT_FIGURE_METRICS)
        return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                              "--metric %.80s: there are more than %d", text,
                              SHMT_FIGURE_METRICS);
    if (sign != NULL)
        return define(figures, text, sign, err);
    if (!is_name(text))
        return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                              "--metric %.80s: an expression needs a name: "
                              "--metric 'NAME = %.80s'", text, text);
    name = copy_name(figures->arena, text);
    if (name == NULL)
        return shmt_error_memory(err);
    one = find_known(name);
    if (one == NULL)
        return refuse_name("--metric", name,
                           "; 'NAME = EXPRESSION' makes one of them", err);
    figures->of_metric[k].known = one;
    figures->metrics[figures->metric_count++] =
        one->full != NULL ? one->full : one->name;
    return SHMTUNE_OK;
}

/* The earliest stage at which all that is used is known. */
static enum shmt_figure_stage stage_of(const struct shmt_figures *figures,
                                       const struct shmt_expr *expr)
{
    enum shmt_figure_stage stage = SHMT_FIGURE_CHOSEN;

    for (size_t k = 0; k < KNOWN; k++)
        if (shmt_expr_uses(expr, figures->first + k) &&
            known[k].stage > stage)
            stage = known[k].stage;
    return stage;
}

/* Refused where no candidate of the kernel can ever have the number. */
static enum shmtune_status check_work(const struct shmt_figures *figures,
                                      const struct shmt_expr *expr,
                                      struct shmt_error *err)
{
    const struct shmt_kernel *const kernel = figures->kernel;

    for (size_t k = 0; k < KNOWN; k++)
        if (shmt_expr_uses(expr, figures->first + k) &&
            ((known[k].take == take_bandwidth && kernel->bytes == NULL) ||
             (known[k].take == take_arithmetic && kernel->flops == NULL)))
            return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                                  "--require %.120s: %s of %s is not known: "
                                  "`work:` of %s does not say how many %s",
                                  shmt_expr_text(expr), known[k].name,
                                  kernel->name, kernel->path,
                                  known[k].take == take_bandwidth
                                      ? "bytes" : "flops");
    return SHMTUNE_OK;
}

static enum shmtune_status add_requirement(struct shmt_figures *figures,
                                           const char *text,
                                           struct shmt_text *all,
                                           struct shmt_error *err)
{
    struct requirement *const one =
        &figures->requires[figures->require_count];
    enum shmtune_status status;

    if (find_sign(text) != NULL)
        return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                              "--require %.80s: found =, expected a "
                              "comparison: <=, <, ==, !=, > or >=", text);
    status = compile(figures, "--require", text, &one->expr, err);
    if (status == SHMTUNE_OK)
        status = check_work(figures, one->expr, err);
    if (status != SHMTUNE_OK)
        return status;
    one->stage = stage_of(figures, one->expr);
    figures->require_count++;
    shmt_text_addf(all, "%s%s", all->length > 0 ? "; " : "", text);
    if (all->length >= SHMT_JOURNAL_REQUIRE)
        return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                              "--require: found more than %d characters of "
                              "requirements together, expected fewer",
                              SHMT_JOURNAL_REQUIRE - 1);
    return SHMTUNE_OK;
}

/* -- the axes -------------------------------------------------------------- */

/* "NAME", "NAME:min", "NAME:max", of so many characters. */
static enum shmtune_status add_axis(struct shmt_figures *figures,
                                    const char *text, size_t length,
                                    struct shmt_error *err)
{
    const size_t k = figures->axis_count;
    struct source *const source = &figures->of_axis[k];
    char *const word = shmt_arena_copy(figures->arena, text, length);
    char *way = word == NULL ? NULL : strchr(word, ':');

    if (word == NULL)
        return shmt_error_memory(err);
    if (way != NULL)
        *way++ = '\0';
    if (way != NULL && strcmp(way, "min") != 0 && strcmp(way, "max") != 0)
        return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                              "--pareto: found \"%.32s\" behind %.64s, "
                              "expected min or max", way, word);
    source->known = find_known(word);
    for (size_t m = 0; source->known == NULL && m < figures->metric_count; m++)
        if (strcmp(figures->metrics[m], word) == 0)
            *source = figures->of_metric[m];
    if (source->known == NULL && source->expr == NULL)
        return refuse_name("--pareto", word,
                           ", and what --metric 'NAME = EXPRESSION' defines",
                           err);
    figures->axes[k].name = source->known == NULL ? word
                            : source->known->full != NULL
                                ? source->known->full : source->known->name;
    figures->axes[k].most =
        way != NULL ? strcmp(way, "max") == 0
                    : source->known != NULL && source->known->most;
    for (size_t a = 0; a < k; a++)
        if (strcmp(figures->axes[a].name, figures->axes[k].name) == 0)
            return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                                  "--pareto: found %s twice, expected it once",
                                  figures->axes[k].name);
    figures->axis_count++;
    return SHMTUNE_OK;
}

static enum shmtune_status add_axes(struct shmt_figures *figures,
                                    const char *text, struct shmt_error *err)
{
    enum shmtune_status status = SHMTUNE_OK;
    const char *at = text;

    while (status == SHMTUNE_OK) {
        const size_t length = strcspn(at, ",");

        if (figures->axis_count == SHMT_FIGURE_AXES)
            return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                                  "--pareto %.80s: there are more than %d "
                                  "numbers", text, SHMT_FIGURE_AXES);
        status = add_axis(figures, at, length, err);
        if (at[length] == '\0')
            break;
        at += length + 1;
    }
    if (status == SHMTUNE_OK && figures->axis_count < 2)
        return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                              "--pareto %.80s: expected two numbers or more, "
                              "such as time_us,shared_bytes", text);
    return status;
}

/* -- making them ----------------------------------------------------------- */

/* The kernel's names first, so that its own derived names mean what they do. */
static bool make_scope(struct shmt_figures *figures)
{
    const struct shmt_expr_scope *const own = &figures->kernel->scope;
    struct shmt_expr_symbol *const symbols = shmt_arena_alloc(
        figures->arena, own->count + KNOWN, sizeof *symbols);

    figures->derived = shmt_arena_alloc(figures->arena, SHMT_EXPR_DERIVED,
                                        sizeof *figures->derived);
    if (symbols == NULL || figures->derived == NULL)
        return false;
    memcpy(symbols, own->symbols, own->count * sizeof *symbols);
    if (own->derived_count > 0)
        memcpy(figures->derived, own->derived,
               own->derived_count * sizeof *figures->derived);
    for (size_t k = 0; k < KNOWN; k++)
        symbols[own->count + k] =
            (struct shmt_expr_symbol){known[k].name, known[k].type};
    figures->first = own->count;
    figures->scope = (struct shmt_expr_scope){
        own->count + KNOWN, symbols, own->derived_count, figures->derived};
    return true;
}

static enum shmtune_status fill(struct shmt_figures *figures,
                                const struct shmt_figure_ask *ask,
                                struct shmt_error *err)
{
    enum shmtune_status status = SHMTUNE_OK;
    struct shmt_text all = {0};

    figures->requires = shmt_arena_alloc(
        figures->arena, ask->require_count, sizeof *figures->requires);
    if (!make_scope(figures) || figures->requires == NULL)
        return shmt_error_memory(err);
    for (size_t k = 0; status == SHMTUNE_OK && k < ask->metric_count; k++)
        status = add_metric(figures, ask->metrics[k], err);
    for (size_t k = 0; status == SHMTUNE_OK && k < ask->require_count; k++)
        status = add_requirement(figures, ask->requires[k], &all, err);
    if (status == SHMTUNE_OK && ask->pareto != NULL)
        status = add_axes(figures, ask->pareto, err);
    figures->required = shmt_text_keep(&all, figures->arena);
    if (status == SHMTUNE_OK && figures->required == NULL)
        status = shmt_error_memory(err);
    return status;
}

enum shmtune_status shmt_figures_new(const struct shmt_kernel *kernel,
                                     const struct shmt_figure_ask *ask,
                                     struct shmt_figures **out,
                                     struct shmt_error *err)
{
    struct shmt_arena *const arena = shmt_arena_new();
    struct shmt_figures *const figures =
        arena == NULL ? NULL : shmt_arena_alloc(arena, 1, sizeof *figures);
    enum shmtune_status status;

    if (figures == NULL) {
        shmt_arena_free(arena);
        return shmt_error_memory(err);
    }
    figures->arena = arena;
    figures->kernel = kernel;
    status = fill(figures, ask, err);
    if (status == SHMTUNE_OK)
        *out = figures;
    else
        shmt_arena_free(arena);
    return status;
}

void shmt_figures_free(struct shmt_figures *figures)
{
    if (figures != NULL)
        shmt_arena_free(figures->arena);
}

const struct shmt_kernel *
shmt_figures_kernel(const struct shmt_figures *figures)
{
    return figures->kernel;
}

size_t shmt_figures_metrics(const struct shmt_figures *figures,
                            const char *const **out)
{
    *out = figures == NULL ? NULL : figures->metrics;
    return figures == NULL ? 0 : figures->metric_count;
}

size_t shmt_figures_axes(const struct shmt_figures *figures,
                         const struct shmt_tuned_axis **out)
{
    *out = figures == NULL ? NULL : figures->axes;
    return figures == NULL ? 0 : figures->axis_count;
}

const char *shmt_figures_required(const struct shmt_figures *figures)
{
    return figures == NULL ? "" : figures->required;
}

/* -- numbers of a candidate ------------------------------------------------ */

/* The values of a scope, and which of the table's are known. */
struct values {
    struct shmt_value of[SHMT_KERNEL_SYMBOLS + KNOWN];
    bool is_known[KNOWN];
};

static double number_of(const struct known *one, const struct facts *facts)
{
    const double number = one->take(facts);

    return number >= 0 ? number : (double)NAN;
}

static struct facts facts_of(const struct shmt_figures *figures,
                             const struct shmt_figure_candidate *candidate)
{
    return (struct facts){candidate->result,
                          shmt_kernel_work_of(figures->kernel,
                                              candidate->problem)};
}

static void fill_values(const struct shmt_figures *figures,
                        const struct shmt_figure_candidate *candidate,
                        struct values *values)
{
    const struct shmt_kernel *const kernel = figures->kernel;
    const struct facts facts = facts_of(figures, candidate);
    struct shmt_value *value = values->of;

    for (size_t d = 0; d < kernel->dimension_count; d++)
        *value++ = (struct shmt_value){.type = SHMT_VALUE_INT,
                                       .i = candidate->problem[d]};
    for (size_t p = 0; p < kernel->parameter_count; p++)
        *value++ = kernel->parameters[p].values[candidate->config[p]];
    for (size_t k = 0; k < KNOWN; k++, value++) {
        const double number = number_of(&known[k], &facts);

        values->is_known[k] = !isnan(number);
        *value = (struct shmt_value){.type = known[k].type};
        if (known[k].type == SHMT_VALUE_INT)
            value->i = isnan(number) ? 0 : (int64_t)number;
        else
            value->r = isnan(number) ? 0 : number;
    }
}

/* The first number that the expression uses and that is not known; NULL. */
static const char *find_unknown(const struct shmt_figures *figures,
                                const struct shmt_expr *expr,
                                const struct values *values)
{
    for (size_t k = 0; k < KNOWN; k++)
        if (!values->is_known[k] &&
            shmt_expr_uses(expr, figures->first + k))
            return known[k].name;
    return NULL;
}

static double evaluate(const struct shmt_figures *figures,
                       const struct source *source,
                       const struct shmt_figure_candidate *candidate)
{
    struct values values;
    struct shmt_value out;

    if (source->known != NULL) {
        const struct facts facts = facts_of(figures, candidate);

        return number_of(source->known, &facts);
    }
    fill_values(figures, candidate, &values);
    if (find_unknown(figures, source->expr, &values) != NULL ||
        shmt_expr_eval(source->expr, values.of, &out, NULL) != SHMTUNE_OK)
        return (double)NAN;
    return out.type == SHMT_VALUE_INT    ? (double)out.i
           : out.type == SHMT_VALUE_REAL ? out.r : (double)NAN;
}

double shmt_figures_metric(const struct shmt_figures *figures, size_t k,
                           const struct shmt_figure_candidate *candidate)
{
    return evaluate(figures, &figures->of_metric[k], candidate);
}

double shmt_figures_axis(const struct shmt_figures *figures, size_t k,
                         const struct shmt_figure_candidate *candidate)
{
    return evaluate(figures, &figures->of_axis[k], candidate);
}

static bool judge_one(const struct shmt_figures *figures,
                      const struct shmt_expr *expr,
                      const struct values *values, struct shmt_result *result)
{
    const char *const unknown = find_unknown(figures, expr, values);
    struct shmt_text why = {0};
    struct shmt_error err;
    bool holds;

    if (unknown != NULL) {
        shmt_result_set_verdict(result, SHMT_VERDICT_UNMET,
                                "--require %.120s: %s is not known of it",
                                shmt_expr_text(expr), unknown);
        return false;
    }
    if (shmt_expr_eval_bool(expr, values->of, &holds, &err) != SHMTUNE_OK) {
        shmt_result_set_verdict(result, SHMT_VERDICT_UNMET, "%s", err.text);
        return false;
    }
    if (holds)
        return true;
    shmt_expr_explain(expr, values->of, &why);
    shmt_result_set_verdict(result, SHMT_VERDICT_UNMET, "--require: %s",
                            shmt_text_string(&why));
    shmt_text_free(&why);
    return false;
}

bool shmt_figures_judge(const struct shmt_figures *figures,
                        enum shmt_figure_stage stage,
                        const struct shmt_figure_candidate *candidate,
                        struct shmt_result *result)
{
    struct values values;

    if (figures == NULL || figures->require_count == 0)
        return true;
    fill_values(figures, candidate, &values);
    for (size_t k = 0; k < figures->require_count; k++)
        if (figures->requires[k].stage <= stage &&
            !judge_one(figures, figures->requires[k].expr, &values, result))
            return false;
    return true;
}

void shmt_figure_add(struct shmt_text *text, double number)
{
    if (isnan(number))
        shmt_text_add(text, "-");
    else if (fabs(number) < 1e15 && number == floor(number))
        shmt_text_addf(text, "%.0f", number);
    else
        shmt_text_addf(text, fabs(number) < 1000 ? "%.4g" : "%.1f", number);
}
