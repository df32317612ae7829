/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "common/bus-cleanup.h"
#include "record/update-bus.h"
#include "services/link-probe/address-query-bus.h"

#define STATE_NAME "org.alidade.State1"
#define STATE_PATH "/org/alidade/State1"

/* Of a page, so that neither service is busy with it for long; and in all. */
#define RECORDS_MAX 200u
#define PAGES_MAX 100u

#define PERIOD_USEC (5 * 60 * G_USEC_PER_SEC)

struct AldAddressQuery {
        AldService *service;
        const char *own_id;
        AldMembers *members;
        sd_bus_slot *slot;
        unsigned pages; /* read of this answer */
        gint64 asked;   /* 0: there was no whole answer yet */
        bool complained;
};

AldAddressQuery *ald_address_query_new(AldService *service, const char *own_id, AldMembers *members)
{
        AldAddressQuery *query = g_new0(AldAddressQuery, 1);

        query->service = service;
        query->own_id = own_id;
        query->members = members;
        return query;
}

void ald_address_query_free(AldAddressQuery *query)
{
        if (!query)
                return;
        sd_bus_slot_unref(query->slot);
        g_free(query);
}

/* Without the length of their prefix. */
static void add_addresses(AldAddressQuery *query, const char *node, const AldNetwork *network)
{
        for (size_t i = 0; i < network->interfaces.n; i++) {
                const AldInterface *interface = ald_rows_at(&network->interfaces, i);

                for (const char *const *text = interface->addresses; text && *text; text++) {
                        g_autofree char *address = g_strndup(*text, strcspn(*text, "/"));

                        ald_members_add_said(query->members, address, node);
                }
        }
}

static int read_page(AldAddressQuery *query, sd_bus_message *message, const char **ret_next)
{
        g_auto(AldUpdateRow) row = {};
        int r = sd_bus_message_enter_container(message, 'a', ALD_UPDATE_SIGNATURE);

        while (r >= 0 && (r = ald_update_bus_read(message, &row)) > 0)
                if (row.refusal == 0 && row.update.record && !g_str_equal(row.node, query->own_id))
                        add_addresses(query, row.node, ald_record_as(row.update.record, NETWORK, AldNetwork));
        if (r >= 0)
                r = sd_bus_message_exit_container(message);
        return r < 0 ? r : sd_bus_message_read(message, "s", ret_next);
}

static void complain(AldAddressQuery *query, int error)
{
        if (!query->complained)
                g_info("%s does not tell the addresses of the nodes: %s", STATE_NAME, g_strerror(-error));
        query->complained = true;
}

static void ask(AldAddressQuery *query, const char *after);

static int on_page(sd_bus_message *reply, void *userdata, sd_bus_error *error)
{
        AldAddressQuery *query = userdata;
        const char *next = "";
        int r = sd_bus_message_is_method_error(reply, NULL) ? -sd_bus_message_get_errno(reply)
                                                            : read_page(query, reply, &next);

        query->slot = sd_bus_slot_unref(query->slot);
        if (r < 0) {
                complain(query, r);
        } else if (*next != '\0' && ++query->pages < PAGES_MAX) {
                ask(query, next);
        } else {
                ald_members_end_said(query->members);
                query->complained = false;
                query->asked = g_get_monotonic_time();
        }
        return 0;
}

static void ask(AldAddressQuery *query, const char *after)
{
        int r = sd_bus_call_method_async(ald_service_bus(query->service), &query->slot, STATE_NAME,
                STATE_PATH, STATE_NAME, "GetRecords", on_page, query, "sst", ald_kinds[ALD_KIND_NETWORK].name,
                after, (uint64_t) RECORDS_MAX);

        if (r < 0)
                complain(query, r);
}

void ald_address_query_run(AldAddressQuery *query, bool now)
{
        bool is_recent = query->asked != 0 && g_get_monotonic_time() - query->asked < (gint64) PERIOD_USEC;

        if (query->slot || (is_recent && !now))
                return;
        query->pages = 0;
        ald_members_begin_said(query->members);
        ask(query, "");
}
