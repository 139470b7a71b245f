/* SPDX-License-Identifier: MIT */
/*
 * evaluated: evaluates a configuration for a problem: the values of its scope,
 * its constraints, the geometry of its launches, the bytes of their arguments,
 * and the key of its binary.  Called by everything that compiles, runs or
 * checks a configuration.
 *
 * All expressions of one configuration share one evaluation, so that a derived
 * name is computed once.  The limits here are those of the types and of every
 * device; device/fit checks the limits of one device.
 */
#include "kernel/kernel.h"

#include <math.h>
#include <string.h>

#include "yaml/yaml.h"

void shmt_kernel_evaluate(const struct shmt_kernel *kernel,
                          const int64_t *problem, const shmt_config *config,
                          struct shmt_kernel_evaluated *out)
{
    struct shmt_value *value = out->values;

    out->kernel = kernel;
    out->part = SHMT_KERNEL_CANDIDATE;
    out->launch_count = kernel->launch_count;
    out->launches = kernel->launches;
    out->launched = 0;
    for (size_t d = 0; d < kernel->dimension_count; d++)
        *value++ = (struct shmt_value){.type = SHMT_VALUE_INT, .i = problem[d]};
    for (size_t p = 0; p < kernel->parameter_count; p++)
        *value++ = kernel->parameters[p].values[config[p]];
    shmt_expr_begin(&out->evaluation, out->values);
}

void shmt_kernel_evaluate_part(const struct shmt_kernel *kernel,
                               enum shmt_kernel_part part,
                               const int64_t *problem,
                               struct shmt_kernel_evaluated *out)
{
    const struct {
        size_t count;
        const struct shmt_launch *list;
    } launches[SHMT_KERNEL_PARTS] = {
        [SHMT_KERNEL_CANDIDATE] = {kernel->launch_count, kernel->launches},
        [SHMT_KERNEL_REFERENCE] = {kernel->reference_count, kernel->reference},
        [SHMT_KERNEL_SETUP] = {kernel->setup_count, kernel->setup},
        [SHMT_KERNEL_COMPARE] = {kernel->compare_count, kernel->compare},
    };
    shmt_config config[SHMT_SPACE_PARAMETERS];

    shmt_kernel_default(kernel, config);
    shmt_kernel_evaluate(kernel, problem, config, out);
    out->part = part;
    out->launch_count = launches[part].count;
    out->launches = launches[part].list;
}

const struct shmt_kernel_code *
shmt_kernel_code_of(const struct shmt_kernel_evaluated *evaluated)
{
    const struct shmt_kernel *kernel = evaluated->kernel;

    return evaluated->part == SHMT_KERNEL_REFERENCE &&
                   kernel->reference_code.file_count > 0
               ? &kernel->reference_code : &kernel->code;
}

enum shmtune_status
shmt_kernel_satisfies(struct shmt_kernel_evaluated *evaluated,
                      const struct shmt_expr **failed,
                      struct shmt_error *err)
{
    const struct shmt_kernel *kernel = evaluated->kernel;
    enum shmtune_status status = SHMTUNE_OK;
    bool holds = true;
    size_t i = 0;

    for (; status == SHMTUNE_OK && holds && i < kernel->constraint_count; i++)
        status = shmt_expr_next_bool(kernel->constraints[i],
                                     &evaluated->evaluation, &holds, err);
    if (status == SHMTUNE_OK)
        *failed = holds ? NULL : kernel->constraints[i - 1];
    return status;
}

bool shmt_kernel_allows(struct shmt_kernel_evaluated *evaluated)
{
    const struct shmt_expr *failed = NULL;

    return shmt_kernel_satisfies(evaluated, &failed, NULL) == SHMTUNE_OK &&
           failed == NULL;
}

/* -- launches ------------------------------------------------------------- */

/* An expression in [low, high]; `fallback` when there is none. */
struct bounded {
    const char *what;
    const struct shmt_expr *expr;
    int64_t low, high, default_size;
};

static enum shmtune_status eval_bounded(const struct bounded *bounded,
                                        struct shmt_expr_evaluation *evaluation,
                                        int64_t *out, struct shmt_error *err)
{
    struct shmt_place place;
    int64_t number;
    enum shmtune_status status;

    if (bounded->expr == NULL) {
        *out = bounded->default_size;
        return SHMTUNE_OK;
    }
    status = shmt_expr_next_int(bounded->expr, evaluation, &number, err);
    if (status != SHMTUNE_OK)
        return status;
    if (number < bounded->low || number > bounded->high) {
        place = shmt_expr_place(bounded->expr);
        return shmt_error_set(
            err, SHMTUNE_INVALID_FILE,
            "%s:%d:%d: %s \"%s\" is %lld; %lld to %lld is expected",
            place.file, place.line, place.column, bounded->what,
            shmt_expr_text(bounded->expr), (long long)number,
            (long long)bounded->low, (long long)bounded->high);
    }
    *out = number;
    return SHMTUNE_OK;
}

/* An address's or an element's bytes; its alignment, too. */
static int64_t unit_of(const struct shmt_argument *argument)
{
    if (argument->alignment > 0)
        return (int64_t)argument->alignment;
    return argument->role == SHMT_ROLE_SCALAR ||
                   argument->role == SHMT_ROLE_VALUE
               ? (int64_t)shmt_element_bytes(argument->element) : 8;
}

static enum shmtune_status refuse_arguments(const struct shmt_launch *launch,
                                            const struct shmt_argument *most,
                                            int64_t most_bytes, int64_t bytes,
                                            struct shmt_error *err)
{
    const bool array = most->role == SHMT_ROLE_VALUE;
    const struct shmt_place place =
        array ? shmt_expr_place(most->count) : most->fill_place;

    return shmt_error_set(
        err, SHMTUNE_INVALID_FILE,
        "%s:%d:%d: the arguments of %s take %lld bytes, %lld of them %s, "
        "passed by value; a launch takes %d bytes at most%s%s%s",
        place.file, place.line, place.column, launch->entry,
        (long long)bytes, (long long)most_bytes, most->name,
        SHMT_KERNEL_ARGUMENT_BYTES, array ? ": make " : "",
        array ? most->name : "", array ? " an input" : "");
}

/* Each argument begins at a multiple of the size of its elements, as in a C
 * struct.  Only arguments passed by value can exceed the limit. */
static enum shmtune_status
check_arguments(struct shmt_kernel_evaluated *evaluated,
                const struct shmt_launch *launch, struct shmt_error *err)
{
    const struct shmt_argument *largest = NULL;
    int64_t bytes = 0, most = 0;

    for (size_t k = 0; k < launch->argument_count; k++) {
        const struct shmt_argument *argument =
            &evaluated->kernel->arguments[launch->arguments[k]];
        const int64_t unit = unit_of(argument);
        int64_t size;
        const enum shmtune_status status = shmt_kernel_argument_bytes(
            evaluated, launch->arguments[k], &size, err);

        if (status != SHMTUNE_OK)
            return status;
        if ((argument->role == SHMT_ROLE_VALUE ||
             argument->role == SHMT_ROLE_STRUCT) && size > most) {
            most = size;
            largest = argument;
        }
        bytes = (bytes + unit - 1) / unit * unit + size;
    }
    if (largest != NULL && bytes > SHMT_KERNEL_ARGUMENT_BYTES)
        return refuse_arguments(launch, largest, most, bytes, err);
    return SHMTUNE_OK;
}

/* The driver refuses a grid that ends within a cluster. */
static enum shmtune_status check_cluster(const struct shmt_launch *launch,
                                         const struct shmt_geometry *geometry,
                                         struct shmt_error *err)
{
    for (size_t i = 0; i < 3; i++) {
        const uint32_t cluster = geometry->cluster[i];
        const struct shmt_expr *expr = launch->cluster[i];

        if (cluster < 2 || geometry->grid[i] % cluster == 0)
            continue;
        return shmt_yaml_refuse_at(
            shmt_expr_place(expr), err,
            "cluster \"%s\" is %lu, the grid's %c is %lu, which is no "
            "multiple of it; round the grid up: roundup(..., %s)",
            shmt_expr_text(expr), (unsigned long)cluster, "xyz"[i],
            (unsigned long)geometry->grid[i], shmt_expr_text(expr));
    }
    return SHMTUNE_OK;
}

enum shmtune_status
shmt_kernel_uses_launch(struct shmt_kernel_evaluated *evaluated, size_t k,
                        bool *used, struct shmt_error *err)
{
    const struct shmt_expr *when = evaluated->launches[k].when;

    if (when != NULL)
        return shmt_expr_next_bool(when, &evaluated->evaluation, used, err);
    *used = true;
    return SHMTUNE_OK;
}

bool shmt_kernel_is_host(const struct shmt_kernel_evaluated *evaluated)
{
    return evaluated->launch_count > 0 && evaluated->launches[0].host;
}

bool shmt_kernel_has_host(const struct shmt_kernel *kernel)
{
    return (kernel->launch_count > 0 && kernel->launches[0].host) ||
           (kernel->reference_count > 0 && kernel->reference[0].host) ||
           (kernel->setup_count > 0 && kernel->setup[0].host) ||
           (kernel->compare_count > 0 && kernel->compare[0].host);
}

static enum shmtune_status
compute_launch(struct shmt_kernel_evaluated *evaluated, size_t k,
               struct shmt_error *err)
{
    enum { EXTENTS = 6, CLUSTER = 9, NUMBERS = 12 };
    const struct shmt_launch *launch = &evaluated->launches[k];
    struct shmt_geometry *out = &evaluated->geometry[k];
    const struct bounded numbers[NUMBERS] = {
        {"the grid's x", launch->grid[0], 1, INT32_MAX, 1},
        {"the grid's y", launch->grid[1], 1, INT32_MAX, 1},
        {"the grid's z", launch->grid[2], 1, INT32_MAX, 1},
        {"the block's x", launch->block[0], 1, INT32_MAX, 1},
        {"the block's y", launch->block[1], 1, INT32_MAX, 1},
        {"the block's z", launch->block[2], 1, INT32_MAX, 1},
        {"shared_static", launch->shared_static, 0, INT32_MAX, -1},
        {"shared_dynamic", launch->shared_dynamic, 0, INT32_MAX, 0},
        {"carveout", launch->carveout, -1, 100, -1},
        {"the cluster's x", launch->cluster[0], 0, 1024, 0},
        {"the cluster's y", launch->cluster[1], 1, 1024, 1},
        {"the cluster's z", launch->cluster[2], 1, 1024, 1},
    };
    int64_t found[NUMBERS];
    bool used;
    enum shmtune_status status =
        shmt_kernel_uses_launch(evaluated, k, &used, err);

    *out = (struct shmt_geometry){.shared_static = -1, .carveout = -1};
    if (status != SHMTUNE_OK || !used)
        return status;
    if (launch->alike && !launch->by_value && out[-1].used) {
        *out = out[-1];
        return SHMTUNE_OK;
    }
    for (size_t i = 0; i < NUMBERS; i++) {
        found[i] = numbers[i].default_size;
        if (numbers[i].expr != NULL)
            status = eval_bounded(&numbers[i], &evaluated->evaluation,
                                  &found[i], err);
        if (status != SHMTUNE_OK)
            return status;
    }
    if (launch->by_value)
        status = check_arguments(evaluated, launch, err);
    if (status != SHMTUNE_OK)
        return status;
    *out = (struct shmt_geometry){
        .used = true,
        .shared_static = found[EXTENTS],
        .shared_dynamic = found[EXTENTS + 1],
        .carveout = (int)found[EXTENTS + 2],
        .cooperative = launch->cooperative,
        .host = launch->host,
    };
    for (size_t i = 0; i < 3; i++) {
        out->grid[i] = (uint32_t)found[i];
        out->block[i] = (uint32_t)found[3 + i];
        out->cluster[i] =
            found[CLUSTER] == 0 ? 0 : (uint32_t)found[CLUSTER + i];
    }
    return check_cluster(launch, out, err);
}

enum shmtune_status
shmt_kernel_evaluate_launch(struct shmt_kernel_evaluated *evaluated, size_t k,
                            struct shmt_error *err)
{
    const uint64_t bit = UINT64_C(1) << k;
    enum shmtune_status status = SHMTUNE_OK;

    if ((evaluated->launched & bit) == 0)
        status = compute_launch(evaluated, k, err);
    if (status == SHMTUNE_OK)
        evaluated->launched |= bit;
    return status;
}

enum shmtune_status
shmt_kernel_evaluate_launches(struct shmt_kernel_evaluated *evaluated,
                              struct shmt_error *err)
{
    enum shmtune_status status = SHMTUNE_OK;

    for (size_t k = 0; status == SHMTUNE_OK && k < evaluated->launch_count;
         k++)
        status = shmt_kernel_evaluate_launch(evaluated, k, err);
    return status;
}

bool shmt_kernel_largest_launch(struct shmt_kernel_evaluated *evaluated,
                                double *threads, double *shared_bytes)
{
    double most = 0;

    if (shmt_kernel_is_host(evaluated) ||
        shmt_kernel_evaluate_launches(evaluated, NULL) != SHMTUNE_OK)
        return false;
    for (size_t k = 0; k < evaluated->launch_count; k++) {
        const struct shmt_geometry *const one = &evaluated->geometry[k];
        const double count = (double)shmt_geometry_blocks(one) *
                             (double)shmt_geometry_threads(one);
        if (!one->used || count <= most)
            continue;
        most = *threads = count;
        *shared_bytes = fmax(0, (double)one->shared_static) +
                        (double)one->shared_dynamic;
    }
    return most > 0;
}

/* -- arguments ------------------------------------------------------------ */

enum shmtune_status
shmt_kernel_argument_count(struct shmt_kernel_evaluated *evaluated, size_t k,
                           uint64_t *out, struct shmt_error *err)
{
    const struct shmt_argument *argument = &evaluated->kernel->arguments[k];
    const int64_t unit = (int64_t)shmt_element_bytes(argument->element);
    int64_t count = 1;
    enum shmtune_status status = SHMTUNE_OK;

    if (argument->count != NULL)
        status = shmt_expr_next_int(argument->count, &evaluated->evaluation,
                                    &count, err);
    if (status != SHMTUNE_OK)
        return status;
    if (count < 0 || count > INT64_MAX / unit)
        return shmt_error_set(err, SHMTUNE_INVALID_FILE,
                              "the argument %s of kernel %s would have %lld "
                              "elements of %lld bytes", argument->name,
                              evaluated->kernel->name, (long long)count,
                              (long long)unit);
    *out = (uint64_t)count;
    return SHMTUNE_OK;
}

enum shmtune_status
shmt_kernel_argument_bytes(struct shmt_kernel_evaluated *evaluated, size_t k,
                           int64_t *out, struct shmt_error *err)
{
    const struct shmt_argument *argument = &evaluated->kernel->arguments[k];
    const struct bounded bounded = {"the count", argument->count, 1,
                                    INT32_MAX, 0};
    int64_t count = 1;
    enum shmtune_status status = SHMTUNE_OK;

    if (argument->role == SHMT_ROLE_VALUE)
        status = eval_bounded(&bounded, &evaluated->evaluation, &count, err);
    if (status == SHMTUNE_OK)
        *out = argument->bytes > 0 ? (int64_t)argument->bytes
                                   : count * unit_of(argument);
    return status;
}

enum shmtune_status
shmt_kernel_argument_value(struct shmt_kernel_evaluated *evaluated, size_t k,
                           struct shmt_value *out, struct shmt_error *err)
{
    return shmt_expr_next(evaluated->kernel->arguments[k].value,
                          &evaluated->evaluation, out, err);
}

/* -- the binary ----------------------------------------------------------- */

enum shmtune_status
shmt_kernel_binary_key(struct shmt_kernel_evaluated *evaluated,
                       char key[SHMT_DIGEST_TEXT])
{
    struct shmt_text text = {0};
    struct shmt_digest digest;
    bool used, failed;

    shmt_kernel_definitions(evaluated, false, &text);
    for (size_t k = 0; k < evaluated->launch_count; k++) {
        shmt_text_add(&text, evaluated->launches[k].host ? "\nhost "
                                                         : "\nentry ");
        if (shmt_kernel_uses_launch(evaluated, k, &used, NULL) ==
                SHMTUNE_OK && used)
            (void)shmt_kernel_entry(evaluated, k, &text, NULL);
    }
    shmt_digest_begin(&digest);
    shmt_digest_add(&digest, shmt_text_string(&text), text.length);
    shmt_digest_end(&digest, key);
    failed = text.failed;
    shmt_text_free(&text);
    return failed ? SHMTUNE_NO_MEMORY : SHMTUNE_OK;
}

int64_t shmt_geometry_threads(const struct shmt_geometry *geometry)
{
    const int64_t plane = (int64_t)geometry->block[0] * geometry->block[1];

    return (plane > INT32_MAX ? INT32_MAX : plane) * geometry->block[2];
}

int64_t shmt_geometry_blocks(const struct shmt_geometry *geometry)
{
    const int64_t plane = (int64_t)geometry->grid[0] * geometry->grid[1];

    return (plane > INT32_MAX ? INT32_MAX : plane) * geometry->grid[2];
}

int64_t shmt_geometry_cluster(const struct shmt_geometry *geometry)
{
    int64_t blocks = geometry->cluster[0];

    for (size_t i = 1; i < 3; i++)
        blocks *= geometry->cluster[i] > 0 ? geometry->cluster[i] : 1;
    return blocks;
}
