/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <netdb.h>
#include <netinet/in.h>
#include <string.h>

#include "services/cluster/mqtt/mqtt-session-private.h"

#define ADDRESSES_MAX 8u /* of one name that are tried */

static char *describe(const char *host, int r)
{
        if (strchr(host, '%'))
                return g_strdup("the interface in its address does not exist");
        switch (r) {
        case EAI_NONAME:
        case EAI_NODATA:
                return g_strdup("its name does not resolve");
        case EAI_AGAIN:
        case EAI_FAIL:
                return g_strdup("its name does not resolve: no name server answers");
        case EAI_ADDRFAMILY:
                return g_strdup("its network is unreachable");
        default:
                return g_strdup_printf("its name does not resolve: %s", gai_strerror(r));
        }
}

char **ald_mqtt_session_resolve(const char *host, char **ret_reason)
{
        const struct addrinfo hints = {
                .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_protocol = IPPROTO_TCP
        };
        g_autoptr(GStrvBuilder) builder = g_strv_builder_new();
        struct addrinfo *list = NULL;
        unsigned n = 0;
        int r;

        r = getaddrinfo(host, NULL, &hints, &list);
        if (r != 0) {
                *ret_reason = describe(host, r);
                return NULL;
        }
        for (struct addrinfo *info = list; info && n < ADDRESSES_MAX; info = info->ai_next) {
                char text[NI_MAXHOST];

                if (getnameinfo(info->ai_addr, info->ai_addrlen, text, sizeof(text), NULL, 0,
                            NI_NUMERICHOST) == 0) {
                        g_strv_builder_add(builder, text);
                        n++;
                }
        }
        freeaddrinfo(list);
        return g_strv_builder_end(builder);
}
