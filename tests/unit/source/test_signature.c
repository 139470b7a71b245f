/* SPDX-License-Identifier: MIT */
/*
 * test_signature: the types of a kernel's parameters, from the name that a
 * compiler makes; and which arguments may be passed.
 */
#include "source/source.h"
#include "tests/support/check.h"

static struct shmt_arena *arena;

/* "const float *, int": those of a name, and an E for what is an element. */
static const char *types_of(const char *lowered)
{
    static char out[512];
    struct shmt_signature signature;

    out[0] = '\0';
    if (strstr(lowered, "shmtune_signature") == NULL
            ? !shmt_signature_read_symbol(arena, lowered, &signature)
            : !shmt_signature_read(arena, lowered, &signature))
        return "?";
    for (size_t k = 0; k < signature.count; k++) {
        const struct shmt_signature_parameter *one =
            &signature.parameters[k];
        const char *kind =
            one->kind == SHMT_SIGNATURE_ELEMENT
                ? shmt_element_word(one->element)
            : one->kind == SHMT_SIGNATURE_BITS   ? "bits"
            : one->kind == SHMT_SIGNATURE_VECTOR ? "vector" : "other";

        snprintf(out + strlen(out), sizeof out - strlen(out), "%s%s%s%s=%s",
                 k == 0 ? "" : ", ", one->constant ? "K" : "",
                 one->pointer ? "P" : "", kind, one->type);
    }
    return out;
}

/* The names are what NVRTC 13.0 makes of these types. */
static void names_are_read(void)
{
    CHECK_TEXT(types_of("_Z17shmtune_signatureIFvPfPKffiEEvv"),
               "Pf32=float *, KPf32=const float *, f32=float, i32=int");
    CHECK_TEXT(types_of("_Z17shmtune_signatureIFvvEEvv"), "");
    CHECK_TEXT(types_of("_Z17shmtune_signatureIFvPK6float41WPKvPKcbE"
                        "Evv"),
               "KPvector=const float4 *, other=W, KPbits=const void *, "
               "KPbits=const char *, bool=bool");
    /* S_ is the template, what follows is counted from S0_ on. */
    CHECK_TEXT(types_of("_Z17shmtune_signatureIFvPfS0_PKfS2_jEEvv"),
               "Pf32=float *, Pf32=float *, KPf32=const float *, "
               "KPf32=const float *, u32=unsigned");
    CHECK_TEXT(types_of("_Z17shmtune_signatureIFvP6__halfPK13__nv_bfloat16"
                        "xyahst EEvv"), "?");
    CHECK_TEXT(types_of("_Z17shmtune_signatureIFvP6__halfPK13__nv_bfloat16"
                        "xyahstlmdEEvv"),
               "Pf16=__half *, KPbf16=const __nv_bfloat16 *, i64=long long, "
               "u64=unsigned long long, i8=signed char, u8=unsigned char, "
               "i16=short, u16=unsigned short, i64=long, "
               "u64=unsigned long, f64=double");
    CHECK_TEXT(types_of("_Z17shmtune_signatureIFvP4pairIfEN4tile5shapeE"
                        "PPfEEvv"),
               "Pother=pair<float> *, other=tile::shape, Pother=float **");
    /* Of an entry that is a cast. */
    CHECK_TEXT(types_of("_Z17shmtune_signatureIPFvPdPKdS0_EEvv"),
               "Pf64=double *, KPf64=const double *, Pf64=double *");
    CHECK_TEXT(types_of("_Z17shmtune_signatureIPFvvEEvv"), "");
}

/* Those that nvcc 13.0 makes of kernels. */
static void symbols_are_read(void)
{
    CHECK_TEXT(types_of("_Z5scalePfPKffi"),
               "Pf32=float *, KPf32=const float *, f32=float, i32=int");
    CHECK_TEXT(types_of("_Z4nonev"), "");
    CHECK_TEXT(types_of("_ZL5scalePd"), "Pf64=double *");
    CHECK_TEXT(types_of("_ZN12_GLOBAL__N_13one5scaleEPKiS2_"),
               "KPi32=const int *, KPi32=const int *");
    CHECK_TEXT(types_of("_Z10add_scaledIfEvPT_4Pair"),
               "Pf32=float *, other=Pair");
    CHECK_TEXT(types_of("_Z4swapIfiLi32EEvPT_PKT0_S1_"),
               "Pf32=float *, KPi32=const int *, Pf32=float *");
    CHECK_TEXT(types_of("_ZN2ns5scaleIdEEvPKT_S3_j"),
               "KPf64=const double *, KPf64=const double *, u32=unsigned");
    CHECK_TEXT(types_of("_Z5scaleIfEvPT0_"), "?");
    CHECK_TEXT(types_of("_Z2ofI4listIJifEEEvT_Pi"),
               "other=list<int, float>, Pi32=int *");
    CHECK_TEXT(types_of("_Z4restILi3EfJLi4ELi5EEEvPT0_i"),
               "Pf32=float *, i32=int");
    CHECK_TEXT(types_of("_Z4packIJifEEvDpT_"), "?");
    CHECK_TEXT(types_of("_Z5scalePf.part"), "?");
}

static const char *expression_of(const char *symbol)
{
    const char *found = shmt_signature_expression(arena, symbol);

    return found == NULL ? "?" : found;
}

static void kernels_are_called_as_in_their_source(void)
{
    CHECK_TEXT(expression_of("scale"), "scale");
    CHECK_TEXT(expression_of("_Z5scalePfPKffi"), "scale");
    CHECK_TEXT(expression_of("_ZL5scalePd"), "scale");
    CHECK_TEXT(expression_of("_ZN12_GLOBAL__N_13one5scaleEPKiS2_"),
               "one::scale");
    CHECK_TEXT(expression_of("_ZN43_INTERNAL_522a1457_12_transpose_cu_"
                             "5f7108bb5scaleEPf"), "scale");
    CHECK_TEXT(expression_of("_Z10add_scaledIfEvPT_4Pair"),
               "add_scaled<float>");
    CHECK_TEXT(expression_of("_Z4swapIfiLi32EEvPT_PKT0_S1_"),
               "swap<float, int, 32>");
    CHECK_TEXT(expression_of("_ZN2ns5scaleIdEEvPKT_S3_j"),
               "ns::scale<double>");
    CHECK_TEXT(expression_of("_Z1kIL4Mode2ELb1ELb0ELin5ELj7EEvv"),
               "k<(Mode)2, true, false, -5, 7>");
    CHECK_TEXT(expression_of("_Z1kIPKfN4tile5shapeIfLi2EEES4_Evv"),
               "k<const float *, tile::shape<float, 2>, "
               "tile::shape<float, 2>>");
    /* What nvcc 13.0 makes of kernels in a main program. */
    CHECK_TEXT(expression_of("_Z1eIL4Mode1ELb1ELin5ELm7EL4Kindn1EEvPf"),
               "e<(Mode)1, true, -5, 7, (Kind)-1>");
    CHECK_TEXT(expression_of("_ZN2ns33_GLOBAL__N__5784ddc4_5_tt_cu_main3hidIf"
                             "EEvPT_"), "ns::hid<float>");
    CHECK_TEXT(expression_of("_Z4tmplIN4tile5shapeEEvT_IfLi3EE"),
               "tmpl<tile::shape>");
    CHECK_TEXT(expression_of("_Z4packIJifEEvDpT_"), "pack<int, float>");
    CHECK_TEXT(expression_of("_Z4packIJEEvDpT_"), "pack<>");
    CHECK_TEXT(expression_of("_Z4restILi3EfJLi4ELi5EEEvPT0_i"),
               "rest<3, float, 4, 5>");
    CHECK_TEXT(expression_of("_Z2ofI4listIJifEEEvT_Pi"),
               "of<list<int, float>>");
    CHECK_TEXT(expression_of("_Z1kILf3f800000EEvv"), "?");
    CHECK_TEXT(expression_of("_Z1kIXadL_Z1fvEEEvv"), "?");
    CHECK_TEXT(expression_of("_Z"), "?");
    CHECK_TEXT(expression_of("_Z9k"), "?");
}

static const char *cast_of(const char *symbol)
{
    const char *found = shmt_signature_cast(arena, symbol);

    return found == NULL ? "?" : found;
}

/* The names are what nvcc 13.0 makes of these types. */
static void kernels_of_one_name_are_told_apart(void)
{
    CHECK_TEXT(cast_of("_Z5scalePfPKffi"),
               "(void (*)(float *, const float *, float, int))");
    CHECK_TEXT(cast_of("_Z5scalev"), "(void (*)())");
    CHECK_TEXT(cast_of("_Z4swapIfiLi32EEvPT_PKT0_S1_"),
               "(void (*)(float *, const int *, float *))");
    CHECK_TEXT(cast_of("_Z5scalePKPfPPKdN2ns4pairE"),
               "(void (*)(float *const *, const double **, ns::pair))");
    /* volatile is not said, nor is what `extern "C"` hides. */
    CHECK_TEXT(cast_of("_Z5scalePVf"), "?");
    CHECK_TEXT(cast_of("scale"), "?");
}

static void other_names_say_nothing(void)
{
    CHECK_TEXT(types_of("scale"), "?");
    CHECK_TEXT(types_of("_Z17shmtune_signatureIFvPf"), "?");
    CHECK_TEXT(types_of("_Z17shmtune_signatureIFvS9_EEvv"), "?");
    CHECK_TEXT(types_of("_Z17shmtune_signatureIFv99fooEEvv"), "?");
    CHECK_TEXT(types_of("_Z17shmtune_signatureIFvPPPPPPPPPPPPPPPPPPPPPPPPPPPP"
                        "PPPPPPPPPPPfEEvv"), "?");
}

static struct shmt_argument argument(enum shmt_role role,
                                     enum shmt_element element)
{
    return (struct shmt_argument){.role = role, .element = element};
}

static bool takes(const char *type, enum shmt_role role,
                  enum shmt_element element)
{
    const struct shmt_argument passed = argument(role, element);
    struct shmt_signature signature;
    char name[128];

    snprintf(name, sizeof name, "_Z17shmtune_signatureIFv%sEEvv", type);
    CHECK(shmt_signature_read(arena, name, &signature));
    CHECK_INT(signature.count, 1);
    return shmt_signature_takes(&signature.parameters[0], &passed);
}

static void arguments_fit_or_do_not(void)
{
    CHECK(takes("Pf", SHMT_ROLE_OUTPUT, SHMT_ELEMENT_F32));
    CHECK(!takes("Pf", SHMT_ROLE_OUTPUT, SHMT_ELEMENT_I32));
    CHECK(!takes("Pf", SHMT_ROLE_SCALAR, SHMT_ELEMENT_F32));
    CHECK(!takes("f", SHMT_ROLE_INPUT, SHMT_ELEMENT_F32));
    CHECK(takes("i", SHMT_ROLE_SCALAR, SHMT_ELEMENT_I32));
    CHECK(!takes("i", SHMT_ROLE_SCALAR, SHMT_ELEMENT_U32));
    CHECK(!takes("i", SHMT_ROLE_SCALAR, SHMT_ELEMENT_I64));
    /* Bits of anything, of anything of that size, of a structure. */
    CHECK(takes("PKv", SHMT_ROLE_INPUT, SHMT_ELEMENT_F64));
    CHECK(takes("PKc", SHMT_ROLE_INPUT, SHMT_ELEMENT_U8));
    CHECK(!takes("PKc", SHMT_ROLE_INPUT, SHMT_ELEMENT_F32));
    CHECK(takes("PKt", SHMT_ROLE_INPUT, SHMT_ELEMENT_F16));
    CHECK(!takes("PKs", SHMT_ROLE_INPUT, SHMT_ELEMENT_F16));
    CHECK(takes("PKh", SHMT_ROLE_INPUT, SHMT_ELEMENT_BOOL));
    CHECK(takes("P6float4", SHMT_ROLE_INPUT, SHMT_ELEMENT_F16));
    CHECK(takes("P4node", SHMT_ROLE_INPUT, SHMT_ELEMENT_F32));
    CHECK(takes("PKf", SHMT_ROLE_INPUT, SHMT_ELEMENT_BYTES));
    /* Of a workspace the size alone. */
    CHECK(takes("Py", SHMT_ROLE_WORKSPACE, SHMT_ELEMENT_I64));
    CHECK(!takes("Py", SHMT_ROLE_WORKSPACE, SHMT_ELEMENT_I32));
    /* By value. */
    CHECK(takes("7Weights", SHMT_ROLE_VALUE, SHMT_ELEMENT_F32));
    CHECK(!takes("Pf", SHMT_ROLE_VALUE, SHMT_ELEMENT_F32));
}

int main(void)
{
    arena = shmt_arena_new();
    if (arena == NULL)
        return EXIT_FAILURE;
    CHECK_RUN(names_are_read);
    CHECK_RUN(symbols_are_read);
    CHECK_RUN(kernels_are_called_as_in_their_source);
    CHECK_RUN(kernels_of_one_name_are_told_apart);
    CHECK_RUN(other_names_say_nothing);
    CHECK_RUN(arguments_fit_or_do_not);
    shmt_arena_free(arena);
    return CHECK_END();
}
