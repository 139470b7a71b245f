/* SPDX-License-Identifier: MIT */
/*
 * declare: the kernels that a source defines, with their parameters, and what
 * dynamic shared memory their bodies declare.
 */
#include "source/token.h"

/* Declarations of shared memory outside of kernels. */
enum { MOST_SHARED = 16, MOST_USED = 256 };

/* The name of the function whose `__global__` is at `from`, in front of a
 * parenthesis; what else has one is an attribute, as __launch_bounds__, or a
 * macro that stands for one.  `count`: there is none. */
static size_t find_name(const struct shmt_source_tokens *tokens, size_t from)
{
    const size_t none = tokens->count;
    size_t k = from + 1;

    while (k < none) {
        size_t behind;

        if (shmt_source_at_is(tokens, k, ";") ||
            shmt_source_at_is(tokens, k, "{"))
            return none;
        if (!shmt_source_at_is(tokens, k, "(")) {
            k++;
            continue;
        }
        behind = shmt_source_behind(tokens, k, none);
        if (shmt_source_at(tokens, k - 1)->word == SHMT_SOURCE_NAME &&
            (shmt_source_at_is(tokens, behind, "{") ||
             shmt_source_at_is(tokens, behind, ";")))
            return k - 1;
        k = behind;
    }
    return none;
}

/* Where the parameter that begins at `from` ends: at a comma, or at `to`. */
static size_t end_of_parameter(const struct shmt_source_tokens *tokens,
                               size_t from, size_t to)
{
    size_t angles = 0;

    for (size_t k = from; k < to; k++) {
        if (shmt_source_at_is(tokens, k, "(") ||
            shmt_source_at_is(tokens, k, "{"))
            k = shmt_source_behind(tokens, k, to) - 1;
        else if (shmt_source_at_is(tokens, k, "<"))
            angles++;
        else if (shmt_source_at_is(tokens, k, ">"))
            angles -= angles > 0;
        else if (shmt_source_at_is(tokens, k, ",") && angles == 0)
            return k;
    }
    return to;
}

/* Where a kernel's is: tokens [from, to). */
struct body {
    size_t from, to;
};

/* Tokens [from, to) are what stands within the parentheses. */
static bool read_parameters(const struct shmt_source_tokens *tokens,
                            size_t from, size_t to, const struct body *body,
                            struct shmt_signature *out)
{
    struct shmt_signature_parameter *parameters;
    size_t count = 0;

    for (size_t k = from; k < to; k = end_of_parameter(tokens, k, to) + 1)
        count++;
    if (count == 1 && to - from == 1 &&
        shmt_source_at_is(tokens, from, "void"))
        count = 0;
    parameters = shmt_arena_alloc(tokens->arena, count + 1,
                                  sizeof *parameters);
    if (parameters == NULL)
        return false;
    for (size_t n = 0, k = from; n < count; n++) {
        const size_t end = end_of_parameter(tokens, k, to);

        if (!shmt_source_parameter(tokens, k, end, &parameters[n]))
            return false;
        if (parameters[n].pointer && n < MOST_USED)
            parameters[n].use = shmt_source_use(tokens, body->from, body->to,
                                                parameters[n].name);
        k = end + 1;
    }
    out->count = count;
    out->parameters = parameters;
    return true;
}

/* `typename NAME = VALUE` in tokens [from, to). */
static bool read_template_parameter(const struct shmt_source_tokens *tokens,
                                    size_t from, size_t to,
                                    struct shmt_source_template *out)
{
    size_t equals = from;

    while (equals < to && !shmt_source_at_is(tokens, equals, "="))
        equals++;
    *out = (struct shmt_source_template){.name = ""};
    out->is_type = shmt_source_at_is(tokens, from, "typename") ||
                   shmt_source_at_is(tokens, from, "class");
    for (size_t k = from; k < equals; k++)
        out->is_pack |= shmt_source_at_is(tokens, k, ".");
    if (equals > from + 1 &&
        shmt_source_at(tokens, equals - 1)->word == SHMT_SOURCE_NAME)
        out->name = shmt_source_copy(tokens, equals - 1);
    if (equals < to)
        out->value = shmt_source_join(tokens, equals + 1, to);
    return out->name != NULL && (equals == to || out->value != NULL);
}

/* Those of the `template` at k. */
static bool read_template(const struct shmt_source_tokens *tokens, size_t k,
                          struct shmt_source_kernel *out)
{
    const size_t open = k + 1;
    struct shmt_source_template *list;
    size_t close, count = 0;

    out->is_template = k < tokens->count;
    if (!out->is_template || !shmt_source_at_is(tokens, open, "<"))
        return true;
    close = shmt_source_behind(tokens, open, tokens->count) - 1;
    for (size_t n = open + 1; n < close;
         n = end_of_parameter(tokens, n, close) + 1)
        count++;
    list = shmt_arena_alloc(tokens->arena, count + 1, sizeof *list);
    out->templates = list;
    out->template_count = count;
    for (size_t m = 0, n = open + 1; list != NULL && m < count; m++) {
        const size_t end = end_of_parameter(tokens, n, close);

        if (!read_template_parameter(tokens, n, end, &list[m]))
            return false;
        n = end + 1;
    }
    return list != NULL;
}

static bool is_shared(const struct shmt_source_tokens *tokens, size_t k)
{
    return shmt_source_at_is(tokens, k, "extern") &&
           shmt_source_at_is(tokens, k + 1, "__shared__");
}

/* `extern __shared__ TYPE NAME[]` at k, which ends before `to`. */
static bool read_shared(const struct shmt_source_tokens *tokens, size_t k,
                        size_t to, struct shmt_signature_parameter *out)
{
    size_t end = k + 2, start = end;

    while (end < to && !shmt_source_at_is(tokens, end, ";")) {
        /* An alignment. */
        if (shmt_source_at_is(tokens, end, "(")) {
            end = shmt_source_behind(tokens, end, to);
            start = end;
            continue;
        }
        end++;
    }
    return shmt_source_parameter(tokens, start, end, out);
}

static void use_shared(const struct shmt_signature_parameter *declared,
                       struct shmt_source_kernel *kernel)
{
    kernel->shared_dynamic = true;
    if (declared->kind != SHMT_SIGNATURE_OTHER)
        kernel->shared_element = shmt_element_bytes(declared->element);
}

/* Whether the body, tokens [from, to), declares some itself. */
static bool find_shared(const struct shmt_source_tokens *tokens, size_t from,
                        size_t to, struct shmt_source_kernel *kernel)
{
    for (size_t k = from; k + 1 < to; k++) {
        struct shmt_signature_parameter declared;

        if (!is_shared(tokens, k))
            continue;
        if (!read_shared(tokens, k, to, &declared))
            return false;
        use_shared(&declared, kernel);
        return true;
    }
    return true;
}

static bool names(const struct shmt_source_tokens *tokens,
                  const struct body *body, const char *name)
{
    for (size_t k = body->from; k < body->to; k++)
        if (shmt_source_at(tokens, k)->word == SHMT_SOURCE_NAME &&
            shmt_source_at_is(tokens, k, name))
            return true;
    return false;
}

/* What is declared outside of kernels: a kernel may name it, or call a function
 * that does.  Of many the first ones are looked at. */
static bool share(const struct shmt_source_tokens *tokens,
                  const struct body *bodies, size_t count,
                  struct shmt_source_kernel *kernels)
{
    size_t n = 0, seen = 0;

    for (size_t k = 0; k < tokens->count && seen < MOST_SHARED; k++) {
        struct shmt_signature_parameter declared;

        while (n < count && bodies[n].to <= k)
            n++;
        if (n < count && k >= bodies[n].from)
            k = bodies[n].to;
        if (!is_shared(tokens, k))
            continue;
        if (!read_shared(tokens, k, tokens->count, &declared))
            return false;
        for (size_t m = 0; m < count; m++) {
            kernels[m].shared_elsewhere = true;
            if (!kernels[m].shared_dynamic &&
                names(tokens, &bodies[m], declared.name))
                use_shared(&declared, &kernels[m]);
        }
        seen++;
    }
    return true;
}

/* The name at k with its namespaces: those it stands in, and those before it,
 * a::k.  NULL: there is no memory. */
static const char *qualify(const struct shmt_source_tokens *tokens,
                           const struct shmt_source_place *place, size_t k)
{
    struct shmt_text text = {0};
    size_t from = k;

    while (from >= 3 && shmt_source_at_is(tokens, from - 1, ":") &&
           shmt_source_at_is(tokens, from - 2, ":") &&
           shmt_source_at(tokens, from - 3)->word == SHMT_SOURCE_NAME)
        from -= 3;
    shmt_text_add(&text, shmt_source_path(place));
    for (; from <= k; from++)
        shmt_text_add_bytes(&text, shmt_source_at(tokens, from)->at,
                            shmt_source_at(tokens, from)->length);
    return shmt_text_keep(&text, tokens->arena);
}

/* The kernel whose `__global__` is at `from`; *found is false when it is only
 * declared. */
static bool read_kernel(const struct shmt_source_tokens *tokens, size_t from,
                        const struct shmt_source_place *place,
                        struct shmt_source_kernel *out, struct body *where,
                        bool *found)
{
    const size_t name = find_name(tokens, from);
    size_t body, end;

    *found = false;
    if (name >= tokens->count)
        return true;
    body = shmt_source_behind(tokens, name + 1, tokens->count);
    if (!shmt_source_at_is(tokens, body, "{"))
        return true;
    end = shmt_source_behind(tokens, body, tokens->count);
    *out = (struct shmt_source_kernel){
        .name = shmt_source_copy(tokens, name),
        .qualified = qualify(tokens, place, name),
        .line = shmt_source_at(tokens, name)->line,
        .column = shmt_source_at(tokens, name)->column};
    *where = (struct body){body, end};
    *found = true;
    return out->name != NULL && out->qualified != NULL &&
           read_template(tokens, shmt_source_template(tokens, from), out) &&
           read_parameters(tokens, name + 2, body - 1, where,
                           &out->signature) &&
           find_shared(tokens, body, end, out);
}

bool shmt_source_kernels(const struct shmt_source_tokens *tokens,
                         struct shmt_source *out)
{
    struct shmt_source_place place = {.opens = SIZE_MAX};
    struct shmt_source_kernel *kernels;
    struct body *bodies;
    size_t most = 0, count = 0;
    bool done = true;

    for (size_t k = 0; k < tokens->count; k++)
        most += shmt_source_at_is(tokens, k, "__global__");
    kernels = shmt_arena_alloc(tokens->arena, most + 1, sizeof *kernels);
    bodies = shmt_arena_alloc(tokens->arena, most + 1, sizeof *bodies);
    if (kernels == NULL || bodies == NULL)
        return false;
    for (size_t k = 0; done && k < tokens->count; k++) {
        bool found = false;

        if (shmt_source_at_is(tokens, k, "__global__"))
            done = read_kernel(tokens, k, &place, &kernels[count],
                               &bodies[count], &found);
        done = done && shmt_source_pass(tokens, k, &place);
        count += found;
    }
    out->kernels = kernels;
    out->kernel_count = count;
    return done && share(tokens, bodies, count, kernels);
}
