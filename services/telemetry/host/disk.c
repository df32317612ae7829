/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "common/fd.h"
#include "services/telemetry/host/disk.h"
#include "services/telemetry/host/thread-call.h"

/* The mount at or above the path is gone. File systems do not return this error. */
#define MOUNT_GONE (-EXDEV)

/* A query to the kernel. It belongs to the main loop, except for its last four fields, which belong to the
 * thread until it is done. */
typedef struct DiskQuery {
        struct Path *asker; /* NULL if the result is no longer needed */
        AldDiskAsk ask;
        char *path;
        int root;
        AldDiskPath answer;
        unsigned mount_depth;
        int error;
} DiskQuery;

typedef struct Path {
        AldDiskCollector *collector;
        char *name;
        AldDiskPath row;
        bool have_row;
        bool late;            /* timed out, and not answered since */
        bool outage;          /* an outage was logged */
        unsigned mount_depth; /* of the deepest mount that held it so far */
        DiskQuery *query;     /* NULL unless a query is pending */
} Path;

struct AldDiskCollector {
        int root;
        AldDiskAsk ask;
        AldDiskChanged changed;
        void *userdata;
        guint timeout; /* runs during a round of queries */
        size_t n_paths;
        AldDiskPath *rows; /* space for the rows of the record */
        Path paths[];
};

/* Sets *ret to a number that differs between a file system and one that is mounted on it. Old kernels report
 * only the device. */
static int identify_mount(int fd, uint64_t *ret)
{
        struct statx stx;

        if (statx(fd, "", AT_EMPTY_PATH | AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC, STATX_MNT_ID, &stx) < 0)
                return -errno;
        *ret = stx.stx_mask & STATX_MNT_ID ? stx.stx_mnt_id : makedev(stx.stx_dev_major, stx.stx_dev_minor);
        return 0;
}

/* Returns the next component of a path, skipping "."; NULL at the end of the path. */
static const char *next_component(const char *path, size_t *ret_length)
{
        for (;;) {
                path += strspn(path, "/");
                *ret_length = strcspn(path, "/");
                if (*ret_length != 1 || *path != '.')
                        return *ret_length > 0 ? path : NULL;
                path++;
        }
}

static bool is_automount_point(int fd)
{
        struct statfs fs;

        return fstatfs(fd, &fs) >= 0 && fs.f_type == AUTOFS_SUPER_MAGIC;
}

/* Opens a component below a directory. The kernel triggers an automount point in the middle of a path, or
 * before a trailing slash, but not as the last component, so each component is opened as the last one. An
 * unmounted automount point is empty. */
static int open_component(int fd, const char *name, size_t length)
{
        char buffer[NAME_MAX + 1];
        int r;

        if (length > NAME_MAX)
                return -ENAMETOOLONG;
        memcpy(buffer, name, length);
        buffer[length] = '\0';
        r = openat(fd, buffer, O_PATH | O_CLOEXEC);
        if (r >= 0)
                return r;
        r = -errno;
        return r == -ENOENT && is_automount_point(fd) ? -EREMOTE : r;
}

/* Opens a path, and counts the components up to its mount point. Allocates nothing, since it runs in a
 * thread. */
static int open_path(int root, const char *path, unsigned *ret_mount_depth)
{
        ald_fd int fd = openat(root, ".", O_PATH | O_CLOEXEC);
        unsigned depth = 0, mount_depth = 0;
        uint64_t mount = 0, own;
        size_t length;
        int r = fd < 0 ? -errno : identify_mount(fd, &mount);

        if (r < 0)
                return r;
        while ((path = next_component(path, &length))) {
                int next = open_component(fd, path, length);

                if (next < 0)
                        return next;
                ald_fd_close(&fd);
                fd = next;
                r = identify_mount(fd, &own);
                if (r < 0)
                        return r;
                depth++;
                if (own != mount)
                        mount_depth = depth;
                mount = own;
                path += length;
        }
        *ret_mount_depth = mount_depth;
        return ald_fd_steal(&fd);
}

int ald_disk_ask(int root, const char *path, AldDiskPath *ret, unsigned *ret_mount_depth)
{
        uint64_t unit, total, available;
        unsigned mount_depth;
        struct statfs fs;
        ald_fd int fd = open_path(root, path, &mount_depth);

        if (fd < 0)
                return fd;
        if (fstatfs(fd, &fs) < 0)
                return -errno;
        if (fs.f_type == AUTOFS_SUPER_MAGIC)
                return -EREMOTE;

        unit = (uint64_t) (fs.f_frsize > 0 ? fs.f_frsize : fs.f_bsize);
        if (fs.f_blocks == 0 || __builtin_mul_overflow(fs.f_blocks, unit, &total))
                return -ENODATA;
        *ret_mount_depth = mount_depth;
        ret->total_bytes = total;
        if (fs.f_bavail <= fs.f_blocks && !__builtin_mul_overflow(fs.f_bavail, unit, &available))
                ret->available_bytes = available;
        return 0;
}

static void query_free(DiskQuery *query)
{
        ald_fd_close(&query->root);
        g_free(query->path);
        g_free(query);
}

static void run_query(void *userdata)
{
        DiskQuery *query = userdata;

        query->error = query->ask(query->root, query->path, &query->answer, &query->mount_depth);
}

/* Logs when an outage begins, and when it ends. */
static void log_outage(Path *path, int error)
{
        bool had_outage = path->outage;

        path->outage = error < 0;
        if (had_outage && !path->outage)
                g_message("%s is reported now", path->name);
        if (had_outage || !path->outage)
                return;
        if (error == -EREMOTE)
                g_info("%s is not reported until it is mounted: it is an automount point", path->name);
        else if (error == MOUNT_GONE)
                g_warning("%s is not reported until its file system is mounted again", path->name);
        else
                g_warning("%s is not reported until its free space can be read: %s", path->name,
                        g_strerror(-error));
}

static void publish_record(AldDiskCollector *collector)
{
        AldDisk disk = ALD_DISK_INIT;
        size_t n = 0;

        for (size_t i = 0; i < collector->n_paths; i++)
                if (collector->paths[i].have_row)
                        collector->rows[n++] = collector->paths[i].row;
        disk.paths.items = collector->rows;
        disk.paths.n = n;
        collector->changed(&disk, collector->userdata);
}

static bool round_is_over(const AldDiskCollector *collector)
{
        for (size_t i = 0; i < collector->n_paths; i++)
                if (collector->paths[i].query && !collector->paths[i].late)
                        return false;
        return true;
}

static void end_round(AldDiskCollector *collector)
{
        g_clear_handle_id(&collector->timeout, g_source_remove);
        publish_record(collector);
}

static void apply_answer(Path *path, const DiskQuery *query)
{
        int error = query->error;

        if (error >= 0 && query->mount_depth < path->mount_depth)
                error = MOUNT_GONE;
        path->query = NULL;
        path->late = false;
        path->have_row = error >= 0;
        path->row = query->answer;
        path->row.id = path->name;
        if (path->have_row)
                path->mount_depth = query->mount_depth;
        log_outage(path, error);
        if (round_is_over(path->collector))
                end_round(path->collector);
}

static void on_answered(void *userdata)
{
        DiskQuery *query = userdata;

        if (query->asker)
                apply_answer(query->asker, query);
        query_free(query);
}

static int start_query(Path *path)
{
        DiskQuery *query = g_new(DiskQuery, 1);

        *query = (DiskQuery){
                .asker = path,
                .ask = path->collector->ask,
                .path = g_strdup(path->name),
                .root = fcntl(path->collector->root, F_DUPFD_CLOEXEC, 3),
                .answer = ALD_DISK_PATH_INIT,
        };
        if (query->root < 0 || ald_thread_call("disk", run_query, on_answered, query) < 0) {
                query_free(query);
                return -EAGAIN;
        }
        path->query = query;
        return 0;
}

static gboolean on_timeout(gpointer userdata)
{
        AldDiskCollector *collector = userdata;

        collector->timeout = 0;
        for (size_t i = 0; i < collector->n_paths; i++) {
                Path *path = &collector->paths[i];

                if (!path->query)
                        continue;
                path->late = true;
                path->have_row = false;
                log_outage(path, -ETIMEDOUT);
        }
        publish_record(collector);
        return G_SOURCE_REMOVE;
}

void ald_disk_collector_sample(AldDiskCollector *collector)
{
        for (size_t i = 0; i < collector->n_paths; i++) {
                Path *path = &collector->paths[i];
                int r = path->query ? 0 : start_query(path);

                if (r < 0) {
                        path->have_row = false;
                        log_outage(path, r);
                }
        }
        if (round_is_over(collector))
                end_round(collector);
        else if (collector->timeout == 0)
                collector->timeout = g_timeout_add(ALD_DISK_TIMEOUT_MSEC, on_timeout, collector);
}

static char *normalize_path(const char *path)
{
        GString *name = g_string_new(NULL);
        size_t length;

        while ((path = next_component(path, &length))) {
                g_string_append_c(name, '/');
                g_string_append_len(name, path, (gssize) length);
                path += length;
        }
        if (name->len == 0)
                g_string_append_c(name, '/');
        return g_string_free(name, FALSE);
}

static void add_path(AldDiskCollector *collector, const char *path)
{
        g_autofree char *name = normalize_path(path);

        for (size_t i = 0; i < collector->n_paths; i++)
                if (g_str_equal(collector->paths[i].name, name))
                        return;
        collector->paths[collector->n_paths++] = (Path){
                .collector = collector,
                .name = g_steal_pointer(&name),
        };
}

AldDiskCollector *ald_disk_collector_new(
        int root, const char *const *paths, AldDiskAsk ask_function, AldDiskChanged changed, void *userdata)
{
        size_t n = g_strv_length((char **) paths);
        AldDiskCollector *collector = g_malloc0(sizeof *collector + n * sizeof(Path));

        *collector = (AldDiskCollector){
                .root = root,
                .ask = ask_function,
                .changed = changed,
                .userdata = userdata,
                .rows = g_new0(AldDiskPath, n),
        };
        for (size_t i = 0; i < n; i++)
                add_path(collector, paths[i]);
        return collector;
}

void ald_disk_collector_inherit(AldDiskCollector *collector, const AldDiskCollector *from)
{
        for (size_t i = 0; i < collector->n_paths; i++)
                for (size_t k = 0; k < from->n_paths; k++)
                        if (g_str_equal(collector->paths[i].name, from->paths[k].name))
                                collector->paths[i].mount_depth = from->paths[k].mount_depth;
}

void ald_disk_collector_free(AldDiskCollector *collector)
{
        g_clear_handle_id(&collector->timeout, g_source_remove);
        for (size_t i = 0; i < collector->n_paths; i++) {
                if (collector->paths[i].query)
                        collector->paths[i].query->asker = NULL;
                g_free(collector->paths[i].name);
        }
        g_free(collector->rows);
        g_free(collector);
}
