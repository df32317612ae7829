/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdbool.h>
#include <sys/stat.h>

#include <glib.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>

#include "pki/file.h"
#include "pki/openssl.h"
#include "pki/shared-key.h"

#define PURPOSE "alidade shared key 1"

static bool derive_key(const char *text, size_t n, AldSharedKey *key)
{
        EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_id(EVP_PKEY_HKDF, NULL);
        size_t size = sizeof key->bytes;
        bool fine = context && EVP_PKEY_derive_init(context) == 1 &&
                    EVP_PKEY_CTX_set_hkdf_md(context, EVP_sha256()) == 1 &&
                    EVP_PKEY_CTX_set1_hkdf_key(context, (const unsigned char *) text, (int) n) == 1 &&
                    EVP_PKEY_CTX_add1_hkdf_info(
                            context, (const unsigned char *) PURPOSE, sizeof PURPOSE - 1) == 1 &&
                    EVP_PKEY_derive(context, key->bytes, &size) == 1;

        EVP_PKEY_CTX_free(context);
        return fine;
}

int ald_shared_key_load(const char *path, AldSharedKey *ret, char **ret_error)
{
        AldSharedKey key;
        char *text = NULL;
        mode_t mode;
        size_t n;
        int r = ald_pki_file_read_with_mode(path, ALD_SHARED_KEY_FILE_MAX, &text, &n, &mode);

        if (r < 0)
                return ald_pki_refuse(r, ret_error, "%s: %s", path, g_strerror(-r));
        while (n > 0 && g_ascii_isspace(text[n - 1]))
                n--;
        if (mode & S_IROTH)
                r = ald_pki_refuse(
                        -EPERM, ret_error, "%s is readable by all users: run chmod 600 on it", path);
        else if (n < ALD_SHARED_KEY_LEAST)
                r = ald_pki_refuse(-EKEYREJECTED, ret_error, "%s: a shared key has at least %u bytes", path,
                        ALD_SHARED_KEY_LEAST);
        else if (!derive_key(text, n, &key))
                r = ald_pki_openssl_failed(-EIO, path, ret_error);
        else
                *ret = key;
        OPENSSL_cleanse(&key, sizeof key);
        OPENSSL_cleanse(text, n);
        g_free(text);
        return r;
}
