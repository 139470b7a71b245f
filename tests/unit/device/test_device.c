/* SPDX-License-Identifier: MIT */
/* device: the table of architectures, and devices as YAML. */
#include "tests/support/check.h"

#include "device/device.h"
#include "tests/support/hostile.h"
#include "yaml/yaml.h"

static struct shmt_error err;

static enum shmtune_status read_text(const char *text, size_t size,
                                     struct shmtune_device *out)
{
    struct shmt_arena *arena = shmt_arena_new();
    const struct shmt_yaml *root = NULL, *node;
    enum shmtune_status status;

    err.text[0] = '\0';
    status = shmt_yaml_parse(arena, "f", text, size, &root, &err);
    if (status == SHMTUNE_OK) {
        node = shmt_yaml_get(root, "device");
        status = shmt_device_read(node == NULL ? root : node, out, &err);
    }
    shmt_arena_free(arena);
    return status;
}

static void the_table_has_the_guides_limits(void)
{
    /* threads, blocks, shared bytes a multiprocessor, opt-in a block */
    static const struct {
        const char *arch;
        int major, minor, threads, blocks, shared, optin, reserved;
    } rows[] = {
        {"sm_75", 7, 5, 1024, 16, 65536, 65536, 0},
        {"sm_80", 8, 0, 2048, 32, 167936, 166912, 1024},
        {"sm_86", 8, 6, 1536, 16, 102400, 101376, 1024},
        {"sm_87", 8, 7, 1536, 16, 167936, 166912, 1024},
        {"sm_89", 8, 9, 1536, 24, 102400, 101376, 1024},
        {"sm_90", 9, 0, 2048, 32, 233472, 232448, 1024},
        {"sm_100", 10, 0, 2048, 32, 233472, 232448, 1024},
        {"sm_103", 10, 3, 2048, 32, 233472, 232448, 1024},
        {"sm_110", 11, 0, 1536, 24, 233472, 232448, 1024},
        {"sm_120", 12, 0, 1536, 24, 102400, 101376, 1024},
        {"sm_121", 12, 1, 1536, 24, 102400, 101376, 1024},
    };
    enum { ROWS = sizeof rows / sizeof rows[0] };
    struct shmtune_device device;
    char text[16];

    for (size_t k = 0; k < ROWS; k++) {
        CHECK_TEXT(shmt_device_arch(k), rows[k].arch);
        CHECK_INT(shmt_device_for_arch(rows[k].arch, &device, &err),
                  SHMTUNE_OK);
        CHECK_INT(device.compute_major, rows[k].major);
        CHECK_INT(device.compute_minor, rows[k].minor);
        CHECK_INT(device.max_threads_per_multiprocessor, rows[k].threads);
        CHECK_INT(device.max_blocks_per_multiprocessor, rows[k].blocks);
        CHECK_INT(device.shared_per_multiprocessor, rows[k].shared);
        CHECK_INT(device.shared_per_block_optin, rows[k].optin);
        CHECK_INT(device.shared_reserved_per_block, rows[k].reserved);
        CHECK_INT(device.shared_per_block, 49152);
        CHECK_INT(device.registers_per_multiprocessor, 65536);
        CHECK_INT(device.registers_per_block, 65536);
        CHECK_INT(device.max_threads_per_block, 1024);
        CHECK_INT(device.warp_size, 32);
        shmt_device_arch_text(&device, text);
        CHECK_TEXT(text, rows[k].arch);
    }
    CHECK(shmt_device_arch(ROWS) == NULL);
}

/* What is not a limit, in its unit: an H100 of 80 GiB with 50 MiB of L2. */
static void the_table_has_units(void)
{
    struct shmtune_device device;

    CHECK_INT(shmt_device_for_arch("sm_90", &device, NULL), SHMTUNE_OK);
    CHECK_INT(device.memory_bytes, INT64_C(80) << 30);
    CHECK_INT(device.l2_bytes, INT64_C(50) << 20);
    CHECK_INT(device.clock_khz, 1980000);
    CHECK_INT(device.memory_clock_khz, 2619000);
    CHECK_INT(device.memory_bus_bits, 5120);
    CHECK_INT(device.multiprocessors, 132);
    CHECK_INT(device.max_grid_y, 65535);
    CHECK_INT(device.shared_per_block, 48 << 10);
}

static void suffixes_are_accepted_and_others_refused(void)
{
    struct shmtune_device device = {.warp_size = 7};

    CHECK_INT(shmt_device_for_arch("sm_90a", &device, &err), SHMTUNE_OK);
    CHECK_TEXT(device.name, "generic sm_90");
    CHECK_INT(shmt_device_for_arch("sm_100f", &device, &err), SHMTUNE_OK);
    device.warp_size = 7;
    CHECK_INT(shmt_device_for_arch("sm_90f", &device, &err),
              SHMTUNE_NOT_FOUND);
    CHECK_HAS(err.text, "from sm_100 on in \"f\"");
    CHECK_INT(shmt_device_for_arch("sm_89a", &device, &err),
              SHMTUNE_NOT_FOUND);
    CHECK_INT(shmt_device_for_arch("sm_90aa", &device, &err),
              SHMTUNE_NOT_FOUND);
    CHECK_INT(shmt_device_for_arch("sm_9", &device, &err),
              SHMTUNE_NOT_FOUND);
    CHECK_INT(shmt_device_for_arch("sm_90b", &device, &err),
              SHMTUNE_NOT_FOUND);
    CHECK_INT(shmt_device_for_arch("", &device, &err), SHMTUNE_NOT_FOUND);
    CHECK_INT(shmt_device_for_arch("sm_70", &device, &err),
              SHMTUNE_NOT_FOUND);
    CHECK_HAS(err.text, "\"sm_70\", expected one of: sm_75 sm_80");
    CHECK_INT(device.warp_size, 7);
}

/* What a kernel asks for is compiled where the device has it; a suffix that
 * somebody gave stays. */
static void features_choose_the_target(void)
{
    static const struct {
        const char *arch, *portable, *family, *own;
    } cases[] = {
        {"sm_75", "sm_75", "sm_75", "sm_75"},
        {"sm_89", "sm_89", "sm_89", "sm_89"},
        {"sm_90", "sm_90", "sm_90", "sm_90a"},
        {"sm_100", "sm_100", "sm_100f", "sm_100a"},
        {"sm_103", "sm_103", "sm_103f", "sm_103a"},
        {"sm_121", "sm_121", "sm_121f", "sm_121a"},
        {"sm_90a", "sm_90a", "sm_90a", "sm_90a"},
        {"sm_120f", "sm_120f", "sm_120f", "sm_120f"},
    };
    struct shmtune_device device;
    char out[16];

    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        shmt_device_arch_target(cases[k].arch, SHMT_FEATURES_PORTABLE, out);
        CHECK_TEXT(out, cases[k].portable);
        shmt_device_arch_target(cases[k].arch, SHMT_FEATURES_FAMILY, out);
        CHECK_TEXT(out, cases[k].family);
        shmt_device_arch_target(cases[k].arch, SHMT_FEATURES_ARCHITECTURE,
                                out);
        CHECK_TEXT(out, cases[k].own);
        CHECK_INT(shmt_device_for_arch(cases[k].own, &device, &err),
                  SHMTUNE_OK);
    }
    shmt_device_target(&device, SHMT_FEATURES_ARCHITECTURE, out);
    CHECK_TEXT(out, "sm_120a");
}

static void slugs_are_file_names(void)
{
    static const struct {
        const char *name, *slug;
    } cases[] = {
        {"NVIDIA H100 80GB HBM3", "sm_90-nvidia-h100-80gb-hbm3"},
        {"../../etc/passwd", "sm_90-etc-passwd"},
        {"  (R) a  ", "sm_90-r-a"},
        {"\xc3\xa9t\xc3\xa9", "sm_90-t"},
        {"", "sm_90"},
        {"---", "sm_90"},
    };
    struct shmtune_device device;
    char slug[128];

    shmt_device_for_arch("sm_90", &device, NULL);
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        strcpy(device.name, cases[k].name);
        shmt_device_slug(&device, slug);
        CHECK_TEXT(slug, cases[k].slug);
    }
    memset(device.name, 'x', sizeof device.name - 1);
    shmt_device_slug(&device, slug);
    CHECK_INT(strlen(slug), 127);
}

static void devices_survive_both_forms(void)
{
    struct shmtune_device device, back;
    struct shmt_text text = {0};

    for (size_t k = 0; shmt_device_arch(k) != NULL; k++) {
        shmt_device_for_arch(shmt_device_arch(k), &device, NULL);
        strcpy(device.name, "odd: name, #1 {\"x\"}");
        if (k % 2 == 0)
            strcpy(device.uuid, "GPU-01234567-89ab-cdef-0123-456789abcdef");
        device.driver_version = (int)k * 1000;
        shmt_text_clear(&text);
        shmt_device_write(&device, &text);
        CHECK_INT(read_text(text.data, text.length, &back), SHMTUNE_OK);
        CHECK(memcmp(&device, &back, sizeof back) == 0);
        shmt_text_clear(&text);
        shmt_device_write_flow(&device, &text);
        CHECK(strchr(text.data, '\n') == NULL);
        CHECK_INT(read_text(text.data, text.length, &back), SHMTUNE_OK);
        CHECK(memcmp(&device, &back, sizeof back) == 0);
    }
    shmt_text_free(&text);
}

static void wrong_devices_are_refused(void)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"[]", "f:1:1: device: found a sequence, expected a mapping"},
        {"{name: x, compute_major: 9}",
         "f:1:1: expected the key \"compute_minor\""},
        {"{compute_major: 9, compute_minor: 0}",
         "f:1:1: expected the key \"name\""},
        {"{name: x, compute_major: 9, compute_minor: 0, cores: 3}",
         "f:1:47: found the unknown key \"cores\""},
        {"{name: x, compute_major: 9, compute_minor: 10}",
         "f:1:44: found \"10\", expected an integer from 0 to 9"},
        {"{name: x, compute_major: 9, compute_minor: 0, warp_size: -1}",
         "f:1:58: found \"-1\", expected an integer from 0 to 1024"},
        {"{name: x, compute_major: 9, compute_minor: 0, warp_size: 1.5}",
         "f:1:58: found \"1.5\", expected an integer"},
        {"{name: \"\\e[2J\", compute_major: 9, compute_minor: 0}",
         "f:1:8: found \"?[2J\", expected 1 to 255 bytes of printable"},
        {"{name: \"\", compute_major: 9, compute_minor: 0}",
         "f:1:8: found \"\", expected 1 to 255 bytes of printable"},
        {"{name: [], compute_major: 9, compute_minor: 0}",
         "f:1:8: found a sequence, expected 1 to 255 bytes"},
        {"{name: x, uuid: 0123456789012345678901234567890123456789012345678901"
         "234567890123, compute_major: 9, compute_minor: 0}",
         "expected 1 to 63 bytes of printable"},
        {"{name: x, compute_major: 9, compute_minor: 0, memory_bytes: "
         "9223372036854775807}", "expected an integer from 0 to"},
    };
    struct shmtune_device device = {.warp_size = 7};

    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        CHECK_INT(read_text(cases[k].text, strlen(cases[k].text), &device),
                  SHMTUNE_INVALID_FILE);
        CHECK_HAS(err.text, cases[k].message);
        CHECK_INT(device.warp_size, 7);
    }
}

static void the_same_device(void)
{
    struct shmtune_device a, b;

    shmt_device_for_arch("sm_90", &a, NULL);
    b = a;
    b.driver_version = 12090;
    b.clock_khz = 1;
    strcpy(b.uuid, "GPU-1");
    CHECK(shmt_device_equal(&a, &b));
    strcpy(b.name, "another");
    CHECK(!shmt_device_equal(&a, &b) && !shmt_device_matches(&a, &b));
    b = a;
    b.compute_minor++;
    CHECK(!shmt_device_equal(&a, &b) && !shmt_device_matches(&a, &b));
    CHECK(!shmt_device_same_capability(&a, &b));
}

/* Each limit: another one differs; an unknown one differs where results are
 * kept together, and not where an application describes its device. */
static void limits_of_the_same_device(void)
{
    struct shmtune_device a, b;

    shmt_device_for_arch("sm_90", &a, NULL);
#define LIMIT_COUNTS(limit)                                                  \
    b = a;                                                                   \
    b.limit--;                                                               \
    CHECK(!shmt_device_equal(&a, &b) && !shmt_device_matches(&a, &b));       \
    b.limit = 0;                                                             \
    CHECK(shmt_device_matches(&a, &b) && !shmt_device_matches(&b, &a));      \
    CHECK(!shmt_device_equal(&a, &b) && !shmt_device_equal(&b, &a));
    SHMT_DEVICE_LIMIT_LIST(LIMIT_COUNTS)
#undef LIMIT_COUNTS
}

static void feed(const char *data, size_t size)
{
    struct shmtune_device device;
    const enum shmtune_status status = read_text(data, size, &device);

    CHECK(status == SHMTUNE_OK || status == SHMTUNE_INVALID_FILE);
}

static void damage_is_refused_or_read(void)
{
    struct shmtune_device device;
    struct shmt_text text = {0};

    shmt_device_for_arch("sm_90", &device, NULL);
    shmt_device_write(&device, &text);
    hostile_cuts(feed, text.data, text.length);
    hostile_flips(feed, text.data, text.length, 2000);
    hostile_splices(feed, text.data, text.length, 2000);
    shmt_text_free(&text);
}

int main(void)
{
    CHECK_RUN(the_table_has_the_guides_limits);
    CHECK_RUN(the_table_has_units);
    CHECK_RUN(suffixes_are_accepted_and_others_refused);
    CHECK_RUN(features_choose_the_target);
    CHECK_RUN(slugs_are_file_names);
    CHECK_RUN(devices_survive_both_forms);
    CHECK_RUN(wrong_devices_are_refused);
    CHECK_RUN(the_same_device);
    CHECK_RUN(limits_of_the_same_device);
    CHECK_RUN(damage_is_refused_or_read);
    return CHECK_END();
}
