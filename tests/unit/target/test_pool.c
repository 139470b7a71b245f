/* SPDX-License-Identifier: MIT */
/* Targets that share their workers: of two kernels and two GPUs. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "target/jobs.h"
#include "tests/support/check.h"
#include "tests/support/tune_fixture.h"

static struct shmt_kernel *toy, *faults;
static struct shmt_live_pool *pool;
static struct shmt_error err;
static double measure_s, first_s;   /* 0: as usual */
static const int64_t problem[SHMT_KERNEL_DIMENSIONS] = {4096};

static const char *worker_path(void)
{
    static char path[1024];

    snprintf(path, sizeof path, "%s/tests/fake/worker",
             getenv("SHMT_BUILDDIR") == NULL ? "."
                                             : getenv("SHMT_BUILDDIR"));
    return path;
}

static struct shmt_target *start(const struct shmt_kernel *kernel,
                                 const char *device)
{
    const struct shmt_live_options options = {
        .pool = pool, .worker = worker_path(), .device = device,
        .data_seed = 1, .start_s = 60, .measure_s = measure_s,
        .first_s = first_s};
    struct shmt_target *target = NULL;

    if (shmt_live_start(kernel, &options, &target, &err) != SHMTUNE_OK) {
        printf("Bail out! %s\n", err.text);
        exit(EXIT_FAILURE);
    }
    return target;
}

static bool is_ready(const struct shmt_target *target)
{
    return target->operations->is_ready(target);
}

static void await_ready(struct shmt_target *target)
{
    struct shmt_target_reply reply;
    bool got = false;

    for (int k = 0; k < 100 && !is_ready(target); k++) {
        CHECK_INT(target->operations->wait(target, 0.1, &got, &reply, &err),
                  SHMTUNE_OK);
        CHECK(!got);
    }
    CHECK(is_ready(target));
}

/* `count` different configurations, with tags from 0 on. */
static void ask(struct shmt_target *target, uint64_t count)
{
    CHECK_INT(target->operations->begin(target, target->kernel->sizes[0],
                                        &err), SHMTUNE_OK);
    for (uint64_t tag = 0; tag < count; tag++) {
        shmt_config config[SHMT_SPACE_PARAMETERS] = {0};
        const struct shmt_target_request request = {
            .verb = SHMT_TARGET_INSPECT, .tag = tag, .config = config};
        config[0] = (shmt_config)(tag % target->kernel->parameters[0].count);
        config[1] = (shmt_config)(tag / target->kernel->parameters[0].count);
        CHECK_INT(target->operations->submit(target, &request, &err),
                  SHMTUNE_OK);
    }
}

/* Of how many processes the log has a compile. */
static size_t count_compilers(void)
{
    size_t size, count = 0;
    long found[64];
    char *const log = fixture_read(fixture_path("log"), &size);

    for (const char *line = strtok(log, "\n"); line != NULL;
         line = strtok(NULL, "\n")) {
        const char *const by = strstr(line, " by ");
        size_t k = 0;

        if (strncmp(line, "inspect ", 8) != 0 || by == NULL)
            continue;
        while (k < count && found[k] != strtol(by + 4, NULL, 10))
            k++;
        if (k == count && count < 64)
            found[count++] = strtol(by + 4, NULL, 10);
    }
    free(log);
    return count;
}

/* One compile worker, one process, serves two kernels, and nobody waits for
 * the other's end; a reply says whose it is. */
static void one_worker_two_kernels(void)
{
    struct shmt_target *a, *b;
    struct shmt_target_reply reply;
    size_t of_a = 0, of_b = 0, first_b = 0;
    bool got;

    CHECK_INT(shmt_live_pool_open(1, NULL, &pool, &err), SHMTUNE_OK);
    setenv("FAKE_WORKER_BUSY_MS", "150", 1);
    setenv("FAKE_WORKER_LOG", fixture_path("log"), 1);
    a = start(toy, "0");
    await_ready(a);
    b = start(faults, "1");
    await_ready(b);
    ask(a, 12);
    ask(b, 2);
    while (of_a + of_b < 14) {
        got = false;
        if (a->operations->wait(a, 20, &got, &reply, &err) != SHMTUNE_OK ||
            !got)
            break;
        of_a += reply.target == a;
        of_b += reply.target == b;
        if (reply.target == b && first_b == 0)
            first_b = of_a + 1;
        CHECK_INT(reply.verb, SHMT_TARGET_INSPECT);
        CHECK(reply.tag < (reply.target == a ? 12U : 2U));
    }
    CHECK_INT(of_a, 12);
    CHECK_INT(of_b, 2);
    CHECK(first_b > 0 && first_b < 12);
    CHECK_INT(a->operations->wait(b, 1, &got, &reply, &err),
              SHMTUNE_INTERNAL);
    unsetenv("FAKE_WORKER_BUSY_MS");
    a->operations->close(a);
    b->operations->close(b);
    /* Nor is another process started when all had gone. */
    a = start(toy, "0");
    await_ready(a);
    ask(a, 1);
    CHECK_INT(a->operations->wait(a, 20, &got, &reply, &err), SHMTUNE_OK);
    a->operations->close(a);
    CHECK_INT(count_compilers(), 1);
    unsetenv("FAKE_WORKER_LOG");
    remove(fixture_path("log"));
    shmt_live_pool_close(pool);
}

/* As many compile as there are processors; beside several GPUs some are left
 * to what measures, but not on a small machine. */
static void processors_are_left(void)
{
    CHECK_INT(shmt_live_pool_jobs(16, 1), 16);
    CHECK_INT(shmt_live_pool_jobs(16, 0), 16);
    CHECK_INT(shmt_live_pool_jobs(64, 4), 48);
    CHECK_INT(shmt_live_pool_jobs(32, 2), 24);
    CHECK_INT(shmt_live_pool_jobs(8, 2), 5);
    CHECK_INT(shmt_live_pool_jobs(6, 2), 3);
    CHECK_INT(shmt_live_pool_jobs(5, 2), 5);
}

/* The share of compilers is that of those who compile. */
static void compilers_are_shared(void)
{
    struct shmt_target *a, *b;

    CHECK_INT(shmt_live_pool_open(4, NULL, &pool, &err), SHMTUNE_OK);
    a = start(toy, "0");
    await_ready(a);
    CHECK_INT(a->operations->capacity(a, SHMT_TARGET_INSPECT), 4);
    b = start(toy, "1");
    await_ready(b);
    CHECK_INT(a->operations->capacity(a, SHMT_TARGET_INSPECT), 4);
    ask(a, 1);
    ask(b, 1);
    CHECK_INT(a->operations->capacity(a, SHMT_TARGET_INSPECT), 2);
    CHECK_INT(a->operations->capacity(a, SHMT_TARGET_MEASURE), 1);
    b->operations->close(b);
    CHECK_INT(a->operations->capacity(a, SHMT_TARGET_INSPECT), 4);
    a->operations->close(a);
    shmt_live_pool_close(pool);
}

/* What one cancels, or closes, is not the other's. */
static void the_others_go_on(void)
{
    struct shmt_target *a, *b;
    struct shmt_target_reply reply;
    bool got = false;

    CHECK_INT(shmt_live_pool_open(2, NULL, &pool, &err), SHMTUNE_OK);
    setenv("FAKE_WORKER_BUSY_MS", "100", 1);
    a = start(toy, "0");
    b = start(toy, "1");
    await_ready(a);
    await_ready(b);
    ask(a, 4);
    ask(b, 3);
    a->operations->cancel(a);
    a->operations->close(a);
    for (int k = 0; k < 3; k++) {
        got = false;
        CHECK_INT(b->operations->wait(b, 20, &got, &reply, &err),
                  SHMTUNE_OK);
        CHECK(got && reply.target == b);
    }
    unsetenv("FAKE_WORKER_BUSY_MS");
    b->operations->close(b);
    shmt_live_pool_close(pool);
}

/* How often the log has the word. */
static size_t count_in_log(const char *word)
{
    size_t size, count = 0;
    char *const log = fixture_read(fixture_path("log"), &size);

    for (const char *at = log; (at = strstr(at, word)) != NULL; at++)
        count++;
    free(log);
    return count;
}

/* By the first parameter's value of that number. */
static void measure_as(struct shmt_target *target, uint64_t tag, double worth,
                       shmt_config first)
{
    static struct shmt_result compiled;
    shmt_config config[SHMT_SPACE_PARAMETERS] = {first};
    const struct shmt_target_request request = {
        .verb = SHMT_TARGET_MEASURE, .tag = tag, .config = config,
        .compiled = &compiled, .samples = 7, .give_up_us = INFINITY,
        .worth = worth};

    strcpy(compiled.image, "1");
    CHECK_INT(target->operations->submit(target, &request, &err), SHMTUNE_OK);
}

static void measure(struct shmt_target *target, uint64_t tag, double worth)
{
    measure_as(target, tag, worth, 0);
}

/* Two targets of one kernel on one GPU: what is compiled for one is compiled
 * for the other, they measure one at a time, and what is worth more comes
 * first. */
static void two_on_one_gpu(void)
{
    struct shmt_target *a, *b;
    struct shmt_target_reply reply;
    size_t of_a = 0, of_b = 0;
    bool got;

    CHECK_INT(shmt_live_pool_open(2, NULL, &pool, &err), SHMTUNE_OK);
    setenv("FAKE_WORKER_BUSY_MS", "20", 1);
    setenv("FAKE_WORKER_LOG", fixture_path("log"), 1);
    setenv("FAKE_WORKER_ALONE", fixture_path("alone"), 1);
    a = start(toy, "0");
    b = start(toy, "0");
    await_ready(a);
    await_ready(b);
    ask(a, 6);
    ask(b, 6);
    while (of_a + of_b < 12 &&
           a->operations->wait(a, 20, &got, &reply, &err) == SHMTUNE_OK &&
           got) {
        CHECK_INT(reply.result.verdict, SHMT_VERDICT_OK);
        of_a += reply.target == a;
        of_b += reply.target == b;
    }
    CHECK_INT(of_a, 6);
    CHECK_INT(of_b, 6);
    CHECK_INT(count_in_log("inspect"), 6);
    for (uint64_t tag = 0; tag < 3; tag++)
        measure(a, tag, 1);
    measure(b, 3, 2);
    for (size_t k = 0; k < 4; k++) {
        CHECK_INT(a->operations->wait(a, 20, &got, &reply, &err), SHMTUNE_OK);
        CHECK(got && (reply.tag == 3) == (k == 1));
        CHECK((reply.target == b) == (reply.tag == 3));
    }
    CHECK_INT(count_in_log("overlap"), 0);
    unsetenv("FAKE_WORKER_BUSY_MS");
    unsetenv("FAKE_WORKER_ALONE");
    unsetenv("FAKE_WORKER_LOG");
    a->operations->close(a);
    b->operations->close(b);
    shmt_live_pool_close(pool);
}

/* What a run cannot do without goes first, and leaves every other turn to the
 * searches of the GPU; what another GPU has to do is worth more than the search,
 * and changes nothing. */
static void a_search_has_turns_beside_finals(void)
{
    struct shmt_target *a, *b, *other;
    struct shmt_target_reply reply;
    bool got = false;

    CHECK_INT(shmt_live_pool_open(1, NULL, &pool, &err), SHMTUNE_OK);
    setenv("FAKE_WORKER_BUSY_MS", "20", 1);
    a = start(toy, "0");
    other = start(toy, "1");
    b = start(toy, "0");
    await_ready(a);
    await_ready(b);
    await_ready(other);
    ask(a, 0);
    ask(b, 0);
    ask(other, 0);
    for (uint64_t tag = 0; tag < 6; tag++)
        measure(a, tag, INFINITY);
    for (uint64_t tag = 6; tag < 9; tag++)
        measure(b, tag, 1);
    for (uint64_t tag = 9; tag < 24; tag++)
        measure(other, tag, 5);
    for (size_t k = 0; k < 9;) {
        CHECK_INT(a->operations->wait(a, 20, &got, &reply, &err), SHMTUNE_OK);
        CHECK(got);
        if (reply.target == other)
            continue;
        CHECK((reply.target == b) == (k < 6 && k % 2 == 1));
        k++;
    }
    unsetenv("FAKE_WORKER_BUSY_MS");
    a->operations->close(a);
    b->operations->close(b);
    other->operations->close(other);
    shmt_live_pool_close(pool);
}

/* Beside a search, two that are in their finals have as many turns as each
 * other; each asks for its next one when it has heard of the last. */
static void finals_share_their_turns(void)
{
    struct shmt_target *search, *finals[2];
    struct shmt_target_reply reply;
    int served[2] = {0};
    bool got = false;

    CHECK_INT(shmt_live_pool_open(1, NULL, &pool, &err), SHMTUNE_OK);
    setenv("FAKE_WORKER_BUSY_MS", "20", 1);
    search = start(toy, "0");
    finals[0] = start(toy, "0");
    finals[1] = start(toy, "0");
    await_ready(search);
    await_ready(finals[0]);
    await_ready(finals[1]);
    ask(search, 0);
    for (uint64_t tag = 2; tag < 20; tag++)
        measure(search, tag, 1);
    for (uint64_t k = 0; k < 2; k++) {
        ask(finals[k], 0);
        measure(finals[k], k, INFINITY);
    }
    for (int k = 0; k < 20; k++) {
        CHECK_INT(search->operations->wait(search, 20, &got, &reply, &err),
                  SHMTUNE_OK);
        CHECK(got);
        if (reply.target == search)
            continue;
        served[reply.tag]++;
        measure(reply.target, reply.tag, INFINITY);
    }
    CHECK(served[0] + served[1] >= 9 && abs(served[0] - served[1]) <= 1);
    unsetenv("FAKE_WORKER_BUSY_MS");
    search->operations->close(search);
    finals[0]->operations->close(finals[0]);
    finals[1]->operations->close(finals[1]);
    shmt_live_pool_close(pool);
}

/* Workers that say in the log when they are ready, and take so long for each
 * request. */
static void start_two(const char *busy_ms, struct shmt_target **a,
                      struct shmt_target **b)
{
    CHECK_INT(shmt_live_pool_open(1, NULL, &pool, &err), SHMTUNE_OK);
    unlink(fixture_path("log"));
    setenv("FAKE_WORKER_BUSY_MS", busy_ms, 1);
    setenv("FAKE_WORKER_LOG", fixture_path("log"), 1);
    setenv("FAKE_WORKER_START", "late", 1);
    *a = start(toy, "0");
    *b = start(toy, "0");
    await_ready(*a);
    await_ready(*b);
    ask(*a, 0);
    ask(*b, 0);
}

static void end_two(struct shmt_target *a, struct shmt_target *b)
{
    a->operations->close(a);
    if (b != NULL)
        b->operations->close(b);
    shmt_live_pool_close(pool);
    unsetenv("FAKE_WORKER_BUSY_MS");
    unsetenv("FAKE_WORKER_LOG");
    unsetenv("FAKE_WORKER_START");
}

static void expect_good(struct shmt_target *target, uint64_t tag)
{
    struct shmt_target_reply reply = {0};
    bool got = false;

    CHECK_INT(target->operations->wait(target, 20, &got, &reply, &err),
              SHMTUNE_OK);
    CHECK(got && reply.target == target && reply.tag == tag);
    CHECK_INT(reply.result.verdict, SHMT_VERDICT_OK);
    CHECK_TEXT(reply.result.reason, "");
}

/* What is cancelled and ends later all the same takes nothing from the time in
 * which the next problem is set up. */
static void a_cancelled_one_is_of_its_problem(void)
{
    struct shmt_target *a, *b;

    measure_s = 0.4;
    start_two("600", &a, &b);
    measure(a, 1, 1);
    a->operations->cancel(a);
    ask(a, 0);
    measure(a, 2, 1);
    expect_good(a, 2);
    CHECK_INT(count_in_log("ready"), 1);
    CHECK_INT(count_in_log("measure"), 2);
    end_two(a, b);
    measure_s = 0;
}

/* Who is left alone with a worker that is busy for nobody has a new one when it
 * asks for that. */
static void the_last_one_has_a_new_worker(void)
{
    struct shmt_target *a, *b;

    start_two("300", &a, &b);
    measure(b, 1, 1);
    b->operations->cancel(b);
    b->operations->close(b);
    a->operations->restart(a);
    measure(a, 2, 1);
    expect_good(a, 2);
    CHECK_INT(count_in_log("ready"), 2);
    CHECK_INT(count_in_log("renew"), 0);
    end_two(a, NULL);
}

/* The position of that word among the values of BEHAVE. */
static shmt_config behaving(const char *word)
{
    shmt_config position = 0;

    while (strcmp(faults->parameters[0].values[position].w, word) != 0)
        position++;
    return position;
}

/* What hangs and is cancelled does not hold the others up till its deadline;
 * what waited behind it is measured by the next worker. */
static void what_hangs_does_not_hold_others(void)
{
    const shmt_config hang = behaving("hang");
    struct shmt_target *a, *b;

    measure_s = 300;
    CHECK_INT(shmt_live_pool_open(1, NULL, &pool, &err), SHMTUNE_OK);
    a = start(faults, "0");
    b = start(faults, "0");
    await_ready(a);
    await_ready(b);
    CHECK_INT(a->operations->begin(a, problem, &err), SHMTUNE_OK);
    CHECK_INT(b->operations->begin(b, problem, &err), SHMTUNE_OK);
    measure(a, 1, 1);
    expect_good(a, 1);
    measure_as(a, 2, 1, hang);
    measure(b, 3, 1);
    a->operations->cancel(a);
    expect_good(b, 3);
    a->operations->close(a);
    b->operations->close(b);
    shmt_live_pool_close(pool);
    measure_s = 0;
}

static void expect_timeout(struct shmt_target *target, uint64_t tag,
                           const char *reason)
{
    struct shmt_target_reply reply = {0};
    bool got = false;

    CHECK_INT(target->operations->wait(target, 20, &got, &reply, &err),
              SHMTUNE_OK);
    CHECK(got && reply.target == target && reply.tag == tag);
    CHECK_INT(reply.result.verdict, SHMT_VERDICT_TIMEOUT);
    CHECK_TEXT(reply.result.reason, reason);
}

/* Where the default hangs at one size, those of others have less time, until
 * one that is slow and right shows that they need it. */
static void where_one_hangs_others_are_given_less(void)
{
    const int64_t other[SHMT_KERNEL_DIMENSIONS] = {8192};
    const shmt_config hang = behaving("hang");
    struct shmt_target *a, *b;

    measure_s = 0.5;
    first_s = 3;
    setenv("FAKE_WORKER_BUSY_MS", "800", 1);
    CHECK_INT(shmt_live_pool_open(1, NULL, &pool, &err), SHMTUNE_OK);
    a = start(faults, "0");
    b = start(faults, "0");
    await_ready(a);
    await_ready(b);
    CHECK_INT(a->operations->begin(a, problem, &err), SHMTUNE_OK);
    CHECK_INT(b->operations->begin(b, other, &err), SHMTUNE_OK);
    measure_as(a, 1, 1, hang);
    expect_timeout(a, 1, "killed after 3.5 s");
    measure_as(b, 2, 1, hang);
    expect_timeout(b, 2, "killed after 1.5 s, because one before it hung; "
                   "tuned alone (--size) it has 3.5 s");
    CHECK_INT(a->operations->begin(a, other, &err), SHMTUNE_OK);
    measure(a, 3, 1);
    expect_good(a, 3);
    CHECK_INT(b->operations->begin(b, problem, &err), SHMTUNE_OK);
    measure_as(b, 4, 1, hang);
    expect_timeout(b, 4, "killed after 3.5 s");
    a->operations->close(a);
    b->operations->close(b);
    shmt_live_pool_close(pool);
    unsetenv("FAKE_WORKER_BUSY_MS");
    measure_s = first_s = 0;
}

/* What ends in the time that others have taken is not killed. */
static void what_ends_soon_is_waited_for(void)
{
    struct shmt_target *a, *b;

    start_two("1000", &a, &b);
    measure(a, 1, 1);
    expect_good(a, 1);
    measure(a, 2, 1);
    measure(b, 3, 1);
    a->operations->cancel(a);
    expect_good(b, 3);
    CHECK_INT(count_in_log("ready"), 1);
    end_two(a, b);
}

/* A device that is not there fails its own target alone. */
static void a_failure_is_its_own(void)
{
    struct shmt_target *a, *lost;
    struct shmt_target_reply reply = {0};
    enum shmtune_status status = SHMTUNE_OK;
    bool got = false;

    CHECK_INT(shmt_live_pool_open(1, NULL, &pool, &err), SHMTUNE_OK);
    a = start(toy, "0");
    await_ready(a);
    lost = start(toy, "7");
    for (int k = 0; k < 100 && status == SHMTUNE_OK; k++)
        status = a->operations->wait(a, 0.1, &got, &reply, &err);
    CHECK_INT(status, SHMTUNE_NO_DEVICE);
    CHECK(reply.target == lost);
    CHECK_HAS(err.text, "no device \"7\"");
    lost->operations->close(lost);
    ask(a, 1);
    CHECK_INT(a->operations->wait(a, 20, &got, &reply, &err), SHMTUNE_OK);
    CHECK(got && reply.target == a);
    a->operations->close(a);
    shmt_live_pool_close(pool);
}

static void devices_are_listed(void)
{
    struct shmtune_device *devices = NULL;
    size_t count = 0;

    CHECK_INT(shmt_live_devices(worker_path(), NULL, &devices, &count, &err),
              SHMTUNE_OK);
    CHECK_INT(count, 2);
    if (count == 2)
        CHECK_TEXT(devices[1].name, "Pretended A100");
    free(devices);
    setenv("FAKE_WORKER_DEVICES", "", 1);
    CHECK_INT(shmt_live_devices("/nowhere/worker", NULL, &devices, &count,
                                &err), SHMTUNE_STORAGE);
    CHECK_INT(shmt_live_devices("/bin/false", NULL, &devices, &count, &err),
              SHMTUNE_INTERNAL);
    CHECK_INT(shmt_live_devices("/bin/echo", NULL, &devices, &count, &err),
              SHMTUNE_INVALID_FILE);
    CHECK_INT(shmt_live_devices("/bin/true", NULL, &devices, &count, &err),
              SHMTUNE_NO_DEVICE);
}

/* What is worth more goes first; nobody waits for long, for a compiler as for
 * the GPU. */
static void nobody_waits_for_long(void)
{
    for (int verb = 0; verb < 2; verb++) {
        const struct shmt_target_job
            waits = {.verb = (enum shmt_target_verb)verb, .worth = 1,
                     .asked_s = 100},
            later = {.verb = (enum shmt_target_verb)verb, .worth = 2,
                     .asked_s = 101};

        CHECK(shmt_target_job_is_before(&later, &waits, 101.5));
        CHECK(shmt_target_job_is_before(&waits, &later, 102.5));
        CHECK(shmt_target_job_is_before(&waits, &later, 200));
    }
}

int main(void)
{
    toy = fixture_kernel("toy");
    faults = fixture_kernel("faults");
    setenv("FAKE_WORKER_DEVICES", "H100,A100", 1);
    setenv("SHMTUNE_LOCKS", fixture_path("locks"), 1);
    CHECK_RUN(nobody_waits_for_long);
    CHECK_RUN(one_worker_two_kernels);
    CHECK_RUN(processors_are_left);
    CHECK_RUN(compilers_are_shared);
    CHECK_RUN(the_others_go_on);
    CHECK_RUN(two_on_one_gpu);
    CHECK_RUN(a_search_has_turns_beside_finals);
    CHECK_RUN(finals_share_their_turns);
    CHECK_RUN(a_cancelled_one_is_of_its_problem);
    CHECK_RUN(the_last_one_has_a_new_worker);
    CHECK_RUN(what_hangs_does_not_hold_others);
    CHECK_RUN(where_one_hangs_others_are_given_less);
    CHECK_RUN(what_ends_soon_is_waited_for);
    CHECK_RUN(a_failure_is_its_own);
    CHECK_RUN(devices_are_listed);
    shmt_kernel_free(toy);
    shmt_kernel_free(faults);
    return CHECK_END();
}
