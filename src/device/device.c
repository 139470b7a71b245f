/* SPDX-License-Identifier: MIT */
/*
 * device: the table of architectures, and one table of fields from which
 * devices are written, read and compared.
 */
#include "device/device.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "yaml/yaml.h"

enum { KIB = 1024, MIB = 1024 * 1024 };

/* From the table of technical specifications per compute capability in the
 * CUDA programming guide, and the driver's answers on real parts.  The columns
 * after `optin` are those of the GPU named beside each row.  They are not
 * limits; they serve for estimates. */
static const struct arch {
    const char *name;
    int major, minor;
    int threads, blocks;             /* per multiprocessor */
    int shared, optin, reserved;     /* KiB: multiprocessor, block, driver */
    int multiprocessors, clock_mhz, memory_mhz, bus_bits, l2_mib, memory_gib;
} archs[] = {
    {"sm_75", 7, 5, 1024, 16, 64, 64, 0,         /* TITAN RTX */
     72, 1770, 7001, 384, 6, 24},
    {"sm_80", 8, 0, 2048, 32, 164, 163, 1,       /* A100 80GB */
     108, 1410, 1593, 5120, 40, 80},
    {"sm_86", 8, 6, 1536, 16, 100, 99, 1,        /* RTX A6000 */
     84, 1800, 8001, 384, 6, 48},
    {"sm_87", 8, 7, 1536, 16, 164, 163, 1,       /* Jetson AGX Orin */
     16, 1300, 3200, 256, 4, 64},
    {"sm_89", 8, 9, 1536, 24, 100, 99, 1,        /* L40S */
     142, 2520, 9001, 384, 96, 48},
    {"sm_90", 9, 0, 2048, 32, 228, 227, 1,       /* H100 80GB HBM3 */
     132, 1980, 2619, 5120, 50, 80},
    {"sm_100", 10, 0, 2048, 32, 228, 227, 1,     /* B200 */
     148, 1965, 3996, 8192, 126, 180},
    {"sm_103", 10, 3, 2048, 32, 228, 227, 1,     /* B300 */
     148, 1920, 3996, 8192, 126, 270},
    {"sm_110", 11, 0, 1536, 24, 228, 227, 1,     /* Jetson AGX Thor */
     20, 1575, 4266, 256, 32, 128},
    {"sm_120", 12, 0, 1536, 24, 100, 99, 1,      /* RTX PRO 6000 */
     188, 2617, 14001, 512, 128, 96},
    {"sm_121", 12, 1, 1536, 24, 100, 99, 1,      /* GB10 */
     48, 2418, 4266, 256, 24, 128},
};

enum { ARCHS = sizeof archs / sizeof archs[0] };

/* X(field, high): every number of a device in the order it is written; the most
 * a file may say. */
#define NUMBERS(X)                                                           \
    X(compute_major, 99)                                                     \
    X(compute_minor, 9)                                                      \
    X(multiprocessors, 100000)                                               \
    X(max_threads_per_block, 1 << 20)                                        \
    X(max_threads_per_multiprocessor, 1 << 20)                               \
    X(max_blocks_per_multiprocessor, 1 << 20)                                \
    X(registers_per_block, 1 << 28)                                          \
    X(registers_per_multiprocessor, 1 << 28)                                 \
    X(warp_size, 1024)                                                       \
    X(shared_per_block, 1 << 28)                                             \
    X(shared_per_block_optin, 1 << 28)                                       \
    X(shared_per_multiprocessor, 1 << 28)                                    \
    X(shared_reserved_per_block, 1 << 28)                                    \
    X(l2_bytes, INT64_C(1) << 50)                                            \
    X(memory_bytes, INT64_C(1) << 50)                                        \
    X(max_grid_y, INT32_MAX)                                                 \
    X(clock_khz, INT32_MAX)                                                  \
    X(memory_clock_khz, INT32_MAX)                                           \
    X(memory_bus_bits, INT32_MAX)                                            \
    X(driver_version, INT32_MAX)

static const struct number {
    const char *key;
    size_t offset;
    size_t size;      /* of an int or an int64_t */
    int64_t high;
} numbers[] = {
#define NUMBER_ROW(field, high)                                              \
    {#field, offsetof(struct shmtune_device, field),                         \
     sizeof((struct shmtune_device *)NULL)->field, high},
    NUMBERS(NUMBER_ROW)
#undef NUMBER_ROW
};

enum {
    NUMBER_COUNT = sizeof numbers / sizeof numbers[0],
    CAPABILITY = 2      /* the first numbers: never left out */
};

static const char *const keys[] = {
    "name", "uuid",
#define NUMBER_KEY(field, high) #field,
    NUMBERS(NUMBER_KEY)
#undef NUMBER_KEY
    NULL
};

static int64_t get_number(const struct shmtune_device *device,
                          const struct number *number)
{
    return shmt_field_get((const char *)device + number->offset,
                          number->size);
}

static void set_number(struct shmtune_device *device,
                      const struct number *number, int64_t value)
{
    shmt_field_set((char *)device + number->offset, number->size, value);
}

/* Whether there is a target of that suffix: sm_90a is the first with features
 * of one architecture, sm_100f the first with those of a family. */
static bool has_target(int major, const char *suffix)
{
    return suffix[0] == '\0' || (strcmp(suffix, "a") == 0 && major >= 9) ||
           (strcmp(suffix, "f") == 0 && major >= 10);
}

static bool same_arch(const struct arch *arch, const char *text)
{
    const size_t length = strlen(arch->name);

    return strncmp(arch->name, text, length) == 0 &&
           has_target(arch->major, text + length);
}

static void fill(const struct arch *arch, struct shmtune_device *out)
{
    *out = (struct shmtune_device){
        .size = sizeof *out,
        .compute_major = arch->major,
        .compute_minor = arch->minor,
        .multiprocessors = arch->multiprocessors,
        .max_threads_per_block = 1024,
        .max_threads_per_multiprocessor = arch->threads,
        .max_blocks_per_multiprocessor = arch->blocks,
        .registers_per_block = 65536,
        .registers_per_multiprocessor = 65536,
        .warp_size = 32,
        .shared_per_block = 48 * KIB,
        .shared_per_block_optin = (int64_t)arch->optin * KIB,
        .shared_per_multiprocessor = (int64_t)arch->shared * KIB,
        .shared_reserved_per_block = (int64_t)arch->reserved * KIB,
        .l2_bytes = (int64_t)arch->l2_mib * MIB,
        .memory_bytes = (int64_t)arch->memory_gib * KIB * MIB,
        .max_grid_y = 65535,
        .clock_khz = arch->clock_mhz * 1000,
        .memory_clock_khz = arch->memory_mhz * 1000,
        .memory_bus_bits = arch->bus_bits,
    };
    snprintf(out->name, sizeof out->name, "generic %s", arch->name);
}

enum shmtune_status shmt_device_for_arch(const char *arch,
                                         struct shmtune_device *out,
                                         struct shmt_error *err)
{
    struct shmt_text known = {0};

    for (size_t k = 0; k < ARCHS; k++)
        if (same_arch(&archs[k], arch)) {
            fill(&archs[k], out);
            return SHMTUNE_OK;
        }
    for (size_t k = 0; k < ARCHS; k++)
        shmt_text_addf(&known, " %s", archs[k].name);
    shmt_error_set(err, SHMTUNE_NOT_FOUND, "found the architecture "
                   "\"%.32s\", expected one of:%s, of which those from sm_90 "
                   "on may end in \"a\", those from sm_100 on in \"f\"", arch,
                   shmt_text_string(&known));
    shmt_text_free(&known);
    return SHMTUNE_NOT_FOUND;
}

const char *shmt_device_arch(size_t k)
{
    return k < ARCHS ? archs[k].name : NULL;
}

void shmt_device_arch_text(const struct shmtune_device *device, char out[16])
{
    snprintf(out, 16, "sm_%d%d", device->compute_major % 100,
             device->compute_minor % 10);
}

void shmt_device_arch_target(const char *arch, enum shmt_features features,
                             char out[16])
{
    static const char *const suffixes[] = {
        [SHMT_FEATURES_PORTABLE] = "", [SHMT_FEATURES_FAMILY] = "f",
        [SHMT_FEATURES_ARCHITECTURE] = "a",
    };
    const char *suffix = suffixes[features];
    int number = 0;

    /* An architecture with a suffix is what somebody asked for. */
    if (sscanf(arch, "sm_%d", &number) != 1 ||
        strspn(arch + 3, "0123456789") != strlen(arch + 3) ||
        !has_target(number / 10, suffix))
        suffix = "";
    snprintf(out, 16, "%.14s%s", arch, suffix);
}

void shmt_device_target(const struct shmtune_device *device,
                        enum shmt_features features, char out[16])
{
    char arch[16];

    shmt_device_arch_text(device, arch);
    shmt_device_arch_target(arch, features, out);
}

void shmt_device_slug(const struct shmtune_device *device, char out[128])
{
    size_t used;

    shmt_device_arch_text(device, out);
    used = strlen(out);
    out[used++] = '-';
    for (const char *c = device->name; *c != '\0' && used < 127; c++) {
        if (*c >= 'A' && *c <= 'Z')
            out[used++] = (char)(*c - 'A' + 'a');
        else if ((*c >= 'a' && *c <= 'z') || (*c >= '0' && *c <= '9'))
            out[used++] = *c;
        else if (out[used - 1] != '-')
            out[used++] = '-';
    }
    if (out[used - 1] == '-')
        used--;
    out[used] = '\0';
}

/* Writes each field with `before` in front of it and `after` behind it; the
 * first one has no `before`. */
static void write_fields(const struct shmtune_device *device,
                         struct shmt_text *text, const char *before,
                         const char *after)
{
    shmt_text_add(text, "name: ");
    shmt_yaml_add_string(text, device->name);
    shmt_text_add(text, after);
    if (device->uuid[0] != '\0') {
        shmt_text_addf(text, "%suuid: ", before);
        shmt_yaml_add_string(text, device->uuid);
        shmt_text_add(text, after);
    }
    for (size_t k = 0; k < NUMBER_COUNT; k++) {
        const int64_t value = get_number(device, &numbers[k]);

        if (value != 0 || k < CAPABILITY)
            shmt_text_addf(text, "%s%s: %" PRId64 "%s", before,
                           numbers[k].key, value, after);
    }
}

void shmt_device_write(const struct shmtune_device *device,
                       struct shmt_text *text)
{
    shmt_text_add(text, "device:\n  ");
    write_fields(device, text, "  ", "\n");
}

void shmt_device_write_flow(const struct shmtune_device *device,
                            struct shmt_text *text)
{
    shmt_text_add(text, "{");
    write_fields(device, text, ", ", "");
    shmt_text_add(text, "}");
}

static enum shmtune_status read_text(const struct shmt_yaml *mapping,
                                     const char *key, size_t room,
                                     char *out, struct shmt_error *err)
{
    const struct shmt_yaml *node = shmt_yaml_get(mapping, key);
    const char *text;
    enum shmtune_status status;

    if (node == NULL)
        return SHMTUNE_OK;
    status = shmt_yaml_text(node, room - 1, &text, err);
    if (status == SHMTUNE_OK)
        memcpy(out, text, strlen(text) + 1);
    return status;
}

enum shmtune_status shmt_device_read(const struct shmt_yaml *mapping,
                                     struct shmtune_device *out,
                                     struct shmt_error *err)
{
    static const char *const needed[] = {"name", "compute_major",
                                         "compute_minor"};
    struct shmtune_device device = SHMTUNE_DEVICE_INIT;
    const struct shmt_yaml *node;
    enum shmtune_status status;
    int64_t value = 0;

    status = shmt_yaml_expect(mapping, SHMT_YAML_MAPPING, "device", err);
    if (status == SHMTUNE_OK)
        status = shmt_yaml_check_keys(mapping, keys, err);
    for (size_t k = 0; k < 3 && status == SHMTUNE_OK; k++)
        status = shmt_yaml_need(mapping, needed[k], &node, err);
    if (status == SHMTUNE_OK)
        status = read_text(mapping, "name", sizeof device.name, device.name,
                           err);
    if (status == SHMTUNE_OK)
        status = read_text(mapping, "uuid", sizeof device.uuid, device.uuid,
                           err);
    for (size_t k = 0; k < NUMBER_COUNT && status == SHMTUNE_OK; k++) {
        node = shmt_yaml_get(mapping, numbers[k].key);
        if (node == NULL)
            continue;
        status = shmt_yaml_int(node, 0, numbers[k].high, &value, err);
        if (status == SHMTUNE_OK)
            set_number(&device, &numbers[k], value);
    }
    if (status == SHMTUNE_OK)
        *out = device;
    return status;
}
