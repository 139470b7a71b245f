/* SPDX-License-Identifier: MIT */
/*
 * msan: what libyaml and zlib write, told to MemorySanitizer, which does not
 * see into libraries that were not built with it.  Linked by build.mk with
 * --wrap for each of these functions.
 */
#include <sanitizer/msan_interface.h>
#include <string.h>
#include <yaml.h>
#include <zlib.h>

int __real_yaml_parser_initialize(yaml_parser_t *parser);
int __real_yaml_parser_parse(yaml_parser_t *parser, yaml_event_t *event);
int __real_inflateInit2_(z_streamp stream, int bits, const char *version,
                         int size);
int __real_inflate(z_streamp stream, int flush);
int __wrap_yaml_parser_initialize(yaml_parser_t *parser);
int __wrap_yaml_parser_parse(yaml_parser_t *parser, yaml_event_t *event);
int __wrap_inflateInit2_(z_streamp stream, int bits, const char *version,
                         int size);
int __wrap_inflate(z_streamp stream, int flush);

static void know_text(const yaml_char_t *text)
{
    if (text != NULL)
        __msan_unpoison_string((const char *)text);
}

int __wrap_yaml_parser_initialize(yaml_parser_t *parser)
{
    const int result = __real_yaml_parser_initialize(parser);

    __msan_unpoison(parser, sizeof *parser);
    return result;
}

int __wrap_yaml_parser_parse(yaml_parser_t *parser, yaml_event_t *event)
{
    int result;

    /* Or it would be told of what libyaml compares. */
    __msan_scoped_disable_interceptor_checks();
    result = __real_yaml_parser_parse(parser, event);
    __msan_scoped_enable_interceptor_checks();
    __msan_unpoison(parser, sizeof *parser);
    __msan_unpoison(event, sizeof *event);
    know_text((const yaml_char_t *)parser->problem);
    switch (result == 1 ? event->type : YAML_NO_EVENT) {
    case YAML_ALIAS_EVENT:
        know_text(event->data.alias.anchor);
        break;
    case YAML_SCALAR_EVENT:
        know_text(event->data.scalar.anchor);
        know_text(event->data.scalar.tag);
        __msan_unpoison(event->data.scalar.value,
                        event->data.scalar.length + 1);
        break;
    case YAML_SEQUENCE_START_EVENT:
        know_text(event->data.sequence_start.anchor);
        know_text(event->data.sequence_start.tag);
        break;
    case YAML_MAPPING_START_EVENT:
        know_text(event->data.mapping_start.anchor);
        know_text(event->data.mapping_start.tag);
        break;
    default:
        break;
    }
    return result;
}

int __wrap_inflateInit2_(z_streamp stream, int bits, const char *version,
                         int size)
{
    const int result = __real_inflateInit2_(stream, bits, version, size);

    __msan_unpoison(stream, sizeof *stream);
    return result;
}

int __wrap_inflate(z_streamp stream, int flush)
{
    Bytef *const out = stream->next_out;
    const uInt room = stream->avail_out;
    const int result = __real_inflate(stream, flush);

    __msan_unpoison(stream, sizeof *stream);
    __msan_unpoison(out, room - stream->avail_out);
    return result;
}
