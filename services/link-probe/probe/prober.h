/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/link-probe/machine/machine.h"
#include "services/link-probe/probe/probe-kind.h"
#include "services/link-probe/state/state-query-bus.h"

/*
 * The probes that this machine starts, each in a child process: at most one probe of links per interface or
 * RDMA port, and one of each local kind. While the processors are being measured, no probe of links is
 * started.
 */
typedef struct AldProber AldProber;
typedef struct AldProbe AldProbe;

typedef struct AldProbeHandler {
        /* May be NULL. */
        void (*progress)(AldProbe *probe, const char *phase, double fraction, void *userdata);
        /* Called once; the probe no longer exists afterwards. If it was stopped, the verdict is
         * ALD_PROBE_LATER, and for a device, the reason contains how long it took until the device was
         * free. */
        void (*ended)(AldProbe *probe, const AldProbeAnswer *answer, void *userdata);
} AldProbeHandler;

/* The arguments must outlive the prober, except for the query, which is freed first. `changed` is called when
 * a probe has begun or ended. */
AldProber *ald_prober_new(const AldProgram *program, AldMachine *machine, AldStateQuery *nodes,
        void (*changed)(void *userdata), void *userdata);
/* Stops all probes without calling back. */
void ald_prober_free(AldProber *prober);

/* Sets the records of this machine. */
void ald_prober_set_own(AldProber *prober, const AldNodeRecords *own);
const AldNodeRecords *ald_prober_own(const AldProber *prober);
/* Returns its Node1.Network, or NULL. */
const AldNetwork *ald_prober_network(const AldProber *prober);

/* Starts a probe of a copy of the target. Returns -ALD_E_BUSY if a probe uses its interface, port or peer or
 * measures the processors, or if another probe of its local kind is running; other errors are those of the
 * route and of running the program. */
int ald_prober_start(AldProber *prober, const AldProbeTarget *target, const AldProbeHandler *handler,
        void *userdata, AldProbe **ret);

/* Stops a probe. `ended` follows; for a device, once none of its processes is left. */
void ald_probe_end(AldProbe *probe, const char *reason);
void ald_prober_end_kind(AldProber *prober, const AldProbeKind *kind, const char *reason);
/* Stops the automatic probes that load links; `spare_first`, except for those with `despite_work`. */
void ald_prober_end_automatic(AldProber *prober, const char *reason, bool spare_first);

/* For a check: returns whether its interface had errors since the last full measurement through it. */
bool ald_probe_saw_errors(const AldProbe *probe);

const AldProbeTarget *ald_probe_target(const AldProbe *probe);
const char *ald_probe_interface(const AldProbe *probe);
/* Valid after the probe has ended: the local medium, and the records of this machine and of the peer. */
const AldMedium *ald_probe_medium(const AldProbe *probe);
const AldNodeRecords *ald_probe_own(const AldProbe *probe);
const AldNodeRecords *ald_probe_peer(const AldProbe *probe);

/* Returns a probe of this kind, or NULL. */
const AldProbe *ald_prober_running(const AldProber *prober, const AldProbeKind *kind);
/* Returns a probe of another local kind, or NULL. One that was killed and cannot exit, since a disk does not
 * respond, does not count: it disturbs nothing. */
const AldProbe *ald_prober_running_other(const AldProber *prober, const AldProbeKind *kind);
/* Returns whether the processors are being measured, so that nothing else may be measured. */
bool ald_prober_uses_cpu(const AldProber *prober);
/* Returns how long it took, in µs, until the device was free after a probe of this kind was last stopped;
 * absent if none was. */
uint64_t ald_prober_time_to_free(const AldProber *prober, const AldProbeKind *kind);

unsigned ald_prober_count_links(const AldProber *prober);
unsigned ald_prober_count(const AldProber *prober);
const AldProbe *ald_prober_at(const AldProber *prober, unsigned i);
