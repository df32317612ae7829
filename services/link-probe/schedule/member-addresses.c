/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "services/common/errors.h"
#include "services/link-probe/schedule/member-addresses.h"

#define PERIOD_USEC (5 * 60 * G_USEC_PER_SEC)
/* The delay between attempts until the first reply. Until then, the connections of nodes compete with those
 * of strangers. */
#define RETRY_SECONDS 1u

struct AldAddresses {
        AldStateQuery *query;
        const char *own_id;
        AldMembers *members;
        bool asking;
        gint64 answered; /* time of the last complete reply; 0: none yet */
        guint retry;
        bool warned;
};

AldAddresses *ald_addresses_new(AldStateQuery *query, const char *own_id, AldMembers *members)
{
        AldAddresses *addresses = g_new0(AldAddresses, 1);

        addresses->query = query;
        addresses->own_id = own_id;
        addresses->members = members;
        return addresses;
}

void ald_addresses_free(AldAddresses *addresses)
{
        if (!addresses)
                return;
        g_clear_handle_id(&addresses->retry, g_source_remove);
        g_free(addresses);
}

/* Adds the addresses of a node, without their prefix lengths. */
static void add_addresses_of_node(const AldAddresses *addresses, const char *node, const AldNetwork *network)
{
        for (size_t i = 0; i < network->interfaces.n; i++) {
                const AldInterface *interface = ald_rows_at(&network->interfaces, i);

                for (const char *const *text = interface->addresses; text && *text; text++) {
                        g_autofree char *address = g_strndup(*text, strcspn(*text, "/"));

                        ald_members_add_reported(addresses->members, address, node);
                }
        }
}

static gboolean on_retry(gpointer userdata)
{
        AldAddresses *addresses = userdata;

        addresses->retry = 0;
        ald_addresses_update(addresses, false);
        return G_SOURCE_REMOVE;
}

static void end_update(AldAddresses *addresses, int error)
{
        addresses->asking = false;
        if (error < 0) {
                if (!addresses->warned)
                        g_info("Cannot read the addresses of the nodes from the state service: %s",
                                ald_error_describe(error));
                addresses->warned = true;
                if (addresses->answered == 0 && addresses->retry == 0)
                        addresses->retry = g_timeout_add_seconds(RETRY_SECONDS, on_retry, addresses);
                return;
        }
        ald_members_end_reported(addresses->members);
        addresses->warned = false;
        addresses->answered = g_get_monotonic_time();
}

static void on_network(int error, const char *node, const AldNetwork *network, void *userdata)
{
        AldAddresses *addresses = userdata;

        if (!node)
                end_update(addresses, error);
        else if (!g_str_equal(node, addresses->own_id))
                add_addresses_of_node(addresses, node, network);
}

void ald_addresses_update(AldAddresses *addresses, bool now)
{
        gint64 answered = addresses->answered;
        bool is_recent = answered != 0 && g_get_monotonic_time() - answered < (gint64) PERIOD_USEC;
        int r;

        if (addresses->asking || (is_recent && !now))
                return;
        ald_members_begin_reported(addresses->members);
        addresses->asking = true;
        r = ald_state_query_networks(addresses->query, on_network, addresses);
        if (r < 0)
                end_update(addresses, r);
}
