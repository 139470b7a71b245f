/* SPDX-License-Identifier: MIT */
/* What is opened, what is left out, and that nothing in a file can do more
 * harm than being left out. */
#include "shmtune.h"

#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/catalogue_fixture.h"
#include "tests/support/check.h"

static const char *root;

static struct shmtune *open_root(void)
{
    struct shmtune *library = NULL;

    CHECK_INT(shmtune_open(root, &library, NULL), SHMTUNE_OK);
    return library;
}

static const struct fixture_tuned one[] = {{1024, 1024, 128, 0, 0, 10}};

/* The one note says `part`, and the default is what is left. */
static void check_left_out(const char *part)
{
    const struct shmtune_device device = fixture_device();
    const int64_t problem[] = {1024, 1024};
    struct shmtune *library = open_root();
    const struct shmtune_kernel *toy = shmtune_kernel_find(library, "toy");
    struct shmtune_choice choice = SHMTUNE_CHOICE_INIT;

    CHECK_INT(shmtune_note_count(library), 1);
    CHECK_HAS(shmtune_note(library, 0), part);
    CHECK_INT(shmtune_select(toy, &device, problem, &choice), SHMTUNE_OK);
    CHECK_INT(choice.match, SHMTUNE_DEFAULT);
    shmtune_close(library);
}

static void begin(void)
{
    fixture_remove("tunings");
}

static void kernels_and_their_parts(void)
{
    struct shmtune_device device = SHMTUNE_DEVICE_INIT;
    struct shmtune_dimension dimension = SHMTUNE_DIMENSION_INIT;
    struct shmtune_argument argument = SHMTUNE_ARGUMENT_INIT;
    const struct shmtune_kernel *toy;
    struct shmtune *library;

    begin();
    library = open_root();
    CHECK_INT(shmtune_note_count(library), 0);
    CHECK_INT(shmtune_kernel_count(library), 1);
    toy = shmtune_kernel_at(library, 0);
    CHECK(toy == shmtune_kernel_find(library, "toy"));
    CHECK(shmtune_kernel_at(library, 1) == NULL);
    CHECK(shmtune_kernel_find(library, "to") == NULL);
    CHECK(shmtune_kernel_find(library, NULL) == NULL);
    CHECK_TEXT(shmtune_kernel_name(toy), "toy");
    CHECK_TEXT(shmtune_kernel_summary(toy), "out = in + 1");
    CHECK_INT(shmtune_dimension_count(toy), 2);
    CHECK_INT(shmtune_dimension_at(toy, 1, &dimension), SHMTUNE_OK);
    CHECK_TEXT(dimension.name, "cols");
    CHECK_INT(dimension.fallback, 1024);
    CHECK_INT(dimension.high, 1000000);
    CHECK_INT(shmtune_dimension_at(toy, 2, &dimension), SHMTUNE_NOT_FOUND);
    CHECK_INT(shmtune_argument_count(toy), 5);
    CHECK_INT(shmtune_argument_at(toy, 0, &argument), SHMTUNE_OK);
    CHECK_TEXT(argument.name, "out");
    CHECK_TEXT(argument.type, "f32");
    CHECK_INT(argument.role, SHMTUNE_OUTPUT);
    CHECK_TEXT(argument.count, "rows * cols");
    CHECK(argument.value == NULL);
    CHECK_INT(shmtune_argument_at(toy, 2, &argument), SHMTUNE_OK);
    CHECK_INT(argument.role, SHMTUNE_SCALAR);
    CHECK(argument.count == NULL);
    CHECK_TEXT(argument.value, "rows * cols");
    CHECK_INT(shmtune_argument_at(toy, 3, &argument), SHMTUNE_OK);
    CHECK_INT(argument.role, SHMTUNE_WORKSPACE);
    CHECK_INT(argument.zeroed, 1);
    CHECK_INT(argument.element_bytes, 8);
    CHECK_INT(shmtune_argument_at(toy, 5, &argument), SHMTUNE_NOT_FOUND);
    CHECK_INT(shmtune_parameter_count(toy), 3);
    CHECK_TEXT(shmtune_parameter_name(toy, 2), "MEMORY");
    CHECK(shmtune_parameter_name(toy, 3) == NULL);
    CHECK_INT(shmtune_tuned_device_count(toy), 0);
    CHECK_INT(shmtune_tuned_device_at(toy, 0, &device), SHMTUNE_NOT_FOUND);
    shmtune_close(library);
}

static void statuses_have_texts(void)
{
    CHECK_TEXT(shmtune_status_text(SHMTUNE_STORAGE),
               "a file could not be read or written");
    CHECK_TEXT(shmtune_status_text((enum shmtune_status)-1), "unknown status");
    CHECK_TEXT(shmtune_match_text(SHMTUNE_EXACT), "exact");
    for (int k = -3; k < 40; k++)
        CHECK((strcmp(shmtune_match_text((enum shmtune_match)k), "unknown") ==
               0) == (k < SHMTUNE_EXACT || k > SHMTUNE_LEARNT));
}

static void empty_handles(void)
{
    struct shmtune_message message = {""};
    struct shmtune *library = NULL;
    char list[2048];

    CHECK_INT(shmtune_open(fixture_path("none"), &library, NULL), SHMTUNE_OK);
    CHECK_INT(shmtune_kernel_count(library), 0);
    CHECK_INT(shmtune_note_count(library), 1);
    CHECK_HAS(shmtune_note(library, 0), "no such folder");
    shmtune_close(library);
    library = NULL;
    fixture_put_text("empty/x", "");
    CHECK_INT(symlink("loop", fixture_path("loop")), 0);
    CHECK_INT(shmtune_open(fixture_path("loop"), &library, NULL), SHMTUNE_OK);
    CHECK_INT(shmtune_note_count(library), 1);
    CHECK_HAS(shmtune_note(library, 0), "loop: the folder cannot be entered: ");
    shmtune_close(library);
    CHECK_INT(unlink(fixture_path("loop")), 0);
    library = NULL;
    CHECK_INT(shmtune_open(fixture_path("empty"), &library, NULL),
              SHMTUNE_OK);
    CHECK_INT(shmtune_note_count(library), 1);
    CHECK_HAS(shmtune_note(library, 0), "neither a folder kernels");
    shmtune_close(library);
    library = NULL;
    CHECK_INT(shmtune_open("", &library, &message),
              SHMTUNE_INVALID_ARGUMENT);
    CHECK_HAS(message.text, "empty folder name");
    snprintf(list, sizeof list, "%s:", root);
    CHECK_INT(shmtune_open(list, &library, &message),
              SHMTUNE_INVALID_ARGUMENT);
    CHECK(library == NULL);
    CHECK_INT(shmtune_open(root, NULL, &message), SHMTUNE_INVALID_ARGUMENT);
    shmtune_close(NULL);
    CHECK_INT(shmtune_note_count(NULL), 0);
    CHECK(shmtune_note(NULL, 0) == NULL);
    CHECK_INT(shmtune_kernel_count(NULL), 0);
}

static void search_path(void)
{
    const struct shmtune_device device = fixture_device();
    const int64_t problem[] = {1024, 1024};
    struct shmtune_choice choice = SHMTUNE_CHOICE_INIT;
    struct shmtune *library = NULL;
    char list[4096];

    begin();
    /* The user's folder has tunings only, for the kernel of another. */
    fixture_tune("h100.yaml", &device, one, 1);
    if (rename(fixture_path("tunings"), fixture_path("data")) != 0)
        CHECK(!"rename");
    CHECK_INT(mkdir(fixture_path("user"), 0700), 0);
    CHECK_INT(mkdir(fixture_path("user/shmtune"), 0700), 0);
    CHECK_INT(rename(fixture_path("data"),
                     fixture_path("user/shmtune/tunings")), 0);
    snprintf(list, sizeof list, "relative:%s::.", root);
    setenv("SHMTUNE_PATH", list, 1);
    setenv("XDG_DATA_HOME", fixture_path("user"), 1);
    CHECK_INT(shmtune_open(NULL, &library, NULL), SHMTUNE_OK);
    CHECK(shmtune_note_count(library) >= 2);
    CHECK_HAS(shmtune_note(library, 0), "relative is ignored");
    CHECK_HAS(shmtune_note(library, 1), ". is ignored");
    CHECK_INT(shmtune_select(shmtune_kernel_find(library, "toy"), &device,
                             problem, &choice), SHMTUNE_OK);
    CHECK_INT(choice.match, SHMTUNE_EXACT);
    CHECK_HAS(choice.file, "user/shmtune/tunings/toy/h100.yaml");
    shmtune_close(library);
    /* An explicit path is the whole path. */
    library = open_root();
    CHECK_INT(shmtune_tuned_device_count(shmtune_kernel_at(library, 0)), 0);
    shmtune_close(library);
    unsetenv("SHMTUNE_PATH");
    unsetenv("XDG_DATA_HOME");
    fixture_remove("user");
}

/* The folder of the process is nobody's kernel library. */
static void current_folder_is_not_searched(void)
{
    struct shmtune *library = NULL;
    char before[4096];

    CHECK(getcwd(before, sizeof before) != NULL);
    CHECK_INT(chdir(root), 0);
    setenv("XDG_DATA_HOME", "", 1);
    setenv("HOME", "", 1);
    CHECK_INT(shmtune_open(NULL, &library, NULL), SHMTUNE_OK);
    CHECK(shmtune_kernel_find(library, "toy") == NULL);
    shmtune_close(library);
    CHECK_INT(chdir(before), 0);
}

/* The application goes on with what is left. */
static void newer_files(void)
{
    const struct shmtune_device device = fixture_device();
    const int64_t problem[] = {1024, 1024};
    struct shmtune *library;
    struct shmtune_choice choice = SHMTUNE_CHOICE_INIT;

    begin();
    fixture_put_text("tunings/toy/new.yaml",
                     "format: tuning/4\nkernel: toy\ncolour: green\n");
    check_left_out("new.yaml:1:9: found the format tuning/4, newer than "
                   "tuning/3, the newest that shmtune " SHMTUNE_VERSION
                   " reads: update shmtune");
    fixture_tune("old.yaml", &device, one, 1);
    fixture_put_text("kernels/new.yaml", "format: kernel/3\nname: new\n");
    library = open_root();
    CHECK_INT(shmtune_note_count(library), 2);
    CHECK_HAS(shmtune_note(library, 0), "found the format kernel/3, newer");
    CHECK_INT(shmtune_select(shmtune_kernel_find(library, "toy"), &device,
                             problem, &choice), SHMTUNE_OK);
    CHECK_INT(choice.match, SHMTUNE_EXACT);
    shmtune_close(library);
    fixture_remove("kernels/new.yaml");
}

/* A note has room for the reason, however long the path of its file is. */
static void notes_of_long_paths(void)
{
    const struct shmtune_device device = fixture_device();
    struct shmtune *library = NULL;
    char longer[3000];
    size_t length;

    begin();
    fixture_tune("other.yaml", &device, one, 1);
    fixture_edit("tunings/toy/other.yaml", "kernel: toy", "kernel: boy");
    fixture_put_text("tunings/toy/wrong.yaml", "format: [");
    length = (size_t)snprintf(longer, sizeof longer, "%s", root);
    while (length + 3 < sizeof longer)
        length += (size_t)snprintf(longer + length, sizeof longer - length,
                                   "/.");
    CHECK_INT(shmtune_open(longer, &library, NULL), SHMTUNE_OK);
    CHECK_INT(shmtune_note_count(library), 2);
    for (size_t k = 0; k < 2; k++) {
        CHECK(strncmp(shmtune_note(library, k), root, strlen(root)) == 0);
        CHECK_HAS(shmtune_note(library, k),
                  k == 0 ? "other.yaml: is a tuning of the kernel boy"
                         : "wrong.yaml:2:1: did not find");
    }
    shmtune_close(library);
}

static void first_of_a_name(void)
{
    struct shmtune *library = NULL;
    char list[2048];

    begin();
    fixture_put_text("second/kernels/toy.cu", "none");
    fixture_put_text("second/kernels/bad.yaml", "format: kernel/9\n");
    /* In the shadow of the first folder's. */
    fixture_put_text("second/kernels/toy.yaml",
                     "format: kernel/1\nname: toy\nparameters:\n"
                     "  A: {values: [1], default: 1}\n");
    snprintf(list, sizeof list, "%s:%s", root, fixture_path("second"));
    CHECK_INT(shmtune_open(list, &library, NULL), SHMTUNE_OK);
    CHECK_INT(shmtune_kernel_count(library), 1);
    CHECK_INT(shmtune_note_count(library), 2);
    CHECK_HAS(shmtune_note(library, 0), "bad.yaml:1:9");
    CHECK_HAS(shmtune_note(library, 1), "second/kernels/toy.yaml: left out: "
              "the kernel toy is the one of ");
    shmtune_close(library);
    /* In one folder it is a mistake. */
    fixture_put_text("kernels/toy2.yaml",
                     "format: kernel/1\nname: toy\nparameters:\n"
                     "  A: {values: [1], default: 1}\n");
    CHECK_INT(shmtune_open(root, &library, NULL), SHMTUNE_OK);
    CHECK_INT(shmtune_kernel_count(library), 1);
    CHECK_INT(shmtune_note_count(library), 1);
    CHECK_HAS(shmtune_note(library, 0), "toy2.yaml: left out: the kernel toy "
              "is the one of ");
    shmtune_close(library);
    fixture_remove("kernels/toy2.yaml");
    fixture_remove("second");
}

/* $SHMTUNE_PATH may name what is installed, and any name may be a link. */
static void folders_count_once(void)
{
    const struct shmtune_device device = fixture_device();
    struct shmtune *library = NULL;
    char list[2048];

    begin();
    fixture_tune("a.yaml", &device, one, 1);
    CHECK_INT(symlink(root, fixture_path("again")), 0);
    snprintf(list, sizeof list, "%s:%s/:%s", root, root,
             fixture_path("again"));
    CHECK_INT(shmtune_open(list, &library, NULL), SHMTUNE_OK);
    CHECK_INT(shmtune_note_count(library), 0);
    CHECK_INT(shmtune_kernel_count(library), 1);
    CHECK_INT(shmtune_tuned_device_count(shmtune_kernel_at(library, 0)), 1);
    shmtune_close(library);
    unlink(fixture_path("again"));
}

static char *replace(const char *text, const char *what, const char *with)
{
    const char *at = strstr(text, what);
    char *out = malloc(strlen(text) + strlen(with) + 1);

    CHECK(at != NULL && out != NULL);
    if (at == NULL || out == NULL)
        exit(EXIT_FAILURE);
    memcpy(out, text, (size_t)(at - text));
    strcpy(out + (at - text), with);
    strcat(out, at + strlen(what));
    return out;
}

static void stale_and_misplaced(void)
{
    const struct shmtune_device device = fixture_device();
    struct shmtune *library = NULL;
    char *text, *changed;

    begin();
    text = fixture_tuning(&device, one, 1);
    changed = replace(text, "kernel: toy", "kernel: boy");
    fixture_put_text("tunings/toy/a.yaml", changed);
    free(changed);
    check_left_out("is a tuning of the kernel boy");

    fixture_remove("tunings");
    fixture_put_text("tunings/none/a.yaml", text);
    check_left_out("there is no kernel none");

    /* What is no folder is none of a kernel, whatever its name. */
    fixture_remove("tunings");
    fixture_put_text("tunings/toy", text);
    fixture_put_text("tunings/none", text);
    CHECK_INT(shmtune_open(root, &library, NULL), SHMTUNE_OK);
    CHECK_INT(shmtune_note_count(library), 0);
    shmtune_close(library);

    /* The source changes by one character. */
    fixture_remove("tunings");
    fixture_put_text("tunings/toy/a.yaml", text);
    fixture_put_text("kernels/toy.cu", "extern \"C\" __global__ void toy() {}");
    check_left_out("is stale");
    fixture_end();
    root = fixture_begin();
    free(text);
}

static void values_out_of_the_space(void)
{
    const struct shmtune_device device = fixture_device();
    const struct fixture_tuned bad[] = {
        {1024, 1024, 96, 0, 0, 1},        /* not a value of BLOCK */
        {2000000, 1024, 128, 0, 0, 1},    /* not a size of the kernel */
        {1024, 100, 256, 0, 0, 1},        /* breaks a constraint */
    };
    static const char *const why[] = {"96", "2000000", "BLOCK <= max"};

    for (size_t k = 0; k < 3; k++) {
        begin();
        fixture_tune("h100.yaml", &device, &bad[k], 1);
        check_left_out(why[k]);
    }
}

/* Of two launches one takes many registers and the other many threads: the
 * most of each would not fit, and each by itself does, if the file says so. */
static void each_launch_by_itself(void)
{
    static const char most[] = "registers: 128\n";
    static const char each[] = "    launches: [[128, 0, 1024], [20, 0, 1024]]\n";
    const struct fixture_tuned tuned[] = {{1024, 1024, 1024, 0, 128, 1}};
    const struct shmtune_device device = fixture_device();
    struct shmtune *library;
    struct shmt_text whole = {0};
    char *text, *at;

    begin();
    fixture_clear_first(true);
    text = fixture_tuning(&device, tuned, 1);
    at = strstr(text, most) + strlen(most);
    shmt_text_addf(&whole, "%.*s%s%s", (int)(at - text), text, each, at);
    fixture_put_text("tunings/toy/h100.yaml", whole.data);
    library = open_root();
    CHECK_INT(shmtune_note_count(library), 0);
    CHECK_INT(shmtune_tuned_device_count(shmtune_kernel_find(library, "toy")),
              1);
    shmtune_close(library);

    /* The launch of 1024 threads takes too many. */
    memcpy(strstr(whole.data, "[20,"), "[99,", 4);
    fixture_put_text("tunings/toy/h100.yaml", whole.data);
    check_left_out("launch 2: no block fits a multiprocessor: one takes 106496 "
                   "registers, there are 65536");
    fixture_clear_first(false);
    shmt_text_free(&whole);
    free(text);
}

static void unreadable_files(void)
{
    begin();
    fixture_put_text("tunings/toy/empty.yaml", "");
    check_left_out("empty.yaml");
    begin();
    fixture_put_text("tunings/toy/folder.yaml/x", "");
    check_left_out("folder.yaml");
    begin();
    fixture_put_text("tunings/toy/x.yaml", "a");
    CHECK_INT(unlink(fixture_path("tunings/toy/x.yaml")), 0);
    CHECK_INT(symlink("nowhere", fixture_path("tunings/toy/x.yaml")), 0);
    check_left_out("x.yaml");
    begin();
    fixture_put_text("tunings/toy/x.yaml", "a");
    CHECK_INT(unlink(fixture_path("tunings/toy/x.yaml")), 0);
    CHECK_INT(mkfifo(fixture_path("tunings/toy/x.yaml"), 0600), 0);
    check_left_out("x.yaml");
}

/* The first `size` bytes of a tuning, or all with a change in it. */
static void check_hostile(const char *text, size_t size)
{
    const struct shmtune_device device = fixture_device();
    const int64_t problem[] = {1024, 1024}, other[] = {77, 3000};
    struct shmtune_choice choice = SHMTUNE_CHOICE_INIT;
    struct shmtune *library;
    const struct shmtune_kernel *toy;

    fixture_put("tunings/toy/h100.yaml", text, size);
    library = open_root();
    toy = shmtune_kernel_find(library, "toy");
    CHECK_INT(shmtune_select(toy, &device, problem, &choice), SHMTUNE_OK);
    /* What was not left out is a configuration of the kernel. */
    CHECK(choice.match != SHMTUNE_DEFAULT ||
          shmtune_note_count(library) > 0 ||
          shmtune_tuned_device_count(toy) > 0);
    CHECK_INT(shmtune_select(toy, &device, other, &choice), SHMTUNE_OK);
    for (size_t k = 0; k < shmtune_note_count(library); k++)
        CHECK(strlen(shmtune_note(library, k)) > 0 &&
              strchr(shmtune_note(library, k), '\n') == NULL);
    shmtune_close(library);
}

static void every_truncation(void)
{
    const struct shmtune_device device = fixture_device();
    char *text = fixture_tuning(&device, one, 1);
    const size_t size = strlen(text);

    begin();
    for (size_t cut = 0; cut < size; cut++)
        check_hostile(text, cut);
    free(text);
}

static void flipped_bits(void)
{
    const struct shmtune_device device = fixture_device();
    char *text = fixture_tuning(&device, one, 1);
    const size_t size = strlen(text);
    uint32_t state = 12345;

    begin();
    for (int round = 0; round < 2000; round++) {
        size_t at;
        char kept;

        state = state * 1664525 + 1013904223;
        at = (state >> 8) % size;
        kept = text[at];
        text[at] = (char)(text[at] ^ (1 << (state >> 4) % 8));
        check_hostile(text, size);
        text[at] = kept;
    }
    free(text);
}

static void huge_numbers(void)
{
    static const char *const numbers[] = {
        "99999999999999999999999999", "-1", "1e308", "nan",
        "0x7fffffffffffffff",
        "[1, 2]", "{a: 1}", "2147483648", "9223372036854775807", "\"\""};
    static const char *const fields[] = {
        "multiprocessors: 132", "rows: 1024", "BLOCK: 128", "registers: 32"};
    const struct shmtune_device device = fixture_device();
    char *text = fixture_tuning(&device, one, 1);

    begin();
    for (size_t f = 0; f < 4; f++)
        for (size_t n = 0; n < 10; n++) {
            char with[128];
            char *changed;

            snprintf(with, sizeof with, "%.*s: %s",
                     (int)strcspn(fields[f], ":"), fields[f], numbers[n]);
            changed = replace(text, fields[f], with);
            check_hostile(changed, strlen(changed));
            free(changed);
        }
    free(text);
}

int main(void)
{
    root = fixture_begin();
    CHECK_RUN(kernels_and_their_parts);
    CHECK_RUN(statuses_have_texts);
    CHECK_RUN(empty_handles);
    CHECK_RUN(search_path);
    CHECK_RUN(current_folder_is_not_searched);
    CHECK_RUN(newer_files);
    CHECK_RUN(notes_of_long_paths);
    CHECK_RUN(first_of_a_name);
    CHECK_RUN(folders_count_once);
    CHECK_RUN(stale_and_misplaced);
    CHECK_RUN(values_out_of_the_space);
    CHECK_RUN(each_launch_by_itself);
    CHECK_RUN(unreadable_files);
    CHECK_RUN(every_truncation);
    CHECK_RUN(flipped_bits);
    CHECK_RUN(huge_numbers);
    fixture_end();
    return CHECK_END();
}
