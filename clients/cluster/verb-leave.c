/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "clients/cluster/admin-lock.h"
#include "clients/cluster/broker-files.h"
#include "clients/cluster/command.h"
#include "clients/cluster/services.h"
#include "clients/command-line/print.h"

/* Without the key, no node can be admitted, revoked or given a new certificate. */
static int confirm(const AldClusterCommand *command, const AldHome *home)
{
        char answer[8] = "";

        if (!ald_home_is_authority(home) || command->force)
                return ALD_EXIT_OK;
        ald_complain("This machine keeps the key of cluster %s: without it no node can be admitted or "
                     "revoked, or get a new certificate",
                home->name);
        if (isatty(STDIN_FILENO) && !command->changes->check) {
                fputs("Remove it? [yes/no] ", stderr);
                if (fgets(answer, sizeof answer, stdin) && strcmp(g_strstrip(answer), "yes") == 0)
                        return ALD_EXIT_OK;
        }
        ald_complain("Nothing was removed; --force removes it");
        return ALD_EXIT_ERROR;
}

static int remove_file(const char *path)
{
        return unlink(path) < 0 && errno != ENOENT ? ald_home_failed(-errno, path, NULL) : ALD_EXIT_OK;
}

/* With all that is in it but the files that are spared. */
static int empty_folder(const char *path, const char *const *spared);

static int remove_folder(const char *path)
{
        int r = empty_folder(path, NULL);

        if (r == ALD_EXIT_OK && rmdir(path) < 0 && errno != ENOENT)
                r = ald_home_failed(-errno, path, NULL);
        return r;
}

static int empty_folder(const char *path, const char *const *spared)
{
        g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
        int r = ALD_EXIT_OK;
        const char *name;

        while (dir && r == ALD_EXIT_OK && (name = g_dir_read_name(dir))) {
                g_autofree char *below = g_build_filename(path, name, NULL);
                struct stat st;

                if (!spared || !g_strv_contains(spared, name))
                        r = lstat(below, &st) == 0 && S_ISDIR(st.st_mode) ? remove_folder(below)
                                                                          : remove_file(below);
        }
        return r;
}

/* Files of every verb; they go last, when services have read that the rest is gone. */
static const char *const spared[] = { ALD_ADMIN_LOCK_FILE, ALD_HOME_UNFINISHED, NULL };

static bool has_more(const AldHome *home)
{
        g_autoptr(GDir) dir = g_dir_open(home->folder, 0, NULL);
        const char *name = NULL;

        while (dir && (name = g_dir_read_name(dir)) && g_strv_contains(spared, name))
                continue;
        return name;
}

static char *config_path(const AldHome *home)
{
        return g_build_filename(home->config, "alidade.conf.d", "50-cluster.conf", NULL);
}

/* Whether there is anything of a cluster. */
static bool is_somewhere(const AldHome *home)
{
        g_autofree char *config = config_path(home);

        return access(config, F_OK) == 0 || ald_home_is_broker(home) || has_more(home) ||
               access(home->fresh_crl, F_OK) == 0 || access(home->renewed, F_OK) == 0 ||
               access(home->requests, F_OK) == 0;
}

static int remove_keys(const AldHome *home)
{
        int r = ALD_EXIT_OK;

        if (!has_more(home))
                return ALD_EXIT_OK;
        if (!home->changes->check)
                r = empty_folder(home->folder, spared);
        if (r == ALD_EXIT_OK)
                ald_changes_add(home->changes, ALD_CHANGE_REMOVE, home->folder,
                        ": keys and certificates of this node");
        return r;
}

static int remove_requests(const AldHome *home)
{
        struct stat st;
        int r;

        if (lstat(home->requests, &st) < 0)
                return ALD_EXIT_OK;
        /* The cluster service could have put a link there. */
        if (!S_ISDIR(st.st_mode))
                return ald_home_remove(home, home->requests);
        r = ald_home_each_request(home, ald_home_remove_request, NULL);
        if (r == ALD_EXIT_OK && !home->changes->check && rmdir(home->requests) < 0 && errno != ENOENT)
                r = ald_home_failed(-errno, home->requests, NULL);
        if (r == ALD_EXIT_OK)
                ald_changes_add(home->changes, ALD_CHANGE_REMOVE, home->requests, "%s", "");
        return r;
}

/* If something cannot be removed, the rest is removed anyway: the cluster service owns some of it. */
static void add_result(int *result, int r)
{
        if (*result == ALD_EXIT_OK)
                *result = r;
}

/* The configuration is removed first: if interrupted, the machine is not in a cluster. */
static int remove_all(const AldHome *home)
{
        g_autofree char *config = config_path(home);
        int result = ald_home_begin(home);

        if (result != ALD_EXIT_OK)
                return result;
        result = ald_home_remove(home, config);
        add_result(&result, ald_broker_files_remove(home));
        add_result(&result, remove_keys(home));
        add_result(&result, ald_home_remove(home, home->fresh_crl));
        add_result(&result, ald_home_remove(home, home->renewed));
        return result;
}

/* Another run may take a new lock at once, and then keeps the folder. */
static int remove_home(const AldHome *home)
{
        g_autofree char *lock = g_build_filename(home->folder, ALD_ADMIN_LOCK_FILE, NULL);
        int r = home->changes->check ? ALD_EXIT_OK : remove_file(lock);

        if (r == ALD_EXIT_OK && !home->changes->check && rmdir(home->folder) < 0 && errno != ENOENT &&
                errno != ENOTEMPTY)
                r = ald_home_failed(-errno, home->folder, NULL);
        return r;
}

/* Without the lock, since others, such as the installation of a revocation list, would wait until the user
 * answers. */
static int ask(const AldClusterCommand *command, bool *ret_somewhere)
{
        g_auto(AldHome) home = ALD_HOME_INIT;
        int r;

        home.anonymous = true; /* as an image is */
        r = ald_home_open(&home, command->changes);
        if (r != ALD_EXIT_OK)
                return r;
        *ret_somewhere = is_somewhere(&home) || ald_home_has(&home, ALD_HOME_UNFINISHED);
        if (!*ret_somewhere)
                ald_home_tell(&home, "This machine is not in a cluster");
        return confirm(command, &home);
}

static int leave(const AldHome *home)
{
        AldServices services = ALD_SERVICES_CLUSTERD | ald_services_of_broker(home);
        bool authority = ald_home_is_authority(home);
        int r = ALD_EXIT_OK;

        if (is_somewhere(home))
                r = remove_all(home);
        add_result(&r, ald_services_apply(home, services));
        add_result(&r, remove_requests(home));
        if (r == ALD_EXIT_OK)
                r = remove_home(home);
        if (r == ALD_EXIT_OK && *home->name && !authority)
                ald_home_tell_next(home, "Next: where cluster %s was created: alidadectl cluster revoke %s",
                        home->name, home->id);
        return r;
}

int ald_cluster_leave(const AldClusterCommand *command)
{
        g_auto(AldHome) home = ALD_HOME_INIT;
        bool somewhere = true; /* without root, opening to change refuses below */
        int r;

        r = geteuid() == 0 ? ask(command, &somewhere) : ALD_EXIT_OK;
        if (r != ALD_EXIT_OK || !somewhere)
                return r;
        r = ald_home_open_to_change(&home, command->changes);
        return r == ALD_EXIT_OK ? leave(&home) : r;
}
