/* SPDX-License-Identifier: MIT */
/*
 * fill: reads what an argument is filled with, and which file it is compared
 * with, and evaluates both for a problem.  Called by argument.c, and by all
 * that fill: bench/ and the command `data`.
 *
 * A fill is a word, or a mapping of one word to its numbers; which words there
 * are, and which numbers they have, is in one table.  Numbers are expressions
 * over dimensions, so whether the type has all elements is known for a problem
 * alone.
 */
#include "kernel/read.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct form {
    enum shmt_fill fill;
    const char *word;
    bool bare;               /* may stand without numbers */
    bool ranged;             /* may have a range */
    const char *keys[3];     /* of its numbers; none: it is one number */
    bool needed[2];          /* whether the number has no default */
    int64_t defaults[2];
    const char *example;     /* NULL: it has no numbers */
};

static const struct form forms[] = {
    {SHMT_FILL_UNIFORM, "uniform", .bare = true, .ranged = true},
    {SHMT_FILL_ZERO, "zero", .bare = true},
    {SHMT_FILL_RAMP, "ramp", .bare = true},
    {SHMT_FILL_CONSTANT, "constant", .needed = {true},
     .example = "{constant: 1}"},
    {SHMT_FILL_STEPS, "ramp", .keys = {"from", "step"}, .defaults = {0, 1},
     .example = "{ramp: {from: 0, step: 1}}"},
    {SHMT_FILL_NORMAL, "normal", .bare = true, .ranged = true,
     .keys = {"mean", "deviation"}, .defaults = {0, 1},
     .example = "{normal: {mean: 0, deviation: 1}}"},
    {SHMT_FILL_SORTED, "sorted", .bare = true, .ranged = true},
    {SHMT_FILL_PERMUTATION, "permutation", .bare = true},
    {SHMT_FILL_ROW_POINTERS, "row_pointers", .keys = {"mean", "spread"},
     .needed = {true}, .example = "{row_pointers: {mean: 8, spread: 4}}"},
    {SHMT_FILL_FILE, "file", .bare = false},
    {SHMT_FILL_SETUP, "setup", .bare = true},
};
enum { FORMS = sizeof forms / sizeof forms[0] };

/* A normal number is the sum of twelve draws: this many deviations from the
 * mean at most. */
static const double NORMAL_REACH = 6;

static const struct form *form_of(enum shmt_fill fill)
{
    const struct form *form = forms;

    while (form->fill != fill)
        form++;
    return form;
}

/* -- reading -------------------------------------------------------------- */

static enum shmtune_status refuse_word(struct shmt_kernel_reader *reader,
                                       const struct shmt_yaml *node,
                                       const char *word)
{
    struct shmt_text list = {0};
    enum shmtune_status status;

    for (size_t k = 0; k < FORMS; k++)
        if (forms[k].fill != SHMT_FILL_STEPS)
            shmt_text_addf(&list, "%s%s", k == 0 ? "" : ", ", forms[k].word);
    status = shmt_yaml_refuse(node, reader->err,
                              "\"%s\"; one of %s is expected", word,
                              shmt_text_string(&list));
    shmt_text_free(&list);
    return status;
}

static enum shmtune_status read_word(struct shmt_kernel_reader *reader,
                                     const struct shmt_yaml *node,
                                     const struct form **out)
{
    const char *word;
    const enum shmtune_status status =
        shmt_yaml_word(node, &word, reader->err);

    if (status != SHMTUNE_OK)
        return status;
    for (size_t k = 0; k < FORMS; k++) {
        if (strcmp(forms[k].word, word) != 0)
            continue;
        *out = &forms[k];
        if (forms[k].fill == SHMT_FILL_FILE)
            return shmt_yaml_refuse(node, reader->err,
                                    "the fill \"file\" without a path; write "
                                    "it as fill: {file: PATH}");
        return forms[k].bare
                   ? SHMTUNE_OK
                   : shmt_yaml_refuse(node, reader->err,
                                      "the fill \"%s\" without its numbers; "
                                      "write it as fill: %s", word,
                                      forms[k].example);
    }
    return refuse_word(reader, node, word);
}

static enum shmtune_status read_number(struct shmt_kernel_reader *reader,
                                       const struct shmt_yaml *node,
                                       struct shmt_expr **out)
{
    return shmt_kernel_read_problem_expr(reader, node, "a number of a fill",
                                         out);
}

static enum shmtune_status read_keys(struct shmt_kernel_reader *reader,
                                     const struct shmt_yaml *node,
                                     const struct form *form,
                                     struct shmt_argument *argument)
{
    enum shmtune_status status = shmt_yaml_expect(
        node, SHMT_YAML_MAPPING, form->example, reader->err);

    if (status == SHMTUNE_OK)
        status = shmt_yaml_check_keys(node, form->keys, reader->err);
    for (size_t k = 0; status == SHMTUNE_OK && form->keys[k] != NULL; k++) {
        const struct shmt_yaml *number = shmt_yaml_get(node, form->keys[k]);

        if (number == NULL && form->needed[k])
            status = shmt_yaml_need(node, form->keys[k], &number, reader->err);
        else if (number != NULL)
            status = read_number(reader, number, &argument->numbers[k]);
    }
    return status;
}

static enum shmtune_status read_extent(struct shmt_kernel_reader *reader,
                                       const struct shmt_yaml *key,
                                       const struct shmt_yaml *node,
                                       void *item)
{
    (void)key;
    return shmt_kernel_read_problem_expr(reader, node, "an extent of a shape",
                                         item);
}

/* {file: PATH}, {file: PATH, shape: [rows, cols]} */
static enum shmtune_status read_file(struct shmt_kernel_reader *reader,
                                     const struct shmt_yaml *node,
                                     struct shmt_argument_file *out)
{
    static const char *const keys[] = {"file", "shape", NULL};
    struct shmt_kernel_list shape = {
        .mapping = node, .key = "shape", .kind = SHMT_YAML_SEQUENCE,
        .expected = "shape, [ROWS, COLS]", .items_are = "extents", .least = 1,
        .most = SHMT_FILL_EXTENTS, .size = sizeof out->extents[0],
        .read = read_extent
    };
    struct shmt_arena *arena = reader->kernel->arena;
    const char *folder = shmt_path_folder(arena, reader->kernel->path);
    const struct shmt_yaml *file;
    const char *name;
    enum shmtune_status status =
        shmt_yaml_check_keys(node, keys, reader->err);

    if (status == SHMTUNE_OK)
        status = shmt_yaml_need(node, "file", &file, reader->err);
    if (status == SHMTUNE_OK)
        status = shmt_yaml_text(file, SHMT_KERNEL_FILE, &name, reader->err);
    if (status != SHMTUNE_OK)
        return status;
    out->place = node->place;
    out->path = folder == NULL ? NULL : shmt_path_join(arena, folder, name);
    if (out->path == NULL)
        return shmt_error_memory(reader->err);
    status = shmt_kernel_read_list(reader, &shape);
    if (status != SHMTUNE_OK || shape.node == NULL)
        return status;
    out->extent_count = shape.count;
    memcpy(out->extents, shape.items, shape.count * shape.size);
    return SHMTUNE_OK;
}

enum shmtune_status shmt_kernel_expect_read(struct shmt_kernel_reader *reader,
                                            const struct shmt_yaml *mapping,
                                            struct shmt_argument *argument)
{
    const struct shmt_yaml *node = shmt_yaml_get(mapping, "expect");
    const enum shmtune_status status =
        node == NULL ? SHMTUNE_OK
                     : shmt_yaml_expect(node, SHMT_YAML_MAPPING,
                                        "expect, {file: PATH}", reader->err);

    return node == NULL || status != SHMTUNE_OK
               ? status : read_file(reader, node, &argument->expect);
}

/* A mapping of one word to its numbers. */
static enum shmtune_status read_numbers(struct shmt_kernel_reader *reader,
                                        const struct shmt_yaml *node,
                                        const struct form **out,
                                        struct shmt_argument *argument)
{
    const char *word;

    if (shmt_yaml_get(node, "file") != NULL) {
        *out = form_of(SHMT_FILL_FILE);
        return read_file(reader, node, &argument->file);
    }
    if (node->count != 1)
        return shmt_yaml_refuse(node, reader->err, "a fill of %zu keys; one "
                                "is expected, as in {constant: 1}",
                                node->count);
    word = node->keys[0]->text;
    for (size_t k = 0; k < FORMS; k++) {
        if (forms[k].example == NULL || strcmp(forms[k].word, word) != 0)
            continue;
        *out = &forms[k];
        return forms[k].keys[0] == NULL
                   ? read_number(reader, node->items[0],
                                 &argument->numbers[0])
                   : read_keys(reader, node->items[0], &forms[k], argument);
    }
    for (size_t k = 0; k < FORMS; k++)
        if (strcmp(forms[k].word, word) == 0)
            return shmt_yaml_refuse(node->keys[0], reader->err,
                                    "the fill \"%s\" has no numbers; write "
                                    "fill: %s", word, word);
    return refuse_word(reader, node->keys[0], word);
}

static enum shmtune_status read_range(struct shmt_kernel_reader *reader,
                                      const struct shmt_yaml *node,
                                      struct shmt_argument *argument)
{
    enum shmtune_status status = shmt_yaml_expect(
        node, SHMT_YAML_SEQUENCE, "range, [LOW, HIGH]", reader->err);

    if (status == SHMTUNE_OK && node->count != 2)
        status = shmt_yaml_refuse(node, reader->err,
                                  "a range of %zu numbers; [low, high] is "
                                  "expected", node->count);
    for (size_t k = 0; status == SHMTUNE_OK && k < 2; k++)
        status = shmt_kernel_read_problem_expr(
            reader, node->items[k], "a bound of a range",
            &argument->range[k]);
    return status;
}

enum shmtune_status shmt_kernel_fill_read(struct shmt_kernel_reader *reader,
                                          const struct shmt_yaml *mapping,
                                          struct shmt_argument *argument)
{
    const struct shmt_yaml *fill = shmt_yaml_get(mapping, "fill");
    const struct shmt_yaml *range = shmt_yaml_get(mapping, "range");
    const struct form *form = form_of(SHMT_FILL_UNIFORM);
    enum shmtune_status status = SHMTUNE_OK;

    if (fill != NULL && fill->kind == SHMT_YAML_MAPPING)
        status = read_numbers(reader, fill, &form, argument);
    else if (fill != NULL)
        status = read_word(reader, fill, &form);
    if (status != SHMTUNE_OK)
        return status;
    argument->fill = form->fill;
    argument->fill_place =
        (range != NULL ? range : fill != NULL ? fill : mapping)->place;
    if (form->fill == SHMT_FILL_SETUP && argument->role == SHMT_ROLE_VALUE)
        return shmt_yaml_refuse(fill, reader->err,
                                "the fill \"setup\" of an array passed by "
                                "value, which lies in host memory; make it an "
                                "input");
    if (range == NULL)
        return SHMTUNE_OK;
    if (!form->ranged)
        return shmt_yaml_refuse(range, reader->err,
                                "a range for fill \"%s\"; only uniform, "
                                "normal and sorted have one", form->word);
    return read_range(reader, range, argument);
}

/* -- evaluating ----------------------------------------------------------- */

/* An argument with its values, for the checks, and the file they are of. */
struct filled {
    const struct shmt_kernel *kernel;
    const struct shmt_argument *argument;
    const struct shmt_argument_file *file;
    struct shmt_fill_values *values;
    struct shmt_error *err;
};

static double real_of(struct shmt_value value)
{
    return value.type == SHMT_VALUE_REAL ? value.r : (double)value.i;
}

/* The bounds that a range must keep, [low, high).  The difference of the two
 * has to be a finite double, and the bounds of whole numbers exact ones. */
static void widest_range(enum shmt_element element, double *low, double *high)
{
    const struct shmt_element_type *type = shmt_element_type(element);

    *low = type->is_real ? fmax(type->low.real, -DBL_MAX / 2)
                         : fmax((double)type->low.whole, -0x1p53);
    *high = type->is_real ? fmin(type->high.real, DBL_MAX / 2)
                          : fmin((double)type->high.whole + 1, 0x1p53);
}

static bool uses_dimensions(const struct shmt_kernel *kernel,
                            const struct shmt_expr *expr)
{
    bool uses = false;

    for (size_t d = 0; d < kernel->dimension_count; d++)
        uses |= shmt_expr_uses(expr, d);
    return uses;
}

/* Values outside of the type's bounds would wrap or become infinite.  Whole
 * numbers of [0, 1) are all 0, with which a wrong kernel can look right; where
 * a size is a bound, 1 is as good as another. */
static enum shmtune_status check_range(const struct filled *filled)
{
    const struct shmt_argument *argument = filled->argument;
    const enum shmt_element element = argument->element;
    const double low = filled->values->low, high = filled->values->high;
    const struct shmt_place place = argument->fill_place;
    double lowest, highest;

    widest_range(element, &lowest, &highest);
    if (!(low < high))
        return shmt_yaml_refuse_at(place, filled->err, "the range [%g, %g) "
                                   "is empty", low, high);
    if (low < lowest || high > highest)
        return shmt_yaml_refuse_at(
            place, filled->err, "the range [%.17g, %.17g) is outside of what "
            "%s may have, [%.17g, %.17g)", low, high,
            shmt_element_word(element), lowest, highest);
    if (shmt_element_is_real(element))
        return SHMTUNE_OK;
    if (low != floor(low) || high != floor(high))
        return shmt_yaml_refuse_at(place, filled->err,
                                   "the range [%g, %g) of %s; whole numbers "
                                   "are expected", low, high,
                                   shmt_element_word(element));
    if (low == 0 && high == 1 &&
        !uses_dimensions(filled->kernel, argument->range[1]))
        return shmt_yaml_refuse_at(place, filled->err,
                                   "the range [0, 1) has no number but 0, as "
                                   "its end is not included; write [0, 2] for "
                                   "0 and 1, or fill: zero");
    return SHMTUNE_OK;
}

static enum shmtune_status check_constant(const struct filled *filled)
{
    union shmt_element_scalar scalar;
    struct shmt_error why = {0};
    const enum shmtune_status status =
        shmt_element_convert(filled->argument->element,
                             filled->values->numbers[0], &scalar, &why);

    if (status == SHMTUNE_OK && filled->values->numbers[0].type ==
                                    SHMT_VALUE_REAL &&
        !shmt_element_is_real(filled->argument->element))
        filled->values->numbers[0] = (struct shmt_value){
            .type = SHMT_VALUE_INT,
            .i = (int64_t)filled->values->numbers[0].r};
    return status == SHMTUNE_OK
               ? status
               : shmt_yaml_refuse_at(filled->argument->fill_place,
                                     filled->err, "%s", why.text);
}

/* from + (count - 1) step, of whole numbers; false beyond 64 bits. */
static bool last_step(const struct shmt_fill_values *values, int64_t *out)
{
    const int64_t from = values->numbers[0].i, step = values->numbers[1].i;
    const int64_t steps = (int64_t)values->count - 1;

    if (step != 0 && (step > INT64_MAX / 2 || step < INT64_MIN / 2 ||
                      steps > INT64_MAX / 2 / llabs(step) ||
                      from > INT64_MAX / 2 || from < INT64_MIN / 2))
        return false;
    *out = from + steps * step;
    return true;
}

/* A real that is whole is written as one of whole numbers. */
static bool make_whole(struct shmt_value *value)
{
    if (value->type == SHMT_VALUE_INT)
        return true;
    if (!(fabs(value->r) <= 0x1p53) || value->r != floor(value->r))
        return false;
    *value = (struct shmt_value){.type = SHMT_VALUE_INT,
                                 .i = (int64_t)value->r};
    return true;
}

static enum shmtune_status check_steps(const struct filled *filled)
{
    struct shmt_fill_values *values = filled->values;
    const enum shmt_element element = filled->argument->element;
    const double from = real_of(values->numbers[0]);
    const double step = real_of(values->numbers[1]);
    const double end = from + (double)(values->count - 1) * step;
    int64_t last = 0;
    bool fits;

    if (shmt_element_is_real(element))
        fits = isfinite(from) && isfinite(end) &&
               shmt_element_holds_real(element, from) &&
               shmt_element_holds_real(element, end);
    else if (!make_whole(&values->numbers[0]) ||
             !make_whole(&values->numbers[1]))
        return shmt_yaml_refuse_at(filled->argument->fill_place, filled->err,
                                   "a ramp from %g by %g of %s; whole numbers "
                                   "are expected", from, step,
                                   shmt_element_word(element));
    else
        fits = last_step(values, &last) &&
               shmt_element_holds(element, values->numbers[0].i) &&
               shmt_element_holds(element, last);
    return fits ? SHMTUNE_OK
                : shmt_yaml_refuse_at(
                      filled->argument->fill_place, filled->err,
                      "a ramp from %g by %g has %g as the last of %llu "
                      "elements, outside of its type %s", from, step, end,
                      (unsigned long long)values->count,
                      shmt_element_word(element));
}

static enum shmtune_status check_normal(const struct filled *filled)
{
    struct shmt_fill_values *values = filled->values;
    const double mean = real_of(values->numbers[0]);
    const double deviation = real_of(values->numbers[1]);
    const double reach = NORMAL_REACH * deviation;
    double low, high;

    if (!(deviation >= 0) || !isfinite(mean) || !isfinite(reach))
        return shmt_yaml_refuse_at(filled->argument->fill_place, filled->err,
                                   "a normal fill of mean %g and deviation "
                                   "%g; numbers, and a deviation of 0 or "
                                   "more, are expected", mean, deviation);
    if (filled->argument->range[0] != NULL)
        return check_range(filled);
    widest_range(filled->argument->element, &low, &high);
    if (mean - reach < low || mean + reach >= high)
        return shmt_yaml_refuse_at(
            filled->argument->fill_place, filled->err,
            "a normal fill has numbers up to %g deviations from its mean, "
            "here from %g to %g, outside of what %s may have, [%.17g, %.17g); "
            "give it a range", NORMAL_REACH, mean - reach, mean + reach,
            shmt_element_word(filled->argument->element), low, high);
    values->low = low;
    values->high = high;
    return SHMTUNE_OK;
}

static enum shmtune_status check_permutation(const struct filled *filled)
{
    const struct shmt_element_type *type =
        shmt_element_type(filled->argument->element);

    if (filled->values->count - 1 <= type->ramp)
        return SHMTUNE_OK;
    return shmt_yaml_refuse_at(filled->argument->fill_place, filled->err,
                               "a permutation of %llu elements; %s has whole "
                               "numbers up to %llu only",
                               (unsigned long long)filled->values->count,
                               type->word, (unsigned long long)type->ramp);
}

static enum shmtune_status check_rows(const struct filled *filled)
{
    const struct shmt_element_type *type =
        shmt_element_type(filled->argument->element);
    const struct shmt_place place = filled->argument->fill_place;
    const double mean = real_of(filled->values->numbers[0]);
    const double spread = real_of(filled->values->numbers[1]);
    const double end = (double)(filled->values->count - 1) * mean;

    if (type->is_real)
        return shmt_yaml_refuse_at(place, filled->err, "row pointers of %s; "
                                   "a type of whole numbers is expected",
                                   type->word);
    if (!(mean >= 0) || !(spread >= 0) || !(spread <= mean))
        return shmt_yaml_refuse_at(place, filled->err,
                                   "row pointers with a mean of %g and a "
                                   "spread of %g; a row cannot have fewer "
                                   "than 0 elements: 0 <= spread <= mean is "
                                   "expected", mean, spread);
    if (end < fmin((double)type->high.whole + 1, 0x1p53))
        return SHMTUNE_OK;
    return shmt_yaml_refuse_at(place, filled->err,
                               "the last of %llu row pointers with a mean of "
                               "%g is %.17g, outside of its type %s",
                               (unsigned long long)filled->values->count,
                               mean, end, type->word);
}

/* The shape of a file has as many elements as the argument. */
static enum shmtune_status check_shape(const struct filled *filled)
{
    const struct shmt_fill_values *values = filled->values;
    uint64_t count = 1;

    if (values->extent_count == 0)
        return SHMTUNE_OK;
    for (size_t k = 0; k < values->extent_count; k++) {
        if (count > values->count / values->extents[k])
            break;
        count *= values->extents[k];
        if (k + 1 == values->extent_count && count == values->count)
            return SHMTUNE_OK;
    }
    return shmt_yaml_refuse_at(filled->file->place, filled->err,
                               "the shape has not as many elements as the "
                               "count, %llu",
                               (unsigned long long)values->count);
}

static enum shmtune_status check(const struct filled *filled)
{
    if (filled->values->count == 0)
        return SHMTUNE_OK;
    switch (filled->values->fill) {
    case SHMT_FILL_UNIFORM:
    case SHMT_FILL_SORTED:
        return filled->argument->range[0] == NULL ? SHMTUNE_OK
                                                  : check_range(filled);
    case SHMT_FILL_CONSTANT: return check_constant(filled);
    case SHMT_FILL_STEPS: return check_steps(filled);
    case SHMT_FILL_NORMAL: return check_normal(filled);
    case SHMT_FILL_PERMUTATION: return check_permutation(filled);
    case SHMT_FILL_ROW_POINTERS: return check_rows(filled);
    case SHMT_FILL_FILE: return check_shape(filled);
    default: return SHMTUNE_OK;
    }
}

static enum shmtune_status evaluate(const struct shmt_expr *expr,
                                    struct shmt_expr_evaluation *evaluation,
                                    struct shmt_value *out,
                                    struct shmt_error *err)
{
    struct shmt_value value;
    enum shmtune_status status;

    if (expr == NULL)
        return SHMTUNE_OK;
    status = shmt_expr_next(expr, evaluation, &value, err);
    if (status != SHMTUNE_OK)
        return status;
    if (value.type == SHMT_VALUE_WORD)
        return shmt_yaml_refuse_at(shmt_expr_place(expr), err,
                                   "a word where a number is needed");
    *out = value;
    return SHMTUNE_OK;
}

static enum shmtune_status
evaluate_file(const struct filled *filled,
              struct shmt_expr_evaluation *evaluation)
{
    const struct shmt_argument_file *file = filled->file;

    for (size_t k = 0; k < file->extent_count; k++) {
        int64_t extent;
        const enum shmtune_status status = shmt_expr_next_int(
            file->extents[k], evaluation, &extent, filled->err);

        if (status != SHMTUNE_OK)
            return status;
        if (extent < 1 || (uint64_t)extent > filled->values->count)
            return shmt_yaml_refuse_at(
                shmt_expr_place(file->extents[k]), filled->err,
                "an extent of %lld; 1 to the count, %llu, is expected",
                (long long)extent,
                (unsigned long long)filled->values->count);
        filled->values->extents[k] = (uint64_t)extent;
    }
    filled->values->file = file->path;
    filled->values->extent_count = file->extent_count;
    return SHMTUNE_OK;
}

enum shmtune_status
shmt_kernel_argument_fill(struct shmt_kernel_evaluated *evaluated, size_t k,
                          struct shmt_fill_values *out,
                          struct shmt_error *err)
{
    const struct shmt_argument *argument = &evaluated->kernel->arguments[k];
    const struct shmt_element_type *type =
        shmt_element_type(argument->element);
    const struct form *form = form_of(argument->fill);
    struct shmt_value range[2] = {
        {.type = SHMT_VALUE_INT, .i = type->is_real ? -1 : 0},
        {.type = SHMT_VALUE_INT,
         .i = type->is_real ? 1 : type->high.whole < 255
                                      ? type->high.whole + 1 : 256}};
    struct shmt_fill_values values = {.fill = argument->fill,
                                      .element = argument->element,
                                      .place = argument->fill_place};
    const struct filled filled = {evaluated->kernel, argument,
                                  &argument->file, &values, err};
    enum shmtune_status status =
        shmt_kernel_argument_count(evaluated, k, &values.count, err);

    for (size_t n = 0; status == SHMTUNE_OK && n < 2; n++) {
        values.numbers[n] = (struct shmt_value){.type = SHMT_VALUE_INT,
                                                .i = form->defaults[n]};
        status = evaluate(argument->numbers[n], &evaluated->evaluation,
                          &values.numbers[n], err);
        if (status == SHMTUNE_OK)
            status = evaluate(argument->range[n], &evaluated->evaluation,
                              &range[n], err);
    }
    if (status == SHMTUNE_OK)
        status = evaluate_file(&filled, &evaluated->evaluation);
    if (status != SHMTUNE_OK)
        return status;
    values.low = real_of(range[0]);
    values.high = real_of(range[1]);
    status = check(&filled);
    if (status == SHMTUNE_OK)
        *out = values;
    return status;
}

enum shmtune_status
shmt_kernel_argument_expect(struct shmt_kernel_evaluated *evaluated, size_t k,
                            struct shmt_fill_values *out,
                            struct shmt_error *err)
{
    const struct shmt_argument *argument = &evaluated->kernel->arguments[k];
    struct shmt_fill_values values = {.fill = SHMT_FILL_FILE,
                                      .element = argument->element,
                                      .place = argument->expect.place};
    const struct filled filled = {evaluated->kernel, argument,
                                  &argument->expect, &values, err};
    enum shmtune_status status =
        shmt_kernel_argument_count(evaluated, k, &values.count, err);

    if (status == SHMTUNE_OK)
        status = evaluate_file(&filled, &evaluated->evaluation);
    if (status == SHMTUNE_OK)
        status = check_shape(&filled);
    if (status == SHMTUNE_OK)
        *out = values;
    return status;
}
