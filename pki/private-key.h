/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <sys/types.h>

#include "pki/types.h"

/* Generates a private key on P-256, the only kind that is generated or certified. */
int ald_pki_key_generate(EVP_PKEY **ret, char **ret_error);

/* Writes the key without a passphrase, as ald_pki_file_write() does. */
int ald_pki_key_save(EVP_PKEY *key, const char *path, mode_t mode, uid_t uid, gid_t gid, char **ret_error);

/* Load a private key. Return -ENOENT if there is none, -EBADMSG if it is not a key or has a passphrase. */
int ald_pki_key_load(const char *path, EVP_PKEY **ret, char **ret_error);
int ald_pki_key_parse(const char *pem, size_t n, EVP_PKEY **ret, char **ret_error);

/* Returns whether the key, private or public, is on P-256. */
gboolean ald_pki_key_is_p256(EVP_PKEY *key);
