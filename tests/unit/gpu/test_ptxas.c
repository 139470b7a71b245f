/* SPDX-License-Identifier: MIT */
/*
 * test_report: the compiler's resource report, in the forms of several
 * toolkits.
 */
#include "gpu/ptxas.h"
#include "tests/support/check.h"

static const char newer[] =
    "ptxas info    : 0 bytes gmem\n"
    "ptxas info    : Compiling entry function '_Z5spillPfi' for 'sm_90'\n"
    "ptxas info    : Function properties for _Z5spillPfi\n"
    "ptxas         .     272 bytes stack frame, 512 bytes spill stores, "
    "524 bytes spill loads\n"
    "ptxas info    : Used 32 registers, used 0 barriers, 272 bytes "
    "cumulative stack size\n"
    "ptxas info    : Compile time = 16.028 ms\n"
    "ptxas info    : Compiling entry function 'plain' for 'sm_90'\n"
    "ptxas info    : Function properties for plain\n"
    "ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes "
    "spill loads\n"
    "ptxas info    : Used 14 registers, used 1 barriers, 4224 bytes smem\n"
    "ptxas info    : Compile time = 1.525 ms\n";

static const char older[] =
    "ptxas info    : 0 bytes gmem, 256 bytes cmem[3]\n"
    "ptxas info    : Compiling entry function 'k' for 'sm_75'\n"
    "ptxas info    : Function properties for k\n"
    "    8 bytes stack frame, 4 bytes spill stores, 12 bytes spill loads\n"
    "ptxas info    : Used 255 registers, 48 bytes smem, 360 bytes cmem[0], "
    "16 bytes cmem[2]\n";

static void reads_newer_reports(void)
{
    struct shmt_resources found;

    CHECK(shmt_ptxas_resources(newer, "_Z5spillPfi", &found));
    CHECK_INT(found.registers, 32);
    CHECK_INT(found.spill_store_bytes, 512);
    CHECK_INT(found.spill_load_bytes, 524);
    CHECK_INT(found.stack_bytes, 272);
    CHECK_INT(found.shared_static_bytes, 0);
    CHECK_INT(found.constant_bytes, -1);
    CHECK_INT(found.max_threads, -1);
    CHECK(shmt_ptxas_resources(newer, "plain", &found));
    CHECK_INT(found.registers, 14);
    CHECK_INT(found.spill_store_bytes, 0);
    CHECK_INT(found.shared_static_bytes, 4224);
}

static void reads_older_reports(void)
{
    struct shmt_resources found;

    CHECK(shmt_ptxas_resources(older, "k", &found));
    CHECK_INT(found.registers, 255);
    CHECK_INT(found.spill_store_bytes, 4);
    CHECK_INT(found.spill_load_bytes, 12);
    CHECK_INT(found.stack_bytes, 8);
    CHECK_INT(found.shared_static_bytes, 48);
    CHECK_INT(found.constant_bytes, 376);
}

static void names_must_be_whole(void)
{
    struct shmt_resources found = {.registers = -7};

    CHECK(!shmt_ptxas_resources(newer, "plai", &found));
    CHECK(!shmt_ptxas_resources(newer, "plain2", &found));
    CHECK(!shmt_ptxas_resources(newer, "", &found));
    CHECK(!shmt_ptxas_resources("", "plain", &found));
    CHECK_INT(found.registers, -7);
}

/* Cut anywhere, it is found whole or not at all, and nothing is read beyond
 * its end. */
static void cut_reports_are_refused(void)
{
    const size_t length = sizeof older - 1;

    for (size_t cut = 0; cut <= length; cut++) {
        char *part = malloc(cut + 1);
        struct shmt_resources found;

        if (part == NULL)
            abort();
        memcpy(part, older, cut);
        part[cut] = '\0';
        if (shmt_ptxas_resources(part, "k", &found))
            CHECK_INT(found.registers, 255);
        shmt_ptxas_most_shared(part);
        free(part);
    }
}

static void most_shared_is_found(void)
{
    CHECK_INT(shmt_ptxas_most_shared(newer), 4224);
    CHECK_INT(shmt_ptxas_most_shared(older), 48);
    CHECK_INT(shmt_ptxas_most_shared("x.cu(1): error: no"), -1);
    CHECK_INT(shmt_ptxas_most_shared(
                  "Compiling entry function 'k'\nUsed 14 registers, used 1 "
                  "barriers, 400000 bytes smem\n"), 400000);
}

static void absurd_numbers_are_kept_in_range(void)
{
    struct shmt_resources found;

    CHECK(shmt_ptxas_resources(
        "Compiling entry function 'k' for\n 99999999999 bytes spill stores\n"
        "Used 9 registers\n", "k", &found));
    CHECK_INT(found.spill_store_bytes, INT32_MAX);
    CHECK(!shmt_ptxas_resources("Compiling entry function 'k' for\n"
                                "Used 99999999999999999999 registers\n", "k",
                                &found));
    CHECK(!shmt_ptxas_resources("Compiling entry function 'k' for\n"
                                "Used -4 registers\n", "k", &found));
}

int main(void)
{
    CHECK_RUN(reads_newer_reports);
    CHECK_RUN(reads_older_reports);
    CHECK_RUN(names_must_be_whole);
    CHECK_RUN(cut_reports_are_refused);
    CHECK_RUN(most_shared_is_found);
    CHECK_RUN(absurd_numbers_are_kept_in_range);
    return CHECK_END();
}
