/* SPDX-License-Identifier: MIT */
/* compiled: see compiled.h. */
#include "target/compiled.h"

#include <stdlib.h>

void shmt_target_compiled_free(struct shmt_target_compiled *compiled)
{
    if (compiled == NULL)
        return;
    for (size_t k = 0; k < compiled->count; k++)
        shmt_target_queue_clear(&compiled->list[k].waiting);
    free(compiled->list);
    shmt_target_binaries_free(&compiled->binaries);
    free(compiled);
}

size_t shmt_target_compiled_number(struct shmt_target_compiled *compiled,
                                   const struct shmt_kernel *kernel,
                                   const int64_t *problem,
                                   const shmt_config *config)
{
    struct shmt_kernel_evaluated evaluated;
    char key[SHMT_DIGEST_TEXT];
    size_t number = SIZE_MAX;

    shmt_kernel_evaluate(kernel, problem, config, &evaluated);
    if (shmt_kernel_binary_key(&evaluated, key) == SHMTUNE_OK)
        number = shmt_target_binaries_number(&compiled->binaries, key);
    if (number == SIZE_MAX ||
        !shmt_array_reserve(&compiled->list, &compiled->room, number + 1,
                            sizeof *compiled->list))
        return SIZE_MAX;
    while (compiled->count <= number)
        compiled->list[compiled->count++] =
            (struct shmt_target_compiled_one){0};
    return number;
}

bool shmt_target_compiled_has(struct shmt_target_compiled *compiled,
                              const struct shmt_kernel *kernel,
                              const int64_t *problem,
                              const shmt_config *config)
{
    const size_t number =
        shmt_target_compiled_number(compiled, kernel, problem, config);

    return number != SIZE_MAX && compiled->list[number].known &&
           compiled->list[number].result.verdict == SHMT_VERDICT_OK;
}

struct shmt_target_job *
shmt_target_compiled_forget(struct shmt_target_compiled *compiled,
                            const struct shmt_target_job *job)
{
    struct shmt_target_compiled_one *const one = &compiled->list[job->binary];
    struct shmt_target_job *heir;

    if (one->known)
        return NULL;
    shmt_target_queue_withdraw(&one->waiting, job->owner);
    heir = shmt_target_queue_take(&one->waiting);
    one->outstanding = heir != NULL;
    return heir;
}

void shmt_target_compiled_withdraw(struct shmt_target_compiled *compiled,
                                   const void *owner)
{
    for (size_t k = 0; k < compiled->count; k++)
        shmt_target_queue_withdraw(&compiled->list[k].waiting, owner);
}
