/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "services/link-probe/link-probe-bus.h"
#include "common/bus-cleanup.h"
#include "services/common/record-export.h"
#include "services/common/vtables.h"
#include "services/link-probe/inhibit/inhibit-bus.h"
#include "services/link-probe/job/job-paths.h"
#include "services/link-probe/job/jobs-bus.h"
#include "services/link-probe/kinds/probe-kinds.h"
#include "services/link-probe/probe-bus.h"
#include "services/link-probe/results-bus.h"

#define INTERFACE "org.alidade.LinkProbe1"

struct AldLinkProbeBus {
        AldService *service;
        AldLinkProbeManager *manager;
        AldResultsBus *results;
        AldJobsBus *jobs;
        AldRecordExport *policy;
        AldProperties properties;
        guint update;
        sd_bus_slot *object_manager;
};

static void read_properties(const void *of, void *ret, GPtrArray *owned)
{
        const AldLinkProbeBus *self = of;
        const AldProber *prober = ald_link_probe_manager_prober(self->manager);
        const AldReception *reception = ald_link_probe_manager_reception(self->manager);
        unsigned active = ald_prober_count(prober) + ald_sessions_count(ald_reception_sessions(reception));
        const AldProbe *probe = ald_prober_running(prober, &ald_probe_compute);
        const char **inhibited = g_new(const char *, ALD_INHIBIT_KINDS + 1);

        g_ptr_array_add(owned, inhibited);
        ald_inhibit_what_words(
                ald_inhibitors_what(ald_link_probe_manager_inhibitors(self->manager)), inhibited);
        *(AldLinkProbeProperties *) ret = (AldLinkProbeProperties){
                .probing = active > 0,
                .active_probes = active,
                .port = ald_reception_port(reception),
                .problem = ald_gate_problem(ald_link_probe_manager_gate(self->manager)) ?: "",
                .compute_device = probe ? ald_probe_target(probe)->device : "",
                .time_to_free_usec = ald_prober_time_to_free(prober, &ald_probe_compute),
                .inhibited = inhibited,
                .refused_sessions = ald_reception_refused(reception),
                .refused_signals = ald_service_refused_signals(self->service),
        };
}

static int update_policy(AldLinkProbeBus *self)
{
        g_auto(AldPolicy) policy;

        ald_gate_policy(ald_link_probe_manager_gate(self->manager), &policy);
        return ald_record_export_update(self->policy, &policy.fields);
}

static gboolean on_update(gpointer userdata)
{
        AldLinkProbeBus *self = userdata;

        self->update = 0;
        ald_properties_emit(&self->properties);
        (void) update_policy(self);
        return G_SOURCE_REMOVE;
}

/* Emits simultaneous changes together, and none that was reverted meanwhile. */
static void on_changed(void *userdata)
{
        AldLinkProbeBus *self = userdata;

        if (self->update == 0)
                self->update = g_idle_add_full(G_PRIORITY_DEFAULT, on_update, self, NULL);
}

static int method_probe_link(sd_bus_message *message, void *userdata, sd_bus_error *error)
{
        const AldLinkProbeBus *self = userdata;

        return ald_probe_bus_handle(
                self->service, message, self->manager, &ald_probe_socket, method_probe_link, userdata, error);
}

static int method_probe_rdma(sd_bus_message *message, void *userdata, sd_bus_error *error)
{
        const AldLinkProbeBus *self = userdata;

        return ald_probe_bus_handle(
                self->service, message, self->manager, &ald_probe_rdma, method_probe_rdma, userdata, error);
}

static int method_probe_compute(sd_bus_message *message, void *userdata, sd_bus_error *error)
{
        const AldLinkProbeBus *self = userdata;

        return ald_probe_bus_handle(self->service, message, self->manager, &ald_probe_compute,
                method_probe_compute, userdata, error);
}

static int method_probe_storage(sd_bus_message *message, void *userdata, sd_bus_error *error)
{
        const AldLinkProbeBus *self = userdata;

        return ald_probe_bus_handle(self->service, message, self->manager, &ald_probe_storage,
                method_probe_storage, userdata, error);
}

static int method_list_jobs(sd_bus_message *message, void *userdata, sd_bus_error *error)
{
        AldLinkProbeBus *self = userdata;
        g_autoptr(AldMessage) reply = NULL;
        int r;

        r = sd_bus_message_new_method_return(message, &reply);
        if (r >= 0)
                r = ald_jobs_bus_append_list(
                        reply, ald_measure_requests_jobs(ald_link_probe_manager_requests(self->manager)));
        return r < 0 ? r : sd_bus_send(NULL, reply, NULL);
}

static int method_inhibit(sd_bus_message *message, void *userdata, sd_bus_error *error)
{
        AldLinkProbeBus *self = userdata;
        int r = ald_inhibit_bus_inhibit(message, ald_link_probe_manager_inhibitors(self->manager), error);

        /* The caller may read Inhibited next. */
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

static const sd_bus_vtable vtable[] = { ALD_LINK_PROBE1_VTABLE(AldLinkProbeBus) };

int ald_link_probe_bus_new(AldService *service, AldLinkProbeManager *manager, AldLinkProbeBus **ret)
{
        g_autoptr(AldLinkProbeBus) self = g_new0(AldLinkProbeBus, 1);
        sd_bus *bus = ald_service_bus(service);
        int r;

        self->service = service;
        self->manager = manager;
        self->properties = (AldProperties){ .service = service,
                .interface = INTERFACE,
                .type = &ald_link_probe_properties_struct,
                .read = read_properties,
                .of = self };
        ald_link_probe_manager_watch(manager, on_changed, self);
        r = ald_properties_export(&self->properties, vtable);
        if (r >= 0)
                r = sd_bus_add_object_manager(bus, &self->object_manager, ALD_LINK_PROBE_PATH);
        if (r >= 0)
                r = ald_results_bus_new(service, ald_link_probe_manager_results(manager),
                        ald_link_probe_manager_schedules(manager), &self->results);
        if (r >= 0)
                r = ald_jobs_bus_new(service,
                        ald_measure_requests_jobs(ald_link_probe_manager_requests(manager)), &self->jobs);
        if (r >= 0)
                r = ald_record_export_new(service, ALD_LINK_PROBE_PATH, ALD_KIND_PROBE_POLICY, &self->policy);
        if (r >= 0)
                r = update_policy(self);
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
        ald_record_export_free(self->policy);
        ald_jobs_bus_free(self->jobs);
        ald_results_bus_free(self->results);
        sd_bus_slot_unref(self->object_manager);
        ald_properties_clear(&self->properties);
        g_free(self);
}
