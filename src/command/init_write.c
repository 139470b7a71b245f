/* SPDX-License-Identifier: MIT */
/*
 * init_write: the text of a drafted spec.  Called by init.c.
 */
#include "config.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "command/init.h"
#include "yaml/yaml.h"

void shmt_init_mark(struct shmt_text *text, const char *format, ...)
{
    char what[512];
    struct shmt_text whole = {0};
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    shmt_text_addf(&whole, SHMT_YAML_TODO " %s", what);
    shmt_yaml_add_string(text, shmt_text_string(&whole));
    text->failed |= whole.failed;
    shmt_text_free(&whole);
}

/* "n": a parameter's name, or one for it. */
static void add_name(const struct shmt_signature_parameter *parameter,
                     size_t k, struct shmt_text *text)
{
    if (parameter->name[0] != '\0')
        shmt_text_add(text, parameter->name);
    else
        shmt_text_addf(text, "argument%zu", k + 1);
}

static void add_names(const struct shmt_signature *signature,
                      struct shmt_text *text)
{
    shmt_text_add(text, "  arguments: [");
    for (size_t k = 0; k < signature->count; k++) {
        shmt_text_add(text, k == 0 ? "" : ", ");
        add_name(&signature->parameters[k], k, text);
    }
    shmt_text_add(text, "]\n");
}

static void add_problem(const struct shmt_init_draft *draft,
                        struct shmt_text *text)
{
    for (size_t k = 0; k < draft->dimension_count; k++) {
        const struct shmt_init_dimension *one = &draft->dimensions[k];

        shmt_text_addf(text, "%s  %s: {default: ", k == 0 ? "problem:\n" : "",
                       one->name);
        if (one->value != NULL)
            shmt_text_add(text, one->value);
        else
            shmt_init_mark(text, "a usual size, as 1048576; if %s is no size, "
                           "take it away here and give a number below",
                           one->name);
        shmt_text_add(text, "}\n");
    }
}

size_t shmt_init_values(int64_t value, int64_t least, int64_t most, bool zero,
                        int64_t out[SHMT_INIT_VALUES])
{
    size_t count = 0;
    bool there = false;

    if (value < 0) {
        out[0] = value;
        return 1;
    }
    if (value == 0 || (value == 1 && zero)) {
        out[0] = 0;
        out[1] = 1;
        return 2;
    }
    for (int64_t power = 1; power <= 4 * value; power *= 2) {
        if (power < least || power < value / 4)
            continue;
        if (!there && power > value)
            out[count++] = value;
        there = there || power >= value;
        if (power > value && power > most)
            break;
        out[count++] = power;
    }
    return count;
}

void shmt_init_add_values(const int64_t *values, size_t count, int64_t value,
                          struct shmt_text *text)
{
    for (size_t k = 0; k < count; k++)
        shmt_text_addf(text, "%s%lld", k == 0 ? "[" : ", ",
                       (long long)values[k]);
    shmt_text_addf(text, "], default: %lld", (long long)value);
}

static void add_values(int64_t value, int64_t least, int64_t most, bool zero,
                       struct shmt_text *text)
{
    int64_t values[SHMT_INIT_VALUES];
    const size_t count = shmt_init_values(value, least, most, zero, values);

    shmt_init_add_values(values, count, value, text);
}

/* Extents of the block. */
static void add_threads(const struct shmt_init_draft *draft,
                        struct shmt_text *text)
{
    enum { WARP = 32 };
    const int64_t most = shmt_init_most_threads(draft->parts);

    for (size_t k = 0; k < draft->thread_count; k++) {
        const struct shmt_init_threads *one = &draft->threads[k];
        const bool alone = draft->thread_count == 1 && one->value >= WARP;

        if (one->is_open)
            shmt_text_addf(text, "  # The source leaves %s to its caller.\n",
                           one->name);
        shmt_text_addf(text, "  %s: {values: ", one->name);
        add_values(one->value, alone ? WARP : 1, most, false, text);
        shmt_text_add(text, one->is_macro || one->instance > 0
                                ? "}\n" : ", scope: launch}\n");
    }
}

static void add_parameters(const struct shmt_init_draft *draft,
                           struct shmt_text *text)
{
    shmt_text_add(text, "parameters:");
    if (draft->macro_count + draft->thread_count == 0) {
        const char *const constant = shmt_init_constant(draft);

        shmt_text_add(text, " ");
        shmt_init_mark(text, "what may be tuned, as {BLOCK: {values: [128, "
                       "256], default: 256}}; in the source a macro behind "
                       "#ifndef BLOCK%s%.64s%s", constant == NULL ? "" : "; ",
                       constant == NULL ? "" : constant,
                       constant == NULL ? ""
                                        : ", a constant there, may be one");
    }
    shmt_text_add(text, "\n");
    for (size_t k = 0; k < draft->macro_count; k++) {
        const struct shmt_init_macro *macro = &draft->macros[k];
        int64_t value;
        bool zero = false;

        if (macro->undeclared)
            shmt_text_addf(text, "  # The source uses %s and declares it "
                           "nowhere; %s.\n  # The values are a guess.\n",
                           macro->name, macro->reaches);
        else if (macro->reaches != NULL)
            shmt_text_addf(text, "  # %s is %s; %s.\n", macro->name,
                           macro->given      ? "given by -D"
                           : macro->constant ? "a constant of the source"
                                             : "a #define of the source",
                           macro->reaches);
        shmt_text_addf(text, "  %s: {values: ", macro->name);
        if (shmt_init_number(macro->value, &value)) {
            text->failed |= value == 1 &&
                            !shmt_source_takes_zero(draft->arena, draft->text,
                                                    macro->name, &zero);
            add_values(value, 1, macro->most, zero, text);
        } else {
            shmt_init_mark(text, "the values to try; the source says %.64s",
                           macro->value);
            shmt_text_add(text, ", default: ");
            shmt_init_mark(text, "one of them");
        }
        shmt_text_add(text, macro->reaches == NULL || macro->given ||
                                    macro->undeclared
                                ? "}\n" : ", override: true}\n");
    }
    add_threads(draft, text);
    shmt_init_add_constraints(draft, text);
}

/* `key` as the host says it, or a mark that quotes its code. */
static void add_geometry(const char *key, const char *what, const char *said,
                         const char *code, struct shmt_text *text)
{
    shmt_text_addf(text, "  %s: ", key);
    if (said != NULL)
        shmt_text_add(text, said);
    else if (code[0] == '\0')
        shmt_init_mark(text, "%s", what);
    else
        shmt_init_mark(text, "%s; the source says %.100s", what, code);
    shmt_text_add(text, "\n");
}

static void add_shared(const struct shmt_init_draft *draft,
                       struct shmt_text *text)
{
    const char *code = draft->launch == NULL ? "" : draft->launch->shared;
    const bool used = draft->kernel->shared_dynamic;
    const bool maybe = draft->launch == NULL && draft->kernel->shared_elsewhere;

    if (strcmp(code, "0") == 0 || (code[0] == '\0' && !used && !maybe))
        return;
    shmt_text_add(text, "  shared_dynamic: ");
    if (code[0] != '\0' && draft->shared != NULL)
        shmt_yaml_add_string(text, draft->shared);
    else
        shmt_init_mark(text, "the bytes of extern __shared__%s%.100s",
                       code[0] != '\0' ? "; the source says "
                       : used           ? ""
                                        : "; if this kernel uses none, take "
                                          "this line away", code);
    shmt_text_add(text, "\n");
}

static void add_launch(const struct shmt_init_draft *draft,
                       struct shmt_text *text)
{
    const struct shmt_source_launch *launch = draft->launch;
    const char *const entry = shmt_init_entry(draft);

    shmt_text_add(text, "launches:\n- entry: ");
    if (entry != NULL)
        shmt_yaml_add_string(text, entry);
    else
        shmt_init_mark(text, "%s<...> with the arguments of the template; "
                       "{NAME} stands for a parameter's value",
                       draft->kernel->qualified);
    shmt_text_add(text, "\n");
    if (launch == NULL && draft->block != NULL)
        shmt_text_add(text, "  # Nobody launches it here: a guess, by how it "
                      "finds its elements.\n");
    add_geometry("grid", "blocks along x, y, z, as [\"ceildiv(n, BLOCK)\"]",
                 draft->grid, launch == NULL ? "" : launch->grid, text);
    add_geometry("block", "threads along x, y, z, as [BLOCK]", draft->block,
                 launch == NULL ? "" : launch->block, text);
    add_shared(draft, text);
    add_names(&draft->kernel->signature, text);
}

static void add_reference(const struct shmt_init_draft *draft,
                          struct shmt_text *text)
{
    const char *threads;

    if (draft->reference == NULL) {
        shmt_text_add(text, "# reference: launches of a plain kernel that is "
                      "surely right, written as those\n# above; without it "
                      "the default configuration is the reference.\n");
        return;
    }
    threads = shmt_init_guess_reference(draft);
    shmt_text_add(text, "reference:\n- entry: ");
    shmt_yaml_add_string(text, draft->reference->qualified);
    if (threads != NULL)
        shmt_text_add(text, "\n  # A guess, by how it finds its elements.");
    shmt_text_add(text, "\n  grid: ");
    if (threads != NULL && draft->dimension_count == 1)
        shmt_text_addf(text, "[\"ceildiv(%s, %s)\"]",
                       draft->dimensions[0].name, threads);
    else
        shmt_init_mark(text, "its blocks, without a parameter, as "
                       "[\"ceildiv(n, 256)\"]");
    shmt_text_add(text, "\n  block: ");
    if (threads != NULL)
        shmt_text_addf(text, "[%s]", threads);
    else
        shmt_init_mark(text, "its threads, as [256]");
    shmt_text_add(text, "\n");
    add_names(&draft->kernel->signature, text);
}

void shmt_init_add_type(const struct shmt_signature_parameter *parameter,
                        struct shmt_text *text)
{
    shmt_text_add(text, "type: ");
    if (parameter->kind == SHMT_SIGNATURE_OTHER ||
        (parameter->kind == SHMT_SIGNATURE_BITS &&
         parameter->element == SHMT_ELEMENT_BYTES))
        shmt_init_mark(text, "f32, i32, ...; the source says %.100s",
                       parameter->type);
    else
        shmt_text_add(text, shmt_element_word(parameter->element));
}

void shmt_init_add_tolerance(const struct shmt_signature_parameter *parameter,
                             struct shmt_text *text)
{
    if ((parameter->kind != SHMT_SIGNATURE_ELEMENT &&
         parameter->kind != SHMT_SIGNATURE_VECTOR) ||
        !shmt_element_is_real(parameter->element))
        return;
    shmt_text_addf(text, ", tolerance: {relative: %s}",
                   shmt_element_tolerance(parameter->element));
}

const char *
shmt_init_role(const struct shmt_init_draft *draft,
               const struct shmt_signature_parameter *parameter)
{
    static const char *const roles[] = {
        [SHMT_SOURCE_READ] = "input", [SHMT_SOURCE_WRITTEN] = "output",
        [SHMT_SOURCE_READ | SHMT_SOURCE_WRITTEN] = "inout"};

    if (parameter->constant)
        return "input";
    for (size_t k = 0; k < draft->source.define_count &&
                       parameter->use != SHMT_SOURCE_UNKNOWN; k++)
        if (shmt_text_mentions(draft->source.defines[k].value,
                               parameter->name, 1) > 0)
            return NULL;
    return roles[parameter->use];
}

/* Bytes are no numbers of a structure. */
static void add_contents(const struct shmt_source_structure *structure,
                         struct shmt_text *text)
{
    struct shmt_text members = {0};

    for (size_t k = 0; k < structure->member_count; k++) {
        const struct shmt_source_member *const one = &structure->members[k];

        shmt_text_addf(&members, "%s%s %s", k == 0 ? "" : ", ",
                       one->pointer ? "pointer"
                                    : shmt_element_word(one->element),
                       one->name);
        if (one->count > 1)
            shmt_text_addf(&members, "[%zu]", one->count);
        shmt_text_addf(&members, " at %zu", one->offset);
    }
    shmt_text_add(text, ", fill: ");
    shmt_init_mark(text, "{file: PATH}, or zero; %s has %zu bytes: %.300s",
                   structure->name, structure->bytes,
                   shmt_text_string(&members));
    text->failed |= members.failed;
    shmt_text_free(&members);
}

static void add_buffer(const struct shmt_init_draft *draft, size_t k,
                       struct shmt_text *text)
{
    const struct shmt_signature_parameter *parameter =
        &draft->signature.parameters[k];
    const char *const count = draft->said[k].count;
    const char *const role = shmt_init_role(draft, parameter);
    const bool written = role == NULL || strcmp(role, "input") != 0;

    shmt_text_add(text, ", role: ");
    if (role != NULL)
        shmt_text_add(text, role);
    else
        shmt_init_mark(text, "output; inout if what is in it counts, "
                       "workspace if nobody reads it afterwards");
    shmt_text_add(text, ", count: ");
    if (count != NULL && count[strspn(count, "0123456789")] == '\0')
        shmt_text_add(text, count);
    else if (count != NULL)
        shmt_yaml_add_string(text, count);
    else if (parameter->kind == SHMT_SIGNATURE_VECTOR && parameter->lanes > 1)
        shmt_init_mark(text, "how many elements, as %d * n; the source says "
                       "%.100s", parameter->lanes, parameter->type);
    else
        shmt_init_mark(text, "how many elements, as n");
    if (written)
        shmt_init_add_tolerance(parameter, text);
    if (draft->structures[k] != NULL && draft->structures[k]->same == 0 &&
        (role == NULL || strcmp(role, "output") != 0))
        add_contents(draft->structures[k], text);
}

static void add_scalar(const char *value, struct shmt_text *text)
{
    shmt_text_add(text, ", value: ");
    if (value != NULL)
        shmt_text_add(text, value);
    else
        shmt_init_mark(text, "a number, as 1");
}

/* Whether it lies as a spec's members do, each by its own size. */
static bool is_plain(const struct shmt_source_structure *structure)
{
    size_t at = 0, most = 1;

    for (size_t k = 0; k < structure->member_count; k++) {
        const struct shmt_source_member *const one = &structure->members[k];
        const size_t bytes =
            one->pointer ? 8 : shmt_element_bytes(one->element);

        at = (at + bytes - 1) / bytes * bytes;
        if (at != one->offset || (one->pointer && one->count > 1))
            return false;
        at += bytes * one->count;
        most = bytes > most ? bytes : most;
    }
    return structure->bytes == (at + most - 1) / most * most;
}

static void add_members(const struct shmt_source_structure *structure,
                        struct shmt_text *text)
{
    shmt_text_add(text, "struct: {");
    for (size_t k = 0; k < structure->member_count; k++) {
        const struct shmt_source_member *const one = &structure->members[k];

        shmt_text_addf(text, "%s%s: {", k == 0 ? "" : ", ", one->name);
        if (one->pointer) {
            shmt_text_add(text, "pointer: ");
            shmt_init_mark(text, "the argument that it leads to, or null");
        } else {
            shmt_text_addf(text, "type: %s, value: ",
                           shmt_element_word(one->element));
            shmt_init_mark(text, one->count == 1 ? "a number, as 1"
                                                 : "a list of %zu numbers",
                           one->count);
        }
        shmt_text_add(text, "}");
    }
    shmt_text_add(text, "}");
}

/* A vector is passed as the structure that it is. */
static void add_vector(const struct shmt_signature_parameter *parameter,
                       struct shmt_text *text)
{
    static const char *const names[] = {"x", "y", "z", "w"};
    struct shmt_source_member members[4];
    const struct shmt_source_structure vector = {
        .member_count = (size_t)parameter->lanes, .members = members};

    for (int lane = 0; lane < parameter->lanes; lane++)
        members[lane] = (struct shmt_source_member){
            .name = names[lane], .element = parameter->element, .count = 1};
    add_members(&vector, text);
}

static void add_argument(const struct shmt_init_draft *draft, size_t k,
                         struct shmt_text *text)
{
    const struct shmt_signature_parameter *parameter =
        &draft->signature.parameters[k];
    const bool is_passed = !parameter->pointer &&
                           draft->structures[k] != NULL &&
                           is_plain(draft->structures[k]);

    if (shmt_init_is_surface(parameter)) {
        shmt_init_mark(text, "a surface, which a spec has not: write an "
                       "output");
        return;
    }
    if (!parameter->pointer && parameter->kind == SHMT_SIGNATURE_OTHER &&
        !is_passed) {
        shmt_init_mark(text, "{type: f32, value: 1} with the type of a "
                       "number; of a structure its members in their order, "
                       "{struct: {x: {pointer: NAME}, n: {type: i32, value: "
                       "1}}}; the source says %.100s", parameter->type);
        return;
    }
    shmt_text_add(text, "{");
    if (is_passed) {
        add_members(draft->structures[k], text);
    } else if (!parameter->pointer &&
               parameter->kind == SHMT_SIGNATURE_VECTOR) {
        add_vector(parameter, text);
    } else {
        shmt_init_add_type(parameter, text);
        if (parameter->pointer)
            add_buffer(draft, k, text);
        else
            add_scalar(draft->said[k].value, text);
    }
    shmt_text_add(text, "}");
}

static void add_arguments(const struct shmt_init_draft *draft,
                          struct shmt_text *text)
{
    const struct shmt_signature *signature = &draft->signature;
    bool any = signature->count > 0;

    for (size_t k = 0; k < draft->global_count; k++)
        any |= shmt_init_global(&draft->globals[k]);
    shmt_text_add(text, any ? "arguments:\n" : "arguments: {}\n");
    for (size_t k = 0; k < signature->count; k++) {
        const struct shmt_signature_parameter *one =
            &signature->parameters[k];

        if (shmt_init_is_texture(one) && one->name[0] != '\0') {
            shmt_init_add_texture(draft, one->name, text);
            continue;
        }
        shmt_text_add(text, "  ");
        add_name(one, k, text);
        shmt_text_add(text, ": ");
        add_argument(draft, k, text);
        shmt_text_add(text, "\n");
    }
    shmt_init_add_globals(draft, text);
}

void shmt_init_write(const struct shmt_init_draft *draft,
                     struct shmt_text *text)
{
    shmt_text_add(text, "# Write something in place of each mark: `shmtune "
                  "check` lists them.\nformat: kernel/2\n");
    shmt_text_addf(text, "name: %.64s\nsource: ", draft->kernel->name);
    shmt_yaml_add_string(text, draft->path);
    shmt_text_add(text, "\n");
    shmt_init_add_build(draft, text);
    if (draft->hosted != NULL)
        shmt_text_addf(text, "# Host code is there (%.64s). Behind #ifndef "
                       "__CUDACC_RTC__ NVRTC takes the rest,\n# which compiles "
                       "in a tenth of the time.\ncompiler: nvcc\n",
                       draft->hosted);
    else if (draft->gnu != NULL)
        shmt_text_addf(text, "# GNU C is there, %s, which NVRTC does not "
                       "take.\ncompiler: nvcc\n", draft->gnu);
    add_problem(draft, text);
    add_parameters(draft, text);
    add_launch(draft, text);
    add_reference(draft, text);
    add_arguments(draft, text);
}
