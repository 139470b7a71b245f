/* SPDX-License-Identifier: MIT */
/*
 * holds SCHEMA DOCUMENT: whether the one document of a file holds by a JSON
 * Schema.  For scripts.
 */
#include <stdio.h>
#include <stdlib.h>

#include "tests/support/schema_fixture.h"

int main(int argc, char **argv)
{
    json_error_t why;
    json_t *schema, *document;
    bool good;

    if (argc != 3)
        return EXIT_FAILURE;
    schema = schema_open(argv[1]);
    document = json_load_file(argv[2], 0, &why);
    if (document == NULL) {
        printf("# %s:%d: %s\n", argv[2], why.line, why.text);
        return EXIT_FAILURE;
    }
    good = schema_holds(schema, document);
    if (!good)
        printf("# %s does not hold by %s\n", argv[2], argv[1]);
    json_decref(document);
    json_decref(schema);
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
