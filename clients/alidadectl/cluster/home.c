/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "clients/alidadectl/cluster/home.h"
#include "clients/alidadectl/print.h"
#include "pki/crl.h"
#include "pki/file.h"
#include "services/common/config.h"
#include "services/common/node-id.h"

#define NAME_MAX_BYTES 32u
#define OWN_CONFIG "50-cluster.conf"
#define GROUP "cluster"

static const char config_head[] =
        " Written by alidadectl cluster; see alidade.conf(5). What shall last although init, join and renew\n"
        " write the brokers anew belongs into a file that comes later, such as 60-local.conf.";

bool ald_home_is_name(const char *name)
{
        size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-");

        return n > 0 && n <= NAME_MAX_BYTES && name[n] == '\0' && name[0] != '-';
}

static const char *refuse_name(const char *value)
{
        return *value == '\0' || ald_home_is_name(value) ? NULL : "no name of a cluster";
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

        home->name = g_strdup(ald_config_string(config, "name"));
        home->brokers = g_strdupv((char **) ald_config_strv(config, "brokers"));
        ald_config_free(config);
}

static char *folder_of(const char *variable, const char *fallback)
{
        const char *given = g_getenv(variable);

        return g_strdup(given && *given ? given : fallback);
}

int ald_home_open(AldHome *home, FILE *tell)
{
        g_autofree char *state = folder_of("ALIDADE_CLUSTER_STATE_DIR", "/var/lib/alidade/cluster");

        home->tell = tell;
        home->config = folder_of("ALIDADE_CONFIG_DIR", ALD_CONFIG_DIR);
        home->folder = g_build_filename(home->config, "cluster", NULL);
        home->mosquitto = folder_of("ALIDADE_MOSQUITTO_DIR", "/etc/mosquitto");
        home->avahi = folder_of("ALIDADE_AVAHI_DIR", "/etc/avahi");
        home->fresh_crl = g_build_filename(state, "crl.pem", NULL);
        load_config(home);
        return ald_node_id(home->id) < 0 ? ALD_EXIT_ERROR : ALD_EXIT_OK;
}

/* Two at once would give out the same numbers, or each a half of a set of files. */
static int take_lock(AldHome *home)
{
        home->lock = open(home->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (home->lock < 0)
                return ald_home_failed(-errno, home->folder, NULL);
        if (flock(home->lock, LOCK_EX | LOCK_NB) == 0)
                return ALD_EXIT_OK;
        ald_complain("Waiting for another alidadectl cluster to end");
        while (flock(home->lock, LOCK_EX) < 0)
                if (errno != EINTR)
                        return ald_home_failed(-errno, home->folder, NULL);
        return ALD_EXIT_OK;
}

int ald_home_open_to_change(AldHome *home, FILE *tell)
{
        int r;

        if (geteuid() != 0) {
                ald_complain("Only root may do this: it works with the keys of this machine");
                return ALD_EXIT_DENIED;
        }
        r = ald_home_open(home, tell);
        if (r == ALD_EXIT_OK && access(home->config, F_OK) < 0)
                r = ald_home_make_folder(home->config, 0755);
        if (r == ALD_EXIT_OK)
                r = ald_home_make_folder(home->folder, 0755);
        return r == ALD_EXIT_OK ? take_lock(home) : r;
}

void ald_home_close(AldHome *home)
{
        g_free(home->config);
        g_free(home->folder);
        g_free(home->mosquitto);
        g_free(home->avahi);
        g_free(home->fresh_crl);
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

int ald_home_make_folder(const char *path, mode_t mode)
{
        struct stat st;

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

int ald_home_write(const char *path, const char *text, mode_t mode)
{
        int r = ald_pki_file_write(path, text, mode, 0, 0);

        return r < 0 ? ald_home_failed(r, path, NULL) : ALD_EXIT_OK;
}

gid_t ald_home_group(const char *name)
{
        const struct group *group = getgrnam(name);

        if (group)
                return group->gr_gid;
        ald_complain("There is no group %s: until there is one, and this was run again, only root can read "
                     "the key",
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
        r = ald_home_make_folder(folder, 0755);
        if (r == ALD_EXIT_OK)
                r = ald_home_write(path, text, 0644);
        if (r != ALD_EXIT_OK)
                return r;
        /* Both may be what is replaced here. */
        name = g_strdup(name);
        g_free(home->name);
        home->name = (char *) name;
        brokers = (const char *const *) g_strdupv((char **) brokers);
        g_strfreev(home->brokers);
        home->brokers = (char **) brokers;
        ald_home_tell(home, "Wrote %s: cluster %s, brokers %s", path, name, *list ? list : "by Avahi only");
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
        (void) vfprintf(home->tell, format, list);
        va_end(list);
        (void) fputc('\n', home->tell);
}

void ald_home_tell_list(const AldHome *home, const char *done, const char *path, X509_CRL *crl)
{
        size_t n = ald_pki_crl_count(crl);

        ald_home_tell(home, "%s %s: number %" PRIu64 ", %zu certificate%s revoked", done, path,
                ald_pki_crl_number(crl), n, n == 1 ? "" : "s");
}

int ald_home_failed(int r, const char *what, const char *reason)
{
        ald_complain("%s: %s", what, reason ? reason : strerror(-r));
        return r == -EACCES || r == -EPERM ? ALD_EXIT_DENIED : ALD_EXIT_ERROR;
}
