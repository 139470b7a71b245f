/* SPDX-License-Identifier: MIT */
/*
 * test_include: which file includes which.
 */
#include <sys/stat.h>

#include "source/source.h"
#include "tests/support/check.h"
#include "tests/support/folder.h"

static char root[FOLDER_ROOM];

static const char *in_root(const char *name)
{
    static char paths[4][FOLDER_ROOM];
    static int next;
    char *const path = paths[next++ % 4];

    folder_path(path, root, name);
    return path;
}

static void put(const char *name, const char *text)
{
    FILE *const file = fopen(in_root(name), "w");

    CHECK(file != NULL);
    if (file == NULL)
        return;
    fputs(text, file);
    CHECK_INT(fclose(file), 0);
}

/* With one folder of headers, unless that is NULL. */
static bool includes(const char *name, const char *header, const char *folder)
{
    const char *const folders[] = {folder == NULL ? "" : in_root(folder)};
    struct shmt_error err = {0};
    bool out = false;

    CHECK_INT(shmt_source_includes(in_root(name), in_root(header), folders,
                                   folder != NULL, &out, &err), SHMTUNE_OK);
    return out;
}

static void includes_are_followed(void)
{
    CHECK(includes("main.cu", "part/kernel.h", NULL));
    CHECK(includes("main.cu", "part/../part/more.h", NULL));
    CHECK(includes("main.cu", "part/deep.h", NULL));
    CHECK(!includes("part/kernel.h", "main.cu", NULL));
    CHECK(!includes("main.cu", "part/absent.h", NULL));
    CHECK(!includes("absent.cu", "part/kernel.h", NULL));
}

static void folders_are_for_the_rest(void)
{
    CHECK(!includes("far.cu", "part/deep.h", NULL));
    CHECK(includes("far.cu", "part/deep.h", "part"));
    /* Beside the file comes first, of quotes alone. */
    CHECK(includes("both.cu", "same.h", "part"));
    CHECK(!includes("both.cu", "part/same.h", "part"));
    CHECK(includes("angle.cu", "part/same.h", "part"));
    CHECK(!includes("angle.cu", "same.h", "part"));
}

/* Which line of which file each line of a text is. */
static void lines_have_files(void)
{
    static const char expected[] =
        "main.cu:1 part/more.h:1 part/deep.h:1 part/more.h:2 part/more.h:3 "
        "part/kernel.h:1 part/kernel.h:2 main.cu:2 main.cu:3 ";
    struct shmt_error err = {0};
    struct shmt_source_splice splice = {
        .arena = shmt_arena_new(), .lax = true, .err = &err};
    struct shmt_text places = {0};
    const char *text = NULL, *file;
    int line = 0;

    shmt_source_splice_file(&splice, in_root("main.cu"));
    CHECK_INT(shmt_source_splice_end(&splice, &text), SHMTUNE_OK);
    CHECK_INT(splice.count, 4);
    CHECK(!splice.lacks);
    for (const char *at = text; at != NULL && *at != '\0';
         at = strchr(at, '\n') + 1) {
        const int place = shmt_source_splice_line(&splice, ++line, &file);

        shmt_text_addf(&places, "%s:%d ", file + strlen(root) + 1, place);
    }
    CHECK_TEXT(shmt_text_string(&places), expected);
    shmt_text_free(&places);
    shmt_arena_free(splice.arena);
}

static void only_includes_count(void)
{
    CHECK(!includes("names.cu", "same.h", NULL));
}

int main(void)
{
    folder_make(root);
    CHECK_INT(mkdir(in_root("part"), 0700), 0);
    put("main.cu", "#include <cstdio>\n#include \"part/kernel.h\"\n");
    put("part/kernel.h", "# include \"more.h\" // more\n");
    put("part/more.h", "#include \"kernel.h\"\n#include \"deep.h\"\n");
    put("part/deep.h", "");
    put("far.cu", "#include <deep.h>\n");
    put("both.cu", "#include \"same.h\"\n");
    put("angle.cu", "#include <same.h>\n");
    put("same.h", "");
    put("part/same.h", "");
    put("names.cu", "#define NAME \"same.h\"\n// #include \"same.h\"\n");
    CHECK_RUN(includes_are_followed);
    CHECK_RUN(folders_are_for_the_rest);
    CHECK_RUN(lines_have_files);
    CHECK_RUN(only_includes_count);
    folder_remove(root);
    return CHECK_END();
}
