/* SPDX-License-Identifier: MIT */
/*
 * tuning: puts entries in and keeps them sorted, matches settings with the
 * kernel they are for, and writes a tuning as YAML in one deterministic order.
 * tuning_read.c reads it.
 */
#include "record/tuning.h"

#include <inttypes.h>
#include <string.h>

#include "device/device.h"
#include "record/tuning_order.h"
#include "yaml/yaml.h"

enum { DIGITS = 6 };

struct shmt_tuning *shmt_tuning_new_in(struct shmt_arena *arena)
{
    struct shmt_tuning *tuning = shmt_arena_alloc(arena, 1, sizeof *tuning);

    if (tuning != NULL) {
        tuning->arena = arena;
        tuning->kernel = "";
        tuning->created = "";
        tuning->protocol = "";
    }
    return tuning;
}

enum shmtune_status shmt_tuning_new(struct shmt_tuning **out,
                                    struct shmt_error *err)
{
    struct shmt_arena *arena = shmt_arena_new();
    struct shmt_tuning *tuning = NULL;

    if (arena != NULL)
        tuning = shmt_tuning_new_in(arena);
    if (tuning == NULL) {
        shmt_arena_free(arena);
        return shmt_error_memory(err);
    }
    *out = tuning;
    return SHMTUNE_OK;
}

void shmt_tuning_free(struct shmt_tuning *tuning)
{
    if (tuning != NULL)
        shmt_arena_free(tuning->arena);
}

/* Sizes have the same names in the same order: by value, dimension by
 * dimension. */
int shmt_tuning_compare(const struct shmt_tuned *a, const struct shmt_tuned *b)
{
    for (size_t k = 0; k < a->size_count && k < b->size_count; k++)
        if (a->size[k].value.i != b->size[k].value.i)
            return a->size[k].value.i < b->size[k].value.i ? -1 : 1;
    return 0;
}

bool shmt_tuning_same_names(const struct shmt_setting *a, size_t a_count,
                            const struct shmt_setting *b, size_t b_count)
{
    if (a_count != b_count)
        return false;
    for (size_t k = 0; k < a_count; k++)
        if (!shmt_text_equal(a[k].name, b[k].name))
            return false;
    return true;
}

static const char *copy_text(struct shmt_arena *arena, const char *text)
{
    return shmt_arena_copy(arena, text, strlen(text));
}

struct shmt_setting *
shmt_tuning_copy_settings(struct shmt_arena *arena,
                          const struct shmt_setting *settings, size_t count)
{
    struct shmt_setting *copy = shmt_arena_alloc(arena, count, sizeof *copy);

    for (size_t k = 0; copy != NULL && k < count; k++) {
        copy[k] = settings[k];
        copy[k].name = copy_text(arena, settings[k].name);
        if (copy[k].value.type == SHMT_VALUE_WORD)
            copy[k].value.w = copy_text(arena, settings[k].value.w);
        if (copy[k].name == NULL
            ||
            (copy[k].value.type == SHMT_VALUE_WORD && copy[k].value.w == NULL))
            return NULL;
    }
    return copy;
}

static struct shmt_tuned *copy_tuned(struct shmt_arena *arena,
                                     const struct shmt_tuned *one)
{
    struct shmt_tuned *copy = shmt_arena_alloc(arena, 1, sizeof *copy);
    const struct shmt_setting **ties;

    if (copy == NULL)
        return NULL;
    *copy = *one;
    copy->place = copy->settings_place = (struct shmt_place){.line = 0};
    copy->tie_places = NULL;
    if (copy->tie_count > SHMT_TUNING_TIES)
        copy->tie_count = SHMT_TUNING_TIES;
    copy->strategy =
        copy_text(arena, one->strategy == NULL ? "" : one->strategy);
    copy->data_digest =
        copy_text(arena, one->data_digest == NULL ? "" : one->data_digest);
    copy->size = shmt_tuning_copy_settings(arena, one->size, one->size_count);
    copy->settings = shmt_tuning_copy_settings(arena, one->settings,
                                               one->setting_count);
    copy->ties = ties =
        shmt_arena_alloc(arena, copy->tie_count, sizeof *ties);
    if (copy->strategy == NULL || copy->data_digest == NULL ||
        copy->size == NULL || copy->settings == NULL || ties == NULL)
        return NULL;
    for (size_t k = 0; k < copy->tie_count; k++) {
        ties[k] = shmt_tuning_copy_settings(arena, one->ties[k],
                                            one->setting_count);
        if (ties[k] == NULL)
            return NULL;
    }
    if (!shmt_tuning_copy_front(arena, one->setting_count, &copy->pareto))
        return NULL;
    return copy;
}

/* Refuses an entry that the reader would refuse, so that it is never
 * written. */
static enum shmtune_status check_tuned(const struct shmt_tuning *tuning,
                                       const struct shmt_tuned *one,
                                       struct shmt_error *err)
{
    const struct shmt_tuned *first =
        tuning->tuned_count == 0 ? one : tuning->tuned[0];

    if (one->result.verdict != SHMT_VERDICT_OK)
        return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT, "found the "
                              "verdict \"%s\", expected a winner that is ok",
                              shmt_verdict_word(one->result.verdict));
    if (!shmt_tuning_same_names(first->size, first->size_count, one->size,
                                one->size_count))
        return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT, "the new size "
                              "has other dimensions than the sizes that are "
                              "in the tuning; write a new one");
    for (size_t k = 0; k < one->size_count; k++)
        if (one->size[k].value.type != SHMT_VALUE_INT || one->size[k].value.i <
            0)
            return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT, "%.64s: "
                                  "expected an integer from 0 up",
                                  one->size[k].name);
    for (size_t k = 0; k < one->tie_count; k++)
        if (!shmt_tuning_same_names(one->settings, one->setting_count,
                                    one->ties[k], one->setting_count))
            return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT, "tie %zu "
                                  "has other parameters than the winner", k);
    return SHMTUNE_OK;
}

enum shmtune_status shmt_tuning_put(struct shmt_tuning *tuning,
                                    const struct shmt_tuned *one,
                                    struct shmt_error *err)
{
    enum shmtune_status status = check_tuned(tuning, one, err);
    struct shmt_tuned **more, *copy;
    size_t k = 0, count = tuning->tuned_count;

    if (status != SHMTUNE_OK)
        return status;
    copy = copy_tuned(tuning->arena, one);
    more = shmt_arena_alloc(tuning->arena, count + 1, sizeof *more);
    if (copy == NULL || more == NULL)
        return shmt_error_memory(err);
    while (k < count && shmt_tuning_compare(tuning->tuned[k], copy) < 0)
        k++;
    if (k < count && shmt_tuning_compare(tuning->tuned[k], copy) == 0) {
        tuning->tuned[k] = copy;
        return SHMTUNE_OK;
    }
    if (count == SHMT_TUNING_SIZES)
        return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT, "found %d sizes "
                              "in the tuning, expected at most that",
                              SHMT_TUNING_SIZES);
    if (k > 0)
        memcpy(more, tuning->tuned, k * sizeof *more);
    more[k] = copy;
    if (k < count)
        memcpy(more + k + 1, tuning->tuned + k, (count - k) * sizeof *more);
    tuning->tuned = more;
    tuning->tuned_count = count + 1;
    return SHMTUNE_OK;
}

/* The one of that name; SHMTUNE_INVALID_FILE when there is none or there are
 * two. */
static enum shmtune_status find_one(const struct shmt_setting *settings,
                                    size_t count, const char *name,
                                    const struct shmt_setting **out,
                                    struct shmt_error *err)
{
    const struct shmt_setting *found = NULL;

    for (size_t k = 0; k < count; k++) {
        if (!shmt_text_equal(settings[k].name, name))
            continue;
        if (found != NULL)
            return shmt_error_set(err, SHMTUNE_INVALID_FILE, "found %.64s "
                                  "twice, expected it once", name);
        found = &settings[k];
    }
    if (found == NULL)
        return shmt_error_set(err, SHMTUNE_INVALID_FILE, "%.64s is missing",
                              name);
    *out = found;
    return SHMTUNE_OK;
}

static enum shmtune_status
refuse_value(const struct shmt_parameter *parameter, struct shmt_value value,
             struct shmt_error *err)
{
    struct shmt_text text = {0}, values = {0};

    shmt_yaml_add_value(&text, value);
    shmt_kernel_describe_values(parameter, &values);
    shmt_error_set(err, SHMTUNE_INVALID_FILE, "found %.64s = %.64s, expected "
                   "one of %.400s", parameter->name, shmt_text_string(&text),
                   shmt_text_string(&values));
    shmt_text_free(&values);
    shmt_text_free(&text);
    return SHMTUNE_INVALID_FILE;
}

/* The first name that is none of the kernel's parameters. */
static enum shmtune_status refuse_other(const struct shmt_kernel *kernel,
                                        const struct shmt_setting *settings,
                                        size_t count, struct shmt_error *err)
{
    for (size_t k = 0; k < count; k++) {
        size_t p = 0;

        while (p < kernel->parameter_count
               && !shmt_text_equal(kernel->parameters[p].name,
                                   settings[k].name))
            p++;
        if (p == kernel->parameter_count)
            return shmt_error_set(err, SHMTUNE_INVALID_FILE, "found %.64s, "
                                  "which is not a parameter of %.64s",
                                  settings[k].name, kernel->name);
    }
    return shmt_error_set(err, SHMTUNE_INVALID_FILE, "found %zu parameters, "
                          "expected %zu", count, kernel->parameter_count);
}

/* As the tuner writes them: each parameter once, in the kernel's order. */
static bool in_order(const struct shmt_kernel *kernel,
                     const struct shmt_setting *settings, size_t count)
{
    if (count != kernel->parameter_count)
        return false;
    for (size_t p = 0; p < count; p++)
        if (!shmt_text_equal(kernel->parameters[p].name, settings[p].name))
            return false;
    return true;
}

enum shmtune_status
shmt_tuning_config(const struct shmt_kernel *kernel,
                   const struct shmt_setting *settings, size_t count,
                   shmt_config *config, struct shmt_error *err)
{
    const bool ordered = in_order(kernel, settings, count);
    const struct shmt_setting *found = NULL;
    enum shmtune_status status = SHMTUNE_OK;

    for (size_t p = 0; p < kernel->parameter_count; p++) {
        const struct shmt_parameter *parameter = &kernel->parameters[p];

        if (ordered)
            found = &settings[p];
        else
            status = find_one(settings, count, parameter->name, &found, err);
        if (status != SHMTUNE_OK)
            return status;
        if (!shmt_kernel_find_value(parameter, found->value, &config[p]))
            return refuse_value(parameter, found->value, err);
    }
    if (count != kernel->parameter_count)
        return refuse_other(kernel, settings, count, err);
    return SHMTUNE_OK;
}

/* The fast path for a tie whose settings are in the kernel's order and mostly
 * the winner's own, as the reader makes them. */
static bool tie_config(const struct shmt_kernel *kernel,
                       const struct shmt_tuned *tuned,
                       const struct shmt_setting *tie, shmt_config *config)
{
    for (size_t p = 0; p < kernel->parameter_count; p++) {
        const struct shmt_value *own = &tuned->settings[p].value;
        const struct shmt_value *value = &tie[p].value;

        /* Compares the bits, whatever the type; values that are equal
         * otherwise take the slow path. */
        if ((own->type != value->type || own->i != value->i) &&
            !shmt_kernel_find_value(&kernel->parameters[p], *value, &config[p]))
            return false;
    }
    return true;
}

/* Whether a constraint uses one of the symbols. */
static bool uses_any(const struct shmt_expr *constraint,
                     const uint16_t *symbols, size_t count)
{
    for (size_t k = 0; k < count; k++)
        if (shmt_expr_uses(constraint, symbols[k]))
            return true;
    return false;
}

/* Whether the constraints that use no size hold for `config`, where all hold
 * for `other` at `problem`. */
static bool is_like(const struct shmt_kernel *spec, const int64_t *problem,
                    const shmt_config *other, const shmt_config *config)
{
    struct shmt_kernel_evaluated evaluated;
    uint16_t apart[SHMT_SPACE_PARAMETERS];
    size_t sized = 0, count = 0;
    bool result = true, begun = false;

    for (size_t p = 0; p < spec->parameter_count; p++)
        if (other[p] != config[p])
            apart[count++] = (uint16_t)(spec->dimension_count + p);
    for (size_t k = 0; k < spec->constraint_count && result && count > 0;
         k++) {
        if (sized < spec->sized_count &&
            spec->constraints[k] == spec->sized[sized].constraint) {
            sized++;
            continue;
        }
        if (!uses_any(spec->constraints[k], apart, count))
            continue;
        if (!begun)
            shmt_kernel_evaluate(spec, problem, config, &evaluated);
        begun = true;
        if (shmt_expr_next_bool(spec->constraints[k], &evaluated.evaluation,
                                &result, NULL) != SHMTUNE_OK)
            result = false;
    }
    return result;
}

size_t shmt_tuning_ties(const struct shmt_kernel *kernel,
                        const struct shmt_tuned *tuned,
                        const int64_t *problem, const shmt_config *winner,
                        shmt_config *ties)
{
    const size_t count = tuned->setting_count;
    const bool ordered =
        tuned->tie_count > 1 && in_order(kernel, tuned->settings, count);
    size_t fit = 0;

    for (size_t k = 1; k < tuned->tie_count && fit < SHMT_TUNING_TRIED; k++) {
        shmt_config *const config = ties + fit * kernel->parameter_count;

        memcpy(config, winner, kernel->parameter_count * sizeof *config);
        if ((ordered ? tie_config(kernel, tuned, tuned->ties[k], config)
                     : shmt_tuning_config(kernel, tuned->ties[k], count,
                                          config, NULL) == SHMTUNE_OK) &&
            is_like(kernel, problem, winner, config))
            fit++;
    }
    return fit;
}

enum shmtune_status shmt_tuning_problem(const struct shmt_kernel *kernel,
                                        const struct shmt_tuned *tuned,
                                        int64_t *problem,
                                        struct shmt_error *err)
{
    const struct shmt_setting *found = NULL;
    enum shmtune_status status;

    for (size_t d = 0; d < kernel->dimension_count; d++) {
        const struct shmt_dimension *dimension = &kernel->dimensions[d];

        status = find_one(tuned->size, tuned->size_count, dimension->name,
                          &found, err);
        if (status != SHMTUNE_OK)
            return status;
        if (found->value.type != SHMT_VALUE_INT || found->value.i <
            dimension->low
            || found->value.i > dimension->high)
            return shmt_error_set(err, SHMTUNE_INVALID_FILE, "found %.64s = "
                                  "%" PRId64 ", expected %" PRId64 " to %"
                                  PRId64, dimension->name, found->value.i,
                                  dimension->low, dimension->high);
        problem[d] = found->value.i;
    }
    if (tuned->size_count != kernel->dimension_count)
        return shmt_error_set(err, SHMTUNE_INVALID_FILE, "found %zu "
                              "dimensions, expected the %zu of %.64s",
                              tuned->size_count, kernel->dimension_count,
                              kernel->name);
    return SHMTUNE_OK;
}

/* -- writing ------------------------------------------------------------- */

static void add_text(struct shmt_text *text, const char *key,
                     const char *value)
{
    if (value == NULL || value[0] == '\0')
        return;
    shmt_text_addf(text, "%s: ", key);
    shmt_yaml_add_string(text, value);
    shmt_text_add(text, "\n");
}

void shmt_tuning_add_settings(struct shmt_text *text,
                              const struct shmt_setting *settings,
                              size_t count, const struct shmt_setting *than)
{
    const char *before = "";

    shmt_text_add(text, "{");
    for (size_t k = 0; k < count; k++) {
        if (than != NULL &&
            shmt_value_equal(settings[k].value, than[k].value))
            continue;
        shmt_text_add(text, before);
        shmt_yaml_add_string(text, settings[k].name);
        shmt_text_add(text, ": ");
        shmt_yaml_add_value(text, settings[k].value);
        before = ", ";
    }
    shmt_text_add(text, "}\n");
}

static void add_real(struct shmt_text *text, const char *key, double value)
{
    if (!(value >= 0))
        return;
    shmt_text_addf(text, "  %s: ", key);
    shmt_yaml_add_real(text, value, DIGITS);
    shmt_text_add(text, "\n");
}

static void add_count(struct shmt_text *text, const char *key, uint64_t value)
{
    if (value > 0)
        shmt_text_addf(text, "  %s: %" PRIu64 "\n", key, value);
}

static void add_verdicts(struct shmt_text *text,
                         const uint64_t counts[SHMT_VERDICT_COUNT])
{
    const char *before = "  verdicts: {";

    for (int k = 0; k < SHMT_VERDICT_COUNT; k++) {
        if (counts[k] == 0)
            continue;
        shmt_text_addf(text, "%s%s: %" PRIu64, before,
                       shmt_verdict_word((enum shmt_verdict)k), counts[k]);
        before = ", ";
    }
    if (before[0] == ',')
        shmt_text_add(text, "}\n");
}

static void add_tuned(struct shmt_text *text, const struct shmt_tuned *tuned)
{
    shmt_text_add(text, "- size: ");
    shmt_tuning_add_settings(text, tuned->size, tuned->size_count, NULL);
    shmt_text_add(text, "  configuration: ");
    shmt_tuning_add_settings(text, tuned->settings, tuned->setting_count,
                             NULL);
    shmt_text_add(text, "  result:\n");
    shmt_result_write_block(&tuned->result, 4, text);
    add_real(text, "spread", tuned->spread);
    add_real(text, "default_us", tuned->default_us);
    add_real(text, "floor_us", tuned->floor_us);
    if (tuned->strategy != NULL && tuned->strategy[0] != '\0') {
        shmt_text_add(text, "  ");
        add_text(text, "strategy", tuned->strategy);
    }
    add_count(text, "seed", tuned->seed);
    if (tuned->data_seed != tuned->seed)
        shmt_text_addf(text, "  data_seed: %" PRIu64 "\n", tuned->data_seed);
    if (tuned->data_digest != NULL && tuned->data_digest[0] != '\0') {
        shmt_text_add(text, "  ");
        add_text(text, "data_digest", tuned->data_digest);
    }
    add_count(text, "space_count", tuned->space_count);
    add_count(text, "tried", tuned->tried);
    add_verdicts(text, tuned->verdicts);
    add_real(text, "elapsed_s", tuned->elapsed_s);
    if (tuned->tie_count > 0)
        shmt_text_add(text, "  ties:\n");
    for (size_t k = 0; k < tuned->tie_count; k++) {
        shmt_text_add(text, "  - ");
        shmt_tuning_add_settings(text, tuned->ties[k], tuned->setting_count,
                                 tuned->settings);
    }
    shmt_tuning_add_front(text, tuned);
}

/* The oldest version that has all its keys. */
static int version_of(const struct shmt_tuning *tuning)
{
    for (size_t k = 0; k < tuning->tuned_count; k++)
        if (tuning->tuned[k]->pareto.axis_count > 0)
            return 3;
    if (tuning->dispatch == NULL)
        return 1;
    return tuning->dispatch->estimates == NULL ? 2 : 3;
}

void shmt_tuning_format(const struct shmt_tuning *tuning,
                        struct shmt_text *text)
{
    shmt_text_addf(text, "---\nformat: tuning/%d\n", version_of(tuning));
    add_text(text, "kernel", tuning->kernel);
    shmt_text_addf(text, "digest: %s\n", tuning->digest);
    add_text(text, "created", tuning->created);
    if (tuning->nvrtc_version > 0)
        shmt_text_addf(text, "nvrtc_version: %d\n", tuning->nvrtc_version);
    add_text(text, "protocol", tuning->protocol);
    shmt_device_write(&tuning->device, text);
    shmt_text_add(text, tuning->tuned_count == 0 ? "tuned: []\n"
                                                 : "tuned:\n");
    for (size_t k = 0; k < tuning->tuned_count; k++)
        add_tuned(text, tuning->tuned[k]);
    if (tuning->dispatch != NULL) {
        shmt_text_add(text, "dispatch:\n");
        shmt_dispatch_write(tuning->dispatch, text);
    }
    shmt_text_add(text, "...\n");
}

enum shmtune_status shmt_tuning_write(const struct shmt_tuning *tuning,
                                      const char *path,
                                      struct shmt_error *err)
{
    struct shmt_text text = {0};
    enum shmtune_status status;

    shmt_tuning_format(tuning, &text);
    if (text.failed)
        status = shmt_error_memory(err);
    else if (text.length > SHMT_TUNING_BYTES)
        status = shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT, "%s: the "
                                "tuning has %zu bytes, expected at most %d; "
                                "split its sizes over two files", path,
                                text.length, SHMT_TUNING_BYTES);
    else
        status = shmt_path_write(path, text.data, text.length, err);
    shmt_text_free(&text);
    return status;
}
