/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "clients/cluster/admin-lock.h"
#include "clients/cluster/home.h"
#include "clients/command-line/print.h"
#include "common/cluster-keys.h"
#include "common/config.h"
#include "common/node-id.h"
#include "pki/crl.h"
#include "pki/file.h"

#define NAME_MAX_BYTES 32u
#define FOLDER_TRIES 100u /* another run may remove it just then */
/* Entries of the folder of requests in one run: twice what the cluster service lets wait. */
#define REQUESTS_MAX 8192u
#define OWN_CONFIG "50-cluster.conf"
#define GROUP "cluster"
#define UNFINISHED_BYTES_MAX 64u
#define START "start"

static const char config_head[] =
        " Written by alidadectl cluster; see alidade.conf(5). init, join and renew rewrite the brokers:\n "
        "put lasting changes into a file that is read later, such as 60-local.conf.";

bool ald_home_is_name(const char *name)
{
        size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-");

        return n > 0 && n <= NAME_MAX_BYTES && name[n] == '\0' && name[0] != '-';
}

static const char *refuse_name(const char *value)
{
        return *value == '\0' || ald_home_is_name(value) ? NULL : "not a valid cluster name";
}

static void load_config(AldHome *home)
{
        static const AldConfigKey keys[] = {
                { GROUP, "name", ALD_CONFIG_STRING, .fallback = "", .refuse = refuse_name },
                { GROUP, "brokers", ALD_CONFIG_STRV, .fallback = "" },
                { GROUP, "discovery", ALD_CONFIG_STRING, .fallback = "" },
                { GROUP, "mirror", ALD_CONFIG_STRING, .fallback = "" },
                {},
        };
        AldConfig *config = ald_config_load(keys, home->config);

        g_free(home->name);
        g_strfreev(home->brokers);
        home->name = g_strdup(ald_config_string(config, "name"));
        home->brokers = g_strdupv((char **) ald_config_strv(config, "brokers"));
        ald_config_free(config);
}

static char *folder_of(const char *variable, const char *fallback)
{
        const char *given = g_getenv(variable);

        return g_strdup(given && *given ? given : fallback);
}

int ald_home_open(AldHome *home, AldChanges *changes)
{
        g_autofree char *state = folder_of("ALIDADE_CLUSTER_STATE_DIR", "/var/lib/alidade/cluster");

        home->changes = changes;
        home->config = folder_of("ALIDADE_CONFIG_DIR", ALD_CONFIG_DIR);
        home->folder = g_build_filename(home->config, "cluster", NULL);
        home->mosquitto = folder_of("ALIDADE_MOSQUITTO_DIR", ALD_MOSQUITTO_DIR);
        home->avahi = folder_of("ALIDADE_AVAHI_DIR", "/etc/avahi");
        home->systemd = folder_of("ALIDADE_SYSTEMD_DIR", "/etc/systemd/system");
        home->fresh_crl = g_build_filename(state, "crl.pem", NULL);
        home->requests = g_build_filename(state, "renewals", NULL);
        home->renewed = g_build_filename(state, "renewed.pem", NULL);
        load_config(home);
        return !home->anonymous && ald_node_id(home->id) < 0 ? ALD_EXIT_ERROR : ALD_EXIT_OK;
}

/* Two at once would give out the same numbers, or each a half of a set of files. */
static int take_lock(AldHome *home)
{
        g_autofree char *holder = NULL;
        unsigned tries = 0;
        int r;

        do {
                r = ald_home_make_folder(home, home->folder, 0755);
                if (r != ALD_EXIT_OK)
                        return r;
                r = ald_admin_lock_take(home->folder, ALD_ADMIN_LOCK_SECONDS, &holder);
        } while (r == -ENOENT && ++tries < FOLDER_TRIES);
        if (r >= 0) {
                home->lock = r;
                return ALD_EXIT_OK;
        }
        if (r != -ETIMEDOUT)
                return ald_home_failed(r, home->folder, NULL);
        ald_complain(
                "Nothing was changed: %s has been changing %s for %u seconds. Try again when it has finished",
                holder, home->folder, ALD_ADMIN_LOCK_SECONDS);
        return ALD_EXIT_ERROR;
}

static char *unfinished_path(const AldHome *home)
{
        return g_build_filename(home->folder, ALD_HOME_UNFINISHED, NULL);
}

static void load_unfinished(AldHome *home)
{
        g_autofree char *path = unfinished_path(home), *text = NULL;

        home->interrupted = ald_pki_file_read(path, UNFINISHED_BYTES_MAX, &text, NULL) >= 0;
        home->interrupted_broker = home->interrupted && strstr(text, ALD_HOME_BROKER_GROUP);
        home->interrupted_start = home->interrupted && strstr(text, START);
        home->changes->unread = home->interrupted;
}

char *ald_home_drop_in(const AldHome *home)
{
        return g_build_filename(home->mosquitto, ALD_MOSQUITTO_DROP_IN, NULL);
}

bool ald_home_is_broker(const AldHome *home)
{
        g_autofree char *conf = ald_home_drop_in(home);

        return access(conf, F_OK) == 0;
}

int ald_home_begin(const AldHome *home)
{
        g_autofree char *path = unfinished_path(home);
        bool broker = ald_home_is_broker(home) || home->interrupted_broker;

        home->changes->unread = true;
        if (access(path, F_OK) == 0 && (!broker || home->interrupted_broker))
                return ALD_EXIT_OK;
        return ald_home_write(
                home, path, broker ? "clusterd\n" ALD_HOME_BROKER_GROUP "\n" : "clusterd\n", 0600);
}

int ald_home_begin_start(const AldHome *home)
{
        g_autofree char *path = unfinished_path(home);

        return ald_home_write(home, path, "clusterd\n" ALD_HOME_BROKER_GROUP "\n" START "\n", 0600);
}

int ald_home_end(const AldHome *home)
{
        g_autofree char *path = unfinished_path(home);

        home->changes->unread = false;
        if (!home->changes->check && unlink(path) < 0 && errno != ENOENT)
                return ald_home_failed(-errno, path, NULL);
        return ALD_EXIT_OK;
}

int ald_home_open_to_change(AldHome *home, AldChanges *changes)
{
        int r;

        if (geteuid() != 0) {
                ald_complain("Only root can do this, since it uses the keys of this machine");
                return ALD_EXIT_DENIED;
        }
        r = ald_home_open(home, changes);
        if (r == ALD_EXIT_OK && !changes->check) {
                if (access(home->config, F_OK) < 0)
                        r = ald_home_make_folder(home, home->config, 0755);
                if (r == ALD_EXIT_OK)
                        r = take_lock(home);
                /* The previous holder of the lock may have written it. */
                if (r == ALD_EXIT_OK)
                        load_config(home);
        }
        if (r == ALD_EXIT_OK)
                load_unfinished(home);
        return r;
}

void ald_home_close(AldHome *home)
{
        g_free(home->config);
        g_free(home->folder);
        g_free(home->mosquitto);
        g_free(home->avahi);
        g_free(home->systemd);
        g_free(home->fresh_crl);
        g_free(home->requests);
        g_free(home->renewed);
        g_free(home->name);
        g_strfreev(home->brokers);
        if (home->lock >= 0)
                (void) close(home->lock);
        *home = (AldHome) ALD_HOME_INIT;
}

bool ald_home_has(const AldHome *home, const char *name)
{
        g_autofree char *path = g_build_filename(home->folder, name, NULL);

        return access(path, F_OK) == 0;
}

bool ald_home_is_authority(const AldHome *home)
{
        return ald_home_has(home, "ca/ca.key");
}

int ald_home_make_folder(const AldHome *home, const char *path, mode_t mode)
{
        struct stat st;

        if (home->changes->check)
                return ALD_EXIT_OK;
        if (mkdir(path, mode) < 0 && errno != EEXIST)
                return ald_home_failed(-errno, path, NULL);
        if (stat(path, &st) < 0)
                return ald_home_failed(-errno, path, NULL);
        if (!S_ISDIR(st.st_mode))
                return ald_home_failed(-ENOTDIR, path, NULL);
        if ((st.st_mode & 07777) != mode && chmod(path, mode) < 0)
                return ald_home_failed(-errno, path, NULL);
        return ALD_EXIT_OK;
}

int ald_home_write(const AldHome *home, const char *path, const char *text, mode_t mode)
{
        int r = home->changes->check ? 0 : ald_pki_file_write(path, text, mode, 0, 0);

        return r < 0 ? ald_home_failed(r, path, NULL) : ALD_EXIT_OK;
}

int ald_home_each_request(const AldHome *home, AldHomeRequestFunction function, void *userdata)
{
        int fd = open(home->requests, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        DIR *dir = fd < 0 ? NULL : fdopendir(fd);
        int result = ALD_EXIT_OK;

        if (fd < 0)
                return errno == ENOENT ? ALD_EXIT_OK : ald_home_failed(-errno, home->requests, NULL);
        if (!dir) {
                result = ald_home_failed(-errno, home->requests, NULL);
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
                r = function(home, fd, entry->d_name, userdata);
                if (result == ALD_EXIT_OK)
                        result = r;
        }
        (void) closedir(dir);
        return result;
}

int ald_home_remove_request(const AldHome *home, int folder, const char *name, void *unused)
{
        g_autofree char *path = g_build_filename(home->requests, name, NULL);

        if (!home->changes->check && unlinkat(folder, name, 0) < 0 &&
                (errno != EISDIR || unlinkat(folder, name, AT_REMOVEDIR) < 0) && errno != ENOENT)
                return ald_home_failed(-errno, path, NULL);
        ald_changes_add(home->changes, ALD_CHANGE_REMOVE, path, "%s", "");
        return ALD_EXIT_OK;
}

/* Whether a file is as it is to be, its owner included. */
static bool is_same(const char *path, const char *text, mode_t mode)
{
        g_autofree char *found = NULL;
        struct stat st;

        return lstat(path, &st) == 0 && S_ISREG(st.st_mode) && (st.st_mode & 07777) == mode &&
               st.st_uid == 0 && st.st_gid == 0 && ald_pki_file_read(path, strlen(text), &found, NULL) >= 0 &&
               strcmp(found, text) == 0;
}

static int put(const AldHome *home, bool for_services, AldChangeKind kind, const char *path, const char *text,
        mode_t mode, const char *format, va_list list)
{
        int r = ALD_EXIT_OK;

        if (is_same(path, text, mode))
                return ALD_EXIT_OK;
        if (for_services)
                r = ald_home_begin(home);
        if (r == ALD_EXIT_OK)
                r = ald_home_write(home, path, text, mode);
        if (r == ALD_EXIT_OK)
                ald_changes_add_list(home->changes, kind, path, format, list);
        return r;
}

int ald_home_put(const AldHome *home, AldChangeKind kind, const char *path, const char *text, mode_t mode,
        const char *format, ...)
{
        va_list list;
        int r;

        va_start(list, format);
        r = put(home, false, kind, path, text, mode, format, list);
        va_end(list);
        return r;
}

int ald_home_install(const AldHome *home, AldChangeKind kind, const char *path, const char *text, mode_t mode,
        const char *format, ...)
{
        va_list list;
        int r;

        va_start(list, format);
        r = put(home, true, kind, path, text, mode, format, list);
        va_end(list);
        return r;
}

int ald_home_remove(const AldHome *home, const char *path)
{
        struct stat st;

        if (lstat(path, &st) < 0 && errno == ENOENT)
                return ALD_EXIT_OK;
        if (!home->changes->check && unlink(path) < 0 && (errno != EISDIR || rmdir(path) < 0) &&
                errno != ENOENT)
                return ald_home_failed(-errno, path, NULL);
        ald_changes_add(home->changes, ALD_CHANGE_REMOVE, path, "%s", "");
        return ALD_EXIT_OK;
}

gid_t ald_home_group(const char *name)
{
        const struct group *group = getgrnam(name);

        if (group)
                return group->gr_gid;
        ald_complain("Group %s does not exist: only root can read the key until you create the group and run "
                     "this again",
                name);
        return 0;
}

int ald_home_configure(AldHome *home, const char *name, const char *const *brokers)
{
        g_autofree char *folder = g_build_filename(home->config, "alidade.conf.d", NULL);
        g_autofree char *path = g_build_filename(folder, OWN_CONFIG, NULL);
        g_autofree char *list = g_strjoinv(";", (char **) brokers);
        g_autoptr(GKeyFile) file = g_key_file_new();
        g_autoptr(GError) error = NULL;
        g_autofree char *text = NULL;
        int r;

        if (!g_key_file_load_from_file(file, path, G_KEY_FILE_KEEP_COMMENTS, &error)) {
                if (!g_error_matches(error, G_FILE_ERROR, G_FILE_ERROR_NOENT))
                        return ald_home_failed(-EIO, path, error->message);
                (void) g_key_file_set_comment(file, NULL, NULL, config_head, NULL);
        }
        g_key_file_set_string(file, GROUP, "name", name);
        g_key_file_set_string(file, GROUP, "brokers", list);
        if (!g_key_file_has_key(file, GROUP, "discovery", NULL))
                g_key_file_set_boolean(file, GROUP, "discovery", true);
        text = g_key_file_to_data(file, NULL, NULL);
        r = ald_home_make_folder(home, folder, 0755);
        if (r == ALD_EXIT_OK)
                r = ald_home_install(home, ALD_CHANGE_WRITE, path, text, 0644, ": cluster %s, brokers %s",
                        name, *list ? list : "found by Avahi only");
        if (r != ALD_EXIT_OK)
                return r;
        /* Both may be what is replaced here. */
        name = g_strdup(name);
        g_free(home->name);
        home->name = (char *) name;
        brokers = (const char *const *) g_strdupv((char **) brokers);
        g_strfreev(home->brokers);
        home->brokers = (char **) brokers;
        return ALD_EXIT_OK;
}

char *ald_home_day(uint64_t usec)
{
        g_autoptr(GDateTime) time = g_date_time_new_from_unix_utc((gint64) (usec / G_USEC_PER_SEC));

        return time ? g_date_time_format(time, "%F") : g_strdup("?");
}

void ald_home_tell(const AldHome *home, const char *format, ...)
{
        va_list list;

        va_start(list, format);
        ald_changes_tell_list(home->changes, format, list);
        va_end(list);
}

void ald_home_tell_next(const AldHome *home, const char *format, ...)
{
        va_list list;

        if (home->changes->check || !ald_changes_any(home->changes))
                return;
        va_start(list, format);
        ald_changes_tell_list(home->changes, format, list);
        va_end(list);
}

char *ald_home_describe_list(X509_CRL *crl)
{
        size_t n = ald_pki_crl_count(crl);

        return g_strdup_printf("number %" PRIu64 ", %zu certificate%s revoked", ald_pki_crl_number(crl), n,
                n == 1 ? "" : "s");
}

int ald_home_failed(int r, const char *what, const char *reason)
{
        ald_complain("%s: %s", what, reason ? reason : strerror(-r));
        return r == -EACCES || r == -EPERM ? ALD_EXIT_DENIED : ALD_EXIT_ERROR;
}
