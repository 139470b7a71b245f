/* SPDX-License-Identifier: MIT */
/*
 * list: what is there: kernels, tunings, recordings, devices, strategies.
 */
#include "config.h"

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

/* One use of the command: where it looks, and where the answer goes. */
struct listing {
    const struct shmt_command_call *call;
    struct shmt_arena *arena;
    struct shmt_catalogue *catalogue;
    json_t *json;            /* NULL: for people */
    struct shmt_text text;   /* for people */
};

/* A file that cannot be read is skipped with a note. */
static void note(const struct listing *listing, const struct shmt_error *why)
{
    if (!listing->call->quiet)
        fprintf(stderr, "shmtune: left out: %s\n", why->text);
}

static void add_section(struct listing *listing, const char *title,
                        const struct shmt_command_table *table)
{
    const bool colour = listing->call->colour;

    if (listing->json != NULL)
        return;
    shmt_text_addf(&listing->text, "%s%s%s%s\n",
                   listing->text.length == 0 ? "" : "\n",
                   shmt_command_begin_paint(SHMT_PAINT_BOLD, colour), title,
                   shmt_command_end_paint(SHMT_PAINT_BOLD, colour));
    if (table->cell_count == 0)
        shmt_text_add(&listing->text, "(none)\n");
    else
        shmt_command_table_add(table, colour, &listing->text);
}

static enum shmtune_status list_kernels(struct listing *listing,
                                        struct shmt_error *err)
{
    static const struct shmt_command_column columns[] = {
        {"name", false}, {"parameters", true}, {"sizes", true},
        {"summary", false}
    };
    struct shmt_command_table table = {.columns = columns, .column_count = 4};
    json_t *array = json_array();

    for (size_t i = 0; i < listing->catalogue->kernel_count; i++) {
        const struct shmt_kernel *kernel =
            listing->catalogue->kernels[i].kernel;

        shmt_command_add_cell(&table, SHMT_PAINT_NONE, "%s", kernel->name);
        shmt_command_add_cell(&table, SHMT_PAINT_NONE, "%zu",
                              kernel->parameter_count);
        shmt_command_add_cell(&table, SHMT_PAINT_NONE, "%zu",
                              kernel->size_count);
        shmt_command_add_cell(&table, SHMT_PAINT_NONE, "%s", kernel->summary);
        json_array_append_new(
            array, json_pack("{s:s, s:o, s:o, s:I, s:I, s:s}", "name",
                             kernel->name, "summary",
                             shmt_json_text(kernel->summary), "spec",
                             shmt_json_text(kernel->path), "parameters",
                             (json_int_t)kernel->parameter_count, "sizes",
                             (json_int_t)kernel->size_count, "digest",
                             kernel->digest));
    }
    (void)err;
    add_section(listing, "kernels", &table);
    json_object_set_new(listing->json, "kernels", array);
    shmt_command_table_free(&table);
    return SHMTUNE_OK;
}

/* The files under FOLDER/tunings/KERNEL of every kernel and folder. */
struct visit {
    const char *suffix;
    void (*file)(struct listing *listing, const struct shmt_kernel *kernel,
                 const char *path, struct visit *visit);
    struct shmt_command_table table;
    json_t *array;
};

static enum shmtune_status visit_folder(struct listing *listing,
                                        const char *folder,
                                        const struct shmt_kernel *kernel,
                                        struct visit *visit)
{
    const char *tunings = shmt_path_join(listing->arena, folder, "tunings");
    const char *place = tunings == NULL
                            ? NULL
                            : shmt_path_join(listing->arena, tunings,
                                             kernel->name);
    const char *const *names;
    size_t count;

    if (place == NULL)
        return SHMTUNE_NO_MEMORY;
    if (shmt_path_list(listing->arena, place, visit->suffix, &names, &count,
                       NULL) != SHMTUNE_OK)
        return SHMTUNE_OK;
    for (size_t i = 0; i < count; i++) {
        const char *path = shmt_path_join(listing->arena, place, names[i]);

        if (path == NULL)
            return SHMTUNE_NO_MEMORY;
        visit->file(listing, kernel, path, visit);
    }
    return SHMTUNE_OK;
}

static enum shmtune_status visit_all(struct listing *listing,
                                     struct visit *visit,
                                     struct shmt_error *err)
{
    const struct shmt_catalogue *catalogue = listing->catalogue;

    for (size_t k = 0; k < catalogue->kernel_count; k++)
        for (size_t f = 0; f < catalogue->folder_count; f++)
            if (visit_folder(listing, catalogue->folders[f],
                             catalogue->kernels[k].kernel, visit) !=
                SHMTUNE_OK)
                return shmt_error_memory(err);
    return SHMTUNE_OK;
}

static void list_tuning(struct listing *listing,
                        const struct shmt_kernel *kernel, const char *path,
                        struct visit *visit)
{
    struct shmt_error why = {0};
    struct shmt_tuning *tuning;

    if (shmt_tuning_read(path, &tuning, &why) != SHMTUNE_OK) {
        note(listing, &why);
        return;
    }
    shmt_command_add_cell(&visit->table, SHMT_PAINT_NONE, "%s", kernel->name);
    shmt_command_add_cell(&visit->table, SHMT_PAINT_NONE, "%s",
                          tuning->device.name);
    shmt_command_add_cell(&visit->table, SHMT_PAINT_NONE, "%zu",
                          tuning->tuned_count);
    shmt_command_add_cell(&visit->table, SHMT_PAINT_NONE, "%.10s",
                          tuning->created);
    shmt_command_add_cell(&visit->table, SHMT_PAINT_DIM, "%s", path);
    json_array_append_new(
        visit->array,
        json_pack("{s:s, s:o, s:I, s:s, s:s, s:o}", "kernel", kernel->name,
                  "device", shmt_json_text(tuning->device.name), "sizes",
                  (json_int_t)tuning->tuned_count, "created", tuning->created,
                  "digest", tuning->digest, "file", shmt_json_text(path)));
    shmt_tuning_free(tuning);
}

static enum shmtune_status list_tunings(struct listing *listing,
                                        struct shmt_error *err)
{
    static const struct shmt_command_column columns[] = {
        {"kernel", false}, {"device", false}, {"sizes", true},
        {"created", false}, {"file", false}
    };
    struct visit visit = {
        ".yaml", list_tuning, {.columns = columns, .column_count = 5},
        json_array()
    };
    const enum shmtune_status status = visit_all(listing, &visit, err);

    add_section(listing, "tunings", &visit.table);
    json_object_set_new(listing->json, "tunings", visit.array);
    shmt_command_table_free(&visit.table);
    return status;
}

static void list_recording(struct listing *listing,
                           const struct shmt_kernel *kernel,
                           const char *path, struct visit *visit)
{
    struct shmt_error why = {0};
    struct shmt_journal_header header;
    struct shmt_text size = {0};

    if (shmt_journal_read_header(path, kernel, &header, &why) != SHMTUNE_OK) {
        note(listing, &why);
        return;
    }
    shmt_kernel_describe_problem(kernel, header.problem, &size);
    json_array_append_new(
        visit->array,
        json_pack("{s:s, s:o, s:o, s:o, s:o}", "kernel", kernel->name,
                  "device", shmt_json_text(header.device.name), "size",
                  shmt_json_problem(kernel, header.problem), "space",
                  shmt_json_count(header.space_count), "file",
                  shmt_json_text(path)));
    shmt_command_add_cell(&visit->table, SHMT_PAINT_NONE, "%s", kernel->name);
    shmt_command_add_cell(&visit->table, SHMT_PAINT_NONE, "%s",
                          header.device.name);
    shmt_command_add_cell(&visit->table, SHMT_PAINT_NONE, "%s",
                          shmt_text_string(&size));
    shmt_command_add_cell(&visit->table, SHMT_PAINT_NONE, "%llu",
                          (unsigned long long)header.space_count);
    shmt_command_add_cell(&visit->table, SHMT_PAINT_DIM, "%s", path);
    shmt_text_free(&size);
}

static enum shmtune_status list_recordings(struct listing *listing,
                                           struct shmt_error *err)
{
    static const struct shmt_command_column columns[] = {
        {"kernel", false}, {"device", false}, {"size", false},
        {"space", true}, {"file", false}
    };
    struct visit visit = {
        ".journal", list_recording, {.columns = columns, .column_count = 5},
        json_array()
    };
    enum shmtune_status status = visit_all(listing, &visit, err);

    visit.suffix = ".journal.gz";
    if (status == SHMTUNE_OK)
        status = visit_all(listing, &visit, err);
    add_section(listing, "recordings", &visit.table);
    json_object_set_new(listing->json, "recordings", visit.array);
    shmt_command_table_free(&visit.table);
    return status;
}

static void add_device(const struct shmtune_device *device, int ordinal,
                       struct shmt_command_table *table, json_t *array)
{
    json_t *object = shmt_json_device(device);
    char arch[16];

    shmt_device_arch_text(device, arch);
    shmt_command_add_cell(table, SHMT_PAINT_NONE, "%d", ordinal);
    shmt_command_add_cell(table, SHMT_PAINT_NONE, "%s", device->name);
    shmt_command_add_cell(table, SHMT_PAINT_NONE, "%s", arch);
    shmt_command_add_cell(table, SHMT_PAINT_NONE, "%.1f GiB",
                          (double)device->memory_bytes / 1073741824.0);
    shmt_command_add_cell(table, SHMT_PAINT_NONE, "%lld KiB",
                          (long long)device->shared_per_block_optin / 1024);
    shmt_command_add_cell(table, SHMT_PAINT_DIM, "%s", device->uuid);
    json_object_set_new(object, "ordinal", json_integer(ordinal));
    json_array_append_new(array, object);
}

static enum shmtune_status list_devices(struct listing *listing,
                                        struct shmt_error *err)
{
    static const struct shmt_command_column columns[] = {
        {"device", true}, {"name", false}, {"arch", false}, {"memory", true},
        {"shared/block", true}, {"uuid", false}
    };
    struct shmt_command_table table = {.columns = columns, .column_count = 6};
    const struct shmt_driver *driver;
    struct shmtune_device device;
    struct shmt_error why = {0};
    json_t *array = json_array();
    int count = 0;

    if (shmt_driver_open(&driver, &why) != SHMTUNE_OK ||
        shmt_driver_device_count(driver, &count, &why) != SHMTUNE_OK)
        count = 0;
    for (int i = 0; i < count; i++) {
        if (shmt_driver_describe_device(driver, i, &device, &why) == SHMTUNE_OK)
            add_device(&device, i, &table, array);
        else
            note(listing, &why);
    }
    (void)err;
    add_section(listing, "devices", &table);
    if (count == 0 && listing->json == NULL)
        shmt_text_addf(&listing->text, "%s\n", why.text);
    json_object_set_new(listing->json, "devices", array);
    shmt_command_table_free(&table);
    return SHMTUNE_OK;
}

static json_t *option_json(const struct shmt_strategy_option *option)
{
    return json_pack("{s:s, s:f, s:f, s:f, s:s}", "name", option->name,
                     "default", option->default_value, "low", option->low,
                     "high",
                     option->high, "help", option->help);
}

/* A row each, below their strategy. */
static json_t *list_options(const struct shmt_strategy_option *option,
                            struct shmt_command_table *table)
{
    json_t *const options = json_array();

    for (; option != NULL && option->name != NULL; option++) {
        shmt_command_add_cell(table, SHMT_PAINT_NONE, "%s", "");
        shmt_command_add_cell(table, SHMT_PAINT_NONE, "%s=%g", option->name,
                              option->default_value);
        shmt_command_add_cell(table, SHMT_PAINT_NONE, "%s (%g to %g)",
                              option->help, option->low, option->high);
        json_array_append_new(options, option_json(option));
    }
    return options;
}

static enum shmtune_status list_strategies(struct listing *listing,
                                           struct shmt_error *err)
{
    static const struct shmt_command_column columns[] = {
        {"name", false}, {"option", false}, {"summary", false}
    };
    struct shmt_command_table table = {.columns = columns, .column_count = 3};
    const struct shmt_strategy *strategy;
    json_t *array = json_array();

    for (size_t k = 0; (strategy = shmt_strategy_at(k)) != NULL; k++) {
        const bool usual = strcmp(strategy->name, shmt_strategy_default) == 0;

        shmt_command_add_cell(&table, SHMT_PAINT_NONE, "%s", strategy->name);
        shmt_command_add_cell(&table, SHMT_PAINT_NONE, "%s",
                              usual ? "(the default)" : "");
        shmt_command_add_cell(&table, SHMT_PAINT_NONE, "%s", strategy->summary);
        json_array_append_new(
            array, json_pack("{s:s, s:s, s:b, s:o}", "name", strategy->name,
                             "summary", strategy->summary, "default", usual,
                             "options",
                             list_options(strategy->options, &table)));
    }
    (void)err;
    add_section(listing, "strategies", &table);
    json_object_set_new(listing->json, "strategies", array);
    shmt_command_table_free(&table);
    return SHMTUNE_OK;
}

static const struct {
    const char *name;
    enum shmtune_status (*list)(struct listing *listing,
                                struct shmt_error *err);
} sections[] = {
    {"kernels", list_kernels},       {"tunings", list_tunings},
    {"recordings", list_recordings}, {"devices", list_devices},
    {"strategies", list_strategies},
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

static enum shmtune_status list_chosen(struct listing *listing,
                                       const bool *chosen,
                                       struct shmt_error *err)
{
    enum shmtune_status status =
        shmt_command_catalogue(&listing->catalogue, err);

    if (status != SHMTUNE_OK)
        return status;
    for (size_t k = 0; k < listing->catalogue->note_count; k++)
        if (!listing->call->quiet)
            fprintf(stderr, "shmtune: note: %s\n",
                    listing->catalogue->notes[k]);
    for (size_t s = 0; status == SHMTUNE_OK && s < SECTIONS; s++)
        if (chosen[s])
            status = sections[s].list(listing, err);
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
    listing.json = json ? json_object() : NULL;
    if (listing.arena == NULL || (json && listing.json == NULL)) {
        status = shmt_error_memory(err);
        goto done;
    }
    status = list_chosen(&listing, chosen, err);
    if (status != SHMTUNE_OK)
        goto done;
    if (json)
        status = shmt_json_print(json_incref(listing.json), err);
    else if (listing.text.failed)
        status = shmt_error_memory(err);
    else
        fputs(shmt_text_string(&listing.text), stdout);

done:
    json_decref(listing.json);
    shmt_text_free(&listing.text);
    shmt_catalogue_close(listing.catalogue);
    shmt_arena_free(listing.arena);
    return status;
}

const struct shmt_command shmt_command_list = {
    "list", "kernels, tunings, recordings, devices, strategies", help, run
};
