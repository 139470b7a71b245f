/* SPDX-License-Identifier: MIT */
/*
 * import_json: JSON as the importers read it.  For the files import_*.c
 * alone.
 */
#ifndef SHMT_EXCHANGE_IMPORT_JSON_H
#define SHMT_EXCHANGE_IMPORT_JSON_H

#include "exchange/exchange.h"
#include "exchange/import_node.h"

/* One result of a run, as it is read. */
struct shmt_import_entry {
    struct shmt_result result;
    double at_s;
    bool own;                   /* written by us: at_s is known */
    const char *origin;         /* JSON of what else is there, or NULL */
};

/* The path of a value within the file, as a linked list.  It is formatted
 * ("results[3].configuration") only for a message. */
struct shmt_import_place {
    struct shmt_import *import;
    struct shmt_import_reader *reader;
    struct shmt_error *err;
    const struct shmt_import_place *parent;   /* NULL: the whole file */
    const char *key;                          /* member, or NULL: item */
    size_t item;
};

/* SHMTUNE_INVALID_FILE with "file: place: message". */
enum shmtune_status shmt_import_refuse(const struct shmt_import_place *place,
                                       const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The place of a member or of an array's item.  The result points to `place`,
 * which must outlive it. */
struct shmt_import_place
shmt_import_member(const struct shmt_import_place *place, const char *key);
struct shmt_import_place
shmt_import_item(const struct shmt_import_place *place, size_t item);
/* "file: results[3].configuration", in the arena; NULL: no memory. */
const char *shmt_import_where(const struct shmt_import_place *place);

/* A member that must be there, of a type. */
enum shmtune_status shmt_import_need(const struct shmt_import_place *place,
                                     const struct shmt_import_node *object,
                                     const char *key,
                                     enum shmt_import_type type,
                                     const struct shmt_import_node **out);
/* Numbers, true and false, words. */
enum shmtune_status shmt_import_value(const struct shmt_import_place *place,
                                      const struct shmt_import_node *json,
                                      struct shmt_value *out);
/* A JSON array of values, or Python text that makes one: refused when it is
 * empty or a value occurs twice. */
enum shmtune_status shmt_import_domain(const struct shmt_import_place *place,
                                       const struct shmt_import_node *json,
                                       struct shmt_import_parameter *out);
/* A copy of a string of the file. */
enum shmtune_status shmt_import_copy(const struct shmt_import_place *place,
                                     const char *text, const char **out);
/* The name of a parameter: an identifier, at most 64 characters, and not
 * one that is there already. */
enum shmtune_status shmt_import_name(const struct shmt_import_place *place,
                                     const char *text, const char **out);
/* Makes an identifier from `text` by dropping characters that cannot be part
 * of one: for kernel names. */
enum shmtune_status shmt_import_identifier(const struct shmt_import_place *at,
                                           const char *text,
                                           const char **out);
/* The name of the kernel from that of the file. */
enum shmtune_status
shmt_import_name_of_file(const struct shmt_import_place *place);
/* Makes room for the parameters; refused unless they are 1 to
 * SHMT_SPACE_PARAMETERS. */
enum shmtune_status
shmt_import_make_parameters(const struct shmt_import_place *place,
                            size_t count);
/* The parameters of a file that names them in each entry: those of the first
 * one's `object`, and the kernel, where `kernel` is not NULL.  Nothing when
 * they are known already. */
enum shmtune_status
shmt_import_first_entry(const struct shmt_import_place *place,
                        const struct shmt_import_node *object,
                        const char *kernel);
/* A condition; an error names its place in the imported file. */
enum shmtune_status
shmt_import_compile(const struct shmt_import *import, struct shmt_arena *arena,
                    const struct shmt_import_constraint *constraint,
                    struct shmt_expr **out, struct shmt_error *err);
/* One type for all values of the list: where they are not of one (`*mixed`),
 * numbers among words become words, integers among reals reals.  False: no
 * memory. */
bool shmt_import_unify(struct shmt_arena *arena, struct shmt_import_list *list,
                       bool *mixed);
/* The value as a word: 2, 0.5.  False: no memory. */
bool shmt_import_as_word(struct shmt_arena *arena, struct shmt_value *value);
/* `json` without the members named by `drop` and, but for the whole file, by
 * the parameters, as text; NULL when nothing is left.  `more` is NULL or the
 * text of one member more. */
enum shmtune_status shmt_import_rest(const struct shmt_import_place *place,
                                     const struct shmt_import_node *json,
                                     const char *const *drop, const char *more,
                                     const char **out);
/* Reads the items of `list`, one at a time, each by `read`, and adds them. */
typedef enum shmtune_status
shmt_import_entry_reader(const struct shmt_import_place *place,
                         const struct shmt_import_node *json,
                         struct shmt_import_entry *entry);
enum shmtune_status shmt_import_entries(const struct shmt_import_place *place,
                                        const struct shmt_import_node *list,
                                        shmt_import_entry_reader *read);
/* A file whose list `key` has all of it: its entries, the parameters' domains
 * from them, and what else is there as the origin. */
enum shmtune_status shmt_import_results(const struct shmt_import_place *place,
                                        const struct shmt_import_node *json,
                                        const char *key,
                                        shmt_import_entry_reader *read);
/* Index of a parameter, or SIZE_MAX. */
size_t shmt_import_find(const struct shmt_import *import, const char *name);

/* The values of one configuration, an object, behind those of the entries
 * before it.  Names beside the parameters are refused unless `others`. */
enum shmtune_status
shmt_import_configuration(const struct shmt_import_place *place,
                          const struct shmt_import_node *object, bool others);
/* Domains of the parameters from all entries' values, in ascending order
 * (words: in order of appearance), where a file has none. */
enum shmtune_status
shmt_import_collect(const struct shmt_import_place *place);
/* Times of a list, `ms` milliseconds a unit, into the samples. */
enum shmtune_status shmt_import_samples(const struct shmt_import_place *place,
                                        const struct shmt_import_node *list,
                                        double ms, struct shmt_result *result);
/* An export of ours has results in our own form ("at: 1.5, verdict: ok"). */
enum shmtune_status
shmt_import_read_export(const struct shmt_import_place *place,
                        const char *text,
                        struct shmt_import_entry *entry);

/* Its journal's header, and from it the names of the kernel, the device and
 * the dimensions: to be called once the parameters are known. */
enum shmtune_status
shmt_import_read_export_header(const struct shmt_import_place *place,
                               const char *text);

/* One importer each; `json` is the whole file, an object. */
enum shmtune_status shmt_import_t1(const struct shmt_import_place *place,
                                   const struct shmt_import_node *json);
enum shmtune_status shmt_import_cache(const struct shmt_import_place *place,
                                      const struct shmt_import_node *json);
enum shmtune_status shmt_import_clblast(const struct shmt_import_place *place,
                                        const struct shmt_import_node *json);
enum shmtune_status shmt_import_ktt(const struct shmt_import_place *place,
                                    const struct shmt_import_node *json);
enum shmtune_status shmt_import_t4(const struct shmt_import_place *place,
                                   const struct shmt_import_node *json);

#endif
