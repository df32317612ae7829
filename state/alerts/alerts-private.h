/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "state/alerts/alert-accounts.h"

/* Shared by the files alerts*.c. */
struct AldAlerts {
        GHashTable *by_key; /* key → AldAlert */
        AldAlertAccounts *accounts;
        uint64_t updated_usec; /* the last update */
        GPtrArray *dropped;    /* AldAlert: those dropped by the last update that had begun */
        guint left_out;
};

/* Adds an alert without a damping. Takes ownership of the key, which must be new. Returns NULL if there are
 * too many. */
AldAlert *ald_alerts_add(AldAlerts *alerts, char *key, const AldFindingRow *row);
