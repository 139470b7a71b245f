/* SPDX-License-Identifier: MIT */
/*
 * tune_work: what `shmtune tune` does with the problems of a campaign
 * (tune/campaign.h): opens the devices, gives each run its options, and keeps
 * and shows what became of it.
 */
#ifndef SHMT_COMMAND_TUNE_WORK_H
#define SHMT_COMMAND_TUNE_WORK_H

#include "command/command.h"
#include "command/figures.h"
#include "command/tune_budget.h"
#include "command/tune_device.h"
#include "command/tune_report.h"
#include "command/tune_show.h"
#include "command/tune_wanted.h"
#include "tune/tune.h"

struct shmt_command_tune_options {
    const char *device, *strategy, *budget, *total, *output, *record,
        *report, *plot, *wanted;
    struct shmt_command_repeats sizes, also, from;
    struct shmt_command_figures figures;
    int64_t jobs, seed, data_seed, max_spill, min_occupancy, compile_s;
    bool warm, resume, json, progress;
    struct shmt_command_far far;
    struct shmt_command_limits limits;
};

/* What a lane of the campaign is busy with. */
struct shmt_command_slot {
    struct shmt_command_work *work;
    size_t lane;
    struct shmt_output_paths place;
    struct shmt_winners warm_start;   /* as it was when the run began */
    struct shmt_tune_observer observer;
    char what[320];                   /* kernel and size, before notices; "" */
    char mark[48];                    /* before its progress; "" */
};

/* One use of the command. */
struct shmt_command_work {
    const struct shmt_command_call *call;
    struct shmt_command_tune_options options;
    struct shmt_command_budget budget;
    struct shmt_command_wanted wanted;
    double began_s;                /* on shmt_clock_s */
    struct shmt_arena *arena;
    struct shmt_command_device device;
    struct shmt_display display;
    struct shmt_sheet sheet;
    struct shmt_command_page page;
    struct shmt_campaign_kernel *kernels;
    size_t kernel_count, kernel_room;
    struct shmt_command_slot *slots;   /* of each lane */
    size_t slot_count;
    bool is_told;                  /* what will be done, */
    char told[256];                /* and of which device that was */
    size_t left;                   /* problems that did not begin, */
    struct shmt_error left_reason; /* for the same reason */
    struct shmt_error failure;     /* the failure that decides the exit
                                      status: the one that ended the run,
                                      else the first */
};

/* How many devices there are: a recorded one is one. */
size_t shmt_command_work_devices(const struct shmt_command_work *work);
/* How many models of devices there are; each has every kernel. */
size_t shmt_command_work_models(const struct shmt_command_work *work);
/* How many problems there are for one device at most, when those of a model
 * share its own. */
size_t shmt_command_work_most(const struct shmt_command_work *work);
/* How many problems a device has at a time: a recorded one, or one of another
 * machine, one. */
size_t shmt_command_work_together(const struct shmt_command_work *work);

/* Adds the problems of a kernel, on each model of the devices.  The kernel has
 * to stay. */
enum shmtune_status shmt_command_work_add(struct shmt_command_work *work,
                                          const struct shmt_kernel *kernel,
                                          struct shmt_error *err);

/* Whether --plot, which draws one run, is not given or there is one. */
enum shmtune_status
shmt_command_work_check_plot(const struct shmt_command_work *work,
                             size_t problems, struct shmt_error *err);

/* Tunes all of them. */
enum shmtune_status shmt_command_work_run(struct shmt_command_work *work,
                                          struct shmt_error *err);

/* Frees what those calls have made. */
void shmt_command_work_end(struct shmt_command_work *work);

#endif
