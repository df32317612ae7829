/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "services/link-probe/link/gate.h"
#include "services/common/errors.h"
#include "services/link-probe/link/busy.h"
#include "state/link/interface-roles.h"

struct AldGate {
        const AldLinkProbeConfig *config;
        const AldInhibitors *inhibitors;
        const AldMachine *machine;
        bool open;
        char *problem;
};

AldGate *ald_gate_new(
        const AldLinkProbeConfig *config, const AldInhibitors *inhibitors, const AldMachine *machine)
{
        AldGate *gate = g_new0(AldGate, 1);

        gate->config = config;
        gate->inhibitors = inhibitors;
        gate->machine = machine;
        return gate;
}

void ald_gate_free(AldGate *gate)
{
        if (!gate)
                return;
        g_free(gate->problem);
        g_free(gate);
}

void ald_gate_set_open(AldGate *gate, bool open, char *problem)
{
        if (problem && g_strcmp0(problem, gate->problem) != 0)
                g_warning("%s", problem);
        g_free(gate->problem);
        gate->problem = problem;
        gate->open = open;
}

const char *ald_gate_problem(const AldGate *gate)
{
        return gate->problem;
}

bool ald_gate_is_able(const AldGate *gate, const AldProbeKind *kind)
{
        return gate->open && (!ald_probe_kind_is_rdma(kind) || gate->config->rdma);
}

static bool is_inhibited(const AldGate *gate, const AldProbeKind *kind)
{
        return ald_inhibitors_what(gate->inhibitors) & kind->inhibit;
}

int ald_gate_check(const AldGate *gate, const AldProbeKind *kind, bool force)
{
        if (!kind->local && !ald_gate_is_able(gate, kind))
                return -ALD_E_NOT_JOINED;
        if (is_inhibited(gate, kind))
                return -ALD_E_INHIBITED;
        return kind->local && !force && ald_work_unit(ald_machine_work(gate->machine)) ? -ALD_E_BUSY : 0;
}

/* Links over RDMA also need an RDMA port. */
bool ald_gate_may_automatically(const AldGate *gate, const AldProbeKind *kind)
{
        return ald_gate_check(gate, kind, false) >= 0 &&
               (!ald_probe_kind_is_rdma(kind) || ald_counters_ports(ald_machine_counters(gate->machine)) > 0);
}

char *ald_gate_lock_reason(const AldGate *gate, const AldProbeKind *kind)
{
        g_autofree char *by = ald_inhibitors_reason(gate->inhibitors, kind->inhibit);

        return by ? g_strdup_printf("inhibited by %s", by) : NULL;
}

void ald_gate_policy(const AldGate *gate, AldPolicy *ret)
{
        g_autofree char *lock = ald_inhibitors_reason(gate->inhibitors, ALD_INHIBIT_LINK);
        const AldMachineState *state = ald_machine_state(gate->machine);
        uint64_t busy_since_usec;
        const char *work = ald_work_reason(ald_machine_work(gate->machine), &busy_since_usec);
        const AldPolicyInput input = {
                .enabled = gate->config->enabled,
                .problem = gate->problem,
                .hears_peers = gate->config->hears_peers,
                .rdma = gate->config->rdma,
                .lock = lock,
                .work = work,
                .busy_since_usec = busy_since_usec,
                .battery = state->battery,
                .resumed = state->resumed,
                .outside_hours = state->outside_hours,
                .bytes_per_hour = gate->config->bytes_per_hour,
                .interval_usec = gate->config->link_ttl_usec,
        };

        ald_policy_init(ret, &input);
}

bool ald_gate_may_load(const AldGate *gate)
{
        g_auto(AldPolicy) policy;

        ald_gate_policy(gate, &policy);
        return ald_policy_is_full(&policy);
}

bool ald_gate_may_load_first(const AldGate *gate)
{
        g_auto(AldPolicy) policy;

        ald_gate_policy(gate, &policy);
        return ald_probe_first_has_waited(policy.fields.busy_since_usec, ald_realtime_usec());
}

/* Returns why other nodes must not load links now, or NULL. They may not have received the policy yet, or may
 * ignore it. */
static char *why_not_to_load(const AldGate *gate, const AldNetwork *network, const char *port, bool overdue)
{
        const AldInterface *interface = network ? ald_rows_find(&network->interfaces, port) : NULL;
        g_auto(AldPolicy) policy;

        ald_gate_policy(gate, &policy);
        if (!ald_policy_is_full(&policy) &&
                !(overdue && ald_probe_first_has_waited(policy.fields.busy_since_usec, ald_realtime_usec())))
                return g_steal_pointer(&policy.reason);
        if (interface && ald_interface_is_metered(interface))
                return g_strdup_printf("%s is metered", port);
        return interface && ald_interface_is(interface, ALD_INTERFACE_TYPE_TUNNEL)
                       ? g_strdup_printf("%s is a tunnel", port)
                       : NULL;
}

char *ald_gate_refuse_session(const AldGate *gate, const AldProber *prober, const AldResults *results,
        const AldProbeKind *kind, const char *port, const AldProbeWanted *wanted, AldRefusal *ret_refusal)
{
        const AldNetwork *network = ald_prober_network(prober);
        bool inhibited = is_inhibited(gate, kind);
        char *reason = NULL;

        *ret_refusal = inhibited ? ALD_REFUSAL_INHIBITED : ALD_REFUSAL_BUSY;
        if (!ald_gate_is_able(gate, kind))
                return g_strdup_printf("it no longer measures %s", kind->noun);
        if (inhibited)
                return ald_inhibitors_reason(gate->inhibitors, kind->inhibit);
        if (ald_prober_uses_cpu(prober))
                return g_strdup("its processors are being measured");
        if (wanted->automatic && wanted->scope != ALD_LINK_SCOPE_ROUND_TRIPS)
                /* Sessions over RDMA do not say how old the figures are. */
                reason = why_not_to_load(
                        gate, network, port, wanted->overdue || ald_probe_kind_is_rdma(kind));
        if (reason)
                *ret_refusal = ALD_REFUSAL_ROUND_TRIPS_ONLY;
        else if (*port && !wanted->overdue)
                reason = ald_busy_reason(ald_machine_counters(gate->machine), results, network, port);
        return reason;
}
