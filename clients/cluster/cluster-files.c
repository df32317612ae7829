/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "clients/cluster/admin-lock.h"
#include "clients/cluster/cluster-files.h"
#include "clients/cluster/command-report.h"
#include "clients/command-line/print.h"
#include "common/cluster-keys.h"
#include "common/config.h"
#include "common/node-id.h"
#include "pki/file.h"

#define NAME_MAX_BYTES 32u
#define FOLDER_TRIES 100u /* another run may remove the folder at the same time */
/* Limit of entries of the folder of requests in one run: twice what the cluster service admits. */
#define REQUESTS_MAX 8192u
#define OWN_CONFIG "50-cluster.conf"
#define GROUP "cluster"
#define UNFINISHED_BYTES_MAX 64u
#define START "start"

static const char config_head[] =
        " Written by alidadectl cluster; see alidade.conf(5). init, join and renew rewrite the brokers:\n "
        "put lasting changes into a file that is read later, such as 60-local.conf.";

bool ald_cluster_name_is_valid(const char *name)
{
        size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-");

        return n > 0 && n <= NAME_MAX_BYTES && name[n] == '\0' && name[0] != '-';
}

static const char *refuse_name(const char *value)
{
        return *value == '\0' || ald_cluster_name_is_valid(value) ? NULL : "not a valid cluster name";
}

static void load_config(AldClusterFiles *files)
{
        static const AldConfigKey keys[] = {
                { GROUP, "name", ALD_CONFIG_STRING, .fallback = "", .refuse = refuse_name },
                { GROUP, "brokers", ALD_CONFIG_STRV, .fallback = "" },
                { GROUP, "discovery", ALD_CONFIG_STRING, .fallback = "" },
                { GROUP, "mirror", ALD_CONFIG_STRING, .fallback = "" },
                {},
        };
        AldConfig *config = ald_config_load(keys, files->config);

        g_free(files->name);
        g_strfreev(files->brokers);
        files->name = g_strdup(ald_config_string(config, "name"));
        files->brokers = g_strdupv((char **) ald_config_strv(config, "brokers"));
        ald_config_free(config);
}

static char *folder_from_environment(const char *variable, const char *fallback)
{
        const char *given = g_getenv(variable);

        return g_strdup(given && *given ? given : fallback);
}

int ald_files_open(AldClusterFiles *files, AldChanges *changes)
{
        g_autofree char *state = folder_from_environment(
                "ALIDADE_CLUSTER_STATE_DIR", "/var/lib/alidade/cluster");

        files->changes = changes;
        files->config = folder_from_environment("ALIDADE_CONFIG_DIR", ALD_CONFIG_DIR);
        files->folder = g_build_filename(files->config, "cluster", NULL);
        files->mosquitto = folder_from_environment("ALIDADE_MOSQUITTO_DIR", ALD_MOSQUITTO_DIR);
        files->avahi = folder_from_environment("ALIDADE_AVAHI_DIR", "/etc/avahi");
        files->systemd = folder_from_environment("ALIDADE_SYSTEMD_DIR", "/etc/systemd/system");
        files->received_crl = g_build_filename(state, "crl.pem", NULL);
        files->requests = g_build_filename(state, "renewals", NULL);
        files->renewed = g_build_filename(state, "renewed.pem", NULL);
        load_config(files);
        return !files->without_id && ald_node_id(files->id) < 0 ? ALD_EXIT_ERROR : ALD_EXIT_OK;
}

/* Locks the folder. Two runs at once could use the same numbers, or each write half of a set of files. */
static int take_lock(AldClusterFiles *files)
{
        g_autofree char *holder = NULL;
        unsigned tries = 0;
        int r;

        do {
                r = ald_files_make_folder(files, files->folder, 0755);
                if (r != ALD_EXIT_OK)
                        return r;
                r = ald_admin_lock_take(files->folder, ALD_ADMIN_LOCK_SECONDS, &holder);
        } while (r == -ENOENT && ++tries < FOLDER_TRIES);
        if (r >= 0) {
                files->lock = r;
                return ALD_EXIT_OK;
        }
        if (r != -ETIMEDOUT)
                return ald_report_failure(r, files->folder, NULL);
        ald_print_error(
                "Nothing was changed: %s has been changing %s for %u seconds. Try again when it has finished",
                holder, files->folder, ALD_ADMIN_LOCK_SECONDS);
        return ALD_EXIT_ERROR;
}

static char *unfinished_path(const AldClusterFiles *files)
{
        return g_build_filename(files->folder, ALD_FILES_UNFINISHED, NULL);
}

static void load_unfinished(AldClusterFiles *files)
{
        g_autofree char *path = unfinished_path(files), *text = NULL;

        files->interrupted = ald_pki_file_read(path, UNFINISHED_BYTES_MAX, &text, NULL) >= 0;
        files->interrupted_broker = files->interrupted && strstr(text, ALD_FILES_BROKER_GROUP);
        files->interrupted_start = files->interrupted && strstr(text, START);
        files->changes->unread = files->interrupted;
}

char *ald_files_drop_in(const AldClusterFiles *files)
{
        return g_build_filename(files->mosquitto, ALD_MOSQUITTO_DROP_IN, NULL);
}

bool ald_files_is_broker(const AldClusterFiles *files)
{
        g_autofree char *conf = ald_files_drop_in(files);

        return access(conf, F_OK) == 0;
}

int ald_files_begin(const AldClusterFiles *files)
{
        g_autofree char *path = unfinished_path(files);
        bool broker = ald_files_is_broker(files) || files->interrupted_broker;

        files->changes->unread = true;
        if (access(path, F_OK) == 0 && (!broker || files->interrupted_broker))
                return ALD_EXIT_OK;
        return ald_files_write(
                files, path, broker ? "clusterd\n" ALD_FILES_BROKER_GROUP "\n" : "clusterd\n", 0600);
}

int ald_files_begin_start(const AldClusterFiles *files)
{
        g_autofree char *path = unfinished_path(files);

        return ald_files_write(files, path, "clusterd\n" ALD_FILES_BROKER_GROUP "\n" START "\n", 0600);
}

int ald_files_end(const AldClusterFiles *files)
{
        g_autofree char *path = unfinished_path(files);

        files->changes->unread = false;
        if (!files->changes->check && unlink(path) < 0 && errno != ENOENT)
                return ald_report_failure(-errno, path, NULL);
        return ALD_EXIT_OK;
}

int ald_files_open_to_change(AldClusterFiles *files, AldChanges *changes)
{
        int r;

        if (geteuid() != 0) {
                ald_print_error("Only root can do this, since it uses the keys of this machine");
                return ALD_EXIT_DENIED;
        }
        r = ald_files_open(files, changes);
        if (r == ALD_EXIT_OK && !changes->check) {
                if (access(files->config, F_OK) < 0)
                        r = ald_files_make_folder(files, files->config, 0755);
                if (r == ALD_EXIT_OK)
                        r = take_lock(files);
                /* The previous holder of the lock may have changed the configuration. */
                if (r == ALD_EXIT_OK)
                        load_config(files);
        }
        if (r == ALD_EXIT_OK)
                load_unfinished(files);
        return r;
}

void ald_files_close(AldClusterFiles *files)
{
        g_free(files->config);
        g_free(files->folder);
        g_free(files->mosquitto);
        g_free(files->avahi);
        g_free(files->systemd);
        g_free(files->received_crl);
        g_free(files->requests);
        g_free(files->renewed);
        g_free(files->name);
        g_strfreev(files->brokers);
        if (files->lock >= 0)
                (void) close(files->lock);
        *files = (AldClusterFiles) ALD_FILES_INIT;
}

bool ald_files_has(const AldClusterFiles *files, const char *name)
{
        g_autofree char *path = g_build_filename(files->folder, name, NULL);

        return access(path, F_OK) == 0;
}

bool ald_files_is_authority(const AldClusterFiles *files)
{
        return ald_files_has(files, "ca/ca.key");
}

int ald_files_make_folder(const AldClusterFiles *files, const char *path, mode_t mode)
{
        struct stat st;

        if (files->changes->check)
                return ALD_EXIT_OK;
        if (mkdir(path, mode) < 0 && errno != EEXIST)
                return ald_report_failure(-errno, path, NULL);
        if (stat(path, &st) < 0)
                return ald_report_failure(-errno, path, NULL);
        if (!S_ISDIR(st.st_mode))
                return ald_report_failure(-ENOTDIR, path, NULL);
        if ((st.st_mode & 07777) != mode && chmod(path, mode) < 0)
                return ald_report_failure(-errno, path, NULL);
        return ALD_EXIT_OK;
}

int ald_files_write(const AldClusterFiles *files, const char *path, const char *text, mode_t mode)
{
        int r = files->changes->check ? 0 : ald_pki_file_write(path, text, mode, 0, 0);

        return r < 0 ? ald_report_failure(r, path, NULL) : ALD_EXIT_OK;
}

int ald_files_each_request(const AldClusterFiles *files, AldRequestFunction function, void *userdata)
{
        int fd = open(files->requests, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        DIR *dir = fd < 0 ? NULL : fdopendir(fd);
        int result = ALD_EXIT_OK;

        if (fd < 0)
                return errno == ENOENT ? ALD_EXIT_OK : ald_report_failure(-errno, files->requests, NULL);
        if (!dir) {
                result = ald_report_failure(-errno, files->requests, NULL);
                (void) close(fd);
                return result;
        }
        for (unsigned n = 0; n < REQUESTS_MAX; n++) {
                const struct dirent *entry = readdir(dir);
                int r;

                if (!entry)
                        break;
                if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
                        continue;
                r = function(files, fd, entry->d_name, userdata);
                if (result == ALD_EXIT_OK)
                        result = r;
        }
        (void) closedir(dir);
        return result;
}

int ald_files_remove_request(const AldClusterFiles *files, int folder, const char *name, void *unused)
{
        g_autofree char *path = g_build_filename(files->requests, name, NULL);

        if (!files->changes->check && unlinkat(folder, name, 0) < 0 &&
                (errno != EISDIR || unlinkat(folder, name, AT_REMOVEDIR) < 0) && errno != ENOENT)
                return ald_report_failure(-errno, path, NULL);
        ald_changes_add(files->changes, ALD_CHANGE_REMOVE, path, "%s", "");
        return ALD_EXIT_OK;
}

/* Returns whether a file already has this text, mode and root as its owner. */
static bool is_up_to_date(const char *path, const char *text, mode_t mode)
{
        g_autofree char *found = NULL;
        struct stat st;

        return lstat(path, &st) == 0 && S_ISREG(st.st_mode) && (st.st_mode & 07777) == mode &&
               st.st_uid == 0 && st.st_gid == 0 && ald_pki_file_read(path, strlen(text), &found, NULL) >= 0 &&
               strcmp(found, text) == 0;
}

static int put_file(const AldClusterFiles *files, bool for_services, AldChangeKind kind, const char *path,
        const char *text, mode_t mode, const char *format, va_list list)
{
        int r = ALD_EXIT_OK;

        if (is_up_to_date(path, text, mode))
                return ALD_EXIT_OK;
        if (for_services)
                r = ald_files_begin(files);
        if (r == ALD_EXIT_OK)
                r = ald_files_write(files, path, text, mode);
        if (r == ALD_EXIT_OK)
                ald_changes_add_list(files->changes, kind, path, format, list);
        return r;
}

int ald_files_put(const AldClusterFiles *files, AldChangeKind kind, const char *path, const char *text,
        mode_t mode, const char *format, ...)
{
        va_list list;
        int r;

        va_start(list, format);
        r = put_file(files, false, kind, path, text, mode, format, list);
        va_end(list);
        return r;
}

int ald_files_install(const AldClusterFiles *files, AldChangeKind kind, const char *path, const char *text,
        mode_t mode, const char *format, ...)
{
        va_list list;
        int r;

        va_start(list, format);
        r = put_file(files, true, kind, path, text, mode, format, list);
        va_end(list);
        return r;
}

int ald_files_remove(const AldClusterFiles *files, const char *path)
{
        struct stat st;

        if (lstat(path, &st) < 0 && errno == ENOENT)
                return ALD_EXIT_OK;
        if (!files->changes->check && unlink(path) < 0 && (errno != EISDIR || rmdir(path) < 0) &&
                errno != ENOENT)
                return ald_report_failure(-errno, path, NULL);
        ald_changes_add(files->changes, ALD_CHANGE_REMOVE, path, "%s", "");
        return ALD_EXIT_OK;
}

gid_t ald_files_group(const char *name)
{
        const struct group *group = getgrnam(name);

        if (group)
                return group->gr_gid;
        ald_print_error(
                "Group %s does not exist: only root can read the key until you create the group and run "
                "this again",
                name);
        return 0;
}

int ald_files_configure(AldClusterFiles *files, const char *name, const char *const *brokers)
{
        g_autofree char *folder = g_build_filename(files->config, "alidade.conf.d", NULL);
        g_autofree char *path = g_build_filename(folder, OWN_CONFIG, NULL);
        g_autofree char *list = g_strjoinv(";", (char **) brokers);
        g_autoptr(GKeyFile) file = g_key_file_new();
        g_autoptr(GError) error = NULL;
        g_autofree char *text = NULL;
        int r;

        if (!g_key_file_load_from_file(file, path, G_KEY_FILE_KEEP_COMMENTS, &error)) {
                if (!g_error_matches(error, G_FILE_ERROR, G_FILE_ERROR_NOENT))
                        return ald_report_failure(-EIO, path, error->message);
                (void) g_key_file_set_comment(file, NULL, NULL, config_head, NULL);
        }
        g_key_file_set_string(file, GROUP, "name", name);
        g_key_file_set_string(file, GROUP, "brokers", list);
        if (!g_key_file_has_key(file, GROUP, "discovery", NULL))
                g_key_file_set_boolean(file, GROUP, "discovery", true);
        text = g_key_file_to_data(file, NULL, NULL);
        r = ald_files_make_folder(files, folder, 0755);
        if (r == ALD_EXIT_OK)
                r = ald_files_install(files, ALD_CHANGE_WRITE, path, text, 0644, ": cluster %s, brokers %s",
                        name, *list ? list : "found by Avahi only");
        if (r != ALD_EXIT_OK)
                return r;
        /* Both arguments may be the fields that are replaced here. */
        name = g_strdup(name);
        g_free(files->name);
        files->name = (char *) name;
        brokers = (const char *const *) g_strdupv((char **) brokers);
        g_strfreev(files->brokers);
        files->brokers = (char **) brokers;
        return ALD_EXIT_OK;
}
