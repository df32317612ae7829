/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <signal.h>
#include <string.h>

#include "record/figure-text.h"
#include "services/common/errors.h"
#include "services/link-probe/net/route.h"
#include "services/link-probe/probe/descendants.h"
#include "services/link-probe/probe/probe-child.h"
#include "services/link-probe/probe/prober.h"

/* A program that measures this machine stops its children and exits within this time, or is killed. */
#define END_MSEC 1000u

struct AldProbe {
        AldProber *prober;
        AldProbeTarget target;
        char interface[IFNAMSIZ];
        AldMedium medium;
        bool occupies; /* its interface or port is marked as occupied */
        AldProbeChild *child;
        AldNodeRecords peer;
        bool asking; /* the records of the peer were requested */
        bool over;   /* the program has ended */
        AldProbeAnswer answer;
        char *reason; /* why it was stopped; NULL if it was not */
        gint64 ended; /* when it was stopped, µs */
        bool free;    /* its device is free again */
        AldDescendants *rest;
        const AldProbeHandler *handler;
        void *userdata;
};

struct AldProber {
        const AldProgram *program;
        AldMachine *machine;
        AldStateQuery *nodes;
        AldNodeRecords own;
        GPtrArray *probes;
        uint64_t time_to_free[ALD_N_KINDS];
        void (*changed)(void *userdata);
        void *userdata;
};

/* Returns the interface or port that the probe loads. Over RDMA, that is not the interface of the control
 * connection. */
static const char *loaded_by(const AldProbeTarget *target, const char *interface)
{
        return ald_probe_kind_is_rdma(target->kind) ? target->source_port : interface;
}

static void release_interface(AldProbe *probe)
{
        if (probe->occupies)
                ald_counters_release(ald_machine_counters(probe->prober->machine),
                        loaded_by(&probe->target, probe->interface));
        probe->occupies = false;
}

static void probe_free(gpointer data)
{
        AldProbe *probe = data;

        ald_probe_child_free(probe->child);
        ald_descendants_free(probe->rest);
        release_interface(probe);
        ald_probe_target_clear(&probe->target);
        ald_node_records_clear(&probe->peer);
        ald_probe_answer_clear(&probe->answer);
        g_free(probe->reason);
        g_free(probe);
}

AldProber *ald_prober_new(const AldProgram *program, AldMachine *machine, AldStateQuery *nodes,
        void (*changed)(void *userdata), void *userdata)
{
        AldProber *prober = g_new0(AldProber, 1);

        prober->program = program;
        prober->machine = machine;
        prober->nodes = nodes;
        prober->changed = changed;
        prober->userdata = userdata;
        prober->probes = g_ptr_array_new_with_free_func(probe_free);
        for (AldKind kind = 0; kind < ALD_N_KINDS; kind++)
                prober->time_to_free[kind] = ALD_ABSENT_UINT64;
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

const AldNodeRecords *ald_prober_own(const AldProber *prober)
{
        return &prober->own;
}

void ald_prober_set_own(AldProber *prober, const AldNodeRecords *own)
{
        AldNodeRecords held = ald_node_records_ref(own);

        ald_node_records_clear(&prober->own);
        prober->own = held;
}

const AldNetwork *ald_prober_network(const AldProber *prober)
{
        return ald_node_records_as(&prober->own, NETWORK, AldNetwork);
}

static void on_line(const char *line, void *userdata)
{
        AldProbe *probe = userdata;
        g_autofree char *phase = NULL;
        double fraction;

        if (probe->handler->progress && !probe->reason &&
                probe->target.kind->read_progress(line, &probe->target, &phase, &fraction) >= 0)
                probe->handler->progress(probe, phase, fraction, probe->userdata);
}

/* Notes when the device became free. The program itself does not use it; if its children are unknown, its own
 * exit counts. */
static void note_device_free(AldProbe *probe)
{
        if (!probe->free)
                probe->prober->time_to_free[probe->target.kind->kind] = (uint64_t) (g_get_monotonic_time() -
                                                                                    probe->ended);
        probe->free = true;
}

/* A probe that was stopped has no result, only a reason. */
static void set_stopped_answer(AldProbe *probe)
{
        const AldProbeKind *kind = probe->target.kind;
        g_autofree char *duration = NULL;

        ald_probe_answer_clear(&probe->answer);
        probe->answer.verdict = ALD_PROBE_LATER;
        if (!kind->local) {
                probe->answer.reason = g_strdup(probe->reason);
                return;
        }
        note_device_free(probe);
        duration = ald_format_duration((double) probe->prober->time_to_free[kind->kind]);
        probe->answer.reason = g_strdup_printf("%s; the device was free after %s", probe->reason, duration);
        g_message("Stopped measuring %s: %s", probe->target.device, probe->answer.reason);
}

/* Ends the probe: its answer and the reply of the state service have arrived, and none of its processes is
 * left. */
static void conclude(AldProbe *probe)
{
        AldProber *prober = probe->prober;
        unsigned i;

        /* A service that has just started did not know its own interfaces before. */
        if (!probe->target.kind->local)
                probe->medium = ald_media_find(
                        ald_machine_media(prober->machine), ald_prober_network(prober), probe->interface);
        if (probe->reason)
                set_stopped_answer(probe);
        if (g_ptr_array_find(prober->probes, probe, &i))
                (void) g_ptr_array_steal_index_fast(prober->probes, i);
        prober->changed(prober->userdata);
        probe->handler->ended(probe, &probe->answer, probe->userdata);
        probe_free(probe);
}

static void conclude_if_over(AldProbe *probe)
{
        if (probe->over && !probe->asking && (!probe->rest || ald_descendants_are_gone(probe->rest)))
                conclude(probe);
}

static void on_rest_gone(void *userdata)
{
        note_device_free(userdata);
        conclude_if_over(userdata);
}

static void on_ended(const char *output, const char *failure, void *userdata)
{
        AldProbe *probe = userdata;

        probe->target.kind->read(output, failure, &probe->target, &probe->answer);
        /* The callback may start the next probe at once. */
        release_interface(probe);
        probe->over = true;
        conclude_if_over(probe);
}

/* If there are no records, the result lacks the fields about the peer. */
static void on_peer(int error, const AldNodeRecords *records, void *userdata)
{
        AldProbe *probe = userdata;

        probe->peer = ald_node_records_ref(records);
        probe->asking = false;
        conclude_if_over(probe);
}

static int start_program(AldProbe *probe)
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

const AldProbe *ald_prober_running(const AldProber *prober, const AldProbeKind *kind)
{
        for (unsigned i = 0; i < prober->probes->len; i++)
                if (ald_prober_at(prober, i)->target.kind == kind)
                        return ald_prober_at(prober, i);
        return NULL;
}

const AldProbe *ald_prober_running_other(const AldProber *prober, const AldProbeKind *kind)
{
        for (unsigned i = 0; i < prober->probes->len; i++) {
                const AldProbe *probe = ald_prober_at(prober, i);

                if (probe->target.kind->local && probe->target.kind != kind &&
                        !(probe->child && ald_probe_child_is_stuck(probe->child)))
                        return probe;
        }
        return NULL;
}

bool ald_prober_uses_cpu(const AldProber *prober)
{
        for (unsigned i = 0; i < prober->probes->len; i++)
                if (g_strcmp0(ald_prober_at(prober, i)->target.device, ALD_CPU_ID) == 0)
                        return true;
        return false;
}

/* Occupies the interface or port of a probe of a link. Sets its interface. */
static int occupy_interface(AldProber *prober, AldProbe *probe)
{
        const AldProbeTarget *target = &probe->target;
        int r;

        if (ald_prober_uses_cpu(prober))
                return -ALD_E_BUSY;
        r = ald_route_lookup(
                target->address, *target->interface ? target->interface : NULL, probe->interface);
        if (r < 0)
                return r;
        if (is_probed(prober, target->peer) ||
                ald_counters_occupy(ald_machine_counters(prober->machine), ald_prober_network(prober),
                        loaded_by(target, probe->interface)) < 0)
                return -ALD_E_BUSY;
        probe->occupies = true;
        return 0;
}

int ald_prober_start(AldProber *prober, const AldProbeTarget *target, const AldProbeHandler *handler,
        void *userdata, AldProbe **ret)
{
        AldProbe *probe;
        int r;

        if (target->kind->local && ald_prober_running(prober, target->kind))
                return -ALD_E_BUSY;
        probe = g_new0(AldProbe, 1);
        probe->prober = prober;
        probe->target = ald_probe_target_copy(target);
        probe->handler = handler;
        probe->userdata = userdata;
        r = target->kind->local ? 0 : occupy_interface(prober, probe);
        if (r >= 0)
                r = start_program(probe);
        if (r < 0) {
                probe_free(probe);
                return r;
        }
        if (!target->kind->local)
                probe->asking = ald_state_query_node(prober->nodes, target->peer, on_peer, probe) >= 0;
        g_ptr_array_add(prober->probes, probe);
        *ret = probe;
        prober->changed(prober->userdata);
        return 0;
}

/* Stops the program before its children, so that it does not take their exit for a crash. */
static void stop_device_probe(AldProbe *probe)
{
        pid_t pid = ald_probe_child_pid(probe->child);

        probe->ended = g_get_monotonic_time();
        probe->rest = ald_descendants_new(pid, on_rest_gone, probe);
        (void) kill(pid, SIGTERM);
        ald_descendants_kill(probe->rest);
        ald_probe_child_set_deadline(probe->child, END_MSEC);
}

void ald_probe_end(AldProbe *probe, const char *reason)
{
        if (probe->reason)
                return;
        probe->reason = g_strdup(reason);
        if (probe->over)
                return;
        if (probe->target.kind->local)
                stop_device_probe(probe);
        else
                ald_probe_child_end(probe->child, reason);
}

void ald_prober_end_kind(AldProber *prober, const AldProbeKind *kind, const char *reason)
{
        for (unsigned i = 0; i < prober->probes->len; i++)
                if (ald_prober_at(prober, i)->target.kind == kind)
                        ald_probe_end(prober->probes->pdata[i], reason);
}

void ald_prober_end_automatic(AldProber *prober, const char *reason, bool spare_first)
{
        for (unsigned i = 0; i < prober->probes->len; i++) {
                const AldProbeTarget *target = ald_probe_target(ald_prober_at(prober, i));

                if (!target->kind->local && target->automatic &&
                        target->scope != ALD_LINK_SCOPE_ROUND_TRIPS && !(spare_first && target->despite_work))
                        ald_probe_end(prober->probes->pdata[i], reason);
        }
}

bool ald_probe_saw_errors(const AldProbe *probe)
{
        return probe->target.scope != ALD_LINK_SCOPE_FULL &&
               ald_counters_has_errors(ald_machine_counters(probe->prober->machine), probe->interface);
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

uint64_t ald_prober_time_to_free(const AldProber *prober, const AldProbeKind *kind)
{
        return prober->time_to_free[kind->kind];
}

unsigned ald_prober_count_links(const AldProber *prober)
{
        unsigned n = 0;

        for (unsigned i = 0; i < prober->probes->len; i++)
                n += !ald_prober_at(prober, i)->target.kind->local;
        return n;
}

unsigned ald_prober_count(const AldProber *prober)
{
        return prober->probes->len;
}

const AldProbe *ald_prober_at(const AldProber *prober, unsigned i)
{
        return prober->probes->pdata[i];
}
