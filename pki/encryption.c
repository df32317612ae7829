/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include <openssl/crypto.h>
#include <openssl/rand.h>

#include "pki/encryption.h"
#include "pki/openssl.h"

#define HEAD "-----BEGIN ALIDADE BACKUP-----\n"
#define TAIL "\n-----END ALIDADE BACKUP-----\n"
#define SALT 16u
#define IV 12u
#define TAG 16u
#define BEFORE (SALT + IV + TAG) /* followed by the encrypted text */
#define KEY 32u
#define SCRYPT_N (UINT64_C(1) << 17)
#define SCRYPT_MEMORY (UINT64_C(256) * 1024 * 1024)

G_DEFINE_AUTOPTR_CLEANUP_FUNC(EVP_CIPHER_CTX, EVP_CIPHER_CTX_free)

static bool derive_key(const char *passphrase, const guint8 *salt, guint8 key[static KEY])
{
        return EVP_PBE_scrypt(passphrase, strlen(passphrase), salt, SALT, SCRYPT_N, 8, 1, SCRYPT_MEMORY, key,
                       KEY) == 1;
}

static bool encrypt(guint8 *bytes, const char *text, size_t n, const guint8 *key)
{
        g_autoptr(EVP_CIPHER_CTX) context = EVP_CIPHER_CTX_new();
        int written, last;

        return EVP_EncryptInit_ex(context, EVP_aes_256_gcm(), NULL, key, bytes + SALT) == 1 &&
               EVP_EncryptUpdate(context, bytes + BEFORE, &written, (const guint8 *) text, (int) n) == 1 &&
               EVP_EncryptFinal_ex(context, bytes + BEFORE + written, &last) == 1 &&
               EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_GCM_GET_TAG, TAG, bytes + SALT + IV) == 1;
}

static bool decrypt(char *text, const guint8 *bytes, size_t n, const guint8 *key)
{
        g_autoptr(EVP_CIPHER_CTX) context = EVP_CIPHER_CTX_new();
        int written, last;

        return EVP_DecryptInit_ex(context, EVP_aes_256_gcm(), NULL, key, bytes + SALT) == 1 &&
               EVP_DecryptUpdate(context, (guint8 *) text, &written, bytes + BEFORE, (int) n) == 1 &&
               EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_GCM_SET_TAG, TAG, (void *) (bytes + SALT + IV)) == 1 &&
               EVP_DecryptFinal_ex(context, (guint8 *) text + written, &last) == 1;
}

int ald_pki_encrypt(const char *text, const char *passphrase, char **ret, char **ret_error)
{
        size_t n = strlen(text);
        g_autofree guint8 *bytes = g_malloc(BEFORE + n);
        g_autofree char *encoded = NULL;
        guint8 key[KEY];
        bool done;

        if (strlen(passphrase) < ALD_PKI_PASSPHRASE_LEAST)
                return ald_pki_refuse(-EINVAL, ret_error, "the passphrase has fewer than %u bytes",
                        ALD_PKI_PASSPHRASE_LEAST);
        done = RAND_bytes(bytes, SALT + IV) == 1 && derive_key(passphrase, bytes, key) &&
               encrypt(bytes, text, n, key);
        OPENSSL_cleanse(key, sizeof key);
        if (!done)
                return ald_pki_openssl_failed(-EIO, "cannot encrypt", ret_error);
        encoded = g_base64_encode(bytes, BEFORE + n);
        *ret = g_strconcat(HEAD, encoded, TAIL, NULL);
        return 0;
}

int ald_pki_decrypt(const char *encrypted, const char *passphrase, char **ret, char **ret_error)
{
        const char *end = g_str_has_prefix(encrypted, HEAD) ? strstr(encrypted, TAIL) : NULL;
        g_autofree char *encoded = NULL, *text = NULL;
        g_autofree guint8 *bytes = NULL;
        guint8 key[KEY];
        bool derived, done;
        gsize n;

        if (!end)
                return ald_pki_refuse(-EBADMSG, ret_error, "not a backup of a cluster, or incomplete");
        encoded = g_strndup(encrypted + strlen(HEAD), (gsize) (end - encrypted) - strlen(HEAD));
        bytes = g_base64_decode(encoded, &n);
        if (n < BEFORE || n > G_MAXINT)
                return ald_pki_refuse(-EBADMSG, ret_error, "not a backup of a cluster, or incomplete");
        text = g_malloc0(n - BEFORE + 1);
        derived = derive_key(passphrase, bytes, key);
        done = derived && decrypt(text, bytes, n - BEFORE, key);
        OPENSSL_cleanse(key, sizeof key);
        if (!derived)
                return ald_pki_openssl_failed(-EIO, "cannot decrypt", ret_error);
        if (!done)
                return ald_pki_refuse(-EKEYREJECTED, ret_error, "wrong passphrase, or the file was altered");
        *ret = g_steal_pointer(&text);
        return 0;
}
