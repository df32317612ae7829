/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include <glib.h>

#include "state/alerts/alert-key.h"

#define KEY_MAX 200u /* bytes, beyond which a key is shortened */
#define KEY_KEPT 64u /* bytes at its beginning that are kept */

#define ID(NAME) ALD_FINDING_ROW_ID_##NAME

/* Nodes may join and leave these findings. */
static bool is_of_any_nodes(int id, const AldFindingRow *row)
{
        switch (id) {
        case ID(DEVICE_DRIVERS_DIFFER):
        case ID(FIELD_ABSENT):
        case ID(FRIENDLY_NAME_SHARED):
        case ID(HARDWARE_CLAIMED_TWICE):
        case ID(NODES_UNKNOWN):
        case ID(OS_VERSIONS_DIFFER):
        case ID(SWITCH_LINKS_AFFECTED):
        case ID(SWITCH_NODES_OFFLINE):
        case ID(VERSIONS_DIFFER):
                return true;
        case ID(UPLINK_LINKS_AFFECTED):
                return row->switch_id;
        default:
                return false;
        }
}

static void append_field(GString *key, const char *name, const char *value)
{
        if (value)
                g_string_append_printf(key, "\n%s=%s", name, value);
}

static void append_nodes(GString *key, int id, const AldFindingRow *row)
{
        size_t n = row->nodes ? g_strv_length((char **) row->nodes) : 0;

        if (n == 0 || is_of_any_nodes(id, row))
                return;
        if (id == ID(UPLINK_LINKS_AFFECTED)) {
                append_field(key, "Node", row->nodes[0]);
                append_field(key, "Node", row->nodes[n - 1]);
                return;
        }
        if (id == ID(LINK_ASYMMETRIC) && n == 2 && strcmp(row->nodes[0], row->nodes[1]) > 0) {
                append_field(key, "Node", row->nodes[1]);
                append_field(key, "Node", row->nodes[0]);
                return;
        }
        for (size_t i = 0; i < n; i++)
                append_field(key, "Node", row->nodes[i]);
}

static bool has_fallen(const AldFindingRow *row)
{
        return (row->upload.bits_per_second == ALD_ABSENT_UINT64
                               ? row->download.bits_per_second
                               : row->upload.bits_per_second) < row->past_bits_per_second;
}

/* Leaves out the interface of a link or an RDMA port, which is a property of it and may become known later.
 * */
static void append_arguments(GString *key, int id, const AldFindingRow *row)
{
        append_field(key, "Device", row->device);
        append_field(key, "Path", row->path);
        append_field(key, "Group", row->group);
        append_field(key, "Key", row->key);
        append_field(key, "Field", row->field);
        append_field(key, "SharedName", row->shared_name);
        if (id !=
                ID(CONFIGURATION_REFUSED)) /* another service that refuses it does not make another finding */
                append_field(key, "Service", row->service);
        append_field(key, "Switch", row->switch_id);
        append_field(key, "SecondSwitch", row->second_switch_id);
        if (id != ID(LINK_ASYMMETRIC)) {
                append_field(key, "Address", row->address);
                append_field(key, "Port", row->port);
                append_field(key, "SinkPort", row->sink_port);
        }
        if (id == ID(INTERFACE_SLOW) || id == ID(INTERFACE_LINKS_AFFECTED))
                append_field(key, "Interface", row->interface);
        if (id == ID(DEVICE_DRIVERS_DIFFER))
                append_field(key, "DeviceName", row->device_name);
        if (id == ID(FIELD_ABSENT))
                append_field(key, "Reason", row->reason);
        if (id == ID(SLOWER_THAN_PAST) && !row->device)
                append_field(
                        key, "Direction", row->upload.bits_per_second == ALD_ABSENT_UINT64 ? "down" : "up");
        if (id == ID(LINK_RATE_CHANGED)) /* the way back is a finding of its own */
                append_field(key, "Change", has_fallen(row) ? "fell" : "rose");
        if (row->remaining_usec == 0)
                append_field(key, "Expired", "true");
}

char *ald_alert_key_shorten(const char *key)
{
        g_autofree char *sum = NULL;
        GString *kept;

        if (strlen(key) <= KEY_MAX)
                return g_strdup(key);
        sum = g_compute_checksum_for_string(G_CHECKSUM_SHA256, key, -1);
        kept = g_string_new_len(key, g_utf8_find_prev_char(key, key + KEY_KEPT) - key);
        append_field(kept, "Checksum", sum);
        return g_string_free(kept, FALSE);
}

char *ald_alert_key(const AldFindingRow *row)
{
        g_autoptr(GString) key = g_string_new(row->id);
        int id = ald_finding_row_id_from_string(row->id);

        append_nodes(key, id, row);
        append_arguments(key, id, row);
        return ald_alert_key_shorten(key->str);
}
