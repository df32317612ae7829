/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "state/alerts/alert-accounts.h"

typedef struct AldAlertAccount {
        char *reporter; /* empty: none */
        GQueue alerts;  /* AldAlert, the latest last */
        guint weight;
        GList *unseen; /* the alerts before it are not idle, as far as this update has seen; NULL: none is
                          idle */
} AldAlertAccount;

struct AldAlertAccounts {
        GHashTable *by_reporter;
        guint weight; /* weight of all accounts */
};

static void account_free(gpointer data)
{
        AldAlertAccount *account = data;

        g_free(account->reporter);
        g_free(account);
}

AldAlertAccounts *ald_alert_accounts_new(void)
{
        AldAlertAccounts *accounts = g_new0(AldAlertAccounts, 1);

        accounts->by_reporter = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, account_free);
        return accounts;
}

void ald_alert_accounts_free(AldAlertAccounts *accounts)
{
        g_hash_table_unref(accounts->by_reporter);
        g_free(accounts);
}

static const char *account_name(const char *reporter)
{
        return reporter ? reporter : "";
}

static guint weight_of(const AldFindingRow *row)
{
        return 1 + (guint) (ald_struct_wire_size(&ald_finding_row_struct, row) / ALD_ALERT_BYTES);
}

static void set_weight(AldAlertAccounts *accounts, AldAlert *alert, guint weight)
{
        alert->account->weight += weight - alert->weight;
        accounts->weight += weight - alert->weight;
        alert->weight = weight;
}

void ald_alert_accounts_leave(AldAlertAccounts *accounts, AldAlert *alert)
{
        AldAlertAccount *account = alert->account;

        if (!account)
                return;
        set_weight(accounts, alert, 0);
        if (account->unseen == &alert->place)
                account->unseen = alert->place.next;
        g_queue_unlink(&account->alerts, &alert->place);
        alert->account = NULL;
        if (account->alerts.length == 0)
                g_hash_table_remove(accounts->by_reporter, account->reporter);
}

static void join_account(AldAlertAccounts *accounts, const char *reporter, AldAlert *alert)
{
        AldAlertAccount *account = g_hash_table_lookup(accounts->by_reporter, reporter);

        if (!account) {
                account = g_new0(AldAlertAccount, 1);
                account->reporter = g_strdup(reporter);
                g_queue_init(&account->alerts);
                g_hash_table_insert(accounts->by_reporter, account->reporter, account);
        }
        alert->account = account;
        alert->place.data = alert;
        g_queue_push_tail_link(&account->alerts, &alert->place);
        if (account->alerts.length == 1)
                account->unseen = &alert->place;
}

void ald_alert_accounts_enter(AldAlertAccounts *accounts, AldAlert *alert)
{
        const char *reporter = account_name(alert->row->reporter);

        if (!alert->account || strcmp(alert->account->reporter, reporter) != 0) {
                ald_alert_accounts_leave(accounts, alert);
                join_account(accounts, reporter, alert);
        }
        set_weight(accounts, alert, weight_of(alert->row));
}

void ald_alert_accounts_begin(AldAlertAccounts *accounts)
{
        GHashTableIter iter;
        gpointer data;

        g_hash_table_iter_init(&iter, accounts->by_reporter);
        while (g_hash_table_iter_next(&iter, NULL, &data)) {
                AldAlertAccount *account = data;

                account->unseen = account->alerts.head;
        }
}

static AldAlertAccount *find_heaviest(const AldAlertAccounts *accounts)
{
        AldAlertAccount *heaviest = NULL;
        GHashTableIter iter;
        gpointer account;

        g_hash_table_iter_init(&iter, accounts->by_reporter);
        while (g_hash_table_iter_next(&iter, NULL, &account))
                if (!heaviest || ((AldAlertAccount *) account)->weight > heaviest->weight)
                        heaviest = account;
        return heaviest;
}

static AldAlert *find_idle(AldAlertAccount *account)
{
        for (; account->unseen; account->unseen = account->unseen->next) {
                AldAlert *alert = account->unseen->data;

                if (!alert->damping.present && !alert->damping.begun)
                        return alert;
        }
        return NULL;
}

static AldAlert *find_excess(AldAlertAccount *account)
{
        AldAlert *idle = find_idle(account);

        return idle ? idle : account->alerts.tail->data;
}

/* Accounts of nearly the same weight do not take places from each other, since they would do so forever. */
AldAlert *ald_alert_accounts_excess(AldAlertAccounts *accounts, const AldFindingRow *row, bool *ret_room)
{
        AldAlertAccount *own = g_hash_table_lookup(accounts->by_reporter, account_name(row->reporter));
        const guint weight = weight_of(row);
        AldAlertAccount *heaviest;
        AldAlert *excess = NULL;

        *ret_room = accounts->weight + weight <= ALD_ALERTS_MAX;
        if (*ret_room)
                return NULL;
        heaviest = find_heaviest(accounts);
        if (!heaviest)
                return NULL;
        if (heaviest->weight > (own ? own->weight : 0) + weight)
                excess = find_excess(heaviest);
        else if (own)
                excess = find_idle(own);
        return excess;
}

AldAlert *ald_alert_accounts_heaviest(AldAlertAccounts *accounts)
{
        return accounts->weight > ALD_ALERTS_MAX ? find_excess(find_heaviest(accounts)) : NULL;
}
