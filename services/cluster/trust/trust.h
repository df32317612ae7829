/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "pki/tls.h"

/*
 * The credentials of this node, and what it verifies others with: its key and certificate, the CA, and the
 * newest revocation list signed by the CA, wherever it came from.
 */
typedef struct AldTrust AldTrust;

/* `id` is the id of this node. Loads nothing yet. */
AldTrust *ald_trust_new(const char *id);
void ald_trust_free(AldTrust *trust);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldTrust, ald_trust_free)

/* Reads all files again. Errors are logged, and shown as a problem. True if anything has changed. */
bool ald_trust_load(AldTrust *trust);

/* Verifies the certificate of this node at this time (CLOCK_REALTIME in µs), and reads again when the
 * others end. */
void ald_trust_check(AldTrust *trust, uint64_t real);

/* Call it from time to time: if the broker of this machine has an older list, writes the file of the
 * newest again, which triggers its installation. */
void ald_trust_remind_broker(AldTrust *trust);

/* Why no broker will accept this node; NULL if no problem is known. */
const char *ald_trust_problem(const AldTrust *trust);

/* A warning if the certificate of this node expires within 30 days and was not renewed automatically,
 * else NULL. Free with g_free(). */
char *ald_trust_warning(const AldTrust *trust, uint64_t real);

/* When the certificate of this node expires; UINT64_MAX if there is none. */
uint64_t ald_trust_expiry(const AldTrust *trust);

/* When the certificates in the files of this machine expire, in µs of CLOCK_REALTIME; UINT64_MAX if there
 * is none. */
typedef struct AldTrustEnds {
        uint64_t node, broker, bridge, authority;
} AldTrustEnds;

const AldTrustEnds *ald_trust_ends(const AldTrust *trust);

/* Creates a context for one connection to a broker; its certificate must have `name`, unless that is
 * NULL. */
AldTls *ald_trust_make_tls(AldTrust *trust, const char *name, char **ret_problem);

/* The newest revocation list, or NULL. */
const char *ald_trust_crl(const AldTrust *trust);

/* Whether this text is that list. */
bool ald_trust_has_crl(const AldTrust *trust, const char *pem, size_t n);

/* Saves a list from any source if it is newer, and then returns 1, else 0. Returns -EKEYREJECTED if the
 * CA has not signed it, -EBADMSG if it is not a list, with the reason in *ret_reason (may be NULL). */
int ald_trust_take_crl(AldTrust *trust, const char *pem, size_t n, char **ret_reason);
