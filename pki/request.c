/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include <openssl/err.h>
#include <openssl/pem.h>

#include "pki/openssl.h"
#include "pki/private-key.h"
#include "pki/request.h"

/* 2.25 is the arc of UUIDs, which need no registration. */
#define STATEMENT_OID "2.25.49143227820350215737830133247034294825"

static bool add_statement(X509_REQ *request, const char *statement)
{
        ASN1_OBJECT *name = OBJ_txt2obj(STATEMENT_OID, 1);
        bool added = name && X509_REQ_add1_attr_by_OBJ(request, name, V_ASN1_UTF8STRING,
                                     (const unsigned char *) statement, (int) strlen(statement));

        ASN1_OBJECT_free(name);
        return added;
}

int ald_pki_request_make(
        EVP_PKEY *key, const char *node_id, const char *statement, char **ret_pem, char **ret_error)
{
        g_autoptr(X509_REQ) request = X509_REQ_new();
        g_autoptr(BIO) bio = BIO_new(BIO_s_mem());

        if (!ald_pki_is_node_id(node_id))
                return ald_pki_refuse(-EINVAL, ret_error, "\"%s\" is not a node id", node_id);
        if (!request || !bio ||
                ald_pki_name_add(X509_REQ_get_subject_name(request), NID_commonName, node_id) < 0 ||
                !X509_REQ_set_version(request, X509_REQ_VERSION_1) || !X509_REQ_set_pubkey(request, key) ||
                (statement && !add_statement(request, statement)) ||
                X509_REQ_sign(request, key, EVP_sha256()) <= 0 || !PEM_write_bio_X509_REQ(bio, request))
                return ald_pki_openssl_failed(-EIO, "Cannot create a certificate request", ret_error);
        *ret_pem = ald_pki_pem_text(bio);
        return 0;
}

static int check_request(X509_REQ *request, char ret_node_id[static ALD_PKI_ID_SIZE], char **ret_error)
{
        EVP_PKEY *key = X509_REQ_get0_pubkey(request);
        char name[ALD_PKI_NAME_MAX + 1];

        if (!key)
                return ald_pki_openssl_failed(-EBADMSG, "the request has no readable key", ret_error);
        if (!ald_pki_key_is_p256(key))
                return ald_pki_refuse(-EINVAL, ret_error, "the key of the request is not on P-256");
        if (X509_REQ_verify(request, key) != 1)
                return ald_pki_refuse(-EKEYREJECTED, ret_error,
                        "the request is not signed with its own key, or was altered in transit");
        ald_pki_name_get(X509_REQ_get_subject_name(request), NID_commonName, name);
        if (!ald_pki_is_node_id(name))
                return ald_pki_refuse(-EINVAL, ret_error, "the common name of the request is not a node id");
        memcpy(ret_node_id, name, ALD_PKI_ID_SIZE);
        return 0;
}

/* Reads the statement, of which a request has at most one, of plain text. */
static int read_statement(const X509_REQ *request, char **ret, char **ret_error)
{
        ASN1_OBJECT *name = OBJ_txt2obj(STATEMENT_OID, 1);
        int at = X509_REQ_get_attr_by_OBJ(request, name, -1);
        int next = at >= 0 ? X509_REQ_get_attr_by_OBJ(request, name, at) : -1;
        X509_ATTRIBUTE *attribute = at >= 0 ? X509_REQ_get_attr(request, at) : NULL;
        const ASN1_UTF8STRING *text;
        g_autofree char *copy = NULL;

        ASN1_OBJECT_free(name);
        if (!attribute)
                return 0;
        text = X509_ATTRIBUTE_get0_data(attribute, 0, V_ASN1_UTF8STRING, NULL);
        if (next >= 0 || X509_ATTRIBUTE_count(attribute) != 1 || !text)
                return ald_pki_refuse(-EBADMSG, ret_error, "the request has an invalid statement");
        copy = g_strndup((const char *) ASN1_STRING_get0_data(text), (gsize) ASN1_STRING_length(text));
        if (strlen(copy) != (size_t) ASN1_STRING_length(text) || !g_utf8_validate(copy, -1, NULL))
                return ald_pki_refuse(-EBADMSG, ret_error, "the statement of the request is not plain text");
        *ret = g_steal_pointer(&copy);
        return 0;
}

int ald_pki_request_parse(const char *pem, size_t n, char ret_node_id[static ALD_PKI_ID_SIZE],
        EVP_PKEY **ret_key, char **ret_statement, char **ret_error)
{
        g_autofree char *statement = NULL;
        char id[ALD_PKI_ID_SIZE];
        g_autoptr(X509_REQ) request = NULL;
        g_autoptr(BIO) bio = NULL;
        int r = ald_pki_pem_open(pem, n, ALD_PKI_PEM_MAX, "the request", &bio, ret_error);

        if (r < 0)
                return r;
        request = PEM_read_bio_X509_REQ(bio, NULL, ald_pki_pem_no_passphrase, NULL);
        if (!request)
                return ald_pki_openssl_failed(-EBADMSG, "not a certificate request", ret_error);
        r = check_request(request, id, ret_error);
        if (r >= 0)
                r = read_statement(request, &statement, ret_error);
        ERR_clear_error();
        if (r < 0)
                return r;
        memcpy(ret_node_id, id, ALD_PKI_ID_SIZE);
        *ret_statement = g_steal_pointer(&statement);
        *ret_key = X509_REQ_get_pubkey(request);
        return 0;
}
