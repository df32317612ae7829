/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include "record/record.h"
#include "services/common/errors.h"
#include "services/link-probe/kinds/link-validation.h"
#include "services/link-probe/net/route.h"
#include "services/link-probe/probe/probe-child.h"
#include "services/link-probe/probe/prober.h"

/* The program has shorter limits of its own; this one is for one that hangs. */
#define DEADLINE_MSEC 60000u

/* The longest brief measurement in each direction. */
#define BRIEF_SECONDS 2u

struct AldProbe {
        AldProber *prober;
        AldProbeTarget target;
        char interface[IFNAMSIZ];
        AldMedium medium;
        bool occupies; /* its interface or port */
        AldProbeChild *child;
        AldNodeRecords peer;
        bool asking; /* for the records of the peer */
        bool over;   /* its answer has arrived */
        AldProbeAnswer answer;
        char *reason; /* why it was ended, if it was */
        const AldProbeHandler *handler;
        void *userdata;
};

struct AldProber {
        const AldProgram *program;
        AldCounters *counters;
        AldMedia *media;
        AldStateQuery *nodes;
        AldNodeRecords own;
        GPtrArray *probes;
        bool held;
        void (*changed)(void *userdata);
        void *userdata;
};

int ald_probe_target_set(AldProbeTarget *target, const char *peer, const char *address, const char *interface)
{
        *target = (AldProbeTarget){ 0 };
        if (g_strlcpy(target->peer, peer, sizeof target->peer) >= sizeof target->peer ||
                g_strlcpy(target->address, address, sizeof target->address) >= sizeof target->address ||
                g_strlcpy(target->interface, interface ?: "", sizeof target->interface) >=
                        sizeof target->interface)
                return -EINVAL;
        return 0;
}

int ald_probe_target_set_ports(AldProbeTarget *target, const char *source_port, const char *sink_port)
{
        if (!ald_port_name_ok(source_port) || !ald_port_name_ok(sink_port))
                return -EINVAL;
        target->transport = ALD_TRANSPORT_RDMA;
        g_strlcpy(target->source_port, source_port, sizeof target->source_port);
        g_strlcpy(target->sink_port, sink_port, sizeof target->sink_port);
        return 0;
}

/* Over RDMA the control connection does not load the interface that it goes through. */
static const char *loaded_by(const AldProbeTarget *target, const char *interface)
{
        return target->transport == ALD_TRANSPORT_RDMA ? target->source_port : interface;
}

static void release(AldProbe *probe)
{
        if (probe->occupies)
                ald_counters_release(probe->prober->counters, loaded_by(&probe->target, probe->interface));
        probe->occupies = false;
}

static void probe_free(gpointer data)
{
        AldProbe *probe = data;

        ald_probe_child_free(probe->child);
        release(probe);
        ald_node_records_clear(&probe->peer);
        ald_probe_answer_clear(&probe->answer);
        g_free(probe->reason);
        g_free(probe);
}

AldProber *ald_prober_new(const AldProgram *program, AldCounters *counters, AldMedia *media,
        AldStateQuery *nodes, void (*changed)(void *userdata), void *userdata)
{
        AldProber *prober = g_new0(AldProber, 1);

        prober->program = program;
        prober->counters = counters;
        prober->media = media;
        prober->nodes = nodes;
        prober->changed = changed;
        prober->userdata = userdata;
        prober->probes = g_ptr_array_new_with_free_func(probe_free);
        return prober;
}

void ald_prober_free(AldProber *prober)
{
        if (!prober)
                return;
        g_ptr_array_unref(prober->probes);
        ald_node_records_clear(&prober->own);
        g_free(prober);
}

void ald_prober_set_own(AldProber *prober, const AldNodeRecords *own)
{
        AldNodeRecords held = ald_node_records_ref(own);

        ald_node_records_clear(&prober->own);
        prober->own = held;
}

void ald_prober_hold(AldProber *prober, bool hold)
{
        prober->held = hold;
}

static const AldNetwork *network_of(const AldProber *prober)
{
        return ald_record_as(prober->own.network, NETWORK, AldNetwork);
}

static void on_line(const char *line, void *userdata)
{
        AldProbe *probe = userdata;
        g_autoptr(AldRecord) record = NULL;
        const AldProbeProgress *progress;

        if (ald_probe_answer_parse(ALD_KIND_PROBE_PROGRESS, line, &record) < 0)
                return;
        progress = ald_record_as(record, PROBE_PROGRESS, AldProbeProgress);
        probe->handler->progress(probe, progress->phase, progress->fraction, probe->userdata);
}

/* Both its answer and the state service's have arrived. */
static void conclude(AldProbe *probe)
{
        AldProber *prober = probe->prober;
        unsigned i;

        /* A service that has just started did not know its own interfaces before. */
        probe->medium = ald_media_look(prober->media, network_of(prober), probe->interface);
        if (probe->reason) {
                ald_probe_answer_clear(&probe->answer);
                probe->answer = (AldProbeAnswer){
                        .verdict = ALD_PROBE_LATER,
                        .reason = g_strdup(probe->reason),
                };
        }
        ald_result_validate(&probe->target, &probe->answer);
        if (g_ptr_array_find(prober->probes, probe, &i))
                (void) g_ptr_array_steal_index_fast(prober->probes, i);
        prober->changed(prober->userdata);
        probe->handler->ended(probe, &probe->answer, probe->userdata);
        probe_free(probe);
}

static void on_ended(const char *output, const char *failure, void *userdata)
{
        AldProbe *probe = userdata;

        ald_probe_answer_read(
                ald_transports[probe->target.transport].result, output, failure, &probe->answer);
        /* The callback may start the next one at once. */
        release(probe);
        probe->over = true;
        if (!probe->asking)
                conclude(probe);
}

/* Without an answer the result lacks the fields about the peer. */
static void on_peer(int error, const AldNodeRecords *records, void *userdata)
{
        AldProbe *probe = userdata;

        probe->peer = ald_node_records_ref(records);
        probe->asking = false;
        if (probe->over)
                conclude(probe);
}

static GPtrArray *make_arguments(const AldProbe *probe)
{
        const AldProbeTarget *target = &probe->target;
        GPtrArray *arguments = ald_program_arguments(probe->prober->program);
        bool scoped = *target->interface != '\0' && ald_route_is_link_local(target->address);

        ald_program_add(arguments, "--connect=%s%s%s", target->address, scoped ? "%" : "",
                scoped ? target->interface : "");
        if (*target->interface && !scoped)
                ald_program_add(arguments, "--bind-device=%s", target->interface);
        ald_program_add(arguments, "--port=%u", probe->prober->program->config->port);
        ald_program_add(arguments, "--peer=%s", target->peer);
        ald_program_add(arguments, "--progress-fd=" ALD_PROBE_SIDE_FD);
        if (target->rtt_only)
                ald_program_add(arguments, "--rtt-only");
        else if (target->scope == ALD_LINK_SCOPE_CHECK)
                ald_program_add(arguments, "--check");
        else if (target->scope == ALD_LINK_SCOPE_ROUND_TRIPS)
                ald_program_add(arguments, "--round-trips");
        if (target->automatic)
                ald_program_add(arguments, "--automatic");
        if (target->overdue)
                ald_program_add(arguments, "--overdue");
        if (target->brief)
                ald_program_add(arguments, "--seconds-max=%u", BRIEF_SECONDS);
        if (target->transport == ALD_TRANSPORT_RDMA) {
                ald_program_add(arguments, "--device=%s", target->source_port);
                ald_program_add(arguments, "--peer-device=%s", target->sink_port);
        }
        g_ptr_array_add(arguments, NULL);
        return arguments;
}

static int start(AldProbe *probe)
{
        static const AldProbeChildHandler handler = { .line = on_line, .ended = on_ended };
        const char *program = probe->prober->program->paths[probe->target.transport];
        g_autoptr(GPtrArray) arguments = make_arguments(probe);
        int r = ald_probe_child_new(program, (const char *const *) arguments->pdata, -1, DEADLINE_MSEC,
                &handler, probe, &probe->child);

        if (r < 0)
                g_warning("Cannot run %s: %s", program, g_strerror(-r));
        return r;
}

static bool is_probed(const AldProber *prober, const char *peer)
{
        for (unsigned i = 0; i < prober->probes->len; i++)
                if (g_str_equal(ald_prober_at(prober, i)->target.peer, peer))
                        return true;
        return false;
}

int ald_prober_start(AldProber *prober, const AldProbeTarget *target, const AldProbeHandler *handler,
        void *userdata, AldProbe **ret)
{
        char interface[IFNAMSIZ];
        AldProbe *probe;
        int r;

        if (prober->held)
                return -ALD_E_BUSY;
        r = ald_route_lookup(target->address, *target->interface ? target->interface : NULL, interface);
        if (r < 0)
                return r;
        if (is_probed(prober, target->peer) ||
                ald_counters_occupy(prober->counters, network_of(prober), loaded_by(target, interface)) < 0)
                return -ALD_E_BUSY;
        probe = g_new0(AldProbe, 1);
        probe->prober = prober;
        probe->occupies = true;
        probe->target = *target;
        memcpy(probe->interface, interface, sizeof interface);
        probe->handler = handler;
        probe->userdata = userdata;
        r = start(probe);
        if (r < 0) {
                probe_free(probe);
                return r;
        }
        probe->asking = ald_state_query_node(prober->nodes, target->peer, on_peer, probe) >= 0;
        g_ptr_array_add(prober->probes, probe);
        *ret = probe;
        prober->changed(prober->userdata);
        return 0;
}

void ald_probe_end(AldProbe *probe, const char *reason)
{
        if (!probe->reason)
                probe->reason = g_strdup(reason);
        if (!probe->over)
                ald_probe_child_end(probe->child, reason);
}

void ald_prober_end_all(AldProber *prober, AldTransport transport, const char *reason)
{
        for (unsigned i = 0; i < prober->probes->len; i++)
                if (ald_prober_at(prober, i)->target.transport == transport)
                        ald_probe_end(prober->probes->pdata[i], reason);
}

void ald_prober_end_automatic(AldProber *prober, const char *reason)
{
        for (unsigned i = 0; i < prober->probes->len; i++) {
                const AldProbeTarget *target = ald_probe_target(ald_prober_at(prober, i));

                if (target->automatic && target->scope != ALD_LINK_SCOPE_ROUND_TRIPS)
                        ald_probe_end(prober->probes->pdata[i], reason);
        }
}

bool ald_probe_saw_errors(const AldProbe *probe)
{
        return probe->target.scope != ALD_LINK_SCOPE_FULL &&
               ald_counters_has_errors(probe->prober->counters, probe->interface);
}

const AldProbeTarget *ald_probe_target(const AldProbe *probe)
{
        return &probe->target;
}

const char *ald_probe_interface(const AldProbe *probe)
{
        return probe->interface;
}

const AldMedium *ald_probe_medium(const AldProbe *probe)
{
        return &probe->medium;
}

const AldNodeRecords *ald_probe_own(const AldProbe *probe)
{
        return &probe->prober->own;
}

const AldNodeRecords *ald_probe_peer(const AldProbe *probe)
{
        return &probe->peer;
}

unsigned ald_prober_count(const AldProber *prober)
{
        return prober->probes->len;
}

const AldProbe *ald_prober_at(const AldProber *prober, unsigned i)
{
        return prober->probes->pdata[i];
}
