/* SPDX-License-Identifier: MIT */
/*
 * check_launch: what the launches of a spec pass against what their kernels
 * take: entries that no source has, types, outputs that no kernel can write,
 * dynamic shared memory that is missing.  Called by check_spec.c.
 *
 * The types come from the compiler, which is asked to name an instance of a
 * template for each kernel (source.h); without it from the text.
 */
#include "config.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "command/check.h"
#include "device/device.h"
#include "gpu/gpu.h"
#include "source/source.h"

/* The launches of one part, and what is known of their kernels. */
struct part {
    struct shmt_check *check;
    const struct shmt_kernel *kernel;
    enum shmt_kernel_part which;
    bool again;                      /* the default, as the reference */
    struct shmt_arena *arena;
    struct shmt_source source;       /* of the part's text */
    size_t launch_count;
    const struct shmt_launch *launches;
    bool known[SHMT_KERNEL_LAUNCHES];
    struct shmt_signature signatures[SHMT_KERNEL_LAUNCHES];
};

/* `(void (*)(float *, int))scale` chooses among kernels of one name. */
static const char *behind_cast(const char *entry)
{
    const char *at = entry;
    size_t depth = 0;

    do {
        depth += *at == '(';
        depth -= depth > 0 && *at == ')';
    } while (*at != '\0' && *++at != '\0' && depth > 0);
    return entry[0] == '(' && *at != '\0' ? at : entry;
}

/* The name in an entry: of tile::copy<float, {TILE}> it is copy. */
static const char *name_in(const char *entry, size_t *length)
{
    const char *name = entry = behind_cast(entry);

    for (const char *at = entry; *at != '\0' && *at != '<' && *at != '{';
         at++)
        if (at[0] == ':' && at[1] == ':')
            name = at + 2;
    name += strspn(name, " &(");
    *length = shmt_text_name_length(name);
    return name;
}

/* The same with its namespaces, tile::copy. */
static const char *path_in(const char *entry, size_t *length)
{
    const char *path = entry + strspn(entry, " &(:");

    *length = 0;
    while (path[*length] == ':' || shmt_text_name_length(path + *length) > 0)
        ++*length;
    return path;
}

/* -- entries -------------------------------------------------------------- */

/* Whether the texts in which a kernel may be defined have its name, or a macro,
 * one of the spec's options too, may make it. */
static bool is_in_texts(const struct shmt_kernel *kernel,
                        const struct shmt_kernel_code *code, const char *name)
{
    bool found = shmt_text_mentions(code->text, name, 1) > 0 ||
                 strstr(code->text, "##") != NULL ||
                 kernel->option_count > 0;

    for (size_t k = 0; !found && k < kernel->header_count; k++)
        found = shmt_text_mentions(kernel->headers[k].text, name, 1) > 0 ||
                strstr(kernel->headers[k].text, "##") != NULL;
    return found;
}

static enum shmtune_status report_entry(struct shmt_check *check,
                                        const struct shmt_launch *launch,
                                        const struct shmt_kernel_code *code,
                                        struct shmt_arena *arena,
                                        struct shmt_error *err)
{
    const struct shmt_place place = launch->entry_place;
    struct shmt_source source;
    const char **names, *nearest;
    size_t length, best = 0;
    const char *name = name_in(launch->entry, &length);
    enum shmtune_status status =
        shmt_source_read(arena, code->text, &source, err);

    if (status != SHMTUNE_OK)
        return status;
    names = shmt_arena_alloc(arena, source.kernel_count + 1, sizeof *names);
    name = shmt_arena_copy(arena, name, length);
    if (names == NULL || name == NULL)
        return shmt_error_memory(err);
    if (launch->host) {
        shmt_check_report(check, SHMT_CHECK_BAD,
                          "%s:%d:%d: %s has no function \"%.64s\"",
                          place.file, place.line, place.column,
                          code->files[0].path, name);
        return SHMTUNE_OK;
    }
    for (size_t k = 0; k < source.kernel_count; k++)
        names[k] = source.kernels[k].name;
    nearest = shmt_text_nearest(name, names, length / 2 + 1);
    while (nearest != NULL && names[best] != nearest)
        best++;
    if (source.kernel_count > 0)
        nearest = source.kernels[best].qualified;
    shmt_check_report(check, SHMT_CHECK_BAD,
                      "%s:%d:%d: %s has no kernel \"%.64s\"%s%.64s%s",
                      place.file, place.line, place.column,
                      code->files[0].path, name,
                      nearest != NULL ? ": did you mean " : "; it has none",
                      nearest != NULL ? nearest : "",
                      nearest != NULL ? "?" : "");
    return SHMTUNE_OK;
}

static enum shmtune_status look_for_entries(struct shmt_check *check,
                                            const struct shmt_kernel *kernel,
                                            enum shmt_kernel_part part,
                                            bool *missing,
                                            struct shmt_error *err)
{
    const struct {
        const struct shmt_launch *launches;
        size_t count;
    } parts[] = {
        [SHMT_KERNEL_CANDIDATE] = {kernel->launches, kernel->launch_count},
        [SHMT_KERNEL_REFERENCE] = {kernel->reference, kernel->reference_count},
        [SHMT_KERNEL_SETUP] = {kernel->setup, kernel->setup_count},
        [SHMT_KERNEL_COMPARE] = {kernel->compare, kernel->compare_count},
    };
    const struct shmt_kernel_code *code =
        part == SHMT_KERNEL_REFERENCE && kernel->reference_code.file_count > 0
            ? &kernel->reference_code : &kernel->code;
    const struct shmt_launch *launches = parts[part].launches;
    const size_t count = parts[part].count;
    struct shmt_arena *arena = shmt_arena_new();
    enum shmtune_status status =
        arena == NULL ? shmt_error_memory(err) : SHMTUNE_OK;

    for (size_t k = 0; status == SHMTUNE_OK && k < count; k++) {
        size_t length;
        const char *name = name_in(launches[k].entry, &length);

        /* scale_{BLOCK} is any of several. */
        if (length == 0 || name[length] == '{')
            continue;
        name = shmt_arena_copy(arena, name, length);
        if (name == NULL)
            status = shmt_error_memory(err);
        else if (!is_in_texts(kernel, code, name)) {
            *missing = true;
            status = report_entry(check, &launches[k], code, arena, err);
        }
    }
    shmt_arena_free(arena);
    return status;
}

enum shmtune_status shmt_check_entries(struct shmt_check *check,
                                       const struct shmt_kernel *kernel,
                                       bool missing[SHMT_KERNEL_PARTS],
                                       struct shmt_error *err)
{
    enum shmtune_status status = SHMTUNE_OK;

    for (int part = 0; part < SHMT_KERNEL_PARTS; part++) {
        missing[part] = false;
        if (status == SHMTUNE_OK && kernel->source != NULL &&
            !(part == SHMT_KERNEL_REFERENCE &&
              kernel->reference == kernel->launches))
            status = look_for_entries(check, kernel,
                                      (enum shmt_kernel_part)part,
                                      &missing[part], err);
    }
    return status;
}

/* -- types ---------------------------------------------------------------- */

static void report_at(const struct part *part, size_t k,
                      const struct shmt_text *text)
{
    const struct shmt_place place = part->launches[k].arguments_place;

    part->check->failed |= text->failed;
    shmt_check_report(part->check, SHMT_CHECK_BAD, "%s:%d:%d: %s", place.file,
                      place.line, place.column, shmt_text_string(text));
}

static const struct shmt_argument *passed(const struct part *part, size_t k,
                                          size_t p)
{
    return &part->kernel->arguments[part->launches[k].arguments[p]];
}

/* "scale takes const float * as parameter 2, x; the spec passes a, a scalar of
 * f32" */
static void add_both(const struct part *part, size_t k, size_t p,
                     struct shmt_text *text)
{
    const struct shmt_signature_parameter *parameter =
        &part->signatures[k].parameters[p];
    const struct shmt_argument *argument = passed(part, k, p);
    const bool vowel = strchr("aeiou", *shmt_role_word(argument->role)) !=
                       NULL;

    shmt_text_addf(text, "%.64s takes %s as parameter %zu%s%s, the spec passes "
                   "%s, %s %s", part->launches[k].entry, parameter->type,
                   p + 1, parameter->name[0] == '\0' ? "" : ", ",
                   parameter->name, argument->name, vowel ? "an" : "a",
                   shmt_role_word(argument->role));
    if (argument->bytes == 0)
        shmt_text_addf(text, " of %s", shmt_element_word(argument->element));
}

static void report_type(const struct part *part, size_t k, size_t p)
{
    const struct shmt_signature *signature = &part->signatures[k];
    const struct shmt_signature_parameter *one = &signature->parameters[p];
    const struct shmt_argument *argument = passed(part, k, p);
    struct shmt_text text = {0};
    size_t other = 0;

    while (other < signature->count &&
           (other == p ||
            !shmt_signature_takes(one, passed(part, k, other)) ||
            !shmt_signature_takes(&signature->parameters[other], argument) ||
            shmt_signature_takes(&signature->parameters[other],
                                 passed(part, k, other))))
        other++;
    add_both(part, k, p, &text);
    if (other < signature->count)
        shmt_text_addf(&text, "; %s would fit here and %s as parameter %zu: "
                       "are the two swapped?",
                       passed(part, k, other)->name, argument->name,
                       other + 1);
    else if (one->kind == SHMT_SIGNATURE_ELEMENT &&
             argument->bytes == 0 &&
             one->pointer == (argument->role != SHMT_ROLE_SCALAR))
        shmt_text_addf(&text, "; write \"type: %s\"",
                       shmt_element_word(one->element));
    else
        shmt_text_add(&text, "; list the arguments in the order of the "
                      "kernel's parameters");
    report_at(part, k, &text);
    shmt_text_free(&text);
}

/* Reported once for each pair of arguments that are swapped. */
static void check_types(const struct part *part, size_t k)
{
    const struct shmt_signature *signature = &part->signatures[k];
    bool found = false;

    for (size_t p = 0; !found && p < signature->count; p++)
        if (!shmt_signature_takes(&signature->parameters[p],
                                  passed(part, k, p))) {
            report_type(part, k, p);
            found = true;
        }
}

/* -- what has to be written ----------------------------------------------- */

/* Whether somebody has to write the argument in this part. */
static bool is_written(const struct part *part,
                       const struct shmt_argument *argument)
{
    if (part->which == SHMT_KERNEL_SETUP)
        return argument->fill == SHMT_FILL_SETUP;
    if (part->which == SHMT_KERNEL_COMPARE)
        return false;
    return argument->role == SHMT_ROLE_OUTPUT ||
           (part->which == SHMT_KERNEL_CANDIDATE &&
            (argument->role == SHMT_ROLE_INOUT ||
             argument->role == SHMT_ROLE_WORKSPACE));
}

/* The input that launch k passes where the kernel may write, in place of
 * argument p, which it passes where it may not; NULL: there is none. */
static const struct shmt_argument *swapped_with(const struct part *part,
                                                size_t k, size_t p)
{
    const struct shmt_signature *signature = &part->signatures[k];

    for (size_t i = 0; i < signature->count; i++)
        if (signature->parameters[i].pointer &&
            !signature->parameters[i].constant &&
            passed(part, k, i)->role == SHMT_ROLE_INPUT &&
            shmt_signature_takes(&signature->parameters[i],
                                 passed(part, k, p)))
            return passed(part, k, i);
    return NULL;
}

static void report_constant(const struct part *part, size_t k, size_t p)
{
    const struct shmt_argument *other = swapped_with(part, k, p);
    struct shmt_text text = {0};

    add_both(part, k, p, &text);
    shmt_text_add(&text, ", which nobody can write there; ");
    if (other != NULL)
        shmt_text_addf(&text, "%s, an input, stands where it could be: are "
                       "the two swapped?", other->name);
    else
        shmt_text_add(&text, "take the const away, or change its role");
    report_at(part, k, &text);
    shmt_text_free(&text);
}

/* Whether what is passed leads to the argument by an address of its own. */
static bool leads_to(const struct shmt_argument *argument, size_t which)
{
    bool found = false;

    for (size_t m = 0; m < argument->member_count; m++)
        found |= argument->members[m].target == which;
    return found;
}

/* An argument that has to be written, and that all launches take as constant.
 * One may read what another has written. */
static void check_constant(const struct part *part, size_t which)
{
    size_t launch = SIZE_MAX, place = 0;

    for (size_t k = 0; k < part->launch_count; k++)
        for (size_t p = 0; p < part->launches[k].argument_count; p++) {
            if (leads_to(passed(part, k, p), which))
                return;
            if (part->launches[k].arguments[p] != which)
                continue;
            if (!part->known[k] ||
                !part->signatures[k].parameters[p].constant)
                return;
            if (launch == SIZE_MAX) {
                launch = k;
                place = p;
            }
        }
    if (launch != SIZE_MAX &&
        is_written(part, &part->kernel->arguments[which]))
        report_constant(part, launch, place);
}

static void check_signatures(struct part *part)
{
    const size_t bad = part->check->bad;

    for (size_t k = 0; k < part->launch_count; k++) {
        /* The compiler's binary says how many there are. */
        part->known[k] = part->known[k] && part->signatures[k].count ==
                                               part->launches[k].argument_count;
        if (part->known[k])
            check_types(part, k);
    }
    for (size_t a = 0;
         part->check->bad == bad && a < part->kernel->argument_count; a++)
        check_constant(part, a);
}

/* -- shared memory -------------------------------------------------------- */

/* The kernel in the text that launch k means; NULL: it is not found. */
static const struct shmt_source_kernel *in_text(const struct part *part,
                                                size_t k)
{
    size_t length;
    const char *path = path_in(part->launches[k].entry, &length);

    return shmt_source_find(&part->source, path, length);
}

static void report_shared(const struct part *part, size_t k, int64_t has,
                          int64_t needs)
{
    const struct shmt_launch *launch = &part->launches[k];
    const struct shmt_place place =
        launch->shared_dynamic != NULL
            ? shmt_expr_place(launch->shared_dynamic) : launch->entry_place;

    if (has == 0)
        shmt_check_report(part->check, SHMT_CHECK_BAD,
                          "%s:%d:%d: %.64s uses extern __shared__, and launch "
                          "%zu gives it no byte; write \"shared_dynamic: "
                          "BYTES\"", place.file, place.line, place.column,
                          launch->entry, k + 1);
    else
        shmt_check_report(part->check, SHMT_CHECK_BAD,
                          "%s:%d:%d: %.64s uses at least %" PRId64 " bytes of "
                          "extern __shared__, launch %zu gives it %" PRId64
                          "; write a larger shared_dynamic", place.file,
                          place.line, place.column, launch->entry, needs,
                          k + 1, has);
}

static void check_shared(const struct part *part,
                         const struct shmt_image *image,
                         const struct shmt_kernel_evaluated *evaluated)
{
    for (size_t k = 0; image->ptx != NULL && k < part->launch_count; k++) {
        const int64_t has = evaluated->geometry[k].shared_dynamic;
        const struct shmt_source_kernel *found = in_text(part, k);
        int64_t needs;

        if (image->launch_entry[k] < 0 ||
            !shmt_ptx_shared(image->ptx,
                             image->entries[image->launch_entry[k]].lowered,
                             &needs) ||
            needs == 0)
            continue;
        if (found != NULL && found->shared_dynamic &&
            needs < (int64_t)found->shared_element)
            needs = (int64_t)found->shared_element;
        if (has < needs)
            report_shared(part, k, has, needs);
    }
}

/* -- variables of the source ---------------------------------------------- */

/* One finding for each line. */
static void note_variables(const struct part *part,
                           const struct shmt_image *image)
{
    struct shmt_text notes = {0};
    const char *line, *end;

    shmt_variable_note(part->kernel, image, &notes);
    part->check->failed |= notes.failed;
    for (line = shmt_text_string(&notes); (end = strchr(line, '\n')) != NULL;
         line = end + 1)
        shmt_check_report(part->check, SHMT_CHECK_NOTE, "%.*s",
                          (int)(end - line), line);
    shmt_text_free(&notes);
}

/* -- a part --------------------------------------------------------------- */

/* The kernel with the template behind its source, and launches of instances of
 * that, which take no arguments. */
static bool make_probe(const struct part *part, struct shmt_kernel *probe)
{
    struct shmt_launch *launches = shmt_arena_alloc(
        part->arena, part->launch_count, sizeof *launches);
    struct shmt_kernel_evaluated evaluated;
    struct shmt_text text = {0};
    bool done = launches != NULL;

    shmt_kernel_evaluate_part(part->kernel, part->which,
                              part->kernel->sizes[0], &evaluated);
    shmt_text_addf(&text, "%s" SHMT_SIGNATURE_PROBE,
                   shmt_kernel_code_of(&evaluated)->text);
    probe->code.text = probe->reference_code.text =
        shmt_text_keep(&text, part->arena);
    done = done && probe->code.text != NULL;
    for (size_t k = 0; done && k < part->launch_count; k++) {
        shmt_text_addf(&text, SHMT_SIGNATURE_ENTRY, part->launches[k].entry);
        launches[k] = part->launches[k];
        launches[k].argument_count = launches[k].reach_count = 0;
        launches[k].entry = shmt_text_keep(&text, part->arena);
        done = launches[k].entry != NULL;
    }
    probe->launches = probe->reference = launches;
    probe->setup = probe->compare = launches;
    return done;
}

/* Where the compiler does not understand the question, nothing is known; what
 * is wrong with the source is found without the template too. */
static enum shmtune_status ask_compiler(struct part *part,
                                        struct shmt_compiler_here *here,
                                        struct shmt_error *err)
{
    struct shmt_kernel probe = *part->kernel;
    struct shmt_kernel_evaluated evaluated;
    struct shmt_image *image = NULL;
    struct shmt_error why = {0};
    enum shmtune_status status;

    if (!make_probe(part, &probe))
        return shmt_error_memory(err);
    shmt_kernel_evaluate_part(&probe, part->which, probe.sizes[0],
                              &evaluated);
    status = shmt_compiler_here_get(here, &evaluated, part->check->arch,
                                    &image, &why);
    if (status == SHMTUNE_NO_MEMORY)
        return shmt_error_memory(err);
    if (status != SHMTUNE_OK)
        return SHMTUNE_OK;
    for (size_t k = 0; k < part->launch_count; k++)
        part->known[k] =
            image->launch_entry[k] >= 0 &&
            shmt_signature_read(part->arena,
                                image->entries[image->launch_entry[k]].lowered,
                                &part->signatures[k]);
    shmt_image_free(image);
    return SHMTUNE_OK;
}

static void ask_text(struct part *part)
{
    for (size_t k = 0; k < part->launch_count; k++) {
        const struct shmt_source_kernel *found = in_text(part, k);

        part->known[k] = found != NULL && !found->is_template;
        if (part->known[k])
            part->signatures[k] = found->signature;
    }
}

/* Functions of the host take what they like of their arguments; that they are
 * there the compiler says, which the workers have asked of the default. */
static enum shmtune_status look_at_host(const struct part *part,
                                        struct shmt_compiler_here *here,
                                        struct shmt_kernel_evaluated *evaluated,
                                        struct shmt_error *err)
{
    struct shmt_image *image = NULL;
    const enum shmtune_status status =
        here == NULL || part->which == SHMT_KERNEL_CANDIDATE
            ? SHMTUNE_OK
            : shmt_compiler_here_get(here, evaluated, part->check->arch,
                                     &image, err);

    shmt_image_free(image);
    return status;
}

static enum shmtune_status look(struct part *part,
                                struct shmt_compiler_here *here,
                                struct shmt_kernel_evaluated *evaluated,
                                struct shmt_error *err)
{
    const size_t bad = part->check->bad;
    struct shmt_image *image = NULL;
    enum shmtune_status status;

    if (shmt_kernel_is_host(evaluated))
        return look_at_host(part, here, evaluated, err);
    status = shmt_source_read(part->arena,
                              shmt_kernel_code_of(evaluated)->text,
                              &part->source, err);
    if (status == SHMTUNE_OK && here != NULL && !part->again)
        status = ask_compiler(part, here, err);
    else if (status == SHMTUNE_OK)
        ask_text(part);
    if (status != SHMTUNE_OK)
        return status;
    if (!part->again)
        check_signatures(part);
    if (here == NULL)
        return SHMTUNE_OK;
    status = shmt_kernel_evaluate_launches(evaluated, err);
    if (status == SHMTUNE_OK)
        status = shmt_compiler_here_get(here, evaluated, part->check->arch,
                                        &image, err);
    if (status == SHMTUNE_OK && !part->again)
        check_shared(part, image, evaluated);
    if (status == SHMTUNE_OK &&
        part->which == (part->kernel->reference_count == 0 ||
                                part->kernel->reference_code.file_count > 0
                            ? SHMT_KERNEL_CANDIDATE : SHMT_KERNEL_REFERENCE))
        note_variables(part, image);
    shmt_image_free(image);
    /* The numbers and sizes of the arguments: a consequence. */
    return status == SHMTUNE_INVALID_FILE && part->check->bad > bad
               ? SHMTUNE_OK : status;
}

enum shmtune_status
shmt_check_launches(struct shmt_check *check,
                    const struct shmt_kernel *kernel,
                    enum shmt_kernel_part which,
                    struct shmt_compiler_here *here, struct shmt_error *err)
{
    struct shmt_kernel_evaluated evaluated;
    struct part *part;
    enum shmtune_status status;

    if (kernel->source == NULL ||
        (which == SHMT_KERNEL_REFERENCE && kernel->reference_count == 0) ||
        (which == SHMT_KERNEL_SETUP && kernel->setup_count == 0) ||
        (which == SHMT_KERNEL_COMPARE && kernel->compare_count == 0))
        return SHMTUNE_OK;
    part = calloc(1, sizeof *part);
    if (part == NULL)
        return shmt_error_memory(err);
    shmt_kernel_evaluate_part(kernel, which, kernel->sizes[0], &evaluated);
    *part = (struct part){
        .check = check, .kernel = kernel, .which = which,
        .arena = shmt_arena_new(), .launch_count = evaluated.launch_count,
        .launches = evaluated.launches,
        .again = which == SHMT_KERNEL_REFERENCE &&
                 kernel->reference == kernel->launches
    };
    status = part->arena == NULL ? shmt_error_memory(err)
                                 : look(part, here, &evaluated, err);
    shmt_arena_free(part->arena);
    free(part);
    return status;
}
