/* SPDX-License-Identifier: MIT */
/*
 * list: what is there: kernels, tunings, recordings, devices, strategies.
 */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "command/command.h"
#include "command/json.h"
#include "device/device.h"
#include "gpu/gpu.h"
#include "record/record.h"
#include "search/search.h"

static const char help[] =
    "usage: shmtune list [kernels|tunings|recordings|devices|strategies]...\n"
    "                    [--json]\n"
    "\n"
    "Shows what is there; everything when nothing is named. Kernels and\n"
    "tunings are looked for in the folders of $SHMTUNE_PATH (separated by\n"
    "':'), the user's ($XDG_DATA_HOME/shmtune or ~/.local/share/shmtune) and\n"
    "the installed one, each with kernels/ and tunings/ inside.\n"
    "\n"
    "examples:\n"
    "  shmtune list\n"
    "  shmtune list kernels strategies\n"
    "  shmtune list tunings --json\n";

/* One use of the command: where it looks, and the section at hand. */
struct listing {
    const struct shmt_command_call *call;
    struct shmt_arena *arena;
    struct shmt_catalogue *catalogue;
    struct shmt_table table;     /* for people */
    json_t *array;               /* for --json */
    struct shmt_error why;       /* what stands below an empty section */
    struct shmt_error *err;      /* of the command */
};

/* A file that cannot be read is skipped with a note.  Without memory it is
 * not known what the file is. */
static enum shmtune_status note(const struct listing *listing,
                                const struct shmt_error *why)
{
    if (why->status == SHMTUNE_NO_MEMORY)
        return shmt_error_memory(listing->err);
    if (!listing->call->quiet)
        shmt_command_tell("left out: ", why->text);
    return SHMTUNE_OK;
}

static enum shmtune_status list_kernels(struct listing *listing)
{
    for (size_t i = 0; i < listing->catalogue->kernel_count; i++) {
        const struct shmt_kernel *kernel =
            listing->catalogue->kernels[i].kernel;
        const bool is_host =
            kernel->launch_count > 0 && kernel->launches[0].host;

        shmt_table_add(&listing->table, "%s", kernel->name);
        shmt_table_add(&listing->table, "%zu", kernel->parameter_count);
        shmt_table_add(&listing->table, "%zu", kernel->size_count);
        shmt_table_add(&listing->table, "%s%s", kernel->summary,
                       is_host ? " (of the host)" : "");
        json_array_append_new(listing->array, shmt_json_object(
            "name", shmt_json_text(kernel->name),
            "summary", shmt_json_text(kernel->summary),
            "spec", shmt_json_text(kernel->path),
            "parameters", shmt_json_count(kernel->parameter_count),
            "sizes", shmt_json_count(kernel->size_count),
            "host", json_boolean(is_host),
            "digest", shmt_json_text(kernel->digest), NULL));
    }
    return SHMTUNE_OK;
}

/* Lists one file of a kernel. */
typedef enum shmtune_status visitor(struct listing *listing,
                                    const struct shmt_kernel *kernel,
                                    const char *path);

/* Those of the files FOLDER/tunings/KERNEL/...SUFFIX of one kernel. */
static enum shmtune_status visit_folder(struct listing *listing,
                                        const char *folder,
                                        const struct shmt_kernel *kernel,
                                        const char *suffix, visitor *visit)
{
    const char *tunings = shmt_path_join(listing->arena, folder, "tunings");
    const char *place = tunings == NULL
                            ? NULL
                            : shmt_path_join(listing->arena, tunings,
                                             kernel->name);
    const char *const *names;
    struct shmt_error why = {0};
    enum shmtune_status status;
    size_t count;

    if (place == NULL)
        return shmt_error_memory(listing->err);
    status = shmt_path_list(listing->arena, place, suffix, &names, &count,
                            &why);
    if (status == SHMTUNE_NOT_FOUND)
        return SHMTUNE_OK;
    if (status != SHMTUNE_OK)
        return note(listing, &why);
    for (size_t i = 0; status == SHMTUNE_OK && i < count; i++) {
        const char *path = shmt_path_join(listing->arena, place, names[i]);

        status = path == NULL ? shmt_error_memory(listing->err)
                              : visit(listing, kernel, path);
    }
    return status;
}

/* The files with that suffix of every kernel and folder. */
static enum shmtune_status visit_all(struct listing *listing,
                                     const char *suffix, visitor *visit)
{
    const struct shmt_catalogue *catalogue = listing->catalogue;
    enum shmtune_status status = SHMTUNE_OK;

    for (size_t k = 0; k < catalogue->kernel_count; k++)
        for (size_t f = 0; status == SHMTUNE_OK && f < catalogue->folder_count;
             f++)
            status = visit_folder(listing, catalogue->folders[f],
                                  catalogue->kernels[k].kernel, suffix, visit);
    return status;
}

static enum shmtune_status list_tuning(struct listing *listing,
                                       const struct shmt_kernel *kernel,
                                       const char *path)
{
    struct shmt_table *const table = &listing->table;
    struct shmt_error why = {0};
    struct shmt_tuning *tuning;

    if (shmt_tuning_read(path, &tuning, &why) != SHMTUNE_OK)
        return note(listing, &why);
    shmt_table_add(table, "%s", kernel->name);
    shmt_table_add(table, "%s", tuning->device.name);
    shmt_table_add(table, "%zu", tuning->tuned_count);
    shmt_table_add(table, "%.10s", tuning->created);
    shmt_table_paint(table, SHMT_PAINT_DIM, "%s", path);
    json_array_append_new(listing->array, shmt_json_object(
        "kernel", shmt_json_text(kernel->name),
        "device", shmt_json_device(&tuning->device),
        "sizes", shmt_json_count(tuning->tuned_count),
        "created", shmt_json_text(tuning->created),
        "digest", shmt_json_text(tuning->digest),
        "file", shmt_json_text(path), NULL));
    shmt_tuning_free(tuning);
    return SHMTUNE_OK;
}

static enum shmtune_status list_tunings(struct listing *listing)
{
    return visit_all(listing, ".yaml", list_tuning);
}

static enum shmtune_status list_recording(struct listing *listing,
                                          const struct shmt_kernel *kernel,
                                          const char *path)
{
    struct shmt_table *const table = &listing->table;
    struct shmt_error why = {0};
    struct shmt_journal_header header;
    struct shmt_text size = {0};

    if (shmt_journal_read_header(path, kernel, &header, &why) != SHMTUNE_OK)
        return note(listing, &why);
    shmt_kernel_describe_problem(kernel, header.problem, &size);
    json_array_append_new(listing->array, shmt_json_object(
        "kernel", shmt_json_text(kernel->name),
        "device", shmt_json_device(&header.device),
        "size", shmt_json_problem(kernel, header.problem),
        "space", shmt_json_count(header.space_count),
        "file", shmt_json_text(path), NULL));
    shmt_table_add(table, "%s", kernel->name);
    shmt_table_add(table, "%s", header.device.name);
    shmt_table_add_text(table, &size);
    shmt_table_add(table, "%" PRIu64, header.space_count);
    shmt_table_paint(table, SHMT_PAINT_DIM, "%s", path);
    return SHMTUNE_OK;
}

static enum shmtune_status list_recordings(struct listing *listing)
{
    const enum shmtune_status status =
        visit_all(listing, ".journal", list_recording);

    return status == SHMTUNE_OK
               ? visit_all(listing, ".journal.gz", list_recording)
               : status;
}

static void add_device(struct listing *listing, int ordinal,
                       const struct shmtune_device *device)
{
    struct shmt_table *const table = &listing->table;
    json_t *object = shmt_json_device(device);
    char arch[16];

    shmt_device_arch_text(device, arch);
    shmt_table_add(table, "%d", ordinal);
    shmt_table_add(table, "%s", device->name);
    shmt_table_add(table, "%s", arch);
    shmt_table_add(table, "%.1f GiB",
                   (double)device->memory_bytes / 1073741824.0);
    shmt_table_add(table, "%lld KiB",
                   (long long)device->shared_per_block_optin / 1024);
    shmt_table_paint(table, SHMT_PAINT_DIM, "%s", device->uuid);
    json_object_set_new(object, "ordinal", json_integer(ordinal));
    json_array_append_new(listing->array, object);
}

static enum shmtune_status list_devices(struct listing *listing)
{
    const struct shmt_driver *driver;
    struct shmtune_device device;
    enum shmtune_status status = SHMTUNE_OK;
    int count = 0;

    if (shmt_driver_open(&driver, &listing->why) != SHMTUNE_OK ||
        shmt_driver_device_count(driver, &count, &listing->why) != SHMTUNE_OK)
        count = 0;
    if (count == 0 && listing->why.status == SHMTUNE_NO_MEMORY)
        status = shmt_error_memory(listing->err);
    for (int i = 0; status == SHMTUNE_OK && i < count; i++) {
        if (shmt_driver_describe_device(driver, i, &device, &listing->why) ==
            SHMTUNE_OK)
            add_device(listing, i, &device);
        else
            status = note(listing, &listing->why);
    }
    if (count > 0)
        listing->why.text[0] = '\0';
    return status;
}

/* A row each, below their strategy. */
static json_t *list_options(const struct shmt_strategy_option *option,
                            struct shmt_table *table)
{
    json_t *const options = json_array();

    for (; option != NULL && option->name != NULL; option++) {
        shmt_table_add(table, "%s", "");
        shmt_table_add(table, "%s=%g", option->name, option->default_value);
        shmt_table_add(table, "%s (%g to %g)", option->help, option->low,
                       option->high);
        json_array_append_new(options, shmt_json_object(
            "name", shmt_json_text(option->name),
            "default", json_real(option->default_value),
            "low", json_real(option->low),
            "high", json_real(option->high),
            "help", shmt_json_text(option->help), NULL));
    }
    return options;
}

static enum shmtune_status list_strategies(struct listing *listing)
{
    const struct shmt_strategy *strategy;

    for (size_t k = 0; (strategy = shmt_strategy_at(k)) != NULL; k++) {
        const bool usual = strcmp(strategy->name, shmt_strategy_default) == 0;

        shmt_table_add(&listing->table, "%s", strategy->name);
        shmt_table_add(&listing->table, "%s", usual ? "(the default)" : "");
        shmt_table_add(&listing->table, "%s", strategy->summary);
        json_array_append_new(listing->array, shmt_json_object(
            "name", shmt_json_text(strategy->name),
            "summary", shmt_json_text(strategy->summary),
            "default", json_boolean(usual),
            "options", list_options(strategy->options, &listing->table),
            NULL));
    }
    return SHMTUNE_OK;
}

static const struct {
    const char *name, *titles;
    enum shmtune_status (*list)(struct listing *listing);
} sections[] = {
    {"kernels", "name|>parameters|>sizes|summary", list_kernels},
    {"tunings", "kernel|device|>sizes|created|_file", list_tunings},
    {"recordings", "kernel|device|size|>space|_file", list_recordings},
    {"devices", ">device|name|arch|>memory|>shared/block|_uuid", list_devices},
    {"strategies", "name|option|summary", list_strategies},
};

enum { SECTIONS = sizeof sections / sizeof sections[0] };

static enum shmtune_status choose_sections(const struct shmt_command_call *call,
                                           int count, bool *chosen,
                                           struct shmt_error *err)
{
    for (size_t s = 0; s < SECTIONS; s++)
        chosen[s] = count == 0;
    for (int i = 0; i < count; i++) {
        bool known = false;

        for (size_t s = 0; s < SECTIONS; s++)
            if (strcmp(call->words[i], sections[s].name) == 0)
                known = chosen[s] = true;
        if (!known)
            return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                                  "\"%.64s\" is not among kernels, tunings, "
                                  "recordings, devices, strategies",
                                  call->words[i]);
    }
    return SHMTUNE_OK;
}

/* Adds section `s` to the text for people and to the document of --json. */
static enum shmtune_status list_section(struct listing *listing, size_t s,
                                        struct shmt_text *text, json_t *json)
{
    const bool colour = listing->call->colour;
    enum shmtune_status status;

    listing->table = (struct shmt_table){.titles = sections[s].titles};
    listing->array = json_array();
    listing->why = (struct shmt_error){0};
    status = sections[s].list(listing);
    json_object_set_new(json, sections[s].name, listing->array);
    shmt_text_addf(text, "%s%s%s%s\n", text->length == 0 ? "" : "\n",
                   shmt_command_begin_paint(SHMT_PAINT_BOLD, colour),
                   sections[s].name,
                   shmt_command_end_paint(SHMT_PAINT_BOLD, colour));
    if (listing->table.cell_count == 0 && !listing->table.failed)
        shmt_text_add(text, "(none)\n");
    else
        shmt_table_end(&listing->table, listing->call, text);
    shmt_text_add_visible(text, listing->why.text);
    if (listing->why.text[0] != '\0')
        shmt_text_add(text, "\n");
    return status;
}

static enum shmtune_status list_chosen(struct listing *listing,
                                       const bool *chosen, bool json,
                                       struct shmt_error *err)
{
    json_t *const root = json_object();
    struct shmt_text text = {0};
    enum shmtune_status status =
        shmt_command_catalogue(&listing->catalogue, err);

    listing->err = err;
    for (size_t k = 0; status == SHMTUNE_OK &&
                       k < listing->catalogue->note_count; k++)
        if (!listing->call->quiet)
            shmt_command_tell("note: ", listing->catalogue->notes[k]);
    for (size_t s = 0; status == SHMTUNE_OK && s < SECTIONS; s++)
        if (chosen[s])
            status = list_section(listing, s, &text, root);
    if (status == SHMTUNE_OK)
        status = json ? shmt_json_print("list", json_incref(root), err)
                      : shmt_command_print_lines(&text, listing->call, err);
    json_decref(root);
    shmt_text_free(&text);
    return status;
}

static enum shmtune_status run(const struct shmt_command_call *call,
                               struct shmt_error *err)
{
    bool json = false, chosen[SECTIONS];
    const struct shmt_command_option options[] = {
        {"json", 0, SHMT_OPTION_FLAG, &json, 0, 0},
        {NULL, 0, SHMT_OPTION_FLAG, NULL, 0, 0}
    };
    struct listing listing = {.call = call};
    int rest;
    enum shmtune_status status =
        shmt_command_options(call, options, &rest, err);

    if (status == SHMTUNE_OK)
        status = choose_sections(call, rest, chosen, err);
    if (status != SHMTUNE_OK)
        return status;
    listing.arena = shmt_arena_new();
    status = listing.arena == NULL ? shmt_error_memory(err)
                                   : list_chosen(&listing, chosen, json, err);
    shmt_catalogue_close(listing.catalogue);
    shmt_arena_free(listing.arena);
    return status;
}

const struct shmt_command shmt_command_list = {
    "list", "kernels, tunings, recordings, devices, strategies", help, run
};
