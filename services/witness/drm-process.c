/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "common/fd.h"
#include "record/field.h"
#include "services/common/sysroot.h"
#include "services/witness/drm-device.h"
#include "services/witness/drm-process.h"

#define TEXT_MAX 8192u  /* of a device; descriptors of other kinds may have more */
#define DEVICES_MAX 64u /* of one process */
#define CLOCK_EVERY 64u /* descriptors */

/* The process in which a client was found, and when that was read. */
typedef struct Owner {
        unsigned pid;
        gint64 read_usec;
} Owner;

/* The descriptors of a process as far as they were read. */
typedef struct Reading {
        AldDrmHolders *holders;
        Owner self;
        GArray *holds;
        GHashTable *seen; /* "device,client" */
        unsigned n_owned; /* clients that count here, and are remembered */
        bool complete;
} Reading;

void ald_drm_holders_init(AldDrmHolders *holders, int root)
{
        *holders = (AldDrmHolders){
                .root = root,
                .processes = g_hash_table_new_full(NULL, NULL, NULL, (GDestroyNotify) ald_drm_process_free),
                .owners = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free),
        };
}

void ald_drm_holders_clear(AldDrmHolders *holders)
{
        g_hash_table_unref(holders->processes);
        g_hash_table_unref(holders->owners);
}

/* Returns whether the process still has the client, as far as is known. */
static bool is_owner(const AldDrmHolders *holders, const Owner *owner)
{
        const AldDrmProcess *process = g_hash_table_lookup(holders->processes, GUINT_TO_POINTER(owner->pid));

        return process && process->read_usec == owner->read_usec;
}

static gboolean is_no_owner(gpointer key, gpointer value, gpointer holders)
{
        return !is_owner(holders, value);
}

void ald_drm_holders_prune(AldDrmHolders *holders)
{
        g_hash_table_foreach_remove(holders->owners, is_no_owner, holders);
}

/* Returns whether a client counts for another process; else it counts for this one from now on. */
static bool is_shared(Reading *reading, const char *key)
{
        GHashTable *owners = reading->holders->owners;
        const Owner *owner = g_hash_table_lookup(owners, key);

        if (owner && owner->pid != reading->self.pid && is_owner(reading->holders, owner))
                return true;
        if (reading->n_owned < ALD_DRM_OWNED_MAX &&
                (owner || g_hash_table_size(owners) < ALD_DRM_OWNERS_MAX)) {
                g_hash_table_insert(owners, g_strdup(key), g_memdup2(&reading->self, sizeof reading->self));
                reading->n_owned++;
        }
        return false;
}

/* Returns NULL if the machine has no such device, or there are too many. */
static AldDrmHold *hold_of(Reading *reading, const AldFdinfo *info)
{
        AldDrmHold hold = { .usage = ALD_ABSENT_DOUBLE };

        for (guint i = 0; i < reading->holds->len; i++) {
                AldDrmHold *known = &g_array_index(reading->holds, AldDrmHold, i);

                if (g_str_equal(known->sum.device, info->device))
                        return known;
        }
        if (reading->holds->len == DEVICES_MAX) {
                reading->complete = false;
                return NULL;
        }
        if (!ald_drm_device_exists(reading->holders->root, info->device))
                return NULL;
        g_strlcpy(hold.sum.device, info->device, sizeof hold.sum.device);
        hold.sum.memory_bytes = ALD_ABSENT_UINT64;
        g_array_append_val(reading->holds, hold);
        return &g_array_index(reading->holds, AldDrmHold, reading->holds->len - 1);
}

/* A descriptor and its duplicates are one client, which counts once. */
static void add_client(Reading *reading, AldFdinfo *info)
{
        bool is_known = info->client != ALD_ABSENT_UINT64;
        g_autofree char *key = g_strdup_printf("%s,%" G_GUINT64_FORMAT, info->device, info->client);
        AldDrmHold *hold = is_known && g_hash_table_contains(reading->seen, key) ? NULL
                                                                                 : hold_of(reading, info);

        if (!hold)
                return;
        if (is_known && is_shared(reading, key)) {
                hold->n_shared++;
                ald_fdinfo_clear_work(info);
        }
        ald_fdinfo_add(&hold->sum, info);
        g_hash_table_add(reading->seen, g_steal_pointer(&key));
}

/* The kernel returns such a text at once, as far as there is room for it. The last line of a longer one is
 * dropped, since its number may have been cut. */
static void read_descriptor(Reading *reading, int folder, const char *name)
{
        ald_fd int fd = ald_sysroot_open_file(folder, name);
        char text[TEXT_MAX];
        ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
        AldFdinfo info;

        if (n < 0) {
                /* Closed meanwhile, or the process has ended. */
                reading->complete &= errno == ENOENT || errno == ESRCH;
                return;
        }
        text[n] = '\0';
        if (n == sizeof text - 1 && strrchr(text, '\n'))
                *strrchr(text, '\n') = '\0';
        if (ald_fdinfo_parse(text, &info))
                add_client(reading, &info);
}

static void read_descriptors(Reading *reading, DIR *dir)
{
        gint64 until = g_get_monotonic_time() + ALD_DRM_READING_USEC;
        struct dirent *entry;
        unsigned n = 0;

        while ((entry = readdir(dir))) {
                if (!g_ascii_isdigit(*entry->d_name))
                        continue;
                if (n++ == ALD_DRM_DESCRIPTORS_MAX ||
                        (n % CLOCK_EVERY == 0 && g_get_monotonic_time() > until)) {
                        reading->complete = false;
                        return;
                }
                read_descriptor(reading, dirfd(dir), entry->d_name);
        }
}

static void sum_up(AldDrmProcess *process)
{
        for (guint i = 0; i < process->holds->len; i++) {
                const AldFdinfo *sum = &g_array_index(process->holds, AldDrmHold, i).sum;

                if (sum->memory_bytes != ALD_ABSENT_UINT64)
                        process->memory_bytes += sum->memory_bytes;
                for (unsigned j = 0; j < sum->n_engines; j++)
                        process->busy += sum->engines[j].busy;
        }
}

AldDrmProcess *ald_drm_process_read(AldDrmHolders *holders, unsigned pid, bool *ret_complete)
{
        g_autofree char *path = g_strdup_printf("proc/%u/fdinfo", pid);
        g_autoptr(GArray) holds = g_array_new(FALSE, FALSE, sizeof(AldDrmHold));
        g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        Reading reading = { .holders = holders,
                .self = { pid, g_get_monotonic_time() },
                .holds = holds,
                .seen = seen,
                .complete = true };
        int folder = openat(holders->root, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        DIR *dir = folder < 0 ? NULL : fdopendir(folder);
        AldDrmProcess *process;

        if (!dir) {
                *ret_complete &= errno == ENOENT || errno == ESRCH;
                ald_fd_close(&folder);
                return NULL;
        }
        read_descriptors(&reading, dir);
        closedir(dir);
        *ret_complete &= reading.complete;
        if (holds->len == 0)
                return NULL;
        process = g_new0(AldDrmProcess, 1);
        process->pid = pid;
        process->read_usec = reading.self.read_usec;
        process->cost_usec = g_get_monotonic_time() - process->read_usec;
        process->facts.uid = ALD_ABSENT_UINT64;
        process->holds = g_steal_pointer(&holds);
        sum_up(process);
        return process;
}

void ald_drm_process_free(AldDrmProcess *process)
{
        ald_process_facts_clear(&process->facts);
        g_array_unref(process->holds);
        g_free(process);
}

int ald_drm_process_compare_held(const AldDrmProcess *first, const AldDrmProcess *second)
{
        if (first->memory_bytes != second->memory_bytes)
                return first->memory_bytes > second->memory_bytes ? -1 : 1;
        if (first->busy != second->busy)
                return first->busy > second->busy ? -1 : 1;
        return (first->pid > second->pid) - (first->pid < second->pid);
}

void ald_drm_process_compare(AldDrmProcess *process, const AldDrmProcess *before)
{
        uint64_t passed_ns = (uint64_t) (process->read_usec - before->read_usec) * 1000;

        for (guint i = 0; i < process->holds->len; i++) {
                AldDrmHold *hold = &g_array_index(process->holds, AldDrmHold, i);

                for (guint j = 0; j < before->holds->len; j++) {
                        const AldDrmHold *earlier = &g_array_index(before->holds, AldDrmHold, j);

                        /* The time before the client counted here was used by another process. */
                        if (g_str_equal(earlier->sum.device, hold->sum.device) &&
                                hold->n_shared >= earlier->n_shared)
                                hold->usage = ald_fdinfo_usage(&earlier->sum, &hold->sum, passed_ns);
                }
        }
}
