/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "services/state/findings-bus.h"
#include "services/common/timer.h"
#include "state/findings/findings.h"

#define LEAST_USEC G_USEC_PER_SEC

/* All findings are computed at once. The interval is this many times what that takes. */
#define PARTS 200

/* Some begin or end merely because time passes; the same two limits if no record changes. */
#define IDLE_USEC (60 * G_USEC_PER_SEC)
#define IDLE_PARTS 5000

struct AldFindingsBus {
        AldStateManager *manager;
        AldSignals *signals;
        AldTimer *timer;
        uint64_t digest, revision;
        gint64 next; /* not before, CLOCK_MONOTONIC in µs */
        gint64 idle; /* the same if nothing changes */
        bool outdated;
};

static void compute(AldFindingsBus *self)
{
        gint64 start = g_get_monotonic_time(), end;
        g_autoptr(GPtrArray) findings = ald_state_manager_findings(self->manager);
        uint64_t digest = ald_findings_digest(findings);

        end = g_get_monotonic_time();
        self->outdated = false;
        self->next = end + MAX(LEAST_USEC, PARTS * (end - start));
        self->idle = end + MAX(IDLE_USEC, IDLE_PARTS * (end - start));
        if (self->revision != 0 && digest != self->digest)
                ald_signals_change_view(self->signals, ALD_DERIVED_FINDINGS, ++self->revision);
        self->digest = digest;
}

static void on_timer(void *userdata)
{
        AldFindingsBus *self = userdata;

        compute(self);
        ald_timer_set(self->timer, self->idle);
}

void ald_findings_bus_refresh(AldFindingsBus *self)
{
        if (self->outdated)
                return;
        self->outdated = true;
        ald_timer_set(self->timer, MAX(self->next, g_get_monotonic_time() + LEAST_USEC / 10));
}

static void on_changed(AldEntry *entry, AldRecord *before, void *userdata)
{
        ald_findings_bus_refresh(userdata);
}

static void on_removing(AldEntry *entry, void *userdata)
{
        ald_findings_bus_refresh(userdata);
}

AldFindingsBus *ald_findings_bus_new(AldStateManager *manager, AldSignals *signals)
{
        AldFindingsBus *self = g_new0(AldFindingsBus, 1);

        self->manager = manager;
        self->signals = signals;
        self->timer = ald_timer_new("findings", on_timer, self);
        compute(self);
        self->revision = 1;
        ald_timer_set(self->timer, self->idle);
        ald_state_manager_watch(manager, on_changed, on_removing, self);
        return self;
}

void ald_findings_bus_free(AldFindingsBus *self)
{
        if (!self)
                return;
        ald_timer_free(self->timer);
        g_free(self);
}
