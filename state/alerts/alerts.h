/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "state/alerts/alert-damping.h"
#include "state/alerts/alert-paths.h"

/*
 * Alerts: findings over time, each with a beginning and an end. A finding that follows from another one has
 * no alert of its own (alert-causes.h, alert-groups.h), and one that comes and goes has few
 * (alert-damping.h). An alert does not end while something hides its finding: a cause that begins later, or
 * the limit of findings of one Id. If there are too many, each reporter has its share (alert-accounts.h).
 */
typedef struct AldAlerts AldAlerts;

#define ALD_ALERTS_MAX 10000u

typedef struct AldAlert {
        char *key;          /* see ald_alert_key() */
        AldFindingRow *row; /* the last row */
        AldAlertDamping damping;
        bool hidden;    /* another alert hides it */
        guint symptoms; /* findings that this one hides */
        struct AldAlertAccount *account;
        guint weight; /* in its account */
        GList place;  /* in the list of its account */
} AldAlert;

/* An alert that begins or ends; valid until the next update. */
typedef struct AldAlertNotice {
        bool begins;
        uint64_t at_usec; /* when the finding came, or went or was dropped for others; in CLOCK_REALTIME */
        const AldAlert *alert;
} AldAlertNotice;

AldAlerts *ald_alerts_new(void);
void ald_alerts_free(AldAlerts *alerts);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldAlerts, ald_alerts_free)

/*
 * Takes the findings of now (const AldFindingRow *, CLOCK_REALTIME in µs), and returns what begins and what
 * ends, in this order, as AldAlertNotice. Paths may be NULL; then no place explains links. Call it when the
 * findings change, and when due.
 */
GArray *ald_alerts_update(AldAlerts *alerts, const GPtrArray *findings, AldAlertPaths *paths, uint64_t now);

/* Adjusts to a clock that was set forward by this much, so that nothing has lasted longer. An update notices
 * by itself if it was set back. */
void ald_alerts_shift(AldAlerts *alerts, uint64_t usec);

/* Returns when something will begin or end if the findings stay as they are; absent: never. */
uint64_t ald_alerts_due(AldAlerts *alerts);

/* Returns whether there is an alert of this key, begun or not. */
bool ald_alerts_has(const AldAlerts *alerts, const char *key);

/* Returns the alerts that have begun and not ended, hidden ones too, by their keys (const AldAlert *). Free
 * the array. */
GPtrArray *ald_alerts_begun(AldAlerts *alerts);

/* Returns the number of findings that have no alert, since there are more than ALD_ALERTS_MAX or their rows
 * are too long (alert-accounts.h). */
guint ald_alerts_left_out(const AldAlerts *alerts);
