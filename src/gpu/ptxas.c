/* SPDX-License-Identifier: MIT */
/*
 * report: registers, spills, stack and shared memory out of a compiler log.
 *
 *   ptxas info    : Compiling entry function 'k' for 'sm_90'
 *   ptxas info    : Function properties for k
 *   ptxas         .     8 bytes stack frame, 4 bytes spill stores, ...
 *   ptxas info    : Used 14 registers, used 1 barriers, 4224 bytes smem,
 *                   360 bytes cmem[0]
 */
#include "gpu/ptxas.h"

#include <stdlib.h>
#include <string.h>

static const char begin[] = "Compiling entry function '";

/* The section of `lowered`: from its first line to the next entry's. */
static const char *find_section(const char *log, const char *lowered,
                                size_t *length)
{
    const size_t name = strlen(lowered);
    const char *from = log, *next;

    while ((from = strstr(from, begin)) != NULL) {
        from += sizeof begin - 1;
        if (strncmp(from, lowered, name) == 0 && from[name] == '\'') {
            next = strstr(from, begin);
            *length = next != NULL ? (size_t)(next - from) : strlen(from);
            return from;
        }
    }
    return NULL;
}

/* The sum of the numbers that stand before `words` in the section, at most
 * INT64_MAX / 2; *times says how often that is. */
static int64_t sum_before(const char *section, size_t length,
                          const char *words, int *times)
{
    const size_t width = strlen(words);
    int64_t sum = 0;

    *times = 0;
    for (size_t i = 0; i + width <= length; i++) {
        size_t digit = i;
        long long number;

        if (memcmp(section + i, words, width) != 0)
            continue;
        while (digit > 0 && section[digit - 1] >= '0' &&
               section[digit - 1] <= '9')
            digit--;
        if (digit == i || i - digit > 12)
            continue;
        number = strtoll(section + digit, NULL, 10);
        sum += number;
        (*times)++;
    }
    return sum;
}

static bool find_registers(const char *section, size_t length, int *out)
{
    static const char used[] = "Used ";

    for (size_t i = 0; i + sizeof used <= length; i++) {
        char *end;
        long number;

        if (memcmp(section + i, used, sizeof used - 1) != 0)
            continue;
        number = strtol(section + i + sizeof used - 1, &end, 10);
        if (strncmp(end, " registers", 10) != 0 || number < 0 ||
            number > 100000)
            continue;
        *out = (int)number;
        return true;
    }
    return false;
}

static int clip(int64_t number)
{
    return number > 0x7fffffff ? 0x7fffffff : (int)number;
}

bool shmt_ptxas_resources(const char *log, const char *lowered,
                          struct shmt_resources *out)
{
    struct shmt_resources found = {.max_threads = -1};
    int64_t cumulative, frames;
    size_t length = 0;
    int times;
    const char *section = find_section(log, lowered, &length);

    if (section == NULL || !find_registers(section, length, &found.registers))
        return false;
    found.spill_store_bytes =
        clip(sum_before(section, length, " bytes spill stores", &times));
    found.spill_load_bytes =
        clip(sum_before(section, length, " bytes spill loads", &times));
    frames = sum_before(section, length, " bytes stack frame", &times);
    cumulative = sum_before(section, length, " bytes cumulative stack size",
                            &times);
    found.stack_bytes = clip(times > 0 ? cumulative : frames);
    found.shared_static_bytes = sum_before(section, length, " bytes smem",
                                           &times);
    found.constant_bytes = sum_before(section, length, " bytes cmem", &times);
    if (times == 0)
        found.constant_bytes = -1;   /* newer versions do not report it */
    *out = found;
    return true;
}

int64_t shmt_ptxas_most_shared(const char *log)
{
    static const char words[] = " bytes smem";
    const char *at = log;
    int64_t most = -1;

    if (strstr(log, begin) != NULL)
        most = 0;
    while ((at = strstr(at, words)) != NULL) {
        int times;
        const size_t back = (size_t)(at - log) < 16 ? (size_t)(at - log) : 16;
        const int64_t bytes = sum_before(at - back,
                                         back + sizeof words - 1, words,
                                         &times);

        if (times == 1 && bytes > most)
            most = bytes;
        at += sizeof words - 1;
    }
    return most;
}
