/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>
#include <unistd.h>

#include "common/node-id.h"
#include "services/common/errors.h"
#include "services/common/timer.h"
#include "services/link-probe/kinds/probe-kinds.h"
#include "services/link-probe/link-probe-manager.h"
#include "services/link-probe/machine/power-bus.h"
#include "services/link-probe/machine/power.h"
#include "services/link-probe/machine/work.h"
#include "services/link-probe/net/busy.h"
#include "services/link-probe/net/listener.h"
#include "services/link-probe/net/member-addresses.h"
#include "services/link-probe/net/wifi.h"
#include "state/network.h"

#define RUNTIME_DIRECTORY_FALLBACK "/run/alidade/link-probe"

struct AldLinkProbeManager {
        AldService *service;
        void (*changed)(void *userdata); /* NULL if none */
        void *userdata;
        char own_id[ALD_NODE_ID_SIZE];
        AldLinkProbeConfig config;
        AldCredentials credentials;
        char *problem;
        AldProgram program;

        AldInhibitors *inhibitors;
        AldWork *work;
        AldPower *power;
        AldResume resume;
        bool resumed, battery, outside_hours; /* at the last tick */
        AldCounters *counters;
        AldMedia *media;
        AldStateQuery *query;
        AldMembers *members;
        AldAddresses *addresses; /* of the members */
        AldProber *prober;
        AldSessions *sessions;
        AldResults *results;
        AldSchedule *schedule;
        AldJobs *jobs;
        AldMeasureRequests *requests;
        AldComputeManager *computing;
        AldListener *listener;
        uint64_t refused_before; /* by listeners that are closed */
        uint64_t unknown_before; /* connections, when the addresses of the nodes were asked for */
        AldTimer *tick;
        gint64 next_tick;
};

static void notify(void *userdata)
{
        AldLinkProbeManager *manager = userdata;

        if (manager->changed)
                manager->changed(manager->userdata);
}

static bool is_held_off(const AldLinkProbeManager *manager, const AldProbeKind *kind)
{
        return ald_inhibitors_what(manager->inhibitors) & kind->inhibit;
}

static bool is_able(const AldLinkProbeManager *manager, const AldProbeKind *kind)
{
        return manager->listener && (!ald_probe_kind_is_rdma(kind) || manager->config.rdma);
}

static int may_measure(const AldProbeKind *kind, bool force, void *userdata)
{
        const AldLinkProbeManager *manager = userdata;

        if (!kind->is_local && !is_able(manager, kind))
                return -ALD_E_NOT_JOINED;
        if (is_held_off(manager, kind))
                return -ALD_E_INHIBITED;
        return kind->is_local && !force && ald_work_unit(manager->work) ? -ALD_E_BUSY : 0;
}

/* A machine without RDMA ports has no such links. */
static bool is_measured(const AldProbeKind *kind, void *userdata)
{
        const AldLinkProbeManager *manager = userdata;

        return may_measure(kind, false, userdata) >= 0 &&
               (!ald_probe_kind_is_rdma(kind) || ald_counters_ports(manager->counters) > 0);
}

static const AldNetwork *network_of(const AldLinkProbeManager *manager)
{
        return ald_record_as(ald_schedule_network(manager->schedule), NETWORK, AldNetwork);
}

static const AldNetwork *get_network(void *userdata)
{
        return network_of(userdata);
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
        ald_jobs_wake(manager->jobs);
}

static bool links_are_measured(void *userdata)
{
        const AldLinkProbeManager *manager = userdata;

        return ald_prober_count_links(manager->prober) + ald_sessions_count(manager->sessions) > 0;
}

/* The other end may not have received this yet, or may ignore it. */
static char *why_not_to_load(AldLinkProbeManager *manager, const char *port)
{
        const AldNetwork *network = network_of(manager);
        const AldInterface *interface = network ? ald_rows_find(&network->interfaces, port) : NULL;
        g_auto(AldPolicy) policy;

        ald_link_probe_manager_policy(manager, &policy);
        if (!ald_policy_is_full(&policy))
                return g_steal_pointer(&policy.reason);
        if (interface && ald_interface_is_metered(interface))
                return g_strdup_printf("%s is metered", port);
        return interface && ald_interface_is(interface, ALD_INTERFACE_TYPE_TUNNEL)
                       ? g_strdup_printf("%s is a tunnel", port)
                       : NULL;
}

static char *refuse_session(const AldProbeKind *kind, const char *port, const AldProbeWanted *wanted,
        AldRefusal *ret_refusal, void *userdata)
{
        AldLinkProbeManager *manager = userdata;
        bool inhibited = is_held_off(manager, kind);
        char *reason = NULL;

        *ret_refusal = inhibited ? ALD_REFUSAL_INHIBITED : ALD_REFUSAL_BUSY;
        if (!is_able(manager, kind))
                return g_strdup_printf("it no longer measures %s", kind->noun);
        if (inhibited)
                return ald_inhibitors_reason(manager->inhibitors, kind->inhibit);
        if (ald_prober_uses_cpu(manager->prober))
                return g_strdup("its processors are being measured");
        if (wanted->automatic && wanted->scope != ALD_LINK_SCOPE_ROUND_TRIPS)
                reason = why_not_to_load(manager, port);
        if (reason)
                *ret_refusal = ALD_REFUSAL_ROUND_TRIPS_ONLY;
        else if (*port && !wanted->overdue)
                reason = ald_busy_reason(manager->counters, manager->results, network_of(manager), port);
        return reason;
}

static void on_served(const char *interface, uint64_t rate, void *userdata)
{
        AldLinkProbeManager *manager = userdata;

        ald_results_note_rate(manager->results, interface, rate);
}

static void on_connection(int connection, bool rdma, const AldRemote *remote,
        const struct sockaddr_storage *local, void *userdata)
{
        AldLinkProbeManager *manager = userdata;
        const AldProbeKind *kind = rdma ? &ald_probe_rdma : &ald_probe_socket;
        char buffer[IFNAMSIZ];

        if (is_able(manager, kind))
                (void) ald_sessions_start(
                        manager->sessions, kind, connection, remote, ald_busy_interface(local, buffer));
        else
                manager->refused_before++;
        close(connection);
}

/* Results of requested probes are kept, too. */
static void on_measured(const AldProbe *probe, const AldProbeAnswer *answer, void *userdata)
{
        AldLinkProbeManager *manager = userdata;

        if (ald_probe_target(probe)->kind->is_local)
                ald_compute_manager_take(manager->computing, probe, answer);
        else
                ald_schedule_take(manager->schedule, probe, answer);
}

static char *in_the_way(const AldProbeTarget *target, void *userdata)
{
        AldLinkProbeManager *manager = userdata;

        return target->kind->is_local ? ald_compute_manager_obstacle(manager->computing, target) : NULL;
}

static bool is_ours(const char *device, void *userdata)
{
        const AldLinkProbeManager *manager = userdata;

        return ald_compute_manager_caused(manager->computing, device);
}

static void set_problem(AldLinkProbeManager *manager, char *problem)
{
        if (problem && g_strcmp0(problem, manager->problem) != 0)
                g_warning("%s", problem);
        g_free(manager->problem);
        manager->problem = problem;
}

static void stop(AldLinkProbeManager *manager, const AldProbeKind *kind, const char *reason)
{
        ald_schedule_stop(manager->schedule);
        ald_jobs_fail_all(manager->jobs, kind->kind, reason);
        ald_prober_end_kind(manager->prober, kind, reason);
        ald_sessions_end_all(manager->sessions, kind, reason);
}

static void close_listener(AldLinkProbeManager *manager)
{
        if (!manager->listener)
                return;
        manager->refused_before += ald_listener_refused(manager->listener);
        g_clear_pointer(&manager->listener, ald_listener_free);
        for (const AldProbeKind *const *kind = ald_probe_kinds; *kind; kind++)
                if (!(*kind)->is_local)
                        stop(manager, *kind, "this machine no longer measures links");
}

/* Whether the machine can measure and be measured: opens or closes the port accordingly. */
static void look(AldLinkProbeManager *manager)
{
        char *problem = manager->config.enabled ? ald_credentials_problem(&manager->credentials) : NULL;
        int r;

        if (!manager->config.enabled || problem ||
                (manager->listener && ald_listener_port(manager->listener) != manager->config.port))
                close_listener(manager);
        if (manager->config.enabled && !problem && !manager->listener) {
                r = ald_listener_new(
                        manager->config.port, manager->members, on_connection, manager, &manager->listener);
                if (r < 0)
                        problem = g_strdup_printf(
                                "Other nodes cannot reach this machine to measure links: port %u: %s",
                                manager->config.port, g_strerror(-r));
        }
        set_problem(manager, problem);
        notify(manager);
}

void ald_link_probe_manager_policy(AldLinkProbeManager *manager, AldPolicy *ret)
{
        g_autofree char *lock = ald_inhibitors_reason(manager->inhibitors, ALD_INHIBIT_LINK);
        const AldPolicyInput input = {
                .enabled = manager->config.enabled,
                .problem = manager->problem,
                .hears_peers = manager->config.hears_peers,
                .rdma = manager->config.rdma,
                .lock = lock,
                .work = ald_work_reason(manager->work),
                .battery = manager->battery,
                .resumed = manager->resumed,
                .outside_hours = manager->outside_hours,
                .bytes_per_hour = manager->config.bytes_per_hour,
                .interval_usec = manager->config.link_ttl_usec,
        };

        ald_policy_init(ret, &input);
}

static bool may_load(void *userdata)
{
        g_auto(AldPolicy) policy;

        ald_link_probe_manager_policy(userdata, &policy);
        return ald_policy_is_full(&policy);
}

static bool is_outside_hours(const AldLinkProbeManager *manager)
{
        g_autoptr(GDateTime) now = g_date_time_new_now_local();

        return now && !ald_probe_hours_contain(&manager->config.probe_hours,
                              (unsigned) (60 * g_date_time_get_hour(now) + g_date_time_get_minute(now)));
}

/* The reasons other than work why links must not be loaded. */
static void read_machine(AldLinkProbeManager *manager)
{
        struct timespec boottime;

        manager->battery = ald_power_on_battery(manager->power);
        manager->outside_hours = is_outside_hours(manager);
        if (clock_gettime(CLOCK_BOOTTIME, &boottime) >= 0)
                manager->resumed = ald_resume_note(&manager->resume,
                        (uint64_t) boottime.tv_sec * G_USEC_PER_SEC + (uint64_t) boottime.tv_nsec / 1000,
                        (uint64_t) g_get_monotonic_time());
}

/* Stops what loads links if they must no longer be loaded. */
static void yield_links(AldLinkProbeManager *manager)
{
        g_auto(AldPolicy) policy;

        ald_link_probe_manager_policy(manager, &policy);
        if (!ald_policy_is_full(&policy))
                ald_prober_end_automatic(manager->prober, policy.reason);
}

/* Connections from unknown addresses may be from nodes that have just joined. */
static void learn_addresses(AldLinkProbeManager *manager)
{
        uint64_t unknown = manager->listener ? ald_listener_unknown(manager->listener) : 0;

        if (manager->listener)
                ald_addresses_update(manager->addresses, unknown != manager->unknown_before);
        manager->unknown_before = unknown;
}

static void on_tick(void *userdata)
{
        AldLinkProbeManager *manager = userdata;

        set_tick(manager, ALD_TICK_USEC);
        read_machine(manager);
        look(manager);
        yield_links(manager);
        learn_addresses(manager);
        /* RDMA is never measured where sockets are not. */
        if (may_measure(&ald_probe_socket, false, manager) >= 0) {
                ald_jobs_step(manager->jobs);
                ald_schedule_run(manager->schedule);
        }
}

static void on_inhibitors(void *userdata)
{
        AldLinkProbeManager *manager = userdata;

        for (const AldProbeKind *const *kind = ald_probe_kinds; *kind; kind++) {
                g_autofree char *by = NULL, *reason = NULL;

                if ((*kind)->is_local || !is_held_off(manager, *kind))
                        continue;
                by = ald_inhibitors_reason(manager->inhibitors, (*kind)->inhibit);
                reason = g_strdup_printf("inhibited by %s", by);
                stop(manager, *kind, reason);
        }
        ald_compute_manager_check_work(manager->computing);
        yield_links(manager);
        notify(manager);
}

static void on_work(void *userdata)
{
        AldLinkProbeManager *manager = userdata;

        if (manager->computing)
                ald_compute_manager_check_work(manager->computing);
        if (manager->prober)
                yield_links(manager);
        notify(manager);
}

static char *inhibitors_directory(void)
{
        const char *directory = g_getenv("RUNTIME_DIRECTORY");

        return g_build_filename(
                directory && *directory ? directory : RUNTIME_DIRECTORY_FALLBACK, "inhibit", NULL);
}

static void make_parts(AldLinkProbeManager *manager)
{
        static const AldSessionsHandler sessions_handler = {
                .refuse = refuse_session,
                .network = get_network,
                .measured = on_served,
                .changed = notify,
        };
        int root = ald_service_root(manager->service);
        AldScheduleParts parts;

        manager->counters = ald_counters_new(root);
        manager->media = ald_media_new(root, ald_wifi_generation);
        manager->query = ald_state_query_new(ald_service_bus(manager->service));
        manager->prober = ald_prober_new(
                &manager->program, manager->counters, manager->media, manager->query, notify, manager);
        manager->members = ald_members_new();
        manager->addresses = ald_addresses_new(manager->query, manager->own_id, manager->members);
        manager->sessions = ald_sessions_new(&manager->program, manager->counters, manager->members,
                manager->query, &sessions_handler, manager);
        manager->results = ald_results_new(manager->own_id);
        parts = (AldScheduleParts){
                .own_id = manager->own_id,
                .config = &manager->config,
                .query = manager->query,
                .prober = manager->prober,
                .sessions = manager->sessions,
                .counters = manager->counters,
                .results = manager->results,
                .may = is_measured,
                .may_load = may_load,
                .ended = on_probe_ended,
                .userdata = manager,
        };
        manager->schedule = ald_schedule_new(&parts);
}

static void make_computing(AldLinkProbeManager *manager)
{
        const AldComputeManagerParts parts = {
                .service = manager->service,
                .own_id = manager->own_id,
                .query = manager->query,
                .prober = manager->prober,
                .inhibitors = manager->inhibitors,
                .work = manager->work,
                .jobs = manager->jobs,
                .links_are_measured = links_are_measured,
                .userdata = manager,
        };

        manager->computing = ald_compute_manager_new(&parts);
        ald_compute_manager_enable(manager->computing, manager->config.compute);
}

static void make_jobs(AldLinkProbeManager *manager)
{
        const AldJobsParts jobs_parts = {
                .own_id = manager->own_id,
                .prober = manager->prober,
                .in_the_way = in_the_way,
                .measured = on_measured,
                .userdata = manager,
        };
        AldMeasureRequestsParts parts;

        manager->jobs = ald_jobs_new(&jobs_parts);
        parts = (AldMeasureRequestsParts){
                .own_id = manager->own_id,
                .query = manager->query,
                .jobs = manager->jobs,
                .results = manager->results,
                .allowed = may_measure,
                .is_ours = is_ours,
                .userdata = manager,
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
        make_parts(manager);
        manager->inhibitors = ald_inhibitors_new(directory, on_inhibitors, manager);
        manager->power = ald_power_new(service);
        manager->work = ald_work_new(service, manager->inhibitors, on_work, manager);
        ald_work_configure(manager->work, ald_service_config(service));
        make_jobs(manager);
        make_computing(manager);
        manager->tick = ald_timer_new("tick", on_tick, manager);
        look(manager);
        set_tick(manager, 0);
        *ret = manager;
        return 0;
}

void ald_link_probe_manager_free(AldLinkProbeManager *manager)
{
        if (!manager)
                return;
        ald_listener_free(manager->listener);
        g_clear_pointer(&manager->tick, ald_timer_free);
        ald_state_query_free(manager->query);
        ald_measure_requests_free(manager->requests);
        ald_addresses_free(manager->addresses);
        ald_sessions_free(manager->sessions);
        ald_members_free(manager->members);
        ald_prober_free(manager->prober);
        ald_compute_manager_free(manager->computing);
        ald_jobs_free(manager->jobs);
        ald_schedule_free(manager->schedule);
        ald_results_free(manager->results);
        ald_media_free(manager->media);
        ald_counters_free(manager->counters);
        ald_work_free(manager->work);
        ald_power_free(manager->power);
        ald_inhibitors_free(manager->inhibitors);
        ald_credentials_clear(&manager->credentials);
        g_free(manager->problem);
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
        ald_work_configure(manager->work, ald_service_config(manager->service));
        ald_compute_manager_enable(manager->computing, manager->config.compute);
        if (!manager->config.rdma)
                stop(manager, &ald_probe_rdma, "this machine no longer measures links over RDMA");
        on_tick(manager);
}

AldInhibitors *ald_link_probe_manager_inhibitors(AldLinkProbeManager *manager)
{
        return manager->inhibitors;
}

AldJobs *ald_link_probe_manager_jobs(AldLinkProbeManager *manager)
{
        return manager->jobs;
}

AldResults *ald_link_probe_manager_results(AldLinkProbeManager *manager)
{
        return manager->results;
}

const AldProber *ald_link_probe_manager_prober(const AldLinkProbeManager *manager)
{
        return manager->prober;
}

AldComputeManager *ald_link_probe_manager_computing(AldLinkProbeManager *manager)
{
        return manager->computing;
}

unsigned ald_link_probe_manager_active(const AldLinkProbeManager *manager)
{
        return ald_prober_count(manager->prober) + ald_sessions_count(manager->sessions);
}

unsigned ald_link_probe_manager_port(const AldLinkProbeManager *manager)
{
        return manager->listener ? ald_listener_port(manager->listener) : 0;
}

const char *ald_link_probe_manager_problem(const AldLinkProbeManager *manager)
{
        return manager->problem ?: "";
}

uint64_t ald_link_probe_manager_refused(const AldLinkProbeManager *manager)
{
        return manager->refused_before + ald_sessions_refused(manager->sessions) +
               (manager->listener ? ald_listener_refused(manager->listener) : 0);
}

const char *ald_link_probe_manager_unit(const AldLinkProbeManager *manager)
{
        return ald_work_unit(manager->work);
}

int ald_link_probe_manager_probe(AldLinkProbeManager *manager, const AldMeasureRequest *request,
        AldMeasureRequestAnswer answered, void *userdata)
{
        return ald_measure_requests_add(
                manager->requests, request, ald_schedule_network(manager->schedule), answered, userdata);
}
