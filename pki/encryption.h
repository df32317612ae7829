/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "pki/types.h"

#define ALD_PKI_PASSPHRASE_LEAST 8u /* bytes */

/*
 * Encrypts text with a passphrase, into text: scrypt (N = 2^17, r = 8, p = 1) and AES-256-GCM. Returns
 * -EINVAL if the passphrase is too short.
 */
int ald_pki_encrypt(const char *text, const char *passphrase, char **ret, char **ret_error);

/* Decrypts the result of ald_pki_encrypt(). Returns -EBADMSG if it is something else, -EKEYREJECTED if the
 * passphrase is wrong or the text was altered. */
int ald_pki_decrypt(const char *encrypted, const char *passphrase, char **ret, char **ret_error);
