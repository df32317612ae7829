/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "services/broker/quota.h"

struct AldQuota {
        GHashTable *accounts; /* by node */
};

static void account_free(gpointer data)
{
        AldQuotaAccount *account = data;

        g_hash_table_unref(account->topics);
        g_free(account->node);
        g_free(account);
}

AldQuota *ald_quota_new(void)
{
        AldQuota *quota = g_new0(AldQuota, 1);

        quota->accounts = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, account_free);
        return quota;
}

void ald_quota_free(AldQuota *quota)
{
        if (!quota)
                return;
        g_hash_table_unref(quota->accounts);
        g_free(quota);
}

static AldQuotaAccount *get_account(AldQuota *quota, const char *node, uint64_t now)
{
        AldQuotaAccount *account = g_hash_table_lookup(quota->accounts, node);

        if (account || g_hash_table_size(quota->accounts) >= ALD_QUOTA_NODES_MAX)
                return account;
        account = g_new0(AldQuotaAccount, 1);
        account->node = g_strdup(node);
        account->topics = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        account->bytes = ALD_QUOTA_BURST_BYTES;
        account->messages = ALD_QUOTA_BURST_MESSAGES;
        account->refilled = now;
        g_hash_table_insert(quota->accounts, account->node, account);
        return account;
}

/* Adds the budget earned since the last call. Until it suffices for one message, the time keeps accumulating.
 */
static void refill_budget(AldQuotaAccount *account, uint64_t now)
{
        uint64_t messages = (now - account->refilled) * ALD_QUOTA_RATE_MESSAGES / G_USEC_PER_SEC;

        if (messages == 0)
                return;
        account->messages = MIN(account->messages + messages, ALD_QUOTA_BURST_MESSAGES);
        account->bytes = MIN(account->bytes + messages * (ALD_QUOTA_RATE_BYTES / ALD_QUOTA_RATE_MESSAGES),
                ALD_QUOTA_BURST_BYTES);
        /* The rest of the time counts towards the next message. */
        account->refilled += messages * G_USEC_PER_SEC / ALD_QUOTA_RATE_MESSAGES;
}

static bool spend_budget(AldQuotaAccount *account, size_t size)
{
        if (account->messages == 0 || account->bytes < size)
                return false;
        account->messages--;
        account->bytes -= size;
        return true;
}

static uint64_t cost_of(const char *topic, size_t size)
{
        return size > 0 ? ALD_QUOTA_TOPIC_BYTES + strlen(topic) + size : 0;
}

static uint64_t kept_for(const AldQuotaAccount *account, const char *topic)
{
        return GPOINTER_TO_SIZE(g_hash_table_lookup(account->topics, topic));
}

static void set_kept(AldQuotaAccount *account, const char *topic, uint64_t cost)
{
        account->kept_bytes += cost - kept_for(account, topic);
        if (cost > 0)
                g_hash_table_replace(account->topics, g_strdup(topic), GSIZE_TO_POINTER(cost));
        else
                g_hash_table_remove(account->topics, topic);
        account->kept_topics = g_hash_table_size(account->topics);
}

/* Keeps a retained message unless it exceeds the limit. A smaller message than before is always kept, even if
 * the node has too much. */
static bool try_keep(AldQuotaAccount *account, const char *topic, size_t size)
{
        uint64_t old = kept_for(account, topic), cost = cost_of(topic, size);

        if (cost > old && account->kept_bytes - old + cost > ALD_QUOTA_KEPT_BYTES)
                return false;
        set_kept(account, topic, cost);
        return true;
}

bool ald_quota_admit(
        AldQuota *quota, const char *node, const char *topic, size_t size, bool retained, uint64_t now)
{
        AldQuotaAccount *account = get_account(quota, node, now);

        if (!account)
                return false;
        refill_budget(account, now);
        if (strlen(topic) <= ALD_QUOTA_TOPIC_MAX && spend_budget(account, size) &&
                (!retained || try_keep(account, topic, size)))
                return true;
        account->refused++;
        account->refused_at = now;
        return false;
}

void ald_quota_note(AldQuota *quota, const char *node, const char *topic, size_t size, uint64_t now)
{
        AldQuotaAccount *account = get_account(quota, node, now);
        uint64_t cost = cost_of(topic, size);

        if (!account || kept_for(account, topic) == cost)
                return;
        if (cost < kept_for(account, topic) || account->kept_bytes < ALD_QUOTA_KEPT_BYTES)
                set_kept(account, topic, cost);
}

size_t ald_quota_find_refused(const AldQuota *quota, uint64_t since, const AldQuotaAccount **ret, size_t max)
{
        GHashTableIter iter;
        gpointer value;
        size_t n = 0;

        g_hash_table_iter_init(&iter, quota->accounts);
        while (g_hash_table_iter_next(&iter, NULL, &value)) {
                const AldQuotaAccount *account = value;
                size_t at = n;

                if (account->refused == 0 || account->refused_at < since)
                        continue;
                while (at > 0 && ret[at - 1]->refused < account->refused)
                        at--;
                if (at >= max)
                        continue;
                n = MIN(n + 1, max);
                memmove(ret + at + 1, ret + at, (n - at - 1) * sizeof ret[0]);
                ret[at] = account;
        }
        return n;
}
