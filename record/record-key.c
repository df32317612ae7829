/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "record/record-key.h"

/* Returns whether this is an address in its canonical spelling, so that one address has one key. */
static bool is_address(const char *string)
{
        unsigned char address[sizeof(struct in6_addr)];
        char canonical[INET6_ADDRSTRLEN];
        int family = strchr(string, ':') ? AF_INET6 : AF_INET;

        return inet_pton(family, string, address) == 1 &&
               inet_ntop(family, address, canonical, sizeof canonical) && strcmp(canonical, string) == 0;
}

/* Returns whether this is DEV.PORT: a device name, then a port number from 1 to 255. */
static bool is_port(const char *string)
{
        const char *dot = strrchr(string, '.');
        guint64 port;

        if (!dot || dot == string)
                return false;
        for (const char *c = string; c < dot; c++)
                if (!g_ascii_isalnum(*c) && !strchr("_-.", *c))
                        return false;
        return dot[1] != '0' && g_ascii_string_to_unsigned(dot + 1, 10, 1, 255, &port, NULL);
}

int ald_key_parse(AldKind kind, const char *key, AldId *ret_sink)
{
        char copy[ALD_KEY_MAX + 1], *part[3], *rest = copy;
        bool rdma = kind == ALD_KIND_LINK_RDMA;
        AldId sink;

        if (!ald_kinds[kind].is_link)
                return *key == '\0' ? 0 : -EINVAL;
        if (g_strlcpy(copy, key, sizeof copy) >= sizeof copy)
                return -EINVAL;
        for (unsigned i = 0; i < G_N_ELEMENTS(part); i++)
                part[i] = strsep(&rest, ",");
        if (rest || !part[1] || !part[2] != !rdma)
                return -EINVAL;
        if (ald_id_parse(part[rdma ? 1 : 0], &sink) < 0)
                return -EINVAL;
        if (rdma ? !is_port(part[0]) || !is_port(part[2]) : !is_address(part[1]))
                return -EINVAL;
        if (ret_sink)
                *ret_sink = sink;
        return 0;
}

const char *ald_key_address(const char *key)
{
        return strchr(key, ',') + 1;
}

static bool is_text_of_id(const char *string, const AldId *id)
{
        AldId named;

        return string && ald_id_parse(string, &named) == 0 && ald_id_equal(&named, id);
}

bool ald_key_names(AldKind kind, const char *key, const AldId *node, const AldRecord *record)
{
        const char *source, *sink, *sink_in_key;

        if (!ald_kinds[kind].is_link)
                return true;
        if (kind == ALD_KIND_LINK_SOCKET) {
                const AldLinkSocket *link = ald_record_as(record, LINK_SOCKET, AldLinkSocket);
                source = link->source;
                sink = link->sink;
                sink_in_key = key;
        } else {
                const AldLinkRdma *link = ald_record_as(record, LINK_RDMA, AldLinkRdma);
                source = link->source;
                sink = link->sink;
                sink_in_key = strchr(key, ',') + 1;
        }
        return is_text_of_id(source, node) && !is_text_of_id(sink, node) && sink &&
               strlen(sink) == ALD_ID_STRING_SIZE - 1 &&
               strncmp(sink, sink_in_key, ALD_ID_STRING_SIZE - 1) == 0;
}
