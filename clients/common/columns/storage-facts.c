/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include "clients/common/columns/storage-facts.h"
#include "clients/common/format.h"
#include "clients/common/safe-text.h"
#include "clients/common/tone.h"
#include "clients/common/words.h"
#include "record/translate.h"

char *ald_storage_title(const AldStorageFileSystem *row)
{
        g_autofree char *id = ald_text_safe(row->id ?: ALD_ABSENT_TEXT);
        g_autofree char *disks = row->disks && row->disks[0] ? ald_format_list(row->disks) : NULL;

        return disks ? g_strdup_printf("%s (%s)", id, disks) : g_steal_pointer(&id);
}

/* Returns "3.21 GB/s ±1 %"; NULL if it was never measured. */
static char *describe_rate(const AldStorageFileSystem *row)
{
        g_autofree char *rate = ald_format_bytes_per_second(ald_uint64_to_double(row->read_bytes_per_second));
        g_autofree char *interval = NULL;

        if (row->read_bytes_per_second == ALD_ABSENT_UINT64)
                return NULL;
        if (isnan(row->read_interval) || row->read_interval <= 0)
                return g_steal_pointer(&rate);
        interval = ald_format_interval(row->read_interval);
        return g_strdup_printf("%s %s", rate, interval);
}

/* Returns "12 models of 310 GiB"; NULL if nobody looked for models. */
static char *describe_models(const AldStorageFileSystem *row)
{
        g_autofree char *bytes = ald_format_bytes(ald_uint64_to_double(row->model_bytes));

        if (row->model_files == ALD_ABSENT_UINT64 || row->model_bytes == ALD_ABSENT_UINT64)
                return NULL;
        /* Translators: a number of models, and how large they are together. */
        return g_strdup_printf(ngettext("%lu model of %s", "%lu models of %s", row->model_files),
                (unsigned long) row->model_files, bytes);
}

static void add_reservations(GString *text, const AldStorageFileSystem *row)
{
        if (!isnan(row->read_spread))
                ald_parts_add(text, _("spread %s"), ald_format_percent(row->read_spread));
        ald_parts_add(text, "%s", ald_words_list(row->flags));
}

char *ald_storage_glance(const AldStorageFileSystem *row)
{
        GString *text = g_string_new(NULL);
        char *rate = describe_rate(row);

        if (rate) {
                ald_parts_add(text, "%s", rate);
                add_reservations(text, row);
        }
        return g_string_free(text, FALSE);
}

static char *describe_place(const AldStorageFileSystem *row)
{
        GString *text = g_string_new(NULL);

        ald_parts_add(text, "%s", ald_storage_title(row));
        ald_parts_add_text(text, "%s", row->file_system_type);
        if (row->network == 1)
                ald_parts_add(text, "%s", g_strdup(_("on another machine")));
        return g_string_free(text, FALSE);
}

static char *describe_reads(const AldStorageFileSystem *row)
{
        GString *text = g_string_new(NULL);

        ald_parts_add(text, "%s", describe_rate(row));
        ald_parts_add(text, _("median %s"),
                ald_format_bytes_per_second(ald_uint64_to_double(row->read_median_bytes_per_second)));
        ald_parts_add(text, _("spread %s"), ald_format_percent(row->read_spread));
        return g_string_free(text, FALSE);
}

/* Returns how much was read, and in which requests. */
static char *describe_requests(const AldStorageFileSystem *row)
{
        GString *text = g_string_new(NULL);

        ald_parts_add(text, "%s", ald_format_bytes(ald_uint64_to_double(row->read_bytes)));
        ald_parts_add(text, _("in requests of %s"), ald_format_bytes(ald_uint64_to_double(row->block_bytes)));
        ald_parts_add(text, _("%s at a time"), ald_format_count(ald_uint64_to_double(row->queue_depth)));
        return g_string_free(text, FALSE);
}

GPtrArray *ald_storage_facts(const AldStorageFileSystem *row)
{
        GPtrArray *facts = ald_facts_new();

        ald_facts_add_known(facts, N_("Mounted at"), describe_place(row));
        ald_facts_add_known(facts, N_("Holds"), describe_models(row));
        ald_facts_add_known(facts, N_("Reads"), describe_reads(row));
        ald_facts_add_known(facts, N_("Measured"), describe_requests(row));
        ald_facts_add_known(facts, N_("Flags"), ald_words_list(row->flags));
        ald_facts_add_known(facts, N_("Failed"), ald_text_safe_or_null(row->failure));
        return facts;
}

char *ald_storage_summary(const AldStorageFileSystem *row, double now_usec)
{
        GString *text = g_string_new(NULL);
        g_autofree char *title = ald_storage_title(row), *rate = describe_rate(row);

        if (!rate && !row->failure && !row->waiting_reason)
                return g_string_free(text, FALSE);
        g_string_append(text, title);
        if (rate) {
                g_string_append_printf(text, " %s", rate);
                add_reservations(text, row);
                ald_parts_add(text, "%s", describe_models(row));
                ald_parts_add(text, _("measured %s"),
                        ald_format_age(ald_uint64_to_double(row->measured_usec), now_usec));
                ald_parts_add_text(text, _("last attempt failed: %s"), row->failure);
        } else {
                ald_parts_add(text, "%s", describe_models(row));
                ald_parts_add_text(text, _("not measured: %s"), row->failure ?: row->waiting_reason);
        }
        return g_string_free(text, FALSE);
}
