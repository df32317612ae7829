/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "pki/tls.h"

/*
 * What this node proves itself by, and judges others by: its key and certificate, the CA, and the newest
 * revocation list that the CA has signed, from wherever it came.
 */
typedef struct AldTrust AldTrust;

/* `id` is that of this node. Nothing is loaded yet. */
AldTrust *ald_trust_new(const char *id);
void ald_trust_free(AldTrust *trust);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldTrust, ald_trust_free)

/* Reads all files again. What is wrong is a problem then, and logged. True where they differ from before. */
bool ald_trust_load(AldTrust *trust);

/* Judges the certificate of this node at this time (CLOCK_REALTIME in µs), and looks again when others end.
 */
void ald_trust_check(AldTrust *trust, uint64_t real);

/* From time to time: where the broker of this machine has an older list, replaces the file of the newest
 * again, which has it installed. */
void ald_trust_remind_broker(AldTrust *trust);

/* Why no broker will have us, in words; NULL where nothing is known to be wrong. */
const char *ald_trust_problem(const AldTrust *trust);

/* That the certificate of this node ends within 30 days, and was not renewed by itself; NULL where it does
 * not. To be freed. */
char *ald_trust_warning(const AldTrust *trust, uint64_t real);

/* When the certificate of this node expires; UINT64_MAX where there is none. */
uint64_t ald_trust_expiry(const AldTrust *trust);

/* When the certificates of this machine end, in µs of CLOCK_REALTIME, as the files say; UINT64_MAX where
 * there is none. */
typedef struct AldTrustEnds {
        uint64_t node, broker, bridge, authority;
} AldTrustEnds;

const AldTrustEnds *ald_trust_ends(const AldTrust *trust);

/* For one connection to a broker; `name` (maybe NULL) is the one that its certificate must have. */
AldTls *ald_trust_make_tls(AldTrust *trust, const char *name, char **ret_problem);

/* The newest revocation list, or NULL. */
const char *ald_trust_crl(const AldTrust *trust);

/* Whether this text is that one. */
bool ald_trust_has_crl(const AldTrust *trust, const char *pem, size_t n);

/* Takes a list from anywhere and keeps it where it is newer: 1; 0 where it is not. -EKEYREJECTED where the CA
 * has not signed it, -EBADMSG where it is none; *ret_reason (maybe NULL) is then why. */
int ald_trust_take_crl(AldTrust *trust, const char *pem, size_t n, char **ret_reason);
