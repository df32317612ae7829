/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include <openssl/err.h>

#include "pki/file.h"
#include "pki/openssl.h"

#define SECONDS_PER_DAY 86400
#define MAX_TOLD 3u

static char *reason_of(unsigned long code, const char *data, int flags)
{
        const char *reason = ERR_SYSTEM_ERROR(code) ? g_strerror(ERR_GET_REASON(code))
                                                    : ERR_reason_error_string(code);
        g_autofree char *text = NULL;

        if (!reason)
                reason = "unknown reason";
        if (data && *data && (flags & ERR_TXT_STRING))
                text = g_strdup_printf("%s (%s)", reason, data);
        return g_strdelimit(g_utf8_make_valid(text ? text : reason, -1), "\r\n\t", ' ');
}

char *ald_pki_take_openssl_error(void)
{
        g_autoptr(GPtrArray) reasons = g_ptr_array_new_with_free_func(g_free);
        const char *data;
        unsigned long code;
        int flags;

        while ((code = ERR_get_error_all(NULL, NULL, NULL, &data, &flags))) {
                g_autofree char *reason = reason_of(code, data, flags);

                if (reasons->len < MAX_TOLD &&
                        !g_ptr_array_find_with_equal_func(reasons, reason, g_str_equal, NULL))
                        g_ptr_array_add(reasons, g_steal_pointer(&reason));
        }
        if (reasons->len == 0)
                return g_strdup("unknown reason");
        g_ptr_array_add(reasons, NULL);
        return g_strjoinv(", ", (char **) reasons->pdata);
}

int ald_pki_openssl_failed(int code, const char *what, char **ret_error)
{
        g_autofree char *reason = ald_pki_take_openssl_error();

        if (ret_error)
                *ret_error = g_strdup_printf("%s: %s", what, reason);
        return code;
}

int ald_pki_refuse(int code, char **ret_error, const char *format, ...)
{
        va_list arguments;

        ERR_clear_error();
        if (ret_error) {
                va_start(arguments, format);
                *ret_error = g_strdup_vprintf(format, arguments);
                va_end(arguments);
        }
        return code;
}

uint64_t ald_pki_date_read(const ASN1_TIME *time)
{
        ASN1_TIME *epoch = ASN1_TIME_set(NULL, 0);
        int days = 0, seconds = 0, ok;

        /* time_t is avoided, since it ends in 2038 on some machines. */
        ok = epoch && time && ASN1_TIME_diff(&days, &seconds, epoch, time);
        ASN1_TIME_free(epoch);
        ERR_clear_error();
        if (!ok || days < 0 || seconds < 0)
                return 0;
        return ((uint64_t) days * SECONDS_PER_DAY + (uint64_t) seconds) * G_USEC_PER_SEC;
}

bool ald_pki_date_set(ASN1_TIME *time, uint64_t now, int days, long seconds)
{
        uint64_t second = now / G_USEC_PER_SEC;

        return second <= INT32_MAX * UINT64_C(64) && ASN1_TIME_adj(time, (time_t) second, days, seconds);
}

char *ald_pki_date_format(uint64_t usec)
{
        g_autoptr(GDateTime) time = g_date_time_new_from_unix_utc((gint64) (usec / G_USEC_PER_SEC));

        return time ? g_date_time_format(time, "%Y-%m-%d %H:%M UTC") : g_strdup("an unknown time");
}

void ald_pki_serial_format(const ASN1_INTEGER *serial, char ret[static ALD_PKI_SERIAL_SIZE])
{
        const unsigned char *bytes = ASN1_STRING_get0_data(serial);
        size_t n = (size_t) ASN1_STRING_length(serial);

        ret[0] = '\0';
        if (ASN1_STRING_type(serial) != V_ASN1_INTEGER || 2 * n >= ALD_PKI_SERIAL_SIZE)
                return;
        for (size_t i = 0; i < n; i++)
                g_snprintf(ret + 2 * i, 3, "%02x", bytes[i]);
}

ASN1_INTEGER *ald_pki_serial_parse(const char *text)
{
        size_t n = strspn(text, "0123456789abcdef");
        ASN1_INTEGER *serial = NULL;
        BIGNUM *number = NULL;

        if (n == 0 || n >= ALD_PKI_SERIAL_SIZE || text[n] != '\0')
                return NULL;
        if (BN_hex2bn(&number, text))
                serial = BN_to_ASN1_INTEGER(number, NULL);
        BN_free(number);
        return serial;
}

bool ald_pki_serial_random(ASN1_INTEGER *serial)
{
        BIGNUM *number = BN_new();
        /* 127 bits with the first one set: the serial is never negative and always has the same length. */
        bool ok = number && BN_rand(number, 127, BN_RAND_TOP_ONE, BN_RAND_BOTTOM_ANY) &&
                  BN_to_ASN1_INTEGER(number, serial);

        BN_free(number);
        return ok;
}

static bool is_plain(const char *text, size_t n)
{
        if (n == 0 || n > ALD_PKI_NAME_MAX || !g_utf8_validate(text, (gssize) n, NULL))
                return false;
        for (const char *at = text; at < text + n; at = g_utf8_next_char(at))
                if (!g_unichar_isprint(g_utf8_get_char(at)))
                        return false;
        return true;
}

void ald_pki_name_get(const X509_NAME *name, int nid, char ret[static ALD_PKI_NAME_MAX + 1])
{
        int at = X509_NAME_get_index_by_NID(name, nid, -1);
        unsigned char *text = NULL;
        int n;

        ret[0] = '\0';
        if (at < 0 || X509_NAME_get_index_by_NID(name, nid, at) >= 0)
                return;
        n = ASN1_STRING_to_UTF8(&text, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(name, at)));
        if (n > 0 && is_plain((const char *) text, (size_t) n)) {
                memcpy(ret, text, (size_t) n);
                ret[n] = '\0';
        }
        OPENSSL_free(text);
}

int ald_pki_name_add(X509_NAME *name, int nid, const char *value)
{
        if (!is_plain(value, strlen(value)))
                return -EINVAL;
        if (!X509_NAME_add_entry_by_NID(name, nid, MBSTRING_UTF8, (const unsigned char *) value, -1, -1, 0))
                return -ENOMEM;
        return 0;
}

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
