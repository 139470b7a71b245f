/* SPDX-License-Identifier: MIT */
/*
 * image_build: the options and names that make an image, its key, and the
 * compile.
 *
 * Options are composed here and in kernel/text.c from declared names and
 * numbers; no string of a user's becomes an option.  Folders of headers are
 * not in the key: the text of local headers is in the kernel's digest, and the
 * toolkit's belong to the NVRTC version, which is in it.
 */
#include "gpu/image_build.h"

#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "gpu/ptxas.h"

/* The version of this recipe: it changes when the same request would make
 * another binary. */
#define RECIPE "image/1"

/* The index of `name` among the image's entries, added when it is new. */
static int index_of(struct shmt_image_entry *entries, size_t *count,
                    const char *name)
{
    for (size_t k = 0; k < *count; k++)
        if (strcmp(entries[k].name, name) == 0)
            return (int)k;
    entries[*count].name = name;
    return (int)(*count)++;
}

static enum shmtune_status
name_entries(const struct shmt_image_request *request,
             struct shmt_image *image, struct shmt_error *err)
{
    struct shmt_kernel_evaluated *evaluated = request->evaluated;
    struct shmt_image_entry *entries =
        shmt_arena_alloc(image->arena, SHMT_KERNEL_LAUNCHES, sizeof *entries);
    enum shmtune_status status = SHMTUNE_OK;
    struct shmt_text text = {0};

    if (entries == NULL)
        return shmt_error_memory(err);
    for (size_t k = 0; k < SHMT_KERNEL_LAUNCHES; k++)
        image->launch_entry[k] = -1;
    image->launch_count = evaluated->launch_count;
    for (size_t k = 0; k < image->launch_count && status == SHMTUNE_OK; k++) {
        const char *name;
        bool used;

        status = shmt_kernel_uses_launch(evaluated, k, &used, err);
        if (status != SHMTUNE_OK || !used)
            continue;
        shmt_text_clear(&text);
        status = shmt_kernel_entry(evaluated, k, &text, err);
        if (status != SHMTUNE_OK)
            break;
        name = text.failed ? NULL
                           : shmt_arena_copy(image->arena,
                                             shmt_text_string(&text),
                                             text.length);
        if (name == NULL)
            status = shmt_error_memory(err);
        else
            image->launch_entry[k] = index_of(entries, &image->entry_count,
                                              name);
    }
    shmt_text_free(&text);
    if (status == SHMTUNE_OK && image->entry_count == 0)
        status = shmt_error_set(err, SHMTUNE_INVALID_FILE,
                                "%s: no launch is used in this configuration; "
                                "see `when` of its launches",
                                evaluated->kernel->path);
    image->entries = entries;
    return status;
}

/* One option a line; the definitions come behind them. */
static void write_options(const struct shmt_image_request *request,
                          struct shmt_text *text)
{
    const struct shmt_kernel *kernel = request->evaluated->kernel;

    shmt_text_addf(text, "--gpu-architecture=%s\n", request->arch);
    shmt_text_addf(text, "-std=%s\n",
                   kernel->standard != NULL ? kernel->standard : "c++17");
    shmt_text_add(text, "-default-device\n--ptxas-options=-v\n-lineinfo\n");
    if (kernel->fast_math)
        shmt_text_add(text, "--use_fast_math\n");
}

/* `names` says what is made of the source, and for which launches. */
static void make_key(const char *source, int nvrtc_version,
                     const struct shmt_text *options, const char *names,
                     char key[SHMT_DIGEST_TEXT])
{
    struct shmt_digest digest;
    char version[32];

    snprintf(version, sizeof version, "\nnvrtc %d\n", nvrtc_version);
    shmt_digest_begin(&digest);
    shmt_digest_add(&digest, RECIPE "\n", sizeof RECIPE);
    shmt_digest_add(&digest, source, strlen(source));
    shmt_digest_add(&digest, version, strlen(version));
    shmt_digest_add(&digest, options->data, options->length);
    shmt_digest_add(&digest, names, strlen(names));
    shmt_digest_end(&digest, key);
}

enum shmtune_status shmt_image_key(const struct shmt_image_request *request,
                                   char key[SHMT_DIGEST_TEXT],
                                   struct shmt_error *err)
{
    struct shmt_text options = {0};
    char names[SHMT_DIGEST_TEXT];
    enum shmtune_status status =
        shmt_kernel_binary_key(request->evaluated, names);

    write_options(request, &options);
    if (options.failed || status != SHMTUNE_OK)
        status = shmt_error_memory(err);
    else
        make_key(request->evaluated->kernel->digest, request->nvrtc_version,
                 &options, names, key);
    shmt_text_free(&options);
    return status;
}

/* Lines to an array, with the folders of headers behind them. */
static enum shmtune_status
list_options(const struct shmt_image_request *request, const char *include,
             const struct shmt_text *text, struct shmt_image_recipe *plan,
             struct shmt_error *err)
{
    const struct shmt_kernel *kernel = request->evaluated->kernel;
    struct shmt_arena *arena = plan->image->arena;
    struct shmt_text folder = {0};
    size_t count = 0, room = kernel->include_count + 2;
    const char *end, *option;
    bool whole = true;

    for (size_t i = 0; i < text->length; i++)
        room += text->data[i] == '\n';
    plan->options = shmt_arena_alloc(arena, room, sizeof *plan->options);
    if (plan->options == NULL)
        return shmt_error_memory(err);
    for (const char *line = shmt_text_string(text); *line != '\0';
         line = end + 1) {
        end = strchr(line, '\n');
        plan->options[count++] = shmt_arena_copy(arena, line,
                                                 (size_t)(end - line));
    }
    for (size_t k = 0; k < kernel->include_count + 2; k++) {
        const char *path = k == 0 ? shmt_path_folder(arena, kernel->source)
                           : k <= kernel->include_count
                               ? kernel->includes[k - 1] : include;

        if (path == NULL)
            continue;
        shmt_text_clear(&folder);
        shmt_text_addf(&folder, "-I%s", path);
        option = shmt_arena_copy(arena, shmt_text_string(&folder),
                                 folder.length);
        plan->options[count++] = folder.failed ? NULL : option;
    }
    shmt_text_free(&folder);
    for (size_t k = 0; k < count; k++)
        whole = whole && plan->options[k] != NULL;
    plan->option_count = count;
    return whole ? SHMTUNE_OK : shmt_error_memory(err);
}

enum shmtune_status
shmt_image_recipe_make(const struct shmt_image_request *request,
                       const char *include,
                       struct shmt_image_recipe *out, struct shmt_error *err)
{
    struct shmt_arena *arena = shmt_arena_new();
    struct shmt_image_recipe plan = {0};
    struct shmt_text options = {0};
    enum shmtune_status status;

    if (arena != NULL)
        plan.image = shmt_arena_alloc(arena, 1, sizeof *plan.image);
    if (plan.image == NULL) {
        shmt_arena_free(arena);
        return shmt_error_memory(err);
    }
    plan.image->arena = arena;
    status = name_entries(request, plan.image, err);
    if (status == SHMTUNE_OK)
        status = shmt_image_key(request, plan.image->key, err);
    write_options(request, &options);
    shmt_kernel_definitions(request->evaluated, &options);
    if (status == SHMTUNE_OK && options.failed)
        status = shmt_error_memory(err);
    if (status == SHMTUNE_OK)
        status = list_options(request, include, &options, &plan, err);
    shmt_text_free(&options);
    if (status != SHMTUNE_OK) {
        shmt_arena_free(arena);
        return status;
    }
    plan.kernel = request->evaluated->kernel;
    plan.name = plan.kernel->source;
    plan.source = plan.kernel->source_text;
    plan.nvrtc_version = request->nvrtc_version;
    plan.recompile = request->recompile;
    *out = plan;
    return SHMTUNE_OK;
}

enum shmtune_status
shmt_image_recipe_from_text(const struct shmt_image_text *text,
                            struct shmt_image_recipe *out,
                            struct shmt_error *err)
{
    enum { OPTIONS = 4 };
    struct shmt_arena *arena = shmt_arena_new();
    struct shmt_image_entry *entries = NULL;
    struct shmt_image_recipe plan = {
        .name = text->name, .source = text->source,
        .nvrtc_version = text->nvrtc_version, .option_count = OPTIONS,
    };
    struct shmt_text options = {0}, names = {0};

    if (arena != NULL) {
        plan.image = shmt_arena_alloc(arena, 1, sizeof *plan.image);
        plan.options = shmt_arena_alloc(arena, OPTIONS, sizeof *plan.options);
        entries = shmt_arena_alloc(arena, text->entry_count, sizeof *entries);
    }
    shmt_text_addf(&options, "--gpu-architecture=%s", text->arch);
    for (size_t k = 0; k < text->entry_count; k++)
        shmt_text_addf(&names, "\nentry %s", text->entries[k]);
    if (plan.image == NULL || plan.options == NULL || entries == NULL ||
        options.failed || names.failed)
        goto fail;
    plan.options[0] = shmt_arena_copy(arena, options.data, options.length);
    plan.options[1] = "-std=c++17";
    plan.options[2] = "-default-device";
    plan.options[3] = "--ptxas-options=-v";
    for (size_t k = 0; k < SHMT_KERNEL_LAUNCHES; k++)
        plan.image->launch_entry[k] = k < text->entry_count ? (int)k : -1;
    for (size_t k = 0; k < text->entry_count; k++)
        entries[k].name = text->entries[k];
    plan.image->arena = arena;
    plan.image->launch_count = text->entry_count;
    plan.image->entry_count = text->entry_count;
    plan.image->entries = entries;
    if (plan.options[0] == NULL)
        goto fail;
    make_key(text->source, text->nvrtc_version, &options,
             shmt_text_string(&names), plan.image->key);
    shmt_text_free(&options);
    shmt_text_free(&names);
    *out = plan;
    return SHMTUNE_OK;
fail:
    shmt_text_free(&options);
    shmt_text_free(&names);
    shmt_arena_free(arena);
    return shmt_error_memory(err);
}

/* NVRTC refused an option.  If that is the architecture, the device is too new
 * or too old for this NVRTC, and the message says that another NVRTC is
 * needed. */
static enum shmtune_status
explain_architecture(const struct shmt_image_recipe *plan,
                     const struct shmt_nvrtc *nvrtc,
                     struct shmt_error *err)
{
    const char *flag = plan->options[0], *arch = strchr(flag, '=');

    if (err == NULL || arch == NULL ||
        strstr(err->text, "--gpu-architecture") == NULL)
        return SHMTUNE_INVALID_ARGUMENT;
    return shmt_error_set(err, SHMTUNE_NOT_FOUND,
                          "NVRTC %d.%d (%s) does not know the architecture "
                          "%s; name one that does in $SHMTUNE_NVRTC",
                          nvrtc->version / 1000, nvrtc->version % 1000 / 10,
                          nvrtc->path, arch + 1);
}

enum shmtune_status shmt_image_build(const struct shmt_image_recipe *plan,
                                     const struct shmt_nvrtc *nvrtc,
                                     struct shmt_error *err)
{
    struct shmt_image *image = plan->image;
    const char *names[SHMT_KERNEL_LAUNCHES];
    struct shmt_image_entry *entries =
        shmt_arena_alloc(image->arena, image->entry_count, sizeof *entries);
    struct shmt_nvrtc_product product;
    const struct shmt_nvrtc_job job = {
        .name = plan->name, .source = plan->source,
        .option_count = plan->option_count, .options = plan->options,
        .entry_count = image->entry_count, .entries = names,
    };
    enum shmtune_status status;

    if (entries == NULL)
        return shmt_error_memory(err);
    if (plan->source == NULL)
        return shmt_error_set(err, SHMTUNE_INVALID_FILE,
                              "the spec has no source to compile");
    if (plan->nvrtc_version != 0 && nvrtc->version != plan->nvrtc_version)
        return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                              "a binary of NVRTC %d was asked for, this one "
                              "is %d", plan->nvrtc_version, nvrtc->version);
    for (size_t k = 0; k < image->entry_count; k++)
        names[k] = image->entries[k].name;
    status = shmt_nvrtc_compile(nvrtc, &job, image->arena, &product, err);
    if (status == SHMTUNE_INVALID_ARGUMENT)
        status = explain_architecture(plan, nvrtc, err);
    if (status != SHMTUNE_OK)
        return status;
    for (size_t k = 0; k < image->entry_count; k++) {
        entries[k].name = names[k];
        entries[k].lowered = product.lowered[k];
        if (!shmt_ptxas_resources(product.log, product.lowered[k],
                                  &entries[k].resources))
            return shmt_error_set(err, SHMTUNE_INTERNAL,
                                  "NVRTC %d reported no resources of \"%s\" "
                                  "(%s)", nvrtc->version, names[k],
                                  product.lowered[k]);
    }
    image->entries = entries;
    image->cubin = product.cubin;
    image->cubin_size = product.cubin_size;
    image->compile_ms = product.elapsed_ms;
    return SHMTUNE_OK;
}
