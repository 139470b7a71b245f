/* SPDX-License-Identifier: MIT */
/* kernel: what makes a spec another one, and what does not. */
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/check.h"

#include "tests/support/spec_fixture.h"

static void read_digest(char digest[SHMT_DIGEST_TEXT])
{
    struct shmt_kernel *kernel = NULL;
    struct shmt_error err = {0};

    digest[0] = '\0';
    if (shmt_kernel_read(spec_path, &kernel, &err) != SHMTUNE_OK) {
        printf("# %s\n", err.text);
        return;
    }
    memcpy(digest, kernel->digest, SHMT_DIGEST_TEXT);
    shmt_kernel_free(kernel);
}

static void digest_covers_spec_source_and_local_includes(void)
{
    char before[SHMT_DIGEST_TEXT], after[SHMT_DIGEST_TEXT];

    spec_write_text("spec.yaml", spec_good);
    spec_write_text("scale.cu", "#include \"near.h\"\n  #  include <deep/far.h>\n"
               "#include <cuda_fp16.h>\n#include \"absent.h\"\n");
    spec_write_text("near.h", "#include \"near.h\"\n#include \"third.h\"\n");
    spec_write_text("extra/deep/far.h", "int far;\n");
    spec_write_text("third.h", "int third;\n");
    read_digest(before);
    CHECK_INT(strlen(before), 64);
    spec_write_text("unrelated.h", "int unrelated;\n");
    read_digest(after);
    CHECK_TEXT(after, before);
    spec_write_text("third.h", "int changed;\n");
    read_digest(after);
    CHECK(strcmp(after, before) != 0);
    spec_write_text("third.h", "int third;\n");
    read_digest(after);
    CHECK_TEXT(after, before);
    spec_write_text("extra/deep/far.h", "int changed;\n");
    read_digest(after);
    CHECK(strcmp(after, before) != 0);
    spec_write_text("extra/deep/far.h", "int far;\n");
    spec_write_text("absent.h", "\n");
    read_digest(after);
    CHECK(strcmp(after, before) != 0);
    spec_write_text("scale.cu", "\n");
    read_digest(before);
    CHECK(strcmp(after, before) != 0);
    spec_write_text("scale.cu", "// \n");
    read_digest(after);
    CHECK(strcmp(after, before) != 0);
    spec_write_text("scale.cu", "#define FOLDER \"extra\"\n#include \".\"\n");
    read_digest(after);
    CHECK_INT(strlen(after), 64);
    spec_write_text("scale.cu", "\n");
}

/* Each is read once, by whichever path it is met. */
static void headers_that_include_each_other(void)
{
    struct shmt_kernel *kernel = NULL;
    struct shmt_error err = {0};

    spec_write_text("spec.yaml", spec_good);
    spec_write_text("scale.cu", "#include \"near.h\"\n");
    spec_write_text("near.h", "#include \"extra/deep/far.h\"\n");
    spec_write_text("extra/deep/far.h", "#include \"../../near.h\"\n"
                    "#include \"../deep/far.h\"\n");
    CHECK_INT(shmt_kernel_read(spec_path, &kernel, &err), SHMTUNE_OK);
    if (kernel != NULL)
        CHECK_INT(kernel->header_count, 2);
    shmt_kernel_free(kernel);
    spec_write_text("extra/deep/far.h", "int far;\n");
    spec_write_text("scale.cu", "\n");
}

/* Where the compiler looks: beside the source, were it not beside the spec;
 * and directives that stand behind a comment, or name a macro. */
static void digest_covers_what_the_compiler_finds(void)
{
    static const struct {
        const char *directive, *file;
    } headers[] = {
        {"#include <deep/beside.h>", "extra/deep/beside.h"},
        {"#include <angled.h>", "extra/angled.h"},
        {"#include \"nested.h\"", "extra/below.h"},
        {"/* tiles */ #include \"angled.h\"", "extra/angled.h"},
        {"/* tiles:\n * */ #include \"angled.h\"", "extra/angled.h"},
        {"# /* as */ include /* ever */ \"angled.h\"", "extra/angled.h"},
        {"#define TILES \"angled.h\"\n#include TILES", "extra/angled.h"},
        {"#define TILES <angled.h>\n#include TILES", "extra/angled.h"},
        {"#include \\\n \"angled.h\"", "extra/angled.h"},
        {"#define TILES \\\r\n <angled.h>\r\n#include TILES",
         "extra/angled.h"},
    };
    char before[SHMT_DIGEST_TEXT], after[SHMT_DIGEST_TEXT];
    struct shmt_text text = {0};

    spec_edit("source: scale.cu\nincludes: [extra]",
              "source: extra/scale.cu\nincludes: [other]", &text);
    spec_write_text("spec.yaml", shmt_text_string(&text));
    spec_write_text("extra/nested.h", "#include <deep/nested.h>\n");
    spec_write_text("extra/deep/nested.h", "#include \"below.h\"\n");
    for (size_t i = 0; i < sizeof headers / sizeof headers[0]; i++) {
        spec_write_text("extra/scale.cu", headers[i].directive);
        spec_write_text(headers[i].file, "int one;\n");
        read_digest(before);
        CHECK_INT(strlen(before), 64);
        spec_write_text(headers[i].file, "int two;\n");
        read_digest(after);
        if (strcmp(after, before) == 0) {
            printf("# %s\n", headers[i].directive);
            CHECK(!"the header counts");
        }
    }
    shmt_text_free(&text);
}

static void digest_covers_a_header_by_its_whole_path(void)
{
    char before[SHMT_DIGEST_TEXT], after[SHMT_DIGEST_TEXT];
    const int folder = (int)(strrchr(spec_path, '/') - spec_path);
    struct shmt_text text = {0};

    spec_write_text("spec.yaml", spec_good);
    shmt_text_addf(&text, "#include \"%.*s/whole.h\"\n", folder, spec_path);
    spec_write_text("scale.cu", shmt_text_string(&text));
    spec_write_text("whole.h", "int one;\n");
    read_digest(before);
    spec_write_text("whole.h", "int two;\n");
    read_digest(after);
    CHECK(strcmp(after, before) != 0);
    shmt_text_free(&text);
}

static void a_directive_stands_alone_in_its_line(void)
{
    char before[SHMT_DIGEST_TEXT], after[SHMT_DIGEST_TEXT];

    spec_write_text("spec.yaml", spec_good);
    spec_write_text("scale.cu", "int a; #include \"odd.h\"\n"
               "#define B(x) #x\n \t# include \"even.h\"\n#include");
    spec_write_text("odd.h", "int odd;\n");
    spec_write_text("even.h", "int even;\n");
    read_digest(before);
    spec_write_text("odd.h", "int changed;\n");
    read_digest(after);
    CHECK_TEXT(after, before);
    spec_write_text("even.h", "int changed;\n");
    read_digest(after);
    CHECK(strcmp(after, before) != 0);
    spec_write_text("scale.cu", "\n");
}

/* The same kernel, said otherwise or tuned at other sizes. */
static const struct {
    const char *from, *to;
    bool same;
} respelled[] = {
    {"1024, cols: 512", "1024, cols: 513", true},
    {"y = a x", "y = x a", true},
    {"sizes:", "# more to come\nsizes:", true},
    {"[BLOCK, STAGES]", "\n  - BLOCK\n  - \"STAGES\"", true},
    {"max: 4096", "max: 4095", false},
    {"default: 32}", "default: 31}", false},
    {"[32, 64, 128]", "[32, 64, 129]", false},
    {"  block: [256]", "  block: [255]", false},
    {"relative: 1.0e-3", "relative: 1.0e-2", false},
    {"[static, dynamic], default: dynamic}",
     "[dynamic, static], default: dynamic}", false},
};

static void digest_is_of_what_a_spec_says(void)
{
    char before[SHMT_DIGEST_TEXT], after[SHMT_DIGEST_TEXT];
    struct shmt_text text = {0};

    spec_write_text("spec.yaml", spec_good);
    read_digest(before);
    for (size_t i = 0; i < sizeof respelled / sizeof respelled[0]; i++) {
        spec_edit(respelled[i].from, respelled[i].to, &text);
        spec_write_text("spec.yaml", shmt_text_string(&text));
        read_digest(after);
        CHECK_INT(strlen(after), 64);
        if ((strcmp(after, before) == 0) != respelled[i].same) {
            printf("# \"%s\" -> \"%s\"\n", respelled[i].from,
                   respelled[i].to);
            CHECK(!"the digest says what changed");
        }
    }
    shmt_text_free(&text);
}

/* A folder beside the spec. */
static void make_folder(const char *name)
{
    char path[FOLDER_ROOM + 32];

    snprintf(path, sizeof path, "%.*s%s",
             (int)(strlen(spec_path) - strlen("spec.yaml")), spec_path, name);
    CHECK_INT(mkdir(path, 0700), 0);
}

static int header_count(void)
{
    struct shmt_kernel *kernel = NULL;
    struct shmt_error err = {0};
    int count = -1;

    if (shmt_kernel_read(spec_path, &kernel, &err) == SHMTUNE_OK)
        count = (int)kernel->header_count;
    else
        printf("# %s\n", err.text);
    shmt_kernel_free(kernel);
    return count;
}

/* A whole library of headers counts; there is a bound all the same. */
static void digest_is_bounded(void)
{
    enum { MOST = 16384 };
    struct shmt_kernel *kernel = NULL;
    struct shmt_error err = {0};
    struct shmt_text all = {0};
    char link[FOLDER_ROOM + 32];
    const int folder = (int)(strlen(spec_path) - strlen("spec.yaml"));

    spec_write_text("spec.yaml", spec_good);
    make_folder("many");
    spec_write_text("many/h.h", "int h;\n");
    for (int i = 0; i < MOST; i++) {
        snprintf(link, sizeof link, "%.*smany/h%d.h", folder, spec_path, i);
        CHECK_INT(symlink("h.h", link), 0);
        shmt_text_addf(&all, "#include \"many/h%d.h\"\n", i);
        if (i == MOST - 2) {
            spec_write_text("scale.cu", shmt_text_string(&all));
            CHECK_INT(header_count(), MOST - 1);
        }
    }
    spec_write_text("scale.cu", shmt_text_string(&all));
    CHECK_INT(shmt_kernel_read(spec_path, &kernel, &err),
              SHMTUNE_INVALID_FILE);
    CHECK_HAS(err.text, "16384 files");
    spec_write_text("scale.cu", "__global__ void scale() {}\n");
    for (int i = 0; i < MOST; i++) {
        snprintf(link, sizeof link, "%.*smany/h%d.h", folder, spec_path, i);
        CHECK_INT(unlink(link), 0);
    }
    shmt_text_free(&all);
}

static int toolkit_version(void)
{
    struct shmt_kernel *kernel = NULL;
    struct shmt_error err = {0};
    int version = -1;

    if (shmt_kernel_read(spec_path, &kernel, &err) == SHMTUNE_OK)
        version = kernel->toolkit_version;
    shmt_kernel_free(kernel);
    return version;
}

/* What a toolkit holds counts by the toolkit's version, beside the digest. */
static void toolkits_count_by_their_version(void)
{
    char before[SHMT_DIGEST_TEXT], after[SHMT_DIGEST_TEXT];
    struct shmt_text text = {0};

    spec_edit("includes: [extra]", "includes: [kit, kit/cccl]", &text);
    spec_write_text("spec.yaml", shmt_text_string(&text));
    spec_write_text("scale.cu", "#include <tool.h>\n#include <cub.h>\n");
    make_folder("kit");
    make_folder("kit/cccl");
    spec_write_text("kit/tool.h", "#include \"deep.h\"\n");
    spec_write_text("kit/deep.h", "int deep;\n");
    spec_write_text("kit/cccl/cub.h", "int cub;\n");
    read_digest(before);
    CHECK_INT(header_count(), 3);
    CHECK_INT(toolkit_version(), 0);
    spec_write_text("kit/cuda_runtime_api.h", "\n");
    spec_write_text("kit/cuda.h", "\n#define CUDA_VERSION 12080\n");
    read_digest(after);
    CHECK(strcmp(after, before) != 0);
    CHECK_INT(header_count(), 0);
    CHECK_INT(toolkit_version(), 12080);
    spec_write_text("kit/tool.h", "int other;\n");
    spec_write_text("kit/cccl/cub.h", "int other;\n");
    spec_write_text("kit/cuda.h", "#define CUDA_VERSION 13000\n");
    read_digest(before);
    CHECK_TEXT(before, after);
    CHECK_INT(toolkit_version(), 13000);
    spec_write_text("scale.cu", "#include <cub.h>\n");
    CHECK_INT(toolkit_version(), 13000);
    spec_write_text("scale.cu", "\n");
    CHECK_INT(toolkit_version(), 0);
    shmt_text_free(&text);
}

/* Where it cannot be known whether there is a header, nothing is taken for
 * unchanged. */
static void a_header_that_cannot_be_examined_is_told(void)
{
    struct shmt_kernel *kernel = NULL;
    struct shmt_error err = {0};
    char link[FOLDER_ROOM + 16];

    spec_write_text("spec.yaml", spec_good);
    spec_write_text("scale.cu", "#include \"loop.h\"\n");
    snprintf(link, sizeof link, "%.*sloop.h",
             (int)(strlen(spec_path) - strlen("spec.yaml")), spec_path);
    CHECK_INT(symlink("loop.h", link), 0);
    CHECK_INT(shmt_kernel_read(spec_path, &kernel, &err), SHMTUNE_STORAGE);
    CHECK_HAS(err.text, "loop.h: cannot be examined: ");
    CHECK_INT(unlink(link), 0);
    CHECK_INT(shmt_kernel_read(spec_path, &kernel, &err), SHMTUNE_OK);
    shmt_kernel_free(kernel);
    spec_write_text("scale.cu", "__global__ void scale() {}\n");
}

int main(void)
{
    spec_begin();
    CHECK_RUN(digest_covers_spec_source_and_local_includes);
    CHECK_RUN(headers_that_include_each_other);
    CHECK_RUN(digest_covers_what_the_compiler_finds);
    CHECK_RUN(digest_covers_a_header_by_its_whole_path);
    CHECK_RUN(a_directive_stands_alone_in_its_line);
    CHECK_RUN(digest_is_of_what_a_spec_says);
    CHECK_RUN(digest_is_bounded);
    CHECK_RUN(toolkits_count_by_their_version);
    CHECK_RUN(a_header_that_cannot_be_examined_is_told);
    spec_end();
    return CHECK_END();
}
