/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "record/record.h"
#include "services/common/errors.h"
#include "services/link-probe/net/route.h"
#include "services/link-probe/probe/probe-child.h"
#include "services/link-probe/probe/prober.h"

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

/* Over RDMA the control connection does not load the interface that it goes through. */
static const char *loaded_by(const AldProbeTarget *target, const char *interface)
{
        return ald_probe_kind_is_rdma(target->kind) ? target->source_port : interface;
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
        g_autofree char *phase = NULL;
        double fraction;

        if (probe->target.kind->read_progress(line, &probe->target, &phase, &fraction) >= 0)
                probe->handler->progress(probe, phase, fraction, probe->userdata);
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
        if (g_ptr_array_find(prober->probes, probe, &i))
                (void) g_ptr_array_steal_index_fast(prober->probes, i);
        prober->changed(prober->userdata);
        probe->handler->ended(probe, &probe->answer, probe->userdata);
        probe_free(probe);
}

static void on_ended(const char *output, const char *failure, void *userdata)
{
        AldProbe *probe = userdata;

        probe->target.kind->read(output, failure, &probe->target, &probe->answer);
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

static int start(AldProbe *probe)
{
        static const AldProbeChildHandler handler = { .line = on_line, .ended = on_ended };
        const AldProbeKind *kind = probe->target.kind;
        g_autofree char *program = ald_program_find(kind->program);
        g_autoptr(GPtrArray) arguments = kind->make_arguments(probe->prober->program, &probe->target);
        int r;

        g_ptr_array_add(arguments, NULL);
        r = ald_probe_child_new(program, (const char *const *) arguments->pdata, -1, kind->deadline_msec,
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

void ald_prober_end_all(AldProber *prober, const AldProbeKind *kind, const char *reason)
{
        for (unsigned i = 0; i < prober->probes->len; i++)
                if (ald_prober_at(prober, i)->target.kind == kind)
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
