/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "pki/types.h"

/* A certificate request (PKCS #10) for this node id with this node's key, as PEM. */
int ald_pki_request_make(EVP_PKEY *key, const char *node_id, char **ret_pem, char **ret_error);

/*
 * Reads a request and verifies its own signature, which shows that the sender has the key. Only the node id
 * and the public key are ever taken from it. -EBADMSG for what is no request, -EKEYREJECTED for a bad
 * signature, -EINVAL where the common name is no node id or the key not on P-256.
 */
int ald_pki_request_parse(const char *pem, size_t n, char ret_node_id[static ALD_PKI_ID_SIZE],
        EVP_PKEY **ret_key, char **ret_error);
