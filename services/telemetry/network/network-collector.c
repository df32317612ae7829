/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <dlfcn.h>

#include "services/telemetry/network/network-collector.h"
#include "services/telemetry/network/network-merge.h"
#include "services/telemetry/network/network-nm.h"
#include "services/telemetry/network/network-rtnl.h"
#include "services/telemetry/network/network-type.h"

#define MODULE "alidade-network-nm.so"
#define SYMBOL "ald_network_nm_api"

/* Returns the path of the module, which lies beside the service, installed or just built; NULL
 * without /proc. */
static char *module_path(void)
{
        g_autofree char *program = g_file_read_link("/proc/self/exe", NULL);
        g_autofree char *folder = program ? g_path_get_dirname(program) : NULL;

        return folder ? g_build_filename(folder, MODULE, NULL) : NULL;
}

/*
 * Loads the module with libnm. libnm and its dependencies use more memory than the rest of the service, so
 * the module is loaded only if NetworkManager is on the bus. Returns NULL on failure, after logging it. The
 * module is never unloaded, since GObject types cannot be unregistered.
 */
static const AldNetworkNmApi *network_nm_module_load(void)
{
        g_autofree char *path = module_path();
        void *module = path ? dlopen(path, RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE) : NULL;
        const AldNetworkNmApi *api = module ? dlsym(module, SYMBOL) : NULL;

        if (!api)
                g_warning("Network interfaces are shown without NetworkManager: %s",
                        path ? dlerror() : "/proc is not there");
        return api;
}

/* The first event is reported at once; further ones within this time are reported together. */
#define QUIET_USEC (50 * G_TIME_SPAN_MILLISECOND)

struct AldNetworkCollector {
        int root;
        AldLinks *links;
        AldNetworkRtnl *rtnl;
        const AldNetworkNmApi *nm_api;
        AldNetworkNm *nm;
        bool nm_asked;
        AldNetworkRows *rows;
        guint report_source;
        gint64 reported_usec;
        bool links_known; /* the first dump of rtnetlink is complete */
        AldNetworkLeftOut logged;

        void (*changed)(void *userdata);
        void *userdata;
};

/* Marks the controllers of changed interfaces, and the interfaces on top of these, since their speed may have
 * changed, too. */
static void mark_affected(AldLinks *links)
{
        for (size_t i = 0; i < ald_links_count(links); i++) {
                const AldNetworkLink *link = ald_links_at(links, i);
                AldNetworkLink *controller = link->dirty ? ald_links_find(links, link->info.controller)
                                                         : NULL;

                if (controller)
                        controller->dirty = true;
        }
        for (size_t i = 0; i < ald_links_count(links); i++) {
                AldNetworkLink *link = ald_links_at(links, i);
                const AldNetworkLink *parent = ald_link_has_parent(&link->info)
                                                       ? ald_links_find(links, link->info.parent)
                                                       : NULL;

                if (parent && parent->dirty)
                        link->dirty = true;
        }
}

static void read_facts(AldNetworkCollector *collector)
{
        mark_affected(collector->links);
        for (size_t i = 0; i < ald_links_count(collector->links); i++) {
                AldNetworkLink *link = ald_links_at(collector->links, i);

                if (!link->dirty)
                        continue;
                ald_link_facts_read(&link->facts, collector->root, link->info.name, link->info.index,
                        link->info.carrier && ald_link_reports_speed(&link->info));
                link->dirty = false;
        }
}

static gboolean report_now(gpointer userdata)
{
        AldNetworkCollector *collector = userdata;

        collector->report_source = 0;
        collector->reported_usec = g_get_monotonic_time();
        collector->changed(collector->userdata);
        return G_SOURCE_REMOVE;
}

static void report_soon(AldNetworkCollector *collector)
{
        gint64 wait = collector->reported_usec + QUIET_USEC - g_get_monotonic_time();

        if (collector->report_source == 0)
                collector->report_source = g_timeout_add(
                        (guint) (CLAMP(wait, 0, QUIET_USEC) / G_TIME_SPAN_MILLISECOND), report_now,
                        collector);
}

static void on_links_changed(void *userdata)
{
        AldNetworkCollector *collector = userdata;

        collector->links_known = true;
        report_soon(collector);
}

/* Reports data of NetworkManager only once the interfaces that it belongs to are known. */
static void on_managed_changed(void *userdata)
{
        AldNetworkCollector *collector = userdata;

        if (collector->links_known)
                report_soon(collector);
}

AldNetworkCollector *ald_network_collector_new(int root, void (*changed)(void *userdata), void *userdata)
{
        AldNetworkCollector *collector = g_new(AldNetworkCollector, 1);

        *collector = (AldNetworkCollector){
                .root = root,
                .links = ald_links_new(),
                .reported_usec = -QUIET_USEC,
                .changed = changed,
                .userdata = userdata,
        };
        collector->rtnl = ald_network_rtnl_new(collector->links, on_links_changed, collector);
        return collector;
}

void ald_network_collector_free(AldNetworkCollector *collector)
{
        g_clear_handle_id(&collector->report_source, g_source_remove);
        if (collector->nm)
                collector->nm_api->stop(collector->nm);
        ald_network_rtnl_free(collector->rtnl);
        g_clear_pointer(&collector->rows, ald_network_rows_free);
        ald_links_free(collector->links);
        g_free(collector);
}

void ald_network_collector_use_nm(AldNetworkCollector *collector)
{
        if (collector->nm_asked)
                return;
        collector->nm_asked = true;
        collector->nm_api = network_nm_module_load();
        if (collector->nm_api)
                collector->nm = collector->nm_api->start(on_managed_changed, collector);
}

void ald_network_collector_fill(AldNetworkCollector *collector, AldNetwork *ret)
{
        static const AldManaged nothing;
        const AldManaged *managed = collector->nm ? collector->nm_api->read(collector->nm) : &nothing;
        AldNetworkLeftOut left_out;

        read_facts(collector);
        g_clear_pointer(&collector->rows, ald_network_rows_free);
        collector->rows = ald_network_merge(collector->links, managed);
        left_out = ald_network_rows_left_out(collector->rows);
        ald_network_left_out_report(&collector->logged, &left_out);
        *ret = *ald_network_rows_fields(collector->rows);
}
