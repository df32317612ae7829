/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "clients/exporter/exporter-config.h"
#include "clients/exporter/listen-sockets.h"
#include "common/excerpt.h"
#include "common/text-file.h"

#define FILE_BYTES_MAX (64u * 1024)
#define TOKEN_BYTES_MIN 16
#define BEARER "Bearer "

static const char *refuse_listen(const char *value)
{
        g_auto(GStrv) addresses = g_strsplit(value, ";", -1);
        unsigned n = 0;

        for (char **address = addresses; *address; address++)
                if (*g_strstrip(*address) != '\0') {
                        const char *reason = ald_listen_refuse_address(*address);

                        if (reason)
                                return reason;
                        n++;
                }
        return n == 0 ? "no address" : NULL;
}

static const char *refuse_path(const char *value)
{
        if (value[0] == '"' || value[0] == '\'')
                return "not an absolute path; quotes are not needed";
        if (value[0] == '\0')
                return "no file is named; leave the line out if none is meant";
        return value[0] == '/' ? NULL : "not an absolute path";
}

const AldConfigKey ald_exporter_keys[] = {
        { .group = "exporter",
                .key = "listen",
                .type = ALD_CONFIG_STRV,
                .fallback = "127.0.0.1:10001;[::1]:10001",
                .refuse = refuse_listen },
        { .group = "exporter",
                .key = "tls-certificate",
                .type = ALD_CONFIG_STRING,
                .fallback = "",
                .refuse = refuse_path },
        { .group = "exporter",
                .key = "tls-key",
                .type = ALD_CONFIG_STRING,
                .fallback = "",
                .refuse = refuse_path },
        { .group = "exporter",
                .key = "token-file",
                .type = ALD_CONFIG_STRING,
                .fallback = "",
                .refuse = refuse_path },
        { .group = "exporter", .key = "host-names", .type = ALD_CONFIG_STRV, .fallback = "" },
        { .group = "exporter", .key = "anonymous", .type = ALD_CONFIG_BOOLEAN, .fallback = "false" },
        { .group = "exporter", .key = "insecure", .type = ALD_CONFIG_BOOLEAN, .fallback = "false" },
        { 0 },
};

int ald_exporter_config_check(const AldConfig *config)
{
        const GPtrArray *problems = ald_config_problems(config);
        g_autofree char *first = problems->len > 0 ? ald_config_problem_format(problems->pdata[0]) : NULL;

        if (!first)
                return 0;
        /* The problem may be about the token. Each problem was logged as a warning. */
        g_critical("The configuration cannot be used as it is written: %s%s", first,
                problems->len > 1 ? " (and more above)" : "");
        return -EBADMSG;
}

/* Logs a problem with the file that a key names. */
static void report_file(const AldConfig *config, const char *key, const char *reason)
{
        g_autofree char *path = ald_excerpt_ends(ald_config_string(config, key));

        g_critical("%s: [exporter] %s=%s %s", ald_config_place(config, key), key, path, reason);
}

static int read_named_file(const AldConfig *config, const char *key, char **ret)
{
        const char *path = ald_config_string(config, key);
        size_t size = 0;
        int r = path[0] ? ald_text_file_read(path, FILE_BYTES_MAX, ret, &size) : 0;

        if (r < 0) {
                g_autofree char *reason = g_strdup_printf("cannot be read: %s", ald_text_file_reason(r));

                report_file(config, key, reason);
                return r;
        }
        if (*ret && strlen(*ret) != size) {
                /* Only the text before the zero byte would count. */
                report_file(config, key, "is not a text file");
                return -EINVAL;
        }
        return 0;
}

/* Only warns, since the folder of the file may still keep other users out. */
static void warn_about_readers(const AldConfig *config, const char *key)
{
        const char *path = ald_config_string(config, key);
        struct stat st;

        if (path[0] && stat(path, &st) == 0 && (st.st_mode & S_IROTH))
                g_warning("%s=%s is readable by all users", key, path);
}

static int check_token(const AldConfig *config, AldExporterSecrets *secrets)
{
        if (!secrets->token)
                return 0;
        g_strstrip(secrets->token);
        for (const char *p = secrets->token; *p; p++)
                if (*p <= ' ' || *p > '~') {
                        report_file(config, "token-file", "must contain one word of ASCII characters");
                        return -EINVAL;
                }
        if (strlen(secrets->token) >= TOKEN_BYTES_MIN)
                return 0;
        report_file(config, "token-file",
                "must contain a token of at least " G_STRINGIFY(TOKEN_BYTES_MIN) " characters");
        return -EINVAL;
}

int ald_exporter_secrets_read(const AldConfig *config, AldExporterSecrets *ret)
{
        g_auto(AldExporterSecrets) secrets = {};
        int r;

        r = read_named_file(config, "tls-certificate", &secrets.certificate);
        if (r >= 0)
                r = read_named_file(config, "tls-key", &secrets.key);
        if (r >= 0)
                r = read_named_file(config, "token-file", &secrets.token);
        if (r >= 0)
                r = check_token(config, &secrets);
        if (r >= 0 && !secrets.certificate != !secrets.key) {
                g_critical("TLS needs both tls-certificate= and tls-key=");
                r = -EINVAL;
        }
        if (r < 0)
                return r;
        secrets.host_names = g_strdupv((char **) ald_config_strv(config, "host-names"));
        warn_about_readers(config, "tls-key");
        warn_about_readers(config, "token-file");
        *ret = secrets;
        secrets = (AldExporterSecrets){};
        return 0;
}

void ald_exporter_secrets_clear(AldExporterSecrets *secrets)
{
        g_clear_pointer(&secrets->certificate, g_free);
        g_clear_pointer(&secrets->key, g_free);
        g_clear_pointer(&secrets->token, g_free);
        g_clear_pointer(&secrets->host_names, g_strfreev);
}

static bool is_equal_in_constant_time(const char *a, const char *b, size_t length)
{
        volatile unsigned char difference = 0;

        for (size_t i = 0; i < length; i++)
                difference |= (unsigned char) (a[i] ^ b[i]);
        return difference == 0;
}

bool ald_exporter_may_answer(const AldExporterSecrets *secrets, const char *authorization)
{
        size_t length;

        if (!secrets->token)
                return true;
        if (!authorization || g_ascii_strncasecmp(authorization, BEARER, strlen(BEARER)) != 0)
                return false;
        length = strlen(secrets->token);
        authorization += strlen(BEARER);
        return strlen(authorization) == length &&
               is_equal_in_constant_time(authorization, secrets->token, length);
}
