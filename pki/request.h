/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "pki/types.h"

/*
 * Makes a certificate request (PKCS #10) for this node id with this node's key, as PEM. The statement, text
 * or NULL, is an attribute of it, so the key signs that as well.
 */
int ald_pki_request_make(
        EVP_PKEY *key, const char *node_id, const char *statement, char **ret_pem, char **ret_error);

/*
 * Reads a request and verifies its own signature, which shows that the sender has the key. Only the node id,
 * the public key and the statement (NULL if there is none) are ever used. Returns -EBADMSG if it is not a
 * request, -EKEYREJECTED for an invalid signature, -EINVAL if the common name is not a node id or the key is
 * not on P-256.
 */
int ald_pki_request_parse(const char *pem, size_t n, char ret_node_id[static ALD_PKI_ID_SIZE],
        EVP_PKEY **ret_key, char **ret_statement, char **ret_error);
