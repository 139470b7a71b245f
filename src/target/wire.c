/* SPDX-License-Identifier: MIT */
/*
 * wire: see wire.h.  The writer and the reader of each message stand next to
 * each other.  A line that is not as expected is refused with its place;
 * nothing in it is trusted.
 */
#include "target/wire.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "device/device.h"
#include "yaml/yaml.h"

enum { USUAL_SAMPLES = 7 };

static const char *const verb_words[] = {
    [SHMT_TARGET_INSPECT] = "inspect", [SHMT_TARGET_MEASURE] = "measure",
    [SHMT_TARGET_PROFILE] = "profile", [SHMT_TARGET_RERUN] = "rerun",
    [SHMT_TARGET_RENEW] = "renew", [SHMT_TARGET_FORGET] = "forget",
};
enum { VERBS = sizeof verb_words / sizeof *verb_words };

static const char *const request_keys[] = {
    "verb", "tag", "size", "config", "image", "samples", "give_up_us",
    "verify", "poison", NULL};
static const char *const serve_keys[] = {"serve", "arch", NULL};

/* -- requests ------------------------------------------------------------- */

void shmt_wire_write_request(const struct shmt_kernel *kernel,
                             const struct shmt_wire_request *request,
                             struct shmt_text *text)
{
    shmt_text_addf(text, "{verb: %s, tag: %llu, size: ",
                   verb_words[request->verb],
                   (unsigned long long)request->tag);
    shmt_kernel_problem_write(kernel, request->problem, text);
    shmt_text_add(text, ", config: ");
    shmt_kernel_config_write(kernel, request->config, text);
    if (request->verb == SHMT_TARGET_MEASURE) {
        if (request->image[0] != '\0') {
            shmt_text_add(text, ", image: ");
            shmt_yaml_add_string(text, request->image);
        }
        shmt_text_addf(text, ", samples: %d, verify: %s", request->samples,
                       request->verify ? "true" : "false");
        if (isfinite(request->give_up_us)) {
            shmt_text_add(text, ", give_up_us: ");
            shmt_yaml_add_real(text, request->give_up_us, 7);
        }
    }
    if (request->verb == SHMT_TARGET_RERUN && request->poison != NULL) {
        shmt_text_add(text, ", poison: ");
        shmt_yaml_add_string(text, request->poison->name);
    }
    shmt_text_add(text, "}");
}

static enum shmtune_status read_verb(const struct shmt_yaml *top,
                                     enum shmt_target_verb *out,
                                     struct shmt_error *err)
{
    const struct shmt_yaml *verb;
    const char *word = NULL;
    enum shmtune_status status = shmt_yaml_need(top, "verb", &verb, err);

    if (status == SHMTUNE_OK)
        status = shmt_yaml_word(verb, &word, err);
    if (status != SHMTUNE_OK)
        return status;
    for (int k = 0; k < VERBS; k++)
        if (strcmp(word, verb_words[k]) == 0) {
            *out = (enum shmt_target_verb)k;
            return SHMTUNE_OK;
        }
    return shmt_yaml_refuse(verb, err, "found verb \"%s\", expected inspect, "
                            "measure, profile, rerun, renew or forget", word);
}

/* Reads the optional keys of a measure request. */
static enum shmtune_status read_wishes(const struct shmt_yaml *top,
                                       struct shmt_wire_request *out,
                                       struct shmt_error *err)
{
    const struct shmt_yaml *image = shmt_yaml_get(top, "image");
    const struct shmt_yaml *samples = shmt_yaml_get(top, "samples");
    const struct shmt_yaml *hopeless = shmt_yaml_get(top, "give_up_us");
    const struct shmt_yaml *verify = shmt_yaml_get(top, "verify");
    int64_t count = USUAL_SAMPLES;
    enum shmtune_status status = SHMTUNE_OK;

    if (image != NULL) {
        status = shmt_yaml_expect(image, SHMT_YAML_SCALAR, "image", err);
        if (status == SHMTUNE_OK)
            snprintf(out->image, sizeof out->image, "%s", image->text);
    }
    if (status == SHMTUNE_OK && samples != NULL)
        status = shmt_yaml_int(samples, 1, SHMT_RESULT_SAMPLES, &count, err);
    if (status == SHMTUNE_OK && hopeless != NULL)
        status = shmt_yaml_real(hopeless, &out->give_up_us, err);
    if (status == SHMTUNE_OK && verify != NULL)
        status = shmt_yaml_bool(verify, &out->verify, err);
    out->samples = (int)count;
    return status;
}

/* The argument of a rerun whose old contents are others. */
static enum shmtune_status read_poison(const struct shmt_kernel *kernel,
                                       const struct shmt_yaml *top,
                                       struct shmt_wire_request *out,
                                       struct shmt_error *err)
{
    const struct shmt_yaml *const poison = shmt_yaml_get(top, "poison");
    enum shmtune_status status;

    if (poison == NULL)
        return SHMTUNE_OK;
    status = shmt_yaml_expect(poison, SHMT_YAML_SCALAR, "poison", err);
    for (size_t k = 0; status == SHMTUNE_OK && k < kernel->argument_count;
         k++)
        if (kernel->arguments[k].role == SHMT_ROLE_INOUT &&
            strcmp(kernel->arguments[k].name, poison->text) == 0) {
            out->poison = &kernel->arguments[k];
            return SHMTUNE_OK;
        }
    return status == SHMTUNE_OK
               ? shmt_yaml_refuse(poison, err, "found poison \"%s\", "
                                  "expected an in-out of the kernel",
                                  poison->text)
               : status;
}

static enum shmtune_status read_candidate(const struct shmt_kernel *kernel,
                                          const struct shmt_yaml *top,
                                          struct shmt_wire_request *out,
                                          struct shmt_error *err)
{
    const struct shmt_yaml *const size = shmt_yaml_get(top, "size");
    const struct shmt_yaml *config;
    enum shmtune_status status = shmt_yaml_need(top, "config", &config, err);

    shmt_kernel_default_problem(kernel, out->problem);
    if (status == SHMTUNE_OK && size != NULL)
        status = shmt_kernel_problem_read(kernel, size, out->problem, err);
    if (status == SHMTUNE_OK)
        status = shmt_kernel_config_read(kernel, config, out->config, err);
    return status;
}

enum shmtune_status
shmt_wire_read_request(const struct shmt_kernel *kernel, const char *line,
                       size_t size, struct shmt_wire_request *out,
                       struct shmt_error *err)
{
    struct shmt_arena *const arena = shmt_arena_new();
    const struct shmt_yaml *top, *tag;
    enum shmtune_status status;

    *out = (struct shmt_wire_request){.verify = true,
                                      .give_up_us = (double)INFINITY};
    if (arena == NULL)
        return shmt_error_memory(err);
    status = shmt_yaml_parse(arena, "request", line, size, &top, err);
    if (status == SHMTUNE_OK)
        status = shmt_yaml_expect(top, SHMT_YAML_MAPPING, "a request", err);
    if (status == SHMTUNE_OK)
        status = shmt_yaml_need(top, "tag", &tag, err);
    if (status == SHMTUNE_OK)
        status = shmt_yaml_count(tag, &out->tag, err);
    if (status == SHMTUNE_OK)
        status = shmt_yaml_check_keys(top, request_keys, err);
    if (status == SHMTUNE_OK)
        status = read_verb(top, &out->verb, err);
    if (status == SHMTUNE_OK)
        status = read_candidate(kernel, top, out, err);
    if (status == SHMTUNE_OK)
        status = read_wishes(top, out, err);
    if (status == SHMTUNE_OK)
        status = read_poison(kernel, top, out, err);
    shmt_arena_free(arena);
    return status;
}

/* -- another spec --------------------------------------------------------- */

void shmt_wire_write_serve(const char *spec, const char *arch,
                           struct shmt_text *text)
{
    shmt_text_add(text, "{serve: ");
    shmt_yaml_add_string(text, spec);
    shmt_text_add(text, ", arch: ");
    shmt_yaml_add_string(text, arch);
    shmt_text_add(text, "}");
}

bool shmt_wire_is_serve(const char *line)
{
    return strncmp(line, "{serve:", 7) == 0;
}

static enum shmtune_status need_text(const struct shmt_yaml *top,
                                     const char *key, const char **out,
                                     struct shmt_error *err)
{
    const struct shmt_yaml *value;
    enum shmtune_status status = shmt_yaml_need(top, key, &value, err);

    if (status == SHMTUNE_OK)
        status = shmt_yaml_expect(value, SHMT_YAML_SCALAR, key, err);
    if (status == SHMTUNE_OK)
        *out = value->text;
    return status;
}

enum shmtune_status
shmt_wire_read_serve(struct shmt_arena *arena, const char *line, size_t size,
                     const char **spec, const char **arch,
                     struct shmt_error *err)
{
    const struct shmt_yaml *top;
    enum shmtune_status status =
        shmt_yaml_parse(arena, "request", line, size, &top, err);

    if (status == SHMTUNE_OK)
        status = shmt_yaml_expect(top, SHMT_YAML_MAPPING, "a request", err);
    if (status == SHMTUNE_OK)
        status = shmt_yaml_check_keys(top, serve_keys, err);
    if (status == SHMTUNE_OK)
        status = need_text(top, "serve", spec, err);
    if (status == SHMTUNE_OK)
        status = need_text(top, "arch", arch, err);
    return status;
}

/* -- replies -------------------------------------------------------------- */

static void write_hello(const struct shmt_wire_reply *hello,
                        struct shmt_text *text)
{
    shmt_text_addf(text, "{hello: 1, nvrtc: %d", hello->nvrtc_version);
    if (hello->arch[0] != '\0')
        shmt_text_addf(text, ", arch: %s", hello->arch);
    if (hello->digest[0] != '\0') {
        shmt_text_add(text, ", digest: ");
        shmt_yaml_add_string(text, hello->digest);
    }
    if (hello->protocol[0] != '\0')
        shmt_text_addf(text, ", protocol: %s", hello->protocol);
    if (hello->has_device) {
        shmt_text_add(text, ", device: ");
        shmt_device_write_flow(&hello->device, text);
    }
}

void shmt_wire_write_reply(const struct shmt_wire_reply *reply,
                           struct shmt_text *text)
{
    if (reply->kind == SHMT_WIRE_HELLO)
        write_hello(reply, text);
    else
        shmt_text_addf(text, "{tag: %llu, ", (unsigned long long)reply->tag);
    if (reply->kind == SHMT_WIRE_ERROR) {
        shmt_text_add(text, "error: ");
        shmt_yaml_add_string(text, reply->error.text);
        shmt_text_addf(text, ", status: %d", (int)reply->error.status);
    } else if (reply->kind == SHMT_WIRE_RESULT) {
        shmt_result_write(&reply->result, text);
        if (reply->result.answer_ms > 0)
            shmt_text_addf(text, ", answer_ms: %d",
                           reply->result.answer_ms);
        if (reply->result.once_ms > 0)
            shmt_text_addf(text, ", once_ms: %.6g", reply->result.once_ms);
        if (reply->result.variable[0] != '\0') {
            shmt_text_add(text, ", variable: ");
            shmt_yaml_add_string(text, reply->result.variable);
            shmt_text_addf(text, ", variable_bytes: %lld",
                           (long long)reply->result.variable_bytes);
        }
        if (reply->note[0] != '\0') {
            shmt_text_addf(text, ", computed_blocks: %d, note: ",
                           reply->computed_blocks);
            shmt_yaml_add_string(text, reply->note);
        }
        if (reply->rerun != NULL) {
            shmt_text_add(text, ", rerun: ");
            shmt_rerun_write(reply->rerun, text);
        }
    }
    shmt_text_add(text, "}");
}

/* Copies what `key` holds, if it is there. */
static enum shmtune_status take_text(const struct shmt_yaml *top,
                                     const char *key, char *out, size_t room,
                                     struct shmt_error *err)
{
    const struct shmt_yaml *const node = shmt_yaml_get(top, key);
    enum shmtune_status status;

    if (node == NULL)
        return SHMTUNE_OK;
    status = shmt_yaml_expect(node, SHMT_YAML_SCALAR, key, err);
    if (status == SHMTUNE_OK)
        snprintf(out, room, "%s", node->text);
    return status;
}

/* The same for a word, which is written without quotes. */
static enum shmtune_status take_word(const struct shmt_yaml *top,
                                     const char *key, char *out, size_t room,
                                     struct shmt_error *err)
{
    const struct shmt_yaml *const node = shmt_yaml_get(top, key);
    const char *word = "";
    enum shmtune_status status = SHMTUNE_OK;

    if (node != NULL)
        status = shmt_yaml_word(node, &word, err);
    if (status == SHMTUNE_OK)
        snprintf(out, room, "%s", word);
    return status;
}

/* The same for a number, which stays as it is when it is not there. */
static enum shmtune_status take_int(const struct shmt_yaml *top,
                                    const char *key, int64_t low, int *out,
                                    struct shmt_error *err)
{
    const struct shmt_yaml *const node = shmt_yaml_get(top, key);
    int64_t number = *out;
    enum shmtune_status status = SHMTUNE_OK;

    if (node != NULL)
        status = shmt_yaml_int(node, low, INT_MAX, &number, err);
    if (status == SHMTUNE_OK)
        *out = (int)number;
    return status;
}

/* The same for a real one, 0 or more. */
static enum shmtune_status take_real(const struct shmt_yaml *top,
                                     const char *key, double *out,
                                     struct shmt_error *err)
{
    const struct shmt_yaml *const node = shmt_yaml_get(top, key);
    double number = *out;
    enum shmtune_status status = SHMTUNE_OK;

    if (node != NULL)
        status = shmt_yaml_real(node, &number, err);
    if (status == SHMTUNE_OK && number < 0)
        status = shmt_yaml_expected(node, err, "a number, 0 or more");
    if (status == SHMTUNE_OK)
        *out = number;
    return status;
}

static enum shmtune_status read_hello(const struct shmt_yaml *top,
                                      struct shmt_wire_reply *out,
                                      struct shmt_error *err)
{
    const struct shmt_yaml *const device = shmt_yaml_get(top, "device");
    const struct shmt_yaml *nvrtc;
    enum shmtune_status status = shmt_yaml_need(top, "nvrtc", &nvrtc, err);

    if (status == SHMTUNE_OK)
        status = take_int(top, "nvrtc", 0, &out->nvrtc_version, err);
    if (status == SHMTUNE_OK)
        status = take_word(top, "arch", out->arch, sizeof out->arch, err);
    if (status == SHMTUNE_OK)
        status = take_word(top, "protocol", out->protocol,
                           sizeof out->protocol, err);
    if (status == SHMTUNE_OK)
        status = take_text(top, "digest", out->digest, sizeof out->digest,
                           err);
    out->has_device = device != NULL;
    if (status == SHMTUNE_OK && device != NULL)
        status = shmt_device_read(device, &out->device, err);
    return status;
}

static enum shmtune_status read_error(const struct shmt_yaml *top,
                                      struct shmt_wire_reply *out,
                                      struct shmt_error *err)
{
    char text[sizeof out->error.text] = "";
    int number = SHMTUNE_INTERNAL;
    enum shmtune_status status =
        take_text(top, "error", text, sizeof text, err);

    if (status == SHMTUNE_OK)
        status = take_int(top, "status", 1, &number, err);
    if (status == SHMTUNE_OK)
        shmt_error_set(&out->error, (enum shmtune_status)number, "%s", text);
    return status;
}

static enum shmtune_status read_result(const struct shmt_yaml *top,
                                       struct shmt_wire_reply *out,
                                       struct shmt_error *err)
{
    const struct shmt_yaml *const bytes = shmt_yaml_get(top, "variable_bytes");
    enum shmtune_status status = shmt_result_read(top, &out->result, err);

    if (status == SHMTUNE_OK)
        status = take_text(top, "note", out->note, sizeof out->note, err);
    if (status == SHMTUNE_OK)
        status = take_int(top, "computed_blocks", INT_MIN,
                          &out->computed_blocks, err);
    if (status == SHMTUNE_OK)
        status = take_int(top, "answer_ms", 0, &out->result.answer_ms, err);
    if (status == SHMTUNE_OK)
        status = take_real(top, "once_ms", &out->result.once_ms, err);
    if (status == SHMTUNE_OK)
        status = take_text(top, "variable", out->result.variable,
                           sizeof out->result.variable, err);
    if (status == SHMTUNE_OK && bytes != NULL)
        status = shmt_yaml_int(bytes, 0, INT64_MAX,
                               &out->result.variable_bytes, err);
    return status;
}

static enum shmtune_status read_reply(const struct shmt_yaml *top,
                                      struct shmt_wire_reply *out,
                                      struct shmt_error *err)
{
    const struct shmt_yaml *tag;
    enum shmtune_status status =
        shmt_yaml_expect(top, SHMT_YAML_MAPPING, "a reply", err);

    if (status != SHMTUNE_OK)
        return status;
    if (shmt_yaml_get(top, "hello") != NULL) {
        out->kind = SHMT_WIRE_HELLO;
        return read_hello(top, out, err);
    }
    status = shmt_yaml_need(top, "tag", &tag, err);
    if (status == SHMTUNE_OK)
        status = shmt_yaml_count(tag, &out->tag, err);
    if (status != SHMTUNE_OK)
        return status;
    if (shmt_yaml_get(top, "error") != NULL) {
        out->kind = SHMT_WIRE_ERROR;
        return read_error(top, out, err);
    }
    out->kind = SHMT_WIRE_RESULT;
    return read_result(top, out, err);
}

enum shmtune_status shmt_wire_read_reply(const char *line,
                                         struct shmt_wire_reply *out,
                                         struct shmt_error *err)
{
    struct shmt_arena *const arena = shmt_arena_new();
    const struct shmt_yaml *top;
    struct shmt_wire_reply reply = {0};
    enum shmtune_status status;

    if (arena == NULL)
        return shmt_error_memory(err);
    status = shmt_yaml_parse(arena, "reply", line, strlen(line), &top, err);
    if (status == SHMTUNE_OK)
        status = read_reply(top, &reply, err);
    if (status == SHMTUNE_OK)
        *out = reply;
    shmt_arena_free(arena);
    return status;
}

enum shmtune_status shmt_wire_read_rerun(const char *line,
                                         struct shmt_rerun *out,
                                         struct shmt_error *err)
{
    struct shmt_arena *const arena = shmt_arena_new();
    const struct shmt_yaml *top, *rerun;
    enum shmtune_status status;

    out->count = 0;
    if (arena == NULL)
        return shmt_error_memory(err);
    status = shmt_yaml_parse(arena, "reply", line, strlen(line), &top, err);
    if (status == SHMTUNE_OK)
        status = shmt_yaml_expect(top, SHMT_YAML_MAPPING, "a reply", err);
    if (status == SHMTUNE_OK)
        status = shmt_yaml_need(top, "rerun", &rerun, err);
    if (status == SHMTUNE_OK)
        status = shmt_rerun_read(rerun, out, err);
    shmt_arena_free(arena);
    return status;
}

enum shmtune_status shmt_wire_check_device(const struct shmt_wire_reply *hello,
                                           const struct shmtune_device *begun,
                                           struct shmt_error *err)
{
    const struct shmtune_device *const found = &hello->device;

    if (begun->name[0] == '\0' || (shmt_device_equal(found, begun) &&
                                   strcmp(found->uuid, begun->uuid) == 0))
        return SHMTUNE_OK;
    return shmt_error_set(err, SHMTUNE_NO_DEVICE,
                          "a worker that was started again found \"%s\" (%s), "
                          "the run began on \"%s\" (%s); name the device by "
                          "its UUID, and start the run again", found->name,
                          found->uuid[0] == '\0' ? "no UUID" : found->uuid,
                          begun->name,
                          begun->uuid[0] == '\0' ? "no UUID" : begun->uuid);
}

enum shmtune_status shmt_wire_check_kind(const struct shmt_wire_reply *hello,
                                         struct shmtune_device *kind,
                                         const char *launcher,
                                         struct shmt_error *err)
{
    const struct shmtune_device *const found = &hello->device;

    if (kind->name[0] == '\0')
        *kind = *found;
    if (shmt_device_equal(kind, found))
        return SHMTUNE_OK;
    return shmt_error_set(err, SHMTUNE_NO_DEVICE,
                          "%s leads to \"%s\" (%s), before to \"%s\" (%s); "
                          "have it lead to devices of one kind", launcher,
                          found->name, found->uuid, kind->name, kind->uuid);
}
