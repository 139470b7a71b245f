/* SPDX-License-Identifier: MIT */
/*
 * Any line: a request or a reply between tuner and worker, or a refusal that
 * says why.  What is accepted is written out, read again and written once
 * more: both texts must be the same, so that neither end says what the other
 * takes for something else.
 */
#include "fuzz.h"

#include <string.h>

#include "target/target.h"

const char fuzz_name[] = "protocol";

static void check_request(const char *line, size_t size)
{
    const struct shmt_kernel *const kernel = fuzz_kernel();
    struct shmt_wire_request request, again;
    struct shmt_text first = {0}, second = {0};
    struct shmt_error err = {0};

    if (shmt_wire_read_request(kernel, line, size, &request, &err) !=
        SHMTUNE_OK) {
        FUZZ_HOLDS(err.text[0] != '\0');
        return;
    }
    for (size_t p = 0; p < kernel->parameter_count; p++)
        FUZZ_HOLDS(request.config[p] < kernel->parameters[p].count);
    FUZZ_HOLDS(request.samples >= 1 &&
               request.samples <= SHMT_RESULT_SAMPLES);
    shmt_wire_write_request(kernel, &request, &first);
    FUZZ_HOLDS(shmt_wire_read_request(kernel, first.data, first.length,
                                      &again, &err) == SHMTUNE_OK);
    FUZZ_HOLDS(again.tag == request.tag && again.verb == request.verb);
    shmt_wire_write_request(kernel, &again, &second);
    FUZZ_HOLDS(strcmp(shmt_text_string(&first),
                      shmt_text_string(&second)) == 0);
    shmt_text_free(&first);
    shmt_text_free(&second);
}

static void check_serve(const char *line, size_t size)
{
    struct shmt_arena *const arena = shmt_arena_new();
    const char *spec = NULL, *arch = NULL, *spec_again, *arch_again;
    struct shmt_text text = {0};
    struct shmt_error err = {0};

    if (arena == NULL)
        return;
    if (shmt_wire_read_serve(arena, line, size, &spec, &arch, &err) !=
        SHMTUNE_OK) {
        FUZZ_HOLDS(err.text[0] != '\0');
    } else {
        shmt_wire_write_serve(spec, arch, &text);
        FUZZ_HOLDS(shmt_wire_is_serve(shmt_text_string(&text)));
        FUZZ_HOLDS(shmt_wire_read_serve(arena, text.data, text.length,
                                        &spec_again, &arch_again, &err) ==
                   SHMTUNE_OK);
        FUZZ_HOLDS(strcmp(spec, spec_again) == 0 &&
                   strcmp(arch, arch_again) == 0);
    }
    shmt_text_free(&text);
    shmt_arena_free(arena);
}

static void check_rerun(const char *line)
{
    static struct shmt_rerun rerun;
    struct shmt_text first = {0}, whole = {0}, second = {0};
    struct shmt_error err = {0};

    if (shmt_wire_read_rerun(line, &rerun, &err) != SHMTUNE_OK) {
        FUZZ_HOLDS(err.text[0] != '\0');
        return;
    }
    shmt_rerun_write(&rerun, &first);
    shmt_text_addf(&whole, "{rerun: %s}", shmt_text_string(&first));
    FUZZ_HOLDS(shmt_wire_read_rerun(shmt_text_string(&whole), &rerun, &err) ==
               SHMTUNE_OK);
    shmt_rerun_write(&rerun, &second);
    FUZZ_HOLDS(strcmp(shmt_text_string(&first),
                      shmt_text_string(&second)) == 0);
    shmt_text_free(&first);
    shmt_text_free(&whole);
    shmt_text_free(&second);
}

static void check_reply(const char *line)
{
    struct shmt_wire_reply reply, again;
    struct shmt_text first = {0}, second = {0};
    struct shmt_error err = {0};

    if (shmt_wire_read_reply(line, &reply, &err) != SHMTUNE_OK) {
        FUZZ_HOLDS(err.text[0] != '\0');
        return;
    }
    shmt_wire_write_reply(&reply, &first);
    FUZZ_HOLDS(shmt_wire_read_reply(shmt_text_string(&first), &again,
                                    &err) == SHMTUNE_OK);
    FUZZ_HOLDS(again.kind == reply.kind && again.tag == reply.tag);
    shmt_wire_write_reply(&again, &second);
    FUZZ_HOLDS(strcmp(shmt_text_string(&first),
                      shmt_text_string(&second)) == 0);
    shmt_text_free(&first);
    shmt_text_free(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *const line = malloc(size + 1);

    FUZZ_HOLDS(line != NULL);
    memcpy(line, data, size);
    line[size] = '\0';
    check_request(line, size);
    check_serve(line, size);
    check_reply(line);
    check_rerun(line);
    free(line);
    return 0;
}
