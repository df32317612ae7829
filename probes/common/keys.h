/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "pki/tls.h"
#include "probes/common/failure.h"

/* Where the keys of the control connection are: the certificates of a cluster, or else a key that both have.
 */
typedef struct AldKeyFiles {
        const char *identity, *crl;
        const char *peer; /* the node id that the other side must show; NULL: any */
        const char *key_file;
} AldKeyFiles;

/* What we show the other side and judge it by. */
int ald_keys_load(const AldKeyFiles *files, bool server, AldTls **ret, AldFailure *failure);

/* Whether the command line names what goes together: -EINVAL with *ret_error. */
int ald_keys_check(const AldKeyFiles *files, char **ret_error);
