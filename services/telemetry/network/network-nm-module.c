/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <dlfcn.h>

#include "services/telemetry/network/network-nm-module.h"

#define MODULE "alidade-network-nm.so"
#define SYMBOL "ald_network_nm_api"

/* It lies beside the service, installed or just built. */
static char *module_path(void)
{
        g_autofree char *program = g_file_read_link("/proc/self/exe", NULL);
        g_autofree char *folder = program ? g_path_get_dirname(program) : NULL;

        return folder ? g_build_filename(folder, MODULE, NULL) : NULL;
}

const AldNetworkNmApi *ald_network_nm_module_load(void)
{
        g_autofree char *path = module_path();
        void *module = path ? dlopen(path, RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE) : NULL;
        const AldNetworkNmApi *api = module ? dlsym(module, SYMBOL) : NULL;

        if (!api)
                g_warning("Network interfaces are shown without NetworkManager: %s",
                        path ? dlerror() : "/proc is not there");
        return api;
}
