/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stddef.h>

#include <glib.h>

#include "probes/common/failure.h"

/* The kernels that failed, and the reasons. */
typedef struct AldRefusals {
        GString *wrong;   /* names of those with wrong results */
        GString *reasons; /* of all */
        AldFailureKind kind;
} AldRefusals;

/*
 * Adds the failure of a variant, and takes ownership of its message. Returns 0 if another variant may work;
 * if the device itself failed, sets `failure` and returns its error.
 */
int ald_refusals_add(AldRefusals *refusals, const char *variant, AldFailure *of_variant, AldFailure *failure);

/* Sets the failure when no variant is left, and returns its negative errno. */
int ald_refusals_fail(const AldRefusals *refusals, AldFailure *failure);

/* Lists those with wrong results, separated by spaces, as far as they fit. */
void ald_refusals_list(const AldRefusals *refusals, char *ret, size_t size);

void ald_refusals_clear(AldRefusals *refusals);
