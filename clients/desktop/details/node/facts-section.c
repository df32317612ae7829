/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib/gi18n.h>
#include <string.h>

#include "clients/common/columns/node-columns.h"
#include "clients/common/columns/node-facts.h"
#include "clients/common/node-summary.h"
#include "clients/common/safe-text.h"
#include "clients/desktop/details/details-section.h"
#include "clients/desktop/details/rows/fact-row.h"
#include "clients/desktop/details/sections.h"

#define ALD_TYPE_FACTS_SECTION (ald_facts_section_get_type())
G_DECLARE_FINAL_TYPE(AldFactsSection, ald_facts_section, ALD, FACTS_SECTION, AldDetailsSection)

struct _AldFactsSection {
        AldDetailsSection parent;
};

G_DEFINE_FINAL_TYPE(AldFactsSection, ald_facts_section, ALD_TYPE_DETAILS_SECTION)

/* The records that facts come from, by label. Facts of devices are left to the section of devices. */
static const struct {
        const char *label;
        AldKind kind; /* of the record with the fact */
        bool of_device;
} sources[] = {
        { "Model", ALD_KIND_IDENTITY, false },
        { "Processor", ALD_KIND_IDENTITY, false },
        { "System", ALD_KIND_IDENTITY, false },
        { "Memory", ALD_KIND_MEMORY, false },
        { "CPU", ALD_KIND_SYSTEM, false },
        { "GPU", ALD_KIND_BACKENDS, true },
        { "Device", ALD_KIND_BACKENDS, true },
        { "Measured", ALD_KIND_COMPUTE, true },
        { "Not measured", ALD_KIND_COMPUTE, true },
        { "Network", ALD_KIND_NETWORK, false },
};

/* Returns the index of the source, or the number of sources if there is none. */
static size_t find_source(const AldFact *fact)
{
        size_t i = 0;

        while (i < G_N_ELEMENTS(sources) && strcmp(sources[i].label, fact->label) != 0)
                i++;
        return i;
}

/* Returns why figures of the machine itself are absent, such as "permission denied reading …". Safe text, or
 * NULL. */
static char *describe_absence(const AldEntity *node)
{
        const AldSystem *system = ald_entity_as(node, SYSTEM, AldSystem);
        const char *const *reasons = system ? system->absent_reasons : NULL;
        g_autoptr(GString) text = g_string_new(NULL);

        for (; reasons && *reasons; reasons++) {
                g_autofree char *safe = ald_text_safe(*reasons);
                const char *colon = strstr(safe, ": ");

                if (!g_str_has_prefix(safe, "Devices"))
                        g_string_append_printf(
                                text, "%s%s", text->len > 0 ? "\n" : "", colon ? colon + 2 : safe);
        }
        return text->len > 0 ? g_string_free(g_steal_pointer(&text), FALSE) : NULL;
}

static char *describe_reason(const AldFact *fact, size_t source, const AldEntity *node)
{
        if (source == G_N_ELEMENTS(sources))
                return NULL;
        if (!fact->text && !ald_entity_record(node, sources[source].kind))
                return g_strdup(_("not reported yet"));
        return sources[source].kind == ALD_KIND_SYSTEM ? describe_absence(node) : NULL;
}

static void show_memory(AldFactRow *row, const AldEntity *node)
{
        const AldListColumn *used = &ald_node_columns[ALD_NODE_COLUMN_USED];
        AldNodeRow last = ald_node_row_last_known(node);

        ald_fact_row_show_level(row, used->share(&last), _(used->title));
}

/* Returns a unique key. Some labels occur several times, such as those of networks. */
static char *make_key(const GPtrArray *facts, guint index)
{
        const AldFact *fact = facts->pdata[index];
        guint before = 0;

        for (guint i = 0; i < index; i++)
                before += strcmp(((const AldFact *) facts->pdata[i])->label, fact->label) == 0;
        return g_strdup_printf("%s %u", fact->label, before);
}

static bool has_gpu(const AldEntity *node)
{
        g_autoptr(GArray) devices = ald_node_devices(node);

        for (guint i = 0; i < devices->len; i++)
                if (!ald_node_device_is_processor(&g_array_index(devices, AldNodeDevice, i)))
                        return true;
        return false;
}

/* Returns whether this is a fact about a device. On a node without a GPU, the fact "GPU" says so, and is not
 * about a device. */
static bool is_of_device(size_t source, bool with_gpu)
{
        return source < G_N_ELEMENTS(sources) && sources[source].of_device &&
               (with_gpu || strcmp(sources[source].label, "GPU") != 0);
}

static void add_fact_row(AldKeyedRows *rows, const AldEntity *node, const AldFact *fact, const char *key)
{
        size_t source = find_source(fact);
        g_autofree char *reason = describe_reason(fact, source, node);
        AldFactRow *row = ALD_FACT_ROW(ald_keyed_rows_next(rows, key, ald_fact_row_new));

        ald_fact_row_show(row, _(fact->label), fact->text, fact->tone, reason);
        if (source < G_N_ELEMENTS(sources) && sources[source].kind == ALD_KIND_MEMORY)
                show_memory(row, node);
}

static void update_facts(AldDetailsSection *section, const AldDetailsSubject *subject)
{
        AldKeyedRows *rows = ald_details_section_rows(section);
        g_autoptr(GPtrArray) facts = ald_node_facts(subject->node_a, subject->now);
        bool with_gpu = has_gpu(subject->node_a);

        ald_keyed_rows_begin(rows);
        for (guint i = 0; i < facts->len; i++) {
                g_autofree char *key = make_key(facts, i);

                if (!is_of_device(find_source(facts->pdata[i]), with_gpu))
                        add_fact_row(rows, subject->node_a, facts->pdata[i], key);
        }
        ald_keyed_rows_end(rows);
}

static void ald_facts_section_class_init(AldFactsSectionClass *class)
{
        AldDetailsSectionClass *section_class = ALD_DETAILS_SECTION_CLASS(class);

        section_class->parts = ALD_LIVE_NODE_SET | ALD_LIVE_FIGURES | ALD_DETAILS_TICK;
        section_class->shows_telemetry = true;
        section_class->update = update_facts;
}

static void ald_facts_section_init(AldFactsSection *section)
{
        ald_details_section_set_title(ALD_DETAILS_SECTION(section), _("Overview"));
}

GtkWidget *ald_facts_section_new(void)
{
        return g_object_new(ALD_TYPE_FACTS_SECTION, NULL);
}
