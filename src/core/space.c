/* SPDX-License-Identifier: MIT */
/* space: fallback, explicit list */
#include "core/space.h"
#include <stdlib.h>
#include <string.h>
struct shmt_space {
    struct shmt_space_definition def;
    struct shmt_expr **constraints;
    size_t *level; /* parameter after which it can be checked */
    shmt_choice *list; uint64_t count, room;
    struct shmt_value *values;
};
static enum shmtune_status walk(struct shmt_space *s, size_t p, shmt_choice *c, struct shmt_error *err)
{
    size_t n = s->def.parameter_count;
    if (p == n) {
        if (s->count == s->room) {
            s->room = s->room ? s->room * 2 : 1024;
            void *l = realloc(s->list, s->room * (n ? n : 1) * sizeof *s->list);
            if (!l) return shmt_error_memory(err);
            s->list = l;
        }
        memcpy(s->list + s->count++ * n, c, n * sizeof *c);
        return SHMTUNE_OK;
    }
    for (size_t v = 0; v < s->def.parameters[p].count; v++) {
        bool ok = true;
        c[p] = (shmt_choice)v;
        s->values[s->def.fixed_count + p] = s->def.parameters[p].values[v];
        for (size_t k = 0; k < s->def.constraint_count && ok; k++)
            if (s->level[k] == p) {
                enum shmtune_status st = shmt_expr_eval_bool(s->constraints[k], s->values, &ok, err);
                if (st != SHMTUNE_OK) return st;
            }
        if (ok) { enum shmtune_status st = walk(s, p + 1, c, err); if (st != SHMTUNE_OK) return st; }
    }
    return SHMTUNE_OK;
}
enum shmtune_status shmt_space_build(const struct shmt_space_definition *d, struct shmt_space **out, struct shmt_error *err)
{
    struct shmt_space *s = calloc(1, sizeof *s);
    shmt_choice c[SHMT_SPACE_PARAMETERS] = {0};
    enum shmtune_status st;
    if (!s) return shmt_error_memory(err);
    s->def = *d;
    s->constraints = calloc(d->constraint_count + 1, sizeof *s->constraints);
    s->level = calloc(d->constraint_count + 1, sizeof *s->level);
    s->values = calloc(d->fixed_count + d->parameter_count + 1, sizeof *s->values);
    for (size_t k = 0; k < d->constraint_count; k++) {
        s->constraints[k] = d->constraints[k];
        for (size_t p = 0; p < d->parameter_count; p++)
            if (shmt_expr_uses(d->constraints[k], d->fixed_count + p)) s->level[k] = p;
    }
    for (size_t f = 0; f < d->fixed_count; f++) s->values[f] = d->fixed[f];
    st = walk(s, 0, c, err);
    if (st != SHMTUNE_OK) { shmt_space_free(s); return st; }
    *out = s;
    return SHMTUNE_OK;
}
void shmt_space_free(struct shmt_space *s) { if (!s) return; free(s->constraints); free(s->level); free(s->values); free(s->list); free(s); }
uint64_t shmt_space_count(const struct shmt_space *s) { return s->count; }
size_t shmt_space_parameters(const struct shmt_space *s) { return s->def.parameter_count; }
const struct shmt_parameter *shmt_space_parameter(const struct shmt_space *s, size_t p) { return &s->def.parameters[p]; }
size_t shmt_space_nodes(const struct shmt_space *s) { return s->count; }
size_t shmt_space_bytes(const struct shmt_space *s) { return s->room * s->def.parameter_count * 2; }
void shmt_space_configuration(const struct shmt_space *s, uint64_t i, shmt_choice *c)
{ size_t n = s->def.parameter_count; memcpy(c, s->list + i * n, n * sizeof *c); }
static int compare(const shmt_choice *a, const shmt_choice *b, size_t n)
{ for (size_t k = 0; k < n; k++) if (a[k] != b[k]) return a[k] < b[k] ? -1 : 1; return 0; }
bool shmt_space_index(const struct shmt_space *s, const shmt_choice *c, uint64_t *index)
{
    size_t n = s->def.parameter_count; uint64_t lo = 0, hi = s->count;
    while (lo < hi) { uint64_t m = lo + (hi - lo) / 2; int r = compare(s->list + m * n, c, n);
        if (r == 0) { *index = m; return true; } if (r < 0) lo = m + 1; else hi = m; }
    return false;
}
size_t shmt_space_neighbours(const struct shmt_space *s, uint64_t i, enum shmt_neighbour kind, uint64_t *out, size_t room)
{
    shmt_choice c[SHMT_SPACE_PARAMETERS]; size_t n = 0; uint64_t j;
    shmt_space_configuration(s, i, c);
    for (size_t p = 0; p < s->def.parameter_count; p++) {
        shmt_choice old = c[p];
        for (size_t v = 0; v < s->def.parameters[p].count; v++) {
            if (v == old) continue;
            if (kind == SHMT_NEIGHBOUR_STEP && s->def.parameters[p].ordered && v + 1 != old && v != (size_t)old + 1) continue;
            c[p] = (shmt_choice)v;
            if (shmt_space_index(s, c, &j)) { if (n < room) out[n] = j; n++; }
        }
        c[p] = old;
    }
    return n;
}
uint64_t shmt_space_nearest(const struct shmt_space *s, const shmt_choice *c)
{
    size_t n = s->def.parameter_count; uint64_t best = 0; double bd = 1e300;
    for (uint64_t i = 0; i < s->count; i++) { double d = 0; for (size_t p = 0; p < n; p++) { double x = (double)s->list[i*n+p] - c[p]; d += x < 0 ? -x : x; } if (d < bd) { bd = d; best = i; } }
    return best;
}
enum shmtune_status shmt_space_funnel(const struct shmt_space_definition *d, size_t k, uint64_t *count, bool *exact, struct shmt_error *err)
{
    struct shmt_space_definition x = *d; struct shmt_space *s; enum shmtune_status st;
    x.constraint_count = k; st = shmt_space_build(&x, &s, err); if (st != SHMTUNE_OK) return st;
    *count = s->count; *exact = true; shmt_space_free(s); return SHMTUNE_OK;
}
