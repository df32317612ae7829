/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include "pki/name.h"

#define HOST_NAME_MAX_BYTES 253u
#define LABEL_MAX 63u

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

gboolean ald_pki_is_node_id(const char *text)
{
        size_t n = strspn(text, "0123456789abcdef");

        return n == ALD_PKI_ID_SIZE - 1 && text[n] == '\0' && strspn(text, "0") < n;
}

bool ald_pki_is_host_name(const char *text)
{
        g_auto(GStrv) labels = g_strsplit(text, ".", -1);
        const char *last = "";

        if (strlen(text) > HOST_NAME_MAX_BYTES || !labels[0])
                return false;
        for (unsigned i = 0; labels[i]; i++) {
                size_t n = strlen(labels[i]);

                last = labels[i];
                if (n == 0 || n > LABEL_MAX || last[0] == '-' || last[n - 1] == '-' ||
                        last[strspn(last, "-_" G_CSET_a_2_z G_CSET_A_2_Z G_CSET_DIGITS)] != '\0')
                        return false;
        }
        /* What ends in a number would be an address (RFC 3696, 2). */
        return last[strspn(last, G_CSET_DIGITS)] != '\0';
}

bool ald_pki_is_site(const char *text)
{
        size_t n = strlen(text);

        return n > 0 && n + strlen(ALD_PKI_BRIDGE_PREFIX) <= ALD_PKI_NAME_MAX &&
               text[strspn(text, "-_." G_CSET_a_2_z G_CSET_A_2_Z G_CSET_DIGITS)] == '\0';
}
