/* SPDX-License-Identifier: MIT */
/*
 * scan: one table says what a character may be part of, so that most of
 * them cost one look.
 */
#include "yaml/scan.h"

enum { KEY_BYTES = 128, DIGITS = 15 };

/* What may have the character in it: names, words, keys; scalars in a flow
 * collection and in a block, where it neither ends them nor needs a second
 * look. */
enum { NAME = 1, WORD = 2, KEY = 4, FLOW = 8, BLOCK = 16 };
enum { N = 31, W = 30, K = 28, F = 24, B = 16 };

static const unsigned char classes[256] = {
    /*       !  "  #  $  %  &  '  (  )  *  +  ,  -  .  / */
    [' '] = 0, F, F, B, F, F, F, F, F, F, F, F, B, W, W, K,
    /*       1  2  3  4  5  6  7  8  9  :  ;  <  =  >  ? */
    ['0'] = N, N, N, N, N, N, N, N, N, N, 0, F, F, F, F, B,
    /*       A  B  C  D  E  F  G  H  I  J  K  L  M  N  O */
    ['@'] = F, N, N, N, N, N, N, N, N, N, N, N, N, N, N, N,
    /*       Q  R  S  T  U  V  W  X  Y  Z  [  \  ]  ^  _ */
    ['P'] = N, N, N, N, N, N, N, N, N, N, N, B, F, B, F, N,
    /*       a  b  c  d  e  f  g  h  i  j  k  l  m  n  o */
    ['`'] = F, N, N, N, N, N, N, N, N, N, N, N, N, N, N, N,
    /*       q  r  s  t  u  v  w  x  y  z  {  |  }  ~ */
    ['p'] = N, N, N, N, N, N, N, N, N, N, N, B, F, B, F,
};

static bool is(char c, unsigned class)
{
    return (classes[(unsigned char)c] & class) != 0;
}

bool shmt_yaml_scan_is_word(const char *text, size_t most)
{
    size_t length = 0;

    while (is(text[length], WORD))
        length++;
    return text[length] == '\0' && length <= most && is(text[0], NAME) &&
           (text[0] < '0' || text[0] > '9');
}

bool shmt_yaml_scan_ascii(const char *data, size_t size)
{
    unsigned char odd = 0;

    /* a fixed number at a time: the compiler makes vectors of them */
    for (; size >= 64; data += 64, size -= 64)
        for (size_t k = 0; k < 64; k++)
            odd |= (data[k] < ' ' || data[k] > '~') && data[k] != '\n';
    for (size_t k = 0; k < size; k++)
        odd |= (data[k] < ' ' || data[k] > '~') && data[k] != '\n';
    return odd == 0;
}

size_t shmt_yaml_scan_key(const char *text)
{
    size_t length = 0;

    if (!is(text[0], NAME))
        return 0;
    while (is(text[length], KEY))
        length++;
    return length <= KEY_BYTES && text[length] == ':' &&
                   shmt_yaml_scan_blank(text[length + 1])
               ? length
               : 0;
}

/* The second character is looked at behind a first one only. */
static bool begins_plain(const char *text)
{
    const char c = text[0];

    return is(c, NAME) || c == '(' || c == '/' || c == '.' || c == '+' ||
           (c == '-' &&
            (is(text[1], NAME) || text[1] == '.' || text[1] == '('));
}

size_t shmt_yaml_scan_plain(const char *text, bool flow)
{
    const unsigned inside = flow ? FLOW : BLOCK;
    size_t at = 0, length;
    char stop;

    if (!begins_plain(text))
        return 0;
    do {
        while (is(text[at], inside) ||
               (!flow && text[at] == ':' &&
                !shmt_yaml_scan_blank(text[at + 1])))
            at++;
        length = at;
        while (text[at] == ' ')
            at++;
        stop = text[at];
    } while (at > length && is(stop, inside) && stop != '#');
    return stop == '\n' || stop == '\0' || (stop == '#' && at > length) ||
                   (flow && (stop == ',' || stop == ']' || stop == '}'))
               ? length
               : 0;
}

size_t shmt_yaml_scan_digits(const char *text)
{
    size_t count = 0;

    while (text[count] >= '0' && text[count] <= '9')
        count++;
    return count;
}

/* 0|[1-9][0-9]*, then (.[0-9]+)?, not too long for any reader. */
static size_t number(const char *text)
{
    const size_t whole = shmt_yaml_scan_digits(text);
    size_t part = 0;

    if (whole == 0 || (whole > 1 && text[0] == '0'))
        return 0;
    if (text[whole] == '.') {
        part = shmt_yaml_scan_digits(text + whole + 1);
        if (part == 0)
            return 0;
        part++;
    }
    return whole + part <= DIGITS ? whole + part : 0;
}

size_t shmt_yaml_scan_numbers(const char *text, size_t *count)
{
    size_t at = 0, numbers = 0;

    if (text[0] != '[')
        return 0;
    do {
        size_t length;

        at++;
        while (text[at] == ' ')
            at++;
        length = number(text + at);
        if (length == 0)
            return 0;
        at += length;
        numbers++;
    } while (text[at] == ',');
    if (text[at] != ']')
        return 0;
    *count = numbers;
    return at + 1;
}
