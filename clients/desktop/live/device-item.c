/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

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

static bool is_same_row(const AldStruct *type, const void *a, const void *b)
{
        if (!a || !b || a == b)
                return a == b;
        for (size_t i = 0; i < type->n_fields; i++) {
                const AldField *field = &type->fields[i];

                if (ald_field_compare(field, ald_field_of(field, a), ald_field_of(field, b)) != 0)
                        return false;
        }
        return true;
}

static bool are_same_rows(const AldRows *a, const AldRows *b)
{
        if (!a || !b || a->n != b->n)
                return a == b;
        for (size_t i = 0; i < a->n; i++)
                if (!is_same_row(a->type, ald_rows_at(a, i), ald_rows_at(b, i)))
                        return false;
        return true;
}

/* Compares figures, of which two that are absent are equal. */
static bool is_same_figure(double a, double b)
{
        return a == b || (isnan(a) && isnan(b));
}

static bool are_same_figures(const AldNodeFigures *a, const AldNodeFigures *b)
{
        return is_same_figure(a->memory_total, b->memory_total) &&
               is_same_figure(a->memory_available, b->memory_available) &&
               is_same_figure(a->usage, b->usage) && is_same_figure(a->millicelsius, b->millicelsius) &&
               is_same_figure(a->microwatts, b->microwatts) && a->power_of == b->power_of &&
               is_same_figure(a->tflops, b->tflops) && is_same_figure(a->tflops_fp32, b->tflops_fp32) &&
               is_same_figure(a->bandwidth, b->bandwidth);
}

/* Compares all that columns read. */
static bool is_same(const AldDeviceRow *a, const AldDeviceRow *b)
{
        return a->counts == b->counts && a->is_stale == b->is_stale && a->is_part == b->is_part &&
               a->n_parts == b->n_parts && g_strcmp0(a->exclusion, b->exclusion) == 0 &&
               are_same_figures(&a->figures, &b->figures) && is_same_figure(a->free_bytes, b->free_bytes) &&
               is_same_row(&ald_backend_struct, a->device.backend, b->device.backend) &&
               is_same_row(&ald_device_struct, a->device.system, b->device.system) &&
               is_same_row(&ald_compute_device_struct, a->device.compute, b->device.compute) &&
               is_same_row(&ald_held_device_struct, a->held, b->held) &&
               are_same_rows(a->holders, b->holders);
}

void ald_device_item_update(AldDeviceItem *item, const AldDeviceRow *row, AldDeviceItem *whole)
{
        bool same = is_same(&item->row, row);

        take_row(item, row, whole);
        if (!same)
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
