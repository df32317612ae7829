/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "clients/desktop/live/device-item.h"

/* The records that a row points into. */
static const AldKind kinds[] = { ALD_KIND_BACKENDS, ALD_KIND_SYSTEM, ALD_KIND_COMPUTE, ALD_KIND_DOUBTS,
        ALD_KIND_PROCESSES };

struct _AldDeviceItem {
        GObject parent;
        AldNodeItem *node;
        AldDeviceItem *whole; /* NULL: itself */
        AldRecord *records[G_N_ELEMENTS(kinds)];
        AldDeviceRow row;
};

enum { CHANGED, N_SIGNALS };
static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE(AldDeviceItem, ald_device_item, G_TYPE_OBJECT)

static void ald_device_item_finalize(GObject *object)
{
        AldDeviceItem *item = ALD_DEVICE_ITEM(object);

        for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++)
                g_clear_pointer(&item->records[i], ald_record_unref);
        g_clear_object(&item->whole);
        g_object_unref(item->node);
        G_OBJECT_CLASS(ald_device_item_parent_class)->finalize(object);
}

static void ald_device_item_class_init(AldDeviceItemClass *class)
{
        G_OBJECT_CLASS(class)->finalize = ald_device_item_finalize;
        signals[CHANGED] = g_signal_new(
                "changed", G_TYPE_FROM_CLASS(class), G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
}

static void ald_device_item_init(AldDeviceItem *item)
{
}

/* Keeps the records of the row, which the model may replace before the next update. */
static void take_row(AldDeviceItem *item, const AldDeviceRow *row, AldDeviceItem *whole)
{
        for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++) {
                const AldRecord *record = ald_entity_record(row->node, kinds[i]);

                g_clear_pointer(&item->records[i], ald_record_unref);
                item->records[i] = record ? ald_record_ref((AldRecord *) record) : NULL;
        }
        g_set_object(&item->whole, whole);
        item->row = *row;
}

AldDeviceItem *ald_device_item_new(AldNodeItem *node, const AldDeviceRow *row, AldDeviceItem *whole)
{
        AldDeviceItem *item = g_object_new(ALD_TYPE_DEVICE_ITEM, NULL);

        item->node = g_object_ref(node);
        take_row(item, row, whole);
        return item;
}

void ald_device_item_update(AldDeviceItem *item, const AldDeviceRow *row, AldDeviceItem *whole)
{
        take_row(item, row, whole);
        g_signal_emit(item, signals[CHANGED], 0);
}

AldNodeItem *ald_device_item_node(AldDeviceItem *item)
{
        return item->node;
}

AldDeviceItem *ald_device_item_whole(AldDeviceItem *item)
{
        return item->whole ?: item;
}

const AldDeviceRow *ald_device_item_row(AldDeviceItem *item)
{
        item->row.node = ald_node_item_entity(item->node);
        item->row.now_usec = (double) g_get_real_time();
        return &item->row;
}
