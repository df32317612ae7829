/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdint.h>

#include <glib.h>

/*
 * Records which connection leads to which broker. A broker may have several names and addresses, and two
 * connections of the same client would replace each other endlessly. A connection therefore claims the broker
 * by the broker's certificate before it sends its client id. All functions may be called from any thread.
 */
typedef struct AldClaims AldClaims;

AldClaims *ald_claims_new(void);
AldClaims *ald_claims_ref(AldClaims *claims);
void ald_claims_unref(AldClaims *claims);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldClaims, ald_claims_unref)

/* Claims a key for the owner, which is not 0, unless another owner holds it. Returns the owner that holds it
 * afterwards. */
uint64_t ald_claims_take(AldClaims *claims, const char *key, uint64_t owner);

/* Releases the key if this owner holds it. */
void ald_claims_drop(AldClaims *claims, const char *key, uint64_t owner);
