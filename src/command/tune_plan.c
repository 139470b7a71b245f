/* SPDX-License-Identifier: MIT */
/*
 * tune_plan: see tune_plan.h.  Called by command/tune_work.c.
 */
#include "config.h"

#include "command/tune_plan.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void add_place(const struct shmt_command_device *device,
                      const struct shmt_target *target,
                      struct shmt_text *text)
{
    if (device->replayed != NULL)
        shmt_text_addf(text, "the recorded device %s", target->device.name);
    else if (device->far.on != NULL && device->gpu_count > 1)
        shmt_text_addf(text, "up to %zu GPUs behind '%s'", device->gpu_count,
                       device->far.on);
    else if (device->far.on != NULL)
        shmt_text_addf(text, "the GPU behind '%s'", device->far.on);
    else if (device->gpu_count > 1)
        shmt_text_addf(text, "%zu GPUs", device->gpu_count);
    else
        shmt_text_addf(text, "GPU %s", device->gpus[0].word);
}

/* Their time is not the budget's, but a total has them. */
static void add_answers(const struct shmt_command_work *work,
                        struct shmt_text *text)
{
    double longest_s = 0;

    for (size_t k = 0; k < work->kernel_count; k++)
        if (work->kernels[k].kernel->answer.word_count > 0)
            longest_s = fmax(longest_s,
                             work->kernels[k].kernel->answer.timeout_s);
    if (longest_s > 0 && isfinite(work->budget.seconds) &&
        isinf(work->budget.total_s))
        shmt_text_addf(text, ", and before that what the program of `answer` "
                             "takes, at most %.3g s each", longest_s);
}

/* With a recorded device it is not known how many problems there are. */
static void add_plan(const struct shmt_command_work *work,
                     const struct shmt_target *target, struct shmt_text *text)
{
    const struct shmt_command_device *const device = &work->device;
    const size_t kernels =
        work->kernel_count / shmt_command_work_models(work);
    const size_t problems = work->display.problems;

    shmt_text_add(text, "tuning ");
    if (problems > 0)
        shmt_text_addf(text, "%zu problem%s of ", problems,
                       shmt_text_plural(problems));
    shmt_text_addf(text, "%zu kernel%s on ", kernels,
                   shmt_text_plural(kernels));
    add_place(device, target, text);
    shmt_text_add(text, ": ");
    shmt_command_budget_tell(&work->budget, text);
    if (device->replayed == NULL)
        add_answers(work, text);
    else
        shmt_text_add(text, ", in simulated time (here about one second for "
                            "each problem)");
    shmt_text_addf(text, "; tunings and journals go to %s",
                   work->options.output);
}

void shmt_command_plan_tell(struct shmt_command_work *work,
                            const struct shmt_target *target)
{
    const char *const name = target->device.name;
    struct shmt_text text = {0};

    if (!work->is_told)
        add_plan(work, target, &text);
    else if (target->recorded && strcmp(work->told, name) != 0)
        shmt_text_addf(&text, "the recorded device of %s is %s",
                       target->kernel->name, name);
    work->is_told = true;
    snprintf(work->told, sizeof work->told, "%s", name);
    if (text.length > 0)
        shmt_display_notice(&work->display, shmt_text_string(&text));
    shmt_text_free(&text);
}
