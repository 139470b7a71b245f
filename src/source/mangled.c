/* SPDX-License-Identifier: MIT */
/*
 * mangled: the types of a kernel's parameters from the name that a compiler
 * makes of them.
 *
 * The encoding is that of the Itanium C++ ABI, section 5.1.5, as far as
 * parameters of kernels need it; what goes beyond is not understood, and then
 * nothing is said.
 */
#include "source/token.h"

#include <ctype.h>

/* What stands for a number of a template that cannot be written. */
static const char unsaid[] = "...";

enum { COMPONENTS = 128, DEPTH = 32, TYPE_TEXT = 160, TEMPLATE_ARGUMENTS = 16 };

/* A type, or a prefix of a name. */
struct component {
    size_t stars;
    bool constant;                /* of what lies behind all stars */
    enum shmt_signature_kind kind;
    enum shmt_element element;
    char text[TYPE_TEXT];
};

struct reader {
    const char *at;
    bool bad;
    bool loses;                   /* a type has more than its text says */
    size_t depth;
    size_t count;                 /* what S_, S0_, ... stand for */
    struct component seen[COMPONENTS];
    bool collects;                /* what the kernel is made with: T_, T0_ */
    size_t made_count;
    struct component made[TEMPLATE_ARGUMENTS];
};

static void fail(struct reader *reader)
{
    reader->bad = true;
}

static bool take(struct reader *reader, const char *mark)
{
    const size_t length = strlen(mark);

    if (reader->bad || strncmp(reader->at, mark, length) != 0)
        return false;
    reader->at += length;
    return true;
}

static void keep(struct reader *reader, const struct component *component)
{
    if (reader->count == COMPONENTS)
        fail(reader);
    else
        reader->seen[reader->count++] = *component;
}

static void set_text(struct component *component, const char *text,
                     size_t length)
{
    const size_t room = sizeof component->text - 1;

    if (length > room)
        length = room;
    memcpy(component->text, text, length);
    component->text[length] = '\0';
}

static void add_text(struct component *component, const char *text)
{
    const size_t used = strlen(component->text);
    size_t length = strlen(text);

    if (length > sizeof component->text - 1 - used)
        length = sizeof component->text - 1 - used;
    memcpy(component->text + used, text, length);
    component->text[used + length] = '\0';
}

/* What is longer than there is room has none to spare. */
static bool is_cut(const struct component *component)
{
    return strlen(component->text) == sizeof component->text - 1;
}

/* Of a name in a namespace; what has none of its own is not said. */
static void qualify(struct component *component, const char *before)
{
    char name[TYPE_TEXT];

    memcpy(name, component->text, sizeof name);
    set_text(component, before, strlen(before));
    if (strncmp(name, "_GLOBAL__N_", 11) == 0 ||
        strncmp(name, "_INTERNAL_", 10) == 0)
        return;
    add_text(component, before[0] == '\0' ? "" : "::");
    add_text(component, name);
}

static bool read_builtin(struct reader *reader, struct component *out)
{
    static const struct {
        const char *mark, *text;
        enum shmt_signature_kind kind;
        enum shmt_element element;
    } table[] = {
#define WHOLE SHMT_SIGNATURE_ELEMENT
        {"v", "void", SHMT_SIGNATURE_BITS, SHMT_ELEMENT_BYTES},
        {"c", "char", SHMT_SIGNATURE_BITS, SHMT_ELEMENT_I8},
        {"b", "bool", WHOLE, SHMT_ELEMENT_BOOL},
        {"a", "signed char", WHOLE, SHMT_ELEMENT_I8},
        {"h", "unsigned char", WHOLE, SHMT_ELEMENT_U8},
        {"s", "short", WHOLE, SHMT_ELEMENT_I16},
        {"t", "unsigned short", WHOLE, SHMT_ELEMENT_U16},
        {"i", "int", WHOLE, SHMT_ELEMENT_I32},
        {"j", "unsigned", WHOLE, SHMT_ELEMENT_U32},
        {"l", "long", WHOLE, SHMT_ELEMENT_I64},
        {"m", "unsigned long", WHOLE, SHMT_ELEMENT_U64},
        {"x", "long long", WHOLE, SHMT_ELEMENT_I64},
        {"y", "unsigned long long", WHOLE, SHMT_ELEMENT_U64},
        {"f", "float", WHOLE, SHMT_ELEMENT_F32},
        {"d", "double", WHOLE, SHMT_ELEMENT_F64},
#undef WHOLE
    };

    for (size_t k = 0; k < sizeof table / sizeof *table; k++)
        if (take(reader, table[k].mark)) {
            out->kind = table[k].kind;
            out->element = table[k].element;
            set_text(out, table[k].text, strlen(table[k].text));
            return true;
        }
    return false;
}

/* 6float4 */
static void read_name(struct reader *reader, struct component *out)
{
    struct shmt_signature_parameter type = {
        .kind = SHMT_SIGNATURE_OTHER, .element = SHMT_ELEMENT_BYTES
    };
    size_t length = 0;

    while (isdigit((unsigned char)*reader->at) && length < 10000)
        length = 10 * length + (size_t)(*reader->at++ - '0');
    if (length == 0 || strnlen(reader->at, length) < length) {
        fail(reader);
        return;
    }
    shmt_source_type(reader->at, length, &type);
    *out = (struct component){.kind = type.kind, .element = type.element};
    set_text(out, reader->at, length);
    reader->at += length;
}

/* S_, S0_, ..., SZ_ */
static void read_seen(struct reader *reader, struct component *out)
{
    size_t index = 0;

    while (isdigit((unsigned char)*reader->at) ||
           isupper((unsigned char)*reader->at)) {
        const int digit = isdigit((unsigned char)*reader->at)
                              ? *reader->at - '0' : *reader->at - 'A' + 10;

        index = 36 * index + (size_t)digit + 1;
        reader->at++;
        if (index > COMPONENTS)
            break;
    }
    /* S_ is the first, S0_ the second. */
    if (!take(reader, "_") || index >= reader->count)
        fail(reader);
    else
        *out = reader->seen[index];
}

static void read_type(struct reader *reader, struct component *out);

static void collect(struct reader *reader, const struct component *argument)
{
    if (reader->made_count == TEMPLATE_ARGUMENTS)
        fail(reader);
    else
        reader->made[reader->made_count++] = *argument;
}

/* T_, T0_, ... */
static void read_made(struct reader *reader, struct component *out)
{
    size_t index = 0;

    if (isdigit((unsigned char)*reader->at))
        index = (size_t)(*reader->at++ - '0') + 1;
    if (!take(reader, "_") || index >= reader->made_count) {
        fail(reader);
        return;
    }
    *out = reader->made[index];
    keep(reader, out);
}

/* Behind L: i32E, in5E, b1E, or 4Mode2E, a number of an enumeration.  Others
 * are "...". */
static void read_literal(struct reader *reader, struct component *out)
{
    struct component type;
    size_t length;

    read_type(reader, &type);
    *out = (struct component){.kind = SHMT_SIGNATURE_OTHER,
                              .element = SHMT_ELEMENT_BYTES};
    if (type.kind == SHMT_SIGNATURE_OTHER) {
        set_text(out, "(", 1);
        add_text(out, type.text);
        add_text(out, ")");
    }
    add_text(out, take(reader, "n") ? "-" : "");
    length = strspn(reader->at, "0123456789");
    if (length == 0 || length > 20 || reader->at[length] != 'E' ||
        type.stars > 0 || shmt_element_is_real(type.element)) {
        set_text(out, unsaid, strlen(unsaid));
        length = strcspn(reader->at, "E");
    } else if (type.element == SHMT_ELEMENT_BOOL) {
        add_text(out, reader->at[0] == '0' ? "false" : "true");
    } else {
        char digits[24];

        memcpy(digits, reader->at, length);
        digits[length] = '\0';
        add_text(out, digits);
    }
    reader->at += length;
    if (!take(reader, "E"))
        fail(reader);
}

/* Up to E; J...E is a pack, whose types are one argument of the kernel's. */
static void read_arguments(struct reader *reader, struct component *out,
                           size_t *count)
{
    const bool collects = reader->collects;
    struct component argument = {0};

    if (++reader->depth > DEPTH)
        fail(reader);
    reader->collects = false;
    while (!reader->bad && !take(reader, "E")) {
        const bool pack = take(reader, "J");

        if (pack)
            read_arguments(reader, out, count);
        else
            add_text(out, (*count)++ == 0 ? "" : ", ");
        if (pack)
            set_text(&argument, unsaid, strlen(unsaid));
        else if (take(reader, "L"))
            read_literal(reader, &argument);
        else
            read_type(reader, &argument);
        add_text(out, pack ? "" : argument.text);
        if (collects)
            collect(reader, &argument);
    }
    reader->collects = collects;
    reader->depth--;
}

/* I...E behind a name: what it is made with. */
static void read_template(struct reader *reader, struct component *out)
{
    size_t count = 0;

    out->kind = SHMT_SIGNATURE_OTHER;
    add_text(out, "<");
    read_arguments(reader, out, &count);
    add_text(out, ">");
}

/* N...E: a name in its namespaces. */
static void read_nested(struct reader *reader, struct component *out)
{
    bool first = true;
    char before[TYPE_TEXT] = "";

    while (!reader->bad && !take(reader, "E")) {
        if (*reader->at == 'S' && reader->at[1] == 't') {
            reader->at += 2;
            memcpy(before, "std", 4);
            first = false;
            continue;
        }
        if (take(reader, "S")) {
            read_seen(reader, out);
            memcpy(before, out->text, sizeof before);
            first = false;
            continue;
        }
        if (take(reader, "I")) {
            read_template(reader, out);
        } else {
            read_name(reader, out);
            qualify(out, before);
        }
        memcpy(before, out->text, sizeof before);
        if (!first)
            out->kind = SHMT_SIGNATURE_OTHER;
        first = false;
        /* The whole name is kept by the caller. */
        if (!reader->bad && *reader->at != 'E')
            keep(reader, out);
    }
}

static void read_pointer(struct reader *reader, struct component *out)
{
    read_type(reader, out);
    out->stars++;
    add_text(out, out->stars == 1 ? " *" : "*");
    keep(reader, out);
}

static void read_constant(struct reader *reader, struct component *out)
{
    char text[TYPE_TEXT];

    read_type(reader, out);
    if (out->stars > 0) {
        add_text(out, "const ");
    } else {
        memcpy(text, out->text, sizeof text);
        out->constant = true;
        set_text(out, "const ", 6);
        add_text(out, text);
    }
    keep(reader, out);
}

/* volatile, __restrict__ */
static void read_qualified(struct reader *reader, struct component *out)
{
    reader->loses = true;
    read_type(reader, out);
}

static void read_class(struct reader *reader, struct component *out)
{
    if (take(reader, "N"))
        read_nested(reader, out);
    else
        read_name(reader, out);
    keep(reader, out);
    if (take(reader, "I")) {
        read_template(reader, out);
        keep(reader, out);
    }
}

static void read_type(struct reader *reader, struct component *out)
{
    *out = (struct component){
        .kind = SHMT_SIGNATURE_OTHER, .element = SHMT_ELEMENT_BYTES
    };
    if (reader->bad || ++reader->depth > DEPTH) {
        fail(reader);
        return;
    }
    if (take(reader, "P"))
        read_pointer(reader, out);
    else if (take(reader, "K"))
        read_constant(reader, out);
    else if (take(reader, "V") || take(reader, "r"))
        read_qualified(reader, out);
    else if (take(reader, "S"))
        read_seen(reader, out);
    else if (reader->made_count > 0 && take(reader, "T"))
        read_made(reader, out);
    else if (!read_builtin(reader, out))
        read_class(reader, out);
    reader->depth--;
}

/* Types up to the mark, "": the end. */
static bool read_parameters(struct reader *reader, const char *end,
                            struct shmt_arena *arena,
                            struct shmt_signature *out)
{
    struct shmt_signature_parameter *parameters = shmt_arena_alloc(
        arena, SHMT_KERNEL_ARGUMENTS, sizeof *parameters);
    size_t count = 0;

    if (parameters == NULL)
        return false;
    while (!reader->bad && (end[0] == '\0' ? *reader->at != '\0'
                                           : !take(reader, end))) {
        struct component type;

        read_type(reader, &type);
        if (reader->bad || count == SHMT_KERNEL_ARGUMENTS)
            return false;
        parameters[count] = (struct shmt_signature_parameter){
            .name = "", .pointer = type.stars > 0, .constant = type.constant,
            .kind = type.stars > 1 ? SHMT_SIGNATURE_OTHER : type.kind,
            .element = type.element,
            .type = shmt_arena_copy(arena, type.text, strlen(type.text))
        };
        if (parameters[count++].type == NULL)
            return false;
    }
    out->count = count;
    out->parameters = parameters;
    return !reader->bad;
}

bool shmt_signature_read(struct shmt_arena *arena, const char *lowered,
                         struct shmt_signature *out)
{
    static const char mark[] = "17shmtune_signatureI";
    const char *at = strstr(lowered, mark);
    struct reader reader = {.count = 1};   /* the template's name */

    if (at == NULL)
        return false;
    reader.at = at + sizeof mark - 1;
    /* An entry that is a cast is a pointer. */
    take(&reader, "P");
    if (!take(&reader, "Fv"))
        return false;
    if (strcmp(reader.at, "vEEvv") == 0)
        reader.at++;
    return read_parameters(&reader, "E", arena, out);
}

/* The name of a function, with what it is made with. */
static void read_function(struct reader *reader, struct component *out)
{
    if (!take(reader, "_Z"))
        fail(reader);
    take(reader, "L");             /* a static one */
    if (take(reader, "N")) {
        read_nested(reader, out);
        return;
    }
    read_name(reader, out);
    if (*reader->at == 'I')
        keep(reader, out);
    if (take(reader, "I"))
        read_template(reader, out);
}

const char *shmt_signature_expression(struct shmt_arena *arena,
                                      const char *symbol)
{
    struct component name = {0};
    struct reader reader = {.at = symbol};

    if (strncmp(symbol, "_Z", 2) != 0)
        return shmt_arena_copy(arena, symbol, strlen(symbol));
    read_function(&reader, &name);
    if (reader.bad || is_cut(&name) || strstr(name.text, unsaid) != NULL)
        return NULL;
    return shmt_arena_copy(arena, name.text, strlen(name.text));
}

static bool read_symbol(struct reader *reader, struct shmt_arena *arena,
                        struct shmt_signature *out)
{
    struct component name = {0}, result;

    reader->collects = true;
    read_function(reader, &name);
    reader->collects = false;
    /* What is made from a template says its result, too. */
    if (reader->made_count > 0)
        read_type(reader, &result);
    if (strcmp(reader->at, "v") == 0)
        reader->at++;
    return !reader->bad && read_parameters(reader, "", arena, out);
}

bool shmt_signature_read_symbol(struct shmt_arena *arena, const char *symbol,
                                struct shmt_signature *out)
{
    struct reader reader = {.at = symbol};

    return read_symbol(&reader, arena, out);
}

const char *shmt_signature_cast(struct shmt_arena *arena, const char *symbol)
{
    struct reader reader = {.at = symbol};
    struct shmt_signature signature;
    struct shmt_text text = {0};
    const char *out = NULL;
    bool said = read_symbol(&reader, arena, &signature) && !reader.loses;

    shmt_text_add(&text, "(void (*)(");
    for (size_t k = 0; said && k < signature.count; k++) {
        const char *const type = signature.parameters[k].type;

        said = strlen(type) < TYPE_TEXT - 1 && strstr(type, unsaid) == NULL;
        shmt_text_addf(&text, "%s%s", k == 0 ? "" : ", ", type);
    }
    shmt_text_add(&text, "))");
    if (said)
        out = shmt_text_keep(&text, arena);
    shmt_text_free(&text);
    return out;
}
