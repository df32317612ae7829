/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "services/cluster/peers/quota-report.h"
#include "record/json.h"

#define REPORT_MAX 4096u

static bool read_number(const json_t *row, const char *name, uint64_t *ret)
{
        const json_t *value = json_object_get(row, name);

        if (!json_is_integer(value) || json_integer_value(value) < 0)
                return false;
        *ret = (uint64_t) json_integer_value(value);
        return true;
}

static bool read_row(const json_t *row, AldQuotaReportRow *ret)
{
        const char *node = json_string_value(json_object_get(row, "node"));

        return node && ald_id_parse(node, &ret->node) >= 0 &&
               read_number(row, "kept_bytes", &ret->kept_bytes) &&
               read_number(row, "kept_topics", &ret->kept_topics) &&
               read_number(row, "refused", &ret->refused);
}

size_t ald_quota_report_read(
        const char *bytes, size_t n, AldQuotaReportRow ret[static ALD_QUOTA_REPORT_NODES])
{
        json_auto_t *json = NULL;
        const json_t *row;
        size_t i, found = 0;

        if (ald_json_load(bytes, n, REPORT_MAX, &json, NULL) < 0)
                return 0;
        json_array_foreach(json_object_get(json, "nodes"), i, row)
                if (found < ALD_QUOTA_REPORT_NODES && read_row(row, &ret[found]))
                        found++;
        return found;
}

char *ald_quota_report_describe(const AldId *node, bool is_own)
{
        char id[ALD_ID_STRING_SIZE];

        ald_id_format(node, id);
        if (is_own)
                return g_strdup(
                        "it refuses some messages of this machine, which exceed the limits of a node");
        return g_strdup_printf(
                "node %s exceeds the limits of a node, and some of its messages are refused. If its key was "
                "stolen, or if this does not stop, run alidadectl cluster revoke %s",
                id, id);
}
