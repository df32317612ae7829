/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "state/findings/findings-share.h"
#include "record/id.h"

struct AldFindingShare {
        AldId local;
        GHashTable *accounts; /* AldId → AldFindingAccount, which begins with it */
        GPtrArray *drafts[ALD_NEARNESS_N];
        guint most[ALD_NEARNESS_N];   /* the most drafts of a single account */
        uint64_t unnamed;             /* findings without a reporter that are left out */
        AldFindingAccount *charged;   /* for the finding of the last ald_finding_share_full() */
        AldNearness charged_nearness; /* the nearness of that finding */
};

static void draft_free(gpointer data)
{
        AldFindingDraft *draft = data;

        g_free(draft->row);
        g_free(draft->nodes);
        g_free(draft);
}

AldFindingShare *ald_finding_share_new(const AldId *local)
{
        AldFindingShare *share = g_new0(AldFindingShare, 1);

        share->local = *local;
        share->accounts = g_hash_table_new_full(ald_id_table_hash, ald_id_table_equal, NULL, g_free);
        for (AldNearness nearness = 0; nearness < ALD_NEARNESS_N; nearness++)
                share->drafts[nearness] = g_ptr_array_new_with_free_func(draft_free);
        return share;
}

void ald_finding_share_free(AldFindingShare *share)
{
        if (!share)
                return;
        for (AldNearness nearness = 0; nearness < ALD_NEARNESS_N; nearness++)
                g_ptr_array_unref(share->drafts[nearness]);
        g_hash_table_unref(share->accounts);
        g_free(share);
}

static AldFindingAccount *account_of(AldFindingShare *share, const AldId *node)
{
        AldFindingAccount *account = g_hash_table_lookup(share->accounts, node);

        if (!account) {
                account = g_new0(AldFindingAccount, 1);
                account->id = *node;
                g_hash_table_insert(share->accounts, &account->id, account);
        }
        return account;
}

/* Returns the node that is part of most findings. One that claims what belongs to many others is part of more
 * findings than each of them. */
static AldFindingAccount *most_mentioned(AldFindingShare *share, const AldId *nodes, size_t n_nodes)
{
        AldFindingAccount *most = NULL;

        for (size_t i = 0; i < n_nodes; i++) {
                AldFindingAccount *account = account_of(share, &nodes[i]);

                if (n_nodes > 1 && ald_id_equal(&nodes[i], &share->local))
                        continue;
                account->mentions++;
                if (!most || account->mentions > most->mentions)
                        most = account;
        }
        return most ?: account_of(share, &nodes[0]);
}

static AldNearness nearness_of(
        const AldFindingShare *share, const AldId *reporter, const AldId *nodes, size_t n_nodes)
{
        if (!reporter && n_nodes == 1)
                reporter = &nodes[0];
        if (reporter && ald_id_equal(reporter, &share->local))
                return ALD_NEARNESS_OWN;
        for (size_t i = 0; i < n_nodes; i++)
                if (ald_id_equal(&nodes[i], &share->local))
                        return ALD_NEARNESS_ABOUT;
        return ALD_NEARNESS_OTHER;
}

static void count_left_out(AldFindingShare *share, AldFindingAccount *account, bool is_reporter)
{
        ++*(is_reporter ? &account->left_out : &share->unnamed);
}

bool ald_finding_share_full(AldFindingShare *share, const AldId *reporter, const AldId *nodes, size_t n_nodes)
{
        AldNearness nearness = nearness_of(share, reporter, nodes, n_nodes);
        AldFindingAccount *account = reporter ? account_of(share, reporter)
                                              : most_mentioned(share, nodes, n_nodes);

        /* A place that is taken from the account with most must not make this one the account with most. */
        if (share->drafts[nearness]->len >= ALD_FINDINGS_PER_ID &&
                account->kept[nearness] + 1 >= share->most[nearness]) {
                count_left_out(share, account, reporter != NULL);
                return true;
        }
        share->charged = account;
        share->charged_nearness = nearness;
        return false;
}

/* Removes the latest draft of the account that has most; of equal accounts the last one loses. */
static void make_place(AldFindingShare *share, AldNearness nearness)
{
        GPtrArray *drafts = share->drafts[nearness];
        guint last = drafts->len - 1, most = 0;
        const AldFindingDraft *draft;

        while (((const AldFindingDraft *) drafts->pdata[last])->account->kept[nearness] <
                share->most[nearness])
                last--;
        draft = drafts->pdata[last];
        draft->account->kept[nearness]--;
        count_left_out(share, draft->account, draft->row->reporter != NULL);
        g_ptr_array_remove_index(drafts, last);
        for (guint i = 0; i < drafts->len; i++)
                most = MAX(most, ((const AldFindingDraft *) drafts->pdata[i])->account->kept[nearness]);
        share->most[nearness] = most;
}

void ald_finding_share_add(
        AldFindingShare *share, const AldFindingRow *row, const AldId *nodes, size_t n_nodes)
{
        AldNearness nearness = share->charged_nearness;
        AldFindingAccount *account = share->charged;
        AldFindingDraft *draft = g_new(AldFindingDraft, 1);

        if (share->drafts[nearness]->len >= ALD_FINDINGS_PER_ID)
                make_place(share, nearness);
        *draft = (AldFindingDraft){
                .row = ald_struct_dup(&ald_finding_row_struct, row),
                .nodes = g_memdup2(nodes, n_nodes * sizeof *nodes),
                .n_nodes = n_nodes,
                .bytes = ald_struct_wire_size(&ald_finding_row_struct, row) + n_nodes * ALD_ID_STRING_SIZE,
                .nearness = nearness,
                .account = account,
        };
        g_ptr_array_add(share->drafts[nearness], draft);
        account->kept[nearness]++;
        share->most[nearness] = MAX(share->most[nearness], account->kept[nearness]);
}

void ald_finding_share_leave_out(AldFindingShare *share, const AldFindingDraft *draft)
{
        draft->account->kept[draft->nearness]--;
        count_left_out(share, draft->account, draft->row->reporter != NULL);
}

const GPtrArray *ald_finding_share_drafts(const AldFindingShare *share, AldNearness nearness)
{
        return share->drafts[nearness];
}

static bool is_reported(const AldFindingAccount *account)
{
        for (AldNearness nearness = 0; nearness < ALD_NEARNESS_N; nearness++)
                if (account->kept[nearness] > 0)
                        return true;
        return false;
}

static int compare_accounts(gconstpointer a, gconstpointer b)
{
        const AldFindingAccount *left = *(const AldFindingAccount *const *) a,
                                *right = *(const AldFindingAccount *const *) b;

        return ald_id_compare(&left->id, &right->id);
}

GPtrArray *ald_finding_share_cut(const AldFindingShare *share)
{
        GPtrArray *cut = g_ptr_array_new();
        GHashTableIter iter;
        gpointer value;

        g_hash_table_iter_init(&iter, share->accounts);
        while (g_hash_table_iter_next(&iter, NULL, &value))
                if (((const AldFindingAccount *) value)->left_out > 0 && is_reported(value))
                        g_ptr_array_add(cut, value);
        g_ptr_array_sort(cut, compare_accounts);
        return cut;
}

uint64_t ald_finding_share_rest(const AldFindingShare *share)
{
        uint64_t rest = share->unnamed;
        GHashTableIter iter;
        gpointer value;

        g_hash_table_iter_init(&iter, share->accounts);
        while (g_hash_table_iter_next(&iter, NULL, &value))
                if (!is_reported(value))
                        rest += ((const AldFindingAccount *) value)->left_out;
        return rest;
}
