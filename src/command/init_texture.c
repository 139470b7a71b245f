/* SPDX-License-Identifier: MIT */
/*
 * init_texture: a parameter that is a texture or a surface, and what the text
 * of the source says of how it is read: the kernel by which function, the host
 * with which filter.  Called by init_write.c, and by the drafts of captured
 * launches.
 */
#include "config.h"

#include <ctype.h>
#include <string.h>

#include "command/init.h"
#include "yaml/yaml.h"

static bool is_one_of(const struct shmt_signature_parameter *declared,
                      const char *const types[2])
{
    for (size_t k = 0; k < 2; k++)
        if (shmt_text_mentions(declared->type, types[k], 1) > 0)
            return !declared->pointer;
    return false;
}

bool shmt_init_is_texture(const struct shmt_signature_parameter *declared)
{
    static const char *const types[] = {"cudaTextureObject_t", "CUtexObject"};

    return is_one_of(declared, types);
}

bool shmt_init_is_surface(const struct shmt_signature_parameter *declared)
{
    static const char *const types[] = {"cudaSurfaceObject_t", "CUsurfObject"};

    return is_one_of(declared, types);
}

/* -- what the kernel says ------------------------------------------------- */

/* One of the functions by which textures are read. */
struct fetch {
    const char *name;
    int rank;
    bool linear, layered;
};

static const struct fetch fetches[] = {
    {"tex1Dfetch", 1, true, false}, {"tex1D", 1, false, false},
    {"tex2D", 2, false, false}, {"tex3D", 3, false, false},
    {"tex1DLayered", 2, false, true}, {"tex2DLayered", 3, false, true},
    {"tex2Dgather", 2, false, false}};

/* The call of one with the texture as its first argument, *type what stands
 * between < and >, "" for nothing; NULL: there is none. */
static const struct fetch *find_fetch(const struct shmt_init_draft *draft,
                                      const char *texture, const char **type,
                                      size_t *length)
{
    for (const char *at = strstr(draft->text, "tex"); at != NULL;
         at = strstr(at + 3, "tex")) {
        const size_t name = shmt_text_name_length(at);
        const char *behind = at + name;

        *type = "";
        *length = 0;
        if (at > draft->text &&
            (isalnum((unsigned char)at[-1]) || at[-1] == '_'))
            continue;
        if (*behind == '<') {
            *type = behind + 1;
            *length = strcspn(*type, ">;");
            behind = *type + *length + ((*type)[*length] == '>');
        }
        behind += strspn(behind, " \t\n");
        if (*behind++ != '(')
            continue;
        behind += strspn(behind, " \t\n");
        if (shmt_text_name_length(behind) != strlen(texture) ||
            strncmp(behind, texture, strlen(texture)) != 0)
            continue;
        for (size_t k = 0; k < sizeof fetches / sizeof fetches[0]; k++)
            if (strlen(fetches[k].name) == name &&
                strncmp(fetches[k].name, at, name) == 0)
                return &fetches[k];
    }
    return NULL;
}

/* The type as the source's reader has it; NULL: it is none of ours. */
static const struct shmt_signature_parameter *
read_type(const struct shmt_init_draft *draft, const char *type, size_t length)
{
    struct shmt_text text = {0};
    struct shmt_source source = {0};
    const struct shmt_signature_parameter *found = NULL;

    shmt_text_add(&text, "__global__ void read(");
    shmt_text_add_bytes(&text, type, length);
    shmt_text_add(&text, " a) {}");
    if (!text.failed && length > 0 &&
        shmt_source_read(draft->arena, shmt_text_string(&text), &source,
                         NULL) == SHMTUNE_OK &&
        source.kernel_count == 1 && source.kernels[0].signature.count == 1)
        found = source.kernels[0].signature.parameters;
    shmt_text_free(&text);
    return found != NULL && (found->kind == SHMT_SIGNATURE_ELEMENT ||
                             found->kind == SHMT_SIGNATURE_VECTOR)
               ? found : NULL;
}

/* -- what the host says --------------------------------------------------- */

/* The word whose name alone of several stands in the text; NULL: none, or
 * more than one does. */
static const char *only_of(const struct shmt_init_draft *draft,
                           const char *const names[][2], size_t count)
{
    const char *found = NULL;

    for (size_t k = 0; k < count; k++) {
        if (shmt_text_mentions(draft->text, names[k][0], 1) == 0)
            continue;
        if (found != NULL)
            return NULL;
        found = names[k][1];
    }
    return found;
}

static bool is_normalized(const struct shmt_init_draft *draft)
{
    static const char member[] = "normalizedCoords";
    const char *at = strstr(draft->text, member);

    if (at == NULL)
        return false;
    at += strlen(member);
    at += strspn(at, " =");
    return strncmp(at, "true", 4) == 0 || *at == '1';
}

/* `whole`: what is read is no real, and not filtered. */
static void add_sampling(const struct shmt_init_draft *draft, bool whole,
                         struct shmt_text *text)
{
    static const char *const filters[][2] = {
        {"cudaFilterModePoint", "point"}, {"cudaFilterModeLinear", "linear"}};
    static const char *const addresses[][2] = {
        {"cudaAddressModeWrap", "wrap"}, {"cudaAddressModeClamp", "clamp"},
        {"cudaAddressModeMirror", "mirror"},
        {"cudaAddressModeBorder", "border"}};
    const char *filter = only_of(draft, filters, 2);
    const char *address = only_of(draft, addresses, 4);

    if (is_normalized(draft))
        shmt_text_add(text, ", normalized: true");
    if (!whole)
        shmt_text_add(text, ", filter: ");
    if (!whole && filter != NULL)
        shmt_text_add(text, filter);
    else if (!whole)
        shmt_init_mark(text, "point or linear, as filterMode of the host is");
    shmt_text_add(text, ", address: ");
    if (address != NULL)
        shmt_text_add(text, address);
    else
        shmt_init_mark(text, "clamp or border, with normalized wrap or mirror, "
                       "as addressMode of the host is");
}

/* -- both ----------------------------------------------------------------- */

void shmt_init_add_texture(const struct shmt_init_draft *draft,
                           const char *name, struct shmt_text *text)
{
    static const char *const extents[] = {
        "texels, as [n], [cols, rows] or [nx, ny, nz]", "texels, as [n]",
        "texels, the innermost first, as [cols, rows]",
        "texels, the innermost first, as [nx, ny, nz]"};
    const char *said;
    size_t length;
    const struct fetch *fetch = find_fetch(draft, name, &said, &length);
    const struct shmt_signature_parameter *type =
        fetch == NULL ? NULL : read_type(draft, said, length);
    const bool fraction =
        shmt_text_mentions(draft->text, "cudaReadModeNormalizedFloat", 1) > 0;
    const int lanes = type != NULL && type->lanes > 1 ? type->lanes : 1;

    shmt_text_addf(text, "  %s_data: {type: ", name);
    if (type != NULL && !(fraction && shmt_element_is_real(type->element)))
        shmt_text_add(text, shmt_element_word(type->element));
    else
        shmt_init_mark(text, "%s", fraction
                                       ? "u8, i16, ..., which is read as a real"
                                       : "f32, u8, ..., of an element");
    shmt_text_add(text, ", role: input, count: ");
    shmt_init_mark(text, "how many elements, as %sn", lanes > 1 ? "4 * " : "");
    shmt_text_addf(text, "}\n  %s: {texture: %s_data, extents: ", name, name);
    shmt_init_mark(text, "%s", extents[fetch == NULL ? 0 : fetch->rank]);
    if (fetch != NULL && fetch->layered)
        shmt_text_add(text, ", layered: true");
    if (lanes > 1)
        shmt_text_addf(text, ", channels: %d", lanes);
    if (fraction)
        shmt_text_add(text, ", read: normalized_float");
    if (fetch == NULL || !fetch->linear) {
        if (fetch != NULL && fetch->rank == 1)
            shmt_text_add(text, ", memory: array");
        add_sampling(draft, type != NULL && !fraction &&
                                !shmt_element_is_real(type->element), text);
    }
    shmt_text_add(text, "}\n");
}
