/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <arpa/inet.h>
#include <string.h>

#include "record/record.h"
#include "state/link/interface-roles.h"
#include "state/link/path-candidates.h"

/* The maximum number of addresses of one end that are considered. */
#define ADDRESSES_MAX 64u

typedef struct Address {
        uint8_t bytes[sizeof(struct in6_addr)];
        unsigned n_bytes; /* which is the family */
        unsigned prefix;
        bool link_local;
        const AldInterface *interface;
        char text[ALD_ADDRESS_STRING_SIZE];
} Address;

/* The addresses of one node that may be an end of a path. A set of their interfaces is a bit set, in which
 * each interface has the number of its first address. */
typedef struct End {
        const AldNetwork *network;
        Address addresses[ADDRESSES_MAX];
        size_t n;
} End;
G_STATIC_ASSERT(ADDRESSES_MAX <= 64);

/* The interfaces of two ends that are neighbours by LLDP, searched when first needed. */
typedef struct Neighbours {
        bool known;
        uint64_t of_source[ADDRESSES_MAX]; /* for each interface of the source the set of those of the sink */
} Neighbours;

static bool is_link_local(const Address *address)
{
        const uint8_t *bytes = address->bytes;

        if (address->n_bytes == 4)
                return bytes[0] == 169 && bytes[1] == 254;
        return bytes[0] == 0xfe && (bytes[1] & 0xc0) == 0x80;
}

/* Returns whether it can belong to a single node: not loopback, multicast, mapped or unspecified. */
static bool is_unicast(const Address *address)
{
        const uint8_t *bytes = address->bytes;
        static const uint8_t zeros[10];

        if (address->n_bytes == 4)
                return bytes[0] != 0 && bytes[0] != 127 && bytes[0] < 224;
        return bytes[0] != 0xff && memcmp(bytes, zeros, sizeof zeros) != 0;
}

/* Parses an address with a prefix length, such as "192.0.2.1/24", in any spelling. */
static bool parse_address(const char *text, const AldInterface *interface, Address *ret)
{
        int family = strchr(text, ':') ? AF_INET6 : AF_INET;
        Address address = { .interface = interface, .n_bytes = family == AF_INET ? 4 : 16 };
        const char *slash = strchr(text, '/');
        guint64 prefix;

        if (!slash || (size_t) (slash - text) >= sizeof address.text)
                return false;
        memcpy(address.text, text, (size_t) (slash - text));
        if (!g_ascii_string_to_unsigned(slash + 1, 10, 0, address.n_bytes * 8, &prefix, NULL) ||
                inet_pton(family, address.text, address.bytes) != 1 ||
                !inet_ntop(family, address.bytes, address.text, sizeof address.text))
                return false;
        address.prefix = (unsigned) prefix;
        address.link_local = is_link_local(&address);
        if (!is_unicast(&address))
                return false;
        *ret = address;
        return true;
}

static void end_init(End *end, const AldNetwork *network)
{
        bool physical = ald_network_has_physical(network);

        end->network = network;
        end->n = 0;
        for (size_t i = 0; i < network->interfaces.n; i++) {
                const AldInterface *interface = ald_rows_at(&network->interfaces, i);

                if (!ald_network_leads_out(network, interface, physical))
                        continue;
                for (const char *const *text = interface->addresses; text && *text; text++) {
                        if (end->n == ADDRESSES_MAX)
                                return;
                        if (parse_address(*text, interface, &end->addresses[end->n]))
                                end->n++;
                }
        }
}

static bool same_prefix(const Address *a, const Address *b)
{
        unsigned whole = a->prefix / 8, rest = a->prefix % 8;

        if (a->n_bytes != b->n_bytes || a->prefix != b->prefix || memcmp(a->bytes, b->bytes, whole) != 0)
                return false;
        return rest == 0 || (a->bytes[whole] ^ b->bytes[whole]) >> (8 - rest) == 0;
}

/* Returns the source's interface that has the longest prefix of the address; NULL if none has one, or if
 * several do, so that the route decides. */
static const AldInterface *find_on_link(const End *source, const Address *address, bool *ret_on_link)
{
        const Address *best = NULL;
        bool several = false;

        for (size_t i = 0; i < source->n; i++) {
                const Address *own = &source->addresses[i];
                Address other = *address;

                /* The prefix length at the sink is irrelevant for our routes. */
                other.prefix = own->prefix;
                if (own->link_local || !same_prefix(own, &other) || (best && own->prefix < best->prefix))
                        continue;
                several = best && own->prefix == best->prefix &&
                          (several || own->interface != best->interface);
                best = own;
        }
        *ret_on_link = best != NULL;
        return best && !several ? best->interface : NULL;
}

/* Finds the number of an interface within the end, which is that of its first address; false if it has no
 * address. */
static bool find_number(const End *end, const AldInterface *interface, size_t *ret)
{
        for (size_t i = 0; interface && i < end->n; i++)
                if (end->addresses[i].interface == interface) {
                        *ret = i;
                        return true;
                }
        return false;
}

static const AldInterface *find_interface(const AldNetwork *network, const char *name)
{
        return name ? ald_rows_find(&network->interfaces, name) : NULL;
}

/* Returns the interfaces with addresses that LLDP on this port refers to: LLDP runs on the ports of bridges
 * and bonds, but the bridges and bonds have the addresses. */
static uint64_t interfaces_over_port(const End *end, const AldInterface *port)
{
        uint64_t set = 0;
        size_t number;

        if (find_number(end, port, &number))
                set |= UINT64_C(1) << number;
        if (find_number(end, find_interface(end->network, port->controller), &number))
                set |= UINT64_C(1) << number;
        return set;
}

/* Adds interfaces to a name, which may be NULL; case does not matter. */
static void add_port_name(GHashTable *table, const char *name, uint64_t set)
{
        g_autofree char *lower = name ? g_ascii_strdown(name, -1) : NULL;
        uint64_t *known = lower ? g_hash_table_lookup(table, lower) : NULL;

        if (known)
                *known |= set;
        else if (lower)
                g_hash_table_insert(table, g_steal_pointer(&lower), g_memdup2(&set, sizeof set));
}

static const uint64_t *find_port(GHashTable *table, const char *name)
{
        g_autofree char *lower = name ? g_ascii_strdown(name, -1) : NULL;

        return lower ? g_hash_table_lookup(table, lower) : NULL;
}

/* The interfaces of an end by the names that LLDP uses for them or their ports: name in lower case → set. */
typedef struct PortNames {
        GHashTable *addresses; /* hardware addresses of all interfaces, each of which may be the chassis */
        GHashTable *ids;
} PortNames;

/* A neighbour is named by its hardware address, or by its name with any hardware address of its node as the
 * chassis. */
static uint64_t find_named_interfaces(const PortNames *names, const AldNeighbour *neighbour)
{
        const uint64_t *by_address = find_port(names->addresses, neighbour->port_id);
        const uint64_t *by_id = find_port(names->ids, neighbour->port_id);

        if (by_id && !find_port(names->addresses, neighbour->chassis_id))
                by_id = NULL;
        return (by_address ? *by_address : 0) | (by_id ? *by_id : 0);
}

/* Finds the neighbours that one end lists. Each row is read once, since both may have thousands. */
static void find_listed_neighbours(
        const End *listing, const End *other, bool is_source, Neighbours *neighbours)
{
        g_autoptr(GHashTable) addresses = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
        g_autoptr(GHashTable) ids = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
        const PortNames names = { addresses, ids };

        for (size_t i = 0; listing->network->neighbours.n > 0 && i < other->network->interfaces.n; i++) {
                const AldInterface *port = ald_rows_at(&other->network->interfaces, i);
                uint64_t set = interfaces_over_port(other, port);

                add_port_name(addresses, port->hardware_address, set);
                add_port_name(ids, port->id, set);
        }
        for (size_t i = 0; i < listing->network->neighbours.n; i++) {
                const AldNeighbour *row = ald_rows_at(&listing->network->neighbours, i);
                const AldInterface *port = find_interface(listing->network, row->interface);
                uint64_t own = port ? interfaces_over_port(listing, port) : 0;
                uint64_t theirs = own ? find_named_interfaces(&names, row) : 0;

                for (size_t k = 0; theirs && k < ADDRESSES_MAX; k++)
                        if ((is_source ? own : theirs) >> k & 1)
                                neighbours->of_source[k] |= is_source ? theirs : own;
        }
}

static bool are_neighbours(const End *source, const AldInterface *own, const End *sink,
        const AldInterface *other, Neighbours *neighbours)
{
        size_t number, other_number;

        if (!neighbours->known) {
                find_listed_neighbours(source, sink, true, neighbours);
                find_listed_neighbours(sink, source, false, neighbours);
                neighbours->known = true;
        }
        return find_number(source, own, &number) && find_number(sink, other, &other_number) &&
               neighbours->of_source[number] >> other_number & 1;
}

static bool share_link(const End *source, const AldInterface *own, const End *sink, const AldInterface *other,
        Neighbours *neighbours)
{
        if (ald_interface_is(own, ALD_INTERFACE_TYPE_THUNDERBOLT) &&
                ald_interface_is(other, ALD_INTERFACE_TYPE_THUNDERBOLT))
                return true;
        for (size_t i = 0; i < source->n; i++)
                for (size_t k = 0; k < sink->n; k++) {
                        const Address *a = &source->addresses[i], *b = &sink->addresses[k];

                        if (a->interface == own && b->interface == other && !a->link_local &&
                                !b->link_local && same_prefix(a, b))
                                return true;
                }
        return false;
}

static bool has_only_link_local(const End *end)
{
        for (size_t i = 0; i < end->n; i++)
                if (!end->addresses[i].link_local)
                        return false;
        return end->n > 0;
}

/* Nodes without other addresses do not show whether they share a link, so any interface may lead there. */
static bool may_share_link(const End *source, const AldInterface *own, const End *sink,
        const AldInterface *other, Neighbours *neighbours)
{
        return has_only_link_local(source) && has_only_link_local(sink);
}

typedef bool (*AldScopeTest)(const End *source, const AldInterface *own, const End *sink,
        const AldInterface *other, Neighbours *neighbours);

static bool has_scope(const AldCandidate *candidate, const AldInterface *interface)
{
        for (unsigned i = 0; i < candidate->n_scopes; i++)
                if (candidate->scopes[i] == interface)
                        return true;
        return false;
}

/* Finds the interfaces with a link-local address of the same family that pass the first test that any of them
 * passes. */
static void find_scopes(const End *source, const End *sink, const Address *address, Neighbours *neighbours,
        AldCandidate *candidate)
{
        static const AldScopeTest tests[] = { are_neighbours, share_link, may_share_link };

        for (unsigned k = 0; k < G_N_ELEMENTS(tests) && candidate->n_scopes == 0; k++)
                for (size_t i = 0; i < source->n && candidate->n_scopes < ALD_SCOPES_MAX; i++) {
                        const Address *own = &source->addresses[i];

                        if (own->link_local && own->n_bytes == address->n_bytes &&
                                !has_scope(candidate, own->interface) &&
                                tests[k](source, own->interface, sink, address->interface, neighbours))
                                candidate->scopes[candidate->n_scopes++] = own->interface;
                }
        if (candidate->n_scopes > 0)
                candidate->interface = candidate->scopes[0];
}

/* Finds the interface of all routes of the family, NULL if its addresses are on several interfaces; false if
 * it has no address. */
static bool find_routed(const End *source, unsigned n_bytes, const AldInterface **ret)
{
        const AldInterface *found = NULL;
        bool several = false;

        for (size_t i = 0; i < source->n; i++) {
                const Address *own = &source->addresses[i];

                if (own->n_bytes != n_bytes || own->link_local)
                        continue;
                several = several || (found && found != own->interface);
                found = own->interface;
        }
        if (!found)
                return false;
        *ret = several ? NULL : found;
        return true;
}

/* An address that both ends have leads nowhere. */
static bool has_address(const End *source, const Address *address)
{
        for (size_t i = 0; i < source->n; i++)
                if (source->addresses[i].n_bytes == address->n_bytes &&
                        memcmp(source->addresses[i].bytes, address->bytes, address->n_bytes) == 0)
                        return true;
        return false;
}

static bool is_listed(const GArray *candidates, const char *address)
{
        for (guint i = 0; i < candidates->len; i++)
                if (strcmp(g_array_index(candidates, AldCandidate, i).address, address) == 0)
                        return true;
        return false;
}

static void add_candidate(GArray *candidates, const End *source, const End *sink, const Address *address,
        Neighbours *neighbours)
{
        AldCandidate candidate = { .sink_interface = address->interface,
                .link_local = address->link_local,
                .on_link = address->link_local };

        if (candidates->len >= ALD_CANDIDATES_MAX || has_address(source, address) ||
                is_listed(candidates, address->text))
                return;
        if (address->link_local)
                find_scopes(source, sink, address, neighbours, &candidate);
        else
                candidate.interface = find_on_link(source, address, &candidate.on_link);
        if (!candidate.interface &&
                (address->link_local || !find_routed(source, address->n_bytes, &candidate.interface)))
                return;
        g_strlcpy(candidate.address, address->text, sizeof candidate.address);
        g_array_append_val(candidates, candidate);
}

GArray *ald_candidates_compute(const AldNetwork *source, const AldNetwork *sink)
{
        GArray *candidates = g_array_new(FALSE, FALSE, sizeof(AldCandidate));
        Neighbours neighbours = {};
        End from, to;

        end_init(&from, source);
        end_init(&to, sink);
        for (unsigned link_local = 0; link_local < 2; link_local++)
                for (size_t i = 0; i < to.n; i++)
                        if (to.addresses[i].link_local == link_local)
                                add_candidate(candidates, &from, &to, &to.addresses[i], &neighbours);
        return candidates;
}

const AldInterface *ald_candidate_choose(const AldCandidate *candidate, const AldLinkSocket *row)
{
        uint64_t failures = row && row->failures != ALD_ABSENT_UINT64 ? row->failures : 0;
        unsigned first = 0;

        if (candidate->n_scopes == 0)
                return candidate->interface;
        for (unsigned i = 0; row && row->source_interface && i < candidate->n_scopes; i++)
                if (strcmp(candidate->scopes[i]->id, row->source_interface) == 0)
                        first = i;
        return candidate->scopes[(first + failures) % candidate->n_scopes];
}

static bool may_leave_through(const AldCandidate *candidate, const AldInterface *interface)
{
        return !candidate->interface || candidate->interface == interface || has_scope(candidate, interface);
}

bool ald_candidate_mirrors(const AldCandidate *theirs, const AldCandidate *ours)
{
        if (!strchr(theirs->address, ':') != !strchr(ours->address, ':'))
                return false;
        return may_leave_through(theirs, ours->sink_interface) &&
               may_leave_through(ours, theirs->sink_interface);
}
