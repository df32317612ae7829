/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include "record/field.h"
#include "services/common/sysroot.h"
#include "services/telemetry/network/network-sysfs.h"

#define BITS_PER_MEGABIT UINT64_C(1000000)

/* Mb/s; no link will be faster for some time. */
#define SPEED_MAX (10 * 1000 * 1000)

/* Some drivers report this 16-bit value for an unknown speed. */
#define SPEED_UNKNOWN_16 65535

void ald_link_facts_init(AldLinkFacts *facts)
{
        *facts = (AldLinkFacts){ .speed = ALD_ABSENT_UINT64 };
}

void ald_link_facts_clear(AldLinkFacts *facts)
{
        g_clear_pointer(&facts->driver, g_free);
        g_clear_pointer(&facts->device_type, g_free);
}

static char *sysfs_path(const char *name, const char *file)
{
        return g_strdup_printf("sys/class/net/%s/%s", name, file);
}

/* Logs the first error of an interface, except for normal ones: an attribute does not exist, the driver does
 * not support it or does not report it for a link that is down, or the interface has just disappeared. */
static void warn_once(AldLinkFacts *facts, const char *name, const char *file, int error)
{
        switch (-error) {
        case ENOENT:
        case ENOTDIR:
        case ENODATA:
        case ENODEV:
        case EINVAL:
        case EOPNOTSUPP:
                return;
        }
        if (!facts->warned)
                g_warning("sys/class/net/%s/%s: %s", name, file, g_strerror(-error));
        facts->warned = true;
}

static bool is_other_interface(int root, const char *name, int index)
{
        g_autofree char *path = sysfs_path(name, "ifindex");
        int64_t found;

        return ald_sysroot_read_int64(root, path, &found) >= 0 && found != index;
}

static char *read_driver(AldLinkFacts *facts, int root, const char *name)
{
        g_autofree char *path = sysfs_path(name, "device/driver");
        char *driver = NULL;
        int r = ald_sysroot_link_name(root, path, &driver);

        if (r < 0)
                warn_once(facts, name, "device/driver", r);
        return driver;
}

static char *read_device_type(AldLinkFacts *facts, int root, const char *name)
{
        g_autofree char *path = sysfs_path(name, "uevent"), *text = NULL;
        g_auto(GStrv) lines = NULL;
        int r = ald_sysroot_read_string(root, path, &text);

        if (r < 0) {
                warn_once(facts, name, "uevent", r);
                return NULL;
        }
        lines = g_strsplit(text, "\n", -1);
        for (char **line = lines; *line; line++)
                if (g_str_has_prefix(*line, "DEVTYPE="))
                        return g_strdup(*line + strlen("DEVTYPE="));
        return NULL;
}

static bool read_wireless(int root, const char *name)
{
        g_autofree char *phy = sysfs_path(name, "phy80211"), *wireless = sysfs_path(name, "wireless");

        return ald_sysroot_exists(root, phy) || ald_sysroot_exists(root, wireless);
}

static uint64_t read_speed(AldLinkFacts *facts, int root, const char *name)
{
        g_autofree char *path = sysfs_path(name, "speed");
        int64_t megabits;
        int r = ald_sysroot_read_int64(root, path, &megabits);

        if (r < 0) {
                warn_once(facts, name, "speed", r);
                return ALD_ABSENT_UINT64;
        }
        if (megabits <= 0 || megabits > SPEED_MAX || megabits == SPEED_UNKNOWN_16)
                return ALD_ABSENT_UINT64;
        return (uint64_t) megabits * BITS_PER_MEGABIT;
}

void ald_link_facts_read(AldLinkFacts *facts, int root, const char *name, int index, bool with_speed)
{
        bool warned = facts->warned;

        ald_link_facts_clear(facts);
        ald_link_facts_init(facts);
        facts->warned = warned;
        if (is_other_interface(root, name, index))
                return;

        facts->driver = read_driver(facts, root, name);
        facts->device_type = read_device_type(facts, root, name);
        facts->wireless = read_wireless(root, name);
        if (with_speed)
                facts->speed = read_speed(facts, root, name);
}
