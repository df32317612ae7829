/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "state/compute/compute-summary.h"
#include "state/planner/planner-device.h"

/* Loads are sent every second if they change, and every 30 s if they do not. */
#define SILENT_USEC (UINT64_C(120) * 1000 * 1000)

static bool is_new_driver(const AldBackend *backend, const AldComputeDevice *row)
{
        return row && row->driver_version && backend->driver_version &&
               strcmp(row->driver_version, backend->driver_version) != 0;
}

static AldPathState age_state(
        const AldDeviceRecords *records, const AldBackend *backend, const AldComputeDevice *row, uint64_t now)
{
        AldAttempts attempts = ALD_ATTEMPTS_NONE;
        AldPathState state;

        if (row) {
                attempts.measured_usec = row->measured_usec;
                attempts.failed_usec = row->failed_usec;
                attempts.failures = row->failures;
        }
        state = ald_attempts_state(&attempts, ald_path_seed(&records->node, &records->node, backend->id),
                ald_kind_ttl(ALD_KIND_COMPUTE), now);
        /* If the new driver fails as well, it waits as after any failure. */
        if (!state.due && state.reason == ALD_DUE_EXPIRED && is_new_driver(backend, row))
                state = (AldPathState){ true, ALD_DUE_DRIVER, ALD_ABSENT_UINT64 };
        return state;
}

const char *ald_device_obstacle_to_string(AldDeviceObstacle obstacle)
{
        static const char *const words[] = {
                [ALD_DEVICE_FREE] = "it is free",
                [ALD_DEVICE_ASLEEP] = "it is asleep",
                [ALD_DEVICE_COMPUTED_ON] = "processes compute on it",
                [ALD_DEVICE_IN_USE] = "it is in use",
                [ALD_DEVICE_LOAD_UNKNOWN] = "nothing reports its load",
        };

        g_assert((size_t) obstacle < G_N_ELEMENTS(words));
        return words[obstacle];
}

/* Returns the last report, or NULL if its source has gone silent. */
static const AldDevice *find_live(const AldDeviceRecords *records, const char *id, uint64_t now)
{
        bool is_silent = records->system_usec != 0 && records->system_usec < now &&
                         now - records->system_usec > SILENT_USEC;

        return records->system && !is_silent ? ald_rows_find(&records->system->devices, id) : NULL;
}

static AldDeviceObstacle find_obstacle(
        const AldDeviceRecords *records, const AldBackend *backend, const AldComputeDevice *row, uint64_t now)
{
        const AldDevice *live = find_live(records, backend->id, now);
        bool is_processor = g_strcmp0(backend->class, ald_backend_class_to_string(ALD_BACKEND_CLASS_CPU)) ==
                            0;
        bool is_measured = row && row->measured_usec != ALD_ABSENT_UINT64;

        if (live && live->compute_processes != ALD_ABSENT_UINT64 && live->compute_processes > 0)
                return ALD_DEVICE_COMPUTED_ON;
        if (live && live->usage > ALD_DEVICE_USAGE_MAX_PERCENT)
                return ALD_DEVICE_IN_USE;
        if (live && g_strcmp0(live->power_state,
                            ald_device_power_state_to_string(ALD_DEVICE_POWER_STATE_ASLEEP)) == 0)
                return ALD_DEVICE_ASLEEP;
        if (is_processor || !is_measured)
                return ALD_DEVICE_FREE;
        return live && (!isnan(live->usage) || live->compute_processes != ALD_ABSENT_UINT64)
                       ? ALD_DEVICE_FREE
                       : ALD_DEVICE_LOAD_UNKNOWN;
}

static const AldComputeDevice *find_row(const AldDeviceRecords *records, const AldBackend *backend)
{
        return records->compute ? ald_rows_find(&records->compute->devices, backend->id) : NULL;
}

AldDeviceObstacle ald_device_obstacle(
        const AldDeviceRecords *records, const AldBackend *backend, uint64_t now_realtime)
{
        return find_obstacle(records, backend, find_row(records, backend), now_realtime);
}

AldDeviceAssessment ald_device_assess(
        const AldDeviceRecords *records, const AldBackend *backend, uint64_t now_realtime)
{
        const AldComputeDevice *row = find_row(records, backend);
        AldDeviceAssessment assessment = {
                .state = age_state(records, backend, row, now_realtime),
                .obstacle = find_obstacle(records, backend, row, now_realtime),
        };

        /* A sleeping device is woken for its first measurement, or for a new driver. */
        if (assessment.obstacle == ALD_DEVICE_ASLEEP && assessment.state.reason != ALD_DUE_EXPIRED)
                assessment.obstacle = ALD_DEVICE_FREE;
        return assessment;
}

bool ald_device_is_measurable(const AldBackends *backends, const AldBackend *backend)
{
        return backend->open_cl_platform && !ald_compute_is_split(backends, backend);
}

static AldDeviceRecords records_of(const AldNode *node)
{
        AldRecord *system = ald_node_record(node, ALD_KIND_SYSTEM);

        return (AldDeviceRecords){
                .node = node->id,
                .backends = ald_node_as(node, BACKENDS, AldBackends),
                .compute = ald_node_as(node, COMPUTE, AldCompute),
                .system = ald_record_as(system, SYSTEM, AldSystem),
                .system_usec = system ? system->updated_usec : 0,
        };
}

GArray *ald_planner_devices(AldStore *store, const AldPlannerInput *input)
{
        const AldDeviceRecords records = records_of(ald_store_local_node(store));
        GArray *due = g_array_new(FALSE, FALSE, sizeof(AldDueProbe));

        for (size_t i = 0; records.backends && i < records.backends->devices.n; i++) {
                const AldBackend *backend = ald_rows_at(&records.backends->devices, i);
                AldDeviceAssessment assessment;
                AldDueProbe probe;

                if (!ald_device_is_measurable(records.backends, backend))
                        continue;
                assessment = ald_device_assess(&records, backend, input->now_realtime);
                probe = (AldDueProbe){
                        .kind = ALD_KIND_COMPUTE,
                        .peer = records.node,
                        .device = backend->id,
                        .reason = assessment.state.reason,
                        .since = assessment.state.since,
                };
                if (assessment.state.due && assessment.obstacle == ALD_DEVICE_FREE)
                        g_array_append_val(due, probe);
        }
        ald_planner_limit_local(due, input);
        return due;
}
