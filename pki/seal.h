/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "pki/types.h"

#define ALD_PKI_PASSPHRASE_LEAST 8u /* bytes */

/*
 * Text that only a passphrase opens, as text: scrypt (N = 2^17, r = 8, p = 1) and AES-256-GCM. -EINVAL for a
 * passphrase that is too short.
 */
int ald_pki_seal(const char *text, const char *passphrase, char **ret, char **ret_error);

/* -EBADMSG for what was not sealed so, -EKEYREJECTED for another passphrase, or where it was changed. */
int ald_pki_unseal(const char *sealed, const char *passphrase, char **ret, char **ret_error);
