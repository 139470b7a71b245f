/* SPDX-License-Identifier: MIT */
/*
 * init_type: what the types of a kernel's parameters are, whose names may stand
 * for others, or for what its launch gives a template; and whether the source
 * has what device code has not.
 */
#include "config.h"

#include <ctype.h>
#include <string.h>

#include "command/init.h"
#include "gpu/gpu.h"

/* Names that stand for names, at most. */
enum { HOPS = 4 };

/* Whether it is one of the host's own template, which has no type here. */
static bool is_open(const struct shmt_init_draft *draft, const char *type)
{
    const struct shmt_source_kernel *kernel = draft->kernel;

    for (size_t k = 0; k < kernel->template_count; k++)
        if (kernel->templates[k].is_type &&
            strcmp(kernel->templates[k].name, type) == 0)
            return true;
    return false;
}

/* -- what a template is given ---------------------------------------------- */

/* What the name has for a value; NULL: it has none. */
static const char *value_of(const struct shmt_init_draft *draft,
                            const char *name)
{
    for (size_t k = draft->source.variable_count; k-- > 0;)
        if (strcmp(draft->source.variables[k].name, name) == 0)
            return draft->source.variables[k].value;
    return NULL;
}

/* "float" in "n * sizeof(float)", or in what the name has for a value; NULL:
 * none stands there. */
static const char *sized(const struct shmt_init_draft *draft,
                         const char *bytes)
{
    const char *at = NULL;
    size_t length;

    for (int hop = 0; hop < HOPS && bytes != NULL && at == NULL; hop++) {
        at = strstr(bytes, "sizeof");
        bytes = at == NULL ? value_of(draft, bytes) : bytes;
    }
    if (at == NULL)
        return NULL;
    at += strlen("sizeof");
    at += strspn(at, " (");
    length = strcspn(at, ")*");
    while (length > 0 && at[length - 1] == ' ')
        length--;
    return length == 0 ? NULL : shmt_arena_copy(draft->arena, at, length);
}

const char *shmt_init_resolved(const struct shmt_init_draft *draft,
                               const char *type)
{
    for (int hop = 0; type != NULL && hop < HOPS; hop++) {
        const char *const called = draft->launch == NULL
                                       ? NULL : shmt_init_called(draft, type);

        type = called == NULL ? type : called;
    }
    return type;
}

/* The type that the arguments of the launch give the template's. */
static const char *deduce(const struct shmt_init_draft *draft,
                          const char *name)
{
    const struct shmt_signature *signature = &draft->kernel->signature;

    for (size_t k = 0; k < signature->count; k++) {
        const struct shmt_source_allocation *one;
        const char *type;

        if (!signature->parameters[k].pointer ||
            shmt_text_mentions(signature->parameters[k].type, name, 1) == 0)
            continue;
        one = shmt_init_allocation(draft, k);
        type = one == NULL ? NULL
               : one->type[0] != '\0' ? one->type : sized(draft, one->bytes);
        if (type != NULL)
            return shmt_init_resolved(draft, type);
    }
    return NULL;
}

/* Parameter k of the template, as the launch has it; NULL: it does not say. */
static const char *given(const struct shmt_init_draft *draft, size_t k)
{
    const struct shmt_source_template *one = &draft->kernel->templates[k];
    const struct shmt_source_launch *launch = draft->launch;
    const bool stated = launch != NULL && k < launch->instance_count;
    const char *code = stated ? launch->instance[k] : one->value;

    if (one->is_pack || one->name[0] == '\0')
        return NULL;
    if (!one->is_type) {
        const char *const said =
            code == NULL ? NULL : shmt_init_expr(draft, code);

        return said == NULL && code != NULL &&
                       (strcmp(code, "true") == 0 || strcmp(code, "false") == 0)
                   ? code : said;
    }
    code = stated ? shmt_init_resolved(draft, code) : code;
    if (launch != NULL && (!stated || is_open(draft, code)))
        code = deduce(draft, one->name);
    return code == NULL && !stated ? one->value : code;
}

/* -- the names of types ---------------------------------------------------- */

/* "{BLOCK}" where the value is a parameter. */
static void add_value(const struct shmt_init_draft *draft, size_t k,
                      const char *value, struct shmt_text *text)
{
    const bool named = !draft->kernel->templates[k].is_type &&
                       shmt_text_name_length(value) == strlen(value) &&
                       isupper((unsigned char)value[0]);

    for (size_t n = 0; n < draft->thread_count; n++)
        if (draft->threads[n].instance == k + 1) {
            shmt_text_addf(text, "{%s}", draft->threads[n].name);
            return;
        }
    shmt_text_addf(text, named ? "{%s}" : "%s", value);
}

/* "scale<float, {BLOCK}>"; NULL: not all of it is known. */
static const char *instance_of(const struct shmt_init_draft *draft,
                               const char *const *values)
{
    const struct shmt_source_kernel *kernel = draft->kernel;
    struct shmt_text text = {0};
    bool known = kernel->template_count > 0;

    shmt_text_addf(&text, "%s<", kernel->qualified);
    for (size_t k = 0; k < kernel->template_count; k++) {
        known = known && values[k] != NULL &&
                !(kernel->templates[k].is_type && is_open(draft, values[k]));
        shmt_text_add(&text, k == 0 ? "" : ", ");
        if (values[k] != NULL)
            add_value(draft, k, values[k], &text);
    }
    shmt_text_add(&text, ">");
    if (known || text.failed)
        return shmt_text_keep(&text, draft->arena);
    shmt_text_free(&text);
    return NULL;
}

/* The same kernel in the text as a compiler reads it. */
static const struct shmt_source_kernel *
same_in(const struct shmt_init_draft *draft, const struct shmt_source *typed)
{
    return shmt_source_kernel_with(typed, draft->kernel->name,
                                   draft->kernel->signature.count);
}

/* -- parameters under a condition ------------------------------------------ */

/* The only one of that name; NULL: there are several, or none. */
static const struct shmt_source_kernel *
only_in(const struct shmt_source *typed, const char *name)
{
    const struct shmt_source_kernel *only = NULL;

    for (size_t k = 0; k < typed->kernel_count; k++)
        if (strcmp(typed->kernels[k].name, name) == 0) {
            if (only != NULL)
                return NULL;
            only = &typed->kernels[k];
        }
    return only;
}

/* The launch with what it passes there. */
static enum shmtune_status take_arguments(struct shmt_init_draft *draft,
                                          const struct shmt_source *typed,
                                          size_t count, struct shmt_error *err)
{
    struct shmt_source_launch *copy;

    for (size_t k = 0; draft->launch != NULL && k < typed->launch_count; k++) {
        const struct shmt_source_launch *const one = &typed->launches[k];

        if (strcmp(one->name, draft->kernel->name) != 0 ||
            one->argument_count != count)
            continue;
        copy = shmt_arena_copy(draft->arena, draft->launch, sizeof *copy);
        if (copy == NULL)
            return shmt_error_memory(err);
        copy->argument_count = count;
        copy->arguments = one->arguments;
        if (one->shared[0] == '\0')
            copy->shared = "";
        draft->launch = copy;
        return SHMTUNE_OK;
    }
    return SHMTUNE_OK;
}

/* Of a kernel that has other parameters where conditions are decided: those. */
static enum shmtune_status decide(struct shmt_init_draft *draft,
                                  const struct shmt_source *typed,
                                  struct shmt_error *err)
{
    const struct shmt_source_kernel *const only =
        same_in(draft, typed) != NULL ? NULL
                                      : only_in(typed, draft->kernel->name);
    struct shmt_source_kernel *copy;

    if (only == NULL)
        return SHMTUNE_OK;
    copy = shmt_arena_copy(draft->arena, draft->kernel, sizeof *copy);
    if (copy == NULL)
        return shmt_error_memory(err);
    copy->signature = only->signature;
    copy->shared_dynamic = only->shared_dynamic;
    draft->kernel = copy;
    return take_arguments(draft, typed, only->signature.count, err);
}

/* -- structures ------------------------------------------------------------ */

const struct shmt_source_structure *
shmt_init_structure(const struct shmt_init_draft *draft, const char *name)
{
    for (size_t k = 0; k < draft->declared_count; k++)
        if (strcmp(draft->declared[k].name, name) == 0)
            return &draft->declared[k];
    return NULL;
}

/* That of "const Particle *__restrict__". */
static const struct shmt_source_structure *
structure_of(const struct shmt_init_draft *draft, const char *type)
{
    const char *const star = strchr(type, '*');

    if (strchr(type, '<') != NULL ||
        (star != NULL && strchr(star + 1, '*') != NULL))
        return NULL;
    for (size_t k = 0; k < draft->declared_count; k++)
        if (shmt_text_mentions(type, draft->declared[k].name, 1) > 0)
            return &draft->declared[k];
    return NULL;
}

/* An array of structures is one of its elements, where these are of one type,
 * or else of bytes. */
static void keep_structure(struct shmt_init_draft *draft, size_t k,
                           const char *type,
                           struct shmt_signature_parameter *out)
{
    const struct shmt_source_structure *const one = structure_of(draft, type);

    draft->structures[k] = one;
    if (one == NULL || !out->pointer)
        return;
    out->kind = SHMT_SIGNATURE_VECTOR;
    out->element = one->same > 0 ? one->members[0].element
                                 : SHMT_ELEMENT_BYTES;
    out->lanes = (int)(one->same > 0 ? one->same : one->bytes);
}

static enum shmtune_status keep_types(struct shmt_init_draft *draft,
                                      const struct shmt_source *typed,
                                      struct shmt_error *err)
{
    const struct shmt_signature *const own = &draft->kernel->signature;
    const struct shmt_source_kernel *const same = same_in(draft, typed);
    const struct shmt_signature *const other =
        same == NULL ? NULL : &same->signature;
    struct shmt_signature_parameter *types =
        shmt_arena_copy(draft->arena, own->parameters,
                        own->count * sizeof *types);

    draft->structures = shmt_arena_alloc(draft->arena, own->count + 1,
                                         sizeof *draft->structures);
    if (types == NULL || draft->structures == NULL)
        return shmt_error_memory(err);
    for (size_t k = 0; other != NULL && k < own->count; k++) {
        if (types[k].kind != SHMT_SIGNATURE_OTHER ||
            types[k].pointer != other->parameters[k].pointer)
            continue;
        types[k].kind = other->parameters[k].kind;
        types[k].element = other->parameters[k].element;
        types[k].lanes = other->parameters[k].lanes;
        if (types[k].kind == SHMT_SIGNATURE_OTHER)
            keep_structure(draft, k, other->parameters[k].type, &types[k]);
    }
    draft->signature = (struct shmt_signature){own->count, types};
    return SHMTUNE_OK;
}

/* -- host code ------------------------------------------------------------- */

/* Headers of CUDA that device code can have. */
static bool is_device_header(const char *name)
{
    static const char *const begins[] = {
        "cuda", "cooperative_groups", "mma.h", "curand_", "cub/block",
        "cub/warp", "cub/thread", "vector_", "device_", "math_", "sm_",
        "nv/target", "crt/"};

    for (size_t k = 0; k < sizeof begins / sizeof begins[0]; k++)
        if (strncmp(name, begins[k], strlen(begins[k])) == 0)
            return true;
    return shmt_nvrtc_has_header(name);
}

/* The first line of it that NVRTC does not take; NULL: none is known. */
static const char *hosted_include(struct shmt_init_draft *draft,
                                  const char *text)
{
    const char *at = text, *name;
    size_t length;
    bool quoted;

    while (shmt_kernel_next_include(text, &at, &name, &length, &quoted)) {
        const char *const copy = shmt_arena_copy(draft->arena, name, length);

        if (copy != NULL && !quoted && !is_device_header(copy))
            return copy;
    }
    return NULL;
}

static const char *find_hosted(struct shmt_init_draft *draft,
                               const char *text)
{
    static const char *const words[] = {
        "main", "cudaMalloc", "cudaMemcpy", "cudaFree", "cudaMemset",
        "cudaLaunchKernel", "cudaStream_t", "cudaDeviceSynchronize",
        "cudaGetLastError", "hipMalloc", "FILE", "stderr", "fopen", "getenv",
        NULL};
    const char *const header = hosted_include(draft, text);

    if (header != NULL)
        return header;
    if (strstr(text, "<<<") != NULL)
        return "<<<...>>>";
    for (size_t k = 0; words[k] != NULL; k++)
        if (shmt_text_mentions(text, words[k], 1) > 0)
            return words[k];
    return NULL;
}

/* `({ int a = x; a; })`, a value with a statement; lists of values, `({1, 2})`,
 * have none. */
static bool has_statement(const char *text)
{
    for (const char *at = text; (at = strstr(at, "({")) != NULL; at += 2) {
        const char *const end = strpbrk(at, ";}");

        if (end != NULL && *end == ';')
            return true;
    }
    return false;
}

/* What of GNU C the text has that nvcc alone takes; NULL: nothing. */
static const char *gnu_of(const char *text)
{
    return has_statement(text) ? "({ ... })"
           : shmt_text_mentions(text, "__typeof__", 1) > 0 ? "__typeof__"
                                                           : NULL;
}

/* The same, or of a macro that it names. */
static const char *find_gnu(const struct shmt_init_draft *draft,
                            const char *text)
{
    const struct shmt_source *const source = &draft->source;
    const char *found = gnu_of(text);

    for (size_t k = 0; found == NULL && k < source->define_count; k++)
        if (shmt_text_mentions(text, source->defines[k].name, 1) > 0)
            found = gnu_of(source->defines[k].value);
    return found;
}

/* `(void (*)(float *, int))scale`, one of several; types of a namespace would
 * need that before them. */
static const char *chosen_by_types(const struct shmt_init_draft *draft)
{
    const struct shmt_signature *const signature = &draft->kernel->signature;
    struct shmt_text text = {0};

    if (!draft->overloaded || strchr(draft->kernel->qualified, ':') != NULL)
        return draft->kernel->qualified;
    shmt_text_add(&text, "(void (*)(");
    for (size_t k = 0; k < signature->count; k++) {
        const struct shmt_signature_parameter *const one =
            &signature->parameters[k];

        /* Of `float x[]` the text is "float". */
        shmt_text_addf(&text, "%s%s%s", k == 0 ? "" : ", ", one->type,
                       one->pointer && strchr(one->type, '*') == NULL ? " *"
                                                                      : "");
    }
    shmt_text_addf(&text, "))%s", draft->kernel->qualified);
    return shmt_text_keep(&text, draft->arena);
}

const char *shmt_init_entry(const struct shmt_init_draft *draft)
{
    return draft->kernel->is_template ? instance_of(draft, draft->instance)
                                      : chosen_by_types(draft);
}

enum shmtune_status shmt_init_find_types(struct shmt_init_draft *draft,
                                         struct shmt_error *err)
{
    const struct shmt_source_kernel *kernel = draft->kernel;
    const char **values = shmt_arena_alloc(
        draft->arena, kernel->template_count + 1, sizeof *values);
    struct shmt_source typed;
    struct shmt_text whole = {0};
    const char *code = NULL;
    enum shmtune_status status = SHMTUNE_OK;

    if (values == NULL)
        return shmt_error_memory(err);
    for (size_t k = 0; k < kernel->template_count; k++) {
        values[k] = given(draft, k);
        if (values[k] != NULL && kernel->templates[k].is_type &&
            !is_open(draft, values[k]))
            shmt_text_addf(&whole, "#define %s %s\n",
                           kernel->templates[k].name, values[k]);
    }
    draft->instance = values;
    shmt_text_add(&whole, draft->text);
    status = whole.failed ? shmt_error_memory(err)
                          : shmt_source_preprocess(draft->arena, whole.data,
                                                   &code, err);
    shmt_text_free(&whole);
    if (status == SHMTUNE_OK)
        status = shmt_source_read(draft->arena, code, &typed, err);
    if (status == SHMTUNE_OK)
        status = shmt_source_structures(draft->arena, code, &draft->declared,
                                        &draft->declared_count, err);
    if (status == SHMTUNE_OK)
        status = decide(draft, &typed, err);
    if (status == SHMTUNE_OK)
        status = keep_types(draft, &typed, err);
    /* As the compiler reads it: on another side of a condition it is the same
     * kernel. */
    if (status == SHMTUNE_OK)
        status = shmt_source_is_overloaded(draft->arena, code, kernel->name,
                                           &draft->overloaded, err);
    if (status == SHMTUNE_OK)
        status = shmt_source_preprocess(draft->arena, draft->own, &code, err);
    if (status == SHMTUNE_OK)
        draft->hosted = find_hosted(draft, code);
    if (status == SHMTUNE_OK)
        draft->gnu = find_gnu(draft, code);
    return status;
}
