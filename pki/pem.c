/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

#include <openssl/err.h>

#include "pki/error.h"
#include "pki/file.h"
#include "pki/pem.h"

int ald_pki_pem_open(const char *pem, size_t n, size_t max, const char *what, BIO **ret, char **ret_error)
{
        BIO *bio;

        ERR_clear_error();
        if (n > max)
                return ald_pki_refuse(
                        -E2BIG, ret_error, "%s is too big: %zu bytes, at most %zu are read", what, n, max);
        bio = BIO_new_mem_buf(n > 0 ? pem : "", (int) n);
        if (!bio)
                return ald_pki_openssl_failed(-ENOMEM, what, ret_error);
        *ret = bio;
        return 0;
}

int ald_pki_pem_load(const char *path, size_t max, char **ret, size_t *ret_n, char **ret_error)
{
        int r = ald_pki_file_read(path, max, ret, ret_n);

        if (r == -EINVAL)
                return ald_pki_refuse(r, ret_error, "%s is not a regular file", path);
        if (r < 0)
                return ald_pki_refuse(r, ret_error, "Cannot read %s: %s", path, g_strerror(-r));
        return 0;
}

int ald_pki_pem_no_passphrase(char *buffer, int size, int writing, void *data)
{
        return -1;
}

char *ald_pki_pem_text(BIO *bio)
{
        char *bytes;
        long n = BIO_get_mem_data(bio, &bytes);

        return g_strndup(bytes, (gsize) MAX(n, 0));
}
