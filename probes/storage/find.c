/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "probes/common/probe-clock.h"
#include "probes/common/probe-fd.h"
#include "probes/common/small-files.h"
#include "probes/storage/find.h"
#include "record/field.h"

#define LEVELS_MAX 4u
#define ENTRIES_MAX 4096u
#define SEARCH_NSEC (2 * ALD_NSEC_PER_SEC)      /* for a path */
#define SEARCH_ALL_NSEC (20 * ALD_NSEC_PER_SEC) /* for all paths; less than the limits of the service */
#define USEC_PER_SEC UINT64_C(1000000)
#define FRESH_USEC (UINT64_C(600) * USEC_PER_SEC) /* data is on the disk long before that */
#define BLOCK UINT64_C(512)                       /* unit of stx_blocks */
#define PATH_TEXT_MAX 255u                        /* of a mount point, in a message */

/* The search below one path. */
typedef struct Walk {
        const AldStorageSearchOptions *options;
        const AldStorageSearch *search;
        AldModelFileSystem *found;
        const AldMount *mount;
        uint64_t mount_id, device; /* of the directory where it began */
        unsigned n_entries, n_models;
        uint64_t deadline;
        AldStorageObstacle refused; /* a directory that could not be read */
} Walk;

const char *ald_storage_obstacle_to_string(AldStorageObstacle obstacle)
{
        static const char *const words[_ALD_STORAGE_OBSTACLE_MAX] = {
                [ALD_STORAGE_READABLE] = "readable",
                [ALD_STORAGE_NOT_FOUND] = "not-found",
                [ALD_STORAGE_NOT_MOUNTED] = "not-mounted",
                [ALD_STORAGE_LINK] = "symbolic-link",
                [ALD_STORAGE_NO_MODEL] = "no-model",
                [ALD_STORAGE_NO_PERMISSION] = "no-permission",
                [ALD_STORAGE_ACCESS_TIME] = "access-time",
                [ALD_STORAGE_ASLEEP] = "asleep",
                [ALD_STORAGE_UNKNOWN_DISK] = "unknown-disk",
                [ALD_STORAGE_MEMORY] = "memory",
                [ALD_STORAGE_PAGE_CACHE] = "page-cache",
                [ALD_STORAGE_FRESH] = "fresh",
                [ALD_STORAGE_HOLES] = "holes",
        };

        return words[obstacle];
}

static const char *describe_obstacle(AldStorageObstacle obstacle)
{
        static const char *const words[_ALD_STORAGE_OBSTACLE_MAX] = {
                [ALD_STORAGE_NO_MODEL] = "no model file of 64 MiB or more was found",
                [ALD_STORAGE_NO_PERMISSION] = "this user may not read its models",
                [ALD_STORAGE_ACCESS_TIME] = "reading its models would change their access times",
                [ALD_STORAGE_UNKNOWN_DISK] = "its disk is not known",
                [ALD_STORAGE_MEMORY] = "what is read there may come from memory",
                [ALD_STORAGE_PAGE_CACHE] = "its models cannot be read around the page cache for certain",
                [ALD_STORAGE_FRESH] = "its models were written in the last 10 minutes",
                [ALD_STORAGE_HOLES] = "its models are not wholly on the disk",
        };

        return words[obstacle];
}

static void model_file_free(void *pointer)
{
        AldModelFile *file = pointer;

        g_free(file->path);
        g_free(file);
}

static void file_system_free(void *pointer)
{
        AldModelFileSystem *found = pointer;

        ald_storage_disks_clear(&found->disks);
        g_ptr_array_unref(found->files);
        g_hash_table_unref(found->seen);
        g_free(found->reason);
        g_free(found);
}

static void problem_free(void *pointer)
{
        AldStorageProblem *problem = pointer;

        g_free(problem->path);
        g_free(problem->reason);
        g_free(problem);
}

static void add_problem(AldStorageSearch *search, const char *path, AldStorageObstacle obstacle, char *reason)
{
        AldStorageProblem *problem = g_new(AldStorageProblem, 1);

        *problem = (AldStorageProblem){ g_strdup(path), obstacle, reason };
        g_ptr_array_add(search->problems, problem);
}

char *ald_storage_normalize(const char *path)
{
        g_auto(GStrv) names = g_strsplit(path, "/", -1);
        GString *normal = g_string_new(NULL);

        for (char **name = names; *path == '/' && *name; name++) {
                if (g_str_equal(*name, ".."))
                        return g_string_free(normal, TRUE), NULL;
                if (**name && !g_str_equal(*name, "."))
                        g_string_append_printf(normal, "/%s", *name);
        }
        if (*path == '/' && normal->len == 0)
                g_string_append_c(normal, '/');
        return normal->len > 0 ? g_string_free(normal, FALSE) : (g_string_free(normal, TRUE), NULL);
}

/* Opens one component at a time, since the kernel would follow links in the middle of a path, and trigger
 * automounts. */
int ald_storage_open(const char *root, const char *path, int flags)
{
        g_auto(GStrv) names = g_strsplit(path + 1, "/", -1);
        ald_fd int fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
        size_t n = g_strv_length(names);

        for (size_t i = 0; fd >= 0 && i < n; i++) {
                bool last = i + 1 == n;
                struct stat st;
                int next = openat(fd, names[i], (last ? flags : O_PATH) | O_NOFOLLOW | O_CLOEXEC);
                int error = errno;

                if (next < 0)
                        return fstatat(fd, names[i], &st, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT) == 0 &&
                                               S_ISLNK(st.st_mode)
                                       ? -ELOOP
                                       : -error;
                ald_fd_close(&fd);
                fd = next;
                /* With O_PATH, openat() opens a link itself. */
                if (fstat(fd, &st) < 0)
                        return -errno;
                if (S_ISLNK(st.st_mode))
                        return -ELOOP;
        }
        return fd < 0 ? -errno : ald_fd_steal(&fd);
}

uint64_t ald_storage_device(const struct statx *stx)
{
        return makedev(stx->stx_dev_major, stx->stx_dev_minor);
}

static bool is_direct(const AldMount *mount, const struct statx *stx)
{
        const uint64_t changed = STATX_ATTR_COMPRESSED | STATX_ATTR_ENCRYPTED | STATX_ATTR_VERITY;

        if (stx->stx_attributes & changed)
                return false;
        if (mount->is_network)
                return true;
        /* btrfs does not report this. Aligned reads are direct if nothing is compressed; extents are checked
         * before reading. */
        if (g_str_equal(mount->type, "btrfs"))
                return !mount->compresses;
        return stx->stx_mask & STATX_DIOALIGN && stx->stx_dio_mem_align > 0 && stx->stx_dio_offset_align > 0;
}

static bool is_recent(const struct statx_timestamp *time, uint64_t now_realtime)
{
        uint64_t usec = time->tv_sec < 0 ? 0 : (uint64_t) time->tv_sec;

        usec = usec > UINT64_MAX / USEC_PER_SEC ? UINT64_MAX : usec * USEC_PER_SEC;
        return usec > now_realtime || now_realtime - usec < FRESH_USEC;
}

AldStorageObstacle ald_storage_assess(
        const AldMount *mount, const struct statx *stx, uint64_t now_realtime, uid_t user)
{
        if (!is_direct(mount, stx))
                return ALD_STORAGE_PAGE_CACHE;
        /* A direct read would first write back data that is not on the disk yet. */
        if (is_recent(&stx->stx_mtime, now_realtime) || is_recent(&stx->stx_ctime, now_realtime))
                return ALD_STORAGE_FRESH;
        if (stx->stx_blocks * BLOCK < stx->stx_size - stx->stx_size / 20)
                return ALD_STORAGE_HOLES;
        return !mount->keeps_access_times && user != 0 && user != stx->stx_uid ? ALD_STORAGE_ACCESS_TIME
                                                                               : ALD_STORAGE_READABLE;
}

unsigned ald_storage_alignment(const struct statx *stx)
{
        unsigned most = ALD_DIRECT_ALIGNMENT_MIN;

        if (stx->stx_mask & STATX_DIOALIGN)
                most = MAX(most, MAX(stx->stx_dio_mem_align, stx->stx_dio_offset_align));
        return most;
}

static bool is_hex(const char *text)
{
        return strspn(text, "0123456789abcdef") == strlen(text);
}

/* Returns whether the name may be that of a model. Ollama and the hub of Hugging Face name files by the
 * digest of their contents, which must then show whether they are models. */
static bool is_model_name(const char *name, bool *ret_by_content)
{
        bool by_content = (g_str_has_prefix(name, "sha256-") && is_hex(name + 7)) ||
                          (strlen(name) == 64 && is_hex(name));

        *ret_by_content = by_content;
        return by_content || g_str_has_suffix(name, ".gguf") || g_str_has_suffix(name, ".safetensors");
}

/* The largest file that cannot be measured determines the reason why there is no figure. */
static void refuse_file(AldModelFileSystem *found, AldStorageObstacle obstacle, uint64_t size)
{
        if (size < found->largest_refused)
                return;
        found->largest_refused = size;
        found->obstacle = obstacle;
}

static void add_file(Walk *walk, int folder, const char *path, const char *name)
{
        const uint64_t now_realtime = walk->options->now_realtime;
        AldModelFileSystem *found = walk->found;
        AldStorageObstacle obstacle;
        AldModelFile *file;
        g_autofree char *key = NULL;
        struct statx stx;
        bool by_content;

        if (!is_model_name(name, &by_content) ||
                statx(folder, name, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT, ALD_STORAGE_STATX_MASK, &stx) <
                        0 ||
                !S_ISREG(stx.stx_mode) || stx.stx_size < ALD_MODEL_BYTES_MIN ||
                ald_storage_device(&stx) != walk->device)
                return;
        walk->n_models++;
        key = g_strdup_printf(
                "%" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT, walk->device, (uint64_t) stx.stx_ino);
        if (!g_hash_table_add(found->seen, g_steal_pointer(&key)))
                return;
        found->n_files++;
        found->bytes += MIN(stx.stx_size, stx.stx_blocks * BLOCK);
        obstacle = faccessat(folder, name, R_OK, AT_EACCESS | AT_SYMLINK_NOFOLLOW) < 0
                           ? ALD_STORAGE_NO_PERMISSION
                           : ald_storage_assess(walk->mount, &stx, now_realtime, geteuid());
        if (obstacle != ALD_STORAGE_READABLE) {
                refuse_file(found, obstacle, stx.stx_size);
                return;
        }
        file = g_new(AldModelFile, 1);
        *file = (AldModelFile){
                .path = g_build_filename(path, name, NULL),
                .mount = walk->mount,
                .device = walk->device,
                .inode = stx.stx_ino,
                .size = stx.stx_size,
                .by_content = by_content,
        };
        g_ptr_array_add(found->files, file);
}

/* Returns whether the opened directory is of the file system that is searched. Something may have been
 * mounted there since the mounts were listed, or would be mounted by reading it. */
static bool is_of_walk(const Walk *walk, int fd)
{
        struct statx stx;

        return statx(fd, "", AT_EMPTY_PATH | AT_NO_AUTOMOUNT, STATX_BASIC_STATS | STATX_MNT_ID, &stx) >= 0 &&
               S_ISDIR(stx.stx_mode) && !(stx.stx_attributes & STATX_ATTR_AUTOMOUNT) &&
               ald_storage_device(&stx) == walk->device &&
               (!(stx.stx_mask & STATX_MNT_ID) || stx.stx_mnt_id == walk->mount_id);
}

/* Opens a directory for reading. That changes its access time, unless it is opened with O_NOATIME, which only
 * its owner and root may do. Returns -EXDEV if it is not of this file system. */
static int open_to_list(const Walk *walk, int folder, const char *name)
{
        const int flags = O_RDONLY | O_DIRECTORY | O_NONBLOCK | O_CLOEXEC;
        ald_fd int at = openat(folder, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
        int fd;

        if (at < 0)
                return -errno;
        if (!is_of_walk(walk, at))
                return -EXDEV;
        fd = openat(at, ".", flags | O_NOATIME);
        if (fd < 0 && errno == EPERM) {
                if (!walk->mount->keeps_access_times)
                        return -EPERM;
                fd = openat(at, ".", flags);
        }
        return fd < 0 ? -errno : fd;
}

static bool is_directory(int folder, const struct dirent *entry)
{
        struct stat st;

        if (entry->d_type != DT_UNKNOWN)
                return entry->d_type == DT_DIR;
        return fstatat(folder, entry->d_name, &st, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT) == 0 &&
               S_ISDIR(st.st_mode);
}

static bool is_exhausted(const Walk *walk)
{
        return walk->n_entries >= ENTRIES_MAX || ald_now() > walk->deadline;
}

static void list_folder(Walk *walk, int folder, const char *name, const char *path, unsigned level)
{
        g_autoptr(GPtrArray) below = g_ptr_array_new_with_free_func(g_free);
        int fd = open_to_list(walk, folder, name);
        DIR *dir;

        if (fd < 0) {
                /* A subdirectory that cannot be listed, such as lost+found, is no reason to report. */
                if (level == 0 && fd != -EXDEV)
                        walk->refused = fd == -EPERM ? ALD_STORAGE_ACCESS_TIME : ALD_STORAGE_NO_PERMISSION;
                return;
        }
        dir = fdopendir(fd);
        if (!dir) {
                close(fd);
                return;
        }
        for (const struct dirent *entry; !is_exhausted(walk) && (entry = readdir(dir));) {
                /* These are ".", ".." and hidden files. */
                if (*entry->d_name == '.')
                        continue;
                walk->n_entries++;
                if (is_directory(dirfd(dir), entry))
                        g_ptr_array_add(below, g_strdup(entry->d_name));
                else
                        add_file(walk, dirfd(dir), path, entry->d_name);
        }
        g_ptr_array_sort(below, ald_file_compare_names);
        for (guint i = 0; level < LEVELS_MAX && i < below->len && !is_exhausted(walk); i++) {
                g_autofree char *child = g_build_filename(path, below->pdata[i], NULL);

                if (!ald_mounts_is_point(walk->search->mounts, child))
                        list_folder(walk, dirfd(dir), below->pdata[i], child, level + 1);
        }
        closedir(dir);
}

/* Returns whether both mounts are of one file system, which may be mounted several times. */
static bool is_same_file_system(const AldMount *a, const AldMount *b)
{
        return b && a->major == b->major && a->minor == b->minor;
}

static AldModelFileSystem *find_file_system(const AldStorageSearch *search, const AldMount *mount)
{
        for (guint i = 0; i < search->file_systems->len; i++) {
                AldModelFileSystem *found = search->file_systems->pdata[i];

                if (is_same_file_system(found->mount, mount))
                        return found;
        }
        return NULL;
}

static AldModelFileSystem *add_file_system(
        const AldStorageSearchOptions *options, AldStorageSearch *search, const AldMount *mount)
{
        AldModelFileSystem *found = g_new(AldModelFileSystem, 1);

        *found = (AldModelFileSystem){
                .mount = mount,
                .files = g_ptr_array_new_with_free_func(model_file_free),
                .seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
        };
        if (mount->is_network)
                found->disks.rotational = ALD_ABSENT_BOOLEAN;
        else
                ald_storage_disks_read(options->root, mount, options->still, &found->disks);
        g_ptr_array_add(search->file_systems, found);
        return found;
}

/* Returns whether the opened directory is where the list of mounts says. */
static bool is_on_mount(const struct statx *stx, const AldMount *mount)
{
        if (stx->stx_mask & STATX_MNT_ID)
                return stx->stx_mnt_id == mount->id;
        return mount->major == 0 || ald_storage_device(stx) == makedev(mount->major, mount->minor);
}

static AldStorageObstacle search_path(const AldStorageSearchOptions *options, const AldStorageSearch *search,
        const char *path, const AldMount *mount, AldModelFileSystem *found)
{
        ald_fd int fd = ald_storage_open(options->root, path, O_PATH);
        Walk walk = { .options = options, .search = search, .found = found, .mount = mount };
        struct statx stx;

        if (fd < 0)
                return fd == -ELOOP    ? ALD_STORAGE_LINK
                       : fd == -EACCES ? ALD_STORAGE_NO_PERMISSION
                                       : ALD_STORAGE_NOT_FOUND;
        if (statx(fd, "", AT_EMPTY_PATH | AT_NO_AUTOMOUNT, STATX_BASIC_STATS | STATX_MNT_ID, &stx) < 0 ||
                !S_ISDIR(stx.stx_mode) || !is_on_mount(&stx, mount))
                return ALD_STORAGE_NOT_FOUND;
        walk.mount_id = stx.stx_mnt_id;
        walk.device = ald_storage_device(&stx);
        walk.deadline = MIN(ald_now() + SEARCH_NSEC, search->deadline);
        found->is_listed = true;
        list_folder(&walk, fd, ".", path, 0);
        if (walk.n_models > 0)
                return ALD_STORAGE_READABLE;
        return walk.refused != ALD_STORAGE_READABLE ? walk.refused : ALD_STORAGE_NO_MODEL;
}

static char *describe_path(AldStorageObstacle obstacle, const char *path)
{
        switch (obstacle) {
        case ALD_STORAGE_NOT_FOUND:
                return g_strdup_printf("there is no directory %s", path);
        case ALD_STORAGE_LINK:
                return g_strdup_printf("%s leads through a symbolic link; name the directory itself", path);
        case ALD_STORAGE_NO_PERMISSION:
                return g_strdup_printf("this user may not list %s", path);
        case ALD_STORAGE_ACCESS_TIME:
                return g_strdup_printf("listing %s would change its access time", path);
        default:
                return g_strdup(describe_obstacle(obstacle));
        }
}

static void add_path(const AldStorageSearchOptions *options, AldStorageSearch *search, const char *path)
{
        const AldMount *mount = ald_mounts_find(search->mounts, path);
        AldModelFileSystem *found;
        AldStorageObstacle obstacle;

        if (!mount || mount->class == ALD_MOUNT_AUTOMATIC) {
                if (!options->optional)
                        add_problem(search, path, ALD_STORAGE_NOT_MOUNTED,
                                g_strdup_printf("no file system is mounted at %s", path));
                return;
        }
        if ((options->optional && mount->class == ALD_MOUNT_REMOTE) ||
                (options->only &&
                        !is_same_file_system(mount, ald_mounts_find(search->mounts, options->only))))
                return;
        found = find_file_system(search, mount);
        if (!found)
                found = add_file_system(options, search, mount);
        if (found->disks.asleep)
                return;
        obstacle = search_path(options, search, path, mount, found);
        if (obstacle != ALD_STORAGE_READABLE && !options->optional)
                add_problem(search, path, obstacle, describe_path(obstacle, path));
}

static int compare_sizes(gconstpointer a, gconstpointer b)
{
        const AldModelFile *left = *(const AldModelFile *const *) a,
                           *right = *(const AldModelFile *const *) b;

        if (left->size != right->size)
                return left->size > right->size ? -1 : 1;
        return strcmp(left->path, right->path);
}

/* Sorts the files, and sets the obstacle. One of the whole file system outweighs those of files. */
static void finish_file_system(const AldStorageSearchOptions *options, AldModelFileSystem *found)
{
        g_ptr_array_sort(found->files, compare_sizes);
        if (found->disks.asleep)
                found->obstacle = ALD_STORAGE_ASLEEP;
        else if (!found->mount->is_network && !found->disks.names)
                found->obstacle = ALD_STORAGE_UNKNOWN_DISK;
        else if (found->disks.is_memory && !options->with_loop)
                found->obstacle = ALD_STORAGE_MEMORY;
        else if (found->files->len > 0)
                found->obstacle = ALD_STORAGE_READABLE;
        if (found->obstacle != ALD_STORAGE_READABLE) {
                g_ptr_array_set_size(found->files, 0);
                found->reason = g_strdup(found->disks.asleep ?: describe_obstacle(found->obstacle));
        }
}

static bool is_reportable(const AldModelFileSystem *found)
{
        return (found->disks.asleep || found->n_files > 0) && strlen(found->mount->point) <= PATH_TEXT_MAX &&
               g_utf8_validate(found->mount->point, -1, NULL);
}

/* Drops the problem of a path that is the mount point of a file system with models, since the file system is
 * reported by that path. */
static void drop_problem(AldStorageSearch *search, const char *point)
{
        for (guint i = search->problems->len; i > 0; i--)
                if (g_str_equal(((const AldStorageProblem *) search->problems->pdata[i - 1])->path, point))
                        g_ptr_array_remove_index(search->problems, i - 1);
}

int ald_storage_search(const AldStorageSearchOptions *options, AldStorageSearch *ret)
{
        g_autofree char *text = ald_file_text(options->root, "proc/self/mountinfo");
        AldStorageSearch search;

        if (!text)
                return -EIO;
        search = (AldStorageSearch){
                .mounts = ald_mounts_parse(text),
                .file_systems = g_ptr_array_new_with_free_func(file_system_free),
                .problems = g_ptr_array_new_with_free_func(problem_free),
                .deadline = ald_now() + SEARCH_ALL_NSEC,
        };
        for (const char *const *path = options->paths; *path; path++)
                add_path(options, &search, *path);
        for (guint i = search.file_systems->len; i > 0; i--) {
                AldModelFileSystem *found = search.file_systems->pdata[i - 1];

                finish_file_system(options, found);
                if (!is_reportable(found))
                        g_ptr_array_remove_index(search.file_systems, i - 1);
                else if (found->n_files > 0)
                        drop_problem(&search, found->mount->point);
        }
        *ret = search;
        return 0;
}

void ald_storage_search_clear(AldStorageSearch *search)
{
        g_clear_pointer(&search->file_systems, g_ptr_array_unref);
        g_clear_pointer(&search->problems, g_ptr_array_unref);
        g_clear_pointer(&search->mounts, g_ptr_array_unref);
}
