/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdint.h>

#include <glib.h>

/*
 * Which connection has which broker. One broker may be known by several names and addresses, and two
 * connections of one client would throw each other out for ever; so a connection claims the broker by the
 * certificate that it showed, before it says who it is. For all threads.
 */
typedef struct AldClaims AldClaims;

AldClaims *ald_claims_new(void);
AldClaims *ald_claims_ref(AldClaims *claims);
void ald_claims_unref(AldClaims *claims);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldClaims, ald_claims_unref)

/* Claims what the key names for the owner, which is not 0. Returns who has it now: the owner, or another. */
uint64_t ald_claims_take(AldClaims *claims, const char *key, uint64_t owner);

/* Gives up what the owner has under this key. */
void ald_claims_drop(AldClaims *claims, const char *key, uint64_t owner);
