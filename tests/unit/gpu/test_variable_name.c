/* SPDX-License-Identifier: MIT */
/* variable_name: names of variables in binaries, as nvcc and NVRTC of CUDA 13.0
 * make them. */
#include "gpu/variable_name.h"
#include "tests/support/check.h"

#define FILE_A "32_INTERNAL_86211291_4_v_cu__Z1kPf"
#define FILE_B "33_INTERNAL_0bf6ab9d_5_v2_cu__Z1kPf"
#define NONE_A "34_GLOBAL__N__86211291_4_v_cu__Z1kPf"
#define NONE_B "35_GLOBAL__N__0bf6ab9d_5_v2_cu__Z1kPf"

static const char *name_of(const char *symbol)
{
    static struct shmt_text text;

    shmt_text_clear(&text);
    shmt_variable_add_name(symbol, &text);
    return shmt_text_string(&text);
}

static void names_are_those_of_the_source(void)
{
    CHECK_TEXT(name_of("plain"), "plain");
    CHECK_TEXT(name_of("_ZN7filters7weightsE"), "filters::weights");
    CHECK_TEXT(name_of("_ZN2nsL4deepE"), "ns::deep");
    CHECK_TEXT(name_of("_ZN" FILE_A NONE_A "5countE"), "count");
    CHECK_TEXT(name_of("_ZN" FILE_A "2ns" NONE_A "4deepE"), "ns::deep");
    CHECK_TEXT(name_of("_Z2vtILi3EE"), "_Z2vtILi3EE");
    CHECK_TEXT(name_of("_ZN7filters9weightsE"), "_ZN7filters9weightsE");
    CHECK_TEXT(name_of("_ZN99weightsE"), "_ZN99weightsE");
    CHECK_TEXT(name_of("_ZN"), "_ZN");
}

static void names_of_a_file_are_known(void)
{
    CHECK(shmt_variable_is_of_file("_ZN" FILE_A NONE_A "5countE"));
    CHECK(shmt_variable_is_of_file("_ZN2ns12_GLOBAL__N_15countE"));
    CHECK(shmt_variable_is_of_file("_ZZN" FILE_A "2ns1kEPfE5inner"));
    CHECK(!shmt_variable_is_of_file("_ZN7filters7weightsE"));
    CHECK(!shmt_variable_is_of_file("_INTERNAL_count"));
    CHECK(!shmt_variable_is_of_file(""));
}

static void one_is_found_in_another_file(void)
{
    CHECK(shmt_variable_is_same("_ZN" FILE_A NONE_A "5countE",
                                "_ZN" FILE_B NONE_B "5countE"));
    CHECK(shmt_variable_is_same("_ZN" FILE_A "2ns" NONE_A "4deepE",
                                "_ZN" FILE_B "2ns" NONE_B "4deepE"));
    CHECK(shmt_variable_is_same("plain", "plain"));
    CHECK(!shmt_variable_is_same("_ZN" FILE_A NONE_A "5countE",
                                 "_ZN" FILE_B "2ns" NONE_B "5countE"));
    CHECK(!shmt_variable_is_same("_ZN" FILE_A "5countE",
                                 "_ZN" FILE_A "5couldE"));
    CHECK(!shmt_variable_is_same("plain", "plain2"));
    CHECK(!shmt_variable_is_same("_ZN2ns5countE", "_ZN2ns5count"));
}

static void those_of_the_toolkit_are_told(void)
{
    CHECK(shmt_variable_is_of_toolkit("_ZN" FILE_A
                                      "4cuda3std3__45__cpo5beginE"));
    CHECK(shmt_variable_is_of_toolkit("cuda::std::end"));
    CHECK(shmt_variable_is_of_toolkit("_ZN3cub4tileE"));
    CHECK(!shmt_variable_is_of_toolkit("_ZN4cuda4tileE"));
    CHECK(!shmt_variable_is_of_toolkit("_ZN2ns4cuda3std5beginE"));
    CHECK(!shmt_variable_is_of_toolkit("begin"));
}

int main(void)
{
    CHECK_RUN(names_are_those_of_the_source);
    CHECK_RUN(names_of_a_file_are_known);
    CHECK_RUN(one_is_found_in_another_file);
    CHECK_RUN(those_of_the_toolkit_are_told);
    return CHECK_END();
}
