/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "state/planner-device.h"
#include "state/planner.h"

static bool is_avoided(const AldDeviceInput *input, const char *id)
{
        for (size_t i = 0; i < input->n_avoid; i++)
                if (strcmp(input->avoid[i], id) == 0)
                        return true;
        return false;
}

static bool is_new_driver(const AldBackend *backend, const AldComputeDevice *row)
{
        return row && row->driver_version && backend->driver_version &&
               strcmp(row->driver_version, backend->driver_version) != 0;
}

static AldPathState judge(
        const AldNode *node, const AldBackend *backend, const AldComputeDevice *row, uint64_t now)
{
        AldAttempts attempts = ALD_ATTEMPTS_NONE;
        AldPathState state;

        if (row) {
                attempts.measured_usec = row->measured_usec;
                attempts.failed_usec = row->failed_usec;
                attempts.failures = row->failures;
        }
        state = ald_attempts_judge(&attempts, ald_path_seed(&node->id, &node->id, backend->id),
                ald_planner_ttl(ALD_KIND_COMPUTE), now);
        /* Where the new driver does not work either, it waits as after any failure. */
        if (!state.due && state.reason == ALD_DUE_EXPIRED && is_new_driver(backend, row))
                state = (AldPathState){ true, ALD_DUE_DRIVER, ALD_ABSENT_UINT64 };
        return state;
}

static bool is_free(const AldDevice *live, AldDueReason reason)
{
        if (!live)
                return true;
        if (g_strcmp0(live->power_state, ald_device_power_state_to_string(ALD_DEVICE_POWER_STATE_ASLEEP)) ==
                0)
                return reason != ALD_DUE_EXPIRED;
        return !(live->usage > ALD_DEVICE_USAGE_MAX_PERCENT);
}

/* What was never measured comes first, then what waits longest. */
static int compare_due(gconstpointer a, gconstpointer b)
{
        const AldDueDevice *left = a, *right = b;
        uint64_t x = left->since == ALD_ABSENT_UINT64 ? 0 : left->since;
        uint64_t y = right->since == ALD_ABSENT_UINT64 ? 0 : right->since;

        if (x != y)
                return x < y ? -1 : 1;
        return left->reason != right->reason ? (int) left->reason - (int) right->reason
                                             : strcmp(left->id, right->id);
}

GArray *ald_planner_devices(AldStore *store, const AldDeviceInput *input)
{
        const AldNode *node = ald_store_local_node(store);
        const AldBackends *backends = ald_record_as(
                ald_node_record(node, ALD_KIND_BACKENDS), BACKENDS, AldBackends);
        const AldCompute *compute = ald_record_as(
                ald_node_record(node, ALD_KIND_COMPUTE), COMPUTE, AldCompute);
        const AldSystem *system = ald_record_as(ald_node_record(node, ALD_KIND_SYSTEM), SYSTEM, AldSystem);
        GArray *due = g_array_new(FALSE, FALSE, sizeof(AldDueDevice));

        for (size_t i = 0; backends && i < backends->devices.n; i++) {
                const AldBackend *backend = ald_rows_at(&backends->devices, i);
                const char *id = backend->id;
                AldPathState state;
                AldDueDevice device;

                if (!backend->open_cl_platform || is_avoided(input, id))
                        continue;
                state = judge(node, backend, compute ? ald_rows_find(&compute->devices, id) : NULL,
                        input->now_realtime);
                device = (AldDueDevice){ .id = id, .reason = state.reason, .since = state.since };
                if (state.due && is_free(system ? ald_rows_find(&system->devices, id) : NULL, state.reason))
                        g_array_append_val(due, device);
        }
        g_array_sort(due, compare_due);
        g_array_set_size(due, (guint) MIN(due->len, input->max));
        return due;
}
