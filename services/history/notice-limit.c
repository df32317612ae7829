/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <string.h>

#include "record/id.h"
#include "services/history/notice-limit.h"

typedef struct AldNoticeAccount {
        char *reporter; /* empty if there is none */
        double saved;   /* notices that it may cause at once */
        uint64_t at;    /* when `saved` was computed */
        GPtrArray *withheld;
} AldNoticeAccount;

struct AldNoticeLimit {
        GHashTable *accounts; /* by reporter */
        uint64_t count;
};

void ald_withheld_free(AldWithheld *withheld)
{
        g_free(withheld->reporter);
        g_free(withheld->name);
        g_free(withheld->finding);
        g_free(withheld->severity);
        g_free(withheld->key);
        g_free(withheld);
}

static void free_withheld(gpointer withheld)
{
        ald_withheld_free(withheld);
}

static void account_free(gpointer data)
{
        AldNoticeAccount *account = data;

        g_ptr_array_unref(account->withheld);
        g_free(account->reporter);
        g_free(account);
}

AldNoticeLimit *ald_notice_limit_new(void)
{
        AldNoticeLimit *limit = g_new0(AldNoticeLimit, 1);

        limit->accounts = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, account_free);
        return limit;
}

void ald_notice_limit_free(AldNoticeLimit *limit)
{
        g_hash_table_unref(limit->accounts);
        g_free(limit);
}

static double share_of(const AldNoticeAccount *account)
{
        return *account->reporter ? 1 : ALD_NOTICES_UNREPORTED;
}

static double saved_max(const AldNoticeAccount *account)
{
        return ALD_NOTICES_SAVED * share_of(account);
}

/* Returns the notices saved until `now`. A clock that was set back saves none. */
static double saved_at(const AldNoticeAccount *account, uint64_t now)
{
        const double passed = now > account->at ? (double) (now - account->at) : 0;

        return fmin(account->saved + passed / ALD_NOTICE_USEC * share_of(account), saved_max(account));
}

static AldNoticeAccount *get_account(AldNoticeLimit *limit, const char *reporter, uint64_t now)
{
        AldNoticeAccount *account = g_hash_table_lookup(limit->accounts, reporter ? reporter : "");

        if (account)
                return account;
        account = g_new0(AldNoticeAccount, 1);
        account->reporter = g_strdup(reporter ? reporter : "");
        account->saved = saved_max(account);
        account->at = now;
        account->withheld = g_ptr_array_new_with_free_func(free_withheld);
        g_hash_table_insert(limit->accounts, account->reporter, account);
        return account;
}

static bool spend_notice(AldNoticeAccount *account, uint64_t now)
{
        account->saved = saved_at(account, now);
        account->at = now;
        if (account->saved < 1)
                return false;
        account->saved--;
        return true;
}

static AldWithheld *find_withheld(const AldNoticeAccount *account, const AldFindingRow *row)
{
        for (guint i = 0; i < account->withheld->len; i++) {
                AldWithheld *withheld = account->withheld->pdata[i];

                if (strcmp(withheld->finding, row->id) == 0 &&
                        g_strcmp0(withheld->severity, row->severity) == 0)
                        return withheld;
        }
        return NULL;
}

/* Returns the name of the reporter as the finding states it. */
static char *copy_name(const AldFindingRow *row)
{
        for (size_t i = 0; row->nodes && row->names && row->nodes[i] && row->names[i]; i++)
                if (g_strcmp0(row->nodes[i], row->reporter) == 0)
                        return g_strdup(row->names[i]);
        return row->reporter ? g_strndup(row->reporter, ALD_SHORT_ID_DIGITS) : NULL;
}

static void withhold(AldNoticeAccount *account, const AldFindingRow *row, const char *key, uint64_t began)
{
        AldWithheld *withheld = find_withheld(account, row);

        if (!withheld) {
                withheld = g_new(AldWithheld, 1);
                *withheld = (AldWithheld){ .reporter = g_strdup(row->reporter),
                        .name = copy_name(row),
                        .finding = g_strdup(row->id),
                        .severity = g_strdup(row->severity),
                        .key = g_strdup(key),
                        .began_usec = began };
                g_ptr_array_add(account->withheld, withheld);
        }
        withheld->n++;
        withheld->began_usec = MIN(withheld->began_usec, began);
}

/* Reports withheld findings before any others. */
bool ald_notice_limit_take(
        AldNoticeLimit *limit, const AldFindingRow *row, const char *key, uint64_t began_usec, uint64_t now)
{
        AldNoticeAccount *account = get_account(limit, row->reporter, now);

        if (account->withheld->len == 0 && spend_notice(account, now))
                return true;
        withhold(account, row, key, began_usec);
        limit->count++;
        return false;
}

static bool is_reported_before(const AldWithheld *one, const AldWithheld *other)
{
        const int severity = ald_finding_row_severity_from_string(one->severity);
        const int other_severity = ald_finding_row_severity_from_string(other->severity);

        return severity != other_severity ? severity < other_severity : one->began_usec < other->began_usec;
}

static AldWithheld *steal_next(AldNoticeAccount *account)
{
        guint first = 0;

        for (guint i = 1; i < account->withheld->len; i++)
                if (is_reported_before(account->withheld->pdata[i], account->withheld->pdata[first]))
                        first = i;
        return g_ptr_array_steal_index(account->withheld, first);
}

/* Drops accounts that have saved the maximum, since they are equal to new ones. */
AldWithheld *ald_notice_limit_next(AldNoticeLimit *limit, uint64_t now)
{
        GHashTableIter iter;
        gpointer data;

        g_hash_table_iter_init(&iter, limit->accounts);
        while (g_hash_table_iter_next(&iter, NULL, &data)) {
                AldNoticeAccount *account = data;

                if (account->withheld->len > 0 && spend_notice(account, now))
                        return steal_next(account);
                if (account->withheld->len == 0 && saved_at(account, now) >= saved_max(account))
                        g_hash_table_iter_remove(&iter);
        }
        return NULL;
}

uint64_t ald_notice_limit_due(const AldNoticeLimit *limit)
{
        uint64_t due = ALD_ABSENT_UINT64;
        GHashTableIter iter;
        gpointer data;

        g_hash_table_iter_init(&iter, limit->accounts);
        while (g_hash_table_iter_next(&iter, NULL, &data)) {
                const AldNoticeAccount *account = data;
                const double missing = fmax(1 - account->saved, 0) / share_of(account);

                if (account->withheld->len > 0)
                        due = MIN(due, account->at + (uint64_t) ceil(missing * ALD_NOTICE_USEC));
        }
        return due;
}

uint64_t ald_notice_limit_count(const AldNoticeLimit *limit)
{
        return limit->count;
}

static json_t *withheld_to_json(const AldWithheld *withheld)
{
        json_t *json = json_pack("{s:s, s:s?, s:s, s:I, s:I}", "finding", withheld->finding, "severity",
                withheld->severity, "key", withheld->key, "n", (json_int_t) withheld->n, "began",
                (json_int_t) withheld->began_usec);

        if (json && withheld->name)
                json_object_set_new(json, "name", json_string(withheld->name));
        return json;
}

json_t *ald_notice_limit_to_json(const AldNoticeLimit *limit)
{
        json_t *array = json_array();
        GHashTableIter iter;
        gpointer data;

        g_hash_table_iter_init(&iter, limit->accounts);
        while (g_hash_table_iter_next(&iter, NULL, &data)) {
                const AldNoticeAccount *account = data;
                json_t *withheld = json_array();

                for (guint i = 0; i < account->withheld->len; i++)
                        json_array_append_new(withheld, withheld_to_json(account->withheld->pdata[i]));
                json_array_append_new(
                        array, json_pack("{s:s, s:f, s:I, s:o}", "reporter", account->reporter, "saved",
                                       account->saved, "at", (json_int_t) account->at, "withheld", withheld));
        }
        return array;
}

static void add_withheld(AldNoticeAccount *account, json_t *json)
{
        const char *finding, *severity, *key, *name = NULL;
        AldWithheld *withheld;
        json_int_t n, began;

        if (json_unpack(json, "{s:s, s:s, s:s, s:I, s:I, s?s}", "finding", &finding, "severity", &severity,
                    "key", &key, "n", &n, "began", &began, "name", &name) < 0 ||
                n < 1 || began < 0)
                return;
        withheld = g_new(AldWithheld, 1);
        *withheld = (AldWithheld){ .reporter = *account->reporter ? g_strdup(account->reporter) : NULL,
                .name = g_strdup(name),
                .finding = g_strdup(finding),
                .severity = g_strdup(severity),
                .key = g_strdup(key),
                .n = (uint64_t) n,
                .began_usec = (uint64_t) began };
        g_ptr_array_add(account->withheld, withheld);
}

static void add_account(AldNoticeLimit *limit, json_t *json)
{
        AldNoticeAccount *account;
        json_t *withheld, *each;
        const char *reporter;
        json_int_t at;
        double saved;
        size_t i;

        if (json_unpack(json, "{s:s, s:F, s:I, s:o}", "reporter", &reporter, "saved", &saved, "at", &at,
                    "withheld", &withheld) < 0 ||
                at < 0 || saved < 0)
                return;
        account = get_account(limit, reporter, (uint64_t) at);
        account->saved = fmin(saved, saved_max(account));
        account->at = (uint64_t) at;
        json_array_foreach(withheld, i, each)
                add_withheld(account, each);
}

void ald_notice_limit_add_json(AldNoticeLimit *limit, json_t *json)
{
        json_t *each;
        size_t i;

        json_array_foreach(json, i, each)
                add_account(limit, each);
}
