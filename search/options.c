/* SPDX-License-Identifier: MIT */
/*
 * options: parses the options of a strategy by its table, with messages that
 * name the option and its range.  Called by session.c.
 */
#include "search/options.h"

#include <stdlib.h>
#include <string.h>

static size_t option_count(const struct shmt_strategy *strategy)
{
    size_t count = 0;

    if (strategy->options != NULL)
        while (strategy->options[count].name != NULL)
            count++;
    return count;
}

static enum shmtune_status unknown_strategy(const char *name, size_t length,
                                            struct shmt_error *err)
{
    struct shmt_text names = {0};
    enum shmtune_status status;

    for (size_t k = 0; shmt_strategy_at(k) != NULL; k++)
        shmt_text_addf(&names, "%s%s", k == 0 ? "" : ", ",
                       shmt_strategy_at(k)->name);
    status = shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                            "no strategy is called \"%.*s\"; there are %s",
                            (int)length, name, shmt_text_string(&names));
    shmt_text_free(&names);
    return status;
}

static enum shmtune_status unknown_option(
    const struct shmt_strategy *strategy, const char *name, size_t length,
    struct shmt_error *err)
{
    struct shmt_text names = {0};
    enum shmtune_status status;

    for (size_t k = 0; k < option_count(strategy); k++)
        shmt_text_addf(&names, "%s%s", k == 0 ? "it has " : ", ",
                       strategy->options[k].name);
    if (option_count(strategy) == 0)
        shmt_text_add(&names, "it has none");
    status = shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                            "strategy %s has no option \"%.*s\"; %s",
                            strategy->name, (int)length, name,
                            shmt_text_string(&names));
    shmt_text_free(&names);
    return status;
}

struct parse {
    const struct shmt_strategy *strategy;
    double *values;
    bool given[SHMT_STRATEGY_OPTIONS];
};

/* One "option=value" of `length` characters. */
static enum shmtune_status parse_one(struct parse *parse, const char *item,
                                     size_t length, struct shmt_error *err)
{
    const struct shmt_strategy *const strategy = parse->strategy;
    const char *const equals = memchr(item, '=', length);
    const size_t name = equals == NULL ? length : (size_t)(equals - item);
    const struct shmt_strategy_option *option = NULL;
    char number[64], *end;
    size_t digits, k;
    double value;

    for (k = 0; k < option_count(strategy) && option == NULL; k++)
        if (strlen(strategy->options[k].name) == name
            && memcmp(strategy->options[k].name, item, name) == 0)
            option = &strategy->options[k];
    if (option == NULL)
        return unknown_option(strategy, item, name, err);
    k = (size_t)(option - strategy->options);
    digits = equals == NULL ? 0 : length - name - 1;
    if (digits == 0 || digits >= sizeof number)
        return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                              "strategy %s: option %s needs a value from %g "
                              "to %g, as in %s=%g", strategy->name,
                              option->name, option->low, option->high,
                              option->name, option->default_value);
    memcpy(number, equals + 1, digits);
    number[digits] = '\0';
    value = strtod(number, &end);
    if (*end != '\0' || !(value >= option->low && value <= option->high))
        return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                              "strategy %s: option %s is \"%s\", expected a "
                              "number from %g to %g", strategy->name,
                              option->name, number, option->low,
                              option->high);
    if (parse->given[k])
        return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                              "strategy %s: option %s is given twice",
                              strategy->name, option->name);
    parse->given[k] = true;
    parse->values[k] = value;
    return SHMTUNE_OK;
}

enum shmtune_status
shmt_strategy_parse_options(const char *text,
                            const struct shmt_strategy **strategy,
                            double *values, struct shmt_error *err)
{
    const size_t length = strcspn(text, ":");
    const char *item = text + length;
    const struct shmt_strategy *const found =
        shmt_strategy_find(text, length);
    struct parse parse = {.values = values};
    enum shmtune_status status = SHMTUNE_OK;

    if (found == NULL)
        return unknown_strategy(text, length, err);
    parse.strategy = found;
    for (size_t k = 0; k < option_count(found); k++)
        values[k] = found->options[k].default_value;
    if (*item == ':')
        item++;
    while (*item != '\0' && status == SHMTUNE_OK) {
        const size_t part = strcspn(item, ",");

        status = parse_one(&parse, item, part, err);
        item += part;
        if (*item == ',')
            item++;
    }
    if (status == SHMTUNE_OK)
        *strategy = found;
    return status;
}
