/* SPDX-License-Identifier: MIT */
/*
 * Any pair of files as a stored binary of tests/fake/data/toy.yaml: an image
 * whose numbers are within their ranges, which is stored and read as the same,
 * or none.  An input is the report, a line "===" and the binary; @KEY, @BYTES
 * and @DIGEST in the report become those of the binary, which no fuzzer would
 * guess.
 */
#define _GNU_SOURCE   /* memmem */
#include "fuzz.h"

#include <string.h>

#include "gpu/image.h"
#include "gpu/image_store.h"

const char fuzz_name[] = "image";

static struct shmt_kernel_evaluated evaluated;
static const struct shmt_image_request request = {
    .evaluated = &evaluated, .arch = "sm_90"};
static char key[SHMT_DIGEST_TEXT], report[256], binary[256], again[128];

static void make_request(void)
{
    const struct shmt_kernel *const kernel = fuzz_kernel();
    static shmt_config config[SHMT_SPACE_PARAMETERS];
    const char *const folder = fuzz_folder();
    struct shmt_error err;

    shmt_kernel_default(kernel, config);
    shmt_kernel_evaluate(kernel, kernel->sizes[0], config, &evaluated);
    FUZZ_HOLDS(shmt_image_key(&request, key, &err) == SHMTUNE_OK);
    snprintf(report, sizeof report, "%s/%s.res", folder, key);
    snprintf(binary, sizeof binary, "%s/%s.cubin", folder, key);
    snprintf(again, sizeof again, "%s/again", folder);
}

/* Where the report ends; *at is where the binary begins. */
static size_t find_binary(const char *data, size_t size, size_t *at)
{
    static const char mark[] = "\n===\n";
    const char *const found = memmem(data, size, mark, sizeof mark - 1);

    *at = found == NULL ? size : (size_t)(found - data) + sizeof mark - 1;
    return found == NULL ? size : (size_t)(found - data) + 1;
}

static void write_report(const char *data, size_t size, const char *digest,
                         size_t bytes)
{
    char number[32];
    const struct {
        const char *mark, *text;
    } table[] = {{"@KEY", key}, {"@BYTES", number}, {"@DIGEST", digest}};
    struct shmt_text text = {0};
    size_t done = 0;

    snprintf(number, sizeof number, "%zu", bytes);
    while (done < size) {
        size_t k = 0;

        while (k < 3 && (size - done < strlen(table[k].mark) ||
                         memcmp(data + done, table[k].mark,
                                strlen(table[k].mark)) != 0))
            k++;
        if (k < 3)
            shmt_text_add(&text, table[k].text);
        else
            shmt_text_add_bytes(&text, data + done, 1);
        done += k < 3 ? strlen(table[k].mark) : 1;
    }
    fuzz_write(report, shmt_text_string(&text), text.length);
    shmt_text_free(&text);
}

static void write_pair(const char *data, size_t size)
{
    char text[SHMT_DIGEST_TEXT];
    struct shmt_digest digest;
    size_t at;
    const size_t length = find_binary(data, size, &at);

    shmt_digest_begin(&digest);
    shmt_digest_add(&digest, data + at, size - at);
    shmt_digest_end(&digest, text);
    write_report(data, length, text, size - at);
    fuzz_write(binary, data + at, size - at);
}

static void check_entries(const struct shmt_image *image)
{
    FUZZ_HOLDS(image->found && strcmp(image->key, key) == 0);
    FUZZ_HOLDS(image->entry_count >= 1);
    for (size_t k = 0; k < image->entry_count; k++) {
        const struct shmt_resources *const r = &image->entries[k].resources;

        FUZZ_HOLDS(image->entries[k].lowered != NULL);
        FUZZ_HOLDS(r->registers >= 0 && r->stack_bytes >= 0);
        FUZZ_HOLDS(r->spill_store_bytes >= 0 && r->spill_load_bytes >= 0);
        FUZZ_HOLDS(r->shared_static_bytes >= 0);
        FUZZ_HOLDS(r->constant_bytes >= -1 && r->max_threads >= -1);
    }
}

static void check_store(const struct shmt_image *image)
{
    const struct shmt_image_folder folder = {again, true};
    struct shmt_image *back = NULL;
    struct shmt_error err = {0};

    FUZZ_HOLDS(shmt_image_write_stored(&folder, image, &err) == SHMTUNE_OK);
    FUZZ_HOLDS(shmt_image_get(&request, NULL, again, &back, &err) ==
               SHMTUNE_OK);
    FUZZ_HOLDS(back->cubin_size == image->cubin_size &&
               memcmp(back->cubin, image->cubin, back->cubin_size) == 0);
    FUZZ_HOLDS(back->entry_count == image->entry_count);
    for (size_t k = 0; k < back->entry_count; k++) {
        FUZZ_HOLDS(strcmp(back->entries[k].lowered,
                          image->entries[k].lowered) == 0);
        FUZZ_HOLDS(memcmp(&back->entries[k].resources,
                          &image->entries[k].resources,
                          sizeof(struct shmt_resources)) == 0);
    }
    shmt_image_free(back);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct shmt_image *image = NULL;
    struct shmt_error err = {0};
    enum shmtune_status status;

    if (key[0] == '\0')
        make_request();
    write_pair((const char *)data, size);
    status = shmt_image_get(&request, NULL, fuzz_folder(), &image, &err);
    if (status == SHMTUNE_OK) {
        check_entries(image);
        check_store(image);
    } else {
        FUZZ_HOLDS(status == SHMTUNE_NOT_FOUND ||
                   status == SHMTUNE_INVALID_FILE);
        FUZZ_HOLDS(image == NULL && err.text[0] != '\0');
    }
    shmt_image_free(image);
    return 0;
}
