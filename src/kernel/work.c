/* SPDX-License-Identifier: MIT */
/*
 * work: what a spec says that a problem is to move and to compute, and the
 * rates that follow from a time.  Called by report/ and by commands.
 */
#include "kernel/kernel.h"

static double evaluate(const struct shmt_expr *work,
                       const struct shmt_kernel_evaluated *evaluated)
{
    int64_t number;

    return work != NULL && shmt_expr_eval_int(work, evaluated->values,
                                              &number, NULL) == SHMTUNE_OK
               ? (double)number : -1;
}

struct shmt_kernel_work shmt_kernel_work_of(const struct shmt_kernel *kernel,
                                            const int64_t *problem)
{
    struct shmt_kernel_evaluated evaluated;

    shmt_kernel_evaluate_part(kernel, SHMT_KERNEL_REFERENCE, problem,
                              &evaluated);
    return (struct shmt_kernel_work){evaluate(kernel->bytes, &evaluated),
                                     evaluate(kernel->flops, &evaluated)};
}

double shmt_kernel_work_rate(double work, double time_us)
{
    return work > 0 && time_us > 0 ? work / time_us / 1e3 : -1;
}

bool shmt_kernel_work_is_arithmetic(const struct shmt_kernel_work *work)
{
    enum { FLOPS_A_BYTE = 10 };

    return work->flops > 0 && work->flops > FLOPS_A_BYTE * work->bytes;
}
