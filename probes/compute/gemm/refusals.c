/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdbool.h>

#include "probes/compute/gemm/refusals.h"

#define REASON_MAX 512u /* characters, since the output of compilers is long */

static void append_word(GString **list, const char *separator, const char *word)
{
        if (!*list)
                *list = g_string_new(NULL);
        if ((*list)->len > 0)
                g_string_append(*list, separator);
        g_string_append(*list, word);
}

int ald_refusals_add(AldRefusals *refusals, const char *variant, AldFailure *of_variant, AldFailure *failure)
{
        g_autofree char *message = g_steal_pointer(&of_variant->message), *reason = NULL;

        if (of_variant->kind == ALD_FAILURE_DEVICE_LOST)
                return ald_fail(failure, of_variant->kind, "%s: %s", variant, message);
        /* A wrong result is worse than none. */
        if (!refusals->reasons || of_variant->kind == ALD_FAILURE_WRONG_RESULT)
                refusals->kind = of_variant->kind;
        if (of_variant->kind == ALD_FAILURE_WRONG_RESULT)
                append_word(&refusals->wrong, " ", variant);
        reason = g_strdup_printf("%s: %.*s", variant, (int) REASON_MAX, message);
        append_word(&refusals->reasons, "; ", reason);
        return 0;
}

int ald_refusals_fail(const AldRefusals *refusals, AldFailure *failure)
{
        if (!refusals->reasons)
                return ald_fail(failure, ALD_FAILURE_BUILD_FAILED, "there is no kernel for this device");
        return ald_fail(failure, refusals->kind, "%s", refusals->reasons->str);
}

void ald_refusals_list(const AldRefusals *refusals, char *ret, size_t size)
{
        g_strlcpy(ret, refusals->wrong ? refusals->wrong->str : "", size);
}

void ald_refusals_clear(AldRefusals *refusals)
{
        if (refusals->wrong)
                g_string_free(refusals->wrong, TRUE);
        if (refusals->reasons)
                g_string_free(refusals->reasons, TRUE);
        *refusals = (AldRefusals){};
}
