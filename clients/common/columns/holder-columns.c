/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "clients/common/columns/holder-columns.h"
#include "clients/common/format.h"
#include "clients/common/safe-text.h"
#include "record/translate.h"

static bool has_kind(const AldHolder *holder, AldHolderOwnerKind kind)
{
        return g_strcmp0(holder->owner_kind, ald_holder_owner_kind_to_string(kind)) == 0;
}

/* Returns what the processes belong to; NULL if that is nothing in particular. */
static char *format_owner(const AldHolder *holder)
{
        g_autofree char *owner = ald_text_safe_or_null(holder->owner);

        if (has_kind(holder, ALD_HOLDER_OWNER_KIND_SESSION))
                return g_strdup(_("a user's session"));
        if (owner && has_kind(holder, ALD_HOLDER_OWNER_KIND_JOB))
                /* Translators: a job of a batch system, and its number. */
                return g_strdup_printf(_("job %s"), owner);
        return g_steal_pointer(&owner);
}

char *ald_holder_name(const AldHolder *holder)
{
        char *name = holder->program ? ald_text_safe(holder->program) : format_owner(holder);

        return name ?: g_strdup(_("other processes"));
}

/* Returns "python3, 4711, alice, job 12". */
static char *name_text(const void *row)
{
        const AldHolder *holder = row;
        GString *text = g_string_new(NULL);

        ald_parts_add(text, "%s", ald_holder_name(holder));
        ald_parts_add(text, "%s", ald_format_count(ald_uint64_to_double(holder->pid)));
        ald_parts_add_text(text, "%s", holder->user);
        if (holder->program)
                ald_parts_add(text, "%s", format_owner(holder));
        return g_string_free(text, FALSE);
}

static double memory_number(const void *row)
{
        return ald_uint64_to_double(((const AldHolder *) row)->memory_bytes);
}

static double load_number(const void *row)
{
        return ((const AldHolder *) row)->usage;
}

static double processes_number(const void *row)
{
        return ald_uint64_to_double(((const AldHolder *) row)->processes);
}

const AldListColumn ald_holder_columns[ALD_HOLDER_N_COLUMNS] = {
        [ALD_HOLDER_COLUMN_NAME] = { .id = "name",
                .key = "Name",
                .heading = "NAME",
                .title = N_("Name"),
                .text = name_text },
        [ALD_HOLDER_COLUMN_MEMORY] = { .id = "memory",
                .key = "MemoryBytes",
                .heading = "MEMORY",
                .title = N_("Memory in use"),
                .is_number = true,
                .number = memory_number },
        [ALD_HOLDER_COLUMN_LOAD] = { .id = "load",
                .key = "Usage",
                .heading = "LOAD",
                .title = N_("Load"),
                .is_number = true,
                .number = load_number },
        [ALD_HOLDER_COLUMN_PROCESSES] = { .id = "processes",
                .key = "Processes",
                .heading = "HOLDERS",
                .title = N_("Processes"),
                .is_number = true,
                .format = ald_format_count,
                .number = processes_number },
};
