/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>

#include "services/common/sysroot.h"
#include "services/link-probe/machine/power.h"

#define DIRECTORY "sys/class/power_supply"

/* A shorter difference is not a suspend: the two clocks are not read at the same instant. */
#define SLEEP_MIN_USEC G_USEC_PER_SEC

typedef enum Supply { OTHER, MAINS, BATTERY } Supply;

static bool attribute_is(int root, const char *name, const char *attribute, const char *value)
{
        g_autofree char *path = g_strdup_printf(DIRECTORY "/%s/%s", name, attribute), *text = NULL;

        return ald_sysroot_read(root, path, &text) >= 0 && g_str_equal(g_strstrip(text), value);
}

/* A battery with the scope "Device", such as one in a mouse, does not supply the machine. */
static Supply read_supply(int root, const char *name)
{
        if (attribute_is(root, name, "type", "Battery"))
                return !attribute_is(root, name, "scope", "Device") &&
                                       attribute_is(root, name, "status", "Discharging")
                               ? BATTERY
                               : OTHER;
        return attribute_is(root, name, "online", "1") ? MAINS : OTHER;
}

bool ald_power_read_battery(int root)
{
        g_auto(GStrv) names = NULL;
        bool battery = false;

        if (ald_sysroot_list(root, DIRECTORY, &names) < 0)
                return false;
        for (char **name = names; *name; name++)
                switch (read_supply(root, *name)) {
                case MAINS:
                        return false;
                case BATTERY:
                        battery = true;
                        break;
                case OTHER:
                        break;
                }
        return battery;
}

bool ald_resume_note(AldResume *resume, uint64_t boottime, uint64_t monotonic)
{
        uint64_t asleep = boottime - MIN(monotonic, boottime);

        if (resume->known && asleep > resume->asleep + SLEEP_MIN_USEC)
                resume->resumed = monotonic;
        resume->asleep = MAX(asleep, resume->asleep);
        resume->known = true;
        return resume->resumed > 0 && monotonic - resume->resumed < ALD_RESUME_USEC;
}
