/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include <openssl/err.h>
#include <openssl/pem.h>

#include "pki/error.h"
#include "pki/key.h"
#include "pki/name.h"
#include "pki/pem.h"
#include "pki/request.h"

int ald_pki_request_make(EVP_PKEY *key, const char *node_id, char **ret_pem, char **ret_error)
{
        g_autoptr(X509_REQ) request = X509_REQ_new();
        g_autoptr(BIO) bio = BIO_new(BIO_s_mem());

        if (!ald_pki_is_node_id(node_id))
                return ald_pki_refuse(-EINVAL, ret_error, "\"%s\" is no node id", node_id);
        if (!request || !bio ||
                ald_pki_name_add(X509_REQ_get_subject_name(request), NID_commonName, node_id) < 0 ||
                !X509_REQ_set_version(request, X509_REQ_VERSION_1) || !X509_REQ_set_pubkey(request, key) ||
                X509_REQ_sign(request, key, EVP_sha256()) <= 0 || !PEM_write_bio_X509_REQ(bio, request))
                return ald_pki_openssl_failed(-EIO, "Cannot make a certificate request", ret_error);
        *ret_pem = ald_pki_pem_text(bio);
        return 0;
}

static int check(X509_REQ *request, char ret_node_id[static ALD_PKI_ID_SIZE], char **ret_error)
{
        EVP_PKEY *key = X509_REQ_get0_pubkey(request);
        char name[ALD_PKI_NAME_MAX + 1];

        if (!key)
                return ald_pki_openssl_failed(-EBADMSG, "the request has no readable key", ret_error);
        if (!ald_pki_key_is_p256(key))
                return ald_pki_refuse(-EINVAL, ret_error, "the key of the request is not on P-256");
        if (X509_REQ_verify(request, key) != 1)
                return ald_pki_refuse(-EKEYREJECTED, ret_error,
                        "the request is not signed with its own key, or was altered on its way");
        ald_pki_name_get(X509_REQ_get_subject_name(request), NID_commonName, name);
        if (!ald_pki_is_node_id(name))
                return ald_pki_refuse(-EINVAL, ret_error, "the common name of the request is no node id");
        memcpy(ret_node_id, name, ALD_PKI_ID_SIZE);
        return 0;
}

int ald_pki_request_parse(const char *pem, size_t n, char ret_node_id[static ALD_PKI_ID_SIZE],
        EVP_PKEY **ret_key, char **ret_error)
{
        g_autoptr(X509_REQ) request = NULL;
        g_autoptr(BIO) bio = NULL;
        int r = ald_pki_pem_open(pem, n, ALD_PKI_PEM_MAX, "the request", &bio, ret_error);

        if (r < 0)
                return r;
        request = PEM_read_bio_X509_REQ(bio, NULL, ald_pki_pem_no_passphrase, NULL);
        if (!request)
                return ald_pki_openssl_failed(-EBADMSG, "not a certificate request", ret_error);
        r = check(request, ret_node_id, ret_error);
        if (r < 0)
                return r;
        ERR_clear_error();
        *ret_key = X509_REQ_get_pubkey(request);
        return 0;
}
