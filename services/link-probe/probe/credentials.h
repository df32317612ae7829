/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The credentials by which this machine proves its identity to other nodes. The probe reads them; this code
 * only checks their presence.
 */
typedef struct AldCredentials {
        char *folder; /* with node.crt, node.key, ca.crt and crl.pem */
        char *crl;    /* the revocation list that the cluster service accepted last */
} AldCredentials;

/* Uses the configuration directory and the state directory of the cluster service. */
void ald_credentials_init(AldCredentials *credentials);
void ald_credentials_clear(AldCredentials *credentials);

/* Returns why the credentials cannot be read, with a remedy; NULL if they can. Free with g_free(). */
char *ald_credentials_problem(const AldCredentials *credentials);

/* Returns the newest revocation list in addition to the one in the folder, or NULL if there is none. */
const char *ald_credentials_newest_crl(const AldCredentials *credentials);
