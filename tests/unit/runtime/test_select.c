/* SPDX-License-Identifier: MIT */
/* Which configuration the library chooses, and what it says of its choice. */
#include "shmtune.h"

#include "tests/support/catalogue_fixture.h"
#include "tests/support/check.h"

static const char *root;
static struct shmtune *library;
static const struct shmtune_kernel *toy;

/* Opens what is in the folder now; ends what was open. */
static void open_again(void)
{
    shmtune_close(library);
    library = NULL;
    CHECK_INT(shmtune_open(root, &library, NULL), SHMTUNE_OK);
    toy = shmtune_kernel_find(library, "toy");
    CHECK(toy != NULL);
}

static void begin(void)
{
    fixture_remove("tunings");
}

static double value_of(const struct shmtune_choice *choice, const char *name)
{
    struct shmtune_value value = {.size = sizeof value, .number = -1};

    shmtune_choice_value(choice, name, &value);
    return value.number;
}

static struct shmtune_choice choose(const struct shmtune_device *device,
                                    int64_t rows, int64_t cols)
{
    const int64_t problem[] = {rows, cols};
    struct shmtune_choice choice = SHMTUNE_CHOICE_INIT;
    char text[8192], end[512];

    CHECK_INT(shmtune_select(toy, device, problem, &choice), SHMTUNE_OK);
    shmtune_explain(toy, device, problem, text, sizeof text);
    snprintf(end, sizeof end, ": taken\n%s: %s\n",
             shmtune_match_text(choice.match), choice.reason);
    CHECK_HAS(text, end);
    CHECK(choice.kernel == toy);
    CHECK_INT(choice.problem[0], rows);
    CHECK_INT(choice.problem[1], cols);
    CHECK(choice.reason != NULL);
    return choice;
}

static void levels(void)
{
    const struct fixture_tuned on_h100[] = {
        {1024, 1024, 128, 0, 0, 10}, {4096, 4096, 256, 32, 0, 100}};
    const struct fixture_tuned on_a100[] = {{1024, 1024, 64, 0, 0, 20}};
    struct shmtune_device h100 = fixture_device(), other = h100, a100 = h100;
    struct shmtune_choice choice = SHMTUNE_CHOICE_INIT;

    begin();
    a100.compute_major = 8;
    strcpy(a100.name, "NVIDIA A100");
    fixture_tune("h100.yaml", &h100, on_h100, 2);
    fixture_tune("a100.yaml", &a100, on_a100, 1);
    open_again();
    CHECK_INT(shmtune_note_count(library), 0);
    CHECK_INT(shmtune_tuned_device_count(toy), 2);
    CHECK_INT(shmtune_tuned_device_at(toy, 0, &other), SHMTUNE_OK);
    CHECK_TEXT(other.name, "NVIDIA A100");
    other = h100;

    choice = choose(&h100, 1024, 1024);
    CHECK_INT(choice.match, SHMTUNE_EXACT);
    CHECK_INT(value_of(&choice, "BLOCK"), 128);
    CHECK(choice.time_us == 10 && choice.default_us == 20);
    CHECK_HAS(choice.file, "tunings/toy/h100.yaml");
    CHECK_INT(choice.compute_major, 9);

    choice = choose(&h100, 4000, 4000);
    CHECK_INT(choice.match, SHMTUNE_NEAREST_SIZE);
    CHECK_INT(value_of(&choice, "BLOCK"), 256);
    CHECK_INT(value_of(&choice, "SHARED_KIB"), 32);
    CHECK_INT(choice.tuned_problem[0], 4096);

    strcpy(other.name, "NVIDIA H100 PCIe");
    other.multiprocessors = 114;
    choice = choose(&other, 1024, 1024);
    CHECK_INT(choice.match, SHMTUNE_SAME_CAPABILITY);
    CHECK_INT(value_of(&choice, "BLOCK"), 128);
    CHECK_INT(choice.tuned_problem[0], 1024);

    choice = choose(&a100, 1024, 1024);
    CHECK_INT(choice.match, SHMTUNE_EXACT);
    CHECK_INT(value_of(&choice, "BLOCK"), 64);
    other.compute_major = 12;
    choice = choose(&other, 1024, 1024);
    CHECK_INT(choice.match, SHMTUNE_DEFAULT);
    CHECK_INT(value_of(&choice, "BLOCK"), 32);
    CHECK(choice.tuned_problem == NULL && choice.file == NULL);
    CHECK(choice.time_us < 0 && choice.default_us < 0);
    CHECK_HAS(choice.reason, "compute capability");
}

/* By the product of sizes 32 x 32 would be as near to 1024 x 1 as can be. */
static void nearest_is_by_shape(void)
{
    const struct fixture_tuned tuned[] = {{32, 32, 32, 0, 0, 1},
                                          {2048, 1, 32, 32, 0, 2}};
    const struct shmtune_device device = fixture_device();
    struct shmtune_choice choice = SHMTUNE_CHOICE_INIT;

    begin();
    fixture_tune("h100.yaml", &device, tuned, 2);
    open_again();
    choice = choose(&device, 1024, 1);
    CHECK_INT(choice.match, SHMTUNE_NEAREST_SIZE);
    CHECK_INT(choice.tuned_problem[0], 2048);
    CHECK_INT(choice.tuned_problem[1], 1);
}

/* An odd size goes by an odd one, though a power of two is nearer. */
static void divisibility_counts(void)
{
    const struct fixture_tuned tuned[] = {{1024, 1024, 256, 0, 0, 1},
                                          {901, 901, 64, 0, 0, 2}};
    const struct shmtune_device device = fixture_device();
    struct shmtune_choice choice = SHMTUNE_CHOICE_INIT;

    begin();
    fixture_tune("h100.yaml", &device, tuned, 2);
    open_again();
    choice = choose(&device, 1021, 1021);
    CHECK_INT(choice.tuned_problem[0], 901);
    choice = choose(&device, 1020, 1020);
    CHECK_INT(choice.tuned_problem[0], 1024);
}

/* 280 blocks of 1024 threads on 132 multiprocessors with two each: the second
 * round is nearly empty.  512 fill both. */
static void an_idle_device_counts(void)
{
    const struct fixture_tuned tuned[] = {{4096, 4096, 1024, 0, 0, 1},
                                          {64, 64, 32, 0, 0, 2}};
    const struct shmtune_device device = fixture_device();
    const int64_t problem[] = {280, 1024};
    struct shmtune_choice choice = SHMTUNE_CHOICE_INIT;
    char text[4096];

    begin();
    fixture_tune("h100.yaml", &device, tuned, 2);
    open_again();
    choice = choose(&device, 512, 1024);
    CHECK_INT(choice.tuned_problem[0], 4096);
    choice = choose(&device, 280, 1024);
    CHECK_INT(choice.tuned_problem[0], 64);
    shmtune_explain(toy, &device, problem, text, sizeof text);
    CHECK_HAS(text, "wave efficiency 53 %, 99 % where it was measured");
}

/* One that only clears an output says nothing of how well it is filled. */
static void a_launch_without_input_does_not_count(void)
{
    fixture_clear_first(true);
    an_idle_device_counts();
    fixture_clear_first(false);
}

/* Where the winner may not run, one that was as good there may. */
static void ties_stand_in(void)
{
    const struct fixture_tuned tuned[] = {{1024, 1024, 256, 0, 0, 1}};
    const struct shmtune_device device = fixture_device();
    const int64_t problem[] = {1024, 100};
    static const char only[] = "  - {}\n";
    struct shmtune_choice choice = SHMTUNE_CHOICE_INIT;
    char text[4096];
    char *page, *end;

    begin();
    page = fixture_tuning(&device, tuned, 1);
    end = page == NULL ? NULL : strstr(page, only);
    CHECK(end != NULL);
    if (end == NULL)
        return;
    *end = '\0';
    snprintf(text, sizeof text, "%s%s  - {BLOCK: 128}\n  - {BLOCK: 64}\n%s",
             page, only, end + strlen(only));
    free(page);
    fixture_put_text("tunings/toy/h100.yaml", text);
    open_again();
    choice = choose(&device, 1024, 1024);
    CHECK_INT(value_of(&choice, "BLOCK"), 256);
    choice = choose(&device, 1024, 100);
    CHECK_INT(choice.match, SHMTUNE_NEAREST_SIZE);
    CHECK_INT(value_of(&choice, "BLOCK"), 64);
    shmtune_explain(toy, &device, problem, text, sizeof text);
    CHECK_HAS(text, "of a tie, wave efficiency");
}

/* What was best at 1024 columns breaks a constraint at 100. */
static void constraints_hold_at_this_size(void)
{
    const struct fixture_tuned tuned[] = {{1024, 1024, 256, 0, 0, 1},
                                          {1024, 4096, 64, 0, 0, 2},
                                          {1024, 8192, 1024, 0, 0, 2}};
    const struct shmtune_device device = fixture_device();
    const int64_t problem[] = {1024, 100};
    struct shmtune_choice choice = SHMTUNE_CHOICE_INIT;
    char text[4096];

    begin();
    fixture_tune("h100.yaml", &device, tuned, 3);
    open_again();
    choice = choose(&device, 1024, 100);
    CHECK_INT(choice.match, SHMTUNE_NEAREST_SIZE);
    CHECK_INT(value_of(&choice, "BLOCK"), 64);
    CHECK_INT(choice.tuned_problem[1], 4096);
    shmtune_explain(toy, &device, problem, text, sizeof text);
    CHECK_HAS(text, "cols=1024");
    CHECK_HAS(text, "the constraint \"BLOCK <= max(cols, 32)\" does not hold");
    CHECK_HAS(text, "cols=4096");
    CHECK_HAS(text, "taken");

    choice = choose(&device, 1024, 40);
    CHECK_INT(choice.match, SHMTUNE_DEFAULT);
    CHECK_INT(value_of(&choice, "BLOCK"), 32);
    CHECK_HAS(choice.reason, "fits this problem");
}

static void shared_memory_limits_hold(void)
{
    const struct fixture_tuned tuned[] = {{1024, 1024, 256, 200, 0, 1},
                                          {4096, 4096, 256, 32, 0, 2}};
    const struct shmtune_device device = fixture_device();
    struct shmtune_device small = device;
    struct shmtune_choice choice = SHMTUNE_CHOICE_INIT;
    const int64_t problem[] = {1024, 1024};
    char text[4096];

    begin();
    fixture_tune("h100.yaml", &device, tuned, 2);
    open_again();
    choice = choose(&device, 1024, 1024);
    CHECK_INT(choice.match, SHMTUNE_EXACT);
    CHECK_INT(value_of(&choice, "SHARED_KIB"), 200);

    small.shared_per_block_optin = 101376;
    small.shared_per_multiprocessor = 102400;
    choice = choose(&small, 1024, 1024);
    CHECK_INT(choice.match, SHMTUNE_SAME_CAPABILITY);
    CHECK_INT(value_of(&choice, "SHARED_KIB"), 32);
    shmtune_explain(toy, &small, problem, text, sizeof text);
    CHECK_HAS(text, "shared memory is 204800 bytes a block");
    CHECK_HAS(text, "101376");
}

/* 255 registers x 1024 threads do not fit any multiprocessor: a tuning that
 * claims so was not measured on its device. */
static void residency_is_checked(void)
{
    const struct fixture_tuned tuned[] = {{1024, 1024, 1024, 0, 255, 1},
                                          {4096, 4096, 256, 0, 200, 2}};
    const struct shmtune_device device = fixture_device();
    struct shmtune_device small = device;
    struct shmtune_choice choice = SHMTUNE_CHOICE_INIT;

    begin();
    fixture_tune("h100.yaml", &device, tuned, 2);
    open_again();
    CHECK_INT(shmtune_note_count(library), 1);
    CHECK_HAS(shmtune_note(library, 0), "rows=1024 cols=1024");
    CHECK_HAS(shmtune_note(library, 0), "no block fits a multiprocessor");
    CHECK_HAS(shmtune_note(library, 0), "registers");
    CHECK(shmtune_note(library, 1) == NULL);
    choice = choose(&device, 1024, 1024);
    CHECK_INT(choice.match, SHMTUNE_NEAREST_SIZE);
    CHECK_INT(value_of(&choice, "BLOCK"), 256);

    small.registers_per_block = small.registers_per_multiprocessor = 32768;
    choice = choose(&small, 4096, 4096);
    CHECK_INT(choice.match, SHMTUNE_DEFAULT);
}

/* Zero means "not known" in the caller's description. */
static void unknown_limits_agree(void)
{
    const struct fixture_tuned tuned[] = {{1024, 1024, 256, 200, 0, 1}};
    const struct shmtune_device device = fixture_device();
    struct shmtune_device bare = {.size = sizeof bare, .compute_major = 9};
    struct shmtune_choice choice = SHMTUNE_CHOICE_INIT;
    const int64_t problem[] = {1024, 1024};

    begin();
    fixture_tune("h100.yaml", &device, tuned, 1);
    open_again();
    choice = choose(&bare, 1024, 1024);
    CHECK_INT(choice.match, SHMTUNE_SAME_CAPABILITY);
    strcpy(bare.name, device.name);
    choice = choose(&bare, 1024, 1024);
    CHECK_INT(choice.match, SHMTUNE_EXACT);
    choice = choose(&bare, 1024, 1025);
    CHECK_INT(choice.match, SHMTUNE_NEAREST_SIZE);

    bare.compute_major = 0;
    CHECK_INT(shmtune_select(toy, &bare, problem, &choice),
              SHMTUNE_INVALID_ARGUMENT);
}

/* Of two files for one device and problem the first counts; the problems of
 * both are candidates. */
static void files_of_one_device(void)
{
    const struct fixture_tuned first[] = {{1024, 1024, 128, 0, 0, 1}};
    const struct fixture_tuned second[] = {{1024, 1024, 64, 0, 0, 1},
                                           {4096, 4096, 256, 0, 0, 9}};
    const struct shmtune_device device = fixture_device();
    struct shmtune_choice choice = SHMTUNE_CHOICE_INIT;

    begin();
    fixture_tune("a.yaml", &device, first, 1);
    fixture_tune("b.yaml", &device, second, 2);
    open_again();
    choice = choose(&device, 1024, 1024);
    CHECK_INT(value_of(&choice, "BLOCK"), 128);
    choice = choose(&device, 1024, 1025);
    CHECK_INT(value_of(&choice, "BLOCK"), 128);
    choice = choose(&device, 4096, 4096);
    CHECK_INT(choice.match, SHMTUNE_EXACT);
    CHECK_INT(value_of(&choice, "BLOCK"), 256);
}

static void other_devices_by_size(void)
{
    const struct fixture_tuned big[] = {{1024, 1024, 256, 0, 0, 1}};
    const struct fixture_tuned little[] = {{1024, 1024, 64, 0, 0, 1}};
    struct shmtune_device device = fixture_device(), mine = device;
    struct shmtune_choice choice = SHMTUNE_CHOICE_INIT;

    begin();
    fixture_tune("big.yaml", &device, big, 1);
    strcpy(device.name, "NVIDIA H100 slice");
    device.multiprocessors = 16;
    fixture_tune("little.yaml", &device, little, 1);
    open_again();
    strcpy(mine.name, "NVIDIA H100 other slice");
    mine.multiprocessors = 32;
    choice = choose(&mine, 1024, 1024);
    CHECK_INT(choice.match, SHMTUNE_SAME_CAPABILITY);
    CHECK_INT(value_of(&choice, "BLOCK"), 64);
    mine.multiprocessors = 114;
    choice = choose(&mine, 1024, 1024);
    CHECK_INT(value_of(&choice, "BLOCK"), 256);
}

/* Of two devices with as many multiprocessors, the one whose memory is as
 * fast, or the first if that is not known.  A much nearer size is more. */
static void other_devices_by_memory(void)
{
    const struct fixture_tuned slow[] = {{1024, 1024, 256, 0, 0, 1},
                                         {4096, 4096, 128, 0, 0, 1}};
    const struct fixture_tuned fast[] = {{1024, 1024, 64, 0, 0, 1}};
    struct shmtune_device device = fixture_device(), mine;
    struct shmtune_choice choice = SHMTUNE_CHOICE_INIT;

    begin();
    fixture_tune("a.yaml", &device, slow, 2);
    strcpy(device.name, "NVIDIA H200");
    device.memory_clock_khz = 3201000;
    device.memory_bus_bits = 6016;
    fixture_tune("b.yaml", &device, fast, 1);
    open_again();
    mine = device;
    strcpy(mine.name, "NVIDIA H200 NVL");
    choice = choose(&mine, 1024, 1024);
    CHECK_INT(choice.match, SHMTUNE_SAME_CAPABILITY);
    CHECK_INT(value_of(&choice, "BLOCK"), 64);
    choice = choose(&mine, 4096, 4096);
    CHECK_INT(value_of(&choice, "BLOCK"), 128);
    mine.memory_clock_khz = fixture_device().memory_clock_khz;
    mine.memory_bus_bits = fixture_device().memory_bus_bits;
    choice = choose(&mine, 1024, 1024);
    CHECK_INT(value_of(&choice, "BLOCK"), 256);
    mine.memory_clock_khz = 0;
    choice = choose(&mine, 1024, 1024);
    CHECK_INT(value_of(&choice, "BLOCK"), 256);
}

static void wrong_arguments(void)
{
    const struct shmtune_device device = fixture_device();
    const int64_t good[] = {8, 8}, zero[] = {0, 8}, large[] = {8, 1000001};
    struct shmtune_choice choice = {.size = sizeof choice, .time_us = 7};
    char text[256], little[8];

    begin();
    open_again();
    CHECK_INT(shmtune_select(NULL, &device, good, &choice),
              SHMTUNE_INVALID_ARGUMENT);
    CHECK_INT(shmtune_select(toy, NULL, good, &choice),
              SHMTUNE_INVALID_ARGUMENT);
    CHECK_INT(shmtune_select(toy, &device, NULL, &choice),
              SHMTUNE_INVALID_ARGUMENT);
    CHECK_INT(shmtune_select(toy, &device, good, NULL),
              SHMTUNE_INVALID_ARGUMENT);
    CHECK_INT(shmtune_select(toy, &device, zero, &choice),
              SHMTUNE_INVALID_ARGUMENT);
    CHECK_INT(shmtune_select(toy, &device, large, &choice),
              SHMTUNE_INVALID_ARGUMENT);
    CHECK(choice.time_us == 7 && choice.kernel == NULL);
    shmtune_explain(toy, &device, large, text, sizeof text);
    CHECK_HAS(text, "cols = 1000001, kernel toy is right for 1 to 1000000");
    CHECK(shmtune_explain(toy, &device, large, little, sizeof little) > 8);
    CHECK_INT(strlen(little), 7);
    CHECK(shmtune_explain(toy, &device, large, NULL, 0) > 8);
    CHECK_INT(shmtune_select(toy, &device, good, &choice), SHMTUNE_OK);
    CHECK_INT(choice.match, SHMTUNE_DEFAULT);
    CHECK_HAS(choice.reason, "no tuning");
}

/* 10^12 elements in blocks of 32 are more blocks than a grid has. */
static void nothing_fits(void)
{
    const struct shmtune_device device = fixture_device();
    const int64_t problem[] = {1000000, 1000000};
    struct shmtune_choice choice = SHMTUNE_CHOICE_INIT;
    char text[1024];

    begin();
    open_again();
    CHECK_INT(shmtune_select(toy, &device, problem, &choice),
              SHMTUNE_NO_CONFIGURATION);
    shmtune_explain(toy, &device, problem, text, sizeof text);
    CHECK_HAS(text, "the default of ");
    CHECK_HAS(text, "nothing fits");
}

static void what_a_choice_means(void)
{
    const struct fixture_tuned tuned[] = {{100, 1024, 256, 100, 0, 1}};
    const struct shmtune_device device = fixture_device();
    struct shmtune_choice choice = SHMTUNE_CHOICE_INIT;
    struct shmtune_geometry launch = SHMTUNE_GEOMETRY_INIT;
    struct shmtune_value value = SHMTUNE_VALUE_INIT;
    char text[256];
    int64_t bytes;

    begin();
    fixture_tune("h100.yaml", &device, tuned, 1);
    open_again();
    choice = choose(&device, 100, 1024);
    shmtune_choice_text(&choice, text, sizeof text);
    CHECK_TEXT(text, "BLOCK=256 SHARED_KIB=100 MEMORY=dynamic");
    CHECK_INT(shmtune_choice_text(&choice, text, 6), 39);
    CHECK_TEXT(text, "BLOCK");
    CHECK_INT(shmtune_choice_text(&choice, text, 0), 39);
    CHECK_INT(shmtune_choice_text(&choice, NULL, 0), 39);
    CHECK_INT(shmtune_choice_text(&choice, NULL, sizeof text), 39);
    CHECK_TEXT(text, "BLOCK");
    CHECK_INT(shmtune_choice_value(&choice, "MEMORY", &value), SHMTUNE_OK);
    CHECK_TEXT(value.word, "dynamic");
    CHECK_INT(shmtune_choice_value(&choice, "NONE", &value),
              SHMTUNE_NOT_FOUND);
    CHECK_INT(shmtune_choice_launch(&choice, 0, &launch), SHMTUNE_OK);
    CHECK_TEXT(launch.entry, "toy");
    CHECK_INT(launch.grid[0], 400);
    CHECK_INT(launch.grid[1], 1);
    CHECK_INT(launch.block[0], 256);
    CHECK_INT(launch.shared_dynamic, 102400);
    CHECK_INT(shmtune_choice_launch(&choice, 1, &launch), SHMTUNE_NOT_FOUND);
    CHECK_INT(shmtune_argument_bytes(&choice, 0, &bytes), SHMTUNE_OK);
    CHECK_INT(bytes, 100 * 1024 * 4);
    CHECK_INT(shmtune_argument_bytes(&choice, 2, &bytes), SHMTUNE_OK);
    CHECK_INT(bytes, 0);
    CHECK_INT(shmtune_argument_bytes(&choice, 3, &bytes), SHMTUNE_OK);
    CHECK_INT(bytes, 256 * 8);
    /* of a launch that this configuration does not have */
    CHECK_INT(shmtune_argument_bytes(&choice, 4, &bytes), SHMTUNE_OK);
    CHECK_INT(bytes, 0);
    CHECK_INT(shmtune_argument_bytes(&choice, 5, &bytes), SHMTUNE_NOT_FOUND);
}

int main(void)
{
    root = fixture_begin();
    CHECK_RUN(levels);
    CHECK_RUN(nearest_is_by_shape);
    CHECK_RUN(divisibility_counts);
    CHECK_RUN(an_idle_device_counts);
    CHECK_RUN(a_launch_without_input_does_not_count);
    CHECK_RUN(ties_stand_in);
    CHECK_RUN(constraints_hold_at_this_size);
    CHECK_RUN(shared_memory_limits_hold);
    CHECK_RUN(residency_is_checked);
    CHECK_RUN(unknown_limits_agree);
    CHECK_RUN(files_of_one_device);
    CHECK_RUN(other_devices_by_size);
    CHECK_RUN(other_devices_by_memory);
    CHECK_RUN(wrong_arguments);
    CHECK_RUN(nothing_fits);
    CHECK_RUN(what_a_choice_means);
    shmtune_close(library);
    fixture_end();
    return CHECK_END();
}
