/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <time.h>

#include "services/link-probe/machine/machine.h"
#include "services/link-probe/machine/power-bus.h"
#include "services/link-probe/machine/power.h"
#include "services/link-probe/net/wifi.h"

struct AldMachine {
        AldCounters *counters;
        AldMedia *media;
        AldPower *power;
        AldResume resume;
        AldWork *work;
        AldMachineState state;
};

AldMachine *ald_machine_new(
        AldService *service, const AldInhibitors *inhibitors, void (*changed)(void *userdata), void *userdata)
{
        AldMachine *machine = g_new0(AldMachine, 1);
        int root = ald_service_root(service);

        machine->counters = ald_counters_new(root);
        machine->media = ald_media_new(root, ald_wifi_generation);
        machine->power = ald_power_new(service);
        machine->work = ald_work_new(service, inhibitors, changed, userdata);
        ald_work_configure(machine->work, ald_service_config(service));
        return machine;
}

void ald_machine_free(AldMachine *machine)
{
        if (!machine)
                return;
        ald_media_free(machine->media);
        ald_counters_free(machine->counters);
        ald_work_free(machine->work);
        ald_power_free(machine->power);
        g_free(machine);
}

AldCounters *ald_machine_counters(const AldMachine *machine)
{
        return machine->counters;
}

AldMedia *ald_machine_media(const AldMachine *machine)
{
        return machine->media;
}

AldWork *ald_machine_work(const AldMachine *machine)
{
        return machine->work;
}

static bool is_outside_hours(const AldProbeHours *hours)
{
        g_autoptr(GDateTime) now = g_date_time_new_now_local();

        return now && !ald_probe_hours_contain(hours,
                              (unsigned) (60 * g_date_time_get_hour(now) + g_date_time_get_minute(now)));
}

void ald_machine_read(AldMachine *machine, const AldProbeHours *hours)
{
        struct timespec boottime;

        ald_work_read_processors(machine->work);
        machine->state.battery = ald_power_on_battery(machine->power);
        machine->state.outside_hours = is_outside_hours(hours);
        if (clock_gettime(CLOCK_BOOTTIME, &boottime) >= 0)
                machine->state.resumed = ald_resume_note(&machine->resume,
                        (uint64_t) boottime.tv_sec * G_USEC_PER_SEC + (uint64_t) boottime.tv_nsec / 1000,
                        (uint64_t) g_get_monotonic_time());
}

const AldMachineState *ald_machine_state(const AldMachine *machine)
{
        return &machine->state;
}
