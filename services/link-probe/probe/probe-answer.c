/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "record/message.h"
#include "services/link-probe/probe/probe-answer.h"
#include "services/link-probe/probe/probe-child.h"

void ald_probe_answer_clear(AldProbeAnswer *answer)
{
        g_clear_pointer(&answer->word, g_free);
        g_clear_pointer(&answer->reason, g_free);
        g_clear_pointer(&answer->result, ald_record_unref);
}

int ald_probe_answer_parse(AldKind kind, const char *output, AldRecord **ret)
{
        size_t length = strlen(output);
        const char *start;

        while (length > 0 && g_ascii_isspace(output[length - 1]))
                length--;
        start = output + length;
        while (start > output && start[-1] != '\n')
                start--;
        return ald_message_parse(
                kind, start, (size_t) (output + length - start), ALD_PROBE_OUTPUT_MAX, ret, NULL);
}

static void take_failure(AldKind kind, const AldProbeFailure *failure, AldProbeAnswer *ret)
{
        static const char *const later[] = { "busy", "inhibited", ALD_PROBE_ROUND_TRIPS_ONLY, NULL };

        ret->word = g_strdup(failure->error);
        ret->verdict = g_strv_contains(later, failure->error) ? ALD_PROBE_LATER : ALD_PROBE_FAILED;
        if (kind == ALD_KIND_RDMA_RESULT && ret->verdict == ALD_PROBE_FAILED && failure->message)
                ret->reason = g_strdup_printf("%s: %s", failure->error, failure->message);
        else
                ret->reason = g_strdup(failure->message ?: failure->error);
}

void ald_probe_answer_read(AldKind kind, const char *output, const char *failure, AldProbeAnswer *ret)
{
        g_autoptr(AldRecord) failed = NULL;

        *ret = (AldProbeAnswer){ .verdict = ALD_PROBE_FAILED };
        if (failure)
                ret->reason = g_strdup_printf("the probe %s", failure);
        else if (ald_probe_answer_parse(ALD_KIND_PROBE_FAILURE, output, &failed) >= 0)
                take_failure(kind, ald_record_as(failed, PROBE_FAILURE, AldProbeFailure), ret);
        else if (ald_probe_answer_parse(kind, output, &ret->result) < 0)
                ret->reason = g_strdup("the probe returned no result");
        else
                ret->verdict = ALD_PROBE_DONE;
}

static GArray *join_rows(const AldField *list, const AldRecord *before, const AldRecord *after)
{
        const AldRows *parts[] = { ald_record_field(before, list), ald_record_field(after, list) };
        GArray *rows = g_array_new(FALSE, FALSE, (guint) list->rows->size);

        for (size_t i = 0; i < G_N_ELEMENTS(parts); i++)
                if (parts[i]->n > 0)
                        g_array_append_vals(rows, parts[i]->items, (guint) parts[i]->n);
        return rows;
}

int ald_probe_answer_join(const AldRecord *before, const AldRecord *after, AldRecord **ret)
{
        const AldStruct *type = ald_record_type(before);
        g_autofree char *fields = g_memdup2(type->absent, type->size);
        g_autoptr(GPtrArray) lists = g_ptr_array_new_with_free_func((GDestroyNotify) g_array_unref);

        for (size_t i = 0; i < type->n_fields; i++) {
                const AldField *field = &type->fields[i];
                AldRows joined = { .type = field->rows };
                GArray *rows;

                if (field->type != ALD_TYPE_ROWS)
                        continue;
                rows = join_rows(field, before, after);
                g_ptr_array_add(lists, rows);
                joined.items = rows->data;
                joined.n = rows->len;
                memcpy(fields + field->offset, &joined, sizeof joined);
        }
        return ald_record_new(before->kind, fields, ret);
}

bool ald_probe_wanted(const AldSessionReport *report, AldProbeWanted *ret)
{
        int scope = ald_link_scope_from_string(report->scope);

        *ret = (AldProbeWanted){
                .scope = (AldLinkScope) MAX(scope, 0),
                .automatic = report->automatic == 1,
                .overdue = report->overdue == 1,
        };
        return scope >= 0;
}
