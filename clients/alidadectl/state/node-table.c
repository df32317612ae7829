/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include "clients/alidadectl/state/node-table.h"
#include "clients/command-line/text.h"
#include "clients/common/format.h"
#include "clients/common/node-summary.h"

#define BAR_WIDTH 10
#define SHOWN_ID_LENGTH 12

enum {
        NAME,
        SEEN,
        MEMORY,
        CPU,
        GPUS,
        TEMPERATURE,
        POWER,
        FP16,
        BANDWIDTH,
        N_COMMON,
};

/* Priorities: what is dropped first on a narrow terminal. */
#define COMMON_COLUMNS                                                                       \
        [NAME] = { "NAME", .least = 12, .flexible = true }, [SEEN] = { "SEEN", .least = 9 }, \
        [MEMORY] = { "FREE MEMORY", .right = true, .least = 13 },                            \
        [CPU] = { "CPU", .right = true, .least = 5, .priority = 1 },                         \
        [GPUS] = { "GPU", .right = true, .least = 5, .priority = 2 },                        \
        [TEMPERATURE] = { "TEMP", .right = true, .least = 5, .priority = 4 },                \
        [POWER] = { "POWER", .right = true, .least = 5, .priority = 5 },                     \
        [FP16] = { "FP16", .right = true, .least = 11, .priority = 3 },                      \
        [BANDWIDTH] = { "BANDWIDTH", .right = true, .least = 9, .priority = 6 }

static const AldColumn list_columns[] = {
        COMMON_COLUMNS,
        { "ADDRESSES", .least = 15, .priority = 7, .flexible = true },
        { "ID", .least = SHOWN_ID_LENGTH, .priority = 8 },
};

static const AldColumn live_columns[] = {
        COMMON_COLUMNS,
        { "ADDRESSES", .least = 15, .priority = 7, .flexible = true },
        { "USED", .least = BAR_WIDTH, .priority = 8 },
};

G_STATIC_ASSERT(G_N_ELEMENTS(list_columns) <= ALD_NODE_TABLE_COLUMNS_MAX);
G_STATIC_ASSERT(G_N_ELEMENTS(live_columns) <= ALD_NODE_TABLE_COLUMNS_MAX);

AldTable *ald_node_table_new(AldNodeTableKind kind)
{
        return kind == ALD_NODE_TABLE_LIST ? ald_table_new(list_columns, G_N_ELEMENTS(list_columns))
                                           : ald_table_new(live_columns, G_N_ELEMENTS(live_columns));
}

static char *styled(const char *style, char *text)
{
        char *result = g_strconcat(style, text, ALD_STYLE_NORMAL, NULL);

        g_free(text);
        return result;
}

static char *format_bar(const AldNodeFigures *figures)
{
        double used = 1 - figures->memory_available / figures->memory_total;
        GString *bar = g_string_new(NULL);

        if (!(used >= 0 && used <= 1))
                return g_string_free(bar, FALSE);
        g_string_append(bar, used > 0.9 ? ALD_STYLE_ERROR : used > 0.75 ? ALD_STYLE_WARNING : ALD_STYLE_GOOD);
        for (int i = 0; i < BAR_WIDTH; i++)
                g_string_append(bar, i < (int) lround(used * BAR_WIDTH) ? "█" : "░");
        g_string_append(bar, ALD_STYLE_NORMAL);
        return g_string_free(bar, FALSE);
}

static char *format_gpus(const AldEntity *node, bool excluded)
{
        AldGpuSummary gpus = ald_gpu_summary(node);
        g_autofree char *usage = NULL;

        if (gpus.n == 0)
                return g_strdup(gpus.known ? "none" : ALD_ABSENT_TEXT);
        if (excluded)
                usage = g_strdup(ALD_ABSENT_TEXT);
        else if (gpus.n_asleep == gpus.n)
                usage = g_strdup("asleep");
        else
                usage = ald_format_percent(gpus.usage);
        return gpus.n == 1 ? g_steal_pointer(&usage) : g_strdup_printf("%u × %s", gpus.n, usage);
}

static void add_figures(AldTable *table, const AldNodeFigures *figures)
{
        ald_table_add(table, ald_format_celsius(figures->millicelsius));
        ald_table_add(table, ald_format_watts(figures->microwatts));
        ald_table_add(table, ald_node_compute(figures));
        ald_table_add(table, ald_format_bytes_per_second(figures->bandwidth));
}

static void forget_samples(AldNodeFigures *figures)
{
        figures->memory_available = figures->usage = figures->millicelsius = figures->microwatts = NAN;
}

static char *format_seen(const AldEntity *node, double now_usec)
{
        AldTone tone;
        g_autofree char *text = ald_format_seen(node, now_usec, &tone);

        return ald_text_toned(tone, text);
}

void ald_node_table_add(
        AldTable *table, AldNodeTableKind kind, AldModel *model, const AldEntity *node, double now_usec)
{
        AldNodeFigures figures = ald_node_figures(node);
        bool own = g_strcmp0(node->id, ald_model_node_id(model)) == 0;
        bool excluded = ald_node_exclusion(model, node) != NULL;
        char *addresses = ald_node_addresses(node);

        if (excluded)
                forget_samples(&figures);
        ald_table_add(table, styled(own ? ALD_STYLE_BOLD : "", ald_entity_label(node)));
        ald_table_add(table, format_seen(node, now_usec));
        ald_table_add(table, ald_format_bytes_of(figures.memory_available, figures.memory_total));
        ald_table_add(table, ald_format_percent(figures.usage));
        ald_table_add(table, format_gpus(node, excluded));
        add_figures(table, &figures);
        ald_table_add(table, addresses ? addresses : g_strdup(ALD_ABSENT_TEXT));
        ald_table_add(table,
                kind == ALD_NODE_TABLE_LIST ? g_strndup(node->id, SHOWN_ID_LENGTH) : format_bar(&figures));
}

static void add_device(AldTable *table, AldNodeTableKind kind, const AldNodeDevice *device, bool excluded)
{
        AldNodeFigures figures = ald_node_device_figures(device);
        g_autofree char *name = ald_node_device_name(device);

        if (excluded)
                forget_samples(&figures);
        ald_table_add(table, g_strdup_printf("  " ALD_STYLE_DIM "%s" ALD_STYLE_NORMAL, name));
        ald_table_add(table, NULL);
        ald_table_add(table, ald_node_device_is_unified(device) && isnan(figures.memory_total)
                                     ? g_strdup("shared")
                                     : ald_format_bytes_of(figures.memory_available, figures.memory_total));
        ald_table_add(table, NULL);
        ald_table_add(table, ald_node_device_is_asleep(device) && !excluded
                                     ? g_strdup("asleep")
                                     : ald_format_percent(figures.usage));
        add_figures(table, &figures);
        ald_table_add(table, NULL);
        ald_table_add(table, kind == ALD_NODE_TABLE_LIST ? NULL : format_bar(&figures));
}

void ald_node_table_add_devices(
        AldTable *table, AldNodeTableKind kind, AldModel *model, const AldEntity *node)
{
        g_autoptr(GArray) devices = ald_node_devices(node);
        bool excluded = ald_node_exclusion(model, node) != NULL;

        for (guint i = 0; i < devices->len; i++) {
                const AldNodeDevice *device = &g_array_index(devices, AldNodeDevice, i);

                if (!ald_node_device_is_processor(device))
                        add_device(table, kind, device, excluded);
        }
}
