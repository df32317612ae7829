/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "pki/tls.h"

/*
 * The credentials of this node, and of its cluster: its key and certificate, the CA, and the newest
 * revocation list signed by the CA, from whatever source.
 */
typedef struct AldTrust AldTrust;

/* Creates it for the node with this id; loads nothing yet. */
AldTrust *ald_trust_new(const char *id);
void ald_trust_free(AldTrust *trust);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldTrust, ald_trust_free)

/* Reads all files again. Logs errors, and reports them as a problem. Returns true if anything has changed. */
bool ald_trust_load(AldTrust *trust);

/* Verifies the certificate of this node at this time (CLOCK_REALTIME in µs), and reads again when the other
 * certificates expire. */
void ald_trust_check(AldTrust *trust, uint64_t real);

/* If the broker on this machine has an older list, writes the file of the newest one again, which triggers
 * its installation. Call it from time to time. */
void ald_trust_remind_broker(AldTrust *trust);

/* Returns why no broker will accept this node; NULL if no problem is known. */
const char *ald_trust_problem(const AldTrust *trust);

/* Returns a warning if the certificate of this node expires within 30 days and was not renewed automatically,
 * else NULL. Free with g_free(). */
char *ald_trust_warning(const AldTrust *trust, uint64_t real);

/* Returns when the certificate of this node expires; UINT64_MAX if there is none. */
uint64_t ald_trust_expiry(const AldTrust *trust);

/* When the certificates in the files of this machine expire, in µs of CLOCK_REALTIME; UINT64_MAX for one that
 * does not exist. */
typedef struct AldTrustEnds {
        uint64_t node, broker, bridge, authority;
} AldTrustEnds;

const AldTrustEnds *ald_trust_ends(const AldTrust *trust);

/* Creates a context for one connection to a broker; its certificate must have `name`, unless that is
 * NULL. */
AldTls *ald_trust_make_tls(AldTrust *trust, const char *name, char **ret_problem);

/* Returns the newest revocation list as text, or NULL. */
const char *ald_trust_crl(const AldTrust *trust);

/* Returns whether this text is the newest list. */
bool ald_trust_has_crl(const AldTrust *trust, const char *pem, size_t n);

/* Takes a list from any source. If it is newer, saves it and returns 1, else returns 0. Returns -EKEYREJECTED
 * if the CA has not signed it, -EBADMSG if it is not a list, with the reason in *ret_reason (may be NULL). */
int ald_trust_take_crl(AldTrust *trust, const char *pem, size_t n, char **ret_reason);
