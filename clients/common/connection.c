/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "clients/common/connection.h"
#include "common/bus-cleanup.h"
#include "common/bus-source.h"
#include "record/translate.h"

/* Of names and addresses, with zone, brackets, port and the name of a container. */
#define HOST_CHARACTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_:%[]/"
#define HOST_MAX_BYTES 320u

#define ADDRESS_VARIABLE "ALIDADE_BUS_ADDRESS"

/* What follows the only colon; several of them are those of an IPv6 address. */
static bool has_possible_port(const char *host)
{
        const char *colon = strrchr(host, ':'), *bracket = strrchr(host, ']');
        guint64 port;

        if (!colon || (bracket ? colon < bracket : strchr(host, ':') != colon))
                return true;
        return !g_ascii_isdigit(colon[1]) ||
               g_ascii_string_to_unsigned(colon + 1, 10, 1, G_MAXUINT16, &port, NULL);
}

bool ald_connection_is_host(const char *text)
{
        const char *host = strrchr(text, '@');
        size_t user = host ? (size_t) (host - text) : 0;

        if (host && (user == 0 || text[0] == '-'))
                return false;
        for (size_t i = 0; i < user; i++)
                if (!g_ascii_isgraph(text[i]))
                        return false;
        host = host ? host + 1 : text;
        return g_ascii_isalnum(*host) || *host == '[' || *host == ':' || *host == '_'
                       ? strlen(text) <= HOST_MAX_BYTES && host[strspn(host, HOST_CHARACTERS)] == '\0' &&
                                 has_possible_port(host)
                       : false;
}

bool ald_connection_has_ssh(void)
{
        g_autofree char *ssh = g_find_program_in_path("ssh");

        return ssh;
}

/* NULL: the system bus. */
static const char *local_address(void)
{
        const char *address = getenv(ADDRESS_VARIABLE);

        return address && address[0] ? address : NULL;
}

int ald_connection_open(const char *host, sd_bus **ret)
{
        if (host)
                return sd_bus_open_system_remote(ret, host);
        return local_address() ? ald_bus_open_address(local_address(), ret) : sd_bus_open_system(ret);
}

const char *ald_connection_place(const char *host)
{
        return host ?: local_address() ?: _("the system bus");
}

int ald_connection_await(sd_bus *bus, bool is_remote, void (*notice)(void *userdata), void *userdata)
{
        gint64 start = g_get_monotonic_time();
        uint64_t waited, next = ALD_NOTICE_USEC;
        int r;

        while ((r = sd_bus_is_ready(bus)) == 0) {
                r = sd_bus_process(bus, NULL);
                if (r < 0)
                        return r;
                if (r > 0)
                        continue;
                waited = (uint64_t) (g_get_monotonic_time() - start);
                if (!is_remote && waited >= ALD_ANSWER_USEC)
                        return -ETIMEDOUT;
                if (waited >= next) {
                        if (notice)
                                notice(userdata);
                        next = is_remote ? UINT64_MAX : ALD_ANSWER_USEC;
                }
                r = sd_bus_wait(bus, next - waited);
                if (r < 0 && r != -EINTR)
                        return r;
        }
        return r;
}
