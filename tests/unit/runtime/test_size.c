/* SPDX-License-Identifier: MIT */
/* Programs that were compiled with another version of the header: structs that
 * are shorter or longer than the library's, or were never initialised. */
#include "shmtune.h"

#include <stdlib.h>

#include "tests/support/catalogue_fixture.h"
#include "tests/support/check.h"

enum { CANARY = 0xa5, ROOM = 8192 };

static struct shmtune *library;
static const struct shmtune_kernel *toy;
static struct shmtune_device device;
static struct shmtune_choice choice = SHMTUNE_CHOICE_INIT;
static const int64_t tuned[] = {1024, 1024}, other[] = {1000, 1024};

/* A struct of `size` bytes in a place that is full of canaries. */
static void *sized(size_t size)
{
    static _Alignas(16) unsigned char room[ROOM];

    memset(room, CANARY, sizeof room);
    memcpy(room, &size, sizeof size);
    return room;
}

/* Whether the bytes from `from` to `to` are all `byte`. */
static bool all(const void *data, size_t from, size_t to, int byte)
{
    const unsigned char *bytes = data;

    while (from < to && bytes[from] == byte)
        from++;
    return from == to;
}

static enum shmtune_status ask_arch(void *out)
{
    return shmtune_device_for_arch("sm_90", out, NULL);
}

static enum shmtune_status ask_tuned(void *out)
{
    return shmtune_tuned_device_at(toy, 0, out);
}

static enum shmtune_status ask_exact(void *out)
{
    return shmtune_select(toy, &device, tuned, out);
}

static enum shmtune_status ask_nearest(void *out)
{
    return shmtune_select(toy, &device, other, out);
}

static enum shmtune_status ask_dimension(void *out)
{
    return shmtune_dimension_at(toy, 1, out);
}

static enum shmtune_status ask_argument(void *out)
{
    return shmtune_argument_at(toy, 3, out);
}

static enum shmtune_status ask_value(void *out)
{
    return shmtune_choice_value(&choice, "BLOCK", out);
}

static enum shmtune_status ask_launch(void *out)
{
    return shmtune_choice_launch(&choice, 0, out);
}

/* X(function, struct, the first member that may be missing). */
#define ASKS(X)                                                              \
    X(ask_arch, shmtune_device, l2_bytes)                                    \
    X(ask_tuned, shmtune_device, l2_bytes)                                   \
    X(ask_argument, shmtune_argument, count)                                 \
    X(ask_exact, shmtune_choice, time_us)                                    \
    X(ask_nearest, shmtune_choice, time_us)

#define WHOLE_ASKS(X)                                                        \
    X(ask_dimension, shmtune_dimension)                                      \
    X(ask_value, shmtune_value)                                              \
    X(ask_launch, shmtune_geometry)

static const struct ask {
    const char *name;
    enum shmtune_status (*ask)(void *out);
    size_t least, size;
} asks[] = {
#define ASK(function, type, missing)                                         \
    {#function, function, offsetof(struct type, missing), sizeof(struct type)},
    ASKS(ASK)
#undef ASK
#define ASK(function, type)                                                  \
    {#function, function, sizeof(struct type), sizeof(struct type)},
    WHOLE_ASKS(ASK)
#undef ASK
};
enum { ASK_COUNT = sizeof asks / sizeof asks[0] };

static void only_what_there_is_is_written(void)
{
    for (size_t k = 0; k < ASK_COUNT; k++)
        for (size_t size = asks[k].least; size <= asks[k].size + 64; size++) {
            unsigned char whole[1024];
            const size_t both =
                size < asks[k].size ? size : asks[k].size;
            unsigned char *out = sized(asks[k].size);

            CHECK_INT(asks[k].ask(out), SHMTUNE_OK);
            memcpy(whole, out, asks[k].size);
            out = sized(size);
            if (asks[k].ask(out) != SHMTUNE_OK ||
                memcmp(out, &size, sizeof size) != 0 ||
                memcmp(out + sizeof size, whole + sizeof size,
                       both - sizeof size) != 0 ||
                !all(out, both, size, 0) || !all(out, size, ROOM, CANARY)) {
                printf("# %s of %zu bytes\n", asks[k].name, size);
                CHECK(!"written as the size says");
            }
        }
}

static void wrong_sizes_are_refused(void)
{
    for (size_t k = 0; k < ASK_COUNT; k++) {
        const size_t wrong[] = {0, 1, sizeof(size_t), asks[k].least - 1,
                                SHMTUNE_SIZE_MAX + 1, SIZE_MAX};

        for (size_t w = 0; w < sizeof wrong / sizeof wrong[0]; w++) {
            unsigned char *out = sized(wrong[w]);

            CHECK_INT(asks[k].ask(out), SHMTUNE_INVALID_ARGUMENT);
            CHECK(all(out, sizeof(size_t), ROOM, CANARY));
        }
        CHECK_INT(asks[k].ask(sized(SHMTUNE_SIZE_MAX)), SHMTUNE_OK);
    }
}

/* What a shorter device lacks is unknown, whatever lies behind it. */
static void shorter_devices_select(void)
{
    const size_t least = offsetof(struct shmtune_device, l2_bytes);
    struct shmtune_choice of_short = SHMTUNE_CHOICE_INIT;
    struct shmtune_device known = device;

    memset((char *)&known + least, 0, sizeof known - least);
    for (size_t k = 0; k < 2; k++) {
        const int64_t *problem = k == 0 ? tuned : other;
        struct shmtune_device *mine = sized(least);
        char text[2048], same[2048];

        memcpy(&mine->name, &device.name,
               least - offsetof(struct shmtune_device, name));
        CHECK_INT(shmtune_select(toy, &known, problem, &choice), SHMTUNE_OK);
        CHECK_INT(shmtune_select(toy, mine, problem, &of_short), SHMTUNE_OK);
        CHECK(memcmp(&choice, &of_short, sizeof choice) == 0);
        CHECK_INT(choice.match,
                  k == 0 ? SHMTUNE_EXACT : SHMTUNE_NEAREST_SIZE);
        shmtune_explain(toy, &known, problem, same, sizeof same);
        shmtune_explain(toy, mine, problem, text, sizeof text);
        CHECK_TEXT(text, same);
    }
}

static void what_is_not_initialised_is_refused(void)
{
    struct shmtune_device *mine = sized(7);
    struct shmtune_choice none = SHMTUNE_CHOICE_INIT, stale = choice;
    struct shmtune_message message;
    struct shmtune_function *function = NULL;
    char text[256], expected[256];
    int64_t bytes;

    CHECK_INT(shmtune_device_for_arch("sm_90", mine, &message),
              SHMTUNE_INVALID_ARGUMENT);
    snprintf(expected, sizeof expected, "shmtune_device_for_arch: out->size "
             "is 7, expected %zu to 4096 bytes; initialise",
             offsetof(struct shmtune_device, l2_bytes));
    CHECK_HAS(message.text, expected);
    CHECK_INT(shmtune_select(toy, mine, tuned, &none),
              SHMTUNE_INVALID_ARGUMENT);
    shmtune_explain(toy, mine, tuned, text, sizeof text);
    CHECK_HAS(text, "device->size is 7, expected ");

    CHECK_INT(shmtune_prepare(&none, 0, &function, &message),
              SHMTUNE_INVALID_ARGUMENT);
    CHECK_TEXT(message.text, "shmtune_prepare: choice->kernel is NULL");
    stale.size = 0;
    CHECK_INT(shmtune_prepare(&stale, 0, &function, &message),
              SHMTUNE_INVALID_ARGUMENT);
    CHECK_HAS(message.text, "shmtune_prepare: choice->size is 0, expected ");
    CHECK_INT(shmtune_argument_bytes(&stale, 0, &bytes),
              SHMTUNE_INVALID_ARGUMENT);
    CHECK_INT(shmtune_choice_text(&stale, text, sizeof text), 0);
}

/* A spec gives the blocks of a cluster along x. */
static void clusters_have_three_dimensions(void)
{
    static const char spec[] =
        "format: kernel/1\nname: clustered\nsource: toy.cu\n"
        "parameters:\n  TILE: {values: [1], default: 1}\n"
        "arguments:\n  out: {type: f32, role: output, count: 1}\n"
        "launches:\n"
        "- {entry: toy, grid: [8], block: [32], cluster: 4,\n"
        "   arguments: [out]}\n"
        "- {entry: toy, grid: [8], block: [32], arguments: [out]}\n";
    struct shmtune_choice clustered = SHMTUNE_CHOICE_INIT;
    struct shmtune_geometry launch = SHMTUNE_GEOMETRY_INIT;

    shmtune_close(library);
    fixture_put_text("kernels/clustered.yaml", spec);
    CHECK_INT(shmtune_open(fixture_path(""), &library, NULL), SHMTUNE_OK);
    CHECK_INT(shmtune_select(shmtune_kernel_find(library, "clustered"),
                             &device, NULL, &clustered), SHMTUNE_OK);
    CHECK_INT(shmtune_choice_launch(&clustered, 0, &launch), SHMTUNE_OK);
    CHECK_INT(launch.cluster[0], 4);
    CHECK_INT(launch.cluster[1], 1);
    CHECK_INT(launch.cluster[2], 1);
    CHECK_INT(shmtune_choice_launch(&clustered, 1, &launch), SHMTUNE_OK);
    CHECK(all(launch.cluster, 0, sizeof launch.cluster, 0));
}

int main(void)
{
    static const struct fixture_tuned entries[] = {{1024, 1024, 128, 0, 0, 1}};
    const char *root = fixture_begin();

    device = fixture_device();
    fixture_tune("h100.yaml", &device, entries, 1);
    CHECK_INT(shmtune_open(root, &library, NULL), SHMTUNE_OK);
    toy = shmtune_kernel_find(library, "toy");
    CHECK_INT(shmtune_select(toy, &device, tuned, &choice), SHMTUNE_OK);
    CHECK_RUN(only_what_there_is_is_written);
    CHECK_RUN(wrong_sizes_are_refused);
    CHECK_RUN(shorter_devices_select);
    CHECK_RUN(what_is_not_initialised_is_refused);
    CHECK_RUN(clusters_have_three_dimensions);
    shmtune_close(library);
    fixture_end();
    return CHECK_END();
}
