/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <arpa/inet.h>
#include <ifaddrs.h>
#include <limits.h>
#include <net/if.h>
#include <netdb.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include <glib.h>

#include "clients/cluster/broker/addresses.h"
#include "clients/command-line/print.h"
#include "pki/types.h"

#define PORT_MAX 65535u
#define INTERFACES "/sys/class/net"

static bool is_ipv6(const char *text)
{
        struct in6_addr address;

        return inet_pton(AF_INET6, text, &address) == 1;
}

static bool is_ipv4(const char *text)
{
        struct in_addr address;

        return inet_pton(AF_INET, text, &address) == 1;
}

const char *ald_host_refuse(const char *host)
{
        g_autofree char *name = ald_pki_host_without_dot(host);

        if (*name == '\0')
                return "empty";
        if (!g_str_is_ascii(name))
                return "not in ASCII: certificates have the form of an international name with xn--";
        return is_ipv4(name) || is_ipv6(name) || ald_pki_is_host_name(name)
                       ? NULL
                       : "not a valid host name or address";
}

bool ald_host_equal(const char *a, const char *b)
{
        g_autofree char *left = ald_pki_host_without_dot(a), *right = ald_pki_host_without_dot(b);
        struct in6_addr x, y;

        if (inet_pton(AF_INET6, left, &x) == 1 && inet_pton(AF_INET6, right, &y) == 1)
                return IN6_ARE_ADDR_EQUAL(&x, &y);
        return g_ascii_strcasecmp(left, right) == 0;
}

/* Returns the host of an entry of `brokers=`, as it is written. */
static char *written_host(const char *broker)
{
        const char *end, *colon = strchr(broker, ':');

        if (*broker == '[') {
                end = strchr(broker, ']');
                return end ? g_strndup(broker + 1, (gsize) (end - broker - 1)) : g_strdup(broker);
        }
        /* Two colons make it a bare IPv6 address. */
        return colon && !strchr(colon + 1, ':') ? g_strndup(broker, (gsize) (colon - broker))
                                                : g_strdup(broker);
}

char *ald_broker_host(const char *broker)
{
        g_autofree char *host = written_host(broker);

        return ald_pki_host_without_dot(host);
}

char *ald_broker_from_host(const char *host)
{
        return is_ipv6(host) ? g_strdup_printf("[%s]", host) : g_strdup(host);
}

static const char *refuse_port(const char *port)
{
        guint64 number;

        return g_ascii_string_to_unsigned(port, 10, 1, PORT_MAX, &number, NULL) ? NULL : "not a valid port";
}

const char *ald_broker_refuse(const char *text)
{
        g_autofree char *host = written_host(text);
        const char *reason = ald_host_refuse(host);
        const char *rest = text + strlen(host) + (*text == '[' ? 2 : 0);

        if (reason)
                return reason;
        if (*text == '[' && (text[strlen(host) + 1] != ']' || !is_ipv6(host)))
                return "not an IPv6 address in brackets";
        return *rest == '\0'  ? NULL
               : *rest == ':' ? refuse_port(rest + 1)
                              : "unexpected text after the address";
}

static bool contains_text(GPtrArray *list, const char *text)
{
        return g_ptr_array_find_with_equal_func(list, text, (GEqualFunc) g_str_equal, NULL);
}

static void add_address(GPtrArray *list, const char *text)
{
        g_autofree char *host = ald_pki_host_without_dot(text);

        if (list->len < ALD_ADDRESSES_MAX && !ald_host_refuse(host) && !contains_text(list, host))
                g_ptr_array_add(list, g_steal_pointer(&host));
}

/* Returns whether other machines may reach this one by an address. */
static bool is_global(const struct sockaddr *address)
{
        const struct sockaddr_in6 *six = (const struct sockaddr_in6 *) address;
        const struct sockaddr_in *four = (const struct sockaddr_in *) address;

        if (address->sa_family == AF_INET)
                return (ntohl(four->sin_addr.s_addr) >> 16) != 0xA9FE &&
                       (ntohl(four->sin_addr.s_addr) >> 24) != 127;
        return address->sa_family == AF_INET6 && !IN6_IS_ADDR_LINKLOCAL(&six->sin6_addr) &&
               !IN6_IS_ADDR_LOOPBACK(&six->sin6_addr);
}

/* Returns whether an interface is hardware, or based on it, as a VLAN and a bond are. */
static bool leads_outside(const char *interface)
{
        g_autofree char *folder = g_build_filename(INTERFACES, interface, NULL);
        g_autofree char *device = g_build_filename(folder, "device", NULL);
        g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
        const char *name;

        while (dir && (name = g_dir_read_name(dir)))
                if (g_str_has_prefix(name, "lower_"))
                        return true;
        return access(device, F_OK) == 0;
}

/* Returns whether an interface is a bridge that joins only containers or guests of this machine. Other
 * machines may have such a bridge with the same address. */
static bool is_inner_bridge(const char *interface)
{
        g_autofree char *folder = g_build_filename(INTERFACES, interface, "brif", NULL);
        g_autoptr(GDir) ports = g_dir_open(folder, 0, NULL);
        const char *port;

        while (ports && (port = g_dir_read_name(ports)))
                if (leads_outside(port))
                        return false;
        return ports;
}

static void add_addresses(GPtrArray *list, sa_family_t family, bool inner)
{
        struct ifaddrs *all = NULL;
        char text[NI_MAXHOST];

        if (getifaddrs(&all) < 0)
                return;
        for (const struct ifaddrs *one = all; one; one = one->ifa_next) {
                socklen_t size = family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6);

                if (one->ifa_addr && one->ifa_addr->sa_family == family && !(one->ifa_flags & IFF_LOOPBACK) &&
                        is_global(one->ifa_addr) && is_inner_bridge(one->ifa_name) == inner &&
                        getnameinfo(one->ifa_addr, size, text, sizeof text, NULL, 0, NI_NUMERICHOST) == 0)
                        add_address(list, text);
        }
        freeifaddrs(all);
}

/* Returns the full name of this machine, if the resolver knows one whose address is not loopback or
 * link-local; else NULL. */
static char *find_full_name(const char *name)
{
        const struct addrinfo hints = { .ai_flags = AI_CANONNAME, .ai_socktype = SOCK_STREAM };
        struct addrinfo *found = NULL;
        char *full = NULL;

        if (getaddrinfo(name, NULL, &hints, &found) != 0)
                return NULL;
        if (found->ai_canonname && strchr(found->ai_canonname, '.') && is_global(found->ai_addr))
                full = g_strdup(found->ai_canonname);
        freeaddrinfo(found);
        return full;
}

char **ald_addresses_of_machine(void)
{
        g_autoptr(GPtrArray) list = g_ptr_array_new_with_free_func(g_free);
        g_autofree char *full = NULL, *local = NULL;
        char name[HOST_NAME_MAX + 1] = "";
        guint n_names;

        if (gethostname(name, sizeof name - 1) < 0)
                name[0] = '\0';
        full = find_full_name(name);
        if (full)
                add_address(list, full);
        n_names = list->len;
        add_addresses(list, AF_INET, false);
        add_addresses(list, AF_INET6, false);
        if (list->len == n_names) { /* addresses of inner bridges are better than none */
                add_addresses(list, AF_INET, true);
                add_addresses(list, AF_INET6, true);
        }
        add_address(list, name);
        if (!strchr(name, '.')) {
                local = g_strconcat(name, ".local", NULL);
                add_address(list, local);
        }
        g_ptr_array_add(list, NULL);
        return (char **) g_ptr_array_steal(list, NULL);
}

static bool is_same(const struct sockaddr *a, const struct sockaddr *b)
{
        if (a->sa_family != b->sa_family)
                return false;
        if (a->sa_family == AF_INET)
                return ((const struct sockaddr_in *) a)->sin_addr.s_addr ==
                       ((const struct sockaddr_in *) b)->sin_addr.s_addr;
        return a->sa_family == AF_INET6 && IN6_ARE_ADDR_EQUAL(&((const struct sockaddr_in6 *) a)->sin6_addr,
                                                   &((const struct sockaddr_in6 *) b)->sin6_addr);
}

static bool is_of_machine(const struct addrinfo *found)
{
        struct ifaddrs *all = NULL;
        bool own = false;

        if (getifaddrs(&all) < 0)
                return true;
        for (; found && !own; found = found->ai_next)
                for (const struct ifaddrs *one = all; one && !own; one = one->ifa_next)
                        own = one->ifa_addr && is_same(one->ifa_addr, found->ai_addr);
        freeifaddrs(all);
        return own;
}

void ald_broker_address_note(const char *host)
{
        const struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
        struct addrinfo *found = NULL;
        int r = getaddrinfo(host, NULL, &hints, &found);

        if (r != 0)
                ald_print_error(
                        "Note: %s does not resolve here (%s); other nodes must be able to resolve it to "
                        "reach the broker",
                        host, gai_strerror(r));
        else if (!is_of_machine(found))
                ald_print_error(
                        "Note: %s is not an address of this machine; other nodes must be able to reach "
                        "the broker at it",
                        host);
        if (found)
                freeaddrinfo(found);
}

static bool is_on_host(const char *broker, const char *wanted)
{
        g_autofree char *host = ald_broker_host(broker);

        return g_ascii_strcasecmp(host, wanted) == 0;
}

static bool is_on_any(const char *broker, char **hosts)
{
        for (; *hosts; hosts++)
                if (is_on_host(broker, *hosts))
                        return true;
        return false;
}

char **ald_broker_list_put(char **brokers, char **known, const char *host)
{
        g_autoptr(GPtrArray) list = g_ptr_array_new_with_free_func(g_free);
        bool there = false;

        for (; *brokers; brokers++) {
                bool same = is_on_host(*brokers, host);

                if (!same && !is_on_any(*brokers, known))
                        g_ptr_array_add(list, g_strdup(*brokers));
                else if (!there) {
                        /* The present entry of this host may also name a port. */
                        g_ptr_array_add(list, same ? g_strdup(*brokers) : ald_broker_from_host(host));
                        there = true;
                }
        }
        if (!there)
                g_ptr_array_add(list, ald_broker_from_host(host));
        g_ptr_array_add(list, NULL);
        return (char **) g_ptr_array_steal(list, NULL);
}

char **ald_broker_list_drop(char **brokers, char **hosts)
{
        g_autoptr(GPtrArray) list = g_ptr_array_new_with_free_func(g_free);

        for (; *brokers; brokers++)
                if (!is_on_any(*brokers, hosts))
                        g_ptr_array_add(list, g_strdup(*brokers));
        g_ptr_array_add(list, NULL);
        return (char **) g_ptr_array_steal(list, NULL);
}
