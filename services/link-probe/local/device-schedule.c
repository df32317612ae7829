/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdint.h>

#include <glib.h>

#include "services/common/errors.h"
#include "services/common/timer.h"
#include "services/link-probe/local/local-kind.h"

/* The time after the start, or after a measurement, until the load of the machine without it is known. */
#define PAUSE_USEC (UINT64_C(2) * G_USEC_PER_SEC)
#define TICK_USEC (UINT64_C(15) * G_USEC_PER_SEC)

/* The time after a measurement during which telemetry may still report it as other work. */
#define REPORTED_USEC (UINT64_C(3) * G_USEC_PER_SEC)

struct AldDeviceSchedule {
        AldDeviceScheduleParts parts;
        const AldLocalKind *local;
        void *state; /* of the kind */
        bool enabled;
        AldRowResults *results;
        AldTimer *tick;
        bool asked; /* the records of this node were requested */
        char *due;  /* device to measure once the records of this node have arrived */
        char *last; /* device that was measured last, and when that ended */
        uint64_t last_usec;
        const char *ours[3]; /* as last returned */
        GHashTable *waited;  /* see ald_device_schedule_has_waited() */
};

static uint64_t now_usec(void)
{
        return (uint64_t) g_get_monotonic_time();
}

static const AldProbe *running_probe(const AldDeviceSchedule *schedule)
{
        return ald_prober_running(schedule->parts.prober, schedule->parts.kind);
}

static bool is_inhibited(const AldDeviceSchedule *schedule)
{
        return ald_gate_check(schedule->parts.gate, schedule->parts.kind, true) < 0;
}

static const AldWork *work_of(const AldDeviceSchedule *schedule)
{
        return ald_machine_work(schedule->parts.machine);
}

const char *const *ald_device_schedule_ours(AldDeviceSchedule *schedule)
{
        const AldProbe *probe = running_probe(schedule);
        const char **device = schedule->ours;

        if (probe)
                *device++ = ald_probe_target(probe)->device;
        if (schedule->last && now_usec() < schedule->last_usec + REPORTED_USEC)
                *device++ = schedule->last;
        *device = NULL;
        return schedule->ours;
}

static void set_tick(AldDeviceSchedule *schedule, uint64_t delay)
{
        ald_timer_set(schedule->tick, (gint64) (now_usec() + delay));
}

/* Measurements of two kinds would move data through the same memory, so they exclude each other. */
char *ald_device_schedule_obstacle(AldDeviceSchedule *schedule, const AldProbeTarget *target)
{
        const AldProbe *other = ald_prober_running_other(schedule->parts.prober, schedule->parts.kind);

        return other ? g_strdup_printf("%s are being measured", ald_probe_target(other)->kind->noun)
                     : schedule->local->obstacle(schedule, target);
}

const char *ald_device_schedule_processors(const AldDeviceSchedule *schedule)
{
        return ald_work_processors(work_of(schedule));
}

bool ald_device_schedule_has_waited(const AldDeviceSchedule *schedule, const char *device)
{
        return g_hash_table_contains(schedule->waited, device);
}

/* A measurement that could not start because of another run of the program is tried again later. */
void ald_device_schedule_take(
        AldDeviceSchedule *schedule, const AldProbe *probe, const AldProbeAnswer *answer)
{
        const AldProbeTarget *target = ald_probe_target(probe);

        g_free(schedule->last);
        schedule->last = g_strdup(target->device);
        schedule->last_usec = now_usec();
        ald_row_results_take(schedule->results, target, answer, ald_realtime_usec());
        schedule->local->ended(schedule, target, answer);
        set_tick(schedule, answer->verdict == ALD_PROBE_LATER ? TICK_USEC : PAUSE_USEC);
}

static void on_ended(AldProbe *probe, const AldProbeAnswer *answer, void *userdata)
{
        AldDeviceSchedule *schedule = userdata;

        if (answer->verdict != ALD_PROBE_DONE)
                g_info("%s was not measured: %s", ald_probe_target(probe)->device, answer->reason);
        ald_device_schedule_take(schedule, probe, answer);
        schedule->parts.ended(schedule->parts.userdata);
}

static void record_start_failure(AldDeviceSchedule *schedule, const AldProbeTarget *target, int error)
{
        g_autofree char *reason = g_strdup_printf("cannot run the probe: %s", g_strerror(-error));
        const AldProbeAnswer answer = { .verdict = ALD_PROBE_FAILED, .reason = reason };

        ald_row_results_take(schedule->results, target, &answer, ald_realtime_usec());
}

/* Returns whether a due device may be measured now. */
static bool may_measure(const AldDeviceSchedule *schedule)
{
        return schedule->enabled && !is_inhibited(schedule) && ald_work_units_known(work_of(schedule)) &&
               !ald_work_unit(work_of(schedule)) && !running_probe(schedule);
}

static void start_probe(AldDeviceSchedule *schedule, const AldNodeRecords *own, const char *device)
{
        static const AldProbeHandler handler = { .ended = on_ended };
        AldProbeTarget target = schedule->local->target(schedule, own, device);
        g_autofree char *obstacle = NULL;
        AldProbe *probe;
        int r;

        target.automatic = true;
        obstacle = ald_device_schedule_obstacle(schedule, &target);
        if (obstacle && ald_device_schedule_has_waited(schedule, device)) {
                target.despite_work = true;
                g_free(obstacle);
                obstacle = ald_device_schedule_obstacle(schedule, &target);
        }
        r = obstacle ? 0 : ald_prober_start(schedule->parts.prober, &target, &handler, schedule, &probe);
        if (r < 0 && r != -ALD_E_BUSY)
                record_start_failure(schedule, &target, r);
        ald_probe_target_clear(&target);
}

/* Describes the other work that keeps the device from being measured; to be freed. Locks do not count: their
 * holders intend to keep probes away. */
static char *describe_other_work(const AldDeviceSchedule *schedule, const AldLocalDevice *device)
{
        const char *unit = ald_work_unit(work_of(schedule));

        return unit ? g_strdup_printf("%s is active", unit) : g_strdup(device->obstacle);
}

/* Returns whether a device that is not due must be measured as soon as no other work uses it, because its
 * last measurement met other work. After a restart, that follows from whether it still waits. */
static bool is_kept_waiting(const AldDeviceSchedule *schedule, const char *device, bool waits)
{
        const AldResultRow row = ald_row_results_read(schedule->results, device);
        bool was_measured = row.measured_usec != ALD_ABSENT_UINT64 || row.failed_usec != ALD_ABSENT_UINT64;

        return was_measured ? ald_row_results_met_other_work(schedule->results, device) : waits;
}

/* Updates since when and why a device waits. One that has become free waits until it has been measured, which
 * may fail. One that is asleep or not measured does not wait. */
static void update_waiting(AldDeviceSchedule *schedule, const AldRecord *stored, const AldLocalDevice *device,
        uint64_t now_realtime)
{
        const AldResultRow row = ald_row_results_read_known(schedule->results, stored, device->id);
        bool waits = row.waiting_since_usec <= now_realtime;
        bool is_wanted = schedule->enabled && !is_inhibited(schedule) &&
                         (device->due || is_kept_waiting(schedule, device->id, waits));
        g_autofree char *reason = is_wanted ? describe_other_work(schedule, device) : NULL;

        if (waits && reason && ald_probe_first_has_waited(row.waiting_since_usec, now_realtime) &&
                !ald_row_results_have_figures(schedule->results, stored, device->id))
                g_hash_table_add(schedule->waited, g_strdup(device->id));
        else
                g_hash_table_remove(schedule->waited, device->id);
        if (!is_wanted || (!reason && device->asleep)) {
                if (row.waiting_since_usec != ALD_ABSENT_UINT64)
                        ald_row_results_wait(schedule->results, device->id, ALD_ABSENT_UINT64, NULL);
        } else if (reason && (!waits || g_strcmp0(row.waiting_reason, reason) != 0))
                ald_row_results_wait(
                        schedule->results, device->id, waits ? row.waiting_since_usec : now_realtime, reason);
}

/* Checks the conditions again, since they may have changed while the state service was asked. */
static void on_records(int error, const AldNodeRecords *records, void *userdata)
{
        AldDeviceSchedule *schedule = userdata;
        g_autofree char *due = g_steal_pointer(&schedule->due);
        uint64_t now_realtime = ald_realtime_usec();
        g_autoptr(GArray) devices = NULL;

        schedule->asked = false;
        if (error < 0)
                return;
        devices = schedule->local->look(schedule, records, now_realtime);
        if (running_probe(schedule))
                return;
        for (unsigned i = 0; i < devices->len; i++) {
                const AldLocalDevice *device = &g_array_index(devices, AldLocalDevice, i);

                update_waiting(schedule, records->of[schedule->parts.kind->kind], device, now_realtime);
                if (g_strcmp0(due, device->id) == 0 && may_measure(schedule))
                        start_probe(schedule, records, device->id);
        }
}

static void ask_records(AldDeviceSchedule *schedule, const char *due)
{
        if (schedule->asked)
                return;
        schedule->due = g_strdup(due);
        schedule->asked = ald_state_query_own(
                                  schedule->parts.query, schedule->parts.own_id, on_records, schedule) >= 0;
        if (!schedule->asked)
                g_clear_pointer(&schedule->due, g_free);
}

static void on_due(int error, const AldRows *rows, void *userdata)
{
        AldDeviceSchedule *schedule = userdata;
        const char *device = NULL;

        if (error < 0)
                g_info("Cannot read the due device from the state service: %s", ald_error_describe(error));
        for (size_t i = 0; i < rows->n && !device; i++) {
                const AldDueProbeRow *row = ald_rows_at(rows, i);

                if (g_strcmp0(row->kind, ald_kinds[schedule->parts.kind->kind].name) == 0)
                        device = row->address;
        }
        ask_records(schedule, device);
}

static void on_tick(void *userdata)
{
        AldDeviceSchedule *schedule = userdata;
        g_autoptr(GPtrArray) avoid = g_ptr_array_new_with_free_func(g_free);
        const char *const kinds[] = { ald_kinds[schedule->parts.kind->kind].name, NULL };
        AldDueQuestion question;
        int r;

        set_tick(schedule, TICK_USEC);
        schedule->local->avoid(schedule, avoid);
        if (!may_measure(schedule)) {
                ask_records(schedule, NULL);
                return;
        }
        g_ptr_array_add(avoid, NULL);
        question = (AldDueQuestion){
                .max = 1,
                .kinds = kinds,
                .bytes_per_hour = ALD_ABSENT_UINT64,
                .avoid_devices = (const char *const *) avoid->pdata,
        };
        r = ald_state_query_due(schedule->parts.query, &question, on_due, schedule);
        if (r < 0)
                g_info("Cannot ask the state service for due devices: %s", g_strerror(-r));
}

AldDeviceSchedule *ald_device_schedule_new(const AldDeviceScheduleParts *parts)
{
        AldDeviceSchedule *schedule = g_new0(AldDeviceSchedule, 1);

        schedule->parts = *parts;
        schedule->local = parts->kind->local;
        schedule->state = schedule->local->new_state(parts);
        schedule->results = ald_row_results_new(parts->kind);
        schedule->waited = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        schedule->tick = ald_timer_new(schedule->local->key, on_tick, schedule);
        ald_device_schedule_configure(schedule);
        return schedule;
}

void ald_device_schedule_free(AldDeviceSchedule *schedule)
{
        if (!schedule)
                return;
        ald_timer_free(schedule->tick);
        ald_row_results_free(schedule->results);
        g_hash_table_unref(schedule->waited);
        schedule->local->free_state(schedule->state);
        g_free(schedule->due);
        g_free(schedule->last);
        g_free(schedule);
}

static void end_automatic(AldDeviceSchedule *schedule, const char *reason)
{
        const AldProbe *probe = running_probe(schedule);

        if (probe && ald_probe_target(probe)->automatic)
                ald_prober_end_kind(schedule->parts.prober, schedule->parts.kind, reason);
}

void ald_device_schedule_configure(AldDeviceSchedule *schedule)
{
        g_autofree char *reason = g_strdup_printf(
                "this machine no longer measures %s", schedule->parts.kind->noun);

        schedule->enabled = ald_config_boolean(
                ald_service_config(schedule->parts.service), schedule->local->key);
        if (!schedule->enabled)
                end_automatic(schedule, reason);
        set_tick(schedule, PAUSE_USEC);
}

void ald_device_schedule_check(AldDeviceSchedule *schedule)
{
        const char *unit = ald_work_unit(work_of(schedule));
        g_autofree char *reason = unit ? g_strdup_printf("%s is active", unit) : NULL;

        if (reason)
                end_automatic(schedule, reason);
        if (is_inhibited(schedule) || !reason)
                set_tick(schedule, PAUSE_USEC);
}

AldRowResults *ald_device_schedule_results(const AldDeviceSchedule *schedule)
{
        return schedule->results;
}

const AldDeviceScheduleParts *ald_device_schedule_parts(const AldDeviceSchedule *schedule)
{
        return &schedule->parts;
}

void *ald_device_schedule_state(const AldDeviceSchedule *schedule)
{
        return schedule->state;
}
