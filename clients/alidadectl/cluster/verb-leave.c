/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "clients/alidadectl/cluster/broker-files.h"
#include "clients/alidadectl/cluster/cluster.h"
#include "clients/alidadectl/cluster/services.h"
#include "clients/alidadectl/print.h"

/* Without the key nobody can be let in, shut out or given a new certificate any more. */
static int confirm(const AldClusterOrder *order, const AldHome *home)
{
        char answer[8] = "";

        if (!ald_home_is_authority(home) || order->force)
                return ALD_EXIT_OK;
        ald_complain("This machine keeps the key of cluster %s: without it nobody can be let in, shut out or "
                     "given a new certificate",
                home->name);
        if (isatty(STDIN_FILENO)) {
                fputs("Remove it? [yes/no] ", stderr);
                if (fgets(answer, sizeof answer, stdin) && strcmp(g_strstrip(answer), "yes") == 0)
                        return ALD_EXIT_OK;
        }
        ald_complain("Nothing was removed; --force removes it");
        return ALD_EXIT_ERROR;
}

/* Without the lock, for which others would wait as long as the answer takes: a revocation list, say. */
static int ask(const AldClusterOrder *order)
{
        g_auto(AldHome) home = ALD_HOME_INIT;
        int r = ald_home_open(&home, stdout);

        return r == ALD_EXIT_OK ? confirm(order, &home) : r;
}

static int remove_file(const char *path)
{
        return unlink(path) < 0 && errno != ENOENT ? ald_home_failed(-errno, path, NULL) : ALD_EXIT_OK;
}

static int remove_folder(const char *path)
{
        g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
        int r = ALD_EXIT_OK;
        const char *name;

        while (dir && r == ALD_EXIT_OK && (name = g_dir_read_name(dir))) {
                g_autofree char *below = g_build_filename(path, name, NULL);
                struct stat st;

                r = lstat(below, &st) == 0 && S_ISDIR(st.st_mode) ? remove_folder(below) : remove_file(below);
        }
        if (r == ALD_EXIT_OK && rmdir(path) < 0 && errno != ENOENT)
                r = ald_home_failed(-errno, path, NULL);
        return r;
}

/* Whether there is anything of a cluster; the folder itself is made by every verb. */
static bool is_somewhere(const AldHome *home, const char *config)
{
        g_autoptr(GDir) dir = g_dir_open(home->folder, 0, NULL);

        return access(config, F_OK) == 0 || ald_broker_files_exist(home) ||
               (dir && g_dir_read_name(dir) != NULL);
}

/* The configuration goes first: what is interrupted leaves a machine that is in no cluster. */
static int remove_all(const AldHome *home)
{
        g_autofree char *config = g_build_filename(home->config, "alidade.conf.d", "50-cluster.conf", NULL);
        bool was = is_somewhere(home, config);
        int r;

        r = remove_file(config);
        if (r == ALD_EXIT_OK)
                r = ald_broker_files_remove(home);
        if (r == ALD_EXIT_OK)
                r = remove_file(home->fresh_crl);
        if (r == ALD_EXIT_OK)
                r = remove_folder(home->folder);
        if (r == ALD_EXIT_OK && was)
                ald_home_tell(home, "Removed %s, and %s with the keys and certificates of this node", config,
                        home->folder);
        else if (r == ALD_EXIT_OK)
                ald_home_tell(home, "This machine is in no cluster; nothing was there to remove");
        return r;
}

int ald_cluster_leave(const AldClusterOrder *order)
{
        g_auto(AldHome) home = ALD_HOME_INIT;
        bool broker, authority;
        int r;

        r = geteuid() == 0 ? ask(order) : ALD_EXIT_OK; /* who is not root is told so below */
        if (r == ALD_EXIT_OK)
                r = ald_home_open_to_change(&home, stdout);
        if (r != ALD_EXIT_OK)
                return r;
        broker = ald_broker_files_exist(&home);
        authority = ald_home_is_authority(&home);
        r = remove_all(&home);
        if (r == ALD_EXIT_OK && broker)
                r = ald_services_restart_broker(&home, false);
        if (r == ALD_EXIT_OK)
                r = ald_services_reload_clusterd(&home, &order->ctl);
        if (r == ALD_EXIT_OK && *home.name && !authority)
                ald_home_tell(&home, "Next: where cluster %s was begun: alidadectl cluster revoke %s",
                        home.name, home.id);
        return r;
}
