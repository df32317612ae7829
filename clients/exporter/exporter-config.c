/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "clients/exporter/exporter-config.h"
#include "clients/exporter/listen-sockets.h"
#include "common/fd.h"

#define FILE_BYTES_MAX (64u * 1024)
#define TOKEN_BYTES_MIN 16u
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
        return value[0] == '\0' || value[0] == '/' ? NULL : "not an absolute path";
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
        { .group = "exporter", .key = "insecure", .type = ALD_CONFIG_BOOLEAN, .fallback = "false" },
        { 0 },
};

static int read_all(int fd, char *buffer, size_t size)
{
        size_t done = 0;
        ssize_t n;

        while (done < size && (n = read(fd, buffer + done, size - done)) != 0)
                if (n > 0)
                        done += (size_t) n;
                else if (errno != EINTR)
                        return -errno;
        return (int) done;
}

/* A FIFO would keep the service waiting. */
static int read_file(const char *path, char **ret)
{
        g_autofree char *buffer = g_malloc(FILE_BYTES_MAX + 1);
        ald_fd int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        struct stat st;
        int r;

        if (fd < 0 || fstat(fd, &st) < 0)
                return -errno;
        if (!S_ISREG(st.st_mode))
                return -EINVAL;
        r = read_all(fd, buffer, FILE_BYTES_MAX + 1);
        if (r < 0)
                return r;
        if ((size_t) r > FILE_BYTES_MAX)
                return -EFBIG;
        *ret = g_strndup(buffer, (gsize) r);
        return 0;
}

static int read_named(const AldConfig *config, const char *key, char **ret)
{
        const char *path = ald_config_string(config, key);
        int r = path[0] ? read_file(path, ret) : 0;

        if (r < 0)
                g_critical("%s=%s cannot be read: %s", key, path, g_strerror(-r));
        return r;
}

static int check_token(AldExporterSecrets *secrets)
{
        if (!secrets->token)
                return 0;
        g_strstrip(secrets->token);
        for (const char *p = secrets->token; *p; p++)
                if (*p <= ' ' || *p > '~') {
                        g_critical("token-file= must contain one word of ASCII characters");
                        return -EINVAL;
                }
        if (strlen(secrets->token) >= TOKEN_BYTES_MIN)
                return 0;
        g_critical("The token in token-file= must have at least %u characters", TOKEN_BYTES_MIN);
        return -EINVAL;
}

int ald_exporter_secrets_read(const AldConfig *config, AldExporterSecrets *ret)
{
        g_auto(AldExporterSecrets) secrets = {};
        int r;

        r = read_named(config, "tls-certificate", &secrets.certificate);
        if (r >= 0)
                r = read_named(config, "tls-key", &secrets.key);
        if (r >= 0)
                r = read_named(config, "token-file", &secrets.token);
        if (r >= 0)
                r = check_token(&secrets);
        if (r >= 0 && !secrets.certificate != !secrets.key) {
                g_critical("TLS needs both tls-certificate= and tls-key=");
                r = -EINVAL;
        }
        if (r < 0)
                return r;
        *ret = secrets;
        secrets = (AldExporterSecrets){};
        return 0;
}

void ald_exporter_secrets_clear(AldExporterSecrets *secrets)
{
        g_clear_pointer(&secrets->certificate, g_free);
        g_clear_pointer(&secrets->key, g_free);
        g_clear_pointer(&secrets->token, g_free);
}

static bool is_equal(const char *a, const char *b, size_t length)
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
        return strlen(authorization) == length && is_equal(authorization, secrets->token, length);
}
