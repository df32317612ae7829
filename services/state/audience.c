/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "services/state/audience.h"
#include "services/common/timer.h"
#include "services/state/object-paths.h"

/* The largest burst of signals after a quiet time. */
#define BURST 64.0

#define BLOCKED_RETRY_USEC (G_USEC_PER_SEC / 10)

/* An audience that has waited this long, or that has more changes waiting than it is sent in a second,
 * receives all fields of changed records, since the last sent records are not kept. */
#define BEHIND_USEC (1 * G_USEC_PER_SEC)

/* Separates the notice from its entry. */
static void detach_notice(AldAudience *audience, AldNotice *notice)
{
        g_hash_table_remove(audience->notices, notice->entry);
        notice->entry->n_awaiting--;
        notice->entry = NULL;
}

void ald_audience_drop(AldAudience *audience, AldNotice *notice)
{
        g_queue_unlink(&audience->waiting, &notice->place);
        if (notice->entry)
                detach_notice(audience, notice);
        g_clear_pointer(&notice->sent, ald_record_unref);
        g_free(notice->path);
        g_free(notice);
}

AldAudience *ald_audience_new(const char *name, uid_t uid, gint64 now)
{
        AldAudience *audience = g_new0(AldAudience, 1);

        audience->name = g_strdup(name);
        audience->uid = uid;
        audience->notices = g_hash_table_new(NULL, NULL);
        audience->per_second = ALD_SIGNALS_PER_SECOND;
        audience->budget = BURST;
        audience->filled = now;
        g_queue_init(&audience->waiting);
        return audience;
}

void ald_audience_free(AldAudience *audience)
{
        AldNotice *notice;

        while ((notice = g_queue_peek_head(&audience->waiting)))
                ald_audience_drop(audience, notice);
        g_hash_table_unref(audience->notices);
        g_free(audience->name);
        g_free(audience);
}

static AldNotice *add_notice(AldAudience *audience, AldEntry *entry)
{
        AldNotice *notice = g_new0(AldNotice, 1);

        notice->entry = entry;
        notice->kind = entry->kind;
        notice->known = entry->announced;
        notice->place.data = notice;
        g_hash_table_insert(audience->notices, entry, notice);
        entry->n_awaiting++;
        g_queue_push_tail_link(&audience->waiting, &notice->place);
        return notice;
}

bool ald_audience_note_change(AldAudience *audience, AldEntry *entry, AldRecord *before)
{
        AldNotice *notice;

        if (g_hash_table_contains(audience->notices, entry))
                return false;
        notice = add_notice(audience, entry);
        if (before && !audience->behind && audience->waiting.length <= audience->per_second)
                notice->sent = ald_record_ref(before);
        return audience->waiting.length == 1;
}

bool ald_audience_note_removal(AldAudience *audience, AldEntry *entry)
{
        AldNotice *notice = g_hash_table_lookup(audience->notices, entry);
        bool is_first = false;

        if (!notice && entry->announced) {
                notice = add_notice(audience, entry);
                is_first = audience->waiting.length == 1;
        }
        if (!notice)
                return false;
        /* An audience that does not know the entry yet needs no signal. */
        if (!notice->known) {
                ald_audience_drop(audience, notice);
                return false;
        }
        g_clear_pointer(&notice->sent, ald_record_unref);
        notice->path = ald_path_of_entry(entry);
        detach_notice(audience, notice);
        return is_first;
}

static void fill_budget(AldAudience *audience, gint64 now)
{
        double fill = audience->per_second * (double) (now - audience->filled) / G_USEC_PER_SEC;

        audience->budget = MIN(BURST, audience->budget + fill);
        audience->filled = now;
}

static unsigned count_of_user(const GPtrArray *audiences, uid_t uid)
{
        unsigned n = 0;

        for (guint i = 0; i < audiences->len; i++) {
                const AldAudience *audience = audiences->pdata[i];

                n += audience->name && audience->uid == uid;
        }
        return n;
}

/* Each connection counts by its share of its user, so that all connections of one user count as one. */
void ald_audiences_share(const GPtrArray *audiences, gint64 now)
{
        double users = 0;

        for (guint i = 0; i < audiences->len; i++) {
                const AldAudience *audience = audiences->pdata[i];

                if (audience->name)
                        users += 1.0 / count_of_user(audiences, audience->uid);
        }
        for (guint i = 0; i < audiences->len; i++) {
                AldAudience *audience = audiences->pdata[i];

                if (!audience->name)
                        continue;
                fill_budget(audience, now);
                audience->per_second = ALD_SIGNALS_PER_SECOND_SUBSCRIBED / users /
                                       count_of_user(audiences, audience->uid);
        }
}

AldDerivedView ald_audience_waiting_view(const AldAudience *audience)
{
        AldDerivedView view = 0;

        while (view < ALD_DERIVED_N && audience->views[view] == 0)
                view++;
        return view;
}

static bool has_waiting(const AldAudience *audience)
{
        return audience->totals != 0 || ald_audience_waiting_view(audience) < ALD_DERIVED_N ||
               audience->waiting.length > 0;
}

bool ald_audience_is_due(AldAudience *audience, gint64 now)
{
        fill_budget(audience, now);
        return has_waiting(audience) && audience->budget >= 1;
}

void ald_audience_spend(AldAudience *audience)
{
        audience->budget--;
        audience->blocked_since = 0;
        audience->behind = false;
}

/* The time for which a client does not read is not limited, but what is kept for it is. */
gint64 ald_audience_note_blocked(AldAudience *audience, gint64 now)
{
        if (audience->blocked_since == 0)
                audience->blocked_since = now;
        if (!audience->behind && now - audience->blocked_since >= BEHIND_USEC) {
                audience->behind = true;
                for (GList *l = audience->waiting.head; l; l = l->next)
                        g_clear_pointer(&((AldNotice *) l->data)->sent, ald_record_unref);
        }
        return now + BLOCKED_RETRY_USEC;
}

gint64 ald_audience_next(const AldAudience *audience, gint64 now)
{
        return has_waiting(audience) ? now + (gint64) (G_USEC_PER_SEC / audience->per_second) + 1
                                     : ALD_TIMER_NEVER;
}
