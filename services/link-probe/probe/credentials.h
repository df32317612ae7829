/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The credentials by which this machine proves its identity to other nodes. The probe reads them; here only
 * their presence is checked.
 */
typedef struct AldCredentials {
        char *folder; /* node.crt, node.key, ca.crt, crl.pem */
        char *crl;    /* where the cluster service keeps the list that it accepted last */
} AldCredentials;

/* Uses the configuration directory and the state directory of the cluster service. */
void ald_credentials_init(AldCredentials *credentials);
void ald_credentials_clear(AldCredentials *credentials);

/* Checks whether all of it can be read. Returns the problem and its remedy in words; NULL if there is none.
 * Free with g_free(). */
char *ald_credentials_problem(const AldCredentials *credentials);

/* The newest revocation list in addition to the one in the folder, or NULL if there is none. */
const char *ald_credentials_newest_crl(const AldCredentials *credentials);
