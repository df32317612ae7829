/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "services/state/findings-bus.h"
#include "services/common/timer.h"
#include "state/findings/findings.h"

#define LEAST_USEC G_USEC_PER_SEC

/* All findings are computed at once. The interval is this many times what that takes. */
#define PARTS 200

/* Some begin or end merely because time passes, such as those of services that send nothing any more. The
 * same two limits while no change does more than that, and while there is no change. */
#define LATER_USEC (10 * G_USEC_PER_SEC)
#define LATER_PARTS 1000
#define IDLE_USEC (60 * G_USEC_PER_SEC)
#define IDLE_PARTS 5000

struct AldFindingsBus {
        AldStateManager *manager;
        AldSignals *signals;
        AldTimer *timer;
        uint64_t digest, revision;
        gint64 next;  /* not before, CLOCK_MONOTONIC in µs */
        gint64 later; /* the same if nothing changes that they depend on */
        gint64 idle;  /* the same if nothing changes at all */
        gint64 due;   /* what the timer is set to */
};

static void set_due(AldFindingsBus *self, gint64 due)
{
        self->due = due;
        ald_timer_set(self->timer, due);
}

static void compute(AldFindingsBus *self)
{
        gint64 start = g_get_monotonic_time(), end;
        g_autoptr(GPtrArray) findings = ald_state_manager_findings(self->manager);
        uint64_t digest = ald_findings_digest(findings);

        end = g_get_monotonic_time();
        self->next = end + MAX(LEAST_USEC, PARTS * (end - start));
        self->later = end + MAX(LATER_USEC, LATER_PARTS * (end - start));
        self->idle = end + MAX(IDLE_USEC, IDLE_PARTS * (end - start));
        if (self->revision != 0 && digest != self->digest)
                ald_signals_change_view(self->signals, ALD_DERIVED_FINDINGS, ++self->revision);
        self->digest = digest;
        set_due(self, self->idle);
}

static void on_timer(void *userdata)
{
        compute(userdata);
}

void ald_findings_bus_refresh(AldFindingsBus *self)
{
        gint64 due = MAX(self->next, g_get_monotonic_time() + LEAST_USEC / 10);

        if (due < self->due)
                set_due(self, due);
}

static void on_changed(AldEntry *entry, AldRecord *before, void *userdata)
{
        AldFindingsBus *self = userdata;

        if (ald_findings_change_with(entry, before))
                ald_findings_bus_refresh(self);
        else if (self->later < self->due)
                set_due(self, self->later);
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
