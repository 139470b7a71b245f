/* SPDX-License-Identifier: MIT */
/* digest: the examples of FIPS 180-4 and of NIST's validation system. */
#include "tests/support/check.h"

#include "base/digest.h"

static const char *digest_of(const void *data, size_t size, size_t step)
{
    static char text[SHMT_DIGEST_TEXT];
    struct shmt_digest digest;

    shmt_digest_begin(&digest);
    for (size_t at = 0; at < size; at += step)
        shmt_digest_add(&digest, (const char *)data + at,
                        step < size - at ? step : size - at);
    shmt_digest_end(&digest, text);
    return text;
}

static void published_examples(void)
{
    static const char two[] =
        "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
    static const char four[] =
        "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmno"
        "ijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu";
    static const unsigned char short_8[] = {0xd3};
    static const unsigned char short_128[] = {
        0x0a, 0x27, 0x84, 0x7c, 0xdc, 0x98, 0xbd, 0x6f,
        0x62, 0x22, 0x0b, 0x04, 0x6e, 0xdd, 0x76, 0x2b};

    CHECK_TEXT(digest_of("", 0, 1), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4"
                                    "649b934ca495991b7852b855");
    CHECK_TEXT(digest_of("abc", 3, 3), "ba7816bf8f01cfea414140de5dae2223b0036"
                                       "1a396177a9cb410ff61f20015ad");
    CHECK_TEXT(digest_of(two, sizeof two - 1, 7),
               "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06"
               "c1");
    CHECK_TEXT(digest_of(four, sizeof four - 1, 64),
               "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9"
               "d1");
    CHECK_TEXT(digest_of(short_8, 1, 1),
               "28969cdfa74a12c82f3bad960b0b000aca2ac329deea5c2328ebc6f2ba9802"
               "c1");
    CHECK_TEXT(digest_of(short_128, sizeof short_128, 5),
               "80c25ec1600587e7f28b18b1b18e3cdc89928e39cab3bc25e4d4a4c139bced"
               "c4");
}

/* Large pieces may be read by other instructions than small ones. */
static void pieces_are_the_same(void)
{
    unsigned char bytes[4096];
    char whole[SHMT_DIGEST_TEXT];

    for (size_t k = 0; k < sizeof bytes; k++)
        bytes[k] = (unsigned char)(k * k % 251 + (k >> 3));
    for (size_t size = 0; size <= sizeof bytes; size += 89)
        for (size_t step = 1; step <= 1000; step += 27) {
            memcpy(whole, digest_of(bytes, size, sizeof bytes), sizeof whole);
            CHECK_TEXT(digest_of(bytes, size, step), whole);
        }
}

static void a_million_letters(void)
{
    char *letters = malloc(1000000);

    if (letters == NULL)
        abort();
    memset(letters, 'a', 1000000);
    CHECK_TEXT(digest_of(letters, 1000000, 1000),
               "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112c"
               "d0");
    free(letters);
}

static void steps_do_not_matter(void)
{
    unsigned char data[300];
    char whole[SHMT_DIGEST_TEXT];

    for (size_t size = 0; size <= sizeof data; size++) {
        for (size_t k = 0; k < size; k++)
            data[k] = (unsigned char)(k * 7 + size);
        memcpy(whole, digest_of(data, size, size + 1), sizeof whole);
        for (size_t step = 1; step < 140; step += 13)
            CHECK_TEXT(digest_of(data, size, step), whole);
        CHECK(shmt_digest_valid(whole));
    }
}

static void nothing_may_be_added(void)
{
    char text[SHMT_DIGEST_TEXT];
    struct shmt_digest digest;

    shmt_digest_begin(&digest);
    shmt_digest_add(&digest, NULL, 0);
    shmt_digest_add(&digest, "ab", 2);
    shmt_digest_add(&digest, NULL, 0);
    shmt_digest_add(&digest, "c", 1);
    shmt_digest_end(&digest, text);
    CHECK_TEXT(text, digest_of("abc", 3, 3));
}

static void only_digests_are_valid(void)
{
    char text[80];

    memset(text, 'a', sizeof text);
    text[64] = '\0';
    CHECK(shmt_digest_valid(text));
    text[3] = 'A';
    CHECK(!shmt_digest_valid(text));
    text[3] = 'g';
    CHECK(!shmt_digest_valid(text));
    text[3] = 'a';
    text[63] = '\0';
    CHECK(!shmt_digest_valid(text));
    text[63] = text[64] = 'a';
    text[65] = '\0';
    CHECK(!shmt_digest_valid(text));
    CHECK(!shmt_digest_valid(""));
}

int main(void)
{
    CHECK_RUN(published_examples);
    CHECK_RUN(pieces_are_the_same);
    CHECK_RUN(a_million_letters);
    CHECK_RUN(steps_do_not_matter);
    CHECK_RUN(nothing_may_be_added);
    CHECK_RUN(only_digests_are_valid);
    return CHECK_END();
}
