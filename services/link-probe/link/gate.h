/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/link-probe/link/policy.h"
#include "services/link-probe/link/results.h"
#include "services/link-probe/machine/machine.h"

/* Decides what may be measured now, by the configuration, the locks and what the machine does. */
typedef struct AldGate AldGate;

/* The reasons for which a session of another node is deferred. */
typedef enum AldRefusal {
        ALD_REFUSAL_BUSY,
        ALD_REFUSAL_INHIBITED,
        ALD_REFUSAL_ROUND_TRIPS_ONLY, /* round trips are served nevertheless */
        ALD_REFUSAL_N,
} AldRefusal;

/* The arguments must outlive the gate. */
AldGate *ald_gate_new(
        const AldLinkProbeConfig *config, const AldInhibitors *inhibitors, const AldMachine *machine);
void ald_gate_free(AldGate *gate);

/* Sets whether other nodes can measure links to this machine and, if not, why. The gate takes ownership of
 * the problem and logs it if it differs from the last one. */
void ald_gate_set_open(AldGate *gate, bool open, char *problem);
const char *ald_gate_problem(const AldGate *gate);

/* Returns whether links of this kind are measured at all. */
bool ald_gate_is_able(const AldGate *gate, const AldProbeKind *kind);

/* Returns 0, or why a request is refused: -ALD_E_NOT_JOINED, -ALD_E_INHIBITED or, without force, -ALD_E_BUSY
 * if the machine has work. */
int ald_gate_check(const AldGate *gate, const AldProbeKind *kind, bool force);

/* Returns whether links of this kind may be measured without a request. */
bool ald_gate_may_automatically(const AldGate *gate, const AldProbeKind *kind);

/* Returns "inhibited by" with the holder and the reason of the lock on such measurements, to be freed; NULL
 * if there is no lock. */
char *ald_gate_lock_reason(const AldGate *gate, const AldProbeKind *kind);

/* Returns the current contents of Node1.ProbePolicy; see policy.h. The caller clears it. */
void ald_gate_policy(const AldGate *gate, AldPolicy *ret);

/* Returns whether links may be loaded. */
bool ald_gate_may_load(const AldGate *gate);

/* Returns whether a first measurement may load a link in spite of that: programs that use the processors have
 * kept it waiting for long enough. */
bool ald_gate_may_load_first(const AldGate *gate);

/* Returns why another node must not measure this now, or NULL. `port` is the interface or RDMA port that it
 * would use, "" if that is unknown. Free with g_free(). */
char *ald_gate_refuse_session(const AldGate *gate, const AldProber *prober, const AldResults *results,
        const AldProbeKind *kind, const char *port, const AldProbeWanted *wanted, AldRefusal *ret_refusal);
