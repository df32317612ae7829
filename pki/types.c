/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "pki/types.h"

#define HOST_NAME_MAX_BYTES 253u
#define LABEL_MAX 63u

bool ald_pki_is_node_id(const char *text)
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
        /* A name that ends in a number would be an address (RFC 3696, 2). */
        return last[strspn(last, G_CSET_DIGITS)] != '\0';
}

char *ald_pki_host_without_dot(const char *host)
{
        size_t n = strlen(host);
        g_autofree char *name = n > 1 && host[n - 1] == '.' ? g_strndup(host, n - 1) : NULL;

        return name && ald_pki_is_host_name(name) ? g_steal_pointer(&name) : g_strdup(host);
}

bool ald_pki_is_site(const char *text)
{
        size_t n = strlen(text);

        return n > 0 && n + strlen(ALD_PKI_BRIDGE_PREFIX) <= ALD_PKI_NAME_MAX &&
               text[strspn(text, "-_." G_CSET_a_2_z G_CSET_A_2_Z G_CSET_DIGITS)] == '\0';
}
