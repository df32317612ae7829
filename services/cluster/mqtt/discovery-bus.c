/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include "services/cluster/mqtt/discovery-bus.h"
#include "services/cluster/mqtt/found-service.h"
#include "services/common/back-off.h"
#include "services/common/peer.h"

#define NAME "org.freedesktop.Avahi"
#define SERVER "org.freedesktop.Avahi.Server"
#define BROWSER "org.freedesktop.Avahi.ServiceBrowser"
#define TYPE "_secure-mqtt._tcp"

#define ITEMS_MAX 256u /* services that are resolved */
#define QUERIES_MAX 8u /* at a time */
#define RETRY_USEC (30 * G_USEC_PER_SEC)

typedef struct Item {
        AldFoundService service; /* must be the first member */
        AldDiscovery *discovery;
        sd_bus_slot *query;
        bool answered; /* or refused; refused ones are asked again after a while */
} Item;

struct AldDiscovery {
        sd_bus *bus;
        AldPeer *peer;
        char *wanted; /* entry of the TXT record */
        AldBackOff *retry;
        sd_bus_slot *browse; /* pending call */
        char *browser;       /* path of the browser that Avahi created, or NULL */
        GPtrArray *items;
        unsigned n_queries;
        bool complete; /* Avahi has listed everything that it knew at the start */
        AldDiscovered discovered;
        void *userdata;
};

static void free_item(gpointer data)
{
        Item *item = data;

        if (item->query)
                item->discovery->n_queries--;
        sd_bus_slot_unref(item->query);
        g_free(item->service.name);
        g_free(item->service.domain);
        g_free(item);
}

/* Reports what was found, once Avahi has nothing more for now; until then earlier results remain. */
static void report_found(AldDiscovery *discovery)
{
        AldBrokerAddress found[ALD_DISCOVERY_MAX];
        size_t n;

        if (!discovery->complete || discovery->n_queries > 0)
                return;
        n = ald_found_choose(discovery->items, found, G_N_ELEMENTS(found));
        discovery->discovered(found, n, discovery->userdata);
}

static int read_txt(sd_bus_message *reply, const char *wanted, bool *ret)
{
        const void *text;
        bool found = false;
        size_t size;
        int r = sd_bus_message_enter_container(reply, 'a', "ay");

        while (r >= 0 && (r = sd_bus_message_read_array(reply, 'y', &text, &size)) > 0)
                if (size == strlen(wanted) && memcmp(text, wanted, size) == 0)
                        found = true;
        if (r < 0)
                return r;
        *ret = found;
        return 0;
}

static int read_service(Item *item, sd_bus_message *reply)
{
        const char *host;
        uint16_t port;
        bool ours;
        int32_t interface;
        int r;

        r = sd_bus_message_read(
                reply, "iissssisq", &interface, NULL, NULL, NULL, NULL, NULL, NULL, &host, &port);
        if (r >= 0)
                r = read_txt(reply, item->discovery->wanted, &ours);
        if (r < 0)
                return r;
        if (ours)
                item->service.ours = ald_found_read_address(interface, host, port, &item->service.address) >=
                                     0;
        return 0;
}

static void resolve_more(AldDiscovery *discovery);

static int on_resolved(sd_bus_message *reply, void *userdata, sd_bus_error *unused)
{
        Item *item = userdata;
        AldDiscovery *discovery = item->discovery;
        const sd_bus_error *error = sd_bus_message_get_error(reply);
        int r = error ? -sd_bus_message_get_errno(reply) : read_service(item, reply);

        item->query = sd_bus_slot_unref(item->query);
        discovery->n_queries--;
        if (r < 0) {
                g_debug("Avahi cannot resolve %s: %s", item->service.name,
                        error && error->message ? error->message : g_strerror(-r));
                ald_back_off_failed(discovery->retry);
        }
        resolve_more(discovery);
        report_found(discovery);
        return 0;
}

static int resolve_item(Item *item)
{
        AldDiscovery *discovery = item->discovery;
        int r;

        item->answered = true;
        r = sd_bus_call_method_async(discovery->bus, &item->query, NAME, "/", SERVER, "ResolveService",
                on_resolved, item, "iisssiu", item->service.interface, item->service.protocol,
                item->service.name, TYPE, item->service.domain, item->service.protocol, (uint32_t) 0);
        if (r >= 0)
                discovery->n_queries++;
        return r;
}

static void resolve_more(AldDiscovery *discovery)
{
        for (guint i = 0; i < discovery->items->len && discovery->n_queries < QUERIES_MAX; i++) {
                Item *item = discovery->items->pdata[i];

                if (!item->answered && resolve_item(item) < 0)
                        break;
        }
}

/* Reads ItemNew or ItemRemove, which have the same arguments. The strings stay the message's. */
static int read_service_name(sd_bus_message *signal, AldFoundService *ret)
{
        AldFoundService service = { 0 };
        const char *type;
        int r = sd_bus_message_read(signal, "iisss", &service.interface, &service.protocol, &service.name,
                &type, &service.domain);

        if (r < 0)
                return r;
        if (!g_str_equal(type, TYPE))
                return -ENOENT;
        *ret = service;
        return 0;
}

static bool find_item(AldDiscovery *discovery, const AldFoundService *wanted, guint *ret)
{
        for (guint i = 0; i < discovery->items->len; i++) {
                const AldFoundService *service = discovery->items->pdata[i];

                if (service->interface == wanted->interface && service->protocol == wanted->protocol &&
                        ald_found_same_service(service, wanted)) {
                        *ret = i;
                        return true;
                }
        }
        return false;
}

static int on_new(sd_bus_message *signal, void *userdata, sd_bus_error *error)
{
        AldDiscovery *discovery = userdata;
        AldFoundService service = { 0 };
        Item *item;
        guint index;

        if (read_service_name(signal, &service) < 0 || find_item(discovery, &service, &index))
                return 0;
        if (discovery->items->len >= ITEMS_MAX) {
                g_debug("Avahi found more than %u services; ignoring %s", ITEMS_MAX, service.name);
                return 0;
        }
        item = g_new0(Item, 1);
        item->service = service;
        item->discovery = discovery;
        item->service.name = g_strdup(service.name);
        item->service.domain = g_strdup(service.domain);
        g_ptr_array_add(discovery->items, item);
        resolve_more(discovery);
        return 0;
}

static int on_remove(sd_bus_message *signal, void *userdata, sd_bus_error *error)
{
        AldDiscovery *discovery = userdata;
        AldFoundService service = { 0 };
        guint index;

        if (read_service_name(signal, &service) < 0 || !find_item(discovery, &service, &index))
                return 0;
        g_ptr_array_remove_index_fast(discovery->items, index);
        resolve_more(discovery);
        report_found(discovery);
        return 0;
}

static int on_all(sd_bus_message *signal, void *userdata, sd_bus_error *error)
{
        AldDiscovery *discovery = userdata;

        discovery->complete = true;
        report_found(discovery);
        return 0;
}

static int on_browsing(sd_bus_message *reply, void *userdata, sd_bus_error *unused)
{
        AldDiscovery *discovery = userdata;
        const sd_bus_error *error = sd_bus_message_get_error(reply);
        const char *path;

        discovery->browse = sd_bus_slot_unref(discovery->browse);
        if (error) {
                g_warning("Avahi cannot browse for brokers: %s", error->message);
                ald_back_off_failed(discovery->retry);
        } else if (sd_bus_message_read(reply, "o", &path) >= 0) {
                discovery->browser = g_strdup(path);
        }
        return 0;
}

static void start_browsing(AldDiscovery *discovery)
{
        int r = sd_bus_call_method_async(discovery->bus, &discovery->browse, NAME, "/", SERVER,
                "ServiceBrowserNew", on_browsing, discovery, "iissu", (int32_t) -1, (int32_t) -1, TYPE, "",
                (uint32_t) 0);

        if (r >= 0)
                return;
        g_warning("Cannot ask Avahi for brokers: %s", g_strerror(-r));
        ald_back_off_failed(discovery->retry);
}

static void on_retry(void *userdata)
{
        AldDiscovery *discovery = userdata;

        if (ald_peer_owner(discovery->peer) && !discovery->browser && !discovery->browse)
                start_browsing(discovery);
        for (guint i = 0; i < discovery->items->len; i++) {
                Item *item = discovery->items->pdata[i];

                item->answered = item->service.ours || item->query;
        }
        resolve_more(discovery);
}

static void on_owner(AldPeer *peer, const char *owner, void *userdata)
{
        AldDiscovery *discovery = userdata;

        g_ptr_array_set_size(discovery->items, 0);
        discovery->browse = sd_bus_slot_unref(discovery->browse);
        g_clear_pointer(&discovery->browser, g_free);
        discovery->complete = false;
        if (owner)
                start_browsing(discovery);
}

static int match_signals(AldDiscovery *discovery)
{
        static const struct {
                const char *member;
                sd_bus_message_handler_t handler;
        } signals[] = { { "ItemNew", on_new }, { "ItemRemove", on_remove }, { "AllForNow", on_all } };
        int r = 0;

        for (size_t i = 0; i < G_N_ELEMENTS(signals) && r >= 0; i++)
                r = ald_peer_match_signal(
                        discovery->peer, NULL, BROWSER, signals[i].member, NULL, signals[i].handler);
        return r;
}

int ald_discovery_new(AldService *service, const char *cluster, AldDiscovered discovered, void *userdata,
        AldDiscovery **ret)
{
        static const AldBackOffDelays delays = { RETRY_USEC, RETRY_USEC, RETRY_USEC };
        g_autoptr(AldDiscovery) discovery = NULL;
        sd_bus *bus = ald_service_system_bus(service);
        int r;

        if (!bus)
                return 0;
        discovery = g_new0(AldDiscovery, 1);
        discovery->bus = sd_bus_ref(bus);
        discovery->wanted = g_strdup_printf("cluster=%s", cluster);
        discovery->items = g_ptr_array_new_with_free_func(free_item);
        discovery->retry = ald_back_off_new("discovery", &delays, on_retry, discovery);
        discovery->discovered = discovered;
        discovery->userdata = userdata;
        r = ald_peer_new(service, bus, NAME, on_owner, discovery, &discovery->peer);
        if (r >= 0)
                r = match_signals(discovery);
        if (r < 0)
                return r;
        *ret = g_steal_pointer(&discovery);
        return 0;
}

void ald_discovery_free(AldDiscovery *discovery)
{
        if (!discovery)
                return;
        if (discovery->browser)
                (void) sd_bus_call_method_async(
                        discovery->bus, NULL, NAME, discovery->browser, BROWSER, "Free", NULL, NULL, "");
        g_free(discovery->browser);
        ald_peer_free(discovery->peer);
        sd_bus_slot_unref(discovery->browse);
        g_ptr_array_unref(discovery->items);
        ald_back_off_free(discovery->retry);
        sd_bus_unref(discovery->bus);
        g_free(discovery->wanted);
        g_free(discovery);
}
