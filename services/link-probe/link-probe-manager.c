/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "common/node-id.h"
#include "services/common/errors.h"
#include "services/common/timer.h"
#include "services/link-probe/kinds/probe-kinds.h"
#include "services/link-probe/link-probe-manager.h"

#define RUNTIME_DIRECTORY_FALLBACK "/run/alidade/link-probe"

struct AldLinkProbeManager {
        AldService *service;
        void (*changed)(void *userdata); /* NULL if none */
        void *userdata;
        char own_id[ALD_NODE_ID_SIZE];
        AldLinkProbeConfig config;
        AldCredentials credentials;
        AldProgram program;

        AldInhibitors *inhibitors;
        AldMachine *machine;
        AldGate *gate;
        AldStateQuery *query;
        AldProber *prober;
        AldResults *results; /* of links */
        AldReception *reception;
        AldSchedule *schedule;                     /* of links */
        AldDeviceSchedule *schedules[ALD_N_KINDS]; /* of local kinds */
        AldMeasureRequests *requests;
        AldTimer *tick;
        gint64 next_tick;
};

static void notify(void *userdata)
{
        AldLinkProbeManager *manager = userdata;

        if (manager->changed)
                manager->changed(manager->userdata);
}

static void set_tick(AldLinkProbeManager *manager, uint64_t delay)
{
        manager->next_tick = g_get_monotonic_time() + (gint64) delay;
        ald_timer_set(manager->tick, manager->next_tick);
}

static void on_probe_ended(uint64_t usec, void *userdata)
{
        AldLinkProbeManager *manager = userdata;

        if (manager->next_tick > g_get_monotonic_time() + (gint64) usec)
                set_tick(manager, usec);
        ald_jobs_wake(ald_measure_requests_jobs(manager->requests));
}

static void on_device_ended(void *userdata)
{
        const AldLinkProbeManager *manager = userdata;

        ald_jobs_step(ald_measure_requests_jobs(manager->requests));
}

static void stop_kind(AldLinkProbeManager *manager, const AldProbeKind *kind, const char *reason)
{
        if (!kind->local)
                ald_schedule_stop(manager->schedule);
        ald_jobs_fail_all(ald_measure_requests_jobs(manager->requests), kind->kind, reason);
        ald_prober_end_kind(manager->prober, kind, reason);
        ald_sessions_end_all(ald_reception_sessions(manager->reception), kind, reason);
}

static void refresh_reception(AldLinkProbeManager *manager)
{
        bool closed = ald_reception_refresh(manager->reception);

        for (const AldProbeKind *const *kind = ald_probe_kinds; closed && *kind; kind++)
                if (!(*kind)->local)
                        stop_kind(manager, *kind, "this machine no longer measures links");
        notify(manager);
}

static void on_tick(void *userdata)
{
        AldLinkProbeManager *manager = userdata;

        set_tick(manager, ALD_TICK_USEC);
        ald_machine_read(manager->machine, &manager->config.probe_hours);
        refresh_reception(manager);
        ald_schedule_check(manager->schedule);
        ald_reception_learn_addresses(manager->reception);
        ald_jobs_step(ald_measure_requests_jobs(manager->requests));
        /* RDMA is never measured where sockets are not. */
        if (ald_gate_check(manager->gate, &ald_probe_socket, false) >= 0)
                ald_schedule_run(manager->schedule);
}

/* Called possibly before the schedules exist, since the machine may report work first. */
static void check_schedules(AldLinkProbeManager *manager)
{
        for (AldKind kind = 0; kind < ALD_N_KINDS; kind++)
                if (manager->schedules[kind])
                        ald_device_schedule_check(manager->schedules[kind]);
        if (manager->schedule)
                ald_schedule_check(manager->schedule);
}

static void on_inhibitors(void *userdata)
{
        AldLinkProbeManager *manager = userdata;

        for (const AldProbeKind *const *kind = ald_probe_kinds; *kind; kind++) {
                g_autofree char *reason = ald_gate_lock_reason(manager->gate, *kind);

                if (reason)
                        stop_kind(manager, *kind, reason);
        }
        check_schedules(manager);
        notify(manager);
}

static void on_work(void *userdata)
{
        AldLinkProbeManager *manager = userdata;

        check_schedules(manager);
        notify(manager);
}

static char *inhibitors_directory(void)
{
        const char *directory = g_getenv("RUNTIME_DIRECTORY");

        return g_build_filename(
                directory && *directory ? directory : RUNTIME_DIRECTORY_FALLBACK, "inhibit", NULL);
}

static void create_link_parts(AldLinkProbeManager *manager)
{
        AldReceptionParts reception;
        AldScheduleParts parts;
        bool needed[ALD_N_KINDS];

        ald_probe_kinds_need(needed);
        manager->query = ald_state_query_new(ald_service_bus(manager->service), needed);
        manager->prober = ald_prober_new(
                &manager->program, manager->machine, manager->query, notify, manager);
        manager->results = ald_results_new(manager->own_id);
        reception = (AldReceptionParts){
                .own_id = manager->own_id,
                .gate = manager->gate,
                .sessions = { .program = &manager->program,
                        .gate = manager->gate,
                        .counters = ald_machine_counters(manager->machine),
                        .prober = manager->prober,
                        .results = manager->results,
                        .query = manager->query,
                        .changed = notify,
                        .userdata = manager },
        };
        manager->reception = ald_reception_new(&reception);
        parts = (AldScheduleParts){
                .own_id = manager->own_id,
                .config = &manager->config,
                .gate = manager->gate,
                .query = manager->query,
                .prober = manager->prober,
                .sessions = ald_reception_sessions(manager->reception),
                .counters = ald_machine_counters(manager->machine),
                .results = manager->results,
                .ended = on_probe_ended,
                .userdata = manager,
        };
        manager->schedule = ald_schedule_new(&parts);
}

static void create_device_schedule(AldLinkProbeManager *manager, const AldProbeKind *kind)
{
        const AldDeviceScheduleParts parts = {
                .kind = kind,
                .service = manager->service,
                .own_id = manager->own_id,
                .query = manager->query,
                .prober = manager->prober,
                .sessions = ald_reception_sessions(manager->reception),
                .gate = manager->gate,
                .machine = manager->machine,
                .ended = on_device_ended,
                .userdata = manager,
        };

        manager->schedules[kind->kind] = ald_device_schedule_new(&parts);
}

static void create_requests(AldLinkProbeManager *manager)
{
        const AldMeasureRequestsParts parts = {
                .gate = manager->gate,
                .query = manager->query,
                .results = manager->results,
                .jobs = { .own_id = manager->own_id,
                        .prober = manager->prober,
                        .schedule = manager->schedule,
                        .schedules = manager->schedules },
        };

        manager->requests = ald_measure_requests_new(&parts);
}

int ald_link_probe_manager_new(AldService *service, AldLinkProbeManager **ret)
{
        g_autofree char *directory = inhibitors_directory();
        char own_id[ALD_NODE_ID_SIZE];
        AldLinkProbeManager *manager;
        int r;

        r = ald_node_id(own_id);
        if (r < 0)
                return r;
        manager = g_new0(AldLinkProbeManager, 1);
        manager->service = service;
        memcpy(manager->own_id, own_id, sizeof own_id);
        ald_credentials_init(&manager->credentials);
        manager->config = ald_link_probe_config_read(ald_service_config(service));
        manager->program = (AldProgram){ .credentials = &manager->credentials, .config = &manager->config };
        manager->inhibitors = ald_inhibitors_new(directory, on_inhibitors, manager);
        manager->machine = ald_machine_new(service, manager->inhibitors, on_work, manager);
        manager->gate = ald_gate_new(&manager->config, manager->inhibitors, manager->machine);
        create_link_parts(manager);
        for (const AldProbeKind *const *kind = ald_probe_kinds; *kind; kind++)
                if ((*kind)->local)
                        create_device_schedule(manager, *kind);
        create_requests(manager);
        manager->tick = ald_timer_new("tick", on_tick, manager);
        refresh_reception(manager);
        set_tick(manager, 0);
        *ret = manager;
        return 0;
}

void ald_link_probe_manager_free(AldLinkProbeManager *manager)
{
        if (!manager)
                return;
        g_clear_pointer(&manager->tick, ald_timer_free);
        ald_state_query_free(manager->query);
        ald_measure_requests_free(manager->requests);
        ald_reception_free(manager->reception);
        ald_prober_free(manager->prober);
        for (AldKind kind = 0; kind < ALD_N_KINDS; kind++)
                ald_device_schedule_free(manager->schedules[kind]);
        ald_schedule_free(manager->schedule);
        ald_results_free(manager->results);
        ald_gate_free(manager->gate);
        ald_machine_free(manager->machine);
        ald_inhibitors_free(manager->inhibitors);
        ald_credentials_clear(&manager->credentials);
        g_free(manager);
}

void ald_link_probe_manager_watch(
        AldLinkProbeManager *manager, void (*changed)(void *userdata), void *userdata)
{
        manager->changed = changed;
        manager->userdata = userdata;
}

void ald_link_probe_manager_configure(AldLinkProbeManager *manager)
{
        manager->config = ald_link_probe_config_read(ald_service_config(manager->service));
        ald_work_configure(ald_machine_work(manager->machine), ald_service_config(manager->service));
        for (AldKind kind = 0; kind < ALD_N_KINDS; kind++)
                if (manager->schedules[kind])
                        ald_device_schedule_configure(manager->schedules[kind]);
        if (!manager->config.rdma)
                stop_kind(manager, &ald_probe_rdma, "this machine no longer measures links over RDMA");
        on_tick(manager);
}

const AldGate *ald_link_probe_manager_gate(const AldLinkProbeManager *manager)
{
        return manager->gate;
}

AldInhibitors *ald_link_probe_manager_inhibitors(AldLinkProbeManager *manager)
{
        return manager->inhibitors;
}

AldMeasureRequests *ald_link_probe_manager_requests(AldLinkProbeManager *manager)
{
        return manager->requests;
}

AldResults *ald_link_probe_manager_results(AldLinkProbeManager *manager)
{
        return manager->results;
}

const AldProber *ald_link_probe_manager_prober(const AldLinkProbeManager *manager)
{
        return manager->prober;
}

AldDeviceSchedule *const *ald_link_probe_manager_schedules(const AldLinkProbeManager *manager)
{
        return manager->schedules;
}

const AldReception *ald_link_probe_manager_reception(const AldLinkProbeManager *manager)
{
        return manager->reception;
}

const char *ald_link_probe_manager_unit(const AldLinkProbeManager *manager)
{
        return ald_work_unit(ald_machine_work(manager->machine));
}

const char *ald_link_probe_manager_processors(const AldLinkProbeManager *manager)
{
        return ald_work_processors(ald_machine_work(manager->machine));
}
