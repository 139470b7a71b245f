/* SPDX-License-Identifier: MIT */
/*
 * name: which names a spec may give to dimensions and parameters, as
 * they become macros of the source and names of expressions, and to
 * arguments, which become neither.
 */
#include "kernel/read.h"

#include <ctype.h>
#include <string.h>

/* Names that are refused: as macros they would change the meaning of a source,
 * or an expression could not refer to them. */
static const char *const reserved[] = {
    /* expressions */
    "and", "or", "not", "in", "if", "else", "True", "False", "None", "is",
    "lambda", "min", "max", "abs", "ceildiv", "roundup", "int", "float",
    /* C and C++ */
    "alignas", "alignof", "asm", "auto", "bool", "break", "case", "catch",
    "char", "class", "const", "constexpr", "const_cast", "continue",
    "decltype", "default", "delete", "do", "double", "dynamic_cast", "enum",
    "explicit", "export", "extern", "false", "for", "friend", "goto",
    "inline", "long", "mutable", "namespace", "new", "noexcept", "nullptr",
    "operator", "private", "protected", "public", "register",
    "reinterpret_cast", "restrict", "return", "short", "signed", "sizeof",
    "static", "static_assert", "static_cast", "struct", "switch", "template",
    "this", "thread_local", "throw", "true", "try", "typedef", "typeid",
    "typename", "union", "unsigned", "using", "virtual", "void", "volatile",
    "wchar_t", "while", "xor", "bitand", "bitor", "compl", "defined",
    /* CUDA */
    "threadIdx", "blockIdx", "blockDim", "gridDim", "warpSize", "dim3",
    "float2", "float4", "int2", "int4",
};

static bool is_identifier(const char *text)
{
    return !isdigit((unsigned char)text[0]) && text[0] != '\0' &&
           text[shmt_text_name_length(text)] == '\0';
}

enum shmtune_status
shmt_kernel_name_check_form(struct shmt_kernel_reader *reader,
                            const struct shmt_yaml *node, const char *what)
{
    const char *word;
    enum shmtune_status status = shmt_yaml_word(node, &word, reader->err);

    if (status != SHMTUNE_OK)
        return status;
    if (!is_identifier(word))
        return shmt_yaml_refuse(
            node, reader->err,
            "%s \"%s\" is not a C identifier; use letters, digits and _",
            what, word);
    return SHMTUNE_OK;
}

/* Why nothing may be called by the word, behind "the dimension "x" "; NULL: it
 * may. */
static const char *refusal_of(const char *word)
{
    static const char ours[] = SHMT_KERNEL_OUR_NAME "_";

    if (word[0] == '_' &&
        (word[1] == '_' || isupper((unsigned char)word[1])))
        return "begins like a name that belongs to the compiler";
    if (strncmp(word, ours, strlen(ours)) == 0)
        return "begins with " SHMT_KERNEL_OUR_NAME "_, as the macros of "
               "shmtune do (" SHMT_KERNEL_REFERENCE_MACRO "); choose another "
               "name";
    for (size_t i = 0; i < sizeof reserved / sizeof reserved[0]; i++)
        if (shmt_text_equal(word, reserved[i]))
            return "is a word of C++, CUDA or the expressions; choose another "
                   "name";
    return NULL;
}

bool shmt_kernel_may_name(const char *word)
{
    return is_identifier(word) && shmt_yaml_is_word(word) &&
           refusal_of(word) == NULL;
}

enum shmtune_status shmt_kernel_name_check(struct shmt_kernel_reader *reader,
                                           const struct shmt_yaml *node,
                                           const char *what)
{
    const enum shmtune_status status =
        shmt_kernel_name_check_form(reader, node, what);
    const char *why = status == SHMTUNE_OK ? refusal_of(node->text) : NULL;

    return why == NULL ? status
                       : shmt_yaml_refuse(node, reader->err, "%s \"%s\" %s",
                                          what, node->text, why);
}

bool shmt_kernel_name_find(const struct shmt_kernel *kernel, const char *name,
                           size_t length, size_t *symbol)
{
    for (size_t i = 0; i < kernel->scope.count; i++) {
        const char *other = kernel->scope.symbols[i].name;

        if (strlen(other) == length && memcmp(other, name, length) == 0) {
            *symbol = i;
            return true;
        }
    }
    return false;
}
