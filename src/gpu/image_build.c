/* SPDX-License-Identifier: MIT */
/*
 * image_build: the options and names that make an image, its key, and the
 * compile.
 *
 * Options are composed here and in kernel/kernel.c from declared names and
 * numbers; no string of a user's becomes an option.  Folders of headers are
 * not in the key: the text of local headers is in the kernel's digest, and the
 * toolkit's belong to the NVRTC version, which is in it.
 */
#include "gpu/image_build.h"

#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "gpu/report.h"

/* Raised when the same request would give another binary. */
#define RECIPE "image/1"

static const struct shmt_launch *
launches_of(const struct shmt_image_request *request, size_t *count)
{
    *count = request->reference ? request->kernel->reference_count
                                : request->kernel->launch_count;
    return request->reference ? request->kernel->reference
                              : request->kernel->launches;
}

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
    const struct shmt_kernel *kernel = request->kernel;
    size_t launch_count;
    const struct shmt_launch *launches = launches_of(request, &launch_count);
    struct shmt_image_entry *entries =
        shmt_arena_alloc(image->arena, SHMT_KERNEL_LAUNCHES, sizeof *entries);
    enum shmtune_status status = SHMTUNE_OK;
    struct shmt_text text = {0};

    if (entries == NULL)
        return shmt_error_memory(err);
    for (size_t k = 0; k < SHMT_KERNEL_LAUNCHES; k++)
        image->launch_entry[k] = -1;
    image->launch_count = launch_count;
    for (size_t k = 0; k < launch_count && status == SHMTUNE_OK; k++) {
        bool used = true;
        const char *name;

        if (launches[k].when != NULL)
            status = shmt_expr_eval_bool(launches[k].when, request->values,
                                         &used, err);
        if (status != SHMTUNE_OK || !used)
            continue;
        shmt_text_clear(&text);
        status = shmt_kernel_entry(kernel, &launches[k], request->values,
                                   &text, err);
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
                                "see `when` of its launches", kernel->path);
    image->entries = entries;
    return status;
}

/* One option a line, everything that the binary depends on. */
static void write_options(const struct shmt_image_request *request,
                          struct shmt_text *text)
{
    struct shmt_text definitions = {0};
    const char *line, *end;

    shmt_text_addf(text, "--gpu-architecture=%s\n", request->arch);
    shmt_text_addf(text, "-std=%s\n", request->kernel->standard != NULL
                                          ? request->kernel->standard
                                          : "c++17");
    shmt_text_add(text, "-default-device\n--ptxas-options=-v\n-lineinfo\n");
    if (request->kernel->fast_math)
        shmt_text_add(text, "--use_fast_math\n");
    if (request->reference)
        shmt_text_add(text, "-DSHMTUNE_REFERENCE=1\n");
    shmt_kernel_definitions(request->kernel, request->values, &definitions);
    for (line = shmt_text_string(&definitions); *line != '\0'; line = end) {
        end = line + strcspn(line, "\n");
        shmt_text_addf(text, "%s%.*s\n",
                       strncmp(line, "-D", 2) == 0 ? "" : "-D",
                       (int)(end - line), line);
        end += *end == '\n';
    }
    text->failed = text->failed || definitions.failed;
    shmt_text_free(&definitions);
}

static void make_key(const char *source, int nvrtc_version,
                     const struct shmt_text *options, struct shmt_image *image)
{
    struct shmt_digest digest;
    char version[32];

    snprintf(version, sizeof version, "\nnvrtc %d\n", nvrtc_version);
    shmt_digest_begin(&digest);
    shmt_digest_add(&digest, RECIPE "\n", sizeof RECIPE);
    shmt_digest_add(&digest, source, strlen(source));
    shmt_digest_add(&digest, version, strlen(version));
    shmt_digest_add(&digest, options->data, options->length);
    for (size_t k = 0; k < image->entry_count; k++) {
        shmt_digest_add(&digest, image->entries[k].name,
                        strlen(image->entries[k].name));
        shmt_digest_add(&digest, "\n", 1);
    }
    /* Launches of one entry may take turns: the binary is the same, and which
     * launch is which of its functions is not. */
    for (size_t k = 0; k < image->launch_count; k++)
        if (image->launch_entry[k] < 0)
            shmt_digest_add(&digest, &(unsigned char){(unsigned char)k}, 1);
    shmt_digest_end(&digest, image->key);
}

/* Lines to an array, with the folders of headers behind them. */
static enum shmtune_status
list_options(const struct shmt_image_request *request, const char *include,
             const struct shmt_text *text, struct shmt_image_plan *plan,
             struct shmt_error *err)
{
    const struct shmt_kernel *kernel = request->kernel;
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
shmt_image_plan(const struct shmt_image_request *request, const char *include,
                struct shmt_image_plan *out, struct shmt_error *err)
{
    struct shmt_arena *arena = shmt_arena_new();
    struct shmt_image_plan plan = {0};
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
    if (status == SHMTUNE_OK) {
        write_options(request, &options);
        if (options.failed)
            status = shmt_error_memory(err);
    }
    if (status == SHMTUNE_OK) {
        make_key(request->kernel->digest, request->nvrtc_version, &options,
                 plan.image);
        status = list_options(request, include, &options, &plan, err);
    }
    shmt_text_free(&options);
    if (status != SHMTUNE_OK) {
        shmt_arena_free(arena);
        return status;
    }
    plan.kernel = request->kernel;
    plan.name = request->kernel->source;
    plan.source = request->kernel->source_text;
    plan.nvrtc_version = request->nvrtc_version;
    plan.anew = request->anew;
    *out = plan;
    return SHMTUNE_OK;
}

enum shmtune_status shmt_image_plan_text(const struct shmt_image_text *text,
                                         struct shmt_image_plan *out,
                                         struct shmt_error *err)
{
    enum { OPTIONS = 4 };
    struct shmt_arena *arena = shmt_arena_new();
    struct shmt_image_entry *entries = NULL;
    struct shmt_image_plan plan = {
        .name = text->name, .source = text->source,
        .nvrtc_version = text->nvrtc_version, .option_count = OPTIONS,
    };
    struct shmt_text options = {0};

    if (arena != NULL) {
        plan.image = shmt_arena_alloc(arena, 1, sizeof *plan.image);
        plan.options = shmt_arena_alloc(arena, OPTIONS, sizeof *plan.options);
        entries = shmt_arena_alloc(arena, text->entry_count, sizeof *entries);
    }
    shmt_text_addf(&options, "--gpu-architecture=%s", text->arch);
    if (plan.image == NULL || plan.options == NULL || entries == NULL ||
        options.failed)
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
    make_key(text->source, text->nvrtc_version, &options, plan.image);
    shmt_text_free(&options);
    *out = plan;
    return SHMTUNE_OK;
fail:
    shmt_text_free(&options);
    shmt_arena_free(arena);
    return shmt_error_memory(err);
}

/* NVRTC refuses an option: is it a device's architecture that is newer than
 * it, or one that it has given up?  Then another NVRTC is what is missing. */
static enum shmtune_status name_architecture(const struct shmt_image_plan *plan,
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

enum shmtune_status shmt_image_build(const struct shmt_image_plan *plan,
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
        status = name_architecture(plan, nvrtc, err);
    if (status != SHMTUNE_OK)
        return status;
    for (size_t k = 0; k < image->entry_count; k++) {
        entries[k].name = names[k];
        entries[k].lowered = product.lowered[k];
        if (!shmt_report_find(product.log, product.lowered[k],
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
