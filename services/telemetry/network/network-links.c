/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <linux/rtnetlink.h>
#include <string.h>

#include "record/field.h"
#include "services/telemetry/network/network-links.h"

/* Maximum number of interfaces or addresses beyond the limit that are counted. */
#define REFUSED_MAX 65536u

struct AldLinks {
        GPtrArray *links;    /* by index */
        GHashTable *refused; /* index of an interface beyond the limit → generation of the dump that last had
                                it */
        unsigned generation;
        bool overflowed;
};

static AldNetworkLink *link_new(const AldLinkInfo *info)
{
        AldNetworkLink *link = g_new(AldNetworkLink, 1);

        *link = (AldNetworkLink){
                .info = *info,
                .addresses = g_array_new(FALSE, FALSE, sizeof(AldLinkAddress)),
        };
        ald_link_facts_init(&link->facts);
        return link;
}

static void link_free(AldNetworkLink *link)
{
        g_array_unref(link->addresses);
        g_clear_pointer(&link->refused, g_hash_table_unref);
        ald_link_facts_clear(&link->facts);
        g_free(link);
}

AldLinks *ald_links_new(void)
{
        AldLinks *links = g_new0(AldLinks, 1);

        links->links = g_ptr_array_new_with_free_func((GDestroyNotify) link_free);
        links->refused = g_hash_table_new(NULL, NULL);
        return links;
}

void ald_links_free(AldLinks *links)
{
        g_ptr_array_unref(links->links);
        g_hash_table_unref(links->refused);
        g_free(links);
}

size_t ald_links_count(const AldLinks *links)
{
        return links->links->len;
}

AldNetworkLink *ald_links_at(const AldLinks *links, size_t i)
{
        return links->links->pdata[i];
}

size_t ald_links_left_out(const AldLinks *links)
{
        return g_hash_table_size(links->refused);
}

size_t ald_links_addresses_left_out(const AldLinks *links)
{
        size_t n = 0;

        for (guint i = 0; i < links->links->len; i++) {
                const AldNetworkLink *link = ald_links_at(links, i);

                n += link->refused ? g_hash_table_size(link->refused) : 0;
        }
        return n;
}

/* Records that an interface or address is beyond the limit. Returns whether that is new. */
static bool record_refused(AldLinks *links, GHashTable *refused, gpointer key)
{
        links->overflowed = true;
        return g_hash_table_size(refused) < REFUSED_MAX &&
               g_hash_table_insert(refused, key, GUINT_TO_POINTER(links->generation));
}

static gboolean is_of_another_dump(gpointer key, gpointer generation, gpointer now)
{
        return generation != now;
}

static void sweep_refused(const AldLinks *links, GHashTable *refused)
{
        if (refused)
                g_hash_table_foreach_remove(refused, is_of_another_dump, GUINT_TO_POINTER(links->generation));
}

/* Returns the position of the link with this index, or where to insert it. */
static guint find_position(const AldLinks *links, int index)
{
        guint low = 0, high = links->links->len;

        while (low < high) {
                guint middle = low + (high - low) / 2;

                if (ald_links_at(links, middle)->info.index < index)
                        low = middle + 1;
                else
                        high = middle;
        }
        return low;
}

static bool has_link_at(const AldLinks *links, guint place, int index)
{
        return place < links->links->len && ald_links_at(links, place)->info.index == index;
}

AldNetworkLink *ald_links_find(const AldLinks *links, int index)
{
        guint place = find_position(links, index);

        return has_link_at(links, place, index) ? ald_links_at(links, place) : NULL;
}

static int add_link(AldLinks *links, const struct nlmsghdr *message)
{
        AldLinkInfo info;
        AldNetworkLink *link;
        guint place;
        int r = ald_network_parse_link(message, &info);

        if (r < 0)
                return r;
        place = find_position(links, info.index);
        if (!has_link_at(links, place, info.index)) {
                if (links->links->len >= ALD_LINKS_MAX)
                        return record_refused(links, links->refused, GINT_TO_POINTER(info.index));
                g_hash_table_remove(links->refused, GINT_TO_POINTER(info.index));
                g_ptr_array_insert(links->links, (gint) place, link_new(&info));
        }
        link = ald_links_at(links, place);
        link->info = info;
        link->generation = links->generation;
        link->dirty = true;
        return 1;
}

static int remove_link(AldLinks *links, const struct nlmsghdr *message)
{
        guint place;
        int index, r = ald_network_parse_link_gone(message, &index);

        if (r < 0)
                return r;
        place = find_position(links, index);
        if (!has_link_at(links, place, index))
                return g_hash_table_remove(links->refused, GINT_TO_POINTER(index));
        g_ptr_array_remove_index(links->links, place);
        return links->overflowed ? -EAGAIN : 1;
}

static int compare_addresses(const AldLinkAddress *a, const AldLinkAddress *b)
{
        int r;

        if (a->family != b->family)
                return a->family == AF_INET ? -1 : 1;
        r = memcmp(a->local, b->local, sizeof a->local);
        if (r == 0)
                r = (int) a->prefix - (int) b->prefix;
        return r != 0 ? r : memcmp(a->peer, b->peer, sizeof a->peer);
}

static bool find_address(const AldNetworkLink *link, const AldLinkAddress *address, guint *ret_place)
{
        guint low = 0, high = link->addresses->len;

        while (low < high) {
                guint middle = low + (high - low) / 2;

                if (compare_addresses(&g_array_index(link->addresses, AldLinkAddress, middle), address) < 0)
                        low = middle + 1;
                else
                        high = middle;
        }
        *ret_place = low;
        return low < link->addresses->len &&
               compare_addresses(&g_array_index(link->addresses, AldLinkAddress, low), address) == 0;
}

/* Returns a hash of the parts that identify an address of an interface. */
static gpointer address_key(const AldLinkAddress *address)
{
        uint64_t hash = ALD_HASH_BASIS;

        hash = ald_hash_bytes(hash, &address->family, sizeof address->family);
        hash = ald_hash_bytes(hash, &address->prefix, sizeof address->prefix);
        hash = ald_hash_bytes(hash, address->local, sizeof address->local);
        hash = ald_hash_bytes(hash, address->peer, sizeof address->peer);
        return GSIZE_TO_POINTER((gsize) hash);
}

static int remove_address(AldLinks *links, AldNetworkLink *link, const AldLinkAddress *address)
{
        guint place;

        if (!find_address(link, address, &place))
                return link->refused && g_hash_table_remove(link->refused, address_key(address));
        g_array_remove_index(link->addresses, place);
        return links->overflowed ? -EAGAIN : 1;
}

static int store_address(AldLinks *links, AldNetworkLink *link, AldLinkAddress *address)
{
        guint place;

        address->generation = links->generation;
        if (find_address(link, address, &place)) {
                g_array_index(link->addresses, AldLinkAddress, place) = *address;
                return 0;
        }
        if (link->addresses->len >= ALD_LINK_ADDRESSES_MAX) {
                if (!link->refused)
                        link->refused = g_hash_table_new(NULL, NULL);
                return record_refused(links, link->refused, address_key(address));
        }
        if (link->refused)
                g_hash_table_remove(link->refused, address_key(address));
        g_array_insert_val(link->addresses, place, *address);
        return 1;
}

/* Applies a message about an address. It is ignored if its link is not known yet, since the dump of
 * addresses, which follows the dump of links, reports it again. */
static int apply_address(AldLinks *links, const struct nlmsghdr *message)
{
        AldLinkAddress address;
        AldNetworkLink *link;
        bool usable;
        int index, r = ald_network_parse_address(message, &index, &address, &usable);

        if (r < 0)
                return r;
        link = ald_links_find(links, index);
        if (!link)
                return 0;
        if (message->nlmsg_type == RTM_NEWADDR && usable)
                return store_address(links, link, &address);
        return remove_address(links, link, &address);
}

int ald_links_apply(AldLinks *links, const struct nlmsghdr *message)
{
        int r;

        switch (message->nlmsg_type) {
        case RTM_NEWLINK:
                r = add_link(links, message);
                break;
        case RTM_DELLINK:
                r = remove_link(links, message);
                break;
        case RTM_NEWADDR:
        case RTM_DELADDR:
                r = apply_address(links, message);
                break;
        default:
                return 0;
        }
        return r == -ENOMSG ? 0 : r;
}

void ald_links_mark(AldLinks *links)
{
        links->generation++;
        links->overflowed = false;
}

bool ald_links_sweep_links(AldLinks *links)
{
        guint before = links->links->len;

        sweep_refused(links, links->refused);
        for (guint i = before; i-- > 0;)
                if (ald_links_at(links, i)->generation != links->generation)
                        g_ptr_array_remove_index(links->links, i);
        return links->overflowed && links->links->len < before;
}

static bool sweep_addresses_of(AldNetworkLink *link, unsigned generation)
{
        guint before = link->addresses->len;

        for (guint i = before; i-- > 0;)
                if (g_array_index(link->addresses, AldLinkAddress, i).generation != generation)
                        g_array_remove_index(link->addresses, i);
        return link->addresses->len < before;
}

bool ald_links_sweep_addresses(AldLinks *links)
{
        bool swept = false;

        for (guint i = 0; i < links->links->len; i++) {
                sweep_refused(links, ald_links_at(links, i)->refused);
                swept |= sweep_addresses_of(ald_links_at(links, i), links->generation);
        }
        return links->overflowed && swept;
}
