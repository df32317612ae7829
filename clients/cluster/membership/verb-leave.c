/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "clients/cluster/admin-lock.h"
#include "clients/cluster/broker/broker-files.h"
#include "clients/cluster/command-report.h"
#include "clients/cluster/command.h"
#include "clients/cluster/services.h"
#include "clients/command-line/print.h"

/* Asks for confirmation if this machine has the key of the authority: without it, no node can be admitted,
 * revoked or given a new certificate. */
static int confirm_key_removal(const AldClusterCommand *command, const AldClusterFiles *files)
{
        char answer[8] = "";

        if (!ald_files_is_authority(files) || command->force)
                return ALD_EXIT_OK;
        ald_print_error("This machine keeps the key of cluster %s: without it no node can be admitted or "
                        "revoked, or get a new certificate",
                files->name);
        if (isatty(STDIN_FILENO) && !command->changes->check) {
                fputs("Remove it? [yes/no] ", stderr);
                if (fgets(answer, sizeof answer, stdin) && strcmp(g_strstrip(answer), "yes") == 0)
                        return ALD_EXIT_OK;
        }
        ald_print_error("Nothing was removed; --force removes it");
        return ALD_EXIT_ERROR;
}

static int remove_file(const char *path)
{
        return unlink(path) < 0 && errno != ENOENT ? ald_report_failure(-errno, path, NULL) : ALD_EXIT_OK;
}

/* Removes everything in a folder except for the spared names. */
static int empty_folder(const char *path, const char *const *spared)
{
        g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
        int r = ALD_EXIT_OK;
        const char *name;

        while (dir && r == ALD_EXIT_OK && (name = g_dir_read_name(dir))) {
                g_autofree char *below = g_build_filename(path, name, NULL);
                struct stat st;

                if (spared && g_strv_contains(spared, name))
                        continue;
                if (lstat(below, &st) < 0 || !S_ISDIR(st.st_mode)) {
                        r = remove_file(below);
                        continue;
                }
                r = empty_folder(below, NULL);
                if (r == ALD_EXIT_OK && rmdir(below) < 0 && errno != ENOENT)
                        r = ald_report_failure(-errno, below, NULL);
        }
        return r;
}

/* Files that every verb uses. They are removed last, when services have noticed that the rest is gone. */
static const char *const spared[] = { ALD_ADMIN_LOCK_FILE, ALD_FILES_UNFINISHED, NULL };

static bool has_unspared_files(const AldClusterFiles *files)
{
        g_autoptr(GDir) dir = g_dir_open(files->folder, 0, NULL);
        const char *name = NULL;

        while (dir && (name = g_dir_read_name(dir)) && g_strv_contains(spared, name))
                continue;
        return name;
}

static char *config_path(const AldClusterFiles *files)
{
        return g_build_filename(files->config, "alidade.conf.d", "50-cluster.conf", NULL);
}

/* Returns whether this machine has any file of a cluster. */
static bool has_cluster_files(const AldClusterFiles *files)
{
        g_autofree char *config = config_path(files);

        return access(config, F_OK) == 0 || ald_files_is_broker(files) || has_unspared_files(files) ||
               access(files->received_crl, F_OK) == 0 || access(files->renewed, F_OK) == 0 ||
               access(files->requests, F_OK) == 0;
}

static int remove_keys(const AldClusterFiles *files)
{
        int r = ALD_EXIT_OK;

        if (!has_unspared_files(files))
                return ALD_EXIT_OK;
        if (!files->changes->check)
                r = empty_folder(files->folder, spared);
        if (r == ALD_EXIT_OK)
                ald_changes_add(files->changes, ALD_CHANGE_REMOVE, files->folder,
                        ": keys and certificates of this node");
        return r;
}

static int remove_requests(const AldClusterFiles *files)
{
        struct stat st;
        int r;

        if (lstat(files->requests, &st) < 0)
                return ALD_EXIT_OK;
        /* The cluster service could have replaced the folder with a link. */
        if (!S_ISDIR(st.st_mode))
                return ald_files_remove(files, files->requests);
        r = ald_files_each_request(files, ald_files_remove_request, NULL);
        if (r == ALD_EXIT_OK && !files->changes->check && rmdir(files->requests) < 0 && errno != ENOENT)
                r = ald_report_failure(-errno, files->requests, NULL);
        if (r == ALD_EXIT_OK)
                ald_changes_add(files->changes, ALD_CHANGE_REMOVE, files->requests, "%s", "");
        return r;
}

/* Removes the configuration first, so that the machine is not in a cluster if this is interrupted. If
 * something cannot be removed, the rest is removed anyway: the cluster service owns some of it. */
static int remove_all(const AldClusterFiles *files)
{
        g_autofree char *config = config_path(files);
        int result = ald_files_begin(files);

        if (result != ALD_EXIT_OK)
                return result;
        result = ald_files_remove(files, config);
        ald_report_keep_first(&result, ald_broker_files_remove(files));
        ald_report_keep_first(&result, remove_keys(files));
        ald_report_keep_first(&result, ald_files_remove(files, files->received_crl));
        ald_report_keep_first(&result, ald_files_remove(files, files->renewed));
        return result;
}

/* Removes the folder itself. If another run takes a new lock in between, the folder stays. */
static int remove_cluster_folder(const AldClusterFiles *files)
{
        g_autofree char *lock = g_build_filename(files->folder, ALD_ADMIN_LOCK_FILE, NULL);
        int r = files->changes->check ? ALD_EXIT_OK : remove_file(lock);

        if (r == ALD_EXIT_OK && !files->changes->check && rmdir(files->folder) < 0 && errno != ENOENT &&
                errno != ENOTEMPTY)
                r = ald_report_failure(-errno, files->folder, NULL);
        return r;
}

/* Sets *ret_has_files if this machine has any file of a cluster. Does not hold the lock, since other runs,
 * such as the installation of a revocation list, would wait for the answer of the user. */
static int inspect_and_confirm(const AldClusterCommand *command, bool *ret_has_files)
{
        g_auto(AldClusterFiles) files = ALD_FILES_INIT;
        bool has_files;
        int r;

        files.without_id = true; /* an image of a machine has no id */
        r = ald_files_open(&files, command->changes);
        if (r != ALD_EXIT_OK)
                return r;
        has_files = has_cluster_files(&files) || ald_files_has(&files, ALD_FILES_UNFINISHED);
        if (!has_files)
                ald_changes_note(files.changes, "This machine is not in a cluster");
        r = confirm_key_removal(command, &files);
        if (r == ALD_EXIT_OK)
                *ret_has_files = has_files;
        return r;
}

static int leave_cluster(const AldClusterFiles *files)
{
        AldServices services = ALD_SERVICES_CLUSTERD | ald_services_of_broker(files);
        bool authority = ald_files_is_authority(files);
        int r = ALD_EXIT_OK;

        if (has_cluster_files(files))
                r = remove_all(files);
        ald_report_keep_first(&r, ald_services_apply(files, services));
        ald_report_keep_first(&r, remove_requests(files));
        if (r == ALD_EXIT_OK)
                r = remove_cluster_folder(files);
        if (r == ALD_EXIT_OK && *files->name && !authority)
                ald_changes_note_next(files->changes,
                        "Next: where cluster %s was created: alidadectl cluster revoke %s", files->name,
                        files->id);
        return r;
}

int ald_cluster_leave(const AldClusterCommand *command)
{
        g_auto(AldClusterFiles) files = ALD_FILES_INIT;
        bool has_files = true; /* for other users than root, opening to change fails below */
        int r;

        r = geteuid() == 0 ? inspect_and_confirm(command, &has_files) : ALD_EXIT_OK;
        if (r != ALD_EXIT_OK || !has_files)
                return r;
        r = ald_files_open_to_change(&files, command->changes);
        return r == ALD_EXIT_OK ? leave_cluster(&files) : r;
}
