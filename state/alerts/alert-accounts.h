/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "state/alerts/alerts.h"

/*
 * The alerts of each reporter, and their weight: 1 for each ALD_ALERT_BYTES of a finding, ALD_ALERTS_MAX in
 * all. Beyond that, the heaviest reporter loses places to any reporter whose alerts weigh less, so that none
 * leaves out what others report. Findings without a reporter share an account.
 */
typedef struct AldAlertAccounts AldAlertAccounts;

#define ALD_ALERT_BYTES 2048u

AldAlertAccounts *ald_alert_accounts_new(void);
void ald_alert_accounts_free(AldAlertAccounts *accounts);

/* Adds an alert to the account of its row's reporter; moves or weighs it again if it is in one already. */
void ald_alert_accounts_enter(AldAlertAccounts *accounts, AldAlert *alert);
void ald_alert_accounts_leave(AldAlertAccounts *accounts, AldAlert *alert);

/* Begins an update, in which alerts that were not idle are examined again. During the update, one that is not
 * idle is taken to remain so. */
void ald_alert_accounts_begin(AldAlertAccounts *accounts);

/*
 * Returns the alert to drop next, so that one with this row can be added: one that only remembers how often
 * its finding came, or else the latest of a reporter whose alerts weigh more. Returns NULL if none has to be
 * dropped, or if none may be: then *ret_room is false.
 */
AldAlert *ald_alert_accounts_excess(AldAlertAccounts *accounts, const AldFindingRow *row, bool *ret_room);

/* Returns the alert to drop if none is added: one of the heaviest account if all weigh too much, else NULL.
 * */
AldAlert *ald_alert_accounts_heaviest(AldAlertAccounts *accounts);
