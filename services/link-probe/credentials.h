/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What this machine proves to other nodes who it is with. The probe reads it; here it is only seen whether it
 * is there.
 */
typedef struct AldCredentials {
        char *folder; /* node.crt, node.key, ca.crt, crl.pem */
        char *crl;    /* where the cluster service keeps the list that it took last */
} AldCredentials;

/* By the configuration directory in force and that of the state of the cluster service. */
void ald_credentials_init(AldCredentials *credentials);
void ald_credentials_clear(AldCredentials *credentials);

/* Looks whether all of it can be read: what is wrong, in words, and what helps; NULL where nothing is. Free
 * with g_free(). */
char *ald_credentials_problem(const AldCredentials *credentials);

/* The newest revocation list beside that of the folder, or NULL where there is none. */
const char *ald_credentials_newest_crl(const AldCredentials *credentials);
