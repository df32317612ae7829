/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "clients/desktop/live/node-item.h"
#include "record/figure-text.h"

struct _AldNodeItem {
        GObject parent;
        AldModel *model;
        char *id, *name;
        AldItemPresence presence;
        AldNodeRow row;
};

enum { CHANGED, N_SIGNALS };
static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE(AldNodeItem, ald_node_item, G_TYPE_OBJECT)

static void ald_node_item_finalize(GObject *object)
{
        AldNodeItem *item = ALD_NODE_ITEM(object);

        g_free(item->id);
        g_free(item->name);
        G_OBJECT_CLASS(ald_node_item_parent_class)->finalize(object);
}

static void ald_node_item_class_init(AldNodeItemClass *class)
{
        G_OBJECT_CLASS(class)->finalize = ald_node_item_finalize;
        signals[CHANGED] = g_signal_new(
                "changed", G_TYPE_FROM_CLASS(class), G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
}

static void ald_node_item_init(AldNodeItem *item)
{
}

/* Returns whether the node has a presence that this version knows; this machine needs none. */
static bool has_known_presence(AldModel *model, const AldEntity *node)
{
        const AldPresence *presence = ald_entity_as(node, PRESENCE, AldPresence);

        return g_strcmp0(node->id, ald_model_node_id(model)) == 0 ||
               (presence && presence->state && ald_presence_state_from_string(presence->state) >= 0);
}

static AldItemPresence presence_of(AldModel *model, const AldEntity *node)
{
        const char *exclusion = node ? ald_node_exclusion(model, node) : NULL;

        if (!node || g_strcmp0(exclusion, "offline") == 0)
                return ALD_ITEM_PRESENCE_OFFLINE;
        if (g_strcmp0(exclusion, "duplicate") == 0)
                return ALD_ITEM_PRESENCE_DUPLICATE;
        if (exclusion || !has_known_presence(model, node))
                return ALD_ITEM_PRESENCE_UNKNOWN;
        return ald_node_is_stale(model, node) ? ALD_ITEM_PRESENCE_STALE : ALD_ITEM_PRESENCE_ONLINE;
}

static void read_figures(AldNodeItem *item, const AldEntity *node)
{
        item->presence = presence_of(item->model, node);
        item->row = ald_node_row(item->model, node, (double) g_get_real_time());
}

void ald_node_item_refresh(AldNodeItem *item)
{
        const AldEntity *node = ald_node_item_entity(item);
        char *name = node ? ald_entity_label(node) : NULL;

        if (name) {
                g_free(item->name);
                item->name = name;
        }
        read_figures(item, node);
        g_signal_emit(item, signals[CHANGED], 0);
}

AldNodeItem *ald_node_item_new(AldModel *model, const char *id)
{
        AldNodeItem *item = g_object_new(ALD_TYPE_NODE_ITEM, NULL);
        const AldEntity *node = ald_model_get(model, id);

        item->model = model;
        item->id = g_strdup(id);
        item->name = node ? ald_entity_label(node) : g_strdup(ALD_ABSENT_TEXT);
        read_figures(item, node);
        return item;
}

const char *ald_node_item_id(AldNodeItem *item)
{
        return item->id;
}

const char *ald_node_item_name(AldNodeItem *item)
{
        return item->name;
}

const AldEntity *ald_node_item_entity(AldNodeItem *item)
{
        return ald_model_get(item->model, item->id);
}

AldItemPresence ald_node_item_presence(AldNodeItem *item)
{
        return item->presence;
}

char *ald_node_item_seen(AldNodeItem *item, AldTone *ret_tone)
{
        const AldEntity *node = ald_node_item_entity(item);

        if (node)
                return ald_format_seen(node, (double) g_get_real_time(), ret_tone);
        *ret_tone = ALD_TONE_FAINT;
        return g_strdup(ALD_ABSENT_TEXT);
}

const AldNodeRow *ald_node_item_row(AldNodeItem *item)
{
        item->row.node = ald_node_item_entity(item);
        item->row.now_usec = (double) g_get_real_time();
        return &item->row;
}

const char *ald_node_item_icon(AldNodeItem *item)
{
        static const struct {
                const char *chassis, *icon;
        } icons[] = {
                { "laptop", "alidade-laptop-symbolic" },
                { "convertible", "alidade-laptop-symbolic" },
                { "server", "network-server-symbolic" },
                { "desktop", "alidade-tower-symbolic" },
                { "tower", "alidade-tower-symbolic" },
                { "vm", "alidade-virtual-machine-symbolic" },
                { "container", "alidade-container-symbolic" },
                { "embedded", "alidade-board-symbolic" },
                { "tablet", "tablet-symbolic" },
                { "handset", "phone-symbolic" },
        };
        const AldIdentity *identity = ald_entity_as(ald_node_item_entity(item), IDENTITY, AldIdentity);

        for (size_t i = 0; identity && i < G_N_ELEMENTS(icons); i++)
                if (g_strcmp0(identity->chassis, icons[i].chassis) == 0)
                        return icons[i].icon;
        return "computer-symbolic";
}
