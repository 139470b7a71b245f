/* SPDX-License-Identifier: MIT */
/*
 * image: the options and names that make an image and its key, the compile, the
 * check of the arguments that the spec passes against the kernel's parameters,
 * and getting an image from a folder, which image_store.c reads and writes.
 *
 * Options are composed here and in kernel/text.c from declared names and
 * numbers, and of what the spec gives as options; nothing of a tuning or a
 * journal becomes one.  Folders of headers are
 * not in the key: the text of local headers is in the kernel's digest, and the
 * toolkit's belong to the version of NVRTC, or to that of a toolkit that the
 * spec names, which are in it.
 */
#include "gpu/image.h"

#include <stdio.h>
#include <string.h>

#include "device/device.h"
#include "gpu/cubin.h"
#include "gpu/image_store.h"
#include "gpu/ptxas.h"
#include "gpu/variable.h"

/* The version of this recipe: it changes when the same request would make
 * another binary. */
#define RECIPE "image/1"

/* Everything that decides what the binary is, in the image's arena. */
struct recipe {
    struct shmt_image *image;      /* key, launch_entry, names are set */
    const struct shmt_kernel *kernel;   /* NULL: of source of our own */
    const struct shmt_kernel_code *code;   /* the same */
    const char *name;              /* of the source */
    const char *source;            /* NULL: there is none to compile */
    int nvrtc_version;             /* 0: whichever */
    bool by_nvcc;
    const struct shmt_nvcc *nvcc;  /* then; NULL: there is none */
    bool recompile;                /* see shmt_image_request */
    bool keep_ptx;                 /* the same */
    bool private_folder;           /* the same */
    struct shmt_nvrtc_once *once;  /* the same */
    size_t option_count;
    const char **options;
};

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
        status = shmt_kernel_entry(evaluated, k, &text, err);
        if (status != SHMTUNE_OK)
            break;
        name = shmt_text_keep(&text, image->arena);
        if (name == NULL)
            status = shmt_error_memory(err);
        else
            image->launch_entry[k] = index_of(entries, &image->entry_count,
                                              name);
    }
    shmt_text_free(&text);
    image->host = shmt_kernel_is_host(evaluated);
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
    for (size_t k = 0; k < kernel->option_count; k++)
        shmt_text_addf(text, "%s\n", kernel->options[k]);
}

/* `names` says what is made of the source, and for which launches. */
static void make_key(const char *source, const char *version,
                     const struct shmt_text *options, const char *names,
                     char key[SHMT_DIGEST_TEXT])
{
    struct shmt_digest digest;

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
    char names[SHMT_DIGEST_TEXT], version[32];
    enum shmtune_status status =
        shmt_kernel_binary_key(request->evaluated, names);

    snprintf(version, sizeof version, "\n%s %d\n",
             request->evaluated->kernel->nvcc ? "nvcc" : "nvrtc",
             request->nvrtc_version);
    write_options(request, &options);
    /* As the compiler's version, and left out with it. */
    if (request->nvrtc_version != 0 &&
        request->evaluated->kernel->toolkit_version != 0)
        shmt_text_addf(&options, "toolkit %d\n",
                       request->evaluated->kernel->toolkit_version);
    if (shmt_kernel_is_host(request->evaluated) && request->nvcc != NULL &&
        request->nvcc->host != NULL)
        shmt_text_addf(&options, "host compiler %s\n", request->nvcc->host);
    if (options.failed || status != SHMTUNE_OK)
        status = shmt_error_memory(err);
    else
        make_key(request->evaluated->kernel->digest, version, &options, names,
                 key);
    shmt_text_free(&options);
    return status;
}

/* Lines to an array, with the folders of the kernel's headers behind them. */
static enum shmtune_status list_options(const struct shmt_text *text,
                                        const char *include,
                                        struct recipe *plan,
                                        struct shmt_error *err)
{
    const struct shmt_kernel *kernel = plan->kernel;
    const size_t own = kernel == NULL ? 0 : plan->code->file_count;
    const size_t folders =
        kernel == NULL ? 0 : own + kernel->include_count + 1;
    struct shmt_arena *arena = plan->image->arena;
    struct shmt_text folder = {0};
    size_t count = 0, room = folders;
    const char *end;
    bool whole = true;

    if (text->failed)
        return shmt_error_memory(err);
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
    for (size_t k = 0; k < folders; k++) {
        const char *path =
            k < own ? shmt_path_folder(arena, plan->code->files[k].path)
            : k < own + kernel->include_count ? kernel->includes[k - own]
                                              : include;

        if (path == NULL)
            continue;
        shmt_text_addf(&folder, "-I%s", path);
        plan->options[count++] = shmt_text_keep(&folder, arena);
    }
    for (size_t k = 0; k < count; k++)
        whole = whole && plan->options[k] != NULL;
    plan->option_count = count;
    return whole ? SHMTUNE_OK : shmt_error_memory(err);
}

static enum shmtune_status new_image(struct recipe *plan,
                                     struct shmt_error *err)
{
    struct shmt_arena *arena = shmt_arena_new();

    plan->image = arena == NULL
                      ? NULL : shmt_arena_alloc(arena, 1, sizeof *plan->image);
    if (plan->image == NULL) {
        shmt_arena_free(arena);
        return shmt_error_memory(err);
    }
    plan->image->arena = arena;
    return SHMTUNE_OK;
}

/* In the image's arena; NULL: there is none, or no memory. */
static const char *source_name(const struct shmt_kernel_code *code,
                               struct shmt_arena *arena)
{
    struct shmt_text text = {0};

    if (code->file_count == 0)
        return NULL;
    shmt_text_add_source_name(&text, code->files[0].path);
    return shmt_text_keep(&text, arena);
}

/* A new image with its key, names and which launch uses which; and the options
 * to compile it with, `include` among them when not NULL. */
static enum shmtune_status
make_recipe(const struct shmt_image_request *request, const char *include,
            struct recipe *out, struct shmt_error *err)
{
    const struct shmt_kernel *kernel = request->evaluated->kernel;
    const struct shmt_kernel_code *code =
        shmt_kernel_code_of(request->evaluated);
    struct recipe plan = {
        .kernel = kernel, .code = code,
        .nvrtc_version = request->nvrtc_version,
        .recompile = request->recompile, .keep_ptx = request->keep_ptx,
        .by_nvcc = kernel->nvcc, .nvcc = request->nvcc,
        .private_folder = request->private_folder, .once = request->once,
    };
    struct shmt_text options = {0};
    enum shmtune_status status = new_image(&plan, err);

    if (status != SHMTUNE_OK)
        return status;
    plan.name = source_name(code, plan.image->arena);
    if (plan.name == NULL && code->file_count > 0)
        status = shmt_error_memory(err);
    if (status == SHMTUNE_OK)
        status = name_entries(request, plan.image, err);
    if (status == SHMTUNE_OK)
        status = shmt_kernel_source_text(request->evaluated, plan.image->arena,
                                         &plan.source, err);
    if (status == SHMTUNE_OK)
        status = shmt_image_key(request, plan.image->key, err);
    write_options(request, &options);
    shmt_kernel_definitions(request->evaluated, true, &options);
    if (status == SHMTUNE_OK)
        status = list_options(&options, include, &plan, err);
    shmt_text_free(&options);
    if (status == SHMTUNE_OK)
        *out = plan;
    else
        shmt_image_free(plan.image);
    return status;
}

/* The same for source of our own. */
static enum shmtune_status make_text_recipe(const struct shmt_image_text *text,
                                            struct recipe *out,
                                            struct shmt_error *err)
{
    struct recipe plan = {
        .name = text->name, .source = text->source,
        .nvrtc_version = text->nvrtc_version,
    };
    struct shmt_text options = {0}, names = {0};
    char version[32];
    struct shmt_image_entry *entries;
    enum shmtune_status status = new_image(&plan, err);

    if (status != SHMTUNE_OK)
        return status;
    entries = shmt_arena_alloc(plan.image->arena, text->entry_count,
                               sizeof *entries);
    shmt_text_addf(&options, "--gpu-architecture=%s\n-std=c++17\n"
                   "-default-device\n--ptxas-options=-v\n", text->arch);
    for (size_t k = 0; k < SHMT_KERNEL_LAUNCHES; k++)
        plan.image->launch_entry[k] = k < text->entry_count ? (int)k : -1;
    for (size_t k = 0; entries != NULL && k < text->entry_count; k++) {
        entries[k].name = text->entries[k];
        shmt_text_addf(&names, "\nentry %s", text->entries[k]);
    }
    snprintf(version, sizeof version, "\nnvrtc %d\n", text->nvrtc_version);
    plan.image->launch_count = plan.image->entry_count = text->entry_count;
    plan.image->entries = entries;
    if (entries == NULL || names.failed)
        status = shmt_error_memory(err);
    if (status == SHMTUNE_OK)
        status = list_options(&options, NULL, &plan, err);
    if (status == SHMTUNE_OK)
        make_key(text->source, version, &options, shmt_text_string(&names),
                 plan.image->key);
    shmt_text_free(&options);
    shmt_text_free(&names);
    if (status == SHMTUNE_OK)
        *out = plan;
    else
        shmt_image_free(plan.image);
    return status;
}

/* NVRTC refused an option.  If that is the architecture, the device is too new
 * or too old for this NVRTC, and the message says that another NVRTC is
 * needed. */
static enum shmtune_status
explain_architecture(const struct recipe *plan,
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

/* Whether the spec gives options of its own, which may be what the compiler
 * refuses. */
static bool has_options(const struct shmt_kernel *kernel)
{
    bool found = kernel != NULL && kernel->option_count > 0;

    for (size_t p = 0; kernel != NULL && p < kernel->parameter_count; p++)
        found = found || kernel->parameters[p].options != NULL;
    return found;
}

static const struct shmt_resources unknown = {-1, -1, -1, -1, -1, -1, -1};

/* Compiles: fills in the binary and the resources. */
static enum shmtune_status compile(const struct recipe *plan,
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
        .keep_ptx = plan->keep_ptx, .once = plan->once, .host = image->host,
    };
    const int version = plan->by_nvcc ? plan->nvcc->version : nvrtc->version;
    enum shmtune_status status;

    if (entries == NULL)
        return shmt_error_memory(err);
    if (plan->source == NULL)
        return shmt_error_set(err, SHMTUNE_INVALID_FILE,
                              "the spec has no source to compile");
    if (plan->nvrtc_version != 0 && version != plan->nvrtc_version)
        return shmt_error_set(err, SHMTUNE_INVALID_ARGUMENT,
                              "a binary of compiler %d was asked for, this one "
                              "is %d", plan->nvrtc_version, version);
    for (size_t k = 0; k < image->entry_count; k++)
        names[k] = image->entries[k].name;
    status = plan->by_nvcc
                 ? shmt_nvcc_compile(plan->nvcc, &job, image->arena, &product,
                                     err)
                 : shmt_nvrtc_compile(nvrtc, &job, image->arena, &product,
                                      err);
    if (status == SHMTUNE_INVALID_ARGUMENT)
        status = explain_architecture(plan, nvrtc, err);
    if (status == SHMTUNE_INVALID_ARGUMENT && has_options(plan->kernel))
        status = SHMTUNE_COMPILE;
    if (status != SHMTUNE_OK)
        return status;
    for (size_t k = 0; k < image->entry_count; k++) {
        entries[k].name = names[k];
        entries[k].lowered = product.lowered[k];
        entries[k].resources = unknown;
        if (!image->host &&
            !shmt_ptxas_resources(product.log, product.lowered[k],
                                  &entries[k].resources))
            return shmt_error_set(err, SHMTUNE_INTERNAL,
                                  "compiler %d reported no resources of \"%s\" "
                                  "(%s)", version, names[k],
                                  product.lowered[k]);
    }
    image->entries = entries;
    image->cubin = product.cubin;
    image->cubin_size = product.cubin_size;
    image->ptx = product.ptx;
    image->compile_ms = product.elapsed_ms;
    return SHMTUNE_OK;
}

/* -- the arguments of a launch -------------------------------------------- */

/* The longest path that a message has room for. */
enum { PATH_SHOWN = 60 };

/* Both sides of one launch. */
struct sides {
    const struct shmt_kernel *kernel;
    const struct shmt_launch *launch;
    size_t number;                 /* of the launch, from 1 */
    const char *entry;
    struct shmt_cubin_params takes; /* the kernel */
    uint32_t passes[SHMT_KERNEL_ARGUMENTS];
};

/* "8, 8 and 4", the first few of many. */
static void add_sizes(struct shmt_text *text, const uint32_t *sizes,
                      size_t count)
{
    enum { SHOWN = 8 };

    for (size_t k = 0; k < count && k < SHOWN; k++)
        shmt_text_addf(text, "%s%lu",
                       k == 0 ? "" : k + 1 == count ? " and " : ", ",
                       (unsigned long)sizes[k]);
    if (count > SHOWN)
        shmt_text_addf(text, ", ...");
}

static void add_count(struct shmt_text *text, const struct sides *sides)
{
    const size_t takes = sides->takes.count;
    const size_t passes = sides->launch->argument_count;

    shmt_text_addf(text, "%.64s takes %zu parameter%s of ", sides->entry,
                   takes, shmt_text_plural(takes));
    add_sizes(text, sides->takes.sizes, takes);
    shmt_text_addf(text, " bytes, the spec passes %zu%s", passes,
                   passes == 0 ? "" : " of ");
    add_sizes(text, sides->passes, passes);
}

static void add_size(struct shmt_text *text, const struct sides *sides,
                     size_t k)
{
    const size_t which = sides->launch->arguments[k];

    shmt_text_addf(text,
                   "%.64s takes %lu byte%s as parameter %zu, the spec passes "
                   "%.40s of %lu", sides->entry,
                   (unsigned long)sides->takes.sizes[k],
                   shmt_text_plural(sides->takes.sizes[k]), k + 1,
                   sides->kernel->arguments[which].name,
                   (unsigned long)sides->passes[k]);
}

static void add_place(struct shmt_text *text, const struct sides *sides)
{
    const struct shmt_place place = sides->launch->arguments_place;
    const char *slash = strrchr(place.file, '/');
    const char *file = strlen(place.file) > PATH_SHOWN && slash != NULL
                           ? slash + 1 : place.file;

    shmt_text_addf(text, ": see 'arguments' of launch %zu (%.*s:%d:%d)",
                   sides->number, PATH_SHOWN, file, place.line, place.column);
}

static enum shmtune_status compare(const struct sides *sides,
                                   struct shmt_error *err)
{
    const size_t count = sides->launch->argument_count;
    struct shmt_text text = {0};
    enum shmtune_status status;
    size_t k = 0;

    while (k < count && k < sides->takes.count &&
           sides->takes.sizes[k] == sides->passes[k])
        k++;
    if (k == count && k == sides->takes.count)
        return SHMTUNE_OK;
    if (count != sides->takes.count)
        add_count(&text, sides);
    else
        add_size(&text, sides, k);
    add_place(&text, sides);
    status = text.failed ? shmt_error_memory(err)
                         : shmt_error_set(err, SHMTUNE_INVALID_FILE, "%s",
                                          shmt_text_string(&text));
    shmt_text_free(&text);
    return status;
}

static enum shmtune_status check_one(struct shmt_kernel_evaluated *evaluated,
                                     const struct shmt_image *image,
                                     size_t k, struct shmt_error *err)
{
    const struct shmt_image_entry *entry =
        &image->entries[image->launch_entry[k]];
    struct sides sides = {
        .kernel = evaluated->kernel, .number = k + 1, .entry = entry->name,
        .launch = &evaluated->launches[k]
    };

    if (!shmt_cubin_read_params(image->cubin, image->cubin_size, entry->lowered,
                                &sides.takes))
        return SHMTUNE_OK;
    for (size_t a = 0; a < sides.launch->argument_count; a++) {
        int64_t bytes;
        const enum shmtune_status status = shmt_kernel_argument_bytes(
            evaluated, sides.launch->arguments[a], &bytes, err);

        if (status != SHMTUNE_OK)
            return status;
        sides.passes[a] = bytes < UINT32_MAX ? (uint32_t)bytes : UINT32_MAX;
    }
    return compare(&sides, err);
}

/* SHMTUNE_INVALID_FILE with both sides and the place in the spec for the first
 * used launch whose arguments are not as many, or not as large, as the
 * parameters of its kernel in `image`.  The driver cannot check this: it reads
 * as many addresses, and as many bytes at each, as the kernel has parameters.
 * A kernel whose parameters cannot be read from the binary is accepted. */
static enum shmtune_status
check_arguments(struct shmt_kernel_evaluated *evaluated,
                           const struct shmt_image *image,
                           struct shmt_error *err)
{
    for (size_t k = 0; k < evaluated->launch_count; k++) {
        const enum shmtune_status status =
            image->launch_entry[k] < 0 ? SHMTUNE_OK
                                       : check_one(evaluated, image, k, err);

        if (status != SHMTUNE_OK)
            return status;
    }
    return SHMTUNE_OK;
}

/* -- getting it ----------------------------------------------------------- */

/* Compiles the image and stores it.  The key covers the local headers as they
 * were when the spec was read.  If one has changed since, the image is
 * refused: stored under this key it would be wrong for ever. */
static enum shmtune_status build(const struct recipe *plan,
                                 const struct shmt_nvrtc *nvrtc,
                                 const char *folder, struct shmt_error *err)
{
    enum shmtune_status status = compile(plan, nvrtc, err);

    if (plan->kernel != NULL &&
        (status == SHMTUNE_OK || status == SHMTUNE_COMPILE)) {
        const enum shmtune_status same =
            shmt_kernel_check_headers(plan->kernel, err);

        status = same != SHMTUNE_OK ? same : status;
    }
    if (status == SHMTUNE_OK && folder != NULL) {
        const enum shmtune_status kept = shmt_image_write_stored(
            &(struct shmt_image_folder){folder, plan->private_folder},
            plan->image, plan->recompile ? NULL : err);

        status = plan->recompile ? status : kept;
    }
    return status;
}

/* Becomes the owner of the plan's image. */
static enum shmtune_status get(const struct recipe *plan,
                               const struct shmt_nvrtc *nvrtc,
                               const char *folder, struct shmt_image **out,
                               struct shmt_error *err)
{
    const struct shmt_image_folder place = {folder, plan->private_folder};
    enum shmtune_status status = SHMTUNE_NOT_FOUND;

    if (folder != NULL && !plan->recompile)
        status = shmt_image_read_stored(&place, plan->image, err);
    plan->image->found = status == SHMTUNE_OK;
    if (status == SHMTUNE_NOT_FOUND &&
        (plan->by_nvcc ? plan->nvcc != NULL && plan->nvcc->run != NULL
                       : nvrtc != NULL)) {
        status = build(plan, nvrtc, folder, err);
    } else if (status == SHMTUNE_NOT_FOUND) {
        shmt_error_set(err, status, "no binary %.12s... in %s, and no "
                       "compiler to make it", plan->image->key,
                       folder != NULL ? folder : "no folder");
    }
    if (status == SHMTUNE_OK && plan->image->host && folder != NULL) {
        plan->image->object = shmt_image_stored_path(&place, plan->image);
        if (plan->image->object == NULL)
            status = shmt_error_memory(err);
    }
    if (status != SHMTUNE_OK) {
        shmt_image_free(plan->image);
        return status;
    }
    *out = plan->image;
    return SHMTUNE_OK;
}

/* For a name that the compiler says is undefined: why the spec does not define
 * it as a macro.  NULL when the spec does not know the name, or does define
 * it. */
static const char *missing_for(const struct shmt_kernel *kernel,
                               const char *name)
{
    for (size_t d = 0; d < kernel->dimension_count; d++)
        if (!kernel->dimensions[d].defined &&
            strcmp(kernel->dimensions[d].name, name) == 0)
            return "a dimension of the spec, a macro only with define: true";
    for (size_t p = 0; p < kernel->parameter_count; p++)
        if (kernel->parameters[p].launch_only &&
            strcmp(kernel->parameters[p].name, name) == 0)
            return "a parameter of the scope \"launch\", which makes no macro";
    for (size_t p = 0; p < kernel->parameter_count; p++)
        if (kernel->parameters[p].options != NULL &&
            strcmp(kernel->parameters[p].name, name) == 0)
            return "a parameter that is an option, which makes no macro";
    return NULL;
}

static void explain_undefined(const struct shmt_kernel *kernel,
                              struct shmt_error *err)
{
    static const char mark[] = "identifier \"";
    const char *at = err == NULL ? NULL : strstr(err->text, mark), *missing;
    struct shmt_error diagnostic;
    char name[64] = "";

    if (at == NULL || strstr(at, "is undefined") == NULL ||
        sscanf(at + strlen(mark), "%63[^\"]", name) != 1)
        return;
    missing = missing_for(kernel, name);
    if (missing == NULL)
        return;
    diagnostic = *err;
    shmt_error_set(err, diagnostic.status, "%s; %s is %s", diagnostic.text,
                   name, missing);
}

/* The assembler refused an instruction that the same architecture has with its
 * own features: setmaxnreg, of sm_90a. */
static void explain_target(const struct shmt_image_request *request,
                           struct shmt_error *err)
{
    struct shmt_error diagnostic;
    char arch[16];

    if (err == NULL || strstr(err->text, "supported on .target") == NULL)
        return;
    shmt_device_arch_target(request->arch, SHMT_FEATURES_ARCHITECTURE, arch);
    if (strcmp(arch, request->arch) == 0)
        return;
    diagnostic = *err;
    shmt_error_set(err, diagnostic.status, "%s; if %s has it, write "
                   "\"features: architecture\" into the spec",
                   diagnostic.text, arch);
}

enum shmtune_status shmt_image_get(const struct shmt_image_request *request,
                                   const struct shmt_nvrtc *nvrtc,
                                   const char *folder,
                                   struct shmt_image **out,
                                   struct shmt_error *err)
{
    struct recipe plan;
    struct shmt_image *image;
    enum shmtune_status status;

    /* nvcc knows its own folders. */
    status = make_recipe(request,
                         nvrtc != NULL && !request->evaluated->kernel->nvcc
                             ? nvrtc->include : NULL, &plan, err);
    if (status == SHMTUNE_OK)
        status = get(&plan, nvrtc, folder, &image, err);
    if (status == SHMTUNE_COMPILE)
        explain_undefined(request->evaluated->kernel, err);
    if (status == SHMTUNE_COMPILE)
        explain_target(request, err);
    if (status != SHMTUNE_OK)
        return status;
    if (!image->host)
        status = check_arguments(request->evaluated, image, err);
    if (status == SHMTUNE_OK && !image->host)
        status = shmt_variable_check(request->evaluated, image,
                                     request->misfit, err);
    if (status == SHMTUNE_OK)
        *out = image;
    else
        shmt_image_free(image);
    return status;
}

enum shmtune_status shmt_image_get_from_text(const struct shmt_image_text *text,
                                             const struct shmt_nvrtc *nvrtc,
                                             const char *folder,
                                             struct shmt_image **out,
                                             struct shmt_error *err)
{
    const struct shmt_image_folder cache = {text->cache, true};
    struct recipe plan;
    struct shmt_error ignored = {0};
    enum shmtune_status status = make_text_recipe(text, &plan, err);

    if (status != SHMTUNE_OK)
        return status;
    if (text->cache != NULL &&
        shmt_image_read_stored(&cache, plan.image, &ignored) == SHMTUNE_OK) {
        plan.image->found = true;
        *out = plan.image;
        return SHMTUNE_OK;
    }
    status = get(&plan, nvrtc, folder, out, err);
    if (status == SHMTUNE_OK && text->cache != NULL && !(*out)->found)
        (void)shmt_image_write_stored(&cache, *out, &ignored);
    return status;
}

enum shmtune_status shmt_image_put(const struct shmt_image *image,
                                   const char *folder, struct shmt_error *err)
{
    return shmt_image_write_stored(&(struct shmt_image_folder){folder, false},
                                   image, err);
}

void shmt_image_free(struct shmt_image *image)
{
    if (image != NULL)
        shmt_arena_free(image->arena);   /* the image itself is in it */
}

void shmt_image_resources(const struct shmt_image *image,
                          struct shmt_resources *out)
{
    struct shmt_resources most = image->entries[0].resources;

#define MOST(field)                                                          \
    if (one->field > most.field)                                             \
        most.field = one->field
    for (size_t k = 1; k < image->entry_count; k++) {
        const struct shmt_resources *one = &image->entries[k].resources;

        MOST(registers);
        MOST(spill_store_bytes);
        MOST(spill_load_bytes);
        MOST(stack_bytes);
        MOST(shared_static_bytes);
        MOST(constant_bytes);
        if (one->max_threads >= 0 &&
            (most.max_threads < 0 || one->max_threads < most.max_threads))
            most.max_threads = one->max_threads;
    }
#undef MOST
    *out = most;
}
