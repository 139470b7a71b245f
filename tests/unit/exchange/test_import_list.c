/* SPDX-License-Identifier: MIT */
/* import: lists of values as Python writes them. */
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/text.h"
#include "tests/support/check.h"
#include "tests/support/import_fixture.h"

static void check_list(const char *text, const char *expected)
{
    struct shmt_arena *arena = shmt_arena_new();
    struct shmt_import_list list = {0};
    struct shmt_text got = {0};

    err.text[0] = '\0';
    if (shmt_import_parse_list(arena, "f.json: Values", text, &list, &err) !=
        SHMTUNE_OK)
        shmt_text_add(&got, err.text);
    for (size_t k = 0; k < list.count; k++) {
        shmt_text_add(&got, k == 0 ? "" : " ");
        if (list.type == SHMT_VALUE_INT)
            shmt_text_addf(&got, "%lld", (long long)list.values[k].i);
        else if (list.type == SHMT_VALUE_REAL)
            shmt_text_addf(&got, "%g.", list.values[k].r);
        else
            shmt_text_add(&got, list.values[k].w);
    }
    if (strncmp(expected, "~", 1) == 0)
        CHECK_HAS(shmt_text_string(&got), expected + 1);
    else
        CHECK_TEXT(shmt_text_string(&got), expected);
    shmt_text_free(&got);
    shmt_arena_free(arena);
}

static void lists_are_pythons(void)
{
    check_list("[1, 2, 4]", "1 2 4");
    check_list(" ( 1 ,-2 , 3, ) ", "1 -2 3");
    check_list("[0x10, 2**5, 12//5, 1_000]", "16 32 2 1000");
    check_list("[0.5, 1, -1.5]", "0.5. 1. -1.5.");
    check_list("['a', \"b-c\"]", "a b-c");
    check_list("[True, False]", "1 0");
    check_list("range(4)", "0 1 2 3");
    check_list("range(1, 10, 4)", "1 5 9");
    check_list("list(range(5, 0, -2))", "5 3 1");
    check_list("range(3, 3)", "");
    check_list("[2**i for i in range(5)]", "1 2 4 8 16");
    check_list("[x*2 for x in [1,2,3,4] if x % 2 == 0 and x != 2]", "8");
    check_list("[i/2 for i in range(1, 4)]", "0.5. 1. 1.5.");
    check_list("[w for w in ['a', 'b'] if w != 'a']", "b");
    check_list("[16*i for i in range(1,3)] + [1] + list((7, 9))",
               "16 32 1 7 9");
    check_list("[(i if i > 1 else 10) for i in range(3)]", "10 10 2");
    check_list("[i for i in list(range(2)) + [5]]", "0 1 5");
    check_list("[max(i, 2) for i in (1, 2, 3)]", "2 2 3");
    check_list("[-9223372036854775808, 9223372036854775807]",
               "-9223372036854775808 9223372036854775807");
}

static void lists_beyond_that_are_refused(void)
{
    check_list("", "~f.json: Values: character 1: expected a list");
    check_list("5", "~expected a list");
    check_list("[1, 2", "~character 6: expected ','");
    check_list("[1 2]", "~found '2', expected an operator");
    check_list("[1, [2]]", "~character 5: a list in a list");
    check_list("[1, 'a', 0.5]", "1 a 0.5");
    check_list("[1, 2] * 3", "~expected the end");
    check_list("range(10**9)", "~a range of 1000000000 values, at most 65535");
    check_list("range(0, 9223372036854775807, 1)", "~at most 65535");
    check_list("range(-9223372036854775808, 9223372036854775807)",
               "~at most 65535");
    check_list("range(1, 5, 0)", "~the step of a range is 0");
    check_list("range(1.5)", "~takes integers");
    check_list("range()", "~found the end, expected a value");
    check_list("range(1, 2, 3, 4)", "~one to three numbers");
    check_list("[i for i in range(3) for j in range(3)]", "~only one 'for'");
    check_list("[j for i in range(3)]", "~unknown name 'j'");
    check_list("[1 / i for i in range(3)]", "~division by zero where i = 0");
    check_list("[10**i for i in range(30)]", "~overflow where i = 19");
    check_list("[open('x') for i in range(3)]", "~unknown function 'open'");
    check_list("[i for 3 in range(3)]", "~expected a name");
    check_list("[i for i of range(3)]", "~expected 'in'");
    check_list("np.arange(3)", "~expected a list");
    check_list("__import__('os')", "~expected a list");
    check_list("[1, lambda: 2]", "~found 'lambda'");
}

/* A list that ends too early, right before memory that is not there. */
static void nothing_behind_the_end_is_read(void)
{
    static const char *const texts[] = {
        "list([1]", "list([1])", "[1", "range(1", "[i for i in list([1]",
        "[1] +"};
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *const memory = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    CHECK(memory != MAP_FAILED);
    CHECK_INT(mprotect(memory + page, page, PROT_NONE), 0);
    for (size_t k = 0; k < sizeof texts / sizeof texts[0]; k++) {
        const size_t size = strlen(texts[k]) + 1;

        memcpy(memory + page - size, texts[k], size);
        check_list(memory + page - size, k == 1 ? "1" : "~f.json: Values");
    }
    munmap(memory, 2 * page);
}

static void hostile_lists_are_refused_at_once(void)
{
    static const struct {
        const char *piece, *message;
    } hostile[] = {
        {"list(", "nested too deep"}, {"[1]+", "expected a list"},
        {"(", "a value"}, {"[", "a list in a list"},
        {"[1 for i in ", "nested too deep"},
    };
    const clock_t start = clock();

    for (size_t k = 0; k < sizeof hostile / sizeof *hostile; k++) {
        char *text = repeated("", hostile[k].piece, 60000);
        struct shmt_arena *arena = shmt_arena_new();
        struct shmt_import_list list;

        CHECK(shmt_import_parse_list(arena, "f.json", text, &list, &err) ==
              SHMTUNE_INVALID_FILE);
        shmt_arena_free(arena);
        free(text);
    }
    CHECK((double)(clock() - start) / CLOCKS_PER_SEC < 2.0);
}

int main(void)
{
    CHECK_RUN(lists_are_pythons);
    CHECK_RUN(lists_beyond_that_are_refused);
    CHECK_RUN(nothing_behind_the_end_is_read);
    CHECK_RUN(hostile_lists_are_refused_at_once);
    return CHECK_END();
}
