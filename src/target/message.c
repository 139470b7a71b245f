/* SPDX-License-Identifier: MIT */
#include "target/message.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "device/device.h"
#include "yaml/yaml.h"

void shmt_message_request(const struct shmt_kernel *kernel,
                          const int64_t *problem,
                          const struct shmt_request *request,
                          struct shmt_text *text)
{
    const bool measure = request->verb == SHMT_MEASURE;

    shmt_text_addf(text, "{verb: %s, tag: %llu, size: ",
                   measure ? "measure" : "inspect",
                   (unsigned long long)request->tag);
    shmt_kernel_size_write(kernel, problem, text);
    shmt_text_add(text, ", config: ");
    shmt_kernel_choice_write(kernel, request->choice, text);
    if (measure) {
        if (request->compiled != NULL && request->compiled->image[0] != '\0')
            shmt_text_addf(text, ", image: \"%s\"", request->compiled->image);
        shmt_text_addf(text, ", samples: %d, verify: %s", request->samples,
                       request->verify ? "true" : "false");
        if (isfinite(request->hopeless_us)) {
            shmt_text_add(text, ", hopeless_us: ");
            shmt_yaml_add_real(text, request->hopeless_us, 7);
        }
    }
    shmt_text_add(text, "}");
}

static enum shmtune_status read_hello(const struct shmt_yaml *top,
                                      struct shmt_message *out,
                                      struct shmt_error *err)
{
    const struct shmt_yaml *const device = shmt_yaml_get(top, "device");
    const struct shmt_yaml *const protocol = shmt_yaml_get(top, "protocol");
    const struct shmt_yaml *const digest = shmt_yaml_get(top, "digest");
    const struct shmt_yaml *nvrtc;
    const char *word;
    int64_t number;
    enum shmtune_status status = shmt_yaml_need(top, "nvrtc", &nvrtc, err);

    if (status == SHMTUNE_OK)
        status = shmt_yaml_int(nvrtc, 0, INT_MAX, &number, err);
    if (status != SHMTUNE_OK)
        return status;
    out->nvrtc_version = (int)number;
    if (protocol != NULL) {
        status = shmt_yaml_word(protocol, &word, err);
        if (status != SHMTUNE_OK)
            return status;
        snprintf(out->protocol, sizeof out->protocol, "%s", word);
    }
    if (digest != NULL) {
        status = shmt_yaml_expect(digest, SHMT_YAML_SCALAR, "digest", err);
        if (status != SHMTUNE_OK)
            return status;
        snprintf(out->digest, sizeof out->digest, "%s", digest->text);
    }
    out->has_device = device != NULL;
    return device == NULL ? SHMTUNE_OK
                          : shmt_device_read(device, &out->device, err);
}

static enum shmtune_status read_error(const struct shmt_yaml *top,
                                      const struct shmt_yaml *text,
                                      struct shmt_message *out,
                                      struct shmt_error *err)
{
    const struct shmt_yaml *const node = shmt_yaml_get(top, "status");
    int64_t number = SHMTUNE_INTERNAL;
    enum shmtune_status status =
        shmt_yaml_expect(text, SHMT_YAML_SCALAR, "error", err);

    if (status == SHMTUNE_OK && node != NULL)
        status = shmt_yaml_int(node, 1, 254, &number, err);
    if (status == SHMTUNE_OK)
        shmt_error_set(&out->error, (enum shmtune_status)number, "%s",
                       text->text);
    return status;
}

static enum shmtune_status read_message(const struct shmt_yaml *top,
                                        struct shmt_message *out,
                                        struct shmt_error *err)
{
    const struct shmt_yaml *const error = shmt_yaml_get(top, "error");
    const struct shmt_yaml *tag;
    enum shmtune_status status =
        shmt_yaml_expect(top, SHMT_YAML_MAPPING, "a reply", err);

    if (status != SHMTUNE_OK)
        return status;
    if (shmt_yaml_get(top, "hello") != NULL) {
        out->kind = SHMT_MESSAGE_HELLO;
        return read_hello(top, out, err);
    }
    if ((status = shmt_yaml_need(top, "tag", &tag, err)) != SHMTUNE_OK ||
        (status = shmt_yaml_count(tag, &out->tag, err)) != SHMTUNE_OK)
        return status;
    if (error != NULL) {
        out->kind = SHMT_MESSAGE_ERROR;
        return read_error(top, error, out, err);
    }
    out->kind = SHMT_MESSAGE_RESULT;
    return shmt_result_read(top, &out->result, err);
}

enum shmtune_status shmt_message_read(const char *line,
                                      struct shmt_message *out,
                                      struct shmt_error *err)
{
    struct shmt_arena *const arena = shmt_arena_new();
    const struct shmt_yaml *top;
    struct shmt_message message = {0};
    enum shmtune_status status;

    if (arena == NULL)
        return shmt_error_memory(err);
    status = shmt_yaml_parse(arena, "reply", line, strlen(line), &top, err);
    if (status == SHMTUNE_OK)
        status = read_message(top, &message, err);
    if (status == SHMTUNE_OK)
        *out = message;
    shmt_arena_free(arena);
    return status;
}
