/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "probes/compute/cache.h"
#include "probes/compute/folder.h"

#define BYTES_MAX (UINT64_C(512) << 20)
#define ROOM_MIN (UINT64_C(16) << 20)

/* Compilers say nothing of use if there is no room. */
static bool has_room(const char *folder)
{
        struct statvfs room;

        return statvfs(folder, &room) < 0 || (uint64_t) room.f_bavail * room.f_frsize >= ROOM_MIN;
}

/* A try, since quotas and read-only mounts are not in the permissions. */
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
                ald_folder_empty(cache->folder, NULL);
                (void) rmdir(cache->folder);
        } else if (cache->folder) {
                ald_folder_prune(cache->folder, BYTES_MAX, ALD_CACHE_LOCK_FILE);
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
