/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <arpa/inet.h>
#include <string.h>
#include <sys/utsname.h>

#include <glib.h>

#include "clients/exporter/http-host.h"

/* Returns the name in a Host header, without the port, the brackets of IPv6 and a final dot. */
static char *bare_host_name(const char *host)
{
        const char *end;
        char *name;
        size_t n;

        if (host[0] == '[') {
                end = strchr(host, ']');
                return end ? g_strndup(host + 1, (gsize) (end - host - 1)) : g_strdup("");
        }
        name = g_strndup(host, strcspn(host, ":"));
        n = strlen(name);
        if (n > 1 && name[n - 1] == '.')
                name[n - 1] = '\0';
        return name;
}

static bool is_literal(const char *name)
{
        struct in6_addr address;

        return inet_pton(AF_INET, name, &address) == 1 || inet_pton(AF_INET6, name, &address) == 1;
}

static bool is_host_name(const char *name)
{
        struct utsname system;
        g_autofree char *multicast = NULL;

        if (uname(&system) < 0)
                return false;
        multicast = g_strconcat(system.nodename, ".local", NULL);
        return g_ascii_strcasecmp(name, system.nodename) == 0 || g_ascii_strcasecmp(name, multicast) == 0;
}

bool ald_http_host_is_own(const char *host, const char *const *names)
{
        g_autofree char *name = NULL;

        if (!host)
                return true;
        name = bare_host_name(host);
        if (is_literal(name) || g_ascii_strcasecmp(name, "localhost") == 0 || is_host_name(name))
                return true;
        for (; names && *names; names++)
                if (g_ascii_strcasecmp(name, *names) == 0)
                        return true;
        return false;
}
