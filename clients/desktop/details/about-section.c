/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib/gi18n.h>

#include "clients/common/safe-text.h"
#include "clients/desktop/details/details-section.h"
#include "clients/desktop/details/rows/sentence-row.h"
#include "clients/desktop/details/sections.h"
#include "clients/desktop/live/finding-item.h"

#define ALD_TYPE_ABOUT_SECTION (ald_about_section_get_type())
G_DECLARE_FINAL_TYPE(AldAboutSection, ald_about_section, ALD, ABOUT_SECTION, AldDetailsSection)

/* Lists the findings about a node, or about both nodes of a pair. */
struct _AldAboutSection {
        AldDetailsSection parent;
};

G_DEFINE_FINAL_TYPE(AldAboutSection, ald_about_section, ALD_TYPE_DETAILS_SECTION)

static bool is_about(AldFindingItem *item, const AldDetailsSubject *subject)
{
        const char *const *nodes = ald_finding_item_nodes(item);

        return g_strv_contains(nodes, subject->a) && (!subject->b || g_strv_contains(nodes, subject->b));
}

static void show_finding(AldSentenceRow *row, AldFindingItem *item)
{
        const char *remedy = ald_finding_item_remedy(item);
        g_autofree char *silenced = ald_finding_item_is_silent(item)
                                            ? g_strjoin("\n", _("Silenced"), remedy, NULL)
                                            : NULL;

        ald_sentence_row_show(row, ald_finding_item_icon(item), ald_finding_item_title(item),
                ald_severity_tone(ald_finding_item_severity(item)),
                ald_finding_item_text(item, ALD_FINDING_COLUMN_TEXT), silenced ?: remedy);
}

/* Returns a text like "Silenced until 12:00:00: repair of the switch", or NULL. */
static char *describe_silence(const AldDetailsSubject *subject)
{
        const char *const nodes[] = { subject->a, subject->b, NULL };
        const AldSilenceRow *silence = ald_live_history_find_silence(
                ald_live_cluster_history(subject->cluster), nodes);
        g_autofree char *until = silence && silence->until_usec != ALD_ABSENT_UINT64
                                         ? ald_finding_time_text(silence->until_usec)
                                         : NULL;
        g_autofree char *reason = silence ? ald_text_safe_or_null(silence->reason) : NULL;
        g_autofree char *text = until ? g_strdup_printf(_("Silenced until %s"), until)
                                      : g_strdup(_("Silenced until stopped"));

        if (!silence)
                return NULL;
        return reason ? g_strdup_printf("%s: %s", text, reason) : g_steal_pointer(&text);
}

static void update_findings(AldDetailsSection *section, const AldDetailsSubject *subject)
{
        AldKeyedRows *rows = ald_details_section_rows(section);
        GListModel *findings = ald_live_cluster_findings(subject->cluster);
        guint n = g_list_model_get_n_items(findings);
        g_autofree char *silence = describe_silence(subject);

        ald_details_section_set_note(section, silence);
        ald_keyed_rows_begin(rows);
        for (guint i = 0; i < n; i++) {
                g_autoptr(AldFindingItem) item = g_list_model_get_item(findings, i);

                if (is_about(item, subject))
                        show_finding(ALD_SENTENCE_ROW(ald_keyed_rows_next(
                                             rows, ald_finding_item_key(item), ald_sentence_row_new)),
                                item);
        }
        ald_keyed_rows_end(rows);
}

static void ald_about_section_class_init(AldAboutSectionClass *class)
{
        AldDetailsSectionClass *section_class = ALD_DETAILS_SECTION_CLASS(class);

        section_class->parts = ALD_LIVE_NODE_SET | ALD_LIVE_FINDINGS;
        section_class->update = update_findings;
}

static void ald_about_section_init(AldAboutSection *section)
{
        ald_details_section_set_title(ALD_DETAILS_SECTION(section), _("Findings"));
}

GtkWidget *ald_about_section_new(void)
{
        return g_object_new(ALD_TYPE_ABOUT_SECTION, NULL);
}
