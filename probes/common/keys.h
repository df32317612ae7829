/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "pki/tls.h"
#include "probes/common/failure.h"

/* The files with the keys of the control connection: the certificates of a cluster, or a shared key. */
typedef struct AldKeyFiles {
        char *identity, *crl;
        char *peer; /* the node id that the other side must have; NULL: any */
        char *key_file;
} AldKeyFiles;

/* Loads our credentials and those that verify the other side. */
int ald_keys_load(const AldKeyFiles *files, bool server, AldTls **ret, AldFailure *failure);

/* Returns -EINVAL with *ret_error if the options are not consistent. */
int ald_keys_check(const AldKeyFiles *files, char **ret_error);
