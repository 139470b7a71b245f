/* SPDX-License-Identifier: MIT */
/*
 * type: the types of parameters, as a source writes them, and which of our
 * elements they are.
 */
#include "source/token.h"

/* What a type may be called, beside the combinations of C's own words. */
static const struct {
    const char *name;
    enum shmt_element element;
} names[] = {
    {"__half", SHMT_ELEMENT_F16}, {"half", SHMT_ELEMENT_F16},
    {"__nv_bfloat16", SHMT_ELEMENT_BF16}, {"nv_bfloat16", SHMT_ELEMENT_BF16},
    {"__nv_fp8_e4m3", SHMT_ELEMENT_F8E4M3},
    {"__nv_fp8_e5m2", SHMT_ELEMENT_F8E5M2},
    {"float", SHMT_ELEMENT_F32}, {"double", SHMT_ELEMENT_F64},
    {"int8_t", SHMT_ELEMENT_I8}, {"uint8_t", SHMT_ELEMENT_U8},
    {"int16_t", SHMT_ELEMENT_I16}, {"uint16_t", SHMT_ELEMENT_U16},
    {"int32_t", SHMT_ELEMENT_I32}, {"uint32_t", SHMT_ELEMENT_U32},
    {"int64_t", SHMT_ELEMENT_I64}, {"uint64_t", SHMT_ELEMENT_U64},
    {"size_t", SHMT_ELEMENT_U64}, {"ptrdiff_t", SHMT_ELEMENT_I64},
    {"uchar", SHMT_ELEMENT_U8}, {"ushort", SHMT_ELEMENT_U16},
    {"uint", SHMT_ELEMENT_U32}, {"bool", SHMT_ELEMENT_BOOL},
};

/* With a digit from 1 to 4 behind it: a vector. */
static const struct {
    const char *name;
    enum shmt_element element;
} vectors[] = {
    {"char", SHMT_ELEMENT_I8}, {"uchar", SHMT_ELEMENT_U8},
    {"short", SHMT_ELEMENT_I16}, {"ushort", SHMT_ELEMENT_U16},
    {"int", SHMT_ELEMENT_I32}, {"uint", SHMT_ELEMENT_U32},
    {"long", SHMT_ELEMENT_I64}, {"ulong", SHMT_ELEMENT_U64},
    {"longlong", SHMT_ELEMENT_I64}, {"ulonglong", SHMT_ELEMENT_U64},
    {"float", SHMT_ELEMENT_F32}, {"double", SHMT_ELEMENT_F64},
    {"__half", SHMT_ELEMENT_F16}, {"half", SHMT_ELEMENT_F16},
    {"__nv_bfloat16", SHMT_ELEMENT_BF16}, {"nv_bfloat16", SHMT_ELEMENT_BF16},
};

static bool equal(const char *name, size_t length, const char *word)
{
    return strlen(word) == length && memcmp(name, word, length) == 0;
}

bool shmt_source_type(const char *name, size_t length,
                      struct shmt_signature_parameter *out)
{
    out->kind = SHMT_SIGNATURE_ELEMENT;
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        if (equal(name, length, names[k].name)) {
            out->element = names[k].element;
            return true;
        }
    out->kind = SHMT_SIGNATURE_VECTOR;
    for (size_t k = 0; k < sizeof vectors / sizeof *vectors; k++)
        if (length > 1 && equal(name, length - 1, vectors[k].name) &&
            name[length - 1] >= '1' && name[length - 1] <= '4') {
            out->element = vectors[k].element;
            out->lanes = name[length - 1] - '0';
            return true;
        }
    out->kind = SHMT_SIGNATURE_OTHER;
    return false;
}

/* C's own words, in any order. */
struct words {
    int is_unsigned, is_signed, is_char, is_short, is_int, is_long, is_void;
};

static bool count_word(struct words *words,
                       const struct shmt_source_token *token)
{
    const struct {
        const char *name;
        int *count;
    } table[] = {
        {"unsigned", &words->is_unsigned}, {"signed", &words->is_signed},
        {"char", &words->is_char}, {"short", &words->is_short},
        {"int", &words->is_int}, {"long", &words->is_long},
        {"void", &words->is_void},
    };

    for (size_t k = 0; k < sizeof table / sizeof *table; k++)
        if (shmt_source_is(token, table[k].name)) {
            ++*table[k].count;
            return true;
        }
    return false;
}

static bool decide_words(const struct words *words,
                         struct shmt_signature_parameter *out)
{
    static const enum shmt_element elements[][2] = {
        {SHMT_ELEMENT_I8, SHMT_ELEMENT_U8},
        {SHMT_ELEMENT_I16, SHMT_ELEMENT_U16},
        {SHMT_ELEMENT_I32, SHMT_ELEMENT_U32},
        {SHMT_ELEMENT_I64, SHMT_ELEMENT_U64},
    };
    const bool plain = words->is_char && !words->is_signed &&
                       !words->is_unsigned;

    if (words->is_void) {
        out->kind = SHMT_SIGNATURE_BITS;
        out->element = SHMT_ELEMENT_BYTES;
        return true;
    }
    if (words->is_unsigned + words->is_signed + words->is_char +
            words->is_short + words->is_int + words->is_long == 0)
        return false;
    out->kind = plain ? SHMT_SIGNATURE_BITS : SHMT_SIGNATURE_ELEMENT;
    out->element = elements[words->is_char ? 0 : words->is_short ? 1
                            : words->is_long ? 3 : 2][words->is_unsigned > 0];
    return true;
}

static bool is_qualifier(const struct shmt_source_token *token)
{
    static const char *const qualifiers[] = {
        "__restrict__", "__restrict", "restrict", "volatile", "struct",
        "__grid_constant__", "std", ":", "cuda", "typename", NULL
    };

    for (size_t k = 0; qualifiers[k] != NULL; k++)
        if (shmt_source_is(token, qualifiers[k]))
            return true;
    return false;
}

/* What was found among the words of a declaration. */
struct found {
    struct words words;
    size_t stars, brackets;
    bool braced;             /* (*name)[N] */
    size_t types;            /* words that can be a type */
    bool templated;
};

static void look_at(const struct shmt_source_token *token,
                    struct found *found,
                    struct shmt_signature_parameter *out)
{
    if (shmt_source_is(token, "const")) {
        out->constant |= found->stars == 0;
    } else if (shmt_source_is(token, "*")) {
        found->stars++;
    } else if (shmt_source_is(token, "[")) {
        found->brackets++;
    } else if (shmt_source_is(token, "(")) {
        found->braced = true;
    } else if (shmt_source_is(token, "<")) {
        found->templated = true;
    } else if (token->word == SHMT_SOURCE_NAME && found->stars == 0 &&
               found->brackets == 0 && !is_qualifier(token)) {
        found->types++;
        if (!count_word(&found->words, token) &&
            !shmt_source_type(token->at, token->length, out))
            out->kind = SHMT_SIGNATURE_OTHER;
    }
}

/* The token that is the parameter's name: the last one, unless that is its
 * type.  `to`: it has none. */
static size_t find_name(const struct shmt_source_tokens *tokens, size_t from,
                        size_t to)
{
    struct words words = {0};
    struct shmt_signature_parameter type;
    size_t words_seen = 0, name = to;

    for (size_t k = from; k < to; k++) {
        const struct shmt_source_token *token = &tokens->items[k];

        if (shmt_source_is(token, "[") ||
            (shmt_source_is(token, ")") && name != to))
            break;
        if (shmt_source_is(token, "<"))
            k = shmt_source_behind(tokens, k, to) - 1;
        if (shmt_source_is(token, "*"))
            words_seen++;
        if (token->word != SHMT_SOURCE_NAME || is_qualifier(token) ||
            shmt_source_is(token, "const"))
            continue;
        words_seen++;
        name = k;
    }
    if (name == to || words_seen < 2 ||
        count_word(&words, &tokens->items[name]) ||
        shmt_source_type(tokens->items[name].at, tokens->items[name].length,
                         &type))
        return to;
    return name;
}

bool shmt_source_parameter(const struct shmt_source_tokens *tokens,
                           size_t from, size_t to,
                           struct shmt_signature_parameter *out)
{
    struct found found = {.stars = 0};
    size_t name, end = from;

    while (end < to && !shmt_source_is(&tokens->items[end], "="))
        end++;
    name = find_name(tokens, from, end);
    *out = (struct shmt_signature_parameter){
        .name = "", .kind = SHMT_SIGNATURE_OTHER,
        .element = SHMT_ELEMENT_BYTES
    };
    for (size_t k = from; k < end; k++) {
        if (k != name)
            look_at(&tokens->items[k], &found, out);
        /* What a template is given is no part of the parameter's own type. */
        if (shmt_source_is(&tokens->items[k], "<"))
            k = shmt_source_behind(tokens, k, end) - 1;
    }
    decide_words(&found.words, out);
    out->pointer = found.stars + found.brackets > 0;
    if (found.stars > 1 ||
        (found.stars > 0 && found.brackets > 0 && !found.braced) ||
        found.types == 0 || found.templated)
        out->kind = SHMT_SIGNATURE_OTHER;
    if (name != end)
        out->name = shmt_source_copy(tokens, name);
    out->type = shmt_source_join(tokens, from, name < end ? name : end);
    return out->name != NULL && out->type != NULL;
}

/* -- which argument is one ------------------------------------------------ */

/* Elements that have the same bits, and of which a kernel may take one for the
 * other: whole numbers of 8 or 16 bits stand for the small reals. */
static bool same_bits(enum shmt_element takes, enum shmt_element passed)
{
    if (takes == passed || passed == SHMT_ELEMENT_BYTES)
        return true;
    if (shmt_element_bytes(takes) != shmt_element_bytes(passed))
        return false;
    if (passed == SHMT_ELEMENT_BOOL || takes == SHMT_ELEMENT_BOOL)
        return !shmt_element_is_real(takes) && !shmt_element_is_real(passed);
    return (takes == SHMT_ELEMENT_U8 || takes == SHMT_ELEMENT_U16) &&
           shmt_element_is_real(passed);
}

bool shmt_signature_takes(const struct shmt_signature_parameter *parameter,
                          const struct shmt_argument *argument)
{
    const bool scalar = argument->role == SHMT_ROLE_SCALAR;

    if (argument->role == SHMT_ROLE_VALUE ||
        argument->role == SHMT_ROLE_STRUCT)
        return !parameter->pointer &&
               (parameter->kind == SHMT_SIGNATURE_OTHER ||
                parameter->kind == SHMT_SIGNATURE_VECTOR ||
                argument->bytes == shmt_element_bytes(parameter->element));
    if (!parameter->pointer && parameter->kind == SHMT_SIGNATURE_OTHER)
        return true;
    if (argument->role == SHMT_ROLE_TEXTURE)
        return !parameter->pointer &&
               argument->bytes == shmt_element_bytes(parameter->element);
    if (scalar == parameter->pointer)
        return false;
    if (argument->role == SHMT_ROLE_POINTER)
        return true;
    /* What is in a workspace is the kernel's own affair. */
    if (argument->role == SHMT_ROLE_WORKSPACE)
        return parameter->kind == SHMT_SIGNATURE_OTHER ||
               parameter->element == SHMT_ELEMENT_BYTES ||
               argument->element == SHMT_ELEMENT_BYTES ||
               shmt_element_bytes(parameter->element) ==
                   shmt_element_bytes(argument->element) ||
               parameter->kind == SHMT_SIGNATURE_VECTOR;
    switch (parameter->kind) {
    case SHMT_SIGNATURE_ELEMENT:
        return same_bits(parameter->element, argument->element);
    case SHMT_SIGNATURE_BITS:
        return parameter->element == SHMT_ELEMENT_BYTES ||
               shmt_element_bytes(parameter->element) ==
                   shmt_element_bytes(argument->element);
    case SHMT_SIGNATURE_VECTOR:
    case SHMT_SIGNATURE_OTHER:
        break;
    }
    return true;
}
