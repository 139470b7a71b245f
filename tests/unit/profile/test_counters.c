/* SPDX-License-Identifier: MIT */
/*
 * What Nsight Compute writes, read strictly.
 */
#include <math.h>

#include "profile/profile.h"
#include "tests/support/check.h"
#include "tests/support/hostile.h"

#define FIXED                                                                \
    "\"ID\",\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel Name\","  \
    "\"Context\",\"Stream\",\"Block Size\",\"Grid Size\",\"Device\",\"CC\""
#define UNITS "\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\""
#define LAUNCH                                                               \
    "\"0\",\"7\",\"shmtune\",\"127.0.0.1\",\"f<32, \"\"a\"\">(int)\","       \
    "\"1\",\"13\",\"(256, 1, 1)\",\"(1,056, 1, 1)\",\"0\",\"9.0\""

static const char good[] =
    "==PROF== Connected to process 1294 (/usr/bin/shmtune)\n"
    "==WARNING== something\n"
    FIXED ",\"device__attribute_x\",\"gpu__time_duration.sum\","
    "\"dram__bytes_read.sum\",\"launch__registers_per_thread\","
    "\"lts__t_sector_hit_rate.pct\"\n"
    UNITS ",\"\",\"ns\",\"byte\",\"register/thread\",\"%\"\n"
    LAUNCH ",\"all\",\"180,608\",\"104,972.80\",\"28\",\"50\"\n"
    "==PROF== between\n"
    LAUNCH ",\"\",\"60,202.5\",\"1.5e+03\",\"44\",\"n/a\"\r\n";

enum { ROOM = 4 };
static struct shmt_counters rows[ROOM];

static enum shmtune_status parse(const char *text, size_t *count,
                                 struct shmt_error *err)
{
    return shmt_counters_parse("log", text, strlen(text), rows, ROOM, count,
                               err);
}

static bool is(double a, double b)
{
    return fabs(a - b) <= 1e-9 * fabs(b);
}

static void reads_what_ncu_writes(void)
{
    struct shmt_counters both;
    size_t count = 0;

    CHECK_INT(parse(good, &count, NULL), SHMTUNE_OK);
    CHECK_INT(count, 2);
    CHECK(is(rows[0].value[SHMT_METRIC_TIME_NS], 180608));
    CHECK(is(rows[0].value[SHMT_METRIC_DRAM_READ], 104972.8));
    CHECK(is(rows[1].value[SHMT_METRIC_DRAM_READ], 1500));
    CHECK(is(rows[1].value[SHMT_METRIC_REGISTERS], 44));
    CHECK(isnan(rows[1].value[SHMT_METRIC_L2_HIT]));
    CHECK(isnan(rows[0].value[SHMT_METRIC_DRAM_WRITE]));
    shmt_counters_join(rows, 2, &both);
    CHECK(is(both.value[SHMT_METRIC_TIME_NS], 240810.5));
    CHECK(is(both.value[SHMT_METRIC_DRAM_READ], 106472.8));
    CHECK(is(both.value[SHMT_METRIC_REGISTERS], 44));
    CHECK(isnan(both.value[SHMT_METRIC_L2_HIT]));
    CHECK(isnan(both.value[SHMT_METRIC_DRAM_WRITE]));
    shmt_counters_join(rows, 1, &both);
    CHECK(is(both.value[SHMT_METRIC_L2_HIT], 50));
}

/* A mean is weighted by the launches' times. */
static void weighs_by_time(void)
{
    struct shmt_counters both;
    size_t count;

    CHECK_INT(parse(FIXED ",\"gpu__time_duration.sum\","
                    "\"lts__t_sector_hit_rate.pct\"\n" UNITS ",\"us\",\"%\"\n"
                    LAUNCH ",\"30\",\"10\"\n" LAUNCH ",\"10\",\"50\"\n",
                    &count, NULL), SHMTUNE_OK);
    shmt_counters_join(rows, 2, &both);
    CHECK(is(both.value[SHMT_METRIC_TIME_NS], 40000));
    CHECK(is(both.value[SHMT_METRIC_L2_HIT], 20));
}

static void refuses_the_rest(void)
{
    static const struct {
        const char *text, *words;
    } cases[] = {
        {"", "log:1: .*titles"},
        {"==ERROR== nothing was profiled\n", "titles"},
        {FIXED "\n", "units"},
        {FIXED "\n" UNITS ",\"\"\n", "more cells"},
        {FIXED ",\"a\"\n" UNITS "\n", "fewer units"},
        {FIXED "\n" UNITS "\n" LAUNCH ",\"1\"\n", "more cells"},
        {FIXED ",\"a\"\n" UNITS ",\"\"\n" LAUNCH "\n", "fewer cells"},
        {FIXED ",\"dram__bytes_read.sum\",\"dram__bytes_read.sum\"\n"
         UNITS ",\"\",\"\"\n", "two columns"},
        {FIXED ",\"dram__bytes_read.sum\"\n" UNITS ",\"Kibyte\"\n", "unit"},
        {FIXED ",a\n", "without quotes"},
        {FIXED ",\"a\n", "does not end"},
        {FIXED ",\"a\"b\n", "behind a cell"},
    };
    static const char *const numbers[] = {
        "-1", "1,23", "12,3456", ",123", "1,234,", "1234,567", "0x10", "inf",
        "1.2.3", "1 000", "1e999", "1.5,000", "--", "1e", "NaN",
        "99999999999999999999999999999999999999999999999999999999999999999999"
    };
    struct shmt_error err;
    char text[2048];
    size_t count;

    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        err.text[0] = '\0';
        CHECK_INT(parse(cases[k].text, &count, &err), SHMTUNE_INVALID_FILE);
        if (strstr(err.text, cases[k].words) == NULL && k > 0)
            printf("# %zu: %s\n", k, err.text);
        CHECK(k == 0 || strstr(err.text, cases[k].words) != NULL);
    }
    for (size_t k = 0; k < sizeof numbers / sizeof numbers[0]; k++) {
        snprintf(text, sizeof text, FIXED ",\"dram__bytes_read.sum\"\n" UNITS
                 ",\"byte\"\n" LAUNCH ",\"%s\"\n", numbers[k]);
        if (parse(text, &count, &err) == SHMTUNE_OK)
            printf("# %s was read\n", numbers[k]);
        CHECK_INT(parse(text, &count, &err), SHMTUNE_INVALID_FILE);
        CHECK(strncmp(err.text, "log:3: ", 7) == 0);
    }
}

/* A number is one in the unit of the file, and in bytes too. */
static void units_do_not_overflow(void)
{
    struct shmt_error err;
    size_t count;

    CHECK_INT(parse(FIXED ",\"dram__bytes_read.sum\"\n" UNITS ",\"Tbyte\"\n"
                    LAUNCH ",\"1e295\"\n", &count, &err), SHMTUNE_OK);
    CHECK(is(rows[0].value[SHMT_METRIC_DRAM_READ], 1e307));
    CHECK_INT(parse(FIXED ",\"dram__bytes_read.sum\"\n" UNITS ",\"Tbyte\"\n"
                    LAUNCH ",\"1e297\"\n", &count, &err),
              SHMTUNE_INVALID_FILE);
    CHECK(strncmp(err.text, "log:3: ", 7) == 0);
}

static void keeps_to_its_room(void)
{
    struct shmt_error err;
    char text[4096];
    size_t count, length = (size_t)snprintf(text, sizeof text, FIXED "\n"
                                            UNITS "\n");

    for (int k = 0; k < ROOM + 1; k++)
        length += (size_t)snprintf(text + length, sizeof text - length,
                                   LAUNCH "\n");
    CHECK_INT(parse(text, &count, &err), SHMTUNE_INVALID_FILE);
    CHECK(strstr(err.text, "more launches") != NULL);
}

static void feed(const char *data, size_t size)
{
    size_t count = 0;

    if (shmt_counters_parse("log", data, size, rows, ROOM, &count, NULL) ==
        SHMTUNE_OK)
        CHECK(count <= ROOM);
}

static void survives_damage(void)
{
    hostile_cuts(feed, good, sizeof good - 1);
    hostile_flips(feed, good, sizeof good - 1, 5000);
}

int main(void)
{
    CHECK_RUN(reads_what_ncu_writes);
    CHECK_RUN(weighs_by_time);
    CHECK_RUN(refuses_the_rest);
    CHECK_RUN(units_do_not_overflow);
    CHECK_RUN(keeps_to_its_room);
    CHECK_RUN(survives_damage);
    return CHECK_END();
}
