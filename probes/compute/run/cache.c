/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <stdint.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <glib.h>

#include "probes/common/probe-fd.h"
#include "probes/compute/run/cache.h"

#define BYTES_MAX (UINT64_C(512) << 20)
#define ROOM_MIN (UINT64_C(16) << 20)
#define LOCK_FILE ".lock"

static FTS *open_tree(const char *folder)
{
        char *const roots[] = { (char *) folder, NULL };

        return fts_open(roots, FTS_PHYSICAL | FTS_XDEV | FTS_NOCHDIR, NULL);
}

/* Empties a folder, without following links or leaving its file system; may keep the file of the lock. */
static void empty_folder(const char *folder, bool keep_lock)
{
        FTS *entries = open_tree(folder);

        for (FTSENT *entry; entries && (entry = fts_read(entries));) {
                if (entry->fts_level == 0 || entry->fts_info == FTS_D ||
                        (keep_lock && entry->fts_level == 1 && strcmp(entry->fts_name, LOCK_FILE) == 0))
                        continue;
                if (entry->fts_info == FTS_DP)
                        (void) rmdir(entry->fts_accpath);
                else
                        (void) unlink(entry->fts_accpath);
        }
        if (entries)
                fts_close(entries);
}

/* Empties the folder if it is too large, else removes only the files that PoCL leaves behind in each run. */
static void prune_folder(const char *folder)
{
        FTS *entries = open_tree(folder);
        uint64_t bytes = 0;

        for (FTSENT *entry; entries && (entry = fts_read(entries));) {
                if (entry->fts_info != FTS_F)
                        continue;
                bytes += (uint64_t) entry->fts_statp->st_size;
                if (entry->fts_statp->st_size == 0 && strncmp(entry->fts_name, "tempfile_", 9) == 0)
                        (void) unlink(entry->fts_accpath);
        }
        if (entries)
                fts_close(entries);
        if (bytes > BYTES_MAX)
                empty_folder(folder, true);
}

/* Returns whether there is enough room, without which compilers fail with useless messages. */
static bool has_room(const char *folder)
{
        struct statvfs room;

        return statvfs(folder, &room) < 0 || (uint64_t) room.f_bavail * room.f_frsize >= ROOM_MIN;
}

/* Returns whether the folder is writable, by a trial, since permissions do not show quotas and read-only
 * mounts. */
static bool is_writable(const char *folder)
{
        g_autofree char *trial = g_build_filename(folder, ".trial-XXXXXX", NULL);

        return g_mkdir_with_parents(folder, 0700) >= 0 && g_mkdtemp(trial) && rmdir(trial) >= 0 &&
               has_room(folder);
}

static char *usual_folder(void)
{
        const char *given = g_getenv("CACHE_DIRECTORY");

        if (given && g_path_is_absolute(given))
                return g_strndup(given, strcspn(given, ":"));
        return g_build_filename(g_get_user_cache_dir(), "alidade", "compute", NULL);
}

int ald_cache_open(AldCache *ret)
{
        g_autofree char *folder = usual_folder();
        bool writable = is_writable(folder);

        if (!writable) {
                g_free(folder);
                folder = g_build_filename(g_get_tmp_dir(), "alidade-compute-XXXXXX", NULL);
                if (!g_mkdtemp(folder))
                        return -errno;
        }
        *ret = (AldCache){ g_steal_pointer(&folder), !writable };
        return 0;
}

void ald_cache_close(AldCache *cache)
{
        if (cache->folder && cache->is_own) {
                empty_folder(cache->folder, false);
                (void) rmdir(cache->folder);
        } else if (cache->folder) {
                prune_folder(cache->folder);
        }
        g_free(cache->folder);
        *cache = (AldCache){};
}

char **ald_cache_environment(const AldCache *cache)
{
        static const char *const variables[] = {
                "HOME",
                "XDG_CACHE_HOME",
                "POCL_CACHE_DIR",
                "CUDA_CACHE_PATH",
                "NEO_CACHE_DIR",
                "AMD_COMGR_CACHE_DIR",
                "MESA_SHADER_CACHE_DIR",
        };
        char **environment = g_get_environ();

        for (size_t i = 0; i < G_N_ELEMENTS(variables); i++)
                environment = g_environ_setenv(environment, variables[i], cache->folder, TRUE);
        return environment;
}

/* Opens the lock file, which no other user may open, since a user who can open a file can hold its lock
 * forever. */
static int open_lock_file(const AldCache *cache)
{
        g_autofree char *path = g_build_filename(cache->folder, LOCK_FILE, NULL);
        ald_fd int fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
        struct stat st;

        if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_uid != geteuid() ||
                fchmod(fd, 0600) < 0)
                return -1;
        return ald_fd_steal(&fd);
}

int ald_cache_lock(const AldCache *cache, AldFailure *failure)
{
        ald_fd int fd = open_lock_file(cache);

        if (fd < 0)
                return ald_fail(failure, ALD_FAILURE_INTERNAL, "there is no lock file in the cache folder");
        if (flock(fd, LOCK_EX | LOCK_NB) < 0)
                return ald_fail(failure, ALD_FAILURE_BUSY,
                        "another alidade-probe-compute of this user is measuring on this machine");
        return ald_fd_steal(&fd);
}
