/* SPDX-License-Identifier: MIT */
/*
 * host: the launches in the host code of a source, and the values of its
 * variables, from which their geometry is made.
 */
#include "source/token.h"

/* Tokens of a launch, of a value, and of a name with the arguments of its
 * template, at most: what is longer is none. */
enum { MOST_LAUNCH = 4096, MOST_VALUE = 256, MOST_NAME = 256 };

size_t shmt_source_end_of_item(const struct shmt_source_tokens *tokens,
                               size_t from, size_t to)
{
    for (size_t k = from; k < to; k++) {
        if (shmt_source_at_is(tokens, k, ","))
            return k;
        if (shmt_source_at_is(tokens, k, "(") ||
            shmt_source_at_is(tokens, k, "{") ||
            shmt_source_at_is(tokens, k, "["))
            k = shmt_source_behind(tokens, k, to) - 1;
    }
    return to;
}

/* The name in front of the token at k, past the arguments of a template. */
static const struct shmt_source_token *
launched(const struct shmt_source_tokens *tokens, size_t k)
{
    const size_t least = k > MOST_NAME ? k - MOST_NAME : 0;
    size_t depth = 0;

    while (k-- > least) {
        if (shmt_source_at_is(tokens, k, ";"))
            break;
        depth += shmt_source_at_is(tokens, k, ">");
        if (shmt_source_at_is(tokens, k, "<")) {
            depth -= depth > 0;
            continue;
        }
        if (depth == 0)
            return shmt_source_at(tokens, k)->word == SHMT_SOURCE_NAME
                       ? shmt_source_at(tokens, k) : NULL;
    }
    return NULL;
}

const char *const *shmt_source_items(const struct shmt_source_tokens *tokens,
                                     size_t from, size_t to, size_t *count)
{
    const char **items;

    *count = 0;
    for (size_t k = from; k < to;
         k = shmt_source_end_of_item(tokens, k, to) + 1)
        ++*count;
    items = shmt_arena_alloc(tokens->arena, *count + 1, sizeof *items);
    for (size_t n = 0, k = from; items != NULL && n < *count; n++) {
        const size_t end = shmt_source_end_of_item(tokens, k, to);

        items[n] = shmt_source_join(tokens, k, end);
        if (items[n] == NULL)
            return NULL;
        k = end + 1;
    }
    return items;
}

static bool read_arguments(const struct shmt_source_tokens *tokens,
                           size_t from, size_t to,
                           struct shmt_source_launch *out)
{
    out->arguments = shmt_source_items(tokens, from, to,
                                       &out->argument_count);
    return out->arguments != NULL;
}

/* Of the kernel that is named there, with the arguments of its template up to
 * `end`. */
static bool begin_launch(const struct shmt_source_tokens *tokens,
                         const struct shmt_source_token *name, size_t end,
                         struct shmt_source_launch *out)
{
    const size_t k = (size_t)(name - tokens->items);

    *out = (struct shmt_source_launch){
        .line = name->line, .column = name->column, .grid = "", .block = "",
        .shared = ""
    };
    out->name = shmt_arena_copy(tokens->arena, name->at, name->length);
    out->instance = shmt_source_items(tokens, k + 2,
                                      end > k + 2 ? end - 1 : 0,
                                      &out->instance_count);
    return out->name != NULL && out->instance != NULL;
}

/* Grid, block and shared memory, as far as the list has them; *behind is where
 * what follows them begins. */
static bool read_geometry(const struct shmt_source_tokens *tokens, size_t from,
                          size_t to, size_t count,
                          struct shmt_source_launch *out, size_t *behind)
{
    const char **const parts[] = {&out->grid, &out->block, &out->shared};

    for (size_t n = 0; n < count && from < to; n++) {
        const size_t end = shmt_source_end_of_item(tokens, from, to);

        *parts[n] = shmt_source_join(tokens, from, end);
        if (*parts[n] == NULL)
            return false;
        from = end + 1;
    }
    *behind = from;
    return true;
}

/* The launch whose `<<<` is at `open`. */
static bool read_launch(const struct shmt_source_tokens *tokens, size_t open,
                        struct shmt_source_launch *out, bool *found)
{
    const struct shmt_source_token *const name = launched(tokens, open);
    size_t close = open, behind;

    *found = false;
    while (close < tokens->count && close - open < MOST_LAUNCH &&
           !shmt_source_at_is(tokens, close, ">>>"))
        close++;
    if (name == NULL || !shmt_source_at_is(tokens, close, ">>>") ||
        !shmt_source_at_is(tokens, close + 1, "("))
        return true;
    if (!begin_launch(tokens, name, open, out) ||
        !read_geometry(tokens, open + 1, close, 3, out, &behind))
        return false;
    *found = true;
    return read_arguments(tokens, close + 2,
                          shmt_source_behind(tokens, close + 1,
                                             tokens->count) - 1, out);
}

/* Whether the token calls something that launches what its first argument is;
 * *own: behind the geometry stand the arguments of the kernel. */
static bool is_call(const struct shmt_source_token *token, bool *own)
{
    *own = shmt_source_is(token, "hipLaunchKernelGGL");
    return *own || shmt_source_is(token, "cudaLaunchKernel") ||
           shmt_source_is(token, "cudaLaunchCooperativeKernel") ||
           shmt_source_is(token, "hipLaunchKernel");
}

/* Where its first argument ends, which may have those of a template. */
static size_t end_of_launched(const struct shmt_source_tokens *tokens,
                              size_t from, size_t to)
{
    size_t depth = 0, k;

    for (k = from; k < to && k - from < MOST_NAME; k++) {
        depth += shmt_source_at_is(tokens, k, "<");
        depth -= depth > 0 && shmt_source_at_is(tokens, k, ">");
        if (depth == 0 && shmt_source_at_is(tokens, k, ","))
            return k;
    }
    return to;
}

/* The call of such a function whose name is at k. */
static bool read_call(const struct shmt_source_tokens *tokens, size_t k,
                      struct shmt_source_launch *out, bool *found)
{
    const struct shmt_source_token *name;
    size_t close, comma, end, behind;
    bool own;

    *found = false;
    if (!is_call(shmt_source_at(tokens, k), &own) ||
        !shmt_source_at_is(tokens, k + 1, "("))
        return true;
    close = shmt_source_behind(tokens, k + 1, tokens->count) - 1;
    comma = end_of_launched(tokens, k + 2, close);
    end = comma;
    while (end > k + 2 && shmt_source_at_is(tokens, end - 1, ")"))
        end--;
    name = comma >= close ? NULL : launched(tokens, end);
    if (name == NULL || name <= shmt_source_at(tokens, k))
        return true;
    if (!begin_launch(tokens, name, end, out) ||
        !read_geometry(tokens, comma + 1, close, own ? 3 : 2, out, &behind))
        return false;
    *found = true;
    if (!own)
        return true;
    /* The stream. */
    behind = shmt_source_end_of_item(tokens, behind, close) + 1;
    return read_arguments(tokens, behind, close, out);
}

/* -- variables ------------------------------------------------------------ */

/* Those that were found. */
struct found {
    struct shmt_source_variable *list;
    size_t count, room;
};

/* NAME or NAME.x, with the value from `from` to `to`. */
static bool keep(const struct shmt_source_tokens *tokens,
                 const struct shmt_source_token *name, const char *member,
                 size_t from, size_t to, struct found *found)
{
    struct shmt_source_variable *out = &found->list[found->count];
    struct shmt_text text = {0};

    if (found->count == found->room)
        return true;
    shmt_text_add_bytes(&text, name->at, name->length);
    shmt_text_add(&text, member);
    out->name = shmt_text_keep(&text, tokens->arena);
    out->value = shmt_source_join(tokens, from, to);
    out->line = name->line;
    found->count++;
    return out->name != NULL && out->value != NULL;
}

/* An extent that is given none is 1. */
static bool keep_one(const struct shmt_source_tokens *tokens,
                     const struct shmt_source_token *name,
                     struct found *found)
{
    const size_t before = found->count;
    const bool done = keep(tokens, name, "", 0, 0, found);

    if (done && found->count > before)
        found->list[before].value = "1";
    return done;
}

/* Behind the value that begins at k; 0: it is too long. */
static size_t behind_value(const struct shmt_source_tokens *tokens, size_t k)
{
    const size_t end = k + MOST_VALUE;

    while (k < tokens->count && k < end &&
           !shmt_source_at_is(tokens, k, ",") &&
           !shmt_source_at_is(tokens, k, ";") &&
           !shmt_source_at_is(tokens, k, ")"))
        k = shmt_source_at_is(tokens, k, "(") ||
                    shmt_source_at_is(tokens, k, "{")
                ? shmt_source_behind(tokens, k, end < tokens->count
                                                    ? end : tokens->count)
                : k + 1;
    return k < end ? k : 0;
}

/* Whether the token may stand before the name of what is given a value. */
static bool begins(const struct shmt_source_token *token)
{
    return token->word == SHMT_SOURCE_NAME ||
           (token->word == SHMT_SOURCE_SIGN && token->length == 1 &&
            strchr(",;{}):", *token->at) != NULL);
}

/* `NAME = VALUE` behind a type, a `,` or alone, and `NAME.x = VALUE`.  No
 * comparison, and no `+=`. */
static bool read_variable(const struct shmt_source_tokens *tokens, size_t k,
                          struct found *found)
{
    static const char *const members[] = {".x", ".y", ".z"};
    const struct shmt_source_token *const name = shmt_source_at(tokens, k);
    const char *member = "";
    size_t equals = k + 1, end;

    if (name->word != SHMT_SOURCE_NAME || k == 0 || !begins(name - 1))
        return true;
    for (size_t m = 0; shmt_source_at_is(tokens, k + 1, ".") && m < 3; m++)
        if (shmt_source_at_is(tokens, k + 2, members[m] + 1)) {
            member = members[m];
            equals = k + 3;
        }
    if (!shmt_source_at_is(tokens, equals, "=") ||
        shmt_source_at_is(tokens, equals + 1, "="))
        return true;
    end = behind_value(tokens, equals + 1);
    return end == 0 || keep(tokens, name, member, equals + 1, end, found);
}

/* `dim3 NAME(VALUE), OTHER{VALUE}, NONE;`, but for what has a `=`. */
static bool read_extents(const struct shmt_source_tokens *tokens, size_t k,
                         struct found *found)
{
    bool done = true;

    while (done && shmt_source_at(tokens, k + 1)->word == SHMT_SOURCE_NAME &&
           !shmt_source_at_is(tokens, k + 1, "dim3")) {
        const size_t end = behind_value(tokens, k + 2);

        if (end > k + 3 &&
            (shmt_source_at_is(tokens, k + 2, "(") ||
             shmt_source_at_is(tokens, k + 2, "{")) &&
            shmt_source_behind(tokens, k + 2, tokens->count) == end)
            done = keep(tokens, shmt_source_at(tokens, k + 1), "", k + 3,
                        end - 1, found);
        else if (end == k + 2 && !shmt_source_at_is(tokens, end, ")"))
            done = keep_one(tokens, shmt_source_at(tokens, k + 1), found);
        if (end == 0 || !shmt_source_at_is(tokens, end, ","))
            break;
        k = end;
    }
    return done;
}

/* What of the text may be a launch or a variable. */
static void count_most(const struct shmt_source_tokens *tokens,
                       size_t *launches, size_t *variables)
{
    bool own;

    for (size_t k = 0; k < tokens->count; k++) {
        *launches += shmt_source_at_is(tokens, k, "<<<") ||
                     is_call(shmt_source_at(tokens, k), &own);
        *variables += shmt_source_at_is(tokens, k, "=") ||
                      shmt_source_at_is(tokens, k, "dim3") ||
                      shmt_source_at_is(tokens, k, ",");
    }
}

bool shmt_source_host(const struct shmt_source_tokens *tokens,
                      struct shmt_source *out)
{
    struct shmt_source_launch *launches;
    struct found found = {0};
    size_t most = 0;
    bool done = true;

    count_most(tokens, &most, &found.room);
    launches = shmt_arena_alloc(tokens->arena, most + 1, sizeof *launches);
    found.list = shmt_arena_alloc(tokens->arena, found.room + 1,
                                  sizeof *found.list);
    if (launches == NULL || found.list == NULL)
        return false;
    for (size_t k = 0; done && k < tokens->count; k++) {
        struct shmt_source_launch *const next = &launches[out->launch_count];
        bool launch = false;

        if (shmt_source_at_is(tokens, k, "<<<"))
            done = read_launch(tokens, k, next, &launch);
        else if (shmt_source_at_is(tokens, k, "dim3"))
            done = read_extents(tokens, k, &found);
        else
            done = read_call(tokens, k, next, &launch) &&
                   read_variable(tokens, k, &found);
        out->launch_count += launch;
    }
    out->launches = launches;
    out->variables = found.list;
    out->variable_count = found.count;
    return done;
}
