/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "services/link-probe/link-probe-bus.h"
#include "common/bus-cleanup.h"
#include "services/common/record-export.h"
#include "services/link-probe/compute/compute-bus.h"
#include "services/link-probe/inhibit/inhibit-bus.h"
#include "services/link-probe/job/jobs-bus.h"
#include "services/link-probe/link/probe-link-bus.h"
#include "services/link-probe/link/results-bus.h"
#include "services/link-probe/paths.h"

#define INTERFACE "org.alidade.LinkProbe1"

/* The last signalled values of the properties that change. */
typedef struct Shown {
        int probing;
        uint64_t active, port;
        char *problem, *device;
        uint64_t time_to_free;
        unsigned inhibited;
} Shown;

struct AldLinkProbeBus {
        AldService *service;
        AldLinkProbeManager *manager;
        AldResultsBus *results;
        AldJobsBus *jobs;
        AldProbeLinkBus *probe_link;
        AldComputeBus *computing;
        AldRecordExport *policy;
        Shown shown;
        guint update;
        sd_bus_slot *slot, *object_manager;
};

static Shown look(AldLinkProbeManager *manager)
{
        const AldComputeManager *computing = ald_link_probe_manager_computing(manager);
        uint64_t active = ald_link_probe_manager_active(manager);

        return (Shown){
                .probing = active > 0,
                .active = active,
                .port = ald_link_probe_manager_port(manager),
                .problem = g_strdup(ald_link_probe_manager_problem(manager)),
                .device = g_strdup(ald_compute_manager_device(computing)),
                .time_to_free = ald_compute_manager_time_to_free(computing),
                .inhibited = ald_inhibitors_what(ald_link_probe_manager_inhibitors(manager)),
        };
}

static void emit_changes(AldLinkProbeBus *self, const Shown *before, const Shown *after)
{
        char *names[8] = { NULL };
        unsigned n = 0;
        int r;

        if (before->probing != after->probing)
                names[n++] = (char *) "Probing";
        if (before->active != after->active)
                names[n++] = (char *) "ActiveProbes";
        if (before->port != after->port)
                names[n++] = (char *) "Port";
        if (!g_str_equal(before->problem, after->problem))
                names[n++] = (char *) "Problem";
        if (!g_str_equal(before->device, after->device))
                names[n++] = (char *) "ComputeDevice";
        if (before->time_to_free != after->time_to_free)
                names[n++] = (char *) "TimeToFreeUSec";
        if (before->inhibited != after->inhibited)
                names[n++] = (char *) "Inhibited";
        if (n == 0)
                return;
        r = sd_bus_emit_properties_changed_strv(
                ald_service_bus(self->service), ALD_LINK_PROBE_PATH, INTERFACE, names);
        if (r < 0)
                g_warning("Cannot emit PropertiesChanged: %s", g_strerror(-r));
}

static int show_policy(AldLinkProbeBus *self)
{
        g_auto(AldPolicy) policy;

        ald_link_probe_manager_policy(self->manager, &policy);
        return ald_record_export_update(self->policy, &policy.fields);
}

static gboolean on_update(gpointer userdata)
{
        AldLinkProbeBus *self = userdata;
        Shown before = self->shown;

        self->update = 0;
        self->shown = look(self->manager);
        emit_changes(self, &before, &self->shown);
        (void) show_policy(self);
        g_free(before.problem);
        g_free(before.device);
        return G_SOURCE_REMOVE;
}

/* Simultaneous changes are signalled together, and reverted ones are not. */
static void on_changed(void *userdata)
{
        AldLinkProbeBus *self = userdata;

        if (self->update == 0)
                self->update = g_idle_add_full(G_PRIORITY_DEFAULT, on_update, self, NULL);
}

static int get_inhibited(sd_bus *bus, const char *path, const char *interface, const char *property,
        sd_bus_message *reply, void *userdata, sd_bus_error *error)
{
        const AldLinkProbeBus *self = userdata;
        const char *words[ALD_INHIBIT_KINDS + 1];

        ald_inhibit_what_words(ald_inhibitors_what(ald_link_probe_manager_inhibitors(self->manager)), words);
        return sd_bus_message_append_strv(reply, (char **) words);
}

static int get_refused_sessions(sd_bus *bus, const char *path, const char *interface, const char *property,
        sd_bus_message *reply, void *userdata, sd_bus_error *error)
{
        const AldLinkProbeBus *self = userdata;

        return sd_bus_message_append(reply, "t", ald_link_probe_manager_refused(self->manager));
}

static int get_refused_signals(sd_bus *bus, const char *path, const char *interface, const char *property,
        sd_bus_message *reply, void *userdata, sd_bus_error *error)
{
        const AldLinkProbeBus *self = userdata;

        return sd_bus_message_append(reply, "t", ald_service_refused_signals(self->service));
}

static int method_probe_link(sd_bus_message *message, void *userdata, sd_bus_error *error)
{
        AldLinkProbeBus *self = userdata;

        return ald_probe_link_bus_handle(message, self->probe_link, error);
}

static int method_probe_rdma(sd_bus_message *message, void *userdata, sd_bus_error *error)
{
        AldLinkProbeBus *self = userdata;

        return ald_probe_link_bus_handle_rdma(message, self->probe_link, error);
}

static int method_probe_compute(sd_bus_message *message, void *userdata, sd_bus_error *error)
{
        AldLinkProbeBus *self = userdata;

        return ald_compute_bus_handle(message, self->computing, error);
}

static int method_list_jobs(sd_bus_message *message, void *userdata, sd_bus_error *error)
{
        AldLinkProbeBus *self = userdata;
        g_autoptr(AldMessage) reply = NULL;
        int r;

        r = sd_bus_message_new_method_return(message, &reply);
        if (r >= 0)
                r = ald_jobs_bus_append_list(reply, ald_link_probe_manager_jobs(self->manager));
        return r < 0 ? r : sd_bus_send(NULL, reply, NULL);
}

static int method_inhibit(sd_bus_message *message, void *userdata, sd_bus_error *error)
{
        AldLinkProbeBus *self = userdata;
        int r = ald_inhibit_bus_inhibit(message, ald_link_probe_manager_inhibitors(self->manager), error);

        /* The caller may use it next. */
        if (self->update != 0) {
                g_source_remove(self->update);
                on_update(self);
        }
        return r;
}

static int method_release_inhibitor(sd_bus_message *message, void *userdata, sd_bus_error *error)
{
        AldLinkProbeBus *self = userdata;

        return ald_inhibit_bus_release(self->service, message,
                ald_link_probe_manager_inhibitors(self->manager), method_release_inhibitor, userdata, error);
}

static int method_list_inhibitors(sd_bus_message *message, void *userdata, sd_bus_error *error)
{
        AldLinkProbeBus *self = userdata;

        return ald_inhibit_bus_list(self->service, message, ald_link_probe_manager_inhibitors(self->manager));
}

#define CHANGING SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE
#define SHOWN(name, type, member) \
        SD_BUS_PROPERTY(name, type, NULL, offsetof(AldLinkProbeBus, shown.member), CHANGING)

static const sd_bus_vtable link_probe_vtable[] = {
        SD_BUS_VTABLE_START(0),
        SHOWN("Probing", "b", probing),
        SHOWN("ActiveProbes", "t", active),
        SHOWN("Port", "t", port),
        SHOWN("Problem", "s", problem),
        SHOWN("ComputeDevice", "s", device),
        SHOWN("TimeToFreeUSec", "t", time_to_free),
        SD_BUS_PROPERTY("Inhibited", "as", get_inhibited, 0, CHANGING),
        SD_BUS_PROPERTY("RefusedSessions", "t", get_refused_sessions, 0, 0),
        SD_BUS_PROPERTY("RefusedSignals", "t", get_refused_signals, 0, 0),
        SD_BUS_METHOD_WITH_ARGS("ProbeLink", SD_BUS_ARGS("s", Node, "a{sv}", Options),
                SD_BUS_RESULT("o", Job), method_probe_link, SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("ProbeRdma", SD_BUS_ARGS("s", Node, "a{sv}", Options),
                SD_BUS_RESULT("o", Job), method_probe_rdma, SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("ProbeCompute", SD_BUS_ARGS("s", Device, "a{sv}", Options),
                SD_BUS_RESULT("o", Job), method_probe_compute, SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("ListJobs", SD_BUS_NO_ARGS, SD_BUS_RESULT("a(os)", Jobs), method_list_jobs,
                SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("Inhibit", SD_BUS_ARGS("s", What, "s", Who, "s", Why),
                SD_BUS_RESULT("h", Lock), method_inhibit, SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("ListInhibitors", SD_BUS_NO_ARGS, SD_BUS_RESULT("a(sssuuu)", Inhibitors),
                method_list_inhibitors, SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("ReleaseInhibitor", SD_BUS_ARGS("u", Number), SD_BUS_NO_RESULT,
                method_release_inhibitor, SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_VTABLE_END,
};

/* A record shares the object, and one path has plain vtables or fallbacks. */
static int find_link_probe(sd_bus *bus, const char *path, const char *interface, void *userdata,
        void **ret_found, sd_bus_error *error)
{
        if (!g_str_equal(path, ALD_LINK_PROBE_PATH))
                return 0;
        *ret_found = userdata;
        return 1;
}

int ald_link_probe_bus_new(AldService *service, AldLinkProbeManager *manager, AldLinkProbeBus **ret)
{
        g_autoptr(AldLinkProbeBus) self = g_new0(AldLinkProbeBus, 1);
        sd_bus *bus = ald_service_bus(service);
        int r;

        self->service = service;
        self->manager = manager;
        self->probe_link = ald_probe_link_bus_new(service, manager);
        self->shown = look(manager);
        ald_link_probe_manager_watch(manager, on_changed, self);
        r = sd_bus_add_fallback_vtable(
                bus, &self->slot, ALD_LINK_PROBE_PATH, INTERFACE, link_probe_vtable, find_link_probe, self);
        if (r >= 0)
                r = sd_bus_add_object_manager(bus, &self->object_manager, ALD_LINK_PROBE_PATH);
        if (r >= 0)
                r = ald_results_bus_new(service, ald_link_probe_manager_results(manager), &self->results);
        if (r >= 0)
                r = ald_jobs_bus_new(service, ald_link_probe_manager_jobs(manager), &self->jobs);
        if (r >= 0)
                r = ald_record_export_new(service, ALD_LINK_PROBE_PATH, ALD_KIND_PROBE_POLICY, &self->policy);
        if (r >= 0)
                r = show_policy(self);
        if (r >= 0)
                r = ald_compute_bus_new(service, ald_link_probe_manager_computing(manager),
                        ald_link_probe_manager_inhibitors(manager), &self->computing);
        if (r < 0)
                return r;
        *ret = g_steal_pointer(&self);
        return 0;
}

void ald_link_probe_bus_free(AldLinkProbeBus *self)
{
        if (!self)
                return;
        ald_link_probe_manager_watch(self->manager, NULL, NULL);
        g_clear_handle_id(&self->update, g_source_remove);
        ald_compute_bus_free(self->computing);
        ald_record_export_free(self->policy);
        ald_jobs_bus_free(self->jobs);
        ald_results_bus_free(self->results);
        sd_bus_slot_unref(self->object_manager);
        sd_bus_slot_unref(self->slot);
        ald_probe_link_bus_free(self->probe_link);
        g_free(self->shown.problem);
        g_free(self->shown.device);
        g_free(self);
}
