/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "probes/compute/cache.h"
#include "probes/compute/folder.h"

#define BYTES_MAX (UINT64_C(512) << 20)

/* A try, since quotas and read-only mounts are not in the permissions. */
static bool is_writable(const char *folder)
{
        g_autofree char *trial = g_build_filename(folder, ".trial-XXXXXX", NULL);

        return g_mkdir_with_parents(folder, 0700) >= 0 && g_mkdtemp(trial) && rmdir(trial) >= 0;
}

static char *usual_folder(void)
{
        const char *given = g_getenv("CACHE_DIRECTORY");

        if (given && g_path_is_absolute(given))
                return g_strndup(given, strcspn(given, ":"));
        return g_build_filename(g_get_user_cache_dir(), "alidade", "compute", NULL);
}

static int make_scratch(AldCache *cache)
{
        g_autofree char *scratch = g_build_filename(g_get_tmp_dir(), "alidade-compute-XXXXXX", NULL);

        if (cache->scratch)
                return 0;
        if (!g_mkdtemp(scratch))
                return -errno;
        cache->scratch = g_steal_pointer(&scratch);
        return 0;
}

int ald_cache_open(AldCache *ret)
{
        AldCache cache = { .folder = usual_folder() };
        int r = 0;

        if (!is_writable(cache.folder)) {
                g_clear_pointer(&cache.folder, g_free);
                r = make_scratch(&cache);
                cache.folder = g_strdup(cache.scratch);
        }
        if (r >= 0)
                *ret = cache;
        return r;
}

void ald_cache_close(AldCache *cache)
{
        if (cache->folder)
                ald_folder_prune(cache->folder, BYTES_MAX);
        if (cache->scratch) {
                ald_folder_empty(cache->scratch);
                (void) rmdir(cache->scratch);
        }
        g_free(cache->folder);
        g_free(cache->scratch);
        *cache = (AldCache){};
}

char *ald_cache_make(AldCache *cache)
{
        g_autofree char *folder = NULL;

        if (make_scratch(cache) < 0)
                return NULL;
        folder = g_build_filename(cache->scratch, "XXXXXX", NULL);
        return g_mkdtemp(folder) ? g_steal_pointer(&folder) : NULL;
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
