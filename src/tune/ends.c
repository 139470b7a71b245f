/* SPDX-License-Identifier: MIT */
/*
 * ends: see ends.h.
 */
#include "tune/ends.h"

#include "device/device.h"

enum { FEWEST = 3 };

int64_t shmt_tune_ends_next(const struct shmt_parameter *parameter,
                            bool largest)
{
    const struct shmt_value *const values = parameter->values;
    const int64_t end = largest ? values[parameter->count - 1].i : values[0].i;
    const int64_t inner = largest ? values[parameter->count - 2].i
                                  : values[1].i;
    const int64_t less = largest ? inner : end, more = largest ? end : inner;
    int64_t next;

    if (less <= 0)
        return 0;
    if (more % less != 0)
        return !__builtin_add_overflow(end, end - inner, &next) && next > 0
                   ? next : 0;
    if (!largest)
        return end % (more / less) == 0 ? end / (more / less) : 0;
    return __builtin_mul_overflow(end, more / less, &next) ? 0 : next;
}

/* Less than a warp leaves the rest of it idle. */
static bool has_warps(const struct shmt_geometry *geometry,
                      const struct shmtune_device *device)
{
    return !geometry->used || geometry->host ||
           shmt_geometry_threads(geometry) >= device->warp_size;
}

/* The winner, but for one number. */
static bool is_allowed(const struct shmt_kernel *kernel,
                       const struct shmtune_device *device,
                       const struct shmt_tune_outcome *outcome, size_t p,
                       int64_t number)
{
    struct shmt_kernel_evaluated evaluated;
    const struct shmt_fit_launches ask = {device, &evaluated, NULL, NULL};
    struct shmt_fit fit;
    bool allowed;

    shmt_kernel_evaluate(kernel, outcome->header.problem,
                         outcome->finals[0].config, &evaluated);
    evaluated.values[kernel->dimension_count + p].i = number;
    allowed = shmt_kernel_allows(&evaluated) &&
              shmt_kernel_evaluate_launches(&evaluated, NULL) == SHMTUNE_OK &&
              shmt_fit_launches(&ask, &fit);
    for (size_t k = 0; allowed && k < evaluated.launch_count; k++)
        allowed = has_warps(&evaluated.geometry[k], device);
    return allowed;
}

static bool is_at(const struct shmt_tune_outcome *outcome, size_t p, size_t at)
{
    for (size_t k = 0; k < outcome->tie_count; k++)
        if (outcome->finals[k].config[p] != at)
            return false;
    return outcome->tie_count > 0;
}

static bool is_end(const struct shmt_kernel *kernel,
                   const struct shmtune_device *device,
                   const struct shmt_tune_outcome *outcome, size_t p,
                   bool largest)
{
    const struct shmt_parameter *const parameter = &kernel->parameters[p];
    int64_t next;

    if (!is_at(outcome, p, largest ? parameter->count - 1 : 0))
        return false;
    next = shmt_tune_ends_next(parameter, largest);
    return next > 0 && is_allowed(kernel, device, outcome, p, next);
}

struct shmt_tune_ends
shmt_tune_ends_of(const struct shmt_kernel *kernel,
                  const struct shmtune_device *device,
                  const struct shmt_tune_outcome *outcome)
{
    struct shmt_tune_ends ends = {0, 0};

    for (size_t p = 0; p < kernel->parameter_count; p++) {
        const struct shmt_parameter *const one = &kernel->parameters[p];

        if (!one->ordered || one->type != SHMT_VALUE_INT ||
            one->count < FEWEST || one->options != NULL)
            continue;
        if (is_end(kernel, device, outcome, p, false))
            ends.least |= UINT64_C(1) << p;
        if (is_end(kernel, device, outcome, p, true))
            ends.largest |= UINT64_C(1) << p;
    }
    return ends;
}
