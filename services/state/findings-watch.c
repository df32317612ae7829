/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "services/state/findings-watch.h"
#include "services/common/timer.h"
#include "state/findings/findings.h"

#define LEAST_USEC G_USEC_PER_SEC

/* All findings are computed in steps, between which other work is done. The interval is this many times the
 * duration of these steps. */
#define PARTS 200

/* Some findings begin or end merely because time passes, such as those about services that no longer send
 * anything. These are the same two limits for times when no change does more than that, and when there is no
 * change. */
#define LATER_USEC (10 * G_USEC_PER_SEC)
#define LATER_PARTS 1000
#define IDLE_USEC (60 * G_USEC_PER_SEC)
#define IDLE_PARTS 5000

/* The most significant change since the last round began. */
typedef enum Changes {
        CHANGES_NONE,
        CHANGES_OF_TIME,
        CHANGES_OF_FINDINGS,
        CHANGES_N,
} Changes;

struct AldFindingsWatch {
        AldStateManager *manager;
        AldSignals *signals;
        AldTimer *timer;
        AldFindingsRound *round; /* NULL between two rounds */
        gint64 spent;            /* time that the round has taken so far */
        uint64_t digest, revision;
        Changes changes;
        gint64 due[CHANGES_N]; /* of the next round, by the kind of changes; CLOCK_MONOTONIC in µs */
};

static void apply_result(AldFindingsWatch *self, const GPtrArray *findings)
{
        uint64_t digest = ald_findings_digest(findings);

        if (self->revision != 0 && digest != self->digest)
                ald_signals_change_view(self->signals, ALD_DERIVED_FINDINGS, ++self->revision);
        self->digest = digest;
}

/* Runs one step of a round. Returns true at the end of the round. */
static bool run_step(AldFindingsWatch *self)
{
        gint64 start = g_get_monotonic_time(), end;
        g_autoptr(GPtrArray) findings = NULL;

        if (!self->round) {
                self->round = ald_state_manager_begin_findings(self->manager);
                self->spent = 0;
                self->changes = CHANGES_NONE;
        }
        findings = ald_findings_round_step(self->round);
        if (findings)
                apply_result(self, findings);
        end = g_get_monotonic_time();
        self->spent += end - start;
        if (!findings)
                return false;
        g_clear_pointer(&self->round, ald_findings_round_free);
        self->due[CHANGES_OF_FINDINGS] = end + MAX(LEAST_USEC, PARTS * self->spent);
        self->due[CHANGES_OF_TIME] = end + MAX(LATER_USEC, LATER_PARTS * self->spent);
        self->due[CHANGES_NONE] = end + MAX(IDLE_USEC, IDLE_PARTS * self->spent);
        return true;
}

static void on_timer(void *userdata)
{
        AldFindingsWatch *self = userdata;

        ald_timer_set(self->timer, run_step(self) ? self->due[self->changes] : 0);
}

/* Requests a round. A change during a round may come too late for its steps, so that another round
 * follows. */
static void request_round(AldFindingsWatch *self, Changes changes)
{
        if (changes <= self->changes)
                return;
        self->changes = changes;
        if (!self->round)
                ald_timer_set(self->timer, MAX(self->due[changes], g_get_monotonic_time() + LEAST_USEC / 10));
}

void ald_findings_watch_refresh(AldFindingsWatch *self)
{
        request_round(self, CHANGES_OF_FINDINGS);
}

static void on_changed(AldEntry *entry, AldRecord *before, void *userdata)
{
        AldFindingsWatch *self = userdata;

        if (self->changes < CHANGES_OF_FINDINGS)
                request_round(self,
                        ald_findings_change_with(entry, before) ? CHANGES_OF_FINDINGS : CHANGES_OF_TIME);
}

static void on_removing(AldEntry *entry, void *userdata)
{
        ald_findings_watch_refresh(userdata);
}

AldFindingsWatch *ald_findings_watch_new(AldStateManager *manager, AldSignals *signals)
{
        AldFindingsWatch *self = g_new0(AldFindingsWatch, 1);

        self->manager = manager;
        self->signals = signals;
        self->timer = ald_timer_new("findings", on_timer, self);
        while (!run_step(self))
                ;
        ald_timer_set(self->timer, self->due[CHANGES_NONE]);
        self->revision = 1;
        ald_state_manager_watch(manager, on_changed, on_removing, self);
        return self;
}

void ald_findings_watch_free(AldFindingsWatch *self)
{
        if (!self)
                return;
        ald_timer_free(self->timer);
        ald_findings_round_free(self->round);
        g_free(self);
}
