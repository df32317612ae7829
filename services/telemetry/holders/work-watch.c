/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "services/telemetry/holders/work-watch.h"

#include <math.h>
#include <string.h>

#include "record/field.h"

struct AldWorkWatch {
        GHashTable *usages; /* "device,pid" → percent at the look before, as a double */
};

AldWorkWatch *ald_work_watch_new(void)
{
        AldWorkWatch *watch = g_new0(AldWorkWatch, 1);

        watch->usages = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
        return watch;
}

void ald_work_watch_free(AldWorkWatch *watch)
{
        if (!watch)
                return;
        g_hash_table_unref(watch->usages);
        g_free(watch);
}

/* Returns whether a program draws the screen for others, or opens the device for one that does. The kernel
 * keeps 15 characters of a name. */
static bool is_display_server(const char *program)
{
        static const char *const names[] = { "X", "Xorg", "Xwayland", "budgie-wm", "cage", "cinnamon",
                "cosmic-comp", "elogind-daemon", "gnome-shell", "greetd", "hyprland", "Hyprland", "kwin",
                "kwin_wayland", "kwin_x11", "labwc", "lightdm", "mutter", "muffin", "niri", "plasmashell",
                "river", "sddm", "seatd", "sddm-greeter", "sddm-greeter-qt", "sway", "systemd-logind",
                "wayfire", "weston", "xfwm4", NULL };

        return g_strv_contains(names, program) || g_str_has_prefix(program, "gdm");
}

static bool is_busy(const AldHolderList *list, const AldDeviceHolder *holder, double usage)
{
        uint64_t all_bytes = ald_holder_list_device(list, holder->device)->memory_bytes;

        if (usage >= ALD_WORK_USAGE_PERCENT)
                return true;
        return usage > 0 && all_bytes != ALD_ABSENT_UINT64 && all_bytes > 0 &&
               holder->memory_bytes != ALD_ABSENT_UINT64 &&
               holder->memory_bytes >= all_bytes / 100 * ALD_WORK_MEMORY_PERCENT;
}

/* Judges a holder by the mean of what it used since the last look, and before. A program without a name may
 * be a display server. */
static bool is_work(const AldWorkWatch *watch, const AldHolderList *list, const AldDeviceHolder *holder,
        const char *place)
{
        const double *before = g_hash_table_lookup(watch->usages, place);
        bool is_witnessed = holder->program || holder->uid != ALD_ABSENT_UINT64;

        if (holder->program && is_display_server(holder->program))
                return false;
        if (holder->computes)
                return true;
        return is_witnessed && before && !isnan(holder->usage) &&
               is_busy(list, holder, (*before + holder->usage) / 2);
}

/* Counts a process that works on a device, and on the card of an instance. */
static void count_work(const AldHolderList *list, const AldDeviceHolder *holder)
{
        AldHolderDevice *device = ald_holder_list_device(list, holder->device);
        AldHolderDevice *card = device->parent ? ald_holder_list_find(list, device->parent) : NULL;

        device->n_work++;
        device->n_work_beyond += !holder->computes;
        if (!card)
                return;
        card->n_work++;
        card->n_work_beyond += !holder->computes;
}

void ald_work_watch_note(AldWorkWatch *watch, AldHolderList *list)
{
        GHashTable *usages = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);

        for (guint i = 0; i < list->holders->len; i++) {
                AldDeviceHolder *holder = ald_holder_list_at(list, i);
                char *place = g_strdup_printf(
                        "%s,%u", ald_holder_list_device(list, holder->device)->id, holder->pid);

                if (is_work(watch, list, holder, place))
                        count_work(list, holder);
                if (isnan(holder->usage))
                        g_free(place);
                else
                        g_hash_table_insert(usages, place, g_memdup2(&holder->usage, sizeof holder->usage));
        }
        g_hash_table_unref(watch->usages);
        watch->usages = usages;
}

uint64_t ald_work_count(const AldHolderDevice *device, uint64_t listed)
{
        if (listed != ALD_ABSENT_UINT64)
                return listed + device->n_work_beyond;
        return device->n_work > 0 || device->lists_compute || (device->is_complete && !device->is_unsure)
                       ? device->n_work
                       : ALD_ABSENT_UINT64;
}
