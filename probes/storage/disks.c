/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probes/common/small-files.h"
#include "probes/storage/disks.h"
#include "record/field.h"

#define STACK_MAX 8u /* levels of device mapper and RAID above each other */
#define SECTOR UINT64_C(512)
#define BUSY_MSEC 100u

/* Returns the path of a block device, such as "sys/devices/…/sda/sda1" of "sda1", as sysfs links it; NULL if
 * there is no such device. */
static char *device_path(const char *root, const char *name)
{
        g_autofree char *link = g_build_filename(root, "sys/class/block", name, NULL);
        g_autofree char *target = g_file_read_link(link, NULL);
        const char *rest = target;

        while (rest && g_str_has_prefix(rest, "../"))
                rest += 3;
        return rest && g_str_has_prefix(rest, "devices/") ? g_strconcat("sys/", rest, NULL) : NULL;
}

static bool exists(const char *root, const char *folder, const char *name)
{
        g_autofree char *path = g_build_filename(root, folder, name, NULL);

        return g_file_test(path, G_FILE_TEST_EXISTS);
}

static GPtrArray *list_names(const char *root, const char *folder)
{
        GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
        g_autofree char *path = g_build_filename(root, folder, NULL);
        g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);

        for (const char *name; dir && (name = g_dir_read_name(dir));)
                g_ptr_array_add(names, g_strdup(name));
        g_ptr_array_sort(names, ald_file_compare_names);
        return names;
}

static void add_once(GPtrArray *names, const char *name)
{
        for (guint i = 0; i < names->len; i++)
                if (g_str_equal(names->pdata[i], name))
                        return;
        g_ptr_array_add(names, g_strdup(name));
}

/* Adds the disks that a block device lies on. Returns false if one is not known. */
static bool add_disks(const char *root, const char *name, unsigned depth, GPtrArray *ret)
{
        g_autofree char *path = device_path(root, name);
        g_autofree char *folder = path ? g_strconcat(path, "/slaves", NULL) : NULL;
        g_autoptr(GPtrArray) below = NULL;

        if (!path || depth > STACK_MAX)
                return false;
        if (exists(root, path, "partition")) {
                g_autofree char *parent = g_path_get_dirname(path), *disk = g_path_get_basename(parent);

                return add_disks(root, disk, depth + 1, ret);
        }
        below = list_names(root, folder);
        for (guint i = 0; i < below->len; i++)
                if (!add_disks(root, below->pdata[i], depth + 1, ret))
                        return false;
        if (below->len == 0)
                add_once(ret, name);
        return true;
}

/* Returns the name of a block device, such as "dm-0" of "/dev/mapper/data", which is a link in /dev that may
 * not be visible here. */
static char *name_of_source(const char *root, const char *source)
{
        g_autofree char *name = g_path_get_basename(source), *path = device_path(root, name);
        g_autoptr(GPtrArray) all = NULL;

        if (path)
                return g_steal_pointer(&name);
        all = list_names(root, "sys/class/block");
        for (guint i = 0; i < all->len; i++) {
                g_autofree char *own = device_path(root, all->pdata[i]);
                g_autofree char *file = own ? g_build_filename(own, "dm/name", NULL) : NULL;
                g_autofree char *mapped = file ? ald_file_text(root, file) : NULL;

                if (g_strcmp0(mapped, name) == 0)
                        return g_strdup(all->pdata[i]);
        }
        return NULL;
}

/* Adds the disks of a btrfs, which may span several devices although the mount names only one. */
static bool add_btrfs(const char *root, const AldMount *mount, GPtrArray *ret)
{
        g_autofree char *name = name_of_source(root, mount->source);
        g_autoptr(GPtrArray) systems = list_names(root, "sys/fs/btrfs");

        for (guint i = 0; name && i < systems->len; i++) {
                g_autofree char *folder = g_build_filename(
                        "sys/fs/btrfs", systems->pdata[i], "devices", NULL);
                g_autoptr(GPtrArray) devices = NULL;

                if (!exists(root, folder, name))
                        continue;
                devices = list_names(root, folder);
                for (guint k = 0; k < devices->len; k++)
                        if (!add_disks(root, devices->pdata[k], 0, ret))
                                return false;
                return true;
        }
        return false;
}

static bool add_device(const char *root, const AldMount *mount, GPtrArray *ret)
{
        char link[64];
        g_autofree char *path = NULL, *target = NULL, *name = NULL;

        g_snprintf(link, sizeof link, "sys/dev/block/%u:%u", mount->major, mount->minor);
        path = g_build_filename(root, link, NULL);
        target = g_file_read_link(path, NULL);
        name = target ? g_path_get_basename(target) : NULL;
        return name && add_disks(root, name, 0, ret);
}

/* Returns whether a device or a parent of it is suspended. A sleeping disk does not show that itself, but its
 * parent does, which for NVMe is the PCI function. */
static bool is_path_suspended(const char *root, const char *device)
{
        g_autofree char *path = g_strdup(device);

        while (g_str_has_prefix(path, "sys/devices/")) {
                g_autofree char *file = g_build_filename(path, "power/runtime_status", NULL);
                g_autofree char *status = ald_file_text(root, file);
                char *parent = g_path_get_dirname(path);

                g_free(path);
                path = parent;
                if (status && g_str_has_prefix(status, "suspend"))
                        return true;
        }
        return false;
}

static bool is_suspended(const char *root, const char *disk)
{
        g_autofree char *path = device_path(root, disk);
        g_autofree char *folder = path ? g_path_get_dirname(path) : NULL;
        g_autoptr(GPtrArray) beside = NULL;

        if (!path || is_path_suspended(root, path))
                return path != NULL;
        /* If an NVMe disk has several controllers, links to them are beside it. */
        if (!strstr(path, "/nvme-subsystem/"))
                return false;
        beside = list_names(root, folder);
        for (guint i = 0; i < beside->len; i++) {
                g_autofree char *link = g_build_filename(root, folder, beside->pdata[i], NULL);
                g_autofree char *target = g_file_read_link(link, NULL);
                const char *devices = target ? strstr(target, "devices/") : NULL;
                const char *rest = devices ?: target;

                while (rest && g_str_has_prefix(rest, "../"))
                        rest += 3;
                if (rest && strchr(rest, '/')) {
                        g_autofree char *controller = g_strconcat(
                                devices ? "sys/" : "sys/devices/", rest, NULL);

                        if (is_path_suspended(root, controller))
                                return true;
                }
        }
        return false;
}

static int is_rotational(const char *root, const char *disk)
{
        g_autofree char *path = device_path(root, disk);
        g_autofree char *file = path ? g_build_filename(path, "queue/rotational", NULL) : NULL;
        uint64_t value;

        return file && ald_file_number(root, file, &value) ? value != 0 : ALD_ABSENT_BOOLEAN;
}

static void inspect_disk(const char *root, const char *disk, const char *const *still, AldStorageDisks *ret)
{
        int rotational = is_rotational(root, disk);

        if (rotational == true || ret->rotational == ALD_ABSENT_BOOLEAN)
                ret->rotational = rotational;
        if (g_str_has_prefix(disk, "loop") || g_str_has_prefix(disk, "ram") || g_str_has_prefix(disk, "zram"))
                ret->is_memory = true;
        if (ret->asleep)
                return;
        if (is_suspended(root, disk))
                ret->asleep = g_strdup_printf("%s is suspended", disk);
        else if (rotational == true && still && g_strv_contains(still, disk))
                ret->asleep = g_strdup_printf("%s may be asleep", disk);
}

void ald_storage_disks_read(
        const char *root, const AldMount *mount, const char *const *still, AldStorageDisks *ret)
{
        g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
        bool known = mount->major != 0                   ? add_device(root, mount, names)
                     : g_str_equal(mount->type, "btrfs") ? add_btrfs(root, mount, names)
                                                         : false;

        *ret = (AldStorageDisks){ .rotational = ALD_ABSENT_BOOLEAN };
        if (!known)
                return;
        g_ptr_array_sort(names, ald_file_compare_names);
        for (guint i = 0; i < names->len; i++)
                inspect_disk(root, names->pdata[i], still, ret);
        g_ptr_array_add(names, NULL);
        ret->names = (char **) g_ptr_array_free(g_steal_pointer(&names), FALSE);
}

void ald_storage_disks_clear(AldStorageDisks *disks)
{
        g_strfreev(disks->names);
        g_free(disks->asleep);
        *disks = (AldStorageDisks){ .rotational = ALD_ABSENT_BOOLEAN };
}

/* Adds a line of /proc/diskstats. The fields after the name are: completed, merged, sectors and ms of reads,
 * the same of writes, requests under way, ms with any of these. Later kernels have more. */
static bool add_line(const char *line, const char *const *names, AldDiskCounters *sum)
{
        uint64_t read, written, in_flight, busy;
        char name[64];

        if (sscanf(line, " %*u %*u %63s %*u %*u %" SCNu64 " %*u %*u %*u %" SCNu64 " %*u %" SCNu64 " %" SCNu64,
                    name, &read, &written, &in_flight, &busy) != 5 ||
                !g_strv_contains(names, name))
                return false;
        sum->read_bytes += read * SECTOR;
        sum->written_bytes += written * SECTOR;
        sum->in_flight += in_flight;
        sum->busy_msec += busy;
        return true;
}

bool ald_disk_counters_parse(const char *text, const char *const *names, AldDiskCounters *ret)
{
        g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
        AldDiskCounters sum = {};
        size_t found = 0;

        for (char **line = lines; *line; line++)
                found += add_line(*line, names, &sum);
        if (found == 0 || found != g_strv_length((char **) names))
                return false;
        *ret = sum;
        return true;
}

bool ald_disk_counters_read(const char *root, const char *const *names, AldDiskCounters *ret)
{
        g_autofree char *text = ald_file_text(root, "proc/diskstats");

        return text && ald_disk_counters_parse(text, names, ret);
}

bool ald_disk_counters_are_busy(const AldDiskCounters *before, const AldDiskCounters *after)
{
        return after->busy_msec - before->busy_msec > BUSY_MSEC ||
               (before->in_flight > 0 && after->in_flight > 0);
}
