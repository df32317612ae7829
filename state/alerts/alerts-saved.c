/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdlib.h>

#include "record/json.h"
#include "state/alerts/alert-key.h"
#include "state/alerts/alerts-private.h"
#include "state/alerts/alerts-saved.h"

#define VERSION 1

static json_t *alert_to_json(const AldAlert *alert)
{
        const AldAlertDamping *damping = &alert->damping;
        json_t *json = json_pack("{s:o, s:b, s:b, s:I, s:I, s:i}", "finding",
                ald_struct_to_json(&ald_finding_row_struct, alert->row), "present", damping->present, "begun",
                damping->begun, "changed", (json_int_t) damping->changed_usec, "flapped",
                (json_int_t) damping->flapped_usec, "flaps", (int) damping->flaps);

        if (damping->first_usec != ALD_ABSENT_UINT64)
                json_object_set_new(json, "first", json_integer((json_int_t) damping->first_usec));
        return json;
}

char *ald_alerts_format(AldAlerts *alerts)
{
        json_t *array = json_array();
        json_t *root = json_pack("{s:i, s:I, s:o}", "version", VERSION, "updated",
                (json_int_t) alerts->updated_usec, "alerts", array);
        GHashTableIter iter;
        gpointer alert;
        char *dump, *text;

        g_hash_table_iter_init(&iter, alerts->by_key);
        while (g_hash_table_iter_next(&iter, NULL, &alert))
                json_array_append_new(array, alert_to_json(alert));
        dump = json_dumps(root, JSON_COMPACT | JSON_SORT_KEYS);
        text = g_strconcat(dump, "\n", NULL);
        free(dump);
        json_decref(root);
        return text;
}

static bool is_time(json_int_t usec)
{
        return usec >= 0 && usec <= ALD_INTEGER_MAX;
}

static int read_damping(json_t *json, AldAlertDamping *ret)
{
        json_int_t changed, flapped, first = -1;
        int present, begun, flaps;

        if (json_unpack(json, "{s:b, s:b, s:I, s:I, s:i, s?I}", "present", &present, "begun", &begun,
                    "changed", &changed, "flapped", &flapped, "flaps", &flaps, "first", &first) < 0 ||
                !is_time(changed) || !is_time(flapped) || first > ALD_INTEGER_MAX || flaps < 0 ||
                flaps > (int) ALD_ALERT_FLAPS_MAX || ((present || begun) && first < 0))
                return -EBADMSG;
        *ret = (AldAlertDamping){ .present = present,
                .begun = begun,
                .first_usec = first < 0 ? ALD_ABSENT_UINT64 : (uint64_t) first,
                .changed_usec = (uint64_t) changed,
                .flapped_usec = (uint64_t) flapped,
                .flaps = (unsigned) flaps };
        return 0;
}

/* An alert for which there is no room is left out: an older version may have saved more than this one
 * follows. */
static int read_alert(AldAlerts *alerts, json_t *json)
{
        g_autofree AldFindingRow *row = NULL;
        AldAlertDamping damping;
        AldAlert *alert;
        char *key;

        if (read_damping(json, &damping) < 0)
                return -EBADMSG;
        row = ald_struct_from_json(&ald_finding_row_struct, json_object_get(json, "finding"));
        if (!row || !row->id)
                return -EBADMSG;
        key = ald_alert_key(row);
        if (g_hash_table_contains(alerts->by_key, key)) {
                g_free(key);
                return -EBADMSG;
        }
        alert = ald_alerts_add(alerts, key, row);
        if (alert)
                alert->damping = damping;
        return 0;
}

static int read_root(AldAlerts *alerts, json_t *root, char **ret_error)
{
        json_t *array, *json;
        json_int_t version, updated;
        size_t i;

        if (json_unpack(root, "{s:I, s:I, s:o}", "version", &version, "updated", &updated, "alerts", &array) <
                        0 ||
                !json_is_array(array) || !is_time(updated)) {
                *ret_error = g_strdup("version, updated or alerts is missing or wrong");
                return -EBADMSG;
        }
        if (version != VERSION) {
                *ret_error = g_strdup_printf("unknown version %" JSON_INTEGER_FORMAT, version);
                return -EBADMSG;
        }
        alerts->updated_usec = (uint64_t) updated;
        json_array_foreach(array, i, json)
                if (read_alert(alerts, json) < 0) {
                        *ret_error = g_strdup_printf("alert %zu is invalid", i);
                        return -EBADMSG;
                }
        alerts->left_out = (guint) json_array_size(array) - g_hash_table_size(alerts->by_key);
        return 0;
}

int ald_alerts_parse(const char *text, size_t n, AldAlerts **ret, char **ret_error)
{
        g_autoptr(AldAlerts) alerts = ald_alerts_new();
        json_t *root;
        int r;

        r = ald_json_load(text, n, ALD_ALERTS_SAVED_MAX, &root, ret_error);
        if (r < 0)
                return -EBADMSG;
        r = read_root(alerts, root, ret_error);
        json_decref(root);
        if (r < 0)
                return r;
        *ret = g_steal_pointer(&alerts);
        return 0;
}
