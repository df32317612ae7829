/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stddef.h>

#include <glib.h>

#include "probes/common/failure.h"

/* Kernels that were tried in vain, and why. */
typedef struct AldRefusals {
        GString *wrong;   /* names of those whose result was wrong */
        GString *reasons; /* of all */
        AldFailureKind kind;
} AldRefusals;

/*
 * Takes the failure of a variant. Returns 0, for another one may do, unless it was the device that failed,
 * which it then says in `failure`.
 */
int ald_refusals_add(AldRefusals *refusals, const char *variant, AldFailure *of_variant, AldFailure *failure);

/* Nothing else is left: -errno. */
int ald_refusals_fail(const AldRefusals *refusals, AldFailure *failure);

/* Names those whose result was wrong, with blanks between, as far as they fit. */
void ald_refusals_tell(const AldRefusals *refusals, char *ret, size_t size);

void ald_refusals_clear(AldRefusals *refusals);
