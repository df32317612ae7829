/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include <openssl/ec.h>
#include <openssl/pem.h>

#include "pki/file.h"
#include "pki/openssl.h"
#include "pki/private-key.h"

int ald_pki_key_generate(EVP_PKEY **ret, char **ret_error)
{
        EVP_PKEY *key = EVP_EC_gen("P-256");

        if (!key)
                return ald_pki_openssl_failed(-EIO, "Cannot create a key", ret_error);
        *ret = key;
        return 0;
}

gboolean ald_pki_key_is_p256(EVP_PKEY *key)
{
        char group[32];
        size_t n;

        return EVP_PKEY_is_a(key, "EC") && EVP_PKEY_get_group_name(key, group, sizeof group, &n) &&
               strcmp(group, SN_X9_62_prime256v1) == 0;
}

int ald_pki_key_save(EVP_PKEY *key, const char *path, mode_t mode, uid_t uid, gid_t gid, char **ret_error)
{
        g_autoptr(BIO) bio = BIO_new(BIO_s_secmem());
        char *text;
        int r;

        if (!bio || !PEM_write_bio_PKCS8PrivateKey(bio, key, NULL, NULL, 0, NULL, NULL))
                return ald_pki_openssl_failed(-EIO, "Cannot write a key", ret_error);
        text = ald_pki_pem_text(bio);
        r = ald_pki_file_write(path, text, mode, uid, gid);
        OPENSSL_cleanse(text, strlen(text));
        g_free(text);
        if (r < 0)
                return ald_pki_refuse(r, ret_error, "Cannot write %s: %s", path, g_strerror(-r));
        return 0;
}

int ald_pki_key_parse(const char *pem, size_t n, EVP_PKEY **ret, char **ret_error)
{
        g_autoptr(BIO) bio = NULL;
        EVP_PKEY *key;
        int r = ald_pki_pem_open(pem, n, ALD_PKI_PEM_MAX, "the key", &bio, ret_error);

        if (r < 0)
                return r;
        key = PEM_read_bio_PrivateKey(bio, NULL, ald_pki_pem_no_passphrase, NULL);
        if (!key)
                return ald_pki_openssl_failed(-EBADMSG, "not a key without a passphrase", ret_error);
        *ret = key;
        return 0;
}

int ald_pki_key_load(const char *path, EVP_PKEY **ret, char **ret_error)
{
        g_autofree char *text = NULL, *reason = NULL;
        size_t n;
        int r = ald_pki_pem_load(path, ALD_PKI_PEM_MAX, &text, &n, ret_error);

        if (r < 0)
                return r;
        r = ald_pki_key_parse(text, n, ret, &reason);
        OPENSSL_cleanse(text, n);
        return r < 0 ? ald_pki_refuse(r, ret_error, "%s: %s", path, reason) : 0;
}
