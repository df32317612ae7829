/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "clients/desktop/live/link-item.h"

struct _AldLinkItem {
        GObject parent;
        AldLinkSummary *summary;
        double clock_offset; /* µs; the clock of the source minus ours */
        char *key, *verdict;
        AldTone tone;
};

enum { CHANGED, N_SIGNALS };
static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE(AldLinkItem, ald_link_item, G_TYPE_OBJECT)

static void ald_link_item_finalize(GObject *object)
{
        AldLinkItem *item = ALD_LINK_ITEM(object);

        ald_link_summary_free(item->summary);
        g_free(item->key);
        g_free(item->verdict);
        G_OBJECT_CLASS(ald_link_item_parent_class)->finalize(object);
}

static void ald_link_item_class_init(AldLinkItemClass *class)
{
        G_OBJECT_CLASS(class)->finalize = ald_link_item_finalize;
        signals[CHANGED] = g_signal_new(
                "changed", G_TYPE_FROM_CLASS(class), G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
}

static void ald_link_item_init(AldLinkItem *item)
{
}

static void replace_summary(AldLinkItem *item, AldLinkSummary *summary)
{
        ald_link_summary_free(item->summary);
        item->summary = summary;
        item->clock_offset = summary->now - (double) g_get_real_time();
}

char *ald_link_summary_key(const AldLinkSummary *summary)
{
        return g_strdup_printf(
                "%s %s %d %s", summary->source_id, summary->sink_id, summary->rdma, summary->path);
}

AldLinkItem *ald_link_item_new(AldLinkSummary *summary)
{
        AldLinkItem *item = g_object_new(ALD_TYPE_LINK_ITEM, NULL);

        item->key = ald_link_summary_key(summary);
        item->verdict = ald_link_verdict_words(summary, &item->tone);
        replace_summary(item, summary);
        return item;
}

/* Compares bit by bit, so that absent figures, which are NaN, are equal. */
static bool is_same_figure(double a, double b)
{
        return memcmp(&a, &b, sizeof a) == 0;
}

static bool is_same_summary(const AldLinkSummary *a, const AldLinkSummary *b)
{
        return is_same_figure(a->measured, b->measured) &&
               memcmp(a->directions, b->directions, sizeof a->directions) == 0 &&
               is_same_figure(a->rtt, b->rtt) && is_same_figure(a->jitter, b->jitter) &&
               is_same_figure(a->due, b->due) && g_strcmp0(a->type, b->type) == 0 &&
               g_strcmp0(a->interface, b->interface) == 0 && strcmp(a->source, b->source) == 0 &&
               strcmp(a->sink, b->sink) == 0;
}

void ald_link_item_update(AldLinkItem *item, AldLinkSummary *summary)
{
        AldTone tone;
        g_autofree char *verdict = ald_link_verdict_words(summary, &tone);
        bool changed = !is_same_summary(item->summary, summary) || tone != item->tone ||
                       strcmp(verdict, item->verdict) != 0;

        replace_summary(item, summary);
        if (!changed)
                return;
        g_free(item->verdict);
        item->verdict = g_steal_pointer(&verdict);
        item->tone = tone;
        g_signal_emit(item, signals[CHANGED], 0);
}

const char *ald_link_item_key(AldLinkItem *item)
{
        return item->key;
}

const AldLinkSummary *ald_link_item_summary(AldLinkItem *item)
{
        item->summary->now = (double) g_get_real_time() + item->clock_offset;
        return item->summary;
}

const char *ald_link_item_verdict(AldLinkItem *item, AldTone *ret_tone)
{
        *ret_tone = item->tone;
        return item->verdict;
}
