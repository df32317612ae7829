/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Probes of the file systems of this machine that hold models. */
#include <errno.h>

#include "record/id.h"
#include "services/common/errors.h"
#include "services/link-probe/inhibit/inhibit-what.h"
#include "services/link-probe/kinds/probe-facts.h"
#include "services/link-probe/kinds/probe-kinds.h"
#include "services/link-probe/kinds/storage-answer.h"
#include "services/link-probe/kinds/storage-targets.h"
#include "services/link-probe/probe/probe-child.h"
#include "state/planner/planner-storage.h"

/* The probe reads for at most 30 s, and may have to look for models on slow disks. */
#define DEADLINE_MSEC 120000u

/* About 5 min, as for compute devices. */
#define RETRIES_MAX 100u

/* The state of this kind: the known file systems, and the obstacles that the last list of devices borrows. */
typedef struct Storage {
        AldStorageTargets *targets;
        GPtrArray *reasons;
} Storage;

static GPtrArray *make_arguments(const AldProgram *program, const AldProbeTarget *target)
{
        GPtrArray *arguments = g_ptr_array_new_with_free_func(g_free);

        ald_program_add(arguments, "--json");
        ald_program_add(arguments, "--progress-fd=" ALD_PROBE_SIDE_FD);
        ald_program_add(arguments, "--file-system=%s", target->device);
        if (!target->force)
                ald_program_add(arguments, "--give-way");
        for (char **argument = target->arguments; argument && *argument; argument++)
                ald_program_add(arguments, "%s", *argument);
        return arguments;
}

static int read_progress(
        const char *line, const AldProbeTarget *target, char **ret_phase, double *ret_fraction)
{
        return ald_storage_progress_read(line, ret_phase, ret_fraction);
}

static void read_answer(
        const char *output, const char *failure, const AldProbeTarget *target, AldProbeAnswer *ret)
{
        ald_storage_answer_read(output, failure, target->device, target->force, ret);
}

static char *take_options(const void *read, AldProbeTarget *target)
{
        const AldProbeStorageOptions *options = read;

        target->force = options->force;
        return NULL;
}

static AldStorageTargets *targets_of(const AldDeviceSchedule *schedule)
{
        const Storage *storage = ald_device_schedule_state(schedule);

        return storage->targets;
}

static AldProbeTarget make_file_system_target(const AldDeviceSchedule *schedule, const char *id, bool force)
{
        AldProbeTarget target = ald_storage_targets_make(targets_of(schedule), id, force);

        target.kind = ald_device_schedule_parts(schedule)->kind;
        return target;
}

/* Appends the named file system, or all that can be measured. */
static int resolve(const AldProbeTarget *wanted, const AldProbeFacts *facts, GArray *targets)
{
        AldStorageTargets *known = targets_of(facts->schedule);
        const AldRows *rows;
        int r = -ALD_E_NO_SUCH_DEVICE;

        ald_storage_targets_take(known, facts->own);
        rows = ald_storage_targets_rows(known);
        if (!rows)
                return -ENODATA;
        if (!wanted->force && ald_device_schedule_processors(facts->schedule))
                return -ALD_E_PROCESSORS_BUSY;
        for (size_t i = 0; i < rows->n; i++) {
                const char *id = ((const AldStorageFigures *) ald_rows_at(rows, i))->id;
                g_autofree char *hindrance = NULL;

                if (wanted->device && !g_str_equal(wanted->device, id))
                        continue;
                hindrance = ald_storage_targets_hindrance(known, id, wanted->force);
                if (hindrance) {
                        r = -ALD_E_BUSY;
                } else {
                        AldProbeTarget target = make_file_system_target(facts->schedule, id, wanted->force);

                        g_array_append_val(targets, target);
                }
        }
        return targets->len > 0 ? 0 : r;
}

static const AldProbeRefusal refusals[] = {
        { -ALD_E_NO_SUCH_DEVICE, ALD_ERROR_NO_SUCH_DEVICE, "No models were found on such a file system" },
        { -ENODATA, ALD_ERROR_NO_SUCH_DEVICE,
                "The file systems with models are not known yet, or storage= is false" },
        { -ALD_E_BUSY, ALD_ERROR_BUSY,
                "The file system cannot be measured now: its disk may be asleep, its models cannot be read "
                "directly, or storage-mb-per-day= allows no more bytes today, for which there is the option "
                "Force" },
        { 0, NULL, "Cannot read the file systems from the state service" },
};

static void *new_state(const AldDeviceScheduleParts *parts)
{
        Storage *storage = g_new(Storage, 1);

        storage->targets = ald_storage_targets_new(parts);
        storage->reasons = g_ptr_array_new_with_free_func(g_free);
        return storage;
}

static void free_state(void *state)
{
        Storage *storage = state;

        ald_storage_targets_free(storage->targets);
        g_ptr_array_unref(storage->reasons);
        g_free(storage);
}

/* Probes of links move data through the memory as well. */
static const char *why_links_go_first(const AldDeviceSchedule *schedule)
{
        const AldDeviceScheduleParts *parts = ald_device_schedule_parts(schedule);

        return ald_prober_count_links(parts->prober) + ald_sessions_count(parts->sessions) > 0
                       ? "links are being measured"
                       : NULL;
}

/* An automatic measurement can wait, since nobody asked for its result. */
static const char *why_not_automatically(const AldDeviceSchedule *schedule)
{
        const AldMachineState *state = ald_machine_state(ald_device_schedule_parts(schedule)->machine);

        if (state->battery)
                return "this machine runs on battery";
        if (state->resumed)
                return "this machine was suspended until a moment ago";
        return state->outside_hours ? "it is outside probe-hours=" : NULL;
}

static char *find_obstacle(AldDeviceSchedule *schedule, const AldProbeTarget *target)
{
        const AldStorageTargets *targets = targets_of(schedule);
        const char *links = why_links_go_first(schedule);
        const char *not_now = target->automatic ? why_not_automatically(schedule) : NULL;
        char *hindrance;

        if (!target->force && !target->despite_work && !not_now)
                not_now = ald_device_schedule_processors(schedule);
        if (links || not_now)
                return g_strdup(links ?: not_now);
        hindrance = ald_storage_targets_hindrance(targets, target->device, target->force);
        /* Other probes may have read since it was requested. */
        if (!hindrance && !target->force &&
                ald_storage_target_bytes(target) > ald_storage_targets_left(targets, target->device))
                return g_strdup("storage-mb-per-day= allows no more bytes today");
        return hindrance;
}

static void list_avoided(AldDeviceSchedule *schedule, GPtrArray *ids)
{
        AldStorageTargets *targets = targets_of(schedule);
        bool none = why_links_go_first(schedule) || why_not_automatically(schedule);
        const AldStorage *stored;

        ald_storage_targets_tick(targets, schedule);
        stored = ald_storage_targets_all(targets);
        for (size_t i = 0; stored && i < stored->file_systems.n; i++) {
                const AldStorageFileSystem *row = ald_rows_at(&stored->file_systems, i);
                g_autofree char *hindrance = ald_storage_targets_hindrance(targets, row->id, false);

                if (none || hindrance ||
                        (ald_device_schedule_processors(schedule) &&
                                !ald_device_schedule_has_waited(schedule, row->id)))
                        g_ptr_array_add(ids, g_strdup(row->id));
        }
}

static GArray *list_file_systems(
        AldDeviceSchedule *schedule, const AldNodeRecords *own, uint64_t now_realtime)
{
        Storage *storage = ald_device_schedule_state(schedule);
        const char *not_now = why_not_automatically(schedule) ?: ald_device_schedule_processors(schedule);
        GArray *devices = g_array_new(FALSE, FALSE, sizeof(AldLocalDevice));
        const AldRows *rows;
        AldId node = { 0 };

        ald_storage_targets_take(storage->targets, own);
        g_ptr_array_set_size(storage->reasons, 0);
        (void) ald_id_parse(ald_device_schedule_parts(schedule)->own_id, &node);
        rows = ald_storage_targets_rows(storage->targets);
        for (size_t i = 0; rows && i < rows->n; i++) {
                const char *id = ((const AldStorageFigures *) ald_rows_at(rows, i))->id;
                const AldStorageFileSystem *stored = ald_storage_targets_stored(storage->targets, id);
                char *hindrance = ald_storage_targets_hindrance(storage->targets, id, false);
                AldLocalDevice device = { .id = id, .obstacle = hindrance ?: not_now };

                if (hindrance)
                        g_ptr_array_add(storage->reasons, hindrance);
                if (!stored)
                        continue;
                device.due = ald_storage_state(&node, stored, now_realtime).due;
                g_array_append_val(devices, device);
        }
        return devices;
}

static AldProbeTarget make_target(
        const AldDeviceSchedule *schedule, const AldNodeRecords *own, const char *id)
{
        return make_file_system_target(schedule, id, false);
}

/* Notes how much an attempt has read. If that is unknown, it may have read all that it was allowed to. */
static void note_failed_attempt(
        AldDeviceSchedule *schedule, const AldProbeTarget *target, const AldProbeAnswer *answer)
{
        AldRowResults *results = ald_device_schedule_results(schedule);
        const AldStorageFileSystem *found = ald_row_results_find(results, target->device);
        AldStorageFileSystem row = ALD_STORAGE_FILE_SYSTEM_INIT;
        uint64_t bytes = ald_storage_answer_bytes(answer);

        if (answer->verdict == ALD_PROBE_DONE)
                return;
        if (found)
                row = *found;
        row.id = target->device;
        row.attempted_usec = ald_realtime_usec();
        row.attempt_bytes = bytes == ALD_ABSENT_UINT64 ? ald_storage_target_bytes(target) : bytes;
        ald_row_results_put(results, &row);
        ald_storage_targets_refresh(targets_of(schedule));
}

static const AldLocalKind local = {
        .key = "storage",
        .new_state = new_state,
        .free_state = free_state,
        .avoid = list_avoided,
        .look = list_file_systems,
        .target = make_target,
        .obstacle = find_obstacle,
        .ended = note_failed_attempt,
        .record = ald_storage_answer_record,
};

static const AldKind needs[] = { ALD_KIND_DISK, ALD_KIND_STORAGE, ALD_N_KINDS };

const AldProbeKind ald_probe_storage = {
        .kind = ALD_KIND_STORAGE,
        .result = ALD_KIND_STORAGE_RESULT,
        .program = "alidade-probe-storage",
        .noun = "file systems",
        .subject = "Measuring file systems is",
        .inhibit = ALD_INHIBIT_STORAGE,
        .local = &local,
        .deadline_msec = DEADLINE_MSEC,
        .retries_max = RETRIES_MAX,
        .needs = needs,
        .make_arguments = make_arguments,
        .read_progress = read_progress,
        .read = read_answer,
        .join = ald_probe_answer_join,
        .options = &ald_probe_storage_options_struct,
        .take_options = take_options,
        .resolve = resolve,
        .refusals = refusals,
};
