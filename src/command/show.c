/* SPDX-License-Identifier: MIT */
/*
 * show: the command `shmtune show`: prints a tuning (show_tuning.c) or a
 * journal (show_journal.c).
 */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "command/command.h"
#include "command/json.h"
#include "command/show.h"
#include "device/device.h"

static const char help[] =
    "usage: shmtune show FILE [--spec SPEC.yaml] [--top N] [--json]\n"
    "\n"
    "Shows a tuning (what was found: a row a problem) or a journal or\n"
    "recording (what was tried: verdicts, the distribution of times, the\n"
    "best).\n"
    "\n"
    "  --spec SPEC.yaml  the kernel of a journal, when it is not built in\n"
    "  --top N           how many of a journal's configurations [10]\n"
    "  --json            everything, as JSON\n"
    "\n"
    "examples:\n"
    "  shmtune show tunings/transpose/sm_90-nvidia-h100-80gb-hbm3.yaml\n"
    "  shmtune show run.journal --spec my_kernel.yaml --top 20\n";

void shmt_show_device(const struct shmtune_device *device,
                      struct shmt_text *text)
{
    char arch[16];

    shmt_device_arch_text(device, arch);
    shmt_text_add(text, device->name);
    if (device->compute_major > 0)
        shmt_text_addf(text, " (%s)", arch);
}

void shmt_show_number(struct shmt_command_table *table, int64_t number)
{
    if (number < 0)
        shmt_command_add_cell(table, SHMT_PAINT_DIM, "-");
    else
        shmt_command_add_cell(table, SHMT_PAINT_NONE, "%" PRId64, number);
}

static enum shmtune_status run(const struct shmt_command_call *call,
                               struct shmt_error *err)
{
    struct shmt_show show = {.top = 10, .colour = call->colour};
    const struct shmt_command_option options[] = {
        {"spec", 0, SHMT_OPTION_TEXT, &show.spec, 0, 0},
        {"top", 0, SHMT_OPTION_INT, &show.top, 0, INT32_MAX},
        {"json", 0, SHMT_OPTION_FLAG, &show.json, 0, 0},
        {NULL, 0, SHMT_OPTION_FLAG, NULL, 0, 0}
    };
    enum shmt_command_format format;
    int rest;
    enum shmtune_status status =
        shmt_command_options(call, options, &rest, err);

    if (status != SHMTUNE_OK)
        return status;
    if (rest != 1)
        return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                              "%d files are given; one is expected", rest);
    show.file = call->words[0];
    status = shmt_command_format_of(show.file, &format, err);
    if (status != SHMTUNE_OK)
        return status;
    if (format == SHMT_FORMAT_SPEC)
        return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                              "%s is a kernel spec: \"shmtune space\", "
                              "\"inspect\" and \"check\" are about those",
                              show.file);
    return format == SHMT_FORMAT_TUNING ? shmt_show_tuning(&show, err)
                                        : shmt_show_journal(&show, err);
}

const struct shmt_command shmt_command_show = {
    "show", "a tuning or a journal as a table", help, run
};
